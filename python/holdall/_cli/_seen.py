"""What stands where in data: values are added one by one, and what is kept grows with their variety, not with their number.

A `Place` is where values stand: a field, the items of a list, the values of a map. Instances of a class add to the one
`Layout` of their name, wherever they stand, and dicts with the same keys to one `Layout` too, so that what contains itself
ends. `_merge` then decides which dicts are one class, and which are maps.
"""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

import holdall

from ._nodes import is_array, node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# A dict with more keys is a map, as is one with a key that is no name.
MOST_KEYS = 128
_NAME = re.compile(r"[^\W\d][\w .:/-]{0,63}|[$_][\w.]{0,63}")
# Sets of keys at one place before they are one layout, and in all.
_MOST_VARIANTS = 32
_MOST_LAYOUTS = 4096
_MOST_MEMBERS = 256
# Lists in lists: what is deeper is `Any`.
_MOST_DEPTH = 32
# A tuple of more parts, or of several lengths, has parts of one kind.
_MOST_PARTS = 12
# An object that stands in more places than this is looked at in the first ones, so that time is linear.
_MOST_PLACES = 64
# Texts in which schemaless formats hold other values, and who reads them.
_TEXTS: tuple[tuple[type[Any], re.Pattern[str], Callable[[str], Any]], ...] = (
    (
        datetime,
        re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?([+-]\d\d:\d\d|Z)?"),
        lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")),
    ),
    (date, re.compile(r"\d{4}-\d\d-\d\d"), date.fromisoformat),
    (time, re.compile(r"\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?"), time.fromisoformat),
    (UUID, re.compile(r"[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}"), UUID),
)
_SCALARS = frozenset((type(None), bool, int, float, bytes))


class Place:
    """What stood somewhere.

    leaves: classes of values without parts. texts: of which kind all texts were so far, while that is asked.
    sequences: the items, by the container's class. parts: of tuples of one length. maps: keys and values, by the dict's class.
    dicts: layouts of dicts that may be records. empty: whether there were dicts without keys. named: names of classes. anything: also what is not told.
    """

    __slots__ = (
        "anything",
        "depth",
        "dicts",
        "empty",
        "leaves",
        "maps",
        "named",
        "parts",
        "sequences",
        "texts",
    )

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self.anything = depth > _MOST_DEPTH
        self.leaves: dict[type[Any], None] = {}
        self.texts: tuple[Any, ...] | None = None
        self.sequences: dict[type[Any], Place] = {}
        self.parts: list[Place] | None = None
        self.maps: dict[type[Any], tuple[Place, Place]] = {}
        self.dicts: list[Layout] = []
        self.empty = False
        self.named: dict[tuple[str, int], None] = {}

    def items_of(self, cls: type[Any]) -> Place:
        """Where the items of a container of that class stand."""
        found = self.sequences.get(cls)
        if found is None:
            found = self.sequences[cls] = Place(self.depth + 1)
        return found

    def map_of(self, cls: type[Any]) -> tuple[Place, Place]:
        """Where the keys and values of a dict of that class stand."""
        found = self.maps.get(cls)
        if found is None:
            found = self.maps[cls] = Place(self.depth + 1), Place(self.depth + 1)
        return found

    def text(self, value: str, asked: bool) -> None:
        """Add a text, and what its form may mean if that is asked."""
        self.leaves[str] = None
        if not asked or self.texts == ():
            return
        if len(value) > 36:
            self.texts = ()
            return
        kinds = _TEXTS if self.texts is None else self.texts
        self.texts = tuple(kind for kind in kinds if _is_text(value, kind))


def _is_text(value: str, kind: tuple[Any, re.Pattern[str], Callable[[str], Any]]) -> bool:
    if kind[1].fullmatch(value) is None:
        return False
    try:
        kind[2](value)
    except ValueError:
        return False
    return True


