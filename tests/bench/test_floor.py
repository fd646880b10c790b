"""The lower bound of `holdall bench`: it leaves nothing out, so that it is a bound."""

from __future__ import annotations

import datetime
import random
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from holdall_bench import floor_build


@pytest.fixture(scope="module")
def floor() -> Any:
    try:
        floor_build.build()
        return floor_build.load()
    except floor_build.NotBuilt as reason:
        pytest.skip(f"the lower bound can't be built: {reason}")


@dataclass(slots=True)
class Record:
    number: int
    text: str
    parts: list


ZONE = datetime.timezone(datetime.timedelta(hours=2))
VALUE = {
    "ints": [0, 1, -17, 2**30, -(2**30), 2**60, 2**63 - 1, -(2**63), 2**64, 10**40],
    "texts": ["", "é", "αβ", "😀", "x" * 200],
    "others": (None, True, False, 2.5, -0.0, 1 + 2j, b"bytes", {1: 2, (1, 2): "k"}),
    "time": datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, ZONE),
    "records": [Record(1, "a", [Record(2, "b", [])])],
    "empty": [[], (), {}],
}


def test_what_is_walked_is_all_there(floor):
    assert floor.unwalk(floor.walk(VALUE, True)) == VALUE
    assert floor.unwalk_memo(floor.walk_memo(VALUE, True)) == VALUE
    assert floor.clone(VALUE) == VALUE


def test_identity_is_kept_where_it_is_asked_for(floor):
    inner: list = []
    record = Record(1, "shared", inner)
    inner += [record, record, inner]
    restored = floor.unwalk_memo(floor.walk_memo(inner, True))
    assert restored[0] is restored[1] and restored[2] is restored and restored[0].parts is restored


def test_ints_of_all_widths(floor):
    rng = random.Random(1)
    numbers = [rng.randint(-(2 ** rng.randint(1, 90)), 2 ** rng.randint(1, 90)) for _ in range(2_000)]
    assert floor.unwalk(floor.walk(numbers, True)) == numbers == floor.clone(numbers)


def test_what_it_does_not_take_is_an_error(floor):
    with pytest.raises(TypeError):
        floor.walk([range(3)])


def test_another_python_is_told_why(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))
    with pytest.raises(floor_build.NotBuilt, match=r"CPython 3\.11"):
        floor_build.build()


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="it is written for CPython 3.11")
def test_without_a_compiler_the_reason_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(floor_build.NotBuilt, match="--build-floor"):
        floor_build.load()
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(floor_build.NotBuilt, match="no C compiler: no-such-compiler"):
        floor_build.build()
    monkeypatch.setenv("CC", "false")
    with pytest.raises(floor_build.NotBuilt, match="did not compile"):
        floor_build.build()
    assert list((tmp_path / "holdall").iterdir()) == []
