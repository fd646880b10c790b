"""Doors: every way in which a program takes bytes, for each format."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bson import errors as pymongo_errors  # PyMongo's; where it is imported, its values come back

import holdall
from holdall import _core, bson, julia, lisp, msgpack, safe_pickle
from holdall import pickle as hold_pickle
from holdall.msgpack import compat
from tests.complexity.family import Family, annotation
from tests.support import file_frames

PIECE = 1 << 16
SMALL_STACK = 512 << 10
OURS: tuple[type[BaseException], ...] = (holdall.HoldallError,)

# What fits any message of a format: unions are looked at, nothing is refused at its first value.
Scalar = int | float | str | bytes | bool | None
ANYTHING: dict[str, Any] = {
    "hold": Scalar | list[Any] | dict[Any, Any],
    "msgpack": Scalar | list[Any] | dict[Any, Any],
    "bson": dict[str, Scalar | list[Any] | dict[str, Any]],
    "julia": dict[str, Any],
    "lisp": Scalar | list[Any] | dict[Any, Any],
}

# The doors that the largest size goes through, unless all are asked for: they share what costs with the others.
MAIN = {"loads", "typed", "load", "reader", "decode"}

# Kept between the load and the moment when a value is freed on purpose.
Run = Callable[[], Any]


@dataclass(frozen=True)
class Door:
    """open: of the path of an input and its family, what is measured, as a function. wrap: how the input is made of the message.

    raises: what else than the library's errors may come. thread: in a thread whose stack is small, where it is freed, too.
    costs: how many times the bounds it may take.
    """

    name: str
    format: str
    open: Callable[[str, Family], Run]
    wrap: str = "message"
    raises: tuple[type[BaseException], ...] = ()
    thread: bool = False
    costs: float = 1.0

    def takes(self, family: Family) -> bool:
        if family.doors:
            return self.format == family.format and self.name in family.doors
        return self.format == family.format and (self.name != "lax" or family.type is not None)


DOORS: list[Door] = []


def door(
    *formats: str, name: str | None = None, **options: Any
) -> Callable[[Callable[[str, Family], Run]], Callable[[str, Family], Run]]:
    def register(open_: Callable[[str, Family], Run]) -> Callable[[str, Family], Run]:
        for one in formats:
            DOORS.append(Door(name or open_.__name__.strip("_").replace("_", " "), one, open_, **options))
        return open_

    return register


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


# --- how an input is made of a message ---
def as_file(message: bytes) -> bytes:
    """A file of hold's, with checksums that hold."""
    made = file_frames.forged(
        file_frames.MESSAGE_FILE, [file_frames.Frame(file_frames.MESSAGE, message)], padded=False
    )
    return made


def as_log(message: bytes) -> bytes:
    """A log of one record."""
    frames = [
        file_frames.Frame(file_frames.RESTART, bytes(16)),
        file_frames.Frame(file_frames.RECORD, b"\0\0" + message),
    ]
    return file_frames.forged(file_frames.LOG_FILE, frames)


WRAPS: dict[str, Callable[[bytes], bytes]] = {
    "message": lambda message: message,
    "file": as_file,
    "log": as_log,
}


# --- hold: messages ---
def formats_module(format: str) -> Any:
    return {"hold": holdall, "msgpack": msgpack, "bson": bson, "julia": julia, "lisp": lisp}[format]


def options(family: Family) -> dict[str, Any]:
    return {"types": family.types} if family.format == "hold" else {}


@door("hold", "msgpack", "bson", "julia", "lisp")
def loads(path: str, family: Family) -> Run:
    module, data = formats_module(family.format), read(path)
    return lambda: module.loads(data, **options(family))


@door("hold", "msgpack", "bson", "julia", "lisp", thread=True)
def small_stack(path: str, family: Family) -> Run:
    return loads(path, family)


@door("hold", "msgpack", "bson")
def decoder(path: str, family: Family) -> Run:
    module, data = formats_module(family.format), bytearray(read(path))
    decoder = module.Decoder(**options(family))
    return lambda: decoder.decode(data)


