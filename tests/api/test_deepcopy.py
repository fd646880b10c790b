"""`deepcopy` beside `copy.deepcopy`: hooks, memo, what is shared with the original, and user code that interferes.

That every kind of object comes out isomorphic is tested with the other ways there and back.
"""

from __future__ import annotations

import array
import collections
import copy
import copyreg
import datetime
import decimal
import fractions
import functools
import gc
import ipaddress
import pathlib
import random
import re
import sys
import threading
import types
import uuid
import weakref
from typing import Any, Callable

import pytest

import holdall
from tests.support import models
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, Kind, build, text

deepcopy = holdall.deepcopy


class OwnZone(datetime.tzinfo):
    def __init__(self, hours: int = 0) -> None:
        self.hours = hours

    def utcoffset(self, when: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(hours=self.hours)


class Hooked:
    """Copies its parts by the function that it is given, as most classes with a `__deepcopy__` do."""

    def __init__(self, *parts: Any, by: Callable[..., Any] = copy.deepcopy) -> None:
        self.parts = list(parts)
        self.by = by

    def __deepcopy__(self, memo: dict[int, Any]) -> Hooked:
        made = Hooked(by=self.by)
        memo[id(self)] = made
        made.parts = self.by(self.parts, memo)
        return made


class Calls:
    """Runs a function while it is being copied."""

    def __init__(self, action: Callable[[dict[int, Any]], Any]) -> None:
        self.action = action

    def __deepcopy__(self, memo: dict[int, Any]) -> Calls:
        self.action(memo)
        return Calls(self.action)


class Reduced:
    """All that `__reduce_ex__` can say."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.items: list[Any] = []
        self.pairs: dict[Any, Any] = {}

    def append(self, item: Any) -> None:
        self.items.append(item)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pairs[key] = value

    def __reduce_ex__(self, protocol: Any) -> Any:
        assert protocol == 4
        state = {name: value for name, value in vars(self).items() if name not in ("items", "pairs")}
        return Reduced, self.args, state, iter(self.items), iter(self.pairs.items())


# --- what is shared with the original --------------------------------------------------------------------------------
SHARED: list[Any] = [
    None, True, 10**30, 2.5, 1j, text("text"), bytes(range(9)), (), (1, text("x y"), (2.5, b"z")),
    frozenset({1, text("member")}), range(3), slice(1, 2), ..., NotImplemented, len, isomorphic, models.DPoint,
    models.Color.RED, models.Access.READ | models.Access.RUN, re.compile("a+"), decimal.Decimal("1.50"),
    fractions.Fraction(1, 3), uuid.UUID(int=7), pathlib.PurePosixPath("/a/b"), datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc), datetime.time(1, 2), datetime.timedelta(3),
    models.NPoint(1, text("named")), [].append,
]  # fmt: skip


@each("obj", SHARED, ids=lambda obj: type(obj).__name__)
def test_immutable_values_are_their_own_copies(obj: Any) -> None:
    assert deepcopy(obj) is obj
    assert deepcopy([obj, {"k": (obj, [])}])[1]["k"][0] is obj


CHANGED: list[Callable[[], Any]] = [
    lambda: (1, []),
    lambda: ((1, ([],)), 2),
    lambda: frozenset({build(models.PlainSlots)}),
    lambda: slice(None, [1]),
    lambda: models.NPoint(1, [2]),
    lambda: types.MappingProxyType({"a": []}),
    lambda: models.PlainDict([1]).__init__,
    lambda: datetime.datetime(2024, 1, 1, tzinfo=OwnZone(2)),
]


@pytest.mark.parametrize("make", CHANGED)
def test_immutable_containers_of_mutable_parts_are_made_anew(make: Callable[[], Any]) -> None:
    obj = make()
    back = deepcopy(obj)
    assert back is not obj and type(back) is type(obj)
    if not isinstance(obj, (types.MethodType, datetime.datetime)):
        isomorphic(obj, back)


def test_a_tuple_keeps_the_items_that_are_their_own_copies() -> None:
    word = text("kept word")
    obj = (word, (1, word), [word], word, {"k": 1}, word)
    back = deepcopy(obj)
    isomorphic(obj, back)
    assert back[1] is obj[1] and back[5] is word and back[2] is not obj[2]


def test_bound_methods_follow_their_instance() -> None:
    box = models.Box([1])
    method = models.Mangled(box).reveal
    back, back_box = deepcopy([method, method.__self__.open])
    assert back() is back_box is not box
    assert deepcopy(types.MethodType(len, 3)).__self__ == 3


# --- beside copy.deepcopy --------------------------------------------------------------------------------------------
BESIDE = [
    kind
    for kind in KINDS
    # copy loses attributes of these, or can't make them; `isomorphic` tests check what we do
    if kind.name
    not in {
        "mapping proxy",
        "my default dict",
        "my counter",
        "msgspec dict",
        "exception chain",
        "error with init",
        "numpy array cyclic",
    }
    and not kind.name.startswith("exception os")
]


@each("kind", BESIDE, ids=lambda kind: kind.name)
def test_the_same_graph_as_by_copy(kind: Kind) -> None:
    if kind.name == "ip address" and str(copy.copy(ipaddress.ip_address("fe80::1%a"))) == "fe80::1":
        return  # CPython's own copies lost the scope until 3.11.4
    obj = kind.make()
    isomorphic(copy.deepcopy([obj, obj]), deepcopy([obj, obj]))


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_the_source_and_its_counts_are_left_alone(kind: Kind) -> None:
    obj, other = kind.make(), kind.make()
    graph = [obj, {"k": obj}, (obj, [])]
    deepcopy(graph)
    gc.collect()
    before = sys.getrefcount(obj)
    for _ in range(20):
        deepcopy(graph)
        deepcopy(graph, {})
    gc.collect()
    assert sys.getrefcount(obj) <= before + 1
    if not kind.name.startswith("numpy"):
        isomorphic(other, obj)


def random_graph(seed: int) -> Any:
    """Containers that refer to each other at will."""
    rng = random.Random(seed)
    by_copy = bool(seed % 2)
    makers: list[Callable[[], Any]] = [
        list, dict, collections.deque, collections.OrderedDict, models.PlainDict, Reduced,
        lambda: build(models.PlainSlots), lambda: models.DNode("n"), lambda: models.MyList(), lambda: models.MyDict(),
        # copy makes a set twice that is met again on the way through its members
        *([lambda: Hooked()] if by_copy else [lambda: Hooked(by=deepcopy), set, set]),
    ]  # fmt: skip
    nodes = [rng.choice(makers)() for _ in range(40)]

    def value(depth: int = 2) -> Any:
        roll = rng.random()
        if roll < 0.6 or not depth:
            return rng.choice(nodes)
        if roll < 0.8:
            return tuple(value(depth - 1) for _ in range(rng.randrange(4)))
        return rng.choice([None, 1, text("a word"), 2.5])

    for node in nodes:
        for _ in range(rng.randrange(5)):
            if isinstance(node, (list, collections.deque)):
                node.append(value())
            elif isinstance(node, dict):
                node[rng.randrange(100)] = value()
            elif isinstance(node, set):
                node.add(
                    rng.choice([n for n in nodes if type(n).__hash__ and not isinstance(n, models.DNode)])
                )
            elif isinstance(node, models.PlainSlots):
                setattr(node, rng.choice(["left", "right", "value"]), value())
            elif isinstance(node, models.DNode):
                node.links = value()
            elif isinstance(node, Hooked):
                node.parts.append(value())
            elif isinstance(node, Reduced):
                node.append(value())
            else:
                setattr(node, rng.choice("abc"), value())
    return nodes[0], nodes


@each("seed", range(60))
def test_random_cyclic_graphs(seed: int) -> None:
    graph = random_graph(seed)
    isomorphic(graph, deepcopy(graph))
    isomorphic(graph, deepcopy(graph, {}))


# --- cycles through what is made of its parts ------------------------------------------------------------------------
def test_cycles_through_immutable_containers() -> None:
    node = build(models.PlainDict)
    node.a = (
        node,
        (node,),
        frozenset({node}),
        slice(node),
        node.__init__,
        types.MappingProxyType({"n": node}),
    )
    node.b = [node.a, *node.a]
    back = deepcopy(node)
    assert back.a[0] is back.a[1][0] is back.a[3].stop is back.a[4].__self__ is back.a[5]["n"] is back
    assert back.a[2] == {back}
    assert all(one is other for one, other in zip(back.b, [back.a, *back.a], strict=True))
    assert deepcopy(node.a)[0].a[1] is not node.a[1]


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_a_tuple_that_all_its_items_hold(count: int) -> None:
    items: tuple[list[Any], ...] = tuple([] for _ in range(count))
    for item in items:
        item.append(items)
    isomorphic(items, deepcopy(items))


def test_cycles_through_exceptions() -> None:
    error, cause = ValueError([]), KeyError("k")
    error.args[0].append(error)
    error.__cause__, cause.__context__ = cause, error
    error.own = {"self": error}  # type: ignore[attr-defined]
    back = deepcopy(error)
    assert back.args[0][0] is back and back.__cause__.__context__ is back and back.own["self"] is back


def test_an_object_made_of_nothing_but_itself() -> None:
    one = Reduced()
    one.args = (one,)
    with pytest.raises(holdall.HoldallError, match="made of its parts is one of them itself"):
        deepcopy(one)


def test_keys_that_hash_by_what_they_hold() -> None:
    """A key in a cycle is hashed once its fields are there."""
    key = models.ByValue(text("name"))
    key.other = {key: 1, (key, 2): "pair", "plain": {key}}
    back = deepcopy(key)
    assert back.other[back] == 1 and back.other[(back, 2)] == "pair" and next(iter(back.other)) is back
    assert list(back.other)[1][0] is back and back in back.other["plain"]


# --- hooks and the memo ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", [copy.deepcopy, deepcopy], ids=["copy", "holdall"])
def test_identity_across_the_border(by: Callable[..., Any]) -> None:
    """What was copied before a hook is known in it; what a hook has copied is known after it."""
    before, inside, pair = [text("before")], {"in": []}, (1, [2])
    hooked = Hooked(before, inside, pair, by=by)
    hooked.parts.append(hooked)
    graph = [before, hooked, inside, pair, inside["in"], hooked, Hooked(inside, hooked, by=by)]
    graph.append({"graph": graph, "again": Hooked(graph, by=by)})
    isomorphic(graph, deepcopy(graph))


@pytest.mark.parametrize("first", [True, False])
def test_values_that_copy_would_make_anew(first: bool) -> None:
    """What we share and `copy` does not is one object on both sides, whoever meets it first."""
    zone = datetime.timezone(datetime.timedelta(hours=1), "one")
    values = [
        zone, datetime.datetime(2024, 1, 1, tzinfo=zone), uuid.UUID(int=1), datetime.date(2024, 1, 2),
        pathlib.PurePosixPath("a"), frozenset({text("ab")}), slice(1, 2), models.NPoint(1, 2), (1, zone),
    ]  # fmt: skip
    ours = [{"v": list(values)}, {value: 1 for value in values if not isinstance(value, slice)}]
    theirs = Hooked(*values)
    graph = [ours, theirs] if first else [theirs, ours]
    isomorphic(graph, deepcopy(graph))


def test_a_hook_is_called_once_for_each_object() -> None:
    calls: list[Any] = []
    one = Calls(calls.append)
    back = deepcopy([one, (one,), {"k": one}])
    assert len(calls) == 1 and back[0] is back[1][0] is back[2]["k"] is not one


def test_a_hook_on_the_instance_and_by_getattr() -> None:
    plain = build(models.PlainDict, a=1, __deepcopy__=lambda memo: "by the instance")
    assert deepcopy([plain]) == ["by the instance"]

    class Answers:
        def __getattr__(self, name: str) -> Any:
            if name == "__deepcopy__":
                return lambda memo: "made up"
            raise AttributeError(name)

    assert deepcopy([Answers()]) == ["made up"]


def test_a_hook_may_leave_objects_as_they_are() -> None:
    class Keeps:
        def __deepcopy__(self, memo: Any) -> Any:
            return self

    one = Keeps()
    obj = (1, one)
    assert deepcopy(obj) is obj and deepcopy([one])[0] is one


def test_reduce_in_all_its_forms() -> None:
    one = Reduced([1], (2, [3]))
    one.items += [[4], one]
    one.pairs.update({(5,): one, "k": [one.args]})
    one.extra = one.args[0]  # type: ignore[attr-defined]
    back = deepcopy([one, one.args[0]])
    isomorphic([one, one.args[0]], back)
    assert back[0].items[1] is back[0]


def test_copyreg_and_the_table_of_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    class A:
        pass

    class B:
        pass

    monkeypatch.setitem(copyreg.dispatch_table, A, lambda obj: (Reduced, ([1],)))  # type: ignore[arg-type]
    monkeypatch.setitem(copy._deepcopy_dispatch, B, lambda obj, memo: (obj, memo))  # type: ignore[attr-defined]
    b = B()
    made, (same, memo) = deepcopy([A(), b])
    assert type(made) is Reduced and made.args == ([1],)
    assert same is b and type(memo) is dict


def test_global_by_name() -> None:
    class Global:
        def __reduce__(self) -> str:
            return "somewhere"

    one = Global()
    assert deepcopy([one])[0] is one


def test_partial_and_weak_references() -> None:
    target = models.PlainDict()
    reference = weakref.ref(target)
    back = deepcopy([functools.partial(Reduced, [1], k=[2]), reference])
    assert back[0].func is Reduced and back[0].args == ([1],) and back[0].keywords == {"k": [2]}
    assert back[1] is reference


@pytest.mark.parametrize(
    "obj", [threading.Lock(), sys, (i for i in ()), memoryview(b"x")], ids=lambda obj: type(obj).__name__
)
def test_what_cannot_be_copied_is_the_error_of_copy(obj: Any) -> None:
    with pytest.raises(TypeError) as ours:
        deepcopy([obj])
    with pytest.raises(TypeError) as theirs:
        copy.deepcopy([obj])
    assert str(ours.value) == str(theirs.value)


def test_the_callers_memo() -> None:
    inner, other, lock = [1], [2], threading.Lock()
    memo: dict[int, Any] = {id(lock): lock, id(inner): "instead"}
    obj = [inner, other, lock, (other,)]
    back = deepcopy(obj, memo)
    assert back[0] == "instead" and back[2] is lock
    assert memo[id(obj)] is back and memo[id(other)] is back[1] and memo[id(obj[3])] is back[3]
    kept = memo[id(memo)]
    assert any(one is obj for one in kept) and any(one is other for one in kept)
    # what one call has copied is known in the next
    assert deepcopy([other], memo=memo)[0] is back[1]
    assert copy.deepcopy([other], memo)[0] is back[1]


def test_the_memo_gets_what_copy_puts_there() -> None:
    obj = {"a": [1, (2, [3])], "n": models.DPoint([4])}
    ours: dict[int, Any] = {}
    theirs: dict[int, Any] = {}
    deepcopy(obj, ours)
    copy.deepcopy(obj, theirs)
    # copy puts an instance's `__dict__` there as well, as we do
    assert {key for key in theirs if key != id(theirs)} == {key for key in ours if key != id(ours)}


def test_a_memo_must_be_a_dict() -> None:
    with pytest.raises(TypeError):
        deepcopy([], [])  # type: ignore[call-overload]
    assert deepcopy([1], None) == [1]


# --- instances -------------------------------------------------------------------------------------------------------
def test_a_shared_dict_of_attributes_stays_shared() -> None:
    one, two = models.PlainDict(), models.PlainDict()
    two.__dict__ = one.__dict__
    holder = [one, two, one.__dict__]
    back = deepcopy(holder)
    assert back[0].__dict__ is back[1].__dict__ is back[2]


def test_a_dict_of_attributes_that_is_no_plain_dict() -> None:
    one = models.PlainDict()
    one.__dict__ = models.MyDefaultDict(None, a=[1])
    back = deepcopy(one)
    assert type(back.__dict__) is models.MyDefaultDict and back.a == [1] and back.a is not one.a


def test_init_and_setattr_are_not_called() -> None:
    class Guarded:
        __slots__ = ("a", "b")

        def __new__(cls, needed: Any) -> Any:
            # `copy.deepcopy` would call it without an argument, and fail.
            raise AssertionError("called __new__")

        def __setattr__(self, name: str, value: Any) -> None:
            raise AssertionError("called __setattr__")

    obj = object.__new__(Guarded)
    object.__setattr__(obj, "a", [1])
    back = deepcopy(obj)
    assert back.a == [1] and back.a is not obj.a and not hasattr(back, "b")


def test_numpy_arrays() -> None:
    np = pytest.importorskip("numpy")
    numbers, words = np.arange(6.0).reshape(2, 3), np.empty((2, 2), object)
    shared = [1]
    words[0, 0], words[0, 1], words[1, 0], words[1, 1] = shared, (shared,), words, None
    back = deepcopy([numbers, words, numbers, shared, np.asfortranarray(words)])
    assert back[0] is back[2] is not numbers and (back[0] == numbers).all()
    assert back[1][0, 0] is back[3] is back[1][0, 1][0] is not shared and back[1][1, 0] is back[1]
    assert back[4].flags.f_contiguous and back[4][0, 1][0] is back[3]
    assert deepcopy(np.empty((0, 3), object)).shape == (0, 3)


def test_arrays_know_no_memo() -> None:
    one = array.array("d", [1.5])
    back = deepcopy([one, one, {"k": one}])
    assert back[0] is back[1] is back[2]["k"] is not one and back[0] == one


# --- user code that interferes ---------------------------------------------------------------------------------------
def meddlers() -> dict[str, tuple[Any, Callable[[], Any]]]:
    """A graph with a hook in its middle, and what that does to the graph."""
    found: dict[str, tuple[Any, Callable[[], Any]]] = {}

    def case(name: str, container: Any, meddle: Callable[[], Any]) -> None:
        found[name] = (container, meddle)

    rows: list[Any] = [[i] for i in range(50)]
    case("list clear", rows, rows.clear)
    grown: list[Any] = [[i] for i in range(50)]
    case("list grow", grown, lambda: grown.extend([[i] for i in range(1000)]))
    words: dict[Any, Any] = {f"k{i}": [i] for i in range(50)}
    case("dict clear", words, words.clear)
    numbers: dict[Any, Any] = {i: [i] for i in range(50)}
    case("dict grow", numbers, lambda: numbers.update({i: [i] for i in range(1000)}))
    keys: dict[Any, Any] = {(i, models.PlainDict()): [i] for i in range(20)}
    case("key dict clear", keys, keys.clear)
    members: set[Any] = {models.PlainDict() for _ in range(20)}
    case("set clear", members, members.clear)
    slots = build(models.PlainSlots, left=[1], value=[2], right=[3])
    case(
        "slots",
        slots,
        lambda: [delattr(slots, name) for name in ("left", "value", "right") if hasattr(slots, name)],
    )
    fields = build(models.PlainDict, a=[1], b=[2], c=[3])
    case("attributes", fields, lambda: vars(fields).clear())
    queue: collections.deque[Any] = collections.deque([i] for i in range(20))
    case("deque clear", queue, queue.clear)
    return found


@each("name", meddlers())
@each("first", [True, False])
def test_the_source_changed_by_a_hook(name: str, first: bool) -> None:
    """A sound copy: of what was there when its container was reached."""
    container, meddle = meddlers()[name]
    hook = Calls(lambda memo: (meddle(), gc.collect()))
    if isinstance(container, list):
        container.insert(0 if first else 25, hook)
    elif isinstance(container, dict):
        key = "hook" if "k1" in container else (hook, 1) if any(type(k) is tuple for k in container) else -1
        container[key] = hook
    elif isinstance(container, set):
        container.add(hook)
    elif isinstance(container, collections.deque):
        container.insert(0 if first else 10, hook)
    else:
        setattr(container, "left" if isinstance(container, models.PlainSlots) else "b", hook)
    graph = [hook, container] if first else [container, hook]
    back = deepcopy(graph)
    gc.collect()
    assert type(back) is list and len(back) == 2
    assert len(repr(back)) > 0 and len(gc.get_referents(back)) == 2


def spoil(copied: Any) -> None:
    if isinstance(copied, (list, dict, set)):
        copied.clear()


@pytest.mark.parametrize(
    "container",
    [[[1], None, [2]], {"a": [1], "b": None, "c": [2]}, {1: [1], 2: None, 3: [2]}],
    ids=["list", "dict", "int dict"],
)
def test_the_copy_changed_by_a_hook(container: Any) -> None:
    """The hook finds the half-made copy in the memo, and empties it."""

    def meddle(memo: dict[int, Any]) -> None:
        spoil(memo[id(container)])

    key = 1 if isinstance(container, list) else list(container)[1]
    container[key] = Calls(meddle)
    with pytest.raises(holdall.HoldallError, match="changed while it was being copied"):
        deepcopy([container])


def test_objects_that_die_meanwhile() -> None:
    """Addresses that come to mean other objects during the call do not mislead the memo."""
    pool: list[Any] = []

    def meddle(memo: dict[int, Any]) -> None:
        doomed.clear()
        pool.extend([[text(f"new {i}")] for i in range(200)])

    doomed: list[Any] = [[text(f"old {i}")] for i in range(200)]
    graph = [doomed, [list(doomed)], Calls(meddle), pool]
    back = deepcopy(graph)
    assert back[1][0] == [[f"old {i}"] for i in range(200)]
    assert back[3] == [[f"new {i}"] for i in range(200)]
    assert all(one is other for one, other in zip(back[0], back[1][0], strict=True))


def test_errors_come_through_and_leave_nothing_behind() -> None:
    def fail(memo: Any) -> None:
        raise KeyError("mine")

    inner = [text("kept")]
    graph = [inner, (inner, [Calls(fail)]), Reduced(inner, Calls(fail))]
    before = sys.getrefcount(inner)
    assert gc.isenabled()
    for _ in range(100):
        with pytest.raises(KeyError, match="mine"):
            deepcopy(graph)
    assert gc.isenabled()
    gc.collect()
    assert sys.getrefcount(inner) == before


def test_the_collector_is_paused_and_left_as_it_was() -> None:
    seen: list[bool] = []
    deepcopy([Calls(lambda memo: seen.append(gc.isenabled()))])
    assert seen == [False] and gc.isenabled()
    gc.disable()
    try:
        deepcopy([[]])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_knows_the_copies() -> None:
    """A cycle made of copies only is freed."""
    node = build(models.WeakSlot)
    node.a = {"list": [({1: node}, build(models.PlainDict, node=node))]}
    back = deepcopy(node)
    assert gc.is_tracked(back.a) and gc.is_tracked(back.a["list"]) and gc.is_tracked(back.a["list"][0][0])
    gone = weakref.ref(back)
    del back
    gc.collect()
    assert gone() is None


def test_shared_tuples_take_no_exponential_time() -> None:
    leaf, node = (1, (2,)), ([],)
    for _ in range(200):
        leaf, node = (leaf, leaf), (node, node)
    assert deepcopy(leaf) is leaf
    back = deepcopy(node)
    assert back is not node and back[0] is back[1]


def test_a_chain_of_reduced_objects_is_no_recursion() -> None:
    """Only user code that calls `deepcopy` itself recurses."""
    chain: Any = collections.deque([0])
    for depth in range(5_000):
        chain = collections.deque([chain, depth]) if depth % 2 else Reduced(chain)
    back, depth = deepcopy(chain), 0
    while isinstance(back, (Reduced, collections.deque)) and back is not chain:
        back = back.args[0] if isinstance(back, Reduced) else back[0]
        depth += 1
    assert depth == 5_001 and back == 0


class SharesNames:
    pass


def test_a_hook_of_one_instance_among_others() -> None:
    """Instances share a table of names: that one lacks a name says nothing of the next."""
    made = [SharesNames() for _ in range(4)]
    for at, one in enumerate(made):
        one.at = at  # type: ignore[attr-defined]
    made[2].__deepcopy__ = lambda memo: "asked"  # type: ignore[attr-defined]
    made[3].__reduce_ex__ = lambda protocol: (str, ("reduced",))  # type: ignore[attr-defined]
    for graph in (made, made[::-1], [made[0], made[2], made[1], made[3]]):
        copied = holdall.deepcopy(graph)
        assert [type(one) for one in copied] == [type(one) for one in copy.deepcopy(graph)]
        assert {one for one in copied if isinstance(one, str)} == {"asked", "reduced"}
