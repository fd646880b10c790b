"""Julia's types as objects: read from text, printed as Julia does, equal where they are one type."""

from __future__ import annotations

import copy
import pickle
import time

import pytest

import holdall
from holdall import bson, julia
from holdall.julia import (
    BOTTOM,
    Anonymous,
    JuliaStruct,
    Module,
    SimpleVector,
    Symbol,
    Type,
    TypeVar,
    Union,
    UnionAll,
)
from holdall.julia._types import ANY
from tests.support.each import each
from tests.support.julia_messages import FLOAT64, array, datatype
from tests.support.julia_registry import fresh

T = Type.parse

# Text, what is printed of it, the path.
TEXTS = [
    ("Int64", "Int64", ("Core", "Int64")),
    ("Int", "Int64", ("Core", "Int64")),
    ("Core.Int64", "Int64", ("Core", "Int64")),
    ("Main.Core.Float32", "Float32", ("Main", "Core", "Float32")),
    ("Base.Complex{Int}", "Complex{Int64}", ("Main", "Base", "Complex")),
    ("Dict{String,Int64}", "Dict{String, Int64}", ("Main", "Base", "Dict")),
    ("  Dict { String , Vector{ Int } } ", "Dict{String, Vector{Int64}}", ("Main", "Base", "Dict")),
    ("Array{Float32,1}", "Vector{Float32}", ("Core", "Array")),
    ("Vector{Float32}", "Vector{Float32}", ("Core", "Array")),
    ("Matrix{Bool}", "Matrix{Bool}", ("Core", "Array")),
    ("Array{Any,3}", "Array{Any, 3}", ("Core", "Array")),
    ("AbstractVector{Int}", "AbstractArray{Int64, 1}", ("Core", "AbstractArray")),
    ("BitVector", "BitArray{1}", ("Main", "Base", "BitArray")),
    ("ComplexF32", "Complex{Float32}", ("Main", "Base", "Complex")),
    ("NTuple{3,Int}", "Tuple{Int64, Int64, Int64}", ("Core", "Tuple")),
    ("Tuple{}", "Tuple{}", ("Core", "Tuple")),
    ("NamedTuple{(:a,:b),Tuple{Int64,String}}", "NamedTuple{(:a, :b), Tuple{Int64, String}}", ("Core", "NamedTuple")),
    ("NamedTuple{(:a,),Tuple{Int64}}", "NamedTuple{(:a,), Tuple{Int64}}", ("Core", "NamedTuple")),
    ("NamedTuple{(),Tuple{}}", "NamedTuple{(), Tuple{}}", ("Core", "NamedTuple")),
    ("BigFloat", "BigFloat", ("Main", "Base", "MPFR", "BigFloat")),
    ("Base.BigInt", "BigInt", ("Main", "Base", "GMP", "BigInt")),
    ("Base.Threads.Atomic{Int}", "Base.Threads.Atomic{Int64}", ("Main", "Base", "Threads", "Atomic")),
    ("Foo", "Foo", ("Main", "Foo")),
    ("Main.Foo{3,-1,true}", "Foo{3, -1, true}", ("Main", "Foo")),
    ("Main.Dict", "Main.Dict", ("Main", "Dict")),
    ("Main.Lab.Inner.Deep", "Main.Lab.Inner.Deep", ("Main", "Lab", "Inner", "Deep")),
    ("Flux.Dense{typeof,Foo}", "Flux.Dense{typeof, Foo}", ("Flux", "Dense")),
    ("Dates.Date", "Dates.Date", ("Dates", "Date")),
    ("Base.#sin", "Base.#sin", ("Main", "Base", "#sin")),
    ("Größe!{Int}", "Größe!{Int64}", ("Main", "Größe!")),
]  # fmt: skip

