"""Classes for the standard library's part: of every make, each with something about it that is easily lost."""

from __future__ import annotations

import abc
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib
import typing
import uuid
import weakref
from typing import Any, Iterator


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("__weakref__", "a", "b")

    def __init__(self, a: Any = 1) -> None:
        self.a = a


class SlottedAndDict(Slotted):
    def __init__(self) -> None:
        super().__init__([1])
        self.c = 3


@dataclasses.dataclass
class Data:
    a: int = 1
    b: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: int = 1
    b: tuple[int, ...] = (1,)


class Named(typing.NamedTuple):
    a: int = 1
    b: str = "x"


OldNamed = collections.namedtuple("OldNamed", "a b", defaults=[5])


class NamedMore(OldNamed):
    def __new__(cls, *arguments: Any) -> Any:
        made = super().__new__(cls, *arguments)
        made.extra = "e"
        return made


class Color(enum.Enum):
    RED = 1
    BLUE = (2, 3)
    ALIAS = 1  # noqa: PIE796


class Flags(enum.Flag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):
    X = "x"


class Mixed(list):  # type: ignore[type-arg]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.note = "n"


class MyDict(dict):  # type: ignore[type-arg]
    note = "class"


class MyInt(int):
    pass


class MyText(str):
    __slots__ = ()


class MyTuple(tuple):  # type: ignore[type-arg]
    pass


class MyFrozenset(frozenset):  # type: ignore[type-arg]
    pass


class MyDate(datetime.date):
    pass


class MyDatetime(datetime.datetime):
    pass


class MyTimedelta(datetime.timedelta):
    pass


class MyDecimal(decimal.Decimal):
    pass


class MyFraction(fractions.Fraction):
    pass


class MyUUID(uuid.UUID):
    pass


class MyPath(pathlib.PurePosixPath):
    pass


class MyDeque(collections.deque):  # type: ignore[type-arg]
    pass


class MyOrdered(collections.OrderedDict):  # type: ignore[type-arg]
    pass


class MyDefault(collections.defaultdict):  # type: ignore[type-arg]
    pass


class MyCounter(collections.Counter):  # type: ignore[type-arg]
    pass


class MyError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class WithReduce:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        return WithReduce, (self.value,)


class WithState:
    def __init__(self) -> None:
        self.kept, self.dropped = [1], "d"

    def __getstate__(self) -> Any:
        return {"kept": self.kept}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state, dropped="new")


class PartialState:
    """A state by `functools.partialmethod`: no plain function."""

    def __init__(self) -> None:
        self.a, self.b = 1, 2

    def _state(self, name: str) -> Any:
        return {name: self.__dict__[name]}

    __getstate__ = functools.partialmethod(_state, "a")


class CachedState:
    def __init__(self) -> None:
        self.a, self.b = 1, 2

    @functools.lru_cache  # noqa: B019
    def __getstate__(self) -> Any:
        return {"a": self.a}


class Caller:
    """Callable instance as a method of another class."""

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return lambda *_: (Described, ("made",))


class Described:
    __reduce__ = Caller()  # type: ignore[assignment]

    def __init__(self, value: str = "first") -> None:
        self.value = value


class StaticReduce:
    @staticmethod
    def __reduce__() -> Any:  # type: ignore[override]
        return "STATIC"


STATIC = StaticReduce()


class Singleton:
    _only: Any = None

    def __new__(cls) -> Any:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only


class Registry:
    known: dict[str, Any] = {}

    def __new__(cls, key: str) -> Any:
        return cls.known.setdefault(key, super().__new__(cls))

    def __init__(self, key: str) -> None:
        self.key = key

    def __getnewargs__(self) -> Any:
        return (self.key,)


class KeywordArguments:
    def __new__(cls, *, value: int = 0) -> Any:
        made = super().__new__(cls)
        made.value = value
        return made

    def __getnewargs_ex__(self) -> Any:
        return (), {"value": self.value}


class Parent:
    """A tree whose parents are held weakly, and whose state gives out its children."""

    def __init__(self, *children: Parent) -> None:
        self.children, self._parent = list(children), None
        for child in children:
            child._parent = weakref.ref(self)  # type: ignore[assignment]

    def __getstate__(self) -> Any:
        return {"children": self.children, "parent": self._parent and self._parent()}

    def __setstate__(self, state: Any) -> None:
        self.children = state["children"]
        self._parent = state["parent"] and weakref.ref(state["parent"])


class Inner:
    def __init__(self, owner: Any) -> None:
        self.inst = owner


class Outer:
    """Its state is an object that is made when asked for, and refers back."""

    def __init__(self) -> None:
        self.name = "o"

    def __getstate__(self) -> Any:
        return {"name": self.name, "state": Inner(self)}


