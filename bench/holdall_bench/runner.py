"""Runs codecs on data sets: a process for each pair, all of a data set at a time, and turns in rounds.

In each round every codec has one turn of each kind, in an order that rotates, so that a machine that slows down half-way
slows all of them. Processes that wait for their turn use no processor.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from . import memory
from .codecs import Codec, by_name
from .data import Data
from .own_data import find_data
from .results import COLLECTORS, FAILED, OPS, Absent, Change, DataSet, Fidelity, Operation, Outcome, Timing

# Of the memory that is free, for the processes of one data set.
MEMORY_SHARE = 0.6
MOST_ROUNDS = 41
# How many times the patience for one call each step may take: those that call the codec, several times where memory is
# measured, there with every allocation watched. Making the data and looking at what came back are not the codec's time.
STEPS = {"import": 3, "dumps": 1, "loads": 1, "memory": 20}
# Seconds that all turns of a round take: above the first, a codec has no more than the fewest rounds; above the second, one.
SLOW, SLOWEST = 0.5, 3.0


@dataclass(frozen=True)
class Settings:
    """seconds: for the rounds of one data set, after `min_rounds`. patience: seconds for any one call of a codec's.

    collectors: with Python's garbage collector "on", "off", or both. memory: peak memory, too.
    """

    seconds: float = 6.0
    min_rounds: int = 3
    patience: float = 10.0
    collectors: tuple[str, ...] = COLLECTORS
    memory: bool = True
    full: bool = False


@dataclass
class Progress:
    """Told what is being done: text, and how much of all."""

    tell: Callable[[str, float], None] = lambda text, share: None


class Gone(Exception):
    """A worker that gives no more answers; the text says why."""


class NoData(Exception):
    """The data can't be made, by no process; the text says why."""


class Contestant:
    """One codec's process for one data set."""

    def __init__(self, codec: Codec, source: list[str], settings: Settings, volume: bool) -> None:
        self.codec, self.settings = codec, settings
        self.found: dict[str, Any] = {}
        self.volume: int | None = None
        self.reason = ""
        self.absent = ""
        self.skipped = False
        self.times: dict[tuple[str, str], list[float]] = {}
        self.collected: dict[str, list[float]] = {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "holdall_bench.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(),
            # Of its own, so that its children end with it.
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._waiting = b""
        self._job = {
            "source": source,
            "full": settings.full,
            "codec": codec.path or codec.name,
            "memory": settings.memory,
            "volume": volume,
        }

    def prepare(self) -> None:
        """Wait until it has checked its round trip; or has said why it can't.

        Raises NoData if it gets no further than the data.
        """
        at = ""
        try:
            self._send(**self._job)
            while True:
                answer = self._answer(at)
                at = answer.get("at", at)
                self.volume = answer.get("volume", self.volume)
                if "ready" in answer:
                    self.found = answer["ready"]
                    return
                if "unsuitable" in answer:
                    self.skipped = True
                self.absent = answer.get("absent", "")
                self.reason = answer.get("failed", "")
                if "broken" in answer:
                    raise Gone(answer["broken"])
                if self.skipped or self.absent or self.reason:
                    self.close()
                    return
        except Gone as gone:
            self.reason = str(gone)
            self.close()
            if at == "data":
                raise NoData(self.reason) from None

    def turn(self, op: str, collector: str) -> None:
        """One turn of the operation."""
        if not self.running:
            return
        try:
            self._send(op=op, collect=collector == "on")
            answer = self._answer(op)
        except Gone as gone:
            self.reason = str(gone)
            self.close()
            return
        if "ns" in answer:
            self.times.setdefault((op, collector), []).append(answer["ns"])
            if collector == "on":
                self.collected.setdefault(op, []).append(answer["collected"])

    @property
    def running(self) -> bool:
        return bool(self.found) and not self.reason

    def most_rounds(self, settings: Settings) -> int:
        if self.found["once"]:
            return 0
        seconds = sum(self.found["estimates"].values()) * len(settings.collectors) / 1e9
        return 1 if seconds > SLOWEST else settings.min_rounds if seconds > SLOW else MOST_ROUNDS

    @property
    def memory(self) -> int:
        """Resident bytes of its process."""
        with contextlib.suppress(OSError, ValueError):
            fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
            return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def close(self) -> None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._selector.close()
        self._errors.close()

    def outcome(self) -> Outcome:
        if self.reason or not self.found:
            return Outcome(self.codec.name, Fidelity(FAILED, reason=self.reason), bound=self.codec.bound)
        found = self.found
        fidelity = found["fidelity"]
        changes = [Change(**change) for change in fidelity["changes"]]
        return Outcome(
            self.codec.name,
            Fidelity(fidelity["verdict"], changes, fidelity["reason"]),
            size=found["size"],
            dumps=self._operation("dumps"),
            loads=self._operation("loads"),
            measured=found["measured"],
            bound=self.codec.bound,
            note=found["note"],
        )

    def _operation(self, op: str) -> Operation | None:
        if op not in self.found["first"]:
            return None
        timings = {}
        for collector in COLLECTORS:
            rounds = self.times.get((op, collector))
            if rounds:
                pauses = self.collected.get(op, []) if collector == "on" else []
                timings[collector] = Timing(rounds, sum(pauses) / len(pauses) if pauses else None)
        if self.found["once"]:
            timings["on"] = Timing([self.found["first"][op]])
        return Operation(
            self.found["first"][op],
            timings.get("on"),
            timings.get("off"),
            self.found.get("peak", {}).get(op),
            self.found.get("allocated", {}).get(op),
        )

    def _send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Gone(self._last_words("")) from None

    def _answer(self, at: str) -> dict[str, Any]:
        """The next line; Gone if there is none, or not in the time for this step."""
        assert self._process.stdout is not None
        patience = self.settings.patience * STEPS[at] if at in STEPS else None
        deadline = None if patience is None else monotonic() + patience
        while b"\n" not in self._waiting:
            left = None if deadline is None else deadline - monotonic()
            if (left is not None and left <= 0) or not self._selector.select(left):
                raise Gone(f"`{at}` takes longer than {patience:g} s")
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise Gone(self._last_words(at))
            self._waiting += chunk
        line, _, self._waiting = self._waiting.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self, at: str) -> str:
        code = self._process.wait()
        during = f" in `{at}`" if at in OPS else ""
        if code < 0:
            killed = ": out of memory, perhaps" if -code == signal.SIGKILL else ""
            return f"crashes with {signal.Signals(-code).name}{during}{killed}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"ends with code {code}{during}"


