"""Julia's boxes, pairs, ranges and wrappers of arrays: classes that are mapped from the start."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

from .. import _core
from .._values import _Frozen
from ._struct import Wrapper

if TYPE_CHECKING:
    from collections.abc import Iterator


def numpy() -> Any:
    """NumPy, when an array is needed. Raises HoldallError: it isn't installed."""
    try:
        import numpy
    except ModuleNotFoundError as cause:
        raise _core.HoldallError("arrays need NumPy: `pip install holdall[numpy]`") from cause
    return numpy


@final
class Ref(Wrapper):
    """Julia's Ref, a box for one value.

    Written as a RefValue of the value's type, or of the one that it was loaded with.

    >>> box = Ref(5)
    >>> box, box.x
    (Ref(5), 5)
    """

    __slots__ = ("x",)
    _NAMES: ClassVar = ("x",)
    x: Any

    def __init__(self, x: Any) -> None:
        self._fill(x)


@final
class Some(_Frozen, Wrapper):
    """Julia's Some: tells a value, which may be `nothing`, from no value.

    >>> Some(None), Some(3).value
    (Some(None), 3)
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)
    _NAMES: ClassVar = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        self._fill(value)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(("Some", self.value))


@final
class Pair(_Frozen, Wrapper):
    """Julia's Pair, `first => second`.

    >>> pair = Pair("a", 1)
    >>> key, value = pair
    >>> pair, key, pair.second, pair[1]
    (Pair('a', 1), 'a', 1, 1)
    """

    __slots__ = ("first", "second")
    __match_args__ = ("first", "second")
    _NAMES: ClassVar = ("first", "second")
    first: Any
    second: Any

    def __init__(self, first: Any, second: Any) -> None:
        self._fill(first, second)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.first, self.second))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return (self.first, self.second)[index]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.first, self.second))


class _Array(Wrapper):
    """What NumPy takes for an array."""

    __slots__ = ()

    def _array(self) -> Any:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = self._array()
        if dtype is not None:
            found = found.astype(dtype, copy=bool(copy))
        return found.copy() if copy else found

    @property
    def shape(self) -> tuple[int, ...]:
        """As NumPy's."""
        shape: tuple[int, ...] = self._array().shape
        return shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self._array()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._array())


@final
class Transpose(_Array):
    """Julia's lazy transpose of an array, which is kept as `.parent`; of a vector it is a matrix of one row.

    NumPy takes it for an array; so do `len` and indices. Raises HoldallError: NumPy isn't installed.

    >>> import numpy as np
    >>> row = Transpose(np.array([1, 2]))
    >>> np.asarray(row)
    array([[1, 2]])
    """

    __slots__ = ("parent",)
    _NAMES: ClassVar = ("parent",)
    parent: Any

    def __init__(self, parent: Any) -> None:
        self._fill(parent)

    def _array(self) -> Any:
        return _turned(self.parent)


@final
class Adjoint(_Array):
    """Julia's lazy conjugate transpose of an array, `A'`, which is kept as `.parent`; of a vector it is one row.

    NumPy takes it for an array; so do `len` and indices. Raises HoldallError: NumPy isn't installed.

    >>> import numpy as np
    >>> np.asarray(Adjoint(np.array([1 + 2j])))
    array([[1.-2.j]])
    """

    __slots__ = ("parent",)
    _NAMES: ClassVar = ("parent",)
    parent: Any

    def __init__(self, parent: Any) -> None:
        self._fill(parent)

    def _array(self) -> Any:
        return _conjugated(_turned(self.parent))


def _turned(parent: Any) -> Any:
    found = numpy().asarray(parent)
    return found[None, :] if found.ndim == 1 else found.T


def _conjugated(array: Any) -> Any:
    """The conjugate of each element, as Julia's `adjoint` computes it; elements that aren't complex stay the
    same.
    """
    np = numpy()
    if array.dtype.kind == "c":
        return array.conj()
    if array.dtype.kind == "O":
        found = np.empty_like(array)
        for place, value in np.ndenumerate(array):
            # Arrays within an array are transposed as well.
            inner = hasattr(value, "dtype") and value.ndim > 0
            found[place] = _conjugated(_turned(value)) if inner else _conjugate(value)
        return found
    if array.dtype.names != ("re", "im"):
        return array
    re, im = array["re"], array["im"]
    if im.dtype.kind in "biuf":
        # NumPy lacks complex numbers of ints and of few bits: the next type that it has is used. The parent
        # keeps the exact values.
        found = np.empty(
            array.shape, np.complex64 if im.dtype.itemsize < 4 and im.dtype.kind == "f" else np.complex128
        )
        found.real, found.imag = re, -im.astype(found.imag.dtype)
        return found
    if im.dtype.names == ("num", "den") and im["num"].dtype.kind == "i":
        found = array.copy()
        np.negative(im["num"], out=found["im"]["num"])
        return found
    raise TypeError(f"NumPy can't compute with {array.dtype.metadata['julia']}: `.parent` has the numbers")


