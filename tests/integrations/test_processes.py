"""joblib and loky, multiprocessing and concurrent.futures."""

from __future__ import annotations

import concurrent.futures
import io
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
from joblib import Memory

import holdall
from holdall import DecodeError, Seal
from holdall.integrations import joblib as ours
from holdall.integrations.multiprocessing import install, installed, uninstall

from .contract import KEY, VALUES, Contract, Order, Stranger


class TestJoblibFiles(Contract):
    old_dumps = staticmethod(pickle.dumps)

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: pathlib.Path) -> None:
        self.path = tmp_path / "value.hold"

    def open(self, **options: Any) -> Any:
        if options.get("unreadable") == "miss":
            raise ValueError("a file has no misses")
        options["compressed"] = options.pop("compress", None) or 0
        return options

    has_misses = False

    def put(self, store: Any, value: Any) -> None:
        options = dict(store)
        compress = options.pop("compressed")
        assert ours.dump(
            value, self.path, compress, **{k: v for k, v in options.items() if k in ("trust", "seal")}
        ) == [str(self.path)]

    def get(self, store: Any) -> Any:
        return ours.load(self.path, **{name: value for name, value in store.items() if name != "compressed"})

    def plant(self, store: Any, data: bytes) -> None:
        self.path.write_bytes(data)

    def raw(self, store: Any) -> bytes:
        return self.path.read_bytes()

    def test_arrays_are_mapped(self) -> None:
        array = np.arange(100_000.0)
        ours.dump({"a": array}, self.path)
        loaded = ours.load(self.path, mmap_mode="r")["a"]
        assert (loaded == array).all() and not loaded.flags.writeable
        assert ours.load(self.path, mmap_mode="c")["a"].flags.writeable
        joblib.dump({"a": array}, self.path)
        assert (ours.load(self.path, old=lambda data: joblib.load(io.BytesIO(data)))["a"] == array).all()
        with pytest.raises(DecodeError):
            ours.load(self.path)


@pytest.mark.parametrize("options", [{}, {"seal": Seal(KEY)}], ids=["plain", "sealed"])
@pytest.mark.parametrize("compress", [False, "zstd", "lz4", 3])
def test_memory(tmp_path: pathlib.Path, options: Any, compress: Any) -> None:
    asked: list[int] = []
    memory = Memory(
        tmp_path, backend="hold", backend_options={"types": [Order], **options}, verbose=0, compress=compress
    )

    @memory.cache
    def made(number: int) -> Any:
        asked.append(number)
        return {"order": Order(number, []), "array": np.arange(5000.0), "set": {1, 2}}

    for _ in range(3):
        result = made(5)
        assert result["order"] == Order(5, []) and result["set"] == {1, 2} and result["array"][-1] == 4999
    assert asked == [5]
    file = next(tmp_path.rglob("output.pkl"))
    assert file.read_bytes()[:1] == (b"\xf1" if options else b"H")
    # Damaged, a pickle, of another key: computed again, with a warning.
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    for data in (
        damaged,
        pickle.dumps({"planted": 1}),
        holdall.dumps({"order": 1}, seal=Seal(bytes(range(9, 41)))),
    ):
        file.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert made(5)["order"] == Order(5, [])
    assert asked == [5] * 4


def test_memory_maps_arrays(tmp_path: pathlib.Path) -> None:
    memory = Memory(tmp_path, backend="hold", mmap_mode="r", verbose=0)
    made = memory.cache(big)
    made(3)
    assert not made(3).flags.writeable and made(3)[-1] == 99_999 * 3
    # A cached function goes to other processes with its backend.
    again = pickle.loads(pickle.dumps(memory)).cache(big)
    assert again(3)[-1] == 99_999 * 3


def big(factor: int) -> Any:
    return np.arange(100_000) * factor


def of_order(order: Order) -> Any:
    return Order(order.number * 2, order.lines), os.getpid()


