"""`holdall cat`: the values of a file."""

from __future__ import annotations

from itertools import islice

import click

from . import _json
from ._app import about, output
from ._formats import detect, records
from ._options import File, from_option, json_option, records_option
from ._pretty import pretty
from ._progress import progress


@click.command("cat")
@click.argument("file", type=File)
@json_option
@click.option(
    "--start", type=click.IntRange(0), default=0, metavar="N", help="Pass over the first N records."
)
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Print no more than N records.")
@from_option
@records_option
def command(
    file: str, as_json: bool, start: int, limit: int | None, given: str | None, as_records: bool
) -> None:
    """Print the values of FILE, as Python.

    Of a log, a dump of several BSON documents or a stream of MessagePack each record in turn, in constant
    memory. Instances are shown as records. A container that was shown before is `<as at PATH>`.

    With --json each record is one line. What JSON lacks is tagged: {"$tuple": [1, 2]}, {"$bytes": "aGk="},
    {"$ref": "$.users[0]"}.

    \b
    Example:
      holdall cat events.hold --json --start 100 --limit 3
    """
    out = output()
    room = _json.Room()
    with about(file):
        format = detect(file, given)
        with progress(file) as report:
            found = records(file, format, start=start, as_records=as_records, progress=report)
            for value in islice(found, limit):
                if as_json:
                    out.write(_json.pieces(value, room))
                else:
                    out.print(pretty(value, out.width))
                out.write(["\n"])
