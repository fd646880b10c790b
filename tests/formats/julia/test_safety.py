"""Hostile files: every prefix, shapes and references that lie, types within types, and bounds. Counts stay level."""

from __future__ import annotations

import gc
import random
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import bson, julia
from tests.support import extent
from tests.support.each import each
from tests.support.julia_messages import (
    ANY,
    BOOL,
    FLOAT64,
    FOO,
    INT64,
    NOTHING,
    STRING,
    UINT8,
    Tree,
    array,
    backref,
    bits,
    datatype,
    dict_of,
    long,
    message,
    struct,
    symbol,
    tuple_of,
    unionall,
)

np = pytest.importorskip("numpy")

TYPE_VAR = struct(datatype("Core", "TypeVar"), symbol("T"), {"tag": "jl_bottom_type"}, ANY)
CHAR = datatype("Core", "Char")
DATE = datatype("Dates", "Date")


@julia.struct("Main.Safety.Node", mutable=True)
@dataclass(slots=True, eq=False)
class Node:
    name: Any
    next: Any = None


@julia.struct("Main.Safety.Open")
@dataclass
class Open:
    a: Any
    b: Any


def ring() -> Node:
    made = Node("a")
    made.next = [made, {"node": made}, (made,)]
    return made


def sample() -> dict[str, Any]:
    """Of everything one."""
    shared = [1.5, "x"]
    return {
        "plain": [None, True, 7, -1.5, "naïve ∑ 🎈", {"k": []}],
        "numbers": [julia.Int8(-8), julia.UInt64(2**64 - 1), julia.Int128(-1), julia.Float16(1.5), julia.Float32(0.1)],
        "text": [julia.Char("é"), julia.Symbol("s"), julia.SubString("hello", 1, 3)],
        "arrays": [np.arange(6, dtype="f4").reshape(2, 3), np.array(2.5), np.zeros((0, 2)), b"\1\2", np.array(["a", "é"])],
        "objects": np.array([[1, None], ["x", 2.5]], object),
        "dates": np.array(["2024-02-29"], "M8[D]"),
        "bits": julia.BitArray(np.array([True, False, True])),
        "shared": [shared, shared, (shared,)],
        "ring": ring(),
        "open": Open(1, [2]),
        "record": julia.JuliaStruct("Main.Foo{Int64,:a,(1,true)}", [1, "x"]),
        "tables": [{1: "one", 2: "two"}, {(1, 2): [3]}, {1, 2}, julia.IdDict({"a": 1}), julia.Pairs([([1], 2)])],
        "named": julia.NamedTuple.of(a=1, b=(2,)),
        "types": [julia.Type.parse("Dict{String,Vector{Float32}}"), julia.BOTTOM, julia.Module(("Main", "Lab"))],
        "union": [julia.Union(julia.Type.parse("Int64"), julia.Type.parse("Missing")), julia.missing],
        "where": julia.UnionAll(var := julia.TypeVar("T"), julia.Type(("Core", "Array"), (var, 1))),
        "ranges": [range(1, 6), range(0, 10, 3), julia.StepRangeLen(0.0, 0.5, 3)],
        "boxes": [julia.Ref(1), julia.Some(None), julia.Pair(1, 2)],
        "expr": julia.JuliaStruct("Expr", [julia.Symbol("call"), [julia.Symbol("+"), 1]]),
    }  # fmt: skip


FUNCTION = {
    "tag": "struct",
    "type": {
        "tag": "jl_anonymous",
        "params": [INT64],
        "typename": struct(
            datatype("Core", "TypeName"), "1.5.3", symbol("#1#2"), {"tag": "svec", "data": [symbol("y")]}
        ),
    },
    "data": [long(5)],
}
MESSAGES = {
    "everything": julia.dumps(sample()),
    "nothing": julia.dumps({}),
    "plain": julia.dumps({"a": 1}),
    "ring": julia.dumps({"a": ring(), "b": ring()}),
    "closure": message(FUNCTION),
    "references first": bson.dumps({"_backrefs": [[1.5]], "a": backref(1)}),
    "another order": bson.dumps({"a": {"data": [long(1)], "type": {"name": ["Main", "Foo"], "tag": "datatype"}, "tag": "struct"}}),
}  # fmt: skip


