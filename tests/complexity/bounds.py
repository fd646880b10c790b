"""What an input may cost, whatever is in it. `docs/guide-safety.md` promises it."""

from __future__ import annotations

from tests.support.hostile import MEMORY_FIXED, MEMORY_MULTIPLE, UNPACKED_FIXED

SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000, "10M": 10_000_000}

# Seconds of processor time for each byte, and beside it: to load the value, and to free it.
SECONDS_PER_BYTE = 5e-6
SECONDS_FIXED = 0.05

# How many times as long a byte may take in an input of ten times the size: caches miss more often in larger ones, and tables grow
# by doubling. Below so many seconds nothing is said about it: that is a cost of every call, or chance.
MOST_GROWTH = 3.0
GROWTH_SECONDS = 0.25

# The largest size runs only if the one before took less than that.
MOST_SECONDS_BEFORE_LARGEST = 2.0

# What a measurement from outside shows of a process that did next to nothing: pages of code that are touched first, and arenas
# of the allocators, which come by the MiB.
MEMORY_NOISE = 3 << 20


def seconds(size: int) -> float:
    return SECONDS_FIXED + SECONDS_PER_BYTE * size


def memory(size: int) -> int:
    return MEMORY_FIXED + MEMORY_MULTIPLE * size + MEMORY_NOISE


def unpacked(size: int) -> int:
    """What a compressed file may become."""
    return UNPACKED_FIXED + MEMORY_MULTIPLE * size
