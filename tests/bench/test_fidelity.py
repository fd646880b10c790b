"""What `holdall bench` says a round trip changed: each kind of change, its verdict, and where it is first."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import gc
import json
import marshal
import math
import pathlib
import pickle
import struct
import subprocess
import sys
import tracemalloc
import types
import uuid
import zoneinfo
from array import array
from typing import Any, NamedTuple

import pytest

import holdall
from holdall_bench.fidelity import compare, walk
from holdall_bench.results import CHANGED, COPIES, SAME, Fidelity
from tests.support import models
from tests.support.each import each
from tests.support.kinds import TYPES, installed, nan, text


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"


class Plain:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compares by itself")

    __hash__ = object.__hash__


class Other(Plain):
    pass


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Data:
    x: Any
    y: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any


class Text(str):
    pass


class Closed:
    """Can't be looked into."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("closed")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("closed")


def told(fidelity: Fidelity) -> tuple[str, dict[str, int]]:
    return fidelity.verdict, {change.what: change.count for change in fidelity.changes}


def plain(cls: type, **fields: Any) -> Any:
    """An instance, made without its class's code."""
    made = cls.__new__(cls)
    vars(made).update(fields)
    return made


def one_twice(make: Any) -> tuple[Any, Any]:
    """One object in two places, and two equal ones."""
    one = make()
    return [one, one], [make(), make()]


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
NOON = dt.datetime(2024, 6, 1, 12, 0, 30, 123456)
NOON_BERLIN = NOON.replace(tzinfo=BERLIN)

