"""Which objects are one: sets, which Julia tells by the table in them; mappings that hold themselves and can't be dicts; keys of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import julia
from holdall.julia import (
    Char,
    Dict,
    IdDict,
    JuliaStruct,
    NamedTuple,
    Pair,
    Pairs,
    Set,
    Some,
    SubString,
    Symbol,
    Type,
)
from tests.support import julia_tree
from tests.support.each import each
from tests.support.julia_registry import fresh
from tests.support.julia_same import same

T: Any = Type.parse


@dataclass(eq=False)
class Cell:
    v: Any = None


@contextmanager
def registered() -> Iterator[None]:
    with fresh():
        julia.struct("Main.Cell", Cell, mutable=True)
        yield


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with registered():
        yield


def back(value: Any) -> Any:
    return julia.loads(julia.dumps({"value": value}))["value"]


# --- sets ---

SETS: dict[str, Callable[[], Any]] = {
    "Set": lambda: Set([1, 2]),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "empty": set,
    "of records": lambda: Set([Cell(1)]),
    "of sets": lambda: Set([Some(1)]),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_stored_twice_is_one(name: str) -> None:
    one, other = SETS[name](), SETS[name]()
    found = back([one, other, one, (other,), {"k": one}])
    assert found[0] is found[2] is found[4]["k"] and found[1] is found[3][0] and found[0] is not found[1]
    again = back(found)
    assert again[0] is again[2] and again[1] is again[3][0] and again[0] is not again[1]


def test_its_table_is_what_stands_apart() -> None:
    """As BSON.jl has it: a Set is no mutable struct, and written wherever it is met."""
    one = Set([1])
    tree = julia_tree.parse(julia.dumps({"value": [one, one]}))["value"]
    assert tree[0] is not tree[1] and tree[0]["data"][0] is tree[1]["data"][0]
    # The second writer has the same tree.
    tree = julia_tree.tree({"value": [one, one]})["value"]
    assert tree[0] is not tree[1] and tree[0]["data"][0] is tree[1]["data"][0]


def test_sets_of_one_table_and_two_types_are_two() -> None:
    tree = julia_tree.tree({"value": [Set([1], type=T("Set{Int64}")), Set([1], type=T("Set{Int64}"))]})
    first, second = tree["value"]
    second["type"]["params"], second["data"] = [], first["data"]
    # The table apart, by hand.
    table = first["data"][0]
    first["data"], second["data"] = [{"tag": "backref", "ref": 1}], [{"tag": "backref", "ref": 1}]
    found = julia.loads(julia_tree.unparse({**tree, "_backrefs": [table]}))["value"]
    assert found[0] == found[1] and found[0] is not found[1] and found[1].type == T("Set")


def test_a_set_that_changes_while_it_is_stored() -> None:
    """Its table is taken once: a hook that adds to it doesn't tear the message apart."""

    class Other:
        pass

    values: Any = {1}
    hooked: list[Any] = []

    def hook(obj: Any) -> Any:
        hooked.append(obj)
        values.add(2 + len(hooked))
        return None

    found = julia.loads(julia.dumps({"value": [values, Other(), values]}, enc_hook=hook))["value"]
    assert found[0] is found[2]


# --- what holds itself ---

Make = Callable[[Any], Any]
WAYS: dict[str, Make] = {
    "Set": lambda c: Set([c]),
    "set": lambda c: {c},
    "a set of boxes": lambda c: Set([Some(1), c]),
    "tuple": lambda c: (c,),
    "NamedTuple": lambda c: NamedTuple.of(a=c),
    "Pair": lambda c: Pair(c, c),
    "Some": Some,
    "Dict": lambda c: Dict({c: c}),
    "IdDict": lambda c: IdDict({c: 1}),
    "pairs": lambda c: Pairs([([1], c), ([2], 3)]),
    "pairs of equal keys": lambda c: Pairs([(Symbol("a"), c), ("a", 1)]),
    "list": lambda c: [c],
    "record": lambda c: JuliaStruct("Main.Held", [[c]]),
}


