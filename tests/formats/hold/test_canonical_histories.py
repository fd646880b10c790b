"""`canonical=True` gives one message for one graph, by whatever history it came to be; or refuses it by every history."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from typing import Any, Callable, Iterator

import pytest

import holdall
from tests.support.digests import canonical
from tests.support.extent import examples
from tests.support.histories import Builder, Plan
from tests.support.isomorphic import Difference, isomorphic
from tests.support.kinds import TYPES, text
from tests.support.places import REPO

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402

from tests.support.plans import plans  # noqa: E402

SEEDS = range(4)


COPIES: dict[str, Callable[[Any], Any]] = {
    "holdall.deepcopy": holdall.deepcopy,
    "copy.deepcopy": copy.deepcopy,
    "loads": lambda graph: holdall.loads(holdall.dumps(graph), types=TYPES),
    "interned": lambda graph: holdall.loads(holdall.dumps(graph, intern=True), types=TYPES),
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
    "holdall.pickle": lambda graph: holdall.pickle.loads(holdall.pickle.dumps(graph)),
}


def copies(graph: Any) -> Iterator[tuple[str, Any]]:
    for name, copied in COPIES.items():
        made = copied(graph)
        try:
            isomorphic(graph, made, interned=True, ordered=False)
        except Difference:
            # The standard library makes two of a frozenset that is in a cycle.
            assert name in ("copy.deepcopy", "pickle")
        else:
            yield name, made


@examples(150)
@given(plans())
def test_one_message_by_all_histories(plan: Plan) -> None:
    messages = {seed: canonical(Builder(plan, seed).build()) for seed in SEEDS}
    graph = Builder(plan, 1).build()
    by_copy = {name: canonical(made) for name, made in copies(graph)}
    assert len({*messages.values(), *by_copy.values()}) == 1, (messages, by_copy)
    if messages[0] != "refused":
        data = holdall.dumps(graph, canonical=True)
        assert canonical(holdall.loads(data, types=TYPES)) == messages[0]
        assert canonical([graph, graph]) == canonical([again := Builder(plan, 9).build(), again])


@pytest.fixture(scope="module")
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Other processes, with hash seeds of their own."""
    made = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.digests"], cwd=REPO, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("0", "4242")
    ]  # fmt: skip
    yield made
    for process in made:
        process.communicate()


@examples(100, suppress_health_check=list(hypothesis.HealthCheck))
@given(plans())
def test_one_message_in_all_processes(processes: list[subprocess.Popen[str]], plan: Plan) -> None:
    expected = canonical(Builder(plan, 0).build())
    for seed, process in enumerate(processes):
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([plan, seed]) + "\n")
        process.stdin.flush()
        assert process.stdout.readline().strip() == expected


# --- the order of sets ---


