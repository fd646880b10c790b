"""`holdall bench` as a user runs it: processes, codecs that fail in every way, files that are written, histories."""

from __future__ import annotations

import csv
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
if not hasattr(os, "fork"):
    pytest.skip("what came back is looked at in a forked process", allow_module_level=True)

import holdall
import holdall_bench
from tests.support.cli import invoke

DATA = """
from dataclasses import dataclass


@dataclass
class Record:
    ident: int
    name: str


def records() -> list[Record]:
    return [Record(i, f"name {i}") for i in range(300)]


def pairs():
    return [(i, float(i)) for i in range(300)]


def items():
    return [{"ident": i, "pair": (i, i)} for i in range(300)]


items.each = True


def shared():
    inner = {"a": [1, 2]}
    return [inner] * 50


shared.identity = True


def broken():
    raise RuntimeError("the data can't be made")


def crashing():
    import os

    os._exit(3)


number = 7
"""

CODEC = """
import {imports}
name, version, keeps, way = "mine", "7.1", "anything", "as it is"


def dumps(value):
    {dumps}


def loads(stored):
    {loads}
"""


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.py").write_text(DATA)
    return tmp_path


def bench(
    *args: str, code: int = 0, quick: bool = True, alone: bool = False
) -> subprocess.CompletedProcess[str]:
    """In this process, to spare each run the imports, or `alone` in one of its own. The codecs have theirs either way."""
    few = ["--seconds", "0", "--rounds", "2", "--no-memory"] if quick else []
    command = ["bench", *args, *few]
    if alone:
        env = os.environ | {"COLUMNS": "200"}
        start = [sys.executable, "-m", "holdall", *command]
        done = subprocess.run(start, capture_output=True, text=True, env=env)
    else:
        with mock.patch.object(sys, "argv", ["holdall", *command]):
            done = subprocess.CompletedProcess(command, *invoke(*command, env={"COLUMNS": "200"}))
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def told(*args: str, **options: Any) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(bench(*args, "--json", "-", **options).stdout)
    return run


def only_outcome(run: dict[str, Any], codec: str) -> dict[str, Any]:
    (found,) = [each for each in run["data_sets"][0]["outcomes"] if each["codec"] == codec]
    return found  # type: ignore[no-any-return]


def codec(dumps: str, loads: str, imports: str = "pickle") -> str:
    path = Path("mine.py")
    path.write_text(CODEC.format(imports=imports, dumps=dumps, loads=loads))
    return str(path)


# --- what it says ---


def test_own_data_by_a_function():
    args = ("--data", "data.py:records", "--codec", "holdall*", "--codec", "pickle", "--codec", "json")
    run = told(*args, alone=True)
    (data,) = run["data_sets"]
    assert (data["name"], data["suite"], data["items"]) == ("records", "own", None)
    assert data["volume"] == 300 * 8 + sum(len(f"name {i}") for i in range(300))
    names = [each["codec"] for each in data["outcomes"]]
    # By the annotation of the function, there is a type to load by.
    assert {"holdall", "holdall typed", "holdall.msgpack", "pickle", "json"} <= set(names)
    ours = only_outcome(run, "holdall")
    assert ours["fidelity"] == {"verdict": "same", "changes": [], "reason": ""}
    assert run["versions"]["holdall"] == holdall.__version__
    assert run["versions"]["Python"] == ".".join(map(str, sys.version_info[:3]))
    for op in ("dumps", "loads"):
        assert ours[op]["first"] > 0
        assert len(ours[op]["on"]["rounds"]) == len(ours[op]["off"]["rounds"]) == 2
        assert all(ns > 0 for ns in ours[op]["on"]["rounds"])
        assert ours[op]["off"]["collected"] is None and ours[op]["on"]["collected"] >= 0
    json_says = only_outcome(run, "json")["fidelity"]
    assert json_says["verdict"] == "changed"
    assert ("Record → dict", 300) in [(change["what"], change["count"]) for change in json_says["changes"]]


