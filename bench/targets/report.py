"""Tables for the terminal, and the same as Markdown and JSON in `bench/results/`."""

from __future__ import annotations

import json
import platform
from contextlib import suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from holdall_bench.results import CHANGED, COPIES, FAILED, SAME
from holdall_bench.units import time_text

from . import lisp_peers
from .first_use import CONTESTANTS, TITLE, Measured, first_use_lines
from .judge import BSON_DROP_IN, RAW, YARDSTICK, Line, judge
from .memory import DUMP_CASE, DUMP_LIMIT, DUMPS_LIMIT, LOADS_LIMIT, MAPPED_CASE, MAPPED_LIMIT
from .timing import ratio
from .touched import CASES as TOUCHED_CASES
from .touched import LIMIT as TOUCHED_LIMIT

PACKAGES = (
    "holdall",
    "msgspec",
    "ormsgpack",
    "orjson",
    "pyfory",
    "cloudpickle",
    "numpy",
    "pymongo",
    "pydantic",
    "joblib",
    "safetensors",
)
# Of memory that the arrays of a file need.
MEMORY_LIMITS = {MAPPED_CASE: MAPPED_LIMIT, DUMP_CASE: DUMP_LIMIT}
VERDICT_STYLE = {SAME: "green", COPIES: "yellow", CHANGED: "red", FAILED: "dim"}


class Report:
    """Collects the records, prints each as it comes, and the judgement at the end."""

    def __init__(self, console: Console, quick: bool) -> None:
        self.console = console
        self.quick = quick
        self.records: dict[str, dict[str, Any]] = {}
        self.memory: list[dict[str, Any]] = []
        self.first_use: Measured = {}
        self.notes: set[str] = set()

    def add(self, record: dict[str, Any]) -> None:
        if "error" in record:
            self.console.print(f"[red]{record['title']}: the run failed:[/] {escape(record['error'])}\n")
            return
        self.records[record["case"]] = record
        self.print(self.console, record)
        if record["note"] and record["note"] not in self.notes:
            self.notes.add(record["note"])
            self.console.print(f"[yellow]{escape(record['note'])}[/]")

    def print(self, console: Console, record: dict[str, Any]) -> None:
        console.print(case_table(record))
        for name, verdict in record["verdicts"].items():
            if verdict["kind"] in (CHANGED, FAILED):
                style = VERDICT_STYLE[verdict["kind"]]
                console.print(
                    f"  [{style}]{name}: {verdict['kind']}: {escape(verdict['detail'][:150])}[/]",
                    highlight=False,
                )
        if any(name.endswith("*") for name in record["verdicts"]):
            console.print("  * the same data in classes of its own", style="dim")
        if BSON_DROP_IN in record["verdicts"]:
            console.print("  drop-in: PyMongo's names, encode and decode", style="dim", highlight=False)
        if YARDSTICK in record["verdicts"]:
            text = "yardstick: pickle.loads of 100,000 slotted dataclasses (float, str), which scales times of another machine"
            console.print(f"  {text}", style="dim", highlight=False)
        if RAW in record["verdicts"]:
            text = "raw bytes: what the disk and the kernel can do, with no format at all"
            console.print(f"  {text}", style="dim", highlight=False)
        for line in record_lines(record):
            console.print(f"  {line}", highlight=False)
        console.print()

    def finish(self, folder: Path) -> None:
        """Print the judgement; write `latest.json` and `latest.md` into `folder`."""
        lines = judge(self.records) + first_use_lines(self.first_use) + memory_lines(self.memory)
        self.summary(self.console, lines)
        folder.mkdir(parents=True, exist_ok=True)
        everything = {
            "machine": machine(),
            "quick": self.quick,
            "targets": [line._asdict() for line in lines],
            "memory": self.memory,
            "first_use": self.first_use,
            "records": self.records,
        }
        (folder / "latest.json").write_text(json.dumps(everything, indent=1))
        text = Console(file=StringIO(), width=150, color_system=None)
        text.print(machine())
        for record in self.records.values():
            self.print(text, record)
        self.summary(text, lines)
        assert isinstance(text.file, StringIO)
        (folder / "latest.md").write_text(f"# holdall against its peers\n\n```\n{text.file.getvalue()}```\n")
        self.console.print("Written to bench/results/latest.json and latest.md.")

    def summary(self, console: Console, lines: list[Line]) -> None:
        if self.first_use:
            console.print(first_use_table(self.first_use))
        if self.memory:
            console.print(memory_table(self.memory))
        console.print(target_table(lines))
        met = sum(line.met is True for line in lines)
        missed = sum(line.met is False for line in lines)
        unmeasured = len(lines) - met - missed
        kind = "quick run, for orientation only: " if self.quick else ""
        console.print(
            f"{kind}{met} met, {missed} not met" + (f", {unmeasured} not measured" if unmeasured else "")
        )


def machine() -> str:
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} missing")
    versions += lisp_peers.versions()
    now = datetime.now().astimezone().isoformat(" ", "minutes")
    return f"{processor()}, {platform.python_implementation()} {platform.python_version()}, {now}; {', '.join(versions)}"


