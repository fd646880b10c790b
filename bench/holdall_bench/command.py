"""`holdall bench`: codecs next to each other, on data of several kinds or your own."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdall._cli._app import DIFFERENT, OK, Failure, explained, output

from .suites import BY_DEFAULT, SUITES

if TYPE_CHECKING:
    from .results import Run
    from .runner import Progress, Settings

DATA_HELP = "Your own data: FILE.py:FUNCTION, or a JSON, hold, MessagePack or BSON file. May be given again."
CODEC_HELP = "This codec or package only, or a pattern with *; or FILE.py with `dumps` and `loads`, to be added. May be given again."
_Out: Any = click.Path(dir_okay=False, allow_dash=True)


@click.command("bench")
@click.argument("suites", metavar="[SUITE]...", nargs=-1, type=click.Choice([*SUITES, "kinds"]))
@click.option(
    "--kind",
    "kinds",
    metavar="PATTERN",
    multiple=True,
    help="With `kinds`: those of this name. May be given again.",
)
@click.option("--data", "own", metavar="SOURCE", multiple=True, help=DATA_HELP)
@click.option("--codec", "codecs", metavar="CODEC", multiple=True, help=CODEC_HELP)
@click.option("--full", is_flag=True, help="As much data as the originals have; takes far longer.")
@click.option(
    "--seconds",
    type=click.FloatRange(0),
    default=6.0,
    show_default=True,
    help="For the rounds of one data set.",
)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="At least so many.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="For any one call; by default 10, with --full 300.",
)
@click.option(
    "--collector",
    type=click.Choice(["on", "off", "both"]),
    default="both",
    show_default=True,
    help="Python's garbage collector during the timed calls.",
)
@click.option("--no-memory", is_flag=True, help="Leave out peak memory and what Python allocates.")
@click.option(
    "--corpora",
    type=click.Path(exists=True, file_okay=False),
    help="A folder with twitter.json and its like, for `documents`.",
)
@click.option("--json", "json_file", type=_Out, help="Write everything as JSON; - is stdout.")
@click.option("--csv", "csv_file", type=_Out, help="Write a row for each codec and data set; - is stdout.")
@click.option("--markdown", "markdown_file", type=_Out, help="Write tables for a page; - is stdout.")
@click.option(
    "--html",
    "html_file",
    type=click.Path(dir_okay=False),
    help="Write one page with tables and plots. Needs plotly.",
)
@click.option(
    "--history",
    type=click.Path(dir_okay=False),
    metavar="FILE.hold",
    help="Keep the results there; print the speedup against the last.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Exit with 1 where a codec that was asked for (or else holdall) is slower than --history says, beyond the noise.",
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="Print the suites, their data sets and the codecs, and measure nothing.",
)
@click.option(
    "--build-floor", is_flag=True, help="Compile the lower bound, a C extension, once; CPython 3.11."
)
def command(
    suites: tuple[str, ...],
    kinds: tuple[str, ...],
    own: tuple[str, ...],
    codecs: tuple[str, ...],
    full: bool,
    seconds: float,
    rounds: int,
    patience: float | None,
    collector: str,
    no_memory: bool,
    corpora: str | None,
    json_file: str | None,
    csv_file: str | None,
    markdown_file: str | None,
    html_file: str | None,
    history: str | None,
    check: bool,
    listing: bool,
    build_floor: bool,
) -> int:
    """Measure how fast codecs store and restore data, how small, with how much memory, and what they change.

    Without a SUITE or --data, all suites but `scaling` and `kinds` are run. `kinds` is run by itself, and has a table of its
    own: a hundred kinds of values with new content each time, and who is ahead of whom. Each codec has a process of its own for each data set;
    what comes back is compared with what was stored before anything is timed. Codecs that are not installed are named:
    `pip install 'holdall[bench]'` has nearly all of them.

    \b
    Examples:
      holdall bench bakeoff
      holdall bench --data records.py:load --codec holdall --codec msgspec --codec pickle
      holdall bench documents --corpora data/json --html report.html
    """
    from .export import as_csv, as_json
    from .markdown import as_markdown
    from .runner import Settings

    if "kinds" in suites or kinds:
        if set(suites) != {"kinds"} or own:
            raise click.UsageError("`kinds` is run by itself")
        return _kinds(kinds, seconds, rounds, json_file)
    if build_floor:
        _build_floor()
        if not (suites or own):
            return OK
    if corpora:
        os.environ["HOLDALL_CORPORA"] = os.path.abspath(corpora)
    if check and not history:
        raise click.UsageError("--check needs --history")
    asked = list(suites) or ([] if own else list(BY_DEFAULT))
    if listing:
        _list(list(suites) or list(SUITES), full)
        return OK
    collectors = ("on", "off") if collector == "both" else (collector,)
    settings = Settings(
        seconds, rounds, patience or (300.0 if full else 10.0), collectors, memory=not no_memory, full=full
    )
    if html_file:
        _need("plotly", "the page's plots")
    for path in (json_file, csv_file, markdown_file, html_file, history):
        _can_be_written(path)
    earlier = _earlier(history) if history else []
    run = _measure(asked, list(own), codecs, settings)
    written = ((json_file, as_json), (csv_file, as_csv), (markdown_file, as_markdown))
    if not any(path == "-" for path, _ in written):
        _show(run)
    for path, made in written:
        if path:
            _write(path, made(run))
    if html_file:
        from .page import write_page

        _write(html_file, write_page(run))
    return _remember(history, run, earlier, _checked(codecs, run) if check else []) if history else OK


def _kinds(names: tuple[str, ...], seconds: float, rounds: int, json_file: str | None) -> int:
    import json
    from dataclasses import asdict

    from . import kinds

    # `--seconds` is for a data set; there are a hundred kinds.
    settings = kinds.Settings(seconds=seconds / 15, rounds=rounds, names=names)
    with _Bar() as bar:
        rows = kinds.measure(settings, bar.progress.tell)
    if not rows:
        raise Failure("bench", "no kind of that name")
    if json_file != "-":
        output().write([line + "\n" for line in kinds.table(rows)])
    if json_file:
        _write(json_file, json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return OK


def _measure(suites: list[str], own: list[str], asked: tuple[str, ...], settings: Settings) -> Run:
    from .codecs import by_name, chosen
    from .own_data import find_data
    from .run import run
    from .runner import NoData, all_sources

    files = tuple(os.path.abspath(name) for name in asked if name.endswith(".py"))
    try:
        names = chosen(tuple(name for name in asked if not name.endswith(".py")), files)
    except LookupError as missing:
        raise Failure(
            "bench", f"no codec or package `{missing.args[0]}`; `holdall bench --list` has them"
        ) from None
    sources = list(all_sources(suites, own, settings.full))
    for what, find in [(name, by_name) for name in files] + [
        (source[1], lambda _, source=source: find_data(source, settings.full))
        for source in sources
        if source[0] == "file"
    ]:
        # Errors in the user's own files are told before anything is measured.
        try:
            find(what)
        except LookupError as error:
            raise Failure(None, str(error.args[0])) from None
        except OSError as error:
            raise explained(what, error) from None
        except Exception as error:
            raise Failure(what, f"{type(error).__name__}: {error}") from None
    command = " ".join(["holdall", "bench", *map(shlex.quote, sys.argv[2:])])
    try:
        with _Bar() as bar:
            return run(sources, names, settings, bar.progress, command)
    except NoData as error:
        raise Failure(None, f"the data can't be made: {error}") from None


class _Bar:
    """What is being measured, on stderr where that is a terminal."""

    def __enter__(self) -> _Bar:
        import rich.progress
        from rich.console import Console

        from .runner import Progress

        console = Console(stderr=True)
        self._bar = rich.progress.Progress(
            rich.progress.BarColumn(20),
            rich.progress.TaskProgressColumn(),
            rich.progress.TimeElapsedColumn(),
            rich.progress.TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=1.0)
        self._bar.start()
        self.progress: Progress = Progress(
            lambda text, share: self._bar.update(self._task, description=text, completed=share)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def _show(run: Run) -> None:
    from rich.console import Console

    from .show import show

    out = output()
    color = out.has_color(sys.stdout)
    # Tables are cut off where nobody can widen the window.
    width = None if sys.stdout.isatty() else 170
    show(run, Console(width=width, force_terminal=color or None, no_color=not color, highlight=False))


def _write(path: str, text: str) -> None:
    if path == "-":
        output().write([text])
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise explained(path, error) from None


def _checked(asked: tuple[str, ...], run: Run) -> list[str]:
    """Whose speed --check is about: those that were asked for, or else holdall's."""
    if asked:
        return run.codecs
    return [name for name in run.codecs if name.startswith("holdall")]


