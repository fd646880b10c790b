"""The contestants: those of `holdall bench`, and holdall as its users call it.

A contestant takes part wherever it can store the data. Whether what it restores is right is checked before it is
timed (`measure.py`); one that gives back something else is shown as such and never counts as a rival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import holdall
from holdall import msgpack
from holdall_bench.codecs import Unsuitable, by_name
from holdall_bench.codecs.structs import map_struct_of, substituted
from holdall_bench.data import Subject, subject

from .data import Case

Function = Callable[[Any], Any]
# What codecs of the table are called here, where the bytes are MessagePack's unless a name says otherwise. `*`: in classes of its own.
OURS = {
    "pickle 5": "pickle",
    "msgspec typed": "msgspec.msgpack typed",
    "msgspec Struct*": "msgspec.msgpack Struct",
    "floor": "lower bound",
    "floor clone": "lower bound, clone",
}


@dataclass(frozen=True)
class Peer:
    """One way to store and restore.

    convert: the same data in the classes this contestant wants, if it wants its own.
    stored: what `loads` reads; by default what `dumps` gave, or the data as they are where it gives nothing.
    bound: not a rival but the lower bound: no format, no checks.
    expected: what `loads` is to give, where it isn't what was stored.
    reference: makes the bytes that `dumps` has to give, where there is one right answer.
    before: called before each timed `dumps`, outside of its time.
    loads_timed: False where `loads` is only there to check what `dumps` wrote.
    """

    name: str
    dumps: Function | None
    loads: Function
    convert: Function | None = None
    stored: Function | None = None
    bound: bool = False
    # How the two are timed where items go one by one: each result is dropped before the next, as a queue's are.
    timed_dumps: Function | None = None
    timed_loads: Function | None = None
    expected: Callable[[], Any] | None = None
    reference: Function | None = None
    before: Callable[[], None] | None = None
    loads_timed: bool = True

    def each(self) -> Peer:
        """The same, for the items of a list one by one."""

        def items(function: Function | None) -> Function | None:
            return None if function is None else partial(over, function)

        return replace(
            self,
            dumps=items(self.dumps),
            loads=partial(over, self.loads),
            convert=items(self.convert),
            stored=items(self.stored),
            reference=items(self.reference),
            timed_dumps=None if self.dumps is None else partial(one_by_one, self.dumps),
            timed_loads=partial(one_by_one, self.loads),
        )


def over(function: Function, items: list[Any]) -> list[Any]:
    return list(map(function, items))


def one_by_one(function: Function, items: list[Any]) -> None:
    deque(map(function, items), maxlen=0)


def of_the_table(names: Iterable[str], data: Subject) -> list[Peer]:
    """Those that are installed and take such data."""
    peers = []
    for name in names:
        codec = by_name(OURS.get(name, name))
        try:
            ends = codec.make(import_module(codec.module), data)
        except (ImportError, Unsuitable):
            continue
        peers.append(Peer(name, ends.dumps, ends.loads, ends.convert, ends.stored, codec.bound))
    return peers


def ours(case: Case) -> list[Peer]:
    for cls in case.classes:
        holdall.register(cls)
    peers = [Peer("holdall", holdall.dumps, holdall.loads)]
    if not case.identity:
        peers.append(Peer("holdall refs=False", partial(holdall.dumps, refs=False), holdall.loads))
    if not case.classes:
        peers.append(Peer("holdall intern=True", partial(holdall.dumps, intern=True), holdall.loads))
    if case.each:
        peers.append(Peer("holdall Encoder", holdall.Encoder().encode, holdall.Decoder().decode))
    if not case.classes and not case.identity:
        peers.append(Peer("holdall.msgpack", msgpack.dumps, msgpack.loads))
    return peers


def untyped_peers(case: Case) -> list[Peer]:
    names = ["pickle 5", *([] if case.identity else ["marshal", "pyfory"]), "pyfory refs"]
    if not case.identity:  # a format without references can't take a cycle, however long it tries
        names += ["msgspec.msgpack", "msgspec typed", "msgspec Struct*", "ormsgpack", "orjson"]
    names += ["cloudpickle"] * (case.name == "arrays")
    return ours(case) + of_the_table([*names, "floor", "floor clone"], subject(case, case.make()))


def typed_peers(case: Case) -> list[Peer]:
    """Encoders and decoders kept, for all alike: the fastest way to use each."""
    wanted = case.annotation
    peers = [
        Peer("holdall", holdall.Encoder().encode, holdall.Decoder(type=wanted).decode),
        Peer("holdall.msgpack", msgpack.Encoder().encode, msgpack.Decoder(type=wanted).decode),
    ]
    if case.expected is None:
        return peers + of_the_table(
            ["pickle 5", "msgspec typed", "msgspec Struct*"], subject(case, case.make())
        )
    # What is stored has no classes, and is read as maps.
    import msgspec

    encode, structs = msgspec.msgpack.Encoder().encode, substituted(wanted, map_struct_of)
    peers.append(Peer("msgspec typed", encode, msgspec.msgpack.Decoder(wanted).decode))
    same = [loads_only(peer, case.expected) for peer in peers]
    own = Peer("msgspec Struct*", encode, msgspec.msgpack.Decoder(structs).decode)
    return [*same, loads_only(own, partial(case.made, structs))]


def loads_only(peer: Peer, expected: Callable[[], Any]) -> Peer:
    return Peer(peer.name, None, peer.loads, stored=peer.dumps, expected=expected)


def part_of(case: Case, name: str, load: Function, part: Function, stored: Function | None = None) -> Peer:
    """Who reads all to get at a part. All of it leaves with the part, so that the time to free it is nobody's."""

    def both(given: Any) -> tuple[Any, Any]:
        found = load(given)
        return found, part(found)

    return Peer(
        name, None, lambda given: both(given)[1], timed_loads=both, stored=stored, expected=case.expected
    )


def peers_of(case: Case) -> list[Peer]:
    find = case.contestants or (typed_peers if case.typed else untyped_peers)
    peers = find(case)
    return [peer.each() for peer in peers] if case.each else peers
