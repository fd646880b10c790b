"""The Julia type of a Python object."""

from __future__ import annotations

import datetime
import uuid
from fractions import Fraction
from typing import Any

from .. import _core
from . import _numbers, _registry
from ._arrays import type_of_dtype
from ._names import Symbol
from ._struct import JuliaStruct, Wrapper
from ._types import ANY, Anonymous, Module, Type, TypeVar, Union, UnionAll, known, same
from ._values import (
    Bits,
    Complex,
    Dict,
    IdDict,
    Missing,
    NamedTuple,
    Pairs,
    Period,
    Rational,
    Set,
    SubString,
)
from ._wrappers import BigFloat, LinRange, Pair, Ref, Some, StepRangeLen

_INT64 = known("Int64")
_PLAIN: dict[type[Any], Type] = {
    bool: known("Bool"),
    int: _INT64,
    float: known("Float64"),
    str: known("String"),
    type(None): known("Nothing"),
    list: known("Array", ANY, 1),
    bytes: known("Array", known("UInt8"), 1),
    bytearray: known("Array", known("UInt8"), 1),
    complex: known("Complex", known("Float64")),
    Symbol: known("Symbol"),
    Missing: known("Missing"),
    SubString: known("SubString", known("String")),
    Type: known("DataType"),
    Union: known("Union"),
    UnionAll: known("UnionAll"),
    TypeVar: known("TypeVar"),
    Module: known("Module"),
    uuid.UUID: known("UUID"),
    datetime.date: Type(("Dates", "Date")),
    datetime.datetime: Type(("Dates", "DateTime")),
    datetime.time: Type(("Dates", "Time")),
    BigFloat: known("BigFloat"),
    **{getattr(_numbers, name): known(name) for name in _numbers.__all__},
}
# The most parts of a type, including those within parts. Boxes may be nested without end, and what several
# share would be described repeatedly; beyond this, the type is Any, which Julia always accepts.
_ROOM = 1 << 12


def type_of(obj: Any, room: int = _ROOM) -> Any:
    """The Julia type of an object; Any if it can't be told. Raises EncodeError: it must be told and can't.

    room: how many parts the type may have.
    """
    cls = type(obj)
    if cls in _PLAIN:
        return _PLAIN[cls]
    if cls is Period:
        return obj.type
    own = getattr(obj, "__julia_type__", None)
    if own is None and isinstance(
        obj, (JuliaStruct, Bits, Dict, IdDict, Pairs, Set, NamedTuple, Complex, Rational)
    ):
        own = obj.type
    if isinstance(own, (Type, Anonymous)):
        return own
    if room < 1 and (cls is tuple or cls is NamedTuple or issubclass(cls, Wrapper)):
        return ANY
    if cls is tuple:
        return _of_tuple(obj, room)
    if cls is NamedTuple:
        items = _of_tuple(obj, room)
        return known("NamedTuple", tuple(map(Symbol, obj.names)), items)
    if cls is Complex:
        return known("Complex", common_type([obj.re, obj.im]))
    if issubclass(cls, Fraction):
        fits = all(-(1 << 63) <= part < 1 << 63 for part in (obj.numerator, obj.denominator))
        return known("Rational", _INT64 if fits else known("Int128"))
    if issubclass(cls, Wrapper):
        return _of_wrapper(obj, room // 3)
    if cls is range:
        return known("UnitRange", _INT64) if obj.step == 1 else known("StepRange", _INT64, _INT64)
    if cls is dict and all(type(key) is str for key in obj):
        return known("Dict", known("Symbol"), ANY)
    mapped = _registry.registered(cls)
    if mapped is not None:
        return _registry.only_type(cls)
    if hasattr(obj, "dtype") and hasattr(obj, "ndim"):
        return _of_array(obj)
    return ANY


def _of_tuple(obj: tuple[Any, ...], room: int) -> Type:
    room //= len(obj) + 1
    return known("Tuple", *(type_of(item, room) for item in obj))


def _of_wrapper(obj: Any, room: int) -> Any:
    """The type of a box or a range that was made in Python."""
    cls = type(obj)
    if cls is Ref:
        return known("RefValue", type_of(obj.x, room))
    if cls is Some:
        return known("Some", type_of(obj.value, room))
    if cls is Pair:
        return known("Pair", type_of(obj.first, room), type_of(obj.second, room))
    if cls is StepRangeLen:
        ref = type_of(obj.ref, room)
        # A number in twice the precision counts as its rounded value.
        of = ref.params[0] if getattr(ref, "name", "") == "Base.TwicePrecision" and ref.params else ref
        return known("StepRangeLen", of, ref, type_of(obj.step, room))
    if cls is LinRange:
        return known("LinRange", common_type([obj.start, obj.stop]))
    parent = type_of(obj._parts()[0], room)
    of = _element(parent)
    if of is None:
        raise _core.EncodeError(
            f"can't store `{cls.__name__}` of what is no array: set `__julia_type__` to its type in Julia"
        )
    if cls.__name__ == "ReshapedArray":
        return known("ReshapedArray", of, len(obj.dims), parent, known("Tuple"))
    return Type(("LinearAlgebra", cls.__name__), (of, parent))


def _element(type_: Any) -> Any:
    """The element type of an array type; None for other types."""
    name, params = getattr(type_, "name", ""), getattr(type_, "params", ())
    if (
        name in ("Core.Array", "Base.UnitRange", "Base.StepRange", "Base.StepRangeLen", "Base.LinRange")
        and params
    ):
        return params[0]
    return None


def _of_array(obj: Any) -> Any:
    return known("Array", type_of_dtype(obj.dtype), obj.ndim)


_COMMON = (int, float, str, bool, Symbol, SubString)


def common_type(values: list[Any]) -> Any:
    """The common type of a Dict's keys or values: a number's type, String, Bool or Symbol; else Any."""
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return ANY
    (kind,) = kinds
    if kind is int and not all(-(1 << 63) <= value < 1 << 63 for value in values):
        return ANY
    if kind is Bits:
        of = values[0].type
        return of if all(same(value.type, of) for value in values) else ANY
    return _PLAIN[kind] if kind in _COMMON or kind.__module__ == _numbers.__name__ else ANY
