"""`Writer` and `Reader`: a log of records in a growing file; `verify`: which parts of a file are intact."""

from __future__ import annotations

import contextlib
import functools
import io
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _core, _files, _system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from ._remote import Ahead, Remote
    from ._seal import Seal
    from ._sealed_log import SealedReader, SealedWriter
    from .resolve import Resolver


# How far behind a part of a log what belongs to it is likely to go on.
_BEHIND = 3 << 19


class Writer:
    """Appends records to a log.

    file: a path, or a binary file object with `write` (and `flush`, to be called where records are to be on the disk).
    append: go on with the log that the path holds, if there is one; else it is written anew. What a crash has left of a record
        that was never whole is cut off first; `cut` says how many bytes that were.
    sync: "always": `write` returns when the record is on the disk. "batch": records are gathered, and are on the disk after every
        MiB or so, and after `flush` and `close`. "never": gathered likewise, and left to the operating system.
    refs, trust, enc_hook: as for `dumps`, for each record. compress: "zstd", "lz4" or ("zstd", level): records of 256 bytes or more,
        where that makes them smaller.
    seal: a `Seal`: records are written in pieces, each with a keyed check that goes on from the piece before; `close` says in the log
        that it ends there. So a Reader with that seal notices what was changed, moved, repeated or left out, also at the log's end.
        `append` compares all that is there first. After a write that failed, open the log again with `append`.

    A record is a graph of its own: what two of them share is two objects when they are read. But their key lists, classes and
    repeated texts are written once for all records of about a MiB, so that small records stay small. A record that fails to be
    written (an OSError, or an EncodeError) is not in the log; those before it are, and the next may follow.

    One thread at a time may use it. A log has one Writer at a time, which a lock sees to, and any number of Readers.

    Raises BlockingIOError: another Writer has the log open. Raises OSError: as the file system says.

    >>> with holdall.Writer("events.log") as log:
    ...     log.write({"event": "start", "at": 1}), log.write({"event": "stop", "at": 5})
    (0, 1)
    >>> [record["at"] for record in holdall.Reader("events.log")]
    [1, 5]
    """

    def __init__(
        self,
        file: _files.Path | _files.Writable,
        *,
        append: bool = False,
        sync: Literal["always", "batch", "never"] = "batch",
        refs: bool = True,
        trust: bool = False,
        enc_hook: Callable[[Any], Any] | None = None,
        compress: _files.Compress = None,
        seal: Seal | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "sync": sync, "refs": refs, "trust": trust, "enc_hook": enc_hook, "compress": compress
        }  # fmt: skip
        path = _files.path_of(file)
        self._core: _core.LogWriter | SealedWriter
        if path is None:
            if append:
                raise TypeError("append: expected a path as file")
            open_log = _core.LogWriter if seal is None else _sealed_writer(seal)
            self._core = open_log(
                _files.taker(file), append=False, flush=getattr(file, "flush", None), **options
            )
            return
        is_new = not os.path.exists(path)
        descriptor = _opened_alone(path, append)
        if seal is None:
            self._core = _core.LogWriter(descriptor, append=append, **options)
        else:
            self._core = _sealed_writer(seal)(descriptor, append=append, **options)
        if is_new and sync != "never":
            # The file's name has to survive a crash as well as its content.
            self.flush()
            _system.sync_folder(os.path.dirname(os.path.abspath(path)))

    def write(self, obj: object, /) -> int:
        """Append the graph of `obj`; gives its number, the first is 0.

        Raises EncodeError: it can't be stored. Raises OSError: as the file system says; the record is not in the log then.
        """
        return self._core.write(obj)

    def flush(self) -> None:
        """Write all records that were gathered; unless `sync="never"`, wait until they are on the disk."""
        self._core.flush()

    @property
    def records(self) -> int:
        """How many records the log has: the number of the next."""
        return self._core.records

    @property
    def cut(self) -> int:
        """Bytes at the log's end that were no whole record, and were cut off when it was opened to be appended to."""
        return self._core.cut

    def close(self) -> None:
        """Flush, and let go of the file. A second call does nothing."""
        if self._core is _CLOSED:
            return
        try:
            self._core.flush()
        finally:
            self._core.close()
            self._core = _CLOSED

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.close()
        except ValueError:
            # If an exception is on its way, it already reports the failed write.
            if kind is None:
                raise

    def __del__(self) -> None:
        if getattr(self, "_core", _CLOSED) is not _CLOSED:
            with contextlib.suppress(Exception):
                self.close()


