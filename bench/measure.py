"""One data set against every contestant: sizes, verdicts, times. Runs in a process of its own."""

from __future__ import annotations

import gc
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.check import OtherBytes, Verdict, check
from bench.data import Case
from bench.peers import Peer, peers_of
from bench.timing import Budget, Job, interleave
from holdall_bench.floor_build import NotBuilt, build, load
from holdall_bench.isolate import with_deep_stack


def measure(case: Case, budget: Budget, collectors: list[bool]) -> dict[str, Any]:
    """A JSON-ready record of everything measured for `case`."""
    run = partial(measure_here, case, budget, collectors)
    return with_deep_stack(run) if case.deep else run()


def measure_here(case: Case, budget: Budget, collectors: list[bool]) -> dict[str, Any]:
    floor, no_floor = lower_bound()
    peers = peers_of(case, floor)
    converted = convert(case, peers)
    # What the libraries and other classes' copies of the data weigh must not slow down anyone's collector.
    gc.collect()
    gc.freeze()
    data = case.make()
    verdicts: dict[str, Verdict] = {}
    sizes: dict[str, int] = {}
    stores: list[Job] = []
    restores: list[Job] = []
    for peer in peers:
        own = converted.get(peer.name, data)
        expected = own if peer.expected is None else peer.expected()
        verdict = check(expected, partial(round_trip, peer, own), case.each)
        del expected
        if peer.bound and not verdict.counts:
            continue  # it takes few types; that says nothing about anyone
        verdicts[peer.name] = verdict
        if not verdict.counts:
            continue
        if peer.dumps is not None:
            stores.append(Job(peer.name, peer.timed_dumps or peer.dumps, own, peer.before))
        stored = stored_form(peer, own)
        if peer.loads_timed:
            restores.append(Job(peer.name, peer.timed_loads or peer.loads, stored))
        if not peer.bound:
            sizes[peer.name] = sum(map(size_of, stored)) if case.each else size_of(stored)
    dumps = [interleave(stores, budget, collect, case.apart) for collect in collectors]
    # Who stores objects holds them, and his collector walks them; who restores has only the bytes.
    gc.collect()
    gc.freeze()
    loads = [interleave(restores, budget, collect, case.apart) for collect in collectors]
    return {
        "case": case.name,
        "title": case.title,
        "ours": peers[0].name,
        "stand_in": case.stand_in,
        "graph": case.graph,
        "typed": case.annotation is not None,
        "records": case.records,
        "note": no_floor,
        "sizes": sizes,
        "verdicts": {name: asdict(verdict) for name, verdict in verdicts.items()},
        "times": {
            "on" if collect else "off": {"dumps": dumps[i], "loads": loads[i]}
            for i, collect in enumerate(collectors)
        },
    }


def lower_bound() -> tuple[ModuleType | None, str]:
    """The module, or None and why it isn't there."""
    try:
        build()
        return load(), ""
    except NotBuilt as reason:
        return None, f"no lower bound: {reason}"


def convert(case: Case, peers: list[Peer]) -> dict[str, Any]:
    """The data in the classes of those contestants that want their own."""
    wanting = {peer.name: peer.convert for peer in peers if peer.convert is not None}
    if not wanting:
        return {}
    data = case.make()
    return {name: function(data) for name, function in wanting.items()}


def stored_form(peer: Peer, data: Any) -> Any:
    store = peer.stored or peer.dumps
    assert store is not None
    return store(data)


def size_of(stored: Any) -> int:
    """Bytes, or those of a file."""
    return stored.stat().st_size if isinstance(stored, Path) else len(stored)


def round_trip(peer: Peer, data: Any) -> Any:
    stored = stored_form(peer, data)
    if peer.reference is not None and stored != peer.reference(data):
        raise OtherBytes("it writes other bytes")
    return peer.loads(stored)
