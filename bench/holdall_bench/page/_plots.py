"""The numbers behind the plots. `plots.js` draws them: colours, sizes and labels depend on the screen."""

from __future__ import annotations

from html import escape
from typing import Any

from ..results import OPS, DataSet, Outcome
from ._text import brief, duration, number, times, whole
from ._view import View, unit

# What plots.js reads. Names are HTML there, too: Plotly knows a few tags.
Spec = dict[str, Any]


def size_id(view: View, data: DataSet) -> str:
    return f"plot-{view.ids[data.name]}-size"


def bound_id(view: View, data: DataSet) -> str:
    return f"plot-{view.ids[data.name]}-bound"


def curve_id(view: View, members: list[DataSet], op: str) -> str:
    return f"plot-{view.curve_ids[members[0].suite, members[0].curve]}-{op}"


def codecs(view: View) -> list[Spec]:
    return [
        {
            "label": escape(codec),
            "kind": view.kind(codec),
            "colour": view.colour(codec),
            "symbol": view.symbol(codec),
        }
        for codec in view.codecs
    ]


def size(view: View, data: DataSet) -> Spec:
    """Time against size: a point for each codec that has both."""
    shown, count = unit(data), data.items or 1

    def at(outcome: Outcome, op: str, collector: str) -> Spec | None:
        time = outcome.time(op, collector)
        if not time or not outcome.size:
            return None
        per = " per item" if data.items else ""
        hover = f"{_name(data, outcome)}<br>{op} {duration(time / count)}{per}<br>{whole(outcome.size)} B"
        return {"value": time / count / shown.per, "hover": hover}

    points = [
        {
            "codec": view.index(each.codec),
            "kept": _filled(data, each),
            "size": each.size,
            **_times(view, each, at),
        }
        for each in data.outcomes
    ]
    unit_name = f"{shown.name} per item" if data.items else shown.name
    return {"kind": "size", "unit": unit_name, "points": [each for each in points if _drawn(each)]}


def bound(view: View, data: DataSet) -> Spec | None:
    """How many times as long as the lower bound; None where no bound was measured."""

    def at(outcome: Outcome, op: str, collector: str) -> Spec | None:
        time, least = outcome.time(op, collector), data.bound(op, collector)
        if not time or not least:
            return None
        hover = f"{_name(data, outcome)}<br>{op}: {times(time / least)} the lower bound"
        return {"value": time / least, "hover": hover}

    points = [
        {"codec": view.index(each.codec), "kept": _filled(data, each), **_times(view, each, at)}
        for each in data.outcomes
        if not each.bound
    ]
    drawn = [each for each in points if _drawn(each)]
    return {"kind": "bound", "points": drawn} if drawn else None


def curve(view: View, points: list[DataSet], op: str) -> Spec:
    """What a byte of data costs as the data grows: a line for each codec."""

    def at(data: DataSet, outcome: Outcome, collector: str) -> Spec | None:
        time = outcome.time(op, collector)
        if not time or not data.volume:
            return None
        rate = f"{number(data.volume / time * 1000)} MB/s"
        hover = f"{_name(data, outcome)}<br>{op} {brief(data.volume)} in {duration(time)}<br>{rate}"
        return {"value": time / data.volume, "hover": hover}

    lines = []
    for codec in view.codecs:
        found = [(data, outcome) for data in points if (outcome := data.outcome(codec))]
        made = [
            {
                "volume": data.piece,
                "kept": _filled(data, outcome),
                **{collector: at(data, outcome, collector) for collector in view.collectors},
            }
            for data, outcome in found
        ]
        drawn = [point for point in made if any(point[collector] for collector in view.collectors)]
        if drawn:
            lines.append({"codec": view.index(codec), "points": drawn})
    return {"kind": "curve", "op": op, "lines": lines}


def _times(view: View, outcome: Outcome, at: Any) -> Spec:
    return {op: {collector: at(outcome, op, collector) for collector in view.collectors} for op in OPS}


def _drawn(point: Spec) -> bool:
    return any(found for op in OPS for found in point[op].values())


def _filled(data: DataSet, outcome: Outcome) -> bool:
    """Hollow symbols are for those that don't give back what was stored."""
    return data.keeps(outcome) or outcome.bound


def _name(data: DataSet, outcome: Outcome) -> str:
    warning = "" if _filled(data, outcome) else f"<br>≠ {escape(outcome.fidelity.tells)}"
    return f"<b>{escape(outcome.codec)}</b>{warning}"
