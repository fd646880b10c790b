"""The data sets of `holdall bench`: the same each time, and what their titles say."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import holdall
from holdall_bench.data import Data, classes_in, subject, volume
from holdall_bench.suites import BY_DEFAULT, SUITES, find, suite
from holdall_bench.suites.models import Address, Bar, Baz, Foo, Message, Node, Party, Person
from holdall_bench.suites.scaling import pieces, records
from tests.support.isomorphic import Difference, isomorphic

ALL = [(name, data.name) for name in SUITES for data in suite(name, False)]
NEEDS_NUMPY = {"matrices", "specialised_arrays", "matrices_100", "weights", "small_arrays", "columns"}
FEW = 60


@pytest.fixture(scope="module", params=ALL, ids="/".join)
def data(request):
    suite_name, name = request.param
    if name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    return find(suite_name, name, False)


def small(data: Data) -> Any:
    """The same, less of it: what makes data takes first how many."""
    make = getattr(data.make, "func", data.make)
    if data.keep:
        return make(FEW // 20, FEW)
    return data.make() if data.suite == "documents" else make(1 if data.name == "weights" else FEW)


def test_names_are_different_and_full_sets_have_the_same():
    assert len(set(ALL)) == len(ALL) and len({name for _, name in ALL}) == len(ALL)
    for name in BY_DEFAULT:
        assert [data.name for data in suite(name, True)] == [data.name for data in suite(name, False)]


def test_the_same_data_each_time(data):
    # Canonical: who else holds an interned text does not matter.
    assert holdall.dumps(small(data), canonical=True) == holdall.dumps(small(data), canonical=True)


def test_where_identity_matters_there_is_some_to_lose(data):
    if not data.identity:
        return
    value = small(data)
    try:
        stored = holdall.dumps(value, refs=False)
    except holdall.EncodeError as error:
        assert "holds itself" in str(error)
        return
    tree = holdall.loads(stored, types=subject(data, value).classes)
    with pytest.raises(Difference):
        isomorphic(value, tree)


def test_one_by_one_means_a_list(data):
    if data.each:
        assert type(small(data)) is list and len(small(data)) == (20 if data.keep else FEW)


def test_annotations_are_what_the_data_are(data):
    if data.annotation is not None:
        value = small(data)
        for item in value if data.each else [value]:
            isomorphic(item, holdall.loads(holdall.dumps(item), type=data.annotation))


def test_classes_are_found():
    assert set(
        subject(find("serbench", "serbench", False), {"x": [Foo("", "", "", "", "", [])]}).classes
    ) == {Foo}
    whole = find("serbench", "serbench", False)
    assert set(subject(whole, small(whole)).classes) == {Foo, Bar, Baz}
    people = find("structures", "people", False)
    assert set(subject(people, small(people)).classes) == {Person, Address}
    messages = find("bakeoff", "typed_messages", False)
    found = subject(messages, small(messages))
    assert {Message, Party} < set(found.classes) and isinstance(found.sample, Message)


def test_classes_in_ends_on_cycles_and_leaves_out_what_is_no_data():
    node = Node(1, "a", [])
    node.neighbours.append(node)
    assert classes_in(node) == [Node, int, str, list]
    assert classes_in([classes_in, pickle, int]) == [list]


def test_volume_counts_alike():
    text = "abcd"
    assert volume([1, 2.5, text, text, b"xy"]) == 8 + 8 + 4 + 2
    assert volume({"key": [7, 7, 7]}) == 3 + 24
    assert volume("é" * 10) == 10
    ring: list = []
    ring.append(ring)
    assert volume(ring) == 0
    np = pytest.importorskip("numpy")
    assert volume([np.zeros((3, 5), np.float32)]) == 60


def test_pieces_have_as_much_data_at_every_point():
    points = [data for data in suite("scaling", False) if data.keep]
    *even, last = [data.volume for data in points]
    assert max(even) < 1.2 * min(even) and last > 3 * max(even)
    for count in (1, 7, 60, 100):
        made = pieces(count, 60)
        assert {len(each) for each in made} == {count} and len(made) == max(round(60 / count), 1)


def test_scaling_grows_by_what_it_says():
    points = suite("scaling", False)
    sizes = [len(holdall.dumps(data.make())) for data in points[:4]]
    assert sizes == sorted(sizes) and all(
        0.7 < size / wanted < 1.4
        for size, wanted in zip(sizes, (1_000, 10_000, 100_000, 1_000_000), strict=True)
    )
    # Equal messages are objects of their own: what is stored can't be told from different ones.
    many = records(1_700)
    assert len(many) == 1_700
    assert many[0]["body"] == many[800]["body"] and many[0]["body"] is not many[800]["body"]
