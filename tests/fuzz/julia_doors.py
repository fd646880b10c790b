"""Julia's files for the mutation fuzzer: documents of every kind, damage that knows their tags, and every door that takes them."""

from __future__ import annotations

import contextlib
import datetime
import gc
import random
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

import holdall
from holdall import bson, julia
from tests.fuzz.bson_documents import BSON_MUTATIONS, Element, grown, structure
from tests.fuzz.bson_doors import Door, Outcome, same
from tests.fuzz.mutations import LARGEST_INPUT, Mutation
from tests.support.kinds import KINDS
from tests.support.places import data_folder

SAMPLES = data_folder("julia")


@julia.struct("Main.Fuzz.Node", mutable=True)
@dataclass(slots=True, eq=False)
class Node:
    name: str
    next: Any = None


@julia.struct("Main.Fuzz.Point")
@dataclass
class Point:
    x: float
    y: float


@dataclass(slots=True)
class Loose:
    """Of no type of its own: any type of two fields."""

    first: Any
    second: list[int] | str | None


@dataclass
class Whole:
    points: list[Point]
    node: Node | None
    table: dict[str, int] | None
    array: Any = None


def values() -> list[dict[str, Any]]:
    ring = Node("ring")
    ring.next = [ring, {"ring": ring}, (ring, 1)]
    shared = [1.5, "x"]
    chain: Any = None
    for n in range(30):
        chain = julia.JuliaStruct("Main.Fuzz.Loose", [n, chain])
    return [
        {"ring": ring, "again": ring},
        {"shared": [shared, shared, (shared,), {"k": shared}]},
        {"points": [Point(n / 2, -n) for n in range(12)], "node": Node("a"), "table": {"a": 1, "b": 2}},
        {"points": [], "node": None, "table": {"a": 1}, "array": np.arange(6.0).reshape(2, 3)},
        {"chain": chain, "records": [julia.JuliaStruct("Main.Foo{Int64,:a,(1,true)}", [1, "x", [1, 2]])]},
        {"numbers": [julia.Int8(-8), julia.UInt64(2**64 - 1), julia.Int128(-1), julia.Float16(1.5), julia.Float32(0.1), julia.Int32(7)]},
        {"arrays": [np.arange(6, dtype="f4").reshape(2, 3), np.array(2.5), np.zeros((0, 2)), b"\1\2", np.array(["a", "é"]), np.array([1 + 2j])]},
        {"objects": [np.array([[1, None], ["x", 2.5]], object), julia.BitArray(np.ones((2, 3), bool))]},
        {"dates": [np.array(["2024-02-29"], "M8[D]"), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3), datetime.time(1, 2, 3), julia.Period(3, "Day")]},
        {"tables": [{1: "one"}, {(1, 2): [3]}, {1.5, 2.5}, {"a", "b"}, julia.IdDict({"a": 1}), julia.Pairs([([1], 2)]), {julia.Symbol("a"): Point(1, 2)}]},
        {"named": julia.NamedTuple.of(a=1, b=("x", None), c=np.arange(3)), "text": [julia.Char("é"), julia.SubString("hello", 1, 3), julia.Symbol("s")]},
        {"types": [julia.Type.parse("Dict{String,Vector{Float32}}"), julia.BOTTOM, julia.Module(("Main", "Lab")), julia.Union(julia.Type.parse("Int"), julia.Type.parse("Missing"))]},
        {"where": julia.UnionAll(var := julia.TypeVar("T"), julia.Type(("Core", "Array"), (var, 1))), "missing": julia.missing},
        {"boxes": [julia.Ref(1), julia.Some(None), julia.Pair(1, 2), range(1, 6), range(0, 10, 3), julia.StepRangeLen(0.0, 0.5, 3), julia.Transpose(np.eye(2))]},
        {"expr": julia.JuliaStruct("Expr", [julia.Symbol("call"), [julia.Symbol("+"), 1, {"tag": "struct", "data": 1}]])},
    ]  # fmt: skip


