"""Puts the figures of the last `make bench` into the README, between its two markers."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from bench.check import SAME, TREE
from bench.timing import ratio

REPO = pathlib.Path(__file__).resolve().parents[1]
START, END = "<!-- figures -->\n", "<!-- end of figures -->"
# Variants of holdall itself, lower bounds, and peers that were given other classes than the user's.
LEFT_OUT = ("holdall", "floor", "pickle 5")


def next_fastest(record: dict[str, Any], op: str) -> str:
    """The fastest peer that gives the data back, at least as a tree, and how many times longer it takes."""
    times = record["times"]["on"][op]
    found = []
    for name, verdict in record["verdicts"].items():
        if name.startswith(LEFT_OUT) or name.endswith("*") or verdict["kind"] not in (SAME, TREE):
            continue
        value = ratio(times, name, "holdall")
        if value is not None:
            found.append((value, name))
    return "{1} {0:.1f}×".format(*min(found)) if found else ""


def table(results: dict[str, Any]) -> str:
    lines = [
        "| data | size ÷ pickle's | dumps | loads | next to it, dumps | next to it, loads |",
        "|---|---|---|---|---|---|",
    ]
    for record in results["records"].values():
        times = record["times"]["on"]
        gains = [ratio(times[op], "pickle 5", "holdall") for op in ("dumps", "loads")]
        size = record["sizes"]["holdall"] / record["sizes"]["pickle 5"]
        cells = [record["title"], f"{size:.2f}", *(f"{gain:.1f}×" if gain else "" for gain in gains)]
        cells += [next_fastest(record, op) for op in ("dumps", "loads")]
        lines.append(f"| {' | '.join(cells)} |")
    note = '"Next to it" is the fastest peer that gives the values back, and how many times longer it takes than holdall.'
    return "\n".join([*lines, "", f"{note} {results['machine']}.", ""])


def main() -> None:
    results = json.loads((REPO / "bench" / "results" / "latest.json").read_text())
    if results["quick"]:
        sys.exit("the last run was a quick one, for orientation only: run `make bench`")
    page = REPO / "README.md"
    before, rest = page.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    page.write_text(before + START + table(results) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
