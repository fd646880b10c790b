"""A release, step by step: python -m tests.release.run VERSION [--write] [--done NAME]...

Without `--write` nothing changes: each step says whether its part is there, and what it would do. With it, each does its part, into the work
tree; the first that fails ends the release. What takes a person, a machine or hours of its own is a list, printed with the commands: `--done` says
of each that it went well, and without all of them there is no last step. That one prints the commands that commit, tag and push: nothing
is committed, tagged or uploaded from here. The workflow of CI publishes what it has built itself when it sees the tag.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from tests.support.places import REPO

# Each with the command, and what it is that no step here does.
BY_HAND = {
    "versions": ("make test-all", "the whole suite on every version of Python; docs/versions.md has the table"),
    "bench": ("make bench", "every target of speed is met on a machine that does nothing else; docs/performance.md has the figures"),
    "floor": ("make bench PYTHON=python3.X", "the same floor on each version of Python"),
    "soak": ("make soak soak-log", "10,000 round trips, and 10 GB of a log: counts and memory stay level"),
    "fuzz": ("make fuzz SECONDS=3600", "an hour of damaged and made-up messages without a finding"),
    "faults": ("make faults", "every allocation, hook and write made to fail"),
    "complexity": ("make complexity", "what hostile inputs cost, by size"),
    "sanitize": ("make sanitize check-debug miri", "memory, by those who check it"),
    "zoo": ("make zoo", "objects of a hundred packages"),
    "peers": ("make peers interpreter-tests check-evolution-peers", "others' own tests"),
    "languages": ("make check-julia check-lisp check-readers", "other languages read what we write"),
    "ci": ("the workflow `wheels` on the branch", "wheels of every system are built, and do their trip"),
    "read": ("CHANGELOG.md, README.md, docs/", "somebody has read what a user will read"),
}  # fmt: skip
PLACE = REPO / "Cargo.toml"
VERSION = re.compile(r'(?m)^(\[workspace\.package\]\nversion = ")([^"]+)"')


class Refused(Exception):
    """Why there is no release."""


def output(*command: str) -> str:
    return subprocess.run(command, cwd=REPO, check=True, capture_output=True, text=True).stdout


def make(*words: str) -> None:
    """A target of the Makefile. What it prints is kept, and shown where it fails."""
    log = REPO / "target" / "release-logs" / f"{words[0]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(["make", *words], cwd=REPO, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise Refused("\n".join([f"make {' '.join(words)} failed: {log}", *last]))


def numbers(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        raise Refused(f"`{version}` is no version: expected three numbers, as in 1.2.3")
    return tuple(map(int, version.split(".")))


def current(text: str) -> str:
    found = VERSION.search(text)
    if not found:
        raise Refused("Cargo.toml has no version below [workspace.package]")
    return found[2]


# --- the steps: each says what is missing (None: nothing), and how it is made ---
class Step(NamedTuple):
    """missing: what is not there yet, if it can be told without doing it; raises Refused where no step can help. do: makes it."""

    name: str
    missing: Callable[[str], str | None]
    do: Callable[[str], None]


def tree(version: str) -> str | None:
    if changed := output("git", "status", "--porcelain").splitlines():
        raise Refused("the work tree has changes: " + ", ".join(line[3:] for line in changed[:5]))
    if output("git", "tag", "--list", f"v{version}").strip():
        raise Refused(f"v{version} is released: its tag is there")
    tags = [tag[1:] for tag in output("git", "tag", "--list", "v*").split()]
    if later := [
        tag for tag in tags if re.fullmatch(r"\d+\.\d+\.\d+", tag) and numbers(tag) > numbers(version)
    ]:
        raise Refused(f"v{later[-1]} is released, which is later")
    return None


def number(version: str) -> str | None:
    before = current(PLACE.read_text(encoding="utf-8"))
    if numbers(before) > numbers(version):
        raise Refused(f"Cargo.toml says {before}, which is later")
    return None if before == version else f"Cargo.toml says {before}"


def set_number(version: str) -> None:
    text = PLACE.read_text(encoding="utf-8")
    PLACE.write_text(VERSION.sub(rf'\g<1>{version}"', text), encoding="utf-8")
    # The workspace's own packages stand in the lock, too.
    subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=REPO, check=True)


def readme(version: str) -> str | None:
    """What the pages say of the version by its number, they say of this one."""
    text = (REPO / "README.md").read_text(encoding="utf-8")
    if f"Version {version}, format version" not in text:
        raise Refused(f"README.md does not say `Version {version}, format version ...`")
    needed = re.search(
        r'"holdall\[cli\]~=(\d+\.\d+)', (REPO / "bench" / "pyproject.toml").read_text(encoding="utf-8")
    )
    if not needed or needed[1] != version.rpartition(".")[0]:
        raise Refused(f"bench/pyproject.toml does not ask for holdall ~={version.rpartition('.')[0]}")
    return None


def section(text: str, version: str) -> str:
    """What the changelog says of a version."""
    found = re.search(rf"(?ms)^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)\n(.*?)(?=^## |\Z)", text)
    if not found:
        raise Refused(
            f"CHANGELOG.md has no section `## {version} (year-month-day)`: `## Unreleased` becomes it"
        )
    try:
        datetime.date.fromisoformat(found[1])
    except ValueError:
        raise Refused(f"CHANGELOG.md: {found[1]} is no date") from None
    if not re.search(r"(?m)^- \S", found[2]):
        raise Refused(f"CHANGELOG.md says nothing of {version}")
    first = re.search(r"(?m)^## (\S+)", text)
    if first and first[1] not in (version, "Unreleased"):
        raise Refused(f"CHANGELOG.md: {first[1]} stands before {version}")
    return found[2]


def changelog(version: str) -> str | None:
    section((REPO / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    return None


def golden(version: str) -> str | None:
    folders = [REPO / "tests" / "golden" / version, REPO / "tests" / "vectors" / "golden" / version]
    missing = [str(folder.relative_to(REPO)) for folder in folders if not folder.is_dir()]
    return f"{' and '.join(missing)} would be written" if missing else None


def write_golden(version: str) -> None:
    # Of a release build: what is published writes what is kept.
    make("golden", "PROFILE=release")
    if still := golden(version):
        raise Refused(still)


def unchanged(what: str, *paths: str) -> Callable[[str], None]:
    """Refuses where a step has changed what was committed: it was not looked at."""

    def check(_: str) -> None:
        if changed := output("git", "diff", "--name-only", "--", *paths).split():
            raise Refused(
                f"{what} had fallen behind, and are made anew: look at {', '.join(changed)}, and commit"
            )

    return check


def docs(version: str) -> None:
    make("docs")
    unchanged("tables of the pages", "docs")(version)


def vectors(version: str) -> None:
    make("vectors")
    unchanged("vectors or the data of changes of classes", "tests/vectors", "tests/evolution")(version)


def wheels(version: str) -> None:
    make("wheels")
    made = sorted(path.name for path in (REPO / "dist").iterdir())
    if not made or any(f"-{version}" not in name for name in made):
        raise Refused(f"dist/ has {', '.join(made) or 'nothing'}")
    print((REPO / "target" / "release-logs" / "wheels.log").read_text(encoding="utf-8"), end="")


def later(text: str) -> Callable[[str], str]:
    return lambda _: text


STEPS = [
    Step("the work tree", tree, lambda _: None),
    Step("the version", number, set_number),
    Step("the README", readme, lambda _: None),
    Step("the changelog", changelog, lambda _: None),
    Step("tables of the pages", later("make docs: nothing may change"), docs),
    Step("golden files", golden, write_golden),
    Step("vectors, changes of classes", later("make vectors: nothing may change"), vectors),
    Step("lint and all tests", later("make test"), lambda _: make("test")),
    Step("wheels", later("make wheels: built, checked, installed, and their trip done"), wheels),
]


def by_hand(done: set[str]) -> list[str]:
    """The list; gives the names of what is not done."""
    print("\nBy hand:")
    for name, (command, why) in BY_HAND.items():
        print(f"  [{'x' if name in done else ' '}] {name:11} {command}: {why}")
    return [name for name in BY_HAND if name not in done]


def last(version: str) -> None:
    print(f"""
{version} is ready. What is left is said by a person, as it can't be taken back:
  git add --all && git commit --message 'Version {version}'
  git tag --annotate v{version} --message 'holdall {version}'
  git push origin HEAD v{version}
