"""Every pickleable type of the standard library, each batch in a process of its own: nothing crashes, nothing is lost.

The same with a hundred packages is `make zoo`.
"""

from __future__ import annotations

import pytest

from tests.zoo.run import BAD, load_groups, run_group, told_rows
from tests.zoo.specimens import GROUPS

load_groups(("standard",))


@pytest.mark.parametrize("group", [name for name in GROUPS if not name.startswith("any class")])
def test_by_hand(group: str) -> None:
    result = run_group(group, "hand")
    assert not result.missing
    assert result.counts["kept"] > 50
    assert not told_rows([row for row in result.rows if row[0] in BAD])


def test_any_class() -> None:
    result = run_group("any class of the standard library", "made once", "pickle")
    assert not result.missing
    assert result.counts["kept"] > 500
    assert not told_rows([row for row in result.rows if row[0] in BAD])
