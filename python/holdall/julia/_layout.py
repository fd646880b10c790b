"""The memory layout of values without references, which is Julia's: each field at its alignment, as in C.

Arrays of such values, and the keys and values of a Dict, are stored in that layout.
"""

from __future__ import annotations

import datetime
import enum
import struct
import typing
import uuid
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _numbers, _registry
from ._struct import record
from ._types import Type, known
from ._values import Bits, element

if TYPE_CHECKING:
    from collections.abc import Callable

# How deep types may be nested.
_MOST_DEPTH = 16
# The largest alignment of a primitive type, up to Julia 1.11.
_MOST_ALIGNMENT = 8

_INT64 = known("Int64")
# Codes of `struct`, by size.
_CODES = {
    "i": {1: "b", 2: "h", 4: "i", 8: "q"},
    "u": {1: "B", 2: "H", 4: "I", 8: "Q"},
    "f": {2: "e", 4: "f", 8: "d"},
}


class Layout:
    """The offsets of a type's fields.

    kind: "i", "u", "f" numbers, "b" a Bool, "c" a Char, "e" a member of an enumeration, "s" fields.
    """

    __slots__ = ("align", "fields", "kind", "size", "type")
    align: int
    size: int

    def __init__(
        self, type_: Type, kind: str, size: int, fields: tuple[tuple[str, Layout], ...] = ()
    ) -> None:
        self.type = type_
        self.kind = kind
        places: list[tuple[str, int, Layout]] = []
        end, align = 0, 1
        for name, field in fields:
            start = -(-end // field.align) * field.align
            places.append((name, start, field))
            end, align = start + field.size, max(align, field.align)
        self.fields = tuple(places)
        self.align = align if kind == "s" else min(size, _MOST_ALIGNMENT)
        self.size = -(-end // align) * align if kind == "s" else size


_SCALARS = {
    **{
        f"Core.{name}": (kind[0].lower(), bits // 8)
        for kind in ("Int", "UInt", "Float")
        for bits in (8, 16, 32, 64, 128)
        if (name := f"{kind}{bits}") not in ("Float8", "Float128")
    },
    "Core.Bool": ("b", 1),
    "Core.Char": ("c", 4),
    "Core.Ptr": ("u", 8),
}


def _named_tuple(params: tuple[Any, ...]) -> list[tuple[str, Any]] | None:
    if len(params) != 2 or not isinstance(params[0], tuple) or not _is_tuple(params[1]):
        return None
    names, types = params[0], params[1].params
    if len(names) != len(types) or not all(isinstance(name, str) for name in names):
        return None
    return list(zip(map(str, names), types, strict=True))


def _is_tuple(type_: Any) -> bool:
    return isinstance(type_, Type) and type_.name == "Core.Tuple"


def _each(*names: str) -> Callable[[tuple[Any, ...]], list[tuple[str, Any]] | None]:
    """Fields that all have the type's only parameter as type."""
    return lambda params: [(name, params[0]) for name in names] if len(params) == 1 else None


def _same(**fields: Type) -> Callable[[tuple[Any, ...]], list[tuple[str, Any]] | None]:
    """Fields whose types don't depend on parameters."""
    return lambda params: list(fields.items())


_FIELDS: dict[str, Callable[[tuple[Any, ...]], list[tuple[str, Any]] | None]] = {
    "Core.Nothing": _same(),
    "Core.NamedTuple": _named_tuple,
    "Core.Tuple": lambda params: [(f"f{at}", param) for at, param in enumerate(params)],
    "Base.Complex": _each("re", "im"),
    "Base.Missing": _same(),
    "Base.OneTo": _each("stop"),
    "Base.Pair": lambda params: (
        list(zip(("first", "second"), params, strict=True)) if len(params) == 2 else None
    ),
    "Base.Rational": _each("num", "den"),
    "Base.Some": _each("value"),
    "Base.StepRange": lambda params: (
        [("start", params[0]), ("step", params[1]), ("stop", params[0])] if len(params) == 2 else None
    ),
    "Base.TwicePrecision": _each("hi", "lo"),
    "Base.UUID": _same(value=known("UInt128")),
    "Base.UnitRange": _each("start", "stop"),
    "Dates.Date": _same(instant=Type(("Dates", "UTInstant"), (Type(("Dates", "Day")),))),
    "Dates.DateTime": _same(instant=Type(("Dates", "UTInstant"), (Type(("Dates", "Millisecond")),))),
    "Dates.Time": _same(instant=Type(("Dates", "Nanosecond"))),
    "Dates.UTInstant": _each("periods"),
    **{
        f"Dates.{unit}": _same(value=_INT64)
        for unit in "Year Quarter Month Week Day Hour Minute Second Millisecond Microsecond Nanosecond".split()
    },
}


def layout(type_: Any, types: Any = None, depth: int = 0) -> Layout | None:
    """The memory layout of a type's instances; None if they hold references, or if it is unknown.

    types: as in `resolve`. depth: how many types it is nested in.
    """
    if not isinstance(type_, Type) or depth > _MOST_DEPTH:
        return None
    if type_.name in _SCALARS:
        return Layout(type_, *_SCALARS[type_.name])
    mapped = _registry.permitted(types).find(type_)
    if mapped is not None and issubclass(mapped.cls, enum.Enum):
        return Layout(type_, "e", _registry.enum_width(mapped.cls)._SIZE)
    if type_.name in _FIELDS:
        fields = _FIELDS[type_.name](type_.params)
    elif mapped is not None:
        fields = _annotated(mapped, type_)
    else:
        fields = None
    if fields is None:
        return None
    laid = []
    for name, field in fields:
        found = layout(field, types, depth + 1)
        if found is None:
            return None
        laid.append((name, found))
    return Layout(type_, "s", 0, tuple(laid))


def _annotated(mapped: _registry.Mapped, type_: Type) -> list[tuple[str, Any]] | None:
    """The fields of a mapped class by its annotations; None if one of them has no Julia type."""
    try:
        hints = typing.get_type_hints(mapped.cls)
    except MemoryError:
        raise
    # Evaluating an annotation may raise anything.
    except Exception:
        return None
    if not all(name in hints for name in mapped.names):
        return None
    return [(name, julia_type(hints[name], type_)) for name in mapped.names]


def julia_type(hint: Any, beside: Type | None = None) -> Any:
    """The Julia type of an annotation whose instances hold no references. `beside`: a type of the same
    module.
    """
    if hint in _HINTS:
        return _HINTS[hint]
    if typing.get_origin(hint) is tuple:
        return known("Tuple", *(julia_type(part, beside) for part in typing.get_args(hint)))
    if not isinstance(hint, type):
        return None
    if hint.__module__ == "numpy":
        return _NUMPY.get(hint.__name__)
    mapped = _registry.registered(hint)
    if mapped is not None:
        return mapped.type
    return Type((*beside.path[:-1], hint.__name__)) if beside is not None else None


_HINTS: dict[Any, Type] = {
    bool: known("Bool"),
    int: _INT64,
    float: known("Float64"),
    complex: known("Complex", known("Float64")),
    type(None): known("Nothing"),
    datetime.date: Type(("Dates", "Date")),
    datetime.datetime: Type(("Dates", "DateTime")),
    datetime.time: Type(("Dates", "Time")),
    uuid.UUID: known("UUID"),
    **{getattr(_numbers, name): known(name) for name in _numbers.__all__},
}
_NUMPY = {
    **{
        name.lower(): known(name)
        for name in "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64".split()
    },
    "bool": known("Bool"),
    "bool_": known("Bool"),
    "complex64": known("Complex", known("Float32")),
    "complex128": known("Complex", known("Float64")),
}


def items(type_: Any, data: Any, count: int, types: Any = None, *, exact: bool = False) -> list[Any]:
    """The values of an array, as keys or values of a Dict: numbers are plain, because the Dict keeps their
    type.

    data: bytes-like, `count` consecutive values. A type whose layout is unknown gives `Bits`.
    exact: numbers are instances of classes of their width.
    """
    if not count:
        return []
    data = bytes(data)
    laid = layout(type_, types)
    size = len(data) // count
    if laid is None or laid.size != size:
        if size == 0 and laid is not None:
            raise ValueError("expected the bytes of each element")
        if size == 0:
            return [built(_registry.resolve(type_, types), type_, [])] * count
        return [element(type_, data[at : at + size]) for at in range(0, size * count, size)]
    if laid.kind in "iuf" and size <= 8 and not exact:
        return list(struct.unpack(f"<{count}{_CODES[laid.kind][size]}", data))
    read = _reader(laid, types, exact)
    return [read(data, at * size) for at in range(count)]


def parameters(type_: Any, data: Any, count: int, types: Any = None) -> list[Any]:
    """The parameters of a type that are stored as an array, which alone says their widths."""
    return items(type_, data, count, types, exact=True)


def parameters_of_bytes(data: bytes) -> list[Any]:
    """The same if all of them are UInt8."""
    return list(map(_numbers.UInt8, data))


def _reader(laid: Layout, types: Any, exact: bool) -> Callable[[bytes, int], Any]:
    """A function that reads one value at an offset."""
    size = laid.size
    if exact and laid.kind in "iuf":
        plain = _reader(laid, types, False)
        cls, _ = _registry.NUMBERS.get(laid.type.name, (None, ""))
        if cls is not None:
            return lambda data, at: cls(plain(data, at))
        if laid.type.name not in ("Core.Int64", "Core.Float64"):
            return lambda data, at: Bits(laid.type, data[at : at + size])
    if laid.kind in "iu":
        signed = laid.kind == "i"
        return lambda data, at: int.from_bytes(data[at : at + size], "little", signed=signed)
    if laid.kind == "f":
        unpack = struct.Struct("<" + _CODES["f"][size]).unpack_from
        return lambda data, at: unpack(data, at)[0]
    if laid.kind != "s":
        make = _registry.resolve(laid.type, types)[1]
        return lambda data, at: make(laid.type, data[at : at + size])
    parts = [(start, _reader(field, types, exact)) for _, start, field in laid.fields]
    build = _builder(laid, types)
    return lambda data, at: build([read(data, at + start) for start, read in parts])


def _builder(laid: Layout, types: Any) -> Callable[[list[Any]], Any]:
    if laid.type.name == "Core.Tuple":
        return tuple
    if laid.type.name == "Base.UUID":
        return lambda values: uuid.UUID(int=int(values[0]))
    how = _registry.resolve(laid.type, types)
    return lambda values: built(how, laid.type, values)


def built(how: tuple[Any, ...], type_: Any, values: list[Any]) -> Any:
    """An instance, made as `resolve` says. Raises DecodeError: a program's class with another number of
    fields.
    """
    if how[0] == _registry.MAKE:
        return how[1](type_, values)
    if how[0] != _registry.FIELDS:
        return record(type_, values)
    _, cls, names, attribute, ours = how
    if len(names) != len(values):
        if not ours:
            raise _core.DecodeError(
                f"`{type_}` was stored with {len(values)} fields, and its class has {len(names)}: "
                "name them in order with `holdall.julia.struct(..., fields=[...])`"
            )
        return record(type_, values)
    made = object.__new__(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    if attribute is not None:
        object.__setattr__(made, attribute, type_)
    return made
