"""The program that an instrumented build runs, so that the next one is optimized for what is done most (`make guided`).

Everything that the product does with values of many kinds: in each format, together and alone, both ways, with and without
types and references. Content is random, so that no measured row is its own training.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import sys
from collections.abc import Callable, Iterator
from random import Random
from time import monotonic
from typing import Any

import holdall
import holdall.bson
import holdall.msgpack
import holdall.pickle

from .data import Data, subject
from .suites import SUITES, suite
from .suites.kinds import KINDS, USERS

TOGETHER, ALONE = 60, 20
# What takes long and repeats itself: the larger data sets of the suites.
ENOUGH_BYTES = 2_000_000
Task = Callable[[], Any]
encoder, decoder = holdall.Encoder(), holdall.Decoder(types=USERS)


def main(seconds: float) -> None:
    """All tasks in turns, until the time is over."""
    end = monotonic() + seconds
    rounds = 0
    while not rounds or monotonic() < end:
        for task in tasks(Random(rounds)):
            # A format refuses kinds that it does not have, and BSON needs PyMongo.
            with contextlib.suppress(holdall.HoldallError, ImportError):
                task()
        rounds += 1
    print(f"trained in {rounds} rounds")


def tasks(r: Random) -> Iterator[Task]:
    for make in KINDS.values():
        values = [make(r) for _ in range(TOGETHER)]
        yield from of_value(values)
        for value in values[:ALONE]:
            yield from of_value(value)
            if dataclasses.is_dataclass(value):
                yield from by_type(value, type(value))
        if dataclasses.is_dataclass(values[0]):
            yield from by_type(values, list[type(values[0])])  # type: ignore[misc]
    for name in SUITES:
        if name != "scaling":
            for data in suite(name, full=False):
                yield from of_data(data, r)


def of_value(value: Any, classes: list[type] = USERS) -> Iterator[Task]:
    yield lambda: holdall.loads(holdall.dumps(value), types=classes)
    yield lambda: decoder.decode(encoder.encode(value))
    yield lambda: holdall.loads(holdall.dumps(value, refs=False), types=classes)
    yield lambda: holdall.msgpack.loads(holdall.msgpack.dumps(value))
    yield lambda: holdall.bson.loads(holdall.bson.dumps({"v": value}))
    yield lambda: holdall.pickle.loads(holdall.pickle.dumps(value))
    yield lambda: holdall.deepcopy(value)
    yield lambda: read_log(value, classes)


def by_type(value: Any, annotation: Any) -> Iterator[Task]:
    yield lambda: holdall.loads(holdall.dumps(value), type=annotation)
    yield lambda: holdall.msgpack.loads(holdall.msgpack.dumps(value), type=annotation)
    yield lambda: holdall.bson.loads(holdall.bson.dumps({"v": value}), type=dict[str, annotation])


def read_log(value: Any, classes: list[type]) -> None:
    log = io.BytesIO()
    with holdall.Writer(log) as writer:
        for _ in range(2):
            writer.write(value)
    log.seek(0)
    for _ in holdall.Reader(log, types=classes):
        pass


def of_data(data: Data, r: Random) -> Iterator[Task]:
    value = data.make()
    classes = subject(data, value).classes
    for each in r.sample(value, min(50, len(value))) if data.each else [value]:
        if len(holdall.dumps(each)) <= ENOUGH_BYTES:
            yield from of_value(each, classes)
            if data.annotation is not None:
                yield from by_type(each, data.annotation)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