CI then builds the wheels of every system, does their trips, and publishes them.""")


def release(version: str, write: bool, done: set[str]) -> int:
    numbers(version)
    if unknown := done - BY_HAND.keys():
        raise Refused(f"there is nothing by hand that is named {', '.join(sorted(unknown))}")
    refused = []
    for step in STEPS:
        began = time.monotonic()
        try:
            missing = step.missing(version)
            if missing and write:
                step.do(version)
        except Refused as why:
            print(f"  [!] {step.name}: {why}", flush=True)
            if write:
                raise Refused(f"no release: {step.name}") from None
            refused.append(step.name)
            continue
        if not missing:
            print(f"  [x] {step.name}", flush=True)
        elif write:
            print(f"  [x] {step.name} ({time.monotonic() - began:.0f} s)", flush=True)
        else:
            print(f"  [ ] {step.name}: {missing}", flush=True)
    left = by_hand(done)
    if refused:
        raise Refused(f"no release: {', '.join(refused)}")
    if not write:
        print(
            "\nNothing was changed. WRITE=1 does all of this; DONE='versions bench ...' says what was done by hand."
        )
        return 0
    if left:
        raise Refused(f"no release before this is done by hand: {', '.join(left)}")
    last(version)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--done", nargs="*", default=[])
    args = parser.parse_args()
    try:
        sys.exit(release(args.version, args.write, set(args.done)))
    except Refused as why:
        sys.exit(str(why))


if __name__ == "__main__":
    main()
