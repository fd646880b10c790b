"""Trusted messages: what pickle can, with pickle's meaning; and that nothing of it works without trust."""

from __future__ import annotations

import collections
import copy
import copyreg
import functools
import io
import itertools
import operator
import pickle
import sys
import threading
from typing import Any, Callable

import pytest

import holdall
from tests.support import models, models_trusted
from tests.support import models_trusted as m
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import with_fields


def trusted(obj: Any) -> Any:
    return holdall.loads(holdall.dumps(obj, trust=True), trust=True)


BY_REFERENCE: dict[str, Any] = {
    "class": models.DPoint,
    "nested class": models.Outer.Inner,
    "builtin class": dict,
    "stdlib class": collections.OrderedDict,
    "class with a metaclass": m.WithMeta,
    "function": m.plain_function,
    "builtin function": len,
    "stdlib function": functools.reduce,
    "static method": m.Built.static,
    "unbound method": m.Built.method,
    "method descriptor": str.upper,
    "type of none": type(None),
    "type of ellipsis": type(...),
    "type of not implemented": type(NotImplemented),
}


@pytest.mark.parametrize("name", BY_REFERENCE)
def test_by_reference(name: str) -> None:
    obj = BY_REFERENCE[name]
    assert trusted(obj) is obj
    back = trusted([obj, {"k": obj}, (obj,)])
    assert back == [obj, {"k": obj}, (obj,)]


OBJECTS: dict[str, Callable[[], Any]] = {
    "bound method": lambda: m.Built(1).method,
    "class method": lambda: m.Built.make,
    "builtin bound method": lambda: [1, 2].append,
    "reduce of 2": lambda: m.Reduce2(1, [2]),
    "reduce of 3": lambda: m.Reduce3(1, [2]),
    "reduce of 3, slots": lambda: m.Reduce3Slots(1),
    "reduce of 4": lambda: m.Reduce4([1, [2]]),
    "reduce of 5": lambda: m.Reduce5({"a": 1, (2,): [3]}),
    "reduce of 6": lambda: m.Reduce6(1),
    "reduce with append": lambda: (x := m.ReduceAppend(), x.extend([1, [2]]))[0],
    "get state": lambda: m.GetState([1]),
    "newargs": lambda: m.NewArgs([1]),
    "newargs ex": lambda: m.NewArgsEx(x=[1]),
    "copyreg": lambda: m.ByCopyreg([1]),
    "partial": lambda: with_fields(functools.partial(m.plain_function, 1, key=[2]), note=3),
    "default dict": lambda: collections.defaultdict(m.plain_function, a=1),
    "generic alias": lambda: list[int],
}


def expected(obj: Any) -> Any:
    """pickle is the definition of what comes back."""
    return pickle.loads(pickle.dumps(obj, 5))


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name: str) -> None:
    obj = OBJECTS[name]()
    if name == "get state":
        back = trusted([obj, obj])
        assert back[0] is back[1] and back[0].value == [1] and back[0].cache == "restored"
        return
    isomorphic(expected(obj), trusted(obj))
    isomorphic(expected([obj, {"k": obj}, [obj]]), trusted([obj, {"k": obj}, [obj]]))


def test_iterators() -> None:
    for make in (
        lambda: iter([1, 2, 3]),
        lambda: operator.itemgetter(1, 2),
        lambda: operator.attrgetter("a.b"),
        lambda: enumerate("abc"),
    ):
        obj = make()
        assert type(trusted(obj)) is type(obj)
    if sys.version_info < (3, 12):
        assert next(trusted(itertools.count(5))) == 5
    elif sys.version_info >= (3, 14):
        with pytest.raises(holdall.EncodeError, match="can't store a `itertools.count`: cannot pickle"):
            trusted(itertools.count(5))
    assert trusted(operator.itemgetter(1))("abc") == "b"


def test_a_name_of_a_global() -> None:
    assert trusted(m.THE_ONE) is m.THE_ONE
    assert trusted([m.THE_ONE, m.THE_ONE]) == [m.THE_ONE, m.THE_ONE]


