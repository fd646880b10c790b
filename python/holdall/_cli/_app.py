"""The group of commands: which there are, what all of them share, and how errors are told."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from .._core import __version__
from ._paths import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# One module `_NAME.py` for each, with the command as `command`, but for those of `ADDED`. It is imported when it is asked for; the
# help of all needs none of them.
COMMANDS = {
    "cat": "print the values of a file, as Python or JSON",
    "get": "print one member of a file, without reading the rest",
    "inspect": "show what a file consists of",
    "schema": "show which classes a file holds; write Python or JSON Schema for them",
    "convert": "write a file in another format",
    "diff": "compare two files, value by value",
    "lock": "write down how classes are stored; say which change of code breaks that",
    "rewrite": "store old files as the code of today does",
    "verify": "check every frame and checksum; repair logs",
    "bench": "measure formats on your own data",
    "completion": "print the completion script of a shell",
}
# Commands of other distributions: what installs them. They are found by their names among the entry points of this group.
ADDED = {"bench": "holdall[bench]"}
ENTRY_POINTS = "holdall.commands"

OK, DIFFERENT, ERROR, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


class Failure(Exception):
    """What ends a command: one line for stderr, and the exit code."""

    def __init__(self, file: str | None, message: str, *, code: int = ERROR) -> None:
        super().__init__(message)
        self.file = file
        self.message = message
        self.code = code

    def __str__(self) -> str:
        text = f"{self.file}: {self.message}" if self.file else self.message
        # What a file's name or a path may hold must not make lines of its own.
        return printable(text)


class _PipeClosed(Exception):
    """A BrokenPipeError, past click, which would end with 1: an exit code that says something else here."""


class Commands(click.Group):
    """A group whose commands are modules, and whose errors are one line."""

    output: Output

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in ADDED:
            return _added(name)
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"{__package__}._{name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name in ADDED and _added(name) is None:
            raise Failure(None, f"`holdall {name}` is not installed: pip install '{ADDED[name]}'")
        if not name.startswith("-") and name not in COMMANDS:
            import difflib

            like = difflib.get_close_matches(name, COMMANDS, 1)
            hint = f": did you mean `{like[0]}`?" if like else "; `holdall --help` lists them"
            raise Failure(None, f"no command `{name}`{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in COMMANDS])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _PipeClosed from None

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        # click has a form of this method for each mode.
        run: Any = partial(super().main, *args, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        self.output = Output("auto")
        sys.exit(_run(run, self))


def _added(name: str) -> click.Command | None:
    # 15 ms, which only those who ask for such a command pay.
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name=name):
        command: click.Command = found.load()
        return command
    return None


def _run(run: Callable[[], Any], group: Commands) -> int:
    """Run a command; its exit code. Errors are told on stderr, in one line each."""
    try:
        try:
            code = run()
            sys.stdout.flush()
        except (BrokenPipeError, _PipeClosed, SystemExit, KeyboardInterrupt):
            raise
        # Also what is no Exception: a panic of the native module.
        except BaseException as error:
            # Before the message, so that it stands behind what was printed.
            sys.stdout.flush()
            raise _failure(error) from None
    except (BrokenPipeError, _PipeClosed):
        # Whoever read the output has enough, as `head` does; Python would complain about it at exit.
        # Where stdout is no real file, as in tests, there is nothing to complain about.
        with open(os.devnull, "w") as nowhere, suppress(OSError, ValueError):
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return PIPE_CLOSED
    except Failure as failure:
        return tell(failure, group.output)
    return code if isinstance(code, int) else OK


def tell(failure: Failure, out: Output) -> int:
    """Print what failed; its exit code."""
    sys.stdout.flush()
    click.echo(
        f"{click.style('holdall:', fg='red', bold=True)} {failure}", err=True, color=out.has_color(sys.stderr)
    )
    return failure.code


def _failure(error: BaseException) -> Failure:
    if isinstance(error, Failure):
        return error
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "holdall"
        name = command.removeprefix("holdall").strip() or None
        message = error.format_message().rstrip(".")
        return Failure(name, f"{message[:1].lower()}{message[1:]}; see `{command} --help`")
    if isinstance(error, click.exceptions.Abort):
        return Failure(None, "interrupted", code=INTERRUPTED)
    if isinstance(error, click.ClickException):
        return Failure(None, error.format_message())
    return explained(None, error)


def explained(file: str | None, error: BaseException) -> Failure:
    """An error as a line about a file."""
    import holdall

    if isinstance(error, Failure):
        error.file = error.file or file
        return error
    if isinstance(error, OSError):
        return Failure(str(error.filename or file or "") or None, (error.strerror or str(error)).lower())
    if isinstance(error, MemoryError):
        return Failure(file, "not enough memory")
    if isinstance(error, RecursionError):
        return Failure(file, "nested too deep for this command")
    if not isinstance(error, (holdall.HoldallError, ModuleNotFoundError)):
        return Failure(file, f"internal error: {type(error).__name__}: {error}")
    message = str(error)
    offset = getattr(error, "offset", None)
    if offset is not None:
        message = f"{message.removesuffix(f' - at byte {offset}')} (offset {offset})"
    if "trust=True" in message:
        # No option of this program's does that.
        message = (
            f"a trusted message, which may import and call: this command never loads those (offset {offset})"
        )
    return Failure(file, message)


@contextmanager
def about(file: str) -> Iterator[None]:
    """What goes wrong inside is an error of this file."""
    try:
        yield
    except (BrokenPipeError, click.ClickException, click.exceptions.Abort, click.exceptions.Exit):
        raise
    except Exception as error:
        raise explained(file, error) from None


class Output:
    """stdout, with colours or without."""

    def __init__(self, color: str) -> None:
        self._color = color

    def has_color(self, stream: Any) -> bool:
        if self._color != "auto":
            return self._color == "always"
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and bool(stream.isatty())

    def print(self, pieces: Iterable[tuple[str, str]]) -> None:
        """Text with the names of its styles; written in parts, so that memory doesn't grow with it."""
        from ._pretty import STYLES

        stream = sys.stdout
        if self.has_color(stream):
            texts = (click.style(text, **STYLES[style]) if style else text for text, style in pieces)
        else:
            texts = (text for text, _ in pieces)
        self.write(texts)

    def write(self, texts: Iterable[str]) -> None:
        stream, waiting, size = sys.stdout, [], 0
        for text in texts:
            waiting.append(text)
            size += len(text)
            if size > 1 << 16:
                stream.write(_writable("".join(waiting), stream))
                waiting, size = [], 0
        stream.write(_writable("".join(waiting), stream))

    @property
    def width(self) -> int:
        import shutil

        return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


def _writable(text: str, stream: Any) -> str:
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def output() -> Output:
    """That of the command that runs."""
    found = click.get_current_context().find_object(Output)
    return found or Output("auto")


_EPILOG = """\b
Exit codes: 0 done; 1 a difference, damage, or nothing there; 2 wrong usage or another error; 130 interrupted.
Errors are one line on stderr. Nothing that a file says is ever imported or called; `lock` and `rewrite`
import the modules that --code names.

\b
Examples:
  holdall cat log.hold --limit 10
  holdall get model.bson 'layers[0].weight'
  holdall convert old.pickle new.hold
"""


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=_EPILOG,
    name="holdall",
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Colours; auto: on a terminal, unless NO_COLOR is set.",
)  # fmt: skip
@click.version_option(__version__, message="holdall %(version)s")
@click.pass_context
def holdall(ctx: click.Context, color: str) -> None:
    """Look at, convert, compare and check files of hold, BSON, Julia's BSON, MessagePack, JSON and pickle."""
    ctx.obj = Output(color)
    if isinstance(ctx.command, Commands):
        # For errors, which are told when the context is gone.
        ctx.command.output = ctx.obj
