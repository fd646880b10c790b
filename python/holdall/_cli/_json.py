"""Values as JSON and back. What JSON lacks is an object whose first key says what it is.

| value | JSON |
|---|---|
| None, bool, int, float, str, list, dict with text keys | as they are |
| other dicts | `{"$dict": [[key, value], ...]}` |
| tuple, set, frozenset, deque, ... | `{"$tuple": [...]}`, `{"$set": [...]}`, ... |
| nan, inf, -inf | `{"$float": "nan"}` |
| bytes, bytearray | `{"$bytes": "<base64>"}`, `{"$bytearray": "<base64>"}` |
| datetime, date, time, timedelta, Decimal, UUID, ... | `{"$datetime": "2026-01-02T03:04:05"}`, ... |
| complex | `{"$complex": [real, imaginary]}` |
| Record | `{"$record": {name: value, ...}, "type": "shop.Order"}` |
| arrays of numbers | `{"$array": [...], "dtype": "<f8", "shape": [2, 2]}` |
| a container that was written before, or is being written | `{"$ref": "$.users[0]"}` |
| all else | `{"$repr": "<text>", "type": "module.Class"}` |

A dict whose first key is one of these names is a `$dict`. `restore` makes all but `$repr` values again.
"""

from __future__ import annotations

import base64
import collections
import datetime
import decimal
import fractions
import json
import math
import os
import pathlib
import re
import types
import uuid
from typing import TYPE_CHECKING, Any

import holdall

from . import _paths
from ._nodes import IMMUTABLE, Node, leaf, node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Names that `restore` knows; the rest is for the eye.
_NAMES = """
    tuple set frozenset deque dict ordereddict defaultdict counter namespace chainmap float int complex range
    bytes bytearray datetime date time timedelta decimal uuid fraction path record array scalar ref repr
"""
TAGS = frozenset(f"${name}" for name in _NAMES.split())
_encode = json.encoder.encode_basestring


def dumps(value: Any) -> str:
    return "".join(pieces(value))


class _Open:
    def __init__(
        self, parent: _Open | None, step: Any, parts: Node, value: Any, close: str, plain: bool
    ) -> None:
        self.parent = parent
        self.step = step
        self.parts = parts
        self.value = value
        self.close = close
        self.plain = plain  # a JSON object of the items: no pairs, no list
        self.count = 0


def pieces(value: Any) -> Iterator[str]:
    """The JSON text of a value, in one line. Any depth; a container that is met again is a `$ref` to where it
    stood first."""
    met: dict[int, _Open] = {}
    stack: list[_Open] = []
    yield from _begin(value, None, None, met, stack)
    while stack:
        top = stack[-1]
        try:
            step, child = next(top.parts.items)
        except StopIteration:
            stack.pop()
            yield top.close
            continue
        before = ", " if top.count else ""
        if top.parts.kind == "set":
            step = top.count
        top.count += 1
        if top.plain:
            yield f"{before}{_text(str(step))}: "
        elif top.parts.kind in ("map", "fields"):
            # Keys are hashable, and so hold no containers that others refer to.
            yield f"{before}[{dumps(step)}, "
        elif before:
            yield before
        yield from _begin(child, top, step, met, stack)
        if stack[-1] is top and not top.plain and top.parts.kind in ("map", "fields"):
            yield "]"


def _begin(
    value: Any, parent: _Open | None, step: Any, met: dict[int, _Open], stack: list[_Open]
) -> Iterator[str]:
    cls = type(value)
    if cls is str:
        yield _text(value)
        return
    parts = node(value)
    if parts is None:
        yield _leaf(value)
        return
    if cls is list and value and id(value) not in met and _is_flat(value):
        met[id(value)] = _Open(parent, step, parts, value, "", False)
        yield json.dumps(value, ensure_ascii=False)
        return
    # Small immutable values are often shared by chance, and clearer said twice.
    if id(value) in met and parts.size and not (isinstance(value, IMMUTABLE) and _is_flat(value)):
        yield f'{{"$ref": {_text(_path(met[id(value)]))}}}'
        return
    plain = parts.name in ("record", "based", "custom", "namespace", "julia") and parts.kind == "fields"
    closing = ""
    if parts.name == "dict" and _is_json_object(value):
        plain, opening, closing = True, "{", "}"
    elif parts.name == "list":
        opening, closing = "[", "]"
    else:
        name = "record" if parts.name in ("based", "custom", "enum") else parts.name
        opening = f'{{"${name}": ' + ("{" if plain else "[")
        closing = "}" if plain else "]"
        if parts.name == "enum":
            opening, closing, plain = '{"$record": {', "}", True
        extra = dict(parts.extra)
        if name == "record" and parts.name != "record":
            extra["kind"] = parts.name
        for key, what in extra.items():
            closing += f', "{key}": {json.dumps(what)}'
        closing += "}"
    if parent is not None and not parent.plain and parent.parts.kind in ("map", "fields"):
        closing += "]"
    here = _Open(parent, step, parts, value, closing, plain)
    met[id(value)] = here
    stack.append(here)
    yield opening


