"""Files and logs that lie elsewhere: by S3's protocol and by HTTP, only what is touched, over connections that break."""

from __future__ import annotations

import io
import os
import pathlib
from typing import Any

import numpy as np
import pytest

import holdall
from tests.support import file_frames
from tests.support.isomorphic import isomorphic

from .servers import S3, Objects

SHARED = ["shared", {"deep": [1, 2, 3]}]
GRAPH: dict[str, Any] = {
    "layers": [
        {"weights": np.arange(20_000, dtype="f8") + i, "name": f"l{i}", "shared": SHARED} for i in range(50)
    ],
    "epoch": 12,
    "rows": [{"id": i, "name": f"row {i}", "values": [i * 0.5, i]} for i in range(50_000)],
    "table": {f"k{i}": i for i in range(20_000)},
    "text": "é" * 2_000_000,
    "numbers": list(range(100_000)),
    "shared": SHARED,
}
LOOKS: dict[str, Any] = {
    "a leaf": lambda graph: graph["epoch"],
    "a row": lambda graph: graph["rows"][33_333],
    "a field": lambda graph: graph["rows"][500]["name"],
    "a key": lambda graph: graph["table"]["k777"],
    "an array": lambda graph: graph["layers"][49]["weights"],
    "a layer": lambda graph: graph["layers"][7],
    "what is shared": lambda graph: graph["layers"][30]["shared"],
    "a long text": lambda graph: graph["text"],
    "a number of a run": lambda graph: graph["numbers"][5000],
    "lengths": lambda graph: (len(graph["rows"]), len(graph["table"]), list(graph)),
}


