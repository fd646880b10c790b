"""`holdall.pickle` and files: where a message ends, and what several messages of one pickler share."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import gc
import gzip
import io
import os
import pickle
import socket
import tempfile
import weakref
import zlib

import pytest

import holdall
from holdall import pickle as hp
from tests.support.isomorphic import isomorphic


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: object
    y: object = None


class Node:
    def __init__(self, value):
        self.value, self.next = value, None


class Reduced:
    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Reduced, (self.value,)


VALUES = [
    1,
    "text",
    None,
    [],
    {"a": [1.5, {"b": (None, True)}], "long": "x" * 100_000},
    [{"k": at, "v": str(at)} for at in range(50)],
    [Point(at, Point("inner")) for at in range(5)],
    [Reduced([1]), len, Colour.RED, datetime.datetime(2024, 1, 2), collections.deque([1, 2], 3)],
    b"\0" * 70_000,
    [float(at) for at in range(1000)],
    ["a", "b", "c", "é", "日本"],
]


# --- where a message ends ---


class OnlyRead:
    """As a socket's file without a buffer: bytes that were read are gone. Counts what was asked for."""

    def __init__(self, data):
        self.data, self.at, self.asked = data, 0, 0

    def read(self, size):
        self.asked += 1
        # A raw stream may give less than what was asked for.
        part = self.data[self.at : self.at + min(size, 1000)]
        self.at += len(part)
        return part


class OnlyReadinto:
    def __init__(self, data):
        self.file = io.BytesIO(data)

    def readinto(self, buffer):
        return self.file.readinto(buffer)


class Unseekable(io.BytesIO):
    def seek(self, *_):
        raise io.UnsupportedOperation

    tell = seek


class PeeksLittle(OnlyRead):
    def peek(self, size):
        return self.data[self.at : self.at + 3]


class CannotPeek(OnlyRead):
    def peek(self, size):
        raise NotImplementedError


def in_file(data):
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    file.write(data)
    file.seek(0)
    return file


def compressed(data):
    return gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data)))


FILES = [
    io.BytesIO, Unseekable, OnlyRead, OnlyReadinto, PeeksLittle, CannotPeek, in_file, compressed,
    lambda data: io.BufferedReader(io.BytesIO(data), 16),
]  # fmt: skip


def rest_of(file):
    if isinstance(file, OnlyRead):
        return file.data[file.at :]
    return (file.file if isinstance(file, OnlyReadinto) else file).read()


@pytest.mark.parametrize("make", FILES)
@pytest.mark.parametrize("framed", [False, True])
def test_load_leaves_the_file_behind_its_message(make, framed):
    data = b""
    for value in VALUES:
        file = io.BytesIO()
        hp.dump(value, file)
        data += file.getvalue() if framed else hp.dumps(value)
    file = make(data + b"the rest")
    for value in VALUES:
        loaded = hp.load(file)
        isomorphic(loaded, value)
    assert rest_of(file) == b"the rest"
    if hasattr(file, "close"):
        file.close()


def test_what_django_stores():
    """`FileBasedCache`: the time of expiry, then the value, compressed; both are read by what `load` leaves."""
    file = io.BytesIO()
    file.write(hp.dumps(1_700_000_000.5))
    file.write(zlib.compress(hp.dumps({"user": 7})))
    file.seek(0)
    assert hp.load(file) == 1_700_000_000.5
    assert hp.loads(zlib.decompress(file.read())) == {"user": 7}


def test_few_reads_where_nothing_can_be_put_back():
    flat = OnlyRead(hp.dumps({"key": "v" * 900, "other": [1.0] * 100, "more": [None] * 100}) + b"tail")
    hp.load(flat)
    assert flat.asked < 40
    framed = io.BytesIO()
    hp.dump([[[[[]]]]], framed)
    plain = OnlyRead(framed.getvalue())
    hp.load(plain)
    assert plain.asked < 15


