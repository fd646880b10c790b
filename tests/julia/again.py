"""Loads the files that BSON.jl wrote, and writes each again.

    python tests/julia/again.py FOLDER

Reads FOLDER/there/*.bson, writes FOLDER/again/*.bson. `trip.jl` misses those that aren't written.
"""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from holdall import julia


def write(folder: pathlib.Path) -> list[str]:
    """Returns what went wrong."""
    wrong, same = [], 0
    paths = sorted((folder / "there").glob("*.bson"))
    (folder / "again").mkdir(exist_ok=True)
    for path in paths:
        before = path.read_bytes()
        try:
            after = julia.dumps(julia.loads(before))
        # Whatever it is, it is what is looked for.
        except Exception as cause:
            wrong.append(f"{path.name}: {type(cause).__name__}: {cause}")
            continue
        (folder / "again" / path.name).write_bytes(after)
        same += before == after
    print(
        f"{len(paths) - len(wrong)} of {len(paths)} files are written again, {same} of them byte for byte the same"
    )
    return wrong


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: again.py FOLDER")
    found = write(pathlib.Path(sys.argv[1]))
    print("".join(f"not written again: {line}\n" for line in found), end="")
