"""Frames, series and indexes of every dtype, made anew for each seed; and whether two are the same to the last bit."""

from __future__ import annotations

from datetime import date, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

ZONES = (
    "UTC",
    "Europe/Oslo",
    "America/New_York",
    timezone.utc,
    timezone(timedelta(hours=3, minutes=30)),
    ZoneInfo("Asia/Tokyo"),
)
UNITS = ("s", "ms", "us", "ns")
TEXTS = ("", "a", "ß", "日本", "x" * 300, "\N{PILE OF POO}", "same", "same")
WORDS = ["red", "green", "blue", "grey", "white"]


def numbers(rng, size):
    kind = rng.choice(
        [
            "int8",
            "uint16",
            "int32",
            "int64",
            "uint64",
            "float16",
            "float32",
            "float64",
            "complex128",
            "bool",
            ">i4",
            ">f8",
        ]
    )
    whole = rng.integers(0, 120, size)
    made = whole.astype(kind)
    if made.dtype.kind == "f" and size:
        made[rng.integers(size)] = np.nan
        made[rng.integers(size)] = -0.0
    return made


def texts(rng, size, missing=(None,)):
    return [rng.choice([*TEXTS, *missing]) if rng.random() < 0.9 else missing[0] for _ in range(size)]


def objects(rng, size):
    shared = ["shared"]
    loop = []
    loop.append(loop)
    made = np.empty(size, object)
    for at in range(size):
        made[at] = [None, 1, 2.5, "text", shared, loop, {"k": at}, (1, (2,)), {1, 2}, Decimal("1.1"), date(2020, 1, 2), np.nan, pd.NA,
                    pd.NaT, pd.Timestamp("2021-03-04", tz="UTC"), pd.Series([1]), np.arange(3)][rng.integers(17)]  # fmt: skip
    return made


def moments(rng, size, zone=None):
    unit = rng.choice(UNITS)
    values = pd.DatetimeIndex(rng.integers(0, 2_000_000_000, size).astype("M8[s]").astype(f"M8[{unit}]"))
    if size and rng.random() < 0.5:
        values = values.where(rng.random(size) < 0.8)
    return values if zone is None else values.tz_localize("UTC").tz_convert(zone)


def spans(rng, size):
    return pd.TimedeltaIndex(
        rng.integers(-(10**9), 10**9, size).astype("m8[s]").astype(f"m8[{rng.choice(UNITS)}]")
    )


def masked(rng, size):
    name = rng.choice(["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt64", "Float32", "Float64", "boolean"])
    values = rng.integers(0, 2, size) if name == "boolean" else rng.integers(0, 100, size)
    return pd.array([pd.NA if rng.random() < 0.3 else value for value in values.tolist()], dtype=name)


def categorical(rng, size):
    kind = rng.integers(4)
    choices = [WORDS, [1, 2, 3], list(pd.date_range("2020", periods=4)), list(pd.interval_range(0, 4))][kind]
    values = [None if rng.random() < 0.2 else choices[rng.integers(len(choices))] for _ in range(size)]
    return pd.Categorical(values, categories=choices, ordered=bool(rng.integers(2)))


def periods(rng, size):
    return pd.PeriodIndex.from_ordinals(
        rng.integers(0, 1000, size), freq=rng.choice(["D", "M", "Q", "h", "W-SUN", "Y", "3D"])
    )


def intervals(rng, size):
    closed = rng.choice(["left", "right", "both", "neither"])
    left = rng.integers(0, 100, size)
    if rng.random() < 0.3:
        return pd.arrays.IntervalArray.from_arrays(moments(rng, size).fillna(pd.Timestamp(0)), moments(rng, size).fillna(pd.Timestamp(0)).map(lambda v: v + pd.Timedelta(days=40000)), closed=closed)  # fmt: skip
    made = left.astype(rng.choice(["int64", "float64"]))
    return pd.arrays.IntervalArray.from_arrays(made, made + 1, closed=closed)


def sparse(rng, size):
    fill = rng.choice([0.0, np.nan])
    values = np.where(rng.random(size) < 0.7, fill, rng.random(size))
    return pd.arrays.SparseArray(values, fill_value=fill, kind=rng.choice(["integer", "block"]))


