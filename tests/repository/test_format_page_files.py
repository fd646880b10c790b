"""docs/format.md says enough of files, their index and logs: readers written from it alone find what holdall has put there."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pytest

import holdall
from tests.support import wire_files
from tests.support.each import each
from tests.support.extent import sample
from tests.support.neutral import describe, show
from tests.support.page_tables import example
from tests.support.wire_files import (
    BLOCK,
    Log,
    Watched,
    frame_at,
    key_places,
    read_file,
    read_index,
    read_page,
)
from tests.support.wire_reader import Malformed, Reader
from tests.support.xxh3 import xxh3


def dumped(path: pathlib.Path, obj: object, **options: Any) -> bytes:
    holdall.dump(obj, path, **options)
    return path.read_bytes()


def read(path: pathlib.Path, **options: Any) -> list[Any]:
    with holdall.Reader(path, **options) as log:
        return list(log)


def test_the_example_of_a_file_is_right(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "page.hold"
    assert dumped(path, {"a": 1, "b": [5]}, compress="lz4") == example("file")
    small = read_file(dumped(path, {"a": 1, "b": [5]}))
    assert small.message == read_file(example("file")).message and len(small.frames) == 1


def test_the_example_of_a_log_is_right(tmp_path: pathlib.Path) -> None:
    records = [{"event": "start", "at": 1}, {"event": "stop", "at": 5}]
    with holdall.Writer(tmp_path / "page.log") as log:
        for record in records:
            log.write(record)
    assert (tmp_path / "page.log").read_bytes() == example("log")
    assert read(tmp_path / "page.log") == records


@pytest.mark.parametrize(
    "size", [0, 1, 3, 4, 8, 9, 16, 17, 40, 70, 128, 129, 200, 240, 241, 1024, 1025, 5000]
)
def test_checksums_of_every_length(size: int, tmp_path: pathlib.Path) -> None:
    # A message of `size` bytes more than fit in front; its frame's checksum is compared.
    data = random.Random(size).randbytes(size)
    assert read_file(dumped(tmp_path / "sum.hold", data)).end > size
    assert xxh3(data) != xxh3(data, 1)


def arrays() -> dict[str, object]:
    return {"bytes": b"ab" * 5000, "array": bytearray(70_000), "small": b"abc", "again": list(range(70_000))}


@pytest.mark.parametrize("compress", [None, "lz4"])
def test_a_file_of_everything(compress: Any, tmp_path: pathlib.Path) -> None:
    obj = arrays()
    file = dumped(tmp_path / "all.hold", obj, compress=compress)
    found = read_file(file)
    assert found.end == len(file)
    assert found.buffers == [obj["bytes"], obj["array"]]
    told = show(Reader(found.message).message())
    assert told["dict"][0] == ["bytes", {"buffer": 0, "form": "bytes"}]
    assert told["dict"][1] == ["array", {"buffer": 1, "form": "bytearray"}]
    if compress is None:
        bodies = [frame.at + 8 for frame in found.frames if frame.kind == "BUFFER_FRAME"]
        assert len(bodies) == 2 and not any(at % 64 for at in bodies)


def test_bodies_in_blocks(tmp_path: pathlib.Path) -> None:
    noise = random.Random(5).randbytes(BLOCK)
    data = bytes(BLOCK) + noise + b"tail" * 50
    file = dumped(tmp_path / "blocks.hold", data, compress="lz4")
    found = read_file(file)
    assert found.buffers == [data]
    blocks = [frame for frame in found.frames if frame.kind in ("BUFFER_FRAME", "REST")]
    assert [(block.codec, block.more) for block in blocks] == [
        ("lz4", True),
        ("stored", True),
        ("lz4", False),
    ]
    index = read_index(next(frame.body for frame in found.frames if frame.kind == "INDEX"))
    assert index.buffers == [(blocks[0].at, len(data), [block.at for block in blocks])]


def test_files_one_behind_the_other(tmp_path: pathlib.Path) -> None:
    with open(tmp_path / "two.hold", "wb") as file:
        holdall.dump(1, file)
        holdall.dump([bytes(5000)], file)
    data = (tmp_path / "two.hold").read_bytes()
    first = read_file(data)
    assert read_file(data[first.end :]).buffers == [bytes(5000)]


@pytest.mark.damage
def test_every_flipped_bit_of_a_file_is_seen() -> None:
    file = example("file")
    for bit in sample(range(8 * len(file)), 1_000):
        bad = bytearray(file)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises((Malformed, holdall.DecodeError)):
            read_file(bytes(bad))


def test_the_index(tmp_path: pathlib.Path) -> None:
    shared = ["shared", "texts"]
    obj = {
        "rows": [{"id": n, "name": f"name {n}", "of": shared, "point": (n, 1.5)} for n in range(3000)],
        "keys": {f"key {n}": [n, str(n)] for n in range(6000)},
        "mixed": {n if n % 2 else f"key {n}": {"id": n} for n in range(2000)},
    }
    file = dumped(tmp_path / "index.hold", obj)
    found = read_file(file)
    index = read_index(next(frame.body for frame in found.frames if frame.kind == "INDEX"))
    assert index.message == (found.frames[0].at, len(found.message), []) and index.buffers == []

    seen = Watched(found.message)
    seen.message()
    assert index.objects == len(seen.numbered)
    assert [layout[:2] for layout in index.layouts] == seen.layouts_at
    assert [layout[2] for layout in index.layouts] == [len(layout.fields) for layout in seen.layouts]
    assert index.checkpoints[0] == (1, 1, 0) and len(index.checkpoints) > 50
    for at, numbers, layouts in index.checkpoints:
        # The first value has its number without a mark.
        assert seen.places[at] == (numbers, layouts)
    spans = [
        after[0] - before[0] for before, after in zip(index.checkpoints, index.checkpoints[1:], strict=False)
    ]
    assert min(spans) >= 4096
    assert len(index.containers) >= 4
    for begin, end, points in index.containers:
        assert seen.ends.get(begin, seen.ends.get(begin - 1)) == end and end - begin >= 4096
        assert all(begin < at < end and at in seen.places for _, at in points)
        assert points == sorted(points)

    assert len(index.tables) == 2
    for (_, complete, pages), (whole, key, value) in zip(
        index.tables, [(1, "key 1234", [1234, "1234"]), (0, "key 1234", {"id": 1234})], strict=True
    ):
        assert complete == whole
        places = key_places(file, pages, holdall.dumps(key)[1:])
        members = []
        for place in places:
            reader = Watched(found.message)
            # All that was numbered before, as a checkpoint and the tokens behind it tell.
            reader.numbered, reader.layouts = list(seen.numbered), list(seen.layouts)
            reader.at = place
            members.append((show(reader.value()), show(reader.value())))
        assert (show(describe(key)), show(describe(value))) in members
    assert key_places(file, index.tables[0][2], holdall.dumps("no key")[1:]) == []


def test_an_index_of_two_levels(tmp_path: pathlib.Path) -> None:
    obj = [
        [[n, f"text {n} " * 6] for n in range(40_000)],
        {f"key {n}": f"{n} " * 300 for n in range(1_500)},
        [{"wide": list(range(0, 3_000_000_000, 1_000_000)), "n": n} for n in range(100)],
        [{f"key {n} {key}": f"{key}" * (60 + n) for key in range(70)} for n in range(80)],
    ]
    obj.append(obj[3][79])
    file = dumped(tmp_path / "large.hold", obj)
    found = read_file(file)
    index = read_index(found.frames[-2].body)
    assert len(index.pages) > 3 and index.pages == [
        frame.at for frame in found.frames if frame.kind == "PLACES"
    ]
    # The 64 largest dicts; one of them is there twice, and has an id.
    assert [items for items, _ in index.dicts] == [1_500] + [70] * 63 and len(index.tables) == 64
    seen = Watched(found.message)
    seen.message()
    ids = [
        number and seen.places[table[0] - 1][0] + 1
        for table, (_, number) in zip(index.tables, index.dicts, strict=True)
    ]
    assert ids == [number for _, number in index.dicts] and [bool(number) for number in ids] == [
        False
    ] * 63 + [True]
    begins = [checkpoint[0] for checkpoint in index.checkpoints] + [len(found.message)]
    outer, within = {at: (end, points) for at, end, points in index.containers}, 0
    tables = 0
    for begin, place, end in zip(index.checkpoints, index.pages, begins[1:], strict=False):
        page = read_page(frame_at(file, place).body, begin)
        for at, numbers, layouts in [begin, *page.checkpoints]:
            assert seen.places[at] == (numbers, layouts) and begin[0] <= at < end
        for at, ends, points in page.containers:
            assert seen.ends.get(at, seen.ends.get(at - 1)) == ends
            assert all(begin[0] <= place < end and place in seen.places for _, place in points)
            if at in outer:
                first = [point for point in outer[at][1] if begin[0] <= point[1] < end]
                assert outer[at][0] == ends and len(first) == 1 and first < points == sorted(points)
            else:
                assert begin[0] <= at < ends <= end and points == sorted(points)
                within += 1
        for at, complete, keys in page.tables:
            assert at not in outer and complete == 1
            tables += 1
            wanted = holdall.dumps(f"key {tables - 1} 7")[1:]
            assert len(key_places(file, keys, wanted)) == 1
    kept = {table[0] for table in index.tables}
    assert within > 50 and tables == 17 and kept <= outer.keys()
    assert all(at in kept or any(at < edge < end for edge in begins) for at, (end, _) in outer.items())


def records() -> list[dict[str, Any]]:
    cities = [f"city number {n}" for n in range(7)]
    return [
        {"id": n, "city": cities[n % 7], "tags": ["new"], "point": {"x": n, "y": cities[n % 5]}}
        if n % 3
        else {"id": n, "city": f"city number {n % 7}", "more": {"kind": cities[0], "é": None}}
        for n in range(60)
    ]


def logged(path: pathlib.Path, **options: Any) -> bytes:
    """A log of four sections, as it is opened so many times."""
    for begin in range(0, 60, 15):
        with holdall.Writer(path, append=True, **options) as log:
            for record in records()[begin : begin + 15]:
                log.write(record)
    return path.read_bytes()


@pytest.mark.parametrize("by_names", [False, True])
@pytest.mark.parametrize("compress", [None, "lz4"])
def test_a_log_by_its_records_and_by_its_names(by_names: bool, compress: Any, tmp_path: pathlib.Path) -> None:
    log = Log(logged(tmp_path / "a.log", compress=compress), by_names)
    expected = read(tmp_path / "a.log")
    assert expected == records() and log.lost == 0
    assert [show(record) for record in log.records] == [show(describe(record)) for record in expected]
    assert [(restart.number, restart.record) for restart in log.restarts] == [
        (0, 0),
        (1, 15),
        (2, 30),
        (3, 45),
    ]
    places = [restart.at for restart in log.restarts]
    assert [restart.before for restart in log.restarts] == [
        [],
        places[:1],
        [places[1], places[0]],
        places[2:3],
    ]


@pytest.mark.parametrize("which", range(0, 60, 4))
def test_a_lost_record_takes_no_other_along(which: int, tmp_path: pathlib.Path) -> None:
    data = bytearray(logged(tmp_path / "a.log"))
    whole = Log(bytes(data), True)
    frames, at = [], 8
    while at < len(data):
        frames.append(wire_files.frame_at(bytes(data), at))
        at = frames[-1].end
    lost = [frame for frame in frames if frame.kind == "RECORD"][which]
    data[lost.at + 12] ^= 4
    found = Log(bytes(data), True)
    del whole.records[which]
    assert [show(record) for record in found.records] == [show(record) for record in whole.records]
    # And the reader that the page was made for.
    (tmp_path / "a.log").write_bytes(data)
    assert read(tmp_path / "a.log", repair="skip") == [*records()[:which], *records()[which + 1 :]]


@each("size", range(8, 170, 7))
def test_a_log_cut_short(size: int) -> None:
    log = Log(example("log")[:size], False)
    assert len(log.records) == (size >= 79) + (size >= 142)
