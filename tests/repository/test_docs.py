"""Every Python block of the README and the guides runs, page by page, from the top."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from tests.support.each import each
from tests.support.places import REPO

PAGES = [
    REPO / "README.md",
    REPO / "docs" / "msgpack.md",
    REPO / "docs" / "bson.md",
    REPO / "docs" / "julia.md",
    REPO / "docs" / "lisp.md",
    *sorted((REPO / "docs").glob("guide-*.md")),
    # The others need their libraries: `make test-integrations`.
    *(REPO / "docs" / "integrations" / f"{name}.md" for name in ("README", "multiprocessing", "shelve")),
]


def blocks(page: pathlib.Path) -> str:
    """The page's Python blocks, each on the lines that it has on the page, so that errors name them."""
    lines = page.read_text(encoding="utf-8").splitlines()
    inside, kept = False, []
    for line in lines:
        if line.startswith("```"):
            inside = line == "```python"
            kept.append("")
        else:
            kept.append(line if inside else "")
    return "\n".join(kept) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = blocks(page)
    if "numpy" in code:
        pytest.importorskip("numpy")
    # No module that a page imports has such a name.
    script = tmp_path / f"page_{page.stem.replace('-', '_')}.py"
    script.write_text(code, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert "should not run" not in run.stdout


@each("page", [*PAGES, *sorted((REPO / "docs").rglob("*.md"))], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_target_named_in_the_readme_exists() -> None:
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make ([a-z-]+)", (REPO / "README.md").read_text(encoding="utf-8"), re.M)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.M), target
