"""What `holdall bench` says a round trip changed: each kind of change, its verdict, and where it is first."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

from holdall._bench.results import Fidelity


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
