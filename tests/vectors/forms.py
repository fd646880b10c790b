"""What the vectors of `cases` lack: the tags, forms and codes that no canonical message of those objects has, each accepted, and each
refused where something in it can be.
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any, Callable

import holdall
from tests.support import file_frames
from tests.support.page_tables import KNOWN, TAGS
from tests.support.wire import (
    NONE,
    TAG,
    blob,
    integer,
    known,
    length,
    mark,
    message,
    reference,
    sequence,
    shape,
    sized,
    tag,
    text,
    tuple_,
)

# Messages of NumPy's types, which a test reads where NumPy is there.
FALSE, TRUE = tag("FALSE"), tag("TRUE")
PAIR = known("NumpyDtype", sequence(integer(8), integer(0), *(
    part for name, at in (("a", 0), ("b", 4)) for part in (text(name), integer(at), NONE, text("<i4"))
)))  # fmt: skip


def array(dtype: bytes, dims: list[int], order: bytes, items: bytes) -> bytes:
    return known("NdArray", dtype, tuple_(*map(integer, dims)), order, items)


NUMPY: dict[str, bytes] = {
    "array": array(text("<i2"), [2], FALSE, blob(b"\x01\x00\x02\x00")),
    "array in fortran order": array(text("|u1"), [2, 3], TRUE, blob(bytes(range(6)))),
    "array of no dimensions": array(text("<f8"), [], FALSE, blob(bytes(8))),
    "array of no items": array(text("<f8"), [0, 3], FALSE, blob(b"")),
    "array that is read-only": array(text("|u1"), [2], tuple_(TRUE, integer(0)), blob(b"ab")),
    "array with axes": array(
        text("|u1"), [2, 2, 3], tuple_(FALSE, integer(1), integer(0), integer(2)), blob(bytes(range(12)))
    ),
    "array of objects": array(text("O"), [2], FALSE, sequence(integer(5), sequence())),
    "array of fields": array(PAIR, [1], FALSE, blob(bytes(range(8)))),
    "scalar": known("NumpyScalar", text("<i4"), blob(b"\x05\x00\x00\x00")),
    "scalar of text": known("NumpyScalar", text("U"), text("abc")),
    "scalar of bytes": known("NumpyScalar", text("S"), blob(b"abc\x00")),
    "dtype": known("NumpyDtype", text("<M8[ns]")),
    "dtype of fields": PAIR,
}

OTHERS: dict[str, dict[str, bytes]] = {
    "containers": {
        "runs of ints in tuples": message(
            sequence(
                sized("TUPLE_I8", 2, b"\x01\xff"),
                sized("TUPLE_I16", 1, b"\x00\x80"),
                sized("TUPLE_I32", 1, b"\x00\x00\x00\x80"),
                sized("TUPLE_I64", 1, bytes(7) + b"\x80"),
            )
        ),
        "run of i32": message(sized("LIST_I32", 2, b"\x01\x00\x00\x00\xff\xff\xff\xff")),
        "texts of 255 characters": message(sized("LIST_ASCII", 1, b"\xff" + b"x" * 255)),
    },
    "references": {
        "named text": message(sequence(tag("NAMED", text("abc")), reference(1))),
        "tuple in a list that it holds": message(tuple_(sequence(reference(0)))),
        "cycle through an instance of no class": message(
            b"\xc5\x00\x01\x01\x06" + text("s.P") + text("x") + reference(0)
        ),
        "cycle through known types": message(
            sequence(
                mark(known("Deque", NONE, sequence(reference(1)))),
                mark(known("OrderedDict", sized("DICT", 1, integer(1), reference(2)))),
            )
        ),
        "reference across shapes": message(
            sequence(shape(["key"], mark(text("value"))), tag("INSTANCE_32", bytes(4), reference(2)))
        ),
    },
    "layouts": {
        "layout 32 by u8": message(sequence(*(shape([f"k{at}"], NONE) for at in range(33)), tag("INSTANCE_8", b"\x00", TRUE))),
        "layout of two fields that refer to their names": message(
            sequence(mark(text("x")), tag("SHAPE", length(1), length(2), b"\xc1\x01", reference(1)))
        ),
    },
    "known": {
        "posix path": message(known("PosixPath", text("/a/b"))),
        "windows path": message(known("WindowsPath", text("C:\\x"))),
        "networks of both kinds": message(
            sequence(known("IPv6Network", text("2001:db8::/32")), known("IPv4Interface", text("10.0.0.1/8")))
        ),
        "path with a nul": message(known("PurePosixPath", text("a\0b"))),
        "proxy of a counter": message(known("MappingProxy", known("Counter", sized("DICT", 1, text("a"), integer(1))))),
        "timedelta of a big int": message(known("Timedelta", sized("INT_BIG", 2, b"\x05\x00"))),
        "uuid that is known to be safe": message(known("Uuid", blob(bytes(16) + b"\x00"))),
    },
}  # fmt: skip

# Messages whose buffers are out of band: the message, and what the caller passes.
BUFFERS: dict[str, tuple[bytes, list[bytes]]] = {
    "buffer": (message(tag("BUFFER", b"\x00\x00")), [b"abc"]),
    "buffer that is read-only": (message(tag("BUFFER", b"\x01\x00")), [b"abc"]),
    "buffers in order": (
        message(sequence(tag("BUFFER", b"\x00\x00"), mark(tag("BUFFER", b"\x01", length(1))), reference(1))),
        [b"one", b"two"],
    ),
}
# The bytes, and why they are refused.
BAD_BUFFERS: dict[str, tuple[bytes, list[bytes], str]] = {
    "buffer of form 4": (message(tag("BUFFER", b"\x04\x00")), [b"abc"], "code"),
    "buffer 1 comes first": (message(tag("BUFFER", b"\x00\x01")), [b"abc", b"def"], "buffer"),
    "buffer twice": (message(sequence(*[tag("BUFFER", b"\x00\x00")] * 2)), [b"abc", b"def"], "buffer"),
    "buffer that nobody passed": (message(tag("BUFFER", b"\x00\x00")), [], "buffer"),
}


def global_(module: str, name: str) -> bytes:
    return tag("GLOBAL", text(module), text(name))


def trusted(value: bytes) -> bytes:
    return bytes([TAG.VERSION_TRUSTED]) + value


def going_on(objects: int, shapes: int, value: bytes) -> bytes:
    return bytes([TAG.VERSION_CONTINUED]) + length(objects) + length(shapes) + value


LIST, SPACE = global_("builtins", "list"), global_("types", "SimpleNamespace")
FIRST = trusted(sequence(mark(text("abc")), shape(["key"], integer(1))))
# Trusted messages: those before, which one writer wrote into the same stream, and the message.
TRUSTED: dict[str, tuple[list[bytes], bytes]] = {
    "trusted, without code": ([], trusted(sequence(integer(1)))),
    "function": ([], trusted(global_("os.path", "join"))),
    "method of a class": ([], trusted(global_("collections", "OrderedDict.fromkeys"))),
    "id of a hook": ([], trusted(tag("PERSISTENT", text("abc")))),
    "call": ([], trusted(tag("REDUCE", b"\x00", LIST, tuple_()))),
    "call with items": ([], trusted(tag("REDUCE", b"\x04", LIST, tuple_(), sequence(integer(1), integer(2))))),
    "call with pairs": (
        [],
        trusted(tag("REDUCE", b"\x08", global_("collections", "OrderedDict"), tuple_(), sequence(tuple_(integer(1), NONE)))),
    ),
    "call with a state": ([], trusted(tag("REDUCE", b"\x10", SPACE, tuple_(), shape(["a"], integer(1))))),
    "call with a setter": (
        [],
        trusted(tag("REDUCE", b"\x30", SPACE, tuple_(), text("__class__"), global_("builtins", "getattr"))),
    ),
    "class by its new": ([], trusted(tag("REDUCE", b"\x01", LIST, tuple_()))),
    "class by its new with keywords": ([], trusted(tag("REDUCE", b"\x02", LIST, tuple_(), tag("DICT_EMPTY")))),
    "call whose items hold it": ([], trusted(tag("REDUCE", b"\x04", LIST, tuple_(), sequence(reference(0))))),
    "object made within its arguments": (
        [],
        trusted(
            tag("REDUCE", b"\x00", LIST, tuple_(sequence(tag("REDUCE", b"\x40", integer(0), LIST, tuple_()))))
        ),
    ),
    "goes on with an object": ([FIRST], going_on(3, 1, sequence(reference(1), tag("INSTANCE_FIX", integer(2))))),
    "goes on without the shapes": ([FIRST], going_on(3, 0, sequence(reference(1), shape(["key"], NONE)))),
    "is an object of before": ([FIRST], going_on(3, 1, reference(0))),
}  # fmt: skip
BAD_TRUSTED: dict[str, tuple[list[bytes], bytes, str]] = {
    "global cut short": ([], trusted(tag("GLOBAL", text("os"))), "truncated"),
    "reduce cut short": ([], trusted(tag("REDUCE")), "truncated"),
    "persistent cut short": ([], trusted(tag("PERSISTENT")), "truncated"),
    "flag of no meaning": ([], trusted(tag("REDUCE", b"\x80", LIST, tuple_())), "code"),
    "flags that exclude each other": (
        [],
        trusted(tag("REDUCE", b"\x03", LIST, tuple_(), tag("DICT_EMPTY"))),
        "code",
    ),
    "setter without a state": ([], trusted(tag("REDUCE", b"\x20", LIST, tuple_(), LIST)), "code"),
    "object in its own arguments": (
        [],
        trusted(tag("REDUCE", b"\x00", LIST, tuple_(reference(0)))),
        "cycle",
    ),
    "goes on with more objects": ([FIRST], going_on(4, 1, integer(1)), "before"),
    "goes on with more shapes": ([FIRST], going_on(3, 2, integer(1)), "before"),
    "goes on with nothing": ([], going_on(1, 0, integer(1)), "before"),
}

# --- refused -----------------------------------------------------------------------------------------------------------
# Tags whose payload can be cut short: all that have one. Those of trusted messages are above.
WITH_PAYLOAD = [
    name
    for name in dict.fromkeys(name for name, _ in TAGS.values())
    if name not in ("RESERVED", "GLOBAL", "REDUCE", "PERSISTENT", "INT_FIX", "INSTANCE_FIX")
    and name not in ("NONE", "FALSE", "TRUE", "DICT_EMPTY", "ELLIPSIS", "NOT_IMPL")
]


def cut(name: str) -> bytes:
    """A message that ends within what follows the tag."""
    first = min(byte for byte, row in TAGS.items() if row[0] == name)
    fixed = name.endswith("_FIX")
    made = bytes([first + fixed])
    return message(made if name not in ("MARK", "NAMED") else sequence(mark(b""))[:-1] + made)


# What no known type takes in the place of each of its values.
ODD = {"Utc": "trailing", "Slice": "trailing"}


def odd(name: str, values: str) -> bytes:
    arity = {"NdArray": 4, "NumpyScalar": 2, "NumpyDtype": 1}.get(name)
    count = arity or (1 if values.startswith("none") else values.count(";") + 1)
    return message(known(name, NONE * (count + (name == "Slice"))))


INVALID: list[tuple[str, str, str]] = [
    *((f"{name} cut short", cut(name).hex(), "truncated") for name in WITH_PAYLOAD),
    ("instance 31 of nothing", "C1 A7", "layout"),
    *(
        (f"{name} of None", odd(name, values).hex(), ODD.get(name, "value"))
        for name, values in KNOWN.values()
    ),
    ("length as u16 cut short", "C1 B8 FC 01", "truncated"),
    ("length as u32 cut short", "C1 B8 FD 010000", "truncated"),
    ("length as u64 cut short", "C1 B8 FE 01000000000000", "truncated"),
    ("a field twice", "C1 C5 00 01 02 08 43 732E50 41 78 41 78 01 02", "names"),
    ("an enumeration with a field", "C1 C5 02 01 01 06 43 732E50 41 78 41 61 01", "names"),
    ("what a function gave, with a field", "C1 C5 03 01 01 06 43 732E50 41 78 41 61 01", "names"),
    ("a class's name with a surrogate", "C1 C5 00 01 00 04 B6 01 00D8", "names"),
    ("named int", "C1 71 DA 05", "mark"),
    ("named mark", "C1 71 DA C0 41 61", "mark"),
    ("date by a bool", "C1 D6 01 AC", "value"),
    ("range by bools", "C1 D6 15 AB AC AC", "value"),
    ("fraction of a negative denominator", "C1 D6 08 01 3F", "value"),
    ("fraction of a bool", "C1 D6 08 AC 01", "value"),
    ("decimal with blanks", "C1 D6 07 43 20 31 20", "value"),
    ("decimal with an underscore", "C1 D6 07 43 31 5F 30", "value"),
    ("network with host bits", f"C1 D6 10 4A {b'10.0.0.1/8'.hex()}", "value"),
    ("datetime whose zone is None", "C1 D8 00000000005DF503 AA", "value"),
    (
        "an exception's content by reference",
        f"C1 C5 01 01 00 14 53{b'builtins.ValueError'.hex()} C1 00",
        "value",
    ),
]


# --- logs --------------------------------------------------------------------------------------------------------------
def written(*windows: list[Any], **options: Any) -> bytes:
    """A log that was opened once for each of these lists."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.hold"
        for records in windows:
            with holdall.Writer(path, append=True, sync="never", **options) as log:
                for record in records:
                    log.write(record)
        return path.read_bytes()


