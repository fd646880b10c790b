"""A graph told as pickle sees it: types, states, sharing, in an order that two equal graphs have in common.

Every object is taken to pieces by the recipe that pickle would use (copyreg's table, else `__reduce_ex__`), whoever restored it.
So two graphs with the same description are the same to every reader that asks the objects themselves. What no recipe tells is
compared beside it: fields of C classes, and which objects are the very same ones (singletons, registries).
"""

from __future__ import annotations

import copyreg
import functools
import operator
import pathlib
import re
import struct
import sys
import types
from typing import Any, Iterator

# A graph of more objects is cut off here: what differs beyond is not seen.
MOST_OBJECTS = 2_000
SCALARS = (type(None), bool, int, str, type(Ellipsis), type(NotImplemented))
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
# Of a dtype: is it the one that NumPy itself made? A restored one may be, where pickle's is a copy. Of an array: what holds its
# memory.
NOT_STATE = {"isbuiltin", "base"}
SHOWN = (bool, int, float, complex, str, bytes)


class Undescribed(Exception):
    """Pickle has no recipe for an object of the graph."""


class Description:
    """`tokens` and `objects` of a graph, each in the order of the walk."""

    def __init__(self, root: object) -> None:
        self.tokens: list[Any] = []
        self.objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        # Recipes are made for the walk: held, so that no id is given out twice.
        self._held: list[Any] = []
        self._walk(root)

    def _walk(self, root: object) -> None:
        # What is to come: objects, or tokens behind a marker.
        todo: list[tuple[bool, Any]] = [(True, root)]
        while todo and len(self.objects) < MOST_OBJECTS:
            is_object, item = todo.pop()
            if not is_object:
                self.tokens.append(item)
                continue
            todo.extend(reversed(list(self._parts(item))))

    def _parts(self, obj: Any) -> Iterator[tuple[bool, Any]]:
        cls = type(obj)
        if cls in SCALARS:
            self.tokens.append((cls.__name__, obj))
            return
        if cls is float:
            self.tokens.append(("float", struct.pack("d", obj)))
            return
        if cls is complex:
            self.tokens.append(("complex", struct.pack("dd", obj.real, obj.imag)))
            return
        if cls is bytes or (cls in (tuple, frozenset) and not obj):
            self.tokens.append((cls.__name__, bytes(obj)))
            return
        number = self._numbers.get(id(obj))
        if number is not None:
            self.tokens.append(("again", number))
            return
        if not is_value(cls):
            self._numbers[id(obj)] = len(self._numbers)
        self.objects.append(obj)
        self._held.append(obj)
        self.tokens.append(by_name(cls))
        if cls is bytearray:
            yield False, bytes(obj)
        elif cls is list or cls is tuple:
            yield False, len(obj)
            for part in obj:
                yield True, part
        elif cls is dict:
            yield False, len(obj)
            for key, part in obj.items():
                yield True, key
                yield True, part
        elif cls is set or cls is frozenset:
            yield False, sorted(outline(member) for member in obj)
        elif (
            (isinstance(obj, type) and cls not in copyreg.dispatch_table)
            or cls is types.FunctionType
            or cls is types.ModuleType
        ):
            yield False, by_reference(obj)
        else:
            yield from self._reduced(obj)

    def _reduced(self, obj: Any) -> Iterator[tuple[bool, Any]]:
        if getattr(getattr(obj, "dtype", None), "char", "") in ("g", "G") and type(obj).__module__ == "numpy":
            # Six bytes of each long double are whatever was there.
            yield False, (obj.dtype.str, obj.shape, repr(obj.tolist()))
            return
        made = reduction(obj)
        if isinstance(obj, pathlib.PurePath) and type(made) is tuple:
            # Since 3.14 it has the texts that it was made from, by which nothing else tells `Path()` from `Path(".")`.
            made = (made[0], obj.parts, *made[2:])
        self._held.append(made)
        if isinstance(made, str):
            yield False, ("global", made, is_global(obj, made))
            return
        if type(made) is not tuple:
            raise Undescribed(f"{type(obj).__qualname__} has no recipe")
        made = list(made)
        # No state, and an empty one that asks nobody, are the same: asking an object for its `__dict__` makes it one.
        if len(made) == 3 and made[2] == {} and not is_python(getattr(type(obj), "__setstate__", None)):
            made.pop()
        while made[-1] is None:
            made.pop()
        if isinstance(obj, (set, frozenset)) and len(made) > 1 and made[1] and isinstance(made[1][0], list):
            # A subclass, whose recipe lists the members in whatever order they are.
            made[1] = (sorted(map(outline, made[1][0])), *made[1][1:])
        for index, part in enumerate(made):
            if index in (3, 4) and part is not None:
                part = list(part)
                self._held.append(part)
            yield True, part


@functools.cache
def is_value(cls: type) -> bool:
    """Does nobody ask which of several equal ones it is? (Of NumPy's types only the singletons, which `objects` tells.)"""
    return any(owner.__module__ == "numpy" and owner.__name__ == "dtype" for owner in cls.__mro__)


def reduction(obj: Any) -> Any:
    """What pickle makes `obj` of."""
    try:
        own = copyreg.dispatch_table.get(type(obj))
        return own(obj) if own is not None else obj.__reduce_ex__(4)
    except Exception as error:
        raise Undescribed(f"{type(obj).__qualname__}: {type(error).__name__}: {error}") from error


