"""`dump` and `load`: whole files by path, and one value after another in a binary file object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from .. import _core, _files

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..resolve import Resolver

# How much is read first for a value of unknown size; later reads double what there is, up to the maximum.
_FIRST_READ = 1 << 12
_MOST_READ = 1 << 20


def dump(
    obj: object,
    file: _files.Path | _files.Writable,
    *,
    enc_hook: Callable[[Any], Any] | None = None,
    order: Literal["deterministic", "sorted"] | None = None,
    uuid_format: Literal["canonical", "hex", "bytes"] = "canonical",
    decimal_format: Literal["string", "number"] | Callable[[Any], Any] = "string",
    hook_objects: bool = False,
) -> None:
    """Store `obj` in a file as MessagePack.

    file: a path, which is replaced atomically, as by `holdall.dump`; or a binary file object with `write`, in which several
        dumps may follow each other. Nothing is put around the values: `load` and `Reader` read them, and other programs too.
    enc_hook, order, uuid_format, decimal_format, hook_objects: as for `dumps`.

    Raises EncodeError: as `dumps`, before anything is written. Raises OSError: as the file system says.

    >>> dump({"colour": "green"}, "settings.msgpack")
    >>> load("settings.msgpack")
    {'colour': 'green'}
    """
    _files.store(
        file,
        lambda: _core.msgpack_dumps(
            obj,
            enc_hook=enc_hook,
            order=order,
            uuid_format=uuid_format,
            decimal_format=decimal_format,
            hook_objects=hook_objects,
        ),
    )


def load(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    ext_hook: Callable[[int, bytes], Any] | None = None,
    limits: _core.Limits | None = None,
) -> Any:
    """Restore the value stored in a file.

    file: a path, which is read whole and holds one value, as bytes-like data do; or a binary file object with `read` or
        `readinto`, of which one value is read and no byte more, so that the next call finds the next one. Of a file object that can neither `peek` nor `seek`
        (an unbuffered pipe) a long text is read byte by byte: put an `io.BufferedReader` around it, or use `Reader`.
    type, strict, dec_hook, resolver, ext_hook, limits: as for `loads`.

    Raises DecodeError: as `loads`; `.offset` counts from the start of the value. TruncatedError where nothing is left to read.
    Raises OSError: as the file system says.

    >>> with open("two.msgpack", "wb") as file:
    ...     dump("first", file)
    ...     dump("second", file)
    >>> with open("two.msgpack", "rb") as file:
    ...     load(file), load(file)
    ('first', 'second')
    """
    options: dict[str, Any] = {
        "type": type, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "ext_hook": ext_hook, "limits": limits
    }  # fmt: skip
    source = _files.path_of(file)
    if source is not None:
        return _core.msgpack_loads(_files.read_whole(source), **options)
    if (data := _files.data_of(file)) is not None:
        return _files.of_data(data, lambda: _core.msgpack_loads(data, **options))
    return _core.msgpack_loads(_read_value(file), **options)


def open_file(
    file: _files.Path | _files.Data,
    *,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    ext_hook: Callable[[int, bytes], Any] | None = None,
    limits: _core.Limits | None = None,
) -> _core.Document:
    """The value of a file, to be read where it is touched.

    file: a path, or bytes-like data, which must not change meanwhile. A path is mapped into memory; a file that is cut short
        meanwhile ends the process where the missing part is touched, as with any map. `dump` never does that: it puts a new file
        in the old one's place.
    type, strict, dec_hook, resolver, ext_hook, limits: as for `loads`.

    The format has no index: the first look into an array or a map passes over its values once. Bytes behind the value are not
    looked at.

    Raises DecodeError: malformed bytes, when they are come to. Raises OSError: as the file system says.

    >>> dump({"users": [{"name": "Ann"}], "n": 1}, "people.msgpack")
    >>> with holdall.msgpack.open("people.msgpack") as doc:
    ...     doc["users"][0]["name"], len(doc)
    ('Ann', 2)
    """
    options: dict[str, Any] = {
        "type": type, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "ext_hook": ext_hook, "limits": limits
    }  # fmt: skip
    return _files.document(file, "msgpack", **options)


def _read_value(file: Any) -> bytearray:
    """The bytes of one value; fewer if the file ends before it does."""
    fill = _files.filler(file)
    if hasattr(file, "peek") and hasattr(file, "read"):
        return _read_by_peeking(file, fill)
    seekable = getattr(file, "seekable", None)
    if seekable is not None and seekable():
        return _read_ahead(file, fill)
    return _read_exactly(fill)


def _read_by_peeking(file: Any, fill: Callable[[memoryview], int]) -> bytearray:
    data = bytearray()
    at, pending = 0, 1
    while pending:
        have = len(data)
        seen = file.peek(1)
        if not seen:
            # The end, or nothing available yet: a read tells.
            _files.extend(data, fill, have + 1)
            if len(data) == have:
                break
            at, pending = _core.msgpack_scan(data, at, pending)
            continue
        data += seen
        at, pending = _core.msgpack_scan(data, at, pending)
        # Everything that was inspected belongs to the value while it is incomplete.
        own = at - have if pending == 0 else len(seen)
        data[have:] = file.read(own)
    return data


def _read_ahead(file: Any, fill: Callable[[memoryview], int]) -> bytearray:
    data = bytearray()
    at, pending = 0, 1
    while pending:
        have = len(data)
        _files.extend(data, fill, have + min(max(_FIRST_READ, have), _MOST_READ))
        if len(data) == have:
            return data
        at, pending = _core.msgpack_scan(data, at, pending)
    if at < len(data):
        file.seek(at - len(data), os.SEEK_CUR)
        del data[at:]
    return data


def _read_exactly(fill: Callable[[memoryview], int]) -> bytearray:
    data = bytearray()
    at, pending = 0, 1
    while pending:
        have = len(data)
        # Each missing value takes at least a byte.
        _files.extend(data, fill, have + pending)
        if len(data) == have:
            break
        at, pending = _core.msgpack_scan(data, at, pending)
    return data
