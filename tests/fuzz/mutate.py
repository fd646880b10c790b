"""Mutation fuzzer: valid messages of every kind, damaged; `loads` may answer or raise our exceptions, nothing else.

Every format takes turns, untyped and by the annotations of `typed_targets`.

    python tests/fuzz/mutate.py --seconds 60 --seed 1 --out findings

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
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import contextlib

import holdall
from tests.support import models_trusted
from tests.support.formats import FORMATS, Format
from tests.support.hostile import MEMORY_MULTIPLE
from tests.support.kinds import KINDS, TYPES
from tests.support.typed_targets import TARGETS

HANG_SECONDS = 20
LARGEST_INPUT = 1 << 16
# What the process may grow by beside the multiple of the largest input: results wait for the collector.
SLACK = 256 << 20
# Where the child tells how it stands: number of the attempt, attempts done, refused, loaded, dumped again.
COUNTERS = struct.Struct("<5q")
INTERESTING = bytes([0, 1, 2, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF])
HUGE = [
    b"\xfc\xff\xff",
    b"\xfd\xff\xff\xff\x7f",
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xfe" + b"\xff" * 8,
]


class Turn(NamedTuple):
    """What is damaged, and how it is loaded."""

    fmt: Format
    # Nothing: it is loaded without a type.
    annotation: Any
    pool: list[bytes]


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


def turns() -> list[Turn]:
    """They are taken one after the other, by the number of the attempt; untyped ones as often as typed ones."""
    typed, found = [], []
    for fmt in FORMATS.values():
        stored = {name: [fmt.dumps(value) for value in values] for name, _, values in TARGETS}
        everything = [data for messages in stored.values() for data in messages]
        # Mostly its own messages: another type's is refused at once.
        typed.append([Turn(fmt, each, stored[name] * 20 + everything) for name, each, _ in TARGETS])
    untyped = [
        Turn(fmt, None, plain_seeds(fmt) + typed[at][0].pool if fmt.plain else seeds())
        for at, fmt in enumerate(FORMATS.values())
    ]
    for each in zip(*typed, strict=True):
        found += [*each, *untyped]
    return found


def flip(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def replace(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 2, 4))):
        data[rng.randrange(len(data))] = rng.choice((rng.randrange(256), rng.choice(INTERESTING)))


def truncate(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    del data[rng.randrange(len(data)) :]


def delete(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 1, 2, 4, 16))]


def insert(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice((1, 1, 2, 4, 16)))


def repeat(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A piece of the message many times: nesting and length."""
    at = rng.randrange(len(data))
    piece = bytes(data[at : at + rng.choice((1, 2, 3, 8, 40))])
    times = rng.choice((2, 3, 10, 100, 1000))
    data[at:at] = piece * min(times, max(1, (LARGEST_INPUT - len(data)) // (len(piece) or 1)))


def splice(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """The head of one message and the tail of another, or a piece of another put in."""
    other = rng.choice(pool)
    start = rng.randrange(len(other))
    at = rng.randrange(len(data) + 1)
    if rng.random() < 0.5:
        data[at:] = other[start:]
    else:
        data[at : at + rng.choice((0, 0, 1, 5))] = other[start : start + rng.choice((1, 4, 20, 200))]


def inflate(rng: random.Random, data: bytearray, pool: list[bytes]) -> None:
    """A byte that may be a length becomes a huge one."""
    at = rng.randrange(len(data))
    data[at : at + 1] = rng.choice(HUGE)


MUTATIONS = [flip, flip, replace, replace, truncate, delete, insert, repeat, splice, splice, inflate]


def mutated(pool: list[bytes], seed: int, number: int) -> bytes:
    """The input of an attempt: the same for the same seed and number."""
    rng = random.Random(seed << 40 | number)
    data = bytearray(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            rng.choice(MUTATIONS)(rng, data, pool)
    return bytes(data[:LARGEST_INPUT])


def attempt(data: bytes, number: int, turn: Turn) -> tuple[bool, bool]:
    """Loaded? And dumped again? Anything but our exceptions goes up."""
    options: dict[str, Any] = {}
    if turn.annotation is not None:
        options = {"type": turn.annotation, "strict": number % 3 > 0}
    if not turn.fmt.plain:
        options["types"] = (TYPES, TYPES, holdall.Record, ())[number // 7 % 4]
    try:
        found = turn.fmt.loads(data, **options)
    except holdall.HoldallError:
        return False, False
    if number // 5 % 2:
        return True, False
    try:
        # what was loaded must be whole: a second look at all of it
        turn.fmt.dumps(found)
    except holdall.HoldallError:
        return True, False
    return True, True


def memory_now() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def child(args: argparse.Namespace) -> None:
    """Attempts from --first on, until the parent's time or count is over."""
    taken = turns()
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
        good, dumped = attempt(mutated(turn.pool, args.seed, number), number, turn)
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
    taken = turns()
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
        report(args, number, turn, mutated(turn.pool, args.seed, number), problem)
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
    path = folder / f"seed{args.seed}-{number}.{turn.fmt.name}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(
        f"attempt {number}, {len(data)} bytes, as {turn.annotation}\n{data[:200].hex()}\n{problem}\n"
    )
    print(
        f"finding: attempt {number} ({len(data)} bytes, {turn.fmt.name} as {turn.annotation}), in {path}\n{problem}",
        file=sys.stderr,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to run")
    parser.add_argument(
        "--seed", type=int, default=int.from_bytes(os.urandom(3), "big"), help="default: a new one"
    )
    parser.add_argument("--count", type=int, default=1 << 62, help="at most that many mutations")
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
