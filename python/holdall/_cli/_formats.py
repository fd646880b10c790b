"""The format of a file, and its values, read and written in the same way for all formats."""

from __future__ import annotations

import json
import mmap
import os
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import holdall

from .. import _core, _files
from ._errors import located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int], None] | None

FORMATS = ("hold", "bson", "julia", "lisp", "msgpack", "json", "jsonl", "pickle")
# The formats that `convert` writes.
WRITABLE = FORMATS[:-1]
_EXTENSIONS = {
    ".hold": "hold",
    ".bson": "bson",
    ".cbs": "lisp",
    ".msgpack": "msgpack",
    ".mpk": "msgpack",
    ".mp": "msgpack",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".pickle": "pickle",
    ".pkl": "pickle",
}

# Called with arguments that its older stubs lack.
_hold: Any = holdall


def by_extension(path: str) -> str | None:
    return _EXTENSIONS.get(os.path.splitext(path)[1].lower())


def detect(path: str, given: str | None = None) -> str:
    """The format of a file: the given one, that of its extension, or the one that its bytes look like.

    BSON and Julia's dialect share an extension, so the bytes decide.

    Raises OSError from the file system.
    """
    if given is not None:
        return given
    named = by_extension(path)
    return by_content(path, is_bson=named == "bson") if named in {None, "bson"} else named


def by_content(path: str, *, is_bson: bool = False) -> str:
    """The format that a file's bytes look like; MessagePack if they look like no other, because any byte may
    start it.

    is_bson: they are BSON or Julia's dialect, even if they are cut off.

    Raises DecodeError: they are of another known format. Raises OSError from the file system.
    """
    data = _files.mapped(path)
    found = _core.guess_format(data, is_bson=is_bson)
    if found is None and (foreign := _core.foreign_format(data)) is not None:
        raise located(holdall.DecodeError, foreign, 0)
    return found or "msgpack"


def classes() -> tuple[Any, ...]:
    """What instances in hold files become: values of the other formats what they were, others records."""
    if find_spec("bson") is not None:
        # BSON values come as PyMongo's classes if it is imported.
        import_module("bson")
    return holdall.Record, holdall.julia, holdall.lisp, holdall.msgpack.Ext, holdall.msgpack.Timestamp


def records(
    path: str, format: str, *, start: int = 0, as_records: bool = False, progress: Progress = None
) -> Iterator[Any]:
    """The values of a file one by one: the records of a log, the documents of a dump, the values of a stream;
    else the only value.

    start: how many to skip. as_records: instances in pickles become records.
    Memory doesn't grow with the number of values, except for pickles.

    Raises DecodeError like the format's `load`. Raises OSError from the file system.
    """
    if format == "hold":
        if _hold.file_kind(path) == "log":
            with _hold.Reader(path, types=classes()) as reader:
                if start:
                    reader.seek(start)
                yield from reader
            return
        found = iter([_hold.load(path, types=classes(), progress=progress)])
    elif format == "bson":
        yield from _documents(path, start, progress)
        return
    elif format == "msgpack":
        found = _msgpack(path, progress)
    elif format == "julia":
        found = iter([holdall.julia.load(path)])
    elif format == "lisp":
        found = iter(holdall.lisp.load_all(path))
    elif format == "json":
        found = iter([_json(path)])
    elif format == "jsonl":
        found = _json_lines(path, progress)
    else:
        found = _pickles(path, as_records)
    for place, value in enumerate(found):
        if place >= start:
            yield value


def _documents(path: str, start: int, progress: Progress) -> Iterator[Any]:
    """Documents that are skipped aren't decoded."""
    at, size = 0, os.path.getsize(path)
    for place, document in enumerate(holdall.bson.documents(path, lazy=True)):
        if place >= start:
            try:
                value = document.load()
            except holdall.DecodeError as error:
                raise _moved(error, at) from None
            yield value
        at += len(document.raw)
        if progress is not None:
            progress(at, size)


def _moved(error: holdall.DecodeError, by: int) -> holdall.DecodeError:
    """The error with an offset from the start of the file instead of the document."""
    offset = getattr(error, "offset", None)
    if not by or offset is None:
        return error
    return located(type(error), str(error).removesuffix(f" - at byte {offset}"), offset + by)


