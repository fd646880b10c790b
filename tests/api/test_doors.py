"""What every door says and takes alike: `type=None`, paths and data, and bytes of another format."""

from __future__ import annotations

import array
import asyncio
import bz2
import gzip
import inspect
import io
import lzma
import mmap
import os
import pickle
from pathlib import Path
from typing import Any, Callable

import pytest

import holdall
from holdall import bson, julia, lisp, msgpack
from tests.support.each import each

VALUE = {"a": [1, 2, {"b": None}]}
NONE = type(None)


def log_of(*records: Any) -> bytes:
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for record in records:
            log.write(record)
    return file.getvalue()


def file_of(value: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(value, file)
    return file.getvalue()


def of_stream(data: bytes, wanted: Any) -> Any:
    async def main() -> Any:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await holdall.aio.AsyncReader(stream, type=wanted).read()

    return asyncio.run(main())


# --- type=None ---

TYPED: dict[str, Callable[[Any, Any], Any]] = {
    "loads": lambda value, wanted: holdall.loads(holdall.dumps(value), type=wanted),
    "Decoder": lambda value, wanted: holdall.Decoder(type=wanted).decode(holdall.dumps(value)),
    "load": lambda value, wanted: holdall.load(io.BytesIO(file_of(value)), type=wanted),
    "load, mapped": lambda value, wanted: holdall.load(file_of(value), mmap=True, type=wanted),
    "Reader": lambda value, wanted: holdall.Reader(log_of(value), type=wanted).read(),
    "AsyncReader": lambda value, wanted: of_stream(log_of(value), wanted),
    "get": lambda value, wanted: holdall.open(holdall.dumps({"a": value})).get("a", type=wanted),
    "msgpack.loads": lambda value, wanted: msgpack.loads(msgpack.dumps(value), type=wanted),
    "msgpack.Decoder": lambda value, wanted: msgpack.Decoder(type=wanted).decode(msgpack.dumps(value)),
    "msgpack.load": lambda value, wanted: msgpack.load(io.BytesIO(msgpack.dumps(value)), type=wanted),
    "msgpack.Reader": lambda value, wanted: next(msgpack.Reader(msgpack.dumps(value), type=wanted)),
    "msgpack.get": lambda value, wanted: msgpack.open(msgpack.dumps({"a": value})).get("a", type=wanted),
    "bson.get": lambda value, wanted: bson.open(bson.dumps({"a": value})).get("a", type=wanted),
    "julia.get": lambda value, wanted: julia.open(julia.dumps({"a": value})).get("a", type=wanted),
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "open": lambda wanted: holdall.open(holdall.dumps(VALUE), type=wanted).load(),
    "Document": lambda wanted: holdall.Document(holdall.dumps(VALUE), type=wanted).load(),
    "msgpack.open": lambda wanted: msgpack.open(msgpack.dumps(VALUE), type=wanted).load(),
    "bson.loads": lambda wanted: bson.loads(bson.dumps(VALUE), type=wanted),
    "bson.Decoder": lambda wanted: bson.Decoder(type=wanted).decode(bson.dumps(VALUE)),
    "bson.load": lambda wanted: bson.load(io.BytesIO(bson.dumps(VALUE)), type=wanted),
    "bson.open": lambda wanted: bson.open(bson.dumps(VALUE), type=wanted).load(),
    "bson.documents": lambda wanted: next(bson.documents(bson.dumps(VALUE), type=wanted)),
    "julia.loads": lambda wanted: julia.loads(julia.dumps({"n": 1}), type=wanted),
    "julia.load": lambda wanted: julia.load(io.BytesIO(julia.dumps({"n": 1})), type=wanted),
    "julia.open": lambda wanted: julia.open(julia.dumps({"n": 1}), type=wanted).load(),
}


@each("door", TYPED)
@each("wanted", [None, NONE])
def test_type_none_is_the_type_of_none(door, wanted):
    assert TYPED[door](None, wanted) is None
    with pytest.raises(holdall.ValidationError, match="Expected `None`, got `int`"):
        TYPED[door](5, wanted)


@each("door", WHOLE)
@each("wanted", [None, NONE])
def test_no_document_is_none(door, wanted):
    with pytest.raises(holdall.ValidationError, match="Expected `None`, got `dict`"):
        WHOLE[door](wanted)


def test_any_is_what_leaving_it_out_means():
    for wanted in (Any, "Any"):
        for door, read in TYPED.items():
            assert read(5, wanted) == 5, door
        for door, whole in WHOLE.items():
            assert whole(wanted) in (VALUE, {"n": 1}), door
    # A member that is asked for without a type is a Document, of any type it is built.
    doc = holdall.open(holdall.dumps(VALUE))
    assert isinstance(doc.get("a"), holdall.Document) and isinstance(doc.get("a", type=...), holdall.Document)
    assert doc.get("a", type=Any) == VALUE["a"]


@each(
    "door",
    [
        holdall.loads, holdall.Decoder, holdall.load, holdall.open, holdall.Reader, holdall.Document,
        msgpack.loads, msgpack.Decoder, msgpack.load, msgpack.open, msgpack.Reader,
        bson.loads, bson.Decoder, bson.load, bson.open, bson.documents,
        julia.loads, julia.load, julia.open,
    ],
    ids=lambda door: f"{door.__module__}.{door.__qualname__}",
)  # fmt: skip
def test_signatures_say_so(door):
    assert inspect.signature(door).parameters["type"].default in (Any, "Any")
    assert inspect.signature(holdall.Document.get).parameters["type"].default is ...


# --- paths, data, file objects ---

LOADERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "hold": (holdall, holdall.dumps),
    "msgpack": (msgpack, msgpack.dumps),
    "bson": (bson, bson.dumps),
    "julia": (julia, julia.dumps),
}


