"""Processes that write logs until they are killed, or until there is no room: `tests/api/log/test_crash.py` says what is expected of them.

python -m tests.support.log_child append LOG SYNC
python -m tests.support.log_child full LOG SYNC LIMIT...
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import holdall
from tests.support.logs import read, record, small

BATCH = 5  # records to one acknowledgement, where not every record has one
RECORDS = 12


def tell(line: object) -> None:
    os.write(1, f"{line}\n".encode())


def append(path: Path, sync: Any) -> None:
    """For ever. Each line says how many records the log has for sure; the first that it is about to be opened."""
    tell(0)
    if sync == "never":
        while True:
            with holdall.Writer(path, append=True, sync=sync) as log:
                for _ in range(BATCH):
                    log.write(record(log.records))
                count = log.records
            tell(count)
    with holdall.Writer(path, append=True, sync=sync) as log:
        while True:
            number = log.write(record(log.records))
            if sync == "always":
                tell(number + 1)
            elif number % BATCH == 0:
                log.flush()
                tell(number + 1)


@contextmanager
def no_larger(limit: int) -> Iterator[Callable[[], None]]:
    """Files can't grow beyond; gives a function that ends it."""
    import resource

    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    def raise_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, unlimited[1]))
    try:
        yield raise_limit
    finally:
        raise_limit()


def fill(
    path: Path, sync: Any, make: Callable[[int], object], make_room: Callable[[], None], code: int
) -> int:
    """Write records until there is no room, look at the log, make room, and go on with the same Writer; how often it failed.

    code: the errno that is expected.
    """
    failures = 0

    def fails(act: Callable[[], Any]) -> bool:
        nonlocal failures
        try:
            act()
        except OSError as error:
            assert error.errno == code, error
            failures += 1
            return True
        return False

    def must_have(acknowledged: int, given: int) -> None:
        found = read(path, repair="stop") if os.path.getsize(path) else []
        assert acknowledged <= len(found) <= given, (acknowledged, len(found), given)
        assert found == [make(number) for number in range(len(found))]

    logs: list[holdall.Writer] = []
    if fails(lambda: logs.append(holdall.Writer(path, sync=sync))):
        # Not even the log's first bytes had room.
        must_have(0, 0)
        make_room()
        logs.append(holdall.Writer(path, append=True, sync=sync))
    log = logs[0]
    acknowledged = 0
    for number in range(RECORDS):
        assert log.records == number

        def put(number: int = number) -> None:
            assert log.write(make(number)) == number

        if fails(put):
            must_have(acknowledged, number)
            assert log.records == number
            make_room()
            put()
        if sync == "always":
            acknowledged = number + 1
        elif number % BATCH == 0:
            if fails(log.flush):
                must_have(acknowledged, number + 1)
                make_room()
                log.flush()
            acknowledged = number + 1
        must_have(acknowledged, number + 1)
    if fails(log.flush):
        make_room()
        log.flush()
    log.close()
    assert read(path) == [make(number) for number in range(RECORDS)]
    assert holdall.verify(path).ok
    return failures


def full(path: Path, sync: Any, limits: list[int]) -> None:
    """For each limit a log of small records, for each negative one a log of large ones. Tells how many writes failed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    failures = 0
    for limit in limits:
        path.unlink(missing_ok=True)
        with no_larger(abs(limit)) as raise_limit:
            failures += fill(path, sync, small if limit >= 0 else record, raise_limit, errno.EFBIG)
    tell(failures)


def close_full(path: Path, limits: list[int]) -> None:
    """A log that nobody flushes before it is closed: `close` says that there was no room, and the next Writer goes on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    failures = 0
    for limit in limits:
        path.unlink(missing_ok=True)
        with no_larger(limit):
            log = holdall.Writer(path, sync="never")
            for number in range(RECORDS):
                log.write(small(number))
            try:
                log.close()
            except OSError as error:
                assert error.errno == errno.EFBIG
                failures += 1
            log.close()
        with holdall.Writer(path, append=True, sync="never") as log:
            kept = log.records
            for number in range(kept, RECORDS):
                log.write(small(number))
        assert read(path) == [small(number) for number in range(RECORDS)]
    tell(failures)


def main(mode: str, path: str, sync: str, *limits: str) -> None:
    if mode == "append":
        append(Path(path), sync)
    elif mode == "full":
        full(Path(path), sync, list(map(int, limits)))
    else:
        close_full(Path(path), list(map(int, limits)))


if __name__ == "__main__":
    main(*sys.argv[1:])
