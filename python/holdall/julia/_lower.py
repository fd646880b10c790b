"""Converts Python objects to what is written for them in Julia's files, one level at a time."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _numbers, _registry
from ._infer import common_type, type_of
from ._layout import Layout, items, layout
from ._lower_arrays import lower_numbers, lower_scalar
from ._lower_values import BASES, WAYS, lower_instance
from ._names import Symbol
from ._struct import JuliaStruct, Wrapper
from ._types import ANY, Type, known, same, shown
from ._values import Bits, Dict, IdDict, Missing, Pairs, Set, iterate_pairs
from ._wrappers import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._lower_values import Lowered


class Made:
    """Stands for a part that isn't a Python object: `lower` returns its content."""

    __slots__ = ("lowered",)

    def __init__(self, *lowered: Any) -> None:
        self.lowered = lowered


def lower(obj: Any) -> Lowered | None:
    """What to write for an object; its parts are objects again, which are lowered in turn.

    ("struct", type, values), ("set", type, table), ("bits", type, bytes), ("array", type, shape, buffer)
    contiguous and column-major, ("boxed", type, shape, items) column-major, ("symbol", str), ("svec", items),
    ("datatype", path, params), ("unionall", var, body), ("bottom",), ("anonymous", typename, params),
    ("module", path), ("value", builtin), ("bytes", buffer) a Vector{UInt8}, ("int32", int).

    Parts may be new objects: a caller that identifies objects by address must hold them until everything is
    written.

    None: the object's Julia type is unknown. Raises EncodeError: Julia has no such values.
    """
    cls = type(obj)
    known_way = _WAYS.get(cls)
    if known_way is not None:
        return known_way(obj)
    mapped = _registry.registered(cls)
    if mapped is not None:
        return lower_instance(obj, mapped)
    # The class is asked, because for an array NumPy would make the whole description, which is unsafe without
    # memory.
    if cls.__module__ == "numpy" or hasattr(cls, "__array_interface__"):
        return _of_numpy(obj)
    for base, way in _BASES:
        if isinstance(obj, base):
            return way(obj)
    return None


def values_of(obj: Any) -> list[Any]:
    """The values of an object that is written as a struct. Raises TypeError: it is written in another way."""
    # An array isn't, and may contain itself: lowering it would lower its items.
    if hasattr(type(obj), "__array_finalize__"):
        raise TypeError("expected a struct")
    lowered = lower(obj)
    if lowered is None or lowered[0] != "struct":
        raise TypeError("expected a struct")
    values: list[Any] = lowered[2]
    return values


def _bits(obj: Bits) -> Lowered:
    if not obj._of_array:
        return "bits", obj.type, obj.data
    # A value that isn't of a primitive type is stored field by field when it is alone.
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


# --- as it lies in memory ---


def vector(values: tuple[Any, ...]) -> Any:
    """What `lower` returns for the vector of a type's parameters; the values themselves if they are no array
    of bits.

    BSON.jl writes values of one bits type as one array.
    """
    try:
        kinds = [type_of(value) for value in values]
    except _core.EncodeError:
        # The caller writes each of these with its type.
        return values
    if not kinds or not isinstance(kinds[0], Type) or not all(_alike(kinds[0], kind) for kind in kinds):
        return values
    of = kinds[0]
    if all(isinstance(value, Bits) for value in values):
        # Of any layout.
        return "array", of, (len(values),), b"".join(value.data for value in values)
    laid = layout(of)
    if laid is None:
        if all(type(value) is JuliaStruct and not value.values for value in values):
            # A type without fields has only one instance.
            return "array", of, (len(values),), b""
        return values
    try:
        data = b"".join(pack(laid, value) for value in values)
    except (ValueError, TypeError, OverflowError, AttributeError, struct.error):
        # Each is written with its own type.
        return values
    return ("bytes", data) if of.name == "Core.UInt8" else ("array", of, (len(values),), data)


