"""The fields of Julia's own types, in order; for those that BSON.jl stores differently, as it does."""

from __future__ import annotations

from typing import Any

from ._types import Type

_FIELDS = """
Core.ArgumentError msg
Core.AssertionError msg
Core.BoundsError a i
Core.Box contents
Core.CodeInfo code codelocs ssavaluetypes ssaflags method_for_inference_limit_heuristics linetable slotnames \
slotflags slottypes rettype parent edges min_world max_world inferred inlineable propagate_inbounds pure
Core.DomainError val msg
Core.ErrorException msg
Core.Expr head args
Core.GlobalRef mod name
Core.GotoNode label
Core.InexactError func T val
Core.InitError mod error
Core.LineInfoNode method file line inlined_at
Core.LineNumberNode line file
Core.LoadError file line error
Core.Method module name file line sig slot_syms ambig nargs isva nospecialize source
Core.MethodError f args world
Core.NewvarNode slot
Core.OverflowError msg
Core.PhiNode edges values
Core.PiNode val typ
Core.QuoteNode value
Core.SSAValue id
Core.SlotNumber id
Core.TypeError func context expected got
Core.TypeName version name names super parameters types instance abstract mutable ninitialized mt
Core.TypeVar name lb ub
Core.TypedSlot id typ
Core.UndefKeywordError var
Core.UndefVarError var
Core.Union a b
Core.UnionAll var body
Core.WeakRef value
Base.AlwaysLockedST ownertid
Base.BitArray chunks len dims
Base.BitSet bits offset
Base.Broadcast.Broadcasted f args axes
Base.CapturedException ex processed_bt
Base.Channel cond_take cond_wait cond_put state excp data sz_max
Base.Cmd exec ignorestatus flags env dir
Base.CodeUnits s
Base.Complex re im
Base.CompositeException exceptions
Base.DimensionMismatch msg
Base.EachLine stream ondone keep
Base.EachStringIndex s
Base.ExponentialBackOff n first_delay max_delay factor jitter
Base.Fix1 f x
Base.Fix2 f x
Base.GMP.BigInt alloc size d
Base.Generator f iter
Base.GenericCondition waitq lock
Base.IOContext io dict
Base.IOError msg code
Base.IdentityUnitRange indices
Base.ImmutableDict parent key value
Base.InvalidCharError char
Base.InvalidStateException msg state
Base.Iterators.Accumulate f itr init
Base.Iterators.Count start step
Base.Iterators.Cycle xs
Base.Iterators.Drop xs n
Base.Iterators.DropWhile pred xs
Base.Iterators.Enumerate itr
Base.Iterators.Filter flt itr
Base.Iterators.Flatten it
Base.Iterators.Pairs data itr
Base.Iterators.ProductIterator iterators
Base.Iterators.Repeated x
Base.Iterators.Rest itr st
Base.Iterators.Reverse itr
Base.Iterators.Stateful itr nextvalstate taken
Base.Iterators.Take xs n
Base.Iterators.TakeWhile pred xs
Base.Iterators.Zip is
Base.IteratorsMD.CartesianIndex I
Base.IteratorsMD.CartesianIndices indices
Base.KeyError key
Base.KeySet dict
Base.LinRange start stop len lendiv
Base.LinearIndices indices
Base.LogicalIndex mask sum
Base.MPFR.BigFloat prec sign exp d _d
Base.MissingException msg
Base.OneTo stop
Base.Order.By by order
Base.Order.Lt lt
Base.Order.Perm order data
Base.Order.ReverseOrdering fwd
Base.Pair first second
Base.PermutedDimsArrays.PermutedDimsArray parent
Base.Pipe in out
Base.Rational num den
Base.ReentrantLock locked_by cond_wait reentrancy_cnt
Base.RefArray x i roots
Base.RefValue x
Base.Regex pattern compile_options match_options regex
Base.RegexMatch match captures offset offsets regex
Base.ReinterpretArray parent readable writable
Base.ReshapedArray parent dims mi
Base.Semaphore sem_size curr_cnt cond_wait
Base.Set dict
Base.SkipMissing x
Base.Slice indices
Base.Some value
Base.StepRange start step stop
Base.StepRangeLen ref step len offset
Base.StringIndexError string index
Base.SubArray parent indices offset1 stride1
Base.SubString string offset ncodeunits
Base.SubstitutionString string
Base.SystemError prefix errnum extrainfo
Base.TaskFailedException task
Base.Threads.Atomic value
Base.Threads.SpinLock handle
Base.TwicePrecision hi lo
Base.UUID value
Base.UnitRange start stop
Base.ValueIterator dict
Base.VersionNumber major minor patch prerelease build
Base.WeakKeyDict ht lock finalizer
Dates.CompoundPeriod periods
Dates.Date instant
Dates.DateTime instant
Dates.Time instant
Dates.UTInstant periods
LinearAlgebra.Adjoint parent
LinearAlgebra.Bidiagonal dv ev uplo
LinearAlgebra.BunchKaufman LD ipiv uplo symmetric rook info
LinearAlgebra.Cholesky factors uplo info
LinearAlgebra.CholeskyPivoted factors uplo piv rank tol info
LinearAlgebra.Diagonal diag
LinearAlgebra.Eigen values vectors
LinearAlgebra.GeneralizedEigen values vectors
LinearAlgebra.GeneralizedSVD U V Q a b k l R
LinearAlgebra.GeneralizedSchur S T α β Q Z
LinearAlgebra.Givens i1 i2 c s
LinearAlgebra.Hermitian data uplo
LinearAlgebra.Hessenberg H uplo factors τ μ
LinearAlgebra.LAPACKException info
LinearAlgebra.LDLt data
LinearAlgebra.LQ factors τ
LinearAlgebra.LU factors ipiv info
LinearAlgebra.LowerTriangular data
LinearAlgebra.PosDefException info
LinearAlgebra.QR factors τ
LinearAlgebra.QRCompactWY factors T
LinearAlgebra.QRPivoted factors τ jpvt
LinearAlgebra.RankDeficientException info
LinearAlgebra.Rotation rotations
LinearAlgebra.SVD U S Vt
LinearAlgebra.Schur T Z values
LinearAlgebra.SingularException info
LinearAlgebra.SymTridiagonal dv ev
LinearAlgebra.Symmetric data uplo
LinearAlgebra.Transpose parent
LinearAlgebra.Tridiagonal dl d du du2
LinearAlgebra.UniformScaling λ
LinearAlgebra.UnitLowerTriangular data
LinearAlgebra.UnitUpperTriangular data
LinearAlgebra.UpperHessenberg data
LinearAlgebra.UpperTriangular data
LinearAlgebra.ZeroPivotException info
SparseArrays.SparseMatrixCSC m n colptr rowval nzval
SparseArrays.SparseVector n nzind nzval
Random.MersenneTwister seed state vals ints idxF idxI
Random.RandomDevice unlimited
"""
_PERIODS = "Year Quarter Month Week Day Hour Minute Second Millisecond Microsecond Nanosecond"

FIELDS: dict[str, tuple[str, ...]] = {
    line.split()[0]: tuple(line.split()[1:]) for line in _FIELDS.strip().splitlines()
} | {f"Dates.{unit}": ("value",) for unit in _PERIODS.split()}

# Names declared with `struct(name, fields=...)`, and those of mapped classes.
DECLARED: dict[str, tuple[str, ...]] = {}


def names(type: Any) -> tuple[str, ...]:
    """The fields of a type in order; () if they are unknown."""
    if not isinstance(type, Type):
        # A closure's fields are the variables that it captures.
        values: list[Any] = getattr(type, "known_by", [])
        captured = values[2] if len(values) > 2 else ()
        return tuple(map(str, captured)) if isinstance(captured, tuple) else ()
    if type.name in DECLARED:
        return DECLARED[type.name]
    return FIELDS.get(type.name, ())
