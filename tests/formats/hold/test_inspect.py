"""`_core.outline`: what bytes hold, told without building it."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import io
import itertools
import json
import pathlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import holdall
from holdall import _core, bson, julia, msgpack

try:
    from hypothesis import given
    from hypothesis import strategies as st
except ImportError:
    pytest.skip("hypothesis is not installed", allow_module_level=True)

from tests.support import julia_messages, strategies
from tests.support.extent import examples, sample
from tests.support.places import VECTORS
from tests.support.wire import TAG, length, message

FORMATS: dict[str, Callable[[Any], bytes]] = {
    "hold": holdall.dumps,
    "bson": bson.dumps,
    "julia": julia.dumps,
    "msgpack": msgpack.dumps,
}
DEEP = 300_000


@dataclasses.dataclass
class Point:
    x: int
    y: Any = None


class Colour(enum.Enum):
    RED = 1


class Named(list):
    pass


def outline(data: Any, form: str = "hold", *, depth: int = 3, most: int = 10, values: bool = False) -> Any:
    """The outline; what it says must agree with itself, and with the bytes."""
    found = _core.outline(data, form, depth=depth, most=most, values=values)
    own = sum(row["bytes"] for row in found["kinds"])
    assert found["head"] + own == found["read"]
    assert found["start"] + found["read"] + found["left"] == len(data)
    if found["error"] is None:
        assert form in ("bson", "msgpack") or not found["left"]
    else:
        assert 0 <= found["error_offset"] <= len(data)
    for _, children in families(found):
        assert len(children) <= most
    for node in found["nodes"]:
        assert node["depth"] <= depth
        assert 0 <= node["offset"] <= node["offset"] + node["bytes"] <= len(data)
        assert node["whole"] or found["error"] is not None
        assert (node["value"] is None) or values
    json.dumps(found)
    return found


def families(found: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each node with its members that are shown."""
    members: list[list[Any]] = [[] for _ in found["nodes"]]
    within: list[int] = []
    for at, node in enumerate(found["nodes"]):
        del within[node["depth"] :]
        if within:
            members[within[-1]].append(node)
        within.append(at)
    yield from zip(found["nodes"], members, strict=True)


def tree(found: Any) -> Any:
    """The shown values as Python's own, by what is told of them: what a whole outline of plain values comes back as."""
    made: list[Any] = []
    for node, children in reversed(list(families(found))):
        values = [made.pop() for _ in children]
        if node["kind"] == "dict":
            assert node["items"] == len(children) and all(child["role"] == "key" for child in children)
            made.append({child["key"]: value for child, value in zip(children, values, strict=True)})
        elif node["kind"] == "list":
            assert [child["key"] for child in children] == list(range(len(children)))
            assert node["items"] == len(children) + sum(rest["values"] for rest in node["rest"])
            made.append(values)
        else:
            made.append(None if node["kind"] == "None" else eval(node["value"]))
    (root,) = made
    return root


def labels(found: Any) -> list[tuple[int, Any, str]]:
    """Depth, key and kind of each node."""
    return [
        (
            node["depth"],
            node["key"],
            node["kind"] if node["name"] is None else f"{node['kind']} {node['name']}",
        )
        for node in found["nodes"]
    ]


def counts(found: Any) -> dict[str, int]:
    return {row["kind"]: row["values"] for row in found["kinds"]}


