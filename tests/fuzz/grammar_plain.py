"""MessagePack, BSON and Julia's tagged documents by their grammars, right most of the time.

Each has `emit`, which writes a given plain value in one of the forms that it has, and makes up values where none is given.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

from tests.fuzz.grammar_elements import FLOATS, INTS, TEXTS
from tests.fuzz.mutations import LARGEST_INPUT

ANYTHING = object()


class Made:
    """What the formats' writers share."""

    def __init__(self, rng: random.Random, wrong: float, values: int) -> None:
        self.rng = rng
        self.random = rng.random
        self.wrong = wrong
        self.left = values
        self.depth = 0

    def bad(self) -> bool:
        return self.wrong > 0 and self.random() < self.wrong

    def pick(self, many: Sequence[Any]) -> Any:
        return many[int(self.random() * len(many))]

    def few(self) -> int:
        at = self.random()
        return int(at * at * 6) if at < 0.97 else int(self.random() * 40)

    def made_up(self) -> Any:
        """A plain value for one place: a scalar, or an empty container's shape with more of them."""
        self.left -= 1
        at = self.random()
        if self.left > 0 and self.depth < 30:
            if at < 0.25:
                return [ANYTHING] * self.few()
            if at < 0.5:
                first = int(self.random() * 20)
                return dict.fromkeys(TEXTS[first : first + self.few()], ANYTHING)
        if at < 0.6:
            return self.pick((None, True, False))
        if at < 0.75:
            return self.pick(INTS[:-2])
        if at < 0.9:
            return self.pick(TEXTS)
        return self.pick(FLOATS) if at < 0.95 else self.rng.randbytes(self.few())


class Msgpack(Made):
    """A value of MessagePack's in `out`."""

    def __init__(self, rng: random.Random, wrong: float, values: int) -> None:
        super().__init__(rng, wrong, values)
        self.out = bytearray()

    def message(self, value: Any = ANYTHING) -> bytes:
        self.emit(value)
        if self.bad():
            self.emit(ANYTHING)
        return bytes(self.out[:LARGEST_INPUT])

    def head(self, count: int, *forms: tuple[int, int, int]) -> None:
        """A tag and a length, in a form that has room for it: tag, bytes of the length, and what fits."""
        fitting = [form for form in forms if count < form[2]]
        tag, size, _ = fitting[0] if self.random() < 0.85 else self.pick(fitting)
        if self.bad():
            count = max(0, self.pick((count - 1, count + 1, 0, 255, 65535, (1 << 32) - 1)))
            tag, size, _ = forms[-1]
        if size:
            self.out.append(tag)
            self.out += (count & (1 << 8 * size) - 1).to_bytes(size, "big")
        else:
            self.out.append(tag + count)

    def emit(self, value: Any) -> None:
        if value is ANYTHING or self.bad():
            if self.random() < 0.1:
                self.special()
                return
            value = self.made_up()
        out = self.out
        self.depth += 1
        if value is None or value is True or value is False:
            out.append({None: 0xC0, False: 0xC2, True: 0xC3}[value])
        elif type(value) is int:
            self.integer(value)
        elif type(value) is float:
            if self.random() < 0.2:
                out += b"\xca" + self.rng.randbytes(4)
            else:
                out += b"\xcb" + struct.pack(">d", value)
        elif type(value) is str:
            raw = value.encode("utf-8", "surrogatepass")
            if self.bad():
                raw = self.pick((b"\xff", b"\xed\xa0\x80", b"\xc3"))
            self.head(len(raw), (0xA0, 0, 32), (0xD9, 1, 256), (0xDA, 2, 65536), (0xDB, 4, 1 << 32))
            out += raw
        elif type(value) is bytes:
            self.head(len(value), (0xC4, 1, 256), (0xC5, 2, 65536), (0xC6, 4, 1 << 32))
            out += value
        elif type(value) is list:
            self.head(len(value), (0x90, 0, 16), (0xDC, 2, 65536), (0xDD, 4, 1 << 32))
            for item in value:
                self.emit(item)
        else:
            self.head(len(value), (0x80, 0, 16), (0xDE, 2, 65536), (0xDF, 4, 1 << 32))
            for key, item in value.items():
                start = len(out)
                if self.random() < 0.05:
                    self.emit(ANYTHING)
                else:
                    self.emit(key)
                if self.bad():
                    # The same key twice.
                    out += b"\xc0" + out[start:]
                self.emit(item)
        self.depth -= 1

    def integer(self, value: int) -> None:
        forms = [(b"\xd0", ">b", -(1 << 7), 1 << 7), (b"\xd1", ">h", -(1 << 15), 1 << 15), (b"\xd2", ">i", -(1 << 31), 1 << 31),
                 (b"\xd3", ">q", -(1 << 63), 1 << 63), (b"\xcc", ">B", 0, 1 << 8), (b"\xcf", ">Q", 0, 1 << 64)]  # fmt: skip
        if -32 <= value < 128 and self.random() < 0.8:
            self.out.append(value & 0xFF)
        else:
            fitting = [form for form in forms if form[2] <= value < form[3]] or [(b"\xcb", ">d", 0, 0)]
            tag, code, *_ = self.pick(fitting)
            self.out += tag + struct.pack(code, value)

    def special(self) -> None:
        """Timestamps, extensions, and the byte that is none."""
        at = self.random()
        if at < 0.6:
            nanoseconds = self.rng.randrange(10**9) if not self.bad() else self.rng.getrandbits(30)
            if at < 0.2:
                self.out += b"\xd6\xff" + self.rng.randbytes(4)
            elif at < 0.4:
                self.out += b"\xd7\xff" + (nanoseconds << 34 | self.rng.getrandbits(34)).to_bytes(8, "big")
            else:
                self.out += b"\xc7\x0c\xff" + struct.pack(
                    ">Iq", nanoseconds, self.rng.randint(-(10**11), 10**12)
                )
        elif at < 0.97 or not self.wrong:
            size = self.pick((0, 1, 2, 4, 8, 16, 300))
            fixed = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}
            if size in fixed and self.random() < 0.5:
                self.out.append(fixed[size])
            else:
                self.head(size, (0xC7, 1, 256), (0xC8, 2, 65536), (0xC9, 4, 1 << 32))
            self.out.append(self.pick((0, 1, 5, 127, 128, 255 if self.wrong else 42)))
            self.out += self.rng.randbytes(size)
        else:
            self.out.append(0xC1)


