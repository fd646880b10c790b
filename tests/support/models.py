"""Classes of every family that needs nothing but the standard library. Their names are stored: keep them."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

T = TypeVar("T")


# --- plain objects ---------------------------------------------------------------------------------------------------
class PlainDict:
    """Attributes in `__dict__`; `__init__` must not run on load."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.from_init = True


class PlainSlots:
    __slots__ = ("left", "right", "value")

    left: Any
    right: Any
    value: Any


class SlotsAndDict:
    __slots__ = ("__dict__", "a")

    a: Any


class WeakSlot:
    __slots__ = ("__weakref__", "a")

    a: Any


class SlotsChild(PlainSlots):
    """Slots of two classes."""

    __slots__ = ("extra",)

    extra: Any


class DictChild(PlainSlots):
    """Slots of the base and a `__dict__` of its own."""


class Mangled:
    __slots__ = ("__secret", "open")

    def __init__(self, secret: Any) -> None:
        self.__secret = secret
        self.open = secret

    def reveal(self) -> Any:
        return self.__secret


class MangledChild(Mangled):
    """The same private name in another class is another slot."""

    __slots__ = ("__secret",)

    def __init__(self, secret: Any, other: Any) -> None:
        super().__init__(secret)
        self.__secret = other

    def reveal_other(self) -> Any:
        return self.__secret


class Empty:
    __slots__ = ()


class NoInit:
    """Can't be built by calling it."""

    def __init__(self) -> None:
        raise RuntimeError("called __init__")

    @classmethod
    def make(cls, **fields: Any) -> NoInit:
        obj = cls.__new__(cls)
        vars(obj).update(fields)
        return obj


class GetAttr:
    """Answers any name: nothing may be asked of the instance by `hasattr`."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"made up {name}"


class Property:
    """A property in front of the stored name must not be called."""

    def __init__(self, value: Any) -> None:
        self._value = value

    @property
    def value(self) -> Any:
        raise RuntimeError("called the property")


class ByValue:
    """Hashes by an attribute that must be there before it becomes a key."""

    def __init__(self, name: str, other: Any = None) -> None:
        self.name = name
        self.other = other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByValue) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Outer:
    class Inner:
        """Named `Outer.Inner`."""

        def __init__(self, value: Any) -> None:
            self.value = value


class Box(Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item


# --- dataclasses -----------------------------------------------------------------------------------------------------
@dataclass
class DPoint:
    x: Any
    y: Any = 0
    kind: ClassVar[str] = "not stored"


@dataclass(slots=True)
class DSlots:
    x: Any
    y: Any = 0


@dataclass(frozen=True)
class DFrozen:
    x: Any
    y: Any = 0


@dataclass(frozen=True, slots=True)
class DFrozenSlots:
    x: Any
    y: Any = 0


@dataclass(kw_only=True)
class DKwOnly:
    x: Any
    y: Any = 0


@dataclass
class DChild(DPoint):
    z: Any = None


@dataclass(slots=True)
class DSlotsChild(DSlots):
    z: Any = None


@dataclass
class DInitFalse:
    x: Any
    derived: Any = field(init=False)

    def __post_init__(self) -> None:
        self.derived = [self.x]


@dataclass
class DInitVar:
    x: Any
    scale: dataclasses.InitVar[int] = 2

    def __post_init__(self, scale: int) -> None:
        self.scaled = (self.x, scale)


@dataclass
class DGeneric(Generic[T]):
    item: T


@dataclass(slots=True, weakref_slot=True) if sys.version_info >= (3, 11) else dataclass(slots=True)
class DWeak:
    x: Any


@dataclass
class DNothing:
    pass


@dataclass(slots=True)
class DNode:
    """Linked nodes: the cyclic family."""

    name: Any = None
    links: Any = None


@dataclass(slots=True)
class Reading:
    """The `(float, str)` record of the size and speed tables."""

    value: float
    unit: str


# --- tuples with names -----------------------------------------------------------------------------------------------
class NPoint(NamedTuple):
    x: Any
    y: Any = 0


NPair = collections.namedtuple("NPair", ["first", "second"])


class NSub(NPoint):
    """With a `__dict__` of its own."""


# --- subclasses of builtins ------------------------------------------------------------------------------------------
class MyDict(dict[Any, Any]):
    pass


class MyDictSlots(dict[Any, Any]):
    __slots__ = ("note",)

    note: Any


class MyList(list[Any]):
    pass


class MyTuple(tuple[Any, ...]):
    pass


class MySet(set[Any]):
    pass


class MyFrozenSet(frozenset[Any]):
    pass


class MyStr(str):
    pass


class MyBytes(bytes):
    pass


class MyByteArray(bytearray):
    pass


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyComplex(complex):
    pass


class MyOrderedDict(collections.OrderedDict[Any, Any]):
    pass


class MyDefaultDict(collections.defaultdict[Any, Any]):
    pass


class MyDeque(collections.deque[Any]):
    pass


class MyCounter(collections.Counter[Any]):
    pass


class MyUserDict(collections.UserDict[Any, Any]):
    pass


class MyDecimal(decimal.Decimal):
    pass


class MyDate(datetime.date):
    pass


class MyError(Exception):
    pass


class ErrorWithInit(Exception):
    """Its arguments are not `args`: pickle can't load it."""

    def __init__(self, code: int, *, detail: Any) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.detail = detail


# --- enums -----------------------------------------------------------------------------------------------------------
class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    BLUE = (0, 0, 255)
    ALIAS = 1  # noqa: PIE796


class Unhashable(enum.Enum):
    LIST = [1, 2]
    DICT = {"a": 1}


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    RUN = enum.auto()


class IntAccess(enum.IntFlag):
    READ = 4
    WRITE = 2


class Unit(str, enum.Enum):
    METRE = "m"
    SECOND = "s"


if sys.version_info >= (3, 11):

    class Planet(enum.StrEnum):
        EARTH = enum.auto()

    TEXT_ENUM: tuple[Any, ...] = (Planet.EARTH,)
else:
    TEXT_ENUM = ()
