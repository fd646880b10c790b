"""Classes whose annotations are text, some of names that come later, or never."""

# ruff: noqa: UP007
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Optional, TypedDict, TypeVar, Union

from typing_extensions import NotRequired, ReadOnly, Required

if TYPE_CHECKING:
    from nowhere import Friend

T = TypeVar("T")
U = TypeVar("U")

Json = Union[dict[str, "Json"], list["Json"], str, float, None]


@dataclass
class Tree:
    value: int
    left: Tree | None = None
    right: Optional["Tree"] = None  # noqa: UP037, UP045
    later: list[Later] = field(default_factory=list)


@dataclass
class Later:
    data: Json
    trees: dict[str, Tree]


@dataclass
class Vars:
    shown: int
    setting: dataclasses.InitVar[int]
    other: dataclasses.InitVar[str] = "o"
    shared: ClassVar[Friend]


class Plain:
    shared: ClassVar[Friend]
    a: int
    b: Inner

    class Inner:
        c: str = "c"


@dataclass
class Unresolved:
    name: str
    friend: Friend


@dataclass
class UnresolvedWithin:
    friends: dict[str, list["Friend"]]  # noqa: UP037


@dataclass
class Wrong:
    a: int[str]


class Total(TypedDict):
    a: int
    b: NotRequired[str]
    c: ReadOnly[NotRequired[float]]


class Partial(Total, total=False):
    d: list[Partial]
    e: Required[int]


class Pair(NamedTuple):
    first: int
    second: Pair | None = None


@dataclass
class Holder(Generic[T]):
    item: T
    items: list[T]
    next: Holder[T] | None = None


@dataclass
class IntHolder(Holder[int]):
    more: str = ""


@dataclass
class Both(Holder[U], Generic[T, U]):
    own: T | None = None


class LaterPlain:
    # The module's names come before the class's: this is the builtin.
    int: int = 0
    self: LaterPlain | None = None


def local_class() -> type:
    @dataclass
    class Local:
        next: Local | None = None

    return Local


def local_tree() -> type:
    @dataclass(slots=True)
    class Tree:
        """Not the module's."""

        only: Tree | None
        extra: Any = None

    return Tree
