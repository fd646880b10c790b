"""Each allocation of a call made to fail, in turn: the call raises MemoryError or is right, and the next is right.

    python -m tests.faults.allocations {python,rust,large} [names...]

A process of its own, as what is looked for may end it: it names each call before it begins. `rust` and `large` want `shim.c`
preloaded, which `run.py` does.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import gc
import itertools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import holdall
from tests.faults import states
from tests.faults.calls import Call, error_calls, julia_calls, kind_calls, large_calls, nothing, typed_calls
from tests.faults.fresh import fresh_calls

FAILED = object()
# CPython's own caches swallow some failures: after so many calls in a row that succeeded the end is reached.
AT_THE_END = 12
MOST = 5_000
# Calls of native functions. CPython 3.11 itself leaks the arguments of a function with cells (as `dump` has) where the next cell gets
# no memory.
DIRECT = re.compile(r"(dumps|canonical|trusted|loads|records|deepcopy|hold|msgpack|bson|holdall)\b")
# `IPv4Network.__init__` is such a function: `map(IPv4Network, ["10.0.0.0/8"])` alone loses as much.
CELLS = re.compile(r"ip (network|interface)|IPv[46](Network|Interface)")
LEFT = "CPython 3.11 loses the arguments of a function with cells"
# `a = numpy.empty(1, object); a[0] = a; del a` loses as much.
CYCLES = re.compile(r"numpy array cyclic")
UNKNOWN = "NumPy's arrays are nothing that the collector knows: one that holds itself is never freed"


class Other(NamedTuple):
    """What is not ours to mend: other code tells a lack of memory as something else. That code alone, called in a loop of failing
    allocations, shows each of them."""

    why: str
    # What the exception, or one that it was made of, says; and which calls' exceptions it may be.
    says: str
    calls: str = ""


OTHERS = (
    # In an iterator's `__next__` of Python's that calls one of C's, or on the way to an `except` clause.
    Other("CPython 3.11 loses the exception", "SystemError: .*NULL without setting an exception"),
    Other("CPython 3.11 loses the exception", "SystemError: error return without exception set"),
    # `dtype.__reduce__`, `dtype(metadata=)`, `ndarray.item`.
    Other(
        "NumPy leaves the exception set, and gives a result",
        "SystemError: .*returned a result with an exception set",
        "(?i)numpy|julia",
    ),
    # `numpy.dtype([("a", "i4")])` is a ValueError or a TypeError then.
    Other(
        "NumPy says that it does not take a dtype with fields",
        r"DecodeError: values that NumPy does not take \((Value|Type)Error\)",
        "numpy (dtype|array) fields|numpy scalar record",
    ),
    Other(
        "NumPy says that it does not take a datetime", "ValidationError: Invalid `datetime64`", "datetime64"
    ),
    # `pydantic_core` is made with PyO3, which panics where there is no memory for a small object.
    Other("pydantic panics in `model_dump`", "PanicException: PyObject pointer is null", "pydantic"),
)
# Whose own code ends the process where it gets no memory at all from some allocation on.
ENDS = {
    "pydantic": "pydantic ends the process where a panic of its own gets no memory either",
    # `contextvars.ContextVar.set`: of `decimal.localcontext` in PyMongo's `Decimal128`, and of `numpy.errstate`.
    "bson.*[Dd]ecimal|(msgpack|bson), typed: NumPy|julia": "CPython 3.11 crashes where a context variable is set",
}
# NumPy gives its own dtype of times (and its class) back once too often for each `numpy.dtype("M8[us]")` that gets no memory, until it
# is gone for good, and whoever touches it next crashes. So many references are taken beforehand.
MANY = 200_000
# The handle of a thread, which Rust's standard library takes from the system past any allocator of ours, and does not ask for:
# `aside.rs` looks before it begins a thread whether there is memory.
THREAD = 48


class Python:
    """CPython's allocations, counted by `_testcapi`."""

    def __init__(self, many: int = 1) -> None:
        import _testcapi

        self.many = many
        self.set, self.stop = _testcapi.set_nomemory, _testcapi.remove_mem_hooks

    def attempt(self, run: Callable[[], Any], number: int) -> Any:
        set_, stop, end = self.set, self.stop, number + self.many
        try:
            set_(number, end)
            found = run()
            stop()
        except MemoryError:
            stop()
            return FAILED
        except BaseException:
            stop()
            raise
        return found

    def points(self, run: Callable[[], Any]) -> int | None:
        return None


class Rust:
    """Those of the native library, counted by `shim.c`."""

    def __init__(self, least: int = 0, many: int = 1) -> None:
        shim = ctypes.CDLL(None)
        self.arm, self.disarm, self.living = shim.faults_arm, shim.faults_disarm, shim.faults_living
        self.living.restype = self.disarm.restype = ctypes.c_long
        self.arm.argtypes = [ctypes.c_long, ctypes.c_long]
        self.many = many
        core = Path(holdall._core.__file__).resolve()
        places = [
            int(place, 16)
            for line in Path("/proc/self/maps").read_text().splitlines()
            if line.endswith(str(core))
            for place in re.match(r"(\w+)-(\w+)", line).groups()  # type: ignore[union-attr]
        ]
        shim.faults_of.argtypes = [ctypes.c_size_t] * 4
        shim.faults_of(min(places), max(places), least, THREAD)

    def attempt(self, run: Callable[[], Any], number: int) -> Any:
        self.arm(number, self.many)
        try:
            return run()
        except MemoryError:
            return FAILED
        finally:
            self.disarm()

    def points(self, run: Callable[[], Any]) -> int | None:
        self.arm(1 << 60, 0)
        run()
        return int(self.disarm())


