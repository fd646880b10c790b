"""`Writer` and `Reader`: what a log keeps, what its records cost, where it can be begun to read, from whom it can come."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import holdall
from tests.support import logs
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, TYPES
from tests.support.level import resident_stays_level
from tests.support.logs import read, small, smalls, write
from tests.support.places import REPO


@dataclass
class Event:
    id: int
    name: str
    level: str = "info"


@dataclass
class Other:
    id: int


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.log"


# --- what a log keeps ---


def test_records_come_back_in_order(path: Path) -> None:
    with holdall.Writer(path) as log:
        assert [log.write(one) for one in smalls(5)] == [0, 1, 2, 3, 4]
        assert log.records == 5
    with holdall.Reader(path) as log:
        assert log.record == 0
        assert log.read() == small(0)
        assert log.record == 1
        assert list(log) == smalls(4, 1)
        assert log.record == 5 and log.damage == []
        with pytest.raises(EOFError):
            log.read()


@pytest.mark.parametrize("compress", [None, "zstd", "lz4", ("zstd", 9)], ids=str)
def test_every_kind_in_one_log(path: Path, compress: Any) -> None:
    """Twice: what the first has named must not harm the second."""
    write(path, [kind.make() for kind in KINDS * 2], compress=compress)
    with holdall.Reader(path, types=TYPES) as log:
        for kind, found in zip(KINDS * 2, log, strict=True):
            isomorphic(kind.make(), found)


@pytest.mark.parametrize("seed", range(4))
def test_every_kind_in_any_order_and_sections(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    chosen = rng.choices(KINDS, k=300)
    for begin in range(0, 300, 60):
        write(path, [kind.make() for kind in chosen[begin : begin + 60]], append=True)
    with holdall.Reader(path, types=TYPES) as log:
        for kind, found in zip(chosen, log, strict=True):
            isomorphic(kind.make(), found)


def test_arrays(path: Path) -> None:
    np = pytest.importorskip("numpy")
    arrays = [np.arange(size, dtype=kind) for size in (0, 3, 5000) for kind in ("i1", "f4", "c16")]
    arrays += [np.arange(12.0).reshape(3, 4)[:, ::2], np.asfortranarray(np.ones((40, 50)))]
    write(path, [{"n": number, "array": array} for number, array in enumerate(arrays)])
    for number, (array, found) in enumerate(zip(arrays, read(path), strict=True)):
        assert found["n"] == number
        isomorphic(array, found["array"])
        assert found["array"].flags.writeable


def test_a_record_is_a_graph_of_its_own(path: Path) -> None:
    shared = ["shared"]
    cycle: list[Any] = [shared, shared]
    cycle.append(cycle)
    write(path, [cycle, [shared, shared], shared])
    first, second, third = read(path)
    isomorphic(first, cycle)
    assert second[0] is second[1]
    assert first[0] == second[0] == third and first[0] is not second[0] is not third


def test_trees(path: Path) -> None:
    shared = ["shared"]
    write(path, [[shared, shared]] * 2, refs=False)
    assert all(a is not b for a, b in read(path))
    cycle: list[Any] = []
    cycle.append(cycle)
    with holdall.Writer(path, refs=False) as log, pytest.raises(holdall.EncodeError):
        log.write(cycle)


def test_hooks(path: Path) -> None:
    write(path, [threading.Lock(), 1], enc_hook=lambda lock: "a lock")
    assert read(path) == ["a lock", 1]

    class Price:
        def __init__(self, cents: int) -> None:
            self.cents = cents

    write(path, [{"tea": 250}, {"milk": 90}])
    prices = read(path, type=dict[str, Price], dec_hook=lambda cls, cents: cls(cents))
    assert [(name, price.cents) for found in prices for name, price in found.items()] == [
        ("tea", 250),
        ("milk", 90),
    ]


def test_trusted_records(path: Path) -> None:
    write(path, [len, Event], trust=True)
    assert read(path, trust=True) == [len, Event]
    with holdall.Reader(path) as log, pytest.raises(holdall.DecodeError):
        log.read()


def test_a_record_that_cannot_be_stored_takes_no_number(path: Path) -> None:
    def refuse(obj: object) -> Any:
        raise TypeError("not this one")

    with holdall.Writer(path, enc_hook=refuse) as log:
        assert log.write(small(0)) == 0
        for bad in (lambda: None, [small(1), {"new key": object.__new__(type("Local", (), {})), "f": open}]):
            with pytest.raises((holdall.EncodeError, TypeError)):
                log.write(bad)
            assert log.records == 1
        assert log.write(small(1)) == 1
    assert read(path) == smalls(2)


def test_a_hook_may_not_write_to_the_log_that_asks_it(path: Path) -> None:
    def also(obj: object) -> Any:
        with pytest.raises(ValueError, match="in use"):
            log.write("also")
        return "a lock"

    with holdall.Writer(path, enc_hook=also) as log:
        assert [log.write(threading.Lock()), log.write(1)] == [0, 1]
    assert read(path) == ["a lock", 1]


def test_a_record_that_is_not_on_the_disk_is_not_there_twice() -> None:
    """The disk can't be reached for once: whoever writes the record again, since it was not acknowledged, has it once."""

    class File(io.BytesIO):
        failures = 1

        def flush(self) -> None:
            if self.tell() > 100 and self.failures:
                self.failures -= 1
                raise OSError(errno.EIO, "not now")

    file = File()
    log = holdall.Writer(file, sync="always")
    with pytest.raises(OSError):
        for number in range(10):
            assert log.write(small(number)) == number
    # It may say that it can't go on.
    with contextlib.suppress(ValueError):
        assert log.write(small(number)) == number
        assert log.write(small(number + 1)) == number + 1
        log.close()
    found = read(io.BytesIO(file.getvalue()))
    assert found == smalls(len(found)) and len(found) >= number


