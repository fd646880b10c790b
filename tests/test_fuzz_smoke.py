"""The mutation fuzzer for a moment, so that it stays in order and the worst is noticed at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.fuzz import mutate

FUZZER = [sys.executable, str(REPO / "tests" / "fuzz" / "mutate.py")]


@pytest.mark.xdist_group("memory")
def test_twenty_thousand_mutations(tmp_path: Path) -> None:
    command = [*FUZZER, "--count", "20000", "--seconds", "100", "--seed", "20261120", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20,000 mutations" in done.stdout and "0 findings" in done.stdout


def test_inputs_can_be_made_again() -> None:
    pool = mutate.turns()[-1].pool
    assert [mutate.mutated(pool, 1, n) for n in range(50)] == [mutate.mutated(pool, 1, n) for n in range(50)]
    assert mutate.mutated(pool, 1, 7) != mutate.mutated(pool, 2, 7)


# Takes the fuzzer's place in the child: the fifth input goes wrong.
CHILD = """
import os, sys
sys.path.insert(0, {repo!r})
from tests.fuzz import mutate
mutate.attempt = lambda data, number, turn: {wrong} if number == 5 else (True, True)
sys.exit(mutate.main())
"""


@pytest.mark.parametrize("wrong", ["os.abort()", "[].pop()", "bytearray(1 << 40)"])
def test_what_goes_wrong_is_found(tmp_path: Path, wrong: str) -> None:
    child = tmp_path / "child.py"
    child.write_text(CHILD.format(repo=str(REPO), wrong=wrong))
    parent = f"import sys; from tests.fuzz import mutate; mutate.__file__ = {str(child)!r}; sys.exit(mutate.main())"
    options = ["--count", "10", "--seconds", "60", "--seed", "1", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", parent, *options], capture_output=True, text=True, timeout=100, cwd=REPO
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "attempt 5" in done.stderr and "1 findings" in done.stdout
    assert list((tmp_path / "out").glob("seed1-5.*"))
