"""A run as tables for a page."""

from __future__ import annotations

from collections.abc import Iterator

from .results import FAILED, SAME, DataSet, Outcome, Run
from .show import STAR, curve_rows, ordered
from .units import amount, spread, time_text

HEADINGS = ("codec", "dumps", "loads", "bytes", "peak memory of loads", "what came back")


def as_markdown(run: Run) -> str:
    return "\n".join(lines(run)) + "\n"


def lines(run: Run) -> Iterator[str]:
    for data in run.data_sets:
        if not data.curve:
            yield f"**{escaped(data.title)}**" + (f" ({escaped(data.note)})" if data.note else "")
            yield ""
            yield from table(data)
            yield ""
    for name, points in run.curves.items():
        yield f"**{escaped(name)}**: nanoseconds per byte"
        yield ""
        yield from curve(points)
        yield ""
    yield from where(run)


def table(data: DataSet) -> Iterator[str]:
    yield row(HEADINGS)
    yield "|---|---|---|---|---|---|"
    bests = {op: data.best(op) for op in ("dumps", "loads")}
    for outcome in ordered(data):
        if outcome.fidelity.verdict == FAILED:
            yield row([escaped(outcome.codec), "", "", "", "", "fails: " + escaped(outcome.fidelity.reason)])
            continue
        size = "" if outcome.size is None else starred(f"{outcome.size:,}", data.smallest is outcome)
        loads = outcome.loads
        peak = amount(loads.peak) if loads and loads.peak is not None else ""
        some = f" ({outcome.measured:,} items)" if outcome.measured else ""
        yield row(
            [
                escaped(outcome.codec) + some,
                *(time_cell(data, outcome, op, bests[op] is outcome) for op in ("dumps", "loads")),
                size,
                peak,
                came_back(outcome),
            ]
        )


def time_cell(data: DataSet, outcome: Outcome, op: str, won: bool) -> str:
    operation = outcome.operation(op)
    timing = operation.usual if operation else None
    if timing is None:
        return ""
    return starred(f"{time_text(timing.median, data.items)} ±{spread(timing)}".replace("±once", "once"), won)


def came_back(outcome: Outcome) -> str:
    if outcome.bound:
        return ""
    told = "everything" if outcome.fidelity.verdict == SAME else escaped(outcome.fidelity.tells)
    return ", ".join(filter(None, (told, outcome.note)))


def curve(points: list[DataSet]) -> Iterator[str]:
    yield row(["codec", *(amount(data.piece) for data in points), "largest ÷ smallest"])
    yield "|---" * (len(points) + 2) + "|"
    for cells in curve_rows(points):
        yield row(map(escaped, cells))


def where(run: Run) -> Iterator[str]:
    """The machine, the versions, the command."""
    machine = run.machine
    memory = f", {amount(machine.memory)}" if machine.memory else ""
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    yield (
        f"{machine.processor}, {machine.cores} cores{memory}, {machine.system}, {machine.python}; {versions}. "
        f"`{run.command}`, {run.when}, {run.seconds:.0f} s."
    )
    for absent in run.absent:
        yield ""
        yield f"Absent: {escaped(absent.codec)}, {escaped(absent.reason)}."


def starred(text: str, won: bool) -> str:
    return f"{STAR} **{text}**" if won else text


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def row(cells: object) -> str:
    return "| " + " | ".join(cells) + " |"  # type: ignore[arg-type]
