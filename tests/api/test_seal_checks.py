"""`verify`, `holdall inspect`, `holdall verify` and asyncio's logs, of what is sealed."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

import holdall
from holdall import Seal, SealError
from holdall.aio import AsyncReader, AsyncWriter
from tests.support import seals as by_hand
from tests.support.cli import invoke

pytest.importorskip("click")

KEY = b"a secret that is long enough for a key"
SEAL = Seal(KEY, context="events")
OTHER = Seal(Seal.new_key(), context="events")
RECORDS = [{"event": f"number {number}", "at": number} for number in range(4)]
# What stands in front of a log's pieces.
BEGIN = 21


def log_of(path: pathlib.Path) -> bytes:
    """A log of which each record is a piece."""
    with holdall.Writer(path, seal=SEAL, sync="always") as writer:
        for record in RECORDS:
            writer.write(record)
    return path.read_bytes()


def facts(data: Any, seal: Seal = SEAL) -> tuple[Any, ...]:
    report = holdall.verify(data, seal=seal)
    assert report.ok is not bool(report.damage) and report.repaired is None
    return report.kind, report.frames, report.records, [each.reason for each in report.damage]


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


# --- verify ---


def test_verify_of_files_and_messages(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "graph.hold"
    holdall.dump(RECORDS, path, seal=SEAL)
    message = holdall.dumps(RECORDS, seal=SEAL)
    seen: list[tuple[int, int]] = []
    report = holdall.verify(path, seal=SEAL, progress=lambda done, total: seen.append((done, total)))
    assert (report.kind, report.ok, report.bytes) == ("graph", True, path.stat().st_size) and seen
    assert facts(path.read_bytes()) == ("graph", report.frames, None, [])
    assert facts(message)[::3] == ("message", [])
    # What holds by its seal and was stored damaged is damage, at its place in the file.
    inside = changed(path.read_bytes()[SEAL.HEAD :], 30)
    report = holdall.verify(SEAL.wrap(inside), seal=SEAL)
    plain = holdall.verify(inside)
    assert [each.offset for each in report.damage] == [each.offset + SEAL.HEAD for each in plain.damage] != []


def test_verify_of_what_does_not_hold() -> None:
    data = holdall.dumps(RECORDS, seal=SEAL)
    wrong = "the seal does not hold: the bytes were changed, or sealed for another context"
    assert facts(changed(data, len(data) - 3)) == ("sealed", 0, None, [wrong])
    assert facts(data, Seal(KEY, context="orders")) == ("sealed", 0, None, [wrong])
    for cut in (data[:-1], data[:30], data[:10], data[:1]):
        kind, frames, _, reasons = facts(cut)
        assert (kind, frames) == ("sealed", 0) and "cut short" in reasons[0]
    assert "longer than it says" in facts(data + b"x")[3][0]


def test_verify_of_another_key_and_of_what_is_not_sealed(tmp_path: pathlib.Path) -> None:
    for data in (holdall.dumps(RECORDS, seal=SEAL), log_of(tmp_path / "log")):
        with pytest.raises(SealError, match="^sealed with a key that is not among those of this seal"):
            holdall.verify(data, seal=OTHER)
        rotated = Seal(Seal.new_key(), context="events", old_keys=[KEY])
        assert holdall.verify(data, seal=rotated).ok
    for data in (holdall.dumps(RECORDS), b"", b"HOLD"):
        with pytest.raises(SealError, match="^not sealed"):
            holdall.verify(data, seal=SEAL)
    with pytest.raises(TypeError, match="^seal: expected"):
        holdall.verify(holdall.dumps(1), seal=KEY)  # type: ignore[arg-type]
    path = tmp_path / "log"
    with pytest.raises(holdall.HoldallError, match="^what is sealed can't be repaired"):
        holdall.verify(path, seal=SEAL, repair=True)


def test_verify_of_logs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log"
    data = log_of(path)
    assert facts(path) == facts(data) == ("log", 5, 4, [])
    with holdall.Writer(path, seal=SEAL, append=True) as writer:
        writer.write("more")
    assert facts(path) == ("log", 7, 5, [])
    pieces = by_hand.pieces_of(data)
    begin = data[:BEGIN]
    moved = "the seal of a piece of the log does not hold: it was changed, moved or left out, or is of another log"
    unclosed = "the log was not closed: pieces at its end may be missing"
    assert facts(begin + b"".join([*pieces[:2], pieces[1], *pieces[2:]])) == ("log", 2, 2, [moved])
    assert facts(begin + b"".join([pieces[0], *pieces[2:]])) == ("log", 1, 1, [moved])
    assert facts(begin + b"".join(pieces[:3])) == ("log", 3, 3, [unclosed])
    assert facts(begin) == ("log", 0, 0, [unclosed])
    assert facts(data, Seal(KEY, context="orders")) == ("log", 0, 0, [moved])
    within = "the log ends within a piece: it was not written to its end"
    for end in range(1, len(data)):
        kind, frames, records, reasons = facts(data[:end])
        assert kind == "log" and len(reasons) == 1 and reasons[0] in (within, unclosed)
        assert frames == records == sum(end >= BEGIN + sum(map(len, pieces[: at + 1])) for at in range(4))
    for at in range(BEGIN, len(data)):
        report = holdall.verify(changed(data, at), seal=SEAL)
        assert [each.offset + each.size for each in report.damage] == [len(data)]


# --- the command line ---


@pytest.fixture
def key(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    return str(path)


def test_verify_by_a_key_file(tmp_path: pathlib.Path, key: str) -> None:
    path = tmp_path / "events.log"
    data = log_of(path)
    ran = invoke("verify", path, "--key", key, "--context", "events")
    assert (ran.code, ran.out) == (0, f"{path}: ok (log, 4 records, 5 frames, {len(data)} bytes)\n")
    path.write_bytes(data[:-3])
    ran = invoke("verify", path, "--key", key, "--context", "events")
    assert ran.code == 1 and "damaged: the log ends within a piece" in ran.out
    path.write_bytes(data)
    (tmp_path / "other").write_bytes(Seal.new_key())
    ran = invoke("verify", path, "--key", tmp_path / "other", "--context", "events")
    assert ran.code == 2 and "sealed with a key that is not among those of this seal" in ran.err
    assert invoke("verify", path, "--key", key).code == 1  # for another context
    (tmp_path / "plain.hold").write_bytes(holdall.dumps(1))
    assert "not sealed" in invoke("verify", tmp_path / "plain.hold", "--key", key).err


def test_a_random_key_is_taken_as_it_is(tmp_path: pathlib.Path) -> None:
    secret = b"\xff" + bytes(range(30)) + b"\n"
    (tmp_path / "key").write_bytes(secret)
    holdall.dump([1], tmp_path / "one.hold", seal=Seal(secret))
    assert invoke("verify", tmp_path / "one.hold", "--key", tmp_path / "key").code == 0


def test_what_is_no_key(tmp_path: pathlib.Path, key: str) -> None:
    holdall.dump([1], tmp_path / "one.hold", seal=SEAL)
    (tmp_path / "short").write_text("short\n")
    for command in ("verify", "inspect"):
        ran = invoke(command, tmp_path / "one.hold", "--key", tmp_path / "short")
        assert ran.code == 2 and "expected at least 32 characters, got 5" in ran.err
        ran = invoke(command, tmp_path / "one.hold", "--context", "events")
        assert ran.code == 2 and "--context goes with --key" in ran.err
    ran = invoke("verify", tmp_path / "one.hold", "--key", key, "--repair")
    assert ran.code == 2 and "--key goes with neither --repair nor --from" in ran.err
    ran = invoke("verify", tmp_path / "one.hold", "--key", tmp_path / "missing")
    assert ran.code == 2 and "missing" in ran.err and "Traceback" not in ran.err


def test_inspect_by_a_key_file(tmp_path: pathlib.Path, key: str) -> None:
    options = ("--key", key, "--context", "events", "--json")
    graph, log = tmp_path / "graph.hold", tmp_path / "log.hold"
    holdall.dump({"colour": ["green"]}, graph, seal=SEAL)
    told = json.loads(invoke("inspect", graph, *options).out)
    assert (told["format"], told["size"], told["error"]) == ("hold, sealed", graph.stat().st_size, None)
    assert [node["key"] for node in told["parts"][0]["nodes"]] == [None, "colour", 0]
    log_of(log)
    with holdall.Writer(log, seal=SEAL, append=True) as writer:
        writer.write({"more": 1})
    told = json.loads(invoke("inspect", log, *options).out)
    assert len(told["parts"]) == 5 and told["error"] is None
    assert told["parts"][4]["nodes"][1]["key"] == "more"
    assert len(json.loads(invoke("inspect", log, *options, "--most", "2").out)["parts"]) == 2
    message = tmp_path / "message.hold"
    message.write_bytes(holdall.dumps([1], seal=SEAL))
    assert invoke("inspect", message, "--key", key, "--context", "events").code == 0


def test_inspect_shows_nothing_of_what_does_not_hold(tmp_path: pathlib.Path, key: str) -> None:
    path = tmp_path / "log.hold"
    data = log_of(path)
    holdall.dump({"colour": ["green"]}, tmp_path / "graph.hold", seal=SEAL)
    for bad in (data[:-2], changed(data, len(data) - 40), (tmp_path / "graph.hold").read_bytes()[:-1], b""):
        path.write_bytes(bad)
        ran = invoke("inspect", path, "--key", key, "--context", "events")
        assert ran.code == 2 and ran.out == "" and ran.err.startswith("holdall: ")
    path.write_bytes(data)
    ran = invoke("inspect", path, "--key", key, "--context", "orders")
    assert ran.code == 2 and "does not hold" in ran.err


# --- asyncio ---


class Sink:
    """As much of a StreamWriter as a log needs."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += bytes(data)

    async def drain(self) -> None:
        pass