# Half of a surrogate pair has no UTF-8; the others may move the cursor of a terminal, or end a line.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _text(text: str) -> str:
    return json.dumps(text) if _ESCAPED.search(text) else _encode(text)


def _is_flat(items: Any) -> bool:
    kinds = set(map(type, items))
    if kinds <= {int, bool, type(None)}:
        return all(type(item) is not int or item.bit_length() < 1 << 13 for item in items)
    return kinds == {str} and not any(map(_ESCAPED.search, items))


def _is_json_object(value: dict[Any, Any]) -> bool:
    return all(type(key) is str for key in value) and next(iter(value), "") not in TAGS


def _path(here: _Open | None) -> str:
    steps = []
    while here is not None and here.parent is not None:
        steps.append(here.step)
        here = here.parent
    return _paths.show(reversed(steps))


def _tagged(name: str, value: Any, **more: Any) -> str:
    return json.dumps({f"${name}": value, **more})


def _leaf(value: Any) -> str:
    cls = type(value)
    if value is None or cls is bool:
        return "null" if value is None else "true" if value else "false"
    if cls is int:
        return _int(value)
    if cls is float:
        return repr(value) if math.isfinite(value) else _tagged("float", repr(value))
    write = _LEAVES.get(cls)
    if write is not None:
        return write(value)
    if isinstance(value, pathlib.PurePath):
        return _tagged("path", str(value), type=cls.__name__)
    if cls.__module__ == "numpy":
        found = _of_numpy(value)
        if found is not None:
            return found
    # Julia's and BSON's numbers and texts are Python's, and more.
    for base in (str, int, float):
        if isinstance(value, base):
            return _text(str.__str__(value)) if base is str else _leaf(base(value))
    return _tagged("repr", leaf(value), type=f"{cls.__module__}.{cls.__qualname__}")


def _int(value: int) -> str:
    try:
        return repr(value)
    except ValueError:
        # Python refuses to write so many decimal digits, and any reader would to read them.
        return _tagged("int", hex(value))


def _of_numpy(value: Any) -> str | None:
    if not hasattr(value, "dtype"):
        return None
    dtype = value.dtype
    items: list[Any]
    if dtype.kind not in "biufcUSMm" or (dtype.kind in "fc" and dtype.char in "gG"):
        return None
    if dtype.kind == "S":
        items = [base64.b64encode(item).decode() for item in value.ravel().tolist()]
    elif dtype.kind == "c":
        items = [[item.real, item.imag] for item in value.ravel().tolist()]
    elif dtype.kind in "Mm":
        items = value.ravel().view("i8").tolist()
    else:
        items = value.ravel().tolist()
    if dtype.kind == "f":
        items = [_finite(item) for item in items]
    elif dtype.kind == "c":
        items = [[_finite(part) for part in item] for item in items]
    if value.shape == () and type(value).__name__ != "ndarray":
        return _tagged("scalar", items[0], dtype=dtype.str)
    return _tagged("array", items, dtype=dtype.str, shape=list(value.shape))


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else repr(number)


def _base64(data: Any) -> str:
    return base64.b64encode(data).decode()


