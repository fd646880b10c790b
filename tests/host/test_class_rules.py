"""Classes that nobody chose: random bases, slots, methods of every kind, hidden state, weak references.

What pickle restores, `holdall.pickle` restores; what `copy.deepcopy` copies, `holdall.deepcopy` copies; and an ordinary
message gives back the graph as it was, or `dumps` refuses it.
"""

from __future__ import annotations

import collections
import copy
import datetime
import functools
import pickle
import sys
import types
import uuid
import weakref
from typing import Any, Callable

import pytest

import holdall
from holdall import pickle as hp

pytest.importorskip("hypothesis")

import contextlib

from hypothesis import HealthCheck, assume, given, note
from hypothesis import strategies as st

from tests.support.extent import examples

# Where pickle finds the classes by name. Each example has its own.
HOME = types.ModuleType("tests.made_classes")
sys.modules[HOME.__name__] = HOME

BASES: dict[str, tuple[type, Callable[[Any], tuple[Any, ...]]]] = {
    "object": (object, lambda cls: ()),
    "list": (list, lambda cls: ([1, "two"],)),
    "dict": (dict, lambda cls: ({"k": 1, 2: "v"},)),
    "set": (set, lambda cls: ({1, 2},)),
    "frozenset": (frozenset, lambda cls: ({3, 4},)),
    "tuple": (tuple, lambda cls: ((1, 2),)),
    "str": (str, lambda cls: ("text",)),
    "bytes": (bytes, lambda cls: (b"bytes",)),
    "bytearray": (bytearray, lambda cls: (b"array",)),
    "int": (int, lambda cls: (7,)),
    "float": (float, lambda cls: (1.5,)),
    "complex": (complex, lambda cls: (1j,)),
    "OrderedDict": (collections.OrderedDict, lambda cls: ({"o": 1},)),
    "defaultdict": (collections.defaultdict, lambda cls: (int, {"d": 1})),
    "deque": (collections.deque, lambda cls: ([1, 2], 5)),
    "Counter": (collections.Counter, lambda cls: ("aab",)),
    "SimpleNamespace": (types.SimpleNamespace, lambda cls: ()),
    "Exception": (Exception, lambda cls: ("why", 1)),
    "OSError": (OSError, lambda cls: (2, "no such")),
    "date": (datetime.date, lambda cls: (2020, 1, 2)),
    "UUID": (uuid.UUID, lambda cls: ("12345678123456781234567812345678",)),
}


def stored_class(name: str) -> type:
    return getattr(HOME, name)


def make_by_name(name: str) -> Any:
    """An instance without any of its class's own code."""
    cls = stored_class(name)
    base, args = BASES[cls.made_of]  # type: ignore[attr-defined]
    obj = base.__new__(cls, *args(cls)) if cls.made_of != "object" else object.__new__(cls)  # type: ignore[attr-defined]
    if cls.made_of in (
        "list",
        "dict",
        "set",
        "bytearray",
        "OrderedDict",
        "defaultdict",
        "deque",
        "Counter",
        "UUID",
    ):  # type: ignore[attr-defined]
        base.__init__(obj, *args(cls))
    return obj


def fields(obj: Any) -> dict[str, Any]:
    """All attributes of an instance, past whatever its class does."""
    cls = type(obj)
    found = {}
    for name in ("s1", "s2"):
        for owner in cls.__mro__:
            if isinstance(owner.__dict__.get(name), types.MemberDescriptorType):
                with_value = slot_value(owner.__dict__[name], obj)
                if with_value is not MISSING:
                    found[name] = with_value
    with contextlib.suppress(AttributeError):
        found.update(object.__getattribute__(obj, "__dict__"))
    return found


MISSING = object()


def slot_value(slot: Any, obj: Any) -> Any:
    try:
        return slot.__get__(obj)
    except AttributeError:
        return MISSING


def put(obj: Any, name: str, value: Any) -> None:
    try:
        object.__setattr__(obj, name, value)
    except (AttributeError, TypeError):
        obj.__dict__[name] = value


