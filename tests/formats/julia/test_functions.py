"""The doors of `holdall.julia`: what can be loaded from where, what is a view of what, what is read where it is touched."""

from __future__ import annotations

import gc
import io
import mmap
import os
import pathlib
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import bson, julia
from tests.support.julia_messages import FOO, INT64, array, backref, long, message, struct, tuple_of

np = pytest.importorskip("numpy")

WEIGHTS = np.arange(12, dtype="f4").reshape(3, 4)


@julia.struct("Main.Doors.Layer")
@dataclass(slots=True, eq=False)
class Layer:
    weight: Any
    bias: Any


@julia.struct("Main.Doors.Counter", mutable=True)
@dataclass
class Counter:
    n: int


def model() -> dict[str, Any]:
    return {
        "epoch": 12,
        "layers": [Layer(WEIGHTS, np.zeros(4)), Layer(WEIGHTS * 2, np.ones(4))],
        "options": {"rate": 0.5, "names": ["a", "b"], "schedule": {"step": 10}},
        "bytes": b"\0\1\xff",
        "symbol": julia.Symbol("adam"),
        "pair": (1, "x"),
        "nothing": None,
    }


def check(found: Any) -> None:
    assert list(found) == list(model())
    assert found["epoch"] == 12 and found["options"] == model()["options"]
    for at, layer in enumerate(found["layers"]):
        assert type(layer) is Layer and layer.weight.dtype == np.float32 and layer.weight.flags.f_contiguous
        assert np.array_equal(layer.weight, WEIGHTS * (at + 1)) and np.array_equal(layer.bias, np.full(4, at))
    assert found["bytes"].dtype == np.uint8 and found["bytes"].tobytes() == b"\0\1\xff"
    assert type(found["symbol"]) is julia.Symbol and found["symbol"] == "adam"
    assert found["pair"] == (1, "x") and found["nothing"] is None


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    julia.dump(model(), tmp_path / "model.bson")
    return tmp_path / "model.bson"


class OnlyRead:
    """As little of a file as there may be."""

    def __init__(self, data: bytes) -> None:
        self.file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.file.read(min(size, 7) if size > 0 else size)


SOURCES = {
    "path": lambda path: path,
    "text": str,
    "bytes": lambda path: path.read_bytes(),
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "array": lambda path: np.frombuffer(path.read_bytes(), "u1"),
    "file": lambda path: io.BytesIO(path.read_bytes()),
    "pieces": lambda path: OnlyRead(path.read_bytes()),
}


@pytest.mark.parametrize("views", [False, True, "copy"])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_load(path: pathlib.Path, source: Any, views: Any) -> None:
    check(julia.load(source(path), mmap=views))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_open_anything(path: pathlib.Path, source: Any) -> None:
    with julia.open(source(path)) as doc:
        check(doc.load())
        assert doc["epoch"] == 12 and type(doc["layers"][1].load()) is Layer


def test_loads_and_dumps() -> None:
    data = julia.dumps(model())
    assert type(data) is bytes
    for given in (data, bytearray(data), memoryview(data)):
        check(julia.loads(given))
    with pytest.raises(TypeError):
        julia.loads("text")  # type: ignore[arg-type]
    for nothing in (None, 5, [data]):
        with pytest.raises(TypeError, match="expected a path or a binary file object"):
            julia.load(nothing)  # type: ignore[arg-type]


def test_a_buffer_that_is_not_in_one_piece() -> None:
    data = julia.dumps({"a": [1.5, 2.5]})
    spread = np.zeros(2 * len(data), "u1")
    spread[::2] = np.frombuffer(data, "u1")
    for views in (False, True):
        with pytest.raises((TypeError, ValueError, BufferError)):
            julia.load(spread[::2], mmap=views)


