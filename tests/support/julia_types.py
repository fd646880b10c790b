"""Python's side of the types in the sample files' `types.jl`, and of serbench's."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from holdall.julia import Int8, UInt8


@dataclass(slots=True)
class Point:
    x: float
    y: float


@dataclass(slots=True)
class Empty:
    pass


@dataclass(slots=True)
class RGB:
    r: UInt8
    g: UInt8
    b: UInt8


@dataclass(slots=True)
class Mixed:
    a: Int8
    b: float
    c: bool


# Of a type with parameters, which instances keep in their `__dict__`.
@dataclass
class Wrapper:
    x: Any
    n: int


@dataclass(slots=True)
class Person:
    name: str
    age: Any
    tags: list[str]


@dataclass(slots=True)
class Counter:
    n: int


@dataclass(slots=True)
class Node:
    name: str
    next: Any


class Fruit(enum.Enum):
    apple = 1
    banana = 2
    kiwi = 7


@dataclass(slots=True)
class Deep:
    v: int


@dataclass(slots=True)
class Foo:
    agency: str
    software: str
    kind: str
    consumer: str
    remark: Any
    bars: list[Bar]


@dataclass(slots=True)
class Bar:
    n: int
    bazs: list[Baz]
    counts: dict[str, int]


@dataclass(slots=True)
class Baz:
    group: str
    description: str


CLASSES: dict[str, type[Any]] = {
    "Main.Point": Point,
    "Main.Empty": Empty,
    "Main.RGB": RGB,
    "Main.Mixed": Mixed,
    "Main.Wrapper": Wrapper,
    "Main.Person": Person,
    "Main.Counter": Counter,
    "Main.Node": Node,
    "Main.Fruit": Fruit,
    "Main.Lab.Inner.Deep": Deep,
    "serbench.Foo": Foo,
    "serbench.Bar": Bar,
    "serbench.Baz": Baz,
}
MUTABLE = ("Main.Counter", "Main.Node")
