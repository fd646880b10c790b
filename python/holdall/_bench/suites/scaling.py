"""The same records, more and more of them: does the time for a byte stay the same?"""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

from ..data import Data
from . import adder
from .bakeoff import messages

# Of one message, on average, in the bytes that holdall writes.
BYTES_EACH = 1_240
BATCH = 800
SIZES = (1_000, 10_000, 100_000, 1_000_000, 8_000_000, 64_000_000)
FULL_SIZES = (*SIZES, 250_000_000, 1_000_000_000)


def records(count: int) -> list[dict[str, Any]]:
    """Messages, no two of which have an object in common that isn't in both of any two messages."""
    made = messages(min(count, BATCH))
    if count <= BATCH:
        return made
    # Equal messages are different objects all the same; to write new ones would take minutes.
    stored = pickle.dumps(made, 5)
    while len(made) < count:
        made += pickle.loads(stored)
    return made[:count]


def data_sets(full: bool) -> list[Data]:
    add = adder("scaling")
    return [
        add(
            name=f"records_{label(size)}",
            title=f"{count:,} messages in one list, about {label(size)}",
            make=partial(records, count),
            curve="messages in one list",
        )
        for size in (FULL_SIZES if full else SIZES)
        for count in [max(1, round(size / BYTES_EACH))]
    ]


def label(size: int) -> str:
    for unit, bytes_each in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_each:
            return f"{size // bytes_each}{unit}"
    return f"{size}B"