BAD = [
    ("", "the name of a type at character 0"),
    ("Dict{", "the name of a type at character 5"),
    ("Dict{Int64", "a comma or `}` at character 10"),
    ("Dict{Int64 String}", "a comma or `}` at character 10"),
    ("Dict{Int64}}", "the end at character 11"),
    ("3", "the name of a type at character 0"),
    (":a", "the name of a type at character 0"),
    ("Foo Bar", "the end at character 3"),
    ("Foo..Bar", "the end at character 3"),
    ("Vector", "one parameter of Vector at character 6"),
    ("Vector{Int,2}", "one parameter of Vector at character 13"),
    ("NTuple{Int}", "a length and a type in NTuple at character 11"),
    ("NTuple{1000000000,Int}", "a length and a type in NTuple at character 22"),
    ("Dict{T,T} where T", "the end at character 9"),
    ("A{" * 200 + "}" * 200, "a type that is nested less deep at character 202"),
]


@each(("text", "printed", "path"), TEXTS)
def test_types_are_read_from_text(text: str, printed: str, path: tuple[str, ...]) -> None:
    found = T(text)
    assert isinstance(found, Type)
    assert found.path == path
    assert str(found) == printed
    assert T(str(found)) == found
    assert eval(repr(found), {"Type": Type}) == found


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_what_is_no_type_is_refused(text: str, expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        T(text)
    assert str(caught.value) == f"no type of Julia's: expected {expected} of {text!r}"


def test_text_alone_is_read() -> None:
    with pytest.raises(TypeError, match="Type.parse: expected str, got int"):
        T(3)  # type: ignore[arg-type]


def test_unions_are_read_and_printed() -> None:
    both = T("Union{Missing,Int64}")
    assert isinstance(both, Union)
    assert both.members == (T("Missing"), T("Int64"))
    assert str(both) == "Union{Missing, Int64}"
    assert T("Union{Int64}") == T("Int64")
    assert T("Union{}") is BOTTOM
    assert str(BOTTOM) == "Union{}"


def test_names_are_canonical() -> None:
    assert T("Main.Core.Float32") == T("Float32")
    assert Type(("Base", "Complex"), (T("Int64"),)) == T("Complex{Int64}")
    assert hash(Type(("Base", "Complex"), (T("Int64"),))) == hash(T("Complex{Int64}"))
    assert Type(("Main", "Base", "Dict")).name == "Base.Dict"
    assert T("Foo").name == "Main.Foo"
    assert T("Main.Float32") != T("Float32")


def test_parameters_are_compared_by_kind() -> None:
    one = T("Foo{1}")
    assert one != T("Foo{true}")
    assert one != Type(("Main", "Foo"), (1.0,))
    # Files of 32 bits have other ints.
    assert one == Type(("Main", "Foo"), (julia.Int32(1),))
    assert hash(one) == hash(Type(("Main", "Foo"), (julia.Int32(1),)))
    assert T("Foo{(:a,)}") != T("Foo{(:b,)}")
    assert T("Foo{Int64}") != T("Foo{1}")
    assert T("Foo") != T("Foo{1}")
    assert T("Foo") != "Foo"
    # A value of a struct may be a parameter.
    with_record = Type(("Main", "Foo"), (JuliaStruct("Main.P", [1]),))
    assert with_record == Type(("Main", "Foo"), (JuliaStruct("Main.P", [1]),))
    assert hash(with_record) == hash(Type(("Main", "Foo"), (JuliaStruct("Main.P", [2]),)))


def array_of_any(name: str, rank: str) -> UnionAll:
    t, n = TypeVar(Symbol(name)), TypeVar(Symbol(rank))
    return UnionAll(t, UnionAll(n, Type(("Core", "Array"), (t, n))))


def test_variables_have_an_identity_and_types_around_them_have_none() -> None:
    t = TypeVar("T")
    assert t != TypeVar("T")
    assert (t.lower, t.upper) == (BOTTOM, ANY)
    assert array_of_any("T", "N") == array_of_any("S", "M")
    assert hash(array_of_any("T", "N")) == hash(array_of_any("S", "M"))
    # The order of variables counts, and so do bounds.
    a, b = TypeVar("A"), TypeVar("B")
    swapped = UnionAll(a, UnionAll(b, Type(("Core", "Array"), (b, a))))
    assert swapped != array_of_any("A", "B")
    bound = TypeVar("T", upper=T("Number"))
    assert UnionAll(bound, Type(("Main", "Foo"), (bound,))) != UnionAll(t, Type(("Main", "Foo"), (t,)))


def test_types_with_variables_are_printed_as_in_julia() -> None:
    assert str(array_of_any("T", "N")) == "Array{T, N} where {T, N}"
    assert repr(array_of_any("T", "N")) == "<Array{T, N} where {T, N}>"
    between = TypeVar("S", T("Int8"), T("Integer"))
    below = TypeVar("T", upper=T("Number"))
    above = TypeVar("U", T("Int8"))
    body = UnionAll(between, UnionAll(below, UnionAll(above, T("Foo"))))
    assert str(body) == "Foo where {Int8<:S<:Integer, T<:Number, Int8<:U}"
    vararg = Type(("Core", "Tuple"), (UnionAll(above, Type(("Core", "Vararg"), (ANY, above))),))
    assert repr(vararg) == "<Tuple{Vararg{Any, U} where Int8<:U}>"
    assert repr(TypeVar("T")) == "TypeVar('T')"


def test_unions_are_equal_in_any_order() -> None:
    a, b, c = T("Vector{Int16}"), T("Int64"), T("Vector{Int8}")
    assert Union(a, b, c) == Union(c, Union(a, b))
    assert hash(Union(a, b, c)) == hash(Union(c, a, b))
    assert Union(a, b) != Union(a, c)
    assert Union(a, b) != Union(a, b, c)
    with pytest.raises(TypeError, match="Union: expected two types or more"):
        Union(a)


def test_types_are_not_changed() -> None:
    for value in (
        T("Int64"),
        Union(T("Int8"), T("Int16")),
        UnionAll(TypeVar("T"), ANY),
        Module(("Main",)),
        BOTTOM,
    ):
        with pytest.raises(AttributeError, match="can't be changed"):
            value.path = ()


def test_what_is_no_path_is_refused() -> None:
    for path in ("Int64", (), (1,), ("Main", 2)):
        with pytest.raises(TypeError, match="Type: path: expected a tuple of names"):
            Type(path)  # type: ignore[arg-type]


def test_mutability_is_known_or_said() -> None:
    for name in (
        "Array{Int64,1}",
        "Dict{Any,Any}",
        "IdDict{Any,Any}",
        "RefValue{Any}",
        "BitVector",
        "Expr",
        "BigFloat",
        "BitSet",
    ):
        assert T(name).is_mutable, name  # type: ignore[union-attr]
    for name in ("Int64", "Set{Int64}", "Module", "DataType", "Foo", "Pair{Int64,Int64}", "Complex{Bool}"):
        assert not T(name).is_mutable, name  # type: ignore[union-attr]
    assert Type(("Main", "Foo"), mutable=True).is_mutable
    assert not Type(("Core", "Array"), mutable=False).is_mutable
    with fresh():
        julia.struct("Main.Foo", fields=["a"], mutable=True)
        assert T("Foo{Int64}").is_mutable  # type: ignore[union-attr]
    assert not T("Foo").is_mutable  # type: ignore[union-attr]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_types_are_copied(again) -> None:
    for value in (
        T("Dict{String,Vector{Int64}}"),
        Union(T("Int8"), T("Int16")),
        Module(("Main", "Lab")),
        BOTTOM,
    ):
        found = again(value)
        assert found == value
        assert str(found) == str(value)
    assert again(BOTTOM) is BOTTOM
    assert again(Type(("Main", "Foo"), mutable=True)).is_mutable
    assert again(array_of_any("T", "N")) == array_of_any("T", "N")


def test_a_types_hash_is_not_stored() -> None:
    """It holds in one process alone."""
    of = julia.Type(("Main", "Foo"), (julia.Type(("Core", "Int64")), 5))
    data = holdall.dumps(of, canonical=True)
    assert b"_hash" not in data and b"_hash" not in holdall.msgpack.dumps(of)
    back = holdall.loads(data, types=julia)
    assert {back: 1}[of] == 1 and {of: 1}[back] == 1
    assert hash(holdall.deepcopy(of)) == hash(copy.copy(back)) == hash(of)


def test_types_of_functions_are_looked_into_late() -> None:
    typename = JuliaStruct("Core.TypeName", [])
    of = Anonymous(typename, (T("Int64"),))
    assert (of.name, str(of)) == ("", "#{Int64}")
    typename.values += ["1.5.3", Symbol("#3#4"), SimpleVector((Symbol("y"),))]
    assert (of.name, str(of), repr(of)) == ("#3#4", "#3#4{Int64}", "<#3#4{Int64}>")
    assert not of.is_mutable
    closure = JuliaStruct(of, [5])
    assert closure.y == 5
    assert repr(closure) == "#3#4{Int64}(y=5)"
    # Half filled, or filled with something else.
    for values in ([], [1], [None, None, None], ["1.5.3", Symbol("f"), 3]):
        assert isinstance(str(Anonymous(JuliaStruct("TypeName", values))), str)
        assert isinstance(repr(JuliaStruct(Anonymous(JuliaStruct("TypeName", values)), [1])), str)
    assert str(Anonymous(None)) == "#"


def test_modules() -> None:
    assert str(Module(("Main", "Lab"))) == "Main.Lab"
    assert Module(("Main",)) == Module(("Main",)) != Module(("Base",))
    assert len({Module(("Main",)), Module(("Main",))}) == 1


# --- what a hostile message may describe ---


def deep(depth: int) -> Type:
    found = T("Int64")
    for _ in range(depth):
        found = Type(("Main", "A"), (found,))
    assert isinstance(found, Type)
    return found


def wide(depth: int) -> Type:
    """Each type twice the one below: 2 to the depth of names, if all were told."""
    found = T("Int64")
    for _ in range(depth):
        found = Type(("Main", "A"), (found, found))
    assert isinstance(found, Type)
    return found


def test_types_nested_deep_and_wide_are_compared_and_shown() -> None:
    began = time.process_time()
    assert deep(20_000) == deep(20_000)
    assert deep(20_000) != deep(20_001)
    assert hash(deep(20_000)) == hash(deep(20_000))
    assert len(str(deep(20_000))) < 1000
    assert wide(100) == wide(100)
    assert hash(wide(100)) == hash(wide(100))
    assert len(str(wide(100))) < 10_000
    assert "…" in repr(wide(100))
    unions = Union(wide(50), deep(50))
    assert unions == Union(deep(50), wide(50))
    chain: object = ANY
    for _ in range(5_000):
        chain = UnionAll(TypeVar("T"), chain)
    assert len(str(chain)) < 10_000
    assert hash(chain) == hash(chain)
    assert time.process_time() - began < 20


def test_tuples_nested_deep_are_hashed_all_the_same() -> None:
    inside: tuple[object, ...] = ()
    for _ in range(200_000):
        inside = (inside,)
    assert isinstance(hash(Type(("Main", "A"), (inside,))), int)


@pytest.mark.parametrize("typename", [None, {"data": [1, "name", 3]}, [1, 2, 3], 5, {}.values])
def test_a_closure_of_a_damaged_file_has_no_name(typename: object) -> None:
    closure = julia.Anonymous(typename)
    record = julia.JuliaStruct(closure, [5])
    assert closure.name == "" and str(closure) == "#" and record[0] == 5 and repr(record)
    with pytest.raises(AttributeError):
        _ = record.captured


def test_bounds_that_are_no_types_are_shown() -> None:
    np = pytest.importorskip("numpy")
    for bound in (np.zeros(2, "i4,f8"), np.ones(3), 5, "text"):
        var = julia.TypeVar("T", julia.BOTTOM, bound)
        assert "T" in repr(julia.UnionAll(var, julia.Type.parse("Int64")))


def test_parameters_that_are_arrays_are_shown() -> None:
    """A damaged file may have anything among a type's parameters."""
    of = next(
        iter(
            julia.loads(
                bson.dumps(
                    {"t": datatype("Core", "Array", params=[FLOAT64, array(FLOAT64, (2,), bytes(16))])}
                )
            ).values()
        )
    )
    assert repr(of) == "<Array{Float64, [0. 0.]}>"
