"""Typed loading: how instances are built, of every family of classes and in every format."""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections import ChainMap, deque
from dataclasses import InitVar, dataclass, field
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    runtime_checkable,
)

import annotated_types
import attrs
import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import Self, TypedDict

import holdall
from holdall import register
from tests.support import typed_models as models
from tests.support.each import each
from tests.support.formats import Format
from tests.support.typed_models import Box, Point, Row, User

T = TypeVar("T")
_numbers = itertools.count()


def name() -> str:
    """A stored name that no other test uses: registered classes stay."""
    return f"typed.Class{next(_numbers)}"


def make(fmt: Format, fields: Any, annotation: Any, **options: Any) -> Any:
    """What `annotation` makes of a plain value: what another program stored."""
    return fmt.loads(fmt.dumps(fields), type=annotation, **options)


def again(fmt: Format, obj: Any, annotation: Any = None, **options: Any) -> Any:
    return fmt.loads(fmt.dumps(obj), type=type(obj) if annotation is None else annotation, **options)


# --- what is missing -------------------------------------------------------------------------------------------------
@dataclass
class Defaults:
    a: int
    b: str = "b"
    c: list[int] = field(default_factory=list)
    d: float = field(default=1.5, kw_only=True)
    e: int = field(init=False, default=5)
    f: int = field(init=False)
    g: ClassVar[int] = 7
    h: Final[int] = 8  # type: ignore[misc]


def test_defaults_and_factories(fmt: Format) -> None:
    one, two = make(fmt, [{"a": 1}, {"a": 2}], list[Defaults])
    assert (one.a, one.b, one.c, one.d, one.e, one.h) == (1, "b", [], 1.5, 5, 8)
    assert one.c is not two.c
    assert not hasattr(one, "f") and "g" not in vars(one)


def test_given_values_win_over_defaults(fmt: Format) -> None:
    made = make(fmt, {"h": 0, "f": 6, "e": 0, "d": 0, "c": [1], "b": "", "a": 1, "g": 5}, Defaults)
    assert vars(made) == {"a": 1, "b": "", "c": [1], "d": 0.0, "e": 0, "f": 6, "h": 0}
    assert Defaults.g == 7


def test_a_default_is_not_checked(fmt: Format) -> None:
    @dataclass
    class Odd:
        a: int = "odd"  # type: ignore[assignment]

    assert make(fmt, {}, Odd).a == "odd"


def test_a_factory_that_raises_is_heard(fmt: Format) -> None:
    def factory() -> int:
        raise LookupError("from the factory")

    @dataclass
    class Odd:
        a: int = field(default_factory=factory)

    with pytest.raises(LookupError, match="from the factory"):
        make(fmt, [{}], list[Odd])


# --- what runs afterwards --------------------------------------------------------------------------------------------
@dataclass
class Summed:
    a: int
    b: int
    scale: InitVar[int] = 3
    total: int = field(init=False)

    def __post_init__(self, scale: int) -> None:
        if self.a < 0:
            raise ValueError("a must not be negative")
        self.total = (self.a + self.b) * scale


def test_post_init_runs_with_the_defaults_of_init_vars(fmt: Format) -> None:
    assert make(fmt, {"a": 1, "b": 2}, Summed).total == 9
    assert [one.total for one in again(fmt, [Summed(1, 2), Summed(3, 4)], list[Summed])] == [9, 21]


def test_what_post_init_refuses(fmt: Format) -> None:
    with pytest.raises(holdall.ValidationError) as caught:
        make(fmt, [{"a": 1, "b": 2}, {"a": -1, "b": 2}], list[Summed])
    assert str(caught.value) == "a must not be negative - at `$[1]`"
    assert caught.value.path == (1,)


@pytest.mark.parametrize("slots", [True, False])
def test_post_init_of_a_nested_class_runs_first(fmt: Format, slots: bool) -> None:
    order: list[str] = []

    @dataclass(slots=slots)
    class Inner:
        name: str

        def __post_init__(self) -> None:
            order.append(self.name)

    @dataclass(slots=slots)
    class Outer:
        first: Any
        inner: list[Inner]

        def __post_init__(self) -> None:
            assert len(self.inner) == 2
            order.append("outer")

    Outer.__annotations__["inner"] = list[Inner]
    made = make(fmt, {"first": [1], "inner": [{"name": "x"}, {"name": "y"}]}, Outer)
    assert order == ["x", "y", "outer"] and isinstance(made.inner[0], Inner)


