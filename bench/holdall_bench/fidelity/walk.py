"""Two object graphs, walked side by side."""

from __future__ import annotations

import collections
import gc
import operator
from array import array
from collections.abc import Iterable
from typing import Any

from ..results import CHANGED, COPIES, SAME, Change, Fidelity
from .arrays import array_changes
from .kinds import (
    ARRAY,
    FIELDS,
    MAPPING,
    MEMBERS,
    MISSING,
    REDUCED,
    REFERENCE,
    SEQUENCE,
    VALUE,
    Kind,
    name_of,
)
from .pairing import PLAIN, as_text, pair_up
from .paths import ATTRIBUTE, INDEX, KEY, MEMBER, PREFIX, Frame, told
from .proof import same_pickles
from .values import (
    NAN_PAYLOAD,
    float_change,
    is_other_value,
    same_float,
    type_change,
    value_changes,
)

# How much a change weighs: the verdict is that of the heaviest.
UNSEEN, COPIED, ALTERED = 0, 1, 2
_VERDICTS = (SAME, COPIES, CHANGED)

_SCALARS = frozenset({int, bool, type(None)})
# Lists of one of these are compared by Python itself, once they are so long that it pays.
_FLAT = _SCALARS | {float}
_LONG = 16
_WRAPPERS = (collections.UserDict, collections.UserList, collections.UserString)
# Objects to look at, at most, to find out which members of sets are which.
TRIALS = 1_000_000


def compare(original: Any, restored: Any) -> Fidelity:
    """What became of `original`: a verdict, and every kind of change, how often, and where first.

    Equal values, types, order and sharing are SAME. Where types changed the contents are compared all the same, as
    those of a tuple and a list, of an instance and a dict. The texts show types and kinds, and of the data only keys,
    in paths. An object that cannot be looked into, since its class raises, is a change.

    >>> compare({"pair": (1, 2)}, {"pair": [1, 2]})
    Fidelity(verdict='changed', changes=[Change(what='tuple → list', count=1, where='$.pair')], reason='')
    """
    # Nothing here is garbage before the end, and on a million objects the collector takes half of the time.
    enabled = gc.isenabled()
    gc.disable()
    try:
        if same_pickles(original, restored):
            return Fidelity(SAME)
        walk = _Walk()
        walk.run(original, restored)
        return walk.fidelity()
    finally:
        if enabled:
            gc.enable()


