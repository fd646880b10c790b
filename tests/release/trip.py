"""What an installed wheel has to do in an environment that has nothing else. Run there, by itself: it takes nothing from the repository.

python trip.py FOLDER     writes its files to FOLDER, and the README's tour, which is run as a program of its own
"""

from __future__ import annotations

import datetime
import decimal
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import uuid

import holdall
from holdall import bson, julia, lisp, msgpack

ABSENT = ("numpy", "click", "rich", "bson", "msgspec", "pydantic", "attr", "pytest", "maturin")


class Track:
    def __init__(self, title: str, seconds: float) -> None:
        self.title, self.seconds = title, seconds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Track) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def nothing_else_is_there() -> None:
    there = [name for name in ABSENT if importlib.util.find_spec(name)]
    assert not there, f"this environment is not empty: {there}"
    home = pathlib.Path(holdall.__file__).resolve()
    assert pathlib.Path(sys.prefix).resolve() in home.parents, f"{home} is not what was installed"
    installed = importlib.metadata.version("holdall")
    assert installed == holdall.__version__, (installed, holdall.__version__)


def messages() -> None:
    leaves = [None, True, 2**100, -1.5, 1j, "text", "\ud800", b"bytes", bytearray(b"x"), range(3), ...]
    leaves += [datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=datetime.timezone.utc), decimal.Decimal("1.10")]
    leaves += [uuid.UUID(int=7), frozenset({1, 2}), Track("Intro", 90.5), list(range(1000)), [0.5] * 100]
    row = {"leaves": leaves, "tuple": (1, (2,))}
    row["self"] = row
    for options in ({}, {"canonical": True}, {"trust": True}):
        back = holdall.loads(holdall.dumps(row, **options), types=Track, trust="trust" in options)
        assert back["self"] is back and back["leaves"] == leaves and back["tuple"] == (1, (2,))
    assert holdall.loads(holdall.dumps(print, trust=True), trust=True) is print
    copied = holdall.deepcopy(row)
    assert copied["self"] is copied and copied["leaves"] == leaves
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    data = holdall.dumps(deep)
    back = holdall.loads(data)
    for _ in range(100_000):
        (back,) = back
    assert back == []
    plain = {"name": "Ann", "ages": [1, 2, 3], "nested": {"x": None}}
    for format in (msgpack, bson):
        assert format.loads(format.dumps(plain)) == plain
    for damaged in (data[:-1], b"\xc1\xff", b""):
        try:
            holdall.loads(damaged)
        except holdall.DecodeError:
            continue
        raise AssertionError("damaged bytes were loaded")


def files(folder: pathlib.Path) -> None:
    obj = {"tracks": [Track("Intro", 90.0)] * 2, "noise": bytes(range(256)) * 8000}
    for compress in (None, "zstd", "lz4"):
        path = folder / f"graph-{compress}.hold"
        for _ in range(2):  # the second replaces the first
            holdall.dump(obj, path, compress=compress)
        assert holdall.load(path, types=Track) == obj
        with holdall.open(path, types=Track) as doc:
            assert doc["tracks"][1]["title"] == "Intro" and doc["noise"] == obj["noise"]
        assert holdall.verify(path).ok
    with open(folder / "graph-None.hold", "rb") as stream:
        assert holdall.load(stream, types=Track) == obj
    holdall.load(folder / "graph-None.hold", types=Track, mmap=True)
    assert not list(folder.glob("*.tmp"))
    julia.dump({"a": 1, "b": "two"}, folder / "julia.bson")
    assert julia.load(folder / "julia.bson") == {"a": 1, "b": "two"}
    lisp.dump([1, "two"], folder / "lisp.cbs")
    assert lisp.load(folder / "lisp.cbs")


def logs(folder: pathlib.Path) -> None:
    path = folder / "plays.log"
    with holdall.Writer(path, sync="always") as log:
        for number in range(1000):
            log.write({"number": number})
        try:
            holdall.Writer(path, append=True)
        except BlockingIOError:
            pass
        else:
            raise AssertionError("a log has two writers")
        # Others read while it is written.
        with holdall.Reader(path) as reader:
            assert sum(1 for _ in reader) == 1000
    with open(path, "ab") as torn:
        torn.write(b"half a record")
    with holdall.Writer(path, append=True) as log:
        assert log.cut == len(b"half a record")
        assert log.write({"number": 1000}) == 1000
    with holdall.Reader(path) as reader:
        reader.seek(999)
        assert [record["number"] for record in reader] == [999, 1000]
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    assert holdall.verify(path, repair=True).repaired and holdall.verify(path).ok
    with holdall.Reader(path) as reader:
        assert sum(1 for _ in reader) >= 1000


def command_line() -> None:
    """It needs what is not there: a line says what to install, however it is started."""
    script = pathlib.Path(sysconfig.get_path("scripts")) / ("holdall.exe" if os.name == "nt" else "holdall")
    for command in (
        [str(script)],
        [str(script), "inspect", "x"],
        [sys.executable, "-m", "holdall", "--help"],
    ):
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        expected = "holdall: the command line needs click and rich: pip install 'holdall[cli]'\n"
        assert (run.returncode, run.stdout, run.stderr) == (2, "", expected), (command, run)


def tour(folder: pathlib.Path) -> None:
    """The Python of the README, as it came with the wheel."""
    description = importlib.metadata.metadata("holdall")["Description"]
    inside, kept = False, []
    for line in description.splitlines():
        if line.startswith("```"):
            inside = line == "```python"
        elif inside:
            kept.append(line)
    assert len(kept) > 40, "the description has no tour"
    place = folder / "tour"
    place.mkdir()
    program = place / "tour.py"
    program.write_text("\n".join(kept) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "-I", "-W", "error", str(program)], cwd=place, check=True, timeout=60)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    nothing_else_is_there()
    messages()
    files(folder)
    logs(folder)
    command_line()
    tour(folder)
    print(f"holdall {holdall.__version__} does its tour in Python {sys.version.split()[0]} on {sys.platform}")


if __name__ == "__main__":
    main()
