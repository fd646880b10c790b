"""Every way in which a value fails to be what its type says: the text of the error, the path, and what was wrong.

No text may show what was stored: the values are, or hold, SENTINEL or NUMBER, which no message may contain.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import types
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import annotated_types as at
import msgspec
import numpy as np
from numpy.typing import NDArray

from tests.support import typed_models as models
from tests.support.typed_models import Box, Camel, Cat, Closed, Dog, Line, Movie, Pair, Point, Row, Team, User

SENTINEL = "s3ntinel"
# Of registered classes.
INVALID_TAG = "Invalid tag: if it is an old one, `register` its class with it in `aliases`"
DEFAULT = ": give it a default, or `register` the class with `upgrade`"
NUMBER = 987_654_321
UTC = datetime.timezone.utc


def text() -> str:
    """A string that nothing else holds: it is stored without a mark, so that its place is known."""
    return "".join(["s3n", "tinel"])


def number() -> int:
    return int("987654321")


@dataclass(frozen=True)
class Failure:
    name: str
    annotation: Any
    # Makes the value; and the part of it that is wrong, whose place the error names: None for the whole.
    value: Callable[[], Any]
    said: str
    path: tuple[Any, ...] = ()
    wrong: Callable[[], Any] | None = None
    # Where plain formats, which lack some types, say something else.
    said_plain: str | None = None
    path_plain: tuple[Any, ...] | None = None
    loading: dict[str, Any] = field(default_factory=dict)
    # Formats that can store the value, or tell that it is wrong: all unless said otherwise.
    only: str = ""

    def concerns(self, fmt: str) -> bool:
        return fmt in (self.only or fmt).split()

    def whole_text(self, plain: bool) -> str:
        said = self.said_plain if plain and self.said_plain is not None else self.said
        path = self.whole_path(plain)
        steps = "".join(
            "[...]" if step is ... else f"[{step}]" if isinstance(step, int) else f".{step}" for step in path
        )
        return f"{said} - at `${steps}`" if path else said

    def whole_path(self, plain: bool) -> tuple[Any, ...]:
        return self.path_plain if plain and self.path_plain is not None else self.path


def kinds() -> list[Failure]:
    """Expected this, got that: each kind as what was wanted and as what was found."""
    wanted: list[tuple[str, Any]] = [
        ("None", type(None)),
        ("bool", bool),
        ("int", int),
        ("float", float),
        ("bytes", bytes),
        ("bytearray", bytearray),
        ("memoryview", memoryview),
        ("complex", complex),
        ("range", range),
        ("list", list[int]),
        ("tuple", tuple[int, ...]),
        ("set", set[int]),
        ("frozenset", frozenset[int]),
        ("deque", collections.deque[int]),
        ("dict", dict[str, int]),
        ("OrderedDict", collections.OrderedDict[str, int]),
        ("defaultdict", collections.defaultdict[str, int]),
        ("Counter", collections.Counter[str]),
        ("mappingproxy", types.MappingProxyType[str, int]),
        ("Point", Point),
        ("Pair", Pair),
        ("Movie", Movie),
        ("AttrsUser", models.AttrsUser),
        ("StructUser", models.StructUser),
        ("ModelUser", models.ModelUser),
        ("PlainUser", models.PlainUser),
        ("Shape", models.Shape),
        ("Row", Row),
        ("Foreign", models.Foreign),
        ("int | None", int | None),
        ("list | dict", list[int] | dict[str, int]),
        ("Cat | Dog", Cat | Dog),
        ("NDArray[float32]", NDArray[np.float32]),
        ("float64", np.float64),
    ]
    got: list[tuple[str, Callable[[], Any]]] = [
        ("None", lambda: None),
        ("bool", lambda: True),
        ("int", number),
        ("float", lambda: 987654321.5),
        ("bytes", lambda: text().encode()),
        ("list", lambda: [text()]),
        ("dict", lambda: {text(): 1, NUMBER: 2}),
    ]
    return [
        *(
            Failure(f"{name} of str", annotation, text, f"Expected `{name}`, got `str`")
            for name, annotation in wanted
        ),
        *(Failure(f"str of {name}", str, value, f"Expected `str`, got `{name}`") for name, value in got),
        Failure(
            "str of tuple",
            str,
            lambda: (text(), text()),
            "Expected `str`, got `tuple`",
            said_plain="Expected `str`, got `list`",
        ),
        Failure(
            "str of set",
            str,
            lambda: {text()},
            "Expected `str`, got `set`",
            said_plain="Expected `str`, got `list`",
        ),
        Failure(
            "str of date", str, lambda: datetime.date(2026, 1, 2), "Expected `str`, got `date`", only="hold"
        ),
        Failure("str of UUID", str, lambda: uuid.UUID(int=NUMBER), "Expected `str`, got `UUID`", only="hold"),
        Failure("bool of int", bool, lambda: 1, "Expected `bool`, got `int`"),
        Failure("int of bool", int, lambda: True, "Expected `int`, got `bool`"),
        Failure("int of float", int, lambda: 3.0, "Expected `int`, got `float`"),
        Failure("float of too large an int", float, lambda: NUMBER**40, "Number out of range", only="hold"),
    ]


def within() -> list[Failure]:
    """Inside of containers of every kind."""
    wrong = "Expected `int`, got `str`"

    def case(name: str, annotation: Any, value: Callable[[], Any], *path: Any, **more: Any) -> Failure:
        return Failure(f"in {name}", annotation, value, wrong, path, text, **more)

    users: Callable[[], Any] = lambda: [User("a", 1), User("b", text())]  # type: ignore[arg-type]  # noqa: E731
    return [
        case("list", list[int], lambda: [1, text()], 1),
        case("tuple", tuple[int, ...], lambda: (1, text()), 1),
        case("fixed tuple", tuple[str, int], lambda: ("a", text()), 1),
        case("set", set[int], lambda: {text()}, 0),
        case("frozenset", frozenset[int], lambda: frozenset({text()}), 0),
        case("deque", collections.deque[int], lambda: collections.deque([1, text()]), 1),
        case("nested lists", list[list[int]], lambda: [[], [1, text()]], 1, 1),
        case("dict", dict[str, int], lambda: {"k": text()}, ...),
        case("key", dict[int, str], lambda: {text(): "v"}, ...),
        case("dict of int keys", dict[int, int], lambda: {NUMBER: text()}, ...),
        case("list in a dict", dict[str, list[int]], lambda: {"k": [1, text()]}, ..., 1),
        case(
            "OrderedDict", collections.OrderedDict[str, int], lambda: collections.OrderedDict(k=text()), ...
        ),
        case(
            "defaultdict",
            collections.defaultdict[str, int],
            lambda: collections.defaultdict(int, k=text()),
            ...,
        ),
        case("Counter", collections.Counter[str], lambda: collections.Counter(k=text()), ...),
        case(
            "mappingproxy",
            types.MappingProxyType[str, int],
            lambda: types.MappingProxyType({"k": text()}),
            ...,
        ),
        case("field", Point, lambda: Point(1, text()), "y"),  # type: ignore[arg-type]
        case("field of a dict", Point, lambda: {"x": 1, "y": text()}, "y"),
        case("field of a field", Line, lambda: Line(Point(1, text())), "start", "y"),  # type: ignore[arg-type]
        case("optional field", Line, lambda: Line(Point(1), Point(text())), "end", "x"),  # type: ignore[arg-type]
        case("list of a field", Team, lambda: Team("t", users()), "users", 1, "age"),
        case("dict of a field", Team, lambda: Team("t", [], {1: users()[1]}), "by_id", ..., "age"),
        case("chain", models.Node, lambda: models.Node(1, models.Node(text())), "next", "value"),  # type: ignore[arg-type]
        case("generic", Box[int], lambda: Box(text()), "item"),
        case("attrs", models.AttrsUser, lambda: models.AttrsUser("a", text()), "age"),  # type: ignore[arg-type]
        case("Struct", models.StructUser, lambda: models.StructUser("a", text()), "age"),  # type: ignore[arg-type]
        case("annotated class", models.PlainUser, lambda: models.PlainUser.make(name="a", age=text()), "age"),
        case("NamedTuple", Pair, lambda: Pair(text()), "left"),  # type: ignore[arg-type]
        case("NamedTuple of a list", Pair, lambda: [text()], "left"),
        case("TypedDict", Movie, lambda: {"title": "a", "year": text()}, "year"),
        case("array_like", Row, lambda: Row(text(), "a"), "id"),  # type: ignore[arg-type]
        case("array_like of a list", Row, lambda: [text(), "a"], "id"),
        case("tagged class", Cat | Dog, lambda: {"kind": "cat", "name": "a", "lives": text()}, "lives"),
        Failure(
            "renamed",
            Camel,
            lambda: Camel(number()),
            "Expected `str`, got `int`",
            ("first_name",),
            number,
            path_plain=("firstName",),
        ),  # type: ignore[arg-type]
        Failure(
            "in a run of ints",
            list[str],
            lambda: [NUMBER] * 9,
            "Expected `str`, got `int`",
            (0,),
            only="hold",
        ),
        Failure(
            "in a run of text",
            list[int],
            lambda: [chr(65 + i) * 50 for i in range(20)],
            wrong,
            (0,),
            only="hold",
        ),
        Failure(
            "in a union",
            list[int | None],
            lambda: [None, text()],
            "Expected `int | None`, got `str`",
            (1,),
            text,
        ),
    ]


def shapes() -> list[Failure]:
    """Lengths, missing fields, unknown fields, tags."""
    grown = lambda: {"a": 1, "b": 2, "unknown": text()}  # noqa: E731
    by_order = "Expected `Row` of length >= 2, got 1"
    tagged = "Expected `TaggedRow` of length <= 3, got 4"
    return [
        Failure(
            "tuple too short", tuple[int, str], lambda: (number(),), "Expected `tuple` of length 2, got 1"
        ),
        Failure("tuple too long", tuple[int], lambda: [1, text()], "Expected `tuple` of length 1, got 2"),
        Failure("empty tuple", tuple[()], lambda: [text()], "Expected `tuple` of length 0, got 1"),
        Failure(
            "tuple of a run", tuple[int, int], lambda: [NUMBER] * 9, "Expected `tuple` of length 2, got 9"
        ),
        Failure("NamedTuple too short", Pair, list, "Expected `Pair` of length >= 1, got 0"),
        Failure(
            "NamedTuple too long", Pair, lambda: [1, "a", text()], "Expected `Pair` of length <= 2, got 3"
        ),
        Failure("NamedTuple of a run", Pair, lambda: [NUMBER] * 9, "Expected `Pair` of length <= 2, got 9"),
        Failure("array_like too short", Row, lambda: [number()], by_order),
        Failure("array_like too long", models.TaggedRow, lambda: [7, 1, "a", text()], tagged),
        Failure(
            "array_like, wrong tag",
            models.TaggedRow,
            lambda: [NUMBER, 1, "a"],
            INVALID_TAG,
            said_plain=INVALID_TAG,
        ),
        Failure("missing", Point, lambda: {"y": 1}, "Object missing required field `x`"),
        Failure(
            "missing in a list",
            list[Point],
            lambda: [{"y": 1}],
            "Object missing required field `x`",
            (0,),
            lambda: {"y": 1},
        ),
        Failure(
            "missing, renamed",
            Camel,
            dict,
            "Object missing required field `first_name`" + DEFAULT,
            said_plain="Object missing required field `firstName`" + DEFAULT,
        ),
        Failure("missing, TypedDict", Movie, lambda: {"year": 1}, "Object missing required field `title`"),
        Failure("missing, attrs", models.AttrsUser, dict, "Object missing required field `name`"),
        Failure("missing, Struct", models.StructUser, dict, "Object missing required field `name`"),
        Failure("missing, annotated class", models.PlainUser, dict, "Object missing required field `name`"),
        Failure("missing, pydantic", models.ModelUser, dict, "Field required", ("name",)),
        Failure("unknown", Closed, grown, "Object contains unknown field `unknown`"),
        Failure("tag missing", Cat | Dog, lambda: {"name": text()}, "Object missing required field `kind`"),
        Failure("tag unknown", Cat | Dog, lambda: {"kind": text()}, INVALID_TAG, ("kind",), text),
        Failure(
            "tag of another class", Cat, lambda: {"kind": text(), "name": "a"}, INVALID_TAG, ("kind",), text
        ),
        Failure(
            "tag of another type",
            Cat | Dog,
            lambda: {"kind": [text()]},
            INVALID_TAG,
            ("kind",),
            lambda: [text()],
        ),
        Failure(
            "no class of a union",
            models.ByRadius | models.BySides,
            lambda: {"label": text()},
            "Expected `ByRadius | BySides`, got `dict`",
        ),
        Failure("another class", Point, lambda: Cat(text()), "Expected `Point`, got `Cat`", only="hold"),
        Failure(
            "a class that is not permitted",
            Point,
            lambda: User(text(), 1),
            "Expected `Point`, got `tests.support.typed_models.User`; if that is its old name, `register` it with the name in `aliases`",
            only="hold",
        ),
        Failure(
            "another class of a union",
            Cat | Dog,
            lambda: Closed(1),
            "Expected `Cat | Dog`, got `Closed`",
            only="hold",
        ),
    ]


def bounds() -> list[Failure]:
    """Constraints, one by one, at the root; and where they stand in something else."""
    meta = msgspec.Meta

    def case(annotation: Any, extra: Any, value: Callable[[], Any], said: str, **more: Any) -> Failure:
        return Failure(f"{annotation.__name__}, {extra!r}", Annotated[annotation, extra], value, said, **more)

    return [
        case(int, at.Gt(NUMBER + 1), number, f"Expected `int` > {NUMBER + 1}"),
        case(int, at.Ge(5), lambda: 4, "Expected `int` >= 5"),
        case(int, at.Lt(5), number, "Expected `int` < 5"),
        case(int, at.Le(5), number, "Expected `int` <= 5"),
        case(int, at.MultipleOf(2), number, "Expected `int` that's a multiple of 2"),
        case(float, at.Gt(0.5), lambda: 0.5, "Expected `float` > 0.5"),
        case(float, at.Le(1), lambda: 987654321.5, "Expected `float` <= 1"),
        case(float, at.MultipleOf(0.5), lambda: 0.25, "Expected `float` that's a multiple of 0.5"),
        case(float, at.Ge(10), lambda: 9, "Expected `float` >= 10"),
        case(str, at.MinLen(10), text, "Expected `str` of length >= 10"),
        case(str, at.MaxLen(3), text, "Expected `str` of length <= 3"),
        case(str, meta(pattern="^x"), text, 'Expected `str` matching regex "^x"'),
        case(float, at.Ge(0), lambda: float("nan"), "Expected `float` >= 0"),
        case(decimal.Decimal, at.Ge(1), lambda: decimal.Decimal("NaN"), "Expected `Decimal` >= 1"),
        case(
            decimal.Decimal,
            at.MultipleOf(3),
            lambda: decimal.Decimal("9E+999999"),
            "Expected `Decimal` that's a multiple of 3",
            only="hold msgpack",
        ),
        case(
            decimal.Decimal,
            at.MultipleOf(7),
            lambda: decimal.Decimal("9E+6111"),
            "Expected `Decimal` that's a multiple of 7",
        ),
        case(bytes, at.MaxLen(3), lambda: text().encode(), "Expected `bytes` of length <= 3"),
        case(
            bytearray,
            at.MinLen(10),
            lambda: bytearray(text().encode()),
            "Expected `bytearray` of length >= 10",
        ),
        case(list, at.MinLen(2), lambda: [text()], "Expected `list` of length >= 2"),
        case(tuple, at.MaxLen(1), lambda: (text(), text()), "Expected `tuple` of length <= 1"),
        case(set, at.MinLen(2), lambda: {text()}, "Expected `set` of length >= 2"),
        case(frozenset, at.MinLen(2), lambda: frozenset({text()}), "Expected `frozenset` of length >= 2"),
        case(
            collections.deque,
            at.MinLen(2),
            lambda: collections.deque([text()]),
            "Expected `deque` of length >= 2",
        ),
        case(dict, at.MinLen(2), lambda: {"k": text()}, "Expected `dict` of length >= 2"),
        case(dict, at.MaxLen(0), lambda: {NUMBER: 1}, "Expected `dict` of length <= 0"),
        Failure(
            "Decimal, bound",
            Annotated[decimal.Decimal, at.Lt(5)],
            lambda: decimal.Decimal(NUMBER),
            "Expected `Decimal` < 5",
        ),
        Failure(
            "of an item",
            list[Annotated[int, at.Le(5)]],
            lambda: [1, number()],
            "Expected `int` <= 5",
            (1,),
            number,
        ),
        Failure(
            "of a run's item",
            list[Annotated[int, at.Le(5)]],
            lambda: [1, 2, 3, 4, NUMBER],
            "Expected `int` <= 5",
            (4,),
            only="hold",
        ),
        Failure(
            "of a field",
            Box[Annotated[str, at.MaxLen(3)]],
            lambda: Box(text()),
            "Expected `str` of length <= 3",
            ("item",),
            text,
        ),
        Failure(
            "of a key",
            dict[Annotated[str, at.MaxLen(3)], int],
            lambda: {text(): 1},
            "Expected `str` of length <= 3",
            (...,),
            text,
        ),
        Failure(
            "list of a run",
            Annotated[list[int], at.MaxLen(3)],
            lambda: [NUMBER] * 9,
            "Expected `list` of length <= 3",
        ),
    ]


def values() -> list[Failure]:
    """Enums, literals, and text that does not say what it should."""

    def plainly(name: str, annotation: Any, said_plain: str) -> list[Failure]:
        found = f"Expected `{name}`, got `str`"
        return [
            Failure(f"{name}, bad text", annotation, text, found, said_plain=said_plain),
            Failure(
                f"{name}, bad text in a list",
                list[annotation],
                lambda: [text()],
                found,
                (0,),
                text,
                said_plain=said_plain,
            ),
            Failure(f"{name}, bad text, lax", annotation, text, said_plain, loading={"strict": False}),
        ]

    moment = lambda: datetime.datetime(2026, 1, 2)  # noqa: E731
    aware = Annotated[datetime.datetime, msgspec.Meta(tz=True)]
    naive = Annotated[datetime.datetime, msgspec.Meta(tz=False)]
    return [
        Failure("enum", models.Color, text, "Invalid enum value"),
        Failure("enum of a number", models.Level, number, "Invalid enum value"),
        Failure("enum of a list", models.Level, lambda: [text()], "Expected `Level`, got `list`"),
        Failure("enum of a bool", models.Color, lambda: True, "Expected `Color`, got `bool`"),
        Failure("enum of a float", models.Color, lambda: 1.0, "Expected `Color`, got `float`"),
        Failure("flag", models.Access, number, "Invalid enum value"),
        Failure("enum in a list", list[models.Color], lambda: [text()], "Invalid enum value", (0,), text),
        Failure("literal", Literal["a", "b"], text, "Invalid enum value"),
        Failure("literal, of another type", Literal["a", "b"], number, "Expected `Literal`, got `int`"),
        Failure("literal, 1 is not True", Literal[1], lambda: True, "Expected `Literal`, got `bool`"),
        *plainly("UUID", uuid.UUID, "Invalid UUID"),
        *plainly("Decimal", decimal.Decimal, "Invalid decimal string"),
        *plainly("datetime", datetime.datetime, "Invalid RFC3339 encoded datetime"),
        *plainly("date", datetime.date, "Invalid RFC3339 encoded date"),
        *plainly("time", datetime.time, "Invalid RFC3339 encoded time"),
        *plainly("timedelta", datetime.timedelta, "Invalid ISO8601 duration"),
        *plainly("Fraction", fractions.Fraction, "Invalid `Fraction`"),
        Failure(
            "UUID of bytes",
            uuid.UUID,
            lambda: text().encode(),
            "Expected `UUID`, got `bytes`",
            said_plain="Invalid UUID bytes",
        ),
        # BSON does not say whether there was a zone: there the type does.
        Failure(
            "datetime, naive",
            aware,
            moment,
            "Expected `datetime` with a timezone component",
            only="hold msgpack",
        ),
        Failure(
            "datetime, aware",
            naive,
            lambda: moment().replace(tzinfo=UTC),
            "Expected `datetime` with no timezone component",
            only="hold msgpack",
        ),
        Failure("int, bad text, lax", int, text, "Expected `int`, got `str`", loading={"strict": False}),
        Failure(
            "int, fraction, lax",
            int,
            lambda: 987654321.5,
            "Expected `int`, got `float`",
            loading={"strict": False},
        ),
        Failure("bool, number, lax", bool, number, "Expected `bool`, got `int`", loading={"strict": False}),
        Failure(
            "datetime out of range, lax",
            datetime.datetime,
            lambda: NUMBER**2,
            "Timestamp is out of range",
            loading={"strict": False},
        ),
        Failure(
            "timedelta out of range, lax",
            datetime.timedelta,
            lambda: NUMBER**2,
            "Duration is out of range",
            loading={"strict": False},
        ),
        Failure(
            "registered decode refuses",
            models.Amount,
            lambda: -NUMBER,
            "Expected `Amount`, got `int`",
            said_plain="Invalid `Amount`",
        ),
        Failure(
            "array, dtype",
            NDArray[np.float32],
            lambda: np.zeros(2),
            "Expected `ndarray` of dtype `float32`, got `float64`",
            only="hold",
        ),
        Failure(
            "array, lossy",
            NDArray[np.int32],
            lambda: [1.5, 2.0],
            "Expected `NDArray[int32]`, got `list`",
            said_plain="Expected `ndarray`, got `list` of other values",
        ),
        Failure(
            "array, overflow",
            NDArray[np.float32],
            lambda: [1e300],
            "Expected `NDArray[float32]`, got `list`",
            said_plain="Expected `ndarray`, got `list` of other values",
        ),
        Failure(
            "array, shape",
            Annotated[np.ndarray, (2, None)],
            lambda: np.zeros(3),
            "Expected `ndarray` of shape (2, n), got [3]",
        ),
        Failure(
            "array, of text",
            NDArray[np.float32],
            lambda: [text()],
            "Expected `NDArray[float32]`, got `list`",
            said_plain="Expected `ndarray`, got `list` of other values",
        ),
        Failure(
            "pydantic",
            models.ModelUser,
            lambda: {"name": "a", "age": -NUMBER},
            "Input should be greater than or equal to 0",
            ("age",),
        ),
        Failure(
            "pydantic, type",
            list[models.ModelUser],
            lambda: [{"name": number()}],
            "Input should be a valid string",
            (0, "name"),
        ),
        Failure(
            "pydantic, of an object",
            models.ModelUser,
            lambda: models.ModelUser.model_construct(name=number()),
            "Input should be a valid string",
            ("name",),
            said_plain="Input should be a valid string",
        ),
    ]


FAILURES: list[Failure] = [*kinds(), *within(), *shapes(), *bounds(), *values()]