def test_the_messages_are_sound() -> None:
    for data in MESSAGES.values():
        found = julia.loads(data)
        again = julia.dumps(found)
        assert julia.dumps(julia.loads(again)) == again
        repr(julia.parse(data))
    assert julia.dumps(julia.loads(MESSAGES["everything"])) == MESSAGES["everything"]


@pytest.mark.damage
@pytest.mark.parametrize("name", MESSAGES)
def test_every_prefix(name: str) -> None:
    data = MESSAGES[name]
    for end in extent.sample(range(len(data)), 300):
        with pytest.raises(holdall.DecodeError):
            julia.loads(data[:end])
        if end % 7 == 0:
            with pytest.raises(holdall.DecodeError):
                julia.load(data[:end], mmap=True)
            with pytest.raises(holdall.DecodeError):
                julia.open(data[:end]).load()
            with pytest.raises(holdall.DecodeError):
                julia.parse(data[:end])
        # With a length that fits it is malformed, or another document.
        if end > 5:
            mended = end.to_bytes(4, "little") + data[4 : end - 1] + b"\0"
            for door in (julia.loads, julia.parse, lambda data: julia.open(data).load()):
                try:
                    door(mended)
                except holdall.DecodeError as error:
                    assert 0 <= error.offset <= end


def test_cut_off_says_so() -> None:
    for end in (0, 1, 4, len(MESSAGES["plain"]) - 1):
        with pytest.raises(holdall.TruncatedError):
            julia.loads(MESSAGES["plain"][:end])
    with pytest.raises(holdall.DecodeError, match="left|trailing|behind|beyond"):
        julia.loads(MESSAGES["plain"] + b"\0")


@pytest.mark.parametrize("name", MESSAGES)
def test_damage(name: str) -> None:
    """Whatever is changed: an answer or our errors."""
    rng = random.Random(name)
    data = MESSAGES[name]
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 3))):
            changed[rng.randrange(len(changed))] = rng.choice(
                (0, 1, 2, 3, 4, 5, 16, 18, 127, 255, rng.randrange(256))
            )
        for door in (julia.loads, julia.parse, lambda data: julia.load(data, mmap=True)):
            try:
                found = door(bytes(changed))
            except holdall.DecodeError:
                continue
            try:
                julia.dumps(found)
            except holdall.EncodeError:
                continue


# --- what does not fit ---
LACKS = "a tagged document that lacks one of its parts"
BAD = "a tagged document with a part of another type than it has"
WRONG = "a value whose bytes or fields do not fit its type"
SIZE = "an array whose data do not fit its shape"
SHAPE = "expected the lengths of an array's dimensions, found another value"
PATH = "expected the names of a type or module, found another value"
ITSELF = "an object that is made of its parts is one of them itself"

