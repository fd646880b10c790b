"""PyMongo's names in `holdall.bson` beside PyMongo itself, whose C extension is the oracle."""

from __future__ import annotations

import array
import collections
import inspect
import io
import mmap
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bson_beside import RawBSONDocument, agree, both, bson, like_the_newest, oracle, outcome, shape
from tests.support.bson_strategies import (
    DOCUMENT_CLASSES,
    EDGES,
    MAPPINGS,
    NAMES,
    REFUSED,
    REFUSED_NAMES,
    REPRESENTATIONS,
    UUIDS,
    Broken,
    Pairs,
    documents,
    options,
    refused_documents,
)
from tests.support.bson_wire import (
    EVERYTHING,
    MESSAGES,
    NO_DOCUMENT,
    OID,
    ONE,
    PAYLOADS,
    TOLERATED,
    damaged,
    document,
    element,
    int32,
    one_byte_changed,
    scoped,
    string,
)
from tests.support.each import each
from tests.support.extent import examples, sample

STANDARD = oracle.CodecOptions(uuid_representation=oracle.STANDARD)


def test_the_oracle_is_pymongos_own_codec():
    for name in ("_dict_to_bson", "_bson_to_dict", "_decode_all"):
        assert getattr(oracle, name) is getattr(oracle._cbson, name)
    for name in ("encode", "decode", "decode_all", "decode_iter", "decode_file_iter", "is_valid", "BSON"):
        assert getattr(bson, name) is not getattr(oracle, name)


# --- encode ---


@like_the_newest
@each("value", EDGES.values(), ids=EDGES)
def test_values_are_written(value):
    kind, _ = both("encode", {"a": value})
    assert kind == "given"
    both("encode", {"b": [0, value, {"c": value}], "_id": value})
    both("encode", Pairs(a=value, _id=(value,)))
    both("encode", {"a": value}, check_keys=True)
    both("encode", value)


def test_a_value_beyond_two_gib():
    # Zeros that nobody looks at take no memory: both refuse it by its length.
    value = bytes(1 << 31)
    for module in (bson, oracle):
        with pytest.raises(oracle.errors.InvalidStringData, match="String length must be <= 2147483647"):
            module.encode({"a": value})


@pytest.mark.parametrize("make", MAPPINGS.values(), ids=MAPPINGS)
def test_mappings_are_written(make):
    items = [("b", 1), ("_id", [2]), ("a", {"_id": 3, "z": 1, "_ie": 0}), ("é", None)]
    made = make(items)
    names = list(dict.keys(made) if isinstance(made, dict) else made)
    kind, _ = both("encode", made)
    assert kind == "given"
    # Nobody asked a defaultdict for what it has not.
    assert list(dict.keys(made) if isinstance(made, dict) else made) == names
    for value in (made, [made, make([])], oracle.Code("f", made), oracle.DBRef("c", made)):
        kind, _ = both("encode", {"a": 1, "b": value, "_id": value})
        assert kind == "given"
    both("encode", make([]))


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_are_written_and_checked(name):
    one = {name: 1}
    for made in (one, {"a": [one]}, {"a": Pairs(one)}, {"_id": one}, {"_id": 0, name: 1}):
        kind, _ = both("encode", made)
        assert kind == "given"
        both("encode", made, True)
        both("encode", oracle.SON(made), True)


def test_names_that_check_keys_refuses():
    one = {"$a": 1}
    for made in ({"a.b": 1}, one, {"x": {"$": 1}}, {"x": [{".": 1}]}, {"_id": one}, Pairs(one)):
        for check in (True, 1):
            assert both("encode", made, check) == ("raised", oracle.InvalidDocument)
        assert both("encode", made, 0)[0] == "given"
    # Scopes and references have names of their own.
    for value in (oracle.Code("f", one), oracle.DBRef("c", one), RawBSONDocument(oracle.encode(one))):
        assert both("encode", {"a": value}, True)[0] == "given"


@pytest.mark.parametrize("name", REFUSED_NAMES.values(), ids=REFUSED_NAMES)
def test_names_that_are_refused(name):
    one = {name: 1}
    for made in (one, {"a": {"b": [one]}}, {"a": Pairs(one)}, {"a": oracle.Code("f", one)}):
        for check in (False, True):
            kind, error = both("encode", made, check)
            assert kind == "raised"
            assert error in (oracle.InvalidDocument, UnicodeEncodeError)


