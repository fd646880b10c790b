"""One data set against every contestant: sizes, verdicts, times. Runs in a process of its own."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Any

from holdall_bench.fidelity import compare, compare_each
from holdall_bench.floor_build import NotBuilt, build
from holdall_bench.isolate import Child, Crashed, with_deep_stack
from holdall_bench.results import CHANGED, COPIES, FAILED, SAME, Change, Fidelity

from .data import Case
from .peers import Peer, peers_of
from .timing import Budget, Job, interleave

# Who gives back this does the job, so that his time is worth comparing.
RESTORED = (SAME, COPIES)


def measure(case: Case, budget: Budget, collectors: list[bool]) -> dict[str, Any]:
    """A JSON-ready record of everything measured for `case`."""
    run = partial(measure_here, case, budget, collectors)
    return with_deep_stack(run) if case.deep else run()


def measure_here(case: Case, budget: Budget, collectors: list[bool]) -> dict[str, Any]:
    no_floor = lower_bound()
    peers = peers_of(case)
    converted = convert(case, peers)
    # What the libraries and other classes' copies of the data weigh must not slow down anyone's collector.
    gc.collect()
    gc.freeze()
    data = case.make()
    verdicts: dict[str, Fidelity] = {}
    sizes: dict[str, int] = {}
    stores: list[Job] = []
    restores: list[Job] = []
    for peer in peers:
        own = converted.get(peer.name, data)
        expected = own if peer.expected is None else peer.expected()
        verdict = check(peer, own, expected, case.each)
        del expected
        if peer.bound and verdict.verdict not in RESTORED:
            continue  # it takes few types; that says nothing about anyone
        verdicts[peer.name] = verdict
        if verdict.verdict not in RESTORED:
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
        "graph": case.identity,
        "typed": case.typed,
        "records": case.records,
        "note": no_floor,
        "sizes": sizes,
        "verdicts": {
            name: {"kind": found.verdict, "detail": found.tells} for name, found in verdicts.items()
        },
        "times": {
            "on" if collect else "off": {"dumps": dumps[i], "loads": loads[i]}
            for i, collect in enumerate(collectors)
        },
    }


def lower_bound() -> str:
    """Build it, if that can be done; else the reason."""
    try:
        build()
    except NotBuilt as reason:
        return f"no lower bound: {reason}"
    return ""


def convert(case: Case, peers: list[Peer]) -> dict[str, Any]:
    """The data in the classes of those contestants that want their own."""
    wanting = {peer.name: peer.convert for peer in peers if peer.convert is not None}
    if not wanting:
        return {}
    data = case.make()
    return {name: function(data) for name, function in wanting.items()}


def stored_form(peer: Peer, data: Any) -> Any:
    store = peer.stored or peer.dumps
    return store(data) if store else data


def size_of(stored: Any) -> int:
    """Bytes, or those of a file."""
    return stored.stat().st_size if isinstance(stored, Path) else len(stored)


def round_trip(peer: Peer, data: Any, expected: Any, each: bool = False) -> Fidelity:
    """What it changes. each: of items that are stored one by one."""
    try:
        stored = stored_form(peer, data)
        if peer.reference is not None and stored != peer.reference(data):
            return Fidelity(CHANGED, [Change("it writes other bytes", 1)])
        restored = peer.loads(stored)
    except Exception as error:  # whatever a peer raises is its answer
        return Fidelity(FAILED, reason=f"{type(error).__name__}: {error}")
    return (compare_each if each else compare)(expected, restored)


def check(peer: Peer, data: Any, expected: Any, each: bool) -> Fidelity:
    """The same in a child, since some contestants crash."""
    try:
        found: Fidelity = Child(partial(round_trip, peer, data, expected, each)).result()
    except (Crashed, RuntimeError) as error:
        return Fidelity(FAILED, reason=f"crashes with {error}")
    return found
