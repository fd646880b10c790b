"""Files that lie elsewhere: read by ranges, through fsspec, and only what is touched of them.

One door, `remote_of`: a `Remote` of a URL, or of one of fsspec's files; None for everything else. S3 and HTTP are asked with
conditions, so that each answer is of the object that the first one was of. Ranges that a broken connection cut short are gone on with
where they were cut.
"""

from __future__ import annotations

import abc
import asyncio
import errno
import os
import re
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from . import _core, _system

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future, ThreadPoolExecutor

_T = TypeVar("_T")
# `s3://bucket/key`, and fsspec's chains: `simplecache::s3://...`. A letter and a colon alone are a drive of Windows.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")
# What comes with an object's size, as an index does in most files.
TAIL = 1 << 15
# No request asks for more: what is cut short has to be asked for again.
_PIECE = 1 << 25
# Bytes between two ranges that are as soon had as not.
_GAP = 1 << 15
_TRIES = 6
_FIRST_PAUSE = 0.1
# What tells one state of an object from another, in the information of file systems that answer no conditional requests.
_STATES = (
    "size",
    "ETag",
    "etag",
    "generation",
    "version_id",
    "mtime",
    "created",
    "LastModified",
    "last_modified",
    "md5Hash",
)
_LIBRARIES = ("aiohttp", "botocore", "aiobotocore", "urllib3", "requests", "httpx", "http", "socket", "ssl")
_CHANGED, _NONE_LEFT = 412, 416


class ChangedError(_core.HoldallError):
    """An object of a network's storage is not the one any more that was opened.

    What was read of it is of one state, and nothing of another is mixed with it. Open it again.

    >>> error = holdall.ChangedError("s3://models/a.hold has changed since it was opened")
    >>> isinstance(error, holdall.HoldallError)
    True
    """


def is_url(file: object) -> bool:
    return isinstance(file, str) and _URL.match(file) is not None


def remote_of(file: Any) -> Remote | None:
    """What reads ranges of a URL, of what `fsspec.open` gives, of an open file of fsspec's that stands at its start, or of a path of
    universal_pathlib's; None if it is none of these."""
    if is_url(file):
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ImportError(
                f"{file.partition(':')[0]} is read through fsspec: pip install 'holdall[fsspec]', and what fsspec needs for it",
                name=error.name,
            ) from error
        system, path = url_to_fs(file)
        return _of(system, path)
    system, path = getattr(file, "fs", None), getattr(file, "path", None)
    if not isinstance(path, str) or not hasattr(system, "cat_file"):
        return None
    if getattr(file, "compression", None):
        raise ValueError(
            "no ranges of a file can be read that fsspec unpacks: `load` reads it once it is open"
        )
    if hasattr(file, "tell") and not getattr(file, "closed", False) and file.tell():
        return None
    return _of(system, path)


def _of(system: Any, path: str) -> Remote:
    protocol = system.protocol if isinstance(system.protocol, (tuple, list)) else (system.protocol,)
    if "s3" in protocol and hasattr(system, "_call_s3"):
        return _S3(system, path)
    if "http" in protocol and hasattr(system, "set_session"):
        return _Http(system, path)
    return _Any(system, path)


class Coming:
    """A range that another thread reads. What has come of it is taken meanwhile, in pieces of 256 KiB or more: to wake who waits for them
    takes as long as to receive 64 KiB, and both need the GIL.

    at, end: where what is taken next begins, and where the range ends. have: how many bytes have come.
    """

    PIECE = 1 << 18

    def __init__(self, path: str, start: int, end: int) -> None:
        self.at, self.end, self.have = start, end, 0
        self.work: Future[None] | None = None
        self._path, self._size = path, end - start
        # What is to be given next, and how much was given before.
        self._held: list[bytes] = []
        self._given = 0
        # Who waits for it does so without the GIL, in one call.
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()

    def put(self, part: bytes) -> None:
        self.have += len(part)
        if self.have > self._size:
            raise OSError(errno.EIO, f"expected {self._size} bytes, got more", self._path)
        self._held.append(part)
        if self.have - self._given >= self.PIECE or self.have == self._size:
            self._give()

    def _give(self) -> None:
        self._pieces.put(_joined(self._held))
        self._held, self._given = [], self.have

    def end_with(self, work: Future[None]) -> None:
        """No more will come."""
        self._give()
        self._pieces.put(None)

    def take(self) -> bytes:
        """The next bytes, once there are some. Raises what went wrong when they were read."""
        while not (piece := self._pieces.get()):
            if piece is None:
                # Who asks again is told again, instead of waiting for ever.
                self._pieces.put(None)
                if self.work is not None:
                    self.work.result()
                raise OSError(errno.EIO, f"expected {self._size} bytes, got {self.have}", self._path)
        self.at += len(piece)
        return piece

    def rest(self) -> bytes:
        """All that was not taken yet."""
        pieces = []
        while self.at < self.end:
            pieces.append(self.take())
        return _joined(pieces)

    def cancel(self) -> None:
        if self.work is not None:
            self.work.cancel()


