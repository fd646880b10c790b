"""`Seal`: what holds by it and what does not, of messages, files and logs; what a key may be; the vectors."""

from __future__ import annotations

import copy
import io
import json
import os
import pathlib
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

import holdall
from holdall import Seal, SealError
from tests.support import seals as by_hand
from tests.support.each import each
from tests.support.places import VECTORS

KEY = bytes(range(1, 33))
OTHER = bytes(range(2, 34))
SEAL = Seal(KEY)
VALUE = {"a": [1, 2.5, "text"], "b": b"bytes"}


def reading(data: bytes, seal: Seal, **options: Any) -> list[Any]:
    """What each door makes of a sealed message."""
    file = io.BytesIO(data)
    return [
        holdall.loads(data, seal=seal, **options),
        holdall.loads(bytearray(data), seal=seal, **options),
        holdall.loads(memoryview(data), seal=seal, **options),
        holdall.Decoder(seal=seal, **options).decode(data),
        holdall.load(data, seal=seal, **options),
        holdall.load(file, seal=seal, **options),
    ]


DOORS: dict[str, Callable[[bytes], Any]] = {
    "loads": lambda data: holdall.loads(data, seal=SEAL),
    "Decoder": lambda data: holdall.Decoder(seal=SEAL).decode(data),
    "load": lambda data: holdall.load(data, seal=SEAL),
    "load, file object": lambda data: holdall.load(io.BytesIO(data), seal=SEAL),
    "load, mmap": lambda data: holdall.load(data, seal=SEAL, mmap=True),
    "open": lambda data: holdall.open(data, seal=SEAL).load(),
    "unwrap": lambda data: SEAL.unwrap(data),
}


def test_every_writer_gives_what_every_reader_takes() -> None:
    file, buffer = io.BytesIO(), bytearray(b"before")
    holdall.dump(VALUE, file, seal=SEAL)
    end = holdall.Encoder(seal=SEAL).encode_into(VALUE, buffer, 6)
    assert end == len(buffer)
    for data in (
        holdall.dumps(VALUE, seal=SEAL),
        holdall.Encoder(seal=SEAL).encode(VALUE),
        bytes(buffer[6:]),
        file.getvalue(),
    ):
        assert reading(data, SEAL) == [VALUE] * 6
        assert holdall.open(data, seal=SEAL).load() == VALUE
        assert bytes(SEAL.unwrap(data)) == data[26:]


@each("change", range(33), ids=str)
def test_each_changed_byte_is_noticed(change: int) -> None:
    data = bytearray(holdall.dumps({"a": 1}, seal=SEAL))
    data[change] ^= 1 << change % 8
    for name, door in DOORS.items():
        if name == "load, file object" and 21 <= change < 26:
            continue  # a file object may have more, or less, than one payload
        with pytest.raises(SealError):
            door(bytes(data))
    with pytest.raises(holdall.DecodeError):
        holdall.load(io.BytesIO(data), seal=SEAL)


@each("length", range(33), ids=str)
def test_each_prefix_is_refused(length: int) -> None:
    data = holdall.dumps({"a": 1}, seal=SEAL)[:length]
    for door in DOORS.values():
        with pytest.raises(holdall.DecodeError):
            door(data)
    with pytest.raises(SealError, match="^what is sealed is longer than it says"):
        holdall.loads(holdall.dumps({"a": 1}, seal=SEAL) + b"x", seal=SEAL)


@each("data", [holdall.dumps(1), holdall.dumps(print, trust=True), pickle.dumps([1]), b"", b"\xf2"], ids=repr)
def test_what_is_not_sealed_is_not_read(data: bytes) -> None:
    for options in ({}, {"trust": True}):
        with pytest.raises(SealError, match=r"^not sealed - at byte 0$") as raised:
            holdall.loads(data, seal=SEAL, **options)  # type: ignore[call-overload]
        assert raised.value.offset == 0


def test_nothing_is_read_before_the_check_holds() -> None:
    called: list[str] = []

    class Loud:
        def __reduce__(self) -> Any:
            return called.append, ("read",)

    registered = holdall.pickle.dumps([1])
    assert registered
    data = bytearray(holdall.dumps(called.append, trust=True, seal=SEAL, enc_hook=lambda _: None))
    data[-1] ^= 1
    with pytest.raises(SealError):
        holdall.loads(bytes(data), trust=True, seal=SEAL)
    # A limit that any content would exceed is not even come to.
    with pytest.raises(SealError):
        holdall.loads(bytes(data), seal=SEAL, limits=holdall.Limits(objects=0))