def test_dump_to_file_objects_and_paths(tmp_path: pathlib.Path) -> None:
    file = io.BytesIO()
    julia.dump({"a": 1}, file)
    assert file.getvalue() == julia.dumps({"a": 1})
    path = tmp_path / "a.bson"
    path.write_bytes(b"old")
    with pytest.raises(holdall.EncodeError):
        julia.dump({"a": iter(())}, path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.bson"]
    julia.dump({"a": 1}, path)
    assert julia.load(path) == {"a": 1} and os.listdir(tmp_path) == ["a.bson"]


def test_files_that_are_not_there_or_empty(tmp_path: pathlib.Path) -> None:
    for door in (julia.load, julia.open, julia.parse):
        with pytest.raises(FileNotFoundError):
            door(tmp_path / "nothing.bson")
    (tmp_path / "empty.bson").write_bytes(b"")
    for views in (False, True, "copy"):
        with pytest.raises(holdall.TruncatedError):
            julia.load(tmp_path / "empty.bson", mmap=views)
        with pytest.raises(holdall.TruncatedError):
            julia.open(tmp_path / "empty.bson", mmap=views)
    for wrong in ("yes", 2, b"copy"):
        with pytest.raises(ValueError, match='mmap: expected False, True or "copy"'):
            julia.load(b"", mmap=wrong)  # type: ignore[arg-type]


def test_large_files_are_mapped_while_they_are_read(tmp_path: pathlib.Path) -> None:
    big = np.arange(300_000, dtype="f8")
    julia.dump({"a": big, "b": "text"}, tmp_path / "big.bson")
    found = julia.load(tmp_path / "big.bson")
    (tmp_path / "big.bson").write_bytes(b"")
    assert np.array_equal(found["a"], big) and found["a"].flags.owndata and found["a"].flags.writeable


# --- parse ---


def test_parse() -> None:
    shared = [1.5]
    data = julia.dumps({"p": Counter(3), "x": shared, "y": (shared, julia.Int32(7)), "m": np.array([1, 2])})
    found = julia.parse(data)
    counter = {"tag": "datatype", "params": [], "name": ["Main", "Doors", "Counter"]}
    assert found == {
        "p": {"tag": "struct", "type": counter, "data": [3]},
        "x": [1.5],
        "y": {"tag": "tuple", "data": [[1.5], 7]},
        "m": {
            "tag": "array",
            "type": {"tag": "datatype", "params": [], "name": ["Core", "Int64"]},
            "size": [2],
            "data": np.array([1, 2]).tobytes(),
        },
    }
    assert found["x"] is found["y"]["data"][0]
    assert julia.parse(io.BytesIO(data)) == found


def test_parse_does_not_look_at_what_tags_mean() -> None:
    for value in (struct(5.0), {"tag": "struct"}, array(INT64, (9,), b""), {"tag": "tuple", "data": 1.0}):
        assert julia.parse(message(value)) == {"value": value}
    ring = julia.parse(message(backref(1), {"tag": "tuple", "data": [backref(1)]}))["value"]
    assert ring["data"][0] is ring


# --- views ---


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def test_views_share_the_memory_of_a_buffer() -> None:
    data = bytearray(julia.dumps({"a": WEIGHTS, "b": b"\1\2"}))
    found = julia.load(data, mmap=True)
    start = np.frombuffer(data, "u1").__array_interface__["data"][0]
    for name in ("a", "b"):
        assert not found[name].flags.writeable and not found[name].flags.owndata
        assert start < address(found[name]) < start + len(data)
    at = data.find(np.float32(11).tobytes())
    data[at : at + 4] = np.float32(99).tobytes()
    assert found["a"][2, 3] == 99 and julia.load(data)["a"][2, 3] == 99
    # What is not asked for as views is nobody else's.
    own = julia.load(data)["a"]
    assert own.flags.owndata and own.flags.writeable and own.flags.aligned


def test_copies_of_a_buffer_are_private() -> None:
    for data in (julia.dumps({"a": WEIGHTS}), bytearray(julia.dumps({"a": WEIGHTS}))):
        before = bytes(data)
        found = julia.load(data, mmap="copy")["a"]
        found[0, 0] = 50
        assert found.flags.writeable and bytes(data) == before
    found = julia.load(io.BytesIO(before), mmap="copy")["a"]
    found[0, 0] = 50
    assert not julia.load(io.BytesIO(before), mmap=True)["a"].flags.writeable


def test_views_of_a_file(path: pathlib.Path) -> None:
    found = julia.load(path, mmap=True)["layers"][0].weight
    assert not found.flags.writeable and not found.flags.owndata
    with pytest.raises(ValueError):
        found[0, 0] = 1
    with pytest.raises(ValueError):
        found.flags.writeable = True
    one, other = (julia.load(path, mmap="copy")["layers"][0].weight for _ in range(2))
    one[0, 0] = 50
    assert one[0, 0] == 50 and other[0, 0] == 0 and found[0, 0] == 0
    check(julia.load(path))
    # The new file is another one: views stay what they were.
    julia.dump({"layers": []}, path)
    gc.collect()
    assert np.array_equal(found, WEIGHTS)


def test_views_need_no_alignment() -> None:
    seen = set()
    for pad in range(8):
        found = julia.load(julia.dumps({"p" * (pad + 1): 1, "a": np.arange(5, dtype="f8")}), mmap=True)["a"]
        seen.add(address(found) % 8)
        assert found.sum() == 10 and np.array_equal(found, np.arange(5)) and (found * 2)[4] == 8
    assert len(seen) > 1


def maps_of(path: pathlib.Path) -> int:
    return pathlib.Path("/proc/self/maps").read_text().count(str(path))


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="reads /proc")
def test_the_map_closes_with_its_last_view(path: pathlib.Path) -> None:
    found = julia.load(path, mmap=True)
    weight, part = found["layers"][0].weight, found["layers"][1].weight[1:, ::2]
    del found
    gc.collect()
    assert maps_of(path) == 1 and np.array_equal(weight, WEIGHTS)
    del weight
    gc.collect()
    assert maps_of(path) == 1 and part[0, 0] == 8
    del part
    gc.collect()
    assert maps_of(path) == 0
    # Without views it closes at once, and so does one that failed.
    assert julia.load(path, mmap=True)["epoch"] == 12
    with pytest.raises(holdall.ValidationError):
        julia.load(path, mmap=True, type=dict[str, int])
    gc.collect()
    assert maps_of(path) == 0