MALFORMED: list[tuple[Any, str]] = [
    ({"tag": "struct"}, LACKS),
    ({"tag": "struct", "type": FOO}, LACKS),
    ({"tag": "struct", "type": 5.0, "data": []}, BAD),
    ({"tag": "struct", "type": FOO, "data": 5.0}, BAD),
    ({"tag": "array", "type": INT64, "size": [long(1)]}, LACKS),
    ({"tag": "array", "type": INT64, "size": 5.0, "data": b""}, BAD),
    ({"tag": "array", "type": INT64, "size": [1.5], "data": b""}, SHAPE),
    ({"tag": "array", "type": INT64, "size": [long(-1)], "data": b""}, SHAPE),
    ({"tag": "array", "type": INT64, "size": [long(1)], "data": "text"}, BAD),
    ({"tag": "tuple"}, LACKS),
    ({"tag": "tuple", "data": 5.0}, BAD),
    ({"tag": "svec", "data": b""}, BAD),
    ({"tag": "symbol"}, LACKS),
    ({"tag": "symbol", "name": 5.0}, BAD),
    ({"tag": "datatype", "name": "Foo", "params": []}, BAD),
    ({"tag": "datatype", "name": [5.0], "params": []}, PATH),
    ({"tag": "datatype", "params": []}, LACKS),
    ({"tag": "unionall", "var": TYPE_VAR}, LACKS),
    ({"tag": "jl_anonymous", "params": []}, LACKS),
    ({"tag": "ref", "path": 5.0}, BAD),
    ({"tag": "ref", "path": [5.0]}, PATH),
    ({"tag": "backref"}, LACKS),
    (backref(0), BAD),
    (backref(-1), BAD),
    ({"tag": "backref", "ref": 1.5}, BAD),
    (array(INT64, (2,), bytes(15)), SIZE),
    (array(INT64, (0,), bytes(8)), SIZE),
    (array(FLOAT64, (2, 3), b""), SIZE),
    (array(FLOAT64, (), b""), SIZE),
    (array(STRING, (3,), ["a"]), SIZE),
    (array(STRING, (2, 2), ["a"] * 3), SIZE),
    (struct(INT64, 1.0), WRONG),
    (bits(FLOAT64, b"abc"), WRONG),
    (bits(INT64, b""), WRONG),
    (dict_of(["a"], []), "a mapping of more keys than values, or fewer"),
    (dict_of([], ["a"]), "a mapping of more keys than values, or fewer"),
    (backref(1), "reference to object 1, which was not written before it"),
    (unionall(1.0, 2.0), "a value that can't be made of what is stored of it (TypeError)"),
    (datatype(), "a value that can't be made of what is stored of it (TypeError)"),
    (array(INT64, (1,) * 33, bytes(8)), "an array of more than 32 dimensions"),
    (array(INT64, (1 << 62, 1 << 62), b""), "an array larger than any memory"),
    (array(ANY, (1 << 62, 1 << 62), []), "an array larger than any memory"),
]  # fmt: skip


@each("value, text", MALFORMED, ids=lambda part: str(part)[:70])
def test_malformed(value: Any, text: str) -> None:
    data = message(value)
    with pytest.raises(holdall.DecodeError) as caught:
        julia.loads(data)
    assert str(caught.value).startswith(f"{text} - at byte "), str(caught.value)
    # Somewhere within the value, counted from the start of the document.
    assert 10 < caught.value.offset <= len(data)
    # Nothing is wrong before somebody asks for it.
    doc = julia.open(bson.dumps({"bad": value, "good": 1.5}))
    assert doc["good"] == 1.5
    with pytest.raises(holdall.DecodeError):
        doc["bad"]


