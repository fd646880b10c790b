"""Properties over random graphs: whatever they are, they come back the same."""

from __future__ import annotations

import io
import pathlib
import random
import tempfile
from typing import Any

import pytest

import holdall
import holdall.pickle

pytest.importorskip("hypothesis")

from hypothesis import given, reject
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.extent import examples
from tests.support.isomorphic import isomorphic
from tests.support.kinds import TYPES, installed
from tests.support.limits import excused_with_copy, has_members_alike

ENCODER, DECODER = holdall.Encoder(), holdall.Decoder(types=TYPES)


@given(strategies.graphs())
def test_dumps_and_loads(graph: strategies.Graph) -> None:
    isomorphic(graph.root, holdall.loads(holdall.dumps(graph.root), types=TYPES))


@given(strategies.graphs(max_nodes=40))
@examples(60)
def test_larger_graphs(graph: strategies.Graph) -> None:
    isomorphic(graph.root, holdall.loads(holdall.dumps(graph.root), types=TYPES))


@given(strategies.graphs())
@examples(100)
def test_dump_and_load(graph: strategies.Graph) -> None:
    file = io.BytesIO()
    holdall.dump(graph.root, file)
    file.seek(0)
    isomorphic(graph.root, holdall.load(file, types=TYPES))


@given(strategies.graphs())
@examples(40)
def test_paths(graph: strategies.Graph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graph.hold"
        holdall.dump(graph.root, path)
        isomorphic(graph.root, holdall.load(path, types=TYPES))


@given(strategies.graphs())
@examples(100)
def test_deepcopy(graph: strategies.Graph) -> None:
    with excused_with_copy(graph.root):
        isomorphic(graph.root, holdall.deepcopy(graph.root))


@given(st.lists(strategies.graphs(), min_size=1, max_size=3))
@examples(60)
def test_encoder_and_decoder_keep_nothing(graphs: list[strategies.Graph]) -> None:
    for graph in [*graphs, *graphs]:
        isomorphic(graph.root, DECODER.decode(ENCODER.encode(graph.root)))
        buffer = bytearray(b"before")
        end = ENCODER.encode_into(graph.root, buffer, 6)
        isomorphic(graph.root, DECODER.decode(memoryview(buffer)[6:end]))


@given(strategies.graphs())
@examples(100)
def test_canonical_is_stable(graph: strategies.Graph) -> None:
    data = holdall.dumps(graph.root, canonical=True)
    back = holdall.loads(data, types=TYPES)
    # Another history: made by another way, with other counts of references.
    again = holdall.loads(holdall.dumps(graph.root), types=TYPES)
    isomorphic(graph.root, back, interned=True, ordered=False)
    if has_members_alike(graph.root):
        reject()
    assert holdall.dumps(back, canonical=True) == data
    assert holdall.dumps(again, canonical=True) == data


@given(strategies.graphs())
@examples(100)
def test_trusted(graph: strategies.Graph) -> None:
    isomorphic(graph.root, holdall.loads(holdall.dumps(graph.root, trust=True), trust=True))


@given(strategies.graphs())
@examples(100)
def test_interned(graph: strategies.Graph) -> None:
    data = holdall.dumps(graph.root, intern=True)
    isomorphic(graph.root, holdall.loads(data, types=TYPES), interned=True)


@given(strategies.trees())
@examples(100)
def test_trees(tree: Any) -> None:
    data = holdall.dumps(tree, refs=False)
    isomorphic(tree, holdall.loads(data, types=TYPES), identity=False)
    isomorphic(tree, holdall.loads(holdall.dumps(tree), types=TYPES))


@given(strategies.graphs())
@examples(100)
def test_records(graph: strategies.Graph) -> None:
    """Classes that are not at hand are carried through as records."""
    records = holdall.loads(holdall.dumps(graph.root), types=holdall.Record)
    isomorphic(graph.root, holdall.loads(holdall.dumps(records), types=TYPES))


@given(strategies.graphs(), st.data())
@examples(100)
def test_prefixes_fail_cleanly(graph: strategies.Graph, data: st.DataObject) -> None:
    whole = holdall.dumps(graph.root)
    end = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(whole[:end], types=TYPES)
    assert 0 <= caught.value.offset <= end


@given(st.binary(max_size=60))
def test_random_bytes(data: bytes) -> None:
    for first in (b"", holdall.dumps(1)[:1]):
        try:
            back = holdall.loads(first + data, types=TYPES)
        except holdall.DecodeError as error:
            assert 0 <= error.offset <= len(first + data)
        else:
            isomorphic(back, holdall.loads(holdall.dumps(back), types=TYPES))


if installed("numpy"):

    @given(strategies.arrays())
    def test_arrays(array: Any) -> None:
        for obj in (array, [array, array]):
            isomorphic(obj, holdall.loads(holdall.dumps(obj)))
            isomorphic(obj, holdall.deepcopy(obj))
        buffers: list[Any] = []
        data = holdall.dumps(array, buffers=buffers)
        isomorphic(array, holdall.loads(data, buffers=buffers))


@given(strategies.graphs(), st.randoms(use_true_random=False))
@examples(60)
def test_what_one_pickler_writes(graph: strategies.Graph, order: random.Random) -> None:
    """Parts of a graph, dumped one after the other in any order, are one graph again."""
    parts = [node for node in [*_contents(graph.root), graph.root] if order.random() < 0.7]
    order.shuffle(parts)
    file = io.BytesIO()
    pickler = holdall.pickle.Pickler(file)
    for part in parts:
        pickler.dump(part)
    unpickler = holdall.pickle.Unpickler(io.BytesIO(file.getvalue()))
    isomorphic(parts, [unpickler.load() for _ in parts])


def _contents(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return list(node) if isinstance(node, (list, tuple, set, frozenset)) else []


@given(strategies.graphs())
@examples(30)
def test_where_messages_end(graph: strategies.Graph) -> None:
    """Front to back from a stream that gives nothing back, whatever follows."""

    class Stream:
        def __init__(self, data: bytes) -> None:
            self.read = io.BytesIO(data).read

    stream = Stream(holdall.dumps(graph.root, trust=True) + b"\xff" * 9)
    isomorphic(graph.root, holdall.pickle.load(stream))
    assert stream.read() == b"\xff" * 9
