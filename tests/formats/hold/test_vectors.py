"""The vectors in tests/vectors: what holdall reads, refuses and writes, and files of released versions."""

from __future__ import annotations

import io
import json
import os
import pathlib
from typing import Any

import pytest

import holdall
from tests.support import file_frames
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.neutral import describe, relabel, show
from tests.support.places import VECTORS
from tests.support.wire_reader import Malformed, Reader
from tests.support.xxh3 import xxh3
from tests.vectors import cases
from tests.vectors.cases import OBJECTS


def vectors(group: str) -> list[Any]:
    loaded = json.loads((VECTORS / f"{group}.json").read_text(encoding="ascii"))
    assert loaded["format"] == 1
    return [pytest.param(one, id=f"{group}-{one['name']}") for one in loaded["vectors"]]


VALID = [one for group in OBJECTS for one in vectors(group)]


@each("vector", VALID)
def test_is_read_as_described(vector: dict[str, Any]) -> None:
    loaded = holdall.loads(bytes.fromhex(vector["bytes"]), types=holdall.Record)
    assert show(describe(loaded)) == relabel(here(vector["value"]))


def here(value: Any) -> Any:
    """A path of another system is its pure form here."""
    other = "PosixPath" if os.name == "nt" else "WindowsPath"
    return json.loads(json.dumps(value).replace(f'"{other}"', f'"Pure{other}"'))


@each("vector", VALID)
def test_the_page_says_the_same(vector: dict[str, Any]) -> None:
    assert show(Reader(bytes.fromhex(vector["bytes"])).message(), numbers=True) == vector["value"]


@pytest.mark.parametrize("group", OBJECTS)
def test_canonical_bytes_are_written(group: str) -> None:
    known = {one.values[0]["name"]: one.values[0] for one in vectors(group)}
    for name, make in OBJECTS[group].items():
        assert known[name]["canonical"], name
        assert holdall.dumps(make(), canonical=True).hex() == known[name]["bytes"], name


@each("vector", vectors("invalid"))
def test_is_refused(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["bytes"])
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(data)
    assert caught.value.offset == vector["offset"]
    assert isinstance(caught.value, holdall.TruncatedError) == (vector["error"] == "truncated")


# A reader that only describes makes no dates, paths or hashes, and does not ask what is of one piece.
NOT_DESCRIBED = {"value", "key", "cycle"}


@each("vector", [one for one in vectors("invalid") if one.values[0]["error"] not in NOT_DESCRIBED])
def test_the_page_refuses_it_too(vector: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        Reader(bytes.fromhex(vector["bytes"])).message()


FILES = vectors("files")


@pytest.mark.parametrize("vector", [one for one in FILES if "message" in one.values[0]])
def test_file_is_read(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["file"])
    file, end = file_frames.parse(data)
    frames = [[frame.kind, frame.codec, frame.at, len(frame.body)] for frame in file.frames]
    assert (frames, end) == (vector["frames"], len(data))
    message = bytes.fromhex(vector["message"])
    assert file.message in (None, message)
    for body, buffer in zip(file.buffers, vector["buffers"], strict=True):
        assert body is None or (len(body), f"{xxh3(body):016x}") == (buffer["bytes"], buffer["xxh3"])
    obj = cases.FILES[vector["name"]][0]()
    isomorphic(holdall.loads(data), obj)
    isomorphic(holdall.load(io.BytesIO(data)), obj)


@pytest.mark.parametrize("vector", [one for one in FILES if "error" in one.values[0]])
def test_file_is_refused(vector: dict[str, Any], tmp_path: pathlib.Path) -> None:
    data = bytes.fromhex(vector["file"])
    kinds = {"truncated": holdall.TruncatedError, "checksum": holdall.ChecksumError}
    kind = kinds.get(vector["error"], holdall.DecodeError)
    with pytest.raises(kind):
        holdall.loads(data)
    path = tmp_path / "bad.hold"
    path.write_bytes(data)
    with pytest.raises(kind):
        holdall.load(path)


def test_canonical_files_are_written() -> None:
    """But for those that zstd wrote: another version of it may pack better."""
    for name, (make, options) in cases.FILES.items():
        if "zstd" in name:
            continue
        file = io.BytesIO()
        holdall.dump(make(), file, canonical=True, **options)
        (known,) = [one.values[0] for one in FILES if one.values[0]["name"] == name]
        assert file.getvalue().hex() == known["file"], name


@pytest.mark.parametrize(
    "path", sorted(VECTORS.glob("golden/*/*.hold")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_released_files_stay_readable(path: pathlib.Path) -> None:
    value = json.loads(path.with_suffix(".json").read_text(encoding="ascii"))
    assert show(describe(holdall.load(path, types=holdall.Record))) == relabel(value)


def test_there_are_files_of_this_version() -> None:
    assert list(VECTORS.glob(f"golden/{holdall.__version__}/*.hold"))
