"""The names, options and behaviour of msgpack-python 1.x, over holdall's encoder and decoder.

    import holdall.msgpack.compat as msgpack

What differs:

- `Packer`: `unicode_errors` must leave text that is UTF-8. `buf_size` makes no difference. Nesting has no limit where everything is of builtin types.
- `Unpacker`: a value that can't be unpacked is passed over as a whole; `tell()` counts whole values.
- Of text that is not UTF-8, `unicode_errors=` is asked once the core has refused it; hooks that ran before run again.

The core writes and reads what is of builtin types. What needs `default`, `strict_types` or `datetime`, and subclasses and
`ExtType`, is walked in Python; so is all that is read with one of `object_hook`, `object_pairs_hook`, `list_hook`, a `max_..._len` or a
`timestamp` of 1 or 2. That is many times slower: `holdall.msgpack` with `type=` and `register` has little need of hooks.
"""

from __future__ import annotations

from typing import Any

from ..._values import Timestamp
from . import exceptions
from ._decoding import unpackb
from ._packer import Packer
from ._unpacker import Unpacker
from .exceptions import (
    BufferFull,
    ExtraData,
    FormatError,
    OutOfData,
    PackException,
    PackOverflowError,
    PackValueError,
    StackError,
    UnpackException,
    UnpackValueError,
)
from .ext import ExtType

__all__ = [
    "BufferFull",
    "ExtType",
    "ExtraData",
    "FormatError",
    "OutOfData",
    "PackException",
    "PackOverflowError",
    "PackValueError",
    "Packer",
    "StackError",
    "Timestamp",
    "UnpackException",
    "UnpackValueError",
    "Unpacker",
    "dump",
    "dumps",
    "exceptions",
    "load",
    "loads",
    "pack",
    "packb",
    "unpack",
    "unpackb",
]


def packb(o: object, **kwargs: Any) -> bytes:
    """`o` as bytes. Options are those of `Packer`.

    Raises TypeError: a type that is neither packed nor taken by `default`, or an option that isn't there.
    Raises OverflowError: an int beyond 64 bits. Raises ValueError: else.

    >>> packb({"a": {1, 2}}, default=sorted)
    b'\\x81\\xa1a\\x92\\x01\\x02'
    """
    return Packer(**kwargs)._bytes_of(o)


def pack(o: object, stream: Any, **kwargs: Any) -> None:
    """Write `o` to a binary file object. Options and errors are those of `packb`.

    >>> import io
    >>> stream = io.BytesIO()
    >>> pack([1], stream)
    >>> stream.getvalue()
    b'\\x91\\x01'
    """
    stream.write(packb(o, **kwargs))


def unpack(stream: Any, **kwargs: Any) -> Any:
    """The one value that a binary file object holds up to its end. Options and errors are those of `unpackb`.

    >>> import io
    >>> unpack(io.BytesIO(b"\\x91\\x01"))
    [1]
    """
    return unpackb(stream.read(), **kwargs)


dump = pack
dumps = packb
load = unpack
loads = unpackb
