"""Django: caches and sessions."""

from __future__ import annotations

import contextlib
import json
import pickle
import threading
import zlib
from typing import Any

import django
import pytest
from django.conf import settings

if not settings.configured:
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        SECRET_KEY="a secret of the tests, which is long enough",
        USE_TZ=True,
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
        CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    )
    django.setup()

from django.contrib.auth.models import Group
from django.core import signing
from django.core.cache.backends.filebased import FileBasedCache as Files
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy

from holdall import DecodeError, Seal, UnknownTypeError
from holdall.integrations import django as ours

from .contract import KEY, MISSING, Contract, Order, Planted


class Caches(Contract):
    def put(self, store: Any, value: Any) -> None:
        store.set("key", value)

    def get(self, store: Any) -> Any:
        return store.get("key", MISSING)


class TestLocMem(Caches):
    def open(self, **options: Any) -> Any:
        return ours.LocMemCache("tests", {"OPTIONS": options})

    def plant(self, store: Any, data: bytes) -> None:
        store.set("key", 1)
        store._cache[store.make_key("key")] = data

    def raw(self, store: Any) -> bytes:
        return store._cache[store.make_key("key")]

    def test_counting(self) -> None:
        cache = self.open()
        cache.set("count", 5)
        assert cache.incr("count") == 6 and cache.decr("count", 2) == 4
        cache = self.open(unreadable="miss")
        cache._cache[cache.make_key("count")] = b"damaged"
        with pytest.raises(ValueError, match="not found"):
            cache.incr("count")


class TestFiles(Caches):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Any) -> None:
        self.path = str(tmp_path)

    def open(self, **options: Any) -> Any:
        return ours.FileBasedCache(self.path, {"OPTIONS": options})

    def plant(self, store: Any, data: bytes) -> None:
        store.set("key", 1)
        with open(store._key_to_file("key"), "rb") as file:
            head = file.read().partition(b"x\x9c")[0]
        with open(store._key_to_file("key"), "wb") as file:
            file.write(head + zlib.compress(data))

    def raw(self, store: Any) -> bytes:
        with open(store._key_to_file("key"), "rb") as file:
            return zlib.decompress(b"x\x9c" + file.read().partition(b"x\x9c")[2])

    def test_files_of_pickles_are_switched_over(self) -> None:
        before, value = Files(self.path, {}), {"a": (1, 2)}
        for key in range(10):
            before.set(f"key-{key}", value)
        before.set("for-ever", value, timeout=None)
        before.set("gone", value, timeout=-1)
        after = self.open(old="pickle.loads")
        assert after.get_many([f"key-{key}" for key in range(10)]) == {
            f"key-{key}": value for key in range(10)
        }
        assert after.get("for-ever") == value and after.get("gone") is None
        assert after.touch("key-1", 100) and after.get("key-1") == value
        assert not after.add("key-2", "other") and after.has_key("key-2")
        Planted.ran.clear()
        with open(after._key_to_file("key-3"), "wb") as file:
            file.write(pickle.dumps(Planted()))
        with pytest.raises(DecodeError):
            self.open().get("key-3")
        # What `old` is trusted with is the entry, not the number in front of it.
        for options in ({"old": json.loads}, {"old": json.loads, "seal": Seal(KEY)}):
            with pytest.raises(DecodeError):
                self.open(**options).get("key-3")
        assert not Planted.ran
        assert self.open(unreadable="miss").get("key-3", MISSING) == MISSING and not Planted.ran

    def test_damaged_files(self) -> None:
        cache = self.open()
        cache.set("key", {"a": 1})
        path = cache._key_to_file("key")
        with open(path, "rb") as file:
            data = file.read()
        for damaged in (data[:-3], b"", data[:3], b"\x80\x04N." + data, data[:12] + b"?" + data[13:]):
            for method in ("get", "touch", "has_key"):
                with open(path, "wb") as file:
                    file.write(damaged)
                with contextlib.suppress(DecodeError):
                    getattr(cache, method)("key")
                with open(path, "wb") as file:
                    file.write(damaged)
                assert not getattr(self.open(unreadable="miss"), method)("key") or method != "get"

    def test_an_empty_file_has_expired(self) -> None:
        """What a crash may leave: a miss, as by Django itself, and not an error."""
        for options in ({}, {"unreadable": "miss"}, {"seal": Seal(KEY)}):
            cache = self.open(**options)
            for method, missing in (("get", None), ("touch", False), ("has_key", False)):
                cache.set("key", {"a": 1})
                with open(cache._key_to_file("key"), "wb"):
                    pass
                assert getattr(cache, method)("key") == missing


