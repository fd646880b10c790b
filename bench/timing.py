"""Interleaved timing: every contestant runs once per round, in an order that rotates.

A figure is the median over the rounds; a ratio is the median of the ratios of each round, so that a machine that
slows down half-way slows both of its terms. Results are freed outside the timed window, and each turn begins with a
full collection, so that nobody pays for the garbage of the one before.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import Any

TINY_NS = 20_000  # below this the clock's own cost shows: time a batch of calls
BATCH_NS = 2_000_000
TURN_NS = 20_000_000  # one turn repeats its call for about this long
MAX_ROUNDS = 41


@dataclass(frozen=True)
class Job:
    name: str
    call: Callable[[Any], Any]
    argument: Any


@dataclass(frozen=True)
class Budget:
    """How long one comparison may take."""

    seconds: float
    min_rounds: int


def one_by_one(call: Callable[[Any], Any], argument: Any, calls: int) -> float:
    total = 0
    for _ in repeat(None, calls):
        start = perf_counter_ns()
        result = call(argument)
        total += perf_counter_ns() - start
        del result
    return total / calls


def batch(call: Callable[[Any], Any], argument: Any, calls: int) -> float:
    """For calls too short to time alone. The (small) results are freed inside the window, for all alike."""
    turns = repeat(None, calls)
    start = perf_counter_ns()
    for _ in turns:
        call(argument)
    return (perf_counter_ns() - start) / calls


def turn(job: Job, estimate: float, collect: bool) -> float:
    """Nanoseconds per call of one contestant's turn."""
    gc.collect()
    if not collect:
        gc.disable()
    try:
        if estimate < TINY_NS:
            return batch(job.call, job.argument, max(1, int(BATCH_NS / max(estimate, 20.0))))
        return one_by_one(job.call, job.argument, max(1, min(200, int(TURN_NS / estimate))))
    finally:
        gc.enable()


def interleave(jobs: list[Job], budget: Budget, collect: bool) -> dict[str, list[float]]:
    """Times in ns per call, by contestant, one for each round; the warming calls before aren't kept."""
    if not jobs:
        return {}
    estimates = {job.name: warm(job) for job in jobs}
    times: dict[str, list[float]] = {job.name: [] for job in jobs}
    deadline = perf_counter_ns() + int(budget.seconds * 1e9)
    done = 0
    while done < budget.min_rounds or (done < MAX_ROUNDS and perf_counter_ns() < deadline):
        shift = done % len(jobs)
        for job in jobs[shift:] + jobs[:shift]:
            times[job.name].append(turn(job, estimates[job.name], collect))
        done += 1
    return times


def warm(job: Job) -> float:
    """A first guess at the time of one call, in ns."""
    first = one_by_one(job.call, job.argument, 1)
    return first if first > TURN_NS else one_by_one(job.call, job.argument, 3)


def ratio(times: dict[str, list[float]], slower: str, faster: str) -> float | None:
    """How many times longer `slower` takes than `faster`; None when one of them didn't run."""
    if slower not in times or faster not in times:
        return None
    return median(a / b for a, b in zip(times[slower], times[faster], strict=True))
