"""Interleaved timing: every contestant runs once per round, in an order that rotates.

A figure is the median over the rounds; a ratio is the median of the ratios of each round, so that a machine that
slows down half-way slows both of its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter_ns
from typing import Any

from holdall_bench.isolate import Worker
from holdall_bench.timing import turn, warm

MAX_ROUNDS = 41


@dataclass(frozen=True)
class OwnClock:
    """A call to another program, which repeats its work for about a turn and tells the ns of one itself."""

    tell: Callable[[], float]

    def __call__(self, _: Any) -> float:
        return self.tell()


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
    if isinstance(job.call, OwnClock):
        return job.call(job.argument)
    if estimate is None:
        return warm(job.call, job.argument, job.before)
    return turn(job.call, job.argument, estimate, collect, job.before)


def ratio(times: dict[str, list[float]], slower: str, faster: str) -> float | None:
    """How many times longer `slower` takes than `faster`; None when one of them didn't run."""
    if slower not in times or faster not in times:
        return None
    return median(a / b for a, b in zip(times[slower], times[faster], strict=True))
