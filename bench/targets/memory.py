"""Peak memory of one `loads` and one `dumps`, each in a process of its own.

Method: the child has what goes in (the bytes, or the objects) and nothing else; it collects, gives free memory back to
the system (malloc_trim) and resets the kernel's high-water mark (/proc/self/clear_refs). Peak extra memory is the
mark after the call minus the resident memory before it, so it counts every allocator: Python's, Rust's, the kernel's
pages. It is set against the objects' own sizes (sys.getsizeof of every distinct object, rounded up to the allocator's
16 bytes) for loads, and against the length of the bytes for dumps. Linux only.
"""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import holdall
from holdall_bench.isolate import Child, Crashed, with_deep_stack
from holdall_bench.memory import high_water, settle, status
from holdall_bench.suites.documents import DOCUMENTS

from . import touched
from .data import Case, scratch_folder
from .judge import HOLD_DUMP, HOLD_OPEN, JULIA_MMAP

CASES = (
    "twitter",
    "citm_catalog",
    "canada",
    "samples",
    "serbench",
    "clusters",
    "component",
    "small_ints",
    "large_ints",
    "floats",
    "julia_arrays",
    "files_arrays",
    *touched.CASES,
)
# What a child is started with, where `bench` is found.
PROGRAM = [sys.executable, "-m", "bench.targets"]
COPIES = 20  # of the documents, which alone are too small to tell from the noise
LOADS_LIMIT, DUMPS_LIMIT = 1.1, 2.2
MAPPED_CASE = "julia_arrays"
MAPPED_LIMIT = 10_000_000  # bytes of new memory for a file of any size
DUMP_CASE = "files_arrays"
DUMP_LIMIT = 16_000_000  # bytes of new memory for arrays of any size


def measure_memory(case: Case) -> list[dict[str, Any]]:
    """Rows for holdall and pickle: op, contestant, peak, reference (the bytes it is compared with)."""
    if case.name == MAPPED_CASE:
        return [measure_mapped(case)]
    if case.name == DUMP_CASE:
        return [measure_dump(case)]
    if case.name in touched.CASES:
        return [measure_touched(case)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for contestant in ("holdall", "pickle 5"):
            stored = Path(folder) / contestant.split()[0]
            row = {"case": case.name, "contestant": contestant}
            size = child(["store", case.name, contestant, str(stored)])
            if "error" in size:
                rows.append(row | size)
                continue
            rows += [
                row | {"op": op} | child([op, case.name, contestant, str(stored)])
                for op in ("loads", "dumps")
            ]
    return rows


def measure_mapped(case: Case) -> dict[str, Any]:
    """The row of a load that maps its file, in place of copying what is in it."""
    row = {"case": case.name, "contestant": JULIA_MMAP, "op": "loads"}
    return row | child(["map", case.name, JULIA_MMAP, str(case.make())])


def measure_dump(case: Case) -> dict[str, Any]:
    """The row of a dump that writes arrays from where they are."""
    row = {"case": case.name, "contestant": HOLD_DUMP, "op": "dumps"}
    path = Path(scratch_folder().name) / "dumped.hold"
    return row | child(["dump", case.name, HOLD_DUMP, str(path)], case.stand_in)


def measure_touched(case: Case) -> dict[str, Any]:
    """The row of one member of a large file: no memory but the file's, see `touched.py`."""
    row = {"case": case.name, "contestant": HOLD_OPEN, "op": "pages"}
    scratch_folder()  # made here, since the child leaves without cleaning up
    try:
        path = Child(case.make).result()
    except (RuntimeError, Crashed) as error:
        return row | {"error": str(error)}
    return row | child(["touch", case.name, HOLD_OPEN, str(path)], case.stand_in)


def child(arguments: list[str], quick: bool = False) -> dict[str, Any]:
    done = subprocess.run(
        [
            *PROGRAM,
            "--memory-child",
            *arguments,
            *["--quick"] * quick,
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def child_main(case: Case, op: str, contestant: str, stored: Path) -> dict[str, Any]:
    """What the child does: `store` leaves the bytes for the two others to find."""
    if op == "map":
        return map_file(stored)
    if op == "dump":
        return dump_file(case, stored)
    if op == "touch":
        return touched.touch(stored, case.key)
    for cls in case.classes:
        holdall.register(cls)
    if contestant == "holdall":
        return run(op, case, stored, holdall.dumps, holdall.loads)
    work = partial(run, op, case, stored, partial(pickle.dumps, protocol=5), pickle.loads)
    answer: dict[str, Any] = with_deep_stack(work) if case.deep else work()
    return answer


def run(op: str, case: Case, stored: Path, dumps: Any, loads: Any) -> dict[str, Any]:
    if op == "store":
        copies = COPIES if case.name in DOCUMENTS else 1
        stored.write_bytes(dumps([case.make() for _ in range(copies)]))
        return {}
    loads(dumps([1, 2.5, "warm"]))
    if op == "loads":
        data = stored.read_bytes()
        before = settle()
        restored = loads(data)
        return {"peak": high_water() - before, "reference": total_size(restored)}
    data = loads(stored.read_bytes())
    before = settle()
    written = dumps(data)
    return {"peak": high_water() - before, "reference": len(written)}


def map_file(path: Path) -> dict[str, Any]:
    """What the process has for itself: not the file's pages, which the kernel has already and maps (by 2 MB, on some)."""
    import numpy as np

    from holdall import julia

    julia.loads(julia.dumps({"warm": np.zeros((2, 2), np.float32)}))
    before, pages = settle(), status("RssFile")
    arrays = julia.load(path, mmap=True)
    peak = high_water() - before - (status("RssFile") - pages)
    return {"peak": peak, "reference": sum(array.nbytes for array in arrays.values())}


def dump_file(case: Case, path: Path) -> dict[str, Any]:
    """The arrays are in memory before; what the kernel keeps of the file is not the process's."""
    import numpy as np

    holdall.dump({"warm": np.zeros((1 << 10, 2), np.float32)}, path)
    arrays = case.make()
    before = settle()
    holdall.dump(arrays, path)
    peak = high_water() - before
    path.unlink()
    return {"peak": peak, "reference": sum(array.nbytes for array in arrays.values())}


def total_size(root: Any) -> int:
    """Bytes of all distinct objects reachable from `root`, classes and their like left out."""
    seen: set[int] = set()
    stack = [root]
    total = 0
    while stack:
        obj = stack.pop()
        if id(obj) in seen or isinstance(obj, type):
            continue
        seen.add(id(obj))
        total += (sys.getsizeof(obj) + 15) & ~15
        stack.extend(gc.get_referents(obj))
    return total
