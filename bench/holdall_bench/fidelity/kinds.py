"""What a type's objects consist of: a value, items, members, keys and values, attributes.

No method that a user's class defines is called to look into an object, but `__reduce_ex__` for the state that C code hides.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import struct
import sys
import types
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

# The shapes of what is inside. Two objects of one shape can be compared part by part, whatever their types are.
VALUE = "value"  # `take` gives something whose == is exact
REFERENCE = "reference"  # named, not stored: classes, functions, members of enums
SEQUENCE = "sequence"  # `take` gives the items
MEMBERS = "members"  # `take` gives the items, which have no order
MAPPING = "mapping"  # `take` gives the keys and the values, as two lists
FIELDS = "fields"  # only attributes
ARRAY = "array"  # of NumPy: ndarray and its subclasses
REDUCED = "reduced"  # `take` gives what `__reduce_ex__` tells

UNSET = object()
MISSING = object()


class Kind:
    """A type, and how to look into its objects.

    base: the builtin type whose contents they have. bound: they are noted when met, as they may be met again.
    mutable: a program can see whether two are one. slots: descriptors of attributes outside of `__dict__`.
    items: a VALUE can be seen as a sequence, and this gives it.
    """

    __slots__ = (
        "base",
        "bound",
        "has_dict",
        "has_fields",
        "items",
        "mutable",
        "name",
        "shape",
        "slots",
        "take",
    )

    def __init__(self, cls: type) -> None:
        self.name = name_of(cls)
        self.base = next((base for base in cls.__mro__ if base in BASES or _is_numpys(base)), None)
        own = cls.__mro__ if self.base is None else cls.__mro__[: cls.__mro__.index(self.base)]
        if issubclass(cls, BaseException):
            own = cls.__mro__  # OSError.errno and the like are slots of C classes
        self.slots: list[Any] = [
            member
            for owner in reversed(own)
            for member in vars(owner).values()
            if isinstance(member, types.MemberDescriptorType) and not member.__name__.startswith("__suppress")
        ]
        self.has_dict = cls.__dictoffset__ != 0 and not issubclass(cls, SELF_CACHING)
        self.items: Callable[[Any], Any] | None = None
        self.take: Callable[[Any], Any] = _nothing
        if issubclass(cls, REFERENCES):
            self.shape, self.slots, self.has_dict = REFERENCE, [], False
        elif self.base is None:
            self.shape = REDUCED if _hides_state(cls, self.slots) else FIELDS
            if self.shape == REDUCED:
                self.take, self.slots, self.has_dict = _reduced, [], False
        elif self.base in BASES:
            self.shape, self.take = BASES[self.base]
            self.items = AS_ITEMS.get(self.base)
        elif self.base.__name__ == "ndarray":
            self.shape, self.items = ARRAY, _tolist
        else:
            self.shape, self.take = VALUE, _numpy_value
        self.has_fields = bool(self.slots) or self.has_dict
        frozen = _is_frozen(cls) if self.base is None else self.base not in MUTABLE and self.shape != ARRAY
        self.mutable = self.shape != REFERENCE and not frozen
        self.bound = self.shape != REFERENCE and (self.shape != VALUE or self.has_fields or self.mutable)

    def fields(self, obj: Any) -> dict[str, Any]:
        """The attributes by name, whatever the class makes of them."""
        found: dict[str, Any] = {}
        for slot in self.slots:
            try:
                found[slot.__name__] = slot.__get__(obj, type(obj))
            except AttributeError:
                continue
        if self.has_dict:
            found.update(object.__getattribute__(obj, "__dict__"))
        if self.base is BaseException:
            found["args"] = obj.args
            found["__cause__"], found["__context__"] = obj.__cause__, obj.__context__
        return found


def name_of(cls: type) -> str:
    return "None" if cls is type(None) else cls.__qualname__


def _nothing(obj: Any) -> Any:
    return None


def _tolist(obj: Any) -> Any:
    return obj.tolist()


def _numpy_value(obj: Any) -> Any:
    """Of NumPy's scalars and dtypes."""
    if isinstance(obj, sys.modules["numpy"].dtype):
        return repr(obj)
    return (repr(obj.dtype), obj.tobytes())


def _reduced(obj: Any) -> Any:
    """The parts with which pickle would build it again."""
    reduced = obj.__reduce_ex__(4)
    if type(reduced) is str:
        return {"<name>": reduced}
    found = dict(zip(("<made by>", "<arguments>", "<state>"), reduced[:3], strict=False))
    for name, iterator in zip(("<items>", "<pairs>"), reduced[3:5], strict=False):
        if iterator is not None:
            found[name] = list(iterator)
    return found


def _is_numpys(cls: type) -> bool:
    return cls.__module__ == "numpy" and cls.__name__ in ("ndarray", "generic", "dtype")


