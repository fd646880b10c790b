"""`Unpacker`."""

from __future__ import annotations

from typing import Any

from ... import _core
from .._buffer import MISSING, Buffer
from . import _heads
from ._decoding import Decoding
from .exceptions import BufferFull, FormatError, OutOfData

_MOST_BUFFER = 2**32 - 1
_MOST_READ = 1 << 20


class Unpacker:
    """Unpacks values that follow each other, from a file object or from bytes that are fed.

    file_like: has `read`, which is asked for `read_size` bytes at a time; None to `feed`.
    use_list: arrays come as lists, else as tuples. raw: text comes as bytes. unicode_errors: as for `bytes.decode`.
    timestamp: points in time come as 0 `Timestamp`, 1 float of seconds, 2 int of nanoseconds, 3 datetime in UTC.
    strict_map_key: keys must be str or bytes.
    object_hook, object_pairs_hook, list_hook: called with each map as dict or list of pairs, and with each array; what they give
        takes its place. With one of them all is put together in Python.
    ext_hook: called as `ext_hook(code, data)`.
    max_buffer_size: the most bytes that may wait, and that a value may take; 0 is 2**32 - 1.
    max_str_len, max_bin_len, max_array_len, max_map_len, max_ext_len: bounds of lengths; -1 is none but `max_buffer_size`. Timestamps
        are not counted as ext.

    Raises what `unpackb` does, but OutOfData where bytes are missing; and BufferFull.

    >>> unpacker = Unpacker()
    >>> unpacker.feed(packb([1, 2]) + packb("abc")[:2])
    >>> list(unpacker)
    [[1, 2]]
    >>> unpacker.feed(packb("abc")[2:])
    >>> unpacker.unpack(), unpacker.tell()
    ('abc', 7)
    """

    def __init__(
        self,
        file_like: Any = None,
        read_size: int = 0,
        *,
        max_buffer_size: int = 100 << 20,
        **kwargs: Any,
    ) -> None:
        self._read = None
        if file_like is not None:
            self._read = file_like.read
            if not callable(self._read):
                raise TypeError("`file_like.read` must be a callable.")
        self._max_buffer_size = max_buffer_size or _MOST_BUFFER
        self._read_size = read_size or min(self._max_buffer_size, _MOST_READ)
        if self._read_size > self._max_buffer_size:
            raise ValueError("read_size should be less or equal to max_buffer_size")
        self._decoding = Decoding(**kwargs)
        self._buffer = Buffer()

    def feed(self, next_bytes: Any) -> None:
        """Take in more bytes. Raises BufferFull: with them more than `max_buffer_size` would wait.

        Raises RuntimeError: called by a hook.
        """
        if self._read is not None:
            raise AssertionError("unpacker.feed() is not be able to use with `file_like`.")
        if len(self._buffer) + memoryview(next_bytes).nbytes > self._max_buffer_size:
            raise BufferFull
        if isinstance(next_bytes, memoryview) and not next_bytes.c_contiguous:
            next_bytes = next_bytes.tobytes()
        self._buffer.feed(next_bytes)

    def unpack(self) -> Any:
        """The next value."""
        while True:
            try:
                value = self._buffer.decode_next(self._decoding.value)
            except _core.DecodeError as error:
                raise FormatError(str(error)) from error
            if value is not MISSING:
                return value
            self._refuse_too_long()
            self._more()

    def skip(self) -> None:
        """Pass over the next value."""
        while True:
            try:
                length = self._buffer.next_end()
            except _core.DecodeError as error:
                raise FormatError(str(error)) from error
            if length is not None:
                return self._buffer.advance(length)
            self._more()

    def read_array_header(self) -> int:
        """How many items the next value has, which is an array; they are the next values."""
        return self._read_header(is_map=False)

    def read_map_header(self) -> int:
        """How many pairs the next value has, which is a map; their keys and values are the next values, in turns."""
        return self._read_header(is_map=True)

    def read_bytes(self, n: int) -> bytes:
        """The next `n` bytes, whatever they are; fewer where there are no more."""
        try:
            while len(self._buffer) < n:
                self._more()
        except OutOfData:
            n = len(self._buffer)
        with self._buffer.peek(n) as seen:
            found = bytes(seen)
        self._buffer.advance(n)
        return found

    def tell(self) -> int:
        """How many bytes the values took that were given."""
        return self._buffer.offset

    def __iter__(self) -> Unpacker:
        return self

    def __next__(self) -> Any:
        try:
            return self.unpack()
        except OutOfData:
            raise StopIteration from None

    def _read_header(self, *, is_map: bool) -> int:
        while not len(self._buffer):
            self._more()
        with self._buffer.peek(1) as first:
            tag = first[0]
        size = _heads.size(tag)
        if not size or _heads.is_map(tag) != is_map:
            raise ValueError("Unexpected type header on stream")
        while len(self._buffer) < size:
            self._more()
        with self._buffer.peek(size) as seen:
            head = _heads.read(seen, 0)
        assert head is not None  # its tag is that of a head
        self._decoding.check_length(head)
        self._buffer.advance(head.size)
        return head.length

    def _refuse_too_long(self) -> None:
        """Raises ValueError: an incomplete value claims to be larger than the buffer."""
        if self._read is not None:
            # What fits is read first, and then BufferFull says the same.
            return
        least = self._buffer.looked_at - self._buffer.offset + self._buffer.owed
        if least > self._max_buffer_size:
            raise ValueError(
                f"a value of {least} bytes or more exceeds max_buffer_size({self._max_buffer_size})"
            )

    def _more(self) -> None:
        """Read the next piece of the file."""
        if self._read is None:
            raise OutOfData("No more data to unpack.")
        room = self._max_buffer_size - len(self._buffer)
        if room <= 0:
            raise BufferFull
        part = self._read(min(self._read_size, room))
        if not part:
            raise OutOfData("No more data to unpack.")
        self._buffer.feed(part)
