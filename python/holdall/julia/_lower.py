"""Python's objects as Julia's: what is written for each, a step at a time."""

from __future__ import annotations

import datetime
import enum
import uuid
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _numbers, _registry
from ._infer import common_type, type_of
from ._layout import items, layout, vector
from ._make import last_of
from ._parse import known
from ._struct import JuliaStruct, Wrapper, record
from ._types import ANY, Anonymous, Module, Type, TypeVar, Union, UnionAll, _Bottom, shown
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
    SimpleVector,
    SubString,
    Symbol,
    iterate_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Lowered = tuple[Any, ...]

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


class Made:
    """What stands for a part that no object of Python's stands for: what `lower` says of it."""

    __slots__ = ("lowered",)

    def __init__(self, *lowered: Any) -> None:
        self.lowered = lowered


def lower(obj: Any) -> Lowered | None:
    """What is written for an object; each part is an object again, to be lowered in its turn.

    ("struct", type, values), ("set", type, table), ("bits", type, bytes), ("array", type, shape, buffer) contiguous and column-major,
    ("boxed", type, shape, items) column-major, ("symbol", str), ("svec", items), ("datatype", path, params),
    ("unionall", var, body), ("bottom",), ("anonymous", typename, params), ("module", path), ("value", builtin),
    ("bytes", buffer) a Vector{UInt8}, ("int32", int).

    Parts may be made here and now: whoever remembers objects by their address holds them until all is written.

    None: nobody has said what the object is in Julia. Raises EncodeError: there is nothing in Julia for it.
    """
    cls = type(obj)
    known_way = _WAYS.get(cls)
    if known_way is not None:
        return known_way(obj)
    mapped = _registry.registered(cls)
    if mapped is not None:
        return _instance(obj, mapped)
    # The class is asked: of an array itself NumPy would make the whole description, and is not safe where memory runs out.
    if cls.__module__ == "numpy" or hasattr(cls, "__array_interface__"):
        return _of_numpy(obj)
    for base, way in _BASES:
        if isinstance(obj, base):
            return way(obj)
    return None


def values_of(obj: Any) -> list[Any]:
    """The values of what is written as a struct. Raises TypeError: it is written otherwise."""
    # An array is none, and may hold itself: asked what it is written as, it would ask its items.
    if hasattr(type(obj), "__array_finalize__"):
        raise TypeError("expected a struct")
    lowered = lower(obj)
    if lowered is None or lowered[0] != "struct":
        raise TypeError("expected a struct")
    values: list[Any] = lowered[2]
    return values


# --- what has a place in Julia of its own ---


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
    """A box or a range made by hand, or one that was loaded."""
    return "struct", type_of(obj), obj._parts()


def _bits(obj: Bits) -> Lowered:
    if not obj._of_array:
        return "bits", obj.type, obj.data
    # What is no primitive type is stored field by field, where it stands alone.
    (value,) = items(obj.type, obj.data, 1)
    if isinstance(value, Bits):
        raise _core.EncodeError(
            f"can't store a `{shown(obj.type)}` that was in an array by itself, as its fields are not known: map its type with"
            " `holdall.julia.struct` to a class whose annotations say them, or make it `Bits(value.type, value.data)` if it is"
            " a primitive type"
        )
    found = lower(value)
    assert found is not None, "what was made of a layout has a form"
    return found


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


# --- tables ---


def _table(type_: Type, keys: list[Any], values: list[Any]) -> Lowered:
    of_keys, of_values = type_.params if len(type_.params) == 2 else (ANY, ANY)
    return "struct", type_, [_column(of_keys, keys), _column(of_values, values)]


def _column(type_: Any, values: list[Any]) -> Any:
    """A vector of a Dict's keys or values as BSON.jl writes it: packed, if they hold no references."""
    laid = layout(type_)
    if laid is None:
        return _opaque(type_, values)
    from ._arrays import packed

    data = packed(laid, values)
    return data if type_.name == "Core.UInt8" else Made("array", type_, (len(values),), data)


def _opaque(type_: Any, values: list[Any]) -> Any:
    """Values of a type whose layout isn't known: packed, if they were."""
    if values and all(type(value) is Bits and value.type == type_ for value in values):
        return Made("array", type_, (len(values),), b"".join(value.data for value in values))
    return values


def _dict(obj: dict[Any, Any] | Pairs) -> Lowered:
    table = list(iterate_pairs(obj))
    keys, values = [key for key, _ in table], [value for _, value in table]
    type_ = getattr(obj, "type", None)
    if not isinstance(type_, Type):
        params = (ANY, ANY) if isinstance(obj, IdDict) else (common_type(keys), common_type(values))
        type_ = known("IdDict" if isinstance(obj, IdDict) else "Dict", *params)
    if type_.name == "Base.IdDict":
        # Its own vectors hold anything, whatever its type says.
        return "struct", type_, [keys, values]
    return _table(type_, keys, values)


