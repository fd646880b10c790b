"""Common Lisp's data: the files that cl-binary-store writes and reads.

`load`, `load_all`, `open`, `parse` and `dump` work on files, `loads`, `loads_all` and `dumps` on bytes. `struct` maps Lisp's structures and classes to Python classes. The other classes are values that Python has no type for.
"""

from __future__ import annotations

from .._core import lisp_dumps as dumps
from .._core import lisp_loads as loads
from ._files import dump, load, load_all, loads_all, parse
from ._files import open_file as open
from ._registry import struct
from ._tables import HashTable, Pairs
from ._values import (
    UNBOUND,
    Array,
    Complex,
    ComplexSingle,
    Cons,
    LispObject,
    Pathname,
    SingleFloat,
    Symbol,
    Type,
    keyword,
)

__all__ = [
    "UNBOUND",
    "Array",
    "Complex",
    "ComplexSingle",
    "Cons",
    "HashTable",
    "LispObject",
    "Pairs",
    "Pathname",
    "SingleFloat",
    "Symbol",
    "Type",
    "dump",
    "dumps",
    "keyword",
    "load",
    "load_all",
    "loads",
    "loads_all",
    "open",
    "parse",
    "struct",
]
