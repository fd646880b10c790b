"""The lower bound, a C extension for CPython 3.11: `floor.c` says what it does. Built once, when asked for, into the
user's cache: `holdall bench --build-floor`.

`clone`, `walk`, `walk_memo`, `unwalk` and `unwalk_memo` are here once it is. Until then the import of this module raises
ImportError, which says how.
"""

from __future__ import annotations

from typing import Any

from .floor_build import load

_extension = load()


def __getattr__(name: str) -> Any:
    return getattr(_extension, name)