NONSENSE: list[Any] = [
    dict_of([1.0], 1.0),
    dict_of(1.0, [1.0]),
    dict_of("ab", "cd"),
    dict_of(array(INT64, (), bytes(8)), ["a"]),
    dict_of(array(INT64, (1, 2), bytes(16)), ["a", "b"]),
    dict_of({"a": 1.0}, {"b": 2.0}),
    dict_of(struct(FOO, 1.0), struct(FOO, 2.0)),
    dict_of(symbol("a"), symbol("b")),
    dict_of(None, None),
    dict_of(backref(1), backref(1)),
    struct(datatype("Main", "Base", "Set", params=[INT64]), 5.0),
    struct(datatype("Main", "Base", "Dict")),
    struct(datatype("Main", "Base", "IdDict"), 1.0, 2.0, 3.0),
    struct(datatype("Core", "NamedTuple", params=[5.0]), 1.0),
    struct(datatype("Core", "NamedTuple"), 1.0),
    struct(datatype("Core", "NamedTuple", params=[tuple_of(symbol("a"))]), 1.0, 2.0),
    struct(datatype("Core", "Union"), 1.0),
    struct(datatype("Core", "Union"), 1.0, 2.0),
    struct(datatype("Core", "TypeVar"), 1.0, 2.0, 3.0),
    struct(datatype("Core", "Nothing"), 1.0),
    struct(datatype("Main", "Base", "Complex"), "a", "b"),
    struct(datatype("Main", "Base", "Complex", params=[INT64]), long(2**62), None),
    struct(datatype("Main", "Base", "Rational", params=[INT64]), long(1), long(0)),
    struct(datatype("Main", "Base", "UnitRange", params=[INT64]), long(5), long(-(2**63))),
    struct(datatype("Main", "Base", "StepRange", params=[INT64, INT64]), long(5), long(0), long(1)),
    struct(datatype("Main", "Base", "SubString"), "hello", long(-1), long(2)),
    struct(datatype("Main", "Base", "SubString"), "é", long(1), long(1)),
    struct(datatype("Main", "Base", "UUID"), "x"),
    struct(datatype("Main", "Base", "BitArray", params=[long(2**40)]), [], long(2**60), tuple_of(long(2**60))),
    struct(datatype("Main", "Base", "BitArray", params=[long(1)]), array(datatype("Core", "UInt64"), (1,), bytes(8)), long(2**60), tuple_of(long(0))),
    struct(datatype("Main", "Base", "BitArray", params=[long(1)]), array(datatype("Core", "UInt64"), (1,), bytes(8)), long(-5), tuple_of(long(0))),
    struct(datatype("Main", "Base", "BitArray", params=[long(2)]), array(datatype("Core", "UInt64"), (1,), bytes(8)), long(0), tuple_of(long(0), long(2**62))),
    struct(datatype("Main", "Base", "ReshapedArray"), [1.0], tuple_of(long(2**40)), tuple_of()),
    struct(datatype("Main", "Base", "StepRangeLen"), 1.0, 1.0, long(2**62), long(1)),
    struct(datatype("Main", "Base", "StepRangeLen"), "a", "b", "c", "d"),
    struct(datatype("Main", "Base", "MPFR", "BigFloat"), long(2**60), long(1), long(2**62), None, "x"),
    struct(datatype("Dates", "Date"), 1.0),
    struct(datatype("Dates", "Date"), struct(datatype("Dates", "UTInstant"), struct(datatype("Dates", "Day"), long(2**62)))),
    struct(datatype("Dates", "DateTime"), struct(datatype("Dates", "UTInstant"), struct(datatype("Dates", "Millisecond"), long(-(2**63))))),
    struct(datatype("Dates", "Time"), struct(datatype("Dates", "Nanosecond"), long(-1))),
    struct(datatype("Dates", "Week"), long(2**62)),
    bits(BOOL, b"\2"),
    bits(BOOL, b"\1\0"),
    bits(CHAR, b"\xff\xff\xff\xff"),
    bits(CHAR, b"abc"),
    bits(FOO, bytes(1000)),
    bits(datatype("Core", "Float32"), bytes(8)),
    bits(datatype("Core", "Int8"), bytes(8)),
    bits(datatype("Core", "Int128"), bytes(300)),
    array(CHAR, (2,), b"\xff" * 8),
    array(CHAR, (2,), bytes(6)),
    array(DATE, (1,), (2**63 - 1).to_bytes(8, "little")),
    array(DATE, (1,), (-(2**63)).to_bytes(8, "little", signed=True)),
    array(datatype("Dates", "DateTime"), (1,), b"abc"),
    array(INT64, (1,), bytes(7)),
    array(BOOL, (2,), b"\2\3"),
    array(datatype("Core", "Tuple", params=[INT64] * 5), (1,), bytes(40)),
    array(datatype("Core", "Tuple", params=[datatype("Core", "Int8"), INT64]), (1,), bytes(9)),
    array(datatype("Core", "NamedTuple", params=[tuple_of(symbol(""), symbol("")), datatype("Core", "Tuple", params=[INT64, INT64])]), (1,), bytes(16)),
    array(datatype("Core", "NamedTuple", params=[tuple_of(symbol("a"), symbol("a")), datatype("Core", "Tuple", params=[INT64, INT64])]), (1,), bytes(16)),
    array(datatype("Main", "Base", "Complex", params=[FOO]), (1,), bytes(16)),
    array(TYPE_VAR, (1,), bytes(8)),
    array({"tag": "jl_bottom_type"}, (3,), b""),
    array(unionall(TYPE_VAR, ANY), (1,), b"abcd"),
    array(symbol("x"), (1,), b"abcd"),
    array(tuple_of(), (1,), b"abcd"),
    struct(symbol("Foo"), 1.0),
    struct({"a": 1.0}, 1.0),
    struct(tuple_of(), 1.0),
    struct({"tag": "jl_bottom_type"}, 1.0),
    struct(unionall(TYPE_VAR, ANY), 1.0),
    struct({"tag": "jl_anonymous", "params": [], "typename": 1.5}, 1.0),
    struct({"tag": "jl_anonymous", "params": 1.5, "typename": []}, 1.0),
    struct(datatype("Main", "Foo", params=[[[[1.0]]], {"a": 1.0}, "text", None, b"x", FUNCTION]), 1.0),
    datatype("Main", "Foo", params=array(INT64, (2,), bytes(16))),
    datatype("Main", "Foo", params=array(UINT8, (3,), b"abc")),
    datatype("Main", "Foo", params={"a": 1.0}),
    struct({"tag": "datatype", "params": INT64, "name": ["Main", "Foo"]}, 1.0),
    struct({"tag": "datatype", "params": 1.5, "name": ["Main", "Foo"]}, 1.0),
    struct({"tag": "datatype", "params": None, "name": ["Main", "Foo"]}, 1.0),
    datatype("", "", ""),
    datatype("Main.Foo{", "#1#2", "\0"),
    unionall(TYPE_VAR, unionall(TYPE_VAR, 5.0)),
    {"tag": "ref", "path": []},
    {"tag": "svec", "data": [{"tag": "svec", "data": []}]},
    {"tag": "tuple", "data": [], "extra": 5.0, "more": 6.0},
    {"tag": "jl_bottom_type", "a": 1.0, "b": 1.0, "c": 1.0},
]  # fmt: skip


