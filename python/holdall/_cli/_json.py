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
from typing import TYPE_CHECKING, Any, NamedTuple

import holdall

from . import _paths
from ._app import Failure
from ._nodes import IMMUTABLE, LEAVES, Node, leaf, node
from ._pretty import short
from ._weigh import FIXED, MULTIPLE, VALUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The names that `restore` knows; others are for readers only.
_NAMES = """
    tuple set frozenset deque dict ordereddict defaultdict counter namespace chainmap float int complex range
    bytes bytearray datetime date time timedelta decimal uuid fraction path record array scalar ref repr
"""
TAGS = frozenset(f"${name}" for name in _NAMES.split())
_encode = json.encoder.encode_basestring


def dumps(value: Any) -> str:
    return "".join(pieces(value))


class Room:
    """How much may be written repeatedly into one file: shared values that JSON has no references for, and
    the paths in references.

    A path is as long as its place is deep, keys are written separately, and texts have no references. So a
    file of 100 kB could take a terabyte. Real files stay far below the bound, which is in `_weigh`, with its
    units.
    """

    def __init__(self) -> None:
        self.left = FIXED
        # What has been written: the ids of texts and of the objects that hold a container's items. Cleared
        # for each value, because ids may be reused.
        self.contents: set[int] = set()

    def new(self, content: int, size: int) -> None:
        self.contents.add(content)
        self.left += MULTIPLE * size

    def again(self, size: int) -> None:
        """Raises Failure: that would be too much."""
        self.left -= size
        if self.left < 0:
            raise Failure(
                None,
                f"JSON has no references to keys and texts, and long paths for what is deep: what is shared would take more than "
                f"{MULTIPLE} times of what there is; convert to hold, which has short ones",
            )

    def text(self, value: Any, size: int) -> None:
        """Counts an occurrence of a text."""
        if id(value) in self.contents:
            self.again(size)
        else:
            self.new(id(value), size)


# Shorter texts need not be counted: the bound allows as much for each occurrence.
_LONG = VALUE * MULTIPLE
# Python code takes this many times longer to write a value again than C; also the cost of a step in a path.
_BY_PYTHON = 32


class _Open:
    __slots__ = ("close", "count", "items", "kind", "parent", "plain", "step", "value")

    def __init__(
        self, parent: _Open | None, step: Any, parts: Node, value: Any, close: str, plain: bool
    ) -> None:
        self.parent = parent
        self.step = step
        self.kind = parts.kind
        self.items: Iterator[tuple[Any, Any]] = parts.items
        self.value = value
        self.close = close
        self.plain = plain  # a JSON object of the items: no pairs, no list
        self.count = 0


_DONE: Iterator[Any] = iter(())


def pieces(value: Any, room: Room | None = None) -> Iterator[str]:
    """The JSON text of a value, in one line, at any depth. A container that occurs again is a `$ref` to its
    first place.

    room: the bound that it shares with what else is written to the same file.

    Raises Failure: shared values would take too much room.
    """
    room = room or Room()
    room.contents.clear()
    # A key is written separately, and may contain values with keys.
    open_keys = [_pieces(value, room)]
    while open_keys:
        for piece in open_keys[-1]:
            if isinstance(piece, _Key):
                open_keys.append(_pieces(piece.value, room))
                break
            yield piece
        else:
            open_keys.pop()


class _Key(NamedTuple):
    """Stands for the text of a key that isn't a leaf."""

    value: Any


def _pieces(value: Any, room: Room) -> Iterator[str | _Key]:
    met: dict[int, _Open] = {}
    stack: list[_Open] = []
    yield _begin(value, None, None, met, stack, room)
    while stack:
        top = stack[-1]
        try:
            step, child = next(top.items)
        except StopIteration:
            stack.pop()
            yield top.close
            # Stays in `met` only for its place.
            top.items, top.close = _DONE, ""
            continue
        kind = top.kind
        text = ", " if top.count else ""
        if kind == "set":
            step = top.count
        top.count += 1
        if top.plain:
            name = str(step)
            if len(name) > _LONG:
                room.text(step, len(name))
            text += f"{_text(name)}: "
        elif kind == "map" or kind == "fields":
            # Keys are hashable, so they contain no container that others refer to.
            if type(step) in LEAVES:
                text += f"[{_begin(step, None, None, met, stack, room)}, "
            else:
                yield f"{text}["
                yield _Key(step)
                text = ", "
        text += _begin(child, top, step, met, stack, room)
        if stack[-1] is top and not top.plain and (kind == "map" or kind == "fields"):
            text += "]"
        yield text


