"""What every integration has to show, with the real library: a class of tests for whatever stores and restores values."""

from __future__ import annotations

import dataclasses
import datetime
import json
import pickle
from typing import Any, ClassVar

import pytest

import holdall
from holdall import Seal

KEY, OTHER = bytes(range(1, 33)), bytes(range(2, 34))
MISSING = "nothing is there"


@dataclasses.dataclass
class Order:
    number: int
    lines: list[str]


@dataclasses.dataclass
class Stranger:
    name: str


class Planted:
    """What a pickle does where it is loaded."""

    ran: ClassVar[list[str]] = []

    def __reduce__(self) -> Any:
        return _run, ()


def _run() -> None:
    """By its name: a method of the list would be pickled with a list of its own, in which nobody looks."""
    Planted.ran.append("ran")


shared = [1, 2]
VALUES: list[Any] = [
    {"a": 1, "b": [1.5, None, True, "text", b"bytes"]},
    ("tuple", frozenset({1, 2}), {3}, 1 << 100, 1 + 2j),
    [datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), datetime.date(2026, 1, 2)],
    [shared, shared],
    Order(7, ["a", "b"]),
]


class Contract:
    """A subclass says how a library is opened with options of `Codec`, and how an entry is read, written and planted."""

    errors: ClassVar[Any] = holdall.DecodeError
    # What its own serializer makes of a value.
    old_dumps: ClassVar[Any] = staticmethod(pickle.dumps)
    old_loads: ClassVar[Any] = staticmethod(pickle.loads)
    has_misses: ClassVar[bool] = True
    values: ClassVar[list[Any]] = VALUES

    def open(self, **options: Any) -> Any:
        raise NotImplementedError

    def put(self, store: Any, value: Any) -> None:
        raise NotImplementedError

    def get(self, store: Any) -> Any:
        """The value, or MISSING."""
        raise NotImplementedError

    def plant(self, store: Any, data: bytes) -> None:
        """Puts bytes where the entry's are."""
        raise NotImplementedError

    def raw(self, store: Any) -> bytes:
        """The entry's bytes."""
        raise NotImplementedError

    def refused(self, data: bytes, **options: Any) -> None:
        with pytest.raises(self.errors):
            store = self.open(**options)
            self.plant(store, data)
            self.get(store)
        if self.has_misses:
            store = self.open(unreadable="miss", **options)
            self.plant(store, data)
            assert self.get(store) == MISSING
        else:
            with pytest.raises(ValueError, match="no misses"):
                self.open(unreadable="miss", **options)

    def test_store_and_restore(self) -> None:
        for value in self.values:
            for options in (
                {},
                {"trust": True},
                {"seal": Seal(KEY)},
                {"compress": "zstd"},
                {"compress": "lz4", "seal": Seal(KEY)},
            ):
                store = self.open(types=Order, **options)
                self.put(store, value)
                made = self.get(store)
                assert made == value and type(made) is type(value)
                if value is VALUES[3]:
                    assert made[0] is made[1]

    def test_functions_need_trust(self) -> None:
        with pytest.raises(Exception, match="trust=True"):
            self.put(self.open(), len)
        store = self.open(trust=True)
        self.put(store, [len])
        assert self.get(store) == [len]
        data = self.raw(store)
        self.refused(data)
        self.refused(data, trust=True, seal=Seal(KEY))

    def test_a_class_that_is_not_permitted(self) -> None:
        store = self.open()
        self.put(store, [Stranger("x")])
        self.refused(self.raw(store))

    def test_a_damaged_entry(self) -> None:
        store = self.open()
        self.put(store, {"key": ["value"] * 3})
        data = self.raw(store)
        for damaged in (data[:-1], data[: len(data) // 2], data[:1], data + b"x"):
            self.refused(damaged)

    def test_an_entry_of_the_old_serializer(self) -> None:
        Planted.ran.clear()
        value = {"old": [1, 2]}
        data = self.old_dumps(value)
        self.refused(data if isinstance(data, bytes) else data.encode())
        store = self.open(old=self.old_loads)
        self.plant(store, data if isinstance(data, bytes) else data.encode())
        assert self.get(store) == value
        self.put(store, value)
        assert self.get(store) == value and self.raw(store)[0] in (0xC1, 0xF1, 0x48)
        self.refused(pickle.dumps(Planted()))
        assert not Planted.ran

    def test_an_entry_sealed_with_another_key(self) -> None:
        seal = Seal(KEY, context="here")
        store = self.open(seal=Seal(OTHER))
        self.put(store, [1, 2])
        other = self.raw(store)
        assert other[0] == 0xF1
        self.refused(other, seal=seal)
        store = self.open(seal=Seal(KEY, context="there"))
        self.put(store, [1, 2])
        self.refused(self.raw(store), seal=seal)
        store = self.open()
        self.put(store, [1, 2])
        self.refused(self.raw(store), seal=seal)
        store = self.open(seal=Seal(KEY, context="here", old_keys=[OTHER]))
        self.plant(store, holdall.dumps([3], seal=Seal(OTHER, context="here")))
        assert self.get(store) == [3]


def old_json(data: bytes) -> Any:
    return json.loads(data)
