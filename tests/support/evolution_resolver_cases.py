"""Changes of which names and versions don't tell enough, and those of how a class is stored."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import holdall
from holdall.resolve import SKIP, ByValue, Stored, Use
from tests.support.evolution_cases import CODE, Case, Today, made
from tests.support.evolution_names import Before, at, recorded


@dataclasses.dataclass
class Animal:
    pass


@dataclasses.dataclass
class Dog(Animal):
    name: str


@dataclasses.dataclass
class Cat(Animal):
    name: str


def split_by_value(name: str) -> Today:
    def by_kind(record: holdall.Record) -> Any:
        return Use(Dog if record.fields["kind"] == "dog" else Cat, renames={"kind": None})

    for cls in (Dog, Cat):
        holdall.register(cls, name=f"{name}.{cls.__name__}")
    holdall.register(Animal, name=name, resolver=lambda stored: ByValue(by_kind))
    fields = {"kind": "cat", "name": "Tom"}
    return Today(holdall.Record(name, fields), fields, Animal, Cat("Tom"))


def merged_classes(name: str) -> Today:
    def resolver(stored: Stored) -> Any:
        return ByValue(
            lambda record: cls(record.fields["name"], "cat" if "lives" in stored.fields else "dog")
        )

    cls = made(("name", str), ("kind", str))
    holdall.register(cls, name=f"{name}.today", aliases=[name], resolver=resolver)
    fields = {"name": "Tom", "lives": 9}
    return Today(holdall.Record(name, fields), fields, cls, cls("Tom", "cat"))


def left_out(name: str) -> Today:
    gone = f"{name.rpartition('.')[0]}.Gone"
    cls = holdall.register(
        made(("a", int)),
        name=name,
        aliases=[gone],
        resolver=lambda stored: SKIP if "gone" in stored.fields else None,
    )
    stored = [holdall.Record(gone, {"gone": 1}), holdall.Record(name, {"a": 1})]
    return Today(stored, [{"gone": 1}, {"a": 1}], list[cls], [cls(1)])


class Items(dict[str, Any]):
    pass


def items_before(name: str) -> Before:
    cls = holdall.register(at(name, type("Items", (Items,), {})), name=name)
    return Before((cls,), cls(a=1))


def from_dict_subclass(name: str) -> Today:
    stored = recorded(name, items_before(name))
    cls = holdall.register(made(("a", int)), name=name, resolver=lambda stored: stored.cls)
    return Today(stored, {"a": 1}, cls, cls(1))


def member_before(name: str) -> Before:
    cls: Any = at(name, enum.Enum("Color", {"RED": "r"}))
    holdall.register(cls, name=name)
    return Before((cls,), cls.RED)


def mapped_member(name: str) -> Today:
    stored = recorded(name, member_before(name))
    cls: Any = enum.Enum("Color", {"OTHER": "o"})
    holdall.register(cls, name=name, resolver=lambda stored: ByValue(lambda record: cls.OTHER))
    return Today(stored, "r", cls, cls.OTHER)


def to_encode(name: str) -> Today:
    def decode(value: Any, version: int | None) -> Any:
        return cls(value["a"] if isinstance(value, dict) else value)

    cls = made(("a", int))
    holdall.register(cls, name=name, version=2, encode=lambda one: one.a, decode=decode)
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, cls(1))


def encoded_before(name: str) -> Before:
    cls = at(name, made(("a", int)))
    holdall.register(cls, name=name, encode=lambda one: {"A": one.a}, decode=lambda value: cls(value["A"]))
    return Before((cls,), cls(1))


def from_encode(name: str) -> Today:
    stored = recorded(name, encoded_before(name))
    cls = made(("a", int))
    holdall.register(cls, name=name, version=2, upgrade=lambda fields, version: {"a": fields["A"]})
    return Today(stored, {"A": 1}, cls, cls(1))


BEFORE: dict[str, Callable[[str], Before]] = {
    "from_dict_subclass": items_before,
    "mapped_member": member_before,
    "from_encode": encoded_before,
}
RESOLVED = [
    Case("a class was split by what it holds", "`resolver=`, `ByValue`", split_by_value, lock="", pickle="impossible", avro=CODE, protobuf=CODE),
    Case("two classes were merged", "`resolver=`, `ByValue`", merged_classes, lock="aliases", pickle="`find_class`, `__setstate__`", avro=CODE, protobuf=CODE),
    Case("a class was deleted, and what is left of it may go", "`resolver=`, `SKIP`", left_out, pickle="impossible", avro="the writer's schema", protobuf="unknown fields"),
    Case("a subclass of dict became a class", "`resolver=lambda stored: stored.cls`", from_dict_subclass, pickle="`__setitem__`", avro="–", protobuf="–"),
    Case("an enum's member was removed, and one takes its place", "`resolver=`, `ByValue`", mapped_member, pickle="`_missing_`", avro="a default of the enum", protobuf="it stays a number"),
    Case("a class is stored by `encode` now", "`version=2`, `decode(value, version)`", to_encode, lock="", pickle="nothing", avro="–", protobuf="–"),
    Case("a class is stored by its fields again", "`version=2, upgrade=`", from_encode, pickle="nothing", avro="–", protobuf="–"),
]  # fmt: skip
