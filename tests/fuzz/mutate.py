"""Mutation fuzzer: valid messages of every kind, damaged; `loads` may answer or raise our exceptions, nothing else.

Every format takes turns, untyped and by the annotations of `typed_targets`; BSON and Julia's files by each of their doors.

    python tests/fuzz/mutate.py --seconds 60 --seed 1 --out findings
    python tests/fuzz/mutate.py --format bson --count 1000000

The work is done in a child process with a bound on its memory. Before each attempt the child writes the attempt's
number where the parent can see it, so that a crash or a hang is known by its number; the input is made again from
seed and number. Exit status 1 means a finding; its input is then in the folder given by --out.
"""

from __future__ import annotations

import argparse
import mmap
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import contextlib

import holdall
from tests.fuzz import bson_doors, julia_doors
from tests.fuzz.bson_documents import BSON_MUTATIONS
from tests.fuzz.julia_doors import JULIA_MUTATIONS
from tests.fuzz.mutations import LARGEST_INPUT, MUTATIONS, Mutation
from tests.support import models_trusted
from tests.support.formats import FORMATS, Format
from tests.support.hostile import MEMORY_MULTIPLE
from tests.support.kinds import KINDS, TYPES
from tests.support.typed_targets import TARGETS

HANG_SECONDS = 20
# What the process may grow by beside the multiple of the largest input: results wait for the collector.
SLACK = 256 << 20
# Where the child tells how it stands: number of the attempt, attempts done, refused, loaded, dumped again.
COUNTERS = struct.Struct("<5q")


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


def attempt(data: bytes, number: int, turn: Turn) -> tuple[bool, bool]:
    return turn.load(data, number)


def memory_now() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def child(args: argparse.Namespace) -> None:
    """Attempts from --first on, until the parent's time or count is over."""
    taken = turns(args.format)
    with open(args.counters, "r+b") as file:
        counters = mmap.mmap(file.fileno(), COUNTERS.size)
    if sys.platform.startswith("linux"):
        bound = memory_now() + MEMORY_MULTIPLE * LARGEST_INPUT + SLACK
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    number, done, refused, loaded, again = args.first, 0, 0, 0, 0
    end = time.monotonic() + args.seconds
    while done < args.count and (done % 64 or time.monotonic() < end):
        COUNTERS.pack_into(counters, 0, number, done, refused, loaded, again)
        turn = taken[number % len(taken)]
        good, dumped = attempt(mutated(turn, args.seed, number), number, turn)
        refused += not good
        loaded += good
        again += dumped
        number += 1
        done += 1
    COUNTERS.pack_into(counters, 0, number, done, refused, loaded, again)


class Finding(Exception):
    """The child ended badly."""


def watch(process: subprocess.Popen[str], counters: mmap.mmap) -> None:
    """Wait for the child; a number that stands still for long is a hang."""
    last, since = -1, time.monotonic()
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        number = COUNTERS.unpack_from(counters)[0]
        if number != last:
            last, since = number, time.monotonic()
        elif time.monotonic() - since > HANG_SECONDS:
            process.kill()
            process.communicate()
            raise Finding(f"no end after {HANG_SECONDS} s")
    errors = process.communicate()[1]
    if process.returncode < 0:
        raise Finding(f"ended by signal {-process.returncode}\n{errors[-3000:]}")
    if process.returncode:
        raise Finding(f"ended with status {process.returncode}\n{errors[-3000:]}")


def run(args: argparse.Namespace) -> int:
    started = time.monotonic()
    first, findings = 0, 0
    total = [0, 0, 0, 0]
    taken = turns(args.format)
    while True:
        left = args.seconds - (time.monotonic() - started)
        if left <= 0 or total[0] >= args.count or findings >= args.most:
            break
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(COUNTERS.size))
            file.flush()
            counters = mmap.mmap(file.fileno(), COUNTERS.size)
            options = {
                "first": first,
                "seed": args.seed,
                "seconds": left,
                "count": args.count - total[0],
                "counters": file.name,
            }
            command = [sys.executable, "-X", "faulthandler", __file__, "--child"]
            command += [f"--{name}={value}" for name, value in options.items()]
            command += [f"--format={args.format}"] if args.format else []
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            problem = ""
            try:
                watch(process, counters)
            except Finding as finding:
                problem = str(finding)
            number, done, *rest = COUNTERS.unpack_from(counters)
            counters.close()
        for index, count in enumerate((done, *rest)):
            total[index] += count
        if not problem:
            break
        findings += 1
        total[0] += 1
        turn = taken[number % len(taken)]
        report(args, number, turn, mutated(turn, args.seed, number), problem)
        first = number + 1
    seconds = time.monotonic() - started
    print(f"{total[0] / seconds:,.0f} executions/s")
    print(
        f"{total[0]:,} mutations in {len(taken)} turns with seed {args.seed} in {seconds:.1f} s: "
        f"{total[1]:,} refused, {total[2]:,} loaded ({total[3]:,} dumped again), {findings} findings"
    )
    return 1 if findings else 0


def report(args: argparse.Namespace, number: int, turn: Turn, data: bytes, problem: str) -> None:
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed{args.seed}-{number}.{turn.format}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(
        f"attempt {number}, {len(data)} bytes, by {turn.door}\n{data[:200].hex()}\n{problem}\n"
    )
    print(
        f"finding: attempt {number} ({len(data)} bytes, {turn.format} by {turn.door}), in {path}\n{problem}",
        file=sys.stderr,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to run")
    parser.add_argument(
        "--seed", type=int, default=int.from_bytes(os.urandom(3), "big"), help="default: a new one"
    )
    parser.add_argument("--count", type=int, default=1 << 62, help="at most that many mutations")
    parser.add_argument("--format", choices=[*FORMATS, "julia"], help="only that one; default: all")
    parser.add_argument("--most", type=int, default=20, help="stop after that many findings")
    parser.add_argument("--out", default="fuzz-findings", help="folder for inputs that went wrong")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--counters", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args)
        return 0
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
