"""How a class is stored: by the identity of its methods, and by who laid its instances out."""

from __future__ import annotations

import collections
import copy
import copyreg
import functools
import gc
import io
import os
import pickle
import subprocess
import sys
import time
import types
import uuid
import weakref
import zoneinfo
from typing import Any, Generic, NamedTuple, TypeVar

import pytest

import holdall
from holdall import pickle as hp
from tests.support import wire

T = TypeVar("T")


def by_names(obj: Any) -> Any:
    return hp.loads(hp.dumps(obj))


# --- struct sequences ------------------------------------------------------------------------------------------------
SEQUENCES = {
    "stat": lambda: os.stat("/"),
    "local time": lambda: time.localtime(1e9),
    "utc": lambda: time.gmtime(1e9),
    "terminal size": lambda: os.terminal_size((80, 24)),
    "times": lambda: os.times(),
    "stat of a tuple": lambda: os.stat_result(range(10)),
}


def all_fields(obj: Any) -> list[Any]:
    names = [
        name for name in dir(type(obj)) if isinstance(getattr(type(obj), name), types.MemberDescriptorType)
    ]
    return [type(obj), tuple(obj), {name: getattr(obj, name) for name in names}]


@pytest.mark.parametrize("name", SEQUENCES)
def test_struct_sequences_keep_hidden_fields(name: str) -> None:
    obj = SEQUENCES[name]()
    stored = holdall.loads(holdall.dumps([obj, obj]), types=type(obj))
    for back in (by_names(obj), holdall.deepcopy([obj])[0], stored[0], pickle.loads(pickle.dumps(obj))):
        assert all_fields(back) == all_fields(obj)
    assert stored[0] is stored[1]


def struct_sequence(name: str, *values: bytes) -> bytes:
    return wire.message(wire.layout("based", name, [], wire.tuple_(*values)))


@pytest.mark.parametrize(
    "cls", [os.stat_result, time.struct_time, os.terminal_size, type(sys.flags), os.times_result]
)
def test_struct_sequences_of_another_length_are_refused(cls: type) -> None:
    name = f"{cls.__module__}.{cls.__qualname__}"
    for count in (0, 1, cls.n_sequence_fields - 1, cls.n_fields + 1, 500):  # type: ignore[attr-defined]
        with pytest.raises(holdall.DecodeError):
            holdall.loads(struct_sequence(name, *[wire.integer(1)] * count), types=cls)
    for content in (wire.sequence(wire.integer(1)), wire.integer(3), wire.tag("NONE")):
        with pytest.raises(holdall.DecodeError):
            holdall.loads(wire.message(wire.layout("based", name, [], content)), types=cls)


def test_struct_sequences_that_nobody_can_make_are_refused_when_they_are_written() -> None:
    with pytest.raises(holdall.EncodeError, match=r"sys\.flags"):
        holdall.dumps(sys.flags)


# --- memory of C code ------------------------------------------------------------------------------------------------
FOREIGN = [
    functools.partial,
    type(iter([])),
    weakref.ref,
    types.CellType,
    type(time.sleep),
    io.BytesIO,
    memoryview,
]


@pytest.mark.parametrize("cls", FOREIGN)
def test_memory_of_c_code_is_not_filled(cls: type) -> None:
    name = f"{cls.__module__}.{cls.__qualname__}"
    names = [found for found in dir(cls) if isinstance(getattr(cls, found, None), types.MemberDescriptorType)]
    for fields in ([], names, ["__dict__"]):
        data = wire.message(wire.layout("object", name, fields, *[wire.integer(1)] * len(fields)))
        with pytest.raises(holdall.DecodeError):
            holdall.loads(data, types=cls)


class OfPartial(functools.partial):  # type: ignore[type-arg]
    """Python code on top of C memory."""


def test_a_class_on_top_of_c_memory_is_refused_or_pickled() -> None:
    obj = OfPartial(int, "7")
    with pytest.raises(holdall.EncodeError, match="OfPartial"):
        holdall.dumps(obj)
    assert by_names(obj)() == 7 and holdall.deepcopy(obj)() == 7


