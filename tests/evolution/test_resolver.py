"""Resolvers: what they are told, what each answer does, in all formats, untyped and typed, by all doors."""

from __future__ import annotations

import collections
import enum
import io
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

import holdall
from holdall import Record, bson, msgpack
from holdall.resolve import SKIP, ByValue, Refuse, Stored, Use, Value
from tests.support.each import each
from tests.support.level import stays_level

_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    return f"resolver{next(_numbers)}.Old"


@dataclass
class Dog:
    name: str


@dataclass
class Cat:
    name: str
    lives: int = 9


@dataclass(slots=True)
class Slotted:
    name: str
    lives: int = 9


class Struct(msgspec.Struct):
    name: str
    lives: int = 9


class Model(pydantic.BaseModel):
    name: str
    lives: int = 9


class Pair(NamedTuple):
    name: str
    lives: int = 9


class Plain:
    def __init__(self) -> None:
        self.name = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class ADict(dict[str, Any]):
    pass


class Color(enum.Enum):
    RED = "r"
    OTHER = "o"


class Hue(enum.Enum):
    RED = "r"
    BLUE = "b"


def stored_as(cls: Any, name: str, *values: Any) -> bytes:
    """What values of a class were stored as that was called `name` then."""
    holdall.register(cls, name=name)
    data = holdall.dumps(list(values))
    holdall.register(cls, name=f"{name}.elsewhere")
    return data


def says(answer: Any) -> Callable[[Stored], Any]:
    return lambda stored: answer


def of(name: str, answer: Any) -> Callable[[Stored], Any]:
    return lambda stored: answer if stored.name == name else None


# --- what it is told ---
def test_it_is_told_names_and_no_values(name: str) -> None:
    told: list[Any] = []

    def resolver(stored: Stored) -> Any:
        told.append((stored.name, stored.alias, stored.version, stored.kind, stored.fields, stored.cls))

    cls = holdall.register(type("Today", (), {}), name=f"{name}.today", aliases=[name])
    data = holdall.dumps([Record(name, {"a": 1, "b": 2}, version=3), Record(f"{name}.today", {})])
    holdall.loads(data, resolver=resolver)
    assert told == [(name, name, 3, "object", ("a", "b"), cls), (f"{name}.today", None, 1, "object", (), cls)]
    told.clear()
    holdall.loads(stored_as(ADict, name + "d", ADict(x=1)), types=Record, resolver=resolver)
    holdall.loads(stored_as(Hue, name + "e", Hue.RED), types=Record, resolver=resolver)
    assert [(one[3], one[4], one[5]) for one in told] == [("based", (), None), ("enum", (), None)]


def test_in_plain_formats_it_is_told_keys_as_fields(name: str) -> None:
    told: list[Any] = []

    @dataclass
    class Item:
        a: int = 0

    def resolver(stored: Stored) -> Any:
        told.append((stored.name, stored.alias, stored.version, stored.kind, stored.fields, stored.cls))

    holdall.register(
        Item,
        name=name,
        aliases=["old"],
        version=2,
        version_field="v",
        tag="new",
        rename={"a": "A"},
        resolver=resolver,
    )
    assert msgpack.loads(msgpack.dumps({"type": "old", "v": 1, "A": 5, "more": 1}), type=Item) == Item(5)
    assert told[-1] == ("old", "old", 1, "dict", ("a", "more"), Item)
    assert bson.loads(bson.dumps(Item(3)), type=Item) == Item(3)
    assert ("new", None, 2, "dict", ("a",), Item) in told


def test_repr(name: str) -> None:
    shown: list[str] = []
    holdall.loads(
        holdall.dumps(Record(name, {"a": 1})),
        types=Record,
        resolver=lambda stored: shown.append(repr(stored)),
    )
    assert shown == [f"Stored(name='{name}', version=1, kind=\"object\", fields=('a',))"]
    assert (repr(Use(Dog)), repr(SKIP)) == ("Use(Dog)", "SKIP")


def test_it_is_asked_once_for_a_layout(name: str) -> None:
    asked: list[str | None] = []

    def resolver(stored: Stored) -> Any:
        asked.append(stored.name)

    cls = holdall.register(type("Many", (), {"__slots__": ("a",)}), name=name, resolver=resolver)
    many = []
    for number in range(5):
        one = cls()
        one.a = number
        many.append(one)
    data = holdall.dumps(many)
    for _ in range(3):
        assert [one.a for one in holdall.loads(data)] == [0, 1, 2, 3, 4]
    assert asked == [name]  # answers of a class's resolver are remembered
    asked.clear()
    holdall.register(cls, name=name)
    holdall.loads(data, resolver=resolver)
    assert asked == [name]
    asked.clear()
    holdall.loads(holdall.dumps([Record(name, {"a": n}) for n in range(5)]), resolver=resolver)
    assert asked == [name]
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for one in many:
            log.write(one)
    file.seek(0)
    asked.clear()
    assert [one.a for one in holdall.Reader(file, resolver=resolver)] == [0, 1, 2, 3, 4]
    assert asked == [name]


