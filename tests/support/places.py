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
    """Unpack the archive's `folder.name` to `folder`, if that is missing or older."""
    if folder.is_dir() and folder.stat().st_mtime >= archive.stat().st_mtime:
        return
    folder.parent.mkdir(exist_ok=True)
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
        # Other processes may do the same at this moment: whoever comes second has nothing to do.
        if not folder.is_dir():
            (made / folder.name).rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    print(data_folder(sys.argv[1]))
