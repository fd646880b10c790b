"""Loads by type: unions that look ahead, one object as several types, defaults, checks that read what they check."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

import holdall
from tests.complexity.family import copies, family, fill
from tests.support import typed_models
from tests.support import wire as w

ONE = w.integer(1)
LIST_1 = bytes([w.TAG.LIST_FIX + 1])
FIRST = bytes([w.TAG.INSTANCE_FIX])
DOORS = ("typed", "lax")


@dataclass
class Node:
    value: Any = None
    next: Node | None = None
    kind: str = "node"


@dataclass
class A:
    a: Any = None
    same: Any = None


@dataclass
class B:
    b: Any = None
    same: Any = None


@holdall.register(tag="x", tag_field="kind", name="complexity.Tagged")
@dataclass
class Tagged:
    inner: Tagged | OtherTagged | None = None


@holdall.register(tag="y", tag_field="kind", name="complexity.OtherTagged")
@dataclass
class OtherTagged:
    inner: Tagged | OtherTagged | None = None


@dataclass
class Wide:
    """Defaults that are made for each."""

    a: list[int] = field(default_factory=lambda: [0] * 20)
    b: dict[str, int] = field(default_factory=dict)
    c: set[int] = field(default_factory=set)
    d: collections.deque[int] = field(default_factory=collections.deque)


def dicts_in_each_other(n: int, key: str) -> bytes:
    level = w.tag("DICT", b"\x01", w.text(key))
    return w.message(level * (n // len(level)) + w.NONE)


@family("hold", type=Node, doors=DOORS)
def nested_documents_as_nodes(n: int) -> bytes:
    return dicts_in_each_other(n, "next")


@family("hold", type=Node, doors=DOORS)
def nested_shapes_as_nodes(n: int) -> bytes:
    return w.message(w.shape(["next"]) + FIRST * n + w.NONE)


@family("hold", type=Tagged | OtherTagged, doors=DOORS)
def tags_behind_what_they_tag(n: int) -> bytes:
    """Which class it is stands behind the nested value, on every level: each is looked through for its tag."""
    level = w.tag("DICT", b"\x02", w.text("inner"))
    tail = w.text("kind") + w.text("x")
    depth = n // len(level + tail)
    return w.message(level * depth + w.NONE + tail * depth)


@family("hold", type=Tagged | OtherTagged, doors=DOORS)
def tags_behind_much(n: int) -> bytes:
    body = w.sequence(*[ONE] * (n - 40))
    return w.message(w.dict_(w.text("inner"), body, w.text("kind"), w.text("x")))


@family("hold", type=list[Tagged | OtherTagged], doors=DOORS)
def tags_behind_a_reference(n: int) -> bytes:
    """The tag is a reference, in each of many."""
    part = w.dict_(w.text("inner"), w.NONE, w.text("kind"), w.text("x"))
    return w.message(w.sequence(*copies(n, part)))


@family("hold", type=A | B, doors=DOORS)
def classes_told_by_their_keys(n: int) -> bytes:
    level = w.tag("DICT", b"\x02", w.text("same"))
    tail = w.text("b") + ONE
    depth = n // len(level + tail)
    return w.message(level * depth + w.NONE + tail * depth)


@family("hold", type=list[int] | dict[str, Any] | str, doors=DOORS)
def union_of_a_deep_value(n: int) -> bytes:
    return w.message(LIST_1 * n + ONE)


@family("hold", type=tuple[Any, Any, list[Any], tuple[Any, ...], set[Any] | None, Any], doors=DOORS)
def one_list_as_other_types(n: int) -> bytes:
    shared = w.mark(w.sequence(*[ONE] * (n - 50)))
    return w.message(w.tuple_(shared, w.reference(1), w.reference(1), w.reference(1), w.reference(1), ONE))


@family("hold", type=list[tuple[int, ...]], doors=DOORS)
def one_list_as_many_tuples(n: int) -> bytes:
    """Another object than was stored, each time that it is referred to."""
    shared = w.mark(w.sequence(*[ONE] * (n // 2)))
    return w.message(w.sequence(shared, *copies(n // 2, w.reference(1))))


@family("hold", type=tuple[list[int], list[set[int]]], doors=DOORS)
def one_list_as_many_sets(n: int) -> bytes:
    shared = w.mark(w.sequence(*[w.integer(at) for at in range(n // 20)]))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


@family("hold", type=tuple[Any, list[list[int]]], doors=DOORS)
def one_list_checked_again(n: int) -> bytes:
    """Built as anything, referred to as lists of ints."""
    shared = w.mark(w.sequence(*[ONE] * (n // 2)))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


@family("hold", type=tuple[Any, list[dict[str, int]]], doors=DOORS)
def one_dict_checked_again(n: int) -> bytes:
    shared = w.mark(w.dict_(*[part for at in range(n // 16) for part in (w.text(f"{at}"), ONE)]))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


@family("hold", type=tuple[Any, list[A]], doors=DOORS)
def one_dict_as_many_instances(n: int) -> bytes:
    shared = w.mark(w.dict_(w.text("a"), w.sequence(*[ONE] * (n // 2))))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


@family("hold", type=tuple[Any, list[float]], doors=DOORS)
def one_int_as_many_floats(n: int) -> bytes:
    shared = w.mark(w.sized("INT_BIG", min(n // 2, 120), b"\x11" * min(n // 2, 120)))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


TEXTUAL: dict[str, tuple[Any, Callable[[int], str]]] = {
    "ints": (int, lambda size: "1" * size),
    "floats": (float, lambda size: "1" * size),
    "decimals": (decimal.Decimal, lambda size: "1" * size),
    "fractions": (fractions.Fraction, lambda size: "1" * size),
    "ratios": (fractions.Fraction, lambda size: "3/" + "7" * size),
    "UUIDs": (uuid.UUID, lambda size: "1" * size),
    "datetimes": (datetime.datetime, lambda size: "2024-01-01T00:00:00." + "0" * size),
    "timedeltas": (datetime.timedelta, lambda size: "P" + "1" * size + "D"),
    "paths": (pathlib.Path, lambda size: "a/" * (size // 2)),
    "IPv6": (ipaddress.IPv6Address, lambda size: "::1%" + "a" * size),
    "IPv4 networks": (ipaddress.IPv4Network, lambda size: "1.0.0.0/" + "0" * size),
    "patterns": (re.Pattern[str], lambda size: "a" * min(size, 30_000)),
    "bytes": (bytes, lambda size: "YWFh" * (size // 4)),
    "complex": (complex, lambda size: "1" * size),
    "texts that match": (Annotated[str, msgspec.Meta(pattern="^a*$")], lambda size: "a" * size),
    "texts of a length": (Annotated[str, msgspec.Meta(max_length=1 << 40)], lambda size: "é" * (size // 2)),
    "literals": (Literal["a", "b"] | int, lambda size: "a" * size),
}


def _textual(kind: str) -> None:
    """One text, many times as another type; and many texts, each as one."""
    wanted, make = TEXTUAL[kind]

    def shared(n: int) -> bytes:
        return w.message(w.tuple_(w.mark(w.text(make(n // 2))), w.sequence(*copies(n // 2, w.reference(1)))))

    def single(n: int) -> bytes:
        return w.message(w.tuple_(w.NONE, w.sequence(w.text(make(n)))))

    def hundreds(n: int) -> bytes:
        return w.message(w.tuple_(w.NONE, w.sequence(*copies(n, w.text(make(max(int(n**0.5), 4)))))))

    for name, of in {"one text as many": shared, "one text as one of": single, "texts as": hundreds}.items():
        of.__name__ = f"{name}: {kind}"
        family("hold", type=tuple[Any, list[wanted]], doors=DOORS)(of)


for _kind in TEXTUAL:
    _textual(_kind)


@family("hold", type=list[Wide], doors=DOORS)
def defaults_made_for_each(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.tag("DICT_EMPTY"))))


@family("hold", type=list[A], doors=DOORS)
def empty_documents_as_instances(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.tag("DICT_EMPTY"))))


@family("hold", type=list[A], doors=DOORS)
def empty_shapes_as_instances(n: int) -> bytes:
    return w.message(w.sequence(w.shape([]), *copies(n, FIRST)))


@family("hold", type=list[A], doors=DOORS)
def unknown_fields(n: int) -> bytes:
    """Passed over unread."""
    return w.message(w.sequence(w.dict_(w.text("unknown"), LIST_1 * n + ONE)))


@family("hold", type=list[A], doors=DOORS)
def wide_shapes_as_instances(n: int) -> bytes:
    keys = [f"k{at}" for at in range(n // 16)]
    return w.message(w.sequence(w.shape(keys, ONE * len(keys)), *copies(n // 2, FIRST + ONE * len(keys))))


@family("hold", type=list[dict[int, int]], doors=DOORS)
def texts_that_become_one_key(n: int) -> bytes:
    items = [part for at in range(n // 8) for part in (w.text(str(at)), ONE)]
    return w.message(w.sequence(w.dict_(*items)))


@family("hold", type=set[int], doors=DOORS)
def colliding_ints_as_a_set(n: int) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: w.integer(at * ((1 << 61) - 1)))))


@family("hold", type=dict[int, int], doors=DOORS)
def colliding_ints_as_keys(n: int) -> bytes:
    items = fill(n, lambda at: w.integer(at * ((1 << 61) - 1)) + ONE)
    return w.message(w.tag("DICT", w.length(len(items)), *items))


@family("hold", type=set[uuid.UUID], doors=DOORS)
def colliding_UUIDs_as_a_set(n: int) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: w.text(str(uuid.UUID(int=at * ((1 << 61) - 1)))))))


@family("hold", type=set[tuple[int, ...]], doors=DOORS)
def colliding_tuples_as_a_set(n: int) -> bytes:
    def one(at: int) -> bytes:
        return w.sequence(*(w.integer(-2 if at >> bit & 1 else -1) for bit in range(20)))

    return w.message(w.sequence(*fill(n, one)))


@family("hold", type=frozenset[fractions.Fraction], doors=DOORS)
def colliding_fractions_as_a_set(n: int) -> bytes:
    p = (1 << 61) - 1
    return w.message(w.sequence(*fill(n, lambda at: w.text(f"{1 + 2 * p * at}/2"))))


@family("hold", type=set[Annotated[str, msgspec.Meta(max_length=3)]] | None, doors=DOORS)
def refused_at_its_end(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.text("abc")), w.text("abcd")))


@family("hold", type=NDArray[np.float64], doors=DOORS)
def deep_list_as_an_array(n: int) -> bytes:
    return w.message(LIST_1 * n + ONE)


@family("hold", type=NDArray[np.float64], doors=DOORS)
def ragged_list_as_an_array(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, LIST_1 + ONE), w.sequence(ONE, ONE)))


@family("hold", type=list[NDArray[np.int64]], doors=DOORS)
def one_list_as_many_arrays(n: int) -> bytes:
    shared = w.mark(w.sized("LIST_I8", n // 2, b"\1" * (n // 2)))
    return w.message(w.sequence(shared, *copies(n // 2, w.reference(1))))


@family("hold", type=list[NDArray[np.int64]], doors=DOORS)
def empty_lists_as_arrays(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, bytes([w.TAG.LIST_FIX]))))


@family("hold", type=typed_models.Node, honest=True, doors=DOORS)
def a_linked_list_tail_first(n: int) -> bytes:
    """Nodes, of which each is made before the one that refers to it. What honest writers do of `[tail, ..., head]`."""

    def made(count: int) -> Any:
        node = None
        for at in range(count):
            node = typed_models.Node(at, node)
        return node

    few = len(holdall.dumps(made(200))) - len(holdall.dumps(made(100)))
    return holdall.dumps(made(max(n * 100 // few, 1)))


@family("hold", type=list[typed_models.Node], honest=True, doors=DOORS)
def all_nodes_of_a_linked_list_tail_first(n: int) -> bytes:
    def made(count: int) -> Any:
        nodes: list[Any] = []
        for at in range(count):
            nodes.append(typed_models.Node(at, nodes[-1] if nodes else None))
        return nodes

    few = len(holdall.dumps(made(200))) - len(holdall.dumps(made(100)))
    return holdall.dumps(made(max(n * 100 // few, 1)))


@family("hold", type=list[typed_models.Node], honest=True, doors=DOORS)
def all_nodes_of_a_linked_list_head_first(n: int) -> bytes:
    def made(count: int) -> Any:
        nodes: list[Any] = []
        for at in range(count):
            nodes.append(typed_models.Node(at, nodes[-1] if nodes else None))
        return nodes[::-1]

    few = len(holdall.dumps(made(200))) - len(holdall.dumps(made(100)))
    return holdall.dumps(made(max(n * 100 // few, 1)))


class ByTuple(enum.Enum):
    PAIR = (1, 2)


@family("hold", type=tuple[Any, list[ByTuple | tuple[Any, ...]]], doors=DOORS)
def one_tuple_as_many_members(n: int) -> bytes:
    """Each is looked up by its hash, which is that of all it holds."""
    shared = w.mark(w.tuple_(*[ONE] * (n // 2)))
    return w.message(w.tuple_(shared, w.sequence(*copies(n // 2, w.reference(1)))))


@family("hold", type=list[ByTuple], doors=DOORS)
def members_by_pairs(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.tuple_(ONE, w.integer(2)))))
