"""One graph by many histories: a plan of nodes, and a builder that takes every choice that is no part of the graph at random.

What is drawn is which nodes there are, and which of them are one object. How strings came to be, in which order members came
into sets and attributes into instances, which CPython layout a dict has, what was there before and is gone: that is history.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import json
import random
import sys
import uuid
from typing import Any, Callable

from tests.support import models

# A node: its kind, what it is made of by itself, and the numbers of its children.
Node = tuple[str, Any, list[int]]
Plan = list[Node]

KEYS = ["id", "name", "é", "a key with blanks", "x" * 40, "", "x", "y"]
TEXTS = ["", "a", "é", "ab", "name", "id", "語", "x" * 300, "\ud800", "once upon a time"]
LEAVES: list[Callable[[], Any]] = [
    lambda: None, lambda: True, lambda: False, lambda: 0, lambda: int("1"), lambda: int("70000"), lambda: int("9" * 40),
    lambda: 0.0, lambda: -0.0, lambda: float("1.5"), lambda: float("nan"), lambda: complex("1j"), lambda: ...,
]  # fmt: skip
# Values with an identity of their own, made anew by each call.
VALUES: list[Callable[[], Any]] = [
    lambda: dt.datetime(2020, 1, 2, 3, 4, 5, 6), lambda: dt.date(2020, 1, 2), lambda: dt.timedelta(5),
    lambda: dt.timezone(dt.timedelta(hours=2)), lambda: dt.timezone(dt.timedelta(hours=2), "two"),
    lambda: decimal.Decimal("1.50"), lambda: fractions.Fraction(1, 3), lambda: uuid.UUID(int=7),
    lambda: range(int("5")), lambda: bytearray(b"ab"), lambda: models.MyInt(5), lambda: models.MyBytes(b"x"),
    lambda: models.Color.RED, lambda: models.Level.LOW, lambda: models.Access(1),
]  # fmt: skip


def _scrambled(items: list[Any], rng: random.Random) -> list[Any]:
    return rng.sample(items, len(items))


class Builder:
    """Builds a plan's graph; `seed` is its history."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.rng = random.Random(seed)
        self.made: list[Any] = []

    def text(self, value: str) -> str:
        way = self.rng.randrange(3)
        if way == 0:
            return sys.intern(value)
        if way == 1 and value.isprintable():
            return str(json.loads(json.dumps([value]))[0])
        # A string of its own, but for those that CPython keeps once.
        return (value + " ")[:-1]

    def bytes(self, value: bytes) -> bytes:
        return self.rng.choice([bytes(bytearray(value)), (value + b" ")[:-1]])

    def leaf(self, number: int) -> Any:
        return LEAVES[number]()

    def build(self) -> Any:
        for kind, own, children in self.plan:
            self.made.append(
                self.begin(kind, own, [self.made[child] for child in children if child < len(self.made)])
            )
        for node, (kind, own, children) in zip(self.made, self.plan, strict=True):
            self.fill(node, kind, own, [self.made[child] for child in children])
        return self.made[-1]

    def begin(self, kind: str, own: Any, children: list[Any]) -> Any:
        if kind == "leaf":
            return self.leaf(own)
        if kind == "text":
            return self.text(own)
        if kind == "bytes":
            return self.bytes(own.encode())
        if kind == "value":
            return VALUES[own]()
        if kind == "tuple":
            return tuple(children)
        if kind == "frozenset":
            return self.set_of(frozenset, children)
        if kind == "point":
            return models.DFrozen(*[*children, 0, 0][:2])
        if kind == "moment":
            zones = [child for child in children if isinstance(child, dt.tzinfo)]
            return dt.datetime(2021, 1, 1, tzinfo=zones[0] if zones else None)
        made: dict[str, Callable[[], Any]] = {
            "list": list, "dict": dict, "set": set, "my set": models.MySet, "my dict": models.MyDict,
            "node": lambda: models.PlainDict.__new__(models.PlainDict), "slots": lambda: models.DSlots(0),
        }  # fmt: skip
        return made[kind]()

    def set_of(self, cls: Callable[[Any], Any], members: list[Any]) -> Any:
        found = []
        for member in members:
            try:
                hash(member)
            except TypeError:
                continue
            # Which of two equal members stays is not the set's say: the first in the plan does.
            if not any(member == other for other in found):
                found.append(member)
        members = _scrambled(found, self.rng)
        if self.rng.random() < 0.5:
            grown = set(range(10**6, 10**6 + 500)) | set(members)
            grown -= set(range(10**6, 10**6 + 500))
            return cls(grown)
        return cls(members)

    def pairs(self, own: list[str], children: list[Any]) -> list[tuple[str, Any]]:
        return [(self.text(key), child) for key, child in zip(own, children, strict=False)]

    def fill(self, node: Any, kind: str, own: Any, children: list[Any]) -> None:
        if kind == "list":
            node.extend(children)
            if self.rng.random() < 0.3:
                node.append(1)
                node.pop()
        elif kind in ("set", "my set"):
            node.update(self.set_of(set, children))
        elif kind in ("dict", "my dict"):
            gone = [f"gone {number}" for number in range(self.rng.choice([0, 3, 40]))]
            for key in gone:
                node[key] = 0
            for key, child in self.pairs(own, children):
                node[key] = child
            for key in gone:
                del node[key]
        elif kind in ("node", "slots"):
            names = own if kind == "node" else ["x", "y"]
            pairs = _scrambled(self.pairs(names, children), self.rng)
            if kind == "node" and self.rng.random() < 0.5:
                # A dict of its own instead of one that shares its keys with other instances of the class.
                node.__dict__ = dict(pairs)
                return
            for name, child in pairs:
                setattr(node, name, child)
