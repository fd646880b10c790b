"""The rules of docs/format.md: every sentence that says what is malformed, refused or required."""

from __future__ import annotations

import re

from tests.support.page_tables import PAGE

RULE = re.compile(r"\b(malformed|refuses?|refused|must|never followed)\b", re.IGNORECASE)
# Each item of this section is a rule.
ALL_RULES = "7"


def _blocks(page: str) -> list[tuple[str, str]]:
    """Paragraphs, items of lists and rows of tables, each with the number of its section."""
    section, found, fenced = "0", [], False
    for line in page.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if fenced or line.startswith(("```", "<!--")):
            continue
        if line.startswith("## "):
            section = line.split()[1].rstrip(".")
        starts = not line.strip() or re.match(r"(#|- |\d+\. |\|)", line)
        if starts or not found:
            found.append((section, ""))
        found[-1] = (section, f"{found[-1][1]} {line.strip()}".strip())
    return found


def sentences(block: str) -> list[str]:
    """The sentences of a block, which end with a stop, a semicolon or a colon before a list."""
    return [
        part.strip()
        for part in re.split(r"(?<=[.;])(?<!e\.g\.)\)? (?=[A-Z`*(\[]|[a-z])", block)
        if part.strip()
    ]


def rules() -> dict[str, str]:
    """Each sentence with a rule, to its section."""
    found: dict[str, str] = {}
    for section, block in _blocks(PAGE.read_text(encoding="utf-8")):
        if block.startswith("#"):
            continue
        item = block.startswith("- ")
        for sentence in sentences(re.sub(r"^(- |\d+\. )", "", block)):
            if RULE.search(sentence) or (section == ALL_RULES and item):
                assert sentence not in found, f"twice in the page: {sentence}"
                found[sentence] = section
    return found
