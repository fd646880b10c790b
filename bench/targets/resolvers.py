"""What resolvers cost: the same data loaded by classes with a resolver each, and by the same classes without.

    python -m bench.targets.resolvers [--quick]

The resolver has nothing to say, which is what most are: it is asked once a layout. The last rows decide by value, where it is called
for each instance, next to the `upgrade` that does the same. Rounds of processor time are interleaved; a figure is the median of the ratios of each
round, below 1 where resolvers make it slower. Ends with 1 if a row is below the target.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from statistics import median
from time import process_time_ns
from typing import Any

import holdall
from holdall import bson, msgpack
from holdall.resolve import ByValue, Stored

TARGET = 0.8
ROUNDS, QUICK_ROUNDS = 41, 9
TURN_NS = 20_000_000


class Classes:
    """A set of classes of its own, all with the same fields; each registered with the resolver."""

    def __init__(self, name: str, resolver: Any = None, slots: bool = False) -> None:
        part = make_dataclass("Part", [("a", int), ("b", str)], slots=slots)
        item = make_dataclass(
            "Item",
            [("id", int), ("title", str), ("price", float), ("part", part), ("tags", list[str])],
            slots=slots,
        )
        point = make_dataclass("Point", [("x", float), ("y", float), ("name", str)], slots=slots)
        for cls in (part, item, point):
            holdall.register(cls, name=f"bench.{name}.{slots}.{cls.__name__}", resolver=resolver)
        self.part, self.item, self.point = part, item, point

    def items(self, count: int) -> list[Any]:
        tags = ["red", "blue"]
        return [
            self.item(n, f"title {n}", n / 4, self.part(n, "part"), [*tags, f"tag {n}"]) for n in range(count)
        ]

    def points(self, count: int) -> list[Any]:
        return [self.point(n / 2, n / 4, f"point {n}") for n in range(count)]


def nothing(stored: Stored) -> None:
    return None


def loads_of(classes: Classes, what: str, fmt: Any, typed: bool, count: int) -> Callable[[], Any]:
    values = getattr(classes, what)(count)
    data = fmt.dumps({"all": values})
    options = {"type": dict[str, list[type(values[0])]]} if typed else {}  # type: ignore[misc]
    return lambda: fmt.loads(data, **options)


def rows() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """By name: without a resolver, and with one."""
    found = {}
    for slots in (False, True):
        without, resolved = Classes("without", slots=slots), Classes("with", nothing, slots=slots)
        kind = "slots" if slots else "dataclass"
        for fmt, typed in ((holdall, False), (holdall, True), (msgpack, True), (bson, True)):
            for what in ("items", "points"):
                for count in (1, 3_000):
                    name = f"{fmt.__name__.removeprefix('holdall.')}{', typed' if typed else ''}: {kind}, {count:,} {what}"
                    found[name] = (
                        loads_of(without, what, fmt, typed, count),
                        loads_of(resolved, what, fmt, typed, count),
                    )
    return found


def by_value() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    upgraded, resolved = Classes("upgraded"), Classes("valued")
    data = [holdall.dumps(classes.points(3_000)) for classes in (upgraded, resolved)]
    name = "bench.{}.False.Point"
    holdall.register(
        upgraded.point, name=name.format("upgraded"), version=2, upgrade=lambda fields, version: fields
    )
    make = resolved.point
    holdall.register(
        make,
        name=name.format("valued"),
        resolver=lambda stored: ByValue(lambda record: make(**record.fields)),
    )
    return {
        "hold, by value, next to `upgrade`: 3,000 points": (
            lambda: holdall.loads(data[0]),
            lambda: holdall.loads(data[1]),
        )
    }


def ratio(without: Callable[[], Any], resolved: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """How many times as fast it is with the resolver, and the time of one load with it in ns."""

    def turn(call: Callable[[], Any], times: int) -> float:
        begin = process_time_ns()
        for _ in range(times):
            call()
        return (process_time_ns() - begin) / times

    once = max(turn(without, 3), turn(resolved, 3), 100)
    times = max(1, int(TURN_NS / once))
    found = []
    for number in range(rounds):
        pair = (without, resolved) if number % 2 else (resolved, without)
        taken = {id(call): turn(call, times) for call in pair}
        found.append((taken[id(without)] / taken[id(resolved)], taken[id(resolved)]))
    return median(one[0] for one in found), median(one[1] for one in found)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.targets.resolvers")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = QUICK_ROUNDS if parser.parse_args(arguments).quick else ROUNDS
    missed = 0
    for name, (without, resolved) in rows().items():
        found, time = ratio(without, resolved, rounds)
        missed += found < TARGET
        print(f"{name:50} {found:5.2f} x  {time / 1000:10,.1f} us{'' if found >= TARGET else '   MISSED'}")
    for name, (without, resolved) in by_value().items():
        found, time = ratio(without, resolved, rounds)
        print(f"{name:50} {found:5.2f} x  {time / 1000:10,.1f} us")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
