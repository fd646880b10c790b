"""The code of the pages of engines runs, from the top."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.repository.test_docs import blocks

FOLDER = pathlib.Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "name", ["integrations/arrow", "integrations/dask", "integrations/ray", "integrations/spark"]
)
def test_the_code_of_a_page_runs(name: str, tmp_path: pathlib.Path) -> None:
    if name.endswith("spark") and shutil.which("java") is None:
        pytest.skip("java is not installed")
    page = FOLDER / f"{name}.md"
    script = tmp_path / "page.py"
    script.write_text(blocks(page), encoding="utf-8")
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-3000:]
    assert "```python" in page.read_text(encoding="utf-8")
