"""The values of the golden files. Each release keeps a copy of this file beside its data, as `values.py`: what has to come out of them.

It takes nothing from the tests, so that a copy goes on to say what it says. `VALUES` has what each door is given that keeps it; `TYPED` a type
by which a value is loaded as well. Of the optional libraries, what needs them is left out where they are missing.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import operator
import pathlib
import re
import types
import typing
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

VALUES: dict[str, Callable[[], object]] = {}
# Those that ordinary messages don't keep: they name code.
TRUSTED: dict[str, Callable[[], object]] = {}
TYPED: dict[str, object] = {}
# Values of Julia's and Lisp's own.
JULIA: dict[str, Callable[[], object]] = {}
LISP: dict[str, Callable[[], object]] = {}
# Documents with values of PyMongo's.
MONGO: dict[str, Callable[[], object]] = {}
NUMPY: dict[str, Callable[[], object]] = {}

UTC = datetime.timezone.utc
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30), "IST")


# --- classes ---
class Plain:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("left", "right")


@dataclass
class Track:
    title: str
    seconds: float = 0.0
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Point:
    x: int
    y: int


class Pair(typing.NamedTuple):
    first: object
    second: object = None


class Color(enum.Enum):
    RED = 1
    GREEN = "green"


class Mode(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 9


class Problem(Exception):
    pass


class Names(list):  # type: ignore[type-arg]
    pass


class Table(dict):  # type: ignore[type-arg]
    pass


class Word(str):
    pass


class Stateful:
    """With a state of its own, which trusted messages alone restore."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __getstate__(self) -> object:
        return ("state", self.value)

    def __setstate__(self, state: tuple[str, object]) -> None:
        assert state[0] == "state"
        self.value = state[1]


class Reduced:
    def __init__(self, value: object) -> None:
        self.value = value

    def __reduce__(self) -> tuple[object, ...]:
        return (Reduced, (self.value,))


def twice(value: int) -> int:
    return 2 * value


# --- numbers and text ---
VALUES |= {
    "constants": lambda: [None, True, False, ..., NotImplemented],
    "ints": lambda: [sign * (2**bits + more) for bits in (0, 6, 7, 8, 15, 16, 31, 32, 53, 62) for more in (-1, 0, 1) for sign in (1, -1)],
    "large ints": lambda: [2**63 - 1, -(2**63), 2**63, 2**64, -(2**64), 3**200, -(7**150)],
    "floats": lambda: [0.0, -0.0, 1.5, -2.75, 1e308, 5e-324, float("inf"), float("-inf"), 0.1],
    "complex": lambda: [1j, -0.0 + 2.5j, complex(float("inf"), -1)],
    "texts": lambda: ["", "a", "\u00e9", "text", "\u20ac" * 3, "\U0001f600", "x" * 40, "\u00fc" * 300, "nul \0 inside", "line\nline"],
    "lone surrogates": lambda: ["\ud800", "a\udfffb"],
    "bytes": lambda: [b"", b"\0", bytes(range(256)), bytearray(b"changes"), bytearray()],
}  # fmt: skip

# --- containers ---
VALUES |= {
    "empty containers": lambda: [[], (), {}, set(), frozenset(), bytearray()],
    "lists": lambda: [[1, [2, [3, []]]], [None, "a", 1.5], [[]] * 0],
    "tuples": lambda: [(1,), (1, "two", 3.0), ((), ((),))],
    "sets": lambda: [{1, 2, 3}, frozenset({"a", "b"}), {(1, 2), frozenset({3})}],
    "dicts": lambda: [{"a": 1, "b": [2]}, {1: "one", (2, 3): "pair", None: "none", 1.5: "float"}, {"a": 3, "b": [4]}],
    "text keys": lambda: {"name": "Ann", "age": 41, "nested": {"list": [1, 2, 3], "none": None}},
    "runs of ints": lambda: [list(range(300)), [-5] * 20, [2**40 + at for at in range(40)], tuple(range(-20, 20))],
    "runs of floats": lambda: [[at / 4 for at in range(50)], [0.1] * 30],
    "runs of bools": lambda: [[at % 3 == 0 for at in range(70)]],
    "runs of texts": lambda: [[f"word {at}" for at in range(40)], ["a", "b"] * 20],
    "rows": lambda: [{"id": at, "name": f"row {at}", "ok": at % 2 == 0} for at in range(30)],
    "ordered": lambda: collections.OrderedDict([("z", 1), ("a", 2)]),
    "counter": lambda: collections.Counter("abracadabra"),
    "default dict": lambda: collections.defaultdict(list, {"a": [1]}),
    "deque": lambda: collections.deque([1, 2, 3], maxlen=5),
    "chain map": lambda: collections.ChainMap({"a": 1}, {"b": 2}),
    "namespace": lambda: types.SimpleNamespace(a=1, b=[2]),
    "proxy": lambda: types.MappingProxyType({"a": 1}),
    "arrays": lambda: [array.array("b", [1, -2]), array.array("d", [1.5, -2.5]), array.array("I", range(100))],
}  # fmt: skip