def test_in_plain_formats_it_is_asked_once_for_keys(name: str) -> None:
    asked: list[tuple[str, ...]] = []

    def resolver(stored: Stored) -> Any:
        asked.append(stored.fields)

    @dataclass
    class Item:
        a: int
        b: int = 0

    holdall.register(Item, name=name, resolver=resolver)
    data = msgpack.dumps([{"a": 1, "b": 2}] * 3 + [{"a": 1}] * 3)
    for _ in range(2):
        assert msgpack.loads(data, type=list[Item]) == [Item(1, 2)] * 3 + [Item(1)] * 3
    assert asked == [("a", "b"), ("a",)]
    asked.clear()
    assert msgpack.loads(data, type=list[Item], resolver=resolver) == [Item(1, 2)] * 3 + [Item(1)] * 3
    assert set(asked) == {("a", "b"), ("a",)}


# --- answers ---
KINDS: list[Any] = [Dog, Cat, Slotted, Struct, Model, Pair, Plain]


@each("cls", KINDS)
def test_another_class(cls: Any, name: str) -> None:
    data = holdall.dumps([Record(name, {"name": "Tom"})] * 2)
    wanted: Any = Plain() if cls is Plain else cls(name="Tom")
    wanted = vars(wanted).update(name="Tom") or wanted if cls is Plain else wanted
    for found in (
        holdall.loads(data, resolver=of(name, cls)),
        holdall.loads(data, resolver=of(name, cls), type=list[cls]),
        holdall.loads(data, resolver=of(name, ByValue(says(cls)))),
        holdall.loads(data, resolver=of(name, ByValue(says(cls))), type=list[cls]),
    ):
        assert found == [wanted] * 2 and type(found[0]) is cls
        assert found[0] is found[1]


@each("fmt", [holdall, msgpack, bson])
def test_fields_under_other_names(fmt: Any, name: str) -> None:
    renames: Any = {"title": "name", "more": None}
    fields = {"title": "Tom", "lives": 3, "more": [1]}
    data = fmt.dumps({"all": [Record(name, fields) if fmt is holdall else fields] * 2})
    for answer in (Use(Cat, renames=renames), ByValue(says(Use(Cat, renames=renames)))):
        assert fmt.loads(data, type=dict[str, list[Cat]], resolver=says(answer)) == {
            "all": [Cat("Tom", 3)] * 2
        }
        if fmt is holdall:
            assert fmt.loads(data, resolver=says(answer)) == {"all": [Cat("Tom", 3)] * 2}


@each("fmt", [msgpack, bson, holdall])
def test_a_class_split_by_value(fmt: Any, name: str) -> None:
    def by_kind(record: Record) -> Any:
        return Use(Dog if record.fields["kind"] == "dog" else Cat, renames={"kind": None})

    fields = [{"kind": "dog", "name": "Rex"}, {"kind": "cat", "name": "Tom"}]
    data = fmt.dumps({"all": [Record(name, one) for one in fields] if fmt is holdall else fields})
    wanted = {"all": [Dog("Rex"), Cat("Tom")]}
    # Without the resolver nothing would tell the two apart in plain formats.
    assert fmt.loads(data, type=dict[str, list[Dog | Cat]], resolver=says(ByValue(by_kind))) == wanted
    if fmt is holdall:
        assert holdall.loads(data, resolver=of(name, ByValue(by_kind))) == wanted
        cls = type("Animal", (), {})
        holdall.register(cls, name=name, resolver=says(ByValue(by_kind)))
        assert holdall.loads(data) == wanted
        assert holdall.loads(data, type=dict[str, list[Dog | Cat]]) == wanted


@each("fmt", [msgpack, bson, holdall])
def test_two_classes_merged(fmt: Any, name: str) -> None:
    @dataclass
    class Pet:
        name: str
        kind: str

    def resolver(stored: Stored) -> Any:
        kind = "cat" if "lives" in stored.fields else "dog"
        return ByValue(lambda record: Pet(record.fields["name"], kind))

    fields = [{"name": "Rex"}, {"name": "Tom", "lives": 9}]
    data = fmt.dumps({"all": [Record(name, one) for one in fields] if fmt is holdall else fields})
    wanted = {"all": [Pet("Rex", "dog"), Pet("Tom", "cat")]}
    assert fmt.loads(data, type=dict[str, list[Pet]], resolver=resolver) == wanted
    holdall.register(Pet, name=f"{name}.{fmt.__name__}", aliases=[name], resolver=resolver)
    assert fmt.loads(data, type=dict[str, list[Pet]]) == wanted
    holdall.register(Pet, name=f"{name}.{fmt.__name__}")