@each("value", REFUSED.values(), ids=REFUSED)
def test_values_that_are_refused(value):
    one = {"a": value}
    for made in (
        one,
        {"_id": value},
        {"a": [1, {"b": (value,)}]},
        Pairs(a=value),
        {"a": {"b": 1, "_id": one}},
    ):
        kind, _ = both("encode", made)
        assert kind == "raised"


@pytest.mark.parametrize("representation", REPRESENTATIONS.values(), ids=REPRESENTATIONS)
@pytest.mark.parametrize("value", UUIDS, ids=str)
def test_uuids_are_written(value, representation):
    chosen = oracle.CodecOptions(uuid_representation=representation)
    made = {"_id": value, "a": [value], "b": oracle.Code("f", {"x": value}), "c": oracle.DBRef("c", value)}
    kind, found = both("encode", made, codec_options=chosen)
    assert (kind, found) == ("raised", ValueError) or representation


def test_the_root_is_a_mapping():
    roots = [None, 1, "text", [("a", 1)], b"", object(), dict, oracle.DBRef("c", 1), oracle.Code("f", {})]
    for root in (*roots, iter({})):
        assert both("encode", root) == ("raised", TypeError)
    assert both("encode", Broken(KeyError)) == ("raised", KeyError)


def test_what_refers_to_itself_is_refused():
    """Not by how deep it is, as PyMongo does, where that is an error by itself: by the place that is met again."""
    table, items, pairs = {}, [], Pairs()
    table["a"] = [table]
    items.append({"b": items})
    pairs.inner["a"] = {"b": pairs}
    for made in (table, {"a": items}, Pairs(a=items), pairs):
        assert outcome(oracle.encode, made) == ("raised", RecursionError)
        with pytest.raises(oracle.InvalidDocument, match=r"a container holds itself, .* - at `\$") as caught:
            bson.encode(made)
        assert caught.value.document is made


@pytest.mark.parametrize(
    "made", [{"a": {1}}, {"a": {2: 1}}, {1: 2}, {"a\0": 1}, oracle.SON(a=[{"b": 1j}])], ids=repr
)
def test_invalid_document_has_the_document(made):
    for module in (bson, oracle):
        with pytest.raises(oracle.InvalidDocument) as caught:
            module.encode(made)
        assert caught.value.document is made


def test_what_failed_leaves_nothing_behind():
    for value in REFUSED.values():
        outcome(bson.encode, {"a": ["x" * 100, value]})
        assert bson.encode({"x": 1}) == ONE


@examples(200)
@given(documents, st.booleans(), options)
def test_any_document_is_written(made, check, chosen):
    both("encode", made, check, chosen)


@examples(150)
@given(refused_documents, st.booleans())
def test_any_document_is_refused(made, check):
    both("encode", made, check, STANDARD)


@examples(150)
@given(documents, options)
def test_any_document_is_read(made, chosen):
    data = oracle.encode(made, codec_options=STANDARD)
    both("decode", data, chosen)
    both("decode_all", data + ONE + data, chosen)


# --- decode ---


@each("data", MESSAGES.values(), ids=MESSAGES)
def test_values_are_read(data):
    kind, _ = both("decode", data)
    assert kind == "given"
    twice = document(data[4:-1], data[4:-1].replace(b"a\0", b"b\0", 1))
    within = document(element(oracle.BSONOBJ, twice, b"x"), element(oracle.BSONARR, twice, b"y"))
    for made in DOCUMENT_CLASSES.values():
        chosen = oracle.CodecOptions(document_class=made)
        for message in (data, within, EVERYTHING):
            kind, _ = both("decode", message, chosen)
            assert kind == "given"


@like_the_newest
@pytest.mark.parametrize("part", TOLERATED.values(), ids=TOLERATED)
def test_what_is_not_canonical_is_read(part):
    data = document(part)
    for made in (dict, oracle.SON, collections.OrderedDict, DOCUMENT_CLASSES["MutableMapping"]):
        kind, _ = both("decode", data, oracle.CodecOptions(made))
        assert kind == "given"
    both("decode", data, STANDARD)


PAYLOAD_OF = {kind[0]: payload for kind, payload in PAYLOADS.values()}


