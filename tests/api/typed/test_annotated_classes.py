"""What `describe` says of classes: every family, their generics, their subclasses, what is registered for them."""

# Old spellings are cases of their own.
# ruff: noqa: UP007, UP045
from __future__ import annotations

import abc
import collections
import dataclasses
import os
import pathlib
import subprocess
import sys
import types
import typing
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Optional, Protocol, TypeVar, Union

import pytest
import typing_extensions
from typing_extensions import NotRequired, ReadOnly, Required, Self

import holdall
from tests.support import models_postponed as postponed
from tests.support.describing import Described, Settings, name_of, refusal

T = TypeVar("T")
U = TypeVar("U")


# Without `site`, whose start-up files import what they like, the package must be named.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(holdall.__file__).parents[1])}


# --- dataclasses -----------------------------------------------------------------------------------------------------
@dataclass
class Base:
    a: int
    b: str = "b"


@dataclass(slots=True)
class Slots(Base):
    c: list[int] = field(default_factory=list)
    d: int = field(init=False)
    e: int = field(init=False, default=5)
    f: dataclasses.InitVar[int] = 3
    g: dataclasses.InitVar[str] = field(kw_only=True)
    h: ClassVar[int] = 1

    def __post_init__(self, f: int, g: str) -> None:
        self.d = f


def test_a_dataclass():
    found = Described(Slots)
    assert found.name == "Slots" and found.node() == {"classes": [0]}
    entry = dict(found.class_())
    assert [
        {key: value for key, value in field.items() if key != "node"} for field in entry.pop("fields")
    ] == [
        {"name": "a", "key": "a", "required": True},
        {"name": "b", "key": "b", "required": False, "default": "b"},
        {"name": "c", "key": "c", "required": False, "factory": list},
        {"name": "d", "key": "d", "required": False, "absent_ok": True},
        {"name": "e", "key": "e", "required": False, "default": 5},
    ]
    assert entry == {
        "cls": Slots,
        "name": "Slots",
        "kind": "fields",
        "post_init": "__post_init__",
        "pre_init": None,
        "init_vars": [("f", 3), ("g",)],
        "converters": {},
        "validate": None,
        "array_like": False,
        "forbid_unknown": False,
        "tag": None,
    }
    assert found.fields() == {"a": "int", "b": "str", "c": "list", "d": "int", "e": "int"}
    assert Described(Base).class_()["post_init"] is None


def test_a_class_is_described_once():
    found = Described(tuple[Base, list[Base], Optional[Base]])
    assert len(found.classes) == 1


def test_a_made_dataclass():
    found = Described(dataclasses.make_dataclass("Made", [("a", int), ("b", "list[int]", None), "c"][:2]))
    assert found.fields() == {"a": "int", "b": "list"}


def test_a_long_chain_of_classes():
    last: Any = int
    for number in range(3000):
        last = dataclasses.make_dataclass(f"Link{number}", [("next", last)])
    assert len(Described(last).classes) == 3000


# --- postponed annotations -------------------------------------------------------------------------------------------
def test_recursive_classes():
    found = Described(postponed.Tree)
    assert found.fields("Tree") == {
        "value": "int",
        "left": "Tree | None",
        "right": "Tree | None",
        "later": "list",
    }
    assert found.field_node("left", "Tree") == {"scalars": [("none",)], "classes": [0]}
    assert found.fields("Later") == {"data": "dict | list | str | float | None", "trees": "dict"}
    data = found.field_node("data", "Later")
    assert found.nodes[data["map"]["value"]]["name"] == found.nodes[data["seq"]["item"]]["name"]
    assert found.node(data["map"]["value"]) == data
    assert found.field("later", "Tree")["factory"] is list


def test_postponed_init_vars_and_class_variables():
    found = Described(postponed.Vars)
    assert found.fields() == {"shown": "int"}
    assert found.class_()["init_vars"] == [("setting",), ("other", "o")]


