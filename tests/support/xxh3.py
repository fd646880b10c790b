"""XXH3 of 64 bits, as the specification of xxHash describes it: so that the page's reader shares no code with holdall."""

from __future__ import annotations

import struct

MASK = (1 << 64) - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _swapped(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _fold(left: int, right: int) -> int:
    product = (left & MASK) * (right & MASK)
    return product & MASK ^ product >> 64


def _avalanche(value: int) -> int:
    value &= MASK
    value = (value ^ value >> 37) * 0x165667919E3779F9 & MASK
    return value ^ value >> 32


def _avalanche64(value: int) -> int:
    value = (value ^ value >> 33) * P64[1] & MASK
    value = (value ^ value >> 29) * P64[2] & MASK
    return value ^ value >> 32


def _mix(data: bytes, at: int, secret_at: int, seed: int) -> int:
    low = _u64(data, at) ^ _u64(SECRET, secret_at) + seed & MASK
    high = _u64(data, at + 8) ^ _u64(SECRET, secret_at + 8) - seed & MASK
    return _fold(low, high)


def _short(data: bytes, seed: int) -> int:
    size = len(data)
    if size > 8:
        low = _u64(data, 0) ^ (_u64(SECRET, 24) ^ _u64(SECRET, 32)) + seed & MASK
        high = _u64(data, size - 8) ^ (_u64(SECRET, 40) ^ _u64(SECRET, 48)) - seed & MASK
        return _avalanche(size + _swapped(low, 8) + high + _fold(low, high))
    if size >= 4:
        seed ^= _swapped(seed & 0xFFFFFFFF, 4) << 32
        flip = (_u64(SECRET, 8) ^ _u64(SECRET, 16)) - seed & MASK
        value = (_u32(data, size - 4) + (_u32(data, 0) << 32)) ^ flip
        value ^= (value << 49 | value >> 15) & MASK ^ (value << 24 | value >> 40) & MASK
        value = value * 0x9FB21C651E98DF25 & MASK
        value = (value ^ (value >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return value ^ value >> 28
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return _avalanche64(combined ^ (_u32(SECRET, 0) ^ _u32(SECRET, 4)) + seed & MASK)
    return _avalanche64(seed ^ _u64(SECRET, 56) ^ _u64(SECRET, 64))


def _middle(data: bytes, seed: int) -> int:
    size = len(data)
    total = size * P64[0]
    if size <= 128:
        for step in range((size - 1) // 32, -1, -1):
            total += _mix(data, 16 * step, 32 * step, seed)
            total += _mix(data, size - 16 * (step + 1), 32 * step + 16, seed)
        return _avalanche(total)
    total = _avalanche(total + sum(_mix(data, 16 * step, 16 * step, seed) for step in range(8)))
    total += sum(_mix(data, 16 * step, 16 * (step - 8) + 3, seed) for step in range(8, size // 16))
    return _avalanche(total + _mix(data, size - 16, 136 - 17, seed))


def _long(data: bytes, seed: int) -> int:
    secret = b"".join(
        struct.pack("<QQ", _u64(SECRET, at) + seed & MASK, _u64(SECRET, at + 8) - seed & MASK)
        for at in range(0, 192, 16)
    )
    lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def accumulate(at: int, secret_at: int) -> None:
        for lane in range(8):
            value = _u64(data, at + 8 * lane)
            key = value ^ _u64(secret, secret_at + 8 * lane)
            lanes[lane ^ 1] = lanes[lane ^ 1] + value & MASK
            lanes[lane] = lanes[lane] + (key & 0xFFFFFFFF) * (key >> 32) & MASK

    stripes = (len(secret) - 64) // 8
    blocks = (len(data) - 1) // (64 * stripes)
    for block in range(blocks):
        for stripe in range(stripes):
            accumulate(64 * (block * stripes + stripe), 8 * stripe)
        for lane in range(8):
            value = lanes[lane] ^ lanes[lane] >> 47 ^ _u64(secret, 128 + 8 * lane)
            lanes[lane] = value * P32[0] & MASK
    begin = 64 * stripes * blocks
    for stripe in range((len(data) - 1 - begin) // 64):
        accumulate(begin + 64 * stripe, 8 * stripe)
    accumulate(len(data) - 64, 128 - 7)
    total = len(data) * P64[0]
    for pair in range(4):
        left = lanes[2 * pair] ^ _u64(secret, 11 + 16 * pair)
        total += _fold(left, lanes[2 * pair + 1] ^ _u64(secret, 19 + 16 * pair))
    return _avalanche(total)


def xxh3(data: bytes, seed: int = 0) -> int:
    if len(data) <= 16:
        return _short(data, seed)
    return _middle(data, seed) if len(data) <= 240 else _long(data, seed)
