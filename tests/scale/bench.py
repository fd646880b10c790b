"""What docs/scale.md shows: `make bench-scale`. Ratios to the engines' own ways, in turns within one run; requests and bytes of members of an
object of 1 GB; a log's scan next to what the network gives."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

import holdall
from holdall import _remote

from .servers import moto, plain_http
from .values import arrays, event, mixed

GIGABIT = 125_000_000
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "scale.md"
HERE = pathlib.Path(__file__).parents[2]


def values() -> dict[str, Any]:
    return {
        "100,000 instances": [event(number) for number in range(100_000)],
        "dict of arrays, 40 MB": arrays(),
        "dict of 1,000 arrays, 8 MB": arrays(1_000, 1_024),
        "mixed graph": mixed(5_000),
    }


def turns(name: str, rounds: int) -> int:
    """How often a row is measured: arrays as often as is needed to tell ways apart of which neither copies."""
    return rounds * 5 if "arrays" in name else rounds


def shuffled(ways: Iterable[Any]) -> list[Any]:
    """In an order that is drawn for each turn: who comes second finds memory as the first has left it."""
    drawn = list(ways)
    random.shuffle(drawn)
    return drawn


def ratio(theirs: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> float:
    """How many times as long theirs takes, in turns; the first turn of each warms up."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for kept, act in shuffled(zip(times, (theirs, ours), strict=True)):
            begun = time.perf_counter()
            act()
            if number:
                kept.append(time.perf_counter() - begun)
    return statistics.median(times[0]) / statistics.median(times[1])


def dask_rows(rounds: int) -> Iterator[list[Any]]:
    import distributed
    from distributed.protocol.serialize import Serialize, serialize_and_split

    from holdall.integrations import dask as ours

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        one, two = client.scheduler_info()["workers"]

        def timed(act: Callable[[Any], Any], count: int, given: Callable[[], Any] | None = None) -> float:
            """given: makes anew what each turn takes; else all take the same."""
            rounds_of: tuple[list[float], list[float]] = ([], [])
            for number in range(count + 1):
                for kept, install in shuffled(zip(rounds_of, (ours.uninstall, ours.install), strict=True)):
                    install()
                    client.run(install)
                    taken = given() if given else future
                    begun = time.perf_counter()
                    act(taken)
                    if number:
                        kept.append(time.perf_counter() - begun)
            return statistics.median(rounds_of[0]) / statistics.median(rounds_of[1])

        def moved(future: Any) -> Any:
            return client.submit(len, future, workers=[two], pure=False).result()

        for name, value in values().items():
            scatter = partial(client.scatter, [value], workers=[one], direct=True, hash=False)
            future, count = scatter()[0], turns(name, rounds)
            row = [
                timed(lambda _, scatter=scatter: scatter(), count),
                timed(partial(client.gather, direct=True), count),
                # A worker keeps what it was sent: each turn has to send something that the worker has not.
                timed(moved, count, lambda scatter=scatter: scatter()[0]),
            ]
            ours.install()
            _, frames = serialize_and_split(Serialize(value))
            yield ["Dask", name, *row, memoryview(frames[0]).nbytes]
            ours.uninstall()


def ray_rows(rounds: int) -> Iterator[list[Any]]:
    import ray

    from holdall.integrations.ray import packed

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=1 << 30,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": f"{HERE}:{HERE}/python"}},
    )
    try:
        length = ray.remote(lambda value: len(value))

        def put(value: Any, way: Any = packed) -> Any:
            return ray.put(way(value))

        def moved(reference: Any) -> Any:
            return ray.get(length.remote(reference))

        for name, value in values().items():
            theirs, ours, count = put(value, _same), put(value), turns(name, rounds)
            yield [
                "Ray",
                name,
                ratio(partial(put, value, _same), partial(put, value), count),
                ratio(partial(ray.get, theirs), partial(ray.get, ours), count),
                ratio(partial(moved, theirs), partial(moved, ours), count),
                len(holdall.dumps(value, trust=True, buffers=[])),
            ]
    finally:
        ray.shutdown()


def _same(value: Any) -> Any:
    return value


