"""What the vectors are made of: objects to store in canonical form, and bytes written by hand."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import math
import pathlib
import re
import struct
import types
import uuid
import zoneinfo
from typing import Any, Callable

from tests.support import file_frames
from tests.support.file_frames import Frame


def named(cls: Any, module: str = "vectors") -> Any:
    """The class under a name that does not hang on where this file is."""
    cls.__module__, cls.__qualname__ = module, cls.__name__
    return cls


def fields(cls: type, **values: Any) -> Any:
    obj = cls.__new__(cls)
    for name, value in values.items():
        setattr(obj, name, value)
    return obj


@named
class Point:
    __slots__ = ("x", "y")


@named
class Note:
    pass


@named
class Basket(list):  # type: ignore[type-arg]
    pass


@named
class Names(dict):  # type: ignore[type-arg]
    pass


@named
class Word(str):
    pass


@named
class Trouble(Exception):
    pass


@named
class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@named
class Right(enum.Flag):
    READ = 1
    WRITE = 2


Pair = named(collections.namedtuple("Pair", "left right"))


def shared() -> Any:
    one = [1]
    return [one, one, {"again": one}]


def ring() -> Any:
    ring: list[Any] = []
    ring.append({"ring": ring})
    return ring


def graph() -> Any:
    nodes = [fields(Note, name=f"node {at}") for at in range(3)]
    for at, node in enumerate(nodes):
        node.links = [nodes[at - 1], nodes[(at + 1) % 3]]
    return nodes


def caused() -> Any:
    error = Trouble("outer", 2)
    error.__cause__ = ValueError("inner")
    error.__notes__ = ["a note"]
    return error


def nan(payload: int) -> Any:
    return struct.unpack("<d", struct.pack("<Q", payload))[0]


INTS = [0, 1, 47, 48, -1, -16, -17, 127, 128, -128, -129, 32767, 32768, -32768, -32769]
INTS += [
    s * (1 << b) + d
    for b, s, d in [(31, 1, -1), (31, 1, 0), (31, -1, 0), (31, -1, -1), (63, 1, -1), (63, 1, 0)]
]
INTS += [-(1 << 63) - 1, 1 << 64, -(1 << 64), 10**40]
TEXTS = [
    "",
    "a",
    "x" * 47,
    "x" * 48,
    "x" * 251,
    "x" * 252,
    "é",
    "ÿ" * 60,
    "日本語",
    "日",
    "aaaa日",
    "😀",
    "\0",
]
TEXTS += ["\ud800", "a\udfffb", "😀\ud83d", "\ue000"]
UTC = dt.timezone.utc
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30), "IST")

Makers = dict[str, Callable[[], Any]]
SCALARS: Makers = {
    "none": lambda: None,
    "false": lambda: False,
    "true": lambda: True,
    "ellipsis": lambda: ...,
    "not implemented": lambda: NotImplemented,
    **{f"int {value}": lambda value=value: value for value in INTS},
    **{
        f"float {value}": lambda value=value: value
        for value in (0.0, -0.0, 1.5, 0.1, math.inf, -math.inf, 5e-324, 1.7976931348623157e308)
    },
    "float nan": lambda: nan(0x7FF8_0000_0000_0000),
    "float nan with payload": lambda: nan(0xFFF8_0000_DEAD_BEEF),
    "complex": lambda: complex(1.5, -0.0),
    "bytes": lambda: bytes(range(256)),
    "bytes empty": lambda: b"",
    "bytearray": lambda: bytearray(b"abc"),
}
TEXT: Makers = {f"text {at}": lambda value=value: value for at, value in enumerate(TEXTS)}
CONTAINERS: Makers = {
    "list empty": list,
    "list of 15": lambda: [None] * 15,
    "list of 16": lambda: [None] * 16,
    "list mixed": lambda: [1, "two", 3.0, None, [True]],
    "tuple empty": lambda: (),
    "tuple of 7": lambda: (None,) * 7,
    "tuple of 8": lambda: (None,) * 8,
    "dict empty": dict,
    "dict by shape": lambda: {"a": 1, "b": [2]},
    "dict of 64 keys": lambda: {f"k{at}": at for at in range(64)},
    "dict of 65 keys": lambda: {f"k{at}": at for at in range(65)},
    "dict with other keys": lambda: {1: "int", None: 0, (1, 2): "tuple", b"b": 1.5},
    "dicts of one shape": lambda: [{"id": at, "name": f"row {at}"} for at in range(3)],
    "set": lambda: {3, 1, 2, "text", None},
    "set empty": lambda: set(),
    "frozenset": lambda: frozenset({1, frozenset({2})}),
    "ints i8": lambda: [1, -128, 127, 0],
    "ints i16": lambda: [1, 2, 3, 128],
    "ints i32": lambda: (1, 2, 3, -32769),
    "ints i64": lambda: [1, 2, 3, 1 << 31],
    "ints beyond i64": lambda: [1, 2, 3, 1 << 63],
    "three ints": lambda: [1, 2, 3],
    "floats": lambda: [0.5, -0.0],
    "floats in a tuple": lambda: (0.5, math.inf, nan(0x7FF8_0000_0000_0001)),
    "one float": lambda: [0.5],
    "bools": lambda: [True, False, True, True],
    "bools in a tuple": lambda: (False, False, False, True),
    "many ints": lambda: list(range(300)),
}
REFERENCES: Makers = {
    "shared list": shared,
    "list in itself": ring,
    "text twice": lambda: ["twice", "twice", "once"],
    "text and key": lambda: [{"key": "key"}, "key"],
    "tuple with a list that holds it": lambda: (lambda inner: (inner, inner.append(inner))[0])([]),
    "root again": lambda: (lambda root: (root, root.append(root))[0])([1]),
    "many references": lambda: [[], *([x := []] * 3), *[[at] for at in range(300)], x],
    "graph of instances": graph,
}
LAYOUTS: Makers = {
    "slots": lambda: [fields(Point, x=1, y=2), fields(Point, x=3, y=4)],
    "slot not set": lambda: [fields(Point, x=1), fields(Point, x=3, y=4)],
    "attributes": lambda: fields(Note, text="hello", at=3),
    "no fields": lambda: Note(),
    "field name beyond ascii": lambda: fields(Note, naïve=1),
    "named tuple": lambda: Pair(1, [2]),
    "subclass of list": lambda: Basket([1, 2]),
    "subclass of list with a field": lambda: fields(Basket, owner="ann"),
    "subclass of dict": lambda: Names(a=1),
    "subclass of text": lambda: Word("word"),
    "exception": lambda: ValueError("bad", 1),
    "exception with cause and note": caused,
    "os error": lambda: FileNotFoundError(2, "No such file", "name.txt"),
    "enum": lambda: [Colour.RED, Colour.BLUE, Colour.RED],
    "flags": lambda: [Right.READ, Right.READ | Right.WRITE],
    "forty layouts": lambda: [{f"k{at}": at} for at in range(40)] * 2,
    "three hundred layouts": lambda: [{f"k{at}": at, "z": 0} for at in range(300)] + [{"k299": 1, "z": 2}],
    "user dict": lambda: collections.UserDict(a=1),
    "namespace": lambda: types.SimpleNamespace(a=1),
    "object": lambda: object(),
}
KNOWN: Makers = {
    "datetime": lambda: dt.datetime(2026, 11, 20, 13, 37, 59, 123456),
    "datetime utc": lambda: dt.datetime(1, 1, 1, tzinfo=UTC),
    "datetime in a timezone": lambda: [dt.datetime(9999, 12, 31, 23, 59, 59, 999999, INDIA, fold=1)] * 2,
    "datetime in a zone": lambda: dt.datetime(2026, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    "date": lambda: [dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "time": lambda: [dt.time(23, 59, 59, 999999), dt.time(0, fold=1, tzinfo=UTC)],
    "timedelta": lambda: [dt.timedelta(days=-1, microseconds=1), dt.timedelta.max, dt.timedelta.min],
    "timezone": lambda: [UTC, INDIA, dt.timezone(-dt.timedelta(hours=3))],
    "zone": lambda: zoneinfo.ZoneInfo("America/New_York"),
    "decimal": lambda: [decimal.Decimal(text) for text in ("-1.50", "1E+3", "Infinity", "NaN123", "-0")],
    "fraction": lambda: fractions.Fraction(-1, 3),
    "uuid": lambda: uuid.UUID("12345678-1234-5678-1234-567812345678"),
    "paths": lambda: [pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("C:\\x")],
    "addresses": lambda: [ipaddress.ip_address(text) for text in ("127.0.0.1", "fe80::1%eth0")],
    "networks": lambda: [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_interface("2001:db8::1/32")],
    "pattern": lambda: [re.compile("a+", re.I), re.compile(b"\x00")],
    "range": lambda: [range(3), range(10, 0, -2), range(10**30)],
    "slice": lambda: slice(None, 5, "step"),
    "array": lambda: [array.array("h", [1, -2]), array.array("d", [0.5]), array.array("u", "añ")],
    "deque": lambda: [collections.deque([1, [2]], 5), collections.deque()],
    "ordered dict": lambda: collections.OrderedDict(b=1, a=2),
    "default dict": lambda: [collections.defaultdict(list, a=[1]), collections.defaultdict(None)],
    "counter": lambda: collections.Counter("aab"),
    "mapping proxy": lambda: types.MappingProxyType({"a": 1}),
}

OBJECTS: dict[str, Makers] = {
    "scalars": SCALARS,
    "text": TEXT,
    "containers": CONTAINERS,
    "references": REFERENCES,
    "layouts": LAYOUTS,
    "known": KNOWN,
}

# Messages that are well formed and not canonical.
BYTES: dict[str, dict[str, str]] = {
    "scalars": {
        "int in a wider form": "C1 AD 05",
        "int as i64": "C1 B0 FFFFFFFFFFFFFFFF",
        "big int of no bytes": "C1 B1 00",
        "big int with a spare byte": "C1 B1 02 05 00",
    },
    "text": {
        "ascii in a longer form": "C1 B4 01 61",
        "ascii as latin-1": "C1 B5 01 61",
        "ascii as ucs-2": "C1 B6 02 6100 6200",
        "ascii as utf-8": "C1 B7 01 61",
        "a pair of surrogates stays two": "C1 B6 02 3DD8 00DE",
        "a pair of surrogates in utf-8 stays two": "C1 B7 06 EDA0BD EDB880",
    },
    "containers": {
        "length as u16": "C1 BA FC 0100 05",
        "length as u32": "C1 BA FD 01000000 05",
        "length as u64": "C1 BA FE 0100000000000000 05",
        "texts": "C1 CE 03 01 00 02 61 62 63",
        "texts in a tuple": "C1 D5 01 02 61 62",
        "empty runs": "C1 74 C8 00 CC 00 CD 00 CE 00",
        "wide ints for small values": "C1 CB 01 0100000000000000",
        "dict of no pairs": "C1 BC 00",
        "shape of no keys": "C1 72 C4 00 00 88",
    },
    "references": {
        "number as u16": "C1 72 C0 70 C2 0100",
        "number as u32": "C1 72 C0 70 C3 01000000",
        "mark that nothing refers to": "C1 71 C0 05",
        "marked int": "C1 72 C0 05 C1 01",
        "key in a name": "C1 72 C4 01 02 41 61 C0 41 62 C1 02",
        "name that refers": "C1 72 C0 42 6162 C4 01 02 C1 01 05",
        "two lists apart": "C1 72 70 70",
    },
    "layouts": {
        "layout by u8 and u32": "C1 73 C4 01 02 41 61 01 A9 00000000 02 A9 00000000 03",
        "version": "C1 C5 00 07 01 06 43 73 2E 50 41 78 05",
        "custom": "C1 C5 03 01 00 04 43 73 2E 50 72 01 02",
        "a class called as its field": "C1 C5 00 01 01 04 41 78 41 78 05",
        "layout used within its first instance": "C1 C4 01 02 41 61 88 AA",
    },
    "known": {"built-in types": "C1 72 D6 1F 43 696E74 D6 1F 46 6F626A656374"},
}

# Messages that are malformed: bytes, what is wrong, and how many bytes were taken when that was seen.
INVALID: list[tuple[str, str, str]] = [
    ("nothing", "", "truncated"),
    ("no value", "C1", "truncated"),
    ("another version", "C2 00", "version"),
    ("text", "68656C6C6F", "version"),
    ("trusted", "D1 00", "trusted"),
    ("bytes after the value", "C1 00 00", "trailing"),
    ("reserved tag", "C1 DB", "tag"),
    ("last reserved tag", "C1 FC", "tag"),
    ("global in an ordinary message", "C1 FD 42 6F73 46 73797374656D", "tag"),
    ("reduce in an ordinary message", "C1 FE 00", "tag"),
    ("persistent in an ordinary message", "C1 FF 00", "tag"),
    ("int cut short", "C1 B0 00", "truncated"),
    ("text cut short", "C1 44 6162", "truncated"),
    ("text longer than the input", "C1 B4 FE FFFFFFFFFFFFFF7F", "truncated"),
    ("length beyond the address space", "C1 B8 FE FFFFFFFFFFFFFFFF", "length"),
    ("length of no form", "C1 B8 FF", "length"),
    ("run whose bytes can't be counted", "C1 CB FE FFFFFFFFFFFFFF7F", "length"),
    ("list of more values than bytes", "C1 BA FD FFFFFFFF 00", "truncated"),
    ("dict of more pairs than bytes", "C1 BC 02 00 00 00", "truncated"),
    ("not ascii", "C1 41 80", "ascii"),
    ("not ascii in a run", "C1 CE 01 01 80", "ascii"),
    ("run of texts cut short", "C1 CE 02 01 01 61", "truncated"),
    ("run of bools with a 2", "C1 CD 01 02", "bool"),
    ("unknown type", "C1 D6 FF", "code"),
    ("type 0", "C1 D6 00", "code"),
    ("kind of no class", "C1 C5 04 01 00 01 41 61", "code"),
    ("names longer than the input", "C1 C4 01 05 41 61", "truncated"),
    ("more fields than bytes of names", "C1 C4 03 02 41 61", "names"),
    ("utf-8 cut short", "C1 B7 01 C3", "utf8"),
    ("utf-8 in a longer form", "C1 B7 02 C081", "utf8"),
    ("utf-8 beyond U+10FFFF", "C1 B7 04 F4908080", "utf8"),
    ("reference to nothing", "C1 71 C1 01", "reference"),
    ("reference ahead", "C1 72 C1 01 C0 70", "reference"),
    ("instance of nothing", "C1 88", "layout"),
    ("instance of a layout to come", "C1 72 89 C4 00 00", "layout"),
    ("fewer names than said", "C1 C4 02 02 41 61 00 00", "names"),
    ("more names than said", "C1 C4 00 02 41 61", "names"),
    ("the same name twice", "C1 C4 02 04 41 61 41 61 00 00", "names"),
    ("a number for a name", "C1 C4 01 01 05 00", "names"),
    ("a mark in the names", "C1 C4 01 03 C0 41 61 00", "names"),
    ("a list for a name", "C1 72 C0 70 C4 01 02 C1 01 00", "names"),
    ("first value marked", "C1 C0 70", "mark"),
    ("first value a reference", "C1 C1 00", "reference"),
    ("mark of a mark", "C1 71 C0 C0 70", "mark"),
    ("mark of a reference", "C1 71 C0 C1 00", "mark"),
    ("frozenset in itself", "C1 BF 01 C1 00", "cycle"),
    ("deque of a run", "C1 D6 18 AA C8 01 05", "value"),
    ("ordered dict by shape", "C1 D6 19 C4 01 02 41 61 00", "value"),
    ("date out of range", "C1 D6 01 00", "value"),
    ("datetime out of range", "C1 D7 0000000000000000", "value"),
    ("range without a step", "C1 D6 15 00 05 00", "value"),
    ("uuid of too few bytes", "C1 D6 09 B8 01 00", "value"),
    ("class that is not of the list", "C1 D6 1F 44 65 78 65 63", "value"),
    ("list for a key", "C1 BC 01 70 00", "key"),
    ("list in a set", "C1 BE 01 70", "key"),
    ("the same key twice", "C1 BC 02 01 02 01 03", "key"),
    ("the same member twice", "C1 BE 02 01 01", "key"),
    ("tuple in itself", "C1 81 C1 00", "cycle"),
]
# What a reader of tokens sees without keeping count of objects and layouts.
BY_TOKENS = {"truncated", "version", "trusted", "trailing", "tag", "length", "ascii", "bool", "code"}


# --- files -----------------------------------------------------------------------------------------------------------
def buffers() -> Any:
    blob = bytes(range(256)) * 16
    return {
        "bytes": blob,
        "bytearray": bytearray(reversed(blob)),
        "array": array.array("d", range(512)),
        "again": blob,
    }


def table() -> Any:
    return {f"key {number}": [number, None, f"value {number}"] for number in range(300)}


# What is stored, and options of `dump`.
FILES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "small": (lambda: 1, {}),
    "text": (lambda: "hello", {}),
    "longer than 240 bytes": (lambda: list(range(500)), {}),
    "buffers": (buffers, {}),
    "zstd": (table, {"compress": "zstd"}),
    "lz4": (table, {"compress": "lz4"}),
    "buffers by zstd": (buffers, {"compress": ("zstd", 19)}),
    "buffers by lz4": (buffers, {"compress": "lz4"}),
    "blocks by zstd": (lambda: [bytes(2_500_000), 7], {"compress": "zstd"}),
    "blocks by lz4": (lambda: [bytes(2_500_000), 7], {"compress": "lz4"}),
    "key tables": (lambda: {f"key {at}": [f"value {at}", at] * 20 for at in range(100)}, {"compress": "lz4"}),
}


def flipped(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def small(*frames: Frame, kind: int = file_frames.GRAPH_FILE) -> bytes:
    return file_frames.forged(kind, list(frames))


def begun(version: int, kind: int) -> bytes:
    """The small file's frame behind another start."""
    return file_frames.begin(kind, version) + file_frames.framed(ONE, 8)


