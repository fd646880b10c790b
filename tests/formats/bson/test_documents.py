"""Documents that stay bytes: what is found, what is built, what is refused, and what keeps what alive."""

from __future__ import annotations

import gc
import mmap
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall import bson
from tests.support.extent import examples
from tests.support.level import stays_level

VALUES = {
    "int": 1,
    "long": 2**40,
    "float": 1.5,
    "text": "naïve",
    "none": None,
    "true": True,
    "bytes": b"\0\xff",
    "empty": {},
    "no items": [],
    "within": {"a": {"b": [1, {"c": "deep"}]}},
    "items": [1, "two", [3], {"four": 4}],
}


def document(value: Any = VALUES, **options: Any) -> bson.Document:
    return bson.Document(bson.dumps(value), **options)


def whole(value: Any) -> Any:
    return value.load() if isinstance(value, bson.Document) else value


def test_members():
    doc = document()
    assert len(doc) == len(VALUES) and list(doc) == list(doc.keys()) == list(VALUES)
    assert {key: whole(doc[key]) for key in doc} == VALUES
    assert {key: whole(value) for key, value in doc.items()} == VALUES
    assert [whole(value) for value in doc.values()] == list(VALUES.values())
    assert doc.load() == VALUES
    assert "int" in doc and "none" in doc and "nothing" not in doc and 5 not in doc and "\ud800" not in doc
    assert repr(doc) == f"<holdall.Document: bson document of {len(bson.dumps(VALUES))} bytes>"


def test_items():
    items = document()["items"]
    assert len(items) == 4 and [whole(item) for item in items] == VALUES["items"]
    assert items[0] == 1 and items[-1]["four"] == 4 and items[-4] == 1 and whole(items[2]) == [3]
    assert "two" in items and 5 not in items
    assert list(items.keys()) == ["0", "1", "2", "3"]
    assert repr(items).startswith("<holdall.Document: bson array of ")
    for missing in (4, -5, 2**40):
        with pytest.raises(IndexError):
            items[missing]
    assert items[:2] == [1, "two"] and items[3:0:-2][1] == "two" and items[9:] == []
    for wrong in ("0", 1.0, None):
        with pytest.raises(TypeError):
            items[wrong]


def test_what_is_not_there():
    doc = document()
    with pytest.raises(KeyError) as caught:
        doc["nothing"]
    assert caught.value.args == ("nothing",)
    assert doc.get("nothing") is None and doc.get("nothing", 5) == 5 and doc["items"].get(9, "x") == "x"
    assert doc.get("none", 5) is None
    with pytest.raises(TypeError):
        doc[0]


def test_many_members():
    many = {f"key {n}": n for n in range(1000)}
    doc = document(many)
    assert [doc[key] for key in many] == list(many.values()) and doc.get("key 1000") is None
    # Of several members of one name the last counts, as it does for `loads`.
    twice = b"".join(b"\x10a\0" + n.to_bytes(4, "little") for n in range(3))
    data = (len(twice) + 5).to_bytes(4, "little") + twice + b"\0"
    assert bson.Document(data)["a"] == bson.loads(data)["a"] == 2


def test_long_arrays():
    items = document({"n": list(range(100_000)), "d": [{"n": n} for n in range(2_000)]})
    assert items["n"][99_999] == 99_999 and len(items["n"]) == 100_000
    assert [one["n"] for one in items["d"]] == list(range(2_000))


@dataclass
class Inner:
    b: int


@dataclass
class Outer:
    a: Inner
    c: list[Inner]
    d: Any = None


class Record(TypedDict):
    a: Inner


def test_types_of_members():
    doc = document({"a": {"b": 1}, "c": [{"b": 2}], "e": {"b": 3}})
    assert doc.get("a", type=Inner) == Inner(1) and doc.get("c", type=list[Inner]) == [Inner(2)]
    assert doc["c"].get(0, type=Inner) == Inner(2)
    with pytest.raises(
        holdall.ValidationError, match="Expected `int`, got `Inner`|Expected `int`, got `dict`"
    ):
        doc.get("a", type=int)


def test_a_type_of_the_whole():
    data = bson.dumps({"a": {"b": 1}, "c": [{"b": 2}], "d": {"x": [1]}, "e": {"b": 3}})
    doc = bson.Document(data, type=Outer)
    assert doc["a"] == Inner(1) and doc["c"] == [Inner(2)] and dict(doc.items())["a"] == Inner(1)
    # What the type does not say stays a document.
    assert (
        isinstance(doc["d"], bson.Document) and doc["d"]["x"][0] == 1 and isinstance(doc["e"], bson.Document)
    )
    assert doc.load() == Outer(Inner(1), [Inner(2)], {"x": [1]})
    assert bson.Document(data, type=Record)["a"] == Inner(1)
    assert bson.Document(bson.dumps({"k": {"b": 4}}), type=dict[str, Inner])["k"] == Inner(4)
    assert isinstance(bson.Document(data, type=Outer | None)["a"], (Inner, bson.Document))


def test_zones():
    import datetime

    moment = datetime.datetime(2026, 5, 1, tzinfo=datetime.timezone.utc)
    data = bson.dumps({"a": {"m": moment}})
    assert bson.Document(data)["a"]["m"] == moment
    assert bson.Document(data, tz_aware=False)["a"]["m"] == moment.replace(tzinfo=None)


# --- bytes ---


