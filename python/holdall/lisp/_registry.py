"""`struct`: which Python class stands for which of Lisp's types."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from .. import _core
from .._annotations.scopes import annotations_of
from ._values import UNBOUND, Symbol, Type, field_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_C = TypeVar("_C", bound="type[Any]")


class Mapped(NamedTuple):
    """A class that stands for a type."""

    cls: type[Any]
    # The type, with the slots that instances are written with.
    type: Type
    # The attribute of each of these slots.
    fields: tuple[str, ...]
    # Of slots in files: the attribute by the slot's name, or None to leave the value out.
    slots: Mapping[str, str | None]


_BY_NAME: dict[Symbol, Mapped] = {}
_BY_CLASS: dict[type[Any], Mapped] = {}


@overload
def struct(
    name: str,
    cls: _C,
    /,
    *,
    fields: Iterable[str] | None = None,
    slots: Mapping[str, str | None] | None = None,
) -> _C: ...
@overload
def struct(
    name: str,
    cls: None = None,
    /,
    *,
    fields: Iterable[str] | None = None,
    slots: Mapping[str, str | None] | None = None,
) -> Callable[[_C], _C]: ...
def struct(
    name: str,
    cls: _C | None = None,
    /,
    *,
    fields: Iterable[str] | None = None,
    slots: Mapping[str, str | None] | None = None,
) -> _C | Callable[[_C], _C]:
    """Map one of Lisp's structures, classes or conditions to a class, both ways. Can be used as a decorator.

    name: package and name, as Lisp's reader takes them: `SHOP::ORDER`, or `order` for one of COMMON-LISP-USER.
    fields: the attributes that are slots, in the order in which they are written; by default the fields of a dataclass (or the
        like), `__slots__` or annotations. The slot of `first_name` is FIRST-NAME.
    slots: where names differ: the attribute by the slot's name. None leaves what a file has in that slot out, as the restart
        `discard` does.

    Instances are filled without `__init__`; an unbound slot stays without a value. A slot that a file lacks gets the field's default.

    Raises TypeError: no class, or its fields can't be told. Raises ValueError: no such name.

    >>> @struct("SHOP::ITEM")
    ... @dataclass
    ... class Item:
    ...     id: int
    ...     unit_price: float
    >>> loads(dumps(Item(1, 2.5)))
    Item(id=1, unit_price=2.5)
    """
    symbol = Symbol.parse(name)

    def declare(cls: _C) -> _C:
        if not isinstance(cls, type):
            raise TypeError("struct: expected a class")
        attributes = tuple(fields) if fields is not None else _fields(cls)
        renamed = {key.upper(): value for key, value in (slots or {}).items()}
        by_attribute = {value: key for key, value in renamed.items() if value is not None}
        names = [by_attribute.get(field, field.upper().replace("_", "-")) for field in attributes]
        made = Type(symbol, [Symbol(slot, symbol.package) for slot in names])
        mapped = Mapped(cls, made, attributes, renamed)
        _BY_NAME[symbol] = _BY_CLASS[cls] = mapped
        return cls

    return declare if cls is None else declare(cls)


def _fields(cls: type[Any]) -> tuple[str, ...]:
    for name in ("__dataclass_fields__", "__struct_fields__", "_fields", "model_fields", "__attrs_attrs__"):
        found = getattr(cls, name, None)
        if found:
            return tuple(getattr(field, "name", field) for field in found)
    slots = [slot for base in reversed(cls.__mro__) for slot in _slots(base)]
    names = slots or [name for base in reversed(cls.__mro__) for name in annotations_of(base)]
    if not names:
        raise TypeError(
            f"struct: the fields of `{cls.__qualname__}` are not known: name them with `fields=[...]`"
        )
    return tuple(dict.fromkeys(names))


def _slots(cls: type[Any]) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(slot for slot in slots if slot not in ("__dict__", "__weakref__"))


def _set_default(instance: Any, name: str) -> None:
    """Give a field that a file has no slot for its default, if it has one that the class doesn't hold itself."""
    field = getattr(type(instance), "__dataclass_fields__", {}).get(name)
    if field is None:
        return
    if field.default is not dataclasses.MISSING:
        object.__setattr__(instance, name, field.default)
    elif field.default_factory is not dataclasses.MISSING:
        object.__setattr__(instance, name, field.default_factory())


# In place of the classes of one call: no type is mapped to a class.
UNMAPPED: dict[Symbol, type[Any]] = {}


def permitted(types: object) -> dict[Symbol, type[Any]]:
    """The classes of one call, by the symbols of their types."""
    if types is None:
        return {}
    if types is UNMAPPED:
        # The very same: that is how `resolve` knows it.
        return UNMAPPED
    if not isinstance(types, Mapping):
        raise TypeError("types: expected a dict of names and classes")
    return {Symbol.parse(name): cls for name, cls in types.items()}


def class_of(cls: type[Any]) -> tuple[Type, tuple[str, ...]] | None:
    """Type and attributes of a class that is mapped; None for others."""
    mapped = _BY_CLASS.get(cls)
    return None if mapped is None else (mapped.type, mapped.fields)


def resolve(of: Type, types: dict[Symbol, type[Any]]) -> tuple[type[Any], tuple[str, ...], Any] | None:
    """The class for a type in a file, the attribute for each of its slots, and a function that makes instances if slots are left out."""
    if types is UNMAPPED:
        return None
    given = types.get(of.name)
    if given is not None:
        known = _BY_CLASS.get(given)
        mapped = known if known is not None and known.type.name == of.name else None
        cls, fields, renamed = (
            (given, _fields(given), {}) if mapped is None else (given, mapped.fields, mapped.slots)
        )
    else:
        mapped = _BY_NAME.get(of.name)
        if mapped is None:
            return None
        cls, fields, renamed = mapped.cls, mapped.fields, mapped.slots
    names: list[str | None] = []
    for slot in of.slots:
        name = renamed.get(slot.name, field_name(slot))
        if name is not None and name not in fields:
            raise _core.DecodeError(
                f"`{of}` was stored with the slot {slot.name}, which `{cls.__qualname__}` has no field for:"
                f' map it by `struct({str(of)!r}, ..., slots={{"{slot.name}": ...}})`, to a field or to None'
            )
        names.append(name)
    if None not in names:
        return cls, tuple(name for name in names if name is not None), None

    missing = [name for name in fields if name not in names]

    def make(values: list[Any]) -> Any:
        instance = object.__new__(cls)
        for field in missing:
            _set_default(instance, field)
        for name, value in zip(names, values, strict=True):
            if name is not None and value is not UNBOUND:
                object.__setattr__(instance, name, value)
        return instance

    return cls, (), make
