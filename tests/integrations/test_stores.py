"""RocksDB, requests-cache, LangGraph and multiprocessing: what every integration has to show, and many at once."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pathlib
import pickle
import sqlite3
import threading
from typing import Any, ClassVar

import pytest

import holdall
from holdall import Seal
from holdall.integrations.multiprocessing import installed

from .contract import KEY, MISSING, OTHER, VALUES, Contract, Order, Planted, Stranger


def at_once(work: Any, count: int = 4) -> list[Any]:
    """What as many threads make of their numbers, with an error of any."""
    with concurrent.futures.ThreadPoolExecutor(count) as executor:
        return list(executor.map(work, range(count)))


# --- RocksDB ---


class TestRocksDB(Contract):
    has_misses: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def database(self, tmp_path: pathlib.Path) -> Any:
        import rocksdict

        self.db = rocksdict.Rdict(str(tmp_path / "db"))
        yield
        self.db.close()

    def open(self, **options: Any) -> Any:
        self.attached(options)
        return options

    def attached(self, options: Any) -> Any:
        from holdall.integrations.rocksdb import attach

        return attach(self.db, **options)

    def put(self, store: Any, value: Any) -> None:
        self.attached(store)["key"] = value

    def get(self, store: Any) -> Any:
        return self.attached(store).get("key", MISSING)

    # rocksdict's own hooks give and take what stands in the database, behind a byte that says that it was pickled.
    def raw(self, store: Any) -> bytes:
        self.db.set_loads(bytes)
        return self.db["key"]

    def plant(self, store: Any, data: bytes) -> None:
        self.db.set_dumps(lambda _: data)
        self.db["key"] = [0]

    def test_many_at_once(self) -> None:
        db = self.attached({"types": Order})

        def work(thread: int) -> None:
            for number in range(200):
                db[f"{thread} {number}"] = Order(number, [str(thread)])
                assert db[f"{thread} {number}"] == Order(number, [str(thread)])

        at_once(work)
        assert sum(order.number for order in db.values()) == 4 * sum(range(200))

    def test_its_own_kinds_are_its_own(self) -> None:
        db = self.attached({"seal": Seal(KEY)})
        for value in ("text", b"bytes", 1 << 100, 2.5, True):
            db["key"] = value
            assert db["key"] == value and type(db["key"]) is type(value)


# --- requests-cache ---


class TestRequestsCache:
    """Its entries are responses, and one that can't be read is fetched anew: a miss, whatever is wrong with it."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: pathlib.Path, pages: Any) -> None:
        self.path, (self.address, self.asked) = tmp_path / "cache.sqlite", pages

    def session(self, **options: Any) -> Any:
        from requests_cache import CachedSession

        from holdall.integrations.requests_cache import hold

        return CachedSession(str(self.path), backend="sqlite", serializer=hold(**options))

    def text(self, session: Any) -> tuple[str, int]:
        """A page, and how often it was asked of the server."""
        before = len(self.asked)
        with session:
            response = session.get(f"{self.address}/page")
        assert response.status_code == 200
        return response.text, len(self.asked) - before

    def entry(self) -> bytes:
        with sqlite3.connect(self.path) as connection:
            [(data,)] = connection.execute("select value from responses").fetchall()
        return bytes(data)

    def plant(self, data: bytes) -> None:
        with sqlite3.connect(self.path) as connection:
            assert connection.execute("update responses set value = ?", (data,)).rowcount == 1

    @pytest.mark.parametrize(
        "options", [{}, {"seal": Seal(KEY)}, {"compress": "zstd"}, {"trust": True}], ids=str
    )
    def test_store_and_restore(self, options: Any) -> None:
        for fetched in (1, 0, 0):
            assert self.text(self.session(**options)) == ("content of /page", fetched)
        assert self.entry()[:1] == (b"\xf1" if "seal" in options else self.entry()[:1]) != b"\x80"

    def refused(self, data: bytes, **options: Any) -> None:
        self.plant(data)
        assert self.text(self.session(**options)) == ("content of /page", 1)
        # What was fetched is in its place.
        assert self.text(self.session(**options)) == ("content of /page", 0) and self.entry() != data

    def test_a_damaged_entry(self) -> None:
        self.text(self.session())
        data = self.entry()
        for damaged in (data[:-1], data[: len(data) // 2], data[:1], data + b"x", b""):
            self.refused(damaged)

    def test_a_class_that_is_not_permitted(self) -> None:
        self.text(self.session())
        self.refused(holdall.dumps(Stranger("x")))
        self.refused(holdall.dumps(len, trust=True))

    def test_an_entry_sealed_with_another_key(self) -> None:
        self.text(self.session(seal=Seal(OTHER)))
        other = self.entry()
        self.text(self.session(seal=Seal(KEY)))
        mine = self.entry()
        self.refused(other, seal=Seal(KEY))
        self.refused(mine, seal=Seal(KEY, context="another"))
        self.plant(mine)
        assert self.text(self.session(seal=Seal(OTHER, old_keys=[KEY]))) == ("content of /page", 0)

    def test_an_entry_of_the_old_serializer(self) -> None:
        from requests_cache import CachedSession

        Planted.ran.clear()
        assert self.text(CachedSession(str(self.path), backend="sqlite")) == ("content of /page", 1)
        pickled = self.entry()
        assert self.text(self.session(old=pickle.loads)) == ("content of /page", 0)
        self.plant(pickle.dumps(Planted()))
        assert self.text(self.session()) == ("content of /page", 1) and not Planted.ran
        with sqlite3.connect(self.path) as connection:
            connection.execute("delete from responses")
        self.text(self.session())
        self.refused(pickled)

    def test_many_at_once(self) -> None:
        with self.session() as session:
            found = at_once(
                lambda thread: [session.get(f"{self.address}/{number}").text for number in range(20)]
            )
            assert found == [[f"content of /{number}" for number in range(20)]] * 4
            assert all(session.get(f"{self.address}/{number}").from_cache for number in range(20))


# --- LangGraph ---


class TestLangGraph(Contract):
    """Its entries say what wrote them; one that can't be read is an error."""

    has_misses: ClassVar[bool] = False

    def open(self, **options: Any) -> Any:
        from langgraph.checkpoint.serde.base import SerializerProtocol

        from holdall.integrations.langgraph import HoldSerializer

        class Pickles(SerializerProtocol):
            def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
                return "pickle", pickle.dumps(obj)

            def loads_typed(self, data: tuple[str, bytes]) -> Any:
                assert data[0] == "pickle"
                return pickle.loads(data[1])

        previous = Pickles() if options.pop("old", None) is not None else None
        return {"serde": HoldSerializer(previous=previous, **options)}

    def put(self, store: Any, value: Any) -> None:
        store["entry"] = store["serde"].dumps_typed(value)

    def get(self, store: Any) -> Any:
        return store["serde"].loads_typed(store["entry"])

    def raw(self, store: Any) -> bytes:
        return store["entry"][1]

    def plant(self, store: Any, data: bytes) -> None:
        store["entry"] = ("pickle" if data[:1] == b"\x80" else "hold", data)

    def test_many_at_once(self, tmp_path: pathlib.Path) -> None:
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import END, START, StateGraph

        from holdall.integrations.langgraph import HoldSerializer

        graph: Any = StateGraph(dict)
        graph.add_node("more", lambda state: {"order": Order(state["order"].number + 1, ["x"])})
        graph.add_edge(START, "more")
        graph.add_edge("more", END)
        app = graph.compile(checkpointer=InMemorySaver(serde=HoldSerializer(types=Order, seal=Seal(KEY))))

        def work(thread: int) -> Any:
            config: Any = {"configurable": {"thread_id": str(thread)}}
            for number in range(10):
                app.invoke({"order": Order(10 * thread + number, [])}, config)
            return app.get_state(config).values["order"]

        assert at_once(work) == [Order(10 * thread + 10, ["x"]) for thread in range(4)]


# --- multiprocessing ---


class TestMultiprocessing:
    """Processes of one program trust each other: what they send holds functions and any class, and has no seal."""

    def sent(self, value: Any) -> bytes:
        from multiprocessing.reduction import ForkingPickler

        with installed():
            return bytes(ForkingPickler.dumps(value))

    def test_store_and_restore(self) -> None:
        for value in [*VALUES, len, Stranger("x"), {"deep": VALUES}]:
            data = self.sent(value)
            assert b"holdall" in data and pickle.loads(data) == value
        made = pickle.loads(self.sent(VALUES[3]))
        assert made[0] is made[1]

    def test_a_class_that_can_not_be_sent(self) -> None:
        class Local:
            pass

        with installed():
            near, far = multiprocessing.Pipe()
            for value in (Local(), lambda: 1, threading.Lock()):
                with pytest.raises(Exception, match=r"local|lambda|lock|pickle|store|holds|find") as error:
                    near.send(value)
                assert not isinstance(error.value, (SystemError, MemoryError))
            near.send("goes on")
            assert far.recv() == "goes on"

    def test_a_damaged_entry(self) -> None:
        data = self.sent({"key": ["value"] * 30})
        errors = (holdall.DecodeError, pickle.UnpicklingError, EOFError, ValueError, IndexError)
        for damaged in (data[:-1], data[: len(data) // 2], data[:1]):
            with pytest.raises(errors):
                pickle.loads(damaged)
        near, far = multiprocessing.Pipe()
        near.send_bytes(data[: len(data) // 2])
        with pytest.raises(errors):
            far.recv()
        near.send_bytes(data)
        assert far.recv() == {"key": ["value"] * 30}

    def test_an_entry_of_the_old_serializer(self) -> None:
        """A process that has not called `install` sends to one that has, and the other way around."""
        near, far = multiprocessing.Pipe()
        near.send(Order(1, ["x"]))
        with installed():
            assert far.recv() == Order(1, ["x"])
            far.send(Order(2, ["y"]))
        assert near.recv() == Order(2, ["y"])
