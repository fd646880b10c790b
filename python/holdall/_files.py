"""`dump` and `load`: whole files by path, and one message after another in a binary file object."""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

    class Writable(Protocol):
        def write(self, data: Any, /) -> Any: ...

    class Readable(Protocol):
        def read(self, size: int, /) -> bytes | None: ...

    class ReadableInto(Protocol):
        def readinto(self, buffer: memoryview, /) -> int | None: ...


# Below this, one write of a joined copy costs less than three writes.
_JOIN_BELOW = 1 << 16
# No more than this is asked of a file object at first, then as much again as it has given: a head that claims more bytes
# than follow costs no more than twice what there is.
_FIRST_READ = 1 << 20


def dump(
    obj: object,
    file: Path | Writable,
    *,
    refs: bool = True,
    canonical: bool = False,
    trust: bool = False,
    intern: bool = False,
    enc_hook: Callable[[Any], Any] | None = None,
    compress: None = None,
) -> None:
    """Store the object graph of `obj` in a file.

    file: a path, or a binary file object with `write`. A path is replaced atomically: until the new content is complete and
        on the disk, readers and a crash find the old file, and an error leaves it as it was. The file keeps its mode (a new
        one gets what the umask allows), and a symbolic link keeps pointing where it points. A path that names a device or a
        pipe is written to in place. Nothing is written at all where `obj` can't be encoded. In a file object several dumps
        may follow each other; `load` reads them one by one.
    refs, canonical, trust, intern, enc_hook: as for `dumps`.
    compress: not in this version; only None is accepted.

    The message is complete in memory before the first byte is written, beside `obj` itself.

    Raises EncodeError: as `dumps`. Raises OSError: as the file system says; the folder has to be writable.

    >>> dump({"colour": "green"}, "settings.hold")
    >>> load("settings.hold")
    {'colour': 'green'}
    """
    if compress is not None:
        raise _core.EncodeError("compress: expected None, this version doesn't compress")
    store(
        file,
        lambda: framed(
            _core.dumps(obj, refs=refs, canonical=canonical, trust=trust, intern=intern, enc_hook=enc_hook)
        ),
    )


def load(
    file: Path | Readable | ReadableInto,
    *,
    mmap: bool = False,
    type: Any = Any,
    types: type[Any] | ModuleType | Iterable[type[Any] | ModuleType] = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    limits: _core.Limits | None = None,
) -> Any:
    """Restore the object graph stored in a file.

    file: a path, or a binary file object with `read` or `readinto`. A path is read whole and holds one graph. Of a file
        object just one dump is read, so that the next call finds the next one. Bytes from `dumps`, without what `dump` puts
        around them, are read too; they reach to the end of the file.
    mmap: not in this version; only False is accepted.
    type, types, trust, strict, dec_hook, limits: as for `loads`.

    Raises DecodeError: as `loads`; `.offset` counts from the start of the dump. TruncatedError where nothing is left to read.
    Raises OSError: as the file system says.

    >>> with open("two.hold", "wb") as file:
    ...     dump("first", file)
    ...     dump("second", file)
    >>> with open("two.hold", "rb") as file:
    ...     load(file), load(file)
    ('first', 'second')
    """
    if mmap:
        raise _core.HoldallError("mmap: expected False, this version doesn't map files")
    source = path_of(file)
    data = read_whole(source) if source is not None else read_framed(filler(file))
    return _core.loads(
        data, type=type, types=types, trust=trust, strict=strict, dec_hook=dec_hook, limits=limits
    )


def store(file: Path | Writable, encode: Callable[[], tuple[bytes, ...]]) -> None:
    """Write what `encode` gives to a path, atomically, or to a file object. What is neither is refused before `encode` runs."""
    target = path_of(file)
    if target is not None:
        _replace(target, encode())
    else:
        write = writer(file)
        write_parts(write, encode())


def framed(message: bytes) -> tuple[bytes, ...]:
    """`message` in its frame, so that others may follow."""
    head, tail = _core.file_frames(message)
    return head, message, tail


