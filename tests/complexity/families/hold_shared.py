"""One large thing that many small ones refer to: each could copy it, or convert it again."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.complexity.family import family, fill
from tests.support import wire as w
from tests.support.kinds import TYPES

ONE = w.integer(1)


def users(n: int, shared: bytes, use: Callable[[int], bytes]) -> bytes:
    """Half of the message is one object, number 1; half of it refers to that."""
    return w.message(w.sequence(w.mark(shared), *fill(n // 2, use)))


def small(kind: str, *before: bytes) -> Callable[[int], bytes]:
    return lambda at: w.known(kind, *before, w.reference(1))


@family("hold", each=("b", "B", "h", "d", "q"))
def bytes_as_many_arrays(n: int, code: str) -> bytes:
    shared = w.blob(bytes(n // 2 // 8 * 8))
    return users(n, shared, lambda at: w.known("Array", w.text(code), w.reference(1)))


@family("hold", each={"ASCII": "a", "Latin-1": "é", "wide": "€"})
def text_as_many_arrays_of_characters(n: int, character: str) -> bytes:
    shared = w.text(character * (n // 2 // len(character.encode())))
    return users(n, shared, lambda at: w.known("Array", w.text("u"), w.reference(1)))


TEXTUAL = {
    "Decimal": lambda size: "1" + "0" * size,
    "PosixPath": lambda size: "a/" * (size // 2),
    "PurePosixPath": lambda size: "a" * size,
    "PureWindowsPath": lambda size: "a\\" * (size // 2),
    "ZoneInfo": lambda size: "A/" * (size // 2),
    "IPv4Address": lambda size: "1." * (size // 2),
    "IPv6Address": lambda size: "1:" * (size // 2),
    "IPv4Network": lambda size: "1.1.1.1/" + "0" * size,
    "IPv6Network": lambda size: "::/" + "0" * size,
    "IPv6Interface": lambda size: "::%" + "a" * size,
}


@family("hold", each=TEXTUAL)
def text_as_many(n: int, make: Callable[[int], str]) -> bytes:
    name = next(kind for kind, one in TEXTUAL.items() if one is make)
    return users(n, w.text(make(n // 2)), small(name))


@family("hold", each=("Decimal", "PosixPath", "PureWindowsPath"))
def text_of_hundreds_as_many(n: int, name: str) -> bytes:
    size = math.isqrt(n)
    return users(n, w.text(TEXTUAL[name](size)), small(name))


@family("hold")
def decimal_with_a_huge_exponent_as_many(n: int) -> bytes:
    return users(n, w.text("9" * (n // 2 - 20) + "E+999999999999999"), small("Decimal"))


@family("hold")
def pattern_as_many(n: int) -> bytes:
    """One text, with many flags: each is another pattern."""
    flags = [
        0,
        2,
        8,
        16,
        10,
        18,
        24,
        26,
        64,
        66,
        72,
        80,
        74,
        82,
        88,
        90,
        256,
        258,
        264,
        272,
        266,
        274,
        280,
        282,
    ]
    shared = w.text("[a-z]+(x|y)?" * (min(n // 2, 60_000) // 12))
    return users(
        n,
        shared,
        lambda at: w.known(
            "Pattern", w.reference(1), w.integer(flags[at % len(flags)] | 32 * (flags[at % len(flags)] < 256))
        ),
    )


@family("hold")
def pattern_of_bytes_as_many(n: int) -> bytes:
    shared = w.blob(b"[a-z]+(x|y)?" * (min(n // 2, 60_000) // 12))
    return users(
        n, shared, lambda at: w.known("Pattern", w.reference(1), w.integer((0, 2, 8, 16, 10, 18)[at % 6]))
    )


def big_int(size: int) -> bytes:
    return w.sized("INT_BIG", size, b"\x55" * size)


@family("hold")
def int_as_many_fractions(n: int) -> bytes:
    """Each is brought to its lowest terms."""
    return users(n, big_int(n // 2), lambda at: w.known("Fraction", w.reference(1), w.integer(3 + 2 * at)))


@family("hold")
def int_as_many_fractions_over_itself(n: int) -> bytes:
    return users(n, big_int(n // 2), lambda at: w.known("Fraction", w.integer(3 + 2 * at), w.reference(1)))


@family("hold")
def two_ints_as_many_fractions(n: int) -> bytes:
    shared = w.mark(big_int(n // 4)), w.mark(w.sized("INT_BIG", n // 4, b"\x77" * (n // 4)))
    use = w.known("Fraction", w.reference(1), w.reference(2))
    return w.message(w.sequence(*shared, *[use] * (n // 2 // len(use))))


@family("hold")
def int_as_many_ranges(n: int) -> bytes:
    return users(n, big_int(n // 2), lambda at: w.known("Range", w.integer(at), w.reference(1), w.integer(7)))


@family("hold")
def int_as_many_steps(n: int) -> bytes:
    shared = w.mark(big_int(n // 4)), w.mark(w.sized("INT_BIG", n // 8, b"\x77" * (n // 8)))
    use = w.known("Range", w.integer(0), w.reference(1), w.reference(2))
    return w.message(w.sequence(*shared, *[use] * (n // 2 // len(use))))


@family("hold")
def int_as_many_timedeltas(n: int) -> bytes:
    return users(n, big_int(n // 2), small("Timedelta"))


@family("hold", each=("Date", "Time", "Timezone"))
def int_as_many_times(n: int, name: str) -> bytes:
    after = () if name == "Date" else (w.NONE,)
    return users(n, big_int(n // 2), lambda at: w.known(name, w.reference(1), *after))


@family("hold", each=("list", "dict", "set", "tuple", "frozenset", "bytearray"), types=TYPES)
def container_as_many_contents(n: int, base: str) -> bytes:
    """The content of a subclass may be a reference where its base is immutable."""
    bodies = {
        "list": w.sequence(*[ONE] * (n // 2)),
        "dict": w.dict_(*[w.integer(at) for at in range(n // 4)]),
        "set": w.sized("SET", n // 8, *[w.integer(at) for at in range(n // 8)]),
        "tuple": w.tuple_(*[ONE] * (n // 2)),
        "frozenset": w.sized("FROZENSET", n // 8, *[w.integer(at) for at in range(n // 8)]),
        "bytearray": w.sized("BYTEARRAY", n // 2, bytes(n // 2)),
    }
    name = {
        "list": "MyList",
        "dict": "MyDict",
        "set": "MySet",
        "tuple": "MyTuple",
        "frozenset": "MyFrozenSet",
        "bytearray": "MyByteArray",
    }[base]
    first = w.layout("based", f"tests.support.models.{name}", [], w.reference(1))
    return w.message(
        w.sequence(w.mark(bodies[base]), first, *fill(n // 2, lambda at: w.instance(0, w.reference(1))))
    )


CONTENTS = {
    "MyStr": lambda size: w.text("x" * size),
    "MyBytes": lambda size: w.blob(bytes(size)),
    "MyInt": big_int,
}


@family("hold", each=CONTENTS, types=TYPES)
def value_as_many_contents(n: int, make: Callable[[int], bytes]) -> bytes:
    name = next(kind for kind, one in CONTENTS.items() if one is make)
    first = w.layout("based", f"tests.support.models.{name}", [], w.reference(1))
    uses = fill(n // 2, lambda at: w.instance(0, w.reference(1)))
    return w.message(w.sequence(w.mark(make(n // 2)), first, *uses))


@family("hold")
def dict_as_many_proxies(n: int) -> bytes:
    return users(n, w.dict_(*[w.integer(at) for at in range(n // 10)]), small("MappingProxy"))


@family("hold")
def bytes_as_many_numpy_arrays(n: int) -> bytes:
    size = n // 2 // 8
    use = w.known("NdArray", w.text("<f8"), w.tuple_(w.integer(size)), w.tag("FALSE"), w.reference(1))
    return w.message(w.sequence(w.mark(w.blob(bytes(size * 8))), *[use] * (n // 2 // len(use))))


@family("hold")
def text_as_many_numpy_scalars(n: int) -> bytes:
    return users(n, w.text("x" * (n // 2)), lambda at: w.known("NumpyScalar", w.text("U"), w.reference(1)))


@family("hold")
def text_as_many_zone_names(n: int) -> bytes:
    return users(
        n,
        w.text("x" * (n // 2)),
        lambda at: w.known("Timezone", w.integer(60_000_000 * (at % 1000 + 1)), w.reference(1)),
    )


@family("hold")
def bytes_as_many_uuids(n: int) -> bytes:
    return users(n, w.blob(bytes(n // 2)), small("Uuid"))


@family("hold", each=("ValueError", "OSError", "UnicodeDecodeError", "SyntaxError", "KeyError"))
def tuple_as_many_arguments(n: int, name: str) -> bytes:
    """Arguments of exceptions, which some classes look into."""
    shared = w.mark(w.tuple_(*[ONE] * (n // 2)))
    body = bytes([w.TAG.TUPLE_FIX + 2]) + w.reference(1) + w.tag("DICT_EMPTY")
    first = w.layout("based", f"builtins.{name}", [], body)
    return w.message(w.sequence(shared, first, *fill(n // 2, lambda at: w.instance(0, body))))


@family("hold")
def dict_as_many_states(n: int) -> bytes:
    """What an exception keeps beside its arguments, again and again."""
    shared = w.mark(w.dict_(*[part for at in range(n // 10) for part in (w.text(f"k{at}"), ONE)]))
    body = bytes([w.TAG.TUPLE_FIX + 2]) + bytes([w.TAG.TUPLE_FIX]) + w.reference(1)
    first = w.layout("based", "builtins.ValueError", [], body)
    return w.message(w.sequence(shared, first, *fill(n // 2, lambda at: w.instance(0, body))))


@family("hold")
def exception_in_many_groups(n: int) -> bytes:
    """A group looks at each of its exceptions."""
    inner = w.layout("based", "builtins.ValueError", [], w.tuple_(w.tuple_(), w.tag("DICT_EMPTY")))
    members = w.sequence(*[w.mark(inner), *[w.reference(2)] * (n // 12)])
    # Numbers: 1 the list of exceptions, 2 the exception, 3 its class's name.
    shared = w.mark(members)
    body = w.tuple_(w.tuple_(w.text("m"), w.reference(1)), w.tag("DICT_EMPTY"))
    first = w.layout("based", "builtins.ExceptionGroup", [], body)
    return w.message(w.sequence(shared, first, *fill(n // 3, lambda at: w.instance(1, body))))
