"""Writes the figures of the last `make bench` into the pages of `docs/`, each table between markers of its own.

After a run of some data sets (`--only`), the tables of the others stay as they are.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

from holdall_bench.results import COPIES, SAME
from holdall_bench.suites.documents import DOCUMENTS

from .judge import (
    BSON,
    BSON_DROP_IN,
    BSON_OPEN,
    ELSEWHERE,
    HOLD,
    HOLD_MMAP,
    HOLD_OPEN,
    JOBLIB,
    JULIA,
    JULIA_MMAP,
    JULIA_OPEN,
    LISP,
    LISP_MMAP,
    MSGPACK,
    PICKLE,
    PLAIN,
    PYMONGO,
    PYMONGO_LAZY,
    RAW,
    READ,
    SAFE_FILE,
    SAFE_OPEN,
    SAVEZ,
    SBCL,
    Results,
    elsewhere_ratio,
    rival_ratio,
)
from .timing import ratio

REPO = pathlib.Path(__file__).resolve().parents[2]
# Variants of holdall itself, lower bounds, and peers that were given other classes than the user's.
LEFT_OUT = ("holdall", "floor", "pickle 5")


def next_fastest(record: dict[str, Any], op: str, ours: str = "holdall", among: tuple[str, ...] = ()) -> str:
    """The fastest peer that gives the data back, at least as a tree, and how many times longer it takes."""
    times = record["times"]["on"][op]
    found = []
    for name, verdict in record["verdicts"].items():
        if name.startswith(LEFT_OUT) or name.endswith("*") or verdict["kind"] not in (SAME, COPIES):
            continue
        if among and name not in among:
            continue
        value = ratio(times, name, ours)
        if value is not None:
            found.append((value, name))
    return "{1} {0:.1f}×".format(*min(found)) if found else ""


def table(results: dict[str, Any]) -> str:
    lines = [
        "| data | size ÷ pickle's | dumps | loads | next to it, dumps | next to it, loads |",
        "|---|---|---|---|---|---|",
    ]
    for record in results["records"].values():
        if record["typed"] or record["ours"] != "holdall" or record["case"].startswith("files_"):
            continue
        times = record["times"]["on"]
        gains = [ratio(times[op], "pickle 5", "holdall") for op in ("dumps", "loads")]
        size = record["sizes"]["holdall"] / record["sizes"]["pickle 5"]
        cells = [record["title"], f"{size:.2f}", *(f"{gain:.1f}×" if gain else "" for gain in gains)]
        cells += [next_fastest(record, op) for op in ("dumps", "loads")]
        lines.append(f"| {' | '.join(cells)} |")
    note = '"Next to it" is the fastest peer that gives the values back, and how many times longer it takes than holdall.'
    return "\n".join([*lines, "", f"{note} {results['machine']}.", ""])


def against_msgspec(record: dict[str, Any], op: str, ours: str) -> str:
    """msgspec's time over ours: with the same classes, and in brackets with Structs of its own."""
    times = record["times"]["on"][op]
    same, structs = (ratio(times, name, ours) for name in ("msgspec typed", "msgspec Struct*"))
    return f"{same:.1f}×" + (f" ({structs:.1f}×)" if structs else "") if same else ""


def typed_table(results: dict[str, Any]) -> str:
    records = results["records"]
    lines = [
        "| typed | hold, loads | hold, dumps | MessagePack, loads | MessagePack, dumps | hold against pickle: dumps, loads |",
        "|---|---|---|---|---|---|",
    ]
    for record in records.values():
        if not record["typed"] or record["ours"] != "holdall":
            continue
        cells = [record["title"].removeprefix("typed: ")]
        cells += [
            against_msgspec(record, op, ours) for ours in ("holdall", MSGPACK) for op in ("loads", "dumps")
        ]
        gains = [ratio(record["times"]["on"][op], "pickle 5", "holdall") for op in ("dumps", "loads")]
        cells.append(", ".join(f"{gain:.1f}×" for gain in gains if gain))
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "How many times as fast as msgspec with MessagePack and the same dataclasses; in brackets, with Structs of its own.",
        "",
        "| MessagePack, untyped | dumps, next to it | loads, next to it |",
        "|---|---|---|",
    ]
    for name in DOCUMENTS:
        if name in records:
            cells = [
                next_fastest(records[name], op, MSGPACK, ("msgspec.msgpack", "ormsgpack"))
                for op in ("dumps", "loads")
            ]
            lines.append(f"| {records[name]['title']} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", first_use_text(results["first_use"]), ""])


