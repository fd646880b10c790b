"""Writes the vectors anew from cases.py. What is there already is not changed, unless `--change` says so.

Bytes come from holdall, their description from the reader that was written from docs/format.md alone.
"""

from __future__ import annotations

import io
import json
import pathlib
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))

import holdall  # noqa: E402
from tests.support import file_frames  # noqa: E402
from tests.support import seals as by_hand  # noqa: E402
from tests.support.neutral import show  # noqa: E402
from tests.support.wire import message as ordinary  # noqa: E402
from tests.support.wire_files import Log  # noqa: E402
from tests.support.wire_reader import Reader  # noqa: E402
from tests.support.xxh3 import xxh3  # noqa: E402
from tests.vectors import forms  # noqa: E402
from tests.vectors.cases import BAD_FILES, BY_TOKENS, BYTES, FILES, INVALID, OBJECTS  # noqa: E402


def vector(name: str, data: bytes, canonical: bool) -> dict[str, Any]:
    value = show(Reader(data).message(), numbers=True)
    return {"name": name, "bytes": data.hex(), "canonical": canonical, "value": value}


def valid(group: str) -> list[dict[str, Any]]:
    made = [
        vector(name, holdall.dumps(make(), canonical=True), True) for name, make in OBJECTS[group].items()
    ]
    made += [vector(name, bytes.fromhex(text), False) for name, text in BYTES.get(group, {}).items()]
    return made + [vector(name, data, False) for name, data in forms.OTHERS.get(group, {}).items()]


def refusal(load: Any, *args: Any, **options: Any) -> int:
    """Where the reference reader was when it refused that."""
    try:
        load(*args, **options)
    except holdall.DecodeError as failure:
        return failure.offset
    raise AssertionError("not refused")


def buffers() -> list[dict[str, Any]]:
    def made(name: str, data: bytes, given: list[bytes]) -> dict[str, Any]:
        return {"name": name, "bytes": data.hex(), "buffers": [one.hex() for one in given]}

    found = []
    for name, (data, given) in forms.BUFFERS.items():
        value = show(Reader(data).message(), numbers=True)
        found.append(made(name, data, given) | {"canonical": False, "value": value})
    for name, (data, given, error) in forms.BAD_BUFFERS.items():
        offset = refusal(holdall.loads, data, buffers=given)
        found.append(made(name, data, given) | {"error": error, "offset": offset})
    return found


def trusted() -> list[dict[str, Any]]:
    found = []
    for name, (before, data) in forms.TRUSTED.items():
        reader = None
        for one in [*before, data]:
            reader = Reader(one, trust=True, before=reader)
            value = reader.message()
        shown = {"before": [one.hex() for one in before], "bytes": data.hex(), "canonical": False}
        found.append({"name": name, **shown, "value": show(value, numbers=True)})
    for name, (before, data, error) in forms.BAD_TRUSTED.items():
        found.append(
            {"name": name, "before": [one.hex() for one in before], "bytes": data.hex(), "error": error}
        )
    return found


def logs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, make in forms.LOGS.items():
        data = make()
        by_names, by_records = (Log(data, by_names=by).records for by in (True, False))
        # What was damaged decides which of the two ways finds more; a reader that uses both loses nothing.
        records = max(by_names, by_records, key=len)
        found.append({"name": name, "log": data.hex(), "records": [show(one) for one in records]})
    for name, (error, make) in forms.BAD_LOGS.items():
        found.append({"name": name, "log": make().hex(), "error": error})
    return found


