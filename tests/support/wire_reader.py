"""A reader of the hold format, written from docs/format.md alone: it shares no code with holdall.

It takes the numbers of tags, kinds and known types from the page's own tables, and makes the nodes that `neutral` shows.
It recurses, which a reader for others' data must not.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.neutral import Node
from tests.support.page_tables import CONTINUED, FLAGS, KINDS, KNOWN, LENT, TAGS, VERSIONS


class Malformed(Exception):
    pass


# Where only some tags will do (section 6): known type and place to tags.
DICT, SIZES = ("DICT", "DICT_EMPTY"), ("NONE", "INT_FIX", "INT_8", "INT_16", "INT_32", "INT_64")
STRICT = {("Deque", 0): SIZES, ("Deque", 1): ("LIST", "LIST_FIX")}
STRICT |= {("OrderedDict", 0): DICT, ("Counter", 0): DICT, ("DefaultDict", 1): DICT}
TEXTS = ("ASCII_FIX", "ASCII", "LATIN_1", "UCS_2", "UTF_8")
INTS = {"8": "<b", "16": "<h", "32": "<i", "64": "<q"}


@dataclass
class Layout:
    kind: str
    version: int
    name: str
    fields: list[str]


class Reader:
    def __init__(
        self,
        data: bytes,
        trust: bool = False,
        buffers: Sequence[bytes] | None = None,
        before: Reader | None = None,
    ) -> None:
        """before: who has read the message that this one may go on with."""
        if data[:1] and data[0] not in VERSIONS:
            raise Malformed("version")
        self.data, self.at, self.end = data, 0, len(data)
        self.buffers = buffers
        self.trusted = VERSIONS[self.u8()]
        if self.trusted and not trust:
            raise Malformed("trusted")
        self.numbered: list[Any] = []
        self.layouts: list[Layout] = []
        self.goes_on = data[0] == CONTINUED
        if self.goes_on:
            objects, layouts = self.length(), self.length()
            if before is None or len(before.numbered) != objects or layouts not in (0, len(before.layouts)):
                raise Malformed("without the messages before it")
            self.numbered, self.layouts = before.numbered.copy(), before.layouts[:layouts]

    def message(self) -> Any:
        self.numbered.append(None)
        first = len(self.numbered) - 1
        # A reference has no number of its own.
        again = self.goes_on and self.at < self.end and TAGS[self.data[self.at]][0].startswith("REF_")
        value = self.value(None if again else first)
        if self.at != len(self.data):
            raise Malformed("left over")
        return value

    # --- bytes ---
    def take(self, count: int) -> bytes:
        if count > self.end - self.at:
            raise Malformed("truncated")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code: str) -> Any:
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def u8(self) -> int:
        return self.take(1)[0]

    def length(self) -> int:
        first = self.u8()
        if first == 0xFF:
            raise Malformed("length")
        value = self.number({0xFC: "<H", 0xFD: "<I", 0xFE: "<Q"}[first]) if first >= 0xFC else first
        if value >= 1 << 63:
            raise Malformed("length")
        return value

    def text(self, name: str, at: int) -> str:
        if name in ("ASCII_FIX", "ASCII"):
            raw = self.take(at if name == "ASCII_FIX" else self.length())
            if not raw.isascii():
                raise Malformed("ascii")
            return raw.decode("ascii")
        length = self.length()
        if name == "LATIN_1":
            return self.take(length).decode("latin-1")
        if name == "UCS_2":
            return "".join(map(chr, struct.unpack(f"<{length}H", self.take(2 * length))))
        try:
            return self.take(length).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise Malformed("utf-8") from None

    # --- values ---
    def value(self, number: int | None = None) -> Any:
        """The next value; `number` is its own where it was marked (or is the first)."""
        name, at = TAGS[self.u8()]
        if name in ("MARK", "NAMED", "REF_8", "REF_16", "REF_32") and number is not None:
            raise Malformed("mark")
        if name in ("MARK", "NAMED"):
            if name == "NAMED" and self.at < self.end and TAGS[self.data[self.at]][0] not in TEXTS:
                raise Malformed("named")
            self.numbered.append(None)
            return self.value(len(self.numbered) - 1)
        if name.startswith("REF_"):
            which = self.number({"8": "<B", "16": "<H", "32": "<I"}[name[4:]])
            if which >= len(self.numbered) or self.numbered[which] is None:
                raise Malformed("reference")
            return self.numbered[which]
        found = self.plain(name, at, number)
        if number is not None and self.numbered[number] is None:
            self.numbered[number] = found
            if isinstance(found, Node):
                found.number = number
        return found

    def plain(self, name: str, at: int, number: int | None) -> Any:
        if name in ("NONE", "FALSE", "TRUE"):
            return {"NONE": None, "FALSE": False, "TRUE": True}[name]
        if name == "INT_FIX":
            return at if at < 48 else at - 64
        if name == "INT_BIG":
            return int.from_bytes(self.take(self.length()), "little", signed=True)
        if name.startswith("INT_"):
            return self.number(INTS[name[4:]])
        if name == "FLOAT":
            return {"float": self.bits()}
        if name == "COMPLEX":
            return {"complex": [self.bits(), self.bits()]}
        if name in ("ASCII_FIX", "ASCII", "LATIN_1", "UCS_2", "UTF_8"):
            return Node("text", self.text(name, at))
        if name in ("BYTES", "BYTEARRAY"):
            return Node(name.lower(), self.take(self.length()))
        if name in ("ELLIPSIS", "NOT_IMPL"):
            return Node({"ELLIPSIS": "ellipsis", "NOT_IMPL": "notimplemented"}[name])
        if name in ("LIST_FIX", "TUPLE_FIX", "LIST", "TUPLE", "SET", "FROZENSET"):
            count = at if name.endswith("_FIX") else self.length()
            node = Node(name.removesuffix("_FIX").lower(), [])
            if name != "FROZENSET":
                self.begin(node, number)
            self.items(node.parts, count)
            return node
        if name.startswith(("LIST_", "TUPLE_")):
            return Node(name.split("_")[0].lower(), self.run(name.split("_")[1]))
        if name in ("DICT", "DICT_EMPTY"):
            return self.dict(name, number)
        if name in ("SHAPE", "CLASS"):
            return self.instance(self.layout(name), number)
        if name.startswith("INSTANCE_"):
            which = {"FIX": lambda: at, "8": lambda: 32 + self.u8(), "32": lambda: self.number("<I")}[
                name[9:]
            ]()
            if which >= len(self.layouts):
                raise Malformed("layout")
            return self.instance(self.layouts[which], number)
        if name == "KNOWN_TYPE":
            return self.known(number)
        if name in ("DATETIME", "DATETIME_ZONED"):
            bits = self.number("<Q")
            widths = [(47, 14), (43, 4), (38, 5), (33, 5), (27, 6), (21, 6), (1, 20), (0, 1)]
            fields = [bits >> low & (1 << width) - 1 for low, width in widths]
            return Node(
                "datetime", fields, extra={"zone": self.value() if name == "DATETIME_ZONED" else None}
            )
        if name == "BUFFER":
            return self.buffer()
        if self.trusted and name in ("GLOBAL", "PERSISTENT", "REDUCE"):
            return self.code(name, number)
        raise Malformed("tag")

    def buffer(self) -> Node:
        form, number = self.u8(), self.length()
        if form not in LENT:
            raise Malformed("form")
        if self.buffers is None:
            return Node("buffer", None, extra={"form": LENT[form], "of": number})
        if number >= len(self.buffers):
            raise Malformed("buffer")
        return Node("bytearray" if form == 3 else "bytes", self.buffers[number])

    def bits(self) -> str:
        return self.take(8)[::-1].hex()

    def begin(self, node: Node, number: int | None) -> None:
        """From here on the object can be referred to."""
        if number is not None:
            self.numbered[number] = node
            node.number = number

    def items(self, into: list[Any], count: int) -> None:
        if count > self.end - self.at:
            raise Malformed("truncated")
        for _ in range(count):
            into.append(self.value())

    def dict(self, name: str, number: int | None) -> Node:
        node = Node("dict", [])
        self.begin(node, number)
        count = 0 if name == "DICT_EMPTY" else self.length()
        if 2 * count > self.end - self.at:
            raise Malformed("truncated")
        for _ in range(count):
            node.parts.append([self.value(), self.value()])
        return node

    def run(self, kind: str) -> list[Any]:
        count = self.length()
        if kind == "F64":
            return [{"float": self.bits()} for _ in range(count)]
        if kind == "BOOL":
            raw = self.take(count)
            if max(raw, default=0) > 1:
                raise Malformed("bool")
            return [byte == 1 for byte in raw]
        if kind == "ASCII":
            lengths = self.take(count)
            texts = [self.take(length) for length in lengths]
            if not all(text.isascii() for text in texts):
                raise Malformed("ascii")
            return [Node("text", text.decode("ascii")) for text in texts]
        return [self.number(INTS[kind[1:]]) for _ in range(count)]

    # --- layouts ---
    def layout(self, tag: str) -> Layout:
        kind, version = "dict", 0
        if tag == "CLASS":
            code = self.u8()
            if code not in KINDS:
                raise Malformed("kind")
            kind, version = KINDS[code], self.length()
        fields, size = self.length(), self.length()
        stop, outer = self.at + size, self.end
        if stop > self.end:
            raise Malformed("truncated")
        self.end, names = stop, []
        while self.at < stop:
            names.append(self.name())
        self.end = outer
        name = names.pop(0) if tag == "CLASS" and names else ""
        if len(names) != fields or len(set(names)) != fields:
            raise Malformed("names")
        if (kind in ("enum", "custom") and fields) or any("\ud800" <= char <= "\udfff" for char in name):
            raise Malformed("names")
        self.layouts.append(Layout(kind, version, name, names))
        return self.layouts[-1]

    def name(self) -> str:
        tag, at = TAGS[self.u8()]
        if tag.startswith("REF_"):
            which = self.number({"8": "<B", "16": "<H", "32": "<I"}[tag[4:]])
            node = self.numbered[which] if which < len(self.numbered) else None
        elif tag in ("ASCII_FIX", "ASCII", "LATIN_1", "UCS_2", "UTF_8"):
            node = Node("text", self.text(tag, at), number=len(self.numbered))
            self.numbered.append(node)
        else:
            raise Malformed("names")
        if not isinstance(node, Node) or node.kind != "text":
            raise Malformed("names")
        return node.parts

    def instance(self, layout: Layout, number: int | None) -> Node:
        if layout.kind == "dict":
            node = Node("dict", [])
            self.begin(node, number)
            for key in layout.fields:
                node.parts.append([key, self.value()])
            return node
        extra = {"kind": layout.kind, "version": layout.version, "name": layout.name}
        node = Node("class", [], extra=extra)
        if layout.kind == "object":
            self.begin(node, number)
        else:
            # Which contents can be referred to from within, only the class could tell: here those of kind based.
            if layout.kind == "based":
                self.begin(node, number)
            extra["content"] = self.value()
        for name in layout.fields:
            node.parts.append([name, self.value()])
        return node

    # --- known types and code ---
    def known(self, number: int | None) -> Node:
        code = self.u8()
        if code not in KNOWN:
            raise Malformed("code")
        name, values = KNOWN[code]
        node = Node("known", [], extra={"known": name})
        if name in ("Deque", "OrderedDict", "DefaultDict", "Counter"):
            self.begin(node, number)
        values = values.split(". Or ")[0].replace("; or ", " or ")
        arity = 0 if values.startswith("none") else values.count(";") + 1
        for at in range(arity):
            tag = TAGS[self.data[self.at]][0] if self.at < self.end else ""
            if tag not in STRICT.get((name, at), (tag,)):
                raise Malformed("content")
            node.parts.append(self.value())
            if name == "NdArray" and at == 2:
                self.begin(node, number)  # one of objects can be referred to from within
        return node

    def code(self, tag: str, number: int | None) -> Node:
        if tag != "REDUCE":
            return Node(tag.lower(), [self.value() for _ in range(2 if tag == "GLOBAL" else 1)])
        flags = self.u8()
        if flags >= 1 << len(FLAGS) or flags & 3 == 3 or (flags & 32 and not flags & 16):
            raise Malformed("flags")
        node = Node("reduce", [], extra={"flags": flags})
        again = self.value() if flags & 64 else None
        node.parts += [self.value() for _ in range(3 if flags & 2 else 2)]
        for which in (number, again):
            if which is not None and self.numbered[which] is None:
                self.begin(node, which)
        node.parts += [self.value() for flag, has in FLAGS if 2 < flag < 64 and flags & flag and has]
        return node
