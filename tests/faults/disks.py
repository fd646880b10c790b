"""Disks without room: what is written by path is whole or as it was, and a log has what was acknowledged.

    python -m tests.faults.disks FOLDER [--most N] [--full]

For each number of bytes that a file may have (RLIMIT_FSIZE) from none to all. A process of its own, as the limit is a process's.
--full: FOLDER is a small file system, on which so many bytes are left.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import holdall
from holdall import bson, julia, msgpack
from holdall._cli._convert import command as convert

OLD = {"old": list(range(50))}
NEW = {"new": [{"row": i, "text": f"text {i}"} for i in range(400)], "data": bytes(range(256)) * 40}


@contextlib.contextmanager
def left_on(folder: Path, size: int) -> Iterator[None]:
    """A file takes all but so many bytes of the file system; page by page."""
    ballast = folder / "ballast"
    status = os.statvfs(folder)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - size))
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files can't have more bytes: a write beyond is cut short, and the next is EFBIG."""
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, unlimited[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)


def dump(path: Path, value: Any, **options: Any) -> None:
    holdall.dump(value, path, **options)


def converted(path: Path, value: Any) -> None:
    """By the command line: from a file that is there already."""
    source = path.with_name(f"{path.name}.source.msgpack")
    if not source.exists():
        source.write_bytes(msgpack.dumps(NEW))
    convert.main([str(source), str(path), "--force", "--to", "hold"], standalone_mode=False)


# How a file is written, and how it is read.
WAYS: dict[str, tuple[Callable[[Path, Any], None], Callable[[Path], Any]]] = {
    "dump": (dump, holdall.load),
    "dump, compressed": (lambda path, value: dump(path, value, compress="zstd"), holdall.load),
    "dump, not waiting": (lambda path, value: dump(path, value, sync=False), holdall.load),
    "msgpack.dump": (
        lambda path, value: msgpack.dump(value, path),
        lambda path: msgpack.loads(path.read_bytes()),
    ),
    "bson.dump": (lambda path, value: bson.dump(value, path), lambda path: bson.loads(path.read_bytes())),
    "julia.dump": (lambda path, value: julia.dump({"a": [1.5, "x"] * 60}, path), julia.load),
    "convert": (converted, holdall.load),
}


Room = Callable[[int], contextlib.AbstractContextManager[None]]
NO_ROOM = (errno.EFBIG, errno.ENOSPC)


def check(folder: Path, name: str, most: int, room_of: Room, full: bool) -> list[str]:
    write, read = WAYS[name]
    path, problems = folder / "file", []
    write(path, NEW)
    size, new = path.stat().st_size, read(path)
    holdall.dump(OLD, path)
    old, kept = path.read_bytes(), set(os.listdir(folder))
    for room in [*range(0, size, max(1, size // most)), size - 1]:
        try:
            with room_of(room):
                write(path, NEW)
            if full:
                holdall.dump(OLD, path)
            else:
                problems.append(f"room for {room} of {size} bytes: written")
        except OSError as error:
            if error.errno not in NO_ROOM:
                problems.append(f"room for {room} bytes: {error!r}")
        except BaseException as error:
            if not any(os.strerror(code).lower() in str(error).lower() for code in NO_ROOM):
                problems.append(f"room for {room} bytes: {error!r}")
        if path.read_bytes() != old:
            problems.append(f"room for {room} bytes: the old file is changed")
            holdall.dump(OLD, path)
        if left := set(os.listdir(folder)) - kept:
            problems.append(f"room for {room} bytes: leaves {left}")
            kept |= left
    write(path, NEW)
    if read(path) != new:
        problems.append("not right afterwards")
    return problems


def check_log(folder: Path, sync: Any, compress: Any, most: int, room_of: Room) -> list[str]:
    path, problems = folder / "log", []

    def record(number: int) -> Any:
        return {"number": number, "text": "x" * (number * 37 % 400)}

    def fill(told: Callable[[int], None]) -> None:
        """Tells how many records are acknowledged."""
        log = holdall.Writer(path, sync=sync, compress=compress)
        try:
            for number in range(30):
                log.write(record(number))
                if sync == "always" or number % 7 == 0:
                    log.flush()
                    told(number + 1)
            log.close()
        finally:
            with contextlib.suppress(OSError):
                log.close()

    fill(lambda known: None)
    size = path.stat().st_size
    for room in range(0, size, max(1, size // most)):
        path.unlink(missing_ok=True)
        known = [0]
        try:
            with room_of(room):
                fill(known.append)
        except OSError as error:
            if error.errno not in NO_ROOM:
                problems.append(f"room for {room} bytes: {error!r}")
        if not path.exists() or path.stat().st_size == 0:
            found = []
        else:
            with holdall.Reader(path, repair="stop") as reader:
                found = list(reader)
        if found != [record(number) for number in range(len(found))]:
            problems.append(f"room for {room} bytes: other records")
        if len(found) < known[-1]:
            problems.append(f"room for {room} bytes: {known[-1]} acknowledged, {len(found)} there")
    return problems


def check_device() -> list[str]:
    problems = []
    for name, (write, _) in WAYS.items():
        if name == "convert":
            continue
        try:
            write(Path("/dev/full"), NEW)
            problems.append(f"{name}: /dev/full took it")
        except OSError as error:
            if error.errno != errno.ENOSPC:
                problems.append(f"{name}: {error!r}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=200, help="so many sizes")
    parser.add_argument("--full", action="store_true", help="the folder is a file system of its own")
    options = parser.parse_args()
    room_of: Room = functools.partial(left_on, options.folder) if options.full else room_for
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    found: dict[str, list[str]] = {}
    for name in WAYS:
        print(name, file=sys.stderr, flush=True)
        found[name] = check(options.folder, name, options.most, room_of, options.full)
    for sync in ("always", "batch", "never"):
        for compress in (None, "zstd"):
            print("Writer", sync, compress, file=sys.stderr, flush=True)
            found[f"Writer, {sync}, {compress}"] = check_log(
                options.folder, sync, compress, options.most, room_of
            )
    if os.path.exists("/dev/full"):
        found["/dev/full"] = check_device()
    found = {name: problems for name, problems in found.items() if problems}
    print(json.dumps({"calls": len(WAYS) + 7, "problems": found}))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