def outline(member: object, depth: int = 3) -> str:
    """A set's member, alone: members have no order to number them by."""
    if type(member) in SCALARS or depth == 0:
        return (
            f"{type(member).__qualname__} {member!r}"
            if type(member) in SCALARS
            else type(member).__qualname__
        )
    if isinstance(member, (frozenset, set)):
        return f"{type(member).__qualname__} {sorted(outline(m, depth - 1) for m in member)}"
    if type(member) is tuple:
        return f"({', '.join(outline(m, depth - 1) for m in member)})"
    if isinstance(member, (type, types.FunctionType, types.ModuleType)):
        return str(by_reference(member))
    return f"{type(member).__qualname__} {without_addresses(repr(member))}"


def by_reference(obj: Any) -> Any:
    """A class, function or module: its name, and whether that leads to it; else which object it is."""
    if isinstance(obj, types.ModuleType):
        return ("module", obj.__name__)
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str):
        try:
            if functools.reduce(getattr, name.split("."), sys.modules[module]) is obj:
                return (module, name)
        except (KeyError, AttributeError):
            pass
    return (module, name, id(obj))


@functools.cache
def by_name(cls: type) -> Any:
    """A class, where its name leads to it; else the name: classes that a recipe makes are new each time."""
    known = by_reference(cls)
    return cls if len(known) == 2 else known[:2]


def is_global(obj: Any, name: str) -> bool:
    """Is `obj` what a recipe that is only a name leads to?"""
    modules = [getattr(obj, "__module__", None), type(obj).__module__, "builtins"]
    modules += [
        name_ for name_ in sorted(sys.modules) if name_.partition(".")[0] == str(modules[1]).partition(".")[0]
    ]
    for module in modules:
        try:
            if functools.reduce(getattr, name.split("."), sys.modules[module]) is obj:  # type: ignore[index]
                return True
        except (KeyError, AttributeError, TypeError):
            continue
    return False


HOOKS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")


def is_asked(cls: type) -> bool:
    """Does Python code of the class say what its state is? Then what it leaves out is left out on purpose."""
    for hook in HOOKS:
        owner = next((owner for owner in cls.__mro__ if hook in vars(owner)), object)
        # Counter's own recipe is Python code, and knows no more of a subclass than those in C.
        if owner.__module__ != "collections" and is_python(vars(owner).get(hook)):
            return True
    return cls in copyreg.dispatch_table


def is_python(hook: object) -> bool:
    return hook is not None and not isinstance(
        hook, (types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType)
    )


def without_addresses(text: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]{6,}\b", "0x", text)


def is_empty_array(obj: Any) -> bool:
    return (
        any(owner.__module__ == "numpy" and owner.__name__ == "ndarray" for owner in type(obj).__mro__)
        and not obj.size
    )


def hidden(obj: Any) -> dict[str, object]:
    """What descriptors of C classes show of an object, where that is a scalar."""
    found: dict[str, object] = {}
    if isinstance(obj, type):
        return found
    # NumPy itself gives arrays without items other strides when they are made than when they are unpickled.
    ignored = NOT_STATE | {"strides"} if is_empty_array(obj) else NOT_STATE
    for owner in type(obj).__mro__:
        if "__slots__" in vars(owner):
            # A Python class: its state is in the recipe, and what is not may be a cache.
            continue
        for name, descriptor in vars(owner).items():
            if type(descriptor) not in DESCRIPTORS or name in found or name in ignored:
                continue
            try:
                value = descriptor.__get__(obj, type(obj))
            except BaseException as error:
                found[name] = ("raises", type(error).__name__)
                continue
            if (
                isinstance(value, SHOWN)
                or value is None
                or (type(value) is tuple and all(type(v) in SHOWN for v in value))
            ):
                found[name] = (type(value).__name__, repr(value))
            elif type(value).__name__ == "flagsobj":
                # Who owns the memory is nobody's state.
                found[name] = (
                    type(value).__name__,
                    [line for line in repr(value).splitlines() if "OWNDATA" not in line],
                )
    return found


USES: dict[str, Any] = {
    "repr": lambda obj: without_addresses(repr(obj)),
    "str": lambda obj: without_addresses(str(obj)),
    "len": len,
    "bool": bool,
    "hash": lambda obj: steady_hash(obj) if type(obj).__hash__ is not object.__hash__ else None,
    "index": lambda obj: operator.index(obj) if hasattr(type(obj), "__index__") else None,
    "float": lambda obj: repr(float(obj)) if hasattr(type(obj), "__float__") else None,
    "items": lambda obj: first_items(obj),
    "dir": lambda obj: sorted(str(name) for name in dir(obj) if not str(name).startswith("__holdall")),
}


def steady_hash(obj: Any) -> int | None:
    """None where it is that of an address: of a generator that is made for it, say."""
    once = hash(obj)
    held = [bytes(size) for size in range(600) for _ in range(3)]
    return once if hash(obj) == once and held else None


def first_items(obj: Any) -> Any:
    """The first items of what is a container, not of what can be gone through only once."""
    if not hasattr(type(obj), "__len__") or iter(obj) is obj:
        return None
    return (
        [without_addresses(repr(item)) for item, _ in zip(obj, range(5), strict=False)]
        if not isinstance(obj, (set, frozenset))
        else None
    )


def uses(obj: Any) -> dict[str, object]:
    """What the usual operations say of an object, as text: errors too."""
    found: dict[str, object] = {}
    for name, use in USES.items():
        try:
            found[name] = use(obj)
        except RecursionError:
            raise
        except BaseException as error:
            found[name] = f"{type(error).__name__}: {without_addresses(str(error))}"
    return found
