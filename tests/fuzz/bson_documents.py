"""BSON by its structure: where lengths and elements stand, and damage that knows it.

What is damaged blindly mostly ends at the first length. Here whole elements go in and out, and every length around them follows.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tests.fuzz.mutations import LARGEST_INPUT, MUTATIONS, Mutation

# Bytes of a value by its type; the others have a length.
FIXED = {1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16, 127: 0, 255: 0}
TYPES = [*range(20), 127, 255, 20, 126, 128]
# A message has no more of them than this that are of interest.
MOST = 2000


class Element(NamedTuple):
    start: int
    value: int
    end: int
    # The lengths that count it.
    around: tuple[int, ...]


class Structure(NamedTuple):
    lengths: list[int]
    elements: list[Element]
    # Where an element may stand, and the lengths that would count it.
    places: list[tuple[int, tuple[int, ...]]]


def number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little", signed=True)


def structure(data: bytes) -> Structure:
    """What there is up to where `data` is no document any more."""
    found = Structure([], [], [])
    todo: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while todo and len(found.lengths) < MOST:
        start, around = todo.pop()
        if start + 5 > len(data):
            continue
        found.lengths.append(start)
        around = (*around, start)
        end = min(len(data), start + max(5, number(data, start)))
        at = start + 4
        while at < end:
            found.places.append((at, around))
            name_end = data.find(b"\0", at + 1, end)
            if data[at] == 0 or name_end < 0 or len(found.elements) > MOST:
                break
            behind = value_end(data, data[at], name_end + 1, end, around, found.lengths, todo)
            if behind is None:
                break
            found.elements.append(Element(at, name_end + 1, behind, around))
            at = behind
    return found


def value_end(
    data: bytes,
    kind: int,
    at: int,
    end: int,
    around: tuple[int, ...],
    lengths: list[int],
    todo: list[tuple[int, tuple[int, ...]]],
) -> int | None:
    """The end of a value that begins `at`; notes its lengths, and the documents in it."""
    if kind in FIXED:
        behind = at + FIXED[kind]
    elif kind == 11:
        middle = data.find(b"\0", at, end)
        behind = data.find(b"\0", middle + 1, end) + 1 if middle >= 0 else 0
        if behind == 0:
            return None
    elif at + 4 > end:
        return None
    elif kind in (3, 4):
        todo.append((at, around))
        behind = at + number(data, at)
    elif kind in (2, 5, 12, 13, 14):
        lengths.append(at)
        behind = at + 4 + number(data, at) + {5: 1, 12: 12}.get(kind, 0)
        if kind == 5 and data[at + 4 : at + 5] == b"\2":
            lengths.append(at + 5)
    elif kind == 15:
        lengths += [at, at + 4]
        todo.append((at + 8 + max(0, number(data, at + 4)), (*around, at)))
        behind = at + number(data, at)
    else:
        return None
    return behind if at <= behind < end else None


def extremes(right: int, left: int) -> list[int]:
    """What a length may be changed to, which is `right` where `left` bytes are left."""
    near = [right + by for by in (-5, -4, -2, -1, 1, 2, 4, 5)]
    edges = [0, 1, 2, 3, 4, 5, 6, 13, 14, -1, -5, 2**31 - 1, 2**31 - 5, -(2**31), 255, 256, 65535]
    return [value for value in (*near, *edges, left - 1, left, left + 1) if -(2**31) <= value < 2**31]


def every_extreme(data: bytes) -> Iterator[bytes]:
    """`data`, with each of its lengths changed to each of its extremes."""
    for at in structure(data).lengths:
        if at + 4 <= len(data):
            for value in extremes(number(data, at), len(data) - at):
                yield data[:at] + struct.pack("<i", value) + data[at + 4 :]


def grown(data: bytearray, around: tuple[int, ...], by: int) -> None:
    for at in around:
        right = number(data, at) + by
        if -(2**31) <= right < 2**31:
            data[at : at + 4] = struct.pack("<i", right)


# --- mutations ---
def stretch(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A length at an extreme."""
    lengths = [at for at in structure(bytes(data)).lengths if at + 4 <= len(data)]
    if lengths:
        at = rng.choice(lengths)
        data[at : at + 4] = struct.pack("<i", rng.choice(extremes(number(data, at), len(data) - at)))


def mend(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """The outermost length, as it should be."""
    if len(data) >= 5:
        data[:4] = struct.pack("<i", len(data))
        data[-1] = 0


def graft(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """An element of this message or another, once or many times, at a place for one."""
    other = bytes(data) if rng.random() < 0.3 else rng.choice(pool)
    elements, places = structure(other).elements, structure(bytes(data)).places
    if elements and places:
        element, (at, around) = rng.choice(elements), rng.choice(places)
        piece = other[element.start : element.end] * rng.choice((1, 1, 1, 2, 20, 300))
        if len(data) + len(piece) <= LARGEST_INPUT:
            data[at:at] = piece
            grown(data, around, len(piece))


def prune(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """Without one of its elements."""
    elements = structure(bytes(data)).elements
    if elements:
        element = rng.choice(elements)
        del data[element.start : element.end]
        grown(data, element.around, element.start - element.end)


def retype(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """An element of another type, with the same bytes."""
    elements = structure(bytes(data)).elements
    if elements:
        data[rng.choice(elements).start] = rng.choice(TYPES)


def rename(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """Another name: twice the same, text that is none, what databases give a meaning to."""
    elements = structure(bytes(data)).elements
    if elements:
        element = rng.choice(elements)
        names = [b"", b"_id", b"$ref", b"$id", b"$db", b"0", b"\xff", "é".encode(), b"n" * 70]
        other = rng.choice(elements)
        name = rng.choice([*names, bytes(data[other.start + 1 : other.value - 1])])
        by = len(name) - (element.value - 1 - (element.start + 1))
        data[element.start + 1 : element.value - 1] = name
        grown(data, element.around, by)


def nest(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """The message within documents or arrays, many deep."""
    kind = rng.choice((b"\x03", b"\x04"))
    inner = bytes(data)
    for _ in range(min(rng.choice((1, 2, 30, 1000)), (LARGEST_INPUT - len(data)) // 8)):
        inner = struct.pack("<i", len(inner) + 8) + kind + b"0\0" + inner + b"\0"
        if len(inner) > LARGEST_INPUT >> 2:
            break
    data[:] = inner


def mended(mutation: Mutation) -> Mutation:
    """The same, and with a length that fits."""

    def both(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
        mutation(rng, data, pool)
        mend(rng, data, pool)

    return both


BY_STRUCTURE: list[Mutation] = [stretch, graft, prune, retype, rename]
BSON_MUTATIONS: list[Mutation] = [*MUTATIONS, *map(mended, MUTATIONS), *BY_STRUCTURE * 5, nest]
