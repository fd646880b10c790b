"""`dump` and `load`: whole files by path, and consecutive messages in a binary file object.

All functions of all formats follow one rule: text and `os.PathLike` are paths, objects with the buffer
protocol are data (so `bytes` are never a path; `os.fsdecode` makes a path from them), and everything else is
a file object.
"""

from __future__ import annotations

import errno
import functools
import io
import mmap as _mmap
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from . import _core, _system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
    # Any object with the buffer protocol, for which there is no type before 3.12.
    Data: TypeAlias = bytes | bytearray | memoryview
    Compress: TypeAlias = Literal["zstd", "lz4"] | tuple[Literal["zstd"], int] | None

    class Writable(Protocol):
        def write(self, data: Any, /) -> Any: ...

    class Readable(Protocol):
        def read(self, size: int, /) -> bytes | None: ...

    class ReadableInto(Protocol):
        def readinto(self, buffer: memoryview, /) -> int | None: ...

    from ._seal import Seal
    from .resolve import Resolver


_T = TypeVar("_T")

# The first read of a file object; later ones double what there is. So a head that claims more bytes than
# follow costs no more than twice what is there.
_FIRST_READ = 1 << 20
# From this size on a file is mapped while it is read: its arrays are copied once, from the map.
_MAPPED_FROM = 1 << 20
_LONGEST_PATH = 4096
_NO_PATH = "bytes are data and never a path, which `os.fsdecode` makes of them"


def dump(
    obj: object,
    file: Path | Writable,
    *,
    refs: bool = True,
    canonical: bool = False,
    trust: bool = False,
    intern: bool = False,
    enc_hook: Callable[[Any], Any] | None = None,
    compress: Compress = None,
    sync: bool = True,
    progress: Callable[[int, int], Any] | None = None,
    seal: Seal | None = None,
) -> None:
    """Store the object graph of `obj` in a file.

    file: a path, or a binary file object with `write`. A path is replaced atomically: until the new content is complete and
        on the disk, readers and a crash find the old file, and an error leaves it as it was. Whoever has the old file mapped
        keeps it. The file keeps its mode (a new one gets what the umask allows), and a symbolic link keeps pointing where it
        points. A path that names a device or a pipe is written to in place. In a file object several dumps may follow each
        other; `load` reads them one by one.
    refs, canonical, trust, intern, enc_hook: as for `dumps`.
    compress: "zstd", "lz4", or ("zstd", level) with a level from 1 to 22. In blocks of 1 MiB, by several threads; what doesn't
        shrink is stored as it is.
    sync: wait until a path's content is on the disk. Without it a crash of the machine may leave the old file, or an empty one.
    progress: called now and then as `progress(done, total)`, in bytes before compression.
    seal: a `Seal`, whose keyed check is put around the whole.

    The memory of arrays, bytes and bytearrays of 4 KiB or more is written as it is, without a copy of the whole, and the GIL is
    released meanwhile: what other threads change in it is stored before or after the change. All the rest is complete in memory
    before the first byte is written.

    Raises EncodeError: as `dumps`. Raises OSError: as the file system says; the folder has to be writable.

    >>> dump({"colour": "green"}, "settings.hold")
    >>> load("settings.hold")
    {'colour': 'green'}
    """

    def write(sink: Any) -> None:
        _core.file_dump(
            obj,
            sink,
            refs=refs,
            canonical=canonical,
            trust=trust,
            intern=intern,
            enc_hook=enc_hook,
            compress=compress,
            sync=sync,
            progress=progress,
        )

    target = path_of(file)
    writer = write if seal is None else sealing(seal, write)
    if target is not None:
        replace(target, writer, sync)
    else:
        writer(taker(file))


def sealing(seal: Seal, write: Callable[[Any], None]) -> Callable[[Any], None]:
    """What writes to a sink what `write` writes, within a seal."""
    seal = checked(seal)

    def in_memory(sink: Any) -> None:
        parts: list[bytes] = []
        write(parts.append)
        sink(seal.wrap(b"".join(parts)))

    def to_descriptor(sink: int) -> None:
        with open(sink, "wb", buffering=0, closefd=False) as stream:
            take = functools.partial(_write_all, stream.write)
            if not stat.S_ISREG(os.fstat(sink).st_mode):
                in_memory(take)
                return
            # The head is written when all of it is known.
            begins = stream.tell()
            take(bytes(seal.HEAD))
            made, length = seal.started(), 0

            def through(part: bytes) -> None:
                nonlocal length
                made.update(part)
                length += len(part)
                take(part)

            write(through)
            stream.seek(begins)
            take(seal.finished_head(made, length))
            stream.seek(0, os.SEEK_END)

    return lambda sink: to_descriptor(sink) if isinstance(sink, int) else in_memory(sink)


