"""`holdall bench kinds`: it keeps what it says, its content is new each time, and its table tells who is ahead."""

from __future__ import annotations

import json
import math
import pickle
from random import Random

import pytest

import holdall
from holdall_bench.kinds import WAYS, Row, Settings, codecs, mean, measure, table
from holdall_bench.suites.kinds import KINDS, TYPED, USERS
from tests.support.each import each
from tests.support.isomorphic import isomorphic

FEW = Settings(count=12, alone=4, rounds=1, seconds=0, seed=7)


@each("kind", list(KINDS))
def test_every_kind_comes_back(kind):
    r = Random(kind)
    values = [KINDS[kind](r) for _ in range(20)]
    # Twice: what the first message taught is used by the second.
    for _ in range(2):
        isomorphic(values, holdall.loads(holdall.dumps(values), types=USERS))
        for value in values:
            isomorphic(value, holdall.loads(holdall.dumps(value), types=USERS))


def test_there_are_a_hundred_and_more_and_none_is_a_constant():
    assert len(KINDS) >= 100
    constants = {
        name for name in KINDS if len({pickle.dumps(KINDS[name](Random(seed))) for seed in range(60)}) == 1
    }
    assert constants == {"None"} | {name for name in KINDS if name.endswith(", empty")}


def test_every_kind_is_measured():
    rows = measure(FEW, lambda name, share: None)
    for way in WAYS:
        assert [row.kind for row in rows if row.way == way] == [
            name for name in KINDS if "type" not in way or name in TYPED
        ]
    for row in rows:
        assert row.dumps.keys() == row.loads.keys() >= {"hold", "pickle"}
        assert all(figure > 0 for figure in (*row.dumps.values(), *row.loads.values()))
    assert {"hold", "MessagePack", "BSON", "pickle", "marshal"} <= rows[4].dumps.keys()
    lines = table(rows)
    assert len([line for line in lines if line.startswith(("dumps", "loads"))]) == 2 * len(rows)
    assert lines[-1].startswith("hold is behind in ")


@each("kind", list(TYPED))
def test_every_type_gives_what_was_stored(kind):
    r = Random(kind)
    values = [KINDS[kind](r) for _ in range(20)]
    for name in ("hold", "MessagePack"):
        together, alone = codecs(list[TYPED[kind]])[name], codecs(TYPED[kind])[name]
        again = [alone.restore(alone.store(value)) for value in values]
        assert together.restore(together.store(values)) == again == values
        assert [type(value) for value in again] == [type(value) for value in values]


def test_content_is_new_in_each_run():
    made = [KINDS["date"](Random()) for _ in range(50)]
    assert len(set(made)) > 40


def test_who_is_ahead():
    row = Row(
        "date", "alone", {"hold": 100.0, "pickle": 300.0, "marshal": 50.0}, {"hold": 10.0, "pickle": 40.0}
    )
    assert row.verdict(row.dumps) == ("marshal", 0.5)
    assert row.verdict(row.loads) == ("hold", 4.0)
    assert mean([row], "alone", "dumps") == pytest.approx(3.0)
    assert math.isnan(mean([row], "together", "dumps"))
    assert any(
        line.startswith("dumps date, alone") and line.endswith("marshal 0.50 !") for line in table([row])
    )


def test_codecs_that_lose_a_kind_are_left_out(monkeypatch):
    (row,) = (
        row
        for row in measure(Settings(**vars(FEW) | {"names": ("date",)}), lambda *_: None)
        if row.way == "alone"
    )
    assert "marshal" not in row.dumps and "pickle" in row.dumps
    assert set(codecs()) >= {"hold", "MessagePack", "BSON", "pickle", "marshal"}


def test_the_command(tmp_path):
    pytest.importorskip("click")
    pytest.importorskip("rich")
    from tests.support.cli import invoke

    path = tmp_path / "kinds.json"
    done = invoke("bench", "kinds", "--kind", "dat?", "--seconds", "0", "--rounds", "1", "--json", str(path))
    assert done.code == 0 and "together, loads: hold" in done.out
    assert {row["way"] for row in json.loads(path.read_text())} == set(WAYS)
    for wrong in (("kinds", "arrays"), ("--kind", "date"), ("kinds", "--data", "x.py:f")):
        assert invoke("bench", *wrong).code == 2
