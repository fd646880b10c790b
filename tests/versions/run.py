"""The whole suite on each version: `python -m tests.versions.run [NAME ...]`, which `make test-all` calls.

Prints a line for each interpreter: how many tests passed, failed and were skipped, and which packages of the tests have no wheel for
it. Keeps the numbers of whole runs in `results.json`, from which `page` writes the table of `docs/versions.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

from .pythons import BY_NAME, FOLDER, PYTHONS, ROOT, Missing, find

RESULTS = pathlib.Path(__file__).with_name("results.json")


def environment(name: str) -> str:
    """The virtual environment of a version: that of `make` itself is `.venv`."""
    here = ".".join(map(str, sys.version_info[:2]))
    return ".venv" if name == here else f".venv-{name}"


def make(name: str, python: pathlib.Path, *targets: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", f"VENV={environment(name)}", f"PYTHON={python}", *targets]
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def said_of_build(built: subprocess.CompletedProcess[str]) -> str:
    errors = [line for line in built.stdout.splitlines() if line.startswith("error")]
    return "the extension could not be built: " + " ".join((errors or built.stdout.splitlines()[-1:])[:1])


def packages(name: str, python: pathlib.Path) -> list[str]:
    """Installs what the tests need; returns the packages that have no wheel for this version, whose tests skip. None is built from its
    source: that takes minutes, and tools that may not be there."""
    if make(name, python, f"{environment(name)}/.stamp-venv").returncode != 0:
        raise Missing("no virtual environment could be made")
    pip = [
        ROOT / environment(name) / "bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    wheels = ["--only-binary", ":all:"]
    left_out = []
    stamp = ROOT / environment(name) / ".stamp-test"
    is_new = stamp.exists() and stamp.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime
    if (
        not is_new
        and subprocess.run([*pip, *wheels, "--group", "test"], cwd=ROOT, capture_output=True).returncode != 0
    ):
        for package in test_group():
            if subprocess.run([*pip, *wheels, package], cwd=ROOT, capture_output=True).returncode != 0:
                left_out.append(re.split(r"[><=]", package)[0])
        subprocess.run([*pip, "--no-deps", "--editable", "bench"], cwd=ROOT, capture_output=True)
        stamp.write_text(" ".join(left_out))
    return stamp.read_text().split() if stamp.exists() else []


def test_group() -> list[str]:
    """The requirements of the group `test` of `pyproject.toml`."""
    text = (ROOT / "pyproject.toml").read_text()
    found = re.search(r"^test = \[(.*?)^\]", text, re.M | re.S)
    assert found is not None
    return re.findall(r'^\s*"([^"]+)"', found[1], re.M)


def suite(name: str, python: pathlib.Path, arguments: list[str]) -> dict[str, Any]:
    """Builds the extension, runs the tests, and counts."""
    # A debug build loads what was built and installed for the same version.
    release = BY_NAME[name].version if BY_NAME[name].is_debug else name
    builder = python if release == name else find(release)
    left_out = packages(release, builder)
    built = make(release, builder, "develop", f"{environment(release)}/.stamp-test")
    if built.returncode != 0:
        return {"error": said_of_build(built)}
    FOLDER.mkdir(exist_ok=True)
    report = FOLDER / f"report-{name}.xml"
    report.unlink(missing_ok=True)
    tests = [
        "-m",
        "pytest",
        "-v",
        "-n",
        os.environ.get("JOBS", "2"),
        "--dist",
        "loadgroup",
        f"--junitxml={report}",
    ]
    env = dict(os.environ)
    if release != name:
        site = ROOT / environment(release) / f"lib/python{release}/site-packages"
        env["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT / "python", ROOT / "bench", site)))
        env["PYTHONMALLOC"] = "debug"
        command = [str(python), "-X", "dev", *tests, "-p", "no:cacheprovider"]
    else:
        command = [str(ROOT / environment(name) / "bin/python"), *tests]
    log = FOLDER / f"log-{name}.txt"
    with log.open("w") as output:
        subprocess.run(
            [*command, *(arguments or ["-m", "not soak"])],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    if not report.exists():
        return {"error": f"the tests ended early: see {os.path.relpath(log, ROOT)}"}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        bad = kinds & {"failure", "error"}
        counts["failed" if bad else "skipped" if "skipped" in kinds else "passed"] += 1
    version = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True
    )
    return {
        "python": version.stdout.strip(),
        **counts,
        "left_out": left_out,
        "log": os.path.relpath(log, ROOT),
    }


def said(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"{name}: {result['error']}"
    text = f"{name}: {result['passed']} passed, {result['failed']} failed, {result['skipped']} skipped"
    if result["left_out"]:
        text += f"; without {', '.join(result['left_out'])}, of which there is no wheel"
    return text + (f"; see {result['log']}" if result["failed"] else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="as 3.15 or 3.15-dbg; all without -dbg, if none is given"
    )
    parser.add_argument("--get", action="store_true", help="have those that are missing from Debian")
    parser.add_argument(
        "--tests", default="", metavar="ARGUMENTS", help="arguments of pytest, instead of the whole suite"
    )
    options = parser.parse_args()
    failed = False
    for name in options.names or [python.name for python in PYTHONS if not python.is_debug]:
        try:
            result = suite(name, find(name, get=options.get), options.tests.split())
        except Missing as error:
            print(f"{name} is missing: {error}", flush=True)
            continue
        print(said(name, result), flush=True)
        failed = failed or "error" in result or result["failed"] > 0
        if not options.tests and "error" not in result:
            kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            kept.setdefault(name, {}).update(
                {key: result[key] for key in ("python", "passed", "failed", "skipped", "left_out")}
            )
            RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