# --- methods of a class's own, each with what pickle makes of it ---
def state_of(self: Any, *_: Any) -> Any:
    kept = {name: value for name, value in fields(self).items() if name not in ("hidden", "weak")}
    target = fields(self).get("weak")
    return {**kept, "parent": target() if target is not None else None}


def take_state(self: Any, state: Any) -> None:
    for name, value in state.items():
        if name != "parent":
            put(self, name, value)
    put(self, "restored", True)
    if state["parent"] is not None:
        put(self, "up", state["parent"])


def state_with_itself(self: Any, *_: Any) -> Any:
    return (self, dict(fields(self), weak=None), [fields(self).get("a")])


def take_itself(self: Any, state: Any) -> None:
    put(self, "itself", state[0] is self)
    for name, value in state[1].items():
        if name != "weak":
            put(self, name, value)
    put(self, "first", state[2])


def reduce_with_state(self: Any, *_: Any) -> Any:
    return (
        make_by_name,
        (type(self).__name__,),
        {"shown": fields(self).get("a"), "again": [fields(self).get("a")]},
    )


def reduce_to_value(self: Any, *_: Any) -> Any:
    return list, ([fields(self).get("a"), 5],)


def reduce_by_args(self: Any, *_: Any) -> Any:
    return holder_of, (fields(self).get("a"), [fields(self).get("b")])


def holder_of(*held: Any) -> Any:
    return list(held)


def reduce_without_self(*_: Any) -> Any:
    return list, ((1, 2),)


WAYS: dict[str, dict[str, Any]] = {
    "none": {},
    "state": {"__getstate__": state_of, "__setstate__": take_state},
    "state by partialmethod": {
        "_state": lambda self, mark: {**state_of(self), "mark": mark},
        "__getstate__": "partialmethod",
        "__setstate__": take_state,
    },
    "state by lru_cache": {
        "__getstate__": "lru_cache",
        "__setstate__": take_state,
        "__hash__": object.__hash__,
    },
    "state with itself": {"__getstate__": state_with_itself, "__setstate__": take_itself},
    "only setstate": {"__setstate__": lambda self, state: put(self, "given", state)},
    "no state": {"__getstate__": lambda self: None},
    "false state": {"__getstate__": lambda self: 0, "__setstate__": take_state},
    "reduce": {"__reduce__": reduce_with_state},
    "reduce_ex": {"__reduce_ex__": reduce_with_state},
    "to a value": {"__reduce__": reduce_to_value},
    "by arguments": {"__reduce_ex__": reduce_by_args},
    "static reduce": {"__reduce__": staticmethod(reduce_without_self)},
    "callable reduce": {"__reduce_ex__": functools.partial(reduce_without_self)},
    "property": {"__reduce_ex__": property(lambda self: lambda protocol: reduce_with_state(self))},
    "getattribute": {
        "__getattribute__": lambda self, name: (
            (lambda protocol: reduce_with_state(self))
            if name == "__reduce_ex__"
            else object.__getattribute__(self, name)
        )
    },
    "getattr": {"__getattr__": lambda self, name: (_ for _ in ()).throw(AttributeError(name))},
}
# The first three can have none; of the others' slots pickle keeps nothing.
NO_SLOTS = ("tuple", "bytes", "int", "SimpleNamespace", "Exception", "OSError")
NEWS = ["none", "singleton", "needs an argument", "takes anything"]


