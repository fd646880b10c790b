"""The first bytes of values, for writing and reading them separately from the content.

The numbers come from the core's encoder, because its tag table is the only place that defines them.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from ... import _core

_ARRAY_FIX: Final = _core.msgpack_dumps([])[0]
_MAP_FIX: Final = _core.msgpack_dumps({})[0]
_ARRAY_16: Final = _core.msgpack_dumps([None] * 16)[0]
_MAP_16: Final = _core.msgpack_dumps(dict.fromkeys(range(16)))[0]
_STR_FIX: Final = _core.msgpack_dumps("")[0]
_STR_8: Final = _core.msgpack_dumps("-" * 32)[0]
# The tag before that of 64-bit floats.
_FLOAT_32: Final = _core.msgpack_dumps(1.0)[0] - 1
_SHORT_TEXT: Final = 32
# Counts below this are part of the tag.
_FIX: Final = 16
MOST: Final = 2**32 - 1


class Head(NamedTuple):
    is_map: bool
    length: int
    """Items of an array, pairs of a map."""
    size: int
    """Bytes of the head."""


def array(count: int) -> bytes:
    return _head(_ARRAY_FIX, _ARRAY_16, count)


def map_(count: int) -> bytes:
    return _head(_MAP_FIX, _MAP_16, count)


def _head(fix: int, wide: int, count: int) -> bytes:
    if count < _FIX:
        return bytes((fix + count,))
    if count < 1 << 16:
        return bytes((wide,)) + count.to_bytes(2, "big")
    return bytes((wide + 1,)) + count.to_bytes(4, "big")


def old_text(count: int) -> bytes:
    """The head of `count` bytes, of text or not, before binary data had types of its own: there is no head of
    two bytes.
    """
    if count < _SHORT_TEXT:
        return bytes((_STR_FIX + count,))
    if count < 1 << 16:
        return bytes((_STR_8 + 1,)) + count.to_bytes(2, "big")
    return bytes((_STR_8 + 2,)) + count.to_bytes(4, "big")


def single(value: float) -> bytes:
    """A float in 32 bits, with its tag. Raises OverflowError: it doesn't fit."""
    return bytes((_FLOAT_32,)) + struct.pack(">f", value)


def size(tag: int) -> int:
    """The size of the head of an array or map that begins with `tag`; 0 for other tags."""
    if _ARRAY_FIX <= tag < _ARRAY_FIX + _FIX or _MAP_FIX <= tag < _MAP_FIX + _FIX:
        return 1
    if tag in (_ARRAY_16, _MAP_16):
        return 3
    if tag in (_ARRAY_16 + 1, _MAP_16 + 1):
        return 5
    return 0


def is_map(tag: int) -> bool:
    return _MAP_FIX <= tag < _MAP_FIX + _FIX or tag in (_MAP_16, _MAP_16 + 1)


def read(data: memoryview, at: int) -> Head | None:
    """The head at `at`, which must be complete; None for other values."""
    tag = data[at]
    width = size(tag)
    if not width:
        return None
    if width == 1:
        length = tag - (_MAP_FIX if is_map(tag) else _ARRAY_FIX)
    else:
        length = int.from_bytes(data[at + 1 : at + width], "big")
    return Head(is_map(tag), length, width)
