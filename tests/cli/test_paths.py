"""Paths: what they mean, and what stands there."""

from __future__ import annotations

import collections
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall._cli import _paths


@pytest.mark.parametrize(
    "text, steps",
    [
        ("", ()),
        ("$", ()),
        ("a", ("a",)),
        ("$.a", ("a",)),
        (".a", ("a",)),
        ("users[3].name", ("users", 3, "name")),
        ("$.users[3].name", ("users", 3, "name")),
        ('$["odd key"]', ("odd key",)),
        ("['a'][\"b\"]", ("a", "b")),
        ("[-1]", (-1,)),
        ("[ 2 ][0]", (2, 0)),
        ("a[b'x'][None][True][1.5][(1, 'x]')]", ("a", b"x", None, True, 1.5, (1, "x]"))),
        ('["]"]["[\'.$"]', ("]", "['.$")),
        ("$oid", ("$oid",)),
        ("$.$oid", ("$oid",)),
        ("first-name.größe", ("first-name", "größe")),
        (r'["a\n\u00e4"]', ("a\nä",)),
    ],
)
def test_what_is_meant(text, steps):
    found = _paths.parse(text)
    assert found == steps and [*map(type, found)] == [*map(type, steps)]


@pytest.mark.parametrize(
    "text, message",
    [
        ("a..b", "expected a name at character 3 of the path"),
        ("a.", "expected a name at character 3 of the path"),
        ("a[0]b", "expected `.` or `[` at character 5 of the path"),
        ("a[", 'expected a number, or a key in quotes like ["a b"], at character 3 of the path'),
        ("a[b]", 'expected a number, or a key in quotes like ["a b"], at character 3 of the path'),
        ("a[]", 'expected a number, or a key in quotes like ["a b"], at character 3 of the path'),
        ("a[[1]]", 'expected a number, or a key in quotes like ["a b"], at character 3 of the path'),
        (
            "[__import__('os')]",
            'expected a number, or a key in quotes like ["a b"], at character 2 of the path',
        ),
    ],
)
def test_what_is_no_path(text, message):
    with pytest.raises(ValueError) as caught:
        _paths.parse(text)
    assert str(caught.value) == message


keys = (
    st.text()
    | st.integers()
    | st.booleans()
    | st.none()
    | st.binary()
    | st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(keys | st.tuples(keys, keys)))
def test_what_is_shown_is_read_again(steps):
    found = _paths.parse(_paths.show(steps))
    assert repr(found) == repr(tuple(steps))


@given(st.text(alphabet="ab$.[]\"'\\0-(), ", max_size=12))
def test_any_text_is_a_path_or_a_value_error(text):
    try:
        steps = _paths.parse(text)
    except ValueError:
        return
    assert repr(_paths.parse(_paths.show(steps))) == repr(steps)


def graph():
    record = holdall.Record("shop.Order", {"id": 7, "lines": [{"n": 1}]})
    named = collections.namedtuple("Point", "x y")(1, 2)
    return {
        "users": [{"name": "Ann"}, {"name": "Bob"}], 5: "five", b"k": "bytes", (1, 2): "pair", "t": (1, [2]), "order": record,
        "space": types.SimpleNamespace(a={"b": 1}), "deque": collections.deque([1, 2]), "named": named, "text": "abc", None: 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "path, value",
    [
        ("users[1].name", "Bob"), ("users[-1].name", "Bob"), ("[5]", "five"), ("[b'k']", "bytes"), ("[(1, 2)]", "pair"),
        ("t[1][0]", 2), ("order.id", 7), ("order.lines[0].n", 1), ("space.a.b", 1), ("deque[-1]", 2), ("named.y", 2),
        ("named[0]", 1), ("[None]", 0),
    ],
)  # fmt: skip
def test_what_stands_there(path, value):
    assert _paths.lookup(graph(), _paths.parse(path)) == value


@pytest.mark.parametrize(
    "path, place, why",
    [
        ("users[2].name", 1, "the list there has 2 items"),
        ("users[0].nam", 2, "the dict there has name"),
        ("users.name", 1, "there is a `list` there"),
        ("text[0]", 1, "there is a `str` there"),
        ("order.x", 1, "the `shop.Order` there has id, lines"),
        ("space.__class__", 1, "there is a `SimpleNamespace` there"),
        ("t.count", 1, "there is a `tuple` there"),
        ("text.upper", 1, "there is a `str` there"),
        ("[None].real", 1, "there is a `int` there"),
        ("nothing", 0, "the dict there has users, 5, b'k', (1, 2), t, ..."),
    ],
)
def test_what_is_missing(path, place, why):
    with pytest.raises(_paths.Missing) as caught:
        _paths.lookup(graph(), _paths.parse(path))
    assert (caught.value.place, caught.value.why) == (place, why)


def test_members_of_arrays():
    np = pytest.importorskip("numpy")
    value = {"a": np.arange(6).reshape(2, 3), "r": np.zeros(2, [("x", "f4")])}
    assert _paths.lookup(value, ("a", 1, -1)) == 5
    assert _paths.lookup(value, ("r", "x")).shape == (2,)
    with pytest.raises(_paths.Missing):
        _paths.lookup(value, ("a", 2))
    with pytest.raises(_paths.Missing):
        _paths.lookup(value, ("r", "tofile"))


def test_fields_of_julias_values():
    julia = holdall.julia
    value = {
        "ref": julia.Ref([1]),
        "pair": julia.Pair("a", 1),
        "expr": julia.JuliaStruct("Expr", [julia.Symbol("call"), [2]]),
    }
    assert _paths.lookup(value, ("ref", "x", 0)) == 1
    assert _paths.lookup(value, ("pair", "second")) == 1
    assert _paths.lookup(value, ("expr", "args", 0)) == _paths.lookup(value, ("expr", 1, 0)) == 2
