"""pandas's own arrays and their dtypes."""

from __future__ import annotations

import functools
import inspect
from datetime import timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from pandas.arrays import (
    BooleanArray,
    DatetimeArray,
    FloatingArray,
    IntegerArray,
    IntervalArray,
    NumpyExtensionArray,
    PeriodArray,
    SparseArray,
    StringArray,
    TimedeltaArray,
)

from .._bundles import Known
from .._core import EncodeError, all_within
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Categorical: Any = pd.Categorical
_sparse: Any = pd._libs.sparse
_UNITS = frozenset(("s", "ms", "us", "ns"))
_CLOSED = frozenset(("left", "right", "both", "neither"))
# pandas 2 has a class of its own for text that is missing as NaN.
_TEXTS = (StringArray, getattr(pd.core.arrays.string_, "StringArrayNumpySemantics", StringArray))


def known() -> Iterator[Known]:
    for cls, encode, decode in (
        (DatetimeArray, _moments, _moments_of),
        (TimedeltaArray, _ndarray, _spans_of),
        (PeriodArray, lambda array: (array._ndarray, array.freq), _periods_of),
        (IntervalArray, lambda array: (array._left, array._right, array._dtype), _intervals_of),
        (pd.Categorical, lambda array: (array._ndarray, array.dtype), _categorical_of),
        (BooleanArray, _masked, _masked_of(BooleanArray)),
        (IntegerArray, _masked, _masked_of(IntegerArray)),
        (FloatingArray, _masked, _masked_of(FloatingArray)),
        (SparseArray, _sparse_parts, _sparse_of),
        (NumpyExtensionArray, _ndarray, _numpy_of),
    ):
        yield Known(cls, f"pandas.arrays.{cls.__name__}", encode, decode)
    for cls in dict.fromkeys(_TEXTS):
        yield Known(cls, f"pandas.arrays.{cls.__name__}", _text, _text_of)
    for name in ("ArrowStringArray", "ArrowExtensionArray", "ArrowStringArrayNumpySemantics"):
        for module in (pd.core.arrays.string_arrow, pd.core.arrays.arrow.array):
            cls = getattr(module, name, None)
            if cls is not None and cls.__module__ in (module.__name__, "pandas.arrays"):
                text = name != "ArrowExtensionArray"
                yield Known(
                    cls,
                    f"pandas.arrays.{name}",
                    _arrow_text if text else _arrow,
                    _arrow_text_of if text else _arrow_of,
                )
                break
    yield from _dtypes()


def _ndarray(array: Any) -> Any:
    return array._ndarray


def _exact_array(array: Any, kinds: str) -> Any:
    if type(array) is not np.ndarray or array.dtype.kind not in kinds:
        raise TypeError("expected an array of another dtype")
    return array


def zone_parts(zone: Any) -> Any:
    """A time zone as hold stores it: those of the standard library are themselves."""
    if zone is None or type(zone) is ZoneInfo or type(zone) is timezone:
        return zone
    if type(zone).__module__.partition(".")[0] == "pytz":
        return "pytz", zone.zone if zone.zone is not None else zone._minutes
    kind = type(zone)
    raise EncodeError(
        f"can't store a time zone of `{kind.__module__}.{kind.__qualname__}`: `tz_convert` to one of zoneinfo first"
    )


def zone_of(stored: Any) -> Any:
    if stored is None or type(stored) is ZoneInfo or type(stored) is timezone:
        return stored
    library, key = parts(stored, 2)
    if library != "pytz":
        raise ValueError("expected a time zone")
    import pytz

    if type(key) is int:
        return pytz.FixedOffset(key)
    if exact(key, str) not in pytz.all_timezones_set:
        raise ValueError("an unknown time zone")
    return pytz.timezone(key)


def _moments(array: Any) -> Any:
    dtype = array._dtype
    return array._ndarray if isinstance(dtype, np.dtype) else (array._ndarray, zone_parts(dtype.tz))


def _moments_of(stored: Any) -> Any:
    array, zone = stored if type(stored) is tuple else (stored, None)
    unit, _ = np.datetime_data(_exact_array(array, "M").dtype)
    if zone is None:
        return DatetimeArray._simple_new(array, dtype=array.dtype)
    if unit not in _UNITS:
        raise ValueError("a unit that pandas lacks")
    return DatetimeArray._simple_new(array, dtype=pd.DatetimeTZDtype(unit, zone_of(zone)))


def _spans_of(array: Any) -> Any:
    return TimedeltaArray._simple_new(_exact_array(array, "m"), dtype=array.dtype)


