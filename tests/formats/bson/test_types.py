"""BSON by types: documents at the root, `_id`, zones, keys, and what databases have, in every place."""

from __future__ import annotations

import collections
import datetime
import decimal
import io
import re
import types
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np
import pydantic
import pytest
from typing_extensions import TypedDict

import holdall
from tests.support import typed_models as models
from tests.support.bson_beside import RawBSONDocument, bson, oracle
from tests.support.bson_members import ID, again, refusal
from tests.support.bson_wire import PAYLOADS, document, element, int32
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.typed_cases import CASES, Case, NotLoaded, Refused
from tests.support.typed_failures import FAILURES, Failure
from tests.support.typed_models import Point

UTC = datetime.timezone.utc


# --- the outermost document ------------------------------------------------------------------------------------------
def is_document(value: Any, **options: Any) -> bool:
    try:
        bson.dumps(value, **options)
    except holdall.EncodeError:
        return False
    return True


DOCUMENTS = [
    case
    for case in CASES
    if not isinstance(case.said("bson"), Refused) and is_document(case.value, **case.dumping)
]
FAILING_DOCUMENTS = [case for case in FAILURES if case.concerns("bson") and is_document(case.value())]


@each("case", DOCUMENTS, ids=lambda case: f"{case.group}-{case.name}")
def test_every_type_that_is_a_document(case: Case) -> None:
    """As the root itself; elsewhere it stands in a document."""
    data = bson.dumps(case.value, **case.dumping)
    assert bson.Encoder(**case.dumping).encode(case.value) == data
    isomorphic(case.untyped_result("bson"), bson.loads(data), identity=False)
    wanted = case.typed_result("bson")
    for load in (bson.loads, lambda data, **options: bson.Decoder(**options).decode(data)):
        if isinstance(wanted, NotLoaded):
            with pytest.raises(holdall.DecodeError, match=wanted):
                load(data, type=case.annotation, **case.loading)
        else:
            isomorphic(wanted, load(data, type=case.annotation, **case.loading), identity=False)


@each("case", FAILING_DOCUMENTS, ids=lambda case: case.name)
def test_every_failure_of_a_document(case: Failure) -> None:
    data = bson.dumps(case.value())
    with pytest.raises(holdall.ValidationError) as caught:
        bson.loads(data, type=case.annotation, **case.loading)
    assert str(caught.value) == case.whole_text(True)
    assert caught.value.path == case.whole_path(True)
    assert 0 <= caught.value.offset <= len(data)


def test_there_are_documents_of_every_group() -> None:
    groups = {"Containers", "Keys of dicts", "Unions and names", "Classes", "strict=False"}
    assert groups <= {case.group for case in DOCUMENTS}
    assert len(FAILING_DOCUMENTS) > 30


