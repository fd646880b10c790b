"""Store and restore real object graphs with holdall and with those of its peers that can take them.

Times are medians of interleaved runs with the garbage collector on, as users run (`bench/targets/timing.py`). What each
contestant restores is compared with the original, object by object: type, bits, order, and who is shared with whom.
The comparison is that of `holdall bench`.
"""

from __future__ import annotations

import ast
import gc
import marshal
import math
import pickle
import time
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import msgspec
import orjson
from babel.dates import DateTimePattern
from babel.localedata import Alias
from babel.numbers import NumberPattern
from babel.plural import PluralRule
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import holdall
from bench.targets.measure import RESTORED, round_trip
from bench.targets.peers import Peer
from bench.targets.timing import Budget, Job, interleave, ratio
from demo import records
from demo.graphs import count_objects, import_graph, iso_databases, iso_registry, locale_data, syntax_trees
from holdall_bench.isolate import Child, with_deep_stack
from holdall_bench.results import COPIES, FAILED, SAME, Fidelity

BUDGET = Budget(seconds=1.0, min_rounds=2)
WIDTH = 110  # where there is no terminal to ask
STYLES = {SAME: "green", COPIES: "yellow"}


@dataclass(frozen=True)
class Row:
    """What one contestant did with one graph. Times are medians in ns; gains are pickle's time over this one's."""

    graph: str
    peer: str
    objects: int
    size: int
    times: tuple[float, float]
    gains: tuple[float, float]
    verdict: Fidelity


def main() -> None:
    started = time.perf_counter()
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    # pickle recurses: it gets the stack and the recursion limit that deep graphs need. holdall needs neither.
    rows = with_deep_stack(lambda: run(console))
    console.print(closing(rows))
    console.print(
        f"[dim]{time.perf_counter() - started:.0f} seconds in all, most of them pickle and the comparison[/]"
    )


def run(console: Console) -> list[Row]:
    """Measure graph after graph; each is printed as soon as it is done."""
    rows: list[Row] = []

    def show(title: str, data: Any, peers: list[Peer]) -> None:
        with console.status(f"storing and restoring {title}"):
            measured, refused = measure(title, data, peers)
        rows.extend(measured)
        console.print(table(title, measured))
        for name, reason in refused:
            console.print(f"  [dim]{name}: {escape(reason[:90])}[/]", highlight=False)
        console.print()

    with console.status("parsing the standard library"):
        trees = syntax_trees()
        modules = import_graph(trees)
    show(f"syntax trees of the {len(trees)} modules of the standard library", trees, tree_peers())
    del trees
    with console.status("reading Babel's locale data"):
        locales = locale_data()
    show(f"Babel's CLDR data, {len(locales):,} locales", locales, locale_peers())
    del locales
    databases = iso_databases()
    show("ISO languages, countries, currencies as dicts", databases, [ours(), *tree_formats()])
    show("the same as dataclasses", iso_registry(databases), registry_peers())
    show(f"who imports whom, {len(modules)} linked modules", modules, module_peers())
    return rows


def ours(types: Any = ()) -> Peer:
    return Peer("holdall", holdall.dumps, partial(holdall.loads, types=types))


def pickle5() -> Peer:
    return Peer("pickle 5", partial(pickle.dumps, protocol=5), pickle.loads)


def tree_formats() -> list[Peer]:
    return [
        pickle5(),
        Peer("marshal", marshal.dumps, marshal.loads),
        Peer("msgspec.msgpack", msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode),
        Peer("orjson", orjson.dumps, orjson.loads),
    ]


def tree_peers() -> list[Peer]:
    # One word permits the 100 classes of `ast`, and nothing else.
    return [ours(types=ast), *tree_formats()]


def locale_peers() -> list[Peer]:
    def rule(abstract: list[tuple[str, Any]]) -> PluralRule:
        made = PluralRule.__new__(PluralRule)
        made.abstract = abstract
        return made

    # PluralRule has a state of its own making (`__getstate__`), so holdall asks how to store it.
    holdall.register(PluralRule, encode=lambda plural: plural.abstract, decode=rule)
    return [ours(types=[NumberPattern, DateTimePattern, Alias]), *tree_formats()]


