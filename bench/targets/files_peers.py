"""Files' contestants: `holdall.dump`, `load`, `open` and `Writer` beside those who write arrays, graphs and records to files.

All write to the same disk, and each write begins with the folder empty: nobody pays for another's old file. "raw bytes" is no
rival but the disk: the memory of the arrays written as it is, and a file read into fresh memory.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import holdall

from .data import Case, scratch_folder
from .judge import HOLD, HOLD_MMAP, HOLD_OPEN, JOBLIB, PICKLE, RAW, SAFE_FILE, SAFE_OPEN, SAVEZ
from .peers import Peer, part_of

Store = Callable[[Any, Path], None]
Load = Callable[[Path], Any]


def folder(name: str) -> Path:
    made = Path(scratch_folder().name) / name
    made.mkdir(exist_ok=True)
    return made


def clear(place: Path) -> None:
    """The next write makes a new file, and none of an earlier one is still on its way to the disk."""
    for path in place.iterdir():
        path.unlink()
    sync(place)


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_peer(
    name: str,
    store: Store,
    load: Load,
    case: Case,
    summary: Callable[[Any], Any],
    loads_timed: bool = True,
    synced: bool = True,
) -> Peer:
    """Writes to one folder while it is timed; what it reads stands in another, on the disk before the first read.

    synced: `store` leaves nothing to be waited for.
    """
    file_name = re.sub(r"\W+", "_", name)

    def written(data: Any, place: Path) -> Path:
        path = place / file_name
        store(data, path)
        return path

    def kept(data: Any) -> Path:
        path = written(data, folder(f"{case.name}_kept"))
        if not synced:
            sync(path)
        return path

    return Peer(
        name,
        lambda data: written(data, folder(case.name)),
        lambda path: summary(load(path)),
        timed_loads=load,
        stored=kept,
        expected=case.expected,
        before=lambda: clear(folder(case.name)),
        loads_timed=loads_timed,
    )


# --- arrays ---


def summary(arrays: dict[str, Any]) -> dict[str, Any]:
    """What tells one set of arrays from another: types, shapes, and the bytes in memory, C's order or Julia's."""

    def bytes_of(array: Any) -> Any:
        return array.T if array.flags.f_contiguous else array

    return {
        name: (array.dtype.str, array.shape, hashlib.sha1(bytes_of(array)).hexdigest())
        # safetensors has an order of its own.
        for name, array in sorted(arrays.items())
    }


@cache
def summary_of(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return summary(make())


def write_whole(stream: io.FileIO, data: Any) -> None:
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[stream.write(rest) :]


def write_raw(arrays: dict[str, Any], path: Path) -> None:
    with open(path, "wb", buffering=0) as stream:
        for array in arrays.values():
            write_whole(stream, array)


def read_raw(path: Path) -> Any:
    """Into memory that nobody has used, as an array's is, and no zeros are put into it before."""
    import numpy as np

    with open(path, "rb", buffering=0) as stream:
        data = np.empty(os.fstat(stream.fileno()).st_size, np.uint8)
        rest = data.data
        while rest and (count := stream.readinto(rest)):
            rest = rest[count:]
    return data


def cut(shapes: dict[str, tuple[int, ...]], data: Any) -> dict[str, Any]:
    """The arrays of float32 that stand one after the other in some bytes."""
    import numpy as np

    floats = data.view(np.float32)
    bounds = accumulate((int(np.prod(shape)) for shape in shapes.values()), initial=0)
    return {
        name: floats[begin:end].reshape(shape)
        for (name, shape), (begin, end) in zip(shapes.items(), pairwise(bounds), strict=True)
    }


def pickle_to(obj: Any, path: Path) -> None:
    with open(path, "wb") as stream:
        pickle.dump(obj, stream, 5)


def unpickle(path: Path) -> Any:
    with open(path, "rb") as stream:
        return pickle.load(stream)


def savez(arrays: dict[str, Any], path: Path) -> None:
    import numpy as np

    # By its name it would add one of its own.
    with open(path, "wb") as stream:
        np.savez(stream, **arrays)


def load_npz(path: Path) -> dict[str, Any]:
    import numpy as np

    with np.load(path) as archive:
        return dict(archive)


def then_synced(store: Store) -> Store:
    def store_and_sync(data: Any, path: Path) -> None:
        store(data, path)
        sync(path)

    return store_and_sync


