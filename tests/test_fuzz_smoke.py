"""The mutation fuzzer for a moment, so that it stays in order and the worst is noticed at once."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.fuzz import bson_documents, bson_doors, mutate
from tests.support import bson_wire

FUZZER = [sys.executable, str(REPO / "tests" / "fuzz" / "mutate.py")]


@pytest.mark.xdist_group("memory")
def test_twenty_thousand_mutations(tmp_path: Path) -> None:
    command = [*FUZZER, "--count", "20000", "--seconds", "100", "--seed", "20261120", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20,000 mutations" in done.stdout and "0 findings" in done.stdout


def test_inputs_can_be_made_again() -> None:
    by_format = {turn.format: turn for turn in mutate.turns()}
    assert by_format.keys() == {"hold", "msgpack", "bson", "julia"}
    for turn in by_format.values():
        assert [mutate.mutated(turn, 1, n) for n in range(50)] == [
            mutate.mutated(turn, 1, n) for n in range(50)
        ]
        assert any(mutate.mutated(turn, 1, n) != mutate.mutated(turn, 2, n) for n in range(5))


@pytest.mark.parametrize("name", ["bson", "julia"])
def test_one_format_alone(name: str) -> None:
    assert {turn.format for turn in mutate.turns(name)} == {name}


def test_every_length_of_bson_at_its_extremes() -> None:
    refused = loaded = 0
    doors = [door for door, _ in bson_doors.doors() if not door.name.startswith("loads as")]
    for message in [*bson_wire.MESSAGES.values(), bson_wire.EVERYTHING]:
        lengths = bson_documents.structure(message).lengths
        assert lengths[0] == 0 and len(set(lengths)) == len(lengths)
        for number, data in enumerate(bson_documents.every_extreme(message)):
            for door in doors:
                good, _ = door.load(data, number)
                loaded += good
                refused += not good
    assert loaded > 100 and refused > 10 * loaded


def test_elements_are_damaged_in_documents_that_stay_whole() -> None:
    rng = random.Random(1)
    pool = list(bson_wire.MESSAGES.values())
    for mutation in (bson_documents.graft, bson_documents.prune):
        for message in pool:
            data = bytearray(message)
            mutation(rng, data, pool)
            assert len(data) != len(message)
            assert bson_doors.loads(bytes(data), 0)[0]


# Takes the fuzzer's place in the child: the fifth input goes wrong.
CHILD = """
import os, sys
sys.path.insert(0, {repo!r})
from tests.fuzz import campaign, mutate
campaign.attempt = lambda data, number, turn: {wrong} if number == 5 else (True, True)
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