def table_of(type_: Any) -> tuple[Type, str, int] | None:
    """Of a Dict from text to numbers: their type and kind, and how many bytes each has. None of any other type."""
    if not isinstance(type_, Type) or type_.name != "Base.Dict" or len(type_.params) != 2:
        return None
    of_keys, of_values = type_.params
    laid = layout(of_values)
    # An array, which a file may have here, has no truth.
    if (
        not isinstance(of_keys, Type)
        or of_keys != known("String")
        or laid is None
        or laid.kind not in "iuf"
        or laid.size > 8
    ):
        return None
    # A Vector{UInt8} has a form of its own, and what is no float of Python's is put by others.
    if of_values.name == "Core.UInt8" or (laid.kind == "f" and laid.size != 8):
        return None
    return of_values, laid.kind, laid.size


def _plain_dict(obj: dict[Any, Any]) -> Lowered:
    if type(obj) is not dict and all(type(key) is str for key in obj):
        return "value", dict(obj)
    return _dict(obj)


def lower_pairs(obj: dict[str, Any]) -> Lowered:
    """A dict of text keys as a Dict{Symbol,Any}: as a document it would be taken for something else."""
    return _table(known("Dict", known("Symbol"), ANY), list(map(Symbol, obj)), list(obj.values()))


def _set(obj: set[Any] | frozenset[Any]) -> Lowered:
    items = obj.in_order() if isinstance(obj, Set) else _sorted(obj)
    type_ = obj.type if isinstance(obj, Set) else None
    if type_ is None:
        type_ = known("Set", common_type(items))
    of = type_.params[0] if type_.params else ANY
    # Of the same Julia as the set.
    table = Type((*type_.path[:-1], "Dict"), (of, known("Nothing")))
    return "set", type_, Made(*_table(table, items, [None] * len(items)))


def _sorted(items: set[Any] | frozenset[Any]) -> list[Any]:
    """So that equal sets give equal bytes, where their items have an order."""
    try:
        return sorted(items)
    except TypeError:
        return list(items)


# --- types ---


def _type(obj: Type) -> Lowered:
    # The native side writes what it knows; the others are Julia's vector of them.
    found = vector(obj.params)
    return "datatype", obj.path, found if found is obj.params else Made(*found)


def _union(obj: Union) -> Lowered:
    first, *rest = obj.members
    return "struct", known("Union"), [first, rest[0] if len(rest) == 1 else Union(*rest)]


def _type_var(obj: TypeVar) -> Lowered:
    return "struct", known("TypeVar"), [Symbol(obj.name), obj.lower, obj.upper]


# --- instances ---


def _instance(obj: Any, mapped: _registry.Mapped) -> Lowered:
    """An instance of a mapped class that `class_of` alone doesn't settle."""
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
    """A subclass of tuple: one with names is a NamedTuple in Julia too."""
    names = getattr(obj, "_fields", None)
    if not isinstance(names, tuple):
        return "value", tuple(obj)
    return _named_tuple(NamedTuple(obj, tuple(map(Symbol, names))))


def _of_numpy(obj: Any) -> Lowered | None:
    from ._arrays import lower_array, lower_scalar
    from ._wrappers import numpy

    np = numpy()
    if not isinstance(obj, (np.ndarray, np.generic)):
        return None
    if isinstance(obj, np.generic):
        return lower_scalar(obj)
    from . import _bitarray

    if isinstance(obj, _bitarray.BitArray):
        return "struct", known("BitArray", obj.ndim), _bitarray.lower(obj)
    return lower_array(obj)


_WAYS: dict[type[Any], Callable[[Any], Lowered]] = {
    int: _int,
    dict: _plain_dict,
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
    set: _set,
    frozenset: _set,
    datetime.date: _date,
    datetime.datetime: _datetime,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
    uuid.UUID: _uuid,
    Anonymous: lambda obj: ("anonymous", obj.typename, obj.params),
    Bits: _bits,
    Complex: _complex_of,
    Dict: _dict,
    IdDict: _dict,
    JuliaStruct: _record,
    Made: lambda obj: obj.lowered,
    Missing: _missing,
    Module: lambda obj: ("module", obj.path),
    NamedTuple: _named_tuple,
    Pairs: _dict,
    Period: _period,
    Rational: _fraction,
    Set: _set,
    SimpleVector: lambda obj: ("svec", list(obj)),
    SubString: _substring,
    Symbol: lambda obj: ("symbol", str(obj)),
    Type: _type,
    TypeVar: _type_var,
    Union: _union,
    UnionAll: lambda obj: ("unionall", obj.var, obj.body),
    _Bottom: lambda obj: ("bottom",),
}
# Of classes that are none of these, but made of one. An enumeration may be made of an int, and means more.
_BASES: tuple[tuple[Any, Callable[[Any], Lowered | None]], ...] = (
    (enum.Enum, lambda obj: None),
    (Wrapper, _wrapper),
    (int, lambda obj: _int(int(obj))),
    (float, lambda obj: ("value", float(obj))),
    (str, lambda obj: ("value", str.__str__(obj))),
    (tuple, _tuple),
    (list, lambda obj: ("value", list(obj))),
    (dict, _plain_dict),
    ((set, frozenset), _set),
    ((bytes, bytearray), lambda obj: ("bytes", obj)),
    (datetime.datetime, _datetime),
    (datetime.date, _date),
    (datetime.timedelta, _timedelta),
)


class _Values:
    """Classes whose instances are what they are by their value: met again, they are written again, as in Julia."""

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