def arrow(rng, size):
    import pyarrow as pa

    kind = rng.integers(6)
    if kind == 0:
        return pd.array(rng.integers(0, 9, size).tolist(), dtype=pd.ArrowDtype(pa.int32()))
    if kind == 1:
        return pd.array(texts(rng, size), dtype=pd.ArrowDtype(pa.string()))
    if kind == 2:
        return pd.arrays.ArrowExtensionArray(
            pa.array(([[1, None], None, []] + [[2]] * size)[:size], pa.list_(pa.int8()))
        )
    if kind == 3:
        return pd.arrays.ArrowExtensionArray(pa.array(texts(rng, size), pa.string()).dictionary_encode())
    if kind == 4:
        return pd.arrays.ArrowExtensionArray(
            pa.array(
                [{"a": at, "b": "x"} for at in range(size)], pa.struct({"a": pa.int8(), "b": pa.string()})
            )
        )
    whole = pa.chunked_array(
        [pa.array([1.5, None]), pa.array([], pa.float64()), pa.array(rng.random(size + 3))]
    )
    return pd.arrays.ArrowExtensionArray(whole[2 : 2 + size])


def strings(rng, size):
    storages = [pd.StringDtype("python"), pd.StringDtype("pyarrow")]
    if hasattr(storages[0], "_na_value"):  # since 2.3
        storages += [pd.StringDtype(one.storage, na_value=np.nan) for one in storages]
    return pd.array(texts(rng, size), dtype=storages[rng.integers(len(storages))])


COLUMNS = (
    numbers, objects, texts, moments, lambda rng, size: moments(rng, size, ZONES[rng.integers(len(ZONES))]), spans, masked, categorical, periods,
    intervals, sparse, arrow, strings,
)  # fmt: skip
NAMES = (None, "name", 1, 2.5, ("a", 1), pd.Timestamp("2020"), True, "")


def name(rng):
    return NAMES[rng.integers(len(NAMES))]


def index(rng, size):
    kind = rng.integers(9)
    if kind == 0:
        start, step = int(rng.integers(-5, 5)), int(rng.choice([-3, -1, 1, 2]))
        return pd.RangeIndex(start, start + step * size, step, name=name(rng))
    if kind == 1:
        return pd.date_range("2020-01-31", periods=size, freq=rng.choice(["D", "ME", "3h", "B", "W-WED"]), tz=rng.choice([None, "Europe/Oslo"]), name=name(rng))  # fmt: skip
    if kind == 2:
        return pd.timedelta_range("1h", periods=size, freq="7min", name=name(rng))
    if kind == 3 and size:
        levels = [texts(rng, size, ("z",)), rng.integers(0, 3, size), moments(rng, size)][
            : rng.integers(1, 4)
        ]
        return pd.MultiIndex.from_arrays(
            levels, names=[["x", None, ("y", 2)][at] for at in range(len(levels))]
        )
    if kind == 4:
        return pd.CategoricalIndex(categorical(rng, size), name=name(rng))
    if kind == 5:
        return pd.Index(periods(rng, size), name=name(rng))
    if kind == 6:
        return pd.IntervalIndex(intervals(rng, size), name=name(rng))
    column = COLUMNS[rng.integers(len(COLUMNS))](rng, size)
    if column.__class__ is np.ndarray and column.dtype == object:
        column = texts(rng, size)
    if column.__class__ is np.ndarray and column.dtype in (np.float16, np.dtype(">i4"), np.dtype(">f8")):
        column = column.astype("f8")
    return pd.Index(column, name=name(rng))


def series(rng, size):
    made = pd.Series(COLUMNS[rng.integers(len(COLUMNS))](rng, size), index=index(rng, size), name=name(rng))
    if rng.random() < 0.2:
        made.attrs = {"unit": "m", "deep": [1, {"a": 2}]}
    return made


def frame(rng, size=None, wide=None):
    size = int(rng.choice([0, 1, 2, 5, 40])) if size is None else size
    wide = int(rng.choice([0, 1, 2, 3, 8])) if wide is None else wide
    made = pd.DataFrame(
        {at: COLUMNS[rng.integers(len(COLUMNS))](rng, size) for at in range(wide)}, index=range(size)
    )
    if wide and rng.random() < 0.3:
        made[wide] = made[0]
        made.insert(0, -1, rng.random(size))
        wide += 2
    made.index = index(rng, size)
    if rng.random() < 0.7:
        made.columns = index(rng, wide)
    elif wide > 1:
        made.columns = ["same"] * wide  # names that occur twice
    if rng.random() < 0.3:
        made = made.iloc[::-1] if rng.random() < 0.5 else made.iloc[:, ::2]
    if rng.random() < 0.2:
        made.attrs = {"source": "test", 1: (2, 3)}
    if made.index.is_unique and made.columns.is_unique and rng.random() < 0.2:
        made.flags.allows_duplicate_labels = False
    return made


def square(rng):
    """A frame of one dtype, in some order of memory."""
    values = rng.random((6, 4)) if rng.random() < 0.5 else rng.integers(0, 9, (6, 4))
    values = [values, np.asfortranarray(values), values[::2], values[:, ::-1], values.astype(">f8")][
        rng.integers(5)
    ]
    if rng.random() < 0.3:
        values = values.copy()
        values.flags.writeable = False
    return pd.DataFrame(values)
