"""BSON under the names of `holdall`, and under PyMongo's.

`dumps`, `loads`, `dump`, `load`, `Encoder`, `Decoder` and `open` are those of every format here. `encode`, `decode`, `decode_all`,
`decode_iter`, `decode_file_iter`, `is_valid`, `BSON`, `has_c`, `gen_list_name` and the classes are PyMongo's, with its signatures,
options and exceptions: `from holdall import bson` can stand where `import bson` stood. `install()` makes a running PyMongo use
this codec.

Values that only databases have (ObjectId, Decimal128, ...) are PyMongo's own classes, from the extra `holdall[bson]`. Without it the
basic types work: text, numbers, None, booleans, bytes, lists, dicts, datetimes, UUIDs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import BsonDecoder as Decoder
from .._core import BsonEncoder as Encoder
from .._core import Document
from .._core import bson_dumps as dumps
from .._core import bson_loads as loads
from ._files import documents, dump, load
from ._files import open_file as open

if TYPE_CHECKING:
    from bson import ALL_UUID_SUBTYPES as ALL_UUID_SUBTYPES
    from bson import CSHARP_LEGACY as CSHARP_LEGACY
    from bson import DEFAULT_CODEC_OPTIONS as DEFAULT_CODEC_OPTIONS
    from bson import EPOCH_AWARE as EPOCH_AWARE
    from bson import EPOCH_NAIVE as EPOCH_NAIVE
    from bson import JAVA_LEGACY as JAVA_LEGACY
    from bson import OLD_UUID_SUBTYPE as OLD_UUID_SUBTYPE
    from bson import SON as SON
    from bson import STANDARD as STANDARD
    from bson import UUID_SUBTYPE as UUID_SUBTYPE
    from bson import Binary as Binary
    from bson import Code as Code
    from bson import CodecOptions as CodecOptions
    from bson import DatetimeConversion as DatetimeConversion
    from bson import DatetimeMS as DatetimeMS
    from bson import DBRef as DBRef
    from bson import Decimal128 as Decimal128
    from bson import Int64 as Int64
    from bson import InvalidBSON as InvalidBSON
    from bson import InvalidDocument as InvalidDocument
    from bson import InvalidStringData as InvalidStringData
    from bson import MaxKey as MaxKey
    from bson import MinKey as MinKey
    from bson import ObjectId as ObjectId
    from bson import Regex as Regex
    from bson import Timestamp as Timestamp
    from bson import UuidRepresentation as UuidRepresentation
    from bson import gen_list_name as gen_list_name
    from bson import utc as utc

    from ._install import install as install
    from ._install import uninstall as uninstall
    from ._json import from_json as from_json
    from ._json import to_json as to_json
    from ._pymongo import BSON as BSON
    from ._pymongo import decode as decode
    from ._pymongo import decode_all as decode_all
    from ._pymongo import decode_file_iter as decode_file_iter
    from ._pymongo import decode_iter as decode_iter
    from ._pymongo import encode as encode
    from ._pymongo import has_c as has_c
    from ._pymongo import is_valid as is_valid

# The names that don't need PyMongo. Others are looked up on access.
__all__ = ["Decoder", "Document", "Encoder", "documents", "dump", "dumps", "load", "loads", "open"]

_MODULES = {
    "_pymongo": "BSON decode decode_all decode_file_iter decode_iter encode has_c is_valid",
    "_install": "install uninstall",
    "_json": "from_json to_json",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module("bson")
    except ModuleNotFoundError as cause:
        raise ImportError(f"`{name}` needs PyMongo: install `holdall[bson]`") from cause
    if name in _HOMES:
        home = import_module(f"{__name__}.{_HOMES[name]}")
    elif name not in home.__all__:
        # Everything else is PyMongo's own.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(home, name)
    globals()[name] = found
    return found