@each("value", NONSENSE, ids=lambda value: str(value)[:70])
def test_nonsense(value: Any) -> None:
    """An answer that can be looked at and written again, or one of our errors."""
    for data in (
        message(value),
        message([value, value]),
        message(tuple_of(backref(1), backref(1)), value),
        message({"tag": "x", "v": value}),
    ):
        for options in (
            {},
            {"types": [Node]},
            {"type": dict[str, Any]},
            {"type": dict[str, list[int] | None]},
            {"type": dict[str, Node]},
        ):
            try:
                found = julia.loads(data, **options)
            except holdall.DecodeError:
                continue
            assert len(repr(found)) < 200_000
            str(found["value"])
            found == found  # noqa: B015
            try:
                again = julia.dumps(found)
            except holdall.EncodeError:
                continue
            julia.loads(again)


# --- references ---


def test_references_that_lead_nowhere() -> None:
    for value, apart in [
        (backref(2), [[1.0]]),
        (backref(2**63 - 1), [[1.0]]),
        (backref(2**32 + 1), [[1.0]]),
        ([backref(1), backref(3)], [[1.0], [2.0]]),
    ]:
        with pytest.raises(holdall.DecodeError, match="^reference to object "):
            julia.loads(message(value, *apart))


def test_references_that_are_references() -> None:
    for apart in ([backref(1)], [backref(2), backref(1)], [backref(2), [1.0]], [backref(9)]):
        with pytest.raises(holdall.DecodeError):
            julia.loads(message(backref(1), *apart))


def test_what_is_made_of_its_parts_can_be_none_of_them() -> None:
    """What Python makes at once can't hold itself; Julia couldn't have made it either."""
    complex_of = datatype("Main", "Base", "Complex", params=[FLOAT64])
    for value in (
        tuple_of(backref(1)),
        tuple_of(1.0, tuple_of(backref(1))),
        {"tag": "svec", "data": [backref(1)]},
        struct(complex_of, 1.0, backref(1)),
        struct(datatype("Main", "Base", "Set", params=[ANY]), backref(1)),
        unionall(TYPE_VAR, backref(1)),
        datatype("Main", "Foo", params=[backref(1)]),
        struct(backref(1)),
        array(backref(1), (1,), [1.0]),
    ):
        with pytest.raises(holdall.DecodeError):
            julia.loads(message(backref(1), value))


