"""Classes of the standard library and of other libraries that annotations may name, and what they mean.

Most are found by name, and compared only with modules that are imported already.
"""

from __future__ import annotations

import collections
import enum
import re
import sys
import types
import typing
from collections import abc
from typing import TYPE_CHECKING, Any

from .constraints import NUMERIC, SIZED, TEXT, ZONED
from .scopes import is_union, origin_of, special

if TYPE_CHECKING:
    from collections.abc import Callable

    # The name in errors, the scalar without its constraints, and the constraints that it may have.
    Scalar = tuple[str, tuple[Any, ...], frozenset[str]]

_NO_RULES: frozenset[str] = frozenset()

_BUILTINS: dict[type, Scalar] = {
    type(None): ("None", ("none",), _NO_RULES),
    bool: ("bool", ("bool",), _NO_RULES),
    int: ("int", ("int",), NUMERIC),
    float: ("float", ("float",), NUMERIC),
    complex: ("complex", ("complex",), _NO_RULES),
    str: ("str", ("str",), TEXT),
    bytes: ("bytes", ("bytes",), SIZED),
    bytearray: ("bytearray", ("bytearray",), SIZED),
    memoryview: ("memoryview", ("memoryview",), SIZED),
    range: ("range", ("value", range, None), _NO_RULES),
    slice: ("slice", ("value", slice, None), _NO_RULES),
    type(...): ("ellipsis", ("value", type(...), None), _NO_RULES),
    type(NotImplemented): ("NotImplementedType", ("value", type(NotImplemented), None), _NO_RULES),
}

# Classes with a scalar of their own; other values of the standard library are of the kind "value".
_STANDARD: dict[str, tuple[str, frozenset[str]]] = {
    "decimal.Decimal": ("decimal", NUMERIC),
    "datetime.datetime": ("datetime", ZONED),
    "datetime.date": ("date", _NO_RULES),
    "datetime.time": ("time", ZONED),
    "datetime.timedelta": ("timedelta", _NO_RULES),
    "uuid.UUID": ("uuid", _NO_RULES),
}
# Classes whose constructors take the text form of a value.
_FROM_TEXT = frozenset(
    """fractions.Fraction zoneinfo.ZoneInfo
    pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath pathlib.Path pathlib.PosixPath pathlib.WindowsPath
    ipaddress.IPv4Address ipaddress.IPv4Network ipaddress.IPv4Interface
    ipaddress.IPv6Address ipaddress.IPv6Network ipaddress.IPv6Interface""".split()
)
_WITHOUT_TEXT = frozenset({"datetime.timezone", "datetime.tzinfo", "array.array", "collections.ChainMap"})

SEQUENCES: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    collections.deque: "deque",
    abc.Sequence: "list",
    abc.MutableSequence: "list",
    abc.Collection: "list",
    abc.Iterable: "list",
    abc.Reversible: "list",
    abc.Container: "list",
    abc.Set: "set",
    abc.MutableSet: "set",
}
MAPPINGS: dict[type, str] = {
    dict: "dict",
    collections.OrderedDict: "OrderedDict",
    collections.defaultdict: "defaultdict",
    collections.Counter: "Counter",
    types.MappingProxyType: "mappingproxy",
    abc.Mapping: "dict",
    abc.MutableMapping: "dict",
}
# The functions that a defaultdict may call for a missing key: their results are empty or zero.
_FACTORIES: dict[Any, Callable[[], Any]] = {
    **{
        cls: cls
        for cls in (list, dict, set, frozenset, tuple, bool, int, float, complex, str, bytes, bytearray)
    },
    **{
        cls: cls
        for cls in (collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)
    },
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Mapping: dict,
    abc.MutableMapping: dict,
    abc.Set: set,
    abc.MutableSet: set,
}
# Builtin classes that name a dtype.
_DTYPES = (bool, int, float, complex, str, bytes, object)
_REFUSED: tuple[Any, ...] = (
    abc.Callable,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.CodeType,
    typing.Generic,
    typing.Protocol,
)