def test_every_type_byte():
    """Only PyMongo's types are known, in documents and in arrays."""
    for number in range(256):
        one = document(element(bytes([number]), PAYLOAD_OF.get(number, bytes(64))))
        for data in (one, document(element(oracle.BSONOBJ, one)), document(element(oracle.BSONARR, one))):
            kind, _ = both("decode", data)
            assert (kind == "given") == (number in PAYLOAD_OF)


@like_the_newest
@each("name", PAYLOADS)
def test_every_length_of_a_payload(name):
    """Cut, or with more behind it: in a document, in an array, in a scope."""
    kind, payload = PAYLOADS[name]
    for bad in (*(payload[:end] for end in range(len(payload))), payload + b"\0", payload + payload):
        one = document(element(kind, bad))
        both("decode", one)
        both("decode", document(element(oracle.BSONARR, one)))
        both("decode", document(element(oracle.BSONOBJ, one), element(oracle.BSONNUL)))
        both("decode", document(element(oracle.BSONCWS, scoped(b"f", one))))


@like_the_newest
@each("name", MESSAGES)
def test_changed_bytes(name):
    """Both read the same, or both refuse: PyMongo's reader is no more lenient than that of TOLERATED."""
    pick = random.Random(name)
    items = document(MESSAGES[name][4:-1], element(oracle.BSONINT, int32(5), b"1"))
    nest = document(element(oracle.BSONARR, items), element(oracle.BSONSTR, string(b"end"), b"z"))
    others = STANDARD.with_options(document_class=oracle.SON, tz_aware=True, datetime_conversion=4)
    for _ in range(200):
        data = damaged(pick.choice((MESSAGES[name], nest)), pick)
        for chosen in (oracle.DEFAULT_CODEC_OPTIONS, others):
            kind, found = both("decode", data, chosen)
            assert kind == "given" or found is oracle.InvalidBSON


@like_the_newest
@pytest.mark.damage
@pytest.mark.parametrize(
    "name", ["array of all sorts", "DBRef", "code with scope", "regex", "binary 2", "dbpointer"]
)
def test_every_changed_byte(name):
    whole = document(element(*PAYLOADS[name]), element(oracle.BSONNUL, name=b"z"))
    for data in sample(list(one_byte_changed(whole)), 400):
        kind, found = both("decode", data)
        assert kind == "given" or found is oracle.InvalidBSON


@like_the_newest
def test_every_prefix_is_refused():
    for end in range(len(EVERYTHING)):
        cut = EVERYTHING[:end]
        again = int32(end) + cut[4:-1] + b"\0"
        assert both("decode", cut) == ("raised", oracle.InvalidBSON)
        both("decode", again)


@pytest.mark.parametrize("depth", [1, 50, 150])
@pytest.mark.parametrize("kind", [oracle.BSONOBJ, oracle.BSONARR])
def test_depth(kind, depth):
    data = NO_DOCUMENT
    for _ in range(depth):
        data = document(element(kind, data, b"0"))
    for made in (dict, oracle.SON):
        assert both("decode", data, oracle.CodecOptions(made))[0] == "given"
    assert both("encode", oracle.decode(data)) == ("given", (bytes, data))


# --- the other names ---

MANY = {
    "none": b"",
    "one": ONE,
    "three": ONE + EVERYTHING + NO_DOCUMENT,
    "empty ones": NO_DOCUMENT * 3,
    "one byte over": ONE + b"\0",
    "two bytes over": ONE + b"\x05\0",
    "three bytes over": ONE + b"\x05\0\0",
    "a length over": ONE + int32(5),
    "length of 0": ONE + int32(0) + b"\0",
    "length of 4": ONE + int32(4) + b"\0",
    "negative length": ONE + int32(-1) + b"\0" * 20,
    "least length": int32(-(2**31)) + b"\0" * 20,
    "length too large": ONE + int32(100) + b"\0" * 20,
    "no terminator": ONE + int32(5) + b"\1",
    "second damaged": ONE + document(element(b"\x20")) + ONE,
    "only a terminator": b"\0",
}


@each("data", MANY.values(), ids=MANY)
@each("made", [None, dict, oracle.SON, RawBSONDocument])
def test_many_documents(data, made):
    chosen = made and oracle.CodecOptions(made, uuid_representation=oracle.STANDARD)
    both("decode_all", data, chosen)
    both("decode_iter", data, chosen)
    agree(lambda module: module.decode_file_iter(io.BytesIO(data), chosen))
    both("is_valid", data)
    both("is_valid", oracle.Binary(data))
    agree(lambda module: module.BSON(data).decode())


