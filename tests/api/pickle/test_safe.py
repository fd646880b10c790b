"""`holdall.safe_pickle`: pickle's names over messages that run no code."""

from __future__ import annotations

import datetime
import inspect
import io
import pickle
import shelve
import types

import pytest

import holdall
from holdall import pickle as trusted
from holdall import safe_pickle
from tests.support.isomorphic import isomorphic


class Plain:
    def __init__(self, x):
        self.x = x


@holdall.register
class Registered:
    def __init__(self, x):
        self.x = x


class Hostile:
    def __reduce__(self):
        return print, ("run",)


VALUE = {
    "user": 7,
    "since": datetime.date(2024, 2, 29),
    "tags": {"a", "b"},
    "rows": [(1, 2.5)] * 2,
    "blob": b"\0" * 5000,
}


@pytest.mark.parametrize("name", ["dumps", "loads", "dump", "load", "Pickler", "Unpickler"])
def test_signatures_are_those_of_the_trusted_module(name):
    assert inspect.signature(getattr(safe_pickle, name)) == inspect.signature(getattr(trusted, name))


def test_the_names_are_pickles():
    assert {name for name in pickle.__all__ if not name.isupper()} <= set(safe_pickle.__all__)
    assert all(hasattr(safe_pickle, name) for name in safe_pickle.__all__)
    assert issubclass(safe_pickle.ForeignError, pickle.UnpicklingError)
    assert issubclass(safe_pickle.UnknownTypeError, pickle.UnpicklingError)


@pytest.mark.parametrize("protocol", [None, -1, 0, 2, 4, 5])
def test_round_trips(protocol):
    shared = [VALUE]
    loaded = safe_pickle.loads(safe_pickle.dumps([shared, shared, Registered(1)], protocol))
    isomorphic(loaded[:2], [shared, shared])
    assert loaded[2].x == 1
    file = io.BytesIO()
    safe_pickle.dump(VALUE, file, protocol)
    safe_pickle.Pickler(file, protocol).dump([2])
    file.write(safe_pickle.dumps([3], protocol=protocol) + b"tail")
    file.seek(0)
    unpickler = safe_pickle.Unpickler(file)
    isomorphic(unpickler.load(), VALUE)
    assert (safe_pickle.load(file), unpickler.load(), file.read()) == ([2], [3], b"tail")
    with pytest.raises(EOFError, match="^Ran out of input$"):
        unpickler.load()


def test_messages_are_safe_ones():
    assert holdall.loads(safe_pickle.dumps(VALUE)) == VALUE
    assert safe_pickle.loads(holdall.dumps(VALUE) + b"behind it") == VALUE


def test_what_can_not_be_stored():
    for value in (len, Hostile(), lambda: None, [open]):
        with pytest.raises(pickle.PicklingError):
            safe_pickle.dumps(value)
        with pytest.raises(pickle.PicklingError):
            safe_pickle.dump(value, io.BytesIO())
    with pytest.raises(ValueError, match="^pickle protocol must be <= 5$"):
        safe_pickle.dumps(1, 6)


def both_ways(data):
    """The class of what `loads` and `load` raise."""
    raised = []
    for act in (lambda: safe_pickle.loads(data), lambda: safe_pickle.load(io.BytesIO(data))):
        with pytest.raises(pickle.UnpicklingError) as caught:
            act()
        raised.append(type(caught.value))
        assert isinstance(caught.value.__cause__, holdall.DecodeError)
    assert raised[0] is raised[1]
    return raised[0]


def in_file(dump, value):
    file = io.BytesIO()
    dump(value, file)
    return file.getvalue()


def test_a_foreign_entry_is_told_from_a_damaged_one(capsys):
    foreign = [pickle.dumps(Hostile(), protocol) for protocol in range(6)]
    foreign += [trusted.dumps(Hostile()), trusted.dumps([1]), in_file(trusted.dump, Hostile())]
    foreign += [b'{"json": 1}', b"x\x9cK\xcb", b"\xff" * 20, holdall.bson.dumps({"a": 1})]
    for data in foreign:
        assert both_ways(data) is safe_pickle.ForeignError
    whole, framed = safe_pickle.dumps(VALUE), in_file(safe_pickle.dump, VALUE)
    damaged = [whole[:length] for length in (1, 10, len(whole) - 1)]
    damaged += [framed[:2], framed[:-1], framed[:30] + b"\0" + framed[31:], whole[:1] + b"\xfb" + whole[2:]]
    for data in damaged:
        assert both_ways(data) is pickle.UnpicklingError
    assert capsys.readouterr().out == ""  # nothing has run


def test_a_class_that_was_not_permitted():
    data = safe_pickle.dumps([Plain(1)])
    with pytest.raises(safe_pickle.UnknownTypeError) as caught:
        safe_pickle.loads(data)
    assert caught.value.type_name == f"{__name__}.Plain"
    assert both_ways(data) is safe_pickle.UnknownTypeError


@pytest.mark.parametrize("types", [Plain, [Plain, Registered], types.ModuleType("placeholder")])
def test_permitting(types):
    if inspect.ismodule(types):
        types.Plain = Plain
        types.__name__ = __name__
    mine = safe_pickle.permitting(types)
    assert inspect.ismodule(mine)
    data = mine.dumps([Plain(1)])
    file = io.BytesIO()
    mine.dump([Plain(2)], file)
    file.seek(0)
    assert mine.loads(data)[0].x == 1
    assert mine.load(file)[0].x == 2
    file.seek(0)
    assert mine.Unpickler(file).load()[0].x == 2
    for name in ("dumps", "loads", "dump", "load", "Pickler", "Unpickler"):
        assert inspect.signature(getattr(mine, name)) == inspect.signature(getattr(safe_pickle, name))
    with pytest.raises(safe_pickle.UnknownTypeError):
        safe_pickle.loads(data)
    with pytest.raises(mine.ForeignError):
        mine.loads(pickle.dumps(1))


def test_buffers():
    buffers = []
    data = safe_pickle.dumps(pickle.PickleBuffer(bytearray(100_000)), buffer_callback=buffers.append)
    assert len(data) < 100
    assert bytes(safe_pickle.loads(data, buffers=buffers)) == bytes(100_000)
    with pytest.raises(pickle.UnpicklingError):
        safe_pickle.loads(data)


def test_a_shelf(monkeypatch, tmp_path):
    """A library that takes the module's `Pickler` and `Unpickler`."""
    if not hasattr(shelve, "Pickler"):
        pytest.skip("since 3.15 a shelf takes functions (tests/versions/test_newer.py)")
    monkeypatch.setattr(shelve, "Pickler", safe_pickle.Pickler)
    monkeypatch.setattr(shelve, "Unpickler", safe_pickle.Unpickler)
    with shelve.open(str(tmp_path / "shelf")) as shelf:
        shelf["a"] = VALUE
        isomorphic(shelf["a"], VALUE)
        with pytest.raises(pickle.PicklingError):
            shelf["b"] = Hostile()
