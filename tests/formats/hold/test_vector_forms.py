"""The vectors of what needs more than a message: buffers, trusted messages, logs, limits. And that no tag or form is without one."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import holdall
import holdall.pickle
from tests.support import file_frames, page_tables, wire_files
from tests.support.each import each
from tests.support.file_frames import Frame
from tests.support.isomorphic import isomorphic
from tests.support.neutral import describe, relabel, show
from tests.support.page_tables import CODECS, FILES, FLAGS, FRAMES, KINDS, KNOWN, LENT, TAGS, VERSIONS
from tests.support.places import VECTORS
from tests.support.wire_reader import Malformed, Reader
from tests.vectors.cases import OBJECTS

Vector = dict[str, Any]


def vectors(group: str) -> list[Vector]:
    loaded = json.loads((VECTORS / f"{group}.json").read_text(encoding="ascii"))
    assert loaded["format"] == 1
    found: list[Vector] = loaded["vectors"]
    return found


def each_of(group: str, *, refused: bool = False) -> Any:
    return each(
        "vector", [one for one in vectors(group) if ("error" in one) == refused], ids=lambda one: one["name"]
    )


def unhex(texts: list[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in texts]


# --- they are read and refused ---


@each_of("numpy")
def test_numpy(vector: Vector) -> None:
    pytest.importorskip("numpy")
    data = bytes.fromhex(vector["bytes"])
    holdall.loads(data)
    assert show(Reader(data).message(), numbers=True) == vector["value"]
    if "fields" not in vector["name"] and vector["name"] not in ("array of no items", "array of objects"):
        assert show(describe(holdall.loads(data))) == relabel(vector["value"])


@each_of("buffers")
def test_buffers(vector: Vector) -> None:
    data, given = bytes.fromhex(vector["bytes"]), unhex(vector["buffers"])
    assert show(Reader(data).message(), numbers=True) == vector["value"]
    loaded = holdall.loads(data, buffers=given)
    isomorphic(loaded, given[0] if type(loaded) is not list else [given[0], given[1], given[1]])


@each_of("buffers", refused=True)
def test_refused_buffers(vector: Vector) -> None:
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(bytes.fromhex(vector["bytes"]), buffers=unhex(vector["buffers"]))
    assert caught.value.offset == vector["offset"]


class Unpickler(holdall.pickle.Unpickler):
    def persistent_load(self, pid: Any, /) -> Any:
        return pid


def stream(vector: Vector) -> tuple[Unpickler, int]:
    """The messages as one writer puts them into a stream, and how many there are."""
    messages = unhex([*vector["before"], vector["bytes"]])
    frames = [[Frame(file_frames.MESSAGE, message)] for message in messages]
    data = b"".join(file_frames.forged(file_frames.MESSAGE_FILE, one) for one in frames)
    return Unpickler(io.BytesIO(data)), len(messages)


@each_of("trusted")
def test_trusted(vector: Vector) -> None:
    reader = None
    for one in unhex([*vector["before"], vector["bytes"]]):
        reader = Reader(one, trust=True, before=reader)
        value = reader.message()
    assert show(value, numbers=True) == vector["value"]
    unpickler, count = stream(vector)
    for _ in range(count):
        unpickler.load()
    with pytest.raises(holdall.DecodeError, match="trusted message"):
        holdall.loads(bytes.fromhex(vector["bytes"]))


@each_of("trusted", refused=True)
def test_refused_trusted(vector: Vector) -> None:
    unpickler, count = stream(vector)
    for _ in range(count - 1):
        unpickler.load()
    with pytest.raises((holdall.DecodeError, holdall.pickle.UnpicklingError)):
        unpickler.load()


@each_of("logs")
def test_logs(vector: Vector) -> None:
    data = bytes.fromhex(vector["log"])
    with holdall.Reader(io.BytesIO(data), repair="skip", types=holdall.Record) as log:
        found = [show(describe(record)) for record in log]
        damaged = bool(log.damage)
    assert found == vector["records"]
    assert damaged == ("damaged" in vector["name"] or "torn" in vector["name"])


@each_of("logs", refused=True)
def test_refused_logs(vector: Vector) -> None:
    with pytest.raises(holdall.ChecksumError):
        list(holdall.Reader(io.BytesIO(bytes.fromhex(vector["log"]))))


@each_of("limits")
def test_limits(vector: Vector) -> None:
    data = b"".join(bytes.fromhex(text) * count for text, count in vector["runs"])
    if vector["read"]:
        holdall.loads(data)
        return
    with pytest.raises(holdall.DecodeError):
        holdall.loads(data)


# --- none is lacking ---


class Watch(Reader):
    """Notes what it meets: names of tags, and what stands in bytes after them."""

    def __init__(self, data: bytes, **options: Any) -> None:
        self.met: list[str] = []
        super().__init__(data, **options)
        self.met.insert(0, f"version 0x{data[0]:02X}")

    def u8(self) -> int:
        byte = super().u8()
        self.before = byte
        return byte

    def value(self, number: int | None = None) -> Any:
        if self.at < self.end:
            self.met.append(TAGS[self.data[self.at]][0])
        return super().value(number)

    def layout(self, tag: str) -> Any:
        if tag == "CLASS" and self.at < self.end:
            self.met.append(f"kind {self.data[self.at]}")
        return super().layout(tag)

    def name(self) -> str:
        met, self.met = self.met, []
        found = super().name()
        self.met = met
        return found

    def known(self, number: int | None) -> Any:
        if self.at < self.end:
            self.met.append(f"known {self.data[self.at]}")
        return super().known(number)

    def length(self) -> int:
        if self.at < self.end and self.data[self.at] >= 0xFC:
            self.met.append(f"length 0x{self.data[self.at]:02X}")
        return super().length()

    def buffer(self) -> Any:
        self.met.append(f"form {self.data[self.at]}" if self.at < self.end else "no form")
        return super().buffer()

    def code(self, tag: str, number: int | None) -> Any:
        if tag == "REDUCE" and self.at < self.end:
            self.met += [f"flag {flag}" for flag, _ in FLAGS if self.data[self.at] & flag]
        return super().code(tag, number)


def watched(vector: Vector) -> list[str]:
    """What a message's reader met, to where it stopped."""
    reader: Watch | None = None
    for one in unhex([*vector.get("before", []), vector["bytes"]]):
        if one[:1] and one[0] not in VERSIONS:
            return []
        try:
            reader = Watch(one, trust=True, before=reader)
            reader.message()
        except Malformed:
            pass
    return reader.met if reader else []


