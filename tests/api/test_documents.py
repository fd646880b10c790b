"""Documents of every format: read where they are touched, they say what a load says."""

from __future__ import annotations

import array
import contextlib
import decimal
import gc
import itertools
import mmap
import os
import pathlib
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

import holdall
from holdall import Document, bson, msgpack
from tests.support import extent
from tests.support import file_frames as ff
from tests.support import wire as w
from tests.support.each import each
from tests.support.extent import examples
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, TYPES, Kind
from tests.support.level import damaged, stays_level, uses

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from tests.support.strategies import Graph, graphs  # noqa: E402


class Doc(NamedTuple):
    """A format that has documents."""

    name: str
    dumps: Callable[..., bytes]
    loads: Callable[..., Any]
    dump: Callable[..., None]
    open: Callable[..., Document]

    def of(self, obj: Any, **options: Any) -> Document:
        return Document(self.dumps(obj), format=self.name, **options)  # type: ignore[arg-type]


DOCS = [
    Doc("hold", holdall.dumps, holdall.loads, holdall.dump, holdall.open),
    Doc("msgpack", msgpack.dumps, msgpack.loads, msgpack.dump, msgpack.open),
    Doc("bson", bson.dumps, bson.loads, bson.dump, bson.open),
]


@pytest.fixture(params=DOCS, ids=lambda doc: doc.name)
def doc(request: pytest.FixtureRequest) -> Doc:
    return request.param


HOLD = DOCS[0]


def whole(value: Any) -> Any:
    return value.load() if isinstance(value, Document) else value


def is_list(value: Document) -> bool:
    return "list" in repr(value).split(" of ")[0] or "array" in repr(value).split(" of ")[0]


def taken_apart(value: Any) -> Any:
    """A tree, by the members of its members; lists and tuples are lists."""
    if not isinstance(value, Document):
        return value
    if is_list(value):
        return [taken_apart(value[at]) for at in range(len(value))]
    return {key: taken_apart(value[key]) for key in value}


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


# --- small ones ------------------------------------------------------------------------------------------------------
SMALL = {
    "int": 1,
    "none": None,
    "text": "naïve",
    "list": [1, "two", [3.5], {"four": 4}],
    "dict": {"a": {"b": [1, {"c": "deep"}]}},
    "empty": {},
    "nothing": [],
    "ints": [1, 2, 3, 400, -5],
    "floats": [1.5, 2.5],
    "bools": [True, False],
    "texts": ["a", "bc", ""],
    "bytes": b"\0\xff",
}


def test_members(doc: Doc) -> None:
    one = doc.of(SMALL)
    assert len(one) == len(SMALL) and list(one) == list(one.keys()) == list(SMALL)
    assert {key: whole(one[key]) for key in one} == SMALL
    assert {key: whole(value) for key, value in one.items()} == SMALL
    assert [whole(value) for value in one.values()] == list(SMALL.values())
    # In hold a value's bytes are no message of their own.
    assert one.load() == SMALL == doc.loads((b"\xc1" if doc is HOLD else b"") + bytes(one.raw))
    assert "int" in one and "none" in one and "absent" not in one and 5 not in one and [] not in one
    assert one.get("absent") is None and one.get("absent", 7) == 7 and one.get("none", 7) is None
    assert taken_apart(one) == SMALL
    with pytest.raises(KeyError) as caught:
        one["absent"]
    assert caught.value.args == ("absent",)
    name = {"hold": "hold dict", "msgpack": "msgpack dict", "bson": "bson document"}[doc.name]
    assert repr(one) == f"<holdall.Document: {name} of {len(one.raw)} bytes>"


@pytest.mark.parametrize("name", ["list", "ints", "floats", "bools", "texts", "nothing"])
def test_items(doc: Doc, name: str) -> None:
    items, expected = doc.of(SMALL)[name], SMALL[name]
    assert isinstance(items, Document) and len(items) == len(expected)
    for at in range(-len(expected), len(expected)):
        assert whole(items[at]) == expected[at] and whole(items.get(at)) == expected[at]
        assert type(whole(items[at])) is type(expected[at])
    assert [whole(item) for item in items] == [whole(item) for item in items.values()] == expected
    ends = [None, *range(-7, 8)]
    for start, stop, step in itertools.product(ends, ends, [None, 1, 2, -1, -3]):
        assert [whole(item) for item in items[start:stop:step]] == expected[start:stop:step]
    for absent in (len(expected), -len(expected) - 1, 2**62, -(2**62)):
        with pytest.raises(IndexError):
            items[absent]
        assert items.get(absent, "none") == "none"
    for wrong in ("0", 1.0, None, b"0"):
        with pytest.raises(TypeError):
            items[wrong]
    keys = [str(at) if doc.name == "bson" else at for at in range(len(expected))]
    assert list(items.keys()) == keys and [key for key, _ in items.items()] == keys
    for item in expected:
        assert isinstance(item, (list, dict)) or item in items
    assert 77 not in items and "absent" not in items
    with pytest.raises(ValueError):
        items[::0]


