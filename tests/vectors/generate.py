"""Writes the vectors anew from cases.py. What is there already is not changed, unless `--change` says so.

Bytes come from holdall, their description from the reader that was written from docs/format.md alone.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))

import holdall  # noqa: E402
from tests.support.neutral import show  # noqa: E402
from tests.support.wire_reader import Reader  # noqa: E402
from tests.vectors.cases import BY_TOKENS, BYTES, INVALID, OBJECTS  # noqa: E402


def vector(name: str, data: bytes, canonical: bool) -> dict[str, Any]:
    value = show(Reader(data).message(), numbers=True)
    return {"name": name, "bytes": data.hex(), "canonical": canonical, "value": value}


def valid(group: str) -> list[dict[str, Any]]:
    made = [
        vector(name, holdall.dumps(make(), canonical=True), True) for name, make in OBJECTS[group].items()
    ]
    return made + [vector(name, bytes.fromhex(text), False) for name, text in BYTES.get(group, {}).items()]


def invalid() -> list[dict[str, Any]]:
    found = []
    for name, text, error in INVALID:
        data = bytes.fromhex(text)
        try:
            holdall.loads(data)
        except holdall.DecodeError as failure:
            offset = failure.offset
        else:
            raise AssertionError(f"{name} is not refused")
        found.append(
            {
                "name": name,
                "bytes": data.hex(),
                "error": error,
                "offset": offset,
                "tokens": error in BY_TOKENS,
            }
        )
    return found


def files() -> list[dict[str, Any]]:
    found = []
    for name, obj in (("small", 1), ("text", "hello"), ("longer than 240 bytes", list(range(500)))):
        message = holdall.dumps(obj, canonical=True)
        head, tail = holdall._core.file_frames(message)
        found.append({"name": name, "file": (head + message + tail).hex(), "message": message.hex()})
    good = bytes.fromhex(found[0]["file"])
    bad = {
        "magic": ("not a file", b"HOLE" + good[4:]),
        "version of the frame": ("file", good[:4] + b"\x02" + good[5:]),
        "kind of the frame": ("file", good[:5] + b"\x02" + good[6:]),
        "reserved bytes": ("file", good[:6] + b"\x01" + good[7:]),
        "checksum": ("checksum", good[:-1] + b"\x02"),
        "cut short": ("truncated", good[:-1]),
        "head cut short": ("truncated", good[:20]),
        "bytes after the file": ("trailing", good + b"\x00"),
    }
    return found + [{"name": name, "file": data.hex(), "error": error} for name, (error, data) in bad.items()]


def golden(folder: pathlib.Path) -> None:
    """Files of this version, once and for all."""
    folder.mkdir(parents=True)
    for group, makers in OBJECTS.items():
        obj = {name: make() for name, make in makers.items()}
        path = folder / f"{group}.hold"
        holdall.dump(obj, path)
        value = show(Reader(path.read_bytes()[24:]).message(), numbers=True)
        path.with_suffix(".json").write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")


def main() -> None:
    made = {group: valid(group) for group in OBJECTS} | {"invalid": invalid(), "files": files()}
    changed = []
    for group, vectors in made.items():
        path = FOLDER / f"{group}.json"
        known = json.loads(path.read_text())["vectors"] if path.exists() else []
        now = {one["name"]: one for one in vectors}
        changed += [f"{group}: {one['name']}" for one in known if now.get(one["name"]) != one]
    if changed and "--change" not in sys.argv:
        sys.exit(
            "these vectors would change, and others may rely on them (--change overrides):\n"
            + "\n".join(changed)
        )
    for group, vectors in made.items():
        lines = ",\n".join("  " + json.dumps(one) for one in vectors)
        text = f'{{"format": 1, "vectors": [\n{lines}\n]}}\n'
        (FOLDER / f"{group}.json").write_text(text, encoding="ascii")
    released = FOLDER / "golden" / holdall.__version__
    if not released.exists():
        golden(released)


if __name__ == "__main__":
    main()
