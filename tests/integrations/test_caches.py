"""dogpile.cache, aiocache, cachelib, Flask-Session, requests-cache, cashews, LMDB, RocksDB, redis-py, SQLAlchemy."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest
from redis import Redis

import holdall
from holdall import DecodeError, Seal

from .contract import KEY, MISSING, VALUES, Contract, Order

# --- dogpile.cache ---


class TestDogpile(Contract):
    """A region wraps values with when they were made: a plain dict in front of them."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Any) -> None:
        self.path = str(tmp_path / "cache.dbm")

    def open(self, **options: Any) -> Any:
        from dogpile.cache import make_region

        from holdall.integrations.dogpile import hold

        region = make_region(**hold(**options))
        return region.configure("dogpile.cache.dbm", arguments={"filename": self.path})

    def put(self, store: Any, value: Any) -> None:
        store.set("key", value)

    def get(self, store: Any) -> Any:
        from dogpile.cache.api import NO_VALUE

        made = store.get("key")
        return MISSING if made is NO_VALUE else made

    def raw(self, store: Any) -> bytes:
        return store.backend.get_serialized("key").partition(b"|")[2]

    def plant(self, store: Any, data: bytes) -> None:
        store.set("key", 1)
        head = store.backend.get_serialized("key").partition(b"|")[0]
        store.backend.set_serialized("key", head + b"|" + data)

    def test_made_anew(self) -> None:
        region = self.open(unreadable="miss")
        self.plant(region, b"damaged")
        assert region.get_or_create("key", lambda: {"new": {1}}) == {"new": {1}} == region.get("key")


# --- aiocache, cashews, redis-py: over Redis ---


class OverRedis(Contract):
    @pytest.fixture(autouse=True)
    def server(self, redis_server: int, redis_url: str) -> None:
        self.port, self.url = redis_server, redis_url
        self.client = Redis(port=redis_server)

    def plant(self, store: Any, data: bytes) -> None:
        self.client.set("key", data)

    def raw(self, store: Any) -> bytes:
        return self.client.get("key")  # type: ignore[return-value]


class TestAiocache(OverRedis):
    def run(self, options: Any, *call: Any) -> Any:
        from aiocache import RedisCache

        from holdall.integrations.aiocache import HoldSerializer

        async def work() -> Any:
            async with RedisCache(port=self.port, serializer=HoldSerializer(**options)) as cache:
                return await getattr(cache, call[0])(*call[1:])

        return asyncio.run(work())

    def open(self, **options: Any) -> Any:
        from holdall.integrations.aiocache import HoldSerializer

        HoldSerializer(**options)
        return options

    def put(self, store: Any, value: Any) -> None:
        self.run(store, "set", "key", value)

    def get(self, store: Any) -> Any:
        return self.run(store, "get", "key", MISSING)

    def test_many(self) -> None:
        self.run({}, "multi_set", [("a", {1}), ("b", (2,))])
        assert self.run({}, "multi_get", ["a", "b", "c"]) == [{1}, (2,), None]


class TestCashews(OverRedis):
    def run(self, options: Any, *call: Any) -> Any:
        from cashews import Cache

        from holdall.integrations.cashews import setup

        async def work() -> Any:
            cache = Cache()
            setup(cache, self.url, client_side=False, **options)
            await cache.init()
            try:
                return await getattr(cache, call[0])(*call[1:])
            finally:
                await cache.close()

        return asyncio.run(work())

    def open(self, **options: Any) -> Any:
        holdall.integrations.Codec(**options)
        return options

    def put(self, store: Any, value: Any) -> None:
        self.run(store, "set", "key", value)

    def get(self, store: Any) -> Any:
        return self.run(store, "get", "key", MISSING)


class TestRedis(OverRedis):
    def open(self, **options: Any) -> Any:
        from holdall.integrations.redis import Store

        return Store(self.client, **options)

    def put(self, store: Any, value: Any) -> None:
        store.set("key", value)

    def get(self, store: Any) -> Any:
        return store.get("key", MISSING)

    def test_many_and_options(self) -> None:
        store = self.open()
        store.mset({"a": {1}, "b": (2,)})
        assert store.mget(["a", "x", "b"]) == [{1}, None, (2,)]
        assert store.set("a", 5, nx=True) is None and store.set("t", 5, ex=100) and self.client.ttl("t") > 90

    async def test_async(self) -> None:
        from redis.asyncio import Redis as AsyncRedis

        from holdall.integrations.redis import AsyncStore

        async with AsyncRedis(port=self.port) as client:
            store = AsyncStore(client, types=Order)
            await store.set("key", Order(1, []))
            await store.mset({"a": {1}})
            assert await store.get("key") == Order(1, []) and await store.mget(["a", "b"]) == [{1}, None]