def test_a_dict_subclass_became_a_class(name: str) -> None:
    one = ADict(name="Tom", lives=3)
    data = stored_as(ADict, name, one, one)
    for options in ({}, {"type": list[Cat]}):
        found = holdall.loads(data, resolver=of(name, Cat), **options)  # type: ignore[arg-type]
        assert found == [Cat("Tom", 3)] * 2
        assert found[0] is found[1]
    holdall.register(Cat, name=name, resolver=lambda stored: stored.cls)
    assert holdall.loads(data) == holdall.loads(data, type=list[Cat]) == [Cat("Tom", 3)] * 2
    with pytest.raises(holdall.ValidationError):
        holdall.loads(
            stored_as(ADict, name + "x", ADict(name=1)), resolver=of(name + "x", Cat), type=list[Cat]
        )
    with pytest.raises(
        holdall.DecodeError, match="no text, which no field is called: a resolver makes it by `ByValue`"
    ):
        holdall.loads(stored_as(ADict, name + "y", ADict({1: 2})), resolver=of(name + "y", Cat))  # type: ignore[dict-item]
    holdall.register(Cat, name=f"{name}.cat")


def test_a_class_became_a_dict(name: str) -> None:
    class Item(TypedDict):
        name: str

    data = holdall.dumps([Record(name, {"name": "Tom"})])
    assert holdall.loads(data, resolver=of(name, dict)) == [{"name": "Tom"}]
    assert holdall.loads(data, resolver=of(name, dict), type=list[Item]) == [{"name": "Tom"}]
    found = holdall.loads(data, resolver=of(name, ADict))
    assert found == [{"name": "Tom"}] and type(found[0]) is ADict


def test_a_removed_member(name: str) -> None:
    data = stored_as(Hue, name, Hue.RED, Hue.BLUE, Hue.BLUE)
    resolver = says(ByValue(lambda record: Color.OTHER if record.payload in ("BLUE", "b") else None))
    holdall.register(Color, name=name, resolver=resolver)
    wanted = [Color.RED, Color.OTHER, Color.OTHER]
    assert holdall.loads(data) == holdall.loads(data, type=list[Color]) == wanted
    assert msgpack.loads(msgpack.dumps(["r", "b", "b"]), type=list[Color]) == wanted
    assert bson.loads(bson.dumps({"a": ["r", "b", "b"]}), type=dict[str, list[Color]]) == {"a": wanted}
    with pytest.raises(holdall.ValidationError, match="Invalid enum value"):
        msgpack.loads(msgpack.dumps(["x"]), type=list[Color])
    holdall.register(Color, name=f"{name}.color")
    assert msgpack.loads(msgpack.dumps(["r", "b"]), type=list[Color], resolver=says(Value(Color.OTHER))) == [
        Color.RED,
        Color.OTHER,
    ]
    assert holdall.loads(data, resolver=of(name, Hue)) == [Hue.RED, Hue.BLUE, Hue.BLUE]
    assert msgpack.loads(msgpack.dumps(["r", "b"]), type=list[Color | Hue], resolver=says(Hue)) == [
        Color.RED,
        Hue.BLUE,
    ]


def test_records_and_values(name: str) -> None:
    data = holdall.dumps([Record(name, {"a": 1}), 2])
    record, two = holdall.loads(data, resolver=of(name, Record))
    assert (record.type_name, record.fields, two) == (name, {"a": 1}, 2)
    assert holdall.loads(data, resolver=of(name, Record), type=list[Record | int])[0].fields == {"a": 1}
    assert holdall.loads(data, resolver=of(name, Value(None))) == [None, 2]
    assert holdall.loads(data, resolver=of(name, Value(dict))) == [dict, 2]
    assert holdall.loads(data, resolver=of(name, ByValue(says(Value(None))))) == [None, 2]
    assert holdall.loads(data, resolver=of(name, ByValue(says("text")))) == ["text", 2]
    with pytest.raises(holdall.ValidationError, match="Expected `int`, got `str`"):
        holdall.loads(data, resolver=of(name, Value("text")), type=list[int])
    assert msgpack.loads(msgpack.dumps({"a": 1}), type=Cat, resolver=says(Value(Cat("x")))) == Cat("x")
    with pytest.raises(holdall.ValidationError, match="Expected `Cat`, got `str`"):
        msgpack.loads(msgpack.dumps({"a": 1}), type=Cat, resolver=says(Value("x")))
    assert msgpack.loads(msgpack.dumps([{"a": 1}]), type=list[Cat | Record], resolver=says(Record))[
        0
    ].fields == {"a": 1}