def _periods_of(stored: Any) -> Any:
    array, freq = parts(stored, 2)
    if array.dtype != np.int64:
        raise TypeError("expected numbers of periods")
    return PeriodArray(_exact_array(array, "i"), dtype=pd.PeriodDtype(freq))


def _intervals_of(stored: Any) -> Any:
    left, right, dtype = parts(stored, 3)
    exact(dtype, pd.IntervalDtype)
    for side in (left, right):
        if type(side) is np.ndarray:
            _exact_array(side, "iuf")
        elif not isinstance(side, (DatetimeArray, TimedeltaArray)):
            raise TypeError("expected the ends of intervals")
        if side.ndim != 1 or side.dtype != dtype.subtype or len(side) != len(left):
            raise ValueError("ends of another dtype")
    return IntervalArray._simple_new(left, right, dtype)


def check_codes(codes: Any, count: int) -> None:
    """Raises ValueError, TypeError: codes that are not -1 or one of that many categories. pandas's C code takes that for granted."""
    _exact_array(codes, "i")
    if codes.ndim > 2 or not codes.dtype.isnative:
        raise ValueError("expected codes")
    if not all_within(codes, codes.dtype.char, -1, count):
        raise ValueError("a code of no category")


def _categorical_of(stored: Any) -> Any:
    codes, dtype = parts(stored, 2)
    if exact(dtype, pd.CategoricalDtype).categories is None:
        raise ValueError("no categories")
    check_codes(codes, len(dtype.categories))
    return _Categorical._simple_new(codes, dtype)


def _masked(array: Any) -> Any:
    return array._data, array._mask


def _masked_of(cls: Any) -> Callable[[Any], Any]:
    def masked_of(stored: Any) -> Any:
        data, mask = parts(stored, 2)
        _exact_array(data, "b" if cls is BooleanArray else "iuf")
        return cls(data, _exact_array(mask, "b"))

    return masked_of


def _by_na(dtype: Any) -> bool:
    return getattr(dtype, "na_value", pd.NA) is pd.NA


# Before 2.3 another storage said that text is missing as NaN.
_NAMES_MISSING = "na_value" in inspect.signature(pd.StringDtype.__init__).parameters


@functools.cache
def _string_dtype_made(storage: str, by_na: bool) -> Any:
    """A dtype, and what makes an array of it: how that is asked for depends on pandas's version."""
    if by_na:
        dtype = pd.StringDtype(storage)
    elif _NAMES_MISSING:
        dtype = pd.StringDtype(storage, na_value=np.nan)
    elif storage == "pyarrow":
        dtype = pd.StringDtype("pyarrow_numpy")
    else:
        raise ValueError("text that is missing as NaN needs pandas 2.3")
    cls = dtype.construct_array_type()
    if "dtype" in inspect.signature(cls.__init__).parameters:
        return dtype, functools.partial(cls, dtype=dtype)
    return dtype, cls


def _text(array: Any) -> Any:
    return array._ndarray, _by_na(array.dtype)


def _text_of(stored: Any) -> Any:
    array, by_na = parts(stored, 2)
    return _string_dtype_made("python", exact(by_na, bool))[1](_exact_array(array, "OT"))


@functools.cache
def _arrow_module() -> Any:
    """pyarrow is imported where pandas has."""
    from . import _arrow

    return _arrow


def _arrow_text(array: Any) -> Any:
    return _by_na(array.dtype), _arrow_module().chunks_parts(array._pa_array)


def _arrow_text_of(stored: Any) -> Any:
    arrow = _arrow_module()
    by_na, chunks = parts(stored, 2)
    return _string_dtype_made("pyarrow", exact(by_na, bool))[1](arrow.chunked_of(arrow.LARGE_STRINGS, chunks))


def _arrow(array: Any) -> Any:
    arrow = _arrow_module()
    return arrow.type_bytes(array._pa_array.type), arrow.chunks_parts(array._pa_array)


def _arrow_of(stored: Any) -> Any:
    arrow = _arrow_module()
    kind, chunks = parts(stored, 2)
    return pd.arrays.ArrowExtensionArray(arrow.chunked_of(arrow.planned(kind), chunks))


def _sparse_parts(array: Any) -> Any:
    index = array.sp_index
    if type(index) is _sparse.IntIndex:
        return array.sp_values, array.dtype, index.length, index.indices
    return array.sp_values, array.dtype, index.length, index.blocs, index.blengths