# What was stored, what came back, the verdict, and each change with its count and its first place.
CASES: dict[str, tuple[Any, Any, str, dict[str, tuple[int, str]]]] = {
    # --- nothing changed ---
    "nothing": ([1, "text", None, 2.5], [1, text("text"), None, 2.5], SAME, {}),
    "other members of a set first": ({1, 9, 17}, {17, 9, 1}, SAME, {}),
    "attributes in another order": (plain(Plain, a=1, b=2), plain(Plain, b=2, a=1), SAME, {}),
    "an unset slot": (Slotted(1), Slotted(1), SAME, {}),
    "any NaN": (nan(1), nan(2), SAME, {"NaN payload changed": (1, "$")}),
    "one NaN": ([nan(1)], [nan(1)], SAME, {}),
    # --- other types ---
    "tuple": ([{"pair": (1, 2)}], [{"pair": [1, 2]}], CHANGED, {"tuple → list": (1, "$[0].pair")}),
    "tuples in tuples": (
        ((1, (2,)), (3,)),
        [[1, [2]], [3]],
        CHANGED,
        {"tuple → list": (4, "$")},
    ),
    "named tuple": (Point(1, (2,)), [1, [2]], CHANGED, {"Point → list": (1, "$"), "tuple → list": (1, "$[1]")}),
    "named tuple as dict": (
        Point(1, (2,)),
        {"x": 1, "y": [2]},
        CHANGED,
        {"Point → dict": (1, "$"), "tuple → list": (1, "$.y")},
    ),
    "set": ({1, 2}, [2, 1], CHANGED, {"set → list": (1, "$")}),
    "set of tuples": (
        {(1, 2), (3, 4)},
        [[3, 4], [1, 2]],
        CHANGED,
        {"set → list": (1, "$"), "tuple → list": (2, "${}")},
    ),
    "frozenset": (frozenset("ab"), {"a", "b"}, CHANGED, {"frozenset → set": (1, "$")}),
    "deque": (collections.deque([1, (2,)]), [1, (2,)], CHANGED, {"deque → list": (1, "$")}),
    "range": (range(3), [0, 1, 2], CHANGED, {"range → list": (1, "$")}),
    "array": (array("d", [1.5]), [1.5], CHANGED, {"array → list": (1, "$")}),
    "ordered": (collections.OrderedDict(a=(1,)), {"a": [1]}, CHANGED, {"OrderedDict → dict": (1, "$"), "tuple → list": (1, "$.a")}),
    "default dict": (collections.defaultdict(list, a=1), {"a": 1}, CHANGED, {"defaultdict → dict": (1, "$")}),
    "other default": (
        collections.defaultdict(list),
        collections.defaultdict(set),
        CHANGED,
        {"value changed: type": (1, "$.default_factory")},
    ),
    "bounded": (collections.deque([1], 3), collections.deque([1]), CHANGED, {"maxlen changed": (1, "$")}),
    "instance as dict": (
        [plain(Plain, a=1, b=(2,))],
        [{"b": [2], "a": 1}],
        CHANGED,
        {"Plain → dict": (1, "$[0]"), "tuple → list": (1, "$[0].b")},
    ),
    "instance as list": (Data(1, (2,)), [1, [2]], CHANGED, {"Data → list": (1, "$"), "tuple → list": (1, "$.y")}),
    "instance as another layout": (Data(1), {"__data__": [1]}, CHANGED, {"Data → dict": (1, "$")}),
    "instance as another": (plain(Plain, a=1), plain(Other, a=2), CHANGED, {"Plain → Other": (1, "$"), "value changed: int": (1, "$.a")}),
    "dict as instance": ({"a": 1}, plain(Plain, a=1), CHANGED, {"dict → Plain": (1, "$")}),
    "user dict": (collections.UserDict(a=(1,)), {"a": [1]}, CHANGED, {"UserDict → dict": (1, "$"), "tuple → list": (1, "$.a")}),
    "user list": (collections.UserList([1]), [2], CHANGED, {"UserList → list": (1, "$"), "value changed: int": (1, "$[0]")}),
    "namespace": (types.SimpleNamespace(a=1), {"a": 1}, CHANGED, {"SimpleNamespace → dict": (1, "$")}),
    "own text": ([Text("a")], ["a"], CHANGED, {"Text → str": (1, "$[0]")}),
    "enum": ([Color.RED, Color.BLUE], [1, "blue"], CHANGED, {"Color → int": (1, "$[0]"), "Color → str": (1, "$[1]")}),
    "other member": (Color.RED, Color.BLUE, CHANGED, {"value changed: Color": (1, "$")}),
    "class": (int, str, CHANGED, {"value changed: type": (1, "$")}),
    "two of one name": (plain(Plain), plain(type("Plain", (), {})), CHANGED, {"Plain → another Plain": (1, "$")}),
    "datetime as text": (NOON, NOON.isoformat(), CHANGED, {"datetime → str": (1, "$")}),
    "None": (None, 0, CHANGED, {"None → int": (1, "$")}),
    "bool": (True, 1, CHANGED, {"bool → int": (1, "$")}),
    "bool in a list": ([True] * 20, [1] * 20, CHANGED, {"bool → int": (20, "$[0]")}),
    "int as float": ([3, 2**60 + 1], [3.0, float(2**60)], CHANGED, {"int → float": (2, "$[0]"), "value changed: int": (1, "$[1]")}),
    "int as text": ([12, 13], ["12", "14"], CHANGED, {"int → str": (2, "$[0]"), "value changed: int": (1, "$[1]")}),
    "Decimal as float": (decimal.Decimal("0.1"), 0.1, CHANGED, {"Decimal → float": (1, "$")}),
    "bytes": (b"a\xff", "YV8=", CHANGED, {"bytes → str": (1, "$")}),
    "bytes as numbers": (b"ab", [97, 98], CHANGED, {"bytes → list": (1, "$")}),
    "bytearray": (bytearray(b"ab"), b"ab", CHANGED, {"bytearray → bytes": (1, "$")}),
    "bytearray and more": (bytearray(b"ab"), b"ac", CHANGED, {"bytearray → bytes": (1, "$"), "value changed: bytearray": (1, "$")}),
    # --- numbers and texts ---
    "NaN lost": ([math.nan, math.inf], [None, None], CHANGED, {"NaN → None": (1, "$[0]"), "infinity → None": (1, "$[1]")}),
    "sign of zero": ([-0.0], [0.0], CHANGED, {"sign of zero lost": (1, "$[0]")}),
    "sign of zeros": ([-0.0] * 30, [0.0] * 30, CHANGED, {"sign of zero lost": (30, "$[0]")}),
    "32 bits": (0.1, struct.unpack("f", struct.pack("f", 0.1))[0], CHANGED, {"float rounded": (1, "$")}),
    "another float": (0.1, 0.2, CHANGED, {"value changed: float": (1, "$")}),
    "another int among many": ([*range(100)], [*range(99), 0], CHANGED, {"value changed: int": (1, "$[99]")}),
    "complex": (1j, 2j, CHANGED, {"value changed: complex": (1, "$")}),
    "another text": ({"a b": "x"}, {"a b": "y"}, CHANGED, {"value changed: str": (1, "$['a b']")}),
    "Decimal's digits": (decimal.Decimal("1.50"), decimal.Decimal("1.5"), CHANGED, {"Decimal: digits changed": (1, "$")}),
    "Fraction": (fractions.Fraction(1, 3), fractions.Fraction(1, 2), CHANGED, {"value changed: Fraction": (1, "$")}),
    "UUID": (uuid.UUID(int=1), uuid.UUID(int=2), CHANGED, {"value changed: UUID": (1, "$")}),
    "path": (pathlib.PurePosixPath("a"), "a", CHANGED, {"PurePosixPath → str": (1, "$")}),
    # --- moments ---
    "milliseconds": (NOON, NOON.replace(microsecond=123000), CHANGED, {"datetime rounded to milliseconds": (1, "$")}),
    "seconds": (NOON, NOON.replace(microsecond=0), CHANGED, {"datetime: microseconds lost": (1, "$")}),
    "another time": (NOON, NOON.replace(hour=1), CHANGED, {"value changed: datetime": (1, "$")}),
    "zone lost": (NOON_BERLIN, NOON, CHANGED, {"datetime: time zone lost": (1, "$")}),
    "zone lost and rounded": (
        NOON_BERLIN,
        dt.datetime(2024, 6, 1, 10, 0, 30, 123000),
        CHANGED,
        {"datetime: time zone lost": (1, "$"), "datetime rounded to milliseconds": (1, "$")},
    ),
    "zone changed": (NOON_BERLIN, NOON_BERLIN.astimezone(dt.timezone.utc), CHANGED, {"datetime: time zone changed": (1, "$")}),
    "zone and time": (
        NOON_BERLIN,
        NOON.replace(tzinfo=dt.timezone.utc),
        CHANGED,
        {"datetime: time zone changed": (1, "$"), "value changed: datetime": (1, "$")},
    ),
    "zone added": (NOON, NOON.replace(tzinfo=dt.timezone.utc), CHANGED, {"datetime: time zone added": (1, "$")}),
    "fold": (NOON.replace(fold=1), NOON, CHANGED, {"datetime: fold lost": (1, "$")}),
    "time": (NOON.time(), NOON.time().replace(microsecond=0), CHANGED, {"time: microseconds lost": (1, "$")}),
    "timedelta": (
        dt.timedelta(microseconds=1500),
        dt.timedelta(microseconds=1000),
        CHANGED,
        {"timedelta rounded to milliseconds": (1, "$")},
    ),
    # --- keys and items ---
    "int keys": ({1: 2, 3: (4,)}, {"1": 2, "3": [4]}, CHANGED, {"int key → str key": (2, "$[1]"), "tuple → list": (1, "$[3]")}),
    "keys of all sorts": (
        {None: 1, True: 2, 2.5: 3, b"k": 4},
        {"null": 1, "true": 2, "2.5": 3, "k": 4},
        CHANGED,
        {"None key → str key": (1, "$[<None>]"), "bool key → str key": (1, "$[<bool>]"), "float key → str key": (1, "$[<float>]"), "bytes key → str key": (1, "$[<bytes>]")},
    ),
    "tuples as keys": ({(1, 2): "a"}, {(1, 3): "a"}, CHANGED, {"value changed: int": (1, "${}[1]")}),
    "equal keys": ({1: "a"}, {True: "a"}, CHANGED, {"int key → bool key": (1, "$[1]")}),
    "keys lost": ({"a": 1, "b": 2, "c": 3}, {"b": 2}, CHANGED, {"keys lost": (2, "$")}),
    "keys added": ({"b": 2}, {"b": 2, "a": 1}, CHANGED, {"keys added": (1, "$")}),
    "keys that became one": ({1: "a", "1": "b"}, {"1": "b"}, CHANGED, {"keys lost": (1, "$")}),
    "order of keys": ({"a": 1, "b": (2,)}, {"b": [2], "a": 1}, CHANGED, {"order of keys changed": (1, "$"), "tuple → list": (1, "$.b")}),
    "items lost": ([[1, 2, 3]], [[1]], CHANGED, {"items lost": (2, "$[0]")}),
    "items added": ([], [0], CHANGED, {"items added": (1, "$")}),
    "members lost": ({1, 2}, {2}, CHANGED, {"items lost": (1, "$")}),
    "another member": ({1, 2}, {1, True + 2}, CHANGED, {"items lost": (1, "$"), "items added": (1, "$")}),
    "member's type": ({1}, {True}, CHANGED, {"int → bool": (1, "${}")}),
    "attributes lost": (plain(Plain, a=1, b=2), plain(Plain, b=2), CHANGED, {"attributes lost": (1, "$")}),
    "attributes added": (plain(Plain), plain(Plain, b=2), CHANGED, {"attributes added": (1, "$")}),
    # --- who is shared with whom ---
    "lists copied": (*one_twice(lambda: [1]), COPIES, {"sharing lost": (1, "$[1]")}),
    "instances copied": (*one_twice(lambda: plain(Plain, a=1)), COPIES, {"sharing lost": (1, "$[1]")}),
    "bytearrays copied": (*one_twice(lambda: bytearray(b"ab")), COPIES, {"sharing lost": (1, "$[1]")}),
    "copied and changed": (
        one_twice(list)[0] * 2,
        [[], [], [], [1]],
        CHANGED,
        {"sharing lost": (3, "$[1]"), "items added": (1, "$[3]")},
    ),
    "lists merged": (*one_twice(lambda: [1])[::-1], CHANGED, {"two lists became one": (1, "$[1]")}),
    "tuples copied": (*one_twice(lambda: tuple(range(2))), SAME, {"equal tuples no longer one object": (1, "$[1]")}),
    "frozen ones copied": (*one_twice(lambda: Frozen(1)), SAME, {"equal Frozens no longer one object": (1, "$[1]")}),
    "tuples merged": (*one_twice(lambda: tuple(range(2)))[::-1], SAME, {}),
    "texts copied": (*one_twice(lambda: text("text")), SAME, {"equal texts no longer one object": (1, "$[1]")}),
    "bytes copied": (*one_twice(lambda: bytes(bytearray(b"ab"))), SAME, {"equal bytes no longer one object": (1, "$[1]")}),
    "texts merged": (*one_twice(lambda: text("text"))[::-1], SAME, {}),
    "characters and numbers": (*one_twice(lambda: 10**30), SAME, {}),
    "shared in tuples": (*one_twice(lambda: ([1],)), COPIES, {"equal tuples no longer one object": (1, "$[1]"), "sharing lost": (1, "$[1][0]")}),
    # --- what cannot be looked into ---
    "closed": (Closed(), Closed(), CHANGED, {"cannot be compared: Closed": (1, "$")}),
}  # fmt: skip