# --- what is told ----------------------------------------------------------------------------------------------------
def test_the_kinds_of_a_message() -> None:
    zone = dt.timezone(dt.timedelta(hours=1))
    values: list[tuple[Any, str]] = [
        (None, "None"),
        (True, "bool"),
        (1 << 80, "int"),
        (1.5, "float"),
        (1j, "complex"),
        ("é", "str"),
        (b"x", "bytes"),
        (bytearray(b"x"), "bytearray"),
        (..., "Ellipsis"),
        (NotImplemented, "NotImplemented"),
        ((1, "x"), "tuple"),
        ({1}, "set"),
        (frozenset([1]), "frozenset"),
        ([1.5, 2.5], "list"),
        (dt.datetime(2024, 2, 29, tzinfo=zone), "datetime"),
        (dt.date(2024, 2, 29), "date"),
        (dt.timedelta(3), "timedelta"),
        (dt.timezone.utc, "timezone"),
        (decimal.Decimal("1.5"), "Decimal"),
        (pathlib.PurePosixPath("x"), "PurePosixPath"),
        (range(3), "range"),
        (slice(1, None), "slice"),
        (collections.deque([1]), "deque"),
        (collections.OrderedDict(a=1), "OrderedDict"),
        (collections.defaultdict(list, a=1), "defaultdict"),
        (collections.Counter("aab"), "Counter"),
        (Colour.RED, f"enum {__name__}.Colour"),
        (Point(1), f"instance {__name__}.Point"),
        (Named([1]), f"instance {__name__}.Named"),
        (ValueError(1), "instance builtins.ValueError"),
        (np.zeros((3, 4), "f4"), "array <f4 (3, 4)"),
        (np.array([{}, 1], object), "array O (2,)"),
        (np.zeros(2, [("a", "i4"), ("b", "i4")]), "array structured (2,)"),
        (np.float32(1), "scalar <f4"),
        (np.dtype("i8"), "dtype <i8"),
    ]
    found = outline(holdall.dumps([value for value, _ in values]), most=100)
    assert [label for depth, _, label in labels(found) if depth == 1] == [label for _, label in values]


def test_members_of_what_holds_others() -> None:
    value = {"named": Named([1, "x"]), "point": Point(1, {2: 3}), "pairs": {(1, 2): "x", "k": 1, 5: None}}
    found = outline(holdall.dumps(value), depth=3)
    assert labels(found)[1:] == [
        (1, "named", f"instance {__name__}.Named"),
        (2, None, "list"),
        (3, 0, "int"),
        (3, 1, "str"),
        (1, "point", f"instance {__name__}.Point"),
        (2, "x", "int"),
        (2, "y", "dict"),
        (3, "int", "int"),
        (1, "pairs", "dict"),
        (2, "tuple", "str"),
        (2, "k", "int"),
        (2, "int", "None"),
    ]
    assert [
        node["role"] for node in found["nodes"]
    ] == "root key content item item key field field other key other key other".split()


def test_packed_items_are_told_together() -> None:
    found = outline(holdall.dumps([list(range(300)), tuple("ab cd ef gh ij".split())]))
    _, ints, texts = found["nodes"]
    assert ints["items"] == 300 and ints["rest"] == [
        {"kind": "int", "name": None, "values": 300, "bytes": 600}
    ]
    assert texts["rest"] == [{"kind": "str", "name": None, "values": 5, "bytes": 15}]
    assert counts(found) == {"int": 300, "str": 5, "list": 2, "tuple": 1}


def test_sharing() -> None:
    shared = ["x"]
    found = outline(holdall.dumps({"a": shared, "b": [shared, shared]}))
    nodes = {node["key"]: node for node in found["nodes"]}
    # Behind the outermost value and the two names.
    assert nodes["a"]["number"] == 3 and nodes["a"]["references"] == 2
    assert [node["target"] for node in found["nodes"] if node["kind"] == "reference"] == [3, 3]
    assert (found["shared"], found["references"]) == (1, 2)
    (referred,) = found["referred"]
    assert referred["kind"] == "list" and referred["references"] == 2
    # Behind its mark.
    assert referred["offset"] == nodes["a"]["offset"] + 1


def test_cycles() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    found = outline(holdall.dumps(ring), depth=10)
    assert labels(found) == [(0, None, "list"), (1, 0, "int"), (1, 1, "reference")]
    assert found["nodes"][0]["references"] == 1 and found["nodes"][2]["target"] == 0


