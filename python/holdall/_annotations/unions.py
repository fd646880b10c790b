"""What the members of a union have in common, and how to tell them apart."""

from __future__ import annotations

from typing import Any

from .fields import pydantic_keys
from .values import is_raw

# A union has at most one of each: two would have different constraints for the same value.
_ONCE = frozenset({"int", "float", "str", "bytes", "bytearray", "memoryview", "decimal"})


class Conflict(Exception):
    """Two members of a union can't be told apart."""


class Draft:
    """A node that is being built."""

    def __init__(self, annotation: Any, where: str) -> None:
        self.annotation = annotation
        self.where = where
        self.any = False
        self.names: list[str] = []
        self.scalars: list[tuple[Any, ...]] = []
        self.seq: dict[str, Any] | None = None
        self.map: dict[str, Any] | None = None
        self.classes: list[int] = []
        # Forward references that are being followed: meeting one again adds nothing.
        self.followed: set[Any] = set()
        self._known: set[Any] = set()

    def is_empty(self) -> bool:
        return not (self.any or self.scalars or self.seq or self.map or self.classes)

    def node(self) -> dict[str, Any]:
        return {
            "name": "Any" if self.any else " | ".join(self.names),
            "any": self.any,
            "scalars": [] if self.any else self._ordered_scalars(),
            "seq": None if self.any else self.seq,
            "map": None if self.any else self.map,
            "classes": [] if self.any else self.classes,
            "raw": self._raw(),
            "ambiguous": None,
            # For formats that store dates and the like as text.
            "ambiguous_text": None,
            "tag_field": None,
            "tags": {},
            "distinct": None,
        }

    def _ordered_scalars(self) -> list[tuple[Any, ...]]:
        if any(item[0] in ("float", "decimal") for item in self.scalars):
            # An int stays an int if that is allowed, before other numbers are tried.
            return sorted(self.scalars, key=lambda item: item[0] != "int")
        return self.scalars

    def _raw(self) -> Any:
        """The class of objects that keep a value's bytes unread, if the union has nothing else but None."""
        if self.any or self.seq or self.map or self.classes:
            return None
        kept = [item[1] for item in self.scalars if item[0] == "value" and is_raw(item[1])]
        return (
            kept[0]
            if kept and all(item[0] == "none" or item[1] is kept[0] for item in self.scalars)
            else None
        )

    def add_name(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)

    def add_scalar(self, name: str, item: tuple[Any, ...], key: Any = None) -> None:
        """`key` identifies an item that can't be hashed."""
        self.add_name(name)
        tag = item[0]
        for place, old in enumerate(self.scalars):
            if old[0] != tag:
                continue
            if tag in _ONCE:
                self.scalars[place] = _wider(name, old, item)
                return
            if tag in ("datetime", "time"):
                self.scalars[place] = old if old == item else (tag, None)
                return
            if tag == "literal":
                self.scalars[place] = ("literal", (*old[1], *item[1]))
                return
        key = item if key is None and tag not in _ONCE else key
        if key is None or key not in self._known:
            self._known.add(key)
            self.scalars.append(item)

    def add_sequence(self, name: str, **sequence: Any) -> None:
        new = {
            "kind": None,
            "item": 0,
            "items": [],
            "min": None,
            "max": None,
            "class": None,
            **sequence,
        }
        if self.seq is not None and self.seq != new:
            raise Conflict("more than one array-like type in a union")
        self.add_name(name)
        self.seq = new

    def add_mapping(self, name: str, **mapping: Any) -> None:
        new = {
            "kind": None,
            "key": 0,
            "value": 0,
            "min": None,
            "max": None,
            "factory": None,
            "class": None,
            **mapping,
        }
        if self.map is not None and self.map != new:
            raise Conflict("more than one mapping-like type in a union")
        self.add_name(name)
        self.map = new

    def add_class(self, name: str, index: int) -> None:
        self.add_name(name)
        if index not in self.classes:
            self.classes.append(index)


