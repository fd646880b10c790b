"""Common Lisp's files: seeds, messages made up by the format's grammar, damage, and the doors that take them."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import holdall
from holdall import _core, lisp
from holdall.lisp import Array, Cons, HashTable, LispObject, Pairs, SingleFloat, Symbol, Type, keyword
from tests.fuzz.mutations import LARGEST_INPUT, MUTATIONS, Mutation
from tests.support.places import data_folder

SAMPLES = data_folder("lisp") / "samples"
# Whether it was loaded, and whether it could be stored again.
Outcome = tuple[bool, bool]


class Door(NamedTuple):
    name: str
    load: Callable[[bytes, int], Outcome]


@lisp.struct("FUZZ::NODE")
@dataclass
class Node:
    value: Any = None
    next: Any = None


@lisp.struct("FUZZ::POINT", slots={"GONE": None})
@dataclass(slots=True)
class Point:
    x: Any
    y: Any = 0


@dataclass
class Loose:
    value: int | None = None
    items: list[Any] | None = None


def values() -> list[Any]:
    shared, loop = [1, "two"], Node(1)
    loop.next = loop
    ring = Cons(1, None)
    ring.cdr = Cons(2, ring)
    row = Type("FUZZ::LOOSE", ["VALUE", "ITEMS"])
    return [
        [shared, shared, (shared, 1.5), None, True, 1 << 80, -(1 << 70), SingleFloat(0.5), Fraction(1, 3), 1j],
        loop, ring, [Cons(1, 2), Cons(shared, [3])], {"a": shared, 1: (2,)}, HashTable({1: shared}, test="EQ"),
        Pairs([([1], 2), ([1], 3)], test="EQUALP"), [keyword("A"), keyword("A"), Symbol("B", None), Symbol("C", "P")],
        [LispObject(row, [1, [2]]), LispObject(row, [lisp.UNBOUND, shared])], [Point(1, shared), Point(2)],
        Array((2, 2), [1, shared, shared, "x"]), Array((2,), [1, 2], fill_pointer=1), lisp.Pathname.of("/a/b.c"), b"octets",
        Array((1,), None, adjustable=True, displaced_to=Array((3,), [1, 2, 3]), offset=1), lisp.Complex(1, Fraction(1, 2)),
        lisp.ComplexSingle(1, 2), ["é", "", "日本"], list(range(300)), [0.5] * 40,
    ]  # fmt: skip


def seeds() -> list[bytes]:
    found = []
    for value in values():
        for refs in (True, False):
            # Cycles need references.
            with contextlib.suppress(holdall.EncodeError):
                found.append(lisp.dumps(value, refs=refs))
    if SAMPLES.is_dir():
        files = (file.read_bytes() for file in sorted(SAMPLES.glob("*.bin")))
        found += [data for data in files if len(data) <= LARGEST_INPUT // 8]
    return found


# --- messages by the grammar ---
class Message:
    """A message of about so many values, of which some are wrong: `wrong` is how likely each choice is to be one."""

    def __init__(self, rng: random.Random, wrong: float, most: int) -> None:
        self.rng = rng
        self.wrong = wrong
        self.left = most
        # Ids that were given out, and those of descriptions.
        self.ids = 0
        self.infos: list[tuple[int | None, int]] = []

    def message(self) -> bytes:
        head = b"\x1f\x00\xd1" if self.rng.random() < 0.2 else b""
        tail = b"\x1f\x02" if self.rng.random() < 0.1 else b""
        return head + self.value(0) + (self.value(0) if self.odd() else b"") + tail

    def odd(self) -> bool:
        return self.rng.random() < self.wrong

    def int(self, value: int) -> bytes:
        if self.odd():
            value = self.rng.choice([-1, 255, 1 << 16, 1 << 31, 1 << 61, value + 1])
        if -16 <= value <= 16:
            return bytes([208 + value])
        for code, form, bound in ((0, "<B", 8), (1, "<H", 16), (2, "<I", 32)):
            if abs(value) < 1 << bound:
                return bytes([code + (6 if value < 0 else 0)]) + struct.pack(form, abs(value))
        return b"\x03" + struct.pack("<q", value)

    def length(self, value: int) -> bytes:
        if self.odd():
            value = self.rng.choice([0, value + 1, max(value - 1, 0), 300, 1 << 20, 1 << 40])
        if value < 252:
            return bytes([value + 4])
        value -= 252
        return b"\x01" + struct.pack("<H", value) if value < 1 << 16 else b"\x03" + struct.pack("<q", value)

    def text(self) -> bytes:
        text = self.rng.choice(["", "a", "NAME", "hello world", "é", "日本", "x" * 260])
        ascii = text.isascii() != self.odd()
        data = text.encode()
        return (b"\x1d" if ascii and self.rng.random() < 0.5 else b"\x1e") + self.length(len(data)) + data

    def reference(self, number: int) -> bytes:
        if number < 30:
            return bytes([34 + number])
        return bytes([64 + (number - 30 & 63), number - 30 >> 6 & 255])

    def marked(self, value: Callable[[], bytes]) -> bytes:
        if self.rng.random() < 0.25:
            self.ids += 1
            return b"\x22" + value()
        return value()

    def symbol(self) -> bytes:
        if self.odd():
            return self.value(9)
        name = self.rng.choice([b"A", b"VALUE", b"NEXT", b"X", b"Y", b"GONE", b"EQUAL", b"UNSIGNED-BYTE"])
        package = self.rng.choice([b"KEYWORD", b"FUZZ", b"COMMON-LISP"])
        bare = b"\x1d" + bytes([len(name) + 4]) + name
        if self.rng.random() < 0.05:
            return self.marked(lambda: b"\x12" + bare)
        return self.marked(
            lambda: b"\x11" + bare + self.marked(lambda: b"\x1d" + bytes([len(package) + 4]) + package)
        )

    def info(self) -> tuple[bytes, int]:
        rng = self.rng
        if self.infos and rng.random() < 0.6:
            at = rng.randrange(len(self.infos))
            number, slots = self.infos[at]
            if number is not None:
                return self.reference(number), slots
            return b"\x19" + self.int(-1 - at), slots
        names = rng.choice(
            [
                (b"NODE", [b"VALUE", b"NEXT"]),
                (b"POINT", [b"X", b"Y"]),
                (b"POINT", [b"GONE", b"X"]),
                (b"LOOSE", [b"VALUE", b"ITEMS"]),
            ]
        )
        number = None
        head = b""
        if rng.random() < 0.5:
            self.ids += 1
            number, head = self.ids, b"\x22"

        def bare(name: bytes) -> bytes:
            return b"\x11\x1d" + bytes([len(name) + 4]) + name + b"\x1d\x08FUZZ"

        slots = len(names[1])
        self.infos.append((number, slots))
        return head + b"\x19" + self.int(slots) + bare(names[0]) + b"".join(map(bare, names[1])), slots

    def value(self, depth: int) -> bytes:
        rng = self.rng
        self.left -= 1
        if self.ids and rng.random() < 0.15:
            return self.reference(rng.randint(1, self.ids + (1 if self.odd() else 0)))
        if depth > 12 or self.left < 0:
            return rng.choice([b"\x05", b"\x14", b"\xd1", b"\x0c", b"\x1d\x05a"])
        return self.marked(lambda: self.bare(depth + 1))

    def several(self, count: int, depth: int) -> bytes:
        return b"".join(self.value(depth) for _ in range(count))

    def bare(self, depth: int) -> bytes:
        rng = self.rng
        count = rng.choice([0, 1, 1, 2, 3, 5])
        match rng.randrange(20):
            case 0 | 1:
                return self.int(rng.choice([0, 5, -5, 300, -70000, 1 << 40]))
            case 2:
                return rng.choice(
                    [
                        b"\x0b" + rng.randbytes(8),
                        b"\x0a" + rng.randbytes(4),
                        b"\x0f" + rng.randbytes(16),
                        b"\x10" + rng.randbytes(8),
                    ]
                )
            case 3 | 4:
                return self.text()
            case 5:
                return (
                    b"\x09"
                    + self.int(rng.choice([1, 2, -3]))
                    + rng.randbytes(4 * 3)[: 4 * rng.choice([1, 2, 3])]
                )
            case 6 | 7 | 8:
                count = max(count, 1)
                end = b"\x05" if rng.random() < 0.7 else self.value(depth)
                return b"\x20" + self.length(count) + self.several(count, depth) + end
            case 9 | 10:
                return b"\x04" + self.value(depth) + (b"\x05" if rng.random() < 0.4 else self.value(depth))
            case 11:
                return b"\x16" + self.length(count) + self.several(count, depth)
            case 12:
                return self.symbol()
            case 13 | 14:
                head, slots = self.info()
                return (
                    b"\x13"
                    + head
                    + b"".join(b"\x1a" if rng.random() < 0.1 else self.value(depth) for _ in range(slots))
                )
            case 15:
                sizes = b"\x0a\0\0\x80\x3f\x0a\0\0\xc0\x3f\x05\x05"
                return (
                    b"\x1c"
                    + self.int(count)
                    + self.int(7)
                    + self.symbol()
                    + sizes
                    + self.several(2 * count, depth)
                )
            case 16:
                fill = b"\x14" + self.int(count) if rng.random() < 0.3 else b"\x05"
                head = b"\x18" + fill + rng.choice([b"\x05", b"\x14"]) + b"\x01" + self.int(count)
                if rng.random() < 0.3:
                    return head + b"\x14\x14" + self.int(0) + self.value(depth)
                return head + b"\x05\x14" + self.several(count, depth)
            case 17:
                element = rng.randrange(21 if self.odd() else 20)
                return (
                    b"\x15"
                    + self.length(count)
                    + bytes([element])
                    + rng.randbytes(rng.choice([count, 8 * count, 4 * count]))
                )
            case 18:
                return (
                    b"\x17"
                    + bytes([2])
                    + self.int(count)
                    + self.int(1)
                    + bytes([5])
                    + rng.randbytes(8 * count)
                )
            case _:
                parts = [self.text() if rng.random() < 0.7 else b"\x05" for _ in range(6)]
                return rng.choice(
                    [
                        b"\x1b" + b"".join(parts),
                        b"\x0d" + self.int(3) + self.int(4),
                        b"\x0e" + self.int(1) + self.int(2),
                    ]
                )


def made(rng: random.Random, wrong: float, most: int) -> bytes:
    return Message(rng, wrong, most).message()


# --- damage ---
def recode(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A code in front of what stands there: a mark, a cons, an object, ..."""
    at = rng.randrange(len(data) + 1)
    data[at:at] = bytes([rng.choice([4, 5, 13, 17, 18, 19, 20, 22, 24, 25, 26, 27, 28, 32, 34, 35, 36, 37])])