def messages(*, refused: bool) -> list[Vector]:
    groups = [*OBJECTS, "numpy", "buffers", "trusted", "invalid"]
    return [one for group in groups for one in vectors(group) if ("error" in one) == refused]


FORMS = {
    *(name for name, _ in TAGS.values() if name != "RESERVED"),
    *(f"version 0x{first:02X}" for first in VERSIONS),
    *(f"kind {kind}" for kind in KINDS),
    *(f"known {code}" for code in KNOWN),
    *(f"form {form}" for form in LENT if form < 2),
    *(f"flag {flag}" for flag, _ in FLAGS),
    *(f"length 0x{first:02X}" for first in (0xFC, 0xFD, 0xFE)),
}
# These are one byte, or say nothing that could be wrong.
WHOLE = {"NONE", "FALSE", "TRUE", "INT_FIX", "DICT_EMPTY", "ELLIPSIS", "NOT_IMPL"}
# What can be wrong only in what is around them.
WHOLE |= {form for form in FORMS if form.startswith(("version", "flag", "kind", "form"))}


def test_every_form_has_a_vector() -> None:
    met = {form for vector in messages(refused=False) for form in watched(vector)}
    assert FORMS - met == set()


def test_every_form_has_a_refused_vector() -> None:
    """One in which it is the last that is read."""
    lasts = set()
    for vector in messages(refused=True):
        met = watched(vector)
        # Values of a known type are wrong together, not by themselves.
        lasts |= set(met[-1:]) | {form for form in met if form.startswith("known")}
        lasts |= {
            form
            for form in met[-2:]
            if met and met[-1].startswith(("known", "length", "kind", "form", "flag", "no"))
        }
        if met and met[-1] in ("NONE", "TUPLE_FIX") and len(met) > 1:
            lasts |= {"KNOWN_TYPE", "REDUCE"} & set(met)
    assert FORMS - WHOLE - lasts == set()
    assert {one["bytes"] for one in messages(refused=True)} >= {"c1db", "c1fc"}


def test_every_kind_of_file_and_frame_has_a_vector() -> None:
    kinds, frames, codecs, forms = set(), set(), set(), set()
    for data, message in [
        *((one["file"], one["message"]) for one in vectors("files") if "message" in one),
        *((one["log"], "") for one in vectors("logs") if "records" in one),
    ]:
        file = bytes.fromhex(data)
        kinds.add(file[5])
        at = 8
        while at < len(file):
            try:
                frame = wire_files.frame_at(file, at)
            except Malformed:
                at += 1
                continue
            frames.add(frame.kind)
            codecs.add(frame.codec)
            at = frame.end
        if message:
            reader = Watch(bytes.fromhex(message))
            reader.message()
            forms |= set(reader.met)
    # Pages of an index are in files that are too large for a vector: `repository/test_format_page_files.py` makes one.
    assert (kinds, frames | {"PLACES"}, codecs) == (set(FILES), set(FRAMES.values()), set(CODECS.values()))
    assert {f"form {form}" for form in LENT if form >= 2} <= forms


def test_the_tables_are_those_of_the_source() -> None:
    """The page is generated from `tag.rs`, which is compared here once more: a row of one is a row of the other."""
    from tests.support.wire import TAG, TAG_RS

    source = TAG_RS.read_text(encoding="utf-8")
    assert sum(f" {name} " in source for name, _ in TAGS.values()) == 256
    assert all(getattr(TAG, name) in TAGS for name, _ in TAGS.values())
    assert len(TAG.known) == len(KNOWN) and len(page_tables.FLAGS) == 7
