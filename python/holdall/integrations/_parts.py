"""What engines have in common that read logs in parts: where these are, and reading one."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _files, _log, _remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK = 1 << 26
_MAGIC = frozenset("*?[")


class Part(NamedTuple):
    """A part of a log, and what its storage has to be told. It is small, and is all that goes from the planner to a worker."""

    path: str
    start: int
    end: int
    storage: dict[str, Any] | None = None

    def file(self) -> Any:
        return located(self.path, self.storage)


def located(path: str, storage: dict[str, Any] | None) -> Any:
    """What `Reader` takes for a path or a URL with options."""
    if not storage or not _remote.is_url(path):
        return path
    import fsspec

    return fsspec.open(path, **storage)


def paths_of(paths: Any, storage: dict[str, Any] | None = None) -> list[str]:
    """Paths and URLs, with those that a pattern stands for, each in the order of their names. Raises FileNotFoundError: none."""
    found: list[str] = []
    for one in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = _files.path_of(one)
        if path is None:
            raise TypeError(f"paths: expected paths or URLs, got {type(one).__name__}")
        found += _expanded(path, storage)
    if not found:
        raise FileNotFoundError(f"no logs at {paths!r}")
    return found


def _expanded(path: str, storage: dict[str, Any] | None) -> list[str]:
    if _remote.is_url(path):
        if not _MAGIC & set(path):
            return [path]
        from fsspec.core import url_to_fs

        system, pattern = url_to_fs(path, **(storage or {}))
        return [system.unstrip_protocol(name) for name in sorted(system.glob(pattern))]
    if os.path.exists(path) or not _MAGIC & set(path):
        return [path]
    return sorted(glob.glob(path))


def parts_of(paths: Any, blocksize: int | None = BLOCK, storage: dict[str, Any] | None = None) -> list[Part]:
    """All parts of logs, in order. blocksize: None, a part for each log."""
    found = []
    for path in paths_of(paths, storage):
        for start, end in _log.split_log(located(path, storage), blocksize or 1 << 62):
            found.append(Part(path, start, end, storage))
    return found


def records_of(part: Part, **options: Any) -> Iterator[Any]:
    """The records of a part. options: those of `Reader`."""
    with _log.Reader(part.file(), part=(part.start, part.end), **options) as reader:
        yield from reader


def write_log(path: str, records: Iterable[Any], **options: Any) -> int:
    """A log of these records in the place of a path, at once when it is whole: so that a task may be done again, or twice. Gives how
    many there are."""
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    try:
        with _log.Writer(temporary, **options) as writer:
            for record in records:
                writer.write(record)
            count = writer.records
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return count