# --- the standard library's values ---
VALUES |= {
    "dates": lambda: [datetime.date(2024, 2, 29), datetime.date.min, datetime.date.max],
    "times": lambda: [datetime.time(1, 2, 3, 4), datetime.time(23, 59, tzinfo=UTC)],
    "datetimes": lambda: [
        datetime.datetime(2024, 2, 29, 1, 2, 3, 456789),
        datetime.datetime(1969, 12, 31, tzinfo=UTC),
        datetime.datetime(2024, 10, 27, 2, 30, tzinfo=EAST, fold=1),
    ],
    "durations": lambda: [datetime.timedelta(days=-1, seconds=5, microseconds=7), datetime.timedelta()],
    "decimals": lambda: [decimal.Decimal(text) for text in ("1.10", "-0", "NaN", "Infinity", "1E+100")],
    "fractions": lambda: [fractions.Fraction(1, 3), fractions.Fraction(-7, 2)],
    "uuids": lambda: [uuid.UUID(int=7), uuid.UUID("12345678-1234-5678-1234-567812345678")],
    "addresses": lambda: [
        ipaddress.ip_address("192.0.2.1"),
        ipaddress.ip_address("2001:db8::1"),
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_interface("10.0.0.1/8"),
    ],
    "paths": lambda: [pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("C:\\a")],
    "patterns": lambda: [re.compile("a+"), re.compile(b"[b]", re.DOTALL | re.MULTILINE)],
    "ranges and slices": lambda: [range(5), range(10, -10, -3), slice(1, None, 2)],
    "exceptions": lambda: [ValueError("wrong", 7), KeyError("key"), OSError(2, "no such file")],
}


# --- classes ---
def _slotted(left: object, right: object) -> Slotted:
    made = Slotted()
    made.left, made.right = left, right  # type: ignore[attr-defined]
    return made


def _half() -> Slotted:
    made = Slotted()
    made.left = 1  # type: ignore[attr-defined]
    return made


def _subclasses() -> list[object]:
    names, table = Names([1, 2]), Table(a=1)
    names.owner = "Ann"  # type: ignore[attr-defined]
    table.note = [3]  # type: ignore[attr-defined]
    return [names, table, Word("word")]


def _problem() -> Problem:
    made = Problem("wrong", 7)
    made.code = 3  # type: ignore[attr-defined]
    return made


VALUES |= {
    "plain objects": lambda: [Plain(), Plain(a=1, b=Plain(c=[2])), Plain(a=3, b=None)],
    "slotted objects": lambda: [_slotted(1, "two"), _half(), _slotted(None, [_slotted(3, 4)])],
    "dataclasses": lambda: [Track("Intro", 90.5, ["new"]), Track("Outro"), Point(1, -2)],
    "named tuples": lambda: [Pair(1, "two"), Pair(Pair(3))],
    "enums": lambda: [Color.RED, Color.GREEN, Mode.READ | Mode.WRITE, Level.HIGH, Mode(0)],
    "subclasses": _subclasses,
    "own exception": _problem,
    "objects in rows": lambda: [
        Track(f"Track {at}", float(at), [] if at % 3 else ["odd"]) for at in range(20)
    ],
}


# --- graphs ---
def _cycles() -> list[object]:
    loop: list[object] = [1]
    loop.append(loop)
    row: dict[str, object] = {"id": 7}
    row["self"] = row
    inner: list[object] = []
    through = (inner, "tuple")
    inner.append(through)
    node = Plain(name="node")
    node.next = Plain(name="next", back=node)  # type: ignore[attr-defined]
    return [loop, row, through, node]


def _shared() -> list[object]:
    text, numbers, point = "shared text of some length", [1, 2, 3], Point(5, 6)
    return [text, text, numbers, {"again": numbers}, point, (point, point), b"bytes" * 5]


def _deep() -> object:
    made: object = "bottom"
    for _ in range(600):
        made = [made]
    return made


VALUES |= {"cycles": _cycles, "shared": _shared, "deep": _deep}

