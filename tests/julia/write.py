"""Writes files for Julia to load, and what Julia must find in them.

    python tests/julia/write.py FOLDER

Each case is a file NAME.bson with one member, `value`, and a line of expected.txt: the name, an expression of Julia's that gives the value
(or nothing), and a function of Julia's that must say true of it (or nothing). `check.jl` has the types. known.txt has what is known of
Julia's own types, a fact a line.
"""

from __future__ import annotations

import datetime
import enum
import pathlib
import sys
import uuid
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import numpy as np

from holdall import julia
from holdall.julia import JuliaStruct, Symbol, Type, _names
from holdall.julia._known import FIELDS


class Case(NamedTuple):
    name: str
    value: Any
    # What it is in Julia; "" where it has no text.
    expression: str
    # What else is true of it: of sharing and cycles, which no text shows.
    test: str = ""


# --- the types of check.jl ---
@dataclass
class Point:
    x: float
    y: float


@dataclass
class Person:
    name: str
    age: Any
    tags: list[Symbol]


@dataclass(slots=True)
class RGB:
    r: int
    g: int
    b: int


@dataclass(slots=True)
class Counter:
    n: int


@dataclass(slots=True, eq=False)
class Node:
    name: str
    next: Any = None


@dataclass(eq=False)
class TreeNode:
    val: int
    children: list[TreeNode] = field(default_factory=list)
    parent: TreeNode | None = None


class Fruit(enum.Enum):
    APPLE = 1
    BANANA = 2
    KIWI = 7


def map_all() -> None:
    """In the registry of the process."""
    for cls in (Point, Person, RGB, Fruit):
        julia.struct(f"Main.{cls.__name__}", cls)
    for cls in (Counter, Node, TreeNode):
        julia.struct(f"Main.{cls.__name__}", cls, mutable=True)


def tree() -> TreeNode:
    root = TreeNode(1)
    root.children = [TreeNode(2, [], root), TreeNode(3, [], root)]
    return root


def ring() -> Node:
    first = Node("a")
    first.next = Node("b", first)
    return first


def ring_of_names() -> dict[str, Any]:
    made: dict[str, Any] = {"n": 1}
    made["self"] = made
    return made


def numbers() -> list[Case]:
    return [
        Case("nothing", None, "nothing"),
        Case("missing", julia.missing, "missing"),
        Case("true", True, "true"),
        Case("int", -(2**63), "typemin(Int64)"),
        Case("float", -0.0, "-0.0"),
        Case("nan", float("nan"), "NaN"),
        Case("int8", julia.Int8(-8), "Int8(-8)"),
        Case("int32", julia.Int32(7), "Int32(7)"),
        Case("uint64", julia.UInt64(2**64 - 1), "typemax(UInt64)"),
        Case("int128", 2**100, "Int128(2)^100"),
        Case("float16", julia.Float16(1.5), "Float16(1.5)"),
        Case("float32", julia.Float32(0.1), "0.1f0"),
        Case("complex", 1.5 - 2.5j, "1.5 - 2.5im"),
        Case("complex_int", julia.Complex(1, 2), "1 + 2im"),
        Case("fraction", Fraction(3, 4), "3//4"),
        Case("range", range(1, 6), "1:5"),
        Case("range_of_steps", range(1, 10, 2), "1:2:9"),
        Case("enum", Fruit.BANANA, "banana"),
    ]


def texts() -> list[Case]:
    return [
        Case("text", "naïve ∑ 日本語 🎈", '"naïve ∑ 日本語 🎈"'),
        Case("text_with_nul", "a\0b", '"a\\0b"'),
        Case("symbol", Symbol("with space"), 'Symbol("with space")'),
        Case("char", julia.Char("é"), "'é'"),
        Case("substring", julia.SubString("hello", 1, 3), 'SubString("hello", 2, 4)'),
        Case("uuid", uuid.UUID("d4e7598c-6ff7-5b24-8fdc-8d1c0c33c9cf"), 'UUID("d4e7598c-6ff7-5b24-8fdc-8d1c0c33c9cf")'),
    ]  # fmt: skip


def times() -> list[Case]:
    return [
        Case("date", datetime.date(2024, 2, 29), "Date(2024, 2, 29)"),
        Case("datetime", datetime.datetime(2024, 2, 29, 13, 14, 15, 678000), "DateTime(2024, 2, 29, 13, 14, 15, 678)"),
        Case("time", datetime.time(1, 2, 3), "Time(1, 2, 3)"),
        Case("period", julia.Period(3, "Day"), "Day(3)"),
        Case("timedelta", datetime.timedelta(milliseconds=5), "Millisecond(5)"),
        Case("dates", np.array(["2020-01-01", "2021-12-31"], "M8[D]"), "[Date(2020, 1, 1), Date(2021, 12, 31)]"),
    ]  # fmt: skip