def check(original: Any, restored: Any, verdict: str, changes: dict[str, tuple[int, str]]) -> None:
    found = compare(original, restored)
    assert {change.what: (change.count, change.where) for change in found.changes} == changes
    assert found.verdict == verdict


@each("name", CASES)
def test_changes(name: str) -> None:
    check(*CASES[name])


class Hostile:
    """Whatever Python code of it is called raises."""

    def fail(self, *arguments: Any) -> Any:
        raise RuntimeError("called")

    __getattribute__ = __eq__ = __bool__ = __len__ = __iter__ = fail  # type: ignore[assignment]

    def __hash__(self) -> int:
        return 1  # all alike, so that a dict would ask `__eq__`


class HostileList(list):
    __iter__ = __len__ = __eq__ = __getitem__ = Hostile.fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class HostileDict(dict):
    __iter__ = __len__ = __eq__ = __getitem__ = keys = items = values = Hostile.fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def test_no_code_of_a_class_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "same_pickles", lambda a, b: False)

    def make(key: Any) -> list[Any]:
        return [{Hostile(): 1}, {Hostile()}, HostileList([1, Hostile()]), HostileDict({Hostile(): 2, key: 3})]

    check(make("a"), make("a"), SAME, {})
    check(HostileList([1]), [1], CHANGED, {"HostileList → list": (1, "$")})
    check([Hostile()], [{}], CHANGED, {"Hostile → dict": (1, "$[0]")})
    check(
        [HostileDict(a=1)],
        [{"a": 2}],
        CHANGED,
        {"HostileDict → dict": (1, "$[0]"), "value changed: int": (1, "$[0].a")},
    )


