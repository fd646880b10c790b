"""Logs that grow while they are read, and logs that come from streams, sockets and those who feed them."""

from __future__ import annotations

import asyncio
import gzip
import io
import itertools
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdall
from holdall.aio import AsyncReader, AsyncWriter
from tests.support import logs
from tests.support.each import each
from tests.support.logs import read, small, smalls, write
from tests.support.places import REPO


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.log"


# --- follow ---


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    outcome: list[Any] = []

    def target() -> None:
        try:
            outcome.append(function())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread, outcome


def test_follow_sees_what_a_thread_appends(path: Path) -> None:
    with holdall.Writer(path, sync="never") as log:
        log.write(small(0))
        log.flush()
        with holdall.Reader(path, follow=True) as reader:
            thread, outcome = in_thread(lambda: list(itertools.islice(reader, 40)))
            for number in range(1, 40):
                log.write(small(number))
                log.flush()
                if number % 10 == 0:
                    time.sleep(0.03)
            thread.join(60)
    assert outcome == [smalls(40)]


def test_follow_ends_when_it_is_closed(path: Path) -> None:
    """Whatever it is at: looking at the file, or waiting. The file's descriptor may be another file's a moment later."""
    write(path, smalls(3))
    for number in range(80):
        reader = holdall.Reader(path, follow=True)
        found: list[Any] = []

        def follow(reader: Any = reader, found: list[Any] = found) -> None:
            for one in reader:
                found.append(one)

        thread, outcome = in_thread(follow)
        while len(found) < 3 and thread.is_alive():
            time.sleep(0.001)
        time.sleep(number % 40 / 2000)
        reader.close()
        thread.join(60)
        assert not thread.is_alive() and outcome == [None], outcome
        assert found == smalls(3)


def test_follow_goes_over_sessions_and_waits_for_whole_records(path: Path) -> None:
    write(path, smalls(2))
    whole = path.read_bytes()
    write(path, smalls(2, 2), append=True)
    rest = path.read_bytes()[len(whole) :]
    path.write_bytes(whole)
    with holdall.Reader(path, follow=True) as reader:
        assert [reader.read(), reader.read()] == smalls(2)
        thread, outcome = in_thread(lambda: [reader.read(), reader.read()])
        with open(path, "ab", buffering=0) as file:
            for begin in range(0, len(rest), 9):
                file.write(rest[begin : begin + 9])
                time.sleep(0.002)
        thread.join(60)
        assert outcome == [smalls(2, 2)]
        assert reader.damage == []


def before_torn_ends(path: Path) -> Iterator[tuple[int, holdall.Reader]]:
    """Logs whose last of five records was cut off, one after each of its bytes, and who has read the four before."""
    write(path, smalls(5))
    whole = path.read_bytes()
    last = [frame for frame in logs.frames(whole) if frame.record is not None][-1]
    for end in range(last.begin + 1, last.end):
        logs.put(path, whole[:end])
        reader = holdall.Reader(path, follow=True)
        assert [reader.read() for _ in range(4)] == smalls(4)
        yield end, reader


def test_follow_reads_a_torn_end_again(path: Path) -> None:
    """It has the torn end in its buffer, read with the records before; meanwhile the next writer puts others in its place."""
    for end, reader in before_torn_ends(path):
        with reader:
            with holdall.Writer(path, append=True, sync="never") as log:
                log.write({"instead of": "the other"})
                log.write(small(5))
            assert [reader.read(), reader.read()] == [{"instead of": "the other"}, small(5)], end
            assert reader.damage == []


def test_follow_goes_on_where_a_torn_end_was_cut_off(path: Path) -> None:
    """It has seen a part of a record whose writer died. The next writer puts another in its place."""
    for end, reader in before_torn_ends(path):
        with reader:
            thread, outcome = in_thread(lambda reader=reader: [reader.read(), reader.read()])
            time.sleep(0.002)  # it waits for the rest
            with holdall.Writer(path, append=True, sync="never") as log:
                assert log.write({"instead of": "the other"}) == 4
                log.write(small(5))
            thread.join(60)
            assert outcome == [[{"instead of": "the other"}, small(5)]], (end, outcome)
            assert reader.damage == []


