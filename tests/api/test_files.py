"""`dump` and `load`: what is on the disk at every moment, and every kind of file object."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from pathlib import Path

import pytest

import holdall
from tests.support.extent import sample

BIG = bytes(range(256)) * 4096  # past the length from which a message is written in parts
VALUES = [None, 0, "abcd", [1, [2.5, None]], {"a": (1, 2)}, BIG]
posix = pytest.mark.skipif(
    os.name != "posix", reason="modes, links, pipes, and replacing what is open are POSIX's"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.hold"


@pytest.fixture
def old(path):
    """A file that a dump is going to replace; its folder holds nothing else."""
    holdall.dump("old", path)
    return path


def names(folder):
    return sorted(os.listdir(folder))


class Trickle(io.RawIOBase):
    """A raw file that takes and gives a few bytes at a time, as a socket may."""

    def __init__(self, data=b"", step=7):
        self.inner, self.step = io.BytesIO(data), step

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, buffer):
        return self.inner.readinto(memoryview(buffer)[: self.step])

    def write(self, data):
        return self.inner.write(bytes(memoryview(data)[: self.step]))


class OnlyRead:
    def __init__(self, data):
        self.read = io.BytesIO(data).read


class OnlyReadInto:
    def __init__(self, data):
        self.readinto = io.BytesIO(data).readinto


def dumped(*values):
    file = io.BytesIO()
    for value in values:
        holdall.dump(value, file)
    return file.getvalue()


# --- paths ---


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("kind", [Path, str], ids=["PathLike", "str"])
def test_path_round_trip(path, value, kind):
    holdall.dump(value, kind(path))
    assert holdall.load(kind(path)) == value
    assert names(path.parent) == [path.name]


def test_a_path_and_a_file_object_get_the_same_bytes(path):
    for value in VALUES:
        holdall.dump(value, path)
        assert path.read_bytes() == dumped(value)
        assert path.read_bytes().startswith(b"HOLD")
        assert holdall.loads(path.read_bytes()) == value


def test_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    holdall.dump([1], "here.hold")
    assert holdall.load("here.hold") == [1]


@posix
def test_the_longest_file_name(tmp_path):
    path = tmp_path / ("n" * 255)
    holdall.dump(1, path)
    holdall.dump(2, path)
    assert holdall.load(path) == 2


def test_a_bare_message_loads_too(path):
    path.write_bytes(holdall.dumps({"a": 1}))
    assert holdall.load(path) == {"a": 1}


def test_missing_file(path):
    with pytest.raises(FileNotFoundError):
        holdall.load(path)


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        holdall.dump(1, tmp_path / "no" / "such.hold")
    assert names(tmp_path) == []


@pytest.mark.parametrize("act", [lambda path: holdall.dump(1, path), holdall.load], ids=["dump", "load"])
def test_a_folder_is_no_file(tmp_path, act):
    with pytest.raises(IsADirectoryError if os.name == "posix" else PermissionError):
        act(tmp_path)
    assert names(tmp_path) == []


# --- atomic replace ---


@posix
def test_a_reader_of_the_old_file_keeps_it(old):
    with open(old, "rb") as reader:
        holdall.dump("new", old)
        assert holdall.load(reader) == "old"
    assert holdall.load(old) == "new"


@posix
def test_everything_is_on_the_disk_before_and_after_the_rename(old, monkeypatch):
    events = []
    fsync, replace = os.fsync, os.replace

    def traced_fsync(descriptor):
        status = os.fstat(descriptor)
        kind = "folder" if stat.S_ISDIR(status.st_mode) else f"file of {status.st_size}"
        events.append(f"fsync {kind}")
        fsync(descriptor)

    def traced_replace(source, target):
        assert os.path.dirname(source) == os.path.dirname(target)
        events.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", traced_fsync)
    monkeypatch.setattr(os, "replace", traced_replace)
    holdall.dump("new", old)
    assert events == [f"fsync file of {old.stat().st_size}", "rename", "fsync folder"]


@posix
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), MemoryError()], ids=repr
)
@pytest.mark.parametrize("step", ["fsync", "fchmod", "replace"])
def test_an_error_at_any_step_leaves_the_old_file_alone(old, monkeypatch, step, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)) as caught:
        holdall.dump("new", old)
    monkeypatch.undo()
    assert caught.value is error
    assert holdall.load(old) == "old"
    assert names(old.parent) == [old.name]


def test_an_error_without_an_old_file_leaves_nothing(path, monkeypatch):
    def fail(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        holdall.dump("new", path)
    assert names(path.parent) == []


def test_what_cannot_be_encoded_touches_no_file(old):
    for target in (old, old.with_name("other")):
        with pytest.raises(holdall.EncodeError):
            holdall.dump(["fine", lambda: None], target)
    assert holdall.load(old) == "old"
    assert names(old.parent) == [old.name]
    file = io.BytesIO()
    with pytest.raises(holdall.EncodeError):
        holdall.dump(["fine", lambda: None], file)
    assert file.getvalue() == b""


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_that_dies_leaves_the_old_file(old, step):
    program = (
        f"import os, sys, holdall; os.{step} = lambda *args: os._exit(9); holdall.dump('new', sys.argv[1])"
    )
    assert subprocess.run([sys.executable, "-c", program, os.fspath(old)]).returncode == 9
    assert holdall.load(old) == "old"


def test_writers_at_the_same_time_leave_one_whole_file(path):
    def write(letter):
        for _ in range(20):
            holdall.dump(letter * 100_000, path)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abc"]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            seen.add(holdall.load(path))
    for thread in threads:
        thread.join()
    seen.add(holdall.load(path))
    assert seen <= {letter * 100_000 for letter in "abc"}
    assert names(path.parent) == [path.name]


@posix
@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)], ids=oct)
def test_a_new_file_honours_the_umask(path, umask, mode):
    before = os.umask(umask)
    try:
        holdall.dump(1, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755], ids=oct)
def test_an_existing_file_keeps_its_mode(old, mode):
    old.chmod(mode)
    holdall.dump("new", old)
    assert stat.S_IMODE(old.stat().st_mode) == mode


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="only root may give a file to another user"
)
def test_an_existing_file_keeps_its_owner(old):
    os.chown(old, 12345, 54321)
    holdall.dump("new", old)
    assert (old.stat().st_uid, old.stat().st_gid) == (12345, 54321)


@posix
def test_a_private_file_is_never_open_to_others(old, monkeypatch):
    old.chmod(0o600)
    modes = []
    open_file = os.open

    def traced_open(path, flags, mode=0o777, **options):
        descriptor = open_file(path, flags, mode, **options)
        if flags & os.O_CREAT:
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", traced_open)
    holdall.dump("new", old)
    assert modes == [0o600]


@posix
def test_a_link_keeps_pointing_where_it_points(tmp_path):
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "real.hold"
    link = tmp_path / "link.hold"
    link.symlink_to(target)
    for value in ("into a link to nothing", "into a link to a file"):
        holdall.dump(value, link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert holdall.load(target) == holdall.load(link) == value
    assert names(tmp_path) == ["data", "link.hold"]
    assert names(target.parent) == ["real.hold"]


@posix
def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError) as caught:
        holdall.dump(1, tmp_path / "a")
    assert caught.value.errno == errno.ELOOP
    assert names(tmp_path) == ["a", "b"]


@posix
def test_a_pipe_is_written_to_in_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    thread = threading.Thread(target=lambda: received.append(holdall.load(pipe)))
    thread.start()
    holdall.dump(BIG, pipe)
    thread.join()
    assert received == [BIG]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_a_device_stays_a_device():
    holdall.dump(BIG, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


# --- file objects ---

READERS = {
    "BytesIO": io.BytesIO,
    "BufferedReader": lambda data: io.BufferedReader(io.BytesIO(data)),
    "small buffer": lambda data: io.BufferedReader(io.BytesIO(data), 5),
    "raw, a few bytes at a time": Trickle,
    "only read": OnlyRead,
    "only readinto": OnlyReadInto,
    "gzip": lambda data: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data))),
}


@pytest.mark.parametrize("make", READERS.values(), ids=READERS)
def test_several_dumps_are_loaded_one_by_one(make):
    values = [*VALUES[:-1], BIG[:5000], "last"]
    file = make(dumped(*values))
    assert [holdall.load(file) for _ in values] == values
    with pytest.raises(holdall.TruncatedError):
        holdall.load(file)


@pytest.mark.parametrize("make", READERS.values(), ids=READERS)
def test_a_bare_message_reaches_to_the_end_of_the_file(make):
    for value in (1, "abcd", ["a longer one than a head"] * 3):
        assert holdall.load(make(holdall.dumps(value))) == value


def test_raw_files_that_take_a_part_at_a_time():
    for value in ([1, 2], BIG):
        file = Trickle(step=60_000)
        holdall.dump(value, file)
        assert file.inner.getvalue() == dumped(value)


def test_a_file_object_whose_write_returns_nothing():
    parts = []

    class File:
        def write(self, data):
            parts.append(bytes(data))

    for value in (1, BIG):
        parts.clear()
        holdall.dump(value, File())
        assert b"".join(parts) == dumped(value)


def test_temporary_files():
    with tempfile.TemporaryFile() as real, tempfile.SpooledTemporaryFile(max_size=100) as spooled:
        for file in (real, spooled):
            holdall.dump(VALUES, file)
            file.seek(0)
            assert holdall.load(file) == VALUES


def test_the_position_is_right_after_the_dump():
    file = io.BytesIO(dumped([1]) + b"not ours")
    assert holdall.load(file) == [1]
    assert file.read() == b"not ours"


def test_a_file_that_would_have_to_wait():
    class Empty:
        def read(self, size):
            return None

    class EmptyInto:
        def readinto(self, buffer):
            return None

    class Full:
        answers = iter([3, None])

        def write(self, data):
            return next(self.answers)

    for act in (
        lambda: holdall.load(Empty()),
        lambda: holdall.load(EmptyInto()),
        lambda: holdall.dump("abcd", Full()),
    ):
        with pytest.raises(BlockingIOError):
            act()


@pytest.mark.parametrize("file", [io.StringIO(), None, 1, object()], ids=lambda file: type(file).__name__)
def test_what_is_no_binary_file(file):
    kind = type(file).__name__
    with pytest.raises(TypeError) as caught:
        holdall.dump(1, file)
    assert str(caught.value) == f"expected a path or a binary file object with write, got {kind}"
    with pytest.raises(TypeError) as caught:
        holdall.load(file)
    assert str(caught.value) == f"expected a path or a binary file object with read or readinto, got {kind}"


# --- damaged files ---


def test_every_prefix_is_truncated(path):
    whole = dumped({"key": [1, 2.5, "text"]})
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        for source in (path, io.BytesIO(whole[:length])):
            with pytest.raises(holdall.TruncatedError):
                holdall.load(source)


@pytest.mark.damage
def test_every_flipped_bit_is_found(path):
    whole = dumped({"key": [1, 2.5, "text"]})
    for bit in sample(range(len(whole) * 8), 300):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        for source in (path, io.BytesIO(damaged)):
            with pytest.raises(holdall.DecodeError):
                holdall.load(source)


def test_a_path_holds_one_graph(path):
    path.write_bytes(dumped(1, 2))
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.load(path)
    assert caught.value.offset == len(dumped(1))


def test_a_flipped_bit_of_the_body_is_the_checksums():
    damaged = bytearray(dumped("some text"))
    damaged[damaged.index(b"some")] ^= 1
    with pytest.raises(holdall.ChecksumError):
        holdall.loads(damaged)


@pytest.mark.parametrize("make", [io.BytesIO, OnlyRead, Trickle], ids=lambda make: make.__name__)
def test_a_claimed_length_costs_no_memory(make):
    head = bytearray(dumped(BIG)[:24])
    head[8:16] = (1 << 60).to_bytes(8, "little")
    file = make(bytes(head) + b"few")
    tracemalloc.start()
    try:
        with pytest.raises(holdall.DecodeError):
            holdall.load(file)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_file_object_is_read_without_a_second_copy():
    data = bytes(20_000_000)
    file = io.BytesIO(dumped(data))
    tracemalloc.start()
    try:
        assert holdall.load(file) == data
        # The message, the bytes object made from it, and what the last step of growth adds to the message.
        assert tracemalloc.get_traced_memory()[1] < 2.6 * len(data)
    finally:
        tracemalloc.stop()


# --- options ---


def test_options_of_dump_reach_dumps(path):
    shared = [1]
    holdall.dump([shared, shared], path, refs=False)
    first, second = holdall.load(path)
    assert first == second
    assert first is not second

    holdall.dump({3, 1, 2}, path, canonical=True)
    assert holdall.dumps({2, 3, 1}, canonical=True) in path.read_bytes()

    texts = ["".join(["no", "t one"]) for _ in range(2)]
    holdall.dump(texts, path, intern=True)
    first, second = holdall.load(path)
    assert first is second

    holdall.dump([open], path, enc_hook=lambda obj: "an object")
    assert holdall.load(path) == ["an object"]


def test_trust_has_to_be_said_on_both_sides(path):
    holdall.dump([len], path, trust=True)
    with pytest.raises(holdall.DecodeError):
        holdall.load(path)
    assert holdall.load(path, trust=True) == [len]


def test_options_of_load_reach_loads(path):
    holdall.dump([[[[1]]]], path)
    with pytest.raises(holdall.LimitError):
        holdall.load(path, limits=holdall.Limits(depth=2))
    holdall.dump(OnlyIn(), path)
    with pytest.raises(holdall.UnknownTypeError):
        holdall.load(path)
    assert type(holdall.load(path, types=OnlyIn)) is OnlyIn
    assert type(holdall.load(path, types=[OnlyIn])) is OnlyIn


class OnlyIn:
    pass


@pytest.mark.parametrize(
    "compress", ["gzip", "", 3, ("zstd", 0), ("zstd", 23), ("lz4", "1"), ("zstd", 1, 2), True]
)
def test_compressions_that_there_are_not(path, compress):
    with pytest.raises(ValueError) as caught:
        holdall.dump(1, path, compress=compress)
    assert str(caught.value) == 'compress: expected None, "zstd", "lz4" or ("zstd", level 1 to 22)'
    assert names(path.parent) == []


@pytest.mark.parametrize("mmap", ["r", 2, None, b"copy"])
def test_maps_that_there_are_not(path, mmap):
    holdall.dump(1, path)
    with pytest.raises(ValueError) as caught:
        holdall.load(path, mmap=mmap)
    assert str(caught.value) == 'mmap: expected False, True or "copy"'


def test_file_objects_are_not_mapped():
    with pytest.raises(TypeError) as caught:
        holdall.load(io.BytesIO(holdall.dumps(1)), mmap=True)
    assert str(caught.value) == "mmap: expected a path or bytes-like data as file"
