"""Reference counts and blocks stay level over thousands of loads and dumps of Julia's files, and of such that fail."""

from __future__ import annotations

import gc
import sys

import pytest

import holdall
from holdall import julia
from tests.formats.julia.test_safety import MALFORMED, MESSAGES, Node, Open, ring, sample
from tests.support.julia_messages import message
from tests.support.level import damaged, stays_level

np = pytest.importorskip("numpy")

ROUNDS = 2_000


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects(only_new_objects: None) -> None:
    """As in tests/host/test_refcounts.py."""


def test_counts_on_success() -> None:
    value = sample()
    del value["objects"]  # a cycle through one would be never freed
    data = julia.dumps(value)

    def work() -> None:
        julia.dumps(julia.loads(data))

    stays_level(work, ROUNDS // 10)


@pytest.mark.parametrize("name", ["ring", "closure", "another order", "references first"])
def test_counts_of_each_door(name: str) -> None:
    data = MESSAGES[name]

    def work() -> None:
        julia.loads(data)
        julia.load(data, mmap=True)
        julia.parse(data)
        julia.open(data).load()
        for value in julia.open(data).values():
            repr(value)

    stays_level(work, ROUNDS)


def test_counts_by_type() -> None:
    data = julia.dumps({"value": [Open(1.5, [np.arange(3), None]), Open("x", {})]})
    wrong = julia.dumps({"value": [Open(1.5, [1]), Open("x", 5)]})

    def work() -> None:
        julia.loads(data, type=dict[str, list[Open]])
        julia.loads(data, types=[Node])
        with pytest.raises(holdall.ValidationError):
            julia.loads(wrong, type=dict[str, list[tuple[int, str]]])
        with pytest.raises(holdall.ValidationError):
            julia.loads(wrong, type=dict[str, list[int]])

    stays_level(work, ROUNDS // 10)


def numpy_keeps_dtypes() -> bool:
    """NumPy 2.2, the last for Python 3.10, never gives back the dtype of an array of objects that it makes in Fortran's order."""
    dtype = np.dtype("O", metadata={"julia": 1})
    before = sys.getrefcount(dtype)
    for _ in range(10):
        np.empty((2, 3), dtype, order="F")
    return sys.getrefcount(dtype) > before + 5


@pytest.mark.parametrize("name", MESSAGES)
def test_counts_of_failing_loads(name: str) -> None:
    if name == "everything" and numpy_keeps_dtypes():
        pytest.skip(f"NumPy {np.__version__} itself keeps dtypes of arrays of objects")
    # Those of a long message are cut off and changed at fewer places.
    hostile = damaged(MESSAGES[name], name)[:: 1 + len(MESSAGES[name]) // 1000]

    def work() -> None:
        for attempt in hostile:
            try:
                julia.loads(attempt)
            except holdall.DecodeError:
                continue

    # Caches of names, which damage makes new ones of, fill up in the first few hundred rounds.
    stays_level(work, max(300, ROUNDS // len(hostile)))


def test_counts_of_malformed_values() -> None:
    messages = [message(value) for value, _ in MALFORMED]

    def work() -> None:
        for data in messages:
            try:
                julia.loads(data)
            except holdall.DecodeError:
                continue
            raise AssertionError("loaded")

    stays_level(work, 100)


def test_counts_of_failing_dumps() -> None:
    shared = [1.5]
    graph = {"a": [shared, shared, ring(), {1: 2}, Open(1, 2), np.arange(3)], "z": (x for x in ())}

    def work() -> None:
        try:
            julia.dumps(graph)
        except holdall.EncodeError:
            return
        raise AssertionError("a generator was stored")

    stays_level(work, ROUNDS)


def test_counts_of_what_everyone_shares() -> None:
    kept = [
        None,
        True,
        (),
        "",
        julia.missing,
        Open,
        Node,
        julia.BOTTOM,
        julia.JuliaStruct,
        np.ndarray,
        shared := ["held"],
    ]
    graph = {
        "a": [
            None,
            True,
            (),
            "",
            julia.missing,
            Open(1, shared),
            julia.BOTTOM,
            julia.JuliaStruct("Foo", [shared]),
        ]
    }
    data = julia.dumps(graph)

    def work() -> None:
        julia.dumps(graph)
        julia.loads(data)
        for end in range(1, len(data), 17):
            try:
                julia.loads(data[:end])
            except holdall.DecodeError:
                continue

    for _ in range(10):
        work()
    gc.collect()
    before = [sys.getrefcount(obj) for obj in kept]
    for _ in range(200):
        work()
    gc.collect()
    after = [sys.getrefcount(obj) for obj in kept]
    for obj, one, other in zip(kept, before, after, strict=True):
        assert abs(one - other) < 50, repr(obj)