def test_sizes_are_those_of_what_is_written():
    sys.path.insert(0, os.getcwd())
    try:
        import data
    finally:
        sys.path.remove(os.getcwd())
    run = told("--data", "data.py:pairs", "--codec", "holdall", "--codec", "marshal", "--codec", "json")
    value = data.pairs()
    assert only_outcome(run, "holdall")["size"] == len(holdall.dumps(value))
    assert only_outcome(run, "json")["size"] == len(json.dumps(value, separators=(",", ":")))
    changes = only_outcome(run, "json")["fidelity"]["changes"]
    assert [(change["what"], change["count"]) for change in changes] == [("tuple → list", 300)]
    del sys.modules["data"]


def test_items_one_by_one():
    run = told("--data", "data.py:items", "--codec", "holdall", "--codec", "pickle")
    assert run["data_sets"][0]["items"] == 300
    ours = only_outcome(run, "holdall")
    assert ours["size"] == sum(len(holdall.dumps({"ident": i, "pair": (i, i)})) for i in range(300))
    assert ours["measured"] is None


def test_a_slow_codec_is_measured_with_fewer_items():
    path = codec(
        "time.sleep(0.02); return pickle.dumps(value)", "return pickle.loads(stored)", "pickle, time"
    )
    run = told("--data", "data.py:items", "--codec", "pickle", "--codec", path)
    slow = only_outcome(run, "mine")
    assert 10 <= slow["measured"] < 300
    # Told for all of them.
    assert slow["dumps"]["on"]["rounds"][0] > 300 * 20e6
    assert slow["size"] == pytest.approx(only_outcome(run, "pickle")["size"], rel=0.2)


def test_sharing_that_is_lost_is_no_success_where_it_matters():
    run = told("--data", "data.py:shared", "--codec", "holdall*", "--codec", "pickle", "--codec", "json")
    assert only_outcome(run, "holdall")["fidelity"]["verdict"] == "same"
    assert only_outcome(run, "json")["fidelity"]["verdict"] == "copies"
    assert run["data_sets"][0]["identity"]
    assert "holdall refs=False" not in [each["codec"] for each in run["data_sets"][0]["outcomes"]]


def test_memory_is_measured():
    run = json.loads(
        bench(
            *(
                "--data",
                "data.py:pairs",
                "--codec",
                "pickle",
                "--seconds",
                "0",
                "--rounds",
                "1",
                "--json",
                "-",
            ),
            quick=False,
        ).stdout
    )
    found = only_outcome(run, "pickle")
    assert found["loads"]["allocated"] > 300 * 40
    if os.access("/proc/self/clear_refs", os.W_OK):
        assert found["loads"]["peak"] is not None and found["loads"]["peak"] >= 0


@pytest.mark.parametrize("name", ["values.json", "values.hold", "values.msgpack"])
def test_own_data_from_a_file(name):
    value = {"rows": [{"a": 1, "b": [1.5, None]} for _ in range(50)]}
    write = {
        "json": lambda: Path(name).write_text(json.dumps(value)),
        "hold": lambda: holdall.dump(value, name),
    }
    write["msgpack"] = lambda: Path(name).write_bytes(holdall.msgpack.dumps(value))
    write[name.partition(".")[2]]()
    run = told("--data", name, "--codec", "holdall", "--codec", "json")
    assert only_outcome(run, "json")["size"] == len(json.dumps(value, separators=(",", ":")))
    assert only_outcome(run, "holdall")["fidelity"]["verdict"] == "same"


# --- codecs of the user's, and those that fail ---


def test_a_codec_in_a_file_takes_part():
    run = told(
        "--data",
        "data.py:pairs",
        "--codec",
        "holdall",
        "--codec",
        codec("return pickle.dumps(value, 2)", "return pickle.loads(stored)"),
    )
    mine = only_outcome(run, "mine")
    assert mine["fidelity"]["verdict"] == "same" and run["versions"]["mine"] == "7.1"