def test_views_share_the_bytes():
    data = bytearray(bson.dumps({"a": {"blob": b"abc"}, "z": 1}))
    doc = bson.Document(data)
    view = doc["a"].get("blob", type=memoryview)
    assert view == b"abc" and view.readonly
    data[data.index(b"abc")] = ord("X")
    assert view == b"Xbc"
    assert bytes(doc.raw) == bytes(data) and doc.raw.readonly
    assert bytes(doc["a"].raw) == bson.dumps({"blob": b"Xbc"})
    old = bson.dumps({"n": 1})
    assert bson.Document(memoryview(b"__" + old + b"__")[2:-2])["n"] == 1


def test_an_old_binary_as_a_view():
    old = b"\x05b\0\x07\0\0\0\x02\x03\0\0\0abc"
    data = (len(old) + 5).to_bytes(4, "little") + old + b"\0"
    assert bson.Document(data).get("b", type=memoryview) == b"abc"


def test_close():
    data = bytearray(bson.dumps(VALUES))
    doc = bson.Document(data)
    within = doc["within"]
    with pytest.raises(BufferError):
        data.append(0)
    doc.close()
    doc.close()
    data.append(0)
    for act in (
        lambda: doc["int"],
        lambda: len(doc),
        lambda: within["a"],
        lambda: list(doc),
        lambda: doc.raw,
        doc.load,
    ):
        with pytest.raises(ValueError, match="^the document is closed$"):
            act()


def test_files_are_mapped(tmp_path):
    path = tmp_path / "one.bson"
    bson.dump(VALUES, path)
    with bson.open(path) as doc:
        view = doc.get("bytes", type=memoryview)
        assert isinstance(view.obj, mmap.mmap)
        within = doc["within"]
    with pytest.raises(ValueError, match="closed"):
        within["a"]
    # A view that is still in use keeps the map.
    assert view == b"\0\xff"
    mapped = view.obj
    del view, doc, within
    gc.collect()
    mapped.close()
    # The file that takes its place is another one.
    doc = bson.open(path)
    bson.dump({"other": 1}, path)
    assert doc["int"] == 1 and bson.open(path)["other"] == 1
    path.write_bytes(b"")
    with pytest.raises(holdall.TruncatedError):
        bson.open(path)
    with pytest.raises(FileNotFoundError):
        bson.open(tmp_path / "none.bson")


def test_only_one_document(tmp_path):
    path = tmp_path / "two.bson"
    path.write_bytes(bson.dumps({"a": 1}) * 2)
    with pytest.raises(holdall.DecodeError, match="12 bytes left over after the message - at byte 12"):
        bson.open(path)


# --- damage ---


@pytest.mark.parametrize(
    "data",
    [b"", b"\x05", b"\x04\0\0\0", b"\x06\0\0\0\0", b"\xff\xff\xff\xff\0", b"\x05\0\0\0\0\0"],
    ids=bytes.hex,
)
def test_no_document_at_all(data):
    with pytest.raises(holdall.DecodeError):
        bson.Document(data)


def test_damage_shows_where_it_is_touched():
    good = bson.dumps({"a": {"text": "abc"}, "b": 1})
    bad = good.replace(b"abc", b"\xff\xff\xff")
    doc = bson.Document(bad)
    assert doc["b"] == 1 and list(doc["a"]) == ["text"]
    with pytest.raises(holdall.DecodeError, match="expected UTF-8 text") as caught:
        doc["a"]["text"]
    assert 0 < caught.value.offset <= len(bad)
    # A nested length that is not true is found when the document is looked into.
    at = good.index(b"\x03a\0") + 3
    short = (
        good[:at] + (int.from_bytes(good[at : at + 4], "little") - 1).to_bytes(4, "little") + good[at + 4 :]
    )
    for act in (lambda doc: doc["b"], lambda doc: list(doc), len, lambda doc: "b" in doc, bson.Document.load):
        with pytest.raises(holdall.DecodeError):
            act(bson.Document(short))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text().filter(lambda key: "\0" not in key), inner, max_size=5)
    ),
    max_leaves=30,
)
documents = st.dictionaries(st.text().filter(lambda key: "\0" not in key), values, max_size=8)


def touched(value: Any) -> Any:
    """All of a value, by the members of its members."""
    if not isinstance(value, bson.Document):
        return value
    if repr(value).startswith("<holdall.Document: bson array"):
        return [touched(value[at]) for at in range(len(value))]
    return {key: touched(value[key]) for key in value}


@examples(150)
@given(documents)
def test_lazily_read_is_eagerly_read(value):
    data = bson.dumps(value)
    doc = bson.Document(data)
    assert touched(doc) == doc.load() == bson.loads(data)
    assert dict(doc.items()).keys() == value.keys() and len(doc) == len(value)


@examples(150)
@given(documents, st.data())
def test_damaged_documents(value, draw):
    data = bytearray(bson.dumps(value))
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    try:
        found = touched(bson.Document(data, format="bson"))
    except (holdall.DecodeError, ImportError):
        return
    # What is whole is whole for both: names that come twice are one key.
    assert found.keys() == bson.loads(data).keys()


def test_counts_stay_level(only_new_objects):
    data = bson.dumps(VALUES)
    bad = data.replace("naïve".encode(), b"na\xff\xffve")

    def act() -> None:
        doc = bson.Document(data)
        touched(doc)
        doc.get("items", type=list[Any])
        list(doc.items())
        with pytest.raises(KeyError):
            doc["nothing"]
        with pytest.raises(holdall.DecodeError):
            touched(bson.Document(bad))

    act()
    stays_level(act, 100)
