"""Data outlives code: what one program stored, and another that came later loads. Untyped and typed, in every format.

Each story has a writer's class and a reader's, of the same stored name: the writer retires before the reader registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import attrs
import msgspec
import pytest

import holdall
from holdall import dumps, loads, register
from tests.support.formats import FORMATS, Format

_numbers = itertools.count()


def name() -> str:
    """A stored name that no other story uses."""
    return f"shop.Order{next(_numbers)}"


def retire(cls: type) -> None:
    """Take its stored name from a class: its program has ended."""
    register(cls, name=f"retired.stories.{next(_numbers)}")


def written(fmt: Format, cls: type, stored: str, *args: Any, **options: Any) -> bytes:
    """A list of two equal instances and their first again, by a program that is over."""
    register(cls, name=stored, **options)
    one = cls(*args)
    data = fmt.dumps([one, cls(*args), one])
    retire(cls)
    return data


def read(fmt: Format, data: bytes, cls: type) -> Any:
    """What a program with `cls` loads: by its type, and without one where the format says what was stored."""
    typed = fmt.loads(data, type=list[cls])  # type: ignore[valid-type]
    assert [type(one) for one in typed] == [cls] * 3 and typed[0] == typed[1] == typed[2]
    if not fmt.plain:
        assert typed[0] is typed[2] is not typed[1]
        untyped = loads(data)
        assert untyped == typed and [type(one) for one in untyped] == [cls] * 3
        assert untyped[0] is untyped[2]
        within = loads(dumps({"orders": loads(data)}), type=dict[str, list[cls]])  # type: ignore[valid-type]
        assert within == {"orders": typed}
    return typed[0]


@dataclass
class Order:
    """As it was first."""

    id: int
    label: str
    price: str = "0"


def dataclass_of(**fields: Any) -> Callable[[], type]:
    def make() -> type:
        space = {key: value[1] for key, value in fields.items() if isinstance(value, tuple)}
        hints = {key: value[0] if isinstance(value, tuple) else value for key, value in fields.items()}
        return dataclass(type("Order", (), {"__annotations__": hints, "__module__": __name__, **space}))

    return make


# --- a class moves ---------------------------------------------------------------------------------------------------
def test_moved_to_another_module_with_its_name(fmt: Format) -> None:
    """The name was given by `register`: where the class is does not matter."""
    stored = name()
    data = written(fmt, Order, stored, 1, "tea")
    moved = dataclass_of(id=int, label=str, price=(str, "0"))()
    register(moved, name=stored)
    assert read(fmt, data, moved) == moved(1, "tea")


def test_moved_to_another_module_by_an_alias(fmt: Format) -> None:
    """The name was that of the module: the new place names the old one."""
    old = name()
    data = written(fmt, Order, old, 1, "tea")
    moved = dataclass_of(id=int, label=str, price=(str, "0"))()
    register(moved, name=name(), aliases=[old])
    assert read(fmt, data, moved) == moved(1, "tea")
    # What is stored from now on has the new name.
    if not fmt.plain:
        assert loads(dumps(moved(2, "x")), types=holdall.Record).id == 2
        retire(moved)
        assert loads(dumps(moved(2, "x")), types=[moved]) == moved(2, "x")


def test_moved_without_a_word() -> None:
    stored = name()
    data = written(FORMATS["hold"], Order, stored, 1, "tea")
    moved = dataclass_of(id=int, label=str, price=(str, "0"))()
    with pytest.raises(holdall.UnknownTypeError) as caught:
        loads(data)
    assert caught.value.type_name == stored
    with pytest.raises(holdall.ValidationError, match=f"Expected `Order`, got `{stored}`"):
        loads(data, type=list[moved])  # type: ignore[valid-type]


# --- fields come and go ----------------------------------------------------------------------------------------------
def test_a_field_is_renamed(fmt: Format) -> None:
    stored = name()
    data = written(fmt, Order, stored, 1, "tea", "4")
    reader = dataclass_of(id=int, title=str, price=(str, "0"))()
    register(reader, name=stored, renames={"label": "title"})
    if fmt.plain:
        # No class was stored whose renames could be looked up: the type's own are what there is.
        register(reader, name=stored, renames={"label": "title"}, rename={"title": "label"})
    assert read(fmt, data, reader) == reader(1, "tea", "4")


def test_a_field_is_added_with_a_default(fmt: Format) -> None:
    stored = name()
    data = written(fmt, Order, stored, 1, "tea")
    reader = dataclass_of(
        id=int, label=str, price=(str, "0"), note=(str, "none"), tags=(list[str], field(default_factory=list))
    )()
    register(reader, name=stored)
    one = read(fmt, data, reader)
    assert one == reader(1, "tea") and one.note == "none" and one.tags == []
    two = fmt.loads(data, type=list[reader])
    assert two[0].tags is not two[1].tags


def test_a_field_is_added_without_a_default(fmt: Format) -> None:
    stored = name()
    data = written(fmt, Order, stored, 1, "tea")
    reader = dataclass_of(id=int, label=str, price=str, note=str)()
    register(reader, name=stored)
    with pytest.raises(holdall.ValidationError, match="Object missing required field `note`"):
        fmt.loads(data, type=list[reader])


def test_a_field_is_removed(fmt: Format) -> None:
    stored = name()
    data = written(fmt, Order, stored, 1, "tea")
    reader = dataclass_of(label=str)()
    register(reader, name=stored)
    one = fmt.loads(data, type=list[reader])[0]
    assert one == reader("tea") and vars(one) == {"label": "tea"}
    register(reader, name=stored, forbid_unknown=True)
    with pytest.raises(holdall.ValidationError, match="Object contains unknown field `id`"):
        fmt.loads(data, type=list[reader])


def test_fields_change_their_order(fmt: Format) -> None:
    stored = name()
    data = written(fmt, Order, stored, 1, "tea", "4")
    reader = dataclass_of(price=str, label=str, id=int)()
    register(reader, name=stored)
    assert read(fmt, data, reader) == reader("4", "tea", 1)


def test_a_field_is_retyped() -> None:
    """`upgrade` makes the new value of the old; in hold, which stores versions."""
    stored = name()
    data = written(FORMATS["hold"], Order, stored, 1, "tea", "4.50")

    def upgrade(fields: dict[str, Any], version: int) -> dict[str, Any]:
        assert version == 1
        fields["price"] = round(float(fields["price"]) * 100)
        return fields

    reader = dataclass_of(id=int, label=str, price=int)()
    register(reader, name=stored)
    with pytest.raises(holdall.ValidationError, match=r"Expected `int`, got `str` - at `\$\[0\].price`"):
        loads(data, type=list[reader])  # type: ignore[valid-type]
    register(reader, name=stored, version=2, upgrade=upgrade)
    assert read(FORMATS["hold"], data, reader) == reader(1, "tea", 450)
    # What is stored now has the new version: it is not upgraded again.
    assert loads(dumps([reader(2, "x", 7)]), type=list[reader]) == [reader(2, "x", 7)]  # type: ignore[valid-type]


def test_an_upgrade_that_gives_the_wrong_type() -> None:
    stored = name()
    data = written(FORMATS["hold"], Order, stored, 1, "tea", "4.50")
    reader = dataclass_of(id=int, label=str, price=int)()
    register(reader, name=stored, version=2, upgrade=lambda fields, version: fields)
    with pytest.raises(holdall.ValidationError):
        loads(data, type=list[reader])  # type: ignore[valid-type]


def test_a_field_is_retyped_within_what_converts(fmt: Format) -> None:
    """An int that became a float needs no upgrade; a number in text takes strict=False."""
    stored = name()
    data = written(fmt, Order, stored, 1, "7")
    reader = dataclass_of(id=float, label=str, price=(str, "0"))()
    register(reader, name=stored)
    one = fmt.loads(data, type=list[reader])[0]
    assert one.id == 1.0 and type(one.id) is float
    lax = dataclass_of(id=int, label=int, price=(str, "0"))()
    retire(reader)
    register(lax, name=stored)
    assert fmt.loads(data, type=list[lax], strict=False)[0].label == 7


def test_everything_at_once() -> None:
    """Moved, renamed, retyped, added and removed, three versions later."""
    old = name()
    data = written(FORMATS["hold"], Order, old, 1, "tea", "4.50", version=1)

    def upgrade(fields: dict[str, Any], version: int) -> dict[str, Any]:
        if version < 2:
            fields["cents"] = round(float(fields.pop("price")) * 100)
        if version < 3:
            fields.pop("id")
        return fields

    reader = dataclass_of(title=str, cents=int, note=(str, "new"))()
    register(reader, name=name(), aliases=[old], renames={"label": "title"}, version=3, upgrade=upgrade)
    assert read(FORMATS["hold"], data, reader) == reader("tea", 450)


# --- old readers and new data ----------------------------------------------------------------------------------------
def test_an_old_reader_meets_new_data(fmt: Format) -> None:
    """Fields that it does not know are passed over, with all they hold."""
    stored = name()
    new = dataclass_of(id=int, extra=Any, label=str, price=str, more=Any)()
    data = written(fmt, new, stored, 1, {"deep": [{"x": (1, 2)}]}, "tea", "4", [1.5, {"k": b"v"}])
    reader = dataclass_of(id=int, label=str, price=(str, "0"))()
    register(reader, name=stored)
    one = fmt.loads(data, type=list[reader])[2]
    assert one == reader(1, "tea", "4") and vars(one).keys() == {"id", "label", "price"}


def test_an_old_reader_meets_a_newer_version() -> None:
    """Without an upgrade the fields are taken as they are; with one it is asked."""
    stored = name()
    data = written(FORMATS["hold"], Order, stored, 1, "tea", version=5)
    reader = dataclass_of(id=int, label=str, price=(str, "0"))()
    register(reader, name=stored, version=2)
    assert loads(data, type=list[reader])[0] == reader(1, "tea")  # type: ignore[valid-type]
    seen = []
    register(reader, name=stored, version=2, upgrade=lambda fields, version: seen.append(version) or fields)
    assert loads(data, type=list[reader])[0] == reader(1, "tea")  # type: ignore[valid-type]
    assert set(seen) == {5}


def test_a_class_that_became_another_kind(fmt: Format) -> None:
    """Dataclass, attrs, Struct, TypedDict-like: the fields are what counts."""
    stored = name()
    data = written(fmt, Order, stored, 1, "tea", "4")

    @attrs.define
    class ByAttrs:
        id: int
        label: str
        price: str = "0"

    class Struct(msgspec.Struct):
        id: int
        label: str
        price: str = "0"

    @dataclass(slots=True, frozen=True)
    class Slots:
        id: int
        label: str
        price: str = "0"

    for reader in (ByAttrs, Struct, Slots):
        register(reader, name=stored)
        assert read(fmt, data, reader) == reader(1, "tea", "4")
        retire(reader)


# --- a class is gone -------------------------------------------------------------------------------------------------
class Money(NamedTuple):
    amount: int
    unit: str


class Tagged(dict):  # type: ignore[type-arg]
    note: str


def test_a_class_that_was_deleted_comes_as_a_record() -> None:
    stored = name()
    data = written(FORMATS["hold"], Order, stored, 1, "tea", version=3)
    one, two, same = loads(data, types=holdall.Record)
    assert one is same and one is not two
    assert isinstance(one, holdall.Record)
    assert (one.type_name, one.version, one.fields) == (stored, 3, {"id": 1, "label": "tea", "price": "0"})
    # A type says nothing against it where anything goes.
    assert loads(data, type=list[Any], types=holdall.Record)[0].fields == one.fields
    assert loads(data, type=list[holdall.Record], types=holdall.Record)[0].fields == one.fields


@pytest.mark.parametrize("kind", ["dataclass", "subclass of dict", "named tuple"])
def test_a_record_is_stored_again_unchanged(kind: str) -> None:
    stored = name()
    tagged = Tagged(a=1)
    tagged.note = "n"
    made = {"dataclass": Order(1, "tea"), "subclass of dict": tagged, "named tuple": Money(1, "EUR")}[kind]
    cls = type(made)
    register(cls, name=stored, version=2)
    data = dumps([made, {"k": made}])
    retire(cls)
    records = loads(data, types=holdall.Record)
    again = dumps(records)
    assert dumps(loads(again, types=holdall.Record)) == again
    # And the class, once it is back, finds what it had stored.
    register(cls, name=stored, version=2)
    back = loads(again)
    retire(cls)
    assert back[0] == made and type(back[0]) is cls and back[1]["k"] is back[0]
    if kind == "subclass of dict":
        assert back[0].note == "n"


def test_a_deleted_class_between_others_that_are_typed() -> None:
    """A wanted object holds one whose class is gone: a record in a field that takes anything, a refusal in others."""
    stored, outer = name(), name()
    register(Order, name=stored)
    holder = dataclass_of(id=int, order=Any)()
    register(holder, name=outer)
    data = dumps(holder(1, Order(2, "tea")))
    retire(Order)
    made = loads(data, type=holder, types=holdall.Record)
    assert isinstance(made.order, holdall.Record) and made.order.fields["label"] == "tea"
    with pytest.raises(holdall.UnknownTypeError):
        loads(data, type=holder)
    narrow = dataclass_of(id=int)()
    retire(holder)
    register(narrow, name=outer)
    assert loads(data, type=narrow) == narrow(1)


def test_maps_of_a_deleted_class(fmt: Format) -> None:
    """What a plain format stored needs no class at all."""
    data = written(fmt, Order, name(), 1, "tea")
    if fmt.plain:
        assert fmt.loads(data)[0] == {"id": 1, "label": "tea", "price": "0"}
        assert fmt.loads(data, type=list[dict[str, Any]])[0]["label"] == "tea"
    else:
        with pytest.raises(holdall.ValidationError, match="Expected `dict`"):
            fmt.loads(data, type=list[dict[str, Any]])


def test_array_like_classes_grow_at_their_end(fmt: Format) -> None:
    """Without names there is the order alone: new fields come last, with defaults."""
    stored = name()
    old = dataclass_of(id=int, label=str)()
    data = written(fmt, old, stored, 1, "tea", array_like=True)
    new = dataclass_of(id=int, label=str, note=(str, "none"))()
    register(new, name=stored, array_like=True)
    assert read(fmt, data, new) == new(1, "tea")
    later = fmt.dumps([new(1, "tea", "x")])
    retire(new)
    register(old, name=stored, array_like=True)
    assert fmt.loads(later, type=list[old]) == [old(1, "tea")]
    retire(old)