def test_a_view_keeps_the_buffer_from_changing_its_size() -> None:
    data = bytearray(julia.dumps({"a": WEIGHTS}))
    found = julia.load(data, mmap=True)
    with pytest.raises(BufferError):
        data.append(0)
    del found
    gc.collect()
    data.append(0)
    julia.load(data[:-1])
    data.append(0)


def test_views_of_structured_and_empty_arrays() -> None:
    of = julia.Type.parse("NamedTuple{(:a, :b), Tuple{Int8, Float64}}")
    dtype = np.dtype({"names": ["a", "b"], "formats": ["i1", "<f8"], "offsets": [0, 8], "itemsize": 16})
    pairs = np.array([(1, 2.5), (3, 4.5)], dtype=np.dtype(dtype, metadata={"julia": of}))
    data = julia.dumps({"a": pairs, "none": np.zeros((0, 3), "i4"), "scalar": np.array(2.5)})
    found = julia.load(data, mmap=True)
    assert found["a"]["b"].tolist() == [2.5, 4.5] and not found["a"].flags.owndata
    assert found["a"].dtype.metadata["julia"] == of
    assert found["none"].shape == (0, 3) and found["none"].dtype == np.int32
    assert found["scalar"].shape == () and found["scalar"][()] == 2.5
    assert julia.dumps(found) == data


def test_arrays_without_dimensions() -> None:
    chars = np.dtype("U1", metadata={"julia": julia.Type.parse("Char")})
    for value in (
        np.array(2.5),
        np.array("2024-02-29", "M8[D]"),
        np.array("é", chars),
        np.array(5, "m8[D]"),
        np.array(True),
    ):
        data = julia.dumps({"a": value})
        for found in (julia.loads(data)["a"], julia.load(data, mmap=True)["a"]):
            assert type(found) is np.ndarray and found.shape == () and found.dtype == value.dtype
            assert found == value and julia.dumps({"a": found}) == data


# --- open ---