def processor() -> str:
    """Its name where Linux tells it, else its architecture."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2]
    return platform.machine()


def case_table(record: dict[str, Any]) -> Table:
    """Sizes and times; in brackets how many times longer it took than the first of holdall's."""
    table = new_table(f"{record['title']}  [dim]({record['case']})[/]")
    table.add_column("", no_wrap=True)
    for column in ("bytes", "/pickle"):
        table.add_column(column, justify="right", no_wrap=True)
    for collector in record["times"]:
        for op in ("dumps", "loads"):
            table.add_column(f"{op}, gc {collector}", justify="right", no_wrap=True)
    table.add_column("gives back", no_wrap=True)
    pickled = record["sizes"].get("pickle 5")
    for name, verdict in record["verdicts"].items():
        kind = verdict["kind"]
        if kind not in (SAME, COPIES):
            continue
        size = record["sizes"].get(name)
        share = f"{size / pickled:.2f}" if size and pickled else ""
        times = [
            time_cell(ops[op], name, record["ours"])
            for ops in record["times"].values()
            for op in ("dumps", "loads")
        ]
        bound = name.startswith("floor")
        back = "lower bound" if bound else f"[{VERDICT_STYLE[kind]}]{kind}[/]"
        style = "bold" if name == record["ours"] else "dim" if bound else None
        table.add_row(name, f"{size:,}" if size else "", share, *times, back, style=style)
    return table


def record_lines(record: dict[str, Any]) -> list[str]:
    """Of a log: what a record takes of each contestant's time and bytes."""
    count = record["records"]
    if count is None:
        return []
    times = record["times"].get("on") or record["times"]["off"]
    return [
        f"{name}: {size / count:.1f} bytes for a record; "
        f"{count / median(times['dumps'][name]) * 1e3:.2f} million written in a second, "
        f"{count / median(times['loads'][name]) * 1e3:.2f} million read"
        for name, size in record["sizes"].items()
    ]


def new_table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)


def time_cell(times: dict[str, list[float]], name: str, ours: str) -> str:
    if name not in times:
        return ""
    value = ratio(times, name, ours)
    return time_text(median(times[name])) + (f" [cyan]({value:.2f})[/]" if value is not None else "")


def memory_lines(rows: list[dict[str, Any]]) -> list[Line]:
    lines = []
    for row in rows:
        if "error" in row:
            continue
        if row["case"] in MEMORY_LIMITS:
            peak, most = row["peak"], MEMORY_LIMITS[row["case"]]
            what, required = f"new memory, {row['contestant']}", f"< {most / 1e6:g} MB"
            lines.append(Line(row["case"], what, required, f"{peak / 1e6:.2f} MB", peak < most))
        if row["case"] in TOUCHED_CASES:
            share = row["peak"] / row["reference"]
            what, required = f"pages touched, {row['contestant']}", f"< {TOUCHED_LIMIT:.0%} of the file"
            measured = f"{share:.3%} (read ahead by the kernel: {row['read'] / row['reference']:.1%})"
            lines.append(Line(row["case"], what, required, measured, share < TOUCHED_LIMIT))
        if row["contestant"] != "holdall":
            continue
        limit = LOADS_LIMIT if row["op"] == "loads" else DUMPS_LIMIT
        value = row["peak"] / row["reference"]
        of = "the objects" if row["op"] == "loads" else "the output"
        lines.append(
            Line(
                row["case"],
                f"peak memory of {row['op']}",
                f"≤ {limit}x {of}",
                f"{value:.2f}x",
                value <= limit,
            )
        )
    return lines


def memory_table(rows: list[dict[str, Any]]) -> Table:
    table = new_table("Peak extra memory, in a process of its own (bench/targets/memory.py says how)")
    for column in ("data", "", "op"):
        table.add_column(column)
    for column in ("peak extra", "objects / output", "ratio"):
        table.add_column(column, justify="right")
    for row in rows:
        if "error" in row:
            table.add_row(
                row["case"], row["contestant"], row.get("op", ""), escape(row["error"][:60]), "", ""
            )
            continue
        peak, reference = row["peak"], row["reference"]
        table.add_row(
            row["case"],
            row["contestant"],
            row["op"],
            f"{peak / 1e6:.2f} MB",
            f"{reference / 1e6:.2f} MB",
            f"{peak / reference:.2f}",
        )
    return table


def first_use_table(measured: Measured) -> Table:
    table = new_table(f"First use: {TITLE} (bench/targets/first_use.py says how)")
    table.add_column("")
    for name in CONTESTANTS:
        table.add_column(name, justify="right")
    for what, times in measured.items():
        cells = [times.get(name) for name in CONTESTANTS]
        table.add_row(what, *("failed" if cell is None else f"{cell:.2f} ms" for cell in cells))
    return table


def target_table(lines: list[Line]) -> Table:
    table = new_table("What it must show")
    for column in ("data", "what", "required", "measured", ""):
        table.add_column(column, no_wrap=column != "what")
    marks = {True: "[green]met[/]", False: "[red]not met[/]", None: "[dim]-[/]"}
    for line in lines:
        table.add_row(line.data, line.what, line.required, line.measured, marks[line.met])
    return table