def _begin(
    value: Any, parent: _Open | None, step: Any, met: dict[int, _Open], stack: list[_Open], room: Room
) -> str:
    cls = type(value)
    if cls is str:
        if len(value) > _LONG:
            room.text(value, len(value))
        return _text(value)
    if cls is tuple and not value:
        return '{"$tuple": []}'
    parts = node(value)
    if parts is None:
        return _measured_leaf(value, room)
    size = parts.size
    before = met.get(id(value))
    content = parts.content
    is_again = content in room.contents and size > 0
    if is_again and (before is None or cls in IMMUTABLE):
        room.again(VALUE * size)
    # Small immutable values are often shared by chance, and easier to read if they are repeated.
    is_flat = cls in _FLAT_TAGS and size > 0 and (before is None or cls in IMMUTABLE) and _is_flat(value)
    if before is not None and size and not is_flat:
        path = _text(_path(before, room))
        return f'{{"$ref": {path}}}'
    if is_again and not is_flat:
        room.again(VALUE * size * _BY_PYTHON)
    elif not is_again:
        room.new(content, VALUE * (size + 1))
    if is_flat:
        if before is None:
            met[id(value)] = _Open(parent, step, parts, value, "", False)
        opening, closing = _FLAT_TAGS[cls]
        return opening + _encode_flat(value if cls is list else list(value)) + closing
    plain = parts.name in _PLAIN and parts.kind == "fields"
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
        extra = parts.extra
        if name == "record" and parts.name != "record":
            extra = {**extra, "kind": parts.name}
        for key, what in extra.items():
            text = _encode_ascii(what) if type(what) is str else json.dumps(what)
            if len(text) > _LONG:
                # As long as the name of its class, which every instance repeats.
                room.again(len(text))
            closing += f', "{key}": {text}'
        closing += "}"
    if not size:
        # Nothing refers to it, and there may be very many.
        return opening + closing
    if parent is not None and not parent.plain and (parent.kind == "map" or parent.kind == "fields"):
        closing += "]"
    here = _Open(parent, step, parts, value, closing, plain)
    met[id(value)] = here
    stack.append(here)
    return opening


_PLAIN = frozenset(("record", "based", "custom", "namespace", "julia", "lisp"))
_FLAT_TAGS: dict[type, tuple[str, str]] = {
    list: ("", ""),
    tuple: ('{"$tuple": ', "}"),
    frozenset: ('{"$frozenset": ', "}"),
    set: ('{"$set": ', "}"),
}
_encode_flat = json.JSONEncoder(ensure_ascii=False).encode
_encode_ascii = json.encoder.encode_basestring_ascii


def _measured_leaf(value: Any, room: Room) -> str:
    text = _leaf(value)
    if len(text) > _LONG:
        room.text(value, len(text))
    return text


# Lone surrogates have no UTF-8; the others may move a terminal's cursor or end a line.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _text(text: str) -> str:
    return json.dumps(text) if _ESCAPED.search(text) else _encode(text)


def _is_flat(items: Any) -> bool:
    kinds = set(map(type, items))
    if kinds <= {int, bool, type(None)}:
        return all(type(item) is not int or item.bit_length() < 1 << 13 for item in items)
    return kinds == {str} and max(map(len, items)) <= _LONG and not any(map(_ESCAPED.search, items))


def _is_json_object(value: dict[Any, Any]) -> bool:
    return all(type(key) is str for key in value) and next(iter(value), "") not in TAGS


