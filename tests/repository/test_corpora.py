"""`make corpora`: what is taken from an archive, and what is said where there is none, or another. Nothing is fetched here."""

from __future__ import annotations

import hashlib
import io
import pathlib
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support import corpora, places

FILES = {
    "package/cases/a.json": b"1",
    "package/cases/b.json": b"2",
    "package/readme": b"3",
    "../c.json": b"4",
}


def archive(path: pathlib.Path) -> str:
    """Make it. Its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, text in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def corpus(sha256: str, registry: str = "npm") -> corpora.Corpus:
    return corpora.Corpus("cases", registry, "some", "1.0", sha256, r"package/cases/\w\.json")


def test_the_files_that_are_wanted_are_taken(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = corpus(archive(tmp_path / "archives" / "some-1.0.tgz"))
    for _ in range(2):
        assert corpora.main(tmp_path, (wanted,)) == 0
        assert contents(tmp_path / "cases") == {"a.json": b"1", "b.json": b"2"}
        assert "cases: 2 files of some-1.0.tgz" in capsys.readouterr().out


def test_another_archive_is_not_taken(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "archives" / "some-1.0.tgz"
    archive(path)
    assert corpora.main(tmp_path, (corpus("0" * 64),)) == 1
    assert "cases: some-1.0.tgz does not have the checksum 000" in capsys.readouterr().out
    assert not path.exists() and not (tmp_path / "cases").exists()


def test_what_could_not_be_got_is_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert corpora.main(tmp_path, (corpus("0" * 64),)) == 0
    assert "cases: could not be got, its tests skip: npm is missing" in capsys.readouterr().out
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert corpora.main(tmp_path, (corpus("0" * 64, "PyPI"),)) == 0
    assert "its tests skip: /bin/false made no some-1.0.tar.gz" in capsys.readouterr().out


def test_every_archive_has_a_checksum() -> None:
    assert all(len(corpora.pinned(one)[1]) == 64 for one in corpora.WANTED)


def test_julias_samples_are_unpacked_once(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "made" / "julia_values"
    places.unpack(places.JULIA_SAMPLES, folder)
    assert len(list((folder / "bson").glob("*.bson"))) == 213
    mark = folder / "mark"
    mark.touch()
    places.unpack(places.JULIA_SAMPLES, folder)
    assert mark.exists()
    assert {path.name for path in folder.parent.iterdir()} == {".julia_values.lock", "julia_values"}


def test_whoever_unpacks_meanwhile_finds_everything(tmp_path):
    def unpacked() -> set[str]:
        places.unpack(places.JULIA_SAMPLES, tmp_path / "julia_values")
        return {path.name for path in (tmp_path / "julia_values").iterdir()}

    with ThreadPoolExecutor(8) as pool:
        found = [each.result() for each in [pool.submit(unpacked) for _ in range(8)]]
    assert "values.jl" in found[0]
    assert found == found[:1] * 8