def test_what_stands_apart_and_nobody_refers_to() -> None:
    broken = {"tag": "struct", "type": FOO, "data": 1.0}
    assert julia.loads(message(1.0, broken, backref(1), [backref(77)])) == {"value": 1.0}
    for wrong in (1.0, {"0": [1.0]}, b"", None):
        with pytest.raises(holdall.DecodeError, match="^expected a list of values that are referred to"):
            julia.loads(bson.dumps({"value": 1.0, "_backrefs": wrong}))
        with pytest.raises(holdall.DecodeError):
            julia.open(bson.dumps({"value": 1.0, "_backrefs": wrong}))
    assert julia.loads(bson.dumps({"a": {"_backrefs": [1.0]}})) == {"a": {"_backrefs": [1.0]}}


def test_a_type_that_stands_apart() -> None:
    of = datatype("Main", "Safety", "Loose")
    found = julia.loads(message([struct(backref(1), 1.0), struct(backref(1), 2.0)], of))["value"]
    assert (
        found[0].type is found[1].type
        and found[0].type.is_mutable
        and not julia.Type.parse("Main.Safety.Loose").is_mutable
    )
    assert [value[0] for value in found] == [1.0, 2.0]


def test_a_struct_whose_type_refers_to_itself() -> None:
    """The type of a closure leads to its methods, and they to the type."""
    typename = struct(
        datatype("Core", "TypeName"), "1.5.3", symbol("#1#2"), {"tag": "svec", "data": []}, backref(1)
    )
    anonymous = {"tag": "jl_anonymous", "params": [], "typename": backref(2)}
    try:
        found = julia.loads(message(struct(backref(1)), anonymous, typename))["value"]
    except holdall.DecodeError:
        pass
    else:
        assert "#1#2" in repr(found)
    found = julia.loads(
        message(
            struct(anonymous), [], struct(datatype("Core", "TypeName"), "1.5.3", symbol("#1#2"), backref(2))
        )
    )["value"]
    assert repr(found) == "#1#2()" and found.type.typename.values[2] is found.type.typename
    assert julia.loads(julia.dumps({"value": found}))["value"].type.name == "#1#2"


# --- depth ---


def deep(levels: int, before: bytes, behind: bytes, inner: bytes) -> bytes:
    """`inner`, a document, within as many: each a length, `before`, the one within, `behind`."""
    heads = []
    length = len(inner)
    for _ in range(levels):
        length += 4 + len(before) + len(behind)
        heads.append(length.to_bytes(4, "little"))
    return b"".join(head + before for head in reversed(heads)) + inner + behind * levels


def wrapped(tree: Tree) -> tuple[bytes, bytes]:
    """The bytes of a tree before and behind its innermost empty document, without its length."""
    data = bson.dumps(tree)
    at = data.rindex(b"\3hole\0\5\0\0\0\0")
    return data[4 : at + 6], data[at + 11 :]


LEVELS = 50_000


@pytest.mark.parametrize(
    "tree", [{"hole": {}}, {"tag": "x", "hole": {}}, {"hole": {}, "more": 1.5}], ids=list
)
def test_deep_documents(tree: Tree) -> None:
    before, behind = wrapped(tree)
    data = deep(LEVELS, before, behind, b"\5\0\0\0\0")
    assert list(julia.loads(data)) == list(tree)
    with pytest.raises(holdall.LimitError, match="limits.depth"):
        julia.loads(data, limits=holdall.Limits(depth=1000))
    assert list(julia.parse(data)) == list(tree)
    assert list(julia.open(data)["hole"]) == list(tree)


def nested(head: bytes, name: bytes, levels: int, leaf: bytes) -> bytes:
    """A document `value` of documents, each of which has `head` and then an array of one, `name`."""
    parts: list[bytes] = []
    length = len(leaf)
    for _ in range(levels):
        inner = 4 + 3 + length + 1
        outer = 4 + len(head) + 1 + len(name) + 1 + inner + 1
        parts.append(
            outer.to_bytes(4, "little")
            + head
            + b"\4"
            + name
            + b"\0"
            + inner.to_bytes(4, "little")
            + b"\3"
            + b"0\0"
        )
        length = outer
    body = b"".join(reversed(parts)) + leaf + b"\0\0" * levels
    return (4 + 7 + len(body) + 1).to_bytes(4, "little") + b"\3value\0" + body + b"\0"


def head_of(tree: Tree) -> bytes:
    return bson.dumps(tree)[4:-1]


