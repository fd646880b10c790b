"""cl-binary-store's own data sets: SBCL with the library, and `holdall.lisp`, on the same bytes.

    CL_BINARY_STORE=folder python -m bench.targets.lisp_store [--rounds N]

Both sides take turns; of each the least time is told. Lisp's collector runs between its rounds, and Python's doesn't run during
ours: neither is counted. The values are checked: what Lisp reads, we have written; what we read is equal to what was written.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdall import lisp
from tests.support.places import REPO

from .data import lisp_sets

TURNS = 3
# Data set, arguments, and whether its conses are pairs that share.
SETS: dict[str, dict[str, int]] = {
    "long_list_of_tiny_integers": {}, "long_list_of_not_tiny_integers": {}, "long_list_of_random_fixnums": {},
    "lots_of_keywords": {}, "lots_of_structure_objects": {}, "simple_strings": {}, "long_complex_list": {},
    "list_of_double_float_matrices": {}, "a_bunch_of_specialized_arrays": {"n": 100_000},
    "long_list_of_random_double_floats": {}, "lots_of_the_same_string": {}, "a_lot_of_people_and_addresses": {},
    "a_pile_of_tangled_conses": {"number": 100_000},
}  # fmt: skip


def as_lisp(name: str, value: Any) -> Any:
    """The set as Lisp has it: keywords, conses."""
    if name == "lots_of_keywords":
        known: dict[str, lisp.Symbol] = {}
        return [known.setdefault(text, lisp.keyword(text)) for text in value]
    if name == "long_complex_list":
        return [lisp.Cons(*one) if type(one) is tuple and one else one for one in value]
    if name == "a_pile_of_tangled_conses":
        conses: dict[int, lisp.Cons] = {}

        def cons(pair: Any) -> Any:
            if type(pair) is not list or len(pair) != 2:
                return pair
            return conses.setdefault(id(pair), lisp.Cons(None, None))

        for pair in value:
            made = cons(pair)
            made.car, made.cdr = cons(pair[0]), cons(pair[1])
        return tuple(conses[id(pair)] for pair in value)
    return value


def least(function: Callable[[], Any], rounds: int) -> float:
    """Milliseconds, without those that it takes to free the result."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        made = function()
        best = min(best, time.perf_counter() - start)
        del made
    return best * 1e3


def by_sbcl(folder: Path, rounds: int) -> dict[str, tuple[float, float]]:
    script = Path(__file__).with_suffix(".lisp")
    environment = {
        **os.environ,
        "FOLDER": str(folder),
        "ROUNDS": str(rounds),
        "STUB": str(REPO / "tests" / "lisp" / "stub"),
    }
    command = [
        "sbcl",
        "--dynamic-space-size",
        "4GB",
        "--control-stack-size",
        "500MB",
        "--noinform",
        "--no-userinit",
        "--disable-debugger",
    ]
    run = subprocess.run(
        [*command, "--load", str(script), "--quit"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in run.stdout.splitlines() if line.count(" ") == 2]
    return {name: (float(written), float(read)) for name, written, read in lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="in each of three turns")
    rounds = parser.parse_args().rounds
    module = lisp_sets()
    if module is None or shutil.which("sbcl") is None or not os.environ.get("CL_BINARY_STORE"):
        print(
            "bench-lisp did not run: it needs the shared data sets, sbcl, and CL_BINARY_STORE=the library's source"
        )
        return 0
    for cls in vars(module).values():
        if dataclasses.is_dataclass(cls) and isinstance(cls, type):
            lisp.struct(f"BENCH::{cls.__name__.upper()}", cls)
    data: dict[str, tuple[Any, bytes, bool]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, arguments in SETS.items():
            value = as_lisp(name, getattr(module, name)(**arguments))
            for refs in (False, True):
                if refs or "tangled" not in name:
                    label = f"{name}-{'refs' if refs else 'plain'}"
                    written = lisp.dumps(value, refs=refs)
                    assert lisp.dumps(lisp.loads(written), refs=refs) == written, name
                    (folder / f"{label}.bin").write_bytes(written)
                    data[label] = value, written, refs
        gc.collect()
        gc.freeze()
        ours: dict[str, list[tuple[float, float]]] = {label: [] for label in data}
        theirs: dict[str, list[tuple[float, float]]] = {label: [] for label in data}
        for _ in range(TURNS):
            for label, times in by_sbcl(folder, rounds).items():
                theirs[label].append(times)
            for label, (value, written, refs) in data.items():
                storing = least(lambda value=value, refs=refs: lisp.dumps(value, refs=refs), rounds)
                ours[label].append((storing, least(lambda written=written: lisp.loads(written), rounds)))
    print(f"{'ms: holdall.lisp, SBCL':42}{'bytes':>10}  {'write':>22}  {'read':>22}")
    for label, (_, written, _) in data.items():
        cells = []
        for side in (0, 1):
            one, other = (
                min(times[side] for times in ours[label]),
                min(times[side] for times in theirs[label]),
            )
            cells.append(f"{one:7.2f} {other:7.2f} {one / max(other, 1e-3):5.2f}x")
        print(f"{label:42}{len(written):10}  {cells[0]:>22}  {cells[1]:>22}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