def bson_table(results: dict[str, Any]) -> str:
    """Against PyMongo; a cell is empty where somebody's result was wrong."""
    records: Results = {name: r for name, r in results["records"].items() if name.startswith("bson_")}

    def row(case: str, *rivals: tuple[str, str, str]) -> str:
        gains = [rival_ratio(records, case, op, peer, ours=ours) for op, ours, peer in rivals]
        title = records[case]["title"].partition(": ")[2]
        return f"| {title} | {' | '.join(f'{gain:.1f}×' if gain else '' for gain in gains)} |"

    plain = [name for name, record in records.items() if not record["typed"] and name != "bson_lazy"]
    lines = [
        "| BSON, untyped | encode | decode | dumps | loads |",
        "|---|---|---|---|---|",
        *[
            row(name, *[(op, ours, PYMONGO) for ours in (BSON_DROP_IN, BSON) for op in ("dumps", "loads")])
            for name in plain
        ],
        "",
        "How many times as fast as PyMongo's C extension: by PyMongo's names and with its results, and by holdall's own.",
        "",
        "| BSON, loaded by type | msgspec.convert | pydantic, the same dataclasses | pydantic, models |",
        "|---|---|---|---|",
        *[
            row(name, *[("loads", BSON, peer) for peer in ("msgspec.convert", "pydantic", "pydantic Model*")])
            for name, record in records.items()
            if record["typed"]
        ],
        "",
        "How many times as fast as PyMongo's `decode` and then the other.",
        "",
    ]
    if "bson_lazy" in records:
        whole, raw = (
            rival_ratio(records, "bson_lazy", "loads", peer, ours=BSON_OPEN)
            for peer in (PYMONGO, PYMONGO_LAZY)
        )
        if whole and raw:
            lines += [
                "One text deep in a file of 150 MB, by `holdall.bson.open`: "
                f"{whole:,.0f}× as fast as PyMongo's `decode`, {raw:,.0f}× as fast as its `RawBSONDocument`.",
                "",
            ]
    return "\n".join(lines)


def julia_table(results: dict[str, Any]) -> str:
    """Against Julia's own packages, scaled; and against what Python has for the same bytes."""
    records: Results = results["records"]
    others = (BSON_DROP_IN, PYMONGO, "pickle 5")
    lines = [
        "| serbench's document as slotted dataclasses | "
        + " | ".join(f"{name}, dumps | loads" for name in others)
        + " |",
        "|---|" + "---|" * 2 * len(others),
    ]
    for name in ("julia_serbench", "julia_serbench_full"):
        if name in records:
            gains = [
                rival_ratio(records, name, op, peer, ours=JULIA)
                for peer in others
                for op in ("dumps", "loads")
            ]
            cells = [records[name]["title"].partition(": ")[2]]
            cells += [f"{gain:.1f}×" if gain else "" for gain in gains]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "How many times as fast as the others: BSON codecs with the same bytes and plain dicts, pickle with the same instances.",
        "",
    ]
    found = [(target, elsewhere_ratio(records, target)) for target in ELSEWHERE if target.collector == "on"]
    if all(ratios for _, ratios in found):
        lines += [
            "| the document of 146 MB | there | here, scaled | holdall.julia | times as fast |",
            "|---|---|---|---|---|",
        ]
        for target, ratios in found:
            assert ratios is not None
            value, took, scale = ratios
            lines.append(
                f"| {target.who} | {target.seconds:g} s | {target.seconds * scale:.2f} s | {took:.2f} s | {value:.1f}× |"
            )
        lines += [
            "",
            "The packages ran in Julia 1.5.3 on another machine. `pickle.loads` of 100,000 small dataclasses, timed on both, gives the scale.",
            "",
        ]
    lines += julia_files(records)
    return "\n".join(lines)


def julia_files(records: Results) -> list[str]:
    """A sentence for each of the rows that begin with a file."""
    lines = []
    opened = rival_ratio(records, "julia_lazy", "loads", JULIA, ours=JULIA_OPEN)
    if opened:
        lines += [f"One text deep in its file, by `open`: {opened:,.0f}× as fast as by `load`.", ""]
    copied = rival_ratio(records, "julia_arrays", "loads", JULIA, ours=READ)
    if copied:
        mapped = median(records["julia_arrays"]["times"]["on"]["loads"][JULIA_MMAP]) / 1e6
        lines += [
            f"A file of 548 MiB, 38 arrays: `load` takes {copied:.2f}× the time of reading the file, `load(mmap=True)` {mapped:.2f} ms.",
            "",
        ]
    return lines


def lisp_table(results: dict[str, Any]) -> str:
    """Our time over SBCL's, beside its milliseconds; in both of its ways to store."""
    lines = [
        "| data | references, dumps | loads | `refs=False`, dumps | loads |",
        "|---|---|---|---|---|",
    ]
    for name, record in results["records"].items():
        if name.startswith("sbcl_"):
            cells = [record["title"].partition(": ")[2]]
            for suffix in ("", PLAIN):
                for op in ("dumps", "loads"):
                    value = rival_ratio({name: record}, name, op, SBCL + suffix, ours=LISP + suffix)
                    took = record["times"]["on"][op].get(SBCL + suffix)
                    cells.append(f"{1 / value:.2f} ({median(took) / 1e6:.2f} ms)" if value and took else "")
                    value = rival_ratio({name: record}, name, op, SBCL + suffix, ours=LISP_MMAP)
                    cells[-1] += f"; `mmap=True` {1 / value:.2f}" if value else ""
            lines.append(f"| {' | '.join(cells)} |")
    processor, _, packages = results["machine"].partition("; ")
    shown = [each for each in packages.split(", ") if each.startswith(("holdall", "numpy", "SBCL", "cl-"))]
    note = "Our time over SBCL's, in brackets SBCL's own. It stores into memory that it has, and its collector runs outside of the time."
    return "\n".join([*lines, "", f"{note} {processor}; {', '.join(shown)}.", ""])


