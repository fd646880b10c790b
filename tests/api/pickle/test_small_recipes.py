"""Recipes whose parts are small are read without frames; those that aren't, or not all of them, with. The result is the same."""

from __future__ import annotations

import copyreg
import datetime
import io
import itertools
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import holdall
import holdall.pickle as hp
from tests.support.isomorphic import isomorphic


class Made:
    """Keeps what it was made of, in the order in which it came."""

    def __init__(self, *args: Any) -> None:
        self.__dict__["came"] = [("args", args)]

    def append(self, item: Any) -> None:
        self.__dict__["came"].append(("item", item))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__dict__["came"].append((key, value))

    def __setstate__(self, state: Any) -> None:
        self.__dict__["came"].append(("state", state))

    def __reduce__(self) -> Any:
        return self.__dict__["recipe"]


def set_state(made: Made, state: Any) -> None:
    made.__dict__["came"].append(("set", state))


def made_by(*recipe: Any) -> Made:
    made = Made()
    made.__dict__["recipe"] = (Made, *recipe)
    return made


LARGE = [
    list(range(20)),
    {"a": [1, {}]},
    tuple(range(20)),
    ((((1,),),),),
    [[[[[1]]]]],
    {1: 2},
    {number: str(number) for number in range(9)},
]
SMALL = [
    None,
    1,
    2.5,
    "text",
    "ä",
    b"bytes",
    1j,
    (),
    (1, "a"),
    (1, (2, (3,))),
    {},
    {"a": 1},
    {"a": ({},)},
    1 << 70,
    int,
    (int, len),
    [],
    [1, "a", None],
    [(1, ["a"]), {"a": [2]}],
    (0.5, 1.5),
    [0.5, 1.5, 2.5],
    (1, 2, 3),
    ["a", "b", "c"],
    [True, False],
    datetime.date(2024, 2, 29),
    (Decimal("1.5"), datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)),
]


def parts() -> Iterator[tuple[Any, Any]]:
    yield from itertools.product(SMALL, LARGE)
    yield from itertools.product(LARGE, SMALL)
    yield from itertools.combinations(SMALL, 2)


def sharing(first: Any, second: Any, setter: bool) -> Made:
    """What it is made of, its items and its state are `first` and `second`, and a tuple that occurs twice."""
    shared = ("shared", first)
    setters = [set_state] if setter else []
    return made_by((first, shared), second, iter([shared, second]), iter([("key", first)]), *setters)


@pytest.mark.parametrize("setter", [False, True])
def test_parts_that_are_small_and_that_are_not(setter: bool) -> None:
    for first, second in parts():
        made = hp.loads(hp.dumps([sharing(first, second, setter), sharing(first, second, setter)]))
        shared = ("shared", first)
        for one in made:
            names, values = zip(*one.came, strict=True)
            # None is no state.
            end = () if second is None else ("set" if setter else "state",)
            assert names == ("args", "item", "item", "key", *end)
            isomorphic(list(values), [(first, shared), shared, second, first, *[second] * len(end)])
        # The containers that both hold are one object, small or not.
        assert not isinstance(second, list | dict | tuple) or made[0].came[2][1] is made[1].came[2][1]


def test_a_state_that_holds_its_object() -> None:
    for deep in (lambda made: made, lambda made: (made, 1), lambda made: {"a": (made,)}, lambda made: [made]):
        made = made_by((1,), None)
        made.__dict__["recipe"] = (Made, (1, "a"), deep(made))
        (again,) = hp.loads(hp.dumps([made]))
        held = again.came[1][1]
        while held is not again:
            held = held["a"] if isinstance(held, dict) else held[0]


def test_lists_that_hold_each_other_and_their_object() -> None:
    made, shared = made_by((), None), ["a"]
    ring: list[Any] = [shared, made]
    ring.append(ring)
    made.__dict__["recipe"] = (Made, (shared,), [ring, shared, ["b"]])
    (again, twin) = hp.loads(hp.dumps([made, made]))
    assert again is twin
    (_, (first,)), (_, (loop, second, _)) = again.came
    assert first is second is loop[0] and loop[1] is again and loop[2] is loop


def test_no_items_are_nothing_to_append() -> None:
    """As pickle has it: `extend` and `append` are for those that have items."""

    class Counts(list[Any]):
        def extend(self, items: Any) -> None:
            raise AssertionError("there is nothing to extend by")

        def __reduce_ex__(self, protocol: Any) -> Any:
            return (Counts, (), None, iter(self), iter([]))

    globals()["Counts"], Counts.__qualname__ = Counts, "Counts"
    try:
        assert type(hp.loads(hp.dumps(Counts()))) is Counts
    finally:
        del globals()["Counts"]


def test_states_are_set_by_whatever_is_found() -> None:
    for cls in (SetByMethod, SetByCallable, SetByAttribute, SetByAnswer):
        made = cls()
        made.came = 1
        assert hp.loads(hp.dumps([made]))[0].came == ("set", 1), cls


class SetByMethod:
    came: Any

    def __getstate__(self) -> Any:
        return self.came

    def __setstate__(self, state: Any) -> None:
        self.came = ("set", state)


class Setter:
    def __get__(self, made: Any, cls: Any) -> Any:
        return lambda state: made.__dict__.update(came=("set", state))


class SetByCallable(SetByMethod):
    __setstate__: Any = Setter()


class SetByAttribute(SetByMethod):
    """What the instance has goes first, as with `getattr`."""

    def __new__(cls) -> Any:
        made = super().__new__(cls)
        made.__dict__["__setstate__"] = lambda state: made.__dict__.update(came=("set", state))
        return made

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("the instance has another")


class SetByAnswer(SetByMethod):
    def __getattribute__(self, name: str) -> Any:
        if name == "__setstate__":
            return lambda state: object.__getattribute__(self, "__dict__").update(came=("set", state))
        return object.__getattribute__(self, name)

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("`__getattribute__` has another")


def test_names_are_looked_up_once() -> None:
    looked_up = []

    class Unpickler(hp.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            looked_up.append(name)
            return super().find_class(module, name)

    for state in (None, 1, [1, [2]], {"a": int}):
        data = hp.dumps([made_by((1,), state), made_by(([],), state)])
        looked_up.clear()
        Unpickler(io.BytesIO(data)).load()
        assert sorted(looked_up) == sorted({*looked_up})
        assert "Made" in looked_up


def test_budgets_count_small_parts() -> None:
    data = holdall.dumps([made_by((number, (number, {"a": "b"}))) for number in range(100)], trust=True)
    assert len(holdall.loads(data, trust=True)) == 100
    with pytest.raises(holdall.LimitError, match="limits.objects=300"):
        holdall.loads(data, trust=True, limits=holdall.Limits(objects=300))


def test_every_end_and_every_byte(tmp_path: Any) -> None:
    data = holdall.dumps([made_by((1, ("a", {"b": ()})), {"c": 1.5}), made_by((int,), "ä")], trust=True)
    for end in range(1, len(data)):
        with pytest.raises(holdall.DecodeError):
            holdall.loads(data[:end], trust=True)


class ByTable:
    pass


def test_reducers_of_tables() -> None:
    copyreg.pickle(ByTable, lambda one: (ByTable, ()))
    try:
        assert [type(one) for one in hp.loads(hp.dumps([ByTable(), ByTable()]))] == [ByTable, ByTable]
    finally:
        del copyreg.dispatch_table[ByTable]