@each("name", CASES)
def test_itself(name: str) -> None:
    original = CASES[name][0]
    if name != "closed":
        check(original, original, SAME, {})


def test_crossed_sharing() -> None:
    first, second = [1], [1]
    check([first, second, first], [first, second, second], CHANGED, {"sharing changed": (1, "$[2]")})


def test_values_behind_tuples_that_were_mixed_up() -> None:
    one, two = (1,), (2,)
    check([one, two, one], [one, two, two], CHANGED, {"value changed: int": (1, "$[2][0]")})


def test_the_most_frequent_change_stands_first() -> None:
    found = compare([b"", (1,), (2,)], ["", [1], [2]])
    assert [change.what for change in found.changes] == ["tuple → list", "bytes → str"]
    assert found.tells == "tuple → list, bytes → str"


# --- cycles, depth, size ---------------------------------------------------------------------------------------------
def ring(length: int) -> list[Any]:
    first: list[Any] = []
    last = first
    for _ in range(length - 1):
        last.append([])
        last = last[0]
    last.append(first)
    return first


def chain(length: int, end: Any, link: Any) -> Any:
    for _ in range(length):
        end = link(end)
    return end


@pytest.mark.parametrize(
    ("original", "restored", "verdict", "what"),
    [
        (1, 1, SAME, ""),
        (5, 5, SAME, ""),
        (1, 2, COPIES, "sharing lost"),
        (2, 1, CHANGED, "two lists became one"),
        (4, 6, CHANGED, "sharing changed"),
    ],
)
def test_rings(original: int, restored: int, verdict: str, what: str) -> None:
    found = compare(ring(original), ring(restored))
    assert found.verdict == verdict
    assert what in found.tells or not what


