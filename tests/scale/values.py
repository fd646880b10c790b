"""Classes that the tests' processes share."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import pathlib
import uuid
from typing import Any, NamedTuple, TypedDict

import numpy as np

_ROOT = pathlib.Path(__file__).parents[2]
# Where workers find these tests, and holdall.
WORKERS_PATH = f"{_ROOT}:{_ROOT / 'python'}"


class Kind(enum.Enum):
    IN = "in"
    OUT = "out"


@dataclasses.dataclass
class Place:
    x: float
    y: float


@dataclasses.dataclass
class Event:
    id: int
    name: str
    value: float
    kind: Kind = Kind.IN
    tags: list[str] = dataclasses.field(default_factory=list)
    place: Place | None = None


@dataclasses.dataclass
class Order:
    number: int
    customer: str
    lines: list[tuple[str, float]]
    at: datetime.datetime


class Wide(TypedDict):
    a: int
    b: dict[str, float]
    c: uuid.UUID
    d: datetime.date | None


class Row(NamedTuple):
    id: int
    half: float


def event(number: int) -> Event:
    place = Place(number / 2, -number) if number % 3 else None
    kind = Kind.OUT if number % 2 else Kind.IN
    return Event(
        number, f"name {number % 100}", number * 0.25, kind, [f"t{number % 5}"] * (number % 4), place
    )


def order(number: int) -> Order:
    at = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=number)
    return Order(number, f"customer {number % 1000}", [(f"item {number % 50}", number * 0.5)] * 2, at)


def arrays(count: int = 20, size: int = 250_000) -> dict[str, Any]:
    return {f"array {number}": np.arange(size, dtype="f8") + number for number in range(count)}


def mixed(count: int = 5_000) -> list[Any]:
    shared = {"currency": "EUR", "rates": [0.07, 0.19]}
    graph: list[Any] = []
    for number in range(count):
        # Deeper chains than this the engines' own pickle can't take.
        of = graph[-1:] if number % 20 else None
        graph.append({"order": order(number), "terms": shared, "seen": {number, number + 1}, "of": of})
    return graph
