"""Blocks of megabytes: memory in large pages, outputs that take room for what came before."""

from __future__ import annotations

import sys

import pytest

import holdall
from tests.support.each import each

np = pytest.importorskip("numpy")
MEGA = 1 << 20
# Around the size from which large pages are asked for.
SIZES = [4 * MEGA + more for more in (-64, -1, 0, 1, 4096)]
PATTERN = np.arange(5 * MEGA, dtype=np.uint8)


def _content(size: int) -> bytes:
    return (PATTERN[:size] ^ (PATTERN[:size] >> 3)).tobytes()


KINDS = {
    "bytes": lambda size: _content(size),
    "bytearray": lambda size: bytearray(_content(size)),
    "array": lambda size: np.frombuffer(_content(size), np.uint8).copy(),
    "ascii": lambda size: "abcdefg" * (size // 7) + "z" * (size % 7),
    "latin": lambda size: "é" * size,
    "wide": lambda size: "abcα" * (size // 8),
    "widest": lambda size: "ab😀" * (size // 16),
}


def _same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and bool((one == other).all()) and other.flags.writeable
    return type(one) is type(other) and one == other


@each("kind", KINDS)
def test_blocks_of_all_sizes(kind):
    for size in SIZES:
        value = KINDS[kind](size)
        assert _same(value, holdall.loads(holdall.dumps(value))), size


@each("kind", KINDS)
def test_blocks_of_large_messages(kind):
    """What is before them moves them by a byte at a time."""
    rest = bytes(17 * MEGA)
    for before, size in enumerate(SIZES[::2]):
        value = KINDS[kind](size)
        [text, again, zeros, shared] = holdall.loads(holdall.dumps(["x" * before, value, rest, value]))
        assert text == "x" * before
        assert _same(value, again), size
        assert again is shared
        assert zeros == rest


def test_a_file_with_blocks(tmp_path):
    values = [make(4 * MEGA + 1) for make in KINDS.values()]
    holdall.dump(values, tmp_path / "values.hold")
    again = holdall.load(tmp_path / "values.hold")
    assert all(map(_same, values, again))


def test_an_output_takes_what_the_last_one_took():
    """Whatever came before, a result has the bytes that it needs."""
    encoder = holdall.Encoder()
    big, part = _content(3 * MEGA), _content(300_000)
    for count in (8, 1, 8, 2, 0, 7, 9, 1, 1, 30, 3):
        value = [bytes([at]) + big for at in range(count)] + [part]
        message = encoder.encode(value)
        assert sys.getsizeof(message) == len(message) + sys.getsizeof(b"")
        assert holdall.loads(message) == value
