"""The parts of values: one table for printing, JSON and comparing."""

from __future__ import annotations

import collections
import gc
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

import holdall

from ._paths import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Node(NamedTuple):
    """A container, taken apart.

    kind: "list" has items by number, "map" values by key, "set" members, "fields" values by name.
    name: distinguishes containers of the same kind; in JSON it is `$name`. "list" and "dict" are JSON's own.
    head, tail: the text before and after the items, as Python writes it.
    items: pairs of a step (index, key or name; None for a member) and a value.
    size: the number of items.
    extra: other content, as simple values.
    content: the id of the object that holds the items, which several containers may share: proxies share a
        dict, exceptions their arguments.
    """

    kind: str
    name: str
    head: str
    tail: str
    items: Iterator[tuple[Any, Any]]
    size: int
    extra: dict[str, Any]
    content: int


_BRACKETS: dict[type, tuple[str, str, str]] = {
    tuple: ("tuple", "(", ")"),
    set: ("set", "{", "}"),
    frozenset: ("frozenset", "frozenset({", "})"),
    collections.OrderedDict: ("ordereddict", "OrderedDict({", "})"),
    collections.Counter: ("counter", "Counter({", "})"),
    types.MappingProxyType: ("mappingproxy", "mappingproxy({", "})"),
}
_EMPTY: dict[type, str] = {
    set: "set()",
    frozenset: "frozenset()",
    collections.OrderedDict: "OrderedDict()",
    collections.Counter: "Counter()",
}

# For these it makes no difference whether two places have the same object.
IMMUTABLE = (tuple, frozenset)


# The types of most values, none of which has parts.
LEAVES = frozenset((str, int, float, bool, type(None), bytes, bytearray, complex, range, type(...)))
_NO_EXTRA: dict[str, Any] = {}
# Twice as fast as calling the class, which happens for each container.
_made: Callable[[Any, tuple[Any, ...]], Node] = tuple.__new__


def node(value: Any) -> Node | None:
    """A container's parts; None for a value without parts."""
    cls = type(value)
    if cls in LEAVES:
        return None
    if cls is list:
        return _made(Node, ("list", "list", "[", "]", enumerate(value), len(value), _NO_EXTRA, id(value)))
    if cls is dict:
        return _made(Node, ("map", "dict", "{", "}", iter(value.items()), len(value), _NO_EXTRA, id(value)))
    brackets = _BRACKETS.get(cls)
    if brackets is not None:
        name, head, tail = brackets
        if not value and cls in _EMPTY:
            head, tail = _EMPTY[cls], ""
        elif cls is tuple and len(value) == 1:
            tail = ",)"
        return _builtin(value, name, head, tail)
    if cls is holdall.Record:
        return _record(value)
    if cls is collections.deque:
        tail = "])" if value.maxlen is None else f"], maxlen={value.maxlen})"
        extra = {} if value.maxlen is None else {"maxlen": value.maxlen}
        return Node("list", "deque", "deque([", tail, iter(enumerate(value)), len(value), extra, id(value))
    if cls is collections.defaultdict:
        factory = getattr(value.default_factory, "__name__", None)
        head = f"defaultdict({factory}, {{"
        return Node(
            "map", "defaultdict", head, "})", iter(value.items()), len(value), {"factory": factory}, id(value)
        )
    if cls is types.SimpleNamespace:
        fields = vars(value)
        return Node(
            "fields", "namespace", "namespace(", ")", iter(fields.items()), len(fields), {}, id(fields)
        )
    if cls is collections.ChainMap and type(vars(value).get("maps")) is not list:
        # A damaged message may have anything in this field, or nothing.
        fields = vars(value)
        extra = {"type": "collections.ChainMap"}
        return Node(
            "fields", "record", "ChainMap(", ")", iter(fields.items()), len(fields), extra, id(fields)
        )
    if cls is collections.ChainMap:
        maps = value.maps
        return Node("list", "chainmap", "ChainMap(", ")", iter(enumerate(maps)), len(maps), {}, id(maps))
    if isinstance(value, BaseException):
        args = value.args
        extra = {"type": cls.__name__}
        head = f"{cls.__name__}("
        return Node("list", "exception", head, ")", iter(enumerate(args)), len(args), extra, id(args))
    return _array(value) or _of_julia(value) or _of_lisp(value)


def _builtin(value: Any, name: str, head: str, tail: str) -> Node:
    items: Iterator[tuple[Any, Any]]
    if name == "tuple":
        kind, items = "list", enumerate(value)
    elif name in ("set", "frozenset"):
        kind, items = "set", ((None, member) for member in value)
    else:
        kind, items = "map", iter(value.items())
    content = id(value)
    if name == "mappingproxy":
        # The only object that it refers to.
        content = id(gc.get_referents(value)[0])
    return _made(Node, (kind, name, head, tail, items, len(value), _NO_EXTRA, content))


