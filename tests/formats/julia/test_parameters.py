"""Parameters of types that are values: each keeps what it is, down to its width and bits, however the file packs them."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdall import EncodeError, julia
from holdall.julia import Bits, Char, Dict, JuliaStruct, Symbol, Type
from tests.support import julia_tree
from tests.support.each import each
from tests.support.julia_registry import fresh
from tests.support.julia_same import same

T: Any = Type.parse


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


def datatype(name: str, *params: Any) -> dict[str, Any]:
    """As BSON.jl writes a type whose parameters are none, or types."""
    modules, _, last = name.rpartition(".")
    return {"tag": "datatype", "params": list(params), "name": [*modules.split("."), last]}


def array(of: Any, size: int, data: bytes) -> dict[str, Any]:
    return {"tag": "array", "type": of, "size": [size], "data": data}


def stored(params: Any) -> bytes:
    """A file with one value: a `Main.V` with these parameters."""
    return julia_tree.unparse({"value": {"tag": "datatype", "params": params, "name": ["Main", "V"]}})


P = datatype("Main.P")
INT, BYTE = datatype("Core.Int64"), datatype("Core.UInt8")
# What BSON.jl 0.3.9 stores as the parameters of a type, and what they are.
STORED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "bytes": (b"\5\6", (julia.UInt8(5), julia.UInt8(6))),
    "ints": (array(INT, 2, bytes([1, *[0] * 7, 2, *[0] * 7])), (1, 2)),
    "Int16": (array(datatype("Core.Int16"), 1, b"\5\0"), (julia.Int16(5),)),
    "Int128": (array(datatype("Core.Int128"), 1, b"\5" + bytes(15)), (julia.Int128(5),)),
    "UInt64": (array(datatype("Core.UInt64"), 1, b"\xff" * 8), (julia.UInt64(2**64 - 1),)),
    "Float32": (array(datatype("Core.Float32"), 1, b"\0\0\x80?"), (julia.Float32(1),)),
    "Float64": (array(datatype("Core.Float64"), 1, b"\0" * 7 + b"\x80"), (-0.0,)),
    "Bool": (array(datatype("Core.Bool"), 2, b"\1\0"), (True, False)),
    "Char": (array(datatype("Core.Char"), 1, b"\0\0\0c"), (Char("c"),)),
    "nothing": (array(datatype("Core.Nothing"), 1, b""), (None,)),
    "a pointer": (array(datatype("Core.Ptr", datatype("Core.Nothing")), 1, bytes(8)), (Bits(T("Ptr{Nothing}"), bytes(8)),)),
    "a tuple of bytes": (array(datatype("Core.Tuple", BYTE), 1, b"\5"), ((julia.UInt8(5),),)),
    "a tuple of tuples": (
        array(datatype("Core.Tuple", datatype("Core.Tuple", BYTE), datatype("Core.Int32")), 1, b"\1\0\0\0\2\0\0\0"),
        (((julia.UInt8(1),), julia.Int32(2)),),
    ),
    "an empty tuple": (array(datatype("Core.Tuple"), 1, b""), ((),)),
    "a struct of bits": (array(P, 1, bytes(16)), (Bits(T("Main.P"), bytes(16)),)),
    "two of them": (array(P, 2, bytes(32)), (Bits(T("Main.P"), bytes(16)),) * 2),
    "an instance without fields": (array(datatype("Main.Empty"), 1, b""), (JuliaStruct("Main.Empty", []),)),
    "a UUID": (array(datatype("Main.Base.UUID"), 1, b"\7" + bytes(15)), (uuid.UUID(int=7),)),
    "a date": (array(datatype("Dates.Date"), 1, b"\1" + bytes(7)), (datetime.date(1, 1, 1),)),
    "symbols": ([{"tag": "symbol", "name": "a"}, {"tag": "symbol", "name": "a b"}], (Symbol("a"), Symbol("a b"))),
    "a byte among others": ([INT, {"tag": "struct", "type": BYTE, "data": b"\5"}], (T("Int64"), julia.UInt8(5))),
    "a struct among others": ([INT, {"tag": "struct", "type": P, "data": [1.0, 2.0]}], (T("Int64"), JuliaStruct("Main.P", [1.0, 2.0]))),
    "a type of types": ([datatype("Main.V", INT)], (Type(("Main", "V"), (T("Int64"),)),)),
}  # fmt: skip


@each("name", STORED, within=fresh)
def test_they_are_loaded_as_they_are_and_written_as_they_came(name: str) -> None:
    params, expected = STORED[name]
    data = stored(params)
    found = julia.loads(data)["value"]
    same(list(found.params), list(expected))
    assert found == Type(("Main", "V"), expected)
    again = julia.dumps({"value": found})
    if expected != ((),):  # which is no array here, and the same to Julia
        assert again == data
    same(list(julia.loads(again)["value"].params), list(expected))
    # The second reader and writer say so, too.
    same(list(julia_tree.loads(data)["value"].params), list(expected))
    assert julia_tree.dumps({"value": found}) == data


@each("name", STORED, within=fresh)
def test_every_prefix_fails(name: str) -> None:
    data = stored(STORED[name][0])
    for stop in range(len(data)):
        with pytest.raises(julia_error()):
            julia.loads(data[:stop])


def julia_error() -> type[Exception]:
    import holdall

    return holdall.DecodeError


@pytest.mark.parametrize(
    "params",
    [
        array(datatype("Core.Int16"), 2, b"\5\0\0"),
        array(datatype("Core.Int16"), 1, b""),
        {**array(datatype("Core.Int16"), 1, b"\5\0"), "size": [1, 1]},
        array(datatype("Core.UInt8"), 1 << 62, b""),
        {"tag": "tuple", "data": [1]},
        {"a": 1},
        5,
    ],
)
def test_what_are_no_parameters_is_refused(params: Any) -> None:
    with pytest.raises(julia_error()):
        julia.loads(stored(params))


def test_instances_of_such_types() -> None:
    """A type is described with each of its instances, and may be shared by them."""
    for params in [
        (julia.UInt8(5),),
        (Bits(T("Main.P"), bytes(16)),),
        (1.5, Char("a")),
        ((julia.UInt8(1), 2),),
    ]:
        of = Type(("Main", "V"), params)
        mutable = Type(("Main", "M"), params, mutable=True)
        shared = JuliaStruct(mutable, [1])
        value = [JuliaStruct(of, [1]), JuliaStruct(of, [2]), shared, shared, JuliaStruct(mutable, [3]), of]
        found = julia.loads(julia.dumps({"value": value}))["value"]
        assert [item.type for item in found[:5]] == [of, of, mutable, mutable, mutable] and found[5] == of
        assert found[2] is found[3] and found[2] is not found[4]


NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
    st.sampled_from([julia.Int8, julia.Int16, julia.UInt8, julia.UInt16, julia.UInt32, julia.UInt64, julia.UInt128]).flatmap(
        lambda cls: st.integers(cls._LEAST, cls._MOST).map(cls)
    ),
    st.floats(width=32).map(julia.Float32),
    st.floats(width=16).map(julia.Float16),
    st.characters(exclude_categories=("Cs",)).map(Char),
    st.text(max_size=3).map(Symbol),
    st.none(),
    st.uuids(),
    st.dates(),
    st.builds(Bits, st.just(T("Main.P")), st.binary(min_size=16, max_size=16)),
    st.sampled_from([T("Int64"), T("Vector{Int64}"), T("Union{Int8,Missing}")]),
)  # fmt: skip
PARAMS = st.lists(
    st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4), max_size=4
)


@given(PARAMS)
@example([float("nan")])
def test_any_parameters_come_back(params: list[Any]) -> None:
    of = Type(("Main", "V"), tuple(params))
    data = julia.dumps({"value": of})
    found = julia.loads(data)["value"]
    assert found == of and hash(found) == hash(of)
    same(list(found.params), params)
    assert julia.dumps({"value": found}) == data
    # What is shown is read again, or says that it can't be.
    text = repr(of)
    assert text.startswith("<") or eval(text, {"Type": Type}) == of


DIFFERENT = ["1", "1.0", "1.0f0", "Float16(1)", "true", "0x01", "0x0001", "Int8(1)", "Int128(1)", "'1'", ":x", "nothing", "0.0", "-0.0", "NaN", "(1,)", "(0x01,)", "(1, 1)", "()", "Int64"]  # fmt: skip


def test_types_that_differ_in_a_width_are_two() -> None:
    types = [T(f"V{{{text}}}") for text in DIFFERENT]
    for at, one in enumerate(types):
        assert [one == other for other in types] == [at == place for place in range(len(types))], DIFFERENT[
            at
        ]
    # Of files of 32-bit Julia, where every Int is one.
    assert Type(("Main", "V"), (julia.Int32(1),)) == T("V{1}")
    found = {of: at for at, of in enumerate(types)}
    assert [found[T(f"V{{{text}}}")] for text in DIFFERENT] == list(range(len(types)))


def test_values_that_say_their_type_beside_it() -> None:
    def v(value: Any) -> Type:
        return Type(("Main", "V"), (value,))

    assert v(julia.Rational(1, 2, T("Rational{Int8}"))) != v(julia.Rational(1, 2, T("Rational{Int16}")))
    assert v(julia.Complex(1, 2, T("Complex{Int8}"))) != v(julia.Complex(1, 2, T("Complex{Int16}")))
    assert v(julia.Complex(1, 2**60)) != v(julia.Complex(1, 2**60 + 1))
    assert v(1j) != v(complex(-0.0, 1)) and v(Fraction(1, 2)) == v(Fraction(2, 4))
    assert v(julia.Period(1, "Day")) != v(julia.Period(24, "Hour"))


class Kind(julia.UInt8, enum.Enum):
    ONE = 1


def test_members_of_enumerations() -> None:
    julia.struct("Main.Kind", Kind)
    data = stored(array(datatype("Main.Kind"), 1, b"\1"))
    found = julia.loads(data)["value"]
    assert found.params == (Kind.ONE,) and julia.dumps({"value": found}) == data

    # Of an enumeration that nobody has mapped, Julia has none.
    class Other(enum.Enum):
        A = 1

    with pytest.raises(EncodeError, match="can't store `.*Other` for Julia"):
        julia.dumps({"value": Type(("Main", "V"), (Other.A,))})


def test_an_element_of_an_array_is_no_value_of_its_own() -> None:
    """Of what was packed in an array nobody knows whether it is a struct, which is stored field by field."""
    data = julia_tree.unparse({"value": {"tag": "struct", "type": datatype("Main.Base.Dict", P, INT), "data": [array(P, 1, bytes(16)), array(INT, 1, bytes(8))]}})  # fmt: skip
    table = julia.loads(data)["value"]
    (key,) = table
    assert key == Bits(T("Main.P"), bytes(16)) and julia.dumps({"value": table}) == data
    # A plain dict of such keys is the same table.
    assert julia.dumps({"value": dict(table)}) == data
    with pytest.raises(
        EncodeError,
        match="can't store a `P` that was in an array by itself, as its fields are not known: map",
    ):
        julia.dumps({"value": [key]})
    julia.dumps({"value": [Bits(key.type, key.data)]})

    class P_:
        x: float
        y: float

    julia.struct("Main.P", P_)
    again = julia.loads(julia.dumps({"value": [key]}))["value"][0]
    assert type(again) is P_ and (again.x, again.y) == (0.0, 0.0)


def test_a_table_keeps_the_widths_of_its_type() -> None:
    """There it is the type that says so, and keys are plain numbers."""
    value = Dict({1: 2.5}, type=T("Dict{UInt8,Float32}"))
    found = julia.loads(julia.dumps({"value": value}))["value"]
    assert [type(item) for pair in found.items() for item in pair] == [int, float]


def test_instances_without_values_of_a_type_that_has_bytes() -> None:
    """They are none of the type, whoever made them: each is stored as what it is, not as an array of no bytes."""
    for name in ("Dates.Time", "Main.P"):
        odd = JuliaStruct(T(name), [])
        described = Type(("Main", "V"), (odd, odd))
        same(julia.loads(julia.dumps({"value": described}))["value"], described)