class Layout:
    """The fields of a class, or of dicts with the same keys.

    name: the class's; None of dicts. count: instances. fields: how many have each, and what stands there.
    kinds, versions: as records have them. members: of an enumeration. content: beside the fields, of the kinds "based" and "custom".
    into: what this one became a part of. empty: whether dicts without keys stand where these do. keys, values: of dicts that
        turned out to be maps.
    """

    __slots__ = (
        "content",
        "count",
        "empty",
        "fields",
        "into",
        "keys",
        "kinds",
        "members",
        "name",
        "values",
        "versions",
    )

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.count = 0
        self.fields: dict[str, list[Any]] = {}
        self.kinds: dict[str, None] = {}
        self.versions: set[int] = set()
        self.members: dict[Any, None] = {}
        self.content: Place | None = None
        self.into: Layout | None = None
        self.empty = False
        self.keys = Place()
        self.values: Place | None = None

    def root(self) -> Layout:
        """What it is a part of now."""
        found = self
        while found.into is not None:
            found = found.into
        while self.into is not None:
            self.into, self = found, self.into
        return found

    def field(self, name: str) -> Place:
        """The place of a field, which one more instance has."""
        found = self.fields.get(name)
        if found is None:
            found = self.fields[name] = [0, Place()]
        found[0] += 1
        place: Place = found[1]
        return place


