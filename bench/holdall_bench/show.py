"""A run as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .results import CHANGED, COPIES, FAILED, SAME, DataSet, Operation, Outcome, Run
from .units import amount, spread, time_text

STAR = "★"
HEADINGS = ("dumps", "±", "loads", "±", "bytes", "first dumps", "first loads", "collector", "peak")
NARROW = ("dumps", "loads", "bytes")
WIDE = 140
STYLES = {SAME: "", COPIES: "yellow", CHANGED: "yellow"}


def show(run: Run, console: Console) -> None:
    """Print everything: the answer first, then a table for each data set, then what one has to know."""
    wide = console.width >= WIDE
    for suite, data_sets in run.suites():
        console.rule(f"[bold]{suite}", align="left")
        for data in data_sets:
            console.print(data_table(data, wide))
            for line in failures(data):
                console.print(line)
            console.print(answer(data))
            console.print()
    for name, points in run.curves.items():
        console.print(curve_table(name, points))
        console.print()
    console.print(footnotes(run))


def data_table(data: DataSet, wide: bool) -> Table:
    """wide: with the columns that one can do without."""
    each = " (times for one of them)" if data.items else ""
    title = data.title + each + (f"\n{data.note}" if data.note else "")
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", expand=False)
    table.add_column("codec", no_wrap=True)
    for heading in HEADINGS:
        if wide or heading in NARROW:
            table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what came back", overflow="fold", min_width=20)
    best = {op: data.best(op) for op in ("dumps", "loads")}
    for outcome in ordered(data):
        if outcome.fidelity.verdict == FAILED:
            continue
        found = list(cells(data, outcome, best, data.items))
        if not wide:
            found = [
                found[0],
                *(found[i + 1] for i, name in enumerate(HEADINGS) if name in NARROW),
                found[-1],
            ]
        table.add_row(*found, style=row_style(data, outcome))
    return table


def ordered(data: DataSet) -> list[Outcome]:
    """Those that did the job, the quickest there and back first; then those that changed the data; then the failed."""

    def rank(outcome: Outcome) -> tuple[int, float]:
        total = sum(outcome.time(op) or 0 for op in ("dumps", "loads"))
        if outcome.fidelity.verdict == FAILED:
            return 3, 0
        return (2 if outcome.bound else 0 if data.keeps(outcome) else 1), total

    return sorted(data.outcomes, key=rank)


def failures(data: DataSet) -> Iterator[Text]:
    """Those that can't, by the reason."""
    reasons: dict[str, list[str]] = {}
    for outcome in data.outcomes:
        if outcome.fidelity.verdict == FAILED:
            reasons.setdefault(outcome.fidelity.reason, []).append(outcome.codec)
    for reason, names in reasons.items():
        yield Text(f"✗ {', '.join(names)}: {reason}", style="red")


def row_style(data: DataSet, outcome: Outcome) -> str:
    return "" if data.keeps(outcome) and not outcome.bound else "dim"


def cells(
    data: DataSet, outcome: Outcome, best: dict[str, Outcome | None], unit: int | None
) -> Iterator[RenderableType]:
    name = Text(outcome.codec, style="bold cyan" if outcome.codec.startswith("holdall") else "")
    if outcome.measured:
        name.append(f" ({outcome.measured:,} items)", style="dim")
    yield name
    for op in ("dumps", "loads"):
        operation = outcome.operation(op)
        timing = operation.usual if operation else None
        won = best[op] is outcome
        yield starred(time_text(timing.median, unit) if timing else "", won)
        yield spread(timing) if timing else ""
    size = outcome.size
    yield starred(f"{size:,}" if size is not None else "", data.smallest is outcome)
    for op in ("dumps", "loads"):
        operation = outcome.operation(op)
        # A first call is one item's.
        yield time_text(operation.first, 1 if unit else None) if operation else ""
    yield collector(outcome.loads)
    yield peak(outcome)
    fidelity = outcome.fidelity
    mark = "✓ " if fidelity.verdict == SAME else "≠ "
    note = f", {outcome.note}" if outcome.note else ""
    yield Text("" if outcome.bound else mark + fidelity.tells + note, style=STYLES[fidelity.verdict])


