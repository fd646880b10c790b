"""The benchmark's data sets of Julia's, made small: what they hold, and that each contestant's result is judged."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("bson")


from bench.targets import judge, julia_cases, julia_peers  # noqa: E402
from bench.targets.data import Case, row, scratch_folder  # noqa: E402
from bench.targets.files_peers import summary, summary_of  # noqa: E402
from bench.targets.julia_peers import (  # noqa: E402
    array_peers,
    document_peers,
    full_peers,
    lazy_peers,
)
from bench.targets.measure import measure  # noqa: E402
from bench.targets.timing import Budget  # noqa: E402
from holdall_bench.isolate import Child  # noqa: E402
from holdall_bench.results import SAME  # noqa: E402

NARROW = 64


def measured(case: Case) -> dict[str, Any]:
    """In a process of its own: the classes that it maps are the benchmark's, not the tests'."""
    scratch_folder()  # made here, since the child leaves without cleaning up
    record: dict[str, Any] = Child(partial(measure, case, Budget(0.0, 1), [True, False])).result()
    return record


def case(name: str, make: Any, contestants: Any, expected: Any = None) -> Case:
    return row(name, name, make, contestants=contestants, expected=expected)


DOCUMENT = partial(julia_cases.julia_serbench, 2)


@pytest.mark.parametrize(
    "small",
    [
        case("julia_serbench", DOCUMENT, document_peers),
        case("julia_serbench_full", DOCUMENT, full_peers),
        case(
            "julia_arrays",
            partial(julia_cases.weights_file, NARROW),
            array_peers,
            partial(summary_of, partial(julia_cases.weights, NARROW)),
        ),
        case(
            "julia_lazy",
            partial(julia_cases.serbench_file, 2),
            lazy_peers,
            partial(julia_cases.text_in_serbench, 2),
        ),
    ],
    ids=lambda case: case.name,
)
def test_everybody_gives_back_what_was_stored(small: Case) -> None:
    record = measured(small)
    assert {name: verdict["kind"] for name, verdict in record["verdicts"].items()} == dict.fromkeys(
        record["verdicts"], SAME
    )
    assert record["ours"].startswith(judge.JULIA)
    lines = judge.judge({small.name: record})
    assert lines or small.name == "julia_serbench"
    assert all(line.met is not None for line in lines)


def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = julia_peers.tagged

    def wrong(data: Any) -> Any:
        tree = right(data)
        tree["Foo2"][1]["data"][5][0]["data"][1][25]["data"][1] += "x"
        return tree

    monkeypatch.setattr(julia_peers, "tagged", wrong)
    record = measured(case("julia_serbench", DOCUMENT, document_peers))
    assert record["verdicts"][judge.JULIA]["detail"] == "it writes other bytes"


def serbench_size(bars: int) -> int:
    from holdall import julia

    julia_peers.map_classes()
    return len(julia.dumps(julia_cases.julia_serbench(bars)))


def test_serbench_in_full_has_the_size_that_bsonqs_gives_it() -> None:
    """Each Bar takes as much as the next but for the digits of its index in its array."""
    few, more = (Child(partial(serbench_size, bars)).result() for bars in (9, 10))
    bar = (more - few) // 9
    indexes = sum(len(str(index)) for index in range(10, julia_cases.BARS)) - (julia_cases.BARS - 10)
    assert more + 9 * ((julia_cases.BARS - 10) * bar + indexes) == judge.SERBENCH_BYTES


def test_the_weights_are_vgg19s() -> None:
    arrays = julia_cases.weights(NARROW)
    assert len(arrays) == 38
    assert all(array.dtype == np.float32 and array.flags.f_contiguous for array in arrays.values())
    assert arrays["W01"].shape == (3, 3, 3, 1) and arrays["W19"].shape == (1000, 4096 // NARROW)
    other = arrays | {"b38": arrays["b19"] + 1}
    assert summary(arrays) != summary(other)


def test_a_machine_half_as_fast_makes_the_other_twice_as_slow() -> None:
    def record(ours: float, yardstick: float) -> dict[str, Any]:
        loads = {judge.JULIA: [ours * 1e9], judge.YARDSTICK: [yardstick * 1e9]}
        return {"julia_serbench_full": {"times": {"off": {"loads": loads, "dumps": {}}}}}

    target = judge.Elsewhere("loads", "BSONqs.load", 0.65, 2, "off")
    slow = record(0.5, 2 * judge.YARDSTICK_SECONDS)
    assert judge.elsewhere_ratio(slow, target) == pytest.approx((2.6, 0.5, 2.0))
    assert target.target().judge(slow).met
    assert not target.target().judge(record(0.5, judge.YARDSTICK_SECONDS)).met
    assert target.target().judge({}).met is None


def test_quick_runs_have_all_of_them_small() -> None:
    full, quick = (julia_cases.julia_cases(quick) for quick in (False, True))
    assert [case.name for case in full] == [case.name for case in quick]
    assert [case.stand_in for case in quick] == [False, True, True, True]
    assert not any(case.stand_in for case in full)


def test_a_mapped_file_costs_little(tmp_path: Path) -> None:
    from bench.targets.memory import map_file
    from holdall import julia
    from holdall_bench.memory import supported

    if not supported():
        pytest.skip("/proc/self/clear_refs is not to be had here")
    path = tmp_path / "weights.bson"
    julia.dump({"W": np.zeros((1 << 22, 2), np.float32)}, path)
    row = Child(partial(map_file, path)).result()
    assert row["reference"] == 1 << 25
    assert row["peak"] < row["reference"] // 4
