"""The tests of integrations have an environment of their own: `make test-integrations`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .servers import pages_of, started


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: Any) -> Iterator[int]:
    """Debian's redis-server on loopback; tests that need one are skipped without."""
    folder = tmp_path_factory.mktemp("redis")
    with started(
        "redis-server",
        lambda port: ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
    ) as port:
        yield port


@pytest.fixture
def redis_url(redis_server: int) -> str:
    import redis

    redis.Redis(port=redis_server).flushall()
    return f"redis://127.0.0.1:{redis_server}/0"


@pytest.fixture
def pages() -> Iterator[tuple[str, list[str]]]:
    """An address, and the paths that were asked for."""
    with pages_of() as found:
        yield found
