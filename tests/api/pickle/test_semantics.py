"""pickle is the definition: what `holdall.pickle` restores is what pickle restores."""

from __future__ import annotations

import collections
import copyreg
import datetime
import decimal
import enum
import functools
import importlib
import io
import itertools
import operator
import pickle
import random
import re
import sys
import types
import typing
from typing import Any, Callable

import pytest

import holdall
from holdall import pickle as hp
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import with_fields


def ours(obj: Any) -> Any:
    return hp.loads(hp.dumps(obj))


def theirs(obj: Any) -> Any:
    return pickle.loads(pickle.dumps(obj, 5))


# --- classes in the shapes of CPython's own pickle tests ---
class Plain:
    def __init__(self, *args: Any) -> None:
        self.args = args


class MyInt(int):
    sample = 1


class MyList(list[Any]):
    pass


class MyDict(dict[Any, Any]):
    pass


class ArgsList(list[Any]):
    """A list whose `__new__` has arguments, and which is filled by them."""

    def __new__(cls, *items: Any) -> ArgsList:
        self = super().__new__(cls)
        self.made_of = items
        return self

    made_of: Any

    def __init__(self, *items: Any) -> None:
        super().__init__(items)

    def __getnewargs__(self) -> Any:
        return tuple(self)


class SetsOnly:
    """`__setstate__` alone: the state is the default one."""

    def __init__(self) -> None:
        self.x = [1]

    def __setstate__(self, state: Any) -> None:
        self.seen = state


class Slotted:
    __slots__ = ("a", "b")


class SlottedState(Slotted):
    __slots__ = ("__dict__", "c")

    def __getstate__(self) -> Any:
        return ({"in_dict": 1}, {"a": 2, "c": [3]})


class NoneState:
    def __getstate__(self) -> Any:
        return None

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("None is no state")


class ComplexNew:
    """`__getnewargs_ex__` wins over `__getnewargs__`."""

    got: Any

    def __new__(cls, *args: Any, **keywords: Any) -> ComplexNew:
        self = super().__new__(cls)
        self.got = (args, keywords)
        return self

    def __getnewargs__(self) -> Any:
        raise AssertionError("the other one wins")

    def __getnewargs_ex__(self) -> Any:
        return self.got


class OldNew:
    """copyreg's function by name, as classes that build their recipe by hand do."""

    def __new__(cls, value: Any) -> OldNew:
        self = super().__new__(cls)
        self.value = value
        return self

    value: Any

    def __reduce__(self) -> Any:
        return (copyreg.__newobj__, (type(self), self.value), {"more": 1})  # type: ignore[attr-defined]


class ExactState:
    """The state's keys are interned, and go past the class's `__setattr__`."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError("the state goes into __dict__")

    def __reduce__(self) -> Any:
        return (type(self), (), {"".join(["long", "name"]): 1})


class Singleton:
    def __reduce__(self) -> str:
        return "SINGLETON"


SINGLETON = Singleton()


class Meta(type):
    pass


class Metal(metaclass=Meta):
    pass


copyreg.pickle(Meta, lambda cls: getattr(cls, "__reduce__", None) and cls.__name__)  # type: ignore[arg-type, return-value]


class Shade(enum.Flag):
    DARK = 1
    LIGHT = 2


class Order(enum.IntEnum):
    FIRST = 1


class Failure(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code

    def __reduce__(self) -> Any:
        return (type(self), (self.code,))


class Queue:
    """Items by `append` alone."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def append(self, item: Any) -> None:
        self.got.append(item)

    def __reduce__(self) -> Any:
        return (type(self), (), None, iter(self.got))


class Shared:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __reduce__(self) -> Any:
        return (type(self), (self.held,), {"again": self.held})


def keyed(obj: Any, state: Any) -> None:
    obj.held = ("set", state)


class BySetter(Shared):
    def __reduce__(self) -> Any:
        return (type(self), (None,), [self.held], None, None, keyed)


def slotted(**values: Any) -> SlottedState:
    made = SlottedState()
    for name, value in values.items():
        setattr(made, name, value)
    return made


def seeded() -> random.Random:
    return random.Random(5)


