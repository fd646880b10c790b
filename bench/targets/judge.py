"""What the benchmark has to show: one row for each stated figure, and whether it is met."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

from holdall_bench.results import COPIES, SAME
from holdall_bench.suites.documents import DOCUMENTS

from .timing import ratio

FAST_FORMATS = ("marshal", "msgspec.msgpack", "ormsgpack", "orjson")
MSGPACK = "holdall.msgpack"
# `bson_peers.py` says who these are.
BSON, BSON_DROP_IN, BSON_OPEN = "holdall.bson", "holdall.bson drop-in", "holdall.bson open"
PYMONGO, PYMONGO_LAZY = "pymongo", "RawBSONDocument"
BSON_ENCODED = (
    "bson_twitter",
    "bson_citm",
    "bson_canada",
    "bson_github_events",
    "bson_messages",
    "bson_serbench",
)
BSON_DECODED = (*BSON_ENCODED, "bson_messages_all")
BSON_TYPED = ("bson_typed_twitter", "bson_typed_citm", "bson_typed_messages", "bson_typed_serbench")
# `julia_peers.py` says who these are.
JULIA, JULIA_OPEN, JULIA_MMAP = "holdall.julia", "holdall.julia open", "holdall.julia mmap"
READ = "read the file"
YARDSTICK = "yardstick"  # pickle.loads of 100,000 slotted dataclasses (float, str)
# What BSONqs and BSON.jl took for serbench's document, each at its fastest, and how many times as fast we are to be;
# measured with Julia 1.5.3 on a machine that took YARDSTICK_SECONDS for the yardstick, with the collector off.
JULIA_ELSEWHERE = (
    ("loads", "BSONqs.load", 0.65, 2),
    ("loads", "BSON.load", 23.3, 40),
    ("dumps", "BSONqs.bson", 22.5, 25),
)
YARDSTICK_SECONDS = 0.043
SERBENCH_BYTES = 145_900_245  # as BSONqs writes it
# `files_peers.py` says who these are.
HOLD, HOLD_MMAP, HOLD_OPEN, HOLD_DUMP = "holdall", "holdall mmap", "holdall open", "holdall dump"
RAW, PICKLE, JOBLIB, SAVEZ = "raw bytes", "pickle 5", "joblib", "numpy.savez"
SAFE_FILE, SAFE_OPEN = "safetensors", "safetensors safe_open"
ARRAY_FILES = (PICKLE, JOBLIB, SAVEZ, SAFE_FILE)
Results = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Line:
    """A judged target. met: None when it could not be measured here."""

    data: str
    what: str
    required: str
    measured: str
    met: bool | None


@dataclass(frozen=True)
class Rival:
    """`ours` is at least `factor` times as fast as `peers` (as the fastest of them)."""

    case: str
    op: str
    peers: tuple[str, ...]
    factor: float
    strict: bool = False
    ours: str = "holdall"

    def judge(self, results: Results) -> Line:
        subject = "" if self.ours == "holdall" else f"{self.ours} "
        what = f"{subject}{self.op} vs " + (
            self.peers[0] if len(self.peers) == 1 else "fastest of " + ", ".join(self.peers)
        )
        required = f"{'>' if self.strict else '≥'} {self.factor:g}x"
        found = [
            (value, peer)
            for peer in self.peers
            if (value := rival_ratio(results, self.case, self.op, peer, ours=self.ours)) is not None
        ]
        if not found:
            return Line(self.case, what, required, "not measured", None)
        value, peer = min(found)
        met = value > self.factor if self.strict else value >= self.factor
        return Line(
            self.case, what, required, f"{value:.2f}x" + (f" ({peer})" if len(self.peers) > 1 else ""), met
        )


@dataclass(frozen=True)
class Mean:
    """The geometric mean over several data sets of the speed of `ours` relative to `peer`."""

    op: str
    factor: float
    data: str = "JSON documents"
    cases: tuple[str, ...] = DOCUMENTS
    peer: str = "pickle 5"
    ours: str = "holdall"

    def judge(self, results: Results) -> Line:
        subject = "" if self.ours == "holdall" else f"{self.ours} "
        what, required = f"{subject}{self.op} vs {self.peer}, geometric mean", f"≥ {self.factor:g}x"
        mean = geometric_mean(results, self.cases, self.op, self.peer, self.ours)
        if mean is None:
            return Line(self.data, what, required, "not measured", None)
        return Line(self.data, what, required, f"{mean:.2f}x", mean >= self.factor)


@dataclass(frozen=True)
class Bound:
    """`holdall` takes at most `factor` times as long as the lower bound."""

    case: str
    op: str
    factor: float
    collector: str = "on"

    def judge(self, results: Results) -> Line:
        what, required = f"{self.op} vs lower bound, collector {self.collector}", f"≤ {self.factor:g}x"
        value = bound_ratio(results, self.case, self.op, self.collector)
        if value is None:
            return Line(self.case, what, required, "not measured", None)
        return Line(self.case, what, required, f"{value:.2f}x", value <= self.factor)


@dataclass(frozen=True)
class Size:
    """Bytes of `contestant`, as a share of pickle's or (in `bytes`) as such."""

    case: str
    limit: float
    unit: str = "of pickle 5"
    contestant: str = "holdall"

    def judge(self, results: Results) -> Line:
        what = "size" + (
            "" if self.contestant == "holdall" else f", {self.contestant.removeprefix('holdall ')}"
        )
        required = f"≤ {self.limit:,g} {self.unit}" if self.unit != "bytes" else f"≤ {self.limit:,.0f} bytes"
        sizes = results.get(self.case, {}).get("sizes", {})
        if self.contestant not in sizes or "pickle 5" not in sizes:
            return Line(self.case, what, required, "not measured", None)
        size = sizes[self.contestant]
        value = size if self.unit == "bytes" else size / sizes["pickle 5"]
        return Line(
            self.case,
            what,
            required,
            f"{size:,} bytes" if self.unit == "bytes" else f"{value:.3f}",
            value <= self.limit,
        )


