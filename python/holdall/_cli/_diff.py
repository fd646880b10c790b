"""`holdall diff`: where two files differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import _json
from ._app import DIFFERENT, OK, about, output
from ._compare import Change, compare
from ._formats import detect, records, several
from ._options import File, format_option, records_option
from ._paths import printable
from ._pretty import short
from ._progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS = {
    "added": ("+", "text"),
    "removed": ("-", "removed"),
    "changed": ("~", "name"),
    "type": ("!", "constant"),
}
# The width of each value in a line.
_WIDTH = 60


@click.command("diff")
@click.argument("old", metavar="A", type=File)
@click.argument("new", metavar="B", type=File)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each difference.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Print no more than N differences.")
@format_option("--from-a", "old_format", "The format of A; else by its extension or its bytes.")
@format_option("--from-b", "new_format", "The format of B.")
@records_option
def command(
    old: str,
    new: str,
    as_json: bool,
    limit: int | None,
    old_format: str | None,
    new_format: str | None,
    as_records: bool,
) -> int:
    """Compare the values of A and B, whatever their formats, and print where they differ.

    + added, - removed, ~ changed, ! of another type. Lists are compared place by place; the order of sets and
    dicts does not matter. NaN equals NaN; 1, True and 1.0 differ. Of arrays it says how many items differ.
    Records of two logs are compared pair by pair, one pair in memory at a time.

    Exit code 0: equal, 1: different, 2: an error.

    \b
    Example:
      holdall diff before.hold after.hold
    """
    out = output()
    count = 0
    for change in _changes((old, old_format), (new, new_format), as_records):
        count += 1
        if limit is not None and count > limit:
            out.print([("more differences\n", "note")] if not as_json else [])
            break
        if as_json:
            out.write([_as_json(change), "\n"])
        else:
            out.print(_line(change))
    return DIFFERENT if count else OK


def _changes(old: tuple[str, str | None], new: tuple[str, str | None], as_records: bool) -> Iterator[Change]:
    found: list[Iterator[Any]] = []
    are_many = False
    for path, given in (old, new):
        with about(path):
            format = detect(path, given)
            many, values = several(path, format, _values(path, format, as_records))
            found.append(values)
            are_many = are_many or many
    place = 0
    while True:
        left, right = (next(values, _END) for values in found)
        if left is _END and right is _END:
            return
        prefix = f"[{place}]" if are_many else ""
        if left is _END or right is _END:
            kind = "added" if left is _END else "removed"
            yield Change(f"${prefix}", kind, None if left is _END else left, None if right is _END else right)
        else:
            for change in compare(left, right):
                yield change._replace(path=f"${prefix}{change.path[1:]}")
        place += 1


_END = object()


def _values(path: str, format: str, as_records: bool) -> Iterator[Any]:
    with about(path), progress(path) as report:
        yield from records(path, format, as_records=as_records, progress=report)


def _line(change: Change) -> Iterator[tuple[str, str]]:
    sign, style = _SIGNS[change.kind]
    yield f"{sign} {change.path}", style
    yield ": ", ""
    if change.note:
        yield printable(change.note), ""
        if change.kind == "type" and not _is_large(change.old, change.new):
            yield f" ({short(change.old, _WIDTH)} -> {short(change.new, _WIDTH)})", "note"
    elif change.kind == "changed":
        yield f"{_part(change.old, change.new)} -> {_part(change.new, change.old)}", ""
    else:
        yield short(change.old if change.kind == "removed" else change.new, _WIDTH), ""
    yield "\n", ""


def _is_large(*values: Any) -> bool:
    return any(len(short(value, _WIDTH)) > _WIDTH // 2 for value in values)


def _part(value: Any, other: Any) -> str:
    """A value's text; for long texts, from shortly before the difference."""
    if type(value) is type(other) and isinstance(value, (str, bytes)) and len(value) > _WIDTH:
        same = next(
            (place for place, (a, b) in enumerate(zip(value, other, strict=False)) if a != b),
            min(len(value), len(other)),
        )
        if same > _WIDTH // 2:
            return f"[from {same - 10}] {short(value[same - 10 :], _WIDTH)}"
    return short(value, _WIDTH)


def _as_json(change: Change) -> str:
    line: dict[str, Any] = {"path": change.path, "kind": change.kind}
    if change.kind != "added":
        line["old"] = short(change.old, _WIDTH)
    if change.kind != "removed":
        line["new"] = short(change.new, _WIDTH)
    if change.note:
        line["note"] = change.note
    return _json.dumps(line)
