"""`dump`, `load` and `Reader` of `holdall.msgpack`: files of every kind, sockets, and bytes that are fed."""

from __future__ import annotations

import functools
import gzip
import io
import os
import random
import socket
import threading
import tracemalloc

import pytest

import holdall
from holdall import _core, msgpack
from holdall.msgpack import Ext, Reader
from tests.support.each import each
from tests.support.messages import BIG, VALUES

STREAM = b"".join(map(msgpack.dumps, VALUES))
LOADED = [msgpack.loads(msgpack.dumps(value)) for value in VALUES]
# What `iter` waits for in vain.
NOTHING = object()


# --- files ---


class Raw(io.RawIOBase):
    """Neither `peek` nor `seek`; a few bytes at a time."""

    def __init__(self, data, step=1000):
        self.inner, self.step, self.asked = io.BytesIO(data), step, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        self.asked += 1
        return self.inner.readinto(memoryview(buffer)[: self.step])


class OnlyRead:
    def __init__(self, data):
        self.inner = io.BytesIO(data)

    def read(self, size):
        return self.inner.read(size)


def from_pipe(data):
    """The reading end of a pipe into which a thread writes: it can peek, not seek."""
    reading, writing = os.pipe()

    def write():
        with open(writing, "wb") as file:
            file.write(data)

    threading.Thread(target=write, daemon=True).start()
    return open(reading, "rb")


SOURCES = {
    "BytesIO": io.BytesIO,
    "buffered": lambda data: io.BufferedReader(io.BytesIO(data), 64),
    "gzip": lambda data: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data))),
    "pipe": from_pipe,
    "raw": Raw,
    "read": OnlyRead,
}


@pytest.fixture
def opened():
    """Makes a file object of a kind, of given bytes, and closes it after the test."""
    files = []

    def make(kind, data):
        files.append(SOURCES[kind](data))
        return files[-1]

    yield make
    for file in files:
        getattr(file, "close", lambda: None)()


@pytest.fixture(params=list(SOURCES))
def source(request, opened):
    """Makes a file object of given bytes, of each kind."""
    return functools.partial(opened, request.param)


def test_loads_follow_each_other_and_take_no_byte_more(source):
    # Byte by byte where there is no other way, so without the long text.
    file = source(STREAM[: -len(msgpack.dumps(BIG))] + b"rest")
    for expected in LOADED[:-1]:
        assert msgpack.load(file) == expected
    assert file.read(4) == b"rest"


@pytest.mark.parametrize("kind", ["BytesIO", "buffered", "gzip", "pipe"])
def test_a_long_value_of_a_file_object(kind, opened):
    file = opened(kind, msgpack.dumps([BIG, BIG]) + b"rest")
    assert msgpack.load(file) == [BIG, BIG]
    assert file.read(4) == b"rest"


def test_a_long_array_takes_few_reads():
    file = Raw(msgpack.dumps(list(range(70_000))), step=1 << 20)
    assert msgpack.load(file) == list(range(70_000))
    assert file.asked < 100


def test_a_file_object_that_ends_early(source):
    file = source(msgpack.dumps([1, 2]) + msgpack.dumps([1, "abc"])[:-1])
    assert msgpack.load(file) == [1, 2]
    with pytest.raises(holdall.TruncatedError) as caught:
        msgpack.load(file)
    # Behind the text's own head, from the start of its value.
    assert caught.value.offset == 3
    with pytest.raises(holdall.TruncatedError):
        msgpack.load(file)


def test_a_file_object_with_what_is_no_value(source):
    with pytest.raises(holdall.DecodeError) as caught:
        msgpack.load(source(b"\x92\x01\xc1"))
    assert caught.value.offset == 3


def test_a_claim_of_more_than_follows_costs_no_memory():
    for head in (b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff"):
        for kind in ("BytesIO", "buffered", "raw"):
            tracemalloc.start()
            try:
                with pytest.raises(holdall.DecodeError):
                    msgpack.load(SOURCES[kind](head + b"few"))
                assert tracemalloc.get_traced_memory()[1] < 4_000_000
            finally:
                tracemalloc.stop()


def test_a_path_holds_one_value(tmp_path):
    path = tmp_path / "two"
    path.write_bytes(b"\x01\x02")
    with pytest.raises(holdall.DecodeError, match="left over"):
        msgpack.load(path)
    with pytest.raises(FileNotFoundError):
        msgpack.load(tmp_path / "none")


def test_dumps_to_a_file_object_follow_each_other():
    file = io.BytesIO()
    for value in VALUES:
        msgpack.dump(value, file)
    assert file.getvalue() == STREAM


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_path_is_replaced_as_a_whole(tmp_path, monkeypatch, step):
    path = tmp_path / "state"
    msgpack.dump("old", path)

    def fail(*arguments):
        raise OSError("full")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="full"):
            msgpack.dump("new", path)
    assert msgpack.load(path) == "old"
    with pytest.raises(holdall.EncodeError):
        msgpack.dump([1, lambda: None], path)
    assert msgpack.load(path) == "old"
    assert os.listdir(tmp_path) == ["state"]
    msgpack.dump("new", path)
    assert msgpack.load(path) == "new"