def test_a_name_of_the_class_body():
    found = Described(postponed.Plain)
    assert found.fields("Plain") == {"a": "int", "b": "Plain.Inner"}
    assert found.fields("Inner") == {"c": "str"}


def test_classes_of_a_function_know_themselves():
    for cls in (postponed.local_class(), postponed.local_tree()):
        found = Described(cls)
        assert [entry["cls"] for entry in found.classes] == [cls]
    assert found.fields() == {"only": f"{cls.__qualname__} | None", "extra": "Any"}


def test_the_own_type_of_a_name_wins_over_a_default():
    found = Described(postponed.LaterPlain)
    assert found.field("self") == {
        "name": "self", "key": "self", "required": False, "default": None, "class_default": True,
    }  # fmt: skip
    assert found.field_node("self") == {"scalars": [("none",)], "classes": [0]}


# --- generics --------------------------------------------------------------------------------------------------------
@dataclass
class Box(Generic[T]):
    item: T
    items: list[T]


@dataclass
class Sub(Box[list[U]], Generic[U]):
    own: U


@dataclass
class Fixed(Sub[str]):
    pass


@dataclass
class Swapped(Generic[T, U]):
    first: Box[U]
    second: T
    again: Optional[Swapped[U, T]] = None


@dataclass
class Endless(Generic[T]):
    more: Optional[Endless[tuple[T, T]]] = None


def trees(found: Described, number: int) -> dict[str, str]:
    return {field["name"]: found.tree(field["node"]) for field in found.classes[number]["fields"]}


def test_the_arguments_of_a_generic_class():
    found = Described(tuple[Box[int], Box[str], Box[int], Box])
    assert [entry["cls"] for entry in found.classes] == [Box, Box, Box]
    assert found.name == "tuple" and found.tree() == "fixed[Box, Box, Box, Box]"
    first, _, third, _ = found.node()["seq"]["items"]
    assert first == third
    assert trees(found, 0) == {"item": "int", "items": "list[int]"}
    assert trees(found, 1) == {"item": "str", "items": "list[str]"}
    assert trees(found, 2) == {"item": "Any", "items": "list[Any]"}


def test_inherited_generic_bases():
    assert trees(Described(Sub[int]), 0) == {"item": "list[int]", "items": "list[list[int]]", "own": "int"}
    assert trees(Described(Fixed), 0) == {"item": "list[str]", "items": "list[list[str]]", "own": "str"}
    found = Described(Swapped[int, str])
    assert [trees(found, number) for number in range(4)] == [
        {"first": "Box", "second": "int", "again": "none | Swapped"},
        {"item": "str", "items": "list[str]"},
        {"first": "Box", "second": "str", "again": "none | Swapped"},
        {"item": "int", "items": "list[int]"},
    ]
    # Two parameters swapped twice are what they were.
    assert len(found.classes) == 4


def test_postponed_generics():
    found = Described(postponed.Holder[int])
    assert trees(found, 0) == {"item": "int", "items": "list[int]", "next": "none | Holder"}
    assert trees(Described(postponed.IntHolder), 0)["item"] == "int"
    assert trees(Described(postponed.Both[int, str]), 0) == {
        "item": "str", "items": "list[str]", "next": "none | Holder", "own": "int | none",
    }  # fmt: skip


def test_an_endless_generic_class():
    assert refusal(Endless[int]) == "`Endless`: nests itself in ever new types - in `Endless.more`"


def test_the_syntax_of_generic_classes():
    if sys.version_info < (3, 12):
        pytest.skip("type parameters came with Python 3.12")
    for before in ("", "from __future__ import annotations\n"):
        space: dict[str, Any] = {"__name__": __name__}
        text = f"{before}from dataclasses import dataclass\n@dataclass\nclass New[A, B: int]:\n a: A\n b: list[B]\n"
        exec(compile(text, "new", "exec", dont_inherit=True), space)
        assert trees(Described(space["New"][str, bool]), 0) == {"a": "str", "b": "list[bool]"}
        assert trees(Described(space["New"]), 0) == {"a": "Any", "b": "list[int]"}