class HoldsItself:
    def __init__(self) -> None:
        self.state = (self, 1)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def f(self) -> None: ...


class Concrete(Abstract):
    def __init__(self) -> None:
        self.a = 1

    def f(self) -> None:
        pass


class Generic(typing.Generic[typing.TypeVar("T")]):  # type: ignore[misc]
    def __init__(self) -> None:
        self.a = 1


class CachedProperty:
    @functools.cached_property
    def value(self) -> int:
        return 5


class SetAttribute:
    """Its `__setattr__` refuses; pickle goes past it."""

    __slots__ = ("__dict__", "a")

    def __init__(self) -> None:
        object.__setattr__(self, "a", 1)
        object.__setattr__(self, "b", 2)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)

    def __getstate__(self) -> Any:
        return {"a": self.a, "b": self.b}  # type: ignore[attr-defined]

    def __setstate__(self, state: Any) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


class Outside:
    class Inside:
        def __init__(self) -> None:
            self.a = 1

    def method(self) -> str:
        return "called"


def with_odd_keys() -> Plain:
    made = Plain(a=1)
    made.__dict__[5] = "five"  # type: ignore[index]
    return made


def apart() -> Iterator[tuple[str, Any]]:
    tree = Parent(Parent(), Parent(Parent()))
    yield "Plain", Plain(a=1, b=[2])
    yield "Plain, empty", Plain()
    yield "keys of __dict__ that are no text", with_odd_keys()
    yield "Slotted", Slotted()
    yield "SlottedAndDict", SlottedAndDict()
    yield "Data", Data(2, [3])
    yield "Frozen", Frozen()
    yield "FrozenSlots", FrozenSlots()
    yield "Named", Named()
    yield "OldNamed", OldNamed(1)
    yield "NamedMore", NamedMore(1, 2)
    yield "enums", [Color.RED, Color.BLUE, Flags.A | Flags.B, Flags(0), Level.LOW, Word.X]
    yield "a list's subclass", Mixed([1, 2])
    yield "a dict's subclass", MyDict(a=1)
    for cls, arguments in (
        (MyInt, (5,)),
        (MyText, ("x",)),
        (MyTuple, ([1, 2],)),
        (MyFrozenset, ([1],)),
        (MyDate, (2024, 1, 2)),
        (MyDatetime, (2024, 1, 2, 3)),
        (MyTimedelta, (1, 2, 3)),
        (MyDecimal, ("1.50",)),
        (MyFraction, (1, 3)),
        (MyUUID, ("12345678123456781234567812345678",)),
        (MyPath, ("a/b",)),
        (MyDeque, ([1, 2], 3)),
        (MyOrdered, ([("a", 1)],)),
        (MyDefault, (list, {"a": 1})),
        (MyCounter, ("aab",)),
    ):
        made = cls(*arguments)  # type: ignore[operator]
        yield cls.__name__, made
        if hasattr(made, "__dict__") and cls is not MyUUID:
            made = cls(*arguments)  # type: ignore[operator]
            made.note = ["an attribute"]
            yield f"{cls.__name__} with an attribute", made
    yield "a tuple's subclass as key", {MyTuple((1, 2)): 3}
    yield "MyError", MyError(5)
    yield "WithReduce", WithReduce([1])
    yield "WithState", WithState()
    yield "PartialState", PartialState()
    yield "CachedState", CachedState()
    yield "Described", Described()
    yield "StaticReduce", STATIC
    yield "Singleton", Singleton()
    yield "Registry", Registry("k")
    yield "KeywordArguments", KeywordArguments(value=3)
    yield "Parent", tree
    yield "Parent, a leaf", tree.children[1].children[0]
    yield "Outer", Outer()
    yield "HoldsItself", HoldsItself()
    yield "Concrete", Concrete()
    yield "Generic", Generic()
    yield "CachedProperty", CachedProperty()
    yield "SetAttribute", SetAttribute()
    yield "Inside", Outside.Inside()
    yield "a bound method", Outside().method
    yield "a class within a class", Outside.Inside
    yield "a function's partial", functools.partial(with_odd_keys)


def instances() -> list[Any]:
    """All of them in one graph, each twice."""
    found = [obj for _, obj in apart()]
    return [found, list(reversed(found))]


def check(obj: Any) -> Any:
    """What the classes above lose most easily."""
    if isinstance(obj, Parent):
        return [child._parent is not None and child._parent() is obj for child in obj.children]
    if isinstance(obj, HoldsItself):
        return obj.state[0] is obj
    if isinstance(obj, Outer):
        return obj.state.inst is obj if "state" in vars(obj) else None
    return {
        name: repr(value)[:40]
        for name, value in sorted(getattr(obj, "__dict__", {}).items(), key=str)
        if "0x" not in repr(value)
    }
