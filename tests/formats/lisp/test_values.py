"""What Python's values become in Lisp's files, and come back as: bytes, types, sharing."""

from __future__ import annotations

import array
import copy
import enum
import math
import pickle
import random
import struct
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import pytest

import holdall
from holdall import lisp
from holdall.lisp import Array, Cons, HashTable, LispObject, Pairs, SingleFloat, Symbol, Type, keyword
from tests.support.each import each

Point = namedtuple("Point", "x y")


class Color(enum.Enum):
    DARK_RED = 1


def back(value: Any, **options: Any) -> Any:
    return lisp.loads(lisp.dumps(value), **options)


# A value, its bytes in hexadecimal, and what comes back if that isn't an equal value of the same type.
WRITTEN = [
    (None, "05", None), (True, "14", True), (False, "05", None), (0, "d0", 0), (-16, "c0", -16), (1 << 62, "09 d2 00 00 00 00 00 00 00 40", 1 << 62),
    (-(1 << 63), "09 ce 00 00 00 00 00 00 00 80", -(1 << 63)), (0.0, "0c", 0.0), (1.5, "0b 00 00 00 00 00 00 f8 3f", 1.5),
    (SingleFloat(1.5), "0a 00 00 c0 3f", SingleFloat(1.5)), (1 + 2j, "0f" + "00 00 00 00 00 00 f0 3f" + "00 00 00 00 00 00 00 40", 1 + 2j),
    ("abc", "1e 07 61 62 63", "abc"), ("é", "1e 06 c3 a9", "é"), (b"\1\2", "15 06 0d 01 02", b"\1\2"), (bytearray(b"\1"), "15 05 0d 01", b"\1"),
    ([], "05", None), ([1, 2], "20 06 d1 d2 05", [1, 2]), ([[1], []], "20 06 20 05 d1 05 05 05", [[1], None]),
    ((), "16 04", ()), ((1, "a"), "16 06 d1 1e 05 61", (1, "a")), (Point(1, 2), "16 06 d1 d2", (1, 2)),
    (Cons(1, 2), "20 05 d1 d2", Cons(1, 2)), (Cons(1, Cons(2, 3)), "20 06 d1 d2 d3", Cons(1, Cons(2, 3))),
    (Cons(1, [2, 3]), "20 05 d1 20 06 d2 d3 05", Cons(1, [2, 3])),
    (Fraction(-4, 5), "0d cc d5", Fraction(-4, 5)), (lisp.Complex(1, 2), "0e d1 d2", lisp.Complex(1, 2)),
    (keyword("A"), "11 1d 05 41 1d 0b 4b 45 59 57 4f 52 44", keyword("A")), (Color.DARK_RED, None, keyword("DARK-RED")),
    ({}, None, {}), ({"a": 1, 2: [3]}, None, {"a": 1, 2: [3]}), (OrderedDict(a=1), None, {"a": 1}),
    (HashTable({1: 2}, test="EQ"), None, HashTable({1: 2}, test="EQ")), (Pairs([([1], 2)], test="EQUALP"), None, Pairs([([1], 2)], test="EQUALP")),
    ({1, 2}, "20 06 d1 d2 05", [1, 2]), (range(3), "20 07 d0 d1 d2 05", [0, 1, 2]), (deque([1]), "20 05 d1 05", [1]),
    (PurePosixPath("/a/b.c"), None, lisp.Pathname.of("/a/b.c")), (Array((), [7]), "18 05 05 00 05 14 d7", Array((), [7])),
    (Array((2,), [1, "a"], fill_pointer=1), "18 14 d1 05 01 d2 05 14 d1 1e 05 61", Array((2,), [1, "a"], fill_pointer=1)),
    (Array((1,), [0], element_type=(Symbol("UNSIGNED-BYTE", "COMMON-LISP"), 8)), None, Array((1,), [0], element_type=(Symbol("UNSIGNED-BYTE", "COMMON-LISP"), 8))),
    (LispObject(Type("S::P", ["X"]), [lisp.UNBOUND]), None, LispObject(Type("S::P", ["X"]), [lisp.UNBOUND])),
]  # fmt: skip


@each("value, written, expected", WRITTEN)
def test_written(value: Any, written: str | None, expected: Any) -> None:
    for refs in (True, False):
        data = lisp.dumps(value, refs=refs)
        assert written is None or data == bytes.fromhex(written), data.hex(" ")
        found = lisp.loads(data)
        assert type(found) is type(expected) and found == expected
        assert lisp.dumps(found, refs=refs) == data or type(value) is not type(expected)


