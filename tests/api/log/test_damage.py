"""Damaged logs: every changed bit is seen, one record is lost for it and no other, and what is torn off is cut off."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import holdall
from tests.support import logs
from tests.support.extent import sample
from tests.support.logs import Frame, flipped, frames, put, read, small, smalls, write
from tests.support.places import REPO


@dataclass
class Point:
    x: int
    label: str


REPAIRS = (None, "stop", "skip")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.log"


def records() -> list[Any]:
    """They name keys, classes and texts, and use those of others; one is longer than all the rest."""
    label = "a label"
    return [
        small(0),
        Point(1, label),
        [Point(2, label), {"id": 2, "name": label, "level": "info"}],
        small(3),
        {"body": bytes(range(100)), "again": [label, label]},
        Point(5, "name 1"),
        small(6),
        7,
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A log of three sessions."""
    path = tmp_path_factory.mktemp("log") / "whole.log"
    for begin, end in ((0, 5), (5, 7), (7, 8)):
        write(path, records()[begin:end], append=True)
    return path.read_bytes()


def recovered(path: Any, repair: Any) -> tuple[list[Any], list[Any]]:
    with holdall.Reader(path, repair=repair, types=[Point]) as log:
        return list(log), log.damage


def until_error(path: Path) -> tuple[list[Any], holdall.DecodeError | None]:
    found = []
    with holdall.Reader(path, types=[Point]) as log:
        try:
            for one in log:
                found.append(one)
        except holdall.DecodeError as error:
            assert list(log) == []  # nothing comes after it
            return found, error
    return found, None


def frame_of(whole: bytes, offset: int) -> Frame:
    return next(frame for frame in frames(whole) if frame.begin <= offset < frame.end)


def before(whole: bytes, offset: int) -> list[Any]:
    """The records whose frames end before."""
    return [
        records()[frame.record] for frame in frames(whole) if frame.record is not None and frame.end <= offset
    ]


def test_the_log_has_all_kinds_of_frames(whole: bytes, path: Path) -> None:
    assert {whole[frame.begin] & 15 for frame in frames(whole)} == {logs.RECORD, logs.NAMES, logs.RESTART}
    put(path, whole)
    assert recovered(path, None) == (records(), [])
    report = holdall.verify(path)
    assert report.ok and report.damage == []
    assert (report.kind, report.records, report.bytes) == ("log", len(records()), len(whole))
    assert report.frames == len(frames(whole)) and not report.repaired


# --- changed bits ---