def _seconds(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_LEAVES: dict[type, Callable[[Any], str]] = {
    bytes: lambda value: _tagged("bytes", _base64(value)),
    bytearray: lambda value: _tagged("bytearray", _base64(value)),
    complex: lambda value: f'{{"$complex": [{_leaf(value.real)}, {_leaf(value.imag)}]}}',
    datetime.datetime: lambda value: _tagged("datetime", value.isoformat()),
    datetime.date: lambda value: _tagged("date", value.isoformat()),
    datetime.time: lambda value: _tagged("time", value.isoformat()),
    datetime.timedelta: lambda value: _tagged("timedelta", _seconds(value)),
    decimal.Decimal: lambda value: _tagged("decimal", str(value)),
    fractions.Fraction: lambda value: _tagged("fraction", [value.numerator, value.denominator]),
    uuid.UUID: lambda value: _tagged("uuid", str(value)),
    range: lambda value: _tagged("range", [value.start, value.stop, value.step]),
}


# --- back ---


class _Building:
    """A container that is being restored from `items`: of each its step and its JSON."""

    __slots__ = ("add", "add_name", "done", "items", "made", "path", "step")

    def __init__(
        self, made: Any, add: str, items: Iterator[tuple[Any, Any]], done: Callable[[Any], Any] | None
    ) -> None:
        self.made = made
        self.add_name = add
        self.add: Callable[..., Any] = getattr(made, add)
        self.items = items
        self.done = done  # makes an immutable value of a list; None of what is complete as it is
        self.step: Any = None
        self.path: tuple[Any, ...] = ()


def restore(value: Any) -> Any:
    """The value that `pieces` wrote, from parsed JSON. Objects that look like no tag stay dicts.

    Raises ValueError: a `$ref` that leads nowhere; content that a tag can't have.
    """
    built: dict[tuple[Any, ...], Any] = {}
    stack: list[_Building] = []
    result = _restored(value, (), built, stack)
    while stack:
        top = stack[-1]
        try:
            top.step, child = next(top.items)
        except StopIteration:
            stack.pop()
            if top.done is not None:
                built[top.path] = top.made = top.done(top.made)
            if not stack:
                return top.made
            _add(stack[-1], top.made, top.done is not None)
            continue
        depth = len(stack)
        made = _restored(child, (*top.path, top.step) if depth < _MOST_PATH else (), built, stack)
        if len(stack) == depth:
            _add(top, made, True)
        elif stack[-1].done is None:
            # In its place before it is complete: what it holds may refer to it.
            _add(top, stack[-1].made, True)
    return result


# A path costs its length; Python's JSON reader goes no deeper than this.
_MOST_PATH = 1000


def _add(to: _Building, value: Any, is_new: bool) -> None:
    if not is_new:
        return
    if to.add_name == "__setitem__":
        to.add(to.step, value)
    else:
        to.add(value)


def _restored(
    value: Any, path: tuple[Any, ...], built: dict[tuple[Any, ...], Any], stack: list[_Building]
) -> Any:
    """A leaf; or None, and the container is pushed."""
    if type(value) is list:
        building = _Building([], "append", enumerate(value), None)
    elif type(value) is dict:
        name = next(iter(value), "")
        if name == "$ref" and len(value) == 1 and type(value[name]) is str:
            steps = _paths.parse(value[name])
            if steps not in built:
                raise ValueError(f"`$ref` to {value[name][:80]}, where nothing stands yet")
            return built[steps]
        made = _of_tag(name, value[name], value) if name in TAGS else None
        if made is not None and not isinstance(made, _Building):
            return made[0]
        building = made or _Building({}, "__setitem__", iter(value.items()), None)
    else:
        return value
    building.path = path
    if building.done is None:
        built[path] = building.made
    stack.append(building)
    return None


def _of_tag(name: str, content: Any, whole: dict[str, Any]) -> _Building | tuple[Any] | None:
    """A container that is begun, a leaf as a tuple of one, or None: it is no tag after all."""
    if name == "$record":
        if type(content) is not dict or not isinstance(whole.get("type"), str) or "kind" in whole:
            return None
        made = holdall.Record(whole["type"], {}, version=whole.get("version", 1))
        building = _Building(made.fields, "__setitem__", iter(content.items()), None)
        building.made = made
        return building
    if name == "$namespace":
        if type(content) is not dict:
            return None
        space = types.SimpleNamespace()
        building = _Building(vars(space), "__setitem__", iter(content.items()), None)
        building.made = space
        return building
    if name in _SEQUENCES:
        return _SEQUENCES[name](content, whole) if type(content) is list else None
    if name in _MAPPINGS:
        if type(content) is not list or not all(type(pair) is list and len(pair) == 2 for pair in content):
            return None
        empty = _MAPPINGS[name](whole)
        items = ((restore(key), item) for key, item in content)
        return None if empty is None else _Building(empty, "__setitem__", items, None)
    read = _READ.get(name)
    return None if read is None else (read(content, whole),)


_SEQUENCES: dict[str, Callable[[list[Any], dict[str, Any]], _Building]] = {
    "$tuple": lambda content, _: _Building([], "append", enumerate(content), tuple),
    "$frozenset": lambda content, _: _Building([], "append", enumerate(content), frozenset),
    "$set": lambda content, _: _Building(set(), "add", enumerate(content), None),
    "$deque": lambda content, whole: _Building(
        collections.deque(maxlen=whole.get("maxlen")), "append", enumerate(content), None
    ),
    "$chainmap": lambda content, _: _Building(
        [], "append", enumerate(content), lambda maps: collections.ChainMap(*maps)
    ),
}
_FACTORIES = {
    kind.__name__: kind for kind in (list, dict, set, tuple, int, float, str, bool, bytes, frozenset)
}
_MAPPINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "$dict": lambda _: {},
    "$ordereddict": lambda _: collections.OrderedDict(),
    "$counter": lambda _: collections.Counter(),
    "$defaultdict": lambda whole: collections.defaultdict(_FACTORIES.get(whole.get("factory", ""))),
}