def _typed(path: str, family: Family, **more: Any) -> Run:
    module, data = formats_module(family.format), read(path)
    wanted = annotation(family)
    wanted = ANYTHING[family.format] if wanted is None else wanted
    return lambda: module.loads(data, type=wanted, **options(family), **more)


@door("hold", "msgpack", "bson", "julia", "lisp")
def typed(path: str, family: Family) -> Run:
    return _typed(path, family)


@door("hold", "msgpack", "bson")
def lax(path: str, family: Family) -> Run:
    return _typed(path, family, strict=False)


@door("hold")
def records(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: holdall.loads(data, types=holdall.Record)


@door("hold", name="repr", raises=(RecursionError,))
def repr_(path: str, family: Family) -> Run:
    """What a console shows of records. What it shows of lists is Python's own doing."""
    data = read(path)

    def run() -> Any:
        found = holdall.loads(data, types=holdall.Record)
        shown = found if isinstance(found, list | tuple) else [found]
        return [found, sum(len(repr(one)) for one in shown if isinstance(one, holdall.Record))]

    return run


# What is loaded may take 1,024 times its message, and these go over all of it again.
STORED = 3.0


@door("hold", "msgpack", "bson", "lisp", name="dumps again", costs=STORED)
def dumps_again(path: str, family: Family) -> Run:
    module, data = formats_module(family.format), read(path)
    more = {"types": holdall.Record} if family.format == "hold" else {}
    return lambda: [found := module.loads(data, **more), module.dumps(found)]


@door("hold", costs=STORED)
def deepcopy(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: [found := holdall.loads(data, types=family.types), holdall.deepcopy(found)]


@door("hold", name="pickle", raises=(pickle.UnpicklingError, EOFError))
def pickle_(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: hold_pickle.loads(data)


@door("hold", name="safe pickle", raises=(pickle.UnpicklingError, EOFError))
def safe_pickle_(path: str, family: Family) -> Run:
    data = read(path)
    module = safe_pickle.permitting(family.types) if family.types else safe_pickle
    return lambda: module.loads(data)


# --- documents ---
def walked(doc: Any) -> list[Any]:
    """Every member of a document, and all that is in each."""
    values = doc.values() if "array" not in repr(doc)[:40] and "list" not in repr(doc)[:40] else iter(doc)
    return [value.load() if isinstance(value, holdall.Document) else value for value in values]


def document_of(data: Any, family: Family) -> Any:
    return holdall.Document(data, format=family.format, **options(family))


@door("hold", "msgpack", "bson", "julia")
def document(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: document_of(data, family).load()


@door("hold", "msgpack", "bson", "julia", name="document walked", raises=(TypeError,))
def document_walked(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: walked(document_of(data, family))


@door("hold", "msgpack", "bson", "julia", name="document members", raises=(TypeError, KeyError, IndexError))
def document_members(path: str, family: Family) -> Run:
    """A few members: the first, the last, one that isn't there."""
    data = read(path)

    def run() -> Any:
        doc = document_of(data, family)
        found = []
        for key in (len(doc) - 1, 0, "a", "value", "no such key"):
            with contextlib.suppress(TypeError):  # a list has no such keys
                one = doc.get(key)
                found.append(one.load() if isinstance(one, holdall.Document) else one)
        return found

    return run


# --- hold: files ---
@door("hold", "file", name="load", wrap="file")
def load(path: str, family: Family) -> Run:
    return lambda: holdall.load(path, types=family.types)


@door("hold", "file", name="load stream", wrap="file")
def load_stream(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: holdall.load(Pieces(data), types=family.types)


@door("hold", "file", name="loads file", wrap="file")
def loads_file(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: holdall.loads(data, types=family.types)


@door("hold", "file", name="mmap", wrap="file")
def mmap(path: str, family: Family) -> Run:
    return lambda: holdall.load(path, mmap=True, types=family.types)


@door("hold", "file", name="open", wrap="file")
def open_(path: str, family: Family) -> Run:
    return lambda: holdall.open(path, types=family.types).load()


@door("hold", "file", name="open walked", wrap="file", raises=(TypeError,))
def open_walked(path: str, family: Family) -> Run:
    return lambda: walked(holdall.open(path, types=family.types))


@door("hold", "file", name="verify", wrap="file")
@door("log", name="verify")
def verify(path: str, family: Family) -> Run:
    return lambda: holdall.verify(path)


@door("hold", name="safe pickle load", wrap="file", raises=(pickle.UnpicklingError, EOFError))
def safe_pickle_load(path: str, family: Family) -> Run:
    return lambda: safe_pickle.load(open(path, "rb"))


class Pieces:
    """A file that can't seek, and gives little at a time."""

    def __init__(self, data: bytes, most: int = PIECE) -> None:
        self._data, self._at, self._most = memoryview(data), 0, most

    def read(self, size: int = -1) -> bytes:
        size = min(size, self._most) if size >= 0 else self._most
        part = bytes(self._data[self._at : self._at + size])
        self._at += len(part)
        return part


# --- hold: logs ---
@door("hold", name="log", wrap="log")
@door("log", name="reader")
def log(path: str, family: Family) -> Run:
    return lambda: list(holdall.Reader(path, types=family.types))


@door("hold", name="log skip", wrap="log")
@door("log", name="reader skip")
def log_skip(path: str, family: Family) -> Run:
    return lambda: list(holdall.Reader(path, repair="skip", types=family.types))


@door("log", name="reader fed")
def log_fed(path: str, family: Family) -> Run:
    data = read(path)

    def run() -> Any:
        reader, found = holdall.Reader(None, types=family.types), []
        for at in range(0, len(data), 4096):
            reader.feed(data[at : at + 4096])
            found += reader
        reader.end()
        return [*found, *reader]

    return run


@door("log", name="seek", raises=(IndexError, EOFError))
def log_seek(path: str, family: Family) -> Run:
    def run() -> Any:
        found = []
        for record in (1 << 40, 1_000, 0):
            with holdall.Reader(path, types=family.types) as reader:
                try:
                    reader.seek(record)
                    found.append(next(iter(reader), None))
                except (holdall.HoldallError, IndexError):
                    pass
        return found

    return run


@door("log", name="append")
def log_append(path: str, family: Family) -> Run:
    own = shutil.copy(path, path + ".own")

    def run() -> Any:
        with holdall.Writer(own, append=True, sync="never") as writer:
            return writer.write(1)

    return run


@door("log", name="repair")
def log_repair(path: str, family: Family) -> Run:
    own = shutil.copy(path, path + ".own")
    return lambda: holdall.verify(own, repair=True)


# --- MessagePack ---
@door("msgpack", name="reader")
def msgpack_reader(path: str, family: Family) -> Run:
    return lambda: list(msgpack.Reader(path, max_buffer=1 << 30))


@door("msgpack", name="reader fed")
def msgpack_fed(path: str, family: Family) -> Run:
    """In pieces that are small, as a socket gives them."""
    data = read(path)

    def run() -> Any:
        reader, found = msgpack.Reader(max_buffer=1 << 30), []
        for at in range(0, len(data), 1024):
            reader.feed(data[at : at + 1024])
            found += reader
        return found

    return run


@door("msgpack", name="load stream")
def msgpack_load(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: msgpack.load(io.BytesIO(data))


@door("msgpack", name="load peeking")
def msgpack_load_peeking(path: str, family: Family) -> Run:
    return lambda: msgpack.load(open(path, "rb"))


COMPAT = (ValueError, TypeError, compat.UnpackException)


@door("msgpack", name="compat", raises=COMPAT)
def compat_(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: compat.unpackb(data, strict_map_key=False)


@door("msgpack", name="compat hooks", raises=COMPAT)
def compat_hooks(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: compat.unpackb(data, strict_map_key=False, object_hook=dict, list_hook=list)


@door("msgpack", name="unpacker", raises=COMPAT)
def unpacker(path: str, family: Family) -> Run:
    data = read(path)

    def run() -> Any:
        unpacker, found = compat.Unpacker(strict_map_key=False, max_buffer_size=1 << 30), []
        for at in range(0, len(data), 1024):
            unpacker.feed(data[at : at + 1024])
            found += unpacker
        return found

    return run


# --- BSON ---
INVALID = (*OURS, pymongo_errors.InvalidBSON)


@door("bson", raises=INVALID)
def decode(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: bson.decode(data)


@door("bson", name="decode all", raises=INVALID)
def decode_all(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: bson.decode_all(data)


@door("bson", name="decode file iter", raises=INVALID)
def decode_file_iter(path: str, family: Family) -> Run:
    return lambda: list(bson.decode_file_iter(open(path, "rb")))


@door("bson")
def documents(path: str, family: Family) -> Run:
    return lambda: [found.load() for found in bson.documents(path, lazy=True)]


@door("bson", name="to json")
def to_json(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: bson.to_json(data)


# --- Julia ---
@door("julia", name="load mmap")
def julia_load(path: str, family: Family) -> Run:
    return lambda: julia.load(path, mmap=True)


@door("julia", name="open")
def julia_open(path: str, family: Family) -> Run:
    return lambda: walked(julia.open(path))


@door("lisp", name="open", raises=(TypeError,))
def lisp_open(path: str, family: Family) -> Run:
    return lambda: walked(lisp.open(path))


@door("lisp", name="outline")
def lisp_outline(path: str, family: Family) -> Run:
    data = read(path)
    return lambda: _core.outline(data, "lisp", depth=4, most=50)


@door("julia")
def parse(path: str, family: Family) -> Run:
    return lambda: julia.parse(path)


# --- the command line ---
SUFFIX = {
    "hold": "hold",
    "file": "hold",
    "log": "hold",
    "msgpack": "msgpack",
    "bson": "bson",
    "julia": "bson",
}


class CommandFailed(Exception):
    """It ended with a status that it has for nothing."""


def command(*words: str) -> Callable[[str, Family], Run]:
    def open_(path: str, family: Family) -> Run:
        from holdall._cli._app import holdall as main

        form = "julia" if family.format == "julia" else SUFFIX[family.format]
        given = [path if word == "IN" else word.replace("OUT", path + ".out") for word in words]
        if words[0] in ("cat", "get", "convert"):
            given += ["--from", form]

        def run() -> Any:
            try:
                main(given, prog_name="holdall")
            except SystemExit as left:
                if left.code not in (0, 1, 2, None):
                    raise CommandFailed(f"exit status {left.code}") from None
                return left.code

        return run

    return open_


# Python code looks at each value, and makes a piece of text for it; or lays out lines, or compares it with another.
PRINTED, LAID_OUT = 4.0, 8.0
COSTS = {
    "cat": LAID_OUT,
    "cat json": PRINTED,
    "get": LAID_OUT,
    "convert hold": STORED,
    "convert json": PRINTED,
    "convert msgpack": PRINTED,
    "diff": LAID_OUT,
}

for _name, _words in {
    "cat": ("cat", "IN"),
    "cat json": ("cat", "IN", "--json"),
    "get": ("get", "IN", "a"),
    "inspect": ("inspect", "IN"),
    "cli verify": ("verify", "IN"),
    "convert hold": ("convert", "IN", "OUT.hold", "--force"),
    "convert json": ("convert", "IN", "OUT.json", "--force"),
    "convert msgpack": ("convert", "IN", "OUT.msgpack", "--force"),
    "diff": ("diff", "IN", "IN"),
}.items():
    _formats = (
        "hold",
        "msgpack",
        "bson",
        "julia",
        *(("file", "log") if _name in ("cat", "inspect", "convert hold") else ()),
    )
    door(*_formats, name=_name, wrap="suffixed", costs=COSTS.get(_name, 1.0))(command(*_words))


def doors_of(family: Family) -> Iterator[Door]:
    for one in DOORS:
        if one.takes(family):
            yield one


def in_small_stack(work: Callable[[], None]) -> None:
    """In a thread, with as little stack as some platforms give theirs."""
    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()


def silent() -> None:
    """What commands print goes nowhere. In a process of its own: it stays so."""
    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")


def version() -> str:
    return _core.__version__
