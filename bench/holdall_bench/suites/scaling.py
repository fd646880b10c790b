"""The same records, more and more of them in one value: does the time for a byte stay the same?"""

from __future__ import annotations

import pickle
from functools import cache, partial
from typing import Any

from ..data import Data, volume
from . import adder
from .bakeoff import messages

# Of one message, on average, in the bytes that holdall writes.
BYTES_EACH = 1_240
BATCH = 800
SIZES = (1_000, 10_000, 100_000, 1_000_000, 8_000_000, 64_000_000)
FULL_SIZES = (*SIZES, 250_000_000, 1_000_000_000)
# In pieces, all points but the largest have so many bytes.
PIECES, FULL_PIECES = 16_000_000, 64_000_000


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


def pieces(count: int, whole: int) -> list[list[dict[str, Any]]]:
    """Lists of `count` messages, about `whole` messages in all, or one list."""
    lists = max(1, round(whole / count))
    made = records(lists * count)
    return [made[start : start + count] for start in range(0, len(made), count)]


@cache
def volume_each() -> float:
    return volume(messages(BATCH)) / BATCH


def data_sets(full: bool) -> list[Data]:
    add = adder("scaling")
    whole = (FULL_PIECES if full else PIECES) // BYTES_EACH
    made = []
    for size in FULL_SIZES if full else SIZES:
        count = max(1, round(size / BYTES_EACH))
        name, bytes_each = label(size), round(count * volume_each())
        made.append(
            add(
                name=f"records_{name}",
                title=f"{count:,} messages in one list, about {name}",
                make=partial(records, count),
                curve="one list of messages, again and again",
                volume=bytes_each,
            )
        )
        lists = max(1, round(whole / count))
        made.append(
            add(
                name=f"pieces_{name}",
                title=f"{lists:,} lists of {count:,} messages, about {name} each, all results kept",
                make=partial(pieces, count, whole),
                curve="the same messages in lists of this size, all results kept",
                volume=lists * bytes_each,
                each=True,
                keep=True,
            )
        )
    return sorted(made, key=lambda data: data.curve)


def label(size: int) -> str:
    for unit, bytes_each in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_each:
            return f"{size // bytes_each}{unit}"
    return f"{size}B"