def test_an_empty_log(path: Path) -> None:
    holdall.Writer(path).close()
    assert read(path) == []
    assert path.read_bytes()[:4] == b"HOLD"
    report = holdall.verify(path)
    assert (report.ok, report.kind, report.records, report.bytes) == (True, "log", 0, path.stat().st_size)


def test_a_new_writer_begins_anew_unless_it_appends(path: Path) -> None:
    write(path, smalls(3))
    write(path, smalls(2))
    assert read(path) == smalls(2)
    with holdall.Writer(path, append=True) as log:
        assert log.records == 2
        assert log.write(small(2)) == 2
    assert read(path) == smalls(3)


def test_append_makes_a_log_where_there_is_none(path: Path) -> None:
    for count in range(20):
        with holdall.Writer(path, append=True, sync="never") as log:
            assert log.records == count
            log.write(small(count))
    assert read(path) == smalls(20)


def test_nothing_is_appended_to_what_is_no_log(path: Path) -> None:
    holdall.dump([1, 2], path)
    for content in (path.read_bytes(), b"something else entirely", b"abc"):
        path.write_bytes(content)
        with pytest.raises(holdall.HoldallError):
            holdall.Writer(path, append=True)
        assert path.read_bytes() == content


def test_only_logs_are_read_as_logs(path: Path) -> None:
    holdall.dump([1, 2], path)
    for content in (path.read_bytes(), b"something else entirely"):
        path.write_bytes(content)
        with pytest.raises(holdall.DecodeError):
            read(path)
    with pytest.raises(FileNotFoundError):
        holdall.Reader(path.with_name("missing"))


