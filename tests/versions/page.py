"""Writes the table of `docs/versions.md` from `results.json`: `python -m tests.versions.page`."""

from __future__ import annotations

import json
import sys
from typing import Any

from .pythons import RELEASES, ROOT
from .run import RESULTS
from .speed import ROWS

PAGE = ROOT / "docs" / "versions.md"
BEGIN, END = "<!-- table: make versions-page -->", "<!-- end of the table -->"
MISSING = "–"


def ratios(rows: dict[str, Any], row: str) -> str:
    """How many times as fast as pickle, and as msgspec where it keeps the data."""
    found = rows.get(row)
    if found is None:
        return MISSING
    return (
        f"{found['pickle']:.1f} × / {found['msgspec']:.1f} ×"
        if found.get("msgspec")
        else f"{found['pickle']:.1f} ×"
    )


def table(results: dict[str, Any]) -> str:
    heads = ["Python", "passed", "failed", "skipped", *ROWS]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name in [*RELEASES, *(name for name in results if name not in RELEASES)]:
        result = results.get(name, {})
        counts = [str(result.get(key, MISSING)) for key in ("passed", "failed", "skipped")]
        without = f" (without {', '.join(result['left_out'])})" if result.get("left_out") else ""
        speed = [ratios(result.get("speed", {}), row) for row in ROWS]
        shown = name.replace(
            ".".join(name.split("-")[0].split(".")[:2]), result.get("python", name.split("-")[0]), 1
        )
        lines.append("| " + " | ".join([shown + without, *counts, *speed]) + " |")
    return "\n".join(lines)


def written(page: str, results: dict[str, Any]) -> str:
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n{table(results)}\n{END}{rest.split(END)[1]}"


def main() -> int:
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    PAGE.write_text(written(PAGE.read_text(), results))
    print(f"{PAGE.relative_to(ROOT)} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