@each("value", [value for value, _, _ in WRITTEN if type(value).__module__.startswith("holdall")])
def test_value_classes_are_copied_and_stored(value: Any) -> None:
    for made in (
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
        eval(repr(value), vars(lisp) | globals())
        if "object" not in repr(value) and not isinstance(value, LispObject)
        else value,
    ):
        assert type(made) is type(value) and made == value
    assert repr(value) and (value == object()) is False


def test_what_is_shared_stays_shared() -> None:
    inner, text = [1], "a text"
    made = back([inner, inner, text, text, (inner,), {"k": inner}])
    assert made[0] is made[1] is made[4][0] is made[5]["k"] and made[2] is made[3]
    apart = lisp.loads(lisp.dumps([inner, inner], refs=False))
    assert apart[0] == apart[1] and apart[0] is not apart[1]


def test_cycles() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    made = back(loop)
    assert made[1] is made
    table: dict[str, Any] = {}
    table["self"] = [table]
    made = back(table)
    assert made["self"][0] is made
    ring = Cons(1, None)
    ring.cdr = ring
    made = back(ring)
    assert made.cdr is made and made.car == 1
    node = LispObject(Type("S::NODE", ["NEXT"]), [None])
    node.next = node
    made = back(node)
    assert made.next is made
    vector = Array((2,), [1, None], adjustable=True)
    vector.values = [vector, vector]
    made = back(vector)
    assert made.values[0] is made.values[1] is made
    for endless in (loop, ring, Cons(1, Cons(2, ring))):
        with pytest.raises(holdall.EncodeError, match="refs=True"):
            lisp.dumps(endless, refs=False)


def test_a_list_that_turns_out_to_be_none_is_one_object() -> None:
    # (#1=(#1# . 2)), read by reference before its end is known.
    made = lisp.loads(bytes.fromhex("22 20 05 23 d2"))
    assert type(made) is Cons and made.car is made and made.cdr == 2
    # #1=(#1#), a list of one that holds itself.
    made = lisp.loads(bytes.fromhex("22 20 05 23 05"))
    assert type(made) is list and made[0] is made
    made = lisp.loads(bytes.fromhex("22 20 06 d1 23 d2"))
    assert type(made) is Cons and made.cdr.car is made and made.cdr.cdr == 2
    made = lisp.loads(bytes.fromhex("20 06 22 20 05 20 05 d1 05 05 23 05"))
    assert made == [[[1]], [[1]]] and made[0] is made[1]
    made = lisp.loads(bytes.fromhex("20 06 22 20 05 23 d2 23 05"))
    assert type(made) is list and made[0] is made[1] is made[0].car


def test_tables_that_no_dict_can_be() -> None:
    one = Pairs([(1, "int"), (1.0, "float")], test="EQL")
    assert back(one) == one
    table = bytes.fromhex(
        "22 1c d1 d7 11 1d 09 45 51 55 41 4c 1d 0f 43 4f 4d 4d 4f 4e 2d 4c 49 53 50 0a 00 00 80 3f 0a 00 00 c0 3f 05 05"
    )
    # A key that is a list which holds the table.
    made = lisp.loads(table + bytes.fromhex("20 05 23 05 d1"))
    assert type(made) is Pairs and made[0][0][0] is made


def test_symbols_are_one_object_in_a_load() -> None:
    one, two, three = lisp.loads(lisp.dumps([keyword("A"), keyword("A"), Symbol("A", "OTHER")], refs=False))
    assert one is two and one != three and one == keyword("A")
    bare = Symbol("G", None)
    a, b, c = back([bare, bare, Symbol("G", None)])
    assert a is b and a is not c and a != c and a.package is None


def test_what_is_not_hashed_costs_no_hashing() -> None:
    """Conses that refer to each other in all directions."""
    conses = [Cons(None, None) for _ in range(5_000)]
    for at, cons in enumerate(conses):
        cons.car, cons.cdr = conses[at * 7 % 5_000], conses[(at * 13 + 5) % 5_000]
    made = back((tuple(conses), 1))
    assert made[0][3].car is made[0][21] and made[0][3].cdr is made[0][44]


def test_deep_and_long() -> None:
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    made, levels = back(deep), 0
    while made is not None:
        (made,), levels = made, levels + 1
    assert levels == 100_000
    chain: Any = 0
    for number in range(100_000):
        chain = Cons(number, chain)
    assert sum(back(chain).cars()) == sum(range(100_000))
    # As cl-binary-store writes lists that may share their tails.
    made = lisp.loads(b"\x04\xd1" * 100_000 + b"\x05")
    assert made == [1] * 100_000
    nested = lisp.loads(b"\x04" * 50_000 + b"\xd1" + b"\x05" * 50_000)
    for _ in range(50_000):
        (nested,) = nested
    assert nested == 1


