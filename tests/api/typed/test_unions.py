"""Which class of a union a value is, where no name is stored with it: told right, or refused when the type is compiled."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import itertools
import pathlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from annotated_types import Ge, Le

import holdall
from holdall import bson, msgpack
from tests.support.each import each


@holdall.register(tag="p", array_like=True)
@dataclass
class ListedP:
    x: int


@holdall.register(tag="q", array_like=True)
@dataclass
class ListedQ:
    x: int


@holdall.register(array_like=True)
@dataclass
class ListedPlain:
    x: int


@holdall.register(tag="a")
@dataclass
class TaggedA:
    x: int


@holdall.register(tag="b")
@dataclass
class TaggedB:
    x: int


@holdall.register(tag="k", tag_field="kind")
@dataclass
class TaggedByKind:
    x: int


@dataclass
class Untagged:
    x: int


@dataclass
class Alike:
    x: int
    y: int = 0


@dataclass
class Distinct:
    z: int


@dataclass
class HasType:
    x: int
    type: str = "a"


class Movie(TypedDict):
    title: str


def written(format: Any, value: Any) -> bytes:
    return format.dumps({"v": value})


def read(format: Any, data: bytes, annotation: Any) -> Any:
    return format.loads(data, type=dict[str, annotation])["v"]


FORMATS = [holdall, msgpack, bson]


@each("format", FORMATS, ids=lambda format: format.__name__)
@each(
    "members",
    [
        (ListedP, ListedQ),
        (TaggedA, TaggedB),
        (TaggedA, Untagged),
        (TaggedA, TaggedB, Untagged),
        (TaggedA, TaggedByKind),
        (Untagged, Distinct),
        (TaggedA, ListedQ),
        (Untagged, ListedPlain),
        (TaggedA, Untagged, Distinct),
        (TaggedA, ListedP, Untagged),
    ],
    ids=lambda members: "-".join(member.__name__ for member in members),
)
def test_each_class_comes_back_in_any_order(format, members):
    for order in itertools.permutations(members):
        annotation: Any = order[0]
        for other in order[1:]:
            annotation = annotation | other
        for cls in members:
            made = read(format, written(format, cls(2)), annotation)
            assert type(made) is cls and made == cls(2)


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        (Untagged | Alike, "nothing tells these classes apart but a tag"),
        (TaggedA | Untagged | Alike, "nothing tells these classes apart but a tag"),
        (ListedP | ListedPlain, "more than one array-like class, and not a tag for each"),
        (TaggedA | HasType, "`type`, the field of a tag, is a field of a class without a tag"),
        (Untagged | dict, "nothing tells a class from a mapping but a tag"),
        (Untagged | Movie, "nothing tells a class from a mapping but a tag"),
    ],
    ids=str,
)
def test_what_can_not_be_told_apart_is_refused_when_it_is_compiled(annotation, why):
    names = " | ".join(member.__name__ for member in annotation.__args__)
    for make in (msgpack.Decoder, bson.Decoder):
        with pytest.raises(TypeError) as caught:
            make(type=list[annotation])
        assert str(caught.value) == f"`{names}`: {why} (`register(tag=...)`)"
    with pytest.raises(TypeError):
        msgpack.loads(b"\x90", type=list[annotation])
    # hold names the classes of instances; only a dict that names none is refused, as it is found.
    for cls in annotation.__args__:
        if cls not in (dict, Movie):
            assert holdall.loads(holdall.dumps(cls(1)), type=annotation) == cls(1)


def test_a_dict_of_hold_is_no_class_by_chance():
    with pytest.raises(holdall.ValidationError) as caught:
        holdall.loads(holdall.dumps([{"x": 1}]), type=list[Untagged | Alike])
    assert str(caught.value) == "Expected `Untagged | Alike`, got `dict` - at `$[0]`"
    assert holdall.loads(holdall.dumps([{"x": 1}]), type=list[Untagged | dict]) == [{"x": 1}]


OLD_TAG = "Invalid tag: if it is an old one, `register` its class with it in `aliases` - at `$[...].type`"


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.__name__)
def test_a_tagged_class_beside_a_mapping(format):
    values = [TaggedA(1), {"x": 1}, {"title": "a"}]
    for value in values:
        assert read(format, written(format, value), TaggedA | dict) == value
    assert read(format, written(format, {"title": "a"}), TaggedA | Movie) == {"title": "a"}
    with pytest.raises(holdall.ValidationError, match="Expected `str`, got `int`"):
        read(format, written(format, {"title": 1}), TaggedA | Movie)


@each("format", FORMATS, ids=lambda format: format.__name__)
@each(
    ("value", "annotation", "text"),
    [
        (["z", 1], ListedP | ListedQ, "Invalid tag - at `$[...][0]`"),
        ([1, 2], ListedP | ListedQ, "Invalid tag - at `$[...][0]`"),
        ([True, 2], ListedP | ListedQ, None),
        (["p", "q"], ListedP | ListedQ, "Expected `int`, got `str` - at `$[...].x`"),
        ([], ListedP | ListedQ, "Expected `ListedP | ListedQ`, got `list` - at `$[...]`"),
        (["q"], ListedP | ListedQ, "Expected `ListedQ` of length >= 2, got 1 - at `$[...]`"),
        ({"type": "z", "x": 1}, TaggedA | TaggedB, OLD_TAG),
        ({"type": "z", "x": 1}, TaggedA | Untagged, OLD_TAG),
        ({"x": 1}, TaggedA | TaggedB, "Object missing required field `type` - at `$[...]`"),
    ],
    ids=str,
)
def test_tags_that_are_wrong(format, value, annotation, text):
    with pytest.raises(holdall.ValidationError) as caught:
        read(format, written(format, value), annotation)
    assert text is None or str(caught.value) == text


def test_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class First(pydantic.BaseModel):
        a: int

    class Second(pydantic.BaseModel):
        b: int

    class Third(pydantic.BaseModel):
        a: int
        c: int = 0

    for format in FORMATS:
        for annotation in (First | Second, Second | First):
            for model in (First(a=1), Second(b=2)):
                assert read(format, written(format, model), annotation) == model
                assert read(format, written(format, model.model_dump()), annotation) == model
    with pytest.raises(TypeError, match="nothing tells these classes apart but a tag"):
        msgpack.Decoder(type=First | Third)
    with pytest.raises(holdall.ValidationError):
        holdall.loads(holdall.dumps({"a": 1}), type=First | Third)


Small = Annotated[int, Ge(0), Le(10)]


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.__name__)
@pytest.mark.parametrize("annotation", [Small | float, float | Small], ids=["int first", "float first"])
def test_an_int_beyond_its_bounds_is_no_float(format, annotation):
    made = read(format, written(format, 5), annotation)
    assert (made, type(made)) == (5, int)
    made = read(format, written(format, 50.5), annotation)
    assert (made, type(made)) == (50.5, float)
    for value, strict in ((50, True), (-1, True), (50, False), ("50", False)):
        with pytest.raises(holdall.ValidationError, match="Expected `int` [<>]= "):
            format.loads(written(format, value), type=dict[str, annotation], strict=strict)


class Fruit(enum.Enum):
    APPLE = "apple"


class Vegetable(enum.Enum):
    LEEK = "leek"


class AlsoApple(enum.Enum):
    OTHER = "apple"


class Number(enum.IntEnum):
    ONE = 1


STR_LIKE = "more than one str-like type in a union"
BESIDE = "an enumeration beside the type of its values in a union"
SAME = "more than one type of a union has the same value"


@pytest.mark.parametrize(
    ("annotation", "in_msgpack", "in_bson"),
    [
        (str | datetime.date, STR_LIKE, STR_LIKE),
        (datetime.timedelta | None | str, STR_LIKE, STR_LIKE),
        (str | pathlib.PurePath, STR_LIKE, STR_LIKE),
        (ipaddress.IPv4Address | ipaddress.IPv4Network, STR_LIKE, STR_LIKE),
        (pathlib.PurePath | Fruit, STR_LIKE, STR_LIKE),
        (str | uuid.UUID, STR_LIKE, None),
        (str | decimal.Decimal, STR_LIKE, None),
        (str | datetime.datetime, STR_LIKE, None),
        (str | Fruit, BESIDE, BESIDE),
        (Number | int, BESIDE, BESIDE),
        (Fruit | AlsoApple, SAME, SAME),
        (Fruit | Literal["apple"], SAME, SAME),
        (bytes | bytearray, "more than one bytes-like type in a union", "more than one bytes-like type in a union"),
        (complex | list[int], "more than one array-like type in a union", "more than one array-like type in a union"),
    ],
    ids=str,
)  # fmt: skip
def test_scalars_that_nothing_tells_apart(annotation, in_msgpack, in_bson):
    for decoder, why in ((msgpack.Decoder, in_msgpack), (bson.Decoder, in_bson)):
        if why is None:
            decoder(type=dict[str, annotation])
        else:
            with pytest.raises(TypeError, match=why):
                decoder(type=dict[str, annotation])
    holdall.Decoder(type=dict[str, annotation])


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.__name__)
@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (datetime.date | datetime.time | datetime.timedelta, [datetime.date(2020, 1, 2), datetime.time(3), datetime.timedelta(4)]),
        (Fruit | Vegetable | Number | float, [Fruit.APPLE, Vegetable.LEEK, Number.ONE, 1.5]),
        (str | Literal["a"] | int | None, ["a", "b", 1, None]),
        (Fruit | datetime.date, [Fruit.APPLE, datetime.date(2020, 1, 2)]),
        (uuid.UUID | datetime.timedelta | int, [uuid.UUID(int=5), datetime.timedelta(1), 3]),
    ],
    ids=str,
)  # fmt: skip
def test_scalars_that_are_told_apart(format, annotation, values):
    for value in values:
        made = read(format, written(format, value), annotation)
        assert (made, type(made)) == (value, type(value))
