"""Builds what is published into dist/, and checks it: python -m tests.release.wheels [--python PYTHON]...

Wheels for all Pythons that are installed (or are given), and a source distribution, of which a wheel is built. Each wheel is installed into an
empty environment and does the trip there.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile

from tests.release import check_wheel
from tests.release.interpreters import WANTED, installed
from tests.support.places import REPO

SCRIPTS = sysconfig.get_path("scripts")
# Of each kind, in MB: three times as much as today's is no longer the same thing.
LARGEST_WHEEL = 8.0
LARGEST_SDIST = 4.0
# What a build needs, and what a licence wants.
IN_SDIST = [
    "Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "PKG-INFO", "README.md", "pyproject.toml", "crates/format/src/lib.rs",
    "crates/python/build.rs", "crates/python/src/lib.rs", "python/holdall/__init__.py", "python/holdall/py.typed",
]  # fmt: skip


def surroundings() -> dict[str, str]:
    """The environment of what is run: maturin finds zig by the first Python on the PATH, and says itself which one it builds for."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYO3_PYTHON", "VIRTUAL_ENV")}
    return kept | {
        "PATH": f"{os.pathsep.join([SCRIPTS, str(pathlib.Path(sys.executable).parent), kept['PATH']])}"
    }


def run(*command: str | pathlib.Path) -> str:
    """What a command prints; ends here, with all of that, where it fails."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=REPO,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))} failed")
    return done.stdout


def tool(name: str) -> str:
    """A program of the dependency group `wheels`, beside the Python that runs this."""
    found = shutil.which(name, path=SCRIPTS)
    if not found:
        sys.exit(f"{name} is missing: pip install --group wheels")
    return found


def compatibility() -> list[str]:
    """Which systems a wheel made here is for."""
    if sys.platform != "linux":
        return ["--compatibility", "pypi"]
    if platform.libc_ver()[0] == "glibc":
        # zig links by the symbols of an old glibc, on whatever system.
        return ["--zig", "--compatibility", "manylinux2014"]
    return ["--compatibility", "musllinux_1_2"]


def said(profile: str) -> list[str]:
    return ["--release"] if profile == "release" else ["--profile", profile]


def wheel_for(python: str, profile: str, out: pathlib.Path) -> pathlib.Path:
    before = set(out.glob("*.whl"))
    run(
        tool("maturin"),
        "build",
        "--locked",
        *said(profile),
        *compatibility(),
        "--interpreter",
        python,
        "--out",
        out,
    )
    (made,) = set(out.glob("*.whl")) - before
    return made


def source(out: pathlib.Path) -> pathlib.Path:
    run(tool("maturin"), "sdist", "--out", out)
    (made,) = out.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if missing := [name for name in IN_SDIST if name not in names]:
        sys.exit(f"{made.name} lacks {', '.join(missing)}")
    if more := [
        name
        for name in names
        if name.startswith(("tests/", "target/", ".")) or name.endswith((".so", ".pyc"))
    ]:
        sys.exit(f"{made.name} has {', '.join(sorted(more)[:5])}")
    return made


def from_source(sdist: pathlib.Path, python: str) -> None:
    """A wheel of the source distribution alone, as pip builds it where there is no other: with a profile that is soon built."""
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        run(
            python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", out,
            "--config-settings", "build-args=--profile develop --locked", sdist
        )  # fmt: skip
        (made,) = out.glob("*.whl")
        check_wheel.check(made, python)


def size(path: pathlib.Path, largest: float) -> str:
    megabytes = path.stat().st_size / 1e6
    if megabytes > largest:
        sys.exit(f"{path.name} has {megabytes:.1f} MB, and {largest} at most is expected")
    if path.suffix != ".whl":
        return f"{megabytes:5.2f} MB  {path.name}"
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(each.file_size for each in archive.infolist()) / 1e6
    return f"{megabytes:5.2f} MB  {path.name} ({unpacked:.1f} MB installed)"


def audit(wheel: pathlib.Path) -> None:
    """What auditwheel finds is what the name says."""
    if sys.platform == "linux":
        shown = " ".join(run(tool("auditwheel"), "show", wheel).split())
        tags = wheel.stem.rpartition("-")[2].split(".")
        if not any(f'the following platform tag: "{tag}"' in shown for tag in tags):
            sys.exit(f"its name says something else: {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--python", action="append", default=[], help="the interpreters; else what is installed"
    )
    parser.add_argument("--out", type=pathlib.Path, default=REPO / "dist")
    parser.add_argument("--profile", default="release", help="of Cargo.toml; what is published is `release`")
    parser.add_argument("--only", choices=["wheels", "sdist"], help="the one or the other; else both")
    args = parser.parse_args()
    pythons = installed(args.python)
    if not pythons:
        sys.exit("there is no Python that wheels are built for")
    if not args.python and args.only != "sdist":
        for tag in WANTED:
            if tag not in pythons:
                print(f"{tag} is not there: no wheel")
    # What an earlier build left would be taken for this one's.
    args.out.mkdir(parents=True, exist_ok=True)
    for old in [*args.out.glob("*.whl"), *args.out.glob("*.tar.gz")]:
        old.unlink()

    began = time.monotonic()
    if args.only != "wheels":
        sdist = source(args.out)
        from_source(sdist, next(iter(pythons.values())))
        print(size(sdist, LARGEST_SDIST), "builds from itself", flush=True)
    for python in pythons.values() if args.only != "sdist" else ():
        wheel = wheel_for(python, args.profile, args.out)
        audit(wheel)
        check_wheel.check(wheel, python)
        print(size(wheel, LARGEST_WHEEL), flush=True)
    made = [*args.out.glob("*.whl"), *args.out.glob("*.tar.gz")]
    run(tool("twine"), "check", "--strict", *made)
    print(f"{len(made)} files in {args.out}, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
