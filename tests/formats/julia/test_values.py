"""Values that Python has no type for, by themselves: they act as the nearest type of Python's, and keep what they are in Julia."""

from __future__ import annotations

import copy
import datetime
import math
import pickle
import struct
from fractions import Fraction
from typing import Any

import pytest

from holdall import julia
from holdall.julia import (
    Bits,
    Char,
    Complex,
    Dict,
    Float16,
    Float32,
    IdDict,
    JuliaStruct,
    Missing,
    NamedTuple,
    Pair,
    Pairs,
    Period,
    Rational,
    Ref,
    Set,
    SimpleVector,
    Some,
    SubString,
    Symbol,
    Type,
    missing,
)
from holdall.julia._numbers import read_char
from tests.support.each import each
from tests.support.julia_registry import fresh

T = Type.parse

INTS = [(name, bits, signed) for signed, name, widths in ((True, "Int", (8, 16, 32, 128)), (False, "UInt", (8, 16, 32, 64, 128))) for bits in widths]  # fmt: skip


# --- numbers ---


@pytest.mark.parametrize(("name", "bits", "signed"), INTS)
def test_ints_have_bounds_and_bytes(name: str, bits: int, signed: bool) -> None:
    cls = getattr(julia, f"{name}{bits}")
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    for value in (least, most, 0, 1):
        number = cls(value)
        assert number == value
        assert hash(number) == hash(value)
        assert number._bytes() == value.to_bytes(bits // 8, "little", signed=signed)
        assert repr(number) == f"{name}{bits}({value})"
        assert str(number) == f"{number}" == str(value)
        assert type(number + 0) is int
    for value in (least - 1, most + 1):
        with pytest.raises(ValueError) as caught:
            cls(value)
        assert str(caught.value) == f"{name}{bits}: expected {least} to {most}"
    with pytest.raises(TypeError):
        cls(1.5)
    with pytest.raises(TypeError):
        cls("1")


@pytest.mark.parametrize(("cls", "code"), [(Float16, "<e"), (Float32, "<f")])
def test_floats_are_rounded_and_shown_shortly(cls: Any, code: str) -> None:
    for value in (0.0, -0.0, 0.1, 1.5, -2.5, 1e-7, 100.0, 1 / 3, 65504.0, float("inf"), float("-inf")):
        number = cls(value)
        assert number._bytes() == struct.pack(code, value)
        assert struct.pack(code, number) == struct.pack(code, value)
        assert cls(eval(str(number), {"inf": math.inf})) == number
        assert repr(number) == f"{cls.__name__}({number!s})"
    assert str(cls(0.1)) == "0.1"
    assert cls(1e300) == math.inf
    assert cls(-1e300) == -math.inf
    assert math.copysign(1, cls(-0.0)) == -1
    assert str(cls(math.nan)) == "nan"
    assert type(cls(1) + 1) is float


def test_the_bits_of_a_nan_stay() -> None:
    for bits in (0x7FC00000, 0x7F800001, 0xFFC00000, 0xFFABCDEF, 0x7FFFFFFF):
        sign, fraction = bits >> 31, bits & 0x7FFFFF
        wide = struct.unpack("<d", struct.pack("<Q", sign << 63 | 0x7FF << 52 | fraction << 29))[0]
        assert Float32(wide)._bytes() == struct.pack("<I", bits)
    for bits in (0x7E00, 0x7C01, 0xFE00, 0xFFFF):
        wide = struct.unpack("<d", struct.pack("<Q", bits >> 15 << 63 | 0x7FF << 52 | (bits & 0x3FF) << 42))[
            0
        ]
        assert Float16(wide)._bytes() == struct.pack("<H", bits)
    # What Float32 has no bits for stays a NaN.
    low = struct.unpack("<d", struct.pack("<Q", 0x7FF << 52 | 1))[0]
    assert Float32(low)._bytes() == struct.pack("<I", 0x7FC00000)


def test_complex_numbers_keep_their_parts() -> None:
    number = Complex(2**60 + 1, 2)
    assert (number.re, number.im, number.type) == (2**60 + 1, 2, None)
    assert number == complex(2**60 + 1, 2)
    assert isinstance(number, complex)
    assert repr(Complex(False, True)) == "Complex(False, True)"


def test_rational_numbers_keep_their_type() -> None:
    number = Rational(3, 4, T("Rational{Int8}"))
    assert number == Fraction(3, 4)
    assert number.type == T("Rational{Int8}")
    assert type(number + 1) is Fraction
    assert copy.deepcopy(number).type == number.type
    assert repr(number) == "Rational(3, 4)"


# --- text ---


CHARS = ["a", "\0", "é", "∑", "🎈", "\udcff", "\udcc3", "\x7f", "\u0080", "\uffff", "\U0010ffff"]


@pytest.mark.parametrize("text", CHARS)
def test_characters_are_read_as_they_are_stored(text: str) -> None:
    char = Char(text)
    assert char == text
    data = char._bytes()
    assert len(data) == 4
    assert read_char(data) == char
    assert type(read_char(data)) is Char


def test_bytes_of_characters_are_julias() -> None:
    assert Char("é")._bytes() == b"\0\0\xa9\xc3"
    assert Char("a")._bytes() == b"\0\0\0a"
    assert repr(Char("é")) == "Char('é')"


def test_what_is_no_character_is_none() -> None:
    # Cut off after two bytes of three, and a character with something behind it.
    for data in (b"\0\0\x82\xe2", b"\0\0aa", b"", b"abc", b"\0\0\0\0\0"):
        assert read_char(data) is None, data
    for text in ("", "ab"):
        with pytest.raises(ValueError, match="Char: expected one character"):
            Char(text)


def test_parts_of_strings_keep_the_whole() -> None:
    part = SubString("naïve", 1, 3)
    assert (part, part.string, part.offset, part.ncodeunits) == ("aï", "naïve", 1, 3)
    assert isinstance(part, str)
    for offset, length in ((0, 7), (-1, 2), (7, 0), (2, -1), (3, 1), (0, 3)):
        with pytest.raises(ValueError):
            SubString("naïve", offset, length)


def test_symbols_are_text() -> None:
    assert Symbol("a") == "a"
    assert {Symbol("a"): 1}["a"] == 1
    assert repr(Symbol("with space")) == "Symbol('with space')"
    assert (str(Symbol("a")), type(str(Symbol("a")))) == ("a", str)


def test_there_is_one_missing() -> None:
    assert Missing() is missing
    assert not missing
    assert repr(missing) == "missing"


# --- containers ---


def test_mappings_know_their_type() -> None:
    for cls in (Dict, IdDict):
        table = cls({1: "a"}, type=T("Dict{Int64,String}"))
        assert table == {1: "a"}
        assert table.type == T("Dict{Int64,String}")
        assert cls([(1, 2)]).type is None
        assert repr(table) == f"{cls.__name__}({{1: 'a'}})"
    pairs = Pairs([([1], 2)], type=T("Dict{Any,Any}"))
    assert pairs == [([1], 2)]
    assert pairs.type == T("Dict{Any,Any}")


def test_sets_keep_their_order() -> None:
    found = Set(["b", "a", "b"], type=T("Set{String}"))
    assert found == {"a", "b"}
    assert found.in_order() == ["b", "a"]
    found.add("c")
    found.discard("b")
    assert found.in_order() == ["a", "c"]
    found.add("b")
    assert found.in_order() == ["b", "a", "c"]
    assert repr(found) == "Set(['b', 'a', 'c'])"


def test_named_tuples() -> None:
    found = NamedTuple((1, "x"), ("a", "b"))
    assert found == (1, "x")
    assert (found.a, found.b, found[1]) == (1, "x", "x")
    assert found._asdict() == {"a": 1, "b": "x"}
    assert repr(found) == "NamedTuple(a=1, b='x')"
    with pytest.raises(AttributeError, match="a NamedTuple of a, b has no 'c'"):
        found.c  # noqa: B018
    with pytest.raises(ValueError, match="expected as many names as values"):
        NamedTuple((1,), ("a", "b"))
    # A field with a name that is taken is found by index.
    taken = NamedTuple((1, 2), ("type", "count"))
    assert taken.type is None
    assert taken._asdict() == {"type": 1, "count": 2}
    assert NamedTuple((), ()) == ()


def test_periods_are_timedeltas() -> None:
    assert Period(3, "Day") == datetime.timedelta(days=3)
    assert Period(-1500, "Microsecond") == datetime.timedelta(microseconds=-1500)
    assert Period(2, "Week").type == T("Dates.Week")
    assert Period(3_000, "Nanosecond") == datetime.timedelta(microseconds=3)
    for count, unit in ((1, "Month"), (1, "Year"), (1500, "Nanosecond"), (1, "day")):
        with pytest.raises(
            ValueError, match="Period: expected a unit of fixed length, and whole microseconds"
        ):
            Period(count, unit)
    with pytest.raises(OverflowError):
        Period(10**12, "Day")


def test_boxes_and_pairs() -> None:
    assert Ref(5) == Ref(5) != Ref(6)
    assert Ref(5) != Some(5)
    box = Ref(None)
    box.x = box
    assert repr(box) == "Ref(...)"
    assert {Pair(1, 2): 3, Some(1): 4}[Pair(1, 2)] == 3
    assert list(Pair("a", 1)) == ["a", 1]
    assert (len(Pair(1, 2)), Pair(1, 2)[-1]) == (2, 2)
    with pytest.raises(TypeError):
        hash(Ref(1))
    for fixed in (Pair(1, 2), Some(1)):
        with pytest.raises(AttributeError, match="can't be changed"):
            fixed.first = 3


# --- records ---


def test_records_are_found_by_index_and_by_name() -> None:
    with fresh():
        record = JuliaStruct("Main.Thing", [1, "x"])
        assert (record[0], record[-1], len(record), list(record)) == (1, "x", 2, [1, "x"])
        record[0] = 2
        assert record.values == [2, "x"]
        with pytest.raises(AttributeError) as caught:
            record.first  # noqa: B018
        assert str(caught.value) == (
            "the names of the fields of Main.Thing are not known: find them by index, or declare the names with"
            " `holdall.julia.struct('Main.Thing', fields=[...])`"
        )
        with pytest.raises(AttributeError):
            record._asdict()
        with pytest.raises(AttributeError):
            record.other = 1
        assert repr(record) == "Main.Thing(2, 'x')"

        julia.struct("Main.Thing", fields=["first", "second"])
        assert (record.first, record.second) == (2, "x")
        record.second = "y"
        assert record[1] == "y"
        assert record._asdict() == {"first": 2, "second": "y"}
        assert {"first", "second", "values"} <= set(dir(record))
        assert repr(record) == "Main.Thing(first=2, second='y')"
        with pytest.raises(AttributeError) as caught:
            record.frist  # noqa: B018
        assert str(caught.value) == "Main.Thing has no field 'frist': did you mean 'first'?"
        with pytest.raises(AttributeError) as caught:
            record.colour  # noqa: B018
        assert str(caught.value) == "Main.Thing has no field 'colour': it has first, second"

        other = JuliaStruct("Main.Thing{Int64}", [1, 2, 3])
        with pytest.raises(AttributeError) as caught:
            other.first  # noqa: B018
        assert str(caught.value) == (
            "Main.Thing{Int64} is known to have 2 fields, and this one has 3: find them by index, or declare the names with"
            " `holdall.julia.struct`"
        )
        assert repr(other) == "Main.Thing{Int64}(1, 2, 3)"


def test_types_of_julias_have_names() -> None:
    assert JuliaStruct("VersionNumber", [1, 2, 3, (), ()]).minor == 2
    assert JuliaStruct("Expr", [Symbol("call"), []]).head == "call"
    assert JuliaStruct("Dates.Month", [3]).value == 3
    assert repr(JuliaStruct("Regex", ["a", 1, 2, None])) == (
        "Base.Regex(pattern='a', compile_options=1, match_options=2, regex=None)"
    )
    assert JuliaStruct("NamedTuple{(:a,),Tuple{Int64}}", [1])[0] == 1


def test_a_field_called_as_a_slot_is_found_by_index() -> None:
    with fresh():
        julia.struct("Main.Odd", fields=["type", "values"])
        odd = JuliaStruct("Main.Odd", [1, 2])
        assert odd.type == T("Main.Odd")
        assert odd._asdict() == {"type": 1, "values": 2}


def test_records_that_hold_themselves() -> None:
    a, b = JuliaStruct("Main.N", [1, None]), JuliaStruct("Main.N", [1, None])
    a[1], b[1] = a, b
    assert a == b
    assert repr(a) == "Main.N(1, Main.N(...))"
    b[0] = 2
    assert a != b
    assert JuliaStruct("Main.N", [1]) != JuliaStruct("Main.M", [1])
    assert JuliaStruct("Main.N", [[1], {"a": (2,)}]) == JuliaStruct("Main.N", [[1], {"a": (2,)}])
    assert JuliaStruct("Main.N", [[1], {"a": (2,)}]) != JuliaStruct("Main.N", [[1], {"a": (3,)}])
    assert JuliaStruct("Main.N", [1]) != [1]
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    through = JuliaStruct("Main.N", [{}, Ref(None)])
    through[0]["self"] = through
    through[1].x = through
    again = copy.deepcopy(through)
    assert again == through
    assert again[0]["self"] is again[1].x is again


def chain(length: int) -> Any:
    node = None
    for _ in range(length):
        node = JuliaStruct("Main.N", [1, node])
    return node


def test_long_chains_and_wide_graphs_are_compared_and_shown() -> None:
    assert chain(50_000) == chain(50_000)
    assert chain(50_000) != chain(50_001)
    assert len(repr(chain(50_000))) < 2_000
    wide = JuliaStruct("Main.N", [])
    for _ in range(30):
        wide = JuliaStruct("Main.N", [wide] * 10)
    assert len(repr(wide)) < 100_000
    assert wide == copy.deepcopy(wide)
    assert len(repr(JuliaStruct("Main.N", range(10**6)))) < 1_000
    assert repr(JuliaStruct("Main.N", range(10**6))).endswith("49, ...)")


@pytest.mark.parametrize(
    "parts",
    [
        (256, 1, 1, None, 5),
        (None, 1, 1, None, "x"),
        (256, "x", 1, None, "x"),
        (256, 1, 1, None, "\ud800"),
        (256, 1, "x", None, "x"),
    ],
    ids=str,
)
def test_a_large_float_of_anything_is_shown(parts: Any) -> None:
    """A file may hold other values in its places."""
    found = julia.BigFloat(*parts)
    assert repr(found) == str(found) == f"BigFloat({', '.join(map(repr, parts))})"


def test_a_half_filled_record_is_shown() -> None:
    empty = object.__new__(JuliaStruct)
    assert repr(empty) == "None(...)"
    with pytest.raises(AttributeError):
        empty.values  # noqa: B018
    with pytest.raises(AttributeError):
        empty.name  # noqa: B018
    empty.type = T("Main.N")
    assert repr(empty) == "Main.N(...)"


def test_records_compare_arrays() -> None:
    np = pytest.importorskip("numpy")
    one = JuliaStruct("Main.N", [np.array([1, 2])])
    assert one == JuliaStruct("Main.N", [np.array([1, 2])])
    assert one != JuliaStruct("Main.N", [np.array([1, 3])])
    assert one != JuliaStruct("Main.N", [np.array([1, 2, 3])])
    assert one != JuliaStruct("Main.N", [np.array([1.0, 2.0])])
    assert one != JuliaStruct("Main.N", [[1, 2]])


def test_values_of_primitive_types() -> None:
    word = Bits(T("Main.Word24"), b"\1\2\3")
    assert (int(word), word.data, hex(word)) == (0x030201, b"\1\2\3", "0x30201")
    assert word == Bits(T("Main.Word24"), b"\1\2\3") != Bits(T("Main.Other"), b"\1\2\3")
    assert len({word, Bits(T("Main.Word24"), b"\1\2\3")}) == 1


# --- copies of all of them ---

VALUES: list[Any] = [
    *(getattr(julia, f"{name}{bits}")(5) for name, bits, _ in INTS),
    *(
        Float16(0.1),
        Float32(0.1),
        Char("é"),
        Symbol("a"),
        SubString("hello", 1, 3),
        missing,
        SimpleVector((1, 2)),
    ),
    *(Complex(1, 2, T("Complex{Int64}")), Rational(3, 4, T("Rational{Int8}")), Period(3, "Day")),
    *(Dict({1: 2}, type=T("Dict{Int64,Int64}")), IdDict({1: 2}, type=T("IdDict{Any,Any}"))),
    *(Pairs([(1, 2)], type=T("Dict{Any,Any}")), Set(["b", "a"], type=T("Set{String}"))),
    *(NamedTuple((1, 2), ("a", "b"), T("NamedTuple{(:a,:b),Tuple{Int64,Int64}}")), Bits(T("Main.W"), b"a")),
    *(Ref(5), Some(5), Pair(1, 2), JuliaStruct("Main.N", [1, 2]), julia.LinRange(0.0, 1.0, 5)),
    *(julia.BigFloat(256, 1, 1, None, "\0" * 31 + "\udca0"), julia.StepRangeLen(0.0, 0.5, 3)),
]


@each("value", VALUES, ids=lambda value: type(value).__name__)
@each("way", ["copy", "deepcopy", "pickle"])
def test_values_are_copied_whole(value: Any, way: str) -> None:
    ways = {
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    }
    found = ways[way](value)
    assert type(found) is type(value)
    assert found == value
    assert repr(found) == repr(value)
    for attribute in ("type", "names", "re", "im", "string", "offset", "count", "unit"):
        if not callable(getattr(value, attribute, callable)):
            assert getattr(found, attribute) == getattr(value, attribute)
