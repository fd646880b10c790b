"""tests/README.md says where everything is tested: no folder is missing there, and what it names is there."""

from __future__ import annotations

import re

from tests.support.places import REPO

TESTS = REPO / "tests"
PAGE = (TESTS / "README.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([\w/.-]+)`", PAGE))


def test_what_it_names_is_there():
    for name in NAMED:
        if name.endswith((".py", "/")):
            assert (TESTS / name).exists() or (REPO / name).exists(), name


def test_every_source_folder_is_named():
    for root in ("crates/format/src", "crates/python/src", "python/holdall"):
        folders = [
            path.name for path in (REPO / root).iterdir() if path.is_dir() and path.name[0] not in "._"
        ]
        folders += [path.parent.name for path in (REPO / root).glob("_*/__init__.py")]
        assert folders
        for folder in folders:
            assert f"{root}/{folder}/" in NAMED, f"it doesn't say where {root}/{folder} is tested"


def test_every_folder_and_file_of_tests_is_found_by_it():
    for path in TESTS.rglob("test_*.py"):
        name = path.relative_to(TESTS)
        assert str(name) in NAMED or any(f"{folder}/" in NAMED for folder in name.parents), name
    for path in TESTS.iterdir():
        if path.is_dir() and path.name[0] not in "._":
            assert any(name.startswith(f"{path.name}/") for name in NAMED), path.name
