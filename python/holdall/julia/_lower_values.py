"""What is written for Python values that determine it themselves; `_lower` handles the values that they
contain.
"""

from __future__ import annotations

import datetime
import enum
import uuid
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _numbers, _registry
from ._infer import type_of
from ._make import last_of
from ._names import Symbol
from ._struct import JuliaStruct, Wrapper, record
from ._types import Anonymous, Module, Type, TypeVar, Union, UnionAll, _Bottom, known
from ._values import (
    Bits,
    Complex,
    Missing,
    NamedTuple,
    Period,
    Rational,
    SimpleVector,
    SubString,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Lowered = tuple[Any, ...]

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def _int(obj: int) -> Lowered:
    if _LEAST <= obj <= _MOST:
        return "value", int(obj)
    if -(1 << 127) <= obj < 1 << 127:
        return "bits", known("Int128"), obj.to_bytes(16, "little", signed=True)
    raise _core.EncodeError(
        "can't store an int beyond 128 bits for Julia: `UInt128` has one bit more; text has any number"
    )


def _fixed(obj: Any) -> Lowered:
    return "bits", known(type(obj).__name__), obj._bytes()


def _record(obj: JuliaStruct) -> Lowered:
    if not isinstance(obj.type, (Type, Anonymous, UnionAll, Union, TypeVar, _Bottom)):
        raise _core.EncodeError(
            f"can't store a `JuliaStruct` whose type is a `{type(obj.type).__qualname__}`: it has to be a `Type`"
        )
    return "struct", obj.type, obj.values


def _wrapper(obj: Wrapper) -> Lowered:
    """A box or a range, loaded or made in Python."""
    return "struct", type_of(obj), obj._parts()


def _named_tuple(obj: NamedTuple) -> Lowered:
    return "struct", type_of(obj), list(obj)


def _complex(obj: complex) -> Lowered:
    return "struct", known("Complex", known("Float64")), [obj.real, obj.imag]


def _complex_of(obj: Complex) -> Lowered:
    type_ = type_of(obj)
    return "struct", type_, _parts_of(type_, [obj.re, obj.im])


def _fraction(obj: Fraction) -> Lowered:
    type_ = type_of(obj)
    return "struct", type_, _parts_of(type_, [obj.numerator, obj.denominator])


def _parts_of(type_: Type, parts: list[Any]) -> list[Any]:
    """Numbers of the type that is the type's parameter."""
    of = _NUMBERS.get(getattr(type_.params[0], "name", "")) if type_.params else None
    if of is None:
        return parts
    try:
        return [of(part) for part in parts]
    except (TypeError, ValueError):
        raise _core.EncodeError(f"can't store as {type_} what is beyond its bounds") from None


_NUMBERS = {f"Core.{name}": getattr(_numbers, name) for name in _numbers.__all__ if name != "Char"}


def _range(obj: range) -> Lowered:
    start, step, stop = obj.start, obj.step, last_of(obj)
    if not all(_LEAST <= number <= _MOST for number in (start, step, stop)):
        raise _core.EncodeError("can't store a range beyond 64 bits for Julia")
    of = known("Int64")
    if step == 1:
        return "struct", known("UnitRange", of), [start, stop]
    return "struct", known("StepRange", of, of), [start, step, stop]


def _substring(obj: SubString) -> Lowered:
    return "struct", known("SubString", known("String")), [obj.string, obj.offset, obj.ncodeunits]


def _missing(obj: Missing) -> Lowered:
    return "struct", known("Missing"), []


# --- dates ---


def _instant(name: str, period: str, count: int) -> Lowered:
    unit = Type(("Dates", period))
    return (
        "struct",
        Type(("Dates", name)),
        [record(Type(("Dates", "UTInstant"), (unit,)), [record(unit, [count])])],
    )


def _date(obj: datetime.date) -> Lowered:
    return _instant("Date", "Day", obj.toordinal())


def _datetime(obj: datetime.datetime) -> Lowered:
    if obj.tzinfo is not None:
        raise _core.EncodeError(
            "can't store a datetime with a zone: Julia's DateTime has none;"
            " `.astimezone(timezone.utc).replace(tzinfo=None)` is the same moment in UTC"
        )
    millis, rest = divmod(obj.microsecond, 1000)
    if rest:
        raise _core.EncodeError("can't store microseconds: Julia's DateTime has milliseconds; round it first")
    seconds = obj.toordinal() * 86_400 + obj.hour * 3600 + obj.minute * 60 + obj.second
    return _instant("DateTime", "Millisecond", seconds * 1000 + millis)


def _time(obj: datetime.time) -> Lowered:
    if obj.tzinfo is not None:
        raise _core.EncodeError(
            "can't store a time with a zone: Julia's Time has none; `.replace(tzinfo=None)` drops it"
        )
    micros = ((obj.hour * 60 + obj.minute) * 60 + obj.second) * 1_000_000 + obj.microsecond
    return "struct", Type(("Dates", "Time")), [record(Type(("Dates", "Nanosecond")), [micros * 1000])]


def _timedelta(obj: datetime.timedelta) -> Lowered:
    micros = obj // datetime.timedelta(microseconds=1)
    unit, count = ("Microsecond", micros) if micros % 1000 else ("Millisecond", micros // 1000)
    return "struct", Type(("Dates", unit)), [count]


def _period(obj: Period) -> Lowered:
    return "struct", obj.type, [obj.count]


def _uuid(obj: uuid.UUID) -> Lowered:
    return "struct", known("UUID"), [_numbers.UInt128(obj.int)]


# --- types ---


def _union(obj: Union) -> Lowered:
    first, *rest = obj.members
    return "struct", known("Union"), [first, rest[0] if len(rest) == 1 else Union(*rest)]


def _type_var(obj: TypeVar) -> Lowered:
    return "struct", known("TypeVar"), [Symbol(obj.name), obj.lower, obj.upper]


# --- instances ---


def lower_instance(obj: Any, mapped: _registry.Mapped) -> Lowered:
    """An instance of a mapped class for which `class_of` doesn't say everything."""
    if isinstance(obj, enum.Enum):
        width = _registry.enum_width(type(obj))
        return "bits", mapped.type, width(obj.value)._bytes()
    own = getattr(obj, "__julia_type__", None)
    type_ = own if isinstance(own, (Type, Anonymous)) else _registry.only_type(type(obj))
    if mapped.encode is not None:
        return "struct", type_, list(mapped.encode(obj))
    if isinstance(obj, tuple):
        return "struct", type_, list(obj)
    try:
        return "struct", type_, [getattr(obj, name) for name in mapped.names]
    except AttributeError:
        raise _core.EncodeError(
            f"can't store `{type(obj).__qualname__}`: one of its fields is not set"
        ) from None


def _tuple(obj: tuple[Any, ...]) -> Lowered:
    """A subclass of tuple: with field names it is a NamedTuple in Julia as well."""
    names = getattr(obj, "_fields", None)
    if not isinstance(names, tuple):
        return "value", tuple(obj)
    return _named_tuple(NamedTuple(obj, tuple(map(Symbol, names))))


WAYS: dict[type[Any], Callable[[Any], Lowered]] = {
    int: _int,
    **{getattr(_numbers, name): _fixed for name in _numbers.__all__},
    _numbers.Int32: lambda obj: ("int32", int(obj)),
    _numbers.Int64: lambda obj: ("value", int(obj)),
    bool: lambda obj: ("value", obj),
    float: lambda obj: ("value", obj),
    str: lambda obj: ("value", obj),
    type(None): lambda obj: ("value", None),
    list: lambda obj: ("value", obj),
    tuple: lambda obj: ("value", obj),
    bytes: lambda obj: ("bytes", obj),
    bytearray: lambda obj: ("bytes", obj),
    memoryview: lambda obj: ("bytes", obj.cast("B") if obj.contiguous else obj.tobytes()),
    complex: _complex,
    Fraction: _fraction,
    range: _range,
    datetime.date: _date,
    datetime.datetime: _datetime,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
    uuid.UUID: _uuid,
    Anonymous: lambda obj: ("anonymous", obj.typename, obj.params),
    Complex: _complex_of,
    JuliaStruct: _record,
    Missing: _missing,
    Module: lambda obj: ("module", obj.path),
    NamedTuple: _named_tuple,
    Period: _period,
    Rational: _fraction,
    SimpleVector: lambda obj: ("svec", list(obj)),
    SubString: _substring,
    Symbol: lambda obj: ("symbol", str(obj)),
    TypeVar: _type_var,
    Union: _union,
    UnionAll: lambda obj: ("unionall", obj.var, obj.body),
    _Bottom: lambda obj: ("bottom",),
}
# For subclasses of these. An enumeration's members may be ints, but mean more.
BASES: tuple[tuple[Any, Callable[[Any], Lowered | None]], ...] = (
    (enum.Enum, lambda obj: None),
    (Wrapper, _wrapper),
    (int, lambda obj: _int(int(obj))),
    (float, lambda obj: ("value", float(obj))),
    (str, lambda obj: ("value", str.__str__(obj))),
    (tuple, _tuple),
    (list, lambda obj: ("value", list(obj))),
    ((bytes, bytearray), lambda obj: ("bytes", obj)),
    (datetime.datetime, _datetime),
    (datetime.date, _date),
    (datetime.timedelta, _timedelta),
)


class _Values:
    """Classes whose instances are values: if one occurs again it is written again, as in Julia."""

    def __iter__(self) -> Iterator[type[Any]]:
        yield from _BY_VALUE
        yield from _registry.enums()


_BY_VALUE = (
    *(getattr(_numbers, name) for name in _numbers.__all__),
    *(
        Bits,
        Complex,
        Fraction,
        Missing,
        Module,
        Period,
        Rational,
        SubString,
        Symbol,
        Type,
        Union,
        UnionAll,
        _Bottom,
    ),
    Anonymous,
    *(
        int,
        bool,
        float,
        str,
        type(None),
        complex,
        range,
        uuid.UUID,
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
    ),
)
VALUES = _Values()
