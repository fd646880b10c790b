"""Sealed logs: what was changed, moved, repeated or left out is noticed; a crash costs no whole piece."""

from __future__ import annotations

import io
import itertools
import pathlib
import threading
from typing import Any

import pytest

import holdall
from holdall import Seal, SealError
from tests.support import seals as by_hand

KEY = bytes(range(1, 33))
SEAL = Seal(KEY, context="events")


def records(*numbers: int) -> list[dict[str, Any]]:
    return [{"event": f"number {number}", "at": number} for number in numbers]


def log(tmp_path: pathlib.Path, count: int = 4, **options: Any) -> pathlib.Path:
    """A log of which each record is a piece."""
    path = tmp_path / "events.log"
    with holdall.Writer(path, seal=SEAL, sync="always", **options) as writer:
        for record in records(*range(count)):
            writer.write(record)
    return path


def read(data: Any, **options: Any) -> tuple[list[Any], str]:
    """The records, and what was wrong then."""
    found: list[Any] = []
    reader = holdall.Reader(data, seal=SEAL, **options)
    try:
        found.extend(reader)
    except holdall.DecodeError as error:
        return [record["at"] for record in iterated(data)], str(error)
    return [record["at"] for record in found], ""


def iterated(data: Any) -> list[Any]:
    return list(holdall.Reader(data, seal=SEAL, repair="stop"))


@pytest.mark.parametrize("sync", ["always", "batch", "never"])
@pytest.mark.parametrize("compress", [None, "zstd"])
def test_round_trip(tmp_path: pathlib.Path, sync: Any, compress: Any) -> None:
    path = tmp_path / "events.log"
    with holdall.Writer(path, seal=SEAL, sync=sync, compress=compress) as writer:
        assert [writer.write(record) for record in records(*range(500))] == list(range(500))
        assert writer.records == 500
    with holdall.Reader(path, seal=SEAL) as reader:
        assert list(reader) == records(*range(500)) and reader.record == 500 and reader.damage == []
    assert read(path.read_bytes()) == (list(range(500)), "")
    assert read(io.BytesIO(path.read_bytes()))[0] == list(range(500))
    with holdall.Reader(path, seal=SEAL) as reader:
        reader.seek(490)
        assert [record["at"] for record in reader] == list(range(490, 500))
        with pytest.raises(ValueError, match="read forward"):
            reader.seek(0)
    with pytest.raises(IndexError):
        holdall.Reader(path, seal=SEAL).seek(600)


def test_names_are_shared_as_in_any_log(tmp_path: pathlib.Path) -> None:
    with holdall.Writer(tmp_path / "plain.log") as plain:
        for record in records(*range(1000)):
            plain.write(record)
    with holdall.Writer(tmp_path / "sealed.log", seal=SEAL) as sealed:
        for record in records(*range(1000)):
            sealed.write(record)
    sizes = [(tmp_path / name).stat().st_size for name in ("plain.log", "sealed.log")]
    assert sizes[1] - sizes[0] < 150


def test_pieces_that_are_changed_moved_repeated_or_left_out(tmp_path: pathlib.Path) -> None:
    data = log(tmp_path).read_bytes()
    begin, pieces = data[:21], by_hand.pieces_of(data)
    assert len(pieces) == 5 and begin + b"".join(pieces) == data
    for order in itertools.permutations(range(5)):
        text = begin + b"".join(pieces[at] for at in order)
        # As far as the order is right.
        right = next((place for place, at in enumerate(order) if place != at), 5)
        found, error = read(text)
        assert found == list(range(min(right, 4))), order
        assert bool(error) == (right < 5), order
    for left_out in range(4):
        found, error = read(begin + b"".join(pieces[:left_out] + pieces[left_out + 1 :]))
        assert found == list(range(left_out)) and "was changed, moved or left out" in error
    for again in range(5):
        found, error = read(begin + b"".join([*pieces[: again + 1], pieces[again], *pieces[again + 1 :]]))
        assert found == list(range(min(again + 1, 4))) and "was changed, moved or left out" in error


