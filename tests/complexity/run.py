"""Every family of hostile inputs through every door: `make complexity`.

    python -m tests.complexity.run --size 100k --size 1M --only 'keys' --door loads --door typed
    python -m tests.complexity.run --list

The table has the worst first. Exit status 1: something broke a bound (`bounds.py`).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import select
import sys
import time
from typing import IO

from tests.complexity import bounds
from tests.complexity.doors import DOORS, doors_of
from tests.complexity.family import Family, all_families
from tests.complexity.measure import Result, run, touch


def warm() -> None:
    """What happens in a process only once is done before the others are made of this one."""
    from holdall._cli import _app, _cat, _convert, _diff, _get, _inspect, _verify  # noqa: F401

    touch()
    # What is there already is nothing that a child's collector has to look at, and to copy.
    gc.collect()
    gc.freeze()


def start(family: Family, args: argparse.Namespace) -> tuple[int, IO[str]]:
    """The family, in a process of its own that writes results to a pipe."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(into)
            with os.fdopen(out, "w") as pipe:
                for result in run(family, args.size, args.door, args.every or bool(args.door)):
                    pipe.write(result.as_json() + "\n")
                    pipe.flush()
            status = 0
        finally:
            os._exit(status)
    os.close(out)
    return child, os.fdopen(into)


def measure(families: list[Family], args: argparse.Namespace) -> list[Result]:
    waiting, going, results = list(reversed(families)), {}, []
    log = open(args.out, "w") if args.out else None  # noqa: SIM115 - until the end
    while waiting or going:
        while waiting and len(going) < args.jobs:
            family = waiting.pop()
            child, pipe = start(family, args)
            going[pipe] = child, family
        for pipe in select.select(list(going), [], [])[0]:
            line = pipe.readline()
            if not line:
                child, family = going.pop(pipe)
                pipe.close()
                if os.waitpid(child, 0)[1]:
                    results.append(
                        Result(family.name, family.format, "", "", 0, "not made", verdict="error", worth=1e7)
                    )
                    print(row(results[-1]), flush=True)
                continue
            result = Result(**json.loads(line))
            results.append(result)
            if log:
                log.write(line)
                log.flush()
            if result.verdict != "ok" or args.verbose:
                print(row(result), flush=True)
    return results


def amount(count: float) -> str:
    for unit in ("", "k", "M"):
        if count < 999.5:
            return f"{count:.0f}{unit}" if unit == "" or count >= 9.95 else f"{count:.1f}{unit}"
        count /= 1000
    return f"{count:.1f}G"


def row(result: Result) -> str:
    per_byte = result.total / max(result.size, 1) * 1e6
    times = result.memory / max(result.size, 1)
    told = (
        f"{result.verdict:12} {result.family[:56]:56} {result.door[:16]:16} {amount(result.size):>5} {result.total:8.2f} s "
        f"{per_byte:8.2f} us/B {amount(result.memory):>6} {times:7.0f} x  {result.outcome}"
    )
    return told + (f" ({result.detail})" if result.detail else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only", action="append", default=[], metavar="RE", help="families whose names match"
    )
    parser.add_argument("--size", action="append", choices=list(bounds.SIZES), help="default: all")
    parser.add_argument("--door", action="append", default=[], help="doors by name; default: all")
    parser.add_argument(
        "--every",
        action="store_true",
        help="the largest size through all doors, too, not the main ones alone",
    )
    parser.add_argument("--format", action="append", help="families of that format; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="families at once; default: 1, for exact times")
    parser.add_argument("--out", help="a file for all results, as lines of JSON")
    parser.add_argument("--rows", type=int, default=60, help="so many lines of what broke no bound")
    parser.add_argument("--verbose", action="store_true", help="every result as it comes")
    parser.add_argument("--list", action="store_true", help="say which families and doors there are")
    args = parser.parse_args()
    args.size = args.size or list(bounds.SIZES)
    found = [
        family
        for family in all_families().values()
        if (not args.only or any(re.search(one, family.name) for one in args.only))
        and (not args.format or family.format in args.format)
    ]
    unknown = set(args.door) - {one.name for one in DOORS}
    if unknown or not found:
        parser.error(f"no such door: {', '.join(unknown)}" if unknown else "no such family")
    if args.list:
        for family in found:
            print(
                family.name,
                "(honest)" if family.honest else "",
                "-",
                ", ".join(one.name for one in doors_of(family)),
            )
        return 0
    if not sys.platform.startswith("linux"):
        print("memory is measured by /proc, which is Linux's")
        return 2
    warm()
    began = time.monotonic()
    results = sorted(measure(found, args), key=lambda result: -result.worth)
    broken = [result for result in results if result.verdict != "ok"]
    print("\nworst first")
    for result in [*broken, *results[len(broken) :][: args.rows]]:
        print(row(result))
    families = {result.family for result in results}
    print(
        f"\n{len(families)} families through {len({(r.format, r.door) for r in results})} doors, {len(results):,} measurements in "
        f"{time.monotonic() - began:,.0f} s: {len(broken)} broke a bound, of {len({r.family for r in broken})} families"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