def make_class(name: str, base: str, slots: str, way: str, new: str) -> type:
    body: dict[str, Any] = {
        "__module__": HOME.__name__,
        "__qualname__": name,
        "made_of": base,
        "way": way,
        "new": new,
    }
    if slots == "slots" and base not in NO_SLOTS:
        body["__slots__"] = ("s1", "s2")
    elif slots == "both" and base == "object":
        body["__slots__"] = ("s1", "__dict__", "__weakref__")
    if base == "UUID" and "state" in way:
        body["way"] = way = "none"  # without its number it is no UUID any more
    body.update(WAYS[way])
    if body.get("__getstate__") == "partialmethod":
        body["__getstate__"] = functools.partialmethod(body["_state"], 9)
    elif body.get("__getstate__") == "lru_cache":
        body["__getstate__"] = functools.lru_cache(maxsize=None)(state_of)
    builtin = BASES[base][0]
    if new == "singleton" and base == "object":

        def only(cls: Any) -> Any:
            if "one" not in cls.__dict__:
                cls.one = object.__new__(cls)
            return cls.__dict__["one"]

        body["__new__"] = only
    elif new == "needs an argument" and base == "object":
        body["__new__"] = lambda cls, needed: object.__new__(cls)
    elif new == "takes anything" and base in ("object", "str", "int", "list"):

        def anything(cls: Any, *args: Any) -> Any:
            obj = builtin.__new__(cls, *args) if builtin is not object else object.__new__(cls)
            put_quietly(obj, "from_new", len(args))
            return obj

        body["__new__"] = anything
    made = type(name, (builtin,) if builtin is not object else (), body)
    setattr(HOME, name, made)
    return made


def put_quietly(obj: Any, name: str, value: Any) -> None:
    with contextlib.suppress(AttributeError):
        put(obj, name, value)


# Of their subclasses' instances pickle keeps no attributes; we keep them where we can.
LOSE_ATTRIBUTES = ("UUID", "date", "defaultdict", "Counter")


def describe(root: Any) -> list[Any]:
    """A graph as a flat list: types, contents, attributes, and which objects are one."""
    seen: dict[int, int] = {}
    held: list[Any] = []
    told: list[Any] = []

    def tell(obj: Any) -> Any:
        cls = type(obj)
        if (
            obj is None
            or cls in (bool, int, float, str, bytes, complex)
            or isinstance(obj, type | types.FunctionType)
        ):
            return (cls.__name__, repr(obj))
        if id(obj) in seen:
            return ("again", seen[id(obj)])
        number = seen[id(obj)] = len(told)
        held.append(obj)
        told.append(None)
        parts: list[Any] = [cls.__name__]
        if isinstance(obj, weakref.ref):
            told[number] = ["weak"]  # to what it leads is not the copy's own
            return ("object", number)
        if isinstance(obj, dict):
            items = list(
                collections.OrderedDict.items(obj)
                if isinstance(obj, collections.OrderedDict)
                else dict.items(obj)
            )
            parts.append([(tell(key), tell(value)) for key, value in items])
            if isinstance(obj, collections.defaultdict):
                parts.append(tell(obj.default_factory))
        elif isinstance(obj, (list, tuple, collections.deque)):
            parts.append([tell(item) for item in tuple(obj)])
            parts.append(getattr(obj, "maxlen", None))
        elif isinstance(obj, (set, frozenset)):
            parts.append(sorted(map(repr, set(obj))))
        elif isinstance(obj, BaseException):
            parts.append([tell(item) for item in obj.args])
        elif isinstance(obj, (str, bytes, bytearray, int, float, complex, datetime.date, uuid.UUID)):
            builtin = BASES[cls.made_of][0] if hasattr(cls, "made_of") else cls
            parts.append(builtin.__repr__(obj) if builtin is not uuid.UUID else getattr(obj, "int", None))
        if hasattr(cls, "made_of") and cls.made_of not in LOSE_ATTRIBUTES:
            parts.append([(tell(name), tell(value)) for name, value in sorted(fields(obj).items(), key=repr)])
        told[number] = parts
        return ("object", number)

    told.append(tell(root))
    return told


