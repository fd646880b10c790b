"""The parameters of a type other than types, as text: numbers, symbols and characters, written and read."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from . import _numbers
from ._names import IS_NAME, NAME, PART, QUOTED, escaped

# A number; a symbol's name; a type's name; a bracket or comma; a character; a quoted symbol.
TOKEN = re.compile(
    rf"\s*(?:(?P<number>-?(?:0x[\da-fA-F]+|(?:\d+(?:\.\d+)?(?:[ef][-+]?\d+)?)(?![\w.])|(?:Inf|NaN)(?:16|32)?(?!\w)))"
    rf"|:(?P<symbol>{NAME})|Symbol\((?P<text>{QUOTED})\)|(?P<name>{PART}(?:\.{PART})*)"
    rf"|(?P<mark>[{{}}(),])|'(?P<char>[^'\\]|\\.)')",
    re.DOTALL,
)
_END = re.compile(r"\s*$")
NUMBERS = {name: getattr(_numbers, name) for name in _numbers.__all__ if name != "Char"}
NUMBERS |= {"Int64": int, "Float64": float}
_UNSIGNED = {2: "UInt8", 4: "UInt16", 8: "UInt32", 16: "UInt64", 32: "UInt128"}
WORDS = {"true": True, "false": False, "nothing": None}


class Reader:
    """Reads a text from its beginning, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, expected: str) -> NoReturn:
        raise ValueError(f"no type of Julia's: expected {expected} at character {self.at} of {self.text!r}")

    def end(self) -> None:
        if _END.match(self.text, self.at) is None:
            self.fail("the end")

    def take(self, what: str) -> bool:
        match = TOKEN.match(self.text, self.at)
        if match is None or match["mark"] != what:
            return False
        self.at = match.end()
        return True

    def number(self, text: str) -> Any:
        sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
        if digits.startswith("0x"):
            # The width follows from the number of digits.
            width = next((width for width in _UNSIGNED if len(digits) - 2 <= width), None)
            if width is None or sign < 0:
                self.fail("an unsigned number of at most 128 bits")
            return NUMBERS[_UNSIGNED[width]](int(digits, 16))
        if digits.isdigit():
            return int(text)
        if digits[:3] in ("Inf", "NaN"):
            value = sign * float(digits[:3])
            return NUMBERS[f"Float{digits[3:] or 64}"](value)
        return _numbers.Float32(text.replace("f", "e")) if "f" in digits else float(text)


def shown_value(value: Any) -> str:
    """A parameter that isn't a type, as Julia reads it; Julia itself prints Int16(5) as 5 in a type."""
    cls = type(value)
    if value is None:
        return "nothing"
    if cls is bool:
        return str(value).lower()
    if cls is _numbers.Char:
        return f"'{escaped(value, quote=chr(39))}'"
    if isinstance(value, str):
        plain = IS_NAME.fullmatch(value)
        return f":{value!s}" if plain else f'Symbol("{escaped(value)}")'
    if (
        isinstance(value, _numbers._Int)
        and cls.__module__ == _numbers.__name__
        and cls not in (_numbers.Int32, _numbers.Int64)
    ):
        return f"0x{int(value):0{2 * cls._SIZE}x}" if cls._LEAST == 0 else f"{cls.__name__}({int(value)})"
    if cls is float:
        return _shown_float(value, "e", "")
    if cls is _numbers.Float32:
        return _shown_float(value, "f", "32")
    if cls is _numbers.Float16:
        return f"Float16({_shown_float(value, 'e', '')})"
    return str(value)


def _shown_float(value: float, mark: str, width: str) -> str:
    """As Julia writes it: `mark` comes before an exponent, `width` after NaN and Inf."""
    if value != value:
        return f"NaN{width}"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}Inf{width}"
    digits, _, exponent = str(value).partition("e")
    if "." not in digits:
        digits += ".0"
    return f"{digits}{mark}{int(exponent or 0)}" if exponent or mark == "f" else digits
