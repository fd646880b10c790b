"""Servers of the machine, each on loopback at a port that was free."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest


@contextlib.contextmanager
def started(name: str, options: Callable[[int], list[str]]) -> Iterator[int]:
    """The port of a server while it runs. Tests that need one that isn't installed are skipped. options: those of its command line, by port."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([program, *options(port)], stdout=quiet, stderr=quiet) as server:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                time.sleep(0.05)
            else:
                raise RuntimeError(f"{name} does not answer")
            yield port
        finally:
            server.terminate()
