"""`ExtType` and `Timestamp`."""

from __future__ import annotations

from typing import NamedTuple

from ..._values import Timestamp

__all__ = ["ExtType", "Timestamp"]


class _Fields(NamedTuple):
    code: int
    data: bytes


class ExtType(_Fields):
    """An application's own type, as a named tuple: a code of 0 to 127, and bytes.

    Raises TypeError: `code` is no int, or `data` no bytes. Raises ValueError: `code` beyond its bounds.

    >>> code, data = unpackb(packb(ExtType(5, b"abc")))
    >>> code, data
    (5, b'abc')
    """

    __slots__ = ()

    def __new__(cls, code: int, data: bytes) -> ExtType:
        if not isinstance(code, int):
            raise TypeError("code must be int")
        if not isinstance(data, bytes):
            raise TypeError("data must be bytes")
        if not 0 <= code <= 127:
            raise ValueError("code must be 0~127")
        return super().__new__(cls, code, data)