ONE = Frame(file_frames.MESSAGE, b"\xc1\x01")
# A message that is buffer 0, as bytes.
LENT = Frame(file_frames.MESSAGE, b"\xc1\xd9\x02\x00")

# Why it is refused, and how it is made of the files above.
BAD_FILES: dict[str, tuple[str, Callable[[dict[str, bytes]], bytes]]] = {
    "another magic": ("not a file", lambda good: b"HOLE" + good["small"][4:]),
    "start cut short": ("truncated", lambda good: good["small"][:7]),
    "no frame": ("truncated", lambda good: good["small"][:8]),
    "head cut short": ("truncated", lambda good: good["small"][:15]),
    "body cut short": ("truncated", lambda good: good["small"][:17]),
    "tail cut short": ("truncated", lambda good: good["small"][:-1]),
    "start flipped": ("checksum", lambda good: flipped(good["small"], 5)),
    "checksum of the start flipped": ("checksum", lambda good: flipped(good["small"], 7)),
    "head flipped": ("checksum", lambda good: flipped(good["small"], 9)),
    "checksum of the head flipped": ("checksum", lambda good: flipped(good["small"], 14)),
    "body flipped": ("checksum", lambda good: flipped(good["small"], 17)),
    "tail flipped": ("checksum", lambda good: flipped(good["small"], -1)),
    "another version": ("file", lambda _: begun(2, file_frames.MESSAGE_FILE)),
    "kind 0": ("file", lambda _: begun(1, 0)),
    "kind of no file": ("file", lambda _: begun(1, 4)),
    "bytes after the file": ("trailing", lambda good: good["small"] + b"\0"),
    "moved": ("checksum", lambda good: good["small"][:8] + bytes(1) + good["small"][8:]),
    "too much padding": ("checksum", lambda good: good["small"][:8] + bytes(64) + good["small"][8:]),
    "no end": ("truncated", lambda _: small(ONE)),
    "buffer that is missing": ("file", lambda good: small(LENT, Frame(file_frames.INDEX, b""))),
    "buffer flipped": ("checksum", lambda good: flipped(good["buffers"], 300)),
    "index flipped": ("checksum", lambda good: flipped(good["buffers"], -44)),
    "end flipped": ("checksum", lambda good: flipped(good["buffers"], -9)),
    "end cut off": ("truncated", lambda good: good["buffers"][:-32]),
    "block of zstd flipped": ("checksum", lambda good: flipped(good["zstd"], 40)),
    "block of lz4 flipped": ("checksum", lambda good: flipped(good["lz4"], 40)),
    "message in a frame of a buffer": (
        "file",
        lambda _: small(Frame(file_frames.BUFFER, ONE.body), kind=file_frames.MESSAGE_FILE),
    ),
    "codec 3": (
        "file",
        lambda _: small(Frame(file_frames.MESSAGE, ONE.body, codec=3), kind=file_frames.MESSAGE_FILE),
    ),
    "block that is larger than a block": (
        "file",
        lambda _: small(
            Frame(file_frames.MESSAGE, struct.pack("<I", (1 << 20) + 1) + b"\x20\xc1\x01", file_frames.LZ4)
        ),
    ),
    "block that becomes less than it says": (
        "file",
        lambda _: small(Frame(file_frames.MESSAGE, struct.pack("<I", 9) + b"\x20\xc1\x01", file_frames.LZ4)),
    ),
    "body of a terabyte": (
        "bomb",
        lambda _: small(Frame(file_frames.MESSAGE, struct.pack("<Q", 1 << 40) + ONE.body, more=True)),
    ),
    "body that is longer than it says": (
        "file",
        lambda _: small(
            Frame(file_frames.MESSAGE, struct.pack("<Q", 1) + b"\xc1", more=True),
            Frame(file_frames.REST, b"\x01"),
        ),
    ),
    "body that is shorter than it says": (
        "file",
        lambda _: small(
            Frame(file_frames.MESSAGE, struct.pack("<Q", 3) + b"\xc1", more=True),
            Frame(file_frames.REST, b"\x01"),
        ),
    ),
}
