"""The tests of storage over a network, and of engines: `make test-scale` has an environment for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import holdall

from .servers import S3, Objects, moto, plain_http
from .values import event


@pytest.fixture(scope="session")
def _s3() -> Iterator[S3]:
    with moto() as server:
        yield server


@pytest.fixture(scope="session")
def _http() -> Iterator[Objects]:
    with plain_http() as objects:
        yield objects


@pytest.fixture
def s3(_s3: S3) -> S3:
    _s3.tally.cuts = _s3.tally.pace = 0
    _s3.tally.reset()
    return _s3


@pytest.fixture
def web(_http: Objects) -> Objects:
    _http.tally.cuts = _http.tally.pace = 0
    _http.ranges = True
    _http.tally.reset()
    return _http


@pytest.fixture(scope="session")
def logs(tmp_path_factory: Any) -> str:
    """Three logs of 10,000 events each."""
    folder = tmp_path_factory.mktemp("logs")
    for part in range(3):
        with holdall.Writer(folder / f"{part}.log", sync="never") as log:
            for number in range(part * 10_000, part * 10_000 + 10_000):
                log.write(event(number))
    return str(folder / "*.log")
