"""The code of every page of docs/integrations runs, from the top, with the real library."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.repository.test_docs import blocks

PAGES = sorted((pathlib.Path(__file__).parents[2] / "docs" / "integrations").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(
    page: pathlib.Path, tmp_path: pathlib.Path, redis_server: int, redis_url: str
) -> None:
    script = tmp_path / f"page_{page.stem}.py"
    script.write_text(blocks(page).replace("6379", str(redis_server)), encoding="utf-8")
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-3000:]
    assert "```python" in page.read_text(encoding="utf-8")
