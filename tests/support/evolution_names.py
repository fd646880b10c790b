"""Stored names of classes, which one version of a program hands on to the next."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import holdall
from holdall import _core

_forgotten = itertools.count()


class Before(NamedTuple):
    """What a program was like when it stored the data."""

    classes: tuple[Any, ...]
    # An instance, or what else was stored.
    value: Any


def at(whole: str, cls: Any) -> Any:
    """The class, as one that stands in a module (or in a class of it)."""
    cls.__module__, _, cls.__name__ = whole.rpartition(".")
    cls.__qualname__ = cls.__name__
    return cls


def registered(package: str) -> list[tuple[str, Any]]:
    """The classes that are registered under a name of a package, or have an alias there; by name."""
    found = []
    for cls in _core.registered_subclasses(object):
        told = _core.class_registration(cls)
        if told is not None and any(name.startswith(f"{package}.") for name in (told[0], *told[1])):
            found.append((told[0], cls))
    return found


def release(package: str) -> None:
    """Lets another program have the names: a class can't be taken from the registry, but can have another name."""
    for _, cls in registered(package):
        holdall.register(cls, name=f"forgotten.{next(_forgotten)}")


def recorded(name: str, before: Before) -> Any:
    """What a program stored, as records."""
    data = holdall.dumps(before.value)
    release(name.rpartition(".")[0])
    return holdall.loads(data, types=holdall.Record)
