"""BSON's values in every place, by their own types and by others; what Python, pydantic and NumPy have for them."""

from __future__ import annotations

import collections
import datetime
import decimal
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pydantic
import pytest
from numpy.typing import NDArray
from typing_extensions import TypedDict

import holdall
from tests.support import typed_models as models
from tests.support.bson_beside import bson, oracle, shape
from tests.support.bson_members import ID, again, refusal
from tests.support.bson_wire import MESSAGES, PAYLOADS, document, element, int32, scoped, string
from tests.support.each import each
from tests.support.typed_failures import NUMBER, SENTINEL
from tests.support.typed_models import Point

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2026, 7, 1, 12, 30, 15, 678_000)


# --- every payload, in every place -----------------------------------------------------------------------------------
every_payload = each("name", PAYLOADS)


def message(kind: bytes, payload: bytes) -> bytes:
    return document(element(kind, payload, b"v"))


def built(name: str) -> Any:
    return bson.loads(MESSAGES[name])["a"]


@dataclass
class Beside:
    before: Any
    v: Any
    after: Any = None


@dataclass(slots=True)
class SlottedBeside:
    before: Any
    v: Any
    after: Any = None


class NamedBeside(NamedTuple):
    before: Any
    v: Any
    after: Any = None


class DictBeside(TypedDict):
    before: Any
    v: Any
    after: Any


@every_payload
def test_every_payload_in_every_container(name: str) -> None:
    kind, payload = PAYLOADS[name]
    value = built(name)

    def listed(*items: tuple[bytes, bytes]) -> bytes:
        return document(
            *(element(kind, payload, str(at).encode()) for at, (kind, payload) in enumerate(items))
        )

    # Beside containers, whose ends stand right before what comes next.
    nest = (oracle.BSONARR, listed((oracle.BSONOBJ, document(element(oracle.BSONARR, listed(), b"x")))))
    inner = [{"x": []}]
    array = listed(nest, (kind, payload), nest, (kind, payload))
    fields = document(element(*nest, b"before"), element(kind, payload, b"v"), element(*nest, b"after"))
    cases: list[tuple[bytes, Any, Any]] = [
        (document(element(oracle.BSONARR, array, b"v")), dict[str, list[Any]], {"v": [inner, value, inner, value]}),
        (document(element(oracle.BSONARR, array, b"v")), dict[str, tuple[Any, ...]], {"v": (inner, value, inner, value)}),
        (document(element(oracle.BSONARR, array, b"v")), dict[str, tuple[Any, Any, Any, Any]], {"v": (inner, value, inner, value)}),
        (document(element(oracle.BSONARR, listed(nest, (kind, payload), nest), b"v")), dict[str, NamedBeside], {"v": NamedBeside(inner, value, inner)}),
        (document(element(oracle.BSONARR, array, b"v")), dict[str, collections.deque[Any]], {"v": collections.deque([inner, value, inner, value])}),
        (fields, Beside, Beside(inner, value, inner)),
        (fields, SlottedBeside, SlottedBeside(inner, value, inner)),
        (fields, DictBeside, {"before": inner, "v": value, "after": inner}),
        (fields, collections.OrderedDict[str, Any], collections.OrderedDict(before=inner, v=value, after=inner)),
        (fields, Beside | Point, Beside(inner, value, inner)),
    ]  # fmt: skip

    def told(found: Any) -> Any:
        if isinstance(found, (Beside, SlottedBeside)):
            return type(found), told([found.before, found.v, found.after])
        if isinstance(found, collections.deque):
            return type(found), told(list(found))
        if isinstance(found, dict):
            return type(found), [(key, told(part)) for key, part in found.items()]
        return shape(found)

    for data, annotation, wanted in cases:
        assert told(bson.loads(data, type=annotation)) == told(wanted)
        # A deprecated form is written as what it became.
        if name != "dbpointer":
            assert told(bson.loads(bson.dumps(wanted), type=annotation)) == told(wanted)
    untyped = bson.loads(fields)
    assert told(untyped) == told({"before": inner, "v": value, "after": inner})
    # A dict whose keys are expected, as they came before.
    assert told(bson.loads(fields)) == told(untyped)