def test_a_tuple_can_not_hold_itself_directly() -> None:
    """Its hash and its `repr` would recurse for ever."""
    for name, cls in (("builtins.tuple", tuple), (f"{__name__}.Held", Held)):
        inner = wire.tuple_(wire.reference(0))
        for content in (
            inner,
            wire.tuple_(inner),
            wire.tuple_(wire.sized("FROZENSET", 1, wire.reference(0))),
        ):
            with pytest.raises(holdall.DecodeError):
                holdall.loads(wire.message(wire.layout("based", name, [], content)), types=cls)


class Held(tuple):  # type: ignore[type-arg]
    pass


def test_a_tuple_may_hold_itself_through_its_attributes() -> None:
    held = Held(([],))
    held.me = held  # type: ignore[attr-defined]
    held[0].append(held)
    back = holdall.loads(holdall.dumps(held), types=Held)
    assert back.me is back and back[0][0] is back


# --- caches that hold in one process ---------------------------------------------------------------------------------
CHILD = """
import sys, holdall
from tests.host.test_class_storage import {names}
for obj in holdall.loads(bytes.fromhex(sys.argv[1]), types=[{names}]):
    assert obj in {{type(obj)("a word")}}, type(obj)
"""


def test_kept_hashes_stay_behind() -> None:
    attr = pytest.importorskip("attr")
    msgspec = pytest.importorskip("msgspec")
    del attr, msgspec
    objects = [Slotted("a word"), Mapped("a word"), Frozen("a word")]
    assert len({hash(obj) for obj in objects}) == 3
    for obj in objects:
        for back in (holdall.deepcopy([obj])[0], by_names(obj)):
            assert back == obj and hash(back) == hash(obj)
    names = ", ".join(type(obj).__name__ for obj in objects)
    for trust in (False, True):
        data = holdall.dumps(objects, trust=trust)
        code = CHILD.format(names=names).replace("types=", f"trust={trust}, types=")
        environment = {**os.environ, "PYTHONHASHSEED": "12345"}
        subprocess.run([sys.executable, "-c", code, data.hex()], check=True, env=environment)


try:
    import attr
    import msgspec
except ImportError:
    pass
else:

    @attr.s(frozen=True, slots=True, cache_hash=True)
    class Slotted:
        word: str = attr.ib()

    @attr.s(frozen=True, cache_hash=True)
    class Mapped:
        word: str = attr.ib()

    class Frozen(msgspec.Struct, frozen=True, cache_hash=True):
        word: str


# --- what is found is compared each time the class was changed -------------------------------------------------------
class Changed:
    pass


def test_a_method_that_comes_later_is_asked() -> None:
    obj = Changed()
    obj.a = 1  # type: ignore[attr-defined]
    assert vars(by_names(obj)) == {"a": 1}
    Changed.__getstate__ = lambda self: {"b": 2}  # type: ignore[method-assign,assignment,misc]
    try:
        assert vars(by_names(obj)) == vars(holdall.deepcopy(obj)) == {"b": 2}
        with pytest.raises(holdall.EncodeError, match="__getstate__"):
            holdall.dumps(obj)
    finally:
        del Changed.__getstate__
    assert vars(by_names(obj)) == {"a": 1}
    Changed.counter = 1  # type: ignore[attr-defined]
    assert vars(holdall.loads(holdall.dumps(obj), types=Changed)) == {"a": 1}


def test_no_module_is_exempt_by_its_name() -> None:
    for name in ("enum", "collections.abc", "attr.made", "pydantic.main", "holdall.x"):
        cls = type("Own", (), {"__module__": name, "__reduce__": lambda self: (list, ((1, 2),))})
        assert by_names([cls()]) == [[1, 2]]
        with pytest.raises(holdall.EncodeError, match="__reduce__"):
            holdall.dumps(cls())


# --- references that code of the program's gives out -----------------------------------------------------------------
class Leaf:
    """Knows its parent weakly; its state holds it."""

    def __init__(self, parent: Any) -> None:
        self.up = weakref.ref(parent)

    def __getstate__(self) -> Any:
        return self.up()

    def __setstate__(self, parent: Any) -> None:
        self.up = weakref.ref(parent)