def sent(**options: Any) -> bytes:
    async def main() -> bytes:
        sink = Sink()
        async with AsyncWriter(sink, **options) as log:  # type: ignore[arg-type]
            assert [await log.write(record) for record in RECORDS] == [0, 1, 2, 3]
        return sink.data

    return asyncio.run(main())


def received(data: bytes, size: int, seal: Seal = SEAL, **options: Any) -> tuple[list[Any], str]:
    """The records that come in parts of a size, and what was wrong then."""

    async def main() -> tuple[list[Any], str]:
        stream = asyncio.StreamReader()
        for at in range(0, len(data), size):
            stream.feed_data(data[at : at + size])
        stream.feed_eof()
        found: list[Any] = []
        log = AsyncReader(stream, seal=seal, **options)
        try:
            async for record in log:
                found.append(record)
        except holdall.DecodeError as error:
            return found, str(error)
        return found, "".join(each.reason for each in log.damage)

    return asyncio.run(main())


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_async_logs(size: int) -> None:
    data = sent(seal=SEAL)
    assert received(data, size) == (RECORDS, "")
    assert holdall.verify(data, seal=SEAL).ok and list(holdall.Reader(data, seal=SEAL)) == RECORDS
    pieces = by_hand.pieces_of(data)
    begin = data[:BEGIN]
    found, error = received(begin + b"".join(pieces[:3]), size)
    assert found == RECORDS[:3] and "the log was not closed" in error
    found, error = received(data[:-3], size)
    assert found == RECORDS and "ends within a piece" in error
    for repeated in ([*pieces[:2], pieces[1], *pieces[2:]], [pieces[0], *pieces[2:]]):
        found, error = received(begin + b"".join(repeated), size)
        assert found == RECORDS[: len(found)] and len(found) <= 2 and "does not hold" in error
        found, damage = received(begin + b"".join(repeated), size, repair="stop")
        assert found == RECORDS[: len(found)] and "does not hold" in damage


def test_async_logs_of_another_key_or_none() -> None:
    for data, seal, why in (
        (sent(seal=SEAL), OTHER, "sealed with a key"),
        (sent(seal=SEAL), Seal(KEY), "does not hold"),
        (sent(), SEAL, "not a sealed log"),
    ):
        found, error = received(data, 100, seal)
        assert found == [] and why in error
