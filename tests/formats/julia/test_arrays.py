"""Julia's arrays as NumPy's, and back: which dtype, what is kept in its metadata, what lies how in memory."""

from __future__ import annotations

import datetime
import enum
import math
import struct as packing
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import holdall
from holdall import julia
from holdall.julia import Bits, JuliaStruct, Pair, Type, missing, struct
from holdall.julia import _host as host
from holdall.julia._layout import layout
from holdall.julia._lower import pack
from tests.support.each import each
from tests.support.julia_registry import fresh
from tests.support.julia_types import RGB, Fruit, Mixed, Point

np = pytest.importorskip("numpy")

T = Type.parse


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


def array(text: str, data: bytes, shape: tuple[int, ...], types: Any = None) -> Any:
    """As the native side makes it."""
    count = math.prod(shape)
    dtype, convert = host.array_of(T(text), len(data) // count if count else 0, types)
    if convert is not None:
        return convert(T(text), data, shape)
    return np.ndarray(shape, dtype, bytearray(data), order="F")


def back(value: Any) -> tuple[Any, ...]:
    how, *more = host.lower(value)
    return (how, *(bytes(part) if isinstance(part, memoryview) else part for part in more))


# --- types whose elements are numbers ---

PLAIN = {
    "Int8": "i1", "Int16": "<i2", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1", "UInt16": "<u2", "UInt32": "<u4", "UInt64": "<u8",
    "Float16": "<f2", "Float32": "<f4", "Float64": "<f8", "Bool": "?", "Complex{Float32}": "<c8", "Complex{Float64}": "<c16",
    "Dates.Day": "<m8[D]", "Dates.Nanosecond": "<m8[ns]", "Dates.Month": "<m8[M]", "Dates.Week": "<m8[W]",
}  # fmt: skip


@each("text", PLAIN, within=fresh)
def test_numbers_say_their_type_by_their_dtype(text: str) -> None:
    dtype, convert = host.array_of(T(text), np.dtype(PLAIN[text]).itemsize)
    assert (dtype, convert, dtype.metadata) == (np.dtype(PLAIN[text]), None, None)
    # Of an array without elements nothing else is known.
    assert host.array_of(T(text), 0)[0] == dtype
    found = np.ones(6, PLAIN[text]).reshape((2, 3), order="F")
    assert back(found) == ("array", T(text), (2, 3), found.tobytes(order="F"))
    assert back(found.astype(found.dtype.newbyteorder(">")))[1:] == back(found)[1:]


def test_an_older_path_is_kept() -> None:
    old = Type(("Main", "Core", "Float32"))
    dtype, _ = host.array_of(old, 4)
    assert dtype == np.dtype("<f4")
    assert dtype.metadata == {"julia": old}
    assert back(np.zeros(1, dtype))[1].path == ("Main", "Core", "Float32")


def test_the_first_index_is_fastest() -> None:
    rows = np.array([[1, 2, 3], [4, 5, 6]])
    for found in (rows, np.asfortranarray(rows), rows[::-1][::-1], np.repeat(rows, 2, axis=1)[:, ::2]):
        assert back(found) == ("array", T("Int64"), (2, 3), np.array([1, 4, 2, 5, 3, 6]).tobytes())
    assert back(np.array(3.5)) == ("array", T("Float64"), (), packing.pack("<d", 3.5))
    assert back(np.zeros((0, 3))) == ("array", T("Float64"), (0, 3), b"")


def test_bytes_are_not_copied_where_they_lie_so_already() -> None:
    for found in (np.arange(1000), np.asfortranarray(np.ones((10, 20))), np.zeros(8, "<c16")):
        view = host.lower(found)[3]
        assert np.shares_memory(np.frombuffer(view, np.uint8), found)
        assert view.contiguous
        assert view.nbytes == found.nbytes


def test_vectors_of_bytes_are_bytes() -> None:
    assert back(np.array([1, 2], np.uint8)) == ("bytes", b"\1\2")
    assert back(np.array([[1, 2]], np.uint8)) == ("array", T("UInt8"), (1, 2), b"\1\2")
    assert back(np.array([1, 2], np.int8)) == ("array", T("Int8"), (2,), b"\1\2")


# --- types that NumPy has another form for ---


def test_dates() -> None:
    days = np.array([738945, 1, -5], "<i8").tobytes()
    found = array("Dates.Date", days, (3,))
    assert found.dtype == np.dtype("<M8[D]")
    assert found.tolist()[:2] == [datetime.date(2024, 2, 29), datetime.date(1, 1, 1)]
    assert back(found) == ("array", T("Dates.Date"), (3,), days)
    millis = np.array([63844895655678], "<i8").tobytes()
    moments = array("Dates.DateTime", millis, (1,))
    assert moments.tolist() == [datetime.datetime(2024, 2, 29, 13, 14, 15, 678000)]
    assert back(moments) == ("array", T("Dates.DateTime"), (1,), millis)
    times = array("Dates.Time", np.array([3723 * 10**9], "<i8").tobytes(), (1,))
    assert times.dtype == np.dtype("<m8[ns]")
    assert back(times) == ("array", T("Dates.Time"), (1,), np.array([3723 * 10**9], "<i8").tobytes())


def test_dates_that_numpy_has_not_stay_counts() -> None:
    data = packing.pack("<qq", -(2**63), 5)
    for text in ("Dates.Date", "Dates.DateTime"):
        found = array(text, data, (2,))
        assert found.dtype == np.dtype("<i8")
        assert found.dtype.metadata == {"julia": T(text)}
        assert back(found) == ("array", T(text), (2,), data)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("M", "Dates.Date"), ("W", "Dates.Date"), ("h", "Dates.DateTime"), ("s", "Dates.DateTime")],
)
def test_dates_of_other_units(unit: str, expected: str) -> None:
    found = host.lower(np.array(["2024-02-01"], f"M8[{unit}]"))
    assert found[1] == T(expected)
    again = array(expected, bytes(found[3]), (1,))
    assert again[0] == np.array("2024-02-01", f"M8[{unit}]")