LONG_RUNS = {
    "bools": [at % 3 == 0 for at in range(500)],
    "texts": ["x" * (at % 40) for at in range(500)],
    "ints": list(range(500)),
    "floats": [at / 7 for at in range(500)],
}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_items_of_long_runs(name: str) -> None:
    """They stand in one block, of which each item has its place."""
    expected = LONG_RUNS[name]
    items = HOLD.of({"a": 1, "run": expected})["run"]
    assert [items[at] for at in range(-500, 500)] == expected * 2 and list(items) == expected
    item = type(expected[0])
    typed = Document(holdall.dumps(expected), type=list[item])  # type: ignore[valid-type]
    assert list(typed) == expected and typed[-1] == expected[-1]


def test_runs_whose_bytes_change() -> None:
    """What was checked when the document was opened may be something else by now."""
    data = bytearray(holdall.dumps([[f"{at:020}" for at in range(40)], [True, False] * 20]))
    one = Document(data)
    texts, bools = one[0], one[1]
    at = data.index(b"0" * 20)
    data[at + 25] = 0xFF
    assert texts[0] == "0" * 20
    with pytest.raises(holdall.DecodeError, match="have changed since it was opened"):
        texts[1]
    data[-1] = 7
    assert bools[-1] is True
    data[at - 1] = 200
    with contextlib.suppress(holdall.DecodeError):
        list(texts)


class Index:
    def __index__(self) -> int:
        return 1


def test_what_can_be_an_index(doc: Doc) -> None:
    assert doc.of(SMALL)["list"][Index()] == "two" and doc.of(SMALL)["list"][True] == "two"
    with pytest.raises((IndexError, OverflowError)):
        doc.of(SMALL)["list"][2**100]


def test_dicts_are_not_sliced(doc: Doc) -> None:
    with pytest.raises((TypeError, KeyError)):
        doc.of(SMALL)[1:2]


@pytest.mark.parametrize("value", [5, "text", None, b"bytes", 1.5])
def test_a_single_value(value: Any) -> None:
    for doc in DOCS[:2]:
        one = doc.of(value)
        assert one.load() == value and bytes(one.raw) == doc.dumps(value)[doc is HOLD :]
        for act in (len, list, lambda one: one["a"], lambda one: one.keys()):
            with pytest.raises(TypeError):
                act(one)


