"""Interleaved timing: every contestant runs once per round, in an order that rotates.

A figure is the median over the rounds; a ratio is the median of the ratios of each round, so that a machine that
slows down half-way slows both of its terms. Results are freed outside the timed window, and each turn begins with a
full collection, so that nobody pays for the garbage of the one before.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import Any

from bench.isolate import Worker

TINY_NS = 20_000  # below this the clock's own cost shows: time a batch of calls
BATCH_NS = 2_000_000
TURN_NS = 20_000_000  # one turn repeats its call for about this long
MAX_ROUNDS = 41


@dataclass(frozen=True)
class Job:
    """before: what makes ready for each call, outside of its time."""

    name: str
    call: Callable[[Any], Any]
    argument: Any
    before: Callable[[], None] | None = None


@dataclass(frozen=True)
class Budget:
    """How long one comparison may take."""

    seconds: float
    min_rounds: int


def one_by_one(job: Job, calls: int) -> float:
    call, argument = job.call, job.argument
    total = 0
    for _ in repeat(None, calls):
        if job.before is not None:
            job.before()
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
        if estimate < TINY_NS and job.before is None:
            return batch(job.call, job.argument, max(1, int(BATCH_NS / max(estimate, 20.0))))
        return one_by_one(job, max(1, min(200, int(TURN_NS / estimate))))
    finally:
        gc.enable()


def interleave(jobs: list[Job], budget: Budget, collect: bool, apart: bool = False) -> dict[str, list[float]]:
    """Times in ns per call, by contestant, one for each round; the warming calls before aren't kept.

    apart: each contestant has a process of its own for all its turns, a child of this one.
    """
    if not jobs:
        return {}
    with ExitStack() as workers:
        turns: dict[str, Callable[..., float]] = {}
        for job in jobs:
            work = partial(warm_or_turn, job, collect)
            turns[job.name] = workers.enter_context(Worker(work)) if apart else work
        estimates = {name: take() for name, take in turns.items()}
        times: dict[str, list[float]] = {job.name: [] for job in jobs}
        deadline = perf_counter_ns() + int(budget.seconds * 1e9)
        done = 0
        while done < budget.min_rounds or (done < MAX_ROUNDS and perf_counter_ns() < deadline):
            shift = done % len(jobs)
            for job in jobs[shift:] + jobs[:shift]:
                times[job.name].append(turns[job.name](estimates[job.name]))
            done += 1
    return times


def warm_or_turn(job: Job, collect: bool, estimate: float | None = None) -> float:
    return warm(job) if estimate is None else turn(job, estimate, collect)


def warm(job: Job) -> float:
    """A first guess at the time of one call, in ns."""
    first = one_by_one(job, 1)
    return first if first > TURN_NS else one_by_one(job, 3)


def ratio(times: dict[str, list[float]], slower: str, faster: str) -> float | None:
    """How many times longer `slower` takes than `faster`; None when one of them didn't run."""
    if slower not in times or faster not in times:
        return None
    return median(a / b for a, b in zip(times[slower], times[faster], strict=True))
