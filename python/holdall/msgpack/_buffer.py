"""The bytes of a stream that have not become values yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Callable

# What `decode_next` returns if there is no complete value; None is a value.
MISSING: Final = object()
# A larger buffer is released when it is empty, so that one large value doesn't keep its memory as long as the
# stream.
_KEEP = 1 << 20
_LEAST = 1 << 12


class Buffer:
    """Takes bytes in pieces of any size and returns complete values, in time linear in the bytes.

    The bytes are `_data[_start:_end]`. Up to `_scanned` they were inspected, where `_pending` values of the
    first one are incomplete. Bytes before `_start` are done with; those from `_end` on are free space.
    """

    __slots__ = ("_busy", "_data", "_end", "_gone", "_pending", "_scanned", "_start")

    def __init__(self) -> None:
        self._data = bytearray()
        self._start = self._scanned = self._end = 0
        self._pending = 1
        # How many bytes of the stream came before `_data`.
        self._gone = 0
        self._busy = False

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def offset(self) -> int:
        """How many bytes of the stream are done with."""
        return self._gone + self._start

    @property
    def looked_at(self) -> int:
        """How many bytes of the stream belong to complete tokens."""
        return self._gone + self._scanned

    def feed(self, data: Any) -> None:
        with memoryview(data) as given, given.cast("B") as part:
            self._make_room(len(part))
            self._data[self._end : self._end + len(part)] = part
            self._end += len(part)

    def fill(self, read: Callable[[memoryview], int], count: int) -> int:
        """Calls `read` to put up to `count` bytes into the buffer; returns how many came."""
        self._make_room(count)
        with memoryview(self._data) as whole, whole[self._end : self._end + count] as room:
            came = read(room)
        self._end += came
        return came

    def next_end(self) -> int | None:
        """The size of the first value; None while it is incomplete.

        Raises DecodeError: a byte that starts no value. `.offset` counts from the start of the stream.
        """
        with memoryview(self._data) as whole, whole[: self._end] as known:
            try:
                self._scanned, self._pending = _core.msgpack_scan(known, self._scanned, self._pending)
            except _core.DecodeError as error:
                move(error, self._gone)
                raise
        return None if self._pending else self._scanned - self._start

    def decode_next(self, decode: Callable[[memoryview], Any], most: int | None = None) -> Any:
        """The first value, made by `decode` from its bytes; MISSING while it is incomplete. It is removed
        even if `decode` fails.

        Raises LimitError: it takes more than `most` bytes.
        """
        self._refuse_hooks()
        length = self.next_end()
        if most is not None and (len(self) >= most if length is None else length > most):
            raise located(_core.LimitError, f"a value longer than max_buffer={most} bytes", self.offset)
        if length is None:
            return MISSING
        start = self._start
        self.advance(length)
        self._busy = True
        try:
            with memoryview(self._data) as whole, whole[start : start + length] as value:
                return decode(value)
        except _core.DecodeError as error:
            move(error, self._gone + start)
            raise
        finally:
            self._busy = False

    @property
    def owed(self) -> int:
        """How many values the first one still lacks, each of at least one byte."""
        return self._pending

    def peek(self, count: int) -> memoryview:
        """Up to `count` bytes from the first on; to be released before the next call."""
        return memoryview(self._data)[self._start : min(self._end, self._start + count)]

    def advance(self, count: int) -> None:
        """Remove `count` bytes; a value starts after them."""
        self._refuse_hooks()
        self._start += count
        self._scanned = self._start
        self._pending = 1

    def _refuse_hooks(self) -> None:
        # The decoder is reading from `_data`, whose bytes these operations could move.
        if self._busy:
            raise RuntimeError("a stream can't be fed or read by a hook that it called")

    def _make_room(self, count: int) -> None:
        self._refuse_hooks()
        have = len(self)
        if not have and len(self._data) > _KEEP:
            self._data = bytearray()
            self._gone += self._start
            self._start = self._scanned = self._end = 0
        if self._end + count <= len(self._data):
            return
        with memoryview(self._data) as whole, whole[self._start : self._end] as kept:
            # Bytes are moved only if as many have been removed, or if the capacity doubles: so moving costs
            # no more than receiving them.
            if have <= self._start and have + count <= len(self._data):
                whole[:have] = kept
            else:
                larger = bytearray(max(have + count, 2 * have, _LEAST))
                larger[:have] = kept
                self._data = larger
        self._gone += self._start
        self._scanned -= self._start
        self._start, self._end = 0, have


def located(kind: type[_core.DecodeError], why: str, offset: int) -> _core.DecodeError:
    """An error at an offset, worded like the native ones."""
    error = kind(f"{why} - at byte {offset}")
    error.offset = offset
    return error


def move(error: _core.DecodeError, by: int) -> None:
    """Make an offset that counts from the start of a value count from the start of the stream."""
    offset = getattr(error, "offset", None)
    if not by or offset is None:
        return
    ending = f" - at byte {offset}"
    text = str(error)
    if text.endswith(ending):
        error.args = (f"{text.removesuffix(ending)} - at byte {offset + by}",)
    error.offset = offset + by