def test_close(doc: Doc, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    doc.dump(SMALL, path)
    with doc.open(path) as one:
        within, steps = one["list"], one.items()
        next(steps)
    one.close()
    for act in (
        lambda: one["int"],
        lambda: one.get("int"),
        lambda: len(one),
        lambda: "int" in one,
        lambda: list(one),
        lambda: one.raw,
        one.load,
        lambda: within[0],
        lambda: list(within),
        lambda: within.load(),
        lambda: next(steps),
    ):
        with pytest.raises(ValueError, match="^the document is closed$"):
            act()
    assert repr(one).startswith("<holdall.Document: ")


RUNS: list[list[Any]] = [
    [1, 2, 3] * 5, [300] * 9, [70_000] * 9, [1 << 40] * 9, [1.5] * 9, [True, False] * 5, [f"text {number}" for number in range(30)],
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}")
def test_a_run_that_became_another(run: list[Any]) -> None:
    """Nobody can keep others from writing to a file or a bytearray that a document shows."""
    data = bytearray(HOLD.dumps(run))
    document = Document(data, format="hold")
    assert whole(document) == run and data[2] == len(run)
    last = document[len(run) - 1]
    data[2] = len(run) - 1
    error = "^the bytes of the document have changed since it was opened - at byte 1$"
    with pytest.raises(holdall.DecodeError, match=error):
        document[len(run) - 1]
    assert document[0] == run[0] or isinstance(last, str)  # (of texts the lengths stand first)
    data[1:3] = HOLD.dumps([])[1:2] + b"\0"
    with pytest.raises(holdall.DecodeError, match=error):
        document[0]


@pytest.mark.damage
@pytest.mark.parametrize("seed", range(20 if extent.full else 2))
def test_data_that_changes_under_a_document(doc: Doc, seed: int) -> None:
    """Any answer or error will do, but no crash, and nothing that is no ordinary exception."""
    rng = random.Random(seed)
    obj = {
        "ints": [1, 2, 300], "floats": [1.5, 2.5], "texts": ["one", "two"], "bools": [True, False], "bytes": b"some bytes",
        "dicts": [{"x": number, "y": [number]} for number in range(20)], "table": {f"key {number}": number for number in range(40)},
    }  # fmt: skip
    whole_data = doc.dumps(obj)

    def touch(one: Any, depth: int = 0) -> None:
        if not isinstance(one, Document) or depth > 4:
            return
        for act in (
            lambda: one.load(),
            lambda: bytes(one.raw),
            lambda: len(one),
            lambda: repr(one),
            lambda: one["key 7"],
            lambda: one[1],
            lambda: one.get("texts", type=list[str]),
            lambda: [touch(member, depth + 1) for member in one.values()],
            lambda: [touch(member, depth + 1) for member in one],
        ):
            with contextlib.suppress(Exception):
                act()

    for _ in range(150):
        data = bytearray(whole_data)
        one = Document(data, format=doc.name)  # type: ignore[arg-type]
        known = [one[name] for name in obj if name != "bytes"]
        if rng.random() < 0.5:  # places of members are known
            touch(one)
        steps = iter(known[-2])
        next(steps)
        for _ in range(rng.choice([1, 3, 30])):
            at = rng.randrange(len(data))
            size = rng.choice([1, 1, 4, 30])
            change = rng.choice([rng.randbytes(size), bytes(size), whole_data[:size], b"\xff" * size])
            data[at : at + size] = change[: len(data) - at]
        for part in (one, *known):
            touch(part)
        with contextlib.suppress(Exception):
            touch(next(steps))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_nothing_stays_open(doc: Doc, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    doc.dump(SMALL, path)
    one = doc.open(path)
    assert uses(path)[1] == 1
    within = one["list"]
    del one
    gc.collect()
    assert uses(path)[1] == 1 and whole(within[3]) == {"four": 4}
    del within
    gc.collect()
    assert uses(path) == (0, 0)
    with doc.open(path):
        assert uses(path)[1] == 1
    assert uses(path) == (0, 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows replaces no file that is mapped")
def test_the_file_may_be_replaced(doc: Doc, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    doc.dump(SMALL, path)
    with doc.open(path) as one:
        doc.dump({"other": 1}, path)
        assert taken_apart(one) == SMALL
    assert doc.open(path).load() == {"other": 1}


def test_no_such_format() -> None:
    with pytest.raises(ValueError, match='format: expected "bson", "julia", "lisp", "msgpack" or "hold"'):
        Document(b"", format="json")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='mmap: expected True or "copy"'):
        holdall.open("nowhere", mmap=False)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        holdall.open("nowhere")


# --- types -----------------------------------------------------------------------------------------------------------
@dataclass
class Layer:
    name: str
    size: int = 0
    within: list[Layer] = field(default_factory=list)


@dataclass
class Model:
    layers: list[Layer]
    best: Layer
    notes: Any = None


def as_dicts() -> Any:
    layers = [{"name": f"layer {n}", "size": n, "within": []} for n in range(3)]
    return {"layers": layers, "best": layers[1], "notes": {"a": [1, 2]}, "more": 1}


def test_types_of_members(doc: Doc) -> None:
    one = doc.of(as_dicts())
    layers = [Layer(f"layer {n}", n) for n in range(3)]
    assert one.get("layers", type=list[Layer]) == layers and one.get("best", type=Layer) == layers[1]
    assert one["layers"].get(-1, type=Layer) == layers[2] and one.get("more", type=float) == 1.0
    assert one["notes"].get("a", type=tuple[int, int]) == (1, 2)
    assert one["notes"]["a"].get(0, type=int) == 1
    for read in (
        lambda: one.get("best", type=int),
        lambda: one.get("more", type=str),
        lambda: one["notes"]["a"].get(0, type=str),
        lambda: one["layers"].get(0, type=list[int]),
    ):
        with pytest.raises(holdall.ValidationError):
            read()
    assert one.get("absent", type=int) is None and one.get("absent", 3, type=int) == 3
    # A type leaves no traces.
    assert isinstance(one["best"], Document) and one["best"]["name"] == "layer 1"


def test_a_type_of_the_whole(doc: Doc, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    doc.dump(as_dicts(), path)
    layers = [Layer(f"layer {n}", n) for n in range(3)]
    with doc.open(path, type=Model) as one:
        assert one["layers"] == layers and one["best"] == layers[1]
        assert isinstance(one["notes"], Document) and one["notes"]["a"][1] == 2
        assert one["more"] == 1 and dict(one.items())["best"] == layers[1]
        assert one.load() == Model(layers, layers[1], {"a": [1, 2]})
    with doc.open(path, type=dict[str, int]) as one:
        assert one["more"] == 1
        with pytest.raises(holdall.ValidationError):
            one["best"]
        with pytest.raises(holdall.ValidationError):
            one.load()


def test_lists_by_a_type() -> None:
    for doc in DOCS[:2]:
        one = doc.of([1, 2, 3], type=list[float])
        assert [one[at] for at in range(3)] == list(one) == [1.0, 2.0, 3.0] and type(one[0]) is float
        one = doc.of([{"name": "a"}], type=list[Layer])
        assert one[0] == Layer("a") and one[-1] == Layer("a") and one[:] == [Layer("a")]
        with pytest.raises(holdall.ValidationError):
            doc.of(["a"], type=list[int])[0]


class Unknown:
    def __init__(self) -> None:
        self.a, self.b = [1], {"c": 2}


def test_instances() -> None:
    obj = {"model": Model([Layer("a", 1), Layer("b", 2)], Layer("c", 3, [Layer("d")])), "other": Unknown()}
    one = HOLD.of(obj, types=[Model, Layer])
    model = one["model"]
    assert repr(model).startswith("<holdall.Document: hold instance of ")
    assert list(model) == ["layers", "best", "notes"] and len(model) == 3 and "best" in model
    assert model["best"]["within"][0]["name"] == "d" and model["notes"] is None
    assert model.load() == obj["model"] and model["layers"].load() == obj["model"].layers
    assert model.get("best", type=Layer) == obj["model"].best
    with pytest.raises(KeyError):
        model["absent"]
    # What may not be built can be looked into nevertheless.
    other = one["other"]
    assert other["a"][0] == 1 and other["b"]["c"] == 2
    for read in (other.load, one.load, HOLD.of([Unknown()])[0].load):
        with pytest.raises(holdall.UnknownTypeError):
            read()
    records = HOLD.of(obj, types=holdall.Record).load()
    assert records["other"].type_name.endswith("Unknown") and records["other"].fields["a"] == [1]


# --- hold: objects that are shared ---------------------------------------------------------------------------------------
def in_parts(doc: Document, order: list[int]) -> list[Any]:
    """The members of a list, each loaded on its own, in that order."""
    found: list[Any] = [None] * len(doc)
    for at in order:
        found[at] = whole(doc[at])
    return found


class Pair:
    """Has its fields in either order, so that there are two layouts of one class, and the second refers to names of the first."""

    def __init__(self, other: Any, turned: bool) -> None:
        self.__dict__.update({"b": 1, "a": other} if turned else {"a": other, "b": 1})


@each("order", list(itertools.permutations(range(4))), ids=str)
def test_layouts_that_refer_to_names(order: tuple[int, ...]) -> None:
    """What comes behind such a layout has the number that it has in the message."""
    shared, text = [1], "".join(["a te", "xt"])
    obj = [Pair(Pair(text, True), False), [shared, text], shared, text]
    one = HOLD.of(obj, types=Pair)
    isomorphic(obj, in_parts(one, [*order, *order]))


@examples(150)
@given(st.lists(graphs(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_parts_of_random_graphs(drawn: list[Graph], rng: random.Random) -> None:
    """Whatever the order, the parts are one graph, and it is the graph that was stored."""
    pool = [one.root for one in drawn]
    # Each thing is met in several members.
    obj = [pool[0], pool[-1], [pool[0], pool], {"again": pool[-1], "pool": pool}, *pool, pool[0]]
    data = holdall.dumps(obj)
    one = Document(data, format="hold", types=TYPES)
    order = [*range(len(obj)), *range(len(obj))]
    rng.shuffle(order)
    # Not with what a load gives: there keys of equal text are one object, as it remembers them.
    isomorphic(obj, in_parts(one, order))
    isomorphic(obj, Document(data, format="hold", types=TYPES).load())


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_in_parts(kind: Kind) -> None:
    thing = kind.make()
    obj = [thing, [thing], {"k": thing}, (thing, 1), thing]
    try:
        data = holdall.dumps(obj)
    except holdall.EncodeError:
        return
    eager = holdall.loads(data, types=TYPES)
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 2, 4, 1, 3, 1]):
        isomorphic(eager, in_parts(Document(data, format="hold", types=TYPES), order))


def test_identity_across_parts() -> None:
    shared, text = [1, {"a": 2}], "".join(["long", "er text"])
    cycle: list[Any] = [shared]
    cycle.append(cycle)
    obj = {"one": [shared, text], "two": {"s": shared, text: text}, "cycle": cycle, "three": (shared, cycle)}
    for order in itertools.permutations(obj):
        one = HOLD.of(obj)
        found = {key: whole(one[key]) for key in order}
        isomorphic(obj, {key: found[key] for key in obj})
        assert found["one"][0] is found["two"]["s"] is found["cycle"][0] is found["three"][0]
        assert found["three"][1] is found["cycle"] is found["cycle"][1]
        assert whole(one["one"])[0] is found["one"][0] and whole(one["cycle"]) is found["cycle"]
        isomorphic(obj, one.load())


def test_documents_of_shared_objects_are_one() -> None:
    shared = [1, [2, 3]]
    one = HOLD.of({"a": shared, "b": [shared], "c": 5})
    first = one["a"]
    assert one["b"][0] is first and one["a"] is first
    assert first.load() is one["b"].load()[0]
    del first
    gc.collect()
    assert one["b"][0][1][0] == 2


def test_cycles() -> None:
    obj: dict[str, Any] = {"name": "root", "list": []}
    obj["self"] = obj
    obj["list"] += [obj, obj["list"]]
    one = HOLD.of(obj)
    assert one["self"]["self"]["list"][0]["name"] == "root"
    assert one["list"][1][1][0]["list"][0]["self"]["name"] == "root"
    made = one["list"].load()
    assert made[1] is made and made[0]["list"] is made and made[0]["self"] is made[0]
    isomorphic(obj, one["self"].load())


def test_keys_that_are_shared() -> None:
    key = "".join(["a key that", " is also a value"])
    obj = [
        key,
        {key: 1},
        {key: key, "x": {key: 2}},
        [{key: n} for n in range(100)],
        dict.fromkeys(range(100), key),
    ]
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        one = HOLD.of(obj)
        isomorphic(obj, in_parts(one, order))
    assert one[1][key] == 1 and one[2]["x"][key] == 2 and one[3][50][key] == 50 and one[4][7] == key


# --- large ones ------------------------------------------------------------------------------------------------------------
LARGE: dict[str, Callable[[], Any]] = {
    "list of dicts": lambda: [{"n": n, "text": f"text {n}", "list": [n, None]} for n in range(20_000)],
    "list of numbers": lambda: list(range(200_000)),
    "list of floats": lambda: [n / 7 for n in range(200_000)],
    "list of texts": lambda: [f"text {n}" for n in range(200_000)],
    "list of bools": lambda: [n % 3 == 0 for n in range(200_000)],
    "mixed list": lambda: [n if n % 2 else f"{n}" for n in range(200_000)],
    "list of lists": lambda: [[[n], [n, [n]]] for n in range(30_000)],
    "matrix": lambda: [[n * m for m in range(300)] for n in range(300)],
    "nested big ones": lambda: [[[[k, str(k)] for k in range(40)] for _ in range(40)] for _ in range(40)],
}


@pytest.mark.parametrize("name", LARGE)
def test_large_lists(doc: Doc, name: str, tmp_path: pathlib.Path) -> None:
    obj = LARGE[name]()
    path = tmp_path / "a"
    doc.dump({"before": 1, "list": obj, "after": [1]}, path)
    rng = random.Random(name)
    with doc.open(path) as one:
        assert whole(one["after"]) == [1]
        items = one["list"]
        assert len(items) == len(obj)
        for at in [0, -1, len(obj) // 2, *(rng.randrange(-len(obj), len(obj)) for _ in range(60))]:
            assert whole(items[at]) == obj[at]
        assert [whole(item) for item in items[1000:200:-97]] == obj[1000:200:-97]
        for at, item in zip(range(300), items, strict=False):
            assert whole(item) == obj[at]
        assert items.load() == obj
    # Without an index of the file's.
    items = doc.of({"list": obj})["list"]
    for at in (len(obj) - 1, 0, 33):
        assert whole(items[at]) == obj[at]


def keys_of(name: str) -> dict[Any, Any]:
    # Keys that are no text are looked for one by one.
    n = 50_000 if name in ("text", "unicode", "latin") else 4_000
    return {
        "text": lambda: {f"key {at}": [at, "x"] for at in range(n)},
        "unicode": lambda: {f"ключ {at} \U0001f511": at for at in range(n)},
        "latin": lambda: {f"clé {at}": at for at in range(n)},
        "long": lambda: {f"{at}" + "x" * 100: at for at in range(5000)},
        "numbers": lambda: {at * 3: str(at) for at in range(n)},
        "mixed": lambda: {(at if at % 3 else f"k{at}"): at for at in range(n)},
        "others": lambda: {
            **{(at, "t"): at for at in range(500)},
            **{bytes([at]): at for at in range(200)},
            **{at + 0.5: at for at in range(500)},
            None: 1,
            True: 2,
            frozenset([1]): 3,
            "text": 4,
            "": 5,
        },
    }[name]()


@pytest.mark.parametrize("name", ["text", "unicode", "latin", "long", "numbers", "mixed", "others"])
@pytest.mark.parametrize("compress", [None, "zstd"])
def test_large_dicts(name: str, compress: Any, tmp_path: pathlib.Path) -> None:
    obj = keys_of(name)
    path = tmp_path / "a.hold"
    holdall.dump([0, obj, [obj]], path, compress=compress)
    rng = random.Random(name)
    keys = list(obj)
    some = [*keys[:3], *keys[-3:], *rng.choices(keys, k=60)] if name != "others" else keys[::60] + keys[-5:]
    few = some[:12] if name in ("numbers", "mixed") else some
    for one in (holdall.open(path)[1], holdall.open(path)[2][0], HOLD.of([0, obj])[1]):
        assert len(one) == len(obj)
        for key in few:
            assert key in one and whole(one[key]) == obj[key]
        for absent in ("absent", "key -1", "key 50000", -1, (1, 2, 3), b"absent", 0.25):
            assert absent not in one
        with pytest.raises(KeyError):
            one["absent"]
        with pytest.raises(TypeError):
            one[[]]
        for (key, value), expected in zip(one.items(), obj.items(), strict=False):
            assert (key, whole(value)) == expected
            if key == keys[min(200, len(keys) - 1)]:
                break
    assert one.load() == obj


@pytest.mark.parametrize("name", ["text", "unicode", "long"])
def test_large_dicts_of_other_formats(name: str, tmp_path: pathlib.Path) -> None:
    obj = keys_of(name)
    for doc in DOCS[1:]:
        doc.dump({"a": obj}, tmp_path / "a")
        with doc.open(tmp_path / "a") as one:
            for key in [*list(obj)[:10], *list(obj)[-10:]]:
                assert whole(one["a"][key]) == obj[key]
            assert one["a"].get("absent") is None and len(one["a"]) == len(obj)


def test_equal_keys() -> None:
    """As in a dict: what is equal is the same key, whatever its type."""
    numbers = {**{n: n for n in range(100)}, **{f"{n}": -n for n in range(100)}}
    for obj in ({1: "a", "1": "b"}, numbers):
        one = HOLD.of([obj])[0]
        assert one[1] == one[1.0] == one[True] == obj[1] and one["1"] == obj["1"]

    class Text(str):
        pass

    assert HOLD.of([numbers])[0][Text("5")] == -5 and Text("5") in HOLD.of([numbers])[0]


def test_many_instances(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    layers = [Layer(f"layer {n}", n) for n in range(20_000)]
    obj = {"all": layers, "some": layers[::100], "by name": {one.name: one for one in layers[::50]}}
    holdall.dump(obj, path)
    with holdall.open(path, types=Layer) as one:
        assert one["by name"]["layer 15000"]["size"] == 15_000
        assert one["some"][150]["name"] == "layer 15000"
        made = one["by name"]["layer 15000"].load()
        assert made == layers[15_000] and one["some"][150].load() is made is one["all"][15_000].load()
        isomorphic(holdall.load(path, types=Layer), one.load())


def test_one_object_from_many_places(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    shared = {"table": list(range(5000)), "name": "shared", "texts": [f"t{n}" for n in range(3000)]}
    obj = [[n, shared, shared["texts"]] for n in range(20_000)]
    holdall.dump(obj, path)
    with holdall.open(path) as one:
        made = one[19_999].load()
        assert made[1] == shared and made[1]["texts"] is made[2]
        for at in (0, 7, 10_000, 19_998):
            assert one[at].load()[1] is made[1] and one[at][1]["name"] == "shared"
        assert one[5][1] is one[15_000][1]


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_deep(depth: int, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj: Any = ["bottom"]
    for level in range(depth):
        obj = [level, obj] if level % 2 else {"level": level, "down": obj}
    holdall.dump({"deep": obj, "after": 5}, path)
    with holdall.open(path) as one:
        assert one["after"] == 5
        at = one["deep"]
        for level in range(depth - 1, depth - 50, -1):
            assert at[0 if level % 2 else "level"] == level
            at = at[1 if level % 2 else "down"]
        isomorphic(obj, one["deep"].load())
        # All the way down.
        if depth == 1000:
            at = one["deep"]
            for level in range(depth - 1, -1, -1):
                at = at[1 if level % 2 else "down"]
            assert at[0] == "bottom"


# --- hold: files ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
def test_buffers(compress: Any, tmp_path: pathlib.Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.hold"
    table, blob = np.arange(60_000.0).reshape(200, 300), bytes(range(256)) * 40
    numbers = array.array("i", range(5000))
    holdall.dump(
        {"t": table, "b": blob, "again": [table, blob], "n": numbers, "ba": bytearray(blob)},
        path,
        compress=compress,
    )
    for how in (True, "copy"):
        one = holdall.open(path, mmap=how)
        made = one["t"]
        assert (made == table).all() and one["again"][0] is made and one["again"].load()[0] is made
        assert bytes(one["b"]) == blob and one["again"][1] is one["b"]
        assert list(one["n"]) == list(numbers) and bytes(one["ba"]) == blob
        if compress is None:
            assert made.ctypes.data % 64 == 0 and made.flags.writeable == (how == "copy")
            view = one["b"]
            assert isinstance(view, memoryview) and isinstance(view.obj, mmap.mmap)
            if how == "copy":
                made[0, 0] = -1
                assert one["t"][0, 0] == -1
            # What is still in use outlives the document.
            one.close()
            assert view == blob and made[1, 1] == 301
            with pytest.raises(ValueError, match="closed"):
                one["t"]
        else:
            assert isinstance(one["b"], bytes)
    assert holdall.load(path)["t"][0, 0] == 0


def test_bytes_as_views(doc: Doc, tmp_path: pathlib.Path) -> None:
    doc.dump({"small": b"abc", "more": [b"def"]}, tmp_path / "a")
    one = doc.open(tmp_path / "a")
    views = [one.get("small", type=memoryview), one["more"].get(0, type=memoryview)]
    assert views == [b"abc", b"def"] and all(view.readonly for view in views)
    assert all(isinstance(view.obj, mmap.mmap) for view in views)
    assert one.get("small", type=bytes) == b"abc"
    one.close()
    assert views == [b"abc", b"def"]


@pytest.mark.parametrize("compress", [None, "zstd", "lz4"])
def test_compressed_files(compress: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = {"rows": [{"n": n, "text": f"text {n}"} for n in range(50_000)], "last": [1, "x" * 10_000]}
    holdall.dump(obj, path, compress=compress)
    with holdall.open(path) as one:
        assert one["rows"][49_999]["text"] == "text 49999" and one["last"][0] == 1
        assert holdall.loads(b"\xc1" + bytes(one["last"].raw)) == obj["last"]
        assert one["rows"][7:9][1].load() == obj["rows"][8]
        assert one.load() == obj


def test_bare_messages(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.hold"
    obj = {"rows": [[n, str(n)] for n in range(30_000)], "last": 5}
    path.write_bytes(holdall.dumps(obj))
    with holdall.open(path) as one:
        assert one["last"] == 5 and whole(one["rows"][-1]) == obj["rows"][-1] and one.load() == obj
    for bad in (b"", b"\xc1", b"\xc2\x00", b"\xc1\xda", b"\xc1\x72\x01", holdall.dumps(obj)[:-1]):
        path.write_bytes(bad)
        with pytest.raises(holdall.DecodeError):
            holdall.open(path)
    path.write_bytes(b"\xc1\x01\x01")
    with pytest.raises(holdall.DecodeError):
        holdall.open(path).load()


def test_trusted_documents() -> None:
    data = holdall.dumps([len, {"a": 1}], trust=True)
    with pytest.raises(holdall.DecodeError):
        Document(data, format="hold")
    one = Document(data, format="hold", trust=True)
    assert one[0] is len and one[1]["a"] == 1


def test_limits_of_documents() -> None:
    one = HOLD.of({"a": [[[1]]], "b": list(range(100))}, limits=holdall.Limits(depth=2))
    assert one["a"][0][0][0] == 1 and one["b"][99] == 99
    with pytest.raises(holdall.LimitError):
        one["a"].load()


def test_hooks_may_ask_the_document() -> None:
    asked: list[Any] = []

    def hook(cls: type, value: Any) -> Any:
        asked.append(whole(one["b"]))
        return complex(value)

    one = HOLD.of({"a": 5, "b": [1, 2]}, dec_hook=hook)
    with contextlib.suppress(holdall.ValidationError):
        one.get("a", type=Unknown)
    assert whole(one["b"]) == [1, 2]


# --- what random values say ------------------------------------------------------------------------------------------------
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | TEXT
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(TEXT, inner, max_size=5)
        | st.lists(inner, min_size=17, max_size=20)
        | st.dictionaries(TEXT, inner, min_size=17, max_size=20)
    ),
    max_leaves=30,
)


@examples(50)
@given(st.dictionaries(TEXT, VALUES, max_size=8))
def test_lazily_read_is_eagerly_read(value: Any) -> None:
    for doc in DOCS:
        data = doc.dumps(value)
        one = Document(data, format=doc.name)  # type: ignore[arg-type]
        expected = plain(doc.loads(data))
        for _ in range(2):
            assert taken_apart(one) == expected == plain(one.load())
            assert {key: plain(whole(item)) for key, item in one.items()} == expected


@examples(100)
@given(st.dictionaries(TEXT, VALUES, max_size=8), st.data())
def test_damaged_messages(value: Any, draw: Any) -> None:
    for doc in DOCS:
        data = bytearray(doc.dumps(value))
        for _ in range(draw.draw(st.integers(1, 3))):
            data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
        touch(lambda data=data, doc=doc: Document(data, format=doc.name))


def touch(make: Callable[[], Document], budget: int = 300) -> int:
    """Everything is asked of it; says how often something was refused."""
    refused = 0
    try:
        todo: list[Any] = [make()]
    except (holdall.HoldallError, ImportError):
        return 1
    while todo and budget:
        budget -= 1
        one = todo.pop(0)
        if not isinstance(one, Document):
            continue

        def steps(one: Document = one) -> Iterator[Callable[[], Any]]:
            yield lambda: len(one)
            yield one.load
            yield lambda: one.raw
            yield lambda: one[-1]
            yield lambda: one["a"]
            yield lambda: "key 5" in one
            yield lambda: todo.extend(value for _, (_, value) in zip(range(40), one.items(), strict=False))
            yield lambda: repr(one)

        for step in steps():
            try:
                step()
            # ImportError: a value of a database's, whose package is not there.
            except (holdall.HoldallError, ImportError):
                refused += 1
            except (TypeError, KeyError, IndexError):
                pass
            except ValueError as error:
                # Of arrays, which are compared as in a list.
                assert "truth value" in str(error)
    return refused


@pytest.mark.parametrize("sealed", [False, True])
def test_damaged_files(sealed: bool, tmp_path: pathlib.Path) -> None:
    """In the message as in the index; `sealed`: with checksums that hold."""
    path = tmp_path / "a.hold"
    shared = ["shared", {"a": 1}]
    obj = {
        "rows": [{"n": n, "shared": shared, "text": f"text {n}"} for n in range(800)],
        "layers": [Layer(f"layer {n}", n) for n in range(300)],
        "keys": {f"key {n}": [n, (n,)] for n in range(300)},
        "numbers": list(range(2000)),
        "deep": [[[[[shared]]]]],
        "sets": [{1, 2}, frozenset("ab"), (1, (2, shared))],
    }
    holdall.dump(obj, path, compress="lz4")
    # An index comes with compression; put around the message as it is.
    file, _ = ff.parse(path.read_bytes())
    message = file.message
    assert message is not None and len(message) > 20_000
    holdall.dump([bytes(70_000), obj, "x" * 70_000], path)
    data = path.read_bytes()
    frames = ff.parse(data)[0].frames
    assert [frame.kind for frame in frames][-2:] == [ff.INDEX, ff.END] and len(frames) > 3
    index = next(frame for frame in frames if frame.kind == ff.INDEX)
    rng = random.Random(sealed)
    refused = 0
    for number in range(60):
        bad = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            start, size = (index.start, len(index.body)) if number % 2 else (16, 50_000)
            bad[start + rng.randrange(size)] = rng.choice([0, 1, 255, 254, rng.randrange(256)])
        if sealed:
            # The message's body is not looked at as a whole; the index is.
            at = index.at
            head = bytes(bad[at : at + 8])
            end = index.start + len(index.body)
            bad[end : end + 8] = ff.tail(head, bytes(bad[index.start : end]), at)
        path.write_bytes(bad)
        refused += touch(lambda: holdall.open(path, types=Layer), budget=30)
    assert refused > 20


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_damaged_kinds(kind: Kind) -> None:
    try:
        data = holdall.dumps([kind.make(), {"a": kind.make()}])
    except holdall.EncodeError:
        return
    for bad in damaged(data, kind.name)[::2]:
        touch(lambda bad=bad: Document(bad, format="hold", types=TYPES), budget=20)


# --- reference counts --------------------------------------------------------------------------------------------------------
def test_counts_stay_level(doc: Doc, tmp_path: pathlib.Path, only_new_objects: None) -> None:
    path = tmp_path / "a"
    doc.dump({**SMALL, "keys": {f"k{n}": n for n in range(100)}, "many": [[n] for n in range(50)]}, path)
    data = path.read_bytes()
    bad = data[: len(data) // 2] + b"\xff" * 9 + data[len(data) // 2 + 9 :]

    def work() -> None:
        with doc.open(path) as one:
            taken_apart(one)
            list(one.items())
            one.load()
            one["list"][::-1]
            one.get("ints", type=list[int])
            one.get("bytes", type=memoryview)
            assert one["keys"]["k77"] == 77 and "absent" not in one["keys"]
            for act in (lambda: one["absent"], lambda: one["list"][99], lambda: one.get("int", type=str)):
                with pytest.raises((LookupError, holdall.ValidationError)):
                    act()
        touch(lambda: Document(bad, format=doc.name), budget=10)

    work()
    stays_level(work, 300)


def test_counts_stay_level_with_sharing(only_new_objects: None) -> None:
    shared = [1, Layer("a", 1)]
    obj: list[Any] = [shared, {"s": shared, "t": (shared, 2)}, [Layer("b", 2, [shared[1]])]]
    obj.append(obj)
    data = holdall.dumps(obj)

    def work() -> None:
        one = Document(data, format="hold", types=Layer)
        for at in (2, 0, 1, 3):
            whole(one[at])
        one.load()
        with pytest.raises(holdall.UnknownTypeError):
            Document(data, format="hold").load()

    work()
    stays_level(work, 300)


def test_a_key_that_can_not_be_compared_is_none() -> None:
    """A signalling NaN is equal to nothing, and raises where it is compared; no dict has one."""
    found = Document(
        w.message(
            w.sized("DICT", 2, w.known("Decimal", w.text("sNaN")), w.integer(1), w.text("a"), w.integer(2))
        )
    )
    assert "a" in found and found["a"] == 2
    assert 1 not in found and found.get(1, 5) == 5
    with pytest.raises(KeyError):
        found[decimal.Decimal(1)]
    listed = Document(w.message(w.sequence(w.known("Decimal", w.text("sNaN")), w.integer(1))))
    assert 1 in listed and 2 not in listed