def test_names_that_are_referred_to() -> None:
    @dataclasses.dataclass
    class Other:
        y: int

    found = outline(holdall.dumps([Point(1), Other(2), {"y": 3, "x": 4}, {"y": 1, ("x",): 2}]))
    assert [node["key"] for node in found["nodes"] if node["depth"] == 2] == [
        "x",
        "y",
        "y",
        "y",
        "x",
        "y",
        "tuple",
    ]
    assert {tuple(row["fields"]) for row in found["classes"]} == {("x", "y"), ("y",), ("y", "x")}


def test_classes() -> None:
    found = outline(holdall.dumps([Point(n, Point(n)) for n in range(100)]))
    (row,) = found["classes"]
    assert (row["name"], row["kind"], row["fields"], row["values"]) == (
        f"{__name__}.Point",
        "object",
        ["x", "y"],
        200,
    )
    # What one holds of another is counted once.
    assert row["bytes"] == found["nodes"][0]["bytes"] - 2


def test_limits_of_what_is_shown() -> None:
    value = {f"k{n}": [n, [n, [n]], "x"] for n in range(100)}
    found = outline(holdall.dumps(value), depth=1, most=2)
    assert labels(found) == [(0, None, "dict"), (1, "k0", "list"), (1, "k1", "list")]
    root, first, _ = found["nodes"]
    (rest,) = root["rest"]
    assert rest["kind"] == "list" and rest["values"] == 98
    assert {row["kind"]: row["values"] for row in first["rest"]} == {"int": 1, "list": 1, "str": 1}
    assert labels(outline(holdall.dumps(value), depth=0)) == [(0, None, "dict")]
    assert len(outline(holdall.dumps(value), most=0)["nodes"]) == 1


def test_many_kinds_of_members_are_bounded() -> None:
    types = [dataclasses.make_dataclass(f"C{n}", ["a"]) for n in range(50)]
    found = outline(holdall.dumps([made(1) for made in types]), depth=0)
    (root,) = found["nodes"]
    assert len(root["rest"]) == 17 and root["rest"][-1]["kind"] is None
    assert sum(row["values"] for row in root["rest"]) == 50
    assert found["class_count"] == 50 and len(found["classes"]) == 10


def test_values_only_where_asked_for() -> None:
    for form, dumps in FORMATS.items():
        data = dumps(
            {"key": "".join(["s3n", "tinel"]), "n": 987_654_321, "l": ["".join(["s3n", "tinel"]), 1]}
        )
        hidden = repr(outline(data, form))
        assert "s3ntinel" not in hidden and "987654321" not in hidden
        shown = repr(outline(data, form, values=True))
        assert shown.count("s3ntinel") == 2 and "987654321" in shown
    data = holdall.dumps(
        [decimal.Decimal("987654321"), dt.datetime(2024, 2, 29, 1, 2, 3), 1 << 100, -1.5, True, 2j]
    )
    assert [node["value"] for node in outline(data, values=True)["nodes"][1:]] == [
        *("987654321", "2024-02-29 01:02:03.000000", str(1 << 100), "-1.5", "True", "0.0+2.0j")
    ]


def test_texts_are_short_and_harmless() -> None:
    found = outline(
        holdall.dumps({"x" * 1000: 1, "\x1b[31m\u202e": 2, "日" * 70: 3, "é" * 70: 4, "\ud800": 5})
    )
    keys = [node["key"] for node in found["nodes"]][1:]
    assert keys[0] == "x" * 60 + "…" and keys[1] == "\\u{1b}[31m\\u{202e}"
    assert keys[2] == "日" * 60 + "…" and keys[3] == "é" * 60 + "…"


def test_trusted_messages_are_only_looked_at() -> None:
    found = outline(holdall.dumps([len, pathlib.Path, Recipe()], trust=True), values=True)
    assert labels(found)[1][2] == "global builtins.len"
    assert any(kind.startswith("reduce") for _, _, kind in labels(found))


class Recipe:
    def __reduce__(self) -> Any:
        return print, ("ran",), {"state": 1}


