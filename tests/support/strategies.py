"""Hypothesis strategies of random object graphs: every type that can be stored, with sharing and cycles.

A graph is drawn as a pool of nodes, each a kind and the numbers of its children. What can't change after it is made
(tuples, frozen things, keys) takes its children from the nodes made before it; what can change is made empty and filled
when all nodes are there, with any of them: that is where the cycles come from. Drawing numbers instead of nested
values lets hypothesis shrink a graph node by node.
"""

from __future__ import annotations

import array
import collections
import datetime as dt
import ipaddress
import pathlib
import re
import struct
import types
import zoneinfo
from typing import Any, Callable

from hypothesis import strategies as st

from tests.support import models
from tests.support.kinds import build, installed, text

# --- values without parts --------------------------------------------------------------------------------------------
INTS = st.one_of(
    st.integers(-300, 300),
    st.builds(
        lambda bit, sign, delta: sign * (1 << bit) + delta,
        st.integers(0, 200),
        st.sampled_from([1, -1]),
        st.integers(-1, 1),
    ),
    st.integers(),
)
FLOATS = st.one_of(
    st.floats(),
    st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]),
)
CHARACTERS = st.characters(codec=None, categories=None)  # surrogates too
# `text` makes a new object of it, as hypothesis gives one string twice
STRINGS = st.one_of(
    st.text(CHARACTERS, max_size=8),
    st.text("ab", max_size=3),
    st.text(st.characters(max_codepoint=255), max_size=60),
    st.text(st.characters(max_codepoint=127), min_size=40, max_size=300),
).map(text)
BYTES = st.one_of(st.binary(max_size=20), st.binary(min_size=250, max_size=300)).map(
    lambda value: bytes(bytearray(value))
)
SCALARS = st.one_of(st.none(), st.booleans(), INTS, FLOATS, st.builds(complex, FLOATS, FLOATS))

OFFSETS = st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23))
ZONES = st.one_of(
    st.none(),
    st.just(dt.timezone.utc),
    st.builds(dt.timezone, OFFSETS),
    st.builds(dt.timezone, OFFSETS, st.text("xyz", min_size=1, max_size=4)),
    st.sampled_from(["Europe/Berlin", "Asia/Kathmandu", "UTC"]).map(zoneinfo.ZoneInfo),
)
FOLDS = st.integers(0, 1)
TIMES = st.one_of(
    st.builds(lambda value, zone, fold: value.replace(tzinfo=zone, fold=fold), st.datetimes(), ZONES, FOLDS),
    st.builds(lambda value, zone, fold: value.replace(tzinfo=zone, fold=fold), st.times(), ZONES, FOLDS),
    st.dates(),
    st.timedeltas(),
    ZONES,
)
NAMES = st.text("ab/.\\ é", max_size=12)
HASHABLE_VALUES = st.one_of(
    SCALARS,
    STRINGS,
    BYTES,
    TIMES,
    st.decimals(allow_nan=False),
    st.fractions(),
    st.uuids(),
    NAMES.map(pathlib.PurePosixPath),
    # some roots of Windows are not what their own text says: no text brings them back
    NAMES.map(pathlib.PureWindowsPath).filter(
        lambda path: str(pathlib.PureWindowsPath(str(path))) == str(path)
    ),
    st.ip_addresses(),
    st.builds(
        lambda address, prefix: ipaddress.ip_network((address, prefix), strict=False),
        st.ip_addresses(v=4),
        st.integers(0, 32),
    ),
    st.builds(
        lambda address, prefix: ipaddress.ip_interface((address, prefix)),
        st.ip_addresses(v=6),
        st.integers(0, 128),
    ),
    st.builds(
        re.compile,
        st.text("ab.*", max_size=4).filter(lambda p: not re.search(r"^\*|\*\*", p)),
        st.sampled_from([0, re.I, re.X | re.S]),
    ),
    st.builds(range, st.integers(), st.integers(), st.integers().filter(bool)),
    st.sampled_from([..., NotImplemented, *models.Color, *models.Level, *models.Unit, *models.TEXT_ENUM]),
    st.integers(0, 7).map(models.Access),
    st.builds(models.MyInt, INTS),
    st.builds(models.MyStr, STRINGS),
    st.builds(models.MyBytes, BYTES),
    st.builds(models.MyFloat, FLOATS),
)
OTHER_VALUES = st.one_of(
    st.decimals(),
    BYTES.map(bytearray),
    st.lists(st.integers(0, 100)).map(lambda values: array.array("h", values)),
    st.lists(FLOATS).map(lambda values: array.array("d", values)),
    # lists of one kind, which are packed
    st.lists(INTS, max_size=30),
    st.lists(FLOATS, max_size=30),
    st.lists(st.booleans(), max_size=30),
    st.lists(STRINGS, max_size=30),
    st.lists(INTS, max_size=30).map(tuple),
    st.builds(collections.Counter, st.text("abc", max_size=6)),
    st.sampled_from([*models.Unhashable]),
)