LISP_MUTATIONS: list[Mutation] = [*MUTATIONS, *[recode] * 6]


# --- doors: nothing but our own errors comes out ---
def loads(data: bytes, number: int) -> Outcome:
    types = (None, {"FUZZ::LOOSE": Loose}, {"FUZZ::NODE": Point})[number % 3]
    try:
        found = lisp.loads_all(data, types=types) if number % 2 else [lisp.loads(data, types=types)]
    except holdall.HoldallError:
        return False, False
    try:
        again = lisp.dumps(found, all=True)
    except holdall.HoldallError:
        return True, False
    # What was loaded is whole, and says the same when it is stored.
    second = lisp.loads_all(again, types=types)
    if (third := lisp.dumps(second, all=True)) != again:
        assert lisp.dumps(lisp.loads_all(third, types=types), all=True) == third, (
            "other bytes after another round"
        )
    return True, True


def shown(data: bytes, number: int) -> Outcome:
    """Whatever was loaded can be looked at."""
    try:
        found = lisp.loads(data)
    except holdall.HoldallError:
        return False, False
    # A dataclass with an unbound slot can't show itself.
    with contextlib.suppress(RecursionError, AttributeError):
        repr(found)
        with contextlib.suppress(TypeError, ValueError):
            assert found == found or found != found
    return True, True


