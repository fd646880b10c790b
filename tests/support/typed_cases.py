"""One table of types: an annotation, a value, and what each format makes of it, untyped and typed.

`docs/types.md` shows this table and `tests/api/typed/test_table.py` runs every cell of it.
"""

# Old spellings are cases of their own.
# ruff: noqa: UP007, UP045
from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo
from collections import abc
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, List, Literal, Optional, Tuple, Union

import annotated_types
import msgspec
import numpy as np
from bson import (
    SON,
    Binary,
    Code,
    DatetimeMS,
    DBRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from numpy.typing import NDArray

from tests.support import typed_models as models


class Refused(str):
    """The value can't be stored: what the EncodeError says, in part."""


class NotLoaded(str):
    """What was stored can't be loaded in this way: what the DecodeError says, in part."""


class _Same:
    """The value itself comes back."""


class _Permitted:
    """The value itself comes back where `types=` permits its class; else it is an UnknownTypeError."""


class _Unsaid:
    """As the other plain formats, or as hold."""


SAME: Any = _Same()
PERMITTED: Any = _Permitted()
UNSAID: Any = _Unsaid()


@dataclass(frozen=True)
class Case:
    """Results: SAME, PERMITTED, `Refused(...)`, or the very value. What is typed is SAME unless said otherwise."""

    group: str
    # As the page shows the annotation.
    name: str
    annotation: Any
    value: Any
    # What plain formats give without a type.
    plain: Any = SAME
    # What hold gives without a type.
    hold: Any = SAME
    typed: Any = SAME
    # Where plain formats can't give what hold gives.
    typed_plain: Any = UNSAID
    # Where BSON differs from MessagePack.
    bson: Any = UNSAID
    typed_bson: Any = UNSAID
    dumping: dict[str, Any] = field(default_factory=dict)
    loading: dict[str, Any] = field(default_factory=dict)

    def untyped_result(self, fmt: str) -> Any:
        return self._result(self.said(fmt))

    def typed_result(self, fmt: str) -> Any:
        said = {
            "hold": [self.typed],
            "msgpack": [self.typed_plain, self.typed],
            "bson": [self.typed_bson, self.typed_plain, self.typed],
        }[fmt]
        if isinstance(self.said(fmt), Refused):
            return self.said(fmt)
        return self._result(next(result for result in said if result is not UNSAID))

    def said(self, fmt: str) -> Any:
        """What `fmt` gives without a type, as the table has it."""
        if fmt == "hold":
            return self.hold
        return self.plain if fmt == "msgpack" or self.bson is UNSAID else self.bson

    def _result(self, said: Any) -> Any:
        return self.value if said is SAME or said is PERMITTED else said


UTC = datetime.timezone.utc
NO_FORM = Refused("the format has no form for it")
NO_KEY = Refused("keys are text in this format")
NOT_THIS_WAY = NotLoaded("Expected")


def _dated(*parts: int, **more: Any) -> datetime.datetime:
    return datetime.datetime(*parts, **more)  # type: ignore[arg-type]


def _builtins() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, plain: Any = SAME, **more: Any) -> Case:
        return Case("Builtins", name, annotation, value, plain, **more)

    return [
        case("Any", Any, [1, "a"]),
        case("object", object, {"a": 1.5}),
        case("None", type(None), None),
        case("bool", bool, True),
        case("int", int, -3),
        case("int, of 64 bits with a sign", int, -(2**63)),
        case("int, of 64 bits", int, 2**64 - 1, bson=Refused("an int beyond 64 bits")),
        case("int, beyond 64 bits", int, 2**64, Refused("an int beyond 64 bits")),
        case("float", float, 1.5),
        case("float, of an int", float, 2, typed=2.0),
        case("complex", complex, 1 + 2j, [1.0, 2.0]),
        case("str", str, "naïve"),
        case("bytes", bytes, b"\x00\xff"),
        case("bytearray", bytearray, bytearray(b"ab"), b"ab"),
        case("memoryview", memoryview, memoryview(b"ab"), b"ab", hold=b"ab"),
        case("range", range, range(3), NO_FORM),
        case("slice", slice, slice(1, 2), NO_FORM),
    ]


