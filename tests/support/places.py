"""Folders that tests read from."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
VECTORS = REPO / "tests" / "vectors"
# Files that Julia wrote, with the expressions that made them.
JULIA_SAMPLES = REPO / "tests" / "julia" / "samples.tar.xz"
# Others' conformance suites and documents, fetched by `make corpora`; or a folder that has them all.
CORPORA = REPO / ".corpora"
SHARED = pathlib.Path(os.environ.get("HOLDALL_SHARED", REPO.parent / "shared")) / "data"


def data_folder(name: str) -> pathlib.Path:
    """A folder of data that are not part of the repository. Tests skip where it is missing."""
    shared = SHARED / name
    if shared.is_dir():
        return shared
    if name in ("julia", "julia_values"):
        unpack(JULIA_SAMPLES, CORPORA / name)
    return CORPORA / name


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpack the archive's `folder.name` to `folder`, if that is missing or older. Processes that want the same take turns."""
    import fcntl  # not on Windows, which reads no samples

    folder.parent.mkdir(exist_ok=True)
    with open(folder.parent / f".{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir() or folder.stat().st_mtime < archive.stat().st_mtime:
            _unpack(archive, folder)


def _unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    made = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and member.name.split("/")[0] == folder.name:
                    target = made / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    inside = tar.extractfile(member)
                    assert inside is not None
                    target.write_bytes(inside.read())
        shutil.rmtree(folder, ignore_errors=True)
        (made / folder.name).rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    print(data_folder(sys.argv[1]))
