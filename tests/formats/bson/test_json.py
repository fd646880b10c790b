"""Extended JSON: `to_json` and `from_json` beyond what the conformance corpus asks for, which `test_corpus.py` has."""

from __future__ import annotations

import array
import dataclasses
import datetime
import json
import mmap
import re
import traceback
import uuid

import pytest

import holdall
from tests.support.bson_beside import bson, shape
from tests.support.bson_wire import MESSAGES, NO_DOCUMENT, ONE, document, element, int32, int64
from tests.support.each import each

UTC = datetime.timezone.utc
NATIVE = bson.CodecOptions(datetime_conversion=bson.DatetimeConversion.DATETIME_AUTO)
# Of these the text says less, or something else: deprecated types become others, a reference's parts have an order.
CONVERTED = {"undefined", "symbol", "dbpointer", "DBRef in another order", "DBRef with $db null"}


@each("name", sorted(MESSAGES.keys() - CONVERTED))
def test_canonical_text_says_all(name):
    data = MESSAGES[name]
    text = bson.to_json(data, mode="canonical")
    expected = data if "NaN" not in name and "canonical" not in name else bson.encode(bson.from_json(text))
    assert bson.encode(bson.from_json(text), codec_options=NATIVE) == expected
    assert bson.to_json(bson.from_json(text), mode="canonical") == text
    # Relaxed text gives the same values; numbers are what their size makes them.
    relaxed = bson.from_json(bson.to_json(data))
    assert bson.to_json(bson.decode(bson.encode(relaxed), NATIVE)) == bson.to_json(data)


def mapped(data):
    made = mmap.mmap(-1, len(data))
    made[:] = data
    return made


@pytest.mark.parametrize(
    "make", [bytes, bytearray, memoryview, bson.BSON, bson.Binary, mapped, lambda data: array.array("B", data), bson.Document]
)  # fmt: skip
def test_bytes_are_a_document(make):
    assert bson.to_json(make(ONE)) == '{"x": 1}'
    assert bson.to_json(make(NO_DOCUMENT)) == "{}"


@dataclasses.dataclass
class Point:
    x: int
    y: list[float]


def test_what_dumps_stores_is_written():
    assert bson.to_json(Point(1, [0.5])) == '{"x": 1, "y": [0.5]}'
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
    made = {"at": moment, "id": uuid.UUID(int=1), "many": {3}, "big": bson.Int64(5), "none": None}
    assert bson.from_json(bson.to_json(made, mode="canonical")) == {
        "at": moment.replace(microsecond=678_000),
        "id": bson.Binary(uuid.UUID(int=1).bytes, 4),
        "many": [3],
        "big": bson.Int64(5),
        "none": None,
    }
    for value in (made, Point(1, [2])):
        assert bson.to_json(value) == bson.to_json(bson.dumps(value))


def test_what_is_no_document_is_refused_as_by_dumps():
    for value in (1, "text", [1], None, len, {"a": len}, {"a": 2**64}, {1: {(): 2}}, {"a": "\ud800"}):
        with pytest.raises(holdall.EncodeError) as caught:
            bson.to_json(value)
        with pytest.raises(holdall.EncodeError) as expected:
            bson.dumps(value)
        assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("data", [b"", ONE[:-1], ONE + b"\0", document(element(b"\x20")), b"text"])
def test_malformed_bytes_are_refused(data):
    with pytest.raises(holdall.DecodeError) as caught:
        bson.to_json(data)
    assert 0 <= caught.value.offset <= len(data)


def test_modes():
    for mode in ("legacy", "", None, 1):
        with pytest.raises(ValueError, match='mode: expected "canonical" or "relaxed"'):
            bson.to_json({}, mode=mode)
    with pytest.raises(TypeError):
        bson.to_json({}, "canonical")


def test_dates_beyond_datetime():
    data = document(element(b"\x09", int64(2**62)))
    for mode in ("relaxed", "canonical"):
        text = bson.to_json(data, mode=mode)
        assert json.loads(text) == {"a": {"$date": {"$numberLong": str(2**62)}}}
        assert shape(bson.from_json(text)) == shape({"a": bson.DatetimeMS(2**62)})


def test_types_that_from_json_gives():
    found = bson.from_json(
        '{"l": {"$numberLong": "5"}, "i": {"$numberInt": "5"}, "n": 5, "f": 5.0, "d": {"$date": "2020-01-02T03:04:05.678+01:00"},'
        ' "u": {"$uuid": "00112233-4455-6677-8899-AABBCCDDEEFF"}, "b": {"$binary": {"base64": "eA==", "subType": "0"}}}'
    )
    assert shape(found) == shape(
        {
            "l": bson.Int64(5),
            "i": 5,
            "n": 5,
            "f": 5.0,
            "d": datetime.datetime(2020, 1, 2, 2, 4, 5, 678_000, tzinfo=UTC),
            "u": bson.Binary(bytes.fromhex("00112233445566778899aabbccddeeff"), 4),
            "b": b"x",
        }
    )
    assert (
        bson.from_json(b'{"a": "\xc3\xa9"}') == bson.from_json(bytearray(b'{"a": "\xc3\xa9"}')) == {"a": "é"}
    )


