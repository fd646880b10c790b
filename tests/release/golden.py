"""The golden files: what a release stores, which all later ones read.

    python -m tests.release.golden           writes tests/golden/VERSION, if it is not there

A release's folder has a copy of golden_values.py, which says what has to come out of its files, and never changes:

    messages.json        door -> value -> the message, in base 64; of out-of-band buffers those, too
    *.hold, *.log, ...   the values that the door keeps, in one file
    classes.lock         the layouts of the module's classes, by `holdall lock`
    manifest.json        the version, the Python, and the files' checksums
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import holdall
from holdall import bson, envelope_pickle, julia, lisp, msgpack, pickle, safe_pickle
from tests.support.isomorphic import isomorphic
from tests.support.places import REPO

GOLDEN = REPO / "tests" / "golden"
VALUES = pathlib.Path(__file__).with_name("golden_values.py")
LARGEST = 300_000
Table = dict[str, Callable[[], object]]


def name_of(folder: pathlib.Path) -> str:
    """The module of a release. Its classes are stored by this name."""
    return f"golden_{folder.name.replace('.', '_')}"


def module_of(folder: pathlib.Path) -> ModuleType:
    name = name_of(folder)
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec and spec.loader
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


class Door(NamedTuple):
    """A way to store a value as one message.

    tables: of the release's module, what it is given. whole: it keeps all of that; of other doors, what they keep is kept here.
    compared: how what was loaded is compared with what was stored.
    """

    store: Callable[[Any], bytes | list[bytes]]
    load: Callable[[Any, ModuleType], Any]
    tables: tuple[str, ...] = ("VALUES", "NUMPY")
    whole: bool = False
    compared: Callable[[Any, Any], Any] = isomorphic


def _same_text(stored: Any, loaded: Any) -> None:
    isomorphic(stored, loaded, interned=True, ordered=False)


def _as_trees(stored: Any, loaded: Any) -> None:
    isomorphic(stored, loaded, identity=False, ordered=False)


def _equal(stored: Any, loaded: Any) -> None:
    assert type(stored) is type(loaded) and stored == loaded and repr(stored) == repr(loaded)


def _out_of_band(value: Any) -> list[bytes]:
    buffers: list[Any] = []
    return [holdall.dumps(value, buffers=buffers), *map(bytes, buffers)]


DOORS: dict[str, Door] = {
    "hold": Door(holdall.dumps, lambda data, of: holdall.loads(data, types=of), whole=True),
    "hold, as a tree": Door(lambda value: holdall.dumps(value, refs=False), lambda data, of: holdall.loads(data, types=of), compared=_as_trees),
    "hold, canonical": Door(lambda value: holdall.dumps(value, canonical=True), lambda data, of: holdall.loads(data, types=of), whole=True, compared=_same_text),
    "hold, trusted": Door(
        lambda value: holdall.dumps(value, trust=True), lambda data, _: holdall.loads(data, trust=True), ("VALUES", "NUMPY", "TRUSTED"), whole=True
    ),
    "hold, buffers apart": Door(_out_of_band, lambda data, of: holdall.loads(data[0], buffers=data[1:], types=of), ("NUMPY",), whole=True),
    "msgpack": Door(msgpack.dumps, lambda data, _: msgpack.loads(data), compared=_as_trees),
    "bson": Door(lambda value: bson.dumps({"value": value}), lambda data, _: bson.loads(data)["value"], compared=_as_trees),
    "bson, PyMongo's": Door(lambda value: bson.encode(value), lambda data, _: bson.decode(data), ("MONGO",), whole=True, compared=_equal),
    "pickle": Door(pickle.dumps, lambda data, _: pickle.loads(data), ("VALUES", "NUMPY", "TRUSTED"), whole=True),
    "safe_pickle": Door(safe_pickle.dumps, lambda data, of: safe_pickle.permitting(of).loads(data), whole=True),
    "envelope_pickle": Door(envelope_pickle.dumps, lambda data, _: envelope_pickle.loads(data), ("VALUES", "TRUSTED"), whole=True),
    "julia": Door(lambda value: _written(julia.dump, value), lambda data, _: julia.load(io.BytesIO(data)), ("JULIA",), whole=True, compared=_equal),
    "lisp": Door(lisp.dumps, lambda data, _: lisp.loads(data), ("LISP",), whole=True, compared=_equal),
}  # fmt: skip


def _written(dump: Callable[[Any, Any], Any], value: Any) -> bytes:
    file = io.BytesIO()
    dump(value, file)
    return file.getvalue()


# By the types that the module says, in a document, which BSON's messages are.
TYPED: dict[str, ModuleType] = {
    "hold, by a type": holdall,
    "msgpack, by a type": msgpack,
    "bson, by a type": bson,
}


def by_type(format: ModuleType, data: bytes, type: Any) -> Any:
    return format.loads(data, type=dict[str, type])["value"]


# --- files with all values ---
Named = dict[str, Any]


def _graph(path: pathlib.Path, of: ModuleType) -> Iterator[Named]:
    yield holdall.load(path, types=of)
    yield holdall.load(path, types=of, mmap=True)
    yield holdall.loads(path.read_bytes(), types=of)
    with open(path, "rb") as stream:
        yield holdall.load(stream, types=of)
    with holdall.open(path, types=of) as doc:
        yield {name: doc.get(name, type=Any) for name in doc}
    assert holdall.verify(path).ok


def _write_log(values: Named, path: pathlib.Path, compress: Any) -> None:
    with holdall.Writer(path, compress=compress) as log:
        for item in values.items():
            log.write(item)


def _log(path: pathlib.Path, of: ModuleType) -> Iterator[Named]:
    with holdall.Reader(path, types=of) as log:
        yield dict(log)
    with holdall.Reader(io.BytesIO(path.read_bytes()), types=of) as log:
        yield dict(log)
    with holdall.Reader(path, types=of) as log:
        log.seek(holdall.verify(path).records or 0)
        assert list(log) == []
    assert holdall.verify(path).ok


def _stream(dump: Any) -> Callable[[Named, pathlib.Path], None]:
    def write(values: Named, path: pathlib.Path) -> None:
        with open(path, "wb") as stream:
            for name, value in values.items():
                dump({"name": name, "value": value}, stream)

    return write


def _read_stream(load: Any, *, types: bool = False) -> Callable[[pathlib.Path, ModuleType], Iterator[Named]]:
    def read(path: pathlib.Path, of: ModuleType) -> Iterator[Named]:
        found = {}
        with open(path, "rb") as stream:
            while stream.tell() < path.stat().st_size:
                one = load(stream, **({"types": of} if types else {}))
                found[one["name"]] = one["value"]
        yield found

    return read


class File(NamedTuple):
    """A file that holds all that a door keeps, by name; `read` gives that by each way to read it."""

    door: str
    write: Callable[[Named, pathlib.Path], Any]
    read: Callable[[pathlib.Path, ModuleType], Iterator[Named]]


FILES: dict[str, File] = {
    "graph.hold": File("hold", lambda values, path: holdall.dump(values, path), _graph),
    "graph-canonical.hold": File("hold, canonical", lambda values, path: holdall.dump(values, path, canonical=True), _graph),
    "graph-zstd.hold": File("hold", lambda values, path: holdall.dump(values, path, compress="zstd"), _graph),
    "graph-lz4.hold": File("hold", lambda values, path: holdall.dump(values, path, compress="lz4"), _graph),
    "records.log": File("hold", lambda values, path: _write_log(values, path, None), _log),
    "records-zstd.log": File("hold", lambda values, path: _write_log(values, path, "zstd"), _log),
    "records-lz4.log": File("hold", lambda values, path: _write_log(values, path, "lz4"), _log),
    "messages.hold": File("hold", _stream(holdall.dump), _read_stream(holdall.load, types=True)),
    "messages.msgpack": File("msgpack", _stream(msgpack.dump), _read_stream(msgpack.load)),
    "documents.bson": File("bson", _stream(bson.dump), _read_stream(bson.load)),
}  # fmt: skip


# --- writing ---
def table(of: ModuleType, names: tuple[str, ...]) -> Table:
    """The values of a door, by name; those of a table other than the first with the table's name."""
    return {
        name if at == 0 and group == "VALUES" else f"{group}: {name}": make
        for at, group in enumerate(names)
        for name, make in getattr(of, group).items()
    }