def events(first: int, count: int) -> list[Any]:
    kinds = ("the log began", "the log ended")
    return [
        {"event": kinds[at % 2], "at": at, "tags": [kinds[at % 2], at]} for at in range(first, first + count)
    ]


def frames(log: bytes) -> list[tuple[int, int]]:
    """Kind and place of each frame."""
    found, at = [], 8
    while at < len(log):
        found.append((log[at] & 15, at))
        at += 16 + int.from_bytes(log[at + 1 : at + 6], "little")
    return found


def flipped(log: bytes, kind: int, nth: int, within: int = 9) -> bytes:
    """With a bit of a frame's body (or of its head, if `within` is below 8) changed."""
    at = [place for one, place in frames(log) if one == kind][nth] + within
    return log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]


def whole() -> bytes:
    return written(events(0, 3), events(3, 3))


RECORD, NAMES, RESTART = file_frames.RECORD, file_frames.NAMES, file_frames.RESTART
# A log, and where something is wrong, the kind of damage that a reader passes over.
LOGS: dict[str, Callable[[], bytes]] = {
    "log of nothing": lambda: written([]),
    "log": lambda: written(events(0, 2)),
    "log that was opened twice": whole,
    "log of instances": lambda: written([ValueError("one"), ValueError("two"), {"a": ValueError("one")}]),
    "log by lz4": lambda: written([["text " * 100, "text " * 100]] * 2, compress="lz4"),
    "log with a torn end": lambda: whole()[:-60],
    "log whose first record is damaged": lambda: flipped(whole(), RECORD, 0),
    "log whose first names are damaged": lambda: flipped(whole(), NAMES, 0),
    "log whose first record and names are damaged": lambda: flipped(flipped(whole(), RECORD, 0), NAMES, 0),
    "log whose record has a damaged head": lambda: flipped(whole(), RECORD, 1, 2),
    "log whose last restart is damaged": lambda: flipped(whole(), RESTART, -1),
}
BAD_LOGS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "log whose start is damaged": ("checksum", lambda: b"HOLD\x01\x02" + whole()[6:]),
}


