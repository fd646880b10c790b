"""diskcache with holdall in pickle's place: `Cache(folder, disk=HoldDisk)`, or `disk=HoldDisk.using(types=[Order])`."""

from __future__ import annotations

import io
import sqlite3
from typing import Any

from ._base import Configured, missing

try:
    import diskcache
    from diskcache.core import MODE_BINARY, MODE_PICKLE, UNKNOWN
except ImportError as error:
    raise missing("diskcache", "diskcache", error) from error

_RAW_KEYS = (str, bytes, float)
_INTS = range(-(1 << 63), 1 << 63)


class Miss(OSError):
    """An entry that can't be read, with `unreadable="miss"`: diskcache takes an OSError for an entry that has gone."""


class HoldDisk(Configured, diskcache.Disk):
    """What `Cache`, `FanoutCache`, `Deque` and `Index` take as `disk=`.

    Text, bytes, ints and floats are stored as diskcache does by itself, without a serializer; with a `seal`, everything is within one, and
    nothing else is read. Keys that are none of these are stored in canonical form; while `old` is given, as diskcache stored them before,
    so that they are found.
    """

    def put(self, key: Any) -> tuple[Any, bool]:
        if type(key) in _RAW_KEYS or (type(key) is int and key in _INTS):
            return super().put(key)
        if self.codec.old is not None:
            return super().put(key)
        return sqlite3.Binary(self.codec.key(key)), False

    def get(self, key: Any, raw: bool) -> Any:
        if raw:
            return super().get(key, raw)
        codec = self.codec if self.codec.seal is None else self.codec.using(seal=None)
        return self._or_miss(codec.loads(bytes(key)))

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Any:
        sealed = self.codec.seal is not None
        if read and sealed:
            value, read = value.read(), False
        if read or (not sealed and (type(value) in _RAW_KEYS or (type(value) is int and value in _INTS))):
            return super().store(value, read, key)
        data = self.codec.dumps(value)
        if len(data) < self.min_file_size:
            return 0, MODE_PICKLE, None, sqlite3.Binary(data)
        filename, path = self.filename(key, value)
        self._write(path, iter((data,)), "xb")
        return len(data), MODE_PICKLE, filename, None

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode != MODE_PICKLE:
            if self.codec.seal is None:
                return super().fetch(mode, filename, value, read)
            # Not sealed: the codec says what becomes of it.
            return self._or_miss(self.codec.loads(b""))
        if value is None:
            value = super().fetch(MODE_BINARY, filename, None, False)
        made = self._or_miss(self.codec.loads(value if isinstance(value, bytes) else bytes(value)))
        return io.BytesIO(made) if read and isinstance(made, bytes) else made

    def _or_miss(self, made: Any) -> Any:
        if made is self.codec.MISS:
            raise Miss("an entry that can't be read")
        return made


__all__ = ["HoldDisk", "Miss"]
