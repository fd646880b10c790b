"""What a data set is, and what can be told of any data: its classes, its volume."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SEED = 20_26


@dataclass(frozen=True)
class Data:
    """A data set, made anew from a fixed seed in each process that stores it.

    each: the value is a list, whose items are stored one by one.
    identity: it matters what is shared with what, so that a codec that loses it has not restored the data.
    deep: codecs that recurse need a large stack, and get it.
    annotation: what the data are (where items go one by one, each of them), for codecs that load by type.
    keep: what is made of each item is kept until all are done.
    curve: it is a point of the curve of this name, and so large a list that some of its items stand for all.
    volume: see `volume`, where it is known.
    note: what one has to know to read the figures.
    """

    name: str
    suite: str
    title: str
    make: Callable[[], Any]
    each: bool = False
    identity: bool = False
    deep: bool = False
    annotation: Any = None
    keep: bool = False
    curve: str = ""
    volume: int | None = None
    note: str = ""


@dataclass
class Subject:
    """The data of one data set as a codec gets to know them before it begins.

    sample: the value, or the first of the items. classes: of its instances.
    """

    data: Data
    sample: Any
    classes: list[type]
    arrays: bool


def subject(data: Data, value: Any) -> Subject:
    sample = value[0] if data.each else value
    found = classes_in(some(data, value[:ENOUGH_ITEMS] if data.each else value))
    return Subject(data, sample, [cls for cls in found if is_users(cls)], any(map(is_array, found)))


def classes_in(value: Any) -> list[type]:
    """The types of everything that can be reached from `value`, classes themselves left out, in order of appearance."""
    found = dict.fromkeys([type(value)])
    for parts in reachable(value):
        found.update(dict.fromkeys(map(type, parts)))
    return [cls for cls in found if not issubclass(cls, NOT_DATA)]


def is_users(cls: type) -> bool:
    """Does a codec have to be told about it? Not about what Python and NumPy have."""
    root = (cls.__module__ or "").partition(".")[0]
    return (root not in sys.stdlib_module_names and root != "numpy") or root == "__main__"


def is_array(cls: type) -> bool:
    return cls.__module__ == "numpy" and cls.__name__ == "ndarray"


def some(data: Data, value: Any) -> Any:
    """Of the points of a curve so many items that looking at all of them doesn't take minutes; of others all."""
    if not data.curve:
        return value
    if data.each:
        lists = spread(value, max(1, MANY_ITEMS // len(value[0])))
        return [spread(each, MANY_ITEMS) for each in lists]
    return spread(value, MANY_ITEMS)


def spread(items: list[Any], count: int) -> list[Any]:
    """So many of the items, from all over the list."""
    if count >= len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


def volume(value: Any) -> int:
    """Bytes of what the data say, counted alike for all codecs: text and bytes by their length, numbers as 8 bytes,
    arrays by theirs, containers nothing; each object once, but numbers wherever they stand."""
    total = 0
    seen: set[int] = set()
    for parts in reachable([value]):
        for part in parts:
            cls = type(part)
            if cls is int or cls is float:
                total += 8
            elif (cls in WITH_LENGTH or is_array(cls)) and id(part) not in seen:
                seen.add(id(part))
                total += part.nbytes if is_array(cls) else len(part)
    return total


def reachable(value: Any) -> Iterator[list[Any]]:
    """What every object consists of, each object once; classes, functions and modules left out with what is in them."""
    seen = {id(value)}
    stack = [value]
    while stack:
        obj = stack.pop()
        # The collector's view of a dict leaves out keys that are text.
        parts = [*obj.keys(), *obj.values()] if type(obj) is dict else referents(obj)
        yield parts
        for part in parts:
            if type(part) not in LEAVES and id(part) not in seen and not isinstance(part, NOT_DATA):
                seen.add(id(part))
                stack.append(part)


def referents(obj: Any) -> list[Any]:
    """What the collector finds in `obj`. Names of attributes belong to its class; before 3.11 the instance has a dict with them."""
    parts = gc.get_referents(obj)
    own = getattr(obj, "__dict__", None) if sys.version_info < (3, 11) else None
    if type(own) is not dict:
        return parts
    return [*(part for part in parts if part is not own), *own.values()]


LEAVES = frozenset({int, float, str, bytes, bool, type(None), complex, bytearray})
WITH_LENGTH = frozenset({str, bytes, bytearray})
NOT_DATA = (type, type(sys), type(classes_in), type(len))
# Items of one data set have the same classes; these many are looked at.
ENOUGH_ITEMS = 200
# Of the lists of a curve, so many stand for all.
MANY_ITEMS = 20_000
