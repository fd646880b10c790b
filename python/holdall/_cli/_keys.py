"""Keys of dicts and members of sets, told apart by type and content."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ._nodes import Node, is_array, leaf, node

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

_SMALL = frozenset((int, float, bool, type(None)))
# Larger ints are hashed once for each object, because CPython doesn't cache their hash.
_SMALL_INT = 64


class _Taken(NamedTuple):
    """A container being taken apart, with the forms of its parts so far. parts: None for tuples and
    frozensets.
    """

    value: Any
    parts: Node | None
    items: Iterator[Any]
    forms: list[Hashable]


class Keys:
    """Forms of keys: equal for equal keys of the same types, in whichever value they occur.

    1, True and 1.0 differ; NaN equals NaN, 0.0 equals -0.0; records are compared by content, other values by
    Python's text for them. Each object is taken apart once, however many keys share it, while Python's `hash`
    and `==` visit a shared tuple at each of its places, and recurse as deep as keys are nested. The objects
    must live as long as this does.

    Forms consist of texts, bytes and numbers of other forms, because other values can be crafted to have
    equal hashes.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[int, Any] = {}
        self._contents: dict[int, int] = {}
        # Containers made for this alone, kept so that no other object gets their ids.
        self._kept: list[Any] = []

    def of(self, key: Any) -> Hashable:
        stack: list[_Taken] = []
        found = self._form(key, stack)
        while stack:
            top = stack[-1]
            for child in top.items:
                found = self._form(child, stack)
                if found is None:
                    break
                top.forms.append(found)
            else:
                if top.parts is None:
                    found = self._number(_shape(type(top.value), top.forms))
                    self._known[id(top.value)] = found
                else:
                    found = self._done(top.value, top.parts, self._number(_shape(top.parts.kind, top.forms)))
                stack.pop()
                if stack:
                    stack[-1].forms.append(found)
        return found

    def _done(self, value: Any, parts: Node, items: int) -> int:
        """items: the form of what holds its items, which several containers may share."""
        self._contents[parts.content] = items
        form = self._number((parts.name, items, *(repr(pair) for pair in sorted(parts.extra.items()))))
        self._known[id(value)] = form
        return form

    def _form(self, key: Any, stack: list[_Taken]) -> Hashable | None:
        """None for a container that isn't known yet; it is begun."""
        cls = type(key)
        if cls is str:
            return str(key)
        if cls in _SMALL and (cls is not int or key.bit_length() <= _SMALL_INT):
            return b"%x" % key if cls is int else b"%a" % (key + 0.0 if cls is float else key)
        found: Hashable | None = self._known.get(id(key))
        if found is not None:
            return found
        if cls is tuple or cls is frozenset:
            self._known[id(key)] = ("within", len(stack))
            stack.append(_Taken(key, None, iter(key), []))
            return None
        self._kept.append(key)
        parts = node(key)
        if parts is None:
            found = self._known[id(key)] = self._number(_of_leaf(key))
            return found
        if parts.content in self._contents:
            return self._done(key, parts, self._contents[parts.content])
        # A reference to the container from within is identified by its level below the key.
        self._known[id(key)] = ("within", len(stack))
        stack.append(_Taken(key, parts, _flat(parts), []))
        return None

    def _number(self, form: Hashable) -> int:
        return self._numbers.setdefault(form, len(self._numbers))


def _of_leaf(value: Any) -> Hashable:
    if is_array(value):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (bytes, bytearray)):
        return type(value), bytes(value)
    if isinstance(value, re.Pattern):
        # Python's text for a pattern is cut off.
        return re.Pattern, value.pattern, value.flags
    return type(value), leaf(value)


def _flat(parts: Node) -> Iterator[Any]:
    for step, child in parts.items:
        if parts.kind in ("map", "fields"):
            yield step
        yield child


def _shape(kind: str | type, forms: list[Hashable]) -> Hashable:
    """kind: the kind of container, or the type if it differs from all kinds: tuple, frozenset."""
    if kind == "list" or kind is tuple:
        return kind, tuple(forms)
    if kind is frozenset:
        # Members that aren't records all have different forms.
        members = frozenset(forms)
        return (kind, members) if len(members) == len(forms) else (kind, frozenset(Counter(forms).items()))
    items: Iterable[Hashable] = forms if kind == "set" else zip(forms[::2], forms[1::2], strict=True)
    return kind, frozenset(Counter(items).items())