def seals() -> list[dict[str, Any]]:
    """By hand, from the page: tests compare them with holdall."""
    found, log_id = [], bytes(range(16))
    key = bytes(range(1, 33))
    payloads = {
        "message": holdall.dumps({"user": 7}),
        "file": dumped([1.5]),
        "trusted": holdall.dumps(print, trust=True),
        "nothing": b"",
    }
    for name, payload in payloads.items():
        for context in ("", "sessions", "ключ"):
            data = by_hand.sealed(key, context, payload)
            shown = {"key": key.hex(), "context": context, "payload": payload.hex(), "sealed": data.hex()}
            found.append({"name": f"{name}, {context or 'no context'}", **shown})
    parts: list[bytes] = []
    for start in (0, 2):
        file = io.BytesIO()
        with holdall.Writer(file) as log:
            log.write({"n": start}), log.write({"n": start + 1})
        parts.append(file.getvalue())
    first = [at for kind, at in forms.frames(parts[1]) if kind == 6][1]
    for name, pieces in {
        "log, closed": [(2, 2, parts[0]), (3, 2, b"")],
        "log, gone on with": [
            (2, 2, parts[0]),
            (3, 2, b""),
            (2, 3, parts[1][:first]),
            (1, 4, parts[1][first:]),
            (3, 4, b""),
        ],
        "log, not closed": [(2, 2, parts[0])],
        "log, empty": [(3, 0, b"")],
    }.items():
        data = by_hand.sealed_log(key, "events", log_id, pieces)
        shown = {
            "key": key.hex(),
            "context": "events",
            "log": data.hex(),
            "records": [kind[1] for kind in pieces][-1],
        }
        found.append({"name": name, **shown, "closed": pieces[-1][0] == 3})
    return found


def limits() -> list[dict[str, Any]]:
    return [{"name": name, "runs": runs, "read": read} for name, (runs, read) in forms.LIMITS.items()]


def invalid() -> list[dict[str, Any]]:
    found = []
    for name, text, error in [*INVALID, *forms.INVALID]:
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


def dumped(obj: object, **options: Any) -> bytes:
    file = io.BytesIO()
    holdall.dump(obj, file, canonical=True, **options)
    return file.getvalue()


def files() -> list[dict[str, Any]]:
    found = []
    for name, (make, options) in FILES.items():
        data = dumped(make(), **options)
        # The same without compression: nothing but zstd reads zstd.
        plain, _ = file_frames.parse(dumped(make()))
        parsed, _ = file_frames.parse(data)
        assert all(
            one in (None, whole)
            for one, whole in zip(
                [parsed.message, *parsed.buffers], [plain.message, *plain.buffers], strict=True
            )
        )
        found.append(
            {
                "name": name,
                "file": data.hex(),
                "frames": [[frame.kind, frame.codec, frame.at, len(frame.body)] for frame in parsed.frames],
                "message": plain.message.hex(),
                "buffers": [{"bytes": len(body), "xxh3": f"{xxh3(body):016x}"} for body in plain.buffers],
            }
        )
    good = {one["name"]: bytes.fromhex(one["file"]) for one in found}
    return found + [
        {"name": name, "file": damage(good).hex(), "error": error}
        for name, (error, damage) in BAD_FILES.items()
    ]


def golden(folder: pathlib.Path) -> None:
    """Files of this version, once and for all."""
    folder.mkdir(parents=True)
    for group, makers in OBJECTS.items():
        path = folder / f"{group}.hold"
        holdall.dump({name: make() for name, make in makers.items()}, path)
        write_value(path, path.read_bytes())
    for name, (make, options) in FILES.items():
        if not name.startswith("blocks"):  # their description would be long
            path = folder / f"file-{name.replace(' ', '-')}.hold"
            holdall.dump(make(), path, canonical=True, **options)
            write_value(path, dumped(make()))


def write_value(path: pathlib.Path, data: bytes) -> None:
    """What a file says, read from one that needs no zstd."""
    value = show(file_frames.described(data), numbers=True)
    path.with_suffix(".json").write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")


def main() -> None:
    made = {group: valid(group) for group in OBJECTS} | {"invalid": invalid(), "files": files()}
    made["numpy"] = [vector(name, ordinary(data), False) for name, data in forms.NUMPY.items()]
    made |= {"buffers": buffers(), "trusted": trusted(), "logs": logs(), "limits": limits(), "seals": seals()}
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
