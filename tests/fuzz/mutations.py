"""How messages are damaged, whatever their format."""

from __future__ import annotations

import random
from collections.abc import Callable

LARGEST_INPUT = 1 << 16
INTERESTING = bytes([0, 1, 2, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF])
HUGE = [
    b"\xfc\xff\xff",
    b"\xfd\xff\xff\xff\x7f",
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xfe" + b"\xff" * 8,
]

# Changes the message in place; the pool has others to take from.
Mutation = Callable[[random.Random, bytearray, list[bytes]], None]


def flip(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def replace(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 2, 4))):
        data[rng.randrange(len(data))] = rng.choice((rng.randrange(256), rng.choice(INTERESTING)))


def truncate(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    del data[rng.randrange(len(data)) :]


def delete(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 1, 2, 4, 16))]


def insert(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice((1, 1, 2, 4, 16)))


def repeat(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A piece of the message many times: nesting and length."""
    at = rng.randrange(len(data))
    piece = bytes(data[at : at + rng.choice((1, 2, 3, 8, 40))])
    times = rng.choice((2, 3, 10, 100, 1000))
    data[at:at] = piece * min(times, max(1, (LARGEST_INPUT - len(data)) // (len(piece) or 1)))


def splice(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """The head of one message and the tail of another, or a piece of another put in."""
    other = rng.choice(pool)
    start = rng.randrange(len(other))
    at = rng.randrange(len(data) + 1)
    if rng.random() < 0.5:
        data[at:] = other[start:]
    else:
        data[at : at + rng.choice((0, 0, 1, 5))] = other[start : start + rng.choice((1, 4, 20, 200))]


def inflate(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A byte that may be a length becomes a huge one."""
    at = rng.randrange(len(data))
    data[at : at + 1] = rng.choice(HUGE)


MUTATIONS: list[Mutation] = [
    flip, flip, replace, replace, truncate, delete, insert, repeat, splice, splice, inflate
]  # fmt: skip
