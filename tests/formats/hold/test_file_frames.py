"""Files of frames: buffers of their own, compression, maps; what is damaged, forged or cut short; what it all costs."""

from __future__ import annotations

import array
import contextlib
import gc
import io
import mmap
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import holdall
from tests.support import extent
from tests.support import file_frames as ff
from tests.support.extent import sample
from tests.support.isomorphic import isomorphic
from tests.support.level import stays_level, uses
from tests.support.places import REPO

np = pytest.importorskip("numpy")

COMPRESSIONS = [None, "zstd", ("zstd", 6), "lz4"]
# From so many bytes on a buffer has a frame of its own.
LARGE = 4096


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def grid() -> Any:
    return np.arange(6000.0).reshape(60, 100)


BUFFERS: dict[str, Callable[[], Any]] = {
    "bytes": lambda: noise(LARGE),
    "bytes that shrink": lambda: bytes(100_000),
    "bytes that just stay": lambda: noise(LARGE - 1),
    "bytes of several blocks": lambda: noise((1 << 20) + 5) + bytes(2 << 20) + noise(300),
    "bytes of one block": lambda: noise(1 << 20),
    "bytearray": lambda: bytearray(noise(5000)),
    "empty": lambda: [b"", bytearray(), np.empty(0), np.empty((0, 9000)), array.array("d")],
    **{
        f"array.array {code}": lambda code=code: array.array(code, range(100)) * 50 for code in "bBhHiIlLqQfd"
    },
    **{
        f"numpy {name}": lambda name=name: np.arange(0, 6000).astype(name)
        for name in ("?", "i1", "<u2", ">u2", "<i4", ">f8", "f2", "<c16", "M8[s]", "m8[ns]", "S9", "U3", "g")
    },
    "numpy shaped": grid,
    "numpy fortran": lambda: np.asfortranarray(grid()),
    "numpy strided": lambda: np.arange(60_000.0).reshape(300, 200)[::2, ::3],
    "numpy reversed": lambda: np.arange(6000)[::-1],
    "numpy broadcast": lambda: np.broadcast_to(np.arange(100), (70, 100)),
    "numpy read-only": lambda: np.frombuffer(noise(8000), "i4"),
    "numpy records": lambda: np.zeros(700, [("a", "i4"), ("b", "f8", (2,)), ("c", "S5")]),
    "numpy without dimensions": lambda: np.zeros((), "S9000"),
    "numpy masked by a dict": lambda: {"mask": np.arange(9000) % 3 == 0, "data": grid()},
}


def members() -> Any:
    """All of them, with others between."""
    return {name: [make(), name] for name, make in BUFFERS.items()}


def shared() -> Any:
    blob, table, numbers = noise(9000), grid(), array.array("i", range(3000))
    cycle: list[Any] = [table, blob]
    cycle.append(cycle)
    return [blob, {"blob": blob, "table": table}, table, numbers, (numbers, table), cycle]


