"""The classes of `kinds`: one of each sort that Python has a way to declare."""

from __future__ import annotations

import collections
import enum
from dataclasses import dataclass
from typing import Any, NamedTuple


class Equal:
    """Equal by class and attributes, so that what came back can be compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and state_of(self) == state_of(other)

    __hash__ = None  # type: ignore[assignment]


def state_of(obj: Any) -> dict[str, Any]:
    named = {
        name: getattr(obj, name, None) for cls in type(obj).__mro__ for name in getattr(cls, "__slots__", ())
    }
    return {**named, **getattr(obj, "__dict__", {})}


class Plain(Equal):
    def __init__(self, ident: int, name: str, weight: float) -> None:
        self.ident, self.name, self.weight = ident, name, weight


class Optional(Equal):
    """Its instances have different attributes."""


class Slotted(Equal):
    __slots__ = ("ident", "name", "weight")

    def __init__(self, ident: int, name: str, weight: float) -> None:
        self.ident, self.name, self.weight = ident, name, weight


class Derived(Slotted):
    """Slots, and a `__dict__`."""

    def __init__(self, ident: int, name: str, weight: float) -> None:
        super().__init__(ident, name, weight)
        self.more = (ident, name)


@dataclass
class Record:
    ident: int
    name: str
    weight: float


@dataclass(frozen=True)
class Frozen:
    ident: int
    name: str
    weight: float


@dataclass(slots=True)
class SlottedRecord:
    ident: int
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class FrozenSlotted:
    ident: int
    name: str
    weight: float


@dataclass
class Wide:
    a: int
    b: str
    c: float
    d: bool
    e: None
    f: int
    g: str
    h: float
    i: int
    j: str
    k: str
    l: str  # noqa: E741


@dataclass
class Nested:
    ident: int
    inner: Record
    others: list[Record]


class Point(NamedTuple):
    x: float
    y: float
    name: str


Pair = collections.namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    BLUE = (0, 0, 255)
    YELLOW = 4


class Level(enum.IntEnum):
    LOW = 1
    MIDDLE = 5
    HIGH = 10


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4
    LIST = 8


class Name(str):
    """A str."""


class NamedName(str):
    """A str with an attribute."""

    origin: str


class Count(int):
    """An int."""


class Measure(float):
    """A float."""


class Blob(bytes):
    """Bytes."""


class Buffer(bytearray):
    """A bytearray."""


class Items(list):  # type: ignore[type-arg]
    """A list."""


class Table(dict):  # type: ignore[type-arg]
    """A dict."""


class Triple(tuple):  # type: ignore[type-arg]
    """A tuple."""

    __slots__ = ()


class Group(set):  # type: ignore[type-arg]
    """A set."""


class FrozenGroup(frozenset):  # type: ignore[type-arg]
    """A frozenset."""


class Ordered(collections.OrderedDict):  # type: ignore[type-arg]
    """An ordered dict."""


class Defaults(collections.defaultdict):  # type: ignore[type-arg]
    """A default dict."""


class Queue(collections.deque):  # type: ignore[type-arg]
    """A deque."""


class Failure(Exception):
    """An error of the user's own."""


class Refusal(Failure):
    """One with attributes."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.code = code
