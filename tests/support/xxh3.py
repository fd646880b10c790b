"""XXH3 of 64 bits in plain Python, for readers and forgers of files that share no code with holdall.

Follows the specification (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), with its default secret.
"""

from __future__ import annotations

import struct

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

MASK = (1 << 64) - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MIX_1, MIX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
STRIPE, BLOCK = 64, 1024


def u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def fold(left: int, right: int) -> int:
    product = left * right
    return product & MASK ^ product >> 64


def avalanche(value: int) -> int:
    value = (value ^ value >> 37) * MIX_1 & MASK
    return value ^ value >> 32


def avalanche_64(value: int) -> int:
    value = (value ^ value >> 33) * P64[1] & MASK
    value = (value ^ value >> 29) * P64[2] & MASK
    return value ^ value >> 32


def rotated(value: int, by: int) -> int:
    return value << by & MASK | value >> 64 - by


def mixed(data: bytes, at: int, secret: int, seed: int) -> int:
    low = u64(data, at) ^ u64(SECRET, secret) + seed & MASK
    high = u64(data, at + 8) ^ u64(SECRET, secret + 8) - seed & MASK
    return fold(low, high)


def xxh3(data: bytes, seed: int = 0) -> int:
    size = len(data)
    if size == 0:
        return avalanche_64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))
    if size <= 3:
        joined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_64(joined ^ (u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & MASK)
    if size <= 8:
        swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big")
        flip = (u64(SECRET, 8) ^ u64(SECRET, 16)) - (seed ^ swapped << 32) & MASK
        value = u32(data, size - 4) + (u32(data, 0) << 32) ^ flip
        value ^= rotated(value, 49) ^ rotated(value, 24)
        value = value * MIX_2 & MASK
        value ^= (value >> 35) + size
        value = value * MIX_2 & MASK
        return value ^ value >> 28
    if size <= 16:
        low = u64(data, 0) ^ (u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & MASK
        high = u64(data, size - 8) ^ (u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & MASK
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(size + swapped + high + fold(low, high) & MASK)
    if size <= 128:
        found = size * P64[0]
        for step in range((size - 1) // 32, -1, -1):
            found += mixed(data, 16 * step, 32 * step, seed)
            found += mixed(data, size - 16 * (step + 1), 32 * step + 16, seed)
        return avalanche(found & MASK)
    if size <= 240:
        found = size * P64[0] + sum(mixed(data, 16 * step, 16 * step, seed) for step in range(8))
        found = avalanche(found & MASK)
        found += sum(mixed(data, 16 * step, 16 * (step - 8) + 3, seed) for step in range(8, size // 16))
        return avalanche(found + mixed(data, size - 16, 136 - 17, seed) & MASK)
    return _long(data, seed)


def _long(data: bytes, seed: int) -> int:
    secret = b"".join(
        struct.pack("<QQ", u64(SECRET, at) + seed & MASK, u64(SECRET, at + 8) - seed & MASK)
        for at in range(0, 192, 16)
    )
    lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    keys = [struct.unpack_from("<8Q", secret, 8 * stripe) for stripe in range(16)]

    def add(at: int, key: tuple[int, ...]) -> None:
        values = struct.unpack_from("<8Q", data, at)
        for lane in range(8):
            value = values[lane]
            both = value ^ key[lane]
            lanes[lane ^ 1] += value
            lanes[lane] += (both & 0xFFFFFFFF) * (both >> 32)

    scramble = struct.unpack_from("<8Q", secret, 192 - STRIPE)
    blocks, last = divmod(len(data) - 1, BLOCK)
    if np is not None and blocks > 16:
        lanes[:] = _blocks(data, blocks, secret, lanes)
    for block in range(blocks) if np is None or blocks <= 16 else ():
        for stripe in range(16):
            add(BLOCK * block + STRIPE * stripe, keys[stripe])
        for lane in range(8):
            value = lanes[lane] & MASK
            lanes[lane] = (value ^ value >> 47 ^ scramble[lane]) * P32[0] & MASK
    for stripe in range(last // STRIPE):
        add(BLOCK * blocks + STRIPE * stripe, keys[stripe])
    add(len(data) - STRIPE, struct.unpack_from("<8Q", secret, 192 - STRIPE - 7))
    found = len(data) * P64[0]
    for pair in range(4):
        low = lanes[2 * pair] & MASK ^ u64(secret, 11 + 16 * pair)
        high = lanes[2 * pair + 1] & MASK ^ u64(secret, 19 + 16 * pair)
        found += fold(low, high)
    return avalanche(found & MASK)


def _blocks(data: bytes, blocks: int, secret: bytes, lanes: list[int]) -> list[int]:
    """The lanes behind whole blocks: within one, sums don't depend on what came before. For files of megabytes."""
    key = np.frombuffer(secret, "<u8")
    keys = np.stack([key[stripe : stripe + 8] for stripe in range(16)])
    scramble = key[(192 - STRIPE) // 8 :]
    low, shift, prime = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(P32[0])
    found = np.array([lane & MASK for lane in lanes], "<u8")
    swapped = np.arange(8) ^ 1
    for first in range(0, blocks, 1024):
        count = min(1024, blocks - first)
        values = np.frombuffer(data, "<u8", count * BLOCK // 8, first * BLOCK).reshape(count, 16, 8)
        both = values ^ keys
        sums = ((both & low) * (both >> shift)).sum(axis=1, dtype="<u8")
        sums += values.sum(axis=1, dtype="<u8")[:, swapped]
        for each in sums:
            found = found + each
            found = (found ^ found >> np.uint64(47) ^ scramble) * prime
    return [int(lane) for lane in found]