class Bson(Made):
    """Documents of BSON, with all its types."""

    def message(self, value: Any = ANYTHING) -> bytes:
        if type(value) is not dict:
            first = int(self.random() * 20)
            value = (
                {"v": value}
                if value is not ANYTHING
                else dict.fromkeys(TEXTS[first : first + 1 + self.few()], ANYTHING)
            )
        data = self.document(value)
        return (data + self.document({}) if self.bad() else data)[:LARGEST_INPUT]

    def size(self, count: int) -> bytes:
        if self.bad():
            count = self.pick((count - 1, count + 1, count + 4, 0, 4, 5, -1, (1 << 31) - 1, -(1 << 31), 255))
        return struct.pack("<i", count)

    def document(self, value: dict[str, Any]) -> bytes:
        body = b"".join(self.element(name, item) for name, item in value.items())
        return self.framed(body)

    def framed(self, body: bytes) -> bytes:
        return self.size(len(body) + 5) + body + (b"\0" if not self.bad() else self.pick((b"", b"\1")))

    def string(self, value: str) -> bytes:
        raw = value.encode("utf-8", "replace")
        if self.bad():
            raw = self.pick((b"\xff", b"\xed\xa0\x80", b"\xc3", b"a\0b"))
        return self.size(len(raw) + 1) + raw + b"\0"

    def named(self, kind: int, name: str, payload: bytes) -> bytes:
        raw = name.encode("utf-8", "replace").replace(b"\0", b"")
        if self.bad():
            kind, raw = (
                self.pick((kind, self.rng.randrange(256))),
                self.pick((raw, b"\xff", b"$ref", b"_id", b"0")),
            )
            if self.random() < 0.3:
                return (bytes((kind,)) + raw + b"\0" + payload) * 2
        return bytes((kind,)) + raw + b"\0" + payload

    def element(self, name: str, value: Any) -> bytes:
        if value is ANYTHING or self.bad():
            if self.random() < 0.25:
                return self.special(name)
            value = self.made_up()
        self.depth += 1
        if value is None:
            kind, payload = 10, b""
        elif value is True or value is False:
            kind, payload = 8, (b"\1" if value else b"\0") if not self.bad() else b"\2"
        elif type(value) is int:
            if -(1 << 31) <= value < 1 << 31 and self.random() < 0.7:
                kind, payload = 16, struct.pack("<i", value)
            else:
                kind, payload = 18, struct.pack("<q", (value + (1 << 63)) % (1 << 64) - (1 << 63))
        elif type(value) is float:
            kind, payload = 1, struct.pack("<d", value)
        elif type(value) is str:
            kind, payload = self.pick((2, 2, 2, 2, 14)), self.string(value)
        elif type(value) is bytes:
            kind, payload = 5, self.binary(0, value)
        elif type(value) is list:
            names = map(str, range(len(value))) if not self.bad() else ["0"] * len(value)
            kind, payload = 4, self.framed(b"".join(map(self.element, names, value)))
        else:
            kind, payload = 3, self.document(value)
        self.depth -= 1
        return self.named(kind, name, payload)

    def binary(self, subtype: int, data: bytes) -> bytes:
        if subtype == 2:
            data = self.size(len(data)) + data
        return self.size(len(data)) + bytes((subtype,)) + data

    def special(self, name: str) -> bytes:
        rng, way = self.rng, int(self.random() * 14)
        text = self.pick(TEXTS)
        if way == 0:
            return self.named(7, name, rng.randbytes(12))
        if way == 1:
            return self.named(
                9,
                name,
                struct.pack(
                    "<q", self.pick((0, 1, -1, 10**12, 1 << 62, -(1 << 63), 253402300799999, 253402300800000))
                ),
            )
        if way == 2:
            return self.named(17, name, rng.randbytes(8))
        if way == 3:
            return self.named(19, name, rng.randbytes(16))
        if way == 4:
            return self.named(self.pick((127, 255, 6)), name, b"")
        if way == 5:
            pattern = self.pick((b"a+", b"[", b"(?i)x", b"", b"\xff", b"(" * 50))
            return self.named(
                11, name, pattern + b"\0" + self.pick((b"", b"i", b"imsx", b"lu", b"zz")) + b"\0"
            )
        if way == 6:
            return self.named(12, name, self.string(text) + rng.randbytes(12))
        if way == 7:
            return self.named(13, name, self.string(text))
        if way == 8:
            body = self.string(text) + self.document(dict.fromkeys(TEXTS[1 : 1 + self.few()], ANYTHING))
            return self.named(15, name, self.size(len(body) + 4) + body)
        if way in (9, 10):
            subtype = self.pick((0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 128))
            return self.named(
                5,
                name,
                self.binary(
                    subtype, rng.randbytes(16 if subtype in (3, 4) and not self.bad() else self.few())
                ),
            )
        if way == 11:
            # A vector: its type and padding first.
            return self.named(
                5,
                name,
                self.binary(
                    9, bytes((self.pick((3, 0x27, 0x10, 1)), self.pick((0, 0, 3, 9)))) + rng.randbytes(8)
                ),
            )
        if way == 12:
            return self.named(
                3,
                name,
                self.document(
                    {"$ref": text, "$id": ANYTHING, **({"$db": text} if self.random() < 0.5 else {})}
                ),
            )
        inner = self.document({"a": ANYTHING})
        kind = self.pick((3, 4))
        for _ in range(self.pick((2, 30, 300))):
            inner = self.framed(self.named(kind, "0", inner))
            if len(inner) > LARGEST_INPUT >> 2:
                break
        return self.named(kind, name, inner)