class Tree:
    def __init__(self) -> None:
        self.words = [["".join(["wo", "rd"])]]
        self.leaves = [Leaf(self) for _ in range(3)]


class Peeking:
    """Its state is what its parent holds before it."""

    def __init__(self, holder: list[Any]) -> None:
        self.holder = holder

    def __reduce__(self) -> Any:
        return list, ((self.holder[0], self.holder[1]),)


def test_a_parent_that_is_reached_by_state_is_one_object() -> None:
    for way in (
        by_names,
        holdall.deepcopy,
        lambda obj: holdall.loads(holdall.dumps(obj, trust=True), trust=True),
    ):
        tree = way([Tree()])[0]
        assert [leaf.up() is tree for leaf in tree.leaves] == [True] * 3


def test_what_was_left_out_before_is_marked_after_all() -> None:
    for refs in (True, False):
        holder: list[Any] = [[1], "".join(["te", "xt"])]
        holder.append(Peeking(holder))
        back = hp.loads(holdall.dumps(holder, trust=True, refs=refs))
        assert (back[2][0] is back[0]) is refs and back[2] == [[1], "text"]
    back = holdall.deepcopy(holder)
    assert back[2][0] is back[0] is not holder[0]


def test_registered_functions_give_references_too() -> None:
    class Wrapped:
        def __init__(self, holder: list[Any]) -> None:
            self.holder = holder

    asked = []

    def encode(wrapped: Any) -> Any:
        asked.append(wrapped)
        return [wrapped.holder[0]]

    holdall.register(Wrapped, name="tests.Wrapped", encode=encode, decode=lambda state: state)
    holder: list[Any] = [[1, 2]]
    holder.append(Wrapped(holder))
    back = holdall.loads(holdall.dumps(holder))
    assert back[1][0] is back[0] and len(asked) == 1


class Unstorable:
    def __reduce__(self) -> Any:
        return list, ()


def test_enc_hook_is_asked_once_and_gives_references() -> None:
    holder: list[Any] = [["first"]]
    holder.append(Unstorable())
    asked = []

    def enc_hook(obj: Any) -> Any:
        asked.append(obj)
        return [holder[0]]

    back = holdall.loads(holdall.dumps(holder, enc_hook=enc_hook))
    assert back[1][0] is back[0] and len(asked) == 1


def test_logs_too(tmp_path: Any) -> None:
    path = tmp_path / "log"
    with holdall.Writer(path, trust=True) as log:
        for _ in range(3):
            holder: list[Any] = [[1], "text"]
            holder.append(Peeking(holder))
            log.write({"plain": [1, 2]})
            log.write(holder)
    records = list(holdall.Reader(path, trust=True))
    assert len(records) == 6 and all(record[2][0] is record[0] for record in records[1::2])


def test_buffers_are_given_once() -> None:
    for make in (lambda given: given.append, lambda given: given):
        given: list[Any] = []
        big = pickle.PickleBuffer(bytearray(100_000))
        holder: list[Any] = [[1], "text", big]
        holder.append(Peeking(holder))
        data = holdall.dumps(holder, trust=True, buffers=make(given))
        assert len(given) == 1
        assert bytes(holdall.loads(data, trust=True, buffers=given)[2]) == bytes(100_000)


# --- what is kept is all of it ---------------------------------------------------------------------------------------
def test_fields_that_are_easily_forgotten() -> None:
    error = BlockingIOError(11, "busy", 7)
    safe = uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe)
    unsafe = uuid.UUID(int=5, is_safe=uuid.SafeUUID.unsafe)
    for way in (by_names, lambda obj: holdall.loads(holdall.dumps(obj)), holdall.deepcopy):
        assert way(error).characters_written == 7
        assert way(safe).is_safe is uuid.SafeUUID.safe
        assert way(unsafe).is_safe is uuid.SafeUUID.unsafe
        assert way(uuid.UUID(int=5)).is_safe is uuid.SafeUUID.unknown
    zone, alone = zoneinfo.ZoneInfo("Europe/Oslo"), zoneinfo.ZoneInfo.no_cache("Europe/Oslo")
    assert by_names([zone, alone, alone])[0] is zone
    back = holdall.loads(holdall.dumps([zone, alone, alone]))
    assert back[0] is zone and back[1] is back[2] is not zone and back[1].key == "Europe/Oslo"


