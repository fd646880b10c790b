"""Calls on large data in a process whose address space ends: each raises MemoryError or is right, whatever is left for it.

    python -m tests.faults.space NAME [--most N]

The limit is raised step by step, until the call succeeds; a process of its own for each call, as memory that was had once stays had.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdall
from holdall import bson, msgpack

ROWS = 40_000


def rows() -> Any:
    return [{"id": i, "name": f"row {i}", "score": i / 7, "tags": [i]} for i in range(ROWS)]


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
    }


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
    problems, failures, found = [], 0, None
    step = (64 << 20) // options.most
    start = used()
    for room in range(0, 1 << 30, step):
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
    same = found == call(given)
    if not same:
        problems.append("another result")
    print(json.dumps({"calls": failures + 1, "problems": {options.name: problems} if problems else {}}))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
