"""One codec on one data set, in a process of its own: `python -m holdall_bench.worker`.

It takes one job from its input as a line of JSON, tells on its output what it is about to do and what came of it, and
then answers a turn of `dumps` or `loads` for each further line, until there are no more.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import re
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter_ns
from typing import Any, TextIO

from . import fidelity, memory
from .codecs import PYTHON, Codec, Ends, Unsuitable, by_name
from .data import Data, some, spread, subject, volume
from .floor_build import NotBuilt
from .isolate import Child, Crashed, with_deep_stack
from .own_data import find_data
from .results import FAILED, OPS, Fidelity
from .timing import turn

# Items one by one are so many that a pass takes this long, where all of them would take longer.
PASS_NS = 100_000_000
# A codec whose first call takes so long is not called again.
LONG_NS = 2_000_000_000
# A child that looks at every object gets a copy of nearly all pages, and makes the objects once more.
CHILDREN_NEED = 4
FEWEST_ITEMS = 10
FEW_ITEMS = 50
LONGEST_REASON = 160
OWN_CLASSES = "in classes of its own"


def main() -> None:
    channel = Channel()
    job = json.loads(sys.stdin.readline())
    try:
        channel.say(at="data")
        data = find_data(job["source"], job["full"])
        # What it needs of the stack is known before anything recurses.
        run = partial(work, job, data, channel)
        with_deep_stack(run) if data.deep else run()
    except Exception as error:
        channel.say(broken=told(error))
        raise


class Channel:
    """Standard output, for the answers alone: what libraries print goes where errors go."""

    def __init__(self) -> None:
        self._out: TextIO = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def say(self, **message: Any) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def work(job: dict[str, Any], data: Data, channel: Channel) -> None:
    value = data.make()
    channel.say(at="import")
    try:
        codec = by_name(job["codec"])
        module = import_module(codec.module)
    except ImportError as error:
        channel.say(absent=absence(error))
        return
    try:
        ends = codec.make(module, subject(data, value))
    except Unsuitable as reason:
        channel.say(unsuitable=str(reason))
        return
    except Exception as error:  # whatever it says is its answer
        channel.say(failed=told(error))
        return
    bench = Bench(codec, ends, data, value, channel)
    del value
    if job["volume"]:
        channel.say(volume=data.volume or volume(bench.value))
    try:
        bench.first_calls()
    except Exception as error:  # as above
        channel.say(failed=told(error))
        return
    channel.say(at="check")
    bench.check()
    channel.say(at="memory")
    if job["memory"] and not bench.found["once"]:
        bench.measure_memory()
    channel.say(ready=bench.found)
    for line in sys.stdin:
        asked = json.loads(line)
        channel.say(**bench.turn(asked["op"], asked["collect"]))


class Bench:
    """A codec, the data, and what was stored of them."""

    def __init__(self, codec: Codec, ends: Ends, data: Data, value: Any, channel: Channel) -> None:
        self.data, self.ends, self.channel = data, ends, channel
        self.value = value
        if ends.convert is not None:
            self.value = [ends.convert(item) for item in value] if data.each else ends.convert(value)
        note = OWN_CLASSES if ends.convert is not None else ""
        self.found: dict[str, Any] = {"version": version_of(codec), "measured": None, "note": note}
        self.calls: dict[str, Callable[[Any], Any]] = {}
        self.estimates: dict[str, float] = {}

    def first_calls(self) -> None:
        """Time the first calls of all, choose how many items are stored, and store them."""
        store = self.ends.stored or self.ends.dumps
        assert store is not None
        first: dict[str, float] = {}
        items = self.value if self.data.each else [self.value]
        self.channel.say(at="dumps")
        if self.ends.dumps is not None:
            first["dumps"], written = clocked(self.ends.dumps, items[0])
        if self.ends.stored is not None or self.ends.dumps is None:
            written = store(items[0])
        self.channel.say(at="loads")
        first["loads"], self.restored = clocked(self.ends.loads, written)
        self.stored: Any = written
        count = len(items)
        if self.data.each:
            del written
            if not self.data.keep:
                self.value = items = self.affordable(items, store)
            self.channel.say(at="dumps")
            self.stored = list(map(store, items))
            self.channel.say(at="loads")
            self.restored = list(map(self.ends.loads, self.stored))
        # Times and sizes are told for all of the items.
        self.scale = count / len(items)
        self.found |= {
            "first": first,
            "measured": len(items) if len(items) < count else None,
            "size": None if self.ends.stored or self.ends.dumps is None else self.size(),
            "items": count if self.data.each else None,
        }

    def over_items(self, function: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
        if self.data.keep:
            return lambda items: list(map(function, items))
        return deque_of(function)

    def affordable(self, items: list[Any], store: Callable[[Any], Any]) -> list[Any]:
        """As many of the items as a pass has time for, from all over the list."""

        def both(item: Any) -> None:
            self.ends.loads(store(item))

        few = spread(items, FEWEST_ITEMS)
        both(few[0])
        took, _ = clocked(deque_of(both), few)
        most = int(2 * PASS_NS / (took / len(few)))
        return spread(items, max(FEWEST_ITEMS, most))

    def size(self) -> int:
        stored = self.stored if self.data.each else [self.stored]
        return round(sum(map(size_of, stored)) * self.scale)

    def check(self) -> None:
        """What the round trip has changed, found in a child: the walk leaves nothing behind here, and may crash."""
        try:
            found = Child(partial(compare, self.data, self.value, self.restored)).result()
        except (Crashed, RuntimeError) as error:
            found = Fidelity(FAILED, reason=f"the result can't be looked at: {error}")
        del self.restored
        self.found["fidelity"] = asdict(found)
        for op in OPS:
            function = getattr(self.ends, op)
            if function is not None:
                self.calls[op] = self.over_items(function) if self.data.each else function
        first: dict[str, float] = self.found["first"]
        # Where the first call took that long, what it compiled, imported and cached doesn't count; it is the only one.
        self.found["once"] = (self.data.keep or not self.data.each) and any(
            took > LONG_NS for took in first.values()
        )
        for op, call in self.calls.items():
            # Else the second call is a guess at what a turn will take.
            self.channel.say(at=op)
            self.estimates[op] = first[op] if self.found["once"] else clocked(call, self.argument(op))[0]
        self.found["estimates"] = self.estimates

    def argument(self, op: str) -> Any:
        return self.value if op == "dumps" else self.stored

    def measure_memory(self) -> None:
        free = memory.available()
        if free is not None and memory.resident() > free / CHILDREN_NEED:
            return
        self.found["peak"] = {}
        self.found["allocated"] = {}
        for op, call in self.calls.items():
            argument = self.argument(op)
            # One item after the other, a few need as much as all.
            once = partial(call, argument[:FEW_ITEMS] if self.data.each else argument)
            for name, measure in (("peak", memory.peak_of), ("allocated", memory.allocated_by)):
                if name == "peak" and not memory.supported():
                    continue
                try:
                    self.found[name][op] = Child(partial(measure, once)).result()
                except (Crashed, RuntimeError):
                    continue

    def turn(self, op: str, collect: bool) -> dict[str, float]:
        """Nanoseconds, and how many of them Python's collector took."""
        if op not in self.calls:
            return {}
        if op == "loads":
            # Who restores has only the bytes; who stores holds the objects, and his collector walks them.
            gc.collect()
            gc.freeze()
        watch = CollectorWatch()
        try:
            with watch:
                took = turn(watch.counting(self.calls[op]), self.argument(op), self.estimates[op], collect)
        finally:
            if op == "loads":
                gc.unfreeze()
        return {"ns": took * self.scale, "collected": watch.per_call * self.scale}


