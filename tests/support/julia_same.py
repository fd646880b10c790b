"""`same(a, b)`: are two values of Julia's the same, down to types, bits, dtypes, order and who is shared with whom?"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import numpy as np

from holdall import julia
from holdall.julia._numbers import _Float
from holdall.julia._struct import Wrapper

TYPED = (
    *(julia.Bits, julia.Complex, julia.Dict, julia.IdDict, julia.JuliaStruct, julia.NamedTuple, julia.Pairs),
    *(julia.Rational, julia.Set),
)


class Difference(AssertionError):
    """The text begins with where the two differ."""


def same(ours: Any, theirs: Any) -> None:
    """Raise `Difference` unless both are the same graph."""
    _Same().compare(ours, theirs, "$")


class _Same:
    def __init__(self) -> None:
        self.forward: dict[int, int] = {}
        self.backward: dict[int, int] = {}
        self.held: list[Any] = []

    def compare(self, a: Any, b: Any, path: str) -> None:
        if type(a) is not type(b):
            raise Difference(f"{path}: {type(a).__name__} and {type(b).__name__}: {a!r:.200} and {b!r:.200}")
        if self.has_identity(a):
            if self.forward.get(id(a)) == id(b):
                return
            if id(a) in self.forward or id(b) in self.backward:
                raise Difference(f"{path}: shared with others")
            self.forward[id(a)], self.backward[id(b)] = id(b), id(a)
            self.held += [a, b]
        mine, yours = said(a), said(b)
        if mine != yours:
            raise Difference(f"{path}: {mine!r:.300} and {yours!r:.300}")
        for (name, mine), (_, yours) in zip(children(a), children(b), strict=True):
            self.compare(mine, yours, path + name)

    def has_identity(self, value: Any) -> bool:
        if isinstance(
            value, (str, bytes, int, float, complex, tuple, julia.Type, julia.UnionAll, julia.Union)
        ):
            return False
        return isinstance(
            value, (list, dict, set, np.ndarray, julia.JuliaStruct, julia.TypeVar, Wrapper)
        ) or (dataclasses.is_dataclass(value))


def said(value: Any) -> Any:
    """What a value says beside what it holds."""
    if isinstance(value, _Float):
        return value._bytes()
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, julia.SubString):
        return str(value), value.string, value.offset, value.ncodeunits
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) is complex:
        return struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.ndarray):
        julia_type = (value.dtype.metadata or {}).get("julia")
        kind = dtype_said(value.dtype), value.shape, julia_type, getattr(julia_type, "path", None)
        if value.dtype.kind == "O":
            return kind, value.ndim < 2 or value.flags.f_contiguous
        return kind, value.ndim < 2 or value.flags.f_contiguous, bits(value), getattr(value, "dims", None)
    if isinstance(value, np.generic):
        return value.dtype, value.tobytes()
    if isinstance(value, julia.Type):
        return value.path, len(value.params)
    if isinstance(value, (julia.TypeVar, julia.Bits)):
        return str(value) if isinstance(value, julia.TypeVar) else value.data
    if isinstance(value, julia.Period):
        return value.count, value.unit
    if isinstance(value, julia.Rational):
        return value.numerator, value.denominator
    if isinstance(value, (list, tuple, dict)):
        return len(value), getattr(value, "names", None)
    if isinstance(value, (julia.Complex, julia.JuliaStruct, julia.Set, julia.UnionAll, julia.Union)):
        return None
    if isinstance(value, (julia.Anonymous, Wrapper)) or dataclasses.is_dataclass(value):
        return None
    return value


def dtype_said(dtype: Any) -> Any:
    """A dtype with its byte order and the places of its fields."""
    return dtype.str, dtype.fields and {
        name: (str(field[0]), field[1]) for name, field in dtype.fields.items()
    }


def bits(array: Any) -> Any:
    """The values' bits; what is between fields is nobody's."""
    if array.dtype.names:
        return [bits(np.ascontiguousarray(array[name])) for name in array.dtype.names]
    return array.tobytes(order="F")


def children(value: Any) -> list[tuple[str, Any]]:
    """What a value holds, each with its place."""
    own = getattr(value, "__julia_type__", None)
    found = [] if own is None else [(".__julia_type__", own)]
    if isinstance(value, TYPED):
        found.append((".type", value.type))
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            found += [(f"[{at}]", item) for at, item in enumerate(value.ravel(order="F"))]
    elif isinstance(value, julia.JuliaStruct):
        found += [(f"[{at}]", item) for at, item in enumerate(value.values)]
    elif isinstance(value, julia.Set):
        found += [(f"[{at}]", item) for at, item in enumerate(value.in_order())]
    elif isinstance(value, dict):
        found += [part for key, item in value.items() for part in (("{key}", key), (f"[{key!r}]", item))]
    elif isinstance(value, (list, tuple)):
        found += [(f"[{at}]", item) for at, item in enumerate(value)]
    elif isinstance(value, julia.Complex):
        found += [(".re", value.re), (".im", value.im)]
    elif isinstance(value, julia.Type):
        found += [(f"{{{at}}}", item) for at, item in enumerate(value.params)]
    elif isinstance(value, julia.TypeVar):
        found += [(".lower", value.lower), (".upper", value.upper)]
    elif isinstance(value, julia.UnionAll):
        found += [(".var", value.var), (".body", value.body)]
    elif isinstance(value, julia.Union):
        found += [(f".{at}", item) for at, item in enumerate(value.members)]
    elif isinstance(value, julia.Anonymous):
        found += [(".typename", value.typename), (".params", value.params)]
    elif isinstance(value, Wrapper):
        found += [(f".{name}", getattr(value, name)) for name in value._NAMES]
    elif dataclasses.is_dataclass(value):
        found += [(f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
    return found
