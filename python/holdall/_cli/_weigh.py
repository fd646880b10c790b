"""The size of a value that is written as a tree, as formats without references do.

A list of two references to a list of two references, and so on 60 times, is a file of 300 bytes and a tree of
2**60 values. So this is computed before such a format is written, in one pass over the objects.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import holdall

from ._nodes import is_array, leaf, node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The weight of a value; a text's characters are added. It is about the number of bytes written.
VALUE = 8
# Shared values may be written repeatedly up to this much, and up to so many times what exists. A table of a
# kilobyte in a thousand places is reasonable; time and memory stay below the bounds for a file of that size
# (`tests/complexity/bounds.py`).
FIXED, MULTIPLE = 8 << 20, 64
# Larger weights count as endless, so that sums stay small ints.
_MOST = 1 << 60
# Shorter texts are not remembered: a reference to one costs as much.
_SHORT = 8
_SMALL = frozenset((int, float, bool, type(None)))
# Containers whose items are stored in them, not made when they are visited.
_KEEPING = frozenset((list, tuple, set, frozenset, dict, holdall.Record))


class Weight:
    """once: the weight of what exists, each shared value counted once. whole: the weight as a tree.

    flat: for formats with references to containers only: each text counts at each of its places.

    of: the weight of each container as a tree, by its id.
    """

    __slots__ = ("flat", "of", "once", "whole")

    def __init__(self) -> None:
        self.once = 0
        self.whole = 0
        self.flat = 0
        self.of: dict[int, int] = {}

    @property
    def most(self) -> int:
        return FIXED + MULTIPLE * self.once

    def add(self, value: Any) -> None:
        """Any depth; a container within itself counts nothing there."""
        # Ids are valid for this value only: objects of the next one may reuse them.
        of: dict[int, int] = {}
        self.of = of
        contents: dict[int, int] = {}
        sizes: dict[int, int] = {}
        kept: list[Any] = []
        # For each open container: itself, what holds its items, the remaining items, and the sum so far.
        stack: list[tuple[Any, int, Iterator[Any], int]] = []
        flat = 0
        found, content, items, total, once = None, 0, iter((value,)), 0, 0
        while True:
            for child in items:
                total += VALUE
                once += VALUE
                cls = type(child)
                if cls in _SMALL:
                    continue
                if cls is str or cls is bytes:
                    size = len(child)
                    if size > _SHORT:
                        total += size
                        flat += size
                        if id(child) not in sizes:
                            sizes[id(child)] = size
                            once += size
                    continue
                known = of.get(id(child))
                if known is None:
                    known = sizes.get(id(child))
                    flat += known or 0
                if known is not None:
                    total += known
                    continue
                inside = _parts(child)
                if cls not in _KEEPING:
                    # Made for this alone, and kept so that no other object gets its id.
                    kept.append(child)
                if inside is None:
                    sizes[id(child)] = size = _length(child)
                    flat += size
                    total += size
                    once += size
                elif inside[1] != id(child) and inside[1] in contents:
                    of[id(child)] = contents[inside[1]]
                    total += of[id(child)]
                else:
                    stack.append((found, content, items, total))
                    found, content, items, total = child, inside[1], iter(inside[0]), 0
                    # While it is open: it may contain itself.
                    of[id(found)] = 0
                    if content != id(found):
                        contents[content] = 0
                    break
            else:
                total = min(total, _MOST)
                if not stack:
                    break
                of[id(found)] = total
                if content != id(found):
                    contents[content] = total
                found, content, items, before = stack.pop()
                total += before
        self.whole = min(self.whole + total, _MOST)
        self.once += once
        self.flat = min(self.flat + once - sum(sizes.values()) + flat, _MOST)


def _parts(value: Any) -> tuple[Iterable[Any], int] | None:
    """What a container contains, including keys, and the id of what holds it; None for a value without parts."""
    cls = type(value)
    if cls is list or cls is tuple or cls is set or cls is frozenset:
        return value, id(value)
    if cls is dict:
        return chain(value, value.values()) if value else (), id(value)
    if cls is holdall.Record and value.kind == "object":
        return value.fields.values(), id(value)
    found = node(value)
    of_julia = cls.__module__.startswith("holdall.julia.")
    if found is None:
        return _slots(value) if of_julia else None
    items = _of_node(found.items, is_map=found.kind == "map")
    if of_julia and cls.__name__ == "JuliaStruct":
        # Its type is written with it, and types share parameters.
        return chain((getattr(value, "type", None),), items), found.content
    return items, found.content


def _slots(value: Any) -> tuple[Iterable[Any], int] | None:
    """The fields of a type or number of Julia's, as formats without them write these; None if it has none, or
    if it is a text (possibly a part of a longer one) or a number of Python's, which is written instead.
    """
    if isinstance(value, (str, complex, timedelta)):
        return None
    names = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    fields = [getattr(value, name) for name in names if hasattr(value, name)]
    return ([*names, *fields], id(value)) if fields else None


def _of_node(items: Iterator[tuple[Any, Any]], *, is_map: bool) -> Iterator[Any]:
    for step, child in items:
        if is_map:
            yield step
        yield child


def _length(value: Any) -> int:
    if is_array(value):
        return int(value.nbytes)
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    if isinstance(value, re.Pattern):
        # Python's text for a pattern is cut off.
        return len(value.pattern)
    return len(leaf(value))
