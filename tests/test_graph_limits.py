"""The graphs that are stored and not loaded, each text of tests/support/limits.py with its smallest.

Each is loaded where it is entered at another end, so that what it lacks is there in time; and `deepcopy` copies it.
"""

from __future__ import annotations

import builtins
import types
from typing import Any, Callable

import pytest

import holdall

pytest.importorskip("hypothesis")

from tests.support.isomorphic import isomorphic
from tests.support.kinds import TYPES
from tests.support.limits import LIMITS, has_members_alike, is_limit
from tests.support.models import DFrozen, Empty, PlainDict


def key_that_holds_its_dict() -> tuple[Any, Any]:
    item = PlainDict(None)
    key = (item,)
    item.a = {key: 1}
    return key, item


def member_with_a_hash_of_its_own() -> tuple[Any, Any]:
    item = PlainDict(None)
    item.a = frozenset([DFrozen(item)])
    return item.a, item


def slice_within_itself() -> tuple[Any, Any]:
    bounds: list[Any] = []
    bounds.append(slice(bounds))
    return bounds[0], bounds


# What is refused at the first end, and loaded at the second.
ENDS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "a key or member that is not all there": key_that_holds_its_dict,
    "a frozenset within its own member, whose hash is that member's own code": member_with_a_hash_of_its_own,
}


def test_every_limit_is_here() -> None:
    assert list(ENDS) == list(LIMITS)


@pytest.mark.parametrize("text", ENDS)
def test_a_limit(text: str) -> None:
    refused, loaded = ENDS[text]()
    data = holdall.dumps(refused)
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(data, types=TYPES)
    assert str(caught.value) == f"{text} - at byte {caught.value.offset}"
    assert is_limit(caught.value)
    isomorphic(loaded, holdall.loads(holdall.dumps(loaded), types=TYPES))
    isomorphic(refused, holdall.deepcopy(refused))


def test_what_is_made_of_itself_is_refused() -> None:
    """There is no slice before its bounds are there: it is not stored where they lead to it, and is where they come first."""
    error: list[Any] = []
    proxied: dict[str, Any] = {}
    group = getattr(builtins, "ExceptionGroup", None)  # from Python 3.11 on
    if group is not None:
        error.append(group("of itself", [ValueError(error)]))
    proxied["self"] = types.MappingProxyType(proxied)
    cases = [slice_within_itself(), (proxied["self"], proxied)] + [(found, error) for found in error]
    for refused, loaded in cases:
        for trust in (False, True):
            with pytest.raises(holdall.EncodeError, match="what it is made of holds the object itself"):
                holdall.dumps(refused, trust=trust)
        isomorphic(loaded, holdall.loads(holdall.dumps(loaded)))


def test_nothing_else_is_a_limit() -> None:
    for data in (b"", holdall.dumps([1, 2])[:-1], holdall.dumps(DFrozen(1))):
        with pytest.raises(holdall.DecodeError) as caught:
            holdall.loads(data)
        assert not is_limit(caught.value)


def test_members_alike_have_no_canonical_order() -> None:
    assert has_members_alike([{Empty(), Empty()}])
    assert not has_members_alike([{Empty(), 1}, {Empty(), 2}])
