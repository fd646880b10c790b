"""Instances from dicts, in plain Python: what typed loading has to give, by other means than any contestant's."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

hints = cache(get_type_hints)


def build(annotation: Any, data: Any) -> Any:
    """`data` as the annotation says: dataclasses or Structs, lists and dicts of them, or None for an optional one."""
    origin = get_origin(annotation)
    if origin is None:
        fields = hints(annotation)
        if not fields:
            return data
        return annotation(**{name: build(kind, data[name]) for name, kind in fields.items() if name in data})
    arguments = get_args(annotation)
    if origin is list:
        return [build(arguments[0], item) for item in data]
    if origin is dict:
        return {key: build(arguments[1], value) for key, value in data.items()}
    if origin in (Union, UnionType):
        wanted = next(kind for kind in arguments if kind is not type(None))
        return None if data is None else build(wanted, data)
    raise TypeError(f"{annotation} has no place in a benchmark yet")
