"""The table of docs/evolution.md, from the cases that the tests run.

python -m tests.support.evolution_page            # writes the page anew
"""

from __future__ import annotations

import pathlib

from tests.support.evolution_cases import CASES, DOORS, LOADS, Case, says

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "evolution.md"
BEGIN, END = "<!-- table: evolution -->\n", "<!-- end -->"
HEAD = ["what happened", "what to write", *DOORS, "pickle", "Avro", "protobuf"]


def cell(said: str | None) -> str:
    if said is None:
        return "–"
    return "loads" if said == LOADS else "refused"


def row(case: Case) -> str:
    cells = [case.change, case.write, *(cell(says(case, door)) for door in DOORS)]
    return f"| {' | '.join((*cells, case.pickle, case.avro, case.protobuf))} |\n"


def page() -> str:
    """The whole page with a table that is up to date."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    head = f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}\n"
    return before + BEGIN + head + "".join(map(row, CASES)) + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
