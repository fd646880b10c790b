"""The command line with Lisp's files."""

from __future__ import annotations

import json
import pathlib

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

import holdall
from holdall import lisp
from tests.support.cli import invoke


def sample() -> list[object]:
    point = lisp.Type("S::POINT", ["X", "Y-AXIS"])
    return [
        1,
        "text",
        lisp.keyword("K"),
        lisp.Cons(1, 2),
        lisp.LispObject(point, [1, None]),
        {"a": [2.5]},
        lisp.HashTable({1: 2}),
    ]


def test_a_file_that_says_its_version_needs_no_extension(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.bin"
    lisp.dump(7, path, version=True)
    assert invoke("cat", path).out.strip() == "7"


def test_there_and_back(tmp_path: pathlib.Path) -> None:
    source, hold, back, text = (tmp_path / name for name in ("a.cbs", "a.hold", "b.cbs", "a.json"))
    lisp.dump(sample(), source)
    assert invoke("convert", source, hold).code == 0
    assert holdall.load(hold, types=holdall.lisp) == sample()
    assert invoke("convert", hold, back).code == 0
    assert back.read_bytes() == source.read_bytes()
    assert invoke("convert", source, text).code == 0
    assert json.loads(text.read_text())[:2] == [1, "text"]


def test_several(tmp_path: pathlib.Path) -> None:
    source, lines, back = (tmp_path / name for name in ("a.cbs", "a.jsonl", "b.cbs"))
    lisp.dump([1, [2], "x"], source, all=True)
    assert invoke("convert", source, lines).code == 0
    assert lines.read_text().split() == ["1", "[2]", '"x"']
    assert invoke("convert", lines, back).code == 0
    assert lisp.load_all(back) == [1, [2], "x"]


def test_shown(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "a.cbs"
    lisp.dump(sample(), source)
    shown = invoke("cat", source).out
    for part in ("Cons(", "S::POINT(", "y_axis", "HashTable({", "keyword('K')"):
        assert part in shown
    assert invoke("get", source, "[4].x").out.strip() == "1"
    assert invoke("verify", source).code == 0


def test_outline(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "a.cbs"
    point = lisp.Type("S::POINT", ["X", "Y-AXIS"])
    lisp.dump([*sample(), lisp.LispObject(point, [7, lisp.Cons(1, 2)])], source, version=True)
    shown = invoke("inspect", source, "--values", "--depth", "3").out
    for part in ("list, 8 items", "POINT, 2 items", "Y-AXIS: ", "Symbol K", "a: list, 1 item", "float 2.5"):
        assert part in shown, shown
    told = json.loads(invoke("inspect", source, "--json").out)
    assert str(source.stat().st_size) in json.dumps(told)
    lisp.dump([1, [2]], source, all=True)
    assert "list, 1 item" in invoke("inspect", source, "--format", "lisp").out
    source.write_bytes(source.read_bytes()[:-1])
    assert invoke("inspect", source, "--format", "lisp").code != 0
