"""cl-binary-store's data sets made small: what they hold, what is asked of them, and that they need SBCL."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

pytest.importorskip("numpy")

from bench.targets import judge, lisp_cases, lisp_peers
from bench.targets.__main__ import main
from bench.targets.data import lisp_sets, scratch_folder
from bench.targets.measure import measure
from bench.targets.timing import Budget
from holdall_bench.isolate import Child
from holdall_bench.results import SAME

SMALL = {"a_pile_of_tangled_conses": {"number": 50}, "a_bunch_of_specialized_arrays": {"n": 100}}


@pytest.mark.skipif(lisp_sets() is None, reason="the shared data sets are missing")
@pytest.mark.skipif(bool(lisp_peers.missing()), reason=lisp_peers.missing())
def test_both_give_back_what_was_stored() -> None:
    cases = {case.name.removeprefix("sbcl_"): case for case in lisp_cases.lisp_store_cases()}
    scratch_folder()  # made here, since the child leaves without cleaning up
    for name, sizes in SMALL.items():
        case = replace(cases[name], make=partial(lisp_cases.lisp_set, name, sizes))
        record: dict[str, Any] = Child(partial(measure, case, Budget(0.0, 1), [True])).result()
        assert {verdict["kind"] for verdict in record["verdicts"].values()} == {SAME}, name
        assert record["ours"] == judge.LISP
        lines = judge.judge({case.name: record})
        assert len(lines) == 2 + (name in judge.SBCL_ARRAYS) and all(line.met is not None for line in lines)


def test_the_slower_way_to_store_is_judged() -> None:
    def record(ours: float, ours_plain: float) -> judge.Results:
        loads = {
            judge.LISP: [ours],
            judge.SBCL: [10.0],
            judge.LISP + judge.PLAIN: [ours_plain],
            judge.SBCL + judge.PLAIN: [5.0],
        }
        verdicts = {name: {"kind": SAME} for name in loads}
        return {"sbcl_x": {"graph": False, "verdicts": verdicts, "times": {"on": {"loads": loads}}}}

    target = judge.beside_sbcl("x", "loads", 1.5)
    assert target.judge(record(15.0, 5.0))[3:] == ("1.50x", True)
    assert target.judge(record(5.0, 8.0))[3:] == ("1.60x (refs=False)", False)
    assert target.judge({}).met is None


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    assert lisp_peers.missing().startswith("there is no sbcl")
    assert lisp_peers.versions() == []
    cases = lisp_cases.lisp_store_cases()
    assert len(cases) == 13 and all(case.missing for case in cases)
    monkeypatch.setattr("bench.targets.__main__.Report.finish", lambda *_: None)
    main(["--only", "sbcl", "--no-memory"])
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("not measured: sbcl_long_list_of_tiny_integers, ") and cases[0].missing in said