def files_table(results: dict[str, Any]) -> str:
    """Against the disk and those who write arrays; then what is read of a large file, and a log's records."""
    records: Results = {
        name: r for name, r in results["records"].items() if name.startswith("files_") and not r["stand_in"]
    }
    peers = (RAW, PICKLE, JOBLIB, SAVEZ, SAFE_FILE)
    lines = [f"| 38 arrays, 548 MiB | {' | '.join(peers)} |", "|---|" + "---|" * len(peers)]
    for name, op, title in (
        ("files_arrays", "dumps", "dump"),
        ("files_arrays_unsynced", "dumps", "dump, `sync=False`"),
        ("files_arrays", "loads", "load"),
    ):
        gains = [rival_ratio(records, name, op, peer) for peer in peers]
        lines.append(f"| {title} | {' | '.join(f'{gain:.2f}×' if gain else '' for gain in gains)} |")
    lines += [
        "",
        "How many times as fast as the others. Raw bytes: the arrays' memory written as it is, and the file read into fresh memory.",
        "",
    ]
    return "\n".join([*lines, *files_members(records), *files_log(records)])


def files_members(records: Results) -> list[str]:
    """A sentence for each way to read a part of a file."""
    lines = []
    touched = [
        rival_ratio(records, "files_touch", "loads", peer, ours=HOLD_MMAP) for peer in (SAFE_OPEN, SAFE_FILE)
    ]
    if all(touched):
        one, whole = touched
        lines += [
            f"One of these arrays, by `load(mmap=True)`: {one:.1f}× as fast as safetensors' `safe_open`, {whole:,.0f}× as its `load_file`.",
            "",
        ]
    for name, what in (
        ("files_member", "One of 1,000,000 members of a file of 1 GB"),
        ("files_element", "The last of 10,000,000 elements"),
    ):
        times = records.get(name, {}).get("times", {}).get("on", {}).get("loads", {}).get(HOLD_OPEN)
        if times:
            lines += [f"{what}, by `open`: {median(times) / 1e6:.2f} ms.", ""]
    return lines


def files_log(records: Results) -> list[str]:
    log = records.get("files_log")
    if log is None:
        return []
    count, times = log["records"], log["times"]["on"]
    lines = [
        f"| {log['title'].partition(': ')[2]} | bytes for each | million written in a second | million read |",
        "|---|---|---|---|",
    ]
    for name in sorted(log["sizes"], key=lambda name: name != HOLD):
        speeds = [f"{count / median(times[op][name]) * 1e3:.2f}" for op in ("dumps", "loads")]
        lines.append(f"| {name} | {log['sizes'][name] / count:.1f} | {' | '.join(speeds)} |")
    return [*lines, ""]


def first_use_text(measured: dict[str, dict[str, float | None]]) -> str:
    parts = [f"{what} {times['holdall']:.1f} ms" for what, times in measured.items() if times.get("holdall")]
    return f"First use, a class of 50 fields and ten classes within: {', '.join(parts)}."


def put(page: str, start: str, end: str, text: str) -> str:
    if page.count(start) != 1 or page.count(end) != 1:
        sys.exit(f"the page has no place for these figures: {start.strip()} ... {end}")
    before, rest = page.split(start)
    return before + start + text + end + rest.split(end)[1]


def main() -> None:
    results = json.loads((REPO / "bench" / "results" / "latest.json").read_text())
    if results["quick"]:
        sys.exit("the last run was a quick one, for orientation only: run `make bench`")
    for name, marker, first, make in TABLES:
        if any(case.startswith(first) for case in results["records"]):
            path = REPO / "docs" / name
            page = path.read_text(encoding="utf-8")
            start, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
            path.write_text(put(page, start, end, make(results)), encoding="utf-8")


# Page, the marker of the table on it, how data sets begin without which there is nothing to write, and what makes it.
TABLES: list[tuple[str, str, str, Callable[[dict[str, Any]], str]]] = [
    ("benchmarks.md", "figures", "samples", table),
    ("benchmarks.md", "typed figures", "typed_", typed_table),
    ("benchmarks.md", "bson figures", "bson_", bson_table),
    ("benchmarks.md", "files figures", "files_", files_table),
    ("julia.md", "julia figures", "julia_", julia_table),
    ("lisp.md", "sbcl figures", "sbcl_", lisp_table),
]


if __name__ == "__main__":
    main()
