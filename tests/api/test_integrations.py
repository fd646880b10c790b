"""What needs no other library of `holdall.integrations`: the core that all share, shelve, multiprocessing, and what an import says."""

from __future__ import annotations

import json
import multiprocessing
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import pytest

import holdall
import holdall.integrations
from holdall import Seal
from holdall.integrations import Codec
from tests.integrations.contract import KEY, MISSING, VALUES, Contract, Order, Planted, Stranger
from tests.support.each import each
from tests.support.places import REPO

FOLDER = pathlib.Path(holdall.integrations.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
WITHOUT = {"kafka", "kombu", "multiprocessing", "nats", "redis", "shelve"}


class TestCodec(Contract):
    def open(self, **options: Any) -> Any:
        return {"codec": Codec(**options)}

    def put(self, store: Any, value: Any) -> None:
        store["data"] = store["codec"].dumps(value)

    def get(self, store: Any) -> Any:
        made = store["codec"].loads(store["data"])
        return MISSING if made is Codec.MISS else made

    def plant(self, store: Any, data: bytes) -> None:
        store["data"] = data

    def raw(self, store: Any) -> bytes:
        return store["data"]


def test_old_entries_alone_are_given_to_old() -> None:
    seen: list[bytes] = []

    def old(data: bytes) -> Any:
        seen.append(data)
        return json.loads(data)

    codec = Codec(old=old)
    assert codec.loads(b"[1]") == [1] and codec.loads(memoryview(b"[2]")) == [2] and seen == [b"[1]", b"[2]"]
    seen.clear()
    for damaged in (
        codec.dumps([1])[:-1],
        holdall.dumps(len, trust=True),
        holdall.dumps(1, seal=Seal(KEY)),
        b"HOLD and more",
    ):
        with pytest.raises(holdall.DecodeError):
            codec.loads(damaged)
    assert not seen
    with pytest.raises(ValueError, match="Expecting value"):
        codec.loads(b"neither")
    assert Codec(old=json.loads, unreadable="miss").loads(b"neither") is Codec.MISS


def test_what_is_compressed() -> None:
    for compress in ("zstd", "lz4", ("zstd", 9)):
        codec = Codec(compress=compress)
        assert codec.dumps([1]) == holdall.dumps([1])  # too small
        data = codec.dumps(["text"] * 10_000)
        assert data[:4] == b"HOLD" and len(data) < 1000 and codec.loads(data) == ["text"] * 10_000
        sealed = Codec(compress=compress, seal=Seal(KEY))
        assert sealed.loads(sealed.dumps(["text"] * 10_000)) == ["text"] * 10_000
        assert sealed.dumps([1])[0] == 0xF1


@each(
    "options",
    [
        {"unreadable": "skip"},
        {"old": "pickle"},
        {"compress": "gzip"},
        {"seal": KEY},
        {"nope": 1},
        {"types": 5},
        {"limits": 5},
    ],
    ids=repr,
)
def test_options_that_are_refused(options: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Codec(**options)


def test_a_codec_with_other_options() -> None:
    codec = Codec(types=Order, unreadable="miss")
    assert codec.using(unreadable="error").loads(codec.dumps(Order(1, []))) == Order(1, [])
    with pytest.raises(holdall.UnknownTypeError):
        Codec(types=Order).loads(codec.dumps(Stranger("x")))
    assert codec.key({2, 1, 3}) == codec.key({3, 2, 1}) and "types" in repr(codec)
    with pytest.raises(ValueError, match="no misses"):
        codec.without_misses()
    again = pickle.loads(pickle.dumps(codec))
    assert again == codec != Codec() and hash(again) == hash(codec)
    assert again.loads(codec.dumps(Order(1, []))) == Order(1, [])
    with pytest.raises(TypeError, match="holds secret keys"):
        pickle.dumps(Codec(seal=Seal(KEY)))


def test_classes_in_keys() -> None:
    codec = Codec()
    assert codec.key(("f", int)) == codec.key(("f", int)) != codec.key(("f", str))
    with pytest.raises(holdall.EncodeError, match="in a key"):
        codec.key(lambda: 1)


class TestShelve(Contract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Any) -> None:
        self.path = str(tmp_path / "shelf")

    def open(self, **options: Any) -> Any:
        from holdall.integrations.shelve import Shelf

        self.data: dict[bytes, bytes] = getattr(self, "data", {})
        return Shelf(self.data, **options)

    def put(self, store: Any, value: Any) -> None:
        store["key"] = value

    def get(self, store: Any) -> Any:
        return store.get("key", MISSING) if store.codec.unreadable != "miss" else self.or_missing(store)

    def or_missing(self, store: Any) -> Any:
        try:
            return store["key"]
        except KeyError:
            return MISSING

    def raw(self, store: Any) -> bytes:
        return self.data[b"key"]

    def plant(self, store: Any, data: bytes) -> None:
        self.data[b"key"] = data

    def test_writeback_and_files(self) -> None:
        from holdall.integrations import shelve

        with shelve.open(self.path, writeback=True) as shelf:
            shelf["key"] = [1]
            shelf["key"].append({2})
        with shelve.open(self.path) as shelf:
            assert shelf["key"] == [1, {2}] and list(shelf) == ["key"]


def echo(connection: Any) -> None:
    while (value := connection.recv()) is not None:
        connection.send(value)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str) -> None:
    from holdall.integrations.multiprocessing import installed

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    with installed():
        context = multiprocessing.get_context(method)
        near, far = context.Pipe()
        process = context.Process(target=echo, args=(far,))
        process.start()
        for value in [*VALUES, len]:
            near.send(value)
            assert near.recv() == value
        near.send(None)
        process.join(20)
        assert process.exitcode == 0
        near.close(), far.close()
    Planted.ran.clear()


IMPORTS = """
import importlib, sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"holdall"}:
            raise ImportError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
import holdall
assert not any(name.startswith("holdall.integrations") for name in sys.modules)
for module in sys.argv[1:]:
    try:
        importlib.import_module(f"holdall.integrations.{module}")
    except ImportError as error:
        print(module, "|", error)
    else:
        print(module, "| imported")
"""


def test_an_import_says_what_is_missing() -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORTS, *MODULES], capture_output=True, text=True, timeout=60
    )
    assert not run.stderr
    said = dict(line.split(" | ") for line in run.stdout.splitlines())
    extras = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    assert set(said) == set(MODULES) and len(MODULES) > 25
    for module, text in said.items():
        if module in WITHOUT:
            assert text == "imported", module
        else:
            extra = text.partition("pip install 'holdall[")[2].removesuffix("]'")
            assert (
                text.startswith(f"holdall.integrations.{extra.replace('-', '_')} needs ")
                and extra.replace("-", "_") == module
            ), text
            assert f"\n{extra} = [" in extras, extra


def test_each_module_has_a_page_and_a_test() -> None:
    pages = {path.stem for path in (REPO / "docs" / "integrations").glob("*.md")} - {"README"}
    assert pages == set(MODULES)
    tested = "".join(
        path.read_text(encoding="utf-8") for path in (REPO / "tests" / "integrations").glob("test_*.py")
    )
    for module in set(MODULES) - {"shelve", "celery"}:
        assert (
            f"holdall.integrations.{module} import" in tested or f"integrations import {module}" in tested
        ), module


def test_pickles_that_run_code_are_not_run() -> None:
    Planted.ran.clear()
    with pytest.raises(holdall.DecodeError):
        Codec().loads(pickle.dumps(Planted()))
    assert not Planted.ran
    # They would by pickle, so that this says something.
    pickle.loads(pickle.dumps(Planted()))
    assert Planted.ran
    Planted.ran.clear()
