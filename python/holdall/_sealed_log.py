"""Sealed logs: an ordinary log in pieces, each with a keyed check that goes on from the one before.

The layout is section 14 of docs/format.md. What is here has the methods of the native `LogWriter` and `LogReader`, which `Writer` and
`Reader` call; the records themselves are written and read by those.
"""

from __future__ import annotations

import hmac
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core, _files
from ._seal import HEAD, TAG, Seal, SealError, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_START, _SEALED = bytes([_core.sealed_log_start]), bytes([_core.sealed_start])
_ID, _LOG_ID = 4, 16
_BEGIN = len(_START) + _ID + _LOG_ID
# A piece: its kind, the records of the log up to its end, its length, its tag, its bytes.
_COUNT, _LENGTH = 8, 5
_PIECE = 1 + _COUNT + _LENGTH + TAG
# Kinds: bytes of the log that the piece before has begun; the first of a log; that the log was closed.
_MORE, _FIRST, _CLOSED = 1, 2, 3
_READ = 1 << 20
_POLL = 0.05


class _Piece(NamedTuple):
    kind: int
    records: int
    payload: memoryview


class _Chain:
    """The checks of one log's pieces, in order."""

    def __init__(self, keys: list[bytes], log_id: bytes) -> None:
        self._keys, self._log_id = keys, log_id
        self._number, self._last = 0, bytes(TAG)

    def _made(self, key: bytes, kind: int, records: int, payload: Any) -> bytes:
        parts = (self._log_id, _u64(self._number), self._last, bytes([kind]), _u64(records))
        made = hmac.new(key, b"".join(parts), "sha256")
        made.update(payload)
        return made.digest()[:TAG]

    def next(self, kind: int, records: int, payload: bytes) -> bytes:
        """A piece, to be written."""
        tag = self._made(self._keys[0], kind, records, payload)
        head = b"".join((bytes([kind]), _u64(records), len(payload).to_bytes(_LENGTH, "little"), tag))
        return head + payload

    def written(self, piece: bytes) -> None:
        self._number, self._last = self._number + 1, piece[_PIECE - TAG : _PIECE]

    def take(self, piece: memoryview) -> _Piece:
        """A whole piece that was read, if it holds. SealError: it does not."""
        kind, records = piece[0], int.from_bytes(piece[1 : 1 + _COUNT], "little")
        tag, payload = bytes(piece[_PIECE - TAG : _PIECE]), piece[_PIECE:]
        holds = [
            key for key in self._keys if hmac.compare_digest(self._made(key, kind, records, payload), tag)
        ]
        if not holds:
            raise refusal(
                "the seal of a piece of the log does not hold: it was changed, moved or left out, or is of another log",
                0,
            )
        # One key seals all of a log.
        self._keys = holds[:1]
        self._number, self._last = self._number + 1, tag
        return _Piece(kind, records, payload)


def _u64(number: int) -> bytes:
    return number.to_bytes(8, "little")


