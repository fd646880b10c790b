"""Memory and reference counts that stay level, and messages that are cut off and changed."""

from __future__ import annotations

import gc
import os
import pathlib
import random
import sys
from collections.abc import Callable


def stays_level(work: Callable[[], None], rounds: int) -> None:
    """Run `work` that many times: nothing may remain.

    Free lists and caches of the interpreter fill up in the first hundreds of rounds, at most once, and other tests'
    garbage may go meanwhile; a leak shows every time, as many blocks as there were rounds or more.
    """
    for _ in range(8):
        gc.collect()
        blocks, objects = sys.getallocatedblocks(), len(gc.get_objects())
        for _ in range(rounds):
            work()
        gc.collect()
        grown = max(sys.getallocatedblocks() - blocks, len(gc.get_objects()) - objects)
        if grown < rounds // 2:
            return
    raise AssertionError(f"{grown} blocks more after {rounds} rounds")


def resident_stays_level(work: Callable[[], object], most: int) -> None:
    """Run `work` until a round leaves less than `most` bytes more of this process resident (needs /proc).

    How the allocator lays out what one round frees depends on what ran before in this process; a leak shows every time.
    """

    def resident() -> int:
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(8):
        before = resident()
        work()
        grown = resident() - before
        if grown < most:
            return
    raise AssertionError(f"{grown} bytes more after a round")


def damaged(data: bytes, seed: str) -> list[bytes]:
    """`data` cut off at up to 60 places, and with one byte changed, 60 times."""
    rng = random.Random(seed)
    hostile = [data[:end] for end in range(1, len(data), max(1, len(data) // 60))]
    for _ in range(60):
        changed = bytearray(data)
        changed[rng.randrange(1, len(data))] = rng.randrange(256)
        hostile.append(bytes(changed))
    return hostile


def uses(path: pathlib.Path) -> tuple[int, int]:
    """How many descriptors and how many maps this process has of that file, whatever else it has open (needs /proc)."""
    descriptors = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            descriptors += os.readlink(f"/proc/self/fd/{number}").startswith(str(path))
        except FileNotFoundError:  # closed meanwhile
            continue
    return descriptors, pathlib.Path("/proc/self/maps").read_text().count(str(path))