def test_files() -> None:
    """Their message is looked at by itself."""
    value = {"a": [1, "x"]}
    file = io.BytesIO()
    holdall.dump(value, file)
    data = file.getvalue()
    [frame] = holdall._core.file_frames_of(data)
    assert (frame["kind"], frame["codec"], frame["ok"]) == ("message", "stored", True)
    message = data[frame["offset"] : frame["offset"] + frame["size"]]
    assert message == holdall.dumps(value)
    assert labels(outline(message)) == labels(outline(holdall.dumps(value)))


def test_julia() -> None:
    shared = np.ones((2, 3), "f4")
    value = {"m": shared, "again": [shared], "d": julia.Dict({1: 2}), "t": (1, "x"), "n": julia.Int32(3)}
    found = outline(julia.dumps(value), "julia", values=True)
    assert labels(found) == [
        (0, None, "dict"),
        (1, "m", "reference"),
        (1, "again", "list"),
        (2, 0, "reference"),
        (1, "d", "instance Dict{Int64,Int64}"),
        (2, 0, "array Int64 (1,)"),
        (2, 1, "array Int64 (1,)"),
        (1, "t", "tuple"),
        (2, 0, "int"),
        (2, 1, "str"),
        (1, "n", "Int32"),
        (0, None, "array Float32 (2, 3)"),
    ]
    apart = found["nodes"][-1]
    assert apart["role"] == "apart" and (apart["number"], apart["references"]) == (1, 2)
    assert [row["name"] for row in found["classes"]] == ["Dict{Int64,Int64}"]


def test_parts_of_julias_documents_in_any_order() -> None:
    point = julia_messages.struct(julia_messages.datatype("Main", "Point"), [julia_messages.long(1)], True)
    matrix = julia_messages.array(julia_messages.datatype("Core", "Any"), (2,), [point, None])
    kind = {"tag": "unionall", "var": {"x": 1}, "body": {"y": 2}}
    value = {"v": matrix, "t": {"tag": "backref", "ref": 1}, "_backrefs": [point], "k": kind, "last": 1}
    told = set()
    for turned in itertools.product((False, True), repeat=3):
        document = {name: reorder(part, turned[0]) for name, part in value.items()}
        names = list(document)[:: -1 if turned[1] else 1]
        if turned[2]:
            names.sort(key="_backrefs".__eq__)
        found = outline(bson.dumps({name: document[name] for name in names}), "julia", depth=9)
        assert found["error"] is None
        told.add(tuple(sorted((depth, str(key), kind) for depth, key, kind in labels(found))))
    (one,) = told
    assert (2, "0", "instance Main.Point") in one and (0, "None", "instance Main.Point") in one


def reorder(part: Any, turned: bool) -> Any:
    if isinstance(part, list):
        return [reorder(item, turned) for item in part]
    if not isinstance(part, dict) or not turned:
        return part
    return {name: reorder(part[name], turned) for name in reversed(part)}


def test_several_values() -> None:
    for form in ("bson", "msgpack"):
        one = FORMATS[form]({"a": 1})
        found = outline(one + one + b"x", form)
        assert found["error"] is None and found["left"] == len(one) + 1
    for form in ("hold", "julia"):
        found = outline(FORMATS[form]({"a": 1}) + b"x", form)
        assert "1 bytes left over" in found["error"] and len(found["nodes"]) == 2


def test_no_such_format() -> None:
    with pytest.raises(ValueError, match="format must be one of"):
        _core.outline(b"", "pickle", depth=1, most=1)  # type: ignore[arg-type]
    for form in FORMATS:
        assert outline(b"", form)["error"] is not None


# --- properties ------------------------------------------------------------------------------------------------------
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text("abcdé", max_size=9), inner, max_size=6)
    ),
    max_leaves=30,
)


@given(st.dictionaries(st.text("abcdé", max_size=9), PLAIN, max_size=6))
def test_plain_values_are_told_whole(value: Any) -> None:
    # In hold lists of one type are packed, whose items are not shown.
    for form in ("bson", "julia", "msgpack"):
        found = outline(FORMATS[form](value), form, depth=100, most=100, values=True)
        assert tree(found) == value


