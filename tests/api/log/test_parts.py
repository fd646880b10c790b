"""Logs in parts: together they have all records, each once, wherever a log is cut and whatever is damaged."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from tests.support import file_frames as ff


def written(path: pathlib.Path, sessions: list[int], compress: Any = None, size: int = 300) -> bytes:
    """A log of so many records a session: each begins a window, however small."""
    made = random.Random(1)
    path.unlink(missing_ok=True)
    for count in sessions:
        with holdall.Writer(path, append=path.exists(), compress=compress, sync="never") as log:
            for _ in range(count):
                log.write(
                    {
                        "id": log.records,
                        "name": f"n{made.randrange(9)}",
                        "data": made.randbytes(made.randrange(size)),
                    }
                )
    return path.read_bytes()


def ids(path: pathlib.Path, **options: Any) -> list[int]:
    return [record["id"] for record in holdall.Reader(path, **options)]


def in_parts(path: pathlib.Path, blocksize: int, **options: Any) -> list[int]:
    return [found for part in holdall.split_log(path, blocksize) for found in ids(path, part=part, **options)]


@given(
    sessions=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    blocksize=st.integers(300, 9000),
    compress=st.sampled_from([None, "zstd", "lz4"]),
    damage=st.lists(
        st.tuples(
            st.floats(0, 1), st.integers(1, 700), st.sampled_from(["zeros", "noise", "a bit", "moved"])
        ),
        max_size=4,
    ),
    cut=st.one_of(st.none(), st.floats(0, 1)),
)
def test_each_record_is_in_one_part(
    tmp_path_factory: Any, sessions: Any, blocksize: Any, compress: Any, damage: Any, cut: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "parts.log"
    data = bytearray(written(path, sessions, compress))
    for place, length, kind in damage:
        at = 8 + int(place * (len(data) - 8))
        part = data[at : at + length]
        if kind == "a bit" and part:
            part[0] ^= 1 << length % 8
        elif kind == "moved":
            # Frames of another place are no frames here.
            part = (data[40 : 40 + length] + part)[: len(part)]
        else:
            part = (
                bytearray(len(part))
                if kind == "zeros"
                else bytearray(random.Random(length).randbytes(len(part)))
            )
        data[at : at + length] = part
    if cut is not None:
        del data[int(cut * len(data)) :]
    path.write_bytes(data)
    assert in_parts(path, blocksize, repair="skip") == ids(path, repair="skip")
    assert in_parts(path, len(data) + 1, repair="skip") == ids(path, repair="skip")


def test_every_place_to_cut(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "parts.log"
    size = len(written(path, [2, 0, 1, 3], size=4))
    for at in range(1, size):
        parts = [(0, at), (at, size)]
        assert [found for part in parts for found in ids(path, part=part)] == [*range(6)], at


def test_a_restart_that_is_lost_is_the_part_befores(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "parts.log"
    first = len(written(path, [20]))
    data = bytearray(written(path, [20, 20, 20]))
    # The body of the second restart.
    data[first + 9] ^= 1
    path.write_bytes(data)
    whole = ids(path, repair="skip")
    parts = [(0, first), (first, first + 10), (first + 10, len(data))]
    apart = [ids(path, part=part, repair="skip") for part in parts]
    assert [one for part in apart for one in part] == whole and len(whole) == 60 and not apart[1]
    with pytest.raises(holdall.DecodeError):
        ids(path, part=parts[0])
    assert ids(path, part=parts[2])[-1] == 59


def test_records_have_the_numbers_of_the_log(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "parts.log"
    first = len(written(path, [20]))
    size = len(written(path, [20, 20]))
    with holdall.Reader(path, part=(first, size)) as log:
        assert (next(log)["id"], log.record) == (20, 21)
        with pytest.raises(ValueError, match="can't be sought in"):
            log.seek(3)


def test_what_is_appended_meanwhile(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "parts.log"
    written(path, [20])
    parts = holdall.split_log(path)
    with holdall.Writer(path, append=True) as log:
        log.write({"id": 20})
    assert ids(path, part=parts[-1]) == [*range(20)]


def test_what_is_asked_wrongly(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "parts.log"
    data = written(path, [3])
    for options in ({"follow": True}, {"repair": "stop"}):
        with pytest.raises(ValueError, match="part: expected a log that is opened by its path"):
            holdall.Reader(path, part=(0, 9), **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="part: expected a log that is opened by its path"):
        holdall.Reader(data, part=(0, 9))
    with pytest.raises(ValueError, match="blocksize: expected a number of bytes from 1 on, got 0"):
        holdall.split_log(path, 0)
    holdall.dump([1], tmp_path / "graph.hold")
    with pytest.raises(ValueError, match="a file of one graph"):
        holdall.split_log(tmp_path / "graph.hold")
    (tmp_path / "empty.log").write_bytes(b"")
    assert holdall.split_log(tmp_path / "empty.log") == []
    with holdall.Writer(tmp_path / "sealed.log", seal=(seal := holdall.Seal(bytes(range(1, 33))))) as log:
        log.write(1)
    with pytest.raises(ValueError, match="sealed log"):
        holdall.split_log(tmp_path / "sealed.log")
    with pytest.raises(ValueError, match="sealed log"):
        holdall.Reader(tmp_path / "sealed.log", part=(0, 9), seal=seal)


MARK = b"<what is planted>"


def planted(path: pathlib.Path, inner: list[ff.Frame], named: bool) -> tuple[list[Any], int, int]:
    """A log one of whose records holds frames that are whole where they lie, the first of them a restart. Gives its records, where that
    record begins, and where the planted restart does."""

    def log(inside: bytes) -> bytes:
        path.unlink(missing_ok=True)
        with holdall.Writer(path, sync="never") as writer:
            for number in range(20):
                data = inside if number == 10 else b"-" * 50
                # Without keys no record names anything, so that none needs another.
                writer.write({"id": number, "data": data} if named else [number, data])
        return path.read_bytes()

    room = sum(ff.HEAD + len(frame.body) + ff.TAIL for frame in inner)
    at = log(MARK + bytes(room)).index(MARK) + len(MARK)
    frames = b""
    for frame in inner:
        frames += ff.framed(frame, at + len(frames))
    data = log(MARK + frames)
    assert data[at : at + len(frames)] == frames
    begins = behind = 8
    while behind < at:
        begins, behind = (
            behind,
            behind + ff.HEAD + int.from_bytes(data[behind + 1 : behind + 6], "little") + ff.TAIL,
        )
    return list(holdall.Reader(path)), begins, at


def restart(record: int, number: int) -> ff.Frame:
    return ff.Frame(ff.RESTART, record.to_bytes(8, "little") + number.to_bytes(8, "little"))


@pytest.mark.parametrize("named", [True, False])
def test_a_planted_restart_is_an_error_or_the_same_records(tmp_path: pathlib.Path, named: bool) -> None:
    path = tmp_path / "planted.log"
    for number in (0, 1, 7):
        records, begins, at = planted(path, [restart(11, number)], named)
        size = path.stat().st_size
        assert len(records) == 20
        for cut in range(begins - 40, at + 40, 7):
            parts = [(0, cut), (cut, size)]
            # The rest of the record is no frame: whoever begins in it is told so.
            if cut <= at:
                with pytest.raises(holdall.DecodeError):
                    list(holdall.Reader(path, part=parts[1]))
            else:
                assert list(holdall.Reader(path, part=parts[1])) == []
            first = list(holdall.Reader(path, part=parts[0]))
            assert first == (records[:11] if cut <= at else records)
            # What is passed over is told, and is never another record.
            passed = []
            for part in parts:
                reader = holdall.Reader(path, part=part, repair="skip")
                found = list(reader)
                passed += reader.damage
                assert all(record in records for record in found)
            assert bool(passed) == (cut <= at)


def test_planted_records_are_not_taken_in_silence(tmp_path: pathlib.Path) -> None:
    """Who made the log may have any records in it. But what a reader of the whole does not have, a part has no more without an error."""
    path = tmp_path / "planted.log"
    wrong = ff.Frame(ff.RECORD, bytes([9, 0]) + holdall.dumps("planted"))
    records, _, at = planted(path, [restart(11, 9), wrong], True)
    assert "planted" not in records
    reader = holdall.Reader(path, part=(at, path.stat().st_size))
    with pytest.raises(holdall.DecodeError):
        list(reader)
    reader = holdall.Reader(path, part=(at, path.stat().st_size), repair="skip")
    list(reader)
    assert reader.damage