def _containers() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, plain: Any = SAME, **more: Any) -> Case:
        return Case("Containers", name, annotation, value, plain, **more)

    ordered = collections.OrderedDict(b=1, a=2)
    groups = collections.defaultdict(list, a=[1])
    return [
        case("list", list, [1, "a", None]),
        case("list[int]", list[int], [1, 2, 3]),
        case("List[str]", List[str], ["a", "b"]),
        case("list[float], of ints", list[float], [1, 2], typed=[1.0, 2.0]),
        case("tuple", tuple, (1, "a"), [1, "a"]),
        case("tuple[int, ...]", tuple[int, ...], (1, 2, 3), [1, 2, 3]),
        case("tuple[int, str]", tuple[int, str], (1, "a"), [1, "a"]),
        case("Tuple[()]", Tuple[()], (), []),
        case("set[int]", set[int], {1}, [1]),
        case("frozenset[str]", frozenset[str], frozenset({"a"}), ["a"]),
        case("deque[int]", collections.deque[int], collections.deque([1, 2]), [1, 2]),
        case("Sequence[int]", abc.Sequence[int], [1, 2]),
        case("Sequence[int], of a tuple", abc.Sequence[int], (1, 2), [1, 2], typed=[1, 2]),
        case("MutableSequence[int]", abc.MutableSequence[int], [1]),
        case("Collection[str]", abc.Collection[str], ["a"]),
        case("Iterable[str]", abc.Iterable[str], ["a"]),
        case("Set[int]", abc.Set[int], {1}, [1]),
        case("MutableSet[int]", abc.MutableSet[int], {1}, [1]),
        case(
            "dict",
            dict,
            {"a": 1, 2: None},
            bson={"a": 1, "2": None},
            typed_bson={"a": 1, "2": None},
        ),
        case("dict[str, int]", dict[str, int], {"a": 1}),
        case("dict[int, str]", dict[int, str], {1: "a", -20: "b"}, bson={"1": "a", "-20": "b"}),
        case("Mapping[str, float]", abc.Mapping[str, float], {"a": 1.5}),
        case("MutableMapping[str, int]", abc.MutableMapping[str, int], {"a": 1}),
        case("OrderedDict[str, int]", collections.OrderedDict[str, int], ordered, {"b": 1, "a": 2}),
        case("defaultdict[str, list[int]]", collections.defaultdict[str, list[int]], groups, {"a": [1]}),
        case("Counter[str]", collections.Counter[str], collections.Counter("aab"), {"a": 2, "b": 1}),
        case(
            "MappingProxyType[str, int]",
            types.MappingProxyType[str, int],
            types.MappingProxyType({"a": 1}),
            {"a": 1},
        ),
    ]


