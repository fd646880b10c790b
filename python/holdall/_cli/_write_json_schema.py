"""What was seen as a JSON Schema (2020-12).

It describes data in plain form, as `holdall convert` writes it to formats without classes: instances are objects of their fields,
tuples and sets are arrays, dates and UUIDs are texts.
"""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import TYPE_CHECKING, Any

from ._alternatives import Alternative, alternatives, is_always
from ._write_python import MOST_PARTS, Names

if TYPE_CHECKING:
    from ._seen import Layout, Place, Seen

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LEAVES: dict[type[Any], dict[str, Any]] = {
    type(None): {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    bytearray: {"type": "string", "contentEncoding": "base64"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"type": "string"},
}


class _Schema:
    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.names = Names(seen)
        self._left = MOST_PARTS

    def whole(self) -> dict[str, Any]:
        defs = {self.names.of[id(layout)]: self.layout(layout) for layout in self.names.layouts}
        return {"$schema": _DIALECT, **self.place(self.seen.place), **({"$defs": defs} if defs else {})}

    def place(self, place: Place, within: tuple[Place, ...] = ()) -> dict[str, Any]:
        if not within:
            self._left = MOST_PARTS
        self._left -= 1
        found = alternatives(place, self.seen)
        if self._left < 0 or place.anything or not found or place in within:
            return {}
        schemas: list[dict[str, Any]] = []
        for each in found:
            schema = self.alternative(each, (*within, place))
            if schema not in schemas:
                schemas.append(schema)
        if len(schemas) == 1:
            return schemas[0]
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}

    def alternative(self, each: Alternative, within: tuple[Place, ...]) -> dict[str, Any]:
        if each.kind == "leaf":
            # Of other classes nothing is said: how they look depends on who writes them.
            return _LEAVES.get(each.cls, {"$comment": f"{each.cls.__module__}.{each.cls.__qualname__}"})
        if each.layout is not None:
            return {"$ref": f"#/$defs/{self.names.of[id(each.layout)]}"}
        inner = [self.place(place, within) for place in each.inner]
        if each.kind == "parts":
            return {
                "type": "array",
                **({"prefixItems": inner} if inner else {}),
                "minItems": len(inner),
                "maxItems": len(inner),
            }
        if each.kind == "items":
            unique = {"uniqueItems": True} if each.cls in (set, frozenset) else {}
            return {"type": "array", "items": inner[0], **unique}
        return {"type": "object", "additionalProperties": inner[-1] if inner else {}}

    def layout(self, layout: Layout) -> dict[str, Any]:
        title = {"title": layout.name} if layout.name is not None else {}
        if "enum" in layout.kinds:
            return {**title, "enum": [*layout.members]}
        if layout.content is not None:
            # What is beside the fields is all that plain formats hold of it.
            return {**title, **self.place(layout.content)}
        properties = {name: self.place(place) for name, (_, place) in layout.fields.items()}
        required = [name for name in layout.fields if is_always(layout, name)]
        return {
            **title,
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
        }


def written(seen: Seen) -> str:
    """The schema as text."""
    return json.dumps(_Schema(seen).whole(), indent=2)
