"""A server, and who looks on: what PyMongo sends and gets, and what this codec was asked."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import socket
import struct
import subprocess
from typing import Any, Callable, Iterator

import pymongo
import pytest
from pymongo import message

import holdall.bson
from holdall import _core

FOLDER = pathlib.Path(__file__).resolve().parent
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
# What stands before the documents of an answer.
HEADS = {OP_REPLY: 20, OP_MSG: 5}


@contextlib.contextmanager
def serve(*arguments: str) -> Iterator[int]:
    """A server of its own process, which ends with the block or with this process; gives its port."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java to run the server")
    if not any(FOLDER.glob("lib/mongo-java-server-core-*.jar")):
        pytest.skip("no server in tests/mongo/lib: `make test-mongo` fetches it")
    command = [java, "-cp", f"{FOLDER / 'lib'}/*", str(FOLDER / "Serve.java"), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin and process.stdout
        port = process.stdout.readline()
        assert port, "the server did not start"
        yield int(port)
        process.stdin.close()
        assert process.wait(timeout=30) == 0


@contextlib.contextmanager
def connected(port: int) -> Iterator[pymongo.MongoClient[Any]]:
    # The server is there, or the test fails at once. A monitor that asks again meanwhile would be one more to look at.
    with pymongo.MongoClient(
        "127.0.0.1", port, serverSelectionTimeoutMS=5000, heartbeatFrequencyMS=600_000
    ) as client:
        yield client


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    with serve() as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[pymongo.MongoClient[Any]]:
    with connected(port) as client:
        yield client
        holdall.bson.uninstall()
        for name in client.list_database_names():
            client.drop_database(name)


class Witness:
    """What went over the wire, and what went through the native functions."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.encoded: set[bytes] = set()
        self.decoded: set[bytes] = set()
        self.calls: dict[str, int] = {"bson_encode": 0, "bson_decode": 0, "bson_decode_all": 0}

    def counting(self, name: str, native: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            self.calls[name] += 1
            if name != "bson_encode":
                self.decoded.add(bytes(arguments[0]))
                return native(*arguments)
            result = native(*arguments)
            self.encoded.add(result)
            return result

        return called

    def foreign(self) -> list[bytes]:
        """Documents on the wire that the native functions didn't make or read."""
        sent = [document for data in self.sent for document in documents(data)]
        return [data for data in sent if data not in self.encoded] + [
            data for data in self.received if data not in self.decoded
        ]


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    """Looks on at the sockets and the native functions; to be asked for before a client connects or installs anything."""
    seen = Witness()
    for name in seen.calls:
        monkeypatch.setattr(_core, name, seen.counting(name, getattr(_core, name)))

    send_all = socket.socket.sendall

    def watched(self: socket.socket, data: bytes, *flags: int) -> None:
        seen.sent.append(bytes(data))
        send_all(self, data, *flags)

    monkeypatch.setattr(socket.socket, "sendall", watched)

    def unpacking(unpack: Callable[[bytes], Any], head: int) -> Callable[[bytes], Any]:
        def unpacked(data: bytes) -> Any:
            seen.received.append(bytes(data[head:]))
            return unpack(data)

        return unpacked

    for code, unpack in list(message._UNPACK_REPLY.items()):
        monkeypatch.setitem(message._UNPACK_REPLY, code, unpacking(unpack, HEADS[code]))
    yield seen
    holdall.bson.uninstall()


def documents(data: bytes) -> Iterator[bytes]:
    """The documents of a message: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/"""
    size, _, _, code = struct.unpack_from("<iiii", data)
    assert size == len(data)
    if code == OP_QUERY:
        yield from split(data[data.index(b"\0", 20) + 9 :])
        return
    assert code == OP_MSG
    rest = data[20:]
    while rest:
        kind, length = struct.unpack_from("<Bi", rest)
        section, rest = rest[1 : length + 1], rest[length + 1 :]
        yield from split(section if kind == 0 else section[section.index(b"\0", 4) + 1 :])


def split(data: bytes) -> Iterator[bytes]:
    while data:
        (length,) = struct.unpack_from("<i", data)
        yield data[:length]
        data = data[length:]