def arrays() -> list[Case]:
    of_points = np.dtype([("x", "f8"), ("y", "f8")], metadata={"julia": Type.parse("Main.Point")})
    return [
        Case("vector", np.arange(3), "[0, 1, 2]"),
        Case("matrix", np.array([[1, 2], [3, 4]], "f4"), "Float32[1 2; 3 4]"),
        Case("cube", np.arange(8, dtype="i2").reshape(2, 2, 2, order="F"), "reshape(Int16.(0:7), 2, 2, 2)"),
        Case("scalar", np.array(2.5), "fill(2.5)"),
        Case("empty", np.zeros((0, 2)), "zeros(0, 2)"),
        Case("bools", np.array([True, False]), "[true, false]"),
        Case("bytes", b"\1\2\xff", "UInt8[1, 2, 255]"),
        Case("complex_vector", np.array([1 + 2j, 3 - 4j]), "[1.0 + 2.0im, 3.0 - 4.0im]"),
        Case(
            "chars",
            np.array(["a", "é"], np.dtype("U1", metadata={"julia": Type.parse("Char")})),
            "['a', 'é']",
        ),
        Case("points", np.array([(1, 2), (3, 4)], of_points), "[Point(1, 2), Point(3, 4)]"),
        Case("texts", np.array([["a", "b"], ["c", "d"]]), '["a" "b"; "c" "d"]'),
        Case("anything", np.array([[1, "x"], [None, 2.5]], object), 'Any[1 "x"; nothing 2.5]'),
        Case("bit_vector", julia.BitArray([True, False, True]), "BitVector([true, false, true])"),
        Case("bit_matrix", julia.BitArray(np.ones((2, 3))), "trues(2, 3)"),
        Case("transpose", julia.Transpose(np.array([[1, 2], [3, 4]])), "transpose([1 2; 3 4])"),
        Case("diagonal", julia.Diagonal(np.array([1.0, 2.0])), "Diagonal([1.0, 2.0])"),
    ]


def containers() -> list[Case]:
    return [
        Case("list", [1, "two", None, [2.5]], 'Any[1, "two", nothing, Any[2.5]]'),
        Case("tuple", (1, "a", (None,)), '(1, "a", (nothing,))'),
        Case(
            "named_tuple", julia.NamedTuple.of(a=1, b="x", c=np.array([1.0])), '(a = 1, b = "x", c = [1.0])'
        ),
        Case("names", {"a": 1, "b": [2]}, "Dict{Symbol,Any}(:a => 1, :b => Any[2])"),
        Case("a_tag", {"tag": "struct", "data": 1}, 'Dict{Symbol,Any}(:tag => "struct", :data => 1)'),
        Case("dict_of_ints", {1: "one", 2: "two"}, 'Dict(1 => "one", 2 => "two")'),
        Case("dict_of_texts", julia.Dict({"a": 1, "b": 2}), 'Dict("a" => 1, "b" => 2)'),
        Case("dict_of_tuples", {(1, 2): 3.5}, "Dict{Any,Float64}((1, 2) => 3.5)"),
        Case("dict_of_bytes", {julia.UInt8(1): julia.UInt8(2)}, "Dict(0x01 => 0x02)"),
        Case("no_items", julia.Dict({}, type=Type.parse("Dict{String,Int64}")), "Dict{String,Int64}()"),
        Case("id_dict", julia.IdDict({Symbol("a"): 1, 2: "b"}), 'IdDict{Any,Any}(:a => 1, 2 => "b")'),
        Case("set_of_ints", {1, 2}, "Set([1, 2])"),
        Case("set_of_texts", frozenset({"a", "b"}), 'Set(["a", "b"])'),
        Case("ref", julia.Ref(5), "Ref(5)"),
        Case("some", julia.Some(3), "Some(3)"),
        Case("pair", julia.Pair("a", 1), '"a" => 1'),
    ]


