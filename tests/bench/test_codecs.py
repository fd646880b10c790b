"""The table of codecs: what each restores of small data, and that its place in the table says the truth."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from importlib import import_module
from types import ModuleType

import pytest

if not hasattr(os, "fork"):
    pytest.skip("each codec has a forked process", allow_module_level=True)

from holdall_bench import floor_build
from holdall_bench.codecs import CODECS, Codec, Unsuitable, by_name, chosen
from holdall_bench.data import Data, subject
from holdall_bench.fidelity import compare
from holdall_bench.isolate import Child
from holdall_bench.results import CHANGED, COPIES, SAME
from holdall_bench.suites.bakeoff import messages, typed_messages
from holdall_bench.suites.graphs import clusters, shared_settings
from holdall_bench.suites.models import Foo, Message
from holdall_bench.suites.serbench import serbench
from holdall_bench.suites.structures import matrices, tiny_ints

FAILS = "fails"
ABSENT = "absent"
LEFT_OUT = "left out"

SETS = {
    "ints": Data("ints", "own", "", partial(tiny_ints, 50)),
    "messages": Data("messages", "own", "", partial(messages, 5)),
    "typed": Data("typed", "own", "", partial(typed_messages, 5), annotation=list[Message]),
    "serbench": Data("serbench", "own", "", partial(serbench, 2), annotation=dict[str, list[Foo]]),
    "tuples": Data("tuples", "own", "", lambda: [(i, {i: "value"}) for i in range(5)]),
    "shared": Data("shared", "own", "", partial(shared_settings, 80), identity=True),
    "cycles": Data("cycles", "own", "", partial(clusters, 40), identity=True, deep=True),
    "arrays": Data("arrays", "own", "", partial(matrices, 3)),
}
# What comes back of: ints, messages, typed, serbench, tuples, shared, cycles, arrays.
S, C, X, F, O = SAME, COPIES, CHANGED, FAILS, LEFT_OUT  # noqa: E741
EXPECTED = {
    "holdall": (S, S, S, S, S, S, S, S),
    "holdall refs=False": (S, S, S, S, S, O, O, S),
    "holdall typed": (O, O, S, S, O, O, O, O),
    "holdall canonical": (S, S, S, S, S, S, S, S),
    "holdall mmap": (O, O, O, O, O, O, O, S),
    "holdall.msgpack": (S, S, S, S, X, C, F, X),
    "holdall.bson": (S, X, X, S, X, C, F, X),
    "pickle": (S, S, S, S, S, S, S, S),
    "marshal": (S, F, O, O, S, O, O, X),
    "json": (S, X, X, X, X, C, F, F),
    "msgspec.msgpack": (S, S, X, X, X, C, O, F),
    "msgspec.msgpack typed": (O, O, S, S, O, O, O, O),
    "msgspec.msgpack Struct": (O, O, S, S, O, O, O, O),
    "msgspec.json": (S, X, X, X, X, C, O, F),
    "msgspec.json typed": (O, O, S, S, O, O, O, O),
    "ormsgpack": (S, X, X, X, X, C, O, X),
    "msgpack": (S, S, X, X, X, C, O, F),
    "msgpack tuples": (X, X, X, X, X, X, O, F),
    "orjson": (S, X, X, X, X, C, O, X),
    "cbor2": (S, S, X, X, X, C, O, F),
    "cbor2 sharing": (S, S, X, X, X, S, X, F),
    "bson": (S, X, O, O, F, C, O, F),
    "PyYAML": (S, S, O, O, X, S, O, F),
    "pyfory": (S, S, S, S, S, C, O, S),
    "pyfory refs": (S, S, S, S, S, S, S, S),
    "cloudpickle": (S, S, S, S, S, S, S, S),
    "dill": (S, S, S, S, S, S, S, S),
    "joblib": (O, O, O, O, O, O, O, S),
    "joblib mmap": (O, O, O, O, O, O, O, S),
    "numpy": (O, O, O, O, O, O, O, S),
    "safetensors": (O, O, O, O, O, O, O, S),
    "pyarrow": (O, X, O, O, O, C, O, S),
    "lower bound": (S, S, S, S, S, S, S, F),
    "lower bound, clone": (S, S, S, S, S, O, O, F),
}


def verdicts(codec: Codec) -> dict[str, str] | str:
    """What comes back of each, or why the codec isn't here. In a child: some change how others work, as dill does pickle."""
    try:
        module = import_module(codec.module)
    except ImportError as error:
        return str(error)
    return {name: verdict(codec, module, data) for name, data in SETS.items()}


def verdict(codec: Codec, module: ModuleType, data: Data) -> str:
    value = data.make()
    try:
        ends = codec.make(module, subject(data, value))
    except Unsuitable:
        return LEFT_OUT
    if ends.convert is not None:
        value = ends.convert(value)
    store = ends.stored or ends.dumps
    assert store is not None
    try:
        restored = ends.loads(store(value))
    except Exception:  # each has errors of its own
        return FAILS
    return compare(value, restored).verdict


@pytest.fixture(scope="module")
def floor() -> None:
    with contextlib.suppress(floor_build.NotBuilt):
        floor_build.build()


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_what_comes_back(floor: None, codec: Codec) -> None:
    pytest.importorskip("numpy")
    found = Child(partial(verdicts, codec)).result()
    if isinstance(found, str):
        pytest.skip(f"{codec.name} is {ABSENT}: {found}")
    assert found == dict(zip(SETS, EXPECTED[codec.name], strict=True))


def test_every_codec_is_in_the_table_above_and_says_what_it_is() -> None:
    names = [codec.name for codec in CODECS]
    assert len(set(names)) == len(names)
    assert set(names) - {"quickle"} == set(EXPECTED)
    assert all(codec.keeps and codec.way and codec.package for codec in CODECS)


def test_codecs_are_chosen_by_name_or_package() -> None:
    assert chosen(("pickle",), ()) == ["pickle"]
    assert chosen(("cbor2",), ()) == ["cbor2"]
    assert chosen(("cbor2*",), ()) == ["cbor2", "cbor2 sharing"]
    assert chosen(("pymongo", "dill"), ()) == ["bson", "dill"]
    assert chosen(("pickle", "pickle"), ("mine.py",)) == ["pickle", "mine.py"]
    assert chosen((), ("mine.py",)) == [*(codec.name for codec in CODECS), "mine.py"]
    with pytest.raises(LookupError, match="nobody"):
        chosen(("nobody",), ())
    assert by_name("cbor2 sharing").package == "cbor2"
