"""`holdall get`: one member of a file."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from . import _json, _paths
from ._app import DIFFERENT, Failure, about, output
from ._formats import detect, has_many, is_document, opened, records, several
from ._options import File, from_option, json_option, records_option
from ._pretty import pretty


@click.command("get")
@click.argument("file", type=File)
@click.argument("path")
@json_option
@from_option
@records_option
def command(file: str, path: str, as_json: bool, given: str | None, as_records: bool) -> None:
    """Print what stands at PATH in FILE. Of files that allow it, nothing else is read.

    PATH is like users[3].name, with or without `$.` before it; ["odd key"] or [b"key"] for keys that are no
    names; [-1] is the last. Of a file with several records the first step is a record's number. Exit code 1:
    nothing is there.

    \b
    Example:
      holdall get people.hold 'users[3].name'
    """
    try:
        steps = _paths.parse(path)
    except ValueError as error:
        raise Failure(None, str(error)) from None
    out = output()
    with about(file):
        format = detect(file, given)
        try:
            value = _find(file, format, steps, as_records)
        except _paths.Missing as missing:
            there = _paths.show(steps[: missing.place])
            step = _paths.show(steps[missing.place : missing.place + 1])[1:]
            raise Failure(file, f"nothing at {there}{step}: {missing.why}", code=DIFFERENT) from None
        if as_json:
            out.write(_json.pieces(value))
        else:
            out.print(pretty(value, out.width))
        out.write(["\n"])


def _find(file: str, format: str, steps: tuple[Any, ...], as_records: bool) -> Any:
    place = 0
    value: Any
    if format == "pickle":
        many, values = several(file, format, records(file, format, as_records=as_records))
    else:
        many, values = has_many(file, format), None
    if many:
        value = _record(file, format, steps, as_records)
        place, steps = 1, steps[1:]
    elif values is not None:
        value = next(values)
    else:
        value = opened(file, format)
    try:
        found = _paths.lookup(value, steps)
        # Loaded while the file is open.
        return found.load() if is_document(found) else found
    except _paths.Missing as missing:
        missing.place += place
        raise
    finally:
        if is_document(value):
            value.close()


def _record(file: str, format: str, steps: tuple[Any, ...], as_records: bool) -> Any:
    """One of several records, by its number."""
    number = steps[0] if steps else None
    if type(number) is not int or number < 0:
        raise Failure(file, "it has several records: the path must begin with the number of one, like [0]")
    found = list(islice(records(file, format, start=number, as_records=as_records), 1))
    if not found:
        raise _paths.Missing(0, "there are fewer records")
    return found[0]
