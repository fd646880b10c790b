"""Code of the program's that raises at each of its calls, in turn: it comes through as it is, and leaves nothing behind.

    python -m tests.faults.hooks [--leaks]

A process of its own, as it registers classes. Code of the program's calls `tick` wherever it runs, which raises at the chosen call.
"""

from __future__ import annotations

import collections
import copyreg
import gc
import io
import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import holdall
from holdall import bson, msgpack
from holdall.resolve import ByValue, Record, Stored, Use, Value

COUNT = 3
# Records of a log that is written and read.
RECORDS = 3


class Sentinel(Exception):
    """Nobody else raises or explains it."""


class Ticks:
    """Counts calls; one of them raises."""

    def __init__(self) -> None:
        self.calls, self.fails_at, self.error = 0, -1, Sentinel

    def arm(self, number: int, error: type[BaseException]) -> None:
        self.calls, self.fails_at, self.error = 0, number, error

    def __call__(self) -> None:
        self.calls += 1
        if self.calls - 1 == self.fails_at:
            raise self.error("injected")


tick = Ticks()


class Own:
    """A value that only hooks know."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]


class Key:
    """Hashed and compared by code of its own; all hashes are the same."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        tick()
        return 7

    def __eq__(self, other: object) -> bool:
        tick()
        return isinstance(other, Key) and bool(self.value == other.value)


class State:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __getstate__(self) -> Any:
        tick()
        return {"value": self.value}

    def __setstate__(self, state: Any) -> None:
        tick()
        self.value = state["value"]


class Reduced:
    def __init__(self, value: Any) -> None:
        tick()
        self.value = value

    def __reduce__(self) -> Any:
        tick()
        return Reduced, (self.value,)


class Copied:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Any:
        tick()
        return Copied(self.value)


@dataclass
class Made:
    a: int
    b: list[int] = field(default_factory=lambda: [tick() or 1])  # type: ignore[func-returns-value]

    def __post_init__(self) -> None:
        tick()


class Registered:
    def __init__(self, value: Any) -> None:
        self.value = value


def _encode(obj: Registered) -> Any:
    tick()
    return [obj.value]


def _decode(state: Any) -> Registered:
    tick()
    return Registered(state[0])


class Upgraded:
    def __init__(self, value: Any) -> None:
        self.value = value


def _resolve(stored: Stored) -> Any:
    tick()
    return Record


def _resolve_by_value(stored: Stored) -> Any:
    def made(record: Record) -> Any:
        tick()
        return Use(Made, renames={"text": None}) if record.fields.get("a") == 1 else Value(None)

    tick()
    return ByValue(made)


def _upgrade(state: Any, version: int) -> Any:
    tick()
    return state


def hook(obj: Any) -> Any:
    tick()
    return {"own": obj()}


def typed_hook(cls: Any, value: Any) -> Any:
    tick()
    return Own(value)


def ext_hook(code: int, data: Any) -> Any:
    tick()
    return (code, bytes(data))


def many(make: Callable[[int], Any]) -> list[Any]:
    """Some, of which the first is met again."""
    made = [make(number) for number in range(COUNT)]
    return [{"rows": made, "text": "x" * 50}, made[0]]


class File:
    """A file object in memory; all that it does may fail."""

    def __init__(self, data: bytes = b"", step: int = 1 << 30) -> None:
        self.inner, self.step = io.BytesIO(data), step

    def write(self, data: Any) -> int:
        tick()
        return self.inner.write(bytes(data)[: self.step])

    def read(self, size: int = -1) -> bytes:
        tick()
        return self.inner.read(min(size, self.step) if size >= 0 else self.step)

    def flush(self) -> None:
        tick()


class Into(File):
    def readinto(self, buffer: Any) -> int:
        tick()
        return self.inner.readinto(memoryview(buffer)[: self.step])


def written_file(value: Any, step: int = 1 << 30, **options: Any) -> bytes:
    file = File(step=step)
    holdall.dump(value, file, **options)
    return file.inner.getvalue()


def written_log(**options: Any) -> bytes:
    file = File()
    with holdall.Writer(file, **options) as log:
        for number in range(RECORDS):
            log.write({"number": number, "text": "x" * 400})
        log.flush()
    return file.inner.getvalue()


