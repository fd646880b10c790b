"""`holdall`, the command line. It needs click and rich: `pip install 'holdall[cli]'`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that `sys.argv` says, and exit."""
    try:
        import click
        import rich  # noqa: F401 - the commands' own need is said before any of them starts
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        print("holdall: the command line needs click and rich: pip install 'holdall[cli]'", file=sys.stderr)
        sys.exit(2)
    del click
    from ._app import holdall

    holdall(prog_name="holdall")
