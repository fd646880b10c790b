"""All doors through which data of before comes into a program of today, for the cases of the table of changes.

Data of a case is kept in tests/evolution/golden.json, as version 1 of its program wrote it:

hold: a message of the value itself. file: a file of {"item": value}. log: a log with the value twice.
msgpack: the value itself. bson: a document {"item": value}. pickle, envelope: as `holdall.pickle` and `envelope_pickle` write it.
"""

from __future__ import annotations

import asyncio
import io
import json
import pathlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import holdall
from holdall import bson, envelope_pickle, msgpack, safe_pickle
from tests.support.evolution_cases import Case, Today

Data = dict[str, bytes]
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "evolution" / "golden.json"
KEY = "item"


def stored(today: Today) -> Data:
    """What a case's data is in each format."""
    file, log = io.BytesIO(), io.BytesIO()
    holdall.dump({KEY: today.stored}, file)
    with holdall.Writer(log) as writer:
        writer.write(today.stored)
        writer.write(today.stored)
    return {
        "hold": holdall.dumps(today.stored),
        "file": file.getvalue(),
        "log": log.getvalue(),
        "msgpack": msgpack.dumps(today.plain),
        "bson": bson.dumps({KEY: today.plain}),
        "pickle": holdall.pickle.dumps(today.stored),
        "envelope": envelope_pickle.dumps(today.stored),
    }


def golden() -> tuple[dict[str, Data], dict[str, str]]:
    """What is kept of each case, by its id; and the version of holdall that wrote it."""
    kept = json.loads(GOLDEN.read_text(encoding="ascii"))["changes"] if GOLDEN.exists() else {}
    since = {case: data.pop("since") for case, data in kept.items()}
    return {
        case: {name: bytes.fromhex(text) for name, text in data.items()} for case, data in kept.items()
    }, since


# --- doors, each for the data, what it is to be loaded as (no type: `ANY`), and the other options -----------------------
ANY: Any = object()
Door = Callable[[Data, Any, dict[str, Any]], Any]


def typed(wanted: Any) -> dict[str, Any]:
    return {} if wanted is ANY else {"type": wanted}


def typed_within(wanted: Any) -> dict[str, Any]:
    return {} if wanted is ANY else {"type": dict[str, wanted]}


def both(records: Any) -> Any:
    """The value of two records, of which the second refers to what the first has named."""
    first, second = records
    assert type(first) is type(second)
    return second


async def of_stream(data: bytes, options: dict[str, Any]) -> Any:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    reader = holdall.aio.AsyncReader(stream, **options)
    return both([await reader.read(), await reader.read()])


def of_document(document: Any, wanted: Any) -> Any:
    """The value in a document: not loaded before, if it is a document of its own."""
    with document as doc:
        found = doc[KEY] if wanted is ANY else doc.get(KEY, type=wanted)
        return found.load() if isinstance(found, holdall.Document) else found


HOLD: dict[str, Door] = {
    "loads": lambda data, wanted, how: holdall.loads(data["hold"], **typed(wanted), **how),
    "Decoder": lambda data, wanted, how: holdall.Decoder(**typed(wanted), **how).decode(data["hold"]),
    "load": lambda data, wanted, how: holdall.load(io.BytesIO(data["file"]), **typed_within(wanted), **how)[KEY],
    "load, mapped": lambda data, wanted, how: holdall.load(data["file"], mmap=True, **typed_within(wanted), **how)[KEY],
    "open": lambda data, wanted, how: holdall.open(data["hold"], **typed(wanted), **how).load(),
    "open, typed": lambda data, wanted, how: of_document(holdall.open(data["file"], **typed_within(wanted), **how), ANY),
    "get": lambda data, wanted, how: of_document(holdall.open(data["file"], **how), wanted),
    "Reader": lambda data, wanted, how: both(holdall.Reader(data["log"], **typed(wanted), **how)),
    "AsyncReader": lambda data, wanted, how: asyncio.run(of_stream(data["log"], {**typed(wanted), **how})),
}  # fmt: skip
PERMITTED: dict[str, Door] = {
    "safe_pickle": lambda data, wanted, how: safe_pickle.permitting(how.get("types", ())).loads(data["hold"]),
}
TRUSTED: dict[str, Door] = {
    "pickle.loads": lambda data, wanted, how: holdall.pickle.loads(data["pickle"]),
    "pickle.load": lambda data, wanted, how: holdall.pickle.load(io.BytesIO(data["pickle"])),
    "envelope": lambda data, wanted, how: pickle.loads(data["envelope"]),
    "loads": lambda data, wanted, how: holdall.loads(data["pickle"], trust=True),
}
MSGPACK: dict[str, Door] = {
    "loads": lambda data, wanted, how: msgpack.loads(data["msgpack"], **typed(wanted)),
    "Decoder": lambda data, wanted, how: msgpack.Decoder(**typed(wanted)).decode(data["msgpack"]),
    "load": lambda data, wanted, how: msgpack.load(io.BytesIO(data["msgpack"]), **typed(wanted)),
    "open": lambda data, wanted, how: msgpack.open(data["msgpack"], **typed(wanted)).load(),
    "get": lambda data, wanted, how: of_document(msgpack.open(b"\x81\xa4item" + data["msgpack"]), wanted),
    "Reader": lambda data, wanted, how: both(msgpack.Reader(2 * data["msgpack"], **typed(wanted))),
}
BSON: dict[str, Door] = {
    "loads": lambda data, wanted, how: bson.loads(data["bson"], **typed_within(wanted))[KEY],
    "Decoder": lambda data, wanted, how: bson.Decoder(**typed_within(wanted)).decode(data["bson"])[KEY],
    "load": lambda data, wanted, how: bson.load(io.BytesIO(data["bson"]), **typed_within(wanted))[KEY],
    "open": lambda data, wanted, how: of_document(bson.open(data["bson"], **typed_within(wanted)), ANY),
    "get": lambda data, wanted, how: of_document(bson.open(data["bson"]), wanted),
    "documents": lambda data, wanted, how: both(bson.documents(2 * data["bson"], **typed_within(wanted)))[
        KEY
    ],
}


# --- columns of the table ------------------------------------------------------------------------------------------------
DATA = "data"


class Column(NamedTuple):
    """A column of the table: its doors must agree."""

    name: str
    doors: dict[str, Door]
    typed: bool
    plain: bool


COLUMNS = (
    Column("hold", HOLD | PERMITTED, False, False),
    Column("hold, typed", HOLD, True, False),
    Column("holdall.pickle", TRUSTED, False, False),
    Column("msgpack", MSGPACK, False, True),
    Column("msgpack, typed", MSGPACK, True, True),
    Column("bson", BSON, False, True),
    Column("bson, typed", BSON, True, True),
)


def says(case: Case, column: Column) -> str | None:
    """What the table says of a case in a column: LOADS, DATA, a part of an error, or None if there is nothing to try."""
    if column.plain:
        return case.plain if column.typed else DATA
    if column.doors is TRUSTED:
        return case.trusted if case.trusted != "" else case.hold
    return case.typed if column.typed else case.hold


def answers(case: Case, column: Column, data: Data, today: Today) -> Iterator[tuple[str, Any]]:
    """What each door of a column gives for a case's data: a value, or an error of holdall's."""
    options = {"types": today.types} if today.types else {}
    for name, door in column.doors.items():
        try:
            found = door(data, today.type if column.typed else ANY, options)
        except (holdall.DecodeError, pickle.UnpicklingError) as error:
            found = error
        yield name, found