def test_options_are_checked(path: Path) -> None:
    with pytest.raises(ValueError, match="sync"):
        holdall.Writer(path, sync="sometimes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="repair"):
        holdall.Reader(None, repair="maybe")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        holdall.Writer(io.StringIO())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        holdall.Reader(5)  # type: ignore[arg-type]


def test_closed(path: Path) -> None:
    log = holdall.Writer(path)
    log.write(1)
    log.close()
    log.close()
    with pytest.raises(ValueError):
        log.write(2)
    reader = holdall.Reader(path)
    reader.close()
    reader.close()
    with pytest.raises(ValueError):
        reader.read()
    assert read(path) == [1]


@pytest.mark.parametrize("sync", ["always", "batch", "never"])
def test_what_is_there_before_close(path: Path, sync: Any) -> None:
    with holdall.Writer(path, sync=sync) as log:
        log.write(small(0))
        if sync == "always":
            assert read(path) == smalls(1)
        log.flush()
        assert read(path) == smalls(1)
        log.write(small(1))
    assert read(path) == smalls(2)


def test_sync_waits_for_the_disk(path: Path) -> None:
    """Asked of the kernel: how many times the disk was waited for."""
    if sys.platform != "linux" or not Path("/usr/bin/strace").exists():
        pytest.skip("strace is missing")
    program = (
        "import holdall, sys\n"
        "with holdall.Writer(sys.argv[1], sync=sys.argv[2]) as log:\n"
        "    for number in range(10): log.write(number)\n"
    )
    counts = {}
    for sync in ("always", "batch", "never"):
        path.unlink(missing_ok=True)
        command = ["/usr/bin/strace", "-f", "-e", "trace=fsync,fdatasync", sys.executable, "-c", program]
        done = subprocess.run([*command, str(path), sync], capture_output=True, text=True, cwd=REPO)
        if done.returncode != 0:
            pytest.skip("strace may not trace here")
        counts[sync] = done.stderr.count("sync(")
    assert counts["always"] >= 10 > counts["batch"] >= 1 > counts["never"] == 0


# --- what a record costs ---


def bytes_each(path: Path, records: list[Any], **options: Any) -> float:
    write(path, records, **options)
    return path.stat().st_size / len(records)


def test_small_records_stay_small(path: Path) -> None:
    """Keys, classes and texts that come again are numbers: 18 bytes are the frame's, and an id takes up to 4."""
    assert len(holdall.dumps(small(5000))) == 34
    assert bytes_each(path, smalls(10_000)) < 28
    assert read(path) == smalls(10_000)


def test_small_instances_stay_small(path: Path) -> None:
    records = [Event(number, f"name {number % 3}") for number in range(10_000)]
    assert len(holdall.dumps(records[5000])) > 50
    assert bytes_each(path, records) < 28
    assert read(path, types=[Event]) == records


def test_a_list_of_small_dicts_shares_as_well(path: Path) -> None:
    records = [smalls(5, number) for number in range(2000)]
    assert bytes_each(path, records) < 20 + 5 * 9
    assert read(path) == records


def test_a_text_that_nobody_repeats_is_written_once(path: Path) -> None:
    """It needs no number, and is not worth a frame of names: those are written again for who has lost the record."""
    records = [{"id": number, "text": f"said once, {number:>20}"} for number in range(10_000)]
    assert bytes_each(path, records) < 27 + len(records[0]["text"])
    assert read(path) == records


def test_names_are_written_again_now_and_then(path: Path) -> None:
    """So that no record is far from a place where reading can begin: a section takes about a MiB."""
    write(path, [{"a key of its own": number, "body": bytes(1000)} for number in range(4000)])
    assert 3 <= path.read_bytes().count(b"a key of its own") <= 20


class Null:
    def write(self, data: bytes) -> int:
        return len(data)


@pytest.mark.resident
@pytest.mark.xdist_group("memory")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux shows it")
def test_memory_is_constant(path: Path) -> None:
    """Though every record has keys and texts that nothing has named before: 20 MB of them a round."""

    def named(number: int) -> dict[str, Any]:
        text = f"a text that comes twice, {number:>75}"
        return {f"a key of record {number:>84}": text, "again": [text, text]}

    records = map(named, itertools.count())

    def write_some() -> None:
        for record in itertools.islice(records, 100_000):
            log.write(record)

    def read_some() -> None:
        for _ in range(50_000):
            reader.read()

    with holdall.Writer(Null()) as log:
        resident_stays_level(write_some, 6 << 20)
    write(path, itertools.islice(records, 400_000))
    with holdall.Reader(path) as reader:
        resident_stays_level(read_some, 6 << 20)


# --- seek ---


def sessions(path: Path) -> list[Any]:
    """A log of 4 MB, of three sessions, and a fourth of one record."""
    records = [
        {"number": number, "kind": f"kind {number % 7}", "body": random.Random(number).randbytes(1500)}
        for number in range(2601)
    ]
    for begin, end in ((0, 100), (100, 2000), (2000, 2600), (2600, 2601)):
        write(path, records[begin:end], append=True)
    return records


def test_seek(path: Path) -> None:
    records = sessions(path)
    restarts = sum(frame[0] & 15 == logs.RESTART for frame in begins(path.read_bytes()))
    assert restarts >= 6
    places = [0, 1, 99, 100, 101, 1999, 2000, 2599, 2600, *range(0, 2601, 97)]
    random.Random(1).shuffle(places)
    with holdall.Reader(path) as log:
        for place in places:
            log.seek(place)
            assert log.record == place
            assert log.read() == records[place]
            for following in records[place + 1 : place + 3]:
                assert log.read() == following
        log.seek(2601)
        assert list(log) == []
        log.seek(2590)
        assert list(log) == records[2590:]
        assert list(log) == []


def begins(log: bytes) -> Iterator[bytes]:
    return (log[frame.begin : frame.end] for frame in logs.frames(log))


def test_seek_beyond_the_end(path: Path) -> None:
    write(path, smalls(3))
    with holdall.Reader(path) as log:
        log.seek(1000)
        assert list(log) == []
        log.seek(2)
        assert list(log) == smalls(1, 2)


def test_seek_reads_little(path: Path) -> None:
    """The first third of the log is overwritten: one who goes to the last does not see it."""
    records = sessions(path)
    data = bytearray(path.read_bytes())
    data[8 : len(data) // 3] = bytes(len(data) // 3 - 8)
    path.write_bytes(data)
    with holdall.Reader(path) as log:
        for place in (2600, 2300, 1900):
            log.seek(place)
            assert log.read() == records[place]


def test_seek_where_records_name_what_was_named_before(path: Path) -> None:
    """Passing over a record must learn what it names, without its class being known."""
    write(
        path, [Event(number, f"name {number % 5}") if number % 2 else small(number) for number in range(500)]
    )
    with holdall.Reader(path) as log:
        for place in (498, 0, 250, 2):
            log.seek(place)
            assert log.read() == small(place)


def test_seek_in_a_stream_is_refused() -> None:
    with holdall.Reader(io.BytesIO()) as log, pytest.raises(ValueError):
        log.seek(0)


# --- by type, and by class ---


def test_by_type(path: Path) -> None:
    write(path, smalls(5))
    assert read(path, type=Event) == [Event(**one) for one in smalls(5)]
    assert read(path, type=dict[str, Any]) == smalls(5)


def test_a_record_of_another_type_is_passed_over(path: Path) -> None:
    write(path, [small(0), {"id": "no number"}, small(2), 7, small(4)])
    with holdall.Reader(path, type=Event) as log:
        assert log.read().id == 0
        for number in (1, 3):
            with pytest.raises(holdall.ValidationError):
                log.read()
            assert log.record == number + 1
            assert log.read().id == number + 1
        assert list(log) == [] and log.damage == []


def test_an_unknown_class_is_passed_over(path: Path) -> None:
    """What its record has named is there for those that follow."""
    records = [Event(0, "first"), Other(1), Event(2, "first"), Other(3), Event(4, "first"), small(5)]
    write(path, records)
    with holdall.Reader(path, types=[Event]) as log:
        assert log.read() == records[0]
        for number in (1, 3):
            with pytest.raises(holdall.UnknownTypeError, match="Other"):
                log.read()
            assert log.record == number + 1
            assert log.read() == records[number + 1]
        assert list(log) == [small(5)]
    assert read(path, types=[Event, Other]) == records
    assert [type(one) for one in read(path, types=holdall.Record)[:2]] == [holdall.Record] * 2


def test_limits_hold_for_each_record(path: Path) -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    write(path, [small(0), deep, small(2), [small(number) for number in range(1000)], small(4)])
    for limits in (holdall.Limits(depth=50, objects=100), holdall.Limits(depth=50, bytes=10_000)):
        with holdall.Reader(path, limits=limits) as log:
            assert log.read() == small(0)
            for number in (1, 3):
                with pytest.raises(holdall.LimitError):
                    log.read()
                assert log.read() == small(number + 1)
            assert list(log) == []
    # They are each record's, not the log's.
    write(path, smalls(1000))
    assert len(read(path, limits=holdall.Limits(objects=20))) == 1000