@each(
    "buffer, expected",
    [(array.array("h", [1, -2]), "int16"), (memoryview(b"ab"), None), (array.array("d", [1.5]), "float64")],
)
def test_buffers(buffer: Any, expected: str | None) -> None:
    np = pytest.importorskip("numpy")
    found = back(buffer)
    assert (
        found == b"ab"
        if expected is None
        else (found.dtype == np.dtype(expected) and found.tolist() == buffer.tolist())
    )


def test_numpy() -> None:
    np = pytest.importorskip("numpy")
    for dtype in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "S1", "U1", ">i4"):
        for shape in ((2, 3), (0, 2), (), (1, 2, 2)):
            made = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
            found = back(made)
            assert (
                found.shape == made.shape
                and (found == made).all()
                and found.dtype == made.dtype.newbyteorder("<")
            )
    turned = np.arange(6.0).reshape(2, 3).T
    assert (back(turned) == turned).all()
    assert back(np.array([1 + 2j])) == Array((1,), [1 + 2j]) and back(np.float32(1.5)) == 1.5
    assert back(np.array([None, "a"], object)).values == [None, "a"]


def test_what_lisp_has_no_type_for() -> None:
    with pytest.raises(
        holdall.EncodeError,
        match=r"can't store `object` for Lisp: say which .* `holdall.lisp.struct\('PACKAGE::OBJECT', object\)`",
    ):
        lisp.dumps([object()])
    assert lisp.loads(lisp.dumps([object()], enc_hook=lambda found: type(found).__name__)) == ["object"]
    for text in ("\ud800", {"\ud800": 1}, keyword("\ud800")):
        with pytest.raises(holdall.EncodeError):
            lisp.dumps(text)


@lisp.struct("TEST::PLACE")
@dataclass
class Place:
    name: str
    near_to: Any = None


@lisp.struct("TEST::SPOT", slots={"OLD": None, "NAMED": "name"})
@dataclass(slots=True)
class Spot:
    name: str
    count: int = 3


class TestStruct:
    def test_both_ways(self) -> None:
        place = Place("here")
        place.near_to = [place, Spot("there", 4)]
        made = back(place)
        assert type(made) is Place and made.near_to[0] is made and made.near_to[1] == Spot("there", 4)
        raw = lisp.dumps([Spot("a"), Spot("b")])
        assert raw == lisp.dumps(
            [
                LispObject(Type("TEST::SPOT", ["NAMED", "COUNT"]), ["a", 3]),
                LispObject(Type("TEST::SPOT", ["NAMED", "COUNT"]), ["b", 3]),
            ]
        )
        assert lisp.loads(lisp.dumps([Spot("a"), Spot("b")], refs=False)) == [Spot("a"), Spot("b")]

    def test_slots_of_other_versions(self) -> None:
        def stored(*slots: str) -> bytes:
            return lisp.dumps(LispObject(Type("TEST::SPOT", slots), range(len(slots))))

        assert lisp.loads(stored("OLD", "NAMED")) == Spot(1, 3)  # type: ignore[arg-type]
        assert lisp.loads(stored("NAMED")) == Spot(0, 3)  # type: ignore[arg-type]
        with pytest.raises(
            holdall.DecodeError,
            match=r"`TEST::SPOT` was stored with the slot NEW, which `Spot` has no field for: map it by",
        ):
            lisp.loads(stored("NEW"))

    def test_unbound(self) -> None:
        data = lisp.dumps(LispObject(Type("TEST::PLACE", ["NAME", "NEAR-TO"]), ["x", lisp.UNBOUND]))
        made = lisp.loads(data)
        assert made.name == "x" and "near_to" not in vars(made)
        assert lisp.dumps(made) == data

    def test_for_one_load(self) -> None:
        @dataclass
        class Mine:
            x: int

        data = lisp.dumps([LispObject(Type("OTHER::P", ["X"]), [1])])
        assert lisp.loads(data, types={"OTHER::P": Mine}) == [Mine(1)]
        assert type(lisp.loads(data)[0]) is LispObject

    def test_refused(self) -> None:
        with pytest.raises(TypeError, match="fields of `int` are not known"):
            lisp.struct("TEST::INT", int)
        with pytest.raises(ValueError, match="expected a name"):
            lisp.struct("TEST::", Place)
        with pytest.raises(TypeError, match="expected a class"):
            lisp.struct("TEST::X", 3)  # type: ignore[arg-type]


