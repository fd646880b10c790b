"""Classes of every family, with types that are checked: what typed loading is tested with. Their names are stored."""

from __future__ import annotations

import abc
import enum
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, NewType, TypeVar

import attrs
import msgspec
import numpy as np
import pydantic
from numpy.typing import NDArray
from typing_extensions import NotRequired, Required, TypedDict

import holdall

T = TypeVar("T")
Number = TypeVar("Number", int, float)
Bounded = TypeVar("Bounded", bound=str)
UserId = NewType("UserId", int)


# --- dataclasses -----------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Point:
    x: int
    y: int = 0


@dataclass
class User:
    name: str
    age: int
    tags: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Line:
    start: Point
    end: Point | None = None


@dataclass(slots=True)
class Node:
    value: int
    next: Node | None = None


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


@dataclass
class Box(Generic[T]):
    item: T


@dataclass
class Team:
    name: str
    users: list[User]
    by_id: dict[int, User] = field(default_factory=dict)


# --- classes in a union ----------------------------------------------------------------------------------------------
@holdall.register(tag="cat", tag_field="kind")
@dataclass
class Cat:
    name: str
    lives: int = 9


@holdall.register(tag="dog", tag_field="kind")
@dataclass
class Dog:
    name: str
    good: bool = True


@dataclass
class ByRadius:
    radius: float
    label: str = ""


@dataclass
class BySides:
    width: float
    height: float
    label: str = ""


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


@holdall.register
@dataclass
class Circle(Shape):
    radius: float

    def area(self) -> float:
        return 3 * self.radius * self.radius


@holdall.register
@dataclass
class Square(Shape):
    side: float

    def area(self) -> float:
        return self.side * self.side


# --- what was registered ---------------------------------------------------------------------------------------------
@holdall.register(array_like=True)
@dataclass(slots=True)
class Row:
    id: int
    name: str
    note: str | None = None


@holdall.register(array_like=True, forbid_unknown=True, tag=7)
@dataclass
class TaggedRow:
    id: int
    name: str = ""


@holdall.register(rename="camel")
@dataclass
class Camel:
    first_name: str
    last_name: str = "?"


@holdall.register(forbid_unknown=True)
@dataclass(slots=True)
class Closed:
    a: int
    b: int = 0


class Amount:
    """Known to nobody but by the encode and decode that it is registered with."""

    def __init__(self, cents: int) -> None:
        if cents < 0:
            raise ValueError("an amount is positive")
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and other.cents == self.cents

    def __hash__(self) -> int:
        return hash(self.cents)

    def __repr__(self) -> str:
        return f"Amount({self.cents})"


holdall.register(Amount, encode=lambda amount: amount.cents, decode=Amount)


class Foreign:
    """A class that only hooks know: nothing declares what it holds, and it can't be stored as it is."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> Any:
        raise TypeError("not this way")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Foreign) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    def __repr__(self) -> str:
        return f"Foreign({self.code!r})"


def enc_foreign(obj: object) -> Any:
    if isinstance(obj, Foreign):
        return obj.code
    raise NotImplementedError


def dec_foreign(annotation: Any, obj: Any) -> Any:
    if annotation is Foreign and isinstance(obj, str):
        return Foreign(obj)
    raise NotImplementedError


# --- other families --------------------------------------------------------------------------------------------------
class Pair(NamedTuple):
    left: int
    right: str = "r"


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Options(TypedDict, total=False):
    name: Required[str]
    debug: bool


@attrs.define
class AttrsUser:
    name: str
    age: int = 0


class StructUser(msgspec.Struct):
    name: str
    age: int = 0


class StructRow(msgspec.Struct, array_like=True):
    name: str
    age: int = 0


class StructGet(msgspec.Struct, tag=True, tag_field="op"):
    key: str


class StructPut(msgspec.Struct, tag=True, tag_field="op"):
    key: str
    value: int


class ModelUser(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(default=0, ge=0)


class PlainUser:
    name: str
    age: int = 0

    def __init__(self) -> None:
        raise RuntimeError("called __init__")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainUser) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def make(cls, **fields: Any) -> PlainUser:
        made = cls.__new__(cls)
        vars(made).update(fields)
        return made


@dataclass
class Measured:
    data: NDArray[np.float32]


# --- enums -----------------------------------------------------------------------------------------------------------
class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    BLUE = (0, 0, 255)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Unit(str, enum.Enum):
    METRE = "m"
    SECOND = "s"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


Answer = Literal["yes", "no", 0, None, True]
