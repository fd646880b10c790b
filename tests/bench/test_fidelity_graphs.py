"""What a round trip changed, on every kind of value and on random graphs: nothing is found where nothing changed, and something where it did."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import holdall
from holdall_bench.fidelity import compare, walk
from holdall_bench.results import CHANGED, COPIES, SAME

pytest.importorskip("hypothesis")

from hypothesis import given, reject
from hypothesis import strategies as st

from tests.support import models, strategies
from tests.support.each import each
from tests.support.extent import examples
from tests.support.isomorphic import Difference, isomorphic
from tests.support.kinds import BY_NAME, KINDS, TYPES, Kind
from tests.support.limits import has_members_alike, reachable


def copied(root: Any) -> Any:
    """Members that look alike are paired by chance, so a graph that has some is rejected."""
    if has_members_alike(root):
        reject()
    return holdall.loads(holdall.dumps(root), types=TYPES)


@pytest.fixture(params=["with the shortcut", "walked"], scope="module")
def walked(request: pytest.FixtureRequest) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "walked":
            patch.setattr(walk, "same_pickles", lambda a, b: False)
        yield


@pytest.mark.usefixtures("walked")
@given(strategies.graphs(max_nodes=20))
@examples(40)
def test_a_copy_is_the_same(graph: strategies.Graph) -> None:
    found = compare(graph.root, copied(graph.root))
    assert (found.verdict, found.changes) == (SAME, [])


@given(strategies.graphs(max_nodes=20))
@examples(40)
def test_pickle_agrees_with_isomorphic(graph: strategies.Graph) -> None:
    """Pickle forgets some things; then both must see it."""
    if has_members_alike(graph.root):
        reject()
    try:
        restored = pickle.loads(pickle.dumps(graph.root))
    except Exception:  # what pickle can't, or what isn't there yet when a set needs its hash
        reject()
    try:
        isomorphic(graph.root, restored)
    except Difference:
        return
    assert compare(graph.root, restored).verdict == SAME


def mutable(root: Any) -> list[Any]:
    return [each for each in reachable(root) if type(each) in (list, dict, set, models.PlainDict)]


@given(strategies.graphs(max_nodes=20), st.data())
@examples(60)
def test_a_change_is_found(graph: strategies.Graph, data: st.DataObject) -> None:
    restored = copied(graph.root)
    places = mutable(restored)
    if not places:
        reject()
    place = places[data.draw(st.integers(0, len(places) - 1))]
    if type(place) is list:
        if place and data.draw(st.booleans()):
            place[0] = ("another",) if type(place[0]) is not tuple else "another"
        else:
            place.append(None)
    elif type(place) is dict:
        place["another"] = None
    elif type(place) is set:
        place.add("another")
    else:
        place.another = None
    assert compare(graph.root, restored).verdict == CHANGED


@given(strategies.graphs(max_nodes=20), st.data())
@examples(40)
def test_a_copy_of_a_part_is_found(graph: strategies.Graph, data: st.DataObject) -> None:
    places = [each for each in mutable(graph.root) if type(each) is list]
    if not places:
        reject()
    shared = places[data.draw(st.integers(0, len(places) - 1))]
    root, restored = copied([graph.root, shared]), copied([graph.root, shared])
    assert compare(root, restored).verdict == SAME
    restored[1] = list(restored[1])
    assert compare(root, restored).verdict in (COPIES, CHANGED)


@pytest.mark.usefixtures("walked")
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind(kind: Kind) -> None:
    value = kind.make()
    found = compare(value, holdall.loads(holdall.dumps(value), types=TYPES))
    assert (found.verdict, found.changes) == (SAME, [])


@pytest.mark.usefixtures("walked")
@pytest.mark.parametrize("name", ["my default dict", "exception chain"])
def test_what_pickle_forgets(name: str) -> None:
    value = BY_NAME[name].make()
    assert compare(value, pickle.loads(pickle.dumps(value))).verdict == CHANGED
