"""What Python's values become in Lisp, where the native side doesn't know by itself."""

from __future__ import annotations

import array
import enum
import sys
from collections import deque
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from .. import _core
from ._tables import USUAL, HashTable, Pairs, header_of
from ._values import Array, Complex, ComplexSingle, Pathname, Type, keyword

# The first item of an answer; the others are its arguments.
VALUE, VECTOR, PACKED, ARRAY, TABLE, PATHNAME, COMPLEX, COMPLEX_SINGLE, RATIO = range(9)

# SBCL's least size of a hash table.
_LEAST_SIZE = 7
_CODES = {"f4": 4, "f8": 5, "i1": 6, "i2": 7, "i4": 8, "i8": 9, "u1": 13, "u2": 15, "u4": 17, "u8": 19}


def lower(obj: Any) -> tuple[Any, ...]:
    """How to write an object that is no leaf, list, tuple, bytes, or instance of a mapped class.

    Raises EncodeError: Lisp has no type for it.
    """
    cls = type(obj)
    if cls is dict:
        return TABLE, len(obj), max(len(obj), _LEAST_SIZE), list(USUAL)
    if cls is HashTable or cls is Pairs:
        pairs = obj.items() if cls is HashTable else obj
        values = header_of(obj)
        for key, value in pairs:
            values += (key, value)
        return TABLE, len(obj), max(len(obj), _LEAST_SIZE), values
    if cls is Fraction:
        return RATIO, [obj.numerator, obj.denominator]
    if cls is Complex:
        return COMPLEX, [obj.real, obj.imag]
    if cls is ComplexSingle:
        return COMPLEX_SINGLE, obj.real, obj.imag
    if cls is Array:
        return _array(obj)
    if cls is Pathname:
        return PATHNAME, [obj.host, obj.device, obj.directory, obj.name, obj.type, obj.version]
    if cls is Type:
        raise _core.EncodeError("can't store a `Type` by itself: it describes a LispObject")
    if issubclass(cls, enum.Enum):
        return VALUE, keyword(obj.name.upper().replace("_", "-"))
    if cls in (set, frozenset, deque, range) or isinstance(obj, list):
        return VALUE, list(obj)
    if isinstance(obj, tuple):
        return VALUE, tuple(obj)
    if isinstance(obj, dict):
        return VALUE, dict(obj)
    bases: tuple[Any, ...] = (str, int, float, complex, bytes)
    for base in bases:
        if isinstance(obj, base):
            return VALUE, base(obj)
    if isinstance(obj, PurePath):
        return VALUE, Pathname.of(obj.as_posix())
    if isinstance(obj, array.array | memoryview):
        return _buffer(obj)
    if "numpy" in sys.modules:
        lowered = _numpy(obj)
        if lowered is not None:
            return lowered
    name = f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")
    raise _core.EncodeError(
        f"can't store `{name}` for Lisp: say which of its types the class stands for, with"
        f" `holdall.lisp.struct('PACKAGE::{cls.__name__.upper()}', {cls.__name__})`, or convert it by `enc_hook`"
    )


def _array(obj: Array) -> tuple[Any, ...]:
    element = list(obj.element_type) if isinstance(obj.element_type, tuple) else obj.element_type
    displaced = obj.values is None
    if obj.values is not None and len(obj.values) != obj.size:
        raise _core.EncodeError("an Array with another number of values than its shape says")
    values = [element, obj.offset, obj.displaced_to] if displaced else [element, *obj.flat()]
    return ARRAY, obj.shape, obj.fill_pointer, obj.adjustable, displaced, values


def _buffer(obj: Any) -> tuple[Any, ...]:
    view = memoryview(obj)
    kinds = {
        "b": "i",
        "h": "i",
        "i": "i",
        "l": "i",
        "q": "i",
        "B": "u",
        "H": "u",
        "I": "u",
        "L": "u",
        "Q": "u",
        "c": "u",
    }
    kind = kinds.get(view.format, "f" if view.format in ("f", "d") else "")
    code = _CODES.get(f"{kind}{view.itemsize}")
    if code is None or sys.byteorder != "little":
        raise _core.EncodeError(f"can't store a buffer of the format {view.format!r} for Lisp")
    return _packed(code, view.shape or (), view.tobytes())


def _packed(code: int, shape: tuple[int, ...], data: Any) -> tuple[Any, ...]:
    return (VECTOR, code, shape[0], data) if len(shape) == 1 else (PACKED, code, shape, data)


def _numpy(obj: Any) -> tuple[Any, ...] | None:
    import numpy

    if isinstance(obj, numpy.generic):
        return (VALUE, complex(obj)) if isinstance(obj, numpy.complexfloating) else (VALUE, obj.item())
    if type(obj) is not numpy.ndarray:
        return None
    kind, size = obj.dtype.kind, obj.dtype.itemsize
    if kind == "b":
        return _packed(0, obj.shape, numpy.packbits(obj.ravel(), bitorder="little").tobytes())
    if kind == "S" and size == 1:
        return _packed(1, obj.shape, obj.tobytes())
    if kind == "U" and size == 4:
        return _packed(2, obj.shape, obj.astype("<U1").tobytes())
    code = _CODES.get(f"{kind}{size}")
    if code is not None:
        little = obj.astype(obj.dtype.newbyteorder("<"), copy=False)
        return _packed(code, obj.shape, numpy.ascontiguousarray(little))
    if kind in "Oc":
        return _array(Array(obj.shape, obj.ravel().tolist()))
    if kind == "f":
        return _numpy(obj.astype("f4" if size < 4 else "f8"))
    raise _core.EncodeError(f"can't store an array of the dtype {obj.dtype} for Lisp")