def environment() -> dict[str, str]:
    """The same for all: hashes of texts are, so that sets and dicts have one order."""
    return os.environ | {"PYTHONHASHSEED": "0"}


@dataclass
class Found:
    """What came of one data set."""

    data_set: DataSet
    absent: list[Absent] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)


def measure(source: list[str], names: list[str], settings: Settings, progress: Progress) -> Found:
    """All codecs of these names on one data set."""
    data = find_data(source, settings.full)
    result = Found(DataSet(data.name, data.suite, data.title, [], 0, note=data.note, curve=data.curve))
    result.data_set.identity = data.identity
    waiting = [by_name(name) for name in names]
    done = 0
    while waiting:
        with contextlib.ExitStack() as stack:
            wave = start_wave(waiting, source, settings, result, stack, progress, done, len(names))
            done += len(wave)
            run_rounds([each for each in wave if each.running], settings, progress, data, done / len(names))
            for contestant in wave:
                note(contestant, result)
    result.data_set.items = result.data_set.items or None
    return result


def start_wave(
    waiting: list[Codec],
    source: list[str],
    settings: Settings,
    result: Found,
    stack: contextlib.ExitStack,
    progress: Progress,
    done: int,
    total: int,
) -> list[Contestant]:
    """Take codecs from `waiting` and prepare them, one after the other, as long as there is memory for one more."""
    wave: list[Contestant] = []
    free = memory.available()
    while waiting:
        codec = waiting.pop(0)
        progress.tell(f"{result.data_set.title}: {codec.name}", (done + len(wave) / 2) / total)
        contestant = Contestant(codec, source, settings, volume=not result.data_set.volume)
        stack.callback(contestant.close)
        wave.append(contestant)
        contestant.prepare()
        result.data_set.volume = contestant.volume or result.data_set.volume
        taken = [each.memory for each in wave if each.running]
        # A turn needs about as much again as the largest has now.
        if free is not None and taken and sum(taken) + 2 * max(taken) > MEMORY_SHARE * free:
            break
    return wave


def run_rounds(
    wave: list[Contestant], settings: Settings, progress: Progress, data: Data, share: float
) -> None:
    deadline = monotonic() + settings.seconds
    done = 0
    while done < settings.min_rounds or (done < MOST_ROUNDS and monotonic() < deadline):
        progress.tell(f"{data.title}: round {done + 1}", share)
        shift = done % len(wave) if wave else 0
        for op in OPS:
            for collector in settings.collectors:
                for contestant in wave[shift:] + wave[:shift]:
                    if done < contestant.most_rounds(settings):
                        contestant.turn(op, collector)
        done += 1
        if not wave:
            return


def note(contestant: Contestant, result: Found) -> None:
    codec = contestant.codec
    if contestant.absent:
        result.absent.append(Absent(codec.name, contestant.absent))
        return
    if contestant.skipped:
        return
    outcome = contestant.outcome()
    if outcome.bound and outcome.fidelity.verdict == FAILED:
        return  # it takes few types; that says nothing about anyone
    if contestant.found:
        if contestant.found["version"]:
            result.versions[codec.package or codec.name] = contestant.found["version"]
        result.data_set.items = contestant.found["items"]
    result.data_set.outcomes.append(outcome)


def all_sources(suites: list[str], own: list[str], full: bool) -> Iterator[list[str]]:
    """The sources of all data sets asked for, see `find_data`."""
    from .suites import suite

    for name in suites:
        for data in suite(name, full):
            yield ["suite", name, data.name]
    for given in own:
        yield ["file", given]
