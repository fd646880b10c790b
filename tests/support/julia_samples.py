"""What each sample file holds, by hand from `samples.md`: the values that `holdall.julia.load` gives, with the exact types.

`value(name, made)` builds it; `made` says whether the program has classes for the types in `types.jl`, and which writer's file
it is.
"""

from __future__ import annotations

import datetime
import pathlib
import uuid
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from holdall import julia
from holdall.julia import (
    BOTTOM,
    Bits,
    Char,
    Complex,
    Dict,
    Float16,
    Float32,
    IdDict,
    Int8,
    Int32,
    Int128,
    JuliaStruct,
    Module,
    NamedTuple,
    Period,
    Rational,
    Set,
    SimpleVector,
    SubString,
    Symbol,
    Type,
    TypeVar,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
    UnionAll,
    missing,
)
from tests.support.julia_types import CLASSES
from tests.support.places import data_folder

FOLDER = data_folder("julia")
WRITERS = ("bson", "bsonqs", "repo")

T = Type.parse


def files() -> list[pathlib.Path]:
    return [path for writer in WRITERS for path in sorted((FOLDER / writer).glob("*.bson"))]


class Made:
    """Makes instances of a program's types: its classes, or records."""

    def __init__(self, mapped: bool, writer: str) -> None:
        self.mapped, self.writer = mapped, writer

    def __call__(self, text: str, *values: Any) -> Any:
        type_ = T(text)
        cls = CLASSES.get(text.partition("{")[0])
        if not self.mapped or cls is None:
            return JuliaStruct(type_, values)
        found = cls(*values)
        if type_.params:
            found.__julia_type__ = type_
        return found

    def by(self, bson: Any, bsonqs: Any) -> Any:
        """What only the writers decide."""
        return bson if self.writer == "bson" else bsonqs


def value(name: str, made: Made) -> Any:
    """The document of a file."""
    if name in DOCUMENTS:
        return DOCUMENTS[name](made)
    return {"value": VALUES[name](made)}


# --- parts ---


def tagged(array: Any, type_: Any) -> Any:
    """An array whose dtype doesn't tell Julia's type."""
    return array.view(np.dtype(array.dtype, metadata={"julia": type_}))


def boxed(type_: Any, rows: list[Any], **more: Any) -> Any:
    """An array of objects, given row by row."""
    flat = (
        [item for column in zip(*rows, strict=True) for item in column] if isinstance(rows[0], list) else rows
    )
    shape = (len(rows), len(rows[0])) if isinstance(rows[0], list) else (len(rows),)
    found = np.empty(len(flat), np.dtype("O", metadata={"julia": type_, **more}))
    for at, item in enumerate(flat):
        found[at] = item
    return found.reshape(shape, order="F")