def test_an_init_var_without_a_default_is_refused(fmt: Format) -> None:
    @dataclass
    class Needs:
        a: int
        b: InitVar[int]

        def __post_init__(self, b: int) -> None:
            self.a += b

    with pytest.raises(holdall.ValidationError, match="`InitVar` without a default"):
        make(fmt, {"a": 1}, Needs)


def test_init_does_not_run(fmt: Format) -> None:
    made = make(fmt, {"name": "Ann"}, models.PlainUser)
    assert type(made) is models.PlainUser and vars(made) == {"name": "Ann"} and made.age == 0


@attrs.define
class Converted:
    name: str = attrs.field(converter=str.upper)
    size: int = attrs.field(default=3, validator=attrs.validators.gt(0))
    twice: int = attrs.field(
        init=False, default=attrs.Factory(lambda self: len(self.name) * 2, takes_self=True)
    )
    ready: bool = False

    def __attrs_post_init__(self) -> None:
        self.ready = True


def test_attrs_converters_validators_and_factories_of_self(fmt: Format) -> None:
    made = make(fmt, {"name": "ann"}, Converted)
    assert (made.name, made.size, made.ready) == ("ANN", 3, True)
    assert made.twice == 6
    with pytest.raises(holdall.ValidationError, match="size"):
        make(fmt, {"name": "ann", "size": 0}, Converted)


