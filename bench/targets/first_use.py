"""What the first use costs: the import, and the first typed load of a large class, which compiles its annotations.

Every figure comes from fresh processes, contestants in turn, with modules compiled to bytecode as they are once
installed. The import is the time of a process that imports, less that of the empty one beside it. The class has 50
fields, ten of them instances of ten other classes, with postponed annotations. It is timed twice: as the first thing
that a process loads or stores (what compiling imports counts too), and as a later one (new classes each time, the
median of several).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from statistics import median
from time import perf_counter_ns

from .judge import Line

NAME = "first_use"
TITLE = "import, and the first typed load of a class of 50 fields"
ROUNDS, QUICK_ROUNDS = 25, 9
IMPORT_LIMIT_MS, COMPILE_LIMIT_MS = 40, 5
IMPORTS = {
    "holdall": "import holdall",
    "holdall.msgpack": "import holdall.msgpack",
    "msgspec": "import msgspec.msgpack",
}

FIELD_KINDS = {
    "int": "7",
    "float": "0.5",
    "str": "'text'",
    "bool": "True",
    "str | None": "None",
    "list[int]": "[1, 2, 3]",
    "dict[str, float]": "{'a': 0.5}",
    "datetime": "datetime(2026, 1, 1, tzinfo=timezone.utc)",
    "tuple[int, str]": "(1, 'one')",
    "list[str]": "['a', 'b']",
}
PARTS, FIELDS, FIELDS_OF_PART = 10, 50, 6


def source_of_classes() -> str:
    """The module that defines `Whole`, and `whole()` that makes one."""
    lines = [
        "from __future__ import annotations",
        "from dataclasses import dataclass",
        "from datetime import datetime, timezone",
    ]
    values = list(FIELD_KINDS.values())
    for part in range(PARTS):
        kinds = list(islice(cycle(FIELD_KINDS), part, part + FIELDS_OF_PART))
        lines += ["@dataclass(slots=True)", f"class Part{part}:"]
        lines += [f"    field_{i}: {kind}" for i, kind in enumerate(kinds)]
    simple = list(islice(cycle(FIELD_KINDS), FIELDS - PARTS))
    lines += ["@dataclass(slots=True)", "class Whole:"]
    lines += [f"    field_{i}: {kind}" for i, kind in enumerate(simple)]
    lines += [f"    part_{part}: Part{part}" for part in range(PARTS)]
    arguments = list(islice(cycle(values), FIELDS - PARTS))
    for part in range(PARTS):
        inner = ", ".join(islice(cycle(values), part, part + FIELDS_OF_PART))
        arguments.append(f"Part{part}({inner})")
    lines += ["def whole():", f"    return Whole({', '.join(arguments)})"]
    return "\n".join(lines) + "\n"


# Both read the source of the classes from standard input.
STORE = """
import sys, types
{imports}
module = sys.modules["wide"] = types.ModuleType("wide")
exec(sys.stdin.read(), module.__dict__)
print(dumps(module.whole()).hex())
"""
# Prints nanoseconds: the first load, a later one.
LOAD = """
import sys, types
from statistics import median
from time import perf_counter_ns
{imports}
source = compile(sys.stdin.read(), "wide", "exec")
data = bytes.fromhex("{stored}")

def first_load():
    module = sys.modules["wide"] = types.ModuleType("wide")
    exec(source, module.__dict__)
    start = perf_counter_ns()
    restored = decoder(module.Whole).decode(data)
    taken = perf_counter_ns() - start
    assert restored == module.whole()
    return taken

print(first_load(), median(first_load() for _ in range(15)))
"""
CONTESTANTS = {
    "holdall": "from holdall import Decoder, dumps\ndecoder = lambda kind: Decoder(type=kind)",
    "holdall.msgpack": "from holdall.msgpack import Decoder, dumps\ndecoder = lambda kind: Decoder(type=kind)",
    "msgspec": "from msgspec.msgpack import Decoder as decoder, encode as dumps",
}


Measured = dict[str, dict[str, float | None]]


def measure_first_use(quick: bool) -> Measured:
    """What is measured -> contestant -> milliseconds, None where it is missing or fails."""
    with tempfile.TemporaryDirectory() as cache:
        return measure_with(cache, QUICK_ROUNDS if quick else ROUNDS)


def measure_with(cache: str, rounds: int) -> Measured:
    """cache: takes the compiled files of all, as they are in an installed package, wherever this runs."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(source: str, given: str = "") -> tuple[float, str] | None:
        """Nanoseconds and what was printed."""
        start = perf_counter_ns()
        done = subprocess.run(
            [sys.executable, "-c", source], input=given, capture_output=True, text=True, env=environment
        )
        return (perf_counter_ns() - start, done.stdout) if done.returncode == 0 else None

    imports: dict[str, list[float]] = {name: [] for name in IMPORTS}
    firsts: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    laters: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    classes = source_of_classes()
    programs: dict[str, str] = {}
    for name, names in CONTESTANTS.items():
        stored = run(STORE.format(imports=names), classes)
        if stored is not None:
            programs[name] = LOAD.format(imports=names, stored=stored[1].strip())
    for turn in range(-1, rounds):  # the one before the first warms the caches of files
        for name, command in IMPORTS.items():
            empty, taken = run("pass"), run(command)
            if turn >= 0 and empty is not None and taken is not None:
                imports[name].append(taken[0] - empty[0])
        for name, program in programs.items():
            done = run(program, classes)
            if turn >= 0 and done is not None:
                first, later = map(float, done[1].split())
                firsts[name].append(first)
                laters[name].append(later)
    return {
        "import": milliseconds(imports),
        "first typed load in a process": milliseconds(firsts),
        "first typed load of a later class": milliseconds(laters),
    }


def milliseconds(times: dict[str, list[float]]) -> dict[str, float | None]:
    return {name: median(values) / 1e6 if values else None for name, values in times.items()}


def first_use_lines(measured: Measured) -> list[Line]:
    """Judged on our own times alone: these limits are absolute."""
    lines = []
    for what, by_contestant in measured.items():
        limit = IMPORT_LIMIT_MS if what == "import" else COMPILE_LIMIT_MS
        for name in ("holdall", "holdall.msgpack"):
            if name not in by_contestant:
                continue
            value = by_contestant[name]
            label = what if name == "holdall" else f"{name} {what}"
            if value is None:
                lines.append(Line(NAME, label, f"< {limit} ms", "it failed", False))
            else:
                lines.append(Line(NAME, label, f"< {limit} ms", f"{value:.2f} ms", value < limit))
    return lines
