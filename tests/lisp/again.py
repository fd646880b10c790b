"""Loads every file of a folder that Lisp wrote, and writes it again beside it.

Usage: python -m tests.lisp.again FOLDER
"""

from __future__ import annotations

import pathlib
import sys

from holdall import lisp


def main(folder: str) -> None:
    for file in sorted(pathlib.Path(folder).glob("*.bin")):
        value = lisp.load(file)
        again = lisp.dumps(value, refs=not file.stem.endswith("-notrack"))
        file.with_suffix(".again").write_bytes(again)


if __name__ == "__main__":
    main(sys.argv[1])