def _alike(a: Type, b: Any) -> bool:
    # Paths must be equal as well: older files have others.
    return a is b or (isinstance(b, Type) and a.path == b.path and a == b)


def packed(laid: Layout, values: list[Any]) -> bytes:
    """Consecutive values in memory layout. Raises EncodeError: one of them is of another type."""
    try:
        return b"".join([pack(laid, value) for value in values])
    except (ValueError, TypeError, OverflowError, AttributeError, struct.error) as cause:
        if isinstance(cause, _core.HoldallError):
            raise
        raise _core.EncodeError(
            f"can't store as {shown(laid.type)} what is of another type, or beyond its bounds"
        ) from None


def pack(laid: Layout, value: Any) -> bytes:
    """A value in memory layout.

    Raises ValueError, TypeError, OverflowError or struct.error: it is of another type.
    """
    if isinstance(value, Bits) and len(value.data) == laid.size:
        return value.data
    if laid.kind in "iu":
        return int(_exact(value, int)).to_bytes(laid.size, "little", signed=laid.kind == "i")
    if laid.kind == "f":
        number: bytes = {2: _numbers.Float16, 4: _numbers.Float32}.get(laid.size, _Float64)(
            _exact(value, float)
        )._bytes()
        return number
    if laid.kind == "b":
        return b"\1" if _exact(value, bool) else b"\0"
    if laid.kind == "c":
        return _numbers.Char(_exact(value, str))._bytes()
    if laid.kind == "e":
        return int(value.value).to_bytes(
            laid.size, "little", signed=_registry.enum_width(type(value))._LEAST < 0
        )
    if laid.type.name in _SINGLE:
        _exact(value, _SINGLE[laid.type.name])
        return b""
    done = bytearray(laid.size)
    for (_, start, field), part in zip(laid.fields, _parts(laid, value), strict=True):
        done[start : start + field.size] = pack(field, part)
    return bytes(done)


_SINGLE = {"Core.Nothing": type(None), "Base.Missing": Missing}


class _Float64(float):
    def _bytes(self) -> bytes:
        return struct.pack("<d", self)


def _exact(value: Any, kind: type[Any]) -> Any:
    # True isn't a number here, and 1 isn't a float.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"expected {kind.__name__}")
    return value


def _parts(laid: Layout, value: Any) -> list[Any]:
    if laid.type.name == "Core.Tuple":
        return list(_exact(value, tuple))
    if laid.type.name == "Base.Complex":
        return [getattr(value, "re", value.real), getattr(value, "im", value.imag)]
    if laid.type.name == "Base.Rational":
        return [value.numerator, value.denominator]
    if isinstance(value, Wrapper):
        return value._parts()
    return values_of(value)


# --- tables ---


def _table(type_: Type, keys: list[Any], values: list[Any]) -> Lowered:
    of_keys, of_values = type_.params if len(type_.params) == 2 else (ANY, ANY)
    return "struct", type_, [_column(of_keys, keys), _column(of_values, values)]


def _column(type_: Any, values: list[Any]) -> Any:
    """A vector of a Dict's keys or values as BSON.jl writes it: packed if they hold no references."""
    laid = layout(type_)
    if laid is None:
        return _opaque(type_, values)
    data = packed(laid, values)
    return data if type_.name == "Core.UInt8" else Made("array", type_, (len(values),), data)


def _opaque(type_: Any, values: list[Any]) -> Any:
    """Values of a type with an unknown layout: packed if they came packed."""
    if values and all(type(value) is Bits and same(value.type, type_) for value in values):
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
        # Its vectors may hold anything, whatever its type says.
        return "struct", type_, [keys, values]
    return _table(type_, keys, values)


