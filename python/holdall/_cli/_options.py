"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from ._formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._seal import Seal

    FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)

File: Any = click.Path(dir_okay=False, allow_dash=False)


def format_option(name: str, dest: str, help: str) -> Callable[[FC], FC]:
    return click.option(name, dest, type=click.Choice(FORMATS), help=help)


from_option = format_option("--from", "given", "The file's format; else by its extension or its bytes.")
json_option = click.option("--json", "as_json", is_flag=True, help="One line of JSON for each value.")
code_option = click.option(
    "--code",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="A module to import, with the classes and registrations; may be given several times.",
)
records_option = click.option(
    "--records",
    "as_records",
    is_flag=True,
    help="Of a pickle: instances that are a class and its fields become records.",
)


def seal_options(command: FC) -> FC:
    """`--key` and `--context`, of which `seal_of` makes a seal."""
    key = click.option(
        "--key",
        "key",
        type=File,
        metavar="KEYFILE",
        help="A file with the key of what is sealed: its bytes, or one line of text.",
    )
    context = click.option(
        "--context", "context", default="", metavar="TEXT", help="What it was sealed for, with --key."
    )
    return key(context(command))


def seal_of(key: str | None, context: str) -> Seal | None:
    """The seal of a key file; None: no key was given.

    Raises OSError: as the file system says. Raises Failure: what is no key.
    """
    if key is None:
        if context:
            raise click.UsageError("--context goes with --key")
        return None
    from .._seal import Seal
    from ._app import Failure

    with open(key, "rb") as opened:
        secret = opened.read()
    # A line of text ends as editors and shells end it; random bytes are no text.
    is_text = secret.isascii()
    try:
        return Seal(secret.decode().rstrip("\r\n") if is_text else secret, context=context)
    except ValueError as error:
        raise Failure(key, str(error)) from None
