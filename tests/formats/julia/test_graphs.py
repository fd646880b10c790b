"""Julia's graphs: what is one object stays one, cycles of any kind, depth of any kind, and what dumps refuses."""

from __future__ import annotations

import datetime
import gc
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall import bson, julia
from tests.support.each import each
from tests.support.extent import examples
from tests.support.julia_messages import backref, message, tuple_of

np = pytest.importorskip("numpy")

# Far beyond the recursion limit.
DEEP = 50_000


@julia.struct("Main.Graphs.Node", mutable=True)
@dataclass(slots=True, eq=False)
class Node:
    name: Any
    next: Any = None


@julia.struct("Main.Graphs.Open")
@dataclass(eq=False)
class Open:
    a: Any
    b: Any = None


@julia.struct("Main.Graphs.Key", mutable=True)
class Key:
    """A key by its identity."""

    __slots__ = ("value",)
    value: Any


def there_and_back(value: Any) -> Any:
    found = julia.loads(julia.dumps({"value": value}))
    assert list(found) == ["value"]
    return found["value"]


# --- sharing ---
def array_of(item: Any) -> Any:
    made = np.empty((1, 1), object)
    made[0, 0] = item
    return made


SHARED = {
    "list": lambda: [1.5],
    "empty list": list,
    "dict": lambda: {"a": 1},
    "empty dict": dict,
    "tuple": lambda: (1, [2]),
    "Dict": lambda: {1: "one"},
    "IdDict": lambda: julia.IdDict({"a": 1}),
    "Pairs": lambda: julia.Pairs([([1], 2)]),
    "Set": lambda: {1, 2},
    "record": lambda: julia.JuliaStruct("Main.Foo", [1]),
    "instance": lambda: Node(1),
    "open instance": lambda: Open(1),
    "array": lambda: np.arange(3),
    "matrix": lambda: np.zeros((2, 2), "f4"),
    "array of objects": lambda: array_of("x"),
    "bits": lambda: julia.BitArray(np.array([True, False])),
    "Ref": lambda: julia.Ref(5),
    "Expr": lambda: julia.JuliaStruct("Expr", [julia.Symbol("call"), []]),
    "TypeVar": lambda: julia.TypeVar("T"),
    "named tuple": lambda: julia.NamedTuple.of(a=[1]),
}


@each("make", SHARED.values(), ids=SHARED)
def test_what_is_one_object_stays_one(make: Any) -> None:
    one, other = make(), make()
    found = julia.loads(julia.dumps({"a": one, "b": [one, other, one], "c": {"d": one, "e": other}}))
    assert found["a"] is found["b"][0] is found["b"][2] is found["c"]["d"]
    assert found["b"][1] is found["c"]["e"] and found["b"][1] is not found["a"]
    assert type(found["a"]) is type(found["b"][1])