# --- nodes that are made of the nodes before them -------------------------------------------------------------------
def _frozen_attrs(children: list[Any]) -> Any:
    from tests.support.models_attrs import AttrsFrozen

    return AttrsFrozen(*_padded(children))


def _frozen_struct(children: list[Any]) -> Any:
    from tests.support.models_msgspec import StructFrozen

    return StructFrozen(*_padded(children))


def _frozen_model(children: list[Any]) -> Any:
    from tests.support.models_pydantic import ModelFrozen

    return ModelFrozen(x=children[0] if children else None)


def _padded(children: list[Any]) -> list[Any]:
    return [*children[:2], None, None][:2]


IMMUTABLE: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "tuple subclass": lambda children: models.MyTuple(children),
    "named tuple": lambda children: models.NPoint(*_padded(children)),
    "namedtuple": lambda children: models.NPair(*_padded(children)),
    "dataclass frozen": lambda children: models.DFrozen(*_padded(children)),
    "dataclass frozen slots": lambda children: models.DFrozenSlots(*_padded(children)),
    # of plain values: a slice can't be made before its parts, as no cycle through it can be
    "slice": lambda children: slice(
        *[child if isinstance(child, (int, str)) else None for child in _padded(children)]
    ),
    **({"attrs frozen": _frozen_attrs} if installed("attrs") else {}),
    **({"msgspec frozen": _frozen_struct} if installed("msgspec") else {}),
    **({"pydantic frozen": _frozen_model} if installed("pydantic") else {}),
}
# of hashable children only
HASHED: dict[str, Callable[[list[Any]], Any]] = {
    "frozenset": frozenset,
    "frozenset subclass": lambda children: models.MyFrozenSet(children),
    "hashable tuple": tuple,
    "hashable named tuple": lambda children: models.NPoint(*_padded(children)),
    "hashable dataclass": lambda children: models.DFrozen(*_padded(children)),
}


# --- nodes that are made empty and filled later ----------------------------------------------------------------------
Fill = Callable[[Any, list[Any], list[Any]], None]


def _attributes(*names: str) -> Fill:
    def fill(node: Any, children: list[Any], keys: list[Any]) -> None:
        for name, child in zip(names, children):  # noqa: B905  (slots beyond the children stay unset)
            setattr(node, name, child)

    return fill


def _all_attributes(*names: str) -> Fill:
    def fill(node: Any, children: list[Any], keys: list[Any]) -> None:
        for index, name in enumerate(names):
            setattr(node, name, children[index] if index < len(children) else None)

    return fill


def _extend(node: Any, children: list[Any], keys: list[Any]) -> None:
    node.extend(children)


def _update(node: Any, children: list[Any], keys: list[Any]) -> None:
    for key, child in zip(keys, children):  # noqa: B905
        node[key] = child


