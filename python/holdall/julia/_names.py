"""Julia's names: symbols, the names of its own types, and how a name is written."""

from __future__ import annotations

import re
from typing import final

# Julia 1.5's own types by short name, each with the path that BSON.jl writes: everything that Base and Core
# export, and a few more. `make check-julia` compares them with Julia.
_OWN = {
    ("Core",): (
        "AbstractArray AbstractChar AbstractFloat AbstractString Any ArgumentError Array AssertionError Bool BoundsError Char"
        " CodeInfo DataType DenseArray DivideError DomainError ErrorException Exception Expr Float16 Float32 Float64 Function"
        " GlobalRef IO InexactError InitError Int128 Int16 Int32 Int64 Int8 Integer InterruptException LineNumberNode LoadError"
        " Method MethodError Module NamedTuple Nothing Number OutOfMemoryError OverflowError Ptr QuoteNode ReadOnlyMemoryError"
        " Real Ref SSAValue SegmentationFault Signed SimpleVector SlotNumber StackOverflowError String Symbol Task Tuple Type"
        " TypeError TypeName TypeVar TypeofBottom UInt128 UInt16 UInt32 UInt64 UInt8 UndefInitializer UndefKeywordError"
        " UndefRefError UndefVarError Union UnionAll Unsigned Vararg VecElement WeakRef"
    ),
    ("Main", "Base"): (
        "AbstractChannel AbstractDict AbstractIrrational AbstractRange AbstractSet AbstractUnitRange BitArray BitSet"
        " CapturedException Channel Cmd Colon Complex CompositeException Cstring Cwstring Dict DimensionMismatch EOFError"
        " ExponentialBackOff IOContext IOStream IdDict ImmutableDict IndexCartesian IndexLinear IndexStyle InvalidStateException"
        " Irrational KeyError LinRange LinearIndices Missing MissingException OneTo OrdinalRange Pair Pipe ProcessFailedException"
        " Rational ReentrantLock RefValue Regex RegexMatch ReshapedArray Set Slice Some StepRange StepRangeLen StringIndexError"
        " SubArray SubString SubstitutionString SystemError TaskFailedException Timer TwicePrecision UUID UnitRange Val"
        " VersionNumber WeakKeyDict"
    ),
    ("Main", "Base", "Docs"): "HTML Text",
    ("Main", "Base", "Enums"): "Enum",
    ("Main", "Base", "GMP"): "BigInt",
    ("Main", "Base", "IteratorsMD"): "CartesianIndex CartesianIndices",
    ("Main", "Base", "Libc"): "RawFD",
    ("Main", "Base", "MPFR"): "BigFloat",
    ("Main", "Base", "Multimedia"): "AbstractDisplay MIME TextDisplay",
    ("Main", "Base", "PermutedDimsArrays"): "PermutedDimsArray",
    ("Main", "Base", "Rounding"): "RoundingMode",
    ("Main", "Base", "Sort"): "PartialQuickSort",
}
SHORT = {name: (*home, name) for home, names in _OWN.items() for name in names.split()}

# Types of Base and Core that are `mutable struct` in Julia 1.5, so their instances have an identity. BSON.jl
# makes exceptions for String, Symbol, SimpleVector, Module and types.
MUTABLE = {
    *(
        f"Core.{name}"
        for name in "Array Box CodeInfo CodeInstance Expr Method MethodInstance MethodTable Task TypeMapEntry TypeMapLevel TypeName"
        " TypeVar WeakRef".split()
    ),
    *(
        f"Base.{name}"
        for name in "AsyncCondition BitArray BitSet BufferStream Channel Dict Docs.HTML Docs.Text Event Filesystem.File GMP.BigInt"
        " GenericIOBuffer IOStream IdDict IdSet InvasiveLinkedList Iterators.Stateful LinkedListItem MPFR.BigFloat Pipe"
        " PipeEndpoint Process ReentrantLock RefValue Regex SecretBuffer Semaphore TTY Threads.Atomic Threads.SpinLock Timer"
        " WeakKeyDict".split()
    ),
    "Random.MersenneTwister",
}

# Other names in the text of a type: arrays with their number of dimensions, and abbreviations of whole types.
ARRAYS = {"Vector": ("Array", 1), "Matrix": ("Array", 2), "AbstractVector": ("AbstractArray", 1)}
ARRAYS |= {
    "AbstractMatrix": ("AbstractArray", 2),
    "DenseVector": ("DenseArray", 1),
    "DenseMatrix": ("DenseArray", 2),
}
ALIASES = {
    "Int": ("Int64", ()),
    "UInt": ("UInt64", ()),
    "ComplexF16": ("Complex", ("Float16",)),
    "ComplexF32": ("Complex", ("Float32",)),
    "ComplexF64": ("Complex", ("Float64",)),
    "BitVector": ("BitArray", (1,)),
    "BitMatrix": ("BitArray", (2,)),
}

# Names that need no quotes: letters of any script and the characters allowed among them, or an operator, or
# `#` before one.
_OPERATOR = r"[-+*/\\<>=&|^%~?$!:.]+"
_LETTERS = r"[^\s\d{}(),.:;\"'`\[\]\-+*/\\<>=&|^%~?$!#@][^\s{}(),.:;\"'`\[\]\-+*/\\<>=&|^%~?$]*"
NAME = rf"(?:[#@]+(?:\d+#*)*(?:{_LETTERS}|{_OPERATOR})?|{_LETTERS})"
IS_NAME = re.compile(NAME)
QUOTED = r'"(?:[^"\\]|\\.)*"'
PART = rf"(?:var{QUOTED}|{NAME})"
_EACH = re.compile(PART)


@final
class Symbol(str):
    """Julia's Symbol: a name. Equal to the same text.

    >>> Symbol("foo"), Symbol("foo") == "foo"
    (Symbol('foo'), True)
    """

    # pickle and hold store it under this name, and that module has it for them.
    __module__ = "holdall.julia._values"
    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str.__repr__(self)})"

    def __str__(self) -> str:
        return str.__str__(self)


def declare_mutable(name: str) -> None:
    """Instances of that type have an identity, in this process."""
    MUTABLE.add(name)


def canonical(path: tuple[str, ...]) -> str:
    """A path as one name. The path of a type of Base or Core depends on Julia's version; it may begin with
    Main.
    """
    return ".".join(path[1:] if len(path) > 1 and path[0] == "Main" and path[1] in ("Base", "Core") else path)


def short_name(path: tuple[str, ...], name: str) -> str:
    """The name without its module, if that is unambiguous."""
    *modules, last = path[1:] if canonical(path) != ".".join(path) else path
    quoted = [part if IS_NAME.fullmatch(part) else f'var"{escaped(part)}"' for part in (*modules, last)]
    if last in SHORT:
        return last if canonical(SHORT[last]) == name else ".".join(quoted)
    return quoted[-1] if modules == ["Main"] else ".".join(quoted)


def path_of(name: str) -> tuple[str, ...]:
    """The path as Julia 1.5 writes it."""
    found = [part[0] for part in _EACH.finditer(name)]
    parts = tuple(unquoted(part[3:]) if part.startswith('var"') else part for part in found)
    if parts[0] == "Base":
        # BigFloat is known as Base's, although a submodule defines it.
        home = SHORT.get(parts[-1], ())
        return home if len(parts) == 2 and home[:2] == ("Main", "Base") else ("Main", *parts)
    if len(parts) == 1:
        return SHORT.get(parts[0], ("Main", *parts))
    return parts


def escaped(text: str, quote: str = '"') -> str:
    return "".join("\\" + each if each in ("\\", quote) else each for each in text)


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
