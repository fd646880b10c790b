"""The conformance corpus of BSON: every case, bytes and Extended JSON, both ways.

What a case asks for: https://github.com/mongodb/specifications/blob/master/source/bson-corpus/bson-corpus.md
"""

from __future__ import annotations

import datetime
import json
import struct
import uuid

import pytest

import holdall
from tests.support.bson_beside import RawBSONDocument, both, bson, like_the_newest, oracle, shape
from tests.support.bson_wire import one_byte_changed
from tests.support.each import each
from tests.support.extent import sample
from tests.support.places import data_folder

FOLDER = data_folder("bson-corpus")

# The corpus has a moment after the year 9999, which `datetime` has not.
AUTO = bson.DatetimeConversion.DATETIME_AUTO
PLAIN = bson.CodecOptions(datetime_conversion=AUTO)
NATIVE = PLAIN.with_options(tz_aware=True, uuid_representation=bson.STANDARD)
# Each of them gives other objects, and none may change the bytes.
WAYS = {
    "plain": PLAIN,
    "native": NATIVE,
    "SON": PLAIN.with_options(document_class=bson.SON),
    "legacy UUIDs": PLAIN.with_options(uuid_representation=bson.JAVA_LEGACY),
    "milliseconds": PLAIN.with_options(datetime_conversion=bson.DatetimeConversion.DATETIME_MS),
}


def suites():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def every(kind, wanted=lambda case: True):
    """Runs a test with each case of a kind that is wanted."""
    if not FOLDER.is_dir():
        missing = pytest.mark.skip(f"no conformance corpus in {FOLDER}")
        return each("case", [pytest.param(None, id="none", marks=missing)])
    cases = [
        {"file": suite["description"], **{key: suite.get(key) for key in ("bson_type", "test_key")}, **case}
        for suite in suites()
        for case in suite.get(kind, [])
        if wanted(case)
    ]
    return each("case", cases, ids=lambda case: f"{case['file']}: {case['description']}")


def octets(case, key="canonical_bson"):
    return bytes.fromhex(case[key])


def canonical(case):
    """The bytes that are written again: those that deprecated types are converted to."""
    return octets(case, "converted_bson" if "converted_bson" in case else "canonical_bson")


def canonical_json(case):
    return case["converted_extjson" if "converted_extjson" in case else "canonical_extjson"]


def pairs(found):
    """One way to write an exponent is as good as another; of a NaN there is one."""
    if [key for key, _ in found] == ["$numberDouble"]:
        return "double", struct.pack("<d", float(found[0][1]))
    return "document", found


def parsed(text):
    """JSON that can be compared: with order, with int and float apart, with every bit of a float."""
    return shape(json.loads(text, object_pairs_hook=pairs))


def stored(value):
    return bson.encode(value, codec_options=NATIVE)


def test_the_corpus_is_all_there():
    if not FOLDER.is_dir():
        pytest.skip(f"no conformance corpus in {FOLDER}")
    kinds = ("valid", "decodeErrors", "parseErrors")
    found = [sum(len(suite.get(kind, ())) for suite in suites()) for kind in kinds]
    # PyMongo's archive has a few more.
    assert found[0] >= 728 and found[1:] == [75, 180]


# --- bytes ---


@every("valid")
def test_bytes_are_read_and_written_again(case):
    data = octets(case)
    for way, options in WAYS.items():
        assert bson.encode(bson.decode(data, options), codec_options=options) == canonical(case), way
    assert bson.encode(bson.decode(data, PLAIN.with_options(document_class=RawBSONDocument))) == data


@every("valid", lambda case: "degenerate_bson" in case)
def test_degenerate_bytes_are_read_and_written_in_order(case):
    data = octets(case, "degenerate_bson")
    assert shape(bson.decode(data, PLAIN)) == shape(bson.decode(octets(case), PLAIN))
    assert bson.encode(bson.decode(data, PLAIN)) == octets(case)
    assert bson.dumps(bson.loads(data)) == octets(case)
    assert parsed(bson.to_json(data, mode="canonical")) == parsed(case["canonical_extjson"])


@every("valid")
def test_values_are_pymongos(case):
    for options in WAYS.values():
        both("decode", octets(case), options)


@every("decodeErrors")
def test_what_is_no_bson_is_refused(case):
    data = octets(case, "bson")
    with pytest.raises(bson.InvalidBSON):
        bson.decode(data)
    with pytest.raises(bson.InvalidBSON):
        bson.decode_all(data)
    with pytest.raises(holdall.DecodeError) as caught:
        bson.loads(data)
    assert 0 <= caught.value.offset <= len(data)
    assert bson.is_valid(data) is False


@every("valid")
def test_every_prefix_is_refused(case):
    data = octets(case)
    for cut in (*(data[:end] for end in range(len(data))), data + b"\0"):
        with pytest.raises(bson.InvalidBSON):
            bson.decode(cut, PLAIN)
        with pytest.raises(holdall.DecodeError):
            bson.loads(cut)


# Of the Decimal128 files, which are most of the corpus, all payloads are 16 bytes of which each is good.
@like_the_newest
@pytest.mark.damage
@every("valid", lambda case: len(case["canonical_bson"]) < 140 and "numberDecimal" not in case["canonical_extjson"])  # fmt: skip
def test_every_changed_byte_is_read_as_pymongo_does(case):
    for data in sample(list(one_byte_changed(octets(case))), 60):
        kind, found = both("decode", data)
        assert kind == "given" or found is bson.InvalidBSON


# --- the house doors ---