def _keys() -> list[Case]:
    """BSON's keys are text: others are stored as theirs, where they have one that says all."""

    def case(name: str, key: Any, plain: Any = SAME, bson: Any = UNSAID, **more: Any) -> Case:
        held = {key: 1}
        annotation = more.pop("annotation", None) or dict[type(key), int]
        said = [
            said if said in (SAME, UNSAID) or isinstance(said, (Refused, NotLoaded)) else {said: 1}
            for said in (plain, bson)
        ]
        return Case("Keys of dicts", name, annotation, held, said[0], bson=said[1], **more)

    day, moment = datetime.date(2026, 1, 2), _dated(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    identifier = uuid.UUID("12345678-1234-5678-1234-567812345678")
    return [
        case("str", "é"),
        case("int", -20, bson="-20"),
        case("int, beyond 64 bits", 2**70, Refused("an int beyond 64 bits"), bson=str(2**70)),
        case("int | str", 1, bson="1", typed_bson={"1": 1}, annotation=dict[int | str, int]),
        case("NewType", 3, bson="3", annotation=dict[models.UserId, int]),
        case("Literal[1, 2]", 2, bson="2", annotation=dict[Literal[1, 2], int]),
        case(
            "Annotated[int, Ge(0)]",
            3,
            bson="3",
            annotation=dict[Annotated[int, annotated_types.Ge(0)], int],
        ),
        case("float", 1.5, bson=NO_KEY),
        case("bool", True, bson=NO_KEY),
        case("None", None, bson=NO_KEY),
        case("int | None", None, bson=NO_KEY, annotation=dict[int | None, int]),
        case("bytes", b"k", bson=NO_KEY),
        case("tuple[int, int]", (0, 1), bson=NO_KEY),
        case("frozenset[int]", frozenset({1}), (1,), bson=NO_KEY),
        case("Enum", models.Color.GREEN, "green", hold=PERMITTED),
        case("Enum, of an int", models.Color.RED, 1, bson="1", hold=PERMITTED),
        case(
            "Enum, of a tuple",
            models.Color.BLUE,
            models.Color.BLUE.value,
            bson=NO_KEY,
            hold=PERMITTED,
        ),
        case("IntEnum", models.Level.HIGH, 10, bson="10", hold=PERMITTED),
        case("str, Enum", models.Unit.METRE, "m", hold=PERMITTED),
        case("date", day, "2026-01-02"),
        case("time", datetime.time(1, 2), "01:02:00"),
        case("timedelta", datetime.timedelta(days=1), "P1D"),
        case("datetime, naive", moment.replace(tzinfo=None), "2026-01-02T03:04:05.678901"),
        case("datetime, in UTC", moment, bson="2026-01-02T03:04:05.678901+00:00"),
        case("UUID", identifier, str(identifier)),
        case("Decimal", decimal.Decimal("1.10"), "1.10"),
        case("Fraction", fractions.Fraction(1, 3), "1/3"),
        case("PurePosixPath", pathlib.PurePosixPath("/a"), "/a"),
        case("IPv4Address", ipaddress.IPv4Address("10.0.0.1"), "10.0.0.1"),
        case("NamedTuple", models.Pair(1), tuple(models.Pair(1)), bson=NO_KEY, hold=PERMITTED),
    ]


def _unions() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, plain: Any = SAME, **more: Any) -> Case:
        return Case("Unions and names", name, annotation, value, plain, **more)

    return [
        case("Optional[int]", Optional[int], None),
        case("int | None", int | None, 3),
        case("int | str", int | str, "a"),
        case("int | float", int | float, 1),
        case("Union[list[int], dict[str, int], str]", Union[list[int], dict[str, int], str], {"a": 1}),
        case("list[int] | None", list[int] | None, [1]),
        case(
            "Cat | Dog, by tag",
            Union[models.Cat, models.Dog],
            models.Dog("Rex"),
            {"kind": "dog", "name": "Rex", "good": True},
        ),
        case(
            "ByRadius | BySides, by fields",
            Union[models.ByRadius, models.BySides],
            models.BySides(1.0, 2.0),
            {"width": 1.0, "height": 2.0, "label": ""},
            hold=PERMITTED,
        ),
        case(
            "Point | list[int] | None",
            Union[models.Point, list[int], None],
            models.Point(1),
            {"x": 1, "y": 0},
            hold=PERMITTED,
        ),
        case('Literal["a", 1, None]', Literal["a", 1, None], "a"),
        case("Final[int]", Final[int], 3),
        case("NewType", models.UserId, 3),
        case("TypeVar, with constraints", models.Number, 1.5),
        case("TypeVar, bound", models.Bounded, "a"),
        case("TypeVar, free", models.T, ["a"]),
        case("Annotated[int, Ge(0)]", Annotated[int, annotated_types.Ge(0)], 3),
        case(
            "Annotated[float, Interval(gt=0, le=1)]",
            Annotated[float, annotated_types.Interval(gt=0, le=1)],
            0.5,
        ),
        case("Annotated[int, MultipleOf(3)]", Annotated[int, annotated_types.MultipleOf(3)], 6),
        case('Annotated[str, Meta(pattern="^a")]', Annotated[str, msgspec.Meta(pattern="^a")], "ab"),
        case("Annotated[list[int], Len(1, 2)]", Annotated[list[int], annotated_types.Len(1, 2)], [1]),
    ]


