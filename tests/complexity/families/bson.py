"""BSON: documents in documents, and what a document may hold."""

from __future__ import annotations

import datetime
import decimal
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import holdall
from holdall import bson
from tests.complexity.family import copies, family, fill
from tests.complexity.probes import cycle_ints
from tests.support import bson_wire as b

TYPED = ("typed", "lax")
INT32, INT64, STRING, DOCUMENT, ARRAY, BINARY, NULL = (
    b"\x10",
    b"\x12",
    b"\x02",
    b"\x03",
    b"\x04",
    b"\x05",
    b"\x0a",
)


def array(*values: bytes, kind: bytes) -> bytes:
    """Names that are empty: nobody reads them."""
    return b.document(*(kind + b"\0" + value for value in values))


def holding(kind: bytes, payload: bytes) -> bytes:
    return b.document(b.element(kind, payload))


def nested_in(n: int, kind: bytes, name: bytes = b"a", before: bytes = b"", after: bytes = b"") -> bytes:
    """Documents in documents: each has its length, and ends with a zero."""
    level = 4 + len(before) + 1 + len(name) + 1 + len(after) + 1
    depth = n // level
    heads, size = [], 5
    for _ in range(depth):
        size += level
        heads.append(struct.pack("<i", size) + before + kind + name + b"\0")
    return b"".join(reversed(heads)) + b"\x05\0\0\0\0" + (after + b"\0") * depth


@family("bson", each={"documents": DOCUMENT, "arrays": ARRAY})
def nested(n: int, kind: bytes) -> bytes:
    return nested_in(n, kind)


@family("bson", each={"documents": DOCUMENT, "arrays": ARRAY})
def nested_without_names(n: int, kind: bytes) -> bytes:
    return nested_in(n, kind, b"")


@family("bson")
def nested_behind_others(n: int) -> bytes:
    return nested_in(n, DOCUMENT, b"a", b"\x0ax\0", b"\x0ay\0")


@family("bson")
def nested_references(n: int) -> bytes:
    """Documents with `$ref` and `$id` in their `$id`."""
    return nested_in(n, DOCUMENT, b"$id", STRING + b"$ref\0" + b.string(b"c"))


@family("bson")
def nested_scopes(n: int) -> bytes:
    """Code, whose scope holds code."""
    level = 4 + 1 + 2 + 4 + 5 + 1
    depth = n // level
    heads, size = [], 5
    for _ in range(depth):
        code = 4 + 5 + size
        size += level
        heads.append(struct.pack("<i", size) + b"\x0fa\0" + struct.pack("<i", code) + b.string(b""))
    return b"".join(reversed(heads)) + b"\x05\0\0\0\0" + b"\0" * depth


@family("bson")
def lengths_that_reach_to_the_end(n: int) -> bytes:
    """Every document says that it has all that is left: checked at its end alone, it would be looked at again and again."""
    body = bytearray()
    while len(body) < n:
        body += struct.pack("<i", n - len(body)) + b"\x03a\0"
    return bytes(body[:n])


SIDE_BY_SIDE: dict[str, tuple[bytes, bytes]] = {
    "documents": (DOCUMENT, b.NO_DOCUMENT),
    "arrays": (ARRAY, b.NO_DOCUMENT),
    "documents of one": (DOCUMENT, b.ONE),
    "strings": (STRING, b.string(b"")),
    "astral strings": (STRING, b.string("😀".encode())),
    "binaries": (BINARY, b.binary(0, b"")),
    "binaries of another kind": (BINARY, b.binary(9, b"")),
    "UUIDs": (BINARY, b.binary(4, bytes(16))),
    "vectors": (BINARY, b.binary(9, b"\x03\0\x7f")),
    "ints": (INT32, b.int32(1000)),
    "int64s": (INT64, b.int64(1)),
    "object ids": (b"\x07", bytes(12)),
    "datetimes": (b"\x09", b.int64(0)),
    "datetimes out of range": (b"\x09", b.int64(1 << 62)),
    "nulls": (NULL, b""),
    "regexes": (b"\x0b", b.regex(b"a", b"")),
    "regexes with flags": (b"\x0b", b.regex(b"a", b"ilmsux" * 3)),
    "empty regexes": (b"\x0b", b.regex(b"", b"")),
    "regexes that are none": (b"\x0b", b.regex(b"(", b"")),
    "pointers": (b"\x0c", b.string(b"") + bytes(12)),
    "codes": (b"\x0d", b.string(b"")),
    "symbols": (b"\x0e", b.string(b"")),
    "scoped codes": (b"\x0f", b.scoped(b"", b.NO_DOCUMENT)),
    "clocks": (b"\x11", bytes(8)),
    "decimals": (b"\x13", bytes.fromhex("01000000000000000000000000003e30")),
    "decimals of large exponents": (b"\x13", bytes.fromhex("0100000000000000000000000000fe5f")),
    "smallest keys": (b"\xff", b""),
    "references": (DOCUMENT, b.document(b.element(STRING, b.string(b"c"), b"$ref"), b.element(b"\x07", bytes(12), b"$id"))),
}  # fmt: skip


