"""What all parts of the page know of a run: which codec has which colour, and what has which id."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..results import COLLECTORS, OPS, DataSet, Outcome, Run
from ._text import Names, Unit, tag, unit_for

# So many colours of other codecs are in report.css; then they start again, with another symbol.
COLOURS = 8


class View:
    """Of a run.

    collectors: which of "on" and "off" were measured at all.
    ids: of data sets, by name. curve_ids: of curves, by suite and name. They stay the same as long as the names do.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.collectors = tuple(
            collector
            for collector in COLLECTORS
            if any(
                each.time(op, collector) is not None
                for data in run.data_sets
                for each in data.outcomes
                for op in OPS
            )
        ) or ("on",)
        names = Names()
        self.ids = {data.name: names(data.name) for data in run.data_sets}
        curve_names = Names()
        pairs = dict.fromkeys((data.suite, data.curve) for data in run.data_sets if data.curve)
        self.curve_ids = {pair: curve_names(f"curve {pair[1]}") for pair in pairs}
        self.codecs = run.codecs
        bounds = {each.codec for data in run.data_sets for each in data.outcomes if each.bound}
        self._kinds = {codec: self._kind(codec, bounds) for codec in self.codecs}
        counts: dict[str, int] = {}
        self._places = {}
        for codec, kind in self._kinds.items():
            self._places[codec] = counts[kind] = counts.get(kind, -1) + 1

    @staticmethod
    def _kind(codec: str, bounds: set[str]) -> str:
        if codec in bounds:
            return "bound"
        return "own" if re.match(r"holdall\b", codec) else "other"

    def kind(self, codec: str) -> str:
        """ "own", which stands out; "bound"; or "other"."""
        return self._kinds[codec]

    def colour(self, codec: str) -> str:
        """The name of a variable in report.css."""
        if self._kinds[codec] != "other":
            return f"--{self._kinds[codec]}"
        return f"--other-{self._places[codec] % COLOURS}"

    def symbol(self, codec: str) -> int:
        """Which of the symbols and dashes in plots.js: codecs of one colour differ in it."""
        return self._places[codec] // COLOURS if self._kinds[codec] == "other" else self._places[codec]

    def index(self, codec: str) -> int:
        return self.codecs.index(codec)

    def reference(self, data: DataSet, op: str) -> Outcome | None:
        """Our own codec that others are compared with: the first that does the job."""
        return next(
            (each for each in data.rivals if self.kind(each.codec) == "own" and each.operation(op)), None
        )

    def both(self, html: Mapping[str, str]) -> str:
        """`html` for each of the collectors: the page shows one of them."""
        if len(set(html.values())) == 1:
            return html[self.collectors[0]]
        return "".join(tag("div", html[each], class_=f"when-{each}") for each in self.collectors)


def unit(data: DataSet) -> Unit:
    """Of the times of `data`, each item's where there are items."""
    found = [each.time(op) for each in data.outcomes for op in OPS]
    return unit_for(time / (data.items or 1) for time in found if time is not None)
