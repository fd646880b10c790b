"""What MessagePack and BSON may write in several ways: `order`, `uuid_format`, `decimal_format`, `hook_objects`, fields left out, `Raw`."""

from __future__ import annotations

import collections
import io
import itertools
import math
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import attrs
import msgspec
import pydantic
import pytest

import holdall
from holdall import bson, msgpack
from holdall.msgpack import UNSET, Raw, UnsetType
from tests.support.each import each

PLAIN = [msgpack, bson]
ids = lambda format: format.__name__  # noqa: E731


# --- order -----------------------------------------------------------------------------------------------------------
@dataclass
class Fields:
    b: int
    a: int


@dataclass(slots=True)
class Slots:
    b: int
    a: int


@attrs.define
class Attrs:
    b: int
    a: int


class Struct(msgspec.Struct, tag="t"):
    b: int
    a: int


class Model(pydantic.BaseModel):
    b: int
    a: int


class Bare:
    def __init__(self, b, a):
        self.b, self.a = b, a


class OwnDict(dict):
    pass


DICTS = [
    dict,
    OwnDict,
    collections.OrderedDict,
    collections.UserDict,
    lambda pairs: collections.defaultdict(int, pairs),
]


def keys(format: Any, value: Any, order: Any) -> list[str]:
    data = format.Encoder(order=order).encode({"v": value})
    assert format.dumps({"v": value}, order=order) == data
    return list(format.loads(data)["v"])


@each("format", PLAIN, ids=ids)
@each("make", DICTS)
@each("order", [None, "deterministic", "sorted"])
def test_the_order_of_dicts(format, make, order):
    value = make({"b": 1, "ä": 2, "": 3, "aa": 4, "\U0001f600": 5, "\uffff": 6})
    assert keys(format, value, order) == (list(value) if order is None else sorted(value))


@pytest.mark.parametrize("format", PLAIN, ids=ids)
@pytest.mark.parametrize("make", [Fields, Slots, Attrs, Struct, Model, Bare])
def test_the_order_of_fields(format, make):
    value = make(b=1, a=2)
    own = ["type", "b", "a"] if make is Struct else ["b", "a"]
    assert keys(format, value, None) == keys(format, value, "deterministic") == own
    assert keys(format, value, "sorted") == sorted(own)


@pytest.mark.parametrize("order", ["deterministic", "sorted"])
def test_the_order_of_sets_and_at_every_depth(order):
    words = [f"w{number}" for number in range(20)]
    for make in (set, frozenset):
        assert msgpack.loads(msgpack.dumps(make(words), order=order)) == sorted(words)
    deep = [{"b": [{"d": {3, 1, 2}, "c": 0}], "a": {}}]
    expected = [{"a": {}, "b": [{"c": 0, "d": [1, 2, 3]}]}]
    assert msgpack.dumps(deep, order=order) == msgpack.dumps(expected)


def test_equal_dicts_have_equal_bytes_whatever_their_history():
    pairs = [("a", {1, 9, 17}), ("b", {"y": 1, "x": 2}), ("c", None)]
    made = {msgpack.dumps(dict(order), order="deterministic") for order in itertools.permutations(pairs)}
    assert len(made) == 1


def test_what_has_no_order():
    for value in ({1: 1, "a": 2}, {1: 1}, {(1,): 1}):
        with pytest.raises(holdall.EncodeError, match="Only dicts with str keys can be sorted"):
            msgpack.dumps(value, order="deterministic")
    for members in ({1, "a"}, {None, 1}, {1j, 2j}):
        with pytest.raises(holdall.EncodeError, match="can't sort a set: its members have no order"):
            msgpack.dumps(members, order="sorted")
    with pytest.raises(ValueError, match="`order` must be one of"):
        msgpack.dumps(1, order="upwards")


def test_an_order_does_not_hide_cycles():
    value: dict[str, Any] = {"b": 1}
    value["a"] = [value]
    for order in (None, "deterministic", "sorted"):
        with pytest.raises(holdall.EncodeError):
            msgpack.dumps(value, order=order)


