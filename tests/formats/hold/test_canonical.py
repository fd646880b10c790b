"""`canonical=True`: equal graphs give equal bytes, whatever their history, process and hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Callable

import holdall
from tests.support import models
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, TYPES, Kind, text
from tests.support.places import REPO

SCRIPT = """
import hashlib, json
import holdall
from tests.support.kinds import KINDS
print(json.dumps({k.name: hashlib.sha256(holdall.dumps(k.make(), canonical=True)).hexdigest() for k in KINDS}))
"""


def digests(seed: str) -> dict[str, str]:
    env = {**os.environ, "PYTHONHASHSEED": seed}
    output = subprocess.check_output([sys.executable, "-c", SCRIPT], cwd=REPO, env=env, timeout=120)
    return json.loads(output)  # type: ignore[no-any-return]


def test_equal_over_hash_seeds() -> None:
    first = digests("0")
    for seed in ("1", "2", "4242"):
        other = digests(seed)
        assert {name for name in first if first[name] != other[name]} == set()


def canonical(obj: Any) -> bytes:
    return holdall.dumps(obj, canonical=True)


def same(a: Any, b: Any) -> None:
    """What canonical messages keep: not which equal strings were one object, nor when an attribute was first set."""
    isomorphic(a, b, interned=True, ordered=False)


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_stable(kind: Kind) -> None:
    """Made twice, restored, restored again: one and the same bytes."""
    data = canonical(kind.make())
    assert canonical(kind.make()) == data
    back = holdall.loads(data, types=TYPES)
    same(kind.make(), back)
    assert canonical(back) == data
    assert canonical(holdall.loads(holdall.dumps(kind.make()), types=TYPES)) == data
    assert canonical(holdall.deepcopy(kind.make())) == data


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_references_from_outside_do_not_show(kind: Kind) -> None:
    obj = kind.make()
    data = canonical(obj)
    held = [obj, *_everything_in(obj)]
    assert canonical(obj) == data
    assert len(held) >= 1


def _everything_in(obj: Any) -> list[Any]:
    """Hold a second reference to every part, as a debugger or a cache does."""
    import gc

    found: list[Any] = []
    todo, seen = [obj], {id(obj)}
    while todo and len(found) < 10_000:
        for part in gc.get_referents(todo.pop()):
            if id(part) not in seen and not isinstance(part, type) and not callable(part):
                seen.add(id(part))
                found.append(part)
                if not hasattr(part, "__spec__") and "__builtins__" not in (
                    part if isinstance(part, dict) else ()
                ):
                    todo.append(part)
    return found


MEMBERS: dict[str, list[Any]] = {
    "ints": [8, 0, 16, 24, -1, 10**30, 2**61 - 1],
    "texts": ["b", "a", "longer text", "é", "語", "\ud800", ""],
    "mixed": [1, "a", None, 2.5, b"b", (1, 2), frozenset({3, "x"}), 1j, ...],
    "tuples": [(2, "b"), (1, "a"), (1, ("x", 2)), ()],
    "frozensets": [frozenset({1, 2}), frozenset({"a"}), frozenset()],
    "floats": [0.5, -1.5, 1e300, float("inf"), 5e-324],
    "members": [models.Color.RED, models.Color.BLUE, models.Level.LOW],
    "instances": [models.DFrozen(1, "x"), models.DFrozen(2, "y"), models.NPoint(1, 2)],
}


@each("name", MEMBERS)
@each("cls", [set, frozenset, models.MySet])
def test_sets_of_every_history(name: str, cls: Callable[..., Any]) -> None:
    members = MEMBERS[name]
    plain = cls(members)
    grown: set[Any] = set()
    for member in reversed(members):
        grown.add(member)
    shrunk = set(range(1_000, 9_000)) | set(members)
    shrunk -= set(range(1_000, 9_000))
    rotated = [*members[3:], *members[:3]]
    expected = canonical(plain)
    for other in (cls(grown), cls(shrunk), cls(rotated)):
        assert canonical(other) == expected
        assert canonical([other, {"k": other}]) == canonical([plain, {"k": plain}])
    same(plain, holdall.loads(expected, types=TYPES))


def test_interned_or_not() -> None:
    assert canonical([sys.intern("left"), 1]) == canonical([text("left"), 1])
    assert canonical(models.DPoint(text("left"), 1)) == canonical(models.DPoint(sys.intern("left"), 1))
    assert canonical({text("left"): 1}) == canonical({sys.intern("left"): 1})
    one = text("once or twice")
    assert canonical([one, one, {one: one}]) == canonical(
        [text("once or twice"), one, {text("once or twice"): one}]
    )


def test_cached_small_values_do_not_count_as_shared() -> None:
    """CPython keeps small ints, one-character strings and empty tuples once: whether it does is no part of the graph."""
    data = canonical([int("5"), int("5"), int("70000"), int("70000"), text("a"), (), ()])
    thousand = 70_000
    letter = "a"
    empty: tuple[Any, ...] = ()
    assert canonical([5, 5, thousand, thousand, letter, empty, empty]) == data
    # One byte is kept once by some of CPython's functions and not by others.
    separate = [bytes(bytearray(b"x")), bytes(bytearray(b"x")), b""]
    assert (
        canonical(separate) == canonical([b"x", b"x", b""]) == canonical(holdall.loads(canonical(separate)))
    )


def test_dicts_of_every_history() -> None:
    plain = {"a": 1, "b": [2], "c": 3}
    other: dict[str, Any] = {f"x{i}": i for i in range(100)}
    other.update(a=1, b=[2], c=3)
    for i in range(100):
        del other[f"x{i}"]
    split = models.PlainDict.__new__(models.PlainDict)
    split.a, split.b, split.c = 1, [2], 3
    assert canonical(other) == canonical(plain) == canonical(vars(split))


def test_instances_of_every_history() -> None:
    plain = models.DPoint(1, [2])
    other = models.DPoint.__new__(models.DPoint)
    other.z = 0
    other.x, other.y = 1, [2]
    del other.z
    assert canonical(other) == canonical(plain)
    late = models.DPoint.__new__(models.DPoint)
    late.y, late.x = [2], 1
    assert canonical(late) == canonical(plain)
    same(plain, holdall.loads(canonical(late), types=TYPES))


def test_different_graphs_give_different_bytes() -> None:
    shared = [text("ab")]
    graphs = [
        [shared, shared],
        [[text("ab")], [text("ab")]],
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        [1, True],
        [True, 1],
        [0.0],
        [-0.0],
        {1, 2},
        frozenset({1, 2}),
    ]
    assert len({canonical(graph) for graph in graphs}) == len(graphs)


def test_sharing_inside_sets() -> None:
    word = text("in the set and outside")
    one = [word, {word, 1, (word, 2)}]
    two = [word, {(word, 2), 1, word}]
    assert canonical(one) == canonical(two)
    same(one, holdall.loads(canonical(one)))


def test_sets_of_identity_objects_are_refused_or_stable() -> None:
    """Objects that hash by address have no order of their own but what they hold."""

    def graph(order: list[int]) -> Any:
        nodes = [models.PlainDict(i) for i in range(4)]
        return {nodes[i] for i in order}

    assert canonical(graph([0, 1, 2, 3])) == canonical(graph([3, 1, 0, 2]))


def test_canonical_in_the_encoder() -> None:
    encoder = holdall.Encoder(canonical=True)
    for kind in KINDS:
        assert encoder.encode(kind.make()) == canonical(kind.make())


def test_keys_of_another_parser_are_the_same_keys():
    """Each parser makes keys of its own; which of them are one object is no part of a canonical message."""
    text = '{"a": {"id": 1, "name": "x"}, "b": {"id": 2, "name": "y"}}'
    for count in (2, 3, 40):
        apart = [json.loads(text) for _ in range(count)]
        together = json.loads(f"[{','.join([text] * count)}]")
        stored = holdall.dumps(apart, canonical=True)
        assert stored == holdall.dumps(together, canonical=True)
        assert stored == holdall.dumps(holdall.loads(stored), canonical=True)
        assert holdall.dumps(apart, intern=True) == holdall.dumps(together, intern=True)
