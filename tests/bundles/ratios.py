"""`make bench-bundles`: pickle's time (protocol 5) divided by ours, in turns whose order is by chance; the table of docs/bundles.md.

Each row has a process of its own. ARGS="--only pandas,scipy --what '1 MB'" measures some and prints them, with `--write` into their rows; `--rounds 30`; `--print` leaves the page as it is.
"""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import pickle
import random
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import holdall
from tests.bundles.same import same

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "bundles.md"
BEGIN, END = "<!-- table: ratios -->", "<!-- end -->"
ROWS: list[tuple[str, str, Callable[[], Any]]] = []
Make = Callable[[], Any]


def row(bundle: str, what: str) -> Callable[[Make], Make]:
    def decorator(make: Make) -> Make:
        ROWS.append((bundle, what, make))
        return make

    return decorator


def _frame(rows: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(rows)
    words = np.array([f"word {at}" for at in range(100)])
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "price": rng.random(rows),
            "count": rng.integers(0, 9, rows),
            "when": pd.date_range("2026", periods=rows, freq="s", tz="Europe/Oslo"),
            "kind": pd.Categorical(words[rng.integers(0, 100, rows)]),
            "text": words[rng.integers(0, 100, rows)],
            "maybe": pd.array(rng.integers(0, 9, rows), dtype="Int64"),
        }
    )


def _numeric(rows: int) -> Any:
    import pandas as pd

    return pd.DataFrame(np.random.default_rng(rows).random((rows, 8)), columns=list("abcdefgh"))


def _objects(rows: int) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {"text": pd.Series([f"text {at}" for at in range(rows)], dtype=object), "n": range(rows)}
    )


for _name, _make, _counts in (
    ("mixed frame", _frame, ((10, "1 kB"), (20_000, "1 MB"), (500_000, "30 MB"))),
    ("floats, frame", _numeric, ((12, "1 kB"), (16_000, "1 MB"), (1_600_000, "100 MB"))),
    ("object column, frame", _objects, ((20, "1 kB"), (30_000, "1 MB"))),
):
    for _rows, _size in _counts:
        row("pandas", f"{_name}, {_size}")(lambda make=_make, rows=_rows: make(rows))


@row("pandas", "1,000 Timestamps")
def _stamps() -> Any:
    import pandas as pd

    return list(pd.date_range("2026", periods=1000, freq="h"))


@row("pandas", "one Timestamp with a zone")
def _stamp() -> Any:
    import pandas as pd

    return pd.Timestamp("2026-01-01", tz="Europe/Oslo")


@row("pandas", "MultiIndex, 100,000")
def _multi() -> Any:
    import pandas as pd

    return pd.MultiIndex.from_product([range(1000), list("abcdefghij") * 1, range(10)], names=["a", "b", "c"])


@row("numpy", "masked array, 8 MB")
def _masked() -> Any:
    values = np.arange(1_000_000.0)
    return np.ma.masked_array(values, mask=values % 7 == 0)


@row("numpy", "masked array, 10 items")
def _masked_small() -> Any:
    return np.ma.masked_array(np.arange(10.0), mask=[True] + 9 * [False])


@row("numpy", "Generator")
def _generator() -> Any:
    return np.random.default_rng(1)


