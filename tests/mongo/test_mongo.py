"""PyMongo and a server: with this codec installed, all is as it is with PyMongo's own.

The server is mongo-java-server, which keeps documents as Java objects and writes its answers itself: what comes back has been
understood by a third implementation. It knows no code with a scope, and of binary data only plain bytes and UUIDs.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import itertools
import re
import struct
import uuid
from collections import OrderedDict
from collections.abc import Mapping

import bson
import gridfs
import pymongo
import pytest
from bson import (
    SON,
    Binary,
    Code,
    CodecOptions,
    DatetimeConversion,
    DatetimeMS,
    DBRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
    UuidRepresentation,
    errors,
)
from bson.codec_options import TypeCodec, TypeRegistry
from bson.raw_bson import RawBSONDocument
from conftest import connected, documents, serve
from pymongo import DeleteOne, InsertOne, ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, DocumentTooLarge, OperationFailure

import holdall.bson

CODECS = {"own": contextlib.nullcontext, "holdall": holdall.bson.install}
WAYS = [pytest.param(*way, id=f"{way[0]}-to-{way[1]}") for way in itertools.product(CODECS, CODECS)]
# Three batches, as the server takes 1,000 documents a message.
MANY = 2500

VALUES = [
    0.1,
    -0.0,
    float("nan"),
    float("-inf"),
    "text, größer, 日本, \U0001f600, nul \0 inside",
    "",
    {"a": {"b": {"c": [{}]}}},
    [1, [2.5, [None, {"x": "y"}]]],
    [],
    b"bytes \0\xff",
    Binary.from_uuid(uuid.UUID(int=7)),
    Binary(b"0123456789abcdef", 3),
    ObjectId("0123456789abcdef01234567"),
    True,
    False,
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999000),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999000, datetime.timezone.utc),
    None,
    Regex("a.*b", "imsx"),
    re.compile("x+", re.IGNORECASE),
    Code("function() { return 1; }"),
    2**31 - 1,
    -(2**31) - 1,
    2**63 - 1,
    Int64(5),
    Timestamp(4000000000, 7),
    Decimal128("-1.500E+10"),
    Decimal128("NaN"),
    MinKey(),
    MaxKey(),
    DBRef("other", ObjectId("0123456789abcdef01234567")),
    DBRef("other", 5, "db", extra=[1]),
    SON([("z", 1), ("a", 2)]),
]


def all_types(count):
    """Documents with values of all types, long ones too, and with `_id` first, last and among other keys."""
    for number in range(count):
        value = VALUES[number % len(VALUES)]
        last = {"value": value, "list": [value, value], "_id": number}
        if number % 3 == 0:
            yield {
                "_id": number,
                "within": {"_id": 1, "value": value},
                "n": number,
                "text": "x" * (number % 700),
            }
        elif number % 3 == 1:
            yield last
        else:
            yield OrderedDict(
                n=Int64(number), _id=number, value=value, **{f"key{i}": i * 1000 for i in range(number % 60)}
            )


def exact(value):
    """`value` in a form that is equal only if types, bits and order are."""
    if isinstance(value, RawBSONDocument):
        return type(value), bytes(value.raw)
    if isinstance(value, Mapping):
        return type(value), [(key, exact(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [exact(item) for item in value]
    if isinstance(value, float):
        return type(value), struct.pack("<d", value)
    if isinstance(value, DBRef):
        return type(value), exact(value.as_doc())
    return type(value), repr(value)


def by_codec(action):
    """What `action` returns with each codec."""
    own = action()
    with holdall.bson.install():
        return own, action()


class Lower(TypeCodec):
    """decimal.Decimal, which BSON has no type for."""

    python_type = decimal.Decimal
    bson_type = Decimal128

    def transform_python(self, value):
        return Decimal128(value)

    def transform_bson(self, value):
        return value.to_decimal()


OPTIONS = {
    "default": CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO),
    "son": CodecOptions(document_class=SON),
    "ordered": CodecOptions(document_class=OrderedDict),
    "raw": CodecOptions(document_class=RawBSONDocument),
    "aware": CodecOptions(tz_aware=True),
    "zone": CodecOptions(tz_aware=True, tzinfo=datetime.timezone(datetime.timedelta(hours=-3))),
    "uuid": CodecOptions(uuid_representation=UuidRepresentation.STANDARD),
    "uuid-python": CodecOptions(uuid_representation=UuidRepresentation.PYTHON_LEGACY),
    "uuid-java": CodecOptions(uuid_representation=UuidRepresentation.JAVA_LEGACY),
    "uuid-csharp": CodecOptions(uuid_representation=UuidRepresentation.CSHARP_LEGACY),
    "milliseconds": CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS),
    "clamp": CodecOptions(tz_aware=True, datetime_conversion=DatetimeConversion.DATETIME_CLAMP),
    "types": CodecOptions(type_registry=TypeRegistry([Lower()], fallback_encoder=str)),
    "son-types": CodecOptions(document_class=SON, type_registry=TypeRegistry([Lower()])),
}


# --- there and back ---


@pytest.mark.parametrize(("writer", "reader"), WAYS)
def test_many_documents_of_all_types(client, writer, reader):
    coll = client.test[f"{writer}-{reader}"]
    with CODECS[writer]():
        result = coll.insert_many(all_types(MANY))
    assert result.inserted_ids == list(range(MANY))
    with CODECS[reader]():
        found = list(coll.find(batch_size=600, sort={"_id": 1}))
    # PyMongo's own codec, which never saw a server.
    expected = [bson.decode(bson.encode(document)) for document in all_types(MANY)]
    assert [exact(document) for document in found] == [exact(document) for document in expected]


@pytest.mark.parametrize(("writer", "reader"), WAYS)
@pytest.mark.parametrize("name", OPTIONS)
def test_codec_options(client, name, writer, reader):
    options = OPTIONS[name]
    values = [*VALUES]
    if name.startswith("uuid"):
        values += [uuid.UUID(int=n) for n in (0, 1, 2**127 + 5)]
    if "types" in name:
        values += [decimal.Decimal("1.10"), [decimal.Decimal(2), {"x": decimal.Decimal("-3E+5")}]]
    if name == "types":
        values += [{1, 2}, 3 + 4j]
    if options.datetime_conversion is not DatetimeConversion.DATETIME:
        values += [DatetimeMS(2**60), DatetimeMS(-(2**60))]
    given = [{"_id": n, "v": value, "within": [{"v": value}]} for n, value in enumerate(values)]
    if name == "raw":
        given = [RawBSONDocument(bson.encode(document)) for document in given]

    coll = client.test[f"{name}-{writer}-{reader}"].with_options(options)
    with CODECS[writer]():
        coll.insert_many(given)
    with CODECS[reader]():
        found = list(coll.find(batch_size=10, sort={"_id": 1}))
    expected = [bson.decode(bson.encode(document, codec_options=options), options) for document in given]
    assert [exact(document) for document in found] == [exact(document) for document in expected]


def test_a_message_ends_where_the_server_allows_no_more_bytes(client, witness):
    most = client.admin.command("ismaster")["maxMessageSizeBytes"]
    large = [{"_id": n, "data": bytes([n]) * (most // 11)} for n in range(12)]

    def sizes():
        coll = client.test.large
        coll.drop()
        witness.sent.clear()
        coll.insert_many(large)
        assert list(coll.find({}, {"data": 0}, sort={"_id": 1})) == [{"_id": n} for n in range(12)]
        return [len(data) for data in witness.sent if b"insert\0" in data[:40]]

    own, ours = by_codec(sizes)
    assert ours == own
    assert len(own) == 2
    assert own[0] <= most


def test_raw_batches(client):
    coll = client.test.raw
    coll.insert_many(all_types(500))

    def batches():
        found = list(coll.find_raw_batches(batch_size=150, sort={"_id": 1}))
        return found, [len(bson.decode_all(batch)) for batch in found]

    own, ours = by_codec(batches)
    assert own == ours
    assert ours[1] == [150, 150, 150, 50]


def test_commands_of_all_kinds(client):
    def story():
        client.drop_database("story")
        coll = client.story.items
        coll.insert_many({"_id": n, "group": n % 5, "n": n, "list": [n, {"k": n}]} for n in range(200))
        yield coll.update_one(
            {"_id": 3}, {"$set": {"when": datetime.datetime(2020, 1, 2), "a.b": Int64(2)}}
        ).raw_result
        yield coll.update_many({"group": 2}, {"$inc": {"n": 1000}, "$unset": {"list": ""}}).raw_result
        yield coll.replace_one({"_id": 4}, {"x": Regex("a"), "deep": {"y": [Decimal128("2.5")]}}).raw_result
        yield coll.replace_one({"_id": "new"}, {"y": MinKey()}, upsert=True).raw_result
        yield coll.delete_many({"group": 4}).raw_result
        yield coll.find_one_and_update({"_id": 5}, {"$set": {"n": -1}}, return_document=True)
        yield list(
            coll.aggregate(
                [
                    {"$match": {"n": {"$gte": 0}}},
                    {"$group": {"_id": "$group", "s": {"$sum": "$n"}}},
                    {"$sort": {"_id": 1}},
                ]
            )
        )
        yield coll.distinct("n", {"group": 2})
        yield coll.count_documents({"x": {"$exists": True}})
        yield coll.create_index([("group", 1), ("n", -1)])
        yield coll.index_information()
        yield coll.bulk_write(
            [
                InsertOne({"_id": "b1", "v": VALUES[:8]}),
                UpdateOne({"_id": 6}, {"$set": {"bulk": True}}),
                ReplaceOne({"_id": 7}, {"bulk": {"a": 1}}, upsert=True),
                DeleteOne({"_id": 8}),
            ]
        ).bulk_api_result
        yield coll.bulk_write(
            [UpdateOne({"_id": n}, {"$set": {"n": str(n)}}) for n in range(2100)], ordered=False
        ).bulk_api_result
        yield list(coll.find(sort={"_id": 1}))
        yield client.story.command(SON([("count", "items"), ("query", {"group": 1})]))
        with pytest.raises(BulkWriteError) as error:
            coll.insert_many([{"_id": 0}, {"_id": 1000}, {"_id": 1}], ordered=False)
        yield error.value.details
        with pytest.raises(OperationFailure) as failure:
            client.story.command("nothing", {"a": 1})
        yield failure.value.details

    own, ours = by_codec(lambda: list(story()))
    assert exact(own) == exact(ours)
    assert len(ours) == 17


def test_files(client):
    data = bytes(range(256)) * 3000

    def kept():
        files = gridfs.GridFS(client.files, collection="fs")
        files.put(data, _id="f", filename="x", metadata={"a": Int64(1)}, chunkSize=100_000)
        return files

    with holdall.bson.install():
        assert kept().get("f").read() == data
    assert gridfs.GridFS(client.files).get("f").read() == data
    gridfs.GridFS(client.files).delete("f")
    kept()
    with holdall.bson.install():
        out = gridfs.GridFS(client.files).get("f")
        assert (out.read(), out.metadata, type(out.metadata["a"])) == (data, {"a": 1}, Int64)


def test_the_asynchronous_client(port, witness):
    async def story():
        async with pymongo.AsyncMongoClient("127.0.0.1", port, heartbeatFrequencyMS=600_000) as client:
            coll = client.asynchronous.items
            await coll.drop()
            await coll.insert_many(all_types(1200))
            found = [document async for document in coll.find(batch_size=500, sort={"_id": 1})]
            await client.drop_database("asynchronous")
            return found

    own = asyncio.run(story())
    witness.received.clear()
    with holdall.bson.install():
        ours = asyncio.run(story())
    assert exact(own) == exact(ours)
    assert len(witness.encoded) > 1200
    assert [data for data in witness.received if data not in witness.decoded] == []


# --- what goes wrong ---

OWN_ENCODER = TypeRegistry(fallback_encoder=lambda value: {}[type(value)])


class Broken(TypeCodec):
    python_type = decimal.Decimal
    bson_type = Decimal128

    def transform_python(self, value):
        raise LookupError("encoder")

    def transform_bson(self, value):
        raise LookupError("decoder")


BROKEN = CodecOptions(type_registry=TypeRegistry([Broken()]))
FAILURES = {
    "nul in a key": (lambda coll: coll.insert_one({"a\0b": 1}), errors.InvalidDocument),
    "nul in a key within": (
        lambda coll: coll.insert_many([{"a": 1}, {"b": [{"c\0": 1}]}]),
        errors.InvalidDocument,
    ),
    "an object": (lambda coll: coll.insert_many([{}, {"a": object()}]), errors.InvalidDocument),
    "an object in an update": (
        lambda coll: coll.update_one({}, {"$set": {"a": object()}}),
        errors.InvalidDocument,
    ),
    "an object in a filter": (lambda coll: coll.find_one({"a": object()}), errors.InvalidDocument),
    "an object in a bulk": (
        lambda coll: coll.bulk_write([InsertOne({"a": object()})]),
        errors.InvalidDocument,
    ),
    "a key that is no text": (lambda coll: coll.insert_one({1: 2}), errors.InvalidDocument),
    "a set": (lambda coll: coll.insert_one({"a": {1}}), errors.InvalidDocument),
    "an int too large": (lambda coll: coll.insert_one({"a": 2**63}), OverflowError),
    "a uuid": (lambda coll: coll.insert_one({"a": uuid.UUID(int=1)}), ValueError),
    "a pattern with nul": (lambda coll: coll.insert_one({"a": Regex("a\0b")}), errors.InvalidDocument),
    "a fallback encoder": (
        lambda coll: coll.with_options(CodecOptions(type_registry=OWN_ENCODER)).insert_one({"a": object()}),
        KeyError,
    ),
    "an encoder": (lambda coll: coll.with_options(BROKEN).insert_one({"a": decimal.Decimal(1)}), LookupError),
    "a decoder": (lambda coll: coll.with_options(BROKEN).find_one({"_id": "decimal"}), errors.InvalidBSON),
    "a far date": (lambda coll: coll.find_one({"_id": "far"}), errors.InvalidBSON),
    "a document too large": (lambda coll: coll.insert_one({"a": bytes(17 << 20)}), DocumentTooLarge),
    "a document too large for a message": (
        lambda coll: coll.insert_many([{"a": bytes(49 << 20)}]),
        DocumentTooLarge,
    ),
    "an update too large": (
        lambda coll: coll.update_one({}, {"$set": {"a": bytes(17 << 20)}}),
        DocumentTooLarge,
    ),
    "updates too large": (
        lambda coll: coll.bulk_write([UpdateOne({}, {"$set": {"a": bytes(49 << 20)}})]),
        DocumentTooLarge,
    ),
    "a document too large, unacknowledged": (
        lambda coll: coll.with_options(write_concern=pymongo.WriteConcern(w=0)).insert_many(
            [{"a": bytes(17 << 20)}]
        ),
        DocumentTooLarge,
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures(client, name):
    action, kind = FAILURES[name]
    coll = client.test.failures
    coll.insert_many([{"_id": "far", "a": DatetimeMS(2**60)}, {"_id": "decimal", "a": Decimal128("1")}])
    before = list(coll.with_options(OPTIONS["default"]).find(sort={"_id": 1}))

    def failure():
        with pytest.raises(Exception) as error:
            action(coll)
        # What came before the document that failed was not sent either.
        assert list(coll.with_options(OPTIONS["default"]).find(sort={"_id": 1})) == before
        return error.value

    own, ours = by_codec(failure)
    assert type(own) is type(ours)
    assert isinstance(ours, kind)
    if isinstance(ours, (DocumentTooLarge, OperationFailure)):
        assert str(ours) == str(own)


# --- everything went through it ---


def test_all_documents_on_the_wire_went_through_the_native_functions(port, witness):
    with holdall.bson.install(), connected(port) as client:
        coll = client.test.witness
        coll.insert_many(all_types(1500))
        coll.insert_one({"_id": "far", "a": DatetimeMS(2**60)})
        for name in ("an object", "an int too large", "nul in a key", "a document too large", "a far date"):
            action, kind = FAILURES[name]
            with pytest.raises(kind):
                action(coll)
        coll.delete_one({"_id": "far"})
        coll.insert_one({"_id": "one"})
        coll.update_many({"n": {"$lt": 10}}, {"$set": {"new": VALUES}})
        coll.replace_one({"_id": 1}, {"a": 1})
        coll.bulk_write(
            [UpdateOne({"_id": 2}, {"$set": {"b": 1}}), DeleteOne({"_id": 3}), InsertOne({"_id": "bulk"})]
        )
        assert len(list(coll.find(batch_size=400))) == 1501
        assert len(list(coll.with_options(OPTIONS["types"]).find({"_id": {"$lt": 50}}, batch_size=20))) == 49
        list(coll.aggregate([{"$group": {"_id": None, "s": {"$sum": "$n"}}}]))
        coll.find_one_and_delete({"_id": 9})
        client.drop_database("test")
    assert len(witness.sent) > 20
    assert len(witness.received) > 20
    assert witness.foreign() == []
    assert witness.calls["bson_encode"] > 1500
    assert witness.calls["bson_decode"] + witness.calls["bson_decode_all"] >= len(witness.received)


def test_the_witness_sees_what_goes_past(port, witness):
    with connected(port) as client:
        client.test.own.insert_one({"_id": 1, "a": 2})
    sent = [document for data in witness.sent for document in documents(data)]
    assert witness.foreign() == sent + witness.received
    assert bson.encode({"_id": 1, "a": 2}) in sent
    assert witness.calls == {"bson_encode": 0, "bson_decode": 0, "bson_decode_all": 0}


# --- a file, and a server that was away ---


def test_a_file_that_outlives_the_server(tmp_path):
    path = str(tmp_path / "data.mv")
    with serve(path) as port, connected(port) as client:
        client.test.own.insert_many(all_types(300))
        with holdall.bson.install():
            client.test.holdall.insert_many(all_types(300))
    expected = exact([bson.decode(bson.encode(document)) for document in all_types(300)])
    with serve(path) as port, connected(port) as client:
        for name in ("own", "holdall"):
            found = by_codec(lambda coll=client.test[name]: list(coll.find(batch_size=100, sort={"_id": 1})))
            assert [exact(each) for each in found] == [expected, expected], name