def starred(text: str, won: bool) -> Text:
    return Text(f"{STAR} {text}", style="bold green") if won else Text(text)


def collector(operation: Operation | None) -> str:
    """Of loads: the share of the time in which Python's garbage collector runs."""
    timing = operation.on if operation else None
    if timing is None or timing.collected is None:
        return ""
    return f"{timing.collected / timing.median:.0%}"


def peak(outcome: Outcome) -> str:
    peaks = [operation.peak for operation in (outcome.dumps, outcome.loads) if operation]
    return " / ".join("" if each is None else amount(each) for each in peaks) if any(peaks) else ""


def answer(data: DataSet) -> Text:
    """In a line: who wins, and by how much over the next."""
    parts = []
    for op in ("dumps", "loads"):
        best = data.best(op)
        if best is None:
            continue
        behind = sorted(
            (time, each.codec)
            for each in data.rivals
            if family(each) != family(best) and (time := each.time(op)) is not None
        )
        time = best.time(op)
        assert time is not None
        text = f"{op}: {best.codec}"
        if behind:
            text += f", {behind[0][0] / time:.1f}x as fast as {behind[0][1]}"
        bound = data.bound(op)
        if bound:
            text += f", {time / bound:.1f}x the lower bound"
        parts.append(text)
    smallest = data.smallest
    if smallest is not None:
        parts.append(f"smallest: {smallest.codec}")
    if not parts:
        return Text("Nobody gives back what was stored.", style="yellow")
    return Text(f"{STAR} of those that give back what was stored: " + "; ".join(parts), style="green")


def family(outcome: Outcome) -> str:
    """Modes of one library are no rivals of each other."""
    return outcome.codec.split()[0].split(".")[0]


def curve_table(name: str, points: list[DataSet]) -> Table:
    table = Table(title=f"{name}: nanoseconds per byte", title_justify="left", title_style="bold")
    table.add_column("codec", no_wrap=True)
    for data in points:
        table.add_column(amount(data.piece), justify="right")
    table.add_column("largest ÷ smallest", justify="right")
    for cells in curve_rows(points):
        table.add_row(*cells)
    return table


def curve_rows(points: list[DataSet]) -> Iterator[list[str]]:
    """For each codec and operation: its name, nanoseconds per byte at each point, the largest over the smallest."""
    codecs = dict.fromkeys(outcome.codec for data in points for outcome in data.outcomes)
    for codec in codecs:
        for op in ("dumps", "loads"):
            found = [data.outcome(codec) for data in points]
            times = [outcome.time(op) if outcome else None for outcome in found]
            costs = [
                None if time is None else time / data.volume for time, data in zip(times, points, strict=True)
            ]
            known = [cost for cost in costs if cost is not None]
            if known:
                row = ["" if cost is None else f"{cost:.2f}" for cost in costs]
                yield [f"{codec} {op}", *row, f"{max(known) / min(known):.2f}"]


def footnotes(run: Run) -> Group:
    machine = run.machine
    memory = f", {amount(machine.memory)}" if machine.memory else ""
    lines = [
        Text(
            f"{STAR} the best of those that give back what was stored. Times are medians with the garbage collector on; "
            "± half the distance of the quartiles. Collector: its share of loads. Peak: memory of dumps / loads. "
            "Dim: what came back is not what was stored, or it is the lower bound.",
            style="dim",
        ),
        Text(
            f"{machine.processor}, {machine.cores} cores{memory}, {machine.system}, {machine.python}",
            style="dim",
        ),
        Text(", ".join(f"{name} {version}" for name, version in run.versions.items()), style="dim"),
    ]
    lines += [Text(note, style="yellow") for note in run.notes]
    if run.absent:
        reasons: dict[str, list[str]] = {}
        for each in run.absent:
            reasons.setdefault(each.reason, []).append(each.codec)
        for reason, names in reasons.items():
            lines.append(Text(f"absent: {', '.join(names)}: {reason}", style="yellow"))
    lines.append(Text(f"{run.command}: {run.seconds:.0f} s, {run.when}", style="dim"))
    return Group(*lines)