def test_a_socket_is_not_waited_for():
    """The other side sends no more until it has an answer: reading one byte too many would wait for ever."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb", buffering=0) as raw, theirs.makefile("rwb") as buffered:
        ours.settimeout(60)
        theirs.settimeout(60)
        for value in ({"ask": [1, 2, (3, None)]}, "x" * 5000, 7):
            theirs.sendall(hp.dumps(value))
            assert hp.load(raw) == value
            ours.sendall(hp.dumps([value]))
            assert hp.load(buffered) == [value]


def test_every_prefix_of_a_bare_message_is_cut_short():
    whole = hp.dumps([1, {"a": "bcd"}, Point(1, [2.5])])
    for make in (io.BytesIO, OnlyRead, PeeksLittle):
        for length in range(1, len(whole)):
            with pytest.raises(pickle.UnpicklingError):
                hp.load(make(whole[:length]))
        with pytest.raises(EOFError):
            hp.load(make(b""))


def test_bytes_that_are_no_message_in_a_file():
    for data in (pickle.dumps([1, 2]), b"text", b"HOLDing", holdall.msgpack.dumps({"a": 1}), b"\xd1\xff"):
        for make in (io.BytesIO, OnlyRead):
            with pytest.raises(pickle.UnpicklingError):
                hp.load(make(data))


def test_a_length_that_nothing_has_costs_nothing():
    # Text of 2**40 bytes.
    data = hp.dumps(None)[:1] + b"\xb4\xfe" + (1 << 40).to_bytes(8, "little") + b"few"
    for make in (io.BytesIO, OnlyRead, PeeksLittle):
        with pytest.raises(pickle.UnpicklingError):
            hp.load(make(data))


def test_loads_ignores_what_follows():
    file = io.BytesIO()
    hp.dump([1], file)
    for data in (hp.dumps([1]), file.getvalue()):
        assert hp.loads(data + b"anything") == [1]


# --- what the messages of one pickler share ---


def series(*values, fast=False):
    file = io.BytesIO()
    pickler = hp.Pickler(file)
    pickler.fast = fast
    for value in values:
        pickler.dump(value)
    unpickler = hp.Unpickler(io.BytesIO(file.getvalue()))
    return [unpickler.load() for _ in values]


def test_what_was_dumped_before_is_one_object():
    inner = [1]
    outer = {"inner": inner, "text": "".join(["te", "xt"])}
    one, two, three, four = series(outer, inner, outer, {"new": outer, "text": outer["text"]})
    assert two is one["inner"]
    assert three is one
    assert four["new"] is one
    assert four["text"] is one["text"]


def test_texts_that_were_dumped_alone():
    text = "".join(["te", "xt é"])
    alone, (one, other), again = series(text, [text, text], text)
    assert alone is one is other is again


def test_what_only_its_parent_held_is_found_too():
    graph = [[[["deep"]]], Point(Node({"a": 1})), (Reduced([5]), b"bytes" * 3)]
    parts = [graph[0][0], graph[1].x, graph[1].x.value, graph[2][0].value, graph[2][1]]
    whole, *loaded = series(graph, *parts)
    expected = [whole[0][0], whole[1].x, whole[1].x.value, whole[2][0].value, whole[2][1]]
    assert all(one is other for one, other in zip(loaded, expected, strict=True))


def test_it_is_stored_as_it_was_first_as_pickle_does():
    values = []
    for module in (pickle, hp):
        file, shared = io.BytesIO(), ["first"]
        pickler = module.Pickler(file)
        pickler.dump(shared)
        shared.append("changed")
        pickler.dump(shared)
        pickler.clear_memo()
        pickler.dump(shared)
        unpickler = module.Unpickler(io.BytesIO(file.getvalue()))
        values.append([unpickler.load() for _ in range(3)])
    theirs, ours = values
    assert theirs == ours == [["first"], ["first"], ["first", "changed"]]
    assert ours[0] is ours[1] is not ours[2]


def test_fast_makes_each_stand_alone():
    inner = [1]
    (first, again), second = series([inner, inner], inner, fast=True)
    assert first is again is not second


def test_layouts_and_cycles_go_on():
    nodes = [Node(at) for at in range(3)]
    for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
        one.next = other
    loaded = series(
        *nodes,
        [Point(nodes[0], {"x": 1, "y": 2})],
        Colour.RED,
        Node("late"),
        {"x": nodes[2], "y": Colour.RED},
    )
    assert loaded[0].next is loaded[1]
    assert loaded[2].next is loaded[0]
    assert loaded[3][0].x is loaded[0]
    assert loaded[4] is Colour.RED
    assert loaded[5].value == "late"
    assert loaded[6]["x"] is loaded[2]


def test_names_that_are_gone_mean_no_others():
    """A number belongs to an address: whatever has got one is kept as long as the pickler."""
    file = io.BytesIO()
    pickler = hp.Pickler(file)
    for round in range(200):
        kind = type(f"Made{round}", (), {"__module__": __name__})
        globals()[f"Made{round}"] = kind
        value = kind()
        setattr(value, f"field{round}", {f"key{round}": [f"value{round}", str(round)]})
        pickler.dump(value)
        del kind, value
        globals()[f"Made{round}"] = globals()[f"Made{round}"]
    unpickler = hp.Unpickler(io.BytesIO(file.getvalue()))
    for round in range(200):
        value = unpickler.load()
        assert vars(value) == {f"field{round}": {f"key{round}": [f"value{round}", str(round)]}}
        assert type(value).__name__ == f"Made{round}"
        del globals()[f"Made{round}"]


def test_a_failed_dump_is_forgotten():
    file, good = io.BytesIO(), [1]
    pickler = hp.Pickler(file)
    pickler.dump(good)
    with pytest.raises(pickle.PicklingError):
        pickler.dump([good, ["new"], lambda: None])
    pickler.dump([good])
    pickler.dump(good)
    unpickler = hp.Unpickler(io.BytesIO(file.getvalue()))
    one, two, three = unpickler.load(), unpickler.load(), unpickler.load()
    assert (one, two, three) == ([1], [[1]], [1])
    assert three is two[0]


def test_a_failed_write_is_forgotten():
    class Full(io.BytesIO):
        full = False

        def write(self, data):
            if self.full:
                raise OSError("no space left")
            return super().write(data)

    file, value = Full(), [1]
    pickler = hp.Pickler(file)
    file.full = True
    with pytest.raises(OSError, match="no space left"):
        pickler.dump(value)
    file.full = False
    pickler.dump(value)
    assert hp.load(io.BytesIO(file.getvalue())) == [1]


def test_messages_that_lack_those_before_them():
    file, value = io.BytesIO(), [1, ["a"]]
    pickler = hp.Pickler(file)
    pickler.dump(value)
    first = file.tell()
    pickler.dump(value)
    second = file.getvalue()[first:]
    for load in (
        hp.loads,
        lambda data: hp.load(io.BytesIO(data)),
        lambda data: hp.Unpickler(io.BytesIO(data)).load(),
    ):
        with pytest.raises(pickle.UnpicklingError, match="by one `?Unpickler"):
            load(second)
    with pytest.raises(holdall.DecodeError, match="a trusted message"):
        holdall.loads(second)
    with pytest.raises(holdall.DecodeError, match="goes on with messages before it"):
        holdall.loads(second, trust=True)


def test_every_prefix_and_byte_of_a_second_message():
    file, value = io.BytesIO(), [1, ["a"], Point(1)]
    pickler = hp.Pickler(file)
    pickler.dump(value)
    first = file.getvalue()
    pickler.dump([value, Point(value[1])])
    second = file.getvalue()[len(first) :]
    for length in range(len(second)):
        unpickler = hp.Unpickler(io.BytesIO(first + second[:length]))
        unpickler.load()
        with pytest.raises((pickle.UnpicklingError, EOFError)):
            unpickler.load()


def test_memos_given_from_one_to_another():
    value = ["abc", {"k": [44]}, Point(1)]
    one, two = io.BytesIO(), io.BytesIO()
    pickler = hp.Pickler(one)
    pickler.dump(value)
    primed = hp.Pickler(two)
    primed.memo = pickler.memo
    primed.dump([value, Point(2)])
    unpickler = hp.Unpickler(io.BytesIO(one.getvalue()))
    loaded = unpickler.load()
    # By an unpickler of its own, and by the one that has read the first.
    for reader in (hp.Unpickler(io.BytesIO(two.getvalue())), unpickler):
        if reader is not unpickler:
            reader.memo = unpickler.memo
        else:
            unpickler = reader = hp.Unpickler(io.BytesIO(one.getvalue() + two.getvalue()))
            loaded = unpickler.load()
        again, other = reader.load()
        assert again is loaded
        assert other.x == 2


def test_memos_as_dicts():
    value, other = [1], {"a": 2}
    file = io.BytesIO()
    pickler = hp.Pickler(file)
    pickler.dump(value)
    memo = pickler.memo.copy()
    assert memo[id(value)] == (0, value)
    assert memo[id(value)][1] is value
    pickler = hp.Pickler(file)
    pickler.memo = memo
    pickler.dump([value, other])
    unpickler = hp.Unpickler(io.BytesIO(file.getvalue()))
    first = unpickler.load()
    known = unpickler.memo.copy()
    assert known[0] is first
    unpickler.memo = known
    assert unpickler.load()[0] is first
    for wrong, error in ((object(), TypeError), ({-1: None}, ValueError), ({1 << 40: None}, ValueError)):
        with pytest.raises(error):
            unpickler.memo = wrong
    with pytest.raises(TypeError):
        pickler.memo = {1: 2}


def test_a_pickler_that_is_used_while_it_works():
    file = io.BytesIO()

    class Nested(hp.Pickler):
        def persistent_id(self, obj):
            if obj == "now":
                self.dump(1)

    with pytest.raises(RuntimeError, match="in use"):
        Nested(file).dump(["now"])


def test_what_a_pickler_keeps_goes_with_it():
    class Value:
        pass

    hp.Value = Value
    Value.__module__, Value.__qualname__ = hp.__name__, "Value"
    value = Value()
    gone = weakref.ref(value)
    pickler = hp.Pickler(io.BytesIO())
    pickler.dump([value])
    del value
    assert gone() is not None
    pickler.clear_memo()
    gc.collect()
    assert gone() is None
    del hp.Value


def test_several_messages_in_a_pipe():
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as raw, open(write, "wb") as file:
        pickler, shared = hp.Pickler(file), ["shared"]
        unpickler = hp.Unpickler(raw)
        for value in (shared, {"again": shared}):
            pickler.dump(value)
            file.flush()
            loaded = unpickler.load()
        assert loaded == {"again": ["shared"]}
