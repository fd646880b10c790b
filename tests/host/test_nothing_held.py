"""A call lets go of what it was given: a thread keeps tables for its next call, and when it ends they are dropped without the GIL,
which objects in them would not survive."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import holdall
from holdall import bson, julia, lisp, msgpack
from holdall import pickle as holdall_pickle


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y


class Odd:
    def __init__(self, state: Any) -> None:
        self.state = state

    def __reduce__(self) -> Any:
        return Odd, (self.state,)


def texts(*names: str) -> list[str]:
    """Strings that nobody else has."""
    return ["".join([name, " of this test"]) for name in names]


def plain() -> tuple[Any, list[Any]]:
    a, b, c, d = texts("a", "b", "c", "d")
    inner = {a: [b, b], c: {d: 1.5}}
    return {"rows": [inner, dict(inner)], "text": d}, [a, b, c, d, inner]


def sets() -> tuple[Any, list[Any]]:
    a, b, c = texts("a", "b", "c")
    inner = frozenset([a, b])
    return [{a, b, c, inner}, inner, (c, c)], [a, b, c, inner]


def instances() -> tuple[Any, list[Any]]:
    a, b = texts("a", "b")
    point = Point(a, [b])
    return [point, point, Point(point, b)], [a, b, point]


def recipes() -> tuple[Any, list[Any]]:
    a, b = texts("a", "b")
    odd = Odd([a, b])
    return [odd, Odd(odd)], [a, b, odd]


CALLS: dict[str, tuple[Callable[[], tuple[Any, list[Any]]], Callable[[Any], Any]]] = {
    "hold": (plain, holdall.dumps),
    "hold, without references": (plain, lambda value: holdall.dumps(value, refs=False)),
    "hold, equal texts once": (plain, lambda value: holdall.dumps(value, intern=True)),
    "hold, canonical": (plain, lambda value: holdall.dumps(value, canonical=True)),
    "hold, sets": (sets, holdall.dumps),
    "hold, sets, canonical": (sets, lambda value: holdall.dumps(value, canonical=True)),
    "hold, instances": (instances, holdall.dumps),
    "hold, recipes": (recipes, lambda value: holdall.dumps(value, trust=True)),
    "pickle": (recipes, holdall_pickle.dumps),
    "MessagePack": (plain, msgpack.dumps),
    "MessagePack, instances": (instances, msgpack.dumps),
    "BSON": (plain, bson.dumps),
    "Julia": (plain, julia.dumps),
    "Lisp": (plain, lisp.dumps),
    "deepcopy": (plain, holdall.deepcopy),
    "deepcopy of recipes": (recipes, holdall.deepcopy),
}


@pytest.mark.parametrize("name", CALLS)
def test_counts_are_what_they_were(name: str) -> None:
    make, call = CALLS[name]
    value, parts = make()
    call(value)  # what is cached for a class is cached now
    value, parts = make()
    before = [sys.getrefcount(part) for part in parts]
    assert call(value) is not None
    assert [sys.getrefcount(part) for part in parts] == before
