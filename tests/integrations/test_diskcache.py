"""diskcache."""

from __future__ import annotations

import io
import pathlib
import pickle
import sqlite3
import threading
from typing import Any

import pytest
from diskcache import Cache, Deque, FanoutCache, Index

from holdall import DecodeError, Seal
from holdall.integrations.diskcache import HoldDisk

from .contract import KEY, MISSING, Contract, Planted


class TestDiskcache(Contract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: pathlib.Path) -> None:
        self.path = tmp_path

    def open(self, **options: Any) -> Cache:
        return Cache(self.path, disk=HoldDisk.using(**options) if options else HoldDisk)

    def put(self, store: Cache, value: Any) -> None:
        store["key"] = value

    def get(self, store: Cache) -> Any:
        return store.get("key", MISSING)

    def plant(self, store: Cache, data: bytes) -> None:
        store["key"] = [0]
        with sqlite3.connect(self.path / "cache.db") as database:
            database.execute("update Cache set value = ?, mode = 4, filename = null", (data,))

    def raw(self, store: Cache) -> bytes:
        with sqlite3.connect(self.path / "cache.db") as database:
            return database.execute("select value from Cache").fetchone()[0]

    def test_a_cache_of_pickles_is_switched_over(self) -> None:
        keys = ["text", 5, ("a", 1), frozenset({2}), 2.5, b"bytes"]
        with Cache(self.path) as before:
            for key in keys:
                before[key] = {"value": key}
            before["large"] = ["x" * 100_000]
        cache = Cache(self.path, disk=HoldDisk.using(old=pickle.loads))
        for key in keys:
            assert cache[key] == {"value": key}
            cache[key] = {"new": key}
            assert cache[key] == {"new": key}
        assert cache["large"] == ["x" * 100_000] and len(cache) == len(keys) + 1
        assert set(cache) == {*keys, "large"}

    def test_keys_and_large_values(self) -> None:
        cache = self.open()
        for key in (("a", frozenset({1, 2})), None, 1 << 70, True):
            cache[key] = "value"
            assert cache[key] == "value" and key in list(cache)
        big = {"big": list(range(200_000))}
        cache["big"] = big
        assert cache["big"] == big
        cache.set("file", io.BytesIO(b"content"), read=True)
        assert cache.get("file", read=True).read() == b"content"
        cache["count"] = 1
        assert cache.incr("count") == 2

    def test_nothing_unsealed_is_read(self) -> None:
        self.open()["key"] = 5
        with pytest.raises(DecodeError):
            self.open(seal=Seal(KEY))["key"]
        cache = self.open(seal=Seal(KEY))
        for value in (5, "text", b"bytes", 2.5, "x" * 100_000):
            cache["key"] = value
            assert cache["key"] == value
        cache.set("file", io.BytesIO(b"content"), read=True)
        assert cache.get("file", read=True).read() == b"content"

    def test_a_planted_pickle_is_refused_by_everything_over_a_cache(self) -> None:
        Planted.ran.clear()
        for make in (lambda: Deque.fromcache(self.open()), lambda: Index.fromcache(self.open())):
            store = make()
            if isinstance(store, Deque):
                store.append([1])
            else:
                store["key"] = [1]
            with sqlite3.connect(self.path / "cache.db") as database:
                database.execute("update Cache set value = ?, mode = 4", (pickle.dumps(Planted()),))
            with pytest.raises(DecodeError):
                list(store.values()) if isinstance(store, Index) else list(store)
            self.open().clear()
        assert not Planted.ran

    def test_threads_and_shards(self) -> None:
        cache = FanoutCache(self.path / "shards", shards=4, disk=HoldDisk)

        def work(number: int) -> None:
            for at in range(20):
                cache[(number, at)] = {"number": number, "at": at}

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(
            cache[number, at] == {"number": number, "at": at} for number in range(4) for at in range(20)
        )
        cache.close()
