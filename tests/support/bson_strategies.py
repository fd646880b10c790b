"""Hypothesis strategies for BSON: documents of all that PyMongo encodes, of what it refuses, and the options of a codec."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import re
import struct
import types
import uuid
import zoneinfo
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any
from unittest import mock

from hypothesis import strategies as st

from tests.support.bson_beside import RawBSONDocument, oracle
from tests.support.bson_wire import NO_DOCUMENT, ONE

UTC = datetime.timezone.utc


# --- subclasses: written as what they are based on ---
class Text(str):
    pass


class Number(int):
    pass


class Real(float):
    pass


class Octets(bytes):
    pass


class Items(list):
    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("a list is read as it is, not as its class says")


class Table(dict):
    def items(self) -> Any:
        raise AssertionError("a dict is read as it is, not as its class says")

    __iter__ = __getitem__ = keys = items  # type: ignore[assignment]


class Colour(enum.IntEnum):
    RED = 7


class Flag(enum.IntFlag):
    ONE = 2**40


class Shade(str, enum.Enum):
    DARK = "dark"


class Day(datetime.datetime):
    pass


class Blob(oracle.Binary):
    pass


class Script(oracle.Code):
    pass


class Long(oracle.Int64):
    pass


class Oid(oracle.ObjectId):
    pass


class Raw(RawBSONDocument):
    pass


Point = collections.namedtuple("Point", "x y")


class Pairs(Mapping):
    """A mapping that is no dict, and gives its names alone."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.inner = dict(*given, **named)

    def __getitem__(self, key: Any) -> Any:
        return self.inner[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)


class Changing(Pairs, MutableMapping):
    """A document_class that is no dict, and notes what is done to it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.told: list[Any] = []

    def __setitem__(self, key: Any, value: Any) -> None:
        self.told.append(key)
        self.inner[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.inner[key]


class Shouting(dict):
    """A document_class that is a dict and sets in a way of its own."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(f"{key}!", value)


class Marked:
    """Not one of PyMongo's classes, and says it is: its marker counts."""

    def __init__(self, marker: Any, **parts: Any) -> None:
        self._type_marker = marker
        vars(self).update(parts)


class Silent(dict):
    """A dict whose class has no say in what `_id` is."""

    def __missing__(self, key: Any) -> Any:
        raise AssertionError("nobody asks for what is not there")


def bits(number: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", number))[0]


def counted(factory: Any, **items: Any) -> Any:
    made = collections.defaultdict(factory)
    made.update(items)
    return made


AMSTERDAM = zoneinfo.ZoneInfo("Europe/Amsterdam")
ZONES = [None, UTC, oracle.utc, AMSTERDAM, datetime.timezone(datetime.timedelta(hours=-23, minutes=-59)), datetime.timezone(datetime.timedelta(seconds=1, microseconds=5))]  # fmt: skip
MOMENTS = [
    datetime.datetime(1, 1, 1), datetime.datetime(1, 1, 1, 1, 1, 1, 111_111), datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime.datetime(1970, 1, 1), datetime.datetime(2021, 10, 31, 2, 30), datetime.datetime(2021, 10, 31, 2, 30, fold=1),
    datetime.datetime(2021, 3, 28, 2, 30), datetime.datetime(2024, 2, 29, 12, 0, 0, 1_999), datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999),
]  # fmt: skip
PATTERNS = [re.compile("a.b"), re.compile("é", re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE), re.compile("x", re.ASCII), re.compile(b"b\xc3\xa9", re.LOCALE), re.compile(""), re.compile(b"")]  # fmt: skip
UUIDS = [uuid.UUID(int=0), uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), uuid.UUID(int=2**128 - 1)]

