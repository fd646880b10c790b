"""`holdall rewrite`: files of older code, stored as the code of today stores them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from .. import _system
from ._app import OK, Failure, output, tell
from ._formats import by_extension
from ._layouts import classes_of
from ._lock import imported
from ._options import code_option
from ._paths import printable
from ._rewrite_file import FORMATS, Done, Job, rewrite, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JOURNAL = ".holdall-rewrite"


@click.command("rewrite")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True))
@code_option
@click.option(
    "--type",
    "type_",
    metavar="MODULE:NAME",
    help="The type of each file or record; MessagePack and BSON need it.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Files at the same time.")
@click.option("--dry-run", "dry", is_flag=True, help="Do everything but replace files.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False),
    default=JOURNAL,
    show_default=True,
    help="The file that says what is done.",
)
def command(
    paths: tuple[str, ...], modules: tuple[str, ...], type_: str | None, jobs: int, dry: bool, journal: str
) -> int:
    """Load each file by the registrations of MODULE, and store it anew.

    A file is replaced when what was written is on the disk, and loads to what was loaded: to an equal graph, or to what the module's
    function `same(old, new)` takes for it. Else it stays as it was. A folder stands for all files in it and below it whose extensions are
    those of hold, BSON and MessagePack.

    After a stop, the same command goes on: files are passed over which the journal names, if their size and time are still those of
    what was written, and the code's classes are the same. The journal is removed when everything is done.

    Exit code 0: all is done; 1: a file would load to something else; 2: a file can't be read or written.

    \b
    Examples:
      holdall rewrite data --code shop.models --jobs 4
      holdall rewrite old.hold --code shop.models --dry-run
    """
    if not modules:
        raise Failure(None, "rewrite: name the modules that register your classes, by --code")
    files = _files_of(paths, has_type=type_ is not None)
    imported(modules)
    job = Job(modules, type_, dry)
    code = OK
    with _Journal(None if dry else journal, _key(job)) as done:
        waiting = []
        for path in files:
            if done.has(path):
                _print(Done(path, "done before"))
            else:
                waiting.append(path)
        for each in _all(waiting, job, jobs):
            _print(each)
            code = max(code, each.code)
            if each.code == OK:
                done.add(each)
        if code == OK:
            done.remove()
    return code


def _print(done: Done) -> None:
    if done.code != OK:
        # A failure's text names the file already.
        tell(Failure(None, done.what, code=done.code), output())
        return
    sizes = f" ({done.before:,} -> {done.after:,} bytes)" if done.what.endswith("rewritten") else ""
    output().write([f"{printable(done.path)}: {done.what}{sizes}\n"])


def _files_of(paths: Iterable[str], *, has_type: bool) -> list[str]:
    """The files that are meant, each once."""
    kinds = FORMATS if has_type else ("hold",)
    found: dict[str, str] = {}
    for path in paths:
        if not os.path.isdir(path):
            found.setdefault(os.path.realpath(path), path)
            continue
        for folder, folders, names in os.walk(path):
            # Hidden ones are not data; and what is being written begins with a dot.
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for name in sorted(names):
                file = os.path.join(folder, name)
                if by_extension(name) in kinds and not name.startswith(".") and os.path.isfile(file):
                    found.setdefault(os.path.realpath(file), file)
    return [*found.values()]


def _all(paths: list[str], job: Job, jobs: int) -> Iterator[Done]:
    """What became of each file, in the order in which they are done."""
    if jobs == 1 or len(paths) < 2:
        for path in paths:
            yield rewrite(path, job)
        return
    from multiprocessing import get_context

    # The classes of a program, and what it does on import, may not survive a fork.
    context = get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(paths)), context, imported, (job.modules,)) as pool:
        running: set[Future[Done]] = set()
        left = iter(paths)
        try:
            while True:
                # No more than are worked on: the rest is not begun after an interrupt.
                for path in islice(left, 2 * jobs - len(running)):
                    running.add(pool.submit(rewrite, path, job))
                if not running:
                    return
                for each in wait(running, return_when=FIRST_COMPLETED).done:
                    running.remove(each)
                    yield each.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _key(job: Job) -> str:
    """Differs if the code stores classes in another way."""
    known: list[Any] = [
        (each.name, each.version, each.layout, sorted(each.renames.items()))
        for each in classes_of(job.modules)
    ]
    text = json.dumps([job.modules, job.type, known], default=repr)
    return hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=16).hexdigest()


class _Journal:
    """The files that are done, a line each, with their state: what a stop leaves is a line that is cut short at most."""

    def __init__(self, path: str | None, key: str) -> None:
        self.path, self.key = path, key
        self._file: Any = None
        self._done: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> _Journal:
        if self.path is None:
            return self
        try:
            self._file = open(_system.open_alone(self.path), "rb+")
        except BlockingIOError:
            raise Failure(
                self.path,
                "another rewrite goes by this journal: wait for it, or name another by --journal",
            ) from None
        lines = self._file.read().split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):
                path, size, time, key = json.loads(line)
                if key == self.key:
                    self._done[path] = size, time
        if lines[-1]:
            self._file.write(b"\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def has(self, path: str) -> bool:
        """Whether a file is what was written by the same code."""
        return self._done.get(os.path.realpath(path)) == state_of(path)

    def add(self, done: Done) -> None:
        if self._file is None or done.state is None:
            return
        line = json.dumps([os.path.realpath(done.path), *done.state, self.key])
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def remove(self) -> None:
        if self.path is not None:
            if not _system.REPLACES_OPEN:
                self._file.close()
            os.unlink(self.path)
