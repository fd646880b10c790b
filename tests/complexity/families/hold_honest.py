"""What `dumps` writes by default, of honest objects in great numbers and nested deep: it has to load."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import ipaddress
import itertools
import pathlib
import re
import types
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

import holdall
from tests.complexity.family import family
from tests.support import models
from tests.support.kinds import TYPES, build


class Slotted:
    __slots__ = ("a", "b", "c", "d", "e", "f", "g", "h")


def sized(n: int, build: Callable[[int], Any]) -> bytes:
    """The message of `build(count)`, with the count that gives about n bytes."""
    few = len(holdall.dumps(build(200))) - len(holdall.dumps(build(100)))
    return holdall.dumps(build(max(n * 100 // max(few, 1), 1)))


def many(make: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda count: [make(at) for at in range(count)]


def deep(wrap: Callable[[Any], Any], innermost: Any = None) -> Callable[[int], Any]:
    def made(count: int) -> Any:
        value = innermost
        for _ in range(count):
            value = wrap(value)
        return value

    return made


ZONE = datetime.timezone(datetime.timedelta(hours=1))

MANY: dict[str, Callable[[int], Any]] = {
    "empty lists": lambda at: [],
    "empty dicts": lambda at: {},
    "empty sets": lambda at: set(),
    "empty tuples": lambda at: (),
    "empty deques": lambda at: collections.deque(),
    "deques of one": lambda at: collections.deque([at]),
    "mapping proxies": lambda at: types.MappingProxyType({}),
    "mapping proxies of one": lambda at: types.MappingProxyType({"a": at}),
    "empty ordered dicts": lambda at: collections.OrderedDict(),
    "ordered dicts of one": lambda at: collections.OrderedDict(a=at),
    "empty default dicts": lambda at: collections.defaultdict(list),
    "empty counters": lambda at: collections.Counter(),
    "slotted objects with unset slots": lambda at: Slotted(),
    "objects without attributes": lambda at: build(models.PlainDict),
    "objects of one attribute": lambda at: build(models.PlainDict, a=at),
    "empty subclasses of list": lambda at: models.MyList(),
    "empty subclasses of dict": lambda at: models.MyDict(),
    "empty subclasses of set": lambda at: models.MySet(),
    "empty subclasses of deque": lambda at: models.MyDeque(),
    "empty subclasses of int": lambda at: models.MyInt(at),
    "empty subclasses of str": lambda at: models.MyStr(""),
    "empty subclasses of ordered dict": lambda at: models.MyOrderedDict(),
    "empty subclasses of default dict": lambda at: models.MyDefaultDict(),
    "exceptions": lambda at: ValueError(),
    "exceptions of the system": lambda at: OSError(2, "no"),
    "key errors": lambda at: KeyError(at),
    "one-key dicts": lambda at: {"a": at},
    "one-key dicts of ints": lambda at: {at: at},
    "sets of one": lambda at: {at},
    "frozensets of one": lambda at: frozenset((at,)),
    "bytearrays": lambda at: bytearray(),
    "arrays": lambda at: array.array("b"),
    "NumPy arrays": lambda at: np.zeros(0),
    "NumPy arrays of one": lambda at: np.zeros(1, "i1"),
    "NumPy arrays without dimensions": lambda at: np.zeros((), "i1"),
    "NumPy scalars": lambda at: np.int8(at % 100),
    "NumPy dates": lambda at: np.datetime64(at, "D"),
    "fractions": lambda at: fractions.Fraction(at, 7),
    "decimals": lambda at: decimal.Decimal(at),
    "UUIDs": lambda at: uuid.UUID(int=at),
    "paths": lambda at: pathlib.PurePosixPath(str(at)),
    "Windows paths": lambda at: pathlib.PureWindowsPath(str(at)),
    "IPv4 addresses": lambda at: ipaddress.IPv4Address(at),
    "IPv6 addresses": lambda at: ipaddress.IPv6Address(at),
    "IPv4 networks": lambda at: ipaddress.IPv4Network((at * 256, 24)),
    "IPv6 networks": lambda at: ipaddress.IPv6Network((at << 64, 64)),
    "IPv4 interfaces": lambda at: ipaddress.IPv4Interface((at * 256, 24)),
    "IPv6 interfaces": lambda at: ipaddress.IPv6Interface((at << 64, 64)),
    "ranges": lambda at: range(at),
    "slices": lambda at: slice(at),
    "datetimes": lambda at: datetime.datetime(2024, 1, 1) + datetime.timedelta(at),
    "datetimes with a zone": lambda at: datetime.datetime(2024, 1, 1, tzinfo=ZONE) + datetime.timedelta(at),
    "timedeltas": lambda at: datetime.timedelta(at % 10_000),
    "timezones": lambda at: datetime.timezone(datetime.timedelta(minutes=at % 1000)),
    "enum members": lambda at: models.Color.RED,
    "texts of one character": lambda at: chr(97 + at % 26),
    "texts of an astral character": lambda at: chr(0x1F600 + at % 60),
    "ellipses": lambda at: ...,
    "named tuples": lambda at: models.NPoint(at, at),
}  # fmt: skip

# Patterns are compiled by Python code, a few microseconds for each letter of the smallest: fewer of them.
PATTERNS: dict[str, Callable[[int], Any]] = {
    "patterns": lambda at: re.compile(f"a{at}"),
    "equal patterns": lambda at: re.compile("[a-z]+"),
}


@family("hold", each=MANY, honest=True, types=(*TYPES, Slotted))
def many_(n: int, make: Callable[[int], Any]) -> bytes:
    return sized(n, many(make))


@family("hold", each=PATTERNS, honest=True, most=100_000)
def many_compiled(n: int, make: Callable[[int], Any]) -> bytes:
    return sized(n, many(make))


DEEP: dict[str, Callable[[Any], Any]] = {
    "lists": lambda value: [value],
    "tuples": lambda value: (value,),
    "one-key dicts": lambda value: {"a": value},
    "dicts of int keys": lambda value: {1: value},
    "deques": lambda value: collections.deque([value]),
    "mapping proxies": lambda value: types.MappingProxyType({"a": value}),
    "ordered dicts": lambda value: collections.OrderedDict(a=value),
    "default dicts": lambda value: collections.defaultdict(list, a=value),
    "counters": lambda value: collections.Counter({"a": value}),
    "slices": lambda value: slice(value),
    "subclasses of list": lambda value: models.MyList([value]),
    "subclasses of dict": lambda value: models.MyDict(a=value),
    "subclasses of deque": lambda value: models.MyDeque([value]),
    "subclasses of ordered dict": lambda value: models.MyOrderedDict(a=value),
    "objects": lambda value: build(models.PlainDict, a=value),
    "slotted objects": lambda value: build(models.PlainSlots, left=value),
    "dataclasses": lambda value: models.DPoint(value),
    "exceptions' arguments": lambda value: ValueError(value),
    "named tuples": lambda value: models.NPoint(value, 1),
}


# CPython frees these by recursion: `dumps` refuses what is deeper than a stack of 512 KiB allows.
FREED_BY_RECURSION = ("deques", "default dicts", "slices")


@family("hold", each=DEEP, honest=True, types=TYPES)
def deep_(n: int, wrap: Callable[[Any], Any]) -> bytes:
    if any(wrap is DEEP[name] for name in FREED_BY_RECURSION):
        return holdall.dumps(deep(wrap)(1_900))
    return sized(n, deep(wrap))


# `dict`, `frozenset` and `tuple` hash their keys by recursion, in C: what is deeper than a stack allows can't be made by Python itself.
DEEP_KEYS: dict[str, Callable[[Any], Any]] = {
    "frozensets": lambda value: frozenset((value,)),
    "tuple keys": lambda value: (value,),
}


@family("hold", each=DEEP_KEYS, honest=True, most=10_000)
def deep_keys(n: int, wrap: Callable[[Any], Any]) -> bytes:
    """Deeper than 200; Python itself hashes them on a stack of the usual size."""
    return sized(min(n, 3_000), lambda count: {deep(wrap, 1)(count): 1})


@family("hold", honest=True, most=10_000)
def object_arrays_in_each_other(n: int) -> bytes:
    def wrap(value: Any) -> Any:
        made = np.empty(1, object)
        made[0] = value
        return made

    return holdall.dumps(deep(wrap)(130))


def chained(count: int) -> Any:
    value = ValueError(0)
    for at in range(count):
        after = ValueError(at)
        after.__context__ = value
        value = after
    return value


@family("hold", honest=True, most=100_000)
def chained_exceptions(n: int) -> bytes:
    return sized(n, chained)


@family("hold", honest=True)
def keys_with_one_shared_tuple(n: int) -> bytes:
    """A cache of (configuration, number): every key has the same large tuple in it."""
    shared = tuple(range(1000))
    return sized(n, lambda count: {(shared, at): at for at in range(count)})


@family("hold", honest=True)
def a_grid_of_keys(n: int) -> bytes:
    def grid(count: int) -> Any:
        side = max(int(count**0.5), 1)
        return {(x, y): None for x in range(-side // 2, side // 2) for y in range(-side // 2, side // 2)}

    return sized(n, lambda count: [grid(count)])


@family("hold", honest=True)
def keys_of_small_negative_numbers(n: int) -> bytes:
    """-1 and -2 have one hash, as have all tuples of them."""
    pairs = list(itertools.product((-2, -1, 0, 1, 2), repeat=7))
    return sized(n, lambda count: [set(pairs[: count // 100 + 1]) for _ in range(100)])


HONEST_KEYS: dict[str, Callable[[int], Any]] = {
    "floats of halves": lambda at: at / 2,
    "large floats": lambda at: at * 1e20,
    "powers of two": lambda at: 1 << at % 4000,
    "multiples of a power of two": lambda at: at << 32,
    "fractions": lambda at: fractions.Fraction(at, 360),
    "decimals": lambda at: decimal.Decimal(at) / 100,
    "complex": lambda at: complex(at % 1000, at // 1000),
    "UUIDs": lambda at: uuid.UUID(int=at * 0x1234567890ABCDEF1234567),
    "datetimes": lambda at: datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=at),
    "dates": lambda at: datetime.date.fromordinal(1 + at % 3_000_000),
    "timedeltas": lambda at: datetime.timedelta(seconds=at),
    "IPv4 addresses": lambda at: ipaddress.IPv4Address(at),
    "paths": lambda at: pathlib.PurePosixPath(f"a/b/{at}"),
    "tuples of text": lambda at: (f"a{at % 100}", f"b{at // 100}"),
    "frozensets": lambda at: frozenset((at, at + 1, at + 2)),
    "nested tuples": lambda at: ((at, (at, (at,))),),
    "enum members and ints": lambda at: (models.Color.RED, at),
    "frozen dataclasses": lambda at: models.DFrozen(at),
    "ranges": lambda at: range(at),
    "bytes": lambda at: at.to_bytes(4, "big"),
}


@family("hold", each=HONEST_KEYS, honest=True, types=TYPES)
def keys_of(n: int, make: Callable[[int], Any]) -> bytes:
    return sized(n, lambda count: dict.fromkeys(make(at) for at in range(count)))


@family(
    "hold",
    each={
        name: HONEST_KEYS[name]
        for name in ("floats of halves", "multiples of a power of two", "complex", "fractions", "decimals")
    },
    honest=True,
)
def members_of(n: int, make: Callable[[int], Any]) -> bytes:
    return sized(n, lambda count: {make(at) for at in range(count)})


LARGE: dict[str, Callable[[int], Any]] = {
    "text": lambda size: "a" * size,
    "wide text": lambda size: "a" * (size - 4) + "😀",
    "bytes": bytes,
    "int": lambda size: 1 << 8 * size,
    "decimal": lambda size: decimal.Decimal("9" * size),
    "path": lambda size: pathlib.PurePosixPath("a/" * (size // 2)),
    "array of characters": lambda size: array.array("u", "a" * size),
    "array": lambda size: array.array("b", bytes(size)),
    "list of ints": lambda size: list(range(size // 3)),
    "dict of texts": lambda size: {f"key {at}": at for at in range(size // 14)},
    "layout": lambda size: build(models.PlainDict, **{f"a{at}": 1 for at in range(size // 8)}),
}


@family("hold", each=LARGE, honest=True, types=TYPES)
def large_value(n: int, make: Callable[[int], Any]) -> bytes:
    return holdall.dumps(make(n))


@family("hold", honest=True, most=100_000)
def a_long_pattern(n: int) -> bytes:
    return holdall.dumps(re.compile("a" * min(n, 70_000)))


@family("hold", honest=True, most=100_000)
def a_pattern_of_many_words(n: int) -> bytes:
    return holdall.dumps(re.compile("|".join(f"word{at}" for at in range(n // 9)), re.I))


@family("hold", honest=True, types=TYPES)
def a_linked_list(n: int) -> bytes:
    def made(count: int) -> Any:
        node = None
        for at in range(count):
            node = build(models.PlainSlots, value=at, right=node)
        return node

    return sized(n, made)


@family("hold", honest=True)
def one_text_in_many_lists(n: int) -> bytes:
    shared = "x" * 1000
    return sized(n, lambda count: [[shared, at] for at in range(count)])


@family("hold", honest=True)
def one_int_in_many_keys(n: int) -> bytes:
    shared = 1 << 2000
    return sized(n, lambda count: {(shared, at): at for at in range(count)})


@family("hold", honest=True)
def one_path_in_many_tuples(n: int) -> bytes:
    shared = pathlib.PurePosixPath("/usr/share/somewhere/else")
    return sized(n, lambda count: {(shared, at): at for at in range(count)})
