"""A reader and a writer of Julia's dialect of BSON in plain Python, over what `holdall.julia._host` answers.

They share no code with the native ones. The tree is BSON's, tags and all, with what `_backrefs` holds in its places: lists and
dicts that are one object in Julia are one here. They recurse, which a reader for others' data must not.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from holdall.julia import Int32
from holdall.julia import _host as host

TAGS = "array backref datatype jl_anonymous jl_bottom_type ref struct svec symbol tuple unionall".split()


# --- bytes and trees ---


def parse(data: bytes) -> dict[str, Any]:
    """The tree of a file."""
    root, end = _document(data, 0, {})
    assert end == len(data)
    apart = root.pop("_backrefs", [])
    resolved: dict[int, Any] = {}

    def resolve(node: Any) -> Any:
        if isinstance(node, dict) and node.get("tag") == "backref":
            number = node["ref"]
            if number not in resolved:
                target = apart[number - 1]
                resolved[number] = target
                inside(target)
            return resolved[number]
        inside(node)
        return node

    def inside(node: Any) -> None:
        if isinstance(node, dict):
            for key in node:
                node[key] = resolve(node[key])
        elif isinstance(node, list):
            node[:] = [resolve(item) for item in node]

    resolve(root)
    return root


def count_apart(data: bytes) -> int:
    """How many values a file keeps in `_backrefs`."""
    root, _ = _document(data, 0, {})
    return len(root.get("_backrefs", ()))


def _document(data: bytes, at: int, made: Any) -> tuple[Any, int]:
    (length,) = struct.unpack_from("<i", data, at)
    end = at + length
    at += 4
    while data[at]:
        kind = data[at]
        stop = data.index(0, at + 1)
        name = data[at + 1 : stop].decode()
        value, at = _value(kind, data, stop + 1)
        if isinstance(made, dict):
            made[name] = value
        else:
            assert name == str(len(made))
            made.append(value)
    assert at + 1 == end
    return made, end


def _value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind == 0x01:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind == 0x02:
        (length,) = struct.unpack_from("<i", data, at)
        return data[at + 4 : at + 3 + length].decode("utf-8", "surrogateescape"), at + 4 + length
    if kind == 0x03:
        return _document(data, at, {})
    if kind == 0x04:
        return _document(data, at, [])
    if kind == 0x05:
        (length,) = struct.unpack_from("<i", data, at)
        return data[at + 5 : at + 5 + length], at + 5 + length
    if kind == 0x08:
        return data[at] == 1, at + 1
    if kind == 0x0A:
        return None, at
    if kind == 0x10:
        return Int32(struct.unpack_from("<i", data, at)[0]), at + 4
    assert kind == 0x12, kind
    return struct.unpack_from("<q", data, at)[0], at + 8


def unparse(node: Any) -> bytes:
    """The bytes of a tree in which nothing stands apart."""
    pairs = node.items() if isinstance(node, dict) else ((str(at), item) for at, item in enumerate(node))
    body = b"".join(_element(str(name), value) for name, value in pairs)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def _element(name: str, value: Any) -> bytes:
    kind, payload = _payload(value)
    return bytes([kind]) + name.encode() + b"\0" + payload


def _payload(value: Any) -> tuple[int, bytes]:
    if isinstance(value, float):
        return 0x01, struct.pack("<d", value)
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogateescape")
        return 0x02, struct.pack("<i", len(raw) + 1) + raw + b"\0"
    if isinstance(value, dict):
        return 0x03, unparse(value)
    if isinstance(value, list):
        return 0x04, unparse(value)
    if isinstance(value, bytes):
        return 0x05, struct.pack("<iB", len(value), 0) + value
    if isinstance(value, bool):
        return 0x08, bytes([value])
    if value is None:
        return 0x0A, b""
    if isinstance(value, Int32):
        return 0x10, struct.pack("<i", value)
    return 0x12, struct.pack("<q", value)


# --- trees and values ---


def loads(data: bytes, types: Any = None) -> Any:
    return Builder(types).build(parse(data))


class Builder:
    def __init__(self, types: Any) -> None:
        self.types = host.permitted(types)
        # By the number of the node: what is shared in the tree is shared in what is made of it.
        self.made: dict[int, Any] = {}

    def build(self, node: Any) -> Any:
        if isinstance(node, bytes):
            import numpy as np

            return self.once(node, lambda: np.frombuffer(node, np.uint8).copy())
        if isinstance(node, list):
            return self.filled(node, [], lambda made: made.extend(map(self.build, node)))
        if not isinstance(node, dict):
            return node
        if node.get("tag") in TAGS:
            return self.made[id(node)] if id(node) in self.made else self.tagged(node["tag"], node)
        return self.filled(
            node, {}, lambda made: made.update((key, self.build(item)) for key, item in node.items())
        )

    def once(self, node: Any, make: Any) -> Any:
        if id(node) not in self.made:
            self.made[id(node)] = make()
        return self.made[id(node)]

    def filled(self, node: Any, empty: Any, fill: Any) -> Any:
        if id(node) not in self.made:
            self.made[id(node)] = empty
            fill(empty)
        return self.made[id(node)]

    def tagged(self, tag: str, node: Any) -> Any:
        if tag == "struct":
            return self.structure(node)
        if tag == "array":
            return self.once(node, lambda: self.array(node))
        if tag == "tuple":
            return tuple(map(self.build, node["data"]))
        if tag == "svec":
            return host.SimpleVector(list(map(self.build, node["data"])))
        if tag == "symbol":
            return host.Symbol(node["name"])
        if tag == "datatype":
            return self.once(node, lambda: host.Type(tuple(node["name"]), self.parameters(node)))
        if tag == "unionall":
            return self.once(node, lambda: host.UnionAll(self.build(node["var"]), self.build(node["body"])))
        if tag == "jl_anonymous":
            return self.once(
                node, lambda: host.anonymous(list(self.parameters(node)), self.build(node["typename"]))
            )
        return host.BOTTOM if tag == "jl_bottom_type" else host.Module(tuple(node["path"]))

    def parameters(self, node: Any) -> tuple[Any, ...]:
        params = node["params"]
        if isinstance(params, bytes):
            return tuple(host.parameters_of_bytes(params))
        if isinstance(params, dict) and params.get("tag") == "array" and isinstance(params["data"], bytes):
            (count,) = params["size"]
            return tuple(host.parameters(self.build(params["type"]), params["data"], count, self.types))
        made: list[Any] = self.build(params)
        return tuple(made)

    def structure(self, node: Any) -> Any:
        type_ = self.build(node["type"])
        how, *more = host.resolve(type_, self.types)
        data = node["data"]
        if isinstance(data, bytes):
            if how == host.NUMBER:
                number = _number(more[1], data)
                return number if more[0] is None else more[0](number)
            return more[0](type_, data) if how == host.BITS else host.bits(type_, data)
        if how == host.FIELDS and len(more[1]) == len(data):
            cls, names, attribute, _ = more
            made = self.made[id(node)] = object.__new__(cls)
            for name, item in zip(names, data, strict=True):
                object.__setattr__(made, name, self.build(item))
            if attribute is not None:
                object.__setattr__(made, attribute, type_)
            return made
        if how == host.TABLE:
            table = self.made[id(node)] = more[0](type_)
            keys, values = map(self.column, data)
            try:
                table.update(zip(keys, values, strict=True))
            except TypeError:
                table.clear()
            if len(table) < len(keys):
                self.made[id(node)] = host.pairs(type_, keys, values)
            return self.made[id(node)]
        if how == host.MAKE:
            return self.once(node, lambda: more[0](type_, list(map(self.build, data))))
        made = self.made[id(node)] = host.record(type_, [])
        made.values.extend(map(self.build, data))
        return made

    def column(self, node: Any) -> list[Any]:
        if isinstance(node, list):
            return self.build(node)
        if isinstance(node, bytes):
            return list(node)
        (count,) = node["size"]
        return host.items(self.build(node["type"]), node["data"], count, self.types)

    def array(self, node: Any) -> Any:
        import numpy as np

        type_, shape, data = self.build(node["type"]), tuple(map(int, node["size"])), node["data"]
        if isinstance(data, list):
            boxed = self.made[id(node)] = np.empty(shape, host.boxed_dtype(type_), order="F")
            flat = boxed.ravel(order="K")
            for at, item in enumerate(data):
                flat[at] = self.build(item)
            assert not flat.size or np.shares_memory(flat, boxed)
            return boxed
        count = math.prod(shape)
        dtype, convert = host.array_of(type_, len(data) // count if count else 0, self.types)
        if convert is not None:
            return convert(type_, data, shape)
        return np.ndarray(shape, dtype, bytearray(data), order="F")


def _number(kind: str, data: bytes) -> Any:
    if kind != "f":
        return int.from_bytes(data, "little", signed=kind == "i")
    if (
        len(data) == 4
        and (bits := int.from_bytes(data, "little")) & 0x7F80_0000 == 0x7F80_0000
        and bits & 0x7F_FFFF
    ):
        # A conversion would make every NaN a quiet one.
        wide = bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7F_FFFF) << 29
        return struct.unpack("<d", struct.pack("<Q", wide))[0]
    return struct.unpack({2: "<e", 4: "<f", 8: "<d"}[len(data)], data)[0]


# --- and back ---


def dumps(root: dict[str, Any]) -> bytes:
    """The bytes of values of which none is shared."""
    return unparse(tree(root))


def tree(root: Any) -> Any:
    """The tree of values; what is one object there is one here."""
    return _Lowerer().node(root)


class _Lowerer:
    def __init__(self) -> None:
        self.nodes: dict[int, Any] = {}
        # Of sets, by their addresses.
        self.tables: dict[int, Any] = {}
        # No address comes twice.
        self.held: list[Any] = []
        self.values = set(host.VALUES)

    def node(self, obj: Any) -> Any:
        made: Any
        if obj is None or type(obj) in (bool, float, str):
            return obj
        if type(obj) is int and -(1 << 63) <= obj < 1 << 63:
            return obj
        if id(obj) in self.nodes:
            return self.nodes[id(obj)]
        self.held.append(obj)
        if type(obj) is tuple:
            return {"tag": "tuple", "data": list(map(self.node, obj))}
        if type(obj) is list:
            made = self.nodes[id(obj)] = []
            made.extend(map(self.node, obj))
            return made
        if type(obj) is dict and all(isinstance(key, str) for key in obj):
            if host.is_tag(obj.get("tag")):
                return self.lowered({}, host.lower_pairs(obj))
            made = self.nodes[id(obj)] = {}
            made.update((str(key), self.node(item)) for key, item in obj.items())
            return made
        made = {}
        if type(obj) not in self.values:
            self.nodes[id(obj)] = made
        of_class = host.class_of(type(obj))
        if of_class is not None:
            type_ = (getattr(obj, "__julia_type__", None) if of_class[2] else None) or of_class[0]
            if type_ is not None:
                return self.lowered(made, ("struct", type_, [getattr(obj, name) for name in of_class[1]]))
        lowered = host.lower(obj)
        assert lowered is not None, type(obj)
        self.held.append(lowered)
        if lowered[0] == "set":
            # The set is written wherever it is met; its table is one.
            _, type_, table = lowered
            self.nodes.pop(id(obj), None)
            if id(obj) not in self.tables:
                self.tables[id(obj)] = table
            return self.lowered({}, ("struct", type_, [self.tables[id(obj)]]))
        node = self.lowered(made, lowered)
        if node is not made:
            self.nodes[id(obj)] = node
        return node

    def lowered(self, made: dict[str, Any], lowered: tuple[Any, ...]) -> Any:
        how, *more = lowered
        if how in ("value", "int32", "bytes"):
            return (
                self.node(more[0]) if how == "value" else Int32(more[0]) if how == "int32" else bytes(more[0])
            )
        if how == "struct":
            made.update(tag="struct", type=self.node(more[0]))
            made["data"] = []
            made["data"].extend(map(self.node, more[1]))
        elif how == "bits":
            made.update(tag="struct", type=self.node(more[0]), data=bytes(more[1]))
        elif how in ("array", "boxed"):
            data = bytes(more[2]) if how == "array" else list(map(self.node, more[2]))
            made.update(tag="array", type=self.node(more[0]), size=list(more[1]), data=data)
        elif how == "symbol":
            made.update(tag="symbol", name=more[0])
        elif how == "svec":
            made.update(tag="svec", data=list(map(self.node, more[0])))
        elif how == "datatype":
            made.update(tag="datatype", params=self.parameters(more[1]), name=list(more[0]))
        elif how == "unionall":
            made.update(tag="unionall", var=self.node(more[0]), body=self.node(more[1]))
        elif how == "anonymous":
            made.update(tag="jl_anonymous", params=self.parameters(more[1]), typename=self.node(more[0]))
        elif how == "module":
            made.update(tag="ref", path=list(more[0]))
        else:
            assert how == "bottom"
            made.update(tag="jl_bottom_type")
        return made

    def parameters(self, params: tuple[Any, ...]) -> Any:
        # Those of bits are one vector, which `lower` makes.
        return list(map(self.node, params)) if isinstance(params, tuple) else self.node(params)
