"""The classes whose instances the benchmarks store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Optional


@dataclass(slots=True)
class Sample:
    """One of the 100,000 `(float, str)` records."""

    value: float
    label: str


@dataclass(slots=True)
class Baz:
    """The leaf of serbench: two strings."""

    first: str
    second: str


@dataclass(slots=True)
class Bar:
    """The middle of serbench."""

    number: int
    bazs: list[Baz]
    counts: dict[str, int]


@dataclass(slots=True)
class Foo:
    """The top of serbench: five strings and its Bars."""

    agency: str
    software: str
    management: str
    consultant: str
    remark: str
    bars: list[Bar]


@dataclass(slots=True, eq=False)
class Node:
    """A node of a cyclic graph. Compared by identity: field-wise `==` would not end."""

    ident: int
    label: str
    neighbours: list  # type: ignore[type-arg]  # pyfory reads the annotation; bare means "any"


@dataclass(slots=True)
class Party:
    """Who sends or receives a message."""

    id: int
    name: str
    address: str
    verified: bool


@dataclass(slots=True)
class Item:
    """One of the four things a message speaks of."""

    sku: str
    count: int
    price: float
    note: str


@dataclass(slots=True)
class Message:
    """A queue message; its fields are the keys of the dicts that `data.messages` makes."""

    id: str
    sequence: int
    kind: str
    created: datetime
    updated: datetime
    sender: Party
    receiver: Party
    body: str
    amount: float
    rates: list[float]
    tags: list[str]
    items: list[Item]
    retry: Optional[int]  # noqa: UP045 - pyfory reads the annotation, and knows no `int | None`
    urgent: bool


class Plain:
    """An ordinary class: its attributes are in a dict."""

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text


@dataclass(slots=True)
class Address:
    """Where people live, several of them at times."""

    street: str
    state: str
    zip: str


@dataclass(slots=True)
class Person:
    first: str
    second: str
    age: int
    addresses: list[Address]
    telephone: str
    email: str