@dataclass(frozen=True)
class Bytes:
    """What `contestant` writes is as long as it has to be."""

    case: str
    count: int
    contestant: str

    def judge(self, results: Results) -> Line:
        what, required = f"{self.contestant} size", f"= {self.count:,} bytes"
        size = results.get(self.case, {}).get("sizes", {}).get(self.contestant)
        if size is None:
            return Line(self.case, what, required, "not measured", None)
        return Line(self.case, what, required, f"{size:,} bytes", size == self.count)


@dataclass(frozen=True)
class Elsewhere:
    """`ours` is more than `factor` times as fast as `who`, who took `seconds` on another machine.

    The speed of this machine beside that one is the yardstick's, with the collector off as it was there.
    """

    case: str
    op: str
    who: str
    seconds: float
    factor: float
    collector: str
    ours: str = JULIA

    def judge(self, results: Results) -> Line:
        what = f"{self.ours} {self.op} vs {self.who}, collector {self.collector}"
        required = f"> {self.factor:g}x"
        found = elsewhere_ratio(results, self)
        if found is None:
            return Line(self.case, what, required, "not measured", None)
        value, took, scale = found
        measured = f"{value:.2f}x ({took:.3f} s; {self.seconds:g} s × {scale:.2f})"
        return Line(self.case, what, required, measured, value > self.factor)


@dataclass(frozen=True)
class Within:
    """`ours` takes at most `factor` times as long as `peer`."""

    case: str
    op: str
    ours: str
    factor: float
    peer: str

    def judge(self, results: Results) -> Line:
        what, required = f"{self.ours} {self.op} vs {self.peer}", f"≤ {self.factor:g}x"
        # The other way round: here ours is the slower one.
        value = rival_ratio(results, self.case, self.op, self.ours, ours=self.peer)
        if value is None:
            return Line(self.case, what, required, "not measured", None)
        return Line(self.case, what, required, f"{value:.2f}x", value <= self.factor)


@dataclass(frozen=True)
class Under:
    """`ours` takes less than so many milliseconds."""

    case: str
    op: str
    ours: str
    milliseconds: float

    def judge(self, results: Results) -> Line:
        what, required = f"{self.ours} {self.op}", f"< {self.milliseconds:g} ms"
        times = results.get(self.case, {}).get("times", {}).get("on", {}).get(self.op, {}).get(self.ours)
        if not times:
            return Line(self.case, what, required, "not measured", None)
        took = median(times) / 1e6
        return Line(self.case, what, required, f"{took:.2f} ms", took < self.milliseconds)