def test_a_class_that_says_no_module() -> None:
    Lost.__module__ = None  # type: ignore[assignment]
    assert type(by_names(Lost())) is Lost
    assert type(holdall.loads(holdall.dumps(Lost()), types=Lost)) is Lost


class Lost:
    pass


Named = collections.namedtuple("Named", "a")


class Loose(tuple):  # type: ignore[type-arg]
    _fields = ("a",)


def test_tuples_with_other_names_than_items() -> None:
    one, three = Loose((1,)), Loose((1, [2], 3))
    assert [*holdall.loads(holdall.dumps([one, three]), types=Loose)] == [one, three]
    assert by_names([one, three]) == [one, three]
    assert holdall.deepcopy([one, three]) == [one, three]
    assert type(holdall.loads(holdall.dumps(one), types=Loose)) is Loose
    with pytest.raises(holdall.EncodeError, match="more or fewer items"):
        holdall.dumps(tuple.__new__(Named, (1, 2, 3)))
    keyed = {Held((1, 2)): "by a subclass of tuple"}
    assert [type(key) for key in holdall.loads(holdall.dumps(keyed), types=Held)] == [Held]


def test_attributes_whose_names_are_no_text() -> None:
    obj = Changed()
    vars(obj).update({"a": 1})
    obj.__dict__[3] = "three"  # type: ignore[index]
    assert vars(by_names(obj)) == vars(holdall.deepcopy(obj)) == {"a": 1, 3: "three"}
    with pytest.raises(holdall.EncodeError, match="no `str`"):
        holdall.dumps(obj)


def test_methods_of_the_instance_itself() -> None:
    obj = Changed()
    obj.__reduce_ex__ = lambda protocol: (list, ((1, 2),))  # type: ignore[method-assign,assignment]
    assert by_names(obj) == holdall.deepcopy([obj])[0] == copy.deepcopy(obj) == [1, 2]
    with pytest.raises(holdall.EncodeError, match="an attribute that pickle asks"):
        holdall.dumps(obj)


class HoldsItself:
    def __getstate__(self) -> Any:
        return (self, 1)

    def __setstate__(self, state: Any) -> None:
        self.state = state


def test_a_state_that_holds_its_own_object() -> None:
    back = by_names(HoldsItself())
    assert back.state[0] is back
    plain = Changed()
    plain.state = (plain, 1)  # type: ignore[attr-defined]
    for way in (by_names, holdall.deepcopy, lambda obj: holdall.loads(holdall.dumps(obj), types=Changed)):
        assert way(plain).state[0].state[1] == 1
    holdall.register(Encoded, name="tests.Encoded", encode=lambda obj: obj.state, decode=lambda state: state)
    obj = Encoded()
    obj.state = (obj, 1)
    for trust in (False, True):
        with pytest.raises(holdall.EncodeError, match="made of holds the object itself"):
            holdall.dumps(obj, trust=trust)


class Encoded:
    state: Any


def test_a_pattern_of_no_text_is_refused() -> None:
    import re

    with pytest.raises(holdall.EncodeError, match="text or bytes"):
        holdall.dumps(re.Scanner([("k", None)]).scanner)  # type: ignore[attr-defined]


