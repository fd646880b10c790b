"""`CodecOptions` in `holdall.bson` beside PyMongo: every option, alone and with others."""

from __future__ import annotations

import codecs
import collections
import datetime
import decimal
import itertools
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bson_beside import JSONOptions, RawBSONDocument, agree, both, bson, like_the_newest, oracle, outcome, shape
from tests.support.bson_strategies import (
    AWARE,
    CONVERSIONS,
    DOCUMENT_CLASSES,
    EDGES,
    HANDLERS,
    REFUSED,
    REPRESENTATIONS,
    Changing,
    Number,
    Offset,
    Pairs,
    Record,
    options,
    refused_documents,
)
from tests.support.bson_wire import (
    BROKEN_TEXT,
    EVERYTHING,
    MESSAGES,
    OID,
    ONE,
    TEXT_PLACES,
    binary,
    damaged,
    document,
    element,
    int64,
    scoped,
    string,
)
from tests.support.each import each
from tests.support.extent import examples

CodecOptions, TypeRegistry = oracle.CodecOptions, oracle.codec_options.TypeRegistry
DECIMAL = element(oracle.BSONDEC, oracle.Decimal128("1.5").bid)


class Stop(BaseException):
    """Not an Exception: nobody takes it for a fault of the bytes."""


def places(kind, payload):
    """A value in each kind of container."""
    one = document(element(kind, payload, b"0"))
    return {
        "root": one,
        "document": document(element(oracle.BSONOBJ, one)),
        "array": document(element(oracle.BSONARR, one), element(oracle.BSONNUL, name=b"z")),
        "scope": document(element(oracle.BSONCWS, scoped(b"f", one))),
    }


# --- document_class ---


def failing(error, where):
    class Failing(dict):
        def __init__(self):
            if where == "made":
                raise error("mine")

        def __setitem__(self, key, value):
            if where == "set":
                raise error("mine")
            super().__setitem__(key, value)

    return Failing


@pytest.mark.parametrize("error", [ValueError, LookupError, oracle.InvalidBSON, RecursionError, Stop])
@pytest.mark.parametrize("where", ["made", "set"])
def test_errors_of_a_document_class(error, where):
    chosen = CodecOptions(failing(error, where))
    for data in (ONE, *places(oracle.BSONNUL, b"").values()):
        kind, found = both("decode", data, chosen)
        assert (kind, found) in {("raised", error), ("raised", oracle.InvalidBSON)}


def test_a_document_class_is_made_empty_and_filled_in_order():
    told = []
    for module in (bson, oracle):
        found = module.decode(EVERYTHING, CodecOptions(Changing))
        assert type(found) is Changing
        inner = [value.told for value in found.values() if type(value) is Changing]
        told.append([found.told, inner])
    assert told[0] == told[1]
    assert told[0][1]


def test_every_document_is_of_the_class():
    for made in (oracle.SON, collections.OrderedDict, Changing):
        for name, data in places(oracle.BSONOBJ, ONE).items():
            found = bson.decode(data, CodecOptions(made))
            assert type(found) is made, name
        assert type(bson.decode(MESSAGES["code with scope"], CodecOptions(made))["a"].scope) is made


def test_raw_documents_are_read_when_they_are_asked():
    chosen = CodecOptions(RawBSONDocument, tz_aware=True)
    broken = document(element(oracle.BSONSTR, string(b"\xff")), element(oracle.BSONDAT, int64(5), b"when"))
    array = document(element(oracle.BSONOBJ, ONE))
    data = document(element(oracle.BSONOBJ, broken), element(oracle.BSONARR, array, b"b"))
    found = bson.decode(data, chosen)
    assert type(found) is RawBSONDocument
    assert type(found["a"]) is RawBSONDocument
    assert type(found["b"][0]) is RawBSONDocument
    assert found["b"][0].raw == ONE
    with pytest.raises(oracle.InvalidBSON):
        found["a"]["when"]
    # Nobody looks into what is broken, and what is whole is written again as it came.
    for data in (document(element(b"\x20")), document(element(oracle.BSONSTR, b"\xff"))):
        assert both("decode", data, chosen)[0] == "given"
        assert bson.encode({"a": bson.decode(data, chosen)}) == oracle.encode({"a": RawBSONDocument(data)})


