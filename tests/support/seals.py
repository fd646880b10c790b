"""Seals as section 14 of docs/format.md has them, written from the page alone: HMAC from its definition, HKDF from its own."""

from __future__ import annotations

import hashlib
import struct

LOG_WITHIN = 30


def mac(key: bytes, data: bytes) -> bytes:
    key = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(one ^ 0x36 for one in key) + data).digest()
    return hashlib.sha256(bytes(one ^ 0x5C for one in key) + inner).digest()


def derived(key: bytes, info: bytes) -> bytes:
    return mac(mac(b"holdall seal 1", key), info + b"\1")


def key_id(key: bytes) -> bytes:
    return derived(key, b"\0")[:4]


def sealed(key: bytes, context: str, payload: bytes) -> bytes:
    tag = mac(derived(key, b"\1" + context.encode()), payload)[:16]
    return b"\xf1" + key_id(key) + tag + len(payload).to_bytes(5, "little") + payload


def sealed_log(key: bytes, context: str, log_id: bytes, pieces: list[tuple[int, int, bytes]]) -> bytes:
    """pieces: kind, records, bytes."""
    made, last = b"\xf2" + key_id(key) + log_id, bytes(16)
    for number, (kind, records, data) in enumerate(pieces):
        head = struct.pack("<Q", number) + last + bytes([kind]) + struct.pack("<Q", records)
        last = mac(derived(key, b"\2" + context.encode()), log_id + head + data)[:16]
        made += bytes([kind]) + struct.pack("<Q", records) + len(data).to_bytes(5, "little") + last + data
    return made


def pieces_of(data: bytes) -> list[bytes]:
    """The pieces of a sealed log, cut apart."""
    found, at = [], 21
    while at < len(data):
        end = at + LOG_WITHIN + int.from_bytes(data[at + 9 : at + 14], "little")
        found.append(data[at:end])
        at = end
    return found
