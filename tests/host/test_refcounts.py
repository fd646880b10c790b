"""Reference counts and memory stay level over 10,000 round trips of every kind, and over 10,000 that fail.

`sys.getallocatedblocks` counts every object and buffer that CPython's allocator has given out: one forgotten reference
per round would show as thousands.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

import pytest

import holdall
from tests.support import models
from tests.support.kinds import KINDS as ALL_KINDS
from tests.support.kinds import TYPES, Kind, text
from tests.support.level import damaged, resident_stays_level, stays_level

ROUNDS = 10_000
# Larger examples get fewer rounds: a leak shows in those as well.
SLOW_BYTES = 3_000

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("only_new_objects")]


def rounds_of(data: bytes) -> int:
    return ROUNDS if len(data) < 400 else ROUNDS // 10 if len(data) < SLOW_BYTES else 500


# NumPy's arrays take no part in garbage collection: a cycle through one is never freed, whoever made it.
KINDS = [kind for kind in ALL_KINDS if kind.name != "numpy array cyclic"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_round_trips(kind: Kind) -> None:
    obj = kind.make()
    encoder, decoder = holdall.Encoder(), holdall.Decoder(types=TYPES)
    data = encoder.encode(obj)

    def work() -> None:
        decoder.decode(encoder.encode(obj))

    stays_level(work, rounds_of(data))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_other_modes(kind: Kind) -> None:
    obj = kind.make()
    tree = {} if "cyclic" in kind.name else {"refs": False}

    def work() -> None:
        holdall.loads(holdall.dumps(obj, canonical=True), types=TYPES)
        holdall.loads(holdall.dumps(obj, trust=True, intern=True), types=TYPES, trust=True)
        holdall.loads(holdall.dumps(obj, **tree), types=holdall.Record)
        holdall.deepcopy(obj)

    stays_level(work, 500)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_failing_loads(kind: Kind) -> None:
    """Cut off and changed at every place."""
    data = holdall.dumps(kind.make())
    hostile = damaged(data, kind.name)

    def work() -> None:
        for attempt in hostile:
            with contextlib.suppress(holdall.DecodeError):
                holdall.loads(attempt, types=TYPES)

    # a message that loads after all may fill CPython's own caches (compiled patterns, zones)
    stays_level(work, max(100, rounds_of(data) // len(hostile)))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_failing_dumps(kind: Kind) -> None:
    """What can't be stored comes last, when the rest is already written."""
    graph = [kind.make(), {"k": kind.make()}, (x for x in ())]

    def work() -> None:
        try:
            holdall.dumps(graph)
        except holdall.EncodeError:
            return
        raise AssertionError("a generator was stored")

    stays_level(work, 1_000)


def raising_hook(obj: Any) -> Any:
    raise ZeroDivisionError


def test_failing_hooks() -> None:
    def work() -> None:
        for obj in ([iter(()), 1], {"a": (iter(()),)}):
            try:
                holdall.dumps(obj, enc_hook=raising_hook)
            except (ZeroDivisionError, holdall.EncodeError):
                continue
            raise AssertionError("the hook's error was lost")

    stays_level(work, ROUNDS)


def test_failing_permissions_and_limits() -> None:
    data = holdall.dumps([models.DPoint(1, [text("held")]), [[[[1]]]]])

    def work() -> None:
        for options in ({}, {"types": [models.DSlots]}, {"types": TYPES, "limits": holdall.Limits(depth=2)}):
            try:
                holdall.loads(data, **options)  # type: ignore[arg-type]
            except holdall.DecodeError:
                continue
            raise AssertionError("loaded")

    stays_level(work, ROUNDS)


SENTINELS: dict[str, Any] = {
    "none": None,
    "true": True,
    "false": False,
    "small int": 7,
    "empty tuple": (),
    "empty string": "",
    "character": "a",
    "empty bytes": b"",
    "ellipsis": ...,
    "class": models.DSlots,
    "dict class": models.MyDict,
    "member": models.Color.RED,
    "list type": list,
    "attribute name": sys.intern("left"),
    "value string": text("some text held by the test"),
    "value list": [1],
}


def test_reference_counts_of_what_everyone_shares() -> None:
    """Also where CPython makes an object immortal, the count may not run away."""
    node = models.PlainSlots()
    node.left, node.right, node.value = SENTINELS["value string"], SENTINELS["value list"], None
    graph = [
        *SENTINELS.values(),
        node,
        models.MyDict(a=()),
        models.DSlots(None, True),
        {"a": "a", "left": b""},
    ]
    graph = [obj for obj in graph if not isinstance(obj, type)]
    data = holdall.dumps(graph)

    def counts() -> dict[str, int]:
        return {name: sys.getrefcount(obj) for name, obj in SENTINELS.items()}

    def work() -> None:
        holdall.loads(holdall.dumps(graph), types=TYPES)
        holdall.deepcopy(graph)
        for end in range(1, len(data), 7):
            with contextlib.suppress(holdall.DecodeError):
                holdall.loads(data[:end], types=TYPES)

    for _ in range(10):
        work()
    gc.collect()
    before = counts()
    for _ in range(1_000):
        work()
    gc.collect()
    after = counts()
    for name in SENTINELS:
        assert abs(after[name] - before[name]) < 100, name


@pytest.mark.resident
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.xdist_group("memory")
def test_resident_memory_stays_level() -> None:
    """Buffers that CPython doesn't count: those of the core itself."""

    objects = [kind.make() for kind in KINDS]
    messages = [holdall.dumps(obj) for obj in objects]

    def work() -> None:
        for obj, data in zip(objects, messages, strict=True):
            holdall.loads(holdall.dumps(obj), types=TYPES)
            with contextlib.suppress(holdall.DecodeError):
                holdall.loads(data[: len(data) // 2], types=TYPES)

    for _ in range(5):
        work()

    def rounds() -> None:
        for _ in range(60):
            work()

    resident_stays_level(rounds, 4 << 20)
