"""What released versions have stored comes out as it was put in."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import holdall
from tests.release import golden
from tests.support.each import each

RELEASES = sorted(path for path in golden.GOLDEN.iterdir() if path.is_dir())
# What a library is needed for, and is left out where it is not there.
OPTIONAL = {"NUMPY": "numpy", "MONGO": "bson"}


def messages(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
    return json.loads((folder / "messages.json").read_text(encoding="ascii"))


def values(folder: pathlib.Path, door: str) -> golden.Table:
    of = golden.module_of(folder)
    if door in golden.TYPED:
        return {name: of.VALUES[name] for name in of.TYPED}
    return golden.table(of, golden.DOORS[door].tables)


MESSAGES = [
    (folder, door, name) for folder in RELEASES for door, kept in messages(folder).items() for name in kept
]


@each("message", MESSAGES, ids=lambda message: f"{message[0].name}-{message[1]}-{message[2]}")
def test_a_message(message: tuple[pathlib.Path, str, str]) -> None:
    folder, door, name = message
    group = name.partition(": ")[0]
    if group in OPTIONAL and not getattr(golden.module_of(folder), group):
        pytest.importorskip(OPTIONAL[group])
    stored = values(folder, door)[name]()
    data = golden.decoded(messages(folder)[door][name])
    of = golden.module_of(folder)
    if door in golden.TYPED:
        golden._as_trees(stored, golden.by_type(golden.TYPED[door], data, of.TYPED[name]))
    else:
        golden.DOORS[door].compared(stored, golden.DOORS[door].load(data, of))


@pytest.mark.parametrize("name", golden.FILES)
@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_a_file(folder: pathlib.Path, name: str) -> None:
    file, kept = golden.FILES[name], 0
    if any(value.startswith("NUMPY: ") for value in messages(folder)[file.door]):
        pytest.importorskip("numpy")
    door, makers = golden.DOORS[file.door], values(folder, file.door)
    for found in file.read(folder / name, golden.module_of(folder)):
        assert found.keys() == messages(folder)[file.door].keys()
        for value, loaded in found.items():
            if value in makers:
                door.compared(makers[value](), loaded)
                kept += 1
    assert kept


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_the_files_are_those_that_were_written(folder: pathlib.Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="ascii"))
    assert manifest["files"] == golden.checksums(folder)
    assert manifest["holdall"] == folder.name
    assert {*golden.FILES, "messages.json", "classes.lock"} <= manifest["files"].keys()


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_no_value_is_missing(folder: pathlib.Path) -> None:
    for name, door in golden.DOORS.items():
        if door.whole:
            assert values(folder, name).keys() <= messages(folder)[name].keys(), name


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_the_lock_still_holds(folder: pathlib.Path) -> None:
    pytest.importorskip("click")
    done = golden.locked(folder, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all compatible" in done.stdout


def test_this_version_has_golden_files() -> None:
    assert holdall.__version__ in [folder.name for folder in RELEASES]


def test_what_the_next_release_will_write(tmp_path: pathlib.Path) -> None:
    """Today's values are kept by today's doors; and what is not what was stored is found."""
    pytest.importorskip("numpy")
    folder = tmp_path / "999.0.0"
    golden.write(folder)
    of = golden.module_of(folder)
    for door, kept in messages(folder).items():
        names = sorted(kept, key=len)
        assert names, door
        if door in golden.DOORS:
            data = golden.decoded(kept[names[0]])
            loaded = golden.DOORS[door].load(data, of)
            other = values(folder, door)[names[1]]()
            with pytest.raises(AssertionError):
                golden.DOORS[door].compared(other, loaded)
    with pytest.raises(FileExistsError):
        golden.write(folder)