def test_a_cycle_that_ends() -> None:
    check(ring(1), [[None]], CHANGED, {"list → None": (1, "$[0][0]"), "sharing lost": (1, "$[0]")})
    check([[None]], ring(1), CHANGED, {"two lists became one": (1, "$[0]"), "None → list": (1, "$[0][0]")})


@pytest.mark.parametrize(
    ("depth", "link"),
    [
        (60_000, lambda end: [end]),
        (20_000, lambda end: (end,)),
        (20_000, lambda end: {"next": end}),
        (20_000, lambda end: plain(Plain, next=end)),
    ],
    ids=["list", "tuple", "dict", "instance"],
)
def test_deep(depth: int, link: Any) -> None:
    check(chain(depth, 1, link), chain(depth, 1, link), SAME, {})
    found = compare(chain(depth, 1, link), chain(depth, 2, link))
    (change,) = found.changes
    assert change.what == "value changed: int"
    assert f"… {depth - 24} steps …" in change.where
    assert len(change.where) < 300


def test_deep_tuples_as_lists() -> None:
    check(
        chain(60_000, 1, lambda end: (end,)),
        chain(60_000, 1, lambda end: [end]),
        CHANGED,
        {"tuple → list": (60_000, "$")},
    )


@pytest.mark.parametrize("change", [0, 1])
def test_a_million_numbers_take_little_memory(change: int) -> None:
    original, restored = list(range(1_000_000)), list(range(1_000_000))
    restored[-1] += change
    tracemalloc.start()
    try:
        found = compare(original, restored)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.changes) == change
    assert peak < 16_000_000


