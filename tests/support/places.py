"""Folders that tests read from."""

from __future__ import annotations

import os
import pathlib

REPO = pathlib.Path(__file__).resolve().parents[2]
VECTORS = REPO / "tests" / "vectors"
# Conformance suites and documents that are not part of the repository. Tests skip where they are missing.
DATA = pathlib.Path(os.environ.get("HOLDALL_SHARED", REPO.parent / "shared")) / "data"