def _complex(real: float, imaginary: float) -> complex:
    return complex(real, imaginary)


# Bytes of an array of text, whose items all take as much room as it says.
_MOST_TEXT = 1 << 28


def _numpy_array(content: Any, whole: dict[str, Any]) -> Any:
    import numpy

    dtype = numpy.dtype(whole["dtype"])
    if dtype.itemsize * len(content) > _MOST_TEXT and dtype.itemsize > 16:
        raise ValueError("an array of text with more room than is read from JSON")
    if dtype.kind in "Mm":
        flat = numpy.array(content, "i8").view(dtype)
    elif dtype.kind == "S":
        flat = numpy.array([base64.b64decode(item, validate=True) for item in content], dtype)
    elif dtype.kind == "c":
        flat = numpy.array([complex(*map(float, item)) for item in content], dtype)
    elif dtype.kind == "f":
        flat = numpy.array([float(item) for item in content], dtype)
    elif dtype.kind in "biuU":
        flat = numpy.array(content, dtype)
    else:
        raise ValueError("a dtype that JSON has no form for")
    return flat.reshape(whole["shape"]) if "shape" in whole else flat[0]


_PATHS = {
    "PosixPath": "PosixPath" if os.name != "nt" else "PurePosixPath",
    "WindowsPath": "WindowsPath" if os.name == "nt" else "PureWindowsPath",
    "PurePosixPath": "PurePosixPath",
    "PureWindowsPath": "PureWindowsPath",
}
_READ: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "$float": lambda content, _: float(content),
    "$int": lambda content, _: int(content, 16),
    "$bytes": lambda content, _: base64.b64decode(content, validate=True),
    "$bytearray": lambda content, _: bytearray(base64.b64decode(content, validate=True)),
    "$complex": lambda content, _: _complex(*(float(restore(part)) for part in content)),
    "$range": lambda content, _: range(*content),
    "$datetime": lambda content, _: datetime.datetime.fromisoformat(content),
    "$date": lambda content, _: datetime.date.fromisoformat(content),
    "$time": lambda content, _: datetime.time.fromisoformat(content),
    "$timedelta": lambda content, _: datetime.timedelta(*content),
    "$decimal": lambda content, _: decimal.Decimal(content),
    "$uuid": lambda content, _: uuid.UUID(content),
    "$fraction": lambda content, _: fractions.Fraction(*map(int, content)),
    "$path": lambda content, whole: getattr(pathlib, _PATHS.get(whole.get("type", ""), "PurePath"))(content),
    "$array": _numpy_array,
    "$scalar": lambda content, whole: _numpy_array([content], {"dtype": whole["dtype"]}),
}
