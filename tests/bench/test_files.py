"""The benchmark's files, made small: each contestant's result is judged, and each has a process of its own."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("bson")
for library in ("joblib", "safetensors", "orjson", "msgspec"):
    pytest.importorskip(library)
if not hasattr(os, "fork"):
    pytest.skip("processes are forked", allow_module_level=True)


import holdall  # noqa: E402
from bench.targets import files_cases, files_peers, judge, touched  # noqa: E402
from bench.targets.data import Case, scratch_folder  # noqa: E402
from bench.targets.files_cases import element, elements_file, member, member_key, members_file  # noqa: E402
from bench.targets.julia_cases import weight_shapes  # noqa: E402
from bench.targets.measure import measure  # noqa: E402
from bench.targets.timing import Budget, Job, interleave  # noqa: E402
from holdall_bench.isolate import Child, Crashed, Worker  # noqa: E402
from holdall_bench.results import CHANGED, COPIES, SAME  # noqa: E402

NARROW = 64


def small_cases() -> dict[str, Case]:
    make = partial(files_cases.weights, NARROW)
    shapes = weight_shapes(NARROW)
    arrays = partial(files_peers.array_peers, shapes=shapes)
    made = {
        "files_arrays": (make, partial(arrays, synced=True), partial(files_peers.summary_of, make)),
        "files_arrays_unsynced": (make, partial(arrays, synced=False), partial(files_peers.summary_of, make)),
        "files_touch": (
            make,
            partial(files_peers.touch_peers, name=files_cases.TOUCHED),
            partial(files_cases.touched_sum, NARROW),
        ),
        "files_member": (partial(members_file, 20), files_peers.member_peers, partial(member, 15)),
        "files_element": (partial(elements_file, 99), files_peers.member_peers, partial(element, 98)),
        "files_log": (partial(files_cases.records, 50), files_peers.log_peers, None),
    }
    keys = {"files_member": member_key(15), "files_element": -1}
    return {
        case.name: replace(
            case,
            make=made[case.name][0],
            contestants=made[case.name][1],
            expected=made[case.name][2],
            key=keys.get(case.name),
            records=50 if case.records else None,
        )
        for case in files_cases.files_cases()
    }


def measured(case: Case) -> dict[str, Any]:
    scratch_folder()  # made here, since the child leaves without cleaning up
    record: dict[str, Any] = Child(partial(measure, case, Budget(0.0, 1), [True])).result()
    return record


@pytest.mark.parametrize("name", list(small_cases()))
def test_everybody_gives_back_what_was_stored(name: str) -> None:
    record = measured(small_cases()[name])
    kinds = {who: verdict["kind"] for who, verdict in record["verdicts"].items()}
    # Pickles and lines of JSON don't know that two records have one text.
    other = {who for who, kind in kinds.items() if kind != SAME}
    assert not other or (name == "files_log" and {kinds[who] for who in other} == {COPIES}), record[
        "verdicts"
    ]
    assert record["ours"].startswith(judge.HOLD)
    lines = judge.judge({name: record})
    assert lines or name == "files_log"
    assert all(line.met is not None for line in lines)


def test_a_wrong_array_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(arrays: dict[str, Any], path: Path) -> None:
        holdall.dump(arrays | {"b03": arrays["b03"] + 1}, path)

    monkeypatch.setattr(files_peers, "pickle_to", wrong)
    monkeypatch.setattr(files_peers, "unpickle", holdall.load)
    record = measured(small_cases()["files_arrays"])
    assert record["verdicts"][judge.PICKLE]["kind"] == CHANGED
    assert judge.PICKLE not in record["times"]["on"]["dumps"]


def test_only_dumps_are_timed_twice() -> None:
    times = measured(small_cases()["files_arrays_unsynced"])["times"]["on"]
    assert judge.HOLD in times["dumps"] and times["loads"] == {}


def test_quick_runs_have_all_of_them_small() -> None:
    full, quick = (files_cases.files_cases(quick) for quick in (False, True))
    assert [case.name for case in full] == [case.name for case in quick]
    assert all(case.stand_in for case in quick) and not any(case.stand_in for case in full)


def test_each_has_a_process_of_its_own(tmp_path: Path) -> None:
    def job(name: str) -> Job:
        def call(_: object) -> None:
            time.sleep(0.03)  # long enough to be called once in a turn
            with open(tmp_path / name, "a") as file:
                file.write(f"{os.getpid()}\n")

        return Job(name, call, None, before=lambda: time.sleep(0.2))

    times = interleave([job("a"), job("b")], Budget(0.0, 2), True, apart=True)
    a, b = (set((tmp_path / name).read_text().split()) for name in "ab")
    assert len(a) == len(b) == 1 and len(a | b | {str(os.getpid())}) == 3
    assert all(took < 0.2e9 for took in times["a"] + times["b"])  # what goes before isn't counted


def test_a_worker_tells_of_errors_and_of_its_death() -> None:
    with Worker(lambda number: 1 // number) as divide:
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(0)
        assert divide(1) == 1
    with Worker(os._exit) as leave, pytest.raises(Crashed):
        leave(1)


@pytest.mark.skipif(not touched.supported(), reason="pages are looked at as Linux shows them")
def test_pages_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "two.hold"
    arrays = {"large": np.ones(1 << 21), "small": np.ones(1 << 10)}
    holdall.dump(arrays, path)

    def all_of_it() -> tuple[int, int]:
        with holdall.open(path) as document:
            document["large"].sum()
            return touched.resident(path), touched.cached(path)

    size = path.stat().st_size
    mapped, cached = Child(all_of_it).result()
    assert mapped >= 16 << 20 and cached >= size // 4096 * 4096
    touched.forget(path)
    if touched.cached(path) > size // 1000:
        with pytest.raises(RuntimeError, match="keeps"):
            touched.touch(path, "small")
        pytest.skip("this file system keeps all files in memory")
    row = Child(partial(touched.touch, path, "small")).result()
    assert row["reference"] == size and 0 < row["peak"] < size // 8