def elsewhere_ratio(results: Results, target: Elsewhere) -> tuple[float, float, float] | None:
    """How many times as fast as the other would be here; our seconds; this machine's time over that one's."""
    times = results.get(target.case, {}).get("times", {})
    yardstick = times.get("off", {}).get("loads", {}).get(YARDSTICK)
    took = times.get(target.collector, {}).get(target.op, {}).get(target.ours)
    if not yardstick or not took:
        return None
    scale = median(yardstick) / 1e9 / YARDSTICK_SECONDS
    seconds = median(took) / 1e9
    return target.seconds * scale / seconds, seconds, scale


def rival_ratio(
    results: Results, case: str, op: str, peer: str, collector: str = "on", ours: str = "holdall"
) -> float | None:
    """Time of `peer` over time of `ours`, if it gives back what was stored."""
    record = results.get(case)
    if record is None or collector not in record["times"] or peer not in record["verdicts"]:
        return None
    if record["verdicts"][peer]["kind"] not in ((SAME,) if record["graph"] else (SAME, COPIES)):
        return None
    return ratio(record["times"][collector][op], peer, ours)


def geometric_mean(results: Results, cases: tuple[str, ...], op: str, peer: str, ours: str) -> float | None:
    """That of `rival_ratio`, if each of `cases` has one."""
    found = [rival_ratio(results, case, op, peer, ours=ours) for case in cases]
    values = [value for value in found if value is not None]
    if len(values) < len(cases):
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def bound_ratio(results: Results, case: str, op: str, collector: str) -> float | None:
    """Time of `holdall` over that of the faster of the two lower bounds."""
    record = results.get(case)
    if record is None or collector not in record["times"]:
        return None
    times = record["times"][collector][op]
    bounds = [name for name in ("floor", "floor clone") if name in times]
    if not bounds or "holdall" not in times:
        return None
    return ratio(times, "holdall", min(bounds, key=lambda name: median(times[name])))


def pickle_rows(case: str, dumps: float, loads: float) -> list[Rival]:
    return [Rival(case, "dumps", ("pickle 5",), dumps), Rival(case, "loads", ("pickle 5",), loads)]


def typed_rows(case: str) -> list[Rival]:
    """Many small instances, against the same classes and against msgspec's own."""
    return [
        Rival(case, "loads", ("msgspec typed",), 3),
        Rival(case, "loads", ("msgspec Struct*",), 1.4),
        Rival(case, "loads", ("msgspec typed",), 1.8, ours=MSGPACK),
        Rival(case, "dumps", ("msgspec typed",), 5),
        Rival(case, "dumps", ("pickle 5",), 50),
    ]


def typed_loads(case: str, hold: float, msgpack: float) -> list[Rival]:
    return [
        Rival(case, "loads", ("msgspec typed",), hold),
        Rival(case, "loads", ("msgspec typed",), msgpack, ours=MSGPACK),
    ]


def bson_rows(op: str, mean: float, least: float, cases: tuple[str, ...], ours: str) -> list[Rival | Mean]:
    """PyMongo beaten on the whole, and nowhere by less than `least`."""
    return [
        Mean(op, mean, "BSON", cases, PYMONGO, ours),
        *[Rival(case, op, (PYMONGO,), least, ours=ours) for case in cases],
    ]


def file_rows(case: str, *ops: str) -> list[Rival]:
    """Nearly as fast as the disk, or the kernel where nobody waits for it; and to store, faster than anybody else."""
    return [
        *[Rival(case, op, (RAW,), 0.9) for op in ops],
        *[Rival(case, "dumps", (peer,), 1.0, strict=True) for peer in ARRAY_FILES],
    ]


