"""The table of docs/evolution.md, from the cases that the tests run.

python -m tests.support.evolution_page            # writes the page anew
"""

from __future__ import annotations

import pathlib

from tests.support.evolution_cases import LOADS, Case
from tests.support.evolution_doors import COLUMNS, DATA, says
from tests.support.evolution_table import TABLE

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "evolution.md"
BEGIN, END = "<!-- table: evolution -->\n", "<!-- end -->"
HEAD = ["what happened", "what to write", *(column.name for column in COLUMNS), "pickle", "Avro", "protobuf"]


def cell(said: str | None) -> str:
    if said is None:
        return "–"
    return said if said in (LOADS, DATA) else "refused"


def row(case: Case) -> str:
    # A union in code is no end of a cell.
    cells = [case.change, case.write.replace("|", "\\|"), *(cell(says(case, column)) for column in COLUMNS)]
    return f"| {' | '.join((*cells, case.pickle, case.avro, case.protobuf))} |\n"


def page() -> str:
    """The whole page with a table that is up to date."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    head = f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}\n"
    return before + BEGIN + head + "".join(map(row, TABLE)) + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
