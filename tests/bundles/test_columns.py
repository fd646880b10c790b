"""polars: short columns, which are stored by their values, beside long ones, and what they refuse."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

import holdall

pl = pytest.importorskip("polars")
holdall.register_known("polars")

COLUMNS = [
    ("Int64", [1 << 62, None, -(1 << 63)]),
    ("UInt64", [(1 << 64) - 1, 0, None]),
    ("Int8", [-128, 127, None]),
    ("Float64", [math.inf, None, -0.0]),
    ("Float32", [1.5, None, -0.0]),
    ("Boolean", [True, None, False]),
    ("String", ["\0x", None, ""]),
    ("Binary", [b"\0", None, b""]),
    ("Date", [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    ("Categorical", ["b", None, "a"]),
]
NESTED = [
    (pl.List(pl.UInt8), [[1, None], None, []]),
    (pl.List(pl.Float64), [[1.5, None], None, []]),
    (pl.List(pl.String), [["a", None], None, []]),
    (pl.List(pl.Boolean), [[True, None], None, []]),
    (pl.List(pl.Int8), [None, None, None]),
    (pl.List(pl.Int8), [[], [], []]),
    (pl.List(pl.List(pl.Int8)), [[[1]], None, [None]]),
    (pl.Datetime("ms", "Europe/Oslo"), [dt.datetime(2026, 1, 1), None, dt.datetime(1, 1, 1)]),
    (pl.Duration("us"), [dt.timedelta(-1), None, dt.timedelta(1)]),
    (pl.Struct({"a": pl.Int8}), [{"a": 1}, {"a": None}, None]),
]


def columns() -> list[Any]:
    made = [pl.Series(name, values, dtype=getattr(pl, name)) for name, values in COLUMNS]
    made += [pl.Series(f"{at}", [None, None, None], dtype=kind) for at, (kind, _) in enumerate(NESTED)]
    zoned = [
        pl.Series("times", values).cast(kind)
        if "Datetime" in str(kind)
        else pl.Series("n", values, dtype=kind)
        for kind, values in NESTED
    ]
    # As far as polars shows them: what goes further is kept, and ends older versions when they show it.
    wide = [
        pl.Series(kind, [most, None, -most]).cast(pl.Datetime(kind))
        for kind, most in (("ms", 1 << 52), ("us", 1 << 62), ("ns", (1 << 63) - 1))
    ]
    return [*made, *zoned, *wide]


@pytest.mark.parametrize("times", [1, 30, 60])
def test_columns_short_and_long(times: int) -> None:
    for column in columns():
        column = pl.concat([column] * times)
        values = [column, column[1:], column.to_frame(), pl.DataFrame([column, column.alias("other")])[:-1]]
        # Before there were `Categories` polars itself took slices of structs for longer than their parts.
        if column.dtype == pl.Struct and not hasattr(pl, "Categories"):
            values = [column, column.to_frame()]
        for value in values:
            again = holdall.loads(holdall.dumps(value))
            assert type(again) is type(value)
            if isinstance(value, pl.Series):
                assert (again.name, again.dtype) == (value.name, value.dtype)
                again, value = again.to_frame(), value.to_frame()
            assert again.schema == value.schema
            assert again.equals(value)


def test_floats_keep_all_bits() -> None:
    for kind, whole in (("Float64", "UInt64"), ("Float32", "UInt32")):
        bits = pl.Series(
            [0x7FF4000000000123 if kind == "Float64" else 0x7FA00123, 0], dtype=getattr(pl, whole)
        )
        column = _floats(bits, kind)
        again = holdall.loads(holdall.dumps(column))
        assert _bits(again) == _bits(column)


def _floats(bits: Any, kind: str) -> Any:
    import numpy as np

    return pl.Series(bits.to_numpy().view(np.float64 if kind == "Float64" else np.float32))


def _bits(column: Any) -> bytes:
    made: bytes = column.to_numpy().tobytes()
    return made


def test_a_short_frame_is_small_and_needs_no_arrow() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    data = holdall.dumps(frame)
    assert len(data) < 70
    assert b"ARROW" not in data
    # Few rows with much in them go as Arrow has them: out of band, without a copy.
    buffers: list[Any] = []
    large = pl.DataFrame({"a": ["x" * 100_000]})
    assert len(holdall.dumps(large, buffers=buffers)) < 2000
    assert sum(len(memoryview(one).cast("B")) for one in buffers) >= 100_000


def test_values_that_lie() -> None:
    from holdall.bundles import polars as bundle

    for kind, values in (
        ("Int8", [128]),
        ("Int8", ["a"]),
        ("UInt8", [-1]),
        ("Int64", [1.5]),
        ("Int64", (1,)),
        ("String", [1]),
        ("String", "ab"),
        ("Binary", ["a"]),
        ("Boolean", [1]),
        ("Date", [1 << 40]),
        (("List", "Int8"), [1]),
        (("List", "Int8"), [[300]]),
        (("List", "Int8"), [(1,)]),
        (("List", "Int8"), ["ab"]),
        (("List", "Date"), [[1]]),
        (("List", "Int8", 1), [[1]]),
        (("Categorical",), [1]),
        (("Time",), [1]),
        (("Datetime", "h", None), [1]),
        (["Int8"], [1]),
        (None, [1]),
    ):
        with pytest.raises((TypeError, ValueError, KeyError, OverflowError, pl.exceptions.PolarsError)):
            bundle._series_of(("a", kind, values))
    for columns in (
        [("a", "Int8", [1]), ("b", "Int8", [1, 2])],
        [("a", "Int8", [1]), ("a", "Int8", [1])],
        [5],
    ):
        with pytest.raises((TypeError, ValueError, pl.exceptions.PolarsError)):
            bundle._frame_of(columns)
