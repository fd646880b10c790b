"""docs/architecture.md names files and functions that are there."""

from __future__ import annotations

import re

from tests.support.house import FORMAT, HOST, ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_functions_that_it_names_are_where_it_says():
    steps = re.findall(r"`([\w/]+\.rs): (\w+)(?:::(\w+))?`", PAGE)
    assert len(steps) > 20
    for path, name, method in steps:
        found = [crate / path for crate in (HOST, FORMAT) if (crate / path).exists()]
        assert found, f"there is no {path}"
        source = found[0].read_text(encoding="utf-8")
        for wanted in filter(None, (name, method)):
            assert re.search(rf"\b(?:fn|struct|enum|trait) {wanted}\b", source), f"{path} has no {wanted}"


def test_folders_that_it_names_are_there():
    for crate in (HOST, FORMAT):
        for folder in sorted(path.name for path in crate.iterdir() if path.is_dir()):
            assert re.search(rf"`(?:\w+/)*{folder}/", PAGE), f"it says nothing of {folder}/"
