"""SciPy's sparse arrays and matrices, by the arrays of which they consist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from .._bundles import Known
from .._core import all_within, sound_rows
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_KINDS = frozenset("biufcO")
_HAS_COORDS = "coords" in vars(sparse.coo_matrix((1, 1)))


def known() -> Iterator[Known]:
    for kind, encode, decode in (
        ("csr", _compressed, _compressed_of),
        ("csc", _compressed, _compressed_of),
        ("bsr", _compressed, _blocks_of),
        ("coo", _coordinates, _coordinates_of),
        ("dia", _diagonals, _diagonals_of),
        ("lil", _rows, _rows_of),
        ("dok", _keys, _keys_of),
    ):
        for form in ("array", "matrix"):
            name = f"{kind}_{form}"
            cls = getattr(sparse, name, None)
            if cls is not None:
                yield Known(cls, f"scipy.sparse.{name}", encode, decode(cls))


def _array(value: Any, ndim: int = 1) -> Any:
    if exact(value, np.ndarray).ndim != ndim:
        raise ValueError("an array of other dimensions")
    return value


def _data(value: Any, ndim: int = 1) -> Any:
    if _array(value, ndim).dtype.kind not in _KINDS:
        raise TypeError("a dtype that no sparse array has")
    return value


# Of 32 and of 64 bits, as the native side takes them: in the machine's order.
_PLACES = frozenset(dtype.char for dtype in map(np.dtype, "bhilq") if dtype.itemsize in (4, 8))


def _numbers(value: Any) -> Any:
    """An array of places: of 32 or 64 bits."""
    if (
        type(value) is not np.ndarray
        or value.ndim != 1
        or value.dtype.char not in _PLACES
        or not value.dtype.isnative
    ):
        raise TypeError("expected the places of values")
    return value


def _check_within(places: Any, size: int) -> None:
    if not all_within(places, places.dtype.char, 0, size):
        raise ValueError("a place outside")


_MOST = 1 << 62


def _shape(value: Any) -> Any:
    if not 1 <= len(exact(value, tuple)) <= 32:
        raise ValueError("expected a shape")
    for size in value:
        if type(size) is not int or not 0 <= size < _MOST:
            raise ValueError("expected a shape")
    return value


def _sizes(array: Any) -> Any:
    return tuple(int(size) for size in array.shape)


def _made(cls: Any, shape: Any, **content: Any) -> Any:
    """An instance of its attributes, as `pickle` makes one: constructors change the places' dtype, and take long."""
    made = object.__new__(cls)
    own = made.__dict__
    own.update(_USUAL)
    own["_shape"] = shape
    own.update(content)
    return made


# What SciPy's newer versions keep in each instance besides its content.
_USUAL = {name: value for name, value in vars(sparse.csr_matrix((1, 1))).items() if name == "maxprint"}


def _compressed(array: Any) -> Any:
    return _sizes(array), array.data, array.indices, array.indptr


def _check_compressed(indices: Any, indptr: Any, major: int, minor: int, count: int) -> None:
    """What SciPy's code in C++ takes for granted."""
    kind = _numbers(indptr).dtype
    if _numbers(indices).dtype is not kind and indices.dtype != kind:
        raise ValueError("places of two kinds")
    if len(indptr) != major + 1 or len(indices) != count:
        raise ValueError("places of another number")
    # What is no array in one piece is refused, too.
    if not sound_rows(indptr, indices, kind.char, minor):
        raise ValueError("rows out of order, or a place outside")


def _compressed_of(cls: Any) -> Callable[[Any], Any]:
    by_columns = cls.__name__.startswith("csc")

    may_be_flat = cls.__name__ == "csr_array"

    def compressed_of(stored: Any) -> Any:
        shape, data, indices, indptr = parts(stored, 4)
        major, minor = shape if len(_shape(shape)) == 2 else (1, *shape)
        if len(shape) == 1 and not may_be_flat:
            raise ValueError("too few dimensions")
        if by_columns:
            major, minor = minor, major
        _check_compressed(indices, indptr, major, minor, len(_data(data)))
        return _made(cls, shape, data=data, indices=indices, indptr=indptr)

    return compressed_of