def _classes() -> list[Case]:
    def case(
        name: str, annotation: Any, value: Any, plain: Any = SAME, hold: Any = PERMITTED, **more: Any
    ) -> Case:
        return Case("Classes", name, annotation, value, plain, hold=hold, **more)

    team = models.Team("t", [models.User("Ann", 30)], {7: models.User("Bob", 40, ["x"])})
    users = [{"name": "Ann", "age": 30, "tags": []}, {"name": "Bob", "age": 40, "tags": ["x"]}]
    chain = models.Node(1, models.Node(2))
    tree = models.Tree("root", [models.Tree("leaf")])
    hooks = {"dumping": {"enc_hook": models.enc_foreign}, "loading": {"dec_hook": models.dec_foreign}}
    return [
        case("dataclass", models.User, models.User("Ann", 30), users[0]),
        case("dataclass, slots", models.Point, models.Point(1, 2), {"x": 1, "y": 2}),
        case(
            "dataclasses, nested",
            models.Team,
            team,
            {"name": "t", "users": users[:1], "by_id": {7: users[1]}},
            bson={"name": "t", "users": users[:1], "by_id": {"7": users[1]}},
        ),
        case("recursive", models.Node, chain, {"value": 1, "next": {"value": 2, "next": None}}),
        case(
            "recursive, in a list",
            models.Tree,
            tree,
            {"name": "root", "children": [{"name": "leaf", "children": []}]},
        ),
        case("generic, Box[int]", models.Box[int], models.Box(1), {"item": 1}),
        case("array_like", models.Row, models.Row(1, "a"), [1, "a", None], SAME),
        case("array_like, with a tag", models.TaggedRow, models.TaggedRow(1, "a"), [7, 1, "a"], SAME),
        case("rename", models.Camel, models.Camel("Ann"), {"firstName": "Ann", "lastName": "?"}, SAME),
        case("abstract base", models.Shape, models.Square(1.5), {"side": 1.5}, SAME),
        case("NamedTuple", models.Pair, models.Pair(1, "a"), [1, "a"]),
        case("TypedDict", models.Movie, {"title": "M", "year": 1931}, hold=SAME),
        case("TypedDict, total=False", models.Options, {"name": "a"}, hold=SAME),
        case("attrs", models.AttrsUser, models.AttrsUser("Ann", 30), {"name": "Ann", "age": 30}),
        case("msgspec.Struct", models.StructUser, models.StructUser("Ann", 30), {"name": "Ann", "age": 30}),
        case("msgspec.Struct, array_like", models.StructRow, models.StructRow("Ann", 30), ["Ann", 30]),
        case(
            "msgspec.Struct, tagged",
            Union[models.StructGet, models.StructPut],
            models.StructPut("k", 1),
            {"op": "StructPut", "key": "k", "value": 1},
        ),
        case(
            "pydantic.BaseModel",
            models.ModelUser,
            models.ModelUser(name="Ann", age=3),
            {"name": "Ann", "age": 3},
        ),
        case(
            "annotated class",
            models.PlainUser,
            models.PlainUser.make(name="Ann", age=3),
            {"name": "Ann", "age": 3},
        ),
        case("registered encode, decode", models.Amount, models.Amount(5), 5, SAME),
        case("enc_hook, dec_hook", models.Foreign, models.Foreign("x"), "x", "x", **hooks),
        case("Enum", models.Color, models.Color.RED, 1),
        case("Enum, of a str", models.Color, models.Color.GREEN, "green"),
        case("Enum, of a tuple", models.Color, models.Color.BLUE, [0, 0, 255]),
        case("Enum, by name", models.Color, "RED", hold=SAME, typed=models.Color.RED),
        case("IntEnum", models.Level, models.Level.HIGH, 10),
        case("str, Enum", models.Unit, models.Unit.METRE, "m"),
        case("Flag", models.Access, models.Access.READ | models.Access.WRITE, 3),
    ]


