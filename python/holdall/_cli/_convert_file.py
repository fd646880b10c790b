"""A file in another format."""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import holdall

from .. import _remote, _system
from . import _paths
from ._app import Failure, about
from ._formats import WRITABLE, by_extension, detect, encoder, records, several
from ._nodes import node
from ._progress import progress
from ._weigh import MULTIPLE, VALUE, Weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Called with arguments for compression and progress that its older stubs lack.
_hold: Any = holdall

_ELSE = "convert to hold, which holds any value of Python's, or to json, where what JSON lacks is tagged"
# Bytes of a URL that are written at once.
_PIECE = 1 << 20
# Formats without references, and the one with references to containers only: other shared values are written
# repeatedly.
_TREES = ("bson", "msgpack")
_WEIGHED = (*_TREES, "julia")
# Bounds on the search for the value that a format can't hold: how many parts are encoded again, and their
# weight.
_MOST_STEPS = 500
_SEARCH_FIXED, _SEARCH_MULTIPLE = 1 << 20, 4
_REMEDIES = {
    "bson": _ELSE,
    "msgpack": _ELSE,
    "julia": "convert to hold; or load it in Python, and say what the class is with `holdall.julia.struct`",
    "lisp": "convert to hold; or load it in Python, and say what the class is with `holdall.lisp.struct`",
}


def convert_file(
    source: str,
    target: str,
    given: str | None,
    to: str | None,
    compress: str | None,
    force: bool,
    as_records: bool,
) -> None:
    """Write the values of a file, or of what a URL names, to another file. Raises Failure."""
    with fetched(source, target) as path:
        _convert(source, path, target, given, to, compress, force, as_records)


@contextmanager
def fetched(source: str, target: str) -> Iterator[str]:
    """The path of a file; what a URL names is brought beside the target for so long: formats but hold's own are read from files alone."""
    if not _remote.is_url(source):
        yield source
        return
    import tempfile

    with about(source):
        remote: Any = _remote.remote_of(source)
    name = re.sub(r"[^A-Za-z0-9._-]", "_", source.rpartition("/")[2])[-80:] or "source"
    folder = os.path.dirname(os.path.abspath(target))
    with tempfile.TemporaryDirectory(prefix=".holdall-", dir=folder) as beside:
        path = os.path.join(beside, name)
        with about(source), open(path, "wb") as file, progress(source) as report:
            ahead, at = _remote.Ahead(remote), 0
            while part := ahead.read_at(at, _PIECE):
                at += file.write(part)
                if report is not None:
                    report(at, remote.size)
        yield path


def _convert(
    source: str,
    path: str,
    target: str,
    given: str | None,
    to: str | None,
    compress: str | None,
    force: bool,
    as_records: bool,
) -> None:
    with about(source):
        format = detect(path, given)
    to = to or by_extension(target)
    if to is None:
        raise Failure(target, "its extension says no format: say which with --to")
    if to not in WRITABLE:
        raise Failure(
            target, "pickles are read, not written: they run code when they are loaded; convert to hold"
        )
    if compress and to != "hold":
        raise Failure(target, "--compress is for hold files")
    _check_target(target, force)
    # Reading a tree gives a tree.
    weight = Weight() if to in _WEIGHED and format not in _TREES else None
    with progress(source) as report, about(source):
        # The target is not touched if the source can't be read.
        many, values = several(path, format, records(path, format, as_records=as_records, progress=report))
        if many:
            if compress:
                raise Failure(target, "several records become a log, which --compress is not for")
            _write_several(_reading(source, values), target, to, weight)
            return
        value = next(values)
    with about(target), replaced(target) as temporary, progress(target) as report:
        _write_one(value, temporary, to, compress, report, weight)


def _check_target(target: str, force: bool) -> None:
    if not force and os.path.isfile(target):
        raise Failure(target, "it exists; --force replaces it")


def _reading(source: str, values: Iterator[Any]) -> Iterator[Any]:
    """Errors while records are read are errors of the source."""
    with about(source):
        yield from values


def _write_one(
    value: Any, path: str, to: str, compress: str | None, report: Any, weight: Weight | None
) -> None:
    if weight is not None:
        _weigh(weight, value, to)
    with _blaming(lambda: value, to, weight=weight):
        if to == "hold":
            _hold.dump(value, path, compress=compress, progress=report)
            return
        if to in ("json", "jsonl"):
            from ._json import pieces

            with open(path, "w", encoding="utf-8", newline="\n") as text:
                text.writelines(pieces(value))
                text.write("\n")
            return
        with open(path, "wb") as file:
            file.write(encoder(to)(value))


