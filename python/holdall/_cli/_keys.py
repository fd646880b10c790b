"""Keys and members of sets, told apart by type and content."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ._nodes import Node, is_array, leaf, node

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

_SMALL = frozenset((int, float, bool, type(None)))
# Ints of more bits are hashed once for each object, as CPython doesn't keep the hash.
_SMALL_INT = 64


class Keys:
    """Forms of keys: equal ones for equal keys of the same types, in whichever value they stand.

    1, True and 1.0 differ; NaN is NaN; records are what they hold. Each object is taken apart once, however often keys share it: Python's
    own `hash` and `==` go over a shared tuple at each of its places, and into each other as deep as keys are. The
    objects have to live as long as this does.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[int, Any] = {}
        # Of containers of temporary objects, which would leave their ids to others.
        self._kept: list[Any] = []

    def of(self, key: Any) -> Hashable:
        found = self._form(key)
        if found is not None:
            return found
        stack = [self._opened(key, 0)]
        while True:
            value, parts, items, forms = stack[-1]
            for child in items:
                found = self._form(child)
                if found is None:
                    stack.append(self._opened(child, len(stack)))
                    break
                forms.append(found)
            else:
                found = self._number(_shape(parts, forms))
                self._known[id(value)] = found
                stack.pop()
                if not stack:
                    return found
                stack[-1][3].append(found)

    def _opened(self, value: Any, depth: int) -> tuple[Any, Node, Iterator[Any], list[Hashable]]:
        parts = node(value)
        assert parts is not None
        # What holds it as well is so many levels below the key.
        self._known[id(value)] = ("within", depth)
        self._kept.append(value)
        return value, parts, _flat(parts), []

    def _form(self, key: Any) -> Hashable | None:
        """None of a container that is not known yet."""
        cls = type(key)
        if cls is str:
            return str(key)
        if cls in _SMALL and (cls is not int or key.bit_length() <= _SMALL_INT):
            return cls, (key if key == key else "nan")
        found: Hashable | None = self._known.get(id(key))
        if found is None and node(key) is None:
            self._kept.append(key)
            found = self._known[id(key)] = self._number(_of_leaf(key))
        return found

    def _number(self, form: Hashable) -> int:
        return self._numbers.setdefault(form, len(self._numbers))


def _of_leaf(value: Any) -> Hashable:
    if is_array(value):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, bytearray):
        return bytearray, bytes(value)
    try:
        hash(value)
        if value == value:
            return type(value), value
    except MemoryError:
        raise
    except Exception:
        # What can't be a key is that by its text, in a record that is one.
        pass
    return type(value), leaf(value)


def _flat(parts: Node) -> Iterator[Any]:
    for step, child in parts.items:
        if parts.kind in ("map", "fields"):
            yield step
        yield child


def _shape(parts: Node, forms: list[Hashable]) -> Hashable:
    what = (parts.name, *(repr(pair) for pair in sorted(parts.extra.items())))
    if parts.kind == "list":
        return what, tuple(forms)
    items: Iterable[Hashable] = forms if parts.kind == "set" else zip(forms[::2], forms[1::2], strict=True)
    return what, frozenset(Counter(items).items())