# int64 has no type of its own there: what fits becomes int32.
NARROWED = {"Int64 type": {"-1", "0", "1"}, "Multiple types within the same document": {"All BSON types"}}


def narrowed(value):
    """What PyMongo gives, by the types of the house: they do without PyMongo where Python has its own."""
    if type(value) is bson.Int64:
        return int(value)
    if type(value) is datetime.datetime:
        return value.replace(tzinfo=datetime.timezone.utc)
    if type(value) in (dict, RawBSONDocument):
        return {key: narrowed(item) for key, item in value.items()}
    if type(value) is list:
        return [narrowed(item) for item in value]
    if type(value) is bson.Code and value.scope is not None:
        return bson.Code(str(value), narrowed(value.scope))
    return value


@every("valid")
def test_loads_and_dumps(case):
    """The canonical bytes, to the bit, but for int64 that fits 32 bits."""
    expected = canonical(case)
    if case["description"] in NARROWED.get(case["file"], ()):
        expected = oracle.encode(narrowed(oracle.decode(expected)))
        assert expected != canonical(case)
    assert bson.dumps(bson.loads(octets(case))) == expected


NONE = type(None)
HOUSE_TYPES = {
    0x01: {float}, 0x02: {str}, 0x03: {dict}, 0x04: {list}, 0x05: {bytes, uuid.UUID, bson.Binary, dict},
    0x06: {NONE}, 0x07: {bson.ObjectId}, 0x08: {bool}, 0x09: {datetime.datetime, bson.DatetimeMS}, 0x0A: {NONE},
    0x0B: {bson.Regex, dict}, 0x0C: {bson.DBRef}, 0x0D: {bson.Code}, 0x0E: {str}, 0x0F: {bson.Code}, 0x10: {int},
    0x11: {bson.Timestamp}, 0x12: {int}, 0x13: {bson.Decimal128}, 0x7F: {bson.MaxKey}, 0xFF: {bson.MinKey},
}  # fmt: skip


@every("valid")
def test_types_that_loads_gives(case):
    data = octets(case)
    found = bson.loads(data)
    assert type(found) is dict
    # A document that looks like a reference stays one in the house; with PyMongo only a raw one does.
    theirs = oracle.decode(data, NATIVE.with_options(document_class=RawBSONDocument))
    assert shape(found) == shape(narrowed(theirs))
    if case["test_key"] in found:
        assert type(found[case["test_key"]]) in HOUSE_TYPES[int(case["bson_type"], 16)]


# --- Extended JSON ---


@every("valid")
def test_canonical_json(case):
    text = canonical_json(case)
    assert parsed(bson.to_json(octets(case), mode="canonical")) == parsed(text)
    assert parsed(bson.to_json(bson.decode(octets(case), NATIVE), mode="canonical")) == parsed(text)
    # A deprecated type's own text is read as well.
    for form in {text, case["canonical_extjson"]}:
        value = bson.from_json(form)
        assert parsed(bson.to_json(value, mode="canonical")) == parsed(text)
        if not case.get("lossy"):
            assert stored(value) == canonical(case)


@every("valid", lambda case: "relaxed_extjson" in case)
def test_relaxed_json(case):
    text = case["relaxed_extjson"]
    assert parsed(bson.to_json(octets(case))) == parsed(text)
    assert parsed(bson.to_json(octets(case), mode="relaxed")) == parsed(text)
    assert parsed(bson.to_json(bson.decode(octets(case), NATIVE))) == parsed(text)
    assert parsed(bson.to_json(bson.from_json(text))) == parsed(text)


@every("valid", lambda case: "degenerate_extjson" in case)
def test_degenerate_json_is_read(case):
    value = bson.from_json(case["degenerate_extjson"])
    assert parsed(bson.to_json(value, mode="canonical")) == parsed(canonical_json(case))
    if not case.get("lossy"):
        assert stored(value) == canonical(case)


@every("parseErrors")
def test_what_is_no_extended_json_is_refused(case):
    text = case["string"]
    if int(case["bson_type"], 16) == oracle.BSONDEC[0]:
        text = json.dumps({"d": {"$numberDecimal": text}})
    json.loads(text)
    # A NUL in a name is text like any other until it is written.
    with pytest.raises(holdall.HoldallError):
        bson.dumps(bson.from_json(text))


# --- what the corpus asks for in words ---


@pytest.mark.parametrize(
    "value",
    [{"a\0b": 1}, {"a": {"b\0": 1}}, {"a": [{"\0": 1}]}, {"a": bson.Regex("b\0")}, {"a": bson.Regex(b"\0b")}],
    ids=repr,
)
def test_nul_within_names_and_patterns_is_refused(value):
    with pytest.raises(bson.InvalidDocument):
        bson.encode(value)
    with pytest.raises(holdall.EncodeError):
        bson.dumps(value)


def test_of_equal_names_the_last_wins():
    data = bytes.fromhex("1700000010666f6f000100000010666f6f000200000000")
    assert bson.decode(data) == bson.loads(data) == {"foo": 2}
    assert json.loads(bson.to_json(data)) == {"foo": 2}
    assert bson.encode(bson.decode(data)) == bytes.fromhex("0e00000010666f6f000200000000")


def test_a_moment_that_datetime_has_not_is_refused_by_default():
    data = bytes.fromhex("1000000009610000DC1FD277E6000000")
    with pytest.raises(bson.InvalidBSON):
        bson.decode(data)
    assert type(bson.loads(data)["a"]) is bson.DatetimeMS
