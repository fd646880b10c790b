"""The report of a run as one HTML page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
from html import escape

from ..results import OPS, DataSet, Run
from . import _plots
from ._summary import footer, guide, header, winners
from ._tables import table
from ._text import brief, tag, whole
from ._view import View

HERE = pathlib.Path(__file__).parent
SCRIPTS = ("plots.js", "report.js")


def write_page(run: Run) -> str:
    """The page as text.

    Every text of `run` is escaped: names and reasons come from users' files. A policy in the page lets it run its own
    scripts only, which it names by their hashes, and load nothing.

    Raises ModuleNotFoundError: plotly is not installed.
    """
    from plotly.offline import get_plotlyjs

    view = View(run)
    plots: dict[str, _plots.Spec] = {}
    suites = "".join(_suite(view, plots, number, *suite) for number, suite in enumerate(run.suites()))
    scripts = [get_plotlyjs(), *((HERE / name).read_text("utf-8") for name in SCRIPTS)]
    content = {"codecs": _plots.codecs(view), "plots": plots}
    body = (
        f"{_toolbar(view)}<main>{header(run)}{guide(view)}{suites}{footer(run)}</main>"
        f'<script type="application/json" id="content">{_json(content)}</script>'
        + "".join(f"<script>{text}</script>" for text in scripts)
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{_policy(scripts)}<title>holdall bench</title>"
        f"<style>{(HERE / 'report.css').read_text('utf-8')}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en" data-collector="{view.collectors[0]}"><head>{head}</head><body>{body}</body></html>\n'


def _policy(scripts: list[str]) -> str:
    """What the browser is to refuse, should a text get past the escaping or a library want the net."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    rules = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def _json(content: object) -> str:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # No text can end the script element it stands in.
    return text.replace("<", "\\u003c")


def _toolbar(view: View) -> str:
    collector = ""
    if len(view.collectors) > 1:
        collector = _switch("collector", "Garbage collector", {"on": "on", "off": "off"})
    columns = _switch("columns", "Columns", {"few": "main", "all": "all"})
    boxes = "".join(
        f'<label><input type="checkbox" value="{number}" checked><span class="swatch" '
        f'style="--swatch: var({view.colour(codec)})"></span>{escape(codec)}</label>'
        for number, codec in enumerate(view.codecs)
    )
    codecs = (
        '<details class="filter" id="filter"><summary>Codecs</summary><div class="sheet"><p>'
        '<button type="button" data-all="1">all</button><button type="button" data-all="">none</button></p>'
        f'<div class="boxes">{boxes}</div></div></details>'
    )
    theme = '<button type="button" id="theme" aria-label="Light or dark"><span aria-hidden="true">◐</span></button>'
    return f'<nav class="toolbar" aria-label="Settings"><a href="#top" class="home">holdall bench</a>{collector}{columns}{codecs}{theme}</nav>'


def _switch(name: str, title: str, choices: dict[str, str]) -> str:
    """Two buttons, of which one is pressed: the first."""
    buttons = "".join(
        f'<button type="button" data-set="{name}" value="{value}" aria-pressed="{str(not place).lower()}">{text}</button>'
        for place, (value, text) in enumerate(choices.items())
    )
    return f'<div class="switch" role="group" aria-label="{title}"><span>{title}</span>{buttons}</div>'


def _suite(
    view: View, plots: dict[str, _plots.Spec], number: int, suite: str, data_sets: list[DataSet]
) -> str:
    parts = []
    for curve in dict.fromkeys(data.curve for data in data_sets):
        members = [data for data in data_sets if data.curve == curve]
        if curve:
            parts.append(_curve(view, plots, curve, members))
        else:
            parts += [_data_set(view, plots, data) for data in members]
    heading = f'<h2 id="suite-{number}">{escape(suite)}</h2>'
    return f'<section class="suite">{heading}{winners(view, suite, data_sets)}{"".join(parts)}</section>'


def _curve(view: View, plots: dict[str, _plots.Spec], curve: str, members: list[DataSet]) -> str:
    """Two plots over the volume; the tables of its points are folded away."""
    members = sorted(members, key=lambda data: data.piece)
    shown = ""
    for op in OPS:
        name = _plots.curve_id(view, members, op)
        plots[name] = _plots.curve(view, members, op)
        shown += _plot(name, f"{op}: cost of a byte as the data grows", f"{op} of {curve} over the volume")
    folded = "".join(
        f'<details class="point"><summary>{escape(data.title)}{_badge(data)}<span class="volume">{brief(data.piece)}</span></summary>'
        f"{_data_set(view, plots, data, folded=True)}</details>"
        for data in members
    )
    title = f'<h3 id="{view.curve_ids[members[0].suite, curve]}">{escape(curve)}</h3>'
    text = f'<p class="about">{brief(members[0].piece)} to {brief(members[-1].piece)} at a time; lower is better.</p>'
    return f'<section class="curve">{title}{text}<div class="plots two">{shown}</div>{folded}</section>'


def _badge(data: DataSet) -> str:
    return '<span class="badge">sharing matters</span>' if data.identity else ""


def _data_set(view: View, plots: dict[str, _plots.Spec], data: DataSet, folded: bool = False) -> str:
    """Table and plots. folded: what it is folded into has its title already."""
    facts = [f"{brief(data.volume)} of data"]
    if data.items:
        facts.append(f"{whole(data.items)} items, stored one by one")
    note = f'<p class="about">{escape(data.note)}</p>' if data.note else ""
    name = _plots.size_id(view, data)
    plots[name] = _plots.size(view, data)
    shown = (
        _plot(name, "Time against size", f"Time against size: {data.title}") if plots[name]["points"] else ""
    )
    ratios = _plots.bound(view, data)
    if ratios:
        name = _plots.bound_id(view, data)
        plots[name] = ratios
        shown += _plot(name, "How many times the lower bound", f"Ratio to the lower bound: {data.title}")
    title = "" if folded else f"<h3>{escape(data.title)}{_badge(data)}</h3>"
    heading = f'{title}<p class="about">{", ".join(facts)}</p>{note}'
    return tag(
        "section",
        f'{heading}{table(view, data)}<div class="plots">{shown}</div>',
        class_="data",
        id=view.ids[data.name],
    )


def _plot(name: str, title: str, label: str) -> str:
    drawn = tag("div", class_="plot", id=name, role="img", aria_label=label)
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>"