@st.composite
def graphs(draw: Any) -> Any:
    for name in [name for name in vars(HOME) if name.startswith("C")]:
        delattr(HOME, name)
    classes = [
        make_class(
            f"C{at}",
            draw(st.sampled_from(["object", "object", *BASES])),
            draw(st.sampled_from(["dict", "slots", "both"])),
            draw(st.sampled_from(["none", *WAYS])),
            draw(st.sampled_from(["none", "none", *NEWS])),
        )
        for at in range(draw(st.integers(1, 3)))
    ]
    for cls in classes:
        note(f"{cls.__name__}: {cls.made_of}, {cls.__dict__.get('__slots__')}, {cls.way}, new: {cls.new}")
    objects: list[Any] = [[], {}]
    for at in range(draw(st.integers(1, 6))):
        obj = make_by_name(draw(st.sampled_from(classes)).__name__)
        for name in draw(st.lists(st.sampled_from(["a", "b", "s1", "hidden"]), unique=True)):
            plain = st.just([at]) | st.just("text")
            # What pickle drops is not asked for its state either.
            keeps = type(obj).made_of not in LOSE_ATTRIBUTES
            value = draw(st.sampled_from(objects) | plain if keeps else plain)
            try:
                put(obj, name, value)
            except AttributeError:
                continue
        if draw(st.booleans()) and type(obj).made_of not in LOSE_ATTRIBUTES:
            with contextlib.suppress(TypeError, AttributeError):
                put(obj, "weak", weakref.ref(draw(st.sampled_from(list(objects[2:]) or [obj]))))
        objects.append(obj)
        if draw(st.booleans()):
            objects[0].append(obj)
        if draw(st.booleans()):
            objects[1][f"k{at}"] = [obj]
    return draw(
        st.sampled_from([objects, objects[2:], objects[0], objects[-1:], [objects[1], objects[-1]]])
    ), classes


def leads_to_itself(obj: Any) -> bool:
    """Whether an object is reached from its own attributes."""
    waiting, seen = list(fields(obj).values()), set()
    while waiting:
        found = waiting.pop()
        if found is obj:
            return True
        if id(found) in seen or isinstance(found, weakref.ref):
            continue
        seen.add(id(found))
        if isinstance(found, dict):
            waiting += list(found.values())
        elif isinstance(found, (list, tuple, collections.deque)):
            waiting += list(found)
        if hasattr(type(found), "made_of"):
            waiting += list(fields(found).values())
    return False


def instances(graph: Any) -> list[Any]:
    found, waiting = {}, [graph]
    while waiting:
        obj = waiting.pop()
        if id(obj) in found or type(obj) in (str, int, weakref.ref):
            continue
        found[id(obj)] = obj
        if type(obj) is dict:
            waiting += obj.values()
        elif type(obj) is list:
            waiting += obj
        elif hasattr(type(obj), "made_of"):
            waiting += fields(obj).values()
    return [obj for obj in found.values() if hasattr(type(obj), "made_of")]


def is_made_of_itself(graph: Any) -> bool:
    """Whether some object is an argument of its own recipe: `pickle` and `copy` make several, or go on for ever."""
    return any(
        type(obj).way in ("to a value", "by arguments") and leads_to_itself(obj) for obj in instances(graph)
    )


def tried(what: Callable[[Any], Any], graph: Any) -> tuple[Any, Exception | None]:
    try:
        return what(graph), None
    except Exception as error:
        return None, error


FEW = examples(100, suppress_health_check=list(HealthCheck))


@FEW
@given(graphs())
def test_pickle_names_restore_what_pickle_restores(made: Any) -> None:
    graph, _ = made
    assume(not is_made_of_itself(graph))
    theirs, failed = tried(lambda obj: pickle.loads(pickle.dumps(obj, 5)), graph)
    told = describe(theirs)  # before another load changes a singleton
    ours, error = tried(lambda obj: hp.loads(hp.dumps(obj)), graph)
    if failed is None:
        assert error is None, error
        assert describe(ours) == told


@FEW
@given(graphs())
def test_deepcopy_copies_what_copy_copies(made: Any) -> None:
    graph, _ = made
    assume(not is_made_of_itself(graph))
    theirs, failed = tried(copy.deepcopy, graph)
    told = describe(theirs)
    ours, error = tried(holdall.deepcopy, graph)
    if failed is None:
        assert error is None, error
        assert describe(ours) == told


@FEW
@given(graphs())
def test_ordinary_messages_keep_all_or_refuse(made: Any) -> None:
    graph, classes = made
    data, error = tried(holdall.dumps, graph)
    if error is not None:
        assert isinstance(error, holdall.EncodeError), error
        return
    assert describe(holdall.loads(data, types=classes)) == describe(graph)
