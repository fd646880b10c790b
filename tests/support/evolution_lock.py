"""What `holdall lock --check` says of the changes of the table: the classes of version 1 are the lock, today's are the code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import holdall
from holdall import _core
from holdall._cli._breaking import Finding, merged
from holdall._cli._layouts import Known, candidates, known_class, stored_name
from holdall._cli._lock import findings, written
from tests.support.evolution_cases import Case
from tests.support.evolution_names import registered
from tests.support.evolution_program import of_before, of_today, package_of


def locked(case: Case) -> dict[str, dict[int, Any]]:
    """What the lock holds after version 1, as it comes from the file."""
    stored: dict[str, dict[int, Any]] = {}
    with of_before(case) as before:
        for each in known_of(case, before.classes):
            mine = stored.setdefault(each.name, {})
            mine[each.version] = merged(mine.get(each.version), each.layout, of_code=True)
    classes = json.loads(written(stored))["classes"] if stored else {}
    return {name: {int(version): one for version, one in mine.items()} for name, mine in classes.items()}


def known_of(case: Case, classes: Any) -> list[Known]:
    """The classes that the command finds of a program."""
    package = package_of(case)
    ours = {*classes, *(cls for _, cls in registered(package))}
    found = (
        cls for cls in candidates([package]) if cls in ours or stored_name(cls).startswith(f"{package}.")
    )
    return [each for cls in found if (each := known_class(cls)) is not None]


def told(case: Case, *, written_down: bool) -> list[Finding]:
    """What is said of today's program: as it is, or before anything was written for the change."""
    stored = locked(case)
    with of_today(case) as today:
        if not written_down:
            forget_what_was_written(case)
        return [each.finding for each in findings(stored, known_of(case, (today.type,)), "holdall.lock")]


def forget_what_was_written(case: Case) -> None:
    """Registers the classes by their names alone."""
    for name, cls in registered(package_of(case)):
        _, _, _, _, _, encodes = _core.class_registration(cls) or (0,) * 6
        if not encodes:
            holdall.register(cls, name=name)


def options_of(case: Case) -> Iterator[str]:
    """The words of code that the table names as what is to be written."""
    for quoted in case.write.split("`")[1::2]:
        for part in quoted.split(", "):
            word = part.partition("=")[0].partition("(")[0].strip()
            if word.isidentifier():
                yield word