def checked(seal: Seal) -> Seal:
    from ._seal import Seal

    if not isinstance(seal, Seal):
        raise TypeError(f"seal: expected a holdall.Seal or None, got {_kind(seal)}")
    return seal


def unsealed(seal: Seal, file: Any) -> memoryview:
    """The payload of a path, of data, or of the next that a file object has."""
    seal = checked(seal)
    path = path_of(file)
    if path is not None:
        # All of it is in this process's memory before it is compared: a map might change after. The payload is apart, so that what is
        # aligned in it is aligned in memory.
        with open(path, "rb", buffering=0) as stream:
            head = bytearray()
            extend(head, filler(stream), seal.HEAD)
            # What isn't sealed, or with another key, is not read further.
            seal.head(memoryview(head))
            return seal.holds(memoryview(head), memoryview(stream.readall()))
    if data_of(file) is not None:
        return seal.unwrap(file)
    fill, begin, payload = filler(file), bytearray(), bytearray()
    extend(begin, fill, seal.HEAD)
    if not begin:
        error = _core.TruncatedError("nothing is left to read - at byte 0")
        error.offset = 0
        raise error
    extend(payload, fill, seal.head(memoryview(begin))[2])
    return seal.holds(memoryview(begin), memoryview(payload).toreadonly())


