"""Julia's values by type: annotations, mapped classes, and the classes that `types=` permits for one load."""

from __future__ import annotations

import datetime
import enum
import types
import uuid
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import pytest

import holdall
from holdall import julia
from tests.support.each import each
from tests.support.julia_messages import (
    ANY,
    FLOAT64,
    FOO,
    INT64,
    STRING,
    array,
    bits,
    datatype,
    dict_of,
    long,
    message,
    struct,
    symbol,
    tuple_of,
)

np = pytest.importorskip("numpy")
import numpy.typing as npt  # noqa: E402

POINT = datatype("Main", "Typed", "Point")
MISSING = struct(datatype("Main", "Base", "Missing"))


@dataclass(slots=True)
class Point:
    x: float
    y: float


@dataclass
class Open:
    x: float
    y: float


class Slots:
    __slots__ = ("x", "y")
    x: float
    y: float


class Annotated:
    x: float
    y: float


class Named(NamedTuple):
    x: float
    y: float


@dataclass(slots=True)
class Path:
    name: str
    points: list[Point]
    start: Point | None
    tags: Any = None


def loads(value: Any, annotation: Any, **options: Any) -> Any:
    return julia.loads(message(value), type=dict[str, annotation], **options)["value"]


def refusal(value: Any, annotation: Any, **options: Any) -> str:
    with pytest.raises(holdall.ValidationError) as caught:
        loads(value, annotation, **options)
    return str(caught.value)


# --- classes ---


@pytest.mark.parametrize("cls", [Point, Open, Slots, Annotated, Named])
def test_classes_by_position(cls: Any) -> None:
    """A file has no names: the fields of a class are Julia's in their order, whatever it is called there."""
    for stored in (struct(POINT, 1.5, 2.5), struct(datatype("Main", "Other", params=[INT64]), 1.5, 2.5)):
        found = loads(stored, cls)
        assert type(found) is cls and (found.x, found.y) == (1.5, 2.5)
        assert loads([stored, stored], list[cls])[1].y == 2.5
    assert "expected `float`, got `str`" in refusal(struct(POINT, 1.5, "text"), cls).lower()


def test_fields_in_fields() -> None:
    stored = struct(FOO, "way", [struct(POINT, 1.0, 2.0), struct(POINT, 3.0, long(4))], None, symbol("s"))
    assert loads(stored, Path) == Path("way", [Point(1.0, 2.0), Point(3.0, 4.0)], None, julia.Symbol("s"))
    stored["data"][1][1]["data"][0] = None
    assert refusal(stored, Path) == "Expected `float`, got `None` - at `$[...].points[1].x`"
    stored = struct(FOO, "way", [], long(1), None)
    assert refusal(stored, Path | None) == "Expected `Point | None`, got `int` - at `$[...].start`"


