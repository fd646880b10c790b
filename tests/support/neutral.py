"""Values described in terms of JSON, without Python: what tests/vectors/README.md explains.

`describe` takes a Python graph to nodes, `wire_reader.Reader` takes the bytes of a message to nodes, and `show` turns
nodes into JSON, so that the two can be compared.
"""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import fractions
import ipaddress
import json
import pathlib
import re
import struct
import types
import uuid
import zoneinfo
from dataclasses import dataclass, field
from typing import Any, Callable

import holdall


@dataclass(eq=False)
class Node:
    """Something with an identity: its kind, its parts, its number if it was given one, and what else a kind has."""

    kind: str
    parts: Any = None
    number: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


# What CPython keeps once has no identity to compare: short texts and bytes, the empty tuple and frozenset, UTC.
def is_single(node: Node) -> bool:
    if node.kind == "text":
        return len(node.parts) == 0 or (len(node.parts) == 1 and node.parts < "\u0100")
    if node.kind == "bytes":
        return len(node.parts) < 2
    return (node.kind in ("tuple", "frozenset") and not node.parts) or node.extra.get("known") in (
        "Utc",
        "BuiltinType",
    )


def _is_key(value: Any) -> bool:
    return isinstance(value, Node) and value.kind == "text"


class _Show:
    def __init__(self, numbers: bool) -> None:
        self.numbers = numbers
        self.met: collections.Counter[int] = collections.Counter()
        self.labels: dict[int, int] = {}

    def children(self, node: Node) -> list[Any]:
        found = [node.extra[name] for name in ("zone", "content") if name in node.extra]
        if node.kind == "dict":
            return [part for key, value in node.parts for part in ([value] if _is_key(key) else [key, value])]
        if node.kind == "class":
            return found + [value for _, value in node.parts]
        if node.kind in ("set", "frozenset"):
            node.parts = sorted(node.parts, key=_order)
        if node.kind in ("list", "tuple", "set", "frozenset", "known", "global", "persistent", "reduce"):
            return found + list(node.parts)
        return found

    def count(self, root: Any) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, Node):
                self.met[id(node)] += 1
                if self.met[id(node)] == 1:
                    stack += reversed(self.children(node))

    def value(self, node: Any) -> Any:
        if isinstance(node, str):
            return text(node)
        if isinstance(node, int) and not isinstance(node, bool) and abs(node) >= 1 << 53:
            return {"int": str(node)}
        if not isinstance(node, Node):
            return node
        if id(node) in self.labels:
            return {"again": self.labels[id(node)]}
        if self.met[id(node)] < 2 or is_single(node):
            return self.plain(node)
        label = node.number if self.numbers else len(self.labels) + 1
        assert label is not None, "met twice without a number"
        self.labels[id(node)] = label
        return {"object": label, "is": self.plain(node)}

    def key(self, key: Any) -> Any:
        return text(key.parts) if _is_key(key) else self.value(key)

    def plain(self, node: Node) -> Any:
        if node.kind == "text":
            return text(node.parts)
        if node.kind in ("bytes", "bytearray"):
            return {node.kind: bytes(node.parts).hex()}
        if node.kind in ("ellipsis", "notimplemented"):
            return {node.kind: None}
        if node.kind == "dict":
            return {"dict": [[self.key(key), self.value(value)] for key, value in node.parts]}
        if node.kind == "class":
            shown = {"class": text(node.extra["name"])} | {k: node.extra[k] for k in ("kind", "version")}
            if "content" in node.extra:
                shown["content"] = self.value(node.extra["content"])
            return shown | {"fields": [[text(name), self.value(value)] for name, value in node.parts]}
        if node.kind == "datetime":
            return {"datetime": node.parts, "zone": self.value(node.extra["zone"])}
        if node.kind == "buffer":
            return {"buffer": node.extra["of"], "form": node.extra["form"]}
        if node.kind == "known":
            return {"known": node.extra["known"], "values": [self.value(part) for part in node.parts]}
        if node.kind == "reduce":
            return {"reduce": node.extra["flags"], "values": [self.value(part) for part in node.parts]}
        return {node.kind: [self.value(part) for part in node.parts]}


def _order(value: Any, depth: int = 3) -> str:
    """An order of a set's members that does not hang on who stored them; sharing is not looked at."""
    if isinstance(value, list):
        return repr([_order(part, depth) for part in value])
    if not isinstance(value, Node) or isinstance(value.parts, (str, bytes)):
        return repr((value.kind, value.parts)) if isinstance(value, Node) else json.dumps(value)
    parts = [] if depth == 0 else [_order(part, depth - 1) for part in value.parts or []]
    return repr((value.kind, value.extra.get("name"), value.extra.get("known"), parts))


