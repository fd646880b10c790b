"""How one turn is timed: a call, or as many as make a turn long enough to be told from the clock's own cost.

Results are freed outside the timed window, and each turn begins with a full collection, so that nobody pays for the
garbage of the one before.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import repeat
from time import perf_counter_ns
from typing import Any

TINY_NS = 20_000  # below this the clock's own cost shows: time a batch of calls
BATCH_NS = 2_000_000
TURN_NS = 20_000_000  # one turn repeats its call for about this long
MOST_CALLS = 200

Function = Callable[[Any], Any]
Before = Callable[[], None]


def one_by_one(call: Function, argument: Any, calls: int, before: Before | None = None) -> float:
    """Nanoseconds per call. before: what makes ready for each, outside of its time."""
    total = 0
    for _ in repeat(None, calls):
        if before is not None:
            before()
        start = perf_counter_ns()
        result = call(argument)
        total += perf_counter_ns() - start
        del result
    return total / calls


def batch(call: Function, argument: Any, calls: int) -> float:
    """For calls too short to time alone. The (small) results are freed inside the window, for all alike."""
    turns = repeat(None, calls)
    start = perf_counter_ns()
    for _ in turns:
        call(argument)
    return (perf_counter_ns() - start) / calls


def turn(
    call: Function, argument: Any, estimate: float, collect: bool, before: Before | None = None
) -> float:
    """Nanoseconds per call of one contestant's turn, with Python's collector on or off."""
    gc.collect()
    if not collect:
        gc.disable()
    try:
        if estimate < TINY_NS and before is None:
            return batch(call, argument, max(1, int(BATCH_NS / max(estimate, 20.0))))
        return one_by_one(call, argument, max(1, min(MOST_CALLS, int(TURN_NS / estimate))), before)
    finally:
        gc.enable()


def warm(call: Function, argument: Any, before: Before | None = None) -> float:
    """A first guess at the time of one call, in ns."""
    first = one_by_one(call, argument, 1, before)
    return first if first > TURN_NS else one_by_one(call, argument, 3, before)
