"""`holdall inspect`: what a file contains and what takes space in it, without loading it."""

from __future__ import annotations

import io
import json
import mmap
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from .. import Reader, Record, _core, dumps
from ._app import about
from ._formats import detect
from ._options import seal_of, seal_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._seal import Seal

FORMATS = ("hold", "bson", "julia", "lisp", "msgpack")
_MOST_FIELDS = 6


@dataclass
class Part:
    """A message, document or value of a file."""

    offset: int
    size: int
    outline: _core.Outline


@dataclass
class Found:
    """The content of a file."""

    format: str
    size: int
    frames: list[_core.FileFrame]
    parts: list[Part]
    # Bytes after the last part that was inspected.
    left: int = 0
    # The first error in the file outside of its parts.
    error: str | None = None
    error_offset: int | None = None

    def damage(self) -> tuple[str, int] | None:
        """The first error, and its offset in the file."""
        if self.error is not None:
            return self.error, self.error_offset or 0
        for part in self.parts:
            if part.outline["error"] is not None:
                return part.outline["error"], part.offset + (part.outline["error_offset"] or 0)
        return None


@contextmanager
def _mapped(path: Path) -> Iterator[memoryview]:
    with path.open("rb") as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file can't be mapped
            yield memoryview(b"")
            return
        with mapped, memoryview(mapped) as view:
            yield view


def format_of(path: Path) -> str:
    """The format of a file; MessagePack if it is none of those that can be inspected."""
    found = detect(str(path))
    return found if found in FORMATS else "msgpack"


def _parts_of_file(
    data: memoryview, found: Found, most: int, outline: Callable[[Any], _core.Outline]
) -> None:
    """The message of a hold file, or the first records of a log, and the first error outside of them."""
    found.frames = _core.file_frames_of(data)
    for frame in found.frames:
        if frame["kind"] == "message":
            if frame["codec"] == "stored":
                body: Any = data[frame["offset"] : frame["offset"] + frame["size"]]
            elif frame["ok"]:
                body = _core.file_body(data, frame["at"], True)
            else:
                continue
            told = outline(body)
            found.parts.append(Part(frame["offset"], told["read"], told))
    records = [frame for frame in found.frames if frame["kind"] == "record" and frame["ok"]][: max(most, 1)]
    if records:
        # Records share names with earlier ones, so each is built and encoded by itself to be inspected.
        log = Reader(_Bytes(data), repair="skip", types=Record)
        for frame, record in zip(records, log, strict=False):
            told = outline(dumps(record))
            found.parts.append(Part(frame["offset"], told["read"], told))
    _, _, _, damage = _core.file_verify(data, None)
    if damage:
        found.error, found.error_offset = damage[0].reason, damage[0].offset


class _Bytes(io.RawIOBase):
    """Bytes as a file object, not copied."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def readinto(self, buffer: Any) -> int:
        part = self._data[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def look(data: memoryview, form: str, *, depth: int, most: int, values: bool) -> Found:
    """The content of `data` in the format `form`."""
    found = Found(form, len(data), [], [])

    def outline(part: Any) -> _core.Outline:
        return _core.outline(part, form, depth=depth, most=most, values=values)

    def outlined(offset: int, end: int) -> Part:
        with data[offset:end] as part:
            told = outline(part)
        return Part(offset, told["start"] + told["read"], told)

    if form == "hold" and bytes(data[:4]) == b"HOLD":
        _parts_of_file(data, found, most, outline)
        return found
    at = 0
    while not found.parts or (at < len(data) and len(found.parts) < most):
        part = outlined(at, len(data))
        found.parts.append(part)
        at += part.size
        if part.outline["error"] is not None:
            break
    found.left = len(data) - at
    return found


def look_within(data: memoryview, seal: Seal, *, depth: int, most: int, values: bool) -> Found:
    """What is within a seal. Offsets are those of what is sealed, of which a log has a part for each time that it was opened.

    Raises DecodeError: what does not hold. Nothing of it is looked at.
    """
    from .._sealed_log import contents

    whole = Found("hold, sealed", len(data), [], [])
    for part in contents(seal, data):
        found = look(part, "hold", depth=depth, most=most - len(whole.parts), values=values)
        whole.frames += found.frames
        whole.parts += found.parts if most > len(whole.parts) or not whole.parts else []
        whole.left += found.left
        whole.error, whole.error_offset = whole.error or found.error, whole.error_offset or found.error_offset
    return whole


def human(count: int) -> str:
    """A size for people."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _share(count: int, whole: int) -> str:
    return f"{100 * count / whole:.0f}%" if whole else ""