# --- cachelib and Flask-Session ---


class TestCachelibFiles(Contract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Any) -> None:
        self.path = tmp_path

    def open(self, **options: Any) -> Any:
        from holdall.integrations.cachelib import FileSystemCache

        return FileSystemCache.using(**options)(str(self.path))

    def put(self, store: Any, value: Any) -> None:
        assert store.set("key", value)

    def get(self, store: Any) -> Any:
        made = store.get("key")
        return MISSING if made is None else made

    def raw(self, store: Any) -> bytes:
        with open(store._get_filename("key"), "rb") as file:
            return file.read()[4:]

    def plant(self, store: Any, data: bytes) -> None:
        store.set("key", 1)
        with open(store._get_filename("key"), "rb") as file:
            head = file.read()[:4]
        with open(store._get_filename("key"), "wb") as file:
            file.write(head + data)


class TestCachelibRedis(OverRedis):
    def open(self, **options: Any) -> Any:
        from holdall.integrations.cachelib import RedisCache

        return RedisCache.using(**options)(port=self.port)

    def put(self, store: Any, value: Any) -> None:
        store.set("key", value)

    def get(self, store: Any) -> Any:
        made = store.get("key")
        return MISSING if made is None else made

    def test_counting(self) -> None:
        store = self.open()
        store.set("count", 5)
        assert store.inc("count") == 6 and store.get("count") == 6


def test_cachelib_in_memory() -> None:
    from holdall.integrations.cachelib import SimpleCache

    cache = SimpleCache.using(types=Order)()
    for value in VALUES:
        cache.set("key", value)
        assert cache.get("key") == value


def test_flask_session(tmp_path: Any) -> None:
    import flask
    import flask_session

    from holdall.integrations.cachelib import FileSystemCache

    app = flask.Flask("tests")
    app.config.update(
        SESSION_TYPE="cachelib", SESSION_CACHELIB=FileSystemCache.using(seal=Seal(KEY))(str(tmp_path))
    )
    flask_session.Session(app)

    @app.get("/put")
    def put() -> str:
        flask.session["basket"] = {"apples": 2, "seen": [1, 2]}
        return "put"

    @app.get("/get")
    def get() -> dict[str, Any]:
        return dict(flask.session["basket"])

    client = app.test_client()
    assert client.get("/put").text == "put" and client.get("/get").json == {"apples": 2, "seen": [1, 2]}


# --- requests-cache ---


def test_requests_cache(tmp_path: Any, pages: Any) -> None:
    from requests_cache import CachedSession

    from holdall.integrations.requests_cache import hold

    address, asked = pages
    url = f"{address}/page"
    name = str(tmp_path / "cache")

    def session(**options: Any) -> Any:
        return CachedSession(name, backend="sqlite", serializer=hold(**options), cache_control=False)

    first = session(seal=Seal(KEY))
    for _ in range(3):
        response = first.get(url)
        assert response.text == "content of /page" and response.headers["Content-Type"] == "text/plain"
    assert len(asked) == 1 and first.get(url).from_cache
    # Sealed with another key, not sealed, pickles: fetched anew.
    for other in (
        session(seal=Seal(KEY, context="other")),
        session(),
        CachedSession(name, backend="sqlite"),
    ):
        count = len(asked)
        other.cache.responses.serializer = other.cache.responses.serializer
        assert other.get(url).text == "content of /page" and len(asked) == count + 1
        assert other.get(url).from_cache
    count = len(asked)
    assert session(old=pickle.loads).get(url).from_cache and len(asked) == count
    with pytest.raises(ValueError, match="no misses"):
        hold(unreadable="miss")


# --- LMDB, RocksDB ---


class TestLMDB(Contract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Any) -> Any:
        import lmdb

        self.env = lmdb.open(str(tmp_path), map_size=1 << 26)
        yield
        self.env.close()

    def open(self, **options: Any) -> Any:
        from holdall.integrations.lmdb import Store

        return Store(self.env, **options)

    def put(self, store: Any, value: Any) -> None:
        store["key"] = value

    def get(self, store: Any) -> Any:
        return store.get("key", MISSING)

    def raw(self, store: Any) -> bytes:
        with self.env.begin() as txn:
            return txn.get(b"key")

    def plant(self, store: Any, data: bytes) -> None:
        with self.env.begin(write=True) as txn:
            txn.put(b"key", data)

    def test_fields_and_the_mapping(self) -> None:
        for options in ({}, {"seal": Seal(KEY)}):
            store = self.open(types=Order, **options)
            store["big"] = {
                "rows": [{"n": n} for n in range(1000)],
                "array": np.arange(10_000),
                "order": Order(5, ["x"]),
            }
            assert store.field("big", "rows", 7) == {"n": 7} and store.field("big", "rows", 7, "n") == 7
            assert store.field("big", "order") == Order(5, ["x"])
            assert store.field("big", "array").sum() == np.arange(10_000).sum()
            for missing in (("no", "rows"), ("big", "no")):
                with pytest.raises(KeyError):
                    store.field(*missing)
        store["other"] = 1
        assert sorted(store) == ["big", "other"] and len(store) == 2
        del store["other"]
        with pytest.raises(KeyError):
            del store["other"]
        with self.env.begin(write=True) as txn:
            store.put_in(txn, "within", {1})
            assert store.get_in(txn, "within") == {1}


