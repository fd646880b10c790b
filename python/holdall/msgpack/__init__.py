"""MessagePack under the names of `holdall`: `dumps`, `loads`, `dump`, `load`, `Encoder`, `Decoder`, and a `Reader` of streams.

The format has no references and no class names: a shared object is written wherever it is met, a cycle is an EncodeError, and
instances become maps of their fields, which `type=` makes instances again. `holdall.msgpack.compat` has the names of
msgpack-python.
"""

from __future__ import annotations

from .._core import MsgpackDecoder as Decoder
from .._core import MsgpackEncoder as Encoder
from .._core import msgpack_dumps as dumps
from .._core import msgpack_loads as loads
from .._values import UNSET, Ext, Raw, Timestamp, UnsetType
from ._files import dump, load
from ._files import open_file as open
from ._reader import Reader

__all__ = [
    "UNSET",
    "Decoder",
    "Encoder",
    "Ext",
    "Raw",
    "Reader",
    "Timestamp",
    "UnsetType",
    "dump",
    "dumps",
    "load",
    "loads",
    "open",
]
