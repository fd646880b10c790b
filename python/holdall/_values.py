"""Values that only MessagePack has: extension types, points in time in nanoseconds, messages within messages;
and the value of an unset field.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, NoReturn, final

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NANOS = 1_000_000_000
_MOST_SECONDS = 2**63 - 1
# The size of a timestamp with its head and type, and without.
_TIMESTAMP_SIZES = {6: 4, 10: 8, 15: 12}


class _Frozen:
    """Fields are set once, by `__new__` through `object`; loading fills slots directly."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} can't be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} can't be changed")


@final
class Ext(_Frozen):
    """A value of an application's own type: what `loads` gives where no `ext_hook` makes something of it.

    code: the type, -128 to 127. The application's own are 0 to 127; the rest is the specification's.
    data: what its application alone can read; of any bytes-like object, kept as bytes.

    Raises TypeError: `code` is no int, or `data` nothing bytes-like. Raises ValueError: `code` beyond its bounds.

    >>> loads(dumps([Ext(5, b"abc")]))
    [Ext(code=5, data=b'abc')]
    """

    __slots__ = ("code", "data")
    __match_args__ = ("code", "data")
    code: int
    data: bytes

    def __new__(cls, code: int, data: bytes | bytearray | memoryview) -> Ext:
        if isinstance(code, bool) or not isinstance(code, int):
            raise TypeError(f"Ext: code: expected int, got {_kind(code)}")
        if not isinstance(data, bytes):
            try:
                data = memoryview(data).tobytes()
            except TypeError:
                raise TypeError(f"Ext: data: expected bytes, got {_kind(data)}") from None
        if not -128 <= code <= 127:
            raise ValueError(f"Ext: code: expected -128 to 127, got {code}")
        self = object.__new__(cls)
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "data", data)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ext):
            return NotImplemented
        return (self.code, self.data) == (other.code, other.data)

    def __hash__(self) -> int:
        return hash((self.code, self.data))

    def __repr__(self) -> str:
        return f"Ext(code={self.code}, data={self.data!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ext, (self.code, self.data)


@final
class Timestamp(_Frozen):
    """A point in time to the nanosecond, of any year; `datetime` has microseconds, and the years 1 to 9999.

    seconds: since the start of 1970 in UTC, without leap seconds, 64 bits; below 0 before that.
    nanoseconds: from there on, 0 to 999,999,999.

    Raises TypeError: something else than ints. Raises ValueError: one of them beyond its bounds.

    >>> Timestamp(1, 500_000_000).to_datetime()
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)
    >>> data = holdall.msgpack.dumps(Timestamp(1, 5))
    >>> holdall.msgpack.loads(data)
    datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    >>> holdall.msgpack.Decoder(timestamps=True).decode(data)
    Timestamp(seconds=1, nanoseconds=5)
    """

    __slots__ = ("nanoseconds", "seconds")
    __match_args__ = ("seconds", "nanoseconds")
    seconds: int
    nanoseconds: int

    def __new__(cls, seconds: int, nanoseconds: int = 0) -> Timestamp:
        for name, value in (("seconds", seconds), ("nanoseconds", nanoseconds)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Timestamp: {name}: expected int, got {_kind(value)}")
        if not -_MOST_SECONDS - 1 <= seconds <= _MOST_SECONDS:
            raise ValueError("Timestamp: seconds: expected an int of 64 bits")
        if not 0 <= nanoseconds < _NANOS:
            raise ValueError("Timestamp: nanoseconds: expected 0 to 999,999,999")
        self = object.__new__(cls)
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "nanoseconds", nanoseconds)
        return self

    @classmethod
    def from_datetime(cls, moment: datetime) -> Timestamp:
        """The point in time that a datetime means; one without a zone is local time, as in `datetime.timestamp`."""
        if moment.tzinfo is None:
            moment = moment.astimezone()
        # Not by `datetime.timestamp`: far from 1970 a float can't express microseconds.
        since = moment - _EPOCH
        return cls(since.days * 86_400 + since.seconds, since.microseconds * 1000)

    def to_datetime(self) -> datetime:
        """A datetime in UTC; what is below a microsecond is cut off. OverflowError beyond the years 1 to 9999."""
        return _EPOCH + timedelta(seconds=self.seconds, microseconds=self.nanoseconds // 1000)

    @classmethod
    def from_unix(cls, seconds: float) -> Timestamp:
        """From seconds since 1970 as `time.time` gives them; a float of today's holds about 200 nanoseconds exactly."""
        whole, part = divmod(seconds, 1)
        # A fraction just below 1 may be 1 as a float.
        more, nanoseconds = divmod(int(part * _NANOS), _NANOS)
        return cls(int(whole) + more, nanoseconds)

    def to_unix(self) -> float:
        """Seconds since 1970; the nearest float."""
        return self.seconds + self.nanoseconds / 1e9

    @classmethod
    def from_unix_nano(cls, nanoseconds: int) -> Timestamp:
        """From nanoseconds since 1970 as `time.time_ns` gives them."""
        return cls(*divmod(nanoseconds, _NANOS))

    def to_unix_nano(self) -> int:
        """Nanoseconds since 1970, exactly."""
        return self.seconds * _NANOS + self.nanoseconds

    def to_bytes(self) -> bytes:
        """As the data of MessagePack's own type for it: 4, 8 or 12 bytes."""
        from . import _core

        packed = _core.msgpack_dumps(self)
        return packed[-_TIMESTAMP_SIZES[len(packed)] :]

    @classmethod
    def from_bytes(cls, data: bytes) -> Timestamp:
        """Mirror of `to_bytes`. Raises ValueError: no data of a timestamp."""
        from . import _core

        if len(data) not in _TIMESTAMP_SIZES.values():
            raise ValueError(f"Timestamp: expected 4, 8 or 12 bytes, got {len(data)}")
        made: Timestamp = _core.MsgpackDecoder(timestamps=True).decode(
            _core.msgpack_dumps(Ext(-1, bytes(data)))
        )
        return made

    def _key(self) -> tuple[int, int]:
        return self.seconds, self.nanoseconds

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Timestamp) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, Timestamp) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._key() <= other._key() if isinstance(other, Timestamp) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._key() > other._key() if isinstance(other, Timestamp) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._key() >= other._key() if isinstance(other, Timestamp) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Timestamp(seconds={self.seconds}, nanoseconds={self.nanoseconds})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Timestamp, self._key()


class Raw(bytes):
    """A value that is MessagePack already: written as it is, and loaded as its own bytes where `type=` names it.

    What is not looked into costs nothing but the copy of its bytes; `loads` reads it later, or another program does.

    Raises EncodeError when it is written: its bytes are not one value.

    >>> data = holdall.msgpack.dumps({"id": 1, "body": [1, 2, 3]})
    >>> found = holdall.msgpack.loads(data, type=dict[str, holdall.msgpack.Raw])
    >>> holdall.msgpack.loads(found["body"])
    [1, 2, 3]
    >>> holdall.msgpack.dumps(found) == data
    True
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Raw({bytes.__repr__(self)})"


@final
class UnsetType:
    """The type of `UNSET`: of fields that may have no value. A field that has it is not written by MessagePack and BSON.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Patch:
    ...     note: str | None | UnsetType = UNSET
    >>> holdall.msgpack.loads(holdall.msgpack.dumps([Patch(), Patch(None)]))
    [{}, {'note': None}]
    """

    __slots__ = ()

    def __new__(cls) -> UnsetType:
        return UNSET

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        return "UNSET"


UNSET: UnsetType = object.__new__(UnsetType)


def _kind(value: object) -> str:
    return type(value).__name__