def _blocks_of(cls: Any) -> Callable[[Any], Any]:
    def blocks_of(stored: Any) -> Any:
        shape, data, indices, indptr = parts(stored, 4)
        count, high, wide = _data(data, 3).shape
        if len(_shape(shape)) != 2 or not high or not wide or shape[0] % high or shape[1] % wide:
            raise ValueError("blocks of another size")
        _check_compressed(indices, indptr, shape[0] // high, shape[1] // wide, count)
        return _made(cls, shape, data=data, indices=indices, indptr=indptr)

    return blocks_of


def _coordinates(array: Any) -> Any:
    coords = getattr(array, "coords", None)
    return _sizes(array), array.data, (array.row, array.col) if coords is None else tuple(coords)


def _coordinates_of(cls: Any) -> Callable[[Any], Any]:
    def coordinates_of(stored: Any) -> Any:
        shape, data, coords = parts(stored, 3)
        if len(_shape(shape)) != len(exact(coords, tuple)) or (
            len(shape) != 2 and cls.__name__ != "coo_array"
        ):
            raise ValueError("another number of dimensions")
        for places, size in zip(coords, shape, strict=True):
            if len(_numbers(places)) != len(_data(data)) or places.dtype != coords[0].dtype:
                raise ValueError("places of another number")
            _check_within(places, size)
        places = {"coords": coords} if _HAS_COORDS else dict(zip(("row", "col"), coords, strict=True))
        # Whether no place occurs twice is found out when it matters.
        return _made(cls, shape, data=data, has_canonical_format=False, **places)

    return coordinates_of


def _diagonals(array: Any) -> Any:
    return _sizes(array), array.data, array.offsets


def _diagonals_of(cls: Any) -> Callable[[Any], Any]:
    def diagonals_of(stored: Any) -> Any:
        shape, data, offsets = parts(stored, 3)
        if len(_shape(shape)) != 2 or len(_numbers(offsets)) != len(_data(data, 2)):
            raise ValueError("diagonals of another number")
        ordered = np.sort(offsets)
        if (ordered[1:] == ordered[:-1]).any():
            raise ValueError("a diagonal that occurs twice")
        return _made(cls, shape, data=data, offsets=offsets)

    return diagonals_of


def _rows(array: Any) -> Any:
    rows = array.tocsr()
    return _sizes(array), rows.data, rows.indices, rows.indptr


def _rows_of(cls: Any) -> Callable[[Any], Any]:
    compressed_of = _compressed_of(sparse.csr_array if "array" in cls.__name__ else sparse.csr_matrix)

    def rows_of(stored: Any) -> Any:
        made = compressed_of(stored).tolil()
        return exact(made, cls)

    return rows_of


def _keys(array: Any) -> Any:
    # In the order of the dict, which is that of the insertions.
    keys = list(array.keys())
    ndim = len(array.shape)
    places = np.array(keys, np.int64).reshape(len(keys), ndim)
    data = np.fromiter(array.values(), array.dtype, len(keys))
    return _sizes(array), data, tuple(np.ascontiguousarray(places[:, at]) for at in range(ndim))


def _keys_of(cls: Any) -> Callable[[Any], Any]:
    coordinates_of = _coordinates_of(sparse.coo_array)

    def keys_of(stored: Any) -> Any:
        coo = coordinates_of(stored)
        if (len(coo.shape) != 2 and cls.__name__ != "dok_array") or len(coo.shape) > 2:
            raise ValueError("another number of dimensions")
        made = cls(coo.shape, dtype=coo.dtype)
        places = [one.tolist() for one in (coo.coords if _HAS_COORDS else (coo.row, coo.col))]
        items = dict(zip(places[0] if len(places) == 1 else zip(*places, strict=True), coo.data, strict=True))
        if hasattr(made, "_dict"):
            made._dict = items
        else:  # before 1.13
            dict.update(made, items)
        return made

    return keys_of
