"""`holdall bench kinds`: a hundred kinds of values, together in a list and each in a message of its own, many of them by a type, too.

All ways of storing one kind take turns, and the least time of each counts, so that another process on the machine changes
no verdict. Figures are nanoseconds a value.
"""

from __future__ import annotations

import gc
import marshal
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from random import Random
from time import perf_counter_ns
from types import GenericAlias
from typing import Any

import holdall
import holdall.bson
import holdall.msgpack

from .fidelity import compare, compare_each
from .results import SAME
from .suites.kinds import KINDS, TYPED, USERS

WAYS = ("together", "alone", "together, by a type", "alone, by a type")
OURS = ("hold", "MessagePack", "BSON")
PEERS = ("pickle", "msgspec", "marshal")
# Below this factor, who is ahead is noise.
NOISE = 1.1


@dataclass
class Codec:
    """extra: what `store` is called with besides the value. A function around it, or a `partial`, takes as long as a small value."""

    store: Callable[..., bytes]
    restore: Callable[[bytes], Any]
    extra: tuple[Any, ...] = ()


@dataclass
class Settings:
    """count: values together; alone: of those, how many have messages of their own. seconds: for a kind, about."""

    count: int = 1_000
    alone: int = 1_000
    rounds: int = 5
    seconds: float = 0.4
    seed: int | None = None
    names: tuple[str, ...] = ()


@dataclass
class Row:
    """A kind, together or alone: nanoseconds a value to store and to restore it, by codec; those that keep it."""

    kind: str
    way: str
    dumps: dict[str, float] = field(default_factory=dict)
    loads: dict[str, float] = field(default_factory=dict)

    def verdict(self, times: dict[str, float]) -> tuple[str, float]:
        """Who is ahead, and how many times as fast as the best of the others hold is."""
        ours = times.get("hold")
        best = min((peer for peer in PEERS if peer in times), key=times.__getitem__, default="")
        if ours is None or not best:
            return best or "hold", math.nan
        factor = times[best] / ours
        return ("hold" if factor >= 1 else best), factor


def codecs(annotation: Any = Any) -> dict[str, Codec]:
    """annotation: what the values are loaded as; pickle and marshal know no types, and load what was stored."""
    to_bson = holdall.bson.Encoder().encode
    of_bson = holdall.bson.Decoder(type=Any if annotation is Any else dict[str, annotation]).decode
    native = (
        holdall.Decoder(types=USERS) if annotation is Any else holdall.Decoder(type=annotation, types=USERS)
    )
    found = {
        "hold": Codec(holdall.Encoder().encode, native.decode),
        "MessagePack": Codec(
            holdall.msgpack.Encoder().encode, holdall.msgpack.Decoder(type=annotation).decode
        ),
        "BSON": Codec(lambda value: to_bson({"v": value}), lambda stored: of_bson(stored)["v"]),
        "pickle": Codec(pickle.dumps, pickle.loads, (5,)),
        "marshal": Codec(marshal.dumps, marshal.loads),
    }
    try:
        import msgspec

        by_type = msgspec.msgpack.Decoder(annotation)
    except (ImportError, TypeError):  # or it doesn't take the type
        return found
    return found | {"msgspec": Codec(msgspec.msgpack.Encoder().encode, by_type.decode)}


def measure(settings: Settings, progress: Callable[[str, float], None]) -> list[Row]:
    """All kinds, two rows each, and two more where they are loaded by a type. Raises AssertionError where hold does not give back what was stored."""
    seed = settings.seed if settings.seed is not None else Random().getrandbits(32)
    wanted = [
        name for name in KINDS if not settings.names or any(fnmatch(name, one) for one in settings.names)
    ]
    rows = []
    for at, name in enumerate(wanted):
        progress(name, at / len(wanted))
        r = Random(f"{seed} {name}")
        values = [KINDS[name](r) for _ in range(settings.count)]
        rows.append(_row(name, "together", [values], len(values), settings))
        rows.append(_row(name, "alone", values[: settings.alone], 1, settings))
        if (one := TYPED.get(name)) is not None:
            rows.append(
                _row(name, "together, by a type", [values], len(values), settings, GenericAlias(list, one))
            )
            rows.append(_row(name, "alone, by a type", values[: settings.alone], 1, settings, one))
    return rows


