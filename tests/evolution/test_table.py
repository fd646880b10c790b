"""Every cell of the table in docs/evolution.md."""

from __future__ import annotations

import itertools

import pytest

import holdall
from tests.support import evolution_page
from tests.support.evolution_cases import CASES, DOORS, LOADS, load, says

_numbers = itertools.count()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.today.__name__)
def test_each_cell(case, door):
    said = says(case, door)
    if said is None:
        return
    today = case.today(f"change{next(_numbers)}.Item")
    if said != LOADS:
        with pytest.raises(holdall.DecodeError, match=said):
            load(today, door)
        return
    found = load(today, door)
    assert type(found) is type(today.wanted)
    if isinstance(found, holdall.Record):
        found, wanted = found.fields, today.wanted.fields
        assert found == wanted
    else:
        assert found == today.wanted


def test_the_page_is_up_to_date():
    assert evolution_page.page() == evolution_page.PAGE.read_text(encoding="utf-8")
