"""What is written for Python's objects: `lower`, and the records that values are left as where Python can't say them."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import uuid
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

import holdall
from holdall import julia
from holdall.julia import (
    Bits,
    Char,
    Complex,
    Dict,
    Float32,
    IdDict,
    Int8,
    Int32,
    JuliaStruct,
    Pair,
    Pairs,
    Period,
    Rational,
    Ref,
    Set,
    Some,
    SubString,
    Symbol,
    Type,
    TypeVar,
    UInt8,
    UInt128,
    Union,
    UnionAll,
    missing,
    struct,
)
from holdall.julia import _host as host
from holdall.julia._infer import type_of
from tests.support.each import each
from tests.support.julia_registry import fresh
from tests.support.julia_types import Fruit, Point

T = Type.parse
DAY, MILLI = Type(("Dates", "Day")), Type(("Dates", "Millisecond"))


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


def instant(of: Type, count: int) -> JuliaStruct:
    return JuliaStruct(Type(("Dates", "UTInstant"), (of,)), [JuliaStruct(of, [count])])


class Place(NamedTuple):
    x: int
    y: str


VALUES: list[tuple[Any, tuple[Any, ...]]] = [
    # numbers
    (2**63, ("bits", T("Int128"), (2**63).to_bytes(16, "little"))),
    (-(2**127), ("bits", T("Int128"), bytes(15) + b"\x80")),
    (Int8(-8), ("bits", T("Int8"), b"\xf8")),
    (Int32(7), ("int32", 7)),
    (UInt128(5), ("bits", T("UInt128"), b"\5" + bytes(15))),
    (Float32(0.1), ("bits", T("Float32"), b"\xcd\xcc\xcc=")),
    (1.5 - 2.5j, ("struct", T("Complex{Float64}"), [1.5, -2.5])),
    (Complex(1, 2), ("struct", T("Complex{Int64}"), [1, 2])),
    (Complex(1, 2, T("Complex{Int8}")), ("struct", T("Complex{Int8}"), [Int8(1), Int8(2)])),
    (Complex(Float32(1), Float32(2)), ("struct", T("Complex{Float32}"), [Float32(1), Float32(2)])),
    (Complex(1, 2.5), ("struct", T("Complex{Any}"), [1, 2.5])),
    (Fraction(3, 4), ("struct", T("Rational{Int64}"), [3, 4])),
    (Fraction(2**70, 3), ("struct", T("Rational{Int128}"), [julia.Int128(2**70), julia.Int128(3)])),
    (Rational(3, 4, T("Rational{Int8}")), ("struct", T("Rational{Int8}"), [Int8(3), Int8(4)])),
    # text and bytes
    (Symbol("a"), ("symbol", "a")),
    (Char("é"), ("bits", T("Char"), b"\0\0\xa9\xc3")),
    (SubString("hello", 1, 3), ("struct", T("SubString{String}"), ["hello", 1, 3])),
    (b"ab", ("bytes", b"ab")),
    (bytearray(b"ab"), ("bytes", b"ab")),
    (memoryview(b"abcd")[::2], ("bytes", b"ac")),
    (missing, ("struct", T("Missing"), [])),
    (Bits(T("Main.W"), b"abc"), ("bits", T("Main.W"), b"abc")),
    # times
    (datetime.date(2024, 2, 29), ("struct", T("Dates.Date"), [instant(DAY, 738945)])),
    (datetime.datetime(2024, 2, 29, 13, 14, 15, 678000), ("struct", T("Dates.DateTime"), [instant(MILLI, 63844895655678)])),
    (datetime.time(1, 2, 3, 4), ("struct", T("Dates.Time"), [JuliaStruct("Dates.Nanosecond", [3723000004000])])),
    (datetime.timedelta(days=1), ("struct", T("Dates.Millisecond"), [86_400_000])),
    (datetime.timedelta(microseconds=-1), ("struct", T("Dates.Microsecond"), [-1])),
    (Period(3, "Day"), ("struct", T("Dates.Day"), [3])),
    (uuid.UUID(int=5), ("struct", T("UUID"), [UInt128(5)])),
    # ranges
    (range(1, 6), ("struct", T("UnitRange{Int64}"), [1, 5])),
    (range(5, 5), ("struct", T("UnitRange{Int64}"), [5, 4])),
    (range(5, 1), ("struct", T("UnitRange{Int64}"), [5, 4])),
    (range(1, 11, 2), ("struct", T("StepRange{Int64,Int64}"), [1, 2, 9])),
    (range(5, 0, -2), ("struct", T("StepRange{Int64,Int64}"), [5, -2, 1])),
    (range(5, 9, -2), ("struct", T("StepRange{Int64,Int64}"), [5, -2, 6])),
    # types
    (T("Dict{String,Int64}"), ("datatype", ("Main", "Base", "Dict"), (T("String"), T("Int64")))),
    (Union(T("Int8"), T("Int16")), ("struct", T("Union"), [T("Int8"), T("Int16")])),
    (Union(T("Int8"), T("Int16"), T("Int32")), ("struct", T("Union"), [T("Int8"), Union(T("Int16"), T("Int32"))])),
    (julia.BOTTOM, ("bottom",)),
    (julia.Module(("Main", "Lab")), ("module", ("Main", "Lab"))),
    # containers
    (julia.SimpleVector((1, 2)), ("svec", [1, 2])),
    (JuliaStruct("Main.P", [1, 2]), ("struct", T("Main.P"), [1, 2])),
    (julia.NamedTuple.of(a=1, b="x"), ("struct", T("NamedTuple{(:a,:b),Tuple{Int64,String}}"), [1, "x"])),
    (Place(1, "x"), ("struct", T("NamedTuple{(:x,:y),Tuple{Int64,String}}"), [1, "x"])),
    (Ref([1]), ("struct", T("RefValue{Vector{Any}}"), [[1]])),
    (Some(None), ("struct", T("Some{Nothing}"), [None])),
    (Pair("a", 1), ("struct", T("Pair{String,Int64}"), ["a", 1])),
    (julia.LinRange(0.0, 1.0, 5), ("struct", T("LinRange{Float64}"), [0.0, 1.0, 5, 4])),
    (julia.StepRangeLen(0.0, 0.5, 3), ("struct", T("StepRangeLen{Float64,Float64,Float64}"), [0.0, 0.5, 3, 1])),
    (julia.ReshapedArray(range(1, 7), (2, 3)), ("struct", T("ReshapedArray{Int64,2,UnitRange{Int64},Tuple{}}"), [range(1, 7), (2, 3), ()])),
    # subclasses
    (collections.OrderedDict(a=1), ("value", {"a": 1})),
    (collections.defaultdict(int, a=1), ("value", {"a": 1})),
]  # fmt: skip


@each(
    ("value", "expected"),
    VALUES,
    ids=[f"{at} {type(value).__name__}" for at, (value, _) in enumerate(VALUES)],
    within=fresh,
)
def test_values(value: Any, expected: Any) -> None:
    found = host.lower(value)
    if expected[0] == "bytes":
        found = ("bytes", bytes(found[1]))
    assert found == expected


def plain(lowered: Any) -> Any:
    """What stands for an array or a struct inside is shown as it will be written."""
    return tuple(
        [host.lower(part) if type(part).__name__ == "Made" else part for part in item]
        if isinstance(item, list)
        else item
        for item in lowered
    )


def column(text: str, values: Any) -> Any:
    import struct as packing

    codes = {"Int64": "q", "Float64": "d", "UInt64": "Q", "Int8": "b"}
    return "array", T(text), (len(values),), packing.pack(f"<{len(values)}{codes[text]}", *values)


TABLES: list[tuple[Any, tuple[Any, ...]]] = [
    ({1: "one", 2: "two"}, ("struct", T("Dict{Int64,String}"), [column("Int64", [1, 2]), ["one", "two"]])),
    ({1.5: True}, ("struct", T("Dict{Float64,Bool}"), [column("Float64", [1.5]), ("array", T("Bool"), (1,), b"\1")])),
    ({(1, 2): None}, ("struct", T("Dict{Any,Any}"), [[(1, 2)], [None]])),
    ({1: 2, "a": 3.0}, ("struct", T("Dict{Any,Any}"), [[1, "a"], [2, 3.0]])),
    ({True: 1}, ("struct", T("Dict{Bool,Int64}"), [("array", T("Bool"), (1,), b"\1"), column("Int64", [1])])),
    ({2**70: 1}, ("struct", T("Dict{Any,Int64}"), [[2**70], column("Int64", [1])])),
    ({Symbol("a"): Symbol("b")}, ("struct", T("Dict{Symbol,Symbol}"), [[Symbol("a")], [Symbol("b")]])),
    ({Int8(3): 1.5}, ("struct", T("Dict{Int8,Float64}"), [column("Int8", [3]), column("Float64", [1.5])])),
    (Dict({"a": 1}), ("struct", T("Dict{String,Int64}"), [["a"], column("Int64", [1])])),
    (Dict({}), ("struct", T("Dict{Any,Any}"), [[], []])),
    (Dict({"a": 2**64 - 1}, type=T("Dict{String,UInt64}")), ("struct", T("Dict{String,UInt64}"), [["a"], column("UInt64", [2**64 - 1])])),
    (Dict({1: 2}, type=T("Dict{Any,Any}")), ("struct", T("Dict{Any,Any}"), [[1], [2]])),
    (Dict({1: 2}, type=T("Dict{UInt8,UInt8}")), ("struct", T("Dict{UInt8,UInt8}"), [b"\1", b"\2"])),
    (Dict({(1, True): None}, type=T("Dict{Tuple{Int64,Bool},Nothing}")), ("struct", T("Dict{Tuple{Int64,Bool},Nothing}"), [("array", T("Tuple{Int64,Bool}"), (1,), b"\1" + bytes(7) + b"\1" + bytes(7)), ("array", T("Nothing"), (1,), b"")])),
    (Dict({1: Bits(T("Main.P"), b"ab")}, type=T("Dict{Int64,Main.P}")), ("struct", T("Dict{Int64,Main.P}"), [column("Int64", [1]), ("array", T("Main.P"), (1,), b"ab")])),
    (Dict({1: JuliaStruct("Main.P", [1])}, type=T("Dict{Int64,Main.P}")), ("struct", T("Dict{Int64,Main.P}"), [column("Int64", [1]), [JuliaStruct("Main.P", [1])]])),
    (IdDict({1: 2}), ("struct", T("IdDict{Any,Any}"), [[1], [2]])),
    (Pairs([([1], 2)], type=T("Dict{Vector{Int64},Int64}")), ("struct", T("Dict{Vector{Int64},Int64}"), [[[1]], column("Int64", [2])])),
    (Pairs([([1], 2)]), ("struct", T("Dict{Any,Int64}"), [[[1]], column("Int64", [2])])),
]  # fmt: skip


@each(
    ("value", "expected"),
    TABLES,
    ids=[f"{at} {type(value).__name__}" for at, (value, _) in enumerate(TABLES)],
    within=fresh,
)
def test_mappings_of_any_keys(value: Any, expected: Any) -> None:
    assert plain(host.lower(value)) == expected


def test_mappings_that_are_documents_otherwise() -> None:
    assert plain(host.lower_pairs({"tag": "struct", "x": 1})) == (
        "struct",
        T("Dict{Symbol,Any}"),
        [[Symbol("tag"), Symbol("x")], ["struct", 1]],
    )
    assert all(type(key) is Symbol for key in host.lower_pairs({"tag": "struct"})[2][0])
    for (
        tag
    ) in "array backref datatype jl_anonymous jl_bottom_type ref struct svec symbol tuple unionall".split():
        assert host.is_tag(tag)
    assert not host.is_tag("hello")


def test_what_does_not_fit_its_type_is_refused() -> None:
    for value, text in (
        (Dict({"a": 1}, type=T("Dict{Int64,Int64}")), "Int64"),
        (Dict({1: 300}, type=T("Dict{Int64,Int8}")), "Int8"),
        (Dict({1: True}, type=T("Dict{Int64,Int64}")), "Int64"),
        (Dict({1: 1}, type=T("Dict{Int64,Float64}")), "Float64"),
        (Dict({1: 1}, type=T("Dict{Int64,Nothing}")), "Nothing"),
        (Dict({1: "ab"}, type=T("Dict{Int64,Char}")), "Char"),
        (Dict({1: (1,)}, type=T("Dict{Int64,Tuple{Int64,Int64}}")), "Tuple{Int64, Int64}"),
        (Dict({1: object()}, type=T("Dict{Int64,Dates.Date}")), "Dates.Date"),
    ):
        with pytest.raises(holdall.EncodeError) as caught:
            host.lower(value)
        assert str(caught.value) == f"can't store as {text} what is of another type, or beyond its bounds"


def test_sets() -> None:
    def of(value: Any) -> Any:
        how, type_, table = host.lower(value)
        assert how == "set"
        inner = host.lower(table)
        return type_, inner[1], plain(inner)[2]

    nothing = ("array", T("Nothing"), (2,), b"")
    assert of({"b", "a"}) == (T("Set{String}"), T("Dict{String,Nothing}"), [["a", "b"], nothing])
    assert of(frozenset((2, 1))) == (
        T("Set{Int64}"),
        T("Dict{Int64,Nothing}"),
        [column("Int64", [1, 2]), nothing],
    )
    assert of(Set(["b", "a"], type=T("Set{Any}"))) == (
        T("Set{Any}"),
        T("Dict{Any,Nothing}"),
        [["b", "a"], nothing],
    )
    assert of({1, "a"})[0] == T("Set{Any}")
    # Of the same Julia as the set.
    old = Type(("Base", "Set"), (T("String"),))
    assert of(Set(["b", "a"], type=old))[1].path == ("Base", "Dict")
    assert of(set())[0] == T("Set{Any}")


def test_types_with_variables() -> None:
    var = TypeVar(Symbol("T"), upper=T("Number"))
    body = Type(("Main", "Base", "Dict"), (var, var))
    assert host.lower(UnionAll(var, body)) == ("unionall", var, body)
    assert host.lower(var) == ("struct", T("TypeVar"), [Symbol("T"), julia.BOTTOM, T("Number")])
    of = julia.Anonymous(JuliaStruct("TypeName", []), (T("Int64"),))
    assert host.lower(of) == ("anonymous", of.typename, of.params)


def test_a_type_that_was_loaded_comes_first() -> None:
    box = Ref(5)
    object.__setattr__(box, "__julia_type__", T("RefValue{Any}"))
    assert host.lower(box) == ("struct", T("RefValue{Any}"), [5])
    table = Dict({1: 2}, type=Type(("Base", "Dict"), (T("Any"), T("Any"))))
    assert host.lower(table)[1].path == ("Base", "Dict")


class Unknown:
    pass


class Level(enum.IntEnum):
    low = 1


UNKNOWN = [
    Unknown(),
    object(),
    Level.low,
    Fruit.kiwi,
    decimal.Decimal(1),
    array.array("i", [1]),
    Point(1.0, 2.0),
    len,
    Unknown,
]


@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: type(value).__name__)
def test_what_nobody_has_mapped_is_left_to_others(value: Any) -> None:
    assert host.lower(value) is None


REFUSED = [
    (2**127, "can't store an int beyond 128 bits for Julia: `UInt128` has one bit more; text has any number"),
    (datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), "can't store a datetime with a zone: Julia's DateTime has none; `.astimezone(timezone.utc).replace(tzinfo=None)` is the same moment in UTC"),
    (datetime.datetime(2024, 1, 1, microsecond=1), "can't store microseconds: Julia's DateTime has milliseconds; round it first"),
    (datetime.time(1, tzinfo=datetime.timezone.utc), "can't store a time with a zone: Julia's Time has none; `.replace(tzinfo=None)` drops it"),
    (range(2**70), "can't store a range beyond 64 bits for Julia"),
    (Rational(300, 7, T("Rational{Int8}")), "can't store as Rational{Int8} what is beyond its bounds"),
    (Fraction(1, 2**200), "can't store as Rational{Int128} what is beyond its bounds"),
    (julia.Transpose(5), "can't store `Transpose` of what is no array: set `__julia_type__` to its type in Julia"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), REFUSED, ids=[expected[:50] for _, expected in REFUSED])
def test_what_julia_has_not_is_refused_with_a_remedy(value: Any, expected: str) -> None:
    with pytest.raises(holdall.EncodeError) as caught:
        host.lower(value)
    assert str(caught.value) == expected


def test_types_of_objects() -> None:
    struct("Main.Point", Point)
    inner: Any = ()
    for _ in range(1000):
        inner = (inner,)
    for value, text in (
        (None, "Nothing"), (True, "Bool"), ([1], "Vector{Any}"), ({"a": 1}, "Dict{Symbol,Any}"), ((1, "a"), "Tuple{Int64,String}"),
        (b"a", "Vector{UInt8}"), (T("Int64"), "DataType"), (missing, "Missing"), (Point(1.0, 2.0), "Main.Point"),
        (JuliaStruct("Main.Q{Int64}", []), "Main.Q{Int64}"), (Ref(Some(1)), "RefValue{Some{Int64}}"), (Unknown(), "Any"),
        (range(3), "UnitRange{Int64}"), (Dict(type=T("Dict{Int8,Int8}")), "Dict{Int8,Int8}"), (UInt8(1), "UInt8"),
    ):  # fmt: skip
        assert type_of(value) == T(text), text
    assert "Any" in str(host.lower(Some(inner))[1]) or "…" in str(host.lower(Some(inner))[1])


# --- what stays a record ---


RECORDS = [
    ("Rational{Int64}", [1, 0]),
    ("Rational{Int64}", [2, 4]),
    ("Rational{Int64}", [1, -2]),
    ("Rational{Int64}", [1]),
    ("Rational{BigInt}", [None, None]),
    ("Complex{Int64}", [1]),
    ("Complex{Int128}", [julia.Int128(2**100), "a"]),
    ("UnitRange{Int64}", [5, 1]),
    ("UnitRange{Int32}", [Int32(1), Int32(5)]),
    ("UnitRange{Int64}", [1.0, 5.0]),
    ("StepRange{Int64,Int64}", [1, 1, 5]),
    ("StepRange{Int64,Int64}", [1, 0, 5]),
    ("StepRange{Int64,Int64}", [1, 2, 8]),
    ("StepRange{Int64,Int8}", [1, 2, 9]),
    ("Dates.Day", [10**15]),
    ("Dates.Nanosecond", [1]),
    ("Dates.Month", [3]),
    ("Dates.Date", [instant(DAY, 0)]),
    ("Dates.Date", [instant(DAY, 10**9)]),
    ("Dates.Date", [instant(MILLI, 5)]),
    ("Dates.Date", []),
    ("Dates.Date", [None]),
    ("Dates.DateTime", [instant(MILLI, -1)]),
    ("Dates.Time", [JuliaStruct("Dates.Nanosecond", [1])]),
    ("Dates.Time", [JuliaStruct("Dates.Nanosecond", [86_400 * 10**9])]),
    ("UUID", [5]),
    ("SubString{String}", ["naïve", 3, 1]),
    ("SubString{String}", ["a", 0, 5]),
    ("SubString{String}", [5, 0, 1]),
    ("Missing", [1]),
    ("Nothing", [1]),
    ("TypeVar", [1]),
    ("Union", [1]),
    ("NamedTuple", [1]),
    ("NamedTuple{(:a,),Tuple{Int64}}", [1, 2]),
    ("NamedTuple{3,Int64}", []),
    ("Set{Int64}", [Pairs([([1], None)])]),
    ("Set{Int64}", [Dict({1: 2})]),
    ("Set{Int64}", []),
]


@each(("text", "values"), RECORDS, ids=[f"{text} {values!r:.40}" for text, values in RECORDS], within=fresh)
def test_what_python_can_not_say_stays_a_record(text: str, values: list[Any]) -> None:
    how, *more = host.resolve(T(text))
    made = more[0](T(text), values) if how == host.MAKE else JuliaStruct(text, values)
    assert type(made) is JuliaStruct
    assert made == JuliaStruct(text, values)
    assert host.lower(made) == ("struct", T(text), values)


MADE: list[tuple[str, list[Any], Any]] = [
    ("Rational{Int64}", [-3, 4], Fraction(-3, 4)),
    ("UnitRange{Int64}", [5, 4], range(5, 5)),
    ("UnitRange{Int64}", [-(2**63), 2**63 - 1], range(-(2**63), 2**63)),
    ("StepRange{Int64,Int64}", [5, -2, 1], range(5, 0, -2)),
    ("StepRange{Int64,Int64}", [5, -2, 6], range(5, 7, -2)),
    ("Dates.Date", [instant(DAY, 1)], datetime.date(1, 1, 1)),
    ("Dates.Date", [instant(DAY, 3652059)], datetime.date(9999, 12, 31)),
    ("Dates.DateTime", [instant(MILLI, 86_400_000)], datetime.datetime(1, 1, 1)),
    (
        "Dates.Time",
        [JuliaStruct("Dates.Nanosecond", [86_400 * 10**9 - 1000])],
        datetime.time(23, 59, 59, 999999),
    ),
    ("Dates.Nanosecond", [3000], Period(3000, "Nanosecond")),
    ("UUID", [UInt128(5)], uuid.UUID(int=5)),
    ("Missing", [], missing),
    ("Union", [T("Int8"), Union(T("Int16"), T("Int32"))], Union(T("Int8"), T("Int16"), T("Int32"))),
]


@pytest.mark.parametrize(
    ("text", "values", "expected"), MADE, ids=[f"{text} {values!r:.40}" for text, values, _ in MADE]
)
def test_what_python_can_say_is_written_as_it_was(text: str, values: list[Any], expected: Any) -> None:
    how, make = host.resolve(T(text))
    assert how == host.MAKE
    made = make(T(text), values)
    assert type(made) is type(expected)
    assert made == expected
    lowered = host.lower(made)
    assert lowered[:2] == ("struct", T(text))
    assert lowered[2] == values


def test_other_bits() -> None:
    assert host.resolve(T("Bool"))[1](T("Bool"), b"\1") is True
    assert host.resolve(T("Bool"))[1](T("Bool"), b"\2") == Bits(T("Bool"), b"\2")
    assert host.resolve(T("Char"))[1](T("Char"), b"\0\0aa") == Bits(T("Char"), b"\0\0aa")
    assert host.bits(T("Main.W"), b"ab") == Bits(T("Main.W"), b"ab")


# --- ranges and numbers of Julia's ---


def twice(hi: float, lo: float) -> JuliaStruct:
    return JuliaStruct("TwicePrecision{Float64}", [hi, lo])


def test_ranges_have_julias_values() -> None:
    tenths = julia.StepRangeLen(twice(0.0, 0.0), twice(0.09999999999999987, 1.3322676295501878e-16), 6)
    assert list(tenths) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert (len(tenths), tenths[-1], tenths[3]) == (6, 0.5, 0.3)
    with pytest.raises(IndexError):
        tenths[6]
    # The reference may be any of the values.
    middle = julia.StepRangeLen(1.0, 0.5, 5, 3)
    assert list(middle) == [0.0, 0.5, 1.0, 1.5, 2.0]
    single = julia.StepRangeLen(0.0, 0.1, 3)
    object.__setattr__(single, "__julia_type__", T("StepRangeLen{Float32,Float64,Float64}"))
    assert [type(value) for value in single] == [Float32] * 3
    assert list(julia.LinRange(1.0, 2.0, 1)) == [1.0]
    assert list(julia.LinRange(0.0, 1.0, 0)) == []


def test_large_floats() -> None:
    def number(sign: int, exponent: int, data: bytes, prec: int = 256) -> julia.BigFloat:
        return julia.BigFloat(prec, sign, exponent, None, data.decode("utf-8", "surrogateescape"))

    least = 1 - 2**63
    for sign, exponent, data, expected in (
        (1, 1, bytes(31) + b"\xa0", 1.25),
        (-1, 1, bytes(31) + b"\xa0", -1.25),
        (1, 0, bytes(7) + b"\x80", 0.5),
        (1, least, b"", 0.0),
        (-1, least + 2, b"", float("-inf")),
    ):
        found = number(sign, exponent, data)
        assert float(found) == expected
        assert repr(found) == f"BigFloat('{expected:g}')" or str(float(found)) in repr(found)
    assert float(number(1, least + 1, b"")) != float(number(1, least + 1, b""))
    assert number(1, 1, bytes(31) + b"\xa0").as_integer_ratio() == (5, 4)
    third = number(1, -1, ((1 << 257) // 3).to_bytes(32, "little"))
    assert str(third).startswith("0.333333333333333333333333333333333333333333")
    for exponent in (2**62, -(2**62), 10**6):
        with pytest.raises(OverflowError, match="BigFloat: expected a finite number that is not too large"):
            number(1, exponent, bytes(7) + b"\x80").as_integer_ratio()
        assert repr(number(1, exponent, bytes(7) + b"\x80")) == f"BigFloat('about 2^{exponent}')"
    a, b = number(1, 1, bytes(31) + b"\xa0"), number(1, 1, bytes(31) + b"\xa0")
    b.d = Bits(T("Ptr{UInt64}"), bytes(8))
    assert a == b != number(1, 2, bytes(31) + b"\xa0")


def test_types_that_are_arrays_are_compared_without_harm() -> None:
    np = pytest.importorskip("numpy")
    one, other = (julia.Bits(np.array([1, 2]), b"abcd") for _ in range(2))
    of = julia.Type.parse("Dict{Int64,Any}")
    for value in ([one, other], julia.Dict({1: one, 2: other}, type=of)):
        # No such file is Julia's: it is stored, and parsed again as what it says.
        parsed = julia.parse(julia.dumps({"a": value}))["a"]
        assert repr(parsed).count("b'abcd'") == 2, parsed
