"""The tester tested: pairs that must be found different, and pairs that must not."""

from __future__ import annotations

import array
import collections
import copy
import datetime
import decimal
import struct
import types

import pytest

from tests.support import models
from tests.support.each import each
from tests.support.isomorphic import Difference, isomorphic


def _text(value: str) -> str:
    """A new string object, as a decoder makes it."""
    return "".join(list(value))


def _shared_list() -> list[object]:
    inner = [1]
    return [inner, inner]


def _cycle(length: int) -> list[object]:
    first: list[object] = []
    node = first
    for _ in range(length - 1):
        node = [node]
    first.append(node)
    return first


def _nan(payload: int) -> float:
    return struct.unpack("d", struct.pack("Q", 0x7FF8_0000_0000_0000 | payload))[0]


def _slotted(**fields: object) -> object:
    node = models.PlainSlots.__new__(models.PlainSlots)
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _plain(**fields: object) -> object:
    node = models.PlainDict.__new__(models.PlainDict)
    vars(node).update(fields)
    return node


def _raised(error: Exception, cause: Exception | None = None, *notes: str) -> Exception:
    error.__cause__ = cause
    if notes:
        error.__notes__ = list(notes)
    return error


def _factory(factory: object) -> object:
    return collections.defaultdict(factory, {1: 2})  # type: ignore[call-overload]


def _set_of_nodes(*values: object, shared: bool = False) -> object:
    nodes = [_plain(value=value) for value in values]
    return [nodes[0] if shared else nodes[-1], set(nodes)]


def _graph_set(edge: tuple[int, int]) -> object:
    """Three look-alike nodes in a set; only the edge between two of them differs."""
    nodes = [_plain(n=[]) for _ in range(3)]
    nodes[edge[0]].n.append(nodes[edge[1]])  # type: ignore[attr-defined]
    return set(nodes)


def _subclass(base_value: object, **fields: object) -> object:
    found = {dict: models.MyDict, list: models.MyList, str: models.MyStr, int: models.MyInt}[
        type(base_value)
    ](base_value)
    vars(found).update(fields)
    return found


A, B = _text("shared text"), _text("shared text")

DIFFERENT = {
    "true for 1": (True, 1),
    "1.0 for 1": (1.0, 1),
    "none for false": (None, False),
    "minus zero": (-0.0, 0.0),
    "minus zero in complex": (complex(0, -0.0), complex(0, 0.0)),
    "nan payload": (_nan(1), _nan(2)),
    "list for tuple": ([1], (1,)),
    "set for frozenset": ({1}, frozenset({1})),
    "bytes for bytearray": (b"ab", bytearray(b"ab")),
    "subclass for base": (models.MyInt(3), 3),
    "longer list": ([1], [1, 2]),
    "shared became two": (_shared_list(), [[1], [1]]),
    "two became shared": ([[1], [1]], _shared_list()),
    "shared string became two": ([A, A], [A, B]),
    "two strings became one": ([A, B], [A, A]),
    "shared bytes became two": ([(x := b"xy"), x], [bytes([120, 121]), bytes([120, 121])]),
    "shared tuple became two": ([(t := ([],)), t], [(s := [],), (s,)]),
    "key became two": ([{A: 1}, {A: 2}], [{A: 1}, {B: 2}]),
    "key and value became two": ([{A: A}], [{A: B}]),
    "value joined a key": ([{A: 1}, B], [{A: 1}, A]),
    "cycle length": (_cycle(2), _cycle(3)),
    "cycle unrolled": (_cycle(1), [_cycle(1)]),
    "dict order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "dict key type": ({1: 0}, {True: 0}),
    "ordered dict order": (
        collections.OrderedDict([("a", 1), ("b", 2)]),
        collections.OrderedDict([("b", 2), ("a", 1)]),
    ),
    "deque maxlen": (collections.deque([1], 3), collections.deque([1])),
    "default factory": (_factory(int), _factory(list)),
    "no default factory": (_factory(int), _factory(None)),
    "array typecode": (array.array("i", [1]), array.array("l", [1])),
    "attribute value": (_plain(a=1), _plain(a=2)),
    "attribute name": (_plain(a=1), _plain(b=1)),
    "attribute order": (_plain(a=1, b=2), _plain(b=2, a=1)),
    "slot unset": (_slotted(left=1), _slotted(left=1, right=None)),
    "slot value": (_slotted(left=1), _slotted(left=True)),
    "other class": (_plain(), models.Empty()),
    "dict subclass's attribute": (_subclass({"a": 1}, x=1), _subclass({"a": 1}, x=2)),
    "dict subclass's contents": (_subclass({"a": 1}, x=1), _subclass({"a": 2}, x=1)),
    "str subclass's contents": (_subclass("a", x=1), _subclass("b", x=1)),
    "int subclass's contents": (_subclass(1, x=1), _subclass(2, x=1)),
    "set member": ({1, 2}, {1, 3}),
    "set member type": ({1}, {1.0}),
    "set member shared outside": (_set_of_nodes(1, 2), _set_of_nodes(1, 2, shared=True)),
    "set of look-alikes": (_graph_set((0, 1)), _graph_set((0, 0))),
    "set of nan": ({_nan(1), _nan(2)}, {_nan(1), _nan(1)}),
    "fold": (datetime.datetime(2020, 1, 1, fold=1), datetime.datetime(2020, 1, 1)),
    "time zone": (datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), datetime.datetime(2020, 1, 1)),
    "time zone name": (
        datetime.timezone(datetime.timedelta(hours=1), "A"),
        datetime.timezone(datetime.timedelta(hours=1)),
    ),
    "decimal exponent": (decimal.Decimal("1.0"), decimal.Decimal("1")),
    "decimal minus zero": (decimal.Decimal("-0"), decimal.Decimal("0")),
    "enum member": (models.Color.RED, models.Color.GREEN),
    "int enum for int": (models.Level.LOW, 1),
    "exception args": (ValueError(1), ValueError(2)),
    "exception cause": (_raised(ValueError(1), KeyError(2)), ValueError(1)),
    "exception suppression": (_raised(ValueError(1), None), ValueError(1)),
    "exception notes": (_raised(ValueError(1), None, "a"), _raised(ValueError(1), None, "b")),
    "os error": (OSError(2, "no", "a"), OSError(2, "no", "b")),
    "slice": (slice(1, 2), slice(1, 3)),
    "range": (range(0, 4, 2), range(0, 3, 2)),
    "mapping behind the proxy": (
        (lambda d: [d, types.MappingProxyType(d)])({"a": 1}),
        [{"a": 1}, types.MappingProxyType({"a": 1})],
    ),
    "other function": (len, max),
    "bound to another": ((lambda x: [x, x.append])([]), [[], [].append]),
}