def stored(door: Door, of: ModuleType) -> dict[str, Any]:
    """The messages of all values that a door keeps."""
    kept = {}
    for name, make in table(of, door.tables).items():
        try:
            data = door.store(make())
            door.compared(make(), door.load(data, of))
        except (holdall.HoldallError, AssertionError) as error:
            if door.whole:
                raise AssertionError(f"{name} is not kept") from error
            continue
        kept[name] = data
    assert kept
    return kept


def encoded(data: bytes | list[bytes]) -> str | list[str]:
    if isinstance(data, list):
        return [base64.b64encode(each).decode() for each in data]
    return base64.b64encode(data).decode()


def decoded(text: str | list[str]) -> bytes | list[bytes]:
    return [base64.b64decode(each) for each in text] if isinstance(text, list) else base64.b64decode(text)


def locked(folder: pathlib.Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`holdall lock` of the release's classes, as they are in the code and in a file; or, with `--check`, compared with what it was."""
    command = [
        sys.executable,
        "-m",
        "holdall",
        "lock",
        "graph.hold",
        "--code",
        name_of(folder),
        "--lock",
        "classes.lock",
        *options,
    ]
    # The folder is not to be changed by those who read it.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def checksums(folder: pathlib.Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "manifest.json")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(folder: pathlib.Path) -> None:
    """All files of a release, into a folder that has its name."""
    folder.mkdir(parents=True)
    shutil.copyfile(VALUES, folder / f"{name_of(folder)}.py")
    of = module_of(folder)
    messages = {name: stored(door, of) for name, door in DOORS.items()}
    for name, format in TYPED.items():
        messages[name] = {}
        for value, type in of.TYPED.items():
            data = format.dumps({"value": of.VALUES[value]()})
            try:
                _as_trees(of.VALUES[value](), by_type(format, data, type))
            except AssertionError:
                # Neither BSON nor MessagePack has time zones.
                assert format is not holdall, value
                continue
            messages[name][value] = data
    lines = [
        f" {json.dumps(door)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(encoded(data))}" for name, data in of_door.items())
        + "\n }"
        for door, of_door in messages.items()
    ]
    (folder / "messages.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
    for name, file in FILES.items():
        makers = table(of, DOORS[file.door].tables)
        file.write({value: makers[value]() for value in messages[file.door]}, folder / name)
    done = locked(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = {
        "holdall": holdall.__version__,
        "python": sys.version.split()[0],
        "files": checksums(folder),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii")


def main() -> None:
    folder = GOLDEN / holdall.__version__
    if folder.exists():
        print(f"{folder.relative_to(REPO)} is there, and stays as it is")
        return
    with tempfile.TemporaryDirectory(dir=GOLDEN if GOLDEN.exists() else GOLDEN.parent) as name:
        made = pathlib.Path(name) / holdall.__version__
        write(made)
        size = sum(path.stat().st_size for path in made.iterdir() if path.is_file())
        if size > LARGEST:
            sys.exit(f"the golden files have {size} bytes, and {LARGEST} at most are kept")
        GOLDEN.mkdir(exist_ok=True)
        shutil.rmtree(made / "__pycache__", ignore_errors=True)
        made.rename(folder)
    print(f"{folder.relative_to(REPO)}: {size} bytes")


if __name__ == "__main__":
    main()
