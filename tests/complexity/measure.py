"""One family through its doors: a process for each input that is made, and for each that is measured."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import math
import os
import pathlib
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import holdall
from holdall import bson, julia, msgpack
from tests.complexity import bounds
from tests.complexity.doors import MAIN, OURS, SUFFIX, WRAPS, Door, doors_of, in_small_stack, silent
from tests.complexity.family import Family
from tests.support.peak import peak

# A measurement may take so many times its bound before it is ended.
PATIENCE = 1.5
LARGEST = max(bounds.SIZES, key=bounds.SIZES.__getitem__)
PROCESS = ctypes.CDLL(None)
# Where files are no matter of disks, if there is such a folder.
MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# By the clock, of a machine that does other things as well.
CLOCK = 8


@dataclass
class Result:
    """size: the bytes of the input. seconds, memory: what it took; freed: seconds of them for freeing the value.

    outcome: "value", the name of an error, or what ended the process. verdict: "ok", or which bound is broken.
    worth: how much of its bound is used by what uses most.
    """

    family: str
    format: str
    door: str
    nominal: str
    size: int
    outcome: str = ""
    seconds: float = 0.0
    freed: float = 0.0
    memory: int = 0
    bound_memory: int = 0
    bound_seconds: float = 0.0
    verdict: str = "ok"
    worth: float = 0.0
    detail: str = ""

    @property
    def total(self) -> float:
        return self.seconds + self.freed

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def trim() -> None:
    """Gives memory that was freed back to the system, so that what is measured does not begin with some in hand."""
    if hasattr(PROCESS, "malloc_trim"):
        PROCESS.malloc_trim(0)


def forget_peak() -> None:
    """Linux: the peak begins anew at what is there."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def touch() -> None:
    """Code and tables of the library that the process has not looked at yet are not what an input takes."""
    value = {"a": [1, 2.5, "text", b"bytes", None, True], "b": {"c": [{"d": 1}, {"d": 2}]}}
    for module in (holdall, msgpack, bson, julia):
        for damaged in (module.dumps(value), module.dumps(value)[:-1]):
            with contextlib.suppress(holdall.DecodeError):
                module.loads(damaged)
                module.loads(damaged, type=dict[str, Any])


