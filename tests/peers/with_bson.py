"""PyMongo's own tests of its codec, after `holdall.bson.install()`: a plugin of pytest's. No server is needed."""

from __future__ import annotations

from pathlib import Path

import known
import pytest

import holdall.bson

holdall.bson.install()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(known.Expected(Path(__file__).with_name("pymongo.txt")))
