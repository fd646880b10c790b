"""How much a value is, written as a tree: what formats without references take for it.

A list of two references to a list of two references, and so on 60 times, is a file of 300 bytes and a tree of 2**60 values. So it is
found out before such a format is written, in one pass over what there is.
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

# A value counts as so much, and a text as its characters besides: about what it takes to write them.
VALUE = 8
# What is shared may be written again up to that, and so many times what is there once. A table of a kilobyte in a thousand places is
# honest; the time and the memory that it takes stay below what a file of this size may cost anyway (`tests/complexity/bounds.py`).
FIXED, MULTIPLE = 8 << 20, 64
# More is as good as endless; sums of it stay small ints.
_MOST = 1 << 60
# Texts up to that are not remembered: a reference to one costs as much.
_SHORT = 8
_SMALL = frozenset((int, float, bool, type(None)))
# Containers of values that live as long as they do, and are made for nobody.
_KEEPING = frozenset((list, tuple, set, frozenset, dict, holdall.Record))


class Weight:
    """once: what there is, each shared value counted once. whole: the same as a tree.

    flat: as in formats with references to containers alone: each text counted at each of its places.

    of: the tree of each container, by its id.
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
        # Ids are those of one value's containers, which the next value's may take over.
        of: dict[int, int] = {}
        self.of = of
        contents: dict[int, int] = {}
        sizes: dict[int, int] = {}
        kept: list[Any] = []
        # Of each container that is open: itself, what holds its items, the rest of these, and the sum of those before.
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
                    # What was made for this alone would leave its id to others.
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
                    # As long as it is open: what it holds may be itself.
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
    """What a container holds, keys and all, and the id of what holds it; None of a value that holds none."""
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
    """The fields of a type or number of Julia's, as formats without them write these; None of one that has none, or is a text (a part
    of a longer one, maybe) or number of Python's, which is written instead.
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
        # Whose text for Python is cut off.
        return len(value.pattern)
    return len(leaf(value))
