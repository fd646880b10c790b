"""Dicts whose keys never repeat are written pair by pair; those whose keys do repeat, by their shape."""

from __future__ import annotations

from dataclasses import dataclass

import holdall
from tests.support.isomorphic import isomorphic


def different(count: int) -> list[dict[str, int]]:
    return [{f"a{i}": i, f"b{i}": i} for i in range(count)]


def alike(count: int) -> list[dict[str, int]]:
    return [{"left": i % 50, "right": i % 50} for i in range(count)]


def size(value: object) -> int:
    return len(holdall.dumps(value))


def test_they_come_back():
    for whole in (different(100), different(100) + alike(50), [*different(40), alike(3), different(40)]):
        for options in ({}, {"refs": False}, {"canonical": True}, {"intern": True}):
            isomorphic(whole, holdall.loads(holdall.dumps(whole, **options)), identity=False)


def test_keys_that_begin_to_repeat_are_noticed():
    # A dict of two small ints takes three bytes once its keys are known.
    assert size(different(100) + alike(1_100)) - size(different(100) + alike(100)) < 1_000 * 6
    mixed = [each for pair in zip(different(100), alike(100), strict=True) for each in pair]
    assert size(mixed) < size(different(100)) + 100 * 6


def test_never_larger_than_with_shapes():
    values = different(500)
    assert size(values) <= len(holdall.dumps(values, canonical=True))


def test_canonical_bytes_do_not_depend_on_what_came_before():
    one = {"x": 1, "y": 2}
    assert (
        len(holdall.dumps([*different(50), one, dict(one)], canonical=True))
        - len(holdall.dumps([*different(50), one], canonical=True))
        == size([one, dict(one)]) - size([one]) + 1
    )


def test_by_type():
    @dataclass
    class Any:
        a17: int = 0
        b17: int = 0

    wanted = [Any() for _ in range(100)]
    wanted[17] = Any(17, 17)
    assert holdall.loads(holdall.dumps(different(100)), type=list[Any]) == wanted
    assert holdall.loads(holdall.dumps(different(100)), type=list[dict[str, int]]) == different(100)


def test_keys_twice_and_keys_that_are_objects():
    name = "".join(["na", "me"])
    whole = [*different(40), {name: name}, name, {name: [name], "é" * 3: 1}, *different(40)]
    isomorphic(whole, holdall.loads(holdall.dumps(whole)))
