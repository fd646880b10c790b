"""NumPy objects taken apart for `isomorphic`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.parts import Parts


def numpy_parts(obj: Any) -> Parts:
    """dtype, shape, order and bits; the objects of an object array are children."""
    if isinstance(obj, np.dtype):
        return Parts((obj.descr if obj.names else obj.str, obj.itemsize, obj.isalignedstruct), [])
    if isinstance(obj, np.generic):
        obj = np.asarray(obj)
        return _contents(obj, (_dtype(obj), ()))
    # Arrays with gaps (strided views, broadcast ones) come back as C, like pickle's.
    axes = sorted(range(obj.ndim), key=lambda axis: -obj.strides[axis])
    is_dense = obj.transpose(axes).flags.c_contiguous and not obj.flags.c_contiguous
    order = tuple(axes if is_dense else range(obj.ndim))
    return _contents(obj, (_dtype(obj), obj.shape, order))


def _dtype(array: Any) -> object:
    dtype = array.dtype
    fields = tuple((name, *map(str, dtype.fields[name])) for name in dtype.names) if dtype.names else ()
    return (dtype.str, dtype.itemsize, dtype.isalignedstruct, fields)


def _contents(array: Any, value: object) -> Parts:
    dtype = array.dtype
    if dtype.kind == "O":
        return Parts(value, list(array.ravel(order="C")), "[]")
    if dtype.names:
        # field by field: the padding between them is nobody's data
        fields = [_contents(array[name], name) for name in dtype.names]
        children = [child for field in fields for child in field.children]
        return Parts((value, tuple(field.value for field in fields)), children, "[]")
    if dtype.kind == "T":
        return Parts((value, tuple(array.ravel().tolist())), [])
    if dtype.char in "gG":
        # an 80-bit float sits in 16 bytes, 6 of them left as they were
        raw = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, np.dtype("g").itemsize)
        return Parts((value, raw[:, :10].tobytes() if raw.shape[1] == 16 else raw.tobytes()), [])
    return Parts((value, array.tobytes()), [])