def _row(kind: str, way: str, values: list[Any], each: int, settings: Settings, annotation: Any = Any) -> Row:
    found = {
        name: (codec, kept)
        for name, codec in codecs(annotation).items()
        if (kept := _kept(codec, values)) is not None
    }
    assert "hold" in found, f"hold does not keep {kind}, {way}"
    turns = [(name, "dumps", codec.store, values, codec.extra) for name, (codec, _) in found.items()]
    turns += [(name, "loads", codec.restore, kept, ()) for name, (codec, kept) in found.items()]
    best: dict[tuple[str, str], int] = {}
    order = Random(f"{kind} {way}")
    end = perf_counter_ns() + settings.seconds * 0.5e9
    done = 0
    while done < settings.rounds or perf_counter_ns() < end:
        # Another order each time. Who stores first after others have loaded finds no value in the processor's caches: up to 3 times
        # as slow, and by turns in one order it would always be the same one.
        order.shuffle(turns)
        for name, direction, function, arguments, extra in turns:
            taken = _turn(function, arguments, extra)
            best[name, direction] = min(taken, best.get((name, direction), taken))
        done += 1
    row = Row(kind, way)
    for (name, direction), nanoseconds in best.items():
        getattr(row, direction)[name] = nanoseconds / (len(values) * each)
    return row


def _turn(function: Callable[..., Any], arguments: list[Any], extra: tuple[Any, ...]) -> int:
    gc.collect(0)
    gc.disable()
    try:
        if not extra:
            start = perf_counter_ns()
            for argument in arguments:
                function(argument)
            return perf_counter_ns() - start
        (one,) = extra
        start = perf_counter_ns()
        for argument in arguments:
            function(argument, one)
        return perf_counter_ns() - start
    finally:
        gc.enable()


def _kept(codec: Codec, values: list[Any]) -> list[bytes] | None:
    """The messages, if all values come back as they were."""
    try:
        stored = [codec.store(value, *codec.extra) for value in values]
        restored = [codec.restore(each) for each in stored]
    except Exception:  # what a codec does not know is refused by whatever error it has for that
        return None
    told = compare(values[0], restored[0]) if len(values) == 1 else compare_each(values, restored)
    return stored if told.verdict == SAME else None


def mean(rows: list[Row], way: str, direction: str, ours: str = "hold", peer: str = "pickle") -> float:
    """How many times as fast as a peer, as a geometric mean over the kinds that both keep."""
    logs = [
        math.log(times[peer] / times[ours])
        for row in rows
        if row.way == way and {ours, peer} <= (times := getattr(row, direction)).keys()
    ]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def table(rows: list[Row]) -> list[str]:
    """A line for a row and direction, those that are furthest behind last; then the means."""
    names = [name for name in (*OURS, *PEERS) if any(name in row.dumps for row in rows)]
    lines = [f"{'ns a value':36}" + "".join(f"{name:>12}" for name in names) + "   ahead"]
    told = [
        (row.verdict(times), f"{row.kind}, {row.way}", direction, times)
        for row in rows
        for direction, times in (("dumps", row.dumps), ("loads", row.loads))
    ]
    told.sort(key=lambda each: (each[2], -each[0][1] if each[0][1] == each[0][1] else 0.0))
    for (ahead, factor), name, direction, times in told:
        figures = "".join(f"{times[each]:12,.0f}" if each in times else f"{'':12}" for each in names)
        sign = " !" if factor < 1 / NOISE else ""
        lines.append(f"{direction} {name:30}{figures}   {ahead} {factor:.2f}{sign}")
    lines.append("")
    for way in WAYS:
        for direction in ("dumps", "loads"):
            against = [
                f"{ours} {factor:.2f} x {peer}"
                for ours in OURS
                for peer in PEERS
                if (factor := mean(rows, way, direction, ours, peer)) == factor
            ]
            lines.append(f"{way}, {direction}: {', '.join(against)}")
    behind = sum(1 for (_, factor), *_ in told if factor < 1 / NOISE)
    lines.append(f"hold is behind in {behind} of {len(told)}")
    return lines
