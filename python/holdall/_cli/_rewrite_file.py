"""One file, loaded by what a program says of its classes, stored anew, and compared."""

from __future__ import annotations

import contextlib
import filecmp
import os
import stat
import sys
import tempfile
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import holdall

from .. import _core, _files, _system
from ._app import DIFFERENT, OK, Failure, explained
from ._formats import classes, detect, encoder, has_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMATS = ("hold", "bson", "julia", "msgpack")
# How many frames of a log are looked at to find how it is compressed.
_MOST_FRAMES = 1000
_END: Any = object()


class Job(NamedTuple):
    """What is done with each file: `modules` are imported already, and in the form of names, for other processes."""

    modules: tuple[str, ...]
    type: str | None
    dry: bool


class Done(NamedTuple):
    """What became of a file.

    what: "rewritten", "unchanged" or an error. code: the exit code. before, after: sizes. state: of the file as it is now, for the
    journal.
    """

    path: str
    what: str
    code: int = OK
    before: int = 0
    after: int = 0
    state: tuple[int, int] | None = None


def rewrite(path: str, job: Job) -> Done:
    """Writes the file anew, if that loads to the same. It is replaced at once, or stays as it was."""
    try:
        return _rewrite(path, job)
    except Exception as error:
        if isinstance(error, (Failure, holdall.HoldallError, OSError, MemoryError, RecursionError)):
            failure = explained(path, error)
        else:
            # Its text may show data.
            kind = type(error).__name__
            failure = Failure(
                path, f"a function of the program's raised {kind}: load the file in Python to see where"
            )
        return Done(path, str(failure), failure.code)


def state_of(path: str) -> tuple[int, int]:
    """By which it is told whether a file is still the one that was written."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _rewrite(path: str, job: Job) -> Done:
    # A link stays one.
    target = os.path.realpath(path)
    format = detect(path)
    if format not in FORMATS:
        raise Failure(path, f"{format} is not rewritten: only {', '.join(FORMATS)}")
    if format in ("bson", "msgpack") and job.type is None:
        raise Failure(
            path, f"{format} stores no names of classes: say which type it holds, by --type MODULE:NAME"
        )
    before = state_of(path)
    values = _values(path, format, job)
    with _locked(path, format), _temporary(target, job.dry) as temporary:
        _store(values, temporary, path, format)
        if not job.dry:
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        after = os.path.getsize(temporary)
        if filecmp.cmp(path, temporary, shallow=False):
            return Done(path, "unchanged", OK, before[0], after, before)
        place = _difference(_values(path, format, job)(), _values(temporary, format, job)(), _same_of(job))
        if place is not None:
            at = f" in record {place}" if has_many(path, format) else ""
            text = f"what was written does not load to what was loaded{at}: the file stays as it was; a function `same(old, new)` in "
            raise Failure(path, f"{text}`{job.modules[0]}` may say that it is right", code=DIFFERENT)
        if state_of(path) != before:
            raise Failure(path, "it changed while it was read, and stays as it is")
        if job.dry:
            return Done(path, "would be rewritten", OK, before[0], after)
        _system.replace(temporary, target)
    _system.sync_folder(os.path.dirname(target))
    return Done(path, "rewritten", OK, before[0], after, state_of(path))


@contextlib.contextmanager
def _locked(path: str, format: str) -> Iterator[None]:
    """Of a log: that no Writer appends to it."""
    if format != "hold" or holdall.file_kind(path) != "log":
        yield
        return
    descriptor = _system.open_alone(path)
    if not _system.REPLACES_OPEN:
        # The system itself refuses to replace a log that a Writer opens from here on.
        os.close(descriptor)
        yield
        return
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _temporary(path: str, dry: bool) -> Iterator[str]:
    """A path to write to. It is always the same one, so that what a killed process left is written over."""
    folder, name = os.path.split(path)
    with tempfile.TemporaryDirectory() if dry else contextlib.nullcontext(folder) as place:
        temporary = os.path.join(place, f".{name[:200]}.rewrite.tmp")
        try:
            yield temporary
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


# --- values --------------------------------------------------------------------------------------------------------------
def _values(path: str, format: str, job: Job) -> Callable[[], Iterator[Any]]:
    """The values of a file, one at a time, each time that it is called."""
    options: dict[str, Any] = {} if job.type is None else {"type": _named(job.type)}
    if format == "hold":
        # Values of other formats are what they were; other classes are the program's.
        of_formats = (each for each in classes() if each is not holdall.Record)
        options["types"] = (*(sys.modules[name] for name in job.modules), *of_formats)
        if holdall.file_kind(path) == "log":
            return lambda: _of_log(path, options)
        return lambda: iter([holdall.load(path, **options)])
    if format == "msgpack":
        size = max(os.path.getsize(path), 1)
        return lambda: _of_stream(path, size, options)
    if format == "bson":
        return lambda: holdall.bson.documents(path, **options)
    return lambda: iter([holdall.julia.load(path, **options)])


def _of_log(path: str, options: dict[str, Any]) -> Iterator[Any]:
    with holdall.Reader(path, **options) as reader:
        yield from reader


def _of_stream(path: str, size: int, options: dict[str, Any]) -> Iterator[Any]:
    with holdall.msgpack.Reader(path, max_buffer=size, **options) as reader:
        yield from reader


def _named(text: str) -> Any:
    """What "module:Name" names; the module is one that the user gave."""
    module, _, name = text.partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise Failure(None, f"--type {text}: expected MODULE:NAME, with a module of --code and what it has")
    return found


def _store(values: Callable[[], Iterator[Any]], temporary: str, path: str, format: str) -> None:
    if format == "hold":
        kind = holdall.file_kind(path)
        compress = _compression(path)
        if kind == "log":
            with holdall.Writer(temporary, sync="never", compress=compress) as log:
                for value in values():
                    log.write(value)
        elif kind == "graph":
            # By a path it would be written to a file beside it, which a killed process leaves.
            with open(temporary, "wb") as file:
                holdall.dump(next(values()), file, compress=compress)
        else:
            with open(temporary, "wb") as file:
                file.write(holdall.dumps(next(values())))
        return
    encode = encoder(format)
    with open(temporary, "wb") as file:
        for value in values():
            file.write(encode(value))


def _compression(path: str) -> Any:
    data = _files.mapped(path)
    codecs = {frame["codec"] for frame in _core.file_frames_of(data, most=_MOST_FRAMES)} & {"zstd", "lz4"}
    return next(iter(codecs), None)


# --- equality ------------------------------------------------------------------------------------------------------------
def _same_of(job: Job) -> Callable[[Any, Any], Any]:
    """The `same` of the first module that has one, or equality of graphs."""
    for name in job.modules:
        found = vars(sys.modules[name]).get("same")
        if callable(found):
            same: Callable[[Any, Any], Any] = found
            return same
    return _are_equal


def _are_equal(old: Any, new: Any) -> bool:
    """Whether two graphs are the same: types, values, sharing; of classes without an `__eq__`, too."""
    try:
        return holdall.dumps(old, canonical=True) == holdall.dumps(new, canonical=True)
    except holdall.EncodeError:
        # A set whose order the graph doesn't define.
        return bool(old == new)


def _difference(old: Iterator[Any], new: Iterator[Any], same: Callable[[Any, Any], Any]) -> int | None:
    """The number of the first record that is not the same."""
    for place, (one, other) in enumerate(zip_longest(old, new, fillvalue=_END)):
        if one is _END or other is _END or not same(one, other):
            return place
    return None
