"""Errors in the wording of the native ones."""

from __future__ import annotations

import holdall


def located(kind: type[holdall.DecodeError], why: str, offset: int) -> holdall.DecodeError:
    """An error at an offset, worded like the native ones."""
    error = kind(f"{why} - at byte {offset}")
    error.offset = offset
    return error
