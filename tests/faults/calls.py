"""One table of calls: each way through the library, for each kind of value. A call makes what it needs anew, and its result can be
compared with that of another."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import holdall
from holdall import bson, julia, msgpack
from tests.support.formats import FORMATS
from tests.support.kinds import BY_NAME, KINDS, TYPES
from tests.support.typed_cases import CASES, NotLoaded, Refused


def nothing() -> None:
    pass


class Call(NamedTuple):
    name: str
    run: Callable[[], Any]
    # What is compared: bytes, or what a graph looks like.
    shown: Callable[[Any], Any]
    # What is to be there each time, made before anything fails.
    before: Callable[[], None] = nothing


def looks(graph: Any) -> Any:
    """Two graphs of the same look are the same, but for addresses."""
    try:
        return holdall.dumps(graph, trust=True)
    except (holdall.EncodeError, TypeError):
        return repr(graph)


def same(value: Any) -> Any:
    return value


def file_of(obj: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(obj, file, **options)
    return file.getvalue()


def log_of(obj: Any) -> bytes:
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for _ in range(2):
            log.write(obj)
    return file.getvalue()


def whole(member: Any) -> Any:
    return member.load() if isinstance(member, holdall.Document) else member


def opened(data: bytes) -> Any:
    with holdall.open(data, types=TYPES) as doc:
        return whole(doc["held"])


# Members of a set whose hashes are their addresses: another order each time.
UNORDERED = {"cyclic set"}


def kind_calls(names: set[str] | None = None) -> Iterator[Call]:
    for kind in KINDS:
        if names is not None and kind.name not in names:
            continue
        obj = kind.make()
        data = holdall.dumps(obj)
        file, log, packed = file_of(obj), log_of(obj), file_of([obj] * 3, compress="zstd")
        held = holdall.dumps({"held": obj})
        # The arguments are bound now: the loop goes on.
        doors: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
            "dumps": (lambda obj=obj: holdall.dumps(obj), same),
            "canonical": (lambda obj=obj: holdall.dumps(obj, canonical=True), same),
            "trusted": (lambda obj=obj: holdall.dumps(obj, trust=True, intern=True), same),
            "loads": (lambda data=data: holdall.loads(data, types=TYPES), looks),
            "records": (lambda data=data: holdall.loads(data, types=holdall.Record), looks),
            "dump": (lambda obj=obj: file_of(obj, compress="lz4"), same),
            "load": (lambda file=file: holdall.load(io.BytesIO(file), types=TYPES), looks),
            "load packed": (lambda packed=packed: holdall.load(io.BytesIO(packed), types=TYPES), looks),
            "load mapped": (lambda file=file: holdall.load(file, types=TYPES, mmap=True), looks),
            "Writer": (lambda obj=obj: log_of(obj), same),
            "Reader": (lambda log=log: list(holdall.Reader(io.BytesIO(log), types=TYPES)), looks),
            "open": (lambda held=held: opened(held), looks),
            "deepcopy": (lambda obj=obj: holdall.deepcopy(obj), looks),
            "deepcopy with a memo": (lambda obj=obj: holdall.deepcopy(obj, {}), looks),
        }
        for door, (run, shown) in doors.items():
            yield Call(f"{door}: {kind.name}", run, type if kind.name in UNORDERED else shown)
        for fmt in (msgpack, bson):
            around: Any = {"held": obj}
            try:
                message = fmt.dumps(around)
                fmt.loads(message)
            except holdall.HoldallError:
                continue
            name = fmt.__name__
            yield Call(f"{name}.dumps: {kind.name}", lambda fmt=fmt, around=around: fmt.dumps(around), same)
            yield Call(f"{name}.loads: {kind.name}", lambda fmt=fmt, data=message: fmt.loads(data), looks)


def told(call: Callable[[], Any]) -> str:
    """What a call raises. (How it names a type may differ: that takes memory, too.)"""
    try:
        call()
    except holdall.HoldallError as error:
        return type(error).__name__
    raise AssertionError("it raised nothing")


def error_calls() -> Iterator[Call]:
    """Calls that fail of themselves: an exception takes memory, too."""
    data, deep = holdall.dumps([{"a": "x" * 300, "b": [1.5]}]), holdall.dumps([[[[1]]]])
    unknown = holdall.dumps(BY_NAME["dataclass"].make())
    attempts: dict[str, Callable[[], Any]] = {
        "EncodeError": lambda: holdall.dumps([1, (x for x in ())]),
        "EncodeError, a cycle": lambda: holdall.dumps(BY_NAME["cyclic list"].make(), refs=False),
        "EncodeError, MessagePack": lambda: msgpack.dumps({"a": 1 << 70}),
        "DecodeError": lambda: holdall.loads(data + b"x"),
        "TruncatedError": lambda: holdall.loads(data[:-3]),
        "LimitError": lambda: holdall.loads(deep, limits=holdall.Limits(depth=2)),
        "UnknownTypeError": lambda: holdall.loads(unknown),
        "ValidationError": lambda: holdall.loads(data, type=list[dict[str, str]]),
        "ChecksumError": lambda: holdall.load(io.BytesIO(file_of(data)[:-20] + bytes(20))),
        "a record": lambda: list(holdall.Reader(log_of(1)[:-3])),
        "of another format": lambda: holdall.loads(bson.dumps({"a": 1})),
    }
    for name, attempt in attempts.items():
        # Its text leaves out what could not be looked up.
        yield Call(f"error: {name}", lambda attempt=attempt: told(attempt), lambda text: text.split(":")[0])


def typed_calls(names: set[str] | None = None) -> Iterator[Call]:
    for case in CASES:
        if names is not None and case.name not in names:
            continue
        for fmt in FORMATS.values():
            if isinstance(case.untyped_result(fmt.name), Refused) or isinstance(
                case.typed_result(fmt.name), NotLoaded
            ):
                continue
            data = fmt.dumps(case.value, **case.dumping)

            def run(fmt: Any = fmt, case: Any = case, data: bytes = data) -> Any:
                return fmt.loads(data, type=case.annotation, **case.loading)

            yield Call(f"{fmt.name}, typed: {case.group} {case.name}", run, looks)


def julia_calls() -> Iterator[Call]:
    from tests.formats.julia.test_safety import MESSAGES, sample

    value = sample()
    value.pop("objects", None)
    yield Call("julia.dumps", lambda: julia.dumps(value), same)
    for name, data in MESSAGES.items():
        if len(data) < 20_000:
            yield Call(f"julia.loads: {name}", lambda data=data: julia.loads(data), lambda found: type(found))
            yield Call(f"julia.parse: {name}", lambda data=data: julia.parse(data), lambda found: type(found))


ROWS = 3_000


def large_calls() -> Iterator[Call]:
    """What takes more than one block of the reserve: lists, tables and texts that grow with the data."""
    graphs: dict[str, Any] = {
        "rows": [{"id": i, "name": f"row {i}", "score": i / 7} for i in range(ROWS)],
        "shapes": [{f"k{i}": i} for i in range(ROWS)],
        "text": ["x" * 300_000, "é" * 300_000],
        "bytes": [bytes(300_000), bytearray(300_000)],
        "shared": [shared := [[i] for i in range(ROWS)], shared[::-1], shared],
        "sets": [set(range(ROWS)), {str(i) for i in range(ROWS)}, frozenset(range(ROWS))],
        "keys": {(i, str(i)): [i] for i in range(ROWS)},
        "words": [f"word {i}" * 5 for i in range(ROWS)],
        "ints": [1 << (i * 10) for i in range(300)],
        "mixed": [[None, i, str(i), [i], (i,)] for i in range(ROWS)],
    }
    deep: Any = None
    for _ in range(20_000):
        deep = [deep]
    graphs["deep"] = deep
    for name, obj in graphs.items():
        data, log, file = holdall.dumps(obj), log_of(obj), file_of(obj, compress="zstd")
        yield Call(f"dumps: large {name}", lambda obj=obj: holdall.dumps(obj), same)
        yield Call(f"loads: large {name}", lambda data=data: holdall.loads(data), looks)
        yield Call(f"deepcopy: large {name}", lambda obj=obj: holdall.deepcopy(obj), looks)
        yield Call(f"dump: large {name}", lambda obj=obj: file_of(obj, compress="zstd"), same)
        yield Call(f"load: large {name}", lambda file=file: holdall.load(io.BytesIO(file)), looks)
        yield Call(f"Writer: large {name}", lambda obj=obj: log_of(obj), same)
        yield Call(f"Reader: large {name}", lambda log=log: list(holdall.Reader(io.BytesIO(log))), looks)
        yield Call(f"open: large {name}", lambda data=data: holdall.open(data).load(), looks)
        if name not in ("deep", "sets"):
            yield Call(f"canonical: large {name}", lambda obj=obj: holdall.dumps(obj, canonical=True), same)
        if name not in ("keys", "sets", "deep", "ints"):
            packed = msgpack.dumps(obj)
            yield Call(f"msgpack.loads: large {name}", lambda data=packed: msgpack.loads(data), looks)
            document = bson.dumps({"held": obj})
            yield Call(f"bson.dumps: large {name}", lambda obj=obj: bson.dumps({"held": obj}), same)
            yield Call(f"bson.loads: large {name}", lambda data=document: bson.loads(data), looks)
            yield Call(
                f"bson.open: large {name}", lambda data=document: whole(bson.open(data)["held"][1]), repr
            )
