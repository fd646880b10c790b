"""Calls on large data in a process whose address space ends: each raises MemoryError or is right, whatever is left for it.

    python -m tests.faults.space NAME [--most N]

The limit is raised step by step, until the call succeeds; a process of its own for each call, as memory that was had once stays had.
"""

from __future__ import annotations

import argparse
import array
import collections
import ctypes
import datetime
import decimal
import gc
import io
import itertools
import json
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import holdall
from holdall import bson, julia, msgpack
from holdall.msgpack import compat

ROWS = 40_000
# Of what is called for each: where little is left, CPython asks the system for each of its objects.
SLOW = ROWS // 40


@dataclass
class Row:
    id: int
    name: str
    tags: list[int]


class Slots:
    __slots__ = ("id", "name")


def slots(number: int) -> Any:
    made = Slots()
    made.id, made.name = number, f"row {number}"
    return made


def rows() -> Any:
    return [{"id": i, "name": f"row {i}", "score": i / 7, "tags": [i]} for i in range(ROWS)]


def deep() -> Any:
    made: Any = None
    for _ in range(ROWS):
        made = [made]
    return made


# What takes memory in ways of its own. By their names in the list of calls: "dumps: sets".
KINDS: dict[str, Callable[[], Any]] = {
    "sets": lambda: [{i, str(i)} for i in range(ROWS // 2)],
    "frozensets and keys": lambda: {frozenset((i, -i)): (i, str(i)) for i in range(ROWS // 2)},
    "ordered": lambda: [collections.OrderedDict(a=i, b=[i]) for i in range(ROWS // 4)],
    "counters and deques": lambda: [
        [collections.Counter(str(i)), collections.deque([i])] for i in range(ROWS // 4)
    ],
    "dataclasses": lambda: [Row(i, f"row {i}", [i]) for i in range(ROWS)],
    "slots": lambda: [slots(i) for i in range(ROWS)],
    "large ints": lambda: [1 << (i % 5_000) for i in range(ROWS // 4)],
    "texts": lambda: [f"text {i} \u00e9" * 4 for i in range(ROWS)],
    "decimals": lambda: [decimal.Decimal(i) / 7 for i in range(ROWS // 2)],
    "datetimes": lambda: [datetime.datetime(2020, 1, 1) + datetime.timedelta(i) for i in range(ROWS // 2)],
    "exceptions": lambda: [ValueError(i, str(i)) for i in range(ROWS // 4)],
    "deep": deep,
    "shared": lambda: [shared := [[i] for i in range(ROWS)], shared[::-1], shared],
    "floats": lambda: [i / 7 for i in range(ROWS * 10)],
    "arrays": lambda: [array.array("d", range(ROWS)), np.arange(ROWS * 20), np.arange(ROWS).astype("U6")],
    "objects of NumPy": lambda: np.array([[i, str(i)] for i in range(ROWS)], object),
}
TYPES: tuple[Any, ...] = (Row, Slots)


def used() -> int:
    """Bytes of address space."""
    return int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text()).group(1)) << 10  # type: ignore[union-attr]


def of_file(data: bytes) -> Any:
    return holdall.load(io.BytesIO(data))


def to_file(obj: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(obj, file, **options)
    return file.getvalue()


def records(obj: Any) -> bytes:
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for row in obj:
            log.write(row)
    return file.getvalue()


def calls() -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """What is made first, and what is called with it."""
    large = lambda: [bytes(8 << 20), bytearray(8 << 20)]  # noqa: E731
    return {
        "dumps": (rows, holdall.dumps),
        "dumps, canonical": (rows, lambda obj: holdall.dumps(obj, canonical=True)),
        "dumps, large": (large, holdall.dumps),
        "loads": (lambda: holdall.dumps(rows()), holdall.loads),
        "loads, typed": (
            lambda: holdall.dumps(rows()),
            lambda data: holdall.loads(data, type=list[dict[str, Any]]),
        ),
        "deepcopy": (rows, holdall.deepcopy),
        "dump": (rows, to_file),
        "dump, zstd": (rows, lambda obj: to_file(obj, compress="zstd")),
        "dump, lz4": (large, lambda obj: to_file(obj, compress="lz4")),
        "load": (lambda: to_file(large()), of_file),
        "load, zstd": (lambda: to_file(rows(), compress="zstd"), of_file),
        "Writer": (rows, records),
        "Reader": (lambda: records(rows()), lambda data: list(holdall.Reader(io.BytesIO(data)))),
        "open": (lambda: holdall.dumps(rows()), lambda data: holdall.open(data)[ROWS - 1].load()),
        "msgpack.dumps": (rows, msgpack.dumps),
        "msgpack.loads": (lambda: msgpack.dumps(rows()), msgpack.loads),
        "bson.dumps": (lambda: {"held": rows()}, bson.dumps),
        "bson.loads": (lambda: bson.dumps({"held": rows()}), bson.loads),
        "bson.decode": (lambda: bson.dumps({"held": rows()}), bson.decode),
        "bson.encode": (lambda: {"held": rows()}, bson.encode),
        "bson.open": (
            lambda: bson.dumps({"held": rows()[:SLOW]}),
            lambda data: [row["id"] for row in bson.open(data)["held"]],
        ),
        "msgpack.loads, typed": (
            lambda: msgpack.dumps(rows()),
            lambda data: msgpack.loads(data, type=list[dict[str, Any]]),
        ),
        "msgpack, dataclasses": (
            lambda: msgpack.dumps(KINDS["dataclasses"]()),
            lambda data: msgpack.loads(data, type=list[Row]),
        ),
        "bson.loads, typed": (
            lambda: bson.dumps({"held": rows()}),
            lambda data: bson.loads(data, type=dict[str, list[dict[str, Any]]]),
        ),
        "msgpack.Reader": (
            lambda: b"".join(map(msgpack.dumps, rows()[:SLOW])),
            lambda data: list(msgpack.Reader(io.BytesIO(data))),
        ),
        "compat.packb": (rows, compat.packb),
        "compat.unpackb": (lambda: msgpack.dumps(rows()), compat.unpackb),
        "julia.dumps": (lambda: {"held": rows()[: ROWS // 4]}, julia.dumps),
        "julia.loads": (lambda: julia.dumps({"held": rows()[: ROWS // 4]}), julia.loads),
        "pickle.dumps": (rows, holdall.pickle.dumps),
        "pickle.loads": (lambda: holdall.pickle.dumps(rows()), holdall.pickle.loads),
        "safe_pickle.loads": (lambda: holdall.safe_pickle.dumps(rows()), holdall.safe_pickle.loads),
        "Encoder": (rows, lambda obj: holdall.Encoder().encode(obj)),
        "Decoder": (lambda: holdall.dumps(rows()), lambda data: holdall.Decoder().decode(data)),
        "open, each": (
            lambda: holdall.dumps(rows()[:SLOW]),
            lambda data: [row["id"] for row in holdall.open(data)],
        ),
        "load, mapped": (lambda: to_file(rows()), lambda data: holdall.load(data, mmap=True)),
    } | {
        f"{door}: {kind}": call
        for kind, make in KINDS.items()
        for door, call in {
            "dumps": (make, holdall.dumps),
            "canonical": (make, lambda obj: holdall.dumps(obj, canonical=True)),
            "loads": (lambda make=make: holdall.dumps(make()), lambda data: holdall.loads(data, types=TYPES)),
            "deepcopy": (make, holdall.deepcopy),
        }.items()
    }


def looks(found: Any) -> Any:
    return found if isinstance(found, bytes) else holdall.dumps(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*calls(), "names"])
    parser.add_argument("--most", type=int, default=60, help="so many limits")
    options = parser.parse_args()
    if options.name == "names":
        print(json.dumps(list(calls())))
        return 0
    make, call = calls()[options.name]
    # Everything is imported and cached by a small call.
    small = make()
    del small
    given = make()
    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    gc.collect()
    # What is free within the process is given back, as far as it can be.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    problems, failures, found = [], 0, None
    step = (64 << 20) // options.most
    start = used()
    # A step more each time: what takes most needs hundreds of MiB.
    rooms = itertools.accumulate(range(0, 1 << 30, step), lambda room, _: room + max(step, room // 8))
    for room in itertools.takewhile(lambda room: room < 1 << 30, rooms):
        resource.setrlimit(resource.RLIMIT_AS, (start + room, unlimited[1]))
        try:
            found = call(given)
        except MemoryError:
            failures += 1
        except BaseException as error:
            problems.append(f"{room} bytes: {type(error).__name__}: {str(error)[:200]}")
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
        if found is not None:
            break
    if found is None or looks(found) != looks(call(given)):
        problems.append("another result")
    print(json.dumps({"calls": failures + 1, "problems": {options.name: problems} if problems else {}}))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
