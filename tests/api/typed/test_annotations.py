"""What `describe` says of annotations: every form, and the exact text of what is refused."""

# Old spellings are cases of their own, and some names are missing on purpose.
# ruff: noqa: F821, UP007, UP045
from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import operator
import os
import pathlib
import re
import sys
import types
import typing
import uuid
import zoneinfo
from collections import abc
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NewType, Optional, TypeVar, Union

import pytest
import typing_extensions

import holdall
from holdall._annotations import anchor, describe
from tests.support import models_postponed
from tests.support.describing import Described, name_of, refusal
from tests.support.each import each

T = TypeVar("T")
Bounded = TypeVar("Bounded", bound=int)
OneOf = TypeVar("OneOf", int, str)
UserId = NewType("UserId", int)
Deep = NewType("Deep", list[UserId])


class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    ROSE = 1  # noqa: PIE796


class Odd(enum.Enum):
    LIST = [1]
    NUMBER = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclass
class User:
    name: str
    age: int = 0


@dataclass
class Other:
    name: str


class OwnInt(int):
    note: str


class OwnList(list[int]):
    pass


class NothingDeclared:
    def __init__(self) -> None:
        self.a = 1


# --- scalars ---------------------------------------------------------------------------------------------------------
@each(
    ("annotation", "name", "scalar"),
    [
        (None, "None", ("none",)),
        (type(None), "None", ("none",)),
        (bool, "bool", ("bool",)),
        (int, "int", ("int", None)),
        (float, "float", ("float", None)),
        (complex, "complex", ("complex",)),
        (str, "str", ("str", None)),
        (bytes, "bytes", ("bytes", None)),
        (bytearray, "bytearray", ("bytearray", None)),
        (memoryview, "memoryview", ("memoryview", None)),
        (decimal.Decimal, "Decimal", ("decimal", None)),
        (dt.datetime, "datetime", ("datetime", None)),
        (dt.date, "date", ("date",)),
        (dt.time, "time", ("time", None)),
        (dt.timedelta, "timedelta", ("timedelta",)),
        (uuid.UUID, "UUID", ("uuid",)),
        (fractions.Fraction, "Fraction", ("value", fractions.Fraction, fractions.Fraction)),
        (zoneinfo.ZoneInfo, "ZoneInfo", ("value", zoneinfo.ZoneInfo, zoneinfo.ZoneInfo)),
        (pathlib.Path, "Path", ("value", pathlib.Path, pathlib.Path)),
        (pathlib.PurePosixPath, "PurePosixPath", ("value", pathlib.PurePosixPath, pathlib.PurePosixPath)),
        (pathlib.PurePath, "PurePath", ("value", pathlib.PurePath, pathlib.PurePath)),
        (ipaddress.IPv4Address, "IPv4Address", ("value", ipaddress.IPv4Address, ipaddress.IPv4Address)),
        (ipaddress.IPv6Network, "IPv6Network", ("value", ipaddress.IPv6Network, ipaddress.IPv6Network)),
        (ipaddress.IPv4Interface, "IPv4Interface", ("value", ipaddress.IPv4Interface, ipaddress.IPv4Interface)),
        (re.Pattern, "Pattern", ("value", re.Pattern, re.compile)),
        (re.Pattern[str], "Pattern", ("value", re.Pattern, re.compile)),
        (typing.Pattern[bytes], "Pattern", ("value", re.Pattern, None)),
        (dt.timezone, "timezone", ("value", dt.timezone, None)),
        (dt.tzinfo, "tzinfo", ("value", dt.tzinfo, None)),
        (range, "range", ("value", range, None)),
        (slice, "slice", ("value", slice, None)),
        (array.array, "array", ("value", array.array, None)),
        (collections.ChainMap, "ChainMap", ("value", collections.ChainMap, None)),
        (typing.ChainMap[str, int], "ChainMap", ("value", collections.ChainMap, None)),
        (type(...), "ellipsis", ("value", type(...), None)),
        (type(NotImplemented), "NotImplementedType", ("value", type(NotImplemented), None)),
        (Literal["a", 1, None, True, b"x"], "Literal", ("literal", ("a", 1, None, True, b"x"))),
        (Literal[Color.RED, 2], "Literal", ("literal", (Color.RED, 2))),
        (typing_extensions.Literal["a"], "Literal", ("literal", ("a",))),
        (Color, "Color", ("enum", Color, {1: Color.RED, "green": Color.GREEN}, {"RED": Color.RED, "GREEN": Color.GREEN, "ROSE": Color.RED})),
        (Odd, "Odd", ("enum", Odd, {2: Odd.NUMBER}, {"LIST": Odd.LIST, "NUMBER": Odd.NUMBER})),
        (Level, "Level", ("enum", Level, {1: Level.LOW}, {"LOW": Level.LOW})),
        (OwnInt, "OwnInt", ("custom", OwnInt, OwnInt)),
        (OwnList, "OwnList", ("custom", OwnList, OwnList)),
        (NothingDeclared, "NothingDeclared", ("custom", NothingDeclared, NothingDeclared)),
        (KeyError, "KeyError", ("custom", KeyError, KeyError)),
        (typing.SupportsInt, "SupportsInt", ("custom", typing.SupportsInt, typing.SupportsInt)),
        (os.PathLike, "PathLike", ("custom", os.PathLike, os.PathLike)),
        (os.PathLike[str], "PathLike", ("custom", os.PathLike[str], os.PathLike)),
    ],
    ids=name_of,
)  # fmt: skip
def test_a_scalar(annotation, name, scalar):
    found = Described(annotation)
    assert (found.name, found.scalars) == (name, [scalar])


