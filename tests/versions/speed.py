"""Five rows of speed on each version, beside its own pickle and msgspec: `python -m tests.versions.speed [NAME ...]`, which
`make bench-versions` calls on a machine that does nothing else.

Each row is there and back, a ratio of runs in turn in one process: how many times as fast as the other one. The best of many rounds
counts on both sides. Numbers are kept in `results.json`.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import json
import os
import pickle
import subprocess
import sys
import time
from typing import Any, Callable

ROUNDS = 40
LEAST = 0.004  # seconds of a round


@dataclasses.dataclass
class Point:
    x: int
    y: float
    name: str


class Plain:
    def __init__(self, at: int) -> None:
        self.number, self.text, self.flag = at, f"text {at}", at % 2 == 0


def records() -> Any:
    return [
        {"id": at, "name": f"name {at}", "price": at / 7, "tags": ["a", f"b{at}"], "live": at % 3 == 0}
        for at in range(1_000)
    ]


def shared() -> Any:
    parts = [{"part": at, "of": [at, at + 1]} for at in range(50)]
    return [[parts[at % 50], parts[at * 7 % 50]] for at in range(2_000)]


# Name: data, and whether msgspec keeps them.
ROWS: dict[str, tuple[Callable[[], Any], bool]] = {
    "records": (records, True),
    "dataclasses": (lambda: [Point(at, at / 3, f"point {at}") for at in range(2_000)], False),
    "instances": (lambda: [Plain(at) for at in range(2_000)], False),
    "shared parts": (shared, False),
    "a small message": (lambda: {"id": 12345, "ok": True, "user": "ann", "at": 1.5}, True),
}


def turns(
    data: Any, codecs: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]
) -> dict[str, float]:
    """Seconds of one way there and back by each, the best of the rounds, in which they take turns."""
    best = dict.fromkeys(codecs, float("inf"))
    calls = {}
    for name, (dumps, loads) in codecs.items():
        begin = time.perf_counter()
        loads(dumps(data))
        calls[name] = max(1, int(LEAST / (time.perf_counter() - begin)))
    for _ in range(ROUNDS):
        for name, (dumps, loads) in codecs.items():
            gc.collect()
            begin = time.perf_counter()
            for _ in range(calls[name]):
                loads(dumps(data))
            best[name] = min(best[name], (time.perf_counter() - begin) / calls[name])
    return best


def measured() -> dict[str, dict[str, float]]:
    import holdall

    try:
        import msgspec
    except ImportError:
        msgspec = None  # type: ignore[assignment]
    # As instances are loaded from a queue: by name.
    holdall.register(Point, name="versions.Point")
    holdall.register(Plain, name="versions.Plain")
    found = {}
    for row, (make, is_plain) in ROWS.items():
        data = make()
        codecs: dict[str, Any] = {
            "holdall": (holdall.dumps, holdall.loads),
            "pickle": (functools.partial(pickle.dumps, protocol=5), pickle.loads),
        }
        if msgspec is not None and is_plain:
            codecs["msgspec"] = (msgspec.msgpack.encode, msgspec.msgpack.decode)
        best = turns(data, codecs)
        found[row] = {name: best[name] / best["holdall"] for name in codecs if name != "holdall"}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="as 3.15; all that the tests run on, if none is given"
    )
    parser.add_argument("--here", action="store_true", help="measure this Python, and print the figures")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measured()))
        return 0
    # Not needed by the measuring itself, which other Pythons do.
    from .pythons import RELEASES, ROOT, Missing, find
    from .run import RESULTS, environment, make, said_of_build

    failed = 0
    for name in options.names or RELEASES:
        try:
            python = find(name)
        except Missing as error:
            print(f"{name} is missing: {error}", flush=True)
            continue
        built = make(name, python, "PROFILE=release", f"{environment(name)}/.stamp-test", "develop")
        if built.returncode != 0:
            failed = 1
            print(f"{name}: {said_of_build(built)}", flush=True)
            continue
        # The class of a script would be another one: `-m`, as a module.
        program = "import json, tests.versions.speed as speed; print(json.dumps(speed.measured()))"
        done = subprocess.run(
            [ROOT / environment(name) / "bin/python", "-c", program], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])},
        )  # fmt: skip
        if done.returncode != 0:
            failed = 1
            print(f"{name}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        rows = json.loads(done.stdout)
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        kept.setdefault(name, {})["speed"] = {
            row: {of: round(ratio, 2) for of, ratio in found.items()} for row, found in rows.items()
        }
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
        print(name, ", ".join(f"{row}: {found['pickle']:.1f} ×" for row, found in rows.items()), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
