"""What `holdall.julia.struct` was told, put back after a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdall.julia import _known, _names, _registry, struct
from tests.support.julia_types import CLASSES, MUTABLE


@contextmanager
def fresh() -> Iterator[None]:
    """A registry of one's own."""
    by_class = {cls: list(mapped) for cls, mapped in _registry._BY_CLASS.items()}
    kept = [(_registry._BY_TYPE, dict(_registry._BY_TYPE)), (_registry._BY_CLASS, by_class)]
    kept.append((_known.DECLARED, dict(_known.DECLARED)))
    mutable = set(_names.MUTABLE)
    try:
        yield
    finally:
        for table, before in kept:
            table.clear()
            table.update(before)
        _names.MUTABLE.clear()
        _names.MUTABLE.update(mutable)


def map_all() -> None:
    """The classes of `julia_types`."""
    for name, cls in CLASSES.items():
        struct(name, cls, mutable=name in MUTABLE)


def declare_mutable() -> None:
    """What records of theirs need to be told apart from each other."""
    for name in MUTABLE:
        _names.declare_mutable(name)
