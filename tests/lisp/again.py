"""Loads every file of a folder that Lisp wrote, and writes it again beside it, lists as such and cons by cons.

Usage: python -m tests.lisp.again FOLDER
"""

from __future__ import annotations

import pathlib
import sys

from holdall import lisp


def main(folder: str) -> None:
    for file in sorted(pathlib.Path(folder).glob("*.bin")):
        value = lisp.load(file)
        refs = not file.stem.endswith("-notrack")
        file.with_suffix(".again").write_bytes(lisp.dumps(value, refs=refs))
        file.with_suffix(".conses").write_bytes(lisp.dumps(value, refs=refs, shared_lists=True))


if __name__ == "__main__":
    main(sys.argv[1])
