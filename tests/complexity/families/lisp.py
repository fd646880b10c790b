"""Common Lisp's files: lists that claim more than there is, conses without end, tables and arrays of any size, references."""

from __future__ import annotations

from collections.abc import Callable

from holdall import lisp
from tests.complexity.family import copies, family
from tests.complexity.probes import cycle_ints


@family("lisp", each={"lists": b"\x20\x05", "vectors": b"\x16\x05", "conses": b"\x04"})
def nested(n: int, head: bytes) -> bytes:
    tail = {b"\x16\x05": b""}.get(head, b"\x05")
    depth = n // (len(head) + len(tail))
    return head * depth + b"\xd1" + tail * depth


@family("lisp")
def descriptions_within_descriptions(n: int) -> bytes:
    """Where a symbol should stand, an object begins again."""
    return b"\x13\x19\xd0" * (n // 3)


@family("lisp")
def marked_lists(n: int) -> bytes:
    depth = n // 4
    return b"\x22\x20\x05" * depth + b"\xd1" + b"\x05" * depth


@family("lisp")
def conses_that_are_shared(n: int) -> bytes:
    """Each cdr has an id of its own."""
    return b"\x22\x04\xd1" * (n // 3) + b"\x05"


@family("lisp")
def a_chain_of_conses(n: int) -> bytes:
    return b"\x04\xd1" * (n // 2) + b"\x05"


@family("lisp", each={"conses": b"\x22\x04", "lists": b"\x22\x20\x06\xd1"})
def settled_late(n: int, head: bytes) -> bytes:
    """All are open at the innermost reference, which settles how they end; every other is a list."""
    depth = n // (len(head) + 1)
    return head * depth + b"\x23" + (b"\x23\x05" * depth)[:depth]


@family("lisp")
def vectors_that_hold_themselves(n: int) -> bytes:
    """Each is an array instead, once the message is built again."""
    count = min(n // 6, 16_000)
    ids = [
        bytes([34 + k]) if k < 30 else bytes([64 + (k - 30 & 63), k - 30 >> 6]) for k in range(1, count + 1)
    ]
    return (
        b"\x20\x01"
        + (count - 252).to_bytes(2, "little")
        + b"".join(b"\x22\x16\x05" + one for one in ids)
        + b"\x05"
    )


@family("lisp")
def dotted_lists_within_themselves(n: int) -> bytes:
    """Each is referred to before its end is known."""
    one = b"\x22\x20\x05%b\xd2"
    parts, left, number = [], n - 10, 0
    while left > 0:
        number += 1
        reference = (
            bytes([34 + number])
            if number < 30
            else bytes([64 + (number - 30 & 63), min(number - 30 >> 6, 255)])
        )
        parts.append(one % reference)
        left -= len(parts[-1])
    return (
        b"\x16\x03" + (len(parts) - 252).to_bytes(8, "little") + b"".join(parts)
        if len(parts) > 251
        else b"\x16" + bytes([len(parts) + 4]) + b"".join(parts)
    )


ONE = {
    "symbols": b"\x11\x1d\x05A\x1d\x0bKEYWORD",
    "symbols without packages": b"\x12\x1d\x05A",
    "ratios": b"\x0d\xd1\xd3",
    "single-floats": b"\x0a\0\0\x80\x3f",
    "complexes": b"\x10\0\0\x80\x3f\0\0\x80\x3f",
    "rational complexes": b"\x0e\xd1\xd2",
    "bignums": b"\x09\xd3" + b"\xff" * 12,
    "empty vectors": b"\x16\x04",
    "bit vectors": b"\x15\x05\x00\x01",
    "vectors of doubles": b"\x15\x04\x05",
    "arrays": b"\x17\x00\x05" + bytes(8),
    "arrays of anything": b"\x18\x05\x05\x00\x05\x14\xd1",
    "tables": b"\x1c\xd0\xd7\x11\x1d\x09EQUAL\x1d\x0fCOMMON-LISP\x0a\0\0\x80\x3f\x0a\0\0\xc0\x3f\x05\x05",
    "pathnames": b"\x1b" + b"\x05" * 6,
    "pairs": b"\x20\x05\xd1\xd2",
    "descriptions": b"\x13\x19\xd0\x11\x1d\x05A\x1d\x05P",
    "known descriptions": b"\x13\x19\xcf",
    "marks": b"\x22\xd1",
    "texts": b"\x1e\x06\xc3\xa9",
}


@family("lisp", each=ONE)
def many(n: int, one: bytes) -> bytes:
    parts = copies(n, one, 40)
    first = b"\x13\x19\xd0\x11\x1d\x05A\x1d\x05P"
    return (
        b"\x16\x03" + (len(parts) + 1 - 252).to_bytes(8, "little", signed=True) + first + b"".join(parts)
        if len(parts) > 251
        else b"\x16" + bytes([5 + len(parts)]) + first + b"".join(parts)
    )


@family("lisp")
def descriptions_of_many_slots(n: int) -> bytes:
    slot = b"\x11\x1d\x05A\x1d\x05P"
    count = n // (len(slot) + 1)
    return b"\x13\x19\x02" + count.to_bytes(4, "little") + slot * (count + 1) + b"\x1a" * count


@family(
    "lisp",
    each={"ints": lambda n: list(cycle_ints(n)), "tuples": lambda n: [(each, 1) for each in cycle_ints(n)]},
)
def colliding_keys(n: int, make: Callable[[int], list[object]]) -> bytes:
    """A table whose keys have one hash in Python."""
    return lisp.dumps(lisp.Pairs([(key, None) for key in make(n // 24)], test="EQUAL"), refs=False)


@family("lisp")
def references_to_one(n: int) -> bytes:
    count = n - 20
    return (
        b"\x16\x03"
        + (count + 1 - 252).to_bytes(8, "little", signed=True)
        + b"\x22\x20\x05\xd1\x05"
        + b"\x23" * count
    )


@family("lisp", honest=True)
def a_long_list(n: int) -> bytes:
    return lisp.dumps(list(range(n // 4)))


@family("lisp", honest=True)
def records(n: int) -> bytes:
    of = lisp.Type("P::ROW", ["A", "B"])
    return lisp.dumps([lisp.LispObject(of, [number, "text"]) for number in range(n // 16)])