@each(
    "value",
    [None, 1, 2.5, "text", b"bytes", [1], [{"a": 1}], (1,), {1}, ID, decimal.Decimal(1), datetime.datetime(2026, 1, 1),
     uuid.UUID(int=1), re.compile("a"), models.Row(1, "a"), models.Pair(1), models.Color.RED, np.zeros(2), oracle.Code("f"),
     oracle.Code("f", {}), oracle.MinKey()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_document(value: Any) -> None:
    with pytest.raises(holdall.EncodeError) as caught:
        bson.dumps(value)
    assert str(caught.value) == "can't store a root that is no dict in this format"


@pytest.mark.parametrize(
    "value",
    [
        collections.OrderedDict(a=1), collections.defaultdict(int, a=1), collections.Counter("a"),
        types.MappingProxyType({"a": 1}), collections.UserDict(a=1), collections.ChainMap({"a": 1}), oracle.SON(a=1),
        RawBSONDocument(bson.dumps({"a": 1})), types.SimpleNamespace(a=1), holdall.Record("shop.Item", {"a": 1}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_else_is_a_document(value: Any) -> None:
    assert bson.dumps(value) == bson.dumps({"a": 1})
    assert bson.dumps({"in": value, "l": [value, 2]}) == bson.dumps({"in": {"a": 1}, "l": [{"a": 1}, 2]})


def test_a_root_that_a_hook_gives() -> None:
    def hook(obj: Any) -> Any:
        return {"code": obj.code}

    assert bson.dumps(models.Foreign("x"), enc_hook=hook) == bson.dumps({"code": "x"})
    with pytest.raises(holdall.EncodeError, match="a root that is no dict"):
        bson.dumps(models.Foreign("x"), enc_hook=lambda obj: 5)


# --- `_id` -----------------------------------------------------------------------------------------------------------
@holdall.register(rename={"id": "_id"})
@dataclass
class Loose:
    id: oracle.ObjectId
    count: int = 0


@holdall.register(rename={"id": "_id"})
@dataclass(slots=True)
class Slotted:
    id: oracle.ObjectId
    count: int = 0


@dataclass
class AsItIs:
    _id: oracle.ObjectId
    count: int = 0


@holdall.register(rename={"id": "_id"})
@attrs.define
class Attrs:
    id: oracle.ObjectId
    count: int = 0


class Struct(msgspec.Struct, rename={"id": "_id"}):
    id: oracle.ObjectId
    count: int = 0


class StructByField(msgspec.Struct):
    id: oracle.ObjectId = msgspec.field(name="_id")
    count: int = 0


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    id: oracle.ObjectId = pydantic.Field(alias="_id")
    count: int = 0


class Typed(TypedDict):
    _id: oracle.ObjectId
    count: int


WITH_ID: list[tuple[Any, Any]] = [
    (Loose, Loose(ID, 3)),
    (Slotted, Slotted(ID, 3)),
    (AsItIs, AsItIs(ID, 3)),
    (Attrs, Attrs(ID, 3)),
    (Struct, Struct(ID, 3)),
    (StructByField, StructByField(ID, 3)),
    (Model, Model(_id=ID, count=3)),
    (Typed, {"_id": ID, "count": 3}),
]


@pytest.mark.parametrize(("cls", "made"), WITH_ID, ids=[cls.__name__ for cls, _ in WITH_ID])
def test_a_field_that_is_stored_as_id(cls: Any, made: Any) -> None:
    data = bson.dumps(made)
    assert list(bson.loads(data).items()) == [("_id", ID), ("count", 3)]
    assert data == oracle.encode({"_id": ID, "count": 3})
    # In any order, among others, and within others.
    for stored in (data, oracle.encode({"more": [1, {"id": 5}], "count": 3, "_id": ID})):
        loaded = bson.loads(stored, type=cls)
        assert loaded == made and type(loaded) is type(made)
    assert again({"k": [made, made]}, dict[str, list[cls]]) == {"k": [made, made]}  # type: ignore[valid-type]
    with pytest.raises(holdall.ValidationError) as caught:
        bson.loads(oracle.encode({"_id": "no id"}), type=cls)
    assert caught.value.path == ("_id",)
    plain = oracle.encode({"id": ID, "count": 3})
    if cls in (Loose, Slotted, Attrs):
        # `rename` of `register` reads the field's own name as well.
        assert bson.loads(plain, type=cls) == made
    else:
        with pytest.raises(holdall.ValidationError):
            bson.loads(plain, type=cls)


# --- points in time --------------------------------------------------------------------------------------------------
AWARE, NAIVE = (
    Annotated[datetime.datetime, msgspec.Meta(tz=True)],
    Annotated[datetime.datetime, msgspec.Meta(tz=False)],
)
MOMENT = datetime.datetime(2026, 7, 1, 12, 30, 15, 678_000)
IN_UTC = MOMENT.replace(tzinfo=UTC)


@dataclass
class Moments:
    any: datetime.datetime
    aware: AWARE
    naive: NAIVE
    maybe: datetime.datetime | None = None
    maybe_naive: NAIVE | None = None
    what: Any = None


@dataclass(slots=True)
class SlottedMoments:
    any: datetime.datetime
    aware: AWARE
    naive: NAIVE
    maybe: datetime.datetime | None = None
    maybe_naive: NAIVE | None = None
    what: Any = None


@pytest.mark.parametrize("cls", [Moments, SlottedMoments])
@pytest.mark.parametrize("tz_aware", [True, False])
def test_zones_by_type_or_by_option(cls: Any, tz_aware: bool) -> None:
    """A type that says whether there is a zone wins over `tz_aware`."""
    as_asked = IN_UTC if tz_aware else MOMENT
    wanted = cls(as_asked, IN_UTC, MOMENT, as_asked, MOMENT, [as_asked])
    for moment in (MOMENT, IN_UTC, IN_UTC.astimezone(datetime.timezone(datetime.timedelta(hours=-7)))):
        data = bson.dumps(cls(moment, moment, moment, moment, moment, [moment]))
        for found in (
            bson.loads(data, type=cls, tz_aware=tz_aware),
            bson.Decoder(type=cls, tz_aware=tz_aware).decode(data),
            next(bson.documents(io.BytesIO(data), type=cls, tz_aware=tz_aware)),
            bson.Document(data, type=cls, tz_aware=tz_aware).load(),
        ):
            assert found == wanted and found.any.tzinfo is as_asked.tzinfo


@pytest.mark.parametrize("tz_aware", [True, False])
@pytest.mark.parametrize(
    ("annotation", "around"),
    [
        (lambda inner: list[inner], lambda value: [value]),
        (lambda inner: tuple[inner, ...], lambda value: (value,)),
        (lambda inner: tuple[int, inner], lambda value: (1, value)),
        (lambda inner: set[inner], lambda value: {value}),
        (lambda inner: dict[str, inner], lambda value: {"k": value}),
        (lambda inner: dict[int, list[inner]], lambda value: {1: [value]}),
        (lambda inner: models.Box[inner], models.Box),
        (lambda inner: inner | int, lambda value: value),
    ],
    ids=["list", "tuple", "fixed tuple", "set", "dict", "dict of lists", "generic", "union"],
)
def test_zones_in_every_container(tz_aware: bool, annotation: Any, around: Any) -> None:
    as_asked = IN_UTC if tz_aware else MOMENT
    for inner, wanted in ((AWARE, IN_UTC), (NAIVE, MOMENT), (datetime.datetime, as_asked)):
        found = again(around(MOMENT), annotation(inner), tz_aware=tz_aware)
        assert found == around(wanted)
    assert bson.loads(bson.dumps({"v": [MOMENT, {"k": MOMENT}]}), tz_aware=tz_aware) == {
        "v": [as_asked, {"k": as_asked}]
    }


CUT = [
    # What is stored, and what is found: the millisecond before.
    (datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)),
    (datetime.datetime(1969, 12, 31, 23, 59, 59, 1), datetime.datetime(1969, 12, 31, 23, 59, 59, 0, UTC)),
    (datetime.datetime(2026, 1, 1, 0, 0, 0, 999), datetime.datetime(2026, 1, 1, tzinfo=UTC)),
    (datetime.datetime.min, datetime.datetime.min.replace(tzinfo=UTC)),
    (datetime.datetime.max, datetime.datetime.max.replace(microsecond=999_000, tzinfo=UTC)),
    (datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(microseconds=1))), datetime.datetime(2025, 12, 31, 23, 59, 59, 999_000, UTC)),
]  # fmt: skip


@pytest.mark.parametrize(("moment", "found"), CUT, ids=[str(moment) for moment, _ in CUT])
def test_datetimes_are_cut_to_milliseconds(moment: datetime.datetime, found: datetime.datetime) -> None:
    assert bson.loads(bson.dumps({"v": moment}))["v"] == found == again(moment, datetime.datetime)
    assert bson.dumps({"v": moment}) == oracle.encode({"v": moment})


EAST, WEST = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (5, -5))


@pytest.mark.parametrize(
    "beyond",
    [
        datetime.datetime.min.replace(tzinfo=EAST), datetime.datetime.max.replace(tzinfo=WEST),
        oracle.DatetimeMS(2**63 - 1), oracle.DatetimeMS(-(2**63)), oracle.DatetimeMS(253_402_300_800_000),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("tz_aware", [True, False])
def test_beyond_the_years_of_datetime(beyond: Any, tz_aware: bool) -> None:
    """Anything takes it as what it is; a datetime it is not."""
    data = bson.dumps({"v": beyond})
    found = bson.loads(data, tz_aware=tz_aware)["v"]
    assert type(found) is oracle.DatetimeMS and bson.dumps({"v": found}) == data
    assert again(beyond, oracle.DatetimeMS, tz_aware=tz_aware) == found
    assert again(beyond, datetime.datetime | oracle.DatetimeMS, tz_aware=tz_aware) == found
    for annotation in (datetime.datetime, AWARE, NAIVE):
        assert refusal(beyond, annotation, tz_aware=tz_aware) == "Expected `datetime`, got `DatetimeMS`"
    with pytest.raises(
        holdall.ValidationError, match=r"Expected `datetime`, got `DatetimeMS` - at `\$\[\.\.\.\]\[0\]`"
    ):
        again([beyond], list[datetime.datetime])
    with pytest.raises(holdall.ValidationError, match=r"Expected `datetime`, got `DatetimeMS` - at `\$.any`"):
        bson.loads(bson.dumps({"any": beyond}), type=SlottedMoments)


def test_milliseconds_where_the_type_names_them() -> None:
    wanted = oracle.DatetimeMS(1_782_909_015_678)
    for moment in (MOMENT, IN_UTC, wanted):
        assert again(moment, oracle.DatetimeMS) == wanted
        assert again([moment], list[oracle.DatetimeMS | None], tz_aware=False) == [wanted]


def test_a_point_in_time_is_no_date() -> None:
    assert refusal(MOMENT, datetime.date) == "Expected `date`, got `datetime`"
    assert again(MOMENT, datetime.date | datetime.datetime) == IN_UTC
    assert refusal(datetime.date(2026, 1, 2), datetime.datetime) == "Invalid RFC3339 encoded datetime"


# --- keys ------------------------------------------------------------------------------------------------------------
KEYS_REFUSED = [
    1.5,
    True,
    None,
    b"k",
    (1, 2),
    frozenset({1}),
    ID,
    models.Color.BLUE,
    range(3),
    1j,
    int,
    Point,
]


@pytest.mark.parametrize("key", KEYS_REFUSED, ids=lambda key: type(key).__name__)
def test_keys_that_are_refused(key: Any) -> None:
    kind = "tuple" if key is models.Color.BLUE else type(key)
    name = (
        kind
        if isinstance(kind, str)
        else kind.__name__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    for held in (
        {key: 1},
        {"a": 1, key: [2]},
        collections.OrderedDict([(key, 1)]),
        collections.UserDict({key: 1}),
    ):
        with pytest.raises(holdall.EncodeError) as caught:
            bson.dumps(held)
        assert str(caught.value) == f"can't store a key of type `{name}`: keys are text in this format"


def test_a_key_of_too_many_digits() -> None:
    with pytest.raises(holdall.EncodeError, match="can't store a key that is an int of so many digits"):
        bson.dumps({10**5000: 1})
    assert bson.loads(bson.dumps({10**4000: 1}), type=dict[int, int]) == {10**4000: 1}


@pytest.mark.parametrize("key", ["12", "-5", "007", "+1", " 1", "1_0", "1.0", "", "-", "x", "9" * 5000, "٣"])
def test_what_is_read_as_an_int(key: str) -> None:
    """An int is digits, and a minus before them."""
    data = bson.dumps({key: 1})
    if re.fullmatch("-?[0-9]{1,4300}", key):
        assert bson.loads(data, type=dict[int, int]) == {int(key): 1}
    else:
        with pytest.raises(holdall.ValidationError) as caught:
            bson.loads(data, type=dict[int, int])
        assert str(caught.value) == "Expected `int`, got `str` - at `$[...]`"
        assert caught.value.offset == 5
    assert bson.loads(data, type=dict[str, int]) == bson.loads(data, type=dict[int | str, int]) == {key: 1}


@pytest.mark.parametrize(
    "stored", [[("a", 1), ("b", 2), ("a", 3)], [("a", 1), ("a", [2]), ("a", 3)]], ids=["apart", "together"]
)
def test_the_last_of_equal_keys_counts(stored: list[tuple[str, Any]]) -> None:
    class Fields(TypedDict, total=False):
        a: int
        b: int

    encoded = [
        element(*PAYLOADS["array"], name.encode())
        if value == [2]
        else element(oracle.BSONINT, int32(value), name.encode())
        for name, value in stored
    ]
    data = document(*encoded)
    wanted = {"a": 3, "b": 2} if ("b", 2) in stored else {"a": 3}
    assert bson.loads(data) == wanted == bson.loads(data, type=dict[str, Any])
    if ("a", [2]) not in stored:
        assert bson.loads(data, type=Fields) == wanted
        assert bson.loads(data, type=dict[str, int]) == wanted


def test_keys_of_instances_that_are_no_text() -> None:
    loose = types.SimpleNamespace()
    vars(loose)[5] = 1
    vars(loose)["a"] = [2]
    assert bson.loads(bson.dumps(loose)) == {"5": 1, "a": [2]}