def _record(value: Any) -> Node:
    fields, extra = value.fields, {"type": value.type_name}
    if value.version != 1:
        extra["version"] = value.version
    if value.kind == "enum":
        return Node(
            "fields",
            "enum",
            f"{_shortened(value.type_name)}.{_shortened(str(value.payload))}",
            "",
            iter(()),
            0,
            extra | {"member": value.payload},
            id(value),
        )
    if value.kind == "object":
        head = _shortened(value.type_name) + "("
        return _made(
            Node, ("fields", "record", head, ")", iter(fields.items()), len(fields), extra, id(value))
        )
    # A builtin base's content, or what a registered `encode` returned, comes first and has no name of its
    # own.
    items = iter([("*", value.payload), *fields.items()])
    return Node(
        "fields", value.kind, _shortened(value.type_name) + "(", ")", items, len(fields) + 1, extra, id(value)
    )


# The length of a class's name that is shown, because each instance repeats it.
_LONGEST_NAME = 200


def _shortened(name: str) -> str:
    return printable(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}...")


def _array(value: Any) -> Node | None:
    """An array of objects; an array of numbers counts as one value."""
    if is_array(value) and value.dtype == object:
        extra = {"shape": list(value.shape)}
        tail = "], dtype=object)" if value.ndim == 1 else f"], dtype=object, shape={value.shape})"
        return Node(
            "list", "objects", "array([", tail, iter(enumerate(value.flat)), value.size, extra, id(value)
        )
    return None


def is_array(value: Any) -> bool:
    """Whether it is a NumPy array; NumPy is not imported to find out."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _of_julia(value: Any) -> Node | None:
    if "holdall.julia" not in sys.modules:
        return None
    julia: Any = holdall.julia
    cls = type(value)
    name = cls.__name__
    extra: dict[str, Any] = {"type": name}
    if cls is julia.JuliaStruct:
        values = getattr(value, "values", None)
        if type(values) is not list:
            return None
        label = str(getattr(getattr(value, "type", None), "name", None) or leaf(getattr(value, "type", None)))
        names = _names(value) or range(len(values))
        items = zip(names, values, strict=True)
        head = _shortened(label) + "("
        return Node("fields", "julia", head, ")", iter(items), len(values), {"type": label}, id(values))
    if cls in (julia.Dict, julia.IdDict):
        return Node("map", "julia", f"{name}({{", "})", iter(value.items()), len(value), extra, id(value))
    if cls is julia.Set:
        members = ((None, member) for member in value)
        return Node("set", "julia", "Set({", "})", members, len(value), extra, id(value))
    if cls in (julia.NamedTuple, julia.SimpleVector, julia.Pairs):
        return Node("list", "julia", f"{name}([", "])", iter(enumerate(value)), len(value), extra, id(value))
    fields = getattr(cls, "_NAMES", None)
    if fields and cls.__module__.startswith("holdall.julia"):
        pairs = iter([(field, getattr(value, field, None)) for field in fields])
        return Node("fields", "julia", f"{name}(", ")", pairs, len(fields), extra, id(value))
    return None


def _names(value: Any) -> tuple[str, ...]:
    try:
        names: tuple[str, ...] = value._names()
    except (TypeError, AttributeError):
        # In a damaged file its type may be anything.
        return ()
    return names


def leaf(value: Any, most: int | None = None) -> str:
    """A value without parts, as Python writes it; for text longer than `most`, only its beginning."""
    if most is not None and isinstance(value, (str, bytes, bytearray)) and len(value) > most:
        value = value[: most + 1]
    try:
        return repr(value)
    except MemoryError:
        raise
    except Exception:
        # An int with more digits than Python converts to text; an instance with any content, from a damaged
        # file.
        return hex(value) if type(value) is int else f"<{type(value).__name__}>"


def _of_lisp(value: Any) -> Node | None:
    if "holdall.lisp" not in sys.modules:
        return None
    lisp: Any = holdall.lisp
    cls = type(value)
    name = cls.__name__
    extra: dict[str, Any] = {"type": name}
    if cls is lisp.LispObject:
        values: Any = getattr(value, "values", None)
        of_type: Any = getattr(value, "type", None)
        if type(values) is not list or type(of_type) is not lisp.Type:
            return None
        names = [*of_type.fields] if len(of_type.fields) == len(values) else range(len(values))
        items = zip(names, values, strict=True)
        label = str(of_type)
        return Node(
            "fields",
            "lisp",
            _shortened(label) + "(",
            ")",
            iter(items),
            len(values),
            {"type": label},
            id(values),
        )
    if cls is lisp.HashTable:
        return Node("map", "lisp", "HashTable({", "})", iter(value.items()), len(value), extra, id(value))
    if cls is lisp.Pairs:
        return Node("list", "lisp", "Pairs([", "])", iter(enumerate(value)), len(value), extra, id(value))
    if cls in (lisp.Cons, lisp.Array, lisp.Complex):
        fields = {field: getattr(value, field, None) for field in cls._NAMES}
        return Node("fields", "lisp", f"{name}(", ")", iter(fields.items()), len(fields), extra, id(value))
    return None
