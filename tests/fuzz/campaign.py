"""Runs a fuzzer: attempts in child processes with a bound on their memory, findings with their inputs, shrunk.

Before each attempt the child writes the attempt's number where the parent can see it, so that a crash or a hang is known by its
number; the input is made again from seed and number. An exception that may not come out is reported by the child, which goes on.
Exit status 1 means a finding; its input is then in the folder given by --out.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import mmap
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from tests.fuzz.mutations import LARGEST_INPUT
from tests.support.file_frames import resealed
from tests.support.hostile import MEMORY_MULTIPLE

HANG_SECONDS = 20
# So many times as long an attempt may wait for the processor.
MOST_WAITING = 10
# What the process may grow by beside the multiple of the largest input: results wait for the collector.
SLACK = 256 << 20
# Where the child tells how it stands: number of the attempt, attempts done, refused, loaded, dumped again.
COUNTERS = struct.Struct("<5q")
# Attempts between two looks at the reference counts of what is never freed.
WINDOW = 1 << 14
# What a count may drift by in a window: caches and free lists of the interpreter and of libraries.
DRIFT = 1500
# Of the same finding so many are kept.
ALIKE = 3
SHRINKING_SECONDS = 20
PROGRESS_SECONDS = 300


class Turn(NamedTuple):
    """One door, and how it is gone through."""

    format: str
    door: str
    # Of an input and the attempt's number: whether it was loaded, and dumped again. Anything but what may be raised goes up.
    load: Callable[[bytes, int], tuple[bool, bool]]


class Fuzzer(Protocol):
    """What makes inputs: the same for the same seed and number."""

    def turns(self) -> int: ...
    def turn(self, number: int) -> Turn: ...
    def made(self, seed: int, number: int) -> bytes: ...


def attempt(data: bytes, number: int, turn: Turn) -> tuple[bool, bool]:
    return turn.load(data, number)


def memory_now() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def seconds_spent(process: int) -> float:
    """Processor time that another process has had; time itself where nobody tells. A machine may be busy with other things."""
    try:
        with open(f"/proc/{process}/stat") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return time.monotonic()


def bound_memory() -> None:
    # AddressSanitizer reserves terabytes of addresses.
    if sys.platform.startswith("linux") and "asan" not in os.environ.get("LD_PRELOAD", ""):
        bound = memory_now() + MEMORY_MULTIPLE * LARGEST_INPUT + SLACK
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def signature(error: BaseException) -> str:
    """What findings of one cause have in common."""
    lines = traceback.extract_tb(error.__traceback__)
    place = f"{pathlib.Path(lines[-1].filename).name}:{lines[-1].name}" if lines else ""
    with contextlib.suppress(Exception):
        said = re.sub(r"0x[0-9a-f]+|\d+|'.*?'", "N", str(error))[:60]
        return f"{type(error).__name__} in {place}: {said}"
    return f"{type(error).__name__} in {place}"


# --- the child ---
SINGLETONS: list[Any] = [None, True, False, ..., NotImplemented, (), "", b"", 0, 1, 2, -1, 7, "a", "x", frozenset(), int, str, list, dict, tuple, object]  # fmt: skip


def counts() -> list[int]:
    gc.collect()
    return [sys.getrefcount(one) for one in SINGLETONS]


def child(args: argparse.Namespace, fuzzer: Fuzzer) -> None:
    """Attempts from --first on, until the parent's time or count is over."""
    with open(args.counters, "r+b") as file:
        counters = mmap.mmap(file.fileno(), COUNTERS.size)
    turns = fuzzer.turns()
    assert turns > 0
    # What is there before is never garbage, and low thresholds then cost little.
    gc.collect()
    gc.freeze()
    thresholds = [gc.get_threshold(), (3, 2, 2), (40, 3, 3), gc.get_threshold()]
    bound_memory()
    number, done, refused, loaded, again = args.first, 0, 0, 0, 0
    seen: dict[str, int] = {}
    before: list[int] = []
    moved: list[list[int]] = [[] for _ in SINGLETONS]
    end = time.monotonic() + args.seconds
    parent = os.getppid()
    while done < args.count and (done % 64 or (time.monotonic() < end and os.getppid() == parent)):
        COUNTERS.pack_into(counters, 0, number, done, refused, loaded, again)
        turn = fuzzer.turn(number)
        gc.set_threshold(*thresholds[number % 4])
        try:
            good, dumped = attempt(fuzzer.made(args.seed, number), number, turn)
        except BaseException as error:
            good = dumped = False
            known = signature(error)
            seen[known] = seen.get(known, 0) + 1
            if seen[known] <= ALIKE:
                told = {"number": number, "problem": f"{known}\n{traceback.format_exc()[-3000:]}"}
                print(json.dumps(told), flush=True)
            del error
        refused += not good
        loaded += good
        again += dumped
        number += 1
        done += 1
        if done % WINDOW == 0:
            gc.set_threshold(*thresholds[0])
            now = counts()
            # The first windows fill caches.
            for at, (was, is_) in enumerate(zip(before, now, strict=True)) if done > 3 * WINDOW else ():
                one = SINGLETONS[at]
                # What is kept for speed may hold many for a while: what is lost, or never given back, goes on in one direction.
                step = (is_ - was > DRIFT) - (was - is_ > DRIFT)
                moved[at] = [*moved[at][-2:], step]
                if moved[at] in ([1, 1, 1], [-1, -1, -1]):
                    told = {
                        "number": number - 1,
                        "problem": f"leak? {one!r} had {was} references, {WINDOW} attempts later {is_}",
                    }
                    print(json.dumps(told), flush=True)
            before = now
    # Under a checker of memory the interpreter takes long to end.
    COUNTERS.pack_into(counters, 0, -1, done, refused, loaded, again)


