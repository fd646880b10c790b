"""Calls that meet a class for the first time: what is found out about it is kept for good, and is not to be wrong for good because
memory ran out while it was.

Annotations are no texts here: CPython's compiler corrupts its heap where it gets no memory (3.11: `eval` alone, called in a loop of
failing allocations, ends the process).
"""

import dataclasses
import enum
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import holdall
from holdall import bson, msgpack
from tests.faults.calls import Call, looks

MODULE = sys.modules[__name__]


def plain() -> Any:
    class Made:
        def __init__(self) -> None:
            self.a, self.b = 1, ["x"]

    return Made


def slots() -> Any:
    class Made:
        __slots__ = ("a", "b")

        def __init__(self) -> None:
            self.a, self.b = 1, ["x"]

    return Made


def dataclass() -> Any:
    @dataclasses.dataclass
    class Made:
        a: int = 1
        b: list[str] = dataclasses.field(default_factory=lambda: ["x"])

    return Made


def named_tuple() -> Any:
    class Made(NamedTuple):
        a: int = 1
        b: tuple[str, ...] = ("x",)

    return Made


def enumeration() -> Any:
    class Made(enum.Enum):
        A = 1
        B = "x"

    return Made


def of_list() -> Any:
    class Made(list[int]):
        pass

    return Made


def exception() -> Any:
    class Made(ValueError):
        pass

    return Made


CLASSES: dict[str, Callable[[], Any]] = {
    "plain": plain,
    "slots": slots,
    "dataclass": dataclass,
    "named tuple": named_tuple,
    "enumeration": enumeration,
    "list": of_list,
    "exception": exception,
}


class Fresh:
    """A class of its own, and an instance, made anew before each attempt; always under the same name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.renew()
        self.data = holdall.dumps([self.instance])
        self.cls = self.instance = None

    def renew(self) -> None:
        cls = CLASSES[self.kind]()
        cls.__module__, cls.__qualname__ = __name__, "Made"
        MODULE.Made = cls  # type: ignore[attr-defined]
        self.cls = cls
        self.instance = next(iter(cls)) if self.kind == "enumeration" else cls()


def fresh_calls(names: set[str] | None = None) -> Iterator[Call]:
    for kind in CLASSES:
        if names is not None and kind not in names:
            continue
        doors: dict[str, Callable[[Fresh], Any]] = {
            "dumps": lambda made: holdall.dumps([made.instance]),
            "canonical": lambda made: holdall.dumps([made.instance], canonical=True),
            "trusted": lambda made: holdall.dumps([made.instance], trust=True),
            "loads": lambda made: holdall.loads(made.data, types=[made.cls]),
            "deepcopy": lambda made: holdall.deepcopy([made.instance]),
        }
        if kind in ("dataclass", "named tuple", "enumeration"):
            doors |= {
                "typed loads": lambda made: holdall.loads(made.data, type=list[made.cls]),  # type: ignore[name-defined]
                "msgpack": lambda made: msgpack.dumps([made.instance]),
                "bson": lambda made: bson.dumps({"held": made.instance}),
            }
        for door, run in doors.items():
            fresh = Fresh(kind)
            yield Call(
                f"{door}, a class for the first time: {kind}",
                lambda run=run, fresh=fresh: run(fresh),
                lambda found: found if isinstance(found, bytes) else looks(found),
                fresh.renew,
            )