def test_the_outermost_reference_is_a_document():
    text = '{"$id": {"$oid": "000000000000000000000000"}, "more": [1], "$ref": "c", "$db": "d"}'
    found = bson.from_json(text)
    assert type(found) is dict
    assert list(found) == ["$id", "more", "$ref", "$db"]
    assert found["$id"] == bson.ObjectId("00" * 12)
    assert bson.from_json(f'{{"a": {text}}}') == {
        "a": bson.DBRef("c", bson.ObjectId("00" * 12), "d", more=[1])
    }
    assert bson.from_json('{"a": {"$ref": "c"}}') == {"a": {"$ref": "c"}}


SECRET = "s3cr3t"
# What is wrong, and the text of the error; of JSON that is none, also where it ends.
REFUSED = {
    "": "expected JSON, found something else",
    "{": "expected JSON, found something else - at character 1",
    '{"a": 1} ' + SECRET: "expected JSON, found something else - at character 9",
    f'{{"{SECRET}": nope}}': "expected JSON, found something else - at character 11",
    '{"a": NaN}': "expected JSON, found something else",
    '{"a": [1, -Infinity]}': "expected JSON, found something else",
    "[]": "expected a document, found another value",
    f'"{SECRET}"': "expected a document, found another value",
    "1": "expected a document, found another value",
    '{"$oid": "000000000000000000000000"}': "expected a document, found another value",
    '{"$numberInt": "1"}': "expected a document, found another value",
    f'{{"a": {{"$oid": "{SECRET}"}}}}': "expected the value of a $oid, found something else",
    f'{{"{SECRET}": {{"$date": "{SECRET}"}}}}': "expected the value of a $date, found something else",
    '{"a": {"$date": {"$numberInt": "1"}}}': "expected the value of a $date, found something else",
    '{"a": {"$date": {"$numberLong": "9223372036854775808"}}}': "expected the value of a $date, found something else",
    f'{{"a": {{"$numberInt": "{SECRET}"}}}}': "expected the value of a $numberInt, found something else",
    f'{{"a": {{"$numberDouble": "{SECRET}"}}}}': "expected the value of a $numberDouble, found something else",
    f'{{"a": {{"$numberDecimal": "{SECRET}"}}}}': "expected the value of a $numberDecimal, found something else",
    f'{{"a": {{"$binary": "{SECRET}"}}}}': "expected the value of a $binary, found something else",
    '{"a": {"$binary": {"base64": "eA==", "subType": "zz"}}}': "expected the value of a $binary, found something else",
    '{"a": {"$uuid": 1}}': "expected the value of a $uuid, found something else",
    '{"a": {"$regularExpression": []}}': "expected the value of a $regularExpression, found something else",
    '{"a": {"$regularExpression": {"pattern": 1, "options": "i"}}}': "expected the value of a $regularExpression, found something else",
    '{"a": {"$timestamp": {"t": 4294967296, "i": 0}}}': "expected the value of a $timestamp, found something else",
    '{"a": {"$code": 1}}': "expected the value of a $code, found something else",
    '{"a": {"$dbPointer": 1}}': "expected the value of a $dbPointer, found something else",
    '{"a": {"$minKey": 2}}': "expected the value of a $minKey, found something else",
    "[" * 100_000: "nested too deep",
    '{"a": ' * 100_000: "nested too deep",
}  # fmt: skip


@each("text", REFUSED, ids=lambda text: text[:60])
def test_what_is_no_extended_json_is_refused_in_words(text):
    for given in (text, text.encode(), bytearray(text.encode())):
        with pytest.raises(holdall.DecodeError) as caught:
            bson.from_json(given)
        assert str(caught.value) == REFUSED[text]
        where = re.search(r"at character (\d+)$", REFUSED[text])
        assert caught.value.offset == (int(where[1]) if where else 0)
        # Nor does any error that was met on the way.
        assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(holdall.DecodeError, match="text that is not valid UTF-8"):
        bson.from_json(b'{"a": "\xff"}')
    for given in (None, 1, {"a": 1}, [b"{}"]):
        with pytest.raises(TypeError, match="expected text, got"):
            bson.from_json(given)


def test_too_deep_for_pythons_json():
    data = NO_DOCUMENT
    for _ in range(50_000):
        data = document(element(b"\x03", data))
    with pytest.raises(holdall.EncodeError, match="nested so deep"):
        bson.to_json(data)


def test_numbers_of_any_length():
    """An int that BSON has no form for is one of JSON's: `dumps` refuses it."""
    assert bson.from_json('{"a": 123456789012345678901234567890}') == {"a": 123456789012345678901234567890}
    with pytest.raises(holdall.EncodeError):
        bson.dumps(bson.from_json('{"a": {"$numberLong": "9223372036854775808"}}'))
    assert int32(1) in bson.dumps(bson.from_json('{"a": 1}'))
