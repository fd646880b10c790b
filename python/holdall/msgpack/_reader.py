"""`Reader`: objects from streams."""

from __future__ import annotations

import errno
import io
from typing import TYPE_CHECKING, Any

from .. import _core, _files
from ._buffer import MISSING, Buffer, located

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ..resolve import Resolver

# How much is requested of a source at a time; more once a value has turned out to be larger.
_FIRST_READ = 1 << 16
_MOST_READ = 1 << 20


class Reader:
    """Objects from values that follow each other, in a file, on a socket, or in bytes that are fed.

    source: a path; bytes-like data; a binary file object with `read` or `readinto`; a socket or what has its `recv_into` or
        `recv`; or None, to `feed` bytes. More is read from it than the next value may need, so it is the reader's alone from here on.
    type, strict, dec_hook, resolver, ext_hook, limits: as for `loads`.
    max_buffer: the most bytes that one value may take; memory for what waits to be decoded is bounded by it, and by twice what
        is fed at a time.

    Iteration gives an object as soon as its last byte is there. With a source it stops where that ends; fed, it stops where more
    bytes are needed, and goes on after the next `feed`. A value that can't be decoded is passed over: the next call finds the
    next one. After a byte that starts no value, or a value longer than `max_buffer`, nothing can be found, and the error stays.

    Raises DecodeError, ValidationError: as `loads`, with `.offset` from the start of the stream.
    Raises TruncatedError: the source ended within a value. Raises LimitError: a value is longer than `max_buffer`.

    >>> reader = Reader(type=list[int])
    >>> reader.feed(dumps([1, 2]) + dumps([3])[:1])
    >>> list(reader)
    [[1, 2]]
    >>> reader.feed(dumps([3])[1:])
    >>> list(reader), reader.offset
    ([[3]], 5)
    >>> with open("log.msgpack", "wb") as file:
    ...     for number in range(3):
    ...         dump({"number": number}, file)
    >>> with Reader("log.msgpack") as reader:
    ...     [record["number"] for record in reader]
    [0, 1, 2]
    """

    def __init__(
        self,
        source: Any = None,
        *,
        type: Any = Any,
        strict: bool = True,
        dec_hook: Callable[[type[Any], Any], Any] | None = None,
        resolver: Resolver | None = None,
        ext_hook: Callable[[int, bytes], Any] | None = None,
        limits: _core.Limits | None = None,
        max_buffer: int = 100 << 20,
    ) -> None:
        decoder = _core.MsgpackDecoder(
            type=type, strict=strict, dec_hook=dec_hook, resolver=resolver, ext_hook=ext_hook, limits=limits
        )
        if max_buffer < 1:
            raise _core.HoldallError(f"max_buffer: expected 1 or more, got {max_buffer}")
        self._decode = decoder.decode
        self._max_buffer = max_buffer
        self._buffer = Buffer()
        self._opened: Any = None
        self._fill: Callable[[memoryview], int] | None = None
        path = _files.path_of(source)
        if path is not None:
            self._opened = source = open(path, "rb", buffering=0)  # noqa: SIM115 - `close` closes it
        elif source is not None and (data := _files.data_of(source)) is not None:
            source = io.BytesIO(data)
        if source is not None:
            self._fill = _filler(source)

    @property
    def offset(self) -> int:
        """Bytes of the stream up to the end of the last object that was given."""
        return self._buffer.offset

    def feed(self, data: Any) -> None:
        """Take in the next bytes of the stream, as many as there are; `data` may be used anew afterwards.

        Raises HoldallError: the reader has a source. Raises RuntimeError: called by a hook of the reader's.
        """
        if self._fill is not None:
            raise _core.HoldallError("feed: this reader reads from its source")
        self._buffer.feed(data)

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> Any:
        buffer = self._buffer
        while True:
            value = buffer.decode_next(self._decode, self._max_buffer)
            if value is not MISSING:
                return value
            if self._fill is None:
                raise StopIteration
            if not buffer.fill(self._fill, min(max(_FIRST_READ, len(buffer)), _MOST_READ)):
                if len(buffer):
                    raise located(
                        _core.TruncatedError, "truncated: the source ends within a value", buffer.looked_at
                    )
                raise StopIteration

    def close(self) -> None:
        """Close the file that was opened for a path. A file object or socket that was given stays open."""
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _filler(source: Any) -> Callable[[memoryview], int]:
    """A function that reads what a source has available into a buffer, at least a byte unless it has ended;
    returns the number of bytes.
    """
    for name in ("recv_into", "readinto1"):
        into = getattr(source, name, None)
        if into is not None:
            return _checked(into)
    # `read1` and `recv` return what is available; `read` would wait for all that was requested.
    for name in ("recv", "read1"):
        part = getattr(source, name, None)
        if part is not None:
            return _copying(part)
    return _files.filler(source)


def _checked(into: Callable[[memoryview], int | None]) -> Callable[[memoryview], int]:
    def fill(buffer: memoryview) -> int:
        count = into(buffer)
        if count is None:
            raise _nothing_yet()
        return count

    return fill


def _copying(read: Callable[[int], bytes | None]) -> Callable[[memoryview], int]:
    def fill(buffer: memoryview) -> int:
        part = read(len(buffer))
        if part is None:
            raise _nothing_yet()
        buffer[: len(part)] = part
        return len(part)

    return fill


def _nothing_yet() -> BlockingIOError:
    return BlockingIOError(errno.EAGAIN, "the source has no data yet, and doesn't wait for it")