@pytest.mark.parametrize("repair", [None, "stop", "skip"])
@pytest.mark.parametrize("size", [40, 700_000])
def test_follow_waits_where_nothing_whole_follows(path: Path, repair: Any, size: int) -> None:
    """Other bytes at the end may be what a crash has left: the next writer cuts them off."""
    write(path, smalls(3))
    with open(path, "ab") as file:
        file.write(random.Random(size).randbytes(size))
    with holdall.Reader(path, follow=True, repair=repair) as reader:
        thread, outcome = in_thread(lambda: list(itertools.islice(reader, 5)))
        time.sleep(0.1)
        assert thread.is_alive(), outcome
        write(path, smalls(2, 3), append=True)
        thread.join(60)
        assert outcome == [smalls(5)] and reader.damage == []


@pytest.mark.parametrize("repair", [None, "stop", "skip"])
@pytest.mark.parametrize("size", [40, 700_000])
def test_follow_goes_over_damage_where_whole_ones_follow(path: Path, repair: Any, size: int) -> None:
    write(path, [*smalls(3), {"body": bytes(size)}, *smalls(2, 4)])
    data = bytearray(path.read_bytes())
    hit = next(frame for frame in logs.frames(data) if frame.record == 3)
    end = next(frame for frame in logs.frames(data) if frame.record == 4).begin
    data[hit.begin : hit.end] = random.Random(size).randbytes(hit.end - hit.begin)
    logs.put(path, data)
    with holdall.Reader(path, follow=True, repair=repair) as reader:
        thread, outcome = in_thread(lambda: list(itertools.islice(reader, 6)))
        if repair is None:
            thread.join(60)
            assert isinstance(outcome[0], holdall.ChecksumError) and outcome[0].offset == hit.begin
            return
        if repair == "skip":
            time.sleep(0.05)
            write(path, smalls(1, 6), append=True)
        thread.join(60)
        [(offset, damaged, _)] = [(one.offset, one.size, one.reason) for one in reader.damage]
        assert offset == hit.begin
        if repair == "stop":
            assert outcome == [smalls(3)] and offset + damaged == len(data)
        else:
            assert outcome == [[*smalls(3), *smalls(3, 4)]] and hit.end <= offset + damaged <= end


