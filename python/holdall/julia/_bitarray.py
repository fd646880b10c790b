"""Julia's BitArray: NumPy's array of bool, which keeps what is needed to be written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ._wrappers import numpy

if TYPE_CHECKING:
    from ._types import Type

_ndarray: Any = numpy().ndarray


@final
class BitArray(_ndarray):  # type: ignore[misc]
    """Julia's BitArray, BitVector or BitMatrix, which keeps eight values in a byte: NumPy's array of bool.

    Made of anything that NumPy takes for an array. What is computed of it is a plain array or a BitArray, as NumPy
    has it.

    Raises HoldallError, when the name is looked up: NumPy isn't installed.

    >>> BitArray([True, False, True])
    BitArray([ True, False,  True])
    """

    # The dimensions of a BitVector as its file has them, which are arbitrary.
    dims: tuple[int, ...] | None

    def __new__(cls, values: Any = (), dims: tuple[int, ...] | None = None) -> Any:
        np = numpy()
        self = np.array(values, dtype=bool, order="F").view(cls)
        self.dims = dims
        return self

    def __array_finalize__(self, whole: Any) -> None:
        self.dims = getattr(whole, "dims", None) if getattr(whole, "shape", None) == self.shape else None


def read(type_: Type, values: list[Any]) -> Any:
    """None if the values are not those of a BitArray."""
    np = numpy()
    if len(values) != 3 or not isinstance(values[0], np.ndarray) or values[0].dtype != np.uint64:
        return None
    chunks, count, dims = values
    if (
        not isinstance(count, int)
        or not isinstance(dims, tuple)
        or not all(isinstance(dim, int) for dim in dims)
    ):
        return None
    if chunks.ndim != 1 or not 0 <= count <= 64 * len(chunks) or len(chunks) != -(-count // 64):
        return None
    # Only the number of dimensions counts for a BitVector: its `dims` have no meaning.
    rank = type_.params[0] if type_.params else len(dims)
    if not isinstance(rank, int) or rank != len(dims):
        return None
    size = 1
    for dim in dims if len(dims) != 1 else ():
        if dim < 0:
            return None
        size *= dim
    if len(dims) != 1 and size != count:
        return None
    bits = np.unpackbits(chunks.view(np.uint8), count=count, bitorder="little").view(bool)
    found = bits.reshape(dims if len(dims) != 1 else (count,), order="F").view(BitArray)
    found.dims = dims
    return found


def lower(array: Any) -> list[Any]:
    """The values of Julia's fields: chunks, len, dims."""
    np = numpy()
    plain = np.asarray(array)
    chunks = np.zeros(-(-plain.size // 64) * 8, dtype=np.uint8)
    packed = np.packbits(plain.ravel(order="F"), bitorder="little")
    chunks[: len(packed)] = packed
    dims = (
        array.dims if array.ndim == 1 and array.dims is not None else plain.shape if plain.ndim != 1 else (0,)
    )
    return [chunks.view("<u8"), plain.size, tuple(map(int, dims))]