class TestTyped:
    @dataclass
    class Row:
        id: int
        tags: list[str]
        extra: dict[str, int]
        done: bool = False

    def test_by_the_names_of_slots(self) -> None:
        rows = [
            LispObject(Type("ANY::ROW", ["ID", "TAGS", "EXTRA", "DONE"]), [n, ["a"], {"k": n}, None])
            for n in range(3)
        ]
        made = back(rows, type=list[TestTyped.Row])
        assert made == [TestTyped.Row(n, ["a"], {"k": n}) for n in range(3)]
        empty = LispObject(Type("ANY::ROW", ["ID", "TAGS", "EXTRA"]), [1, None, None])
        assert back(empty, type=TestTyped.Row) == TestTyped.Row(1, [], {})
        assert back(rows[1], type=dict[str, Any]) == {"id": 1, "tags": ["a"], "extra": {"k": 1}, "done": None}

    @each(
        "value, wanted, expected",
        [
            ([1, 2], tuple[int, ...], (1, 2)), ([1, 2], set[int], {1, 2}), ([1, 2], frozenset[int], frozenset({1, 2})),
            ((1, 2), list[int], [1, 2]), ([1], deque[int], deque([1])), (None, list[int], []), (None, bool, False),
            (None, dict[str, int], {}), (None, int | None, None), ({"a": 1}, dict[str, int], {"a": 1}), ([[], [1]], list[list[int]], [[], [1]]),
            (1, float, 1.0), (Fraction(1, 2), Fraction, Fraction(1, 2)), ([1.5], list[float], [1.5]), (keyword("A"), Symbol, keyword("A")),
        ],
    )  # fmt: skip
    def test_conversions(self, value: Any, wanted: Any, expected: Any) -> None:
        found = back(value, type=wanted)
        assert type(found) is type(expected) and found == expected

    @each(
        "value, wanted",
        [([1, "a"], list[int]), ("a", int), (Cons(1, 2), list[int]), ([1], int), (keyword("A"), int)],
    )
    def test_refused(self, value: Any, wanted: Any) -> None:
        with pytest.raises(holdall.DecodeError):
            back(value, type=wanted)


def test_files(tmp_path: Any) -> None:
    path = tmp_path / "data.bin"
    lisp.dump([1, "a"], path, version=True)
    assert path.read_bytes()[:3] == b"\x1f\x00\xd1" and lisp.load(path) == [1, "a"] == lisp.load(
        str(path), mmap=True
    )
    with path.open("rb") as file:
        assert lisp.load(file) == [1, "a"]
    assert lisp.load_all(path) == [[1, "a"]] and lisp.load(bytearray(path.read_bytes())) == [1, "a"]
    with pytest.raises(holdall.EncodeError):
        lisp.dump(object(), path)
    assert lisp.load(path) == [1, "a"]
    with pytest.raises(FileNotFoundError):
        lisp.load(tmp_path / "none")


def test_views(tmp_path: Any) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "data.bin"
    lisp.dump([np.arange(4.0), "text"], path)
    view = lisp.load(path, mmap=True)[0]
    assert not view.flags.writeable and not view.flags.owndata and view.tolist() == [0, 1, 2, 3]
    private = lisp.load(path, mmap="copy")[0]
    private[0] = 7
    assert lisp.load(path)[0][0] == 0 and lisp.load(path)[0].flags.writeable


def test_several_values_share() -> None:
    shared = [1]
    data = lisp.dumps([shared, "x", (shared,)], all=True)
    one, text, (again,) = lisp.loads_all(data)
    assert one == [1] and one is again and text == "x"
    assert lisp.loads_all(lisp.dumps([], all=True)) == []


def test_sequences_become_what_a_type_wants() -> None:
    wanted: list[tuple[Any, Any, Any]] = [
        ([1, 2, 2], set[int], {1, 2}),
        ((1, 2, 2), frozenset[int], frozenset({1, 2})),
        ((1, 2), deque[int], deque([1, 2])),
        ([1, 2], tuple[int, int], (1, 2)),
        ((1, 2), list[int], [1, 2]),
    ]
    for value, kind, expected in wanted:
        made = lisp.loads(lisp.dumps(value), type=kind)
        assert made == expected and type(made) is type(expected)


def test_conses_keep_what_a_hook_shares() -> None:
    tail = Cons(5, None)
    ring = Cons(1, tail)
    del tail
    made = lisp.loads(lisp.dumps([object(), ring], enc_hook=lambda _: ring.cdr))
    assert made[0] is made[1].cdr