@each("name", DIFFERENT)
def test_finds_the_difference(name: str) -> None:
    a, b = DIFFERENT[name]
    with pytest.raises(Difference):
        isomorphic(a, b)
    with pytest.raises(Difference):
        isomorphic([0, {"k": a}], [0, {"k": b}])


@each("name", DIFFERENT)
def test_equal_to_itself(name: str) -> None:
    for value in DIFFERENT[name]:
        isomorphic(value, value)


EQUAL = {
    "one-character strings": ([_text("a"), "a"], ["a", "a"]),
    "empty tuples": ([(), ()], [(), ()]),
    "scalars shared or not": ([1000, 1000, 0.5], [int("1000"), int("1000"), float("0.5")]),
    "keys merged": ([{A: 1}, {B: 1}], [{A: 1}, {A: 1}]),
    "sets of look-alikes": (_graph_set((0, 1)), _graph_set((2, 0))),
    "set order": ({8, 0, 16}, {16, 8, 0}),
    "sets in sets": ({frozenset({1, 2}), frozenset({3})}, {frozenset({3}), frozenset({2, 1})}),
    "set shared outside": (_set_of_nodes(1, 2), _set_of_nodes(1, 2)),
    "nan with its payload": ({_nan(5): 1}, {_nan(5): 1}),
    "lone surrogates": ("a\ud800b", "a\ud800" + "b"),
}


@pytest.mark.parametrize("name", EQUAL)
def test_takes_equals_for_equal(name: str) -> None:
    isomorphic(*EQUAL[name])


@pytest.mark.parametrize("name", ["two strings became one", "value joined a key"])
def test_interned_strings_may_become_one(name: str) -> None:
    isomorphic(*DIFFERENT[name], interned=True)
    with pytest.raises(Difference):
        isomorphic(*reversed(DIFFERENT[name]), interned=True)


def test_attributes_in_any_order() -> None:
    isomorphic(*DIFFERENT["attribute order"], ordered=False)
    for name in ("attribute value", "attribute name", "slot unset", "dict order"):
        with pytest.raises(Difference):
            isomorphic(*DIFFERENT[name], ordered=False)


def test_trees_compare_without_identity() -> None:
    isomorphic(_shared_list(), [[1], [1]], identity=False)
    with pytest.raises(Difference):
        isomorphic([[1], [1]], [[1], [2]], identity=False)


def test_tells_the_path() -> None:
    a = {"users": [models.DPoint(1, 2), models.DPoint(3, 4)]}
    b = copy.deepcopy(a)
    b["users"][1].y = 5
    with pytest.raises(Difference, match=r"^at \$\['users'\]\[1\]\.y: value 4 became 5$"):
        isomorphic(a, b)


def test_deeper_than_any_stack() -> None:
    def nested(last: object) -> object:
        for _ in range(50_000):
            last = [last]
        return last

    isomorphic(nested(1), nested(1))
    with pytest.raises(Difference, match=r"steps.*value 1 became 2"):
        isomorphic(nested(1), nested(2))


def test_refuses_what_it_cannot_take_apart() -> None:
    with pytest.raises(TypeError, match="can't take a zip apart"):
        isomorphic(zip(), zip())
