"""What the benchmark has to show: one row for each stated figure, and whether it is met."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from holdall_bench.results import COPIES, SAME
from holdall_bench.suites.documents import DOCUMENTS

from .timing import ratio

FAST_FORMATS = ("marshal", "msgspec.msgpack", "ormsgpack", "orjson")
MSGPACK = "holdall.msgpack"
# `bson_peers.py` says who these are.
BSON, BSON_DROP_IN, BSON_OPEN = "holdall.bson", "holdall.bson drop-in", "holdall.bson open"
PYMONGO, PYMONGO_LAZY = "pymongo", "RawBSONDocument"
BSON_ENCODED = tuple(
    f"bson_{name}" for name in ("twitter", "citm", "canada", "github_events", "messages", "serbench")
)
BSON_DECODED = (*BSON_ENCODED, "bson_messages_all")
BSON_TYPED = tuple(f"bson_typed_{name}" for name in ("twitter", "citm", "messages", "serbench"))
# `julia_peers.py` says who these are.
JULIA, JULIA_OPEN, JULIA_MMAP = "holdall.julia", "holdall.julia open", "holdall.julia mmap"
READ = "read the file"
# `lisp_peers.py` says who these are.
LISP, LISP_MMAP, SBCL, PLAIN = "holdall.lisp", "holdall.lisp mmap", "SBCL", " refs=False"
SBCL_ARRAYS = ("list_of_double_float_matrices", "a_bunch_of_specialized_arrays")
SBCL_BEATEN = (
    "lots_of_keywords",
    "lots_of_structure_objects",
    "a_lot_of_people_and_addresses",
    "a_pile_of_tangled_conses",
)
SBCL_SETS = (
    "long_list_of_tiny_integers",
    "long_list_of_not_tiny_integers",
    "long_list_of_random_fixnums",
    "long_list_of_random_double_floats",
    "lots_of_the_same_string",
    "simple_strings",
    "long_complex_list",
    *SBCL_BEATEN,
    *SBCL_ARRAYS,
)
YARDSTICK = "yardstick"  # pickle.loads of 100,000 slotted dataclasses (float, str)
YARDSTICK_SECONDS = 0.043
SERBENCH_BYTES = 145_900_245  # as BSONqs writes it
# `files_peers.py` says who these are.
HOLD, HOLD_MMAP, HOLD_OPEN, HOLD_DUMP = "holdall", "holdall mmap", "holdall open", "holdall dump"
RAW, PICKLE, JOBLIB, SAVEZ = "raw bytes", "pickle 5", "joblib", "numpy.savez"
SAFE_FILE, SAFE_OPEN = "safetensors", "safetensors safe_open"
ARRAY_FILES = (PICKLE, JOBLIB, SAVEZ, SAFE_FILE)
Results = dict[str, dict[str, Any]]
# A figure, and how it is written; None where it could not be measured here.
Found = tuple[float, str] | None
RELATIONS = {"≥": operator.ge, ">": operator.gt, "≤": operator.le, "<": operator.lt, "=": operator.eq}


class Line(NamedTuple):
    """A judged target. met: None when it could not be measured here."""

    data: str
    what: str
    required: str
    measured: str
    met: bool | None


@dataclass(frozen=True)
class Target:
    """The figure that `find` gets out of the results stands in `relation` to `limit`."""

    data: str
    what: str
    relation: str
    limit: float
    find: Callable[[Results], Found]
    unit: str = "x"

    def judge(self, results: Results) -> Line:
        limit = f"{self.limit:,}" if isinstance(self.limit, int) else f"{self.limit:g}"
        required = f"{self.relation} {limit}{self.unit}"
        found = self.find(results)
        if found is None:
            return Line(self.data, self.what, required, "not measured", None)
        figure, text = found
        return Line(self.data, self.what, required, text, RELATIONS[self.relation](figure, self.limit))


def times(value: float | None) -> Found:
    return None if value is None else (value, f"{value:.2f}x")


def by(ours: str, text: str) -> str:
    """Whose figure it is, unless it is that of `holdall`."""
    return text if ours == "holdall" else f"{ours} {text}"


# --- kinds of targets ---
def rival(
    case: str, op: str, peers: tuple[str, ...], factor: float, relation: str = "≥", ours: str = "holdall"
) -> Target:
    """`ours` is at least `factor` times as fast as the peer, or as the fastest of them."""
    whom = peers[0] if len(peers) == 1 else "fastest of " + ", ".join(peers)

    def find(results: Results) -> Found:
        ratios = [(rival_ratio(results, case, op, peer, ours=ours), peer) for peer in peers]
        found = [(value, peer) for value, peer in ratios if value is not None]
        if not found:
            return None
        value, peer = min(found)
        return value, f"{value:.2f}x" + (f" ({peer})" if len(peers) > 1 else "")

    return Target(case, by(ours, f"{op} vs {whom}"), relation, factor, find)


def mean(data: str, cases: tuple[str, ...], op: str, factor: float, peer: str, ours: str) -> Target:
    """The same for the geometric mean over several data sets."""

    def find(results: Results) -> Found:
        found = [rival_ratio(results, case, op, peer, ours=ours) for case in cases]
        logs = [math.log(value) for value in found if value is not None]
        return times(math.exp(sum(logs) / len(logs))) if len(logs) == len(cases) else None

    return Target(data, by(ours, f"{op} vs {peer}, geometric mean"), "≥", factor, find)


def bound(case: str, op: str, factor: float, collector: str = "on") -> Target:
    """`holdall` takes at most `factor` times as long as the faster of the two lower bounds."""

    def find(results: Results) -> Found:
        took = times_of(results, case, op, collector)
        bounds = [name for name in ("floor", "floor clone") if name in took]
        if not bounds:
            return None
        return times(ratio(took, "holdall", min(bounds, key=lambda name: median(took[name]))))

    return Target(case, f"{op} vs lower bound, collector {collector}", "≤", factor, find)


def share(case: str, limit: float, ours: str = "holdall") -> Target:
    """What `ours` writes is so large a part of what pickle writes."""

    def find(results: Results) -> Found:
        size, whole = size_of(results, case, ours), size_of(results, case, PICKLE)
        return (size / whole, f"{size / whole:.3f}") if size and whole else None

    options = ours.removeprefix("holdall").replace(" ", ", ", 1)
    return Target(case, f"size{options}", "≤", limit, find, " of pickle 5")


def size(case: str, limit: int, relation: str = "≤", ours: str = "holdall") -> Target:
    """Bytes of what `ours` writes."""

    def find(results: Results) -> Found:
        found = size_of(results, case, ours)
        return None if found is None else (found, f"{found:,} bytes")

    return Target(case, by(ours, "size"), relation, limit, find, " bytes")


def within(case: str, ours: str, factor: float, peer: str) -> Target:
    """Loads of `ours` take at most `factor` times as long as those of `peer`."""

    def find(results: Results) -> Found:
        # The other way round: here ours is the slower one.
        return times(rival_ratio(results, case, "loads", ours, ours=peer))

    return Target(case, f"{ours} loads vs {peer}", "≤", factor, find)


def beside_sbcl(name: str, op: str, factor: float, relation: str = "≤") -> Target:
    """`holdall.lisp` takes at most `factor` times as long as SBCL, with references and without."""

    def find(results: Results) -> Found:
        found = [
            (1 / value, suffix)
            for suffix in ("", PLAIN)
            if (value := rival_ratio(results, f"sbcl_{name}", op, SBCL + suffix, ours=LISP + suffix))
        ]
        if not found:
            return None
        value, suffix = max(found)
        return value, f"{value:.2f}x{suffix and f' ({suffix.strip()})'}"

    return Target(f"sbcl_{name}", f"{LISP} {op} vs {SBCL}", relation, factor, find)


def under(case: str, ours: str, milliseconds: int) -> Target:
    def find(results: Results) -> Found:
        took = times_of(results, case, "loads").get(ours)
        return (median(took) / 1e6, f"{median(took) / 1e6:.2f} ms") if took else None

    return Target(case, f"{ours} loads", "<", milliseconds, find, " ms")


class Elsewhere(NamedTuple):
    """What `who` took for serbench's document on another machine, and how many times as fast we are to be."""

    op: str
    who: str
    seconds: float
    factor: int
    collector: str

    def target(self) -> Target:
        def find(results: Results) -> Found:
            found = elsewhere_ratio(results, self)
            if found is None:
                return None
            value, took, scale = found
            return value, f"{value:.2f}x ({took:.3f} s; {self.seconds:g} s × {scale:.2f})"

        what = f"{JULIA} {self.op} vs {self.who}, collector {self.collector}"
        return Target("julia_serbench_full", what, ">", self.factor, find)


