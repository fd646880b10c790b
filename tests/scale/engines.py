"""The engines of the campaign: the same work by Dask, Ray and Spark."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

from holdall.integrations import _parts

from .campaign import CITIES, Engine, Named, Sale, from_parquet, joined, kept, over, parquet_rows, to_parquet
from .processes import command, descendants
from .values import WORKERS_PATH


def _targets(folder: pathlib.Path, count: int) -> list[tuple[str, str]]:
    """A Parquet file and a log for each part."""
    for name in ("parquet", "back"):
        (folder / name).mkdir()
    return [
        (str(folder / "parquet" / f"{at:05}.parquet"), str(folder / "back" / f"{at:05}.log"))
        for at in range(count)
    ]


class Dask(Engine):
    name = "Dask"

    @contextlib.contextmanager
    def cluster(self, workers: int) -> Iterator[Any]:
        import dask
        import distributed

        from holdall.integrations import dask as ours

        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 10}),
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
            ) as made,
            distributed.Client(made) as client,
        ):
            ours.install(client)
            try:
                yield client
            finally:
                ours.uninstall()

    def workers(self, cluster: Any) -> list[int]:
        return [pid for pid in descendants() if "spawn_main" in command(pid)]

    def count(self, cluster: Any, logs: str, blocksize: int) -> int:
        from holdall.integrations import dask as ours

        made: int = ours.read_log(logs, blocksize, type=Sale).count().compute()
        return made

    def join(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> Iterator[Named]:
        from holdall.integrations import dask as ours

        bag = ours.read_log(logs, blocksize, type=Sale).filter(kept).map(joined)
        written = ours.write_log(bag, str(folder / "joined"), sync="never")
        counts = cluster.compute(written).result()
        assert sum(counts) == sum(1 for _ in over(folder / "joined", Named))
        return over(folder / "joined", Named)

    def there_and_back(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> int:
        import dask

        to, back = dask.delayed(to_parquet, pure=False), dask.delayed(from_parquet, pure=False)
        parts = _parts.parts_of(logs, blocksize)
        tasks = [
            back(to(part, middle), target)
            for part, (middle, target) in zip(parts, _targets(folder, len(parts)), strict=True)
        ]
        return sum(cluster.gather(cluster.compute(tasks)))


def with_cities(batch: Any) -> Any:
    """What is kept of a batch of sales, with their cities: a look-up in a small table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    customer = batch.column("customer")
    sevenths = pc.multiply(pc.divide(customer, 7), 7)
    batch = batch.filter(pc.equal(sevenths, customer))
    cities = pa.array([CITIES[shop] for shop in batch.column("shop").to_pylist()], pa.string())
    return batch.append_column("city", cities)


class Ray(Engine):
    name = "Ray"

    @contextlib.contextmanager
    def cluster(self, workers: int) -> Iterator[Any]:
        import ray

        os.environ["RAY_AUTH_MODE"] = "disabled"
        ray.init(
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=1 << 30,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": WORKERS_PATH}},
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            yield ray
        finally:
            ray.shutdown()

    def workers(self, cluster: Any) -> list[int]:
        # They call themselves by what they do; Ray's own agents do so too, without which a node is dead.
        work = ("ray::ReadHoldallLog", "ray::to_parquet", "ray::from_parquet")
        return [pid for pid in descendants() if command(pid).startswith(work)]

    def count(self, cluster: Any, logs: str, blocksize: int) -> int:
        from holdall.integrations.ray import read_log

        return read_log(logs, blocksize, type=Sale).count()

    def join(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> Iterator[Named]:
        from holdall.integrations.ray import read_log

        data = read_log(logs, blocksize, type=Sale)
        data.map_batches(with_cities, batch_format="pyarrow", batch_size=None).write_parquet(
            str(folder / "joined")
        )
        return parquet_rows(folder / "joined")

    def there_and_back(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> int:
        to, back = (cluster.remote(max_retries=5)(act) for act in (to_parquet, from_parquet))
        parts = _parts.parts_of(logs, blocksize)
        tasks = [
            back.remote(to.remote(part, middle), target)
            for part, (middle, target) in zip(parts, _targets(folder, len(parts)), strict=True)
        ]
        return sum(cluster.get(tasks))


class Spark(Engine):
    name = "Spark"

    @contextlib.contextmanager
    def cluster(self, workers: int) -> Iterator[Any]:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession

        from holdall.integrations.spark import HoldSerializer

        os.environ["PYTHONPATH"] = WORKERS_PATH
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "2g",
            "spark.sql.session.timeZone": "UTC",
        }
        # A worker's loss may cost each of the tasks that it had one of their attempts.
        conf = (
            SparkConf().setMaster(f"local[{workers},5]").setAppName("holdall").setAll(list(settings.items()))
        )
        context = SparkContext(conf=conf, serializer=HoldSerializer())
        context.setLogLevel("OFF")
        session = SparkSession(context)
        try:
            yield session
        finally:
            session.stop()

    def workers(self, cluster: Any) -> list[int]:
        daemons = [pid for pid in descendants() if "pyspark.daemon" in command(pid)]
        return [pid for daemon in daemons for pid in descendants(daemon)]

    def count(self, cluster: Any, logs: str, blocksize: int) -> int:
        from holdall.integrations.spark import read_log

        made: int = read_log(cluster, logs, blocksize, type=Sale).count()
        return made

    def join(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> Iterator[Named]:
        from pyspark.sql.functions import broadcast

        from holdall.integrations.spark import read_log

        cities = broadcast(cluster.createDataFrame(list(CITIES.items()), ["shop", "city"]))
        frame = read_log(cluster, logs, blocksize, type=Sale).where("customer % 7 = 0")
        frame.join(cities, "shop").write.parquet(str(folder / "joined"))
        return parquet_rows(folder / "joined")

    def there_and_back(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> int:
        from holdall.integrations.spark import read_log

        (folder / "back").mkdir()
        middle = folder / "parquet"
        read_log(cluster, logs, blocksize, type=Sale).write.parquet(str(middle))
        # Each partition is a file; their names begin with its number.
        paths = sorted(map(str, middle.glob("part-*.parquet")))
        pairs = [(path, str(folder / "back" / f"{at:05}.log")) for at, path in enumerate(paths)]
        context = cluster.sparkContext
        counts = context.parallelize(pairs, len(pairs)).map(lambda pair: from_parquet(*pair)).collect()
        return sum(counts)


ENGINES: dict[str, type[Engine]] = {"dask": Dask, "ray": Ray, "spark": Spark}
