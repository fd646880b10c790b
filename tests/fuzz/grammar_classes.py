"""Classes for the structure-aware fuzzer: those of the tests' models, and some whose own code gets in the way.

What these do is theirs to answer for: they raise `Mine`, which may come out of any door. They also change what is just being built,
which may give any value, but no crash.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import enum
import gc
import inspect
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import holdall
from tests.fuzz.grammar_elements import Class
from tests.fuzz.grammar_hold import BASED, CUSTOM, ENUM, OBJECT
from tests.support.kinds import TYPES


class Mine(Exception):
    """Raised by a class of this file."""


# How often something was meddled with.
MEDDLED = [0]


def meddle(with_: Any) -> None:
    """Changes a container that somebody else may be in the middle of."""
    MEDDLED[0] += 1
    with contextlib.suppress(Exception):
        if isinstance(with_, list):
            with_.append(None) if len(with_) % 2 else with_.clear()
        elif isinstance(with_, dict):
            with_.clear() if len(with_) % 3 else with_.update({n: n for n in range(9)})
        elif isinstance(with_, set):
            with_.clear() if len(with_) % 2 else with_.update(range(9))
        elif isinstance(with_, (collections.deque, bytearray)):
            with_.clear()
        elif type(with_).__module__ == __name__ and not isinstance(with_, enum.Enum):
            vars(with_).clear()


class MeddlingKey:
    """As a key it changes what it refers to: the dict that it is put into, say."""

    __slots__ = ("target", "x")

    def __hash__(self) -> int:
        meddle(getattr(self, "target", None))
        return 7

    def __eq__(self, other: object) -> bool:
        meddle(getattr(self, "target", None))
        meddle(getattr(other, "target", None))
        return False


class MeddlingText(str):
    """Found among the keys of dicts of text."""

    def __hash__(self) -> int:
        meddle(getattr(self, "target", None))
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        meddle(getattr(self, "target", None))
        return str.__eq__(self, other)


class MeddlingInt(int):
    def __hash__(self) -> int:
        meddle(getattr(self, "target", None))
        return int.__hash__(self)

    def __eq__(self, other: object) -> bool:
        gc.collect(0)
        return int.__eq__(self, other)


class RaisingHash:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __hash__(self) -> int:
        raise Mine


class RaisingEquality:
    __slots__ = ("a",)

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise Mine


@dataclass(frozen=True)
class ByFields:
    """Its hash reads fields that may not be there, or hold it."""

    a: Any
    b: Any = None


@dataclass(eq=True, unsafe_hash=True, slots=True)
class ByFieldsSlots:
    left: Any
    right: Any = None


KEPT: collections.deque[Any] = collections.deque(maxlen=8)


class Reviving:
    """Freed, it is there again for a while."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __del__(self) -> None:
        KEPT.append(self)
        gc.collect(0)


