"""What `describe` reads in `Annotated`, and the exact text of what it refuses there."""

# Old spellings are cases of their own.
# ruff: noqa: UP007
from __future__ import annotations

import collections
import datetime as dt
import decimal
import re
import typing
from collections import abc
from dataclasses import dataclass
from typing import Annotated, Any, NewType, TypeVar, Union

import pytest

from tests.support.describing import Described, refusal

T = TypeVar("T")
Bounded = TypeVar("Bounded", bound=int)


@dataclass
class User:
    name: str
    age: int = 0


class _Len(typing.NamedTuple):
    """Looks like a constraint, but belongs to no library that defines them."""

    min_length: int


def test_unknown_extras_are_ignored():
    assert Described(Annotated[str, "note", 5, _Len(3), (3, None), object(), ["x"]]).scalars == [
        ("str", None)
    ]


def test_a_compiled_pattern():
    pattern = re.compile("a+")
    assert Described(Annotated[str, pattern]).scalars == [("str", {"pattern": pattern})]


def meta(**values: Any) -> Any:
    return pytest.importorskip("msgspec").Meta(**values)


def test_every_constraint_of_annotated_types():
    at = pytest.importorskip("annotated_types")
    cases: list[tuple[Any, dict[str, Any]]] = [
        (at.Gt(1), {"gt": 1}),
        (at.Ge(1), {"ge": 1}),
        (at.Lt(1.5), {"lt": 1.5}),
        (at.Le(1), {"le": 1}),
        (at.MultipleOf(2), {"multiple_of": 2}),
        (at.Interval(gt=1, le=5), {"gt": 1, "le": 5}),
    ]
    for extra, expected in cases:
        for cls, tag in ((int, "int"), (float, "float"), (decimal.Decimal, "decimal")):
            assert Described(Annotated[cls, extra]).scalars == [(tag, expected)]
    sizes: list[tuple[Any, dict[str, Any]]] = [
        (at.MinLen(1), {"min_length": 1}),
        (at.MaxLen(0), {"max_length": 0}),
        (at.Len(1, 2), {"min_length": 1, "max_length": 2}),
        (at.Len(0, 2), {"max_length": 2}),
    ]
    for extra, expected in sizes:
        for cls, tag in (
            (str, "str"),
            (bytes, "bytes"),
            (bytearray, "bytearray"),
            (memoryview, "memoryview"),
        ):
            assert Described(Annotated[cls, extra]).scalars == [(tag, expected)]
    for annotation in (list, list[int], tuple[int, ...], set[int], frozenset[int], collections.deque[int]):
        seq = Described(Annotated[annotation, at.Len(1, 2)]).node()["seq"]
        assert (seq["min"], seq["max"]) == (1, 2)
    for annotation in (dict[str, int], abc.Mapping[str, int], collections.Counter[str]):
        mapping = Described(Annotated[annotation, at.MinLen(3)]).node()["map"]
        assert (mapping["min"], mapping["max"]) == (3, None)
    assert Described(Annotated[str, at.Predicate(str.islower)]).scalars == [("str", None)]


def test_groups_of_constraints():
    at = pytest.importorskip("annotated_types")

    class Percent(at.GroupedMetadata):
        def __iter__(self):
            yield at.Ge(0)
            yield at.Le(100)

    assert Described(Annotated[int, Percent()]).scalars == [("int", {"ge": 0, "le": 100})]


def test_time_zones_that_are_asked_for():
    for tz in (True, False, None):
        assert Described(Annotated[dt.datetime, meta(tz=tz)]).scalars == [("datetime", tz)]
        assert Described(Annotated[dt.time, meta(tz=tz)]).scalars == [("time", tz)]
    at = pytest.importorskip("annotated_types")
    assert Described(Annotated[dt.datetime, at.Timezone(...)]).scalars == [("datetime", True)]
    assert Described(Annotated[dt.datetime, at.Timezone(None)]).scalars == [("datetime", False)]
    assert Described(Annotated[dt.datetime, at.Timezone("Europe/Berlin")]).scalars == [("datetime", None)]
    either = Union[Annotated[dt.datetime, meta(tz=True)], Annotated[dt.datetime, meta(tz=False)]]
    assert Described(either).scalars == [("datetime", None)]


def test_meta():
    found = Described(Annotated[str, meta(pattern="^a", min_length=1, max_length=5, description="d")])
    assert found.scalars == [("str", {"pattern": re.compile("^a"), "min_length": 1, "max_length": 5})]
    assert Described(Annotated[int, meta(ge=0, lt=10, multiple_of=2)]).scalars == [
        ("int", {"ge": 0, "lt": 10, "multiple_of": 2})
    ]


def test_constraints_of_pydantic():
    pydantic = pytest.importorskip("pydantic")
    assert Described(Annotated[int, pydantic.Field(gt=0, le=5)]).scalars == [("int", {"gt": 0, "le": 5})]
    assert Described(Annotated[str, pydantic.Field(pattern="^a", max_length=3)]).scalars == [
        ("str", {"pattern": re.compile("^a"), "max_length": 3})
    ]
    assert Described(Annotated[str, pydantic.StringConstraints(min_length=1, pattern="b")]).scalars == [
        ("str", {"min_length": 1, "pattern": re.compile("b")})
    ]
    assert Described(pydantic.PositiveInt).scalars == [("int", {"gt": 0})]
    assert Described(pydantic.conint(ge=1, multiple_of=3)).scalars == [("int", {"ge": 1, "multiple_of": 3})]
    assert Described(pydantic.conlist(int, min_length=2)).node()["seq"]["min"] == 2