LOKY = """
import sys
from joblib import Parallel, delayed
from holdall.integrations.joblib import install_loky
from tests.integrations.test_processes import of_order
from tests.integrations.contract import Order
install_loky()
found = Parallel(n_jobs=2, backend="loky")(delayed(of_order)(Order(n, ["x"])) for n in range(20))
assert [order for order, _ in found] == [Order(n * 2, ["x"]) for n in range(20)]
print("done")
"""


def test_loky() -> None:
    run = subprocess.run([sys.executable, "-c", LOKY], capture_output=True, text=True, timeout=60)
    assert run.stdout == "done\n", run.stderr


# --- multiprocessing ---


def echo(connection: Any) -> None:
    while (value := connection.recv()) is not None:
        connection.send(value)


def use(lock: Any, event: Any, value: Any) -> int:
    with lock:
        event.set()
        return value.value


@pytest.fixture
def by_holdall() -> Any:
    with installed():
        yield


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pipes_queues_and_pools(method: str, by_holdall: None) -> None:
    context = multiprocessing.get_context(method)
    near, far = context.Pipe()
    process = context.Process(target=echo, args=(far,))
    process.start()
    for value in [*VALUES, len, Stranger("x"), np.arange(1000), {"deep": VALUES}]:
        near.send(value)
        made = near.recv()
        assert (made == value).all() if isinstance(value, np.ndarray) else made == value
    near.send(VALUES[3])
    made = near.recv()
    assert made[0] is made[1]
    near.send(None)
    process.join(20)
    queue = context.Queue()
    queue.put(Order(1, ["x"]))
    assert queue.get(timeout=20) == Order(1, ["x"])
    with context.Pool(2) as pool:
        found = pool.map(of_order, [Order(number, ["x"]) for number in range(20)])
        assert [order for order, _ in found] == [Order(number * 2, ["x"]) for number in range(20)]
        assert os.getpid() not in {pid for _, pid in found}
        with pytest.raises(LookupError, match="gone"):
            pool.apply(failing, ("gone",))
    manager = context.Manager()
    shared = manager.dict()
    shared["a"] = {1, 2}
    assert shared["a"] == {1, 2}
    manager.shutdown()


def failing(what: str) -> None:
    raise LookupError(what)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_executors(method: str, by_holdall: None) -> None:
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as executor:
        found = list(executor.map(of_order, [Order(number, ["x"]) for number in range(20)], chunksize=3))
        assert [order for order, _ in found] == [Order(number * 2, ["x"]) for number in range(20)]
        with pytest.raises(LookupError, match="gone"):
            executor.submit(failing, "gone").result()


def test_what_multiprocessing_sends_in_its_own_way(by_holdall: None) -> None:
    """Connections and shared memory go by reductions of multiprocessing's, locks only to a process that is made."""
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    inner, outer = context.Pipe()
    process = context.Process(target=echo, args=(far,))
    process.start()
    near.send(outer)
    back = near.recv()
    inner.send({"through": "another"})
    assert back.recv() == {"through": "another"}
    near.send(None)
    process.join(20)
    with context.Pool(1, initializer=None) as pool, pytest.raises(RuntimeError, match="inheritance"):
        pool.apply(use, (context.Lock(), None, None))


def test_threads_send_at_once(by_holdall: None) -> None:
    near, far = multiprocessing.Pipe()

    def send() -> None:
        for _ in range(100):
            queue.put({"values": VALUES})

    queue: Any = multiprocessing.SimpleQueue()
    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert all(queue.get() == {"values": VALUES} for _ in range(300))
    for thread in threads:
        thread.join()
    near.close(), far.close()


def test_install_and_uninstall() -> None:
    from multiprocessing.reduction import ForkingPickler

    before = bytes(ForkingPickler.dumps([1, 2]))
    install(), install()
    assert b"holdall" in bytes(ForkingPickler.dumps([1, 2])) and ForkingPickler.loads(
        ForkingPickler.dumps([1, 2])
    ) == [1, 2]
    uninstall(), uninstall()
    assert bytes(ForkingPickler.dumps([1, 2])) == before
