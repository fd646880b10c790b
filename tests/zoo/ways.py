"""The ways an object is stored, and what each has to keep: what pickle keeps of it."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import re
import sys
from typing import Any, Callable, NamedTuple

import holdall
import holdall.pickle
from tests.zoo.describe import Description, Undescribed, by_name, hidden, is_asked, is_python, uses

# A refusal names what to do about it.
REMEDY = re.compile(r"register|trust|types=|encode|enc_hook|dec_hook|type=|pass |give ", re.I)
MOST_CLASSES = 500


class Verdict(NamedTuple):
    """kept, refused, lost, unclear (refused, and no word of a remedy), named (the documentation says that it is left out);
    or none: there is nothing to compare with.
    """

    outcome: str
    detail: str = ""


class Picture:
    """All that can be seen of a graph from outside; `root` is the object that it is about."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.description = Description(graph)
        self.tokens, self.objects = self.description.tokens, self.description.objects
        self.hidden = [hidden(obj) for obj in self.objects]
        self.uses = uses(graph[0])


class Reference:
    """What a peer (pickle, copy) keeps: what two of its results have in common. The original may say more."""

    def __init__(
        self, original: Picture, restored: Any, again: Any, check: Callable[[Any], Any] | None
    ) -> None:
        self.original, self.restored, self.again, self.check = (
            original,
            Picture(restored),
            Picture(again),
            check,
        )
        self.is_steady = self.restored.tokens == self.again.tokens
        one = self.restored
        self.is_faithful = self.is_steady and (one.tokens, one.hidden, one.uses) == (
            original.tokens,
            original.hidden,
            original.uses,
        )

    def compare(self, graph: Any, way: str = "") -> str:
        """What `graph` has lost, in words; nothing if all is kept."""
        accepted = [by_name(type(picture.graph[0])) for picture in (self.restored, self.original)]
        if type(graph) is not list or by_name(type(graph[0])) not in accepted:
            return f"the type became {type(graph[0]).__qualname__}"
        # Before anything is asked of it: that may leave something behind.
        found = Picture(graph)
        # By type, fields that were unset get their defaults and ints become floats: what the class calls equal will do.
        if (
            way == "typed"
            and type(graph[0]).__eq__ is not object.__eq__
            and equal(self.original.graph[0], graph[0])
        ):
            return ""
        if self.is_steady:
            if found.tokens not in (self.original.tokens, self.restored.tokens):
                at = first_difference(self.restored.tokens, found.tokens)
                return f"at {at} behind {behind(self.restored.tokens, at)}: {told(self.restored.tokens, at)} became {told(found.tokens, at)}"
            if found.tokens == self.restored.tokens:
                lost = self.compare_objects(found, way not in WITHOUT_NEW)
                if lost:
                    return lost
        # Attributes that a recipe in C leaves out (a defaultdict's subclass, exceptions) may be kept all the same.
        more = {} if is_asked(type(graph[0])) else self.original.uses
        lost = differs(self.restored.uses, self.again.uses, found.uses, more)
        another = way in WITHOUT_NEW and is_python(type(graph[0]).__new__)
        if lost and not (another and lost.startswith("hash")):
            return f"use: {lost}"
        return self.compare_use(graph[0], way not in WITHOUT_NEW)

    def compare_objects(self, found: Picture, by_new: bool) -> str:
        same_length = len(self.original.objects) == len(self.restored.objects)
        # An instance that `__new__` gave again brings all that it holds.
        all_anew = by_new or not any(
            one is two and is_python(type(one).__new__)
            for one, two in zip(self.restored.objects, self.again.objects, strict=False)
        )
        for index, (one, two, mine) in enumerate(
            zip(self.restored.objects, self.again.objects, found.objects, strict=False)
        ):
            if one is two and mine is not one and all_anew:
                if any(mine is now for now in Description(self.restored.graph).objects):
                    # Part of an object that all of them share, which the last one loaded gave a new state.
                    continue
                return f"{type(one).__qualname__} {quiet_repr(one)} is another object"
            told_by_original = self.original.hidden[index] if same_length else {}
            lost = differs(
                self.restored.hidden[index], self.again.hidden[index], found.hidden[index], told_by_original
            )
            if lost:
                return f"{type(one).__qualname__}.{lost}"
        return ""

    def compare_use(self, mine: Any, by_new: bool) -> str:
        original, one, two = self.original.graph[0], self.restored.graph[0], self.again.graph[0]
        if not by_new and any(is_python(type(obj).__new__) for obj in self.original.objects):
            # Others than those that `__new__` would give: they may be equal to nothing else.
            return ""
        if equal(original, one) and not equal(original, mine):
            return "use: is not equal any more"
        if self.check is not None:
            expected = outcome(self.check, one)
            if outcome(self.check, two) == expected:
                kept = outcome(self.check, mine)
                if kept not in (expected, outcome(self.check, original)):
                    return f"use: {expected:.80} became {kept:.80}"
        return ""


