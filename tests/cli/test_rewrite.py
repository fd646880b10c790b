"""`holdall rewrite`: what is stored anew, what is left as it was, and that a stop in the middle loses nothing."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

pytest.importorskip("click")

import holdall
from tests.support.cli import run

CODE = """
import holdall, os, time
from dataclasses import dataclass

@holdall.register(renames={"label": "title"})
@dataclass
class Order:
    id: int
    title: str
"""


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("shop.py").write_text(CODE)
    return tmp_path


def old(number):
    return holdall.Record("shop.Order", {"id": number, "label": f"order {number}"})


def fields(path):
    """The names of the fields of what a file holds."""
    found = holdall.load(path, types=holdall.Record)
    return [*(found[0] if isinstance(found, list) else found).fields]


def rewrite(*args, **environment):
    return run("rewrite", "--code", "shop", *args, **environment)


def hidden():
    """What is left beside the files."""
    return [str(each) for each in pathlib.Path().rglob(".*") if each.name != ".pytest_cache"]


def test_a_file_is_stored_as_the_code_does_today():
    holdall.dump([old(1)], "v.hold")
    os.chmod("v.hold", 0o640)
    before, size = pathlib.Path("v.hold").read_bytes(), os.path.getsize("v.hold")
    assert rewrite("v.hold", "--dry-run") == (0, f"v.hold: would be rewritten ({size} -> {size} bytes)\n", "")
    assert pathlib.Path("v.hold").read_bytes() == before and hidden() == []
    assert rewrite("v.hold") == (0, f"v.hold: rewritten ({size} -> {size} bytes)\n", "")
    assert fields("v.hold") == ["id", "title"] and os.stat("v.hold").st_mode & 0o777 == 0o640
    time_before = os.stat("v.hold").st_mtime_ns
    assert rewrite("v.hold") == (0, "v.hold: unchanged\n", "")
    assert os.stat("v.hold").st_mtime_ns == time_before and hidden() == []


def test_logs_messages_and_compression():
    with holdall.Writer("log.hold", compress="zstd") as log:
        for number in range(300):
            log.write([old(number), "x" * 500])
    pathlib.Path("message.hold").write_bytes(holdall.dumps([old(1)]))
    holdall.dump([old(1), "x" * 10_000], "packed.hold", compress="lz4")
    size = os.path.getsize("log.hold")
    done = rewrite("log.hold", "message.hold", "packed.hold")
    assert done.code == 0 and done.out.count("rewritten") == 3
    records = [*holdall.Reader("log.hold", types=holdall.Record)]
    assert [record[0].fields["title"] for record in records] == [f"order {number}" for number in range(300)]
    assert holdall.file_kind("log.hold") == "log" and os.path.getsize("log.hold") < 1.1 * size
    assert holdall.file_kind("message.hold") == "message" and fields("message.hold") == ["id", "title"]
    assert os.path.getsize("packed.hold") < 1000 and fields("packed.hold") == ["id", "title"]


@pytest.mark.skipif(os.name != "posix", reason="logs are locked on POSIX systems")
def test_a_log_that_is_written_to_is_left_alone():
    with holdall.Writer("log.hold") as log:
        log.write(old(1))
        log.flush()
        done = rewrite("log.hold")
        assert done == (2, "", "holdall: log.hold: another writer has the log open\n")


def test_a_link_stays_one():
    holdall.dump(old(1), "v.hold")
    os.symlink("v.hold", "link.hold")
    assert rewrite("link.hold").code == 0
    assert os.path.islink("link.hold") and fields("v.hold") == ["id", "title"]


def test_folders_and_formats_without_names():
    os.makedirs("data/deep/.hidden")
    for number, place in enumerate(
        ("data/a.hold", "data/deep/b.hold", "data/deep/.hidden/c.hold", "data/.d.hold")
    ):
        holdall.dump(old(number), place)
    holdall.msgpack.dump({"id": 1, "title": "x", "more": 1}, "data/e.msgpack")
    with open("data/f.bson", "wb") as file:
        file.writelines(holdall.bson.dumps({"id": number, "title": "x", "more": 1}) for number in range(3))
    pathlib.Path("data/notes.txt").write_text("")
    done = rewrite("data", "data/a.hold")
    assert [line.partition(": ")[0] for line in done.out.splitlines()] == ["data/a.hold", "data/deep/b.hold"]
    assert fields("data/deep/.hidden/c.hold") == ["id", "label"] == fields("data/.d.hold")
    done = rewrite("data/e.msgpack")
    message = "msgpack stores no names of classes: say which type it holds, by --type MODULE:NAME"
    assert done == (2, "", f"holdall: data/e.msgpack: {message}\n")
    done = rewrite("data/e.msgpack", "data/f.bson", "--type", "shop:Order")
    assert done.code == 0 and done.out.count("rewritten") == 2
    assert holdall.msgpack.load("data/e.msgpack") == {"id": 1, "title": "x"}
    assert [*holdall.bson.documents("data/f.bson")] == [{"id": number, "title": "x"} for number in range(3)]
    assert (
        "--type shop:None_such: expected MODULE:NAME"
        in rewrite("data/f.bson", "--type", "shop:None_such").err
    )


def test_what_does_not_come_back_stays_as_it_was():
    pathlib.Path("shop.py").write_text(
        CODE
        + "holdall.register(Order, encode=lambda it: it.id + 1, decode=lambda number: Order(number, ''))\n"
    )
    holdall.dump({"plain": 1}, "plain.hold")
    with holdall.Writer("log.hold") as log:
        log.write(1)
        log.write(holdall.loads(_custom(5), types=holdall.Record))
    before = pathlib.Path("log.hold").read_bytes()
    done = rewrite("log.hold", "plain.hold")
    assert done.code == 1 and done.out == "plain.hold: unchanged\n"
    assert done.err == (
        "holdall: log.hold: what was written does not load to what was loaded in record 1: the file stays as it was; "
        "a function `same(old, new)` in `shop` may say that it is right\n"
    )
    assert pathlib.Path("log.hold").read_bytes() == before and hidden() == [".holdall-rewrite"]
    # By the module's word.
    with open("shop.py", "a") as file:
        file.write("def same(old, new):\n    return old == new or old.id + 1 == new.id\n")
    assert rewrite("log.hold").code == 0 and pathlib.Path("log.hold").read_bytes() != before
    assert hidden() == []


def _custom(value):
    """A message of an instance that a registered `encode` stored."""

    class Order:
        pass

    holdall.register(Order, name="shop.Order", encode=lambda it: value, decode=lambda value: Order())
    data = holdall.dumps(Order())
    # So that it comes as a record here.
    holdall.register(Order, name=f"forgotten.{id(Order)}")
    return data


def test_errors_name_the_file_and_the_others_go_on():
    for name in "abc":
        holdall.dump(old(1), f"{name}.hold")
    holdall.dump(holdall.Record("shop.Gone", {}), "a.hold")
    with open("b.hold", "r+b") as file:
        file.truncate(30)
    done = rewrite("a.hold", "b.hold", "c.hold")
    assert done.code == 2 and done.out.startswith("c.hold: rewritten")
    unknown, damaged = done.err.splitlines()
    assert unknown.startswith("holdall: a.hold: `shop.Gone` is not permitted here") and "b.hold: " in damaged
    pathlib.Path("shop.py").write_text(
        CODE + "holdall.register(Order, version=2, upgrade=lambda fields, version: 1 / 0)\n"
    )
    holdall.dump(old(1), "d.hold")
    assert rewrite("d.hold").err == (
        "holdall: d.hold: a function of the program's raised ZeroDivisionError: load the file in Python to see where\n"
    )


def test_several_processes():
    os.mkdir("data")
    for number in range(8):
        holdall.dump(old(number), f"data/{number}.hold")
    done = rewrite("data", "--jobs", "2")
    assert done.code == 0 and done.err == "" and done.out.count("rewritten") == 8
    assert all(fields(f"data/{number}.hold") == ["id", "title"] for number in range(8)) and hidden() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_and_resumed(jobs):
    """Whatever was being done, each file is whole; what was done is passed over, and nothing is left in the end."""
    # From the fifth file on it waits, so that the stop is in the middle whatever else the machine does.
    waits = "    while old[0].id > 11 and not os.path.exists('go'):\n        time.sleep(0.01)\n"
    pathlib.Path("shop.py").write_text(f"{CODE}def same(old, new):\n{waits}    return old == new\n")
    os.mkdir("data")
    for number in range(24):
        holdall.dump([old(number)], f"data/{number}.hold")
    command = [sys.executable, "-m", "holdall", "rewrite", "data", "--code", "shop", "--jobs", str(jobs)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    journal = pathlib.Path(".holdall-rewrite")
    end = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.001)
    # The whole group: workers too.
    os.killpg(process.pid, 9)
    process.wait()
    done = journal.read_bytes().count(b"\n")
    found = [fields(f"data/{number}.hold") for number in range(24)]
    assert all(each in (["id", "label"], ["id", "title"]) for each in found)
    rewritten = found.count(["id", "title"])
    # What is renamed and not yet in the journal is compared once more.
    assert 3 <= done <= rewritten <= done + 2 * jobs and rewritten < 24
    # A line that was cut short, and a file that was changed since.
    with journal.open("ab") as file:
        file.write(b'["/x", 1')
    first = json.loads(journal.read_bytes().splitlines()[0])[0]
    holdall.dump([old(77)], first)
    pathlib.Path("go").touch()
    again = rewrite("data", "--jobs", jobs)
    assert again.code == 0 and again.out.count("done before") == done - 1
    assert again.out.count(": rewritten") == 24 - rewritten + 1
    assert all(fields(f"data/{number}.hold") == ["id", "title"] for number in range(24)) and hidden() == []


def test_the_journal_is_of_one_code():
    holdall.dump([old(1)], "a.hold")
    holdall.dump(holdall.Record("shop.Gone", {}), "b.hold")
    assert rewrite("a.hold", "b.hold").code == 2
    assert rewrite("a.hold", "b.hold").out == "a.hold: done before\n"
    with open("shop.py", "a") as file:
        file.write("    note: str = ''\n")
    assert ": rewritten" in rewrite("a.hold", "b.hold").out
    assert fields("a.hold") == ["id", "title", "note"]


def test_wrong_usage():
    holdall.dump(1, "v.hold")
    message = "rewrite: name the modules that register your classes, by --code"
    assert run("rewrite", "v.hold") == (2, "", f"holdall: {message}\n")
    pathlib.Path("v.json").write_text("1")
    assert (
        rewrite("v.json").err == "holdall: v.json: json is not rewritten: only hold, bson, julia, msgpack\n"
    )
    assert run("rewrite", "none.hold", "--code", "shop").code == 2
