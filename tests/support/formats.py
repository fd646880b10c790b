"""The formats, by one name for each thing they do: a test that takes the fixture `fmt` runs on all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import holdall
from holdall import bson, msgpack


class Format(NamedTuple):
    name: str
    dumps: Callable[..., bytes]
    loads: Callable[..., Any]
    decoder: Callable[..., Any]
    # Whether it has nothing but numbers, text, bytes, lists and maps: other types are told by the annotation alone.
    plain: bool
    # Whether keys are text: other keys are stored as their text, and come back as such but for the annotation.
    text_keys: bool = False
    # Of what `dumps` gives, what stands before the value and behind it.
    head: int = 0
    tail: int = 0


# --- BSON, whose outermost value is a document -----------------------------------------------------------------------
# The key that a value has in the document which stands around it, and the step that errors name it by.
KEY = ""
STEP = "[...]"


@contextlib.contextmanager
def seen_from_within() -> Iterator[None]:
    """Errors as they were without the document around the value: its step must be there, and is taken away."""
    try:
        yield
    except holdall.ValidationError as error:
        said, _, way = str(error).rpartition(f" - at `${STEP}")
        assert said and error.path[0] is ..., error
        error.path = error.path[1:]
        error.args = (f"{said} - at `${way}" if error.path else said,)
        raise


def _around(options: dict[str, Any]) -> dict[str, Any]:
    """What the document is to be loaded as, with the value in it as what `type` says."""
    return {**options, "type": dict[str, options["type"]]} if "type" in options else options


def bson_dumps(value: Any, **options: Any) -> bytes:
    return bson.dumps({KEY: value}, **options)


def bson_loads(data: bytes, **options: Any) -> Any:
    with seen_from_within():
        return bson.loads(data, **_around(options))[KEY]


class BsonDecoder:
    def __init__(self, **options: Any) -> None:
        self._decode = bson.Decoder(**_around(options)).decode

    def decode(self, data: bytes) -> Any:
        with seen_from_within():
            return self._decode(data)[KEY]


FORMATS = {
    # Its version byte comes first.
    "hold": Format("hold", holdall.dumps, holdall.loads, holdall.Decoder, False, head=1),
    "msgpack": Format("msgpack", msgpack.dumps, msgpack.loads, msgpack.Decoder, True),
    # The document's length, then type and name; its end.
    "bson": Format("bson", bson_dumps, bson_loads, BsonDecoder, True, True, head=6, tail=1),
}