# --- tz_aware, tzinfo, datetime_conversion ---

FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999
HOURS = [-24, -14, -12, -11, -1, 1, 9, 12, 13, 14, 24]
MILLIS = [
    0, 1, -1, 999, -999, 1_000, -1_000, 1_356_351_330_501, -284_643_869_501, 1_635_638_400_000, 1_635_642_000_123, 1_616_893_200_000,
    FIRST, FIRST - 1, FIRST + 1, FIRST + 999, LAST, LAST - 1, LAST + 1, LAST - 999, 2**63 - 1, -(2**63), 2**53, -(2**53), 2**31 * 1000,
    *(edge + hours * 3_600_000 + by for edge in (FIRST, LAST) for hours in HOURS for by in (-1, 0, 1)),
]  # fmt: skip


@each("aware", AWARE.values(), ids=AWARE)
@each("conversion", CONVERSIONS, ids=lambda conversion: conversion.name)
def test_datetimes(aware, conversion):
    chosen = CodecOptions(datetime_conversion=conversion, **aware)
    for millis in MILLIS:
        data = document(element(oracle.BSONDAT, int64(millis)))
        kind, _ = both("decode", data, chosen)
        within = FIRST + 90_000_000 < millis < LAST - 90_000_000
        assert kind == "given" or not within
        if kind == "given" and within:
            assert bson.encode(bson.decode(data, chosen)) == data
    for data in places(oracle.BSONDAT, int64(LAST)).values():
        both("decode", data, chosen)


class Summer(datetime.tzinfo):
    """A zone with a `fromutc` of its own, and no name."""

    def utcoffset(self, moment):
        return datetime.timedelta(hours=2, milliseconds=5)

    def dst(self, moment):
        return datetime.timedelta(0)

    def fromutc(self, moment):
        return moment + datetime.timedelta(hours=3)


ODD_ZONES = {"summer": Summer(), "fails": Offset(LookupError), "stops": Offset(Stop), "not an offset": Offset(5), "None": Offset(None), "nothing": datetime.tzinfo()}  # fmt: skip


@each("zone", ODD_ZONES.values(), ids=ODD_ZONES)
@each("conversion", CONVERSIONS, ids=lambda conversion: conversion.name)
def test_zones_of_ones_own(zone, conversion):
    chosen = CodecOptions(tz_aware=True, tzinfo=zone, datetime_conversion=conversion)
    for millis in (0, FIRST, LAST, LAST + 1):
        for data in places(oracle.BSONDAT, int64(millis)).values():
            both("decode", data, chosen)


# --- uuid_representation ---


@like_the_newest
@each("representation", REPRESENTATIONS.values(), ids=REPRESENTATIONS)
@each("subtype", [0, 1, 2, 3, 4, 5, 6, 255])
def test_uuids(subtype, representation):
    chosen = CodecOptions(uuid_representation=representation)
    for length in (0, 1, 15, 16, 17, 32):
        for name, data in places(oracle.BSONBIN, binary(subtype, bytes(range(length)))).items():
            kind, _ = both("decode", data, chosen)
            if kind == "given" and name == "root":
                assert bson.encode(bson.decode(data, chosen), codec_options=chosen) == data


# --- unicode_decode_error_handler ---


def euro(error):
    return "€", error.end


codecs.register_error("holdall-test-euro", euro)
OTHER_HANDLERS = [
    "surrogatepass",
    "xmlcharrefreplace",
    "namereplace",
    "holdall-test-euro",
    "holdall-test-no",
    "",
]


