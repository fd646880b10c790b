"""Logs counted, filtered, joined, converted to Parquet and back by a cluster of Dask, one of whose workers is killed: the same as one process
makes. `make campaign-scale ARGS="--records 10000000"`.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import pathlib
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import dask
import distributed
import pyarrow.parquet as pq

import holdall
from holdall.integrations import _parts
from holdall.integrations import dask as ours
from holdall.integrations.arrow import batches, from_arrow, schema_of

FILES = 8


@dataclasses.dataclass
class Sale:
    id: int
    shop: str
    customer: int
    amount: float
    items: list[str]
    note: str | None


@dataclasses.dataclass
class Named:
    sale: Sale
    city: str


CITIES = {f"shop {number}": f"city {number % 17}" for number in range(500)}


def sale(number: int) -> Sale:
    note = f"note {number} " + "x" * (number % 90) if number % 3 else None
    return Sale(
        number,
        f"shop {number % 500}",
        number * 7919 % 100_003,
        number * 0.01,
        [f"item {number % 97}"] * 4,
        note,
    )


def kept(record: Sale) -> bool:
    return record.customer % 7 == 0


def joined(record: Sale) -> Named:
    return Named(record, CITIES[record.shop])


def digest(records: Iterable[Any]) -> str:
    made, encode = hashlib.sha256(), holdall.Encoder(refs=False).encode
    for record in records:
        made.update(encode(record))
    return made.hexdigest()


def over(folder: pathlib.Path, type: Any) -> Iterator[Any]:
    for path in sorted(folder.glob("*.log")):
        yield from holdall.Reader(path, type=type)


def write(folder: pathlib.Path, records: int) -> int:
    folder.mkdir()
    each = records // FILES
    for file in range(FILES):
        with holdall.Writer(folder / f"{file}.log", sync="never") as log:
            for number in range(file * each, (file + 1) * each):
                log.write(sale(number))
    return each * FILES


def to_parquet(part: _parts.Part, path: str) -> str:
    with pq.ParquetWriter(f"{path}.tmp", schema_of(Sale)) as file:
        for batch in batches(_parts.records_of(part, type=Sale), Sale):
            file.write_batch(batch)
    os.replace(f"{path}.tmp", path)
    return path


def from_parquet(path: str, target: str) -> int:
    def rows() -> Iterator[Any]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from from_arrow(batch, Sale)

    return _parts.write_log(target, rows(), sync="never")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def cluster(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
    )


def counted(logs: str, workers: int, blocksize: int) -> tuple[int, float]:
    with cluster(workers) as made, distributed.Client(made) as client:
        ours.install(client)
        client.run(lambda: holdall.Reader)
        begun = time.perf_counter()
        count = ours.read_log(logs, blocksize, type=Sale).count().compute()
        return count, time.perf_counter() - begun


def kill_one(client: Any, after: float) -> threading.Timer:
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
    timer.start()
    return timer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--blocksize", type=int, default=1 << 24)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run(pathlib.Path(name), given.records, given.blocksize)


def run(folder: pathlib.Path, records: int, blocksize: int) -> None:
    records = write(folder / "logs", records)
    logs, size = (
        str(folder / "logs" / "*.log"),
        sum(path.stat().st_size for path in (folder / "logs").iterdir()),
    )
    print(f"{records:,} records, {size:,} bytes", flush=True)
    whole = digest(over(folder / "logs", Sale))
    expected = digest(joined(record) for record in over(folder / "logs", Sale) if kept(record))
    times = {}
    for workers in (1, 2):
        count, times[workers] = counted(logs, workers, blocksize)
        assert count == records
    print(
        f"counted; 2 workers are {times[1] / times[2]:.2f} times as fast as 1 ({records / times[2]:,.0f} records/s)",
        flush=True,
    )
    with (
        cluster(3) as made,
        distributed.Client(made) as client,
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
    ):
        ours.install(client)
        bag = ours.read_log(logs, blocksize, type=Sale).filter(kept).map(joined)
        begun = time.perf_counter()
        timer = kill_one(client, times[2] / 2)
        counts = client.compute(ours.write_log(bag, str(folder / "joined"), sync="never")).result()
        timer.join()
        print(f"filtered and joined in {time.perf_counter() - begun:.0f} s, a worker killed", flush=True)
        found = digest(over(folder / "joined", Named))
        assert found == expected and sum(counts) == sum(1 for _ in over(folder / "joined", Named))
        (folder / "parquet").mkdir()
        parts = _parts.parts_of(logs, blocksize)
        to, back = dask.delayed(to_parquet, pure=False), dask.delayed(from_parquet, pure=False)
        timer = kill_one(client, times[2])
        tasks = [
            back(
                to(part, str(folder / "parquet" / f"{at:05}.parquet")), str(folder / "back" / f"{at:05}.log")
            )
            for at, part in enumerate(parts)
        ]
        total = sum(client.gather(client.compute(tasks)))
        timer.join()
        assert total == records and digest(over(folder / "back", Sale)) == whole
        peaks = client.run(peak)
        print(
            f"to Parquet and back the same, a worker killed; peak memory of workers {sorted(peaks.values())} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