def test_other_keys_and_contexts() -> None:
    data = holdall.dumps(VALUE, seal=SEAL)
    with pytest.raises(
        SealError, match="^sealed with a key that is not among those of this seal - at byte 1$"
    ):
        holdall.loads(data, seal=Seal(OTHER))
    with pytest.raises(
        SealError, match="^the seal does not hold: the bytes were changed, or sealed for another"
    ):
        holdall.loads(data, seal=Seal(KEY, context="sessions"))
    assert holdall.loads(data, seal=Seal(KEY, context="")) == VALUE
    rotated = Seal(OTHER, old_keys=[KEY])
    assert holdall.loads(data, seal=rotated) == VALUE
    newer = holdall.dumps(VALUE, seal=rotated)
    assert newer[1:5] == Seal(OTHER).id
    with pytest.raises(SealError):
        holdall.loads(newer, seal=SEAL)
    assert holdall.loads(newer, seal=Seal(bytes(range(3, 35)), old_keys=[KEY, OTHER])) == VALUE
    # Keys that happen to have one id are told apart by the check.
    both = Seal(OTHER, old_keys=[KEY])
    both._known[SEAL.id] = [*Seal(OTHER)._known[Seal(OTHER).id], *both._known[SEAL.id]]
    assert holdall.loads(data, seal=both) == VALUE


def test_an_unsealed_reader_says_what_it_is() -> None:
    for data in (holdall.dumps(1, seal=SEAL), holdall.dumps(print, trust=True, seal=SEAL)):
        with pytest.raises(holdall.DecodeError, match="if this is sealed, `seal=` opens it"):
            holdall.loads(data, trust=True)