@every_payload
def test_every_payload_where_nobody_wants_it(name: str) -> None:
    kind, payload = PAYLOADS[name]
    several = [element(kind, payload, str(at).encode()) for at in range(3)]
    data = document(
        element(kind, payload, b"before"), element(oracle.BSONINT, int32(1), b"x"), element(oracle.BSONARR, document(*several), b"z"),
        element(oracle.BSONOBJ, document(*several), b"zz"), element(oracle.BSONINT, int32(2), b"y"), element(kind, payload, b"w"),
    )  # fmt: skip
    assert bson.loads(data, type=Point) == Point(1, 2)
    assert bson.loads(data, type=models.ByRadius | Point) == Point(1, 2)
    tagged = document(
        element(kind, payload, b"before"),
        element(oracle.BSONSTR, string(b"Rex"), b"name"),
        element(oracle.BSONSTR, string(b"dog"), b"kind"),
    )
    assert bson.loads(tagged, type=models.Cat | models.Dog) == models.Dog("Rex")


@every_payload
def test_every_payload_by_its_own_type_and_by_others(name: str) -> None:
    kind, payload = PAYLOADS[name]
    value, data = built(name), message(kind, payload)
    own = type(value)
    assert shape(bson.loads(data, type=dict[str, own])["v"]) == shape(value)  # type: ignore[valid-type]
    assert shape(bson.loads(data, type=dict[str, own | None])["v"]) == shape(value)  # type: ignore[valid-type]
    got = "None" if value is None else own.__qualname__
    for other, called, takes in (
        (models.User, "User", dict),
        (set[int], "set", list),
        (models.Foreign, "Foreign", None),
        (range, "range", None),
    ):
        if own is not takes:
            with pytest.raises(holdall.ValidationError) as caught:
                bson.loads(data, type=dict[str, other])  # type: ignore[valid-type]
            assert str(caught.value) == f"Expected `{called}`, got `{got}` - at `$[...]`"


# --- what Python has itself ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "1.10",
        "-0",
        "0E-6176",
        "9.999999999999999999999999999999999E+6144",
        "NaN",
        "sNaN",
        "-Infinity",
        "1" * 34,
    ],
)
def test_decimal_numbers(text: str) -> None:
    number = decimal.Decimal(text)
    assert str(again(number, decimal.Decimal)) == str(number)
    assert str(again([number], list[decimal.Decimal | None])[0]) == str(number)
    assert bson.dumps({"v": number}) == oracle.encode({"v": oracle.Decimal128(number)})


@pytest.mark.parametrize("text", ["1" * 35, "1E+6145", "1E-6177", "12345678901234567890123456789012345E-3"])
def test_decimal_numbers_that_do_not_fit(text: str) -> None:
    with pytest.raises(
        holdall.EncodeError, match="of more than 34 digits, or of an exponent beyond 6,144, in this format"
    ):
        bson.dumps({"v": decimal.Decimal(text)})


@pytest.mark.parametrize("flags", [0, re.I, re.M | re.S, re.X, re.I | re.U])
def test_patterns(flags: int) -> None:
    pattern = re.compile("é+ #x", flags)
    assert again(pattern, re.Pattern) == pattern == again(pattern, re.Pattern[str])
    assert bson.dumps({"v": pattern}) == oracle.encode({"v": pattern})
    of_bytes = re.compile(b"a+ #x", flags & ~re.U)
    assert again(of_bytes, re.Pattern[bytes]) == of_bytes
    assert again([pattern, None], list[re.Pattern | None]) == [pattern, None]


def test_patterns_with_flags_that_only_python_has() -> None:
    for pattern in (re.compile("a", re.A), re.compile(b"a", re.A | re.I)):
        with pytest.raises(holdall.EncodeError, match="can't store a `re.Pattern`: its flags have no form"):
            bson.dumps({"v": pattern})
        assert bson.dumps({"v": pattern}, enc_hook=lambda found: found.pattern) == bson.dumps(
            {"v": pattern.pattern}
        )


def test_a_pattern_that_python_does_not_read() -> None:
    broken = oracle.Regex(f"{SENTINEL}(")
    assert refusal(broken, re.Pattern[str]) == "Invalid `Pattern`"
    assert again(broken, oracle.Regex) == broken == again(broken, re.Pattern[str] | oracle.Regex)


# --- what databases have ---------------------------------------------------------------------------------------------
class OwnInt(oracle.Int64):
    pass


def test_ints_that_take_64_bits() -> None:
    assert type(again(oracle.Int64(5), oracle.Int64)) is oracle.Int64
    assert type(again(5, oracle.Int64 | None)) is oracle.Int64 and again(None, oracle.Int64 | None) is None
    assert type(again([2**40], list[oracle.Int64])[0]) is oracle.Int64
    assert type(again(5, OwnInt)) is OwnInt
    assert type(again(5, int | oracle.Int64)) is int
    assert bson.dumps({"v": again(5, oracle.Int64)}) == bson.dumps({"v": oracle.Int64(5)})
    assert refusal(5.0, oracle.Int64) == "Expected `Int64`, got `float`"
    assert refusal(True, oracle.Int64) == "Expected `Int64`, got `bool`"


