"""Keys and members: what hashing and comparing cost, and hashes that collide.

Numbers are hashed modulo 2**61 - 1 (`sys.hash_info.modulus`), so that whoever writes the bytes chooses the hashes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from tests.complexity.family import family, fill
from tests.complexity.probes import cycle_ints
from tests.support import wire as w

P = (1 << 61) - 1
ONE = w.integer(1)
F64 = struct.Struct("<d")


def as_set(n: int, make: Callable[[int], bytes]) -> bytes:
    members = fill(n, make)
    return w.message(w.sized("SET", len(members), *members))


def as_dict(n: int, make: Callable[[int], bytes]) -> bytes:
    keys = fill(n, lambda at: make(at) + ONE)
    return w.message(w.tag("DICT", w.length(len(keys)), *keys))


def float_(value: float) -> bytes:
    return w.tag("FLOAT", F64.pack(value))


def colliding_int(at: int) -> bytes:
    return w.integer(at * P)


def close_int(at: int) -> bytes:
    """Of different hashes that begin their search in one place of every table below 2**32 entries, and go on alike for long."""
    return w.integer(at << 32)


def uuid_(at: int) -> bytes:
    return w.known("Uuid", w.blob((at * P).to_bytes(16, "big")))


def decimal_(at: int) -> bytes:
    return w.known("Decimal", w.text(str(at * P)))


def fraction_(at: int) -> bytes:
    """hash of a/b is a times the inverse of b: for b = 2, of odd numerators."""
    return w.known("Fraction", w.integer(1 + 2 * P * at), w.integer(2))


def complex_(at: int) -> bytes:
    """hash(a + bj) is hash(a) + 1000003 * hash(b), in 64 bits."""
    return w.tag("COMPLEX", F64.pack(float(-1000003 * at)) + F64.pack(float(at)))


def power_float(at: int) -> bytes:
    """Only 61 of a float's powers of two have a hash of their own."""
    return float_(math.ldexp(1.0 + (at // 33) / (1 << 20), 61 * (at % 33 - 16)))


def minus_tuple(at: int) -> bytes:
    """hash(-1) is hash(-2): tuples of both, as many as there are bits."""
    return w.tuple_(*(w.integer(-2 if at >> bit & 1 else -1) for bit in range(24)))


def nested_minus_tuple(at: int) -> bytes:
    made = ONE
    for bit in range(20):
        made = w.tuple_(w.integer(-2 if at >> bit & 1 else -1), made)
    return made


def minus_frozenset(at: int) -> bytes:
    return w.sized(
        "FROZENSET",
        20,
        *(w.tuple_(w.integer(bit), w.integer(-2 if at >> bit & 1 else -1)) for bit in range(20)),
    )


def timedelta_(at: int) -> bytes:
    """hash of a timedelta is that of its tuple of days, seconds and microseconds."""
    return w.known("Timedelta", w.integer(-(at + 1) * 86_400_000_000))


def range_(at: int) -> bytes:
    """A range is hashed by its length, start and step."""
    return w.known("Range", w.integer(0), w.integer(at * P * 3 + 3), w.integer(3))


def ip6(at: int) -> bytes:
    """IPv6Address is hashed by hash(hex(int)), of text: a hash with a secret seed."""
    raw = f"{at * P:032x}"
    return w.known("IPv6Address", w.text(":".join(raw[i : i + 4] for i in range(0, 32, 4))))


COLLIDING: dict[str, Callable[[int], bytes]] = {
    "ints": colliding_int,
    "ints in one place": close_int,
    "floats": power_float,
    "UUIDs": uuid_,
    "decimals": decimal_,
    "fractions": fraction_,
    "complex": complex_,
    "tuples of -1 and -2": minus_tuple,
    "nested tuples of -1 and -2": nested_minus_tuple,
    "frozensets of tuples of -1 and -2": minus_frozenset,
    "tuples of colliding ints": lambda at: w.tuple_(colliding_int(at)),
    "ranges": range_,
    "slices": lambda at: w.known("Slice", colliding_int(at), w.NONE, w.NONE),
    "IPv6 addresses": ip6,
    "timedeltas": timedelta_,
}


@family("hold", each=COLLIDING)
def members_that_collide(n: int, make: Callable[[int], bytes]) -> bytes:
    return as_set(n, make)


@family(
    "hold",
    each={name: COLLIDING[name] for name in ("ints", "UUIDs", "complex", "tuples of -1 and -2", "decimals")},
)
def keys_that_collide(n: int, make: Callable[[int], bytes]) -> bytes:
    return as_dict(n, make)


@family("hold", each={name: COLLIDING[name] for name in ("ints", "UUIDs", "tuples of -1 and -2")})
def frozen_members_that_collide(n: int, make: Callable[[int], bytes]) -> bytes:
    members = fill(n, make)
    return w.message(w.sized("FROZENSET", len(members), *members))


@family("hold", each=("OrderedDict", "Counter"))
def keys_that_collide_of(n: int, name: str) -> bytes:
    keys = fill(n, lambda at: colliding_int(at) + ONE)
    return w.message(w.known(name, w.tag("DICT", w.length(len(keys)), *keys)))


@family("hold")
def keys_that_collide_of_a_default_dict(n: int) -> bytes:
    keys = fill(n, lambda at: colliding_int(at) + ONE)
    return w.message(w.known("DefaultDict", w.NONE, w.tag("DICT", w.length(len(keys)), *keys)))


@family("hold", most=1_000_000)
def keys_in_one_cycle_of_probes(n: int) -> bytes:
    """Hashes differ, and the ways to a free entry don't."""
    return w.message(w.dict_(*[part for key in cycle_ints(n // 10) for part in (w.integer(key), ONE)]))


@family("hold", most=1_000_000)
def keys_in_one_cycle_of_probes_as_UUIDs(n: int) -> bytes:
    keys = cycle_ints(n // 20)
    return w.message(
        w.dict_(*[part for key in keys for part in (w.known("Uuid", w.blob(key.to_bytes(16, "big"))), ONE)])
    )


@family("hold")
def colliding_ints_in_many_small_dicts(n: int) -> bytes:
    small = w.dict_(*[one for at in range(200) for one in (colliding_int(at), ONE)])
    return w.message(w.sequence(*[small] * max(n // len(small), 1)))


@family("hold")
def ints_in_the_order_of_another_table(n: int) -> bytes:
    """In the order of a table's entries, multiplied: inserted into one that grows they pile up."""
    number = n // 9
    members = [w.integer(at * (1 << 20) + 7) for at in range(number)]
    return w.message(w.sized("SET", number, *members))


# --- keys that cost much to hash ---
def doubling(depth: int, leaf: bytes = ONE) -> bytes:
    """A tuple of one tuple twice, `depth` times: hashing it takes 2**depth steps. Its objects are numbered from 1 on."""
    made = leaf
    for _ in range(depth):
        inner = made
        made = w.mark(b"") + bytes([w.TAG.TUPLE_FIX + 2]) + inner
    # The second item of each is a reference to the first, which has the next number.
    closing = b"".join(w.reference(number + 1) for number in range(depth - 1, 0, -1))
    return made + ONE + closing


@family("hold")
def one_key_that_doubles(n: int) -> bytes:
    depth = min(n // 8, 190)
    return w.message(w.sized("LIST", 1, w.sized("SET", 1, doubling(depth))))


@family("hold")
def small_keys_that_double(n: int) -> bytes:
    """Each is hashed in 2**12 steps, and takes some hundred bytes."""
    parts, number = [], 0
    while sum(map(len, parts[-1:])) + len(parts) * 120 < n:
        first = number + 1
        depth = 12
        heads = (w.tag("MARK") + bytes([w.TAG.TUPLE_FIX + 2])) * depth
        tails = b"".join(w.reference(first + at) for at in range(depth - 1, 0, -1))
        made = heads + ONE + w.integer(len(parts)) + tails
        parts.append(made)
        number += depth
    return w.message(w.sequence(w.sized("SET", len(parts), *parts)))


@family("hold")
def one_large_tuple_in_many_keys(n: int) -> bytes:
    """Keys (t, i) with one t: hashed again for each."""
    items = n // 20
    shared = w.mark(w.tuple_(*[w.integer(at % 40) for at in range(items)]))
    keys = fill(n // 2, lambda at: w.tuple_(w.reference(1), w.integer(at)))
    return w.message(w.sequence(shared, w.sized("SET", len(keys), *keys)))


@family("hold")
def one_long_text_in_many_tuples(n: int) -> bytes:
    """A text is hashed once, a comparison of equal ones is by identity: linear by itself."""
    shared = w.mark(w.text("x" * (n // 2)))
    keys = fill(n // 2, lambda at: w.tuple_(w.reference(1), w.integer(at)))
    return w.message(w.sequence(shared, w.sized("SET", len(keys), *keys)))


def big_int(size: int) -> bytes:
    return w.sized("INT_BIG", size, b"\x55" * size)


def shared_in_keys(n: int, shared: bytes, key: Callable[[int], bytes]) -> bytes:
    keys = fill(n // 2, key)
    return w.message(w.sequence(w.mark(shared), w.sized("SET", len(keys), *keys)))


@family("hold")
def one_huge_int_in_many_keys(n: int) -> bytes:
    return shared_in_keys(n, big_int(n // 2), lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_range_in_many_keys(n: int) -> bytes:
    huge = w.known("Range", w.integer(0), big_int(n // 4), big_int(n // 8))
    return shared_in_keys(n, huge, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_fraction_in_many_keys(n: int) -> bytes:
    huge = w.known("Fraction", big_int(n // 4), w.integer((1 << 8 * (n // 4)) + 1))
    return shared_in_keys(n, huge, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_decimal_in_many_keys(n: int) -> bytes:
    huge = w.known("Decimal", w.text("1." + "3" * (n // 2)))
    return shared_in_keys(n, huge, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_decimal_of_a_huge_exponent_in_many_keys(n: int) -> bytes:
    huge = w.known("Decimal", w.text("1E+999999999999999999"))
    return shared_in_keys(n, huge, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def decimals_of_huge_exponents(n: int) -> bytes:
    return as_set(n, lambda at: w.known("Decimal", w.text(f"{at}E+999999")))


@family("hold")
def one_frozenset_in_many_keys(n: int) -> bytes:
    """A frozenset keeps its hash."""
    members = [w.integer(at) for at in range(n // 20)]
    shared = w.sized("FROZENSET", len(members), *members)
    return shared_in_keys(n, shared, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_path_in_many_keys(n: int) -> bytes:
    shared = w.known("PosixPath", w.text("a/" * (n // 4)))
    return shared_in_keys(n, shared, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_windows_path_in_many_keys(n: int) -> bytes:
    shared = w.known("PureWindowsPath", w.text("A\\" * (n // 4)))
    return shared_in_keys(n, shared, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_datetime_with_a_zone_in_many_keys(n: int) -> bytes:
    zone = w.known("Timezone", w.integer(3_600_000_000), w.text("x" * (n // 2)))
    shared = w.tag("DATETIME_ZONED", struct.pack("<Q", 2024 << 47 | 1 << 43 | 1 << 38), zone)
    return shared_in_keys(n, shared, lambda at: w.tuple_(w.reference(1), w.integer(at)))


@family("hold")
def one_range_in_many_sets(n: int) -> bytes:
    huge = w.known("Range", w.integer(0), big_int(n // 4), big_int(n // 8))
    sets = fill(n // 2, lambda at: w.sized("SET", 1, w.reference(1)))
    return w.message(w.sequence(w.mark(huge), *sets))


@family("hold")
def one_fraction_in_many_sets(n: int) -> bytes:
    huge = w.known("Fraction", big_int(n // 4), w.integer((1 << 8 * (n // 4)) + 1))
    sets = fill(n // 2, lambda at: w.sized("SET", 1, w.reference(1)))
    return w.message(w.sequence(w.mark(huge), *sets))


@family("hold")
def one_tuple_in_many_sets(n: int) -> bytes:
    huge = w.tuple_(*[w.integer(at % 40) for at in range(n // 2)])
    sets = fill(n // 2, lambda at: w.sized("SET", 1, w.reference(1)))
    return w.message(w.sequence(w.mark(huge), *sets))


# --- keys that cost much to compare ---
@family("hold")
def equal_tuples_in_one_set_each(n: int) -> bytes:
    """Two equal tuples that are not one object: refused, once they were compared."""
    large = w.tuple_(*[w.integer(at % 40) for at in range(n // 2)])
    return w.message(w.sized("SET", 2, large, large))


def dag(depth: int, first: int, leaf: bytes) -> bytes:
    """Like `doubling`, for objects that are numbered from `first` on."""
    heads = (w.tag("MARK") + bytes([w.TAG.TUPLE_FIX + 2])) * depth
    tails = b"".join(w.reference(first + at) for at in range(depth - 1, 0, -1))
    return heads + leaf + leaf + tails


@family("hold", each=(10, 14, 17))
def equal_graphs_that_share(n: int, depth: str) -> bytes:
    """Two keys of one hash that differ in their last leaf only (-1 and -2): comparing them takes 2**depth steps."""
    of = int(depth)
    parts: list[bytes] = []
    number, size = 1, 0
    while size < n or len(parts) < 2:
        one = dag(of, number, w.integer(-1 if len(parts) % 2 else -2))
        parts.append(one)
        size += len(one)
        number += of
    sets = [w.sized("SET", 2, *parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
    return w.message(w.sequence(*sets))


@family("hold")
def distinct_graphs_that_share_in_one_set(n: int) -> bytes:
    """The issue's: distinct graphs of colliding hashes; each is compared with many."""
    depth, parts, number, size = 8, [], 1, 0
    while size < n:
        leaf = w.tuple_(*(w.integer(-2 if len(parts) >> bit & 1 else -1) for bit in range(12)))
        one = dag(depth, number, leaf)
        parts.append(one)
        size += len(one)
        number += depth
    return w.message(w.sequence(w.sized("SET", len(parts), *parts)))


@family("hold")
def long_texts_that_differ_at_their_end(n: int) -> bytes:
    """Texts have hashes with a secret: no collisions, one comparison each."""
    size = math.isqrt(n)
    return as_dict(n, lambda at: w.text("x" * size + str(at)))


@family("hold")
def fractions_to_hash(n: int) -> bytes:
    """The inverse of each denominator is computed."""
    return as_set(n, lambda at: w.known("Fraction", w.integer(2 * at + 1), w.integer(1 << 62)))


@family("hold")
def large_fractions_to_hash(n: int) -> bytes:
    size = math.isqrt(n)
    return as_set(
        n, lambda at: w.known("Fraction", w.integer((1 << 8 * size) + 2 * at + 1), w.integer(1 << 8 * size))
    )


@family("hold")
def decimals_to_hash(n: int) -> bytes:
    size = math.isqrt(n)
    return as_set(n, lambda at: w.known("Decimal", w.text(f"{at}." + "7" * size)))
