"""The elements of hold's messages: lengths, numbers, text, references; and the values that are chosen from."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.support.wire import TAG

TEXTS = [
    "", "a", "b", "c", "d", "x", "y", "z", "name", "age", "note", "left", "right", "value", "links", "next", "é", "naïve", "日本語",
    "😀", "x" * 48, "k" * 255, "w" * 300, "self", "__class__", "__dict__", "0", "1", "_id", "args", "nul\0nul", "kind", "type",
]  # fmt: skip
# Texts that types make something of: numbers, paths, zones, addresses, dtypes, classes.
SPECIAL = {
    "Decimal": ["1.5", "-0", "NaN123", "sNaN", "-Infinity", "1E+999999", "1" * 300],
    "ZoneInfo": ["UTC", "Europe/Berlin", "America/New_York", "EST5EDT"],
    "path": ["a/b.txt", "/", "", ".", "..", "C:\\x\\y", "//host/share", "a" * 100],
    "IPv4Address": ["127.0.0.1", "0.0.0.0"],
    "IPv6Address": ["::1", "fe80::1%eth0", "::ffff:1.2.3.4"],
    "IPv4Network": ["10.0.0.0/8"],
    "IPv6Network": ["2001:db8::/32"],
    "IPv4Interface": ["10.1.2.3/8"],
    "IPv6Interface": ["2001:db8::1/32"],
    "pattern": ["a+", "(\\w+)\\d", "(?i)x", "(" * 30 + ")" * 30, "(?P<n>x)(?P=n)", "a{1,9}", "(?<=a)b", "^$", ""],
    "code": list("bBhHiIlLqQfdu"),
    "dtype": [
        "|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c16", "|S5", "|V5", "<U5", "<M8[ns]", "<m8[25s]", "<M8",
        "O", ">i4", ">f8",
    ],
    "builtin": "int float complex bool str bytes bytearray list tuple dict set frozenset object".split(),
}  # fmt: skip
# And what looks so and is refused, or should be.
REFUSED = [
    "", "x", "\ud800", "1e99999999999999999999", "../etc", "/etc/localtime", "a/b/c", "x" * 200, "Etc", "a\0b", "nul", "1.2.3.4/33", "::/129",
    "[a-z", "\\", "(?P<", "w", "bb", "<g63", "T", "T[nan]!", "|S0", "<U0", "|V0", "<U999999999", "|O", "i4", "<i3", "type", "eval", "1" * 5000,
]  # fmt: skip
ITEM_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4}
DTYPE_SIZES = {
    "|b1": 1, "|i1": 1, "|u1": 1, "<i2": 2, "<i4": 4, "<i8": 8, "<u8": 8, "<f2": 2, "<f4": 4, "<f8": 8, "<c16": 16, "|S5": 5, "|V5": 5,
    "<U5": 20, "<M8[ns]": 8, "<m8[25s]": 8, ">i4": 4, ">f8": 8,
}  # fmt: skip
INTS = [
    0,
    1,
    -1,
    2,
    7,
    47,
    48,
    -16,
    -17,
    127,
    128,
    255,
    256,
    65535,
    1 << 31,
    -(1 << 31),
    (1 << 63) - 1,
    -(1 << 63),
    1 << 63,
    1 << 64,
    10**30,
]
FLOATS = [0.0, -0.0, 1.0, 1.5, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308]
KNOWN_NAMES = list(TAG.known)
RUNS = {"I8": "b", "I16": "h", "I32": "i", "I64": "q", "F64": "d"}


class Class(NamedTuple):
    """What a message can say of a class: the name, the layout's kind, fields, and what its content is."""

    name: str
    kind: int
    fields: tuple[str, ...]
    content: str = ""
    members: tuple[str, ...] = ()


