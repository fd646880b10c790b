"""The data sets, a module for each suite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from ..data import Data

# name -> what it is about; the module of this name has `data_sets(full)`.
SUITES = {
    "bakeoff": "messages of 1.6 kB for queues and caches, one by one",
    "serbench": "nested records: Baz in Bar in Foo",
    "structures": "the list of cl-binary-store: numbers, texts, instances, matrices, tangled pairs",
    "documents": "the four JSON documents of every JSON benchmark",
    "graphs": "objects that share and refer to each other: cycles, chains, trees with shared leaves",
    "arrays": "NumPy arrays, many small ones and few large ones",
    "scaling": "the same records from 1 kB to 64 MB, with --full to 1 GB",
}
BY_DEFAULT = tuple(name for name in SUITES if name != "scaling")


def suite(name: str, full: bool) -> list[Data]:
    make: Callable[[bool], list[Data]] = import_module(f"{__name__}.{name}").data_sets
    return make(full)


def find(suite_name: str, name: str, full: bool) -> Data:
    return next(data for data in suite(suite_name, full) if data.name == name)


def adder(suite_name: str) -> partial[Data]:
    """`Data` with the suite filled in."""
    return partial(Data, suite=suite_name)
