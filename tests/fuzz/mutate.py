"""Mutation fuzzer: valid messages of every kind, damaged; `loads` may answer or raise our exceptions, nothing else.

Every format takes turns, untyped and by the annotations of `typed_targets`; BSON and Julia's files by each of their doors.

    python tests/fuzz/mutate.py --seconds 60 --seed 1 --out findings
    python tests/fuzz/mutate.py --format bson --count 1000000

`campaign` says how the attempts are run, and what becomes of findings.
"""

from __future__ import annotations

import contextlib
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import holdall
from tests.fuzz import bson_doors, campaign, julia_doors, lisp_doors
from tests.fuzz.bson_documents import BSON_MUTATIONS
from tests.fuzz.julia_doors import JULIA_MUTATIONS
from tests.fuzz.mutations import LARGEST_INPUT, MUTATIONS, Mutation
from tests.support import models_trusted
from tests.support.formats import FORMATS, Format
from tests.support.kinds import KINDS, TYPES
from tests.support.typed_targets import TARGETS


class Turn(NamedTuple):
    """What is damaged, how, and how it is loaded."""

    format: str
    door: str
    pool: list[bytes]
    # Of an input and the attempt's number: whether it was loaded, and dumped again. Anything but what may be raised goes up.
    load: Callable[[bytes, int], tuple[bool, bool]]
    mutations: list[Mutation] = MUTATIONS


def seeds() -> list[bytes]:
    """Valid messages of hold: every kind, in every mode, and some of them together."""
    found = []
    for kind in KINDS:
        found.append(holdall.dumps(kind.make()))
        found.append(holdall.dumps([kind.make(), {"k": kind.make()}], intern=True))
        found.append(holdall.dumps(kind.make(), canonical=True))
    found.append(holdall.dumps({kind.name: kind.make() for kind in KINDS}))
    for obj in (len, models_trusted.Reduce6(1), models_trusted.Reduce5(a=1), models_trusted.Built(1).method):
        found.append(holdall.dumps(obj, trust=True))
    return [data for data in found if len(data) <= LARGEST_INPUT // 2]


def plain_seeds(fmt: Format) -> list[bytes]:
    """Valid messages of a plain format: what it can store of every kind."""
    found = []
    for kind in KINDS:
        with contextlib.suppress(holdall.EncodeError):
            found.append(fmt.dumps([kind.make(), {"k": kind.make()}]))
    return [data for data in found if len(data) <= LARGEST_INPUT // 2]


def by_loads(fmt: Format, annotation: Any) -> Callable[[bytes, int], tuple[bool, bool]]:
    """The door of a format that takes a type, or without one anything."""

    def load(data: bytes, number: int) -> tuple[bool, bool]:
        options: dict[str, Any] = {}
        if annotation is not None:
            options = {"type": annotation, "strict": number % 3 > 0}
        if not fmt.plain:
            options["types"] = (TYPES, TYPES, holdall.Record, ())[number // 7 % 4]
        try:
            found = fmt.loads(data, **options)
        except holdall.HoldallError:
            return False, False
        if number // 5 % 2:
            return True, False
        try:
            # what was loaded must be whole: a second look at all of it
            fmt.dumps(found)
        except holdall.HoldallError:
            return True, False
        return True, True

    return load


def turns(only: str | None = None) -> list[Turn]:
    """They are taken one after the other, by the number of the attempt; untyped ones as often as typed ones."""
    ways, found = [], []
    for fmt in FORMATS.values():
        # Its doors are more, and take documents alone.
        if fmt.name == "bson":
            continue
        stored = {name: [fmt.dumps(value) for value in values] for name, _, values in TARGETS}
        everything = [data for messages in stored.values() for data in messages]
        # Mostly its own messages: another type's is refused at once.
        ways.append(
            [
                Turn(fmt.name, f"loads as {name}", stored[name] * 20 + everything, by_loads(fmt, annotation))
                for name, annotation, _ in TARGETS
            ]
        )
        pool = plain_seeds(fmt) + ways[-1][0].pool if fmt.plain else seeds()
        ways.append([Turn(fmt.name, "loads", pool, by_loads(fmt, None))] * len(TARGETS))
    doors = [Turn("bson", door.name, pool, door.load, BSON_MUTATIONS) for door, pool in bson_doors.doors()]
    one, typed = doors[: -len(TARGETS)], doors[-len(TARGETS) :]
    ways += [typed, [one[at % len(one)] for at in range(len(TARGETS))]]
    doors = [Turn("julia", door.name, pool, door.load, JULIA_MUTATIONS) for door, pool in julia_doors.doors()]
    ways += [[doors[at % len(doors)] for at in range(len(TARGETS))]] * 2
    doors = [
        Turn("lisp", door.name, pool, door.load, lisp_doors.LISP_MUTATIONS)
        for door, pool in lisp_doors.doors()
    ]
    ways.append([doors[at % len(doors)] for at in range(len(TARGETS))])
    for each in zip(*ways, strict=True):
        found += each
    return [turn for turn in found if only in (None, turn.format)]


def mutated(turn: Turn, seed: int, number: int) -> bytes:
    """The input of an attempt: the same for the same seed and number."""
    rng = random.Random(seed << 40 | number)
    data = bytearray(rng.choice(turn.pool))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            rng.choice(turn.mutations)(rng, data, turn.pool)
    return bytes(data[:LARGEST_INPUT])


class Mutator:
    """Turns, taken one after the other by the number of the attempt."""

    def __init__(self, only: str | None) -> None:
        self.taken = turns(only)

    def turns(self) -> int:
        return len(self.taken)

    def turn(self, number: int) -> campaign.Turn:
        turn = self.taken[number % len(self.taken)]
        return campaign.Turn(turn.format, turn.door, turn.load)

    def made(self, seed: int, number: int) -> bytes:
        return mutated(self.taken[number % len(self.taken)], seed, number)


def main() -> int:
    return campaign.main(__doc__ or "", [*FORMATS, "julia", "lisp"], "mutations", __file__, Mutator)


if __name__ == "__main__":
    sys.exit(main())