def _what(kind: str | None, name: str | None) -> str:
    if kind is None:
        return "others"
    if name is None:
        return kind
    return name if kind == "instance" else f"{kind} {name}"


def _label(node: _core.OutlineNode, whole: int) -> Text:
    """A node's line in the tree."""
    label = Text(no_wrap=True, overflow="ellipsis")
    key = {
        "root": "",
        "content": "content",
        "apart": "apart",
        "item": f"[{node['key']}]",
        "other": f"({node['key']})",
    }
    name = key.get(node["role"], str(node["key"]))
    if name:
        label.append(f"{name}: ", "bold" if node["role"] in {"key", "field"} else "dim")
    if node["target"] is not None:
        return label.append(f"-> #{node['target']}", "magenta")
    label.append(_what(node["kind"], node["name"]), "cyan")
    if node["value"] is not None:
        label.append(f" {node['value']}", "green")
    if node["items"]:
        label.append(f", {node['items']:,} item{'' if node['items'] == 1 else 's'}")
    label.append(f", {human(node['bytes'])} {_share(node['bytes'], whole)}", "dim")
    if node["references"]:
        label.append(f" #{node['number']}", "magenta")
    if not node["whole"]:
        label.append(" cut off", "red")
    return label


def _hidden(node: _core.OutlineNode) -> Text | None:
    """A summary of a node's members that are not shown."""
    if not node["rest"]:
        return None
    count = sum(rest["values"] for rest in node["rest"])
    rows = [
        f"{rest['values']:,} {_what(rest['kind'], rest['name'])} {human(rest['bytes'])}"
        for rest in node["rest"]
    ]
    text = rows[0] if len(rows) == 1 else f"{count:,}: " + ", ".join(rows)
    return Text(f"… {text}", "dim", no_wrap=True, overflow="ellipsis")


def _trees(outline: _core.Outline, whole: int) -> Iterator[Tree]:
    """The nodes as trees: the value, and those of the back-reference table."""
    open_: list[tuple[Tree, _core.OutlineNode]] = []

    def close(depth: int) -> None:
        while len(open_) > depth:
            tree, node = open_.pop()
            hidden = _hidden(node)
            if hidden is not None:
                tree.add(hidden)

    root = None
    for node in outline["nodes"]:
        close(node["depth"])
        label = _label(node, whole)
        if open_:
            tree = open_[-1][0].add(label)
        else:
            if root is not None:
                yield root
            tree = root = Tree(label)
        open_.append((tree, node))
    close(0)
    if root is not None:
        yield root


def _kinds(outline: _core.Outline, whole: int) -> Table:
    table = Table("kind", box=None)
    for column in ("values", "bytes", "share"):
        table.add_column(column, justify="right")
    for row in outline["kinds"]:
        table.add_row(row["kind"], f"{row['values']:,}", human(row["bytes"]), _share(row["bytes"], whole))
    return table


def _classes(outline: _core.Outline, whole: int) -> Table:
    table = Table("class or layout", box=None)
    for column in ("instances", "bytes", "share"):
        table.add_column(column, justify="right")
    table.add_column("fields", no_wrap=True)
    for row in outline["classes"]:
        fields = ", ".join(row["fields"][:_MOST_FIELDS])
        if row["field_count"] > _MOST_FIELDS:
            fields += f", … {row['field_count'] - _MOST_FIELDS:,} more"
        name = row["name"] if row["name"] is not None else row["kind"]
        table.add_row(
            Text(name), f"{row['values']:,}", human(row["bytes"]), _share(row["bytes"], whole), Text(fields)
        )
    more = outline["class_count"] - len(outline["classes"])
    if more > 0:
        table.add_row(Text(f"… {more:,} more", "dim"))
    return table


def _sharing(outline: _core.Outline, start: int) -> Table:
    table = Table("object", "what", box=None)
    table.add_column("references", justify="right")
    table.add_column("offset", justify="right")
    for row in outline["referred"]:
        offset = "" if row["offset"] is None else f"{start + row['offset']:,}"
        table.add_row(
            f"#{row['number']}", Text(_what(row["kind"], row["name"])), f"{row['references']:,}", offset
        )
    return table