VALUES = [
    1, 1.5, "text", None, True, 1.5 + 2j, datetime.date(2024, 1, 1), julia.Symbol("a"), julia.missing, julia.Int8(5),
    julia.Float32(0.1), julia.Int128(2**70), range(5), julia.Type.parse("Tuple{Int}"), julia.Module(("Main",)), julia.Period(3, "Day"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_written_wherever_they_are_met(value: Any) -> None:
    data = julia.dumps({"a": value, "b": [value, value]})
    assert "_backrefs" not in bson.loads(data)
    found = julia.loads(data)
    assert found == {"a": value, "b": [value, value]} and type(found["a"]) is type(value)


def test_what_stands_apart_counts_from_one_in_the_order_of_meeting() -> None:
    one, other = [1.5], {"k": 2.5}
    whole = bson.loads(julia.dumps({"a": [one, other, one], "b": (other, one)}))
    first, second = backref(1), backref(2)
    assert whole == {
        "a": [first, second, first],
        "b": tuple_of(second, first),
        "_backrefs": [[1.5], {"k": 2.5}],
    }


def test_references_among_what_stands_apart() -> None:
    x = [1.5]
    y = [x, x]
    z = [y, x]
    found = there_and_back([z, y, z])
    z, y = found[0], found[1]
    assert z[0] is y and y[0] is y[1] is z[1] and found[2] is z and y[0] == [1.5]


def test_the_root_may_be_referred_to() -> None:
    root: dict[str, Any] = {"a": [1.5]}
    root["self"] = root
    root["b"] = [root, root["a"]]
    found = julia.loads(julia.dumps(root))
    inner = found["self"]
    assert inner["self"] is inner and inner["b"][0] is inner and inner["b"][1] is inner["a"] == [1.5]


# --- cycles ---
def ring_of_list() -> Any:
    ring: list[Any] = []
    ring.append(ring)
    return ring, lambda found: found[0]


def ring_of_items() -> Any:
    ring: list[Any] = [1.5, "a"]
    ring += [ring, None]
    return ring, lambda found: found[2]


def ring_of_lists() -> Any:
    ring: list[Any] = [[[]]]
    ring[0][0].append(ring)
    return ring, lambda found: found[0][0][0]


def ring_of_dict() -> Any:
    ring: dict[str, Any] = {"a": 1}
    ring["self"] = ring
    return ring, lambda found: found["self"]


def ring_of_table() -> Any:
    ring: dict[Any, Any] = {1: "one"}
    ring[2] = ring
    return ring, lambda found: found[2]


def ring_of_id_dict() -> Any:
    ring = julia.IdDict()
    ring["x"] = ring
    return ring, lambda found: found["x"]


def ring_of_key() -> Any:
    ring = Key()
    ring.value = {ring: 1}
    return ring, lambda found: next(iter(found.value))


def ring_of_member() -> Any:
    ring = Key()
    ring.value = {ring}
    return ring, lambda found: next(iter(found.value))


def ring_of_record() -> Any:
    ring = julia.JuliaStruct("Main.Foo", [1, None])
    ring[1] = ring
    return ring, lambda found: found[1]


def ring_of_instance() -> Any:
    ring = Node("a")
    ring.next = Node("b", ring)
    return ring, lambda found: found.next.next


def ring_of_open_instance() -> Any:
    ring = Open("a")
    ring.b = [ring]
    return ring, lambda found: found.b[0]


def ring_of_ref() -> Any:
    ring = julia.Ref(None)
    ring.x = ring
    return ring, lambda found: found.x


def ring_of_array() -> Any:
    ring = np.empty((2, 1), object)
    ring[0, 0], ring[1, 0] = ring, 5
    return ring, lambda found: found[0, 0]


def ring_through_tuple() -> Any:
    ring: list[Any] = []
    ring.append((1, (ring,)))
    return ring, lambda found: found[0][1][0]


def ring_through_named_tuple() -> Any:
    ring: list[Any] = []
    ring.append(julia.NamedTuple.of(a=ring))
    return ring, lambda found: found[0].a


def ring_through_boxes() -> Any:
    ring: list[Any] = []
    ring.append(julia.Some(julia.Pair(ring, 1)))
    return ring, lambda found: found[0].value.first


def ring_through_simple_vector() -> Any:
    ring: list[Any] = []
    ring.append(julia.SimpleVector((ring,)))
    return ring, lambda found: found[0][0]


def ring_through_record() -> Any:
    ring: dict[str, Any] = {}
    ring["a"] = julia.JuliaStruct("Main.Foo", [ring])
    return ring, lambda found: found["a"][0]


RINGS = {
    name.removeprefix("ring_").replace("_", " "): make
    for name, make in list(globals().items())
    if name.startswith("ring_")
}


@each("make", RINGS.values(), ids=RINGS)
def test_cycles(make: Any) -> None:
    ring, again = make()
    assert again(ring) is ring
    for found in (
        there_and_back(ring),
        there_and_back([ring])[0],
        there_and_back(there_and_back(ring)),
        julia.open(julia.dumps({"a": [(ring,)]})).load()["a"][0][0],
    ):
        assert type(found) is type(ring) or type(ring) is dict
        assert again(found) is found
    # The plain ones are found by BSON's own reader, too: nothing but names and references.
    assert bson.loads(julia.dumps({"a": ring}))["_backrefs"]


def test_a_cycle_that_begins_like_another_dict() -> None:
    """The keys of the last dict that began alike are expected again: here they don't come."""
    ring: dict[str, Any] = {"b": 1}
    ring["self"] = ring
    for other in ({"b": 1, "c": 2}, {"b": 1, "c": [2], "d": 3}, {"b": 2}):
        assert julia.loads(julia.dumps(other)) == other
        found = there_and_back(ring)
        assert found["self"] is found and list(found) == ["b", "self"]


def test_a_cycle_through_tuples_that_are_met_first() -> None:
    ring: list[Any] = []
    outer = (ring, julia.NamedTuple.of(a=ring))
    ring.append(outer)
    found = there_and_back(outer)
    assert found[0] is found[1].a and found[0][0][0] is found[0]


# --- depth ---
DEEPENED = {
    "list": lambda inner: [inner],
    "dict": lambda inner: {"k": inner},
    "tuple": lambda inner: (inner,),
    "record": lambda inner: julia.JuliaStruct("Main.Foo", [1.5, inner]),
    "instance": lambda inner: Node(None, inner),
    "id dict": lambda inner: julia.IdDict({1: inner}),
}


@pytest.mark.parametrize("deepen", DEEPENED.values(), ids=DEEPENED)
def test_deep(deepen: Any) -> None:
    value: Any = None
    for _ in range(DEEP):
        value = deepen(value)
    data = julia.dumps({"value": value})
    found = julia.loads(data)
    assert julia.dumps(found) == data
    assert julia.dumps(julia.open(data).load()) == data and julia.open(data).get("value", 5) != 5
    del value, found
    gc.collect()


@pytest.mark.parametrize(
    "make", [Node, lambda name, next: julia.JuliaStruct("Main.Graphs.List", [name, next])]
)
def test_a_long_list_of_nodes_that_point_back(make: Any) -> None:
    """Each node is met twice, so that each stands apart."""
    nodes = [make(float(n), None) for n in range(DEEP // 4)]
    for node, before in zip(nodes[1:], nodes, strict=False):
        if isinstance(node, Node):
            node.next, before.name = before, [node]
        else:
            node[1], before[0] = before, [node]
    data = julia.dumps({"last": nodes[-1]})
    found = julia.loads(data)["last"]
    count = 1
    while (found := found.next if isinstance(found, Node) else found[1]) is not None:
        count += 1
    assert count == len(nodes) and julia.dumps(julia.loads(data)) == data


@pytest.mark.parametrize(
    "through", [lambda inner: [inner], lambda inner: {"k": inner}, lambda inner: tuple_of(inner)]
)
def test_references_one_behind_the_other(through: Any) -> None:
    apart = [through(backref(n + 2)) for n in range(DEEP // 4)]
    found = julia.loads(message(backref(1), *apart, "end"))["value"]
    for _ in range(DEEP // 4):
        (found,) = found.values() if isinstance(found, dict) else found
    assert found == "end"


PATHS = {
    "tuple": lambda a, b: (a, b),
    "simple vector": lambda a, b: julia.SimpleVector((a, b)),
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"a": a, "b": b},
    "record": lambda a, b: julia.JuliaStruct("Main.Foo", [a, b]),
    "instance": lambda a, b: Node(a, b),
    "table": lambda a, b: {1: a, 2: b},
}


@pytest.mark.parametrize("pair", PATHS.values(), ids=PATHS)
def test_many_paths_are_few_bytes(pair: Any) -> None:
    """2**40 paths from the root to the leaf."""
    value: Any = pair(1.0, 2.0)
    for _ in range(40):
        value = pair(value, value)
    data = julia.dumps({"value": value})
    assert len(data) < 40_000
    found = julia.loads(data)["value"]
    for _ in range(40):
        a, b = (
            (found.name, found.next)
            if isinstance(found, Node)
            else found.values()
            if isinstance(found, dict)
            else found
        )
        assert a is b
        found = a
    assert julia.dumps(julia.loads(data)) == data


@pytest.mark.parametrize(
    "box",
    [
        julia.Ref,
        julia.Some,
        lambda inner: julia.Pair(inner, inner),
        lambda inner: julia.NamedTuple.of(a=inner, b=inner),
    ],
)
def test_types_of_boxes_in_boxes_have_a_bound(box: Any) -> None:
    value: Any = 1.5
    for _ in range(14):
        value = box(value)
    data = julia.dumps({"value": value})
    assert len(data) < 2_000_000
    assert julia.loads(data)["value"] == value


def test_types_in_types() -> None:
    def nested(depth: int) -> Any:
        made = julia.Type.parse("Int64")
        for _ in range(depth):
            made = julia.Type(("Main", "W"), (made,))
        return made

    for value in (nested(30), julia.JuliaStruct(nested(60), [1])):
        assert there_and_back(value) == value
    with pytest.raises(holdall.EncodeError, match="nested deeper than 64"):
        julia.dumps({"value": julia.JuliaStruct(nested(70), [])})


# --- any graph ---


@st.composite
def graphs(draw: st.DrawFn) -> list[Any]:
    """All nodes of a random graph: the first are made of those before them, the others are filled with any."""
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(-(2**127), 2**127 - 1), st.floats(allow_nan=False), st.text(max_size=5),
        st.dates(), st.builds(julia.Symbol, st.text("abc", max_size=2)), st.just(julia.missing), st.builds(julia.Int8, st.integers(-128, 127)),
        st.builds(julia.Char, st.characters(codec="utf-8")), st.builds(complex, st.floats(allow_nan=False), st.just(1.5)),
    )  # fmt: skip
    pool: list[Any] = draw(st.lists(leaves, min_size=1, max_size=5))
    kinds = st.sampled_from("list dict table record node open ref tuple named array objects".split())
    unfilled = []
    for kind, numbers in draw(
        st.lists(st.tuples(kinds, st.lists(st.integers(0, 30), max_size=4)), max_size=10)
    ):
        known = [pool[number % len(pool)] for number in numbers]
        if kind == "tuple":
            pool.append(tuple(known))
        elif kind == "named":
            # One without items is made once.
            known = known or [None]
            pool.append(julia.NamedTuple(known, [f"n{at}" for at in range(len(known))]))
        elif kind == "array":
            pool.append(np.array(numbers, draw(st.sampled_from(["u1", "i8", "f4", "f8"]))).reshape(-1, 1))
        else:
            node: Any = {
                "list": list,
                "dict": dict,
                "table": dict,
                "open": lambda: Open(None),
                "node": lambda: Node(None),
            }.get(kind, lambda: None)()
            if kind == "record":
                node = julia.JuliaStruct("Main.Graphs.Any", [])
            elif kind == "ref":
                node = julia.Ref(None)
            elif kind == "objects":
                node = np.empty((max(1, len(numbers)), 1), object)
            unfilled.append((kind, node, numbers))
            pool.append(node)
    for kind, node, numbers in unfilled:
        children = [pool[number % len(pool)] for number in numbers]
        if kind == "list":
            node.extend(children)
        elif kind == "dict":
            node.update((f"k{at}", child) for at, child in enumerate(children))
        elif kind == "table":
            node.update(enumerate(children))
            node[-1] = None  # an empty one is a document
        elif kind == "record":
            node.values.extend(children)
        elif kind in ("node", "open"):
            first, second = [*children, None, None][:2]
            if kind == "node":
                node.name, node.next = first, second
            else:
                node.a, node.b = first, second
        elif kind == "ref":
            node.x = children[0] if children else None
        else:
            for at, child in enumerate(children):
                node[at, 0] = child
    return pool


def same_graph(a: Any, b: Any) -> None:
    """Type, value, order and identity of all that has one."""
    ours: dict[int, Any] = {}
    theirs: dict[int, Any] = {}
    todo = [(a, b)]
    held = []
    while todo:
        a, b = todo.pop()
        cls = type(a)
        if cls is int and not -(1 << 63) <= a < 1 << 63:
            assert type(b) is julia.Int128 and a == b
            continue
        if cls is dict and not all(type(key) is str for key in a):
            assert type(b) is julia.Dict
        else:
            assert cls is type(b)
        children = parts(a)
        if children is None:
            assert a == b or (a != a and b != b)
            continue
        if not (cls is julia.NamedTuple or (cls is tuple and not a)):
            assert ours.setdefault(id(a), b) is b and theirs.setdefault(id(b), a) is a, (
                f"another {cls.__name__}"
            )
            if len(ours) > len(held):
                held.append((a, b))
            else:
                continue
        others = parts(b)
        assert children[0] == others[0] and len(children) == len(others)
        todo += zip(children[1:], others[1:], strict=True)


def parts(obj: Any) -> list[Any] | None:
    """What an object says of itself, then what it holds."""
    match obj:
        case dict():
            return [list(obj), *obj.values()]
        case julia.NamedTuple():
            return [obj.names, *obj]
        case list() | tuple():
            return [len(obj), *obj]
        case julia.JuliaStruct():
            return [obj.type, *obj.values]
        case Node():
            return [None, obj.name, obj.next]
        case Open():
            return [None, obj.a, obj.b]
        case julia.Ref():
            return [None, obj.x]
        case np.ndarray() if obj.dtype == object:
            return [obj.shape, *obj.ravel().tolist()]
        case np.ndarray():
            return [(obj.dtype.str, obj.shape, obj.tobytes())]
    return None


@given(graphs())
def test_any_graph(pool: list[Any]) -> None:
    data = julia.dumps({"all": pool, "last": pool[-1]})
    found = julia.loads(data)
    same_graph({"all": pool, "last": pool[-1]}, found)
    assert julia.dumps(found) == data
    doc = julia.open(data)
    same_graph(pool, doc["all"].load() if isinstance(doc["all"], bson.Document) else doc["all"])


@examples(50)
@given(graphs(), st.data())
def test_any_graph_cut_off(pool: list[Any], draw: st.DataObject) -> None:
    data = julia.dumps({"all": pool})
    end = draw.draw(st.integers(0, len(data) - 1))
    with pytest.raises(holdall.DecodeError):
        julia.loads(data[:end])
