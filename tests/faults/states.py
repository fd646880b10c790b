"""Logs and picklers in whose midst an allocation fails: what failed is not there, all else is, and the next may follow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import holdall

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.allocations import Python, Rust

COUNT = 6
CHOSEN = 3


def record(number: int) -> Any:
    """Some names are new in each."""
    return {
        "number": number,
        f"key {number}": [f"text {number}"] * 2,
        "shared": "the same text in each of them",
    }


class Parts:
    """A file object that keeps what it gets. (A `BytesIO` is closed where CPython has no memory for it to grow.)"""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(bytes(data))
        return len(data)


def log_of(count: int = COUNT) -> bytes:
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for number in range(count):
            log.write(record(number))
    return file.getvalue()


def writes(attempt: Callable[[Callable[[], Any]], Any], failed: object, sync: Any, path: Path | None) -> bool:
    """Whether a record was not written."""
    file = Parts()
    kept = []
    try:
        with holdall.Writer(path or file, sync=sync) as log:
            for number in range(COUNT):
                value = record(number)
                write = lambda value=value: log.write(value)  # noqa: E731
                if (attempt(write) if number == CHOSEN else write()) is not failed:
                    kept.append(value)
    except ValueError as error:
        # What a file object has got of a record can't be taken back.
        assert not path and "could not be taken back" in str(error)
        assert len(kept) == CHOSEN
    data = path.read_bytes() if path else b"".join(file.parts)
    found = list(holdall.Reader(data, repair="stop"))
    assert found == kept, f"{len(kept)} records were acknowledged, {len(found)} are there"
    return len(kept) < COUNT


def reads(attempt: Callable[[Callable[[], Any]], Any], failed: object, source: Any) -> bool:
    reader = holdall.Reader(source)
    found, fails = [], False
    for number in range(COUNT):
        made = attempt(lambda: next(reader)) if number == CHOSEN else next(reader)
        if made is failed:
            fails = True
            made = next(reader)
        found.append(made)
    assert found == [record(number) for number in range(COUNT)], f"other records: {found}"
    return fails


def pickles(attempt: Callable[[Callable[[], Any]], Any], failed: object) -> bool:
    file = Parts()
    pickler = holdall.pickle.Pickler(file)
    shared = ["shared"]
    kept = []
    for number in range(COUNT):
        value = [record(number), shared]
        dump = lambda value=value: pickler.dump(value)  # noqa: E731
        if (attempt(dump) if number == CHOSEN else dump()) is not failed:
            kept.append(value)
    unpickler = holdall.pickle.Unpickler(io.BytesIO(b"".join(file.parts)))
    found = [unpickler.load() for _ in kept]
    assert found == kept, "other objects"
    # After a failure the pickler begins anew: nobody has read what was numbered meanwhile.
    assert all(value[1] is found[0][1] for value in found[:CHOSEN]), "what is shared is no more"
    return len(kept) < COUNT


def states(folder: Path) -> dict[str, Callable[..., bool]]:
    data = log_of()
    path = folder / "read.log"
    path.write_bytes(data)
    written = folder / "written.log"
    return {
        "Writer of a file object": lambda *given: writes(*given, "batch", None),
        "Writer of a file object, each on the disk": lambda *given: writes(*given, "always", None),
        "Writer of a path": lambda *given: writes(*given, "batch", written),
        "Writer of a path, each on the disk": lambda *given: writes(*given, "always", written),
        "Reader of a path": lambda *given: reads(*given, path),
        "Reader of data": lambda *given: reads(*given, data),
        "Reader of a file object": lambda *given: reads(*given, io.BytesIO(data)),
        "Pickler": lambda *given: pickles(*given),
    }


def check(run: Callable[..., bool], faults: Python | Rust, failed: object, most: int) -> Iterator[str]:
    """What was wrong, for each allocation of the chosen call."""
    run(lambda call: call(), failed)
    successes = 0
    for number in range(most):
        try:
            fails = run(lambda call, number=number: faults.attempt(call, number), failed)
        except BaseException as error:
            yield f"allocation {number}: {type(error).__name__}: {str(error)[:200]}"
            fails = True
        successes = 0 if fails else successes + 1
        if successes > 12:
            return