class Raising:
    __slots__ = ("__dict__", "a")

    def __del__(self) -> None:
        # Python's own attributes may have gone.
        getattr(self, "a", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise Mine

    def __getattribute__(self, name: str) -> Any:
        if name == "b":
            raise Mine
        return object.__getattribute__(self, name)


class PairOfTuple(tuple[Any, ...]):
    __slots__ = ()

    def __new__(cls, a: Any, b: Any) -> PairOfTuple:
        return tuple.__new__(cls, (a, b))

    def __hash__(self) -> int:
        return len(self)


class Named(NamedTuple):
    a: Any
    links: Any
    x: int = 3


class Defaulted(dict[Any, Any]):
    def __missing__(self, key: Any) -> Any:
        raise Mine

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Mine

    def update(self, *args: Any, **named: Any) -> None:
        raise Mine


class Listed(list[Any]):
    __slots__ = ("__weakref__", "note")

    def append(self, value: Any) -> None:
        raise Mine

    def __len__(self) -> int:
        return 1 << 40

    def __iter__(self) -> Any:
        raise Mine


class Gathered(set[Any]):
    def add(self, value: Any) -> None:
        raise Mine

    def __contains__(self, value: Any) -> bool:
        raise Mine


class Failure(OSError):
    def __init__(self) -> None:
        super().__init__(1, "x", "y")

    def __str__(self) -> str:
        raise Mine


# From Python 3.11 on.
Group = type("Group", (getattr(builtins, "ExceptionGroup", Exception),), {"__module__": __name__})


class Missing(enum.Enum):
    A = 1
    B = 2

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise Mine if value == 3 else ValueError(value)


class Bits(enum.Flag):
    ONE = 1
    TWO = 2
    FOUR = 4


class Odd(str, enum.Enum):
    A = "a"
    B = "b"

    def __hash__(self) -> int:
        raise Mine


@dataclass
class Posted:
    """As a type, its own check runs."""

    a: int
    links: list[Any] = field(default_factory=list)
    x: Any = None

    def __post_init__(self) -> None:
        meddle(self.links)
        if type(self.a) is int and self.a == 7:
            raise Mine


class Converted:
    """Registered, with functions of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


def converted(value: Any) -> Converted:
    meddle(value)
    if type(value) is int and value == 7:
        raise Mine
    return Converted(value)


class Upgraded:
    def __init__(self) -> None:
        self.a = 1


def upgraded(fields: Any, version: int) -> Any:
    return fields


holdall.register(
    Converted, name="tests.fuzz.Converted", encode=lambda obj: getattr(obj, "value", None), decode=converted
)
holdall.register(Upgraded, name="tests.fuzz.Upgraded", version=2, upgrade=upgraded)

OWN = [
    MeddlingKey, MeddlingText, MeddlingInt, RaisingHash, RaisingEquality, ByFields, ByFieldsSlots, Reviving, Raising, PairOfTuple, Named,
    Defaulted, Listed, Gathered, Failure, Group, Missing, Bits, Odd, Posted,
]  # fmt: skip
BUILTIN_ERRORS = [
    ValueError, KeyError, OSError, FileNotFoundError, BlockingIOError, ImportError, SyntaxError, StopIteration, SystemExit, UnicodeDecodeError,
    UnicodeEncodeError, NameError, AttributeError, KeyboardInterrupt, GeneratorExit, BaseException, RecursionError, MemoryError,
]  # fmt: skip
BASES: list[tuple[type, str]] = [
    (BaseException, "exception"), (collections.deque, "deque"), (collections.defaultdict, "defaultdict"), (dict, "dict"), (list, "list"),
    (set, "set"), (frozenset, "frozenset"), (str, "str"), (bytes, "bytes"), (bytearray, "bytearray"), (int, "int"), (float, "float"),
    (complex, "complex"),
]  # fmt: skip


def fields_of(cls: type) -> tuple[str, ...]:
    found = ["a", "note"] if cls.__dictoffset__ else []
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
        with contextlib.suppress(Exception):
            found += list(inspect.get_annotations(base))
    if dataclasses.is_dataclass(cls):
        found += [one.name for one in dataclasses.fields(cls)]
    if issubclass(cls, (MeddlingText, MeddlingInt)):
        found.append("target")
    names = (name for name in found if not (name.startswith("__") and name.endswith("__")))
    return tuple(dict.fromkeys(names))[:12]


def told(cls: type, name: str | None = None) -> Class:
    name = name or f"{cls.__module__}.{cls.__qualname__}"
    if issubclass(cls, enum.Enum):
        return Class(name, ENUM, (), "", tuple(cls.__members__))
    if issubclass(cls, tuple) and not hasattr(cls, "_fields"):
        return Class(name, BASED, fields_of(cls), "tuple")
    for base, content in BASES:
        if issubclass(cls, base):
            return Class(name, BASED, fields_of(cls), content)
    return Class(name, OBJECT, fields_of(cls))


def classes() -> list[Class]:
    """All that a message may name: the more dangerous ones more often."""
    found = [told(cls) for cls in OWN] * 3
    found += [told(cls) for cls in BUILTIN_ERRORS] * 2
    for module in TYPES:
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__:
                found.append(told(cls))
    found += [Class("tests.fuzz.Converted", CUSTOM, ())] * 4 + [
        Class("tests.fuzz.Upgraded", OBJECT, ("a", "b"))
    ] * 2
    found += [
        Class("collections.OrderedDict", BASED, ("note",), "dict"), Class("types.SimpleNamespace", OBJECT, ("a", "b", "x")),
        Class("os.stat_result", BASED, (), "tuple"), Class("time.struct_time", BASED, (), "tuple"),
        Class("collections.ChainMap", OBJECT, ("maps",)), Class("collections.UserDict", OBJECT, ("data",)),
        Class("os.system", OBJECT, ("a",)), Class("no.such.Class", OBJECT, ("a", "b")), Class("", OBJECT, ()),
        Class("builtins.type", BASED, (), "tuple"), Class("builtins.object", OBJECT, ()), Class("builtins.int", BASED, ("a",), "int"),
        Class("builtins.dict", BASED, (), "dict"), Class("datetime.datetime", OBJECT, ("year",)),
    ]  # fmt: skip
    return found


# What `types=` may permit, in turn.
PERMITTED: list[Any] = [
    (*TYPES, *OWN, *BUILTIN_ERRORS), (*TYPES, *OWN), OWN, TYPES, holdall.Record, (), (*OWN, holdall.Record),
]  # fmt: skip