def test_classes_in_python_code_of_the_names_of_the_interpreters_own() -> None:
    """Their memory is not that of C's: it must not be read as such."""
    code = """
import sys
import holdall
from holdall import pickle as hp
sys.modules.pop("datetime", None)
sys.modules["_datetime"] = None
import datetime
for obj in (datetime.datetime(2003, 2, 7), datetime.date(2003, 2, 7), datetime.time(1, 2), datetime.timedelta(1)):
    assert hp.loads(hp.dumps(obj)) == obj == holdall.deepcopy(obj), obj
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_nothing_is_kept_alive() -> None:
    """What is begun anew lets go of the first attempt."""

    class Own:
        def __getstate__(self) -> Any:
            return {"a": 1}

    obj = [["before"], Own(), collections.deque([1])]
    watched = weakref.ref(obj[1])
    hp_data = holdall.dumps(obj, enc_hook=lambda own: 5)
    holdall.deepcopy(obj)
    obj.clear()
    del hp_data
    gc.collect()
    assert watched() is None


class Token(tuple):  # type: ignore[type-arg]
    """As Pygments has them: a tuple whose attributes lead back to it, and which is a key and a member there."""

    def __init__(self, *_: Any) -> None:
        self.children: set[Any] = set()
        self.parent: Any = None
        self.found: dict[Any, Any] = {}

    def child(self, name: str) -> Any:
        made = Token((*self, name))
        made.parent = self
        self.children.add(made)
        self.found[made] = name
        return made


class HashedByParent(Token):
    def __hash__(self) -> int:
        return hash((tuple(self), self.parent is None))


@pytest.mark.parametrize("cls", [Token, HashedByParent])
def test_tuples_that_are_keys_of_what_they_lead_to(cls: type) -> None:
    root = cls(())
    inner = root.child("Name").child("Function")
    for entered in ([root], [inner, root], {inner: 1}, {inner.parent}):
        for way in (
            by_names,
            holdall.deepcopy,
            lambda obj: holdall.loads(holdall.dumps(obj), types=[Token, HashedByParent]),
        ):
            back = next(iter(way(entered)))
            while back.parent is not None:
                assert back in back.parent.children and back.parent.found[back] == back[-1]
                (same,) = (child for child in back.parent.children if child == back)
                assert same is back
                back = back.parent
            assert type(back) is cls and [child.parent is back for child in back.children] == [True]


class Made(type):
    """Classes that no module has: each is made anew by a recipe, in copyreg's table."""


def make_class(name: str) -> type:
    return Made(name, (), {"__module__": None})


def test_instances_of_classes_with_a_recipe() -> None:
    copyreg.pickle(Made, lambda cls: (make_class, (cls.__name__,)))  # type: ignore[arg-type,return-value]
    try:
        obj = make_class("A")()
        obj.a = [1]
        back = by_names([obj, obj])
        assert back[0] is back[1] and type(back[0]).__name__ == "A" and vars(back[0]) == {"a": [1]}
    finally:
        del copyreg.dispatch_table[Made]

    class Local:
        pass

    with pytest.raises(hp.PicklingError, match="local to a function"):
        hp.dumps(Local())


def test_records_as_items_without_fields() -> None:
    np = pytest.importorskip("numpy")
    dtype = np.dtype((np.record, 8))
    assert by_names(dtype).type is np.record
    with pytest.raises(holdall.EncodeError, match="class of their own"):
        holdall.dumps(dtype)


def test_a_name_makes_no_class_special() -> None:
    """Plain formats have a way of their own for some classes: for these, and not for others that are called so."""
    from holdall import bson, msgpack

    for name in ("UserDict", "ChainMap", "UserList", "UserString"):
        obj = type(name, (), {"__module__": "collections"})()
        obj.a = [1]
        for format in (msgpack, bson):
            assert format.loads(format.dumps({"v": obj})) == {"v": {"a": [1]}}


LENT = """
import collections, holdall
from holdall import msgpack

class Lent:
    def __init__(self):
        self.a = 1

holdall.register(Lent, name="holdall._values.Timestamp2", aliases=["collections.UserList"])
assert msgpack.loads(msgpack.dumps(Lent())) == {"a": 1}
assert msgpack.loads(msgpack.dumps(collections.UserDict(a=1))) == {"a": 1}
"""


def test_a_registered_name_makes_no_class_special() -> None:
    """In a process of its own: what is registered for a name of the standard library stays so for all that follows."""
    subprocess.run([sys.executable, "-c", LENT], check=True)


