"""Hand-made bytes for hostile messages. Tag numbers come from `tag.rs`, the one place where they are written."""

from __future__ import annotations

import pathlib
import re
import struct
from typing import Any

TAG_RS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "format" / "src" / "hold" / "tag.rs"


class Tags:
    """The constants and rows of `tag.rs` as attributes: `TAG.LIST_FIX`, `TAG.VERSION`."""

    def __init__(self) -> None:
        source = TAG_RS.read_text()
        for name, value in re.findall(r"pub const (\w+): \w+ = (-?\w+);", source):
            setattr(self, name, int(value, 0))
        for name, first in re.findall(r"^ +(\w+) +(0x\w\w) \.\.= ", source, re.M):
            setattr(self, name, int(first, 16))
        # As docs/format.md names them: what is Python's alone has that word in the source.
        names = re.findall(r"\((\d+), KnownType::(?:Python)?(\w+),", source)
        self.known = {"NdArray" if name == "NumpyArray" else name: int(code) for code, name in names}

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"tag.rs has no {name}")


TAG = Tags()


def message(*parts: bytes) -> bytes:
    return bytes([TAG.VERSION]) + b"".join(parts)


def length(count: int) -> bytes:
    if count <= TAG.LENGTH_FIX:
        return bytes([count])
    for marker, code, most in ((TAG.LENGTH_16, "<H", 1 << 16), (TAG.LENGTH_32, "<I", 1 << 32)):
        if count < most:
            return bytes([marker]) + struct.pack(code, count)
    return bytes([TAG.LENGTH_64]) + struct.pack("<Q", count)


def sized(name: str, count: int, *values: bytes) -> bytes:
    """A tag that is followed by a length."""
    return bytes([getattr(TAG, name)]) + length(count) + b"".join(values)


def tag(name: str, *payload: bytes) -> bytes:
    return bytes([getattr(TAG, name)]) + b"".join(payload)


def integer(value: int) -> bytes:
    if TAG.INT_FIX_MIN <= value <= TAG.INT_FIX_MAX:
        return bytes([value & 0x3F])
    if -(1 << 63) <= value < 1 << 63:
        return tag("INT_64", struct.pack("<q", value))
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return sized("INT_BIG", len(raw), raw)


def text(value: str) -> bytes:
    if value.isascii():
        if len(value) <= TAG.ASCII_FIX_MAX:
            return bytes([TAG.ASCII_FIX + len(value)]) + value.encode()
        return sized("ASCII", len(value), value.encode())
    raw = value.encode()
    return sized("UTF_8", len(raw), raw)


def blob(value: bytes) -> bytes:
    return sized("BYTES", len(value), value)


NONE = tag("NONE")
EMPTY_LIST = bytes([TAG.LIST_FIX])


def sequence(*values: bytes) -> bytes:
    return sized("LIST", len(values), *values)


def tuple_(*values: bytes) -> bytes:
    return sized("TUPLE", len(values), *values)


def dict_(*items: bytes) -> bytes:
    return sized("DICT", len(items) // 2, *items)


def mark(value: bytes) -> bytes:
    return tag("MARK", value)


def reference(number: int) -> bytes:
    return tag("REF_32", struct.pack("<I", number))


def known(name: str, *values: bytes) -> bytes:
    return tag("KNOWN_TYPE", bytes([TAG.known[name]]), *values)


def shape(keys: list[str], *values: bytes) -> bytes:
    names = b"".join(map(text, keys))
    return tag("SHAPE", length(len(keys)), length(len(names)), names, *values)


def layout(kind: str, name: str, fields: list[str], *values: bytes, version: int = 1) -> bytes:
    names = b"".join(map(text, [name, *fields]))
    kind_byte = bytes([getattr(TAG, f"KIND_{kind.upper()}")])
    return tag("CLASS", kind_byte, length(version), length(len(fields)), length(len(names)), names, *values)


def instance(number: int, *values: bytes) -> bytes:
    return tag("INSTANCE_32", struct.pack("<I", number), *values)