SQUARE = {"tag": "array", "type": ANY, "size": [long(1), long(1)]}
TAGGED: dict[str, tuple[Tree, str]] = {
    "struct": ({"tag": "struct", "type": FOO}, "data"),
    "mapped struct": ({"tag": "struct", "type": datatype("Main", "Base", "RefValue")}, "data"),
    "tuple": ({"tag": "tuple"}, "data"),
    "svec": ({"tag": "svec"}, "data"),
    "array": (SQUARE, "data"),
    "parameters": ({"tag": "datatype", "name": ["Main", "Foo"]}, "params"),
    "set": ({"tag": "struct", "type": datatype("Main", "Base", "Set")}, "data"),
    "named tuple": ({"tag": "struct", "type": datatype("Core", "NamedTuple", params=[tuple_of(symbol("a"))])}, "data"),
    "some": ({"tag": "struct", "type": datatype("Main", "Base", "Some")}, "data"),
    "missing": ({"tag": "struct", "type": datatype("Main", "Base", "Missing")}, "data"),
}  # fmt: skip


@pytest.mark.parametrize("head, name", TAGGED.values(), ids=TAGGED)
def test_deep_tagged_documents(head: Tree, name: str) -> None:
    leaf = bson.dumps({"k": 1.5})
    few = nested(head_of(head), name.encode(), 3, leaf)
    assert julia.parse(few)["value"]["tag"] == head["tag"]
    assert str(julia.loads(few)["value"]) != ""
    data = nested(head_of(head), name.encode(), LEVELS, leaf)
    for load in (julia.loads, julia.parse, lambda data: julia.open(data)["value"]):
        try:
            found = load(data)
        except holdall.DecodeError:
            continue
        # Nor does anything recurse where it goes.
        assert found is not None
        if type(found) is julia.JuliaStruct:
            assert len(repr(found)) < 1_000_000
        del found
        gc.collect()


def test_types_described_by_each_other() -> None:
    """The type of a parameter of the type of a parameter ... of a type."""

    def of(depth: int) -> Any:
        made: Any = FOO
        for _ in range(depth):
            made = datatype("Main", "Foo", params=[struct(made)])
        return made

    assert type(julia.loads(message(struct(of(60), 1.0)))["value"]) is julia.JuliaStruct
    with pytest.raises(holdall.DecodeError, match="^types described by each other deeper than 64"):
        julia.loads(message(struct(of(70), 1.0)))
    # Apart they are as deep as they like to be.
    apart = [datatype("Main", "Foo", params=[backref(n + 2)]) for n in range(2_000)]
    try:
        found = julia.loads(message(struct(backref(1), 1.0), *apart, FOO))["value"]
    except holdall.DecodeError:
        return
    assert "…" in repr(found) and found.type == found.type


def test_types_that_share_their_parameters() -> None:
    """2**60 paths through one type: nothing goes along all of them."""
    apart = [datatype("Main", "Foo", params=[backref(n + 2), backref(n + 2)]) for n in range(60)]
    found = julia.loads(message(struct(backref(1), 1.0), *apart, FOO))["value"]
    again = julia.loads(message(struct(backref(1), 1.0), *apart, FOO))["value"]
    assert found.type == again.type and hash(found.type) == hash(again.type) and len(repr(found)) < 20_000


def test_values_that_share_their_parts() -> None:
    for kind in (
        lambda *items: struct(FOO, *items),
        tuple_of,
        lambda *items: list(items),
        lambda *items: dict_of(["a", "b"], list(items)),
    ):
        apart = [kind(backref(n + 2), backref(n + 2)) for n in range(60)]
        found = julia.loads(message(backref(1), *apart, [1.0]))["value"]
        assert found is not None


# --- bounds ---

HUGE = [(1 << 40,), (1 << 20, 1 << 10), (1000, 1000, 1000), (10**9,), (1 << 57,)]


