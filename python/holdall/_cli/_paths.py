"""Paths like `$.users[3].name`: their text, their steps, and the values at their ends."""

from __future__ import annotations

import ast
import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"[^\W\d]\w*")
_BARE = re.compile(r"[^.\[]+")


class Missing(Exception):
    """A step that leads nowhere; `place` is the number of steps before it, `why` what is there instead."""

    def __init__(self, place: int, why: str) -> None:
        super().__init__(why)
        self.place = place
        self.why = why


def printable(text: str) -> str:
    """Text from a file other than a literal: characters that may move a terminal's cursor or end a line are
    escaped.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def parse(text: str) -> tuple[Any, ...]:
    """The steps of a path: text for a name or key, ints for indexes, any other literal for other keys.

    `$` at the start and the first dot may be left out; what is no plain name stands in brackets, as Python
    writes it.

    Raises ValueError: it says at which character the path is none.

    >>> parse('users[3].name') == parse('$["users"][3]["name"]') == ("users", 3, "name")
    True
    """
    steps: list[Any] = []
    tries = [_TRIED_FIXED + _TRIED_MULTIPLE * len(text)]
    at = 1 if text == "$" or text[:2] in ("$.", "$[") else 0
    first = at == 0
    while at < len(text):
        if text[at] == "[":
            step, at = _bracketed(text, at, tries)
            steps.append(step)
        elif text[at] == "." or first:
            begin = at + (text[at] == ".")
            found = _BARE.match(text, begin)
            if found is None:
                raise ValueError(f"expected a name at character {begin + 1} of the path")
            steps.append(found[0])
            at = found.end()
        else:
            raise ValueError(f"expected `.` or `[` at character {at + 1} of the path")
        first = False
    return tuple(steps)


# How many characters may be read again in search of the bracket that ends a key.
_TRIED_FIXED, _TRIED_MULTIPLE = 1 << 12, 32


def _bracketed(text: str, at: int, tries: list[int]) -> tuple[Any, int]:
    end = text.find("]", at)
    while end >= 0 and tries[0] > 0:
        tries[0] -= end - at
        # The bracket may belong to a text or a tuple: then what comes before it is no literal.
        try:
            step = ast.literal_eval(text[at + 1 : end].strip())
            hash(step)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            end = text.find("]", end + 1)
        else:
            return step, end + 1
    raise ValueError(f'expected a number, or a key in quotes like ["a b"], at character {at + 2} of the path')


def _shown(step: Any) -> str:
    try:
        return repr(step)
    except RecursionError:
        # Nested deeper than Python shows a tuple.
        return "..."


def show(steps: Iterable[Any]) -> str:
    """The path's text, which `parse` reads again.

    >>> show(("users", 3, "odd key", None))
    '$.users[3]["odd key"][None]'
    """
    parts = ["$"]
    for step in steps:
        if not isinstance(step, str):
            parts.append(f"[{_shown(step)}]")
        elif _NAME.fullmatch(step):
            parts.append(f".{step}")
        else:
            parts.append(f"[{printable(json.dumps(step, ensure_ascii=False))}]")
    return "".join(parts)


def lookup(value: Any, steps: Iterable[Any]) -> Any:
    """The value at the end of a path, taken step by step; of a document nothing else is read.

    Raises Missing: a step leads nowhere.
    """
    for place, step in enumerate(steps):
        try:
            value = _step(value, step)
        except (KeyError, IndexError, AttributeError, TypeError, ValueError):
            raise Missing(place, _instead(value, step)) from None
    return value


def _step(value: Any, step: Any) -> Any:
    import holdall

    if isinstance(value, dict):
        return value[step]
    if isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        if type(step) is int:
            return value[step]
        return _field(value, step)
    if isinstance(value, holdall.Record):
        if isinstance(step, str) and step in value.fields:
            return value.fields[step]
        return _step(value.payload, step)
    if isinstance(value, holdall.Document):
        try:
            return value[step]
        except (KeyError, IndexError):
            if type(step) is not int or step >= 0:
                raise
            return value[step + len(value)]
    if isinstance(value, (str, bytes, bytearray)) or value is None:
        raise TypeError
    if type(step) is int or not isinstance(step, str):
        return value[step]
    try:
        return _field(value, step)
    except AttributeError:
        # Fields of a NumPy record, keys of other mappings.
        return value[step]


def _field(value: Any, step: Any) -> Any:
    """A field that is data: no code of the class runs."""
    names: Any = getattr(type(value), "_NAMES", None) or getattr(type(value), "_fields", None)
    own = getattr(value, "_names", None)
    if not names and callable(own):
        names = own()
    if not names:
        names = getattr(value, "__dict__", ())
    if step not in names:
        raise AttributeError
    return getattr(value, step)


def _instead(value: Any, step: Any) -> str:
    kind = "dict" if type(value).__name__ in ("Document", "BsonDocument") else type(value).__name__
    if type(step) is int and isinstance(value, (list, tuple)):
        return f"the {kind} there has {len(value)} items"
    keys: Any = None
    if isinstance(value, dict):
        keys = value
    elif hasattr(value, "keys"):
        keys = value.keys()
    elif hasattr(value, "fields"):
        keys, kind = value.fields, f"`{value.type_name}`"
    if keys is None:
        return f"there is a `{kind}` there"
    some = list(islice(iter(keys), 6))
    if not some:
        return f"the {kind} there is empty"
    shown = ", ".join(_short(key) for key in some[:5])
    return f"the {kind} there has {shown}{', ...' if len(some) > 5 else ''}"


def _short(key: Any) -> str:
    text = key if isinstance(key, str) else repr(key)
    return text if len(text) <= 40 else text[:37] + "..."
