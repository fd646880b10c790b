"""BSON by hand: what an encoder never writes (deprecated types, invalid UTF-8, bad array keys), and how bytes are damaged.

The numbers of the types are those that PyMongo exports, https://bsonspec.org/spec.html has what follows each.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

from tests.support.bson_beside import oracle


def document(*elements: bytes) -> bytes:
    body = b"".join(elements)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def element(kind: bytes, payload: bytes = b"", name: bytes = b"a") -> bytes:
    return kind + name + b"\0" + payload


def string(text: bytes) -> bytes:
    return struct.pack("<i", len(text) + 1) + text + b"\0"


def binary(subtype: int, data: bytes) -> bytes:
    return struct.pack("<iB", len(data), subtype) + data


def old_binary(data: bytes) -> bytes:
    """Subtype 2 has its length twice."""
    return binary(2, struct.pack("<i", len(data)) + data)


def regex(pattern: bytes, flags: bytes) -> bytes:
    return pattern + b"\0" + flags + b"\0"


def scoped(code: bytes, scope: bytes) -> bytes:
    body = string(code) + scope
    return struct.pack("<i", len(body) + 4) + body


def int32(value: int) -> bytes:
    return struct.pack("<i", value)


def int64(value: int) -> bytes:
    return struct.pack("<q", value)


OID = bytes(range(0xF0, 0xFC))
NO_DOCUMENT = document()
ONE = document(element(oracle.BSONINT, int32(1), b"x"))

# A payload of each type, and of each form that a type has.
PAYLOADS: dict[str, tuple[bytes, bytes]] = {
    "double": (oracle.BSONNUM, struct.pack("<d", -1.5)),
    "NaN with payload": (oracle.BSONNUM, bytes.fromhex("120000000000f8ff")),
    "string": (oracle.BSONSTR, string("aé☆😀".encode())),
    "string with NUL": (oracle.BSONSTR, string(b"a\0b")),
    "empty string": (oracle.BSONSTR, string(b"")),
    "document": (oracle.BSONOBJ, ONE),
    "empty document": (oracle.BSONOBJ, NO_DOCUMENT),
    "DBRef": (oracle.BSONOBJ, document(element(oracle.BSONSTR, string(b"c"), b"$ref"), element(oracle.BSONOID, OID, b"$id"), element(oracle.BSONSTR, string(b"d"), b"$db"), element(oracle.BSONBOO, b"\1", b"more"))),
    "DBRef in another order": (oracle.BSONOBJ, document(element(oracle.BSONNUL, name=b"more"), element(oracle.BSONINT, int32(1), b"$id"), element(oracle.BSONSTR, string(b"c"), b"$ref"))),
    "no DBRef": (oracle.BSONOBJ, document(element(oracle.BSONINT, int32(1), b"$ref"), element(oracle.BSONOID, OID, b"$id"))),
    "no DBRef by $db": (oracle.BSONOBJ, document(element(oracle.BSONSTR, string(b"c"), b"$ref"), element(oracle.BSONNUL, name=b"$id"), element(oracle.BSONINT, int32(1), b"$db"))),
    "DBRef with $db null": (oracle.BSONOBJ, document(element(oracle.BSONSTR, string(b"c"), b"$ref"), element(oracle.BSONNUL, name=b"$id"), element(oracle.BSONNUL, name=b"$db"))),
    "array": (oracle.BSONARR, document(element(oracle.BSONINT, int32(1), b"0"), element(oracle.BSONSTR, string(b"x"), b"1"))),
    "array of all sorts": (oracle.BSONARR, document(element(oracle.BSONOBJ, ONE, b"0"), element(oracle.BSONARR, NO_DOCUMENT, b"1"), element(oracle.BSONNUL, name=b"2"), element(oracle.BSONLON, int64(5), b"3"), element(oracle.BSONRGX, regex(b"p", b"i"), b"4"))),
    "empty array": (oracle.BSONARR, NO_DOCUMENT),
    "binary 0": (oracle.BSONBIN, binary(0, b"\xff\0")),
    "binary 0, empty": (oracle.BSONBIN, binary(0, b"")),
    "binary 1": (oracle.BSONBIN, binary(1, b"\1\2")),
    "binary 2": (oracle.BSONBIN, old_binary(b"\xff\0")),
    "binary 3": (oracle.BSONBIN, binary(3, bytes(range(16)))),
    "binary 4": (oracle.BSONBIN, binary(4, bytes(range(16)))),
    "binary 9": (oracle.BSONBIN, binary(9, b"\x03\0\x7f")),
    "binary 255": (oracle.BSONBIN, binary(255, b"x")),
    "undefined": (oracle.BSONUND, b""),
    "object id": (oracle.BSONOID, OID),
    "false": (oracle.BSONBOO, b"\0"),
    "true": (oracle.BSONBOO, b"\1"),
    "datetime": (oracle.BSONDAT, int64(1_356_351_330_501)),
    "datetime before 1970": (oracle.BSONDAT, int64(-1)),
    "null": (oracle.BSONNUL, b""),
    "regex": (oracle.BSONRGX, regex("é.*".encode(), b"ilmsux")),
    "empty regex": (oracle.BSONRGX, regex(b"", b"")),
    "dbpointer": (oracle.BSONREF, string("é".encode()) + OID),
    "code": (oracle.BSONCOD, string(b"f()")),
    "symbol": (oracle.BSONSYM, string("é".encode())),
    "code with scope": (oracle.BSONCWS, scoped(b"f()", ONE)),
    "code with empty scope": (oracle.BSONCWS, scoped(b"", NO_DOCUMENT)),
    "int32": (oracle.BSONINT, int32(-(2**31))),
    "timestamp": (oracle.BSONTIM, struct.pack("<II", 2**32 - 1, 2**31)),
    "int64": (oracle.BSONLON, int64(-(2**63))),
    "small int64": (oracle.BSONLON, int64(1)),
    "decimal128": (oracle.BSONDEC, bytes.fromhex("01000000000000000000000000003e30")),
    "decimal128, not canonical": (oracle.BSONDEC, bytes.fromhex("dcba9876543210deadbeef000000106c")),
    "min key": (oracle.BSONMIN, b""),
    "max key": (oracle.BSONMAX, b""),
}  # fmt: skip

MESSAGES = {name: document(element(kind, payload)) for name, (kind, payload) in PAYLOADS.items()}
EVERYTHING = document(
    *(element(kind, payload, str(at).encode()) for at, (kind, payload) in enumerate(PAYLOADS.values()))
)

# Each place where text stands. Names in arrays are none: nobody reads them.
TEXT_PLACES = {
    "name": lambda text: element(oracle.BSONNUL, name=text),
    "name of a document's": lambda text: element(
        oracle.BSONOBJ, document(element(oracle.BSONNUL, name=text))
    ),
    "string": lambda text: element(oracle.BSONSTR, string(text)),
    "string in an array": lambda text: element(
        oracle.BSONARR, document(element(oracle.BSONSTR, string(text), b"0"))
    ),
    "symbol": lambda text: element(oracle.BSONSYM, string(text)),
    "code": lambda text: element(oracle.BSONCOD, string(text)),
    "scoped code": lambda text: element(oracle.BSONCWS, scoped(text, ONE)),
    "name in a scope": lambda text: element(
        oracle.BSONCWS, scoped(b"f", document(element(oracle.BSONNUL, name=text)))
    ),
    "pattern": lambda text: element(oracle.BSONRGX, regex(text, b"i")),
    "flags": lambda text: element(oracle.BSONRGX, regex(b"p", text)),
    "dbpointer": lambda text: element(oracle.BSONREF, string(text) + OID),
    "$ref": lambda text: element(
        oracle.BSONOBJ,
        document(element(oracle.BSONSTR, string(text), b"$ref"), element(oracle.BSONOID, OID, b"$id")),
    ),
}

# Not UTF-8: a stray byte, a cut sequence, a surrogate, more bytes than needed, beyond the last character.
BROKEN_TEXT = [b"\xff", b"ab\xe2\x98", b"\xed\xa0\x80x", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe9t\xe9"]

# Well formed by lengths, and still not what the specification says; each is read by PyMongo.
TOLERATED = {
    "array names out of order": element(oracle.BSONARR, document(element(oracle.BSONNUL, name=b"5"), element(oracle.BSONNUL, name=b"0"))),
    "array names twice": element(oracle.BSONARR, document(element(oracle.BSONTIM, bytes(8), b"0"), element(oracle.BSONNUL, name=b"0"))),
    "array names empty": element(oracle.BSONARR, document(element(oracle.BSONNUL, name=b""), element(oracle.BSONINT, int32(2), b""))),
    "array names of text": element(oracle.BSONARR, document(element(oracle.BSONSTR, string(b"x"), b"name"))),
    "array names not UTF-8": element(oracle.BSONARR, document(element(oracle.BSONINT, int32(1), b"\xff\xfe"))),
    "regex flags out of order": element(oracle.BSONRGX, regex(b"p", b"xi")),
    "regex flags twice": element(oracle.BSONRGX, regex(b"p", b"ii")),
    "regex flags unknown": element(oracle.BSONRGX, regex(b"p", b"zi9")),
    "regex not one": element(oracle.BSONRGX, regex(b"(", b"")),
    "names twice": element(oracle.BSONINT, int32(1)) + element(oracle.BSONLON, int64(2), b"b") + element(oracle.BSONNUL),
    "decimal128 out of range": element(oracle.BSONDEC, b"\xff" * 15 + b"\x6f"),
    "UUID of 3 bytes": element(oracle.BSONBIN, binary(4, b"abc")),
    "old UUID of 17 bytes": element(oracle.BSONBIN, binary(3, bytes(17))),
    "empty name": element(oracle.BSONNUL, name=b""),
}  # fmt: skip

# Bytes that lengths, types, terminators and text turn on.
TELLING = (0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x0F, 0x10, 0x24, 0x7F, 0x80, 0xC3, 0xFF)


def damaged(data: bytes, pick: random.Random) -> bytes:
    """`data` with some bytes changed, cut or doubled; mostly with a length that fits again."""
    changed = bytearray(data)
    for _ in range(pick.randint(1, 3)):
        at = pick.randrange(4, len(changed)) if len(changed) > 4 else 0
        way = pick.random()
        if way < 0.6:
            changed[at] = pick.choice(TELLING) if pick.random() < 0.5 else pick.randrange(256)
        elif way < 0.75:
            changed[at] = (changed[at] + pick.choice((-1, 1))) % 256
        elif way < 0.9:
            del changed[at : at + pick.randint(1, 4)]
        else:
            changed[at:at] = changed[at : at + pick.randint(1, 8)]
    if pick.random() < 0.9:
        changed[:4] = int32(len(changed))
    return bytes(changed)


def one_byte_changed(data: bytes) -> Iterator[bytes]:
    """Every byte of `data`, changed to those that matter; the first type to all there are."""
    changed = bytearray(data)
    for at, old in enumerate(data):
        for new in range(256) if at == 4 else {*TELLING, (old + 1) % 256, (old - 1) % 256, old ^ 0x20}:
            changed[at] = new
            yield bytes(changed)
        changed[at] = old