def text(value: str) -> Any:
    """JSON has no lone surrogates that every parser takes."""
    return (
        value
        if value.isascii() or not re.search("[\ud800-\udfff]", value)
        else {"text": list(map(ord, value))}
    )


def show(root: Any, *, numbers: bool = False) -> Any:
    """The JSON of a graph of nodes. Objects that are met again are told apart by `numbers` of theirs, else by a count."""
    shown = _Show(numbers)
    shown.count(root)
    return shown.value(root)


# --- from Python ---
_TEXTUAL = {
    f"{cls.__module__}.{cls.__name__}": cls.__name__
    for cls in (
        pathlib.PurePosixPath,
        pathlib.PureWindowsPath,
        pathlib.PosixPath,
        pathlib.WindowsPath,
        ipaddress.IPv4Address,
        ipaddress.IPv6Address,
        ipaddress.IPv4Network,
        ipaddress.IPv6Network,
        ipaddress.IPv4Interface,
        ipaddress.IPv6Interface,
        decimal.Decimal,
    )
}
_SAFETY = {uuid.SafeUUID.unknown: b"", uuid.SafeUUID.safe: b"\0", uuid.SafeUUID.unsafe: b"\xff"}
_MICROSECOND = dt.timedelta(microseconds=1)


def _timezone(zone: Any) -> tuple[str, list[Any]]:
    if zone is dt.timezone.utc:
        return "Utc", []
    args = zone.__getinitargs__()
    return "Timezone", [args[0] // _MICROSECOND, args[1] if len(args) > 1 else None]


# class -> the name and the values of the known type that its instances are
KNOWN: dict[type, Callable[[Any], tuple[str, list[Any]]]] = {
    dt.date: lambda x: ("Date", [x.toordinal()]),
    dt.time: lambda x: (
        "Time",
        [x.hour << 33 | x.minute << 27 | x.second << 21 | x.microsecond << 1 | x.fold, x.tzinfo],
    ),
    dt.timedelta: lambda x: ("Timedelta", [x // _MICROSECOND]),
    dt.timezone: _timezone,
    zoneinfo.ZoneInfo: lambda x: ("ZoneInfo", [x.key]),
    fractions.Fraction: lambda x: ("Fraction", [x.numerator, x.denominator]),
    uuid.UUID: lambda x: ("Uuid", [x.bytes + _SAFETY[x.is_safe]]),
    re.Pattern: lambda x: ("Pattern", [x.pattern, x.flags]),
    range: lambda x: ("Range", [x.start, x.stop, x.step]),
    slice: lambda x: ("Slice", [x.start, x.stop, x.step]),
    array.array: lambda x: (
        "Array",
        [x.typecode, x.tounicode() if x.typecode in "uw" else x.tobytes()],
    ),
    collections.deque: lambda x: ("Deque", [x.maxlen, list(x)]),
    collections.OrderedDict: lambda x: ("OrderedDict", [dict(x)]),
    collections.defaultdict: lambda x: ("DefaultDict", [x.default_factory, dict(x)]),
    collections.Counter: lambda x: ("Counter", [dict(x)]),
    types.MappingProxyType: lambda x: ("MappingProxy", [x.copy()]),
    type: lambda x: ("BuiltinType", [x.__name__]),
}


def _numpy(obj: Any) -> tuple[str, list[Any]] | None:
    """The known type of a NumPy object, without its dtype's form: nodes that are made by hand."""
    import numpy as np

    if isinstance(obj, np.dtype):
        return "NumpyDtype", [_dtype(obj)]
    if isinstance(obj, (np.str_, np.bytes_)):
        return "NumpyScalar", ["U", str(obj)] if isinstance(obj, np.str_) else ["S", bytes(obj)]
    if not isinstance(obj, (np.ndarray, np.generic)):
        return None
    dtype = _dtype(obj.dtype) if obj.dtype.names is None else obj.dtype
    if isinstance(obj, np.generic):
        return "NumpyScalar", [dtype, obj.tobytes()]
    order: Any = obj.flags.f_contiguous and not obj.flags.c_contiguous
    axes = sorted(range(obj.ndim), key=lambda axis: -obj.strides[axis])
    usual = order or not obj.transpose(axes).flags.c_contiguous or obj.flags.c_contiguous
    along = (obj.T if order else obj) if usual else obj.transpose(axes)
    items = along.ravel("C")
    held = items.tolist() if obj.dtype.hasobject else items.tobytes()
    read_only = not obj.flags.writeable and (obj.flags.forc or not usual)
    if read_only or not usual:
        in_order = range(obj.ndim)[:: -1 if order else 1] if usual else axes
        order = (read_only, *in_order)
    return "NdArray", [dtype, obj.shape, order, held]


def _dtype(dtype: Any) -> Any:
    """A dtype as values: a text, or for fields a list."""
    if dtype.names is None:
        return "O" if dtype.hasobject else dtype.str
    form: list[Any] = [dtype.itemsize, int(dtype.isalignedstruct)]
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        form += [name, offset, None, _dtype(field)]
    return form


_PLAIN = (
    collections.UserDict,
    collections.UserList,
    collections.UserString,
    collections.ChainMap,
    types.SimpleNamespace,
    object,
)
_ERROR_FIELDS = (
    "__cause__ __context__ __suppress_context__ name path obj errno strerror filename filename2".split()
)


def bits(value: float) -> str:
    return struct.pack(">d", value).hex()


class _Describe:
    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.held: list[Any] = []

    def value(self, obj: Any) -> Any:
        cls = type(obj)
        if obj is None or cls in (bool, int):
            return obj
        if cls is float:
            return {"float": bits(obj)}
        if cls is complex:
            return {"complex": [bits(obj.real), bits(obj.imag)]}
        if id(obj) in self.nodes:
            return self.nodes[id(obj)]
        node = self.nodes[id(obj)] = Node("")
        self.held.append(obj)
        self.fill(node, obj, cls)
        return node

    def fill(self, node: Node, obj: Any, cls: type) -> None:
        if cls is str:
            node.kind, node.parts = "text", obj
        elif cls in (bytes, bytearray):
            node.kind, node.parts = cls.__name__, bytes(obj)
        elif obj is Ellipsis or obj is NotImplemented:
            node.kind = "ellipsis" if obj is Ellipsis else "notimplemented"
        elif cls in (list, tuple, set, frozenset):
            node.kind, node.parts = cls.__name__, []
            node.parts += [self.value(part) for part in obj]
        elif cls is dict:
            node.kind, node.parts = "dict", []
            node.parts += [[self.value(key), self.value(value)] for key, value in obj.items()]
        elif cls is dt.datetime:
            parts = [
                obj.year,
                obj.month,
                obj.day,
                obj.hour,
                obj.minute,
                obj.second,
                obj.microsecond,
                obj.fold,
            ]
            node.kind, node.parts, node.extra = "datetime", parts, {"zone": self.value(obj.tzinfo)}
        elif cls is holdall.Record:
            self.layout(node, obj.type_name, obj.kind, obj.version, obj.fields)
            if obj.kind != "object":
                node.extra["content"] = self.value(obj.payload)
        elif cls in _PLAIN:
            self.layout(
                node, f"{cls.__module__}.{cls.__qualname__}", "object", 1, getattr(obj, "__dict__", {})
            )
        elif isinstance(obj, BaseException):
            builtin = cls
            found = {name: getattr(obj, name, None) for name in _ERROR_FIELDS if name in dir(builtin)}
            content = (obj.args, {name: value for name, value in found.items() if value not in (None, False)})
            self.layout(node, f"builtins.{cls.__name__}", "based", 1, obj.__dict__)
            node.extra["content"] = self.value(content)
        else:
            node.kind, node.parts = "known", []
            textual = _TEXTUAL.get(f"{cls.__module__}.{cls.__name__}")
            if textual:
                name, values = textual, [str(obj)]
            else:
                name, values = KNOWN[cls](obj) if cls in KNOWN else _numpy(obj) or ("", [])
            node.extra["known"] = name
            node.parts += [self.value(value) for value in values]

    def layout(self, node: Node, name: str, kind: str, version: int, fields: dict[str, Any]) -> None:
        node.kind, node.parts = "class", []
        node.extra = {"name": name, "kind": kind, "version": version}
        node.parts += [[name, self.value(value)] for name, value in fields.items()]


def describe(obj: object) -> Any:
    """The nodes of what `holdall.loads` gave; classes that it was not told of are records."""
    return _Describe().value(obj)


def relabel(shown: Any) -> Any:
    """The same JSON with its objects counted from 1 in the order in which they stand."""
    labels: dict[int, int] = {}

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "object" in part:
            label = labels[part["object"]] = len(labels) + 1
            return {"object": label, "is": walk(part["is"])}
        if "again" in part:
            return {"again": labels[part["again"]]}
        return {name: walk(one) for name, one in part.items()}

    return walk(shown)
