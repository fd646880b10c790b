"""Values made by hand, written and loaded: by the native reader and writer, by those of `julia_tree`, and from one to the other."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from holdall import julia  # noqa: E402
from holdall.julia import (  # noqa: E402
    Bits,
    Char,
    Complex,
    Dict,
    IdDict,
    Int8,
    JuliaStruct,
    NamedTuple,
    Pair,
    Pairs,
    Period,
    Rational,
    Ref,
    Set,
    Some,
    Symbol,
    Type,
    missing,
    struct,
)
from tests.support import julia_tree  # noqa: E402
from tests.support.each import each  # noqa: E402
from tests.support.julia_registry import fresh, map_all  # noqa: E402
from tests.support.julia_same import same  # noqa: E402
from tests.support.julia_types import Fruit, Point  # noqa: E402

T = Type.parse


class Shade(julia.UInt8, enum.Enum):
    dark = 200


@dataclass
class Named:
    """Keeps its type in its `__dict__`."""

    value: Any


@contextmanager
def registered() -> Iterator[None]:
    with fresh():
        map_all()
        struct("Main.Shade", Shade)
        struct("Main.Named", Named, mutable=True)
        yield


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with registered():
        yield


def typed(value: Any, text: str) -> Any:
    object.__setattr__(value, "__julia_type__", T(text))
    return value


def boxed(text: str, *rows: list[Any]) -> Any:
    found = np.empty((len(rows), len(rows[0])), np.dtype("O", metadata={"julia": T(text)}), order="F")
    for at, row in enumerate(rows):
        for place, item in enumerate(row):
            found[at, place] = item
    return found


# What comes back as it was.
VALUES: dict[str, Callable[[], Any]] = {
    "numbers": lambda: [1, 2.5, True, None, "x", Int8(1), julia.UInt64(2**64 - 1), julia.Int32(7), julia.Float16(0.5)],
    "nested": lambda: {"a": [1, [2, (3, [4])]], "b": {"c": {}}},
    "a document with a tag": lambda: Dict({Symbol("tag"): "struct", Symbol("x"): 1}, type=T("Dict{Symbol,Any}")),
    "keys of all sorts": lambda: Dict({1: 2, "a": [3], (1, 2): None, Char("é"): missing}, type=T("Dict{Any,Any}")),
    "keys that are dates": lambda: Dict({datetime.date(2020, 1, 1): 1.5}, type=T("Dict{Dates.Date,Float64}")),
    "keys that are large": lambda: Dict({2**100: True}, type=T("Dict{Int128,Bool}")),
    "keys that are small": lambda: Dict({1: 2}, type=T("Dict{UInt8,UInt8}")),
    "keys that can't be hashed": lambda: Pairs([([1], 2), ([1], 3)], type=T("Dict{Any,Any}")),
    "keys that Python takes for one": lambda: Pairs([(Symbol("a"), 1), ("a", 2)], type=T("Dict{Any,Any}")),
    "zeros that Python takes for one": lambda: Pairs([(0.0, "x"), (-0.0, "y")], type=T("Dict{Float64,String}")),
    "an IdDict": lambda: IdDict({1: [2], "a": None}, type=T("IdDict{Any,Any}")),
    "a table of tables": lambda: Dict({"x": Dict({1: 2}, type=T("Dict{Int64,Int64}"))}, type=T("Dict{String,Dict{Int64,Int64}}")),
    "a table of tuples": lambda: Dict({(1, True): (2, 3.5)}, type=T("Dict{Tuple{Int64,Bool},Tuple{Int64,Float64}}")),
    "sets": lambda: [Set([2, 1], type=T("Set{Int64}")), Set(type=T("Set{Any}")), Set([(1, 2)], type=T("Set{Tuple{Int64,Int64}}"))],
    "named tuples": lambda: NamedTuple((1, [2]), ("a", "b"), T("NamedTuple{(:a,:b),Tuple{Int64,Any}}")),
    "boxes": lambda: [typed(Ref(1), "RefValue{Int64}"), typed(Some(None), "Some{Nothing}"), typed(Pair(1, "x"), "Pair{Int64,String}")],
    "complex numbers": lambda: [1 + 2j, Complex(1, 2, T("Complex{Int64}")), Complex(julia.Float32(1), julia.Float32(2), T("Complex{Float32}"))],
    "fractions": lambda: [Fraction(1, 3), Rational(3, 4, T("Rational{Int8}"))],
    "times": lambda: [datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999000), datetime.time(1, 2, 3, 4), Period(3, "Week")],
    "ranges": lambda: [range(3, 9), range(9, 3, -2), range(5, 5)],
    "ids": lambda: uuid.UUID(int=2**127 + 3),
    "instances": lambda: [Point(1.0, 2.0), typed(Named([1]), "Main.Named{Any}"), Named(2)],
    "members": lambda: [Fruit.kiwi, Shade.dark, Bits(T("Main.Fruit"), b"\3\0\0\0")],
    "unknown instances": lambda: JuliaStruct("Other.Thing{3}", [1, JuliaStruct("Other.Empty", [])]),
    "an array of points": lambda: np.array([(1, 2), (3, 4)], np.dtype([("x", "<f8"), ("y", "<f8")], metadata={"julia": T("Main.Point")})),
    "arrays of times": lambda: [np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01T01"], "M8[ms]"), np.array([3], "m8[h]")],
    "an array of anything": lambda: boxed("Any", [1, [2]], [{"a": 3}, Point(1.0, 2.0)]),
    "members in a table": lambda: Dict({Fruit.kiwi: 1}, type=T("Dict{Main.Fruit,Int64}")),
    "arrays without elements": lambda: [np.zeros((0, 3)), np.zeros(0, "<i4"), np.array(5), np.zeros((2, 0, 2), "u1")],
    "bits": lambda: [julia.BitArray([True] * 70, (0,)), julia.BitArray(np.zeros(0, bool), (0,))],
    "types": lambda: [T("Dict{String,Vector{Int64}}"), T("Union{Int8,Int16,Missing}"), T("Union{}"), Type(("Main", "V"), (1, True, 2.5, Symbol("a"), (1, Symbol("b"))))],
    "modules": lambda: julia.Module(("Main", "Lab")),
    "keys that are pairs": lambda: Dict({typed(Pair(1, 2.5), "Pair{Int64,Float64}"): "x"}, type=T("Dict{Pair{Int64,Float64},String}")),
    "fractions in a table": lambda: Dict({1: Rational(3, 4, T("Rational{Int8}"))}, type=T("Dict{Int64,Rational{Int8}}")),
    "unknown structs in a table": lambda: Dict({1: Bits(T("Main.Unknown"), bytes(16))}, type=T("Dict{Int64,Main.Unknown}")),
    "instances in a table": lambda: Dict({1: Point(1.0, 2.0)}, type=T("Dict{Int64,Main.Point}")),
    "characters in a table": lambda: Dict({Char("é"): 1}, type=T("Dict{Char,Int64}")),
    "periods in a table": lambda: Dict({1: Period(3, "Day")}, type=T("Dict{Int64,Dates.Day}")),
    "ids in a table": lambda: Dict({1: uuid.UUID(int=5)}, type=T("Dict{Int64,UUID}")),
}  # fmt: skip

WRITERS = {"native": julia.dumps, "second": julia_tree.dumps}
READERS = {"native": julia.loads, "second": julia_tree.loads}


@each("reader", READERS)
@each("writer", WRITERS)
@each("name", VALUES, within=registered)
def test_values_come_back_as_they_were(name: str, writer: str, reader: str) -> None:
    make = VALUES[name]
    same(READERS[reader](WRITERS[writer]({"value": make()})), {"value": make()})


@each("name", VALUES, within=registered)
def test_both_write_the_same(name: str) -> None:
    document = {"value": VALUES[name]()}
    data = julia.dumps(document)
    if julia_tree.count_apart(data) == 0:
        assert data == julia_tree.dumps(document)


# What comes back as its nearest.
NEAREST: list[tuple[Any, Any]] = [
    (b"ab", np.array([97, 98], "u1")),
    ({"b": 1, "a": 2}, {"b": 1, "a": 2}),
    ({1: "x"}, Dict({1: "x"}, type=T("Dict{Int64,String}"))),
    ({2, 1}, Set([1, 2], type=T("Set{Int64}"))),
    (2**80, julia.Int128(2**80)),
    (datetime.timedelta(days=1), Period(86_400_000, "Millisecond")),
    (Ref([1]), typed(Ref([1]), "RefValue{Vector{Any}}")),
    (NamedTuple.of(a=1), NamedTuple((1,), ("a",), T("NamedTuple{(:a,),Tuple{Int64}}"))),
    (np.array(["a", "bc"]), ["a", "bc"]),
    (np.array([[1, "a"]], object), boxed("Any", [1, "a"])),
    (np.array([["a"], ["b"]]), boxed("String", ["a"], ["b"])),
    (np.array(["2020-01-01T00"], "M8[h]"), np.array(["2020-01-01"], "M8[ms]")),
    (np.float32(0.5), julia.Float32(0.5)),
    (np.int64(3), 3),
    (np.array([1, 2], ">i2"), np.array([1, 2], "<i2")),
    (np.array([(1, 2.0)], [("a", "i1"), ("b", "<f4")]), np.array([(1, 2.0)], np.dtype({"names": ["a", "b"], "formats": ["i1", "<f4"], "offsets": [0, 4], "itemsize": 8}, metadata={"julia": T("NamedTuple{(:a,:b),Tuple{Int8,Float32}}")}))),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), NEAREST, ids=[repr(value)[:50] for value, _ in NEAREST])
def test_values_come_back_as_their_nearest(value: Any, expected: Any) -> None:
    same(julia.loads(julia.dumps({"value": value})), {"value": expected})


def test_sharing_comes_back() -> None:
    shared, node = [1], JuliaStruct("Main.Named", [None])
    record = JuliaStruct("Other.Thing", [shared, node])
    node[0] = record
    table = Dict({1: shared}, type=T("Dict{Int64,Any}"))
    array = np.arange(3)
    root = {"a": shared, "b": [shared, record, table, array], "c": {"d": table, "e": array, "f": record}}
    found = julia.loads(julia.dumps(root))
    assert found["a"] is found["b"][0] is found["b"][2][1] is found["b"][1][0]
    assert found["b"][1] is found["c"]["f"]
    assert found["b"][1][1].value is found["b"][1]
    assert found["b"][2] is found["c"]["d"]
    assert found["b"][3] is found["c"]["e"]


def test_a_type_in_a_cycle_with_its_own_name_is_shown() -> None:
    typename = JuliaStruct("TypeName", ["1.5.3", Symbol("#1#2"), julia.SimpleVector()])
    of = julia.Anonymous(typename)
    typename.values.append([of])
    found = julia.loads(julia.dumps({"f": JuliaStruct(of, [])}))["f"]
    assert repr(found) == "#1#2()"
    assert found.type.typename[3][0].typename is found.type.typename
