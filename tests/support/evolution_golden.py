"""Keeps the data of each change: python -m tests.support.evolution_golden

What is kept once is never written again: data of all versions of holdall has to load.
"""

from __future__ import annotations

import holdall
from tests.support.evolution_doors import GOLDEN, Data, golden, stored
from tests.support.evolution_program import id_of, of_today
from tests.support.evolution_table import TABLE


def written(kept: dict[str, Data], since: dict[str, str]) -> str:
    """The file, with a line for each format."""
    cases = []
    for case, data in sorted(kept.items()):
        lines = [f'      "{name}": "{each.hex()}"' for name, each in data.items()]
        cases.append(f'    "{case}": {{\n      "since": "{since[case]}",\n' + ",\n".join(lines) + "\n    }")
    return '{\n  "changes": {\n' + ",\n".join(cases) + "\n  }\n}\n"


def add(kept: dict[str, Data], since: dict[str, str]) -> None:
    """Adds what is not there."""
    for case in TABLE:
        if id_of(case) not in kept:
            with of_today(case) as today:
                kept[id_of(case)], since[id_of(case)] = stored(today), holdall.__version__


def main() -> None:
    kept, since = golden()
    add(kept, since)
    GOLDEN.write_text(written(kept, since), encoding="ascii")


if __name__ == "__main__":
    main()