def test_literals_keep_the_type_of_what_is_equal():
    first, second = Described(Literal[1]).scalars, Described(Literal[True]).scalars
    assert type(first[0][1][0]) is int and type(second[0][1][0]) is bool


@pytest.mark.parametrize("annotation", [Any, object, T, typing_extensions.Any, Final, Annotated[Any, "note"], Optional[Any], Union[int, Any]])  # fmt: skip
def test_anything(annotation):
    found = Described(annotation)
    assert (found.name, found.node()) == ("Any", {"any": True})


@each(
    ("annotation", "tree"),
    [
        (Final[int], "int"),
        (UserId, "int"),
        (Deep, "list[int]"),
        (Bounded, "int"),
        (OneOf, "int | str"),
        (typing.AnyStr, "bytes | str"),
        (typing_extensions.TypeVar("D", default=list[int]), "list[int]"),
        (typing_extensions.LiteralString, "str"),
        (typing_extensions.Required[int], "int"),
        (typing_extensions.NotRequired[int], "int"),
        (typing_extensions.ReadOnly[int], "int"),
        (Annotated[int, "note"], "int"),
        ("int", "int"),
        ("list[int]", "list[int]"),
        (list["int"], "list[int]"),
        (typing.List["int"], "list[int]"),
        (typing.ForwardRef("User", module=__name__), "User"),
        (list[typing.ForwardRef("UserId", module=__name__)], "list[int]"),
    ],
    ids=name_of,
)
def test_forms_that_stand_for_another(annotation, tree):
    assert Described(annotation).tree() == tree


# --- containers ------------------------------------------------------------------------------------------------------
@each(
    ("annotation", "name", "tree"),
    [
        (list, "list", "list[Any]"),
        (typing.List, "list", "list[Any]"),
        (list[int], "list", "list[int]"),
        (typing.List[int], "list", "list[int]"),
        (list[list[str]], "list", "list[list[str]]"),
        (abc.Sequence[int], "list", "list[int]"),
        (typing.Sequence, "list", "list[Any]"),
        (abc.MutableSequence[int], "list", "list[int]"),
        (abc.Collection[int], "list", "list[int]"),
        (typing.Iterable[int], "list", "list[int]"),
        (tuple, "tuple", "tuple[Any]"),
        (typing.Tuple, "tuple", "tuple[Any]"),
        (tuple[int, ...], "tuple", "tuple[int]"),
        (typing.Tuple[int, ...], "tuple", "tuple[int]"),
        (tuple[int, str], "tuple", "fixed[int, str]"),
        (tuple[int], "tuple", "fixed[int]"),
        (set, "set", "set[Any]"),
        (set[int], "set", "set[int]"),
        (typing.MutableSet[int], "set", "set[int]"),
        (abc.Set[int], "set", "set[int]"),
        (typing.AbstractSet[int], "set", "set[int]"),
        (frozenset[int], "frozenset", "frozenset[int]"),
        (typing.FrozenSet[int], "frozenset", "frozenset[int]"),
        (collections.deque[int], "deque", "deque[int]"),
        (typing.Deque, "deque", "deque[Any]"),
        (dict, "dict", "dict[Any, Any]"),
        (dict[str, int], "dict", "dict[str, int]"),
        (typing.Dict[str, int], "dict", "dict[str, int]"),
        (abc.Mapping[str, list[int]], "dict", "dict[str, list[int]]"),
        (typing.MutableMapping, "dict", "dict[Any, Any]"),
        (collections.OrderedDict[str, int], "OrderedDict", "OrderedDict[str, int]"),
        (collections.defaultdict[str, int], "defaultdict", "defaultdict[str, int]"),
        (collections.Counter[str], "Counter", "Counter[str, int]"),
        (typing.Counter, "Counter", "Counter[Any, int]"),
        (types.MappingProxyType[str, int], "mappingproxy", "mappingproxy[str, int]"),
    ],
    ids=name_of,
)
def test_a_container(annotation, name, tree):
    found = Described(annotation)
    assert (found.name, found.tree()) == (name, tree)


