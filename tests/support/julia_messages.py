"""Julia's tagged documents by hand: trees for `holdall.bson.dumps`, as BSON.jl writes them or as nobody does."""

from __future__ import annotations

from typing import Any

from holdall import bson

Tree = dict[str, Any]


def long(value: int) -> Any:
    """An Int64, which `bson.dumps` would write as an Int32 where that is enough."""
    return bson.Int64(value)


def datatype(*path: str, params: Any = ()) -> Tree:
    return {
        "tag": "datatype",
        "params": params if isinstance(params, dict) else list(params),
        "name": list(path),
    }


def struct(of: Any, *values: Any) -> Tree:
    return {"tag": "struct", "type": of, "data": list(values)}


def bits(of: Any, data: bytes) -> Tree:
    return {"tag": "struct", "type": of, "data": data}


def array(of: Any, size: tuple[int, ...], data: Any) -> Tree:
    return {"tag": "array", "type": of, "size": [long(length) for length in size], "data": data}


def symbol(name: str) -> Tree:
    return {"tag": "symbol", "name": name}


def tuple_of(*values: Any) -> Tree:
    return {"tag": "tuple", "data": list(values)}


def backref(number: int) -> Tree:
    return {"tag": "backref", "ref": long(number)}


def unionall(var: Any, body: Any) -> Tree:
    return {"tag": "unionall", "var": var, "body": body}


ANY, INT64, FLOAT64, STRING, BOOL, UINT8, NOTHING = (
    datatype("Core", name) for name in "Any Int64 Float64 String Bool UInt8 Nothing".split()
)
FOO = datatype("Main", "Foo")


def dict_of(keys: Any, values: Any, of: Any = None) -> Tree:
    return struct(of or datatype("Main", "Base", "Dict", params=[ANY, ANY]), keys, values)


def message(value: Any, *apart: Any) -> bytes:
    """A document of one member, `value`; what stands apart is referred to from 1 on."""
    return bson.dumps({"value": value, **({"_backrefs": list(apart)} if apart else {})})
