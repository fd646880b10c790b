"""The commands: what they print, where, and how they end."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("click")

import holdall
from tests.support import extent
from tests.support.cli import invoke, run, write_all, write_log


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


NAME = f"{__name__}.Point"


# --- all of them ---


def test_help_says_how_to_use_each_command():
    whole = invoke("--help")
    assert whole.code == 0 and "Exit codes:" in whole.out
    for name in ("cat", "get", "convert", "diff", "verify", "completion"):
        assert f"\n  {name} " in whole.out
        one = invoke(name, "-h")
        assert one.code == 0 and f"Usage: holdall {name} " in one.out
        assert "\n  Example" in one.out and f"holdall {name} " in one.out.split("Example")[1]


def test_version():
    assert invoke("--version") == (0, f"holdall {holdall.__version__}\n", "")


@pytest.mark.parametrize(
    "args, message",
    [
        ("", ""),
        ("ct x", "no command `ct`: did you mean `cat`?"),
        ("nothing", "no command `nothing`; `holdall --help` lists them"),
        ("cat", "cat: missing argument 'FILE'; see `holdall cat --help`"),
        ("cat missing", "missing: no such file or directory"),
        ("cat . ", "cat: invalid value for 'FILE': File '.' is a directory; see `holdall cat --help`"),
        ("--colour x", "no such option"),
        ("get x a..b", "expected a name at character 3 of the path"),
        ("convert missing x.hold", "missing: no such file or directory"),
        ("diff missing missing", "missing: no such file or directory"),
        ("verify missing", "missing: no such file or directory"),
    ],
)
def test_wrong_usage_is_one_line(args, message):
    done = invoke(*args.split())
    assert done.code == (2 if message else done.code)
    if message:
        assert done.out == ""
        assert done.err.split(":")[0] == "holdall" and done.err.count("\n") == 1
        # click's own words differ between its versions.
        assert message.split("File ")[0] in done.err.replace(": --", " '--")


def test_a_file_that_is_damaged_is_one_line_with_the_offset():
    with open("bad.bson", "wb") as file:
        file.write(holdall.bson.dumps({"a": 1})[:-1] + b"x")
    with open("bad.json", "w") as file:
        file.write('{"a": ')
    with open("bad.pickle", "wb") as file:
        file.write(b"\x80\x04]")
    with open("bad.msgpack", "wb") as file:
        file.write(b"\x93\x01")
    with open("bad.hold", "wb") as file:
        file.write(b"\xc1\xc4\x01")
    for path in ("bad.bson", "bad.json", "bad.pickle", "bad.msgpack", "bad.hold"):
        for args in (
            ["cat", path],
            ["get", path, "a"],
            ["convert", path, "new.msgpack"],
            ["diff", path, path],
        ):
            done = invoke(*args)
            assert (done.code, done.out) == (2, ""), args
            assert done.err.startswith(f"holdall: {path}: ") and done.err.count("\n") == 1
            assert done.err.endswith(")\n") and " (offset " in done.err
    assert not os.path.exists("new.msgpack")


def test_trusted_messages_are_never_loaded():
    with open("t.hold", "wb") as file:
        file.write(holdall.dumps(os.system, trust=True))
    done = invoke("cat", "t.hold")
    assert done == (
        2,
        "",
        "holdall: t.hold: a trusted message, which may import and call: this command never loads those (offset 0)\n",
    )


def test_names_of_files_make_no_lines():
    done = invoke("cat", "a\nb\x1b[31m")
    assert done.code == 2 and done.err.count("\n") == 1 and "\x1b" not in done.err


def test_colours():
    holdall.bson.dump({"a": 1}, "v.bson")
    assert invoke("cat", "v.bson").out == "{'a': 1}\n"
    coloured = invoke("--color", "always", "cat", "v.bson").out
    assert "\x1b[36m1\x1b[0m" in coloured
    assert invoke("--color", "never", "cat", "v.bson").out == "{'a': 1}\n"
    assert "\x1b" in invoke("--color", "always", "cat", "missing").err
    assert "\x1b" not in invoke("--color", "never", "cat", "missing", color=True).err


def test_colours_on_a_terminal(monkeypatch):
    from holdall._cli._app import Output

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert Output("auto").has_color(terminal) and not Output("never").has_color(terminal)
    assert not Output("auto").has_color(SimpleNamespace(isatty=lambda: False))
    monkeypatch.setenv("TERM", "dumb")
    assert not Output("auto").has_color(terminal) and Output("always").has_color(terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Output("auto").has_color(terminal) and Output("always").has_color(terminal)


# --- cat ---


def test_cat_prints_python_of_every_format():
    for path in write_all({"a": [1, None], "b": {"c": "x"}}):
        assert invoke("cat", path) == (0, "{'a': [1, None], 'b': {'c': 'x'}}\n", "")
        assert invoke("cat", path, "--json") == (0, '{"a": [1, null], "b": {"c": "x"}}\n', "")


def test_cat_finds_the_format_by_content():
    for path in write_all({"a": [1, 2.5]}):
        os.rename(path, "plain")
        assert invoke("cat", "plain") == (0, "{'a': [1, 2.5]}\n", ""), path
    with open("plain", "wb") as file:
        file.write(holdall.dumps([1]))
    assert invoke("cat", "plain").out == "[1]\n"
    for protocol in range(6):
        with open("plain", "wb") as file:
            pickle.dump([1, "a"], file, protocol)
        assert invoke("cat", "plain").out == "[1, 'a']\n"
    for data, out in [
        (b" \n[1]", "[1]\n"),
        (b"\x93\x01\x02\x03", "[1, 2, 3]\n"),
        (b"12", "12\n"),
        (b"\xd1\x01\x00", "256\n"),
    ]:
        with open("plain", "wb") as file:
            file.write(data)
        assert invoke("cat", "plain").out == out


def test_cat_tells_julias_bson_from_mongodbs():
    holdall.julia.dump({"r": holdall.julia.Ref(5)}, "j.bson")
    holdall.bson.dump({"tag": "symbol of nothing"}, "m.bson")
    assert invoke("cat", "j.bson").out == "{'r': Ref(x=5)}\n"
    assert invoke("cat", "m.bson").out == "{'tag': 'symbol of nothing'}\n"
    assert (
        invoke("cat", "j.bson", "--from", "bson").out.startswith("{\n  'r': {'tag': 'struct'")
        or "'tag'" in invoke("cat", "j.bson", "--from", "bson").out
    )


def test_cat_prints_every_record():
    write_log({"n": 0}, {"n": 1}, {"n": 2})
    with open("log.bson", "wb") as file:
        file.writelines(holdall.bson.dumps({"n": n}) for n in range(3))
    with open("log.msgpack", "wb") as file:
        file.writelines(holdall.msgpack.dumps({"n": n}) for n in range(3))
    with open("log.jsonl", "w") as file:
        file.write('{"n": 0}\n\n{"n": 1}\n{"n": 2}')
    with open("log.pickle", "wb") as file:
        for n in range(3):
            pickle.dump({"n": n}, file)
    for path in ("log.hold", "log.bson", "log.msgpack", "log.jsonl", "log.pickle"):
        assert invoke("cat", path).out == "{'n': 0}\n{'n': 1}\n{'n': 2}\n", path
        assert invoke("cat", path, "--json", "--start", 1).out == '{"n": 1}\n{"n": 2}\n'
        assert invoke("cat", path, "--limit", 1).out == "{'n': 0}\n"
        assert invoke("cat", path, "--start", 2, "--limit", 5).out == "{'n': 2}\n"
        assert invoke("cat", path, "--start", 9) == (0, "", "")
        assert invoke("cat", path, "--limit", 0) == (0, "", "")


def test_lines_of_json_under_another_name():
    with open("log.json", "w") as file:
        file.write('{"n": 0}\n{"n": 1}\n')
    done = invoke("cat", "log.json")
    assert done == (
        2, "", "holdall: log.json: not JSON: extra data; lines of JSON are `--from jsonl` (offset 9)\n"
    )  # fmt: skip
    assert invoke("cat", "log.json", "--from", "jsonl").out == "{'n': 0}\n{'n': 1}\n"


def test_cat_prints_what_is_whole_before_the_error():
    with open("log.bson", "wb") as file:
        file.write(holdall.bson.dumps({"n": 0}) + holdall.bson.dumps({"n": 1})[:-3])
    done = invoke("cat", "log.bson")
    assert (done.code, done.out) == (2, "{'n': 0}\n")
    assert done.err.startswith("holdall: log.bson: truncated") and done.err.count("\n") == 1


def test_cat_shows_instances_as_records():
    holdall.dump([Point(1, [2])], "p.hold")
    assert invoke("cat", "p.hold").out == f"[{NAME}(x=1, y=[2])]\n"
    assert json.loads(invoke("cat", "p.hold", "--json").out) == [
        {"$record": {"x": 1, "y": [2]}, "type": NAME}
    ]
    with open("p.pickle", "wb") as file:
        pickle.dump([Point(1, [2])], file)
    refused = invoke("cat", "p.pickle")
    assert (
        refused.code == 2
        and f"`{NAME}`" in refused.err
        and "--records" in refused.err
        and "(offset " in refused.err
    )
    assert invoke("cat", "p.pickle", "--records").out == f"[{NAME}(x=1, y=[2])]\n"


def test_cat_of_a_log_takes_constant_memory():
    with open("log.bson", "wb") as file:
        record = holdall.bson.dumps({"text": "x" * 10_000})
        for _ in range(2000):
            file.write(record)
    import tracemalloc

    tracemalloc.start()
    done = invoke("cat", "log.bson", "--json", "--start", 1990)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.code == 0 and most < 5 << 20


# --- get ---


def test_get_prints_a_member():
    for path in write_all({"users": [{"name": "Ann"}, {"name": "Bob", "tags": ["a"]}], "odd key": {"b": 1}}):
        assert invoke("get", path, "users[1].name") == (0, "'Bob'\n", "")
        assert invoke("get", path, "$.users[-1].tags").out == "['a']\n"
        assert invoke("get", path, '["odd key"]', "--json").out == '{"b": 1}\n'
        assert json.loads(invoke("get", path, "$", "--json").out)["odd key"] == {"b": 1}
        done = invoke("get", path, "users[1].nam.x")
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(
            f"holdall: {path}: nothing at $.users[1].nam: the dict there has name, tags"
        )
        assert invoke("get", path, "users[2]").code == invoke("get", path, "users.name").code == 1


def test_get_of_records_begins_with_a_number():
    write_log({"n": 0}, {"n": [5]})
    with open("log.msgpack", "wb") as file:
        file.write(holdall.msgpack.dumps({"n": 0}) + holdall.msgpack.dumps({"n": [5]}))
    for path in ("log.hold", "log.msgpack"):
        assert invoke("get", path, "[1].n[0]").out == "5\n"
        assert (
            invoke("get", path, "[1].n[1]").err
            == f"holdall: {path}: nothing at $[1].n[1]: the list there has 1 items\n"
        )
        assert invoke("get", path, "[2].n") == (
            1,
            "",
            f"holdall: {path}: nothing at $[2]: there are fewer records\n",
        )
        done = invoke("get", path, "n")
        assert done.code == 2 and "several records" in done.err


def test_get_reads_nothing_else():
    # What is asked for is whole; the text behind it is not.
    data = bytearray(holdall.bson.dumps({"a": {"b": 5}, "z": "text"}))
    data[data.index(b"text")] = 0xFF
    with open("v.bson", "wb") as file:
        file.write(data)
    assert invoke("get", "v.bson", "a.b") == (0, "5\n", "")
    assert invoke("cat", "v.bson").code == 2


# --- diff ---


def test_diff_of_equal_files_is_silent():
    paths = write_all({"a": [1, None], "b": {"c": "x"}})
    for path in paths:
        assert invoke("diff", paths[0], path) == (0, "", "")


def test_diff_prints_each_difference():
    holdall.dump({"a": [1, 2], "b": {"c": "x"}, "d": 1}, "a.hold")
    holdall.bson.dump({"a": [1, 3, 4], "b": {"c": "y"}, "e": None}, "b.bson")
    done = invoke("diff", "a.hold", "b.bson")
    assert done == (1, "~ $.a[1]: 2 -> 3\n+ $.a[2]: 4\n~ $.b.c: 'x' -> 'y'\n- $.d: 1\n+ $.e: None\n", "")
    lines = [json.loads(line) for line in invoke("diff", "a.hold", "b.bson", "--json").out.splitlines()]
    assert lines[0] == {"path": "$.a[1]", "kind": "changed", "old": "2", "new": "3"}
    assert lines[1] == {"path": "$.a[2]", "kind": "added", "new": "4"}
    assert lines[3] == {"path": "$.d", "kind": "removed", "old": "1"}
    assert invoke("diff", "a.hold", "b.bson", "--limit", 1) == (1, "~ $.a[1]: 2 -> 3\nmore differences\n", "")


def test_diff_tells_types_apart():
    holdall.dump({"a": (1,), "b": 1}, "a.hold")
    holdall.dump({"a": [1], "b": True}, "b.hold")
    assert invoke("diff", "a.hold", "b.hold").out == (
        "! $.a: tuple became list ((1,) -> [1])\n! $.b: int became bool (1 -> True)\n"
    )


def test_diff_shortens_values():
    holdall.msgpack.dump({"a": "x" * 500 + "1" + "z" * 500}, "a.msgpack")
    holdall.msgpack.dump({"a": "x" * 500 + "2" + "z" * 500}, "b.msgpack")
    done = invoke("diff", "a.msgpack", "b.msgpack")
    assert done.code == 1 and len(done.out) < 200
    assert "1zzz" in done.out and "2zzz" in done.out


def test_diff_of_records():
    write_log({"n": 0}, {"n": 1})
    write_log({"n": 0}, {"n": 2}, {"n": 3}, path="new.hold")
    assert invoke("diff", "log.hold", "new.hold") == (1, "~ $[1].n: 1 -> 2\n+ $[2]: {'n': 3}\n", "")


# --- verify ---


def test_verify_says_ok_or_where_the_damage_is():
    content = {"a": [1, None], "b": {"c": "x"}}
    paths = write_all(content)
    done = invoke("verify", *paths)
    assert done.code == 0 and done.err == ""
    assert [line.split(" (")[0] for line in done.out.splitlines()] == [f"{path}: ok" for path in paths]
    assert invoke("verify", "--quiet", *paths) == (0, "", "")
    with open("bad.bson", "wb") as file:
        file.write(holdall.bson.dumps(content) + holdall.bson.dumps(content)[:-1] + b"x")
    done = invoke("verify", "v.bson", "bad.bson", "v.json")
    assert done.code == 1 and len(done.out.splitlines()) == 3
    line = done.out.splitlines()[1]
    size = len(holdall.bson.dumps(content))
    assert line.startswith("bad.bson: damaged: ") and "in record 1" in line
    assert size <= int(line.split("(offset ")[1].rstrip(")")) <= 2 * size


def test_verify_goes_on_after_a_file_that_is_missing():
    holdall.bson.dump({"a": 1}, "v.bson")
    done = invoke("verify", "missing", "v.bson")
    assert done == (2, "v.bson: ok (bson)\n", "holdall: missing: no such file or directory\n")


def test_verify_finds_a_damaged_hold_file():
    holdall.dump({"a": "text"}, "v.hold")
    with open("v.hold", "rb") as file:
        data = bytearray(file.read())
    data[data.index(b"text")] ^= 1
    with open("v.hold", "wb") as file:
        file.write(data)
    done = invoke("verify", "v.hold")
    assert done.code == 1 and done.out.startswith("v.hold: damaged: ") and "(offset " in done.out


def test_verify_tells_what_a_report_says(monkeypatch):
    asked = []
    damage = [
        SimpleNamespace(offset=1000, size=24, reason="checksum mismatch"),
        SimpleNamespace(offset=2000, size=7, reason="truncated"),
    ]
    report = SimpleNamespace(
        ok=False, kind="log", frames=9, records=7, bytes=2007, damage=damage, repaired=None
    )
    monkeypatch.setattr(
        holdall,
        "verify",
        lambda path, repair=False, progress=None, seal=None: asked.append(repair) or report,
        raising=False,
    )
    write_log({"n": 1})
    text = "log.hold: damaged: checksum mismatch (24 bytes) (offset 1000)\nlog.hold: damaged: truncated (7 bytes) (offset 2000)\n"
    assert invoke("verify", "log.hold") == (1, text, "")
    assert invoke("verify", "log.hold", "--repair") == (
        1,
        text,
        "holdall: log.hold: it can't be repaired: only logs can\n",
    )
    report.repaired = "31 bytes cut off"
    assert invoke("verify", "log.hold", "--repair") == (
        0,
        text + "log.hold: repaired: 31 bytes cut off\n",
        "",
    )
    report.ok, report.damage, report.repaired = True, [], None
    assert invoke("verify", "log.hold") == (0, "log.hold: ok (log, 7 records, 9 frames, 2,007 bytes)\n", "")
    assert asked == [False, True, True, False]


def test_verify_repairs_a_torn_log():
    write_log(*({"n": n} for n in range(5)))
    with open("log.hold", "rb+") as file:
        file.truncate(os.path.getsize("log.hold") - 3)
    assert invoke("verify", "log.hold").code == 1
    assert invoke("verify", "log.hold", "--repair").code == 0
    assert invoke("verify", "log.hold").code == 0
    assert invoke("cat", "log.hold").out == "{'n': 0}\n{'n': 1}\n{'n': 2}\n{'n': 3}\n"


# --- any bytes ---


def damaged(data, seed):
    """Some bytes of a file changed, cut out or put in."""
    chance = random.Random(seed)
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        kind = chance.randrange(3)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randint(1, 8)]
        else:
            data[at:at] = chance.randbytes(chance.randint(1, 4))
        data = data or bytearray(b"x")
    return bytes(data)


@pytest.mark.damage
@pytest.mark.parametrize("extension", ["hold", "bson", "msgpack", "julia", "json", "pickle", ""])
def test_damaged_files_never_end_in_a_traceback(extension):
    originals = {}
    for path in write_all({"a": [1, None, 2.5, "x" * 40], "b": {"c": {"$tuple": [1]}, "d": b"xyz".hex()}}):
        with open(path, "rb") as file:
            originals[path.split(".")[1]] = file.read()
    for seed in range(150 if extent.full else 50):
        data = originals[extension or random.Random(seed).choice(sorted(originals))]
        with open(f"bad.{extension}" if extension else "bad", "wb") as file:
            file.write(damaged(data, seed))
        path = file.name
        form = ["--from", "julia"] if extension == "julia" else []
        for args in (
            ["cat", path, "--json"],
            ["cat", path],
            ["get", path, "a[1]"],
            ["verify", path],
            ["diff", path, "v.json"],
        ):
            done = invoke(*args, *(form if args[0] != "diff" else ["--from-a", "julia"] if form else []))
            assert done.code in (0, 1, 2), (seed, args, done)
            assert "internal error" not in done.err, (seed, args, done)
            assert done.err.count("\n") <= 1


# --- in a process of its own ---


def test_it_runs_as_a_module():
    holdall.bson.dump({"a": "é"}, "v.bson")
    assert run("cat", "v.bson") == (0, "{'a': 'é'}\n", "")
    holdall.bson.dump({"a": "e"}, "w.bson")
    assert run("diff", "v.bson", "w.bson") == (1, "~ $.a: 'é' -> 'e'\n", "")
    assert run("cat", "missing") == (2, "", "holdall: missing: no such file or directory\n")
    assert run("--version").out == f"holdall {holdall.__version__}\n"


def test_text_that_the_terminal_can_not_show():
    holdall.msgpack.dump(["é"], "v.msgpack")
    assert run("cat", "v.msgpack", PYTHONUTF8="0", PYTHONIOENCODING="ascii") == (0, "['\\xe9']\n", "")


def test_without_click_it_says_what_to_install():
    program = "import sys; sys.modules['click'] = None; from holdall._cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "holdall: the command line needs click and rich: pip install 'holdall[cli]'\n"


def test_help_imports_no_command():
    program = (
        "import sys; sys.argv = ['holdall', '--help']\nfrom holdall._cli import main\ntry: main()\nexcept SystemExit: pass\n"
        "print(*[name for name in sys.modules if name.startswith('holdall._cli.')], 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert set(done.stdout.splitlines()[-1].split()) == {
        "holdall._cli._app",
        "holdall._cli._paths",
        "False",
    }


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_that_closes_ends_it_quietly():
    with open("log.jsonl", "w") as file:
        file.writelines(f'{{"n": {n}}}\n' for n in range(20_000))
    reading = subprocess.Popen(
        [sys.executable, "-m", "holdall", "cat", "log.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert reading.stdout.readline() == b"{'n': 0}\n"
    reading.stdout.close()
    errors = reading.stderr.read()
    reading.stderr.close()
    assert (reading.wait(60), errors) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_it_with_130():
    with open("log.jsonl", "w") as file:
        file.writelines(f'{{"n": {n}}}\n' for n in range(20_000))
    running = subprocess.Popen(
        [sys.executable, "-m", "holdall", "cat", "log.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, they ignore it, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # It waits, as nobody reads the rest.
    assert running.stdout.readline() == "{'n': 0}\n"
    running.send_signal(signal.SIGINT)
    errors = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and errors.strip() == "holdall: interrupted"


def test_a_progress_bar_only_where_someone_looks(monkeypatch):
    from holdall._cli import _progress

    with _progress.progress("v.hold") as report:
        assert report is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(_progress, "_AFTER_SECONDS", 0)
    with _progress.progress("v.hold") as report:
        report(1, 10)
        report(10, 10)


@pytest.mark.parametrize(
    "shell, sign", [("bash", "complete -o"), ("zsh", "#compdef holdall"), ("fish", "complete --no-files")]
)
def test_completion(shell, sign):
    done = invoke("completion", shell)
    assert done.code == 0 and sign in done.out and "_HOLDALL_COMPLETE" in done.out


def test_completion_knows_the_commands():
    done = run(_HOLDALL_COMPLETE="bash_complete", COMP_WORDS="holdall c", COMP_CWORD="1")
    assert {line.split(",")[1] for line in done.out.split()} == {"cat", "convert", "completion"}
