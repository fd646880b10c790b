"""Logs whose writer is killed, or has no room left: no record that was acknowledged is lost, and none is half there."""

from __future__ import annotations

import errno
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import holdall
from tests.support import logs
from tests.support.log_child import RECORDS, fill
from tests.support.places import REPO

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, limits and pipes are POSIX's")

LOGS = 20  # kills to one log: each reads all of it again
LONGEST = 0.06  # seconds that a writer has
SYNCS = ("always", "batch", "never")


def child(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.log_child", *map(str, arguments)]
    return subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


# --- killed ---


def kill_a_writer(path: Path, sync: str, after: float) -> int:
    """How many records it said the log has for sure."""
    with child("append", path, sync) as writer:
        assert writer.stdout is not None and writer.stderr is not None
        ready, _, _ = select.select([writer.stdout], [], [], 60)
        assert ready, "it never began"
        time.sleep(after)
        writer.kill()
        lines = writer.stdout.read().decode().split("\n")
        errors = writer.stderr.read().decode()
    # A pipe takes lines this short whole.
    assert lines.pop() == "" and lines, errors
    assert not errors
    return int(lines[-1])


def check_after_kill(path: Path, sync: str, acknowledged: int) -> int:
    """How many records are there."""
    if not path.exists() or path.stat().st_size == 0:
        assert acknowledged == 0
        return 0
    with holdall.Reader(path, repair="stop") as log:
        found = list(log)
        damage = log.damage
    assert len(found) >= acknowledged
    assert found == [logs.record(number) for number in range(len(found))]
    if sync == "always":
        assert len(found) <= acknowledged + 1
    assert len(damage) <= 1
    return len(found)


def kill_many(folder: Path, sync: str, kills: int) -> None:
    rng = random.Random(f"{sync} {kills}")
    for number in range(kills):
        path = folder / f"{number // LOGS}.log"
        if number % LOGS == 0:
            known = 0
        # Often soon: then it is on its way to cut off what the one before has left, and to begin a section.
        acknowledged = kill_a_writer(path, sync, rng.random() ** 2 * LONGEST)
        known = max(known, acknowledged)
        known = check_after_kill(path, sync, known)
        if known and rng.random() < 0.5:
            tear(path, known, rng)
            known = check_after_kill(path, "torn", known)
    path = folder / "0.log"
    with holdall.Writer(path, append=True) as log:
        count = log.records
        assert log.write(logs.record(count)) == count
    # What was torn is cut off by now.
    assert logs.read(path) == [logs.record(number) for number in range(count + 1)]
    assert holdall.verify(path).ok


def tear(path: Path, count: int, rng: random.Random) -> None:
    """What a machine that lost power may leave of the next record: a part of it, and zeros where the rest was to be."""
    other = path.with_suffix(".next")
    shutil.copyfile(path, other)
    with holdall.Writer(other, append=True, sync="never") as log:
        begin = os.path.getsize(other)  # what the last one left is cut off
        assert log.write(logs.record(count)) == count
    whole = other.read_bytes()
    # Its frames are small beside its content, so that a place anywhere in it would seldom be in them.
    end = begin + min(rng.choice([8, 40, 60, 200, len(whole)]), rng.randrange(len(whole) - begin))
    path.write_bytes(whole[:end] + bytes(rng.choice([0, 20, len(whole) - end])))


@pytest.mark.parametrize("sync", SYNCS)
def test_killed_writers_lose_nothing(sync: str, tmp_path: Path) -> None:
    kill_many(tmp_path, sync, 12 if sync == "always" else 6)


@pytest.mark.soak
@pytest.mark.parametrize("sync", SYNCS)
def test_many_killed_writers_lose_nothing(sync: str, tmp_path: Path) -> None:
    kill_many(tmp_path, sync, 500 if sync == "always" else 250)


# --- no room ---


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """In memory if possible: hundreds of logs, each record of them waited for."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def failures(*arguments: object) -> int:
    with child(*arguments) as writer:
        out, errors = writer.communicate(timeout=300)
    assert writer.returncode == 0, errors.decode()
    return int(out)


@pytest.mark.parametrize("sync", SYNCS)
def test_a_file_that_may_not_grow(sync: str, quick_folder: Path, tmp_path: Path) -> None:
    """At each size up to that of the whole log: what fits is written, the rest after the limit is raised."""
    whole = tmp_path / "whole.log"
    logs.write(whole, [logs.small(number) for number in range(RECORDS)])
    size = whole.stat().st_size
    assert failures("full", quick_folder / "some.log", sync, *range(size)) >= size
    assert failures("full", quick_folder / "some.log", sync, size) == 0


@pytest.mark.parametrize("sync", SYNCS)
def test_a_file_that_may_not_grow_with_large_records(sync: str, quick_folder: Path) -> None:
    limits = random.Random(sync).sample(range(1, 80_000), 25)
    assert failures("full", quick_folder / "some.log", sync, *(-limit for limit in limits)) >= len(limits)


def test_closed_without_room(quick_folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.log"
    logs.write(whole, [logs.small(number) for number in range(RECORDS)])
    size = whole.stat().st_size
    assert failures("close_full", quick_folder / "some.log", "never", *range(size)) == size


@contextmanager
def tiny_file_system(folder: Path) -> Iterator[Path]:
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a file system")
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "holdall-test", str(folder)],
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system could be mounted: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("sync", SYNCS)
def test_a_full_disk(sync: str, tmp_path: Path) -> None:
    def page(number: int) -> dict[str, Any]:
        return {"number": number, "body": random.Random(number).randbytes(1500)}

    with tiny_file_system(tmp_path / "tiny") as folder:
        filler, failed = folder / "filler", 0
        for room in range(6):
            path = folder / f"{room}.log"
            filler.write_bytes(b"")
            with open(filler, "wb", buffering=0) as file, suppress(OSError):
                while file.write(bytes(4096)) == 4096:
                    pass
            os.truncate(filler, max(0, filler.stat().st_size - room * 4096))
            failed += fill(path, sync, page, lambda: os.truncate(filler, 0), errno.ENOSPC)
            path.unlink()
        assert failed >= 5
