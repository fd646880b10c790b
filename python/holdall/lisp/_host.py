"""What the native side calls."""

from __future__ import annotations

from ._lower import lower
from ._make import array, complex_of, complex_single, fill_array, packed, pathname, ratio
from ._registry import class_of, permitted, resolve
from ._tables import pairs, table
from ._values import UNBOUND, Cons, LispObject, SingleFloat, Symbol, Type

__all__ = [
    "UNBOUND",
    "Cons",
    "LispObject",
    "SingleFloat",
    "Symbol",
    "Type",
    "array",
    "class_of",
    "complex_of",
    "complex_single",
    "fill_array",
    "lower",
    "packed",
    "pairs",
    "pathname",
    "permitted",
    "ratio",
    "resolve",
    "table",
]