def test_another_number_of_fields() -> None:
    for values in ([], [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(holdall.DecodeError) as caught:
            loads(struct(POINT, *values), Point)
        assert str(caught.value).startswith(
            f"`Main.Typed.Point` was stored with {len(values)} fields, and its class has 2: name them in order"
            " with `holdall.julia.struct(..., fields=[...])` - at byte "
        )


def test_nothing_of_a_class_has_no_fields_to_be_told() -> None:
    """Empty arrays and mappings say of what class their elements would be."""
    registered = {"Main.Foo": Path, "Main.Typed.Point": Point}
    for of in (FOO, POINT):
        empty = array(of, (0,), b"")
        stored = message([empty, array(of, (2, 0), b""), dict_of([], empty)])
        found = julia.loads(stored, types=registered)["value"]
        assert [found[0].shape, found[1].shape, len(found[2])] == [(0,), (2, 0), 0]
        again = julia.loads(julia.dumps({"a": found}), types=registered)["a"]
        assert [again[0].shape, again[1].shape, len(again[2])] == [(0,), (2, 0), 0]


def test_elements_without_bytes_have_another_number_of_fields() -> None:
    stored = message(array(FOO, (3,), b""))
    assert [type(item) for item in julia.loads(stored)["value"]] == [julia.JuliaStruct] * 3
    with pytest.raises(
        holdall.DecodeError, match="stored with 0 fields, and its class has 4: name them in order"
    ):
        julia.loads(stored, types={"Main.Foo": Path})


def test_a_document_by_names() -> None:
    """Outermost and nested plain documents have names: there fields are found by them."""

    @dataclass
    class Run:
        epoch: int
        point: Point
        rest: dict[str, float] = field(default_factory=dict)

    data = julia.dumps({"point": julia.JuliaStruct("Main.Typed.Point", [1.0, 2.0]), "more": [1], "epoch": 3})
    assert julia.loads(data, type=Run) == Run(3, Point(1.0, 2.0))
    assert julia.loads(
        message({"epoch": long(1), "point": struct(POINT, 1.0, 2.0)}), type=dict[str, Run]
    ) == {"value": Run(1, Point(1.0, 2.0))}
    with pytest.raises(holdall.ValidationError, match=r"point"):
        julia.loads(julia.dumps({"epoch": 1}), type=Run)

    class Table(TypedDict):
        epoch: int

    assert julia.loads(julia.dumps({"epoch": 3}), type=Table) == {"epoch": 3}


@julia.struct("Main.Typed.Known")
@dataclass
class Known:
    a: Any


@dataclass
class Other:
    a: Any


def test_registered_classes_and_others() -> None:
    known = struct(datatype("Main", "Typed", "Known"), 1.0)
    assert loads(known, Known) == loads(known, Any) == loads(known, Known | int | None) == Known(1.0)
    # What a type is mapped to is not another class.
    assert refusal(known, Other) == "Expected `Other`, got `Known` - at `$[...]`"
    assert loads(struct(FOO, 1.0), Other) == Other(1.0)
    # Which one, nobody says.
    assert "got `JuliaStruct`" in refusal(struct(FOO, 1.0), Known | Other)
    assert type(loads(struct(FOO, 1.0), julia.JuliaStruct)) is julia.JuliaStruct


def test_recursive_classes() -> None:
    stored = struct(FOO, long(1), [struct(FOO, long(2), [], None)], None)
    stored["data"][2] = struct(FOO, long(3), [], None)
    found = loads(stored, Tree)
    assert found == Tree(1, [Tree(2, [], None)], Tree(3, [], None))
    assert "$[...].children[0].value" in refusal(
        struct(FOO, long(1), [struct(FOO, "x", [], None)], None), Tree
    )


@dataclass(slots=True)
class Tree:
    value: int
    children: list[Tree]
    parent: Tree | None


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    item: T


def test_generic_classes() -> None:
    assert loads(struct(FOO, 1.0), Box[float]) == Box(1.0)
    assert loads(struct(FOO, [struct(FOO, long(5))]), Box[list[Box[int]]]) == Box([Box(5)])
    assert refusal(struct(FOO, "x"), Box[int]) == "Expected `int`, got `str` - at `$[...].item`"


# --- leaves ---


class Fruit(enum.Enum):
    APPLE = 1
    KIWI = 7


LEAVES = [
    (long(7), int, 7),
    (long(7), float, 7.0),
    (7, int, 7),
    (bits(datatype("Core", "UInt8"), b"\xfe"), int, 254),
    (bits(datatype("Core", "Int128"), b"\xff" * 16), int, -1),
    (bits(datatype("Core", "Float32"), np.float32(1.5).tobytes()), float, 1.5),
    (bits(datatype("Core", "Bool"), b"\1"), bool, True),
    (True, bool, True),
    ("text", str, "text"),
    (symbol("name"), str, "name"),
    (bits(datatype("Core", "Char"), b"\0\0\0a"), str, "a"),
    (b"\1\2", bytes, b"\1\2"),
    (b"\1\2", list[int], [1, 2]),
    (None, None, None),
    (None, int | None, None),
    (MISSING, None, None),
    (MISSING, int | None, None),
    (MISSING, str | None, None),
    (MISSING, Point | None, None),
    (MISSING, Any, julia.missing),
    (struct(datatype("Core", "Nothing")), int | None, None),
    (1.5, int | float | None, 1.5),
    ("a", int | str, "a"),
    (symbol("a"), Any, julia.Symbol("a")),
]


@each("stored, annotation, expected", LEAVES, ids=str)
def test_leaves(stored: Any, annotation: Any, expected: Any) -> None:
    found = loads(stored, annotation)
    assert found == expected and type(found) is type(expected)
    assert loads([stored, stored], list[annotation]) == [expected, expected]


def test_what_is_missing_is_no_int() -> None:
    assert refusal(MISSING, int) == "Expected `int`, got `Missing` - at `$[...]`"
    assert refusal(None, int) == "Expected `int`, got `None` - at `$[...]`"


OTHERS = [
    (datetime.date(2024, 2, 29), datetime.date),
    (datetime.datetime(2024, 2, 29, 13, 14, 15, 678000), datetime.datetime),
    (datetime.time(1, 2, 3), datetime.time),
    (uuid.UUID(int=5), uuid.UUID),
    (Fraction(3, 4), Fraction),
    (1.5 - 2.5j, complex),
    (range(1, 6), range),
    (julia.Ref(5), julia.Ref),
    (julia.Pair("a", 1), julia.Pair),
]


@pytest.mark.parametrize("value, annotation", OTHERS, ids=str)
def test_values_of_pythons_own_types(value: Any, annotation: Any) -> None:
    found = julia.loads(julia.dumps({"value": value}), type=dict[str, annotation])["value"]
    assert found == value and type(found) is type(value)
    with pytest.raises(holdall.ValidationError):
        julia.loads(julia.dumps({"value": value}), type=dict[str, int])


# --- containers ---

NUMBERS = array(INT64, (3,), np.array([1, 2, 3]).tobytes())
HALVES = array(FLOAT64, (2,), np.array([1.5, 2.5]).tobytes())
SQUARE = array(INT64, (2, 2), np.array([1, 2, 3, 4]).tobytes())
LIST = [long(1), long(2), long(3)]
SET = struct(datatype("Main", "Base", "Set", params=[INT64]), dict_of(NUMBERS, [None, None, None]))
TABLE = dict_of(["a", "b"], [long(1), long(2)], datatype("Main", "Base", "Dict", params=[STRING, INT64]))

CONTAINERS = [
    (LIST, list[int], [1, 2, 3]),
    (LIST, tuple[int, ...], (1, 2, 3)),
    (LIST, tuple[int, int, int], (1, 2, 3)),
    (LIST, set[int], {1, 2, 3}),
    (LIST, frozenset[int], frozenset({1, 2, 3})),
    (LIST, list[float], [1.0, 2.0, 3.0]),
    (NUMBERS, list[int], [1, 2, 3]),
    (NUMBERS, list, [1, 2, 3]),
    (NUMBERS, tuple[int, ...], (1, 2, 3)),
    (NUMBERS, tuple[int, int, int], (1, 2, 3)),
    (NUMBERS, set[int], {1, 2, 3}),
    (NUMBERS, frozenset[int], frozenset({1, 2, 3})),
    (NUMBERS, list[float], [1.0, 2.0, 3.0]),
    (HALVES, list[float], [1.5, 2.5]),
    (SQUARE, list[list[int]], [[1, 3], [2, 4]]),
    (tuple_of(long(1), "a"), tuple[int, str], (1, "a")),
    (tuple_of(long(1), long(2)), list[int], [1, 2]),
    (tuple_of(long(1), long(2)), tuple[int, ...], (1, 2)),
    (SET, set[int], {1, 2, 3}),
    (SET, frozenset[int], frozenset({1, 2, 3})),
    (TABLE, dict[str, int], {"a": 1, "b": 2}),
    (TABLE, dict[str, float], {"a": 1.0, "b": 2.0}),
    (dict_of(NUMBERS, ["a", "b", "c"]), dict[int, str], {1: "a", 2: "b", 3: "c"}),
    (dict_of(NUMBERS, NUMBERS), dict[float, int], {1.0: 1, 2.0: 2, 3.0: 3}),
    (
        dict_of([tuple_of(long(1), long(2))], [LIST]),
        dict[tuple[int, int], tuple[int, ...]],
        {(1, 2): (1, 2, 3)},
    ),
    (dict_of(["a"], [struct(POINT, 1.0, 2.0)]), dict[str, Point], {"a": Point(1.0, 2.0)}),
    ({"a": LIST}, dict[str, list[int]], {"a": [1, 2, 3]}),
    ([], list[int], []),
    (array(INT64, (0,), b""), list[int], []),
    (dict_of([], []), dict[int, str], {}),
]


@each("stored, annotation, expected", CONTAINERS, ids=lambda part: str(part)[:60])
def test_containers(stored: Any, annotation: Any, expected: Any) -> None:
    found = loads(stored, annotation)
    assert found == expected and type(found) is type(expected)
    items = found.values() if isinstance(found, dict) else found
    wanted = expected.values() if isinstance(expected, dict) else expected
    assert list(map(type, items)) == list(map(type, wanted))


REFUSED = [
    (LIST, list[str], "Expected `str`, got `int` - at `$[...][0]`"),
    (NUMBERS, list[str], "Expected `str`, got `int` - at `$[...][0]`"),
    (SQUARE, list[int], "Expected `int`, got `list` - at `$[...][0]`"),
    (LIST, tuple[int, int], "Expected `tuple` of length 2, got 3 - at `$[...]`"),
    (LIST, dict[str, int], "Expected `dict`, got `list` - at `$[...]`"),
    (dict_of(["a", "b"], [long(1), "x"]), dict[str, int], "Expected `int`, got `str` - at `$[...][1]`"),
    ({"a": [None, "x"]}, dict[str, list[None]], "Expected `None`, got `str` - at `$[...][...][1]`"),
    (struct(FOO, 1.0), int, "Expected `int`, got `JuliaStruct` - at `$[...]`"),
    (tuple_of(1.0), str, "Expected `str`, got `tuple` - at `$[...]`"),
    (symbol("a"), int, "Expected `int`, got `Symbol` - at `$[...]`"),
]


@pytest.mark.parametrize("stored, annotation, text", REFUSED, ids=lambda part: str(part)[:60])
def test_what_does_not_fit(stored: Any, annotation: Any, text: str) -> None:
    assert refusal(stored, annotation) == text


class Pair(NamedTuple):
    a: int
    b: str


def test_named_tuples() -> None:
    items = datatype("Core", "Tuple", params=[INT64, STRING])
    of = datatype("Core", "NamedTuple", params=[tuple_of(symbol("a"), symbol("b")), items])
    assert loads(struct(of, long(1), "x"), Pair) == Pair(1, "x")
    assert loads(tuple_of(long(1), "x"), Pair) == Pair(1, "x")
    assert loads(struct(FOO, long(1), "x"), Pair) == Pair(1, "x")
    assert loads(struct(of, long(1), "x"), julia.NamedTuple).b == "x"
    assert loads(struct(of, long(1), "x"), tuple[int, str]) == (1, "x")
    data = julia.dumps({"value": Pair(1, "x")})
    assert julia.loads(data, type=dict[str, Pair]) == {"value": Pair(1, "x")}


@dataclass
class Layer:
    weight: npt.NDArray[np.float64]
    bias: np.ndarray | None


def test_arrays() -> None:
    for annotation in (np.ndarray, npt.NDArray[np.int64], npt.NDArray[Any]):
        found = loads(SQUARE, annotation)
        assert type(found) is np.ndarray and found.dtype == np.int64 and found.tolist() == [[1, 3], [2, 4]]
        assert found.flags.f_contiguous
    assert "ndarray" in refusal(SQUARE, npt.NDArray[np.float32])
    assert "ndarray" in refusal("text", np.ndarray)
    views = julia.load(message(SQUARE), mmap=True, type=dict[str, np.ndarray])["value"]
    assert not views.flags.owndata and not views.flags.writeable
    assert loads(b"\1\2", np.ndarray).tolist() == [1, 2]
    found = loads(struct(FOO, HALVES, None), Layer)
    assert found.weight.tolist() == [1.5, 2.5] and found.bias is None
    boxed = array(ANY, (2, 2), ["a", "b", "c", "d"])
    assert loads(boxed, np.ndarray).tolist() == loads(boxed, list[list[str]]) == [["a", "c"], ["b", "d"]]


def test_arrays_of_lists_that_are_shared() -> None:
    """NumPy follows them to the end of memory, and may crash where one list stands at two depths."""
    row = [1, 2]
    found = julia.loads(julia.dumps({"a": [row, row, [3, 4]]}), type=dict[str, np.ndarray])
    assert found["a"].tolist() == [[1, 2], [1, 2], [3, 4]]
    one = ["x"]
    doubled: list[Any] = [1, 2]
    for _ in range(40):
        doubled = [doubled, doubled]
    for value in ([one, one, (one,), one], doubled):
        with pytest.raises(holdall.ValidationError, match="Expected `ndarray`, got `list` of other values"):
            julia.loads(julia.dumps({"a": value}), type=dict[str, np.ndarray])


def test_numbers_of_numpy() -> None:
    found = loads(bits(datatype("Core", "UInt16"), b"\1\0"), np.uint16)
    assert type(found) is np.uint16 and found == 1


# --- sharing ---


@dataclass(slots=True, eq=False)
class Loose:
    name: str
    next: Any


@dataclass(slots=True, eq=False)
class Linked:
    name: str
    next: Linked | None


def test_sharing_and_cycles_by_type() -> None:
    ring = julia.JuliaStruct("Main.Ring", ["a", None])
    ring[1] = julia.JuliaStruct("Main.Ring", ["b", ring])
    data = julia.dumps({"x": ring, "y": ring})
    found = julia.loads(data, type=dict[str, Linked])
    assert found["x"] is found["y"] and found["x"].next.next is found["x"]
    assert type(found["x"].next) is Linked and found["x"].next.name == "b"
    # Of Any, what it points to is a record.
    found = julia.loads(data, type=dict[str, Loose])
    assert found["x"] is found["y"] and found["x"].name == "a" and type(found["x"].next) is julia.JuliaStruct


# --- types= ---


def module_of(**classes: Any) -> types.ModuleType:
    module = types.ModuleType("shapes")
    for name, cls in classes.items():
        cls.__module__ = "shapes"
        setattr(module, name, cls)
    return module


class TestTypes:
    stored = message(
        [struct(POINT, 1.0, 2.0), struct(datatype("Main", "Typed", "Circle", params=[FLOAT64]), 3.0)]
    )

    def load(self, permitted: Any) -> list[Any]:
        found: list[Any] = julia.loads(self.stored, types=permitted)["value"]
        return found

    def test_none(self) -> None:
        found = self.load(None)
        assert [type(value) for value in found] == [julia.JuliaStruct] * 2
        assert repr(found[1]) == "Main.Typed.Circle{Float64}(3.0)"
        assert [type(value) for value in self.load(())] == [julia.JuliaStruct] * 2

    def test_a_class(self) -> None:
        assert self.load(Point)[0] == Point(1.0, 2.0) and type(self.load(Point)[1]) is julia.JuliaStruct

    def test_several(self) -> None:
        @dataclass
        class Circle:
            r: float

        for permitted in ([Point, Circle], (Circle, Point), {Point, Circle}, iter([Point, Circle])):
            found = self.load(permitted)
            assert found[0] == Point(1.0, 2.0) and found[1].r == 3.0
        assert found[1].__julia_type__ == julia.Type.parse("Main.Typed.Circle{Float64}")

    def test_modules(self) -> None:
        class Circle:
            r: float

        class Point:
            x: float
            y: float

        module = module_of(Circle=Circle, Point=Point)
        module.Fraction = Fraction  # another module's
        for permitted in (module, [module]):
            assert [type(value) for value in self.load(permitted)] == [Point, Circle]

    def test_a_mapping(self) -> None:
        class Anything:
            a: Any
            b: Any

        found = self.load({"Main.Typed.Point": Anything})
        assert type(found[0]) is Anything and found[0].b == 2.0 and type(found[1]) is julia.JuliaStruct
        only = dataclass(type("Only", (), {"__annotations__": {"r": float}}))
        assert type(self.load({"Main.Typed.Circle{Float64}": only})[1]) is only
        assert type(self.load({"Main.Typed.Circle{Int64}": only})[1]) is julia.JuliaStruct
        assert type(self.load({"Main.Typed.Circle": only})[1]) is only

    def test_nonsense(self) -> None:
        for wrong, error in [
            (5, TypeError),
            ("Point", TypeError),
            ([5], TypeError),
            ({"not a type": Point}, ValueError),
            ({"Union{Int64,String}": Point}, ValueError),
            ({"Main.Foo": 5}, TypeError),
        ]:
            with pytest.raises(error):
                self.load(wrong)

    def test_julias_own_types_are_not_taken_by_name(self) -> None:
        class Pair:
            a: Any
            b: Any

        assert type(julia.loads(julia.dumps({"p": julia.Pair(1, 2)}), types=Pair)["p"]) is julia.Pair

    def test_nothing_stays_permitted(self) -> None:
        assert self.load(Point)[0] == Point(1.0, 2.0)
        assert type(self.load(None)[0]) is julia.JuliaStruct


def test_registered_later_and_anew() -> None:
    stored = message(struct(datatype("Main", "Typed", "Late"), 1.0))
    assert type(julia.loads(stored)["value"]) is julia.JuliaStruct
    for _ in range(2):
        late = dataclass(type("Late", (), {"__annotations__": {"a": float}}))
        julia.struct("Main.Typed.Late", late)
        assert type(julia.loads(stored)["value"]) is late
        assert julia.dumps({"value": late(1.0)}) == stored


def test_enums_and_hooks() -> None:
    julia.struct("Main.Typed.Fruit", Fruit)
    of = datatype("Main", "Typed", "Fruit")
    assert julia.loads(message(bits(of, b"\7\0\0\0")))["value"] is Fruit.KIWI
    assert loads(bits(of, b"\1\0\0\0"), Fruit) is Fruit.APPLE
    unknown = julia.loads(message(bits(of, b"\2\0\0\0")))["value"]
    assert type(unknown) is julia.Bits and int(unknown) == 2
    assert julia.dumps({"value": Fruit.KIWI}) == message(bits(of, b"\7\0\0\0"))
    assert julia.dumps({"value": unknown}) == message(bits(of, b"\2\0\0\0"))

    class Money:
        def __init__(self, cents: int) -> None:
            self.cents = cents

    julia.struct(
        "Main.Typed.Money",
        Money,
        decode=lambda type, values: Money(values[0] * 100 + values[1]),
        encode=lambda money: divmod(money.cents, 100),
    )
    stored = message(struct(datatype("Main", "Typed", "Money"), long(3), long(50)))
    assert julia.loads(stored)["value"].cents == 350 and julia.dumps({"value": Money(350)}) == stored


def test_errors_of_hooks() -> None:
    class Odd:
        pass

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("a secret of the hook's")

    julia.struct("Main.Typed.Odd", Odd, decode=fail, encode=fail)
    with pytest.raises(ZeroDivisionError):
        julia.dumps({"value": Odd()})
    with pytest.raises(holdall.DecodeError, match=r"can't be made .* \(ZeroDivisionError\)") as caught:
        julia.loads(message(struct(datatype("Main", "Typed", "Odd"), 1.0)))
    assert "secret" not in str(caught.value)


def test_dec_hook() -> None:
    class Celsius:
        def __init__(self, degrees: float) -> None:
            self.degrees = degrees

    def hook(wanted: type, value: Any) -> Any:
        assert wanted is Celsius
        return Celsius(value)

    with pytest.raises((holdall.ValidationError, holdall.DecodeError)):
        loads("x", Celsius)
    assert loads(36.5, Celsius, dec_hook=hook).degrees == 36.5
    assert [value.degrees for value in loads(HALVES, list[Celsius], dec_hook=hook)] == [1.5, 2.5]


def test_strict() -> None:
    assert refusal("5", int) == "Expected `int`, got `str` - at `$[...]`"
    assert loads("5", int, strict=False) == 5
    assert loads(["5", long(6)], list[float], strict=False) == [5.0, 6.0]
