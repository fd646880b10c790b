"""Where the walk is, as text like `$.users[3].name`.

Nobody notes the way while walking: what stands on the stack has all of it, and it is told only for the first change of
each kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .kinds import name_of

INDEX, ATTRIBUTE, KEY, MEMBER, PREFIX = range(5)

# Pairs that are compared, the iterator of ours among them, how many there are, the style of a step, and the names.
Frame = tuple[Iterator[Any], Any, int, int, Any]

LONGEST = 40
_FIRST, _LAST = 20, 5
_NAME = re.compile(r"[^\W\d]\w*\Z")


def told(stack: list[Frame], step: tuple[int, Any] | None = None) -> str:
    """The path to the pair that is being compared; the middle of a very long one is left out."""
    if len(stack) <= _FIRST + _LAST:
        text = "".join(map(_step, stack))
    else:
        first, last = map(_step, stack[:_FIRST]), map(_step, stack[-_LAST:])
        text = f"{''.join(first)} … {len(stack) - _FIRST - _LAST} steps … {''.join(last)}"
    return text if step is None else text + _named(*step)


def _step(frame: Frame) -> str:
    _, counter, length, style, names = frame
    index = length - counter.__length_hint__() - 1
    if index < 0:
        # waits until another part of the same object is done
        return ""
    if style == INDEX:
        return f"[{index}]"
    if style == PREFIX:
        return str(names[index])
    if style == MEMBER:
        return "{}"
    return _named(style, next(islice(names, index, None)))


def _named(style: int, name: Any) -> str:
    if type(name) is int:
        return f"[{name}]" if abs(name) < 10**LONGEST else "[<int>]"
    if type(name) is not str:
        return f"[<{name_of(type(name))}>]"
    short = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
    if style == ATTRIBUTE or _NAME.match(name[: LONGEST + 1]):
        return f".{short}"
    return f"[{short!r}]" if short.isprintable() else f"[{short!a}]"
