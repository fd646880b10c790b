"""docs/format.md says enough: a reader written from it alone finds in the bytes what holdall finds in them."""

from __future__ import annotations

import array
import io
from typing import Any

import pytest

import holdall
import holdall.pickle
from tests.support import file_frames, wire_reader
from tests.support.each import each
from tests.support.kinds import KINDS, Kind
from tests.support.neutral import describe, show


def compare(data: bytes, **options: Any) -> None:
    read = show(wire_reader.Reader(data).message())
    loaded = show(describe(holdall.loads(data, types=holdall.Record, **options)))
    assert read == loaded


@each("kind", KINDS, ids=lambda kind: kind.name)
@each("options", [{}, {"canonical": True}, {"refs": False}, {"intern": True}], ids=str)
def test_the_page_reads_every_kind(kind: Kind, options: dict[str, bool]) -> None:
    obj = kind.make()
    try:
        data = holdall.dumps(obj, **options)
    except holdall.EncodeError:
        assert (options == {"refs": False} and "cyclic" in kind.name) or kind.name == "exception chain", (
            kind.name
        )
        return
    compare(data)


@each("kind", KINDS, ids=lambda kind: kind.name)
@each("compress", [None, "lz4"])
def test_the_page_reads_files(kind: Kind, compress: Any) -> None:
    # A cousin that is large enough to stand outside the message, and one that just isn't.
    obj = [kind.make(), bytes(4096), bytearray(5000), b"x" * 4095, array.array("d", range(512))]
    file = io.BytesIO()
    try:
        holdall.dump(obj, file, compress=compress)
    except holdall.EncodeError:
        assert kind.name == "exception chain"
        return
    data = file.getvalue()
    assert len(file_frames.parse(data)[0].buffers) >= 3
    assert show(file_frames.described(data)) == show(describe(holdall.loads(data, types=holdall.Record)))


@pytest.mark.parametrize("size", [0, 1, 3, 4, 8, 9, 16, 17, 64, 65, 128, 129, 240, 241, 1024, 1025, 5000])
def test_checksums_of_every_length(size: int) -> None:
    """Each of ours is found by the other's, and the other way round."""
    data = bytes(number * 7 % 251 for number in range(size))
    file = io.BytesIO()
    holdall.dump([data], file)
    made, _ = file_frames.parse(file.getvalue())
    assert made.buffers == ([data] if size >= 4096 else [])
    # A tag that means nothing: what is refused is the message, not the frame.
    message = file_frames.Frame(file_frames.MESSAGE, b"\xc1\xda" + data)
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(file_frames.forged(file_frames.MESSAGE_FILE, [message]))
    assert not isinstance(caught.value, holdall.ChecksumError)


class Reduced:
    def __reduce__(self) -> Any:
        return list, ((1, 2),), None, iter([3])


class Counted(Reduced):
    def __reduce__(self) -> Any:
        return Counted, (), {"count": 5}


def trusted(obj: object) -> Any:
    data = holdall.dumps(obj, trust=True)
    with pytest.raises(wire_reader.Malformed, match="trusted"):
        wire_reader.Reader(data)
    return show(wire_reader.Reader(data, trust=True).message())


def test_the_page_reads_trusted_messages() -> None:
    assert trusted(len) == {"global": ["builtins", "len"]}
    made = {
        "reduce": 4,
        "values": [{"global": ["builtins", "list"]}, {"tuple": [{"tuple": [1, 2]}]}, {"list": [3]}],
    }
    assert trusted(Reduced()) == made
    name = {"global": [__name__, "Counted"]}
    state = {"dict": [["count", 5]]}
    assert trusted(Counted()) == {"reduce": 16, "values": [name, {"tuple": []}, state]}


class Plain:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


def test_the_page_reads_messages_that_go_on_with_others() -> None:
    file, inner = io.BytesIO(), Plain([1])
    pickler = holdall.pickle.Pickler(file)
    values: list[Any] = [
        {"inner": inner, "n": 1},
        inner,
        7,
        "text",
        [inner, {"inner": "x", "n": 2}],
        Plain(inner),
    ]
    for value in values:
        pickler.dump(value)
    at, messages = 0, []
    while at < len(file.getvalue()):
        parsed, at = file_frames.parse(file.getvalue(), at)
        messages.append(parsed.message)
    before, read = None, []
    for data in messages:
        before = wire_reader.Reader(data, trust=True, before=before)
        read.append(before.message())
    assert read[1].kind == "class"
    assert read[4].parts[0] is read[1]
    assert read[5].parts[0][1] is read[1]
    assert (read[2], read[3].parts) == (7, "text")
    for data in messages[1:]:
        for other in (None, before):
            with pytest.raises(wire_reader.Malformed, match="without the messages before it"):
                wire_reader.Reader(data, trust=True, before=other)


class Bound:
    """Holds itself among the arguments it is made of."""

    def __init__(self, box: list[Any]) -> None:
        self.box = box

    def __reduce__(self) -> Any:
        return Bound, (self.box,)


def test_the_page_reads_an_object_made_within_its_own_arguments() -> None:
    bound = Bound([])
    bound.box.append(bound)
    shown = trusted(bound)
    assert shown["reduce"] == 0
    assert "'reduce': 64" in str(shown["values"][1])


@each("cut", range(40))
def test_the_page_refuses_what_ends_early(cut: int) -> None:
    data = holdall.dumps(
        [{"a": [1.5, "text"], "b": "é"}, {"a": (1, 2, 3, 4), "b": {5}}, b"bytes", 1 << 70, range(3)]
    )
    with pytest.raises(wire_reader.Malformed):
        wire_reader.Reader(data[: len(data) * cut // 40]).message()
