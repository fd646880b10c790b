"""`holdall convert --engine dask`: all files of a folder, by workers, in as many runs as it takes."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .. import _remote
from ._app import Failure, about
from ._convert_file import convert_file
from ._formats import WRITABLE
from ._paths import printable
from ._progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

JOURNAL = ".holdall-convert.jsonl"
# A task has files of about so many bytes, and no more than so many.
_TASK_BYTES, _TASK_FILES = 1 << 26, 32
_WAITING = 4
_SHOWN = 20
_TEMPORARY = re.compile(r"\..{1,40}\.[0-9a-f]{16}\.tmp")
_TOLD_EVERY = 5.0


class Job(NamedTuple):
    """A file to be converted, below both folders, with the state of the source that is converted."""

    source: str
    target: str
    size: int
    changed: int | str

    def is_outcome(self, told: dict[str, Any]) -> bool:
        return (told.get("size"), told.get("changed"), told.get("target")) == (
            self.size,
            self.changed,
            self.target,
        )


def convert_folder(
    source: str,
    target: str,
    options: dict[str, Any],
    *,
    force: bool,
    scheduler: str | None,
    workers: int | None,
) -> int:
    """Convert all files of a folder, and tell of it; gives the exit code: 1 if any was refused."""
    if not _remote.is_url(source) and not os.path.isdir(source):
        raise Failure(source, "it is no folder: without --engine, a file is converted")
    if options["to"] not in WRITABLE:
        raise Failure(
            target, "pickles are read, not written: they run code when they are loaded; convert to hold"
        )
    target = os.path.abspath(target)
    if not _remote.is_url(source):
        source = os.path.abspath(source)
        if os.path.commonpath([source, target]) == source:
            raise Failure(target, "it is within the folder that is to be converted")
    os.makedirs(target, exist_ok=True)
    _clean(target)
    jobs = _jobs(source, options["to"])
    done = {} if force else _done(target)
    left = [job for job in jobs if not _is_done(job, done.get(job.source), target)]
    journal_path = os.path.join(target, JOURNAL)
    if force:
        with suppress(FileNotFoundError):
            os.unlink(journal_path)
    outcomes = {job.source: done[job.source] for job in jobs if job not in set(left)}
    begun = len(outcomes)
    if left:
        with (
            open(journal_path, "a", encoding="utf-8") as journal,
            _client(scheduler, workers) as client,
            _telling(source, sum(job.size for job in left), len(left)) as tell,
        ):
            for job, why in _converted(client, source, target, left, options):
                told = {**job._asdict(), "refused": why}
                outcomes[job.source] = told
                journal.write(json.dumps(told) + "\n")
                journal.flush()
                tell(job.size)
        _clean(target)
    return _report(source, target, jobs, outcomes, begun)


def _jobs(source: str, to: str) -> list[Job]:
    found: list[tuple[str, int, int | str]]
    found = [*(_objects(source) if _remote.is_url(source) else _files(source))]
    extension = ".cbs" if to == "lisp" else ".bson" if to == "julia" else f".{to}"
    short = [os.path.splitext(name)[0] + extension for name, _, _ in found]
    # Two files that differ by their extension alone keep it.
    counts = Counter(short)
    return [
        Job(name, one if counts[one] == 1 else name + extension, size, changed)
        for (name, size, changed), one in zip(found, short, strict=True)
    ]


def _files(source: str) -> Iterator[tuple[str, int, int]]:
    """The files of a folder: their names in it, sizes, and states."""
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name[0] != "." and os.path.isfile(path):
                status = os.stat(path)
                yield os.path.relpath(path, source), status.st_size, status.st_mtime_ns


def _objects(source: str) -> Iterator[tuple[str, int, str]]:
    """The same of what a URL names."""
    from fsspec.core import url_to_fs

    with about(source):
        system, root = url_to_fs(source)
        found = system.find(root, detail=True)
    for path in sorted(found):
        name, told = path[len(root) :].lstrip("/"), found[path]
        parts = name.split("/")
        if any(part[:1] == "." and part not in (".", "..") for part in parts):
            continue
        # An object may have any name; a file is within the target's folder.
        if "\\" in name or any(part in ("", ".", "..") for part in parts):
            raise Failure(source, f"it has an object whose name is no path: {printable(name)}")
        states = (told.get(name) for name in ("ETag", "LastModified", "mtime", "created", "generation"))
        yield name, told["size"], next((str(state) for state in states if state), "")


def _done(target: str) -> dict[str, dict[str, Any]]:
    """What the journal tells of earlier runs; a line that was cut short tells nothing."""
    done = {}
    with suppress(FileNotFoundError), open(os.path.join(target, JOURNAL), encoding="utf-8") as journal:
        for line in journal:
            with suppress(ValueError, KeyError, TypeError):
                told = json.loads(line)
                done[told["source"]] = told
    return done


def _is_done(job: Job, told: dict[str, Any] | None, target: str) -> bool:
    """What was refused is tried again: its reason may be gone."""
    if told is None or told.get("refused") is not None or not job.is_outcome(told):
        return False
    return os.path.isfile(os.path.join(target, job.target))


def _clean(target: str) -> None:
    """Delete what workers that died were writing."""
    for folder, _, names in os.walk(target):
        for name in names:
            if _TEMPORARY.fullmatch(name):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))


@contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    try:
        import distributed
    except ImportError as error:
        raise Failure(None, "--engine dask needs Dask's distributed: pip install 'holdall[dask]'") from error
    if scheduler is not None:
        with distributed.Client(scheduler) as client:
            yield client
        return
    count = workers or os.cpu_count() or 1
    with (
        distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _tasks(jobs: list[Job]) -> Iterator[list[Job]]:
    task: list[Job] = []
    size = 0
    for job in jobs:
        if task and (len(task) >= _TASK_FILES or size + job.size > _TASK_BYTES):
            yield task
            task, size = [], 0
        task.append(job)
        size += job.size
    if task:
        yield task


def convert_files(source: str, target: str, jobs: list[Job], options: dict[str, Any]) -> list[str | None]:
    """What a worker does: convert files, and say why each was refused, or None. A file comes into its place when it is whole."""
    return [_convert_one(source, target, job, options) for job in jobs]


def _within(source: str, name: str) -> str:
    return f"{source.rstrip('/')}/{name}" if _remote.is_url(source) else os.path.join(source, name)


def _convert_one(source: str, target: str, job: Job, options: dict[str, Any]) -> str | None:
    begins, ends = _within(source, job.source), os.path.join(target, job.target)
    try:
        os.makedirs(os.path.dirname(ends), exist_ok=True)
        convert_file(
            begins,
            ends,
            options["given"],
            options["to"],
            options["compress"],
            True,
            options["as_records"],
        )
    except Failure as failure:
        return printable(failure.message)
    except Exception as error:
        return printable(f"{type(error).__name__}: {error}")
    return None


def _converted(
    client: Any, source: str, target: str, jobs: list[Job], options: dict[str, Any]
) -> Iterator[tuple[Job, str | None]]:
    """Each job when it is done, and why it was refused. A file that kills its workers is refused; those beside it are not."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    tasks = _tasks(jobs)
    running: dict[Any, list[Job]] = {}
    finished = as_completed()

    def submit(task: list[Job]) -> None:
        future = client.submit(convert_files, source, target, task, options, pure=False)
        running[future] = task
        finished.add(future)

    most = _WAITING * max(1, len(client.scheduler_info()["workers"]))
    for _, task in zip(range(most), tasks, strict=False):
        submit(task)
    for future in finished:
        task = running.pop(future)
        try:
            yield from zip(task, future.result(), strict=True)
        except KilledWorker:
            if len(task) == 1:
                yield task[0], "each worker that converted it died"
            else:
                for job in task:
                    submit([job])
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            yield from ((job, printable(why)) for job in task)
        following = next(tasks, None)
        if following is not None:
            submit(following)


