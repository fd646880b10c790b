"""Values of every size that MessagePack's streams are tried with."""

from __future__ import annotations

from holdall.msgpack import Ext

BIG = "text" * 100_000
VALUES = [
    None,
    -1,
    "é",
    [],
    {"a": [1, 2.5, {"b": b"\x00"}]},
    Ext(7, b"xyz"),
    "x" * 300,
    [[[]]],
    list(range(70_000)),
    {1: (True, False)},
    BIG,
]