def table_of(type_: Any) -> tuple[Type, str, int] | None:
    """For a Dict from text to numbers: their type, kind and size. None for other types."""
    if not isinstance(type_, Type) or type_.name != "Base.Dict" or len(type_.params) != 2:
        return None
    of_keys, of_values = type_.params
    laid = layout(of_values)
    # An array, which a file may have here, has no truth value.
    if (
        not isinstance(of_keys, Type)
        or of_keys != known("String")
        or laid is None
        or laid.kind not in "iuf"
        or laid.size > 8
    ):
        return None
    # A Vector{UInt8} has a form of its own, and floats of other sizes are written elsewhere.
    if of_values.name == "Core.UInt8" or (laid.kind == "f" and laid.size != 8):
        return None
    return of_values, laid.kind, laid.size


def _plain_dict(obj: dict[Any, Any]) -> Lowered:
    if type(obj) is not dict and all(type(key) is str for key in obj):
        return "value", dict(obj)
    return _dict(obj)


def lower_pairs(obj: dict[str, Any]) -> Lowered:
    """A dict with text keys as a Dict{Symbol,Any}: as a document it would be taken for a typed value."""
    return _table(known("Dict", known("Symbol"), ANY), list(map(Symbol, obj)), list(obj.values()))


def _set(obj: set[Any] | frozenset[Any]) -> Lowered:
    items = obj.in_order() if isinstance(obj, Set) else _sorted(obj)
    type_ = obj.type if isinstance(obj, Set) else None
    if type_ is None:
        type_ = known("Set", common_type(items))
    of = type_.params[0] if type_.params else ANY
    # From the same Julia version as the set.
    table = Type((*type_.path[:-1], "Dict"), (of, known("Nothing")))
    return "set", type_, Made(*_table(table, items, [None] * len(items)))


def _sorted(items: set[Any] | frozenset[Any]) -> list[Any]:
    """In order if the items have one, so that equal sets give equal bytes."""
    try:
        return sorted(items)
    except TypeError:
        return list(items)


# --- types ---


def _type(obj: Type) -> Lowered:
    # The native side writes types and names; other parameters are a Julia vector.
    found = vector(obj.params)
    return "datatype", obj.path, found if found is obj.params else Made(*found)


# --- arrays ---


def _of_numpy(obj: Any) -> Lowered | None:
    np = numpy()
    if not isinstance(obj, (np.ndarray, np.generic)):
        return None
    if isinstance(obj, np.generic):
        return lower_scalar(obj)
    from . import _bitarray

    if isinstance(obj, _bitarray.BitArray):
        return "struct", known("BitArray", obj.ndim), _bitarray.lower(obj)
    if isinstance(obj, np.ma.MaskedArray):
        raise _core.EncodeError(
            "can't store a masked array: fill it, or use an array of objects with `missing` in it"
        )
    array = np.asarray(obj)
    return _objects(array) if array.dtype.kind == "O" else lower_numbers(array)


def _objects(array: Any) -> Lowered:
    """An array of objects: packed if its elements hold no references in Julia."""
    metadata = array.dtype.metadata or {}
    type_, has_bits = metadata.get("julia"), metadata.get("bits", False)
    values = list(array.ravel(order="F"))
    laid = layout(type_)
    if has_bits and laid is None:
        if any(getattr(value, "type", None) != type_ or len(value) > 0 for value in values):
            raise _core.EncodeError(f"can't store as {shown(type_)} what is of another type")
        return "array", type_, array.shape, b""
    if laid is not None:
        return "array", type_, array.shape, packed(laid, values)
    # Like BSON.jl, only the elements, without their type.
    if array.ndim == 1:
        return "value", values
    return "boxed", ANY if type_ is None else type_, array.shape, values


_WAYS: dict[type[Any], Callable[[Any], Lowered]] = {
    **WAYS,
    dict: _plain_dict,
    set: _set,
    frozenset: _set,
    Bits: _bits,
    Dict: _dict,
    IdDict: _dict,
    Made: lambda obj: obj.lowered,
    Pairs: _dict,
    Set: _set,
    Type: _type,
}
_BASES: tuple[tuple[Any, Callable[[Any], Lowered | None]], ...] = (
    *BASES,
    (dict, _plain_dict),
    ((set, frozenset), _set),
)
