"""Which Pythons are installed, by the tags of their wheels: `python -m tests.release.interpreters` lists them."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator

# Free-threaded builds count from 3.14 on, as they do for PyO3: before, they were an experiment.
WANTED = ["cp310", "cp311", "cp312", "cp313", "cp314", "cp315", "cp314t", "cp315t"]
# Prints an interpreter's tag, and its own path. What runs is asked: a name on the PATH may be a shim for a version that is not installed.
ASK = """
import sys, sysconfig
assert sys.implementation.name == "cpython" and not hasattr(sys, "gettotalrefcount")
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(f"cp{sys.version_info[0]}{sys.version_info[1]}{free}", sys.executable)
"""


def candidates() -> Iterator[str]:
    names = [f"python{tag[2]}.{tag[3:]}" for tag in WANTED]
    yield from filter(None, map(shutil.which, names))
    home = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    # Where PyPA's images have theirs.
    for folder in (home / "versions", pathlib.Path("/opt/python")):
        yield from map(str, sorted(folder.glob("*/bin/python")))
    yield sys.executable


def ask(python: str) -> tuple[str, str] | None:
    """The tag of an interpreter and its path; None where it is none that wheels are built for."""
    try:
        run = subprocess.run([python, "-c", ASK], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    tag, _, path = run.stdout.strip().partition(" ")
    return (tag, path) if tag in WANTED else None


def installed(pythons: Iterable[str] = ()) -> dict[str, str]:
    """The interpreters by tag, in the order of `WANTED`: those that are given, or all that are found."""
    given = list(pythons)
    found: dict[str, str] = {}
    for python in given or candidates():
        asked = ask(python)
        if asked:
            found.setdefault(*asked)
        elif given:
            raise SystemExit(f"{python} is no CPython that wheels are built for")
    return {tag: found[tag] for tag in WANTED if tag in found}


if __name__ == "__main__":
    here = installed(sys.argv[1:])
    for tag in WANTED:
        print(f"{tag:7} {here.get(tag, 'is not there')}")