def mapped(data: bytes, number: int) -> Outcome:
    """Views of the input, and values of their own, are the same."""
    try:
        copies, good = repr(lisp.loads(data)), True
    except (holdall.HoldallError, RecursionError, AttributeError):
        copies, good = "", False
    try:
        views = repr(lisp.load(bytearray(data), mmap="copy" if number % 2 else True))
    except (holdall.HoldallError, RecursionError, AttributeError):
        assert not good
        return False, False
    assert not good or copies == views
    return True, True


def touched(doc: Any, budget: list[int]) -> Any:
    """What a document's members come to, built one by one."""
    found = []
    for value in doc.values():
        budget[0] -= 1
        if budget[0] < 0:
            break
        found.append(touched(value, budget) if isinstance(value, holdall.bson.Document) else value)
    return found


def opened(data: bytes, number: int) -> Outcome:
    """A document that is read where it is touched gives what a load gives, whichever comes first."""
    try:
        whole, good = repr(lisp.loads(data)), True
    except (holdall.HoldallError, RecursionError, AttributeError):
        whole, good = "", False
    try:
        doc = lisp.open(data)
    except holdall.HoldallError:
        assert not good
        return False, False
    try:
        if number % 2 and not isinstance(doc.load(), int | float | str | lisp.Cons | None):
            with contextlib.suppress(TypeError):
                touched(doc, [50])
        built = repr(doc.load())
    except (holdall.HoldallError, RecursionError, AttributeError):
        assert not good
        return False, False
    # Keys that are hashed late come last in their table: in which order depends on what was built first.
    assert not good or sorted(built) == sorted(whole)
    return True, True


