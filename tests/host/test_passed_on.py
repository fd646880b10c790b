"""Exceptions of called functions that say nothing of the data: they come through, wherever others are an answer.

Those that code of the program's raises at each of its calls, and memory that runs out, are in `tests/hostile/test_faults.py`.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import re
import sys
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

import pytest

import holdall
from holdall import bson, msgpack


class Size(enum.Enum):
    SMALL = 1


def at_depth(left: int, call: Callable[[], Any]) -> Any:
    """Calls where so many calls are left of Python's stack."""

    def down(more: int) -> Any:
        return call() if more == 0 else down(more - 1)

    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return down(sys.getrecursionlimit() - depth - left)


# Each runs code of the standard library's, some calls deep.
VALUES: dict[str, Callable[[], Any]] = {
    "Fraction": lambda: fractions.Fraction(1, 3),
    "UUID": lambda: uuid.UUID(int=5),
    "pattern": lambda: re.compile("a(b|c)*[d-f]"),
    "ZoneInfo": lambda: zoneinfo.ZoneInfo("Europe/Berlin"),
}


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="the limit is one of Python's own frames there, and of C's elsewhere"
)
@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_the_end_of_pythons_stack_is_not_the_datas_fault(make: Callable[[], Any]) -> None:
    value = make()
    calls: list[Callable[[], Any]] = [lambda: holdall.loads(data)]
    data = holdall.dumps(value)
    if not isinstance(value, re.Pattern):
        text = msgpack.dumps(str(value))
        calls.append(lambda: msgpack.loads(text, type=type(value)))
    for call in calls:
        met = set()
        for left in range(2, 60, 3):
            re.purge()
            try:
                assert at_depth(left, call) == value
            except RecursionError:
                met.add(RecursionError)
            else:
                met.add(None)
        assert None in met


def test_data_that_nest_too_deep_for_a_function_are_at_fault() -> None:
    data = holdall.dumps(re.compile("a" * 2000)).replace(b"a" * 2000, b"(" * 1000 + b")" * 1000)
    with pytest.raises(holdall.DecodeError, match="a value that Pattern does not take"):
        holdall.loads(data)


def test_what_is_ordinary_stays_an_answer() -> None:
    with pytest.raises(holdall.ValidationError, match="Invalid enum value"):
        msgpack.loads(msgpack.dumps(5), type=Size)
    with pytest.raises(holdall.ValidationError, match="Number out of range"):
        holdall.loads(holdall.dumps(10**400), type=float)
    with pytest.raises(holdall.ValidationError, match="Invalid RFC3339 encoded datetime"):
        msgpack.loads(msgpack.dumps("9999-12-31T23:59:59.9999999"), type=datetime.datetime)
    with pytest.raises(holdall.ValidationError, match="Invalid decimal string"):
        msgpack.loads(msgpack.dumps("1.2.3"), type=decimal.Decimal)
    with pytest.raises(holdall.ValidationError, match="Expected `complex`, got `list`"):
        msgpack.loads(msgpack.dumps([1.0, "x"]), type=complex)
    with pytest.raises(holdall.EncodeError, match="34 digits"):
        bson.dumps({"a": decimal.Decimal("1" * 40)})
