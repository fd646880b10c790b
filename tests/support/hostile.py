"""What hostile input may cost, as the documentation of `Limits` states it."""

from __future__ import annotations

# Bytes of memory per byte of input that `loads` may use at most, beside a constant for the process itself.
MEMORY_MULTIPLE = 128