def registry_peers() -> list[Peer]:
    typed = Peer(
        "msgspec typed", msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(records.Registry).decode
    )
    return [ours(types=records), *tree_formats(), typed]


def module_peers() -> list[Peer]:
    # The others have no references: a cycle is nothing they can take.
    return [ours(types=records), pickle5()]


def measure(title: str, data: Any, peers: list[Peer]) -> tuple[list[Row], list[tuple[str, str]]]:
    """The rows, and who can't do it and why."""
    stores: list[Job] = []
    restores: list[Job] = []
    verdicts: dict[str, Fidelity] = {}
    sizes: dict[str, int] = {}
    for peer, verdict in zip(peers, verify(data, peers), strict=True):
        verdicts[peer.name] = verdict
        if verdict.verdict in RESTORED and peer.dumps is not None:
            stored = peer.dumps(data)
            sizes[peer.name] = len(stored)
            stores.append(Job(peer.name, peer.dumps, data))
            restores.append(Job(peer.name, peer.loads, stored))
    objects = count_objects(data)
    dumps = interleave(stores, BUDGET, collect=True)
    # Who restores has only the bytes: the original must not weigh on his collector.
    gc.collect()
    gc.freeze()
    loads = interleave(restores, BUDGET, collect=True)
    gc.unfreeze()
    rows = [
        Row(
            title,
            name,
            objects,
            size,
            (median(dumps[name]), median(loads[name])),
            gains(dumps, loads, name),
            verdicts[name],
        )
        for name, size in sizes.items()
    ]
    return rows, [
        (name, f"{'cannot' if verdict.verdict == FAILED else verdict.verdict}: {verdict.tells}")
        for name, verdict in verdicts.items()
        if verdict.verdict not in RESTORED
    ]


def gains(dumps: dict[str, list[float]], loads: dict[str, list[float]], name: str) -> tuple[float, float]:
    return ratio(dumps, "pickle 5", name) or math.nan, ratio(loads, "pickle 5", name) or math.nan


def verify(data: Any, peers: list[Peer]) -> list[Fidelity]:
    """A verdict for each, found in children so that two cores share the work."""
    children = [Child(partial(round_trip, peer, data, data)) for peer in peers]
    return [child.result() for child in children]


def table(title: str, rows: list[Row]) -> Table:
    made = Table(
        title=f"{title}: [cyan]{rows[0].objects:,} objects[/]",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
    )
    made.add_column("", min_width=16)
    for column in ("bytes", "of pickle", "store", "faster", "restore", "faster"):
        made.add_column(column, justify="right", min_width=9)
    made.add_column("restored")
    pickled = next(row.size for row in rows if row.peer == "pickle 5")
    for row in rows:
        kind = row.verdict.verdict
        cells = [row.peer, f"{row.size:,}", f"{row.size / pickled:.2f}"]
        for nanoseconds, gain in zip(row.times, row.gains, strict=True):
            cells += [f"{nanoseconds / 1e6:,.2f} ms", f"{gain:.1f}x"]
        made.add_row(*cells, f"[{STYLES[kind]}]{kind}[/]", style="bold" if row.peer == "holdall" else None)
    return made


def closing(rows: list[Row]) -> str:
    """One sentence on all of it."""
    mine = [row for row in rows if row.peer == "holdall"]
    pickled = [row for row in rows if row.peer == "pickle 5"]
    same = all(row.verdict.verdict == SAME for row in mine)
    if len(mine) < len(pickled) or not same:
        return "[red]holdall did not give back every graph as it was[/]"
    share = sum(row.size for row in mine) / sum(row.size for row in pickled)
    store, restore = (
        sum(row.times[i] for row in pickled) / sum(row.times[i] for row in mine) for i in (0, 1)
    )
    objects = sum(row.objects for row in mine)
    return (
        f"[bold]holdall stored {objects:,} objects in {share:.0%} of pickle's bytes, {store:.1f} times as fast, and restored them "
        f"{restore:.1f} times as fast: every one the same, down to who is shared with whom.[/]"
    )