@like_the_newest
@each("handler", HANDLERS + OTHER_HANDLERS)
@each("place", TEXT_PLACES.values(), ids=TEXT_PLACES)
def test_text_that_is_not_utf_8(place, handler):
    for made, representation in itertools.product((dict, oracle.SON, RawBSONDocument), (0, 4)):
        chosen = CodecOptions(made, unicode_decode_error_handler=handler, uuid_representation=representation)
        for text in (*BROKEN_TEXT, b"", b"ascii", "aé☆😀".encode()):
            data = document(place(text), element(oracle.BSONNUL, name=b"z"))
            kind, _ = both("decode", data, chosen)
            if text not in BROKEN_TEXT:
                assert kind == "given"
            elif handler == "strict" and made is not RawBSONDocument:
                assert kind == "raised"


@pytest.mark.parametrize("handler", HANDLERS)
def test_names_that_become_equal(handler):
    data = document(*(element(oracle.BSONINT, bytes([at, 0, 0, 0]), name) for at, name in enumerate((b"\xff", b"x", b"\xfe", b"", b"\xff\xff"))))  # fmt: skip
    for made in DOCUMENT_CLASSES.values():
        both("decode", data, CodecOptions(made, unicode_decode_error_handler=handler))


# --- type_registry: decoders ---


class Wrapped(tuple):
    """What a decoder makes: `shape` looks into it."""


def decoder(kind, act):
    parts = {"bson_type": kind, "transform_bson": staticmethod(act)}
    return type("Decoder", (oracle.codec_options.TypeDecoder,), parts)()


def encoder(kind, act):
    parts = {"python_type": kind, "transform_python": staticmethod(act)}
    return type("Encoder", (oracle.codec_options.TypeEncoder,), parts)()


def wrapped(value):
    return Wrapped([value])


DECODED = [
    str, int, float, bool, type(None), dict, list, bytes, datetime.datetime, uuid.UUID, oracle.Int64, oracle.Binary, oracle.ObjectId, oracle.Regex,
    oracle.Code, oracle.Timestamp, oracle.Decimal128, oracle.DBRef, oracle.DatetimeMS, oracle.MinKey, oracle.MaxKey, oracle.SON, RawBSONDocument,
]  # fmt: skip


@each("kind", [*DECODED, object, tuple], ids=lambda kind: kind.__name__)
def test_decoders_are_asked_by_the_very_type(kind):
    registry = TypeRegistry([decoder(kind, wrapped)])
    for made in (dict, oracle.SON, RawBSONDocument):
        for more in ({}, {"uuid_representation": 4, "datetime_conversion": 3}):
            chosen = CodecOptions(made, type_registry=registry, **more)
            found, _ = both("decode", EVERYTHING, chosen)
            assert found == "given"
    told = bson.decode(EVERYTHING, CodecOptions(type_registry=registry, uuid_representation=4))
    standard = {oracle.SON, RawBSONDocument, oracle.DatetimeMS, object, tuple}
    assert any(type(value) is Wrapped for value in told.values()) == (kind not in standard)


def test_decoders_of_everything():
    registry = TypeRegistry([decoder(kind, wrapped) for kind in DECODED])
    for made in DOCUMENT_CLASSES.values():
        chosen = CodecOptions(made, type_registry=registry)
        for data in (EVERYTHING, *MESSAGES.values()):
            both("decode", data, chosen)
    # A reference whose parts are of other types by now is a document.
    found = bson.decode(MESSAGES["DBRef"], CodecOptions(type_registry=TypeRegistry([decoder(str, wrapped)])))
    assert type(found["a"]) is dict


def fail(error):
    def act(value):
        raise error("mine")

    return act