@family("bson", each=SIDE_BY_SIDE)
def side_by_side(n: int, what: tuple[bytes, bytes]) -> bytes:
    return holding(ARRAY, b.document(*copies(n, b.element(*what, name=b""))))


@family(
    "bson", each=SIDE_BY_SIDE.keys() & {"documents", "nulls", "regexes", "ints", "decimals", "references"}
)
def members(n: int, name: str) -> bytes:
    """Of one document, each under a name of its own."""
    kind, payload = SIDE_BY_SIDE[name]
    return b.document(*fill(n, lambda at: b.element(kind, payload, f"{at:x}".encode())))


@family("bson")
def one_name_again(n: int) -> bytes:
    return b.document(*copies(n, b.element(NULL)))


@family("bson")
def long_names(n: int) -> bytes:
    size = int(n**0.5)
    return b.document(*fill(n, lambda at: b.element(NULL, b"", b"x" * size + f"{at}".encode())))


@family("bson")
def one_long_name(n: int) -> bytes:
    return b.document(b.element(NULL, b"", b"x" * n))


@family("bson")
def long_names_in_an_array(n: int) -> bytes:
    return holding(ARRAY, b.document(*copies(n, b.element(NULL, b"", b"9" * 1000))))


@family("bson")
def keys_of_shapes(n: int) -> bytes:
    """Documents of few keys, each time other ones: what is kept of them must not grow."""
    return holding(
        ARRAY,
        b.document(
            *fill(
                n, lambda at: b.element(DOCUMENT, b.document(b.element(NULL, b"", f"k{at:x}".encode())), b"")
            )
        ),
    )


@family("bson")
def documents_of_many_keys(n: int) -> bytes:
    """Just as many as make a table grow."""
    one = b.document(*(b.element(NULL, b"", f"{at:x}".encode()) for at in range(43)))
    return holding(ARRAY, array(*copies(n, one), kind=DOCUMENT))