def _named(node: Any, children: list[Any], keys: list[Any]) -> None:
    for index, child in enumerate(children):
        node[f"name {index}"] = child


def _add(node: Any, children: list[Any], keys: list[Any]) -> None:
    node.update(keys)


def _and_note(fill: Fill) -> Fill:
    def both(node: Any, children: list[Any], keys: list[Any]) -> None:
        fill(node, children[1:], keys)
        if children:
            node.note = children[0]

    return both


def _arguments(node: Any, children: list[Any], keys: list[Any]) -> None:
    node.args = tuple(children)
    node.code = keys


def _maps(node: Any, children: list[Any], keys: list[Any]) -> None:
    node.maps.append({"children": children})


def _third_party() -> dict[str, tuple[Callable[[], Any], Fill]]:
    found: dict[str, tuple[Callable[[], Any], Fill]] = {}
    if installed("attrs"):
        from tests.support import models_attrs as a

        found["attrs slots"] = (lambda: a.AttrsSlots(0), _all_attributes("x", "y"))
        found["attrs dict"] = (lambda: a.AttrsDict(0), _all_attributes("x", "y"))
    if installed("msgspec"):
        from tests.support import models_msgspec as s

        found["msgspec"] = (lambda: s.Struct(0), _all_attributes("x", "y"))
        found["msgspec dict"] = (lambda: s.StructDict(0), _all_attributes("x", "free"))
    if installed("pydantic"):
        from tests.support import models_pydantic as p

        found["pydantic"] = (lambda: p.Model(x=0), _all_attributes("x", "y"))
        found["pydantic extra"] = (lambda: p.ModelExtra(x=0), _all_attributes("x", "more"))
        found["pydantic private"] = (lambda: p.ModelPrivate(x=0), _all_attributes("x", "_hidden"))
    if installed("numpy"):
        import numpy as np

        def objects(node: Any, children: list[Any], keys: list[Any]) -> None:
            for index, child in enumerate(children[:3]):
                node[index] = child

        found["object array"] = (lambda: np.empty(3, object), objects)
    return found


MUTABLE: dict[str, tuple[Callable[[], Any], Fill]] = {
    "list": (list, _extend),
    "list subclass": (models.MyList, _and_note(_extend)),
    "dict": (dict, _update),
    "shaped dict": (dict, _named),
    "dict subclass": (models.MyDict, _and_note(_update)),
    "dict subclass with slots": (models.MyDictSlots, _and_note(_named)),
    "ordered dict": (collections.OrderedDict, _update),
    "default dict": (lambda: collections.defaultdict(list), _update),
    "set": (set, _add),
    "set subclass": (models.MySet, _and_note(_add)),
    "deque": (collections.deque, _extend),
    "bounded deque": (lambda: collections.deque(maxlen=3), _extend),
    "chain map": (collections.ChainMap, _maps),
    "user list": (collections.UserList, _extend),
    "user dict": (collections.UserDict, _update),
    "namespace": (types.SimpleNamespace, _attributes("a", "b", "c")),
    "exception": (ValueError, _arguments),
    "own exception": (models.MyError, _and_note(_arguments)),
    "plain": (lambda: build(models.PlainDict), _attributes("a", "b", "c")),
    "plain reversed": (lambda: build(models.PlainDict), _attributes("c", "b", "a")),
    "slots": (lambda: build(models.PlainSlots), _attributes("left", "right", "value")),
    "slots child": (lambda: build(models.SlotsChild), _attributes("extra", "left")),
    "slots and dict": (lambda: build(models.SlotsAndDict), _attributes("a", "free")),
    "weak slot": (lambda: build(models.WeakSlot), _attributes("a")),
    "empty": (models.Empty, _attributes()),
    "box": (lambda: build(models.Box), _attributes("item")),
    "dataclass": (lambda: models.DPoint(0), _all_attributes("x", "y")),
    "dataclass slots": (lambda: models.DSlots(0), _all_attributes("x", "y")),
    "dataclass kw only": (lambda: models.DKwOnly(x=0), _all_attributes("x", "y")),
    "dataclass child": (lambda: models.DChild(0), _all_attributes("x", "y", "z")),
    "dataclass extra": (lambda: models.DPoint(0), _all_attributes("x", "y", "late")),
    "dataclass init false": (lambda: models.DInitFalse(0), _all_attributes("x", "derived")),
    **_third_party(),
}
# what can be a key or a member while it is still empty: it hashes by identity
IDENTITY_HASH = (
    "plain",
    "plain reversed",
    "slots",
    "slots child",
    "slots and dict",
    "weak slot",
    "empty",
    "box",
    "exception",
)