# --- what names code ---
TRUSTED |= {
    "functions": lambda: [print, operator.itemgetter, twice, len],
    "classes": lambda: [int, Point, collections.OrderedDict],
    "states": lambda: [Stateful([1, 2]), Stateful(None)],
    "reduced": lambda: [Reduced({"a": 1}), operator.itemgetter(1, 2)],
    "bound methods": lambda: [[1, 2].index, "text".upper],
}

# --- by a type ---
TYPED |= {
    "dates": list[datetime.date],
    "datetimes": list[datetime.datetime],
    "durations": list[datetime.timedelta],
    "uuids": list[uuid.UUID],
    "fractions": list[fractions.Fraction],
    "text keys": dict[str, typing.Any],
    "objects in rows": list[Track],
    "named tuples": list[Pair],
    "runs of floats": list[list[float]],
    "enums": None,
}
del TYPED["enums"]
VALUES |= {
    "points": lambda: [Point(at, -at) for at in range(5)],
    "colors": lambda: {"red": Color.RED, "green": Color.GREEN},
    "levels": lambda: [Level.LOW, Level.HIGH],
    "sets of texts": lambda: [{"a", "b"}, set()],
    "pairs": lambda: [(1, "one"), (2, "two")],
    "a track or none": lambda: [None, Track("Intro", 1.0)],
}
TYPED |= {
    "points": list[Point],
    "colors": dict[str, Color],
    "levels": list[Level],
    "sets of texts": list[set[str]],
    "pairs": list[tuple[int, str]],
    "a track or none": list[Track | None],
}


# --- Julia and Lisp ---
def _julia() -> dict[str, Callable[[], object]]:
    from holdall import julia

    return {
        "plain": lambda: {"a": 1, "b": "two", "c": [1.5, 2.5], "d": None, "e": True},
        "symbols": lambda: {"s": julia.Symbol("name"), "m": julia.missing},
        "numbers": lambda: {"i": julia.Int8(5), "u": julia.UInt64(2**63), "f": julia.Float32(0.5), "c": 1j},
        "tuples": lambda: {"t": (1, "two", (3.5,))},
    }


def _lisp() -> dict[str, Callable[[], object]]:
    from holdall import lisp

    item = lisp.Type("SHOP::ITEM", ["ID", "NAME"])
    return {
        "plain": lambda: [1, -(2**70), 1.5, "text", None],
        "symbols": lambda: [lisp.keyword("END"), lisp.Symbol("CAR", "COMMON-LISP")],
        "objects": lambda: [lisp.LispObject(item, [7, "tea"])],
        "conses": lambda: [lisp.Cons(1, 2)],
    }


JULIA |= _julia()
LISP |= _lisp()

# --- what optional libraries have ---
try:
    import numpy as np
except ModuleNotFoundError:
    pass
else:
    NUMPY |= {
        "numbers": lambda: [np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.complex128(1 - 2j), np.bool_(True)],
        "arrays": lambda: [np.arange(10), np.linspace(0, 1, 7, dtype="f4"), np.zeros((2, 3), "i2"), np.array(5.5)],
        "orders": lambda: [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(4, dtype=">i4")],
        "empty": lambda: [np.zeros((0, 4)), np.array([], "u1")],
        "times": lambda: [np.array(["2024-02-29", "NaT"], "M8[D]"), np.timedelta64(5, "ms")],
        "records": lambda: np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")]),
        "texts": lambda: np.array(["ab", "\u00e9"]),
        "objects": lambda: np.array([1, "two", None], dtype=object),
        "large": lambda: np.arange(1500, dtype="u2"),
        "dtypes": lambda: [np.dtype("f4"), np.dtype([("x", "u1")])],
    }  # fmt: skip

try:
    import bson
except ModuleNotFoundError:
    pass
else:
    if hasattr(bson, "ObjectId"):  # the other package of that name has none
        MONGO |= {
            "ids": lambda: {"_id": bson.ObjectId("0123456789abcdef01234567")},
            "numbers": lambda: {"i": bson.Int64(5), "d": bson.Decimal128("1.10")},
            "binary": lambda: {"b": bson.Binary(b"x", 5), "raw": b"bytes"},
            "code": lambda: {"c": bson.Code("f()"), "s": bson.Code("g()", {"x": 1})},
            "others": lambda: {"t": bson.Timestamp(1, 2), "r": bson.Regex("a", 2), "k": bson.MinKey(), "l": bson.MaxKey()},
            "reference": lambda: {"r": bson.DBRef("c", bson.ObjectId("0123456789abcdef01234567"))},
        }  # fmt: skip