def _conjugate(value: Any) -> Any:
    method = getattr(value, "conjugate", None)
    return value if method is None else method()


@final
class Diagonal(_Array):
    """Julia's diagonal matrix, of which the diagonal is kept as `.diag`.

    NumPy takes it for an array; so do `len` and indices. Raises HoldallError: NumPy isn't installed.

    >>> import numpy as np
    >>> np.asarray(Diagonal(np.array([1, 2])))
    array([[1, 0],
           [0, 2]])
    """

    __slots__ = ("diag",)
    _NAMES: ClassVar = ("diag",)
    diag: Any

    def __init__(self, diag: Any) -> None:
        self._fill(diag)

    def _array(self) -> Any:
        np = numpy()
        return np.diag(np.asarray(self.diag))


@final
class ReshapedArray(_Array):
    """Julia's lazy `reshape`: `.parent` in other dimensions, the first index fastest.

    mi: what Julia keeps for quick divisions; () is always right for a parent with linear indices.
    NumPy takes it for an array; so do `len` and indices. Raises HoldallError: NumPy isn't installed.

    >>> import numpy as np
    >>> np.asarray(ReshapedArray(range(1, 7), (2, 3)))
    array([[1, 3, 5],
           [2, 4, 6]])
    """

    __slots__ = ("dims", "mi", "parent")
    _NAMES: ClassVar = ("parent", "dims", "mi")
    parent: Any
    dims: tuple[int, ...]
    mi: tuple[Any, ...]

    def __init__(self, parent: Any, dims: tuple[int, ...], mi: tuple[Any, ...] = ()) -> None:
        self._fill(parent, dims, mi)

    def _array(self) -> Any:
        np = numpy()
        return np.reshape(np.asarray(self.parent), tuple(self.dims), order="F")