def test_an_array_changed_beyond_its_shape_is_refused() -> None:
    changed = Array((2,), [1, 2])
    changed.values.append(3)  # type: ignore[union-attr]
    with pytest.raises(holdall.EncodeError, match="another number of values"):
        lisp.dumps(changed)


def test_lists_cons_by_cons() -> None:
    shared = Cons(2, Cons(3, None))
    value = [[1, 2], Cons(1, shared), shared, (), [shared.cdr]]
    data = lisp.dumps(value, shared_lists=True)
    assert data[:6] == bytes([4, 4, 0xD1, 4, 0xD2, 5])
    made = lisp.loads(data)
    # A tail that others share is a list of its own, and what is in front of it a Cons.
    assert made[0] == [1, 2] and made[1].cdr is made[2] and made[2].car == 2 and made[2].cdr == [3]
    assert made[4][0] is made[2].cdr
    assert lisp.dumps(made, shared_lists=True) == data
    assert lisp.loads(lisp.dumps([1, [2, [3]], "x"], shared_lists=True)) == [1, [2, [3]], "x"]


def test_graphs_of_conses() -> None:
    chance = random.Random(5)
    for count in (2, 3, 10, 300):
        pile = [Cons(None, None) for _ in range(count)]
        for _ in range(3 * count):
            chance.choice(pile).car = chance.choice(pile)
            chance.choice(pile).cdr = chance.choice(pile)
        for by_cons in (False, True):
            data = lisp.dumps(tuple(pile), shared_lists=by_cons)
            made = lisp.loads(data)
            assert lisp.dumps(made, shared_lists=by_cons) == data
            place = {id(cons): at for at, cons in enumerate(pile)}
            places = {id(cons): at for at, cons in enumerate(made)}
            assert len(places) == count
            for one, other in zip(pile, made, strict=True):
                # A cons that ends in NIL is a list of one.
                parts = [other.car, other.cdr] if type(other) is Cons else [other[0], None]
                for mine, its in zip((one.car, one.cdr), parts, strict=True):
                    assert place.get(id(mine)) == places.get(id(its))


def test_doubles_that_occur_again_are_written_once() -> None:
    values = [1.5, 0.1, -0.0, 0.0, math.nan, 1.5, 0.1, -0.0, 0.0, math.nan]
    data = lisp.dumps(values)
    assert len(data) == len(lisp.dumps(values, refs=False)) - 4 * 7
    assert [struct.pack("d", x) for x in lisp.loads(data)] == [struct.pack("d", x) for x in values]


def test_a_vector_that_holds_itself() -> None:
    data = bytes([0x22, 0x16, 4 + 2, 0x16, 4 + 1, 0x23, 0xD5])
    made = lisp.loads(data)
    assert type(made) is Array and made.values is not None and type(made.values[0]) is tuple
    assert made.values[0][0] is made
    again = lisp.loads(lisp.dumps(made))
    assert type(again) is Array and again.values is not None and again.values[0][0] is again
    several = lisp.loads(
        b"\x20\x0e" + b"".join(bytes([0x22, 0x16, 5, 0x23 + n]) for n in range(10)) + b"\x05"
    )
    assert all(type(one) is Array and one.values is not None and one.values[0] is one for one in several)


def test_slots_that_no_field_takes_are_passed_over() -> None:
    inner = Type("ANY::IN", ["X", "Y"])
    rows = [
        LispObject(Type("ANY::OUT", ["A", "B", "C"]), [n, LispObject(inner, [5, [keyword("K")]]), n])
        for n in range(3)
    ]

    @dataclass
    class Out:
        a: int
        c: int

    for refs in (True, False):
        assert lisp.loads(lisp.dumps(rows, refs=refs), type=list[Out]) == [Out(n, n) for n in range(3)]


def test_one_package_is_one_object() -> None:
    def symbol(package: bytes) -> bytes:
        return bytes([0x11, 0x1D, 5]) + b"A" + package

    inline, marked = bytes([0x1D, 5]) + b"P", bytes([0x22, 0x1D, 5]) + b"P"
    made = lisp.loads(bytes([0x20, 7]) + symbol(inline) + symbol(marked) + symbol(b"\x23") + b"\x05")
    assert made[0].package is made[1].package is made[2].package and made == [Symbol("A", "P")] * 3


def test_properties_are_read_as_the_program_s_own_code() -> None:
    class Shown:
        def __init__(self) -> None:
            self.kept = [1]

        @property
        def parts(self) -> list[int]:
            return self.kept

    lisp.struct("TEST::SHOWN", Shown, fields=["kept", "parts"])
    made = lisp.parse(lisp.dumps(Shown()))
    assert made.kept == [1] and made.kept is made.parts