def test_the_collector_is_left_as_it_was() -> None:
    for switch, state in ((gc.disable, False), (gc.enable, True)):
        switch()
        compare([], [])
        assert gc.isenabled() is state


# --- texts -----------------------------------------------------------------------------------------------------------
def test_paths_are_cut_and_show_keys_only() -> None:
    long = "k" * 1000
    assert compare({long: 1}, {long: 2}).changes[0].where == f"$.{'k' * 40}…"
    assert compare({10**1000: 1}, {10**1000: 2}).changes[0].where == "$[<int>]"
    assert compare({"\x1b[31m": 1}, {"\x1b[31m": 2}).changes[0].where == r"$['\x1b[31m']"
    shown = compare({b"secret": "secret", ("secret",): ["secret"]}, {b"secret": 1, ("secret",): [2]})
    assert "secret" not in repr(shown)


# --- real codecs -----------------------------------------------------------------------------------------------------
SHARED, TEXT = [1, 2], text("some text")
RICH: dict[Any, Any] = {
    "pair": (1, 2),
    "when": NOON,
    "zone": NOON_BERLIN,
    "set": {1, 2},
    "ordered": collections.OrderedDict(a=1, b=2),
    "bytes": b"abc",
    "big": 2**70,
    "nan": math.nan,
    "zero": -0.0,
    "instance": models.DPoint(1, (2,)),
    1: "int key",
    "texts": [TEXT, TEXT],
    "shared": [SHARED, SHARED],
}
CHANGED_TREE = {
    "tuple → list": (1, "$.pair"),
    "OrderedDict → dict": (1, "$.ordered"),
    "equal texts no longer one object": (1, "$.texts[1]"),
    "sharing lost": (1, "$.shared[1]"),
}


def without(*names: Any) -> dict[Any, Any]:
    return {name: value for name, value in RICH.items() if name not in names}


def test_json() -> None:
    given = without("when", "zone", "set", "bytes", "instance")
    found = {**CHANGED_TREE, "int key → str key": (1, "$[1]")}
    check(given, json.loads(json.dumps(given)), CHANGED, found)
    tuples = {**found, "tuple → list": (2, "$.pair"), "DPoint → dict": (1, "$.instance")}
    given = without("when", "zone", "set", "bytes")
    check(given, json.loads(json.dumps(given, default=vars)), CHANGED, tuples)


def test_marshal() -> None:
    given = without("when", "zone", "ordered", "instance")
    check(given, marshal.loads(marshal.dumps(given)), SAME, {})


def test_pickle_and_holdall() -> None:
    check(RICH, pickle.loads(pickle.dumps(RICH)), SAME, {})
    check(RICH, holdall.loads(holdall.dumps(RICH), types=TYPES), SAME, {})


def test_msgpack() -> None:
    msgpack = pytest.importorskip("msgpack")
    given = without("when", "zone", "set", "big", "instance")
    restored = msgpack.unpackb(msgpack.packb(given), strict_map_key=False)
    check(given, restored, CHANGED, CHANGED_TREE)


def test_cbor2() -> None:
    cbor2 = pytest.importorskip("cbor2")
    given = without("when", "instance")
    found = {**CHANGED_TREE, "datetime: time zone changed": (1, "$.zone")}
    check(given, cbor2.loads(cbor2.dumps(given)), CHANGED, found)


def test_bson() -> None:
    bson = pytest.importorskip("bson")
    found = {
        **CHANGED_TREE,
        "datetime rounded to milliseconds": (2, "$.when"),
        "datetime: time zone lost": (1, "$.zone"),
    }
    given = without("set", "big", "instance", 1)
    check(given, bson.decode(bson.encode(given)), CHANGED, found)


def test_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    given = without("nan")
    found = {
        "datetime: time zone changed": (1, "$.zone"),
        "equal texts no longer one object": (1, "$.texts[1]"),
    }
    restored = yaml.load(yaml.dump(given, sort_keys=False), yaml.UnsafeLoader)
    check(given, restored, CHANGED, found)


