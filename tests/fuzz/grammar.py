"""Structure-aware fuzzer: messages written by the formats' grammars, with elements in wrong places, through every door.

`mutate` damages valid messages and mostly finds how the first damage is refused. Here messages are made by someone who knows the
format (`grammar_hold`, `grammar_plain`, `grammar_files`): references to what is open or comes later, layouts of other kinds, known
types with parts of wrong types, cycles through everything, classes whose own code interferes (`grammar_classes`), right checksums.
What may come out of a door is said in `grammar_doors`.

    python tests/fuzz/grammar.py --seconds 60 --seed 1 --jobs 2 --out findings
    python tests/fuzz/grammar.py --format julia --count 1000000

Each input goes through several doors, one an attempt. `campaign` says how the attempts are run, and what becomes of findings.
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
from holdall import msgpack
from tests.fuzz import bson_doors, campaign, grammar_doors, julia_doors, lisp_doors
from tests.fuzz.grammar_classes import classes
from tests.fuzz.grammar_elements import TEXTS
from tests.fuzz.grammar_files import Files, written
from tests.fuzz.grammar_hold import Message
from tests.fuzz.grammar_plain import ANYTHING, Bson, Julia, Msgpack
from tests.support.formats import FORMATS
from tests.support.typed_targets import TARGETS

# Doors that an input goes through.
SHARE = 4
# How often an element is a wrong one: most messages are right, and reach what stands behind the first checks.
WRONG = (0.0, 0.0, 0.0, 0.005, 0.02, 0.05)
VALUES = (3, 5, 10, 20, 40, 120)


class Source(NamedTuple):
    """Messages of one kind, and the doors that take them."""

    format: str
    make: Callable[[random.Random], bytes]
    doors: list[tuple[str, Callable[[bytes, int], tuple[bool, bool]]]]


def drawn(rng: random.Random) -> tuple[float, int]:
    return WRONG[int(rng.random() * len(WRONG))], VALUES[int(rng.random() * len(VALUES))]


def tree(value: Any) -> Any:
    """Instances as maps of their fields."""
    return msgpack.loads(msgpack.dumps(value))


def changed(rng: random.Random, value: Any, left: int = 12) -> Any:
    """The same with a few of its parts taken away, put in twice, or replaced."""
    if rng.random() < 0.04:
        return rng.choice(
            (None, True, 0, -1, 1 << 70, 1.5, "", "x", b"x", [], {}, [value], {"a": value}, ANYTHING)
        )
    if type(value) is list:
        made = [changed(rng, item, left - 1) for item in value]
        if made and rng.random() < 0.1:
            made.append(made[0]) if rng.random() < 0.5 else made.pop()
        return made
    if type(value) is dict:
        items = [(key, changed(rng, item, left - 1)) for key, item in value.items()]
        if items and rng.random() < 0.1:
            items.pop(rng.randrange(len(items)))
        if items and rng.random() < 0.1:
            items.append((rng.choice(TEXTS), items[0][1]))
        if items and rng.random() < 0.1:
            rng.shuffle(items)
        return dict(items)
    return value


def sources(only: str | None) -> list[Source]:
    known = classes()
    files = written()

    def hold(rng: random.Random) -> bytes:
        return Message(rng, known, *drawn(rng)).message()

    def forged(rng: random.Random) -> bytes:
        return Files(rng, known, *drawn(rng)).forged()

    def damaged(rng: random.Random) -> bytes:
        return Files(rng, known, *drawn(rng)).damaged(files)

    def log(rng: random.Random) -> bytes:
        wrong, values = drawn(rng)
        return Files(rng, known, wrong, min(values, 20)).log()

    def plain(of: Any) -> Callable[[random.Random], bytes]:
        return lambda rng: of(rng, *drawn(rng)).message()

    def named(doors: list[Any]) -> list[Any]:
        return [(door.__name__, door) for door in doors]

    bson = [(door.name, door.load) for door, _ in bson_doors.doors()]
    julia = [(door.name, door.load) for door, _ in julia_doors.doors()]
    either = named([*grammar_doors.FILES, *grammar_doors.LOGS])
    found = [
        *[Source("hold", hold, named(grammar_doors.HOLD))] * 6,
        Source("hold", forged, named(grammar_doors.FILES)),
        Source("hold", damaged, either),
        Source("hold", log, named(grammar_doors.LOGS)),
        *[Source("msgpack", plain(Msgpack), named(grammar_doors.MSGPACK))] * 2,
        *[Source("bson", plain(Bson), [*bson, ("inspected", grammar_doors.bson_inspected)])] * 2,
        *[Source("julia", plain(Julia), [*julia, ("inspected", grammar_doors.julia_inspected)])] * 2,
        *[Source("lisp", lambda rng: lisp_doors.made(rng, *drawn(rng)), [*lisp_doors.DOORS])] * 2,
        *targets(known),
    ]
    return [source for source in found if only in (None, source.format)]


def targets(known: list[Any]) -> list[Source]:
    """Values of the types that are loaded, changed a little, in each format."""
    found = []
    for at, (name, _, values) in enumerate(TARGETS):
        trees = []
        for value in values:
            with contextlib.suppress(holdall.EncodeError):
                trees.append(tree(value))
        if not trees:
            continue

        def hold(rng: random.Random, trees: list[Any] = trees) -> bytes:
            wrong, values = drawn(rng)
            message = Message(rng, known, wrong, values)
            return message.given(changed(rng, rng.choice(trees)))

        def plain(of: Any, around: bool, trees: list[Any] = trees) -> Callable[[random.Random], bytes]:
            def made(rng: random.Random) -> bytes:
                value = changed(rng, rng.choice(trees))
                return of(rng, *drawn(rng)).message({"": value} if around else value)

            return made

        for fmt, make in (("hold", hold), ("msgpack", plain(Msgpack, False)), ("bson", plain(Bson, True))):
            door = grammar_doors.by_target(at, FORMATS[fmt])
            if at % 3 == len(found) % 3 or fmt == "hold":
                found.append(Source(fmt, make, [(f"loads as {name}", door)] * 2))
    return found


class Grammar:
    """Sources in turn; the doors of each in turn, several for an input."""

    def __init__(self, only: str | None) -> None:
        self.sources = sources(only)
        self.last: tuple[tuple[int, int], bytes] = ((-1, -1), b"")

    def turns(self) -> int:
        return sum(
            len(source.doors)
            for source in {(source.format, source.make): source for source in self.sources}.values()
        )

    def turn(self, number: int) -> campaign.Turn:
        at = number // SHARE
        source = self.sources[at % len(self.sources)]
        door = source.doors[(at // len(self.sources) * SHARE + number % SHARE) % len(source.doors)]
        return campaign.Turn(source.format, door[0], door[1])

    def made(self, seed: int, number: int) -> bytes:
        at = number // SHARE
        if self.last[0] != (seed, at):
            rng = random.Random(seed << 40 | at)
            self.last = (seed, at), self.sources[at % len(self.sources)].make(rng)
        return self.last[1]


def main() -> int:
    return campaign.main(__doc__ or "", [*FORMATS, "julia", "lisp"], "messages", __file__, Grammar)


if __name__ == "__main__":
    sys.exit(main())
