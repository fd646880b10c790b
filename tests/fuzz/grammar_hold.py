"""Messages of hold by its grammar: every element in every place, right most of the time.

`Message` writes a random value with references, layouts, marks, known types and runs. A message is mostly right, so that it reaches what
stands behind the first checks; `wrong` says how often an element is not what its place asks for: another length, a reference to what is
open, skipped or comes later, a layout of another kind, a part of another type, an equal or unhashable key.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from tests.fuzz.grammar_elements import FLOATS, RUNS, TEXTS
from tests.fuzz.grammar_known import KnownTypes
from tests.fuzz.mutations import LARGEST_INPUT
from tests.support.wire import TAG

SHAPE = -1
OBJECT, BASED, ENUM, CUSTOM = 0, 1, 2, 3


class Message(KnownTypes):
    """One message, written from its first value on."""

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
            # Long ones, too, which no cache holds besides.
            twice = self.pick(((*names[:1], "a")[:1], ("w" * 300,) * 2, ("k" * 60,) * 2))
            names = (*names, *twice) if self.random() < 0.5 else names[:-1]
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
                if self.bad():
                    self.reference(self.texts[-1])
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
            number, (kind, _, content, _) = next(
                ((at, layout) for at, layout in enumerate(self.layouts) if len(layout[1]) == 1),
                (0, self.layouts[0]),
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
            if (
                value
                and self.random() < 0.3
                and all(type(item) is int and -128 <= item < 128 for item in value)
            ):
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
SIMPLE: list[Way] = [
    Message.constant,
    Message.integer,
    Message.integer,
    Message.text,
    Message.text,
    Message.floating,
    Message.binary,
]
HASHABLE: list[Way] = [Message.constant, Message.integer, Message.text, Message.floating, Message.complex]
WAYS: list[Way] = [
    *SIMPLE, Message.complex, Message.run, *[Message.list] * 3, *[Message.tuple] * 2, *[Message.dict] * 3, *[Message.set] * 2,
    *[Message.shape] * 2, *[Message.new_class] * 6, *[Message.instance] * 6, *[Message.known] * 6, Message.datetime, Message.odd,
]  # fmt: skip
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
