"""Every cell of the table in docs/evolution.md, by all doors; and the data of version 1 that is kept for it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import holdall
from holdall import bson, msgpack
from tests.support import evolution_page
from tests.support.each import each
from tests.support.evolution_cases import LOADS
from tests.support.evolution_doors import COLUMNS, DATA, GOLDEN, KEY, answers, golden, says, stored
from tests.support.evolution_golden import add, written
from tests.support.evolution_program import id_of, of_before, of_today
from tests.support.evolution_table import TABLE

KEPT, SINCE = golden()
ROWS = {id_of(case): case for case in TABLE}


def same(found: Any, wanted: Any, keeps: bool) -> bool:
    """Whether a value is the one that was wanted, with nothing left of before unless it `keeps` that."""
    if isinstance(wanted, holdall.Record):
        return type(found) is holdall.Record and found.fields == wanted.fields
    if type(found) is not type(wanted):
        return False
    return found == wanted if keeps else graph(found) == graph(wanted)


def graph(value: Any) -> bytes:
    """What a value is to its last attribute, in which equal graphs are equal bytes."""
    return holdall.dumps(value, canonical=True)


def check(case: Any, column: Any, data: Any) -> None:
    said = says(case, column)
    if said is None:
        return
    with of_today(case) as today:
        wanted = today.plain if said == DATA else today.wanted
        for door, found in answers(case, column, data, today):
            if said not in (LOADS, DATA):
                assert isinstance(found, Exception), f"{door}: {type(found)} was loaded"
                assert re.search(said, str(found)), f"{door}: {found}"
            else:
                assert not isinstance(found, Exception), f"{door}: {found}"
                assert same(found, wanted, case.keeps and not column.typed), f"{door}: {found!r}"


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
@each("case", ROWS.values(), ids=id_of)
def test_each_cell_by_all_doors(case, column):
    check(case, column, KEPT[id_of(case)])


@each("case", ROWS.values(), ids=id_of)
def test_what_is_stored_today(case):
    with of_today(case) as today:
        data = stored(today)
    if data != KEPT[id_of(case)]:
        for column in COLUMNS:
            check(case, column, data)


@each("case", [case for case in TABLE if id_of(case) != "two_versions"], ids=id_of)
def test_version_1_stored_it_so(case):
    """The classes of version 1 write what the case says that they wrote."""
    with of_today(case) as today:
        data = stored(today)
    with of_before(case) as before:
        hold, pickled = holdall.dumps(before.value), holdall.pickle.dumps(before.value)
        assert msgpack.loads(msgpack.dumps(before.value)) == today.plain
        assert bson.loads(bson.dumps({KEY: before.value}))[KEY] == today.plain
    # The classes are forgotten: both are records, or what needs no class.
    for ours, kept in ((hold, data["hold"]), (pickled, data["pickle"])):
        options = {"types": holdall.Record, "trust": ours is pickled}
        assert graph(holdall.loads(ours, **options)) == graph(holdall.loads(kept, **options))


def test_data_of_every_change_is_kept():
    assert set(KEPT) == set(ROWS), "run `make vectors`"
    assert len(ROWS) == len(TABLE)


def test_what_is_kept_is_never_written_again():
    kept, since = {id_of(case): {"hold": b""} for case in TABLE[1:]}, dict.fromkeys(ROWS, "0.0.1")
    add(kept, since)
    first = id_of(TABLE[0])
    assert kept.pop(first)["hold"] == KEPT[first]["hold"]
    assert {*map(str, kept.values())} == {str({"hold": b""})}
    assert since.pop(first) == holdall.__version__
    assert {*since.values()} == {"0.0.1"}
    assert written(KEPT, SINCE) == GOLDEN.read_text(encoding="ascii")


def test_the_page_is_up_to_date():
    assert evolution_page.page() == evolution_page.PAGE.read_text(encoding="utf-8")
