"""pandas: frames, series and indexes by their blocks; arrays, scalars, dtypes and offsets beside it in `_pandas_arrays.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.core.internals.blocks import new_block
from pandas.core.internals.managers import BlockManager, SingleBlockManager

from .._bundles import Known
from . import _pandas_arrays, _pandas_scalars
from ._checks import exact, label, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BlockPlacement: Any = pd._libs.internals.BlockPlacement
_ExtensionArray: Any = pd.api.extensions.ExtensionArray
_NumpyExtensionArray: Any = pd.arrays.NumpyExtensionArray
_NDFrame: Any = pd.core.generic.NDFrame
# What NumPy's arrays may hold in a block: pandas makes objects of text, and arrays of its own of points in time.
_KINDS = frozenset("biufcO")
_plain = object.__setattr__


def known() -> Iterator[Known]:
    """The classes of the bundle."""
    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (2, 1):
        raise ImportError(f"pandas 2.1 or newer, and this is {pd.__version__}")
    yield Known(pd.DataFrame, "pandas.DataFrame", _frame, _fill_frame, fills=True)
    yield Known(pd.Series, "pandas.Series", _series, _fill_series, fills=True)
    for cls in (pd.Index, pd.PeriodIndex, pd.IntervalIndex, pd.CategoricalIndex):
        yield Known(cls, f"pandas.{cls.__name__}", _index, _index_of(cls))
    for cls in (pd.DatetimeIndex, pd.TimedeltaIndex):
        yield Known(cls, f"pandas.{cls.__name__}", _index_in_time, _index_in_time_of(cls))
    yield Known(pd.RangeIndex, "pandas.RangeIndex", _range_index, _range_index_of)
    yield Known(pd.MultiIndex, "pandas.MultiIndex", _multi_index, _multi_index_of)
    yield from _pandas_arrays.known()
    yield from _pandas_scalars.known()


def _frame(frame: Any) -> Any:
    manager = frame._mgr
    columns, index = manager.axes
    blocks = [(block.values, _place(block.mgr_locs)) for block in manager.blocks]
    return blocks, columns, index, frame._attrs or None, frame._flags._allows_duplicate_labels


def _place(placement: Any) -> Any:
    """Which columns a block has: a first and an end, or the numbers."""
    if placement.is_slice_like:
        place = placement.as_slice
        if place.step is None or place.step == 1:
            return place.start, place.stop
    return placement.as_array


def _fill_frame(frame: Any, state: Any) -> None:
    stored, columns, index, attrs, allows = parts(state, 5)
    wide, long = len(_axis(columns)), len(_axis(index))
    blocks = []
    for block in exact(stored, list):
        values, place = parts(block, 2)
        count = len(place) if type(place) is not tuple else place[1] - place[0]
        shape = _checked(values).shape
        if shape != (count, long) and not (
            shape == (long,) and count == 1 and not isinstance(values, np.ndarray)
        ):
            raise ValueError("a block of another shape")
        where = slice(*place) if type(place) is tuple else place
        blocks.append(new_block(values, placement=_BlockPlacement(where), ndim=2))
    _check_places([place for _, place in stored], wide)
    _begin(frame, BlockManager(tuple(blocks), [columns, index], verify_integrity=False), attrs, allows)


def _begin(frame: Any, manager: Any, attrs: Any, allows: Any) -> None:
    _NDFrame.__init__(frame, manager)
    if attrs is not None:
        _plain(frame, "_attrs", exact(attrs, dict))
    if exact(allows, bool) is False:
        frame._flags._allows_duplicate_labels = False


def _axis(index: Any) -> Any:
    if not isinstance(index, pd.Index):
        raise TypeError("expected an index")
    return index


def _checked(values: Any) -> Any:
    """Values that a block may have."""
    if type(values) is np.ndarray:
        if values.dtype.kind not in _KINDS:
            raise TypeError("a dtype that no block has")
    elif not isinstance(values, _ExtensionArray) or type(values) is _NumpyExtensionArray:
        raise TypeError("expected an array")
    return values


def _check_places(places: Any, wide: int) -> None:
    """Raises ValueError: the blocks' columns are not all columns, each once. Takes no memory that the message didn't take."""
    if wide <= _FEW and _are_few(places, wide):
        return
    runs = sorted(place for place in places if type(place) is tuple)
    count = end = 0
    for first, after in runs:
        if not end <= exact(first, int) <= exact(after, int):
            raise ValueError("columns in two blocks")
        end, count = after, count + after - first
    arrays = [place for place in places if type(place) is not tuple]
    if arrays:
        for place in arrays:
            if type(place) is not np.ndarray or place.dtype != np.intp or place.ndim != 1:
                raise TypeError("expected the numbers of columns")
        numbers = np.sort(np.concatenate(arrays))
        if (numbers[1:] == numbers[:-1]).any() or (numbers < 0).any() or (numbers >= wide).any():
            raise ValueError("columns in two blocks")
        filled = [run for run in runs if run[0] < run[1]]
        if filled:
            starts, ends = np.array(filled).T
            at = np.searchsorted(starts, numbers, "right") - 1
            if ((at >= 0) & (numbers < ends[at])).any():
                raise ValueError("columns in two blocks")
        count += len(numbers)
    if count != wide or end > wide:
        raise ValueError("columns without a block")


_FEW = 64


def _are_few(places: Any, wide: int) -> bool:
    """Whether these are all of few columns, each once: counted one by one."""
    left = set(range(wide))
    for place in places:
        if type(place) is tuple:
            first, after = place
            numbers = range(exact(first, int), min(exact(after, int), wide + 1))
        elif type(place) is np.ndarray and place.dtype == np.intp and place.ndim == 1:
            numbers = place[: wide + 1].tolist()
        else:
            return False
        if not left.issuperset(numbers) or len(set(numbers)) != len(numbers):
            return False
        left.difference_update(numbers)
    return not left


def _series(series: Any) -> Any:
    manager = series._mgr
    return (
        manager.blocks[0].values,
        manager.axes[0],
        series._name,
        series._attrs or None,
        series._flags._allows_duplicate_labels,
    )


def _fill_series(series: Any, state: Any) -> None:
    values, index, name, attrs, allows = parts(state, 5)
    long = len(_axis(index))
    if _checked(values).shape != (long,):
        raise ValueError("another number of values than of labels")
    block = new_block(values, placement=_BlockPlacement(slice(0, long)), ndim=1)
    _begin(series, SingleBlockManager(block, index), attrs, allows)
    _plain(series, "_name", label(name))


def _index(index: Any) -> Any:
    return index._data, index._name


def _index_of(cls: Any) -> Callable[[Any], Any]:
    def index_of(state: Any) -> Any:
        data, name = parts(state, 2)
        if data.ndim != 1:
            raise ValueError("expected one dimension")
        if cls is pd.Index:
            if type(data) is not np.ndarray:
                _checked(data)
            elif data.dtype.kind not in "biufcO":
                raise TypeError("a dtype that no index has")
        return cls._simple_new(data, name=label(name))

    return index_of


def _index_in_time(index: Any) -> Any:
    return index._data, index._name, index.freq


def _index_in_time_of(cls: Any) -> Callable[[Any], Any]:
    def index_of(state: Any) -> Any:
        data, name, freq = parts(state, 3)
        if data.ndim != 1:
            raise ValueError("expected one dimension")
        if freq is not None and not isinstance(freq, pd.offsets.BaseOffset):
            raise TypeError("expected an offset")
        index = cls._simple_new(data, name=label(name))
        if freq is not None:
            # pandas 3.1 keeps it with the index, those before with the index's array.
            (index if hasattr(index, "_freq") and not hasattr(data, "_freq") else data)._freq = freq
        return index

    return index_of


def _range_index(index: Any) -> Any:
    values = index._range
    return values.start, values.stop, values.step, index._name


def _range_index_of(state: Any) -> Any:
    start, stop, step, name = parts(state, 4)
    values = range(exact(start, int), exact(stop, int), exact(step, int))
    # As numbers of 64 bits, which they become.
    if not all(-(1 << 63) <= number < 1 << 63 for number in (start, stop, step, len(values))):
        raise ValueError("a range that is too long")
    return pd.RangeIndex._simple_new(values, name=label(name))


def _multi_index(index: Any) -> Any:
    return tuple(index.levels), tuple(index.codes), tuple(index.names), index.sortorder


def _multi_index_of(state: Any) -> Any:
    levels, codes, names, sortorder = parts(state, 4)
    if not len(exact(levels, tuple)) == len(exact(codes, tuple)) == len(exact(names, tuple)) or not levels:
        raise ValueError("levels without codes")
    if sortorder is not None:
        exact(sortorder, int)
    for level, coded in zip(levels, codes, strict=True):
        _pandas_arrays.check_codes(coded, len(_axis(level)))
        if len(coded) != len(codes[0]) or isinstance(level, pd.MultiIndex):
            raise ValueError("another number of codes")
    names = [label(name) for name in names]
    return pd.MultiIndex(levels, codes, sortorder=sortorder, names=names, verify_integrity=False)
