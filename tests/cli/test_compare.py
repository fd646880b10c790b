"""Where two values differ."""

from __future__ import annotations

import collections
import copy
import decimal
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall._cli import _compare, _keys
from holdall._cli._compare import compare
from tests.support.each import each


def found(old, new):
    return [(change.kind, change.path) for change in compare(old, new)]


@each(
    "old, new, expected",
    [
        (1, 1, []),
        (1, 2, [("changed", "$")]),
        (1, True, [("type", "$")]),
        (1, 1.0, [("type", "$")]),
        (None, [], [("type", "$")]),
        (math.nan, -math.nan, []),
        (math.nan, 1.0, [("changed", "$")]),
        (0.0, -0.0, [("changed", "$")]),
        (complex("nan"), complex("nan"), []),
        (decimal.Decimal("NaN"), decimal.Decimal("NaN"), []),
        ([1, 2], [1, 2], []),
        ([1, 2], [1, 3, 4], [("changed", "$[1]"), ("added", "$[2]")]),
        ([1, None], [1], [("removed", "$[1]")]),
        ([], [None], [("added", "$[0]")]),
        ((1,), [1], [("type", "$")]),
        ((1, 2), [1, 3], [("type", "$"), ("changed", "$[1]")]),
        ([1], {0: 1}, [("type", "$")]),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, [("removed", "$.a"), ("changed", "$.b"), ("added", "$.c")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({1: "x"}, {True: "x"}, [("removed", "$[1]"), ("added", "$[True]")]),
        ({math.nan: 1}, {math.nan * 1: 1}, []),
        ({(1, math.nan): 1}, {(1, math.nan * 1): 2}, [("changed", "$[(1, nan)]")]),
        ({(1,): 1}, {(1.0,): 1}, [("removed", "$[(1,)]"), ("added", "$[(1.0,)]")]),
        ({1, 2}, {2, 3}, [("removed", "$"), ("added", "$")]),
        ({1}, {True}, [("removed", "$"), ("added", "$")]),
        ({1}, frozenset({1}), [("type", "$")]),
        ({"a": {"b c": [{"d": 1}]}}, {"a": {"b c": [{"d": 2}]}}, [("changed", '$.a["b c"][0].d')]),
        (collections.deque([1], 2), collections.deque([1]), [("type", "$")]),
        (collections.OrderedDict(a=1), {"a": 1}, [("type", "$")]),
        (holdall.Record("A", {"x": 1}), holdall.Record("A", {"x": 1}), []),
        (
            holdall.Record("A", {"x": 1}),
            holdall.Record("A", {"x": 2, "y": 1}),
            [("changed", "$.x"), ("added", "$.y")],
        ),
        (holdall.Record("A", {"x": 1}), holdall.Record("B", {"x": 1}), [("type", "$")]),
        (holdall.Record("A", {}), holdall.Record("A", {}, version=2), [("type", "$")]),
        (ValueError("a"), ValueError("b"), [("changed", "$[0]")]),
        (ValueError("a"), KeyError("a"), [("type", "$")]),
    ],
)
def test_differences(old, new, expected):
    assert found(old, new) == expected


def test_what_a_change_says():
    (change,) = compare({"a": (1,)}, {"a": [1]})
    assert (change.note, change.old, change.new) == ("tuple became list", (1,), [1])
    (change,) = compare(holdall.Record("A", {}), holdall.Record("A", {}, version=2))
    assert change.note == "A: version None became 2"
    (change,) = compare([None], [[]])
    assert change.note == "NoneType became list"


def ring(size, last=0):
    first = node = {"n": 0}
    for number in range(1, size):
        node["next"] = {"n": number}
        node = node["next"]
    node["n"] = last or node["n"]
    node["next"] = first
    return first


def test_cycles_end():
    assert found(ring(5), ring(5)) == []
    assert found(ring(2), ring(2, last=9)) == [("changed", "$.next.n")]
    me, other = [], []
    me.append(me)
    other.append([other])
    assert found(me, other) == []
    assert found(me, [[[[1]]]]) == [("type", "$[0][0][0][0]")]


def test_who_shares_what_is_no_difference():
    shared = [1]
    assert found([shared, shared], [[1], [1]]) == []
    assert found([shared, shared], [[1], [2]]) == [("changed", "$[1][0]")]


def test_any_depth_and_shared_a_thousand_times():
    old = new = 1
    for _ in range(100_000):
        old, new = [old], [new]
    assert found(old, new) == []
    old, new = 1, 2
    for _ in range(60):
        old, new = [old, old], [new, new]
    # Once, at the first of its places.
    assert found(old, new) == [("changed", "$" + "[0]" * 60), ("changed", "$" + "[0]" * 59 + "[1]")]


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.floats(width=16, allow_nan=False) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=2) | st.integers(0, 3), inner, max_size=4)
    | st.tuples(inner, inner),
    max_leaves=10,
)  # fmt: skip


@given(values)
def test_a_copy_is_equal(value):
    assert found(value, copy.deepcopy(value)) == []


@given(values, values)
def test_both_ways_the_same(old, new):
    opposite = {"added": "removed", "removed": "added"}
    there, back = found(old, new), found(new, old)
    assert sorted(there) == sorted((opposite.get(kind, kind), path) for kind, path in back)
    if old != new and old == old and new == new:
        assert there


