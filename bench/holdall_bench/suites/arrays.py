"""NumPy arrays: models, tables, images."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..data import SEED, Data
from . import adder


def matrices(count: int = 100) -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(SEED)
    return [rng.random((100, 100)) for _ in range(count)]


def weights(megabytes: int) -> dict[str, Any]:
    """38 float32 arrays of a neural network's shapes."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    rows = max(1, megabytes * 1_000_000 // (38 * 4 * 1024))
    return {f"layer {i}.weight": rng.random((rows, 1024), dtype=np.float32) for i in range(38)}


def small_arrays(count: int = 20_000) -> list[Any]:
    import numpy as np

    return list(np.random.default_rng(SEED).random((count, 8)))


def columns(rows: int = 500_000) -> dict[str, Any]:
    """A table by columns, of several element types."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return {
        "id": np.arange(rows, dtype=np.int64),
        "price": rng.random(rows),
        "count": rng.integers(0, 300, rows, dtype=np.int32),
        "urgent": rng.random(rows) < 0.1,
        "score": rng.random(rows, dtype=np.float32),
    }


def data_sets(full: bool) -> list[Data]:
    add = adder("arrays")
    megabytes = 575 if full else 64
    return [
        add(name="matrices_100", title="100 matrices 100x100 float64", make=matrices),
        add(
            name="weights",
            title=f"38 float32 arrays, {megabytes} MB: a model's weights",
            make=partial(weights, megabytes),
        ),
        add(name="small_arrays", title="20,000 arrays of 8 float64", make=small_arrays),
        add(name="columns", title="a table of 500,000 rows by columns", make=columns),
    ]