@pytest.mark.parametrize("error", [ValueError, LookupError, oracle.InvalidBSON, oracle.InvalidDocument, RecursionError, Stop])  # fmt: skip
def test_errors_of_decoders(error):
    """At the root they come as they are, deeper as InvalidBSON: there PyMongo takes them for a fault of the bytes."""
    for kind, payload, by in (
        (oracle.BSONNUL, b"", type(None)),
        (oracle.BSONOBJ, ONE, dict),
        (oracle.BSONARR, ONE, list),
        (oracle.BSONSTR, string(b"x"), str),
    ):
        chosen = CodecOptions(type_registry=TypeRegistry([decoder(by, fail(error))]))
        for data in places(kind, payload).values():
            found, value = both("decode", data, chosen)
            assert found == "raised"
            assert value in (error, oracle.InvalidBSON)


def test_decoders_are_asked_in_order_and_once():
    def asked(module):
        told = []
        kinds = [str, int, oracle.Int64, list, dict, bytes, type(None), oracle.Code]
        registry = TypeRegistry(
            [decoder(kind, lambda value: told.append(shape(value)) or value) for kind in kinds]
        )
        found = module.decode(EVERYTHING, CodecOptions(type_registry=registry))
        return [told, found]

    kind, _ = agree(asked)
    assert kind == "given"


@pytest.mark.parametrize("result", [None, "text", 5, [], {}, Record(), oracle.Int64(1)], ids=repr)
def test_what_decoders_give_is_not_decoded_again(result):
    for kind in (oracle.Decimal128, type(None), dict):
        registry = TypeRegistry([decoder(kind, lambda value: result), decoder(type(result), wrapped)])
        both("decode", EVERYTHING, CodecOptions(type_registry=registry))


class DecimalCodec(oracle.codec_options.TypeCodec):
    python_type = decimal.Decimal
    bson_type = oracle.Decimal128

    def transform_python(self, value):
        return oracle.Decimal128(value)

    def transform_bson(self, value):
        return value.to_decimal()


def test_decimals_both_ways():
    chosen = CodecOptions(type_registry=TypeRegistry([DecimalCodec()]))
    made = {"a": decimal.Decimal("1.5"), "b": [decimal.Decimal("-0E+3"), {"c": decimal.Decimal("NaN")}]}
    kind, _ = both("encode", made, codec_options=chosen)
    assert kind == "given"
    found = bson.decode(bson.encode(made, codec_options=chosen), chosen)
    assert shape(found) == shape(made)
    assert bson.decode(document(DECIMAL)) == {"a": oracle.Decimal128("1.5")}


# --- type_registry: encoders ---


class Money:
    def __init__(self, amount):
        self.amount = amount


class Purse(Money):
    pass


def hidden(value):
    return {"$amount": value.amount, "a.b": 1}


# How a Money is written; each in turn with each fallback.
ENCODERS = {
    "none": [],
    "int": [encoder(Money, lambda value: value.amount)],
    "document": [encoder(Money, lambda value: {"amount": value.amount, "_id": 1})],
    "names to check": [encoder(Money, hidden)],
    "mapping": [encoder(Money, lambda value: Pairs(amount=value.amount))],
    "list of more": [encoder(Money, lambda value: [value.amount, Record(1)]), encoder(Record, lambda value: f"{value.a}")],
    "one that needs another": [encoder(Money, lambda value: Record(1)), encoder(Record, lambda value: f"{value.a}")],
    "another after": [encoder(Money, lambda value: 1), encoder(Money, lambda value: 2)],
    "UUID": [encoder(Money, lambda value: uuid.UUID(int=value.amount))],
    "itself": [encoder(Money, lambda value: value)],
    "unknown": [encoder(Money, lambda value: {1})],
    "too large": [encoder(Money, lambda value: 2**70)],
    "surrogate": [encoder(Money, lambda value: "\ud800")],
    "fails": [encoder(Money, fail(LookupError))],
    "fails as a document": [encoder(Money, fail(oracle.InvalidDocument))],
    "stops": [encoder(Money, fail(Stop))],
    "base class": [encoder(object, lambda value: "object")],
}  # fmt: skip
FALLBACKS = {
    "none": None,
    "text": lambda value: f"a {type(value).__name__}",
    "itself": lambda value: value,
    "Money": lambda value: Money(5),
    "record": lambda value: Record(1),
    "list": lambda value: [type(value).__name__, {"x": 1, "$y": 2}],
    "document": lambda value: {"type": type(value).__name__},
    "too large": lambda value: 2**64,
    "unknown": lambda value: {1, 2},
    "fails": fail(LookupError),
    "fails as a document": fail(oracle.InvalidDocument),
    "stops": fail(Stop),
}  # fmt: skip


