"""NumPy's arrays and scalars of what plain formats hold of them: lists and numbers. Nothing is rounded to another value."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = frozenset((bool, int, float))
# Text in an array takes the room of the longest for each: so many characters for nothing, and for each there is.
_FREE_CHARACTERS = 1 << 18
_CHARACTERS_EACH = 16


def from_list(items: list[Any], dtype: Any) -> Any:
    """An array of nested lists; `dtype` None is what NumPy finds.

    Raises ValueError or TypeError: ragged lists, values that are no numbers or text, or that the dtype can't hold.
    """
    # As objects first: each item is looked at before it takes any room.
    objects = np.array(items, dtype=object)
    kinds = set(map(type, objects.flat))
    if kinds == {str}:
        _check_text(objects)
    elif not kinds <= _NUMBERS:
        raise ValueError("ragged lists, or values of different kinds")
    found = np.array(items)
    if dtype is None or found.size == 0:
        return found if dtype is None else found.astype(dtype)
    whole = np.dtype(dtype).kind in "iu" and found.dtype.kind in "iu"
    with np.errstate(over="raise", invalid="raise"):
        # Between ints NumPy's own check goes by dtypes; here values are looked at.
        made = found.astype(dtype, casting="unsafe" if whole else "same_kind")
    if whole and not np.array_equal(made, found):
        raise ValueError("a number beyond the dtype's range")
    return made


def _check_text(objects: Any) -> None:
    lengths = list(map(len, objects.flat))
    if max(lengths) * len(lengths) > _FREE_CHARACTERS + _CHARACTERS_EACH * sum(lengths):
        raise ValueError("a text much longer than the others")


def moment(cls: Any, value: Any) -> Any:
    """NumPy's point in time of a datetime."""
    made = cls(value)
    # Where it has no memory to look at the time, NumPy takes a datetime for a date.
    if np.datetime_data(made.dtype)[0] != "us":
        raise MemoryError
    return made


def scalar(cls: Any, value: Any) -> Any:
    """A NumPy scalar of a number or a text. Raises as `from_list`."""
    made = from_list([value], np.dtype(cls))[0]
    if type(made) is not cls:
        raise TypeError(f"expected {cls.__name__}")
    return made
