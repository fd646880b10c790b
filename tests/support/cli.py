"""Running the command line in tests."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import holdall


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*args: Any, **environment: str) -> Ran:
    """The command as users start it, in a process of its own."""
    env = {**os.environ, "PYTHONUTF8": "1", **environment}
    command = [sys.executable, "-m", "holdall", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def invoke(*args: Any, **options: Any) -> Ran:
    """The command in this process. A traceback is a failed test."""
    from click.testing import CliRunner

    from holdall._cli._app import holdall as command

    result = CliRunner().invoke(command, [*map(str, args)], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def write_all(content: Any) -> list[str]:
    """The same value in a file of each format."""
    holdall.dump(content, "v.hold")
    holdall.bson.dump(content, "v.bson")
    holdall.msgpack.dump(content, "v.msgpack")
    holdall.julia.dump(content, "v.julia")
    with open("v.json", "w") as file:
        json.dump(content, file)
    with open("v.pickle", "wb") as file:
        pickle.dump(content, file)
    return ["v.hold", "v.bson", "v.msgpack", "v.julia", "v.json", "v.pickle"]


def write_log(*records: Any, path: str = "log.hold") -> None:
    """A log of hold."""
    writer: Any = holdall
    with writer.Writer(path) as log:
        for record in records:
            log.write(record)
