"""MessagePack: its containers, its keys, its points in time, and streams of values."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import holdall
from holdall import msgpack
from tests.complexity.family import copies, family, fill
from tests.complexity.probes import cycle_ints

P = (1 << 61) - 1
NIL = b"\xc0"
ONE = b"\x01"
TYPED = ("typed", "lax")


def array(*values: bytes) -> bytes:
    return b"\xdd" + struct.pack(">I", len(values)) + b"".join(values)


def map_(*items: bytes) -> bytes:
    return b"\xdf" + struct.pack(">I", len(items) // 2) + b"".join(items)


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\xdb" + struct.pack(">I", len(raw)) + raw if len(raw) > 31 else bytes([0xA0 + len(raw)]) + raw


def blob(value: bytes) -> bytes:
    return b"\xc6" + struct.pack(">I", len(value)) + value


def ext(code: int, data: bytes) -> bytes:
    return b"\xc9" + struct.pack(">Ib", len(data), code) + data


def uint(value: int) -> bytes:
    return b"\xcf" + struct.pack(">Q", value)


NESTED: dict[str, tuple[bytes, bytes]] = {
    "arrays": (b"\x91", b""),
    "wide heads": (b"\xdd\x00\x00\x00\x01", b""),
    "map values": (b"\x81\x01", b""),
    "map keys": (b"\x81", ONE),
    "arrays in keys": (b"\x81\x91", ONE),
    "arrays and maps": (b"\x91\x81\x01", b""),
    "pairs": (b"\x92\x01", b""),
}


@family("msgpack", each=NESTED)
def nested(n: int, parts: tuple[bytes, bytes]) -> bytes:
    depth = n // len(parts[0] + parts[1])
    return parts[0] * depth + ONE + parts[1] * depth


@family("msgpack", each=NESTED)
def nested_without_an_end(n: int, parts: tuple[bytes, bytes]) -> bytes:
    return parts[0] * (n // len(parts[0]))


SIDE_BY_SIDE = {
    "arrays": b"\x90",
    "maps": b"\x80",
    "arrays of one": b"\x91\x01",
    "maps of one": b"\x81\x01\x01",
    "empty texts": b"\xa0",
    "empty bytes": b"\xc4\x00",
    "floats": b"\xcb" + bytes(8),
    "short floats": b"\xca" + bytes(4),
    "ints": b"\xcd\x10\x00",
    "nil": NIL,
    "exts": b"\xd4\x05\x00",
    "empty exts": b"\xc7\x00\x05",
    "timestamps": b"\xd6\xff" + bytes(4),
    "long timestamps": b"\xc7\x0c\xff" + bytes(12),
    "timestamps out of range": b"\xc7\x0c\xff" + bytes(4) + b"\x7f" + bytes(7),
    "astral texts": b"\xa4" + "😀".encode(),
}


@family("msgpack", each=SIDE_BY_SIDE)
def side_by_side(n: int, part: bytes) -> bytes:
    return array(*copies(n, part))


@family("msgpack", each=SIDE_BY_SIDE.keys() & {"arrays", "maps", "nil", "exts", "empty texts"})
def stream_of(n: int, name: str) -> bytes:
    """Values one behind the other, with nothing around them."""
    return b"".join(copies(n, SIDE_BY_SIDE[name]))


@family("msgpack", each=("array", "map", "text", "bytes", "ext"))
def claims_all_that_is_left(n: int, what: str) -> bytes:
    code = {"array": b"\xdd", "map": b"\xdf", "text": b"\xdb", "bytes": b"\xc6", "ext": b"\xc9"}[what]
    body = bytearray()
    while len(body) < n:
        left = (n - len(body) - 6) // (2 if what == "map" else 1)
        body += code + struct.pack(">I", max(left, 1)) + (ONE if what == "map" else b"")
    return bytes(body)


@family("msgpack")
def truncated_text(n: int) -> bytes:
    """It claims more than comes: a reader must not look at all of it again with each piece."""
    return b"\xdb" + struct.pack(">I", 1 << 29) + b"a" * n


@family("msgpack")
def truncated_array_of_arrays(n: int) -> bytes:
    return b"\xdd" + struct.pack(">I", n * 2) + b"\x91\x01" * (n // 2)


@family("msgpack")
def truncated_array_of_texts(n: int) -> bytes:
    return b"\xdd" + struct.pack(">I", n) + b"".join(copies(n, text("x" * 100)))


@family("msgpack")
def one_text(n: int) -> bytes:
    return text("x" * n)


@family("msgpack")
def one_astral_character_behind_ascii(n: int) -> bytes:
    return text("a" * n + "😀")


@family("msgpack")
def distinct_keys(n: int) -> bytes:
    return map_(*[part for at in range(n // 8) for part in (text(f"{at:x}"), ONE)])


@family("msgpack")
def one_key_again(n: int) -> bytes:
    return map_(*[part for _ in range(n // 3) for part in (text("a"), ONE)])


COLLIDING: dict[str, Callable[[int], bytes]] = {
    # Only eight multiples fit 64 bits, so that ints collide by their low bits: in tables below 2**32 entries.
    "ints": lambda at: uint(at << 32),
    "ints, shuffled": lambda at: uint((at * 2654435761 & 0xFFFFFFFF) << 32),
    "floats": lambda at: b"\xcb" + struct.pack(">d", float(at << 32)),
    "arrays of -1 and -2": lambda at: b"\xdc\x00\x18" + bytes(0xFE if at >> bit & 1 else 0xFF for bit in range(24)),
    "arrays of arrays": lambda at: b"\xdc\x00\x18" + b"".join(b"\x91" + (b"\xfe" if at >> bit & 1 else b"\xff") for bit in range(24)),
    "timestamps": lambda at: b"\xd6\xff" + struct.pack(">I", at),
    "exts": lambda at: b"\xc7\x04\x05" + struct.pack(">I", at),
}  # fmt: skip


@family("msgpack", each=COLLIDING)
def keys_that_collide(n: int, make: Callable[[int], bytes]) -> bytes:
    keys = fill(n, lambda at: make(at) + ONE)
    return b"\xdf" + struct.pack(">I", len(keys)) + b"".join(keys)


@family("msgpack", most=1_000_000)
def keys_in_one_cycle_of_probes(n: int) -> bytes:
    """Hashes differ, and the ways to a free entry don't."""
    return map_(*[part for key in cycle_ints(n // 10) for part in (uint(key), ONE)])


@family("msgpack")
def deep_keys(n: int) -> bytes:
    return b"\x81" + b"\x91" * n + ONE + ONE


@family("msgpack")
def wide_keys(n: int) -> bytes:
    size = int(n**0.5)
    part = array(*[ONE] * size)
    return map_(*[one for at in range(n // (size + 15)) for one in (array(part, uint(at)), ONE)])


@family("msgpack")
def equal_wide_keys(n: int) -> bytes:
    part = array(*[ONE] * (n // 2))
    return map_(part, ONE, part, ONE)


# --- by type ---
@dataclass
class Node:
    value: Any = None
    next: Node | None = None


@holdall.register(tag="x", tag_field="kind", name="complexity.msgpack.Tagged")
@dataclass
class Tagged:
    inner: Tagged | Other | None = None


@holdall.register(tag="y", tag_field="kind", name="complexity.msgpack.Other")
@dataclass
class Other:
    inner: Tagged | Other | None = None


@dataclass
class Wide:
    a: list[int] = field(default_factory=lambda: [0] * 20)
    b: dict[str, int] = field(default_factory=dict)
    c: set[int] = field(default_factory=set)


@family("msgpack", type=Node, doors=TYPED)
def nodes(n: int) -> bytes:
    return b"\x81\xa4next" * (n // 6) + NIL


@family("msgpack", type=Tagged | Other, doors=TYPED)
def tags_behind_what_they_tag(n: int) -> bytes:
    """Each level is looked through for the tag that stands behind it."""
    level, tail = b"\x82\xa5inner", b"\xa4kind\xa1x"
    depth = n // len(level + tail)
    return level * depth + NIL + tail * depth


@family("msgpack", type=list[Tagged | Other], doors=TYPED)
def tags_behind_much(n: int) -> bytes:
    size = int(n**0.5)
    part = b"\x82\xa5inner" + array(*[ONE] * size) + b"\xa4kind\xa1x"
    return array(*copies(n, part))


@family("msgpack", type=Node, doors=TYPED)
def unknown_fields(n: int) -> bytes:
    return b"\x82\xa4more" + b"\x91" * n + ONE + b"\xa4next\xc0"


@family("msgpack", type=Node, doors=TYPED)
def unknown_fields_in_each_other(n: int) -> bytes:
    """What is unknown, passed over on every level."""
    level, tail = b"\x82\xa4next", b"\xa4more\x91\x91\x01"
    depth = n // len(level + tail)
    return level * depth + NIL + tail * depth


@family("msgpack", type=list[Wide], doors=TYPED)
def defaults_made_for_each(n: int) -> bytes:
    return array(*copies(n, b"\x80"))


@family("msgpack", type=list[int] | dict[str, Any] | str | None, doors=TYPED)
def union_of_a_deep_value(n: int) -> bytes:
    return b"\x91" * n + ONE


MANY: dict[str, tuple[Any, Callable[[int], bytes]]] = {
    "sets of colliding ints": (set[int], lambda at: uint(at << 32)),
    "sets of colliding tuples": (set[tuple[int, ...]], COLLIDING["arrays of -1 and -2"]),
    "sets of colliding UUIDs": (set[uuid.UUID], lambda at: text(str(uuid.UUID(int=at * P)))),
    "sets of colliding fractions": (set[fractions.Fraction], lambda at: text(f"{1 + 2 * P * at}/2")),
    "sets of colliding decimals": (set[decimal.Decimal], lambda at: text(str(at * P))),
    "sets of colliding complex": (set[complex], lambda at: b"\x92\xcb" + struct.pack(">d", -1000003.0 * at) + b"\xcb" + struct.pack(">d", float(at))),
    "sets of ints as text": (set[int], lambda at: text(str(at * P))),
    "sets of decimals of large exponents": (set[decimal.Decimal], lambda at: text(f"{at}E+999999")),
    "fractions of large exponents": (list[fractions.Fraction], lambda at: text(f"{at}E+999")),
    "fractions": (list[fractions.Fraction], lambda at: text(f"{at}/{at + 7}")),
    "datetimes": (list[datetime.datetime], lambda at: text("2024-01-01T00:00:00.123456+01:00")),
    "timedeltas": (list[datetime.timedelta], lambda at: text("P1DT2.5S")),
    "deques": (list[collections.deque[int]], lambda at: b"\x90"),
    "sets": (list[set[int]], lambda at: b"\x90"),
    "frozensets of one": (list[frozenset[int]], lambda at: b"\x91\x01"),
    "default dicts": (list[collections.defaultdict[str, int]], lambda at: b"\x80"),
}  # fmt: skip


@family("msgpack", type=fractions.Fraction, doors=TYPED, each=(3, 9, 18))
def one_fraction_of_an_exponent_of_digits(n: int, digits: str) -> bytes:
    """A dozen bytes: a power of ten."""
    return text("1E" + "9" * int(digits))


LARGE: dict[str, tuple[Any, Callable[[int], str]]] = {
    "int": (int, lambda size: "1" * size),
    "decimal": (decimal.Decimal, lambda size: "1" * size),
    "fraction": (fractions.Fraction, lambda size: "1" * (size // 2) + "/" + "7" * (size // 2)),
    "float": (float, lambda size: "1" * size),
    "float of underscores": (float, lambda size: "1_" * (size // 2) + "1"),
    "datetime": (datetime.datetime, lambda size: "2024-01-01T00:00:00." + "0" * size),
    "timedelta": (datetime.timedelta, lambda size: "P" + "1" * size + "D"),
    "bytes": (bytes, lambda size: "YWFh" * (size // 4)),
}


def _typed() -> None:
    for name, (wanted, make) in MANY.items():

        def many(n: int, make: Callable[[int], bytes] = make) -> bytes:
            return array(*fill(n, make))

        many.__name__ = name
        family("msgpack", type=wanted, doors=TYPED)(many)
    for name, (wanted, large) in LARGE.items():

        def one(n: int, large: Callable[[int], str] = large) -> bytes:
            return text(large(n))

        one.__name__ = f"one large: {name}"
        family("msgpack", type=wanted, doors=TYPED)(one)


_typed()

# --- honest ones ---
HONEST: dict[str, Callable[[int], Any]] = {
    "empty lists": lambda at: [],
    "empty dicts": lambda at: {},
    "rows": lambda at: {"id": at, "name": f"row {at}"},
    "int keys": lambda at: {at: at},
    "tuple keys": lambda at: {(at, "a"): at},
    "floats": lambda at: at / 7,
    "bytes": lambda at: b"",
}


@family("msgpack", each=HONEST, honest=True)
def many(n: int, make: Callable[[int], Any]) -> bytes:
    few = len(msgpack.dumps([make(at) for at in range(100)]))
    return msgpack.dumps([make(at) for at in range(n * 100 // few)])


@family("msgpack", honest=True)
def deep_lists(n: int) -> bytes:
    value: Any = None
    for _ in range(n):
        value = [value]
    return msgpack.dumps(value)


@family("msgpack", honest=True)
def one_large_dict(n: int) -> bytes:
    return msgpack.dumps({(at, -at % 100): at for at in range(n // 8)})


@family("msgpack", honest=True)
def one_large_dict_of_large_ints(n: int) -> bytes:
    return msgpack.dumps({at << 32: at for at in range(n // 12)})