class Chain:
    next: Optional[Self]
    others: list[Self]


class LongChain(Chain):
    pass


@dataclass
class GenericChain(Generic[T]):
    item: T
    next: Optional[Self] = None


def test_self():
    found = Described(LongChain)
    assert found.field_node("next") == {"scalars": [("none",)], "classes": [0]}
    assert found.class_()["cls"] is LongChain and len(found.classes) == 1
    found = Described(GenericChain[int])
    assert trees(found, 0) == {"item": "int", "next": "none | GenericChain"} and len(found.classes) == 1


# --- plain classes ---------------------------------------------------------------------------------------------------
class PlainBase:
    a: int
    b: str = "b"
    c: ClassVar[int] = 1
    d: "ClassVar[Missing]"  # type: ignore[name-defined]  # noqa: F821, UP037

    def __init__(self) -> None:
        raise AssertionError("not called")


class PlainSlots(PlainBase):
    __slots__ = ("e", "f")

    e: float
    f: typing.Final[int]


def test_a_plain_class():
    found = Described(PlainSlots)
    entry = found.class_()
    assert (entry["kind"], entry["post_init"]) == ("fields", None)
    assert found.fields() == {"a": "int", "b": "str", "e": "float", "f": "int"}
    assert found.field("a") == {"name": "a", "key": "a", "required": True}
    assert found.field("b") == {
        "name": "b",
        "key": "b",
        "required": False,
        "default": "b",
        "class_default": True,
    }
    assert found.field("e") == {"name": "e", "key": "e", "required": True}


class OddNew:
    a: int

    def __new__(cls) -> Any:
        raise AssertionError("not called")


def test_a_plain_class_with_its_own_new():
    assert Described(OddNew).fields() == {"a": "int"}


class Failure(Exception):
    code: int


class Mapping(dict[str, int]):
    note: str


@pytest.mark.parametrize("cls", [Failure, Mapping, collections.UserDict, types.SimpleNamespace])
def test_classes_that_hold_more_than_fields_are_foreign(cls):
    assert Described(cls).scalars == [("custom", cls, cls)]


# --- tuples and dicts with names -------------------------------------------------------------------------------------
class Point(NamedTuple):
    x: int
    y: Optional[Point] = None


Loose = collections.namedtuple("Loose", ["a", "b"], defaults=[1])


def test_a_named_tuple():
    found = Described(Point)
    assert found.name == "Point"
    assert found.node() == {
        "seq": {"kind": "namedtuple", "item": 0, "items": [], "min": None, "max": None, "class": 0}
    }
    assert (found.class_()["kind"], found.class_()["name"]) == ("namedtuple", "Point")
    assert found.fields() == {"x": "int", "y": "Point | None"}
    assert found.field("x") == {"name": "x", "key": "x", "required": True}
    assert found.field("y") == {"name": "y", "key": "y", "required": False, "default": None}
    found = Described(Loose)
    assert found.fields() == {"a": "Any", "b": "Any"} and found.field("b")["default"] == 1
    assert Described(postponed.Pair).fields() == {"first": "int", "second": "Pair | None"}
    assert refusal(Union[Point, Loose]) == "`Point | Loose`: more than one array-like type in a union"
    assert refusal(Union[Point, list[int]]) == "`Point | list[int]`: more than one array-like type in a union"


class Movie(typing.TypedDict):
    title: str
    year: NotRequired[int]
    tags: Annotated[Required[list[str]], "note"]
    rating: ReadOnly[NotRequired[float]]


class Sequel(Movie, total=False):
    number: Required[int]
    prior: Movie


class Extended(typing_extensions.TypedDict, total=False):
    a: typing_extensions.Required[int]
    b: ReadOnly[str]


def requirements(found: Described, name: str | None = None) -> dict[str, bool]:
    fields = found.class_(name)["fields"]
    assert all(field.get("absent_ok", False) is not field["required"] for field in fields)
    return {field["name"]: field["required"] for field in fields}


