"""Names of classes and fields that are odd text: what refuses them, and where."""

from __future__ import annotations

import dataclasses
import io
import pathlib
import sys
from typing import Any, Callable

import pytest

import holdall
import holdall.pickle
from tests.support import file_frames
from tests.support.file_frames import Frame
from tests.support.wire import TAG, integer, length, mark, message, sequence, sized, tag, text

# Text of one lone surrogate, in both forms.
UCS_2 = sized("UCS_2", 1, b"\x00\xd8")
UTF_8 = sized("UTF_8", 3, b"\xed\xa0\x80")


@dataclasses.dataclass
class Point:
    x: int = 0


def class_named(name: bytes, kind: str = "object", content: bytes = b"") -> bytes:
    """The shape of a class without fields, whose name is these bytes."""
    heads = bytes([getattr(TAG, f"KIND_{kind.upper()}")]) + length(1) + length(0) + length(len(name))
    return tag("CLASS", heads, name, content)


def in_file(data: bytes) -> bytes:
    return file_frames.forged(file_frames.MESSAGE_FILE, [Frame(file_frames.MESSAGE, data)])


DOORS: dict[str, Callable[[bytes], Any]] = {
    "loads": holdall.loads,
    "records": lambda data: holdall.loads(data, types=holdall.Record),
    "a module": lambda data: holdall.loads(data, types=sys.modules[__name__]),
    "a type": lambda data: holdall.loads(data, type=Point),
    "a type of anything": lambda data: holdall.loads(data, type=list[Any] | Point),
    "a union with records": lambda data: holdall.loads(data, type=Point | holdall.Record),
    "Decoder": lambda data: holdall.Decoder(type=dict).decode(data),
    "load": lambda data: holdall.load(io.BytesIO(data)),
    "trust": lambda data: holdall.loads(data, trust=True),
}


@pytest.mark.parametrize("name", [UCS_2, UTF_8], ids=["UCS_2", "UTF_8"])
@pytest.mark.parametrize("kind", ["object", "based", "enum", "custom"])
def test_a_class_name_with_a_lone_surrogate(name: bytes, kind: str) -> None:
    """The offset is where the names begin."""
    data = message(class_named(name, kind, b"" if kind == "object" else text("content")))
    for door, load in DOORS.items():
        with pytest.raises(holdall.DecodeError) as caught:
            load(data)
        assert (str(caught.value), caught.value.offset) == (
            "a class's name with a lone surrogate - at byte 6",
            6,
        ), door


def test_as_it_was_reported() -> None:
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(bytes.fromhex("c1c500010004b60100d8"))
    assert caught.value.offset == 6


def test_in_trusted_messages() -> None:
    data = bytes([0xD1]) + class_named(UCS_2)
    for load in (lambda data: holdall.loads(data, trust=True), holdall.pickle.loads):
        with pytest.raises((holdall.DecodeError, holdall.pickle.UnpicklingError), match="lone surrogate"):
            load(data)


def test_by_a_reference() -> None:
    """A text that was marked before is the name."""
    named = class_named(b"\xc1\x01")
    for options in ({}, {"types": holdall.Record}, {"type": list[Any]}):
        with pytest.raises(holdall.DecodeError, match="lone surrogate") as caught:
            holdall.loads(message(sequence(mark(UCS_2), named)), **options)
        assert caught.value.offset == 13


def test_in_files_and_lazily(tmp_path: pathlib.Path) -> None:
    data = in_file(message(sequence(integer(1), class_named(UCS_2))))
    path = tmp_path / "names.hold"
    path.write_bytes(data)
    for load in (holdall.load, lambda path: holdall.load(path, mmap=True), lambda path: holdall.loads(data)):
        with pytest.raises(holdall.DecodeError, match="lone surrogate") as caught:
            load(path)
        assert caught.value.offset == 16 + 9
    with holdall.open(path) as doc:
        assert doc.get(0) == 1
        with pytest.raises(holdall.DecodeError, match="lone surrogate"):
            doc.get(1, type=Any)


def test_names_of_fields_may_have_any_character() -> None:
    made = Point()
    setattr(made, "\ud800", 5)
    again = holdall.loads(holdall.dumps(made), types=Point)
    assert getattr(again, "\ud800") == 5
    record = holdall.loads(holdall.dumps(made), types=holdall.Record)
    assert record.fields["\ud800"] == 5


def test_register_refuses_such_names() -> None:
    class Unnamed:
        pass

    for options in ({"name": "x\ud800"}, {"aliases": ["a", "x\udfff"]}):
        with pytest.raises(holdall.HoldallError) as caught:
            holdall.register(Unnamed, **options)
        assert str(caught.value) == f"register: {next(iter(options))}: expected text without lone surrogates"