@each(
    ("key", "error"),
    [
        (b"", "at least 16 bytes, got 0"), (b"a" * 15, "at least 16 bytes"), (bytes(32), "fewer than 5 different bytes"),
        (b"abcd" * 8, "fewer than 5"), ("", "at least 32 characters, got 0"), ("k3y-" * 7, "at least 32 characters"),
        ("ab" * 30, "fewer than 5 different characters"), (None, "expected bytes or text, got NoneType"), (5, "got int"),
    ],
    ids=repr,
)  # fmt: skip
def test_keys_that_are_refused(key: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        Seal(key)
    with pytest.raises((TypeError, ValueError), match=f"^old_keys: .*{error}"):
        Seal(KEY, old_keys=[key])


def test_keys_that_are_taken() -> None:
    text = "a secret of thirty-two characters"
    for key in (KEY, KEY[:16], bytearray(KEY), text, Seal.new_key()):
        assert holdall.loads(holdall.dumps(1, seal=Seal(key)), seal=Seal(key)) == 1
    assert holdall.loads(holdall.dumps(1, seal=Seal(text)), seal=Seal(text.encode())) == 1
    assert Seal.new_key() != Seal.new_key()
    for wrong in ({"old_keys": KEY}, {"old_keys": text}, {"context": 5}):
        with pytest.raises(TypeError):
            Seal(KEY, **wrong)  # type: ignore[arg-type]


@each("wrong", [False, 0, "", KEY, object()], ids=repr)
def test_what_is_no_seal_is_refused_by_every_door(wrong: Any, tmp_path: pathlib.Path) -> None:
    for call in (
        lambda: holdall.dumps(1, seal=wrong), lambda: holdall.loads(holdall.dumps(1), seal=wrong), lambda: holdall.Encoder(seal=wrong),
        lambda: holdall.Decoder(seal=wrong), lambda: holdall.dump(1, io.BytesIO(), seal=wrong),
        lambda: holdall.load(io.BytesIO(holdall.dumps(1)), seal=wrong), lambda: holdall.open(holdall.dumps(1), seal=wrong),
        lambda: holdall.Writer(io.BytesIO(), seal=wrong), lambda: holdall.Reader(b"", seal=wrong),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"^seal: expected a holdall\.Seal or None, got "):
            call()


def test_a_seal_shows_and_stores_no_key() -> None:
    seal = Seal(KEY, context="sessions", old_keys=[OTHER])
    assert repr(seal) == f"Seal(<secret {seal.id.hex()}>, context='sessions', old_keys=<1>)"
    for store in (
        pickle.dumps, copy.deepcopy, copy.copy, holdall.pickle.dumps, holdall.deepcopy, lambda seal: holdall.dumps(seal, trust=True),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="holds secret keys"):
            store(seal)
    for refuse in (holdall.dumps, holdall.msgpack.dumps, lambda seal: holdall.bson.dumps({"a": seal})):
        with pytest.raises(holdall.EncodeError):
            refuse([seal] if refuse is holdall.dumps else seal)
    with pytest.raises(TypeError, match="subclassed"):
        type("Weaker", (Seal,), {})


def test_buffers_out_of_band_are_refused() -> None:
    for call in (
        lambda: holdall.dumps(VALUE, seal=SEAL, buffers=[]),
        lambda: holdall.loads(holdall.dumps(VALUE, seal=SEAL), seal=SEAL, buffers=[]),
        lambda: holdall.Encoder(seal=SEAL).encode(VALUE, []),
        lambda: holdall.Decoder(seal=SEAL).decode(holdall.dumps(VALUE, seal=SEAL), []),
    ):
        with pytest.raises(ValueError, match="^seal: buffers out of band would not be covered"):
            call()


@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
@pytest.mark.parametrize("sync", [True, False])
def test_files(tmp_path: pathlib.Path, compress: Any, sync: bool) -> None:
    import numpy as np

    path = tmp_path / "file.hold"
    value = {"array": np.arange(100_000.0), "text": "t" * 10}
    holdall.dump(value, path, seal=SEAL, compress=compress, sync=sync)
    assert holdall.load(path, seal=SEAL)["array"].tobytes() == value["array"].tobytes()
    for mapped in (True, "copy"):
        array = holdall.load(path, seal=SEAL, mmap=mapped)["array"]
        assert (array == value["array"]).all() and array.flags.aligned
        assert array.flags.writeable == (mapped == "copy" or compress is not None)
    with holdall.open(path, seal=SEAL) as doc:
        assert doc["text"] == value["text"]
    data = bytearray(path.read_bytes())
    assert by_hand.sealed(KEY, "", bytes(data[26:])) == data
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    for door in (holdall.load, holdall.open):
        with pytest.raises(SealError):
            door(path, seal=SEAL)


def test_a_failed_dump_leaves_the_old_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.hold"
    holdall.dump("old", path, seal=SEAL)
    with pytest.raises(holdall.EncodeError):
        holdall.dump(lambda: None, path, seal=SEAL)
    assert holdall.load(path, seal=SEAL) == "old" and os.listdir(tmp_path) == ["file.hold"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_and_a_stream_of_several(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=holdall.dump, args=(VALUE, pipe), kwargs={"seal": SEAL})
    thread.start()
    with open(pipe, "rb") as file:
        assert holdall.load(file, seal=SEAL) == VALUE
    thread.join()
    several = io.BytesIO()
    for number in range(3):
        holdall.dump(number, several, seal=SEAL)
    several.seek(0)
    assert [holdall.load(several, seal=SEAL) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(holdall.TruncatedError):
        holdall.load(several, seal=SEAL)
    claims = io.BytesIO(bytes(several.getvalue()[:21]) + b"\xff" * 5)  # a TiB, of which nothing is there
    with pytest.raises(SealError, match="cut short"):
        holdall.load(claims, seal=SEAL)


def vectors(kind: str) -> list[Any]:
    loaded = json.loads((VECTORS / "seals.json").read_text(encoding="ascii"))["vectors"]
    return [pytest.param(one, id=one["name"]) for one in loaded if kind in one]


@each("vector", vectors("sealed"))
def test_vectors_of_payloads(vector: dict[str, Any]) -> None:
    seal = Seal(bytes.fromhex(vector["key"]), context=vector["context"])
    sealed, payload = bytes.fromhex(vector["sealed"]), bytes.fromhex(vector["payload"])
    assert seal.wrap(payload) == sealed
    assert bytes(seal.unwrap(sealed)) == payload


@each("vector", vectors("log"))
def test_vectors_of_logs(vector: dict[str, Any]) -> None:
    seal = Seal(bytes.fromhex(vector["key"]), context=vector["context"])
    reader = holdall.Reader(
        bytes.fromhex(vector["log"]), seal=seal, repair=None if vector["closed"] else "stop"
    )
    assert list(reader) == [{"n": number} for number in range(vector["records"])]
    assert len(reader.damage) == (not vector["closed"])


def test_hmac_by_hand_is_the_known_one() -> None:
    # RFC 4231, case 2.
    assert (
        by_hand.mac(b"Jefe", b"what do ya want for nothing?")
        .hex()
        .startswith("5bdcc146bf60754e6a042426089575c7")
    )
    assert re.fullmatch("[0-9a-f]{64}", by_hand.mac(b"k" * 100, b"").hex())
