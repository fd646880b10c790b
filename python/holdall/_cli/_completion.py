"""`holdall completion`: what shells need to complete arguments."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ._app import output


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and files in SHELL.

    \b
    Example, in ~/.bashrc:
      eval "$(holdall completion bash)"
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "holdall", "_HOLDALL_COMPLETE")
    # `source()` would also check which bash is installed here.
    output().write([script.source_template % script.source_vars(), "\n"])
