"""serbench's document: nested records of a Julia benchmark, as slotted dataclasses."""

from __future__ import annotations

from functools import partial

from ..data import Data
from . import adder
from .models import Bar, Baz, Foo

BARS, FULL_BARS = 200, 2_000


def serbench(bars: int = BARS) -> dict[str, list[Foo]]:
    """serbench's document: 3 keys x 3 Foo x `bars` Bar x 50 Baz (2,000 in the original)."""

    def bar(i: int) -> Bar:
        return Bar(i, [Baz(str(i), str(j)) for j in range(1, 51)], {str(i): i})

    return {
        key: [Foo("a", "b", "c", "d", "e", [bar(i) for i in range(1, bars + 1)]) for _ in range(3)]
        for key in ("x", "y", "z")
    }


def as_dicts(bars: int = BARS) -> dict[str, list[dict[str, object]]]:
    """The same without classes."""

    def bar(i: int) -> dict[str, object]:
        bazs = [{"first": str(i), "second": str(j)} for j in range(1, 51)]
        return {"number": i, "bazs": bazs, "counts": {str(i): i}}

    return {
        key: [
            {
                "agency": "a",
                "software": "b",
                "management": "c",
                "consultant": "d",
                "remark": "e",
                "bars": [bar(i) for i in range(1, bars + 1)],
            }
            for _ in range(3)
        ]
        for key in ("x", "y", "z")
    }


def data_sets(full: bool) -> list[Data]:
    add = adder("serbench")
    bars = FULL_BARS if full else BARS
    leaves = f"{9 * bars * 50:,} Baz in Bar in Foo"
    share = "" if full else ", a tenth of the original"
    return [
        add(
            name="serbench",
            title=f"serbench: {leaves}, slotted dataclasses{share}",
            make=partial(serbench, bars),
            annotation=dict[str, list[Foo]],
        ),
        add(name="serbench_dicts", title=f"serbench: {leaves}, dicts{share}", make=partial(as_dicts, bars)),
    ]
