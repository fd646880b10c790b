"""Messages of hold by its grammar: every element in every place, right most of the time.

`Message` writes a random value with references, layouts, marks, known types and runs. A message is mostly right, so that it reaches what
stands behind the first checks; `wrong` says how often an element is not what its place asks for: another length, a reference to what is
open, skipped or comes later, a layout of another kind, a part of another type, an equal or unhashable key.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.fuzz.mutations import LARGEST_INPUT
from tests.support.wire import TAG

SHAPE = -1
OBJECT, BASED, ENUM, CUSTOM = 0, 1, 2, 3

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
INTS = [0, 1, -1, 2, 7, 47, 48, -16, -17, 127, 128, 255, 256, 65535, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 64, 10**30]
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


class Message:
    """One message, written from its first value on into `out`."""

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
            count = max(0, self.pick((count - 1, count + 1, count + 2, 0, 255, 65535, 1 << 31, (1 << 63) - 1, 1 << 63)))
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

    # --- values ---
    def message(self) -> bytes:
        self.out.append(TAG.VERSION if not self.bad() else self.pick((TAG.VERSION_TRUSTED, 0xE1, 0xC2)))
        self.number(False)
        self.value(marked=False)
        self.numbers[0] = True
        if self.bad():
            self.value()
        return bytes(self.out[:LARGEST_INPUT])

    def value(self, marked: bool | None = None) -> None:
        """Any value, with a mark now and then."""
        self.left -= 1
        if marked is None and self.random() < 0.25:
            named = self.random() < 0.05
            self.out.append(TAG.NAMED if named else TAG.MARK)
            number = self.number(False)
            if named and not self.bad():
                self.lasting.append(text := self.pick(TEXTS))
                self.text(text)
                self.texts.append(number)
            else:
                self.unmarked()
            self.numbers[number] = True
        elif marked is None and self.random() < 0.12 and self.reference():
            return
        else:
            self.unmarked()

    def unmarked(self) -> None:
        self.depth += 1
        if self.left <= 0 or self.depth > 40:
            self.pick(SIMPLE)(self)
        else:
            self.pick(WAYS)(self)
        self.depth -= 1

    def values(self, count: int) -> None:
        for _ in range(count):
            self.value()

    def few(self) -> int:
        at = self.random()
        return int(at * at * 6) if at < 0.97 else int(self.random() * 40)

    def constant(self) -> None:
        self.out.append(self.pick((TAG.NONE, TAG.TRUE, TAG.FALSE, TAG.ELLIPSIS, TAG.NOT_IMPL)))

    def floating(self) -> None:
        self.out.append(TAG.FLOAT)
        self.out += struct.pack("<d", self.pick(FLOATS))

    def complex(self) -> None:
        self.out.append(TAG.COMPLEX)
        self.out += struct.pack("<dd", self.pick(FLOATS), self.pick(FLOATS))

    def binary(self) -> None:
        self.blob(self.rng.randbytes(self.few()), self.pick((TAG.BYTES, TAG.BYTEARRAY)))

    def sequence(self, fixed: int, most: int, tag: int) -> None:
        count = self.few()
        if count <= most and self.random() < 0.9:
            self.out.append(fixed + count)
            if self.bad():
                count = self.few()
        else:
            self.out.append(tag)
            self.length(count)
        self.values(count)

    def list(self) -> None:
        self.sequence(TAG.LIST_FIX, 15, TAG.LIST)

    def tuple(self) -> None:
        self.sequence(TAG.TUPLE_FIX, 7, TAG.TUPLE)

    def dict(self) -> None:
        count = self.few()
        if not count:
            self.out.append(TAG.DICT_EMPTY)
            return
        self.out.append(TAG.DICT)
        self.length(count)
        self.members(count, True)

    def set(self) -> None:
        self.set_of(self.pick((TAG.SET, TAG.FROZENSET)))

    def set_of(self, tag: int) -> None:
        count = self.few()
        self.out.append(tag)
        self.length(count)
        self.members(count, False)

    def members(self, count: int, items: bool) -> None:
        """Keys that differ, but now and then; with values, if they are of a dict."""
        first, span = int(self.random() * 31), (0, 0)
        for at in range(count):
            start = len(self.out)
            if at and self.bad():
                # The last one again.
                self.out += self.out[span[0] : span[1]]
            else:
                self.key(first + at)
            span = (start, len(self.out))
            if items:
                self.value()

    def key(self, at: int) -> None:
        """A key or a set's member; others have another number."""
        way = self.random()
        marked = self.random() < 0.15
        if way < 0.08 and self.texts:
            self.reference(self.pick(self.texts))
            return
        if marked:
            self.out.append(TAG.MARK)
            number = self.number(False)
        if self.bad():
            self.value(marked=False) if self.random() < 0.7 else self.integer(1)
        elif way < 0.6:
            if marked:
                self.texts.append(number)
            self.text(TEXTS[at % len(TEXTS)] if self.random() < 0.8 else f"key {at}")
        elif way < 0.75:
            self.integer(self.pick((1000, -1000, 1 << 61, (1 << 61) - 1)) + at)
        elif way < 0.85:
            count = 1 + int(self.random() * 3)
            self.out.append(TAG.TUPLE_FIX + count)
            self.integer(at)
            for _ in range(count - 1):
                if not (self.random() < 0.3 and self.reference()):
                    self.pick(HASHABLE)(self)
        elif way < 0.9:
            self.out.append(TAG.FROZENSET)
            self.length(1)
            self.integer(at)
        elif way < 0.94:
            self.instance_of(OBJECT)
        elif way < 0.97:
            self.instance_of(ENUM)
        else:
            self.pick(HASHABLE)(self)
        if marked:
            self.numbers[number] = True

    def run(self) -> None:
        """A packed run."""
        head = self.pick(("LIST_", "TUPLE_"))
        name = self.pick((*RUNS, "BOOL", "ASCII"))
        count = int(self.random() * 40)
        self.out.append(getattr(TAG, head + name))
        self.length(count)
        if name in RUNS:
            self.out += self.rng.randbytes(count * struct.calcsize("<" + RUNS[name]))
        elif name == "BOOL":
            self.out += bytes(self.pick((0, 1)) for _ in range(count))
            if count and self.bad():
                self.out[-1] = 2
        else:
            lengths = bytes(int(self.random() * 5) for _ in range(count))
            self.out += lengths + b"ab" * (sum(lengths) // 2) + b"c" * (sum(lengths) % 2)
            if count and self.bad():
                self.out[-1] = 0xFF

    # --- layouts ---
    def names(self, first: str | None, names: tuple[str, ...]) -> None:
        """The block of names behind its two lengths."""
        count = len(names)
        body, keep = bytearray(), self.out
        if self.bad():
            names = (*names, *(names[:1] or ("a",))) if self.random() < 0.5 else names[:-1]
        self.length(count)
        self.out = body
        for name in names if first is None else (first, *names):
            if self.wrong and self.texts and self.random() < 0.1:
                self.reference(self.pick(self.texts))
            elif self.bad():
                self.value()
            else:
                self.text(name)
                self.texts.append(self.number(True))
                self.lasting.append(name)
        self.out = keep
        self.length(len(body))
        self.out += body

    def shape(self) -> None:
        first, count = int(self.random() * 20), self.few()
        names = tuple(TEXTS[first : first + count])
        self.out.append(TAG.SHAPE)
        self.names(None, names)
        self.layouts.append((SHAPE, names, "", ()))
        self.values(len(names))

    def new_class(self, wanted: int | None = None) -> None:
        chosen = self.pick(self.classes)
        for _ in range(8):
            if wanted is None or chosen.kind == wanted:
                break
            chosen = self.pick(self.classes)
        kind, fields = chosen.kind, chosen.fields
        if self.bad():
            kind = self.pick((0, 1, 2, 3, 4))
        at = self.random()
        if kind in (ENUM, CUSTOM):
            fields = () if not self.bad() else fields
        elif at < 0.3:
            fields = tuple(sorted({self.pick(fields) for _ in range(self.few())})) if fields else ()
        elif at < 0.4 and self.bad():
            fields = (*fields, "late") if "late" not in fields else fields
        self.out.append(TAG.CLASS)
        self.out.append(kind)
        self.length(1 if self.random() < 0.95 else 2)
        self.names(chosen.name if not self.bad() else self.pick(TEXTS), fields)
        layout = (kind, fields, chosen.content, chosen.members)
        self.layouts.append(layout)
        self.fill(layout)

    def instance(self) -> None:
        if not self.layouts:
            self.new_class()
            return
        number = int(self.random() * len(self.layouts))
        self.again(number)

    def again(self, number: int) -> None:
        layout = self.layouts[number]
        if self.bad():
            number = self.pick((number + 1, len(self.layouts), 255, (1 << 32) - 1))
        if number < 32 and self.random() < 0.9:
            self.out.append(TAG.INSTANCE_FIX + number)
        elif 32 <= number < 288 and self.random() < 0.9:
            self.out += bytes((TAG.INSTANCE_8, number - 32))
        else:
            self.out.append(TAG.INSTANCE_32)
            self.out += number.to_bytes(4, "little")
        self.fill(layout)

    def instance_of(self, kind: int) -> None:
        for number, layout in enumerate(self.layouts):
            if layout[0] == kind and self.random() < 0.5:
                self.again(number)
                return
        self.new_class(kind)

    def fill(self, layout: tuple[int, tuple[str, ...], str, tuple[str, ...]]) -> None:
        kind, fields, content, members = layout
        if kind == ENUM:
            if members and not self.bad():
                self.text(self.pick(members))
            else:
                self.pick(SIMPLE)(self)
        elif kind == CUSTOM:
            self.value()
        else:
            if kind == BASED:
                if self.bad():
                    content = self.pick(CONTENTS)
                self.content(content)
            for _ in range(len(fields) if not self.bad() else len(fields) + 1):
                self.value()

    def content(self, of: str) -> None:
        """What an instance is beside its fields."""
        if self.bad():
            self.value()
        elif of in CONTENT_WAYS:
            CONTENT_WAYS[of](self)
        elif of == "exception":
            self.out.append(TAG.TUPLE_FIX + 2)
            self.sequence(TAG.TUPLE_FIX, 7, TAG.TUPLE)
            kept = [name for name in KEPT if self.random() < 0.25]
            if not kept:
                self.out.append(TAG.DICT_EMPTY)
                return
            self.out.append(TAG.DICT)
            self.length(len(kept))
            for name in kept:
                self.text(name)
                if name in ("__cause__", "__context__") and not self.bad():
                    if self.random() < 0.4 and self.left > 0:
                        self.left -= 1
                        self.exception()
                    elif not (self.random() < 0.5 and self.reference()):
                        self.out.append(TAG.NONE)
                elif name == "__suppress_context__" and not self.bad():
                    self.out.append(self.pick((TAG.TRUE, TAG.FALSE)))
                else:
                    self.value()
        else:
            self.value(marked=False)

    def exception(self) -> None:
        for number, layout in enumerate(self.layouts):
            if layout[2] == "exception" and self.random() < 0.6:
                self.again(number)
                return
        self.new_class(BASED)

    # --- known types ---
    def known(self) -> None:
        self.known_type(self.pick(KNOWN_NAMES))

    def known_type(self, name: str) -> None:
        self.out.append(TAG.KNOWN_TYPE)
        code = TAG.known[name]
        self.out.append(code if not self.bad() else self.pick((0, code + 1, 33, 255)))
        if name in KNOWN_WAYS:
            KNOWN_WAYS[name](self)
        elif name.endswith("Path"):
            self.special("path")
        elif name.startswith("IP"):
            self.special(name)
        elif name in ("OrderedDict", "Counter", "MappingProxy"):
            self.plain_dict()

    def special(self, which: str, value: str | None = None) -> None:
        if self.bad():
            self.value() if self.random() < 0.3 else self.text(self.pick(REFUSED))
        elif self.wrong and self.random() < 0.03 and self.texts:
            self.reference(self.pick(self.texts))
        else:
            self.text(value if value is not None else self.pick(SPECIAL[which]))

    def part(self, low: int, high: int) -> None:
        """An int of that range, or anything."""
        if self.bad():
            self.value()
        else:
            self.integer(self.rng.randint(low, high))

    def plain_dict(self) -> None:
        if self.bad():
            self.value()
            return
        self.dict()

    def zone(self) -> None:
        at = self.random()
        if self.bad():
            self.value()
        elif at < 0.4:
            self.known_type("Utc")
        elif at < 0.7:
            self.known_type("Timezone")
        else:
            self.known_type("ZoneInfo")

    def datetime(self) -> None:
        zoned = self.random() < 0.4
        self.out.append(TAG.DATETIME_ZONED if zoned else TAG.DATETIME)
        rng = self.rng
        fields = rng.randint(1, 9999) << 47 | rng.randint(1, 12) << 43 | rng.randint(1, 28) << 38 | self.clock()
        if self.bad():
            fields = rng.getrandbits(64)
        self.out += fields.to_bytes(8, "little")
        if zoned:
            self.zone()

    def clock(self) -> int:
        rng = self.rng
        return rng.randint(0, 23) << 33 | rng.randint(0, 59) << 27 | rng.randint(0, 59) << 21 | rng.randint(0, 999999) << 1 | rng.getrandbits(1)

    def time(self) -> None:
        self.part(0, 0) if self.random() < 0.2 else self.integer(self.clock())
        if self.random() < 0.5:
            self.out.append(TAG.NONE)
        else:
            self.zone()

    def timezone(self) -> None:
        self.part(-86_399_000_000, 86_399_000_000) if self.random() < 0.9 else self.integer()
        if self.random() < 0.5:
            self.out.append(TAG.NONE)
        else:
            self.special("path")

    def uuid(self) -> None:
        if self.bad():
            self.value()
        else:
            self.blob(self.rng.randbytes(16) + self.pick((b"", b"", b"\0", b"\xff", b"\1")))

    def pattern(self) -> None:
        text = self.pick(SPECIAL["pattern"])
        if self.random() < 0.3:
            self.blob(text.encode())
        else:
            self.special("pattern", text)
        self.part(0, 511)

    def range(self) -> None:
        for _ in range(3):
            if self.random() < 0.8:
                self.part(-100, 100)
            else:
                self.integer() if self.random() < 0.8 else self.value()

    def array(self) -> None:
        code = self.pick(SPECIAL["code"])
        self.special("code", code)
        if code in ("u", "w"):
            self.special("path")
        elif self.random() < 0.1 and self.reference():
            return
        else:
            self.blob(self.rng.randbytes(ITEM_SIZES.get(code, 8) * self.few() + self.bad()))

    def deque(self) -> None:
        if self.bad():
            self.value()
        elif self.random() < 0.6:
            self.out.append(TAG.NONE)
        else:
            self.integer(int(self.random() * 5))
        self.value() if self.bad() else self.list()

    def factory(self) -> None:
        at = self.random()
        if self.bad():
            self.value()
        elif at < 0.5:
            self.out.append(TAG.NONE)
        else:
            self.known_type("BuiltinType")

    def default_dict(self) -> None:
        self.factory()
        self.plain_dict()

    def dtype(self, depth: int = 0) -> None:
        at = self.random()
        if at < 0.7 or depth > 3:
            self.special("dtype")
        elif at < 0.82:
            self.out.append(TAG.TUPLE_FIX + 2)
            self.dtype(depth + 1)
            self.shape_of(self.rng.choices((0, 1, 2, 3, 1000), k=self.few() % 4))
        else:
            names = TEXTS[1 : 1 + self.few() % 6]
            count = 2 + 4 * len(names)
            self.out += bytes((TAG.LIST,))
            self.length(count)
            self.part(0, 64)
            self.part(0, 3)
            offset = 0
            for name in names:
                self.special("path", name)
                self.integer(offset) if not self.bad() else self.value()
                offset += 8
                self.out.append(TAG.NONE)
                self.dtype(depth + 1)

    def shape_of(self, lengths: Sequence[int]) -> None:
        if self.bad():
            self.value()
            return
        self.out.append(TAG.TUPLE)
        self.length(len(lengths))
        for length in lengths:
            self.integer(length)

    def nd_array(self) -> None:
        of = self.pick(list(DTYPE_SIZES))
        lengths = [self.pick((0, 1, 2, 3)) for _ in range(self.few() % 4)]
        size = DTYPE_SIZES[of]
        for length in lengths:
            size *= length
        if self.random() < 0.25:
            # Objects, fields and strings: items are values.
            if self.random() < 0.7:
                self.special("dtype", "O")
            else:
                self.known_type("NumpyDtype")
            self.shape_of(lengths)
            self.out.append(self.pick((TAG.TRUE, TAG.FALSE)))
            count = size // DTYPE_SIZES[of]
            self.out.append(TAG.LIST)
            self.length(count)
            self.values(count)
            return
        self.special("dtype", of)
        self.shape_of(lengths)
        if self.random() < 0.7:
            self.out.append(self.pick((TAG.TRUE, TAG.FALSE)))
        else:
            axes = list(range(len(lengths)))
            self.rng.shuffle(axes)
            self.out += bytes((TAG.TUPLE_FIX + min(7, 1 + len(axes)), self.pick((TAG.TRUE, TAG.FALSE)), *axes))
        at = self.random()
        if self.bad():
            self.value()
        elif at < 0.05:
            self.buffer()
        else:
            self.blob(self.rng.randbytes(size) if of != "<U5" else bytes(size))

    def buffer(self) -> None:
        self.out += bytes((TAG.BUFFER, self.pick((0, 1, 2, 3)) if not self.bad() else 4))
        self.length(self.buffers)
        self.buffers += 1

    def scalar(self) -> None:
        if self.random() < 0.3:
            self.special("dtype", "U")
            self.special("path")
        else:
            of = self.pick(list(DTYPE_SIZES))
            self.special("dtype", of)
            self.blob(self.rng.randbytes(DTYPE_SIZES[of]) if of != "<U5" else bytes(20))

    # --- rare ---
    def odd(self) -> None:
        """What is no element of this place, or of no place at all."""
        at = self.random()
        if not self.wrong or at < 0.3:
            self.deep()
        elif at < 0.5:
            self.out += bytes((TAG.REDUCE, self.pick((0, 1, 2, 4, 8, 16, 32, 64, 127, 255))))
            self.values(3)
        elif at < 0.6:
            self.out.append(TAG.GLOBAL)
            self.text("os")
            self.text("system")
        elif at < 0.7:
            self.out += bytes((TAG.MARK, TAG.MARK))
            self.value()
        elif at < 0.8:
            self.buffer()
        else:
            self.out.append(0xDB + int(self.random() * 37))

    def deep(self) -> None:
        """One container within another, many times."""
        step = bytearray()
        keep, self.out = self.out, step
        way, count = self.random(), self.pick((3, 30, 300, 3000))
        if way < 0.3:
            step.append(self.pick((TAG.LIST_FIX, TAG.TUPLE_FIX)) + 1)
        elif way < 0.5:
            step += bytes((self.pick((TAG.SET, TAG.FROZENSET, TAG.TUPLE, TAG.LIST)), 1))
        elif way < 0.6:
            step += bytes((TAG.DICT, 1, 0))
        elif way < 0.8:
            name = self.pick(("Deque", "OrderedDict", "Counter", "MappingProxy", "DefaultDict", "Slice"))
            step += bytes((TAG.KNOWN_TYPE, TAG.known[name]))
            step += {
                "Deque": bytes((TAG.NONE, TAG.LIST_FIX + 1)),
                "DefaultDict": bytes((TAG.NONE, TAG.DICT, 1, 1)),
                "Slice": bytes((TAG.NONE, TAG.NONE)),
            }.get(name, bytes((TAG.DICT, 1, 1)))
        elif self.layouts:
            # Instances of a layout with one value, so the next one stands in it.
            number, (kind, fields, content, _) = next(
                ((at, layout) for at, layout in enumerate(self.layouts) if len(layout[1]) == 1), (0, self.layouts[0])
            )
            step += bytes((TAG.INSTANCE_32,)) + number.to_bytes(4, "little")
            if kind == BASED:
                self.content(content)
            count = min(count, 300)
        else:
            step.append(TAG.LIST_FIX + 1)
        if self.random() < 0.2 and count <= 300:
            step[:0] = bytes((TAG.MARK,))
            for _ in range(count):
                self.number(False)
        self.out = keep
        self.out += step * min(count, max(1, (LARGEST_INPUT >> 2) // max(1, len(step))))
        self.pick(SIMPLE)(self)

    # --- given values ---
    def given(self, value: Any) -> bytes:
        """A message of that value."""
        self.out.append(TAG.VERSION)
        self.number(False)
        self.emitted(value)
        self.numbers[0] = True
        return bytes(self.out[:LARGEST_INPUT])

    def emit(self, value: Any) -> None:
        """A plain value as one of the forms that it has; with marks, and references in its place."""
        if self.random() < 0.1:
            self.out.append(TAG.MARK)
            number = self.number(False)
            self.emitted(value)
            self.numbers[number] = True
        elif self.random() < 0.03 and self.reference():
            return
        elif self.bad():
            self.value()
        else:
            self.emitted(value)

    def emitted(self, value: Any) -> None:
        out = self.out
        if value is None or value is True or value is False:
            out.append({None: TAG.NONE, True: TAG.TRUE, False: TAG.FALSE}[value])
        elif type(value) is int:
            self.integer(value)
        elif type(value) is float:
            out.append(TAG.FLOAT)
            out += struct.pack("<d", value)
        elif type(value) is str:
            self.text(value)
        elif type(value) is bytes:
            self.blob(value)
        elif type(value) is list:
            if value and self.random() < 0.3 and all(type(item) is int and -128 <= item < 128 for item in value):
                out.append(TAG.LIST_I8)
                self.length(len(value))
                out += struct.pack(f"{len(value)}b", *value)
                return
            out.append(self.pick((TAG.LIST, TAG.LIST, TAG.TUPLE)))
            self.length(len(value))
            for item in value:
                self.emit(item)
        elif type(value) is dict and all(type(key) is str for key in value) and self.random() < 0.6:
            names = tuple(value)
            same = next((at for at, layout in enumerate(self.layouts) if layout[:2] == (SHAPE, names)), None)
            if same is not None and same < 32:
                out.append(TAG.INSTANCE_FIX + same)
            else:
                out.append(TAG.SHAPE)
                self.names(None, names)
                self.layouts.append((SHAPE, names, "", ()))
            for item in value.values():
                self.emit(item)
        elif type(value) is dict:
            out.append(TAG.DICT)
            self.length(len(value))
            for key, item in value.items():
                self.emitted(key) if self.random() < 0.97 else self.emit(key)
                self.emit(item)
        else:
            # Whatever comes.
            self.unmarked()


KEPT = (
    "__cause__", "__context__", "__suppress_context__", "name", "path", "obj", "errno", "strerror", "filename", "filename2", "characters_written",
)  # fmt: skip
Way = Callable[[Message], None]
SIMPLE: list[Way] = [Message.constant, Message.integer, Message.integer, Message.text, Message.text, Message.floating, Message.binary]
HASHABLE: list[Way] = [Message.constant, Message.integer, Message.text, Message.floating, Message.complex]
WAYS: list[Way] = [
    *SIMPLE, Message.complex, Message.run, *[Message.list] * 3, *[Message.tuple] * 2, *[Message.dict] * 3, *[Message.set] * 2,
    *[Message.shape] * 2, *[Message.new_class] * 6, *[Message.instance] * 6, *[Message.known] * 6, Message.datetime, Message.odd,
]  # fmt: skip
KNOWN_WAYS: dict[str, Way] = {
    "Date": lambda m: m.part(1, 3652059),
    "Time": Message.time,
    "Timedelta": lambda m: m.part(-(10**17), 10**17),
    "Utc": lambda m: None,
    "Timezone": Message.timezone,
    "ZoneInfo": lambda m: m.special("ZoneInfo"),
    "Decimal": lambda m: m.special("Decimal"),
    "Fraction": Message.range,
    "Uuid": Message.uuid,
    "Pattern": Message.pattern,
    "Range": Message.range,
    "Slice": lambda m: m.values(3),
    "Array": Message.array,
    "Deque": Message.deque,
    "DefaultDict": Message.default_dict,
    "NdArray": Message.nd_array,
    "NumpyScalar": Message.scalar,
    "BuiltinType": lambda m: m.special("builtin"),
    "NumpyDtype": Message.dtype,
}
CONTENT_WAYS: dict[str, Way] = {
    "list": Message.list,
    "tuple": Message.tuple,
    "dict": Message.dict,
    "set": lambda m: m.set_of(TAG.SET),
    "frozenset": lambda m: m.set_of(TAG.FROZENSET),
    "str": Message.text,
    "bytes": lambda m: m.blob(b"some bytes"),
    "bytearray": lambda m: m.blob(b"some bytes", TAG.BYTEARRAY),
    "int": Message.integer,
    "float": Message.floating,
    "complex": Message.complex,
    "deque": lambda m: m.known_type("Deque"),
    "defaultdict": lambda m: m.known_type("DefaultDict"),
}
CONTENTS = [*CONTENT_WAYS, "exception", ""]