def _sparse_of(stored: Any) -> Any:
    values, dtype, length, *places = exact(stored, tuple)
    for place in places:
        if _exact_array(place, "i").dtype != np.int32 or place.ndim != 1:
            raise TypeError("expected the places of values")
    make = _sparse.IntIndex if len(places) == 1 else _sparse.BlockIndex
    index = make(exact(length, int), *places)
    # It does not look at the sign of these.
    if len(places) == 2 and not ((places[0] >= 0).all() and (places[1] > 0).all()):
        raise ValueError("a block without a length")
    if exact(dtype, pd.SparseDtype).subtype != values.dtype or values.shape != (index.npoints,):
        raise ValueError("another number of values")
    return SparseArray._simple_new(values, index, dtype)


def _numpy_of(array: Any) -> Any:
    return NumpyExtensionArray(_exact_array(array, "biufcOSUVmM"))


def _dtypes() -> Iterator[Known]:
    """The dtypes."""
    for name in (
        "Boolean",
        *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
        "Float32",
        "Float64",
    ):
        cls = getattr(pd, f"{name}Dtype")
        yield Known(cls, f"pandas.{name}Dtype", lambda dtype: None, _singleton_of(cls))
    yield Known(
        pd.CategoricalDtype,
        "pandas.CategoricalDtype",
        lambda dtype: (dtype.categories, dtype.ordered),
        _categories_of,
    )
    yield Known(
        pd.DatetimeTZDtype,
        "pandas.DatetimeTZDtype",
        lambda dtype: (dtype.unit, zone_parts(dtype.tz)),
        _zoned_of,
    )
    yield Known(pd.PeriodDtype, "pandas.PeriodDtype", lambda dtype: dtype.freq, pd.PeriodDtype)
    yield Known(
        pd.IntervalDtype,
        "pandas.IntervalDtype",
        lambda dtype: (dtype.subtype, dtype.closed),
        _interval_dtype_of,
    )
    yield Known(pd.StringDtype, "pandas.StringDtype", _string_dtype, _string_dtype_of)
    yield Known(
        pd.SparseDtype,
        "pandas.SparseDtype",
        lambda dtype: (dtype.subtype, dtype.fill_value),
        _sparse_dtype_of,
    )
    yield Known(pd.ArrowDtype, "pandas.ArrowDtype", _arrow_dtype, _arrow_dtype_of)


def _singleton_of(cls: Any) -> Callable[[Any], Any]:
    def singleton_of(stored: Any) -> Any:
        if stored is not None:
            raise TypeError("expected None")
        return cls()

    return singleton_of


def _categories_of(stored: Any) -> Any:
    categories, ordered = parts(stored, 2)
    if categories is not None and (
        not isinstance(categories, pd.Index) or isinstance(categories, pd.MultiIndex)
    ):
        raise TypeError("expected an index")
    if ordered is not None:
        exact(ordered, bool)
    # Not compared with each other: that hashes them all, and nothing relies on it.
    return pd.CategoricalDtype._from_fastpath(categories, ordered)


def _zoned_of(stored: Any) -> Any:
    unit, zone = parts(stored, 2)
    if unit not in _UNITS:
        raise ValueError("a unit that pandas lacks")
    return pd.DatetimeTZDtype(unit, zone_of(zone))


def _interval_dtype_of(stored: Any) -> Any:
    subtype, closed = parts(stored, 2)
    if closed is not None and closed not in _CLOSED:
        raise ValueError("expected which ends are closed")
    if subtype is not None and not isinstance(subtype, (np.dtype, pd.DatetimeTZDtype)):
        raise TypeError("expected a dtype")
    return pd.IntervalDtype(subtype, closed)


def _string_dtype(dtype: Any) -> Any:
    return str(dtype.storage).removesuffix("_numpy"), _by_na(dtype)


def _string_dtype_of(stored: Any) -> Any:
    storage, by_na = parts(stored, 2)
    return _string_dtype_made(exact(storage, str), exact(by_na, bool))[0]


def _sparse_dtype_of(stored: Any) -> Any:
    subtype, fill = parts(stored, 2)
    if not isinstance(subtype, np.dtype):
        raise TypeError("expected a dtype")
    return pd.SparseDtype(subtype, fill)


def _arrow_dtype(dtype: Any) -> Any:
    return _arrow_module().type_bytes(dtype.pyarrow_dtype)


def _arrow_dtype_of(stored: Any) -> Any:
    return pd.ArrowDtype(_arrow_module().type_of(stored))
