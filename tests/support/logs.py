"""Logs for the tests: records that are known by their numbers, and the frames of which a log consists."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import holdall

START = HEAD = TAIL = 8  # bytes of a log's start, of a frame's head, and of its tail
RECORD, NAMES, RESTART = 6, 7, 8  # `docs/format.md` has them all


class Frame(NamedTuple):
    """record: its number, if the frame is one."""

    begin: int
    end: int
    record: int | None


def frames(log: bytes) -> list[Frame]:
    """As far as they are whole, by what their heads say."""
    found, at, records = [], START, 0
    while at + HEAD <= len(log) and log[at] & 15 in (RECORD, NAMES, RESTART):
        end = at + HEAD + int.from_bytes(log[at + 1 : at + 6], "little") + TAIL
        if end > len(log):
            break
        is_record = log[at] & 15 == RECORD
        found.append(Frame(at, end, records if is_record else None))
        records += is_record
        at = end
    return found


def record(number: int) -> dict[str, Any]:
    """Tells its number, and has keys and texts that others have as well. Some are large, a few larger than what is gathered."""
    rng = random.Random(number)
    size = 600_000 if number % 41 == 13 else 40_000 if number % 7 == 3 else rng.randrange(200)
    return {
        "number": number,
        "kind": ("start", "stop", "note")[number % 3],
        f"key {number % 5}": [rng.random(), None, number / 3],
        "body": rng.randbytes(size),
    }


def small(number: int) -> dict[str, Any]:
    return {"id": number, "name": f"name {number % 3}", "level": "info"}


def smalls(count: int, first: int = 0) -> list[Any]:
    return [small(number) for number in range(first, first + count)]


def write(path: Path, records: Sequence[object], **options: Any) -> None:
    with holdall.Writer(path, **{"sync": "never", **options}) as log:
        for one in records:
            log.write(one)


def put(path: Path, data: bytes) -> None:
    """A new file: for one that is overwritten some file systems wait for the disk, thousands of times."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def read(path: Any, **options: Any) -> list[Any]:
    with holdall.Reader(path, **options) as log:
        return list(log)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
