"""The fields of types that come with Julia, in their order; those that BSON.jl stores otherwise, as it does."""

from __future__ import annotations

from typing import Any

from ._types import Type

_FIELDS = """
Core.Box contents
Core.CodeInfo code codelocs ssavaluetypes ssaflags method_for_inference_limit_heuristics linetable slotnames slotflags \
slottypes rettype parent edges min_world max_world inferred inlineable propagate_inbounds pure
Core.Expr head args
Core.GlobalRef mod name
Core.GotoNode label
Core.LineInfoNode method file line inlined_at
Core.LineNumberNode line file
Core.Method module name file line sig slot_syms ambig nargs isva nospecialize source
Core.NewvarNode slot
Core.PhiNode edges values
Core.PiNode val typ
Core.QuoteNode value
Core.SSAValue id
Core.SlotNumber id
Core.TypeName version name names super parameters types instance abstract mutable ninitialized mt
Core.TypeVar name lb ub
Core.TypedSlot id typ
Core.Union a b
Core.WeakRef value
Base.BitArray chunks len dims
Base.BitSet bits offset
Base.Complex re im
Base.Enumerate itr
Base.Fix1 f x
Base.Fix2 f x
Base.GMP.BigInt alloc size d
Base.ImmutableDict parent key value
Base.IteratorsMD.CartesianIndex I
Base.IteratorsMD.CartesianIndices indices
Base.KeySet dict
Base.LinRange start stop len lendiv
Base.LogicalIndex mask sum
Base.MPFR.BigFloat prec sign exp d _d
Base.OneTo stop
Base.Pair first second
Base.PermutedDimsArrays.PermutedDimsArray parent
Base.Rational num den
Base.RefArray x i roots
Base.RefValue x
Base.Regex pattern compile_options match_options regex
Base.RegexMatch match captures offset offsets regex
Base.ReinterpretArray parent readable writable
Base.ReshapedArray parent dims mi
Base.Set dict
Base.Slice indices
Base.Some value
Base.StepRange start step stop
Base.StepRangeLen ref step len offset
Base.SubArray parent indices offset1 stride1
Base.SubString string offset ncodeunits
Base.TwicePrecision hi lo
Base.UUID value
Base.UnitRange start stop
Base.ValueIterator dict
Base.VersionNumber major minor patch prerelease build
Dates.CompoundPeriod periods
Dates.Date instant
Dates.DateTime instant
Dates.Time instant
Dates.UTInstant periods
LinearAlgebra.Adjoint parent
LinearAlgebra.Bidiagonal dv ev uplo
LinearAlgebra.Cholesky factors uplo info
LinearAlgebra.Diagonal diag
LinearAlgebra.Hermitian data uplo
LinearAlgebra.LU factors ipiv info
LinearAlgebra.LowerTriangular data
LinearAlgebra.QR factors τ
LinearAlgebra.QRCompactWY factors T
LinearAlgebra.SVD U S Vt
LinearAlgebra.SymTridiagonal dv ev
LinearAlgebra.Symmetric data uplo
LinearAlgebra.Transpose parent
LinearAlgebra.Tridiagonal dl d du du2
LinearAlgebra.UniformScaling λ
LinearAlgebra.UnitLowerTriangular data
LinearAlgebra.UnitUpperTriangular data
LinearAlgebra.UpperTriangular data
SparseArrays.SparseMatrixCSC m n colptr rowval nzval
SparseArrays.SparseVector n nzind nzval
"""
_PERIODS = "Year Quarter Month Week Day Hour Minute Second Millisecond Microsecond Nanosecond"

FIELDS: dict[str, tuple[str, ...]] = {
    line.split()[0]: tuple(line.split()[1:]) for line in _FIELDS.strip().splitlines()
} | {f"Dates.{unit}": ("value",) for unit in _PERIODS.split()}

# Names that a program has declared with `struct(name, fields=...)`, and those of the classes that it has mapped.
DECLARED: dict[str, tuple[str, ...]] = {}


def names(type: Any) -> tuple[str, ...]:
    """The fields of a type in their order, () where nobody has said them."""
    if not isinstance(type, Type):
        # A closure's fields are what it captures.
        values: list[Any] = getattr(type, "known_by", [])
        captured = values[2] if len(values) > 2 else ()
        return tuple(map(str, captured)) if isinstance(captured, tuple) else ()
    if type.name in DECLARED:
        return DECLARED[type.name]
    return FIELDS.get(type.name, ())