def scalar(cls: type, arguments: tuple[Any, ...]) -> Scalar | None:
    """The scalar of a class of the standard library or of NumPy's scalars; None for other classes."""
    found = _BUILTINS.get(cls)
    if found is not None:
        return found
    if is_raw(cls) or is_unset_type(cls):
        return cls.__qualname__, ("value", cls, None), _NO_RULES
    # Python 3.13 defines paths in pathlib._local.
    module = cls.__module__.partition(".")[0]
    name = f"{module}.{cls.__qualname__}"
    if name in _STANDARD or name in _FROM_TEXT or name in _WITHOUT_TEXT or cls is re.Pattern:
        # A user's class may have the same name, but isn't what the module has.
        if getattr(sys.modules.get(module), cls.__qualname__, None) is not cls:
            return None
        if name in _STANDARD:
            tag, fitting = _STANDARD[name]
            return cls.__qualname__, (tag,), fitting
        parse: Any = cls if name in _FROM_TEXT else None
        if cls is re.Pattern and bytes not in arguments:
            parse = re.compile
        return cls.__qualname__, ("value", cls, parse), _NO_RULES
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, (numpy.generic, numpy.dtype)):
        return cls.__qualname__, ("value", cls, cls if issubclass(cls, numpy.datetime64) else None), _NO_RULES
    return None


# msgspec's classes, and those of `holdall.msgpack`.
_OURS = frozenset({"msgspec", "msgspec._core", "holdall._values"})


def is_raw(cls: type) -> bool:
    """Whether instances hold messages as they are stored."""
    return cls.__name__ == "Raw" and cls.__module__ in _OURS


def is_unset_type(cls: type) -> bool:
    return cls.__name__ == "UnsetType" and cls.__module__ in _OURS


def is_unset(value: object) -> bool:
    """Whether a field's value means that it is unset."""
    return is_unset_type(type(value))


def is_refused(cls: type) -> bool:
    """Whether its instances are code rather than data."""
    return issubclass(cls, type) or cls in _REFUSED


def is_enum(cls: type) -> bool:
    return isinstance(cls, enum.EnumMeta)


def members(cls: Any) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The members of an enum by value, as far as values can be looked up, and by name, including aliases."""
    by_value: dict[Any, Any] = {}
    for member in cls.__members__.values():
        try:
            by_value[member.value] = member
        except TypeError:
            continue
    return by_value, dict(cls.__members__)


def factory(annotation: Any) -> Callable[[], Any] | None:
    return _FACTORIES.get(origin_of(annotation) or annotation)


# --- NumPy -----------------------------------------------------------------------------------------------------------
def is_ndarray(cls: type) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and cls is numpy.ndarray


def dtypes(scalar_type: Any) -> tuple[str, list[Any]]:
    """The name in errors for an array of such items, and the dtypes that it may have; [None] for any.

    Raises TypeError: there is no such dtype.
    """
    numpy: Any = sys.modules["numpy"]
    if scalar_type is Any or scalar_type is numpy.generic:
        return "ndarray", [None]
    given = scalar_type.__args__ if is_union(scalar_type) else (scalar_type,)
    # `np.floating` and the like stand for all classes derived from them.
    concrete = sorted(set(numpy.sctypeDict.values()), key=lambda cls: cls.__name__)
    found: list[Any] = []
    for cls in given:
        # NumPy would make any other class the dtype of objects.
        if not isinstance(cls, type) or not (issubclass(cls, numpy.generic) or cls in _DTYPES):
            raise TypeError
        below = [cls] if cls in concrete else [other for other in concrete if issubclass(other, cls)]
        found += [numpy.dtype(other) for other in below or [cls]]
    return f"NDArray[{' | '.join(cls.__name__ for cls in given)}]", found


def shape(annotation: Any) -> tuple[int | None, ...] | None:
    """The lengths of the axes in `tuple[Literal[3], int]`; None for an axis of any length. None for any
    shape.
    """
    if origin_of(annotation) is not tuple or ... in annotation.__args__:
        return None
    return tuple(_axis(part) for part in annotation.__args__ if part != ())


def _axis(annotation: Any) -> int | None:
    if special(origin_of(annotation)) == "Literal":
        length = annotation.__args__[0]
        return length if type(length) is int and len(annotation.__args__) == 1 else None
    return None
