"""What changed about a value without parts, in words that show nothing of it."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import math
import struct
from collections.abc import Iterator
from typing import Any

from .kinds import Kind, name_of, zone_told

NUMBERS = (bool, int, float, decimal.Decimal, fractions.Fraction)
# Above what a float of 32 bits rounds by (6e-8), below what anybody would call another value.
ROUNDED = 1e-6
NAN_PAYLOAD = "NaN payload changed"

_UTC = datetime.timezone.utc
_MILLISECOND = datetime.timedelta(milliseconds=1)


def value_changes(kind: Kind, a: Any, b: Any) -> Iterator[str]:
    """Of two objects of one type whose values differ."""
    if kind.base is float:
        yield float_change(float(a), float(b), kind.name)
    elif kind.base is datetime.datetime or kind.base is datetime.time:
        yield from _moment_changes(kind, a, b)
    elif kind.base is datetime.timedelta:
        lost = datetime.timedelta(microseconds=datetime.timedelta.__abs__(a - b) / _MILLISECOND * 1000)
        yield _precision(lost, b.microseconds, kind.name) or f"value changed: {kind.name}"
    elif kind.base is decimal.Decimal and a == b:
        yield f"{kind.name}: digits changed"
    else:
        yield f"value changed: {kind.name}"


def float_change(a: float, b: float, name: str = "float") -> str:
    """Of two floats with different bits."""
    if math.isnan(a) and math.isnan(b):
        return NAN_PAYLOAD
    if a == b:
        return "sign of zero lost" if math.copysign(1, a) < 0 else "sign of zero changed"
    if not math.isnan(a) and math.isclose(a, b, rel_tol=ROUNDED):
        return f"{name} rounded"
    return f"value changed: {name}"


def same_float(a: float, b: float) -> bool:
    return struct.pack("d", a) == struct.pack("d", b)


def _moment_changes(kind: Kind, a: Any, b: Any) -> Iterator[str]:
    name = kind.name
    plain_a, plain_b = a.replace(tzinfo=None, fold=0), b.replace(tzinfo=None, fold=0)
    if zone_told(a.tzinfo) != zone_told(b.tzinfo):
        if b.tzinfo is None:
            yield f"{name}: time zone lost"
        elif a.tzinfo is None:
            yield f"{name}: time zone added"
        else:
            yield f"{name}: time zone changed"
        offset_a, offset_b = a.utcoffset(), b.utcoffset()
        if isinstance(a, datetime.datetime) and offset_a is not None:
            # the same instant on another clock is no other value
            in_utc = plain_a - offset_a
            if offset_b is not None:
                plain_a, plain_b = in_utc, plain_b - offset_b
            elif abs(plain_b - in_utc) < abs(plain_b - plain_a):
                plain_a = in_utc
    elif a.fold != b.fold:
        yield f"{name}: fold lost" if a.fold else f"{name}: fold changed"
    if plain_a != plain_b:
        yield _precision(_apart(plain_a, plain_b), plain_b.microsecond, name) or f"value changed: {name}"


def _apart(a: Any, b: Any) -> datetime.timedelta:
    if isinstance(a, datetime.time):
        day = datetime.date(2000, 1, 1)
        a, b = datetime.datetime.combine(day, a), datetime.datetime.combine(day, b)
    return datetime.timedelta.__abs__(a - b)


def _precision(apart: datetime.timedelta, left: int, name: str) -> str | None:
    """What was rounded, if that is all: the restored one has `left` microseconds in its last second."""
    if left % 1000 == 0 and apart < _MILLISECOND:
        return f"{name} rounded to milliseconds"
    if left == 0 and apart < datetime.timedelta(seconds=1):
        return f"{name}: microseconds lost"
    return None


def type_change(a: Any, b: Any) -> str:
    """Like "tuple → list"."""
    if type(a) is float and b is None:
        if math.isnan(a):
            return "NaN → None"
        if math.isinf(a):
            return "infinity → None"
    ours, theirs = name_of(type(a)), name_of(type(b))
    return f"{ours} → {theirs}" if ours != theirs else f"{ours} → another {theirs}"


def is_other_value(a: Any, b: Any) -> bool:
    """Of two values of different types: is it certain that the new one stands for something else?"""
    if isinstance(a, enum.Enum):
        return type(b) is type(a.value) and type(b) in (int, str) and b != a.value and b != a.name
    a, b = _plain(a), _plain(b)
    if type(a) in NUMBERS and type(b) in NUMBERS:
        return not _equal_numbers(a, b)
    if isinstance(a, (bytes, bytearray, memoryview)) and isinstance(b, (bytes, bytearray, memoryview)):
        return bytes(a) != bytes(b)
    if type(a) is str and type(b) is str:
        return a != b
    if type(a) is int and type(b) is str:
        return b not in (str(a), hex(a))
    return False


def _plain(value: Any) -> Any:
    """As the builtin type that it extends; NumPy's numbers as Python's."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _equal_numbers(a: Any, b: Any) -> bool:
    if a != a or b != b:
        return bool(a != a and b != b)
    if isinstance(a, fractions.Fraction) and isinstance(b, decimal.Decimal):
        return math.isclose(float(a), float(b), rel_tol=1e-15)
    if isinstance(a, (decimal.Decimal, fractions.Fraction)) and isinstance(b, float):
        return float(a) == b
    return bool(a == b)
