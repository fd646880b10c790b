"""Past these machines: what docs/scale.md says of 1,000 workers and 10^12 records. `make simulate-scale` writes it.

Three things are put together. Measured here: what a part costs beside its own bytes, how many records a core reads, what the planner holds
for a part. Simulated: parts of the real splitter are handed to 1,000 workers of different speed, of which one in a hundred dies in the middle
of its work, and slow ones are started a second time elsewhere; each part that is finished is read by the real reader from a real log. Calculated from these: 10^12 records.
"""

from __future__ import annotations

import argparse
import dataclasses
import heapq
import os
import pathlib
import random
import tempfile
import time
import tracemalloc
from typing import Any, NamedTuple

import holdall
from holdall.integrations import _parts

from .bench import rows, written

WORKERS = 1000
RECORDS = 10**12
# As in the logs of the issue: 10 million in 2 GB.
RECORD_BYTES = 200
BLOCK = 1 << 30
OBJECT = 10 << 30
REQUEST = 1 << 23
LINK = 125_000_000
CORES = 8


class Counted:
    """A file of which ranges are read, that counts them: what a part asks its storage for."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed by `close`
        self.size = os.path.getsize(path)
        self.bytes = 0

    def read_at(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        data = self._file.read(size)
        self.bytes += len(data)
        return data

    def close(self) -> None:
        self._file.close()


def read_part(path: str, part: tuple[int, int]) -> tuple[list[int], int]:
    """The ids of a part's records, and how many bytes it read."""
    file = Counted(path)
    core = holdall._core.LogReader(
        file,
        repair=None,
        follow=False,
        part=part,
        type=Any,
        types=(),
        trust=False,
        strict=True,
        dec_hook=None,
        resolver=None,
        limits=None,
    )
    ids = [record["id"] for record in core]
    file.close()
    return ids, file.bytes


class Outcome(NamedTuple):
    parts: int
    seconds: float
    ideal: float
    died: int
    again: int
    twice: int
    lost: int
    doubled: int