REGEXES: dict[str, Callable[[int], bytes]] = {
    "classes": lambda size: b"[a-z]" * (size // 5),
    "case-insensitive full classes": lambda size: "[\x01-\U0010ffff]".encode() * (size // 7),
    "groups": lambda size: b"(" * (size // 2) + b")" * (size // 2),
    "alternatives": lambda size: b"|".join(b"a%d" % at for at in range(size // 6)),
    "repeats": lambda size: b"(?:a{1,99}){1,99}" * (size // 17),
}


@family("bson", each=REGEXES, most=100_000)
def one_regex_of(n: int, make: Callable[[int], bytes]) -> bytes:
    return holding(b"\x0b", b.regex(make(min(n, 60_000)), b"i"))


@family("bson", each=REGEXES, most=1_000_000)
def many_regexes_of(n: int, make: Callable[[int], bytes]) -> bytes:
    return holding(
        ARRAY, array(*fill(n, lambda at: b.regex(make(60) + b"%d" % at, b"iu"[at % 2 :])), kind=b"\x0b")
    )


@family("bson")
def documents_one_behind_the_other(n: int) -> bytes:
    return b"".join(copies(n, b.NO_DOCUMENT))


@family("bson")
def documents_of_one_behind_the_other(n: int) -> bytes:
    return b"".join(copies(n, b.ONE))


@family("bson")
def one_string(n: int) -> bytes:
    return holding(STRING, b.string(b"a" * n + "😀".encode()))


@family("bson")
def one_binary(n: int) -> bytes:
    return holding(BINARY, b.binary(0, bytes(n)))


@family("bson")
def one_binary_vector(n: int) -> bytes:
    return holding(BINARY, b.binary(9, b"\x03\0" + bytes(n)))


@family("bson")
def one_packed_bits_vector(n: int) -> bytes:
    return holding(BINARY, b.binary(9, b"\x10\0" + bytes(n)))


# --- by type ---
@dataclass
class Node:
    a: Node | None = None
    value: int = 0


@holdall.register(tag="x", tag_field="kind", name="complexity.bson.Tagged")
@dataclass
class Tagged:
    a: Tagged | Other | None = None


@holdall.register(tag="y", tag_field="kind", name="complexity.bson.Other")
@dataclass
class Other:
    a: Tagged | Other | None = None


@family("bson", type=Node, doors=TYPED)
def nodes(n: int) -> bytes:
    return nested_in(n, DOCUMENT)


@family("bson", type=Tagged | Other, doors=TYPED)
def tags_behind_what_they_tag(n: int) -> bytes:
    return nested_in(n, DOCUMENT, b"a", b"", STRING + b"kind\0" + b.string(b"x"))


@family("bson", type=Node, doors=TYPED)
def unknown_fields_in_each_other(n: int) -> bytes:
    return nested_in(n, DOCUMENT, b"a", b"", DOCUMENT + b"more\0" + b.ONE)


@family("bson", type=dict[str, set[int]], doors=TYPED)
def colliding_ints_as_a_set(n: int) -> bytes:
    return holding(ARRAY, array(*fill(n, lambda at: b.int64(at << 32)), kind=INT64))


@family("bson", type=dict[str, dict[int, int]], doors=TYPED)
def colliding_ints_as_keys(n: int) -> bytes:
    p = (1 << 61) - 1
    return holding(
        DOCUMENT, b.document(*fill(n, lambda at: b.element(INT32, b.int32(1), str(at * p).encode())))
    )


@family("bson", type=dict[str, dict[int, int]], doors=TYPED, most=1_000_000)
def keys_in_one_cycle_of_probes(n: int) -> bytes:
    keys = cycle_ints(n // 16)
    return holding(DOCUMENT, b.document(*(b.element(INT32, b.int32(1), str(key).encode()) for key in keys)))


@family("bson", type=dict[str, set[uuid.UUID]], doors=TYPED)
def colliding_UUIDs_as_a_set(n: int) -> bytes:
    p = (1 << 61) - 1
    return holding(ARRAY, array(*fill(n, lambda at: b.binary(4, (at * p).to_bytes(16, "big"))), kind=BINARY))


@family("bson", type=dict[str, set[decimal.Decimal]], doors=TYPED)
def decimals_of_large_exponents_as_a_set(n: int) -> bytes:
    return holding(
        ARRAY, array(*fill(n, lambda at: struct.pack("<Q", at) + bytes(6) + b"\xfe\x5f"), kind=b"\x13")
    )


# --- honest ones ---
HONEST: dict[str, Callable[[int], Any]] = {
    "empty documents": lambda at: {},
    "empty lists": lambda at: [],
    "rows": lambda at: {"id": at, "name": f"row {at}"},
    "datetimes": lambda at: datetime.datetime(2024, 1, 1),
    "UUIDs": lambda at: uuid.UUID(int=at),
    "decimals": lambda at: decimal.Decimal(at),
}


@family("bson", each=HONEST, honest=True)
def many(n: int, make: Callable[[int], Any]) -> bytes:
    few = len(bson.dumps({"a": [make(at) for at in range(1000)]}))
    return bson.dumps({"a": [make(at) for at in range(n * 1000 // few)]})


@family("bson", honest=True)
def deep_documents(n: int) -> bytes:
    value: Any = {}
    for _ in range(n // 8):
        value = {"a": value}
    return bson.dumps(value)
