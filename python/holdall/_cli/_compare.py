"""Where two values differ: in type, content and path."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ._keys import Keys
from ._nodes import Node, is_array, node
from ._pretty import path_up

if TYPE_CHECKING:
    from collections.abc import Iterator


class Change(NamedTuple):
    """A difference.

    kind: "added", "removed", "changed" or "type". note: text to show in place of the values.
    """

    path: str
    kind: str
    old: Any = None
    new: Any = None
    note: str = ""


# A value's place: its container's place and the step from there. The path is only made when it is shown.
_Place = tuple[Any, Any]


def _show(place: _Place | None) -> str:
    return path_up(_steps_up(place))


def _steps_up(place: _Place | None) -> Iterator[Any]:
    while place is not None:
        place, step = place
        yield step


def compare(old: Any, new: Any) -> Iterator[Change]:
    """The differences between two values, in the order of the first one.

    Values must be of the same type: `1`, `True` and `1.0` differ. NaN equals NaN, and -0.0 differs from 0.0.
    Sequences are compared item by item, sets and keys of dicts by value in any order. Two containers are
    compared once, wherever they occur again: so cycles end, and it makes no difference what is shared.

    Cycles of different lengths have as many pairs as the product of their lengths. Beyond a number of pairs
    in proportion to the containers, a pair is skipped if earlier pairs imply that both must be equal: x and z
    after x and y, y and z. So equal values have no differences, and others at least one.
    """
    stack: list[Any] = [(old, new, None)]
    # The values are kept so that no other object gets their ids.
    met: dict[tuple[int, int], tuple[Any, Any]] = {}
    equal = _Classes()
    keys = Keys()
    while stack:
        left, right, place = stack.pop()
        if isinstance(left, Change):
            yield left
            continue
        if left is right and not isinstance(left, float):
            continue
        a, b = node(left), node(right)
        if a is None or b is None:
            if (id(left), id(right)) in met:
                continue
            if _is_long(left):
                met[id(left), id(right)] = (left, right)
            yield from _leaves(left, right, place, both=a is b)
            continue
        if (id(left), id(right)) in met:
            continue
        met[id(left), id(right)] = (left, right)
        if not equal.join(id(left), id(right)) and len(met) > _PAIRS + _PAIRS_EACH * len(equal.parents):
            continue
        if (a.name, a.extra) != (b.name, b.extra):
            yield Change(_show(place), "type", left, right, _kinds(a, b))
            if a.kind != b.kind:
                continue
        if a.content != id(left) or b.content != id(right):
            # Other containers with the same items may have been compared.
            if (a.content, b.content) in met:
                continue
            met[a.content, b.content] = (left, right)
        found = _COMPARE[a.kind](a, b, place, keys)
        found.reverse()
        stack.extend(found)


# So many pairs of containers are always compared: a fixed number, and a number for each container.
_PAIRS, _PAIRS_EACH = 1 << 14, 4


class _Classes:
    """Sets of containers that must be equal, by id (a union-find forest)."""

    def __init__(self) -> None:
        self.parents: dict[int, int] = {}

    def root(self, of: int) -> int:
        parents = self.parents
        while (parent := parents.setdefault(of, of)) != of:
            # Path halving: later searches are shorter.
            parents[of] = parents[parent]
            of = parent
        return of

    def join(self, a: int, b: int) -> bool:
        """Whether they were not known to be equal."""
        a, b = self.root(a), self.root(b)
        self.parents[a] = b
        return a != b


def _is_long(value: Any) -> bool:
    """Whether comparing takes longer than remembering."""
    cls = type(value)
    if cls is int:
        return bool(value.bit_length() > 1 << 10)
    if cls is str or cls is bytes:
        return len(value) > 1 << 10
    return cls is not float and cls is not bool and value is not None


def _leaves(left: Any, right: Any, place: _Place | None, both: bool) -> Iterator[Change]:
    if not both or type(left) is not type(right):
        yield Change(_show(place), "type", left, right, f"{_named(left)} became {_named(right)}")
    elif is_array(left):
        note = _arrays(left, right)
        if note:
            yield Change(_show(place), "changed", left, right, note)
    elif not same(left, right):
        yield Change(_show(place), "changed", left, right)


def same(left: Any, right: Any) -> bool:
    """Whether two values of one type without parts are the same."""
    if isinstance(left, float):
        if left != left or right != right:
            return left != left and right != right
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    try:
        if bool(left == right):
            return True
        # NaNs of NumPy and Decimal, and complex numbers with one.
        return bool(left != left and right != right) and repr(left) == repr(right)
    except MemoryError:
        raise
    except Exception:
        return repr(left) == repr(right)


def _named(value: Any) -> str:
    parts = node(value)
    return type(value).__name__ if parts is None else _container(parts)


def _container(parts: Node) -> str:
    return str(parts.extra.get("type", parts.name))


def _kinds(a: Node, b: Node) -> str:
    old, new = _container(a), _container(b)
    if old == new:
        rest = [
            f"{key} {a.extra.get(key)} became {b.extra.get(key)}"
            for key in {**a.extra, **b.extra}
            if a.extra.get(key) != b.extra.get(key)
        ]
        return f"{old}: {', '.join(rest)}" if rest else f"{a.name} became {b.name}"
    return f"{old} became {new}"


def _arrays(left: Any, right: Any) -> str:
    if left.dtype != right.dtype or left.shape != right.shape:
        return f"array {left.dtype}{list(left.shape)} became {right.dtype}{list(right.shape)}"
    import numpy

    differ = left != right
    if left.dtype.kind in "fcmM":
        differ &= (
            ~(numpy.isnan(left) & numpy.isnan(right))
            if left.dtype.kind in "fc"
            else ~(numpy.isnat(left) & numpy.isnat(right))
        )
    count = int(numpy.count_nonzero(differ))
    if not count:
        return ""
    at = [int(place) for place in numpy.argwhere(differ)[0]]
    values = f"{left[tuple(at)]} became {right[tuple(at)]}" if left.dtype.names is None else "of its records"
    return f"{count} of {left.size} items differ, first at {at}: {values}"


_PLAIN = frozenset((int, str, bool, type(None), bytes))
_EMPTY = frozenset((list, dict, tuple))


def _are_alike(left: Any, right: Any) -> bool:
    """A quick test for the most frequent types; False if a closer comparison is needed."""
    cls = type(left)
    if cls is not type(right):
        return False
    if cls in _PLAIN:
        return left is right or (bool(left == right) and not _is_long(left))
    return cls in _EMPTY and not left and not right


def _sequences(a: Node, b: Node, place: _Place | None, keys: Keys) -> list[Any]:
    found: list[Any] = []
    while True:
        left, right = next(a.items, None), next(b.items, None)
        if left is None and right is None:
            return found
        if left is None and right is not None:
            found.append((Change(_show((place, right[0])), "added", new=right[1]), None, None))
        elif right is None and left is not None:
            found.append((Change(_show((place, left[0])), "removed", old=left[1]), None, None))
        elif left is not None and right is not None and not _are_alike(left[1], right[1]):
            found.append((left[1], right[1], (place, left[0])))


def _keyed(
    items: Iterator[tuple[Any, Any]], keys: Keys, *, of_members: bool = False
) -> dict[Any, tuple[Any, Any]]:
    """Items by the form of their keys; several with the same form are numbered."""
    found: dict[Any, tuple[Any, Any]] = {}
    again: Counter[Any] = Counter()
    for step, child in items:
        form = keys.of(child if of_members else step)
        if form in found:
            again[form] += 1
            form = "again", form, again[form]
        found[form] = (step, child)
    return found


def _mappings(a: Node, b: Node, place: _Place | None, keys: Keys) -> list[Any]:
    found: list[Any] = []
    rest = _keyed(b.items, keys)
    for form, (step, child) in _keyed(a.items, keys).items():
        other = rest.pop(form, None)
        if other is None:
            found.append((Change(_show((place, step)), "removed", old=child), None, None))
        else:
            if not _are_alike(child, other[1]):
                found.append((child, other[1], (place, step)))
    found.extend(
        (Change(_show((place, step)), "added", new=child), None, None) for step, child in rest.values()
    )
    return found


def _sets(a: Node, b: Node, place: _Place | None, keys: Keys) -> list[Any]:
    old = _keyed(a.items, keys, of_members=True)
    new = _keyed(b.items, keys, of_members=True)
    if old.keys() == new.keys():
        return []
    path = _show(place)
    found = [(Change(path, "removed", old=old[form][1]), None, None) for form in old if form not in new]
    return found + [(Change(path, "added", new=new[form][1]), None, None) for form in new if form not in old]


_COMPARE = {"list": _sequences, "map": _mappings, "fields": _mappings, "set": _sets}
