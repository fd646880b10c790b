"""Processes of this machine that stand for the workers of a cluster: found, measured, killed."""

from __future__ import annotations

import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

PROC = pathlib.Path("/proc")
STEP = 0.1


def descendants(of: int | None = None) -> Iterator[int]:
    """Processes that this one has begun, and those that they have."""
    children: dict[int, list[int]] = {}
    for path in PROC.iterdir():
        if path.name.isdigit() and (parent := _parent(path)) is not None:
            children.setdefault(parent, []).append(int(path.name))
    left = [os.getpid() if of is None else of]
    while left:
        for child in children.get(left.pop(), []):
            yield child
            left.append(child)


def _parent(path: pathlib.Path) -> int | None:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def command(pid: int) -> str:
    """How it was called, or what it calls itself."""
    try:
        return (
            (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
    except OSError:
        return ""


def peak(pid: int) -> int:
    """The most memory that it has had, in bytes; 0 if it is no more."""
    try:
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def is_at_work(pid: int) -> bool:
    """Whether it has a log or a Parquet file open: then it is in the middle of a task."""
    try:
        opened = [os.readlink(path) for path in (PROC / str(pid) / "fd").iterdir()]
    except OSError:
        return False
    return any(path.endswith((".log", ".parquet", ".tmp")) for path in opened)


class Watch:
    """Looks at workers while something is done, and may kill one."""

    def __init__(self, workers: Callable[[], list[int]]) -> None:
        self.peak = self.killed = 0
        self._workers, self._kill_at = workers, float("inf")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def kill_one(self, after: float) -> None:
        """The first that is in the middle of a task then."""
        self._kill_at = time.monotonic() + after

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, kind: Any, *args: Any) -> None:
        self._over.set()
        self._thread.join()
        if kind is None:
            assert self.killed or self._kill_at == float("inf"), "it was over before a worker could be killed"

    def _look(self) -> None:
        while not self._over.wait(STEP):
            for pid in (workers := self._workers()):
                self.peak = max(self.peak, peak(pid))
            if time.monotonic() < self._kill_at:
                continue
            for pid in filter(is_at_work, workers):
                os.kill(pid, signal.SIGKILL)
                self.killed, self._kill_at = self.killed + 1, float("inf")
                break