@pytest.mark.parametrize("wrong", [io.StringIO(), 3, None], ids=["text", "int", "none"])
def test_what_is_no_file(wrong):
    with pytest.raises(TypeError, match="expected a path or a binary file object"):
        msgpack.load(wrong)
    with pytest.raises(TypeError, match="expected a path or a binary file object"):
        msgpack.dump(lambda: "not asked to be stored", wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match="expected a path or a binary file object"):
            Reader(wrong)


# --- Reader ---


def test_every_object_comes_with_its_last_byte():
    values = VALUES[:8]
    ends = [sum(len(msgpack.dumps(value)) for value in values[: i + 1]) for i in range(len(values))]
    reader, came = Reader(), []
    for at, byte in enumerate(b"".join(map(msgpack.dumps, values)), 1):
        reader.feed(bytes([byte]))
        for value in reader:
            came.append(value)
            assert reader.offset == at == ends[len(came) - 1]
        assert reader.offset == max([0, *(end for end in ends if end <= at)])
    assert came == LOADED[:8]


@each("seed", range(20))
def test_pieces_of_any_size(seed):
    pick = random.Random(seed)
    reader, came, at = Reader(), [], 0
    while at < len(STREAM):
        size = pick.choice([0, 1, 2, 7, 100, 5_000, 300_000])
        reader.feed(memoryview(STREAM)[at : at + size])
        at += size
        # Not each time, so that several values wait.
        if pick.random() < 0.7:
            came += reader
    assert came + list(reader) == LOADED
    assert reader.offset == len(STREAM)


def test_fed_bytes_may_change_afterwards():
    piece, reader = bytearray(msgpack.dumps("abc")), Reader()
    reader.feed(piece)
    piece[:] = bytes(len(piece))
    piece += b"more"
    assert next(reader) == "abc"


def test_a_stream_is_looked_at_once(monkeypatch):
    looked_at, calls = 0, 0
    scan = _core.msgpack_scan

    def counted(data, start, pending):
        nonlocal looked_at, calls
        end, pending = scan(data, start, pending)
        looked_at += end - start
        calls += 1
        return end, pending

    monkeypatch.setattr(_core, "msgpack_scan", counted)
    data = msgpack.dumps([list(range(100))] * 100 + ["x" * 50_000])
    reader = Reader()
    for at in range(0, len(data), 64):
        reader.feed(data[at : at + 64])
        assert list(reader) == [] or at + 64 >= len(data)
    assert reader.offset == len(data) == looked_at
    assert calls <= len(data) // 64 + 3


def test_memory_is_bounded_by_what_waits():
    message = msgpack.dumps(["x" * 1000] * 10)
    reader = Reader()
    tracemalloc.start()
    try:
        for _ in range(1000):
            reader.feed(message)
            assert sum(1 for _ in reader) == 1
        assert tracemalloc.get_traced_memory()[1] < 20 * len(message)
        reader.feed(msgpack.dumps(bytes(20_000_000)))
        assert len(next(reader)) == 20_000_000
        reader.feed(message)
        assert sum(1 for _ in reader) == 1
        assert tracemalloc.get_traced_memory()[0] < 20 * len(message)
    finally:
        tracemalloc.stop()


def test_a_reader_of_each_kind_of_file(source):
    reader = Reader(source(STREAM))
    assert list(reader) == LOADED
    assert reader.offset == len(STREAM)
    assert list(reader) == []


def test_a_reader_of_a_path(tmp_path):
    (tmp_path / "log").write_bytes(STREAM)
    with Reader(tmp_path / "log") as reader:
        assert list(reader) == LOADED
    with pytest.raises(ValueError, match="closed"):
        next(reader)


def test_a_reader_goes_on_where_a_file_has_grown(tmp_path):
    with open(tmp_path / "log", "wb", buffering=0) as log, Reader(tmp_path / "log") as reader:
        for round_ in range(3):
            log.write(msgpack.dumps([round_]))
            assert list(reader) == [[round_]]


def test_only_what_the_reader_opened_is_closed():
    file = io.BytesIO(b"\x01")
    with Reader(file) as reader:
        assert next(reader) == 1
    assert not file.closed
    with Reader() as reader:
        reader.feed(b"\x02")
    assert next(reader) == 2


class OnlyRecv:
    def __init__(self, inner):
        self.recv = inner.recv


@pytest.mark.parametrize(
    "kind",
    [lambda near: near, OnlyRecv, lambda near: near.makefile("rb")],
    ids=["recv_into", "recv", "makefile"],
)
def test_a_socket(kind):
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(60)
        reader = Reader(kind(near))
        # Each answer is awaited before the next request is sent: the reader must not wait for more than a value.
        for value, expected in zip(VALUES[:8], LOADED[:8], strict=True):
            far.sendall(msgpack.dumps(value))
            assert next(reader) == expected
        sender = threading.Thread(target=far.sendall, args=(STREAM,))
        sender.start()
        assert [next(reader) for _ in LOADED] == LOADED
        sender.join()
        far.sendall(b"\x92\x01")
        far.close()
        with pytest.raises(holdall.TruncatedError):
            next(reader)


