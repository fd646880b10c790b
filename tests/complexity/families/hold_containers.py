"""Containers: deep, wide, empty, and freed; and what claims more than there is."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from tests.complexity.family import copies, family, fill
from tests.support import wire as w
from tests.support.kinds import TYPES

ONE = w.integer(1)
MODELS = "tests.support.models."
LIST_1 = bytes([w.TAG.LIST_FIX + 1])
TUPLE_1 = bytes([w.TAG.TUPLE_FIX + 1])
TUPLE_2 = bytes([w.TAG.TUPLE_FIX + 2])
LIST_0 = bytes([w.TAG.LIST_FIX])
DICT_0 = w.tag("DICT_EMPTY")
OBJECTS = w.known("NdArray", w.text("|O"), w.tuple_(ONE), w.tag("FALSE"))

# What stands before and behind the level within.
NESTED: dict[str, tuple[bytes, bytes]] = {
    "lists": (LIST_1, b""),
    "marked lists": (w.tag("MARK") + LIST_1, b""),
    "tuples": (TUPLE_1, b""),
    "lists and tuples": (LIST_1 + TUPLE_1, b""),
    "dict values": (w.tag("DICT", b"\x01", ONE), b""),
    "dict keys": (w.tag("DICT", b"\x01"), ONE),
    "tuples in keys": (w.tag("DICT", b"\x01") + TUPLE_1, ONE),
    "sets": (w.tag("SET", b"\x01"), b""),
    "frozensets": (w.tag("FROZENSET", b"\x01"), b""),
    "frozensets of tuples": (w.tag("FROZENSET", b"\x01") + TUPLE_1, b""),
    "slices": (w.known("Slice"), ONE + ONE),
    "slices at their end": (w.known("Slice") + ONE + ONE, b""),
    "deques": (w.known("Deque", w.NONE) + LIST_1, b""),
    "short deques": (w.known("Deque", ONE) + LIST_1, b""),
    "proxies": (w.known("MappingProxy") + w.tag("DICT", b"\x01", ONE), b""),
    "ordered dicts": (w.known("OrderedDict") + w.tag("DICT", b"\x01", ONE), b""),
    "ordered dicts' keys": (w.known("OrderedDict") + w.tag("DICT", b"\x01") + TUPLE_1, ONE),
    "counters": (w.known("Counter") + w.tag("DICT", b"\x01", ONE), b""),
    "default dicts": (w.known("DefaultDict", w.NONE) + w.tag("DICT", b"\x01", ONE), b""),
    "default dicts' factories": (w.known("DefaultDict"), DICT_0),
    "timezones' names": (w.known("Timezone") + ONE, b""),
    "timezones": (w.known("Timezone"), w.NONE),
    "datetimes' zones": (w.tag("DATETIME_ZONED", struct.pack("<Q", 2024 << 47 | 1 << 43 | 1 << 38)), b""),
    "marks": (w.tag("MARK"), b""),
    "named": (w.tag("NAMED"), b""),
    "object arrays": (OBJECTS + LIST_1, b""),
    "dtypes": (w.known("NumpyDtype") + w.tag("TUPLE", b"\x02"), w.tuple_(ONE)),
}


@family("hold", each=NESTED)
def nested(n: int, parts: tuple[bytes, bytes]) -> bytes:
    before, after = parts
    depth = n // len(before + after)
    return w.message(before * depth + ONE + after * depth)


@family("hold", each=NESTED)
def nested_without_an_end(n: int, parts: tuple[bytes, bytes]) -> bytes:
    """Torn down when it is cut off."""
    return w.message(parts[0] * (n // len(parts[0])))


SIDE_BY_SIDE = {
    "lists": LIST_0,
    "lists of one": LIST_1 + ONE,
    "marked lists": w.tag("MARK") + LIST_0,
    "tuples": bytes([w.TAG.TUPLE_FIX]),
    "tuples of one": TUPLE_1 + ONE,
    "dicts": DICT_0,
    "dicts of one": w.tag("DICT", b"\x01", ONE, ONE),
    "sets": w.sized("SET", 0),
    "sets of one": w.sized("SET", 1, ONE),
    "frozensets": w.sized("FROZENSET", 0),
    "frozensets of one": w.sized("FROZENSET", 1, ONE),
    "bytearrays": w.sized("BYTEARRAY", 0),
    "bytearrays of one": w.sized("BYTEARRAY", 1, b"x"),
    "deques": w.known("Deque", w.NONE, LIST_0),
    "deques of one": w.known("Deque", w.NONE, LIST_1, ONE),
    "deques with a maxlen": w.known("Deque", w.integer(1 << 40), LIST_0),
    "ordered dicts": w.known("OrderedDict", DICT_0),
    "ordered dicts of one": w.known("OrderedDict", w.tag("DICT", b"\x01", ONE, ONE)),
    "default dicts": w.known("DefaultDict", w.NONE, DICT_0),
    "counters": w.known("Counter", DICT_0),
    "proxies": w.known("MappingProxy", DICT_0),
    "slices": w.known("Slice", ONE, ONE, ONE),
    "arrays": w.known("Array", w.text("b"), w.blob(b"")),
    "empty NumPy arrays": w.known("NdArray", w.text("<f8"), w.tuple_(w.integer(0)), w.tag("FALSE"), w.blob(b"")),
    "NumPy arrays without dimensions": w.known("NdArray", w.text("|b1"), w.tuple_(), w.tag("FALSE"), w.blob(b"x")),
    "empty NumPy arrays of many dimensions": w.known("NdArray", w.text("|b1"), w.tuple_(*[w.integer(0)] * 30), w.tag("FALSE"), w.blob(b"")),
    "NumPy scalars": w.known("NumpyScalar", w.text("|b1"), w.blob(b"x")),
    "NumPy texts": w.known("NumpyScalar", w.text("U"), w.text("")),
    "NumPy dates": w.known("NumpyScalar", w.text("<M8[25s]"), w.blob(bytes(8))),
    "dtypes": w.known("NumpyDtype", w.text("<f8")),
    "dtypes of fields": w.known("NumpyDtype", w.sequence(w.integer(8), w.integer(0), w.text("a"), w.integer(0), w.NONE, w.text("<f8"))),
    "dtypes of many fields": w.known("NumpyDtype", w.sequence(w.integer(40), w.integer(0), *[part for at in range(40) for part in (w.text(f"a{at}"), w.integer(at), w.NONE, w.text("|b1"))])),
    "ints": w.integer(1000),
    "floats": w.tag("FLOAT", bytes(8)),
    "complex": w.tag("COMPLEX", bytes(16)),
    "datetimes": w.tag("DATETIME", struct.pack("<Q", 2024 << 47 | 1 << 43 | 1 << 38)),
    "ellipses": w.tag("ELLIPSIS"),
    "ranges": w.known("Range", ONE, ONE, ONE),
    "dates": w.known("Date", ONE),
    "times": w.known("Time", w.integer(0), w.NONE),
    "timedeltas": w.known("Timedelta", ONE),
    "timezones": w.known("Timezone", w.integer(60_000_000), w.NONE),
    "UTC": w.known("Utc"),
    "builtin types": w.known("BuiltinType", w.text("int")),
    "UUIDs": w.known("Uuid", w.blob(bytes(16))),
    "fractions": w.known("Fraction", ONE, ONE),
    "decimals": w.known("Decimal", w.text("1")),
    "IPv4 addresses": w.known("IPv4Address", w.text("1.2.3.4")),
    "IPv6 addresses": w.known("IPv6Address", w.text("::1")),
    "long IPv6 addresses": w.known("IPv6Address", w.text("1:2:3:4:5:6:7:8%e")),
    "IPv4 networks": w.known("IPv4Network", w.text("1.0.0.0/8")),
    "IPv4 networks by mask": w.known("IPv4Network", w.text("1.0.0.0/255.0.0.0")),
    "IPv6 networks": w.known("IPv6Network", w.text("::/0")),
    "IPv4 interfaces": w.known("IPv4Interface", w.text("1.2.3.4/8")),
    "IPv6 interfaces": w.known("IPv6Interface", w.text("::/0")),
    "paths": w.known("PosixPath", w.text("a")),
    "paths of many parts": w.known("PosixPath", w.text("a/" * 20)),
    "paths with dots": w.known("PosixPath", w.text("./" * 20)),
    "Windows paths": w.known("PureWindowsPath", w.text("a\\")),
    "Windows paths of drives": w.known("PureWindowsPath", w.text("\\\\a\\b\\c")),
    "empty paths": w.known("PosixPath", w.text("")),
    "empty texts": w.text(""),
    "empty bytes": w.blob(b""),
    "zones": w.known("ZoneInfo", w.text("UTC")),
    "huge texts of one": w.sized("UTF_8", 1, b"a"),
}  # fmt: skip


@family("hold", each=SIDE_BY_SIDE)
def side_by_side(n: int, part: bytes) -> bytes:
    return w.message(w.sequence(*copies(n, part)))


@family(
    "hold", each={name: SIDE_BY_SIDE[name] for name in ("lists", "dicts", "tuples", "deques", "sets of one")}
)
def members_of_a_dict(n: int, part: bytes) -> bytes:
    """As values, under keys that a table must be made for."""
    items = fill(n, lambda at: w.integer(at) + part)
    return w.message(w.tag("DICT", w.length(len(items)), *items))


@family("hold", each={"of two": 2, "of eight": 8, "of 300": 300})
def sets_of_distinct(n: int, count: int) -> bytes:
    """Tables grow by fours, so that some sizes are mostly air."""
    part = w.sized("SET", count, *map(w.integer, range(count)))
    return w.message(w.sequence(*copies(n, part)))


@family("hold", each={"5": 5, "10": 10, "21": 21, "43": 43})
def dicts_that_have_just_grown(n: int, count: int) -> bytes:
    part = w.dict_(*[one for at in range(count) for one in (w.integer(at % 48), ONE)][: 2 * min(count, 48)])
    return w.message(w.sequence(*copies(n, part)))


@family("hold", each=("LIST", "TUPLE", "SET", "FROZENSET", "DICT"))
def claims_all_that_is_left(n: int, name: str) -> bytes:
    body = bytearray()
    while len(body) < n:
        left = (n - len(body) - 6) // (2 if name == "DICT" else 1)
        body += w.sized(name, max(left, 1)) + (ONE if name == "DICT" else b"")
    return w.message(bytes(body))


RUNS = {
    "LIST_I8": 1, "LIST_I16": 2, "LIST_I64": 8, "LIST_F64": 8, "LIST_BOOL": 1, "LIST_ASCII": 1, "TUPLE_I8": 1, "TUPLE_BOOL": 1, "TUPLE_ASCII": 1,
}  # fmt: skip


@family("hold", each=RUNS.keys())
def runs_of(n: int, name: str) -> bytes:
    width = RUNS[name]
    return w.message(w.sized(name, n // width, bytes(n // width * width)))


@family("hold", each=("LIST_I8", "LIST_ASCII", "TUPLE_I8", "LIST_F64", "LIST_BOOL"))
def empty_runs(n: int, name: str) -> bytes:
    return w.message(w.sequence(*copies(n, w.sized(name, 0))))


@family("hold", each=("LIST_I8", "LIST_ASCII", "LIST_F64"))
def runs_of_one(n: int, name: str) -> bytes:
    part = w.sized(name, 1, b"\0" if name != "LIST_F64" else bytes(8))
    return w.message(w.sequence(*copies(n, part)))


@family("hold")
def texts_of_two_characters(n: int) -> bytes:
    return w.message(w.sized("LIST_ASCII", n // 3, b"\x02" * (n // 3), b"ab" * (n // 3)))


@family("hold")
def ints_of_run_in_objects(n: int) -> bytes:
    return w.message(w.sized("LIST_I16", n // 2, struct.pack("<h", 12345) * (n // 2)))


# --- references ---
@family("hold")
def references_to_one_list(n: int) -> bytes:
    return w.message(w.sequence(w.mark(LIST_0), *copies(n, w.reference(1))))


@family("hold")
def short_references_to_one_list(n: int) -> bytes:
    return w.message(w.sequence(w.mark(LIST_0), *copies(n, w.tag("REF_8", b"\x01"))))


@family("hold")
def chain_of_references(n: int) -> bytes:
    """Each list holds the one before."""
    parts = fill(n, lambda at: w.mark(LIST_1 + (w.reference(at) if at else ONE)))
    return w.message(w.sequence(*parts))


@family("hold")
def lists_that_double(n: int) -> bytes:
    """[a, a] of [b, b] of ...: 2**depth paths, as many objects as there are bytes."""
    parts = fill(n, lambda at: w.mark(bytes([w.TAG.LIST_FIX + 2]) + (w.reference(at) * 2 if at else ONE * 2)))
    return w.message(w.sequence(*parts))


@family("hold")
def tuples_that_double(n: int) -> bytes:
    parts = fill(n, lambda at: w.mark(TUPLE_2 + (w.reference(at) * 2 if at else ONE * 2)))
    return w.message(w.sequence(*parts))


@family("hold")
def cycles(n: int) -> bytes:
    parts = fill(n, lambda at: w.mark(LIST_1 + w.reference(at + 1)))
    return w.message(w.sequence(*parts))


@family("hold")
def one_cycle_through_all(n: int) -> bytes:
    """Lists nested in each other; the innermost holds the outermost: freed by the collector alone."""
    return w.message(LIST_1 * n + w.reference(0))


@family("hold")
def unfinished_tuples_that_are_referred_to(n: int) -> bytes:
    """Lists in tuples that hold what is not made yet."""
    return w.message(w.sequence(*[w.mark(TUPLE_1 + LIST_1 + w.reference(at + 1)) for at in range(n // 9)]))


@family("hold")
def keys_that_wait(n: int) -> bytes:
    """Keys that hold what is not finished: they are hashed later."""
    part = w.dict_(w.reference(1), ONE)
    return w.message(w.sequence(w.mark(w.tuple_(*copies(n, part)))))


@family("hold", types=TYPES)
def instances_as_keys_that_wait(n: int) -> bytes:
    """A frozen dataclass that is a key of a dict in its own field."""
    inside = w.sequence(*copies(n, w.dict_(w.reference(1), ONE)))
    return w.message(w.sequence(w.mark(w.layout("object", MODELS + "DFrozen", ["x", "y"], inside, ONE))))


@family("hold", types=TYPES)
def shared_instances_as_keys_that_wait(n: int) -> bytes:
    """Many instances, each a key within the next, of which hashing goes down all the way."""
    count = n // 40
    body = b""
    made = w.layout("object", MODELS + "DFrozen", ["x", "y"])
    for at in range(count):
        head = w.tag("MARK") + (made if at == 0 else w.tag("INSTANCE_32", bytes(4)))
        body += head
    return w.message(body + ONE * (count + 1))


# --- what is freed by recursion ---
def exceptions(n: int, name: str, link: str = "__context__") -> bytes:
    """A chain of them, each the context of the one before."""
    arguments = bytes([w.TAG.TUPLE_FIX])
    state = w.tag("DICT", b"\x01")
    key = w.tag("REF_8", b"\x02")
    first = w.layout("based", f"builtins.{name}", [], TUPLE_2, arguments, state, w.mark(w.text(link)))
    # Object 1 is the class's name, 2 the key.
    level = bytes([w.TAG.INSTANCE_FIX]) + TUPLE_2 + arguments + state + key
    return w.message(LIST_1 + first + level * (n // len(level)) + w.NONE)


EXCEPTIONS = (
    "ValueError", "OSError", "ImportError", "SyntaxError", "KeyError", "StopIteration", "SystemExit", "UnicodeDecodeError", "AttributeError",
    "NameError", "BaseException",
)  # fmt: skip


@family("hold", each=EXCEPTIONS)
def chained_by_context(n: int, name: str) -> bytes:
    return exceptions(n, name)


@family("hold", each=("ValueError", "OSError"))
def chained_by_cause(n: int, name: str) -> bytes:
    return exceptions(n, name, "__cause__")


@family("hold", each=("AttributeError.obj", "NameError.name", "ImportError.name", "OSError.filename"))
def chained_by_a_field(n: int, name: str) -> bytes:
    return exceptions(n, *name.split("."))


@family("hold", each=("ValueError", "OSError", "StopIteration"))
def exceptions_in_arguments(n: int, name: str) -> bytes:
    """Each is the argument of the one before."""
    first = w.layout("based", f"builtins.{name}", [], TUPLE_2, TUPLE_1)
    level = bytes([w.TAG.INSTANCE_FIX]) + TUPLE_2 + TUPLE_1
    depth = n // (len(level) + 1)
    return w.message(LIST_1 + first + level * depth + ONE + DICT_0 * (depth + 1))


@family("hold")
def exception_groups_in_groups(n: int) -> bytes:
    inner = w.layout("based", "builtins.ValueError", [], w.tuple_(bytes([w.TAG.TUPLE_FIX]), DICT_0))
    first = w.layout("based", "builtins.ExceptionGroup", [], TUPLE_2, TUPLE_2, w.text("m"), LIST_1)
    level = bytes([w.TAG.INSTANCE_FIX]) + TUPLE_2 + TUPLE_2 + w.text("m") + LIST_1
    depth = n // (len(level) + 1)
    return w.message(LIST_1 + first + level * depth + inner + DICT_0 * (depth + 1))


BASED = {
    "MyList": (LIST_1, b""),
    "MyTuple": (TUPLE_1, b""),
    "MyDict": (w.tag("DICT", b"\x01", ONE), b""),
    "MyFrozenSet": (w.tag("FROZENSET", b"\x01"), b""),
    "MyDeque": (w.known("Deque", w.NONE, LIST_1), b""),
    "MyDefaultDict": (w.known("DefaultDict", w.NONE, w.tag("DICT", b"\x01", ONE)), b""),
    "MyOrderedDict": (w.tag("DICT", b"\x01", ONE), b""),
    "MyError": (TUPLE_2 + TUPLE_1, DICT_0),
}


@family("hold", each=BASED, types=TYPES)
def subclasses_in_each_other(n: int, parts: tuple[bytes, bytes]) -> bytes:
    name = next(one for one, of in BASED.items() if of is parts)
    before, after = parts
    level = bytes([w.TAG.INSTANCE_FIX]) + before
    depth = n // (len(level) + len(after))
    first = w.layout("based", MODELS + name, [], before)
    return w.message(LIST_1 + first + level * depth + ONE + after * (depth + 1))


@family("hold", each=("PlainDict", "PlainSlots", "DPoint", "DFrozen"), types=TYPES)
def instances_in_each_other(n: int, name: str) -> bytes:
    field = {"PlainDict": "a", "PlainSlots": "left"}.get(name, "x")
    level = bytes([w.TAG.INSTANCE_FIX])
    return w.message(LIST_1 + w.layout("object", MODELS + name, [field]) + level * n + ONE)


@family("hold", types=TYPES)
def enums_of_deep_values(n: int) -> bytes:
    return w.message(LIST_1 + w.layout("enum", MODELS + "Color", []) + TUPLE_1 * n + ONE)


@family("hold", types=TYPES)
def struct_sequences_in_each_other(n: int) -> bytes:
    count = 9
    first = w.layout("based", "time.struct_time", [], w.tag("TUPLE", bytes([count])))
    level = bytes([w.TAG.INSTANCE_FIX]) + w.tag("TUPLE", bytes([count]))
    depth = n // (len(level) + count - 1)
    return w.message(LIST_1 + first + level * depth + ONE * count + ONE * (count - 1) * depth)


@family("hold")
def wide_and_deep(n: int) -> bytes:
    side = math.isqrt(n)
    return w.message(w.sequence(*[LIST_1 * side + ONE] * side))


@family("hold", each={"thousand": 1000, "hundred": 100})
def deep_lists_in_tuples(n: int, depth: int) -> bytes:
    part = (LIST_1 + TUPLE_1) * depth + ONE
    return w.message(w.sequence(*copies(n, part)))


def chained_structs(depth: int, first: int, beside: Callable[[int], bytes]) -> bytes:
    """Frozen Structs, each in the next one's last field; `beside` makes the first field of the one of that number."""
    made = bytes([w.TAG.INSTANCE_FIX])
    body = b"".join(w.tag("MARK") + made + beside(first + at) for at in range(depth))
    return body + ONE


def with_struct(*values: bytes) -> bytes:
    """In a list, behind a Struct that names class and fields: objects after it have numbers from 4 on."""
    named = w.layout("object", "tests.support.models_msgspec.StructFrozen", ["x", "y"], ONE, ONE)
    return w.message(w.sequence(named, *values))


@family("hold", types=TYPES)
def frozen_structs_that_are_seen_from_within(n: int) -> bytes:
    """Each may be a circle of hashes, which is looked for when all is there."""
    return with_struct(chained_structs(n // 6, 4, lambda number: LIST_1 + w.reference(number)))


@family("hold", types=TYPES)
def sets_of_what_is_around_them(n: int) -> bytes:
    """Chains of frozen Structs; at each level a frozenset of the outermost, whose hash goes all the way down."""
    depth = 400

    def beside(number: int) -> bytes:
        return LIST_1 + w.sized("FROZENSET", 1, w.tuple_(ONE, w.reference(4 + (number - 4) // depth * depth)))

    return with_struct(
        *[chained_structs(depth, 4 + at * depth, beside) for at in range(n // (depth * 10) + 1)]
    )