def first_difference(tokens: list[Any], others: list[Any]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(tokens, others, strict=False)) if a != b),
        min(len(tokens), len(others)),
    )


def behind(tokens: list[Any], at: int) -> str:
    """The last token before that names something: a key of the state, mostly."""
    names = [
        token
        for token in tokens[max(0, at - 12) : at]
        if isinstance(token, type) or (type(token) is tuple and token[0] == "str")
    ]
    return " ".join(
        str(name[1] if isinstance(name, tuple) else name.__qualname__)[:40] for name in names[-2:]
    )


def told(tokens: list[Any], at: int) -> str:
    return f"{tokens[at] if at < len(tokens) else 'nothing'!r}"[:100]


def quiet_repr(obj: Any) -> str:
    try:
        return f"{obj!r:.60}"
    except Exception as error:
        return f"({type(error).__name__} in its repr)"


def differs(
    one: dict[str, object], two: dict[str, object], mine: dict[str, object], original: dict[str, object]
) -> str:
    """What is the same in `one` and `two`, and neither that nor the original's in `mine`."""
    for name, value in one.items():
        found = mine.get(name, "gone")
        if two.get(name) != value or found == value or (original and found == original.get(name, "gone")):
            continue
        if name in ("repr", "str") and sorted(str(found)) == sorted(str(value)):
            # The order of sets is nobody's state.
            continue
        if isinstance(value, list) and isinstance(found, list):
            if sorted(map(sorted, map(str, value))) == sorted(map(sorted, map(str, found))):
                continue
            return f"{name}: without {[v for v in value if v not in found][:5]}, with {[v for v in found if v not in value][:5]}"
        return f"{name}: {value!s:.80} became {found!s:.80}"
    return ""


def equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False


def outcome(check: Callable[[Any], Any], obj: Any) -> str:
    try:
        return repr(check(obj))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def graph_of(obj: Any) -> list[Any]:
    """The object, met three times."""
    return [obj, (obj,), {"again": obj}]


# --- the ways ---
def by_pickle_names(graph: Any) -> Any:
    return holdall.pickle.loads(holdall.pickle.dumps(graph))


def by_pickle_file(graph: Any) -> Any:
    file = io.BytesIO()
    holdall.pickle.Pickler(file).dump(graph)
    file.seek(0)
    return holdall.pickle.Unpickler(file).load()


def by_permitted(graph: Any) -> Any:
    """Stored without trust; each class that the message names is permitted."""
    data = holdall.dumps(graph)
    return load_permitted(lambda types: holdall.loads(data, types=types), graph)


def by_type(graph: Any) -> Any:
    """The object alone, under its own class as annotation."""
    obj = graph[0]
    data = holdall.dumps(obj)
    return graph_of(load_permitted(lambda types: holdall.loads(data, type=type(obj), types=types), graph))


