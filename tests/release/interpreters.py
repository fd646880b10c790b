"""Which Pythons wheels are built for, by the tags of the wheels: those of `tests.versions.pythons`, where they are on this machine."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterable

from tests.versions import pythons

# Free-threaded builds are not supported yet.
NAMES = list(pythons.RELEASES)


def tag_of(name: str) -> str:
    """The tag of the version's wheels: 3.14 is cp314."""
    return "cp" + name.replace(".", "")


WANTED = [tag_of(name) for name in NAMES]


def installed(given: Iterable[str] = ()) -> dict[str, str]:
    """The interpreters by tag, in the order of `WANTED`: those that are given, or all that are found."""
    found: dict[str, str] = {}
    for python in given:
        name = pythons.who(pathlib.Path(python))
        if name not in NAMES:
            raise SystemExit(f"{python} is no CPython that wheels are built for")
        found[tag_of(name)] = str(pathlib.Path(shutil.which(python) or python).absolute())
    if not found:
        for name in NAMES:
            try:
                found[tag_of(name)] = str(pythons.find(name))
            except (pythons.Missing, KeyError):
                continue
    return {tag: found[tag] for tag in WANTED if tag in found}