def _table(rows: int) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(rows)
    return pa.table(
        {
            "id": np.arange(rows),
            "price": rng.random(rows),
            "text": [f"text {at % 1000}" for at in range(rows)],
            "flags": [[1, 2], None, []] * (rows // 3) + [None] * (rows % 3),
        }
    )


for _rows, _size in ((10, "1 kB"), (30_000, "1 MB"), (2_500_000, "100 MB")):
    row("pyarrow", f"Table, {_size}")(lambda rows=_rows: _table(rows))


@row("pyarrow", "100 scalars")
def _scalars() -> Any:
    import pyarrow as pa

    return [pa.scalar(at) for at in range(100)]


def _polars(rows: int) -> Any:
    import polars as pl

    return pl.from_arrow(_table(rows)).with_columns(pl.col("text").cast(pl.Categorical).alias("kind"))


for _rows, _size in ((10, "1 kB"), (30_000, "1 MB"), (2_500_000, "100 MB")):
    row("polars", f"DataFrame, {_size}")(lambda rows=_rows: _polars(rows))


def _sparse(rows: int) -> Any:
    import scipy.sparse

    return scipy.sparse.random_array((rows, 1000), density=0.01, format="csr", rng=np.random.default_rng(1))


for _rows, _size in ((8, "1 kB"), (8_000, "1 MB"), (800_000, "100 MB")):
    row("scipy", f"csr_array, {_size}")(lambda rows=_rows: _sparse(rows))


@row("sklearn", "random forest, 100 trees")
def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(1)
    return RandomForestClassifier(100, random_state=1).fit(rng.random((2000, 8)), rng.integers(0, 2, 2000))


@row("sklearn", "pipeline, linear")
def _pipeline() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(1)
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(
        rng.random((99, 8)), rng.integers(0, 2, 99)
    )


@row("shapely", "1,000 polygons")
def _polygons() -> Any:
    import shapely

    return [shapely.Point(at, at).buffer(1) for at in range(1000)]


@row("pillow", "RGB image, 3 MB")
def _image() -> Any:
    from PIL import Image

    return Image.frombytes("RGB", (1000, 1000), np.random.default_rng(1).bytes(3_000_000))


@row("networkx", "graph, 5,000 nodes")
def _network() -> Any:
    import networkx

    return networkx.gnm_random_graph(5000, 20_000, seed=1)


@row("sqlalchemy", "1,000 rows")
def _rows() -> Any:
    import sqlalchemy

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        query = "with recursive c(n) as (select 1 union all select n + 1 from c where n < 1000) select n, n * 1.5 as x, 'text ' || n as t from c"
        return connection.execute(sqlalchemy.text(query)).all()


@row("pydantic", "100 addresses")
def _urls() -> Any:
    import pydantic

    return [pydantic.HttpUrl(f"https://example.org/{at}") for at in range(100)]


@row("torch", "tensor, 1 kB")
def _tensor() -> Any:
    import torch

    return torch.ones(16, 16)


def _state(wide: int) -> Any:
    import torch

    return torch.nn.Sequential(*(torch.nn.Linear(wide, wide) for _ in range(6))).state_dict()


for _wide, _size in ((200, "1 MB"), (2000, "100 MB")):
    row("torch", f"state dict, {_size}")(lambda wide=_wide: _state(wide))


def _ratios(bundle: str, make: Make, rounds: int) -> tuple[float, float]:
    holdall.register_known(bundle)
    value = make()
    ours, theirs = holdall.dumps(value), pickle.dumps(value, 5)
    size = len(ours)
    # Both restore what was stored. What is larger is made as what is smaller.
    if size < 10_000_000:
        same(value, holdall.loads(ours), writable=False)
        same(value, pickle.loads(theirs), writable=False)
    # So many calls a turn that the clock's own cost is nothing.
    calls = max(1, min(200, 200_000 // max(size, 1)))
    rounds = max(15, min(rounds, 400_000_000 // max(size, 1)))
    order = random.Random(size)
    found = []
    for pair in (
        (lambda: pickle.dumps(value, 5), lambda: holdall.dumps(value)),
        (lambda: pickle.loads(theirs), lambda: holdall.loads(ours)),
    ):
        ratios = []
        for _ in range(rounds):
            times = [0.0, 0.0]
            for which in order.sample((0, 1), 2):
                call = pair[which]
                # What the other left over is its own.
                gc.collect()
                call()
                start = time.perf_counter()
                for _ in range(calls):
                    call()
                times[which] = time.perf_counter() - start
            ratios.append(times[0] / times[1])
        found.append(statistics.median(ratios))
    return found[0], found[1]


def _apart(at: int, rounds: int) -> tuple[float, float] | str:
    """A row's ratios, of a process that did nothing before: from the rows before this one there would be memory to use again, or none.
    Else why there are none."""
    asked = [sys.executable, "-m", "tests.bundles.ratios", "--row", str(at), "--rounds", str(rounds)]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    store, restore = json.loads(done.stdout)
    return store, restore


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--what", default="")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--print", action="store_true", dest="printed")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.row is not None:
        bundle, _, make = ROWS[args.row]
        print(json.dumps(_ratios(bundle, make, args.rounds)))
        return
    only = {name for name in args.only.split(",") if name}
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    # What isn't measured now stays as it was: PyTorch has an environment of its own.
    kept = {tuple(line.split(" | ")[:2]): line for line in table.strip().splitlines()}
    lines = ["| bundle | what | store | restore |", "|---|---|---|---|"]
    for at, (bundle, what, _) in enumerate(ROWS):
        found: tuple[float, float] | str | None = None
        if (not only or bundle in only) and args.what in what:
            found = _apart(at, args.rounds)
        if isinstance(found, str):
            print(f"{bundle}: {found}")
        elif found is not None:
            lines.append(f"| {bundle} | {what} | {found[0]:.1f} | {found[1]:.1f} |")
            print(f"{lines[-1]} ({found[0]:.3f}, {found[1]:.3f})", flush=True)
            continue
        if line := kept.get((f"| {bundle}", what)):
            lines.append(line)
    if args.printed or ((only or args.what) and not args.write):
        return
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
