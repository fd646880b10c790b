"""Logs counted, filtered, joined to a small table, converted to Parquet and back by three workers of each engine, two of which are killed at
their work: the same as one process makes. `make campaign-scale ARGS="--records 10000000"` is the table of docs/scale.md.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import holdall
from holdall.integrations import _parts
from holdall.integrations.arrow import batches, from_arrow, schema_of

from .bench import written
from .processes import Watch

FILES = 8
SHOPS = 500


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


CITIES = {f"shop {number}": f"city {number % 17}" for number in range(SHOPS)}


def sale(number: int) -> Sale:
    note = f"note {number} " + "x" * (number * 7919 % 433) if number % 3 else None
    return Sale(
        number,
        f"shop {number % SHOPS}",
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
    """Of all records, in their order."""
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
    temporary = f"{path}.{os.getpid()}.tmp"
    with pq.ParquetWriter(temporary, schema_of(Sale)) as file:
        for batch in batches(_parts.records_of(part, type=Sale), Sale):
            file.write_batch(batch)
    os.replace(temporary, path)
    return path


def from_parquet(path: str, target: str) -> int:
    def rows() -> Iterator[Any]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from from_arrow(batch, Sale)

    return _parts.write_log(target, rows(), sync="never")


def named_of(table: pa.Table) -> Iterator[Named]:
    """The rows of a join that an engine made, which have no order of their own: by their number."""
    table = table.sort_by("id")
    cities = table.column("city")
    for batch, start in _with_starts(table.select([field.name for field in schema_of(Sale)])):
        names = cities.slice(start, batch.num_rows).to_pylist()
        for record, city in zip(from_arrow(batch, Sale), names, strict=True):
            yield Named(record, city)


def _with_starts(table: pa.Table) -> Iterator[tuple[Any, int]]:
    start = 0
    for batch in table.to_batches(max_chunksize=50_000):
        yield batch, start
        start += batch.num_rows


def parquet_rows(folder: pathlib.Path) -> Iterator[Named]:
    files = sorted(path for path in folder.rglob("*.parquet") if path.stat().st_size)
    return named_of(pa.concat_tables([pq.read_table(path) for path in files], promote_options="permissive"))


class Engine:
    """What a campaign asks of an engine. `folder` is where it may write."""

    name = ""

    def cluster(self, workers: int) -> contextlib.AbstractContextManager[Any]:
        """A cluster of this machine; what it gives goes into the methods below."""
        raise NotImplementedError

    def workers(self, cluster: Any) -> list[int]:
        """The processes that tasks run in."""
        raise NotImplementedError

    def count(self, cluster: Any, logs: str, blocksize: int) -> int:
        raise NotImplementedError

    def join(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> Iterator[Named]:
        """What is kept of all records, joined; in the order of their numbers."""
        raise NotImplementedError

    def there_and_back(self, cluster: Any, logs: str, blocksize: int, folder: pathlib.Path) -> int:
        """To Parquet, and back to logs in `folder / "back"`; gives how many records these have."""
        raise NotImplementedError


@dataclasses.dataclass
class Timed:
    """How long each step took, and the largest worker."""

    engine: str
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    peak: int = 0
    killed: int = 0


def through(
    engine: Engine, folder: pathlib.Path, records: int, blocksize: int, expected: dict[str, str]
) -> Timed:
    logs, timed = str(folder / "logs" / "*.log"), Timed(engine.name)
    for workers in (1, 2):
        with engine.cluster(workers) as cluster:
            # What is started at the first task, and imported, is no part of it.
            engine.count(cluster, str(folder / "logs" / "0.log"), 1 << 62)
            begun = time.perf_counter()
            assert engine.count(cluster, logs, blocksize) == records
            timed.seconds[f"counted by {workers}"] = time.perf_counter() - begun
    own = folder / engine.name
    own.mkdir()
    with engine.cluster(3) as cluster:
        for step, act in (("joined", engine.join), ("there and back", engine.there_and_back)):
            watch = Watch(lambda cluster=cluster: engine.workers(cluster))
            with watch:
                watch.kill_one(after=timed.seconds["counted by 2"] / 4)
                begun = time.perf_counter()
                made: Any = act(cluster, logs, blocksize, own)
                timed.seconds[step] = time.perf_counter() - begun
            timed.peak, timed.killed = max(timed.peak, watch.peak), timed.killed + watch.killed
            if step == "joined":
                assert digest(made) == expected["joined"], "a record was lost, doubled or changed"
            else:
                assert made == records and digest(over(own / "back", Sale)) == expected["all"]
            print(f"{engine.name}: {step} in {timed.seconds[step]:.0f} s", flush=True)
    shutil.rmtree(own)
    return timed


def lines(found: list[Timed], records: int, size: int) -> list[str]:
    made = [
        f"| {records:,} records, {size / 1e9:.2f} GB | counted, records a second: 1 worker, 2 | filtered and joined | to Parquet and back | killed | largest worker |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        single, double = (one.seconds[f"counted by {workers}"] for workers in (1, 2))
        made.append(
            f"| {one.engine} | {records / single:,.0f}, × {single / double:.2f} | {one.seconds['joined']:.0f} s "
            f"| {one.seconds['there and back']:.0f} s | {one.killed} | {one.peak / 1e6:,.0f} MB |"
        )
    return made


def run(folder: pathlib.Path, names: list[str], records: int, blocksize: int) -> None:
    from .engines import ENGINES

    begun = time.perf_counter()
    records = write(folder / "logs", records)
    size = sum(path.stat().st_size for path in (folder / "logs").iterdir())
    print(f"{records:,} records, {size:,} bytes, in {time.perf_counter() - begun:.0f} s", flush=True)
    expected = {
        "all": digest(over(folder / "logs", Sale)),
        "joined": digest(joined(record) for record in over(folder / "logs", Sale) if kept(record)),
    }
    found = []
    for name in names:
        if name == "spark" and shutil.which("java") is None:
            continue
        found.append(through(ENGINES[name](), folder, records, blocksize, expected))
        print("\n".join(lines(found, records, size)), flush=True)
    if records >= 10_000_000 and len(found) == len(ENGINES):
        written("campaign", lines(found, records, size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--blocksize", type=int, default=1 << 24)
    parser.add_argument("--engines", nargs="*", default=["dask", "ray", "spark"])
    parser.add_argument("--folder", default=None, help="where there is room for some times the logs' size")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run(pathlib.Path(name), given.engines, given.records, given.blocksize)


if __name__ == "__main__":
    # Classes of a module that is run are sent by value; those of one that is imported, by their names.
    from tests.scale.campaign import main as imported

    imported()
