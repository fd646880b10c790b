"""Which dicts are one class, and which are maps: the decision over all that was seen.

The rule. Dicts with the same keys are one class, wherever they stand. What stands in one place is one class too, whose fields may
be missing where not all have them; and what stands in a field of a class, if more than half of the keys of both are shared: nodes of
a tree. A class like this is a map instead, a `dict[str, ...]`, if no key stands in all of its dicts and
each dict has at most half of the keys on average; or if there are more than `MOST_KEYS` keys, or keys that are no names (that begin
with a digit, or are no text).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._seen import MOST_KEYS, Layout, Place

if TYPE_CHECKING:
    from ._seen import Seen


class _Merger:
    def __init__(self) -> None:
        # Places that may have several layouts of dicts, or of which a map is one.
        self._open: list[Place] = []

    def settle(self, seen: Seen) -> None:
        layouts = [*seen.classes.values(), *seen.dicts.values()]
        self._reach(seen.place)
        for layout in layouts:
            for _, place in layout.fields.values():
                self._reach(place)
            if layout.content is not None:
                self._reach(layout.content)
        while True:
            self._unite_open()
            roots = [each for each in seen.dicts.values() if each.into is None]
            if self._unite_nodes(roots):
                continue
            maps = [each for each in roots if each.values is None and _is_map(each)]
            if not maps:
                return
            for layout in maps:
                self._to_map(layout)

    def _unite_nodes(self, layouts: list[Layout]) -> bool:
        """Makes one of classes that stand in each other and are alike; whether there were any."""
        found = False
        for layout in layouts:
            for _, place in [*layout.fields.values()]:
                for inner in _directly(place):
                    mine, other = layout.root(), inner.root()
                    if (
                        mine is not other
                        and mine.values is None
                        and other.values is None
                        and _are_alike(mine, other)
                    ):
                        self.layout(mine, other)
                        found = True
        return found

    def _reach(self, place: Place) -> None:
        """Everything in `place` that is no layout: at most as deep as places are."""
        if place.parts is not None and tuple in place.sequences:
            for part in place.parts:
                self.place(place.sequences[tuple], part)
            place.parts = None
        self._open.append(place)
        for inner in place.sequences.values():
            self._reach(inner)
        for inner in place.parts or ():
            self._reach(inner)
        for pair in place.maps.values():
            for inner in pair:
                self._reach(inner)

    def _unite_open(self) -> None:
        while self._open:
            place = self._open.pop()
            if not place.dicts:
                continue
            first = place.dicts[0].root()
            others = [each.root() for each in place.dicts[1:]]
            place.dicts = [first]
            for other in others:
                self.layout(first.root(), other.root())
            first.root().empty |= place.empty
            if dict in place.maps:
                # Some keys here are no names, so none is that of a field. The map may hold itself: its values stand in one place.
                layout = first.root()
                values = self._to_map(layout)
                more_keys, more = place.maps.pop(dict)
                self.place(values, more)
                self.place(layout.keys, more_keys)

    def layout(self, into: Layout, other: Layout) -> None:
        """Adds a layout of dicts to another."""
        if into is other:
            return
        other.into = into
        into.count += other.count
        into.empty |= other.empty
        fields, other.fields = other.fields, {}
        if into.values is not None or other.values is not None:
            values = self._to_map(into)
            if other.values is not None:
                self.place(values, other.values)
                self.place(into.keys, other.keys)
            for _, place in fields.values():
                self.place(values, place)
            return
        for name, (count, place) in fields.items():
            known = into.fields.get(name)
            if known is None:
                into.fields[name] = [count, place]
            else:
                known[0] += count
                self.place(known[1], place)

    def _to_map(self, layout: Layout) -> Place:
        if layout.values is None:
            layout.values = Place()
            layout.keys.leaves[str] = None
            fields, layout.fields = layout.fields, {}
            for _, place in fields.values():
                self.place(layout.values, place)
            self._open.append(layout.values)
        return layout.values

    def place(self, into: Place, other: Place) -> None:
        """Adds what stood in one place to another; `other` may be thrown away."""
        if into is other:
            return
        into.anything |= other.anything
        into.empty |= other.empty
        if str in into.leaves and str in other.leaves and into.texts is not None:
            into.texts = tuple(kind for kind in into.texts if kind in (other.texts or ()))
        elif str in other.leaves:
            into.texts = other.texts
        into.leaves.update(other.leaves)
        into.named.update(other.named)
        for cls, items in other.sequences.items():
            self.place(into.items_of(cls), items)
        if other.parts is not None:
            if tuple in into.sequences or (into.parts is not None and len(into.parts) != len(other.parts)):
                for part in (*other.parts, *(into.parts or ())):
                    self.place(into.items_of(tuple), part)
                into.parts = None
            elif into.parts is None:
                into.parts = other.parts
            else:
                for part, more in zip(into.parts, other.parts, strict=True):
                    self.place(part, more)
        elif into.parts is not None and tuple in into.sequences:
            for part in into.parts:
                self.place(into.sequences[tuple], part)
            into.parts = None
        for cls, pair in other.maps.items():
            for mine, more in zip(into.map_of(cls), pair, strict=True):
                self.place(mine, more)
        into.dicts += [each for each in other.dicts if each not in into.dicts]
        self._open.append(into)


def _directly(place: Place) -> list[Layout]:
    """The layouts of dicts in a place, and in lists there."""
    return [*place.dicts, *(each for items in place.sequences.values() for each in items.dicts)]


def _are_alike(one: Layout, other: Layout) -> bool:
    shared = len(one.fields.keys() & other.fields.keys())
    return 2 * shared > len(one.fields) + len(other.fields) - shared


def _is_map(layout: Layout) -> bool:
    if layout.values is not None or not layout.fields:
        return False
    if len(layout.fields) > MOST_KEYS:
        return True
    counts: list[int] = [count for count, _ in layout.fields.values()]
    return max(counts) < layout.count and 2 * sum(counts) <= layout.count * len(counts)


def settled(seen: Seen) -> Seen:
    """Decides for all that was seen; afterwards each place has one layout of dicts at most."""
    _Merger().settle(seen)
    return seen
