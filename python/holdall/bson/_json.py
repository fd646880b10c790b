"""MongoDB's Extended JSON, version 2, by PyMongo's `json_util`, which the authors of the specification
maintain. Here it is stricter in what the conformance corpus refuses.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import TYPE_CHECKING, Any, Literal

from bson import json_util
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.dbref import DBRef
from bson.errors import InvalidBSON
from bson.int64 import Int64

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

# Values come as they were stored: a UUID as a Binary, which keeps its subtype.
_STORED: CodecOptions[Any] = CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
    uuid_representation=UuidRepresentation.UNSPECIFIED,
)
_WRITTEN = {
    "canonical": json_util.CANONICAL_JSON_OPTIONS,
    "relaxed": json_util.RELAXED_JSON_OPTIONS,
}
_READ = json_util.JSONOptions(
    tz_aware=True,
    tzinfo=datetime.timezone.utc,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
    uuid_representation=UuidRepresentation.UNSPECIFIED,
)


def to_json(data_or_obj: Any, *, mode: Literal["canonical", "relaxed"] = "relaxed") -> str:
    """A document as MongoDB's Extended JSON, version 2.

    data_or_obj: bytes-like, one document; or a dict or whatever else `dumps` stores, which is what the text says then.
    mode: "relaxed" has numbers and dates as people write them; "canonical" has the type of every value, so that
        `from_json` gives the same document again.

    Raises DecodeError: malformed bytes. Raises EncodeError: as `dumps`, or nested too deep for the JSON of Python.
    Raises ValueError: another mode.

    >>> to_json({"n": 1, "at": ObjectId("65a1b2c3d4e5f60718293a4b")})
    '{"n": 1, "at": {"$oid": "65a1b2c3d4e5f60718293a4b"}}'
    >>> to_json({"n": 1}, mode="canonical")
    '{"n": {"$numberInt": "1"}}'
    """
    if mode not in _WRITTEN:
        raise ValueError('mode: expected "canonical" or "relaxed", found another')
    document = _decoded(_stored(data_or_obj))
    try:
        text: str = json_util.dumps(document, json_options=_WRITTEN[mode])
    except RecursionError:
        raise _core.EncodeError("can't write a document as JSON that is nested so deep") from None
    return text


def _stored(data_or_obj: Any) -> Any:
    """The bytes of a document."""
    if isinstance(data_or_obj, _core.Document):
        return data_or_obj.raw
    try:
        memoryview(data_or_obj)
    except TypeError:
        return _core.bson_dumps(data_or_obj)
    return data_or_obj


def _decoded(data: Any) -> Any:
    # Not by `loads`, to which all ints are alike: the text says their width.
    try:
        return _core.bson_decode(data, _STORED)
    except InvalidBSON as error:
        if isinstance(error.__cause__, _core.DecodeError):
            raise error.__cause__ from None
        raise _refused(str(error)) from None


def from_json(text: str | bytes | bytearray) -> dict[str, Any]:
    """Restore a document from MongoDB's Extended JSON, version 2, canonical, relaxed or both.

    Values that JSON has no form for are PyMongo's classes; $numberLong gives Int64, $date an aware datetime in UTC (DatetimeMS
    beyond its years), a UUID a Binary.

    Raises DecodeError: no JSON, no document, a value that is not what its `$` name says, or too deep for the JSON of Python;
    `.offset` counts characters up to where it is no JSON.

    >>> from_json('{"n": {"$numberLong": "5"}, "c": {"$code": "f()"}}')
    {'n': Int64(5), 'c': Code('f()', None)}
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError(f"expected text, got `{type(text).__name__}`")
    reader = _Reader()
    # Only the exceptions of Python's parsers are caught. Their texts are not used, because they show the
    # data.
    try:
        found = json.loads(text, object_hook=reader.value, parse_constant=_no_constant)
    except MemoryError:
        raise
    except json.JSONDecodeError as error:
        raise _refused("expected JSON, found something else", error.pos) from None
    except RecursionError:
        raise _refused("nested too deep") from None
    except UnicodeDecodeError:
        raise _refused("text that is not valid UTF-8") from None
    except Exception:
        raise _refused(f"expected {reader.about()}, found something else") from None
    if isinstance(found, DBRef) and "$ref" in reader.last:
        # A reference is part of a document, but may also be the outermost one.
        return reader.last
    if type(found) is not dict:
        raise _refused("expected a document, found another value")
    return found


def _refused(why: str, at: int = 0) -> _core.DecodeError:
    error = _core.DecodeError(f"{why} - at character {at}" if at else why)
    error.offset = at
    return error


def _no_constant(name: str) -> Any:
    raise ValueError(name)


class _Reader:
    """Makes values of objects, starting with the innermost."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}

    def value(self, document: dict[str, Any]) -> Any:
        # `json_util` removes the keys of a reference from which it makes a DBRef.
        self.last = dict(document) if "$ref" in document else document
        for name, check in _CHECKS.items():
            if name in document and not check(document[name]):
                raise ValueError(name)
        return json_util.object_hook(document, _READ)

    def about(self) -> str:
        """What the last document claims to be."""
        names = [name for name in self.last if name in _NAMES]
        return f"the value of a {names[0]}" if names else "JSON"


# The names of Extended JSON's types; names of the user's are never shown.
_NAMES = frozenset(
    "$oid $ref $date $regex $minKey $maxKey $binary $code $uuid $numberLong $timestamp $numberDecimal $dbPointer"
    " $regularExpression $symbol $numberInt $numberDouble".split()
)
_UUID = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def _no_nul(regex: Mapping[str, Any]) -> bool:
    return not any("\0" in part for part in regex.values())


# What `json_util` accepts and the specification doesn't.
_CHECKS = {
    "$numberLong": lambda value: isinstance(value, str),
    "$date": lambda value: isinstance(value, (str, Int64)),
    "$uuid": lambda value: _UUID.fullmatch(value) is not None,
    "$regularExpression": _no_nul,
}