def test_documents_come_one_by_one():
    for module in (bson, oracle):
        file = io.BytesIO(ONE + EVERYTHING + b"\1")
        came = module.decode_file_iter(file)
        assert file.tell() == 0
        assert next(came) == {"x": 1}
        assert file.tell() == len(ONE)
        assert len(next(came)) == len(PAYLOADS)
        assert file.tell() == len(ONE + EVERYTHING)
        with pytest.raises(oracle.InvalidBSON):
            next(came)
        came = module.decode_iter(ONE + b"\xff" * 20)
        assert next(came) == {"x": 1}
        with pytest.raises(oracle.InvalidBSON):
            next(came)


class Stuttering(io.BytesIO):
    """Gives less than it was asked for."""

    def read(self, size=-1):
        return super().read(min(size, 6))


def test_a_file_that_ends_early():
    agree(lambda module: module.decode_file_iter(Stuttering(NO_DOCUMENT + ONE)))
    agree(lambda module: module.decode_file_iter(io.StringIO("text")))
    both("decode_file_iter", None)


def mapped(data):
    """An empty file can't be mapped: of it, one byte."""
    made = mmap.mmap(-1, max(1, len(data)))
    made[: len(data)] = data
    return made


BUFFERS = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "part of a memoryview": lambda data: memoryview(b"x" + data + b"y")[1:-1],
    "memoryview of a bytearray": lambda data: memoryview(bytearray(data)),
    "memoryview of chars": lambda data: memoryview(data).cast("c"),
    "mmap": mapped,
    "array of B": lambda data: array.array("B", data),
    "array of b": lambda data: array.array("b", data),
    "array of H": lambda data: array.array("H", data + b"\0" * (len(data) % 2)),
    "every second byte": lambda data: memoryview(bytes(byte for one in data for byte in (one, 0)))[::2],
    "backwards": lambda data: memoryview(data[::-1])[::-1],
    "two dimensions": lambda data: memoryview((data or b"\0") * 2).cast("B", (2, len(data) or 1)),
    "Binary": oracle.Binary,
    "BSON": oracle.BSON,
    "text": lambda data: data.decode("latin-1"),
    "list": list,
    "None": lambda data: None,
    "int": len,
}  # fmt: skip
LARGE = document(element(oracle.BSONSTR, string(b"x" * 5000), b"s"))
LARGE_WITHIN = document(
    element(oracle.BSONOBJ, LARGE), element(oracle.BSONARR, document(element(oracle.BSONOBJ, LARGE)))
)
BUFFERED = {"small": ONE, "all": EVERYTHING, "large": LARGE_WITHIN, "damaged": ONE[:-1], "empty": b""}


@each("make", BUFFERS.values(), ids=BUFFERS)
@each("data", BUFFERED.values(), ids=BUFFERED)
def test_every_buffer(make, data):
    for made in (dict, oracle.SON, RawBSONDocument):
        chosen = oracle.CodecOptions(made)
        both("decode", make(data), chosen)
        both("decode_all", make(data), chosen)
        both("decode_all", make(data * 2), chosen)
        both("decode_iter", make(data * 2), chosen)
    both("is_valid", make(data))


def test_raw_documents_share_the_bytes():
    """A raw document of the whole is its bytes, a large one within a view of them; what can change is copied."""
    chosen = oracle.CodecOptions(RawBSONDocument)
    for module in (bson, oracle):
        data = BUFFERED["large"]
        whole = module.decode(data, chosen)
        assert whole.raw is data
        first, second = module.decode_all(data * 2, chosen)
        assert {type(first.raw), type(second.raw)} == {memoryview}
        assert first.raw.readonly
        can_change = bytearray(data)
        copied = module.decode(can_change, chosen)
        can_change[:] = b""
        assert bytes(copied.raw) == data
        with pytest.raises(ValueError, match="released"):
            view = memoryview(data)
            view.release()
            module.decode(view)


def test_bytes_that_decode_reads_can_change_afterwards():
    data = bytearray(EVERYTHING)
    found = bson.decode(data)
    before = shape(found)
    data[4:] = bytes(len(data) - 4)
    data.append(0)
    assert shape(found) == before


