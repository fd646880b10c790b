"""What was one object comes back as one, what was two as two, and cycles close again."""

from __future__ import annotations

import collections
import json
import types
from typing import Any, Callable

import pytest

import holdall
from tests.support import models
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, TYPES, Kind, build, text, with_fields

Way = Callable[[object], Any]


SHARED: dict[str, Callable[[], Any]] = {
    "str": lambda: text("some text"),
    "str of 2": lambda: text("ab"),
    "str beyond latin-1": lambda: text("語"),
    "bytes": lambda: bytes([1, 2, 3]),
    "bytearray": lambda: bytearray(b"x"),
    "tuple": lambda: (text("in a tuple"), 1),
    "tuple of ints": lambda: tuple(range(300, 320)),
    "frozenset": lambda: frozenset({text("ab"), 1}),
    "list": list,
    "packed list": lambda: list(range(50)),
    "dict": dict,
    "shaped dict": lambda: {"a": 1, "b": 2},
    "set": lambda: set(),
    "instance": lambda: models.DSlots(1),
    "range": lambda: range(5),
    "slice": lambda: slice(1, 2),
    "int subclass": lambda: models.MyInt(5),
    "object": lambda: build(models.Empty),
}


@each("name", SHARED)
def test_one_stays_one_and_two_stay_two(way: Way, name: str) -> None:
    one, two = SHARED[name](), SHARED[name]()
    graph = [one, two, one, (one, two), {"k": one, "l": two}, [two, one]]
    isomorphic(graph, way(graph))


@each("name", SHARED)
def test_far_apart(way: Way, name: str) -> None:
    one = SHARED[name]()
    graph = [one, [SHARED[name]() for _ in range(300)], [[[one]]], models.DPoint(one, models.DSlots(one))]
    isomorphic(graph, way(graph))


@each("name", SHARED)
def test_in_dicts_and_fields(way: Way, name: str) -> None:
    """Between values that need nothing: what holds them is filled without a frame as long as it can be."""
    one, two = SHARED[name](), SHARED[name]()
    by_number = {at: (one, two, at, [at])[at % 4] for at in range(40)}
    ends = {0: {1: one, 2: two}, 1: {0: one}, 2: {0: two, 2: by_number}}
    graph = [
        by_number,
        ends,
        models.DPoint(one, two),
        models.DPoint(2, one),
        {"a": two, "b": ends},
        [3, one, two],
    ]
    isomorphic(graph, way(graph))


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_twice(way: Way, kind: Kind) -> None:
    obj = kind.make()
    graph = {"first": obj, "second": [obj], "other": kind.make()}
    isomorphic(graph, way(graph))


def test_strings_met_as_key_and_as_value(way: Way) -> None:
    word = text("both key and value")
    graph = [{word: 1}, word, {word: word}, {"other": word}, {word: 2, "more": 3}]
    isomorphic(graph, way(graph))


def test_tuple_key_shared_with_a_value(way: Way) -> None:
    key = (text("part"), 1)
    graph = [{key: 1}, key, {key: 2}, {key}, key[0]]
    isomorphic(graph, way(graph))


def test_held_by_others_but_met_once(way: Way) -> None:
    """A reference from outside makes an object look shared; that must not show in the result."""
    inner = [text("held"), (1, text("also held"))]
    holders = [inner, inner[0], inner[1]]
    graph = {"a": inner}
    isomorphic(graph, way(graph))
    assert len(holders) == 3


def test_more_objects_than_one_byte_counts(way: Way) -> None:
    words = [text(f"word number {i}") for i in range(70_000)]
    graph = [words, words[::-1], [(word,) for word in words[::7]]]
    isomorphic(graph, way(graph))


def test_diamonds(way: Way) -> None:
    """Doubling by sharing: 2**100 leaves as a tree, 100 objects as a graph."""
    node: Any = []
    for _ in range(100):
        node = [node, node]
    isomorphic(node, way(node))
    pair: Any = ()
    for _ in range(100):
        pair = (pair, pair, 1)
    isomorphic(pair, way(pair))


