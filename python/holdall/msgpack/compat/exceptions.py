"""What packing and unpacking raise, under msgpack-python's names and with its bases."""

from __future__ import annotations

from typing import Any


class UnpackException(Exception):
    """Base of some of what unpacking raises; a ValueError or TypeError may come too.

    >>> issubclass(OutOfData, UnpackException)
    True
    """


class BufferFull(UnpackException):
    """More bytes wait than `max_buffer_size` allows.

    >>> Unpacker(max_buffer_size=2).feed(b"abc")
    Traceback (most recent call last):
    BufferFull
    """


class OutOfData(UnpackException):
    """An `Unpacker` needs more bytes for the next value.

    >>> Unpacker().unpack()
    Traceback (most recent call last):
    OutOfData
    """


class FormatError(ValueError, UnpackException):
    """Bytes that are no MessagePack.

    >>> unpackb(b"\\xc1")
    Traceback (most recent call last):
    FormatError
    """


class StackError(ValueError, UnpackException):
    """Values nested deeper than 1,024.

    >>> unpackb(b"\\x91" * 2000 + b"\\xc0")
    Traceback (most recent call last):
    StackError
    """


class ExtraData(ValueError):
    """Bytes are left over: `unpacked` is what came before them, `extra` what they are.

    >>> try:
    ...     unpackb(b"\\x01\\x02")
    ... except ExtraData as error:
    ...     error.unpacked, error.extra
    (1, b'\\x02')
    """

    def __init__(self, unpacked: Any, extra: bytes) -> None:
        super().__init__(unpacked, extra)
        self.unpacked = unpacked
        self.extra = extra

    def __str__(self) -> str:
        # The arguments contain the user's data, which are not shown.
        return "unpack(b) received extra data."


# Names of older versions.
UnpackValueError = ValueError
PackException = Exception
PackValueError = ValueError
PackOverflowError = OverflowError
