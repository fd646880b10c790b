"""The tables of docs/format.md, read from the page itself."""

from __future__ import annotations

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "format.md"


def rows(name: str) -> list[list[str]]:
    """A table of the page, without its head."""
    page = PAGE.read_text(encoding="utf-8")
    body = page.split(f"<!-- table: {name} -->\n")[1].split("<!-- end -->")[0]
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in body.splitlines()[2:]]


def tags() -> dict[int, tuple[str, int]]:
    """Tag to its name and place in its row."""
    found = {}
    for cells in rows("tags"):
        ends = [int(byte, 16) for byte in re.findall(r"`(0x\w\w)`", cells[0])]
        for tag in range(ends[0], ends[-1] + 1):
            found[tag] = (cells[1], tag - ends[0])
    return found


TAGS = tags()
# Without what is put around messages: section 14.
VERSIONS = {
    int(cells[0].strip("`"), 16): "trusted" in cells[1]
    for cells in rows("versions")
    if cells[1].startswith("version")
}
CONTINUED = next(int(cells[0].strip("`"), 16) for cells in rows("versions") if "goes on" in cells[1])
KINDS = {int(code): name for code, name, _ in rows("kinds")}
KNOWN = {int(code): (name, values) for code, name, values in rows("known")}
FLAGS = [(int(flag), value != "none") for flag, _, value in rows("flags")]
LENT = {int(code): meaning for code, meaning in rows("lent")}
FILES = {int(code): name for code, name, _ in rows("files")}
FRAMES = {int(code): name for code, name, _ in rows("frames")}
CODECS = {int(code): name for code, name, _ in rows("codecs")}


def example(name: str) -> bytes:
    """The bytes of an annotated example: what stands before two blanks on each line of its block."""
    page = PAGE.read_text(encoding="utf-8")
    block = page.split(f"<!-- bytes: {name} -->\n```\n")[1].split("```")[0]
    return bytes.fromhex("".join(re.split(r"  +", line.strip())[0] for line in block.splitlines()))
