"""`isomorphic(a, b)`: are two object graphs the same, down to bits, order and identity?

`==` says too little: it takes `True` for `1` and `-0.0` for `0.0`, can't see who shares what, and recurses to death.
Here every object is taken to `parts` (a value, ordered children, unordered members), and the two graphs are walked side by
side with an explicit stack while a bijection between the objects is kept.

Not compared, because no copy can or should keep them: the identity of None/bool/int/float/complex and of what CPython
itself keeps once (one-character strings, empty tuples, enum members), the identity of attribute names, tracebacks,
NumPy memory shared by views, and values that a class caches about itself.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from typing import Any

from tests.support.parts import (
    BY_REFERENCE,
    SCALARS,
    Parts,
    is_mergeable,
    is_singleton,
    label,
    parts,
    scalar_bits,
)

SKETCH_DEPTH = 3
SKETCH_WIDTH = 8
CHOICE_BUDGET = 5_000

# A path is a chain of (parent path, object, index of the child), told in words only when it is needed:
# a million frames deep nothing else is affordable.
Path = Any


class Difference(AssertionError):
    """Two graphs differ; the text starts with the path of the first difference."""


def isomorphic(
    a: object, b: object, *, interned: bool = False, ordered: bool = True, identity: bool = True
) -> None:
    """Raise `Difference` (an AssertionError) unless `a` and `b` are the same graph.

    interned: equal strings of `a` may be one object in `b` (always allowed for the keys of dicts).
    ordered: False takes the attributes of an instance in any order, as canonical messages do.
    identity: False compares as trees: who is shared with whom does not matter.
    """
    match = _Match(interned, ordered, identity)
    match.todo.append((a, b, None))
    # nothing here is garbage before the end, and on a million objects the collector takes half of the time
    enabled = gc.isenabled()
    gc.disable()
    try:
        match.solve()
    finally:
        if enabled:
            gc.enable()


class _Match:
    def __init__(self, interned: bool, ordered: bool, identity: bool) -> None:
        self.interned = interned
        self.ordered = ordered
        self.identity = identity
        # id -> (a, b); the tuples keep both alive, so that no id is ever reused during the walk
        self.forward: dict[int, tuple[object, object]] = {}
        self.backward: dict[int, tuple[object, object]] = {}
        self.key_ids: set[int] = set()
        self.merged: list[tuple[object, object, Path]] = []
        self.todo: list[tuple[object, object, Path]] = []
        self.sets: list[tuple[list[object], list[object], Path]] = []
        self.trail: list[tuple[dict[int, tuple[object, object]], int]] | None = None
        self.choices = 0

    def solve(self) -> None:
        """Walk what is determined; then pair the members of sets, with backtracking where they look alike."""
        while True:
            while self.todo:
                self.compare(*self.todo.pop())
            if not self.sets:
                break
            ours, theirs, path = self.sets.pop()
            if not self.pair_members(ours, theirs, path):
                return
        self.check_merged()

    def compare(self, a: object, b: object, path: Path) -> None:
        cls = type(a)
        if cls is not type(b):
            fail(path, f"type {cls.__qualname__} became {type(b).__qualname__}")
        if cls in SCALARS:
            if scalar_bits(a) != scalar_bits(b):
                fail(path, f"value {a!r} became {b!r}")
            return
        if issubclass(cls, BY_REFERENCE):  # before 3.11 `list[int]` says that it is a class
            if a is not b:
                fail(path, f"{a!r} became another object, {b!r}")
            return
        if self.identity and not is_singleton(a) and not self.bind(a, b, path):
            return
        if cls is list or cls is tuple:
            self.compare_sequences(a, b, path)
            return
        ours, theirs = parts(a), parts(b)
        if not self.ordered:
            ours, theirs = _by_name(ours), _by_name(theirs)
        if ours.value != theirs.value:
            fail(path, f"value {ours.value!r:.200} became {theirs.value!r:.200}")
        if len(ours.children) != len(theirs.children):
            fail(path, f"{len(ours.children)} parts became {len(theirs.children)}")
        if ours.members is not None and theirs.members is not None:
            if len(ours.members) != len(theirs.members):
                fail(path, f"{len(ours.members)} members became {len(theirs.members)}")
            self.sets.append((ours.members, theirs.members, path))
        self.note_keys(ours)
        for index in range(len(ours.children) - 1, -1, -1):
            self.todo.append((ours.children[index], theirs.children[index], (path, a, index)))

    def compare_sequences(self, a: Any, b: Any, path: Path) -> None:
        """What `compare` does with lists and tuples, without taking them to parts: most of large graphs are these."""
        if len(a) != len(b):
            fail(path, f"{len(a)} parts became {len(b)}")
        for index in range(len(a) - 1, -1, -1):
            if a[index] is not b[index] or type(a[index]) not in SCALARS:
                self.todo.append((a[index], b[index], (path, a, index)))

    def note_keys(self, found: Parts) -> None:
        for index in range(0, found.keyed, 2):
            if type(found.children[index]) is str:
                self.key_ids.add(id(found.children[index]))

    def bind(self, a: object, b: object, path: Path) -> bool:
        """Record that `a` became `b`. False: the pair was known already."""
        known = self.forward.get(id(a))
        if known is not None:
            if known[1] is not b:
                fail(path, f"one {type(a).__qualname__} became two objects")
            return False
        other = self.backward.get(id(b))
        if other is not None:
            if not is_mergeable(a) and not (self.interned and type(a) is str):
                if type(a) is not str:
                    fail(path, f"two objects of type {type(a).__qualname__} became one")
                # whether both are keys is known only at the end of the walk
                self.merged.append((other[0], a, path))
        else:
            self.record(self.backward, id(b), (a, b))
        self.record(self.forward, id(a), (a, b))
        return True

    def record(self, table: dict[int, tuple[object, object]], key: int, pair: tuple[object, object]) -> None:
        table[key] = pair
        if self.trail is not None:
            self.trail.append((table, key))

    def check_merged(self) -> None:
        for first, second, path in self.merged:
            if id(first) not in self.key_ids or id(second) not in self.key_ids:
                fail(path, "two strings became one")

    def pair_members(self, ours: list[object], theirs: list[object], path: Path) -> bool:
        """Queue the pairs of one set's members. False: the rest was solved by trying."""
        groups: dict[object, tuple[list[object], list[object]]] = defaultdict(lambda: ([], []))
        for member in ours:
            groups[sketch(member, SKETCH_DEPTH)][0].append(member)
        for member in theirs:
            groups[sketch(member, SKETCH_DEPTH)][1].append(member)
        for left, right in groups.values():
            if len(left) != len(right):
                member = (left or right)[0]
                fail(path, f"set members differ: {len(left)} like {_short(member)} became {len(right)}")
        for left, right in groups.values():
            self.pair_known(left, right, path)
            if len(left) == 1:
                self.todo.append((left[0], right[0], (path, None, _short(left[0]))))
                left.clear()
                right.clear()
        open_groups = [group for group in groups.values() if group[0]]
        if not open_groups:
            return True
        if self.sets or self.todo:
            # what is still to be walked may decide this choice
            postponed = [(left, right, path) for left, right in open_groups]
            if self.walk_others():
                self.sets.extend(postponed)
                return True
        self.choose(open_groups, path)
        return False

    def walk_others(self) -> bool:
        """Walk what is queued; True when that brought new pairs (so that choices may have become clear)."""
        before = len(self.forward)
        while self.todo:
            self.compare(*self.todo.pop())
        return len(self.forward) > before

    def pair_known(self, left: list[object], right: list[object], path: Path) -> None:
        for member in list(left):
            known = self.forward.get(id(member)) if self.identity else None
            if known is None:
                continue
            at = next((i for i, candidate in enumerate(right) if candidate is known[1]), None)
            if at is None:
                fail(path, f"the set has lost its member {_short(member)}")
            _drop(left, member)
            del right[at]

    def choose(self, groups: list[tuple[list[object], list[object]]], path: Path) -> None:
        """Members that look alike: try every partner of the first, and undo what a wrong one recorded."""
        (left, right), rest = groups[0], groups[1:]
        member = left[0]
        error: Difference | None = None
        for candidate in right:
            self.choices += 1
            if self.choices > CHOICE_BUDGET:
                raise RuntimeError("isomorphic: the members of the sets look too much alike to decide")
            saved = (list(self.sets), set(self.key_ids), list(self.merged), self.trail)
            self.trail = []
            self.todo = [(member, candidate, (path, None, _short(member)))]
            left_rest = [x for x in left if x is not member]
            right_rest = [x for x in right if x is not candidate]
            for pair in [(left_rest, right_rest), *rest]:
                if pair[0]:
                    self.sets.append((list(pair[0]), list(pair[1]), path))
            try:
                self.solve()
            except Difference as difference:
                error = difference
                for table, key in self.trail:
                    del table[key]
                self.sets, self.key_ids, self.merged = list(saved[0]), set(saved[1]), list(saved[2])
                self.trail = saved[3]
            else:
                return
        assert error is not None
        raise error


