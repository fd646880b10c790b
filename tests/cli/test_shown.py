"""How values are printed: as Python, and as JSON, which comes back as what it was."""

from __future__ import annotations

import ast
import collections
import datetime
import decimal
import fractions
import json
import math
import pathlib
import types
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall._cli import _json, _paths, _pretty
from holdall._cli._app import Failure
from holdall._cli._nodes import node
from holdall._cli._pretty import pretty, short
from tests.support import wire
from tests.support.each import each
from tests.support.isomorphic import isomorphic


def text(value, width=100):
    return "".join(piece for piece, _ in pretty(value, width))


def back(value):
    return _json.restore(json.loads(_json.dumps(value)))


def a_cycle():
    made = {"a": [1]}
    made["me"] = made
    made["again"] = made["a"]
    return made


def record(**fields):
    return holdall.Record("shop.Order", fields)


# --- as Python ---


@pytest.mark.parametrize(
    "value, shown",
    [
        (None, "None"),
        ("a\n", r"'a\n'"),
        ([], "[]"),
        ((1,), "(1,)"),
        ({1: [2, (3,)], "a": {}}, "{1: [2, (3,)], 'a': {}}"),
        (set(), "set()"),
        (frozenset({1}), "frozenset({1})"),
        (collections.deque([1], 2), "deque([1], maxlen=2)"),
        (collections.OrderedDict(a=1), "OrderedDict({'a': 1})"),
        (collections.defaultdict(list, a=[1]), "defaultdict(list, {'a': [1]})"),
        (collections.Counter("aa"), "Counter({'a': 2})"),
        (types.SimpleNamespace(a=1), "namespace(a=1)"),
        (ValueError("x", 1), "ValueError('x', 1)"),
        (record(id=7, tags={"a"}), "shop.Order(id=7, tags={'a'})"),
        ([[1], [1]], "[[1], [1]]"),
    ],
)
def test_in_one_line(value, shown):
    assert text(value) == shown


def test_in_lines_that_fit():
    value = {"name": "x" * 20, "one": (["y" * 20],), "many": list(range(12))}
    assert text(value, 40) == (
        "{\n"
        f"  'name': '{'x' * 20}',\n"
        f"  'one': (['{'y' * 20}'],),\n"
        "  'many': [\n"
        "    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n"
        "    11,\n"
        "  ],\n"
        "}"
    )
    assert text((["y" * 40],), 40) == f"(\n  [\n    '{'y' * 40}',\n  ],\n)"


def test_what_was_shown_before_is_named():
    assert text(a_cycle()) == "{\n  'a': [1],\n  'me': <within $>,\n  'again': <as at $.a>,\n}"
    shared = [1]
    assert text([[shared], [shared]]) == "[\n  [[1]],\n  [\n    <as at $[0][0]>,\n  ],\n]"
    pair = (1, 2)
    assert text([pair, pair]) == "[(1, 2), (1, 2)]"
    me = record()
    me.fields["me"] = me
    assert text([me]) == "[\n  shop.Order(\n    me=<within $[0]>,\n  ),\n]"


@given(
    st.recursive(
        st.integers() | st.text(max_size=5) | st.none(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text(max_size=5), inner)
            | st.tuples(inner)
            | st.tuples(inner, inner)
        ),
    ),
    st.integers(1, 60),
)
def test_a_tree_is_the_python_that_makes_it(value, width):
    # Equal empty or shared parts may be one object.
    shown = text(value, width)
    if "<" not in shown:
        assert eval(shown) == value


def test_any_depth():
    value = []
    for _ in range(20_000):
        value = [value]
    assert text(value).count("[") == 20_001
    assert short(value).startswith("[[[") and len(short(value)) == 60
    assert _json.dumps(value).count("[") == 20_001


def test_what_is_shared_a_thousand_times_is_shown_once():
    value = []
    for _ in range(100):
        value = [value, value]
    tupled = ()
    for _ in range(100):
        tupled = (tupled, tupled)
    for found in (value, tupled):
        assert len(text(found)) < 200_000
        assert len(_json.dumps(found)) < 200_000
        assert len(short(found)) <= 60


def test_short():
    assert short("x" * 10_000_000, 20) == "'" + "x" * 16 + "..."
    assert short([1, 2], 20) == "[1, 2]"
    assert short(a_cycle()) == "{'a': [1], 'me': <...>, 'again': <...>}"


def test_nothing_moves_the_cursor():
    nasty = "a\x1b[31m\x9b\n\u2028\x7f"
    found = {
        nasty: record(**{nasty: nasty}),
        "b": holdall.Record(nasty, {}),
        "c": types.SimpleNamespace(**{nasty: 1}),
    }
    for shown in (
        text(found).replace("\n", ""),
        text(found, 10).replace("\n", ""),
        _json.dumps(found),
        short(found),
        _paths.show([nasty]),
    ):
        assert shown.isprintable(), ascii(shown)
    assert _paths.parse(_paths.show([nasty])) == (nasty,)
    isomorphic(back({nasty: [nasty]}), {nasty: [nasty]}, interned=True)