def array_peers(case: Case, shapes: dict[str, tuple[int, ...]], synced: bool) -> list[Peer]:
    """synced: the content is on the disk when the call returns, for all of them; else loads aren't timed a second time."""
    import joblib
    from safetensors import numpy as safetensors

    def peer(name: str, store: Store, load: Load, summary: Callable[[Any], Any] = summary) -> Peer:
        return file_peer(name, store, load, case, summary, loads_timed=synced, synced=synced)

    def rival(name: str, store: Store, load: Load, summary: Callable[[Any], Any] = summary) -> Peer:
        return peer(name, then_synced(store) if synced else store, load, summary)

    return [
        peer(HOLD, partial(holdall.dump, sync=synced), holdall.load),
        rival(RAW, write_raw, read_raw, lambda data: summary(cut(shapes, data))),
        rival(PICKLE, pickle_to, unpickle),
        rival(JOBLIB, joblib.dump, joblib.load),
        rival(SAVEZ, savez, load_npz),
        rival(SAFE_FILE, safetensors.save_file, safetensors.load_file),
    ]


def touch_peers(case: Case, name: str) -> list[Peer]:
    """From a file, whose pages the kernel has, as far as the sum of one array."""
    import joblib
    from safetensors import numpy as safetensors
    from safetensors import safe_open

    def opened(path: Path) -> float:
        with holdall.open(path) as document:
            return float(document[name].sum())

    def safe_opened(path: Path) -> float:
        with safe_open(path, "numpy") as archive:
            return float(archive.get_tensor(name).sum())

    def from_npz(path: Path) -> float:
        import numpy as np

        with np.load(path) as archive:
            return float(archive[name].sum())

    def whole(load: Load) -> Load:
        return lambda path: float(load(path)[name].sum())

    ways: list[tuple[str, Store, Load]] = [
        (HOLD_MMAP, holdall.dump, whole(partial(holdall.load, mmap=True))),
        (HOLD_OPEN, holdall.dump, opened),
        (SAFE_OPEN, safetensors.save_file, safe_opened),
        (SAFE_FILE, safetensors.save_file, whole(safetensors.load_file)),
        (SAVEZ, savez, from_npz),
        ("joblib mmap", joblib.dump, whole(partial(joblib.load, mmap_mode="r"))),
    ]
    return [replace(file_peer(who, store, load, case, float), dumps=None) for who, store, load in ways]


# --- one member of many ---


def opened_member(key: Any, path: Path) -> Any:
    with holdall.open(path) as document:
        found = document[key]
        return found.load() if isinstance(found, holdall.Document) else found


def member_peers(case: Case) -> list[Peer]:
    """From a path, whose pages the kernel has, as far as the member; `load` has to read all the others."""

    return [
        Peer(HOLD_OPEN, None, partial(opened_member, case.key), expected=case.expected),
        part_of(case, HOLD, holdall.load, itemgetter(case.key)),
    ]


# --- logs ---


def write_log(records: list[Any], path: Path) -> None:
    with holdall.Writer(path, sync="never") as log:
        for record in records:
            log.write(record)


def read_log(path: Path) -> list[Any]:
    with holdall.Reader(path) as log:
        return list(log)


def write_pickles(records: list[Any], path: Path) -> None:
    with open(path, "wb") as stream:
        for record in records:
            pickle.dump(record, stream, 5)


def read_pickles(path: Path) -> list[Any]:
    def each(stream: Any) -> Iterator[Any]:
        while True:
            try:
                yield pickle.load(stream)
            except EOFError:
                return

    with open(path, "rb") as stream:
        return list(each(stream))


def write_msgpack(records: list[Any], path: Path) -> None:
    import msgspec

    encode = msgspec.msgpack.Encoder().encode
    with open(path, "wb") as stream:
        for record in records:
            message = encode(record)
            stream.write(len(message).to_bytes(4, "little"))
            stream.write(message)


def read_msgpack(path: Path) -> list[Any]:
    """msgspec takes whole messages only, hence a length before each."""
    import msgspec

    decode = msgspec.msgpack.Decoder().decode
    found = []
    with open(path, "rb") as stream:
        while head := stream.read(4):
            found.append(decode(stream.read(int.from_bytes(head, "little"))))
    return found


def write_lines(records: list[Any], path: Path) -> None:
    import orjson

    with open(path, "wb") as stream:
        for record in records:
            stream.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def read_lines(path: Path) -> list[Any]:
    import orjson

    with open(path, "rb") as stream:
        return list(map(orjson.loads, stream))


def log_peers(case: Case) -> list[Peer]:
    """Nobody waits for the disk: what a record costs is the processor's time and its bytes."""
    ways: list[tuple[str, Store, Load]] = [
        (HOLD, write_log, read_log),
        (PICKLE, write_pickles, read_pickles),
        ("msgspec.msgpack", write_msgpack, read_msgpack),
        ("orjson, lines", write_lines, read_lines),
    ]
    return [file_peer(name, store, load, case, list, synced=False) for name, store, load in ways]
