"""BSON for the mutation fuzzer: documents of every kind, and every door that takes them."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import struct
import tempfile
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import holdall
from holdall import bson
from tests.fuzz.mutations import LARGEST_INPUT
from tests.support import bson_wire
from tests.support.bson_beside import RawBSONDocument, oracle
from tests.support.bson_strategies import CONVERSIONS, HANDLERS, REPRESENTATIONS, Changing
from tests.support.kinds import KINDS
from tests.support.places import data_folder
from tests.support.typed_targets import TARGETS

CORPUS = data_folder("bson-corpus")

# Whether it was loaded, and dumped again.
Outcome = tuple[bool, bool]


class Door(NamedTuple):
    name: str
    load: Callable[[bytes, int], Outcome]


# --- messages ---
def corpus() -> list[bytes]:
    """The conformance corpus, where it is there: what is valid, and what is not."""
    found = []
    for path in sorted(CORPUS.glob("*.json")):
        suite = json.loads(path.read_text(encoding="utf-8"))
        for case in suite.get("valid", []):
            found += [
                case[key] for key in ("canonical_bson", "degenerate_bson", "converted_bson") if key in case
            ]
        found += [case["bson"] for case in suite.get("decodeErrors", [])]
    return [bytes.fromhex(text) for text in found]


def seeds() -> list[bytes]:
    found = [*bson_wire.MESSAGES.values(), bson_wire.EVERYTHING]
    found += [bson_wire.document(element) for element in bson_wire.TOLERATED.values()]
    found += [
        bson_wire.document(place(text))
        for place in bson_wire.TEXT_PLACES.values()
        for text in bson_wire.BROKEN_TEXT[:2]
    ]
    for kind in KINDS:
        with contextlib.suppress(holdall.EncodeError):
            found.append(bson.dumps({"a": kind.make(), "b": [kind.make(), {"k": kind.make()}]}))
    rows = [
        {"_id": n, "name": f"row {n}", "tags": ["a", "b"], "at": {"x": n / 7, "y": None}} for n in range(12)
    ]
    found.append(bson.dumps({"rows": rows}))
    return [data for data in found + corpus() if len(data) <= LARGEST_INPUT // 2]


def same(one: Any, other: Any) -> bool:
    """Whether they look the same; what is too deep to show is taken to be."""
    try:
        return repr(one) == repr(other)
    except RecursionError:
        return True


# --- doors of the house: nothing but its own errors comes out ---
def loads(data: bytes, number: int) -> Outcome:
    try:
        found = bson.loads(data, tz_aware=number % 2 == 0)
    except holdall.HoldallError:
        return False, False
    try:
        again = bson.dumps(found)
    except holdall.HoldallError:
        return True, False
    # What was loaded is whole, and says the same when it is stored; what was a pointer is a dict then.
    second = bson.loads(again, tz_aware=number % 2 == 0)
    assert same(second, found) or "DBRef(" in repr(found), "another value after a second round"
    return True, True


def typed(annotation: Any) -> Callable[[bytes, int], Outcome]:
    def load(data: bytes, number: int) -> Outcome:
        # Its messages are of values under one name, or of the value itself.
        wanted = dict[str, annotation] if data[5:7] == b"v\0" else annotation
        try:
            found = bson.loads(data, type=wanted, strict=number % 3 > 0, tz_aware=number // 3 % 2 == 0)
        except holdall.HoldallError:
            return False, False
        try:
            bson.dumps(found)
        except holdall.HoldallError:
            return True, False
        return True, True

    return load


WANTED = [
    int, str, bytes, memoryview, float, bool, list, dict, None, datetime.datetime, uuid.UUID, Any, list[int], dict[str, Any],
    tuple[int, ...], oracle.ObjectId, oracle.Decimal128, int | str | None, list[dict[str, int]], datetime.date,
]  # fmt: skip
DEEPEST = 30


def touched(doc: bson.Document, number: int, depth: int = 0) -> Any:
    """All of a document, looked at in every way that there is."""
    array = "array of" in repr(doc)
    if depth == DEEPEST:
        return doc.load()
    values = [
        touched(value, number, depth + 1) if isinstance(value, bson.Document) else value
        for value in doc.values()
    ]
    assert len(doc) == len(values)
    if array:
        assert len(list(doc)) == len(values)
        for at in (0, -1, len(values) - 1, -len(values)) if values else ():
            doc[at]
        with contextlib.suppress(IndexError):
            doc[len(values)]
        keys: list[Any] = list(range(min(len(values), 10)))
    else:
        keys = list(doc.keys())
        assert keys == list(doc) == [key for key, _ in doc.items()]
        for key in keys[:20]:
            assert key in doc
            doc[key]
        assert "no such key" not in doc or "no such key" in keys
    for key in keys[:3]:
        with contextlib.suppress(holdall.HoldallError):
            found = doc.get(key, type=WANTED[number % len(WANTED)])
            if isinstance(found, memoryview):
                bytes(found)
    assert doc.get("no such key" if not array else 1 << 40, 5) == 5 or "no such key" in keys
    number_of_bytes = len(bytes(doc.raw))
    assert int.from_bytes(bytes(doc.raw[:4]), "little") == number_of_bytes
    return values if array else dict(zip(keys, values, strict=True))


def walked(data: bytes, number: int) -> Outcome:
    """Whatever a document holds, it says the same member by member as at once."""
    aware = number % 2 == 0
    try:
        whole, good = bson.loads(data, tz_aware=aware), True
    except holdall.HoldallError:
        whole, good = None, False
    try:
        doc = bson.Document(data, format="bson", tz_aware=aware)
        if number // 2 % 3 == 0:
            assert same(doc.load(), whole), "another value by load()"
        found, touching = touched(doc, number), True
    except holdall.HoldallError:
        found, touching = None, False
    assert good == touching, f"loads: {good}, member by member: {touching}"
    assert same(found, whole), "another value member by member"
    return good, False


def annotated(data: bytes, number: int) -> Outcome:
    """A document of a type, whose members are built as it says."""
    _, annotation, _ = TARGETS[number % len(TARGETS)]
    try:
        with bson.Document(data, format="bson", type=annotation, strict=number % 3 > 0) as doc:
            for key in doc:
                if isinstance(key, str):
                    doc[key]
            list(doc.items())
            doc.load()
    except holdall.HoldallError:
        return False, False
    return True, False


def streamed(data: bytes, number: int) -> Outcome:
    """Documents one behind the other: the damaged one among sound ones."""
    stream = bson_wire.ONE + data + bson_wire.ONE
    lazy = number % 2 == 1
    came = 0
    try:
        if number % 16 < 14:
            for found in bson.documents(io.BytesIO(stream), lazy=lazy):
                came += 1
                if lazy:
                    found.load()
        else:
            # Never written again: a map of it may still be in use.
            with tempfile.NamedTemporaryFile(suffix=".bson") as file:
                file.write(stream)
                file.flush()
                for found in bson.documents(file.name, lazy=lazy):
                    came += 1
                    if lazy:
                        found.load()
        file_like = io.BytesIO(stream)
        bson.load(file_like), bson.load(file_like)
    except holdall.HoldallError:
        assert came >= 1
        return False, False
    return True, False


def as_json(data: bytes, number: int) -> Outcome:
    """Extended JSON of what is well formed, and back."""
    try:
        text = bson.to_json(data, mode=("relaxed", "canonical")[number % 2])
    except holdall.HoldallError:
        return False, False
    try:
        bson.dumps(bson.from_json(text))
    except holdall.HoldallError:
        return True, False
    return True, True


# --- PyMongo's names: nothing but InvalidBSON comes out ---
class Money:
    def __init__(self, of: Any) -> None:
        self.of = of


def decoder(kind: type, to: Callable[[Any], Any]) -> Any:
    class Decoder(oracle.codec_options.TypeDecoder):
        bson_type = kind
        transform_bson = staticmethod(to)

    return Decoder()


REGISTRY = oracle.codec_options.TypeRegistry(
    [decoder(oracle.Decimal128, Money), decoder(str, str.upper), decoder(int, Money)]
)
OPTIONS = [
    oracle.CodecOptions(**options)
    for options in [
        {},
        {"tz_aware": True},
        {"tz_aware": True, "tzinfo": datetime.timezone(datetime.timedelta(hours=5))},
        {"document_class": oracle.SON},
        {"document_class": Changing},
        {"document_class": RawBSONDocument},
        *({"datetime_conversion": way} for way in CONVERSIONS),
        *({"uuid_representation": way} for way in REPRESENTATIONS.values()),
        *({"unicode_decode_error_handler": way} for way in HANDLERS),
        {"type_registry": REGISTRY},
        {"type_registry": REGISTRY, "document_class": oracle.SON, "tz_aware": True},
    ]
]


def decode(data: bytes, number: int) -> Outcome:
    options = OPTIONS[number % len(OPTIONS)]
    try:
        found = bson.decode(data, options)
        if isinstance(found, RawBSONDocument):
            dict(found)
    except oracle.InvalidBSON:
        return False, False
    return True, False


def decode_all(data: bytes, number: int) -> Outcome:
    options = OPTIONS[number % len(OPTIONS)]
    stream = bson_wire.ONE + data + (bson_wire.ONE if number % 2 else b"")
    ways = (
        bson.decode_all,
        bson.decode_iter,
        lambda data, options: bson.decode_file_iter(io.BytesIO(data), options),
    )
    try:
        list(ways[number % 3](stream, options))
    except oracle.InvalidBSON:
        return False, False
    except struct.error:
        # As PyMongo's own, where a few bytes are left over.
        assert number % 3 == 1
        return False, False
    return bson.is_valid(data), False


def documents_of(value: Any) -> list[bytes]:
    """The value under a name, and by itself if it is a document."""
    found = [bson.dumps({"v": value})]
    with contextlib.suppress(holdall.EncodeError):
        found.append(bson.dumps(value))
    return found


def doors() -> list[tuple[Door, list[bytes]]]:
    """Each door with the messages that are damaged before it; those by a type last."""
    pool = seeds()
    typed_messages = [data for _, _, values in TARGETS for value in values for data in documents_of(value)]
    found = [(Door(f.__name__, f), pool) for f in (loads, walked, decode, decode_all, streamed, as_json)]
    found.append((Door(annotated.__name__, annotated), typed_messages))
    for name, annotation, values in TARGETS:
        own = [data for value in values for data in documents_of(value)]
        found.append((Door(f"loads as {name}", typed(annotation)), own * 20 + pool[::7]))
    return found