def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)


class Remote(abc.ABC):
    """An object of which ranges are read. It has the size and the state that it had when it was first asked for.

    requests, received: how many requests were made, also in vain, and the bytes that they brought.
    """

    def __init__(self, system: Any, path: str) -> None:
        self.system, self.path = system, path
        self.requests = self.received = 0
        self.size, self.tail = self._first()

    @abc.abstractmethod
    def _first(self) -> tuple[int, bytes]:
        """The size, and the object's last bytes, if they came with it."""

    @abc.abstractmethod
    def _begin(self, start: int, end: int, coming: Coming) -> Future[None]:
        """Has another thread put a range's bytes there."""

    def begin(self, start: int, end: int) -> Coming:
        """Begins to read bytes that the object has."""
        coming = Coming(self.path, start, end)
        if (there := self._in_tail(start, end)) is not None:
            coming.put(there)
        else:
            coming.work = self._begin(start, end, coming)
            coming.work.add_done_callback(coming.end_with)
        return coming

    def _in_tail(self, start: int, end: int) -> bytes | None:
        begins = self.size - len(self.tail)
        return self.tail[start - begins : end - begins] if start >= begins else None

    def read(self, start: int, end: int) -> bytes:
        """Bytes of the object, as far as it has them."""
        end = min(end, self.size)
        if start >= end:
            return b""
        if end - start <= _PIECE:
            return self.begin(start, end).rest()
        parts = []
        for at in range(start, end, _PIECE):
            parts.append(self.read(at, min(at + _PIECE, end)))
        return b"".join(parts)

    def changed(self) -> ChangedError:
        return ChangedError(f"{self.path} has changed since it was opened")


def _may_pass(error: BaseException) -> bool:
    """Whether a request that failed so may succeed a moment later."""
    if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError, ChangedError)):
        return False
    status = getattr(error, "status", None)
    if isinstance(status, int) and status:
        return status >= 500 or status in (408, 429)
    if isinstance(error, (OSError, EOFError, asyncio.TimeoutError)):
        return True
    return type(error).__module__.partition(".")[0] in _LIBRARIES


class _Async(Remote):
    """One that is asked on fsspec's loop."""

    state: str | None = None

    def _first(self) -> tuple[int, bytes]:
        got: list[bytes] = []

        async def ask() -> int:
            got.clear()
            return await self._ask(None, TAIL, got.append)

        size = asyncio.run_coroutine_threadsafe(self._tried(ask, lambda: 0), self.system.loop).result()
        tail = b"".join(got)
        self.received += len(tail)
        if size < len(tail):
            raise OSError(errno.EIO, "more bytes came than the object is said to have", self.path)
        return size, tail

    def _begin(self, start: int, end: int, coming: Coming) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(self._range(start, end, coming), self.system.loop)

    async def _range(self, start: int, end: int, coming: Coming) -> None:
        async def ask() -> None:
            await self._ask(start + coming.have, end, coming.put)
            if coming.have < end - start:
                raise OSError(errno.EIO, "the answer was cut short", self.path)

        await self._tried(ask, lambda: coming.have)

    async def _tried(self, ask: Callable[[], Coroutine[Any, Any, _T]], have: Callable[[], int]) -> _T:
        """What `ask` gives, which is asked again where a connection breaks. have: how many bytes have come, so that what goes forward is
        not given up, however often it is cut."""
        tries = 0
        while True:
            before = have()
            if tries:
                await asyncio.sleep(_FIRST_PAUSE * 2 ** (tries - 1))
            self.requests += 1
            try:
                return await ask()
            except Exception as error:
                tries = tries + 1 if have() == before else 1
                if tries < _TRIES and _may_pass(error):
                    continue
                if isinstance(error, (OSError, _core.HoldallError)):
                    raise
                raise OSError(errno.EIO, f"{type(error).__name__}: {error}", self.path) from error
            finally:
                self.received += have() - before

    @abc.abstractmethod
    async def _ask(self, start: int | None, end: int, put: Callable[[bytes], None]) -> int:
        """Has bytes put, as they come, and gives the object's size, which is compared before. No start: the last `end` bytes."""

    def _compare_size(self, start: int | None, size: int) -> None:
        if start is not None and size != self.size:
            raise self.changed()

    def _compare(self, state: str | None) -> None:
        if self.state is None:
            self.state = state
        elif state is not None and state != self.state:
            raise self.changed()


