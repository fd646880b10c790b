"""What did a codec's round trip change? `compare` names every kind of change, counts it, and says where it is first."""

from dataclasses import replace
from typing import Any

from ..results import SAME, VERDICTS, Change, Fidelity
from .walk import compare

__all__ = ["compare", "compare_each"]


def compare_each(originals: list[Any], restored: list[Any]) -> Fidelity:
    """Of items that were stored one by one: the worst verdict, and the changes of all."""
    found = [compare(a, b) for a, b in zip(originals, restored, strict=True)]
    worst = max((one.verdict for one in found), key=VERDICTS.index, default=SAME)
    merged: dict[str, Change] = {}
    for i, one in enumerate(found):
        for change in one.changes:
            known = merged.setdefault(
                change.what, replace(change, count=0, where=f"$[{i}]{change.where[1:]}")
            )
            known.count += change.count
    return Fidelity(worst, sorted(merged.values(), key=lambda change: (change.minor, -change.count)))