class Elements:
    """A message that is being written into `out`, and what it has numbered."""

    def __init__(
        self, rng: random.Random, classes: Sequence[Class], wrong: float, values: int, first: int = 0
    ) -> None:
        self.rng = rng
        self.random = rng.random
        self.wrong = wrong
        self.left = values
        self.classes = classes
        self.out = bytearray()
        # Of each number whether it is known to be made: False while it is open.
        self.numbers: list[bool] = [True] * first
        self.texts: list[int] = []
        self.layouts: list[tuple[int, tuple[str, ...], str, tuple[str, ...]]] = []
        self.depth = 0
        self.buffers = 0
        # Texts that last in a section of a log.
        self.lasting: list[str] = []

    def bad(self) -> bool:
        return self.wrong > 0 and self.random() < self.wrong

    def pick(self, many: Sequence[Any]) -> Any:
        return many[int(self.random() * len(many))]

    # --- elements ---
    def length(self, count: int) -> None:
        out, at = self.out, self.random()
        if self.wrong and at < self.wrong:
            count = max(
                0,
                self.pick((count - 1, count + 1, count + 2, 0, 255, 65535, 1 << 31, (1 << 63) - 1, 1 << 63)),
            )
            at = self.random()
        if count <= TAG.LENGTH_FIX and at < 0.95:
            out.append(count)
        elif count < 1 << 16 and at < 0.97:
            out += bytes((TAG.LENGTH_16,)) + count.to_bytes(2, "little")
        elif count < 1 << 32 and at < 0.99:
            out += bytes((TAG.LENGTH_32,)) + count.to_bytes(4, "little")
        else:
            out += bytes((TAG.LENGTH_64,)) + (count & (1 << 64) - 1).to_bytes(8, "little")

    def integer(self, value: int | None = None) -> None:
        if value is None:
            value = self.pick(INTS) if self.random() < 0.5 else int(self.random() * 50)
        at = self.random()
        if TAG.INT_FIX_MIN <= value <= TAG.INT_FIX_MAX and at < 0.9:
            self.out.append(value & 0x3F)
        elif -(1 << 31) <= value < 1 << 31 and at < 0.95:
            self.out.append(TAG.INT_32)
            self.out += struct.pack("<i", value)
        elif -(1 << 63) <= value < 1 << 63 and at < 0.98:
            self.out.append(TAG.INT_64)
            self.out += struct.pack("<q", value)
        else:
            size = value.bit_length() // 8 + 1 + (at > 0.99)
            self.out.append(TAG.INT_BIG)
            self.length(size)
            self.out += value.to_bytes(size, "little", signed=True)

    def text(self, value: str | None = None) -> None:
        if value is None:
            value = self.pick(TEXTS)
        ascii_, at, out = value.isascii(), self.random(), self.out
        if ascii_ and at < 0.9:
            if len(value) <= TAG.ASCII_FIX_MAX:
                out.append(TAG.ASCII_FIX + len(value))
            else:
                out.append(TAG.ASCII)
                self.length(len(value))
            out += value.encode()
        elif at < 0.93 and max(value, default="a") <= "\xff":
            out.append(TAG.LATIN_1)
            self.length(len(value))
            out += value.encode("latin-1")
        elif at < 0.95 and max(value, default="a") <= "\uffff":
            out.append(TAG.UCS_2)
            self.length(len(value))
            out += value.encode("utf-16-le", "surrogatepass")
        else:
            raw = value.encode("utf-8", "surrogatepass")
            if self.bad():
                raw = self.pick((b"\xff", b"\xed\xa0\x80", raw + b"\x80", b"\xc3"))
            out.append(TAG.UTF_8)
            self.length(len(raw))
            out += raw

    def blob(self, value: bytes, tag: int = TAG.BYTES) -> None:
        self.out.append(tag)
        self.length(len(value))
        self.out += value

    def number(self, made: bool) -> int:
        self.numbers.append(made)
        return len(self.numbers) - 1

    def reference(self, number: int | None = None) -> bool:
        """A reference, mostly to what is there; False if nothing is."""
        if number is None:
            count = len(self.numbers)
            if self.bad():
                number = self.pick((count, count + 1, 255, 65535, (1 << 32) - 1, 0))
            elif not count:
                return False
            else:
                number = int(self.random() * count)
                if not self.numbers[number] and self.random() < 0.6:
                    number = int(self.random() * count)
        at = self.random()
        if number < 256 and at < 0.9:
            self.out += bytes((TAG.REF_8, number))
        elif number < 65536 and at < 0.95:
            self.out.append(TAG.REF_16)
            self.out += number.to_bytes(2, "little")
        else:
            self.out.append(TAG.REF_32)
            self.out += (number & 0xFFFFFFFF).to_bytes(4, "little")
        return True

    def few(self) -> int:
        at = self.random()
        return int(at * at * 6) if at < 0.97 else int(self.random() * 40)