class CollectorWatch:
    """How long the collector runs within calls."""

    def __init__(self) -> None:
        self.total, self.calls, self._start, self._inside = 0, 0, 0, False

    def counting(self, call: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(argument: Any) -> Any:
            self.calls += 1
            self._inside = True
            try:
                return call(argument)
            finally:
                self._inside = False

        return counted

    def __enter__(self) -> None:
        gc.callbacks.append(self._note)

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, _: dict[str, int]) -> None:
        if not self._inside:
            return
        if phase == "start":
            self._start = perf_counter_ns()
        elif self._start:
            self.total += perf_counter_ns() - self._start
            self._start = 0

    @property
    def per_call(self) -> float:
        return self.total / self.calls if self.calls else 0.0


def clocked(call: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
    start = perf_counter_ns()
    result = call(argument)
    return float(perf_counter_ns() - start), result


def deque_of(function: Callable[[Any], Any]) -> Callable[[list[Any]], None]:
    """For items one by one: each result is dropped before the next, as a queue's are."""

    def over(items: list[Any]) -> None:
        deque(map(function, items), maxlen=0)

    return over


def size_of(stored: Any) -> int:
    return stored.stat().st_size if isinstance(stored, Path) else len(stored)


def compare(data: Data, original: Any, restored: Any) -> Fidelity:
    if isinstance(restored, list) and len(original) == len(restored):
        original, restored = some(data, original), some(data, restored)
    return (fidelity.compare_each if data.each else fidelity.compare)(original, restored)


def version_of(codec: Codec) -> str:
    if codec.package == PYTHON:
        return platform.python_version()
    module = sys.modules[codec.module]
    try:
        # Before 3.11 any package answers to no name.
        return version(codec.package or "-")
    except (PackageNotFoundError, ValueError):
        return str(getattr(module, "version", getattr(module, "__version__", "")))


def absence(error: ImportError) -> str:
    if isinstance(error, NotBuilt):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return "not installed"
    # Where it lies on this machine is nobody's business.
    text = re.sub(r"(?:[A-Za-z]:)?(?:[\\/][^\\/\s:]+)+[\\/]", "", str(error))
    return f"can't be imported: {shortened(text)}"


def told(error: BaseException) -> str:
    name = type(error).__name__
    text = shortened(str(error))
    return f"{name}: {text}" if text else name


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON] + "…"


if __name__ == "__main__":
    main()
