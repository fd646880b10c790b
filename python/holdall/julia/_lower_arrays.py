"""NumPy's arrays and scalars as Julia's: the way back of `_arrays`."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from ._arrays import (
    DATE,
    DATETIME,
    EPOCH_DAYS,
    EPOCH_MILLIS,
    UNITS,
    dtype_of,
    known_layout,
    np_unit,
    type_of_dtype,
    utf8,
)
from ._numbers import Float32
from ._struct import record
from ._types import Type, known
from ._wrappers import numpy


def lower_numbers(array: Any) -> tuple[Any, ...]:
    """What `lower` says of an array that holds no objects. Raises EncodeError: Julia has no such elements."""
    dtype = array.dtype
    type_ = (dtype.metadata or {}).get("julia")
    if dtype.kind == "U" and not _is(type_, "Core.Char"):
        texts = [str(text) for text in array.ravel(order="F").tolist()]
        return ("value", texts) if array.ndim == 1 else ("boxed", known("String"), array.shape, texts)
    if dtype.byteorder == ">" or (dtype.names and not dtype.isnative):
        array = array.astype(dtype.newbyteorder("<"))
    if _is(type_, "Core.Char") and dtype.kind == "U":
        array = utf8(array.astype("<U1").view("<u4"))
    elif dtype.kind == "M":
        type_, array = _counts(array)
    elif dtype.kind == "m" and not _is(type_, "Dates.Time"):
        type_, array = _period_counts(array)
    elif type_ is None:
        type_ = type_of_dtype(array.dtype)
        if array.dtype.names:
            array = array.astype(dtype_of(known_layout(type_)))
    if array.dtype.names and _gaps(array.dtype):
        array = _with_empty_gaps(array)
    data = _bytes(array)
    if array.ndim == 1 and _is(type_, "Core.UInt8"):
        return "bytes", data
    return "array", type_, array.shape, data


def lower_scalar(value: Any) -> tuple[Any, ...]:
    """What `lower` says of one of NumPy's scalars. Raises EncodeError, as `lower_numbers`."""
    np = numpy()
    dtype = value.dtype
    kind = dtype.kind
    if kind in "bU" or (kind in "if" and dtype.itemsize == 8):
        return "value", value.item()
    if kind == "i" and dtype.itemsize == 4:
        return "int32", value.item()
    if kind in "iuf":
        return "bits", type_of_dtype(dtype), value.astype(dtype.newbyteorder("<")).tobytes()
    if kind == "c" and dtype.itemsize == 8:
        return "struct", type_of_dtype(dtype), [Float32(value.real), Float32(value.imag)]
    if kind == "c" and dtype.itemsize == 16:
        return "value", value.item()
    if kind == "M":
        type_, count = _counts(np.asarray(value))
        unit = "Day" if type_ is DATE else "Millisecond"
        period = record(Type(("Dates", unit)), [int(count)])
        return "struct", type_, [record(Type(("Dates", "UTInstant"), (period.type,)), [period])]
    if kind == "m":
        type_, count = _period_counts(np.asarray(value))
        return "struct", type_, [int(count)]
    if dtype.names:
        type_ = type_of_dtype(dtype)
        parts = [value[name] for name in dtype.names]
        return ("value", tuple(parts)) if type_.name == "Core.Tuple" else ("struct", type_, parts)
    raise _core.EncodeError(f"can't store a scalar of dtype `{dtype.name}`")


def _is(type_: Any, name: str) -> bool:
    return isinstance(type_, Type) and type_.name == name


def _gaps(dtype: Any) -> int:
    """How many bytes of an element belong to no field."""
    return int(dtype.itemsize) - _in_fields(dtype)


def _in_fields(dtype: Any) -> int:
    if dtype.subdtype:
        of: Any
        shape: tuple[int, ...]
        of, shape = dtype.subdtype
        return _in_fields(of) * math.prod(shape)
    if not dtype.names:
        return int(dtype.itemsize)
    return sum(_in_fields(dtype[name]) for name in dtype.names)


def _with_empty_gaps(array: Any) -> Any:
    """A copy with zeros between the fields. NumPy leaves there whatever the memory held before, which is not to be told to others."""
    made = numpy().zeros(array.shape, array.dtype, order="F")
    _fill(made, array)
    return made


def _fill(made: Any, array: Any) -> None:
    for name in array.dtype.names:
        to, part = made[name], array[name]
        if part.dtype.names:
            _fill(to, part)
        else:
            to[...] = part


def _bytes(array: Any) -> memoryview:
    """Its bytes, the first index fastest; where they lie so already they are not copied."""
    np = numpy()
    flat = np.ascontiguousarray(array.ravel(order="F"))
    return memoryview(flat.view(np.uint8)) if flat.size and flat.itemsize else memoryview(b"")


def _refuse_nat(array: Any) -> None:
    if numpy().isnat(array).any():
        raise _core.EncodeError(
            "can't store NaT: Julia has no such time; use an array of objects with `missing` in it"
        )


def _counts(array: Any) -> tuple[Type, Any]:
    """Dates and DateTimes as Julia counts them."""
    unit = np_unit(array.dtype)
    _refuse_nat(array)
    if unit in ("Y", "M", "W", "D"):
        return DATE, array.astype("<M8[D]").view("<i8") + EPOCH_DAYS
    if unit in ("h", "m", "s", "ms"):
        return DATETIME, array.astype("<M8[ms]").view("<i8") + EPOCH_MILLIS
    raise _core.EncodeError(
        f"can't store datetime64[{unit}]: Julia's DateTime has milliseconds, `.astype(\"M8[ms]\")` cuts it off"
    )


def _period_counts(array: Any) -> tuple[Type, Any]:
    unit = np_unit(array.dtype)
    _refuse_nat(array)
    if unit not in UNITS:
        raise _core.EncodeError(
            'can\'t store timedelta64 of that unit: `.astype("m8[ns]")` has one that Julia has'
        )
    return Type(("Dates", UNITS[unit])), array.view("<i8")