@each("codecs_", ENCODERS.values(), ids=ENCODERS)
@each("fallback", FALLBACKS.values(), ids=FALLBACKS)
def test_encoders_and_fallbacks(codecs_, fallback):
    registry = TypeRegistry(codecs_, fallback)
    values = (Money(5), Purse(6), {1}, 2**64, oracle.Int64(2**64), Number(-(2**64)), Record(3), "\ud800")
    for value, representation, check in itertools.product(values, (0, 4), (False, True)):
        chosen = CodecOptions(type_registry=registry, uuid_representation=representation)
        both("encode", {"a": value}, check, chosen)
        both("encode", {"b": [value, {"c": (value,)}], "_id": value}, check, chosen)
        both("encode", {"a": oracle.DBRef("c", value), "b": oracle.Code("f", {"x": value})}, check, chosen)
        both("encode", Pairs(x=value), check, chosen)
        # Neither the root nor a name is anything but what it is.
        both("encode", value, check, chosen)
        both("encode", {Money(5): 1}, check, chosen)


def test_encoders_are_asked_in_order_and_once():
    def asked(module):
        told = []

        def note(value):
            told.append((type(value).__name__, getattr(value, "amount", None)))
            return value.amount if isinstance(value, Money) else "other"

        registry = TypeRegistry([encoder(Money, note)], note)
        items = [Money(3), {"c": Purse(4), "d": {5}, "_id": Money(6)}]
        made = {"a": Money(1), "_id": Money(2), "b": items, "e": 2**80}
        return [module.encode(made, codec_options=CodecOptions(type_registry=registry)), told]

    kind, _ = agree(asked)
    assert kind == "given"


@like_the_newest
def test_what_is_known_is_never_asked_about():
    told = []
    chosen = CodecOptions(type_registry=TypeRegistry(fallback_encoder=told.append))
    kind, _ = both("encode", {"a": list(EDGES.values())}, codec_options=chosen)
    assert (kind, told) == ("given", [])


@each("value", REFUSED.values(), ids=REFUSED)
@each("fallback", ["text", "fails", "itself"])
def test_fallbacks_get_what_is_refused(value, fallback):
    chosen = CodecOptions(type_registry=TypeRegistry(fallback_encoder=FALLBACKS[fallback]))
    for made in ({"a": value}, {"a": [{"b": value}]}):
        both("encode", made, codec_options=chosen)


class Quiet:
    """A fallback that is not much, and a function all the same."""

    def __call__(self, value):
        return "quiet"

    def __len__(self):
        return 0


def test_a_fallback_that_is_false():
    chosen = CodecOptions(type_registry=TypeRegistry(fallback_encoder=Quiet()))
    kind, _ = both("encode", {"a": {1}}, codec_options=chosen)
    assert kind == "given"


def test_a_fallback_without_end():
    for fallback in (lambda value: [value], lambda value: {"again": value}):
        chosen = CodecOptions(type_registry=TypeRegistry(fallback_encoder=fallback))
        kind, error = both("encode", {"a": {1}}, codec_options=chosen)
        assert (kind, error) == ("raised", RecursionError)


# --- all of them ---

