"""What the table says of Avro, tried with fastavro: data of one schema, read by another. `make check-evolution-peers`."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import pytest

pytest.importorskip("fastavro")

import fastavro
from fastavro.read import SchemaResolutionError

from tests.support.each import each
from tests.support.evolution_program import id_of
from tests.support.evolution_table import TABLE

A = {"name": "a", "type": "int"}
B = {"name": "b", "type": "int"}
TEXTS = {"type": "map", "values": "string"}


def record(*fields: Any, name: str = "Item", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Color", "symbols": list(symbols), **more}


def text(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", **more}


def union(one: Any, other: Any) -> list[Any]:
    return [one, {**other, "name": "Item2"}]


CAT = record({"name": "lives", "type": "int"}, name="Cat")
DOG = record({"name": "barks", "type": "boolean"}, name="Dog")
NUMBERS = {"type": "array", "items": "int"}
AT = {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}}
PRICE, CENTS = record({"name": "price", "type": "double"}), record({"name": "price", "type": "int"})
# The writer's schema, the reader's, what was written, what is to be read.
CHANGES: dict[str, tuple[Any, Any, Any, Any]] = {
    "moved": (record(A), record(A, name="Moved", aliases=["Item"]), {"a": 1}, {"a": 1}),
    "tagged": (record(A), record(A, name="Moved", aliases=["Item"]), {"a": 1}, {"a": 1}),
    "moved_by_accident": (record(A), record(A, name="Moved"), {"a": 1}, {"a": 1}),
    "gone": (record(A), None, {"a": 1}, {"a": 1}),
    "with_default": (record(A), record(A, {**B, "default": 5}), {"a": 1}, {"a": 1, "b": 5}),
    "with_factory": (record(A), record(A, {"name": "b", "type": NUMBERS, "default": []}), {"a": 1}, {"a": 1, "b": []}),
    "without_default": (record(A), record(A, B), {"a": 1}, {}),
    "filled_in": (record(A), record(A, B), {"a": 1}, {"a": 1, "b": 2}),
    "renamed": (record(text("label")), record(text("title", aliases=["label"])), {"label": "tea"}, {"title": "tea"}),
    "other_key": (record(text("title")), record(text("t", aliases=["title"])), {"title": "tea"}, {"t": "tea"}),
    "removed": (record(A, B), record(A), {"a": 1, "b": 2}, {"a": 1}),
    "dropped": (record(A, B), record(A), {"a": 1, "b": 2}, {"a": 1}),
    "refused": (record(A, B), record(A), {"a": 1, "b": 2}, {"a": 1}),
    "reordered": (record(A, text("b")), record(text("b"), A), {"a": 1, "b": "x"}, {"a": 1, "b": "x"}),
    "from_newer": (record(A, {**B, "name": "later"}), record(A), {"a": 1, "later": 2}, {"a": 1}),
    "in_cents": (PRICE, CENTS, {"price": 2.5}, {"price": 250}),
    "two_versions": (PRICE, CENTS, {"price": 2.5}, {"price": 250}),
    "to_datetime": (record({**AT, "type": "int"}), record(AT), {"at": 0}, {"at": "a datetime"}),
    "split": (record(text("name")), record(text("first"), text("last")), {"name": "Ann Lee"}, {}),
    "merged": (record(text("first"), text("last")), record(text("name")), {"first": "Ann", "last": "Lee"}, {}),
    "retyped_keys": (record({"name": "by_id", "type": TEXTS}), None, {"by_id": {7: "x"}}, None),
    "dict_to_class": ({"type": "map", "values": "int"}, record(A), {"a": 1}, {"a": 1}),
    "to_array_like": (NUMBERS, record(A, B), [1, 2], {"a": 1, "b": 2}),
    "renamed_member": (enum("RED"), enum("CRIMSON"), "RED", "CRIMSON"),
    "removed_member": (enum("RED"), enum("OTHER", default="OTHER"), "RED", "OTHER"),
    "lost_member": (enum("RED"), enum("OTHER"), "RED", "OTHER"),
    "renamed_package": (record(A), record(A, name="Moved", aliases=["Item"]), {"a": 1}, {"a": 1}),
    "renamed_twice": (record(A), record(A, name="Moved", aliases=["Second", "Item"]), {"a": 1}, {"a": 1}),
    "to_union": (record({"name": "pet", "type": CAT}), record({"name": "pet", "type": [CAT, DOG]}), {"pet": {"lives": 9}}, {"pet": {"lives": 9}}),
    "left_union": (record({"name": "pet", "type": [CAT, DOG]}), record({"name": "pet", "type": CAT}), {"pet": {"barks": True}}, None),
    "to_property": (record(A), record({**A, "name": "_a", "aliases": ["a"]}), {"a": 1}, {"_a": 1}),
    "no_more_none": (record({"name": "a", "type": ["null", "int"]}), record(A), {"a": None}, {"a": 0}),
    "converted": (record(text("a")), record(A), {"a": "5"}, {"a": 5}),
    "to_new_type": (record(A), record(A), {"a": 1}, {"a": 1}),
    "to_enum": (record(A), enum("A"), {"a": 1}, None),
    "split_by_value": (record(text("kind"), text("name")), record(text("name"), name="Dog"), {"kind": "dog", "name": "Rex"}, {"name": "Rex"}),
    "merged_classes": (record(text("name"), {"name": "lives", "type": "int"}), record(text("name"), text("kind")), {"name": "Tom", "lives": 9}, {}),
    "left_out": ({"type": "array", "items": [record({**A, "name": "gone"}, name="Gone"), record(A)]}, None, [{"gone": 1}, {"a": 1}], [{"gone": 1}, {"a": 1}]),
    "mapped_member": (enum("RED"), enum("OTHER", default="OTHER"), "RED", "OTHER"),
    "moved_enum": (enum("RED"), {**enum("RED", aliases=["Color"]), "name": "Moved"}, "RED", "RED"),
}  # fmt: skip


def read(old: Any, new: Any, value: Any) -> Any:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(copy.deepcopy(old)), value)
    file.seek(0)
    reader = None if new is None else fastavro.parse_schema(copy.deepcopy(new))
    return fastavro.schemaless_reader(file, fastavro.parse_schema(copy.deepcopy(old)), reader)


def without(schema: Any, key: str) -> Any:
    if isinstance(schema, dict):
        return {name: without(each, key) for name, each in schema.items() if name != key}
    return [without(each, key) for each in schema] if isinstance(schema, list) else schema


def needs(key: str) -> Any:
    def check(old: Any, new: Any, value: Any, wanted: Any) -> None:
        assert read(old, new, value) == wanted
        with pytest.raises(SchemaResolutionError):
            read(old, without(new, key), value)

    return check


def check_error(old: Any, new: Any, value: Any, wanted: Any) -> None:
    with pytest.raises(SchemaResolutionError):
        read(old, new, value)


def check_works(old: Any, new: Any, value: Any, wanted: Any) -> None:
    assert read(old, new, value) == wanted


def check_code(old: Any, new: Any, value: Any, wanted: Any) -> None:
    with contextlib.suppress(SchemaResolutionError):
        assert read(old, new, value) != wanted


def check_union(old: Any, new: Any, value: Any, wanted: Any) -> None:
    file, schema = io.BytesIO(), union(old, new)
    fastavro.writer(file, fastavro.parse_schema(schema), [("Item", value), ("Item2", wanted)])
    file.seek(0)
    assert list(fastavro.reader(file)) == [value, wanted]
    check_code(old, new, value, wanted)


def check_keys(old: Any, new: Any, value: Any, wanted: Any) -> None:
    with pytest.raises(TypeError, match="must be string"):
        read(old, new, value)


CLAIMS = {
    "nothing": check_works,
    "`aliases`": needs("aliases"),
    "a default in the reader's schema": needs("default"),
    "a default of the enum": needs("default"),
    "the writer's schema": check_works,
    "an error": check_error,
    "code that converts": check_code,
    "a union of both, and code that converts": check_union,
    "keys are text": check_keys,
    # It reads what it should refuse.
    "impossible": check_works,
}


@each("case", [case for case in TABLE if case.avro != "–"], ids=id_of)
def test_what_avro_needs(case):
    CLAIMS[case.avro](*CHANGES[id_of(case)])