@each("answer", [SKIP, ByValue(says(SKIP))])
def test_left_out(answer: Any, name: str) -> None:
    gone = Record(name, {"x": [Record(f"{name}.unknown", {})] if answer is SKIP else [1]})
    held = {
        "list": [1, gone, 2, gone],
        "tuple": (1, gone, 3),
        "value": gone,
        "set": [{1, 2}],
        "by number": {1: gone, 2: "two"},
        "nested": [[gone], {"a": gone}],
    }
    data = holdall.dumps(held)
    wanted = {"list": [1, 2], "tuple": (1, 3), "set": [{1, 2}], "by number": {2: "two"}, "nested": [[], {}]}
    assert holdall.loads(data, resolver=of(name, answer)) == wanted
    typed = holdall.dumps({"a": [gone, Record("x", {}), gone]})
    found = holdall.loads(typed, type=dict[str, list[Record]], types=Record, resolver=of(name, answer))
    assert [one.type_name for one in found["a"]] == ["x"]
    with pytest.raises(holdall.DecodeError, match="leaves out the outermost value: answer with a `Value`"):
        holdall.loads(holdall.dumps(gone), resolver=of(name, answer))
    for fmt in (msgpack, bson):
        plain = fmt.dumps({"a": [{"name": "x"}, {"gone": 1}, {"name": "y"}]})
        resolver = lambda stored: answer if "gone" in stored.fields else None  # noqa: E731
        assert fmt.loads(plain, type=dict[str, list[Dog]], resolver=resolver) == {"a": [Dog("x"), Dog("y")]}


@each("cls", [Cat, Slotted, Struct, Plain])
def test_left_out_of_fields(cls: Any, name: str) -> None:
    """They get their defaults."""
    inner = f"{name}.gone"
    gone = Record(inner, {})
    data = holdall.dumps(
        [Record(name, {"name": "Tom", "lives": gone}), gone, Record(name, {"name": "Tim", "lives": 1})]
    )
    resolver = lambda stored: {name: cls, inner: SKIP}.get(stored.name)  # noqa: E731
    found = holdall.loads(data, resolver=resolver)
    if cls is Plain:
        assert [vars(one) for one in found] == [{"name": "Tom"}, {"name": "Tim", "lives": 1}]
        return
    assert found == holdall.loads(data, resolver=resolver, type=list[cls]) == [cls("Tom"), cls("Tim", 1)]
    lacking = holdall.dumps([Record(name, {"name": gone, "lives": 1})])
    with pytest.raises(
        holdall.DecodeError, match="field `name` of .* is left out by a resolver, and has no default"
    ):
        holdall.loads(lacking, resolver=resolver)
    with pytest.raises(holdall.ValidationError, match="missing required field `name`"):
        holdall.loads(lacking, resolver=resolver, type=list[cls])


def test_left_out_where_it_is_needed(name: str) -> None:
    gone = Record(name, {})
    for holder in (Pair("x", gone), [gone]):  # type: ignore[arg-type]
        data = holdall.dumps(holder)
        if holder == [gone]:
            with pytest.raises(holdall.DecodeError, match="can't be without: answer with a `Value`"):
                holdall.loads(data, type=tuple[int], resolver=of(name, SKIP))
            continue
        with pytest.raises(holdall.DecodeError, match="can't be without: answer with a `Value`"):
            holdall.loads(data, types=Pair, resolver=of(name, SKIP))


def test_refusal(name: str) -> None:
    text = f"`{name}` is refused by its resolver: archived in 2019"
    data = holdall.dumps([Record(name, {})])
    for answer in (Refuse("archived in 2019"), ByValue(says(Refuse("archived in 2019")))):
        for options in ({}, {"type": list[Any]}, {"type": list[Cat]}):
            with pytest.raises(holdall.DecodeError, match=text):
                holdall.loads(data, resolver=of(name, answer), **options)  # type: ignore[arg-type]
        with pytest.raises(holdall.DecodeError, match="`Cat` is refused by its resolver: archived"):
            msgpack.loads(msgpack.dumps({"x": 1}), type=Cat, resolver=says(answer))


