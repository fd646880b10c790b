"""polars: frames and series by their Arrow arrays, which pyarrow validates before polars is given them; short ones by their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from .._bundles import Known
from .._core import EncodeError
from ._arrow import array_of, array_parts, columns_of, planned, row_of, row_parts, schema_bytes, type_bytes
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NEWEST = pl.CompatLevel.newest()
# Types without parameters.
_SIMPLE: dict[str, Any] = {
    name: getattr(pl, name)
    for name in (
        *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)),
        *("Float16", "Float32", "Float64", "Boolean", "String", "Binary", "Date", "Time", "Null", "Object"),
    )
    if hasattr(pl, name)
}
_SIMPLE_NAMES = {cls: name for name, cls in _SIMPLE.items()}
# Arrow lacks these, and text holds them.
_WIDE = frozenset(("Int128", "UInt128"))
_UNITS = frozenset(("ms", "us", "ns"))
# How deep types may be within types.
_DEPTH = 50


def known() -> Iterator[Known]:
    if int(pl.__version__.partition(".")[0]) < 1:
        raise ImportError(f"polars 1.1 or newer, and this is {pl.__version__}")
    yield Known(pl.DataFrame, "polars.DataFrame", _frame, _frame_of)
    yield Known(pl.Series, "polars.Series", _series, _series_of)
    for cls in (pl.Datetime, pl.Duration, pl.Decimal, pl.List, pl.Array, pl.Struct, pl.Enum, pl.Categorical):
        yield Known(cls, f"polars.{cls.__name__}", type_parts, _type_of(cls))
    for name, cls in _SIMPLE.items():
        yield Known(cls, f"polars.{name}", type_parts, _type_of(cls))


def type_parts(dtype: Any, depth: int = _DEPTH) -> Any:
    """A type: its name, or its name and parameters."""
    name = _SIMPLE_NAMES.get(dtype if isinstance(dtype, type) else type(dtype))
    if name is not None:
        return name
    name = dtype.base_type().__name__
    if depth == 0:
        raise EncodeError(f"can't store a polars type that is nested deeper than {_DEPTH}")
    if name == "Datetime":
        return name, dtype.time_unit, dtype.time_zone
    if name == "Duration":
        return name, dtype.time_unit
    if name == "Decimal":
        return name, dtype.precision, dtype.scale
    if name == "List":
        return name, type_parts(dtype.inner, depth - 1)
    if name == "Array":
        return name, type_parts(dtype.inner, depth - 1), dtype.size
    if name == "Struct":
        return name, [(field.name, type_parts(field.dtype, depth - 1)) for field in dtype.fields]
    if name == "Enum":
        return name, dtype.categories.to_list()
    if name == "Categorical":
        categories = getattr(dtype, "categories", None)
        if categories is not None and hasattr(categories, "is_global") and not categories.is_global():
            raise EncodeError("can't store a polars `Categorical` of categories that have a name")
        return (name,)
    raise EncodeError(f"can't store a polars type of `{name}`")


def type_made(stored: Any, depth: int = _DEPTH) -> Any:
    if type(stored) is str:
        return _SIMPLE[stored]()
    if depth == 0:
        raise ValueError("types that are nested too deep")
    name, *rest = exact(stored, tuple)
    if name == "Datetime" and rest[0] in _UNITS:
        unit, zone = rest
        return pl.Datetime(unit, None if zone is None else exact(zone, str))
    if name == "Duration" and rest[0] in _UNITS:
        return pl.Duration(*rest)
    if name == "Decimal":
        return pl.Decimal(*rest)
    if name == "List":
        return pl.List(type_made(rest[0], depth - 1))
    if name == "Array":
        inner, size = rest
        if not 0 <= exact(size, int) < 1 << 40:
            raise ValueError("an array that is too wide")
        return pl.Array(type_made(inner, depth - 1), size)
    if name == "Struct":
        fields = [pl.Field(exact(one, str), type_made(kind, depth - 1)) for one, kind in exact(rest[0], list)]
        return pl.Struct(fields)
    if name == "Enum":
        if not all(type(text) is str for text in exact(rest[0], list)):
            raise TypeError("expected texts")
        return pl.Enum(rest[0])
    if name == "Categorical":
        return pl.Categorical()
    raise ValueError("expected a type")


def _type_of(cls: Any) -> Callable[[Any], Any]:
    def type_of_class(stored: Any) -> Any:
        return exact(type_made(stored), cls)

    return type_of_class


# Up to this length, and this size, columns are stored by their values, where Python has them: Arrow's doors cost more.
_SHORT, _SMALL = 100, 1 << 14
_PySeries: Any = type(pl.Series()._s)
_PyDataFrame: Any = type(pl.DataFrame()._df)
_frame_from: Any = pl.DataFrame._from_pydf
_series_from: Any = pl.Series._from_pyseries
# What makes a column of values, and refuses those of another type.
_MAKE: dict[str, Any] = {
    name: getattr(_PySeries, f"new_{make}")
    for name, make in (
        *((f"Int{bits}", f"opt_i{bits}") for bits in (8, 16, 32, 64)),
        *((f"UInt{bits}", f"opt_u{bits}") for bits in (8, 16, 32, 64)),
        *(("Float64", "opt_f64"), ("Boolean", "opt_bool"), ("String", "str"), ("Binary", "binary")),
    )
}
# Arrow's types for lists of these. Lists of its text are not those of polars, which older versions don't see.
_LISTS: dict[str, Any] = {
    **{
        f"{sign}Int{bits}": pa.large_list(getattr(pa, f"{sign.lower()}int{bits}")())
        for sign in ("", "U")
        for bits in (8, 16, 32, 64)
    },
    "Float64": pa.large_list(pa.float64()),
    "Boolean": pa.large_list(pa.bool_()),
    "String": None,
    "Binary": None,
}
# Types whose values are stored as numbers.
_COUNTS = {"Date": "Int32", "Datetime": "Int64", "Duration": "Int64"}
_WIDE_ITEMS = frozenset(("String", "Binary"))
# Before there were `Categories` the order of categories was each column's own, and values don't tell it.
_CATEGORICAL: Any = pl.Categorical() if hasattr(pl, "Categories") else None


def _short(series: Any, kind: Any) -> Any:
    """A short column of polars's own by its values: name, type, values. None: of its type they don't say all, or there is much in it."""
    name = kind if type(kind) is str else kind[0]
    if name in _COUNTS:
        series = _series_from(series).to_physical()._s
    elif name not in _MAKE or name in _WIDE_ITEMS:
        is_one = name in _MAKE or (name == "Categorical" and _CATEGORICAL is not None)
        is_list = name == "List" and type(kind[1]) is str and kind[1] in _LISTS
        # Older versions can't tell the size of some types.
        if not (is_one or is_list) or series.estimated_size() > _SMALL:
            return None
    return series.name(), kind, series.to_list()


def _short_of(name: Any, kind: Any, values: Any) -> Any:
    """Mirror of `_short`."""
    exact(name, str)
    exact(values, list)
    if type(kind) is str and kind in _MAKE:
        return _MAKE[kind](name, values, True)
    what = kind if type(kind) is str else exact(kind, tuple)[0]
    if what == "List":
        return _lists_of(name, exact(parts(kind, 2)[1], str), values)
    if what == "Categorical" and _CATEGORICAL is not None:
        return _MAKE["String"](name, values, True).cast(_CATEGORICAL, True, False)
    return _MAKE[_COUNTS[what]](name, values, True).cast(type_made(kind), True, False)


# Up to this number one by one takes less than the way through Arrow; what polars has for all of them takes longer than both.
_FEW_LISTS = 50


def _lists_of(name: str, inner: str, values: list[Any]) -> Any:
    make, whole = _MAKE[inner], _LISTS[inner]
    if len(values) > _FEW_LISTS and whole is not None:
        return _PySeries.from_arrow(name, pa.array(values, whole))
    made = [None if one is None else make("", exact(one, list), True) for one in values]
    if any(one is not None for one in made):
        return _PySeries.new_series_list(name, made, True)
    return pl.Series(name, values, dtype=pl.List(_SIMPLE[inner]))._s


def _series(series: Any) -> Any:
    column = series._s
    kind = type_parts(column.dtype())
    if len(series) <= _SHORT:
        short = _short(column, kind)
        if short is not None:
            return short
    return _long(series, kind)


def _long(series: Any, kind: Any) -> Any:
    if kind == "Object":
        return series.name, kind, None, series.to_list()
    if type(kind) is str and kind in _WIDE:
        series = series.cast(pl.String)
    try:
        array = series.to_arrow(compat_level=_NEWEST)
    except ValueError:
        raise EncodeError(f"can't store a polars series of {series.dtype}: Arrow lacks the type") from None
    return series.name, kind, type_bytes(array.type), array_parts(array)


def _without_panic(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def made(stored: Any) -> Any:
        try:
            return make(stored)
        except BaseException as error:
            # Not an Exception, so that nobody takes it for one; here it says that the data are wrong.
            if type(error).__name__ == "PanicException":
                raise ValueError("an array that polars can't have") from None
            raise

    return made


@_without_panic
def _series_of(stored: Any) -> Any:
    return _series_from(_column_of(stored))


def _column_of(stored: Any) -> Any:
    """polars's own series, of what is stored of one."""
    if len(exact(stored, tuple)) == 3:
        return _short_of(*stored)
    name, kind, arrow, content = parts(stored, 4)
    exact(name, str)
    if kind == "Object":
        return pl.Series(name, exact(content, list), dtype=pl.Object)._s
    dtype = type_made(kind)
    array = array_of(planned(arrow), content, all_slots=True)
    series = pl.Series(name, array) if len(array) else pl.Series(name, [], dtype=dtype)
    return (series if series.dtype == dtype else series.cast(dtype))._s