def test_characters() -> None:
    text = "aé∑🎈\0"
    data = b"".join(julia.Char(char)._bytes() for char in text)
    found = array("Char", data, (5,))
    assert found.dtype == np.dtype("<U1")
    assert found.dtype.metadata == {"julia": T("Char")}
    assert found.tolist() == ["a", "é", "∑", "🎈", ""]
    assert back(found) == ("array", T("Char"), (5,), data)
    for malformed in (
        b"\0\0\x82\xe2",
        b"\0\0\0\xff",
        b"\0\0\x80\xc0",
        b"\0\x80\xa0\xed",
        b"\0\0aa",
        b"\x80\x80\x90\xf4",
    ):
        kept = array("Char", malformed, (1,))
        assert kept.dtype == np.dtype("<u4")
        assert back(kept) == ("array", T("Char"), (1,), malformed)


def test_every_character_is_read_as_python_has_it() -> None:
    codes = [code for code in range(0, 0x110000, 61) if not 0xD800 <= code < 0xE000]
    data = b"".join(chr(code).encode().ljust(4, b"\0")[::-1] for code in codes)
    found = array("Char", data, (len(codes),))
    assert found.view("<u4").tolist() == codes
    assert bytes(host.lower(found)[3]) == data


def test_large_ints_are_objects() -> None:
    for text, values in (("Int128", [1, -1, 2**100]), ("UInt128", [2**127])):
        data = b"".join((value % 2**128).to_bytes(16, "little") for value in values)
        found = array(text, data, (len(values),))
        assert (found.dtype, found.dtype.metadata["julia"]) == (np.dtype("O"), T(text))
        assert found.tolist() == values
        assert back(found) == ("array", T(text), (len(values),), data)
    found[0] = -1
    with pytest.raises(holdall.EncodeError) as caught:
        host.lower(found)
    assert str(caught.value) == "can't store as UInt128 what is of another type, or beyond its bounds"


def test_members_of_enumerations_are_objects() -> None:
    struct("Main.Fruit", Fruit)
    data = packing.pack("<iii", 2, 7, 3)
    found = array("Main.Fruit", data, (3,))
    assert found.tolist() == [Fruit.banana, Fruit.kiwi, Bits(T("Main.Fruit"), packing.pack("<i", 3))]
    assert back(found) == ("array", T("Main.Fruit"), (3,), data)