@pytest.mark.parametrize("name", LOADERS)
def test_one_rule_for_all_modules(name, tmp_path):
    module, dumps = LOADERS[name]
    value = {"a": {"b": 1}}
    data = dumps(value)
    path = tmp_path / "file"
    path.write_bytes(data)
    buffers = [
        data, bytearray(data), memoryview(data), memoryview(b"__" + data + b"__")[2:-2], array.array("B", data)
    ]  # fmt: skip
    for given in (path, str(path), *buffers):
        assert module.load(given) == value
        with module.open(given) as doc:
            assert doc["a"]["b"] == 1 and doc.load() == value
            assert bytes(doc.raw) in data
    with open(path, "rb") as file:
        assert module.load(file) == value
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        # It has both: data, from its beginning.
        mapped.seek(3)
        assert module.load(mapped) == value
        with module.open(mapped) as doc:
            assert doc["a"]["b"] == 1
    with pytest.raises(TypeError):
        module.load(5)


@pytest.mark.parametrize("name", LOADERS)
def test_a_path_of_bytes_is_refused_by_name(name, tmp_path):
    module, dumps = LOADERS[name]
    path = tmp_path / "file"
    path.write_bytes(dumps({"a": 1}))
    for read in (module.load, module.open):
        with pytest.raises(holdall.DecodeError, match=r"never a path, which `os\.fsdecode` makes of them"):
            read(os.fsencode(path))
        assert read(os.fsdecode(os.fsencode(path))) is not None
        # What names no file is data like any other, of which `msgpack.open` looks at the first value alone.
        if read is not msgpack.open:
            with pytest.raises(holdall.DecodeError) as caught:
                read(b"/no/such/file")
            assert "fsdecode" not in str(caught.value)
    with pytest.raises(TypeError, match=r"got bytes: bytes are data and never a path, .*os\.fsdecode"):
        module.dump({"a": 1}, os.fsencode(path))
    with pytest.raises(TypeError, match="got bytearray"):
        module.dump({"a": 1}, bytearray())


def test_logs_and_checks_take_data_too():
    data = log_of(1, 2)
    for given in (data, bytearray(data), memoryview(data)):
        assert list(holdall.Reader(given)) == [1, 2]
        report = holdall.verify(given)
        assert report.ok and (report.kind, report.records) == ("log", 2)
        assert holdall.file_kind(given) == "log"
    assert list(msgpack.Reader(msgpack.dumps(1) + msgpack.dumps("two"))) == [1, "two"]
    two = bson.dumps({"n": 1}) + bson.dumps({"n": 2})
    assert [doc["n"] for doc in bson.documents(bytearray(two), lazy=True)] == [1, 2]
    with pytest.raises(TypeError, match="verify: expected a path, got bytes"):
        holdall.verify(data, repair=True)
    with pytest.raises(TypeError, match="file_kind: expected a path or bytes-like data, got int"):
        holdall.file_kind(5)
    with pytest.raises(TypeError, match="expected a path or a binary file object with write, got bytes"):
        holdall.Writer(b"events.log")


def test_what_is_no_data_is_sent_to_the_right_door(tmp_path):
    for door in (
        holdall.loads,
        msgpack.loads,
        bson.loads,
        julia.loads,
        holdall.Document,
        holdall.Decoder().decode,
    ):
        for given in ("model.hold", Path("model.hold"), io.BytesIO()):
            with pytest.raises(
                TypeError, match="`load` and `open` take paths, and `load` takes file objects"
            ):
                door(given)
        with pytest.raises(TypeError, match="expected bytes-like data, got `int`$"):
            door(5)
    for module in (holdall, msgpack, bson):
        with pytest.raises(TypeError, match="got BytesIO: `load` takes file objects"):
            module.open(io.BytesIO())


