"""What `dumps` writes and `loads` refuses: the limits that docs/guide-classes.md names, and others' that we can't lift.

A random graph may run into one of them. That says nothing about the property under test, so such a graph is rejected, by
the exact text of the refusal: any other error fails the test. tests/test_graph_limits.py shows each with a graph.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Iterator

from hypothesis import reject

import holdall
from tests.support.isomorphic import Difference, isomorphic
from tests.support.parts import BY_REFERENCE, SCALARS, parts

# Each text, and why nothing can be done about it while the graph is entered at that end.
LIMITS = {
    "a key or member that is not all there": "a tuple has no hash before its items are there, and one of these holds "
    "the dict in which the tuple is a key",
    "a frozenset within its own member, whose hash is that member's own code": "a frozenset that is referred to is "
    "filled while nobody looks; code of a user's class could",
}


@contextlib.contextmanager
def excused() -> Iterator[None]:
    """Rejects the example if what is done within runs into one of the limits."""
    try:
        yield
    except holdall.DecodeError as error:
        if is_limit(error):
            reject()
        raise


def is_limit(error: holdall.DecodeError) -> bool:
    return str(error).removesuffix(f" - at byte {error.offset}") in LIMITS


@contextlib.contextmanager
def excused_with_copy(root: Any) -> Iterator[None]:
    """Rejects the example if `copy.deepcopy` fails as well where pydantic's own `__deepcopy__` calls it.

    It recurses, knows no tuple before its items are there, and loses what a Struct has beside its fields.
    """
    try:
        yield
    except (RecursionError, Difference):
        models = [obj for obj in reachable(root) if hasattr(obj, "__pydantic_fields_set__")]
        if models and not all(copies(obj) for obj in [root, *models]):
            reject()
        raise


def copies(obj: Any) -> bool:
    try:
        isomorphic(obj, copy.deepcopy(obj))
    except (RecursionError, Difference):
        return False
    return True


def reachable(root: Any) -> list[Any]:
    """Every object of a graph once, without scalars."""
    found: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        obj = waiting.pop()
        if type(obj) not in SCALARS and not isinstance(obj, BY_REFERENCE) and id(obj) not in found:
            found[id(obj)] = obj
            taken = parts(obj)
            waiting += [*taken.children, *(taken.members or ())]
    return list(found.values())


def has_members_alike(root: Any) -> bool:
    """Whether a set holds members that are written alike: the canonical form does not define their order."""
    for obj in reachable(root):
        members = parts(obj).members or ()
        if len({holdall.dumps(member, canonical=True) for member in members}) < len(members):
            return True
    return False
