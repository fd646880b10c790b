"""A slice of `make faults`: allocations, hooks and disks that fail in turn. Each part is a process of its own, as it may end it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import run as faults

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits and preloading are Linux's here"
)

FEW_KINDS = ["dict rows", "cyclic nodes", "shared", "set", "records"]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = faults.shim(tmp_path_factory.mktemp("shim"))
    if made is None:
        pytest.skip("no C compiler, or no glibc")
    return made


# A generator that gets no memory: 3.12 and 3.13 crash, without anything of ours. Our Python code has generators, too.
GENERATORS = """
import _testcapi
def made():
    return [1, (number for number in ())], any(number for number in (0, 1))
for _ in range(2):
    made()
for first in range(200):
    _testcapi.set_nomemory(first, first + 1)
    try:
        made()
    except MemoryError:
        pass
    finally:
        _testcapi.remove_mem_hooks()
    for _ in range(50):
        made()
"""


def passes(module: str, *arguments: str, preload: Path | None = None) -> None:
    calls, problems = faults.run(module, *arguments, preload=preload, timeout=120)
    assert not problems, "\n".join(problems)
    assert calls


# Where an exception of CPython's was once taken for an answer, or for an error of the data.
ANSWERS = (
    "enum flag", "Flag", "zoneinfo", "mapping proxy", "exception chain", "float, of an int", "complex", "date", "time", "timedelta",
    "datetime, naive", "float, of a str", "IntEnum, of a str", "plain", "exception",
)  # fmt: skip


@pytest.mark.parametrize(
    ("names", "doors"),
    [
        (("dict rows", "records"), "^(error|dumps|loads|deepcopy|Writer)"),
        (ANSWERS, "^(dumps|loads|hold|msgpack|holdall.msgpack)"),
    ],
    ids=["rows", "what is asked in passing"],
)
def test_cpythons_allocations(names: tuple[str, ...], doors: str) -> None:
    pytest.importorskip("_testcapi")
    if subprocess.run([sys.executable, "-c", GENERATORS], capture_output=True).returncode != 0:
        pytest.skip("this CPython crashes where a generator gets no memory")
    passes("allocations", "python", *names, "--most", "60", "--doors", doors)


@pytest.mark.parametrize("many", [1, 100_000], ids=["one", "from one on"])
def test_rusts_allocations(shim: Path, many: int) -> None:
    passes("allocations", "rust", *FEW_KINDS, "--most", "40", "--many", str(many), preload=shim)


@pytest.mark.parametrize("many", [1, 100_000], ids=["one", "from one on"])
def test_rusts_allocations_for_large_data(shim: Path, many: int) -> None:
    passes(
        "allocations", "large", "--most", "8", "--many", str(many), "--doors", "rows|deep|text", preload=shim
    )


def test_an_address_space_that_ends() -> None:
    passes("space", "loads", "--most", "8")


def test_hooks_that_raise() -> None:
    passes("hooks")


def test_disks_without_room(tmp_path: Path) -> None:
    passes("disks", str(tmp_path), "--most", "6")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a file system")
def test_a_full_disk(tmp_path: Path) -> None:
    for place in faults.small_disk(tmp_path):
        passes("disks", str(place), "--full", "--most", "4")
