"""`holdall.bson` by the names that every format has: documents in memory and in files. PyMongo is only beside it here."""

from __future__ import annotations

import datetime
import io
import pathlib
import subprocess
import sys
import textwrap
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import bson

UTC = datetime.timezone.utc


@dataclass
class Point:
    x: float
    y: float


def test_bytes_of_a_small_document():
    assert bson.dumps({"a": 1}) == b"\x0c\0\0\0\x10a\0\x01\0\0\0\0"
    assert bson.dumps({"a": [True, None]}) == b"\x14\0\0\0\x04a\0\x0c\0\0\0\x080\0\x01\x0a1\0\0\0"
    assert bson.loads(b"\x0c\0\0\0\x10a\0\x01\0\0\0\0") == {"a": 1}


@pytest.mark.parametrize("root", [1, "text", None, [1], (1, 2), {1, 2}, b"bytes", 1.5])
def test_a_root_that_is_no_document(root):
    with pytest.raises(holdall.EncodeError, match="^can't store a root that is no dict in this format$"):
        bson.dumps(root)


def test_roots_that_become_documents():
    assert bson.loads(bson.dumps(Point(1.0, 2.0))) == {"x": 1.0, "y": 2.0}
    assert bson.loads(bson.dumps(Point(1.0, 2.0)), type=Point) == Point(1.0, 2.0)


def test_cycles_say_where():
    inner: dict[str, Any] = {}
    inner["again"] = [inner]
    with pytest.raises(holdall.EncodeError, match="a container holds itself, which the format can't hold"):
        bson.dumps({"a": inner})
    # What is only shared is written twice.
    shared = {"x": 1}
    assert bson.loads(bson.dumps({"a": shared, "b": shared})) == {"a": shared, "b": shared}


def test_depth():
    deep: Any = {}
    for _ in range(50_000):
        deep = {"a": [deep]}
    data = bson.dumps(deep)
    found, depth = bson.loads(data), 0
    while found:
        found, depth = found["a"][0], depth + 1
    assert depth == 50_000
    with pytest.raises(holdall.LimitError, match="nested deeper than limits.depth=10"):
        bson.loads(data, limits=holdall.Limits(depth=10))


def test_datetimes_are_milliseconds_in_utc():
    east = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2026, 5, 1, 12, 30, 15, 123_999, tzinfo=east)
    found = bson.loads(bson.dumps({"m": moment}))["m"]
    assert found == datetime.datetime(2026, 5, 1, 10, 30, 15, 123_000, tzinfo=UTC) and found.tzinfo is UTC
    naive = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000)
    data = bson.dumps({"m": naive})
    assert bson.loads(data)["m"] == naive.replace(tzinfo=UTC)
    assert bson.loads(data, tz_aware=False)["m"] == naive
    assert bson.Decoder(tz_aware=False).decode(data)["m"].tzinfo is None


def test_hooks_and_coders():
    assert bson.loads(bson.dumps({"r": range(3)}, enc_hook=list)) == {"r": [0, 1, 2]}
    encoder, decoder = bson.Encoder(enc_hook=list), bson.Decoder(type=dict[str, tuple[int, ...]])
    data = encoder.encode({"r": range(3)})
    assert decoder.decode(data) == {"r": (0, 1, 2)}
    buffer = bytearray(b"head")
    assert encoder.encode_into({"r": range(3)}, buffer, 4) == 4 + len(data) and buffer == b"head" + data
    with pytest.raises(holdall.ValidationError) as caught:
        decoder.decode(bson.dumps({"r": [1, "two"]}))
    assert caught.value.path == ("r", 1) or caught.value.path == (..., 1)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_read(kind):
    assert bson.loads(kind(bson.dumps({"a": [1, "é"]}))) == {"a": [1, "é"]}


def test_left_over_and_missing_bytes():
    data = bson.dumps({"a": [1, {"b": "text"}]})
    for end in range(len(data)):
        with pytest.raises(holdall.DecodeError):
            bson.loads(data[:end])
    with pytest.raises(holdall.DecodeError, match="1 bytes left over after the message - at byte"):
        bson.loads(data + b"\0")


# --- files ---


def test_files(tmp_path):
    path = tmp_path / "one.bson"
    bson.dump({"a": 1}, path)
    assert bson.load(path) == {"a": 1}
    with pytest.raises(holdall.EncodeError):
        bson.dump({"a": 2**64}, path)
    assert bson.load(path) == {"a": 1}
    with open(path, "ab") as file:
        bson.dump({"b": 2}, file)
    with open(path, "rb") as file:
        assert [bson.load(file), bson.load(file, type=dict[str, int])] == [{"a": 1}, {"b": 2}]
        with pytest.raises(holdall.TruncatedError):
            bson.load(file)


class Chunks(io.RawIOBase):
    """Gives a byte at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.data.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize("lazy", [False, True])
def test_documents_of_a_dump(tmp_path, lazy):
    expected = [{"n": n, "text": "x" * n} for n in range(50)]
    data = b"".join(map(bson.dumps, expected))
    path = tmp_path / "dump.bson"
    path.write_bytes(data)
    for source in (path, str(path), io.BytesIO(data), Chunks(data)):
        found = bson.documents(source, lazy=lazy)
        assert [document.load() if lazy else document for document in found] == expected
    assert list(bson.documents(io.BytesIO(b""))) == []
    path.write_bytes(b"")
    assert list(bson.documents(path)) == []


@pytest.mark.parametrize(
    "tail", [b"\x05", b"\x05\0\0\0", b"\x04\0\0\0", b"\xff\xff\xff\xff", b"\x09\0\0\0\0"]
)
def test_a_dump_that_ends_badly(tmp_path, tail):
    good = bson.dumps({"n": 1})
    path = tmp_path / "dump.bson"
    path.write_bytes(good + tail)
    for source in (path, io.BytesIO(good + tail)):
        found = bson.documents(source)
        assert next(found) == {"n": 1}
        with pytest.raises(holdall.DecodeError):
            list(found)


# --- without PyMongo ---

WITHOUT = """
import sys
sys.modules["bson"] = None
import datetime, uuid
import holdall
from holdall import bson

value = {"a": [1, 2**40, 1.5, "é", None, True, b"x"], "b": {"c": uuid.UUID(int=5)}, "d": datetime.datetime(2026, 5, 1, tzinfo=datetime.timezone.utc)}
assert bson.loads(bson.dumps(value)) == value
assert bson.Document(bson.dumps(value))["b"]["c"] == uuid.UUID(int=5)
for act in (
    lambda: bson.loads(b"\\x14\\0\\0\\0\\x07a\\0xxxxxxxxxxxx\\0"),
    lambda: bson.loads(b"\\x18\\0\\0\\0\\x13a\\0xxxxxxxxxxxxxxxx\\0"),
    lambda: bson.loads(b"\\x08\\0\\0\\0\\x7fa\\0\\0"),
    lambda: bson.encode,
    lambda: bson.ObjectId,
    lambda: bson.to_json,
    lambda: bson.install,
):
    try:
        act()
    except ImportError as error:
        assert "holdall[bson]" in str(error), error
    else:
        raise AssertionError(act)
print("done")
"""


def test_without_pymongo(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(WITHOUT), encoding="utf-8")
    run = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_uuids_are_standard():
    one = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    data = bson.dumps({"u": one})
    assert data == b"\x1d\0\0\0\x05u\0\x10\0\0\0\x04" + one.bytes + b"\0"
    found = bson.loads(data)["u"]
    assert found == one and type(found) is uuid.UUID and found.is_safe is uuid.SafeUUID.unknown
    assert hash(found) == hash(one) and str(found) == str(one)