def _frame_table(frames: list[_core.FileFrame], most: int) -> Table:
    table = Table("frame", "codec", box=None)
    for column in ("offset", "bytes", "unpacked"):
        table.add_column(column, justify="right")
    table.add_column("checksum")
    for frame in frames[:most]:
        said = {True: Text("ok", "green"), False: Text("wrong", "red"), None: Text("not checked", "dim")}[
            frame["ok"]
        ]
        unpacked = "" if frame["raw_size"] is None else human(frame["raw_size"])
        table.add_row(
            frame["kind"], frame["codec"] or "", f"{frame['offset']:,}", human(frame["size"]), unpacked, said
        )
    if len(frames) > most:
        table.add_row(Text(f"… {len(frames) - most:,} more", "dim"))
    return table


def _titled(console: Console, title: str, table: Table) -> None:
    console.print(Text(f"\n{title}", "bold"))
    console.print(table)


def show(console: Console, path: Path, found: Found, most: int) -> None:
    """Print everything that was found."""
    console.print(
        Text.assemble((str(path), "bold"), f"  {found.format}  {human(found.size)} ({found.size:,} bytes)")
    )
    if found.frames:
        _titled(console, "frames", _frame_table(found.frames, most))
    for number, part in enumerate(found.parts):
        outline = part.outline
        if len(found.parts) > 1:
            console.print(Text(f"\n{number + 1}. at byte {part.offset:,}, {human(part.size)}", "bold"))
        console.print()
        for tree in _trees(outline, part.size):
            console.print(tree)
        if outline["kinds"]:
            _titled(console, "by kind", _kinds(outline, part.size))
        if outline["classes"]:
            _titled(console, "by class, with all that they hold", _classes(outline, part.size))
        if outline["referred"]:
            title = f"shared objects: {outline['shared']:,}; references to them: {outline['references']:,}"
            _titled(console, title, _sharing(outline, part.offset))
    if found.left and found.damage() is None:
        console.print(Text(f"… {found.left:,} bytes follow that were not looked at", "dim"))
    damage = found.damage()
    if damage is not None:
        console.print(Text(f"damaged: {damage[0]} - at byte {damage[1]:,}", "bold red"))


def _as_json(path: Path, found: Found) -> str:
    parts = [{"offset": part.offset, "size": part.size, **part.outline} for part in found.parts]
    damage = found.damage()
    told: dict[str, Any] = {
        "file": str(path),
        "format": found.format,
        "size": found.size,
        "frames": found.frames,
        "parts": parts,
        "left": found.left,
        "error": damage and damage[0],
        "error_offset": damage and damage[1],
    }
    return json.dumps(told, indent=2)


@click.command("inspect")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--depth", type=click.IntRange(0), default=3, show_default=True, help="Levels of members that are shown."
)
@click.option(
    "--most",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Members of each container that are shown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: nodes in order, each with its depth.")
@click.option("--values", is_flag=True, help="Show short values too: numbers, the beginning of texts.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["auto", *FORMATS]),
    default="auto",
    show_default=True,
    help="How FILE is written.",
)
@seal_options
def command(
    file: Path,
    depth: int,
    most: int,
    as_json: bool,
    values: bool,
    form: str,
    key: str | None,
    context: str,
) -> None:
    """Show what FILE holds: types, counts, bytes, sharing.

    Nothing is loaded and nothing is run, whatever the file says. Of the data only keys and names of fields are shown, unless
    --values is given. Of a damaged file all is shown that stands before the damage; the exit code is 1.

    With --key, FILE has to be sealed with that key. Nothing is shown of what the seal does not hold for.
    """
    seal = seal_of(key, context)
    with _mapped(file) as data:
        if seal is not None:
            with about(str(file)):
                found = look_within(data, seal, depth=depth, most=most, values=values)
        else:
            chosen = format_of(file) if form == "auto" else form
            found = look(data, chosen, depth=depth, most=most, values=values)
    if as_json:
        click.echo(_as_json(file, found))
    else:
        # Output to a pipe doesn't depend on the width of a screen.
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
        show(console, file, found, most)
    if found.damage() is not None:
        sys.exit(1)