def structs() -> list[Case]:
    return [
        Case("point", Point(1.0, 2.0), "Point(1.0, 2.0)"),
        Case("converted", Point(1, 2), "Point(1.0, 2.0)"),
        Case("person", Person("Zoë", 41, [Symbol("a"), Symbol("b")]), 'Person("Zoë", 41, [:a, :b])'),
        Case("person_missing", Person("Zoë", julia.missing, []), 'Person("Zoë", missing, Symbol[])'),
        Case("rgb", RGB(1, 2, 255), "RGB(1, 2, 255)"),
        Case("wrapper", JuliaStruct("Main.Wrapper{Int64}", [7, 1]), "Wrapper{Int64}(7, 1)"),
        Case("wrapped_twice", JuliaStruct("Main.Wrapper{Main.Wrapper{Vector{Float32}}}", [JuliaStruct("Main.Wrapper{Vector{Float32}}", [np.ones(2, "f4"), 1]), 2]), "Wrapper(Wrapper([1.0f0, 1.0f0], 1), 2)"),
        Case("fixed", JuliaStruct("Main.FixedVec{2,Float64}", [(1.0, 2.0)]), "FixedVec{2,Float64}((1.0, 2.0))"),
        Case("nested_module", JuliaStruct("Main.Lab.Inner.Deep", [5]), "Lab.Inner.Deep(5)"),
        Case("counter", Counter(3), "Counter(3)", "c -> c isa Counter && c.n === 3"),
        Case("expr", JuliaStruct("Expr", [Symbol("call"), [Symbol("+"), 1, 2]]), ":(1 + 2)"),
        Case("linked", Node("1", Node("2", Node("3"))), "", 'n -> n.name == "1" && n.next.next.name == "3" && n.next.next.next === nothing'),
    ]  # fmt: skip


def types() -> list[Case]:
    return [
        Case("type", Type.parse("Dict{String,Vector{Float32}}"), "Dict{String,Vector{Float32}}"),
        Case("type_of_tuple", Type.parse("Tuple{Int64,String}"), "Tuple{Int64,String}"),
        Case("union", julia.Union(Type.parse("Missing"), Type.parse("Int64")), "Union{Missing,Int64}"),
        Case("bottom", julia.BOTTOM, "Union{}"),
        Case("module", julia.Module(("Main", "Lab", "Inner")), "Lab.Inner"),
    ]


def graphs() -> list[Case]:
    array, items, counter, pair = np.array([1.5, 2.5]), [1], Counter(1), (1, [2])
    chain: Any = None
    for _ in range(30):
        chain = {"a": chain, "b": chain}
    return [
        Case("shared_array", [array, array, array.copy()], "", "v -> v[1] === v[2] && v[1] !== v[3] && v[3] == [1.5, 2.5]"),
        Case("shared_list", [items, {"k": items}], "", "v -> v[1] === v[2][:k]"),
        Case("shared_counter", [counter, Counter(1), counter], "", "v -> v[1] === v[3] && v[1] !== v[2]"),
        Case("shared_tuple", [pair, pair], "Any[(1, Any[2]), (1, Any[2])]", "v -> v[1][2] === v[2][2]"),
        Case("many_paths", chain, "", "d -> begin for _ in 1:30; d[:a] === d[:b] || return false; d = d[:a]; end; d === nothing end"),
        Case("ring", ring(), "", 'n -> n.next.next === n && n.next.name == "b"'),
        Case("ring_of_names", ring_of_names(), "", "d -> d[:self] === d && d[:n] === 1"),
        Case("tree", tree(), "", "t -> length(t.children) == 2 && all(c -> c.parent === t, t.children) && t.children isa Vector{TreeNode}"),
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*numbers(), *texts(), *times(), *arrays(), *containers(), *structs(), *types(), *graphs()]


def write(folder: pathlib.Path) -> list[Case]:
    map_all()
    written = cases()
    for case in written:
        julia.dump({"value": case.value}, folder / f"{case.name}.bson")
    lines = ["\t".join((case.name, case.expression, case.test)) + "\n" for case in written]
    (folder / "expected.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "known.txt").write_text("".join(f"{line}\n" for line in known()), encoding="utf-8")
    return written


# Of these BSON.jl stores something else than their fields; and Julia has them since 1.6.
NOT_SO = ("Core.Method", "Core.TypeName", "Dates.Quarter")


def known() -> list[str]:
    """What `holdall.julia` takes for granted of Julia 1.5's own types."""
    fields = [f"fields {name} {' '.join(of)}" for name, of in FIELDS.items() if name not in NOT_SO]
    mutable = [f"mutable {name}" for name in sorted(_names.MUTABLE)]
    return [*fields, *mutable, *(f"short {name} {'.'.join(path)}" for name, path in _names.SHORT.items())]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write.py FOLDER")
    print(f"{len(write(pathlib.Path(sys.argv[1])))} files written")
