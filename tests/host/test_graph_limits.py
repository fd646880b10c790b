"""Graphs at the edge of what can be built: keys and members whose hashes hang on what holds them, and what is too deep to be freed."""

from __future__ import annotations

import builtins
import enum
import time
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any, Callable

import pytest

import holdall

pytest.importorskip("hypothesis")

from tests.support import wire as w
from tests.support.isomorphic import isomorphic
from tests.support.kinds import TYPES
from tests.support.limits import has_members_alike
from tests.support.models import DFrozen, Empty, NPair, PlainDict


def around(make: Callable[[Any, Any], Any]) -> list[Any]:
    """An instance, a tuple of it and what is made of both, which the instance holds: entered at each."""
    item = PlainDict(None)
    tuple_ = (item, 1)
    item.a = make(item, tuple_)
    return [item, tuple_, item.a, [item.a, tuple_], [tuple_, item.a]]


SHAPES: dict[str, Callable[[Any, Any], Any]] = {
    "key": lambda item, tuple_: {tuple_: 1, "b": 2, (tuple_, 2): 3},
    "key of an ordered dict": lambda item, tuple_: OrderedDict([(tuple_, 1), ("b", 2)]),
    "member": lambda item, tuple_: {tuple_, (2, tuple_)},
    "member of a frozenset": lambda item, tuple_: frozenset([tuple_, "b"]),
    "tuple in a member of a frozenset": lambda item, tuple_: frozenset([(3, (tuple_,))]),
    "frozen instance in a frozenset": lambda item, tuple_: frozenset([DFrozen(item)]),
    "frozen instance of the tuple in a frozenset": lambda item, tuple_: frozenset([DFrozen(tuple_)]),
    "named tuple in a frozenset": lambda item, tuple_: frozenset([NPair(tuple_, 1)]),
    "frozensets in frozensets": lambda item, tuple_: [
        frozenset([frozenset([frozenset([tuple_]), 1])]),
        {frozenset([tuple_]): 1},
        frozenset([(frozenset([tuple_, 5]), tuple_)]),
    ],
    "more members than fit into a set's own places": lambda item, tuple_: frozenset(
        (number, tuple_) for number in range(100)
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_hashed_by_what_holds_it(name: str) -> None:
    for root in around(SHAPES[name]):
        found = holdall.loads(holdall.dumps(root), types=TYPES)
        isomorphic(root, found)
        isomorphic(root, holdall.deepcopy(root))
        isomorphic(found, holdall.loads(holdall.dumps(found), types=TYPES))
        isomorphic(root, holdall.Document(holdall.dumps([root]), types=TYPES).load()[0])


def test_such_keys_are_found_and_keep_their_order() -> None:
    item = PlainDict(None)
    tuple_ = (item,)
    item.a = [{"a": 0, tuple_: 1, "c": 2}, frozenset([tuple_]), {frozenset([tuple_]): 3}]
    found = holdall.loads(holdall.dumps(tuple_), types=TYPES)
    table, members, by_set = found[0].a
    assert list(table) == ["a", found, "c"] and table[found] == 1
    assert found in members and by_set[members] == 3 and by_set[frozenset([found])] == 3
    assert hash(members) == hash(frozenset([found]))


class Belonging:
    """Hashed by what its owner is called."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __hash__(self) -> int:
        return hash(self.owner.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Belonging) and self.owner is other.owner


class Owner:
    def __init__(self) -> None:
        self.items: Any = None
        self.name = ""


@pytest.mark.parametrize("make", [lambda item: {item: 1}, lambda item: {item}, lambda item: {(1, item): 2}])
def test_a_key_hashed_by_attributes_of_its_owner(make: Callable[[Any], Any]) -> None:
    """The owner's name comes after the key."""
    owner = Owner()
    owner.items, owner.name = make(Belonging(owner)), "name"
    found = holdall.loads(holdall.dumps(owner), types=[Owner, Belonging])
    (key,) = found.items
    assert key in found.items and found.name == "name"


def test_a_frozenset_that_its_own_hash_is_made_of() -> None:
    """Nobody can build these; whoever knows the format can write them."""

    def frozenset_(*members: bytes) -> bytes:
        return w.sized("FROZENSET", len(members), *members)

    def holding(value: bytes) -> bytes:
        return w.layout("object", "tests.support.models.PlainDict", ["a"], value)

    # The tuple has number 0, names of class and field have 1 and 2, what is marked the one that follows.
    one = w.tuple_(holding(w.mark(frozenset_(w.reference(0)))), w.reference(3))
    two = w.tuple_(
        holding(w.sequence(w.mark(frozenset_(w.tuple_(w.integer(1), w.reference(0)))))),
        frozenset_(w.tuple_(w.integer(2), w.reference(0))),
    )
    direct = [
        frozenset_(w.tuple_(w.reference(0))),
        w.tuple_(frozenset_(w.reference(0))),
        frozenset_(frozenset_(w.reference(0))),
    ]
    for data in (one, two, *direct):
        with pytest.raises(holdall.DecodeError, match="hash is made of|directly inside itself|not all there"):
            holdall.loads(w.message(data), types=TYPES)


def frozen(module: str, name: str, *fields: bytes) -> bytes:
    return w.layout("object", f"tests.support.{module}.{name}", ["x", "y"], *fields)


def rings(name: str) -> dict[str, bytes]:
    """Frozen Structs that lead back to themselves by their hashes, and what hashes them."""

    def ring(*fields: bytes) -> bytes:
        return w.mark(frozen("models_msgspec", name, *fields))

    own, one = w.reference(1), w.integer(1)  # the list has number 0
    keyed = w.sized("DICT", 1, w.reference(2), one)  # the key's tuple comes after the ring
    return {
        "alone": w.sequence(ring(one, own)),
        "by a tuple": w.sequence(ring(w.tuple_(one, own), one)),
        "by tuples and lists": w.sequence(ring(w.sequence(own), w.tuple_(w.tuple_(own)))),
        "member": w.sequence(ring(one, own), w.sized("SET", 1, own)),
        "in a tuple": w.sequence(ring(one, own), w.sized("SET", 1, w.tuple_(one, own))),
        "in a frozenset": w.sequence(ring(one, own), w.sized("FROZENSET", 1, own)),
        "in a frozenset within": w.sequence(
            ring(w.sequence(own), own), w.sized("FROZENSET", 1, w.tuple_(own))
        ),
        "key": w.sequence(ring(one, own), w.mark(w.tuple_(one, own)), keyed),
        "value of an enumeration": w.sequence(
            ring(one, own), w.layout("enum", "tests.support.models.Color", [], own)
        ),
    }


def test_what_is_hashed_by_its_fields_in_c_and_holds_itself() -> None:
    """CPython would follow it to the end of the stack; nobody can build such without going round the class's own ways."""
    msgspec = pytest.importorskip("msgspec")
    from tests.support import models_msgspec as m

    for data in rings("StructFrozen").values():
        for annotation in (Any, list[Any], list[object]):
            with pytest.raises(holdall.DecodeError, match="directly inside itself"):
                holdall.loads(w.message(data), types=TYPES, type=annotation)
        with pytest.raises(holdall.DecodeError, match="directly inside itself"):
            for part in holdall.Document(w.message(data), types=TYPES).values():
                part.load() if isinstance(part, holdall.Document) else part
    with pytest.raises(holdall.DecodeError, match="directly inside itself"):
        holdall.loads(w.message(rings("StructFrozen")["alone"]), type=list[m.StructFrozen])
    for name in ("Struct", "StructFrozenIdentity"):
        found = holdall.loads(w.message(rings(name)["alone"]), types=TYPES)
        assert found[0].y is found[0]
    by_identity = holdall.loads(w.message(rings("StructFrozenIdentity")["member"]), types=TYPES)
    assert by_identity[0] in by_identity[1]
    made = m.StructFrozen(1)
    msgspec.structs.force_setattr(made, "y", made)
    again = holdall.loads(holdall.dumps(made, trust=True), trust=True)
    assert again.y is again
    honest = m.StructFrozen(1, [made_of := m.StructFrozen(2)])
    honest.y.append({made_of: honest})
    isomorphic(honest, holdall.loads(holdall.dumps(honest), types=TYPES))


def test_python_code_ends_its_own_circles() -> None:
    """A hash in Python code may look at whatever it likes: such circles load, and are keys where they can be hashed."""
    circle = DFrozen(1, 2)
    object.__setattr__(circle, "y", circle)
    again = holdall.loads(holdall.dumps([circle, [circle]]), types=TYPES)
    assert again[0].y is again[0]
    with pytest.raises(RecursionError):
        hash(again[0])
    one = w.integer(1)
    hashed = w.sequence(
        w.mark(frozen("models", "DFrozen", one, w.reference(1))), w.sized("SET", 1, w.reference(1))
    )
    with pytest.raises(holdall.DecodeError, match="can't be hashed"):
        holdall.loads(w.message(hashed), types=TYPES)


class ByTuple(enum.Enum):
    PAIR = (1, 2)
    ONE = 1


def test_an_enumeration_looks_up_no_value_too_deep_to_hash() -> None:
    deep: Any = ()
    for _ in range(5000):
        deep = (deep,)
    for strict in (True, False):
        with pytest.raises(holdall.DecodeError, match="a key nested deeper than 4000 - at byte 5004"):
            holdall.loads(holdall.dumps([deep]), type=list[ByTuple], strict=strict)
    assert holdall.loads(holdall.dumps([(1, 2)]), type=list[ByTuple]) == [ByTuple.PAIR]


def slice_within_itself() -> tuple[Any, Any]:
    bounds: list[Any] = []
    bounds.append(slice(bounds))
    return bounds[0], bounds


def test_what_is_made_of_itself_is_refused() -> None:
    """There is no slice before its bounds are there: it is not stored where they lead to it, and is where they come first."""
    error: list[Any] = []
    proxied: dict[str, Any] = {}
    group = getattr(builtins, "ExceptionGroup", None)  # from Python 3.11 on
    if group is not None:
        error.append(group("of itself", [ValueError(error)]))
    proxied["self"] = types.MappingProxyType(proxied)
    cases = [slice_within_itself(), (proxied["self"], proxied)] + [(found, error) for found in error]
    for refused, loaded in cases:
        for trust in (False, True):
            with pytest.raises(holdall.EncodeError, match="what it is made of holds the object itself"):
                holdall.dumps(refused, trust=trust)
        isomorphic(loaded, holdall.loads(holdall.dumps(loaded)))


def test_members_alike_have_no_canonical_order() -> None:
    assert has_members_alike([{Empty(), Empty()}])
    assert not has_members_alike([{Empty(), 1}, {Empty(), 2}])


def caused(inner: Any) -> OSError:
    error = OSError()
    error.__context__ = inner
    return error


def in_array(inner: Any) -> Any:
    numpy = pytest.importorskip("numpy")
    made = numpy.empty(1, dtype=object)
    made[0] = inner
    return made


# How each is put around the one before, and how many are written and loaded at the least.
FREED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "slice": (slice, 1_900),
    "deque": (lambda inner: deque([inner]), 1_900),
    "default dict": (lambda inner: defaultdict(None, {1: inner}), 1_900),
    "exception": (caused, 3_800),
    "exception's argument": (lambda inner: OSError(inner), 3_800),
    "array of objects": (in_array, 190),
    "struct sequence": (lambda inner: time.struct_time((inner, *range(8))), 3_800),
    # These are freed without recursion, and as deep as you like.
    "namespace": (lambda inner: types.SimpleNamespace(inner=inner), 20_000),
    "ordered dict": (lambda inner: OrderedDict(inner=inner), 20_000),
}
HASHED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "tuple": (lambda inner: (inner,), 3_900),
    "named tuple": (lambda inner: NPair(inner, 1), 3_900),
    # CPython itself goes no deeper.
    "frozen instance": (DFrozen, 400),
}