def test_bytes_with_a_meaning() -> None:
    assert shape(again(b"ab", oracle.Binary)) == shape(oracle.Binary(b"ab", 0))
    assert shape(again(oracle.Binary(b"ab", 5), oracle.Binary | bytes)) == shape(oracle.Binary(b"ab", 5))
    assert refusal(oracle.Binary(b"ab", 5), bytes) == "Expected `bytes`, got `Binary`"
    # Of the old form no one knows the order of its bytes.
    assert refusal(oracle.Binary(bytes(16), 3), uuid.UUID) == "Expected `UUID`, got `Binary`"
    assert again(bytes(16), uuid.UUID) == again(uuid.UUID(int=0), uuid.UUID) == uuid.UUID(int=0)


@dataclass
class Linked:
    to: oracle.DBRef
    others: list[oracle.DBRef] = field(default_factory=list)


def test_references_to_documents() -> None:
    linked = Linked(
        oracle.DBRef("people", ID), [oracle.DBRef("a", {"x": [1]}, "db", note=[2]), oracle.DBRef("b", None)]
    )
    assert bson.loads(bson.dumps(linked), type=Linked) == linked
    assert bson.dumps(linked) == oracle.encode({"to": linked.to, "others": linked.others})
    assert refusal({"$ref": NUMBER, "$id": 1}, oracle.DBRef) == "Invalid `DBRef`"
    assert refusal({"$ref": "people"}, oracle.DBRef) == "Expected `DBRef`, got `dict`"


@pytest.mark.parametrize("scope", [{}, {"a": 1}, {"a": [1, {"b": [ID]}], "c": {}}], ids=str)
def test_code_with_variables_in_every_place(scope: dict[str, Any]) -> None:
    code = oracle.Code("f()", scope)
    for annotation, value in (
        (list[oracle.Code], [code, code]),
        (tuple[int, oracle.Code, int], (1, code, 2)),
        (dict[str, oracle.Code], {"a": code, "b": code}),
        (Beside, Beside([1], code, {"x": 1})),
        (SlottedBeside, SlottedBeside(1, code, 2)),
        (NamedBeside, NamedBeside(1, code, 2)),
        (models.Box[oracle.Code | None], models.Box(code)),
        (Any, [code, {"k": code}]),
    ):
        assert again(value, annotation) == value
    assert bson.loads(bson.dumps({"v": code}))["v"] == code
    assert refusal(code, str) == "Expected `str`, got `Code`"


def test_variables_of_code_that_are_broken() -> None:
    broken = document(element(b"\x02", string(b"\xff"), b"x"))
    data = document(element(oracle.BSONCWS, scoped(b"f", broken), b"v"))
    for annotation in (Any, Beside, SlottedBeside, dict[str, oracle.Code], dict[str, Any]):
        with pytest.raises(holdall.DecodeError):
            bson.loads(data, type=annotation)


# --- pydantic --------------------------------------------------------------------------------------------------------
class Priced(pydantic.BaseModel):
    price: decimal.Decimal
    prices: dict[str, list[decimal.Decimal]] = {}
    pattern: re.Pattern[str] | None = None
    id: uuid.UUID | None = None
    when: datetime.datetime | None = None
    days: list[datetime.date] = []
    sizes: dict[int, int] = {}
    raw: bytes = b""