def test_elements_without_bytes() -> None:
    assert array("Nothing", b"", (2, 2)).tolist() == [[None, None], [None, None]]
    assert array("Missing", b"", (2,)).tolist() == [missing, missing]
    empty = array("Main.Empty", b"", (2,))
    assert empty.tolist() == [JuliaStruct("Main.Empty", [])] * 2
    assert back(empty) == ("array", T("Main.Empty"), (2,), b"")
    assert back(array("Nothing", b"", (2, 2))) == ("array", T("Nothing"), (2, 2), b"")
    # An array of a struct of unknown size, without elements.
    nobody = array("Main.Point", b"", (0, 3))
    assert nobody.shape == (0, 3)
    assert back(nobody) == ("array", T("Main.Point"), (0, 3), b"")
    for found in (empty, array("Nothing", b"", (2,))):
        found[0] = 3
        with pytest.raises(holdall.EncodeError, match="what is of another type"):
            host.lower(found)


# --- structs ---


@dataclass(slots=True)
class Line:
    a: Point
    b: Point
    colour: RGB


@dataclass
class Various:
    number: complex
    day: datetime.date
    key: uuid.UUID
    fruit: Fruit
    pair: tuple[int, bool]
    none: None
    small: np.float32


STRUCTS = [
    ("Complex{Int64}", [("re", "<i8"), ("im", "<i8")], None),
    ("Complex{Float16}", [("re", "<f2"), ("im", "<f2")], None),
    ("Rational{Int32}", [("num", "<i4"), ("den", "<i4")], None),
    ("Pair{Int64,Float32}", {"names": ["first", "second"], "formats": ["<i8", "<f4"], "offsets": [0, 8], "itemsize": 16}, None),
    ("Tuple{Bool,Int16}", {"names": ["f0", "f1"], "formats": ["?", "<i2"], "offsets": [0, 2], "itemsize": 4}, None),
    ("NamedTuple{(:a,:b),Tuple{Int8,Int64}}", {"names": ["a", "b"], "formats": ["i1", "<i8"], "offsets": [0, 8], "itemsize": 16}, None),
    ("UnitRange{Int64}", [("start", "<i8"), ("stop", "<i8")], None),
    ("Main.Point", [("x", "<f8"), ("y", "<f8")], Point),
    ("Main.Mixed", {"names": ["a", "b", "c"], "formats": ["i1", "<f8", "?"], "offsets": [0, 8, 16], "itemsize": 24}, Mixed),
    ("Main.Line", {"names": ["a", "b", "colour"], "formats": [[("x", "<f8"), ("y", "<f8")], [("x", "<f8"), ("y", "<f8")], [("r", "u1"), ("g", "u1"), ("b", "u1")]], "offsets": [0, 16, 32], "itemsize": 40}, {"Main.Line": Line, "Main.Point": Point, "Main.RGB": RGB}),
]  # fmt: skip


def mark_fields(kept: Any, dtype: Any) -> None:
    """Set what belongs to a field."""
    for inner, start, *_ in (dtype.fields or {}).values():
        mark_fields(kept[start : start + inner.itemsize], inner)
    if not dtype.fields:
        kept[:] = True


@each("order", ["C", "F"])
@each("typed", [False, True])
def test_nothing_of_what_memory_held_is_written_between_fields(typed: bool, order: str) -> None:
    """Equal arrays have the same bytes, whatever lies in their gaps, and whoever copies them."""
    inner = np.dtype([("a", "u1"), ("b", "<i4")], align=True)
    dtype = np.dtype([("x", "u1"), ("y", "<f8"), ("z", inner)], align=True)
    if typed:
        loaded = julia.loads(julia.dumps({"a": np.zeros(1, dtype)}))["a"]
        dtype = loaded.dtype
        assert dtype.metadata
    written = set()
    for held in (0, 0xAB, 0xFF):
        array = np.frombuffer(bytearray([held]) * (6 * dtype.itemsize), dtype).reshape((2, 3), order=order)
        array["x"], array["y"], array["z"]["a"], array["z"]["b"] = 1, 2.5, 3, [[4, 5, 6], [7, 8, 9]]
        written |= {julia.dumps({"a": array}), julia.dumps({"a": array[:, ::-1][:, ::-1]})}
    (data,) = written
    assert (julia.loads(data)["a"] == array).all()