def _asked(start: int | None, end: int) -> str:
    return f"bytes=-{end}" if start is None else f"bytes={start}-{end - 1}"


def _size_in(content_range: str) -> int:
    total = content_range.rpartition("/")[2]
    return int(total) if total.isdigit() else -1


class _S3(_Async):
    async def _ask(self, start: int | None, end: int, put: Callable[[bytes], None]) -> int:
        bucket, key, version = self.system.split_path(self.path)
        given = {"VersionId": version} if version else {}
        if self.state is not None:
            given["IfMatch"] = self.state
        try:
            answer = await self.system._call_s3(
                "get_object", Bucket=bucket, Key=key, Range=_asked(start, end), **given
            )
        except OSError as error:
            told = getattr(error.__cause__, "response", None) or {}
            status = told.get("ResponseMetadata", {}).get("HTTPStatusCode")
            if status == _CHANGED:
                raise self.changed() from error
            if status == _NONE_LEFT:
                if start is None:
                    return 0
                raise self.changed() from error
            raise
        body = answer["Body"]
        try:
            self._compare(answer.get("ETag"))
            told = answer.get("ContentRange")
            size: int = answer["ContentLength"] if told is None else _size_in(told)
            self._compare_size(start, size)
            async for part in body.content.iter_any() if hasattr(body, "content") else body:
                put(part)
        finally:
            body.close()
        return size


class _Http(_Async):
    def __init__(self, system: Any, path: str) -> None:
        self._condition: dict[str, str] = {}
        super().__init__(system, path)

    async def _ask(self, start: int | None, end: int, put: Callable[[bytes], None]) -> int:
        session = await self.system.set_session()
        options = dict(self.system.kwargs)
        # What is packed on the way has other ranges.
        headers = {
            **options.pop("headers", {}),
            "Range": _asked(start, end),
            "Accept-Encoding": "identity",
            **self._condition,
        }
        async with session.get(self.system.encode_url(self.path), headers=headers, **options) as answer:
            if answer.status == _CHANGED:
                raise self.changed()
            told = answer.headers.get("Content-Range", "")
            if answer.status == _NONE_LEFT:
                if start is None and _size_in(told) <= 0:
                    return 0
                raise self.changed()
            if answer.status in (404, 410):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
            answer.raise_for_status()
            size = _size_in(told)
            if answer.status != 206 or size < 0:
                if start is not None:
                    raise OSError(errno.ENOTSUP, "the server gives no ranges", self.path)
                size = -1
            self._remember(answer.headers)
            self._compare_size(start, size)
            count = 0
            async for part in answer.content.iter_any():
                count += len(part)
                put(part)
        # A server that knows no ranges has given all.
        return count if size < 0 else size

    def _remember(self, headers: Any) -> None:
        tag, modified = headers.get("ETag"), headers.get("Last-Modified")
        self._compare(tag or modified)
        if tag and not tag.startswith("W/"):
            self._condition = {"If-Match": tag}
        elif modified:
            self._condition = {"If-Unmodified-Since": modified}


_pool: list[tuple[int, ThreadPoolExecutor]] = []


def _threads() -> ThreadPoolExecutor:
    """Threads for file systems that wait; others after a fork, which keeps none."""
    from concurrent.futures import ThreadPoolExecutor

    if not _pool or _pool[0][0] != os.getpid():
        _pool[:] = [(os.getpid(), ThreadPoolExecutor(4, thread_name_prefix="holdall"))]
    return _pool[0][1]


class _Any(Remote):
    """Of any other file system of fsspec's. Its information is asked for before each range: there are no conditions."""

    def _first(self) -> tuple[int, bytes]:
        self._state = self._information()
        size = self._state[0]
        if not isinstance(size, int):
            raise OSError(errno.ENOTSUP, "the file system does not say how long it is", self.path)
        return size, b""

    def _information(self) -> tuple[Any, ...]:
        self.system.invalidate_cache(self.system._parent(self.path))
        told = self.system.info(self.path)
        return tuple(told.get(name) for name in _STATES)

    def _begin(self, start: int, end: int, coming: Coming) -> Future[None]:
        return _threads().submit(self._range, start, end, coming)

    def _range(self, start: int, end: int, coming: Coming) -> None:
        for number in range(_TRIES):
            try:
                self.requests += 1
                if self._information() != self._state:
                    raise self.changed()
                data: bytes = self.system.cat_file(self.path, start=start, end=end)
                self.received += len(data)
                coming.put(data)
                return
            except Exception as error:
                if number == _TRIES - 1 or not _may_pass(error):
                    raise
            time.sleep(_FIRST_PAUSE * 2**number)
        raise AssertionError


