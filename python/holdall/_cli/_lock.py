"""`holdall lock`: the layouts that stored data may have, in a file; and which change of code breaks which of them."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ._app import DIFFERENT, OK, Failure, about, output
from ._breaking import Finding, compared, gone, merged
from ._convert_file import replaced
from ._formats import detect, records
from ._layouts import classes_of, layouts_of
from ._merge import settled
from ._options import File, code_option
from ._paths import printable
from ._progress import progress
from ._seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._layouts import Known, Layout

    # By the name of the class and its version.
    Layouts = dict[str, dict[int, Layout]]

_FORMAT = "holdall.lock 1"


class Told(NamedTuple):
    """A finding, the class and version that it is about, and where to look: the class's file and line, or the lock's."""

    name: str
    version: int
    place: str
    finding: Finding


@click.command("lock")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=File)
@code_option
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if the code breaks a stored layout.")
@click.option(
    "--lock", "path", type=File, default="holdall.lock", show_default=True, help="The file with the layouts."
)
@click.option(
    "--accept", is_flag=True, help="Forget the layouts that the code breaks: no data has them any more."
)
def command(files: tuple[str, ...], modules: tuple[str, ...], check: bool, path: str, accept: bool) -> int:
    """Write down how the classes of a program are stored, and say which change breaks that.

    The lock names each class with its fields, their types, versions, and members of enumerations: of all registered classes, of those
    in the modules of --code that declare fields, and of those in FILEs of hold. It is to be committed. What was stored once stays in it, so
    that later code is compared with all of it.

    Exit code 0: all that was stored loads as before; 1: the code breaks a layout (nothing is written then, unless --accept).

    \b
    Examples:
      holdall lock --code shop.models old/*.hold
      holdall lock --code shop.models --check
    """
    if check and not modules:
        raise Failure(None, "lock: --check compares with code: name modules by --code")
    if not modules and not files:
        raise Failure(None, "lock: nothing to lock: name modules by --code, or files")
    if check and not os.path.exists(path):
        raise Failure(path, "there is no lock yet: `holdall lock` without --check writes it")
    with about(path):
        locked = _read(path)
    # Before any class is there, so that all come as records.
    stored = {name: {**versions} for name, versions in locked.items()}
    for file in files:
        for name, versions in _of_data(file).items():
            for version, layout in versions.items():
                mine = stored.setdefault(name, {})
                mine[version] = merged(mine.get(version), layout, of_code=False)
    imported(modules)
    known = classes_of(modules, stored)
    told = findings(stored, known, path) if modules else []
    _print(told)
    broken = [each for each in told if each.finding.breaks]
    if check or (broken and not accept):
        return _summary(path, stored, broken, check)
    for name, version in {(each.name, each.version) for each in broken}:
        del stored[name][version]
    for cls in known:
        mine = stored.setdefault(cls.name, {})
        mine[cls.version] = merged(mine.get(cls.version), cls.layout, of_code=True)
    _write(path, {name: versions for name, versions in stored.items() if versions}, locked)
    return OK


def imported(modules: Iterable[str]) -> None:
    """Imports modules that the user named, from the current folder too, as `python -m` does."""
    if modules and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in modules:
        try:
            import_module(name)
        except Exception as error:
            raise Failure(None, f"--code {name}: {type(error).__name__}: {error}") from None


def _of_data(file: str) -> Layouts:
    with about(file):
        format = detect(file)
        if format != "hold":
            raise Failure(file, f"{format} stores no names of classes: lock them by --code")
        seen = Seen(texts=False, versions=True)
        with progress(file) as report:
            for value in records(file, format, progress=report):
                seen.add(value)
    return layouts_of(settled(seen))


def findings(stored: Layouts, known: Iterable[Known], path: str) -> list[Told]:
    """What the code does otherwise than the stored layouts say, in the order of their names."""
    known = [*known]
    by_name = {name: each for each in known for name in each.names}
    lines: list[str] = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    found: list[Told] = []
    for name, versions in sorted(stored.items()):
        each = by_name.get(name)
        head = f"    {json.dumps(name)}: {{"
        for version, layout in sorted(versions.items()):
            if each is None:
                place = f"{path}:{lines.index(head) + 1}" if head in lines else path
                found.append(Told(name, version, place, gone(name, versions.values(), known)))
                continue
            for finding in compared(version, layout, each, known):
                # What is new in the code is new to one version only.
                if finding.breaks or version == each.version:
                    found.append(Told(name, version, each.place, finding))
    return found


def _print(told: Iterable[Told]) -> None:
    out = output()
    for name, version, place, finding in told:
        said = f" (version {version})" if version != 1 else ""
        out.print([(f"{printable(place)}: ", "note"), (printable(name), "name"), (f"{said}: ", "")])
        if not finding.breaks:
            out.print([("compatible", "text"), (f": {printable(finding.what)}\n", "")])
            continue
        out.print([("breaks", "removed"), (f": {printable(finding.what)}\n", "")])
        out.print([("    write: ", "note"), (f"{printable(finding.remedy)}\n", "")])


def _summary(path: str, stored: Layouts, broken: list[Told], check: bool) -> int:
    if not broken:
        count = len(stored)
        output().write([f"{path}: {count:,} class{'' if count == 1 else 'es'}, all compatible\n"])
        return OK
    classes = len({each.name for each in broken})
    said = f"{path}: the code breaks {classes:,} stored class{'' if classes == 1 else 'es'}"
    output().write([said, "\n" if check else "; nothing was written: --accept forgets these layouts\n"])
    return DIFFERENT


# --- the file ------------------------------------------------------------------------------------------------------------
def _read(path: str) -> Layouts:
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        found = json.loads(text)
        if found["format"] != _FORMAT:
            raise Failure(path, f"expected the format `{_FORMAT}`, found another: is this holdall too old?")
        return {
            name: {int(version): layout for version, layout in versions.items() if layout["kind"]}
            for name, versions in found["classes"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failure(path, "no lock: expected what `holdall lock` writes") from None


def _write(path: str, layouts: Layouts, before: Layouts) -> None:
    text = written(layouts)
    added = len(layouts.keys() - before.keys())
    count = f"{len(layouts):,} class{'' if len(layouts) == 1 else 'es'}"
    if layouts == before and os.path.exists(path):
        output().write([f"{path}: {count}, as before\n"])
        return
    with (
        about(path),
        replaced(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(text)
    output().write([f"{path}: {count}" + (f", {added:,} of them new\n" if before and added else "\n")])


def written(layouts: Layouts) -> str:
    """The lock as JSON, with a line for each field, so that its changes read well."""
    classes = []
    for name, versions in sorted(layouts.items()):
        listed = [f'      "{version}": {_layout(layout)}' for version, layout in sorted(versions.items())]
        classes.append(f"    {json.dumps(name)}: {{\n" + ",\n".join(listed) + "\n    }")
    return f'{{\n  "format": "{_FORMAT}",\n  "classes": {{\n' + ",\n".join(classes) + "\n  }\n}\n"


def _layout(layout: dict[str, Any]) -> str:
    parts = []
    # What there are many of comes last.
    for key, value in sorted(layout.items(), key=lambda item: isinstance(item[1], dict)):
        if isinstance(value, dict) and value:
            lines = ",\n".join(
                f"          {json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()
            )
            parts.append(f"        {json.dumps(key)}: {{\n{lines}\n        }}")
        else:
            parts.append(f"        {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n      }"