CORE = "Any Int64 Int32 UInt8 UInt16 Float64 Float32 Float16 Bool Char String Symbol Array Tuple NamedTuple Union TypeVar Nothing Int128 SimpleVector Type DataType".split()  # fmt: skip
BASE = "Dict IdDict Set Complex Rational BitArray UnitRange StepRange StepRangeLen LinRange SubString UUID Missing RefValue Pair Some Pairs Regex ReshapedArray".split()  # fmt: skip
OTHERS = [
    ("Dates", "Date"), ("Dates", "DateTime"), ("Dates", "Time"), ("Dates", "Day"), ("Dates", "Month"), ("Main", "Fuzz", "Node"),
    ("Main", "Fuzz", "Point"), ("Main", "Fuzz", "Loose"), ("Main", "Foo"), ("Main", "Base", "MPFR", "BigFloat"), ("Main", "Base", "GMP", "BigInt"),
    ("LinearAlgebra", "Transpose"), ("LinearAlgebra", "Adjoint"), ("LinearAlgebra", "Diagonal"), ("Main", "Base", "#+"), (), ("Main", "Base"),
]  # fmt: skip
PATHS = [("Core", name) for name in CORE] + [("Main", "Base", name) for name in BASE] + OTHERS
BITS = {
    "Int64": 8,
    "Int32": 4,
    "UInt8": 1,
    "UInt16": 2,
    "Float64": 8,
    "Float32": 4,
    "Float16": 2,
    "Bool": 1,
    "Char": 4,
    "Int128": 16,
}