def test_a_socket_that_does_not_wait():
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        reader = Reader(near)
        far.sendall(b"\x92\x01")
        with pytest.raises(BlockingIOError):
            next(reader)
        far.sendall(b"\x02")
        assert next(reader) == [1, 2]


def test_a_file_that_does_not_wait():
    class Later:
        def __init__(self, *parts):
            self.parts = list(parts)

        def read1(self, size):
            return self.parts.pop(0)

    reader = Reader(Later(b"\x92\x01", None, b"\x02", b""))
    with pytest.raises(BlockingIOError):
        next(reader)
    assert list(reader) == [[1, 2]]


def test_every_prefix_of_a_stream():
    data = b"".join(map(msgpack.dumps, VALUES[:7]))
    ends = {0}
    reader = Reader(io.BytesIO(data))
    ends |= {reader.offset for _ in reader}
    for end in range(len(data)):
        reader = Reader(io.BytesIO(data[:end]))
        came = []
        if end in ends:
            came += reader
        else:
            with pytest.raises(holdall.TruncatedError) as caught:
                came += iter(lambda reader=reader: next(reader), NOTHING)
            offset = caught.value.offset
            assert reader.offset <= offset <= end
            assert str(caught.value) == f"truncated: the source ends within a value - at byte {offset}"
        assert reader.offset == max(at for at in ends if at <= end)


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_max_buffer(step):
    data = msgpack.dumps("x" * 100)
    stream = b"\x01" * 50 + data

    def came(most):
        reader, found = Reader(max_buffer=most), []
        for at in range(0, len(stream), step):
            reader.feed(stream[at : at + step])
            for value in reader:
                found.append(value)
        return found

    assert came(len(data))[-1] == "x" * 100
    for most in (len(data) - 1, 1):
        with pytest.raises(holdall.LimitError) as caught:
            came(most)
        assert str(caught.value) == f"a value longer than max_buffer={most} bytes - at byte 50"
        assert caught.value.offset == 50
    with pytest.raises(holdall.HoldallError, match="max_buffer: expected 1 or more, got 0"):
        Reader(max_buffer=0)


def test_max_buffer_bounds_what_is_read():
    class Claim:
        given = 0

        def readinto(self, buffer):
            if not self.given:
                buffer[:5] = b"\xdb\xff\xff\xff\xff"
            self.given += len(buffer)
            return len(buffer)

    source = Claim()
    with pytest.raises(holdall.LimitError):
        next(Reader(source, max_buffer=100_000))
    assert source.given <= 300_000


def test_a_byte_that_starts_no_value_ends_the_stream():
    reader = Reader(io.BytesIO(b"\x01\x92\x02\xc1\x03"))
    assert next(reader) == 1
    for _ in range(2):
        with pytest.raises(holdall.DecodeError) as caught:
            next(reader)
        assert caught.value.offset == 4
        assert str(caught.value).endswith("- at byte 4")
    assert reader.offset == 1


def test_a_value_that_can_not_be_decoded_is_passed_over():
    reader = Reader(type=list[int])
    reader.feed(b"\x91\x01\x91\xc0\x91\xa1\xff\x91\x02")
    assert next(reader) == [1]
    with pytest.raises(holdall.ValidationError) as caught:
        next(reader)
    assert caught.value.path == (0,)
    assert 2 <= caught.value.offset <= 4
    with pytest.raises(holdall.DecodeError) as caught:
        next(reader)
    assert 4 <= caught.value.offset <= 7
    assert next(reader) == [2]


@pytest.mark.parametrize("act", [lambda reader: reader.feed(b"\x01"), next], ids=["feed", "next"])
def test_hooks_can_not_touch_their_reader(act):
    reader = Reader(ext_hook=lambda code, data: act(reader))
    reader.feed(msgpack.dumps(Ext(1, b"")) + b"\x05")
    with pytest.raises(RuntimeError, match="by a hook that it called"):
        next(reader)
    assert next(reader) == 5


def test_errors_of_hooks_come_through():
    class Odd(Exception):
        pass

    def hook(code, data):
        raise Odd

    reader = Reader(ext_hook=hook)
    reader.feed(msgpack.dumps(Ext(1, b"")) + b"\x05")
    with pytest.raises(Odd):
        next(reader)
    assert next(reader) == 5


def test_only_a_reader_without_source_is_fed():
    with pytest.raises(holdall.HoldallError, match="reads from its source"):
        Reader(io.BytesIO()).feed(b"\x01")
    for wrong in ("text", 5, memoryview(b"abcd")[::2]):
        with pytest.raises(TypeError):
            Reader().feed(wrong)
