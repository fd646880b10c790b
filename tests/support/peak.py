"""The most memory that a process has had: in a process that a test starts, to see what one call takes."""

from __future__ import annotations

import sys


def peak() -> int:
    """Bytes. On Linux `ru_maxrss` would begin at what the parent had when it made the process: growth below that is not seen."""
    if sys.platform == "linux":
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
