"""The documents of every JSON benchmark: the real ones where a folder with them is named, else generated ones alike."""

from __future__ import annotations

import json
import os
import random
from functools import partial
from pathlib import Path
from typing import Any

from ..data import SEED, Data
from . import adder
from .stand_ins import STAND_INS

DOCUMENTS = ("twitter", "citm_catalog", "canada", "github_events")
# A folder of twitter.json and its like, from simdjson-data or another collection.
VARIABLE = "HOLDALL_CORPORA"


def path_of(name: str) -> Path | None:
    folder = os.environ.get(VARIABLE)
    path = Path(folder) / f"{name}.json" if folder else None
    return path if path and path.exists() else None


def document(name: str) -> Any:
    path = path_of(name)
    return json.loads(path.read_bytes()) if path else STAND_INS[name](random.Random(SEED))


def data_sets(full: bool) -> list[Data]:
    add = adder("documents")
    return [
        add(
            name=name,
            title=f"{name}.json as dicts and lists" + ("" if real else " (a generated one alike)"),
            make=partial(document, name),
            note="" if real else f"${VARIABLE} can name a folder with the real {name}.json",
        )
        for name in DOCUMENTS
        for real in [path_of(name) is not None]
    ]