SAME: dict[str, Callable[[], Any]] = {
    "plain": lambda: Plain(1, [2]),
    "int subclass": lambda: with_fields(MyInt(7), note="x"),
    "list subclass": lambda: with_fields(MyList([1, [2]]), note="x"),
    "dict subclass": lambda: with_fields(MyDict({1: 2}), note="x"),
    "list with arguments": lambda: ArgsList(1, 2),
    "setstate alone": SetsOnly,
    "slots and dict by state": slotted,
    "no state": NoneState,
    "new with keywords": lambda: ComplexNew(1, a=[2]),
    "copyreg.__newobj__": lambda: OldNew([1]),
    "state past setattr": ExactState,
    "enum": lambda: [Order.FIRST, Shade.DARK, Shade.DARK | Shade.LIGHT],
    "exception with arguments of its own": lambda: Failure(3),
    "queue": lambda: (q := Queue(), q.append(1), q.append([2]))[0],
    "shared between arguments and state": lambda: Shared([1]),
    "state by a setter": lambda: BySetter([1]),
    "partial": lambda: with_fields(functools.partial(int, "11", base=2), note=1),
    "nested partial": lambda: functools.partial(functools.partial(max, 1), 2),
    "itemgetter": lambda: operator.itemgetter(1, "a").__reduce__(),
    "ordered dict": lambda: collections.OrderedDict(b=1, a=2),
    "default dict": lambda: collections.defaultdict(Plain, a=1),
    "nested default dict": lambda: collections.defaultdict(
        functools.partial(collections.defaultdict, list), a={}
    ),
    "deque": lambda: collections.deque([1, 2], 2),
    "decimal and date": lambda: [decimal.Decimal("1.10"), datetime.date(2026, 1, 2), datetime.timezone.utc],
    "random": lambda: seeded().getstate(),
    "range, slice, complex": lambda: [range(3), slice(1, None, 2), 1 + 2j],
    "generic aliases": lambda: [list[int], dict[str, list[int]]],
    "namespace": lambda: types.SimpleNamespace(a=1, b=[2]),
    "bytearray": lambda: bytearray(b"abc"),
    # Since 3.12 with a warning, since 3.14 not at all.
    "count": lambda: itertools.count(3).__reduce__() if sys.version_info < (3, 12) else (),
    "big": lambda: [1 << 100, "x" * 70_000, b"y" * 70_000],
    "frozenset of tuples": lambda: frozenset([(1, 2), (3,)]),
}


@each("name", SAME)
def test_restores_what_pickle_restores(name: str) -> None:
    obj = SAME[name]()
    isomorphic(theirs(obj), ours(obj))
    isomorphic(theirs([obj, obj, (obj,)]), ours([obj, obj, (obj,)]))


IDENTICAL: dict[str, Any] = {
    "singleton": SINGLETON,
    "class with a metaclass in copyreg": Metal,
    "class method's function": Plain.__init__,
    "typing special form": typing.Optional,
    "typing alias": typing.List,
    "builtin": print,
    "slot wrapper": int.__add__,
    "exception": KeyError,
    "enum class": Order,
    "module function": re.compile,
}


@pytest.mark.parametrize("name", IDENTICAL)
def test_is_the_same_object(name: str) -> None:
    obj = IDENTICAL[name]
    assert theirs(obj) is obj
    assert ours(obj) is obj
    assert all(one is obj for one in ours([obj, obj]))


def test_a_class_without_a_name_in_its_module() -> None:
    for module in (pickle, hp):
        with pytest.raises(pickle.PicklingError):
            module.dumps(types.FunctionType)


def test_typing_constructs() -> None:
    # Objects of `typing` are meant, not what is written for them today.
    for obj in (typing.List[int], typing.Union[int, str], typing.Callable[[int], str], int | str):  # noqa: UP007
        assert ours(obj) == theirs(obj) == obj


def test_generators_continue_as_pickles_do() -> None:
    rng = seeded()
    rng.random()
    one, two = ours(rng), theirs(rng)
    assert [one.random() for _ in range(3)] == [two.random() for _ in range(3)]


def test_state_keys_are_interned() -> None:
    (name,) = vars(ours(ExactState()))
    assert name is sys.intern("longname")


def test_bound_methods_keep_their_object() -> None:
    owner = Plain(1)
    owner.call = owner.__init__  # type: ignore[misc, method-assign]
    for restore in (ours, theirs):
        back = restore(owner)
        assert back.call.__self__ is back


def test_cycles_through_states_and_items() -> None:
    plain = SetsOnly()
    plain.x.append(plain)  # type: ignore[arg-type]
    queue = Queue()
    queue.append([queue])
    shared = BySetter(None)
    shared.held = shared
    for restore in (ours, theirs):
        assert (back := restore(plain)).seen["x"][1] is back
        assert (back := restore(queue)).got[0][0] is back
        assert (back := restore(shared)).held[1][0] is back


def test_what_is_called_sees_its_arguments_whole() -> None:
    """Keys of which some field is still to come are set at the end of the load; a call does not wait so long."""
    node = Plain()
    node.args = (Counted({node: 1, "x": 2}),)
    for restore in (ours, theirs):
        back = restore(node)
        assert back.args[0].count == 2
        assert back in back.args[0].held


class Counted:
    def __init__(self, held: dict[Any, Any]) -> None:
        self.held, self.count = held, len(held)

    def __reduce__(self) -> Any:
        return (type(self), (self.held,))


