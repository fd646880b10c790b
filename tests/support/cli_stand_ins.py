"""What `holdall` will have, in the smallest form that the command line's tests can do with."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import holdall

LOG = b"HOLD-LOG"


class Document(dict):
    def load(self) -> Any:
        return dict(self)

    def close(self) -> None:
        self.closed = True


def file_kind(path: Any) -> str | None:
    with open(path, "rb") as file:
        head = file.read(8)
    if head == LOG:
        return "log"
    return "graph" if head[:4] == b"HOLD" else "message" if head[:1] in (b"\xc1", b"\xd1") else None


class Reader:
    def __init__(self, path: Any, *, repair: Any = None, types: Any = (), start: int = 0) -> None:
        self.file = open(path, "rb")  # noqa: SIM115
        self.file.read(len(LOG))
        self.types, self.start, self.damage = types, start, []

    def __iter__(self) -> Any:
        end, place = os.fstat(self.file.fileno()).st_size, 0
        while self.file.tell() < end:
            value = _load(self.file, types=self.types)
            if place >= self.start:
                yield value
            place += 1

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *args: object) -> None:
        self.file.close()


class Writer:
    def __init__(self, path: Any, append: bool = False, sync: str = "batch", **options: Any) -> None:
        self.file = open(path, "ab" if append else "wb")  # noqa: SIM115
        if not append:
            self.file.write(LOG)

    def write(self, obj: Any) -> None:
        holdall.dump(obj, self.file)

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def verify(path: Any, repair: bool = False, progress: Any = None) -> Any:
    kind, records, damage = file_kind(path), None, []
    try:
        if kind == "log":
            records = sum(1 for _ in Reader(path, types=holdall.Record))
        else:
            _load(path, types=holdall.Record)
    except holdall.DecodeError as error:
        damage = [SimpleNamespace(offset=error.offset, size=3, reason="checksum mismatch")]
    repaired = "3 bytes cut off" if repair and damage else None
    return SimpleNamespace(
        ok=not damage,
        kind=kind,
        frames=1,
        records=records,
        bytes=os.path.getsize(path),
        damage=damage,
        repaired=repaired,
    )


_load, _dump = holdall.load, holdall.dump


def load(file: Any, *, progress: Any = None, **options: Any) -> Any:
    return _load(file, **options)


def dump(obj: Any, file: Any, *, compress: Any = None, progress: Any = None, **options: Any) -> None:
    _dump(obj, file, **options)


def opened(path: Any, *, types: Any = (), **options: Any) -> Any:
    value = _load(path, types=types)
    return Document(value) if isinstance(value, dict) else value


def install(monkeypatch: Any) -> None:
    import holdall.msgpack

    for name, what in {
        "file_kind": file_kind, "Reader": Reader, "Writer": Writer, "verify": verify, "load": load, "dump": dump,
        "open": opened,
    }.items():  # fmt: skip
        monkeypatch.setattr(holdall, name, what, raising=False)
    both = type(
        "Both",
        (type,),
        {"__instancecheck__": lambda _, value: isinstance(value, (Document, holdall._core.BsonDocument))},
    )
    monkeypatch.setattr(holdall, "Document", both("Document", (), {}), raising=False)
    monkeypatch.setattr(holdall.msgpack, "open", lambda path: holdall.msgpack.load(path), raising=False)
