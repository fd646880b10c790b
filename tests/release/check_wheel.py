"""Installs wheels into empty environments, and runs the trip there: python -m tests.release.check_wheel dist/*.whl [--python PYTHON]..."""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from tests.release.interpreters import installed

TRIP = pathlib.Path(__file__).parent / "trip.py"


def tag_of(wheel: pathlib.Path) -> str:
    """The tag of the Python that a wheel is for: holdall-0.1.0-cp313-cp313t-linux_x86_64.whl is for cp313t."""
    name, version, python, abi, _ = wheel.stem.split("-")
    if not abi.startswith(python):
        raise ValueError(f"{wheel.name} is for more than one Python ({name} {version})")
    return abi


def check(wheel: pathlib.Path, python: str) -> None:
    """Raises CalledProcessError where the wheel can't be installed, asks for something else, or doesn't do the trip."""
    # What runs is what was installed: nothing of the environment that this runs in.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    # Windows holds files that a process has just left.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name).resolve()
        env, place = folder / "env", folder / "place"
        place.mkdir()

        def run(*command: str | pathlib.Path) -> None:
            subprocess.run([*map(str, command)], check=True, cwd=place, env=environment, timeout=600)

        run(python, "-m", "venv", env)
        inner = env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        # With an index out of reach, what it asks for would be missed.
        run(
            inner,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            wheel.resolve(),
        )
        run(inner, "-I", "-X", "dev", "-W", "error", TRIP, place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+", type=pathlib.Path)
    parser.add_argument(
        "--python", action="append", default=[], help="the interpreters; else what is installed"
    )
    args = parser.parse_args()
    pythons = installed(args.python)
    wheels = {wheel: tag_of(wheel) for wheel in args.wheels}
    if missing := sorted(set(wheels.values()) - set(pythons)):
        sys.exit(f"no interpreter for {', '.join(missing)}")
    for wheel, tag in wheels.items():
        check(wheel, pythons[tag])


if __name__ == "__main__":
    main()
