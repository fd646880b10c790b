"""The contestants, each used the way that is fastest for it.

A contestant takes part wherever it can store the data. Whether what it restores is right is checked before it is
timed (`check.py`); one that gives back something else is shown as such and never counts as a rival.
"""

from __future__ import annotations

import marshal
import pickle
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

import holdall
from bench.data import Case
from holdall import msgpack
from holdall_bench.codecs.graphs import fory_for

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Peer:
    """One way to store and restore.

    convert: the same data in the classes this contestant wants, if it wants its own.
    stored: what `loads` reads; by default what `dumps` gave.
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


def ours(case: Case) -> list[Peer]:
    for cls in case.classes:
        holdall.register(cls)
    peers = [Peer("holdall", holdall.dumps, holdall.loads)]
    if not case.graph:
        peers.append(Peer("holdall refs=False", partial(holdall.dumps, refs=False), holdall.loads))
    if not case.classes:
        peers.append(Peer("holdall intern=True", partial(holdall.dumps, intern=True), holdall.loads))
    if case.each:
        peers.append(Peer("holdall Encoder", holdall.Encoder().encode, holdall.Decoder().decode))
    if not case.classes and not case.graph:
        peers.append(Peer("holdall.msgpack", msgpack.dumps, msgpack.loads))
    return peers


def standard(case: Case) -> list[Peer]:
    peers = [Peer("pickle 5", partial(pickle.dumps, protocol=5), pickle.loads)]
    if not case.graph:
        peers.append(Peer("marshal", marshal.dumps, marshal.loads))
    return peers


def msgspec_peers(case: Case) -> list[Peer]:
    try:
        from msgspec.msgpack import Decoder, Encoder

        from bench.rows import TYPED
    except ImportError:
        return []
    encode = Encoder().encode
    peers = [Peer("msgspec.msgpack", encode, Decoder().decode)]
    if case.name in TYPED:
        plain, rows, convert = TYPED[case.name]
        peers.append(Peer("msgspec typed", encode, Decoder(plain).decode))
        peers.append(Peer("msgspec Struct*", encode, Decoder(rows).decode, convert=convert))
    return peers


def binary_peers(case: Case) -> list[Peer]:
    peers = []
    try:
        import ormsgpack
    except ImportError:
        pass
    else:
        option = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_DATETIME_AS_TIMESTAMP_EXT if case.each else 0
        dumps = partial(ormsgpack.packb, option=option) if option else ormsgpack.packb
        loads = partial(ormsgpack.unpackb, option=option) if option else ormsgpack.unpackb
        peers.append(Peer("ormsgpack", dumps, loads))
    try:
        import orjson
    except ImportError:
        pass
    else:
        peers.append(Peer("orjson", orjson.dumps, orjson.loads))
    try:
        import cloudpickle
    except ImportError:
        pass
    else:
        if case.name == "arrays":
            peers.append(Peer("cloudpickle", partial(cloudpickle.dumps, protocol=5), cloudpickle.loads))
    return peers


def pyfory_peers(case: Case) -> list[Peer]:
    try:
        import pyfory
    except ImportError:
        return []

    def peer(name: str, ref: bool) -> Peer:
        fory = fory_for(pyfory, case.classes, ref)
        return Peer(name, fory.dumps, fory.loads)

    refs = peer("pyfory refs", True)
    return [refs] if case.graph else [peer("pyfory", False), refs]


def floor_peers(case: Case, floor: ModuleType | None) -> list[Peer]:
    """The lower bound of `../shared/floor`: objects walked and made with no format at all."""
    if floor is None:
        return []
    if case.graph:
        return [
            Peer(
                "floor",
                floor.walk_memo,
                floor.unwalk_memo,
                stored=lambda data: floor.walk_memo(data, True),
                bound=True,
            )
        ]
    return [
        Peer("floor", floor.walk, floor.unwalk, stored=lambda data: floor.walk(data, True), bound=True),
        Peer("floor clone", None, floor.clone, stored=lambda data: data, bound=True),
    ]


def typed_peers(case: Case) -> list[Peer]:
    """Encoders and decoders kept, for all alike: the fastest way to use each."""
    wanted = case.annotation
    peers = [
        Peer("holdall", holdall.Encoder().encode, holdall.Decoder(type=wanted).decode),
        Peer("holdall.msgpack", msgpack.Encoder().encode, msgpack.Decoder(type=wanted).decode),
    ]
    if case.expected is None:
        peers.append(Peer("pickle 5", partial(pickle.dumps, protocol=5), pickle.loads))
    else:
        peers = [loads_only(peer, case.expected) for peer in peers]
    return peers + typed_msgspec_peers(case)


def typed_msgspec_peers(case: Case) -> list[Peer]:
    try:
        from msgspec.msgpack import Decoder, Encoder

        from bench.rows import STRUCTS
    except ImportError:
        return []
    encode = Encoder().encode
    structs = STRUCTS[case.name]
    same = Peer("msgspec typed", encode, Decoder(case.annotation).decode)
    own = Peer("msgspec Struct*", encode, Decoder(structs.annotation).decode, convert=structs.convert)
    if case.expected is None or structs.expected is None:
        return [same, own]
    return [loads_only(same, case.expected), loads_only(own, structs.expected)]


def loads_only(peer: Peer, expected: Callable[[], Any]) -> Peer:
    return Peer(peer.name, None, peer.loads, stored=peer.dumps, expected=expected)


def peers_of(case: Case, floor: ModuleType | None) -> list[Peer]:
    if case.contestants is not None:
        peers = case.contestants(case)
        return [peer.each() for peer in peers] if case.each else peers
    if case.annotation is not None:
        peers = typed_peers(case)
        return [peer.each() for peer in peers] if case.each else peers
    peers = [*ours(case), *standard(case), *pyfory_peers(case)]
    if not case.graph:  # a format without references can't take a cycle, however long it tries
        peers += [*msgspec_peers(case), *binary_peers(case)]
    peers += floor_peers(case, floor)
    return [peer.each() for peer in peers] if case.each else peers