@pytest.mark.parametrize("state", [0, "", [], {}, (), False, None, [1], {"a": 1}], ids=repr)
def test_states(state: Any) -> None:
    obj = m.FalseState(state)
    isomorphic(expected(obj), trusted(obj))


def test_cycles_through_the_state() -> None:
    obj = m.GetState([])
    obj.value.append(obj)
    back = trusted(obj)
    assert back.value[0] is back
    third = m.Reduce3([])
    third.args[0].append(third)
    # the object is met again inside its own arguments: one object must come of it, as in pickle
    isomorphic(expected(third), trusted(third))


def test_cycle_through_items() -> None:
    obj = m.Reduce4()
    obj.append(obj)
    back = trusted(obj)
    assert back[0] is back
    table = m.Reduce5()
    table["me"] = table
    back = trusted(table)
    assert back["me"] is back


def test_reducers_see_the_protocol() -> None:
    assert trusted(m.Reduce3(1)).protocol in (4, 5)


def test_ordinary_objects_are_stored_alike() -> None:
    """Trust adds, it doesn't change what needs none."""
    graph = [models.DPoint(1, [2]), {"a": (1, "x1")}, {1, 2}, models.Color.RED]
    isomorphic(graph, holdall.loads(holdall.dumps(graph, trust=True), trust=True, types=models))


def test_trusted_messages_permit_every_class() -> None:
    """Who trusts the message lets it import: its classes need no `types=`."""
    isomorphic(models.DPoint(1, 2), trusted(models.DPoint(1, 2)))


# --- refusals --------------------------------------------------------------------------------------------------------
NEEDS_TRUST = {**OBJECTS, **{name: (lambda obj=obj: obj) for name, obj in BY_REFERENCE.items()}}


@each("name", NEEDS_TRUST)
def test_untrusted_dumps_says_what_to_do(name: str) -> None:
    obj = NEEDS_TRUST[name]()
    for graph in (obj, [obj], {"k": (obj,)}, models.DPoint(obj)):
        with pytest.raises(holdall.EncodeError) as caught:
            holdall.dumps(graph)
        assert "register" in str(caught.value) and "trust=True" in str(caught.value)


def test_untrusted_dumps_names_the_class() -> None:
    for obj, name in ((m.GetState(1), "GetState"), (m.Reduce2(1), "Reduce2"), (m.ByCopyreg(1), "ByCopyreg")):
        with pytest.raises(holdall.EncodeError, match=name):
            holdall.dumps([obj])


@pytest.mark.parametrize("name", ["class", "function", "bound method", "reduce of 2", "get state"])
def test_loads_refuses_trusted_messages(name: str) -> None:
    data = holdall.dumps(NEEDS_TRUST[name](), trust=True)
    for permit in ((), [models, models_trusted], holdall.Record):
        with pytest.raises(holdall.DecodeError, match="trust=True") as caught:
            holdall.loads(data, types=permit)
        assert caught.value.offset == 0
    with pytest.raises(holdall.DecodeError, match="trust=True"):
        holdall.Decoder().decode(data)
    file = io.BytesIO()
    holdall.dump(NEEDS_TRUST[name](), file, trust=True)
    file.seek(0)
    with pytest.raises(holdall.DecodeError, match="trust=True"):
        holdall.load(file)


def test_refused_before_the_body_is_read() -> None:
    """The first byte decides: nothing behind it is looked at."""
    first = holdall.dumps(1, trust=True)[:1]
    for body in (b"", b"\xff" * 10, holdall.dumps(len, trust=True)[1:], bytes(range(256))):
        with pytest.raises(holdall.DecodeError, match="trust=True"):
            holdall.loads(first + body)


def test_trusted_tags_have_no_meaning_in_ordinary_messages() -> None:
    """The body of every trusted message behind an ordinary first byte: nothing is imported, called or built."""
    ordinary = holdall.dumps(1)[:1]
    for make in NEEDS_TRUST.values():
        data = holdall.dumps(make(), trust=True)
        with pytest.raises(holdall.DecodeError):
            holdall.loads(ordinary + data[1:], types=[models, models_trusted])
        with pytest.raises(holdall.DecodeError):
            holdall.loads(ordinary + data[1:], types=[models, models_trusted], trust=True)


