"""Files that lie elsewhere, by a file system that this file makes: what is asked for, and what becomes of answers that fail. With real
servers: tests/scale."""

from __future__ import annotations

import io
import tracemalloc
from concurrent.futures import Future
from typing import Any

import pytest

import holdall
from holdall import _remote, _system


class System:
    """As fsspec's, as far as it is used."""

    protocol = "elsewhere"

    def __init__(self, content: bytes) -> None:
        self.content, self.state, self.size = content, 1, len(content)
        self.asked: list[tuple[int, int]] = []
        self.fails: list[BaseException] = []

    def _parent(self, path: str) -> str:
        return ""

    def invalidate_cache(self, path: str) -> None:
        pass

    def info(self, path: str) -> dict[str, Any]:
        return {"size": self.size, "ETag": self.state}

    def cat_file(self, path: str, start: int, end: int) -> bytes:
        self.asked.append((start, end))
        if self.fails:
            raise self.fails.pop()
        return self.content[start:end]


class File:
    path = "a.hold"

    def __init__(self, content: bytes) -> None:
        self.fs = System(content)


def stored(value: object, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(value, file, **options)
    return file.getvalue()


SHARED = ["shared"]
GRAPH = {
    "rows": [{"id": i, "name": f"row {i}"} for i in range(10_000)],
    "text": "x" * 500_000,
    "numbers": [*range(5000)],
    "table": {f"k{i}": i for i in range(5000)},
    "bytes": [bytes([i]) * 20_000 for i in range(20)],
    "a": SHARED,
    "b": SHARED,
}


@pytest.mark.parametrize("how", [None, "zstd"])
def test_only_what_is_touched_is_asked_for(how: Any) -> None:
    file = File(stored(GRAPH, compress=how))
    doc = holdall.open(file)
    read = lambda: sum(end - start for start, end in file.fs.asked)  # noqa: E731
    assert doc["rows"][7000]["name"] == "row 7000" and doc["table"]["k4999"] == 4999
    assert doc["table"].get("no") is None and len(doc["rows"]) == 10_000
    if how is None:
        assert read() < 300_000 < len(file.fs.content)
    assert doc["bytes"][7] == bytes([7]) * 20_000 and doc["numbers"][77] == 77
    assert doc["a"] is doc["b"] and doc["b"].load() == SHARED
    # Nothing is asked for twice.
    before = len(file.fs.asked)
    assert doc["rows"][7000]["name"] == "row 7000" and len(file.fs.asked) == before
    assert doc.load() == GRAPH and holdall.load(file) == GRAPH and holdall.load(file, mmap=True) == GRAPH
    assert [*doc.items()][1] == ("text", GRAPH["text"])


def test_a_text_is_passed_over_without_its_bytes() -> None:
    file = File(stored({"long": "é" * 1_000_000, "after": [1, {"x": "y"}]}))
    assert holdall.open(file)["after"].load() == [1, {"x": "y"}]
    assert sum(end - start for start, end in file.fs.asked) < 200_000


def test_a_changed_object_is_noticed() -> None:
    file = File(stored(GRAPH))
    doc = holdall.open(file)
    file.fs.state = 2
    with pytest.raises(holdall.ChangedError, match=r"^a\.hold has changed since it was opened$"):
        doc["rows"][9000].load()
    with pytest.raises(holdall.ChangedError):
        doc["bytes"][3]
    file.fs.state = 1
    assert doc["rows"][9000]["id"] == 9000


def test_what_may_pass_is_tried_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(_remote, "_FIRST_PAUSE", 0)
    file = File(stored(GRAPH))
    file.fs.fails = [ConnectionResetError("cut"), TimeoutError("late")]
    assert holdall.open(file)["rows"][9000]["id"] == 9000
    for error in (PermissionError("no"), ValueError("what")):
        doc, file.fs.fails = holdall.open(file), [error]
        with pytest.raises(type(error)):
            doc["rows"][9000].load()
        assert not file.fs.fails and doc["rows"][9000]["id"] == 9000
    doc, file.fs.fails = holdall.open(file), [ConnectionResetError("cut")] * 100
    with pytest.raises(ConnectionResetError):
        doc["rows"][9000].load()
    assert len(file.fs.fails) == 100 - _remote._TRIES


def test_an_answer_of_too_few_bytes_is_an_error(monkeypatch: Any) -> None:
    file = File(stored(GRAPH))
    file.fs.content = file.fs.content[:-100]
    with pytest.raises(OSError, match="expected 32768 bytes, got 32668"):
        holdall.open(file)


class ByHand(_remote.Remote):
    """Whose ranges come as a test says, but for the first."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.begun: list[tuple[_remote.Coming, Future[None]]] = []
        super().__init__(None, "a.log")

    def _first(self) -> tuple[int, bytes]:
        return len(self.content), b""

    def _begin(self, start: int, end: int, coming: _remote.Coming) -> Future[None]:
        work: Future[None] = Future()
        if not self.begun:
            coming.put(self.content[start:end])
            work.set_result(None)
        self.begun.append((coming, work))
        return work


def test_what_has_come_of_a_range_is_given_before_the_rest(monkeypatch: Any) -> None:
    remote = ByHand(bytes(range(256)) * 20_000)
    ahead = _remote.Ahead(remote)
    monkeypatch.setattr(ahead, "FIRST", 1 << 19)
    monkeypatch.setattr(ahead, "_step", 1 << 19)
    at = 1 << 18
    assert ahead.read_at(0, at) == remote.content[:at]
    begun = [(coming.at, coming.end) for coming, _ in remote.begun[1:]]
    assert begun == [(at, 3 * at), (3 * at, 7 * at), (7 * at, 15 * at), (15 * at, remote.size)]
    coming, work = remote.begun[1]
    for count in (1, 100, coming.PIECE - 1000):
        coming.put(remote.content[coming.have + at : coming.have + at + count])
    coming.put(remote.content[coming.have + at : coming.have + at + 900])
    assert coming.have == coming.PIECE + 1
    for count in (1000, coming.PIECE - 1000, 1):
        assert ahead.read_at(at, count) == remote.content[at : at + count]
        at += count
    coming.put(b"")
    coming.put(remote.content[at : at + 5])
    work.set_exception(ConnectionResetError("cut"))
    assert ahead.read_at(at, 1000) == remote.content[at : at + 5]
    with pytest.raises(ConnectionResetError):
        ahead.read_at(at + 5, 1000)
    # It may be asked for again, by other requests.
    others = [work for _, work in remote.begun[2:]]
    remote.begun.clear()
    assert ahead.read_at(at + 5, 1000) == remote.content[at + 5 : at + 1005]
    assert all(work.cancelled() for work in others)
    with pytest.raises(OSError, match="expected 10 bytes, got more"):
        _remote.Coming("a.log", 0, 10).put(bytes(11))
    # Who asks again for what has failed is told again.
    for _ in range(2):
        with pytest.raises(ConnectionResetError):
            coming.take()


def test_a_size_that_is_claimed_takes_no_memory() -> None:
    for content in (b"HOLD", holdall.dumps([1]), stored(GRAPH["rows"])):
        file = File(content)
        file.fs.size = 1 << 44
        tracemalloc.start()
        with pytest.raises((OSError, MemoryError)):
            holdall.open(file)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


def test_what_is_there_is_known() -> None:
    brought = []

    class Remote:
        size, tail = 1000, b""

        def read(self, start: int, end: int) -> bytes:
            brought.append((start, end))
            return b"x" * (end - start)

    for gap, expected in ((0, [(50, 100), (200, 250)]), (1 << 15, [(50, 250)])):
        _remote_gap, _remote._GAP = _remote._GAP, gap
        try:
            sparse: Any = _remote.Sparse(Remote())  # type: ignore[arg-type]
            for start, end in [(100, 200), (300, 400), (0, 50), (399, 401), (200, 200)]:
                sparse.bring(start, end)
            brought.clear()
            sparse.bring(40, 250)
            assert brought == expected
            brought.clear()
            sparse.bring(0, 250)
            sparse.bring(300, 401)
            assert not brought
            sparse.bring(900, 5000)
            assert brought == [(900, 1000)]
        finally:
            _remote._GAP = _remote_gap
    assert not len(_system.zeros(0)) and bytes(_system.zeros(10)) == bytes(10)


def test_what_is_a_url() -> None:
    for url in ("s3://bucket/key", "http://a/b", "simplecache::s3://a/b", "memory://a"):
        assert _remote.is_url(url)
    for path in ("a.hold", "/a:b", "C:\\a", "C:/a", "c:a", "://", b"s3://a/b", None):
        assert not _remote.is_url(path)
    packed = File(b"")
    packed.compression = "gzip"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="fsspec unpacks"):
        holdall.open(packed)