def test_arrays():
    np = pytest.importorskip("numpy")
    base = np.array([[1.0, np.nan], [3.0, 4.0]])
    other = base.copy()
    assert found(base, other) == []
    other[1, 0] = 5
    (change,) = compare({"w": base}, {"w": other})
    assert (change.path, change.kind, change.note) == (
        "$.w",
        "changed",
        "1 of 4 items differ, first at [1, 0]: 3.0 became 5.0",
    )
    (change,) = compare(base, base.astype("f4"))
    assert change.note == "array float64[2, 2] became float32[2, 2]"
    assert found(base, base.ravel()) == [("changed", "$")]
    assert found(np.array(["2026", "NaT"], "M8[D]"), np.array(["2026", "NaT"], "M8[D]")) == []
    assert found(np.zeros(2, [("x", "f4")]), np.ones(2, [("x", "f4")])) == [("changed", "$")]
    assert found(np.array([1, [2]], object), np.array([1, [3]], object)) == [("changed", "$[1][0]")]
    assert found(np.zeros((0, 2)), np.zeros((0, 2))) == []
    assert found(np.float32("nan"), np.float32("nan")) == [] and found(np.float32(1), np.float64(1)) == [
        ("type", "$")
    ]
    assert found(base, [1]) == [("type", "$")]
    assert found(np.array(5), np.array(6)) == [("changed", "$")]


def doubled(times, last):
    for _ in range(times):
        last = (last, last)
    return last


def counted(monkeypatch):
    """How many containers are taken apart."""
    taken = [0]
    for module in (_keys, _compare):

        def counting(value, node=module.node):
            found = node(value)
            taken[0] += found is not None
            return found

        monkeypatch.setattr(module, "node", counting)
    return taken


def test_what_keys_share_is_taken_apart_once(monkeypatch):
    taken = counted(monkeypatch)
    # Hashing would take forever beyond some thirty levels.
    one, other, third = doubled(16, 1), doubled(16, 1), doubled(16, True)
    assert found({one: 1, (one, 1): 2}, {other: 1, (other, 1): 2}) == []
    assert found({one}, {other}) == []
    assert taken[0] < 500
    changes = found({one: 1}, {third: 1})
    assert [kind for kind, _ in changes] == ["removed", "added"]
    shared = tuple(range(1000))
    taken[0] = 0
    assert (
        found({(shared, n): n for n in range(1000)}, {(tuple(range(1000)), n): n for n in range(1000)}) == []
    )
    assert taken[0] < 10_000


def test_keys_of_any_depth():
    one = other = 1
    for _ in range(2000):
        one, other = (one,), (other,)
    assert found({one: 1}, {other: 1}) == [] == found({one}, {other})


def test_keys_are_told_apart_by_type_and_content():
    record = lambda **fields: holdall.Record("A", fields)  # noqa: E731
    assert found({frozenset({1}): 1}, {frozenset({True}): 1}) == [
        ("removed", "$[frozenset({1})]"),
        ("added", "$[frozenset({True})]"),
    ]
    assert found({frozenset({1, 2})}, {frozenset({2, 1})}) == []
    # Records are what they hold, lists and all.
    assert found({record(x=[1])}, {record(x=[1])}) == []
    assert found({record(x=[1])}, {record(x=[2])}) == [("removed", "$"), ("added", "$")]
    assert found({record(x=1): 5}, {record(x=1): 6}) == [("changed", "$[A(x=1)]")]
    assert found({record(x=1): 5, record(x=1): 6}, {record(x=1): 5, record(x=1): 6}) == []
    assert found({record(x=1), record(x=1)}, {record(x=1)}) == [("removed", "$")]
    assert found({decimal.Decimal("NaN")}, {decimal.Decimal("NaN")}) == []
    one, other = record(), record()
    one.fields["me"], other.fields["me"] = (one,), (other,)
    assert found({one}, {other}) == []
    assert found({2**100, "1", b"1", 1}, {1, b"1", "1", 2**100}) == []
    assert found({2**100}, {2**100 + 1}) == [("removed", "$"), ("added", "$")]


def list_ring(length, last):
    first = here = [last]
    for _ in range(length - 1):
        here.append([last])
        here = here[1]
    here.append(first)
    return first


def test_cycles_of_different_lengths_meet_in_few_pairs(monkeypatch):
    monkeypatch.setattr(_compare, "_PAIRS", 100)
    taken = counted(monkeypatch)
    assert found(list_ring(300, 1), list_ring(301, 1)) == []
    assert taken[0] < 10_000
    old, new = list_ring(300, 1), list_ring(301, 1)
    old[1][1][0] = 2
    assert found(old, new)
    # Below that number each pair is compared.
    assert len(found(list_ring(3, 1), list_ring(2, 2))) == 6


def test_paths_of_changes_are_no_longer_than_a_line_or_some():
    old = new = 1
    for place in range(3000):
        old, new = [place, old], [-place, new]
    changes = found(old, new)
    assert len(changes) == 2999 and sum(len(path) for _, path in changes) < 3000 * 250
    assert changes[5] == ("changed", "$" + "[1]" * 5 + "[0]")
    assert changes[2000] == ("changed", "$..." + "[1]" * 63 + "[0]")
    key = "k" * 10_000
    assert found({key: 1}, {key: 2}) == [("changed", f'$["{"k" * 100}..."]')]
