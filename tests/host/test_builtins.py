"""Builtin types: values at the edges of every width, there and back on every way."""

from __future__ import annotations

import math
import struct
import sys
from typing import Any, Callable

import holdall
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import CONTAINERS, SCALARS, Kind, nan, text

Way = Callable[[object], Any]


@each("kind", [*SCALARS, *CONTAINERS], ids=lambda kind: kind.name)
def test_kind(way: Way, kind: Kind) -> None:
    obj = kind.make()
    isomorphic(obj, way(obj))


POWERS = sorted({sign * (1 << bit) + delta for bit in range(130) for sign in (1, -1) for delta in (-1, 0, 1)})


def test_ints_at_every_power_of_two(way: Way) -> None:
    for value in [*POWERS, 10**100, -(10**100), 1 << 100_000]:
        back = way(value)
        assert type(back) is int and back == value


@each("low", [0, -1, -16, -128, -129, -(2**15), -(2**31), -(2**63), -(2**64)])
@each("high", [1, 16, 127, 128, 255, 256, 2**16 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64])
def test_packs_of_every_width(low: int, high: int) -> None:
    for length in (2, 3, 7, 8, 40):
        values = [low + (high - low) * i // (length - 1) for i in range(length)]
        for obj in (values, tuple(values), [*values, None], [*values, 0.5], [True, *values]):
            isomorphic(obj, holdall.loads(holdall.dumps(obj)))


@each("length", [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 65536, 70000])
def test_every_length(length: int) -> None:
    cases: list[Any] = [
        "x" * length,
        "é" * length,
        "日" * length,
        "😀" * length,
        "\ud800" * length,
        b"\x00" * length,
        bytearray(length),
        [None] * length,
        [True] * length,
        [1] * length,
        [1000] * length,
        [0.5] * length,
        ["ab"] * length,
        [text(f"{i}") for i in range(length)],
        tuple(range(length)),
        dict.fromkeys(range(length)),
        {f"key {i}": i for i in range(length)},
        set(range(length)),
        frozenset(f"m{i}" for i in range(length)),
    ]
    for case in cases:
        back = holdall.loads(holdall.dumps(case))
        if length < 1_000:
            isomorphic(case, back)
            continue
        # The longest, by C code: what is in one of them is of one type, and equal is the same.
        assert type(back) is type(case) and back == case
        if not isinstance(case, (str, bytes, bytearray)):
            assert list(back) == list(case) or isinstance(case, (set, frozenset))
            assert set(map(type, back)) == set(map(type, case))
        if isinstance(case, dict):
            assert list(back.values()) == list(case.values()) and set(map(type, back.values())) == set(
                map(type, case.values())
            )


FLOATS = [
    *(
        struct.unpack("d", struct.pack("Q", bits))[0]
        for bits in (0, 1, 1 << 63, (1 << 52) - 1, 1 << 52, 0x7FEF << 48)
    ),
    *(nan(payload) for payload in (0, 1, 2**51 - 1)),
    struct.unpack("d", struct.pack("Q", 0x7FF0_0000_0000_0001))[0],  # signalling
    struct.unpack("d", struct.pack("Q", 0xFFF8_0000_0000_0000))[0],  # the negative one of x86
    math.pi,
    1e22,
    2.0**53 + 2,
    float(2**63),
    sys.float_info.max,
    sys.float_info.min,
]


def test_float_bits(way: Way) -> None:
    for value in FLOATS:
        isomorphic(value, way(value))
        isomorphic([value] * 3, way([value] * 3))
        isomorphic(complex(value, -value), way(complex(value, -value)))
    isomorphic(FLOATS, way(FLOATS))


STRINGS = [
    *(
        chr(point)
        for point in (0, 0x7F, 0x80, 0xFF, 0x100, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF)
    ),
    *(chr(point) for point in (0xD800, 0xDBFF, 0xDC00, 0xDFFF)),
    "\ud83d\ude00",  # a pair of surrogates is two characters, not one
    "\U0001f600",
    "\ufeffmark",
    "e\u0301",
    "\xe9",
    "line\r\nend\x00",
]


def test_strings(way: Way) -> None:
    for value in STRINGS:
        for obj in (value, value * 300, {value: value}, [value, value + "x"]):
            isomorphic(obj, way(obj))
    isomorphic(STRINGS, way(STRINGS))


KEYS = [
    (None, True, 2, 2.5, 1j, "s", b"b"),
    (1, 1.5, (1, (2, ())), frozenset({(1,), "x"})),
    (range(3), ..., NotImplemented),
    tuple(range(-40, 40)),
    tuple(f"key {i}" for i in range(300)),
    (nan(1), nan(2)),
    ("a" * 300, "é", "\ud800"),
]


@each("keys", KEYS, ids=range(len(KEYS)))
def test_dict_keys_and_set_members(way: Way, keys: tuple[Any, ...]) -> None:
    table = {key: [index] for index, key in enumerate(keys)}
    isomorphic(table, way(table))
    isomorphic(
        [table, dict(reversed(table.items())), dict(table)],
        way([table, dict(reversed(table.items())), dict(table)]),
    )
    isomorphic(set(keys), way(set(keys)))
    isomorphic(frozenset(keys), way(frozenset(keys)))


def test_dicts_with_holes(way: Way) -> None:
    """Deleted entries, dicts shared with instances and keys that grew: layouts inside CPython, not in the data."""
    table: dict[Any, Any] = {f"k{i}": i for i in range(50)}
    for i in range(0, 50, 3):
        del table[f"k{i}"]
    table[7] = "now mixed"
    isomorphic(table, way(table))
    back = way(table)
    back["more"] = 1
    assert back["more"] == 1 and len(back) == len(table) + 1


def test_rows_with_changing_keys(way: Way) -> None:
    rows: list[Any] = [
        {"a": 1, "b": 2},
        {"b": 1, "a": 2},
        {"a": 1},
        {},
        {"a": 1, "b": 2, "c": 3},
        {"a": 1, 2: 3},
    ]
    obj = [dict(row) for _ in range(5) for row in rows]
    isomorphic(obj, way(obj))


def test_many_shapes() -> None:
    obj = [{f"key {i} {j}": j for j in range(i % 5 + 1)} for i in range(2_000)] * 2
    isomorphic(obj, holdall.loads(holdall.dumps(obj)))


def test_results_are_usable() -> None:
    """What comes back must be whole: growing, hashing, sorting, formatting."""
    back = holdall.loads(holdall.dumps([[1, 2, 3], {"a": 1}, {1, 2}, bytearray(b"ab"), "text", (1, "x")]))
    numbers, table, members, data, word, pair = back
    numbers.append(4)
    numbers.sort(reverse=True)
    table.setdefault("b", []).append(1)
    members.add(3)
    data.extend(b"cd")
    assert (
        numbers == [4, 3, 2, 1] and table == {"a": 1, "b": [1]} and members == {1, 2, 3} and data == b"abcd"
    )
    assert {word: 1, pair: 2}[(1, "x")] == 2 and f"{word!r:>8}" == "  'text'"
    assert sys.getsizeof(holdall.loads(holdall.dumps("x" * 100))) == sys.getsizeof("x" * 100)


def test_memoryview_is_stored_as_its_bytes() -> None:
    assert holdall.loads(holdall.dumps(memoryview(b"abc"))) == b"abc"
    assert holdall.loads(holdall.dumps(memoryview(b"abcdef")[::2])) == b"ace"
