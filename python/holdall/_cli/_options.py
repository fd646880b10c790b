"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from ._formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

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
