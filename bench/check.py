"""Is what a contestant restores what was stored?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdall_bench.isolate import Child, Crashed
from tests.support.isomorphic import Difference, isomorphic

SAME = "same graph"
TREE = "identity lost"
WRONG = "wrong"
CANNOT = "cannot"


class OtherBytes(Exception):
    """What was written isn't what it has to be, byte for byte."""


@dataclass(frozen=True)
class Verdict:
    """kind: one of the four above; detail: where it goes wrong, or why it can't."""

    kind: str
    detail: str = ""

    @property
    def counts(self) -> bool:
        """Does it do the job, so that its time is worth comparing?"""
        return self.kind in (SAME, TREE)


def compare(original: Any, restored: Any, quick: bool = True) -> Verdict:
    """Type by type, bit by bit; then who is shared with whom.

    quick: equal pickles are proof enough.
    """
    if quick and same_pickle(original, restored):
        return Verdict(SAME)
    try:
        isomorphic(original, restored)
    except Difference as difference:
        first = str(difference)
    else:
        return Verdict(SAME)
    try:
        isomorphic(original, restored, identity=False)
    except Difference as difference:
        return Verdict(WRONG, str(difference))
    return Verdict(TREE, first)


def same_pickle(original: Any, restored: Any) -> bool:
    """Pickle writes types, values, order and every shared reference, so equal bytes are equal graphs.

    Different bytes prove nothing (a key that is one object or two), so then `isomorphic` has to look.
    """
    return pickle.dumps(original, 5) == pickle.dumps(restored, 5)


def compare_each(originals: list[Any], restored: list[Any]) -> Verdict:
    """The worst verdict on the items of a list, each a graph of its own."""
    verdicts = [compare(a, b) for a, b in zip(originals, restored, strict=True)]
    return max(verdicts, key=lambda verdict: (SAME, TREE, WRONG).index(verdict.kind))


def check(original: Any, round_trip: Callable[[], Any], each: bool) -> Verdict:
    """The verdict on one round trip, made in a child since some contestants crash."""

    def judge() -> Verdict:
        try:
            restored = round_trip()
        except OtherBytes as error:
            return Verdict(WRONG, str(error))
        except Exception as error:  # whatever a peer raises is its answer
            return Verdict(CANNOT, f"{type(error).__name__}: {error}")
        return compare_each(original, restored) if each else compare(original, restored)

    try:
        verdict = Child(judge).result()
    except Crashed as crash:
        return Verdict(CANNOT, f"crashes with {crash}")
    assert isinstance(verdict, Verdict)
    return verdict
