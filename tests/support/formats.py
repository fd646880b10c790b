"""The formats, by one name for each thing they do: a test that takes the fixture `fmt` runs on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import holdall
from holdall import msgpack


class Format(NamedTuple):
    name: str
    dumps: Callable[..., bytes]
    loads: Callable[..., Any]
    decoder: Callable[..., Any]
    # Whether it has nothing but numbers, text, bytes, lists and maps: other types are told by the annotation alone.
    plain: bool


FORMATS = {
    "hold": Format("hold", holdall.dumps, holdall.loads, holdall.Decoder, False),
    "msgpack": Format("msgpack", msgpack.dumps, msgpack.loads, msgpack.Decoder, True),
}