@pytest.mark.parametrize("annotation", [tuple[()], typing.Tuple[()]])
def test_the_empty_tuple(annotation):
    assert Described(annotation).node()["seq"] == {
        "kind": "fixed", "item": 0, "items": [], "min": None, "max": None, "class": None,
    }  # fmt: skip


def test_all_that_a_container_says():
    found = Described(dict[str, tuple[int, ...]])
    text, ints = (found.nodes.index(node) for node in found.nodes if node["name"] in ("str", "tuple"))
    number = next(index for index, node in enumerate(found.nodes) if node["name"] == "int")
    assert found.node() == {
        "map": {"kind": "dict", "key": text, "value": ints, "min": None, "max": None, "factory": None, "class": None}
    }  # fmt: skip
    assert found.node(ints) == {
        "seq": {"kind": "tuple", "item": number, "items": [], "min": None, "max": None, "class": None}
    }


@pytest.mark.parametrize(
    ("value", "factory"),
    [
        (list[int], list), (int, int), (dict, dict), (abc.Sequence[int], list), (abc.Mapping[str, int], dict), (set[str], set),
        (collections.Counter[str], collections.Counter), (Optional[int], None), (User, None), (Any, None), (Literal[1], None),
    ],
    ids=name_of,
)  # fmt: skip
def test_what_a_defaultdict_makes(value, factory):
    assert Described(typing.DefaultDict[str, value]).node()["map"]["factory"] is factory


# --- unions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("annotation", "name", "tree"),
    [
        (Optional[int], "int | None", "int | none"),
        (int | None, "int | None", "int | none"),
        (Union[str, int, None], "str | int | None", "str | int | none"),
        (Union[None, list[int], dict[str, int]], "None | list | dict", "none | list[int] | dict[str, int]"),
        (Union[Literal["a"], None, Literal[1]], "Literal | None", "literal | none"),
        (Union[UserId, int], "int", "int"),
        (Union[list[UserId], list[int]], "list", "list[int]"),
        (Union[User, int], "User | int", "int | User"),
        (Union[User, list[User]], "User | list", "list[User] | User"),
        (Union[Color, Level, str], "Color | Level | str", "enum | enum | str"),
        (Union[OwnInt, int], "OwnInt | int", "custom | int"),
        (Union[Annotated[Color, 1], Color], "Color", "enum"),
        (Union[Annotated[OwnInt, 1], OwnInt], "OwnInt", "custom"),
        (list[int | str], "list", "list[int | str]"),
    ],
    ids=name_of,
)
def test_a_union(annotation, name, tree):
    found = Described(annotation)
    assert (found.name, found.tree()) == (name, tree)


def test_literals_of_a_union_are_one():
    assert Described(Union[Literal["a"], None, Literal[1]]).scalars == [("literal", ("a", 1)), ("none",)]


def test_equal_annotations_share_a_node():
    found = Described(tuple[list[int], typing.List[int], list[UserId], dict[str, list[int]], "list[int]"])
    first, second, third, fourth, fifth = found.node()["seq"]["items"]
    assert first == third == fifth and found.node(fourth)["map"]["value"] == first
    assert found.tree(second) == "list[int]"
    # Any, the tuple, list[int], int, dict, str.
    assert len(found.nodes) == 6


def test_the_order_of_a_union_is_kept():
    found = Described(tuple[int | str, str | int])
    assert [found.tree(item) for item in found.node()["seq"]["items"]] == ["int | str", "str | int"]


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Union[list[int], set[int]], "`list[int] | set[int]`: more than one array-like type in a union"),
        (Union[list[int], tuple[int, str], None], "`list[int] | tuple[int, str] | None`: more than one array-like type in a union"),
        (Union[dict[str, int], collections.Counter[str]], "`dict[str, int] | Counter[str]`: more than one mapping-like type in a union"),
        (list[dict[str, int] | dict[int, str]], "`dict[str, int] | dict[int, str]`: more than one mapping-like type in a union"),
    ],
    ids=name_of,
)  # fmt: skip
def test_unions_that_cannot_be_told_apart(annotation, text):
    assert refusal(annotation) == text