class Julia(Bson):
    """Tagged documents in a document: types, arrays, instances, references to what stands apart."""

    def __init__(self, rng: random.Random, wrong: float, values: int) -> None:
        super().__init__(rng, wrong, values)
        self.apart = self.pick((0, 0, 1, 2, 5))

    def message(self, value: Any = ANYTHING) -> bytes:
        first = int(self.random() * 20)
        members = value if type(value) is dict else {"v": value}
        if value is ANYTHING:
            members = dict.fromkeys(TEXTS[first : first + 1 + self.few()], ANYTHING)
        parts = [self.element(name, item) for name, item in members.items()]
        if self.apart:
            items = b"".join(
                self.tagged(str(at)) if self.random() < 0.8 else self.element(str(at), ANYTHING)
                for at in range(self.apart)
            )
            place = self.named(4, "_backrefs", self.framed(items))
            parts.insert(self.pick((0, len(parts))), place)
        return self.framed(b"".join(parts))[:LARGEST_INPUT]

    def element(self, name: str, value: Any) -> bytes:
        if (value is ANYTHING and self.random() < 0.6) or self.bad():
            return self.tagged(name)
        return super().element(name, value)

    def tagged(self, name: str) -> bytes:
        self.left -= 1
        self.depth += 1
        if self.left <= 0 or self.depth > 25:
            made = self.pick((Julia.symbol, Julia.bits, Julia.reference))(self)
        else:
            made = self.pick(JULIA_WAYS)(self)
        self.depth -= 1
        return self.named(3, name, made)

    def tag(self, name: str, *parts: bytes) -> bytes:
        if self.bad():
            name = self.pick(
                (
                    "struct",
                    "array",
                    "tuple",
                    "svec",
                    "symbol",
                    "datatype",
                    "unionall",
                    "ref",
                    "backref",
                    "jl_anonymous",
                    "x",
                )
            )
        many = [self.named(2, "tag", self.string(name)), *parts]
        if self.random() < 0.1:
            self.rng.shuffle(many)
        if self.bad():
            del many[int(self.random() * len(many))]
        return self.framed(b"".join(many))

    def many(self, name: str, count: int) -> bytes:
        return self.named(
            4, name, self.framed(b"".join(self.element(str(at), ANYTHING) for at in range(count)))
        )

    def reference(self) -> bytes:
        number = (
            1 + int(self.random() * self.apart)
            if self.apart and not self.bad()
            else self.pick((0, -1, self.apart + 1, 1 << 40))
        )
        return self.tag("backref", self.named(18, "ref", struct.pack("<q", number)))

    def symbol(self) -> bytes:
        return self.tag("symbol", self.named(2, "name", self.string(self.pick(TEXTS))))

    def tuple(self) -> bytes:
        return self.tag(self.pick(("tuple", "tuple", "svec")), self.many("data", self.few()))

    def path(self, name: str, path: Sequence[str]) -> bytes:
        if self.bad():
            return self.element(name, ANYTHING)
        return self.named(
            4,
            name,
            self.framed(b"".join(self.named(2, str(at), self.string(one)) for at, one in enumerate(path))),
        )

    def type(self, path: Sequence[str] | None = None) -> bytes:
        path = path or self.pick(PATHS)
        count = {
            "Dict": 2,
            "Array": 2,
            "Pair": 2,
            "Complex": 1,
            "Set": 1,
            "Tuple": 2,
            "NamedTuple": 2,
            "RefValue": 1,
        }.get(path[-1] if path else "", 0)
        if self.bad():
            count = self.few()
        params = b"".join(self.parameter(str(at)) for at in range(count if self.depth < 20 else 0))
        return self.tag("datatype", self.named(4, "params", self.framed(params)), self.path("name", path))

    def parameter(self, name: str) -> bytes:
        self.depth += 1
        at = self.random()
        if at < 0.7:
            made = self.named(3, name, self.type())
        elif at < 0.8:
            made = self.element(name, self.pick(INTS[:8]))
        else:
            made = self.tagged(name)
        self.depth -= 1
        return made

    def of(self, path: Sequence[str] | None = None) -> bytes:
        """The element `type`: a type, or now and then a reference or anything."""
        if self.bad():
            return self.element("type", ANYTHING)
        if self.apart and self.random() < 0.05:
            return self.named(3, "type", self.reference())
        return self.named(3, "type", self.type(path))

    def array(self) -> bytes:
        lengths = [self.pick((0, 1, 2, 3)) for _ in range(1 + self.few() % 3)]
        count = 1
        for length in lengths:
            count *= length
        if self.bad():
            lengths = [self.pick((-1, 1 << 31, 1 << 62, 1000))] * self.pick((1, 2, 33))
        shape = self.framed(
            b"".join(self.named(18, str(at), struct.pack("<q", length)) for at, length in enumerate(lengths))
        )
        at = self.random()
        if at < 0.5:
            name = self.pick(list(BITS))
            path: Sequence[str] = ("Core", name)
            data = self.named(
                5,
                "data",
                self.binary(
                    0,
                    bytes(count * BITS[name])
                    if name in ("Char", "Bool")
                    else self.rng.randbytes(count * BITS[name]),
                ),
            )
        else:
            path = self.pick(PATHS)
            data = self.many("data", count)
        return self.tag("array", self.of(path), self.named(4, "size", shape), data)

    def bits(self) -> bytes:
        name = self.pick(list(BITS))
        data = self.rng.randbytes(BITS[name]) if name not in ("Char", "Bool") else bytes(BITS[name])
        return self.tag("struct", self.of(("Core", name)), self.named(5, "data", self.binary(0, data)))

    def struct(self) -> bytes:
        path = self.pick(PATHS[len(CORE) :])
        count = {
            "Dict": 2, "IdDict": 2, "Set": 1, "Complex": 2, "Rational": 2, "UnitRange": 2, "StepRange": 3, "SubString": 4, "RefValue": 1,
            "Pair": 2, "Some": 1, "Date": 1, "DateTime": 1, "Node": 2, "Point": 2, "Loose": 2, "Transpose": 1, "Adjoint": 1, "Diagonal": 1,
        }.get(path[-1] if path else "", self.few())  # fmt: skip
        if self.bad():
            count = self.few()
        if path and path[-1] in ("Dict", "IdDict", "Set") and not self.bad():
            # Keys and values are arrays of one length.
            length = self.few()
            data = self.framed(b"".join(self.many(str(at), length) for at in range(count)))
            return self.tag("struct", self.of(path), self.named(4, "data", data))
        return self.tag("struct", self.of(path), self.many("data", count))

    def unionall(self) -> bytes:
        var = self.tag("struct", self.of(("Core", "TypeVar")), self.many("data", 3))
        return self.tag("unionall", self.named(3, "var", var), self.named(3, "body", self.type()))

    def rest(self) -> bytes:
        at = self.random()
        if at < 0.3:
            return self.tag("ref", self.path("path", self.pick(PATHS)))
        if at < 0.6:
            return self.tag("jl_bottom_type")
        if at < 0.8:
            return self.tag(
                "jl_anonymous", self.many("typename", 2), self.named(4, "params", self.framed(b""))
            )
        return self.type()


JULIA_WAYS: list[Callable[[Julia], bytes]] = [
    Julia.symbol, Julia.tuple, Julia.type, *[Julia.array] * 3, *[Julia.bits] * 2, *[Julia.struct] * 4, *[Julia.reference] * 2, Julia.unionall,
    Julia.rest,
]  # fmt: skip
