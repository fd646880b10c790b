"""PyMongo's `bson` beside `holdall.bson`: one call on both, compared by type, order and bits.

`==` says too little: it takes an Int64 for an int, bytes for a Binary of subtype 0, and no NaN for itself.
"""

from __future__ import annotations

import datetime
import struct
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

oracle: Any = pytest.importorskip("bson", reason="PyMongo, whose bson is the oracle, is not installed")
if not getattr(oracle, "has_c", bool)():
    pytest.skip("PyMongo's C extension, the oracle, is not built here", allow_module_level=True)

import pymongo  # noqa: E402
from bson.json_util import JSONOptions  # noqa: E402
from bson.raw_bson import RawBSONDocument  # noqa: E402

from holdall import bson  # noqa: E402

__all__ = ["JSONOptions", "RawBSONDocument", "agree", "both", "bson", "like_the_newest", "oracle", "outcome", "shape"]

MODULES: list[Any] = [bson, oracle]

# What PyMongo refuses and takes of damaged messages changed in small things; ours is the newest's behaviour.
like_the_newest = pytest.mark.skipif(
    pymongo.version_tuple < (4, 20),
    reason=f"compares with PyMongo 4.20 and later, found {pymongo.version}: the last for Python 3.10",
)


def shape(value: Any) -> Any:
    """What `value` is: its type and all it says, as nested tuples that `==` compares in full."""
    kind = type(value)
    # Before its bases: a Binary is bytes, a Code is a str, a RawBSONDocument is a Mapping.
    if isinstance(value, oracle.Binary):
        return kind, bytes(value), value.subtype
    if isinstance(value, oracle.Code):
        return kind, str(value), shape(value.scope)
    if isinstance(value, RawBSONDocument):
        return kind, type(value.raw), bytes(value.raw), value._RawBSONDocument__codec_options  # type: ignore[attr-defined]
    if isinstance(value, oracle.DBRef):
        return kind, shape(value.as_doc())
    if isinstance(value, oracle.Regex):
        return kind, shape(value.pattern), shape(value.flags)
    if isinstance(value, datetime.datetime):
        # The very tzinfo: equal offsets are not enough.
        return kind, value.replace(tzinfo=None, fold=0).isoformat(), value.fold, id(value.tzinfo)
    if isinstance(value, float):
        return kind, struct.pack("<d", value)
    if isinstance(value, Mapping):
        return kind, [(shape(key), shape(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return kind, [shape(item) for item in value]
    if isinstance(value, oracle.ObjectId):
        return kind, value.binary
    if isinstance(value, oracle.Decimal128):
        return kind, value.bid
    if isinstance(value, oracle.Timestamp):
        return kind, value.time, value.inc
    if isinstance(value, oracle.DatetimeMS):
        return kind, int(value)
    if isinstance(value, uuid.UUID):
        return kind, value.bytes
    if isinstance(value, int):
        return kind, int(value)
    if isinstance(value, Iterator):
        return "iterator", *drained(value)
    if isinstance(value, (str, bytes)):
        return kind, value
    return kind, repr(value)


def drained(documents: Iterator[Any]) -> tuple[list[Any], type | None]:
    """What an iterator gives, and the class of the error that it ends with, if any."""
    came = []
    try:
        for document in documents:
            came.append(shape(document))
    except Exception as error:
        return came, type(error)
    return came, None


def outcome(act: Callable[..., Any], *given: Any) -> tuple[str, Any]:
    """What comes of a call: the shape of its result, or the class of its exception."""
    try:
        result = act(*given)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return "raised", type(error)
    return "given", shape(result)


def difference(ours: Any, theirs: Any) -> str:
    """The first place where two shapes differ."""
    path = ""
    while type(ours) is type(theirs) and isinstance(ours, (tuple, list)) and len(ours) == len(theirs):
        at = next(at for at in range(len(ours)) if ours[at] != theirs[at])
        ours, theirs, path = ours[at], theirs[at], f"{path}[{at}]"
    return f"at {path}: {ours!r:.1000} instead of {theirs!r:.1000}"


def agree(act: Callable[[ModuleType], Any]) -> tuple[str, Any]:
    """Calls `act` with each module; both must come to the same, which is returned."""
    ours, theirs = (outcome(act, module) for module in MODULES)
    assert ours == theirs, difference(ours, theirs)
    return ours


def both(name: str, *args: Any, **named: Any) -> tuple[str, Any]:
    """Calls the function of that name of each module; both must come to the same, which is returned."""
    return agree(lambda module: getattr(module, name)(*args, **named))