@each(
    "of",
    [NOTHING, FOO, INT64, CHAR, DATE, STRING, datatype("Main", "Base", "Missing")],
    ids=lambda of: of["name"][-1],
)
@each("size", HUGE, ids=str)
def test_arrays_without_bytes(of: Tree, size: tuple[int, ...]) -> None:
    with pytest.raises(holdall.DecodeError) as caught:
        julia.loads(message(array(of, size, b"")))
    assert isinstance(caught.value, holdall.LimitError) or "larger than any memory" in str(caught.value)
    with pytest.raises(holdall.DecodeError, match="do not fit its shape|larger than any memory"):
        julia.loads(message(array(of, size, [])))
    with pytest.raises(holdall.DecodeError):
        julia.load(message(array(of, size, b"")), mmap=True)


def test_lists_of_empty_arrays_are_counted() -> None:
    """An array of no elements is millions of empty lists, where lists are wanted."""
    empty = array(INT64, (3, 1 << 22, 0), b"")
    assert julia.loads(message(empty))["value"].shape == (3, 1 << 22, 0)
    for value, annotation in ((dict_of(empty, []), Any), (dict_of([], empty), Any), (empty, list[Any])):
        with pytest.raises(holdall.DecodeError):
            julia.loads(message(value), type=dict[str, annotation])


def test_arrays_without_bytes_of_many_messages() -> None:
    """Each is small: together they are not."""
    value = [array(NOTHING, (15_000,), b"") for _ in range(400)]
    with pytest.raises(holdall.LimitError):
        julia.loads(message(value))


def test_nothing_costs_more_than_its_share() -> None:
    """What is repeated by reference is there once; what is copied from it is counted."""
    import tracemalloc

    shared = message([backref(1)] * 20_000, [0.5] * 1000)
    tracemalloc.start()
    try:
        found = julia.loads(shared)["value"]
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert found[0] is found[19_999]


def test_limits() -> None:
    data = MESSAGES["everything"]
    for limits, text in [
        (holdall.Limits(objects=20), "limits.objects"),
        (holdall.Limits(bytes=500), "limits.bytes"),
        (holdall.Limits(depth=1), "limits.depth"),
    ]:
        for door in (
            julia.loads,
            julia.load,
            julia.parse,
            lambda data, limits: julia.open(data, limits=limits).load(),
        ):
            with pytest.raises(holdall.LimitError, match=text):
                door(data, limits=limits)
    roomy = holdall.Limits(objects=10_000, bytes=10**7, depth=100)
    assert julia.dumps(julia.loads(data, limits=roomy)) == data


def test_names_that_are_no_text() -> None:
    """Bytes that are no UTF-8 are kept, as lone surrogates."""
    good = message({"name": "text", "list": [struct(FOO, "text")], "s": symbol("text")})
    for place in (b"name\0\5", b"text\0\4", b"list", b"Main", b"text\0\0\0\0\3"):
        at = good.index(place)
        data = good[:at] + b"\xff" + good[at + 1 :]
        found = julia.loads(data)
        again = julia.dumps(found)
        assert b"\xff" in again and julia.dumps(julia.loads(again)) == again
        assert list(julia.open(data)) == list(found)
        for annotation in (
            dict[str, int],
            dict[str, dict[str, int]],
            dict[str, dict[str, Node]],
        ):
            with pytest.raises(holdall.ValidationError):
                julia.loads(data, type=annotation)


def test_subtypes_of_binaries_mean_nothing() -> None:
    """As to BSON.jl."""
    good = message([b"data"])
    at = good.index(b"data") - 1
    for subtype in (0, 1, 3, 5, 128, 255):
        found = julia.loads(good[:at] + bytes([subtype]) + good[at + 1 :])["value"][0]
        assert type(found) is np.ndarray and found.tobytes() == b"data"


def test_errors_show_no_data() -> None:
    secret = "secret of the file"
    for value in (
        struct(FOO, secret, {"tag": "backref", "ref": secret}),
        struct(INT64, secret),
        {"tag": "struct", "type": secret, "data": []},
        dict_of([secret], [secret, secret]),
        array(STRING, (7,), [secret]),
    ):
        with pytest.raises(holdall.DecodeError) as caught:
            julia.loads(message(value))
        assert secret not in str(caught.value)
    with pytest.raises(holdall.ValidationError) as invalid:
        julia.loads(message({secret: secret}), type=dict[str, dict[str, int]])
    assert secret not in str(invalid.value)