def pickled(value: Any) -> bytes:
    class Pickler(holdall.pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            tick()
            return ("own", obj.value) if isinstance(obj, Own) else None

        def reducer_override(self, obj: Any) -> Any:
            tick()
            return NotImplemented

    file = File()
    Pickler(file, 5, buffer_callback=lambda buffer: tick() or True).dump(value)  # type: ignore[func-returns-value]
    return file.inner.getvalue()


def unpickled(data: bytes) -> Any:
    class Unpickler(holdall.pickle.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            tick()
            return Own(pid[1])

        def find_class(self, module: str, name: str) -> Any:
            tick()
            return super().find_class(module, name)

    return Unpickler(File(data)).load()


def tabled(value: Any) -> bytes:
    def reduce(obj: Own) -> Any:
        tick()
        return Own, (obj.value,)

    file = io.BytesIO()
    pickler = holdall.pickle.Pickler(file, 5)
    pickler.dispatch_table = collections.ChainMap({Own: reduce}, copyreg.dispatch_table)  # type: ignore[attr-defined]
    pickler.dump(value)
    return file.getvalue()


def scenarios() -> dict[str, Callable[[], Any]]:
    """What runs, by name. Each makes all that it changes anew, and gives what can be compared."""
    tick.arm(-1, Sentinel)
    holdall.register(Registered, name="faults.Registered", encode=_encode, decode=_decode)
    holdall.register(Upgraded, name="faults.Upgraded", version=1)
    own, keys = many(Own), {Key(i): i for i in range(COUNT)}
    # Nothing but a hook stores a function.
    functions = many(lambda number: lambda: number)
    keyed, members = holdall.dumps([keys, 1]), holdall.dumps([set(keys), 1])
    states, reduced = holdall.dumps(many(State), trust=True), holdall.dumps(many(Reduced), trust=True)
    plain = {"rows": [{"a": i, "text": "y" * 100} for i in range(COUNT)], "data": bytes(6_000)}
    large = {"data": bytes(400_000), "more": bytes(range(256)) * 2_000}
    file, packed, big, log = (
        written_file(plain),
        written_file(plain, compress="zstd"),
        written_file(large),
        written_log(),
    )
    registered, upgraded = holdall.dumps(many(Registered)), holdall.dumps(many(Upgraded))
    holdall.register(Upgraded, name="faults.Upgraded", version=2, upgrade=_upgrade)
    made = {
        fmt.__name__: fmt.dumps({"rows": [{"a": i} for i in range(COUNT)]})
        for fmt in (holdall, msgpack, bson)
    }
    extended = msgpack.dumps([msgpack.Ext(5, b"data")] * COUNT)
    ids, graph = pickled(own), [Reduced(1), Reduced(2)]
    told = lambda done, total: tick()  # noqa: E731
    found: dict[str, Callable[[], Any]] = {
        "enc_hook": lambda: holdall.dumps(functions, enc_hook=hook),
        "enc_hook, canonical": lambda: holdall.dumps(functions, enc_hook=hook, canonical=True),
        "enc_hook, tree": lambda: holdall.dumps(functions, enc_hook=hook, refs=False),
        "enc_hook of an Encoder": lambda: holdall.Encoder(enc_hook=hook).encode(functions),
        "enc_hook, file": lambda: written_file(functions, enc_hook=hook),
        "enc_hook, MessagePack": lambda: msgpack.dumps(functions, enc_hook=hook),
        "enc_hook, BSON": lambda: bson.dumps({"own": functions}, enc_hook=hook),
        "dec_hook": lambda: holdall.loads(holdall.dumps([1, 2, 3]), type=list[Own], dec_hook=typed_hook),
        "dec_hook, MessagePack": lambda: msgpack.loads(msgpack.dumps([1, 2]), type=list[Own], dec_hook=typed_hook),
        "dec_hook, Document": lambda: holdall.open(holdall.dumps({"a": [1, 2]}), dec_hook=typed_hook).get(
            "a", type=list[Own]
        ),
        "ext_hook": lambda: msgpack.loads(extended, ext_hook=ext_hook),
        "__hash__ of keys": lambda: holdall.loads(keyed, types=[Key])[1],
        "__hash__ of members": lambda: holdall.loads(members, types=[Key])[1],
        "__hash__ of copied keys": lambda: len(holdall.deepcopy(keys)),
        "__getstate__": lambda: holdall.dumps(many(State), trust=True),
        "__setstate__": lambda: holdall.loads(states, trust=True),
        "__reduce__": lambda: holdall.dumps(graph, trust=True),
        "a reduced class": lambda: holdall.loads(reduced, trust=True),
        "__deepcopy__": lambda: holdall.deepcopy(many(Copied)),
        "__reduce__, copied": lambda: holdall.deepcopy(graph),
        "register(encode=)": lambda: holdall.dumps(many(Registered)),
        "register(decode=)": lambda: holdall.loads(registered),
        "register(upgrade=)": lambda: holdall.loads(upgraded),
        "resolver": lambda: holdall.loads(registered, resolver=_resolve),
        "resolver, by value": lambda: holdall.loads(upgraded, resolver=_resolve_by_value),
        "resolver, typed": lambda: holdall.loads(upgraded, type=list[Made | None], resolver=_resolve_by_value),
        "resolver, MessagePack": lambda: msgpack.loads(
            made["holdall.msgpack"], type=dict[str, list[Made | None]], resolver=_resolve_by_value
        ),
        "resolver of values": lambda: msgpack.loads(msgpack.dumps([1, 2]), type=list[Made | None], resolver=_resolve_by_value),
        "write": lambda: written_file(plain),
        "write, piece by piece": lambda: written_file(plain, 1_000),
        "write, compressed": lambda: written_file(plain, compress="zstd"),
        "write, large": lambda: written_file(large),
        "read": lambda: holdall.load(File(file)),
        "read, piece by piece": lambda: holdall.load(File(file, 500)),
        "read, compressed": lambda: holdall.load(File(packed, 500)),
        "readinto": lambda: holdall.load(Into(file, 500)),
        "read, large": lambda: holdall.load(File(big, 100_000)),
        "read, a bare message": lambda: holdall.load(File(holdall.dumps(plain), 500)),
        "progress of dump": lambda: holdall.dump(large, io.BytesIO(), progress=told),
        "progress of load": lambda: holdall.load(big, progress=told),
        "Writer": written_log,
        "Writer, each on the disk": lambda: written_log(sync="always"),
        "Writer, compressed": lambda: written_log(compress="zstd"),
        "Reader": lambda: list(holdall.Reader(File(log, 100))),
        "persistent_id": lambda: pickled(own),
        "persistent_load": lambda: unpickled(ids),
        "dispatch_table": lambda: tabled(own),
        "buffer_callback": lambda: pickled([Own(1), bytearray(5)]),
        "buffers": lambda: holdall.dumps([np.arange(5_000)] * COUNT, buffers=lambda buffer: tick()),
        "Reader of MessagePack": lambda: list(msgpack.Reader(File(msgpack.dumps(1) * 5, 2))),
    }  # fmt: skip
    for name, fmt in {"holdall": holdall, "msgpack": msgpack, "bson": bson}.items():
        data = made[fmt.__name__]
        found[f"__post_init__, {name}"] = lambda fmt=fmt, data=data: fmt.loads(
            data, type=dict[str, list[Made]]
        )
    return found


def looks(found: Any) -> Any:
    return found if isinstance(found, (bytes, int)) else repr_of(found)


def repr_of(found: Any) -> str:
    if isinstance(found, (list, tuple)):
        return f"[{', '.join(map(repr_of, found))}]"
    if isinstance(found, dict):
        return f"{{{', '.join(f'{key}: {repr_of(value)}' for key, value in found.items())}}}"
    if hasattr(found, "__dict__"):
        return f"{type(found).__name__}({repr_of(vars(found))})"
    return repr(found)


def check(run: Callable[[], Any], error: type[BaseException], hashes: bool) -> tuple[int, list[str]]:
    """How many calls there are; what was wrong when each of them raised."""
    tick.arm(-1, error)
    expected = looks(run())
    calls, problems = tick.calls, []
    for number in range(calls):
        tick.arm(number, error)
        try:
            found = looks(run())
        except error as raised:
            if type(raised) is not error or raised.args != ("injected",):
                problems.append(f"call {number}: another {raised!r}")
        except holdall.DecodeError as refused:
            # What a key raises is about the data, which `loads` says in its own way.
            if not (hashes and error.__name__ in str(refused)):
                problems.append(f"call {number}: {refused!r}")
        except BaseException as other:
            problems.append(f"call {number}: {type(other).__name__}: {str(other)[:200]}")
        else:
            problems.append(
                f"call {number}: the exception was lost; the result is {'as ever' if found == expected else 'another'}"
            )
        tick.arm(-1, error)
        try:
            if looks(run()) != expected:
                problems.append(f"call {number}: another result afterwards")
        except BaseException as other:
            problems.append(f"call {number}: afterwards {type(other).__name__}: {str(other)[:200]}")
    return calls, problems


def leaks(run: Callable[[], Any], error: type[BaseException]) -> list[str]:
    tick.arm(-1, error)
    run()
    calls = tick.calls

    def work() -> None:
        for number in range(calls):
            tick.arm(number, error)
            try:
                run()
            except BaseException:
                continue
        tick.arm(-1, error)

    for _ in range(3):
        work()
    # Caches fill up; a leak shows every time.
    for _ in range(10):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(20):
            work()
        gc.collect()
        grown = sys.getallocatedblocks() - before
        if grown < max(10, 10 * calls):
            return []
    return [f"{grown} blocks left after {20 * calls} failures"]


ERRORS: tuple[type[BaseException], ...] = (Sentinel, KeyboardInterrupt, MemoryError)


def main() -> int:
    wants_leaks = "--leaks" in sys.argv
    found: dict[str, list[str]] = {}
    calls = 0
    from tests.faults import passing

    asked = itertools.chain(
        itertools.product(scenarios().items(), ERRORS),
        itertools.product(passing.scenarios().items(), passing.ERRORS),
    )
    for (name, run), error in asked:
        print(name, error.__name__, file=sys.stderr, flush=True)
        count, problems = check(run, error, hashes="__hash__" in name and error is Sentinel)
        calls += count
        if count == 0:
            problems.append("code of the program's was never called")
        if wants_leaks and not problems:
            problems = leaks(run, error)
        if problems:
            found[f"{name}, {error.__name__}"] = problems
    print(json.dumps({"calls": calls, "problems": found}))
    return bool(found)


if __name__ == "__main__":
    # By its own name: `passing` counts the same calls.
    from tests.faults import hooks

    sys.exit(hooks.main())