@pytest.mark.damage
def test_every_bit_is_checked(whole: bytes, path: Path) -> None:
    for bit in sample(range(8 * len(whole)), 700):
        put(path, flipped(whole, bit))
        report = holdall.verify(path)
        assert not report.ok and report.damage, bit
        if bit >= 8 * logs.START:
            assert report.damage[0].offset == frame_of(whole, bit // 8).begin, bit
            assert report.damage[0].size > 0 and report.damage[0].reason


@pytest.mark.damage
def test_a_bit_takes_its_record_and_no_other(whole: bytes, path: Path) -> None:
    for bit in sample(range(8 * len(whole)), 700):
        put(path, flipped(whole, bit))
        found, damage = recovered(path, "skip")
        expected = records()
        if bit >= 8 * logs.START:
            frame = frame_of(whole, bit // 8)
            if frame.record is not None:
                del expected[frame.record]
            assert damage[0].offset == frame.begin, bit
        assert found == expected, bit
        assert len(damage) == 1, bit


@pytest.mark.damage
def test_a_bit_ends_the_log_for_those_who_stop(whole: bytes, path: Path) -> None:
    for bit in sample(range(8 * logs.START, 8 * len(whole)), 400):
        put(path, flipped(whole, bit))
        frame = frame_of(whole, bit // 8)
        found, damage = recovered(path, "stop")
        assert found == before(whole, frame.begin), bit
        assert [one.offset for one in damage] == [frame.begin], bit
        found, error = until_error(path)
        assert found == before(whole, frame.begin), bit
        assert error is not None and frame.begin <= error.offset <= len(whole), bit


def test_a_bit_in_a_stream(whole: bytes) -> None:
    """As in a file, wherever the pieces end."""
    rng = random.Random(5)
    for bit in rng.sample(range(8 * logs.START, 8 * len(whole)), 300):
        data = flipped(whole, bit)
        lost = frame_of(whole, bit // 8).record
        expected = [one for number, one in enumerate(records()) if number != lost]
        log = holdall.Reader(None, repair="skip", types=[Point])
        found, at = [], 0
        while at < len(data):
            size = rng.randrange(1, 200)
            log.feed(data[at : at + size])
            at += size
            found += list(log)
        log.end()
        assert found + list(log) == expected, bit


def test_numbers_after_a_lost_record(whole: bytes, path: Path) -> None:
    """Its frame is told by its head, which is whole: the others keep their numbers."""
    for frame in frames(whole):
        if frame.record is None:
            continue
        put(path, flipped(whole, 8 * (frame.begin + logs.HEAD)))
        with holdall.Reader(path, repair="skip", types=[Point]) as log:
            for number in reversed(range(len(records()))):
                if number != frame.record:
                    log.seek(number)
                    assert log.read() == records()[number], (frame.record, number)
                    assert log.record == number + 1


def test_numbers_after_a_lost_head(whole: bytes, path: Path) -> None:
    """At the latest from the next session on they are right again."""
    first = next(frame for frame in frames(whole) if frame.record == 2)
    put(path, flipped(whole, 8 * first.begin + 20))
    with holdall.Reader(path, repair="skip", types=[Point]) as log:
        for number in (7, 5, 6):
            log.seek(number)
            assert log.read() == records()[number]
            assert log.record == number + 1


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_found_was_written(whole: bytes, path: Path, seed: int) -> None:
    """Bytes overwritten, left out, put in, and put elsewhere: records are there or not, in their order."""
    rng = random.Random(seed)
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            at, size = rng.randrange(len(data)), rng.choice([1, rng.randrange(1, 80)])
            other = rng.randrange(len(data))
            data[at : at + rng.choice([0, size])] = rng.choice(
                [b"", rng.randbytes(size), bytes(size), data[other : other + size]]
            )
        put(path, data)
        expected = iter(records())
        if not data:
            continue
        try:
            found, damage = recovered(path, "skip")
        except holdall.DecodeError as error:
            # What says that it is a file of another kind is no log.
            assert error.offset <= logs.START, error
            continue
        assert all(one in expected for one in found), found
        assert data == whole or damage
        assert holdall.verify(path).ok == (not damage)


def test_a_log_within_a_record_is_no_part_of_the_log(whole: bytes, path: Path) -> None:
    """One who looks for whole frames behind a damage must not take those of another log for its own."""
    write(path, [small(0), {"body": whole}, small(2)])
    data = path.read_bytes()
    hit = next(frame for frame in frames(data) if frame.record == 1)
    for bit in (8 * hit.begin + 3, 8 * hit.begin + 20, 8 * hit.begin + 50, 8 * hit.begin + 400):
        put(path, flipped(data, bit))
        assert recovered(path, "skip")[0] == [small(0), small(2)]


@pytest.mark.parametrize("compress", ["zstd", "lz4"])
def test_bits_of_packed_records(path: Path, compress: Any) -> None:
    made = [{"number": number, "body": bytes([number]) * 2000} for number in range(4)]
    write(path, made, compress=compress)
    data = path.read_bytes()
    assert len(data) < 4 * 500
    for bit in range(8 * logs.START, 8 * len(data), 7):
        put(path, flipped(data, bit))
        lost = frame_of(data, bit // 8).record
        assert not holdall.verify(path).ok
        assert recovered(path, "skip")[0] == [one for one in made if one["number"] != lost], bit


# --- torn ends ---


def test_every_torn_end(whole: bytes, path: Path) -> None:
    borders = {logs.START, *(frame.end for frame in frames(whole))}
    for end in range(1, len(whole)):
        put(path, whole[:end])
        expected = before(whole, end)
        begin = max((border for border in borders if border <= end), default=0)
        for repair in ("stop", "skip"):
            found, damage = recovered(path, repair)
            assert found == expected, end
            assert [one.offset for one in damage] == ([] if end in borders else [begin]), end
            assert all(one.size == end - begin and one.reason for one in damage), end
        found, error = until_error(path)
        assert found == expected, end
        if end in borders:
            assert error is None, end
        else:
            assert isinstance(error, holdall.TruncatedError) and begin <= error.offset <= end, end
        assert holdall.verify(path).ok == (end in borders), end


def test_an_empty_file(path: Path) -> None:
    """What a crash may leave of a log that was just made."""
    put(path, b"")
    assert recovered(path, "stop")[0] == recovered(path, "skip")[0] == []
    with pytest.raises(holdall.TruncatedError):
        read(path)
    write(path, smalls(2), append=True)
    assert read(path) == smalls(2)


@pytest.mark.parametrize("torn", ["cut", "zeros", "other bytes"])
def test_a_torn_log_goes_on(whole: bytes, path: Path, torn: str) -> None:
    for end in range(1, len(whole)):
        left = {"cut": b"", "zeros": bytes(40), "other bytes": bytes(range(1, 41))}[torn]
        if end < logs.START:
            left = b""  # it would be no log
        put(path, whole[:end] + left)
        expected = before(whole, end)
        with holdall.Writer(path, append=True, sync="never") as log:
            assert log.records == len(expected), end
            assert log.write(small(100)) == len(expected)
        write(path, [small(101), Point(3, "a label")], append=True)
        assert recovered(path, None) == ([*expected, small(100), small(101), Point(3, "a label")], []), end
        with holdall.Reader(path, types=[Point]) as reader:
            reader.seek(len(expected) + 1)
            assert reader.read() == small(101), end


def test_a_log_with_a_damage_within_goes_on(whole: bytes, path: Path) -> None:
    """What is behind a damage is not torn off: it stays, and so does what is damaged."""
    for bit in range(8 * logs.START, 8 * len(whole), 11):
        frame = frame_of(whole, bit // 8)
        if frame.end == len(whole):
            break
        put(path, flipped(whole, bit))
        write(path, smalls(2, 100), append=True)
        expected = [one for number, one in enumerate(records()) if number != frame.record]
        assert recovered(path, "skip")[0] == [*expected, *smalls(2, 100)], bit


# --- verify ---


def test_verify_repairs_a_log(whole: bytes, path: Path) -> None:
    for bit in range(8 * logs.START, 8 * len(whole), 41):
        put(path, flipped(whole, bit))
        lost = frame_of(whole, bit // 8).record
        expected = [one for number, one in enumerate(records()) if number != lost]
        report = holdall.verify(path, repair=True)
        assert not report.ok and report.repaired, bit
        assert report.records == len(expected)
        after = holdall.verify(path)
        assert after.ok and after.records == len(expected), bit
        assert recovered(path, None) == (expected, []), bit
        write(path, smalls(1, 100), append=True)
        assert recovered(path, None) == ([*expected, small(100)], []), bit


def test_verify_leaves_a_whole_log_as_it_is(whole: bytes, path: Path) -> None:
    put(path, whole)
    report = holdall.verify(path, repair=True)
    assert report.ok and not report.repaired
    assert path.read_bytes() == whole and [one.name for one in path.parent.iterdir()] == [path.name]


def test_verify_only_repairs_logs(path: Path) -> None:
    holdall.dump([1, 2, "three"], path)
    assert holdall.verify(path).ok and holdall.verify(path).kind == "graph"
    data = flipped(path.read_bytes(), 8 * 20)
    put(path, data)
    assert not holdall.verify(path).ok
    with pytest.raises(holdall.HoldallError):
        holdall.verify(path, repair=True)
    assert path.read_bytes() == data


def test_verify_tells_how_far_it_is(path: Path) -> None:
    write(path, [{"body": bytes(10_000)} for _ in range(1000)])
    told: list[tuple[int, int]] = []
    report = holdall.verify(path, progress=lambda done, total: told.append((done, total)))
    assert report.ok and report.records == 1000
    assert told == sorted(told) and told[-1] == (path.stat().st_size,) * 2


def test_verify_of_what_is_missing(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        holdall.verify(path)


# --- memory ---

PEAK = """
import json, sys
import holdall
from tests.support.peak import peak

path, repair, source = sys.argv[1:]
before = peak()
file = path if source == "path" else open(path, "rb")
with holdall.Reader(file, repair=None if repair == "None" else repair) as log:
    found = []
    try:
        for one in log:
            found.append(one["number"])
        error = None
    except holdall.TruncatedError as caught:
        error = str(caught)
    damage = [(one.offset, one.size) for one in log.damage]
print(json.dumps([found, damage, error, peak() - before]))
"""
HOLE = 64 << 20


def read_in_child(path: Path, repair: Any, source: str) -> tuple[list[int], list[list[int]], str | None]:
    """What a process of its own finds; its memory stays small beside the damage."""
    command = [sys.executable, "-c", PEAK, str(path), str(repair), source]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPO)
    assert done.returncode == 0, done.stderr[-2000:]
    found, damage, error, grown = json.loads(done.stdout)
    assert grown < 24 << 20, grown
    return found, damage, error


@pytest.fixture(scope="module")
def wrecked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Frame]]:
    """A log of whose records all but the first and the last two were overwritten with other bytes."""
    path = tmp_path_factory.mktemp("log") / "wrecked.log"
    body = random.Random(1).randbytes(1 << 20)
    write(path, [{"number": number, "body": body} for number in range(HOLE // len(body))])
    data = bytearray(path.read_bytes())
    kept = [frame for frame in frames(bytes(data)) if frame.record is not None]
    begin, end = kept[1].begin, kept[-3].end
    data[begin:end] = random.Random(2).randbytes(end - begin)
    put(path, data)
    return path, kept


@pytest.mark.parametrize(("source", "repair"), [("path", "stop"), ("path", "skip"), ("file", "stop")])
@pytest.mark.xdist_group("memory")
def test_memory_over_a_large_damage(wrecked: tuple[Path, list[Frame]], repair: Any, source: str) -> None:
    """(Where a stream ends is not known: one who skips waits for the end of what looks like a frame, one MiB in one by chance.)"""
    path, kept = wrecked
    found, damage, error = read_in_child(path, repair, source)
    assert error is None
    [(offset, size)] = damage
    assert offset == kept[1].begin
    if repair == "stop":
        assert found == [0] and offset + size == path.stat().st_size
    else:
        # The number is that of the restart before it, if there is one.
        assert len(found) == 3 and found[1:] == [kept[-2].record, kept[-1].record]
        assert offset + size <= kept[-2].begin


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.xdist_group("memory")
def test_memory_over_a_large_torn_end(path: Path, repair: Any) -> None:
    """The head of the last record says how much there should be: what there is of it is not read."""
    write(path, [{"number": 0}, {"number": 1, "body": random.Random(3).randbytes(HOLE)}])
    data = path.read_bytes()
    torn = next(frame for frame in frames(data) if frame.record == 1)
    end = torn.end - 1000
    put(path, data[:end])
    found, damage, error = read_in_child(path, repair, "path")
    assert found == [0]
    assert damage == ([] if repair is None else [[torn.begin, end - torn.begin]])
    assert error == (f"truncated: needs at least 1000 more bytes - at byte {end}" if repair is None else None)
