"""The object graphs of the demo, all from what is installed: the standard library, Babel and pycountry."""

from __future__ import annotations

import ast
import json
import pickle
import sysconfig
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import babel
import pycountry

from demo.records import Country, Currency, Import, Language, Module, Registry, Subdivision

# Not what one means by the library, or not in every installation.
LEFT_OUT = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "__pycache__",
    "__phello__",
}


def library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def syntax_trees() -> dict[str, ast.Module]:
    """Every module of the standard library, parsed: path to tree."""
    trees = {}
    for path in sorted(library().rglob("*.py")):
        name = path.relative_to(library())
        if not LEFT_OUT.intersection(name.parts):
            trees[name.as_posix()] = ast.parse(path.read_bytes())
    return trees


def locale_data() -> dict[str, Any]:
    """Babel's CLDR data: the pickles it ships, one for each locale, as one graph."""
    folder = Path(babel.__file__).parent / "locale-data"
    return {path.stem: pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.dat"))}


def iso_databases() -> dict[str, Any]:
    """pycountry's databases as it ships them: lists of dicts."""
    folder = Path(pycountry.DATABASE_DIR)
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def iso_registry(databases: dict[str, Any]) -> Registry:
    """The same as dataclasses."""

    def records(cls: type, standard: str, key: str) -> list[Any]:
        known = {field.name for field in fields(cls)}
        rows = databases[standard][key]
        return [cls(**{name: row[name] for name in row if name in known}) for row in rows]

    return Registry(
        records(Country, "iso3166-1", "3166-1"),
        records(Subdivision, "iso3166-2", "3166-2"),
        records(Language, "iso639-3", "639-3"),
        records(Currency, "iso4217", "4217"),
    )


def import_graph(trees: dict[str, ast.Module]) -> dict[str, Module]:
    """Who imports whom in the standard library: nodes and edges that point both ways."""
    modules: dict[str, Module] = {}
    for path in trees:
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        modules[name] = Module(name, path, None, [], [], [])
    for module in modules.values():
        module.package = modules.get(module.name.rpartition(".")[0])
        if module.package is not None:
            module.package.submodules.append(module)
    for module in modules.values():
        for statement in imports(trees[module.path]):
            for target, names in targets(module, statement, modules):
                edge = Import(module, target, statement.lineno, names)
                module.imports.append(edge)
                target.imported_by.append(edge)
    return modules


def imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a module, those in functions and branches too."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
            continue
        for block in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, block, ())
            if isinstance(inner, list):  # the body of a lambda isn't one
                todo.extend(inner)


def targets(
    module: Module, statement: ast.Import | ast.ImportFrom, modules: dict[str, Module]
) -> Iterator[tuple[Module, tuple[str, ...]]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name in modules:
                yield modules[alias.name], ()
        return
    base = statement.module or ""
    if statement.level:
        levels = statement.level - module.path.endswith("__init__.py")
        parts = module.name.split(".")
        base = ".".join([*parts[: len(parts) - levels], *filter(None, [base])])
    if base in modules:
        yield modules[base], tuple(alias.name for alias in statement.names)


def count_objects(root: Any) -> int:
    """How many distinct objects the graph has. None, True, False and classes aren't counted."""
    seen = {id(None), id(True), id(False)}
    todo = [root]
    total = 0
    slots: dict[type, tuple[str, ...]] = {}
    while todo:
        obj = todo.pop()
        if id(obj) in seen:
            continue
        seen.add(id(obj))
        total += 1
        cls = type(obj)
        if cls is str or cls is int or cls is float:
            continue
        if isinstance(obj, dict):
            todo.extend(obj)
            todo.extend(obj.values())
        elif isinstance(obj, (list, tuple, set, frozenset)):
            todo.extend(obj)
        if cls not in slots:
            slots[cls] = tuple(name for base in cls.__mro__ for name in slot_names(base))
        todo.extend(getattr(obj, name) for name in slots[cls] if hasattr(obj, name))
        todo.extend(getattr(obj, "__dict__", {}).values())
    return total


def slot_names(cls: type) -> tuple[str, ...]:
    names = vars(cls).get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)
