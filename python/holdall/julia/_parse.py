"""Types of Julia's, read from text."""

from __future__ import annotations

import functools
import re
from typing import Any, NoReturn

from . import _numbers
from ._types import BOTTOM, NAME, SHORT, Type, Union, _Bottom

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PART = rf"(?:var{_QUOTED}|{NAME})"
# A number; a symbol's name; the name of a type; a bracket or comma; a character; a symbol in quotes.
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>-?(?:0x[\da-fA-F]+|(?:\d+(?:\.\d+)?(?:[ef][-+]?\d+)?)(?![\w.])|(?:Inf|NaN)(?:16|32)?(?!\w)))"
    rf"|:(?P<symbol>{NAME})|Symbol\((?P<text>{_QUOTED})\)|(?P<name>{_PART}(?:\.{_PART})*)"
    rf"|(?P<mark>[{{}}(),])|'(?P<char>[^'\\]|\\.)')",
    re.DOTALL,
)
_EACH = re.compile(_PART)
_END = re.compile(r"\s*$")
_NUMBERS = {name: getattr(_numbers, name) for name in _numbers.__all__ if name != "Char"}
_NUMBERS |= {"Int64": int, "Float64": float}
_UNSIGNED = {2: "UInt8", 4: "UInt16", 8: "UInt32", 16: "UInt64", 32: "UInt128"}
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
        if match is None or match["mark"] != what:
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
        if match is None:
            self.fail("the name of a type")
        before, self.at = self.at, match.end()
        if match["number"]:
            return self.number(match["number"])
        if match["symbol"] or match["text"]:
            from ._values import Symbol

            return Symbol(match["symbol"] or _unquoted(match["text"]))
        if match["char"]:
            return _numbers.Char(match["char"][-1])
        if match["name"] in _WORDS:
            return _WORDS[match["name"]]
        if match["name"] in _NUMBERS and self.take("("):
            values = self.items(")", depth + 1)
            try:
                (value,) = values
                return _NUMBERS[match["name"]](value)
            except (TypeError, ValueError):
                self.fail(f"a number within {match['name']}")
        self.at = before
        return self.type(depth)

    def number(self, text: str) -> Any:
        sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
        if digits.startswith("0x"):
            # As many digits as its width has.
            width = next((width for width in _UNSIGNED if len(digits) - 2 <= width), None)
            if width is None or sign < 0:
                self.fail("an unsigned number of at most 128 bits")
            return _NUMBERS[_UNSIGNED[width]](int(digits, 16))
        if digits.isdigit():
            return int(text)
        if digits[:3] in ("Inf", "NaN"):
            value = sign * float(digits[:3])
            return _NUMBERS[f"Float{digits[3:] or 64}"](value)
        return _numbers.Float32(text.replace("f", "e")) if "f" in digits else float(text)

    def type(self, depth: int) -> Type | Union | _Bottom:
        match = _TOKEN.match(self.text, self.at)
        if match is None or not match["name"]:
            self.fail("the name of a type")
        self.at = match.end()
        name = match["name"]
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


_WORDS = {"true": True, "false": False, "nothing": None}


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _path(name: str) -> tuple[str, ...]:
    """As Julia 1.5 writes it."""
    found = [part[0] for part in _EACH.finditer(name)]
    parts = tuple(_unquoted(part[3:]) if part.startswith('var"') else part for part in found)
    if parts[0] == "Base":
        # BigFloat is Base's to all who don't look where it is defined.
        home = SHORT.get(parts[-1], ())
        return home if len(parts) == 2 and home[:2] == ("Main", "Base") else ("Main", *parts)
    if len(parts) == 1:
        return SHORT.get(parts[0], ("Main", *parts))
    return parts
