"""The package's modules stand in floors: none imports, at its top or within a function, what leads back to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "holdall"


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


def circle(package: Path) -> list[str]:
    """Modules of which each imports the next, and the last the first; empty where there are none."""
    known = modules(package)
    try:
        TopologicalSorter(
            {name: imported(name, path, known, package.parent) for name, path in known.items()}
        ).prepare()
    except CycleError as error:
        # It has them the other way around.
        return list(reversed(error.args[1]))
    return []


def test_no_module_leads_back_to_itself():
    found = circle(PACKAGE)
    assert not found, f"a circle of imports: {' -> '.join(found)}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    from .a import g\n", ["p.a", "p.b", "p.a"]),
        ("from . import a\n", ["p.a", "p.b", "p.a"]),
        ("def f():\n    import p.a\n", ["p.a", "p.b", "p.a"]),
        ("from . import name\n", ["p", "p.a", "p.b", "p"]),
        ("if TYPE_CHECKING:\n    from .a import g\nelse:\n    from . import c\n", []),
        ("if TYPE_CHECKING:\n    from . import c\nelse:\n    from .a import g\n", ["p.a", "p.b", "p.a"]),
        ("from . import compiled\n", []),
    ],
)
def test_a_circle_is_named(tmp_path, text, expected):
    package = tmp_path / "p"
    package.mkdir()
    files = {
        "__init__.py": "from .a import g\n",
        "a.py": "from .b import f\n",
        "b.py": text,
        "c.py": "",
        "compiled.pyi": "",
    }
    for name, content in files.items():
        (package / name).write_text(content, encoding="utf-8")
    found = circle(package)
    # It may be entered anywhere.
    assert len(found) == len(expected)
    assert set(pairwise(found)) == set(pairwise(expected))