class Seen:
    """All that was added.

    texts: whether texts may stand for dates and UUIDs, as in schemaless formats.
    versions: whether the versions of a class are told apart.
    classes: by name and version, which is 0 if they are not told apart.
    """

    def __init__(self, *, texts: bool, versions: bool = False) -> None:
        self.texts = texts
        self.versions = versions
        self.place = Place()
        self.count = 0
        self.classes: dict[tuple[str, int], Layout] = {}
        self.dicts: dict[frozenset[str], Layout] = {}
        self._stack: list[tuple[Place, Any]] = []
        self._met: dict[int, tuple[Any, set[int]]] = {}

    def add(self, value: Any) -> None:
        """Add a value with all that it holds, of any depth."""
        self.count += 1
        self._met = {}
        stack = self._stack = [(self.place, value)]
        while stack:
            self._one(*stack.pop())
        self._met = {}

    def _one(self, place: Place, value: Any) -> None:
        cls = type(value)
        if cls in _SCALARS:
            place.leaves[cls] = None
        elif cls is str:
            place.text(value, self.texts)
        elif not place.anything and not self._was_met(place, value):
            if cls is holdall.Record:
                self._record(place, value)
            elif cls is dict:
                self._dict(place, value)
            elif cls is list:
                self._items(place.items_of(cls), value)
            else:
                self._other(place, value)

    def _was_met(self, place: Place, value: Any) -> bool:
        # The value is kept: some containers make their parts when they are asked.
        met = self._met.setdefault(id(value), (value, set()))[1]
        if id(place) in met:
            return True
        if len(met) >= _MOST_PLACES:
            place.anything = True
            return True
        met.add(id(place))
        return False

    def _items(self, place: Place, values: Any) -> None:
        # Long lists of numbers are the larger part of much data: their classes are found without a loop.
        kinds = set(map(type, values))
        if kinds <= _SCALARS or (kinds <= _SCALARS | {str} and (not self.texts or place.texts == ())):
            place.leaves.update(dict.fromkeys(kinds))
            return
        self._all(place, values)

    def _all(self, place: Place, values: Iterable[Any]) -> None:
        self._stack += [(place, value) for value in reversed([*values])]

    def _pairs(self, place: Place, cls: type[Any], pairs: Iterable[tuple[Any, Any]]) -> None:
        keys, values = place.map_of(cls)
        pairs = [*pairs]
        self._all(values, [value for _, value in pairs])
        self._all(keys, [key for key, _ in pairs])

    def _fields(self, layout: Layout, fields: Iterable[tuple[str, Any]]) -> None:
        # Only so many names are kept of what has a new one each time.
        known = layout.fields
        new = [
            (layout.field(name), value)
            for name, value in fields
            if name in known or len(known) < _MOST_LAYOUTS
        ]
        self._stack += reversed(new)

    def _dict(self, place: Place, value: dict[Any, Any]) -> None:
        if not value:
            place.empty = True
            return
        if place.maps or len(value) > MOST_KEYS or not all(map(_is_name, value)):
            self._pairs(place, dict, value.items())
            return
        keys = frozenset(value)
        layout = self.dicts.get(keys)
        if layout is None or (layout not in place.dicts and len(place.dicts) >= _MOST_VARIANTS):
            if len(place.dicts) >= _MOST_VARIANTS or len(self.dicts) >= _MOST_LAYOUTS:
                # The variants of this place are one from here on, or there is one for all that is too much.
                layout = place.dicts[0] if place.dicts else self.dicts.setdefault(frozenset(), Layout(None))
            else:
                layout = self.dicts[keys] = Layout(None)
        if layout not in place.dicts:
            place.dicts.append(layout)
        layout.count += 1
        self._fields(layout, value.items())

    def _layout(self, place: Place, name: str, version: int = 1) -> Layout | None:
        key = name, version if self.versions else 0
        layout = self.classes.get(key)
        if layout is None:
            if len(self.classes) >= _MOST_LAYOUTS:
                place.anything = True
                return None
            layout = self.classes[key] = Layout(name)
        place.named[key] = None
        layout.count += 1
        return layout

    def _record(self, place: Place, value: Any) -> None:
        layout = self._layout(place, value.type_name, value.version)
        if layout is None:
            return
        layout.kinds[value.kind] = None
        if len(layout.versions) < _MOST_MEMBERS:
            layout.versions.add(value.version)
        if value.kind == "enum":
            if len(layout.members) < _MOST_MEMBERS and isinstance(value.payload, (str, int)):
                layout.members[value.payload] = None
        elif value.kind != "object":
            if layout.content is None:
                layout.content = Place()
            self._stack.append((layout.content, value.payload))
        self._fields(layout, value.fields.items())

    def _other(self, place: Place, value: Any) -> None:
        cls = type(value)
        if cls is tuple:
            self._tuple(place, value)
            return
        if is_array(value) or isinstance(value, BaseException):
            place.leaves[cls] = None
            return
        parts = node(value)
        if parts is None or parts.kind == "fields":
            if parts is not None and parts.name in ("julia", "lisp") and "type" in parts.extra:
                self._foreign(place, value, parts)
            else:
                place.leaves[cls] = None
        elif parts.kind == "map":
            self._pairs(place, cls, parts.items)
        else:
            self._all(place.items_of(cls), [item for _, item in parts.items])

    def _tuple(self, place: Place, value: tuple[Any, ...]) -> None:
        if tuple not in place.sequences and len(value) <= _MOST_PARTS:
            if place.parts is None:
                place.parts = [Place(place.depth + 1) for _ in value]
            if len(place.parts) == len(value):
                self._stack += reversed([*zip(place.parts, value, strict=True)])
                return
        # Several lengths: its parts are items. `_merge` adds those that were met before.
        self._items(place.items_of(tuple), value)

    def _foreign(self, place: Place, value: Any, parts: Any) -> None:
        """An instance of a type of Julia's that no class is mapped to."""
        julia: Any = sys.modules.get("holdall.julia")
        if julia is None or type(value) is not julia.JuliaStruct:
            place.leaves[type(value)] = None
            return
        layout = self._layout(place, parts.extra["type"])
        if layout is None:
            return
        layout.kinds["julia"] = None
        pairs = islice(parts.items, _MOST_LAYOUTS)
        self._fields(
            layout, [(step if isinstance(step, str) else f"field{step + 1}", item) for step, item in pairs]
        )


def _is_name(key: object) -> bool:
    return type(key) is str and _NAME.fullmatch(key) is not None
