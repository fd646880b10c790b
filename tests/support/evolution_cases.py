"""Changes of a program's classes, and what loads data from before: each cell of docs/evolution.md's table is a test."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import attrs
import msgspec
import pydantic

import holdall

T = TypeVar("T")
LOADS = "loads"


class Today(NamedTuple):
    """What a program is like after a change."""

    # What stands in data from before: in hold, and in plain formats.
    stored: Any
    plain: Any
    # The type by which it loads now, and what it has to become.
    type: Any
    wanted: Any
    types: Any = ()


class Case(NamedTuple):
    change: str
    write: str
    # Called with a stored name that no other class has.
    today: Callable[[str], Today]
    # How hold answers without a type and with one, and a plain format with one: LOADS, or a part of the error.
    hold: str | None = LOADS
    typed: str | None = LOADS
    plain: str | None = LOADS
    pickle: str = ""
    avro: str = ""
    protobuf: str = ""
    # How `holdall.pickle` answers, if not as hold does without a type.
    trusted: str | None = ""
    # Whether instances keep what the class has not, where they are loaded without a type.
    keeps: bool = False
    # What `holdall lock --check` names for this change, if it is not what is to be written; "" for nothing at all.
    lock: str | None = None


def made(*fields: Any, **options: Any) -> Any:
    return dataclasses.make_dataclass("Item", fields, namespace={"__module__": __name__}, **options)


def same(cls: Any, name: str, fields: dict[str, Any], *wanted: Any, **options: Any) -> Today:
    """A class that is registered under the name, and an instance that was stored with other fields."""
    holdall.register(cls, name=name, **options)
    return Today(holdall.Record(name, fields), fields, cls, cls(*wanted))


# --- names ---
def moved(name: str) -> Today:
    cls = holdall.register(made(("a", int)), name=f"{name}.today", aliases=[name])
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, cls(1))


def tagged(name: str) -> Today:
    cls = holdall.register(made(("a", int)), name=f"{name}.today", tag="today", aliases=[name])
    other = holdall.register(made(("a", int)), name=f"{name}.other", tag="other")
    return Today(holdall.Record(name, {"a": 1}), {"type": "Item", "a": 1}, cls | other, cls(1))


def moved_by_accident(name: str) -> Today:
    cls = made(("a", int))
    cls.__module__, cls.__qualname__ = name.rpartition(".")[0], "Moved"
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, cls(1))


def gone(name: str) -> Today:
    return Today(
        holdall.Record(name, {"a": 1}), {"a": 1}, None, holdall.Record(name, {"a": 1}), holdall.Record
    )


# --- fields ---
def with_default(name: str) -> Today:
    return same(made(("a", int), ("b", int, 5)), name, {"a": 1}, 1)


def with_factory(name: str) -> Today:
    return same(made(("a", int), ("b", list, dataclasses.field(default_factory=list))), name, {"a": 1}, 1)


def without_default(name: str) -> Today:
    return same(made(("a", int), ("b", int)), name, {"a": 1}, 1, 0)


def filled_in(name: str) -> Today:
    def upgrade(fields, version):
        return {**fields, "b": 2 * fields["a"]}

    return same(made(("a", int), ("b", int)), name, {"a": 1}, 1, 2, version=2, upgrade=upgrade)


def renamed(name: str) -> Today:
    return same(made(("title", str)), name, {"label": "tea"}, "tea", renames={"label": "title"})


def other_key(name: str) -> Today:
    cls = holdall.register(made(("title", str)), name=name, rename={"title": "t"})
    return Today(holdall.Record(name, {"title": "tea"}), {"title": "tea"}, cls, cls("tea"))


def removed(name: str) -> Today:
    return same(made(("a", int)), name, {"a": 1, "b": 2}, 1)


def dropped(name: str) -> Today:
    return same(made(("a", int)), name, {"a": 1, "b": 2}, 1, unknown="drop")


def refused(name: str) -> Today:
    return same(made(("a", int)), name, {"a": 1, "b": 2}, 1, unknown="refuse")


def reordered(name: str) -> Today:
    return same(made(("b", str), ("a", int)), name, {"a": 1, "b": "x"}, "x", 1)


def from_newer(name: str) -> Today:
    return same(made(("a", int)), name, {"a": 1, "added_later": 2}, 1)


# --- values ---
def in_cents(name: str) -> Today:
    def upgrade(fields, version):
        return {"price": round(fields["price"] * 100)} if version == 1 else fields

    cls = made(("price", int))
    holdall.register(cls, name=name, version=2, version_field="v", upgrade=upgrade)
    return Today(holdall.Record(name, {"price": 2.5}), {"price": 2.5}, cls, cls(250))


def two_versions(name: str) -> Today:
    one = in_cents(name)
    old, new = one.stored, holdall.Record(name, {"price": 250}, version=2)
    return Today(
        [old, new],
        [{"price": 2.5, "v": 1}, {"price": 250, "v": 2}],
        list[one.type],
        [one.wanted, one.type(250)],
    )


def to_datetime(name: str) -> Today:
    def upgrade(fields, version):
        return {"at": datetime.datetime.fromtimestamp(fields["at"], datetime.timezone.utc)}

    cls = made(("at", datetime.datetime))
    holdall.register(cls, name=name, version=2, version_field="v", upgrade=upgrade)
    return Today(
        holdall.Record(name, {"at": 0}),
        {"at": 0},
        cls,
        cls(datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)),
    )


def split(name: str) -> Today:
    def upgrade(fields, version):
        first, last = fields["name"].split()
        return {"first": first, "last": last}

    cls = made(("first", str), ("last", str))
    return same(cls, name, {"name": "Ann Lee"}, "Ann", "Lee", version=2, upgrade=upgrade)


def merged(name: str) -> Today:
    def upgrade(fields, version):
        return {"name": f"{fields['first']} {fields['last']}"}

    return same(
        made(("name", str)), name, {"first": "Ann", "last": "Lee"}, "Ann Lee", version=2, upgrade=upgrade
    )


def retyped_keys(name: str) -> Today:
    def upgrade(fields, version):
        return {"by_id": {int(key): value for key, value in fields["by_id"].items()}}

    cls = made(("by_id", dict[int, str]))
    fields = {"by_id": {"7": "x"}}
    return same(cls, name, fields, {7: "x"}, version=2, version_field="v", upgrade=upgrade)


class Amount:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and self.cents == other.cents


def of_version(name: str) -> Today:
    def decode(value, version):
        # Plain formats store no version: there the value tells.
        return Amount(value if version == 2 or isinstance(value, int) else round(value * 100))

    holdall.register(Amount, name=name, encode=lambda amount: 2.5, decode=decode)
    data = holdall.dumps(Amount(0))
    holdall.register(Amount, name=f"{name}.old", encode=lambda amount: 2.5, decode=decode)
    record = holdall.loads(data, types=holdall.Record)
    holdall.register(Amount, name=name, version=2, encode=lambda amount: amount.cents, decode=decode)
    return Today(record, 2.5, Amount, Amount(250))


# --- kinds of classes ---
def to_slots(name: str) -> Today:
    return same(made(("a", int), slots=True), name, {"a": 1}, 1)


def to_attrs(name: str) -> Today:
    return same(attrs.make_class("Item", {"a": attrs.field(type=int)}), name, {"a": 1}, 1)


def to_struct(name: str) -> Today:
    return same(msgspec.defstruct("Item", [("a", int), ("b", int, 5)]), name, {"a": 1}, 1)


def to_model(name: str) -> Today:
    cls = pydantic.create_model("Item", a=(int, ...), b=(int, 5))
    holdall.register(cls, name=name)
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, cls, cls(a=1))


class Pair(NamedTuple):
    a: int
    b: int = 5


def to_named_tuple(name: str) -> Today:
    return same(type("Item", (Pair,), {"__slots__": (), "__module__": __name__}), name, {"a": 1}, 1)


def to_array_like(name: str) -> Today:
    cls = holdall.register(made(("a", int), ("b", int)), name=name, array_like=True)
    return Today((1, 2), [1, 2], cls, cls(1, 2))


def dict_to_class(name: str) -> Today:
    cls = holdall.register(made(("a", int)), name=name)
    return Today({"a": 1}, {"a": 1}, cls, cls(1))


class Item(TypedDict):
    a: int


def to_typed_dict(name: str) -> Today:
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, Item, {"a": 1})


def new_base(name: str) -> Today:
    base = made(("b", int, 5))
    return same(made(("a", int, 0), bases=(base,)), name, {"a": 1}, 5, 1)


class Box(Generic[T]):
    a: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and vars(self) == vars(other)


def generic(name: str) -> Today:
    holdall.register(Box, name=name)
    wanted: Any = Box()
    wanted.a = 1
    return Today(holdall.Record(name, {"a": 1}), {"a": 1}, Box[int], wanted)


# --- enumerations ---
def member_of(name: str, member: str, value: str) -> Any:
    old: Any = enum.Enum("Old", {member: value})
    holdall.register(old, name=name)
    data = holdall.dumps(old[member])
    holdall.register(old, name=f"{name}.old")
    return holdall.loads(data, types=holdall.Record)


def renamed_member(name: str) -> Today:
    stored = member_of(name, "RED", "r")
    cls: Any = enum.Enum("Color", {"CRIMSON": "r"})
    holdall.register(cls, name=name, renames={"RED": "CRIMSON"})
    return Today(stored, "r", cls, cls.CRIMSON)


def removed_member(name: str) -> Today:
    class Color(enum.Enum):
        OTHER = "o"

        @classmethod
        def _missing_(cls, value):
            return cls.OTHER

    stored = member_of(name, "RED", "r")
    holdall.register(Color, name=name)
    return Today(stored, "r", Color, Color.OTHER)


def lost_member(name: str) -> Today:
    stored = member_of(name, "RED", "r")
    cls: Any = enum.Enum("Color", {"OTHER": "o"})
    holdall.register(cls, name=name)
    return Today(stored, "r", cls, None)


def moved_enum(name: str) -> Today:
    stored = member_of(name, "RED", "r")
    cls: Any = enum.Enum("Color", {"RED": "r"})
    holdall.register(cls, name=f"{name}.today", aliases=[name])
    return Today(stored, "r", cls, cls.RED)


ATTRIBUTE = "the attribute is missing, later"
READER = "a default in the reader's schema"
CODE = "code that converts"
CASES = [
    Case("a class was moved or renamed", '`aliases=["old.Name"]`', moved, pickle="`find_class`", avro="`aliases`", protobuf="nothing"),
    Case("... and a tag tells it from others", '`aliases=["old.Name"]`', tagged, pickle="`find_class`", avro="`aliases`", protobuf="nothing"),
    Case("... and nothing was said", "the error says: `aliases`", moved_by_accident, "`register` the class", "in `aliases`", pickle="an import error", avro="an error", protobuf="nothing"),
    Case("a class was deleted", "`types=holdall.Record`", gone, typed=None, plain=None, trusted="records by `holdall.loads", pickle="`find_class`, a class that stands in", avro="the writer's schema", protobuf="unknown fields"),
    Case("a field was added, with a default", "nothing", with_default, pickle="nothing: it is a class attribute", avro=READER, protobuf="nothing"),
    Case("..., with a default factory", "nothing", with_factory, pickle=ATTRIBUTE, avro=READER, protobuf="nothing"),
    Case("..., without a default", "the error says: a default, `upgrade`", without_default, "give it a default, or `register`", "missing required field", "missing required field", pickle=ATTRIBUTE, avro="an error", protobuf="zero"),
    Case("..., computed from others", "`version=2, upgrade=`", filled_in, pickle="`__setstate__`", avro=CODE, protobuf=CODE),
    Case("a field was renamed", '`renames={"old": "new"}`', renamed, pickle="`__setstate__`", avro="`aliases`", protobuf="nothing"),
    Case("its key in plain formats was changed", '`rename={"name": "key"}`', other_key, lock="", pickle="–", avro="`aliases`", protobuf="`json_name`"),
    Case("a field was removed", "nothing", removed, keeps=True, pickle="it stays", avro="nothing", protobuf="`reserved`"),
    Case("..., and instances shall not keep it", '`unknown="drop"`', dropped, lock="", pickle="`__setstate__`", avro="nothing", protobuf="`DiscardUnknownFields()`"),
    Case("..., and that is an error", '`unknown="refuse"`', refused, "a field `b` that it has not", "a field `b`|unknown field `b`", "unknown field `b`", lock="", pickle="`__setstate__`", avro="impossible", protobuf="code that looks at `UnknownFieldSet`"),
    Case("fields were put in another order", "nothing", reordered, pickle="nothing", avro="nothing", protobuf="nothing"),
    Case("a newer program has added a field", "nothing", from_newer, keeps=True, pickle="nothing", avro="nothing", protobuf="nothing"),
    Case("the unit of a field was changed", '`version=2, upgrade=, version_field="v"`', in_cents, pickle="`__setstate__`", avro=CODE, protobuf="a new field"),
    Case("both versions are in one file", '`version=2, upgrade=, version_field="v"`', two_versions, pickle="`__setstate__`", avro="a union of both, and code that converts", protobuf="a new field"),
    Case("an int became a datetime", '`version=2, upgrade=, version_field="v"`', to_datetime, pickle="`__setstate__`", avro=CODE, protobuf="a new field"),
    Case("a field was split", "`version=2, upgrade=`", split, pickle="`__setstate__`", avro=CODE, protobuf=CODE),
    Case("fields were merged", "`version=2, upgrade=`", merged, pickle="`__setstate__`", avro=CODE, protobuf=CODE),
    Case("keys of a dict became ints", '`version=2, upgrade=, version_field="v"`', retyped_keys, pickle="`__setstate__`", avro="keys are text", protobuf="a new field"),
    Case("what `encode` returns was changed", "`version=2`, `decode(value, version)`", of_version, lock="", pickle="`__setstate__`", avro="–", protobuf="–"),
    Case("a dataclass got slots", "nothing", to_slots, pickle="`__setstate__`", avro="–", protobuf="–"),
    Case("it became an attrs class", "nothing", to_attrs, pickle="nothing", avro="–", protobuf="–"),
    Case("it became a `msgspec.Struct`", "nothing", to_struct, pickle="an error", avro="–", protobuf="–"),
    Case("it became a pydantic model", "nothing", to_model, pickle="fields are lost", avro="–", protobuf="–"),
    Case("it became a named tuple", "in plain formats: `upgrade` of what holds it", to_named_tuple, plain="got `dict`", lock="a class, as before", pickle="impossible", avro="–", protobuf="–"),
    Case("it became a TypedDict", "in hold: `types=holdall.Record`", to_typed_dict, hold=None, typed="Expected `Item`", pickle="impossible", avro="–", protobuf="–"),
    Case("a dict became a class", "`type=`", dict_to_class, lock="", hold=None, pickle="impossible", avro="an error", protobuf="impossible"),
    Case("a tuple became a class", "`array_like=True`, `type=`", to_array_like, lock="", hold=None, pickle="impossible", avro="an error", protobuf="impossible"),
    Case("a class got another base", "nothing", new_base, pickle="nothing", avro="–", protobuf="–"),
    Case("a class became generic", "nothing", generic, pickle="nothing", avro="–", protobuf="–"),
    Case("an enum's member was renamed", '`renames={"OLD": "NEW"}`', renamed_member, pickle="nothing", avro="an error", protobuf="nothing"),
    Case("... was removed", "`_missing_`", removed_member, lock="", pickle="`_missing_`", avro="a default of the enum", protobuf="it stays a number"),
    Case("... and nothing was said", "the error says: `renames`, `_missing_`", lost_member, "has no such member: `register`", "has no such member: `register`", "Invalid enum value", pickle="an error", avro="an error", protobuf="it stays a number"),
    Case("an enum was moved", '`aliases=["old.Name"]`', moved_enum, pickle="`find_class`", avro="`aliases`", protobuf="nothing"),
]  # fmt: skip
