"""Typed records as columns, and back."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from typing import Annotated, Any

import pyarrow as pa
import pytest

import holdall
from holdall.integrations.arrow import batches, from_arrow, schema_of, to_arrow

from .values import Event, Row, Wide, event


def test_there_and_back() -> None:
    events = [event(number) for number in range(1000)]
    table = to_arrow(events, Event)
    assert table.num_rows == 1000 and list(from_arrow(table, Event)) == events
    rows = [Row(number, number / 2) for number in range(10)]
    assert list(from_arrow(to_arrow(rows, Row), Row)) == rows
    wide: list[Wide] = [
        {"a": 1, "b": {"x": 0.5}, "c": uuid.UUID(int=7), "d": None},
        {"a": 2, "b": {}, "c": uuid.UUID(int=8), "d": datetime.date(2026, 1, 2)},
    ]
    assert list(from_arrow(to_arrow(wide, Wide), Wide)) == wide


def test_the_columns() -> None:
    schema = schema_of(Event)
    assert schema.field("id") == pa.field("id", pa.int64(), nullable=False)
    assert schema.field("kind").type == pa.string()
    assert schema.field("place").nullable and pa.types.is_struct(schema.field("place").type)
    assert pa.types.is_list(schema.field("tags").type)


def test_many_are_several_batches() -> None:
    made = list(batches((event(number) for number in range(1000)), Event, 300))
    assert [batch.num_rows for batch in made] == [300, 300, 300, 100]
    assert to_arrow([], Event).schema == schema_of(Event)


def test_what_no_column_has_is_named() -> None:
    @dataclasses.dataclass
    class Price:
        amount: decimal.Decimal

    @dataclasses.dataclass
    class Good:
        amount: Annotated[decimal.Decimal, pa.decimal128(10, 2)]

    @dataclasses.dataclass
    class Other:
        what: Any

    with pytest.raises(TypeError, match=r"`Decimal`, which .*Price\.amount is: annotate it"):
        schema_of(Price)
    with pytest.raises(TypeError, match="no column for"):
        schema_of(Other)
    with pytest.raises(TypeError, match="expected a class with fields"):
        schema_of(int)
    assert to_arrow([Good(decimal.Decimal("1.50"))], Good).to_pylist() == [
        {"amount": decimal.Decimal("1.50")}
    ]


def test_values_that_are_no_types_are_refused() -> None:
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        to_arrow([Row("one", 0.5)], Row)  # type: ignore[arg-type]
    table = pa.table({"id": ["one"], "half": [0.5]})
    with pytest.raises(holdall.ValidationError):
        list(from_arrow(table, Row))
