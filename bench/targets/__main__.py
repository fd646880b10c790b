"""The command line: measures each data set in a process of its own, then prints and saves the tables."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from holdall_bench.memory import supported

from .bson_cases import bson_cases
from .data import ROOT, Case, cases
from .files_cases import files_cases
from .first_use import NAME as FIRST_USE
from .first_use import TITLE as FIRST_USE_TITLE
from .first_use import measure_first_use
from .julia_cases import julia_cases
from .lisp_cases import lisp_store_cases
from .measure import measure
from .memory import CASES as MEMORY_CASES
from .memory import PROGRAM, child_main, measure_memory
from .report import Report
from .timing import Budget

QUICK, QUICK_EXTRA = Budget(0.6, 3), Budget(0.3, 3)
FULL, FULL_EXTRA, FULL_HEAVY = Budget(4.0, 7), Budget(1.5, 5), Budget(1.0, 3)
WIDTH = 140  # where there is no terminal to ask
COLLECTORS = {"on": [True], "off": [False], "both": [True, False]}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.targets", description="holdall against its peers and the lower bound"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: figures for orientation")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="this data set only, or all whose names begin so: bson, files, julia, lisp, sbcl, typed (may be given again)",
    )
    parser.add_argument(
        "--gc", choices=COLLECTORS, default="both", help="garbage collector on, as users run, or off"
    )
    parser.add_argument("--no-memory", action="store_true", help="leave out the memory rows")
    parser.add_argument("--list", action="store_true", help="the names of the data sets")
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--memory-child", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    known = {
        case.name: case
        for case in [
            *cases(),
            *bson_cases(),
            *julia_cases(options.quick),
            *lisp_store_cases(),
            *files_cases(options.quick),
        ]
    }
    if options.list:
        titles = {name: case.title for name, case in known.items()} | {FIRST_USE: FIRST_USE_TITLE}
        print("\n".join(f"{name:40} {title}" for name, title in titles.items()))
    elif options.memory_child:
        op, name, contestant, stored = options.memory_child
        print(json.dumps(child_main(known[name], op, contestant, Path(stored))))
    elif options.child:
        print(
            json.dumps(
                measure(
                    known[options.child], budget(known[options.child], options.quick), COLLECTORS[options.gc]
                )
            )
        )
    else:
        unknown = [name for name in options.only if not called(known, name) and name != FIRST_USE]
        if unknown:
            sys.exit(f"no data set is called {', '.join(unknown)}; see --list")
        names = [name for asked in options.only for name in called(known, asked)] if options.only else known
        run_all([known[name] for name in dict.fromkeys(names)], options)


def called(known: dict[str, Case], asked: str) -> list[str]:
    """The data set of this name, or the family whose names begin with it."""
    return [asked] if asked in known else [name for name in known if name.startswith(f"{asked}_")]


def budget(case: Case, quick: bool) -> Budget:
    if quick:
        return QUICK if case.core else QUICK_EXTRA
    return FULL_HEAVY if case.heavy else FULL if case.core else FULL_EXTRA


def run_all(chosen: list[Case], options: argparse.Namespace) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    report = Report(console, quick=options.quick)
    for reason in dict.fromkeys(case.missing for case in chosen if case.missing):
        left_out = ", ".join(case.name for case in chosen if case.missing == reason)
        console.print(f"[yellow]not measured: {left_out}: {reason}[/]\n", highlight=False)
    chosen = [case for case in chosen if not case.missing]
    for case in chosen:
        with console.status(f"measuring {case.title}"):
            record = in_child(case, options)
        report.add(record)
    if not options.only or FIRST_USE in options.only:
        with console.status(f"measuring {FIRST_USE_TITLE}"):
            report.first_use = measure_first_use(options.quick)
    if not options.no_memory:
        if supported():
            for case in chosen:
                if case.name in MEMORY_CASES:
                    with console.status(f"memory of {case.title}"):
                        report.memory += measure_memory(case)
        else:
            console.print("[yellow]no memory rows: /proc/self/clear_refs is not to be had here[/]")
    report.finish(ROOT / "bench" / "results")


def in_child(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """The record of one data set. A process that dies leaves a record with the reason in it."""
    command = [*PROGRAM, "--child", case.name, "--gc", options.gc]
    done = subprocess.run(command + ["--quick"] * options.quick, capture_output=True, text=True)
    if done.returncode != 0:
        reason = "\n".join(done.stderr.strip().splitlines()[-3:]) or f"exit code {done.returncode}"
        return {"case": case.name, "title": case.title, "error": reason}
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


if __name__ == "__main__":
    main(sys.argv[1:])
