"""Compile `floor.c`, and find what was compiled."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType

SOURCE = Path(__file__).with_name("floor.c")
FLAGS = ("-O3", "-fPIC", "-shared", "-Wno-unused-function")


class NotBuilt(ImportError):
    """The lower bound isn't to be had; the text says why, and what to do."""


def target() -> Path:
    """Where it belongs: one for each source and each Python."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    version = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    return cache / "holdall" / f"floor-{version}.{sysconfig.get_config_var('SOABI')}.so"


def load() -> ModuleType:
    check()
    path = target()
    if not path.exists():
        raise NotBuilt("not built: `holdall bench --build-floor` does it with your C compiler")
    # The module's own name is what its init function is called by.
    loader = ExtensionFileLoader("floor", str(path))
    spec = importlib.util.spec_from_file_location("floor", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def check() -> None:
    if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11):
        raise NotBuilt("it is written for the insides of CPython 3.11")


def build() -> Path:
    """Compile it, if that isn't done; its path. Raises NotBuilt."""
    check()
    path = target()
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    compiler = shlex.split(os.environ.get("CC") or "cc")
    include = f"-I{sysconfig.get_path('include')}"
    command = [*compiler, *FLAGS, include, str(SOURCE), "-o", str(unfinished)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise NotBuilt(f"no C compiler: {compiler[0]}: {error.strerror}; $CC can name one") from None
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise NotBuilt(f"it did not compile: {done.stderr.strip()[-500:]}")
    unfinished.replace(path)
    return path
