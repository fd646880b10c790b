"""`holdall.envelope_pickle`: what the standard library's pickle reads."""

from __future__ import annotations

import io
import multiprocessing
import multiprocessing.reduction
import pickle
import pickletools
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from holdall import envelope_pickle
from holdall import pickle as hp


class Point:
    def __init__(self, x):
        self.x = x


def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("protocol", [None, -1, 0, 1, 2, 3, 4, 5])
def test_the_standard_library_reads_it(protocol):
    array = np.arange(2000)
    value = [Point(1), {"a": len}, array, bytearray(5000), array]
    for data in (envelope_pickle.dumps(value, protocol), written(value, protocol)):
        point, table, one, block, other = pickle.loads(data)
        assert (point.x, table, block) == (1, {"a": len}, bytearray(5000))
        assert one is other
        assert np.array_equal(one, array)
        one[0] = 7  # whoever loads it may change it
        block[0] = 7


def written(value, protocol=None):
    file = io.BytesIO()
    envelope_pickle.dump(value, file, protocol)
    return file.getvalue()


def test_its_only_code_calls_us():
    for value, function in (
        (Point(1), "holdall.pickle loads"),
        (np.arange(5000), "holdall.envelope_pickle _open"),
    ):
        data = envelope_pickle.dumps(value, protocol=2)
        names = [argument for opcode, argument, _ in pickletools.genops(data) if opcode.name == "GLOBAL"]
        names = [name for name in names if name not in ("_codecs encode",)]  # bytes, in old protocols
        assert names == (
            [function] if value is not None and isinstance(value, Point) else ["holdall.pickle loads"]
        )
        names = {
            argument
            for opcode, argument, _ in pickletools.genops(envelope_pickle.dumps(value))
            if "UNICODE" in opcode.name
        }
        assert names == set(function.split())


def test_the_payload_is_ours():
    value = deep(100_000)
    with pytest.raises(RecursionError):
        pickle.dumps(value)
    loaded = pickle.loads(envelope_pickle.dumps(value))
    for _ in range(100_000):
        (loaded,) = loaded
    assert loaded == []


def test_large_buffers_are_written_once_and_used_where_they_are():
    array = np.zeros(1_000_000, np.uint8)
    data = envelope_pickle.dumps([array, array])
    assert len(data) < array.nbytes + 1000
    buffers = []
    small = envelope_pickle.dumps([array], buffer_callback=buffers.append)
    assert len(small) < 1000
    (same,) = pickle.loads(small, buffers=buffers)
    assert np.shares_memory(same, array)
    frozen = np.zeros(5000, np.uint8)
    frozen.flags.writeable = False
    assert not pickle.loads(envelope_pickle.dumps(frozen)).flags.writeable


def test_hooks():
    class Hooked(envelope_pickle.Pickler):
        dispatch_table = {Point: lambda point: (Point, (point.x * 2,))}

        def reducer_override(self, obj):
            return (str, ("a class",)) if obj is int else NotImplemented

    file = io.BytesIO()
    pickler = Hooked(file)
    pickler.dump([Point(21), int])
    pickler.dump("next")
    file.seek(0)
    point, text = pickle.load(file)
    assert (point.x, text, pickle.load(file)) == (42, "a class", "next")

    class Persistent(envelope_pickle.Pickler):
        def persistent_id(self, obj):
            return None

    for pickler in (Persistent(file), envelope_pickle.Pickler(file)):
        pickler.persistent_id = lambda obj: None
        with pytest.raises(pickle.PicklingError, match="^an envelope can't hold persistent ids"):
            pickler.dump(1)


def test_what_it_refuses():
    with pytest.raises(pickle.PicklingError):
        envelope_pickle.dumps(lambda: None)
    with pytest.raises(ValueError, match="protocol must be <= 5"):
        envelope_pickle.dumps(1, 6)
    with pytest.raises(ValueError, match="buffer_callback needs protocol >= 5"):
        envelope_pickle.dumps(1, 4, buffer_callback=print)
    with pytest.raises(pickle.UnpicklingError):
        hp.loads(envelope_pickle.dumps(1))  # it is a pickle, and no message


def test_the_names_are_pickles():
    assert {name for name in pickle.__all__ if not name.isupper()} <= set(envelope_pickle.__all__)
    assert envelope_pickle.loads is pickle.loads
    assert all(hasattr(envelope_pickle, name) for name in envelope_pickle.__all__)


ORIGINAL = multiprocessing.reduction.ForkingPickler


class Forking(envelope_pickle.Pickler):
    """As `multiprocessing.reduction.ForkingPickler`, for what a new process reads first."""

    def __init__(self, *args):
        super().__init__(*args)
        self.dispatch_table = ORIGINAL(io.BytesIO()).dispatch_table


def answer(connection, value):
    connection.send((type(value).__name__, value.x[0] is value.x[1], sys.modules["holdall.pickle"].__name__))
    connection.close()


def test_a_process_that_multiprocessing_spawns(monkeypatch):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    monkeypatch.setattr(multiprocessing.reduction, "ForkingPickler", Forking)
    process = context.Process(target=answer, args=(theirs, Point([deep(5000)] * 2)))
    process.start()
    theirs.close()
    assert ours.poll(60)
    assert ours.recv() == ("Point", True, "holdall.pickle")
    process.join(60)
    assert process.exitcode == 0


def test_another_process_that_has_not_imported_us():
    script = textwrap.dedent(
        """
        import pickle, sys
        assert "holdall" not in sys.modules
        print(pickle.load(sys.stdin.buffer), pickle.load(sys.stdin.buffer))
        """
    )
    data = envelope_pickle.dumps({"first": 1}) + envelope_pickle.dumps(["second"])
    ended = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True, check=True)
    assert ended.stdout.split() == [b"{'first':", b"1}", b"['second']"]