# One of each kind, and those at the edges of each. Where a value belongs to a mapping, see MAPPINGS.
EDGES: dict[str, Any] = {
    "None": None, "True": True, "False": False,
    **{f"int {sign * 2**power + by}": sign * 2**power + by for power in (0, 7, 8, 31, 32) for sign in (1, -1) for by in (-1, 0, 1)},
    "most": 2**63 - 1, "least": -(2**63), "Int64": oracle.Int64(5), "most Int64": oracle.Int64(2**63 - 1), "Int64 subclass": Long(-1),
    "int subclass": Number(-5), "large int subclass": Number(2**40), "IntEnum": Colour.RED, "IntFlag": Flag.ONE,
    "0.0": 0.0, "-0.0": -0.0, "inf": float("inf"), "-inf": float("-inf"), "NaN": float("nan"), "NaN with payload": bits(0xFFF8_0000_0000_0012),
    "signalling NaN": bits(0x7FF0_0000_0000_0001), "least float": 5e-324, "most float": 1.7976931348623157e308, "float subclass": Real(2.5),
    "text": "aé☆😀", "empty text": "", "text with NUL": "a\0b", "long text": "é" * 300, "str subclass": Text("a"), "str enum": Shade.DARK,
    "bytes": b"\xff\0", "empty bytes": b"", "bytes subclass": Octets(b"ab"), "Binary subclass": Blob(b"ab", 0),
    **{f"Binary {subtype}": oracle.Binary(b"\xff\0", subtype) for subtype in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 127, 128, 255)},
    "empty Binary 2": oracle.Binary(b"", 2), "vector": oracle.Binary.from_vector([1.5, -2.0], oracle.binary.BinaryVectorDtype.FLOAT32),
    **{f"datetime {at} {zone}": moment.replace(tzinfo=zone) for at, moment in enumerate(MOMENTS) for zone in (None, UTC, AMSTERDAM) if not (at in (0, 1) and zone is AMSTERDAM)},
    "datetime subclass": Day(2020, 1, 2, 3, tzinfo=UTC), "odd offset": datetime.datetime(2020, 1, 1, tzinfo=ZONES[5]),
    **{f"DatetimeMS {millis}": oracle.DatetimeMS(millis) for millis in (0, -1, 2**63 - 1, -(2**63))},
    "ObjectId": oracle.ObjectId("f0f1f2f3f4f5f6f7f8f9fafb"), "ObjectId subclass": Oid("00" * 12),
    **{f"pattern {at}": pattern for at, pattern in enumerate(PATTERNS)},
    "Regex": oracle.Regex("é.*", "ilmsux"), "Regex of bytes": oracle.Regex(b"\xc3\xa9"), "Regex with other flags": oracle.Regex("(", -1), "no flags": oracle.Regex("x", 1 << 40),
    "Code": oracle.Code("f()"), "Code with scope": oracle.Code("f", {"x": 1, "_id": 2, "y": [{}], "$s": 1, "a.b": 2}), "Code with empty scope": oracle.Code("", {}), "Code subclass": Script("é", {"x": {}}),
    "Code with a SON": oracle.Code("f", oracle.SON([("b", 1), ("a", 2)])), "Code with raw": oracle.Code("f", RawBSONDocument(ONE)), "Code with a mapping": oracle.Code("f", Pairs(a=1)),
    "Timestamp": oracle.Timestamp(2**32 - 1, 2**32 - 1), "Timestamp 0": oracle.Timestamp(0, 0), "Decimal128": oracle.Decimal128("-1.50E+10"),
    "Decimal128 of bits": oracle.Decimal128.from_bid(b"\xff" * 16), "MinKey": oracle.MinKey(), "MaxKey": oracle.MaxKey(),
    "DBRef": oracle.DBRef("c", 5), "DBRef with all": oracle.DBRef("c", oracle.ObjectId("00" * 12), "d", more=[1], **{"$x": 1, "a.b": {}}), "DBRef of a dict": oracle.DBRef("", {"_id": 1, "a": oracle.DBRef("x", 1)}),
    "list": [1, [2, ["x", {}]], []], "long list": list(range(12)), "very long list": [None] * 1001, "tuple": (1, (2.5, "x")), "empty tuple": (), "namedtuple": Point(1, [2]), "list subclass": Items([1, 2]),
    "class MinKey": oracle.MinKey, "class MaxKey": oracle.MaxKey,
    "marked 7": Marked(7, binary=b"x" * 12), "marked 255": Marked(255), "marked 101": Marked(101, raw=ONE),
}  # fmt: skip

MAPPINGS: dict[str, Any] = {
    "dict": lambda items: dict(items),
    "SON": oracle.SON,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda items: counted(list, **dict(items)),
    "Counter": lambda items: collections.Counter(dict(items)),
    "dict subclass": Table,
    "dict that misses nothing": Silent,
    "mappingproxy": lambda items: types.MappingProxyType(dict(items)),
    "UserDict": lambda items: collections.UserDict(items),
    "ChainMap": lambda items: collections.ChainMap(dict(items), {"base": 1}),
    "Mapping": Pairs,
    "MutableMapping": Changing,
    "raw": lambda items: RawBSONDocument(oracle.encode(dict(items))),
    "raw of a memoryview": lambda items: RawBSONDocument(memoryview(oracle.encode(dict(items)))),
    "raw subclass": lambda items: Raw(
        oracle.encode(dict(items)), oracle.CodecOptions(document_class=RawBSONDocument)
    ),
}