@pytest.mark.parametrize(
    "options",
    [{"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"kw_only": True}, {}],
    ids=str,
)
def test_every_kind_of_dataclass(fmt: Format, options: dict[str, bool]) -> None:
    @dataclass(**options)  # type: ignore[call-overload]
    class Kind:
        a: int
        b: list[str] = field(default_factory=list)

    assert make(fmt, {"a": 1}, Kind) == Kind(a=1)
    assert make(fmt, {"b": ["x"], "a": 1}, Kind) == Kind(a=1, b=["x"])
    assert again(fmt, [Kind(a=1, b=["x"])] * 3, list[Kind]) == [Kind(a=1, b=["x"])] * 3


# --- inheritance, generics, names ------------------------------------------------------------------------------------
@dataclass(slots=True)
class Base:
    a: int
    b: int = 2


@dataclass(slots=True)
class Child(Base):
    b: str = "two"  # type: ignore[assignment]
    c: int = 3


def test_fields_of_bases(fmt: Format) -> None:
    assert make(fmt, {"a": 1, "c": 5}, Child) == Child(1, "two", 5)
    assert again(fmt, Child(1, "x", 3)) == Child(1, "x", 3)
    with pytest.raises(holdall.ValidationError, match=r"Expected `str`, got `int` - at `\$.b`"):
        make(fmt, {"a": 1, "b": 2}, Child)


@dataclass
class Pairs(Generic[T]):
    left: Box[T]
    rest: list[T] = field(default_factory=list)


class IntPairs(Pairs[int]):
    pass


def test_generics(fmt: Format) -> None:
    value = {"left": {"item": 1}, "rest": [2]}
    assert make(fmt, value, Pairs[int]) == Pairs(Box(1), [2])
    assert make(fmt, value, IntPairs) == IntPairs(Box(1), [2])
    assert make(fmt, value, Pairs[float]).rest == [2.0]
    with pytest.raises(holdall.ValidationError, match=r"Expected `str`, got `int` - at `\$.left.item`"):
        make(fmt, value, Pairs[str])
    # One message, two specialisations of a class.
    both = make(fmt, [{"item": 1}, {"item": "x"}], tuple[Box[int], Box[str]])
    assert both == (Box(1), Box("x"))
    with pytest.raises(holdall.ValidationError, match=r"at `\$\[1\].item`"):
        again(fmt, (Box(1), Box(2)), tuple[Box[int], Box[str]])


@dataclass
class Link:
    value: int
    next: Link | None = None
    same: list[Self] = field(default_factory=list)


class Json(TypedDict, total=False):
    name: str
    parts: dict[str, Json]


def test_recursive_types(fmt: Format) -> None:
    value = {"value": 1, "next": {"value": 2}, "same": [{"value": 3, "same": [{"value": 4}]}]}
    assert make(fmt, value, Link) == Link(1, Link(2), [Link(3, None, [Link(4)])])
    json = {"name": "a", "parts": {"b": {"parts": {"c": {"name": "d"}}}}}
    assert make(fmt, json, Json) == json
    with pytest.raises(
        holdall.ValidationError, match=r"Expected `str`, got `int` - at `\$.parts\[...\].name`"
    ):
        make(fmt, {"parts": {"b": {"name": 1}}}, Json)


def test_a_name_that_is_not_there_yet(fmt: Format) -> None:
    @dataclass
    class Early:
        late: Late  # type: ignore[name-defined]  # noqa: F821

    data = fmt.dumps({"late": {"a": 1}})
    with pytest.raises(TypeError, match="the name `Late` can't be resolved"):
        fmt.loads(data, type=Early)
    globals()["Late"] = Base
    try:
        assert fmt.loads(data, type=Early).late == Base(1)
    finally:
        del globals()["Late"]


# --- unions and subclasses -------------------------------------------------------------------------------------------
Animal = models.Cat | models.Dog


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_tag_may_stand_anywhere(fmt: Format, place: int) -> None:
    items = [("name", "Rex"), ("unknown", [1, {"x": 2}])]
    items.insert(place, ("kind", "dog"))
    assert make(fmt, dict(items), Animal) == models.Dog("Rex")
    assert make(fmt, [dict(items)] * 2, list[Animal]) == [models.Dog("Rex")] * 2


def test_a_tag_that_is_one_string_for_all(fmt: Format) -> None:
    kind = "".join(["d", "og"])
    animals = [{"kind": kind, "name": kind} for _ in range(3)]
    assert make(fmt, animals, list[Animal]) == [models.Dog("dog")] * 3


def test_classes_of_a_union_by_their_stored_names() -> None:
    """In hold no tag is needed, nor fields that differ."""

    @dataclass
    class Left:
        x: int

    @dataclass
    class Right:
        x: int

    found = holdall.loads(holdall.dumps([Right(1), Left(2), Right(3)]), type=list[Left | Right])
    assert found == [Right(1), Left(2), Right(3)]


def test_distinct_fields_tell_classes_apart(fmt: Format) -> None:
    union = list[models.ByRadius | models.BySides | None]
    shapes = [models.BySides(1.0, 2.0, "a"), None, models.ByRadius(3.0)]
    assert again(fmt, shapes, union) == shapes
    values = [{"label": "a", "height": 2, "width": 1}, None, {"radius": 3}]
    assert make(fmt, values, union) == shapes


def test_a_class_or_a_dict(fmt: Format) -> None:
    union = Point | dict[str, int]
    if fmt.plain:
        with pytest.raises(TypeError, match="nothing tells a class from a mapping but a tag"):
            again(fmt, Point(1, 2), union)
        return
    assert again(fmt, Point(1, 2), union) == Point(1, 2)
    assert again(fmt, {"z": 2}, union) == {"z": 2}
    # Whatever it might be besides, it was stored as a dict.
    assert again(fmt, {"x": 1, "y": 2}, union) == {"x": 1, "y": 2}


class Vehicle(abc.ABC):
    @abc.abstractmethod
    def wheels(self) -> int: ...


@dataclass
class Car(Vehicle):
    doors: int

    def wheels(self) -> int:
        return 4


@dataclass
class Bike(Vehicle):
    gears: int

    def wheels(self) -> int:
        return 2


@dataclass
class Garage:
    main: Vehicle
    others: list[Vehicle]


def test_subclasses_that_are_named_by_register(fmt: Format) -> None:
    garage = Garage(Bike(3), [Car(5), Bike(1)])
    data = fmt.dumps(garage)
    with pytest.raises(holdall.ValidationError, match=r"Expected `Vehicle`"):
        fmt.loads(data, type=Garage)
    register(Vehicle, subclasses=[Car, Bike])
    try:
        assert fmt.loads(data, type=Garage) == garage
    finally:
        register(Vehicle)
    with pytest.raises(holdall.ValidationError, match=r"Expected `Vehicle`"):
        fmt.loads(data, type=Garage)


def test_a_registered_subclass_stands_for_its_base() -> None:
    @dataclass
    class Root:
        a: int

    @register(name=name())
    @dataclass
    class Branch(Root):
        b: int

    data = holdall.dumps([Root(1), Branch(1, 2)])
    assert holdall.loads(data, type=list[Root]) == [Root(1), Branch(1, 2)]
    with pytest.raises(holdall.ValidationError):
        holdall.loads(data, type=list[Branch])


@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...


class Named(Protocol):
    name: str


def test_protocols(fmt: Format) -> None:
    with pytest.raises(TypeError, match="not `runtime_checkable`"):
        make(fmt, 1, Named)
    with pytest.raises(holdall.ValidationError, match="Expected `Closable`, got `int`"):
        make(fmt, 1, Closable)

    class Door:
        def close(self) -> None: ...

    assert isinstance(make(fmt, 1, Closable, dec_hook=lambda annotation, obj: Door()), Door)


# --- register --------------------------------------------------------------------------------------------------------
@each(
    ("rename", "key"),
    [
        ("lower", "first_name"),
        ("upper", "FIRST_NAME"),
        ("camel", "firstName"),
        ("pascal", "FirstName"),
        ("kebab", "first-name"),
        ({"first_name": "é"}, "é"),
        (lambda name: name[:2], "fi"),
        (lambda name: None, "first_name"),
    ],
    ids=["lower", "upper", "camel", "pascal", "kebab", "mapping", "callable", "kept"],
)
def test_rename(fmt: Format, rename: Any, key: str) -> None:
    @register(name=name(), rename=rename)
    @dataclass
    class Renamed:
        first_name: str
        age: int = 0

    made = Renamed("Ann", 3)
    assert make(fmt, {key: "Ann", "unknown": [1]}, Renamed) == Renamed("Ann")
    assert again(fmt, made) == made
    if fmt.plain:
        assert key in fmt.loads(fmt.dumps(made))


def test_array_like(fmt: Format) -> None:
    assert make(fmt, [1, "a"], Row) == Row(1, "a")
    assert make(fmt, (1, "a", "n", "more", [{}]), Row) == Row(1, "a", "n")
    assert again(fmt, [Row(1, "a"), Row(2, "b", "n")], list[Row]) == [Row(1, "a"), Row(2, "b", "n")]
    rows = [[1, "a"], [2, "b", "n"], [3, "c", None, 4]] * 3
    assert make(fmt, rows, list[Row]) == [Row(1, "a"), Row(2, "b", "n"), Row(3, "c")] * 3
    assert fmt.loads(fmt.dumps(Row(1, "a"))) == ([1, "a", None] if fmt.plain else Row(1, "a"))


def test_unknown_fields_are_passed_over(fmt: Format) -> None:
    big = {"deep": [{"deeper": [1.5, b"x", ("t", {1})]}] * 3, "x": 9}
    assert make(fmt, {"before": big, "x": 1, "between": [big], "y": 2, "after": big}, Point) == Point(1, 2)


def test_the_later_of_two_equal_keys_is_no_crash() -> None:
    """MessagePack allows a key twice."""
    data = b"\x83\xa1x\x01\xa1y\x02\xa1x\x03"
    from tests.support.formats import FORMATS

    assert FORMATS["msgpack"].loads(data, type=Point) in (Point(1, 2), Point(3, 2))


# --- hooks, strict=False, what `types` permits -----------------------------------------------------------------------
def test_hooks(fmt: Format) -> None:
    value = {"k": [models.Foreign("a"), models.Foreign("b")]}
    data = fmt.dumps(value, enc_hook=models.enc_foreign)
    assert fmt.loads(data, type=dict[str, list[models.Foreign]], dec_hook=models.dec_foreign) == value
    with pytest.raises(holdall.ValidationError, match="Expected `Foreign`, got `str`"):
        fmt.loads(data, type=dict[str, list[models.Foreign]])


def test_the_hook_gets_the_annotation_and_what_was_stored(fmt: Format) -> None:
    class Money(Generic[T]):
        pass

    seen: list[Any] = []

    def hook(annotation: Any, obj: Any) -> Any:
        seen.append((annotation, obj))
        return Money()

    made = make(fmt, [{"a": [1]}], list[Money[int]], dec_hook=hook)
    assert isinstance(made[0], Money) and seen == [(Money[int], {"a": [1]})]


def test_strict_reaches_everything(fmt: Format) -> None:
    value = {"name": "Ann", "age": "30", "tags": []}
    with pytest.raises(holdall.ValidationError):
        make(fmt, value, User)
    assert make(fmt, value, User, strict=False) == User("Ann", 30)
    assert make(fmt, [["1"], {"2": "3"}], tuple[list[float], dict[int, int]], strict=False) == ([1.0], {2: 3})
    bounded = Annotated[int, annotated_types.Ge(5)]
    assert make(fmt, "5", bounded, strict=False) == 5
    with pytest.raises(holdall.ValidationError, match="Expected `int` >= 5"):
        make(fmt, "4", bounded, strict=False)
    for text in ("1.5", "", "0x1", "1_0", " 1", "٣", "nan"):
        with pytest.raises(holdall.ValidationError):
            make(fmt, text, int, strict=False)


def test_types_permits_what_stands_where_anything_goes() -> None:
    data = holdall.dumps(Box([Point(1, 2)]))
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(data, type=Box)
    assert holdall.loads(data, type=Box, types=[Point]) == Box([Point(1, 2)])
    record = holdall.loads(data, type=Box, types=holdall.Record).item[0]
    assert isinstance(record, holdall.Record) and record.fields == {"x": 1, "y": 2}
    assert holdall.loads(data, type=Box[list[Point]]) == Box([Point(1, 2)])


# --- NumPy -----------------------------------------------------------------------------------------------------------
def test_arrays(fmt: Format) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = again(fmt, models.Measured(array)).data
    assert made.dtype == np.float32 and made.shape == (2, 3) and (made == array).all()
    shaped = Annotated[NDArray[np.float32], (2, None)]
    assert again(fmt, array, shaped).shape == (2, 3)
    with pytest.raises(holdall.ValidationError, match=r"of shape \(2, n\), got \[3\]"):
        again(fmt, np.zeros(3, np.float32), shaped)
    with pytest.raises(holdall.ValidationError, match=r"- at `\$\[0\]`"):
        again(fmt, ["x"], list[NDArray[np.float32]])


# --- other families --------------------------------------------------------------------------------------------------
class Coded(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    first_name: str
    parts: list[int] = []
    seen: bool = msgspec.field(default=False, name="was_seen")


def test_msgspec_structs(fmt: Format) -> None:
    made = Coded("Ann", [1])
    assert again(fmt, made) == made
    assert make(fmt, {"firstName": "Ann", "was_seen": True}, Coded) == Coded("Ann", [], True)
    if fmt.name == "msgpack":
        assert msgspec.msgpack.decode(fmt.dumps(made), type=Coded) == made
    with pytest.raises(holdall.ValidationError, match="unknown field `first_name`"):
        make(fmt, {"firstName": "Ann", "first_name": "Ann"}, Coded)


class Spot(NamedTuple):
    x: int
    y: float = 0.5


def test_named_tuples(fmt: Format) -> None:
    assert again(fmt, Spot(1)) == Spot(1) and type(again(fmt, Spot(1))) is Spot
    assert make(fmt, [1], Spot) == Spot(1, 0.5)
    assert make(fmt, [[1, 2], [3]], list[Spot]) == [Spot(1, 2.0), Spot(3)]
    # Packed runs in hold.
    assert make(fmt, [[n, n + 1] for n in range(9)], list[Spot])[8] == Spot(8, 9.0)
    assert make(fmt, [1] * 2, Spot) == Spot(1, 1.0)


def test_fields_of_a_class_that_is_dict_and_slots(fmt: Format) -> None:
    @dataclass
    class Mixed(Base):
        d: dict[str, int] = dataclasses.field(default_factory=dict)

    assert make(fmt, {"a": 1, "d": {"k": 2}}, Mixed) == Mixed(1, 2, {"k": 2})


@pytest.mark.parametrize("annotation", [list, set[int], tuple[int, ...], deque], ids=str)
def test_no_code_of_a_class_is_asked_how_long_it_is(annotation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ChainMap that is no list counts its keys, which may take forever."""
    data = holdall.dumps(ChainMap({}))
    monkeypatch.setattr(ChainMap, "__len__", lambda self: pytest.fail("it was asked"))
    with pytest.raises(holdall.ValidationError, match="got `ChainMap`"):
        holdall.loads(data, type=annotation)