# --- cycles ----------------------------------------------------------------------------------------------------------
def _list() -> Any:
    found: list[Any] = []
    found.append(found)
    return found


def _dict_value() -> Any:
    found: dict[Any, Any] = {}
    found["me"] = found
    return found


def _dict_key_attribute() -> Any:
    key = build(models.PlainDict)
    table = {key: 1}
    key.table = table
    return table


def _key_in_tuple() -> Any:
    node = build(models.PlainDict)
    node.table = {(1, node): "x", node: "y"}
    return node


def _set_member() -> Any:
    node = build(models.PlainDict)
    members = {node}
    node.members = members
    return members


def _frozenset_member() -> Any:
    node = build(models.PlainDict)
    node.members = frozenset({node, 1})
    return node


def _tuple_in_list() -> Any:
    found: list[Any] = []
    found.append((found, 1))
    return found


def _tuple_first() -> Any:
    inner: list[Any] = []
    outer = (inner, "outer")
    inner.append(outer)
    return outer


def _nested_tuples() -> Any:
    inner: dict[Any, Any] = {}
    outer = ((inner, 1), (inner, 2))
    inner["outer"], inner["half"] = outer, outer[0]
    return outer


def _instance() -> Any:
    node = build(models.PlainDict)
    node.me = node
    return node


def _slotted() -> Any:
    left, right = build(models.PlainSlots), build(models.PlainSlots)
    left.right, right.left, left.value = right, left, [left, right]
    return left


def _frozen() -> Any:
    links: list[Any] = []
    node = models.DFrozen(links, 1)
    links.append(node)
    return node


def _frozen_slots() -> Any:
    links: list[Any] = []
    node = models.DFrozenSlots(links, 1)
    links.append(node)
    return [node, links]


def _deque() -> Any:
    found: Any = collections.deque(maxlen=3)
    found.append([found])
    return found


def _defaultdict() -> Any:
    found: Any = collections.defaultdict(list)
    found["x"].append(found)
    return found


def _ordered_dict() -> Any:
    found: Any = collections.OrderedDict(a=1)
    found["me"] = found
    return found


def _named_tuple() -> Any:
    inner: list[Any] = []
    found = models.NPoint(inner, 1)
    inner.append(found)
    return found


def _exception() -> Any:
    found = ValueError([])
    found.args[0].append(found)
    found.__cause__ = found.__context__ = KeyError(found)
    return found


def _namespace() -> Any:
    found = types.SimpleNamespace()
    found.me = found
    return found


def _proxy() -> Any:
    table: dict[str, Any] = {}
    table["proxy"] = types.MappingProxyType(table)
    return table


def _slice() -> Any:
    found: list[Any] = []
    found.append(slice(found, None, found))
    return found


def _dict_subclass() -> Any:
    found: Any = models.MyDict()
    found["me"] = found
    found.me = found
    return found


def _tuple_subclass() -> Any:
    found: Any = models.MyTuple(([], 1))
    found[0].append(found)
    found.me = found
    return found


def _str_subclass() -> Any:
    return (found := with_fields(models.MyStr("text"), me=None), setattr(found, "me", found))[0]


def _set_subclass() -> Any:
    return (found := models.MySet(), setattr(found, "me", found), found.add(1))[0]


def _user_list() -> Any:
    found: Any = collections.UserList()
    found.append(found)
    return found


CYCLES = {
    name[1:]: make
    for name, make in list(globals().items())
    if name.startswith("_") and isinstance(make, types.FunctionType) and make.__module__ == __name__
}


@each("name", CYCLES)
def test_cycles(way: Way, name: str) -> None:
    obj = CYCLES[name]()
    isomorphic(obj, way(obj))
    isomorphic([obj, {"k": obj}, (obj,)], way([obj, {"k": obj}, (obj,)]))


