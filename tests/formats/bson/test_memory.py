"""What hostile BSON can make `loads` allocate: small values that become large objects, and what bounds them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import holdall
from tests.hostile.test_memory import SLACK
from tests.support.bson_beside import bson, oracle
from tests.support.bson_wire import OID, binary, document, element, regex, scoped, string
from tests.support.each import each
from tests.support.hostile import MEMORY_MULTIPLE
from tests.support.probe import probe


def many(kind: bytes, payload: bytes = b"", size: int = 600_000) -> bytes:
    """An array of as many of them as there is room for. Names may be empty: nobody reads them."""
    item = element(kind, payload, b"")
    return document(element(oracle.BSONARR, document(item * (size // len(item)))))


def nested(kind: bytes, levels: int = 60_000) -> bytes:
    inner = document()
    # From within, without copying all of it each time.
    heads, size = [], len(inner)
    for _ in range(levels):
        size += len(element(kind)) + 5
        heads.append(struct.pack("<i", size) + element(kind))
    return b"".join(reversed(heads)) + inner + bytes(levels)


def fields(count: int) -> bytes:
    return document(*(element(oracle.BSONNUL, name=f"{at:x}".encode()) for at in range(count)))


KINDS: dict[str, tuple[bytes, bytes]] = {
    "empty documents": (oracle.BSONOBJ, document()),
    "empty arrays": (oracle.BSONARR, document()),
    "documents of one field": (oracle.BSONOBJ, document(element(oracle.BSONNUL, name=b""))),
    "documents of five fields": (oracle.BSONOBJ, fields(5)),
    "documents of eleven fields": (oracle.BSONOBJ, fields(11)),
    "arrays of one": (oracle.BSONARR, document(element(oracle.BSONNUL, name=b""))),
    "nothing": (oracle.BSONNUL, b""),
    "undefined": (oracle.BSONUND, b""),
    "bools": (oracle.BSONBOO, b"\1"),
    "ints": (oracle.BSONINT, struct.pack("<i", 10**9)),
    "long ints": (oracle.BSONLON, struct.pack("<q", 10**18)),
    "floats": (oracle.BSONNUM, struct.pack("<d", 1.5)),
    "empty text": (oracle.BSONSTR, string(b"")),
    "short text": (oracle.BSONSTR, string(b"ab")),
    "wide text": (oracle.BSONSTR, string("😀".encode())),
    "bytes": (oracle.BSONBIN, binary(0, b"")),
    "bytes of a subtype": (oracle.BSONBIN, binary(128, b"")),
    "UUIDs": (oracle.BSONBIN, binary(4, bytes(16))),
    "object ids": (oracle.BSONOID, OID),
    "datetimes": (oracle.BSONDAT, bytes(8)),
    "datetimes beyond": (oracle.BSONDAT, b"\xff" * 7 + b"\x7f"),
    "patterns": (oracle.BSONRGX, regex(b"", b"")),
    "code": (oracle.BSONCOD, string(b"")),
    "code with variables": (oracle.BSONCWS, scoped(b"", document())),
    "references": (oracle.BSONREF, string(b"") + OID),
    "clocks": (oracle.BSONTIM, b"\xff" * 8),
    "decimal numbers": (oracle.BSONDEC, bytes(16)),
    "least keys": (oracle.BSONMIN, b""),
    "greatest keys": (oracle.BSONMAX, b""),
}
# Made when they are needed: they are large.
BOMBS: dict[str, Callable[[], bytes]] = {
    **{name: partial(many, *kind) for name, kind in KINDS.items()},
    "documents in each other": lambda: nested(oracle.BSONOBJ),
    "arrays in each other": lambda: nested(oracle.BSONARR),
    "one wide document": lambda: fields(150_000),
    "wide documents": lambda: many(oracle.BSONOBJ, fields(1_000)),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.xdist_group("memory")
def test_bombs(name: str) -> None:
    data = BOMBS[name]()
    verdict, grown = probe(data, "holdall.bson")
    assert verdict == "loaded", "a default limit is in the way"
    assert grown <= MEMORY_MULTIPLE * len(data) + SLACK, f"{grown / len(data):.0f} bytes per byte"


# Values that others count as leaves: their objects are small, as in every format.
LEAVES = {"nothing", "undefined", "bools", "ints", "long ints", "floats", "empty text", "short text", "wide text", "bytes", "datetimes", "datetimes beyond"}  # fmt: skip


@each("name", sorted(KINDS.keys() - LEAVES))
@each("annotation", [Any, dict[str, list[Any]]], ids=["untyped", "typed"])
def test_a_limit_of_memory_counts_them(name: str, annotation: Any) -> None:
    data = many(*KINDS[name], size=60_000)
    bson.loads(data, type=annotation, limits=holdall.Limits(bytes=20_000_000))
    items = len(bson.loads(data)["a"])
    # More than the list of them takes by itself.
    few = 9 * items + 1_000
    with pytest.raises(holdall.LimitError, match=rf"takes more memory than limits\.bytes={few}\b"):
        bson.loads(data, type=annotation, limits=holdall.Limits(bytes=few))


def claims() -> dict[str, bytes]:
    """Lengths that lie: of each kind that has one."""
    found = {}
    for name, kind, rest in (
        ("text", oracle.BSONSTR, b"a\0"),
        ("code", oracle.BSONCOD, b"a\0"),
        ("symbol", oracle.BSONSYM, b"a\0"),
        ("reference", oracle.BSONREF, b"a\0" + OID),
        ("bytes", oracle.BSONBIN, b"\0a"),
        ("bytes of the old form", oracle.BSONBIN, b"\2\1\0\0\0a"),
        ("document", oracle.BSONOBJ, b"\0"),
        ("array", oracle.BSONARR, b"\0"),
        ("code with variables", oracle.BSONCWS, string(b"a") + document()),
    ):
        for length in (-(2**31), -1, 0, 1 << 16, 1 << 30, (1 << 31) - 1):
            found[f"{name} of {length}"] = document(element(kind, struct.pack("<i", length) + rest))
    return found


@pytest.mark.xdist_group("memory")
def test_claimed_lengths_allocate_nothing() -> None:
    import tracemalloc

    for name, data in claims().items():
        for annotation in (Any, dict[str, list[int]], dict[str, str]):
            tracemalloc.start()
            try:
                with pytest.raises(holdall.DecodeError):
                    bson.loads(data, type=annotation)
                assert tracemalloc.get_traced_memory()[1] < 100_000, name
            finally:
                tracemalloc.stop()