def other(call: str, error: BaseException) -> str | None:
    """Why what a call raised is no fault of ours, if so."""
    at: BaseException | None = error
    while at is not None:
        said = f"{type(at).__name__}: {at}"
        for known in OTHERS:
            if re.match(known.says, said) and re.search(known.calls, call):
                return known.why
        at = at.__cause__
    return None


def numbers(points: int | None, most: int) -> Iterator[int]:
    if points is None:
        yield from range(most)
    else:
        # Of very many, some: at the beginning, the end, and between.
        step = max(1, points // most)
        yield from range(0, points, step)


def check(
    call: Call, faults: Python | Rust, most: int = MOST, left_out: collections.Counter[str] | None = None
) -> list[str]:
    """What was wrong. `left_out`: counts what was others' fault."""
    for _ in range(2):
        call.before()
        expected = call.shown(call.run())  # caches fill up
    problems: list[str] = []
    successes = 0
    call.before()
    points = faults.points(call.run)
    for number in numbers(points, most):
        call.before()
        try:
            found = faults.attempt(call.run, number)
        except BaseException as error:
            why = other(call.name, error)
            if why is None:
                problems.append(f"allocation {number}: {type(error).__name__}: {str(error)[:200]}")
            elif left_out is not None:
                left_out[why] += 1
            found = FAILED
        if found is not FAILED:
            successes += 1
            if call.shown(found) != expected:
                problems.append(f"allocation {number}: another result")
            if points is None and successes > AT_THE_END:
                break
            continue
        successes = 0
        try:
            if call.shown(call.run()) != expected:
                problems.append(f"allocation {number}: another result afterwards")
        except BaseException as error:
            problems.append(f"allocation {number}: afterwards {type(error).__name__}: {str(error)[:200]}")
        if len(problems) > 8:
            break
    return problems


def leaks(call: Call, faults: Python | Rust, most: int = MOST) -> list[str]:
    """Blocks that are left of calls that failed, of CPython's and of Rust's."""
    call.before()
    points = faults.points(call.run)

    def work() -> int:
        done = successes = 0
        for number in numbers(points, most):
            call.before()
            try:
                failed = faults.attempt(call.run, number) is FAILED
            except BaseException:
                failed = True  # `check` tells
            done += failed
            successes = 0 if failed else successes + 1
            if points is None and successes > AT_THE_END:
                break
        return done

    def living() -> tuple[int, int]:
        gc.collect()
        return sys.getallocatedblocks(), faults.living() if isinstance(faults, Rust) else 0

    work()
    # Free lists and caches fill up, each failure's at another place, ever more slowly; a leak shows every time.
    for _ in range(40):
        before = living()
        failures = work() + work()
        grown = [now - then for now, then in zip(living(), before, strict=True)]
        if max(grown) < max(4, failures // 20):
            return []
    return [f"{grown[0]} blocks of CPython's and {grown[1]} of Rust's left after {failures} failures"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["python", "rust", "large"])
    parser.add_argument(
        "names", nargs="*", help="kinds (of `tests/support/kinds.py`), typed cases, `julia`; else all"
    )
    parser.add_argument("--many", type=int, default=1, help="how many allocations fail in a row")
    parser.add_argument("--most", type=int, default=MOST, help="of so many allocations each call's are tried")
    parser.add_argument("--leaks", action="store_true", help="look for what is left, too")
    parser.add_argument("--doors", help="only calls whose names match")
    options = parser.parse_args()
    faults: Python | Rust = Python(options.many) if options.what == "python" else Rust(0, options.many)
    names = set(options.names) or None
    calls: Iterator[Call]
    if options.what == "large":
        calls = large_calls()
    else:
        calls = itertools.chain(error_calls(), fresh_calls(names), kind_calls(names), typed_calls(names))
        if names is None or "julia" in names:
            calls = itertools.chain(calls, julia_calls())
    held = [[part] * MANY for part in (np.dtype("M8"), np.datetime64, np.dtype("m8"), np.timedelta64)]
    # PyO3 tells of a number that could not be made, before it raises.
    sys.unraisablehook = lambda unraisable: None
    found: dict[str, list[str]] = {}
    left_out: collections.Counter[str] = collections.Counter()
    done = 0
    for call in calls:
        if options.doors and not re.search(options.doors, call.name):
            continue
        ends = [why for says, why in ENDS.items() if re.search(says, call.name)]
        if options.what == "python" and options.many > 1 and ends:
            left_out[ends[0]] += 1
            continue
        print(call.name, file=sys.stderr, flush=True)
        others = left_out.total()
        problems = check(call, faults, options.most, left_out)
        # What others lose where they fail is theirs, too.
        looks_for_leaks = options.leaks and call.before is nothing and left_out.total() == others
        if looks_for_leaks and not problems and (options.what == "rust" or DIRECT.match(call.name)):
            if options.what == "python" and CELLS.search(call.name):
                left_out[LEFT] += 1
            elif CYCLES.search(call.name):
                left_out[UNKNOWN] += 1
            else:
                problems = leaks(call, faults, options.most)
        done += 1
        if problems:
            found[call.name] = problems
            print(*problems, sep="\n", file=sys.stderr, flush=True)
    if options.what != "large":
        with tempfile.TemporaryDirectory() as folder:
            for name, run in states.states(Path(folder)).items():
                if not options.doors or re.search(options.doors, name):
                    print(name, file=sys.stderr, flush=True)
                    done += 1
                    if problems := list(itertools.islice(states.check(run, faults, FAILED, options.most), 8)):
                        found[name] = problems
    del held
    print(json.dumps({"calls": done, "problems": found, "left out": left_out}))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