WRONG = {
    "encode without a document": lambda module: module.encode(),
    "encode with an unknown name": lambda module: module.encode({}, keys=True),
    "encode without options": lambda module: module.encode({}, False, None),
    "encode with other options": lambda module: module.encode({}, False, {"tz_aware": True}),
    "encode with a tuple": lambda module: module.encode({}, False, tuple(oracle.DEFAULT_CODEC_OPTIONS)),
    "check_keys of text": lambda module: module.encode({}, "yes"),
    "check_keys None": lambda module: module.encode({}, None),
    "decode with other options": lambda module: module.decode(ONE, {"tz_aware": True}),
    "decode with an empty tuple": lambda module: module.decode(ONE, ()),
    "decode_all with an empty tuple": lambda module: module.decode_all(ONE, ()),
    "decode_all with other options": lambda module: module.decode_all(ONE, "x"),
    "decode_iter with other options": lambda module: module.decode_iter(ONE, "x"),
    "decode_iter with an empty tuple": lambda module: module.decode_iter(ONE, ()),
    "is_valid of text": lambda module: module.is_valid("text"),
    "is_valid of a bytearray": lambda module: module.is_valid(bytearray(ONE)),
    "has_c": lambda module: module.has_c(),
    "BSON with other options": lambda module: module.BSON(ONE).decode(5),
    "BSON with None": lambda module: module.BSON(ONE).decode(None),
    "BSON.encode of a list": lambda module: module.BSON.encode([]),
}


@each("act", WRONG.values(), ids=WRONG)
def test_arguments(act):
    agree(act)


def test_arguments_by_name():
    both("encode", document={"$a": 1}, check_keys=False, codec_options=STANDARD)
    both("decode", data=ONE, codec_options=STANDARD)
    both("decode_all", data=ONE, codec_options=None)
    both("decode_iter", data=ONE, codec_options=None)
    agree(lambda module: module.decode_file_iter(file_obj=io.BytesIO(ONE), codec_options=None))
    both("is_valid", bson=ONE)


def test_the_class_bson():
    class Mine(bson.BSON):
        pass

    for kind in (bson.BSON, Mine):
        made = kind.encode({"b": UUIDS[1], "_id": 1}, codec_options=STANDARD)
        assert type(made) is kind
        assert issubclass(kind, bytes)
        assert made == oracle.encode({"_id": 1, "b": UUIDS[1]}, codec_options=STANDARD)
        assert made.decode(STANDARD) == {"_id": 1, "b": UUIDS[1]}
        assert type(made.decode()["b"]) is oracle.Binary
        assert type(made.decode(codec_options=oracle.CodecOptions(oracle.SON))) is oracle.SON
        with pytest.raises(oracle.InvalidDocument):
            kind.encode({"$a": 1}, check_keys=True)


def test_gen_list_name():
    def first(module):
        came = module.gen_list_name()
        return [next(came) for _ in range(1005)]

    kind, found = agree(first)
    assert (kind, found[1][1001]) == ("given", (bytes, b"1001\0"))


OWN = ("BSON", "decode", "decode_all", "decode_file_iter", "decode_iter", "encode", "gen_list_name", "has_c", "is_valid")  # fmt: skip


def parameters(function):
    return [(part.name, part.kind, part.default) for part in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", OWN)
def test_signatures(name):
    if name == "BSON":
        for method in ("encode", "decode"):
            assert parameters(getattr(bson.BSON, method)) == parameters(getattr(oracle.BSON, method))
    else:
        assert parameters(getattr(bson, name)) == parameters(getattr(oracle, name))


@pytest.mark.parametrize("name", sorted({*oracle.__all__} - {*OWN}))
def test_all_other_names_are_pymongos_own(name):
    assert getattr(bson, name) is getattr(oracle, name)


def test_floats_keep_every_bit():
    for number in (0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001, 0xFFF0_0000_0000_0000, 1, 1 << 63):
        data = document(element(oracle.BSONNUM, number.to_bytes(8, "little")))
        assert bson.encode(bson.decode(data)) == data
        assert struct.pack("<d", bson.decode(data)["a"]) == number.to_bytes(8, "little")


def test_references_are_made_of_documents_that_look_like_them():
    made = bson.decode(MESSAGES["DBRef"])["a"]
    assert shape(made) == shape(oracle.DBRef("c", oracle.ObjectId(OID), "d", more=True))
    # The root is none: it is a document of the database.
    root = document(element(oracle.BSONSTR, string(b"c"), b"$ref"), element(oracle.BSONOID, OID, b"$id"))
    assert type(bson.decode(root)) is dict
    both("decode", root)
