"""Logs in parts: together they have all records, each once, wherever a log is cut and whatever is damaged."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall


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