@given(strategies.graphs(), st.integers(0, 4), st.integers(0, 4))
def test_bytes_add_up(graph: strategies.Graph, depth: int, most: int) -> None:
    for options in ({}, {"canonical": True}, {"trust": True}):
        data = holdall.dumps(graph.root, **options)  # type: ignore[arg-type]
        found = outline(data, depth=depth, most=most)
        assert found["error"] is None
        # However much is shown, the totals are the same.
        whole = outline(data, depth=50, most=50)
        for key in ("kinds", "shared", "references", "numbered", "class_count"):
            assert found[key] == whole[key]
        for node, children in families(whole):
            ends = node["offset"]
            for child in children:
                assert ends <= child["offset"]
                ends = child["offset"] + child["bytes"]
            assert ends <= node["offset"] + node["bytes"]


@given(strategies.graphs(), st.data())
@examples(60)
def test_damaged_graphs(graph: strategies.Graph, draw: st.DataObject) -> None:
    data = bytearray(holdall.dumps(graph.root, trust=True))
    at = draw.draw(st.integers(1, len(data) - 1))
    data[at] = draw.draw(st.integers(0, 255))
    outline(data, depth=50, most=50, values=True)


@given(st.binary(max_size=80), st.sampled_from(list(FORMATS)))
def test_any_bytes(data: bytes, form: str) -> None:
    outline(data, form, values=True)
    if form == "hold":
        outline(message(data), form, values=True)


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_vectors(path: pathlib.Path) -> None:
    vectors = json.loads(path.read_text(encoding="ascii"))["vectors"]
    # Those that go on with others are not read alone.
    messages = [one for one in vectors if "bytes" in one and not one.get("before")]
    assert messages or path.stem in ("files", "logs", "limits", "seals")
    for vector in messages:
        found = outline(bytes.fromhex(vector["bytes"]), depth=20, most=20)
        # What is no value of its type, only those see who build it.
        if vector.get("error", "trusted") == "trusted":
            assert found["error"] is None or vector["bytes"] == "d1", vector
        elif vector.get("tokens"):
            assert found["error"] is not None, vector


# --- damage ----------------------------------------------------------------------------------------------------------
def samples() -> dict[str, tuple[str, bytes]]:
    shared = [1, "x"]
    zone = dt.timezone(dt.timedelta(hours=1))
    graph = {
        "a": [1, 2, 300],
        "b": shared,
        "c": shared,
        "n": np.arange(6, dtype="f4").reshape(2, 3),
        "o": np.array([{}, [1]], dtype=object),
        "p": [Point(1, shared), Point(2, "x")],
        "e": Colour.RED,
        "q": collections.deque([1, [2]]),
        "d": collections.defaultdict(list, {1: [2]}),
        "z": [dt.datetime(2024, 1, 1, tzinfo=zone), dt.datetime(2025, 1, 1, tzinfo=zone)],
        (1, 2): {3, "x"},
        "x": ValueError("x"),
    }
    plain = {"a": 1, "b": [1, {"x": 2.5}], "c": {}, "s": "text", "y": b"123", "n": None}
    array = np.ones((2, 3), "f4")
    tagged = {**plain, "m": array, "m2": array, "d": julia.Dict({1: 2}), "c": 1j, "t": (1, 2)}
    return {
        "graph": ("hold", holdall.dumps(graph)),
        "trusted": ("hold", holdall.dumps([Recipe(), len], trust=True)),
        "bson": ("bson", bson.dumps(plain)),
        "julia": ("julia", julia.dumps(tagged)),
        "msgpack": ("msgpack", msgpack.dumps(plain)),
    }


SAMPLES = samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_truncation(name: str) -> None:
    form, data = SAMPLES[name]
    whole = outline(data, form, depth=50, most=50)
    for end in range(len(data)):
        found = outline(data[:end], form, depth=50, most=50)
        assert found["error"] is not None
        # What stands before the damage is told as it is without it.
        if form in ("hold", "msgpack"):
            assert labels(found) == labels(whole)[: len(found["nodes"])]


