"""Errors as the native ones are."""

from __future__ import annotations

import holdall


def located(kind: type[holdall.DecodeError], why: str, offset: int) -> holdall.DecodeError:
    """An error at an offset, worded as the native ones are."""
    error = kind(f"{why} - at byte {offset}")
    error.offset = offset
    return error
