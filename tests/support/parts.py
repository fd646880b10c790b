"""Objects taken apart for `isomorphic`: value, children in order, members without order, names of attributes."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import gc
import ipaddress
import pathlib
import operator
import re
import struct
import sys
import types
import typing
import uuid
import zoneinfo
from typing import Any, Callable, NamedTuple

SCALARS = frozenset({type(None), bool, int, float, complex})
BY_REFERENCE = (
    type,
    types.FunctionType,
    types.ModuleType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    enum.Enum,
    type(Ellipsis),
    type(NotImplemented),
)
UNSET = "<unset>"


class Parts(NamedTuple):
    """What an object consists of.

    keyed: that many of the first children are the keys and values of a mapping, in turn.
    labels: how to name the children before the attributes: "[]", "{}" or one string for each.
    """

    value: object
    children: list[Any]
    labels: str | tuple[str, ...] = ()
    keyed: int = 0
    members: list[Any] | None = None
    names: tuple[str, ...] = ()


def scalar_bits(value: Any) -> object:
    """The value with every bit: -0.0 and NaN payloads tell themselves apart."""
    if type(value) is float:
        return struct.pack("d", value)
    if type(value) is complex:
        return struct.pack("dd", value.real, value.imag)
    return value


def is_singleton(obj: Any) -> bool:
    """Does CPython itself keep one object of this value?"""
    cls = type(obj)
    if cls is str:
        return len(obj) == 0 or (len(obj) == 1 and obj < "\u0100")
    if cls is bytes:
        return len(obj) <= 1
    if cls is tuple or cls is frozenset:
        return len(obj) == 0
    return obj is datetime.timezone.utc or (cls.__name__ in ("bool", "bool_") and _is_numpy(obj))


def is_mergeable(obj: object) -> bool:
    """Types whose constructor answers equal arguments with one object."""
    return isinstance(obj, (zoneinfo.ZoneInfo, re.Pattern, types.GenericAlias, type(typing.List[int]))) or (
        _is_numpy(obj) and isinstance(obj, sys.modules["numpy"].dtype)
    )


def _is_numpy(obj: object) -> bool:
    return any(cls.__module__ == "numpy" for cls in type(obj).__mro__)


def label(obj: object, index: int) -> str:
    """The name of a child, for the path of a difference."""
    found = parts(obj)
    base = len(found.children) - len(found.names)
    if index >= base:
        return f".{found.names[index - base]}"
    if found.labels == "[]":
        return f"[{index}]"
    if found.labels == "{}":
        return f"[{found.children[index - 1]!r:.40}]" if index % 2 else f".key({index // 2})"
    return found.labels[index]


def parts(obj: Any) -> Parts:
    """Take one object apart."""
    cls = type(obj)
    handler, slots, has_dict = _layout(cls)
    found = handler(obj) if handler is not None else Parts(None, [])
    if not slots and not has_dict:
        return found
    names: list[str] = []
    children = list(found.children)
    for slot in slots:
        try:
            child = slot.__get__(obj, cls)
        except AttributeError:
            child = None
            names.append(slot.__name__ + UNSET)
        else:
            names.append(slot.__name__)
        if slot.__name__ == "__pydantic_fields_set__" and child is not None:
            # names of attributes, whose identity nobody keeps
            names[-1] += repr(sorted(child))
            child = None
        children.append(child)
    if has_dict:
        fields = object.__getattribute__(obj, "__dict__")
        names.extend(fields)
        children.extend(fields.values())
    return found._replace(value=(found.value, tuple(names)), children=children, names=tuple(names))


@functools.cache
def _layout(cls: type) -> tuple[Callable[[Any], Parts] | None, list[Any], bool]:
    """How to take a class apart: handler of its builtin base, its slots, has it a `__dict__`?"""
    base = next((b for b in cls.__mro__ if b in HANDLERS or _numpy_base(b)), None)
    handler = None
    own: tuple[type, ...] = cls.__mro__
    if base is not None:
        handler = HANDLERS.get(base) or _numpy_handler
        own = cls.__mro__[: cls.__mro__.index(base)]
    if issubclass(cls, BaseException):
        own = cls.__mro__  # OSError.errno and the like are slots of C classes
    slots = [
        member
        for owner in reversed(own)
        for member in vars(owner).values()
        if isinstance(member, types.MemberDescriptorType) and not member.__name__.startswith("__suppress")
    ]
    has_dict = cls.__dictoffset__ != 0 and not issubclass(cls, SELF_CACHING)
    declares_slots = any("__slots__" in vars(owner) for owner in own)
    if handler is None and not slots and not has_dict and not declares_slots and cls is not object:
        raise TypeError(f"isomorphic can't take a {cls.__qualname__} apart")
    return handler, slots, has_dict


def _numpy_base(cls: type) -> bool:
    return cls.__module__ == "numpy" and cls.__name__ in ("ndarray", "generic", "dtype")


def _numpy_handler(obj: Any) -> Parts:
    from tests.support.numpy_parts import numpy_parts

    return numpy_parts(obj)


def _leaf(value: Callable[[Any], object]) -> Callable[[Any], Parts]:
    return lambda obj: Parts(value(obj), [])


def _sequence(iterate: Callable[[Any], Any]) -> Callable[[Any], Parts]:
    return lambda obj: Parts(None, list(iterate(obj)), "[]")


def _members(iterate: Callable[[Any], Any]) -> Callable[[Any], Parts]:
    return lambda obj: Parts(None, [], members=list(iterate(obj)))


def _mapping(
    items: Callable[[Any], Any], value: Callable[[Any], object] = lambda obj: None
) -> Callable[[Any], Parts]:
    def handler(obj: Any) -> Parts:
        children = [part for item in items(obj) for part in item]
        return Parts(value(obj), children, "{}", keyed=len(children))

    return handler


def _named(*names: str) -> Callable[[Any], Parts]:
    labels = tuple(f".{name}" for name in names)
    return lambda obj: Parts(None, [getattr(obj, name) for name in names], labels)


def _defaultdict(obj: Any) -> Parts:
    found = HANDLERS[dict](obj)
    # the factory stands last, so that keys keep their even places
    return found._replace(children=[*found.children, obj.default_factory], labels="{}")


def _exception(obj: BaseException) -> Parts:
    children = [*obj.args, obj.__cause__, obj.__context__]
    labels = tuple(f".args[{i}]" for i in range(len(obj.args)))
    return Parts((len(obj.args), obj.__suppress_context__), children, (*labels, ".__cause__", ".__context__"))


def _builtin_method(obj: Any) -> Parts:
    return Parts(obj.__name__, [obj.__self__], (".__self__",))


def _pattern(obj: Any) -> Parts:
    return Parts((type(obj.pattern), obj.pattern, obj.flags), [])


def _datetime(obj: Any) -> Parts:
    value = (obj.year, obj.month, obj.day, obj.hour, obj.minute, obj.second, obj.microsecond, obj.fold)
    return Parts(value, [obj.tzinfo], (".tzinfo",))


def _partial(obj: Any) -> Parts:
    children = [obj.func, *obj.args, *obj.keywords.values()]
    labels = (
        ".func",
        *(f".args[{i}]" for i in range(len(obj.args))),
        *(f".keywords[{k}]" for k in obj.keywords),
    )
    return Parts((len(obj.args), tuple(obj.keywords)), children, labels)


HANDLERS: dict[type, Callable[[Any], Parts]] = {
    int: _leaf(int.__int__),
    operator.itemgetter: lambda obj: Parts(None, list(obj.__reduce__()[1]), "[]"),
    float: _leaf(lambda obj: struct.pack("d", float.__float__(obj))),
    complex: _leaf(lambda obj: struct.pack("dd", obj.real, obj.imag)),
    str: _leaf(lambda obj: str.__str__(obj)),
    bytes: _leaf(lambda obj: bytes.__getitem__(obj, slice(None))),
    bytearray: _leaf(lambda obj: bytes(obj)),
    memoryview: _leaf(lambda obj: (obj.tobytes(), obj.format, obj.shape)),
    tuple: _sequence(tuple.__iter__),
    list: _sequence(list.__iter__),
    collections.deque: lambda obj: Parts(obj.maxlen, list(collections.deque.__iter__(obj)), "[]"),
    set: _members(set.__iter__),
    frozenset: _members(frozenset.__iter__),
    dict: _mapping(dict.items),
    collections.OrderedDict: _mapping(collections.OrderedDict.items),
    collections.defaultdict: _defaultdict,
    # the proxy is a live view: what it stands for is the mapping itself
    types.MappingProxyType: lambda obj: Parts(None, gc.get_referents(obj), (".mapping",)),
    types.MethodType: _named("__func__", "__self__"),
    types.BuiltinFunctionType: _builtin_method,
    types.MethodWrapperType: _builtin_method,
    types.GenericAlias: _leaf(repr),
    type(typing.List[int]): _leaf(repr),
    range: _leaf(lambda obj: (obj.start, obj.stop, obj.step)),
    slice: _named("start", "stop", "step"),
    array.array: _leaf(lambda obj: (obj.typecode, obj.tobytes())),
    datetime.datetime: _datetime,
    datetime.date: _leaf(lambda obj: (obj.year, obj.month, obj.day)),
    datetime.time: lambda obj: Parts(
        (obj.hour, obj.minute, obj.second, obj.microsecond, obj.fold), [obj.tzinfo], (".tzinfo",)
    ),
    datetime.timedelta: _leaf(lambda obj: (obj.days, obj.seconds, obj.microseconds)),
    datetime.timezone: _leaf(repr),
    zoneinfo.ZoneInfo: _leaf(lambda obj: obj.key),
    decimal.Decimal: _leaf(lambda obj: tuple(obj.as_tuple())),
    fractions.Fraction: _leaf(lambda obj: (obj.numerator, obj.denominator)),
    uuid.UUID: _leaf(lambda obj: (obj.int, obj.is_safe)),
    pathlib.PurePath: _leaf(str),
    ipaddress.IPv4Address: _leaf(str),
    ipaddress.IPv6Address: _leaf(str),
    ipaddress.IPv4Network: _leaf(str),
    ipaddress.IPv6Network: _leaf(str),
    ipaddress.IPv4Interface: _leaf(str),
    ipaddress.IPv6Interface: _leaf(str),
    re.Pattern: _pattern,
    types.SimpleNamespace: lambda obj: Parts(None, []),
    functools.partial: _partial,
    BaseException: _exception,
}

# Their `__dict__` only caches what `str` tells (the netmask, the prefix length).
SELF_CACHING = (
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    re.Pattern,
)
