"""What a resolver leaves out (`SKIP`), wherever it stands: small containers are built without a frame as long as they hold plain values."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import attrs
import msgspec
import pydantic
import pytest

import holdall
from holdall import Record
from holdall.resolve import SKIP, ByValue, Stored
from tests.support.each import each

GONE = "left_out.Gone"
ANSWERS = (SKIP, ByValue(lambda record: SKIP))


@dataclass
class Plain:
    a: Any
    b: Any = 5
    c: Any = field(default_factory=lambda: [6])


@dataclass(slots=True)
class Slots:
    a: Any
    b: Any = 5
    c: Any = field(default_factory=lambda: [6])


class Struct(msgspec.Struct):
    a: Any
    b: Any = 5
    c: Any = msgspec.field(default_factory=lambda: [6])


@attrs.define(slots=False)
class Attrs:
    a: Any
    b: Any = 5
    c: Any = attrs.Factory(lambda self: [6, *map(str, (self.a, self.b))], takes_self=True)


class Model(pydantic.BaseModel):
    a: Any
    b: Any = 5
    c: Any = pydantic.Field(default_factory=lambda fields: [6, fields["a"]])


class AList(list[Any]):
    pass


class ADict(dict[Any, Any]):
    pass


class ASet(set[Any]):
    pass


class ADefault(collections.defaultdict[Any, Any]):
    pass


class ADeque(collections.deque[Any]):
    pass


CLASSES = (Plain, Slots, Struct, Attrs, Model, AList, ADict, ASet, ADefault, ADeque)


@dataclass(frozen=True)
class Key:
    """Stored as what is left out, where a record can't stand."""

    n: int = 1


holdall.register(Key, name=f"{GONE}.key")
gone, key = Record(GONE, {}), Key()


def resolver(answer: Any) -> Callable[[Stored], Any]:
    return lambda stored: answer if str(stored.name).startswith(GONE) else None


def loaded(value: Any, answer: Any, **options: Any) -> Any:
    return holdall.loads(holdall.dumps(value), types=CLASSES, resolver=resolver(answer), **options)


@each("answer", ANSWERS)
@each(
    "value, wanted",
    [
        ([gone], []),
        ([1, gone, "x"], [1, "x"]),
        ([gone, [gone], [1, [2, gone], gone]], [[], [1, [2]]]),
        ([(1, gone), (gone,), (gone, (2, gone))], [(1,), (), ((2,),)]),
        ([*range(20), gone], [*range(20)]),
        ([[1, 2], gone, (3, 4), gone, {}], [[1, 2], (3, 4), {}]),
        ({"a": gone}, {}),
        ({"a": 1, "b": gone, "c": [1, 2], "d": gone}, {"a": 1, "c": [1, 2]}),
        ({1: gone, 2: [gone], (3, 4): (5, gone)}, {2: [], (3, 4): (5,)}),
        ({key: 1, "x": 2, Key(2): [3]}, {"x": 2}),
        ({1: {2: {3: gone, key: 4}}}, {1: {2: {}}}),
        ({(1, key): 1, "x": 2}, {(1,): 1, "x": 2}),
        ([{"a": 1, "b": gone}, {"a": 1, "b": 2}, {"a": gone, "b": 2}], [{"a": 1}, {"a": 1, "b": 2}, {"b": 2}]),
        ({1, key, "x"}, {1, "x"}),
        ([{key}, {Key(2), Key(3), 1}], [set(), {1}]),
        ([frozenset([key, 1]), frozenset([key])], [frozenset([1]), frozenset()]),
        ({frozenset([key, 1]), (1, key)}, {frozenset([1]), (1,)}),
        (collections.deque([1, gone, [gone]]), collections.deque([1, []])),
        (collections.OrderedDict([(1, gone), (2, 3)]), collections.OrderedDict([(2, 3)])),
        (collections.defaultdict(int, {1: gone, "b": 3}), collections.defaultdict(int, {"b": 3})),
        (collections.Counter({key: 2, "b": 3}), collections.Counter({"b": 3})),
        (AList([1, gone, [gone]]), AList([1, []])),
        (ADict({1: gone, "x": [gone], key: 1}), ADict({"x": []})),
        (ASet({1, key}), ASet({1})),
        (ADefault(list, {1: gone, "b": 3}), ADefault(list, {"b": 3})),
        (ADeque([1, gone, 2]), ADeque([1, 2])),
    ],
)  # fmt: skip
def test_containers(value: Any, wanted: Any, answer: Any) -> None:
    found = loaded(value, answer)
    assert (type(found), found) == (type(wanted), wanted)
    # It is left out of one, and the others around it are as they were.
    shared = [value, value, [7]]
    found = loaded([shared, {"s": shared, "v": value}, 8], answer)
    assert found == [[wanted, wanted, [7]], {"s": [wanted, wanted, [7]], "v": wanted}, 8]
    assert found[0] is found[1]["s"]


@pytest.mark.parametrize("typed", [False, True])
@each("answer", ANSWERS)
@each("cls", [Plain, Slots, Struct, Attrs, Model])
def test_fields(cls: Any, answer: Any, typed: bool) -> None:
    options = {"type": list[cls]} if typed else {}
    values = [
        cls(a=1, b=2, c=3),
        cls(a=1, b=gone, c=[4]),
        cls(a=1, b=[gone, 2], c=gone),
        cls(a=(1, 2), b=gone, c=gone),
    ]
    wanted = [cls(a=1, b=2, c=3), cls(a=1, c=[4]), cls(a=1, b=[2]), cls(a=(1, 2))]
    assert loaded(values, answer, **options) == wanted
    with pytest.raises(holdall.DecodeError, match="`a`|left out|leaves out"):
        loaded([cls(a=gone, b=1, c=2)], answer, **options)


def test_what_trusted_messages_may_lack_is_not_remembered_for_others() -> None:
    @dataclass
    class Whole:
        a: int
        b: int

    name = "left_out.Lacking"
    holdall.register(type("Old", (), {}), name=name, resolver=lambda stored: Whole)
    trusted, other = (holdall.dumps([Record(name, {"a": 1})], trust=trust) for trust in (True, False))
    for _ in range(2):
        assert vars(holdall.loads(trusted, trust=True)[0]) == {"a": 1}
        with pytest.raises(holdall.DecodeError, match="was stored without its field `b`"):
            holdall.loads(other)
