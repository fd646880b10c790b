"""Dask with holdall: what is sent, logs as bags and frames, workers that die."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from collections.abc import Iterator
from typing import Any

import dask
import distributed
import numpy as np
import pytest
from distributed.protocol.serialize import Serialize, deserialize, serialize_and_split

import holdall
from holdall.integrations import dask as ours
from tests.support.isomorphic import isomorphic

from .servers import Objects
from .values import Event, arrays, event, mixed, order


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as made,
        distributed.Client(made) as client,
    ):
        ours.install(client)
        yield client
    ours.uninstall()


@pytest.fixture
def installed() -> Iterator[None]:
    with ours.installed():
        yield


VALUES: dict[str, Any] = {
    "instances": [event(number) for number in range(1000)],
    "orders by number": {number: order(number) for number in range(100)},
    "arrays": arrays(3, 1000),
    "a mixed graph": mixed(100),
    "one instance": event(1),
    "a shared list": [shared := [1, 2], shared],
    "texts": ["a", "b"] * 100,
    "functions": [len, os.path.join],
    "sets": {frozenset({1, 2}), frozenset({3})},
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_packed_is_unpacked(installed: None, name: str) -> None:
    header, frames = serialize_and_split(Serialize(VALUES[name]))
    assert header["serializer"] == "holdall"
    isomorphic(VALUES[name], deserialize(header, frames))


def test_arrays_are_not_copied(installed: None) -> None:
    value = arrays(2, 100_000)
    header, frames = serialize_and_split(Serialize(value))
    for array in value.values():
        assert any(np.shares_memory(array, np.frombuffer(frame, "u1")) for frame in frames[1:])
    made = deserialize(header, frames)
    for name, array in made.items():
        assert np.shares_memory(array, value[name])
        assert array.flags.writeable == value[name].flags.writeable


def test_a_list_goes_as_one(installed: None) -> None:
    header, frames = serialize_and_split(Serialize([event(number) for number in range(1000)]))
    assert "is-collection" not in header and len(frames) == 1


class OfMain:
    """As a class of a notebook: no other process can import it by this name."""

    __module__ = "__main__"


def test_what_others_know_better_is_theirs(installed: None) -> None:
    for value in (1, "a", [], np.arange(3), lambda: 1, OfMain()):
        header, _ = serialize_and_split(Serialize(value))
        assert header.get("serializer") != "holdall", value
    header, _ = serialize_and_split(Serialize([1, 2]), serializers=["msgpack"])
    assert header.get("serializer") != "holdall"


def _sends_by() -> str:
    import sys

    module: Any = sys.modules["distributed.protocol.serialize"]
    return str(module.serialize.__module__)


def test_to_workers_and_back(cluster: Any) -> None:
    for name, value in VALUES.items():
        for direct in (True, False):
            future = cluster.scatter([value], direct=direct, hash=False)[0]
            isomorphic(value, cluster.gather(future, direct=direct))
        assert cluster.submit(type, future).result() is type(value), name
    kinds = cluster.run(_sends_by)
    assert set(kinds.values()) == {"holdall.integrations.dask"}


def test_from_worker_to_worker(cluster: Any) -> None:
    one, two = cluster.scheduler_info()["workers"]
    value = cluster.submit(mixed, 200, workers=[one], pure=False)
    isomorphic(mixed(200), cluster.submit(lambda given: given, value, workers=[two]).result())


def written(path: pathlib.Path, numbers: range, **options: Any) -> str:
    with holdall.Writer(path, sync="never", **options) as log:
        for number in numbers:
            log.write(event(number))
    return str(path)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: Any) -> str:
    folder = tmp_path_factory.mktemp("logs")
    for number in range(4):
        written(folder / f"{number}.log", range(number * 20_000, number * 20_000 + 20_000))
    return str(folder / "*.log")


@pytest.mark.parametrize("blocksize", [100_000, 1 << 20, None])
def test_a_bag_has_each_record_once(cluster: Any, logs: str, blocksize: Any) -> None:
    bag = ours.read_log(logs, blocksize, type=Event)
    assert bag.count().compute() == 80_000
    assert bag.map(lambda record: record.id).compute() == [*range(80_000)]


def test_a_frame(cluster: Any, logs: str) -> None:
    frame = ours.read_log(logs, 1 << 20, type=Event, to="frame")
    assert list(frame.columns) == ["id", "name", "value", "kind", "tags", "place"]
    assert frame.id.sum().compute() == sum(range(80_000))
    per_kind = frame.groupby("kind").id.count().compute()
    assert dict(per_kind) == {"in": 40_000, "out": 40_000}


def test_a_log_elsewhere(cluster: Any, web: Objects, tmp_path: pathlib.Path) -> None:
    path = written(tmp_path / "one.log", range(20_000))
    url = web.put("/one.log", pathlib.Path(path).read_bytes())
    assert ours.read_log(url, 1 << 19, type=Event).map(lambda record: record.id).compute() == [*range(20_000)]


def test_damage_is_passed_over_or_an_error(cluster: Any, tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(written(tmp_path / "damaged.log", range(30_000)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(holdall.DecodeError):
        ours.read_log(str(path), 1 << 19, type=Event).count().compute()
    ids = [record.id for record in holdall.Reader(path, repair="skip", type=Event)]
    bag = ours.read_log(str(path), 1 << 19, type=Event, repair="skip")
    assert 29_000 < len(ids) < 30_000 and bag.map(lambda record: record.id).compute() == ids


def test_what_is_asked_wrongly(logs: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match='expected "bag" or "frame"'):
        ours.read_log(logs, to="array")
    with pytest.raises(FileNotFoundError):
        ours.read_log(str(tmp_path / "*.log"))
    with pytest.raises(TypeError, match="expected a class with fields"):
        ours.read_log(logs, to="frame")
    holdall.dump({"a": 1}, tmp_path / "graph.hold")
    with pytest.raises(ValueError, match="a file of one graph"):
        ours.read_log(str(tmp_path / "graph.hold"))


def _slowly(records: Any) -> Any:
    time.sleep(0.2)
    return [record for record in records if record.id % 2]


def test_a_worker_that_dies_loses_and_doubles_nothing(logs: str, tmp_path: pathlib.Path) -> None:
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
    ):
        ours.install(client)
        try:
            bag = ours.read_log(logs, 1 << 18, type=Event).map_partitions(_slowly)
            done = client.compute(ours.write_log(bag, str(tmp_path / "odd")))
            time.sleep(1)
            victims = list(client.run(os.getpid).values())[:2]
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
                time.sleep(0.5)
            counts = done.result(timeout=120)
        finally:
            ours.uninstall()
    assert sum(counts) == 40_000
    files = sorted((tmp_path / "odd").glob("*.log"))
    assert [file.name for file in files] == [f"part-{number:05}.log" for number in range(len(counts))]
    # Who is killed while it writes leaves what it had begun, under a name that no log has.
    assert all(file.suffix in (".log", ".tmp") for file in (tmp_path / "odd").iterdir())
    found = [record.id for file in files for record in holdall.Reader(file, type=Event)]
    assert found == [*range(1, 80_000, 2)]