def spark_rows(rounds: int) -> Iterator[list[Any]]:
    from pyspark import SparkConf, SparkContext
    from pyspark.serializers import AutoBatchedSerializer, CPickleSerializer

    from holdall.integrations.spark import HoldSerializer

    os.environ["PYTHONPATH"] = f"{HERE}:{HERE}/python"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = [
        ("spark.ui.enabled", "false"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.memory", "2g"),
    ]
    context = SparkContext(conf=SparkConf().setMaster("local[2]").setAll(settings))
    context.setLogLevel("ERROR")
    ways = [(one, AutoBatchedSerializer(one)) for one in (CPickleSerializer(), HoldSerializer())]

    def by(way: Any, act: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            context._unbatched_serializer, context.serializer = way
            return act()

        return run

    def both(act: Callable[[], Any], count: int) -> float:
        return ratio(by(ways[0], act), by(ways[1], act), count)

    def scattered(items: Any) -> Any:
        return context.parallelize(items, 4).count()

    def by_key(way: Any, pairs: Any) -> Any:
        # By their keys: `repartition` goes by Spark's own pickle, whatever the context's serializer is.
        return by(way, lambda: pairs.partitionBy(3).count())

    try:
        for name, value in values().items():
            items = list(value.items()) if isinstance(value, dict) else value
            rdds = []
            for way in ways:
                context._unbatched_serializer, context.serializer = way
                rdds.append(context.parallelize(list(enumerate(items)), 4).map(lambda one: one).persist())
                rdds[-1].count()
            count = turns(name, rounds)
            yield [
                "Spark",
                name,
                both(partial(scattered, items), count),
                ratio(rdds[0].collect, rdds[1].collect, count),
                ratio(by_key(ways[0], rdds[0]), by_key(ways[1], rdds[1]), count),
                # Behind what says how long the parts are, if there are any.
                len(HoldSerializer()._parts(value)[:2][-1]),
            ]
    finally:
        context.stop()


ENGINES = {"dask": dask_rows, "ray": ray_rows, "spark": spark_rows}


def engines(only: list[str], rounds: int) -> list[str]:
    lines = [
        "| engine | value | scatter | gather | between workers | bytes copied |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in ENGINES.items():
        if name not in only or (name == "spark" and shutil.which("java") is None):
            continue
        for engine, value, *ratios, copied in rows(rounds):
            told = " | ".join(f"{one:.1f}" for one in ratios)
            lines.append(f"| {engine} | {value} | {told} | {copied:,} |")
            print(lines[-1], flush=True)
    return lines


def objects(gigabytes: float) -> Iterator[tuple[str, bytes, dict[str, Callable[[Any], Any]]]]:
    """Objects of about that size, and what is looked at in them."""
    size = int(gigabytes * 1e9)
    model: dict[str, Any] = {
        "epoch": 12,
        "config": {"rate": 0.1, "names": [f"layer {number}" for number in range(100)]},
        "layers": [
            {"weights": np.random.default_rng(number).random(size // 800), "bias": np.arange(100.0)}
            for number in range(100)
        ],
        "history": [{"step": number, "loss": 1 / (number + 1)} for number in range(20_000)],
    }
    looks: dict[str, Callable[[Any], Any]] = {
        "a number": lambda doc: doc["epoch"],
        "a small array": lambda doc: doc["layers"][77]["bias"],
        "a dict in a list of 20,000": lambda doc: doc["history"][15_000].load(),
    }
    yield "model: 100 arrays", stored(model), looks
    del model
    record = len(holdall.dumps(details(1000))) / 1000
    many = int(size / record)
    looks = {
        "a record by its number": lambda doc: doc["records"][many // 2].load(),
        "a field": lambda doc: doc["records"][many - 5]["name"],
        "a key of 100,000": lambda doc: doc["by name"]["name 77777"],
    }
    table = {f"name {number}": number for number in range(100_000)}
    graph = {"records": details(many), "by name": table}
    yield f"graph: {many:,} records", stored(graph), looks
    graph = {"records": graph["records"][: many // 10], "by name": table}
    looks = {
        "a key of 100,000": looks["a key of 100,000"],
        "a record by its number": lambda doc: doc["records"][many // 20].load(),
    }
    yield f"graph: {many // 10:,} records, zstd", stored(graph, compress="zstd"), looks


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": number, "name": f"name {number % 1000}", "at": number * 0.5, "data": "x" * 60}
        for number in range(count)
    ]


def details(count: int, digits: int = 100) -> list[dict[str, Any]]:
    """Records of which each has a text of its own: a GB of them takes four of memory."""
    return [
        {"id": number, "name": f"name {number % 1000}", "data": f"{number:0{digits}}"}
        for number in range(count)
    ]


def stored(value: object, **options: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "object.hold"
        holdall.dump(value, path, sync=False, **options)
        return path.read_bytes()


def members(gigabytes: float) -> list[str]:
    lines = ["| object | bytes | what is read | requests | bytes |", "|---|---|---|---|---|"]
    with moto() as s3:
        for name, content, looks in objects(gigabytes):
            s3.put("bucket/object.hold", content)
            for look, act in looks.items():
                s3.tally.reset()
                file = s3.system().open("bucket/object.hold", cache_type="none")
                opened = len(s3.tally.requests)
                act(holdall.open(file))
                asked = len(s3.tally.requests) - opened
                lines.append(f"| {name} | {len(content):,} | {look} | {asked} | {s3.tally.bytes:,} |")
                print(lines[-1], flush=True)
    return lines


def _serve(path: str, pace: int, told: Any) -> None:
    with plain_http() as web:
        web.tally.pace = pace
        told.send(web.put("/events.log", pathlib.Path(path).read_bytes()))
        told.recv()


@contextlib.contextmanager
def served(path: str, pace: int) -> Iterator[str]:
    """A log's URL; the server is a process of its own."""
    near, far = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(path, pace, far))
    process.start()
    yield near.recv()
    near.send(None)
    process.join()


def raw(url: str) -> int:
    """What the network gives: the object by one request, of which nothing is made."""
    import urllib.request

    total, buffer = 0, bytearray(1 << 20)
    with urllib.request.urlopen(url) as answer:
        while count := answer.readinto(buffer):
            total += count
    return total


def scan(where: str) -> int:
    return sum(1 for _ in holdall.Reader(where))


def received(url: str) -> None:
    """What a scan does before it builds anything."""
    ahead, at = _remote.Ahead(_remote.remote_of(url)), 0
    while part := ahead.read_at(at, 1 << 18):
        at += len(part)


def budget(path: str, count: int, rounds: int) -> list[str]:
    """What a record takes of the processors, apart and together, in turns."""
    lines = ["| ns of a processor | the thread that builds | all threads |", "|---|---|---|"]
    with served(path, GIGABIT) as url:
        acts = {
            "built from a file at hand": partial(scan, path),
            "received at 1 Gbit/s, and let go": partial(received, url),
            "scanned at 1 Gbit/s": partial(scan, url),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in acts}
        for _ in range(rounds):
            for name, act in shuffled(acts.items()):
                begun = time.thread_time(), time.process_time()
                act()
                times[name].append((time.thread_time() - begun[0], time.process_time() - begun[1]))
        for name, taken in times.items():
            one, every = (statistics.median(each) / count * 1e9 for each in zip(*taken, strict=True))
            lines.append(f"| {name} | {one:.0f} | {every:.0f} |")
            print(lines[-1], flush=True)
    return lines


def scans(rounds: int) -> list[str]:
    """Of records that share most of what they hold, and of those that are large because they don't."""
    lines = ["| a record | network | scan / network | records a second | MB/s |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for number, made in enumerate((rows(1_500_000), details(300_000, 200))):
            path = os.path.join(folder, f"{number}.log")
            with holdall.Writer(path, sync="never") as log:
                for row in made:
                    log.write(row)
            for line in scans_of(path, len(made), rounds):
                lines.append(line)
                print(line, flush=True)
            if number == 0:
                written("budget", budget(path, len(made), rounds))
    return lines


def scans_of(path: str, count: int, rounds: int) -> Iterator[str]:
    size = os.path.getsize(path)
    for pace, name in (
        (12_500_000, "100 Mbit/s"),
        (62_500_000, "500 Mbit/s"),
        (GIGABIT, "1 Gbit/s"),
        (0, "loopback, unbounded"),
    ):
        with served(path, pace) as url:
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds if pace != 12_500_000 else 1):
                for kept, act in shuffled(zip(times, (raw, scan), strict=True)):
                    begun = time.perf_counter()
                    act(url)
                    kept.append(time.perf_counter() - begun)
            network, ours = map(statistics.median, times)
            yield (
                f"| {size / count:.0f} bytes | {name} | {network / ours:.2f} | {count / ours:,.0f} "
                f"| {size / ours / 1e6:,.0f} of {size / network / 1e6:,.0f} |"
            )


def written(name: str, lines: list[str]) -> None:
    start, end = f"<!-- table: {name} -->\n", "<!-- end -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(start)
    if found:
        PAGE.write_text(
            before + start + "\n".join(lines) + "\n" + end + rest.partition(end)[2], encoding="utf-8"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["dask", "ray", "spark", "members", "scans"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gigabytes", type=float, default=1)
    given = parser.parse_args()
    if set(given.only) & set(ENGINES):
        lines = engines(given.only, given.rounds)
        if set(ENGINES) <= set(given.only):
            written("engines", lines)
    if "members" in given.only:
        written("members", members(given.gigabytes))
    if "scans" in given.only:
        written("scans", scans(given.rounds))


if __name__ == "__main__":
    main()
