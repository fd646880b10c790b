"""NumPy arrays and scalars from lists and numbers, as schemaless formats store them. No value is rounded."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_NUMBERS = frozenset((bool, int, float))
_SEQUENCES = frozenset((list, tuple))
# The most that NumPy allows.
_DIMENSIONS = 64
# Lists that are shared are copied for each place: so many items or characters are free, and as many for each
# that exists.
_FREE = 1 << 18
_EACH = 16


def from_list(items: list[Any], dtype: Any) -> Any:
    """An array from nested lists; `dtype` None lets NumPy choose.

    Raises ValueError, TypeError or OverflowError: ragged lists, or values that are not numbers or text, or
    that the dtype can't hold.
    """
    flat, shape = _flattened(items)
    kinds = set(map(type, flat))
    if kinds == {str}:
        lengths = list(map(len, flat))
        _check_shared(max(lengths) * len(lengths), sum(lengths), "a text much longer than the others")
    elif not kinds <= _NUMBERS:
        raise ValueError("ragged lists, or values of different kinds")
    found = np.array(flat)
    if found.dtype.kind == "f" and flat and float not in kinds:
        # NumPy would make floats of ints if some fit into 63 bits and some don't.
        found = np.array(flat, np.uint64)
    return _as_dtype(found, dtype).reshape(shape)


def _as_dtype(found: Any, dtype: Any) -> Any:
    if dtype is None or found.size == 0:
        return found if dtype is None else found.astype(dtype)
    whole = np.dtype(dtype).kind in "iu" and found.dtype.kind in "iu"
    with np.errstate(over="raise", invalid="raise"):
        # For conversions between ints, NumPy compares dtypes; here the values are compared.
        made = found.astype(dtype, casting="unsafe" if whole else "same_kind")
    if whole and not np.array_equal(made, found):
        raise ValueError("a number beyond the dtype's range")
    return made


def _flattened(items: list[Any]) -> tuple[list[Any], list[int]]:
    """The values of nested lists, and the lengths of the lists at each level.

    NumPy does that too, but without a bound on shared lists, and not if one list occurs at several depths.
    """
    shape = [len(items)]
    while items and set(map(type, items)) <= _SEQUENCES:
        lengths = set(map(len, items))
        if len(lengths) > 1 or len(shape) == _DIMENSIONS:
            raise ValueError("ragged lists, or lists too deep for an array")
        length = lengths.pop()
        _check_shared(
            len(items) * length, len(set(map(id, items))) * length, "lists that are shared by many others"
        )
        shape.append(length)
        items = list(itertools.chain.from_iterable(items))
    return items, shape


def _check_shared(places: int, there: int, what: str) -> None:
    if places > _FREE + _EACH * there:
        raise ValueError(what)


def moment(cls: Any, value: Any) -> Any:
    """A NumPy point in time from a datetime."""
    made = cls(value)
    # If NumPy has no memory to look at the time, it takes a datetime for a date.
    if np.datetime_data(made.dtype)[0] != "us":
        raise MemoryError
    return made


def scalar(cls: Any, value: Any) -> Any:
    """A NumPy scalar from a number or a text. Raises the same as `from_list`."""
    made = from_list([value], np.dtype(cls))[0]
    if type(made) is not cls:
        raise TypeError(f"expected {cls.__name__}")
    return made