def _path(here: _Open, room: Room) -> str:
    steps: list[Any] = []
    while here.parent is not None:
        room.again(_BY_PYTHON)
        step = here.step
        if isinstance(step, str):
            room.again(len(step))
        elif type(step) is not int and len(short(step, _LONGEST_STEP)) == _LONGEST_STEP:
            # It may take forever to write.
            room.again(FIXED + room.left)
        steps.append(step)
        here = here.parent
    return _paths.show(reversed(steps))


# For a key that isn't text, in a path.
_LONGEST_STEP = 1000


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
    # Numbers and texts of Julia and BSON are subclasses of Python's.
    for base in (str, int, float):
        if isinstance(value, base):
            return _text(str.__str__(value)) if base is str else _leaf(base(value))
    return _tagged("repr", leaf(value), type=f"{cls.__module__}.{cls.__qualname__}")


def _int(value: int) -> str:
    try:
        return repr(value)
    except ValueError:
        # Python refuses to write so many decimal digits, and readers would refuse to read them.
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
    """A container that is being restored from `items`: pairs of a step and its JSON."""

    __slots__ = ("add", "add_name", "done", "items", "made", "number", "step")

    def __init__(
        self, made: Any, add: str, items: Iterator[tuple[Any, Any]], done: Callable[[Any], Any] | None
    ) -> None:
        self.made = made
        self.add_name = add
        self.add: Callable[..., Any] = getattr(made, add)
        self.items = items
        self.done = done  # makes an immutable value from a list; None if the container is complete as it is
        self.step: Any = None
        self.number = 0


def restore(value: Any) -> Any:
    """The value that `pieces` wrote, from parsed JSON. Objects that don't look like a tag stay dicts.

    Raises ValueError: a `$ref` to nowhere, or content that doesn't suit its tag.
    """
    built = _Built()
    stack: list[_Building] = []
    result = _restored(value, None, built, stack)
    while stack:
        top = stack[-1]
        try:
            top.step, child = next(top.items)
        except StopIteration:
            stack.pop()
            if top.done is not None:
                built.values[top.number] = top.made = top.done(top.made)
            if not stack:
                return top.made
            _add(stack[-1], top.made, top.done is not None)
            continue
        depth = len(stack)
        made = _restored(child, top, built, stack)
        if len(stack) == depth:
            _add(top, made, True)
        elif stack[-1].done is None:
            # Stored before it is complete, because its content may refer to it.
            _add(top, stack[-1].made, True)
    return result


class _Built:
    """Containers by number, with the number of their container and the step from there: no paths are stored."""

    __slots__ = ("numbers", "values")

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, Any], int] = {}
        self.values: dict[int, Any] = {}

    def at(self, path: str) -> Any:
        number = 0
        for step in _paths.parse(path):
            number = self.numbers.get((number, step), -1)
        if number not in self.values:
            raise ValueError(f"`$ref` to {path[:80]}, where nothing stands yet")
        return self.values[number]


def _add(to: _Building, value: Any, is_new: bool) -> None:
    if not is_new:
        return
    if to.add_name == "__setitem__":
        to.add(to.step, value)
    else:
        to.add(value)


def _restored(value: Any, within: _Building | None, built: _Built, stack: list[_Building]) -> Any:
    """A leaf; or None, after pushing a container."""
    if type(value) is list:
        building = _Building([], "append", enumerate(value), None)
    elif type(value) is dict:
        name = next(iter(value), "")
        if name == "$ref" and len(value) == 1 and type(value[name]) is str:
            return built.at(value[name])
        made = _of_tag(name, value[name], value) if name in TAGS else None
        if made is not None and not isinstance(made, _Building):
            return made[0]
        building = made or _Building({}, "__setitem__", iter(value.items()), None)
    else:
        return value
    if within is not None:
        building.number = len(built.numbers) + 1
        built.numbers[within.number, within.step] = building.number
    if building.done is None:
        built.values[building.number] = building.made
    stack.append(building)
    return None


def _of_tag(name: str, content: Any, whole: dict[str, Any]) -> _Building | tuple[Any] | None:
    """A container that was begun, a leaf as a tuple of one, or None if it is no tag."""
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


# The size of an array of text, whose items all take as much space as it says.
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