@pytest.mark.parametrize(("text", "expected", "types"), STRUCTS, ids=[text for text, _, _ in STRUCTS])
def test_structs_lie_as_in_c(text: str, expected: Any, types: Any) -> None:
    expected = np.dtype(expected)
    dtype, convert = host.array_of(T(text), expected.itemsize, types)
    assert (dtype, convert) == (expected, None)
    assert dtype.itemsize == expected.itemsize
    assert dtype.metadata == {"julia": T(text)}
    data = (
        bytes(range(expected.itemsize * 2)) if expected.itemsize * 2 < 256 else bytes(2 * expected.itemsize)
    )
    found = np.ndarray((2,), dtype, data)
    kept = np.zeros(dtype.itemsize, bool)
    mark_fields(kept, dtype)
    assert back(found) == ("array", T(text), (2,), bytes(np.frombuffer(data, np.uint8) * np.tile(kept, 2)))
    # A view or a copy of a part is of the same type.
    assert back(found[1:].copy())[1] == T(text)


def test_a_struct_of_another_size_than_its_class_stays_bytes() -> None:
    for size in (8, 12, 17):
        dtype, _ = host.array_of(T("Main.Point"), size, Point)
        assert (dtype, dtype.metadata) == (np.dtype(f"V{size}"), {"julia": T("Main.Point")})
    dtype, _ = host.array_of(T("Main.Unknown"), 5)
    assert back(np.ndarray((2,), dtype, bytes(range(10)))) == (
        "array",
        T("Main.Unknown"),
        (2,),
        bytes(range(10)),
    )
    # A union, or what else a message may say.
    dtype, _ = host.array_of(T("Union{Int8,Int16}"), 4)
    assert dtype == np.dtype("V4")


def test_layouts_of_many_kinds() -> None:
    struct("Main.Fruit", Fruit)
    struct("Main.Various", Various)
    found = layout(T("Main.Various"))
    assert found is not None
    assert [(name, start, field.size) for name, start, field in found.fields] == [
        ("number", 0, 16), ("day", 16, 8), ("key", 24, 16), ("fruit", 40, 4), ("pair", 48, 16), ("none", 64, 0), ("small", 64, 4)
    ]  # fmt: skip
    assert (found.size, found.align) == (72, 8)
    for text in (
        "String",
        "Any",
        "Array{Int64,1}",
        "Tuple{String}",
        "Main.Unknown",
        "Union{Int64,Missing}",
        "Complex",
        "Number",
    ):
        assert layout(T(text)) is None, text
    deep = T("Int64")
    for _ in range(100):
        deep = Type(("Core", "Tuple"), (deep,))
    assert layout(deep) is None


def test_classes_whose_annotations_say_nothing_stay_bytes() -> None:
    @dataclass
    class Wrong:
        a: NoSuchName  # noqa: F821
        b: int

    @dataclass
    class Text:
        a: str

    class Bare:
        __slots__ = ("a",)

    for cls in (Wrong, Text, Bare):
        assert host.array_of(T("Main.X"), 8, {"Main.X": cls})[0] == np.dtype("V8")


ITEMS: list[tuple[str, list[Any]]] = [
    ("Int64", [1, -1]), ("UInt64", [2**64 - 1]), ("Int8", [-3]), ("Float32", [1.5]), ("Float16", [0.5]), ("Bool", [True, False]),
    ("Char", [julia.Char("é")]), ("Int128", [-(2**100)]), ("Nothing", [None, None]), ("Missing", [missing]),
    ("Complex{Float64}", [1 + 2j]), ("Rational{Int64}", [Fraction(1, 2)]), ("Tuple{Int64,Tuple{Bool,Int8}}", [(1, (True, 2))]),
    ("Dates.Date", [datetime.date(2024, 2, 29)]), ("Dates.DateTime", [datetime.datetime(2024, 2, 29, 1)]),
    ("Dates.Time", [datetime.time(1, 2, 3)]), ("Dates.Day", [julia.Period(3, "Day")]), ("UnitRange{Int64}", [range(1, 5)]),
    ("UUID", [uuid.UUID(int=5)]), ("Pair{Int64,Bool}", [Pair(1, True)]), ("Main.Point", [Point(1.0, 2.0)]),
    ("NamedTuple{(:a,),Tuple{Int64}}", [julia.NamedTuple((1,), ("a",))]), ("Main.Fruit", [Fruit.kiwi]),
]  # fmt: skip


