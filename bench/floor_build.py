"""Build the lower bound, a C extension that lives beside the repository, once per environment."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from bench.data import SHARED

TARGET = Path(sys.prefix) / "share" / "holdall-bench"


def load_floor() -> tuple[ModuleType | None, str]:
    """The module `floor`, or None and the reason why it isn't there."""
    source = SHARED / "floor"
    if not (source / "floor.c").exists():
        return None, "no lower bound: shared/floor is missing"
    if sys.version_info[:2] != (3, 11):
        return None, "no lower bound: it is written for CPython 3.11"
    if str(TARGET) not in sys.path:
        sys.path.append(str(TARGET))
    try:
        return importlib.import_module("floor"), ""
    except ImportError:
        pass
    reason = build(source)
    if reason:
        return None, reason
    importlib.invalidate_caches()
    return importlib.import_module("floor"), ""


def build(source: Path) -> str:
    """Compile a copy of `source` into `TARGET`; the reason if that failed, else an empty string."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("floor.c", "setup.py"):
            shutil.copyfile(source / name, Path(scratch) / name)
        command = [
            sys.executable,
            "setup.py",
            "-q",
            "build_ext",
            "--build-lib",
            str(TARGET),
            "--build-temp",
            scratch,
        ]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    return "" if done.returncode == 0 else "no lower bound: it did not compile:\n" + done.stderr[-1000:]
