"""The tables of docs/types.md, from the cases that the tests run.

python -m tests.support.types_page            # writes the page anew
python -m tests.support.types_page --check    # fails where it lags behind
"""

from __future__ import annotations

import collections
import datetime
import enum
import pathlib
import sys
from itertools import groupby
from typing import Any

import numpy as np

from tests.support.formats import FORMATS
from tests.support.typed_cases import CASES, PERMITTED, Case, NotLoaded, Refused
from tests.support.typed_models import PlainUser

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "types.md"
LIKEWISE = "as msgpack"
BEGIN, END = "<!-- table: types -->\n", "<!-- end -->"
HEAD = ["type", "value", *(head for fmt in FORMATS for head in (fmt, f"{fmt}, typed"))]


def show(value: Any) -> str:
    """A value as one would write it."""
    if isinstance(value, enum.Flag):
        return " | ".join(
            f"{type(value).__name__}.{member.name}" for member in type(value) if member in value
        )
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, memoryview):
        return f"memoryview({bytes(value)!r})"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, np.{value.dtype.name})"
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({value.item() if not isinstance(value, np.datetime64) else str(value)!r})"
    if isinstance(value, PlainUser):
        return f"PlainUser({', '.join(f'{name}={part!r}' for name, part in vars(value).items())})"
    if isinstance(value, datetime.datetime):
        return f"datetime({value.isoformat()})"
    # Not `repr`, which shows a dict since 3.12.
    text = f"OrderedDict({list(value.items())})" if type(value) is collections.OrderedDict else repr(value)
    for module in ("datetime.", "zoneinfo.", "re."):
        text = text.replace(module, "", 1) if text.startswith(module) else text
    return text.replace("PosixPath('a/b')", "Path('a/b')").replace("re.IGNORECASE", "re.I")


def code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def cell(case: Case, result: Any) -> str:
    if isinstance(result, Refused):
        return "EncodeError"
    if isinstance(result, NotLoaded):
        return "ValidationError" if result == "Expected" else "DecodeError"
    if result is case.value:
        return "same"
    return code(show(result))


def row(case: Case) -> str:
    options = "".join(f", `{name}=`" for name in (*case.dumping, *case.loading) if name != "strict")
    cells = [case.name.replace("|", "\\|") + options, code(show(case.value))]
    for fmt in FORMATS:
        permitted = " (`types=`)" if case.said(fmt) is PERMITTED else ""
        cells += [cell(case, case.untyped_result(fmt)) + permitted, cell(case, case.typed_result(fmt))]
    for at in (-2, -1):
        # The page is wide enough.
        if cells[at].startswith("`") and cells[at] == cells[at - 2]:
            cells[at] = LIKEWISE
    return f"| {' | '.join(cells)} |\n"


def tables() -> str:
    parts = []
    for group, cases in groupby(CASES, key=lambda case: case.group):
        head = f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}\n"
        parts.append(f"\n### {group}\n{head}{''.join(map(row, cases))}")
    return "".join(parts) + "\n"


def page() -> str:
    """The whole page with tables that are up to date."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + tables() + END + rest.split(END, 1)[1]


def main() -> int:
    made = page()
    behind = made != PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        if behind:
            print("docs/types.md does not match tests/support/typed_cases.py: run `make docs`")
        return int(behind)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