# --- figures out of the results ---
def size_of(results: Results, case: str, name: str) -> int | None:
    found: int | None = results.get(case, {}).get("sizes", {}).get(name)
    return found


def times_of(results: Results, case: str, op: str, collector: str = "on") -> dict[str, list[float]]:
    found: dict[str, list[float]] = results.get(case, {}).get("times", {}).get(collector, {}).get(op, {})
    return found


def rival_ratio(
    results: Results, case: str, op: str, peer: str, collector: str = "on", ours: str = "holdall"
) -> float | None:
    """Time of `peer` over time of `ours`, if it gives back what was stored."""
    record = results.get(case)
    if record is None or peer not in record["verdicts"]:
        return None
    if record["verdicts"][peer]["kind"] not in ((SAME,) if record["graph"] else (SAME, COPIES)):
        return None
    return ratio(times_of(results, case, op, collector), peer, ours)


def elsewhere_ratio(results: Results, there: Elsewhere) -> tuple[float, float, float] | None:
    """How many times as fast as the other would be here; our seconds; this machine's time over that one's.

    The speed of this machine beside that one is the yardstick's, with the collector off as it was there.
    """
    case = "julia_serbench_full"
    yardstick = times_of(results, case, "loads", "off").get(YARDSTICK)
    took = times_of(results, case, there.op, there.collector).get(JULIA)
    if not yardstick or not took:
        return None
    scale = median(yardstick) / 1e9 / YARDSTICK_SECONDS
    seconds = median(took) / 1e9
    return there.seconds * scale / seconds, seconds, scale