def _can_be_written(path: str | None) -> None:
    """What can't be is told before anything is measured."""
    if path in (None, "-"):
        return
    assert path is not None
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise Failure(path, "no such file or directory")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise Failure(path, "permission denied")


def _earlier(path: str) -> list[Run]:
    from . import history

    try:
        return history.last_runs(Path(path))
    except Exception as error:
        raise explained(path, error) from None


def _remember(path: str, run: Run, earlier: list[Run], checked: list[str]) -> int:
    """Print the speedup against the last run; keep this one, unless one of those checked is slower."""
    from . import history

    comparisons = history.compare(run, earlier)
    out = output()
    for line, style in history.lines(comparisons):
        out.print([(line + "\n", style)])
    if any(each.slower and each.codec in checked for each in comparisons):
        return DIFFERENT
    try:
        history.keep(Path(path), run)
    except Exception as error:
        raise explained(path, error) from None
    return OK


def _list(suites: list[str], full: bool) -> None:
    from .codecs import CODECS
    from .suites import suite

    out = output()
    for name in suites:
        out.print([(f"{name}", "name"), (f"  {SUITES[name]}\n", "")])
        for data in suite(name, full):
            out.print([(f"  {data.name:22}", ""), (f"{data.title}\n", "note")])
    out.print([("\ncodecs\n", "name")])
    for codec in CODECS:
        out.print([(f"  {codec.name:24}", ""), (f"{codec.keeps:40} {codec.way}\n", "note")])


def _build_floor() -> None:
    from .floor_build import NotBuilt, build

    try:
        path = build()
    except NotBuilt as reason:
        raise Failure(None, f"the lower bound can't be built: {reason}") from None
    output().print([("the lower bound is built: ", ""), (f"{path}\n", "name")])


def _need(package: str, what: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise Failure(None, f"{what} need {package}: pip install 'holdall[bench]'")
