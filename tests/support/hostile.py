"""What hostile input may cost, as the documentation of `Limits` states it."""

from __future__ import annotations

# Bytes of memory per byte of input that `loads` may use at most, beside a constant for the process itself.
MEMORY_MULTIPLE = 128
# And for the message itself, however small.
MEMORY_FIXED = 1 << 20
# What a compressed file may become, beside the same multiple of its size.
UNPACKED_FIXED = 64 << 20