# --- UUIDs and decimals ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("form", "written"), [("canonical", str), ("hex", lambda u: u.hex), ("bytes", lambda u: u.bytes)]
)
def test_uuid_format(form, written):
    value = uuid.UUID("12345678-1234-5678-1234-567812345678")
    data = msgpack.dumps({"v": [value]}, uuid_format=form)
    assert (
        data
        == msgpack.Encoder(uuid_format=form).encode({"v": [value]})
        == msgpack.dumps({"v": [written(value)]})
    )
    assert msgpack.loads(data, type=dict[str, list[uuid.UUID]]) == {"v": [value]}
    keyed = msgpack.dumps({value: 1}, uuid_format=form)
    assert msgpack.loads(keyed, type=dict[uuid.UUID, int]) == {value: 1}


def test_decimal_format():
    value = [Decimal("1.50"), Decimal("NaN"), Decimal("-0")]
    assert msgpack.loads(msgpack.dumps(value)) == ["1.50", "NaN", "-0"]
    assert msgpack.dumps(value, decimal_format="string") == msgpack.dumps(value)
    made = msgpack.loads(msgpack.dumps(value, decimal_format="number"))
    assert made[0] == 1.5 and math.isnan(made[1]) and math.copysign(1, made[2]) == -1
    assert msgpack.loads(msgpack.dumps(Decimal("1.5"), decimal_format="number"), type=Decimal) == Decimal(
        "1.5"
    )
    assert msgpack.loads(msgpack.Encoder(decimal_format=lambda d: [int(d)]).encode(Decimal(7))) == [7]
    with pytest.raises(ZeroDivisionError):
        msgpack.dumps(Decimal(7), decimal_format=lambda d: 1 / 0)
    with pytest.raises(holdall.EncodeError):
        msgpack.dumps(Decimal(7), decimal_format=lambda d: d)


def test_formats_that_are_none():
    for options in ({"uuid_format": "short"}, {"decimal_format": "float"}, {"decimal_format": 1}):
        with pytest.raises(ValueError, match=r"`(uuid|decimal)_format` must be"):
            msgpack.dumps(1, **options)


# --- enc_hook --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", PLAIN, ids=ids)
def test_hook_objects(format):
    def hook(value):
        return {"hooked": type(value).__name__}

    value = {"bare": Bare(1, 2), "fields": Fields(1, 2), "list": [Bare(3, 4)]}
    own = format.loads(format.dumps(value, enc_hook=hook))
    assert own == {"bare": {"b": 1, "a": 2}, "fields": {"b": 1, "a": 2}, "list": [{"b": 3, "a": 4}]}
    made = format.loads(format.dumps(value, enc_hook=hook, hook_objects=True))
    hooked = {"hooked": "Bare"}
    assert made == {"bare": hooked, "fields": {"b": 1, "a": 2}, "list": [hooked]}
    assert format.Encoder(enc_hook=hook, hook_objects=True).encode(value) == format.dumps(made)
    with pytest.raises(holdall.EncodeError, match="its class declares no fields"):
        format.dumps(value, hook_objects=True)


# --- fields that are left out ----------------------------------------------------------------------------------------
@holdall.register(omit_defaults=True)
@dataclass
class Omitting:
    a: int = 1000
    b: str = "long enough text"
    c: list[int] = field(default_factory=list)
    d: dict[str, int] = field(default_factory=dict)
    e: float = -0.0
    f: Any = None
    g: tuple[int, ...] = (1, 2)
    h: list[int] = field(default_factory=lambda: [1])


@holdall.register(omit_defaults=True)
@attrs.define
class OmittingAttrs:
    x: int
    y: int = 2
    z: list[int] = attrs.field(factory=list)


@holdall.register(omit_defaults=True, array_like=True)
@dataclass
class OmittingListed:
    x: int = 1


@holdall.register(omit_defaults=True)
class OmittingModel(pydantic.BaseModel):
    x: int
    y: int = 2
    z: list[int] = pydantic.Field(default_factory=list)


@holdall.register(omit_defaults=True, tag=True, rename="camel")
@dataclass(slots=True)
class OmittingTagged:
    first_one: int = 1
    second_one: int = 2


