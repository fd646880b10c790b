"""`dump` and `load`: a document in a file; `documents`: one after another, as `mongodump` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import _core, _files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..resolve import Resolver

# Bytes of a document's length.
_HEAD = 4


def dump(
    obj: object,
    file: _files.Path | _files.Writable,
    *,
    enc_hook: Callable[[Any], Any] | None = None,
    order: Literal["deterministic", "sorted"] | None = None,
    hook_objects: bool = False,
) -> None:
    """Store `obj` in a file as a BSON document.

    file: a path, which is replaced atomically, as by `holdall.dump`; or a binary file object with `write`, in which several
        dumps may follow each other, as `mongodump` has them.
    enc_hook, order, hook_objects: as for `dumps`.

    Raises EncodeError: as `dumps`, before anything is written. Raises OSError: as the file system says.

    >>> dump({"colour": "green"}, "settings.bson")
    >>> load("settings.bson")
    {'colour': 'green'}
    """
    _files.store(
        file, lambda: _core.bson_dumps(obj, enc_hook=enc_hook, order=order, hook_objects=hook_objects)
    )


def load(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    limits: _core.Limits | None = None,
    tz_aware: bool = True,
) -> Any:
    """Restore the document stored in a file.

    file: a path, which is read whole and holds one document, as bytes-like data do; or a binary file object with `read` or
        `readinto`, of which one document is read and no byte more, so that the next call finds the next one.
    type, strict, dec_hook, resolver, limits, tz_aware: as for `loads`.

    Raises DecodeError: as `loads`; `.offset` counts from the start of the document. TruncatedError where nothing is left to read.
    Raises OSError: as the file system says.

    >>> import io
    >>> file = io.BytesIO(dumps({"n": 1}) + dumps({"n": 2}))
    >>> load(file), load(file)
    ({'n': 1}, {'n': 2})
    """
    options: dict[str, Any] = {
        "type": type, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "limits": limits, "tz_aware": tz_aware
    }  # fmt: skip
    source = _files.path_of(file)
    if source is not None:
        return _core.bson_loads(_files.read_whole(source), **options)
    if (data := _files.data_of(file)) is not None:
        return _files.of_data(data, lambda: _core.bson_loads(data, **options))
    return _core.bson_loads(_read_document(_files.filler(file)), **options)


def _read_document(fill: Callable[[memoryview], int]) -> bytearray:
    """The bytes of one document; fewer if the file ends before it does."""
    data = bytearray()
    _files.extend(data, fill, _HEAD)
    if len(data) == _HEAD:
        size = int.from_bytes(data, "little", signed=True)
        _files.extend(data, fill, max(size, _HEAD))
    return data


def open_file(
    file: _files.Path | _files.Data,
    *,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    limits: _core.Limits | None = None,
    tz_aware: bool = True,
) -> _core.Document:
    """The document of a file, to be read where it is touched.

    file: a path, or bytes-like data, which must not change meanwhile. A path is mapped into memory; a file that is cut short
        meanwhile ends the process where the missing part is touched, as with any map. `dump` never does that: it puts a new file
        in the old one's place.
    type, strict, dec_hook, resolver, limits, tz_aware: as for `Document`.

    Raises DecodeError: it does not hold one document from end to end; for several see `documents`. Raises OSError: as the file
    system says.

    >>> dump({"users": [{"name": "Ann"}], "n": 1}, "people.bson")
    >>> with holdall.bson.open("people.bson") as doc:
    ...     doc["users"][0]["name"], len(doc)
    ('Ann', 2)
    """
    options: dict[str, Any] = {
        "type": type, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "limits": limits, "tz_aware": tz_aware
    }  # fmt: skip
    return _files.document(file, "bson", **options)


def documents(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    lazy: bool = False,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    resolver: Resolver | None = None,
    limits: _core.Limits | None = None,
    tz_aware: bool = True,
) -> Iterator[Any]:
    """The documents of a file that has one behind the other, one at a time: memory does not grow with the file.

    file: a path, which is mapped into memory; bytes-like data; or a binary file object with `read` or `readinto`.
    lazy: as `Document`s, each read where it is touched.
    type, strict, dec_hook, resolver, limits, tz_aware: as for `loads`, for each document.

    Raises DecodeError: as `loads`, when the document is come to; `.offset` counts from the start of that document.

    >>> import pathlib
    >>> size = pathlib.Path("two.bson").write_bytes(dumps({"n": 1}) + dumps({"n": 2}))
    >>> [found["n"] for found in documents("two.bson")]
    [1, 2]
    """
    options: dict[str, Any] = {
        "type": type, "strict": strict, "dec_hook": dec_hook, "resolver": resolver, "limits": limits, "tz_aware": tz_aware
    }  # fmt: skip
    decoder = _core.BsonDecoder(**options)
    source = _files.path_of(file)
    view = _files.data_of(file) if source is None else memoryview(_files.mapped(source))
    if view is None:
        fill = _files.filler(file)
        while data := _read_document(fill):
            yield _core.Document(data, format="bson", **options) if lazy else decoder.decode(data)
        return
    # A map closes with its last view: a Document that is still in use keeps it open.
    at = 0
    while at < len(view):
        size = int.from_bytes(view[at : at + _HEAD], "little", signed=True)
        part = view[at : at + max(size, _HEAD)]
        try:
            found = _core.Document(part, format="bson", **options) if lazy else decoder.decode(part)
        except _core.DecodeError as error:
            if at == 0:
                _core.name_foreign(error, view, "bson")
            raise
        yield found
        at += size