@pytest.mark.damage
@pytest.mark.parametrize("name", SAMPLES)
def test_every_byte_corrupted(name: str) -> None:
    form, data = SAMPLES[name]
    bad = bytearray(data)
    for at in sample(range(len(data)), 80):
        for byte in {0, 1, 5, 0x7F, 0x80, 0xC0, 0xFF, *(data[at] ^ 1 << bit for bit in range(8))}:
            bad[at] = byte
            outline(bad, form, depth=50, most=50, values=True)
        bad[at] = data[at]


def test_what_stands_before_the_damage() -> None:
    value = {f"k{n}": [n, "x"] for n in range(5)}
    for form, dumps in FORMATS.items():
        data = dumps(value)
        whole = outline(data, form)
        at = next(node["offset"] for node in whole["nodes"] if node["key"] == "k3")
        found = outline(data[: at + 2], form)
        assert [node["key"] for node in found["nodes"] if node["depth"] == 1][:3] == ["k0", "k1", "k2"]
        assert found["error"].startswith("truncated") and not found["nodes"][0]["whole"]


def test_texts_of_damage() -> None:
    def error(*parts: bytes) -> tuple[str, int]:
        found = outline(message(*parts))
        return found["error"], found["error_offset"]

    mark, ref, one = bytes([TAG.MARK]), bytes([TAG.REF_8]), bytes([TAG.LIST_FIX + 1])
    assert error(one, ref, b"\x07") == ("reference to object 7, which was not written before it", 4)
    assert error(bytes([TAG.INSTANCE_FIX + 3])) == ("layout 3, which was not written before it", 2)
    assert error(one, mark, mark, b"\0") == ("a mark of a mark or of a reference", 4)
    assert error(bytes([TAG.RESERVED]))[0].startswith("unknown tag")
    assert error(bytes([TAG.LIST]), length(9)) == ("truncated: needs at least 9 more bytes", 3)
    assert (
        error(bytes([TAG.KNOWN_TYPE, TAG.known["Counter"], 0]))[0]
        == "a type of the standard library without its content"
    )
    shape = bytes([TAG.SHAPE, 2, 2, TAG.ASCII_FIX + 1, ord("a"), 0, 0])
    assert error(shape) == ("expected names in a layout, found another value", 4)


def bson_nested(levels: int) -> bytes:
    total = 5 + 8 * levels
    heads = b"".join(struct.pack("<i", total - 8 * level) + b"\x03a\0" for level in range(levels))
    return heads + b"\5\0\0\0\0" + bytes(levels)


def test_nesting() -> None:
    deep = {
        "hold": message(bytes([TAG.LIST_FIX + 1]) * DEEP, b"\0"),
        "msgpack": b"\x91" * DEEP + b"\0",
        "bson": bson_nested(DEEP),
        "julia": bson_nested(DEEP),
    }
    for form, data in deep.items():
        found = outline(data, form)
        assert found["error"] is None and len(found["nodes"]) == 4
        cut = outline(data[: len(data) // 2], form)
        assert cut["error"] is not None and len(cut["nodes"]) == 4
    told = 100_000
    found = _core.outline(deep["hold"], "hold", depth=told, most=1)
    assert found["error"] is None and len(found["nodes"]) == told + 1 and found["nodes"][-1]["depth"] == told


def test_documents_that_do_not_end_where_they_say() -> None:
    early = bytearray(bson.dumps({"a": {"b": 1}, "c": 2}))
    early[4 + 3] += 1
    assert outline(early, "bson")["error"] is not None
    zero = bson.dumps({"a": {}, "b": 1, "c": 2})
    at = zero.index(b"\x10b\0")
    found = outline(zero[:at] + b"\0" + zero[at + 1 :], "bson")
    assert (found["error"], found["error_offset"]) == (
        "a document that does not end where its length says",
        at,
    )