KIND_NAMES = [*MUTABLE, *IMMUTABLE, *HASHED]


class Graph:
    """A drawn graph. Shown as the plan it was made by: cycles and a million levels have no other text."""

    def __init__(self, values: list[Any], plan: list[tuple[str, list[int]]], root: Any) -> None:
        self.plan = f"Graph(values={values!r}, plan={plan!r})"
        self.root = root

    def __repr__(self) -> str:
        return self.plan


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12) -> Graph:
    """A random graph; its root is the last node, or a list of all of them."""
    pool: list[Any] = draw(st.lists(HASHABLE_VALUES, min_size=1, max_size=6))
    hashable = list(range(len(pool)))
    pool += draw(st.lists(OTHER_VALUES, max_size=3))
    values = list(pool)
    plan = draw(
        st.lists(
            st.tuples(st.sampled_from(KIND_NAMES), st.lists(st.integers(0, 30), max_size=5)),
            max_size=max_nodes,
        )
    )
    unfilled: list[tuple[Fill, Any, list[int]]] = []
    for kind, numbers in plan:
        if kind in MUTABLE:
            make, fill = MUTABLE[kind]
            node = make()
            unfilled.append((fill, node, numbers))
            if kind in IDENTITY_HASH:
                hashable.append(len(pool))
        elif kind in IMMUTABLE:
            node = IMMUTABLE[kind]([pool[number % len(pool)] for number in numbers])
        else:
            node = HASHED[kind]([pool[hashable[number % len(hashable)]] for number in numbers])
            hashable.append(len(pool))
        pool.append(node)
    for fill, node, numbers in unfilled:
        fill(
            node,
            [pool[number % len(pool)] for number in numbers],
            [pool[hashable[number % len(hashable)]] for number in numbers],
        )
    return Graph(values, plan, pool[-1] if draw(st.booleans()) else list(pool))


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """A value without sharing and cycles, for tree mode and for programs that need none."""
    leaves = st.one_of(HASHABLE_VALUES, OTHER_VALUES)
    value = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=5),
            st.lists(inner, max_size=5).map(tuple),
            st.dictionaries(HASHABLE_VALUES, inner, max_size=5),
            st.dictionaries(st.sampled_from(["id", "name", "value"]), inner),
            st.builds(models.DPoint, inner, inner),
            st.builds(models.DFrozenSlots, inner),
            st.builds(models.NPoint, inner, inner),
        ),
        max_leaves=25,
    )
    return draw(value)


def arrays() -> st.SearchStrategy[Any]:
    """NumPy arrays of random dtype, shape and layout."""
    import numpy as np
    from hypothesis.extra import numpy as hn

    dtypes = st.one_of(hn.scalar_dtypes(), hn.array_dtypes(), hn.nested_dtypes()).filter(
        lambda dtype: dtype.itemsize < 1_000
    )
    plain = hn.arrays(dtypes, hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    layouts = [
        np.asarray,
        np.asfortranarray,
        lambda a: a.T,
        lambda a: a[::2] if a.ndim else a,
        lambda a: a[..., ::-1] if a.ndim else a,
    ]
    return st.builds(lambda array, layout: layout(array), plain, st.sampled_from(layouts))