@each(("text", "values"), ITEMS, ids=[text for text, _ in ITEMS], within=fresh)
def test_values_one_by_one_are_packed_and_read(text: str, values: list[Any]) -> None:
    struct("Main.Point", Point)
    struct("Main.Fruit", Fruit)
    laid = layout(T(text))
    assert laid is not None
    data = b"".join(pack(laid, value) for value in values)
    assert len(data) == laid.size * len(values)
    found = host.items(T(text), data, len(values))
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_values_of_unknown_types_are_bits() -> None:
    found = host.items(T("Main.Unknown"), b"abcd", 2)
    assert found == [Bits(T("Main.Unknown"), b"ab"), Bits(T("Main.Unknown"), b"cd")]
    assert host.items(T("Main.Empty"), b"", 2) == [JuliaStruct("Main.Empty", [])] * 2
    assert host.items(T("Main.Empty"), b"", 0) == []


# --- arrays of all else ---


def test_arrays_of_objects_keep_their_type_and_order() -> None:
    found = np.empty((2, 2), host.boxed_dtype(T("Real")), order="F")
    found[0, 1] = 5
    assert found.dtype.metadata == {"julia": T("Real")}
    assert back(found) == ("boxed", T("Real"), (2, 2), [None, None, 5, None])
    plain = np.array([[1, "a"], [None, [2]]], dtype=object)
    assert back(plain) == ("boxed", T("Any"), (2, 2), [1, None, "a", [2]])
    # A vector is a list, as BSON.jl has it.
    assert back(plain[0]) == ("value", [1, "a"])
    inner = np.empty(1, object)
    inner[0] = np.array(5)
    assert host.lower(inner)[1][0] is inner[0]


def test_text() -> None:
    assert back(np.array(["a", "bc"])) == ("value", ["a", "bc"])
    assert back(np.array([["a", "bc"], ["d", ""]])) == ("boxed", T("String"), (2, 2), ["a", "d", "bc", ""])
    assert set(map(type, host.lower(np.array(["a", "bc"]))[1])) == {str}


def test_structured_arrays_of_a_programs_own_are_named_tuples() -> None:
    found = np.array([(1, 2.5)], dtype=[("a", "i1"), ("b", "<f8")])
    kind = T("NamedTuple{(:a,:b),Tuple{Int8,Float64}}")
    assert back(found) == ("array", kind, (1,), b"\1" + bytes(7) + packing.pack("<d", 2.5))
    swapped = found.astype([("a", ">i4"), ("b", ">f4")])
    assert back(swapped)[1:] == (
        T("NamedTuple{(:a,:b),Tuple{Int32,Float32}}"),
        (1,),
        packing.pack("<if", 1, 2.5),
    )


