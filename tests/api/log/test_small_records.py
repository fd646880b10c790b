"""Small records of a log are read without a decoder. What they refer to may have been named by records before them. They come as a decoder
reads them, which is asked wherever a limit is set."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import gc
import pathlib
import sys
from random import Random
from typing import Any

import pytest

import holdall
from holdall.resolve import SKIP, Value
from tests.host.test_small_messages import container, is_tracked_where_it_must_be, keeps_sharing
from tests.support.each import each

# They change nothing but the way: a record is read by a decoder.
ASKED = holdall.Limits(depth=1000)
NAMES = [f"name {number}" for number in range(30)]


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


@dataclasses.dataclass
class Event:
    id: int
    name: str
    at: datetime.datetime
    tags: list[str]


class Slots:
    __slots__ = ("color", "name")

    def __init__(self, name: str, color: Color) -> None:
        self.name, self.color = name, color

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slots) and (self.name, self.color) == (other.name, other.color)

    __hash__ = None  # type: ignore[assignment]


def event(r: Random) -> Event:
    at = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(r.random())
    return Event(r.randrange(10**9), r.choice(NAMES), at, [r.choice(NAMES) for _ in range(r.randrange(4))])


def record(r: Random) -> Any:
    kind = r.randrange(9)
    if kind == 8:
        # More keys than are read without a decoder.
        return {f"key {number}": r.choice(NAMES) for number in range(r.choice([32, 33, 40]))}
    if kind < 2:
        return container(r)
    if kind < 4:
        return {"id": r.randrange(1000), "name": r.choice(NAMES), "parts": [r.choice(NAMES)] * r.randrange(3)}
    if kind == 4:
        return r.choice([None, 1, "text", NAMES[0], 2.5, b"bytes", [], {}, ()])
    if kind == 5:
        shared = [r.choice(NAMES)]
        return {"one": shared, "other": shared, "event": event(r)}
    return r.choice([event(r), Slots(r.choice(NAMES), r.choice(list(Color))), [event(r), event(r)]])


def log_of(path: pathlib.Path, records: list[Any]) -> pathlib.Path:
    with holdall.Writer(path, sync="never") as log:
        for one in records:
            log.write(one)
    return path


@each("seed", range(3))
def test_records_come_as_a_decoder_reads_them(seed: int, tmp_path: pathlib.Path) -> None:
    r = Random(seed)
    records = [record(r) for _ in range(1500)]
    path = log_of(tmp_path / f"{seed}.log", records)
    types = [Event, Slots, Color]
    small = list(holdall.Reader(path, types=types))
    whole = list(holdall.Reader(path, types=types, limits=ASKED))
    assert len(small) == len(records)
    for made, other, one in zip(small, whole, records, strict=True):
        assert repr(made) == repr(other) or made == other
        assert isinstance(one, (set, frozenset)) or type(made) is type(one)
        if isinstance(one, (list, dict, tuple)):
            assert keeps_sharing(made, one) and is_tracked_where_it_must_be(made)


def test_records_of_a_type(tmp_path: pathlib.Path) -> None:
    r = Random(5)
    records = [event(r) for _ in range(800)]
    path = log_of(tmp_path / "typed.log", records)
    assert list(holdall.Reader(path, type=Event)) == records
    assert list(holdall.Reader(path, type=Event, limits=ASKED)) == records
    with pytest.raises(holdall.ValidationError):
        list(holdall.Reader(path, type=dict[str, int]))
    plain = [{"id": number, "name": r.choice(NAMES)} for number in range(300)]
    path = log_of(tmp_path / "plain.log", plain)
    assert list(holdall.Reader(path, type=dict[str, int | str])) == plain
    with pytest.raises(holdall.ValidationError, match=r"\$"):
        list(holdall.Reader(path, type=dict[str, int]))


def test_classes_that_nobody_permits_are_refused_in_every_record(tmp_path: pathlib.Path) -> None:
    r = Random(6)
    path = log_of(tmp_path / "refused.log", [event(r) for _ in range(5)])
    reader = holdall.Reader(path)
    for _ in range(3):
        with pytest.raises(holdall.DecodeError, match="Event"):
            next(reader)


def test_what_a_resolver_says_holds_for_small_records(tmp_path: pathlib.Path) -> None:
    r = Random(7)
    path = log_of(tmp_path / "resolved.log", [event(r), {"event": event(r)}, {"id": 1}, event(r)])
    answers = {"skipped": SKIP, "a value": Value(7), "a record": holdall.Record, "as it is": Event}
    for what, answer in answers.items():
        found = list(holdall.Reader(path, resolver=lambda _, answer=answer: answer))
        whole = list(holdall.Reader(path, resolver=lambda _, answer=answer: answer, limits=ASKED))
        assert repr(found) == repr(whole), what
        assert {"id": 1} in found and len(found) == (2 if answer is SKIP else 4)


def test_a_record_that_is_damaged_tells_where(tmp_path: pathlib.Path) -> None:
    records = [{"id": number, "name": NAMES[number % 3]} for number in range(50)]
    path = log_of(tmp_path / "damaged.log", records)
    whole = bytearray(path.read_bytes())
    for place in range(len(whole) - 60, len(whole) - 30):
        one = bytearray(whole)
        one[place] ^= 0x55
        path.write_bytes(one)
        with pytest.raises(holdall.DecodeError, match="at byte"):
            list(holdall.Reader(path))
        assert [made for made in holdall.Reader(path, repair="skip") if made not in records] == []


def test_nothing_is_held_once_records_are_let_go(tmp_path: pathlib.Path) -> None:
    path = log_of(tmp_path / "held.log", [Slots(f"name {number}", Color.RED) for number in range(200)])
    reader = holdall.Reader(path, types=[Slots, Color])
    made = list(reader)
    assert len(made) == 200 and made[5] == Slots("name 5", Color.RED)
    counts = {sys.getrefcount(one) for one in made[1:]}
    assert len(counts) == 1
    names = [one.name for one in made]
    del made
    gc.collect()
    assert not any(type(one) is Slots for one in gc.get_objects())
    assert names[7] == "name 7"
