"""Instances of subclasses of builtins, of struct sequences and of classes with a `decode`, whose content is small, are made without a
frame; those whose content isn't, or not all of it, with one. The result is the same."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import os
import time
from typing import Any

import pytest

import holdall
from tests.support.isomorphic import isomorphic


class Str(str):
    pass


class Bytes(bytes):
    pass


class Int(int):
    pass


class Float(float):
    pass


class Complex(complex):
    pass


class Tuple(tuple[Any, ...]):
    pass


class List(list[Any]):
    pass


class SlottedList(list[Any]):
    __slots__ = ("first", "second")


class Deque(collections.deque[Any]):
    pass


class ByteArray(bytearray):
    pass


class FrozenSet(frozenset[Any]):
    pass


class Set(set[Any]):
    pass


class Dict(dict[Any, Any]):
    pass


class DefaultDict(collections.defaultdict[Any, Any]):
    pass


TYPES = [
    Str,
    Bytes,
    Int,
    Float,
    Complex,
    Tuple,
    List,
    SlottedList,
    Deque,
    ByteArray,
    FrozenSet,
    Set,
    Dict,
    DefaultDict,
]
LEAF: list[Any] = ["text", "\u00e4", 1, 1 << 70, 1.5, 2j, b"bytes", None, True]
ITEMS: list[Any] = [
    (),
    (1,),
    (1.5, "text"),
    ("a", "b", "c"),
    tuple(range(40)),
    (1, (2, (3,))),
    (1, [2, [3]]),
    (1, {"a": [2]}),
    ((((1,),),),),
    ("a", 1 << 70, b"b", 1j, None),
]


def contents() -> Any:
    of: dict[type, Any] = {str: Str, bytes: Bytes, int: Int, float: Float, complex: Complex}
    yield from (of[type(leaf)](leaf) for leaf in LEAF if type(leaf) in of)
    for items in ITEMS:
        yield Tuple(items)
        yield List(items)
        yield SlottedList(items)
        yield Deque(items)
        yield Deque(items, 50)
        yield Dict(enumerate(items))
        yield DefaultDict(list, enumerate(items))
        if not any(isinstance(item, list | dict | tuple) for item in items):
            yield FrozenSet(items)
            yield Set(items)
    yield ByteArray(b"")
    yield ByteArray(b"bytes")


def with_fields(made: Any, fields: tuple[Any, ...]) -> Any:
    for name, value in zip(("first", "second"), fields, strict=False):
        setattr(made, name, value)
    return made


def test_there_and_back() -> None:
    """Contents and fields of all kinds, small and large, twice and beside each other."""
    fields: list[tuple[Any, ...]] = [(), (1,), ("text", [1, (2,)]), ({"a": 1}, None)]
    for some in fields:
        made = [with_fields(one, some) for one in contents()]
        whole = [made, made[::-1]]
        again = holdall.loads(holdall.dumps(whole), types=TYPES)
        isomorphic(again, whole)
        for one in made:
            isomorphic(holdall.loads(holdall.dumps(one), types=TYPES), one)


@pytest.mark.parametrize("cls", [Tuple, List, SlottedList, Deque])
def test_contents_that_share_and_hold_themselves(cls: Any) -> None:
    shared = ["shared"]
    for fields in ((), (shared,), (shared, 1)):
        made = with_fields(cls(["a", shared, ("b", shared)]), fields)
        isomorphic(holdall.loads(holdall.dumps([shared, made, made]), types=TYPES), [shared, made, made])
        ring: list[Any] = ["a"]
        held = with_fields(cls([1, ring]), fields)
        ring.append(held)
        isomorphic(holdall.loads(holdall.dumps([held]), types=TYPES), [held])
        again = holdall.loads(holdall.dumps(held), types=TYPES)
        assert again[1][1] is again
        if fields:
            held.first = held
            isomorphic(holdall.loads(holdall.dumps(held), types=TYPES), held)


def test_keys_of_subclasses_find_their_values() -> None:
    keys: list[Any] = [
        Tuple((1, "a")),
        Tuple((1, ("a", 2))),
        Str("text"),
        Int(5),
        FrozenSet("ab"),
        Tuple(range(40)),
    ]
    made = {with_fields(key, ("one", "two")): number for number, key in enumerate(keys)}
    again = holdall.loads(holdall.dumps(made), types=TYPES)
    assert [again[key] for key in keys] == list(range(len(keys)))
    assert [(type(key), key.second) for key in again] == [(type(key), "two") for key in keys]


def test_struct_sequences() -> None:
    made = [os.stat("."), time.gmtime(0), os.times(), os.terminal_size((80, 24))]
    again = holdall.loads(holdall.dumps([made, made], trust=True), trust=True)
    for one, other in zip(again[0], made, strict=True):
        assert type(one) is type(other) and one == other and one.__reduce__() == other.__reduce__()
    assert all(one is other for one, other in zip(*again, strict=True))


@dataclasses.dataclass
class Kept:
    state: Any


holdall.register(Kept, encode=lambda one: one.state, decode=Kept)


def test_a_decode_of_ones_own() -> None:
    states: list[Any] = [*LEAF, *ITEMS, *map(list, ITEMS), {"a": [1]}, {}, [], ["a", ("b", [1, 2, 3])]]
    made = [Kept(state) for state in states]
    isomorphic(holdall.loads(holdall.dumps([made, made[::-1]])), [made, made[::-1]])
    ring = Kept([1])
    ring.state.append(ring)
    with pytest.raises(holdall.EncodeError):
        holdall.dumps(ring)


def test_bounds_count_what_has_no_frame() -> None:
    made: list[Any] = [List(["a", "b"]), Tuple((1, ("a", "b"))), Deque(["a"]), Str("text")] * 50
    for one in made:
        one.first = ["c", "d"]
    data = holdall.dumps([[one] for one in made])
    assert len(holdall.loads(data, types=TYPES, limits=holdall.Limits(objects=2_000))) == 200
    with pytest.raises(holdall.LimitError):
        holdall.loads(data, types=TYPES, limits=holdall.Limits(objects=20))


def test_every_end_and_every_byte() -> None:
    made = [with_fields(one, ("x", [1])) for one in itertools.islice(contents(), 24)]
    data = holdall.dumps([made, time.gmtime(0)], trust=True)
    for end in range(1, len(data)):
        with pytest.raises(holdall.DecodeError):
            holdall.loads(data[:end], types=TYPES)
    for at, byte in enumerate(data):
        changed = bytearray(data)
        changed[at] = byte ^ 0x11
        with contextlib.suppress(holdall.HoldallError):
            holdall.loads(changed, types=TYPES)


@pytest.mark.parametrize(
    "bounds", [(0, 5, 1), (5, 0, -2), (0, 0, 3), (-(1 << 62), 1 << 62, 1 << 61), (1 << 70, 1 << 71, 1)]
)
def test_ranges_and_slices(bounds: tuple[int, int, int]) -> None:
    start, stop, _ = bounds
    made: list[Any] = [
        range(*bounds),
        slice(*bounds),
        slice(None, stop),
        slice(start, None, None),
        slice("a", "b", None),
    ]
    again = holdall.loads(holdall.dumps([made, made]))
    assert [repr(one) for one in again[0]] == [repr(one) for one in made]
    assert all(one is other for one, other in zip(*again, strict=True))
    assert again[0][0] == made[0] and list(again[0][0][:3]) == list(made[0][:3])


def test_fields_of_exceptions() -> None:
    made: list[OSError] = [
        OSError(2, "no", "a"),
        FileNotFoundError(2, "no", "a", None, "b"),
        BlockingIOError(1, "text", 5),
        OSError(2, ["no"], {"a": 1}),
        OSError(),
    ]
    again = holdall.loads(holdall.dumps([made, made]))
    isomorphic(again, [made, made])
    for one, other in zip(again[0], made, strict=True):
        assert type(one) is type(other) and one.args == other.args and str(one) == str(other)
        for name in ("errno", "strerror", "filename", "filename2"):
            assert getattr(one, name) == getattr(other, name)


def test_a_field_of_an_exception_that_is_there_twice() -> None:
    data = holdall.dumps(OSError(2, "no", "a"))
    assert data.count(b"filename") == 1
    with pytest.raises(holdall.DecodeError, match="same name"):
        holdall.loads(data.replace(b"filename", b"strerror"))


@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_struct_sequences_deep_by_references(depth: int) -> None:
    """CPython frees them by recursion: a message whose tuples claim to be such is refused before that."""
    cls = type(
        "terminal_size", (tuple,), {"__module__": "os", "__qualname__": "terminal_size", "__slots__": ()}
    )
    one = cls((0, 0))
    made = [one]
    for _ in range(depth):
        one = cls((one, 0))
        made.append(one)
    data = holdall.dumps(made)
    if depth < 8_000:
        again = holdall.loads(data, types=[os.terminal_size])
        assert type(again[-1]) is os.terminal_size and again[-1][0] is again[-2]
        return
    with pytest.raises(holdall.DecodeError, match="frees by recursion"):
        holdall.loads(data, types=[os.terminal_size])


class Hidden(list[Any]):
    """Its `__setstate__` is there for the class, and not for those who ask an instance."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__setstate__":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("the instance says that there is none")

    def __reduce__(self) -> Any:
        return (Hidden, (), {"a": 1})


def test_a_setter_of_the_state_that_an_instance_hides() -> None:
    (again,) = holdall.loads(holdall.dumps([Hidden()], trust=True), trust=True)
    assert vars(again) == {"a": 1}
