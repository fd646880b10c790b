"""Fields that a class has lost or got since its instances were stored, one rule for all families of classes."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import sys
import types
from typing import Any, NamedTuple, TypedDict

import attrs
import msgspec
import pydantic
import pytest

import holdall
from holdall import bson, msgpack

_numbers = itertools.count()


class OfDict:
    a: int


class OfSlots:
    __slots__ = ("a",)


@dataclasses.dataclass
class Data:
    a: int


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int


@attrs.define(slots=False)
class Attrs:
    a: int


@attrs.define
class SlottedAttrs:
    a: int


class Struct(msgspec.Struct):
    a: int


class Model(pydantic.BaseModel):
    a: int


class Listed(list[int]):
    pass


class Named(NamedTuple):
    a: int


class Fields(TypedDict):
    a: int


FAMILIES = [OfDict, OfSlots, Data, Slotted, Attrs, SlottedAttrs, Struct, Model]
DECLARING = [Data, Slotted, Attrs, SlottedAttrs, Struct, Model]
KEEPING = [OfDict, Data, Attrs]


@pytest.fixture
def name():
    return f"evolution.Item{next(_numbers)}"


def stored(name: str, **fields: Any) -> bytes:
    """What another program stored: an instance of its class of that name."""
    return holdall.dumps(holdall.Record(name, fields))


# --- fields that are gone ---
@pytest.mark.parametrize("cls", FAMILIES)
def test_unless_told_otherwise_a_field_stays_where_it_has_a_place(cls, name):
    holdall.register(cls, name=name)
    made = holdall.loads(stored(name, a=1, gone=2))
    assert made.a == 1
    assert getattr(made, "gone", None) == (2 if cls in (*KEEPING, Model) else None)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("cls", FAMILIES)
def test_drop(cls, name, version):
    holdall.register(cls, name=name, unknown="drop", version=version)
    made = holdall.loads(stored(name, a=1, gone=2))
    assert made.a == 1
    assert not hasattr(made, "gone")
    assert holdall.loads(stored(name, a=1, gone=2), type=Any).a == 1
    assert b"gone" not in holdall.dumps(made)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("cls", FAMILIES)
def test_refuse(cls, name, version):
    holdall.register(cls, name=name, unknown="refuse", version=version)
    assert holdall.loads(stored(name, a=1)).a == 1
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(stored(name, a=1, gone=2))
    assert str(caught.value).startswith(
        f'`{name}` was stored with a field `gone` that it has not, and is registered with `unknown="refuse"`'
    )


@pytest.mark.parametrize("cls", KEEPING)
def test_keep(cls, name):
    holdall.register(cls, name=name, unknown="keep")
    for options in ({}, {"type": cls}):
        made = holdall.loads(stored(name, a=1, gone=2), **options)
        assert (type(made), made.a, made.gone) == (cls, 1, 2)
    for format in (msgpack, bson):
        data = format.dumps({"a": 1, "gone": 2})
        made = format.loads(data, type=cls)
        assert (type(made), made.a, made.gone) == (cls, 1, 2)
        assert format.loads(format.dumps(made)) == {"a": 1, "gone": 2}


@pytest.mark.parametrize("cls", [OfSlots, Slotted, SlottedAttrs, Struct])
def test_there_must_be_room_for_what_is_kept(cls, name):
    with pytest.raises(TypeError, match="have no `__dict__` that could keep fields"):
        holdall.register(cls, name=name, unknown="keep")


def test_models_say_themselves_what_they_keep(name):
    class Open(pydantic.BaseModel, extra="allow"):
        a: int

    with pytest.raises(TypeError, match="keeps fields by `model_config"):
        holdall.register(Model, name=name, unknown="keep")
    with pytest.raises(TypeError, match="keeps fields, as its `model_config` says"):
        holdall.register(Open, name=name, unknown="drop")
    holdall.register(Open, name=name, unknown="keep")
    assert msgpack.loads(msgpack.dumps({"a": 1, "b": 2}), type=Open).b == 2


def test_a_class_that_declares_nothing_has_no_unknown_fields(name):
    class Plain:
        pass

    with pytest.raises(TypeError, match="declares no fields: annotate them"):
        holdall.register(Plain, name=name, unknown="drop")
    with pytest.raises(TypeError, match="expected 'keep', 'drop', 'refuse' or None"):
        holdall.register(Plain, name=name, unknown="ignore")


@pytest.mark.parametrize("cls", DECLARING)
def test_by_a_type(cls, name, fmt):
    data = fmt.dumps({"a": 1, "gone": 2})
    for unknown in (None, "drop"):
        holdall.register(cls, name=name, unknown=unknown)
        made = fmt.loads(data, type=cls)
        assert made == cls(a=1)
        assert not hasattr(made, "gone")
    holdall.register(cls, name=name, unknown="refuse")
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(data, type=cls)
    assert str(caught.value) == "Object contains unknown field `gone`"


@pytest.mark.parametrize("cls", [Data, Slotted, Struct])
def test_what_upgrade_leaves_over(cls, name):
    def upgrade(fields, version):
        return fields

    for unknown in ("drop", "refuse"):
        holdall.register(cls, name=name, version=2, upgrade=upgrade, unknown=unknown)
        if unknown == "drop":
            assert not hasattr(holdall.loads(stored(name, a=1, gone=2)), "gone")
        else:
            with pytest.raises(holdall.DecodeError, match="a field `gone` that it has not"):
                holdall.loads(stored(name, a=1, gone=2))


# --- fields that are missing ---
@pytest.mark.parametrize("cls", [*DECLARING, Named])
def test_a_missing_field_without_a_default(cls, name):
    holdall.register(cls, name=name)
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(stored(name, other=2))
    assert f"`{name}` was stored without its field `a`: give it a default, or `register`" in str(caught.value)


@pytest.mark.parametrize("cls", DECLARING)
def test_what_upgrade_leaves_out(cls, name):
    holdall.register(cls, name=name, version=2, upgrade=lambda fields, version: {})
    with pytest.raises(holdall.DecodeError, match="was stored without its field `a`"):
        holdall.loads(stored(name, a=2))


@pytest.mark.parametrize("cls", DECLARING)
def test_instances_that_may_lack_fields(cls, name):
    holdall.register(cls, name=name, missing="leave")
    assert not hasattr(holdall.loads(stored(name)), "a")
    with pytest.raises(TypeError, match="missing: expected 'refuse' or 'leave'"):
        holdall.register(cls, name=name, missing="keep")


@pytest.mark.parametrize("cls", [Data, Slotted])
def test_what_could_not_be_loaded_is_not_stored(cls, name):
    half = cls.__new__(cls)
    holdall.register(cls, name=name)
    with pytest.raises(holdall.EncodeError) as caught:
        holdall.dumps([cls(1), half])
    assert f"can't store an instance of `{name}` without its field `a`, which loading would refuse" in str(
        caught.value
    )
    holdall.register(cls, name=name, missing="leave")
    whole, half = holdall.loads(holdall.dumps([cls(1), half]))
    assert whole.a == 1
    assert not hasattr(half, "a")


def test_trusted_messages_keep_what_pickle_keeps(name):
    half = Data.__new__(Data)
    holdall.register(Data, name=name)
    with pytest.raises(holdall.EncodeError, match="without its field `a`"):
        holdall.dumps(half, trust=True)

    @dataclasses.dataclass
    class Unregistered:
        a: int

    Unregistered.__qualname__ = "Unregistered"
    globals()["Unregistered"] = Unregistered
    trusted = holdall.dumps(Unregistered.__new__(Unregistered), trust=True)
    ordinary = holdall.dumps(holdall.Record(f"{__name__}.Unregistered", {}))
    # How the one is loaded says nothing of the other, whichever comes first.
    for _ in range(2):
        assert not vars(holdall.loads(trusted, trust=True))
        with pytest.raises(holdall.DecodeError, match="was stored without its field `a`"):
            holdall.loads(ordinary, types=Unregistered)


def test_registrations_hold_in_trusted_messages(name):
    def trusted(**fields: Any) -> bytes:
        return holdall.dumps(holdall.Record(name, fields), trust=True)

    holdall.register(Slotted, name=name, unknown="refuse")
    with pytest.raises(holdall.DecodeError, match="a field `gone` that it has not"):
        holdall.loads(trusted(a=1, gone=2), trust=True)
    with pytest.raises(holdall.DecodeError, match="was stored without its field `a`"):
        holdall.loads(trusted(), trust=True)
    holdall.register(Slotted, name=name)
    assert holdall.loads(trusted(a=1, gone=2), trust=True) == Slotted(1)


def test_a_class_that_is_gone_from_trusted_messages():
    data = holdall.dumps(holdall.Record("gone_home.Item", {"a": 1}), trust=True)
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(data, trust=True)
    assert str(caught.value).startswith(
        "can't find the class `gone_home.Item`: there is no module `gone_home`; `register` the class with that name in "
        "`aliases`, or load records by `holdall.loads(data, trust=True, types=holdall.Record)`"
    )
    assert holdall.loads(data, trust=True, types=holdall.Record).fields == {"a": 1}


@dataclasses.dataclass
class Computed:
    a: int
    total: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.total = 2 * self.a


@dataclasses.dataclass
class Lazy:
    a: int
    cache: dict[str, int] = dataclasses.field(init=False)


def test_fields_that_no_constructor_takes(name):
    holdall.register(Computed, name=name)
    with pytest.raises(
        holdall.DecodeError, match="without its field `total`: give it a default, or `register`"
    ):
        holdall.loads(stored(name, a=1))
    assert holdall.loads(stored(name, a=1), type=Computed) == Computed(1)
    assert holdall.loads(holdall.dumps(Computed(1))) == Computed(1)
    # Nothing would set it, so it may be unset.
    holdall.register(Lazy, name=f"{name}.Lazy")
    assert vars(holdall.loads(holdall.dumps(Lazy(1)))) == {"a": 1}


def test_defaults_of_structs_and_models(name):
    class Later(msgspec.Struct):
        a: int
        b: int = 5
        c: list[int] = []

    class LaterModel(pydantic.BaseModel):
        a: int
        b: int = 5
        c: list[int] = pydantic.Field(default_factory=list)

    for cls in (Later, LaterModel):
        holdall.register(cls, name=name)
        assert holdall.loads(stored(name, a=1)) == cls(a=1)
        assert holdall.loads(stored(name, a=1)).c is not holdall.loads(stored(name, a=1)).c
        holdall.register(cls, name=f"{name}.{cls.__name__}")
    made = holdall.loads(holdall.dumps(holdall.Record(f"{name}.LaterModel", {"a": 1})))
    assert made.model_fields_set == {"a"}
    assert made.model_dump() == {"a": 1, "b": 5, "c": []}
    assert made.model_copy() == made


def test_a_plain_class_that_became_a_model(name):
    holdall.register(Model, name=name, renames={"old": "a"})
    for field in ("a", "old"):
        made = holdall.loads(stored(name, **{field: 1}))
        assert made == Model(a=1)
        assert holdall.loads(stored(name, **{field: 1}), type=Model) == made
    holdall.register(Model, name=f"{name}.now")


def test_factories_that_take_fields_or_the_instance(name):
    @attrs.frozen
    class Chain:
        a: int
        b: list[int] = attrs.field(default=attrs.Factory(lambda self: [self.a], takes_self=True))
        c: int = attrs.field(default=attrs.Factory(lambda self: len(self.b), takes_self=True))

    class OfFields(pydantic.BaseModel):
        a: int
        b: int = pydantic.Field(default_factory=lambda data: data["a"] + 1)

    holdall.register(Chain, name=name)
    holdall.register(OfFields, name=f"{name}.Model")
    assert holdall.loads(stored(name, a=7)) == Chain(7, [7], 1)
    assert holdall.loads(stored(f"{name}.Model", a=7)) == OfFields(a=7, b=8)

    class Failing(pydantic.BaseModel):
        a: int
        b: int = pydantic.Field(default_factory=lambda: 1 // 0)

    holdall.register(Failing, name=name.upper())
    with pytest.raises(ZeroDivisionError):
        holdall.loads(stored(name.upper(), a=7))


def test_a_model_that_upgrade_completes(name):
    class Whole(pydantic.BaseModel):
        a: int
        b: int
        c: int = 5

    holdall.register(Whole, name=name, version=2, upgrade=lambda fields, version: {**fields, "b": 2})
    data = holdall.dumps(
        holdall.Record(name, {"a": 1, "__pydantic_fields_set__": {"a"}, "__pydantic_extra__": None,
                              "__pydantic_private__": None})
    )  # fmt: skip
    for options in ({}, {"type": Whole}):
        made = holdall.loads(data, **options)
        assert (made, made.model_fields_set) == (Whole(a=1, b=2), {"a", "b"})


# --- renamed fields ---
def test_renames_that_swap_names(name):
    cls = dataclasses.make_dataclass("Item", [("a", int), ("b", int)])
    holdall.register(cls, name=name, version=2, renames={"a": "b", "b": "a"})
    assert holdall.loads(stored(name, a=1, b=2)) == cls(2, 1)
    assert holdall.loads(stored(name, a=1, b=2), type=cls) == cls(2, 1)
    # What today's version stores has today's names.
    assert holdall.loads(holdall.dumps(cls(1, 2))) == cls(1, 2)
    assert holdall.loads(holdall.dumps(cls(1, 2)), type=cls) == cls(1, 2)
    holdall.register(cls, name=name, renames={"a": "b", "b": "a"})
    assert holdall.loads(holdall.dumps(cls(1, 2))) == cls(1, 2)


@pytest.mark.parametrize("version", [1, 2])
def test_a_field_that_is_there_under_both_names(name, version):
    cls = dataclasses.make_dataclass("Item", [("a", int)])
    holdall.register(cls, name=name, version=version, renames={"b": "a"}, unknown="drop")
    for fields in ({"a": 1, "b": 2}, {"b": 2, "a": 1}):
        for options in ({}, {"type": cls}):
            assert vars(holdall.loads(stored(name, **fields), **options)) == {"a": 1}


# --- enumerations ---
class Color(enum.Enum):
    CRIMSON = "c"
    BLUE = "b"

    @classmethod
    def _missing_(cls, value):
        return cls.BLUE if value == "AZURE" else None


def member(name: str, member: str) -> bytes:
    old = enum.Enum("Old", {member: 1})
    holdall.register(old, name=name)
    data = holdall.dumps(old[member])
    holdall.register(old, name=f"{name}.{next(_numbers)}")
    return data


def test_renamed_members(name):
    red, azure, green = (member(name, old) for old in ("RED", "AZURE", "GREEN"))
    holdall.register(Color, name=name, renames={"RED": "CRIMSON"})
    assert holdall.loads(red) is Color.CRIMSON
    assert holdall.loads(red, type=Color) is Color.CRIMSON
    assert holdall.loads(azure) is Color.BLUE
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(green)
    assert str(caught.value).startswith(
        "`Color` has no such member: `register` it with the old name in `renames`, or give it `_missing_` - at byte"
    )
    assert msgpack.loads(msgpack.dumps("RED"), type=Color) is Color.CRIMSON
    with pytest.raises(holdall.ValidationError) as caught:
        msgpack.loads(msgpack.dumps("GREEN"), type=Color)
    assert str(caught.value) == "Invalid enum value: if it is an old one, give the enumeration `_missing_`"


def test_what_was_no_enumeration_and_the_reverse(name):
    green = member(name, "GREEN")
    for cls, data, kind in (
        (Color, stored(name, a=1), "an instance with fields"),
        (Data, green, "an enumeration"),
        (Listed, stored(name, a=1), "an instance with fields"),
    ):
        holdall.register(cls, name=name)
        with pytest.raises(holdall.DecodeError) as caught:
            holdall.loads(data)
        assert str(caught.value).startswith(
            f"`{name}` was stored as {kind}, which it is not here: `register` it with a `resolver` that says what becomes of it, "
            "or load it with `types=holdall.Record`"
        )
        holdall.register(cls, name=f"{name}.{next(_numbers)}")


# --- what was moved ---
def test_a_class_by_reference_that_was_moved(name):
    module = types.ModuleType("old_home")
    exec("class Old: pass", module.__dict__)
    sys.modules["old_home"] = module
    try:
        data = holdall.dumps([module.Old, module.Old()], trust=True)
    finally:
        del sys.modules["old_home"]
    with pytest.raises(holdall.DecodeError, match="can't find `old_home.Old`: .*in `aliases`"):
        holdall.loads(data, trust=True)

    class Today:
        pass

    holdall.register(Today, name=name, aliases=["old_home.Old"])
    found, made = holdall.loads(data, trust=True)
    assert found is Today
    assert type(made) is Today
    holdall.register(Today, name=name)


def test_a_moved_class_by_a_type(name):
    with pytest.raises(holdall.ValidationError) as caught:
        holdall.loads(stored(name, a=1), type=Data)
    assert str(caught.value) == (
        f"Expected `Data`, got `{name}`; if that is its old name, `register` it with the name in `aliases`"
    )
    with pytest.raises(holdall.ValidationError) as caught:
        holdall.loads(stored(name, a=1), type=Fields)
    assert str(caught.value) == (
        f"Expected `Fields`, got `{name}`; load it by `types=holdall.Record`, whose `fields` are a dict"
    )
    # A class that is known is another one.
    holdall.register(Slotted, name=name)
    with pytest.raises(holdall.ValidationError) as caught:
        holdall.loads(stored(name, a=1), type=Data)
    assert str(caught.value) == "Expected `Data`, got `Slotted`"