# --- shrinking ---
def outcome(data: bytes, number: int, turn: Turn) -> str:
    """What comes of an input, tried in a process of its own: a signal, an exception, or nothing."""
    out, into = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(out)
        said = ""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        signal.alarm(HANG_SECONDS)
        bound_memory()
        try:
            attempt(data, number, turn)
        except BaseException as error:
            said = signature(error)
        os.write(into, said.encode("utf-8", "replace"))
        os._exit(0)
    os.close(into)
    with open(out, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitpid(process, 0)[1]
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


def shrunk(data: bytes, number: int, turn: Turn, seconds: float = SHRINKING_SECONDS) -> tuple[bytes, str]:
    """A smaller input of which the same comes, as far as it is found in a while."""
    wanted = outcome(data, number, turn)
    end = time.monotonic() + seconds
    if not wanted:
        return data, wanted
    size = max(1, len(data) // 2)
    while time.monotonic() < end:
        at, before = 0, len(data)
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if shorter[:4] == b"HOLD":
                shorter = resealed(shorter)
            if outcome(shorter, number, turn) == wanted:
                data = shorter
            else:
                at += size
        if size == 1 and len(data) == before:
            break
        size = max(1, size // 2)
    return data, wanted


def shrink(args: argparse.Namespace, fuzzer: Fuzzer) -> None:
    data, said = shrunk(pathlib.Path(args.shrink).read_bytes(), args.first, fuzzer.turn(args.first))
    print(json.dumps({"data": data.hex(), "outcome": said}))


# --- the parent ---
class Campaign:
    """One seed's attempts, in one child after the other."""

    def __init__(self, args: argparse.Namespace, fuzzer: Fuzzer, script: str, seed: int) -> None:
        self.args, self.fuzzer, self.script, self.seed = args, fuzzer, script, seed
        self.total = [0, 0, 0, 0]
        self.findings = 0
        self.counters: mmap.mmap | None = None

    def now(self) -> list[int]:
        """Attempts done, refused, loaded, dumped again, those of the running child included."""
        running = [0, 0, 0, 0]
        with contextlib.suppress(ValueError):
            running = list(COUNTERS.unpack_from(self.counters)[1:]) if self.counters else running
        return [one + other for one, other in zip(self.total, running, strict=True)]

    def command(self, **options: Any) -> list[str]:
        command = [sys.executable, "-X", "faulthandler", self.script]
        command += [f"--{name}={value}" for name, value in options.items()]
        return command + ([f"--format={self.args.format}"] if self.args.format else [])

    def run(self) -> None:
        started, first = time.monotonic(), 0
        while True:
            left = self.args.seconds - (time.monotonic() - started)
            if left <= 0 or self.total[0] >= self.args.count or self.findings >= self.args.most:
                return
            with tempfile.NamedTemporaryFile() as file:
                file.write(bytes(COUNTERS.size))
                file.flush()
                self.counters = counters = mmap.mmap(file.fileno(), COUNTERS.size)
                options = {
                    "first": first, "seed": self.seed, "seconds": left, "count": self.args.count - self.total[0], "counters": file.name,
                }  # fmt: skip
                command = [*self.command(**options), "--child"]
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                problem = self.watch(process, counters)
                number, done, *rest = COUNTERS.unpack_from(counters)
                self.counters = None
                counters.close()
            for index, count in enumerate((done, *rest)):
                self.total[index] += count
            if not problem:
                return
            self.total[0] += 1
            self.report(max(number, 0), problem)
            if number < 0:
                # All attempts were done: it went wrong at its end.
                return
            first = number + 1

    def watch(self, process: subprocess.Popen[str], counters: mmap.mmap) -> str:
        """Wait for the child, and say what became of it if it did not end well. A number that stands still for long is a hang."""
        errors: list[str] = []

        def findings() -> None:
            for line in process.stdout or ():
                with contextlib.suppress(ValueError):
                    told = json.loads(line)
                    self.report(told["number"], told["problem"])

        threads = [
            threading.Thread(target=findings),
            threading.Thread(target=lambda: errors.extend(process.stderr or ())),
        ]
        for thread in threads:
            thread.start()
        last, since, begun, hangs = -1, seconds_spent(process.pid), time.monotonic(), False
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
                # Nobody tells the processor time of what has ended.
                break
            number = COUNTERS.unpack_from(counters)[0]
            if number != last or number < 0:
                last, since, begun = number, seconds_spent(process.pid), time.monotonic()
            elif (
                seconds_spent(process.pid) - since > HANG_SECONDS
                or time.monotonic() - begun > MOST_WAITING * HANG_SECONDS
            ):
                process.kill()
                process.wait()
                hangs = True
        for thread in threads:
            thread.join()
        said = "".join(errors)[-3000:]
        if hangs:
            return f"no end after {HANG_SECONDS} s"
        if process.returncode < 0:
            return f"ended by signal {-process.returncode}\n{said}"
        return f"ended with status {process.returncode}\n{said}" if process.returncode else ""

    def report(self, number: int, problem: str) -> None:
        self.findings += 1
        turn = self.fuzzer.turn(number)
        try:
            data = self.fuzzer.made(self.seed, number)
        except Exception as error:
            data = b""
            problem = f"the fuzzer itself: {error!r}\n{problem}"
        folder = pathlib.Path(self.args.out)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"seed{self.seed}-{number}.{turn.format}"
        path.write_bytes(data)
        small = self.shrunk(path, number) if self.args.shrinking else None
        lines = [f"attempt {number}, {len(data)} bytes, by {turn.door}", data[:200].hex()]
        if small:
            lines.append(f"{len(small) // 2} bytes are enough: {small[:2000]}")
        path.with_suffix(".txt").write_text("\n".join([*lines, problem, ""]))
        print(
            f"finding: seed {self.seed}, attempt {number} ({len(data)} bytes, {turn.format} by {turn.door}), in {path}\n"
            + (f"shrunk to {len(small) // 2} bytes: {small[:400]}\n" if small else "")
            + problem,
            file=sys.stderr,
            flush=True,
        )

    def shrunk(self, path: pathlib.Path, number: int) -> str | None:
        command = self.command(first=number, seed=self.seed, shrink=path)
        with contextlib.suppress(Exception):
            done = subprocess.run(command, capture_output=True, text=True, timeout=4 * SHRINKING_SECONDS)
            made = json.loads(done.stdout)
            return made["data"] if made["outcome"] else None
        return None


def run(args: argparse.Namespace, fuzzer: Fuzzer, script: str, what: str) -> int:
    started = time.monotonic()
    campaigns = [Campaign(args, fuzzer, script, args.seed + job) for job in range(args.jobs)]
    threads = [threading.Thread(target=campaign.run) for campaign in campaigns]
    for thread in threads:
        thread.start()
    said = started
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(1)
        if time.monotonic() - said > PROGRESS_SECONDS:
            said = time.monotonic()
            done = sum(campaign.now()[0] for campaign in campaigns)
            print(f"{done:,} {what} in {said - started:.0f} s", file=sys.stderr, flush=True)
    seconds = time.monotonic() - started
    total = [sum(counts) for counts in zip(*(campaign.total for campaign in campaigns), strict=True)]
    findings = sum(campaign.findings for campaign in campaigns)
    seeds = f"seed {args.seed}" if args.jobs == 1 else f"seeds {args.seed} to {args.seed + args.jobs - 1}"
    print(f"{total[0] / seconds:,.0f} executions/s")
    print(
        f"{total[0]:,} {what} in {fuzzer.turns()} turns with {seeds} in {seconds:.1f} s: "
        f"{total[1]:,} refused, {total[2]:,} loaded ({total[3]:,} dumped again), {findings} findings"
    )
    return 1 if findings else 0


def parser(about: str, formats: list[str], what: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=about.split("\n")[0])
    made.add_argument("--seconds", type=float, default=60.0, help="how long to run")
    made.add_argument(
        "--seed", type=int, default=int.from_bytes(os.urandom(3), "big"), help="default: a new one"
    )
    made.add_argument("--count", type=int, default=1 << 62, help=f"at most that many {what}, in each process")
    made.add_argument("--jobs", type=int, default=1, help="processes, each with a seed of its own")
    made.add_argument("--format", choices=formats, help="only that one; default: all")
    made.add_argument("--most", type=int, default=20, help="stop a process after that many findings")
    made.add_argument("--out", default="fuzz-findings", help="folder for inputs that went wrong")
    made.add_argument(
        "--no-shrinking", dest="shrinking", action="store_false", help="keep inputs as they are"
    )
    made.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--shrink", default="", help=argparse.SUPPRESS)
    made.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    made.add_argument("--counters", default="", help=argparse.SUPPRESS)
    return made


def main(about: str, formats: list[str], what: str, script: str, make: Callable[[str | None], Fuzzer]) -> int:
    args = parser(about, formats, what).parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # What is stored of sets is in the order of their hashes: the same input in every process.
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})
    fuzzer = make(args.format)
    if args.child:
        child(args, fuzzer)
        return 0
    if args.shrink:
        shrink(args, fuzzer)
        return 0
    return run(args, fuzzer, script, what)
