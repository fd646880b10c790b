"""Ray with holdall: its store, logs as a dataset, a worker that dies."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import ray

from holdall.integrations import ray as ours
from tests.support.isomorphic import isomorphic

from . import values
from .values import WORKERS_PATH, Event, Order, arrays, event, mixed, order


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ["RAY_AUTH_MODE"] = "disabled"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=300 << 20,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": WORKERS_PATH}},
    )
    yield
    ray.shutdown()


VALUES: dict[str, Any] = {
    "instances": [event(number) for number in range(1000)],
    "arrays": arrays(3, 1000),
    "a mixed graph": mixed(100),
    "nothing": None,
    "a shared list": [shared := [1, 2], shared],
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_put_comes_out(name: str) -> None:
    isomorphic(VALUES[name], ray.get(ray.put(ours.packed(VALUES[name]))))

    @ray.remote
    def back(value: Any) -> Any:
        return ours.packed(value)

    isomorphic(VALUES[name], ray.get(back.remote(ours.packed(VALUES[name]))))


def test_arrays_are_views_of_the_store() -> None:
    made = ray.get(ray.put(ours.packed(arrays(2, 100_000))))
    for array in made.values():
        assert not array.flags.owndata and not array.flags.writeable
    again = ray.get(ray.put(ours.packed(arrays(1, 10))))
    assert np.array_equal(again["array 0"], np.arange(10))


class OfMain:
    __module__ = "__main__"


def test_what_ray_knows_better_is_rays() -> None:
    reference = ray.put([1, 2])
    for value in (reference, {"inner": [reference]}, OfMain(), lambda: 1):
        assert ours.packed(value) is value
    inner = ray.get(ray.put(ours.packed({"inner": reference})))["inner"]
    assert ray.get(inner) == [1, 2]


def test_classes() -> None:
    ours.install(Order)
    try:
        isomorphic(order(7), ray.get(ray.put(order(7))))
        isomorphic([order(1)], ray.get(ray.put([order(1)])))
    finally:
        ours.uninstall(Order)
    isomorphic(order(7), ray.get(ray.put(order(7))))


def test_a_dataset(logs: str) -> None:
    data = ours.read_log(logs, 1 << 18, type=Event)
    assert data.count() == 30_000 and data.sum("id") == sum(range(30_000))
    assert sorted(row["id"] for row in data.take_all()) == [*range(30_000)]
    plain = ours.read_log(logs, 1 << 18, types=values)
    assert sorted(row["item"].id for row in plain.take_all()) == [*range(30_000)]
    with pytest.raises(TypeError, match="expected a class with fields"):
        ours.read_log(logs, type=int)


def test_a_worker_that_dies_loses_and_doubles_nothing(logs: str, tmp_path: pathlib.Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()

    def slow(batch: Any) -> Any:
        (pids / str(os.getpid())).touch()
        time.sleep(0.1)
        return batch

    data = ours.read_log(logs, 1 << 17, type=Event).map_batches(slow, batch_size=None)
    rows = iter(data.iter_rows())
    found = [next(rows)["id"]]
    victims = [int(path.name) for path in pids.iterdir()]
    assert victims
    for victim in victims[:1]:
        os.kill(victim, signal.SIGKILL)
    found += [row["id"] for row in rows]
    assert sorted(found) == [*range(30_000)]