def test_an_object_among_its_own_arguments() -> None:
    """It is stored again there, until something on the way is known; one object comes of it."""
    through_list = Shared(None)
    through_list.held = [through_list]
    through_tuple = Shared(None)
    through_tuple.held = ([through_tuple], 1)
    through_both = Shared(Shared([]))
    through_both.held.held.append(through_both)
    for obj in (through_list, through_tuple, through_both):
        isomorphic(theirs(obj), ours(obj))
        isomorphic(theirs([[obj], obj]), ours([[obj], obj]))
    back = ours(through_list)
    assert back.held[0] is back


def test_an_object_among_its_own_arguments_without_end() -> None:
    # Nobody but its parent knew it before its own code named it.
    with pytest.raises(pickle.PicklingError, match="hold the object itself"):
        hp.dumps([OwnArgument()])


class OwnArgument:
    def __reduce__(self) -> Any:
        return (Plain, (self,))


class OwnState:
    def __getstate__(self) -> Any:
        return {"me": self}


def test_a_cycle_that_only_its_own_code_makes() -> None:
    for restore in (ours, theirs):
        (back,) = restore([OwnState()])
        assert back.me is back


class Link:
    def __init__(self) -> None:
        self.next: Any = None

    def __getstate__(self) -> Any:
        return {"next": self.next}


class Wrapped:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __reduce__(self) -> Any:
        return (type(self), (self.inner,))


def test_a_hundred_thousand_deep() -> None:
    """Through states and through arguments: pickle recurses, we don't."""
    first = last = Link()
    for _ in range(100_000):
        last.next = Link()
        last = last.next
    back, length = ours(first), 0
    while back is not None:
        back, length = back.next, length + 1
    assert length == 100_001
    nested: Any = None
    for _ in range(100_000):
        nested = Wrapped(nested)
    back, length = ours(nested), 0
    while back is not None:
        back, length = back.inner, length + 1
    assert length == 100_000