def test_follow_sees_what_a_process_appends(path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.log_child", "append", str(path), "always"]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            while child.stdout.readline() != b"1\n":
                assert child.poll() is None
            with holdall.Reader(path, follow=True) as reader:
                thread, outcome = in_thread(lambda: list(itertools.islice(reader, 12)))
                thread.join(60)
        finally:
            child.kill()
    assert outcome == [[logs.record(number) for number in range(12)]]


# --- from streams, and fed ---


def sample() -> tuple[bytes, list[Any]]:
    """Of two sessions; the first has a record larger than what is read at once."""
    file = io.BytesIO()
    records = [*smalls(20), {"large": bytes(300_000)}, *smalls(20, 20), [], None]
    with holdall.Writer(file) as log:
        for one in records:
            log.write(one)
    return file.getvalue(), records


@pytest.mark.parametrize("chunk", [1, 2, 7, 64, 1000, 300_000, 1 << 20])
def test_feed(chunk: int) -> None:
    data, records = sample()
    if chunk < 7:  # not so many turns
        data, records = data[: logs.frames(data)[20].begin], records
    with holdall.Reader(None) as log:
        found = []
        for begin in range(0, len(data), chunk):
            log.feed(data[begin : begin + chunk])
            before = log.record
            found += list(log)
            assert log.record >= before
        assert list(log) == []
    assert found == records[: len(found)]
    assert len(found) == sum(frame.record is not None for frame in logs.frames(data))


@each("seed", range(20))
def test_feed_in_pieces_of_any_size(seed: int) -> None:
    data, records = sample()
    rng = random.Random(seed)
    log = holdall.Reader(None)
    found, at = [], 0
    while at < len(data):
        size = rng.choice([1, rng.randrange(1, 40), rng.randrange(1, 100_000)])
        piece = data[at : at + size]
        log.feed(rng.choice([bytes, bytearray, memoryview])(piece))
        at += size
        found += list(log) if rng.random() < 0.7 else []
    assert found + list(log) == records


def test_what_is_fed_is_copied() -> None:
    data, records = sample()
    log = holdall.Reader(None)
    buffer = bytearray(data)
    log.feed(buffer)
    buffer[:] = bytes(len(buffer))
    assert list(log) == records


def test_only_a_reader_of_none_is_fed(path: Path) -> None:
    write(path, smalls(1))
    with holdall.Reader(path) as log, pytest.raises(ValueError):
        log.feed(b"")


class Trickle(io.RawIOBase):
    """Gives and takes a few bytes at a time, as a socket may."""

    def __init__(self, data: bytes = b"", step: int = 7) -> None:
        self.inner, self.step = io.BytesIO(data), step

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.inner.readinto(memoryview(buffer)[: self.step])

    def write(self, data: Any) -> int:
        return self.inner.write(bytes(memoryview(data)[: self.step]))


class OnlyRead:
    def __init__(self, data: bytes) -> None:
        self.read = io.BytesIO(data).read


@pytest.mark.parametrize("source", [io.BytesIO, OnlyRead, Trickle, lambda data: Trickle(data, 50_000)])
def test_file_objects(source: Any) -> None:
    data, records = sample()
    assert read(source(data)) == records


def test_file_objects_that_take_a_part() -> None:
    file = Trickle()
    with holdall.Writer(file) as log:
        for one in smalls(30):
            log.write(one)
    assert read(io.BytesIO(file.inner.getvalue())) == smalls(30)


def test_a_packed_file(path: Path) -> None:
    with gzip.open(path, "wb") as file, holdall.Writer(file) as log:
        for one in smalls(100):
            log.write(one)
    with gzip.open(path) as file:
        assert read(file) == smalls(100)


def pipe() -> tuple[Any, Any]:
    reading, writing = os.pipe()
    return open(reading, "rb", buffering=0), open(writing, "wb", buffering=0)


def buffered_pipe() -> tuple[Any, Any]:
    reading, writing = os.pipe()
    return open(reading, "rb"), open(writing, "wb", buffering=0)


def socket_files() -> tuple[Any, Any]:
    ours, theirs = socket.socketpair()
    with ours, theirs:  # the files keep them open
        return ours.makefile("rb"), theirs.makefile("wb", buffering=0)


@pytest.mark.parametrize("ends", [pipe, buffered_pipe, socket_files])
def test_pipes_and_sockets(ends: Callable[[], tuple[Any, Any]]) -> None:
    """Each record is read while the writer waits for that: a reader that wants more than there is never comes back."""
    reading, writing = ends()
    seen = [threading.Event() for _ in range(20)]
    found = []

    def receive() -> None:
        with holdall.Reader(reading) as log:
            for event, one in zip(seen, log, strict=True):
                found.append(one)
                event.set()

    with reading:
        thread, outcome = in_thread(receive)
        with writing, holdall.Writer(writing, sync="always") as log:
            arrived = []
            for number, event in enumerate(seen):
                log.write(small(number))
                arrived.append(event.wait(60))
                if not arrived[-1]:
                    break
        thread.join(60)
    assert all(arrived), outcome
    assert outcome == [None] and found == smalls(20)


# --- asyncio ---


def test_async_streams() -> None:
    async def main() -> list[Any]:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        _, other = await asyncio.open_connection(sock=theirs)

        async def send() -> list[int]:
            async with AsyncWriter(other) as log:
                numbers = [await log.write(one) for one in smalls(200)]
                await log.write({"large": bytes(3_000_000)})
            other.close()
            await other.wait_closed()
            return numbers

        sending = asyncio.create_task(send())
        log = AsyncReader(reader)
        first = await log.read()
        found = [first, *[one async for one in log]]
        with pytest.raises(EOFError):
            await log.read()
        assert await sending == list(range(200))
        writer.close()
        await writer.wait_closed()
        return found

    assert asyncio.run(main()) == [*smalls(200), {"large": bytes(3_000_000)}]


@pytest.mark.parametrize("repair", [None, "stop", "skip"])
def test_an_async_stream_that_ends_within_a_record(repair: Any) -> None:
    data, records = sample()

    async def main() -> list[Any]:
        stream = asyncio.StreamReader()
        stream.feed_data(data[:-3])
        stream.feed_eof()
        found: list[Any] = []
        log = AsyncReader(stream, repair=repair)
        try:
            async for one in log:
                found.append(one)
        except holdall.TruncatedError as error:
            assert repair is None
            assert logs.frames(data)[-1].begin <= error.offset <= len(data)
        else:
            assert repair is not None
            assert [damage.offset for damage in log.damage] == [logs.frames(data)[-1].begin]
        return found

    assert asyncio.run(main()) == records[:-1]
