"""How much of a large file is touched by one who opens it and reads one member.

Method: a process of its own makes the kernel forget the file (posix_fadvise DONTNEED) and looks whether it has (mincore; a file
system in memory never does). Then it opens the file, reads the member, and asks the kernel which pages of the file it has
mapped (Rss in /proc/self/smaps). That is an upper bound of what was touched: around each page that is, the kernel maps up
to 15 more that it has. What it read from the disk is shown beside it, and judged by nobody: how far it reads ahead is a
setting of the machine's (read_ahead_kb), 8 MB for each page on some. Linux only.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path
from typing import Any

import holdall

CASES = ("files_member", "files_element")
LIMIT = 0.01  # of the file


def touch(path: Path, key: Any) -> dict[str, int]:
    """What a child does. peak: bytes of the file that are mapped; read: those that the kernel has read."""
    forget(path)
    before = cached(path)
    if before > os.path.getsize(path) // 1000:
        raise RuntimeError(f"the kernel keeps {before:,} bytes of the file, whatever it is told")
    with holdall.open(path) as document:
        member = document[key]
        if isinstance(member, holdall.Document):
            member.load()
        mapped = resident(path)
    return {"peak": mapped, "reference": os.path.getsize(path), "read": cached(path)}


def forget(path: Path) -> None:
    with open(path, "rb") as stream:
        # Pages that aren't on the disk yet can't be forgotten.
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cached(path: Path) -> int:
    """Bytes of the file that are in the kernel's memory."""
    import numpy as np

    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        pages = (len(mapped) + mmap.PAGESIZE - 1) // mmap.PAGESIZE
        found = np.zeros(pages, np.uint8)
        at = np.frombuffer(mapped, np.uint8)
        done = libc.mincore(
            ctypes.c_void_p(at.ctypes.data), ctypes.c_size_t(len(mapped)), ctypes.c_void_p(found.ctypes.data)
        )
        del at  # before the map can be closed
        if done != 0:
            raise OSError(ctypes.get_errno(), "mincore")
    return int((found & 1).sum()) * mmap.PAGESIZE


def resident(path: Path) -> int:
    """Bytes of the file that this process has mapped and may touch at no cost."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split(None, 1)[0]
        if not first.endswith(":"):
            ours = line.endswith(str(path.resolve()))
        elif ours and first == "Rss:":
            total += int(line.split()[1]) * 1024
    return total


def supported() -> bool:
    return sys.platform == "linux"
