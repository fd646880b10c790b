"""`holdall verify`: whether files are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import holdall

from ._app import DIFFERENT, OK, Failure, about, explained, output, tell
from ._formats import detect, records
from ._options import File, from_option, seal_of, seal_options
from ._progress import progress

if TYPE_CHECKING:
    from .._seal import Seal

_hold: Any = holdall


@click.command("verify")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=File)
@click.option("--repair", is_flag=True, help="Cut off or pass over what is damaged in logs.")
@click.option("--quiet", is_flag=True, help="Print damaged files only.")
@from_option
@seal_options
def command(
    files: tuple[str, ...], repair: bool, quiet: bool, given: str | None, key: str | None, context: str
) -> int:
    """Read every frame and checksum of each FILE, and print `ok` or where it is damaged.

    Files of other formats than hold have no checksums: all their values are decoded. A damaged log keeps its
    whole records with --repair. With --key, each FILE has to be sealed with that key, and its seal is compared.

    Exit code 0: all are whole, or were repaired; 1: one is damaged; 2: one can't be read.

    \b
    Example:
      holdall verify *.hold
    """
    if key is not None and (repair or given is not None):
        raise click.UsageError("--key goes with neither --repair nor --from")
    with about(str(key)):
        seal = seal_of(key, context)
    return max(_verify(file, repair, quiet, given, seal) for file in files)


def _verify(file: str, repair: bool, quiet: bool, given: str | None, seal: Seal | None) -> int:
    out = output()
    try:
        format = detect(file, given) if seal is None else "hold"
        with progress(file) as report:
            if format == "hold":
                found = _hold.verify(file, repair=repair, progress=report, seal=seal)
                damage = [(each.offset, f"{each.reason} ({each.size:,} bytes)") for each in found.damage]
                facts = _facts(
                    found.kind or format, records=found.records, frames=found.frames, size=found.bytes
                )
                repaired = found.repaired
            else:
                count, damage = _decoded(file, format)
                facts, repaired = (
                    _facts(format, records=count if has_several(file, format, count) else None),
                    None,
                )
    except (OSError, holdall.HoldallError, MemoryError) as error:
        # The other files are checked all the same.
        return tell(explained(file, error), out)
    if not damage:
        if not quiet:
            out.print([(file, ""), (": ", ""), ("ok", "text"), (f" ({facts})\n", "note")])
        return OK
    for offset, reason in damage:
        out.print([(file, ""), (": ", ""), ("damaged", "removed"), (f": {reason} (offset {offset})\n", "")])
    if repaired:
        out.print([(file, ""), (": ", ""), ("repaired", "name"), (f": {repaired}\n", "")])
        return OK
    if repair:
        tell(Failure(file, "it can't be repaired: only logs can"), out)
    return DIFFERENT


def has_several(file: str, format: str, count: int) -> bool:
    return count != 1 or format == "jsonl"


def _decoded(file: str, format: str) -> tuple[int, list[tuple[int, str]]]:
    """The number of values, and the error of the first bad one."""
    count = 0
    try:
        for _ in records(file, format):
            count += 1
    except holdall.DecodeError as error:
        offset = getattr(error, "offset", 0)
        reason = str(error).removesuffix(f" - at byte {offset}")
        return count, [
            (offset, f"{reason}, in record {count}" if has_several(file, format, count + 1) else reason)
        ]
    return count, []


def _facts(
    kind: str, *, records: int | None = None, frames: int | None = None, size: int | None = None
) -> str:
    parts = [kind]
    for number, what in ((records, "record"), (frames, "frame"), (size, "byte")):
        if number is not None:
            parts.append(f"{number:,} {what}{'' if number == 1 else 's'}")
    return ", ".join(parts)
