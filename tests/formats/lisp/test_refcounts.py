"""Reference counts and blocks stay level over thousands of loads and dumps of Lisp's files, and of such that fail."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import lisp
from holdall.lisp import Array, Cons, LispObject, Pairs, SingleFloat, Type, keyword
from tests.support.level import damaged, stays_level

ROUNDS = 1_000


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects(only_new_objects: None) -> None:
    """As in tests/host/test_refcounts.py."""


@lisp.struct("LEVEL::POINT")
@dataclass
class Point:
    x: Any
    y: Any = None


def sample() -> list[Any]:
    shared, of = [1, "two"], Type("LEVEL::ROW", ["A", "B"])
    return [
        shared, shared, (shared, 1.5), 1 << 80, -(1 << 90), SingleFloat(0.5), keyword("K"), keyword("K"), Cons(1, Cons(2, shared)),
        {"a": shared, 1: (2,)}, Pairs([([1], 2)], test="EQUALP"), LispObject(of, [1, lisp.UNBOUND]), LispObject(of, [shared, 2]), Point(1, shared),
        Point(2), Array((2,), [shared, "x"], fill_pointer=1), lisp.Pathname.of("/a/b.c"), b"octets", 1j, list(range(-20, 40)), [0.5] * 20,
    ]  # fmt: skip


def test_counts_on_success() -> None:
    value = sample()
    data = lisp.dumps(value)

    def work() -> None:
        lisp.dumps(lisp.loads(data))
        lisp.dumps(value, refs=False)
        lisp.load(data, mmap=True)

    stays_level(work, ROUNDS)


def test_counts_of_graphs_that_are_built_twice() -> None:
    dotted = bytes.fromhex("22 20 05 23 d2")

    def work() -> None:
        made = lisp.loads(dotted)
        made.car = None

    stays_level(work, ROUNDS)


def test_counts_by_type() -> None:
    data = lisp.dumps([LispObject(Type("ANY::POINT", ["X", "Y"]), [1, [2]])] * 3)

    def work() -> None:
        assert lisp.loads(data, type=list[Point])[0].x == 1
        with pytest.raises(holdall.DecodeError):
            lisp.loads(data, type=list[int])

    stays_level(work, ROUNDS)


def test_counts_of_failing_loads() -> None:
    hostile = damaged(lisp.dumps(sample()), "lisp")

    def work() -> None:
        for data in hostile:
            with contextlib.suppress(holdall.HoldallError):
                lisp.loads(data)

    stays_level(work, 60)


def test_counts_of_failing_dumps() -> None:
    value = [sample(), object()]

    def work() -> None:
        with pytest.raises(holdall.EncodeError):
            lisp.dumps(value)

    stays_level(work, ROUNDS)
