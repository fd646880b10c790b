"""`holdall lock --check` finds each change of the table from the code, before any data is read, and names what to write."""

from __future__ import annotations

import pytest

pytest.importorskip("click")

from tests.support.each import each
from tests.support.evolution_cases import LOADS
from tests.support.evolution_lock import options_of, told
from tests.support.evolution_program import id_of
from tests.support.evolution_table import TABLE

# Old data of a class that is gone loads as records; the lock says so until it is told to forget the class.
GONE = ("gone", "to_typed_dict")


def broken(case, written_down):
    return [one for one in told(case, written_down=written_down) if one.breaks]


@each("case", TABLE, ids=id_of)
def test_before_anything_is_written(case):
    found = broken(case, written_down=False)
    if case.write == "nothing" or case.lock == "":
        assert found == []
        return
    words = [case.lock] if case.lock else [*options_of(case)]
    remedies = " ".join(one.remedy for one in found)
    assert any(word in remedies for word in words), (words, found)
    assert all(one.remedy for one in found)


@each("case", TABLE, ids=id_of)
def test_after_that_nothing_breaks_that_loads(case):
    found = broken(case, written_down=True)
    loads = all(said in (LOADS, None) for said in (case.hold, case.typed, case.plain))
    assert (found == []) == (loads and id_of(case) not in GONE), found
