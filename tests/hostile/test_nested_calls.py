"""A hook that loads what it is given: how often it comes to that is up to the data, and each time takes more of the stack than CPython counts."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import holdall


class Envelope:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


@pytest.fixture(autouse=True)
def _registered() -> None:
    holdall.register(
        Envelope,
        name="nested_calls.Envelope",
        encode=lambda envelope: envelope.inner,
        decode=lambda inner: Envelope(holdall.loads(inner) if isinstance(inner, bytes) else inner),
    )


def nested(levels: int) -> bytes:
    message = holdall.dumps(1)
    for _ in range(levels):
        message = holdall.dumps([Envelope(message)])
    return message


def told(levels: int) -> str:
    try:
        holdall.loads(nested(levels))
    except RecursionError as error:
        return str(error)
    return "loaded"


@pytest.mark.parametrize("size", [0, 256 << 10, 512 << 10, 4 << 20])
def test_messages_within_messages(size: int) -> None:
    found: list[str] = []
    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=lambda: found.extend(map(told, (10, 100, 1_000, 3_000))))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found[0] == "loaded"
    # The second since 3.14, where CPython looks at the stack itself.
    refusals = ("maximum recursion depth exceeded", "Stack overflow")
    assert all(each.startswith(refusals) for each in found[2:])
