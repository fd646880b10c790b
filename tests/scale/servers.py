"""What stands for a network on loopback: moto's server, which speaks S3's protocol, and one of plain HTTP that knows ranges. Both count
what they are asked for and what they give, cut connections and slow down where they are told to."""

from __future__ import annotations

import contextlib
import http.server
import socketserver
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

PART = 1 << 16


class Tally:
    """What a server was asked for, and how it is to fail.

    cuts: how many of the next answers end in the middle. pace: bytes a second for all connections together; 0: as many as go.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: list[str] = []
        self.bytes = self.cuts = 0
        self.pace = 0
        self._free = 0.0

    def reset(self) -> None:
        self.requests, self.bytes = [], 0

    def asked(self, what: str) -> None:
        with self.lock:
            self.requests.append(what)

    def paced(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        cut = False
        with self.lock:
            if self.cuts:
                self.cuts, cut = self.cuts - 1, True
        for part in parts:
            for at in range(0, len(part), PART):
                piece = part[at : at + PART]
                with self.lock:
                    self.bytes += len(piece)
                    if self.pace:
                        now = time.monotonic()
                        self._free = max(self._free, now) + len(piece) / self.pace
                        wait = self._free - now
                    else:
                        wait = 0
                if wait > 0.001:
                    time.sleep(wait)
                if cut:
                    yield piece[: len(piece) // 2]
                    raise ConnectionAbortedError("cut, as was asked for")
                yield piece


class Objects:
    """The objects of a server of plain HTTP: by path, each with its tag."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.content: dict[str, bytes] = {}
        self.tags: dict[str, str | None] = {}
        self.ranges = True
        self.url = ""

    def put(self, path: str, content: bytes, tag: str | None = '"1"') -> str:
        self.content[path], self.tags[path] = content, tag
        return f"{self.url}{path}"


def _handler(objects: Objects) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET(body=False)

        def do_GET(self, body: bool = True) -> None:
            objects.tally.asked(f"{self.command} {self.headers.get('Range')}")
            content = objects.content.get(self.path)
            if content is None:
                self._end(404, b"")
                return
            tag = objects.tags[self.path]
            if self.headers.get("If-Match", tag) != tag:
                self._end(412, b"")
                return
            start, end, status = 0, len(content), 200
            asked = self.headers.get("Range", "")
            if objects.ranges and asked.startswith("bytes="):
                first, _, last = asked[6:].partition("-")
                start = int(first) if first else max(0, end - int(last))
                end = min(end, int(last) + 1) if first and last else end
                if start >= len(content):
                    self._end(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                    return
                status = 206
            headers = {"ETag": tag} if tag else {}
            if status == 206:
                headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
            self._end(status, memoryview(content)[start:end] if body else b"", headers, end - start)

        def _end(
            self, status: int, body: Any, headers: dict[str, str] | None = None, length: int | None = None
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            try:
                for part in objects.tally.paced([body]):
                    self.wfile.write(part)
            except ConnectionAbortedError:
                self.close_connection = True

    return Handler


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def plain_http() -> Iterator[Objects]:
    objects = Objects()
    with _Server(("127.0.0.1", 0), _handler(objects)) as server:
        objects.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield objects
        server.shutdown()


class S3:
    """moto's server, with the options that s3fs takes for it."""

    def __init__(self, port: int, tally: Tally) -> None:
        self.tally = tally
        self.options: dict[str, Any] = {
            "key": "testing",
            "secret": "testing",
            "client_kwargs": {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"},
        }

    def system(self, **more: Any) -> Any:
        import s3fs

        return s3fs.S3FileSystem(**self.options, **more)

    def put(self, path: str, content: bytes) -> None:
        # To join the parts of a GB takes moto a minute, by which others ask again, and find the parts joined.
        system = self.system(config_kwargs={"read_timeout": 900})
        system.call_s3("create_bucket", Bucket=path.split("/")[0])
        system.pipe_file(path, content)
        system.invalidate_cache()


@contextlib.contextmanager
def moto() -> Iterator[S3]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    tally = Tally()
    app = DomainDispatcherApplication(create_backend_app)

    def counted(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        tally.asked(f"{environ['REQUEST_METHOD']} {environ.get('HTTP_RANGE')}")
        return tally.paced(app(environ, start))

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log(self, *args: Any) -> None:
            pass

    server = make_server("127.0.0.1", 0, counted, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield S3(server.server_port, tally)
    finally:
        server.shutdown()
