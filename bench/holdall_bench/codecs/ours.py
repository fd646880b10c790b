"""holdall, in its formats and modes."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Codec, Ends, Unsuitable, only_arrays

if TYPE_CHECKING:
    from ..data import Subject


def ends(holdall: Any, subject: Subject, **options: Any) -> Ends:
    """Encoder and Decoder made once, with the classes permitted."""
    decoder = holdall.Decoder(types=subject.classes)
    return Ends(holdall.Encoder(**options).encode, decoder.decode)


def trees(holdall: Any, subject: Subject) -> Ends:
    if subject.data.identity:
        raise Unsuitable("for trees")
    return ends(holdall, subject, refs=False)


def typed(holdall: Any, subject: Subject) -> Ends:
    return Ends(holdall.Encoder().encode, typed_decoder(holdall, subject))


def typed_decoder(format: Any, subject: Subject) -> Any:
    if subject.data.annotation is None:
        raise Unsuitable("no type is known")
    return format.Decoder(type=subject.data.annotation).decode


def mapped(holdall: Any, subject: Subject) -> Ends:
    """To a file and back, where the arrays are views of it. Not synced: the others write to memory."""
    only_arrays(subject)
    path = scratch() / "data.hold"

    def dump(value: Any) -> Path:
        holdall.dump(value, path, sync=False)
        return path

    return Ends(dump, partial(holdall.load, mmap=True, types=subject.classes))


@cache
def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="holdall-bench-")


def scratch() -> Path:
    """A folder of this process for files; gone when it ends."""
    return Path(scratch_folder().name)


def plain(format: Any, subject: Subject) -> Ends:
    """MessagePack: no classes come back, unless by type."""
    if subject.data.annotation is not None and subject.classes:
        return Ends(format.Encoder().encode, typed_decoder(format, subject))
    return Ends(format.Encoder().encode, format.Decoder().decode)


def documents(bson: Any, subject: Subject) -> Ends:
    """BSON, whose outermost value is a document."""
    if isinstance(subject.sample, dict):
        return plain(bson, subject)
    if subject.data.annotation is not None and subject.data.each:
        return plain(bson, subject)
    return Ends(bson.Encoder().encode, bson.Decoder().decode).wrapped(in_document, out_of_document)


def in_document(value: Any) -> dict[str, Any]:
    return {"value": value}


def out_of_document(document: Any) -> Any:
    return document["value"]


OURS = (
    Codec(
        "holdall", "holdall", "holdall", "any graph", "`Encoder().encode`, `Decoder(types=…).decode`", ends
    ),
    Codec(
        "holdall refs=False",
        "holdall",
        "holdall",
        "any tree",
        "`Encoder(refs=False)`",
        trees,
    ),
    Codec("holdall typed", "holdall", "holdall", "any graph", "`Decoder(type=…)`, which validates", typed),
    Codec(
        "holdall canonical",
        "holdall",
        "holdall",
        "any graph",
        "`Encoder(canonical=True)`: equal graphs, equal bytes",
        partial(ends, canonical=True),
    ),
    Codec(
        "holdall mmap",
        "holdall",
        "holdall",
        "any graph",
        "`dump` to a file, `load(mmap=True)`; for arrays",
        mapped,
    ),
    Codec(
        "holdall.msgpack",
        "holdall",
        "holdall.msgpack",
        "trees; classes by type",
        "MessagePack: `Encoder`, `Decoder`, by type where there is one",
        plain,
    ),
    Codec(
        "holdall.bson",
        "holdall",
        "holdall.bson",
        "trees; classes by type",
        "BSON: `Encoder`, `Decoder`, by type where there is one",
        documents,
    ),
)