def write_framed(write: Callable[[Any], Any], message: bytes) -> None:
    write_parts(write, framed(message))


def write_parts(write: Callable[[Any], Any], parts: tuple[bytes, ...]) -> None:
    if sum(map(len, parts)) < _JOIN_BELOW:
        parts = (b"".join(parts),)
    for part in parts:
        _write_all(write, part)


def read_whole(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:
        return stream.read()


def read_framed(fill: Callable[[memoryview], int]) -> bytearray:
    """The bytes of one dump, its frame included; empty at the end of the file.

    What doesn't start with a frame's head is taken up to the end: it is a message from `dumps`, or `loads` says what is
    wrong with it.
    """
    data = bytearray()
    extend(data, fill, _core.frame_head_size)
    if len(data) < _core.frame_head_size:
        return data
    try:
        total = _core.frame_total(bytes(data))
    except _core.DecodeError:
        total = None
    extend(data, fill, total)
    return data


def extend(data: bytearray, fill: Callable[[memoryview], int], total: int | None) -> None:
    """Read until `data` has `total` bytes, or up to the end of the file if that comes first or `total` is None."""
    while total is None or len(data) < total:
        have = len(data)
        step = max(_FIRST_READ, have)
        data += bytes(step if total is None else min(step, total - have))
        with memoryview(data) as whole, whole[have:] as free:
            count = fill(free)
        del data[have + count :]
        if count == 0:
            break


def filler(file: Any) -> Callable[[memoryview], int]:
    """A function that reads a binary file object into a buffer and returns how many bytes; 0 means the end."""
    read: Any = getattr(file, "read", None)
    readinto: Any = getattr(file, "readinto", None)
    if isinstance(file, io.TextIOBase) or (read is None and readinto is None):
        raise TypeError(f"expected a path or a binary file object with read or readinto, got {_kind(file)}")

    def fill(buffer: memoryview) -> int:
        count: int | None
        if readinto is not None:
            count = readinto(buffer)
        elif (part := read(len(buffer))) is not None:
            count = len(part)
            buffer[:count] = part
        else:
            count = None
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "the file object has no data yet, and doesn't wait for it")
        return count

    return fill


def writer(file: Any) -> Callable[[Any], Any]:
    write: Callable[[Any], Any] | None = getattr(file, "write", None)
    if isinstance(file, io.TextIOBase) or write is None:
        raise TypeError(f"expected a path or a binary file object with write, got {_kind(file)}")
    return write


def path_of(file: object) -> str | None:
    return os.fsdecode(file) if isinstance(file, (str, bytes, os.PathLike)) else None


def _write_all(write: Callable[[Any], Any], data: bytes) -> None:
    # Raw files (buffering=0) and sockets may take a part only; others return the length, or nothing to go by.
    count = write(data)
    if not isinstance(count, int) or count >= len(data):
        return
    rest = memoryview(data)
    while count < len(rest):
        rest = rest[count:]
        count = write(rest)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "the file object took a part of the data only")


def _replace(path: str, parts: tuple[bytes, ...]) -> None:
    # Renaming onto a link would replace the link; what it points to is what the caller means.
    target = os.path.realpath(path)
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        # /dev/stdout and the like; a folder is refused by open itself.
        with open(target, "wb", buffering=0) as stream:
            write_parts(stream.write, parts)
        return

    folder, name = os.path.split(target)
    # In the same folder, since a rename is atomic only within a file system. 255 bytes is what most allow a name.
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Until the mode of a private file is set, nobody else may open its replacement.
    descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600)
    try:
        with open(descriptor, "wb", buffering=0) as stream:
            write_parts(stream.write, parts)
            if old is not None:
                _keep_owner_and_mode(descriptor, old)
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # the error under way says more
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    if os.name == "nt":
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        # Only root may give a file away; for others the replacement is their own.
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    """Make the rename last; without this a crash may bring the old file back (never a torn one)."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder that may be written but not listed
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems don't know this call for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _kind(value: object) -> str:
    return type(value).__name__