def stored(value: object, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(value, file, **options)
    return file.getvalue()


def built(value: Any) -> Any:
    return value.load() if isinstance(value, holdall.Document) else value


@pytest.fixture(scope="module")
def files() -> dict[Any, bytes]:
    return {how: stored(GRAPH, compress=how) for how in (None, "zstd", "lz4")}


@pytest.mark.parametrize("how", [None, "zstd", "lz4"])
def test_what_is_touched_is_what_a_local_file_gives(web: Objects, files: Any, how: Any) -> None:
    url = web.put("/graph.hold", files[how])
    for name, look in LOOKS.items():
        web.tally.reset()
        with holdall.open(url) as doc:
            isomorphic(built(look(doc)), look(GRAPH), identity=False)
        assert web.tally.bytes < len(files[how]), name
        assert len(web.tally.requests) <= (8 if name == "lengths" else 5), (name, web.tally.requests)
        if how is None and name in ("a leaf", "a row", "a field", "what is shared"):
            assert len(web.tally.requests) <= 4 and web.tally.bytes < 200_000, name


@pytest.mark.parametrize("how", [None, "zstd", "lz4"])
def test_the_whole(web: Objects, files: Any, how: Any) -> None:
    url = web.put("/graph.hold", files[how])
    isomorphic(holdall.load(url), GRAPH, identity=False)
    isomorphic(holdall.load(url, mmap=True), GRAPH, identity=False)
    doc = holdall.open(url)
    assert doc["shared"] is doc["layers"][3]["shared"]
    isomorphic(doc.load(), GRAPH, identity=False)


@pytest.mark.parametrize("how", [None, "zstd"])
def test_over_s3(s3: S3, files: Any, how: Any) -> None:
    s3.put("bucket/graph.hold", files[how])
    file = s3.system().open("bucket/graph.hold")
    for name, look in LOOKS.items():
        s3.tally.reset()
        with holdall.open(file) as doc:
            isomorphic(built(look(doc)), look(GRAPH), identity=False)
        assert len(s3.tally.requests) <= (8 if name == "lengths" else 5), (name, s3.tally.requests)
        if how is None and name in ("a leaf", "a row", "a field", "what is shared"):
            assert len(s3.tally.requests) <= 4 and s3.tally.bytes < 200_000, name


def large() -> dict[str, Any]:
    """Many small objects, some of which share what lies far away; the index has two levels."""
    shared = [["shared", n] for n in range(100)]
    both = {f"name {n}": n for n in range(20_000)}
    return {
        "both": both,
        "again": both,
        "rows": [{"id": n, "name": f"name {n % 1000}", "data": "x" * 60} for n in range(150_000)],
        "table": {f"key {n}": [n] for n in range(100_000)},
        "deep": [
            [{"all": [m + n / 2 for m in range(3)], "of": shared[n % 100]} for n in range(400)]
            for m in range(50)
        ],
        "dicts": [{f"key {n} {m}": m for m in range(2_000)} for n in range(30)],
        "shared": shared,
        "nothing": None,
    }


@pytest.fixture(scope="module")
def large_graph() -> tuple[dict[str, Any], bytes]:
    graph = large()
    return graph, stored(graph)


LARGE_LOOKS: dict[str, tuple[int, Any]] = {
    "a row": (4, lambda graph: graph["rows"][98_765]),
    "a field": (4, lambda graph: graph["rows"][-5]["name"]),
    "a key": (4, lambda graph: graph["table"]["key 77777"][0]),
    "a key of what is there twice": (4, lambda graph: graph["both"]["name 7777"]),
    "the same elsewhere": (5, lambda graph: graph["again"]["name 7777"]),
    "no key": (4, lambda graph: "none" in graph["table"]),
    "what is shared": (6, lambda graph: graph["deep"][25][399]["of"]),
    "a key of one of many dicts": (6, lambda graph: graph["dicts"][17]["key 17 1234"]),
    "a length": (3, lambda graph: len(graph["table"])),
    "what is last": (5, lambda graph: graph["nothing"]),
}


@pytest.mark.parametrize("name", LARGE_LOOKS)
def test_a_member_of_a_large_graph_takes_few_requests(
    web: Objects, large_graph: tuple[dict[str, Any], bytes], name: str
) -> None:
    graph, file = large_graph
    most, look = LARGE_LOOKS[name]
    url = web.put("/large.hold", file)
    web.tally.reset()
    with holdall.open(url) as doc:
        isomorphic(built(look(doc)), look(graph), identity=False)
    assert len(web.tally.requests) <= most, web.tally.requests
    assert web.tally.bytes < 200_000


def test_a_large_graph_from_any_place_on(
    web: Objects, large_graph: tuple[dict[str, Any], bytes], tmp_path: pathlib.Path
) -> None:
    graph, file = large_graph
    url = web.put("/large.hold", file)
    (tmp_path / "large.hold").write_bytes(file)
    with holdall.open(url) as far, holdall.open(tmp_path / "large.hold") as near:
        for doc in (far, near):
            for number in [*range(0, 150_000, 4_567), 149_999]:
                assert doc["rows"][number].load() == graph["rows"][number]
            for number in range(0, 100_000, 5_555):
                assert doc["table"][f"key {number}"].load() == [number]
            assert doc["both"] is doc["again"] and doc["again"]["name 19999"] == 19_999
            assert list(doc["table"])[::9_999] == list(graph["table"])[::9_999]
            assert doc["deep"][3][7]["of"] is doc["shared"][7] and doc["deep"][49].load() == graph["deep"][49]
            assert [doc["dicts"][n][f"key {n} {n}"] for n in range(30)] == list(range(30))
            isomorphic(doc["deep"].load(), graph["deep"], identity=False)
    isomorphic(holdall.load(url), graph, identity=False)


def test_pages_that_are_damaged_are_refused_when_they_are_needed(
    web: Objects, large_graph: tuple[dict[str, Any], bytes], tmp_path: pathlib.Path
) -> None:
    _, file = large_graph
    frames = file_frames.parse(file)[0].frames
    pages = [frame for frame in frames if frame.kind == file_frames.PLACES]
    assert len(pages) > 5
    for page, row, refused in ((pages[1], 10, False), (pages[-1], 98_765, False), (pages[1], 100_000, True)):
        bad = bytearray(file)
        bad[page.start + 3] ^= 1
        with holdall.open(web.put("/bad.hold", bytes(bad), f'"{row}"')) as doc:
            if refused:
                with pytest.raises(holdall.ChecksumError):
                    doc["rows"][row]
            else:
                assert doc["rows"][row]["id"] == row
        (tmp_path / "bad.hold").write_bytes(bad)
        with pytest.raises(holdall.ChecksumError):
            holdall.open(tmp_path / "bad.hold")


def test_small_files_and_messages_take_one_or_two_requests(web: Objects) -> None:
    for data in (holdall.dumps({"a": [1, 2]}), stored({"a": [1, 2]}), stored({"a": [1, 2]}, compress="zstd")):
        url = web.put("/small.hold", data)
        web.tally.reset()
        assert holdall.open(url)["a"][1] == 2 and len(web.tally.requests) == 1
        assert holdall.load(url) == {"a": [1, 2]}
    url = web.put("/message.hold", holdall.dumps({"a": ["x" * 100] * 5000, "b": list(range(5000))}))
    assert holdall.open(url)["b"][7] == 7


def test_what_is_nothing_of_ours_is_refused(web: Objects) -> None:
    for data in (b"", b"HOLD", b"no", os.urandom(100_000), stored(GRAPH["table"])[:-1]):
        with pytest.raises(holdall.DecodeError):
            holdall.open(web.put("/bad.hold", data))
    with pytest.raises(FileNotFoundError):
        holdall.open(f"{web.url}/nothing.hold")


def test_every_flipped_byte_of_an_index_is_refused_or_harmless(web: Objects) -> None:
    data = bytearray(stored({"rows": [{"a": i, "b": [i] * 3} for i in range(5000)], "c": 1}))
    refused = 0
    for at in range(len(data) - 400, len(data), 7):
        data[at] ^= 0x55
        url = web.put("/bad.hold", bytes(data), f'"{at}"')
        try:
            assert holdall.open(url)["rows"][4000].load() == {"a": 4000, "b": [4000] * 3}
        except holdall.DecodeError:
            refused += 1
        data[at] ^= 0x55
    assert refused > 30


@pytest.mark.parametrize("cuts", [1, 3])
def test_connections_that_break_are_made_again(web: Objects, s3: S3, files: Any, cuts: int) -> None:
    url = web.put("/graph.hold", files[None])
    web.tally.cuts = cuts
    assert holdall.open(url)["rows"][40_000]["id"] == 40_000
    web.tally.cuts = cuts
    isomorphic(holdall.load(url), GRAPH, identity=False)
    assert web.tally.cuts == 0
    s3.put("bucket/graph.hold", files[None])
    s3.tally.cuts = cuts
    assert holdall.open(s3.system().open("bucket/graph.hold"))["rows"][40_000]["id"] == 40_000
    assert s3.tally.cuts == 0


def test_a_server_that_is_gone_is_given_up(web: Objects, files: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("holdall._remote._FIRST_PAUSE", 0.001)
    doc = holdall.open(web.put("/graph.hold", files[None]))
    # Each answer brings half of a piece: what goes forward is not given up.
    web.tally.cuts = 10
    assert doc["rows"][40_000]["id"] == 40_000
    web.tally.cuts = 1000
    with pytest.raises(OSError, match="not completed|cut short"):
        doc["rows"][20_000].load()
    web.tally.cuts = 0
    assert doc["rows"][20_000]["id"] == 20_000
    del web.content["/graph.hold"]
    with pytest.raises(FileNotFoundError):
        doc["text"]


def test_a_changed_object_is_noticed(web: Objects, s3: S3, files: Any) -> None:
    doc = holdall.open(web.put("/graph.hold", files[None]))
    web.put("/graph.hold", files[None], '"2"')
    with pytest.raises(holdall.ChangedError, match="has changed since it was opened"):
        doc["rows"][40_000].load()
    # Without tags it is the size that tells.
    doc = holdall.open(web.put("/graph.hold", files[None], None))
    web.put("/graph.hold", files[None] + b"more", None)
    with pytest.raises(holdall.ChangedError):
        doc["rows"][40_000].load()
    s3.put("bucket/graph.hold", files[None])
    doc = holdall.open(s3.system().open("bucket/graph.hold"))
    s3.put("bucket/graph.hold", stored({**GRAPH, "epoch": 13}))
    with pytest.raises(holdall.ChangedError):
        doc["rows"][40_000].load()


def test_a_server_without_ranges_is_read_whole(web: Objects, files: Any) -> None:
    web.ranges = False
    url = web.put("/graph.hold", files["zstd"])
    assert holdall.open(url)["epoch"] == 12
    assert holdall.load(url)["epoch"] == 12


def test_all_ways_to_say_where(tmp_path: pathlib.Path, files: Any) -> None:
    import fsspec

    path = tmp_path / "graph.hold"
    path.write_bytes(files[None])
    fsspec.filesystem("memory").pipe_file("/graph.hold", files[None])
    with fsspec.open("memory://graph.hold") as file:
        for where in ("memory://graph.hold", f"file://{path}", fsspec.open("memory://graph.hold")):
            assert holdall.open(where)["epoch"] == 12
            assert holdall.load(where)["epoch"] == 12
        with fsspec.open(f"file://{path}") as local:
            assert holdall.open(local)["epoch"] == 12
        assert holdall.load(file)["epoch"] == 12
    doc = holdall.open(f"file://{path}")
    os.utime(path, (1, 1))
    with pytest.raises(holdall.ChangedError):
        doc["text"]


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": i, "name": f"name {i % 100}", "data": bytes(i % 300)} for i in range(count)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: Any) -> bytes:
    path = tmp_path_factory.mktemp("log") / "events.log"
    with holdall.Writer(path, sync="never") as writer:
        for record in records(40_000):
            writer.write(record)
    return path.read_bytes()


def test_a_log(web: Objects, s3: S3, log: bytes) -> None:
    s3.put("bucket/events.log", log)
    for where in (web.put("/events.log", log), s3.system().open("bucket/events.log")):
        assert [record["id"] for record in holdall.Reader(where)] == [*range(40_000)]
        with holdall.Reader(where) as reader:
            reader.seek(39_990)
            assert [record["id"] for record in reader] == [*range(39_990, 40_000)]
        parts = holdall.split_log(where, 1 << 19)
        assert len(parts) == -(-len(log) // (1 << 19))
        found = [record["id"] for part in parts for record in holdall.Reader(where, part=part)]
        assert found == [*range(40_000)]


def test_a_log_over_connections_that_break(web: Objects, log: bytes) -> None:
    reader = holdall.Reader(web.put("/events.log", log))
    web.tally.cuts = 9
    assert sum(1 for _ in reader) == 40_000 and web.tally.cuts == 0


def test_to_seek_reads_little(web: Objects, log: bytes) -> None:
    url = web.put("/events.log", log)
    web.tally.reset()
    with holdall.Reader(url) as reader:
        reader.seek(20_000)
        assert next(reader)["id"] == 20_000
    assert web.tally.bytes < len(log) - (1 << 20)


def test_a_changed_log_is_noticed(web: Objects, log: bytes) -> None:
    reader = holdall.Reader(web.put("/events.log", log))
    assert next(reader)["id"] == 0
    web.put("/events.log", log, '"2"')
    with pytest.raises(holdall.ChangedError):
        list(reader)


def test_a_sealed_log_and_a_sealed_file(web: Objects, tmp_path: pathlib.Path) -> None:
    seal = holdall.Seal(bytes(range(1, 33)))
    with holdall.Writer(tmp_path / "sealed.log", seal=seal) as writer:
        for record in records(1000):
            writer.write(record)
    url = web.put("/sealed.log", (tmp_path / "sealed.log").read_bytes())
    assert [record["id"] for record in holdall.Reader(url, seal=seal)] == [*range(1000)]
    with pytest.raises(ValueError, match="sealed"):
        holdall.split_log(url)
    url = web.put("/sealed.hold", stored({"a": 1}, seal=seal))
    assert holdall.load(url, seal=seal) == holdall.open(url, seal=seal).load() == {"a": 1}
    assert holdall.load(url, seal=seal, mmap=True) == {"a": 1}


def test_what_a_part_takes_no_more_than(web: Objects, log: bytes) -> None:
    url = web.put("/events.log", log)
    for part in holdall.split_log(url, 2 << 20):
        web.tally.reset()
        list(holdall.Reader(url, part=part))
        assert web.tally.bytes < part[1] - part[0] + (5 << 20)