def _weigh(weight: Weight, value: Any, to: str) -> None:
    """Adds the weight of a value that is to be written to a format without references.

    Raises Failure: shared values would be written too often.
    """
    weight.add(value)
    if (weight.flat if to == "julia" else weight.whole) > weight.most:
        what, remedy = "references", "convert to hold or json, which have them"
        if to == "julia":
            what, remedy = "references to texts", "convert to hold, which has them"
        raise Failure(
            None,
            f"{to} has no {what}, and what is shared would take more than {MULTIPLE} times of what there is if it "
            f"were written at each of its places; {remedy}",
        )


def _write_several(values: Iterator[Any], target: str, to: str, weight: Weight | None) -> None:
    place, value = -1, None
    if to == "julia":
        raise Failure(
            target,
            "a file of Julia's holds one document, and there are several records: choose another format",
        )
    if to == "lisp":
        # They may refer to each other, so that one call has to write them all.
        everything = list(values)
        with about(target), replaced(target) as path, _blaming(lambda: everything, to):
            holdall.lisp.dump(everything, path, all=True)
        return
    with about(target), replaced(target) as path, _blaming(lambda: value, to, lambda: (place,), weight):
        if to == "hold":
            with _hold.Writer(path) as log:
                for place, value in enumerate(values):  # noqa: B007
                    log.write(value)
            return
        encode = encoder(to)
        with open(path, "wb") as file:
            for place, value in enumerate(values):
                if weight is not None:
                    _weigh(weight, value, to)
                if to == "json":
                    file.write(b",\n" if place else b"[\n")
                    file.write(encode(value)[:-1])
                else:
                    file.write(encode(value))
            if to == "json":
                file.write(b"\n]\n" if place >= 0 else b"[]\n")


@contextmanager
def replaced(target: str) -> Iterator[str]:
    """A path to write to, which replaces the target at the end. After an error it is deleted, and the target
    is unchanged.

    Devices, pipes and the like are written to directly.
    """
    target = os.path.realpath(target)
    old = os.stat(target) if os.path.exists(target) else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield target
        return
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        # Otherwise the error would name the temporary file.
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    try:
        yield temporary
        if old is not None:
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        _system.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@contextmanager
def _blaming(
    value: Callable[[], Any],
    to: str,
    at: Callable[[], tuple[int, ...]] = tuple,
    weight: Weight | None = None,
) -> Iterator[None]:
    """Adds to an EncodeError which value it is about, and what else can be done."""
    try:
        yield
    except holdall.EncodeError as error:
        found = culprit(value(), to, weight)
        where = (
            str(error) if found is None else f"{error_text(error)} - at `{_paths.show((*at(), *found[0]))}`"
        )
        kind = "" if found is None else f" (`{type(found[1]).__name__}`)"
        remedy = f"; {_REMEDIES[to]}" if to in _REMEDIES else ""
        raise Failure(None, f"{where}{kind}{remedy}") from None


def error_text(error: Exception) -> str:
    """The error's text without its path, which may be shortened."""
    return str(error).split(" - at `")[0]


def culprit(value: Any, to: str, weight: Weight | None = None) -> tuple[tuple[Any, ...], Any] | None:
    """The value that a format can't hold although its parts can be held: its path and the value.

    None if the search would take too long. weight: that of the value, if it is known.
    """
    encode = encoder(to)
    if weight is None:
        weight = Weight()
        weight.add(value)
    left = _SEARCH_FIXED + _SEARCH_MULTIPLE * weight.once

    def fails(found: Any) -> bool:
        try:
            encode({"value": found})
        except holdall.EncodeError:
            return True
        return False

    if to in ("bson", "julia") and not isinstance(value, dict):
        return (), value
    path: tuple[Any, ...] = ()
    within = {id(value)}
    while len(path) < _MOST_STEPS:
        parts = node(value)
        for step, child in parts.items if parts is not None else ():
            if id(child) in within:
                return (*path, step), child
            left -= VALUE + weight.of.get(id(child), 0)
            if left < 0:
                return None
            if fails(child):
                path, value = (*path, step), child
                within.add(id(value))
                break
        else:
            return path, value
    return None
