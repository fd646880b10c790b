"""Writes what `holdall bench` has measured into `docs/benchmarks.md`: tables, and plots in light and dark.

holdall bench bakeoff --json bakeoff.json
holdall bench scaling --full --codec holdall --codec pickle ... --json scaling.json
python -m bench.targets.publish bakeoff.json scaling.json

The plots need Chromium (`bench/targets/picture.py`).
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import holdall
from holdall_bench import markdown
from holdall_bench.codecs import CODECS
from holdall_bench.page import write_page
from holdall_bench.results import Run

from .figures import REPO, put
from .picture import HEIGHT, WIDTH, browser, export

PICTURES = REPO / "docs" / "pictures"
PAGE = REPO / "docs" / "benchmarks.md"
# The data set whose plot the page and the README show.
SHOWN = "messages"


def main(bakeoff: str, scaling: str) -> None:
    runs = {"bakeoff": read(bakeoff), "scaling": read(scaling)}
    # Picture -> plot, by the page's name for it, which has no other characters; and what is written above it.
    bakeoff_plots = {"bakeoff": (f"plot-{SHOWN}-size", "Time against size; hollow: it changes the data")}
    scaling_plots = {
        f"scaling-{i}-{op}": (f"plot-curve-{re.sub('[^A-Za-z0-9_]+', '-', curve)}-{op}", f"{op}, {curve}")
        for i, curve in enumerate(runs["scaling"].curves, 1)
        for op in ("dumps", "loads")
    }
    draw(runs["bakeoff"], bakeoff_plots)
    draw(runs["scaling"], scaling_plots)
    fill(
        PAGE,
        codecs=codecs(),
        results=[*markdown.lines(runs["bakeoff"]), "", *tags(bakeoff_plots, "pictures")],
        scaling=[*markdown.lines(runs["scaling"]), "", *tags(scaling_plots, "pictures")],
    )


def read(path: str) -> Run:
    run: Run = holdall.loads(holdall.dumps(json.loads(Path(path).read_bytes())), type=Run)
    return run


def codecs() -> list[str]:
    lines = ["| codec | package | keeps | how it is used |", "|---|---|---|---|"]
    return lines + [
        markdown.row([codec.name, codec.package, codec.keeps, codec.way])
        for codec in CODECS
        if not codec.bound
    ]


def draw(run: Run, plots: dict[str, tuple[str, str]]) -> None:
    """Write a picture of each plot, in light and in dark."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser(f"--window-size={WIDTH},{HEIGHT}") as driver:
        report = Path(folder) / "report.html"
        report.write_text(write_page(run), encoding="utf-8")
        driver.get(report.as_uri())
        for stem, (plot, _) in plots.items():
            for theme in ("light", "dark"):
                (PICTURES / f"{stem}-{theme}.svg").write_text(export(driver, plot, theme), encoding="utf-8")


def tags(plots: dict[str, tuple[str, str]], folder: str) -> Iterator[str]:
    for stem, (_, caption) in plots.items():
        yield f"{caption}:"
        yield ""
        yield "<picture>"
        yield f'  <source media="(prefers-color-scheme: dark)" srcset="{folder}/{stem}-dark.svg">'
        yield f'  <img alt="the figures of the table as a plot" src="{folder}/{stem}-light.svg">'
        yield "</picture>"
        yield ""


def fill(page: Path, **parts: list[str]) -> None:
    text = page.read_text(encoding="utf-8")
    for name, lines in parts.items():
        text = put(text, f"<!-- {name} -->\n", f"<!-- end of {name} -->", "\n".join(lines) + "\n")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
