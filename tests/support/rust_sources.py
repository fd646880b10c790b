"""The files of a Rust crate, what each takes from the others, and how long its functions are: read as text.

It knows as much of Rust as our sources use: `use` trees, paths that begin with `crate`, `self` or `super`, modules as files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Path_ = tuple[str, ...]

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:[^"\\]|\\.)*"|b?\'(?:[^\'\\\n]|\\[^\n]{1,8})\'', re.DOTALL
)
FUNCTION = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)", re.MULTILINE
)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{")


def code(text: str) -> str:
    """The text without comments, literals and tests, as long as it was: places and lines stay."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    text = LITERAL.sub(blank, text)
    while found := TESTS.search(text):
        end = closing(text, found.end() - 1)
        text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]) + text[end:]
    return text


def closing(text: str, at: int) -> int:
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for found in re.finditer(r"[{}]", text[at:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return at + found.end()
    return len(text)


def leaves(tree: str, before: Path_ = ()) -> Iterator[Path_]:
    """The paths that a `use` tree names."""
    tree = tree.strip()
    head, brace, body = tree.partition("{")
    names = tuple(part.split(" as ")[0].strip() for part in head.split("::") if part.strip())
    if not brace:
        yield before + names
        return
    depth, start = 0, 0
    body = body[: body.rindex("}")] + ","
    for at, sign in enumerate(body):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            if body[start:at].strip():
                yield from leaves(body[start:at], before + names)
            start = at + 1


@dataclass(frozen=True)
class Crate:
    """source: the folder of `lib.rs`. files: by the path of the module that each is, `()` for `lib.rs`."""

    source: Path
    files: dict[Path_, Path]

    @classmethod
    def of(cls, source: Path) -> Crate:
        files = {}
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            files[() if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts] = path
        return cls(source, files)

    def home(self, path: Path_) -> Path_:
        """The module whose file has that name."""
        while path not in self.files:
            path = path[:-1]
        return path

    def uses(self, module: Path_) -> set[Path_]:
        """The modules whose names a file takes. A file and the one that its folder is named by are one house: what it takes from
        there is not counted, nor is what takes from `lib.rs`, which has the list of modules alone."""
        text = code(self.files[module].read_text(encoding="utf-8"))
        found = set()
        trees = re.findall(r"\buse\s+((?:crate|self|super)\b[^;]*);", text)
        inline = re.findall(
            r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse\s[^;]*;|pub\(in [^)]*\)", "", text)
        )
        for tree in [*trees, *inline]:
            for path in leaves(tree):
                first = path[0]
                base = () if first == "crate" else module
                ups = 0
                while first == "super" and ups < len(path) and path[ups] == "super":
                    ups += 1
                rest = path[ups or 1 :]
                found.add(self.home((base[: len(base) - ups] if ups else base) + rest))
        return {other for other in found if other and module[: len(other)] != other}

    def functions(self, module: Path_) -> Iterator[tuple[str, int, int, bool]]:
        """Name, line, how many lines, and whether a comment that begins with `Long:` says why."""
        whole = self.files[module].read_text(encoding="utf-8")
        text = code(whole)
        for found in FUNCTION.finditer(text):
            brace, end = text.find("{", found.end()), text.find(";", found.end())
            if brace < 0 or (0 <= end < brace and "[" not in text[found.end() : end]):
                continue
            stop = closing(text, brace)
            line = text.count("\n", 0, found.start()) + 1
            lines = text.count("\n", found.start(), stop) + 1
            above = whole[: found.start()].rstrip("\n").rsplit("\n\n", 1)[-1]
            yield found[1], line, lines, "// Long:" in above + whole[found.start() : stop]
