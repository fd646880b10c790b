"""hold's known types by its grammar: each with the parts that it takes, and now and then with others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from tests.fuzz.grammar_elements import (
    DTYPE_SIZES,
    ITEM_SIZES,
    KNOWN_NAMES,
    REFUSED,
    SPECIAL,
    TEXTS,
    Elements,
)
from tests.support.wire import TAG


class KnownTypes(Elements, ABC):
    @abstractmethod
    def value(self, marked: bool | None = None) -> None: ...

    @abstractmethod
    def values(self, count: int) -> None: ...

    @abstractmethod
    def list(self) -> None: ...

    @abstractmethod
    def dict(self) -> None: ...

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
        fields = (
            rng.randint(1, 9999) << 47 | rng.randint(1, 12) << 43 | rng.randint(1, 28) << 38 | self.clock()
        )
        if self.bad():
            fields = rng.getrandbits(64)
        self.out += fields.to_bytes(8, "little")
        if zoned:
            self.zone()

    def clock(self) -> int:
        rng = self.rng
        return (
            rng.randint(0, 23) << 33
            | rng.randint(0, 59) << 27
            | rng.randint(0, 59) << 21
            | rng.randint(0, 999999) << 1
            | rng.getrandbits(1)
        )

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
            self.out += bytes(
                (TAG.TUPLE_FIX + min(7, 1 + len(axes)), self.pick((TAG.TRUE, TAG.FALSE)), *axes)
            )
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


KNOWN_WAYS: dict[str, Callable[[KnownTypes], None]] = {
    "Date": lambda m: m.part(1, 3652059),
    "Time": KnownTypes.time,
    "Timedelta": lambda m: m.part(-(10**17), 10**17),
    "Utc": lambda m: None,
    "Timezone": KnownTypes.timezone,
    "ZoneInfo": lambda m: m.special("ZoneInfo"),
    "Decimal": lambda m: m.special("Decimal"),
    "Fraction": KnownTypes.range,
    "Uuid": KnownTypes.uuid,
    "Pattern": KnownTypes.pattern,
    "Range": KnownTypes.range,
    "Slice": lambda m: m.values(3),
    "Array": KnownTypes.array,
    "Deque": KnownTypes.deque,
    "DefaultDict": KnownTypes.default_dict,
    "NdArray": KnownTypes.nd_array,
    "NumpyScalar": KnownTypes.scalar,
    "BuiltinType": lambda m: m.special("builtin"),
    "NumpyDtype": KnownTypes.dtype,
}
