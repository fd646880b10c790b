"""What a call takes of memory.

Peak memory is the kernel's high-water mark after the call, less the resident memory before it, so it counts every
allocator: Python's, a library's own, the kernel's pages. Before, what is free is given back to the system. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARKS = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")


def supported() -> bool:
    return os.access(MARKS, os.W_OK)


def peak_of(call: Callable[[], Any]) -> int:
    """Bytes that `call` needs at most, its result included. Where `supported`."""
    before = settle()
    result = call()
    peak = max(0, high_water() - before)
    del result
    return peak


def allocated_by(call: Callable[[], Any]) -> int:
    """Bytes that Python's allocators hold for `call` at most. What others allocate isn't seen."""
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        del result
    finally:
        tracemalloc.stop()
    return peak


def settle() -> int:
    """Resident bytes, after giving back what is free and resetting the high-water mark."""
    gc.collect()
    # Where there is no glibc what is free stays resident, and the figure errs on the low side.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    MARKS.write_text("5")
    return status("VmRSS")


def high_water() -> int:
    return status("VmHWM")


def status(field: str) -> int:
    """Bytes of a field of /proc/self/status."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in {STATUS}")


def resident() -> int:
    """Bytes that this process has; 0 where the system doesn't tell."""
    return status("VmRSS") if STATUS.exists() else 0


def available() -> int | None:
    """Bytes that new processes can have without swapping; None where the system doesn't tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None