def test_members_are_found_without_reading_the_others() -> None:
    broken = {"tag": "struct", "type": FOO, "data": 1.0}
    data = bson.dumps({"bad": broken, "list": [1.0, broken], "good": tuple_of(1.0)})
    doc = julia.open(data)
    assert list(doc) == ["bad", "list", "good"] and len(doc) == 3 and "good" in doc and "other" not in doc
    assert doc["good"] == (1.0,) and doc["list"][0] == 1.0
    for touch in (lambda: doc["bad"], lambda: doc["list"][1], doc.load, lambda: list(doc.values())):
        with pytest.raises(holdall.DecodeError):
            touch()
    assert doc.get("other", 5) == 5
    with pytest.raises(KeyError):
        doc["other"]


def test_plain_documents_and_lists_stay_documents() -> None:
    doc = julia.open(julia.dumps(model()))
    options = doc["options"]
    assert isinstance(options, bson.Document) and options["rate"] == 0.5 and len(options) == 3
    assert options["names"][-1] == "b" and options["schedule"]["step"] == 10
    # So do instances of a program's own types: field by field, or built by `load`.
    assert [type(value.load()) for value in doc["layers"]] == [Layer, Layer]
    layer = doc["layers"][1]
    assert list(layer.keys()) == ["weight", "bias"] and len(layer) == 2
    assert layer["bias"].tolist() == layer[1].tolist() == layer[-1].tolist() == [1.0] * 4
    assert "bias" in layer and "absent" not in layer and layer.get("absent", 5) == 5
    with pytest.raises(KeyError):
        layer["absent"]
    with pytest.raises(IndexError):
        layer[2]
    assert repr(layer).startswith("<holdall.Document: julia struct of ")
    for name in ("symbol", "pair", "bytes"):
        assert not isinstance(doc[name], bson.Document)
    assert {key: value for key, value in options.items() if key == "rate"} == {"rate": 0.5}
    assert repr(options).startswith("<holdall.Document: julia document of ")


def test_types_of_members() -> None:
    doc = julia.open(julia.dumps(model()))
    assert doc.get("options", type=dict[str, Any]) == model()["options"]
    assert doc.get("epoch", type=float) == 12.0 and doc.get("bytes", type=bytes) == b"\0\1\xff"
    assert doc.get("layers", type=list[Layer])[1].bias.tolist() == [1.0] * 4
    assert doc["layers"].get(0, type=Layer).weight[0, 1] == 1
    assert doc.get("options")["rate"] == 0.5 and doc.get("epoch", type=None | int) == 12
    with pytest.raises(
        holdall.ValidationError, match=r"^Expected `int`, got `str` - at `\$\.names\[0\]`"
    ) as caught:
        doc.get("options", type=Options)
    assert caught.value.path == ("names", 0)
    typed = julia.open(julia.dumps({"a": Counter(1), "b": [1]}), type=dict[str, Counter | list[int]])
    assert typed["a"] == Counter(1) and typed["b"] == [1]


@dataclass
class Options:
    rate: float
    names: list[int]
    schedule: Any


def test_types_and_views_of_members(path: pathlib.Path) -> None:
    @dataclass
    class Layer:
        weight: Any
        bias: Any

    with julia.open(path, types={"Main.Doors.Layer": Layer}, mmap=True) as doc:
        found = doc["layers"][0].load()
        assert type(found) is Layer and not found.weight.flags.owndata and not found.weight.flags.writeable
    # The map stays as long as its views.
    assert np.array_equal(found.weight, WEIGHTS)
    with julia.open(path, mmap="copy") as doc:
        found = doc["layers"][0]["weight"]
        found[0, 0] = 5
        assert doc["layers"][0]["weight"][0, 0] == 5
    assert julia.load(path)["layers"][0].weight[0, 0] == 0
    with julia.open(path) as doc:
        assert doc["layers"][0]["weight"].flags.owndata


SHARED = [1.5]
SHARING = {"a": SHARED, "b": [SHARED, SHARED], "c": {"x": SHARED, "y": (SHARED,)}, "n": 1}