def _wider(name: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    if old == new:
        return old
    if old[1] is None or new[1] is None:
        return (*old[:1], None)
    raise Conflict(f"more than one constrained `{name}` in a union")


_BYTES = frozenset({"bytes", "bytearray", "memoryview"})
_TEXTUAL = frozenset({"date", "time", "timedelta"})
# BSON has types of its own for these.
_TEXTUAL_OR_NATIVE = frozenset({"datetime", "uuid", "decimal"})


def ambiguous_scalars(node: dict[str, Any]) -> tuple[str | None, str | None]:
    """Why schemaless formats can't tell a node's scalars apart, and why those can't that store points in
    time, UUIDs and decimals as text; None if they can.
    """
    scalars = node["scalars"]
    tags = {item[0] for item in scalars}
    if len(tags & _BYTES) > 1:
        return "more than one bytes-like type in a union", None
    if node["seq"] is not None and tags & {"complex", "numpy"}:
        return "more than one array-like type in a union", None
    parsed = [item for item in scalars if item[0] == "value" and item[2] is not None]
    textual = len(parsed) + len(tags & _TEXTUAL)
    values: set[tuple[type, Any]] = set()
    for item in scalars:
        if item[0] not in ("enum", "literal"):
            continue
        own = {
            (type(value), value) for value in (item[2] if item[0] == "enum" else map(_plain_value, item[1]))
        }
        kinds = {kind for kind, _ in own}
        if item[0] == "enum" and ((str in kinds and "str" in tags) or (int in kinds and "int" in tags)):
            return "an enumeration beside the type of its values in a union", None
        if values & own:
            return "more than one type of a union has the same value", None
        if str in kinds and parsed:
            return "more than one str-like type in a union", None
        values |= own
    if textual and ("str" in tags or (parsed and textual > 1)):
        return "more than one str-like type in a union", None
    # A datetime that must have a zone is a point in time and not text.
    texts = [item[0] for item in scalars if item[0] in _TEXTUAL_OR_NATIVE and item != ("datetime", True)]
    return None, "more than one str-like type in a union" if texts and ("str" in tags or parsed) else None


def _plain_value(value: Any) -> Any:
    """A literal as schemaless formats store it."""
    return getattr(value, "_value_", value)


def tell_apart(node: dict[str, Any], classes: list[dict[str, Any]]) -> str | None:
    """Set in `node` how schemaless formats find the class of a value. All of its classes are described by
    now.

    Returns the reason if they can't. Formats that store the names of classes don't need it.

    Raises Conflict: no format can tell the classes apart.
    """
    indices = node["classes"]
    listed = [index for index in indices if classes[index]["array_like"]]
    if listed and node["seq"] is not None:
        raise Conflict("more than one array-like type in a union")
    tags = {index: classes[index]["tag"] for index in indices if classes[index]["tag"] is not None}
    fields = {field for field, _ in tags.values()}
    if len(fields) > 1:
        # The fields that hold tags are keys like others.
        tags = {}
    elif tags:
        node["tag_field"] = fields.pop()
        for index, (_, tag) in tags.items():
            if tag in node["tags"]:
                raise Conflict(f"two classes have the tag `{tag}`")
            node["tags"][tag] = index
        # An old tag means what it meant then, unless a class of today has it.
        for index in tags:
            for tag in classes[index].get("other_tags", ()):
                node["tags"].setdefault(tag, index)
    if len(listed) > 1 and not all(index in tags for index in listed):
        return "more than one array-like class, and not a tag for each"
    untagged = [index for index in indices if index not in tags and index not in listed]
    if len(untagged) > 1:
        node["distinct"] = _distinct(untagged, classes)
        if node["distinct"] is None:
            return "nothing tells these classes apart but a tag"
    if untagged and node["map"] is not None:
        return "nothing tells a class from a mapping but a tag"
    if node["tags"] and any(node["tag_field"] in _keys(classes[index])[1] for index in untagged):
        return f"`{node['tag_field']}`, the field of a tag, is a field of a class without a tag"
    return None


def _distinct(indices: list[int], classes: list[dict[str, Any]]) -> dict[str, int] | None:
    """For each class a key that it requires and that no other class has; one class may lack such a key."""
    keys = {index: _keys(classes[index]) for index in indices}
    found: dict[str, int] = {}
    for index, (required, _) in keys.items():
        others: set[str] = set().union(*(known for other, (_, known) in keys.items() if other != index))
        same = next((same for same in required if not others.intersection(same)), ())
        found.update(dict.fromkeys(same, index))
    return found if len(set(found.values())) >= len(indices) - 1 else None


def _keys(entry: dict[str, Any]) -> tuple[list[tuple[str, ...]], set[str]]:
    """The keys that a class requires, each with those that mean the same, and all that it knows."""
    if entry["kind"] == "pydantic":
        required, known = pydantic_keys(entry["cls"])
        return [(key,) for key in required], known
    tag = [] if entry["tag"] is None or entry["array_like"] else [entry["tag"][0]]
    fields = entry["fields"]
    same = {field["name"]: (field["key"], *field.get("old_keys", ())) for field in fields}
    needed = [same[field["name"]] for field in fields if field["required"]]
    return [*((key,) for key in tag), *needed], {*tag, *(key for keys in same.values() for key in keys)}