@each("name", WAYS)
@each("outer", ["the cell", "what it holds", "that twice", "both"], within=registered)
def test_a_cycle_through_a_mutable_struct(name: str, outer: str) -> None:
    cell = Cell()
    cell.v = WAYS[name](cell)
    value = {
        "the cell": cell,
        "what it holds": cell.v,
        "that twice": [cell.v, cell.v],
        "both": [cell.v, cell],
    }[outer]
    data = julia.dumps({"value": value})
    found = julia.loads(data)["value"]
    same(julia.loads(julia.dumps({"value": found}))["value"], found)
    with julia.open(data) as doc:
        first = doc["value"].load() if isinstance(doc["value"], holdall.Document) else doc["value"]
        assert type(first) is type(found)
    if outer == "the cell":
        inside = found.v
        assert type(inside) is type(back(WAYS[name](1)))


def test_mappings_that_hold_themselves_and_can_be_no_dicts() -> None:
    table = Pairs([([1], 2)])
    table.append(([3], table))
    found = back(table)
    assert type(found) is Pairs and found[0] == ([1], 2) and found[1][1] is found
    key: Any = IdDict()
    key = Pairs(type=T("IdDict{Any,Any}"))
    key.append((key, 1))
    found = back(key)
    assert type(found) is Pairs and found[0][0] is found and found.type == T("IdDict{Any,Any}")
    # Several of them, each in the other.
    one, other = Pairs(type=T("IdDict{Any,Any}")), Pairs(type=T("Dict{Any,Any}"))
    one.append((other, one))
    other.append((one, other))
    found = back([one, other, one])
    assert found[0] is found[2] is found[0][0][1] is found[1][0][0] and found[1] is found[0][0][0]
    record = JuliaStruct("Main.Other", [None])
    record[0] = Pairs([(record, 1)], type=T("Dict{Any,Any}"))
    found = back(record)
    assert found[0][0][0] is found


def test_a_key_that_turns_out_to_be_none() -> None:
    """Keys that may hash what isn't there yet are set at the end."""
    record = JuliaStruct("Main.Other", [None])
    record[0] = Pairs([(Some(record), 1)], type=T("Dict{Any,Any}"))
    found = back(record)
    assert type(found[0]) is Pairs and found[0][0][0].value is found
    # Equal ones, too.
    cell = Cell()
    cell.v = Pairs([(Some(cell), 1), (Some(cell), 2)], type=T("Dict{Any,Any}"))
    found = back(cell)
    assert [value for _, value in found.v] == [1, 2] and found.v[0][0].value is found


def test_by_a_type_it_is_refused() -> None:
    table = Pairs([([1], 2)])
    table.append(([3], table))
    with pytest.raises(holdall.DecodeError):
        julia.loads(julia.dumps({"value": table}), type=dict[str, dict[Any, Any]])


# --- keys of text ---


def test_keys_that_are_more_than_text_keep_their_type() -> None:
    part = SubString("hello", 1, 3)
    for key, of in [(Char("x"), "Dict{Char,Int64}"), (part, "Dict{SubString{String},Int64}")]:
        found = back({key: 1})
        assert type(found) is Dict and found.type == T(of)
        assert type(next(iter(found))) is type(key) and found == {str(key): 1}
        assert julia.dumps({"value": found}) == julia.dumps({"value": {key: 1}})
    found = back({Char("x"): 1, "y": 2})
    assert list(map(type, found)) == [Char, str] and found.type == T("Dict{Any,Int64}")
    assert next(iter(back({part: [part]}))).string == "hello"
    # Names, which a document has.
    assert type(back({Symbol("x"): 1})) is dict

    class Text(str):
        __slots__ = ()

    assert type(back({Text("x"): 1, "y": 2})) is dict


def test_the_outermost_dict_has_names() -> None:
    for key in (Char("x"), SubString("x", 0, 1)):
        with pytest.raises(holdall.EncodeError, match="the outermost value must be a dict of names"):
            julia.dumps({key: 1})


def test_by_a_type_too() -> None:
    one = {1, 2}
    data = julia.dumps({"value": [one, one, {1, 2}]})
    found = julia.loads(data, type=dict[str, list[set[int]]])["value"]
    assert found == [one] * 3 and found[0] is found[1] and found[0] is not found[2] and type(found[0]) is set
    for key in (Char("x"), SubString("x", 0, 1)):
        assert julia.loads(julia.dumps({"value": {key: 1}}), type=dict[str, dict[str, int]]) == {
            "value": {"x": 1}
        }
    with pytest.raises(holdall.ValidationError):
        julia.loads(julia.dumps({"value": {Char("x"): 1}}), type=dict[str, dict[int, int]])
