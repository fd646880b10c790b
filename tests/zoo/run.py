"""Every group of the zoo in a process of its own; a table of what was kept, refused and lost.

python -m tests.zoo.run [GROUP ...] [--made] [--found] [--list]     exits with 1 where something crashed or was lost
"""

from __future__ import annotations

import argparse
import gc
import importlib
import itertools
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from typing import Any, Iterator, NamedTuple

from tests.zoo.specimens import GROUPS, Group, Guard, Specimen, by_hand, found, made

FIELDS = ("standard", "frames", "science", "models", "containers", "times", "web", "text")
REPO = pathlib.Path(__file__).resolve().parents[2]
# A specimen that takes longer hangs, and counts as a crash. Nothing is said while a package is imported.
MOST_SECONDS, MOST_SECONDS_OF_IMPORT = 60, 300
MAKING, END = "making", "end"


def load_groups(fields: tuple[str, ...] = FIELDS) -> None:
    for field in fields:
        importlib.import_module(f"tests.zoo.{field}")


class Place(NamedTuple):
    """Where a child was when it ended: the source, how many of it came before, the class that was being made."""

    source: str = ""
    index: int = -1
    key: str = ""


def specimens(
    group: Group, sources: list[str], after: Place, say: Teller
) -> Iterator[tuple[str, int, Specimen]]:
    """(source, index, specimen) of all that come behind `after`; what came before is not even made."""
    guard, source = Guard(), ""
    passed = not after.source.startswith("made")

    def announce(key: str) -> bool:
        nonlocal passed
        if not passed:
            passed = key == after.key
            return False
        say(MAKING, source, key)
        return True

    for source in sources[sources.index(after.source) if after.source else 0 :]:
        found_there = {
            "hand": lambda: by_hand(group),
            "made": lambda: made(group.packages, guard, announce, once=False),
            "made once": lambda: made(group.packages, guard, announce, once=True),
            "found": lambda: found(group.packages),
        }[source]()
        for index, specimen in enumerate(found_there):
            if source != after.source or source.startswith("made") or index > after.index:
                yield source, index, specimen


# --- in the child ---
def child(group: Group, sources: list[str], after: Place, elsewhere: str | None, ways: list[str]) -> None:
    from tests.zoo.ways import Peers, judge

    warnings.simplefilter("ignore")
    say = Teller()
    with open(elsewhere or os.devnull, "ab") as kept:
        for source, index, specimen in specimens(group, sources, after, say):
            say(source, index, specimen.name, "peers")
            peers = Peers(specimen.obj, specimen.check, ways)
            kept_faithfully = True
            for way in ways:
                say(source, index, specimen.name, way)
                outcome, detail = judge(way, peers)
                if outcome != "none":
                    say(source, index, specimen.name, way, outcome, detail)
                kept_faithfully &= way != "pickle" or outcome == "kept"
            if elsewhere and kept_faithfully and peers.is_faithful:
                put_elsewhere(kept, specimen)
            # What goes wrong when the copies go is to be told of them, not of what comes next.
            del peers
            gc.collect(1)
    say(END)


class Teller:
    """Lines of JSON for the parent, past whatever the objects print."""

    def __init__(self) -> None:
        self.file = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)

    def __call__(self, *row: object) -> None:
        self.file.write(json.dumps(row) + "\n")


def put_elsewhere(file: Any, specimen: Specimen) -> None:
    """Keep both messages for a process with other hash seeds and addresses."""
    import holdall.pickle

    try:
        row = (specimen.name, pickle.dumps(specimen.obj, 5), holdall.pickle.dumps(specimen.obj))
    except Exception:
        return
    pickle.dump(row, file)


def load_elsewhere(group: Group, path: str, after: Place) -> None:
    import holdall.pickle
    from tests.zoo.specimens import modules
    from tests.zoo.ways import Picture, Reference

    warnings.simplefilter("ignore")
    say = Teller()
    modules(group.packages)
    with open(path, "rb") as file:
        for index in itertools.count():
            try:
                name, theirs, ours = pickle.load(file)
            except EOFError:
                break
            if index <= after.index:
                continue
            say("elsewhere", index, name, "elsewhere")
            try:
                first = Picture([pickle.loads(theirs)])
                reference = Reference(first, [pickle.loads(theirs)], [pickle.loads(theirs)], None)
            except Exception:
                continue
            try:
                lost = reference.compare([holdall.pickle.loads(ours)])
            except Exception as error:
                lost = f"{type(error).__name__}: {error}"[:300]
            say("elsewhere", index, name, "elsewhere", "lost" if lost else "kept", lost)
    say(END)


# --- in the parent ---
class Result:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.objects: set[tuple[str, int, str]] = set()
        self.rows: list[tuple[str, str, str, str]] = []
        self.seconds = 0.0
        self.missing = ""

    def add(self, name: str, way: str, outcome: str, detail: str) -> None:
        self.counts[outcome] += 1
        if outcome != "kept":
            self.rows.append((outcome, name, way, detail))


