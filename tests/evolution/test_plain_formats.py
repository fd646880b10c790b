"""Renamed fields, versions and aliases where no class is stored: MessagePack, BSON, and dicts in hold."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import itertools
from typing import Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

import holdall
from holdall import bson, msgpack

_numbers = itertools.count()


def made(*fields: Any) -> Any:
    """A class of its own, whose registration no other test sees."""
    return dataclasses.make_dataclass(f"Item{next(_numbers)}", fields, namespace={"__module__": __name__})


# --- renamed fields ---
def test_a_renamed_field_is_read_under_both_names(fmt):
    cls = holdall.register(made(("title", str)), renames={"label": "title"})
    for key in ("label", "title"):
        assert fmt.loads(fmt.dumps({key: "tea"}), type=cls) == cls("tea")
    assert fmt.loads(fmt.dumps(cls("tea")), type=cls) == cls("tea")


def test_rename_reads_the_key_and_the_name(fmt):
    cls = holdall.register(made(("label", str)), rename={"label": "title"})
    for key in ("label", "title"):
        assert fmt.loads(fmt.dumps({key: "tea"}), type=cls) == cls("tea")
    assert msgpack.loads(msgpack.dumps(cls("tea"))) == {"title": "tea"}


def test_an_old_name_has_the_style_of_the_new_one(fmt):
    cls = holdall.register(made(("first_name", str)), rename="camel", renames={"given_name": "first_name"})
    for key in ("firstName", "first_name", "givenName", "given_name"):
        assert fmt.loads(fmt.dumps({key: "Ann"}), type=cls) == cls("Ann")


def test_the_key_of_another_field_stays_its_own(fmt):
    cls = holdall.register(made(("a", int), ("b", int)), rename={"a": "b", "b": "a"}, renames={"b": "a"})
    assert fmt.loads(fmt.dumps({"a": 1, "b": 2}), type=cls) == cls(2, 1)


def test_renamed_fields_tell_classes_apart(fmt):
    one = holdall.register(made(("width", int)), renames={"w": "width"})
    other = holdall.register(made(("radius", int)), renames={"r": "radius"})
    for key, cls in (("w", one), ("width", one), ("r", other), ("radius", other)):
        assert fmt.loads(fmt.dumps({key: 3}), type=one | other) == cls(3)


def test_renamed_fields_and_no_unknown_ones(fmt):
    cls = holdall.register(made(("title", str)), renames={"label": "title"}, forbid_unknown=True)
    assert fmt.loads(fmt.dumps({"label": "tea"}), type=cls) == cls("tea")
    with pytest.raises(holdall.ValidationError, match="unknown field `name`"):
        fmt.loads(fmt.dumps({"name": "tea"}), type=cls)


def test_a_model_with_a_renamed_field(fmt):
    class Model(pydantic.BaseModel):
        title: str
        price: float = 1.0

    holdall.register(Model, name=f"Model{next(_numbers)}", renames={"label": "title"})
    for key in ("label", "title"):
        assert fmt.loads(fmt.dumps({key: "tea", "price": 2}), type=Model) == Model(title="tea", price=2.0)
    with pytest.raises(holdall.ValidationError):
        fmt.loads(fmt.dumps({"price": 2}), type=Model)


def test_a_struct_with_keys_of_its_own(fmt):
    class Shouting(msgspec.Struct, rename="upper"):
        first_name: str

    for key in ("FIRST_NAME", "first_name"):
        if key == "first_name":
            with pytest.raises(
                holdall.ValidationError, match="missing required field `FIRST_NAME`$|`first_name`"
            ):
                msgpack.loads(msgpack.dumps({key: "Ann"}), type=Shouting)
            holdall.register(Shouting, name=f"Shouting{next(_numbers)}")
        assert fmt.loads(fmt.dumps({key: "Ann"}), type=Shouting) == Shouting("Ann")


def test_a_root_model_comes_back(fmt):
    class Numbers(pydantic.RootModel[list[int]]):
        pass

    class Named(pydantic.RootModel[dict[str, int]]):
        pass

    for value in (Numbers([1, 2]), Named({"a": 1}), Named({"root": 1})):
        assert fmt.loads(fmt.dumps(value), type=type(value)) == value
    # Foreign data has the content alone.
    assert msgpack.loads(msgpack.dumps({"root": 1}), type=Named) == Named({"root": 1})
    with pytest.raises(holdall.ValidationError, match="valid integer"):
        msgpack.loads(msgpack.dumps({"root": ["x"]}), type=Numbers)


# --- versions ---
class Inner(NamedTuple):
    x: int
    y: int


class Extra(TypedDict):
    day: datetime.date


def item_of(version_field: str | None, calls: list[Any]) -> Any:
    cls = made(
        ("cents", int),
        ("day", datetime.date),
        ("tags", set[str]),
        ("points", dict[int, list[Inner]]),
        ("extra", Extra | None, None),
    )

    def upgrade(fields, version):
        calls.append(version)
        fields["cents"] = round(fields.pop("amount") * 100)
        return fields

    return holdall.register(
        cls, version=3, upgrade=upgrade, renames={"date": "day"}, version_field=version_field
    )


PARTS = {"date": "2026-01-02", "tags": ["a"], "points": {"4": [[1, 2]]}, "extra": {"day": "2026-01-03"}}


def test_upgrade_is_called_where_the_fields_do_not_fit():
    calls: list[Any] = []
    cls = item_of(None, calls)
    day = datetime.date(2026, 1, 2)
    wanted = cls(250, day, {"a"}, {4: [Inner(1, 2)]}, {"day": datetime.date(2026, 1, 3)})
    for format in (msgpack, bson):
        old = format.dumps({"items": [{"amount": 2.5, **PARTS}, {"cents": 250, **PARTS}]})
        if format is msgpack:
            old = msgpack.dumps(
                {"items": [{**item, "points": {4: [[1, 2]]}} for item in msgpack.loads(old)["items"]]}
            )
        assert format.loads(old, type=dict[str, list[cls]]) == {"items": [wanted, wanted]}
        assert format.loads(format.dumps(wanted), type=cls) == wanted
    assert calls == [1, 1]


def test_the_version_is_stored_under_the_key_for_it():
    calls: list[Any] = []
    cls = item_of("v", calls)
    wanted = cls(250, datetime.date(2026, 1, 2), {"a"}, {4: [Inner(1, 2)]}, None)
    parts = {**PARTS, "extra": None}
    for format in (msgpack, bson):
        assert format.loads(format.dumps(wanted))["v"] == 3
        assert format.loads(format.dumps(wanted), type=cls) == wanted
        assert calls == []
        for version in ({}, {"v": 1}, {"v": 2}, {"v": 4}):
            points = {"points": {4: [[1, 2]]}} if format is msgpack else {}
            assert (
                format.loads(format.dumps({**version, "amount": 2.5, **parts, **points}), type=cls) == wanted
            )
        assert calls == [1, 1, 2, 4]
        calls.clear()


@pytest.mark.parametrize("wrong", ["1", 0, -1, 1.5, None])
def test_a_version_that_is_none(fmt, wrong):
    cls = holdall.register(
        made(("a", int)), version=2, version_field="v", upgrade=lambda fields, version: fields
    )
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps({"v": wrong, "a": 1}), type=cls)
    assert str(caught.value) == "Expected a version of the class, an `int` from 1 - at `$.v`"


def test_what_upgrade_returns_is_checked(fmt):
    cls = holdall.register(made(("a", int)), version=2, upgrade=lambda fields, version: {"a": "text"})
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps({"b": 1}), type=list[cls] | cls)
    assert str(caught.value) == "Expected `int`, got `str` - at `$.a`"
    cls = holdall.register(made(("a", int)), version=2, upgrade=lambda fields, version: 3)
    with pytest.raises(holdall.DecodeError, match="`upgrade` gave no dict of fields"):
        fmt.loads(fmt.dumps({"b": 1}), type=cls)
    cls = holdall.register(made(("a", int)), version=2, upgrade=lambda fields, version: {})
    with pytest.raises(holdall.ValidationError, match="missing required field `a`"):
        fmt.loads(fmt.dumps({"b": 1}), type=cls)


def test_structs_and_models_have_versions_too(fmt):
    class Struct(msgspec.Struct):
        cents: int

    class Model(pydantic.BaseModel):
        cents: int

    for cls in (Struct, Model):
        holdall.register(
            cls,
            name=f"Priced{next(_numbers)}",
            version=2,
            version_field="v",
            upgrade=lambda fields, version: {"cents": fields["amount"] * 100},
        )
        for version in ({}, {"v": 1}):
            assert fmt.loads(fmt.dumps({**version, "amount": 2}), type=cls) == cls(cents=200)
        assert fmt.loads(fmt.dumps({"v": 2, "cents": 3}), type=cls) == cls(cents=3)


@dataclasses.dataclass
class Link:
    number: int
    below: Link | None = None


def test_a_dict_nested_too_deep_to_be_upgraded(fmt):
    def upgrade(fields, version):
        return {"number": fields["id"], "below": fields.get("below")}

    holdall.register(Link, name=f"Link{next(_numbers)}", version=2, upgrade=upgrade)
    chain: Any = None
    for number in range(150):
        chain = {"id": number, "below": chain}
    link = fmt.loads(fmt.dumps(chain), type=Link)
    assert (link.number, link.below.number) == (149, 148)
    for number in range(100):
        chain = {"id": number, "below": chain}
    with pytest.raises(holdall.LimitError, match="nested too deep to be upgraded"):
        fmt.loads(fmt.dumps(chain), type=Link)
    cls = holdall.register(
        made(("below", Any)), version=2, upgrade=lambda fields, version: {"below": fields["was"]}
    )
    # What may be anything is not looked through.
    deep: Any = 1
    for _ in range(1000):
        deep = [deep]
    below = fmt.loads(fmt.dumps({"was": deep}), type=cls).below
    for _ in range(1000):
        [below] = below
    assert below == 1


def test_a_key_for_the_version_is_checked_when_it_is_registered():
    with pytest.raises(TypeError, match="version_field: expected str, got int"):
        holdall.register(made(("a", int)), version_field=1)
    with pytest.raises(TypeError, match="stored without keys"):
        holdall.register(made(("a", int)), version_field="v", array_like=True)
    cls = holdall.register(made(("a", int)), version_field="a")
    with pytest.raises(TypeError, match="the key `a` of a field is that of the version"):
        msgpack.loads(b"\x80", type=cls)


# --- aliases and tags ---
def test_old_tags(fmt):
    # No other class can have the aliases.
    old, box = f"shapes.old.Round{next(_numbers)}", f"Box{next(_numbers)}"
    one = holdall.register(made(("x", int)), tag="circle", aliases=[old])
    two = holdall.register(made(("x", int)), tag="square", aliases=[box])
    for tag, cls in (
        ("circle", one),
        (old.removeprefix("shapes.old."), one),
        (old.removeprefix("shapes."), one),
        (old, one),
        (box, two),
    ):
        data = fmt.dumps({"type": tag, "x": 1})
        assert fmt.loads(data, type=one | two) == cls(1)
        assert fmt.loads(data, type=cls) == cls(1)
    with pytest.raises(holdall.ValidationError, match="Invalid tag"):
        fmt.loads(fmt.dumps({"type": "old", "x": 1}), type=one | two)


def test_a_tag_of_today_goes_before_an_old_one(fmt):
    one = holdall.register(made(("x", int)), tag="a", aliases=[f"m{next(_numbers)}.b"])
    two = holdall.register(made(("x", int)), tag="b")
    assert fmt.loads(fmt.dumps({"type": "b", "x": 1}), type=one | two) == two(1)


def test_upgrade_is_told_the_stored_name():
    told = []

    def upgrade(fields, version, name):
        told.append((version, name))
        return {"x": 1}

    number = next(_numbers)
    cls = holdall.register(
        made(("x", int)), name=f"n{number}", tag="new", aliases=[f"m{number}.Old"], version=2, upgrade=upgrade
    )
    for format in (msgpack, bson):
        format.loads(format.dumps({"type": "Old", "y": 1}), type=cls)
        format.loads(format.dumps({"y": 1}), type=cls)
    for name in (f"m{number}.Old", f"n{number}"):
        assert holdall.loads(holdall.dumps(holdall.Record(name, {"y": 1}))) == cls(1)
    assert told == [(1, "Old"), (1, None)] * 2 + [(1, f"m{number}.Old"), (1, f"n{number}")]


def test_decode_is_told_the_version():
    def decode(value, version):
        return Amount(value if version in (2, None) else value * 100)

    class Amount:
        def __init__(self, cents):
            self.cents = cents

    name = f"Amount{next(_numbers)}"
    options: dict[str, Any] = {"name": name, "encode": lambda amount: amount.cents, "decode": decode}
    holdall.register(Amount, **options)
    old = holdall.dumps(Amount(3))
    assert holdall.loads(old).cents == 300
    holdall.register(Amount, version=2, **options)
    assert holdall.loads(holdall.dumps(Amount(3))).cents == 3
    assert holdall.loads(old).cents == 300
    assert msgpack.loads(msgpack.dumps(Amount(3)), type=Amount).cents == 3


@pytest.mark.parametrize("codec", [msgpack, bson])
def test_names_keep_apart_what_changes_places(codec: Any) -> None:
    """Members and fields that are stored by name, by `encode`: in whatever order the next version of the class has them."""

    def registered(color: Any, point: Any) -> tuple[Any, Any]:
        holdall.register(
            color,
            name=f"places{next(_numbers)}.Color",
            encode=lambda each: each.name,
            decode=color.__getitem__,
        )
        holdall.register(
            point,
            name=f"places{next(_numbers)}.Point",
            encode=point._asdict,
            decode=lambda each: point(**each),
        )
        return color, point

    color, point = registered(enum.Enum("Color", "RED BLUE"), NamedTuple("Point", [("x", int), ("y", int)]))
    stored = codec.dumps({"made": [color.BLUE, point(1, 2)]})
    color, point = registered(enum.Enum("Color", "BLUE RED"), NamedTuple("Point", [("y", int), ("x", int)]))
    made = codec.loads(stored, type=dict[str, tuple[color, point]])["made"]
    assert made == (color.BLUE, point(y=2, x=1))
    assert type(made[1]) is point
    assert codec.loads(stored) == {"made": ["BLUE", {"x": 1, "y": 2}]}