class OmittingStruct(msgspec.Struct, omit_defaults=True):
    x: int
    y: int = 2
    z: list[int] = []


CASES = [
    (Omitting(), {"h": [1]}),
    (Omitting(a=int("1000"), b="".join(["long ", "enough text"])), {"h": [1]}),
    (
        Omitting(a=True, c=[1], d={"a": 1}, e=0.0, f=0),
        {"a": True, "c": [1], "d": {"a": 1}, "e": 0.0, "f": 0, "h": [1]},
    ),
    (Omitting(a=1000.0, g=(1, 3), h=[]), {"a": 1000.0, "g": [1, 3], "h": []}),
    (OmittingAttrs(1), {"x": 1}),
    (OmittingAttrs(1, 3, [1]), {"x": 1, "y": 3, "z": [1]}),
    (OmittingModel(x=1), {"x": 1}),
    (OmittingModel(x=1, z=[2]), {"x": 1, "z": [2]}),
    (OmittingTagged(), {"type": "OmittingTagged"}),
    (OmittingTagged(second_one=3), {"type": "OmittingTagged", "secondOne": 3}),
    (OmittingStruct(2), {"x": 2}),
    (OmittingStruct(2, 3, [4]), {"x": 2, "y": 3, "z": [4]}),
]


@each("format", PLAIN, ids=ids)
@each(("value", "written"), CASES, ids=repr)
def test_defaults_are_left_out(format, value, written):
    data = format.dumps({"v": value})
    assert repr(format.loads(data)["v"]) == repr(written)
    if type(value) is not Omitting or value == Omitting():
        assert format.loads(data, type=dict[str, type(value)])["v"] == value


def test_defaults_stay_where_there_are_no_names():
    assert msgpack.loads(msgpack.dumps(OmittingListed())) == [1]
    assert holdall.loads(holdall.dumps(Omitting()), types=Omitting) == Omitting()


def test_what_is_registered_anew_counts():
    @dataclass
    class Changing:
        x: int = 1

    assert msgpack.loads(msgpack.dumps(Changing())) == {"x": 1}
    holdall.register(Changing, omit_defaults=True)
    assert msgpack.loads(msgpack.dumps(Changing())) == {}
    holdall.register(Changing)
    assert msgpack.loads(msgpack.dumps(Changing())) == {"x": 1}


@dataclass
class MayLack:
    x: int | UnsetType
    y: int | UnsetType = UNSET


class MayLackStruct(msgspec.Struct):
    x: int | msgspec.UnsetType
    y: int | msgspec.UnsetType = msgspec.UNSET


@pytest.mark.parametrize("format", PLAIN, ids=ids)
@pytest.mark.parametrize(("cls", "unset"), [(MayLack, UNSET), (MayLackStruct, msgspec.UNSET)])
def test_unset_fields_are_not_written(format, cls, unset):
    assert format.loads(format.dumps(cls(1))) == {"x": 1}
    assert format.loads(format.dumps(cls(unset, 2))) == {"y": 2}
    assert format.loads(format.dumps(cls(unset))) == {}
    made = format.loads(format.dumps(cls(1)), type=cls)
    assert made == cls(1) and made.y is unset
    with pytest.raises(holdall.ValidationError, match="got `str`"):
        format.loads(format.dumps({"x": "a"}), type=cls)


def test_unset_itself():
    assert not UNSET and repr(UNSET) == "UNSET" and UnsetType() is UNSET
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(UNSET)) is UNSET and copy.deepcopy(UNSET) is UNSET
    with pytest.raises(holdall.EncodeError):
        msgpack.dumps([UNSET])


# --- Raw -------------------------------------------------------------------------------------------------------------
class Envelope(NamedTuple):
    kind: str
    body: Raw


@dataclass(slots=True)
class Slotted:
    body: Raw
    after: int = 0
    rest: Raw | None = None


class WithRaw(msgspec.Struct):
    body: msgspec.Raw
    after: int = 0