def simulated(path: str, parts: list[tuple[int, int]], count: int, seed: int = 1) -> Outcome:
    """Parts handed out to workers, by events; time is that of the simulation."""
    chance = random.Random(seed)
    speed = [chance.lognormvariate(0, 0.25) for _ in range(WORKERS)]
    dies = {worker: chance.random() for worker in chance.sample(range(WORKERS), WORKERS // 100)}
    expected = len(parts) / WORKERS
    waiting, events, results = list(range(len(parts)))[::-1], [], {}
    running: dict[int, list[int]] = {}
    begun: dict[int, float] = {}
    again = twice = died = 0
    idle: list[int] = []

    def start(worker: int, part: int, now: float) -> None:
        takes = chance.lognormvariate(0, 0.2) / speed[worker]
        running.setdefault(part, []).append(worker)
        begun[part] = now
        at = dies.get(worker, 2) * expected
        kind, at = ("dies", at) if now <= at < now + takes else ("done", now + takes)
        heapq.heappush(events, (at, worker, kind, part))

    def give(worker: int, now: float) -> None:
        nonlocal twice
        if waiting:
            start(worker, waiting.pop(), now)
            return
        # What takes long is begun once more elsewhere; whichever comes first is the result, as both are the same.
        late = [
            part
            for part, at in begun.items()
            if part not in results and len(running[part]) < 2 and now - at > 1.5
        ]
        if late:
            twice += 1
            start(worker, late[0], now)
        else:
            idle.append(worker)

    for worker in range(WORKERS):
        give(worker, 0.0)
    now = 0.0
    while len(results) < len(parts):
        now, worker, kind, part = heapq.heappop(events)
        running[part].remove(worker)
        if kind == "dies":
            died += 1
            if part not in results and not running[part]:
                again += 1
                # Noticed when heartbeats stay away.
                waiting.append(part)
                if idle:
                    give(idle.pop(), now + 0.5)
            continue
        made = read_part(path, parts[part])[0]
        if part in results and results[part] != made:
            raise AssertionError("a part that was read twice gave other records")
        results[part] = made
        give(worker, now)
    ids = [one for part in range(len(parts)) for one in results[part]]
    lost = count - len(set(ids))
    return Outcome(
        len(parts), now, len(parts) / sum(speed), died, again, twice, lost, len(ids) - len(set(ids))
    )


def measured(path: str, count: int) -> dict[str, float]:
    size = os.path.getsize(path)
    one = 1 << 22
    over = [read_part(path, part)[1] - (part[1] - part[0]) for part in holdall.split_log(path, one)]
    begun = time.process_time()
    read = sum(1 for _ in holdall.Reader(path))
    plain = time.process_time() - begun
    begun = time.process_time()
    typed = sum(1 for _ in holdall.Reader(path, type=Typed))
    by_type = time.process_time() - begun
    assert read == typed == count
    tracemalloc.start()
    parts = [
        _parts.Part(f"s3://logs/{number // 10:06}.log", number << 30, number + 1 << 30)
        for number in range(100_000)
    ]
    held = tracemalloc.get_traced_memory()[0] / len(parts)
    tracemalloc.stop()
    return {
        "over": sum(over) / len(over),
        "records": count / plain,
        "typed": count / by_type,
        "bytes": size / count,
        "held": held,
    }


@dataclasses.dataclass
class Typed:
    id: int
    name: str
    at: float
    data: str


def report(given: dict[str, float], outcome: Outcome, count: int) -> list[str]:
    total = RECORDS * RECORD_BYTES
    parts = total // BLOCK
    network, reading = (
        total * (1 + given["over"] / BLOCK) / (WORKERS * LINK),
        RECORDS / (WORKERS * CORES * given["records"]),
    )
    seconds = max(network, reading)
    return [
        "| | | how known |",
        "|---|---|---|",
        f"| simulated: parts of a real log of {count:,} records, workers | {outcome.parts:,}, {WORKERS:,} | real splitter and reader |",
        f"| workers that died; parts begun again; parts begun twice because they were slow | {outcome.died}, {outcome.again}, {outcome.twice} | simulated |",
        f"| records lost, records doubled | {outcome.lost}, {outcome.doubled} | counted |",
        f"| time over that of perfect shares | {outcome.seconds / outcome.ideal:.2f} | simulated |",
        f"| bytes that a part reads beyond its own | {given['over']:,.0f} | measured |",
        f"| records a second and core | {given['records']:,.0f} | measured |",
        f"| what the planner holds for a part | {given['held']:,.0f} bytes | measured |",
        f"| **10^12 records** of {RECORD_BYTES} bytes, in objects of {OBJECT >> 30} GiB | {total / 1e12:,.0f} TB, {total // OBJECT:,} objects | calculated |",
        f"| parts of {BLOCK >> 30} GiB; the planner's memory for them | {parts:,}; {parts * given['held'] / 1e6:,.0f} MB | calculated |",
        f"| the planner's requests: two an object | {2 * total // OBJECT:,} | calculated |",
        f"| the workers' requests, of {REQUEST >> 20} MiB | {total // REQUEST:,} | calculated |",
        f"| bytes over the network beyond the logs' own | {given['over'] / BLOCK:.2%} | calculated |",
        f"| time at {LINK * 8 / 1e9:.0f} Gbit/s a worker; at {CORES} cores a worker | {network / 60:,.0f} min; {reading / 60:,.0f} min | calculated |",
        f"| work done again if {WORKERS // 100} workers die: a part each | {WORKERS // 100 / parts:.4%} | calculated |",
        f"| tasks that the coordinator begins a second | {parts / seconds:,.0f} | calculated |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "events.log")
        with holdall.Writer(path, sync="never") as log:
            for row in rows(given.records):
                # Large enough that a thousand workers have windows of their own.
                row["data"] *= 10
                log.write(row)
        # Ten parts a worker, many of which are smaller than a window and have no records.
        parts = holdall.split_log(path, os.path.getsize(path) // (10 * WORKERS))
        outcome = simulated(path, parts, given.records)
        small = str(pathlib.Path(folder) / "small.log")
        with holdall.Writer(small, sync="never") as log:
            for row in rows(given.records):
                log.write(row)
        lines = report(measured(small, given.records), outcome, given.records)
    print("\n".join(lines))
    if outcome.lost or outcome.doubled:
        raise SystemExit("records were lost or doubled")
    written("simulation", lines)


if __name__ == "__main__":
    main()
