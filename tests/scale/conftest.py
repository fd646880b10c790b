"""The tests of storage over a network, and of engines: `make test-scale` has an environment for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .servers import S3, Objects, moto, plain_http


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