NAMES = [
    "",
    "_id",
    "a",
    "b",
    "a.b",
    ".",
    "$",
    "$ref",
    "$id",
    "$db",
    "é",
    "日本",
    "😀",
    "n" * 80,
    "0",
    Text("t"),
    Text("_id"),
]


class Broken(Mapping):
    """Says it has what it can't give."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __getitem__(self, key: Any) -> Any:
        raise self.error("not there")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class NoIteration(Broken):
    def __iter__(self) -> Iterator[str]:
        raise self.error("not there")


@dataclasses.dataclass
class Record:
    a: int = 1


class Offset(datetime.tzinfo):
    """A zone that fails, or gives what is no offset."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def utcoffset(self, moment: Any) -> Any:
        if isinstance(self.given, type):
            raise self.given("no offset")
        return self.given


# What no codec takes, each with an exception of its own.
REFUSED: dict[str, Any] = {
    "2**63": 2**63, "-2**63-1": -(2**63) - 1, "2**200": 2**200, "large subclass": Number(2**64), "large Int64": oracle.Int64(2**63), "small Int64": oracle.Int64(-(2**63) - 1),
    "surrogate": "a\ud800", "surrogate in Code": oracle.Code("\udfff"), "surrogate in a subclass": Text("\ud800"),
    "set": {1}, "frozenset": frozenset(), "complex": 1j, "object": object(), "bytearray": bytearray(b"x"), "memoryview": memoryview(b"x"), "array": array.array("i", [1]), "range": range(3), "generator": (x for x in ()),
    "date": datetime.date(2020, 1, 1), "time": datetime.time(), "timedelta": datetime.timedelta(1), "Decimal": decimal.Decimal("1.5"), "Fraction": fractions.Fraction(1, 2),
    "Ellipsis": ..., "function": len, "dataclass": Record(), "exception": ValueError("x"), "Enum": enum.Enum("Plain", "A").A, "mock": mock.MagicMock(), "module": types, "dict_keys": {}.keys(), "dict_items": {"a": 1}.items(),
    **{f"class {kind.__name__}": kind for kind in (int, dict, oracle.Binary, oracle.ObjectId, oracle.Code, oracle.Int64, oracle.Regex, oracle.Timestamp, oracle.DBRef, oracle.Decimal128, oracle.DatetimeMS, RawBSONDocument)},
    "Regex with NUL": oracle.Regex("a\0b"), "Regex of bytes with NUL": oracle.Regex(b"a\0b"), "Regex of other bytes": oracle.Regex(b"\xff"), "Regex with a surrogate": oracle.Regex("\ud800"), "Regex with large flags": oracle.Regex("a", 2**70),
    "pattern with NUL": re.compile("a\0b"), "pattern of other bytes": re.compile(b"\xff"),
    "before the first year": datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), "after the last": datetime.datetime(9999, 12, 31, 23, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=-1))),
    "zone that fails": datetime.datetime(2020, 1, 1, tzinfo=Offset(LookupError)), "zone of numbers": datetime.datetime(2020, 1, 1, tzinfo=Offset(5)),
    "DBRef of a set": oracle.DBRef("c", {1}), "DBRef with NUL": oracle.DBRef("c", 1, **{"a\0": 1}), "Code with a set": oracle.Code("f", {"a": {1}}), "Code with a number as name": oracle.Code("f", {1: 1}),
    "mapping that fails": Broken(LookupError), "mapping that lies": Broken(TypeError), "mapping without names": NoIteration(LookupError),
    "marked 7": Marked(7, binary="text"), "marked 9": Marked(9), "marked 17": Marked(17, inc=-1, time=0), "marked 101": Marked(101, raw="text"), "marked 19": Marked(19), "marked 13": Marked(13, scope=None), "marked by text": Marked("7"), "marked 3": Marked(3),
}  # fmt: skip

REFUSED_NAMES: dict[str, Any] = {
    "int": 1, "None": None, "bytes": b"a", "float": 1.5, "tuple": ("a",), "bool": True, "ObjectId": oracle.ObjectId("00" * 12), "UUID": UUIDS[1],
    "NUL": "a\0b", "only NUL": "\0", "_id and NUL": "_id\0", "surrogate": "\ud800",
}  # fmt: skip