class Sparse:
    """A map of an object's size, of which only what was brought takes memory."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote
        self.map = self.room(remote.size)
        self._lock = threading.Lock()
        # Where what is there begins and ends, in turn.
        self._edges: list[int] = []
        if remote.tail:
            self._put(remote.size - len(remote.tail), remote.tail)

    @staticmethod
    def room(size: int) -> mmap.mmap | bytearray:
        return _system.zeros(size)

    def bring(self, start: int, end: int) -> None:
        """See that these bytes are there, as far as the object has them."""
        end = min(end, self.remote.size)
        with self._lock:
            for begins, ends in self._missing(start, end):
                at = begins
                for piece in self._pieces(begins, ends):
                    self._put(at, piece)
                    at += len(piece)

    def _pieces(self, start: int, end: int) -> Any:
        if end - start <= _PIECE:
            yield self.remote.read(start, end)
            return
        ahead = Ahead(self.remote, limit=end)
        while start < end:
            part = ahead.read_at(start, end - start)
            start += len(part)
            yield part

    def _missing(self, start: int, end: int) -> list[tuple[int, int]]:
        from bisect import bisect_right

        edges = self._edges
        missing: list[tuple[int, int]] = []
        while start < end:
            found = bisect_right(edges, start)
            if found % 2:
                start = edges[found]
                continue
            ends = min(edges[found], end) if found < len(edges) else end
            if missing and start - missing[-1][1] <= _GAP:
                missing[-1] = (missing[-1][0], ends)
            else:
                missing.append((start, ends))
            start = ends
        return missing

    def _put(self, at: int, data: bytes) -> None:
        from bisect import bisect_left, bisect_right

        self.map[at : at + len(data)] = data
        edges, end = self._edges, at + len(data)
        first, last = bisect_left(edges, at), bisect_right(edges, end)
        edges[first:last] = [at] * (first % 2 == 0) + [end] * (last % 2 == 0)


class Ahead:
    """Reads an object from front to back, in ranges that grow, the next of which come while one is worked at; and from anywhere, where
    nothing is read ahead. What has come of a range is given before the rest is there.

    limit: where nothing behind is likely to be needed.
    """

    FIRST, MOST, DEPTH = 1 << 18, 1 << 23, 4

    def __init__(self, remote: Remote, limit: int | None = None) -> None:
        self.remote = remote
        self.size = remote.size
        self._limit = remote.size if limit is None else min(limit, remote.size)
        # The piece at hand, and where it begins; the ranges that are on their way.
        self._at, self._piece = 0, b""
        self._coming: list[Coming] = []
        self._next, self._step, self._filled = -1, self.FIRST, 0

    def read_at(self, at: int, size: int) -> bytes | memoryview:
        """Up to `size` bytes from `at` on, and at least one, if there is one."""
        if at >= self.size or size <= 0:
            return b""
        if not self._at <= at < self._at + len(self._piece):
            self._fetch(at, size)
        begins = at - self._at
        part = memoryview(self._piece)[begins : begins + size]
        self._next = at + len(part)
        self._begin()
        return part

    def fill(self, buffer: memoryview) -> int:
        """Read on into a buffer; gives how many bytes that were, 0 at the end."""
        part = self.read_at(self._filled, len(buffer))
        buffer[: len(part)] = part
        self._filled += len(part)
        return len(part)

    # What a binary file object has.
    readinto = fill

    def _fetch(self, at: int, size: int) -> None:
        while self._coming:
            coming = self._coming[0]
            if coming.at <= at < coming.end:
                begins, is_over = coming.at, True
                try:
                    piece = coming.take()
                    is_over = coming.at == coming.end
                finally:
                    # What could not be read is begun anew if it is asked for again.
                    if is_over:
                        self._coming.pop(0)
                if at < coming.at:
                    self._at, self._piece = begins, piece
                    return
            else:
                self._coming.pop(0).cancel()
        if at != self._next:
            self._step = self.FIRST
        end = min(at + max(size, 1 << 16), at + self.MOST, self.size)
        self._at, self._piece = at, self.remote.read(at, end)

    def _begin(self) -> None:
        """Begin to read what comes next, if that is likely to be asked for."""
        ends = self._coming[-1].end if self._coming else self._at + len(self._piece)
        while len(self._coming) < self.DEPTH and ends < self._limit and self._is_forward():
            end = min(ends + self._step, self._limit)
            self._coming.append(self.remote.begin(ends, end))
            ends, self._step = end, min(self._step * 2, self.MOST)

    def _is_forward(self) -> bool:
        return self._next >= self._at + len(self._piece) or bool(self._coming) or self._step > self.FIRST

    def close(self) -> None:
        """Let go of what is on its way."""
        for coming in self._coming:
            coming.cancel()
        self._coming.clear()
        self._piece = b""
