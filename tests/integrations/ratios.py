"""`make bench-integrations`: the library's own serializer's time divided by ours, through the library, in turns of one run whose order is by chance.

ARGS="--only diskcache,django" measures some; `--rounds 30`; `--print` leaves the page as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import datetime
import functools
import gc
import json
import multiprocessing
import pathlib
import pickle
import random
import shelve
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import holdall

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "integrations" / "README.md"
BEGIN, END = "<!-- table: ratios -->", "<!-- end -->"

# Files are in memory: a disk's wait is the same for both, and so long that nothing else is seen.
FOLDER = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None

Pair = tuple[Callable[[Any], Any], Callable[[], Any]]
"""What stores a value, and what restores it."""


@dataclasses.dataclass
class Item:
    number: int
    name: str
    price: float
    tags: list[str]


holdall.register(Item, name="ratios.Item")


def rows() -> Any:
    """One entry of a cache: 100 rows of a query."""
    day = datetime.date(2026, 1, 2)
    return [
        {"id": number, "name": f"name {number}", "price": number * 1.25, "day": day, "seen": number % 3 == 0}
        for number in range(100)
    ]


def objects() -> Any:
    return [
        Item(number, f"item {number}", number / 8, ["new", f"tag {number % 7}"]) for number in range(20_000)
    ]


DATA = {"rows": rows, "20,000 objects": objects}


def plain(items: Any) -> Any:
    """What JSON can hold of them."""
    return json.loads(
        json.dumps(items, default=lambda one: one.__dict__ if isinstance(one, Item) else str(one))
    )


def direct(dumps: Any, loads: Any) -> Pair:
    kept: list[Any] = []

    def store(value: Any) -> None:
        kept[:] = [dumps(value)]

    return store, lambda: loads(kept[0])


def keyed(store: Any, set: str = "set", get: str = "get") -> Pair:
    return (lambda value: getattr(store, set)("key", value)), (lambda: getattr(store, get)("key"))


@contextlib.contextmanager
def diskcache(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from diskcache import Cache

    from holdall.integrations.diskcache import HoldDisk

    with Cache(f"{folder}/own") as own, Cache(f"{folder}/ours", disk=HoldDisk) as ours:
        yield "pickle", keyed(own), keyed(ours)


@contextlib.contextmanager
def django(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from django.conf import settings

    settings.configure() if not settings.configured else None
    from django.core.cache.backends.locmem import LocMemCache

    from holdall.integrations.django import LocMemCache as Ours

    yield "pickle", keyed(LocMemCache("own", {})), keyed(Ours("ours", {}))


@contextlib.contextmanager
def kombu(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from kombu import serialization

    from holdall.integrations.kombu import register

    register()

    def by(name: str) -> Pair:
        return direct(
            lambda value: serialization.dumps(value, serializer=name),
            lambda sent: serialization.loads(sent[2], sent[0], sent[1], accept={sent[0]}),
        )

    yield "pickle", by("pickle"), by("hold")


@contextlib.contextmanager
def huey(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from huey.serializer import Serializer

    from holdall.integrations.huey import HoldSerializer

    own, ours = Serializer(), HoldSerializer()
    yield "pickle", direct(own.serialize, own.deserialize), direct(ours.serialize, ours.deserialize)


@contextlib.contextmanager
def rq(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from rq.serializers import PickleSerializer

    from holdall.integrations.rq import HoldSerializer

    yield (
        "pickle",
        direct(PickleSerializer.dumps, PickleSerializer.loads),
        direct(HoldSerializer.dumps, HoldSerializer.loads),
    )


@contextlib.contextmanager
def dramatiq(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from dramatiq.encoder import PickleEncoder

    from holdall.integrations.dramatiq import HoldEncoder

    own, ours = PickleEncoder(), HoldEncoder()
    yield "pickle", direct(own.encode, own.decode), direct(ours.encode, ours.decode)


@contextlib.contextmanager
def dogpile(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from dogpile.cache import make_region

    from holdall.integrations.dogpile import hold

    ours = make_region(**hold()).configure("dogpile.cache.dbm", arguments={"filename": f"{folder}/ours"})
    own = make_region(serializer=pickle.dumps, deserializer=pickle.loads)
    own.configure("dogpile.cache.dbm", arguments={"filename": f"{folder}/own"})
    yield "pickle", keyed(own), keyed(ours)


@contextlib.contextmanager
def cachelib(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    import cachelib as library

    from holdall.integrations.cachelib import FileSystemCache

    yield "pickle", keyed(library.FileSystemCache(f"{folder}/own")), keyed(FileSystemCache(f"{folder}/ours"))


@contextlib.contextmanager
def shelves(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from holdall.integrations.shelve import Shelf

    own, ours = shelve.Shelf({}), Shelf({})
    yield "pickle", keyed(own, "__setitem__", "__getitem__"), keyed(ours, "__setitem__", "__getitem__")


@contextlib.contextmanager
def lmdb(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    import lmdb as library

    from holdall.integrations.lmdb import Store

    with library.open(folder, map_size=1 << 28) as env:
        ours = Store(env)

        def put(value: Any) -> None:
            with env.begin(write=True) as txn:
                txn.put(b"own", pickle.dumps(value, 5))

        def get() -> Any:
            with env.begin() as txn:
                return pickle.loads(txn.get(b"own"))

        yield "pickle by hand", (put, get), keyed(ours, "__setitem__", "__getitem__")


@contextlib.contextmanager
def rocksdb(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from rocksdict import Rdict

    from holdall.integrations.rocksdb import attach

    own, ours = Rdict(f"{folder}/own"), attach(Rdict(f"{folder}/ours"))
    yield "pickle", keyed(own, "__setitem__", "__getitem__"), keyed(ours, "__setitem__", "__getitem__")
    own.close(), ours.close()


@contextlib.contextmanager
def sqlalchemy(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    import sqlalchemy as sa

    from holdall.integrations.sqlalchemy import HoldType

    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)

    def by(name: str, kind: Any) -> Pair:
        table = sa.Table(
            name, sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("value", kind)
        )
        table.metadata.create_all(engine)
        with engine.begin() as connection:
            connection.execute(table.insert().values(id=1, value=None))

        def store(value: Any) -> None:
            with engine.begin() as connection:
                connection.execute(table.update().values(value=value))

        def restore() -> Any:
            with engine.begin() as connection:
                return connection.execute(sa.select(table.c.value)).scalar()

        return store, restore

    yield "PickleType", by("own", sa.PickleType()), by("ours", HoldType())
    engine.dispose()


@contextlib.contextmanager
def joblib(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    import joblib as library

    from holdall.integrations import joblib as ours

    own_path, our_path = f"{folder}/own", f"{folder}/ours"
    yield (
        "joblib.dump",
        (lambda value: library.dump(value, own_path), lambda: library.load(own_path)),
        (lambda value: ours.dump(value, our_path), lambda: ours.load(our_path)),
    )


@contextlib.contextmanager
def processes(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from multiprocessing.reduction import ForkingPickler

    from holdall.integrations.multiprocessing import installed

    def ours(value: Any) -> Any:
        with installed():
            return ForkingPickler.dumps(value)

    assert multiprocessing.get_start_method()
    yield "pickle", direct(ForkingPickler.dumps, ForkingPickler.loads), direct(ours, ForkingPickler.loads)


@contextlib.contextmanager
def langgraph(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    from holdall.integrations.langgraph import HoldSerializer

    own, ours = JsonPlusSerializer(), HoldSerializer()
    yield (
        "JsonPlusSerializer",
        direct(own.dumps_typed, own.loads_typed),
        direct(ours.dumps_typed, ours.loads_typed),
    )


@contextlib.contextmanager
def aiocache(folder: str) -> Iterator[tuple[str, Pair, Pair]]:
    from aiocache import SimpleMemoryCache
    from aiocache.serializers import PickleSerializer

    from holdall.integrations.aiocache import HoldSerializer

    loop = asyncio.new_event_loop()

    def by(serializer: Any) -> Pair:
        cache = SimpleMemoryCache(serializer=serializer, namespace=type(serializer).__name__)
        return (lambda value: loop.run_until_complete(cache.set("key", value))), (
            lambda: loop.run_until_complete(cache.get("key"))
        )

    yield "pickle", by(PickleSerializer()), by(HoldSerializer())
    loop.close()


LIBRARIES: dict[str, Any] = {
    "diskcache": diskcache, "Django (locmem)": django, "kombu, Celery": kombu, "rq": rq, "huey": huey, "dramatiq (PickleEncoder)": dramatiq,
    "dogpile.cache (dbm)": dogpile, "aiocache": aiocache, "cachelib": cachelib, "shelve": shelves, "LMDB": lmdb, "RocksDB": rocksdb,
    "SQLAlchemy": sqlalchemy, "joblib": joblib, "multiprocessing": processes, "LangGraph": langgraph,
}  # fmt: skip


def ratio(own: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> float:
    """The median of the ratios of neighbouring turns. Which of the two goes first is by chance: in a fixed cycle one would always meet what
    the other left in memory and in caches.
    """
    found, order = [], random.Random(rounds)
    for _ in range(rounds):
        times = {}
        for call in order.sample((own, ours), 2):
            gc.collect()
            began = time.perf_counter()
            made = call()
            times[call] = time.perf_counter() - began
            del made
        found.append(times[own] / times[ours])
    return statistics.median(found)


def repeated(call: Callable[[], Any], times: int) -> Callable[[], Any]:
    def run() -> None:
        for _ in range(times):
            call()

    return run


def measured(make: Any, rounds: int) -> tuple[str, list[float]]:
    found = []
    for name, data in DATA.items():
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder, make(folder) as (default, own, ours):
            value, times = data(), 1 if "objects" in name else 20
            for store, restore in (own, ours):
                store(value)
                assert restore() == value
            stores = [repeated(functools.partial(store, value), times) for store, _ in (own, ours)]
            restores = [repeated(restore, times) for _, restore in (own, ours)]
            found += [ratio(*stores, rounds), ratio(*restores, rounds)]
    return default, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--print", action="store_true", dest="prints")
    given = parser.parse_args()
    lines = [
        "| library | its own | rows, store | rows, restore | 20,000 objects, store | 20,000 objects, restore |",
        "|---|---|---|---|---|---|",
    ]
    below = []
    for name, make in LIBRARIES.items():
        if given.only and not any(one.lower() in name.lower() for one in given.only.split(",")):
            continue
        default, found = measured(make, given.rounds)
        lines.append(f"| {name} | {default} | {' | '.join(f'{one:.1f}' for one in found)} |")
        print(lines[-1], flush=True)
        below += [name] * any(one < 1 for one in found)
    if not given.prints and not given.only:
        text = PAGE.read_text(encoding="utf-8")
        head, _, rest = text.partition(BEGIN)
        PAGE.write_text(
            head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.partition(END)[2], encoding="utf-8"
        )
    if below:
        sys.exit(f"below 1: {', '.join(below)}")


if __name__ == "__main__":
    main()
