"""Descriptions of annotations, made short enough to stand in a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from holdall._annotations import describe

_EMPTY_NODE = {
    "name": None,
    "any": False,
    "scalars": [],
    "seq": None,
    "map": None,
    "classes": [],
    "ambiguous": None,
    "ambiguous_text": None,
    "raw": None,
    "tag_field": None,
    "tags": {},
    "distinct": None,
}


class Settings(NamedTuple):
    """What is registered for a class."""

    rename: Any = None
    array_like: bool = False
    forbid_unknown: bool = False
    tag: Any = None
    tag_field: str | None = None
    aliases: tuple[str, ...] = ()
    version: int = 1
    renames: Mapping[str, str] = MappingProxyType({})
    version_field: str | None = None
    upgrades: bool = False
    unknown: str | None = None
    resolver: Any = None


class Described:
    def __init__(
        self, annotation: Any, settings: dict[type, Settings] | None = None, subclasses: Any = None
    ) -> None:
        found = describe(
            annotation,
            settings=(settings or {}).get,
            subclasses=lambda cls: (subclasses or {}).get(cls, ()),
        )
        assert found.keys() == {"nodes", "classes", "root"}
        self.nodes, self.classes, self.root = found["nodes"], found["classes"], found["root"]
        assert self.nodes[0] == {**_EMPTY_NODE, "name": "Any", "any": True}
        for node in self.nodes:
            assert node.keys() == _EMPTY_NODE.keys()

    def node(self, index: int | None = None) -> dict[str, Any]:
        """What a node says beyond nothing, without its name."""
        node = self.nodes[self.root if index is None else index]
        return {name: value for name, value in node.items() if name != "name" and value != _EMPTY_NODE[name]}

    @property
    def name(self) -> str:
        return self.nodes[self.root]["name"]

    @property
    def scalars(self) -> list[Any]:
        assert self.node().keys() <= {"scalars"}
        return self.node().get("scalars", [])

    def class_(self, name: str | None = None) -> dict[str, Any]:
        """The one class of that name, or the first."""
        found = [entry for entry in self.classes if name is None or entry["name"].rpartition(".")[2] == name]
        assert len(found) == 1 or name is None
        return found[0]

    def fields(self, name: str | None = None) -> dict[str, str]:
        """Field -> name of its node."""
        return {field["name"]: self.nodes[field["node"]]["name"] for field in self.class_(name)["fields"]}

    def field(self, name: str, cls: str | None = None) -> dict[str, Any]:
        """A field without its node's index."""
        (found,) = (field for field in self.class_(cls)["fields"] if field["name"] == name)
        return {key: value for key, value in found.items() if key != "node"}

    def field_node(self, name: str, cls: str | None = None) -> dict[str, Any]:
        (found,) = (field for field in self.class_(cls)["fields"] if field["name"] == name)
        return self.node(found["node"])

    def tree(self, index: int | None = None) -> Any:
        """A node as text: "list[int | None]". Only for what isn't recursive."""
        node = self.nodes[self.root if index is None else index]
        if node["any"]:
            return "Any"
        parts = [scalar[0] for scalar in node["scalars"]]
        if node["seq"] is not None:
            seq = node["seq"]
            inner = ", ".join(self.tree(item) for item in seq["items"] or [seq["item"]])
            parts.append(f"{seq['kind']}[{inner}]")
        if node["map"] is not None:
            parts.append(
                f"{node['map']['kind']}[{self.tree(node['map']['key'])}, {self.tree(node['map']['value'])}]"
            )
        parts += [self.classes[index]["name"].rpartition(".")[2] for index in node["classes"]]
        return " | ".join(parts)


def refusal(annotation: Any, **options: Any) -> str:
    """The text with which an annotation is refused."""
    try:
        Described(annotation, **options)
    except TypeError as error:
        return str(error)
    raise AssertionError("not refused")


def name_of(value: object) -> str:
    """What a parameter is called: without addresses, which differ from one worker to the next."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