# --- the targets ---
def pickle_rows(case: str, dumps: int, loads: float) -> list[Target]:
    return [rival(case, "dumps", (PICKLE,), dumps), rival(case, "loads", (PICKLE,), loads)]


def typed_loads(case: str, hold: float, msgpack: float) -> list[Target]:
    return [
        rival(case, "loads", ("msgspec typed",), hold),
        rival(case, "loads", ("msgspec typed",), msgpack, ours=MSGPACK),
    ]


def typed_rows(case: str) -> list[Target]:
    """Many small instances, against the same classes and against msgspec's own."""
    return [
        *typed_loads(case, 3, 1.8),
        rival(case, "loads", ("msgspec Struct*",), 1.4),
        rival(case, "dumps", ("msgspec typed",), 5),
        rival(case, "dumps", (PICKLE,), 50),
    ]


def bson_rows(op: str, factor: float, cases: tuple[str, ...], ours: str) -> list[Target]:
    """PyMongo beaten on the whole, and nowhere by less than a half."""
    return [
        mean("BSON", cases, op, factor, PYMONGO, ours),
        *[rival(case, op, (PYMONGO,), 1.5, ours=ours) for case in cases],
    ]


def file_rows(case: str, *ops: str) -> list[Target]:
    """Nearly as fast as the disk, or the kernel where nobody waits for it; and to store, faster than anybody else."""
    return [
        *[rival(case, op, (RAW,), 0.9) for op in ops],
        *[rival(case, "dumps", (peer,), 1, ">") for peer in ARRAY_FILES],
    ]


