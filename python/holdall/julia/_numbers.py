"""Julia's numbers and characters for which Python has no type: subclasses that keep their type for writing."""

from __future__ import annotations

import operator
import struct
from typing import Any, final

__all__ = [
    "Char",
    "Float16",
    "Float32",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Int128",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt128",
]


class _Int(int):
    """An int of a fixed width. Arithmetic gives plain ints."""

    __slots__ = ()
    _SIZE = 0
    _LEAST = 0
    _MOST = 0

    def __init_subclass__(cls, bits: int = 0, signed: bool = True) -> None:
        # A subclass without bits is an enumeration.
        if bits:
            cls._SIZE = bits // 8
            cls._LEAST = -(1 << bits - 1) if signed else 0
            cls._MOST = (1 << bits - signed) - 1

    def __new__(cls, value: Any = 0) -> Any:
        value = operator.index(value)
        if not cls._LEAST <= value <= cls._MOST:
            raise ValueError(f"{cls.__name__}: expected {cls._LEAST} to {cls._MOST}")
        return int.__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int.__repr__(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)

    def _bytes(self) -> bytes:
        return int.to_bytes(self, self._SIZE, "little", signed=self._LEAST < 0)


class Int8(_Int, bits=8):
    """Julia's Int8: an int of 8 bits, -128 to 127. Raises ValueError beyond.

    >>> Int8(-8), Int8(3) + 1
    (Int8(-8), 4)
    """

    __slots__ = ()


class Int16(_Int, bits=16):
    """Julia's Int16: an int of 16 bits. Raises ValueError beyond.

    >>> Int16(-300)
    Int16(-300)
    """

    __slots__ = ()


class Int32(_Int, bits=32):
    """Julia's Int32: an int of 32 bits. Raises ValueError beyond.

    >>> Int32(7) == 7
    True
    """

    __slots__ = ()


class Int64(_Int, bits=64):
    """Julia's Int64, as which plain ints are written too; what is loaded is a plain int. Raises ValueError beyond 64 bits.

    An enumeration is based on it that stands for an `@enum` of Int64:

    >>> import enum
    >>> class Size(Int64, enum.Enum):
    ...     HUGE = 9_000_000_000
    >>> Int64(7)
    Int64(7)
    """

    __slots__ = ()


class Int128(_Int, bits=128):
    """Julia's Int128: an int of 128 bits. Raises ValueError beyond.

    >>> Int128(2**100)
    Int128(1267650600228229401496703205376)
    """

    __slots__ = ()


class UInt8(_Int, bits=8, signed=False):
    """Julia's UInt8: 0 to 255. Raises ValueError beyond.

    >>> UInt8(254)
    UInt8(254)
    """

    __slots__ = ()


class UInt16(_Int, bits=16, signed=False):
    """Julia's UInt16: 0 to 65,535. Raises ValueError beyond.

    >>> UInt16(0xFEDC)
    UInt16(65244)
    """

    __slots__ = ()


class UInt32(_Int, bits=32, signed=False):
    """Julia's UInt32: an int of 32 bits, 0 or more. Raises ValueError beyond.

    >>> UInt32(1 << 31)
    UInt32(2147483648)
    """

    __slots__ = ()


class UInt64(_Int, bits=64, signed=False):
    """Julia's UInt64: an int of 64 bits, 0 or more. Raises ValueError beyond.

    >>> UInt64(2**64 - 1)
    UInt64(18446744073709551615)
    """

    __slots__ = ()


class UInt128(_Int, bits=128, signed=False):
    """Julia's UInt128: an int of 128 bits, 0 or more. Raises ValueError beyond.

    >>> UInt128(2**127 + 5)
    UInt128(170141183460469231731687303715884105733)
    """

    __slots__ = ()


class _Float(float):
    __slots__ = ()
    _CODE = ""
    # Masks of the fraction, and of an exponent of all ones.
    _FRACTION = 0
    _NAN = 0

    def __new__(cls, value: Any = 0.0) -> Any:
        value = float(value)
        # The bits of a NaN are kept: rounding would change them.
        if value == value:
            try:
                (value,) = struct.unpack(cls._CODE, struct.pack(cls._CODE, value))
            except OverflowError:
                value = float("inf") if value > 0 else float("-inf")
        return float.__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __str__(self) -> str:
        if self != self or self in (float("inf"), float("-inf")):
            return float.__repr__(self)
        digits = 1
        # The shortest text that rounds to the same number.
        while True:
            text = f"{float(self):.{digits}g}"
            try:
                (back,) = struct.unpack(self._CODE, struct.pack(self._CODE, float(text)))
            except OverflowError:
                back = None
            if back == self:
                return repr(float(text))
            digits += 1

    def _bytes(self) -> bytes:
        if self == self:
            rounded: bytes = struct.pack(self._CODE, self)
            return rounded
        # By hand, because a conversion would make every NaN quiet.
        (bits,) = struct.unpack("<Q", struct.pack("<d", self))
        fraction = (bits & (1 << 52) - 1) >> 52 - self._FRACTION
        sign = bits >> 63 << 8 * struct.calcsize(self._CODE) - 1
        quiet = 1 << self._FRACTION - 1
        bits = sign | self._NAN | (fraction or quiet)
        return int(bits).to_bytes(struct.calcsize(self._CODE), "little")


class Float16(_Float):
    """Julia's Float16: rounded to 11 bits. Of a NaN the 10 bits remain that Float16 has.

    >>> Float16(0.1), Float16(0.1) == 0.1
    (Float16(0.1), False)
    """

    __slots__ = ()
    _CODE, _FRACTION, _NAN = "<e", 10, 0x7C00


class Float32(_Float):
    """Julia's Float32: rounded to 24 bits. Of a NaN the 23 bits remain that Float32 has. Arithmetic gives plain floats.

    >>> Float32(0.1), float(Float32(0.1))
    (Float32(0.1), 0.10000000149011612)
    """

    __slots__ = ()
    _CODE, _FRACTION, _NAN = "<f", 23, 0x7F80_0000


@final
class Char(str):
    """Julia's Char: a text of one character.

    A byte that is no text in Julia is a lone surrogate, as in `surrogateescape`.

    Raises ValueError: not one character.

    >>> Char("é"), Char("é") == "é"
    (Char('é'), True)
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Char:
        if len(text) != 1:
            raise ValueError("Char: expected one character")
        return str.__new__(cls, text)

    def __repr__(self) -> str:
        return f"Char({str.__repr__(self)})"

    def _bytes(self) -> bytes:
        """The UTF-8, starting in the highest of four bytes."""
        return self.encode("utf-8", "surrogateescape").ljust(4, b"\0")[::-1]


def read_char(data: bytes) -> Char | None:
    """None if the bits are neither a character nor a single byte."""
    if len(data) != 4:
        return None
    # Trailing zeros are padding, unless the character itself is zero.
    raw = data[::-1].rstrip(b"\0") or b"\0"
    text = raw.decode("utf-8", "surrogateescape")
    return Char(text) if len(text) == 1 else None
