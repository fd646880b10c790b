"""What a random graph may run into that says nothing about holdall: members of sets that are alike, and limits of `copy.deepcopy`."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Iterator

from hypothesis import reject

import holdall
from tests.support.isomorphic import Difference, isomorphic
from tests.support.parts import BY_REFERENCE, SCALARS, parts


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
