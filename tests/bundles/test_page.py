"""The code of docs/bundles.md runs; what stored versions of the libraries wrote is read for ever."""

from __future__ import annotations

import importlib
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import holdall
from tests.bundles import samples
from tests.bundles.golden import MODULES
from tests.bundles.same import same
from tests.repository.test_docs import blocks

ROOT = pathlib.Path(__file__).parents[2]
GOLDEN = pathlib.Path(__file__).parent / "golden"


def test_the_code_of_the_page_runs(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(blocks(ROOT / "docs" / "bundles.md"), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]


@pytest.mark.parametrize("bundle", sorted(samples.SAMPLES))
def test_what_earlier_versions_stored(bundle: str) -> None:
    """Files are added by `python -m tests.bundles.golden`, never changed: the libraries' samples of seed 7, and their version."""
    samples.require(bundle)
    version = importlib.import_module(MODULES.get(bundle, bundle)).__version__.partition("+")[0]
    holdall.register_known(bundle)
    found = sorted(GOLDEN.glob(f"{bundle}-*.hold"))
    assert found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = samples.SAMPLES[bundle](np.random.default_rng(7))
        for path in found:
            try:
                loaded = holdall.load(path)
            except holdall.DecodeError:
                # A newer version's types, or more dimensions than this one has.
                assert version not in path.name
                continue
            # Another version makes other samples of the seed; then it matters that they are read.
            assert len(loaded) > 2
            if version in path.name:
                for one, other in zip(wanted, loaded, strict=True):
                    same(one, other)


def test_every_bundle_is_in_the_page() -> None:
    page = (ROOT / "docs" / "bundles.md").read_text(encoding="utf-8")
    for name in set(holdall._bundles._LIBRARIES.values()):
        assert f"| `{name}` |" in page, name