def chain(make: Callable[[Any], Any], length: int) -> list[Any]:
    """Each around the one before, and all in a list, inner ones first: as a message, none stands within another."""
    made: list[Any] = [None]
    for _ in range(length):
        made.append(make(made[-1]))
    return made


@pytest.mark.parametrize("name", FREED)
@pytest.mark.parametrize("times", [1, 2, 10])
def test_what_is_written_loads_again_if_deep_by_references(name: str, times: int) -> None:
    make, most = FREED[name]
    is_written_and_loaded(chain(make, most * times), may_be_refused=times > 1)
    # Deep by both.
    nested = None
    for _ in range(most // 2):
        nested = make(nested)
    around = nested
    for _ in range(most // 2 * times):
        around = make(around)
    is_written_and_loaded([nested, around], may_be_refused=times > 1)
    del around, nested


@pytest.mark.parametrize("name", HASHED)
@pytest.mark.parametrize("canonical", [False, True])
def test_keys_that_are_deep_by_references(name: str, canonical: bool) -> None:
    make, most = HASHED[name]
    for length in (most // 2, most, most * 2):
        parts = chain(make, length)
        try:
            keyed = [[*parts, {parts[-1]: 1}], [*parts, {parts[-1]}], [*parts, frozenset([(1, parts[-1])])]]
            keyed += [[*parts, {"a": 1, parts[-1]: 1}], [*parts, OrderedDict([(parts[-1], 1)])]]
        except RecursionError:
            continue
        for value in keyed:
            is_written_and_loaded(value, may_be_refused=length > most, canonical=canonical)


def is_written_and_loaded(value: Any, *, may_be_refused: bool, canonical: bool = False) -> None:
    try:
        data = holdall.dumps(value, canonical=canonical)
    except holdall.EncodeError as error:
        assert may_be_refused and "nested" in str(error)
        return
    # Nothing that is written is refused.
    types_ = [*TYPES, time.struct_time, types.SimpleNamespace]
    assert len(holdall.loads(data, types=types_)) == len(value)
