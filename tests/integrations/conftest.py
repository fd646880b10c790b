"""The tests of integrations have an environment of their own: `make test-integrations`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: Any) -> Iterator[int]:
    """Debian's redis-server on loopback; tests that need one are skipped without."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.05)
    yield port
    server.terminate()
    server.wait()


@pytest.fixture
def redis_url(redis_server: int) -> str:
    import redis

    redis.Redis(port=redis_server).flushall()
    return f"redis://127.0.0.1:{redis_server}/0"
