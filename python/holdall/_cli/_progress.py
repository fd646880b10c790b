"""A progress bar on stderr for long operations, if stderr is a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Shorter operations show nothing.
_AFTER_SECONDS = 0.5


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with the bytes done and the total; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()
    bar: Any = None
    task: Any = None

    def report(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None:
            if time.monotonic() - begun < _AFTER_SECONDS:
                return
            bar = _bar()
            bar.start()
            task = bar.add_task(label, total=total or None)
        bar.update(task, completed=done, total=total or None)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