def test_a_typed_dict():
    found = Described(Movie)
    text = next(index for index, node in enumerate(found.nodes) if node["name"] == "str")
    assert found.name == "Movie"
    assert found.node() == {
        "map": {"kind": "typeddict", "key": text, "value": 0, "min": None, "max": None, "factory": None, "class": 0}
    }  # fmt: skip
    assert found.class_()["kind"] == "typeddict"
    assert found.fields() == {"title": "str", "year": "int", "tags": "list", "rating": "float"}
    assert requirements(found) == {"title": True, "year": False, "tags": True, "rating": False}
    found = Described(Sequel)
    assert requirements(found, "Sequel") == {
        "title": True, "year": False, "tags": True, "rating": False, "number": True, "prior": False,
    }  # fmt: skip
    assert requirements(Described(Extended)) == {"a": True, "b": False}
    assert refusal(Union[Movie, dict[str, int]]) == (
        "`Movie | dict[str, int]`: more than one mapping-like type in a union"
    )


def test_postponed_requirements():
    found = Described(postponed.Partial)
    assert requirements(found, "Partial") == {"a": True, "b": False, "c": False, "d": False, "e": True}
    assert found.fields("Partial") == {"a": "int", "b": "str", "c": "float", "d": "list", "e": "int"}
    item = found.field_node("d", "Partial")["seq"]["item"]
    assert item == found.root


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="generic TypedDict and NamedTuple came with Python 3.11"
)
def test_generic_tuples_and_dicts():
    class Pair(NamedTuple, Generic[T]):
        first: T
        second: list[T]

    class Item(typing.TypedDict, Generic[T]):
        value: T
        more: NotRequired[list[T]]

    class IntItem(Item[int]):
        own: str

    assert trees(Described(Pair[int]), 0) == {"first": "int", "second": "list[int]"}
    assert trees(Described(Item[str]), 0) == {"value": "str", "more": "list[str]"}
    assert trees(Described(IntItem), 0) == {"value": "int", "more": "list[int]", "own": "str"}


# --- subclasses ------------------------------------------------------------------------------------------------------
@dataclass
class Shape(abc.ABC):
    name: str

    @abc.abstractmethod
    def area(self) -> float: ...


@dataclass
class Circle(Shape):
    radius: float

    def area(self) -> float:
        return self.radius


@dataclass
class Square(Shape):
    side: float

    def area(self) -> float:
        return self.side


class HalfDone(Square, abc.ABC):
    @abc.abstractmethod
    def rest(self) -> None: ...


class Bare(Shape):
    __slots__ = ()

    def area(self) -> float:
        return 0.0


def test_subclasses_stand_in_for_a_class():
    found = Described(Shape, subclasses={Shape: [Circle, Square, HalfDone, Shape]})
    assert found.name == "Shape"
    assert [entry["cls"] for entry in found.classes] == [Circle, Square]
    assert found.node() == {"classes": [0, 1], "distinct": {"radius": 0, "side": 1}}
    found = Described(Base, subclasses={Base: [Slots]})
    assert [entry["cls"] for entry in found.classes] == [Base, Slots]
    assert found.node()["ambiguous"] and found.name == "Base"
    found = Described(Union[Circle, Shape, None], subclasses={Shape: [Circle]})
    assert (found.node(), found.name) == ({"scalars": [("none",)], "classes": [0]}, "Circle | Shape | None")


def test_abstract_classes_without_subclasses():
    assert Described(Shape).scalars == [("custom", Shape, Shape)]


@typing.runtime_checkable
class HasArea(Protocol):
    def area(self) -> float: ...


class Unchecked(Protocol):
    size: int


class Concrete(HasArea):
    def area(self) -> float:
        return 1.0