def dumped(obj: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(obj, file, **options)
    return file.getvalue()


# --- there and back --------------------------------------------------------------------------------------------------
def by_path(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    holdall.dump(obj, folder / "a.hold", **options)
    return holdall.load(folder / "a.hold")


def by_loads(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    return holdall.loads(dumped(obj, **options))


def by_file_object(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    with open(folder / "b.hold", "w+b") as file:
        holdall.dump(obj, file, **options)
        file.seek(0)
        made = holdall.load(file)
        assert file.read() == b""
        return made


class Dribble:
    """Gives a few bytes at a time, and can't seek."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.step = data, 0, 1

    def read(self, size: int, /) -> bytes:
        self.step = self.step * 3 % 70_001
        part = self.data[self.at : self.at + min(size, self.step)]
        self.at += len(part)
        return part


def by_dribble(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    return holdall.load(Dribble(dumped(obj, **options)))


def through(reader: Any, writer: Any, obj: Any, options: dict[str, Any]) -> Any:
    failed: list[BaseException] = []

    def send() -> None:
        try:
            with writer:
                holdall.dump(obj, writer, **options)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with reader:
            made = holdall.load(reader)
            assert reader.read(1) == b""
    finally:
        thread.join(60)
    assert not failed and not thread.is_alive()
    return made


def by_pipe(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    reader, writer = os.pipe()
    return through(open(reader, "rb", buffering=0), open(writer, "wb", buffering=0), obj, options)


def by_socket(obj: Any, folder: pathlib.Path, **options: Any) -> Any:
    one, other = socket.socketpair()
    # They close with the files.
    with one, other:
        reader, writer = one.makefile("rb"), other.makefile("wb")
    return through(reader, writer, obj, options)


WAYS = [by_path, by_loads, by_file_object, by_dribble, by_pipe, by_socket]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compress", COMPRESSIONS, ids=str)
def test_there_and_back(way: Callable[..., Any], compress: Any, tmp_path: pathlib.Path) -> None:
    for make in (members, shared):
        obj = make()
        isomorphic(obj, way(obj, tmp_path, compress=compress))


@pytest.mark.parametrize("compress", COMPRESSIONS, ids=str)
def test_the_layout_is_that_of_the_page(compress: Any) -> None:
    obj = [noise(LARGE), bytearray(1 << 20), grid(), bytes(LARGE - 1), noise((1 << 20) + 1), "text"]
    data = dumped(obj, compress=compress)
    file, end = ff.parse(data)
    assert end == len(data) and file.kind == ff.GRAPH_FILE
    assert [frame.kind for frame in file.frames][-2:] == [ff.INDEX, ff.END]
    whole = [obj[0], obj[1], obj[2].tobytes(), obj[4]]
    assert len(file.buffers) == 4 and all(
        found in (None, known) for found, known in zip(file.buffers, whole, strict=True)
    )
    codecs = {frame.codec for frame in file.frames if frame.kind in (ff.BUFFER, ff.REST)}
    assert codecs == {ff.STORED, {None: ff.STORED, "lz4": ff.LZ4}.get(compress, ff.ZSTD)}
    aligned = [frame.start % 64 for frame in file.frames if frame.kind == ff.BUFFER and compress is None]
    assert not any(aligned)
    # Of what compression can't help, nothing is compressed.
    assert len(data) < sum(map(len, whole)) + 60_000 and (compress is None or len(data) < 1_200_000)


def test_levels_of_zstd() -> None:
    text = " ".join(str(number * number) for number in range(25_000))
    sizes = [len(dumped(text, compress=("zstd", level))) for level in (1, 3, 9, 19, 22)]
    assert sizes[0] > sizes[3] and len(set(sizes)) > 2
    assert all(holdall.loads(dumped(text, compress=("zstd", level))) == text for level in (1, 22))


@pytest.mark.parametrize(
    "size", [(1 << 20) * blocks + more for blocks in (1, 2, 3, 7) for more in (-1, 0, 1)]
)
def test_blocks_of_every_number(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    for compress in ("zstd", "lz4"):
        for obj in (data[:size], [data[: size - 10], noise(5000)], data[:size].decode("latin-1")):
            assert holdall.loads(dumped(obj, compress=compress)) == obj


# --- maps ------------------------------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """What a view of a file stands for."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value.dtype.descr, [plain(value[name]) for name in value.dtype.names]
    if isinstance(value, memoryview):
        return value.tobytes()
    if isinstance(value, (bytearray, array.array)):
        return bytes(value)
    if isinstance(value, np.ndarray):
        # Not their bytes: a long double has some that mean nothing.
        return value.dtype.str, value.dtype.descr, value.shape, value.tolist()
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize("compress", COMPRESSIONS, ids=str)
@pytest.mark.parametrize("how", [True, "copy"])
def test_maps(how: Any, compress: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = members()
    holdall.dump(obj, path, compress=compress)
    made = holdall.load(path, mmap=how)
    assert plain(made) == plain(obj)
    if compress is None:
        table = made["numpy shaped"][0]
        owner = table
        while isinstance(owner, np.ndarray):
            owner = owner.base
        # Through a memoryview: it keeps the map open.
        assert isinstance(owner, memoryview) and isinstance(owner.obj, mmap.mmap)
        assert isinstance(made["bytes"][0], memoryview) and isinstance(made["bytearray"][0], memoryview)


def arrays(value: Any) -> Iterator[Any]:
    for one, _ in value.values():
        # A long double's bytes that mean nothing are not stored: it is copied.
        if (isinstance(one, np.ndarray) and one.nbytes >= LARGE and one.dtype.kind != "f") or (
            isinstance(one, np.ndarray) and one.nbytes >= LARGE and one.itemsize <= 8
        ):
            yield one


@pytest.mark.parametrize("how", [True, "copy"])
def test_arrays_of_a_map_are_aligned(how: Any, tmp_path: pathlib.Path) -> None:
    holdall.dump(members(), tmp_path / "a.hold")
    found, stored = list(arrays(holdall.load(tmp_path / "a.hold", mmap=how))), list(arrays(members()))
    assert len(found) == len(stored) > 15
    for one, before in zip(found, stored, strict=True):
        assert one.ctypes.data % 64 == 0 and one.flags.aligned
        # Of an array with gaps nothing is kept but its items.
        assert one.flags.writeable == (how == "copy" and (before.flags.writeable or not before.flags.forc))


@pytest.mark.parametrize("how", [True, "copy"])
@pytest.mark.parametrize("compress", [None, "lz4"])
def test_sharing_is_kept_in_maps(how: Any, compress: Any, tmp_path: pathlib.Path) -> None:
    holdall.dump(shared(), tmp_path / "a.hold", compress=compress)
    made = holdall.load(tmp_path / "a.hold", mmap=how)
    blob, within, table, numbers, pair, cycle = made
    assert (
        within["blob"] is blob
        and within["table"] is table
        and pair == (numbers, table)
        and pair[0] is numbers
    )
    assert cycle[0] is table and cycle[1] is blob and cycle[2] is cycle
    assert plain([blob, table, numbers]) == plain([shared()[at] for at in (0, 2, 3)])


def test_what_is_written_to_a_map(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = {"table": grid(), "bytes": noise(5000), "bytearray": bytearray(5000), "small": np.arange(3)}
    holdall.dump(obj, path)
    before = path.read_bytes()

    made = holdall.load(path, mmap=True)
    with pytest.raises(ValueError):
        made["table"][0, 0] = 1
    for name in ("bytes", "bytearray"):
        assert made[name].readonly
        with pytest.raises(TypeError):
            made[name][0] = 1
    made["small"][0] = 7

    made = holdall.load(path, mmap="copy")
    made["table"][0, 0] = -1
    made["bytearray"][:2] = b"ab"
    assert made["bytes"].readonly and not made["bytearray"].readonly
    assert made["table"][0, 0] == -1 and made["bytearray"][:3] == b"ab\0"
    assert holdall.load(path, mmap="copy")["table"][0, 0] == 0
    del made
    assert path.read_bytes() == before


def test_views_keep_the_map(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    holdall.dump([grid(), noise(5000), [grid()]], path)
    for how in (True, "copy"):
        made = holdall.load(path, mmap=how)
        row, part = made[0][1], made[1][10:20]
        mapped = part.obj
        del made
        gc.collect()
        with pytest.raises(BufferError):
            mapped.close()
        assert row.tolist() == grid()[1].tolist() and part == noise(5000)[10:20]
        del row, part
        gc.collect()
        mapped.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_maps_leave_nothing_open(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    holdall.dump([grid()], path)
    made = [holdall.load(path, mmap=True) for _ in range(20)]
    assert uses(path) == (20, 20)
    del made
    gc.collect()
    assert uses(path) == (0, 0)
    path.write_bytes(b"HOLD nothing")
    for _ in range(20):
        with pytest.raises(holdall.DecodeError):
            holdall.load(path, mmap=True)
    assert uses(path) == (0, 0)


def test_the_file_of_a_map_may_be_replaced(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    holdall.dump([grid(), noise(9000)], path)
    made = holdall.load(path, mmap=True)
    holdall.dump(["other"], path)
    holdall.dump([grid() * 0] * 3, path)
    assert plain(made) == plain([grid(), noise(9000)])
    # Even by what is read from it.
    made[0] = made[0][:30]
    holdall.dump(made, path)
    assert plain(holdall.load(path)) == plain([grid()[:30], noise(9000)])
    path.unlink()
    assert plain(made) == plain([grid()[:30], noise(9000)])


def test_large_keys_of_a_map(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    key = noise(9000)
    holdall.dump({key: 1, "set": {key}, "frozen": frozenset([key])}, path)
    for how in (True, "copy"):
        made = holdall.load(path, mmap=how)
        assert made[key] == 1 and key in made["set"] and key in made["frozen"]


def test_bare_messages_and_empty_files_in_maps(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    path.write_bytes(holdall.dumps([grid(), noise(9000)]))
    assert plain(holdall.load(path, mmap=True)) == plain([grid(), noise(9000)])
    path.write_bytes(b"")
    for how in (False, True, "copy"):
        with pytest.raises(holdall.TruncatedError):
            holdall.load(path, mmap=how)
    with pytest.raises(FileNotFoundError):
        holdall.load(tmp_path / "none", mmap=True)


# --- several dumps, one behind the other -------------------------------------------------------------------------------
def test_several_dumps_in_one_file() -> None:
    objects = [1, members(), b"", shared(), [noise(5000)] * 2, {"a": bytearray(1 << 20)}, grid()]
    file = io.BytesIO()
    for at, obj in enumerate(objects):
        holdall.dump(obj, file, compress=COMPRESSIONS[at % 4])
    data = file.getvalue()
    for source in (io.BytesIO(data), Dribble(data)):
        for obj in objects:
            isomorphic(obj, holdall.load(source))
        with pytest.raises(holdall.TruncatedError):
            holdall.load(source)


def test_a_path_holds_one_graph(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    for options in ({}, {"compress": "zstd"}):
        one = dumped([noise(5000)], **options)
        path.write_bytes(one + one)
        for how in (False, True):
            with pytest.raises(holdall.DecodeError):
                holdall.load(path, mmap=how)
        with pytest.raises(holdall.DecodeError):
            holdall.open(path)


# --- progress ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
def test_progress(compress: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = [np.arange(3_000_000.0), bytes(30 << 20), list(range(10_000))]
    for calls, work in (
        (written := [], lambda tell: holdall.dump(obj, path, compress=compress, progress=tell)),
        (read := [], lambda tell: holdall.load(path, progress=tell)),
    ):
        work(lambda done, total, calls=calls: calls.append((done, total)))
    for calls in (written, read):
        done = [done for done, _ in calls]
        assert done == sorted(done)
        (total,) = {total for _, total in calls}
        assert done[-1] == total
    assert written[-1][1] >= 52 << 20 and len(written) >= 3
    # What is read is counted as it stands in the file.
    assert read[-1][1] == path.stat().st_size and (compress or len(read) >= 3)


def test_progress_of_small_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    for work in (holdall.dump, lambda _, path, progress: holdall.load(path, progress=progress)):
        calls: list[Any] = []
        work([1, 2], path, progress=lambda *call, calls=calls: calls.append(call))
        assert calls and calls[-1][0] == calls[-1][1] > 0
    with pytest.raises(TypeError, match="`progress` must be callable or None"):
        holdall.dump(1, path, progress=3)
    with pytest.raises(TypeError, match="`progress` must be callable or None"):
        holdall.load(path, progress="yes")


def test_progress_where_the_size_is_not_known() -> None:
    """Every 8 MiB, and not with each piece that is read."""
    obj = [bytes(3 << 20) for _ in range(9)]
    file = io.BytesIO()
    holdall.dump(obj, file)
    file.seek(0)
    source = io.BufferedReader(OnlyReads(file))
    calls: list[Any] = []
    assert holdall.load(source, progress=lambda *call: calls.append(call)) == obj
    assert 2 <= len(calls) <= 3 and all(done == total for done, total in calls), calls


class OnlyReads(io.RawIOBase):
    def __init__(self, file: io.BytesIO) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def readinto(self, to: Any) -> int:
        return self.file.readinto(to)


class Stop(Exception):
    pass


@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_progress_may_stop_it(compress: Any, nth: int, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    holdall.dump("old", path)
    calls = 0

    def stop(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise Stop

    obj = [np.arange(1_200_000.0), bytes(8 << 20)]  # it is told every 8 MiB, and at the end
    with pytest.raises(Stop):
        holdall.dump(obj, path, compress=compress, progress=stop)
    assert holdall.load(path) == "old" and os.listdir(tmp_path) == ["a.hold"]
    calls = 0
    with pytest.raises(Stop):
        holdall.dump(obj, io.BytesIO(), compress=compress, progress=stop)
    holdall.dump(obj, path, compress=compress)
    calls = -1000
    expected = holdall.load(path, progress=stop)
    assert plain(expected) == plain(obj)
    with open(path, "rb") as file:
        for source in (path, file):
            calls = nth - 1
            with pytest.raises(Stop):
                holdall.load(source, progress=stop)


# --- damage ------------------------------------------------------------------------------------------------------------
SAMPLES: dict[str, Callable[[], bytes]] = {
    "small": lambda: dumped({"a": [1, 2.5, "text"]}),
    "buffers": lambda: dumped([noise(4200), np.arange(600.0), bytearray(4100), "text"]),
    "zstd": lambda: dumped([bytes(range(256)) * 20, "text " * 100, [1, 2, 3]], compress="zstd"),
    "lz4": lambda: dumped([bytes(range(256)) * 20, "text " * 100, [1, 2, 3]], compress="lz4"),
    "blocks": lambda: dumped([bytes((1 << 20) + 9), 5], compress="zstd"),
    "index": lambda: dumped({f"key {number}": [number] for number in range(1000)}, compress="zstd"),
}


def loads(data: bytes) -> Any:
    return holdall.loads(data)


def streams(data: bytes) -> Any:
    file = io.BytesIO(data)
    made = holdall.load(file)
    if file.read(1):
        raise holdall.DecodeError("left over")
    return made


@pytest.mark.damage
@pytest.mark.parametrize("load", [loads, streams])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_flipped_bit_is_seen(name: str, load: Callable[[bytes], Any]) -> None:
    data = SAMPLES[name]()
    load(data)
    good = bytearray(data)
    for place in sample(range(8 * len(data)), 600):
        at, bit = divmod(place, 8)
        good[at] ^= 1 << bit
        with pytest.raises(holdall.DecodeError):
            load(bytes(good))
        good[at] ^= 1 << bit
    assert good == data


@pytest.mark.parametrize("name", ["small", "buffers", "lz4"])
def test_every_flipped_bit_is_seen_by_path(name: str, tmp_path: pathlib.Path) -> None:
    """As files are read otherwise than bytes; a few of the bits."""
    data = SAMPLES[name]()
    rng = random.Random(name)
    path = tmp_path / "a.hold"
    path.write_bytes(data)
    for _ in range(400):
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        put(path, at, data[at] ^ 1 << bit)
        with pytest.raises(holdall.DecodeError):
            holdall.load(path)
        put(path, at, data[at])


@pytest.mark.damage
@pytest.mark.parametrize("load", [loads, streams])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_truncation_is_seen(name: str, load: Callable[[bytes], Any]) -> None:
    data = SAMPLES[name]()
    for size in sample(range(len(data)), 600):
        with pytest.raises(holdall.TruncatedError):
            load(data[:size])


def put(path: pathlib.Path, at: int, byte: int) -> None:
    """Change a byte where it stands. A file that is written anew has to reach the disk, which takes longer than a thousand loads."""
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))


def test_truncated_in_maps(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    for name in SAMPLES:
        data = SAMPLES[name]()
        path.write_bytes(data)
        sizes = {*range(0, len(data), 41), *range(40), len(data) - 1, len(data) - 32, len(data) - 33}
        for size in sorted(sizes, reverse=True):
            # Shorter and shorter: a file that is written anew each time has to reach the disk.
            os.truncate(path, size)
            for read in (lambda: holdall.load(path, mmap=True), lambda: holdall.open(path)):
                with pytest.raises(holdall.TruncatedError):
                    read()


def test_checksums_of_maps(tmp_path: pathlib.Path) -> None:
    """Of buffers they are not compared, of all else they are."""
    path = tmp_path / "a.hold"
    data = SAMPLES["buffers"]()
    file, _ = ff.parse(data)
    spans = [
        range(frame.start, frame.start + len(frame.body)) for frame in file.frames if frame.kind == ff.BUFFER
    ]
    passed = 0
    path.write_bytes(data)
    for at in range(0, len(data), 5):
        put(path, at, data[at] ^ 4)
        try:
            plain(holdall.load(path, mmap=True))
        except holdall.DecodeError:
            assert not any(at in span for span in spans)
        else:
            passed += any(at in span for span in spans)
        put(path, at, data[at])
    assert path.read_bytes() == data
    assert passed == len([at for at in range(0, len(data), 5) if any(at in span for span in spans)])


# --- forged files: checksums hold, the rest does not ---------------------------------------------------------------------
def attempt(data: bytes, path: pathlib.Path) -> list[Any]:
    """By each door; what is loaded may be anything, what is raised is ours."""
    path.write_bytes(data)
    found: list[Any] = []
    for read in (
        lambda: holdall.loads(data),
        lambda: holdall.load(io.BytesIO(data)),
        lambda: holdall.load(Dribble(data)),
        lambda: holdall.load(path),
        lambda: plain(holdall.load(path, mmap=True)),
        lambda: touch(holdall.open(path)),
    ):
        try:
            found.append(read())
        except holdall.HoldallError as error:
            found.append(error)
    return found


def touch(doc: Any, budget: int = 400) -> None:
    todo = [doc]
    while todo and budget:
        budget -= 1
        one = todo.pop()
        if not isinstance(one, holdall.Document):
            continue
        for read in (lambda one=one: len(one), one.load, lambda one=one: one.raw, lambda one=one: one[-1]):
            with contextlib.suppress(holdall.HoldallError, TypeError, KeyError, IndexError):
                read()
        with contextlib.suppress(holdall.HoldallError, TypeError):
            for at, (_, value) in enumerate(one.items()):
                todo.append(value)
                if at > 50:
                    break


@pytest.mark.damage
@pytest.mark.parametrize("name", ["small", "buffers", "lz4", "zstd", "index"])
def test_forged_at_random(name: str, tmp_path: pathlib.Path) -> None:
    rng = random.Random(name)
    data = SAMPLES[name]()
    refused = 0
    for number in range(1000 if extent.full else 120):
        bad = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            # Half of the changes at the end: that is where the index stands.
            at = (
                rng.randrange(len(bad))
                if rng.random() < 0.5
                else len(bad) - rng.randrange(1, min(300, len(bad)))
            )
            bad[at] = rng.choice(
                [0, 1, 255, 254, 253, 127, 128, rng.randrange(256), bad[at] ^ 1 << rng.randrange(8)]
            )
        sealed = ff.resealed(bytes(bad))
        # Bodies alone, so that heads stay; or all of it.
        found = attempt(sealed if number % 2 else ff.resealed(sealed), tmp_path / "a.hold")
        refused += any(isinstance(one, holdall.DecodeError) for one in found)
    assert refused > 12


def lent(number: int, form: int = 2) -> bytes:
    return bytes([0xD9, form, number])


def index_of(message: ff.Frame, buffers: list[ff.Frame]) -> bytes:
    """An index that says where bodies stand, and nothing of the message."""
    extents = [message, *buffers]
    out = b""
    for at, frame in enumerate(extents):
        if at == 1:
            out += length(len(buffers))
        out += length(frame.at) + length(len(frame.body)) + length(0)
    return out + (length(0) if not buffers else b"") + bytes(5)


def length(value: int) -> bytes:
    if value < 252:
        return bytes([value])
    return bytes([254]) + struct.pack("<Q", value)


def graph(message: bytes, *buffers: bytes | ff.Frame, index: bytes | None = None) -> bytes:
    """A file of that message and those buffers; the index tells the truth unless it is given."""
    frames = [ff.Frame(ff.MESSAGE, message)]
    frames += [one if isinstance(one, ff.Frame) else ff.Frame(ff.BUFFER, one) for one in buffers]
    data = ff.forged(ff.GRAPH_FILE, frames)
    at = 8
    for frame in frames:
        while data[at] == 0:
            at += 1
        frame.at = at
        at += ff.HEAD + len(frame.body) + ff.TAIL
    if index is None:
        index = index_of(frames[0], [frame for frame in frames[1:] if frame.kind == ff.BUFFER])
    index_at = len(data)
    data += ff.framed(ff.Frame(ff.INDEX, index), index_at)
    total = len(data) + ff.HEAD + 16 + ff.TAIL
    return data + ff.framed(ff.Frame(ff.END, struct.pack("<QQ", index_at, total)), len(data))


def test_the_forger_makes_good_files(tmp_path: pathlib.Path) -> None:
    blob = noise(5000)
    found = attempt(graph(b"\xc1\x71" + lent(0), blob), tmp_path / "a.hold")
    assert found[:4] == [[blob]] * 4 and found[4] == [blob] and found[5] is None
    assert holdall.loads(graph(b"\xc1\x05")) == 5
    many = graph(b"\xc1\x72" + lent(0) + lent(1, 3), b"ab", b"c")
    assert attempt(many, tmp_path / "a.hold")[:4] == [[b"ab", bytearray(b"c")]] * 4


@pytest.mark.parametrize(
    "data",
    [
        graph(b"\xc1" + lent(0)),
        graph(b"\xc1" + lent(1), b"ab"),
        graph(b"\xc1\x72" + lent(1) + lent(0), b"ab", b"cd"),
        graph(b"\xc1\x72" + lent(0) + lent(0), b"ab"),
        graph(b"\xc1" + lent(0, 4), b"ab"),
        graph(b"\xc1" + lent(0), ff.Frame(ff.KEYS, b"ab")),
        graph(b"\xc1" + lent(0), ff.Frame(ff.REST, b"ab")),
        graph(
            b"\xc1" + lent(0),
            ff.Frame(ff.BUFFER, b"\x05\0\0\0\0\0\0\0ab", more=True),
            ff.Frame(ff.REST, b"c"),
        ),
        graph(b"\xc1" + lent(0), ff.Frame(ff.BUFFER, b"ab", more=True), ff.Frame(ff.REST, b"c")),
        graph(b"\xc1" + lent(0), ff.Frame(ff.BUFFER, b"\x03\0\0", codec=ff.ZSTD)),
        graph(b"\xc1" + lent(0), ff.Frame(ff.BUFFER, b"\x03\0\0\0abc", codec=ff.ZSTD)),
        graph(b"\xc1" + lent(0), ff.Frame(ff.BUFFER, b"\x03\0\0\0abc", codec=ff.LZ4)),
    ],
    ids=range(12),
)
def test_forged_buffers(data: bytes, tmp_path: pathlib.Path) -> None:
    found = attempt(data, tmp_path / "a.hold")
    assert all(isinstance(one, holdall.DecodeError) for one in found[:4])


@pytest.mark.parametrize("fill", [0, 1, 5, 251, 254, 255])
def test_forged_indexes(fill: int, tmp_path: pathlib.Path) -> None:
    """Front to back an index is not needed; otherwise nothing that it says is believed."""
    blob = noise(5000)
    message = b"\xc1\x71" + lent(0)
    for size in range(0, 40, 3):
        found = attempt(graph(message, blob, index=bytes([fill]) * size), tmp_path / "a.hold")
        assert found[:4] == [[blob]] * 4
    good = index_of(ff.Frame(ff.MESSAGE, message, at=8), [ff.Frame(ff.BUFFER, blob, at=56)])
    for at in range(len(good)):
        for value in (0, 1, 8, 127, 251, 255):
            bad = good[:at] + bytes([value]) + good[at + 1 :]
            assert attempt(graph(message, blob, index=bad), tmp_path / "a.hold")[0] == [blob]


# --- what unpacks to much more than it is --------------------------------------------------------------------------------
BOMBS = textwrap.dedent(
    """
    import io, struct, sys
    import holdall
    from tests.support import file_frames as ff
    from tests.support.peak import peak
    from tests.formats.hold.test_file_frames import graph, lent

    def block(size, kind=ff.BUFFER, more=False, total=None):
        # One literal, then as many of it as fit.
        body = struct.pack("<I", size) + bytes([0x1F]) + b"A" + b"\\x01\\x00"
        left = size - 1 - 4 - 15 - 5
        body += bytes([255]) * (left // 255) + bytes([left % 255]) + b"\\x50AAAAA"
        head = b"" if total is None else struct.pack("<Q", total)
        return ff.Frame(kind, head + body, ff.LZ4, more)

    MANY = int(sys.argv[1])
    one = block(1 << 20)
    message = b"\\xc1\\xba\\xfc" + struct.pack("<H", MANY) + b"".join(
        bytes([0xD9, 2, 252]) + struct.pack("<H", n) for n in range(MANY))
    if sys.argv[2] == "many":
        data = graph(message, *[block(1 << 20) for _ in range(MANY)])
    elif sys.argv[2] == "long":
        frames = [block(1 << 20, more=True, total=MANY << 20)]
        frames += [block(1 << 20, ff.REST, more=n < MANY - 2) for n in range(MANY - 1)]
        data = graph(b"\\xc1" + lent(0), *frames)
    else:
        # One buffer, which every reference unpacks anew.
        message = b"\\xc1\\xba\\xfc" + struct.pack("<H", MANY) + lent(0) * MANY
        data = graph(message, block(1 << 20))
    before = peak()
    path = sys.argv[3]
    open(path, "wb").write(data)
    found = []
    for read in (lambda: holdall.loads(data), lambda: holdall.load(path), lambda: holdall.load(path, mmap=True),
                 lambda: holdall.open(path).load(), lambda: holdall.load(io.BytesIO(data))):
        try:
            found.append(type(read()).__name__)
        except holdall.DecodeError as error:
            found.append(type(error).__name__)
    grown = peak() - before
    print(len(data), grown, *found)
    """
)


@pytest.mark.xdist_group("memory")
@pytest.mark.parametrize("how", ["many", "long", "again"])
def test_bombs(how: str, tmp_path: pathlib.Path) -> None:
    """LZ4 gives 255 bytes for one at most: that is more than is believed."""
    command = [sys.executable, "-c", BOMBS, "600", how, str(tmp_path / "a.hold")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPO), str(REPO / "python")])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, cwd=REPO)
    assert done.returncode == 0, done.stderr
    size, grown, *found = done.stdout.split()
    allowed = (64 << 20) + 129 * int(size)
    assert all(one in ("DecodeError", "LimitError") for one in found), found
    assert int(grown) < 2 * allowed + (64 << 20), (size, grown, found)


# --- writes that fail ------------------------------------------------------------------------------------------------------
class Failing:
    """Takes so many writes, then no more."""

    def __init__(self, writes: int) -> None:
        self.left, self.taken = writes, b""

    def write(self, data: bytes, /) -> int:
        if not self.left:
            raise Stop
        self.left -= 1
        self.taken += data
        return len(data)


@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
def test_a_file_object_that_fails(compress: Any) -> None:
    obj = [noise(900_000), np.arange(100_000.0), "x" * 10_000]
    whole = Failing(10**6)
    holdall.dump(obj, whole, compress=compress)
    writes = 10**6 - whole.left
    assert writes > 3 and plain(holdall.loads(whole.taken)) == plain(obj)
    for nth in range(writes):
        file = Failing(nth)
        with pytest.raises(Stop):
            holdall.dump(obj, file, compress=compress)
        assert whole.taken.startswith(file.taken)
        with pytest.raises(holdall.TruncatedError):
            holdall.loads(file.taken)


class Short(io.BytesIO):
    """Takes a part of what it is given, as raw files may."""

    def write(self, data: Any, /) -> int:
        return super().write(bytes(data)[: max(1, len(data) // 3)])


def test_a_file_object_that_takes_parts() -> None:
    file = Short()
    holdall.dump(members(), file)
    assert file.getvalue() == dumped(members())


LIMITED = textwrap.dedent(
    """
    import os, random, resource, signal, sys
    import holdall

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, compress = sys.argv[1], eval(sys.argv[2])
    obj = [random.Random(1).randbytes(700_000), "x" * 100_000, bytearray(9000)]
    holdall.dump(obj, path, compress=compress)
    whole = os.path.getsize(path)
    holdall.dump("old", path)
    old = open(path, "rb").read()
    sizes = {0, 1, 7, 8, 15, 16, 17, *range(100, whole, whole // 40), whole - 33, whole - 32, whole - 1}
    for size in sorted(sizes):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            holdall.dump(obj, path, compress=compress)
        except OSError as error:
            assert error.errno == 27 and error.strerror, error
        else:
            raise AssertionError(f"{size} of {whole} bytes were enough")
        assert open(path, "rb").read() == old, size
        assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)], size
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole, resource.RLIM_INFINITY))
    holdall.dump(obj, path, compress=compress)
    assert holdall.load(path) == obj
    """
)


def run(script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPO), str(REPO / "python")])}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, cwd=REPO)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("compress", [None, "zstd"])
def test_writes_that_end_anywhere(compress: Any, tmp_path: pathlib.Path) -> None:
    run(LIMITED, str(tmp_path / "a.hold"), repr(compress))


def test_without_sync(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.hold"
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    holdall.dump([1], path, sync=False)
    assert holdall.load(path) == [1] and not synced
    holdall.dump([2], path)
    assert holdall.load(path) == [2] and len(synced) == 2


# --- memory ----------------------------------------------------------------------------------------------------------------
MEMORY = textwrap.dedent(
    """
    import sys
    import numpy as np
    import holdall
    from tests.support.peak import peak

    step, path, compress = sys.argv[1], sys.argv[2], eval(sys.argv[3])
    # Nothing in it repeats itself.
    size = 96 << 20
    if step == "dump":
        obj = {"a": np.random.default_rng(1).integers(0, 255, size, np.uint8), "b": [1, 2]}
        before = peak()
        holdall.dump(obj, path, compress=compress)
    else:
        holdall.loads(holdall.dumps([np.zeros(9000)]))
        before = peak()
        how = {"load": False, "map": True, "copy": "copy", "object": False}[step]
        if step == "object":
            made = holdall.load(open(path, "rb"))
        else:
            made = holdall.load(path, mmap=how)
        assert made["a"].nbytes == size and made["a"][-1] >= 0
    print(peak() - before)
    """
)


@pytest.mark.xdist_group("memory")
@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
def test_memory(compress: Any, tmp_path: pathlib.Path) -> None:
    """No second copy of a large array is had, where the size of the file is known."""
    size, slack, path = 96 << 20, 40 << 20, str(tmp_path / "a.hold")
    assert int(run(MEMORY, "dump", path, repr(compress))) < slack
    assert int(run(MEMORY, "load", path, repr(compress))) < size + slack
    # Of a file object nobody knows how much follows: memory is had as bytes come.
    assert int(run(MEMORY, "object", path, repr(compress))) < 3 * size + slack
    if compress is None:
        for step in ("map", "copy"):
            assert int(run(MEMORY, step, path, repr(compress))) < slack, step


def test_what_is_claimed_costs_nothing(tmp_path: pathlib.Path) -> None:
    """A body that claims a terabyte, in a stream that has no size to compare with."""
    head = ff.begin(ff.GRAPH_FILE)
    claim = head + ff.head(ff.MESSAGE, (1 << 40) - 1, 8) + b"\xc1"
    buffer = ff.forged(ff.GRAPH_FILE, [ff.Frame(ff.MESSAGE, b"\xc1" + lent(0))])
    for data in (claim, buffer + ff.head(ff.BUFFER, (1 << 40) - 1, len(buffer)) + b"abc"):
        for read in (lambda data=data: holdall.load(Dribble(data)), lambda data=data: holdall.loads(data)):
            with pytest.raises(holdall.TruncatedError):
                read()


def test_counts_stay_level(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = [noise(5000), grid(), bytearray(5000), array.array("i", range(2000)), "text"]
    bad = bytearray(dumped(obj))
    bad[-200] ^= 1

    def work() -> None:
        for compress in (None, "lz4"):
            holdall.dump(obj, path, compress=compress, sync=False, progress=lambda *_: None)
            holdall.load(path, progress=lambda *_: None)
            holdall.load(path, mmap=True)
            holdall.load(path, mmap="copy")
            holdall.load(io.BytesIO(path.read_bytes()))
        for _ in range(2):
            with pytest.raises(holdall.DecodeError):
                holdall.loads(bad)
            with pytest.raises(Stop):
                holdall.dump(obj, Failing(0))

    work()
    stays_level(work, 60)