def test_msgspec() -> None:
    msgspec = pytest.importorskip("msgspec")
    struct_type = msgspec.defstruct("Data", ["x", ("y", Any, None)])
    given, told = Data(1, (2,)), {"Data → another Data": (1, "$")}
    check(given, msgspec.convert(given, struct_type, from_attributes=True), CHANGED, told)
    check(struct_type(1, (2,)), given, CHANGED, told)
    restored = msgspec.json.decode(msgspec.json.encode(given))
    check(given, restored, CHANGED, {"Data → dict": (1, "$"), "tuple → list": (1, "$.y")})


# --- arrays ----------------------------------------------------------------------------------------------------------
def arrays() -> dict[str, tuple[Any, Any, str, dict[str, tuple[int, str]]]]:
    import numpy as np

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    mapped = np.zeros(3).view(np.memmap)
    inner = [1]
    made: list[tuple[str, Any, Any, str, list[str]]] = [
        ("same", np.arange(3), np.arange(3), SAME, []),
        ("a view", np.arange(6)[::2], np.arange(6)[::2].copy(), SAME, []),
        ("a view of a file", np.zeros(3), mapped, SAME, ["ndarray → memmap"]),
        ("another view of a file", np.ones(3), mapped, CHANGED, ["value changed: float64 array", "ndarray → memmap"]),
        ("read-only", np.zeros(3), frozen, SAME, ["array read-only"]),
        ("dtype", np.zeros(3), np.zeros(3, "f4"), CHANGED, ["float64 → float32 array"]),
        ("byte order", np.ones(3, ">i4"), np.ones(3, "<i4"), CHANGED, ["array byte order changed"]),
        ("order", np.ones((3, 2), order="F"), np.ones((3, 2)), CHANGED, ["array order changed"]),
        ("shape", np.zeros((3, 2)), np.zeros((2, 3)), CHANGED, ["array shape changed"]),
        ("size", np.zeros(3), np.zeros(2), CHANGED, ["array shape changed", "array items lost"]),
        ("list", np.ones((3, 2)), [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], CHANGED, ["ndarray → list"]),
        ("other", np.arange(3), np.ones(3, int), CHANGED, ["value changed: int64 array"]),
        ("rounded", np.array([1 / 3]), np.array([1 / 3 + 1e-12]), CHANGED, ["float64 array rounded"]),
        ("zero", np.array([-0.0]), np.array([0.0]), CHANGED, ["sign of zero changed"]),
        ("NaN", np.array([nan(1)]), np.array([nan(2)]), SAME, ["NaN payload changed"]),
        ("text", np.array(["ab"]), np.array(["ac"]), CHANGED, ["value changed: str64 array"]),
        ("number", np.float32(1.5), 1.5, CHANGED, ["float32 → float"]),
        ("other number", np.float32(1.5), 1.25, CHANGED, ["float32 → float", "value changed: float32"]),
        ("bytes", np.zeros(3), b"", CHANGED, ["ndarray → bytes"]),
        ("structured", np.zeros(2, "i4, f8"), np.zeros(2, "i4, f8"), SAME, []),
        ("mask", np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0]), CHANGED, []),
    ]  # fmt: skip
    cases = {name: (a, b, verdict, dict.fromkeys(found, (1, "$"))) for name, a, b, verdict, found in made}
    cases["mask"] = (*cases["mask"][:3], {"value changed: bool array": (1, "$._mask")})
    objects = np.array([inner, None, inner], object), np.array([[1], None, [1]], object)
    cases["objects"] = (*objects, COPIES, {"sharing lost": (1, "$[2]")})
    return cases


@pytest.mark.skipif(not installed("numpy"), reason="needs numpy")
def test_arrays() -> None:
    for name, case in arrays().items():
        try:
            check(*case)
        except AssertionError as error:
            raise AssertionError(name) from error


def test_numpy_is_not_imported() -> None:
    code = "import sys; from holdall_bench.fidelity import compare; compare([{1}], [[1]]); print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