def test_every_byte_and_every_length(tmp_path: pathlib.Path) -> None:
    data = log(tmp_path, 2).read_bytes()
    whole = [21, *itertools.accumulate(map(len, by_hand.pieces_of(data)), initial=21)]
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        found, error = read(bytes(changed))
        assert error and found == list(range(max(0, sum(end <= at for end in whole) - 2))), at
        found, error = read(data[:at])
        assert error and found == list(range(max(0, sum(end <= at for end in whole) - 2))), at


def test_the_end(tmp_path: pathlib.Path) -> None:
    """A cut between pieces is told by the closing piece; one behind an earlier closing piece by the count alone."""
    path = log(tmp_path)
    data = path.read_bytes()
    *_, closing = by_hand.pieces_of(data)
    cut = data[: -len(closing)]
    with pytest.raises(
        SealError, match="^the log was not closed: pieces at its end may be missing - at byte "
    ):
        list(holdall.Reader(cut, seal=SEAL))
    reader = holdall.Reader(cut, seal=SEAL, repair="stop")
    assert len(list(reader)) == 4 and [damage.offset for damage in reader.damage] == [len(cut)]
    with holdall.Writer(path, seal=SEAL, append=True) as writer:
        assert writer.records == 4 and writer.write(records(4)[0]) == 4
    assert read(path)[0] == [0, 1, 2, 3, 4]
    reader = holdall.Reader(data, seal=SEAL)
    assert len(list(reader)) == reader.record == 4  # what the user compares
    assert read(b"") == ([], "the log was not closed: pieces at its end may be missing - at byte 0")


def test_an_empty_log(tmp_path: pathlib.Path) -> None:
    holdall.Writer(tmp_path / "empty.log", seal=SEAL).close()
    assert read(tmp_path / "empty.log") == ([], "")
    with holdall.Writer(tmp_path / "empty.log", seal=SEAL, append=True) as writer:
        writer.write(records(0)[0])
    assert read(tmp_path / "empty.log") == ([0], "")


def test_pieces_of_two_versions_of_a_log(tmp_path: pathlib.Path) -> None:
    """A log was cut, and went on in another way: what was cut off fits it no more."""
    path = log(tmp_path, 2)
    first = path.read_bytes()
    with holdall.Writer(path, seal=SEAL, append=True, sync="always") as writer:
        writer.write("left"), writer.write("left again")
    left = by_hand.pieces_of(path.read_bytes())
    path.write_bytes(first)
    with holdall.Writer(path, seal=SEAL, append=True, sync="always") as writer:
        writer.write("right"), writer.write("right again")
    right = by_hand.pieces_of(path.read_bytes())
    assert left[:3] == right[:3] and len(left) == len(right) == 6
    mixed = first[:21] + b"".join([*left[:4], *right[4:]])
    assert list(holdall.Reader(mixed, seal=SEAL, repair="stop"))[2:] == ["left"]
    with pytest.raises(SealError):
        list(holdall.Reader(mixed, seal=SEAL))


def test_another_log_key_context_or_kind(tmp_path: pathlib.Path) -> None:
    data = log(tmp_path).read_bytes()
    other = log(tmp_path).read_bytes()
    assert read(data[:21] + other[21:])[0] == []  # the same key and records, but another log
    for seal in (Seal(KEY), Seal(bytes(range(2, 34)), context="events")):
        with pytest.raises(SealError):
            list(holdall.Reader(data, seal=seal))
    assert len(list(holdall.Reader(data, seal=Seal(Seal.new_key(), context="events", old_keys=[KEY])))) == 4
    for foreign in (b"HOLD", holdall.dumps(1, seal=SEAL), holdall.dumps(1), b"\x80\x04"):
        with pytest.raises(SealError, match="^not a sealed log - at byte 0$"):
            list(holdall.Reader(foreign, seal=SEAL))
    for door in (holdall.loads, holdall.load, holdall.open, lambda data: list(holdall.Reader(data))):
        with pytest.raises(holdall.DecodeError, match="if this is sealed"):
            door(data)
    with pytest.raises(SealError):
        holdall.loads(data, seal=SEAL)
    with pytest.raises(ValueError, match="^repair: expected None or"):
        holdall.Reader(data, seal=SEAL, repair="skip")


def test_a_rotated_key_goes_on_with_the_logs_own(tmp_path: pathlib.Path) -> None:
    path = log(tmp_path)
    rotated = Seal(bytes(range(2, 34)), context="events", old_keys=[KEY])
    with holdall.Writer(path, seal=rotated, append=True) as writer:
        writer.write(records(4)[0])
    assert read(path)[0] == [0, 1, 2, 3, 4]