def test_what_stands_apart_is_no_member() -> None:
    data = julia.dumps(SHARING)
    assert list(bson.loads(data)) == ["a", "b", "c", "n", "_backrefs"]
    doc = julia.open(data)
    assert len(doc) == 4 and list(doc) == list(doc.keys()) == list(SHARING)
    assert [key for key, _ in doc.items()] == list(SHARING) and len(list(doc.values())) == 4
    assert "_backrefs" not in doc and doc.get("_backrefs", 5) == 5
    with pytest.raises(KeyError):
        doc["_backrefs"]
    assert doc.load() == julia.loads(data) == SHARING
    assert julia.loads(data, type=dict[str, Any]) == SHARING


@pytest.mark.parametrize("place", range(5))
def test_what_stands_apart_may_stand_anywhere(place: int) -> None:
    members = list(bson.loads(julia.dumps(SHARING)).items())
    members.insert(place, members.pop())
    data = bson.dumps(dict(members))
    doc = julia.open(data)
    for found in (julia.loads(data), doc.load()):
        assert list(found) == list(SHARING) and found["a"] == SHARED and found["a"] is found["c"]["y"][0]
    assert list(doc) == list(SHARING) and len(doc) == 4 and doc["n"] == 1 and len(list(doc.items())) == 4
    assert list(julia.parse(data)) == list(SHARING)


def test_a_member_without_bytes_before_what_stands_apart() -> None:
    """Its value begins where the element of what stands apart does."""
    data = bson.dumps({"n": 1, "null": None, "_backrefs": [{"tag": "symbol", "name": "x"}]})
    assert julia.loads(data) == {"n": 1, "null": None}
    doc = julia.open(data)
    assert (
        len(doc) == 2 and list(doc) == list(doc.keys()) == ["n", "null"] and list(doc.values()) == [1, None]
    )
    assert doc["null"] is None and "_backrefs" not in doc


def test_what_members_share_is_one_object() -> None:
    doc = julia.open(julia.dumps(SHARING))
    assert doc["a"] == SHARED and doc["a"] is doc["b"][0] is doc["b"][1]
    b, c = doc["b"].load(), doc["c"].load()
    assert b[0] is b[1] is c["x"] is c["y"][0] is doc["a"] is doc.load()["a"]
    # By a type, each is what that says.
    assert doc.get("a", type=tuple[float, ...]) == (1.5,) and doc["a"] is b[0]
    assert doc.get("a", type=list[float]) == SHARED
    assert julia.open(julia.dumps(SHARING))["a"] is not doc["a"]
    node = julia.JuliaStruct("Main.Doors.Node", ["self", None])
    node[1] = node
    found = julia.open(julia.dumps({"n": node, "m": [node]}))["n"]
    assert found[1] is found


def test_plain_lists_and_dicts_that_stand_apart() -> None:
    ring: dict[str, Any] = {"name": "ring"}
    ring["self"] = ring
    doc = julia.open(julia.dumps({"a": ring, "b": [ring]}))
    for found in (doc["a"], doc["b"][0]):
        found = found.load() if isinstance(found, bson.Document) else found
        assert found["name"] == "ring" and found["self"] is found


def test_closing(path: pathlib.Path) -> None:
    with julia.open(path) as doc:
        options = doc["options"]
    for touch in (lambda: doc["epoch"], lambda: options["rate"], doc.load, lambda: len(doc), lambda: doc.raw):
        with pytest.raises(ValueError, match="closed"):
            touch()
    doc.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="reads /proc")
def test_a_document_lets_go_of_its_file(path: pathlib.Path) -> None:
    doc = julia.open(path)
    options = doc["options"]
    del doc
    gc.collect()
    assert maps_of(path) == 1 and options["rate"] == 0.5
    del options
    gc.collect()
    assert maps_of(path) == 0


def test_a_map_of_ones_own(path: pathlib.Path) -> None:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        found = julia.load(mapped, mmap=True)["layers"][0].weight
        assert np.array_equal(found, WEIGHTS)
        with pytest.raises(BufferError):
            mapped.close()
        del found
        gc.collect()
        check(julia.load(mapped))


def test_the_module_has_what_it_says() -> None:
    for name in julia.__all__:
        assert getattr(julia, name) is not None
    assert holdall.julia is julia and julia.BitArray.__name__ == "BitArray"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        julia.nothing  # noqa: B018
    assert long(1) == 1