def packed(type_: Any, data: bytes, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of structs, as they lie in memory."""
    return np.ndarray(shape, np.dtype(dtype, metadata={"julia": type_}), bytearray(data), order="F")


def structs(made: Made, text: str, data: bytes, shape: tuple[int, ...], mapped: Any, size: int) -> Any:
    return packed(T(text), data, shape, mapped if made.mapped else f"V{size}")


def wrapped(found: Any, text: str) -> Any:
    """A box or range with the type that it was stored with."""
    object.__setattr__(found, "__julia_type__", T(text))
    return found


def f4(*rows: Any) -> Any:
    return np.array(rows, "<f4", order="F")


def twice(hi: float, lo: float) -> Any:
    return JuliaStruct("TwicePrecision{Float64}", [hi, lo])


def records(*names: str) -> Callable[..., Any]:
    return lambda *values: JuliaStruct(names[0], values)


def big_float(made: Made) -> Any:
    pointer = made.by(0x00007F1F34E4E418, 0x00007F1F286F6018)
    return wrapped(
        julia.BigFloat(
            256,
            Int32(1),
            1,
            Bits(T("Ptr{UInt64}"), pointer.to_bytes(8, "little")),
            "\0" * 31 + "\udca0",
        ),
        "Base.BigFloat",
    )


def cyclic_node(made: Made) -> Any:
    node = made("Main.Node", "self", None)
    set_second(node, node)
    return node


def set_second(node: Any, value: Any) -> None:
    if isinstance(node, JuliaStruct):
        node[1] = value
    else:
        node.next = value


def cyclic_two_nodes(made: Made) -> Any:
    a = made("Main.Node", "a", None)
    set_second(a, made("Main.Node", "b", a))
    return a


def linked(made: Made, *names: str) -> Any:
    return made("Main.Node", names[0], linked(made, *names[1:])) if names else None


def shared(values: list[Any], *order: int) -> Any:
    return [values[at] for at in order]


def bar(made: Made, n: int, bazs: list[tuple[str, str]], counts: dict[str, int]) -> Any:
    inside = [made("serbench.Baz", *names) for names in bazs]
    return made("serbench.Bar", n, inside, Dict(counts, type=T("Dict{String,UInt64}")))


def foo_vec(made: Made) -> Any:
    def bars() -> list[Any]:
        return [bar(made, i, [(str(i), "1"), (str(i), "2")], {str(i): i}) for i in (1, 2, 3)]

    return [made("serbench.Foo", *"abcde", bars()) for _ in range(2)]


def of_var(name: str, body: Callable[[TypeVar], Any], upper: Any = None) -> Any:
    var = TypeVar(Symbol(name), BOTTOM, upper or T("Any"))
    return UnionAll(var, body(var))


def vararg(of: str) -> Any:
    return Type(("Core", "Tuple"), (of_var("N", lambda n: Type(("Core", "Vararg"), (T(of), n))),))


def expr(head: str, *args: Any) -> Any:
    return JuliaStruct("Expr", [Symbol(head), list(args)])


def function(made: Made, name: str, number: int, captured: bool) -> Any:
    """`x -> x + 1`, or with something captured `x -> x + y`."""
    module = Module(("Main",))
    slot, here = records("SlotNumber"), JuliaStruct("Core.LineInfoNode", [Symbol(name), Symbol("none"), 1, 0])
    var = TypeVar(Symbol("y")) if captured else None
    typename = JuliaStruct("TypeName", [])
    own: Any = julia.Anonymous(typename, (var,) if captured else ())
    plus = JuliaStruct("GlobalRef", [module, Symbol("+")])
    ssa = records("Core.SSAValue")
    if captured:
        get = JuliaStruct("GlobalRef", [Module(("Core",)), Symbol("getfield")])
        code = [
            expr("call", get, slot(1), JuliaStruct("QuoteNode", [Symbol("y")])),
            expr("call", plus, slot(2), ssa(1)),
            expr("return", ssa(2)),
        ]
    else:
        code = [expr("call", plus, slot(2), 1), expr("return", ssa(1))]
    info = JuliaStruct(
        "CodeInfo",
        [
            *(code, np.ones(len(code), "<i4"), len(code), np.zeros(0, np.uint8), None, [here]),
            *([Symbol("#self#"), Symbol("x")], np.array([0, 8], np.uint8), None, T("Any"), None, None),
            *(UInt64(1), UInt64(2**64 - 1), False, False, False, False),
        ],
    )
    signature = Type(("Core", "Tuple"), (UnionAll(var, own) if var is not None else own, T("Any")))
    method = JuliaStruct(
        "Method",
        [
            module,
            Symbol(name),
            Symbol("none"),
            Int32(1),
            signature,
            "#self#\0x\0",
            None,
            Int32(2),
            False,
            Int32(0),
            info,
        ],
    )
    typename.values += [
        *(
            "1.5.3",
            Symbol(f"{name}#{number}"),
            SimpleVector((Symbol("y"),) if captured else ()),
            T("Function"),
        ),
        *(SimpleVector((var,) if captured else ()), SimpleVector((var,) if captured else ())),
        *(not captured, False, False, Int32(captured), [Symbol(name), [method], 2, None]),
    ]
    if not captured:
        return JuliaStruct(own, [])
    return JuliaStruct(julia.Anonymous(typename, (T("Int64"),)), [5])


def function_anonymous(made: Made) -> Any:
    return function(made, *made.by(("#1", 2), ("#13", 14)), False)


def function_closure(made: Made) -> Any:
    return function(made, *made.by(("#3", 4), ("#15", 16)), True)


def flux_params(made: Made) -> Any:
    kind = T("NamedTuple{(:η,:β),Tuple{Float64,Tuple{Float64,Float64}}}")
    layers = [{"b": f4(0, 0), "W": f4([1, 2], [3, 4])}, {"b": f4(1), "W": f4([5, 6])}]
    opt = NamedTuple((0.001, (0.9, 0.999)), ("η", "β"), kind)
    return Dict({"opt": opt, "epoch": 12, "layers": layers}, type=T("Dict{String,Any}"))


def named_tuple(made: Made) -> Any:
    kind = T("NamedTuple{(:a,:b,:c),Tuple{Int64,String,Array{Float64,1}}}")
    return NamedTuple((1, "x", np.array([1.0, 2.0])), ("a", "b", "c"), kind)


def step_range_len(made: Made) -> Any:
    text = "StepRangeLen{Float64,TwicePrecision{Float64},TwicePrecision{Float64}}"
    step = twice(0.09999999999999987, 1.3322676295501878e-16)
    return wrapped(julia.StepRangeLen(twice(0.0, 0.0), step, 6, 1), text)


def nested(made: Made) -> Any:
    inner = Dict({2: Symbol("deeper"), 1: Symbol("deep")}, type=T("Dict{Int64,Symbol}"))
    return {"s": Dict({"x": inner}, type=T("Dict{String,Dict{Int64,Symbol}}")), "t": {"u": {"v": f4(1)}}}


def mixed(made: Made) -> Any:
    # What lay between and behind the fields is in the file, and nobody's.
    one = bytes.fromhex("01 81c28eff7f0000 0000000000000440 01 e699f5247e5d70")
    two = bytes.fromhex("ff 82c28eff7f0000 00000000000004c0 00 e699f5247e5d30")
    fields = {"names": ["a", "b", "c"], "formats": ["i1", "<f8", "?"], "offsets": [0, 8, 16], "itemsize": 24}
    return structs(made, "Main.Mixed", one + two, (2,), fields, 24)


def foo(made: Made) -> Any:
    bars = [
        bar(made, 7, [("g1", "d1"), ("g2", "d2")], {"k1": 1, "k2": 2**64 - 1}),
        bar(made, -8, [], {}),
    ]
    return made("serbench.Foo", "ag", "soft", Symbol("mgmt"), "cons", missing, bars)


VALUES: dict[str, Callable[[Made], Any]] = {
    # numbers
    "int8": lambda made: Int8(-8),
    "int32": lambda made: Int32(-320000),
    "int64_min": lambda made: -(2**63),
    "int128": lambda made: Int128(2**100 + 1),
    "uint8": lambda made: UInt8(0xFE),
    "uint16": lambda made: UInt16(0xFEDC),
    "uint32": lambda made: UInt32(0xFEDCBA98),
    "uint128": lambda made: UInt128(2**127 + 5),
    "float16": lambda made: Float16(1.5),
    "float64": lambda made: -0.1,
    "float64_nan": lambda made: float("nan"),
    "float64_inf": lambda made: float("-inf"),
    "float64_negzero": lambda made: -0.0,
    "float32_nan": lambda made: Float32(float("nan")),
    "bool_true": lambda made: True,
    "bool_false": lambda made: False,
    "complex_f64": lambda made: 1.5 - 2.5j,
    "complex_int": lambda made: Complex(1, 2, T("Complex{Int64}")),
    "complex_bool": lambda made: Complex(False, True, T("Complex{Bool}")),
    "rational": lambda made: Fraction(3, 4),
    "rational_i8": lambda made: Rational(3, 4, T("Rational{Int8}")),
    "bigfloat": big_float,
    "enum": lambda made: CLASSES["Main.Fruit"](2) if made.mapped else Bits(T("Main.Fruit"), b"\2\0\0\0"),
    "primitive_type": lambda made: Bits(T("Main.Word24"), b"\1\2\3"),
    # text, and what there is one of
    "char_unicode": lambda made: Char("é"),
    "string_ascii": lambda made: "hello",
    "string_unicode": lambda made: "naïve ∑ 日本語 🎈",
    "string_empty": lambda made: "",
    "string_nul": lambda made: "a\0b",
    "substring": lambda made: SubString("hello", 1, 3),
    "symbol": lambda made: Symbol("foo"),
    "symbol_odd": lambda made: Symbol("with space ∆"),
    "nothing": lambda made: None,
    "missing": lambda made: missing,
    # arrays of numbers
    "vec_int64": lambda made: np.array([1, 2, 3], "<i8"),
    "vec_int32": lambda made: np.array([1, -2, 3], "<i4"),
    "vec_int16": lambda made: np.array([1, -2, 3], "<i2"),
    "vec_uint8": lambda made: np.array([0, 1, 127, 128, 255], "u1"),
    "vec_uint32": lambda made: np.array([1, 4294967295], "<u4"),
    "vec_float16": lambda made: np.array([0.5, -2, np.inf], "<f2"),
    "vec_float32": lambda made: f4(0.1, -2.5, np.nan),
    "vec_float64": lambda made: np.array([0.1, -2.5, np.inf]),
    "vec_complex": lambda made: np.array([1 + 2j, 3 - 4j]),
    "vec_int128": lambda made: boxed(T("Int128"), [1, -1]),
    "mat_f32": lambda made: f4([1, 2], [3, 4]),
    "arr4_int8": lambda made: np.arange(1, 17, dtype="i1").reshape((2, 2, 2, 2), order="F"),
    "arr0_f64": lambda made: np.array(3.5),
    "empty_int": lambda made: np.zeros(0, "<i8"),
    "empty_float32": lambda made: np.zeros(0, "<f4"),
    "empty_uint8": lambda made: np.zeros(0, "u1"),
    "bitvector": lambda made: julia.BitArray([True, False, True], made.by((0,), (-1,))),
    "bitmatrix": lambda made: with_dims(julia.BitArray(np.ones((2, 3), bool)), (2, 3)),
    "vec_date": lambda made: np.array(["2020-01-01", "2021-12-31"], "<M8[D]"),
    # arrays of structs
    "mat_rgb": lambda made: structs(made, "Main.RGB", bytes([1, 2, 3, 7, 8, 9, 4, 5, 6, 10, 11, 12]), (2, 2), [("r", "u1"), ("g", "u1"), ("b", "u1")], 3),
    "vec_point": lambda made: structs(made, "Main.Point", np.array([1.0, 2, 3, 4]).tobytes(), (2,), [("x", "<f8"), ("y", "<f8")], 16),
    "vec_mixed_padding": mixed,
    "vec_namedtuple_bits": lambda made: packed(
        T("NamedTuple{(:a,:b),Tuple{Int64,UInt8}}"),
        b"".join(bytes([a, *bytes(7), b, *bytes(7)]) for a, b in ((1, 2), (3, 4))),
        (2,),
        {"names": ["a", "b"], "formats": ["<i8", "u1"], "offsets": [0, 8], "itemsize": 16},
    ),
    "vec_pair_bits": lambda made: tagged(np.array([(1, 2.0), (3, 4.0)], [("first", "<i8"), ("second", "<f8")]), T("Pair{Int64,Float64}")),
    "vec_empty_struct": lambda made: boxed(T("Main.Empty"), [made("Main.Empty")] * 2, bits=True),
    "mat_nothing": lambda made: boxed(T("Nothing"), [[None, None]] * 3),
    # arrays of all else
    "empty_any": lambda made: [],
    "empty_string_vec": lambda made: [],
    "vec_string": lambda made: ["a", "βγ", ""],
    "vec_any": lambda made: [1, "two", Symbol("three"), 4.0, None, np.array([5, 6]), UInt8(7)],
    "mat_string": lambda made: boxed(T("String"), [["a", "b"], ["c", "d"]]),
    "mat_any": lambda made: boxed(T("Any"), [[1, "b"], [Symbol("c"), 4.0]]),
    "mat_real": lambda made: boxed(T("Real"), [[1.0, 2.5], [3.0, 0.8]]),
    "arr3_string": lambda made: boxed(T("String"), list("12345678")).reshape((2, 2, 2), order="F"),
    "vec_of_f32_vec": lambda made: [f4(1), f4(2, 3)],
    "vec_union_missing_int": lambda made: [1, missing, 3],
    "mat_union_missing_int": lambda made: boxed(T("Union{Missing,Int64}"), [[1, missing], [3, 4]]),
    "vec_union_nothing_f64": lambda made: [1.5, None],
    "vec_tuple_mixed": lambda made: [(1, "a"), (2, "b")],
    "vec_person": lambda made: [made("Main.Person", "Ada", 36, [Symbol("x")]), made("Main.Person", "Bob", missing, [])],
    # tuples, boxes and ranges
    "tuple_nested": lambda made: ((1, 2), ("a", (None,))),
    "namedtuple": named_tuple,
    "namedtuple_empty": lambda made: NamedTuple((), (), Type(("Core", "NamedTuple"), ((), T("Tuple")))),
    "unitrange": lambda made: range(1, 6),
    "steprange": lambda made: range(1, 10, 2),
    "steprangelen": step_range_len,
    "some": lambda made: wrapped(julia.Some(3), "Some{Int64}"),
    "ref_int": lambda made: wrapped(julia.Ref(5), "RefValue{Int64}"),
    "version": lambda made: JuliaStruct("VersionNumber", [UInt32(1), UInt32(2), UInt32(3), ("rc1",), ()]),
    "transpose": lambda made: wrapped(julia.Transpose(np.array([[1, 2], [3, 4]], order="F")), "LinearAlgebra.Transpose{Int64,Matrix{Int64}}"),
    "diagonal": lambda made: wrapped(julia.Diagonal(np.array([1.0, 2.0])), "LinearAlgebra.Diagonal{Float64,Vector{Float64}}"),
    "reshaped": lambda made: wrapped(julia.ReshapedArray(range(1, 7), (2, 3)), "ReshapedArray{Int64,2,UnitRange{Int64},Tuple{}}"),
    # mappings and sets
    "dict_symbol_any": lambda made: {"a": 1, "b": "x"},
    "dict_symbol_int": lambda made: {"a": 1, "b": 2},
    "dict_string_int": lambda made: Dict({"b": 2, "a": 1}, type=T("Dict{String,Int64}")),
    "dict_int_string": lambda made: Dict({2: "two", 1: "one"}, type=T("Dict{Int64,String}")),
    "dict_float_vec": lambda made: Dict({1.5: np.array([1, 2])}, type=T("Dict{Float64,Vector{Int64}}")),
    "dict_tuple_key": lambda made: Dict({(1, 2): "a", (3, 4): "b"}, type=T("Dict{Tuple{Int64,Int64},String}")),
    "dict_empty_symbol": lambda made: {},
    "dict_empty_string": lambda made: Dict(type=T("Dict{String,Int64}")),
    "dict_nested": nested,
    "dict_with_tag_key": lambda made: {"tag": "hello", "data": 1},
    "iddict": lambda made: IdDict({Symbol("a"): 1, 2: "b"}, type=T("IdDict{Any,Any}")),
    "set_string": lambda made: Set(["b", "a"], type=T("Set{String}")),
    "set_any": lambda made: Set([Symbol("b"), "a", 1], type=T("Set{Any}")),
    "set_empty": lambda made: Set(type=T("Set{Int64}")),
    # structs
    "struct_rgb": lambda made: made("Main.RGB", UInt8(1), UInt8(2), UInt8(255)),
    "struct_person": lambda made: made("Main.Person", "Zoë", 41, [Symbol("a"), Symbol("b")]),
    "struct_person_missing": lambda made: made("Main.Person", "Zoë", missing, []),
    "struct_param_int": lambda made: made("Main.Wrapper{Int64}", 7, 1),
    "struct_param_string": lambda made: made("Main.Wrapper{String}", "s", 2),
    "struct_param_nested": lambda made: made("Main.Wrapper{Main.Wrapper{Vector{Float32}}}", made("Main.Wrapper{Vector{Float32}}", f4(1, 2), 1), 2),
    "struct_nested_module": lambda made: made("Main.Lab.Inner.Deep", 5),
    "mutable_counter": lambda made: made("Main.Counter", 3),
    "serbench_foo": foo,
    "serbench_foo_vec": foo_vec,
    "flux_params": flux_params,
    # sharing and cycles
    "cyclic_node": cyclic_node,
    "cyclic_two_nodes": cyclic_two_nodes,
    "linked_list": lambda made: linked(made, "1", "2", "3"),
    "shared_vec3": lambda made: shared([np.array([1.5, 2.5]), np.array([1.5, 2.5])], 0, 0, 0, 1),
    "shared_counter": lambda made: shared([made("Main.Counter", 1), made("Main.Counter", 1)], 0, 1, 0),
    "shared_bytes": lambda made: shared([np.array([1, 2], "u1")], 0, 0),
    "shared_dict": lambda made: dict.fromkeys("pq", Dict({"k": 1}, type=T("Dict{String,Int64}"))),
    "shared_two": lambda made: shared([np.array([1]), np.array([2])], 0, 1, 0, 1, 1),
    "shared_nested": lambda made: (lambda x: (lambda y: [y, y, x])([x, x]))([1]),
    # types and code
    "type_int64": lambda made: T("Int64"),
    "type_vector_f32": lambda made: T("Array{Float32,1}"),
    "type_dict": lambda made: T("Dict{String,Int64}"),
    "type_tuple": lambda made: T("Tuple{Int64,String}"),
    "type_tuple_bare": lambda made: vararg("Any"),
    "type_param": lambda made: T("Main.Wrapper{Main.Point}"),
    "type_union": lambda made: T("Union{Missing,Int64}"),
    "type_bottom": lambda made: BOTTOM,
    "type_unionall_array": lambda made: of_var("T", lambda t: of_var("N", lambda n: Type(("Core", "Array"), (t, n)))),
    "type_unionall_where": lambda made: of_var("T", lambda t: Type(("Main", "Base", "Dict"), (t, t)), T("Number")),
    "type_any": lambda made: T("Any"),
    "type_abstract": lambda made: T("AbstractFloat"),
    "type_namedtuple": lambda made: T("NamedTuple{(:a,:b),Tuple{Int64,String}}"),
    "type_vararg": lambda made: vararg("Int64"),
    "module_nested": lambda made: Module(("Main", "Lab", "Inner")),
    "function_named": lambda made: JuliaStruct(Type(("Main", "Base", "#sin")), []),
    "function_anonymous": function_anonymous,
    "function_closure": function_closure,
    "expr": lambda made: expr("call", Symbol("+"), Symbol("a"), expr("call", Symbol("*"), Symbol("b"), 2)),
    "quotenode": lambda made: JuliaStruct("QuoteNode", [Symbol("a")]),
    # times
    "date": lambda made: datetime.date(2024, 2, 29),
    "datetime": lambda made: datetime.datetime(2024, 2, 29, 13, 14, 15, 678000),
    "time": lambda made: datetime.time(1, 2, 3),
    "period": lambda made: Period(3, "Day"),
    "uuid": lambda made: uuid.UUID("d4e7598c-6ff7-5b24-8fdc-8d1c0c33c9cf"),
}  # fmt: skip


def with_dims(array: Any, dims: tuple[int, ...]) -> Any:
    array.dims = dims
    return array


def shared_across_keys(made: Made) -> Any:
    x, c = np.array([1.0, 2.0]), made("Main.Counter", 9)
    return {"a": x, "b": x, "d": c, "c": [c, x]}


def old(*path: str) -> Callable[..., Type]:
    """A type as Julia 0.6 to 1.3 wrote it."""
    return lambda *params: Type(path, params)


def packed_complex(made: Made) -> Any:
    dtype = [("re", "<i8"), ("im", "<i8")]
    array = packed(old("Base", "Complex")(T("Int64")), np.array([1, 2, 3, 4]).tobytes(), (2,), dtype)
    return {"a": array, "b": "Hello, World!"}


def from_older(one: Any) -> Callable[[Made], Any]:
    core = old("Main", "Core", "Array")(old("Main", "Core", "UInt8")(), one)
    kind = old("Main", "Base", "Dict")(old("Main", "Core", "String")(), core)
    return lambda made: {"obj": Dict({"name": np.array([1, 2], "u1")}, type=kind)}


def data_frame(made: Made) -> Any:
    index = JuliaStruct("DataFrames.Index", [{"a": 1, "b": 2}, [Symbol("a"), Symbol("b")]])
    columns = [np.arange(1, 11), np.arange(5, 15)]
    return {"d": JuliaStruct("DataFrames.DataFrame", [columns, index])}


DOCUMENTS: dict[str, Callable[[Made], Any]] = {
    "doc_empty": lambda made: {},
    "doc_plain": lambda made: {
        "a": 1,
        "b": "text",
        "f": Int32(7),
        "d": True,
        "e": None,
        "c": 2.5,
        "h": np.array([1, 2, 3], "u1"),
        "g": [1, "x", None],
        "i": {"j": 1},
    },
    "doc_shared_across_keys": shared_across_keys,
    "BSON.jl__test": packed_complex,
    "BSONqs.jl__test": packed_complex,
    "BSON.jl__test_41_from_32bit": from_older(Int32(1)),
    "BSON.jl__test_41_from_64bit": from_older(1),
    "BSON.jl__test_MultiDimsArray_from_64bit": lambda made: {
        "a": tagged(np.ones((2, 2), "<f4", order="F"), old("Main", "Core", "Float32")())
    },
    "BSON.jl__test_25_dataframe_a06c48a": data_frame,
}


def cases() -> Iterator[tuple[str, pathlib.Path, bool]]:
    """A name for each file, without classes and with them."""
    for path in files():
        for mapped in (False, True):
            yield f"{path.parent.name}/{path.stem}{' mapped' if mapped else ''}", path, mapped