# Each at its fastest, measured with Julia 1.5.3 on a machine that took YARDSTICK_SECONDS for the yardstick, with the collector off.
ELSEWHERE = [
    Elsewhere(*each, collector)
    for each in (
        ("loads", "BSONqs.load", 0.65, 2),
        ("loads", "BSON.load", 23.3, 40),
        ("dumps", "BSONqs.bson", 22.5, 25),
    )
    for collector in ("on", "off")
]
TARGETS = [
    share("twitter", 0.87),
    share("citm_catalog", 0.45),
    share("canada", 0.88),
    share("github_events", 0.95),
    share("twitter", 0.45, "holdall intern=True"),
    size("small_ints", 1_010_000),
    size("samples", 2_000_000),
    size("one_int", 2),
    size("one_string", 6),
    *[rival(case, "dumps", FAST_FORMATS, 1) for case in DOCUMENTS],
    *[rival(case, "loads", FAST_FORMATS, 1, ">") for case in DOCUMENTS],
    mean("JSON documents", DOCUMENTS, "dumps", 3.5, PICKLE, HOLD),
    mean("JSON documents", DOCUMENTS, "loads", 2, PICKLE, HOLD),
    *pickle_rows("messages", 8, 2.5),
    *[rival("messages", op, ("msgspec.msgpack",), 1, ">") for op in ("dumps", "loads")],
    *pickle_rows("samples", 50, 12),
    rival("samples", "dumps", ("pyfory",), 2),
    rival("samples", "loads", ("pyfory",), 3),
    bound("samples", "loads", 1.5, "off"),
    *pickle_rows("serbench", 50, 10),
    *[row for case in ("clusters", "component") for row in pickle_rows(case, 9, 10)],
    *[rival(case, "dumps", ("pyfory refs",), 1.8) for case in ("clusters", "component")],
    *[rival(case, "loads", ("pyfory refs",), 5) for case in ("clusters", "component")],
    *[bound(case, "dumps", 2) for case in ("small_ints", "large_ints", "floats")],
    *[bound(case, "loads", 1.3) for case in ("small_ints", "large_ints", "floats")],
    *pickle_rows("arrays", 2, 1),
    *typed_rows("typed_serbench"),
    *typed_rows("typed_samples"),
    *typed_loads("typed_messages", 1.2, 1),
    rival("typed_messages", "dumps", ("msgspec typed",), 1.3),
    *[row for case in ("typed_twitter", "typed_citm") for row in typed_loads(case, 1.5, 1.1)],
    *[
        rival(case, op, ("msgspec.msgpack", "ormsgpack"), 1, ours=MSGPACK)
        for case in DOCUMENTS
        for op in ("dumps", "loads")
    ],
    *bson_rows("loads", 2, BSON_DECODED, BSON_DROP_IN),
    *bson_rows("loads", 2, BSON_ENCODED, BSON),
    *bson_rows("dumps", 2.8, BSON_ENCODED, BSON_DROP_IN),
    *[rival(case, "loads", ("msgspec.convert",), 3, ours=BSON) for case in BSON_TYPED],
    *[rival(case, "loads", ("pydantic", "pydantic Model*"), 6, ours=BSON) for case in BSON_TYPED],
    rival("bson_lazy", "loads", (BSON, PYMONGO), 100, ours=BSON_OPEN),
    size("julia_serbench_full", SERBENCH_BYTES, "=", JULIA),
    *[there.target() for there in ELSEWHERE],
    within("julia_arrays", JULIA, 1.2, READ),
    under("julia_arrays", JULIA_MMAP, 20),
    rival("julia_lazy", "loads", (JULIA,), 100, ours=JULIA_OPEN),
    *[beside_sbcl(name, "dumps", 1.5) for name in SBCL_SETS],
    *[beside_sbcl(name, "loads", 1.5) for name in SBCL_SETS if name not in SBCL_BEATEN],
    *[beside_sbcl(name, "loads", 1, "<") for name in SBCL_BEATEN],
    *[within(f"sbcl_{name}", LISP_MMAP, 1, SBCL + PLAIN) for name in SBCL_ARRAYS],
    *file_rows("files_arrays", "dumps", "loads"),
    *file_rows("files_arrays_unsynced", "dumps"),
    *[within("files_touch", HOLD_MMAP, 1, peer) for peer in (SAFE_OPEN, SAFE_FILE)],
    *[under(case, HOLD_OPEN, 5) for case in ("files_member", "files_element")],
]


def judge(results: Results) -> list[Line]:
    """Every target that speaks of a data set in `results`; stand-ins are not what it speaks of."""
    real = {name: record for name, record in results.items() if not record["stand_in"]}
    lines = [target.judge(real) for target in TARGETS]
    return [line for line in lines if line.met is not None or line.data in results]