# --- errors ----------------------------------------------------------------------------------------------------------
def local_function() -> Any:
    return lambda x: x


UNSTORABLE: dict[str, Callable[[], Any]] = {
    "local function": local_function,
    "generator": lambda: (x for x in ()),
    "lock": threading.Lock,
    "frame": sys._getframe,
    "module": lambda: sys,
}


@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_even_trust_cannot_store(name: str) -> None:
    with pytest.raises(holdall.EncodeError):
        holdall.dumps([UNSTORABLE[name]()], trust=True)


def test_errors_of_reducers_come_through() -> None:
    with pytest.raises((ZeroDivisionError, holdall.EncodeError)) as caught:
        holdall.dumps([m.Raises()], trust=True)
    assert "__reduce__" in str(caught.value) or isinstance(caught.value.__cause__, ZeroDivisionError)
    data = holdall.dumps([m.RaisesOnLoad()], trust=True)
    with pytest.raises((ValueError, holdall.DecodeError)):
        holdall.loads(data, trust=True)


class BadReduce:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        return self.value


BAD_REDUCTIONS: list[Any] = [
    None,
    5,
    "no such global",
    (),
    (int,),
    (1, ()),
    (int, 5),
    (int, [], None),
    (int, (), None, 5),
    (int, (), None, None, 5),
    (int, (), None, None, None, 5),
    (int, (), None, None, None, None, None),
    (int, (), None, None, iter([5])),
]


@pytest.mark.parametrize("value", BAD_REDUCTIONS, ids=range(len(BAD_REDUCTIONS)))
def test_reductions_of_the_wrong_shape(value: Any) -> None:
    with pytest.raises(holdall.EncodeError):
        holdall.dumps(BadReduce(value), trust=True)


def test_a_function_that_is_no_longer_itself() -> None:
    """A name that leads to another object is refused, as pickle does."""
    copied = copy.copy(m.plain_function)
    other = type(m.plain_function)(copied.__code__, {}, "plain_function")
    other.__module__, other.__qualname__ = m.__name__, "plain_function"
    with pytest.raises(holdall.EncodeError, match="plain_function"):
        holdall.dumps(other, trust=True)


def test_copyreg_registered_later() -> None:
    class Late:
        pass

    Late.__module__, Late.__qualname__ = __name__, "Late"
    globals()["Late"] = Late
    try:
        holdall.dumps(Late(), trust=True)
        copyreg.pickle(Late, lambda obj: (int, ("7",)))
        assert trusted(Late()) == 7
    finally:
        copyreg.dispatch_table.pop(Late, None)
        del globals()["Late"]


def test_every_prefix_fails_cleanly() -> None:
    for make in OBJECTS.values():
        data = holdall.dumps(make(), trust=True)
        for end in range(len(data)):
            with pytest.raises(holdall.DecodeError):
                holdall.loads(data[:end], trust=True)


class OwnRecipe:
    def __reduce_ex__(self, protocol: Any) -> Any:
        return copyreg.__newobj__, (type(self),)  # type: ignore[attr-defined]


class Remade(type):
    """Its classes name no module: a recipe in copyreg's table makes them."""


def remake(name: str) -> Remade:
    return Remade(name, (OwnRecipe,), {"__module__": None})


def test_an_instance_whose_class_has_a_recipe_and_no_module() -> None:
    copyreg.pickle(Remade, lambda cls: (remake, (cls.__name__,)))  # type: ignore[arg-type, return-value]
    try:
        again = holdall.loads(holdall.dumps(remake("Found")(), trust=True), trust=True)
    finally:
        copyreg.dispatch_table.pop(Remade)
    assert type(type(again)) is Remade and type(again).__name__ == "Found"
    assert isinstance(again, OwnRecipe)


def test_a_class_without_a_module_is_named_in_errors() -> None:
    with pytest.raises(holdall.EncodeError, match="can't store a `__main__.Nameless`"):
        holdall.dumps(remake("Nameless")())