def seeds() -> list[bytes]:
    found = [julia.dumps(value) for value in values()]
    for kind in KINDS:
        with contextlib.suppress(holdall.EncodeError):
            found.append(julia.dumps({"a": kind.make(), "b": [kind.make(), {"k": kind.make()}]}))
    found += [path.read_bytes() for path in sorted(SAMPLES.glob("*/*.bson"))]
    # What stands apart comes first, and the parts of tagged documents in another order.
    for data in found[:4]:
        members = bson.loads(data)
        found.append(bson.dumps(dict(reversed(members.items()))))
        found.append(bson.dumps(turned(members)))
    return [data for data in found if len(data) <= LARGEST_INPUT // 2]


def turned(value: Any) -> Any:
    """Tagged documents with their parts from the last to the first."""
    if isinstance(value, dict):
        items = [(key, turned(item)) for key, item in value.items()]
        return dict(reversed(items) if "tag" in value else items)
    if isinstance(value, list):
        return [turned(item) for item in value]
    return bson.Int64(value) if type(value) is int else value


# --- mutations ---
PATHS = [
    ("Core", name)
    for name in "Int64 Float32 Bool Char Array Tuple NamedTuple Union TypeVar Nothing Any Int128 UInt8".split()
]
PATHS += [
    ("Main", "Base", name)
    for name in "Dict IdDict Set Complex Rational BitArray UnitRange SubString UUID Missing RefValue Pair".split()
]
PATHS += [("Dates", "Date"), ("Dates", "DateTime"), ("Main", "Fuzz", "Node"), ("Main", "Fuzz", "Point"), ("Main", "Foo"), ()]  # fmt: skip


def named(data: bytes, *names: bytes) -> list[Element]:
    return [
        element
        for element in structure(data).elements
        if data[element.start + 1 : element.value - 1] in names
    ]


def put(data: bytearray, element: Element, value: bytes) -> None:
    by = len(value) - (element.end - element.value)
    if len(data) + by <= LARGEST_INPUT:
        data[element.value : element.end] = value
        grown(data, element.around, by)


def retag(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """Another tag in front of the same parts."""
    tags = named(bytes(data), b"tag")
    if tags:
        name = rng.choice([*holdall._core.julia_tags, "x"]).encode()
        put(data, rng.choice(tags), struct.pack("<i", len(name) + 1) + name + b"\0")


def renumber(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A reference to another value, or to none."""
    numbers = [element for element in named(bytes(data), b"ref") if element.end - element.value == 8]
    if numbers:
        put(
            data,
            rng.choice(numbers),
            struct.pack("<q", rng.choice([*range(-1, 8), 1 << 31, 1 << 32, (1 << 63) - 1])),
        )


def repath(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """Another type: its values don't fit."""
    paths = named(bytes(data), b"name", b"path")
    if paths:
        element, path = rng.choice(paths), rng.choice(PATHS)
        if data[element.start] == 4:
            put(data, element, bson.dumps({str(at): name for at, name in enumerate(path)}))


def resize(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """An array of another shape."""
    shapes = named(bytes(data), b"size")
    if shapes:
        lengths = [0, 1, 2, 3, 4, 6, 8, 1000, 1 << 31, 1 << 40, 1 << 62, -1]
        shape = {str(at): bson.Int64(rng.choice(lengths)) for at in range(rng.choice((0, 1, 1, 2, 2, 3, 33)))}
        put(data, rng.choice(shapes), bson.dumps(shape))


def refer(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A document is replaced by a reference: cycles, and things out of their place."""
    documents = [element for element in structure(bytes(data)).elements if data[element.start] == 3]
    if documents:
        put(
            data,
            rng.choice(documents),
            bson.dumps({"tag": "backref", "ref": bson.Int64(rng.choice((1, 1, 2, 3)))}),
        )


def borrow(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A value of this message or another in the place of one of its kind: types, lists of fields, data."""
    other = bytes(data) if rng.random() < 0.5 else rng.choice(pool)
    from_there, here = structure(other).elements, structure(bytes(data)).elements
    if from_there and here:
        element = rng.choice(here)
        alike = [one for one in from_there if other[one.start] == data[element.start]]
        if alike:
            one = rng.choice(alike)
            put(data, element, other[one.value : one.end])


BY_TAGS: list[Mutation] = [retag, renumber, repath, resize, refer, borrow]
JULIA_MUTATIONS: list[Mutation] = [*BSON_MUTATIONS, *BY_TAGS * 8]


# --- doors: nothing but our own errors comes out ---
def loads(data: bytes, number: int) -> Outcome:
    types = (None, [Node, Loose], {"Main.Foo": Loose}, Point)[number % 4]
    try:
        found = julia.loads(data, types=types)
    except holdall.HoldallError:
        return False, False
    try:
        again = julia.dumps(found)
    except holdall.HoldallError:
        return True, False
    # What was loaded is whole, and says the same when it is stored. What was nonsense is so but once: an array of bytes without any,
    # as a list, becomes an array of bytes, and that bytes.
    second = julia.loads(again, types=types)
    if (third := julia.dumps(second)) != again:
        assert julia.dumps(julia.loads(third, types=types)) == third, "other bytes after another round"
    return True, True


def shown(data: bytes, number: int) -> Outcome:
    """Whatever was loaded can be looked at."""
    try:
        found = julia.loads(data)
    except holdall.HoldallError:
        return False, False
    with contextlib.suppress(RecursionError):
        repr(found)
        assert found is not None
        for value in found.values():
            str(value)
            # Arrays have no truth, and many things no hash.
            with contextlib.suppress(TypeError, ValueError):
                assert value == value or value != value
            with contextlib.suppress(TypeError):
                hash(value)
    return True, False


def views(data: bytes, number: int) -> Outcome:
    """Views say what copies say, and outlive their buffer."""
    mode = (True, "copy")[number % 2]
    try:
        copies, good = julia.loads(data), True
    except holdall.HoldallError:
        copies, good = None, False
    buffer = bytearray(data)
    try:
        found = julia.load(buffer, mmap=mode)  # type: ignore[arg-type]
    except holdall.LimitError:
        # Copies cost more.
        return False, False
    except holdall.HoldallError:
        assert not good, "no views of what can be copied"
        return False, False
    del buffer
    if number % 8 == 0:
        gc.collect()
    if good:
        assert same(copies, found), "another value by views"
    return True, False


def parsed(data: bytes, number: int) -> Outcome:
    try:
        found = julia.parse(data)
    except holdall.HoldallError:
        return False, False
    with contextlib.suppress(RecursionError):
        repr(found)
    return True, False


WANTED: list[Any] = [
    int, str, bytes, float, None, list, dict, np.ndarray, Any, list[int], dict[str, Any], tuple[int, ...], set[str], list[list[float]],
    Point, Node, Loose, list[Point], dict[int, str], Loose | None, Point | Node, list[Node | str | None], julia.JuliaStruct, julia.Ref,
    dict[str, list[Loose]], datetime.date, complex, julia.Dict, bool | float,
]  # fmt: skip


def touched(doc: bson.Document, number: int, depth: int = 0) -> Any:
    """All of a document, member by member."""
    if depth == 30:
        return doc.load()
    made = [
        touched(value, number, depth + 1) if isinstance(value, bson.Document) else value
        for value in doc.values()
    ]
    assert len(doc) == len(made)
    if "document of" not in repr(doc):
        if made:
            doc[0], doc[-1]
        # Of an instance the fields; its names are none of what it holds.
        return made if "array of" in repr(doc) else doc.load()
    keys = list(doc)
    assert keys == list(doc.keys()) == [key for key, _ in doc.items()]
    for key in keys[:10]:
        assert key in doc
        with contextlib.suppress(holdall.HoldallError):
            doc.get(key, type=WANTED[(number + len(key)) % len(WANTED)])
    return dict(zip(keys, made, strict=True))


def opened(data: bytes, number: int) -> Outcome:
    """What can be loaded at once can be loaded member by member."""
    try:
        whole, good = julia.loads(data), True
    except holdall.HoldallError:
        whole, good = None, False
    try:
        doc = julia.open(data, mmap=number % 2 == 0)
        if number % 3 == 0:
            assert not good or same(doc.load(), whole), "another value by load()"
        found, touching = touched(doc, number), True
    except holdall.LimitError:
        return False, False
    except holdall.HoldallError:
        found, touching = None, False
    assert touching or not good, "no member by member of what can be loaded"
    if good:
        assert same(found, whole), "another value member by member"
    return touching, False


def typed(data: bytes, number: int) -> Outcome:
    wanted = WANTED[number // 2 % len(WANTED)]
    annotation = Whole if number % 5 == 0 else dict[str, wanted] if number % 2 else dict[str, list[wanted]]  # type: ignore[valid-type]
    try:
        found = julia.load(data, type=annotation, strict=number % 3 > 0, mmap=number % 7 == 0)
    except holdall.HoldallError:
        return False, False
    with contextlib.suppress(holdall.HoldallError):
        julia.dumps(found if isinstance(found, dict) else {"found": found.points})
    return True, False


def doors() -> list[tuple[Door, list[bytes]]]:
    pool = seeds()
    return [(Door(f.__name__, f), pool) for f in (loads, shown, views, parsed, opened, typed)]
