"""Tests of a peer's that fail here, or don't apply, each with its reason: a plugin's part that all suites share.

A file of them has a reason in brackets, and below it the tests it is for, one a line; a `*` stands for any characters:

    [fails: why]
    test_file.py::test_name[parameter]
    [left out: why]
    test_other.py::*

What `fails` must fail: it is marked as a strict expected failure. Of what `fails in parts` some subtests must. What is left out is not
run. A line that fits no test is an error.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

_REASON = re.compile(r"\[(fails|fails in parts|left out): (.+)\]$")


class Known(NamedTuple):
    pattern: str
    way: str
    reason: str

    def fits(self, test: str) -> bool:
        parts = map(re.escape, self.pattern.split("*"))
        return re.fullmatch(".*".join(parts), test) is not None


def read(path: Path) -> list[Known]:
    found: list[Known] = []
    way = reason = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        head = _REASON.match(line)
        if head is not None:
            way, reason = head[1], head[2]
        elif not reason:
            raise ValueError(f"{path.name}: {line!r} stands below no reason")
        else:
            found.append(Known(line, way, reason))
    return found


class Expected:
    """The plugin: marks what is known, and refuses what is known of tests that aren't there."""

    def __init__(self, path: Path, *, applies: object = None) -> None:
        self._path = path
        self._known = read(path)
        self._applies = applies
        # By test, how many of its subtests have failed.
        self._parts: dict[str, int] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        met: set[Known] = set()
        run: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        for item in items:
            name = f"{item.path.name}::{item.nodeid.partition('::')[2]}"
            if callable(self._applies) and not self._applies(item):
                left_out.append(item)
                continue
            known = [row for row in self._known if row.fits(name)]
            met.update(known)
            if any(row.way == "left out" for row in known):
                left_out.append(item)
                continue
            for row in known:
                if row.way == "fails in parts":
                    self._parts[item.nodeid] = 0
                item.add_marker(pytest.mark.xfail(reason=row.reason, strict=row.way == "fails"))
            run.append(item)
        narrowed = config.option.keyword or any("::" in argument for argument in config.args)
        if not narrowed and (never := [row.pattern for row in self._known if row not in met]):
            raise pytest.UsageError(f"{self._path.name} names tests that aren't there: {', '.join(never)}")
        config.hook.pytest_deselected(items=left_out)
        items[:] = run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid in self._parts and hasattr(report, "wasxfail") and report.skipped:
            self._parts[report.nodeid] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        passed = [test for test, failed in self._parts.items() if not failed]
        if passed and not session.config.option.collectonly:
            print(f"\n{self._path.name}: no part fails of {', '.join(passed)}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
