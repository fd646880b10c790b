"""Other libraries' classes in place of dataclasses: msgspec's here; `substituted` for any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin, get_type_hints


def structs_of(annotation: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The annotation with Structs for dataclasses, and what makes a value of it out of one with dataclasses."""
    return substituted(annotation, struct_of), converter(annotation)


def struct_of(cls: type) -> Any:
    """As an array of its fields: msgspec at its best."""
    return _struct_of(cls, True)


def map_struct_of(cls: type) -> Any:
    """To be read from maps."""
    return _struct_of(cls, False)


@cache
def _struct_of(cls: type, array_like: bool) -> Any:
    msgspec: Any = import_module("msgspec")
    name = f"{cls.__name__}{'Row' if array_like else 'Map'}"
    members = [
        (field.name, hint) if field.default is MISSING else (field.name, hint, field.default)
        for field, hint in substituted_fields(cls, struct_of if array_like else map_struct_of, name)
    ]
    return known(msgspec.defstruct(name, members, array_like=array_like, module=__name__))


def substituted_fields(cls: type, of: Callable[[type], Any], name: str) -> list[tuple[Field[Any], Any]]:
    """A dataclass's fields and their annotations for a class of this name, which `known` is to tell of."""

    def other(part: type) -> Any:
        return ForwardRef(name) if part is cls else of(part)

    hints = get_type_hints(cls)
    return [(field, substituted(hints[field.name], other)) for field in fields(cls)]


def known(made: Any) -> Any:
    """Where the annotations of a class that refers to itself are looked up: in its module, which is this one."""
    globals()[made.__name__] = made
    return made


def substituted(annotation: Any, of: Callable[[type], Any]) -> Any:
    """The annotation, with `of(cls)` for each dataclass in it."""
    if is_dataclass(annotation) and isinstance(annotation, type):
        return of(annotation)
    origin = get_origin(annotation)
    arguments = tuple(substituted(each, of) for each in get_args(annotation))
    if origin in (list, dict, tuple, set):
        return origin[arguments]
    return Union[arguments] if origin in (Union, UnionType) else annotation  # noqa: UP007 - they are a tuple


def converter(annotation: Any) -> Callable[[Any], Any]:
    if is_dataclass(annotation) and isinstance(annotation, type):
        return instance_converter(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (list, set):
        item = converter(arguments[0])
        return lambda value: origin(map(item, value))
    if origin is dict:
        key, member = map(converter, arguments)
        return lambda value: {key(k): member(v) for k, v in value.items()}
    return lambda value: value


@cache
def instance_converter(cls: type) -> Callable[[Any], Any]:
    hints = get_type_hints(cls)
    struct = struct_of(cls)
    members = [(field.name, converter(hints[field.name])) for field in fields(cls)]
    return lambda value: struct(*[convert(getattr(value, name)) for name, convert in members])