# --- documents ---
names = st.one_of(
    st.sampled_from(NAMES), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
)
edges = st.sampled_from(list(EDGES)).map(EDGES.__getitem__)
# Hypothesis compares what it draws, and these can't be.
refused = st.sampled_from([name for name in REFUSED if not name.startswith("zone")]).map(REFUSED.__getitem__)
MOST_SECONDS = 2**32 - 1
between = {"min_value": datetime.datetime(2, 1, 1), "max_value": datetime.datetime(9998, 1, 1)}
patterns = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
scalars = st.one_of(
    edges,
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1).map(oracle.Int64),
    st.integers(0, 2**64 - 1).map(bits),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.binary(max_size=20),
    st.builds(oracle.Binary, st.binary(max_size=20), st.integers(0, 255)),
    st.datetimes(timezones=st.sampled_from(ZONES), **between),
    st.integers(-(2**63), 2**63 - 1).map(oracle.DatetimeMS),
    st.binary(min_size=12, max_size=12).map(oracle.ObjectId),
    st.binary(min_size=16, max_size=16).map(oracle.Decimal128.from_bid),
    st.builds(oracle.Timestamp, st.integers(0, MOST_SECONDS), st.integers(0, MOST_SECONDS)),
    st.builds(oracle.Regex, patterns, st.integers(0, 255)),
)


def mappings(values: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[Any]:
    """Any mapping class but raw documents, whose values would be encoded here."""
    kinds = st.sampled_from([kind for kind in MAPPINGS if not kind.startswith("raw")])
    items = st.dictionaries(names, values, min_size=least, max_size=least + 2)
    return st.builds(lambda kind, items: MAPPINGS[kind](items), kinds, items)


def references(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    extras = st.dictionaries(st.sampled_from(["more", "$x", "_id"]), inner, max_size=2)
    return st.builds(oracle.DBRef, st.sampled_from(["c", ""]), inner, st.sampled_from([None, "d"]), extras)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            mappings(inner, 1),
            st.builds(oracle.Code, st.sampled_from(["f()", "é"]), mappings(inner)),
            references(inner),
        ),
        max_leaves=5,
    )


raw_documents = st.sampled_from([RawBSONDocument(NO_DOCUMENT), RawBSONDocument(memoryview(ONE)), Raw(ONE)])
documents = mappings(nested(st.one_of(scalars, st.sampled_from(UUIDS), raw_documents)), 2)


def misnamed(made: Any, wrong: Any, way: int) -> Any:
    """Most as they come, some with a name that is none."""
    return {5: {"at": made, wrong: 1}, 6: {"at": {"deep": [made, {wrong: 1}]}}}.get(way, made)


# Not `one_of`, which would take each branch of `scalars` for as likely as all that is refused.
mostly_refused = st.integers(0, 2).flatmap(lambda way: refused if way else scalars)
refused_documents = st.builds(
    misnamed,
    mappings(nested(mostly_refused), 1),
    st.sampled_from(list(REFUSED_NAMES)).map(REFUSED_NAMES.__getitem__),
    st.integers(0, 6),
)

# --- options ---
DOCUMENT_CLASSES: dict[str, Any] = {
    "dict": dict,
    "SON": oracle.SON,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": collections.defaultdict,
    "raw": RawBSONDocument,
    "raw subclass": Raw,
    "MutableMapping": Changing,
    "dict subclass": Shouting,
    "generic": dict[str, Any],
    "UserDict": collections.UserDict,
}
REPRESENTATIONS = {"unspecified": 0, "python": 3, "standard": 4, "java": 5, "csharp": 6}
HANDLERS = ["strict", "replace", "ignore", "backslashreplace", "surrogateescape"]
CONVERSIONS = list(oracle.DatetimeConversion)
# Naive, or aware and moved to a zone.
AWARE: dict[str, dict[str, Any]] = {
    "naive": {},
    "aware": {"tz_aware": True},
    "Amsterdam": {"tz_aware": True, "tzinfo": AMSTERDAM},
    "Kiritimati": {"tz_aware": True, "tzinfo": zoneinfo.ZoneInfo("Pacific/Kiritimati")},
    "Niue": {"tz_aware": True, "tzinfo": zoneinfo.ZoneInfo("Pacific/Niue")},
    "fixed": {"tz_aware": True, "tzinfo": oracle.tz_util.FixedOffset(-555, "west")},
    "odd": {"tz_aware": True, "tzinfo": datetime.timezone(datetime.timedelta(seconds=-1, microseconds=5))},
}
options = st.builds(
    lambda document_class, aware, **others: oracle.CodecOptions(document_class, **aware, **others),
    st.sampled_from(list(DOCUMENT_CLASSES.values())),
    st.sampled_from(list(AWARE.values())),
    uuid_representation=st.sampled_from(list(REPRESENTATIONS.values())),
    unicode_decode_error_handler=st.sampled_from(HANDLERS),
    datetime_conversion=st.sampled_from(CONVERSIONS),
)
