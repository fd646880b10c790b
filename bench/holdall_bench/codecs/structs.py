"""msgspec's own classes in place of dataclasses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints


def structs_of(annotation: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The annotation with Structs for dataclasses, and what makes a value of it out of one with dataclasses."""
    return substituted(annotation), converter(annotation)


@cache
def struct_of(cls: type) -> Any:
    msgspec: Any = import_module("msgspec")
    hints = get_type_hints(cls)
    members: list[Any] = []
    for field in fields(cls):
        member = (field.name, substituted(hints[field.name]))
        members.append(member if field.default is MISSING else (*member, field.default))
    return msgspec.defstruct(cls.__name__, members, array_like=True)


def substituted(annotation: Any) -> Any:
    if is_dataclass(annotation) and isinstance(annotation, type):
        return struct_of(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (list, dict, tuple, set):
        return origin[tuple(map(substituted, arguments))]
    return annotation


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