def _standard() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, plain: Any = SAME, **more: Any) -> Case:
        return Case("Standard library", name, annotation, value, plain, **more)

    identifier = uuid.UUID("12345678-1234-5678-1234-567812345678")
    paris = _dated(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"))
    texts = [
        ("Fraction", fractions.Fraction, fractions.Fraction(1, 3)),
        ("PurePosixPath", pathlib.PurePosixPath, pathlib.PurePosixPath("/a/b")),
        ("Path", pathlib.Path, pathlib.Path("a/b")),
        ("IPv4Address", ipaddress.IPv4Address, ipaddress.IPv4Address("10.0.0.1")),
        ("IPv4Network", ipaddress.IPv4Network, ipaddress.IPv4Network("10.0.0.0/8")),
        ("IPv6Address", ipaddress.IPv6Address, ipaddress.IPv6Address("::1")),
        ("IPv6Interface", ipaddress.IPv6Interface, ipaddress.IPv6Interface("::1/64")),
        ("ZoneInfo", zoneinfo.ZoneInfo, zoneinfo.ZoneInfo("Europe/Paris")),
    ]
    return [
        case(
            "datetime, naive",
            datetime.datetime,
            _dated(2026, 1, 2, 3, 4, 5, 6789),
            "2026-01-02T03:04:05.006789",
            bson=_dated(2026, 1, 2, 3, 4, 5, 6000, UTC),
            typed_bson=_dated(2026, 1, 2, 3, 4, 5, 6000, UTC),
        ),
        case(
            "datetime, in nanoseconds",
            datetime.datetime,
            "2026-01-02t03:04:05.000006400z",
            hold=SAME,
            typed=NOT_THIS_WAY,
            typed_plain=_dated(2026, 1, 2, 3, 4, 5, 6, UTC),
        ),
        case("datetime, in UTC", datetime.datetime, _dated(2026, 1, 2, tzinfo=UTC)),
        case(
            "datetime, of a zone",
            datetime.datetime,
            paris,
            paris.astimezone(UTC),
            typed_plain=paris.astimezone(UTC),
        ),
        case(
            "Annotated[datetime, Meta(tz=True)]",
            Annotated[datetime.datetime, msgspec.Meta(tz=True)],
            _dated(2026, 1, 2, tzinfo=UTC),
        ),
        case(
            "Annotated[datetime, Meta(tz=False)]",
            Annotated[datetime.datetime, msgspec.Meta(tz=False)],
            _dated(2026, 1, 2),
            "2026-01-02T00:00:00",
            bson=_dated(2026, 1, 2, tzinfo=UTC),
        ),
        case("date", datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        case("time", datetime.time, datetime.time(1, 2, 3), "01:02:03"),
        case("time, with a zone", datetime.time, datetime.time(1, 2, tzinfo=UTC), "01:02:00+00:00"),
        case("timedelta", datetime.timedelta, datetime.timedelta(days=1, seconds=2), "P1DT2S"),
        case("timedelta, negative", datetime.timedelta, datetime.timedelta(seconds=-1), "-PT1S"),
        case("timezone", datetime.timezone, UTC, NO_FORM),
        case("Decimal", decimal.Decimal, decimal.Decimal("1.10"), "1.10", bson=Decimal128("1.10")),
        case(
            "Decimal, of 35 digits",
            decimal.Decimal,
            decimal.Decimal("1" * 35),
            "1" * 35,
            bson=Refused("more than 34 digits"),
        ),
        case("UUID", uuid.UUID, identifier, str(identifier), bson=SAME),
        *(case(name, cls, value, str(value)) for name, cls, value in texts),
        case("Pattern[str]", re.Pattern, re.compile("a+"), "a+", bson=Regex("a+", int(re.U))),
        case(
            "Pattern[str], with flags",
            re.Pattern,
            re.compile("a+", re.I),
            Refused("its flags have no form"),
            bson=Regex("a+", int(re.I | re.U)),
        ),
        case(
            "Pattern[bytes]",
            re.Pattern[bytes],
            re.compile(b"a+"),
            b"a+",
            typed_plain=NOT_THIS_WAY,
            bson=Regex("a+"),
            typed_bson=SAME,
        ),
        case("array.array", array.array, array.array("i", [1, 2]), [1, 2], typed_plain=NOT_THIS_WAY),
        case(
            "ChainMap",
            collections.ChainMap,
            collections.ChainMap({"a": 1}),
            {"a": 1},
            typed_plain=NOT_THIS_WAY,
        ),
    ]


def _numpy() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, plain: Any = SAME, **more: Any) -> Case:
        return Case("NumPy", name, annotation, value, plain, **more)

    square = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    sized = Annotated[NDArray[np.uint8], (2, None)]
    return [
        case("ndarray", np.ndarray, np.array([1, 2]), [1, 2]),
        case("NDArray[np.float32]", NDArray[np.float32], np.array([1.5, 2], np.float32), [1.5, 2.0]),
        case("np.ndarray[tuple[int, int], ...]", square, np.zeros((1, 2)), [[0.0, 0.0]]),
        case("Annotated[NDArray[np.uint8], (2, None)]", sized, np.zeros((2, 1), np.uint8), [[0], [0]]),
        case("np.float64", np.float64, np.float64(1.5), 1.5),
        case("np.int32", np.int32, np.int32(7), 7),
        case("np.datetime64", np.datetime64, np.datetime64("2026-01-02"), "2026-01-02"),
        case(
            "np.datetime64, with a time",
            np.datetime64,
            np.datetime64("2026-01-02T03:04:05.678000"),
            "2026-01-02T03:04:05.678000",
            bson=_dated(2026, 1, 2, 3, 4, 5, 678_000, UTC),
        ),
    ]


def _databases() -> list[Case]:
    """PyMongo's classes, for the values that databases have."""

    def case(cls: Any, value: Any, plain: Any, bson: Any = SAME, name: str = "", **more: Any) -> Case:
        return Case("BSON values", cls.__name__ + name, cls, value, plain, bson=bson, **more)

    number, moment = Decimal128("1.10"), DatetimeMS(1_767_323_045_678)
    reference = {"$ref": "people", "$id": 5, "$db": "db", "note": "n"}
    return [
        case(ObjectId, ObjectId("0123456789abcdef01234567"), bytes.fromhex("0123456789abcdef01234567")),
        case(Int64, Int64(5), 5, 5),
        case(Decimal128, number, number.bid),
        case(Binary, Binary(b"ab", 128), [128, b"ab"], name=", of a subtype"),
        case(Binary, Binary(b"ab", 0), b"ab", b"ab"),
        case(Regex, Regex("a+", int(re.I)), ["a+", 2]),
        case(Timestamp, Timestamp(1, 2), [1, 2]),
        case(MinKey, MinKey(), None),
        case(MaxKey, MaxKey(), None),
        case(DBRef, DBRef("people", 5, "db", note="n"), reference, reference),
        case(Code, Code("f()"), "f()"),
        case(Code, Code("f()", {"a": [1]}), ["f()", {"a": [1]}], name=", with variables"),
        case(DatetimeMS, moment, 1_767_323_045_678, _dated(2026, 1, 2, 3, 4, 5, 678_000, UTC)),
        case(DatetimeMS, DatetimeMS(-(2**63)), -(2**63), name=", beyond datetime's years"),
        case(SON, SON([("b", 1), ("a", 2)]), {"b": 1, "a": 2}, {"b": 1, "a": 2}, typed_plain=NOT_THIS_WAY),
    ]


def _lax() -> list[Case]:
    def case(name: str, annotation: Any, value: Any, typed: Any, **more: Any) -> Case:
        return Case("strict=False", name, annotation, value, typed=typed, loading={"strict": False}, **more)

    moment = _dated(2026, 1, 2, tzinfo=UTC)
    return [
        case("int, of a str", int, "12", 12),
        case("int, of a float", int, 12.0, 12),
        case("float, of a str", float, "1.5", 1.5),
        case("bool, of a str", bool, "true", True),
        case("bool, of an int", bool, 0, False),
        case("None, of a str", type(None), "null", None),
        case("datetime, of a str", datetime.datetime, "2026-01-02T00:00:00Z", moment),
        case("datetime, of seconds", datetime.datetime, int(moment.timestamp()), moment),
        case("timedelta, of seconds", datetime.timedelta, 90, datetime.timedelta(seconds=90)),
        case("date, of a str", datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
        case("Decimal, of a float", decimal.Decimal, 1.5, decimal.Decimal("1.5")),
        case("UUID, of a str", uuid.UUID, str(uuid.UUID(int=5)), uuid.UUID(int=5)),
        case("IntEnum, of a str", models.Level, "10", models.Level.HIGH),
        case("list[int], of str", list[int], ["1", "2"], [1, 2]),
        case("dict[int, bool], of str", dict[int, bool], {"1": "false"}, {1: False}),
    ]


CASES: list[Case] = [
    *_builtins(),
    *_containers(),
    *_keys(),
    *_unions(),
    *_classes(),
    *_standard(),
    *_numpy(),
    *_databases(),
    *_lax(),
]
