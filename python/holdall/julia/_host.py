"""Everything that the native side calls.

How an instance is made: see `resolve`.
"""

from __future__ import annotations

from .. import _core
from ._arrays import array_of, boxed_dtype
from ._layout import items, parameters, parameters_of_bytes
from ._lower import lower, lower_pairs, table_of
from ._lower_values import VALUES
from ._make import pairs
from ._names import Symbol
from ._numbers import Char, Int32
from ._registry import BITS, FIELDS, MAKE, NUMBER, RECORD, TABLE, bits, class_of, is_made, permitted, resolve
from ._registry import fields_of_type as fields_of
from ._struct import JuliaStruct, record
from ._types import BOTTOM, Anonymous, Module, Type, UnionAll
from ._values import Dict, SimpleVector, SubString, missing

# The values of `tag` in typed values.
_TAGS = frozenset(_core.julia_tags)


def anonymous(params: list[object], typename: object) -> Anonymous:
    """The type of an anonymous function, from its parts in the order in which they are stored."""
    return Anonymous(typename, tuple(params))


def is_tag(text: object) -> bool:
    # Also for a subclass of str that can't be hashed.
    return isinstance(text, str) and str.__str__(text) in _TAGS


__all__ = [
    "BITS",
    "BOTTOM",
    "FIELDS",
    "MAKE",
    "NUMBER",
    "RECORD",
    "TABLE",
    "VALUES",
    "Char",
    "Dict",
    "Int32",
    "JuliaStruct",
    "Module",
    "SimpleVector",
    "SubString",
    "Symbol",
    "Type",
    "UnionAll",
    "anonymous",
    "array_of",
    "bits",
    "boxed_dtype",
    "class_of",
    "fields_of",
    "is_made",
    "is_tag",
    "items",
    "lower",
    "lower_pairs",
    "missing",
    "pairs",
    "parameters",
    "parameters_of_bytes",
    "permitted",
    "record",
    "resolve",
    "table_of",
]
