"""What may stand in a place, as one list that is written as text, as Python and as JSON Schema."""

from __future__ import annotations

import collections
import sys
import types
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._seen import Layout, Place, Seen

# Containers of items, and of keys and values.
SEQUENCES = (list, tuple, set, frozenset, collections.deque)
MAPS = (dict, collections.OrderedDict, collections.defaultdict, types.MappingProxyType)

_SIMPLE = (bool, int, float, str, bytes)


class Alternative(NamedTuple):
    """One of the things that may stand in a place.

    kind: "leaf" of a class; "items" and "map" of a container's class; "parts" of a tuple; "class" of a layout.
    inner: the places within.
    """

    kind: str
    cls: Any
    inner: tuple[Place, ...] = ()
    layout: Layout | None = None


def alternatives(place: Place, seen: Seen) -> list[Alternative]:
    """All that may stand in a place, in an order that does not depend on the data's; None last."""
    leaves = {cls for cls in place.leaves if cls is not type(None)}
    if place.texts and str in leaves:
        leaves = leaves - {str} | {place.texts[0][0]}
    found = [Alternative("leaf", cls) for cls in sorted(leaves, key=_order)]
    found += [Alternative("class", None, layout=seen.classes[key]) for key in sorted(place.named)]
    layout = record_of(place)
    if layout is not None:
        found.append(Alternative("class", None, layout=layout))
    found += [Alternative("items", cls, (items,)) for cls, items in place.sequences.items()]
    if place.parts is not None:
        found.append(Alternative("parts", tuple, tuple(place.parts)))
    found += [Alternative("map", cls, pair) for cls, pair in place.maps.items()]
    turned = place.dicts[0].root() if place.dicts else None
    if turned is not None and turned.values is not None:
        found.append(Alternative("map", dict, (turned.keys, turned.values)))
    elif turned is None and place.empty and dict not in place.maps:
        found.append(Alternative("map", dict))
    if type(None) in place.leaves:
        found.append(Alternative("leaf", type(None)))
    return found


def _order(cls: type[Any]) -> tuple[int, str, str]:
    return _SIMPLE.index(cls) if cls in _SIMPLE else len(_SIMPLE), cls.__module__, cls.__qualname__


def record_of(place: Place) -> Layout | None:
    """The layout of the dicts that stand there, if they are records."""
    layout = place.dicts[0].root() if place.dicts else None
    return layout if layout is not None and layout.values is None else None


def is_always(layout: Layout, field: str) -> bool:
    """Whether all instances have that field."""
    return not layout.empty and int(layout.fields[field][0]) == layout.count


def all_layouts(seen: Seen) -> Iterator[tuple[Layout, str]]:
    """The layouts that the content leads to, from above, each with the key under which it was met first."""
    met: set[int] = set()
    waiting: list[tuple[Any, str]] = [(seen.place, "")]
    while waiting:
        thing, key = waiting.pop(0)
        if id(thing) in met:
            continue
        met.add(id(thing))
        if hasattr(thing, "fields"):
            yield thing, key
            waiting += [(place, name) for name, (_, place) in thing.fields.items()]
            if thing.content is not None:
                waiting.append((thing.content, key))
            continue
        for each in alternatives(thing, seen):
            if each.layout is not None:
                waiting.append((each.layout, key))
            # What stands in `users` is a user.
            waiting += [(inner, singular(key)) for inner in each.inner]


def singular(key: str) -> str:
    """The name of one of those that a key names together."""
    if key.endswith("ies") and len(key) > 4:
        return f"{key[:-3]}y"
    return key[:-1] if key.endswith("s") and not key.endswith("ss") and len(key) > 2 else key


def path_of(cls: type[Any]) -> tuple[str, str] | None:
    """The module and name under which a program finds a class; None if it does not."""
    # Classes of `holdall.julia._numbers` are those of `holdall.julia`.
    public = takewhile(lambda part: not part.startswith("_"), cls.__module__.split("."))
    for module in (".".join(public), cls.__module__):
        found: Any = sys.modules.get(module)
        for name in cls.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is cls:
            return module, cls.__qualname__
    return None