def of_a_copy(way: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for what nobody else holds: each object is held by its parents alone."""
    return lambda graph: way(pickle.loads(pickle.dumps(graph, 5)))


WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": by_pickle_names,
    "file": by_pickle_file,
    "classes": by_permitted,
    "deepcopy": holdall.deepcopy,
    "typed": by_type,
    "pickle of a copy": of_a_copy(by_pickle_names),
    "deepcopy of a copy": of_a_copy(holdall.deepcopy),
}
# Here no code of a class runs, `__new__` neither: what that would give, an instance that is there already, is another one.
WITHOUT_NEW = ("classes", "typed")
REFUSES = (holdall.HoldallError, TypeError, pickle.PicklingError)


class Unloadable(Exception):
    """`dumps` took it, and `loads` doesn't."""


def has_alias(obj: Any) -> bool:
    return "__orig_class__" in attribute_of(obj, "__dict__", ())


def is_abstract(obj: Any) -> bool:
    """Does an annotation leave open which container it is?"""
    own = [vars(owner).get("__annotations__") for owner in type(obj).__mro__]
    annotations = " ".join(repr(note) for notes in own if isinstance(notes, dict) for note in notes.values())
    return any(name in annotations for name in ("Sequence", "Collection", "Iterable"))


def attribute_of(obj: Any, name: str, default: Any) -> Any:
    """Classes may answer with whatever error they like."""
    try:
        return getattr(obj, name, default)
    except Exception:
        return default


def has_other_attributes(obj: Any) -> bool:
    """Are there attributes without an annotation? A load by type skips them: "name what you need"."""
    own = [vars(owner).get("__annotations__") for owner in type(obj).__mro__]
    annotated = {name for names in own if isinstance(names, dict) for name in names}
    private = attribute_of(obj, "__pydantic_private__", None)
    attributes = {*attribute_of(obj, "__dict__", ()), *(private if isinstance(private, dict) else ())}
    for owner in type(obj).__mro__:
        slots = vars(owner).get("__slots__", ())
        attributes.update(slots if isinstance(slots, (tuple, list)) else (str(slots),))
    attributes -= {"__dict__", "__weakref__"}
    return bool(annotated) and not annotated.issuperset(attributes)


def load_permitted(load: Callable[[list[type]], Any], graph: Any) -> Any:
    """Permit what the error asks for, until it is loaded."""
    permitted: list[type] = []
    known: dict[str, type] = {}
    while True:
        try:
            return load(permitted)
        except holdall.UnknownTypeError as error:
            known = known or classes_of(graph)
            cls = known.get(error.type_name) or named(error.type_name)
            if cls is None or cls in permitted or len(permitted) >= MOST_CLASSES:
                raise Unloadable(f"{type(error).__name__}: {error}") from error
            permitted.append(cls)
        except holdall.ValidationError:
            raise
        except holdall.HoldallError as error:
            raise Unloadable(f"{type(error).__name__}: {error}") from error


def classes_of(graph: Any) -> dict[str, type]:
    """By the names that messages give them, the classes of a graph's objects."""
    try:
        objects = Description(graph).objects
    except Undescribed:
        objects = []
    return {f"{type(obj).__module__}.{type(obj).__qualname__}": type(obj) for obj in objects}


def named(name: str) -> type | None:
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:cut]))
        if module is not None:
            try:
                found = functools.reduce(getattr, parts[cut:], module)
            except AttributeError:
                continue
            return found if isinstance(found, type) else None
    return None


def by_pickle(graph: Any) -> Any:
    return pickle.loads(pickle.dumps(graph, 5))


PEERS: dict[str, Callable[[Any], Any]] = {
    "pickle": by_pickle,
    "copy": copy.deepcopy,
    "pickle of a copy": of_a_copy(by_pickle),
    "copy of a copy": of_a_copy(copy.deepcopy),
}
OF_A_COPY = ("pickle of a copy", "copy of a copy")