def test_digits_that_python_does_not_write():
    value = 10**5000
    assert text(value) == hex(value)
    assert back(value) == value


def test_arrays():
    np = pytest.importorskip("numpy")
    assert text(np.arange(3)) == "array([0, 1, 2])"
    value = np.array([1, None, "a"], object)
    assert text(value) == "array([1, None, 'a'], dtype=object)"
    value[0] = value
    assert "<within $>" in text(value)


# --- as JSON ---


EXACT = {
    "plain": {"a": [1, 2.5, "é\n", None, True, {}], "b": []},
    "keys": {1: "a", None: "b", (1, "x"): "c", b"k": {2.5: 1}, "s": 1}, "a tag as a key": {"$tuple": [1]}, "dollar": {"$gt": 5},
    "tuples": (1, (), ([],)), "sets": [{1, 2}, frozenset({("a", 1)}), set()],
    "floats": [math.nan, math.inf, -math.inf, -0.0, 1e300], "complex": [1 + 2j, complex("nan-infj")],
    "bytes": [b"\x00\xff", bytearray(b"ab"), b""], "surrogates": "\ud800x", "range": range(1, 9, 2),
    "times": [datetime.datetime(2026, 1, 2, 3, 4, 5, 6), datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc),
              datetime.date(2026, 1, 2), datetime.time(1, 2, 3), datetime.timedelta(-1, 2, 3)],
    "numbers": [decimal.Decimal("1.50"), fractions.Fraction(1, 3), uuid.UUID(int=5), 2**200], "paths": [pathlib.Path("/a/b"), pathlib.PureWindowsPath("c:/x")],
    "collections": [collections.OrderedDict([("b", 1), (2, [3])]), collections.defaultdict(list, {"a": [1]}), collections.Counter("aab"),
                    collections.deque([1, [2]], 3), collections.deque(), collections.ChainMap({"a": 1}, {})],
    "namespace": types.SimpleNamespace(a=1, b=[2]), "cycle": a_cycle(),
    "shared": [[1], *[[{"x": 1}]] * 2, collections.deque([[1]])],
}  # fmt: skip


def test_keys_that_hold_themselves():
    """A record is a key of a dict that it holds: each key in a key has less room."""
    key = record(id=1)
    key.fields["in"] = {key: 1, (key, key): [key]}
    assert text({key: {key: key}}).count("...") > 1
    assert len(short({key: key})) <= 60


def test_keys_within_keys_are_json_at_any_depth():
    value, depth = {}, 3000
    for _ in range(depth):
        value = {record(inner=value): 1}
    assert _json.dumps(value).count('"$record"') == depth
    circle = {}
    circle[record(inner=circle)] = 1
    with pytest.raises(Failure, match="JSON has no references to keys"):
        _json.dumps(circle)


@pytest.mark.parametrize("fields", [[], [("maps", 5)], [("maps", None), ("a", 1)]], ids=str)
def test_a_chain_map_with_anything_in_its_field(fields):
    """A message may leave its list of dicts out, or put something else there."""
    values = [wire.integer(value) if value else wire.NONE for _, value in fields]
    data = wire.message(wire.layout("object", "collections.ChainMap", [name for name, _ in fields], *values))
    found = holdall.loads(data)
    assert text(found).startswith("ChainMap(") and "$record" in _json.dumps(found)
    assert all(f"{name}=" in text(found) for name, _ in fields)


@each("name", EXACT)
def test_json_comes_back_as_it_was(name):
    isomorphic(EXACT[name], back(EXACT[name]))


def test_shared_containers_stay_one():
    shared = {"x": [1]}
    inside = [shared]
    value = {
        "a": (inside,),
        "b": [shared, shared["x"]],
        "c": {1: shared},
        "d": collections.OrderedDict(e=inside),
    }
    isomorphic(value, back(value))
    me = record(id=1)
    me.fields["me"] = [me]
    found = back([me, me])
    assert found[0] is found[1] is found[0].fields["me"][0]
    assert (found[0].type_name, found[0].fields["id"]) == ("shop.Order", 1)