def test_a_constraint_goes_to_the_members_of_a_union_that_can_have_it():
    assert Described(Annotated[int | None, meta(ge=0)]).scalars == [("int", {"ge": 0}), ("none",)]
    assert Described(Annotated[int | str, meta(ge=0), meta(max_length=3)]).scalars == [
        ("int", {"ge": 0}),
        ("str", {"max_length": 3}),
    ]
    assert Described(Union[Annotated[int, meta(ge=0)], str]).scalars == [("int", {"ge": 0}), ("str", None)]
    seq = Described(Annotated[list[str] | None, meta(max_length=3)])
    assert seq.node()["seq"]["max"] == 3
    assert seq.node(seq.node()["seq"]["item"]) == {"scalars": [("str", None)]}


def test_constraints_around_constraints():
    inner = NewType("inner", Annotated[int, meta(ge=3, lt=10)])
    assert Described(Annotated[inner, meta(ge=1)]).scalars == [("int", {"ge": 3, "lt": 10})]
    assert Described(Annotated[inner, meta(ge=5, lt=20)]).scalars == [("int", {"ge": 5, "lt": 10})]
    outer = Annotated[Union[inner, str], meta(ge=4), meta(max_length=3)]
    assert Described(outer).scalars == [("int", {"ge": 4, "lt": 10}), ("str", {"max_length": 3})]


def test_equal_constraints_share_a_node_and_others_do_not():
    found = Described(tuple[Annotated[int, meta(ge=0)], Annotated[int, meta(ge=0), "note"], Annotated[int, meta(ge=1)], int])  # fmt: skip
    first, second, third, fourth = found.node()["seq"]["items"]
    assert first == second and len({first, third, fourth}) == 3


def test_the_wider_of_two_alike_members():
    assert Described(Union[Annotated[int, meta(ge=0)], int]).scalars == [("int", None)]
    assert Described(Union[int, Annotated[int, meta(ge=0)]]).scalars == [("int", None)]


def test_a_free_type_variable_is_asked_nothing():
    assert Described(Annotated[T, meta(ge=0)]).node() == {"any": True}
    assert Described(Annotated[Bounded, meta(ge=0)]).scalars == [("int", {"ge": 0})]


def test_constraints_that_are_refused():
    cases = [
        (Annotated[str, meta(ge=0)], "`str`: the constraint `ge` doesn't fit this type"),
        (Annotated[int, meta(pattern="a")], "`int`: the constraint `pattern` doesn't fit this type"),
        (Annotated[int, meta(min_length=1)], "`int`: the constraint `min_length` doesn't fit this type"),
        (Annotated[bytes, re.compile("a")], "`bytes`: the constraint `pattern` doesn't fit this type"),
        (Annotated[Any, meta(ge=0)], "`Any`: the constraint `ge` doesn't fit this type"),
        (Annotated[User, meta(max_length=1)], "`User`: the constraint `max_length` doesn't fit this type"),
        (Annotated[bool, meta(ge=0)], "`bool`: the constraint `ge` doesn't fit this type"),
        (Annotated[dt.date, meta(tz=True)], "`date`: the constraint `tz` doesn't fit this type"),
        (Annotated[tuple[int, str], meta(max_length=2)], "`tuple[int, str]`: the constraint `max_length` doesn't fit this type"),
        (Annotated[str | None, meta(lt=0)], "`str | None`: the constraint `lt` doesn't fit this type"),
        (Annotated[int, meta(multiple_of=2), meta(multiple_of=3)], "`int`: `multiple_of` is given twice"),
        (Annotated[NewType("N", Annotated[str, re.compile("a")]), re.compile("b")], "`str`: `pattern` is given twice"),
        (Union[Annotated[int, meta(ge=5)], Annotated[int, meta(le=0)]], "`int | int`: more than one constrained `int` in a union"),
    ]  # fmt: skip
    assert [refusal(annotation) for annotation, _ in cases] == [text for _, text in cases]


def test_constraints_that_make_no_sense():
    at = pytest.importorskip("annotated_types")
    cases = [
        (Annotated[int, at.Ge("a")], "`int`: `ge` must be a number"),
        (Annotated[int, at.Gt(1j)], "`int`: `gt` must be a number"),
        (Annotated[int, at.MultipleOf(0)], "`int`: `multiple_of` must be above 0"),
        (Annotated[str, at.MinLen(-1)], "`str`: `min_length` must be an int of 0 or more"),
        (Annotated[str, at.MaxLen(1.5)], "`str`: `max_length` must be an int of 0 or more"),
    ]
    assert [refusal(annotation) for annotation, _ in cases] == [text for _, text in cases]
    pydantic = pytest.importorskip("pydantic")
    assert refusal(Annotated[str, pydantic.Field(pattern="(")]) == "`str`: `pattern` is no regular expression"