@contextmanager
def _telling(label: str, total: int, count: int) -> Iterator[Any]:
    """A function to call with the bytes of each file that is done: a bar in a terminal, else a line every few seconds."""
    files = size = 0
    told = time.monotonic()
    with progress(label) as report:

        def tell(more: int) -> None:
            nonlocal files, size, told
            files, size = files + 1, size + more
            if report is not None:
                report(size, total)
            elif time.monotonic() - told > _TOLD_EVERY:
                told = time.monotonic()
                click.echo(f"{files:,} of {count:,} files, {size:,} of {total:,} bytes", err=True)

        yield tell


def _report(
    source: str, target: str, jobs: list[Job], outcomes: dict[str, dict[str, Any]], before: int
) -> int:
    refused = [
        (job, outcomes[job.source]["refused"]) for job in jobs if outcomes[job.source]["refused"] is not None
    ]
    earlier = f", {before:,} of them in an earlier run" if before else ""
    click.echo(f"{len(jobs) - len(refused):,} of {len(jobs):,} files converted{earlier}")
    if not refused:
        return 0
    click.echo(f"{len(refused):,} refused:", err=True)
    for job, why in refused[:_SHOWN]:
        click.echo(f"  {printable(_within(source, job.source))}: {why}", err=True)
    if len(refused) > _SHOWN:
        click.echo(f"  and {len(refused) - _SHOWN:,} more: {os.path.join(target, JOURNAL)}", err=True)
    sys.stderr.flush()
    return 1
