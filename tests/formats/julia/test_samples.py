"""Every file that BSON.jl and BSONqs wrote: loaded to the value stated, and written again.

By the native reader and writer, and by the second ones in `tests/support/julia_tree.py`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("numpy")

from holdall import julia
from tests.support import julia_samples, julia_tree
from tests.support.each import each
from tests.support.julia_registry import declare_mutable, fresh, map_all
from tests.support.julia_same import same
from tests.support.julia_trees import same_tree
from tests.support.julia_types import CLASSES


class Native:
    """The functions of `holdall.julia`."""

    @staticmethod
    def load(path: pathlib.Path, types: Any = None) -> Any:
        return julia.load(path, types=types)

    @staticmethod
    def loads(data: bytes) -> Any:
        return julia.loads(data)

    @staticmethod
    def dumps(value: Any) -> bytes:
        return julia.dumps(value)

    @staticmethod
    def tree(value: Any) -> Any:
        return julia_tree.parse(julia.dumps(value))


class Second:
    """Plain Python, which writes nothing apart."""

    @staticmethod
    def load(path: pathlib.Path, types: Any = None) -> Any:
        return julia_tree.loads(path.read_bytes(), types)

    loads = staticmethod(julia_tree.loads)
    dumps = staticmethod(julia_tree.dumps)
    tree = staticmethod(julia_tree.tree)


WAYS = {"native": Native, "second": Second}
# Files with what Julia's memory held between fields, where zeros are written.
GAPS = ("vec_mixed_padding", "vec_namedtuple_bits")
# Files whose elements stand in an order that no 64-bit Julia writes.
OTHER_ORDER = ("BSON.jl__test_41_from_32bit",)

if julia_samples.FOLDER.is_dir():
    CASES = [pytest.param(path, mapped, id=name) for name, path, mapped in julia_samples.cases()]
else:
    CASES = [pytest.param(None, False, marks=pytest.mark.skip(f"no sample files in {julia_samples.FOLDER}"))]


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> Any:
    return WAYS[request.param]


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


def expected(path: pathlib.Path, mapped: bool) -> Any:
    return julia_samples.value(path.stem, julia_samples.Made(mapped, path.parent.name))


@each(("path", "mapped"), CASES, within=fresh)
def test_a_file_holds_what_was_written(way: Any, path: pathlib.Path, mapped: bool) -> None:
    same(way.load(path, CLASSES if mapped else None), expected(path, mapped))


@each(("path", "mapped"), CASES, within=fresh)
def test_written_again_a_file_says_the_same(way: Any, path: pathlib.Path, mapped: bool) -> None:
    (map_all if mapped else declare_mutable)()
    data = path.read_bytes()
    value = way.load(path)
    if path.stem in GAPS:
        same(way.loads(way.dumps(value)), way.loads(data))
        return
    before = julia_tree.parse(data)
    same_tree(way.tree(value), before)
    apart = julia_tree.count_apart(data)
    if path.stem not in OTHER_ORDER and (apart == 0 or (apart == 1 and way is Native)):
        assert way.dumps(value) == data


@each(("path", "mapped"), CASES, within=fresh)
def test_what_was_made_by_hand_is_written_and_loaded(way: Any, path: pathlib.Path, mapped: bool) -> None:
    (map_all if mapped else declare_mutable)()
    value = expected(path, mapped)
    before = julia_tree.parse(path.read_bytes())
    if path.stem not in GAPS:
        same_tree(way.tree(value), before)
    if way is Native or julia_tree.count_apart(path.read_bytes()) == 0:
        same(way.loads(way.dumps(value)), expected(path, mapped))


def test_every_value_has_its_files() -> None:
    """No expectation is left over, and no file is without one."""
    if not julia_samples.FOLDER.is_dir():
        pytest.skip(f"no sample files in {julia_samples.FOLDER}")
    found = {path.stem for path in julia_samples.files()}
    wanted = {*julia_samples.VALUES, *julia_samples.DOCUMENTS}
    if not (julia_samples.FOLDER / "repo").is_dir():  # those that come with the packages' sources
        wanted = {name for name in wanted if "__" not in name}
    assert found == wanted
