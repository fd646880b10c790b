"""`struct`, and what it makes `resolve` and `class_of` answer."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest

import holdall
from holdall import julia
from holdall.julia import Bits, Int8, JuliaStruct, Type, UInt8, struct
from holdall.julia import _host as host
from holdall.julia._registry import fields_of
from tests.support.julia_registry import fresh
from tests.support.julia_types import Fruit, Node, Point, Wrapper

T = Type.parse


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


class Slotted:
    __slots__ = ("a", "b")


class Child(Slotted):
    __slots__ = "c"


class KeepsItsType:
    __slots__ = ("__julia_type__", "a")


class Annotated:
    a: int
    shared: ClassVar[int] = 3
    b: str = "x"


class Tuple2(NamedTuple):
    x: float
    y: float


class Bare:
    pass


class Same(Bare):
    pass


@dataclasses.dataclass
class Two:
    a: int
    b: int


V = TypeVar("V")


@dataclasses.dataclass
class Box(Generic[V]):
    value: V


@dataclasses.dataclass(slots=True)
class SlottedBox(Generic[V]):
    value: V


# --- what `struct` takes ---


def test_works_as_a_call_and_as_a_decorator() -> None:
    assert struct("Main.Point", Point) is Point

    @struct("Main.Two")
    class Mine:
        a: int

    assert host.resolve(T("Point"))[:3] == (host.FIELDS, Point, ("x", "y"))
    assert host.resolve(T("Main.Two"))[1] is Mine


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((Point,), {}, "struct: name: expected str, got type: the class comes second"),
        (("Main.P", 3), {}, "struct: expected a class, got int"),
        (("Main.P", Point), {"fields": "xy"}, "struct: fields: expected an iterable of names, got str"),
        (("Main.P", Point), {"fields": [1]}, "struct: fields: expected names, got int"),
        (("Main.P", Point), {"fields": ["x", "x"]}, "struct: fields: expected each name once"),
        (("Main.P", Point), {"decode": 3}, "struct: decode: expected a callable, got int"),
        (("Main.P", Point), {"encode": 3}, "struct: encode: expected a callable, got int"),
        (("Main.P", int), {}, "struct: int: expected a class whose fields are known, or `fields=[...]`"),
    ],
)
def test_nonsense_is_refused(arguments: Any, options: Any, error: str) -> None:
    with pytest.raises(TypeError) as caught:
        struct(*arguments, **options)
    assert str(caught.value) == error


def test_names_that_are_no_types_are_refused() -> None:
    with pytest.raises(ValueError, match="no type of Julia's: expected the end at character 4"):
        struct("Main P", Point)
    with pytest.raises(ValueError, match="struct: name: expected the name of one type, found a union"):
        struct("Union{Int,Missing}", Point)


def test_enumerations_are_of_ints() -> None:
    class Text(enum.Enum):
        a = "x"

    class Large(enum.Enum):
        a = 1 << 40

    class Small(UInt8, enum.Enum):
        a = 200

    with pytest.raises(TypeError, match="Text: expected an enumeration of ints, as Julia's are"):
        struct("Main.E", Text)
    with pytest.raises(TypeError, match="expected members within Int32: base it on another width"):
        struct("Main.E", Large)
    struct("Main.E", Small)
    make = host.resolve(T("Main.E"))
    assert make[0] == host.BITS
    assert make[1](T("Main.E"), b"\xc8") is Small.a
    assert host.lower(Small.a) == ("bits", T("Main.E"), b"\xc8")


@pytest.mark.parametrize(
    "width", ["Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128"]
)
def test_an_enumeration_of_every_width(width: str) -> None:
    """`@enum E::Int64`, and so on: alone, in an array, as a key and as a parameter of a type."""
    pytest.importorskip("numpy")
    base = getattr(julia, width)
    least = int(base._LEAST)
    cls: Any = enum.Enum("E", {"LEAST": least, "MOST": int(base._MOST)}, type=base)
    struct("Main.E", cls)
    data = julia.dumps(
        {"value": [cls.LEAST, cls.MOST, julia.Dict({cls.MOST: 1}, type=T("Dict{Main.E,Int64}"))]}
    )
    assert julia.parse(data)["value"][1]["data"] == int(base._MOST).to_bytes(
        base._SIZE, "little", signed=least < 0
    )
    found = julia.loads(data)["value"]
    assert found[:2] == [cls.LEAST, cls.MOST] and found[2] == {cls.MOST: 1}
    assert julia.dumps({"value": found}) == data
    array = _array_of(cls.LEAST, cls.MOST)
    again = julia.loads(julia.dumps({"value": array}))["value"]
    assert again.tolist() == [cls.LEAST, cls.MOST] and again.dtype.metadata["julia"] == T("Main.E")
    of = Type(("Main", "V"), (cls.MOST,))
    assert julia.loads(julia.dumps({"value": of}))["value"] == of


def _array_of(*values: Any) -> Any:
    import numpy as np

    array = np.empty(len(values), np.dtype("O", metadata={"julia": T("Main.E")}))
    array[:] = values
    return array


def test_an_enumeration_of_another_width_is_refused() -> None:
    """It would be written in the wrong number of bytes."""

    class Plain(enum.Enum):
        ONE = 1

    struct("Main.Plain", Plain)
    for data, width in [(b"\1", "Int8"), (b"\1" + bytes(7), "Int64")]:
        with pytest.raises(holdall.DecodeError) as caught:
            julia.loads(julia.dumps({"value": Bits(T("Main.Plain"), data)}))
        assert (
            f"Plain was stored in {len(data)} bytes, and `test_an_enumeration_of_another_width_is_refused.<locals>.Plain` has 4: base it"
            f" on another width, as in `class Plain({width}, Enum)`" in str(caught.value)
        )


def test_int64_is_what_ints_are() -> None:
    data = julia.dumps({"value": [julia.Int64(5), 5]})
    assert data == julia.dumps({"value": [5, 5]})
    assert type(julia.loads(data)["value"][0]) is int
    assert Type(("Main", "V"), (julia.Int64(5),)) == T("V{5}")
    with pytest.raises(ValueError, match="Int64: expected -9223372036854775808 to 9223372036854775807"):
        julia.Int64(1 << 63)


FIELDS = [
    (Point, ("x", "y")),
    (Slotted, ("a", "b")),
    (Child, ("a", "b", "c")),
    (KeepsItsType, ("a",)),
    (Annotated, ("a", "b")),
    (Tuple2, ("x", "y")),
    (Bare, None),
    (Same, None),
    (Box, ("value",)),
]


@pytest.mark.parametrize(("cls", "names"), FIELDS)
def test_fields_are_the_classes_own(cls: type[Any], names: Any) -> None:
    assert fields_of(cls) == names


def test_fields_of_other_libraries_classes() -> None:
    attrs, msgspec = pytest.importorskip("attrs"), pytest.importorskip("msgspec")
    pydantic = pytest.importorskip("pydantic")

    @attrs.define
    class A:
        _hidden: int
        b: str = "x"

    class M(msgspec.Struct):
        a: int
        b: int = 3

    class P(pydantic.BaseModel):
        a: int
        b: int = 3

    assert fields_of(A) == ("_hidden", "b")
    assert fields_of(M) == fields_of(P) == ("a", "b")
    struct("Main.P", P)
    how, make = host.resolve(T("Main.P"))
    assert how == host.MAKE
    made = make(T("Main.P"), [1, 2])
    assert (made, made.model_fields_set) == (P(a=1, b=2), {"a", "b"})


def test_a_class_is_mapped_anew() -> None:
    struct("Main.P", Point)
    struct("Main.P", Two)
    assert host.resolve(T("Main.P"))[1] is Two
    assert host.class_of(Point) is None
    assert host.class_of(Two) == (T("Main.P"), ("a", "b"), True)
    # Without a class it is the names alone.
    struct("Main.Q", fields=["u", "v"])
    assert JuliaStruct("Main.Q", [1, 2]).v == 2
    assert host.resolve(T("Main.Q")) == (host.RECORD,)


# --- what `resolve` answers ---


def test_parametrisations_come_before_the_bare_type() -> None:
    struct("Main.Wrapper", Wrapper)
    struct("Main.Wrapper{Int64}", Two)
    assert host.resolve(T("Main.Wrapper{Int64}"))[1] is Two
    assert host.resolve(T("Main.Wrapper{String}"))[1] is Wrapper
    assert host.resolve(T("Main.Wrapper"))[1] is Wrapper


def test_the_type_is_kept_where_there_is_room() -> None:
    for cls in (Wrapper, Point, KeepsItsType):
        struct(f"Main.{cls.__name__}", cls)
    keeps = "__julia_type__"
    assert host.resolve(T("Main.Wrapper{Int64}"))[3] == keeps
    # Without parameters it is known.
    assert host.resolve(T("Main.Wrapper"))[3] is None
    assert host.resolve(T("Main.Point{Int64}"))[3] is None
    # A slot of that name asks for it.
    assert host.resolve(T("Main.KeepsItsType"))[3] == keeps
    assert host.resolve(T("Main.KeepsItsType{Int64}"))[3] == keeps


def test_classes_are_found_by_name() -> None:
    assert host.resolve(T("Main.Point"), Point)[1] is Point
    assert host.resolve(T("Other.Deep.Point"), [Point, Node])[1] is Point
    assert host.resolve(T("Main.Other"), [Point, Node]) == (host.RECORD,)
    assert host.resolve(T("Main.Other"), {"Main.Other": Point})[1] is Point
    assert host.resolve(T("Main.Other{Int64}"), {"Main.Other": Point})[1] is Point
    assert host.resolve(T("Main.Point"), {"Main.Other": Point}) == (host.RECORD,)
    assert host.resolve(T("Main.Point"), None) == (host.RECORD,)
    assert host.resolve(T("Main.Fruit"), Fruit)[0] == host.BITS


def test_a_registered_class_stands_for_its_own_type() -> None:
    struct("Geo.Place", Point)
    assert host.resolve(T("Geo.Place"))[1] is Point
    assert host.resolve(T("Main.Point"), Point) == (host.RECORD,)
    # What the load says comes first.
    assert host.resolve(T("Geo.Place"), {"Geo.Place": Two})[1] is Two


def test_modules_give_the_classes_that_they_define(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("example_models")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("class Mine:\n    a: int\nclass Date:\n    b: int\n", vars(module))
    module.Point = Point  # type: ignore[attr-defined]
    assert host.resolve(T("Main.Mine"), module)[1] is module.Mine
    assert host.resolve(T("Main.Mine"), [Node, module])[1] is module.Mine
    assert host.resolve(T("Main.Point"), module) == (host.RECORD,)
    # Julia's own types are what they are.
    assert host.resolve(T("Dates.Date"), module)[0] == host.MAKE
    assert host.resolve(T("Main.Date"), module)[1] is module.Date


def test_what_was_permitted_is_looked_up_once() -> None:
    given = host.permitted(cls for cls in (Point, Node))
    assert host.permitted(given) is given
    for _ in range(2):
        assert host.resolve(T("Main.Point"), given)[1] is Point
        assert host.resolve(T("Main.Node"), given)[1] is Node
    with pytest.raises(TypeError) as caught:
        host.permitted([Point, 3])
    assert str(caught.value) == (
        "types: expected classes, modules, an iterable of them, or a mapping of names to classes"
    )
    with pytest.raises(ValueError, match="types: expected the names of types, found a union"):
        host.permitted({"Union{A,B}": Point})
    with pytest.raises(TypeError, match="struct: expected a class, got int"):
        host.permitted({"Main.A": 3})


def test_a_program_may_map_julias_own_types() -> None:
    struct("Base.VersionNumber", decode=lambda type, values: tuple(values[:3]), encode=list)(Bare)
    how, make = host.resolve(T("VersionNumber"))
    assert (how, make(T("VersionNumber"), [1, 2, 3, (), ()])) == (host.MAKE, (1, 2, 3))


def test_hooks_take_and_give_values() -> None:
    class Angle:
        def __init__(self, degrees: float) -> None:
            self.degrees = degrees

    struct(
        "Geo.Angle",
        Angle,
        decode=lambda type, values: Angle(values[0] + values[1] / 60),
        encode=lambda angle: [int(angle.degrees), round(angle.degrees % 1 * 60)],
    )
    how, make = host.resolve(T("Geo.Angle"))
    assert (how, make(T("Geo.Angle"), [3, 30]).degrees) == (host.MAKE, 3.5)
    assert host.class_of(Angle) is None
    assert host.lower(Angle(3.5)) == ("struct", T("Geo.Angle"), [3, 30])


def test_tuples_with_names_are_made_whole() -> None:
    struct("Main.Tuple2", Tuple2)
    how, make = host.resolve(T("Main.Tuple2"))
    assert how == host.MAKE
    made = make(T("Main.Tuple2"), [1.0, 2.0])
    assert type(made) is Tuple2
    assert made == (1.0, 2.0)
    with pytest.raises(holdall.DecodeError) as caught:
        make(T("Main.Tuple2"), [1.0])
    assert str(caught.value).startswith("Tuple2: expected 2 values, as `Tuple2` has fields, found 1")
    assert host.lower(made) == ("struct", T("Main.Tuple2"), [1.0, 2.0])


def test_members_that_are_none_stay_bits() -> None:
    make = host.resolve(T("Main.Fruit"), {"Main.Fruit": Fruit})[1]
    assert make(T("Main.Fruit"), b"\2\0\0\0") is Fruit.banana
    assert make(T("Main.Fruit"), b"\3\0\0\0") == Bits(T("Main.Fruit"), b"\3\0\0\0")


NUMBERS = {
    "Int64": (None, "i"),
    "Float64": (None, "f"),
    "Int8": (Int8, "i"),
    "UInt128": (julia.UInt128, "u"),
    "Float32": (julia.Float32, "f"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    assert host.resolve(T(name)) == (host.NUMBER, *NUMBERS[name])


def test_what_is_no_datatype_is_a_record() -> None:
    for type_ in (julia.Anonymous(None), T("Union{Int,Missing}"), julia.BOTTOM):
        assert host.resolve(type_) == (host.RECORD,)
    for value in (None, 3, "Int64"):
        with pytest.raises(TypeError, match="^expected a type, found "):
            host.resolve(value)


# --- what `class_of` answers ---


def test_classes_are_written_by_their_fields() -> None:
    assert host.class_of(Point) is None
    struct("Main.Point", Point)
    struct("Main.Wrapper", Wrapper)
    struct("Main.KeepsItsType", KeepsItsType)
    assert host.class_of(Point) == (T("Main.Point"), ("x", "y"), False)
    assert host.class_of(Wrapper) == (T("Main.Wrapper"), ("x", "n"), True)
    assert host.class_of(KeepsItsType) == (T("Main.KeepsItsType"), ("a",), True)
    assert host.class_of(julia.Ref) == (None, ("x",), True)
    for cls in (int, dict, Fruit, JuliaStruct, julia.Dict):
        assert host.class_of(cls) is None


def test_a_class_of_several_types_needs_a_place_for_its_own() -> None:
    struct("Main.A", Two)
    struct("Main.B", Two)
    assert host.class_of(Two) == (None, ("a", "b"), True)
    with pytest.raises(holdall.EncodeError) as caught:
        host.lower(Two(1, 2))
    assert str(caught.value) == (
        "`Two` stands for several of Julia's types: say which one in `__julia_type__` of the object, for which the class needs a"
        " slot or a `__dict__`"
    )
    two = Two(1, 2)
    two.__julia_type__ = T("Main.B")  # type: ignore[attr-defined]
    assert host.lower(two) == ("struct", T("Main.B"), [1, 2])
    struct("Main.A", Point)
    struct("Main.C", Point)
    with pytest.raises(holdall.EncodeError, match="`Point` stands for several of Julia's types"):
        host.class_of(Point)


def test_a_generic_class_needs_its_parameters() -> None:
    struct("Main.Box", Box)
    struct("Main.SlottedBox", SlottedBox)
    assert host.class_of(Box) == (None, ("value",), True)
    remedy = (
        "map one of them, as in `struct('SlottedBox{Int64}', ...)`, or set `__julia_type__` of the object"
    )
    with pytest.raises(holdall.EncodeError) as caught:
        host.class_of(SlottedBox)
    assert str(caught.value) == f"`SlottedBox` stands for SlottedBox with any parameters: {remedy}"
    with fresh():
        struct("Main.SlottedBox", Bare, fields=[])
        struct("Main.SlottedBox{Int64}", SlottedBox)
        assert host.class_of(SlottedBox) == (T("Main.SlottedBox{Int64}"), ("value",), False)


def test_a_field_that_is_not_set_is_refused() -> None:
    struct("Main.Slotted", Slotted, encode=None)
    with pytest.raises(holdall.EncodeError, match="can't store `Slotted`: one of its fields is not set"):
        host.lower(Slotted())


def test_values_are_known_by_their_class() -> None:
    assert {int, julia.Symbol, julia.Missing, Type} <= set(host.VALUES)
    assert not {list, dict, JuliaStruct, julia.TypeVar, Fruit} & set(host.VALUES)
    struct("Main.Fruit", Fruit)
    assert Fruit in set(host.VALUES)
