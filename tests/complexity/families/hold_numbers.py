"""Numbers: of many digits, fractions, ranges, packed times."""

from __future__ import annotations

import math
import struct

from tests.complexity.family import copies, family, fill
from tests.support import wire as w

ONE = w.integer(1)


def big(size: int, byte: bytes = b"\x55") -> bytes:
    return w.sized("INT_BIG", size, byte * size)


@family("hold", each={"positive": b"\x7f", "negative": b"\x80", "zeros": b"\0", "ones": b"\xff"})
def one_int_of(n: int, byte: bytes) -> bytes:
    return w.message(big(n, byte))


@family("hold")
def ints_of_nine_bytes(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, big(9))))


@family("hold")
def ints_of_hundreds(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, big(math.isqrt(n)))))


@family("hold")
def one_fraction(n: int) -> bytes:
    """Its greatest common divisor takes quadratic time."""
    return w.message(w.known("Fraction", big(n // 2), big(n // 2, b"\x77")))


@family("hold")
def fibonacci_fraction(n: int) -> bytes:
    """Neighbours of Fibonacci's take Euclid's algorithm longest; a few thousand bits of them, again and again."""
    a, b = 1, 1
    size = min(n // 4, 20_000)
    while b.bit_length() < 8 * size:
        a, b = b, a + b
    part = w.known("Fraction", w.integer(a), w.integer(b))
    return w.message(w.sequence(*copies(n, part)))


@family("hold")
def fractions_of_hundreds(n: int) -> bytes:
    size = math.isqrt(n) // 2
    return w.message(
        w.sequence(
            *fill(n, lambda at: w.known("Fraction", w.integer((5 << 8 * size) + at), big(size, b"\x77")))
        )
    )


@family("hold")
def fraction_with_common_divisor(n: int) -> bytes:
    value = (1 << 8 * (n // 8)) + 1
    return w.message(w.known("Fraction", w.integer(value * value), w.integer(value * 3)))


@family("hold")
def one_range_of_huge_ints(n: int) -> bytes:
    """Its length is a division."""
    return w.message(w.known("Range", w.integer(0), big(n // 2), big(n // 4)))


@family("hold")
def ranges_of_hundreds(n: int) -> bytes:
    size = math.isqrt(n)
    part = w.known("Range", w.integer(0), big(size), big(size // 2))
    return w.message(w.sequence(*copies(n, part)))


@family("hold")
def range_in_a_set(n: int) -> bytes:
    return w.message(w.sized("SET", 1, w.known("Range", w.integer(0), big(n // 2), big(n // 4))))


@family("hold")
def fraction_in_a_set(n: int) -> bytes:
    """Its hash is a power modulo 2**61 - 1, of a huge base."""
    size = n // 2
    return w.message(w.sized("SET", 1, w.known("Fraction", ONE, w.integer((1 << 8 * size) + 1))))


@family("hold")
def decimal_in_a_set(n: int) -> bytes:
    return w.message(w.sized("SET", 1, w.known("Decimal", w.text("9" * n))))


@family("hold")
def small_decimal_in_a_set(n: int) -> bytes:
    return w.message(w.sized("SET", 1, w.known("Decimal", w.text("0." + "0" * n + "1"))))


@family("hold")
def timedelta_of_a_huge_int(n: int) -> bytes:
    return w.message(w.known("Timedelta", big(n)))


@family("hold", each=("Date", "Timezone", "Time"))
def times_of_a_huge_int(n: int, name: str) -> bytes:
    return w.message(w.known(name, big(n), *([] if name == "Date" else [w.NONE])))


@family("hold")
def deque_of_a_huge_maxlen(n: int) -> bytes:
    return w.message(
        w.sequence(*copies(n, w.known("Deque", w.integer((1 << 62) - 1), bytes([w.TAG.LIST_FIX]))))
    )


@family("hold")
def array_of_a_huge_shape(n: int) -> bytes:
    part = w.known(
        "NdArray", w.text("|V1"), w.tuple_(w.integer(0), w.integer(1 << 40)), w.tag("FALSE"), w.blob(b"")
    )
    return w.message(w.sequence(*copies(n, part)))


@family("hold")
def array_of_items_without_bytes(n: int) -> bytes:
    part = w.known("NdArray", w.text("|S0"), w.tuple_(w.integer(1 << 40)), w.tag("FALSE"), w.blob(b""))
    return w.message(w.sequence(*copies(n, part)))


@family("hold")
def array_of_long_texts(n: int) -> bytes:
    """Strings of any length."""
    texts = w.sequence(*copies(n, w.text("a" * 100)))
    count = max((n) // 102, 1)
    return w.message(w.known("NdArray", w.text("T"), w.tuple_(w.integer(count)), w.tag("FALSE"), texts))


@family("hold")
def array_of_many_fields(n: int) -> bytes:
    count = n // 12
    fields = [
        part for at in range(count) for part in (w.text(f"f{at}"), w.integer(at), w.NONE, w.text("|b1"))
    ]
    return w.message(w.known("NumpyDtype", w.sequence(w.integer(count), w.integer(0), *fields)))


@family("hold")
def one_dtype_of_many_arrays(n: int) -> bytes:
    """A dtype of many fields by reference, in arrays without items."""
    count = n // 40
    fields = [
        part for at in range(count) for part in (w.text(f"f{at}"), w.integer(at), w.NONE, w.text("|b1"))
    ]
    dtype = w.mark(w.known("NumpyDtype", w.sequence(w.integer(count), w.integer(0), *fields)))
    part = w.known("NdArray", w.reference(1), w.tuple_(w.integer(0)), w.tag("FALSE"), w.blob(b""))
    return w.message(w.sequence(dtype, *copies(n // 2, part)))


@family("hold")
def one_dtype_of_objects_in_many_arrays(n: int) -> bytes:
    count = n // 40
    fields = [
        part for at in range(count) for part in (w.text(f"f{at}"), w.integer(8 * at), w.NONE, w.text("|O"))
    ]
    dtype = w.mark(w.known("NumpyDtype", w.sequence(w.integer(8 * count), w.integer(0), *fields)))
    part = w.known("NdArray", w.reference(1), w.tuple_(w.integer(0)), w.tag("FALSE"), w.sequence())
    return w.message(w.sequence(dtype, *copies(n // 2, part)))


@family("hold")
def one_dtype_of_many_scalars(n: int) -> bytes:
    """Of a large item, each scalar has all of its bytes."""
    count = n // 2
    return w.message(
        w.sequence(*copies(n, w.known("NumpyScalar", w.text(f"|V{count}"), w.blob(bytes(count)))))
    )


@family("hold")
def packed_datetimes_out_of_range(n: int) -> bytes:
    return w.message(
        w.sequence(
            *copies(n, w.tag("DATETIME", struct.pack("<Q", 2024 << 47 | 1 << 43 | 1 << 38))),
            w.tag("DATETIME", b"\xff" * 8),
        )
    )
