"""The mutation fuzzer for a moment, so that it stays in order and the worst is noticed at once."""

from __future__ import annotations

import math
import mmap
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import bson_documents, bson_doors, campaign, grammar, mutate
from tests.support import bson_wire
from tests.support.places import REPO

FUZZER = [sys.executable, str(REPO / "tests" / "fuzz" / "mutate.py")]
GRAMMAR = [sys.executable, str(REPO / "tests" / "fuzz" / "grammar.py")]


def fuzzed(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Without the start anew that it needs where hashes differ from run to run."""
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, env=env, **options)


@pytest.mark.xdist_group("memory")
def test_four_thousand_mutations(tmp_path: Path) -> None:
    command = [*FUZZER, "--count", "4000", "--seconds", "1000", "--seed", "20261120", "--out", str(tmp_path)]
    done = fuzzed(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4,000 mutations" in done.stdout and "0 findings" in done.stdout


@pytest.mark.xdist_group("memory")
def test_five_hundred_messages_by_the_grammars(tmp_path: Path) -> None:
    command = [*GRAMMAR, "--count", "500", "--seconds", "1000", "--seed", "20261122", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "500 messages" in done.stdout and "0 findings" in done.stdout


def test_messages_by_the_grammars_can_be_made_again_and_are_mostly_sound() -> None:
    made = grammar.Grammar(None)
    assert {made.turn(number).format for number in range(400)} == {"hold", "msgpack", "bson", "julia", "lisp"}
    again = grammar.Grammar(None)
    inputs = [made.made(1, number) for number in range(400)]
    assert inputs == [again.made(1, number) for number in range(400)]
    # In any order: an input goes through several doors.
    assert [again.made(1, number) for number in range(0, 400, 7)] == inputs[::7]
    assert len(set(inputs)) > 400 // grammar.SHARE * 0.9
    loaded = 0
    for number, data in enumerate(inputs):
        turn = made.turn(number)
        loaded += turn.load(data, number)[0]
    assert loaded > 120


def test_a_finding_is_made_smaller() -> None:
    def load(data: bytes, number: int) -> tuple[bool, bool]:
        # Not by `assert`, of which pytest writes the text, with the data where it is told to say more.
        if b"x" in data and b"y" in data:
            raise AssertionError("both")
        return True, False

    turn = campaign.Turn("hold", "a door", load)
    data = bytes(range(256))
    small, said = campaign.shrunk(data, 0, turn, seconds=math.inf)
    assert small == b"xy" and said.startswith("AssertionError in test_fuzz.py:load: both")
    assert campaign.shrunk(b"nothing", 0, turn) == (b"nothing", "")


def test_inputs_can_be_made_again() -> None:
    by_format = {turn.format: turn for turn in mutate.turns()}
    assert by_format.keys() == {"hold", "msgpack", "bson", "julia", "lisp"}
    for turn in by_format.values():
        assert [mutate.mutated(turn, 1, n) for n in range(50)] == [
            mutate.mutated(turn, 1, n) for n in range(50)
        ]
        assert any(mutate.mutated(turn, 1, n) != mutate.mutated(turn, 2, n) for n in range(5))


@pytest.mark.parametrize("name", ["bson", "julia", "lisp"])
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


# Takes the fuzzer's place in the children: three of ten inputs go wrong, each in another way.
CHILD = """
import os, sys
sys.path.insert(0, {repo!r})
from tests.fuzz import campaign, mutate
WRONG = {{2: lambda: [].pop(), 5: os.abort, 7: lambda: bytearray(1 << 40)}}
campaign.attempt = lambda data, number, turn: WRONG[number]() if number in WRONG else (True, True)
sys.exit(mutate.main())
"""


def test_what_goes_wrong_is_found(tmp_path: Path) -> None:
    """An exception, a crash, after which another child goes on, and memory without bound."""
    child = tmp_path / "child.py"
    child.write_text(CHILD.format(repo=str(REPO)))
    parent = f"import sys; from tests.fuzz import mutate; mutate.__file__ = {str(child)!r}; sys.exit(mutate.main())"
    options = ["--count", "10", "--seconds", "1000", "--seed", "1", "--no-shrinking", "--out", str(tmp_path / "out")]  # fmt: skip
    done = fuzzed([sys.executable, "-c", parent, *options], cwd=REPO)
    assert done.returncode == 1, done.stdout + done.stderr
    for number, said in ((2, "IndexError in "), (5, "ended by signal 6"), (7, "MemoryError in ")):
        told = (tmp_path / "out" / f"seed1-{number}.txt").read_text()
        assert said in told and f"attempt {number}, " in told
        assert f"seed 1, attempt {number} (" in done.stderr
    assert "10 mutations" in done.stdout and "3 findings" in done.stdout


def test_a_child_that_ends_while_it_is_looked_at_does_not_hang() -> None:
    """Nobody tells any more how much of the processor's time it had."""
    child = [sys.executable, "-c", "import os, time; time.sleep(0.7); os.abort()"]
    with (
        subprocess.Popen(child, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        mmap.mmap(-1, campaign.COUNTERS.size) as counters,
    ):
        watched = campaign.Campaign.watch(object.__new__(campaign.Campaign), process, counters)
    assert watched.startswith("ended by signal 6")
