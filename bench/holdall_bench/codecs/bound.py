"""The lower bound: objects walked, and made, with no format at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Codec, Ends, Unsuitable

if TYPE_CHECKING:
    from ..data import Subject

MODULE = "holdall_bench.floor"


def tape(floor: Any, subject: Subject) -> Ends:
    """Every object visited, a tag and its payload copied; and the objects made from such a tape."""
    if subject.data.identity:
        return Ends(floor.walk_memo, floor.unwalk_memo, stored=lambda value: floor.walk_memo(value, True))
    return Ends(floor.walk, floor.unwalk, stored=lambda value: floor.walk(value, True))


def clone(floor: Any, subject: Subject) -> Ends:
    """The objects made anew from the objects."""
    if subject.data.identity:
        raise Unsuitable("for trees")
    return Ends(None, floor.clone, stored=lambda value: value)


BOUND = (
    Codec(
        "lower bound",
        "floor",
        MODULE,
        "a few builtin types",
        "visits every object and copies its payload; makes them from that",
        tape,
        bound=True,
    ),
    Codec(
        "lower bound, clone",
        "floor",
        MODULE,
        "a few builtin types",
        "makes every object anew from the object",
        clone,
        bound=True,
    ),
)