def test_classes_are_told_apart_by_a_required_key():
    found = Described(Union[User, Other, None])
    # Other has no key of its own: what has no other's key is one.
    assert found.node()["ambiguous"] and found.node()["classes"] == [0, 1]

    @dataclass
    class Third:
        name: str
        third: int

    found = Described(Union[User, Third])
    assert found.node() == {"classes": [0, 1], "distinct": {"third": 1}}


def test_classes_and_a_mapping_are_ambiguous():
    assert Described(Union[User, dict[str, int]]).node()["ambiguous"]
    assert Described(Union[User, list[int]]).node().keys() == {"classes", "seq"}


# --- names that come later -------------------------------------------------------------------------------------------
def test_recursive_aliases():
    found = Described(typing.ForwardRef("Json", module=models_postponed.__name__))
    root = found.root
    assert found.name == "dict | list | str | float | None"
    assert found.node()["map"]["value"] == found.node()["seq"]["item"] == root


def type_alias(text: str, name: str) -> Any:
    """What the `type` statement of Python 3.12 makes."""
    if sys.version_info < (3, 12):
        pytest.skip("the `type` statement came with Python 3.12")
    space: dict[str, Any] = {"__name__": __name__}
    exec(text, space)
    return space[name]


def test_the_type_statement():
    json = type_alias("type Json = dict[str, Json] | list[Json] | str | None", "Json")
    found = Described(json)
    assert found.name == "dict | list | str | None"
    assert found.node()["map"]["value"] == found.node()["seq"]["item"] == found.root
    pair = type_alias("type Pair[A, B] = tuple[A, list[B]]", "Pair")
    assert Described(pair[int, str]).tree() == "fixed[int, list[str]]"
    assert Described(pair).tree() == "fixed[Any, list[Any]]"
    assert Described(list[pair[int, pair[str, None]]]).tree() == (
        "list[fixed[int, list[fixed[str, list[none]]]]]"
    )
    assert Described(type_alias("type A = A | int", "A")).tree() == "int"
    assert refusal(type_alias("type A = A", "A")) == "`A`: refers to nothing but itself"
    assert refusal(type_alias("type A = list[Missing]", "A")) == (
        "`A`: the name `Missing` can't be resolved; define it before the first typed load"
    )
    assert refusal(type_alias("type A[T] = list[A[list[T]]] | int", "A")[int]) == (
        "`A`: nests itself in ever new types"
    )


def test_the_older_type_alias():
    alias = typing_extensions.TypeAliasType("Ints", list[int])
    assert Described(dict[str, alias]).tree() == "dict[str, list[int]]"
    pair = typing_extensions.TypeAliasType("Pair", tuple[T, T], type_params=(T,))
    assert Described(pair[int]).tree() == "fixed[int, int]"
    later = typing_extensions.TypeAliasType("Later", "User | None")
    assert Described(later).tree() == "none | User"


def test_names_that_are_not_there():
    later = "can't be resolved; define it before the first typed load"
    assert refusal("Missing") == f"`Missing`: the name `Missing` {later}"
    assert refusal(list["Missing"]) == f"`Missing`: the name `Missing` {later}"
    assert refusal("list[Missing]") == f"`list[Missing]`: the name `Missing` {later}"
    assert refusal(models_postponed.Unresolved) == f"`Unresolved.friend`: the name `Friend` {later}"
    assert (
        refusal(models_postponed.UnresolvedWithin) == f"`UnresolvedWithin.friends`: the name `Friend` {later}"
    )
    assert refusal(models_postponed.Wrong) == (
        "`Wrong.a`: the annotation `int[str]` can't be evaluated: TypeError"
    )
    assert refusal("1 +") == "`1 +`: the annotation `1 +` can't be evaluated: SyntaxError"


def test_the_name_comes_later():
    models_postponed.Friend = User
    try:
        assert Described(models_postponed.Unresolved).fields("Unresolved") == {
            "name": "str",
            "friend": "User",
        }
    finally:
        del models_postponed.Friend


# --- what is refused -------------------------------------------------------------------------------------------------
class NotRuntime(typing.Protocol):
    a: int