class _Range(Wrapper):
    """Values that are computed; each is a float, or the Python form of Julia's element type."""

    __slots__ = ()
    len: int

    def _value(self, place: int) -> Any:
        raise NotImplementedError

    def _rounded(self, value: Any) -> Any:
        params = getattr(getattr(self, "__julia_type__", None), "params", ())
        kind = _ROUNDED.get(getattr(params[0], "name", "")) if params else None
        return value if kind is None else kind()(value)

    def __len__(self) -> int:
        return int(self.len)

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("beyond the range")
        return self._value(place)

    def __iter__(self) -> Iterator[Any]:
        return map(self._value, range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy().array(list(self), dtype=dtype)


def _float32() -> Any:
    from ._numbers import Float32

    return Float32


def _float16() -> Any:
    from ._numbers import Float16

    return Float16


_ROUNDED = {"Core.Float32": _float32, "Core.Float16": _float16}


@final
class StepRangeLen(_Range):
    """Julia's range of floats, `0.0:0.1:0.5`: value i is `ref + (i - offset) * step`, as precise as in Julia.

    ref, step: numbers, or records of TwicePrecision(hi, lo). len: how many values. offset: which of them `ref` is,
        from 1.

    Values are computed as they are asked for; NumPy takes it for an array.

    >>> list(StepRangeLen(1.0, 0.5, 3, 1))
    [1.0, 1.5, 2.0]
    """

    __slots__ = ("len", "offset", "ref", "step")
    _NAMES: ClassVar = ("ref", "step", "len", "offset")
    ref: Any
    step: Any
    len: int
    offset: int

    def __init__(self, ref: Any, step: Any, len: int, offset: int = 1) -> None:
        self._fill(ref, step, len, offset)

    def _value(self, place: int) -> Any:
        steps = place + 1 - self.offset
        ref, step = self.ref, self.step
        if not (_is_twice(ref) and _is_twice(step)):
            return self._rounded(ref + steps * step)
        # As `unsafe_getindex` in Julia's twiceprecision.jl.
        (ref_hi, ref_lo), (step_hi, step_lo) = ref, step
        shift = steps * step_hi
        big, little = (shift, ref_hi) if abs(shift) > abs(ref_hi) else (ref_hi, shift)
        high = big + little
        low = (big - high) + little
        return self._rounded(high + (low + (steps * step_lo + ref_lo)))


def _is_twice(value: Any) -> bool:
    return getattr(getattr(value, "type", None), "name", None) == "Base.TwicePrecision" and len(value) == 2


@final
class LinRange(_Range):
    """Julia's range of `len` values from `start` to `stop`, both in it.

    lendiv: what the distance is divided by, `len - 1` and at least 1.

    Values are computed as they are asked for; NumPy takes it for an array.

    >>> list(LinRange(0.0, 1.0, 5))
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    __slots__ = ("len", "lendiv", "start", "stop")
    _NAMES: ClassVar = ("start", "stop", "len", "lendiv")
    start: Any
    stop: Any
    len: int
    lendiv: int

    def __init__(self, start: Any, stop: Any, len: int, lendiv: int | None = None) -> None:
        self._fill(start, stop, len, max(len - 1, 1) if lendiv is None else lendiv)

    def _value(self, place: int) -> Any:
        part = place / self.lendiv
        return self._rounded((1 - part) * self.start + part * self.stop)


# MPFR's special exponents.
_ZERO, _NAN, _INFINITY = (1 - 2**63 + n for n in range(3))
# Numbers with larger exponents would take all memory as digits.
_MOST_EXPONENT = 1 << 16


@final
class BigFloat(Wrapper):
    """Julia's BigFloat, as far as a file holds it: its value is exact here, and Julia itself can't load it again.

    prec: bits of precision. sign: 1 or -1. exp: a power of two. d: a pointer, which means nothing here.
    _d: the bits, the lowest byte first, as text with surrogate escapes.

    Raises OverflowError: `as_integer_ratio` and `float` of what is not finite or too large.

    >>> number = BigFloat(256, 1, 1, None, "\\0" * 31 + "\\udca0")
    >>> number, number.as_integer_ratio(), float(number)
    (BigFloat('1.25'), (5, 4), 1.25)
    """

    __slots__ = ("_d", "d", "exp", "prec", "sign")
    _NAMES: ClassVar = ("prec", "sign", "exp", "d", "_d")
    prec: int
    sign: int
    exp: int
    d: Any
    _d: str

    def __init__(self, prec: int, sign: int, exp: int, d: Any, _d: str) -> None:
        self._fill(prec, sign, exp, d, _d)

    def as_integer_ratio(self) -> tuple[int, int]:
        """The value as a fraction in lowest terms, exactly."""
        if self.exp == _ZERO:
            return 0, 1
        limbs = self._d.encode("utf-8", "surrogateescape")
        if abs(self.exp) > _MOST_EXPONENT or len(limbs) > _MOST_EXPONENT:
            raise OverflowError("BigFloat: expected a finite number that is not too large")
        significand = int.from_bytes(limbs, "little") * (1 if self.sign > 0 else -1)
        shift = self.exp - 8 * len(limbs)
        return Fraction(significand << max(shift, 0), 1 << max(-shift, 0)).as_integer_ratio()

    def __float__(self) -> float:
        if self.exp in (_NAN, _INFINITY):
            return float("nan") if self.exp == _NAN else float("inf") * self.sign
        if self.exp == _ZERO:
            return 0.0 if self.sign > 0 else -0.0
        above, below = self.as_integer_ratio()
        return above / below

    def _digits(self) -> str | None:
        """The number in decimal; None if its parts in the file are of other types."""
        try:
            if self.exp in (_ZERO, _NAN, _INFINITY):
                return str(float(self))
            above, below = self.as_integer_ratio()
            context = Context(prec=max(int(min(self.prec, 1 << 14) * 0.30103), 1) + 2)
            return str(context.normalize(context.divide(Decimal(above), Decimal(below))))
        except OverflowError:
            return f"about 2^{self.exp}"
        except (AttributeError, TypeError, ValueError, ArithmeticError):
            return None

    def __str__(self) -> str:
        digits = self._digits()
        return repr(self) if digits is None else digits

    def __repr__(self) -> str:
        digits = self._digits()
        parts = (self.prec, self.sign, self.exp, self.d, self._d) if digits is None else (digits,)
        return f"BigFloat({', '.join(map(repr, parts))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BigFloat):
            return NotImplemented
        # The pointer differs in every file.
        return (self.prec, self.sign, self.exp, self._d) == (other.prec, other.sign, other.exp, other._d)

    __hash__ = None


MAPPED: dict[str, type[Wrapper]] = {
    "Base.RefValue": Ref,
    "Base.Some": Some,
    "Base.Pair": Pair,
    "Base.ReshapedArray": ReshapedArray,
    "Base.StepRangeLen": StepRangeLen,
    "Base.LinRange": LinRange,
    "Base.MPFR.BigFloat": BigFloat,
    "LinearAlgebra.Transpose": Transpose,
    "LinearAlgebra.Adjoint": Adjoint,
    "LinearAlgebra.Diagonal": Diagonal,
}