def test_protocols():
    assert Described(HasArea).scalars == [("custom", HasArea, HasArea)]
    found = Described(HasArea, subclasses={HasArea: [Circle, Concrete]})
    assert found.node() == {"scalars": [("custom", Concrete, Concrete)], "classes": [0]}
    assert found.name == "HasArea"
    assert Described(Unchecked, subclasses={Unchecked: [Circle]}).node() == {"classes": [0]}
    assert Described(Concrete).scalars == [("custom", Concrete, Concrete)]


def test_generic_classes_without_fields_are_foreign():
    class Foreign(Generic[T]):
        def __init__(self, item: T) -> None:
            self.item = item

    assert Described(Foreign[int]).scalars == [("custom", Foreign[int], Foreign)]


# --- what is registered ----------------------------------------------------------------------------------------------
@dataclass
class Named:
    user_id: int
    _private_name: int = 0
    HTTPCode: int = 0
    class_: int = 0


@pytest.mark.parametrize(
    ("rename", "keys"),
    [
        (None, ["user_id", "_private_name", "HTTPCode", "class_"]),
        ("lower", ["user_id", "_private_name", "httpcode", "class_"]),
        ("upper", ["USER_ID", "_PRIVATE_NAME", "HTTPCODE", "CLASS_"]),
        ("camel", ["userId", "_privateName", "HTTPCode", "class"]),
        ("pascal", ["UserId", "_PrivateName", "HTTPCode", "Class"]),
        ("kebab", ["user-id", "_private-name", "HTTPCode", "class"]),
        ({"class_": "class", "unknown": "x"}, ["user_id", "_private_name", "HTTPCode", "class"]),
        (lambda name: name.strip("_") if "_" in name else None, ["user_id", "private_name", "HTTPCode", "class"]),
    ],
    ids=name_of,
)  # fmt: skip
def test_rename(rename, keys):
    found = Described(Named, settings={Named: Settings(rename=rename)})
    assert [field["key"] for field in found.class_()["fields"]] == keys
    assert [field["name"] for field in found.class_()["fields"]] == [
        "user_id", "_private_name", "HTTPCode", "class_",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (Settings(rename="snake"), "`Named`: rename: expected lower, upper, camel, pascal, kebab, a mapping or a callable"),
        (Settings(rename=lambda name: 5), "`Named`: rename: expected str for `user_id`, got `int`"),
        (Settings(rename={"class_": "user_id"}), "`Named`: two fields have the key `user_id`"),
        (Settings(tag="n", tag_field="class_"), "`Named`: the key `class_` of a field is the tag's"),
        (Settings(tag="n", rename={"class_": "type"}), "`Named`: the key `type` of a field is the tag's"),
    ],
    ids=name_of,
)  # fmt: skip
def test_keys_that_cannot_be(settings, text):
    assert refusal(Named, settings={Named: settings}) == text


def test_settings():
    found = Described(
        Named, settings={Named: Settings(array_like=True, forbid_unknown=True, tag=3, tag_field="t")}
    )
    entry = found.class_()
    assert (entry["array_like"], entry["forbid_unknown"], entry["tag"]) == (True, True, ("t", 3))
    assert Described(Named, settings={Named: Settings(tag="n")}).class_()["tag"] == ("type", "n")
    listed = {Named: Settings(array_like=True)}
    assert refusal(Union[Named, list[int]], settings=listed) == (
        "`Named | list[int]`: more than one array-like type in a union"
    )
    assert refusal(Union[Named, Point], settings=listed) == (
        "`Named | Point`: more than one array-like type in a union"
    )


# --- what is imported ------------------------------------------------------------------------------------------------
def test_nothing_is_imported_that_the_annotation_did_not_bring_along():
    program = """
import sys
from holdall._annotations import describe
class Plain:
    a: "dict[str, list[Plain]] | int | None"
before = set(sys.modules)
describe(Plain, settings=lambda cls: None, subclasses=lambda cls: ())
print(*set(sys.modules) - before)
print(*{"attr", "dataclasses", "decimal", "inspect", "msgspec", "numpy", "pathlib", "pydantic", "uuid"} & set(sys.modules))
"""
    run = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert run.stdout == "\n\n"