def test_an_array_comes_back_as_it_was():
    np = pytest.importorskip("numpy")
    for value in [
        np.arange(6.0).reshape(2, 3), np.array([1, math.nan, math.inf], "f4"), np.array([1 + 2j, complex("nan")]), np.zeros((0, 2)),
        np.arange(3, dtype=">u2"), np.array([True]), np.array(["a", "bcd"]), np.array([b"a", b"\xff"]),
        np.array(["2026-01-02", "NaT"], "M8[D]"), np.float32(1.5), np.int8(-1), np.array(5),
    ]:  # fmt: skip
        isomorphic(value, back(value))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.just(math.nan) | st.text() | st.binary() | st.complex_numbers(allow_nan=False) | st.dates() | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(sorted(_json.TAGS)) | st.integers(), inner)
    | st.lists(inner).map(tuple) | st.frozensets(st.integers() | st.text()),
    max_leaves=20,
)  # fmt: skip


@given(values)
def test_any_value_comes_back(value):
    isomorphic(value, back(value), interned=True, identity=False)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        # A key like a tag's is told apart: `{"$dict": ...}` stands for the dict then.
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text().filter(lambda key: not key.startswith("$")), inner)
        ),
    )
)
def test_plain_values_are_plain_json(value):
    assert json.loads(_json.dumps(value)) == value


@pytest.mark.parametrize(
    "written",
    [
        '{"$ref": "$.a"}', '{"a": {"$ref": "#/x"}}', '{"$bytes": "*"}', '{"$set": [[]]}', '{"$fraction": [1, 0]}', '{"$datetime": 5}',
        '{"$decimal": "x"}', '{"$complex": [1]}', '{"$array": [1], "dtype": "O"}', '{"$array": [1], "dtype": "f8", "shape": [2]}',
        '{"$array": ["a"], "dtype": "U1000000000"}', '{"$dict": [[[], 1]]}',
    ],
)  # fmt: skip
def test_tags_with_the_wrong_content(written):
    with pytest.raises((ValueError, TypeError, ArithmeticError, KeyError)):
        _json.restore(json.loads(written))


def test_what_is_no_tag_after_all_stays_a_dict():
    for found in [
        {"$set": {"a": 1}},
        {"$ref": 5},
        {"$tuple": None},
        {"$unknown": 1},
        {"$repr": "x"},
        {"$record": 1},
        {"$dict": [1]},
    ]:
        assert _json.restore(found) == found


def test_what_has_no_form_is_text():
    assert json.loads(_json.dumps([len, 1])) == [
        {"$repr": "<built-in function len>", "type": "builtins.builtin_function_or_method"},
        1,
    ]
    assert json.loads(_json.dumps(ValueError("x"))) == {"$exception": ["x"], "type": "ValueError"}


def test_julias_values():
    julia = holdall.julia
    assert _json.dumps({"s": julia.Symbol("a"), "f": julia.Float32(1.5), "r": julia.Ref([1])}) == (
        '{"s": "a", "f": 1.5, "r": {"$julia": {"x": [1]}, "type": "Ref"}}'
    )


