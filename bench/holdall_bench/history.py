"""Runs that are kept in a log of holdall's, and the next compared with the last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import holdall

from .results import OPS, DataSet, Run, Timing

# Slower by less than this is no finding, however quiet the machine.
TOLERANCE = 0.10
# Of a codec's own spread, in this run and in the last, so many count as noise.
SPREADS = 3.0


@dataclass(frozen=True)
class Comparison:
    """One operation of one codec on one data set, now and in the last run that had it.

    speedup: how many times as fast as then. drift: how much faster the machine itself is (the median speedup of all the
    codecs that aren't holdall's), which `speedup` doesn't count in. noise: the share that may be chance.
    """

    data_set: str
    codec: str
    op: str
    before: float
    now: float
    drift: float
    noise: float

    @property
    def speedup(self) -> float:
        return self.before / self.now / self.drift

    @property
    def slower(self) -> bool:
        """Beyond the noise."""
        return self.speedup < 1 / (1 + self.noise)


def last_runs(path: Path) -> list[Run]:
    """All runs in a history, the oldest first; none if there is no file yet.

    Raises holdall.DecodeError for a file that isn't one.
    """
    if not path.exists():
        return []
    reader: Any = holdall.Reader
    with reader(path, type=Run) as log:
        return list(log)


def keep(path: Path, run: Run) -> None:
    writer: Any = holdall.Writer
    with writer(path, append=path.exists()) as log:
        log.write(run.as_dict())


def compare(run: Run, history: list[Run]) -> list[Comparison]:
    """With the last run of the same data on such a machine and Python; nothing if there is none."""
    same = [old for old in history if old.machine == run.machine]
    if not same:
        return []
    found: list[tuple[str, str, str, Timing, Timing]] = []
    for data in run.data_sets:
        for outcome in data.outcomes:
            for op in OPS:
                now = timing_of(run, data, outcome.codec, op)
                olds = (timing_of(old, data, outcome.codec, op) for old in reversed(same))
                before = next((timing for timing in olds if timing), None)
                if now and before:
                    found.append((data.name, outcome.codec, op, before, now))
    drift = drift_of(found)
    return [
        Comparison(name, codec, op, before.median, now.median, drift, noise_of(before, now))
        for name, codec, op, before, now in found
    ]


def timing_of(run: Run, wanted: DataSet, codec: str, op: str) -> Timing | None:
    """That of the same data: as much of it, too, since those of a --full run have the same names."""
    data = run.data_set(wanted.name)
    if data is None or (data.title, data.volume, data.items) != (wanted.title, wanted.volume, wanted.items):
        return None
    outcome = data.outcome(codec)
    operation = outcome.operation(op) if outcome else None
    return operation.usual if operation else None


def drift_of(found: list[tuple[str, str, str, Timing, Timing]]) -> float:
    others = [
        before.median / now.median
        for _, codec, _, before, now in found
        if not codec.startswith(("holdall", "lower bound"))
    ]
    # Of one or two, a change of their own is as likely as one of the machine.
    return median(others) if len(others) >= 4 else 1.0


def noise_of(before: Timing, now: Timing) -> float:
    return max(TOLERANCE, SPREADS * math.hypot(before.spread, now.spread))


def lines(comparisons: list[Comparison]) -> Iterator[tuple[str, str]]:
    """What is to be told of them, with the name of a style: the speedups of ours, and of others where they differ."""
    if not comparisons:
        yield "No earlier run of these data on this machine and Python to compare with.", "note"
        return
    drift = comparisons[0].drift
    told = "" if abs(drift - 1) < 0.02 else f" (the machine itself: {drift:.2f}x, which is not counted)"
    yield f"Speedup against the last run{told}:", ""
    for each in comparisons:
        ours = each.codec.startswith("holdall")
        changed = each.slower or each.speedup > 1 + each.noise
        if ours or changed:
            mark = "slower" if each.slower else "faster" if changed else "same, within the noise"
            style = "removed" if each.slower and ours else "text" if changed and ours else "note"
            yield (
                f"  {each.data_set:20} {each.codec:24} {each.op:6} {each.speedup:6.2f}x  "
                f"{mark} (noise {each.noise:.0%})",
                style,
            )
