"""`holdall convert --engine dask`: a folder, what is refused in it, a stop in the middle, a worker that dies."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time
from typing import Any

from click.testing import CliRunner

import holdall
from holdall import bson
from holdall._cli._app import holdall as cli
from holdall._cli._convert_folder import JOURNAL

from .servers import Objects


class Opaque:
    def __reduce__(self) -> Any:
        return os.getcwd, ()


def filled(folder: pathlib.Path, count: int) -> pathlib.Path:
    """A folder of pickles, BSON dumps and JSON lines, some of which are damaged, or run code."""
    folder.mkdir()
    for number in range(count):
        rows = [{"id": number * 100 + i, "name": f"name {i}"} for i in range(20)]
        where = folder / f"day {number % 7}"
        where.mkdir(exist_ok=True)
        if number % 3 == 0:
            (where / f"{number}.pickle").write_bytes(pickle.dumps(rows))
        elif number % 3 == 1:
            (where / f"{number}.bson").write_bytes(b"".join(bson.dumps(row) for row in rows))
        else:
            (where / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "cut.pickle").write_bytes(pickle.dumps([1, 2, 3])[:-3])
    (folder / "code.pickle").write_bytes(pickle.dumps(Opaque()))
    (folder / "same.pickle").write_bytes(pickle.dumps([1]))
    (folder / "same.json").write_text("[2]", "utf-8")
    (folder / ".hidden.pickle").write_bytes(b"no")
    return folder


def ids(target: pathlib.Path) -> list[int]:
    found = []
    for path in target.rglob("*.hold"):
        if path.parent != target:
            many = holdall.Reader(path) if holdall.file_kind(path) == "log" else holdall.load(path)
            found += [record["id"] for record in many]
    return sorted(found)


def expected(count: int) -> list[int]:
    return sorted(number * 100 + i for number in range(count) for i in range(20))


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(cli, ["convert", *map(str, arguments), "--engine", "dask", "--workers", "2"])


def test_a_folder(tmp_path: pathlib.Path) -> None:
    source, target = filled(tmp_path / "in", 60), tmp_path / "out"
    done = run(source, target)
    assert done.exit_code == 1, done.output
    assert "62 of 64 files converted" in done.output and "2 refused" in done.output
    assert "cut.pickle: " in done.output and "code.pickle: " in done.output
    assert ids(target) == expected(60)
    assert holdall.load(target / "same.pickle.hold") == [1] and holdall.load(target / "same.json.hold") == [2]
    told = [json.loads(line) for line in (target / JOURNAL).read_text("utf-8").splitlines()]
    assert len(told) == 64 and sum(one["refused"] is not None for one in told) == 2
    # Again: nothing but what was refused.
    (source / "cut.pickle").write_bytes(pickle.dumps([1, 2, 3]))
    (source / "day 0" / "0.pickle").write_bytes(pickle.dumps([{"id": -1}]))
    kept = (target / "day 1" / "1.hold").stat().st_mtime_ns
    done = run(source, target)
    assert "63 of 64 files converted, 61 of them in an earlier run" in done.output, done.output
    assert holdall.load(target / "cut.hold") == [1, 2, 3] and holdall.load(target / "day 0" / "0.hold") == [
        {"id": -1}
    ]
    assert (target / "day 1" / "1.hold").stat().st_mtime_ns == kept


def test_what_is_asked_wrongly(tmp_path: pathlib.Path) -> None:
    source = filled(tmp_path / "in", 1)
    for arguments, why in [
        ([tmp_path / "nothing", tmp_path / "out"], "it is no folder"),
        ([source, source / "out"], "within the folder"),
    ]:
        done = run(*arguments)
        assert done.exit_code and why in done.output
    done = CliRunner().invoke(cli, ["convert", str(source), str(tmp_path / "out")])
    assert done.exit_code and "--engine dask converts all files" in done.output
    done = CliRunner().invoke(cli, ["convert", "a", "b", "--workers", "2"])
    assert done.exit_code and "--workers is for --engine dask" in done.output


def test_a_stop_in_the_middle_and_a_worker_that_dies(tmp_path: pathlib.Path) -> None:
    count = 1000
    source, target = filled(tmp_path / "in", count), tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "holdall",
        "convert",
        str(source),
        str(target),
        "--engine",
        "dask",
        "--workers",
        "2",
    ]
    journal = target / JOURNAL
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b"\n") > 200):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        running.wait(60)
    before = journal.read_bytes().count(b"\n")
    assert 200 < before < count
    with journal.open("ab") as file:
        file.write(b'{"source": "cut sh')
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        while time.monotonic() < until + 60 and journal.read_bytes().count(b"\n") < before + 100:
            time.sleep(0.01)
        for worker in children(running.pid)[:1]:
            os.kill(worker, signal.SIGKILL)
        output = running.communicate(timeout=240)[0]
    assert running.returncode == 1, output
    assert (
        f"{count + 2:,} of {count + 4:,} files converted" in output and "of them in an earlier run" in output
    )
    assert ids(target) == expected(count)
    assert not list(target.rglob(".*.tmp"))


def children(process: int) -> list[int]:
    """The worker processes of a cluster: those that were spawned to run one."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == process and b"spawn_main" in (path.parent / "cmdline").read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_what_a_url_names(web: Objects, tmp_path: pathlib.Path) -> None:
    rows = [{"id": number, "name": "x" * 50} for number in range(20_000)]
    for name, data in {
        "rows.pickle": pickle.dumps(rows),
        "rows.bson": b"".join(bson.dumps(row) for row in rows),
        "rows.hold": holdall.dumps(rows),
    }.items():
        url, target = web.put(f"/dumps/{name}", data), tmp_path / f"{name}.hold"
        done = CliRunner().invoke(cli, ["convert", url, str(target)])
        assert done.exit_code == 0, done.output
        many = holdall.Reader(target) if name == "rows.bson" else holdall.load(target)
        assert list(many) == rows
    refused = CliRunner().invoke(cli, ["convert", web.url + "/none.pickle", str(tmp_path / "none.hold")])
    assert refused.exit_code == 2
    refused = CliRunner().invoke(
        cli, ["convert", web.put("/cut.pickle", pickle.dumps(rows)[:-9]), str(tmp_path / "cut.hold")]
    )
    assert refused.exit_code == 2
    # Nothing of what was brought is left.
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "rows.bson.hold",
        "rows.hold.hold",
        "rows.pickle.hold",
    ]


def test_a_folder_elsewhere(tmp_path: pathlib.Path) -> None:
    source, target = filled(tmp_path / "in", 30), tmp_path / "out"
    arguments = ["convert", f"file://{source}/", str(target), "--engine", "dask", "--workers", "2"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 1 and "32 of 34 files converted" in done.output
    assert ids(target) == expected(30)
    again = CliRunner().invoke(cli, arguments)
    assert "32 of 34 files converted, 32 of them in an earlier run" in again.output
    next((source / "day 1").glob("*.jsonl")).write_text('{"id": -1}\n', "utf-8")
    again = CliRunner().invoke(cli, arguments)
    assert "31 of them in an earlier run" in again.output and min(ids(target)) == -1


def test_objects_whose_names_lead_out_of_the_folder(monkeypatch: Any, tmp_path: pathlib.Path) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    def found(*args: Any, **options: Any) -> Any:
        return {"/dumps/../../etc/a.json": {"size": 1, "name": "a"}}

    monkeypatch.setattr(MemoryFileSystem, "find", found)
    refused = CliRunner().invoke(
        cli, ["convert", "memory://dumps", str(tmp_path / "out"), "--engine", "dask"]
    )
    assert refused.exit_code == 2 and "name is no path" in refused.output
