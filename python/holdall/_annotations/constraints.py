"""Constraints in `Annotated`: read by attribute, so that none of the libraries that define them is imported."""

from __future__ import annotations

import numbers
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMERIC = frozenset({"gt", "ge", "lt", "le", "multiple_of"})
SIZED = frozenset({"min_length", "max_length"})
TEXT = SIZED | {"pattern"}
ZONED = frozenset({"tz"})
SHAPED = frozenset({"shape"})

_LIBRARIES = frozenset({"annotated_types", "msgspec", "pydantic"})
_LOWER = frozenset({"gt", "ge", "min_length"})
_UPPER = frozenset({"lt", "le", "max_length"})


class Constraints:
    """The constraints of an `Annotated`. Each type within takes those that apply to it."""

    __slots__ = ("used", "values")

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.used: set[str] = set()

    def pick(self, fitting: frozenset[str]) -> dict[str, Any] | None:
        self.used.update(fitting & self.values.keys())
        return {name: value for name, value in self.values.items() if name in fitting} or None

    def key(self) -> Any:
        return frozenset(self.values.items())


def read(extras: Iterable[Any]) -> dict[str, Any]:
    """The constraints in the metadata of an `Annotated`. Raises ValueError: one that makes no sense."""
    found: dict[str, Any] = {}
    for extra in extras:
        _read(extra, found)
    return found


def merge(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    """Combine two sets of constraints. Raises ValueError if one value can't express both."""
    found = dict(inner)
    for name, value in outer.items():
        _add(name, value, found)
    return found


def _read(extra: Any, found: dict[str, Any]) -> None:
    if isinstance(extra, re.Pattern):
        _add("pattern", extra, found)
    elif type(extra) is tuple:
        if all(size is None or size is ... or type(size) is int for size in extra):
            _add("shape", tuple(size if type(size) is int else None for size in extra), found)
    elif any(base.__module__.partition(".")[0] in _LIBRARIES for base in type(extra).__mro__):
        _read_library(extra, found)


def _read_library(extra: Any, found: dict[str, Any]) -> None:
    if getattr(extra, "__is_annotated_types_grouped_metadata__", False):
        for part in extra:
            _read(part, found)
        return
    # The arguments of pydantic's Field().
    for part in getattr(extra, "metadata", None) or ():
        _read(part, found)
    for name in sorted(NUMERIC | TEXT):
        value = getattr(extra, name, None)
        if value is not None:
            _add(name, _checked(name, value), found)
    zone = getattr(extra, "tz", None)
    if isinstance(zone, bool):
        _add("tz", zone, found)
    elif type(extra).__name__ == "Timezone" and (zone is None or zone is ...):
        # annotated_types.Timezone: None means naive, `...` any zone. A particular zone can't be checked here.
        _add("tz", zone is ..., found)


def _checked(name: str, value: Any) -> Any:
    if name == "pattern":
        try:
            return re.compile(value)
        except (re.error, TypeError):
            raise ValueError("`pattern` is no regular expression") from None
    if name in SIZED:
        if type(value) is not int or value < 0:
            raise ValueError(f"`{name}` must be an int of 0 or more")
    elif not isinstance(value, numbers.Number) or isinstance(value, complex):
        raise ValueError(f"`{name}` must be a number")
    elif name == "multiple_of" and not value > 0:  # type: ignore[operator]
        raise ValueError("`multiple_of` must be above 0")
    return value


def _add(name: str, value: Any, found: dict[str, Any]) -> None:
    if name == "min_length" and value == 0:
        return
    old = found.get(name)
    if old is None:
        found[name] = value
    elif name in _LOWER:
        found[name] = max(old, value)
    elif name in _UPPER:
        found[name] = min(old, value)
    elif old != value:
        raise ValueError(f"`{name}` is given twice")
