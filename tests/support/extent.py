"""Walks over every byte of whole files, which `make fuzz` (`pytest --full -m damage`) does in full and `make test` by a sample."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

# Set from the command line: see `tests/conftest.py`.
full = False

T = TypeVar("T")


def sample(places: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of them, in order: the first, the last, and others that are the same each time. With `--full` all."""
    if full or len(places) <= most:
        return places
    chosen = random.Random(len(places)).sample(range(1, len(places) - 1), most - 2)
    return [places[at] for at in (0, *sorted(chosen), len(places) - 1)]
