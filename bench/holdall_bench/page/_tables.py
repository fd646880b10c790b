"""One table for each data set: a row for each codec, sortable by every column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from ..results import CHANGED, COPIES, FAILED, OPS, SAME, VERDICTS, DataSet, Operation, Outcome, Timing, ratio
from ._text import NOTHING, Unit, amount, number, tag, whole
from ._view import View, unit

MARKS = {SAME: "✓", COPIES: "◐", CHANGED: "≠", FAILED: "✕"}
WORDS = {SAME: "kept", COPIES: "sharing lost", CHANGED: "changed", FAILED: "failed"}


@dataclass(frozen=True)
class Cell:
    """value: sorts the rows; None, the cell is empty and sorts last."""

    value: float | str | None
    html: str = NOTHING


@dataclass(frozen=True)
class Column:
    """key: stands in the page as data-column. group: what the header above says. more: shown on demand only."""

    key: str
    group: str
    title: str
    hint: str
    cell: Callable[[Outcome, str], Cell]
    more: bool = False

    @property
    def classes(self) -> str:
        """`starts` draws the line between groups."""
        starts = self.key == self.group and self.group not in ("codec", "fidelity")
        return f"{self.group}{' starts' if starts else ''}{' more' if self.more else ''}"


def table(view: View, data: DataSet) -> str:
    columns = [each for each in _columns(view, data) if _any(view, data, each)]
    rows = sorted(data.outcomes, key=lambda each: (each.fidelity.verdict == FAILED, _first_time(each)))
    body = "".join(_row(view, data, columns, each) for each in rows)
    head = f"<thead>{_groups(columns)}{_titles(columns)}</thead>"
    caption = tag("caption", f"{escape(data.title)}: all codecs", class_="unseen")
    whole_table = tag("table", f"{caption}{head}<tbody>{body}</tbody>", class_="results")
    label = f"Table: {data.title}"
    # Scrolls by itself, so it has to be reached with the keyboard too.
    return tag("div", whole_table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _first_time(outcome: Outcome) -> float:
    time = outcome.time("dumps")
    return float("inf") if time is None else time


def _any(view: View, data: DataSet, column: Column) -> bool:
    cells = (column.cell(each, collector) for each in data.outcomes for collector in view.collectors)
    return column.group in ("codec", "fidelity") or any(cell.value is not None for cell in cells)


def _groups(columns: list[Column]) -> str:
    """The upper line of the header. Its cells span what is shown below, which the page may change."""
    cells = []
    for group in dict.fromkeys(each.group for each in columns):
        below = [each for each in columns if each.group == group]
        few = sum(not each.more for each in below)
        name = group if group in (*OPS, "size") else ""
        scope = "colgroup" if name else None
        counts = {"data_few": str(few), "data_all": str(len(below)), "colspan": str(few or 1)}
        cells.append(tag("th" if name else "td", name, scope=scope, class_=group, hidden=not few, **counts))
    return f'<tr class="groups">{"".join(cells)}</tr>'


def _titles(columns: list[Column]) -> str:
    cells = []
    for each in columns:
        button = tag(
            "button",
            f'{each.title}<span class="arrow" aria-hidden="true"></span>',
            type="button",
            title=each.hint,
        )
        sort = "ascending" if each.key == "dumps" else "none"
        cells.append(
            tag("th", button, scope="col", class_=each.classes, data_column=each.key, aria_sort=sort)
        )
    return f"<tr>{''.join(cells)}</tr>"


def _row(view: View, data: DataSet, columns: list[Column], outcome: Outcome) -> str:
    cells = []
    for column in columns:
        made = {collector: column.cell(outcome, collector) for collector in view.collectors}
        values = {
            f"data_{collector}": None if cell.value is None else str(cell.value)
            for collector, cell in made.items()
        }
        html = view.both({collector: cell.html for collector, cell in made.items()})
        head = column.key == "codec"
        cells.append(
            tag("th" if head else "td", html, class_=column.classes, scope="row" if head else None, **values)
        )
    kind = "bound" if outcome.bound else outcome.fidelity.verdict
    classes = f"{kind}{' own' if view.kind(outcome.codec) == 'own' else ''}{'' if _counts(data, outcome) else ' out'}"
    return tag("tr", "".join(cells), class_=classes, data_codec=str(view.index(outcome.codec)))


def _counts(data: DataSet, outcome: Outcome) -> bool:
    return data.keeps(outcome) or outcome.bound


def _columns(view: View, data: DataSet) -> Iterator[Column]:
    yield Column(
        "codec",
        "codec",
        "codec",
        "by name",
        lambda each, _: Cell(each.codec.casefold(), _codec(view, data, each)),
    )
    yield Column(
        "fidelity",
        "fidelity",
        "gives back",
        "by what a round trip keeps",
        lambda each, _: _fidelity(data, each),
    )
    shown = unit(data)
    for op in OPS:
        yield from _operation(view, data, op, shown)
    ours = next((each for op in OPS if (each := view.reference(data, op))), None)
    yield Column("size", "size", "bytes", "bytes written", lambda each, _: _size(data, each))
    if ours is not None and ours.size:
        least = ours.size
        hint = f"how many times the bytes of {ours.codec}"
        title = f"× {escape(ours.codec)}"
        yield Column(
            "size-ours", "size", title, hint, lambda each, _: _times(each.size and each.size / least)
        )


def _operation(view: View, data: DataSet, op: str, shown: Unit) -> Iterator[Column]:
    per = f"{shown.name} per item" if data.items else shown.name
    count = data.items or 1
    ours = view.reference(data, op)

    def timing_of(outcome: Outcome, collector: str) -> Timing | None:
        operation = outcome.operation(op)
        return operation.timing(collector) if operation else None

    def main(outcome: Outcome, collector: str) -> Cell:
        timing = timing_of(outcome, collector)
        if timing is None:
            return Cell(None)
        best = data.best(op, collector) is outcome
        told = f"±{timing.spread:.0%}" if len(timing.rounds) > 1 else "once"
        spread = f'<span class="spread" title="half of what lies between the quartiles">{told}</span>'
        html = f"{_star(f'fastest {op}') if best else ''}{shown.of(timing.median / count)}{spread}"
        return Cell(timing.median, html)

    def against_ours(outcome: Outcome, collector: str) -> Cell:
        mine = timing_of(ours, collector) if ours else None
        theirs = timing_of(outcome, collector)
        return _times(ratio(theirs, mine) if mine and theirs else None)

    def against_bound(outcome: Outcome, collector: str) -> Cell:
        bound, time = data.bound(op, collector), outcome.time(op, collector)
        return _times(time / bound if bound and time is not None else None)

    def collected(outcome: Outcome, collector: str) -> Cell:
        timing = timing_of(outcome, "on")
        if timing is None or timing.collected is None:
            return Cell(None)
        share = f'<span class="spread">{timing.collected / timing.median:.0%}</span>' if timing.median else ""
        return Cell(timing.collected, f"{shown.of(timing.collected / count)}{share}")

    def of(
        get: Callable[[Operation], float | None], show: Callable[[float], str]
    ) -> Callable[[Outcome, str], Cell]:
        def cell(outcome: Outcome, _: str) -> Cell:
            operation = outcome.operation(op)
            value = get(operation) if operation else None
            return Cell(value, show(value)) if value is not None else Cell(None)

        return cell

    yield Column(op, op, per, f"median time of {op}, in {per}", main)
    if ours is not None:
        hint = f"how many times as long as {ours.codec}"
        yield Column(f"{op}-ours", op, f"× {escape(ours.codec)}", hint, against_ours)
    yield Column(f"{op}-bound", op, "× bound", "how many times as long as the lower bound", against_bound)
    hint = f"the very first call in a process, in {shown.name}"
    yield Column(
        f"{op}-first", op, f"first, {shown.name}", hint, of(lambda each: each.first, shown.of), more=True
    )
    hint = f"time of the garbage collector, in {per}, and its share"
    yield Column(f"{op}-collected", op, f"collector, {shown.name}", hint, collected, more=True)
    hint = "memory that one call takes at most"
    yield Column(f"{op}-peak", op, "peak", hint, of(lambda each: each.peak, amount), more=True)
    hint = "what Python's allocators hold for one call at most"
    yield Column(f"{op}-allocated", op, "allocated", hint, of(lambda each: each.allocated, amount), more=True)


def _times(value: float | None) -> Cell:
    return Cell(value, number(value)) if value else Cell(None)


def _star(what: str) -> str:
    return f'<span class="star" role="img" aria-label="{what} of those that keep the data" title="{what}">★</span>'


def _size(data: DataSet, outcome: Outcome) -> Cell:
    if outcome.size is None:
        return Cell(None)
    star = _star("smallest") if data.smallest is outcome else ""
    return Cell(outcome.size, f"{star}{whole(outcome.size)}")


def _codec(view: View, data: DataSet, outcome: Outcome) -> str:
    swatch = tag(
        "span", class_="swatch", style=f"--swatch: var({view.colour(outcome.codec)})", aria_hidden="true"
    )
    html = f'<div class="who">{swatch}<span class="name">{escape(outcome.codec)}</span></div>'
    notes = [outcome.note] if outcome.note else []
    if outcome.measured is not None and data.items:
        notes.append(f"timed with {whole(outcome.measured)} of {whole(data.items)} items")
    return html + "".join(tag("span", escape(note), class_="note") for note in notes)


def _fidelity(data: DataSet, outcome: Outcome) -> Cell:
    """A word with a mark; what changed unfolds below it."""
    if outcome.bound:
        return Cell(-1, '<span class="verdict">lower bound</span>')
    found = outcome.fidelity
    mark = f'<span class="mark" aria-hidden="true">{MARKS[found.verdict]}</span>'
    word = tag("span", f"{mark}{WORDS[found.verdict]}", class_="verdict")
    order = VERDICTS.index(found.verdict)
    if found.verdict == FAILED:
        return Cell(order, f'{word}<span class="reason">{escape(found.reason)}</span>')
    if not found.changes:
        return Cell(order, word)
    lines = "".join(
        f"<li>{escape(each.what)} <b>×{whole(each.count)}</b><code>{escape(each.where)}</code></li>"
        for each in found.changes
    )
    return Cell(order, f'<details class="changes"><summary>{word}</summary><ul>{lines}</ul></details>')