class _Pieces:
    """Takes bytes as they come, and gives pieces that hold."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._bytes = bytearray()
        self._chain: _Chain | None = None
        # Where what was not given yet begins, in the file; whether the last piece says that the log was closed.
        self.at = 0
        self.closed = False

    @property
    def chain(self) -> _Chain | None:
        return self._chain

    @property
    def rest(self) -> bytearray:
        return self._bytes

    def add(self, data: Any) -> None:
        self._bytes += data

    def __iter__(self) -> Iterator[_Piece]:
        while (piece := self.next()) is not None:
            yield piece

    def next(self) -> _Piece | None:
        """The next piece; None: it is not all there."""
        if self._chain is None:
            if self._bytes and not _START.startswith(self._bytes[:1]):
                raise _at(refusal("not a sealed log", 0, foreign=True), self.at)
            if len(self._bytes) < _BEGIN:
                return None
            begin = self._taken(_BEGIN)
            self._chain = _Chain(self._seal.log_keys(begin[1 : 1 + _ID]), begin[1 + _ID :])
        if len(self._bytes) < _PIECE:
            return None
        length = _PIECE + int.from_bytes(self._bytes[1 + _COUNT : 1 + _COUNT + _LENGTH], "little")
        if len(self._bytes) < length:
            return None
        whole = bytes(memoryview(self._bytes)[:length])
        try:
            piece = self._chain.take(memoryview(whole))
        except SealError as error:
            raise _at(error, self.at) from None
        self._taken(length)
        self.closed = piece.kind == _CLOSED
        return piece

    def _taken(self, length: int) -> bytes:
        taken = bytes(memoryview(self._bytes)[:length])
        del self._bytes[:length]
        self.at += length
        return taken

    def may_be_torn(self) -> bool:
        """Whether what does not hold, or is not whole, can be what a crash has left of the last piece."""
        if len(self._bytes) < _PIECE:
            return True
        length = _PIECE + int.from_bytes(self._bytes[1 + _COUNT : 1 + _COUNT + _LENGTH], "little")
        return not any(self._bytes[length:])


def _at(error: SealError, at: int) -> SealError:
    moved = refusal(str(error).rpartition(" - at byte ")[0], at + error.offset)
    moved.__dict__.update({name: value for name, value in error.__dict__.items() if name != "offset"})
    return moved


def verified(
    seal: Seal, data: memoryview, progress: Callable[[int, int], Any] | None
) -> tuple[str, int, int | None, int, list[_core.Damage]]:
    """What `verify` says of what is sealed: kind, frames, records, size, damage.

    Raises SealError: not sealed, or with another key.
    """
    if data[:1] == _START:
        return _verified_log(seal, data, progress)
    size = len(data)
    # What is not sealed, or with another key, is not damaged: it is something else.
    if data[:1] != _SEALED or size >= HEAD:
        seal.head(data)
    try:
        payload = seal.unwrap(data)
    except SealError as error:
        return "sealed", 0, None, size, [_damage(error, size)]
    kind, frames, records, damage = _core.file_verify(payload, progress)
    moved = [_core.Damage(each.offset + HEAD, each.size, each.reason) for each in damage]
    return kind, frames, records, size, moved


def _verified_log(
    seal: Seal, data: memoryview, progress: Callable[[int, int], Any] | None
) -> tuple[str, int, int, int, list[_core.Damage]]:
    pieces, size = _Pieces(seal), len(data)
    frames = records = 0
    damage: list[_core.Damage] = []
    if size >= _BEGIN:
        seal.log_keys(bytes(data[1 : 1 + _ID]))
    try:
        for at in range(0, size, _READ):
            pieces.add(data[at : at + _READ])
            for piece in pieces:
                frames, records = frames + 1, piece.records
            if progress is not None:
                progress(min(at + _READ, size), size)
        _check_end(pieces)
    except _core.DecodeError as error:
        damage.append(_damage(error, size))
    return "log", frames, records, size, damage


def contents(seal: Seal, data: memoryview) -> list[memoryview]:
    """The files within what is sealed, all of it: one, or the parts of a log, each of which is a log.

    Raises SealError, TruncatedError: what does not hold.
    """
    if data[:1] != _START:
        return [seal.unwrap(data)]
    pieces = _Pieces(seal)
    pieces.add(data)
    parts: list[bytearray] = []
    for piece in pieces:
        if piece.kind == _FIRST or not parts:
            parts.append(bytearray())
        parts[-1] += piece.payload
    _check_end(pieces)
    return [memoryview(part).toreadonly() for part in parts if part]


def _check_end(pieces: _Pieces) -> None:
    """Raises TruncatedError, SealError: what was taken is not all of a log that was closed."""
    if pieces.rest:
        error = _core.TruncatedError(
            f"the log ends within a piece: it was not written to its end - at byte {pieces.at}"
        )
        error.offset = pieces.at
        raise error
    if not pieces.closed:
        raise refusal("the log was not closed: pieces at its end may be missing", pieces.at)


def _damage(error: _core.DecodeError, size: int) -> _core.Damage:
    return _core.Damage(error.offset, size - error.offset, str(error).rpartition(" - at byte ")[0])


class SealedWriter:
    """Appends records, in sealed pieces."""

    def __init__(
        self,
        seal: Seal,
        sink: int | Callable[[bytes], Any],
        *,
        append: bool,
        flush: Callable[[], Any] | None = None,
        **options: Any,
    ) -> None:
        seal = _files.checked(seal)
        self._file = os.fdopen(sink, "r+b", buffering=0) if isinstance(sink, int) else None
        try:
            self._take = sink if callable(sink) else partial(_files._write_all, self._file.write)  # type: ignore[union-attr]
            self._flush = flush if self._file is None else partial(os.fsync, self._file.fileno())
            self._options = options
            self._before = self._records_then = self.cut = self._at = 0
            self._first, self._broken, self._chain = True, False, None
            self._start = b""
            if append and self._file is not None:
                self._go_on(seal)
            if self._chain is None:
                log_id, start = os.urandom(_LOG_ID), _START + seal.id
                self._chain = _Chain(seal.log_keys(seal.id)[:1], log_id)
                self._begin: bytes = start + log_id
            self._core = _core.LogWriter(self._put_records, append=False, flush=self._flush, **options)
        except BaseException:
            if self._file is not None:
                self._file.close()
            raise

    def _go_on(self, seal: Seal) -> None:
        """Compares what the file has, all of it, and cuts off what a crash has left of a last piece."""
        assert self._file is not None
        pieces = _Pieces(seal)
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        try:
            while data := self._file.read(_READ):
                pieces.add(data)
                for piece in pieces:
                    self._before = piece.records
        except SealError:
            pieces.add(self._file.read())
            if pieces.chain is None or not pieces.may_be_torn():
                raise
        self._begin = b""
        if pieces.chain is not None:
            self._at, self._chain = pieces.at, pieces.chain
        self.cut = size - self._at
        if self.cut:
            self._file.truncate(self._at)
        self._file.seek(self._at)
        self._records_then = self._before

    def _put_records(self, payload: bytes) -> None:
        if self._first and len(payload) == _core.file_start_size:
            # The start of a log alone, which waits for a record.
            self._start = payload
            return
        self._put(_FIRST if self._first else _MORE, self._start + payload)
        self._first, self._start = False, b""

    def _put(self, kind: int, payload: bytes) -> None:
        if self._broken:
            raise ValueError("an earlier write to the sealed log failed: open it again, with `append`")
        assert self._chain is not None
        piece = self._chain.next(kind, self._records_then, payload)
        try:
            self._take(self._begin + piece)
        except BaseException:
            self._broken = True
            if self._file is not None:
                self._file.truncate(self._at)
                self._file.seek(self._at)
            raise
        self._chain.written(piece)
        self._at += len(self._begin) + len(piece)
        self._begin = b""

    def write(self, obj: object) -> int:
        # The pieces that are written meanwhile end with this record.
        self._records_then = self.records + 1
        return self._before + self._core.write(obj)

    def flush(self) -> None:
        self._records_then = self.records
        self._core.flush()

    @property
    def records(self) -> int:
        return self._before + self._core.records

    def close(self) -> None:
        """Says in the log that it was closed, and lets go of it. What is not flushed is lost, as by the native one."""
        try:
            if not self._broken:
                self._records_then = self.records
                self._put(_CLOSED, b"")
                if self._flush is not None and self._options["sync"] != "never":
                    self._flush()
        finally:
            self._core.close()
            if self._file is not None:
                self._file.close()


class SealedReader:
    """Gives the records of pieces that hold."""

    def __init__(
        self,
        seal: Seal,
        source: Callable[[memoryview], int] | None,
        close: Callable[[], Any] | None = None,
        *,
        repair: str | None,
        follow: bool,
        **options: Any,
    ) -> None:
        if repair not in (None, "stop"):
            raise ValueError(
                'repair: expected None or "stop": what follows a damage in a sealed log is not known to follow it'
            )
        self._pieces = _Pieces(_files.checked(seal))
        self._source, self._closes, self._follow, self._options = source, close, follow, options
        self._stops = repair == "stop"
        self.damage: list[_core.Damage] = []
        self._inner: _core.LogReader | None = None
        self._before = 0
        self._records = 0
        self._ended = self._done = self._shut = False

    def __iter__(self) -> SealedReader:
        return self

    def __next__(self) -> Any:
        while True:
            if self._shut:
                raise StopIteration
            if self._inner is not None:
                for record in self._inner:
                    return record
            try:
                if self._done or not self._step():
                    raise StopIteration
            except _core.DecodeError as error:
                self._done = True
                if not self._stops:
                    raise
                text = str(error).rpartition(" - at byte ")[0]
                self.damage.append(_core.Damage(error.offset, len(self._pieces.rest), text))

    def _step(self) -> bool:
        """Takes the next piece; False: there is none, at the end or for now."""
        while (piece := self._pieces.next()) is None:
            if not self._fill():
                return False
        self._records = piece.records
        if piece.kind == _MORE and self._inner is not None:
            self._inner.feed(piece.payload)
        elif piece.kind == _FIRST:
            self._end_of_part()
            self._inner = _core.LogReader(None, repair=None, follow=False, part=None, **self._options)
            self._inner.feed(piece.payload)
        elif piece.kind != _CLOSED:
            raise _at(refusal("a piece of the log is of no known kind", 0), self._pieces.at)
        return True

    def _end_of_part(self) -> None:
        if self._inner is not None:
            self._before += self._inner.record
            self._inner.close()
            self._inner = None

    def _fill(self) -> bool:
        """Reads more; False: nothing more comes, or what comes is fed."""
        while self._source is not None and not self._ended:
            if self._shut:
                return False
            room = memoryview(bytearray(_READ))
            if count := self._source(room):
                self._pieces.add(room[:count])
                return True
            if not self._follow:
                self._ended = True
            else:
                time.sleep(_POLL)
        if not self._ended:
            return False
        self._done = True
        _check_end(self._pieces)
        return False

    def feed(self, data: Any) -> None:
        if self._source is not None:
            raise ValueError("feed: only a Reader of None is fed")
        self._pieces.add(data)

    def end(self) -> None:
        self._ended = True

    def seek(self, record: int) -> None:
        """Goes on to a later record: all before it is compared, and read."""
        if record < self.record:
            raise ValueError("seek: a sealed log is read forward")
        while self.record < record:
            if next(self, self) is self:
                raise IndexError(f"seek: the log has {self.record} records")

    @property
    def record(self) -> int:
        return self._before + (0 if self._inner is None else self._inner.record)

    def close(self) -> None:
        self._shut = True
        if self._closes is not None:
            self._closes()
            self._closes = None

    def __del__(self) -> None:
        if getattr(self, "_closes", None) is not None:
            self.close()
