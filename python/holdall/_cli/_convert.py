"""`holdall convert`: a file in another format, or all files of a folder."""

from __future__ import annotations

import os

import click

from ._app import Failure
from ._convert_file import convert_file
from ._formats import FORMATS
from ._options import from_option, records_option


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path(allow_dash=False))
@click.argument("target", metavar="OUT", type=click.Path(allow_dash=False))
@from_option
@click.option("--to", "to", type=click.Choice(FORMATS), help="The format of OUT; else by its extension.")
@click.option("--compress", type=click.Choice(["zstd", "lz4"]), help="Compress a hold file.")
@click.option("--force", is_flag=True, help="Replace OUT if it is there.")
@records_option
@click.option(
    "--engine", type=click.Choice(["dask"]), help="Convert a folder's files by workers: those of Dask."
)
@click.option("--scheduler", metavar="ADDRESS", help="The cluster's scheduler; else workers of this machine.")
@click.option("--workers", type=click.IntRange(1), help="How many of this machine; else one a core.")
@click.pass_context
def command(
    context: click.Context,
    source: str,
    target: str,
    given: str | None,
    to: str | None,
    compress: str | None,
    force: bool,
    as_records: bool,
    engine: str | None,
    scheduler: str | None,
    workers: int | None,
) -> None:
    """Write the values of IN to OUT in another format.

    Formats are hold, bson, julia, lisp, msgpack, json and jsonl; pickle is read, not written. Several records (a
    log, a dump of documents, a stream, lines of JSON) become a log, documents, a stream, lines; in json, a
    list. OUT is replaced when all of it is written, and stays as it was after an error.

    Instances become records; in formats without records, maps of their fields. In bson and msgpack tuples and
    sets become lists, and shared values are written at each of their places: what would take more than 8 MiB
    and 64 times of what there is is refused. JSON tags what it lacks (see
    `holdall cat --help`), and comes back as it was. Pickles are read as data: nothing is imported or called.

    IN may be a URL that fsspec knows: it is brought first, beside OUT, and deleted after.

    With `--engine dask`, IN and OUT are folders that all workers see. Each file of IN is converted into OUT, by
    the format that `--to` says. What was refused, and why, is told at the end, and stands with all the rest in
    OUT/.holdall-convert.jsonl; the exit code is 1 then. After a stop, the same command goes on where it was.

    \b
    Examples:
      holdall convert old.pickle new.hold --compress zstd
      holdall convert events.hold events.jsonl
      holdall convert dumps/ logs/ --to hold --engine dask
      holdall convert s3://dumps/2026/ logs/ --engine dask
    """
    if engine is not None:
        from ._convert_folder import convert_folder

        options = {"given": given, "to": to or "hold", "compress": compress, "as_records": as_records}
        context.exit(
            convert_folder(source, target, options, force=force, scheduler=scheduler, workers=workers)
        )
    for name, value in (("--scheduler", scheduler), ("--workers", workers)):
        if value is not None:
            raise click.UsageError(f"{name} is for --engine dask", context)
    for path in (source, target):
        if os.path.isdir(path):
            raise Failure(path, "it is a folder: --engine dask converts all files of one")
    convert_file(source, target, given, to, compress, force, as_records)