def test_views_of_data(tmp_path):
    np = pytest.importorskip("numpy")
    numbers = np.arange(5000)
    data = file_of({"x": numbers})
    for read in (
        lambda mode: holdall.load(data, mmap=mode)["x"],
        lambda mode: holdall.open(data, mmap=mode)["x"],
    ):
        seen = read(True)
        assert np.shares_memory(seen, np.frombuffer(data, np.uint8)) and not seen.flags.writeable
        copied = read("copy")
        copied[0] = 7
        assert copied.flags.writeable and holdall.loads(data)["x"][0] == 0
    told: list[tuple[int, int]] = []
    assert (holdall.load(data, progress=lambda done, total: told.append((done, total)))["x"] == numbers).all()
    assert told == [(len(data), len(data))]


# --- bytes of another format ---

# 193, 209 and 640 bytes: their lengths begin as messages of hold and pickles do.
LONG = {size: bson.dumps({"a": "x" * (size - 13)}) for size in (193, 209, 640)}
FORMATS: dict[str, tuple[bytes, str]] = {
    "message": (holdall.dumps(VALUE), "this is a hold message, which holdall.loads reads"),
    "file": (file_of(VALUE), "this is a hold file, which holdall.load reads"),
    "log": (log_of(1), "this is a log of hold records, which holdall.Reader reads"),
    "bson": (bson.dumps(VALUE), "this looks like BSON, which holdall.bson reads"),
    **{
        f"bson {size}": (data, "this looks like BSON, which holdall.bson reads")
        for size, data in LONG.items()
    },
    "julia": (julia.dumps({"t": (1, 2)}), "this looks like BSON of Julia's, which holdall.julia reads"),
    "lisp": (
        lisp.dumps(VALUE),
        "this looks like a file of Common Lisp's cl-binary-store, which holdall.lisp reads",
    ),
    "lisp, version": (
        lisp.dumps(1, version=True),
        "this looks like a file of Common Lisp's cl-binary-store, which holdall.lisp reads",
    ),
    "msgpack": (msgpack.dumps(VALUE), "this looks like MessagePack, which holdall.msgpack reads"),
    "json": (b'{"a": [1, 2]}', "this looks like JSON"),
    **{
        f"pickle {protocol}": (
            pickle.dumps(VALUE, protocol),
            "this looks like a pickle, which runs code where it is loaded; `holdall convert` reads it as data",
        )
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "gzip": (gzip.compress(holdall.dumps(VALUE)), "this is compressed by gzip: unpack it first"),
    "bzip2": (bz2.compress(b"a"), "this is compressed by bzip2: unpack it first"),
    "xz": (lzma.compress(b"a"), "this is compressed by xz: unpack it first"),
    "zstd": (b"\x28\xb5\x2f\xfd\x00", "this is compressed by zstd: unpack it first"),
    "parquet": (b"PAR1\x15\x04\x15\x10", "this is a Parquet file"),
}
# As pickle's, its functions take no notice of what follows a message: these bytes begin with a whole one.
BEGIN_LIKE_HOLD = {"bson 193", "bson 209"}
HOLD, BSON = {"message", "file", "log"}, {"bson", "julia", *(f"bson {size}" for size in LONG)}
READERS: dict[str, tuple[Callable[[bytes], Any], set[str]]] = {
    "loads": (holdall.loads, HOLD),
    "Decoder": (holdall.Decoder().decode, HOLD),
    "load": (holdall.load, HOLD),
    "load a file object": (lambda data: holdall.load(io.BytesIO(data)), HOLD),
    "load, mapped": (lambda data: holdall.load(data, mmap=True), HOLD),
    "open": (holdall.open, HOLD),
    "Reader": (lambda data: list(holdall.Reader(data)), HOLD),
    "pickle.loads": (holdall.pickle.loads, HOLD | BEGIN_LIKE_HOLD),
    "pickle.load": (lambda data: holdall.pickle.load(io.BytesIO(data)), HOLD | BEGIN_LIKE_HOLD),
    "msgpack.loads": (msgpack.loads, {"msgpack"}),
    "msgpack.Decoder": (msgpack.Decoder().decode, {"msgpack"}),
    "msgpack.load": (msgpack.load, {"msgpack"}),
    "typed msgpack.loads": (lambda data: msgpack.loads(data, type=dict[str, Any]), {"msgpack"}),
    "bson.loads": (bson.loads, BSON),
    "bson.Decoder": (bson.Decoder().decode, BSON),
    "bson.load": (bson.load, BSON),
    "bson.open": (bson.open, BSON),
    "bson.documents": (lambda data: list(bson.documents(data)), BSON),
    "lisp.loads": (lisp.loads, {"lisp", "lisp, version"}),
    "lisp.load": (lisp.load, {"lisp", "lisp, version"}),
    "lisp.load_all": (lisp.load_all, {"lisp", "lisp, version"}),
    "julia.loads": (julia.loads, BSON),
    "julia.load": (julia.load, BSON),
    "julia.open": (julia.open, BSON),
    "julia.parse": (julia.parse, BSON),
}


@each("reader", READERS)
def test_another_format_is_named(reader):
    read, own = READERS[reader]
    for name, (data, clause) in FORMATS.items():
        if name in own:
            continue
        with pytest.raises((holdall.DecodeError, pickle.UnpicklingError)) as caught:
            read(data)
        assert f"; {clause}" in str(caught.value), name
        if isinstance(caught.value, holdall.DecodeError):
            assert isinstance(caught.value.offset, int)


def test_the_names_of_other_libraries_say_it_too():
    from holdall.msgpack import compat

    for name in ("message", "bson 193"):
        with pytest.raises(ValueError, match="; this "):
            compat.unpackb(FORMATS[name][0])
    theirs = pytest.importorskip("bson")
    for name, (data, clause) in FORMATS.items():
        if name not in BSON:
            for decode in (bson.decode, bson.decode_all):
                with pytest.raises(theirs.InvalidBSON) as caught:
                    decode(data)
                assert clause in str(caught.value), name


def test_hold_files_find_their_reader():
    for read in (holdall.loads, holdall.load, holdall.open):
        with pytest.raises(holdall.DecodeError, match=r"read it with holdall\.Reader"):
            read(FORMATS["log"][0])
    with pytest.raises(holdall.DecodeError, match=r"load it with holdall\.load"):
        list(holdall.Reader(FORMATS["file"][0]))
    with pytest.raises(
        holdall.DecodeError, match=r"this is a hold message, which holdall\.loads reads - at byte 0"
    ):
        list(holdall.Reader(FORMATS["message"][0]))


def test_what_is_only_damaged_is_not_named_otherwise():
    cases: list[tuple[Callable[[bytes], Any], bytes]] = [
        (holdall.loads, holdall.dumps(VALUE)),
        (holdall.load, file_of(VALUE)),
        (lambda data: list(holdall.Reader(data)), log_of(1)),
        (msgpack.loads, msgpack.dumps(VALUE)),
        (bson.loads, bson.dumps(VALUE)),
        (julia.loads, julia.dumps({"t": (1, 2)})),
        (lisp.loads, lisp.dumps(VALUE)),
        (lisp.loads, lisp.dumps(list(range(50)))),
    ]
    for read, data in cases:
        for cut in range(1, len(data)):
            try:
                read(data[:cut])
            except holdall.DecodeError as error:
                assert "this is" not in str(error) and "looks like" not in str(error), data[:cut]
            else:
                assert data == log_of(1)  # without its last frames a log is whole
    # Well formed, and not what was asked for: no matter what it could be elsewhere.
    with pytest.raises(holdall.ValidationError, match=r"^Expected `str`, got `int`$"):
        msgpack.loads(b"1", type=str)


def test_streams_say_it_where_they_begin():
    for data, name in ((FORMATS["message"][0], "hold message"), (LONG[193], "BSON")):
        with pytest.raises(holdall.DecodeError, match=name):
            list(msgpack.Reader(io.BytesIO(data)))
        with pytest.raises(holdall.DecodeError, match=name):
            msgpack.load(io.BytesIO(data))
    report = holdall.verify(FORMATS["json"][0])
    assert report.damage[0].reason.endswith("; this looks like JSON")


# --- Document ---


def test_documents_guess_their_format():
    for dumps in (holdall.dumps, file_of, bson.dumps, msgpack.dumps):
        doc = holdall.Document(dumps(VALUE))
        assert doc["a"][2].load() == {"b": None} and doc.load() == VALUE
    for size, data in LONG.items():
        assert holdall.Document(data).load() == {"a": "x" * (size - 13)}
    # What a document holds does not decide how it is read.
    data = julia.dumps({"t": (1, 2)})
    assert holdall.Document(data).load() == bson.loads(data) == {"t": {"tag": "tuple", "data": [1, 2]}}
    assert holdall.Document(data, format="julia").load() == {"t": (1, 2)}


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in HOLD | BSON | {"msgpack"}])
def test_what_no_document_is_is_named(name):
    data, clause = FORMATS[name]
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.Document(data)
    assert str(caught.value) == f"{clause} - at byte 0" and caught.value.offset == 0


def test_what_looks_like_nothing_needs_a_format():
    for data in (b"", b"no format", msgpack.dumps(5), bson.dumps(VALUE)[:-1]):
        with pytest.raises(holdall.DecodeError, match="say which `format` they have"):
            holdall.Document(data)
    with pytest.raises(holdall.TruncatedError):
        holdall.Document(bson.dumps(VALUE)[:-1], format="bson")
