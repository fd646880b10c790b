"""Code of the program's that is asked in passing, where its ordinary exceptions are an answer: a no, or an error of the data. What
says nothing of the data (no memory, an interrupt, an exit) comes through nonetheless."""

from __future__ import annotations

import collections.abc
import enum
import sys
from collections.abc import Callable, Iterator
from typing import Any

import holdall
from holdall import bson, msgpack
from tests.faults.hooks import Key, Sentinel, tick

MODULE = sys.modules[__name__]
ERRORS: tuple[type[BaseException], ...] = (KeyboardInterrupt, MemoryError, SystemExit, SystemError)


class Access(enum.Flag):
    READ = 1
    WRITE = 2

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        tick()
        return super()._missing_(value)


class Size(enum.Enum):
    SMALL = 1

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        tick()
        return cls.SMALL


class Asked(type):
    """A metaclass that is asked for whatever its classes don't have."""

    def __getattr__(cls, name: str) -> Any:
        tick()
        raise AttributeError(name)


class Mapping(collections.abc.Mapping[str, Any]):
    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def __getitem__(self, key: str) -> Any:
        tick()
        return self.held[key]

    def __iter__(self) -> Iterator[str]:
        tick()
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Made(dict[str, Any]):
    """A document's class."""

    def __getitem__(self, key: str) -> Any:
        tick()
        return super().__getitem__(key)


class NoData:
    """No bytes, and no file."""

    def __getattr__(self, name: str) -> Any:
        tick()
        raise AttributeError(name)


def asked() -> Any:
    """A class that nobody has looked at yet."""

    class Fresh(metaclass=Asked):
        def __init__(self) -> None:
            self.a = 1

    Fresh.__qualname__ = "Fresh"
    MODULE.Fresh = Fresh  # type: ignore[attr-defined]
    return Fresh


def refused(call: Callable[[], Any], error: type[Exception]) -> str:
    try:
        call()
    except error as raised:
        return type(raised).__name__
    raise AssertionError("it was not refused")


def scenarios() -> dict[str, Callable[[], Any]]:
    tick.arm(-1, Sentinel)
    both = Access.READ | Access.WRITE
    unions = holdall.dumps([both])
    keyed = holdall.open(holdall.dumps({"a": 1, (1, 2): 2}))
    options = bson.CodecOptions(document_class=Made)
    reference = bson.encode({"held": {"$ref": "a", "$id": 1}})
    fresh = holdall.dumps([asked()()])

    def flags() -> Any:
        # As if no such union had been made yet: enumerations keep those that were.
        Access._value2member_map_.pop(both.value, None)
        return repr(holdall.loads(unions, types=[Access]))

    return {
        "_missing_ of flags": flags,
        "_missing_, typed": lambda: repr(msgpack.loads(msgpack.dumps(5), type=Size)),
        "a metaclass, dumps": lambda: holdall.dumps([asked()()]),
        "a metaclass, loads": lambda: len(holdall.loads(fresh, types=[asked()])),
        "a metaclass, deepcopy": lambda: len(holdall.deepcopy([asked()()])),
        "a metaclass, MessagePack": lambda: msgpack.dumps([asked()()]),
        "a mapping": lambda: bson.encode(Mapping({"a": 1, "_id": 2})),
        "a mapping without an _id": lambda: bson.encode(Mapping({"a": 1})),
        "a document's class": lambda: repr(bson.decode(reference, options)),
        "no data": lambda: refused(lambda: holdall.loads(NoData()), TypeError),  # type: ignore[arg-type]
        "a member's key": lambda: keyed.get(Key(1)),
        "whether there is a key": lambda: Key(1) in keyed,
        "a log's source": lambda: refused(
            lambda: list(holdall.Reader(NoData())), (TypeError, AttributeError)
        ),  # type: ignore[arg-type]
    }