ELSEWHERE = [
    Elsewhere("julia_serbench_full", op, who, seconds, factor, collector)
    for op, who, seconds, factor in JULIA_ELSEWHERE
    for collector in ("on", "off")
]
TARGETS: list[Rival | Mean | Bound | Size | Bytes | Elsewhere | Within | Under] = [
    Size("twitter", 0.87),
    Size("citm_catalog", 0.45),
    Size("canada", 0.88),
    Size("github_events", 0.95),
    Size("twitter", 0.45, contestant="holdall intern=True"),
    Size("small_ints", 1_010_000, "bytes"),
    Size("samples", 2_000_000, "bytes"),
    Size("one_int", 2, "bytes"),
    Size("one_string", 6, "bytes"),
    *[Rival(case, "dumps", FAST_FORMATS, 1.0) for case in DOCUMENTS],
    *[Rival(case, "loads", FAST_FORMATS, 1.0, strict=True) for case in DOCUMENTS],
    Mean("dumps", 3.5),
    Mean("loads", 2.0),
    *pickle_rows("messages", 8, 2.5),
    Rival("messages", "dumps", ("msgspec.msgpack",), 1.0, strict=True),
    Rival("messages", "loads", ("msgspec.msgpack",), 1.0, strict=True),
    *pickle_rows("samples", 50, 12),
    Rival("samples", "dumps", ("pyfory",), 2),
    Rival("samples", "loads", ("pyfory",), 3),
    Bound("samples", "loads", 1.5, "off"),
    *pickle_rows("serbench", 50, 10),
    *[row for case in ("clusters", "component") for row in pickle_rows(case, 9, 10)],
    *[Rival(case, "dumps", ("pyfory refs",), 1.8) for case in ("clusters", "component")],
    *[Rival(case, "loads", ("pyfory refs",), 5) for case in ("clusters", "component")],
    *[Bound(case, "dumps", 2) for case in ("small_ints", "large_ints", "floats")],
    *[Bound(case, "loads", 1.3) for case in ("small_ints", "large_ints", "floats")],
    *pickle_rows("arrays", 2, 1),
    *typed_rows("typed_serbench"),
    *typed_rows("typed_samples"),
    *typed_loads("typed_messages", 1.2, 1.0),
    Rival("typed_messages", "dumps", ("msgspec typed",), 1.3),
    *[row for case in ("typed_twitter", "typed_citm") for row in typed_loads(case, 1.5, 1.1)],
    *[
        Rival(case, op, ("msgspec.msgpack", "ormsgpack"), 1.0, ours=MSGPACK)
        for case in DOCUMENTS
        for op in ("dumps", "loads")
    ],
    *bson_rows("loads", 2.0, 1.5, BSON_DECODED, BSON_DROP_IN),
    *bson_rows("loads", 2.0, 1.5, BSON_ENCODED, BSON),
    *bson_rows("dumps", 2.8, 1.5, BSON_ENCODED, BSON_DROP_IN),
    *[Rival(case, "loads", ("msgspec.convert",), 3, ours=BSON) for case in BSON_TYPED],
    *[Rival(case, "loads", ("pydantic", "pydantic Model*"), 6, ours=BSON) for case in BSON_TYPED],
    Rival("bson_lazy", "loads", (BSON, PYMONGO), 100, ours=BSON_OPEN),
    Bytes("julia_serbench_full", SERBENCH_BYTES, JULIA),
    *ELSEWHERE,
    Within("julia_arrays", "loads", JULIA, 1.2, READ),
    Under("julia_arrays", "loads", JULIA_MMAP, 20),
    Rival("julia_lazy", "loads", (JULIA,), 100, ours=JULIA_OPEN),
    *file_rows("files_arrays", "dumps", "loads"),
    *file_rows("files_arrays_unsynced", "dumps"),
    *[Within("files_touch", "loads", HOLD_MMAP, 1.0, peer) for peer in (SAFE_OPEN, SAFE_FILE)],
    *[Under(case, "loads", HOLD_OPEN, 5) for case in ("files_member", "files_element")],
]


def judge(results: Results) -> list[Line]:
    """Every target that speaks of a data set in `results`."""
    real = {name: record for name, record in results.items() if not record["stand_in"]}
    lines = [target.judge(real) for target in TARGETS if isinstance(target, Mean) or target.case in results]
    return [line for line in lines if line.met is not None or line.data in results]