@pytest.mark.parametrize(
    "wrap", [lambda value: [value], lambda value: {"a": value}, lambda value: (value, 1)]
)
def test_deep_values_are_looked_at_a_few_times(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a line has room for them is not found out again on each level."""
    looked, depth = 0, 2_000
    node = _pretty.node

    def counted(value: Any) -> Any:
        nonlocal looked
        looked += 1
        return node(value)

    value: Any = 0
    for _ in range(depth):
        value = wrap(value)
    monkeypatch.setattr(_pretty, "node", counted)
    assert text(value).count("\n") > depth and looked < 10 * depth


# --- what is shared ---


def doubled(times, make, last):
    for _ in range(times):
        last = make(last)
    return last


def deep_with_references(depth):
    """Each list is met again below the innermost."""
    value = last = []
    found = [value]
    for _ in range(depth):
        last.append([])
        last = last[0]
        found.append(last)
    last.extend(found)
    return value


def keys_that_share(count, shared):
    return {(shared, n): n for n in range(count)}


def exception(args):
    made = KeyError()
    made.args = args
    return made


LONG_TUPLE = (1.5, *range(500))
SHARED = [
    lambda: keys_that_share(500, tuple(range(8000))),
    lambda: keys_that_share(500, LONG_TUPLE),
    lambda: keys_that_share(500, frozenset(map(float, range(500)))),
    lambda: {doubled(20, lambda x: (x, x), 1.5): 1, doubled(20, lambda x: (x, 1.5, x), 1.5): 2},
    lambda: ["x" * 100_000] * 500,
    lambda: [b"x" * 100_000] * 500,
    lambda: [1 << 300_000] * 500,
    lambda: [pathlib.PurePosixPath("x" * 100_000)] * 500,
    lambda: ["x" * 100_000, "y"] * 500,
    lambda: [{"x" * 100_000: n} for n in range(1)] + [{key: 1} for key in ["x" * 100_000] * 500],
    lambda: deep_with_references(3000),
    lambda: [types.MappingProxyType(found) for found in [dict.fromkeys(range(500))] for _ in range(500)],
    lambda: [exception(LONG_TUPLE) for _ in range(500)],
    lambda: [record(x=1), holdall.Record("a" * 100_000, {}), *[holdall.Record("a" * 100_000, {})] * 500],
]


def size_until(pieces, most=100_000_000):
    size = 0
    for piece in pieces:
        size += len(piece)
        assert size < most
    return size


@pytest.mark.parametrize("number", range(len(SHARED)))
def test_what_is_shared_takes_bounded_room_in_json(number, monkeypatch):
    """It ends with an error, or has a reference."""
    monkeypatch.setattr(_json, "FIXED", 1 << 16)
    monkeypatch.setattr(_json, "MULTIPLE", 8)
    value = SHARED[number]()
    texts = []
    try:
        for piece in _json.pieces(value):
            texts.append(len(piece))
            assert sum(texts[-1:]) < 1 << 20
            assert len(texts) < 200_000
    except Failure as error:
        assert "JSON has no references to keys and texts" in error.message
    assert sum(texts) < 4_000_000


@pytest.mark.parametrize("number", range(len(SHARED)))
def test_what_is_shared_is_shown_once(number):
    value = SHARED[number]()
    assert size_until((piece for piece, _ in pretty(value)), 2_000_000)


def test_tuples_that_double_are_tried_in_a_line_a_few_times(monkeypatch):
    looked = [0]

    def counted(value):
        looked[0] += 1
        return node(value)

    monkeypatch.setattr(_pretty, "node", counted)
    found = [(1, 1)]
    for _ in range(500):
        found.append((found[-1], found[-1]))
    assert "<as at $[5]" in text(found)
    assert looked[0] < 10_000


def test_long_texts_that_were_shown_before():
    long = "x" * 1000
    assert text([long, [long]]) == f"[\n  '{long}',\n  [\n    <as at $[0]>,\n  ],\n]"
    short_one = "x" * 50
    assert text([short_one, [short_one]]) == f"[\n  '{short_one}',\n  ['{short_one}'],\n]"
    assert back([long, [long]]) == [long, [long]]


def test_what_shares_its_items():
    items = dict.fromkeys(range(10), "x" * 20)
    shown = text([types.MappingProxyType(items), types.MappingProxyType(items), items])
    assert shown.endswith("  mappingproxy({<as at $[0]>}),\n  <as at $[0]>,\n]")


def test_paths_of_what_is_deep_end_with_its_end():
    assert text(deep_with_references(100)).count("<within $...[0]") == 36


def test_records_share_one_account_of_room():
    room = _json.Room()
    before = room.left
    for _ in range(10):
        list(_json.pieces([("x",) * 10] * 2, room))
    one = _json.Room()
    list(_json.pieces([("x",) * 10] * 2, one))
    assert room.left - before == 10 * (one.left - before)


def test_honest_sharing_is_written():
    table = list(range(100))
    value = {"rows": [{"n": n, "table": table, "label": "x" * 600} for n in range(3000)]}
    parents = [{"name": "root"}]
    for n in range(500):
        parents.append({"name": n, "parent": parents[n // 2]})
    keys = keys_that_share(5000, (1, "a", (2.5, None)))
    for found in (value, parents, keys):
        assert back(found) == found


def test_references_are_found_again_wherever_they_lead():
    shared = [1.5, [2.5]]
    value = {"a": shared, "b": {"c": [shared, shared[1]]}, (1, 2): shared, "d": ((shared[1], {3.5}), shared)}
    value["me"] = value
    isomorphic(back(value), value)
    deep = doubled(300, lambda x: [x], [])
    deep.append(deep[0][0])
    isomorphic(back(deep), deep)


def test_reading_keeps_no_paths():
    """Of containers a thousand levels deep a path would be a thousand steps."""
    import tracemalloc

    one = doubled(900, lambda x: [x], [])
    parsed = json.loads(json.dumps([one] * 12))
    tracemalloc.start()
    _json.restore(parsed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_800 * 1000


def test_brackets_in_paths_are_tried_a_few_times(monkeypatch):
    tried = [0]

    def counted(text):
        tried[0] += len(text)
        return ast.literal_eval(text)

    monkeypatch.setattr(_paths, "ast", types.SimpleNamespace(literal_eval=counted))
    for bad in ("[" + "]" * 5000, "[(" + ")]" * 3000, "['a]']" * 1000 + "[" + "]" * 5000):
        tried[0] = 0
        with pytest.raises(ValueError):
            _paths.parse(bad)
        assert tried[0] < 64 * len(bad)
    assert _paths.parse("['a]]]]]']" * 10) == ("a]]]]]",) * 10
