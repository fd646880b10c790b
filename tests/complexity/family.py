"""Families of inputs, and the decorator that registers them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FORMATS = ("hold", "file", "log", "msgpack", "bson", "julia", "lisp")


@dataclass(frozen=True)
class Family:
    """name, make: what gives a message of about n bytes. format: decides through which doors it goes.

    honest: `dumps` writes such messages by default, so that they have to load.
    type: an annotation for the typed doors, or a function that gives it; without one those take a type that fits anything.
    types: what classes are permitted. doors: only these. most: no size above this one (what can't be made larger).
    unpacks: of a compressed input, the bytes that it becomes for n.
    raises: errors that are not the library's own and come from the caller's classes.
    """

    name: str
    format: str
    make: Callable[[int], bytes]
    honest: bool = False
    type: Any = None
    types: Any = ()
    doors: tuple[str, ...] = ()
    most: int | None = None
    unpacks: Callable[[int], int] | None = None
    raises: tuple[type[BaseException], ...] = ()


FAMILIES: dict[str, Family] = {}


def family(
    format: str, *, each: Mapping[str, Any] | Iterable[str] | None = None, **options: Any
) -> Callable[[Callable[..., bytes]], Callable[..., bytes]]:
    """Registers a function of n. each: one family for each item, which the function gets behind n.

    The name is the function's, in words; behind it, that of the item.
    """
    assert format in FORMATS, format

    def register(make: Callable[..., bytes]) -> Callable[..., bytes]:
        words = make.__name__.strip("_").replace("_", " ")
        if each is None:
            add(words, make)
        else:
            items = each if isinstance(each, Mapping) else {str(one): one for one in each}
            for item, value in items.items():
                add(f"{words}: {item}", lambda n, value=value: make(n, value))
        return make

    def add(words: str, make: Callable[[int], bytes]) -> None:
        name = f"{format}: {words}"
        assert name not in FAMILIES, f"two families are called {name}"
        FAMILIES[name] = Family(name, format, make, **options)

    return register


def all_families() -> dict[str, Family]:
    """Those of every module in `families/`."""
    from tests.complexity import families

    for module in pkgutil.iter_modules(families.__path__):
        importlib.import_module(f"{families.__name__}.{module.name}")
    return FAMILIES


def annotation(of: Family) -> Any:
    """The type of a family, which may be a function so that classes are made only where they are used."""
    return of.type() if inspect.isfunction(of.type) else of.type


def fill(n: int, make: Callable[[int], bytes], head: int = 0) -> list[bytes]:
    """Parts `make(0)`, `make(1)`, ... of n bytes together, less `head` bytes; at least one."""
    parts, left, number = [], n - head, 0
    while left > 0:
        part = make(number)
        parts.append(part)
        left -= max(len(part), 1)
        number += 1
    return parts


def copies(n: int, part: bytes, head: int = 0) -> list[bytes]:
    """`part` as often as there is room for in n bytes, less `head` bytes; at least once."""
    return [part] * max((n - head) // len(part), 1)
