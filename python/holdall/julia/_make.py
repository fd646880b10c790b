"""Python objects for Julia's own types, made from their values when all of them are there.

If the Python type can't express a value, it stays a record, so that nothing is lost: makers return one for
values that Julia's own constructors would not produce.
"""

from __future__ import annotations

import datetime
import uuid
from typing import TYPE_CHECKING, Any

from ._numbers import UInt128, read_char
from ._struct import JuliaStruct, record
from ._types import Type, TypeVar, Union
from ._values import (
    Bits,
    Complex,
    Dict,
    IdDict,
    NamedTuple,
    Pairs,
    Period,
    Rational,
    Set,
    SubString,
    missing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_DAY = 86_400_000
_FLOAT64 = Type(("Core", "Float64"))
_INT64 = Type(("Core", "Int64"))


def is_of(type_: Any, *params: Type) -> bool:
    """Whether these are a type's parameters."""
    found: tuple[Any, ...] = type_.params
    return found == params


def _complex(type_: Type, values: list[Any]) -> Any:
    if is_of(type_, _FLOAT64) and list(map(type, values)) == [float, float]:
        return complex(*values)
    if len(values) == 2 and all(isinstance(value, (int, float)) for value in values):
        try:
            return Complex(values[0], values[1], type_)
        except OverflowError:
            pass
    return record(type_, values)


def _rational(type_: Type, values: list[Any]) -> Any:
    from fractions import Fraction

    if len(values) == 2 and all(isinstance(value, int) for value in values) and values[1] > 0:
        above, below = map(int, values)
        found = Fraction(above, below) if is_of(type_, _INT64) else Rational(above, below, type_)
        # Julia keeps them in lowest terms.
        if found.denominator == values[1]:
            return found
    return record(type_, values)


def _set(type_: Type, values: list[Any]) -> Any:
    table = values[0] if len(values) == 1 else None
    if type(table) is not Dict or any(value is not None for value in table.values()):
        return record(type_, values)
    # Sets with the same table are the same set. It may have been made while its own table was being filled.
    found = getattr(table, "_set", None)
    if found is None or found.type != type_:
        table._set = found = Set(table, type=type_)
    elif len(found) != len(table):
        found._order = tuple(table)
        found.update(table)
    return found


def _named_tuple(type_: Type, values: list[Any]) -> Any:
    names = type_.params[0] if type_.params else None
    if (
        isinstance(names, tuple)
        and len(names) == len(values)
        and all(isinstance(name, str) for name in names)
    ):
        return NamedTuple(values, names, type_)
    return record(type_, values)


def _substring(type_: Type, values: list[Any]) -> Any:
    if len(values) == 3 and type(values[0]) is str and type(values[1]) is type(values[2]) is int:
        try:
            return SubString(*values)
        except ValueError:
            pass
    return record(type_, values)


def _unit_range(type_: Type, values: list[Any]) -> Any:
    if is_of(type_, _INT64) and list(map(type, values)) == [int, int] and values[1] >= values[0] - 1:
        return range(values[0], values[1] + 1)
    return record(type_, values)


def _step_range(type_: Type, values: list[Any]) -> Any:
    # A step of 1 would come back as a UnitRange.
    if is_of(type_, _INT64, _INT64) and list(map(type, values)) == [int] * 3 and values[1] not in (0, 1):
        start, step, stop = values
        found = range(start, stop + (1 if step > 0 else -1), step)
        if last_of(found) == stop:
            return found
    return record(type_, values)


def last_of(values: range) -> int:
    """The end that Julia stores for a range."""
    # Not by `len`, which fails for very long ranges.
    if values:
        return values[-1]
    return values.start - (1 if values.step > 0 else -1)


def _period(type_: Type, values: list[Any]) -> Any:
    if len(values) == 1 and type(values[0]) is int:
        try:
            return Period(values[0], type_.path[-1])
        except (ValueError, OverflowError):
            pass
    return record(type_, values)


def _count(values: list[Any], *types: str) -> int | None:
    """The number within an instant, if it is of these types at every level."""
    value: Any = values[0] if len(values) == 1 else None
    for name in types[:-1]:
        if not (type(value) is JuliaStruct and getattr(value.type, "name", "") == name and len(value) == 1):
            return None
        value = value.values[0]
    if type(value) is Period:
        return value.count if value.type.name == types[-1] else None
    if type(value) is JuliaStruct and getattr(value.type, "name", "") == types[-1] and len(value) == 1:
        value = value.values[0]
        return value if type(value) is int else None
    return None


def _date(type_: Type, values: list[Any]) -> Any:
    days = _count(values, "Dates.UTInstant", "Dates.Day")
    found = None if days is None else date(days)
    return record(type_, values) if found is None else found


def date(days: int) -> datetime.date | None:
    """The day with Julia's number, which is Python's; None outside of Python's years."""
    return datetime.date.fromordinal(days) if 0 < days <= datetime.date.max.toordinal() else None


def _datetime(type_: Type, values: list[Any]) -> Any:
    millis = _count(values, "Dates.UTInstant", "Dates.Millisecond")
    found = None if millis is None else moment(millis)
    return record(type_, values) if found is None else found


def moment(millis: int) -> datetime.datetime | None:
    """The moment with Julia's number; None outside of Python's years."""
    days, rest = divmod(millis, _DAY)
    day = date(days)
    if day is None:
        return None
    return datetime.datetime(day.year, day.month, day.day) + datetime.timedelta(milliseconds=rest)


def _time(type_: Type, values: list[Any]) -> Any:
    # A Nanosecond may be a record.
    nanos = _count(values, "Dates.Nanosecond")
    found = None if nanos is None else time(nanos)
    return record(type_, values) if found is None else found


def time(nanos: int) -> datetime.time | None:
    """The time with Julia's number; None if Python has no such time."""
    micros, rest = divmod(nanos, 1000)
    if rest or not 0 <= micros < 86_400_000_000:
        return None
    seconds, micro = divmod(micros, 1_000_000)
    return datetime.time(seconds // 3600, seconds // 60 % 60, seconds % 60, micro)


def _uuid(type_: Type, values: list[Any]) -> Any:
    if list(map(type, values)) == [UInt128]:
        return uuid.UUID(int=int(values[0]))
    return record(type_, values)


def _missing(type_: Type, values: list[Any]) -> Any:
    return record(type_, values) if values else missing


def _nothing(type_: Type, values: list[Any]) -> Any:
    return record(type_, values) if values else None


def _type_var(type_: Type, values: list[Any]) -> Any:
    if len(values) == 3 and isinstance(values[0], str):
        return TypeVar(*values)
    return record(type_, values)


def _union(type_: Type, values: list[Any]) -> Any:
    return Union(*values) if len(values) == 2 else record(type_, values)


def _bit_array(type_: Type, values: list[Any]) -> Any:
    from ._bitarray import read

    found = read(type_, values)
    return record(type_, values) if found is None else found


def _char(type_: Type, data: bytes) -> Any:
    found = read_char(data)
    return Bits(type_, data) if found is None else found


def _bool(type_: Type, data: bytes) -> Any:
    return data != b"\0" if data in (b"\0", b"\1") else Bits(type_, data)


def empty_dict(type_: Type) -> Dict:
    """A Dict of that type, to be filled."""
    return Dict(type=type_)


def empty_id_dict(type_: Type) -> IdDict:
    """An IdDict of that type, to be filled."""
    return IdDict(type=type_)


def pairs(type_: Type, keys: list[Any], values: list[Any]) -> Pairs:
    """A table whose keys can't be hashed, or are equal in Python."""
    return Pairs(zip(keys, values, strict=True), type=type_)


MAKERS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "Core.NamedTuple": _named_tuple,
    "Core.Nothing": _nothing,
    "Core.TypeVar": _type_var,
    "Core.Union": _union,
    "Base.BitArray": _bit_array,
    "Base.Complex": _complex,
    "Base.Missing": _missing,
    "Base.Rational": _rational,
    "Base.Set": _set,
    "Base.StepRange": _step_range,
    "Base.SubString": _substring,
    "Base.UUID": _uuid,
    "Base.UnitRange": _unit_range,
    "Dates.Date": _date,
    "Dates.DateTime": _datetime,
    "Dates.Time": _time,
    **{
        f"Dates.{unit}": _period
        for unit in "Nanosecond Microsecond Millisecond Second Minute Hour Day Week".split()
    },
}
BITS: dict[str, Callable[[Any, bytes], Any]] = {"Core.Bool": _bool, "Core.Char": _char}
TABLES: dict[str, Callable[[Any], dict[Any, Any]]] = {"Base.Dict": empty_dict, "Base.IdDict": empty_id_dict}