@pytest.mark.parametrize(
    "dumps, loads, imports, reason",
    [
        ("raise TypeError('not this')", "pass", "sys", "TypeError: not this"),
        ("return b'1'", "raise KeyError(3)", "sys", "KeyError: 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "pass", "os, signal", "crashes with SIGSEGV in `dumps`"),
        ("return b''", "os._exit(3)", "os", "ends with code 3 in `loads`"),
        ("time.sleep(60)", "pass", "time", "`dumps` takes longer than 2 s"),
        ("raise SystemExit('enough')", "pass", "sys", "enough"),
    ],
)  # fmt: skip
def test_a_codec_that_fails_says_so_and_leaves_the_others_alone(dumps, loads, imports, reason):
    path = codec(dumps, loads, imports)
    run = told("--data", "data.py:pairs", "--codec", "marshal", "--codec", path, "--patience", "2")
    found = only_outcome(run, "mine")
    assert found["fidelity"]["verdict"] == "failed" and reason in found["fidelity"]["reason"]
    assert found["dumps"] is None
    assert only_outcome(run, "marshal")["fidelity"]["verdict"] == "same"


def test_a_codec_that_dies_later_is_no_success():
    path = codec(
        "calls.append(1); len(calls) > 3 and os._exit(9); return pickle.dumps(value)",
        "return pickle.loads(stored)",
        "os, pickle\ncalls = []",
    )
    found = only_outcome(told("--data", "data.py:pairs", "--codec", "marshal", "--codec", path), "mine")
    assert found["fidelity"]["verdict"] == "failed" and "ends with code 9" in found["fidelity"]["reason"]


def test_what_a_codec_prints_is_in_nobodys_way():
    path = codec(
        "print('{}'); os.write(1, b'x'); return pickle.dumps(value)",
        "return pickle.loads(stored)",
        "os, pickle",
    )
    found = only_outcome(told("--data", "data.py:pairs", "--codec", path, "--codec", "marshal"), "mine")
    assert found["fidelity"]["verdict"] == "same"


def test_a_wrong_result_is_named():
    path = codec("return b''", "return [(i, i) for i in range(300)]")
    found = only_outcome(told("--data", "data.py:pairs", "--codec", path, "--codec", "marshal"), "mine")
    assert found["fidelity"]["verdict"] == "changed"
    assert [change["what"] for change in found["fidelity"]["changes"]] == ["float → int"]


def test_absent_codecs_are_named_with_the_reason(monkeypatch):
    Path("orjson.py").write_text("raise ImportError('/some/where/orjson.so: not for this machine')")
    monkeypatch.setenv("PYTHONPATH", os.getcwd() + os.pathsep + os.environ.get("PYTHONPATH", ""))
    run = told("--data", "data.py:pairs", "--codec", "marshal", "--codec", "orjson")
    assert run["absent"] == [
        {"codec": "orjson", "reason": "can't be imported: orjson.so: not for this machine"}
    ]
    assert [each["codec"] for each in run["data_sets"][0]["outcomes"]] == ["marshal"]


def test_a_codec_whose_file_fails_is_told_at_once():
    done = bench(
        "--data", "data.py:pairs", "--codec", codec("pass", "pass", "no_such_module_anywhere"), code=2
    )
    assert "no_such_module_anywhere" in done.stderr and len(done.stderr.splitlines()) == 1


# --- wrong usage ---


@pytest.mark.parametrize(
    "args, message",
    [
        (["nothing"], "invalid value for '[SUITE]...': 'nothing' is not one of 'bakeoff'"),
        (["--data", "data.py"], "data.py needs the name of a function: data.py:FUNCTION"),
        (["--data", "data.py:missing"], "data.py has no function `missing`"),
        (["--data", "data.py:number"], "data.py has no function `number`"),
        (["--data", "missing.py:records"], "missing.py: no such file or directory"),
        (["--data", "missing.json"], "missing.json: no such file or directory"),
        (["--data", "data.py:pairs", "--codec", "nobody"], "no codec or package `nobody`"),
        (["--data", "data.py:pairs", "--codec", "data.py"], "data.py has no function `dumps`"),
        (["--data", "data.py:pairs", "--check"], "--check needs --history"),
        (
            ["--data", "data.py:pairs", "--csv", "no/such/folder.csv"],
            "no/such/folder.csv: no such file or directory",
        ),
        (["--data", "data.py:pairs", "--history", "data.py"], "data.py: "),
        (["--data", "old.pickle"], "old.pickle is a pickle, whose objects are made by code"),
    ],
)
def test_wrong_usage_is_told_in_a_line_before_anything_is_measured(args, message):
    Path("old.pickle").write_bytes(pickle.dumps([1]))
    done = bench(*args, code=2)
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    "function, reason", [("broken", "RuntimeError: the data can't"), ("crashing", "ends with code 3")]
)
def test_data_that_can_not_be_made_are_told(function, reason):
    done = bench("--data", f"data.py:{function}", "--codec", "marshal", code=2)
    assert f"the data can't be made: {reason}" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_codec_that_hangs_later_is_given_up():
    path = codec(
        "calls.append(1); len(calls) > 3 and time.sleep(60); return pickle.dumps(value)",
        "return pickle.loads(stored)",
        "pickle, time\ncalls = []",
    )
    run = told("--data", "data.py:pairs", "--codec", "marshal", "--codec", path, "--patience", "2")
    assert only_outcome(run, "mine")["fidelity"]["reason"] == "`dumps` takes longer than 2 s"


