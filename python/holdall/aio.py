"""Logs over asyncio's streams: `AsyncWriter` and `AsyncReader`.

Encoding and decoding run on the event loop's thread, because a record takes microseconds; asyncio does the
waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._log import Reader, Writer

if TYPE_CHECKING:
    import asyncio

    from . import _core

# How much is requested of a stream at once.
_CHUNK = 1 << 16


class AsyncWriter:
    """Appends records to an `asyncio.StreamWriter`.

    options: as for `holdall.Writer`, with a `seal` as well. Each record is handed to the stream at once.

    >>> import asyncio
    >>> async def main():
    ...     async def greet(reader, writer):
    ...         async with holdall.aio.AsyncWriter(writer) as log:
    ...             await log.write({"hello": "there"})
    ...         writer.close()
    ...     server = await asyncio.start_server(greet, "127.0.0.1", 0)
    ...     async with server:
    ...         reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    ...         records = [record async for record in holdall.aio.AsyncReader(reader)]
    ...         writer.close()
    ...         return records
    >>> asyncio.run(main())
    [{'hello': 'there'}]
    """

    def __init__(self, stream: asyncio.StreamWriter, **options: Any) -> None:
        self._stream = stream
        self._log = Writer(_Sink(stream), **{"sync": "always", **options})

    async def write(self, obj: object, /) -> int:
        """Append the graph of `obj`, and wait until the stream takes more; gives the record's number."""
        number = self._log.write(obj)
        await self._stream.drain()
        return number

    async def close(self) -> None:
        """Hand all that is left to the stream, which stays open."""
        self._log.close()
        await self._stream.drain()

    async def __aenter__(self) -> AsyncWriter:
        return self

    async def __aexit__(self, *args: object) -> None:
        await self.close()


class _Sink:
    """A stream as the file object that a `Writer` needs: it accepts all bytes."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)


class AsyncReader:
    """Goes through the records that come from an `asyncio.StreamReader`, as `async for`.

    options: as for `holdall.Reader`. With a `seal`, nothing of a record is read before the seal of its piece was compared.

    Raises TruncatedError: the stream ends within a record (unless `repair`). Raises SealError: as `holdall.Reader`.
    """

    def __init__(self, stream: asyncio.StreamReader, **options: Any) -> None:
        self._stream = stream
        self._log = Reader(None, **options)
        self._ended = False

    def __aiter__(self) -> AsyncReader:
        return self

    async def __anext__(self) -> Any:
        while True:
            for record in self._log:
                return record
            if self._ended:
                raise StopAsyncIteration
            data = await self._stream.read(_CHUNK)
            if data:
                self._log.feed(data)
            else:
                self._ended = True
                self._log.end()

    async def read(self) -> Any:
        """The next record. Raises EOFError where none comes any more."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise EOFError("no more records") from None

    @property
    def damage(self) -> list[_core.Damage]:
        """What was passed over so far."""
        return self._log.damage
