"""What the table says of protobuf, tried with its own library: data of one message, read as another. `make check-evolution-peers`."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import pytest

pytest.importorskip("google.protobuf")

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, unknown_fields
from google.protobuf.message import DecodeError

from tests.support.each import each
from tests.support.evolution_program import id_of
from tests.support.evolution_table import TABLE

_numbers = itertools.count()
FIELD = descriptor_pb2.FieldDescriptorProto
KINDS = {
    "int": FIELD.TYPE_INT64,
    "double": FIELD.TYPE_DOUBLE,
    "text": FIELD.TYPE_STRING,
    "time": FIELD.TYPE_MESSAGE,
    "Color": FIELD.TYPE_ENUM,
}
COLORS = {"old": ["NONE", "RED"], "renamed": ["NONE", "CRIMSON"], "less": ["NONE"]}


def message(*fields: str, colors: str = "old", reserved: int | None = None, name: str = "Item") -> Any:
    """A class of messages. A field: "number kind name", with "[json_name]", "repeated" or "one_of" behind it."""
    file = descriptor_pb2.FileDescriptorProto(name=f"f{next(_numbers)}.proto", syntax="proto3", package="p")
    color = file.enum_type.add(name="Color")
    for at, member in enumerate(COLORS[colors]):
        color.value.add(name=member, number=at)
    time = file.message_type.add(name="Time")
    time.field.add(name="seconds", number=1, type=FIELD.TYPE_INT64, label=FIELD.LABEL_OPTIONAL)
    made = file.message_type.add(name=name)
    if reserved is not None:
        made.reserved_range.add(start=reserved, end=reserved + 1)
    for told in fields:
        number, kind, field, *more = told.split()
        if kind.startswith("map"):
            _, key, value = kind.split(":")
            entry = made.nested_type.add(name=f"{field.title().replace('_', '')}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=KINDS[key], label=FIELD.LABEL_OPTIONAL)
            entry.field.add(name="value", number=2, type=KINDS[value], label=FIELD.LABEL_OPTIONAL)
            made.field.add(
                name=field,
                number=int(number),
                type=FIELD.TYPE_MESSAGE,
                label=FIELD.LABEL_REPEATED,
                type_name=f".p.{name}.{entry.name}",
            )
            continue
        label = FIELD.LABEL_REPEATED if "repeated" in more else FIELD.LABEL_OPTIONAL
        one = made.field.add(name=field, number=int(number), type=KINDS[kind], label=label)
        if "one_of" in more:
            if not made.oneof_decl:
                made.oneof_decl.add(name="pet")
            one.oneof_index = 0
        if kind in ("time", "Color"):
            one.type_name = ".p.Time" if kind == "time" else ".p.Color"
        for json_name in (word[1:-1] for word in more if word.startswith("[")):
            one.json_name = json_name
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"p.{name}"))


def fields_of(found: Any) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in found.DESCRIPTOR.fields}


ITEM, PRICE = message("1 int a"), message("1 double price")
# The old message, the new one, what was written, what is to be read.
CHANGES: dict[str, tuple[Any, Any, Any, Any]] = {
    "moved": (ITEM, message("1 int a", name="Moved"), {"a": 1}, {"a": 1}),
    "tagged": (ITEM, message("1 int a", name="Moved"), {"a": 1}, {"a": 1}),
    "moved_by_accident": (ITEM, message("1 int a", name="Moved"), {"a": 1}, {"a": 1}),
    "gone": (ITEM, message(), {"a": 1}, {}),
    "with_default": (ITEM, message("1 int a", "2 int b"), {"a": 1}, {"a": 1, "b": 0}),
    "with_factory": (ITEM, message("1 int a", "2 int b repeated"), {"a": 1}, {"a": 1, "b": []}),
    "without_default": (ITEM, message("1 int a", "2 int b"), {"a": 1}, {"a": 1, "b": 0}),
    "filled_in": (ITEM, message("1 int a", "2 int b"), {"a": 1}, {"a": 1, "b": 2}),
    "renamed": (message("1 text label"), message("1 text title"), {"label": "tea"}, {"title": "tea"}),
    "other_key": (message("1 text title"), message("1 text title [t]"), {"title": "tea"}, {"title": "tea"}),
    "removed": (message("1 int a", "2 int b"), message("1 int a", reserved=2), {"a": 1, "b": 2}, {"a": 1}),
    "dropped": (message("1 int a", "2 int b"), message("1 int a"), {"a": 1, "b": 2}, {"a": 1}),
    "refused": (message("1 int a", "2 int b"), message("1 int a"), {"a": 1, "b": 2}, {"a": 1}),
    "reordered": (message("1 int a", "2 text b"), message("2 text b", "1 int a"), {"a": 1, "b": "x"}, {"a": 1, "b": "x"}),
    "from_newer": (message("1 int a", "2 int later"), message("1 int a"), {"a": 1, "later": 2}, {"a": 1}),
    "in_cents": (PRICE, message("1 int price", "2 double price_before"), {"price": 2.5}, {"price": 250}),
    "two_versions": (PRICE, message("1 int price", "2 double price_before"), {"price": 2.5}, {"price": 250}),
    "to_datetime": (message("1 int at"), message("1 time at"), {"at": 9}, {"at": 9}),
    "split": (message("1 text name"), message("2 text first", "3 text last"), {"name": "Ann Lee"}, {"first": "Ann", "last": "Lee"}),
    "merged": (message("1 text first", "2 text last"), message("3 text name"), {"first": "Ann", "last": "Lee"}, {"name": "Ann Lee"}),
    "retyped_keys": (message("1 map:text:text by_id"), message("1 map:int:text by_id"), {"by_id": {"7": "x"}}, {"by_id": {7: "x"}}),
    "dict_to_class": (message("1 map:text:int m"), message("1 int a"), {"m": {"a": 1}}, {"a": 1}),
    "to_array_like": (message("1 int numbers repeated"), message("1 int a", "2 int b"), {"numbers": [1, 2]}, {"a": 1, "b": 2}),
    "renamed_member": (message("1 Color c"), message("1 Color c", colors="renamed"), {"c": 1}, {"c": 1}),
    "removed_member": (message("1 Color c"), message("1 Color c", colors="less"), {"c": 1}, {"c": 1}),
    "lost_member": (message("1 Color c"), message("1 Color c", colors="less"), {"c": 1}, {"c": 1}),
    "renamed_package": (ITEM, message("1 int a", name="Moved"), {"a": 1}, {"a": 1}),
    "renamed_twice": (ITEM, message("1 int a", name="Moved"), {"a": 1}, {"a": 1}),
    "to_union": (message("1 int cat"), message("1 int cat one_of", "2 int dog one_of"), {"cat": 9}, {"cat": 9, "dog": 0}),
    "left_union": (message("1 int cat one_of", "2 int dog one_of"), message("1 int cat"), {"dog": 9}, {}),
    "to_property": (ITEM, message("1 int _a"), {"a": 1}, {"_a": 1}),
    "no_more_none": (ITEM, message("1 int a"), {}, {"a": 0}),
    "converted": (message("1 text a"), ITEM, {"a": "5"}, {"a": 5}),
    "to_new_type": (ITEM, message("1 int a"), {"a": 1}, {"a": 1}),
    "to_enum": (ITEM, message("1 Color c"), {"a": 1}, {"c": 2}),
    "split_by_value": (message("1 text kind", "2 text name"), message("3 text cat one_of", "4 text dog one_of"), {"kind": "cat", "name": "Tom"}, {"cat": "Tom", "dog": ""}),
    "merged_classes": (message("1 text name", "2 int lives"), message("1 text name", "3 text kind"), {"name": "Tom", "lives": 9}, {"name": "Tom", "kind": "cat"}),
    "left_out": (message("9 int gone"), ITEM, {"gone": 1}, {"a": 0}),
    "mapped_member": (message("1 Color c"), message("1 Color c", colors="less"), {"c": 1}, {"c": 1}),
    "moved_enum": (message("1 Color c"), message("1 Color c", name="Moved"), {"c": 1}, {"c": 1}),
}  # fmt: skip


def read(old: Any, new: Any, value: Any) -> Any:
    return new.FromString(old(**value).SerializeToString())


def check_works(old: Any, new: Any, value: Any, wanted: Any) -> None:
    assert fields_of(read(old, new, value)) == wanted


def check_not(old: Any, new: Any, value: Any, wanted: Any) -> None:
    with contextlib.suppress(DecodeError):
        assert fields_of(read(old, new, value)) != wanted


def check_unknown(old: Any, new: Any, value: Any, wanted: Any) -> None:
    found = read(old, new, value)
    assert found.SerializeToString() == old(**value).SerializeToString()


def check_json(old: Any, new: Any, value: Any, wanted: Any) -> None:
    check_works(old, new, value, wanted)
    assert json_format.MessageToDict(new(**value)) == {"t": "tea"}
    for text in (json_format.MessageToJson(old(**value)), json_format.MessageToJson(new(**value))):
        assert fields_of(json_format.Parse(text, new())) == wanted


def check_reserved(old: Any, new: Any, value: Any, wanted: Any) -> None:
    check_works(old, new, value, wanted)
    # Its compiler refuses to use the number again, which would read the old value as another field's.
    assert read(old, message("1 int a", "2 int other"), value).other == 2


def check_discarded(old: Any, new: Any, value: Any, wanted: Any) -> None:
    found = read(old, new, value)
    assert found.SerializeToString() == old(**value).SerializeToString()
    found.DiscardUnknownFields()
    assert found.SerializeToString() == new(**wanted).SerializeToString()


def check_seen(old: Any, new: Any, value: Any, wanted: Any) -> None:
    check_works(old, new, value, wanted)
    assert [one.field_number for one in unknown_fields.UnknownFieldSet(read(old, new, value))] == [2]


def check_number(old: Any, new: Any, value: Any, wanted: Any) -> None:
    assert read(old, new, value).c == 1
    assert 1 not in new.DESCRIPTOR.fields_by_name["c"].enum_type.values_by_number


CLAIMS = {
    "nothing": check_works,
    "zero": check_works,
    "unknown fields": check_unknown,
    "`json_name`": check_json,
    "`reserved`": check_reserved,
    "`DiscardUnknownFields()`": check_discarded,
    "code that looks at `UnknownFieldSet`": check_seen,
    "code that converts": check_not,
    # Under the old number it is lost, or an error.
    "a new field": check_not,
    "impossible": check_not,
    "it stays a number": check_number,
}


@each("case", [case for case in TABLE if case.protobuf != "–"], ids=id_of)
def test_what_protobuf_needs(case):
    CLAIMS[case.protobuf](*CHANGES[id_of(case)])