REFUSED = [
    ("np.zeros(1, 'V3')", "can't store an array of dtype `void24`: use another, or say in its metadata what it is in Julia, as in `np.dtype(..., metadata={\"julia\": Type.parse(\"Main.Foo\")})`"),
    ("np.zeros(1, np.longdouble)", "can't store an array of dtype `"),
    ("np.zeros(1, 'S3')", "can't store an array of dtype `bytes24`"),
    ("np.array(['2020-01-01'], 'M8[us]')", "can't store datetime64[us]: Julia's DateTime has milliseconds, `.astype(\"M8[ms]\")` cuts it off"),
    ("np.array(['NaT'], 'M8[D]')", "can't store NaT: Julia has no such time; use an array of objects with `missing` in it"),
    ("np.array([1], 'm8[fs]')", "can't store timedelta64 of that unit: `.astype(\"m8[ns]\")` has one that Julia has"),
    ("np.array(['NaT'], 'm8[s]')", "can't store NaT"),
    ("np.ma.array([1], mask=[True])", "can't store a masked array: fill it, or use an array of objects with `missing` in it"),
    ("np.zeros(1, [('a', 'O'), ('b', 'i8')])", "can't store an array of NamedTuple{(:a, :b), Tuple{Any, Int64}}: its elements are no plain numbers"),
    ("np.zeros(1, [('a', 'i8', (2,))])", "can't store an array of dtype `"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_julia_has_not_is_refused_with_a_remedy(text: str, expected: str) -> None:
    with pytest.raises(holdall.EncodeError) as caught:
        host.lower(eval(text))
    assert str(caught.value).startswith(expected)


# --- bits ---


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 65, 200])
def test_bit_arrays(count: int) -> None:
    bits = np.arange(count) % 3 == 0
    array = julia.BitArray(bits)
    assert isinstance(array, np.ndarray)
    how, type_, (chunks, length, dims) = host.lower(array)
    assert (how, type_, length, dims) == ("struct", T("BitArray{1}"), count, (0,))
    assert (chunks.dtype, len(chunks)) == (np.dtype("<u8"), -(-count // 64))
    make = host.resolve(type_)[1]
    found = make(type_, [chunks, length, (-7,)])
    assert type(found) is julia.BitArray
    assert found.tolist() == bits.tolist()
    assert host.lower(found)[2][2] == (-7,)
    # What was in memory there is the whole array's alone.
    assert host.lower(found[:-1] if count > 1 else julia.BitArray([True]))[2][2] == (0,)


def test_bit_matrices() -> None:
    rows = np.array([[True, False, False], [False, True, True]])
    _, type_, values = host.lower(julia.BitArray(rows))
    assert (type_, values[1:]) == (T("BitArray{2}"), [6, (2, 3)])
    assert values[0].tolist() == [0b101001]
    found = host.resolve(type_)[1](type_, values)
    assert (found == rows).all()
    assert found.flags.f_contiguous
    assert isinstance(found.copy(), julia.BitArray)


def test_what_is_no_bit_array_is_a_record() -> None:
    chunks = np.array([5], "<u8")
    make = host.resolve(T("BitVector"))[1]
    for type_, values in (
        ("BitVector", [chunks, 65, (0,)]),
        ("BitVector", [chunks, -1, (0,)]),
        ("BitVector", [chunks, 0, (0,)]),
        ("BitVector", [chunks.astype("<i8"), 3, (0,)]),
        ("BitVector", [chunks, 3, (0, 0)]),
        ("BitMatrix", [chunks, 3, (2, 2)]),
        ("BitMatrix", [chunks, 3, (-1, -3)]),
        ("BitMatrix", [chunks, 3, (3,)]),
        ("BitVector", [chunks, 3]),
        ("BitVector", [chunks, 3, [0]]),
        ("BitVector", [chunks.reshape(1, 1), 3, (0,)]),
    ):
        assert make(T(type_), values) == JuliaStruct(type_, values)


def test_without_numpy_only_arrays_are_refused() -> None:
    code = """
import sys
sys.modules["numpy"] = None
import holdall.julia as julia
from holdall.julia import _host as host
T = julia.Type.parse
assert host.lower({1: 2})[1] == T("Dict{Int64,Int64}")
assert host.items(T("Int64"), bytes(8), 1) == [0]
assert list(julia.LinRange(0.0, 1.0, 3)) == [0.0, 0.5, 1.0]
for ask in (lambda: host.array_of(T("Int64"), 8), lambda: julia.BitArray):
    try:
        ask()
    except ValueError as error:
        print(type(error).__name__, error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "HoldallError arrays need NumPy: `pip install holdall[numpy]`\n" * 2


class Colour(julia.UInt8, enum.Enum):
    red = 200


def test_enumerations_of_another_width() -> None:
    struct("Main.Colour", Colour)
    found = array("Main.Colour", b"\xc8", (1,))
    assert found.tolist() == [Colour.red]
    assert back(found) == ("array", T("Main.Colour"), (1,), b"\xc8")


# --- what has no dtype of its own ---


@pytest.mark.parametrize("shape", [(3,), (2, 2), (2, 1, 3), (), (0,), (2, 0)])
def test_uuids(shape: tuple[int, ...]) -> None:
    ids = [uuid.UUID(int=at << 90 | at) for at in range(math.prod(shape))]
    flat = np.empty(len(ids), np.dtype("O", metadata={"julia": T("UUID")}))
    flat[:] = ids
    value = flat.reshape(shape, order="F")
    data = julia.dumps({"value": value})
    assert julia.parse(data)["value"]["data"] == b"".join(each.int.to_bytes(16, "little") for each in ids)
    found = julia.loads(data)["value"]
    assert found.shape == shape and found.dtype.kind == "O" and found.dtype.metadata["julia"] == T("UUID")
    assert found.tolist() == value.tolist() and (shape == () or found.flags.f_contiguous)
    assert julia.dumps({"value": found}) == data
    if len(shape) == 1:
        assert julia.loads(data, type=dict[str, list[uuid.UUID]]) == {"value": ids}


# Types whose values hold nothing: BSON.jl stores how many there are.
NOTHINGS = {
    "Tuple{}": (),
    "Nothing": None,
    "Missing": missing,
    "NamedTuple{(),Tuple{}}": julia.NamedTuple((), (), T("NamedTuple{(),Tuple{}}")),
    "Tuple{Tuple{},Nothing}": ((), None),
    "Val{0x05}": JuliaStruct("Val{0x05}", []),
    "Main.Empty": JuliaStruct("Main.Empty", []),
}


@each("text", NOTHINGS)
@each("shape", [(2,), (2, 3), (), (0,)], within=fresh)
def test_arrays_of_what_holds_nothing(text: str, shape: tuple[int, ...]) -> None:
    of: Any = T(text)
    described = julia.parse(julia.dumps({"value": of}))["value"]
    from tests.support import julia_tree

    data = julia_tree.unparse(
        {"value": {"tag": "array", "type": described, "size": list(shape), "data": b""}}
    )
    found = julia.loads(data)["value"]
    assert found.shape == shape
    assert all(value == NOTHINGS[text] and type(value) is type(NOTHINGS[text]) for value in found.ravel())
    assert julia.dumps({"value": found}) == data


ADJOINTS = {
    "ints": ("Complex{Int64}", [(1, 2), (3, 0)], [[1 - 2j], [3]], "c16"),
    "small ints": ("Complex{Int8}", [(1, -128), (3, 1)], [[1 + 128j], [3 - 1j]], "c16"),
    "unsigned ints": ("Complex{UInt8}", [(1, 2), (255, 255)], [[1 - 2j], [255 - 255j]], "c16"),
    "bools": ("Complex{Bool}", [(True, False), (False, True)], [[1], [-1j]], "c16"),
    "halves": ("Complex{Float16}", [(1.5, 2.5), (-1.0, 0.0)], [[1.5 - 2.5j], [-1]], "c8"),
}


@pytest.mark.parametrize("name", ADJOINTS)
def test_an_adjoint_of_complex_numbers_that_numpy_has_not(name: str) -> None:
    text, parts, expected, dtype = ADJOINTS[name]
    laid: Any = layout(T(text))
    data = b"".join(pack(laid, julia.Complex(*pair)) for pair in parts)
    parent = array(text, data, (1, 2))
    found = np.asarray(julia.Adjoint(parent))
    assert found.dtype == dtype and found.shape == (2, 1) and found.tolist() == expected
    # The array itself stays what it is.
    assert parent.dtype.names == ("re", "im")
    assert julia.Adjoint(parent)[1, 0] == expected[1][0]


def test_an_adjoint_of_other_arrays() -> None:
    assert np.asarray(julia.Adjoint(np.array([[1, 2], [3, 4]]))).tolist() == [[1, 3], [2, 4]]
    assert np.asarray(julia.Adjoint(np.array([True, False]))).tolist() == [[True, False]]
    rational = Fraction(1, 2)
    laid: Any = layout(T("Complex{Rational{Int64}}"))
    assert laid.size == 32
    data = packing.pack("<4q", 1, 2, 3, 1)
    found = np.asarray(julia.Adjoint(array("Complex{Rational{Int64}}", data, (1,))))
    assert found["im"]["num"].tolist() == [[-3]] and found["re"]["num"].tolist() == [[1]]
    nested = np.empty(2, object)
    nested[:] = [np.array([1j, 2]), julia.Complex(julia.Int8(1), julia.Int8(-128))]
    found = np.asarray(julia.Adjoint(nested))
    assert (
        found[0, 0].tolist() == [[-1j, 2]] and found[0, 1].im == -128 and type(found[0, 1].im) is julia.Int8
    )
    assert np.asarray(julia.Adjoint(np.array([rational, "x"], object))).tolist() == [[rational, "x"]]
    wide = array("Complex{Int128}", bytes(32), (1,))
    with pytest.raises(
        TypeError, match=r"NumPy can't compute with Complex{Int128}: `.parent` has the numbers"
    ):
        np.asarray(julia.Adjoint(wide))
