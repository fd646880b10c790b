"""All injected faults: `make faults`. What they do is said in the modules that this starts, each in processes of their own.

python -m tests.faults.run [parts...] [--most N]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent
PARTS = ("python", "rust", "large", "space", "hooks", "disks")


def shim(folder: Path) -> Path | None:
    """`shim.c`, compiled; none where there is no compiler, or no glibc."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = folder / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(made), str(FOLDER / "shim.c")]
    return made if subprocess.run(command, capture_output=True).returncode == 0 else None


def run(
    module: str, *arguments: str, preload: Path | None = None, timeout: float = 7200
) -> tuple[int, list[str]]:
    """How many calls a child made, and what was wrong with them."""
    command = [sys.executable, "-m", f"tests.faults.{module}", *arguments]
    environment = dict(os.environ, PYTHONHASHSEED="0")
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    child = subprocess.run(
        command, cwd=REPO, env=environment, capture_output=True, text=True, timeout=timeout
    )
    lines = child.stderr.strip().splitlines()
    if child.returncode not in (0, 1) or not child.stdout:
        last = "\n  ".join(lines[-12:])
        return 0, [f"{module} {' '.join(arguments)} ended with {child.returncode}:\n  {last}"]
    told = json.loads(child.stdout.splitlines()[-1])
    for why, times in told.get("left out", {}).items():
        print(f"  left out, {times} times: {why}", flush=True)
    return told["calls"], [
        f"{name}: {problem}" for name, all_ in told["problems"].items() for problem in all_
    ]


def small_disk(folder: Path) -> Iterator[Path]:
    """A file system with room for little, where root may make one."""
    if os.geteuid() != 0:
        return
    place = folder / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True)
    if mounted.returncode == 0:
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="parts", help=", ".join(PARTS))
    parser.add_argument(
        "--most", type=int, default=600, help="so many allocations of each call are made to fail"
    )
    options = parser.parse_args()
    parts, most = options.parts or PARTS, str(options.most)
    found: list[str] = []

    def tell(part: str, result: tuple[int, list[str]]) -> None:
        calls, problems = result
        print(f"{part}: {calls} calls, {len(problems)} problems", flush=True)
        for problem in problems:
            print(f"  {problem}", flush=True)
        found.extend(problems)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        preload = shim(folder)
        if "python" in parts:
            tell("CPython's allocations", run("allocations", "python", "--leaks", "--most", most))
            tell("  from one on", run("allocations", "python", "--many", "100000", "--most", most))
        if preload is None:
            print("no compiler, or no glibc: Rust's allocations are not made to fail")
        elif "rust" in parts:
            tell("Rust's allocations", run("allocations", "rust", "--leaks", "--most", most, preload=preload))
            tell(
                "  from one on",
                run("allocations", "rust", "--many", "100000", "--most", most, preload=preload),
            )
        if preload is not None and "large" in parts:
            tell("of large data", run("allocations", "large", "--most", most, preload=preload))
            tell(
                "  from one on",
                run("allocations", "large", "--many", "100000", "--most", most, preload=preload),
            )
        if "space" in parts:
            from tests.faults.space import calls

            for name in calls():
                tell(f"address space, {name}", run("space", name))
        if "hooks" in parts:
            tell("hooks", run("hooks", "--leaks"))
        if "disks" in parts:
            place = folder / "limited"
            place.mkdir()
            tell("disks", run("disks", str(place)))
            for place in small_disk(folder):
                tell("a full disk", run("disks", str(place), "--full", "--most", "40"))
    print(f"{len(found)} problems")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
