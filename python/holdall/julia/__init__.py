"""Julia's data: the files that BSON.jl and BSONqs write and read.

`load`, `open`, `dump` and `parse` work on files, `loads` and `dumps` on bytes. `struct` maps Julia's types to Python classes. The other classes are values that Python has no type for, and types themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import julia_dumps as dumps
from .._core import julia_loads as loads
from ._files import dump, load, parse
from ._files import open_file as open
from ._names import Symbol
from ._numbers import (
    Char,
    Float16,
    Float32,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
)
from ._registry import struct
from ._struct import JuliaStruct
from ._types import BOTTOM, Anonymous, Module, Type, TypeVar, Union, UnionAll
from ._values import (
    Bits,
    Complex,
    Dict,
    IdDict,
    Missing,
    NamedTuple,
    Pairs,
    Period,
    Rational,
    Set,
    SimpleVector,
    SubString,
    missing,
)
from ._wrappers import (
    Adjoint,
    BigFloat,
    Diagonal,
    LinRange,
    Pair,
    Ref,
    ReshapedArray,
    Some,
    StepRangeLen,
    Transpose,
)

if TYPE_CHECKING:
    from ._bitarray import BitArray as BitArray

# BitArray is looked up on access, because it needs NumPy.
__all__ = [
    "BOTTOM",
    "Adjoint",
    "Anonymous",
    "BigFloat",
    "Bits",
    "Char",
    "Complex",
    "Diagonal",
    "Dict",
    "Float16",
    "Float32",
    "IdDict",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Int128",
    "JuliaStruct",
    "LinRange",
    "Missing",
    "Module",
    "NamedTuple",
    "Pair",
    "Pairs",
    "Period",
    "Rational",
    "Ref",
    "ReshapedArray",
    "Set",
    "SimpleVector",
    "Some",
    "StepRangeLen",
    "SubString",
    "Symbol",
    "Transpose",
    "Type",
    "TypeVar",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt128",
    "Union",
    "UnionAll",
    "dump",
    "dumps",
    "load",
    "loads",
    "missing",
    "open",
    "parse",
    "struct",
]


def __getattr__(name: str) -> Any:
    if name == "BitArray":
        from ._bitarray import BitArray

        return BitArray
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