def mapped() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def forked(work: Callable[[int], None]) -> tuple[bytes, int]:
    """`work`, of a pipe to write to, in a process of its own: what it wrote, and its status."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.close(into)
            work(out)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(out)
    with os.fdopen(into, "rb") as pipe:
        said = pipe.read()
    return said, os.waitpid(child, 0)[1]


def make(family: Family, n: int, folder: str, wraps: set[str]) -> dict[str, str]:
    """The input in a file, for each way of wrapping it; their paths."""
    paths = {wrap: os.path.join(folder, wrap) for wrap in wraps}
    if "suffixed" in wraps:
        paths["suffixed"] = os.path.join(folder, f"input.{SUFFIX[family.format]}")

    def write(_: int) -> None:
        message = family.make(n)
        for wrap, path in paths.items():
            if family.format == "file":
                wrapped = message
            elif wrap == "suffixed":
                wrapped = WRAPS["file"](message) if family.format == "hold" else message
            else:
                wrapped = WRAPS[wrap](message)
            pathlib.Path(path).write_bytes(wrapped)

    _, status = forked(write)
    if status:
        raise RuntimeError(f"{family.name} could not be made for {n} bytes")
    return paths


def one(door: Door, family: Family, path: str, size: int, nominal: str) -> Result:
    """A measurement."""
    result = Result(family.name, family.format, door.name, nominal, size)
    counts = counted(family, nominal, size)
    result.bound_memory = round(door.costs * bounds.memory(counts))
    result.bound_seconds = door.costs * bounds.seconds(counts)
    limit = PATIENCE * result.bound_seconds + 1

    def child(pipe: int) -> None:
        silent()
        touch()
        run = door.open(path, family)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
        most = mapped() + 2 * result.bound_memory + (512 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        signal.setitimer(signal.ITIMER_REAL, CLOCK * limit + 10)

        def measured() -> None:
            said: dict[str, Any] = {"outcome": "value", "detail": ""}
            start = time.process_time()
            value = None
            try:
                value = run()
            except (*OURS, *door.raises, *family.raises) as error:
                said["outcome"] = type(error).__name__
            except BaseException as error:
                said["outcome"] = type(error).__name__
                said["detail"] = f"{error}"[:200].replace("\n", " ") or "no text"
            end = time.process_time()
            said["memory"] = peak()
            del value
            said["seconds"], said["freed"] = end - start, time.process_time() - end
            said["allowed"] = said["detail"] == ""
            os.write(pipe, json.dumps(said).encode())

        gc.collect()
        trim()
        forget_peak()
        before = peak()
        os.write(pipe, f"{before}\n".encode())
        in_small_stack(measured) if door.thread else measured()

    said, status = forked(child)
    first, _, rest = said.partition(b"\n")
    if rest:
        told = json.loads(rest)
        result.outcome, result.detail = told["outcome"], told["detail"]
        result.seconds, result.freed = told["seconds"], told["freed"]
        result.memory = max(told["memory"] - int(first), 0)
        if told["outcome"] == "MemoryError" or not told["allowed"]:
            result.verdict = "memory" if told["outcome"] == "MemoryError" else "error"
    elif os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        late = ended in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL)
        result.outcome = "no end" if late else signal.Signals(ended).name
        result.verdict = "timeout" if late else "crash"
        result.seconds = limit if late else 0.0
    else:
        result.outcome, result.verdict = f"exit status {os.waitstatus_to_exitcode(status)}", "crash"
    return result


def counted(family: Family, nominal: str, size: int) -> int:
    """The bytes that a bound is for: of what is compressed those that it becomes, as far as a file may."""
    if family.unpacks is None:
        return size
    return max(size, min(family.unpacks(bounds.SIZES[nominal]), bounds.unpacked(size)))


def judge(result: Result, before: Result | None, family: Family) -> None:
    """Sets the verdict: what is worst of it."""
    shares = {
        "time": result.total / result.bound_seconds,
        "memory": result.memory / result.bound_memory,
    }
    comparable = before and before.outcome == result.outcome == "value" and before.total > 0
    if before and comparable and result.total >= bounds.GROWTH_SECONDS:
        growth = (result.total / result.size) / (max(before.total, 1e-3) / before.size)
        shares["growth"] = growth / bounds.MOST_GROWTH
    result.worth = max(shares.values())
    if result.verdict == "ok" and result.worth > 1:
        result.verdict = " ".join(name for name, share in shares.items() if share > 1)
    if family.honest and result.verdict == "ok" and result.outcome in refusals(family, result.door):
        result.verdict = "refused"
    # What ends the process, or never ends, comes first in the table.
    result.worth += {"crash": 1e9, "timeout": 1e6, "error": 1e5, "refused": 1e4}.get(result.verdict, 0)


def refusals(family: Family, door: str) -> set[str]:
    """What an honest message must not come to. Doors that know no classes, or take a type that doesn't fit, may say so."""
    found = {
        "DecodeError",
        "LimitError",
        "TruncatedError",
        "ChecksumError",
        "UnpicklingError",
        "RecursionError",
    }
    if family.type is not None and door in ("typed", "lax"):
        found.add("ValidationError")
    if door == "pickle":
        # It takes no classes, and says so.
        found.remove("UnpicklingError")
    return found - {"RecursionError"} if door == "repr" else found


def run(family: Family, sizes: list[str], door_names: list[str], every: bool = True) -> Iterator[Result]:
    """A family, through its doors, at each size from the smallest on. every: the largest size through all of them, too."""
    wanted = [one for one in doors_of(family) if not door_names or one.name in door_names]
    last: dict[str, Result] = {}
    for nominal in sorted(sizes, key=bounds.SIZES.__getitem__):
        n = bounds.SIZES[nominal]
        going = [one for one in wanted if goes_on(last.get(one.name), nominal)]
        if not every and nominal == LARGEST:
            going = [one for one in going if one.name in MAIN]
        if not going or (family.most and n > family.most):
            continue
        with tempfile.TemporaryDirectory(prefix="complexity-", dir=MEMORY_FOLDER) as folder:
            paths = make(family, n, folder, {one.wrap for one in going})
            for each in going:
                path = paths[each.wrap]
                result = one(each, family, path, os.path.getsize(path), nominal)
                # Commands' output is shown nowhere, so whether it loaded is known from the other doors.
                judge(result, last.get(each.name), family)
                last[each.name] = result
                yield result


def goes_on(last: Result | None, nominal: str) -> bool:
    """Whether a larger size is worth its time: not where a smaller one ended badly."""
    if last is None:
        return True
    if last.verdict in ("crash", "timeout", "error"):
        return False
    return nominal != LARGEST or last.total < bounds.MOST_SECONDS_BEFORE_LARGEST
