"""`holdall schema`: which classes a file holds, with their fields and the types of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._alternatives import is_always
from ._app import Failure, about, output
from ._formats import detect, has_many, records
from ._merge import settled
from ._options import File, from_option
from ._paths import printable
from ._progress import progress
from ._seen import Seen
from ._write_python import STYLES, Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._seen import Layout

FORMATS = ("hold", "bson", "julia", "msgpack")
# Formats that hold dates and UUIDs as texts.
_PLAIN = ("bson", "msgpack")


def seen_in(file: str, format: str, report: object = None) -> Seen:
    """All that a file holds, in one pass; memory grows with the variety of its content, and with its largest record."""
    seen = Seen(texts=format in _PLAIN)
    for value in records(file, format, progress=report):  # type: ignore[arg-type]
        seen.add(value)
    return settled(seen)


@click.command("schema")
@click.argument("file", type=File)
@click.option("--python", "as_python", is_flag=True, help="Print a module with classes that load FILE.")
@click.option(
    "--as", "style", type=click.Choice(STYLES), help="What --python writes; dataclass unless given."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON Schema (2020-12) of the values, in plain form."
)
@from_option
def command(file: str, as_python: bool, style: str | None, as_json: bool, given: str | None) -> None:
    """Show which classes FILE holds, with their fields and the types that these have.

    Types are inferred from all values of FILE, or all records of a log, a dump or a stream. No class is needed, and none is
    imported. Dicts whose keys are names become classes too, if they are alike: if a key stands in all of them, or more than half of
    the keys in each on average. Other dicts are maps, `dict[str, int]`.

    \b
    Examples:
      holdall schema orders.hold
      holdall schema orders.bson --python --as pydantic > orders.py
    """
    if as_python and as_json:
        raise Failure(None, "--python and --json: choose one of them")
    if style is not None and not as_python:
        raise Failure(None, "--as goes with --python")
    with about(file):
        format = detect(file, given)
        if format not in FORMATS:
            raise Failure(
                file, f"{format} has no classes that could be loaded: `holdall convert` it to hold first"
            )
        with progress(file) as report:
            seen = seen_in(file, format, report)
        many = has_many(file, format)
    out = output()
    if as_json:
        from ._write_json_schema import written

        out.write([written(seen), "\n"])
    elif as_python:
        from ._write_python import written as module

        out.write([module(seen, format, style or STYLES[0], many)])
    else:
        out.print(_listed(seen, format, many))


def _listed(seen: Seen, format: str, many: bool) -> Iterator[tuple[str, str]]:
    names = Names(seen)
    what = f"{seen.count:,} record{'' if seen.count == 1 else 's'}, each" if many else "content"
    yield f"{format}, {what}: ", "note"
    yield f"{printable(names.annotation(seen.place))}\n", ""
    for layout in names.layouts:
        yield "\n", ""
        yield names.of[id(layout)], "name"
        yield f"  {printable(_about(layout))}\n", "note"
        if layout.members:
            yield f"    members: {printable(', '.join(sorted(map(str, layout.members))))}\n", ""
        if layout.content is not None:
            yield f"    *: {printable(names.annotation(layout.content))}\n", ""
        for name, (count, place) in layout.fields.items():
            yield f"    {printable(name)}: {printable(names.annotation(place))}", ""
            yield "\n" if is_always(layout, name) else f"  in {count:,}\n", "note"


def _about(layout: Layout) -> str:
    count = f"{layout.count:,} instance{'' if layout.count == 1 else 's'}"
    if layout.name is None:
        return f"dict, {count}"
    versions = sorted(layout.versions - {1})
    said = f", version {', '.join(map(str, sorted(layout.versions)))}" if versions else ""
    kind = next((kind for kind in ("enum", "julia") if kind in layout.kinds), "class")
    return f"{kind} {layout.name}{said}, {count}"