def test_rocksdb(tmp_path: Any) -> None:
    import rocksdict

    from holdall.integrations.rocksdb import attach

    db = attach(rocksdict.Rdict(str(tmp_path / "db")), types=Order, seal=Seal(KEY))
    for value in VALUES:
        db["key"] = value
        assert db["key"] == value
    attach(db)
    with pytest.raises(Exception, match="expected a hold message"):
        db["key"]
    attach(db, seal=Seal(KEY, context="other"))
    with pytest.raises(Exception, match="the seal does not hold"):
        db["key"]
    db.close()
    db = rocksdict.Rdict(str(tmp_path / "old"))
    db["key"] = {"old": (1, 2)}
    with pytest.raises(Exception, match="pickle"):
        attach(db)["key"]
    assert attach(db, old=pickle.loads)["key"] == {"old": (1, 2)}
    db.close()


# --- SQLAlchemy ---


class TestSQLAlchemy(Contract):
    @pytest.fixture(autouse=True)
    def database(self) -> Any:
        import sqlalchemy as sa

        self.sa = sa
        self.engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
        yield
        self.engine.dispose()

    def open(self, **options: Any) -> Any:
        from holdall.integrations.sqlalchemy import HoldType

        sa = self.sa
        table = sa.Table(
            "entries",
            sa.MetaData(),
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("value", HoldType(**options)),
        )
        table.metadata.create_all(self.engine)
        return table

    def put(self, store: Any, value: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(store.delete())
            connection.execute(store.insert().values(id=1, value=value))

    def get(self, store: Any) -> Any:
        with self.engine.begin() as connection:
            made = connection.execute(self.sa.select(store.c.value)).scalar()
        return MISSING if made is None else made

    def raw(self, store: Any) -> bytes:
        with self.engine.begin() as connection:
            return connection.exec_driver_sql("select value from entries").scalar()

    def plant(self, store: Any, data: bytes) -> None:
        with self.engine.begin() as connection:
            connection.exec_driver_sql("delete from entries")
            connection.exec_driver_sql("insert into entries values (1, ?)", (data,))

    def test_refused_values(self) -> None:
        with pytest.raises(self.sa.exc.StatementError):
            self.put(self.open(), len)

    def test_mutable_and_typed(self) -> None:
        from sqlalchemy.ext.mutable import MutableDict
        from sqlalchemy.orm import Session, declarative_base

        from holdall.integrations.sqlalchemy import HoldType

        sa, Base = self.sa, declarative_base()

        class Basket(Base):
            __tablename__ = "baskets"
            id = sa.Column(sa.Integer, primary_key=True)
            items = sa.Column(MutableDict.as_mutable(HoldType()))
            order = sa.Column(HoldType(type=Order))
            empty = sa.Column(HoldType())

        Base.metadata.create_all(self.engine)
        with Session(self.engine) as session:
            session.add(Basket(id=1, items={"a": {1}}, order=Order(1, ["x"])))
            session.commit()
            basket = session.get(Basket, 1)
            basket.items["b"] = (2,)
            session.commit()
        with Session(self.engine) as session:
            basket = session.get(Basket, 1)
            assert dict(basket.items) == {"a": {1}, "b": (2,)} and basket.order == Order(1, ["x"])
            assert basket.empty is None
            session.execute(sa.update(Basket).values(order=Order("not an int", ["x"])))  # type: ignore[arg-type]
            with pytest.raises(holdall.ValidationError):
                session.execute(sa.select(Basket.order)).scalar()

    def test_two_types_in_one_statement_cache(self) -> None:
        plain, typed = self.open(), self.open(types=Order)
        self.put(typed, Order(1, []))
        for _ in range(3):
            assert self.get(typed) == Order(1, [])
            with pytest.raises(DecodeError):
                self.get(plain)