class TestDatabase(Caches):
    @pytest.fixture(autouse=True)
    def table(self) -> None:
        call_command("createcachetable", "hold_cache", verbosity=0)
        self.open().clear()

    def open(self, **options: Any) -> Any:
        return ours.DatabaseCache("hold_cache", {"OPTIONS": options})

    def plant(self, store: Any, data: bytes) -> None:
        import base64

        store.set("key", 1)
        with connection.cursor() as cursor:
            cursor.execute("update hold_cache set value = %s", [base64.b64encode(data).decode()])

    def raw(self, store: Any) -> bytes:
        import base64

        with connection.cursor() as cursor:
            cursor.execute("select value from hold_cache")
            return base64.b64decode(cursor.fetchone()[0])

    def test_one_that_can_not_be_read_costs_no_other(self) -> None:
        cache = self.open(unreadable="miss")
        self.plant(cache, b"damaged")
        cache.set_many({"a": 1, "b": {2}})
        assert cache.get_many(["a", "key", "b"]) == {"a": 1, "b": {2}}
        with pytest.raises(DecodeError):
            self.open().get_many(["a", "key", "b"])


class TestRedis(Caches):
    @pytest.fixture(autouse=True)
    def server(self, redis_url: str) -> None:
        self.url = redis_url

    def open(self, **options: Any) -> Any:
        return ours.RedisCache(self.url, {"OPTIONS": options})

    def plant(self, store: Any, data: bytes) -> None:
        store._cache.get_client().set(store.make_key("key"), data)

    def raw(self, store: Any) -> bytes:
        return store._cache.get_client().get(store.make_key("key"))

    def test_ints_are_counted_by_redis(self) -> None:
        cache = self.open()
        cache.set("count", 5)
        assert cache.incr("count") == 6 and cache.get("count") == 6
        sealed = self.open(seal=Seal(KEY))
        sealed.set("count", 5)
        assert sealed.get("count") == 5
        self.open().set("planted", 5)
        with pytest.raises(DecodeError):
            sealed.get("planted")

    def test_djangos_own_backend_takes_the_serializer(self) -> None:
        from django.core.cache.backends.redis import RedisCache

        cache = RedisCache(
            self.url, {"OPTIONS": {"serializer": "holdall.integrations.django.HoldSerializer"}}
        )
        cache.set_many({"a": {1}, "b": 2})
        assert cache.get_many(["a", "b"]) == {"a": {1}, "b": 2} and cache.incr("b") == 3
        with pytest.raises(ValueError, match="no misses"):
            ours.HoldSerializer(unreadable="miss")

    def test_threads(self) -> None:
        cache = self.open()
        threads = [
            threading.Thread(target=lambda n=n: [cache.set(f"{n}-{at}", (n, at)) for at in range(50)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(cache.get(f"{n}-{at}") == (n, at) for n in range(4) for at in range(50))


def test_djangos_own_values() -> None:
    cache = ours.LocMemCache("values", {"OPTIONS": {}})
    cache.set("safe", mark_safe("<b>"))
    assert type(cache.get("safe")) is SafeString
    cache.set("lazy", {"text": gettext_lazy("yes")})
    assert cache.get("lazy") == {"text": "yes"}
    for value in (Group(name="g"), Group.objects.none()):
        with pytest.raises(Exception, match="trust=True|can't store"):
            cache.set("key", value)
    permitted = {"types": ["django.http.response", "http.cookies"]}
    responses = ours.LocMemCache("values", {"OPTIONS": permitted})
    response = HttpResponse("content", headers={"X-Of": "ours"})
    responses.set("response", response)
    made = responses.get("response")
    assert (made.content, made["X-Of"]) == (b"content", "ours")
    response.set_cookie("a", "b")
    with pytest.raises(Exception, match="can't store a `Morsel`"):
        responses.set("response", response)
    trusted = ours.LocMemCache("values", {"OPTIONS": {"trust": True}})
    trusted.set("model", Group(name="g"))
    assert trusted.get("model").name == "g"
    trusted.set("response", HttpResponse("content"))
    assert trusted.get("response").content == b"content"


def test_dotted_names() -> None:
    here = __name__
    cache = ours.LocMemCache("dotted", {"OPTIONS": {"types": ["tests.integrations.contract.Order"]}})
    cache.set("key", Order(1, []))
    assert cache.get("key") == Order(1, []) and here


def test_sessions() -> None:
    from django.contrib.sessions.backends.signed_cookies import SessionStore

    class Store(SessionStore):
        def __init__(self, key: Any = None, serializer: Any = ours.SessionSerializer) -> None:
            super().__init__(key)
            self.serializer = serializer

    store = Store()
    store["basket"] = {("apple", 2)}
    store.save()
    assert Store(store.session_key)["basket"] == {("apple", 2)}
    foreign = signing.dumps({"a": 1}, compress=True, salt="django.contrib.sessions.backends.signed_cookies")
    assert "a" not in Store(foreign)
    reading = ours.SessionSerializer.using(old=json.loads)
    assert Store(foreign, reading)["a"] == 1
    with pytest.raises(UnknownTypeError):
        ours.SessionSerializer().loads(ours.SessionSerializer().dumps([Order(1, [])]))