class Thing:
    """Known by its identity alone, as instances are by default."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


def every_way(make: Callable[[Callable[[list[Any]], set[Any]]], Any], ways: int = 12) -> str:
    """The one message of what `make` gives, whose sets are made of members in any order, at any place of memory."""
    found = set()
    # Sets go by addresses: graphs before have theirs as long as they are held.
    held = []
    for seed in range(ways):
        rng = random.Random(seed)
        held.append([Thing() for _ in range(seed % 5)])
        graph = make(lambda members, rng=rng: set(rng.sample(members, len(members))))  # type: ignore[misc]
        held.append(graph)
        found.add(canonical(graph))
    assert len(found) == 1, found
    return found.pop()


SetOf = Callable[[list[Any]], set[Any]]


def known_before(set_of: SetOf) -> Any:
    one, other = Thing(x=1), Thing(x=1)
    return [one, set_of([one, other])]


def known_after(set_of: SetOf) -> Any:
    one, other = Thing(x=1), Thing(x=1)
    return [set_of([one, other]), one]


def parts_known_before(set_of: SetOf) -> Any:
    parts = [[1], [1], [1]]
    return [parts, set_of([Thing(x=part) for part in parts] + [Thing(x=[1])])]


def in_two_sets(set_of: SetOf) -> Any:
    things = [Thing(x=1) for _ in range(3)]
    return [things, set_of(things), set_of(things[:2])]


def alike(set_of: SetOf) -> Any:
    return set_of([Thing(x=[1, Thing()]) for _ in range(6)])


def alike_and_shared_within(set_of: SetOf) -> Any:
    def thing() -> Thing:
        part = [1]
        return Thing(x=part, y=part)

    return set_of([thing(), thing(), Thing(x=[1], y=[1])])


def one_shared_by_all(set_of: SetOf) -> Any:
    color = [0]
    return [set_of([Thing(x=color), Thing(x=color)]), color]


def with_their_owner(set_of: SetOf) -> Any:
    owner = Thing()
    owner.parts = set_of([Thing(owner=owner) for _ in range(4)])
    return owner


def with_their_set(set_of: SetOf) -> Any:
    members = set_of([Thing(x=0), Thing(x=0)])
    for member in members:
        member.all = members
    return members


def named_in_cycles(set_of: SetOf) -> Any:
    things = [Thing(name=str(number)) for number in range(5)]
    for number, thing in enumerate(things):
        thing.others = set_of(things[:number] + things[number + 1 :])
    return set_of(things)


def named_at_the_end(set_of: SetOf) -> Any:
    """What comes first leads far away: the names are found by looking further."""
    ring = [Thing(z_name=text(str(number))) for number in range(40)]
    for thing, after in zip(ring, ring[1:] + ring[:1], strict=True):
        thing.a_next = after
    return set_of(ring)


def sets_of_sets(set_of: SetOf) -> Any:
    def pair(*numbers: int) -> frozenset[Any]:
        return frozenset(set_of([frozenset(set_of([number, number + 1, "x"])) for number in numbers]))

    return set_of([pair(1, 2), pair(1, 3), pair(2, 3), pair(3, 5)])


def things_in_sets_of_sets(set_of: SetOf) -> Any:
    def nest(*names: str) -> frozenset[Any]:
        return frozenset(set_of([Thing(name=name, more=set_of([Thing(), Thing(x=name)])) for name in names]))

    return set_of([nest("a", "b"), nest("a", "c"), nest("c", "d"), nest("c", "d")])


def texts_in_any_order(set_of: SetOf) -> Any:
    return [
        set_of([(text("one"), 1), (text("two"), text("one")), (2, text("two"))]),
        text("two"),
        text("one"),
    ]


TOLD = [
    known_before, known_after, parts_known_before, in_two_sets, alike, alike_and_shared_within, one_shared_by_all,
    with_their_owner, with_their_set, named_in_cycles, named_at_the_end, sets_of_sets, things_in_sets_of_sets,
    texts_in_any_order,
]  # fmt: skip


@pytest.mark.parametrize("make", TOLD, ids=lambda make: make.__name__)
def test_an_order_that_the_graph_tells(make):
    assert every_way(make) != "refused"
    # It is the graph's: what is loaded has it, too.
    rng = random.Random(5)
    data = holdall.dumps(make(lambda members: set(rng.sample(members, len(members)))), canonical=True)
    assert holdall.dumps(holdall.loads(data, types=Thing), canonical=True) == data


def both_known_after(set_of: SetOf) -> Any:
    one, other = Thing(x=1), Thing(x=1)
    return [set_of([one, other]), one, other]


def in_a_ring_of_sets(set_of: SetOf) -> Any:
    """Who is first in one set hangs on who is first in the other."""
    things = [Thing() for _ in range(4)]
    for number, thing in enumerate(things):
        thing.next = set_of([things[(number + 1) % 4], things[(number + 2) % 4]])
    return set_of(things)


@pytest.mark.parametrize("make", [both_known_after, in_a_ring_of_sets], ids=lambda make: make.__name__)
def test_an_order_that_it_does_not_tell(make):
    assert every_way(make) == "refused"
    # In any order that there is, it can be stored as it is.
    holdall.loads(holdall.dumps(make(set)), types=Thing)


def test_long_members_are_looked_at_to_their_end():
    def members(*ends: int) -> list[Any]:
        return [(*[(0,)] * 30_000, (end,)) for end in ends]

    def things(*ends: int) -> list[Any]:
        return [Thing(items=[[0] for _ in range(30_000)] + [[end]]) for end in ends]

    for make in (members, things):
        assert every_way(lambda set_of, make=make: set_of(make(1, 2)), ways=4) != "refused"


@pytest.mark.parametrize("levels", [12, 3_000])
def test_deep_sets(levels):
    def deep(set_of: SetOf) -> Any:
        first: Any = frozenset({1})
        second: Any = frozenset({2})
        for _ in range(levels):
            first, second = frozenset(set_of([first, 0, "x"])), frozenset(set_of([second, 0, "x"]))
        return [set_of([first, 5]), set_of([second, 5])]

    def compared(set_of: SetOf) -> Any:
        first: Any = frozenset({1})
        second: Any = frozenset({2})
        for _ in range(min(levels, 300)):
            first, second = frozenset(set_of([first, 0])), frozenset(set_of([second, 0]))
        return set_of([first, second])

    assert every_way(deep, ways=3) != "refused"
    assert every_way(compared, ways=3) != "refused"


def test_sets_that_code_makes_anew():
    class Bag:
        def __init__(self, *items: Any) -> None:
            self.items = items

    holdall.register(
        Bag, name="histories.Bag", encode=lambda bag: set(bag.items), decode=lambda items: Bag(*items)
    )
    found = set()
    for seed in range(8):
        rng = random.Random(seed)
        things = [Thing(x=number, bag=Bag(Thing(y=1), Thing(y=number))) for number in range(4)]
        found.add(holdall.dumps([Bag(*rng.sample(things, 4)), {*rng.sample(things, 4)}], canonical=True))
    assert len(found) == 1


def test_work_is_bounded():
    """Members that are alike as far as anybody looks: refused before long, not looked at for ever."""
    ring = [Thing() for _ in range(3_000)]
    for thing, after in zip(ring, ring[1:] + ring[:1], strict=True):
        thing.next = after
    assert canonical(set(ring)) == "refused"


def test_a_set_that_changes_meanwhile_is_refused():
    class Growing:
        def __init__(self) -> None:
            self.members: set[Any] = {1, 2, 3}

    growing = Growing()

    def encode(value: Growing) -> int:
        value.members.add(len(value.members) + 10)
        return 0

    holdall.register(Growing, name="histories.Growing", encode=encode, decode=lambda _: Growing())
    with pytest.raises(holdall.EncodeError, match="changed its size"):
        holdall.dumps([growing, growing.members], canonical=True)


def test_numpy():
    np = pytest.importorskip("numpy")
    for make in (lambda: np.dtype("<f8"), lambda: np.dtype([("a", "<i4"), ("b", "S3")])):
        arrays = [np.zeros(3, make()), np.zeros(3, make())]
        one = make()
        assert canonical(arrays) == canonical([np.zeros(3, one), np.zeros(3, one)])
        assert canonical([make()]) == canonical([make()])
    array = np.arange(6).reshape(2, 3)
    assert canonical(array) == canonical(np.array([[0, 1, 2], [3, 4, 5]])) == canonical(array.copy())
    assert canonical([np.float64(1.5), np.int8(3)]) == canonical([np.float64(1.5), np.int8(3)])