def _opened_alone(path: str, append: bool) -> int:
    """A descriptor of the log at `path`, which nobody else may write to while it is open."""
    descriptor = _system.open_alone(path)
    try:
        if not append:
            os.truncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _sealed_writer(seal: Seal) -> Callable[..., SealedWriter]:
    from ._sealed_log import SealedWriter

    return functools.partial(SealedWriter, _files.checked(seal))


class _Closed:
    """The state of a closed log."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError("the log is closed")


_CLOSED: Any = _Closed()


class Reader:
    """Goes through the records of a log.

    file: a path; bytes-like data; a binary file object with `read` or `readinto`, which need not seek; or None: bytes are given
        to `feed`. A URL that fsspec knows, or one of its files: large ranges are read ahead.
    repair: what to do where the log is damaged. None: an error, after all records before it. "stop": the log ends there. "skip": it
        goes on with the next record that is whole. In both cases `damage` says what was passed over.
    follow: wait for more at the end of the log, until `close` is called.
    part: of a path, one of the parts that `split_log` gives.
    seal: a `Seal`, with which the log was written: a piece of it is compared before any of its records is read. A log that was not closed
        ends with a SealError, after all its records, unless `repair="stop"`: what was written last may have been cut off, or its Writer is
        still at work. Where it was closed before and the end cut off since, only the count of records tells (`record`). `repair="skip"`
        is refused, and `seek` reads on to the record.
    type, types, trust, strict, dec_hook, resolver, limits: as for `loads`, for each record. What is not set is bounded for
        the log as a whole, by its bytes so far.

    Raises DecodeError: damaged bytes, or a record that can't be built; `.offset` counts from the log's start. After a record that
    can't be built (UnknownTypeError, ValidationError, LimitError) the next one can be read.
    Raises OSError: as the file system says.

    >>> with holdall.Writer("numbers.log") as log:
    ...     for number in range(1000):
    ...         at = log.write({"number": number})
    >>> with holdall.Reader("numbers.log") as log:
    ...     log.seek(998)
    ...     list(log)
    [{'number': 998}, {'number': 999}]
    """

    def __init__(
        self,
        file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto | None,
        *,
        repair: Literal["stop", "skip"] | None = None,
        follow: bool = False,
        part: tuple[int, int] | None = None,
        type: Any = Any,
        types: type[Any] | ModuleType | Iterable[type[Any] | ModuleType] = (),
        trust: bool = False,
        strict: bool = True,
        dec_hook: Callable[[type[Any], Any], Any] | None = None,
        resolver: Resolver | None = None,
        limits: _core.Limits | None = None,
        seal: Seal | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "repair": repair, "follow": follow, "type": type, "types": types, "trust": trust, "strict": strict,
            "dec_hook": dec_hook, "resolver": resolver, "limits": limits
        }  # fmt: skip
        self._ahead: Ahead | None = None
        path = None if file is None else _files.path_of(file)
        source: Any
        self._core: _core.LogReader | SealedReader
        remote = None if file is None else _files.elsewhere(file, opened=True)
        if seal is not None:
            if part is not None:
                raise ValueError(
                    "part: a sealed log is read from its start, as each piece's check goes on from the one before"
                )
            if remote is not None:
                file, path = _ahead(remote), None
            self._core = _sealed_reader(seal, file, path, options)
            return
        options["part"] = part
        if remote is not None:
            if follow:
                raise ValueError(
                    "follow: an object of a network's storage does not grow, it is replaced by another"
                )
            source = self._ahead = _ahead(remote, part)
        elif path is None:
            data = None if file is None else _files.data_of(file)
            stream: Any = file if data is None else io.BytesIO(data)
            source = None if file is None else _files.filler(stream, eager=True)
        else:
            source = os.open(path, os.O_RDONLY | _system.BINARY)
        self._core = _core.LogReader(source, **options)

    def __iter__(self) -> Iterator[Any]:
        # A call of Python's for each record would take a third of the time of small ones.
        return self if type(self).__next__ is not Reader.__next__ else iter(self._core)

    def __next__(self) -> Any:
        return self._core.__next__()

    def read(self) -> Any:
        """The next record. Raises EOFError where there is none (any more, or yet)."""
        for record in self._core:
            return record
        raise EOFError("no more records")

    def seek(self, record: int, /) -> None:
        """Go to the record of that number, by the path's restart points: no more than a few MiB are read.

        Raises ValueError: the log was not opened by its path.
        """
        self._core.seek(record)

    def feed(self, data: bytes | bytearray | memoryview, /) -> None:
        """Give more bytes to a Reader of None; iteration then goes on as far as there are whole records."""
        self._core.feed(data)

    def end(self) -> None:
        """Say that no more bytes will be fed: what is not whole then is damaged."""
        self._core.end()

    @property
    def record(self) -> int:
        """The number of the next record."""
        return self._core.record

    @property
    def damage(self) -> list[_core.Damage]:
        """What was passed over so far."""
        return self._core.damage

    def close(self) -> None:
        """Let go of the file; one that is being followed ends. A second call does nothing."""
        self._core.close()
        if self._ahead is not None:
            self._ahead.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _ahead(remote: Remote, part: tuple[int, int] | None = None) -> Ahead:
    from ._remote import Ahead

    # The last record of a part ends a window or so behind the part.
    return Ahead(remote, None if part is None else part[1] + _BEHIND)


def split_log(file: _files.Path, blocksize: int = 1 << 26) -> list[tuple[int, int]]:
    """Parts of a log of about `blocksize` bytes each, to be read apart: `Reader(file, part=part)`.

    file: a path, or what `open` takes of fsspec's: URLs, its files. blocksize: in bytes, at least 1. A log begins anew every MiB or so,
        at a *restart*; a part has the records from the first restart that begins in it, so that small parts may have none.

    The parts together have all records, each once, in order, wherever it is cut and whatever is damaged: where a part begins and ends is
    decided by the log's bytes alone, by each reader for itself. The log may be appended to meanwhile: the last part then goes on up to the
    next restart. Only the log's size and first bytes are read here.

    Raises ValueError: it is no log, or a sealed one, which is only read from its start. Raises OSError: as the file system says.

    >>> with holdall.Writer("split.log") as log:
    ...     for number in range(1000):
    ...         at = log.write({"number": number})
    >>> parts = split_log("split.log", 4096)
    >>> [record["number"] for part in parts for record in holdall.Reader("split.log", part=part)] == [*range(1000)]
    True
    """
    if blocksize < 1:
        raise ValueError(f"blocksize: expected a number of bytes from 1 on, got {blocksize}")
    remote = _files.elsewhere(file, opened=True)
    if remote is not None:
        size, start = remote.size, remote.read(0, _core.file_start_size)
    else:
        with open(file, "rb") as opened:
            start = opened.read(_core.file_start_size)
            size = opened.seek(0, os.SEEK_END)
    if start[:1] == bytes([_core.sealed_log_start]):
        raise ValueError(
            "a sealed log is read from its start, as each piece's check goes on from the one before"
        )
    if size and _core.file_kind(start) not in ("log", None):
        raise ValueError("expected a log of records, got a file of one graph: load it with holdall.load")
    return [(at, min(at + blocksize, size)) for at in range(0, size, blocksize)]


def _sealed_reader(seal: Seal, file: Any, path: str | None, options: dict[str, Any]) -> SealedReader:
    from ._sealed_log import SealedReader

    if file is None:
        return SealedReader(seal, None, **options)
    if path is not None:
        opened = io.FileIO(path)
        return SealedReader(seal, _until_closed(opened), opened.close, **options)
    data = _files.data_of(file)
    return SealedReader(
        seal, _files.filler(file if data is None else io.BytesIO(data), eager=True), **options
    )


def _until_closed(file: io.FileIO) -> Callable[[memoryview], int]:
    """A function that reads `file` and reports the end if another thread closes it."""
    fill = _files.filler(file)
    return lambda buffer: 0 if file.closed else fill(buffer)


class Report(NamedTuple):
    """What `verify` found.

    kind: "graph" (a file of `dump`), "log" or "message" (bytes of `dumps`). frames: how many are whole. records: of a log. bytes: the
    file's size. damage: what is not whole. repaired: what was done about it.

    >>> dump([1, 2, 3], "list.hold")
    >>> report = holdall.verify("list.hold")
    >>> report.ok, report.kind, report.frames, report.damage
    (True, 'graph', 1, [])
    """

    kind: str
    frames: int
    records: int | None
    bytes: int
    damage: list[_core.Damage]
    repaired: str | None = None

    @property
    def ok(self) -> bool:
        """Whether all of it is whole."""
        return not self.damage


def verify(
    file: _files.Path | _files.Data,
    *,
    repair: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    seal: Seal | None = None,
) -> Report:
    """Compare every checksum of a file; nothing of it is built.

    file: the path of a file of `dump`, of a log, or of a bare message (which has no checksums: its tokens are gone over); or the
        bytes of one.
    repair: of a path: write a damaged log anew, with all records that are whole; the damaged one stays beside it, with ".damaged" behind its
        name (and a number, if there is one).
    progress: called now and then as `progress(done, total)`, in bytes.
    seal: a `Seal`: of a sealed file or log, the seal is compared. `frames` are a log's pieces that hold. A seal that does not hold, a
        piece that was moved or repeated, and a log without its end are damage.

    Raises OSError: as the file system says. Raises HoldallError: `repair` of what is no log, or is sealed.
    Raises SealError: what is not sealed, or with a key that is not among those of the seal.

    >>> dump([1, 2, 3], "list.hold")
    >>> holdall.verify("list.hold").ok
    True
    """
    path = _files.path_of(file)
    data = _files.data_of(file) if path is None else _files.mapped(path)
    if data is None or (repair and path is None):
        wanted = "a path" if repair else "a path or bytes-like data"
        raise TypeError(f"verify: expected {wanted}, got {type(file).__name__}")
    size = len(data)
    if seal is not None:
        from ._sealed_log import verified

        if repair:
            raise _core.HoldallError(
                'what is sealed can\'t be repaired: `Reader(repair="stop")` reads what is before a damage'
            )
        return Report(*verified(_files.checked(seal), memoryview(data), progress))
    kind, frames, records, damage = _core.file_verify(data, progress)
    repaired = None
    if path is not None and repair and damage:
        if kind != "log":
            raise _core.HoldallError("only logs can be repaired: what a graph has lost can't be told")
        repaired = _repair(path, data)
    return Report(kind, frames, records, size, damage, repaired)


def _repair(path: str, data: Any) -> str:
    kept = f"{path}.damaged"
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{path}.damaged.{number}"
    os.link(os.path.realpath(path), kept)
    count = 0

    def write(sink: int) -> None:
        nonlocal count
        count = _core.log_repair(data, sink)
        # Windows replaces no file that is mapped.
        data.close()

    _files.replace(path, write)
    return f"{count} records written anew; the damaged log is {os.path.basename(kept)}"


def file_kind(file: _files.Path | _files.Data) -> Literal["graph", "log", "message"] | None:
    """What a file (or bytes-like data) holds by its first bytes: a graph of `dump`, a log, a bare message of `dumps`; None:
    something else.

    >>> dump(1, "one.hold")
    >>> holdall.file_kind("one.hold")
    'graph'
    """
    path = _files.path_of(file)
    data = _files.data_of(file) if path is None else None
    if path is not None:
        with open(path, "rb") as opened:
            start = opened.read(_core.file_start_size)
    elif data is not None:
        start = bytes(data[: _core.file_start_size])
    else:
        raise TypeError(f"file_kind: expected a path or bytes-like data, got {type(file).__name__}")
    kind: Literal["graph", "log", "message"] | None = _core.file_kind(start)
    return kind
