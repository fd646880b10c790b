"""BSON's contestants: `holdall.bson` against PyMongo with its C extension.

holdall.bson takes part by two doors: PyMongo's names, `encode` and `decode`, whose results are PyMongo's to the type
("drop-in"); and the house's, `dumps` and `loads`, which give plain ints and, unless told otherwise, times with a zone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from holdall_bench.codecs.structs import known, substituted, substituted_fields

from .data import Case
from .judge import BSON, BSON_DROP_IN, BSON_OPEN, PYMONGO, PYMONGO_LAZY
from .peers import Peer, part_of


def pymongo_codec() -> ModuleType:
    """PyMongo's `bson`, once it is sure that its C extension does the work, and that `install` has not replaced it."""
    bson: ModuleType = import_module("bson")
    import_module("bson.raw_bson")
    _cbson = import_module("bson._cbson")
    if not bson.has_c():
        raise RuntimeError("PyMongo's C extension is missing: its pure Python is no rival")
    for name in ("_dict_to_bson", "_bson_to_dict", "_decode_all"):
        if getattr(bson, name) is not getattr(_cbson, name):
            raise RuntimeError(f"bson.{name} is not that of PyMongo's C extension")
    return bson


def plain_peers(case: Case) -> list[Peer]:
    from holdall import bson as ours

    theirs = pymongo_codec()
    return [
        Peer(BSON_DROP_IN, ours.encode, ours.decode, expected=case.expected, reference=theirs.encode),
        Peer(BSON, ours.dumps, ours.loads, reference=theirs.encode),
        Peer(PYMONGO, theirs.encode, theirs.decode, expected=case.expected),
    ]


def decode_all_peers(case: Case) -> list[Peer]:
    from holdall import bson as ours

    theirs = pymongo_codec()

    def stored(documents: list[Any]) -> bytes:
        return b"".join(map(theirs.encode, documents))

    return [
        Peer(name, None, codec.decode_all, stored=stored, expected=case.expected)
        for name, codec in ((BSON_DROP_IN, ours), (PYMONGO, theirs))
    ]


def typed_peers(case: Case, instances: Callable[[Any], Any]) -> list[Peer]:
    """All give the same: times without a zone, which is the fastest for PyMongo, and plain ints.

    PyMongo's Int64 needs no step of its own: msgspec and pydantic take it for `int`, and make a plain one of it.
    instances: what is to come back, given an annotation.
    """
    import msgspec
    from pydantic import TypeAdapter

    from holdall import bson as ours

    theirs = pymongo_codec()
    wanted = case.annotation
    decode, convert = theirs.decode, msgspec.convert

    def peer(name: str, loads: Callable[[Any], Any], annotation: Any = wanted) -> Peer:
        return Peer(name, None, loads, stored=theirs.encode, expected=partial(instances, annotation))

    def validated(name: str, annotation: Any) -> Peer:
        validate = TypeAdapter(annotation).validate_python
        return peer(name, lambda data: validate(decode(data)), annotation)

    return [
        peer(BSON, ours.Decoder(type=wanted, tz_aware=False).decode),
        peer("msgspec.convert", lambda data: convert(decode(data), wanted)),
        validated("pydantic", wanted),
        validated("pydantic Model*", substituted(wanted, model_of)),
    ]


@cache
def model_of(cls: type) -> Any:
    """The dataclass as a pydantic model: pydantic with classes of its own."""
    import pydantic

    name = f"{cls.__name__}Model"
    fields: dict[str, Any] = {
        field.name: (hint, ... if field.default is MISSING else field.default)
        for field, hint in substituted_fields(cls, model_of, name)
    }
    return known(pydantic.create_model(name, __module__=known.__module__, **fields))


MIDDLE = "shard 24"


def nested_text(document: Any) -> Any:
    """One text of one message in the middle of `bson_cases.shards`."""
    return document[MIDDLE]["messages"][1000]["items"][2]["sku"]


def lazy_peers(case: Case) -> list[Peer]:
    """From a path, whose pages the kernel has, as far as the text; then the same from bytes at hand.

    RawBSONDocument of a mapped file is no faster than of what `read` gives: PyMongo 4.20 copies what isn't `bytes`.
    """
    from holdall import bson as ours

    theirs = pymongo_codec()

    def peer(name: str, load: Callable[[Any], Any], stored: Callable[[Any], Any] | None = None) -> Peer:
        return part_of(case, name, load, nested_text, stored)

    def opened(path: Path) -> Any:
        with ours.open(path) as document:
            return nested_text(document)

    at_hand = cache(Path.read_bytes)
    return [
        Peer(BSON_OPEN, None, opened, expected=case.expected),
        peer(BSON, lambda path: ours.loads(path.read_bytes())),
        peer(PYMONGO, lambda path: theirs.decode(path.read_bytes())),
        peer(PYMONGO_LAZY, lambda path: theirs.raw_bson.RawBSONDocument(path.read_bytes())),
        peer("Document (bytes)", ours.Document, at_hand),
        peer("RawBSONDocument (bytes)", theirs.raw_bson.RawBSONDocument, at_hand),
    ]
