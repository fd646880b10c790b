"""Those that take Python's objects as they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from .base import Codec, Ends, Unsuitable

if TYPE_CHECKING:
    from ..data import Subject


def pyfory(pyfory: Any, subject: Subject, refs: bool) -> Ends:
    if not refs and subject.data.identity and subject.data.deep:
        raise Unsuitable("no cycles")
    fory = fory_for(pyfory, subject.classes, refs)
    return Ends(fory.dumps, fory.loads)


def fory_for(pyfory: Any, classes: Iterable[type], refs: bool) -> Any:
    """In its native mode, with its safety limits raised so that large data fit at all."""
    fory = pyfory.Fory(
        xlang=False,
        ref=refs,
        strict=True,
        max_depth=1_000_000_000,
        max_graph_memory_bytes=1 << 40,
        max_unbacked_container_items=1 << 40,
    )
    for cls in classes:
        fory.register(cls)
    return fory


def pickle_like(module: Any, subject: Subject) -> Ends:
    return Ends(lambda value: module.dumps(value, 5), module.loads)


def quickle(quickle: Any, subject: Subject) -> Ends:
    """Its Structs apart, it takes builtin values and enums only."""
    return Ends(quickle.Encoder().dumps, quickle.Decoder().loads)


GRAPHS = (
    Codec(
        "pyfory",
        "pyfory",
        "pyfory",
        "any tree, classes registered",
        "`Fory(ref=False)`, native mode",
        partial(pyfory, refs=False),
    ),
    Codec(
        "pyfory refs",
        "pyfory",
        "pyfory",
        "most graphs, classes registered",
        "`Fory(ref=True)`, native mode",
        partial(pyfory, refs=True),
    ),
    Codec("cloudpickle", "cloudpickle", "cloudpickle", "any graph; runs code", "protocol 5", pickle_like),
    Codec("dill", "dill", "dill", "any graph; runs code", "protocol 5", pickle_like),
    Codec(
        "quickle",
        "quickle",
        "quickle",
        "graphs of builtin values",
        "`Encoder().dumps`, `Decoder().loads`",
        quickle,
    ),
)
