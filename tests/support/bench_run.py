"""A run of the benchmark, made by hand: all that a report has to show, in figures that never change."""

from __future__ import annotations

from holdall_bench.results import (
    CHANGED,
    COPIES,
    FAILED,
    SAME,
    Absent,
    Change,
    DataSet,
    Fidelity,
    Machine,
    Operation,
    Outcome,
    Run,
    Timing,
)

MS = 1e6
KEPT = Fidelity(SAME)
SHARED_LOST = Fidelity(COPIES, [Change("shared object → copies", 4210, "$[0].author")])
TUPLES = Fidelity(
    CHANGED, [Change("tuple → list", 1200, "$[0].tags"), Change("int key → str", 3, "$[7].scores")]
)
CYCLE = Fidelity(FAILED, reason="RecursionError: maximum recursion depth exceeded")
# A name that ends a script, opens an image and ends a template, as a user's file may have it.
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"> %{x} & <b>b</b>"


def timing(median: float, spread: float = 0.03, collected: float | None = None) -> Timing:
    """Rounds whose median and spread are these; times in ms."""
    far, near = 1 + 4 * spread, 1 + spread
    return Timing(
        [median * MS * factor for factor in (2 - far, 2 - near, 1, near, far)], collected and collected * MS
    )


def operation(on: float, off: float | None = None, spread: float = 0.03) -> Operation:
    """All figures of it, in proportion to its time in ms with the collector on."""
    quiet = timing(on * 0.8 if off is None else off, spread)
    return Operation(on * 4 * MS, timing(on, spread, on * 0.15), quiet, int(on * 250_000), int(on * 180_000))


def outcome(
    codec: str, dumps: float, loads: float, size: int, fidelity: Fidelity = KEPT, **more: object
) -> Outcome:
    return Outcome(codec, fidelity, size, operation(dumps), operation(loads), **more)  # type: ignore[arg-type]


def failed(codec: str, reason: str = CYCLE.reason) -> Outcome:
    return Outcome(codec, Fidelity(FAILED, reason=reason))


def graph() -> DataSet:
    """Sharing matters. The fastest codecs change the data, so that they must not win; one is fastest only where the
    collector is off."""
    quick = Outcome("marshal", KEPT, 5_310_000, operation(9.4, 6.1), operation(21.0, 9.2))
    outcomes = [
        outcome("holdall", 8.2, 14.1, 2_140_332),
        outcome("holdall typed", 6.9, 12.2, 1_702_118, note="with an annotation"),
        outcome("pickle", 31.5, 27.8, 4_871_205),
        outcome("cloudpickle", 38.4, 27.9, 4_871_431),
        outcome("json", 41.0, 36.2, 6_204_117, TUPLES),
        outcome("orjson", 4.1, 17.3, 6_204_117, TUPLES),
        outcome("msgpack", 12.8, 19.4, 3_980_551, TUPLES),
        outcome("ormsgpack", 3.8, 15.9, 3_980_551, SHARED_LOST),
        outcome("msgspec", 4.4, 10.7, 3_902_113, SHARED_LOST, note="its own Struct classes"),
        quick,
        outcome("pyfory", 15.4, 24.2, 2_903_112),
        outcome("bson", 61.0, 70.3, 7_400_912, TUPLES),
        outcome("yaml", 9_120.0, 14_200.0, 8_120_771, SHARED_LOST),
        failed("cbor2"),
        failed("protobuf", "TypeError: no descriptor for a class that is not known before"),
        Outcome("least", KEPT, None, operation(4.0), operation(7.5), bound=True),
    ]
    return DataSet(
        "graph", "Object graphs", "A forum: users, posts, threads", outcomes, 9_000_000, identity=True
    )


def records() -> DataSet:
    """Items one by one; a codec that was too slow for all, and for the collector off too; copies are no loss."""
    slow = Outcome("yaml", KEPT, 1_950_000, operation(3_100.0), operation(5_900.0), measured=200)
    for each in (slow.dumps, slow.loads):
        assert each is not None
        each.off = None
    outcomes = [
        outcome("holdall", 21.0, 33.0, 810_000),
        outcome("pickle", 52.0, 44.0, 1_920_000),
        outcome("msgspec", 9.5, 18.4, 1_100_000, SHARED_LOST),
        outcome("orjson", 8.1, 25.1, 1_480_000, TUPLES),
        slow,
        failed("marshal", "ValueError: unmarshallable object"),
    ]
    note = "Orders as a shop's API answers them."
    return DataSet("records", "Records", "10 000 orders", outcomes, 2_400_000, items=10_000, note=note)


def growing() -> list[DataSet]:
    """A curve of 1 kB to 1 GB, on which a codec fails from some volume on and another changes the data."""
    costs = {"holdall": 1.4, "pickle": 4.9, "orjson": 0.9, "msgpack": 2.8, "yaml": 900.0, "marshal": 2.1}
    found = []
    for power in range(3, 10):
        volume = 10**power
        outcomes = []
        for codec, cost in costs.items():
            if codec == "yaml" and power > 6:
                outcomes.append(failed(codec, "MemoryError"))
                continue
            each = cost * (1 + 2000 / volume) * (1 + 0.1 * (power - 3)) * volume / MS
            fidelity = TUPLES if codec == "orjson" else KEPT
            outcomes.append(outcome(codec, each, each * 1.7, int(volume * cost**0.2 * 0.4), fidelity))
        title = f"Log entries, 10^{power} bytes"
        found.append(DataSet(f"log {power}", "Growing", title, outcomes, volume, curve="Log entries"))
    return found


def hostile() -> DataSet:
    """Every text that comes from outside tries to be HTML."""
    changed = Fidelity(CHANGED, [Change(HOSTILE, 2, HOSTILE)])
    outcomes = [
        outcome(HOSTILE, 3.0, 4.0, 90_000, note=HOSTILE),
        outcome("holdall", 2.0, 5.0, 80_000),
        outcome(f"{HOSTILE} two", 1.0, 2.0, 70_000, changed),
        failed(f"{HOSTILE} three", HOSTILE),
        Outcome(f"{HOSTILE} least", KEPT, None, operation(0.5), operation(0.7), bound=True),
    ]
    return DataSet(HOSTILE, HOSTILE, HOSTILE, outcomes, 200_000, note=HOSTILE, curve="")


def sample(*more: DataSet) -> Run:
    machine = Machine("Ryzen 7 5800X", 8, 33_600_000_000, "Linux 6.12", "CPython 3.13.1")
    versions = {"holdall": "1.0.0", "pickle": "3.13.1", "orjson": "3.10.15", "msgspec": "0.19.0"}
    absent = [Absent("ujson", "not installed: pip install ujson"), Absent("avro", "no schema for these data")]
    notes = ["The processor's clock was not fixed; times may drift by a few percent."]
    data_sets = [graph(), records(), *growing(), *more]
    when, command = "2025-03-04T05:06:07Z", "holdall bench --suite graphs --html report.html"
    return Run(when, command, machine, versions, data_sets, absent, notes, seconds=754.2)