@pytest.mark.parametrize("trust", [False, True])
def test_keys_of_tuples_that_are_not_all_there(trust: bool) -> None:
    """Their hash is known at the end: the key is found by it, or the message is refused."""
    for inner in (
        lambda found: {(1, found): 5},
        lambda found: {(1, found)},
        lambda found: [{((found,), 1): 5}],
        lambda found: {frozenset([found]): 5},
        lambda found: frozenset([(1, found)]),
    ):
        obj = Hashless()
        found = (obj,)
        obj.d = inner(found)  # type: ignore[attr-defined]
        again = holdall.loads(holdall.dumps(found, trust=trust), types=[Hashless], trust=trust)
        table = again[0].d
        table = table[0] if isinstance(table, list) else table
        assert all(key in table for key in table)
    # A key that can't be hashed once it is all there.
    data = bytes.fromhex("c1bb01bc01bb0201c30000000005")
    with pytest.raises(holdall.DecodeError, match="can't be hashed"):
        holdall.loads(data)


class Hashless:
    pass


class Boxed(Generic[T]):
    def __init__(self, item: object) -> None:
        self.item = item


def test_the_alias_of_a_generic_class() -> None:
    """An instance keeps by which alias of its class it was made: code that only trusted messages may name."""
    made = Boxed[int](3)
    assert vars(by_names(made)) == vars(made) and "__orig_class__" in vars(made)
    assert vars(holdall.loads(holdall.dumps(made), types=[Boxed])) == {"item": 3}


# --- instances that are there already, slots that are hidden ----------------------------------------------------------
class Only:
    """One instance, whatever is asked for."""

    _instance: Any = None
    calls = 0

    def __new__(cls, *args: Any) -> Any:
        cls.calls += 1
        if cls._instance is None:
            cls._instance = object.__new__(cls)
        return cls._instance


class Sort:
    """An instance for each argument; those without one are called by a name of the module."""

    __slots__ = ()
    known: dict[Any, Any] = {}

    def __new__(cls, *args: Any) -> Any:
        return cls.known.setdefault(args, object.__new__(cls))


class Stateful(Only):
    pass


NUMBERS, TEXTS = Sort(), Sort("text")
ONLY = Only()
STATEFUL = object.__new__(Stateful)
STATEFUL.some = 1


class HasOnly(NamedTuple):
    one: Only
    other: Any


@pytest.mark.parametrize("options", [{}, {"refs": False}, {"canonical": True}], ids=str)
def test_constants_are_the_ones_that_are_there(options: dict[str, Any]) -> None:
    """Pickle asks `__new__`; an ordinary message has the name by which module or class hold the instance."""
    calls = Only.calls
    data = holdall.dumps([ONLY, NUMBERS, TEXTS, ONLY], **options)
    back = holdall.loads(data, types=[Only, Sort])
    assert back[0] is ONLY and back[1] is NUMBERS and back[2] is TEXTS and back[3] is ONLY
    assert Only.calls == calls
    assert holdall.loads(holdall.dumps(ONLY), type=Only) is ONLY
    assert holdall.loads(holdall.dumps(HasOnly(ONLY, 1)), type=HasOnly).one is ONLY


def test_what_no_name_has_is_no_constant() -> None:
    """An instance with state, or one that nobody holds by a name: stored by its fields, as of any class."""
    back = holdall.loads(holdall.dumps(STATEFUL), types=[Stateful])
    assert back is not STATEFUL and back.some == 1
    nameless = object.__new__(Only)
    for graph in ([nameless, ONLY], [ONLY, nameless]):
        back = holdall.loads(holdall.dumps(graph), types=[Only])
        assert [one is ONLY for one in back] == [one is ONLY for one in graph]
        assert type(back[0]) is type(back[1]) is Only