def test_a_torn_tail_is_cut_and_nothing_else(tmp_path: pathlib.Path) -> None:
    path = log(tmp_path)
    data = path.read_bytes()
    pieces = by_hand.pieces_of(data)
    ends = list(itertools.accumulate(map(len, pieces), initial=21))
    for torn in range(ends[3] + 1, ends[4], 7):
        for tail in (b"", bytes(500), bytes(ends[4] - torn)):
            path.write_bytes(data[:torn] + tail)
            with holdall.Writer(path, seal=SEAL, append=True) as writer:
                assert writer.records == 3 and writer.cut == torn + len(tail) - ends[3]
                writer.write(records(3)[0])
            assert read(path) == ([0, 1, 2, 3], "")
    # A damage with whole pieces behind it is no tail: nothing of the file may be cut.
    damaged = bytearray(data)
    damaged[ends[1] + 40] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(SealError):
        holdall.Writer(path, seal=SEAL, append=True)
    assert path.read_bytes() == damaged
    for foreign in (b"HOLD and more", b"\x80\x04 a pickle"):
        path.write_bytes(foreign)
        with pytest.raises(SealError):
            holdall.Writer(path, seal=SEAL, append=True)
        assert path.read_bytes() == foreign


def test_a_failed_write(tmp_path: pathlib.Path) -> None:
    class Full(io.BytesIO):
        full = False

        def write(self, data: Any) -> int:
            if self.full:
                raise OSError("no space")
            return super().write(data)

    file = Full()
    writer = holdall.Writer(file, seal=SEAL, sync="always")
    writer.write(records(0)[0])
    file.full = True
    with pytest.raises(OSError, match="no space"):
        writer.write(records(1)[0])
    file.full = False
    with pytest.raises(ValueError, match="earlier write"):
        writer.write(records(2)[0])
    with pytest.raises(ValueError, match="earlier write"):
        writer.close()
    assert read(file.getvalue())[0] == [0]


def test_a_record_that_can_not_be_stored_is_not_in_the_log(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "events.log"
    with holdall.Writer(path, seal=SEAL) as writer:
        writer.write(records(0)[0])
        with pytest.raises(holdall.EncodeError):
            writer.write(lambda: None)
        assert writer.write(records(1)[0]) == 1
    assert read(path) == ([0, 1], "")


def test_feed_and_follow(tmp_path: pathlib.Path) -> None:
    data = log(tmp_path).read_bytes()
    reader, found = holdall.Reader(None, seal=SEAL), []
    for at in range(0, len(data), 10):
        reader.feed(data[at : at + 10])
        found += [record["at"] for record in reader]
    reader.end()
    assert list(reader) == [] and found == [0, 1, 2, 3]
    path = tmp_path / "growing.log"
    writer = holdall.Writer(path, seal=SEAL, sync="always")
    writer.write(records(0)[0])
    following = holdall.Reader(path, seal=SEAL, follow=True)
    assert next(following) == records(0)[0]
    thread = threading.Timer(0.05, lambda: writer.write(records(1)[0]))
    thread.start()
    assert next(following) == records(1)[0]
    thread.join()
    threading.Timer(0.05, following.close).start()
    assert list(following) == []
    writer.close()


def test_trusted_records_and_options(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "trusted.log"
    with holdall.Writer(path, seal=SEAL, trust=True) as writer:
        writer.write([print])
    assert list(holdall.Reader(path, seal=SEAL, trust=True)) == [[print]]
    with pytest.raises(holdall.DecodeError, match="trusted"):
        list(holdall.Reader(path, seal=SEAL))
    with holdall.Writer(path, seal=SEAL) as writer:
        writer.write([1]), writer.write("text"), writer.write([2])
    reader = holdall.Reader(path, seal=SEAL, type=list[int])
    assert next(reader) == [1]
    with pytest.raises(holdall.ValidationError):
        next(reader)
    assert next(reader) == [2]  # a record that can't be built costs no other
    with pytest.raises(BlockingIOError), holdall.Writer(path, seal=SEAL, append=True):
        holdall.Writer(path, seal=SEAL, append=True)
