"""polars: frames and series by their Arrow arrays, which pyarrow validates before polars is given them."""

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


def _series(series: Any) -> Any:
    kind = type_parts(series.dtype)
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
    name, kind, arrow, content = parts(stored, 4)
    exact(name, str)
    if kind == "Object":
        return pl.Series(name, exact(content, list), dtype=pl.Object)
    dtype = type_made(kind)
    array = array_of(planned(arrow), content, all_slots=True)
    series = pl.Series(name, array) if len(array) else pl.Series(name, [], dtype=dtype)
    return series if series.dtype == dtype else series.cast(dtype)


def _frame(frame: Any) -> Any:
    height, dtypes = frame.height, frame.dtypes
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


_from_arrow: Any = getattr(type(pl.Series()._s), "from_arrow_c_array", None)
_wrapped: Any = getattr(pl.Series, "_from_pyseries", None)


def _series_of_rows(rows: Any) -> Any:
    # What `pl.Series(rows)` does in the end.
    if _from_arrow is None or _wrapped is None:
        return pl.Series("", rows)
    return _wrapped(_from_arrow(rows))