def run_group(name: str, sources: str, ways: str = "") -> Result:
    """A group in processes of its own; `ways` names those to try: all, and loading elsewhere, if it names none."""
    result, started = Result(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = os.path.join(folder, "elsewhere")
        drive(
            [
                "--child",
                name,
                "--sources",
                sources,
                *(["--ways", ways] if ways else ["--elsewhere", elsewhere]),
            ],
            folder,
            result,
        )
        if not result.missing and os.path.exists(elsewhere):
            drive(["--load", name, "--elsewhere", elsewhere], folder, result)
    result.seconds = time.monotonic() - started
    return result


def chosen(ways: str | None) -> list[str]:
    from tests.zoo.ways import WAYS

    return ways.split(",") if ways else list(WAYS)


def drive(arguments: list[str], folder: str, result: Result) -> None:
    """Run the child to its end; begin again behind what ended it."""
    after, ended = Place(), False
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPO), str(REPO / "python")]),
        "MPLBACKEND": "agg",
    }
    while not ended:
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "tests.zoo.run",
            *arguments,
            "--after",
            json.dumps(after),
        ]
        before, last, making = after, None, False
        errors = pathlib.Path(folder, "errors")
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=stderr,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                env=environment,
                text=True,
            )
            watch = Watch(process)
            assert process.stdout is not None
            for line in process.stdout:
                watch.alive()
                row = json.loads(line)
                ended = row[0] == END
                making = row[0] == MAKING
                if making:
                    after = Place(row[1], 0, row[2])
                elif not ended:
                    source, index, name, way, *verdict = row
                    after, last = Place(source, index, after.key), (name, way)
                    if source != "elsewhere":
                        result.objects.add((source, index, name))
                    if verdict:
                        result.add(name, way, *verdict)
            process.stdout.close()
            code = process.wait()
            watch.stop()
        if ended:
            return
        tail = errors.read_text(errors="replace").strip()
        if after == before:
            lines = tail.splitlines()
            result.missing = lines[-1][:100] if lines else f"ended with {code}"
            if "ModuleNotFoundError" not in tail:
                result.add("(import)", "", "crashed", result.missing)
            return
        if not making and last is not None:
            # What ends the process by its own recipe, or by pickle, is not ours.
            outcome = "peer" if last[1] == "peers" else "crashed"
            result.add(
                *last,
                outcome,
                "hangs" if watch.fired else f"signal {-code}" if code < 0 else f"exit {code}: {tail[-200:]}",
            )


class Watch:
    """Ends a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        import threading

        self.process, self.fired, self.stopped = process, False, threading.Event()
        self.last, self.limit = time.monotonic(), MOST_SECONDS_OF_IMPORT
        threading.Thread(target=self.run, daemon=True).start()

    def alive(self) -> None:
        self.last, self.limit = time.monotonic(), MOST_SECONDS

    def run(self) -> None:
        while not self.stopped.wait(1):
            if time.monotonic() - self.last > self.limit:
                self.fired = True
                self.process.kill()
                return

    def stop(self) -> None:
        self.stopped.set()


BAD = ("crashed", "lost", "unclear")
HEAD = f"{'group':<22}{'objects':>8}{'kept':>8}{'refused':>9}{'unclear':>9}{'named':>7}{'lost':>7}{'crashed':>9}{'seconds':>9}"


def line(name: str, objects: int, counts: Counter[str], seconds: float) -> str:
    shown = [counts[outcome] for outcome in ("kept", "refused", "unclear", "named", "lost", "crashed")]
    return f"{name:<22}{objects:>8}{shown[0]:>8}{shown[1]:>9}{shown[2]:>9}{shown[3]:>7}{shown[4]:>7}{shown[5]:>9}{seconds:>9.1f}"


def told_rows(rows: list[tuple[str, str, str, str]]) -> list[str]:
    """A line for each object and finding, with the ways that have it."""
    ways: dict[tuple[str, str, str], list[str]] = {}
    for outcome, name, way, detail in rows:
        ways.setdefault((outcome, name, detail), []).append(way)
    return [
        f"    {outcome}: {name[:60]} by {', '.join(by)}: {detail}"[:230]
        for (outcome, name, detail), by in ways.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", help="names of groups; all of them if none is given")
    parser.add_argument(
        "--sources", default="hand,made,found", help="which specimens: hand, made (or: made once), found"
    )
    parser.add_argument("--ways", default="", help="which ways, joined by commas; all if not given")
    parser.add_argument("--list", action="store_true", help="the names of the groups")
    parser.add_argument("--rows", type=int, default=12, help="how many losses of a group are shown")
    parser.add_argument("--all", metavar="FILE", help="write every row that is not kept to this file")
    for hidden in ("--child", "--load", "--elsewhere"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--after", default="[]", help=argparse.SUPPRESS)
    options = parser.parse_args()
    load_groups()
    if options.child:
        child(
            GROUPS[options.child],
            options.sources.split(","),
            Place(*json.loads(options.after)),
            options.elsewhere,
            chosen(options.ways),
        )
        sys.stdout.flush()
        os._exit(0)
    if options.load:
        load_elsewhere(GROUPS[options.load], options.elsewhere, Place(*json.loads(options.after)))
        os._exit(0)
    if options.list:
        print(*GROUPS, sep="\n")
        return 0
    total: Counter[str] = Counter()
    objects, ran = 0, 0
    print(HEAD)
    log = open(options.all, "w") if options.all else None  # noqa: SIM115
    for name in options.groups or GROUPS:
        result = run_group(name, options.sources, options.ways)
        if result.missing and not result.counts["crashed"]:
            print(f"{name:<22}not installed: {result.missing}")
            continue
        print(line(name, len(result.objects), result.counts, result.seconds), flush=True)
        told = told_rows([row for row in result.rows if row[0] in BAD])
        told = [
            *told[: options.rows],
            *([f"    and {len(told) - options.rows} more"] if len(told) > options.rows else []),
        ]
        if told:
            print(*told, sep="\n", flush=True)
        if log:
            log.writelines(f"{name}\t" + "\t".join(row).replace("\n", " ") + "\n" for row in result.rows)
            log.flush()
        total += result.counts
        objects, ran = objects + len(result.objects), ran + 1
    print(line(f"{ran} groups", objects, total, 0))
    return int(any(total[outcome] for outcome in BAD))


if __name__ == "__main__":
    sys.exit(main())
