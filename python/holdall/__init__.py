"""Store any Python object graph as bytes and restore it: safely, compactly, with identity, sharing and cycles intact.

`dumps` and `loads` work on bytes, `dump` and `load` on files, `Encoder` and `Decoder` keep options for many calls.
`loads` builds builtin and standard value types, and the classes that `register` or `types=` permit; it never imports a
module and never calls anything that the data names. `holdall.pickle` has the names and signatures of the standard
library's `pickle`, for trusted data; `holdall.safe_pickle` has them for data that runs no code, `holdall.envelope_pickle` for
readers that use the standard library's. `holdall.msgpack` and `holdall.bson` have the same names for other formats, and
`holdall.julia` reads and writes the files of Julia's BSON.jl, `holdall.lisp` those of Common Lisp's cl-binary-store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._bundles import register_known
from ._core import (
    ChecksumError,
    Damage,
    DecodeError,
    Decoder,
    Document,
    EncodeError,
    Encoder,
    HoldallError,
    LimitError,
    Limits,
    Record,
    TruncatedError,
    UnknownTypeError,
    ValidationError,
    __version__,
    deepcopy,
    dumps,
    loads,
)
from ._files import dump, load
from ._files import open_file as _open_file
from ._log import Reader, Report, Writer, file_kind, split_log, verify
from ._registry import register

# Public, but not in `__all__`: no star import should hide Python's own.
open = _open_file

if TYPE_CHECKING:
    from . import aio as aio
    from . import bson as bson
    from . import envelope_pickle as envelope_pickle
    from . import integrations as integrations
    from . import julia as julia
    from . import lisp as lisp
    from . import msgpack as msgpack
    from . import pickle as pickle
    from . import resolve as resolve
    from . import safe_pickle as safe_pickle
    from ._remote import ChangedError as ChangedError
    from ._seal import Seal as Seal
    from ._seal import SealError as SealError

# Without the modules: a star import would hide other modules of the same names.
__all__ = [
    "ChangedError",
    "ChecksumError",
    "Damage",
    "DecodeError",
    "Decoder",
    "Document",
    "EncodeError",
    "Encoder",
    "HoldallError",
    "LimitError",
    "Limits",
    "Reader",
    "Record",
    "Report",
    "Seal",
    "SealError",
    "TruncatedError",
    "UnknownTypeError",
    "ValidationError",
    "Writer",
    "__version__",
    "deepcopy",
    "dump",
    "dumps",
    "file_kind",
    "load",
    "loads",
    "register",
    "register_known",
    "split_log",
    "verify",
]

_MODULES = (
    "aio",
    "bson",
    "envelope_pickle",
    "integrations",
    "julia",
    "lisp",
    "msgpack",
    "pickle",
    "resolve",
    "safe_pickle",
)


def __getattr__(name: str) -> Any:
    # Imported on first use: the standard library's pickle, which holdall.pickle needs, takes longer to import
    # than all of holdall, and most programs need only one format.
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"holdall.{name}")
    if name in ("Seal", "SealError"):
        from . import _seal

        return getattr(_seal, name)
    if name == "ChangedError":
        from ._remote import ChangedError

        return ChangedError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "ChangedError", "Seal", "SealError"})
