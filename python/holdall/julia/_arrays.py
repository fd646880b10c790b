"""Julia's arrays as NumPy's, and back.

A dtype that doesn't tell Julia's type by itself has it as `dtype.metadata["julia"]`.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _layout
from ._layout import Layout, layout, pack
from ._numbers import Float32
from ._parse import known
from ._struct import record
from ._types import ANY, Type, shown
from ._wrappers import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

# Of 1970-01-01, in Julia's counts.
_EPOCH_DAYS = 719_163
_EPOCH_MILLIS = _EPOCH_DAYS * 86_400_000

_PERIODS = {
    "Year": "Y",
    "Month": "M",
    "Week": "W",
    "Day": "D",
    "Hour": "h",
    "Minute": "m",
    "Second": "s",
    "Millisecond": "ms",
    "Microsecond": "us",
    "Nanosecond": "ns",
}
_UNITS = {unit: name for name, unit in _PERIODS.items()}
_DATE = Type(("Dates", "Date"))
_DATETIME = Type(("Dates", "DateTime"))


def array_of(type_: Any, itemsize: int, types: Any = None) -> tuple[Any, Callable[..., Any] | None]:
    """How the bytes of an array become NumPy's, asked once for each type of elements of a load.

    itemsize: bytes of one element; 0 also where there are no elements. types: as for `resolve`.

    (dtype, None): the bytes are the array, column-major. (None, convert): `convert(type, data, shape)` makes the
    array of bytes-like data. An array of elements without bytes takes memory all the same: the caller has counted them.
    """
    laid = layout(type_, types)
    if laid is None or (laid.size != itemsize and itemsize != 0):
        return (_opaque(type_, itemsize), None) if itemsize else (None, _without_bytes(types))
    if laid.size == 0:
        return None, _without_bytes(types)
    if type_.name == "Dates.Date":
        return None, _converter("D", _EPOCH_DAYS)
    if type_.name == "Dates.DateTime":
        return None, _converter("ms", _EPOCH_MILLIS)
    if laid.kind == "c":
        return None, _chars
    if laid.kind == "e" or type_.name == "Base.UUID":
        return None, _members(types)
    if laid.kind in "iu" and laid.size > 8:
        return None, _big
    dtype = _dtype(laid)
    if dtype is None:
        return _opaque(type_, itemsize or laid.size), None
    if not dtype.names and dtype.kind != "V" and _as_written(type_of_dtype(dtype)) == _as_written(type_):
        return dtype, None
    return _tagged(dtype, type_), None


def _as_written(type_: Type) -> Any:
    """More than its name: older files have other paths."""
    return type_.path, [_as_written(param) for param in type_.params if isinstance(param, Type)]


# Periods, whose dtype says all.
_PLAIN = {f"Dates.{name}" for name in _PERIODS}


def _opaque(type_: Any, itemsize: int) -> Any:
    return _tagged(f"V{itemsize}", type_)


def _tagged(dtype: Any, type_: Any, **more: Any) -> Any:
    return numpy().dtype(dtype, metadata={"julia": type_, **more})


def _dtype(laid: Layout) -> Any:
    """What NumPy calls the layout; None where it can't say it."""
    np = numpy()
    name = laid.type.name
    if laid.size == 0:
        return None
    if laid.kind in "iuf":
        return np.dtype(f"<{laid.kind}{laid.size}") if laid.size <= 8 else np.dtype(f"V{laid.size}")
    if laid.kind == "b":
        return np.dtype(bool)
    if laid.kind in "ce":
        return np.dtype(f"<{'u' if laid.kind == 'c' else 'i'}{laid.size}")
    if name == "Base.Complex" and laid.fields[0][2].kind == "f" and laid.size >= 8:
        return np.dtype(f"<c{laid.size}")
    if name.startswith("Dates."):
        unit = _PERIODS.get(name.rpartition(".")[2])
        return np.dtype(f"<m8[{unit}]" if unit else "<m8[ns]" if name == "Dates.Time" else "<i8")
    if name == "Base.UUID":
        return np.dtype("V16")
    formats = []
    for _, _, field in laid.fields:
        found = _dtype(field)
        if found is None:
            return None
        plain = field.kind in "iufb" and field.size <= 8
        formats.append(found if plain or field.type.name in _PLAIN else _tagged(found, field.type))
    return np.dtype(
        {
            "names": [field for field, _, _ in laid.fields],
            "formats": formats,
            "offsets": [start for _, start, _ in laid.fields],
            "itemsize": laid.size,
        }
    )


