"""Annotations that together use everything, with valid messages for each: what is fuzzed, and counted."""

from __future__ import annotations

import collections
import datetime
import decimal
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import annotated_types as at
import attrs
import msgspec
import numpy as np
from numpy.typing import NDArray

from tests.support import typed_models as models
from tests.support.formats import Format
from tests.support.typed_models import Box, Circle, Closed, Pair, Point, Row, Shape, Square, Team, User


@dataclass(slots=True)
class Everything:
    a: int
    b: float = 1.5
    c: str | None = None
    d: list[Point] = field(default_factory=list)
    e: dict[str, list[int]] = field(default_factory=dict)
    f: tuple[int, str, float] | None = None
    g: set[int] = field(default_factory=set)
    h: frozenset[str] = frozenset()
    i: collections.deque[int] = field(default_factory=collections.deque)
    j: Any = None
    k: models.Cat | models.Dog | None = None
    inner: Everything | None = None
    m: Literal["x", 1, None] = None


@dataclass
class Values:
    when: datetime.datetime
    day: datetime.date | None = None
    at: datetime.time | None = None
    span: datetime.timedelta | None = None
    price: decimal.Decimal | None = None
    id: uuid.UUID | None = None
    color: models.Color | None = None
    level: models.Level | None = None


@dataclass
class Bounded:
    a: Annotated[int, at.Interval(ge=0, lt=1000), at.MultipleOf(2)]
    b: Annotated[float, at.Gt(0)] = 1.0
    c: Annotated[str, msgspec.Meta(pattern="^[a-z]+$", max_length=10)] = "c"
    d: Annotated[list[int], at.Len(0, 3)] = field(default_factory=list)
    e: Annotated[dict[str, int], at.MaxLen(2)] = field(default_factory=dict)
    f: Annotated[decimal.Decimal, at.Ge(0)] = decimal.Decimal(0)

    def __post_init__(self) -> None:
        if self.a == 4:
            raise ValueError("no 4")


@attrs.define
class Converted:
    name: str = attrs.field(converter=str.strip)
    size: int = attrs.field(default=1, validator=attrs.validators.ge(0))


class Deep(NamedTuple):
    name: str
    parts: list[Deep]


@dataclass
class Arrays:
    a: NDArray[np.float32]
    b: Annotated[NDArray[np.int64], (2, None)] | None = None


def _everything() -> Everything:
    inner = Everything(1, c="inner", m="x", k=models.Cat("Tom"))
    point = Point(3, 4)
    return Everything(
        2, 2.5, "text", [point, Point(5, 6), point], {"k": [1, 2, 3, 4, 5], "l": []}, (1, "a", 2.0), {1, 2},
        frozenset({"x"}), collections.deque([1, 2]), [1, {"a": b"b"}], models.Dog("Rex"), inner, 1,
    )  # fmt: skip


def _values() -> Values:
    utc = datetime.timezone.utc
    return Values(
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6, utc), datetime.date(2026, 1, 2), datetime.time(1, 2),
        datetime.timedelta(1, 2), decimal.Decimal("1.5"), uuid.UUID(int=7), models.Color.RED, models.Level.LOW,
    )  # fmt: skip


def _team() -> Team:
    ann = User("Ann", 30, ["a", "b"])
    return Team("t", [ann, User("Bob", 20)], {1: ann})


TARGETS: list[tuple[str, Any, list[Any]]] = [
    ("everything", Everything, [_everything(), {"a": 1, "zz": [1, {"y": 2}], "c": None, "inner": {"a": 3}}]),
    ("team", Team, [_team(), {"name": "x", "users": [{"name": "a", "age": 1}] * 2}]),
    ("values", Values, [_values(), {"when": datetime.datetime(2026, 1, 2), "color": "RED"}]),
    ("bounded", list[Bounded], [[Bounded(2, 0.5, "abc", [1], {"a": 1})], [{"a": 2, "f": decimal.Decimal("1.5")}]]),
    ("union", list[models.Cat | models.Dog | int | str | None], [[models.Cat("a"), 1, "x", None], [{"kind": "dog", "name": "Rex"}]]),
    ("distinct", dict[str, models.ByRadius | models.BySides], [{"a": models.ByRadius(1.0), "b": models.BySides(1.0, 2.0)}]),
    ("shapes", list[Shape], [[Circle(1.0), Square(2.0)]]),
    ("array_like", tuple[Row, models.TaggedRow, models.StructRow, Pair], [(Row(1, "a"), models.TaggedRow(1), models.StructRow("x"), Pair(1))]),
    ("structs", dict[str, models.StructGet | models.StructPut], [{"a": models.StructPut("k", 1), "b": models.StructGet("k")}]),
    ("attrs", list[Converted], [[Converted("x"), Converted("y", 3)]]),
    ("pydantic", list[models.ModelUser], [[models.ModelUser(name="a", age=3)]]),
    ("typeddict", list[models.Movie], [[{"title": "a", "year": 1}, {"title": "b"}]]),
    ("closed", list[Closed], [[Closed(1), {"a": 1}]]),
    ("deep", Deep, [Deep("a", [Deep("b", []), Deep("c", [Deep("d", [])])])]),
    ("mappings", tuple[collections.OrderedDict[str, int], collections.defaultdict[str, list[int]], collections.Counter[str]], [
        (collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]), collections.Counter("aab"))]),
    ("arrays", Arrays, [Arrays(np.zeros(3, np.float32), np.zeros((2, 2), np.int64))]),
    ("generic", Box[dict[int, Box[str]]], [Box({1: Box("x"), 2: Box("y")})]),
]  # fmt: skip


def messages(fmt: Format) -> list[tuple[Any, bytes]]:
    """An annotation and a valid message of it, each."""
    return [(annotation, fmt.dumps(value)) for _, annotation, values in TARGETS for value in values]
