"""BSON's data sets, and what has to come back from them, told in plain Python by neither contestant.

BSON keeps whole milliseconds and knows no classes, so messages lose their microseconds and serbench is plain dicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from holdall_bench.suites.bakeoff import messages
from holdall_bench.suites.documents import DOCUMENTS, document
from holdall_bench.suites.instances import build
from holdall_bench.suites.models import Foo, Message
from holdall_bench.suites.serbench import serbench

from . import bson_peers
from .data import PARTS, Case, row, scratch_folder

SHARDS = 48  # of 2,000 messages and 3.1 MB each: a document of 150 MB
INT32 = range(-(1 << 31), 1 << 31)


def bson_document(name: str) -> dict[str, Any]:
    """One of the JSON documents; a list is wrapped, since the root of BSON is a document."""
    data = document(name)
    return data if isinstance(data, dict) else {"root": data}


def bson_messages() -> list[dict[str, Any]]:
    """`messages` with times of whole milliseconds."""
    made = messages()
    for message in made:
        for key in ("created", "updated"):
            moment = message[key]
            message[key] = moment - timedelta(microseconds=moment.microsecond % 1000)
    return made


def bson_serbench() -> dict[str, Any]:
    return {key: [asdict(foo) for foo in foos] for key, foos in serbench().items()}


def zoneless(data: Any) -> Any:
    """UTC without a zone: what PyMongo makes of times by default, its fastest way."""
    kind = type(data)
    if kind is dict:
        return {key: zoneless(value) for key, value in data.items()}
    if kind is list:
        return [zoneless(item) for item in data]
    return data.replace(tzinfo=None) if kind is datetime else data


def as_pymongo(data: Any) -> Any:
    """What PyMongo's names give back: times like `zoneless`, and ints that take 64 bits as Int64."""
    from bson.int64 import Int64

    kind = type(data)
    if kind is dict:
        return {key: as_pymongo(value) for key, value in data.items()}
    if kind is list:
        return [as_pymongo(item) for item in data]
    if kind is int and data not in INT32:
        return Int64(data)
    return zoneless(data)


def zoneless_messages() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = zoneless(bson_messages())
    return made


def shards() -> Path:
    """A file of one document: `SHARDS` members, each a document whose array `messages` holds 2,000 of them."""
    bson = bson_peers.pymongo_codec()
    shard = bson.raw_bson.RawBSONDocument(bson.encode({"messages": bson_messages()}))
    path = Path(scratch_folder().name) / "shards.bson"
    path.write_bytes(bson.encode({f"shard {number:02}": shard for number in range(SHARDS)}))
    return path


def text_in_shards() -> Any:
    return bson_peers.nested_text({bson_peers.MIDDLE: {"messages": bson_messages()}})


def plain(name: str, title: str, make: Callable[[], Any], document: str = "", **others: Any) -> Case:
    """A row of both doors, both ways."""
    expected = partial(expected_of, make)
    others = {"contestants": bson_peers.plain_peers, "expected": expected} | others
    return row(f"bson_{name}", f"BSON: {title}", make, document, **others)


def expected_of(make: Callable[[], Any]) -> Any:
    return as_pymongo(make())


def typed(
    name: str, title: str, annotation: Any, make: Callable[[], Any], document: str = "", each: bool = False
) -> Case:
    """A row about loads: plain dicts are stored, and instances asked for."""

    def instances(of: Any) -> Any:
        return [build(of, item) for item in make()] if each else build(of, make())

    peers = partial(bson_peers.typed_peers, instances=instances)
    others = {"each": each, "typed": True, "annotation": annotation, "contestants": peers}
    return row(f"bson_typed_{name}", f"BSON, typed: {title}", make, document, **others)


def bson_cases() -> list[Case]:
    lazy = f"lazy: one text deep in a document of 150 MB ({SHARDS} x 2,000 messages)"
    nested, foos = (
        "2,000 messages as nested dataclasses one by one",
        "serbench at 1/10 as slotted dataclasses",
    )
    whole, together = "2,000 messages of 1.6 kB one by one", "2,000 messages of 1.6 kB by decode_all"
    part = "part of {}.json as dataclasses"
    return [
        *[
            plain(name.removesuffix("_catalog"), f"{name}.json", partial(bson_document, name), name)
            for name in DOCUMENTS
        ],
        plain("messages", whole, bson_messages, each=True),
        plain("messages_all", together, bson_messages, contestants=bson_peers.decode_all_peers),
        plain("serbench", "serbench at 1/10 as dicts", bson_serbench),
        *[
            typed(name.removesuffix("_catalog"), part.format(name), kind, partial(bson_document, name), name)
            for name, kind in PARTS.items()
        ],
        typed("messages", nested, Message, zoneless_messages, each=True),
        typed("serbench", foos, dict[str, list[Foo]], bson_serbench),
        row("bson_lazy", f"BSON, {lazy}", shards, contestants=bson_peers.lazy_peers, expected=text_in_shards),
    ]
