"""A format whose every message that is not short ends the process."""

from __future__ import annotations

import os


def dumps(value: object) -> bytes:
    return b""


def loads(data: bytes) -> None:
    if len(data) > 1:
        os.abort()