@each("name", CYCLES)
def test_tree_mode_refuses_cycles(name: str) -> None:
    with pytest.raises(holdall.EncodeError, match="refs"):
        holdall.dumps(CYCLES[name](), refs=False)


def test_tree_mode_writes_shared_objects_twice() -> None:
    inner = [text("shared"), 1]
    data = holdall.dumps([inner, inner], refs=False)
    isomorphic([[text("shared"), 1], [text("shared"), 1]], holdall.loads(data))


def test_random_regular_graph(way: Way) -> None:
    nodes = [models.DNode(f"node {i}") for i in range(500)]
    for i, node in enumerate(nodes):
        node.links = [nodes[(i * step + 1) % 500] for step in (1, 7, 31, 113)]
    isomorphic(nodes, way(nodes))
    isomorphic(nodes[0], way(nodes[0]))


def test_interned_strings_are_written_once() -> None:
    rows = [{"name": text("repeated value"), "other": [text("repeated value")]} for _ in range(50)]
    plain, interned = holdall.dumps(rows), holdall.dumps(rows, intern=True)
    assert len(interned) < len(plain) - 50 * 2 * len("repeated value") + 500
    back = holdall.loads(interned)
    isomorphic(rows, back, interned=True)
    assert back[0]["name"] is back[49]["other"][0]
    isomorphic(rows, holdall.loads(plain))


@pytest.mark.parametrize("last", [False, True])
def test_keys_that_hash_by_an_attribute_in_a_cycle(way: Way, last: bool) -> None:
    """The key is met before its hash can be known. Either order may be refused, neither may go wrong."""
    key = models.ByValue.__new__(models.ByValue)
    table = {}
    if last:
        key.name, key.other = text("key"), table
    else:
        key.other, key.name = table, text("key")
    table[key] = 1
    try:
        back = way(key)
    except holdall.HoldallError:
        return
    isomorphic(key, back)
    assert back.other[models.ByValue("key")] == 1


def test_nothing_survives_from_one_message_to_the_next() -> None:
    word = text("the same object in two messages")
    encoder, decoder = holdall.Encoder(), holdall.Decoder(types=TYPES)
    first, second = encoder.encode([word, word]), encoder.encode([word, word])
    assert first == second
    assert decoder.decode(first)[0] is not decoder.decode(second)[0]


def test_key_lists_of_many_parsers():
    """What was parsed by itself has keys of its own. To compare each list with all before it would take minutes here."""
    data = [json.loads('{"a": {"id": 1, "name": "x"}, "b": {"id": 2, "name": "y"}}') for _ in range(60_000)]
    assert data[0]["a"].keys() == data[1]["a"].keys() and next(iter(data[0]["a"])) is not next(
        iter(data[1]["a"])
    )
    restored = holdall.loads(holdall.dumps(data))
    assert restored == data
    isomorphic(data[:200], holdall.loads(holdall.dumps(data[:200])))


def test_graphs_of_dicts_with_ints():
    """Dicts of ints whose values are shared: edges with no attributes, which both of their nodes hold."""
    for nodes in (2, 5, 6, 9, 40):
        table = {node: {} for node in range(nodes)}
        for node in range(nodes):
            for other in range(node):
                table[node][other] = table[other][node] = [{}, [], "of both", [node]][other % 4]
        again = holdall.loads(holdall.dumps(table))
        isomorphic(table, again)
        assert all(again[node][other] is again[other][node] for node in range(nodes) for other in range(node))


def test_dicts_that_begin_with_ints():
    for table in (
        {at: str(at) for at in range(1000)},
        {**dict.fromkeys(range(7)), "name": 1, None: 2, 2.5: 3, (1, 2): 4, b"x": 5, 1 << 70: 6},
        {at << 61: at for at in range(-30, 30)},
        dict.fromkeys([1, "a", "b", "c", "d", "e", "f"]),
    ):
        again = holdall.loads(holdall.dumps([table, table]))
        isomorphic([table, table], again)
        again[0]["more"] = 1
        assert list(again[0]) == [*table, "more"]