@each(
    ("annotation", "text"),
    [
        (type, "`type`: can't be loaded by type"),
        (type[int], "`type[int]`: can't be loaded by type"),
        (typing.Type[int], "`type[int]`: can't be loaded by type"),
        (type(abc.Sized), "`ABCMeta`: can't be loaded by type"),
        (abc.Callable, "`Callable`: can't be loaded by type"),
        (typing.Callable[[int], str], "`Callable[int, str]`: can't be loaded by type"),
        (types.FunctionType, "`function`: can't be loaded by type"),
        (types.ModuleType, "`module`: can't be loaded by type"),
        (typing.Generic, "`Generic`: can't be loaded by type"),
        (typing.ClassVar[int], "`ClassVar[int]`: can't be loaded by type"),
        (typing_extensions.Self, "`Self`: can't be loaded by type"),
        (typing_extensions.Never, "`Never`: nothing can be loaded as this"),
        (typing.NoReturn, "`NoReturn`: nothing can be loaded as this"),
        (list[typing.NoReturn], "`NoReturn`: nothing can be loaded as this"),
        (typing_extensions.ParamSpec("P"), "`<ParamSpec>`: can't be loaded by type"),
        (typing_extensions.Unpack[tuple[int, ...]], "`Unpack[tuple[int, ...]]`: can't be loaded by type"),
        (5, "`<int>`: can't be loaded by type"),
        (["secret"], "`<list>`: can't be loaded by type"),
        (operator.add, "`<builtin_function_or_method>`: can't be loaded by type"),
        (Literal[1.5], "`Literal`: a literal can't be of type `float`"),
        (Literal[1, list[int]], "`Literal`: a literal can't be of type `GenericAlias`"),
        (list[int, str], "`list[int, str]`: expected 1 type argument"),
        (dict[int], "`dict[int]`: expected 2 type arguments"),
        (collections.Counter[str, int], "`Counter[str, int]`: expected 1 type argument"),
        (NotRuntime, "`NotRuntime`: a protocol that is not `runtime_checkable` can't be checked"),
    ],
    ids=name_of,
)
def test_what_is_refused(annotation, text):
    assert refusal(annotation) == text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="unpacking in annotations came with Python 3.11")
def test_unpacked_tuples_are_refused():
    (unpacked,) = tuple[int, ...]
    assert refusal(tuple[str, unpacked]) == "`tuple[int, ...]`: can't be loaded by type"


def test_refusals_say_where():
    @dataclass
    class Team:
        name: str
        members: list[int] | set[int]

    assert refusal(Team) == (
        "`list[int] | set[int]`: more than one array-like type in a union"
        " - in `test_refusals_say_where.<locals>.Team.members`"
    )


def test_the_errors_of_a_caller_pass():
    def settings(cls: type) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        describe(User, settings=settings, subclasses=lambda cls: ())


# --- the anchor ------------------------------------------------------------------------------------------------------
@each(
    ("annotation", "expected"),
    [
        (User, User),
        (list[User], User),
        (dict[str, User | None], User),
        (Optional[Annotated[User, 1]], User),
        (Union[dict[str, Other], User], Other),
        (Literal[Color.RED], Color),
        (NewType("N", list[User]), User),
        (TypeVar("V", bound=User), User),
        (TypeVar("W", User, int), User),
        (typing_extensions.TypeAliasType("Alias", list[User]), User),
        (tuple[uuid.UUID, User], User),
        (models_postponed.Holder[User], models_postponed.Holder),
        (typing.Sequence[User], User),
        (int, None),
        (None, None),
        (Any, None),
        (list[uuid.UUID], None),
        (abc.Sequence[int], None),
        (typing.Callable[[int], str], None),
        (list["User"], None),
        (Literal["a"], None),
        (decimal.Decimal, None),
        (5, None),
    ],
    ids=name_of,
)
def test_the_anchor(annotation, expected):
    assert anchor(annotation) is expected


def test_the_anchor_of_what_is_recursive_or_not_there():
    assert anchor(type_alias("type Json = dict[str, Json] | list[Json]", "Json")) is None
    assert anchor(type_alias("type A = list[Missing]", "A")) is None


class NamedLikeAliases:
    """A class may have anything under the names by which aliases are known."""

    __args__, __origin__, __metadata__ = 5, 3, (1,)


@dataclasses.dataclass
class FieldsLikeAliases(NamedLikeAliases):
    x: int = 1


@pytest.mark.parametrize("cls", [NamedLikeAliases, types.GenericAlias, types.UnionType, type(list[int])])
def test_classes_that_look_like_aliases(cls: type) -> None:
    with pytest.raises(holdall.ValidationError, match=f"Expected `{cls.__qualname__}`, got `int`"):
        holdall.loads(holdall.dumps(1), type=cls)
    assert holdall.loads(holdall.dumps({"x": 2}), type=FieldsLikeAliases) == FieldsLikeAliases(2)
    assert holdall.msgpack.loads(holdall.msgpack.dumps([{"x": 2}]), type=list[FieldsLikeAliases]) == [
        FieldsLikeAliases(2)
    ]
