"""What a run of `holdall bench` gives. These classes are stored in histories and written as JSON as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from statistics import median, quantiles
from typing import Any

OPS = ("dumps", "loads")
COLLECTORS = ("on", "off")

SAME = "same"
COPIES = "copies"
CHANGED = "changed"
FAILED = "failed"
VERDICTS = (SAME, COPIES, CHANGED, FAILED)


@dataclass
class Change:
    """One kind of thing that a round trip changed.

    what: like "tuple → list"; count: how often; where: the path of the first, like "$[0].tags".
    minor: it changes no verdict, as what was one text and is two equal ones.
    """

    what: str
    count: int
    where: str = "$"
    minor: bool = field(default=False, repr=False)


@dataclass
class Fidelity:
    """What a round trip gives back.

    verdict: SAME, all values and types, and who is shared with whom; COPIES, all values and types, but what was one
    object is several; CHANGED, other values or types; FAILED, nothing: `reason` says why.
    changes: the kinds of differences, those that matter first, then the most frequent. A SAME may have some: those nobody can see by comparing,
    as texts that were one object.
    """

    verdict: str
    changes: list[Change] = field(default_factory=list)
    reason: str = ""

    @property
    def tells(self) -> str:
        """In a few words; the minor ones are left out."""
        if self.verdict == FAILED:
            return self.reason
        if self.verdict == SAME:
            return "everything kept"
        return ", ".join(change.what for change in self.changes if not change.minor)


@dataclass
class Timing:
    """Times of one operation in nanoseconds, for all of the data set's items; one for each round.

    collected: of a round, how long Python's garbage collector ran, on average. None: not asked for.
    """

    rounds: list[float]
    collected: float | None = None

    @property
    def median(self) -> float:
        return median(self.rounds)

    @property
    def low(self) -> float:
        """The lower quartile."""
        return _quartiles(self.rounds)[0]

    @property
    def high(self) -> float:
        """The upper quartile."""
        return _quartiles(self.rounds)[2]

    @property
    def spread(self) -> float:
        """Half of what lies between the quartiles, as a share of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def _quartiles(values: list[float]) -> list[float]:
    return quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


@dataclass
class Operation:
    """`dumps` or `loads` of one codec.

    first: nanoseconds of the very first call in a process, which also compiles, imports and fills caches.
    on, off: later calls with the garbage collector on, as programs run, and off. None: not measured.
    peak: bytes of memory that one call takes at most, beyond what is there before; None where the system can't tell.
    allocated: bytes that Python's allocators hold for one call at most; None where not asked for.
    """

    first: float
    on: Timing | None = None
    off: Timing | None = None
    peak: int | None = None
    allocated: int | None = None

    def timing(self, collector: str) -> Timing | None:
        return self.on if collector == "on" else self.off

    @property
    def usual(self) -> Timing | None:
        """With the collector on, if that was measured."""
        return self.on or self.off


@dataclass
class Outcome:
    """One codec on one data set.

    size: bytes written, for all items. measured: how many of the items the times were taken with, where the codec is
    too slow for all; times and sizes are scaled to all of them. bound: no codec, but the lower bound. note: what else one
    has to know.
    """

    codec: str
    fidelity: Fidelity
    size: int | None = None
    dumps: Operation | None = None
    loads: Operation | None = None
    measured: int | None = None
    bound: bool = False
    note: str = ""

    def operation(self, op: str) -> Operation | None:
        return self.dumps if op == "dumps" else self.loads

    def time(self, op: str, collector: str | None = None) -> float | None:
        """Median nanoseconds; by default with the collector on, if that was measured."""
        operation = self.operation(op)
        if operation is None:
            return None
        timing = operation.usual if collector is None else operation.timing(collector)
        return timing.median if timing else None


@dataclass
class DataSet:
    """One data set and all codecs that tried it, in the order of the table of codecs.

    items: so many values are stored one by one; None: the value is stored whole.
    identity: it matters what is shared with what, so that COPIES is a loss.
    volume: bytes of the data, counted alike for all codecs (see `docs/benchmarks.md`).
    curve: data sets of one name are points of one curve, over `piece`.
    """

    name: str
    suite: str
    title: str
    outcomes: list[Outcome]
    volume: int
    items: int | None = None
    identity: bool = False
    note: str = ""
    curve: str = ""

    @property
    def piece(self) -> int:
        """Bytes of what is stored at a time."""
        return self.volume // (self.items or 1)

    def outcome(self, codec: str) -> Outcome | None:
        return next((each for each in self.outcomes if each.codec == codec), None)

    def keeps(self, outcome: Outcome) -> bool:
        """Does it give back what was stored, as far as that can be told in a program?"""
        return outcome.fidelity.verdict == SAME or (outcome.fidelity.verdict == COPIES and not self.identity)

    @property
    def rivals(self) -> list[Outcome]:
        """Who did the job; the lower bound is none."""
        return [each for each in self.outcomes if self.keeps(each) and not each.bound]

    def best(self, op: str, collector: str | None = None) -> Outcome | None:
        """The fastest of those that give back what was stored."""
        timed = [(time, each) for each in self.rivals if (time := each.time(op, collector)) is not None]
        return min(timed, key=lambda pair: pair[0])[1] if timed else None

    @property
    def smallest(self) -> Outcome | None:
        sized = [(each.size, each) for each in self.rivals if each.size is not None]
        return min(sized, key=lambda pair: pair[0])[1] if sized else None

    def bound(self, op: str, collector: str | None = None) -> float | None:
        """The lower bound of `op` in nanoseconds: the fastest of them where there are several."""
        times = [each.time(op, collector) for each in self.outcomes if each.bound]
        return min((time for time in times if time is not None), default=None)


@dataclass
class Machine:
    """Where it was measured. memory: bytes."""

    processor: str
    cores: int
    memory: int | None
    system: str
    python: str


@dataclass
class Absent:
    """A codec that took no part, and why."""

    codec: str
    reason: str


@dataclass
class Run:
    """Everything. when: ISO 8601, UTC. versions: of the packages of all codecs that took part."""

    when: str
    command: str
    machine: Machine
    versions: dict[str, str]
    data_sets: list[DataSet]
    absent: list[Absent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    schema: int = 1

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def data_set(self, name: str) -> DataSet | None:
        return next((each for each in self.data_sets if each.name == name), None)

    @property
    def codecs(self) -> list[str]:
        """All that measured something, in the order of the table of codecs."""
        return list(dict.fromkeys(each.codec for data in self.data_sets for each in data.outcomes))

    @property
    def curves(self) -> dict[str, list[DataSet]]:
        found: dict[str, list[DataSet]] = {}
        for data in self.data_sets:
            if data.curve:
                found.setdefault(data.curve, []).append(data)
        return {name: sorted(points, key=lambda data: data.piece) for name, points in found.items()}

    def suites(self) -> Iterator[tuple[str, list[DataSet]]]:
        for suite in dict.fromkeys(data.suite for data in self.data_sets):
            yield suite, [data for data in self.data_sets if data.suite == suite]


def ratio(slower: Timing, faster: Timing) -> float:
    """How many times longer `slower` takes: the median of the rounds' ratios, which a machine that slows down for
    a while leaves alone. Rounds that are not pairs are compared by their medians."""
    if len(slower.rounds) != len(faster.rounds):
        return slower.median / faster.median
    return median(a / b for a, b in zip(slower.rounds, faster.rounds, strict=True))
