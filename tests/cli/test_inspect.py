"""`holdall inspect`: what a file holds, printed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import holdall
from tests.formats.hold.test_inspect import FORMATS, Point

testing = pytest.importorskip("click.testing")
pytest.importorskip("rich")

from holdall._cli import _inspect  # noqa: E402


def run(*arguments: str) -> Any:
    return testing.CliRunner().invoke(_inspect.command, arguments)


def test_command(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "graph.hold"
    shared = ["x"]
    holdall.dump({"a": shared, "b": [Point(shared), *range(20)], "n": np.zeros((3, 4))}, path)
    result = run(str(path))
    assert result.exit_code == 0
    for part in (
        "hold",
        "a: list, 1 item",
        "-> #",
        f"{Point.__module__}.Point",
        "array <f8 (3, 4), 12 items",
        "by kind",
        "x, y",
    ):
        assert part in result.output
    assert "… 11 int 11 B" in result.output


def test_command_as_json(tmp_path: pathlib.Path) -> None:
    for form, dumps in FORMATS.items():
        path = tmp_path / f"file.{form}"
        path.write_bytes(dumps({"a": [1, {"b": 1j if form == "julia" else 2}]}))
        result = run(str(path), "--json", "--depth", "1")
        told = json.loads(result.output)
        assert (told["format"], told["size"], told["error"]) == (form, path.stat().st_size, None)
        assert [node["key"] for part in told["parts"] for node in part["nodes"]] == [None, "a"]


def test_command_on_damage(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "cut.hold"
    holdall.dump({"a": [1, 2], "b": "long enough to be cut"}, path)
    path.write_bytes(path.read_bytes()[:-3])
    result = run(str(path))
    assert result.exit_code == 1 and "a: list" in result.output
    assert result.output.splitlines()[-1].startswith("damaged: ")
    told = json.loads(run(str(path), "--json").output)
    assert told["error"] is not None and told["parts"][0]["nodes"]


def test_command_on_streams(tmp_path: pathlib.Path) -> None:
    for form in ("bson", "msgpack"):
        one = FORMATS[form]({"a": 1})
        path = tmp_path / f"many.{form}"
        path.write_bytes(one * 5)
        result = run(str(path), "--most", "2")
        assert result.exit_code == 0 and f"{3 * len(one)} bytes follow" in result.output
        path.write_bytes(one * 2 + one[:-1])
        told = json.loads(run(str(path), "--json").output)
        assert len(told["parts"]) == 3 and 2 * len(one) < told["error_offset"] <= 3 * len(one)


def test_command_on_what_is_no_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert run(str(tmp_path / "empty")).exit_code == 1
    assert run(str(tmp_path / "none")).exit_code == 2
    (tmp_path / "text").write_text("{}")
    assert run(str(tmp_path / "text"), "--format", "hold").exit_code == 1


def test_formats_are_guessed(tmp_path: pathlib.Path) -> None:
    def guess(data: bytes, name: str = "file") -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return _inspect.format_of(path)

    for form, dumps in FORMATS.items():
        value: Any = {"a": 1j} if form == "julia" else {"a": 1}
        assert guess(dumps(value)) == form
    assert guess(holdall.dumps([len], trust=True)) == "hold"
    assert guess(b"HOLD") == guess(b"HO") == guess(b"", "a.hold") == "hold"
    assert guess(FORMATS["bson"]({"a": 1})[:-1], "a.bson") == "bson"
    assert guess(FORMATS["julia"]({"a": 1j})[:-1], "a.bson") == "julia"
    assert guess(b"\xd1\0\1") == guess(b"\xd1\0\1\0", "a.msgpack") == "msgpack"
    assert guess(b"{}", "a.json") == guess(b"{}") == guess(b"") == "msgpack"


def test_sizes_are_told_as_people_do() -> None:
    sizes = [0, 1023, 1024, 1536, 5 << 20, 3 << 30, 2 << 40, 5000 << 40]
    expected = "0 B, 1023 B, 1.0 KiB, 1.5 KiB, 5.0 MiB, 3.0 GiB, 2.0 TiB, 5000.0 TiB"
    assert ", ".join(map(_inspect.human, sizes)) == expected