# --- what it writes ---


def test_the_table_marks_the_winner_among_those_that_keep_the_data():
    out = bench("--data", "data.py:pairs", "--codec", "holdall", "--codec", "json").stdout
    assert "★ of those that give back what was stored: dumps: holdall" in out
    (json_row,) = [line for line in out.splitlines() if line.startswith("│ json ")]
    assert "★" not in json_row and "≠ tuple → list" in json_row
    assert "holdall bench --data data.py:pairs" in out and sys.version.split()[0] in out


def test_csv_and_markdown():
    args = ("--data", "data.py:pairs", "--codec", "marshal", "--codec", "json")
    bench(*args, "--csv", "out.csv", "--markdown", "out.md")
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["codec"] for row in rows] == ["marshal", "json"]
    page = Path("out.md").read_text()
    assert "| marshal |" in page and "tuple → list" in page and "`holdall bench --data" in page
    assert {line.count("|") for line in page.splitlines() if line.startswith("| ")} == {7}


def test_a_history_is_compared_and_checked():
    args = ("--data", "data.py:pairs", "--codec", "holdall", "--history", "history.hold")
    assert "No earlier run" in bench(*args).stdout
    slowed(1000)  # the last run took a thousand times as long
    assert "faster" in bench(*args, "--check").stdout
    slowed(0.001)
    out = bench(*args, "--check", code=1).stdout
    assert "slower (noise" in out
    # A run that fails is not the one that the next is measured by.
    bench(*args, "--check", code=1)
    assert "slower (noise" in bench(*args).stdout


def slowed(factor: float) -> None:
    """The last run of the history, as if everything in it had taken `factor` times as long."""
    with holdall.Reader("history.hold") as log:
        (*_, run) = log
    for data in run["data_sets"]:
        for outcome in data["outcomes"]:
            for op in ("dumps", "loads"):
                for collector in ("on", "off"):
                    timing = outcome[op][collector]
                    timing["rounds"] = [ns * factor for ns in timing["rounds"]]
    os.remove("history.hold")
    with holdall.Writer("history.hold") as log:
        log.write(run)


def test_the_list_names_suites_data_sets_and_codecs():
    out = bench("--list", quick=False).stdout
    for name in (
        "bakeoff",
        "typed_messages",
        "tangled_pairs",
        "scaling",
        "PyYAML",
        "cbor2 sharing",
        "lower bound",
    ):
        assert name in out


def test_without_its_distribution_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert invoke("bench", "--list") == (
        2,
        "",
        "holdall: `holdall bench` is not installed: pip install 'holdall[bench]'\n",
    )
    # Its help and its completion do without.
    assert "measure formats on your own data" in invoke("--help").out


def test_it_has_the_version_of_the_library():
    assert holdall_bench.__version__ == holdall.__version__
