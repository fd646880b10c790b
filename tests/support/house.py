"""What holds of all sources: `python -m tests.support.house` names what does not.

Folders of a crate are floors: a file takes from its own floor and those below. No files take from each other in a circle. No file
has more than 600 lines, no function more than 80, but where a comment that begins with `Long:` says why. What depends on the system
stands in one file of each language.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Hashable, Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

from .rust_sources import Crate

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "holdall"
PACKAGES = (PACKAGE, ROOT / "bench" / "holdall_bench", ROOT / "bench" / "targets")
HOST = ROOT / "crates" / "python" / "src"
FORMAT = ROOT / "crates" / "format" / "src"
# From the bottom up; what stands in one word is one floor.
FLOORS = {
    HOST: "memory,blocks cpython state error classes shapes types budget schema encode decode dialect deepcopy message io lazy api module",
    FORMAT: "memory error text,table,sink,cursor,aside utf8 model hold,msgpack,bson,julia,lisp detect inspect",
}
# What only some files may have, with the files. How paths are written is a matter of values, and not meant by `os.name`.
SYSTEM = {
    HOST: (
        r"std::os::|\bcfg\w*\((?:not|all|any)?\(?(?:unix|windows|target_os)",
        "blocks.rs",
        "io/system.rs",
        "module/image.rs",
    ),
    FORMAT: (r"std::os::|\bcfg\w*\((?:not|all|any)?\(?(?:unix|windows|target_os)",),
    PACKAGE: (r"sys\.platform|import (?:fcntl|msvcrt)|os\.name == .posix", "_system.py"),
}
# What CPython exports has to be found in its DLL, too, where there is one: `libpython!` sees to it.
UNLINKED = r"^\s*(?:unsafe )?extern \"[\w-]+\" \{"
MOST_LINES = 600
LONGEST_FUNCTION = 80

Name = TypeVar("Name", bound=Hashable)


def circle(uses: Mapping[Name, Set[Name]]) -> list[Name]:
    """Names of which each uses the next, and the last the first; empty where there are none."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        # It has them the other way around.
        return list(reversed(error.args[1]))
    return []


def upward(crate: Crate, floors: str) -> Iterator[str]:
    """Where a file takes from a floor above its own."""
    height = {folder: at for at, floor in enumerate(floors.split()) for folder in floor.split(",")}
    for module in crate.files:
        if not module:
            continue
        if module[0] not in height:
            yield f"{'::'.join(module)} stands on no floor: name its folder in tests/support/house.py"
            continue
        for other in sorted(crate.uses(module)):
            if height.get(other[0], 0) > height[module[0]]:
                yield f"{'::'.join(module)} takes from {'::'.join(other)}, which stands above it"


def rust(source: Path, floors: str) -> Iterator[str]:
    crate = Crate.of(source)
    yield from upward(crate, floors)
    if found := circle({module: crate.uses(module) for module in crate.files}):
        yield f"a circle: {' -> '.join('::'.join(module) for module in found)}"
    for module, path in crate.files.items():
        yield from too_long(path)
        if module[-1:] == ("tests",):
            continue
        for name, line, lines, reason in crate.functions(module):
            if lines > LONGEST_FUNCTION and not reason:
                yield f"{path.relative_to(ROOT)}:{line}: `{name}` has {lines} lines: split it, or say why in a comment, `Long: ...`"


def too_long(path: Path) -> Iterator[str]:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        yield f"{path.relative_to(ROOT)} has {lines} lines"


def is_for_types(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All that run, within functions too; what only a type checker reads does not."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    left = node.orelse if isinstance(node, ast.If) and is_for_types(node.test) else ast.iter_child_nodes(node)
    for child in left:
        yield from imports(child)


def modules(package: Path) -> dict[str, Path]:
    """The files by the names that they are imported by."""
    files = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imported(name: str, path: Path, known: dict[str, Path], root: Path) -> set[str]:
    """The modules of the package that a module imports. The packages around one come with it, and are not counted."""
    found = set()
    home = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
            continue
        base = [] if node.level == 0 else home[: len(home) - node.level + 1]
        whole = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            part = f"{whole}.{alias.name}"
            # A compiled module has a stub; any other name is found in the package itself.
            is_module = part in known or (root / f"{part.replace('.', '/')}.pyi").exists()
            found.add(part if is_module else whole)
    return found & known.keys()


def python_circle(package: Path) -> list[str]:
    """The same of a package's modules."""
    known = modules(package)
    return circle({name: imported(name, path, known, package.parent) for name, path in known.items()})


def python(package: Path) -> Iterator[str]:
    if found := python_circle(package):
        yield f"a circle: {' -> '.join(found)}"
    for path in sorted(package.rglob("*.py")):
        yield from too_long(path)
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first, last = node.lineno, node.end_lineno or node.lineno
                # A docstring is as long as what it says.
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                lines = last - body[0].lineno + 1
                said = any("# Long:" in line for line in text.splitlines()[max(0, first - 3) : last])
                if lines > LONGEST_FUNCTION and not said:
                    yield f"{path.relative_to(ROOT)}:{first}: `{node.name}` has {lines} lines: split it, or say why in a comment, `Long: ...`"


def elsewhere(root: Path, pattern: str, *only: str) -> Iterator[str]:
    """Lines of sources that only these files may have, in others."""
    for path in sorted([*root.rglob("*.rs"), *root.rglob("*.py")]):
        name = path.relative_to(root).as_posix()
        if name not in only:
            for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(pattern, line):
                    there = f"has its place in {' or '.join(only)}" if only else "has no place here"
                    yield f"{root.name}/{name}:{at}: `{line.strip()}` {there}"


def faults() -> list[str]:
    found = [fault for source, floors in FLOORS.items() for fault in rust(source, floors)]
    found += [fault for root, (pattern, *only) in SYSTEM.items() for fault in elsewhere(root, pattern, *only)]
    found += [f"{fault}: `libpython!` is what links" for fault in elsewhere(HOST, UNLINKED)]
    return [*found, *(fault for package in PACKAGES for fault in python(package))]


if __name__ == "__main__":
    found = faults()
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