def _frame(frame: Any) -> Any:
    height, inner = frame.height, frame._df
    if 0 < height <= _SHORT and frame.width:
        return [
            _short(series, kind) or _long(_series_from(series), kind)
            for series, kind in zip(inner.get_columns(), map(type_parts, inner.dtypes()), strict=True)
        ]
    dtypes = frame.dtypes
    kinds = [type_parts(dtype) for dtype in dtypes]
    # Arrow lacks these: each column has its own way then.
    if not height or not kinds or _APART.intersection(kind for kind in kinds if type(kind) is str):
        return height, frame.get_columns()
    try:
        table = pa.RecordBatchReader.from_stream(frame).read_all()
    except ValueError:
        return height, frame.get_columns()
    batches = table.to_batches()
    if len(batches) != 1:
        batches = table.combine_chunks().to_batches()
    return height, kinds, schema_bytes(table.schema), row_parts(batches[0])


_APART = frozenset((*_WIDE, "Object"))


@_without_panic
def _frame_of(stored: Any) -> Any:
    if type(stored) is list:
        # Asks whether their lengths are equal, and their names are not.
        return _frame_from(_PyDataFrame([_column_of(column) for column in stored]))
    if type(stored) is tuple and len(stored) == 4:
        return _frame_of_rows(*stored)
    height, columns = parts(stored, 2)
    if any(len(exact(column, pl.Series)) != height for column in exact(columns, list)):
        raise ValueError("columns of another length")
    return pl.DataFrame(columns) if columns or not height else pl.DataFrame(height=exact(height, int))