def peer_of(way: str) -> str:
    peers = {
        "deepcopy": "copy",
        "deepcopy of a copy": "copy of a copy",
        "pickle of a copy": "pickle of a copy",
    }
    return peers.get(way, "pickle")


class Peers:
    """An object, and what pickle and copy make of it: asked before ours."""

    def __init__(self, obj: Any, check: Callable[[Any], Any] | None, ways: list[str]) -> None:
        self.graph, self.check = graph_of(obj), check
        self.references: dict[str, Reference] = {}
        try:
            # What is cached on the first use is there from now on.
            Picture(self.graph)
            if check is not None:
                outcome(check, obj)
            original = Picture(self.graph)
        except Exception:
            return
        for peer in {peer_of(way): None for way in ways}:
            way = PEERS[peer]
            try:
                first = Picture(by_pickle(self.graph)) if peer in OF_A_COPY else original
                self.references[peer] = Reference(first, way(self.graph), way(self.graph), check)
            except Exception:
                continue

    def compare(self, peer: str, way: str, result: Any) -> str:
        lost = told_by(self.references[peer], result, way)
        if lost:
            # Objects change while they are looked at. Once more, all of it made before any of it is looked at.
            try:
                before, result, after = (
                    PEERS[peer](self.graph),
                    WAYS[way](self.graph),
                    PEERS[peer](self.graph),
                )
                first = Picture(by_pickle(self.graph) if peer in OF_A_COPY else self.graph)
                reference = Reference(first, before, after, self.check)
            except Exception:
                # What the peer makes can't be looked at twice.
                return ""
            lost = told_by(reference, result, way) and lost
        return lost

    @property
    def is_faithful(self) -> bool:
        """Does pickle keep all of it?"""
        kept = self.references.get("pickle")
        return kept is not None and kept.is_faithful


def told_by(reference: Reference, result: Any, way: str) -> str:
    try:
        return str(reference.compare(result, way))
    except Undescribed as error:
        return f"has no recipe any more: {error}"
    except Exception as error:
        return f"can't be looked at any more: {type(error).__name__}: {error}"[:300]


def judge(way: str, peers: Peers) -> Verdict:
    peer = peer_of(way)
    is_kept = peer in peers.references
    if way == "typed" and is_kept and any(map(has_other_attributes, peers.references[peer].original.objects)):
        return Verdict("none")
    if way.endswith("of a copy") and "pickle" not in peers.references:
        return Verdict("none")
    try:
        result = WAYS[way](peers.graph)
    except Unloadable as error:
        return Verdict("lost", f"stored, and not loaded: {error}"[:300])
    except Exception as error:
        text = f"{type(error).__name__}: {error}"[:300]
        if not is_kept:
            return Verdict("none")
        if way in ("classes", "typed"):
            by_its_type = way == "typed" and isinstance(error, (holdall.ValidationError, TypeError))
            named_it = isinstance(error, REFUSES) and REMEDY.search(text)
            return Verdict("refused" if by_its_type or named_it else "unclear", text)
        return Verdict("lost", text)
    if not is_kept:
        return Verdict("none")
    lost = peers.compare(peer, way, result)
    if lost and peer != "pickle" and "pickle" in peers.references:
        # A copy that is what pickle makes of it will do: `copy` appends to lists one by one, say, and the class notices.
        lost = told_by(peers.references["pickle"], WAYS[way](peers.graph), way) and lost
    if (
        lost
        and way == "typed"
        and "<class 'list'>" in lost
        and any(map(is_abstract, peers.references[peer].original.objects))
    ):
        return Verdict(
            "named", "by type, what is annotated as a Sequence, Collection or Iterable becomes a list"
        )
    if lost and way in WITHOUT_NEW and any(map(has_alias, peers.references[peer].original.objects)):
        return Verdict(
            "named", "ordinary messages leave out `__orig_class__`, typing's note of `Class[int]()`"
        )
    return Verdict("lost", lost) if lost else Verdict("kept")