# --- hooks ---
class TheirTagged(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return ("id", str(obj)) if isinstance(obj, int) and not isinstance(obj, bool) else None


class TheirUntagged(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        return int(pid[1]) + 1000


class OurTagged(hp.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return ("id", str(obj)) if isinstance(obj, int) and not isinstance(obj, bool) else None


ASKED: dict[str, Any] = {
    "root": 5,
    "packed ints": [1, 2, 3, 4, 5, 6],
    "tuple": (1, "a", (2,)),
    "keys and values": {1: 2, "a": 3},
    "set": {7},
    "frozenset": frozenset([8]),
    "fields": Plain(1, 2),
    "slots": (lambda s: (setattr(s, "a", 1), s)[1])(Slotted()),
    "deque": collections.deque([1, 2]),
    "list subclass": MyList([1]),
    "arguments and state": Shared(1),
    "queue": (lambda q: (q.append(1), q)[1])(Queue()),
    "shared": (lambda one: [one, one])([1]),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_value_is_asked_about(name: str) -> None:
    file, other = io.BytesIO(), io.BytesIO()
    OurTagged(file).dump(ASKED[name])
    TheirTagged(other, 5).dump(ASKED[name])
    file.seek(0)
    other.seek(0)

    class Ours(hp.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            return int(pid[1]) + 1000

    isomorphic(TheirUntagged(other).load(), Ours(file).load())


def test_an_id_that_holds_values_that_are_asked_about() -> None:
    file = io.BytesIO()

    class Once(hp.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return [str(obj)] if isinstance(obj, int) else None

    class Back(hp.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            return pid

    Once(file).dump([1, {"a": 2}])
    file.seek(0)
    assert Back(file).load() == [["1"], {"a": ["2"]}]


class Overridden(hp.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if obj is Plain:
            return (getattr, (Shared, "__name__"))
        if isinstance(obj, Shared):
            return "SINGLETON" if obj.held is None else (list, ((obj.held,),))
        return NotImplemented


def test_reducer_override_comes_before_all_else() -> None:
    file = io.BytesIO()
    Overridden(file).dump([Plain, Shared(1), Singleton])
    file.seek(0)
    name, plain, single = hp.load(file)
    assert (name, plain, single) == ("Shared", [1], Singleton)
    with pytest.raises(pickle.PicklingError, match="SINGLETON"):
        Overridden(io.BytesIO()).dump(Shared(None))


def test_a_dispatch_table_replaces_copyregs() -> None:
    pickler = hp.Pickler(file := io.BytesIO())
    pickler.dispatch_table = {decimal.Decimal: lambda obj: (str, (str(obj),))}
    pickler.dump([decimal.Decimal(1), re.compile("a")])
    file.seek(0)
    assert hp.load(file) == ["1", re.compile("a")]


# --- the rest of the native interface ---
def test_a_hook_for_what_even_trust_cannot_store() -> None:
    replacement = ["in its place"]
    data = holdall.dumps([sys, sys, replacement], trust=True, enc_hook=lambda obj: replacement)
    back = holdall.loads(data, trust=True)
    assert back == [replacement] * 3
    assert back[0] is back[1] is back[2]
    with pytest.raises(holdall.EncodeError, match="module"):
        holdall.dumps([sys], trust=True, enc_hook=lambda obj: obj)


@pytest.mark.parametrize(
    "replacement",
    ["text" * 20, 5, None, [1, 2], (), {"a": 1}, Plain(1)],
    ids=lambda value: type(value).__name__,
)
def test_hooks_of_ordinary_messages(replacement: Any) -> None:
    for graph in (sys, [sys, sys], [replacement, sys, sys], [sys, replacement, [sys]]):
        back = holdall.loads(holdall.dumps(graph, enc_hook=lambda obj: replacement), types=Plain)
        expected = theirs(
            replacement
            if graph is sys
            else [[replacement] if type(x) is list and x == [sys] else replacement for x in graph]
        )
        assert repr(back).split(" at ")[0] == repr(expected).split(" at ")[0]


def test_canonical_form_of_recipes() -> None:
    def graph() -> Any:
        held = [1, "a" * 5]
        return [Shared(held), held, {len, print}, Queue, OwnState()]

    data = holdall.dumps(graph(), trust=True, canonical=True)
    assert data == holdall.dumps(graph(), trust=True, canonical=True)
    back = holdall.loads(data, trust=True)
    assert back[0].held is back[0].again is back[1]
    assert back[2] == {len, print}
    assert back[4].me is back[4]


def test_missing_names_are_named() -> None:
    def message(module: str, name: str) -> bytes:
        data = holdall.dumps(theirs, trust=True)
        # The longest names are of this module; shorter ones fit with their own tags.
        old = bytes([0x40 + len(__name__)]) + __name__.encode() + bytes([0x40 + len("theirs")]) + b"theirs"
        marked = old.replace(bytes([0x40 + len("theirs")]), b"\xc0" + bytes([0x40 + len("theirs")]))
        new = bytes([0x40 + len(module)]) + module.encode() + bytes([0x40 + len(name)]) + name.encode()
        for found in (old, marked, b"\xc0" + old):
            if found in data:
                return data.replace(found, new)
        start = data.index(bytes([0x40 + len(__name__)]) + __name__.encode())
        return data[: start - (data[start - 1] == 0xC0)] + new

    for module, name, expected in [
        ("no_such_module", "x", "no_such_module"),
        ("collections", "no_such_name", "collections.*no_such_name"),
        ("collections.no_such", "x", "collections.no_such"),
        ("os", "path.no_such", "path.no_such"),
        ("", "x", "no name"),
    ]:
        with pytest.raises(holdall.DecodeError, match=expected):
            holdall.loads(message(module, name), trust=True)
    assert holdall.loads(message("os", "path.join"), trust=True) is __import__("os").path.join


def test_classes_of_layouts_are_imported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_module.py").write_text("class Outer:\n    class Inner:\n        pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__("late_module")
    data = holdall.dumps([module.Outer.Inner()], trust=True)
    ordinary = holdall.dumps([module.Outer.Inner()])
    sys.modules.pop("late_module")
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(ordinary, trust=True)
    assert "late_module" not in sys.modules
    (back,) = holdall.loads(data, trust=True)
    assert type(back).__qualname__ == "Outer.Inner"
    sys.modules.pop("late_module")
    (tmp_path / "late_module.py").unlink()
    with pytest.raises(holdall.UnknownTypeError, match="late_module") as caught:
        holdall.loads(data, trust=True)
    assert caught.value.type_name == "late_module.Outer.Inner"


def test_the_twin_of_datetime_in_python(monkeypatch):
    """Classes of the names of C's, which `datetime` has where C's are missing: nothing of them is where C keeps it."""
    monkeypatch.setitem(sys.modules, "_datetime", None)
    monkeypatch.delitem(sys.modules, "datetime")
    twin = importlib.import_module("datetime")
    assert twin.datetime is not datetime.datetime
    zone = twin.timezone(twin.timedelta(hours=1), "one")
    values = [
        twin.datetime(2003, 2, 7, 16, 48, 37, 444116, zone), twin.date(2003, 2, 7), twin.time(16, 48, fold=1),
        twin.timedelta(1, 2, 3), zone,
    ]  # fmt: skip
    loaded = hp.loads(hp.dumps(values))
    assert loaded == values
    assert [type(value) for value in loaded] == [type(value) for value in values]
    assert loaded[2].fold == 1
    assert holdall.deepcopy(values) == values
