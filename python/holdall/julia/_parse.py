"""Types of Julia's, read from text."""

from __future__ import annotations

import functools
import re
from typing import Any, NoReturn

from ._types import BOTTOM, SHORT, Type, Union, _Bottom

_TOKEN = re.compile(r"\s*(?:(-?\d+)|(:?)((?:[^\W\d]|[#@])[\w#!@]*(?:\.(?:[^\W\d]|[#@])[\w#!@]*)*)|([{}(),]))")
_END = re.compile(r"\s*$")
_ARRAYS = {"Vector": ("Array", 1), "Matrix": ("Array", 2), "AbstractVector": ("AbstractArray", 1)}
_ARRAYS |= {
    "AbstractMatrix": ("AbstractArray", 2),
    "DenseVector": ("DenseArray", 1),
    "DenseMatrix": ("DenseArray", 2),
}
_ALIASES = {
    "Int": ("Int64", ()),
    "UInt": ("UInt64", ()),
    "ComplexF16": ("Complex", ("Float16",)),
    "ComplexF32": ("Complex", ("Float32",)),
    "ComplexF64": ("Complex", ("Float64",)),
    "BitVector": ("BitArray", (1,)),
    "BitMatrix": ("BitArray", (2,)),
}
_MOST_DEPTH = 100
# Of NTuple{N, T}, which is written as N types.
_MOST_REPEATS = 10_000


# One object for each, so that whoever looks a type up by its identity finds it.
@functools.lru_cache(1024, typed=True)
def known(name: str, *params: Any) -> Type:
    """A type of Base or Core by its short name, with the path that Julia 1.5 writes."""
    return Type(SHORT[name], params)


def parse(text: str) -> Type | Union | _Bottom:
    """See `Type.parse`."""
    if not isinstance(text, str):
        raise TypeError(f"Type.parse: expected str, got {type(text).__name__}")
    return _parsed(text)


# Types don't change, and whoever gives their names gives the same ones again and again.
@functools.lru_cache(256)
def _parsed(text: str) -> Type | Union | _Bottom:
    parser = _Parser(text)
    found = parser.type(0)
    parser.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, expected: str) -> NoReturn:
        raise ValueError(f"no type of Julia's: expected {expected} at character {self.at} of {self.text!r}")

    def end(self) -> None:
        if _END.match(self.text, self.at) is None:
            self.fail("the end")

    def take(self, what: str) -> bool:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match[4] != what:
            return False
        self.at = match.end()
        return True

    def items(self, close: str, depth: int) -> list[Any]:
        """What stands up to the closing bracket."""
        found: list[Any] = []
        while not self.take(close):
            if found and not self.take(","):
                self.fail(f"a comma or `{close}`")
            if found and self.take(close):
                break
            found.append(self.item(depth))
        return found

    def item(self, depth: int) -> Any:
        """A parameter."""
        if depth > _MOST_DEPTH:
            self.fail("a type that is nested less deep")
        if self.take("("):
            return tuple(self.items(")", depth + 1))
        match = _TOKEN.match(self.text, self.at)
        if match is not None and match[1]:
            self.at = match.end()
            return int(match[1])
        if match is not None and match[2] and "." not in match[3]:
            from ._values import Symbol

            self.at = match.end()
            return Symbol(match[3])
        if match is not None and match[3] in ("true", "false"):
            self.at = match.end()
            return match[3] == "true"
        return self.type(depth)

    def type(self, depth: int) -> Type | Union | _Bottom:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match[2] or not match[3]:
            self.fail("the name of a type")
        self.at = match.end()
        name = match[3]
        braces = self.take("{")
        params = self.items("}", depth + 1) if braces else []
        if name in ("Union", "Core.Union") and braces:
            return Union(*params) if len(params) > 1 else params[0] if params else BOTTOM
        if name in _ARRAYS:
            if len(params) != 1:
                self.fail(f"one parameter of {name}")
            short, rank = _ARRAYS[name]
            return known(short, *params, rank)
        if name == "NTuple":
            if len(params) != 2 or type(params[0]) is not int or not 0 <= params[0] <= _MOST_REPEATS:
                self.fail("a length and a type in NTuple")
            return known("Tuple", *([params[1]] * params[0]))
        if name in _ALIASES and not braces:
            short, names = _ALIASES[name]
            return known(short, *(known(part) if isinstance(part, str) else part for part in names))
        return Type(_path(name), tuple(params))


def _path(name: str) -> tuple[str, ...]:
    """As Julia 1.5 writes it."""
    parts = tuple(name.split("."))
    if parts[0] == "Base":
        # BigFloat is Base's to all who don't look where it is defined.
        found = SHORT.get(parts[-1], ())
        return found if len(parts) == 2 and found[:2] == ("Main", "Base") else ("Main", *parts)
    if len(parts) == 1:
        return SHORT.get(name, ("Main", name))
    return parts