def _by_name(found: Parts) -> Parts:
    """The attributes in the order of their names."""
    if not found.names:
        return found
    base = len(found.children) - len(found.names)
    pairs = sorted(zip(found.names, found.children[base:], strict=True), key=lambda pair: pair[0])
    names = tuple(name for name, _ in pairs)
    children = [*found.children[:base], *(child for _, child in pairs)]
    return found._replace(value=(found.value[0], names), children=children, names=names)  # type: ignore[index]


def _drop(items: list[object], item: object) -> None:
    """Remove `item` itself, not its equal."""
    del items[next(i for i, other in enumerate(items) if other is item)]


def sketch(obj: object, depth: int) -> object:
    """A hashable that equal graphs have in common; different ones mostly don't."""
    cls = type(obj)
    if cls in SCALARS:
        return (cls, scalar_bits(obj))
    if issubclass(cls, BY_REFERENCE):
        return id(obj)
    found = _by_name(parts(obj))
    value = (cls, repr(found.value), len(found.children))
    if depth == 0:
        return value
    children = tuple(sketch(child, depth - 1) for child in found.children[:SKETCH_WIDTH])
    counts: dict[object, int] = defaultdict(int)
    for member in found.members or ():
        counts[sketch(member, depth - 1)] += 1
    return (value, children, frozenset(counts.items()))


def _short(obj: object) -> str:
    if type(obj) in SCALARS or type(obj) in (str, bytes):
        return f"{obj!r:.40}"
    return f"<{type(obj).__qualname__}>"


def fail(path: Path, problem: str) -> None:
    """Raise with the path told from the root; the middle of a very long one is left out."""
    steps = []
    while path is not None:
        steps.append(path[1:])
        path = path[0]
    steps.reverse()
    told = [_step(*step) for step in (steps if len(steps) <= 40 else steps[:20] + steps[-20:])]
    if len(steps) > 40:
        told.insert(20, f" ...{len(steps) - 40} steps... ")
    raise Difference(f"at ${''.join(told)}: {problem}")


def _step(obj: object, index: Any) -> str:
    return "{" + index + "}" if obj is None else label(obj, index)
