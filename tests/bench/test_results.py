"""What a run of `holdall bench` says: medians, winners, ratios, comparisons with an earlier run, tables."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

import holdall
from holdall_bench import history
from holdall_bench.export import COLUMNS, as_csv, as_json
from holdall_bench.results import (
    CHANGED,
    COPIES,
    FAILED,
    SAME,
    Change,
    DataSet,
    Fidelity,
    Machine,
    Operation,
    Outcome,
    Run,
    Timing,
    ratio,
)

MACHINE = Machine("a processor", 2, 8_000_000_000, "Linux", "CPython 3.11.7")


def outcome(name: str, ms: float, *, verdict: str = SAME, size: int = 1000, bound: bool = False) -> Outcome:
    rounds = [ms * 1e6 * factor for factor in (0.98, 1.0, 1.01, 0.99, 1.02)]
    changes = [Change("tuple → list", 3, "$[0]")] if verdict == CHANGED else []
    operation = Operation(first=9e6, on=Timing(rounds, 1e5), off=Timing([x / 2 for x in rounds]), peak=4096)
    return Outcome(name, Fidelity(verdict, changes), size, operation, operation, bound=bound)


def failed(name: str, reason: str) -> Outcome:
    return Outcome(name, Fidelity(FAILED, reason=reason))


def data_set(*outcomes: Outcome, identity: bool = False) -> DataSet:
    return DataSet("records", "own", "records", list(outcomes), volume=10_000, identity=identity)


def a_run(*outcomes: Outcome) -> Run:
    return Run("2026-01-01T00:00:00+00:00", "holdall bench", MACHINE, {"holdall": "1"}, [data_set(*outcomes)])


def test_a_timing_is_told_by_median_and_quartiles():
    timing = Timing([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (timing.low, timing.median, timing.high) == (2.0, 3.0, 4.0)
    assert timing.spread == pytest.approx(1 / 3)
    assert (Timing([7.0]).low, Timing([7.0]).median, Timing([7.0]).spread) == (7.0, 7.0, 0.0)


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    # A machine that is three times slower in one round is so for both.
    assert ratio(Timing([2.0, 6.0, 2.0]), Timing([1.0, 3.0, 1.0])) == 2.0
    assert ratio(Timing([4.0, 4.0]), Timing([1.0, 2.0, 9.0])) == 2.0


def test_the_best_gives_back_what_was_stored():
    changed, copies, same = (
        outcome("quick", 1, verdict=CHANGED, size=10),
        outcome("tree", 2, verdict=COPIES, size=20),
        outcome("graph", 3, size=30),
    )
    bound = outcome("lower bound", 0.5, bound=True)
    data = data_set(changed, copies, same, bound, failed("none", "TypeError"))
    best = data.best("dumps")
    assert best is not None and best.codec == "tree"
    assert data.smallest is copies
    assert data.bound("loads") == pytest.approx(0.5e6)
    graph = data_set(changed, copies, same, identity=True)
    assert graph.best("loads") is same and graph.smallest is same
    assert data_set(changed).best("dumps") is None


def test_the_usual_time_is_with_the_collector_on():
    one = outcome("a", 4)
    assert one.time("dumps") == pytest.approx(4e6)
    assert one.time("dumps", "off") == pytest.approx(2e6)
    off_only = Outcome("b", Fidelity(SAME), 1, Operation(1.0, off=Timing([5.0])))
    assert off_only.time("dumps") == 5.0 and off_only.time("loads") is None


def test_json_and_csv_say_the_same():
    run = a_run(outcome("holdall", 1), outcome("other", 2, verdict=CHANGED), failed("third", "a, b"))
    told = json.loads(as_json(run))["data_sets"][0]["outcomes"]
    rows = list(csv.DictReader(io.StringIO(as_csv(run))))
    assert [row["codec"] for row in rows] == [each["codec"] for each in told] == ["holdall", "other", "third"]
    assert tuple(rows[0]) == COLUMNS
    assert float(rows[0]["dumps_on_ns"]) == Timing(told[0]["dumps"]["on"]["rounds"]).median
    assert rows[1]["changes"] == "tuple → list x3" and told[1]["fidelity"]["changes"][0]["count"] == 3
    assert rows[2]["reason"] == "a, b" and rows[2]["dumps_on_ns"] == ""


def test_points_of_a_curve_are_in_order():
    small = replace(data_set(), name="small", curve="c", volume=10)
    large = replace(data_set(), name="large", curve="c", volume=1000)
    run = replace(a_run(), data_sets=[large, small, data_set()])
    assert {name: [p.name for p in points] for name, points in run.curves.items()} == {
        "c": ["small", "large"]
    }


@pytest.mark.parametrize("width, has_first", [(80, False), (100, False), (160, True)])
def test_the_table_fits_the_terminal(width, has_first):
    console = pytest.importorskip("rich.console")
    from holdall_bench.show import show

    run = a_run(outcome("holdall", 1), outcome("other", 2, verdict=CHANGED), failed("third", "TypeError: no"))
    out = io.StringIO()
    show(run, console.Console(file=out, width=width))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert ("first loads" in text) is has_first
    assert "★ 1.00 ms" in text and "≠ tuple → list" in text and "✗ third: TypeError: no" in text


# --- histories ---


def test_a_history_keeps_runs_as_they_were(tmp_path):
    path = tmp_path / "history.hold"
    assert history.last_runs(path) == []
    runs = [a_run(outcome("holdall", 1), failed("x", "why")), a_run(outcome("holdall", 2, verdict=CHANGED))]
    for run in runs:
        history.keep(path, run)
    assert history.last_runs(path) == runs
    assert holdall.verify(path).ok


def test_what_is_no_history_is_an_error_with_a_place(tmp_path):
    path = tmp_path / "history.hold"
    holdall.dump({"not": "a run"}, path)
    with pytest.raises(holdall.DecodeError):
        history.last_runs(path)


@pytest.mark.parametrize("before, now, slower", [(1.0, 2.0, True), (1.0, 1.05, False), (2.0, 1.0, False)])
def test_slower_is_what_exceeds_the_noise(before, now, slower):
    (dumps, loads) = history.compare(a_run(outcome("holdall", now)), [a_run(outcome("holdall", before))])
    assert dumps.slower is loads.slower is slower
    assert dumps.speedup == pytest.approx(before / now)


def test_noise_is_what_the_rounds_say():
    wild = outcome("holdall", 1)
    assert wild.dumps is not None
    wild.dumps.on = Timing([1e6, 2e6, 0.5e6, 1.6e6, 0.6e6])
    (dumps, _) = history.compare(a_run(outcome("holdall", 1.6)), [a_run(wild)])
    assert dumps.noise > 0.5 and not dumps.slower


def test_a_slower_machine_is_not_held_against_a_codec():
    others = [f"codec {i}" for i in range(5)]
    before = a_run(outcome("holdall", 1), *(outcome(name, 3) for name in others))
    now = a_run(outcome("holdall", 2), *(outcome(name, 6) for name in others))
    found = {(each.codec, each.op): each for each in history.compare(now, [before])}
    assert found["holdall", "dumps"].speedup == pytest.approx(1.0)
    assert found["holdall", "dumps"].drift == pytest.approx(0.5)
    # Two others say nothing of the machine: it may be they who have changed.
    few = history.compare(
        a_run(outcome("holdall", 2), outcome("codec", 6)), [a_run(outcome("holdall", 1), outcome("codec", 3))]
    )
    assert all(each.slower for each in few)


def test_other_machines_are_not_compared_and_the_last_run_that_has_it_is():
    old, other = a_run(outcome("holdall", 1)), a_run(outcome("holdall", 5))
    other.machine = replace(MACHINE, processor="another")
    last = a_run(outcome("pickle", 7))
    found = history.compare(a_run(outcome("holdall", 1)), [old, other, last])
    assert [each.before for each in found] == pytest.approx([1e6, 1e6])
    assert history.compare(a_run(outcome("holdall", 1)), [other]) == []


def test_other_data_of_the_same_name_are_not_compared():
    more = a_run(outcome("holdall", 50))
    more.data_sets[0].volume *= 50
    assert history.compare(more, [a_run(outcome("holdall", 1))]) == []