def _hides_state(cls: type, slots: list[Any]) -> bool:
    """Are its objects larger than what attributes and Python's own fields take?"""
    known = object.__basicsize__ + struct.calcsize("P") * (
        len(slots) + (cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0)
    )
    return cls.__itemsize__ != 0 or cls.__basicsize__ > known


def _is_frozen(cls: type) -> bool:
    """Compares by value and can't change, so that nobody sees whether two are one."""
    told = getattr(cls, "__dataclass_params__", None) or getattr(cls, "__struct_config__", None)
    return bool(getattr(told, "frozen", False) and getattr(told, "eq", False))


def _moment(obj: Any) -> Any:
    """Of a datetime or time: the fields of the clock, and how its zone tells itself."""
    date = (obj.year, obj.month, obj.day) if isinstance(obj, datetime.datetime) else ()
    clock = (obj.hour, obj.minute, obj.second, obj.microsecond, obj.fold)
    return (*date, *clock, zone_told(obj.tzinfo))


def zone_told(zone: datetime.tzinfo | None) -> Any:
    """What tells two time zones apart, without their code where that is possible."""
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        return ("timezone", zone.utcoffset(None), zone.tzname(None))
    if isinstance(zone, zoneinfo.ZoneInfo):
        return ("ZoneInfo", zone.key)
    return (type(zone), zone.utcoffset(None), tuple(sorted(map(repr, getattr(zone, "__dict__", {}).items()))))


def _decimal(obj: Any) -> Any:
    return tuple(obj.as_tuple())


REFERENCES = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    enum.Enum,
    type(Ellipsis),
    type(NotImplemented),
)

BASES: dict[type, tuple[str, Callable[[Any], Any]]] = {
    type(None): (VALUE, _nothing),
    bool: (VALUE, bool),
    int: (VALUE, int.__int__),
    float: (VALUE, lambda obj: struct.pack("d", obj)),
    complex: (VALUE, lambda obj: struct.pack("dd", obj.real, obj.imag)),
    str: (VALUE, str.__str__),
    bytes: (VALUE, lambda obj: bytes.__getitem__(obj, slice(None))),
    bytearray: (VALUE, bytes),
    memoryview: (VALUE, lambda obj: (obj.tobytes(), obj.format, obj.shape)),
    array.array: (VALUE, lambda obj: (obj.typecode, obj.tobytes())),
    range: (VALUE, lambda obj: (obj.start, obj.stop, obj.step)),
    datetime.datetime: (VALUE, _moment),
    datetime.time: (VALUE, _moment),
    datetime.date: (VALUE, lambda obj: (obj.year, obj.month, obj.day)),
    datetime.timedelta: (VALUE, lambda obj: (obj.days, obj.seconds, obj.microseconds)),
    datetime.timezone: (VALUE, zone_told),
    zoneinfo.ZoneInfo: (VALUE, zone_told),
    decimal.Decimal: (VALUE, _decimal),
    fractions.Fraction: (VALUE, lambda obj: (obj.numerator, obj.denominator)),
    uuid.UUID: (VALUE, lambda obj: (obj.int, obj.is_safe)),
    pathlib.PurePath: (VALUE, str),
    ipaddress.IPv4Address: (VALUE, str),
    ipaddress.IPv6Address: (VALUE, str),
    ipaddress.IPv4Network: (VALUE, str),
    ipaddress.IPv6Network: (VALUE, str),
    ipaddress.IPv4Interface: (VALUE, str),
    ipaddress.IPv6Interface: (VALUE, str),
    re.Pattern: (VALUE, lambda obj: (type(obj.pattern), obj.pattern, obj.flags)),
    types.GenericAlias: (VALUE, repr),
    tuple: (SEQUENCE, tuple.__iter__),
    list: (SEQUENCE, list.__iter__),
    collections.deque: (SEQUENCE, collections.deque.__iter__),
    set: (MEMBERS, set.__iter__),
    frozenset: (MEMBERS, frozenset.__iter__),
    # no dict is made of them, which would call the keys' own code
    dict: (MAPPING, lambda obj: (list(dict.keys(obj)), list(dict.values(obj)))),
    # its order is not that of the dict it is
    collections.OrderedDict: (
        MAPPING,
        lambda obj: (list(collections.OrderedDict.keys(obj)), list(collections.OrderedDict.values(obj))),
    ),
    types.MappingProxyType: (MAPPING, lambda obj: (list(obj), list(obj.values()))),
    types.SimpleNamespace: (FIELDS, _nothing),
    BaseException: (FIELDS, _nothing),
}

# What a codec may well give back as a list of their items.
AS_ITEMS: dict[type, Callable[[Any], Any]] = {
    kind: lambda obj: obj for kind in (bytes, bytearray, array.array, range)
}

MUTABLE = (
    bytearray,
    memoryview,
    array.array,
    list,
    collections.deque,
    set,
    dict,
    collections.OrderedDict,
    types.SimpleNamespace,
    BaseException,
)

# Their `__dict__` only caches what `str` tells (the netmask, the prefix length).
SELF_CACHING = (
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    re.Pattern,
)