REGISTRIES = {
    "none": TypeRegistry(),
    "decimal": TypeRegistry([DecimalCodec()]),
    "wrapped": TypeRegistry([decoder(kind, wrapped) for kind in (str, oracle.Int64, list, oracle.DBRef)]),
    "fails": TypeRegistry([decoder(oracle.Timestamp, fail(LookupError))]),
    "fallback": TypeRegistry(fallback_encoder=FALLBACKS["document"]),
    "both": TypeRegistry(
        [DecimalCodec(), encoder(set, list), decoder(oracle.ObjectId, str)], FALLBACKS["text"]
    ),
}
chosen_options = st.builds(
    lambda chosen, name: chosen.with_options(type_registry=REGISTRIES[name]),
    options,
    st.sampled_from(list(REGISTRIES)),
)


@like_the_newest
@examples(300)
@given(chosen_options, st.integers(0, 2**32))
def test_any_options_read(chosen, seed):
    """All types, each place of broken text, and what is left of them when some bytes are changed."""
    pick = random.Random(seed)
    texts = [place(pick.choice(BROKEN_TEXT)) for place in TEXT_PLACES.values()]
    moment = element(oracle.BSONDAT, int64(pick.choice(MILLIS)), b"when")
    id_ = element(oracle.BSONBIN, binary(pick.choice((3, 4)), pick.randbytes(16)), b"id")
    some = (
        document(pick.choice(texts), moment, id_),
        document(id_, moment),
        MESSAGES[pick.choice(list(MESSAGES))],
    )
    for data in (EVERYTHING, document(*texts), *some):
        both("decode", data, chosen)
        both("decode_all", ONE + data, chosen)
        # Of two faults, in the bytes and in the user's code, ours meets that of the bytes first: it counts what it reads.
        bad = damaged(data, pick)
        for name, message in (("decode", bad), ("decode_all", ONE + bad)):
            ours, theirs = (outcome(getattr(module, name), message, chosen) for module in (bson, oracle))
            assert ours == theirs or ours[0] == theirs[0] == "raised"


@examples(200)
@given(refused_documents, chosen_options, st.booleans())
def test_any_options_write(made, chosen, check):
    both("encode", made, check, chosen)


def test_options_of_a_class_of_ones_own():
    class Mine(CodecOptions):
        pass

    for chosen in (
        JSONOptions(tz_aware=True),
        Mine(oracle.SON),
        CodecOptions()._replace(tz_aware=True),
    ):
        both("decode", EVERYTHING, chosen)
        both("encode", {"a": datetime.datetime(2020, 1, 1)}, codec_options=chosen)


def test_options_are_read_at_every_call():
    """Two options that differ in one thing, in turn: nothing is kept of the other."""
    text = element(oracle.BSONSTR, string(b"\xff"), b"b")
    id_ = element(oracle.BSONBIN, binary(4, bytes(16)), b"c")
    data = document(element(oracle.BSONDAT, int64(0)), text, id_, element(oracle.BSONOID, OID, b"d"))
    base = CodecOptions(unicode_decode_error_handler="replace")
    changes = [
        {}, {"tz_aware": True}, {"tz_aware": True, "tzinfo": AWARE["fixed"]["tzinfo"]}, {"uuid_representation": 4}, {"document_class": oracle.SON},
        {"datetime_conversion": 3}, {"unicode_decode_error_handler": "ignore"}, {"unicode_decode_error_handler": "strict"},
        {"type_registry": TypeRegistry([decoder(oracle.ObjectId, str)])}, {"type_registry": TypeRegistry([decoder(oracle.ObjectId, repr)])},
    ]  # fmt: skip
    variants = [base.with_options(**change) for change in changes]
    expected = [outcome(oracle.decode, data, chosen) for chosen in variants]
    assert len({repr(value) for value in expected}) == len(variants)
    for _ in range(3):
        assert [outcome(bson.decode, data, chosen) for chosen in variants] == expected
