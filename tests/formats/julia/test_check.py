"""What `make check-julia` gives to Julia: here it is loaded again; and that it says why it did not run."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.places import REPO

pytest.importorskip("numpy")

from holdall import julia
from tests.julia import again, write
from tests.support.julia_registry import fresh
from tests.support.julia_same import same

SCRIPT = REPO / "tests" / "julia" / "check.sh"


@pytest.fixture
def written(tmp_path: pathlib.Path) -> Iterator[list[write.Case]]:
    with fresh():
        yield write.write(tmp_path)


def test_the_files_load_back(written: list[write.Case], tmp_path: pathlib.Path) -> None:
    assert len({case.name for case in written}) == len(written)
    for case in written:
        data = (tmp_path / f"{case.name}.bson").read_bytes()
        found = julia.loads(data)["value"]
        assert julia.dumps({"value": found}) == data, case.name
        # What was made by hand is inferred; what came back knows.
        again = julia.loads(julia.dumps({"value": found}))["value"]
        same(again, found)


def test_the_list_is_in_order(written: list[write.Case], tmp_path: pathlib.Path) -> None:
    lines = (tmp_path / "expected.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(written)
    for case, line in zip(written, lines, strict=True):
        assert line.split("\t") == [case.name, case.expression, case.test]
        assert case.expression or case.test, case.name


def test_the_types_are_those_of_the_check() -> None:
    """Each mapped class has the fields of its struct."""
    text = (REPO / "tests" / "julia" / "check.jl").read_text(encoding="utf-8")
    for cls in (write.Point, write.Person, write.RGB, write.Counter, write.Node, write.TreeNode):
        fields = re.search(rf"^(mutable )?struct {cls.__name__}; (.*) end$", text, re.M)
        assert fields is not None
        names = [part.split("::")[0].strip() for part in fields[2].split(";") if part.strip()]
        assert names == list(cls.__dataclass_fields__)
    for member in write.Fruit:
        assert f"{member.name.lower()}={member.value}" in text


def run(path: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """The check with nothing but what is in this folder, and the tools that it needs."""
    for tool in ("bash", "dirname", "mktemp", "rm", "cat"):
        found = shutil.which(tool)
        assert found is not None
        (path / tool).symlink_to(found)
    environment = {
        "PATH": str(path),
        "PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(path),
    }
    return subprocess.run(
        [str(path / "bash"), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=60
    )


def fake(path: pathlib.Path, script: str) -> None:
    (path / "julia").write_text(f"#!{shutil.which('bash')}\n{script}\n")
    (path / "julia").chmod(0o755)


def test_without_julia_it_says_so(tmp_path: pathlib.Path) -> None:
    """And what one takes: with none of the tools it sets none up."""
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(
        r"check-julia did not run: julia is missing, and (only root can set one up|`unshare`, which .*)\n",
        done.stdout,
    )


def test_without_its_package_it_says_so(tmp_path: pathlib.Path) -> None:
    fake(tmp_path, "exit 1")
    done = run(tmp_path)
    assert done.returncode == 0 and "julia has no BSON.jl" in done.stdout


# The first call only asks for the package. Of the others, the first argument behind the options is the script.
FAKE = """
[ "$2" = -e ] && exit 0
case ${{3##*/}} in
check.jl)
    cat "$4/expected.txt"
    [ -s "$4/point.bson" ] && [ -s "$4/known.txt" ] && exit {check}
    exit 9 ;;
trip.jl)
    case $4 in
    write) "$MKDIR" "$5/there" && cat "$5/point.bson" >"$5/there/point.bson" ;;
    compare) [ -s "$5/again/point.bson" ] && exit {trip}; exit 9 ;;
    esac ;;
esac
"""


@pytest.mark.parametrize(("check", "trip"), [(0, 0), (1, 0), (0, 1)])
def test_what_julia_says_counts(tmp_path: pathlib.Path, check: int, trip: int) -> None:
    fake(tmp_path, FAKE.format(check=check, trip=trip).replace("$MKDIR", str(shutil.which("mkdir"))))
    done = run(tmp_path)
    assert done.returncode == max(check, trip), done.stderr
    assert "files written" in done.stdout and "point\tPoint(1.0, 2.0)" in done.stdout
    assert "1 of 1 files are written again, 1 of them byte for byte the same" in done.stdout
    assert not list(tmp_path.glob("tmp.*")), "its folder is left"


def test_what_is_not_written_again_is_said(tmp_path: pathlib.Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "good.bson").write_bytes(julia.dumps({"value": 1}))
    (tmp_path / "there" / "bad.bson").write_bytes(b"no document")
    (line,) = again.write(tmp_path)
    assert line.startswith("bad.bson: TruncatedError: ")
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["good.bson"]