def outlined(data: bytes, number: int) -> Outcome:
    """The outline knows every byte that a load reads."""
    told = _core.outline(data, "lisp", depth=number % 5, most=number % 7, values=number % 2 == 0)
    try:
        if not lisp.loads_all(data):
            return False, False
    except holdall.HoldallError:
        return told["error"] is None, False
    assert told["error"] is None and told["read"] <= len(data), told["error"]
    return True, True


def one_by_one(data: bytes, number: int) -> Outcome:
    """With a code for each cons, lists come back as they were stored."""
    try:
        stored = lisp.dumps(lisp.loads(data), shared_lists=True)
    except holdall.HoldallError:
        return False, False
    # In Lisp, what a last cdr holds is more of the list.
    again = lisp.dumps(lisp.loads(stored), shared_lists=True)
    assert lisp.dumps(lisp.loads(again), shared_lists=True) == again
    return True, True


ANNOTATIONS: list[Any] = [
    Loose, Node, Point, list[Any], list[int | str | None], dict[str, Any], tuple[int, ...], set[int], int | float, str, bool, list[Loose],
    Cons, LispObject, Symbol, list[list[int]], dict[Any, Any], Fraction, complex,
]  # fmt: skip


def typed(data: bytes, number: int) -> Outcome:
    try:
        lisp.loads(data, type=ANNOTATIONS[number % len(ANNOTATIONS)], strict=number % 3 > 0)
    except holdall.HoldallError:
        return False, False
    return True, False


DOORS = [
    Door("loads", loads), Door("shown", shown), Door("mapped", mapped), Door("typed", typed), Door("opened", opened),
    Door("outlined", outlined), Door("one by one", one_by_one),
]  # fmt: skip


def doors() -> list[tuple[Door, list[bytes]]]:
    pool = seeds()
    return [(door, pool) for door in DOORS]
