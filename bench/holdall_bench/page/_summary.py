"""What stands above the tables: where and when it was measured, who won, and how to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from ..results import OPS, DataSet, Outcome, Run
from ._text import NOTHING, brief, duration, elapsed, moment, tag, times, whole
from ._view import View

CONTESTS = {"dumps": "fastest dumps", "loads": "fastest loads", "size": "smallest"}


def header(run: Run) -> str:
    codecs = {each.codec for data in run.data_sets for each in data.outcomes if not each.bound}
    tried = f"{len(codecs)} codecs on {len(run.data_sets)} data sets"
    facts = [moment(run.when), tried, f"took {elapsed(run.seconds)}" if run.seconds else ""]
    line = " · ".join(escape(fact) for fact in facts if fact)
    return f'<header><h1>Benchmark of serializers</h1><p class="facts">{line}</p>{_command(run)}{_notes(run)}{_machine(run)}</header>'


def _command(run: Run) -> str:
    return f'<p class="command"><code>{escape(run.command)}</code></p>'


def _notes(run: Run) -> str:
    lines = "".join(f"<li>{escape(note)}</li>" for note in run.notes)
    return f'<ul class="notes">{lines}</ul>' if lines else ""


def _machine(run: Run) -> str:
    machine = run.machine
    facts = {
        "processor": machine.processor,
        "cores": str(machine.cores),
        "memory": brief(machine.memory) if machine.memory is not None else "",
        "system": machine.system,
        "python": machine.python,
    }
    shown = "".join(
        f"<div><dt>{name}</dt><dd>{escape(fact)}</dd></div>" for name, fact in facts.items() if fact
    )
    return f'<dl class="machine">{shown}</dl>'


def guide(view: View) -> str:
    """How to read it."""
    lines = [
        "<dt>✓ kept</dt><dd>What comes back has all values and types, and shares what was shared.</dd>",
        "<dt>◐ sharing lost</dt><dd>All values and types, but what was one object is several. It counts as a loss in data "
        "sets marked <em>sharing matters</em>.</dd>",
        "<dt>≠ changed</dt><dd>Other values or types come back. Unfold the mark to see which, how often, and where first. "
        "Such a codec is pale, has a hollow symbol, and never wins.</dd>",
        "<dt>✕ failed</dt><dd>It can't store the data, or gives nothing back.</dd>",
        "<dt>★</dt><dd>The best of those that give back what was stored.</dd>",
        "<dt>times</dt><dd>The median of many rounds in which the codecs take turns. ± is half of what lies between the "
        "quartiles. Of items that are stored one by one it is the time for each.</dd>",
        "<dt>lower bound</dt><dd>No codec: the least that any could need for the same data, with no format and no "
        "checks.</dd>",
    ]
    if len(view.collectors) > 1:
        lines.append(
            "<dt>collector</dt><dd>Python's garbage collector is on, as programs run, or off, which shows the codec's own work. "
            "The switch above changes tables, plots and winners.</dd>"
        )
    short = (
        '<p class="short"><span><b class="star">★</b>best of those that give back what was stored</span>'
        "<span><b>□</b>pale and hollow: gives back something else, never wins</span></p>"
    )
    return (
        f'{short}<details class="guide"><summary>How to read it</summary><dl>{"".join(lines)}</dl></details>'
    )


def winners(view: View, suite: str, data_sets: list[DataSet]) -> str:
    """Of a suite: a line that counts, and a table with the best of each data set."""
    tally = {collector: _tally(view, data_sets, collector) for collector in view.collectors}
    return f"{view.both(tally) if len(data_sets) > 1 else ''}{_best(view, suite, data_sets)}"


def _best_of(data: DataSet, contest: str, collector: str) -> Outcome | None:
    return data.smallest if contest == "size" else data.best(contest, collector)


def _tally(view: View, data_sets: list[DataSet], collector: str) -> str:
    cards = []
    for contest, title in CONTESTS.items():
        won = Counter(best.codec for data in data_sets if (best := _best_of(data, contest, collector)))
        if won:
            (first, count), *others = won.most_common()
            rest = ", ".join(f"{escape(codec)} in {often}" for codec, often in others)
            name = tag("strong", escape(first), class_="own" if view.kind(first) == "own" else None)
            cards.append(
                f'<div class="card"><p class="what">{title}</p><p>{name} in {count} of {sum(won.values())}</p>'
                f"{tag('p', rest, class_='rest') if rest else ''}</div>"
            )
    return f'<div class="cards">{"".join(cards)}</div>'


def _best(view: View, suite: str, data_sets: list[DataSet]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in CONTESTS.values())
    rows = "".join(
        f'<tr><th scope="row"><a href="#{view.ids[data.name]}">{escape(data.title)}</a></th>'
        + "".join(tag("td", view.both(cell)) for cell in _cells(view, data))
        + "</tr>"
        for data in data_sets
    )
    table = f'<table class="winners"><thead><tr><th scope="col">data</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=f"Winners: {suite}")


def _cells(view: View, data: DataSet) -> Iterator[dict[str, str]]:
    for op in OPS:
        yield {collector: _fastest(view, data, op, collector) for collector in view.collectors}
    yield dict.fromkeys(view.collectors, _smallest(view, data))


def _fastest(view: View, data: DataSet, op: str, collector: str) -> str:
    best = data.best(op, collector)
    time = best.time(op, collector) if best else None
    if best is None or not time:
        return NOTHING
    count = data.items or 1
    shown = duration(time / count) + (" per item" if data.items else "")
    found = [
        (value / time, each)
        for each in data.rivals
        if each is not best and (value := each.time(op, collector))
    ]
    return _winner(view, best, shown, found)


def _smallest(view: View, data: DataSet) -> str:
    best = data.smallest
    if best is None or best.size is None:
        return NOTHING
    found = [
        (each.size / best.size, each) for each in data.rivals if each is not best and each.size and best.size
    ]
    return _winner(view, best, f"{whole(best.size)} B", found)


def _winner(view: View, best: Outcome, shown: str, others: list[tuple[float, Outcome]]) -> str:
    """The best, and how far behind the next is: a close race is none."""
    value, following = min(others, key=lambda pair: pair[0], default=(0.0, None))
    behind = f'<span class="next">then {escape(following.codec)}, {times(value)}</span>' if following else ""
    classes = "codec own" if view.kind(best.codec) == "own" else "codec"
    return f'<span class="{classes}">{escape(best.codec)}</span> <span class="value">{shown}</span>{behind}'


def footer(run: Run) -> str:
    """Who took no part, and the versions of those that did."""
    parts = []
    if run.absent:
        rows = "".join(
            f"<div><dt>{escape(each.codec)}</dt><dd>{escape(each.reason)}</dd></div>" for each in run.absent
        )
        parts.append(f'<section class="absent"><h2>Took no part</h2><dl>{rows}</dl></section>')
    if run.versions:
        rows = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{escape(version)}</dd></div>"
            for name, version in run.versions.items()
        )
        parts.append(f'<details class="versions"><summary>Versions</summary><dl>{rows}</dl></details>')
    return f"<footer>{''.join(parts)}</footer>"