def _objects(type_: Any, shape: tuple[int, ...], values: Any, **more: Any) -> Any:
    """An array of these objects, which come column-major."""
    np = numpy()
    flat = np.empty(math.prod(shape), dtype=_tagged("O", type_, **more))
    # One by one: NumPy would look into lists and arrays.
    for place, value in enumerate(values):
        flat[place] = value
    return flat.reshape(shape, order="F")


def _without_bytes(types: Any) -> Callable[..., Any]:
    def convert(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
        # They can't be told apart, as they hold nothing.
        value = _layout.items(type_, b"", 1, types)[0]
        return _objects(type_, shape, [value] * math.prod(shape), bits=True)

    return convert


def _converter(unit: str, epoch: int) -> Callable[..., Any]:
    def convert(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
        np = numpy()
        counts = np.frombuffer(data, dtype="<i8").reshape(shape, order="F")
        # Where it would wrap around, or mean no time at all.
        if counts.size and counts.min() <= np.iinfo(np.int64).min + epoch:
            return counts.copy(order="F").view(_tagged("<i8", type_))
        # Of no dimensions a difference would be no array.
        return np.asarray(counts - epoch).view(f"<M8[{unit}]")

    return convert


def _chars(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
    np = numpy()
    raw = np.frombuffer(data, dtype="<u4").reshape(shape, order="F")
    codes = _codes(raw)
    if codes is None:
        return raw.copy(order="F").view(_tagged("<u4", type_))
    return codes.view(_tagged("<U1", type_))


def _codes(raw: Any) -> Any:
    """Code points of Julia's characters, which are UTF-8 from the highest byte on; None where one is malformed."""
    np = numpy()
    first, second, third, fourth = (raw >> shift & 0xFF for shift in (24, 16, 8, 0))
    length = np.select([first < 0x80, first < 0xE0, first < 0xF0], [1, 2, 3], 4)
    codes = np.select(
        [length == 1, length == 2, length == 3],
        [
            first,
            (first & 0x1F) << 6 | second & 0x3F,
            (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F,
        ],
        (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F,
    ).astype("<u4", order="F")
    surrogate = (codes >= 0xD800) & (codes < 0xE000)
    if (codes > 0x10FFFF).any() or surrogate.any() or not np.array_equal(_utf8(codes), raw):
        return None
    return codes


def _utf8(codes: Any) -> Any:
    """The reverse of `_codes`."""
    np = numpy()
    last = [0x80 | codes >> shift & 0x3F for shift in (0, 6, 12)]
    return np.select(
        [codes < 0x80, codes < 0x800, codes < 0x10000],
        [
            codes << 24,
            (0xC0 | codes >> 6) << 24 | last[0] << 16,
            (0xE0 | codes >> 12) << 24 | last[1] << 16 | last[0] << 8,
        ],
        (0xF0 | codes >> 18) << 24 | last[2] << 16 | last[1] << 8 | last[0],
    ).astype("<u4")


def _members(types: Any) -> Callable[..., Any]:
    def convert(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
        return _objects(type_, shape, _layout.items(type_, data, math.prod(shape), types))

    return convert


def _big(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
    return _objects(type_, shape, _layout.items(type_, data, math.prod(shape)))


def boxed_dtype(type_: Any) -> Any:
    """The dtype of an array of any objects."""
    return _tagged("O", type_)


# --- and back ---


def lower_array(array: Any) -> tuple[Any, ...]:
    """What `lower` says of an array. Raises EncodeError: Julia has no such elements."""
    np = numpy()
    if isinstance(array, np.ma.MaskedArray):
        raise _core.EncodeError(
            "can't store a masked array: fill it, or use an array of objects with `missing` in it"
        )
    array = np.asarray(array)
    dtype = array.dtype
    type_ = (dtype.metadata or {}).get("julia")
    if dtype.kind == "O":
        return _lower_objects(array, type_, (dtype.metadata or {}).get("bits", False))
    if dtype.kind == "U" and not _is(type_, "Core.Char"):
        texts = [str(text) for text in array.ravel(order="F").tolist()]
        return ("value", texts) if array.ndim == 1 else ("boxed", known("String"), array.shape, texts)
    if dtype.byteorder == ">" or (dtype.names and not dtype.isnative):
        array = array.astype(dtype.newbyteorder("<"))
    if _is(type_, "Core.Char") and dtype.kind == "U":
        array = _utf8(array.astype("<U1").view("<u4"))
    elif dtype.kind == "M":
        type_, array = _counts(array)
    elif dtype.kind == "m" and not _is(type_, "Dates.Time"):
        type_, array = _period_counts(array)
    elif type_ is None:
        type_ = type_of_dtype(array.dtype)
        if array.dtype.names:
            array = array.astype(_dtype(_known_layout(type_)))
    data = _bytes(array)
    if array.ndim == 1 and _is(type_, "Core.UInt8"):
        return "bytes", data
    return "array", type_, array.shape, data


def _is(type_: Any, name: str) -> bool:
    return isinstance(type_, Type) and type_.name == name


def _bytes(array: Any) -> memoryview:
    """Its bytes, the first index fastest; where they lie so already they are not copied."""
    np = numpy()
    flat = np.ascontiguousarray(array.ravel(order="F"))
    return memoryview(flat.view(np.uint8)) if flat.size and flat.itemsize else memoryview(b"")


def type_of_dtype(dtype: Any) -> Type:
    """The type of an array's elements. Raises EncodeError: Julia has none."""
    type_ = (dtype.metadata or {}).get("julia")
    if isinstance(type_, Type):
        return type_
    kind, size = dtype.kind, dtype.itemsize
    if kind == "b":
        return known("Bool")
    if kind in "iu":
        return known(f"{'U' if kind == 'u' else ''}Int{8 * size}")
    if kind == "f" and size in (2, 4, 8):
        return known(f"Float{8 * size}")
    if kind == "c" and size in (8, 16):
        return known("Complex", known(f"Float{4 * size}"))
    if kind == "O":
        return ANY
    if kind == "U":
        return known("String")
    if dtype.names:
        from ._values import Symbol

        fields = [type_of_dtype(dtype.fields[name][0]) for name in dtype.names]
        found = known("NamedTuple", tuple(map(Symbol, dtype.names)), known("Tuple", *fields))
        if _dtype(_known_layout(found)) is not None:
            return found
    if kind == "M":
        return _DATE if np_unit(dtype) in "YMWD" else _DATETIME
    if kind == "m" and np_unit(dtype) in _UNITS:
        return Type(("Dates", _UNITS[np_unit(dtype)]))
    raise _core.EncodeError(
        f"can't store an array of dtype `{dtype.name}`: use another, or say in its metadata what it is in Julia,"
        ' as in `np.dtype(..., metadata={"julia": Type.parse("Main.Foo")})`'
    )


def np_unit(dtype: Any) -> str:
    """Of datetime64 and timedelta64."""
    unit: str
    unit, count = numpy().datetime_data(dtype)
    return unit if count == 1 else "generic"


def _known_layout(type_: Type) -> Layout:
    found = layout(type_)
    if found is None or found.size == 0:
        raise _core.EncodeError(f"can't store an array of {shown(type_)}: its elements are no plain numbers")
    return found


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
        return _DATE, array.astype("<M8[D]").view("<i8") + _EPOCH_DAYS
    if unit in ("h", "m", "s", "ms"):
        return _DATETIME, array.astype("<M8[ms]").view("<i8") + _EPOCH_MILLIS
    raise _core.EncodeError(
        f"can't store datetime64[{unit}]: Julia's DateTime has milliseconds, `.astype(\"M8[ms]\")` cuts it off"
    )


def _period_counts(array: Any) -> tuple[Type, Any]:
    unit = np_unit(array.dtype)
    _refuse_nat(array)
    if unit not in _UNITS:
        raise _core.EncodeError(
            'can\'t store timedelta64 of that unit: `.astype("m8[ns]")` has one that Julia has'
        )
    return Type(("Dates", _UNITS[unit])), array.view("<i8")


def _lower_objects(array: Any, type_: Any, has_bits: bool) -> tuple[Any, ...]:
    values = list(array.ravel(order="F"))
    laid = layout(type_)
    if has_bits and laid is None:
        if any(getattr(value, "type", None) != type_ or len(value) > 0 for value in values):
            raise _core.EncodeError(f"can't store as {shown(type_)} what is of another type")
        return "array", type_, array.shape, b""
    if laid is not None:
        return "array", type_, array.shape, packed(laid, values)
    # As BSON.jl does: the elements alone, without their type.
    if array.ndim == 1:
        return "value", values
    return "boxed", ANY if type_ is None else type_, array.shape, values


def packed(laid: Layout, values: list[Any]) -> bytes:
    """Values one behind the other. Raises EncodeError: one of them is of another type."""
    try:
        return b"".join([pack(laid, value) for value in values])
    except (ValueError, TypeError, OverflowError, AttributeError, struct.error) as cause:
        if isinstance(cause, _core.HoldallError):
            raise
        raise _core.EncodeError(
            f"can't store as {shown(laid.type)} what is of another type, or beyond its bounds"
        ) from None


def lower_scalar(value: Any) -> tuple[Any, ...]:
    """What `lower` says of one of NumPy's scalars. Raises EncodeError, as `lower_array`."""
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
        unit = "Day" if type_ is _DATE else "Millisecond"
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