def test_answers_that_are_none(name: str) -> None:
    data = holdall.dumps([Record(name, {})])
    wanted = "a class, Use, Record, ByValue, Value, SKIP, Refuse or None, got int"
    with pytest.raises(TypeError, match=wanted):
        holdall.loads(data, resolver=says(5))
    with pytest.raises(TypeError, match="by value: expected an object"):
        holdall.loads(data, resolver=says(ByValue(says(ByValue(says(1))))))
    with pytest.raises(ZeroDivisionError):
        holdall.loads(data, resolver=lambda stored: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        holdall.loads(data, resolver=says(ByValue(lambda record: 1 // 0)))
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(data, resolver=says(ByValue(says(None))))
    with pytest.raises(
        holdall.DecodeError, match="can't become a `.*` by its fields: a resolver makes it by `ByValue`"
    ):
        holdall.loads(data, resolver=says(Color))


@each(
    "make, text",
    [
        (lambda: Use(5), "Use: expected a class"),
        (lambda: Use(Dog, renames={1: "a"}), "Use: renames: expected {str: str or None}"),
        (lambda: ByValue(5), "ByValue: expected a function of one argument"),
        (lambda: holdall.loads(b"", resolver=5), "`resolver` must be callable or None"),
        (lambda: holdall.register(Dog, resolver=5), "register: resolver: expected a callable, got int"),
        (
            lambda: msgpack.loads(b"\x80", resolver=says(None)),
            "`resolver` needs `type=` here: the format stores no classes",
        ),
        (lambda: bson.Decoder(resolver=says(None)), "`resolver` needs `type=` here"),
        (
            lambda: holdall.Document(b"", format="julia", resolver=says(None)),
            "`resolver` is for hold, MessagePack and BSON",
        ),
    ],
)
def test_wrong_arguments(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert text in str(caught.value)


# --- sharing and cycles ---
def test_sharing_and_cycles(name: str) -> None:
    one = Record(name, {"name": "Tom"})
    one.fields["me"] = one
    data = holdall.dumps([one, one])
    cls = type("Node", (), {})
    for options in ({}, {"type": list[cls]}):
        first, second = holdall.loads(data, resolver=of(name, cls), **options)  # type: ignore[arg-type]
        assert first is second is first.me
    with pytest.raises(
        holdall.DecodeError,
        match=f"`{name}` holds itself, and its resolver decides by its values or drops some",
    ):
        holdall.loads(data, resolver=of(name, ByValue(says(cls))))
    inner: list[Any] = []
    shared = Record(name, {"inner": inner})
    inner.append(1)
    found = holdall.loads(
        holdall.dumps([shared, inner, shared]), resolver=of(name, ByValue(lambda r: [r.fields["inner"]]))
    )
    assert found[0] is found[2]
    assert found[0][0] is found[1]
    # What is left out leaves what it shares with others.
    found = holdall.loads(holdall.dumps([shared, [inner], inner]), resolver=of(name, SKIP))
    assert found == [[[1]], [1]] and found[0][0] is found[1]


# --- doors ---
def test_all_doors_of_hold(name: str, tmp_path: Any) -> None:
    data = [Record(name, {"name": "Tom"}), 1]
    message, resolver = holdall.dumps(data), of(name, Cat)
    wanted = [Cat("Tom"), 1]
    path = tmp_path / "f.hold"
    holdall.dump(data, path)
    assert holdall.loads(message, resolver=resolver) == wanted
    assert holdall.Decoder(resolver=resolver).decode(message) == wanted
    assert holdall.load(path, resolver=resolver) == holdall.load(path, mmap=True, resolver=resolver) == wanted
    with holdall.open(path, resolver=resolver) as doc:
        assert [doc.get(0, type=Cat), doc[1], doc.load()] == [Cat("Tom"), 1, wanted]
    with holdall.open(path, resolver=of(name, SKIP)) as doc:
        assert doc.load() == [1]
    with holdall.Writer(tmp_path / "log") as log:
        for one in [*data, data]:
            log.write(one)
    assert list(holdall.Reader(tmp_path / "log", resolver=resolver)) == [Cat("Tom"), 1, wanted]
    # A record that is left out is none.
    assert list(holdall.Reader(tmp_path / "log", resolver=of(name, SKIP))) == [1, [1]]
    holdall.register(
        Cat, name=f"{name}.cat", aliases=[name], resolver=says(Use(Cat, renames={"lives": None}))
    )
    holdall.register(
        Cat, name=f"{name}.cat2", aliases=[name], resolver=says(ByValue(lambda r: Cat("by value")))
    )
    assert holdall.safe_pickle.loads(message)[0] == holdall.loads(message)[0] == Cat("by value")
    trusted = holdall.dumps(data, trust=True)
    assert holdall.loads(trusted, trust=True)[0] == holdall.pickle.loads(trusted)[0] == Cat("by value")
    holdall.register(Cat, name=f"{name}.cat3")


@each("fmt", [msgpack, bson])
def test_all_doors_of_plain_formats(fmt: Any, tmp_path: Any) -> None:
    resolver = says(Use(Cat, renames={"title": "name"}))
    data, type_ = {"all": [{"title": "Tom"}]}, dict[str, list[Cat]]
    wanted, path = {"all": [Cat("Tom")]}, tmp_path / "f"
    fmt.dump(data, path)
    assert fmt.loads(fmt.dumps(data), type=type_, resolver=resolver) == wanted
    assert fmt.Decoder(type=type_, resolver=resolver).decode(fmt.dumps(data)) == wanted
    assert fmt.load(path, type=type_, resolver=resolver) == wanted
    with fmt.open(path, type=type_, resolver=resolver) as doc:
        assert doc.load() == wanted
    if fmt is msgpack:
        reader = msgpack.Reader(io.BytesIO(fmt.dumps(data) * 2), type=type_, resolver=resolver)
    else:
        reader = bson.documents(io.BytesIO(fmt.dumps(data) * 2), type=type_, resolver=resolver)
    assert list(reader) == [wanted] * 2


def test_that_of_the_call_comes_first(name: str) -> None:
    cls = holdall.register(type("Own", (), {}), name=name, resolver=says(Value("of the class")))
    data = holdall.dumps([Record(name, {})])
    assert holdall.loads(data) == ["of the class"]
    assert holdall.loads(data, resolver=says(Value("of the call"))) == ["of the call"]
    assert holdall.loads(data, resolver=says(None)) == ["of the class"]
    holdall.register(cls, name=name, resolver=says(Value("anew")))
    assert holdall.loads(data) == ["anew"]
    holdall.register(cls, name=name)
    assert type(holdall.loads(data)[0]) is cls


def test_answers_go_with_what_the_class_is_registered_with(name: str) -> None:
    def upgrade(fields: dict[str, Any], version: int) -> dict[str, Any]:
        return {**fields, "lives": version}

    @dataclass
    class New:
        name: str
        lives: int

    holdall.register(New, name=f"{name}.new", version=7, renames={"title": "name"}, upgrade=upgrade)
    data = holdall.dumps([Record(name, {"label": "Tom"}, version=3)])
    for answer in (Use(New, renames={"label": "title"}), ByValue(says(Use(New, renames={"label": "title"})))):
        for options in ({}, {"type": list[New]}):
            assert holdall.loads(data, resolver=of(name, answer), **options) == [New("Tom", 3)]  # type: ignore[arg-type]


# --- what was stored in another way ---
class Amount:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def test_fields_became_encode_and_decode(name: str) -> None:
    data = stored_as(Amount, name, Amount(5))

    def decode(value: Any, version: int | None) -> Amount:
        return Amount(value["cents"] if version == 1 else value)

    options: Any = {"encode": lambda amount: amount.cents, "decode": decode}
    holdall.register(Amount, name=name, **options)
    text = f"`{name}` was stored by its fields, before it was registered with `encode` and `decode`: `register` it with a new `version`"
    for more in ({}, {"type": list[Amount]}):
        with pytest.raises(holdall.DecodeError, match=text):
            holdall.loads(data, **more)  # type: ignore[arg-type]
    holdall.register(Amount, name=name, version=2, **options)
    assert holdall.loads(data) == holdall.loads(data, type=list[Amount]) == [Amount(5)]
    assert holdall.loads(holdall.dumps(Amount(6))) == Amount(6)
    holdall.register(Amount, name=f"{name}.elsewhere")


def test_encode_and_decode_became_fields(name: str) -> None:
    cls: Any = type("Money", (Amount,), {})
    holdall.register(
        cls, name=name, encode=lambda one: {"cts": one.cents}, decode=lambda value: cls(value["cts"])
    )
    data = holdall.dumps([cls(5)])
    holdall.register(cls, name=name)
    text = f"`{name}` was stored as what its registered `encode` gave, which it is not here: `register` it with a new `version` and an"
    with pytest.raises(holdall.DecodeError, match=text):
        holdall.loads(data)
    holdall.register(cls, name=name, version=2, upgrade=lambda fields, version: {"cents": fields["cts"]})
    assert holdall.loads(data) == holdall.loads(data, type=list[cls]) == [cls(5)]
    holdall.register(cls, name=name, resolver=says(Use(cls, renames={"cts": "cents"})))
    assert holdall.loads(data) == [cls(5)]
    holdall.register(cls, name=name, encode=lambda one: one.cents, decode=cls)
    data = holdall.dumps([cls(5)])
    holdall.register(cls, name=name, resolver=says(ByValue(lambda record: cls(record.payload))))
    assert holdall.loads(data) == [cls(5)]
    holdall.register(cls, name=name, version=2, upgrade=lambda fields, version: fields)
    with pytest.raises(
        holdall.DecodeError, match="can't become a `.*` by its fields: a resolver makes it by `ByValue`"
    ):
        holdall.loads(data)


def test_setstate_came_later(name: str) -> None:
    old = stored_as(Amount, name, Amount(5))

    class Stateful(Amount):
        def __setstate__(self, state: Any) -> None:
            self.cents = state["cents"] * 10

    holdall.register(Stateful, name=name)
    with pytest.raises(
        holdall.DecodeError,
        match="was stored by its fields, and now its class defines `__setstate__`: `register`",
    ):
        holdall.loads(old)
    holdall.register(Amount, name=f"{name}.x")
    options: Any = {"encode": vars, "decode": lambda fields, version: Stateful(**fields)}
    holdall.register(Stateful, name=name, version=2, **options)
    assert holdall.loads(old) == [Stateful(5)]


class Growing:
    def __init__(self) -> None:
        self.a: Any = 1


def test_setstate_came_later_in_trusted_messages() -> None:
    one = Growing()
    one.a = one
    data = holdall.dumps([one], trust=True)
    Growing.__setstate__ = lambda self, state: vars(self).update(b=state["a"])  # type: ignore[attr-defined]
    try:
        (found,) = holdall.loads(data, trust=True)
        stated = holdall.dumps([one], trust=True)
    finally:
        del Growing.__setstate__  # type: ignore[attr-defined]
    assert vars(found) == {"b": found}
    # Without it again: as pickle does.
    (found,) = holdall.loads(stated, trust=True)
    assert vars(found) == {"a": found}


def moved_function() -> None:
    pass


def test_a_function_was_moved() -> None:
    data = holdall.dumps([moved_function], trust=True)
    gone = data.replace(b"moved_function", b"other_function")
    with pytest.raises(
        holdall.DecodeError, match="`register` the class or function with that name in `aliases`"
    ):
        holdall.loads(gone, trust=True)
    assert holdall.register(moved_function, aliases=[f"{__name__}.other_function"]) is moved_function
    assert holdall.loads(gone, trust=True) == [moved_function]
    with pytest.raises(TypeError, match="register: a function takes `aliases` only"):
        holdall.register(moved_function, version=2)


# --- bounds ---
def test_work_is_bounded(name: str) -> None:
    many = [Record(f"{name}{number}", {}) for number in range(2_000)]
    data = holdall.dumps(many)
    limits = holdall.Limits(work=20_000)
    assert len(holdall.loads(data, types=Record, limits=limits)) == 2_000
    assert len(holdall.loads(data, resolver=says(Record))) == 2_000
    with pytest.raises(holdall.LimitError, match="more than limits.work=20000"):
        holdall.loads(data, resolver=says(Record), limits=limits)


def test_old_dicts_within_each_other(name: str) -> None:
    """They are converted by recursion, as docs/evolution.md says: 200 levels."""

    @dataclass
    class Node:
        next: Node | None = None
        old: int = 0

    Node.__annotations__["next"] = Node | None
    holdall.register(Node, name=name, resolver=says(Use(Node, renames={"after": "next"})))
    deep: Any = None
    for _ in range(150):
        deep = {"after": deep}
    found = msgpack.loads(msgpack.dumps(deep), type=Node)
    for _ in range(149):
        found = found.next
    assert found.next is None
    for _ in range(100):
        deep = {"after": deep}
    with pytest.raises(holdall.LimitError, match="nested too deep to be upgraded"):
        msgpack.loads(msgpack.dumps(deep), type=Node)


@pytest.mark.usefixtures("only_new_objects")
def test_nothing_is_left_behind(name: str) -> None:
    gone = f"{name}.gone"
    records = [
        Record(name, {"name": "Tom", "lives": Record(gone, {"x": [1]})}),
        (Record(gone, {}), 2),
        {"a": Record(gone, {})},
    ]
    data = holdall.dumps([records, {1, 2}, records])
    plain = msgpack.dumps([{"title": "Tom", "lives": 1}, {"gone": 1}, {"title": 5}])

    def raising(record: Record) -> Any:
        raise ZeroDivisionError

    answers: list[Any] = [
        Cat,
        Slotted,
        Record,
        Value([1]),
        SKIP,
        ByValue(says(Cat)),
        ByValue(raising),
        Refuse("no"),
    ]

    def work() -> None:
        for answer in answers:
            for other in (SKIP, Value(7), ByValue(says(SKIP))):
                resolver = lambda stored: {name: answer, gone: other}.get(stored.name)  # noqa: E731, B023
                for options in (
                    {},
                    {"type": list[Any]},
                    {"type": list[list[Cat | tuple[int, ...] | dict[str, int]]]},
                ):
                    try:
                        holdall.loads(data, resolver=resolver, **options)  # type: ignore[arg-type]
                    except (holdall.DecodeError, ZeroDivisionError):
                        continue
            resolver = lambda stored: SKIP if "gone" in stored.fields else answer  # noqa: E731, B023
            try:
                msgpack.loads(plain, type=list[Cat], resolver=resolver)
            except (holdall.DecodeError, ZeroDivisionError):
                continue

    stays_level(work, 200)


@dataclass
class Holder:
    items: list[Dog] = field(default_factory=list)


def test_nested_classes_in_plain_formats(name: str) -> None:
    holdall.register(
        Dog,
        name=f"{name}.dog",
        resolver=lambda stored: Use(Dog, renames={"title": "name"}) if "title" in stored.fields else None,
    )
    data: Any = {"items": [{"title": "a"}, {"name": "b"}]}
    assert msgpack.loads(msgpack.dumps(data), type=Holder) == Holder([Dog("a"), Dog("b")])
    assert holdall.loads(holdall.dumps(data), type=Holder) == Holder([Dog("a"), Dog("b")])
    holdall.register(Dog, name=f"{name}.dog")


def test_a_field_whose_value_is_refused_gets_its_default(name: str) -> None:
    @dataclass(slots=True)
    class Car:
        doors: int
        color: Color = Color.OTHER
        more: list[Color] = field(default_factory=list)

    def resolver(stored: Stored) -> Any:
        return ByValue(says(SKIP)) if stored.kind == "value" else None

    data = {"all": [{"doors": 4, "color": "x", "more": ["r", "x"]}, {"doors": 2, "color": "r", "more": []}]}
    wanted = {"all": [Car(4, Color.OTHER, [Color.RED]), Car(2, Color.RED)]}
    for fmt in (msgpack, bson, holdall):
        assert fmt.loads(fmt.dumps(data), type=dict[str, list[Car]], resolver=resolver) == wanted
    holdall.register(Color, name=name, resolver=resolver)
    for fmt in (msgpack, bson, holdall):
        assert fmt.loads(fmt.dumps(data), type=dict[str, list[Car]]) == wanted
    holdall.register(Color, name=name)


def test_models_in_plain_formats() -> None:
    renamed = says(Use(Model, renames={"title": "name"}))
    data = [{"title": "Tom"}]
    assert msgpack.loads(msgpack.dumps(data), type=list[Model], resolver=renamed) == [Model(name="Tom")]
    assert holdall.loads(holdall.dumps(data), type=list[Model], resolver=renamed) == [Model(name="Tom")]
    assert msgpack.loads(msgpack.dumps([{"name": "x"}]), type=list[Model], resolver=says(None)) == [
        Model(name="x")
    ]


def test_left_out_of_other_containers(name: str) -> None:
    gone = Record(name, {})
    held: dict[str, Any] = {
        "deque": collections.deque([1, gone, 2]),
        "ordered": collections.OrderedDict(a=gone, b=1),
        "proxy": types.MappingProxyType({"a": gone, "b": 1}),
        "exception": ValueError(gone, 1),
    }
    found = holdall.loads(holdall.dumps(held), resolver=of(name, SKIP))
    assert (found["deque"], found["ordered"], found["proxy"]) == (
        collections.deque([1, 2]),
        {"b": 1},
        {"b": 1},
    )
    assert found["exception"].args == (1,)
    key = type("Key", (), {})
    holdall.register(key, name=f"{name}.key")
    data = holdall.dumps([{key(): 1, "x": 2}, {key(), 3}, frozenset([key(), 4])])
    for answer in (SKIP, ByValue(says(SKIP))):
        assert holdall.loads(data, resolver=says(answer)) == [{"x": 2}, {3}, frozenset([4])]
    tuple_ = (1, gone)
    found = holdall.loads(holdall.dumps([tuple_, tuple_]), resolver=of(name, SKIP))
    assert found == [(1,), (1,)] and found[0] is found[1]
    several = ADict(a=gone, b=1)
    several.__dict__["c"] = gone
    (found,) = holdall.loads(
        stored_as(ADict, f"{name}.dict", several),
        types=ADict,
        resolver=lambda stored: ADict if "dict" in stored.name else SKIP,
    )  # type: ignore[operator]
    assert (found, vars(found)) == ({"b": 1}, {})


def test_two_fields_with_one_name(fmt):
    """None of the values may get lost, whichever way the answer takes."""

    @dataclass
    class Merged:
        label: Any
        count: int = 3

    name = f"two_fields.{next(_numbers)}"
    stored = fmt.dumps(
        holdall.Record(name, {"title": 1, "label": 2}) if not fmt.plain else {"title": 1, "label": 2}
    )
    both = {"title": "label"}
    for answer in (
        Use(Merged, renames=both),
        Use(Merged, renames={**both, "other": None}),
        ByValue(lambda record: Use(Merged, renames=both)),
    ):
        for options in ({"type": Merged},) if fmt.plain else ({}, {"type": Merged}):
            with pytest.raises(
                holdall.DecodeError, match="give two fields the name `label`: rename the other one"
            ):
                fmt.loads(stored, resolver=lambda stored, answer=answer: answer, **options)
    kept = Use(Merged, renames={**both, "label": None})
    assert fmt.loads(stored, type=Merged, resolver=lambda stored: kept) == Merged(1)
    swapped = Use(Merged, renames={**both, "label": "count"})
    assert fmt.loads(stored, type=Merged, resolver=lambda stored: swapped) == Merged(1, 2)
