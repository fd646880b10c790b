"""msgpack-python's own tests, with `holdall.msgpack.compat` in its place: a plugin of pytest's."""

from __future__ import annotations

import sys
from pathlib import Path

import known
import pytest

from holdall.msgpack import compat

sys.modules["msgpack"] = compat
for name in ("exceptions", "ext"):
    __import__(f"{compat.__name__}.{name}")
    sys.modules[f"msgpack.{name}"] = sys.modules[f"{compat.__name__}.{name}"]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(known.Expected(Path(__file__).with_name("msgpack.txt")))