BODIES = [
    None,
    1,
    -5000,
    "text",
    b"bytes",
    [],
    [1, [2, {"a": None}]],
    {"k": [1.5]},
    2**64 - 1,
    msgpack.Ext(5, b"abc"),
]


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_raw_values_are_their_own_bytes(body):
    own = msgpack.dumps(body)
    for annotation in (Raw, msgspec.Raw):
        made = msgpack.loads(own, type=annotation)
        assert type(made) is annotation and bytes(made) == own
        assert msgpack.dumps(made) == own
        made = msgpack.loads(msgpack.dumps([body, body]), type=list[annotation])
        assert [bytes(part) for part in made] == [own, own]
        assert msgpack.dumps({"v": made}) == msgpack.dumps({"v": [body, body]})
    data = msgpack.dumps({"body": body, "after": 7})
    for cls in (Slotted, WithRaw):
        made = msgpack.loads(data, type=cls)
        assert bytes(made.body) == own and made.after == 7
    assert msgpack.loads(msgpack.dumps(["kind", body]), type=Envelope) == Envelope("kind", Raw(own))


def test_raw_or_none():
    assert msgpack.loads(msgpack.dumps({"body": 1, "rest": None}), type=Slotted).rest is None
    assert msgpack.loads(msgpack.dumps({"body": 1, "rest": 2}), type=Slotted).rest == Raw(b"\x02")


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x92\x01", b"\x01\x02", b"\xa5abc"])
def test_raw_bytes_that_are_not_one_value(data):
    for made in (Raw(data), msgspec.Raw(data)):
        with pytest.raises(
            holdall.EncodeError, match="can't store a `Raw`: its bytes are not one value of MessagePack"
        ):
            msgpack.dumps([made])


def test_raw_of_a_message_that_ends_early_or_is_malformed():
    data = msgpack.dumps({"body": [1, 2, 3]})
    for end in range(len(data)):
        with pytest.raises(holdall.TruncatedError):
            msgpack.loads(data[:end], type=Slotted)
    with pytest.raises(holdall.DecodeError):
        msgpack.loads(data[:-1] + b"\xc1", type=Slotted)


def test_raw_in_other_formats():
    with pytest.raises(holdall.EncodeError, match="only MessagePack has a form for it"):
        bson.dumps({"v": Raw(b"\x01")})
    for format in (holdall, bson):
        with pytest.raises(holdall.ValidationError, match="Expected `Raw`, got "):
            format.loads(format.dumps({"v": [1]}), type=dict[str, Raw])


def test_options_of_dump():
    stream = io.BytesIO()
    value = {"b": uuid.UUID(int=1), "a": Decimal("1.5"), "c": Bare(1, 2)}
    msgpack.dump(
        value,
        stream,
        order="sorted",
        uuid_format="hex",
        decimal_format="number",
        hook_objects=True,
        enc_hook=str,
    )
    made = msgpack.loads(stream.getvalue())
    assert list(made) == ["a", "b", "c"] and made["a"] == 1.5 and made["b"] == uuid.UUID(int=1).hex


# --- keys ------------------------------------------------------------------------------------------------------------
def test_arrays_where_something_is_hashed_are_tuples():
    value = {(1, (2, ((),))): "a", "b": [1, [2]], (): 3}
    assert msgpack.loads(msgpack.dumps(value)) == value
    for make in (set, frozenset):
        members = make([(1, (2,)), (3,)])
        assert msgpack.loads(msgpack.dumps(members), type=make) == members
    assert bson.loads(bson.dumps({"v": {(1, (2,))}}), type=dict[str, set]) == {"v": {(1, (2,))}}
    nested = {((1, (2,)),): 3}
    assert msgpack.loads(msgpack.dumps(nested), type=dict[tuple[Any, ...], int]) == nested


def test_deep_keys_are_refused_and_no_crash():
    for depth in (100, 150):
        data = b"\x81" + b"\x91" * depth + b"\xc0\x01"
        assert len(msgpack.loads(data)) == 1
    for depth in (5_000, 200_000):
        with pytest.raises(holdall.DecodeError):
            msgpack.loads(b"\x81" + b"\x91" * depth + b"\xc0\x01")
    with pytest.raises(holdall.DecodeError, match="a key can't be hashed"):
        msgpack.loads(b"\x81\x80\x01")