def _frame_of_rows(height: Any, kinds: Any, schema: Any, columns: Any) -> Any:
    """All columns at once: polars takes them as one array of rows."""
    rows = row_of(columns_of(schema), exact(columns, list), height, all_slots=True)
    frame = _series_of_rows(rows).struct.unnest()
    is_kept = type(schema) is bytes and len(schema) < 4096 and all(map(_is_hashed_soon, exact(kinds, list)))
    key = (schema, *kinds) if is_kept else ()
    casts = _seen_casts.get(key) if is_kept else None
    if casts is None:
        casts = _needed_casts(frame, kinds)
        if is_kept:
            if len(_seen_casts) == _MOST_CASTS:
                _seen_casts.clear()
            _seen_casts[key] = casts
    return frame.with_columns([frame.to_series(at).cast(dtype) for at, dtype in casts]) if casts else frame


# Which columns have to be cast to what, by a frame's schema and types.
_seen_casts: dict[Any, list[tuple[int, Any]]] = {}
_MOST_CASTS = 64


def _is_hashed_soon(kind: Any) -> bool:
    return type(kind) is str or (type(kind) is tuple and all(type(one) is str for one in kind))


def _needed_casts(frame: Any, kinds: list[Any]) -> list[tuple[int, Any]]:
    """Columns whose type is not the one that Arrow's type stands for."""
    casts = []
    for at, (dtype, kind) in enumerate(zip(frame.dtypes, kinds, strict=True)):
        if _SIMPLE_NAMES.get(dtype if isinstance(dtype, type) else type(dtype)) != kind:
            wanted = type_made(kind)
            if dtype != wanted:
                casts.append((at, wanted))
    return casts


_from_arrow: Any = getattr(_PySeries, "from_arrow_c_array", None)


def _series_of_rows(rows: Any) -> Any:
    # What `pl.Series(rows)` does in the end.
    if _from_arrow is None:
        return pl.Series("", rows)
    return _series_from(_from_arrow(rows))
