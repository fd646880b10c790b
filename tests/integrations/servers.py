"""Servers of the machine, each on loopback at a port that was free."""

from __future__ import annotations

import contextlib
import http.server
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

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


@contextlib.contextmanager
def pages_of() -> Iterator[tuple[str, list[str]]]:
    """The address of an HTTP server that has a page for every path, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"content of " + self.path.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