def _msgpack(path: str, progress: Progress) -> Iterator[Any]:
    size = os.path.getsize(path)
    with holdall.msgpack.Reader(path, max_buffer=max(size, 1)) as reader:
        if not size:
            raise located(holdall.TruncatedError, "truncated: needs at least 1 more bytes", 0)
        for value in reader:
            yield value
            if progress is not None:
                progress(reader.offset, size)


def _pickles(path: str, as_records: bool) -> Iterator[Any]:
    from . import _unpickle

    with open(path, "rb") as file:
        yield from _unpickle.values(file.read(), records=as_records)


def _json(path: str) -> Any:
    with open(path, "rb") as file:
        return _parsed(file.read(), 0)


def _json_lines(path: str, progress: Progress) -> Iterator[Any]:
    at, size = 0, os.path.getsize(path)
    with open(path, "rb") as file:
        for line in file:
            if line.strip():
                yield _parsed(line, at)
            at += len(line)
            if progress is not None:
                progress(at, size)


def _parsed(data: bytes, at: int) -> Any:
    from . import _json as tagged

    try:
        text = data.decode("utf-8-sig")
        return tagged.restore(json.loads(text, parse_constant=_no_constant))
    except UnicodeDecodeError as error:
        raise located(holdall.DecodeError, "expected UTF-8, found something else", at + error.start) from None
    except json.JSONDecodeError as error:
        where = at + len(text[: error.pos].encode())
        hint = "; lines of JSON are `--from jsonl`" if error.msg == "Extra data" else ""
        raise located(holdall.DecodeError, f"not JSON: {_lower(error.msg)}{hint}", where) from None
    except RecursionError:
        raise located(holdall.DecodeError, "nested too deep for Python's JSON", at) from None
    except (TypeError, KeyError, IndexError, AttributeError, ArithmeticError):
        raise located(holdall.DecodeError, "a tag with content that it can't have", at) from None
    except ValueError as error:
        raise located(holdall.DecodeError, f"not JSON: {_lower(str(error))}", at) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"found {name}, which is no JSON")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def several(path: str, format: str, values: Iterator[Any]) -> tuple[bool, Iterator[Any]]:
    """Whether a file's values are records (of which there may be any number), and an iterator over all of
    them.
    """
    if format == "jsonl" or (format == "hold" and has_many(path, format)):
        return True, values
    first = list(islice(values, 2))
    return len(first) != 1, chain(first, values)


def has_many(path: str, format: str) -> bool:
    """The same without reading values; it doesn't know for pickles, which are read as a whole."""
    if format == "hold":
        return bool(_hold.file_kind(path) == "log")
    if format == "jsonl":
        return True
    if format == "bson":
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(4), "little", signed=True)
            return length != file.seek(0, os.SEEK_END)
    if format == "msgpack":
        return _first_ends(path) < os.path.getsize(path)
    return False


def _first_ends(path: str) -> int:
    """The end of the first MessagePack value, without building it."""
    with open(path, "rb") as file:
        data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.path.getsize(path) else b""
    at, _ = holdall._core.msgpack_scan(data, 0, 1)
    return at


def opened(path: str, format: str) -> Any:
    """A file that is read as its members are accessed, if its format allows that; else its value.

    Raises DecodeError, OSError like `records`.
    """
    if format == "hold" and _hold.file_kind(path) == "graph":
        return _hold.open(path, types=classes())
    if format in ("bson", "julia", "msgpack"):
        module: Any = getattr(holdall, format)
        return module.open(path)
    return next(records(path, format))


def is_document(value: Any) -> bool:
    return isinstance(value, _hold.Document)


def encoder(format: str) -> Callable[[Any], bytes]:
    """A function that encodes a value in a format in which values may follow each other.

    The function raises EncodeError if the format can't hold the value.
    """
    if format == "bson":
        return holdall.bson.Encoder().encode
    if format == "msgpack":
        return holdall.msgpack.Encoder().encode
    if format == "julia":
        return holdall.julia.dumps
    if format == "lisp":
        return holdall.lisp.dumps
    if format in ("json", "jsonl"):
        from ._json import Room, pieces

        room = Room()
        return lambda value: "".join(pieces(value, room)).encode() + b"\n"
    return holdall.dumps
