"""Julia's arrays as NumPy's, and back.

A dtype that doesn't tell Julia's type by itself has it as `dtype.metadata["julia"]`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _core
from ._layout import Layout, items, layout
from ._names import Symbol
from ._types import ANY, Type, known, shown
from ._wrappers import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

# The day 1970-01-01, in Julia's count.
EPOCH_DAYS = 719_163
EPOCH_MILLIS = EPOCH_DAYS * 86_400_000

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
UNITS = {unit: name for name, unit in _PERIODS.items()}
DATE = Type(("Dates", "Date"))
DATETIME = Type(("Dates", "DateTime"))


def array_of(type_: Any, itemsize: int, types: Any = None) -> tuple[Any, Callable[..., Any] | None]:
    """How to make a NumPy array from an array's bytes; asked once in a load for each type of elements.

    itemsize: the size of an element, also 0 if there are no elements. types: as for `resolve`.

    (dtype, None): the bytes are the array, column-major. (None, convert): `convert(type, data, shape)` makes
    the array from bytes-like data. An array of elements without bytes still takes memory, which the caller
    has accounted for.
    """
    laid = layout(type_, types)
    if laid is None or (laid.size != itemsize and itemsize != 0):
        return (_opaque(type_, itemsize), None) if itemsize else (None, _without_bytes(types))
    if laid.size == 0:
        return None, _without_bytes(types)
    if type_.name == "Dates.Date":
        return None, _converter("D", EPOCH_DAYS)
    if type_.name == "Dates.DateTime":
        return None, _converter("ms", EPOCH_MILLIS)
    if laid.kind == "c":
        return None, _chars
    if laid.kind == "e" or type_.name == "Base.UUID":
        return None, _members(types)
    if laid.kind in "iu" and laid.size > 8:
        return None, _big
    dtype = dtype_of(laid)
    if dtype is None:
        return _opaque(type_, itemsize or laid.size), None
    if not dtype.names and dtype.kind != "V" and _as_written(type_of_dtype(dtype)) == _as_written(type_):
        return dtype, None
    return _tagged(dtype, type_), None


def _as_written(type_: Type) -> Any:
    """Compares paths as well as names: older files have other paths."""
    return type_.path, [_as_written(param) for param in type_.params if isinstance(param, Type)]


# Periods, which their dtypes identify.
_PLAIN = {f"Dates.{name}" for name in _PERIODS}


def _opaque(type_: Any, itemsize: int) -> Any:
    return _tagged(f"V{itemsize}", type_)


def _tagged(dtype: Any, type_: Any, **more: Any) -> Any:
    return numpy().dtype(dtype, metadata={"julia": type_, **more})


def dtype_of(laid: Layout) -> Any:
    """The NumPy dtype of a layout; None if there is none."""
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
        found = dtype_of(field)
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
    """An array of these objects, given in column-major order."""
    np = numpy()
    flat = np.empty(math.prod(shape), dtype=_tagged("O", type_, **more))
    # One by one, because NumPy would look into lists and arrays.
    for place, value in enumerate(values):
        flat[place] = value
    return flat.reshape(shape, order="F")


def _without_bytes(types: Any) -> Callable[..., Any]:
    def convert(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
        # All the same, because they have no content.
        count = math.prod(shape)
        values = items(type_, b"", 1, types) * count if count else []
        return _objects(type_, shape, values, bits=True)

    return convert


def _converter(unit: str, epoch: int) -> Callable[..., Any]:
    def convert(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
        np = numpy()
        counts = np.frombuffer(data, dtype="<i8").reshape(shape, order="F")
        # If a value would overflow, or equal NumPy's NaT.
        if counts.size and counts.min() <= np.iinfo(np.int64).min + epoch:
            return counts.copy(order="F").view(_tagged("<i8", type_))
        # For an array without dimensions, the difference would be a scalar.
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
    """The code points of Julia's characters, which are UTF-8 from the highest byte on; None if one is
    malformed.
    """
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
    if (codes > 0x10FFFF).any() or surrogate.any() or not np.array_equal(utf8(codes), raw):
        return None
    return codes


def utf8(codes: Any) -> Any:
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
        return _objects(type_, shape, items(type_, data, math.prod(shape), types))

    return convert


def _big(type_: Any, data: Any, shape: tuple[int, ...]) -> Any:
    return _objects(type_, shape, items(type_, data, math.prod(shape)))


def boxed_dtype(type_: Any) -> Any:
    """The dtype of an array of objects."""
    return _tagged("O", type_)


def type_of_dtype(dtype: Any) -> Type:
    """The Julia type of an array's elements. Raises EncodeError if there is none."""
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
        fields = [type_of_dtype(dtype.fields[name][0]) for name in dtype.names]
        found = known("NamedTuple", tuple(map(Symbol, dtype.names)), known("Tuple", *fields))
        if dtype_of(known_layout(found)) is not None:
            return found
    if kind == "M":
        return DATE if np_unit(dtype) in "YMWD" else DATETIME
    if kind == "m" and np_unit(dtype) in UNITS:
        return Type(("Dates", UNITS[np_unit(dtype)]))
    raise _core.EncodeError(
        f"can't store an array of dtype `{dtype.name}`: use another, or say in its metadata what it is in Julia,"
        ' as in `np.dtype(..., metadata={"julia": Type.parse("Main.Foo")})`'
    )


def np_unit(dtype: Any) -> str:
    """The unit of datetime64 and timedelta64."""
    unit: str
    unit, count = numpy().datetime_data(dtype)
    return unit if count == 1 else "generic"


def known_layout(type_: Type) -> Layout:
    found = layout(type_)
    if found is None or found.size == 0:
        raise _core.EncodeError(f"can't store an array of {shown(type_)}: its elements are no plain numbers")
    return found