class Exact(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    price: oracle.Decimal128
    pattern: oracle.Regex | None = None


def test_pydantic_models() -> None:
    priced = Priced(
        price="1.10", prices={"k": ["2.5", "3"]}, pattern=re.compile("a+", re.I), id=uuid.UUID(int=5), when=MOMENT.replace(tzinfo=UTC),
        days=[datetime.date(2026, 1, 2)], sizes={3: 4}, raw=b"\xff",
    )  # type: ignore[arg-type]  # fmt: skip
    assert again(priced, Priced) == priced
    assert again([priced, priced], list[Priced]) == [priced, priced]
    exact = Exact(price=oracle.Decimal128("1.10"), pattern=oracle.Regex("("))
    assert again(exact, Exact) == exact
    with pytest.raises(holdall.ValidationError) as caught:
        again({"price": decimal.Decimal(1), "prices": {"k": [SENTINEL]}}, Priced)
    assert str(caught.value) == "Input should be a valid decimal - at `$[...].prices[...][0]`"
    dated = Priced(price=decimal.Decimal(1), when=MOMENT)
    assert again(dated, Priced, tz_aware=False) == dated


# --- NumPy -----------------------------------------------------------------------------------------------------------
@dataclass
class Arrays:
    a: NDArray[np.float32]
    b: NDArray[np.int64] | None = None
    c: Any = None


def test_arrays_of_lists() -> None:
    for array in (np.zeros((2, 3), np.float32), np.zeros(0, np.float32), np.ones((1, 2, 2), np.float32)):
        found = again(Arrays(array, np.arange(300), np.arange(2)), Arrays)
        assert (
            found.a.dtype == np.float32
            and found.a.tolist() == array.tolist()
            and found.b.tolist() == list(range(300))
        )
        assert found.c == [0, 1]
    assert again([[1, 2.5], [3, 4]], np.ndarray).tolist() == [[1.0, 2.5], [3.0, 4.0]]
    for wrong in ([[1], [2, 3]], [ID], [oracle.Int64(1), "a"], [decimal.Decimal(1)], [MOMENT]):
        assert refusal(wrong, NDArray[np.float64]) == "Expected `ndarray`, got `list` of other values"
    assert again(np.datetime64("2026-07-01T12:30:15.678"), np.datetime64) == np.datetime64(MOMENT)


# --- other -----------------------------------------------------------------------------------------------------------
def test_literals_and_enums_of_64_bits() -> None:
    assert again(oracle.Int64(1), models.Color) is models.Color.RED
    assert again(oracle.Int64(10), models.Level) is models.Level.HIGH
    assert again(oracle.Int64(5), Literal[5, "x"]) == 5


@holdall.register(tag=7, tag_field="kind")
@dataclass
class Sized:
    name: str = ""


def test_tags_of_64_bits() -> None:
    for kind in (7, oracle.Int64(7)):
        assert again({"name": "a", "kind": kind}, Sized) == Sized("a")


@pytest.mark.parametrize(
    "annotation",
    [Any, Point, dict[str, Any], dict[str, int], DictBeside, models.Cat | models.Dog, models.ModelUser],
)
def test_text_that_is_no_utf_8(annotation: Any) -> None:
    """In a key or a value: a DecodeError where it is read."""
    for data in (
        document(element(oracle.BSONSTR, string(b"\xff"), b"x")),
        document(
            element(oracle.BSONINT, int32(1), b"x"),
            element(oracle.BSONOBJ, document(element(oracle.BSONNUL, name=b"\xff")), b"y"),
        ),
    ):
        with pytest.raises(holdall.DecodeError):
            bson.loads(data, type=annotation)


# --- lists, whose leaves are taken before they are counted -----------------------------------------------------------
@each("length", [0, 1, 2, 9, 10, 11, 99, 100, 101, 4095, 4096, 4097, 9000])
@each("odd", [[], {}, {"k": [1]}, [[2]], ID, MOMENT.replace(tzinfo=UTC), b"x"], ids=repr)
def test_lists_of_leaves_and_of_others(length: int, odd: Any) -> None:
    """Another value at the start, in the middle, at the end."""
    leaves: list[Any] = [at if at % 3 else str(at) for at in range(length)]
    for at in (0, length // 2, length):
        mixed = [*leaves[:at], odd, *leaves[at:]]
        data = bson.dumps({"v": mixed, "w": [mixed], "x": 1})
        assert data == oracle.encode({"v": mixed, "w": [mixed], "x": 1})
        wanted = {"v": mixed, "w": [mixed], "x": 1}
        assert bson.loads(data) == wanted == bson.loads(data, type=dict[str, Any])
        typed = bson.loads(data, type=Listed)
        assert typed == Listed(mixed, [tuple(mixed)], 1)


@dataclass
class Listed:
    v: list[Any]
    w: list[tuple[Any, ...]]
    x: int


@pytest.mark.parametrize("at", [0, 1, 4095, 4096, 4097, 8191])
def test_a_wrong_leaf_of_a_long_list(at: int) -> None:
    numbers: list[Any] = list(range(8192))
    numbers[at] = SENTINEL
    with pytest.raises(holdall.ValidationError) as caught:
        again(numbers, list[int])
    assert caught.value.path == (..., at)
    assert str(caught.value) == f"Expected `int`, got `str` - at `$[...][{at}]`"
    data = bson.dumps({"v": numbers})
    assert data[caught.value.offset :].startswith(string(SENTINEL.encode()))
    assert again([*range(at), 0.5], list[float]) == [*map(float, range(at)), 0.5]
