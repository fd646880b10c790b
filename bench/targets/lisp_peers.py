"""SBCL with cl-binary-store, in a process of its own that takes turns with `holdall.lisp`.

Both read the bytes that SBCL wrote, and those it made of what we had written: whoever gives the data back shows that all four are
right. SBCL stores into memory that it has, and tells the times itself; its collector runs before each call, outside of its time.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from functools import cache, partial
from pathlib import Path

from .data import ROOT, Case, lisp_sets, scratch_folder
from .judge import LISP, LISP_MMAP, PLAIN, SBCL, SBCL_ARRAYS
from .peers import Peer
from .timing import OwnClock

SCRIPT = Path(__file__).with_suffix(".lisp")
COMMAND = "sbcl --dynamic-space-size 4GB --control-stack-size 500MB --noinform --no-userinit --disable-debugger --load"


def missing() -> str:
    """Why SBCL can't be asked here; empty where it can."""
    if shutil.which("sbcl") is None:
        return "there is no sbcl (Debian has it, and cl-flexi-streams, cl-babel, cl-alexandria)"
    if not (library() / "cl-binary-store.asd").exists():
        return "there is no cl-binary-store: say where its source is by CL_BINARY_STORE=folder"
    return ""


def library() -> Path:
    return Path(os.environ.get("CL_BINARY_STORE") or "cl-binary-store").resolve()


def versions() -> list[str]:
    """Of both, for the record."""
    if missing():
        return []
    told = subprocess.run(["sbcl", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    found = re.search(r':version "([^"]*)"', (library() / "cl-binary-store.asd").read_text())
    return [f"SBCL {told}", f"cl-binary-store {found[1] if found else 'of an unknown version'}"]


class Lisp:
    """A process that stores and restores files. It ends when its input does."""

    def __init__(self) -> None:
        # It reads the folders from its environment.
        places = {"STUB": str(ROOT / "tests" / "lisp" / "stub"), "CL_BINARY_STORE": str(library())}
        self.process = subprocess.Popen(
            [*COMMAND.split(), str(SCRIPT)],
            env=os.environ | places,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, what: str, path: Path, mode: str) -> float:
        """The nanoseconds of one call, the mean of a turn's."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(what, mode, path, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"SBCL ended when asked to {what} {path.name}")
        return float(answer)


def store_peers(case: Case) -> list[Peer]:
    from holdall import lisp

    for cls in vars(lisp_sets()).values():
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            lisp.struct(f"BENCH::{cls.__name__.upper()}", cls)
    sbcl = Lisp()
    name = case.name.removeprefix("sbcl_")

    @cache
    def exchanged(mode: str) -> Path:
        """The file that SBCL writes of what it has read in ours."""
        path = Path(scratch_folder().name) / f"{mode}.bin"
        path.write_bytes(lisp.dumps(case.make(), refs=mode != "plain"))
        sbcl.ask("exchange", path, mode)
        return path.with_suffix(".sbcl")

    def both(suffix: str, mode: str) -> list[Peer]:
        path = exchanged(mode)
        turn = {what: OwnClock(partial(sbcl.ask, what, path, mode)) for what in ("store", "restore")}
        dumps = partial(lisp.dumps, refs=mode != "plain", shared_lists=mode == "tangled")
        theirs = Peer(
            SBCL + suffix,
            lambda _: path,
            lisp.load,
            timed_dumps=turn["store"],
            timed_loads=turn["restore"],
        )
        return [Peer(LISP + suffix, dumps, lisp.loads, stored=lambda _: path.read_bytes()), theirs]

    if case.identity:
        return both("", "tangled")
    peers = both("", "refs") + both(PLAIN, "plain")
    if name in SBCL_ARRAYS:
        mapped = partial(lisp.load, mmap=True)
        peers.append(Peer(LISP_MMAP, None, mapped, stored=lambda _: exchanged("plain")))
    return peers
