"""What loading some bytes does to a process: run as a program, it loads each input in a fork of its own.

A fork costs a hundredth of a Python that starts and imports. It begins with the memory of a process that has loaded nothing yet, and with a
peak of its own. The input is read by the fork, so that none leaves free memory behind for the next.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import struct
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
# What it may map.
MOST = 4 << 30


@functools.cache
def server(module: str) -> subprocess.Popen[bytes]:
    made = subprocess.Popen(
        [sys.executable, "-m", "tests.support.probe", module],
        cwd=REPO,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(made.kill)
    return made


def probe(data: bytes, module: str = "holdall") -> tuple[str, int]:
    """What happened to `data`, and by how much the peak of the process grew. A crash is an AssertionError."""
    process = server(module)
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):  # then there is no answer either
        process.stdin.write(struct.pack("<Q", len(data)) + data)
        process.stdin.flush()
    line = process.stdout.readline()
    if not line.startswith(b"["):
        process.kill()
        process.wait()
        server.cache_clear()
        raise AssertionError(f"the process ended: {line.decode() or 'the one that makes them, too'}")
    verdict, grown = json.loads(line)
    return verdict, grown


def exactly(size: int) -> bytes:
    """So many bytes of standard input."""
    found = bytearray(size)
    view, at = memoryview(found), 0
    while at < size:
        got = os.readv(0, [view[at : at + (1 << 20)]])
        if not got:
            raise EOFError
        at += got
    view.release()
    return bytes(found)


def measure(module: Any, size: int, options: dict[str, Any]) -> None:
    import resource

    import holdall
    from tests.support.peak import peak

    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    data = exactly(size)
    before = peak()
    try:
        module.loads(data, **options)
        verdict = "loaded"
    except holdall.DecodeError as error:
        verdict = type(error).__name__
    os.write(1, json.dumps([verdict, peak() - before]).encode() + b"\n")


def main(name: str) -> None:
    import holdall
    from tests.support.peak import peak

    with contextlib.suppress(ImportError):
        importlib.import_module("numpy")
    module = importlib.import_module(name)
    options = {"types": holdall.Record} if module is holdall else {}
    for warm in (b"", b"\x01", module.dumps({"l": [1, {"a": 2}]})):
        with contextlib.suppress(holdall.DecodeError):
            module.loads(warm)
    peak()
    while head := os.read(0, 8):
        child = os.fork()
        if not child:
            status = 1
            try:
                measure(module, *struct.unpack("<Q", head), options)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            os.write(1, f"by signal {status & 127}, with code {status >> 8}\n".encode())
            return  # a part of the input may still be on its way


if __name__ == "__main__":
    main(sys.argv[1])