def load(
    file: Path | Data | Readable | ReadableInto,
    *,
    mmap: bool | Literal["copy"] = False,
    type: Any = Any,
    types: type[Any] | ModuleType | Iterable[type[Any] | ModuleType] = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    limits: _core.Limits | None = None,
    progress: Callable[[int, int], Any] | None = None,
    seal: Seal | None = None,
) -> Any:
    """Restore the object graph stored in a file.

    file: a path; bytes-like data; or a binary file object with `read` or `readinto`. A path is read whole and holds one graph, as
        data do (bytes are never a path: `os.fsdecode` makes one of them). Of a file object just one dump is read, so that the
        next call finds the next one. Bytes from `dumps`, without what `dump` puts around them, are read too; they reach to the
        end of the file.
    mmap: of a path (or data), large arrays are views of the file instead of copies: nothing of them is read before it is touched, and
        their checksums are not compared (`verify` does that). Bytes, bytearrays and `array.array`s of 4 KiB or more come as
        memoryviews. `True`: they can't be written to. `"copy"`: what is written stays in memory, and the file as it is. The map
        closes with the last object that uses it. `dump` never disturbs it, as it puts a new file in the old one's place; a file
        that something else cuts short ends the process where a missing part is touched. Compressed parts are read as ever.
    type, types, trust, strict, dec_hook, resolver, limits: as for `loads`.
    progress: called now and then as `progress(done, total)`, in bytes.
    seal: a `Seal`: only what was sealed with one of its keys is read. All of it is read into memory and compared before; `mmap` then
        gives views of that memory.

    Raises DecodeError: as `loads`; `.offset` counts from the start of the dump. TruncatedError where nothing is left to read.
    Raises ChecksumError: damaged bytes. Raises OSError: as the file system says.

    >>> with open("two.hold", "wb") as file:
    ...     dump("first", file)
    ...     dump("second", file)
    >>> with open("two.hold", "rb") as file:
    ...     load(file), load(file)
    ('first', 'second')
    """
    if mmap not in (False, True, "copy"):
        raise ValueError('mmap: expected False, True or "copy"')
    options: dict[str, Any] = {
        "type": type, "types": types, "trust": trust, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "limits": limits
    }  # fmt: skip
    if seal is not None:
        return _load_data(unsealed(seal, file), mmap, progress, options)
    source = path_of(file)
    if source is None:
        if (data := data_of(file)) is not None:
            return of_data(data, lambda: _load_data(data, mmap, progress, options))
        if mmap:
            raise TypeError("mmap: expected a path or bytes-like data as file")
        return _core.file_load(filler(file), _left(file), whole=False, progress=progress, **options)
    if mmap:
        return _core.file_load_mapped(mapped(source, mmap == "copy"), mmap == "copy", **options)
    with open(source, "rb", buffering=0) as stream:
        status = os.fstat(stream.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else None
        return _core.file_load(stream.fileno(), size, whole=True, progress=progress, **options)


def _load_data(
    data: memoryview,
    mmap: bool | Literal["copy"],
    progress: Callable[[int, int], Any] | None,
    options: dict[str, Any],
) -> Any:
    if mmap:
        return _core.file_load_mapped(bytearray(data) if mmap == "copy" else data, mmap == "copy", **options)
    made = _core.loads(data, **options)
    if progress is not None:
        progress(len(data), len(data))
    return made


def _left(file: Any) -> int | None:
    """The number of bytes left in one of Python's own file objects, if that is known."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    if type(raw) is not io.FileIO:
        return None
    status = os.fstat(raw.fileno())
    return max(0, status.st_size - file.tell()) if stat.S_ISREG(status.st_mode) else None


def open_file(
    file: Path | Data,
    *,
    mmap: bool | Literal["copy"] = True,
    type: Any = Any,
    types: type[Any] | ModuleType | Iterable[type[Any] | ModuleType] = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    limits: _core.Limits | None = None,
    seal: Seal | None = None,
) -> _core.Document:
    """The graph of a file, to be read where it is touched.

    file: a path, or bytes-like data, which must not change meanwhile. A path is mapped into memory, and of a large one only what is
        needed is read: an index says where things are. A bare message of `dumps` is gone over once to make one; a compressed one
        is unpacked when it is opened.
    mmap: large arrays are views of the file; "copy": views that can be written to, which leaves the file as it is.
    type, types, trust, strict, dec_hook, resolver, limits: as for `loads`; see `Document` for what `type` does.
    seal: as for `load`: all of the file is read and compared when it is opened.

    Checksums of what is read in part are not compared: `verify` does that.

    Raises DecodeError: no file of `dump`'s; malformed bytes, when they are come to. Raises OSError: as the file system says.

    >>> dump({"layers": [{"bias": 1}, {"bias": 2}], "epoch": 12}, "model.hold")
    >>> with holdall.open("model.hold") as doc:
    ...     doc["layers"][1]["bias"], list(doc)
    (2, ['layers', 'epoch'])
    """
    if mmap not in (True, "copy"):
        raise ValueError('mmap: expected True or "copy"')
    options: dict[str, Any] = {
        "type": type, "types": types, "trust": trust, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "limits": limits
    }  # fmt: skip
    file = file if seal is None else unsealed(seal, file)
    return document(file, "hold", copy=mmap == "copy", writable=mmap == "copy", **options)


def document(
    file: Any, format: Literal["bson", "msgpack", "hold"], *, copy: bool = False, **options: Any
) -> _core.Document:
    """A Document of a path or of data. `copy`: what is written to it stays in memory."""
    path = path_of(file)
    if path is not None:
        return _core.open_document(mapped(path, copy), format, **options)
    data = data_of(file)
    if data is None:
        raise TypeError(f"expected a path or bytes-like data, got {_kind(file)}: `load` takes file objects")
    if format == "msgpack" and _is_a_path(data) and _core.msgpack_scan(data, 0, 1)[0] != len(data):
        # Any byte begins a MessagePack value, and what follows would not be checked.
        error = _core.DecodeError(f"{_NO_PATH} - at byte 0")
        error.offset = 0
        raise error
    # If its items are bytes, the object itself: unlike a view, it can be closed when the Document is.
    held = bytearray(data) if copy else file if memoryview(file).format == "B" else data
    return of_data(data, lambda: _core.open_document(held, format, owned=False, **options))


def mapped(path: Path, copy: bool = False) -> Any:
    """A map of a file, or empty bytes for an empty file. `copy`: what is written to it stays in memory."""
    with open(path, "rb") as opened:
        if not opened.seek(0, os.SEEK_END):
            return b""
        access = _mmap.ACCESS_COPY if copy else _mmap.ACCESS_READ
        return _mmap.mmap(opened.fileno(), 0, access=access)


def store(file: Path | Writable, encode: Callable[[], bytes]) -> None:
    """Write the result of `encode` to a path, atomically, or to a file object. `encode` isn't called if
    `file` is neither.
    """
    target = path_of(file)
    if target is None:
        take = taker(file)
        take(encode())
        return
    data = encode()

    def write(sink: Any) -> None:
        if isinstance(sink, int):
            with open(sink, "wb", buffering=0, closefd=False) as stream:
                _write_all(stream.write, data)
        else:
            sink(data)

    replace(target, write)


def read_source(file: Any, mmap: bool | Literal["copy"]) -> tuple[Any, bool]:
    """The bytes that `load` is given, and whether arrays should be views of them."""
    if mmap not in (False, True, "copy"):
        raise ValueError('mmap: expected False, True or "copy"')
    path = path_of(file)
    if path is not None:
        if mmap or os.path.getsize(path) >= _MAPPED_FROM:
            return mapped(path, mmap == "copy"), bool(mmap)
        return read_whole(path), False
    view = data_of(file)
    if view is None:
        fill, read = filler(file), bytearray()
        extend(read, fill, None)
        if mmap == "copy":
            return read, True
        file = view = memoryview(read)
    if mmap == "copy":
        return bytearray(view), True
    return (view.toreadonly() if mmap else file), bool(mmap)


def loaded(file: Any, mmap: bool | Literal["copy"], load: Callable[..., _T]) -> _T:
    """What `load` makes of the bytes of a source, of which arrays are views or not."""
    data, views = read_source(file, mmap)
    given = data_of(file) if path_of(file) is None else None
    return load(data, views=views) if given is None else of_data(given, lambda: load(data, views=views))


def opened(file: Any, mmap: bool | Literal["copy"], open: Callable[..., _T]) -> _T:
    """The document that `open` makes of a source: a file is mapped, and closed with the document."""
    path = path_of(file)
    if path is not None:
        return open(mapped(path, mmap == "copy"), owned=True, views=bool(mmap))
    data, views = read_source(file, mmap)
    return of_data(memoryview(data), lambda: open(data, owned=False, views=views))


def read_whole(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:
        return stream.read()


def extend(data: bytearray, fill: Callable[[memoryview], int], total: int | None) -> None:
    """Read until `data` has `total` bytes, or to the end of the file if that comes first or `total` is None."""
    while total is None or len(data) < total:
        have = len(data)
        step = max(_FIRST_READ, have)
        data += bytes(step if total is None else min(step, total - have))
        with memoryview(data) as whole, whole[have:] as free:
            count = fill(free)
        del data[have + count :]
        if count == 0:
            break


def filler(file: Any, *, eager: bool = False) -> Callable[[memoryview], int]:
    """A function that reads a binary file object into a buffer and returns the number of bytes; 0 means the
    end.

    eager: it returns what is available, if the file object supports that, instead of waiting for all that was
        requested.
    """
    read: Any = getattr(file, "read1", None) if eager else None
    readinto: Any = getattr(file, "readinto1", None) if eager else None
    if read is None and readinto is None:
        read, readinto = getattr(file, "read", None), getattr(file, "readinto", None)
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


def taker(file: Any) -> Callable[[bytes], None]:
    """A function that writes all of its argument to a binary file object."""
    write: Callable[[Any], Any] | None = getattr(file, "write", None)
    if isinstance(file, io.TextIOBase) or write is None:
        hint = f": {_NO_PATH}" if isinstance(file, bytes) else ""
        raise TypeError(f"expected a path or a binary file object with write, got {_kind(file)}{hint}")
    return functools.partial(_write_all, write)


def path_of(file: object) -> str | None:
    """A path as text; None if it is not a path."""
    return os.fsdecode(file) if isinstance(file, (str, os.PathLike)) else None


def data_of(file: Any) -> memoryview | None:
    """The bytes of an object with the buffer protocol, not copied; None for other objects."""
    try:
        view = memoryview(file)
    except TypeError:
        return None
    # If it isn't contiguous, native code refuses it with a message that names it.
    return view.cast("B") if view.c_contiguous else view


def of_data(data: memoryview, read: Callable[[], _T]) -> _T:
    """The result of `read`; if it fails and the data are the path of a file, the error says so."""
    try:
        return read()
    except _core.DecodeError as error:
        if _is_a_path(data):
            _core.explain_error(error, _NO_PATH)
        raise


def _is_a_path(data: memoryview) -> bool:
    """Whether data are the path of an existing file."""
    try:
        return len(data) < _LONGEST_PATH and os.path.exists(bytes(data))
    except ValueError:  # with a zero byte in it
        return False


def _write_all(write: Callable[[Any], Any], data: bytes) -> None:
    # Raw files (buffering=0) and sockets may accept a part; others return the length or nothing useful.
    count = write(data)
    if not isinstance(count, int) or count >= len(data):
        return
    rest = memoryview(data)
    while count < len(rest):
        rest = rest[count:]
        count = write(rest)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "the file object took a part of the data only")


def replace(path: str, write: Callable[[Any], None], sync: bool = True) -> None:
    """Replace a file, atomically, by what `write` writes to a sink."""
    # Renaming to a link would replace the link, but the caller means its target.
    target = os.path.realpath(path)
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        # /dev/stdout and the like; `open` itself refuses folders.
        with open(target, "wb", buffering=0) as stream:
            write(stream.fileno())
        return

    folder, name = os.path.split(target)
    # In the same folder, because a rename is atomic only within a file system. Most systems allow names of
    # 255 bytes.
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _system.BINARY
    # Nobody else may open the replacement of a private file before its mode is set.
    descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600)
    try:
        with open(descriptor, "wb", buffering=0) as stream:
            write(stream.fileno())
            if old is not None:
                _system.keep_owner_and_mode(descriptor, old)
            if sync:
                os.fsync(descriptor)
        _system.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # the error that is being raised says more
            os.unlink(temporary)
        raise
    if sync:
        _system.sync_folder(folder)


def _kind(value: object) -> str:
    return type(value).__name__
