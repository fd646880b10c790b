"""Objects that mean harm to an encoder, beside PyMongo: without end, half made, changed meanwhile, of classes that lie."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping

import pytest

import holdall
from tests.support.bson_beside import RawBSONDocument, both, bson, oracle
from tests.support.bson_strategies import Marked
from tests.support.bson_wire import ONE
from tests.support.each import each

CodecOptions, TypeRegistry = oracle.CodecOptions, oracle.codec_options.TypeRegistry
STANDARD = CodecOptions(uuid_representation=oracle.STANDARD)


class Endless(Mapping):
    """Each time another one."""

    def __getitem__(self, key):
        return Endless()

    def __iter__(self):
        return iter(["a"])

    def __len__(self):
        return 1


class EndlessCode(oracle.Code):
    @property
    def scope(self):
        return {"a": EndlessCode("f")}


class EndlessReference(oracle.DBRef):
    def as_doc(self):
        return {"$ref": "c", "$id": EndlessReference("c", 1)}


def test_objects_without_end():
    for made in ({"a": Endless()}, Endless(), {"a": EndlessCode("f")}, {"a": [EndlessReference("c", 1)]}):
        assert both("encode", made) == ("raised", RecursionError)


def test_what_changes_while_it_is_written():
    """By a fallback: PyMongo reads on, out of what may be no memory of the list's any more."""
    table, items = {"a": {1}, "b": 2}, [{1}, 2, 3]

    def grow(value):
        table["c"] = 3
        items.append(4)
        return 1

    def shrink(value):
        table.clear()
        items.clear()
        return 1

    for change in (grow, shrink):
        for made in ({"x": table}, {"x": items}):
            table.update(a={1}, b=2)
            items[:] = [{1}, 2, 3]
            chosen = CodecOptions(type_registry=TypeRegistry(fallback_encoder=change))
            with pytest.raises(oracle.InvalidDocument, match="changed its size while it was being stored"):
                bson.encode(made, codec_options=chosen)


def tampered(kind, **slots):
    """An instance that no constructor has seen."""
    made = kind.__new__(kind)
    for name, value in slots.items():
        object.__setattr__(made, name, value)
    return made


# Each without a slot, and with something in it that is no value of its class.
TAMPERED = {
    "ObjectId without bytes": tampered(oracle.ObjectId),
    "ObjectId of a number": tampered(oracle.ObjectId, _ObjectId__id=5),
    "ObjectId of a subclass": tampered(oracle.ObjectId, _ObjectId__id=oracle.Binary(b"x" * 12)),
    "Timestamp without a time": tampered(oracle.Timestamp, _Timestamp__inc=1),
    "Timestamp of text": tampered(oracle.Timestamp, _Timestamp__inc=1, _Timestamp__time="1"),
    "Timestamp of less than nothing": tampered(oracle.Timestamp, _Timestamp__inc=-1, _Timestamp__time=1),
    "Timestamp of a bool": tampered(oracle.Timestamp, _Timestamp__inc=True, _Timestamp__time=1),
    "Decimal128 without a half": tampered(oracle.Decimal128, _Decimal128__low=1),
    "Decimal128 of text": tampered(oracle.Decimal128, _Decimal128__low=1, _Decimal128__high=""),
    "Decimal128 too large": tampered(oracle.Decimal128, _Decimal128__low=2**64, _Decimal128__high=0),
    "Decimal128 of less than nothing": tampered(oracle.Decimal128, _Decimal128__low=-1, _Decimal128__high=0),
    "Decimal128 of bits": tampered(oracle.Decimal128, _Decimal128__low=2**64 - 1, _Decimal128__high=2**63),
    "Regex without flags": tampered(oracle.Regex, pattern="x"),
    "Regex of a number": tampered(oracle.Regex, pattern=1, flags=0),
    "UUID without a number": tampered(uuid.UUID, is_safe=None),
    "UUID of text": tampered(uuid.UUID, int="1", is_safe=None),
    "UUID too large": tampered(uuid.UUID, int=2**128, is_safe=None),
    "UUID of less than nothing": tampered(uuid.UUID, int=-1, is_safe=None),
    "UUID of a bool": tampered(uuid.UUID, int=True, is_safe=None),
    "UUID of zeros": tampered(uuid.UUID, int=0, is_safe=None),
    "UUID of high bits": tampered(uuid.UUID, int=2**127, is_safe=None),
}  # fmt: skip


@each("value", TAMPERED.values(), ids=TAMPERED)
def test_instances_that_are_half_made(value):
    """They are read by their slots, where these are what they should be."""
    both("encode", {"a": value, "b": [value]}, codec_options=STANDARD)


def test_an_object_id_of_another_length():
    """PyMongo reads 12 bytes, wherever they end."""
    for length in (0, 11, 13):
        with pytest.raises(oracle.InvalidDocument, match="has not 12 bytes"):
            bson.encode({"a": tampered(oracle.ObjectId, _ObjectId__id=bytes(length))})


class Moved(datetime.datetime):
    """A datetime whose offset is what its class says."""

    def utcoffset(self):
        return self.offset


@pytest.mark.parametrize("offset", [5, "text", None, datetime.timedelta(days=999_999_999), datetime.timedelta(days=-999_999_999), datetime.timedelta(hours=1, microseconds=-1)], ids=repr)  # fmt: skip
def test_offsets_of_a_class_of_ones_own(offset):
    made = Moved(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    made.offset = offset
    both("encode", {"a": made})


@pytest.mark.parametrize(
    "data", [b"", b"\x05", ONE[:-1], ONE + b"\0", ONE[:-1] + b"\1", b"\x04\0\0\0"], ids=repr
)
def test_raw_documents_are_whole_within_others(data):
    """PyMongo puts any bytes there, and nobody can read the document again."""

    class Torn(RawBSONDocument):
        raw = data

    for made in ({"a": Torn(ONE)}, {"a": oracle.Code("f", Torn(ONE))}):
        with pytest.raises(oracle.InvalidDocument, match="does not end where its length says"):
            bson.encode(made)
        with pytest.raises(holdall.EncodeError, match="does not end where its length says"):
            bson.dumps(made)


def test_errors_show_no_data():
    for made in (
        {"s3cr3t\0": 1},
        {"s3cr3t.": 1},
        {"$s3cr3t": 1},
        {"a": Marked(3, s3cr3t=1)},
        {b"s3cr3t": 1},
        {"a": {"s3cr3t"}},
    ):
        with pytest.raises(oracle.InvalidDocument) as caught:
            bson.encode(made, check_keys=True)
        assert "s3cr3t" not in str(caught.value)
    with pytest.raises(TypeError) as wrong:
        bson.encode([("s3cr3t", 1)])
    assert "s3cr3t" not in str(wrong.value)
