"""Lisp's values, made of what a file holds of them."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import _core
from ._values import Array, Complex, ComplexSingle, Pathname

if TYPE_CHECKING:
    from collections.abc import Sequence

# NumPy's dtype for each element type, by its place among all (`model::Element`). Those of less than a byte are unpacked.
_DTYPES = (
    "bool", "S1", "<U1", "<i8", "<f4", "<f8", "<i1", "<i2", "<i4", "<i8",
    "u1", "u1", "u1", "u1", "<u2", "<u2", "<u4", "<u4", "<u8", "<u8",
)  # fmt: skip
_BIT, _BASE_CHAR, _CHARACTER, _FIXNUM = range(4)
_UNSIGNED_62 = 18
_NARROW = {_BIT: 1, 10: 2, 11: 4}


def packed(code: int, memory: Any, shape: tuple[int, ...] | None, size: int) -> Any:
    """An array of elements without references. memory: a bytearray of its own, or a view of the input."""
    if shape is None and code in (_BASE_CHAR, _CHARACTER):
        name = "ascii" if code == _BASE_CHAR else "utf-32-le"
        return bytes(memory).decode(name, "surrogatepass")
    try:
        import numpy
    except ImportError:
        raise _core.DecodeError("an array, which takes NumPy: `pip install holdall[numpy]`") from None
    shape = (size,) if shape is None else shape
    width = _NARROW.get(code)
    if width is not None:
        bits = numpy.unpackbits(numpy.frombuffer(memory, "u1"), bitorder="little", count=size * width)
        if width == 1:
            return bits.view(bool).reshape(shape)
        places = bits.reshape(-1, width)
        return (places << numpy.arange(width, dtype="u1")).sum(axis=1, dtype="u1").reshape(shape)
    if code == _CHARACTER and (numpy.frombuffer(memory, "<u4") > sys.maxunicode).any():
        raise _core.DecodeError("expected characters, found a number above the last of Unicode")
    made = numpy.frombuffer(memory, _DTYPES[code]).reshape(shape)
    # In SBCL's memory the lowest bit of these is a tag.
    return made >> 1 if code in (_FIXNUM, _UNSIGNED_62) else made


def array(shape: tuple[int, ...], element_type: Any, fill_pointer: int | None, adjustable: bool) -> Array:
    """An array whose elements are to come."""
    made: Array = object.__new__(Array)
    made.shape = shape
    made.values = None
    made.element_type = element_type
    made.fill_pointer = fill_pointer
    made.adjustable = adjustable
    made.displaced_to = None
    made.offset = 0
    if fill_pointer is not None and (len(shape) != 1 or fill_pointer > shape[0]):
        raise _core.DecodeError("a fill pointer beyond the vector, or of an array that is none")
    return made


def fill_array(made: Array, values: list[Any], offset: int | None) -> None:
    if offset is None:
        made.values = values
    else:
        (made.displaced_to,) = values
        made.offset = offset


def pathname(parts: Sequence[Any]) -> Pathname:
    return Pathname(*parts)


def ratio(parts: Sequence[Any]) -> Fraction:
    numerator, denominator = parts
    if type(numerator) is not int or type(denominator) is not int or denominator == 0:
        raise _core.DecodeError("expected two integers for a ratio, the second of them not 0")
    return Fraction(numerator, denominator)


def complex_of(parts: Sequence[Any]) -> Complex:
    real, imag = parts
    if any(type(part) not in (int, Fraction) for part in parts):
        raise _core.DecodeError("expected two rational numbers for a complex number")
    return Complex(real, imag)


def complex_single(real: float, imag: float) -> ComplexSingle:
    return ComplexSingle(real, imag)
