"""Julia's contestants. Python has no other reader of such files, so these stand beside `holdall.julia`:

- BSON codecs, on the same bytes and the tree of tagged documents in them: what could be done with a file so far;
- pickle, with the same instances in a format of its own;
- BSON.jl and BSONqs, by what they took on another machine, scaled by a job that was timed there and is timed here
  (`targets.Elsewhere`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from holdall_bench.suites.models import Bar, Baz, Foo
from holdall_bench.suites.structures import samples

from .bson_peers import pymongo_codec
from .data import Case
from .files_peers import Load, load_npz, savez, summary
from .judge import BSON_DROP_IN, JULIA, JULIA_MMAP, JULIA_OPEN, PYMONGO, READ, YARDSTICK
from .peers import Peer, part_of


def map_classes() -> None:
    """Julia's types of serbench are the bench's classes in this process from here on."""
    from holdall import julia

    for cls in (Foo, Bar, Baz):
        julia.struct(f"serbench.{cls.__name__}", cls)


def loaded_counts_type() -> Any:
    """The type of `Bar.counts` as a load leaves it: one that several values have stands apart, and remembers that."""
    from holdall import julia

    counts_type: Any = julia.Type.parse("Dict{String,UInt64}")
    several = {name: julia.Dict({name: 1}, type=counts_type) for name in "ab"}
    return julia.loads(julia.dumps(several))["a"].type


def tagged(data: dict[str, list[Foo]]) -> dict[str, Any]:
    """The documents that Julia's writers make of serbench's, told in plain Python. Nothing in them is shared."""
    from bson.int64 import Int64

    def datatype(*name: str, params: tuple[Any, ...] = ()) -> dict[str, Any]:
        return {"tag": "datatype", "params": list(params), "name": list(name)}

    def struct(kind: dict[str, Any], *values: Any) -> dict[str, Any]:
        return {"tag": "struct", "type": kind, "data": list(values)}

    def counts(table: dict[str, int]) -> dict[str, Any]:
        values = {
            "tag": "array",
            "type": datatype("Core", "UInt64"),
            "size": [Int64(len(table))],
            "data": b"".join(value.to_bytes(8, "little") for value in table.values()),
        }
        return struct({"tag": "backref", "ref": Int64(1)}, list(table), values)

    def baz(x: Baz) -> dict[str, Any]:
        return struct(datatype("serbench", "Baz"), x.first, x.second)

    def bar(x: Bar) -> dict[str, Any]:
        return struct(datatype("serbench", "Bar"), Int64(x.number), list(map(baz, x.bazs)), counts(x.counts))

    def foo(x: Foo) -> dict[str, Any]:
        texts = (x.agency, x.software, x.management, x.consultant, x.remark)
        return struct(datatype("serbench", "Foo"), *texts, list(map(bar, x.bars)))

    table = datatype("Main", "Base", "Dict", params=(datatype("Core", "String"), datatype("Core", "UInt64")))
    return {key: list(map(foo, foos)) for key, foos in data.items()} | {"_backrefs": [table]}


def once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Its first result, kept for all who ask: the argument is always the same data."""
    made: list[Any] = []

    def kept(argument: Any) -> Any:
        if not made:
            made.append(function(argument))
        return made[0]

    return kept


def document_peers(case: Case) -> list[Peer]:
    """What we write has to be the bytes that PyMongo makes of the tree."""
    from holdall import bson, julia

    map_classes()
    theirs = pymongo_codec()
    tree = once(tagged)

    def codec(name: str, encode: Callable[[Any], bytes], decode: Callable[[Any], Any]) -> Peer:
        return Peer(
            name,
            encode,
            # Compared here and now: a tree of millions of dicts takes minutes to compare type by type.
            lambda data: decode(data) == tree(None),
            convert=tree,
            timed_loads=decode,
            expected=lambda: True,
        )

    return [
        Peer(JULIA, julia.dumps, julia.loads, reference=lambda data: theirs.encode(tree(data))),
        replace(codec(BSON_DROP_IN, bson.encode, bson.decode), reference=theirs.encode),
        codec(PYMONGO, theirs.encode, theirs.decode),
        Peer("pickle 5", partial(pickle.dumps, protocol=5), pickle.loads),
    ]


def full_peers(case: Case) -> list[Peer]:
    """The same, and the job by which the times of another machine are scaled."""

    def stored(data: Any) -> bytes:
        return pickle.dumps(samples(), 5)

    return [*document_peers(case), Peer(YARDSTICK, None, pickle.loads, stored=stored, expected=samples)]


def array_peers(case: Case) -> list[Peer]:
    """From a path, whose pages the kernel has."""
    from holdall import julia

    def peer(name: str, load: Load, stored: Load | None = None) -> Peer:
        loads = lambda path: summary(load(path))  # noqa: E731
        return Peer(name, None, loads, timed_loads=load, stored=stored, expected=case.expected)

    def length_is_right(path: Path) -> bool:
        return len(path.read_bytes()) == path.stat().st_size

    @cache
    def as_npz(path: Path) -> Path:
        archive = path.with_suffix(".npz")
        savez(julia.load(path, mmap=True), archive)
        return archive

    return [
        peer(JULIA, julia.load),
        peer(JULIA_MMAP, partial(julia.load, mmap=True)),
        Peer(READ, None, length_is_right, timed_loads=Path.read_bytes, expected=lambda: True),
        peer("numpy.load (npz)", load_npz, as_npz),
    ]


def nested_text(document: dict[str, list[Foo]]) -> str:
    """One text of one Baz in the middle."""
    bars = document["Foo2"][1].bars
    return bars[len(bars) // 2].bazs[25].first


def lazy_peers(case: Case) -> list[Peer]:
    """From a path, whose pages the kernel has, as far as the text."""
    from holdall import julia

    map_classes()

    def opened(path: Path) -> Any:
        with julia.open(path) as document:
            bars = document["Foo2"][1]["bars"]
            return bars[len(bars) // 2]["bazs"][25]["first"]

    return [
        Peer(JULIA_OPEN, None, opened, expected=case.expected),
        part_of(case, JULIA, julia.load, nested_text),
    ]
