"""Julia's files: tags, types that describe types, arrays that claim any shape, and what stands apart to be referred to."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from holdall import bson, julia
from tests.complexity.families.bson import DOCUMENT, nested_in
from tests.complexity.family import family
from tests.complexity.probes import cycle_ints
from tests.support import bson_wire as b
from tests.support import julia_messages as j


def packed(value: Any) -> bytes:
    return bson.dumps(value)


def message(value: bytes, apart: list[bytes] | None = None) -> bytes:
    """A document with a member `value`, of encoded documents."""
    elements = [b.element(DOCUMENT, value, b"value")]
    if apart is not None:
        body = b.document(*(b.element(DOCUMENT, one, b"") for one in apart))
        elements.append(b.element(b"\x04", body, b"_backrefs"))
    return b.document(*elements)


def listed(n: int, one: bytes, apart: list[bytes] | None = None) -> bytes:
    """A document whose member is a list of `one`, as often as there is room."""
    count = max((n - sum(map(len, apart or ()))) // (len(one) + 2), 1)
    body = b.document(*[b.element(DOCUMENT, one, b"")] * count)
    elements = [b.element(b"\x04", body, b"value")]
    if apart is not None:
        elements.append(
            b.element(b"\x04", b.document(*(b.element(DOCUMENT, it, b"") for it in apart)), b"_backrefs")
        )
    return b.document(*elements)


@family("julia")
def nested_documents(n: int) -> bytes:
    return nested_in(n, DOCUMENT)


@family("julia")
def nested_arrays(n: int) -> bytes:
    return nested_in(n, b"\x04")


TAG = b"\x02tag\0"


@family("julia", each={"tuple": b"data", "svec": b"data"})
def nested_tagged(n: int, name: bytes, *, tag: bytes = b"tuple") -> bytes:
    """Tuples in tuples: a document with its tag behind what it holds."""
    tail = TAG + b.string(tag)
    level = 4 + 1 + 5 + 4 + 2 + 1 + len(tail) + 1
    depth, size, heads = n // level, 5, []
    for _ in range(depth):
        inner = 4 + 2 + size + 1
        size += level
        heads.append(struct.pack("<i", size) + b"\x04" + name + b"\0" + struct.pack("<i", inner) + b"\x03\0")
    return b.document(
        b.element(DOCUMENT, b"".join(reversed(heads)) + b"\x05\0\0\0\0" + (b"\0" + tail + b"\0") * depth)
    )


@family("julia", each={"datatype": "params", "unionall": "body"})
def types_in_types(n: int, name: str) -> bytes:
    value: Any = j.ANY
    for _ in range(min(n // 60, 5_000)):
        value = j.datatype("Core", "Array", params=[value]) if name == "params" else j.unionall(j.ANY, value)
    return packed({"value": value})


SMALL: dict[str, Any] = {
    "symbols": j.symbol("a"),
    "empty tuples": j.tuple_of(),
    "structs": j.struct(j.FOO),
    "structs of one": j.struct(j.FOO, 1),
    "types": j.INT64,
    "types with parameters": j.datatype("Core", "Array", params=[j.INT64, 1]),
    "bits": j.bits(j.datatype("Core", "Int8"), b"\1"),
    "characters": j.bits(j.datatype("Core", "Char"), b"a\0\0\0"),
    "wide ints": j.bits(j.datatype("Core", "UInt128"), b"\xff" * 16),
    "empty arrays": j.array(j.FLOAT64, (0,), b""),
    "empty arrays of anything": j.array(j.ANY, (0,), []),
    "arrays of nothing": j.array(j.NOTHING, (1000,), b""),
    "arrays of empty tuples": j.array(j.datatype("Core", "Tuple"), (1000,), b""),
    "arrays of 32 dimensions": j.array(j.UINT8, (1,) * 32, b"x"),
    "dicts": j.dict_of([], []),
    "dicts of one": j.dict_of([1], [2]),
    "modules": {"tag": "ref", "path": ["Main", "Base"]},
    "union types": {"tag": "jl_bottom_type"},
    "anonymous": {"tag": "jl_anonymous", "params": [], "typename": []},
    "rationals": j.struct(j.datatype("Main", "Base", "Rational", params=[j.INT64]), j.long(1), j.long(2)),
    "ranges": j.struct(j.datatype("Main", "Base", "UnitRange", params=[j.INT64]), j.long(1), j.long(1 << 60)),
    "float ranges": j.struct(j.datatype("Main", "Base", "LinRange", params=[j.FLOAT64]), 0.0, 1.0, j.long(1 << 60), j.long(1 << 60)),
    "sets": j.struct(j.datatype("Main", "Base", "Set", params=[j.ANY]), j.dict_of([1], [None])),
    "pairs": j.struct(j.datatype("Core", "Pair", params=[j.INT64, j.INT64]), j.long(1), j.long(2)),
    "UUIDs": j.struct(j.datatype("Main", "Base", "UUID"), j.bits(j.datatype("Core", "UInt128"), bytes(16))),
    "unknown tags": {"tag": "nothing known"},
}  # fmt: skip


@family("julia", each=SMALL)
def side_by_side(n: int, value: Any) -> bytes:
    return listed(n, packed(value))


@family(
    "julia",
    each={
        "nothing": j.NOTHING,
        "empty tuples": j.datatype("Core", "Tuple"),
        "missing": j.datatype("Main", "Base", "Missing"),
    },
)
def array_of_a_huge_shape_of(n: int, of: Any) -> bytes:
    """Elements without bytes: any shape."""
    return packed({"value": j.array(of, (1 << 40,), b""), "filler": bytes(n)})


@family("julia", each={"1": 1, "2": 2, "30": 30})
def array_of_lengths(n: int, count: int) -> bytes:
    side = int((2 * n) ** (1 / count)) or 1
    return packed({"value": j.array(j.NOTHING, (side,) * count, b""), "filler": bytes(n)})


# --- what is referred to ---
SHARED: dict[str, Callable[[int], Any]] = {
    "array of numbers": lambda size: j.array(j.UINT8, (size,), bytes(size)),
    "array of text": lambda size: j.array(j.STRING, (size // 10,), ["a"] * (size // 10)),
    "symbol": lambda size: j.symbol("a" * size),
    "tuple": lambda size: j.tuple_of(*[1] * (size // 8)),
    "struct": lambda size: j.struct(j.FOO, *[1] * (size // 8)),
    "type": lambda size: j.datatype("Main", *["A" * 5] * (size // 16)),
    "type with parameters": lambda size: j.datatype("Main", "Foo", params=[1] * (size // 8)),
    "text of bits": lambda size: j.bits(j.datatype("Main", "Foo"), bytes(size)),
    "dict": lambda size: j.dict_of([j.long(at) for at in range(size // 30)], [1] * (size // 30)),
    "document": lambda size: {f"k{at}": 1 for at in range(size // 14)},
    "list": lambda size: {"tag": "svec", "data": [1] * (size // 8)},
}


@family("julia", each=SHARED)
def one_in_many_places(n: int, make: Callable[[int], Any]) -> bytes:
    return listed(n, packed(j.backref(1)), [packed(make(n // 2))])


@family("julia", each=SHARED)
def one_as_type_of_many(n: int, make: Callable[[int], Any]) -> bytes:
    """What stands apart, as the type of each struct."""
    return listed(n, packed(j.struct(j.backref(1), 1)), [packed(make(n // 2))])


@family("julia", each=SHARED)
def one_as_data_of_many(n: int, make: Callable[[int], Any]) -> bytes:
    value = {"tag": "array", "type": j.UINT8, "size": [j.long(n // 2)], "data": j.backref(1)}
    return listed(n, packed(value), [packed(make(n // 2))])


@family(
    "julia",
    each={name: SHARED[name] for name in ("array of numbers", "symbol", "tuple", "struct", "text of bits")},
)
def one_as_keys_of_many(n: int, make: Callable[[int], Any]) -> bytes:
    return listed(n, packed(j.dict_of([j.tuple_of(j.backref(1), 1)], [1])), [packed(make(n // 2))])


@family("julia")
def type_parameters_by_reference(n: int) -> bytes:
    """Each type has the one before as a parameter, twice."""
    apart = [packed(j.datatype("Main", "Foo", params=[]))]
    while sum(map(len, apart)) < n and len(apart) < 5_000:
        apart.append(packed(j.datatype("Main", "Foo", params=[j.backref(len(apart)), j.backref(len(apart))])))
    return message(packed(j.struct(j.backref(len(apart)), 1)), apart)


@family(
    "julia",
    each={
        "tuples": j.tuple_of,
        "structs": lambda *parts: j.struct(j.FOO, *parts),
        "vectors": lambda *parts: {"tag": "svec", "data": list(parts)},
    },
)
def references_that_double(n: int, make: Callable[..., Any]) -> bytes:
    """Two references to the one before, in each: 2**n paths."""
    apart = [packed(make(1))]
    size = len(packed(make(j.backref(1), j.backref(1))))
    for at in range(1, max(n // (size + 2), 2)):
        apart.append(packed(make(j.backref(at), j.backref(at))))
    return message(packed(j.backref(len(apart))), apart)


@family(
    "julia",
    each={
        "tuples": j.tuple_of,
        "structs": lambda *parts: j.struct(j.FOO, *parts),
        "arrays": lambda part: j.array(j.ANY, (1,), [part]),
    },
)
def chain_of_references(n: int, make: Callable[..., Any]) -> bytes:
    """Each refers to the next: the first goes down all the way."""
    size = len(packed(make(j.backref(1))))
    count = max(n // (size + 2), 2)
    apart = [packed(make(j.backref(at + 2) if at + 1 < count else 1)) for at in range(count)]
    return message(packed(j.backref(1)), apart)


@family("julia")
def references_to_references(n: int) -> bytes:
    count = max(n // len(packed(j.backref(1))), 2)
    return message(packed(j.backref(1)), [packed(j.backref(at + 2)) for at in range(count)])


@family("julia")
def reference_to_itself(n: int) -> bytes:
    count = max(n // len(packed(j.backref(1))), 2)
    return message(packed(j.backref(1)), [packed(j.backref(at + 1)) for at in range(count)])


@family("julia")
def unused_references(n: int) -> bytes:
    one = packed(j.tuple_of(1))
    return message(packed(j.symbol("a")), [one] * max(n // len(one), 1))


# --- keys ---
def colliding_dict(n: int, key: Callable[[int], Any]) -> bytes:
    count = max(n // (len(packed({"": key(1 << 20)})) + 4), 2)
    return packed({"value": j.dict_of([key(at) for at in range(count)], [1] * count)})


KEYS: dict[str, Callable[[int], Any]] = {
    "ints": lambda at: j.long(at << 32),
    "floats": lambda at: float(at << 32),
    "tuples of -1 and -2": lambda at: j.tuple_of(*(-2 if at >> bit & 1 else -1 for bit in range(20))),
    "wide ints": lambda at: j.bits(
        j.datatype("Core", "UInt128"), (at * ((1 << 61) - 1)).to_bytes(16, "little")
    ),
    "structs": lambda at: j.struct(j.FOO, at),
    "bits": lambda at: j.bits(j.FOO, struct.pack("<q", at)),
    "types": lambda at: j.datatype("Main", f"A{at}"),
}


@family("julia", each=KEYS)
def keys_of(n: int, key: Callable[[int], Any]) -> bytes:
    return colliding_dict(n, key)


@family("julia", most=1_000_000)
def keys_in_one_cycle_of_probes(n: int) -> bytes:
    keys = cycle_ints(n // 36)
    return packed({"value": j.dict_of([j.long(key) for key in keys], [1] * len(keys))})


@family("julia", each={name: KEYS[name] for name in ("ints", "tuples of -1 and -2", "wide ints")})
def members_of_a_set(n: int, key: Callable[[int], Any]) -> bytes:
    count = max(n // (len(packed({"": key(1 << 20)})) + 4), 2)
    of = j.datatype("Main", "Base", "Set", params=[j.ANY])
    return packed({"value": j.struct(of, j.dict_of([key(at) for at in range(count)], [None] * count))})


# --- text and numbers ---
@family("julia")
def array_of_characters(n: int) -> bytes:
    return packed({"value": j.array(j.datatype("Core", "Char"), (n // 4,), b"a\0\0\0" * (n // 4))})


@family("julia")
def big_float(n: int) -> bytes:
    of = j.datatype("Main", "Base", "MPFR", "BigFloat")
    return packed({"value": j.struct(of, j.long(8 * n), 1, j.long(1), "7" * n)})


@family("julia")
def parsed_type_names(n: int) -> bytes:
    """A path of many modules."""
    return packed({"value": j.datatype(*["Main"] * (n // 12))})


@family("julia")
def wide_named_tuple(n: int) -> bytes:
    names = j.tuple_of(*(j.symbol(f"a{at}") for at in range(n // 60)))
    of = j.datatype(
        "Core", "NamedTuple", params=[names, j.datatype("Core", "Tuple", params=[j.INT64] * (n // 60))]
    )
    return packed({"value": j.struct(of, *[1] * (n // 60))})


# --- honest ones ---
HONEST: dict[str, Callable[[int], Any]] = {
    "symbols": lambda at: julia.Symbol("a"),
    "tuples": lambda at: (at,),
    "empty tuples": lambda at: (),
    "empty lists": lambda at: [],
    "structs": lambda at: julia.JuliaStruct("Main.Foo", [at]),
    "int keys": lambda at: {at: at},
    "sets": lambda at: {at},
    "floats": lambda at: at / 7,
}


@family("julia", each=HONEST, honest=True)
def many(n: int, make: Callable[[int], Any]) -> bytes:
    few = len(julia.dumps({"a": [make(at) for at in range(300)]}))
    return julia.dumps({"a": [make(at) for at in range(max(n * 300 // few, 1))]})


@family("julia", honest=True)
def a_linked_list(n: int) -> bytes:
    value: Any = None
    for at in range(n // 150):
        value = julia.JuliaStruct("Main.Node", [at, value])
    return julia.dumps({"a": value})


@family("julia", honest=True)
def one_array_in_many_lists(n: int) -> bytes:
    import numpy as np

    shared = np.zeros(math.isqrt(n), "f4")
    return julia.dumps({"a": [[shared, at] for at in range(n // 60)]})
