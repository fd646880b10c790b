"""Values as Python writes them, at any depth, in lines that fit."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from . import _paths
from ._nodes import IMMUTABLE, LEAVES, Node, leaf, node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_INDENT = 2
# Deeper lines are not indented further: a million nested lists would take a terabyte of spaces.
_MOST_INDENT = 60
_AGAIN = "<...>"
# Up to this many nested containers are tried only as far as a line has room.
_FLAT = 8
_NUMBERS = frozenset((int, float, complex, bool, type(None)))

# The arguments of `click.style` for each kind of text.
STYLES: dict[str, dict[str, Any]] = {
    "text": {"fg": "green"},
    "number": {"fg": "cyan"},
    "constant": {"fg": "magenta", "italic": True},
    "key": {"fg": "blue"},
    "name": {"fg": "yellow"},
    "note": {"dim": True},
    "removed": {"fg": "red"},
}


# The most characters of a key that are shown, and how deep keys in keys are shown. A key may contain itself.
_LONGEST_KEY, _DEEPEST_KEY = 200, 4


def short(value: Any, limit: int = 60, keys: int = 0) -> str:
    """A value in one line of at most `limit` characters; no more of it is visited.

    keys: how many keys within keys it is in.
    """
    if type(value) in LEAVES:
        # Most keys.
        text = leaf(value, limit)
        return text if len(text) <= limit else text[: limit - 3] + "..."
    parts: list[str] = []
    size = 0
    for text, _ in _flat(value, limit, keys=keys):
        parts.append(text)
        size += len(text)
        if size > limit:
            return "".join(parts)[: limit - 3] + "..."
    return "".join(parts)


def pretty(value: Any, width: int = 100) -> Iterator[tuple[str, str]]:
    """A value's text in pieces, each with the name of its style or "".

    A container that fits into the rest of a line is one line; else each of its items begins a line. A
    container that was shown before is `<as at PATH>`, or `<within PATH>` inside itself; an immutable one that
    fits into a line is shown again.
    """
    yield from _Printer(width).run(value)


# The most steps of a path that are shown, and characters of a step: else the paths of deep and shared
# containers would take far more than the containers.
_MOST_STEPS, _LONGEST_STEP = 64, 100


def path_up(steps: Iterable[Any]) -> str:
    """The path that consists of these steps, given from the last to the first. Of a long one its end, after
    `$...`.
    """
    parts = [_step(step) for step in islice(steps, _MOST_STEPS + 1)]
    if len(parts) > _MOST_STEPS:
        parts[-1] = "$..."
    else:
        parts.append("$")
    return "".join(reversed(parts))


def _step(step: Any) -> str:
    if type(step) is int and 0 <= step < 1 << 32:
        return f"[{step}]"
    if isinstance(step, str):
        cut = step if len(step) <= _LONGEST_STEP else step[:_LONGEST_STEP] + "..."
        return _paths.show((cut,))[1:]
    return f"[{short(step, _LONGEST_STEP)}]"


class _Open:
    """A container whose items are being printed."""

    __slots__ = ("column", "depth", "fills", "first", "parent", "parts", "start", "step", "value")

    def __init__(self, parent: _Open | None, step: Any, parts: Node, value: Any) -> None:
        self.parent = parent
        self.step = step
        self.parts = parts
        self.value = value
        self.first = True
        # Numbers are printed side by side; the line is filled to this column.
        self.fills = False
        self.column = 0
        # The beginning of its text in a line that is being tried.
        self.start = 0
        self.depth: int = 0 if parent is None else parent.depth + 1

    def steps_up(self) -> Iterator[Any]:
        here: _Open | None = self
        while here is not None and here.parent is not None:
            yield here.step
            here = here.parent


_WIDEST = 1 << 30
# A longer text is shown once.
_LONG = 500
_NO_PARTS = Node("list", "list", "", "", iter(()), 0, {}, 0)


class _Printer:
    def __init__(self, width: int) -> None:
        self.width = width
        self.met: dict[int, _Open] = {}
        self.open: set[int] = set()
        # The least room that containers take, learnt from attempts that failed.
        self.least: dict[int, int] = {}
        # The room into which containers didn't fit.
        self.failed: dict[int, int] = {}

    def run(self, value: Any) -> Iterator[tuple[str, str]]:
        stack: list[_Open] = []
        yield from self.begin(value, None, None, stack, 0)
        while stack:
            top = stack[-1]
            try:
                step, child = next(top.parts.items)
            except StopIteration:
                stack.pop()
                self.open.discard(id(top.value))
                yield ",\n" + " " * min(_INDENT * top.depth, _MOST_INDENT), ""
                yield top.parts.tail.removeprefix(","), ""
                continue
            indent = min(_INDENT * (top.depth + 1), _MOST_INDENT)
            if top.fills and not top.first and top.column + len(leaf(child)) + 3 <= self.width:
                text = leaf(child)
                top.column += len(text) + 2
                yield ", ", ""
                yield text, style_of(child)
                continue
            yield ("\n" if top.first else ",\n"), ""
            top.first = False
            top.column = indent + (len(leaf(child)) if top.fills else 0)
            yield " " * indent, ""
            label, style, between = _label(top.parts, step)
            if label:
                yield label, style
                yield between, ""
            yield from self.begin(child, top, step, stack, indent + len(label) + len(between))

    def begin(
        self, value: Any, parent: _Open | None, step: Any, stack: list[_Open], at: int
    ) -> Iterable[tuple[str, str]]:
        if type(value) is tuple and not value:
            return (("()", ""),)
        before = self.met.get(id(value))
        parts = node(value)
        if parts is None:
            if before is not None:
                return ((f"<as at {path_up(before.steps_up())}>", "note"),)
            text = leaf(value)
            if len(text) > _LONG:
                self.met[id(value)] = _Open(parent, step, _NO_PARTS, value)
            return ((text, style_of(value)),)
        if not parts.size:
            return ((parts.head + parts.tail, _head_style(parts)),)
        here = _Open(parent, step, parts, value)
        room = self.width - at
        fits = self.least.pop(id(value), 0) < room > self.failed.get(id(value), 0)
        if fits and (before is None or (isinstance(value, IMMUTABLE) and id(value) not in self.open)):
            line = _line(value, room, self.met, self.least, self.failed, here)
            if line is not None:
                pieces, opened = line
                for found in (here, *opened):
                    self.met.setdefault(id(found.value), found)
                return pieces
            self.failed[id(value)] = room
        if before is not None:
            word = "within" if id(value) in self.open else "as at"
            return ((f"<{word} {path_up(before.steps_up())}>", "note"),)
        if parts.content != id(value):
            # Another container with the same items may have been shown, or the items alone.
            before = self.met.get(parts.content)
            if before is not None:
                word = "within" if parts.content in self.open else "as at"
                self.met[id(value)] = here
                return (
                    (parts.head, _head_style(parts)),
                    (f"<{word} {path_up(before.steps_up())}>", "note"),
                    (parts.tail, ""),
                )
            self.met[parts.content] = here
        here.parts = parts
        here.first = True
        here.fills = (
            parts.kind == "list" and _NUMBERS.issuperset(map(type, value))
            if type(value) in (list, tuple)
            else False
        )
        self.met[id(value)] = here
        self.open.add(id(value))
        stack.append(here)
        return ((parts.head, _head_style(parts)),)


def _line(
    value: Any,
    room: int,
    met: dict[int, _Open],
    least: dict[int, int],
    failed: dict[int, int],
    here: _Open,
) -> tuple[list[tuple[str, str]], list[_Open]] | None:
    """The pieces of a value that fits into a line, and the containers in it.

    None if it doesn't fit or contains something that was shown before. Then the least room that the
    containers within it take is remembered: in a million nested lists each would be tried in vain otherwise.
    """
    pieces: list[tuple[str, str]] = []
    opened: list[_Open] = []
    stack: list[_Open] = []
    used = 0
    for piece in _flat(value, room, here, met, opened, stack):
        if len(stack) > 1 and stack[-1].first:
            stack[-1].start = used
            if failed.get(id(stack[-1].value), -_WIDEST) >= room - used:
                return None
        if "\n" in piece[0] or piece[0] == _AGAIN:
            return None
        pieces.append(piece)
        used += len(piece[0])
        # The comma takes a place, too. Deep values are tried four times as far, so that the next levels need
        # not be.
        if used >= room and (len(stack) <= _FLAT or used >= 4 * room):
            for depth, found in enumerate(stack):
                # Every open container ends with at least one character.
                least[id(found.value)] = used - found.start + len(stack) - depth
            return None
    return (pieces, opened) if used < room else None


def _flat(
    value: Any,
    most: int,
    here: _Open | None = None,
    met: dict[int, _Open] | None = None,
    opened: list[_Open] | None = None,
    stack: list[_Open] | None = None,
    keys: int = 0,
) -> Iterator[tuple[str, str]]:
    """A value's text without line breaks; <...> in place of containers that contain themselves or occur
    twice.

    Text beyond `most` characters is left out. stack: receives the containers that are open at the end.
    """
    first = node(value)
    if first is None:
        yield leaf(value, most), style_of(value)
        return
    stack = [] if stack is None else stack
    stack.append(here or _Open(None, None, first, value))
    stack[0].parts = first
    yield first.head, _head_style(first)
    seen = {id(value)}
    while stack:
        top = stack[-1]
        try:
            step, child = next(top.parts.items)
        except StopIteration:
            stack.pop()
            top.first = True
            yield top.parts.tail, ""
            continue
        if not top.first:
            yield ", ", ""
        top.first = False
        label, style, between = _label(top.parts, step, keys)
        if label:
            yield label, style
            yield between, ""
        inner = node(child)
        if inner is None:
            yield leaf(child, most), style_of(child)
        elif (
            (id(child) in seen or (met and id(child) in met))
            and inner.size
            and not isinstance(child, IMMUTABLE)
        ):
            yield _AGAIN, "note"
        else:
            seen.add(id(child))
            nested = _Open(top, step, inner, child)
            if opened is not None and inner.size:
                opened.append(nested)
            stack.append(nested)
            yield inner.head, _head_style(inner)


def _label(parts: Node, step: Any, keys: int = 0) -> tuple[str, str, str]:
    """The text before an item, its style, and the text between both."""
    if parts.kind == "map":
        key = short(step, _LONGEST_KEY >> keys, keys + 1) if keys < _DEEPEST_KEY else "..."
        return key, "key", ": "
    if parts.kind == "fields" and isinstance(step, str) and step != "*":
        return _paths.printable(step), "key", "="
    return "", "", ""


def _head_style(parts: Node) -> str:
    return "name" if parts.head[:1].isalpha() else ""


def style_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "constant"
    if isinstance(value, (int, float, complex)):
        return "number"
    if isinstance(value, (str, bytes, bytearray)):
        return "text"
    return "name"