# --- what a reader has to bound ------------------------------------------------------------------------------------------
def hash_bomb(levels: int) -> list[Any]:
    """A key of tuples, each of which holds the one before twice: its hash takes 2^levels steps."""
    chain = b"".join(b"\xc0\x82" + bytes([0xC1, at, 0xC1, at]) for at in range(1, levels))
    return [
        ["c1ba", 1],
        [length(levels + 1).hex(), 1],
        ["c081aa", 1],
        [chain.hex(), 1],
        [f"bc01c1{levels:02x}aa", 1],
    ]


# Bytes as runs: hex, and how often. What the reference reader makes of it by default.
LIMITS: dict[str, tuple[list[Any], bool]] = {
    "list nested 100,000 deep": ([["c1", 1], ["71", 100_000], ["70", 1]], True),
    "tuple nested 1,000 deep": ([["c1", 1], ["81", 1_000], ["80", 1]], True),
    "a list as long as its bytes": ([["c1bafd40420f00", 1], ["aa", 1_000_000]], True),
    "a key whose hash takes 2^60 steps": (hash_bomb(60), False),
    "list of 2^40 values": ([["c1bafe0000000000010000", 1]], False),
    "lists that wait for more values than there are bytes": ([["c1", 1], ["7f", 100], ["aa", 50]], False),
}
