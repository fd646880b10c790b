"""More changes: those of whole packages and of unions, and those that a reader of the classes' own documentation would try."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple, NewType, TypedDict

import attrs
import msgspec
import pydantic
from typing_extensions import NotRequired

import holdall
from tests.support.evolution_cases import CODE, Case, Today, made, same
from tests.support.evolution_names import Before, at, recorded


def package_of(name: str) -> str:
    return name.rpartition(".")[0]


# --- packages and unions ---
def package_before(name: str) -> Before:
    models = f"{package_of(name)}.models"
    kind: Any = at(f"{models}.Kind", enum.Enum("Kind", {"TEA": "t"}))
    item = at(f"{models}.Item", made(("a", int)))
    order = at(f"{models}.Order", made(("items", list[item]), ("kind", kind)))
    return Before((kind, item, order), order([item(1)], kind.TEA))


def renamed_package(name: str) -> Today:
    stored = recorded(name, package_before(name))
    kind: Any = enum.Enum("Kind", {"TEA": "t"})
    item = made(("a", int))
    order = made(("items", list[item]), ("kind", kind))
    for cls, own in ((kind, "Kind"), (item, "Item"), (order, "Order")):
        package = package_of(name)
        holdall.register(cls, name=f"{package}.shop.{own}", aliases=[f"{package}.models.{own}"])
    return Today(stored, {"items": [{"a": 1}], "kind": "t"}, order, order([item(1)], kind.TEA))


def pets(name: str) -> tuple[Any, Any]:
    cat = holdall.register(made(("lives", int)), name=f"{package_of(name)}.Cat")
    return cat, holdall.register(made(("barks", bool)), name=f"{package_of(name)}.Dog")


def to_union(name: str) -> Today:
    cat, dog = pets(name)
    stored = holdall.Record(name, {"pet": holdall.Record(f"{package_of(name)}.Cat", {"lives": 9})})
    cls = holdall.register(made(("pet", cat | dog)), name=name)
    return Today(stored, {"pet": {"lives": 9}}, cls, cls(cat(9)))


def left_union(name: str) -> Today:
    cat = holdall.register(made(("lives", int)), name=f"{package_of(name)}.Cat")
    dog = holdall.Record(f"{package_of(name)}.Dog", {"barks": True})
    cls = holdall.register(made(("pet", cat | holdall.Record)), name=name)
    return Today(holdall.Record(name, {"pet": dog}), {"pet": {"barks": True}}, cls, cls(dog), holdall.Record)


# --- fields ---
def computed(name: str) -> Today:
    @dataclasses.dataclass
    class Computed:
        a: int
        total: int = dataclasses.field(init=False)

        def __post_init__(self) -> None:
            self.total = 2 * self.a

    return same(Computed, name, {"a": 1}, 1)


def by_others(name: str) -> Today:
    cls = attrs.make_class(
        "Item",
        {
            "a": attrs.field(type=int),
            "b": attrs.field(type=int, default=attrs.Factory(lambda item: 2 * item.a, takes_self=True)),
        },
    )
    return same(cls, name, {"a": 1}, 1)


def keywords(name: str) -> Today:
    cls = made(("b", int, 5), ("a", int), kw_only=True, frozen=True)
    holdall.register(cls, name=name)
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, cls(a=1))


def slots_and_removed(name: str) -> Today:
    return same(made(("a", int), slots=True, frozen=True), name, {"a": 1, "b": 2}, 1)


def to_class_var(name: str) -> Today:
    return same(made(("a", int), ("b", ClassVar[int], 7)), name, {"a": 1, "b": 2}, 1, unknown="drop")


def to_property(name: str) -> Today:
    cls = made(("_a", int))
    cls.a = property(lambda item: item._a)
    return same(cls, name, {"a": 1}, 1, renames={"a": "_a"})


def no_more_none(name: str) -> Today:
    def upgrade(fields, version):
        return {"a": fields["a"] or 0}

    return same(made(("a", int)), name, {"a": None}, 0, version=2, upgrade=upgrade, version_field="v")


def narrowed(name: str) -> Today:
    return same(made(("a", Literal["x"])), name, {"a": "y"}, "y")


def converted(name: str) -> Today:
    def upgrade(fields, version):
        return {"a": int(fields["a"])}

    cls = attrs.make_class("Item", {"a": attrs.field(type=int, converter=int)})
    return same(cls, name, {"a": "5"}, 5, version=2, upgrade=upgrade, version_field="v")


Number = NewType("Number", int)


def to_new_type(name: str) -> Today:
    return same(made(("a", Number)), name, {"a": 1}, Number(1))


# --- names ---
def inner_before(name: str) -> Before:
    outer = at(f"{package_of(name)}.Outer", type("Outer", (), {}))
    outer.Inner = dataclasses.make_dataclass("Inner", [("a", int)])
    outer.Inner.__module__, outer.Inner.__qualname__ = outer.__module__, "Outer.Inner"
    return Before((outer,), outer.Inner(1))


def moved_out(name: str) -> Today:
    stored = recorded(name, inner_before(name))
    cls = holdall.register(made(("a", int)), name=name, aliases=[f"{package_of(name)}.Outer.Inner"])
    return Today(stored, {"a": 1}, cls, cls(1))


def renamed_twice(name: str) -> Today:
    aliases = [f"{package_of(name)}.Second", f"{package_of(name)}.First"]
    cls = holdall.register(made(("a", int)), name=name, aliases=aliases)
    return Today(holdall.Record(aliases[1], {"a": 1}), {"a": 1}, cls, cls(1))


def tag_before(name: str) -> Before:
    cls = at(name, msgspec.defstruct("Item", [("a", int)], tag="one"))
    return Before((cls,), cls(1))


def other_tag(name: str) -> Today:
    cls = msgspec.defstruct("Item", [("a", int)], tag="two")
    holdall.register(cls, name=name, aliases=[f"{package_of(name)}.one"])
    return Today(holdall.Record(name, {"a": 1}), {"type": "one", "a": 1}, cls, cls(1))


# --- models, dicts and tuples ---
def model_before(name: str) -> Before:
    cls = at(name, pydantic.create_model("Item", a=(int, ...), b=(int, 2)))
    return Before((cls,), cls(a=1, b=5))


def model_alias(name: str) -> Today:
    stored = recorded(name, model_before(name))
    choices = pydantic.AliasChoices("x", "a")
    cls = pydantic.create_model("Item", a=(int, pydantic.Field(validation_alias=choices)), b=(int, 2))
    holdall.register(cls, name=name)
    return Today(stored, {"a": 1, "b": 5}, cls, cls(x=1, b=5))


def model_forbids(name: str) -> Today:
    stored = recorded(name, model_before(name))
    cls = pydantic.create_model("Item", __config__={"extra": "forbid"}, a=(int, ...))
    holdall.register(cls, name=name)
    return Today(stored, {"a": 1, "b": 5}, cls, None)


def model_allows(name: str) -> Today:
    stored = recorded(name, model_before(name))
    cls = pydantic.create_model("Item", __config__={"extra": "allow"}, a=(int, ...))
    holdall.register(cls, name=name)
    return Today(stored, {"a": 1, "b": 5}, cls, cls(a=1, b=5))


def from_model(name: str) -> Today:
    stored = recorded(name, model_before(name))
    cls = holdall.register(made(("a", int), ("b", int)), name=name)
    return Today(stored, {"a": 1, "b": 5}, cls, cls(1, 5))


class Total(TypedDict):
    a: int
    b: NotRequired[int]


def now_required(name: str) -> Today:
    return Today({"a": 1}, {"a": 1}, Total, {"a": 1})


def pair(name: str, *fields: str) -> Any:
    return at(name, NamedTuple("Item", [(field, int) for field in fields]))  # type: ignore[misc]


def pair_before(name: str) -> Before:
    cls = pair(name, "a", "b")
    return Before((cls,), cls(1, 2))


class Triple(NamedTuple):
    a: int
    b: int
    c: int = 3


def longer(name: str) -> Today:
    stored = recorded(name, pair_before(name))
    cls = type("Item", (Triple,), {"__slots__": (), "__module__": __name__})
    holdall.register(cls, name=name)
    return Today(stored, [1, 2], cls, cls(1, 2))


def shorter(name: str) -> Today:
    stored = recorded(name, pair_before(name))
    cls = pair("tests.Item", "b")
    holdall.register(cls, name=name)
    return Today(stored, [1, 2], cls, cls(2))


def from_named_tuple(name: str) -> Today:
    stored = recorded(name, pair_before(name))
    cls = holdall.register(made(("a", int), ("b", int)), name=name, array_like=True)
    return Today(stored, [1, 2], cls, cls(1, 2))


# --- enumerations ---
def flag_before(name: str) -> Before:
    cls: Any = at(name, enum.Flag("Item", {"A": 1, "B": 2}))
    return Before((cls,), cls.A | cls.B)


def removed_bit(name: str) -> Today:
    stored = recorded(name, flag_before(name))
    cls: Any = enum.Flag("Item", {"A": 1})
    holdall.register(cls, name=name)
    return Today(stored, 3, cls, None)


class Rest(enum.Flag):
    A = 1

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        return cls(value & 1)


def masked_bit(name: str) -> Today:
    stored = recorded(name, flag_before(name))
    holdall.register(Rest, name=name)
    return Today(stored, 3, Rest, Rest.A)


def number_before(name: str) -> Before:
    cls: Any = at(name, enum.IntEnum("Item", {"A": 1}))
    return Before((cls,), cls.A)


class Text(str, enum.Enum):
    A = "a"

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        return {1: cls.A}.get(value)


def to_texts(name: str) -> Today:
    stored = recorded(name, number_before(name))
    holdall.register(Text, name=name)
    return Today(stored, 1, Text, Text.A)


def to_enum(name: str) -> Today:
    cls: Any = enum.Enum("Item", {"A": 1})
    holdall.register(cls, name=name)
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, None)


BEFORE: dict[str, Callable[[str], Before]] = {
    "renamed_package": package_before,
    "moved_out": inner_before,
    "other_tag": tag_before,
    **dict.fromkeys(["model_alias", "model_forbids", "model_allows", "from_model"], model_before),
    **dict.fromkeys(["longer", "shorter", "from_named_tuple"], pair_before),
    **dict.fromkeys(["removed_bit", "masked_bit"], flag_before),
    "to_texts": number_before,
}
UPGRADE = '`version=2, upgrade=, version_field="v"`'
MORE = [
    Case("a package was renamed", "`aliases=` for each of its classes", renamed_package, pickle="`find_class`", avro="`aliases`", protobuf="nothing"),
    Case("a class was moved out of another", '`aliases=["old.Outer.Inner"]`', moved_out, pickle="`find_class`", avro="–", protobuf="–"),
    Case("a class was renamed twice", '`aliases=["second.Name", "first.Name"]`', renamed_twice, pickle="`find_class`", avro="`aliases`", protobuf="nothing"),
    Case("a Struct got another tag", '`aliases=["old_tag"]`', other_tag, pickle="–", avro="–", protobuf="–"),
    Case("a field's class became one of a union", "nothing, where a required key tells them apart", to_union, lock="", pickle="nothing", avro="nothing", protobuf="nothing"),
    Case("a class left a union", "in hold: `Cat | holdall.Record`", left_union, lock="holdall.Record", plain="Expected|missing", trusted="records by `holdall.loads", pickle="an import error", avro="an error", protobuf="unknown fields"),
    Case("a field was added that `__post_init__` sets", "in hold: `upgrade=`", computed, "give it a default", lock="upgrade", trusted="give it a default", pickle="the attribute is missing, later", avro="–", protobuf="–"),
    Case("a field was added whose default takes the instance", "nothing", by_others, pickle="the attribute is missing, later", avro="–", protobuf="–"),
    Case("fields became keywords, and frozen", "nothing", keywords, pickle="nothing", avro="–", protobuf="–"),
    Case("a class got slots and lost a field", "nothing", slots_and_removed, pickle="a wrong value, or `__setstate__`", avro="–", protobuf="–"),
    Case("a field became a `ClassVar`", '`unknown="drop"`', to_class_var, lock="", pickle="`__setstate__`", avro="–", protobuf="–"),
    Case("a property took a field's place", '`renames={"a": "_a"}`', to_property, pickle="`__setstate__`", avro="`aliases`", protobuf="nothing"),
    Case("a field may be None no more", UPGRADE, no_more_none, pickle="`__setstate__`", avro="an error", protobuf="zero"),
    Case("a `Literal` lost a value", "hold without a type does not look", narrowed, typed="Invalid enum value", plain="Invalid enum value", lock="upgrade", pickle="nothing", avro="–", protobuf="–"),
    Case("a field got a converter", UPGRADE, converted, pickle="`__setstate__`", avro=CODE, protobuf="a new field"),
    Case("a type got a name (`NewType`)", "nothing", to_new_type, pickle="nothing", avro="nothing", protobuf="nothing"),
    Case("a model's field got an alias", '`validation_alias=AliasChoices("x", "a")`', model_alias, lock="", pickle="nothing", avro="–", protobuf="–"),
    Case("a model lost a field, and keeps others", "nothing", model_allows, pickle="it stays", avro="–", protobuf="–"),
    Case("... and forbids others", "the error says so", model_forbids, "`model_config` forbids", "`model_config` forbids", "not permitted", lock="model_config", pickle="it stays", avro="–", protobuf="–"),
    Case("a model became a dataclass", "nothing", from_model, pickle="the attribute is missing, later", avro="–", protobuf="–"),
    Case("a key of a TypedDict became required", "`NotRequired[...]`", now_required, hold=None, lock="", pickle="–", avro="–", protobuf="–"),
    Case("a named tuple got a field with a default", "nothing", longer, pickle="nothing", avro="–", protobuf="–"),
    Case("a named tuple lost a field", "in plain formats: the old order", shorter, plain="of length <= 1, got 2", lock="the fields in this order", pickle="an error", avro="–", protobuf="–"),
    Case("a named tuple became a dataclass", "`array_like=True`", from_named_tuple, pickle="the attribute is missing, later", avro="–", protobuf="–"),
    Case("a bit of a Flag was removed", "the error says: `_missing_`", removed_bit, "give it `_missing_`", "give it `_missing_`", "give the enumeration `_missing_`", pickle="an error", avro="–", protobuf="–"),
    Case("... and `_missing_` masks it", "`_missing_`", masked_bit, lock="", pickle="`_missing_`", avro="–", protobuf="–"),
    Case("an enum of numbers became one of texts", "`_missing_`", to_texts, lock="", pickle="`_missing_`", avro="–", protobuf="–"),
    Case("a class became an enum", "`types=holdall.Record`", to_enum, "types=holdall.Record", "types=holdall.Record", "got `dict`", lock="another name", pickle="an error", avro="an error", protobuf="impossible"),
]  # fmt: skip