def test_a_name_gives_only_what_may_be_a_constant() -> None:
    """A message names no other object of the module: no other class's, none with state."""
    data = holdall.dumps(ONLY)
    assert data.count(b"ONLY") == 1
    for other in (b"Only", b"NONE", b"Sort", b"type"):  # other classes, and no name
        with pytest.raises(holdall.DecodeError, match="no such constant"):
            holdall.loads(data.replace(b"ONLY", other), types=[Only])
    stateful = data.replace(b"Only", b"Tate").replace(b"ONLY", b"LATE")
    holder = types.new_class("Tate", (Stateful,))
    holder.__module__ = __name__
    holder.LATE = object.__new__(holder)  # type: ignore[attr-defined]
    assert holdall.loads(stateful, types=[holder]) is holder.LATE  # type: ignore[attr-defined]
    holder.LATE.some = 1  # type: ignore[attr-defined]
    made = holdall.loads(stateful, types=[holder])
    assert type(made) is holder and made is not holder.LATE  # type: ignore[attr-defined]


class Passing(Only):
    """Of which a variable holds one for a while."""


def test_a_variable_is_no_constant_elsewhere() -> None:
    """Where it holds none any more, and the class has no constants, the instance is one like others."""
    here = sys.modules[__name__]
    here.passing = object.__new__(Passing)  # type: ignore[attr-defined]
    data = holdall.dumps(here.passing)
    assert holdall.loads(data, types=[Passing]) is here.passing
    del here.passing
    assert type(holdall.loads(data, types=[Passing])) is Passing


class SlotBelow:
    __slots__ = ("doc", "kept")


class Hides(SlotBelow):
    """`self.doc = x` goes to `__dict__`: an attribute of the class stands before the slot."""

    doc = None


def test_a_slot_behind_an_attribute_of_the_class() -> None:
    made = Hides()
    made.doc, made.kept = 5, 6  # type: ignore[assignment]
    for back in (by_names(made), holdall.deepcopy(made), holdall.loads(holdall.dumps(made), types=[Hides])):
        assert (vars(back), back.doc, back.kept) == ({"doc": 5}, 5, 6)


def test_a_key_that_is_called_as_a_slot() -> None:
    """Two values of one name: what layouts have no place for is refused when it is written."""
    made = Hides()
    made.doc, made.kept = 5, 6  # type: ignore[assignment]
    vars(made)["kept"] = 7
    with pytest.raises(holdall.EncodeError, match="slot's name"):
        holdall.dumps(made)
    for back in (by_names(made), holdall.deepcopy(made)):
        assert (vars(back), back.kept) == ({"kept": 7, "doc": 5}, 6)


# --- keys whose hash costs more than their message -------------------------------------------------------------------
class Hashed:
    """Hashed by two of its fields, as a frozen dataclass is."""

    a: Any = None
    z: Any = None

    def __hash__(self) -> int:
        return hash((self.a, self.z))


def doubled(times: int) -> Any:
    """A tuple whose hash takes twice as long each time, in three bytes more."""
    found: Any = (1,)
    for _ in range(times):
        found = (found, found)
    return found


def with_items(found: Any, name: str, inner: bool) -> Any:
    held = Held((found,))
    held.d = {held: 1} if name == "dict" else {(held, 1)}  # type: ignore[attr-defined]
    return [held] if inner else held


def with_fields(found: Any, late: bool) -> Any:
    obj = Hashed()
    obj.a = 1 if late else found
    obj.d = {obj: 1}  # type: ignore[attr-defined]
    obj.z = found
    return obj


COSTLY = {
    "a key of what it holds": lambda found: with_items(found, "dict", False),
    "a member's part": lambda found: with_items(found, "set", True),
    "a subclass of tuple": lambda found: {Held((found,)): 1},
    "within a frozenset": lambda found: {Held((frozenset([Held((found,))]),))},
    "fields before": lambda found: with_fields(found, False),
    "fields after": lambda found: with_fields(found, True),
}


@pytest.mark.parametrize("name", COSTLY)
def test_hashes_cost_no_more_than_the_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """27 doublings are some hundred bytes; their hash would take seconds."""
    with monkeypatch.context() as cheaply:
        for cls in (Held, Hashed):
            cheaply.setattr(cls, "__hash__", lambda self: 1)
        small, large = (holdall.dumps(COSTLY[name](doubled(times))) for times in (3, 27))
    holdall.loads(small, types=[Held, Hashed])
    with pytest.raises(holdall.DecodeError, match="time out of proportion"):
        holdall.loads(large, types=[Held, Hashed])
