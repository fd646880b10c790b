"""Documents of Lisp's: members are built where they are touched, and are what a load gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdall
from holdall import lisp
from holdall.lisp import Array, Cons, LispObject, Type, keyword
from tests.support.each import each

POINT = Type("T::POINT", ["X", "FAR-Y"])


def graph() -> dict[Any, Any]:
    shared = [1, [2, 3]]
    ring = Cons(1, None)
    ring.cdr = Cons(2, ring)
    return {
        "layers": [{"W": 1}, {"W": shared}], "shared": shared, "point": LispObject(POINT, [keyword("K"), LispObject(POINT, [5, shared])]),
        5: (1, 2, "x"), "dotted": Cons(1, Cons(2, 3)), "ring": ring, "empty": None, "keys": [keyword("K"), keyword("K")],
    }  # fmt: skip


@each("refs", [True, False])
def test_members(refs: bool) -> None:
    value = graph()
    if not refs:
        del value["ring"]
    doc = lisp.open(lisp.dumps(value, refs=refs))
    assert repr(doc).startswith("<holdall.Document: lisp dict of ") and list(doc) == list(value)
    assert doc["layers"][1]["W"][1].load() == [2, 3] and len(doc["layers"]) == 2
    assert doc["point"]["x"] == keyword("K") and doc["point"]["far_y"]["x"] == 5
    assert doc["point"].keys() and list(doc["point"]) == ["x", "far_y"]
    assert doc[5][-1] == "x" and doc[5][:2] == [1, 2] and doc["dotted"] == Cons(1, Cons(2, 3))
    assert doc["empty"] is None and "none" not in doc
    with pytest.raises(KeyError):
        doc["none"]
    with pytest.raises(IndexError):
        doc["layers"][2]


def test_what_is_shared_is_one_object() -> None:
    doc = lisp.open(lisp.dumps(graph()))
    one, other = doc["layers"][1]["W"], doc["shared"]
    assert one is other and one.load() is other.load()
    assert doc["point"]["far_y"]["far_y"] is other
    ring = doc["ring"]
    assert ring.cdr.cdr is ring and doc["ring"] is ring
    first, second = doc["keys"]
    assert first is second
    whole = doc.load()
    assert whole["shared"] is whole["layers"][1]["W"] and whole["ring"].cdr.cdr is whole["ring"]


def test_of_a_type() -> None:
    doc = lisp.open(lisp.dumps(graph()))
    assert doc.get(5, type=tuple[int, int, str]) == (1, 2, "x")
    assert doc.get("shared", type=list[int | list[int]]) == [1, [2, 3]]
    with pytest.raises(holdall.ValidationError):
        doc.get(5, type=list[str])
    typed = lisp.open(lisp.dumps({"a": [1, 2]}), type=dict[str, set[int]])
    assert typed["a"] == {1, 2}


def test_instances_of_other_parts() -> None:
    data = lisp.dumps([LispObject(POINT, [n, None]) for n in range(5)])
    doc = lisp.open(data)
    # The description stands with the first, which is asked for last.
    assert [doc[n]["x"] for n in (4, 2, 0)] == [4, 2, 0]
    assert [doc[n].load() for n in (3, 0)] == [LispObject(POINT, [3, None]), LispObject(POINT, [0, None])]
    assert doc.load() == lisp.loads(data)


def test_files(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "data.bin"
    lisp.dump({"matrix": np.eye(3), "name": "x"}, path, version=True)
    with lisp.open(path, mmap=True) as doc:
        view = doc["matrix"]
        assert not view.flags.owndata and view[1, 1] == 1 and doc["name"] == "x"
    with pytest.raises(ValueError, match="closed"):
        doc["name"]
    assert view[2, 2] == 1
    assert holdall.bson.Document(path.read_bytes(), format="lisp")["name"] == "x"


def test_a_vector_that_holds_itself() -> None:
    doc = lisp.open(bytes([0x22, 0x16, 4 + 2, 0x23, 0xD5]))
    assert doc[1] == 5
    made = doc.load()
    assert type(made) is Array and made.values is not None and made.values[0] is made


def test_vectors_beside_one_that_holds_itself_are_tuples() -> None:
    # #(#1=#(1 #1#) #2=#(3 #2#) #3=#(4 5) #3#), looked up in any order.
    ring = bytes([0x22, 0x16, 4 + 2])
    data = bytes([0x16, 4 + 4]) + ring + b"\xd1\x23" + ring + b"\xd3\x24" + ring + b"\xd4\xd5" + b"\x25"
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        doc = lisp.open(data)
        made = {at: doc[at].load() for at in order}
        assert [type(made[at]) for at in range(4)] == [Array, Array, tuple, tuple]
        assert made[2] is made[3] and made[0].values[1] is made[0]
        whole = doc.load()
        assert [type(one) for one in whole] == [Array, Array, tuple, tuple]


@each(
    "data, why",
    [
        ("", "expected a value, found the end"), ("d1 d2", "load_all reads them"), ("20", "truncated"), ("13 d1", "the description of an object"),
        ("20 05 13 23 05", "the description of an object"), ("1f 07", "unknown action"), ("ff", "unknown tag"),
    ],
)  # fmt: skip
def test_refused_at_once(data: str, why: str) -> None:
    with pytest.raises(holdall.DecodeError, match=why) as raised:
        lisp.open(bytes.fromhex(data))
    assert raised.value.offset is not None


def test_references_to_nothing() -> None:
    doc = lisp.open(bytes.fromhex("20 06 27 d1 05"))
    assert doc[1] == 1
    with pytest.raises(holdall.DecodeError, match="reference to object 5"):
        doc[0]


def test_parse_maps_no_types() -> None:
    class Mapped:
        x: int

    lisp.struct("T::MAPPED", Mapped)
    data = lisp.dumps(LispObject(Type("T::MAPPED", ["X"]), [7]))
    assert type(lisp.loads(data)) is Mapped
    assert type(lisp.parse(data)) is LispObject and lisp.parse(data).x == 7