class _Walk:
    """forward, backward: what an object became, and what it was before, by `id`; only the first of several.

    The two graphs keep their objects alive. What was made for the walk is in `kept`, so that no id is ever used twice.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[Change, int]] = {}
        self.forward: dict[int, Any] = {}
        self.backward: dict[int, Any] = {}
        self.crossed: set[tuple[int, int]] = set()
        self.texts: dict[int, Any] = {}
        self.kinds: dict[type, Kind] = {}
        self.kept: list[Any] = []
        self.stack: list[Frame] = []
        self.undecided: list[tuple[Any, Any, str]] = []
        self.trials = TRIALS

    # --- the walk -------------------------------------------------------------------------------------------------
    def run(self, original: Any, restored: Any) -> None:
        self.push([original], [restored], PREFIX, ["$"])
        self.drain()
        # Members of sets that look alike are told apart by what the rest of the graph says about them.
        while self.undecided:
            a, b, where = self.undecided.pop()
            self.push([None], [None], PREFIX, [where])
            next(self.stack[-1][0])
            try:
                self.members(a, b, final=True)
            except MemoryError:
                raise
            except Exception:
                self.note(f"cannot be compared: {name_of(type(a))}")
            self.drain()

    def drain(self) -> None:
        stack, texts, enter = self.stack, self.texts, self.enter
        while stack:
            depth = len(stack)
            for a, b in stack[-1][0]:
                cls = type(a)
                if cls is type(b):
                    if cls is str or cls is bytes:
                        if a is b:
                            continue
                        if a == b:
                            known = texts.get(id(a))
                            if known is None:
                                texts[id(a)] = b
                            elif known is not b:
                                self.copied_text(a, b)
                        else:
                            self.note(f"value changed: {cls.__name__}")
                        continue
                    if cls in _SCALARS:
                        if a != b:
                            self.note(f"value changed: {cls.__name__}")
                        continue
                    if cls is float:
                        if (a != b or not a) and not same_float(a, b):
                            self.notes((float_change(a, b),))
                        continue
                enter(a, b)
                if len(stack) != depth:
                    break
            else:
                stack.pop()

    def push(self, ours: Any, theirs: Iterable[Any], style: int, names: Any = None) -> None:
        """Compare these next, pair by pair. `ours` has a length, and its iterators tell how far they are."""
        counter = iter(ours)
        self.stack.append((zip(counter, theirs, strict=False), counter, len(ours), style, names))

    def enter(self, a: Any, b: Any) -> None:
        cls = type(a)
        if cls is type(b):
            if cls is list or cls is tuple:
                if self.bind(a, b):
                    self.sequence(a, b)
                return
        elif cls is tuple and type(b) is list:
            # what most formats do
            self.note("tuple → list")
            if self.bind(a, b):
                self.sequence(a, b)
            return
        try:
            if cls is type(b) is dict:
                if self.bind(a, b):
                    self.mapping(list(a), a.values(), list(b), b.values())
            elif cls is type(b):
                self.alike(a, b, self.kind(cls))
            else:
                self.unlike(a, b)
        except MemoryError:
            raise
        except Exception:  # whatever code of a user's class raises
            self.note(f"cannot be compared: {name_of(cls)}")

    def kind(self, cls: type) -> Kind:
        found = self.kinds.get(cls)
        if found is None:
            found = self.kinds[cls] = Kind(cls)
        return found

    # --- who is who -----------------------------------------------------------------------------------------------
    def bind(self, a: Any, b: Any) -> bool:
        """Note that `a` became `b`. False: these two have been compared.

        A pair is walked if one of both is new, so there are no more walks than objects; a cycle ends there.
        """
        partner = self.forward.get(id(a), MISSING)
        if partner is b:
            return False
        if partner is MISSING:
            self.forward[id(a)] = b
            if id(b) not in self.backward:
                self.backward[id(b)] = a
            elif self.kind(type(b)).mutable:
                self.note(f"two {_plural(a)} became one")
            return True
        before = self.backward.get(id(b), MISSING)
        if before is MISSING:
            self.backward[id(b)] = a
            if self.kind(type(a)).mutable:
                self.note("sharing lost", COPIED)
            elif type(a) is type(b) and not _is_empty(a):
                self.note(f"equal {_plural(a)} no longer one object", UNSEEN)
            return True
        if before is a:
            return False
        if self.kind(type(a)).mutable and self.kind(type(b)).mutable:
            self.note("sharing changed")
            return False
        pair = (id(a), id(b))
        if pair in self.crossed:
            return False
        self.crossed.add(pair)
        return True

    def copied_text(self, a: Any, b: Any) -> None:
        """The last partner is kept, not all: so one that comes back later counts again."""
        self.texts[id(a)] = b
        if len(a) > 1:
            self.note(f"equal {'texts' if type(a) is str else 'bytes'} no longer one object", UNSEEN)

    # --- one type -------------------------------------------------------------------------------------------------
    def alike(self, a: Any, b: Any, kind: Kind) -> None:
        """Of two objects of one type."""
        shape = kind.shape
        if shape == VALUE and not kind.bound:
            if kind.take(a) != kind.take(b):
                self.notes(value_changes(kind, a, b))
            return
        if shape == REFERENCE or (shape == REDUCED and a is b):
            if a is not b:
                self.note(f"value changed: {kind.name}")
            return
        if not self.bind(a, b):
            return
        if kind.has_fields or shape == FIELDS:
            self.fields(kind.fields(a), kind.fields(b))
        if shape == VALUE:
            if kind.take(a) != kind.take(b):
                self.notes(value_changes(kind, a, b))
        elif shape == SEQUENCE:
            if kind.base is collections.deque and a.maxlen != b.maxlen:
                self.note("maxlen changed")
            self.sequence(list(kind.take(a)), list(kind.take(b)))
        elif shape == MAPPING:
            self.mapping(*kind.take(a), *kind.take(b))
        elif shape == MEMBERS:
            self.members(a, b)
        elif shape == ARRAY:
            for what, matters in array_changes(a, b):
                self.note(what, ALTERED if matters else UNSEEN)
            if a.dtype.hasobject and b.dtype.hasobject and a.size == b.size:
                self.sequence(self.keep(a.reshape(-1).tolist()), self.keep(b.reshape(-1).tolist()))
        elif shape == REDUCED:
            self.fields(self.keep(kind.take(a)), self.keep(kind.take(b)))

    def sequence(self, a: Any, b: Any) -> None:
        """Of lists or tuples."""
        if len(a) != len(b):
            self.resized("items", len(a), len(b))
        elif len(a) >= _LONG and _same_flat(a, b):
            return
        if a:
            self.push(a, b, INDEX)

    def fields(self, a: dict[str, Any], b: dict[str, Any]) -> None:
        names = list(a)
        if names == list(b):
            if names:
                self.push(a.values(), b.values(), ATTRIBUTE, names)
            return
        common = [name for name in names if name in b]
        if len(common) < len(a):
            self.note("attributes lost", count=len(a) - len(common))
        if len(common) < len(b):
            self.note("attributes added", count=len(b) - len(common))
        if common:
            self.push([a[name] for name in common], [b[name] for name in common], ATTRIBUTE, common)

    def mapping(self, ours: list[Any], values: Any, theirs: list[Any], others: Any, style: int = KEY) -> None:
        types = set(map(type, ours))
        plain = len(types) == 1 and types <= PLAIN and types == set(map(type, theirs))
        if plain and ours == theirs:
            if types != {int}:
                texts = self.texts
                for key, other in zip(ours, theirs, strict=True):
                    if key is not other and texts.get(id(key)) is not other:
                        self.key_text(key, other)
            self.push(values, others, style, ours)
            return
        if ours or theirs:
            self.keys(ours, values, theirs, others, style)

    def keys(self, ours: list[Any], values: Any, theirs: list[Any], others: Any, style: int) -> None:
        """Of dicts whose keys are not the same at first sight."""
        told = [as_text(key) for key in ours]
        if None not in told and len(set(told)) == len(told) and told == [as_text(key) for key in theirs]:
            pairs = list(zip(ours, theirs, strict=True))
            lost: list[Any] = []
            added: list[Any] = []
        else:
            pairs, lost, added, _ = pair_up(ours, theirs, self.kind, self.partner)
        if lost:
            self.note("attributes lost" if style == ATTRIBUTE else "keys lost", count=len(lost))
        if added:
            self.note("keys added", count=len(added))
        places = {id(key): place for place, key in enumerate(theirs)}
        order = [places[id(key)] for _, key in pairs]
        if style == KEY and order != sorted(order):
            self.note("order of keys changed")
        parts: list[tuple[Any, Any]] = []
        for key, other in pairs:
            if type(key) is not type(other):
                self.note(f"{name_of(type(key))} key → {name_of(type(other))} key", step=(KEY, key))
            elif type(key) in PLAIN:
                if key is not other and type(key) in (str, bytes):
                    self.key_text(key, other)
                continue
            if type(key) is type(other) or not (type(key) in PLAIN or type(other) in PLAIN):
                parts.append((key, other))
        if pairs:
            # by identity: a look-up would call the keys' own code
            a, b = (
                dict(zip(map(id, ours), values, strict=True)),
                dict(zip(map(id, theirs), others, strict=True)),
            )
            names = [key for key, _ in pairs]
            self.push([a[id(key)] for key in names], [b[id(key)] for _, key in pairs], style, names)
        if parts:
            self.push([key for key, _ in parts], [key for _, key in parts], MEMBER)

    def key_text(self, key: Any, other: Any) -> None:
        known = self.texts.get(id(key))
        if known is None:
            self.texts[id(key)] = other
        elif known is not other:
            self.copied_text(key, other)

    def members(self, a: Any, b: Any, final: bool = False) -> None:
        """Of two objects at least one of which is a set; the other may be a sequence."""
        kind_a, kind_b = self.kind(type(a)), self.kind(type(b))
        ours, theirs = list(kind_a.take(a)), list(kind_b.take(b))
        types = set(map(type, ours))
        if (
            types <= PLAIN
            and len(types) == 1
            and types == set(map(type, theirs))
            and len(ours) == len(theirs)
        ):
            others = {other: other for other in theirs}
            if all(member in others for member in ours):
                if types <= {str, bytes}:
                    self.push(ours, [others[member] for member in ours], MEMBER)
                return
        fits = self.fits if final else None
        pairs, lost, added, alike = pair_up(ours, theirs, self.kind, self.partner, fits)
        if alike and not final:
            self.undecided.append((a, b, told(self.stack)))
            return
        if lost:
            self.note("items lost", count=len(lost))
        if added:
            self.note("items added", count=len(added))
        self.push([member for member, _ in pairs], [member for _, member in pairs], MEMBER)

    def partner(self, a: Any) -> Any:
        return self.forward.get(id(a))

    def fits(self, a: Any, b: Any) -> bool:
        """May `a` have become `b`, after all that is known? Then it is known."""
        if self.trials <= 0:
            return False
        trial = _Walk()
        trial.kinds, trial.kept = self.kinds, self.kept
        trial.forward, trial.backward = self.forward.copy(), self.backward.copy()
        trial.push([a], [b], PREFIX, [""])
        trial.drain()
        self.trials -= len(trial.forward)
        if any(weight > UNSEEN for _, weight in trial.found.values()):
            return False
        self.forward.update(trial.forward)
        self.backward.update(trial.backward)
        self.undecided.extend(trial.undecided)
        return True

    # --- two types ------------------------------------------------------------------------------------------------
    def unlike(self, a: Any, b: Any) -> None:
        """Of two objects of different types: what is inside may be the same all the same."""
        kind_a, kind_b = self.kind(type(a)), self.kind(type(b))
        if kind_a.shape == kind_b.shape == ARRAY:
            # A view of a file is an array to every program.
            self.note(type_change(a, b), UNSEEN if kind_b.name == "memmap" else ALTERED)
            self.alike(a, b, kind_a)
            return
        self.note(type_change(a, b))
        if issubclass(type(a), _WRAPPERS):
            self.push([kind_a.fields(a)["data"]], [b], PREFIX, [""])
            return
        if kind_a.bound and kind_b.bound and not self.bind(a, b):
            return
        shape_a, shape_b = kind_a.shape, kind_b.shape
        if kind_a.has_fields and shape_a != FIELDS and shape_b != MAPPING:
            self.fields(kind_a.fields(a), kind_b.fields(b))
        if MEMBERS in (shape_a, shape_b) and {shape_a, shape_b} <= {MEMBERS, SEQUENCE}:
            self.members(a, b)
            return
        ours, theirs = self.named(a, kind_a), self.named(b, kind_b)
        if shape_a == shape_b == MAPPING:
            self.mapping(*kind_a.take(a), *kind_b.take(b))
        elif ours is not None and theirs is not None:
            # nothing in common: a layout of its own, which says nothing about what is lost
            if any(name in theirs for name in ours):
                self.mapping(list(ours), ours.values(), list(theirs), theirs.values(), ATTRIBUTE)
        elif shape_a == shape_b == VALUE:
            if is_other_value(a, b):
                self.note(f"value changed: {kind_a.name}")
        elif SEQUENCE in (shape_a, shape_b) and (items := self.items(a, kind_a)) is not None:
            others = self.items(b, kind_b)
            if others is not None:
                self.sequence(items, others)
        elif shape_a == FIELDS and ours and shape_b == SEQUENCE:
            values = list(kind_b.take(b))
            if len(values) == len(ours):
                self.push(ours.values(), values, ATTRIBUTE, list(ours))
        elif shape_a == REFERENCE and is_other_value(a, b):
            self.note(f"value changed: {kind_a.name}")

    def named(self, obj: Any, kind: Kind) -> dict[str, Any] | None:
        """Its parts by name, if they have names."""
        if kind.shape == FIELDS:
            return kind.fields(obj)
        if kind.shape == MAPPING:
            return {key: value for key, value in zip(*kind.take(obj), strict=True) if type(key) is str}
        if kind.base is tuple and hasattr(type(obj), "_fields"):
            return dict(zip(type(obj)._fields, tuple.__iter__(obj), strict=False))
        return None

    def items(self, obj: Any, kind: Kind) -> Any:
        """Its items in order, if it has some; with `len` and an iterator that tells how far it is."""
        if kind.shape == SEQUENCE:
            return obj if type(obj) is list or type(obj) is tuple else list(kind.take(obj))
        if kind.items is None:
            return None
        found = kind.items(obj)
        # an array without dimensions gives its one element
        return self.keep(found) if kind.shape == VALUE or type(found) is list else None

    def keep(self, made: Any) -> Any:
        self.kept.append(made)
        return made

    # --- what was found -------------------------------------------------------------------------------------------
    def note(
        self, what: str, weight: int = ALTERED, count: int = 1, step: tuple[int, Any] | None = None
    ) -> None:
        known = self.found.get(what)
        if known is None:
            self.found[what] = Change(what, count, told(self.stack, step), weight == UNSEEN), weight
        else:
            known[0].count += count

    def notes(self, changes: Iterable[str]) -> None:
        """Of a value. Every NaN is one value, whatever its other bits are."""
        for what in changes:
            self.note(what, UNSEEN if what == NAN_PAYLOAD else ALTERED)

    def resized(self, parts: str, before: int, after: int) -> None:
        self.note(f"{parts} {'lost' if before > after else 'added'}", count=abs(before - after))

    def fidelity(self) -> Fidelity:
        """What weighs most comes first; then what is most frequent."""
        found = sorted(self.found.values(), key=lambda pair: (-pair[1], -pair[0].count))
        heaviest = found[0][1] if found else UNSEEN
        return Fidelity(_VERDICTS[heaviest], [change for change, _ in found])


def _same_flat(a: Any, b: Any) -> bool:
    """Are these two lists of numbers the same, for sure? Python compares them faster than any loop here."""
    types = set(map(type, a))
    if not types <= _FLAT or types != set(map(type, b)):
        return False
    if types == {float}:
        return array("d", a).tobytes() == array("d", b).tobytes()
    if float in types or (len(types) > 1 and not all(map(operator.is_, map(type, a), map(type, b)))):
        return False
    return bool(a == b)


def _plural(obj: Any) -> str:
    name = name_of(type(obj))
    return f"{name}s" if not name.endswith("s") else f"{name} objects"


def _is_empty(obj: Any) -> bool:
    return isinstance(obj, (tuple, frozenset)) and len(obj) == 0
