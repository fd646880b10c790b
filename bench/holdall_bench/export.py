"""A run as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from .results import COLLECTORS, OPS, DataSet, Outcome, Run

COLUMNS = (
    "suite", "data_set", "codec", "verdict", "changes", "reason", "bytes", "items", "measured_items",
    *(
        f"{op}_{what}"
        for op in OPS
        for what in (
            "first_ns", "on_ns", "on_low_ns", "on_high_ns", "off_ns", "off_low_ns", "off_high_ns", "rounds",
            "collector_ns", "peak_bytes", "allocated_bytes",
        )
    ),
)  # fmt: skip


def as_json(run: Run) -> str:
    return json.dumps(run.as_dict(), indent=1, ensure_ascii=False) + "\n"


def as_csv(run: Run) -> str:
    """A row for each codec on each data set; times for all of the data in nanoseconds, nothing where there is none."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for data in run.data_sets:
        for outcome in data.outcomes:
            writer.writerow(dict(row(data, outcome)))
    return out.getvalue()


def row(data: DataSet, outcome: Outcome) -> Iterator[tuple[str, Any]]:
    yield from {
        "suite": data.suite,
        "data_set": data.name,
        "codec": outcome.codec,
        "verdict": outcome.fidelity.verdict,
        "changes": "; ".join(f"{change.what} x{change.count}" for change in outcome.fidelity.changes),
        "reason": outcome.fidelity.reason,
        "bytes": outcome.size,
        "items": data.items,
        "measured_items": outcome.measured,
    }.items()
    for op in OPS:
        operation = outcome.operation(op)
        if operation is None:
            continue
        yield f"{op}_first_ns", round(operation.first)
        for collector in COLLECTORS:
            timing = operation.timing(collector)
            if timing is not None:
                yield f"{op}_{collector}_ns", round(timing.median)
                yield f"{op}_{collector}_low_ns", round(timing.low)
                yield f"{op}_{collector}_high_ns", round(timing.high)
                yield f"{op}_rounds", len(timing.rounds)
                if timing.collected is not None:
                    yield f"{op}_collector_ns", round(timing.collected)
        yield f"{op}_peak_bytes", operation.peak
        yield f"{op}_allocated_bytes", operation.allocated
