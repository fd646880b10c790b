"""One table of everything that can be stored: a name and a function that makes an example.

Tests of prefixes, mutations, reference counts and canonical bytes run over it, so that a new type is taught to all of
them by one line here.
"""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import fractions
import importlib
import importlib.util
import ipaddress
import math
import pathlib
import re
import struct
import types
import uuid
import zoneinfo
from typing import Any, Callable, NamedTuple

from tests.support import models


class Kind(NamedTuple):
    name: str
    make: Callable[[], Any]


OPTIONAL_MODELS = {"attrs": "models_attrs", "msgspec": "models_msgspec", "pydantic": "models_pydantic"}


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def model_modules() -> tuple[types.ModuleType, ...]:
    """The modules to name in `types=`."""
    optional = [
        importlib.import_module(f"tests.support.{m}") for lib, m in OPTIONAL_MODELS.items() if installed(lib)
    ]
    return (models, *optional)


TYPES = model_modules()


def text(value: str) -> str:
    """A new object: literals are shared by the compiler."""
    return "".join(list(value))


def build(cls: type, /, **fields: Any) -> Any:
    """An instance without `__init__`."""
    obj = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(obj, name, value)
    return obj


def with_fields(obj: Any, **fields: Any) -> Any:
    for name, value in fields.items():
        setattr(obj, name, value)
    return obj


def nan(payload: int) -> float:
    return struct.unpack("d", struct.pack("Q", 0x7FF8_0000_0000_0000 | payload))[0]


def cyclic_list() -> Any:
    found: list[Any] = [1, text("two")]
    found.append(found)
    return found


def cyclic_dict() -> Any:
    found: dict[Any, Any] = {"a": 1}
    found["self"] = [found]
    return found


def cyclic_nodes() -> Any:
    nodes = [models.DNode(f"node {i}") for i in range(5)]
    for i, node in enumerate(nodes):
        node.links = [nodes[(i + 1) % 5], nodes[i - 1]]
    return nodes


def cyclic_set() -> Any:
    node = build(models.PlainDict)
    node.friends = {node, build(models.WeakSlot, a=node)}
    return node


def cyclic_tuple() -> Any:
    inner: list[Any] = []
    found = (inner, text("in a tuple"))
    inner.append(found)
    return found


def shared_things() -> Any:
    words, data, pair, members = text("shared"), bytes([1, 2, 3]), (text("x1"), 2.5), frozenset({1, 2})
    return [words, data, pair, members, {"k": words, "l": data}, (pair, members)]


def chained_error() -> Any:
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise models.MyError("outer", 1) from inner
    except models.MyError as outer:
        outer.__traceback__ = None
        assert outer.__cause__ is not None
        outer.__cause__.__traceback__ = None
        outer.__notes__ = ["a note"]  # add_note came with 3.11
        return outer


def own_timezone() -> dt.tzinfo:
    return dt.timezone(dt.timedelta(hours=5, minutes=30), "IST")


def same_shape_rows() -> Any:
    return [{"id": i, "name": f"row {i}", "score": i / 7, "tags": ["a", "b"]} for i in range(20)]


SCALARS = [
    Kind("none", lambda: None),
    Kind("bools", lambda: [True, False]),
    Kind("int tiny", lambda: 1),
    Kind(
        "int edges",
        lambda: [
            s * (1 << b) + d for b in (4, 7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (-1, 0, 1)
        ],
    ),
    Kind("int huge", lambda: [10**50, -(10**50), 1 << 4000, -(1 << 4000) + 1]),
    Kind("float", lambda: [0.0, -0.0, 1.5, math.inf, -math.inf, nan(0), nan(7), 5e-324, 1e308]),
    Kind("float alone", lambda: 0.1),
    Kind("complex", lambda: complex(-0.0, nan(3))),
    Kind("str", lambda: text("a few words")),
    Kind(
        "str kinds", lambda: ["", "a", "é", text("naïve"), text("日本語"), text("😀 smile"), text("nul\0nul")]
    ),
    Kind("str long", lambda: "x" * 1000 + "é" * 1000 + "語" * 1000),
    Kind("str surrogate", lambda: [text("a\ud800b"), text("\udfff"), text("😀\ud83d")]),
    Kind("bytes", lambda: [b"", b"a", bytes(range(256))]),
    Kind("bytearray", lambda: bytearray(b"changeable")),
    Kind("ellipsis", lambda: [..., NotImplemented]),
]

CONTAINERS = [
    Kind("list empty", list),
    Kind("list mixed", lambda: [None, True, 1, 2.5, text("four"), b"five", [6], (7,), {8: 9}]),
    Kind("list ints", lambda: list(range(-20, 300))),
    Kind("list wide ints", lambda: [i * 10**15 for i in range(-50, 50)]),
    Kind("list floats", lambda: [i / 3 for i in range(100)]),
    Kind("list bools", lambda: [i % 3 == 0 for i in range(100)]),
    Kind("list nones", lambda: [None] * 100),
    Kind("list words", lambda: [f"word {i % 7}" for i in range(50)]),
    Kind("tuple", lambda: (1, text("two"), (3.0, ()))),
    Kind("tuple ints", lambda: tuple(range(100))),
    Kind("dict empty", dict),
    Kind("dict", lambda: {"a": 1, "b": [2], "c": {"d": None}}),
    Kind("dict rows", same_shape_rows),
    Kind(
        "dict keys",
        lambda: {1: "int", 2.5: "float", None: "none", (1, "x"): "tuple", b"b": "bytes", frozenset({1}): 0},
    ),
    Kind("set", lambda: {1, text("two"), 3.0, None, (4, 5)}),
    Kind("set empty", lambda: [set(), frozenset()]),
    Kind("frozenset", lambda: frozenset({text("a1"), frozenset({1, 2})})),
    Kind("nested", lambda: [[[[[[[[1], 2], 3]]]]], {"a": {"b": {"c": ({},)}}}]),
    Kind("range", lambda: [range(3), range(10, 0, -2), range(10**30)]),
    Kind("slice", lambda: [slice(None), slice(1, 2), slice(0, [1], "step")]),
    Kind("shared", shared_things),
    Kind("cyclic list", cyclic_list),
    Kind("cyclic dict", cyclic_dict),
    Kind("cyclic nodes", cyclic_nodes),
    Kind("cyclic set", cyclic_set),
    Kind("cyclic tuple", cyclic_tuple),
]

STDLIB = [
    Kind("datetime", lambda: dt.datetime(2024, 2, 29, 23, 59, 59, 999999)),
    Kind("datetime utc", lambda: dt.datetime(1, 1, 1, tzinfo=dt.timezone.utc)),
    Kind("datetime timezone", lambda: dt.datetime(9999, 12, 31, fold=1, tzinfo=own_timezone())),
    Kind(
        "datetime zoneinfo",
        lambda: dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    ),
    Kind("date", lambda: dt.date(2024, 2, 29)),
    Kind("time", lambda: [dt.time(1, 2, 3, 4), dt.time(5, fold=1, tzinfo=dt.timezone.utc)]),
    Kind(
        "timedelta",
        lambda: [dt.timedelta(days=-3, seconds=5, microseconds=7), dt.timedelta.max, dt.timedelta.min],
    ),
    Kind("timezone", lambda: [dt.timezone.utc, own_timezone(), dt.timezone(-dt.timedelta(seconds=1))]),
    Kind("zoneinfo", lambda: zoneinfo.ZoneInfo("America/New_York")),
    Kind(
        "decimal",
        lambda: [decimal.Decimal(x) for x in ("1.10", "-0", "NaN", "sNaN12", "-Infinity", "1E+999999")],
    ),
    Kind("fraction", lambda: fractions.Fraction(-3, 10**25)),
    Kind("uuid", lambda: uuid.UUID("12345678-1234-5678-1234-567812345678")),
    Kind(
        "path",
        lambda: [pathlib.Path("a/b.txt"), pathlib.PurePosixPath("/"), pathlib.PureWindowsPath("C:\\x\\y")],
    ),
    Kind("ip address", lambda: [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("fe80::1%eth0")]),
    Kind("ip network", lambda: [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("2001:db8::/32")]),
    Kind(
        "ip interface",
        lambda: [ipaddress.ip_interface("10.1.2.3/8"), ipaddress.ip_interface("2001:db8::1/32")],
    ),
    Kind("pattern", lambda: [re.compile(r"(\w+)\d", re.I | re.M), re.compile(rb"\x00+")]),
    Kind("array", lambda: [array.array(c, [1, 2, 3]) for c in "bBhHiIlLqQfd"] + [array.array("u", "text")]),
    Kind("deque", lambda: collections.deque([1, [2], text("three")], maxlen=5)),
    Kind("ordered dict", lambda: collections.OrderedDict([("b", 1), ("a", [2])])),
    Kind("default dict", lambda: collections.defaultdict(None, {"a": 1})),
    Kind("counter", lambda: collections.Counter("abracadabra")),
    Kind("chain map", lambda: collections.ChainMap({"a": 1}, {"b": 2})),
    Kind("user dict", lambda: collections.UserDict({"a": 1})),
    Kind("user list", lambda: collections.UserList([1, [2]])),
    Kind("user string", lambda: collections.UserString("text")),
    Kind("mapping proxy", lambda: types.MappingProxyType({"a": [1]})),
    Kind("namespace", lambda: types.SimpleNamespace(a=1, b=[text("two")])),
    Kind("exception", lambda: ValueError("bad", 1, [2])),
    Kind("exception os", lambda: FileNotFoundError(2, "No such file", "name.txt")),
    Kind("exception unicode", lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")),
    Kind("exception chain", chained_error),
]

CLASSES = [
    Kind("plain dict", lambda: models.PlainDict(1, [text("two")])),
    Kind("plain slots", lambda: build(models.PlainSlots, left=1, value=[2])),
    Kind("slots and dict", lambda: build(models.SlotsAndDict, a=1, other=2)),
    Kind("weak slot", lambda: build(models.WeakSlot, a=text("weakly"))),
    Kind("slots child", lambda: build(models.SlotsChild, left=1, right=None, extra=text("more"))),
    Kind("dict child", lambda: build(models.DictChild, left=1, free=[2])),
    Kind("mangled", lambda: models.MangledChild([1], [2])),
    Kind("empty class", lambda: [models.Empty(), build(models.PlainDict)]),
    Kind("no init", lambda: models.NoInit.make(a=1, b=2)),
    Kind("get attr", lambda: with_fields(models.GetAttr(), a=1)),
    Kind("property", lambda: models.Property([1])),
    Kind("by value", lambda: {models.ByValue("k"): 1}),
    Kind("nested class", lambda: models.Outer.Inner(1)),
    Kind("generic class", lambda: models.Box(text("inside"))),
    Kind("dataclass", lambda: [models.DPoint(1, 2), models.DPoint(text("x1"), [3])]),
    Kind("dataclass slots", lambda: models.DSlots(1, [2])),
    Kind("dataclass frozen", lambda: models.DFrozen(1, (2,))),
    Kind("dataclass frozen slots", lambda: models.DFrozenSlots(1, [2])),
    Kind("dataclass kw only", lambda: models.DKwOnly(x=1)),
    Kind("dataclass child", lambda: [models.DChild(1, 2, 3), models.DSlotsChild(1, 2, 3)]),
    Kind("dataclass init false", lambda: models.DInitFalse(1)),
    Kind("dataclass init var", lambda: models.DInitVar(1, scale=5)),
    Kind("dataclass extra", lambda: with_fields(models.DPoint(1), late=3)),
    Kind("dataclass generic", lambda: models.DGeneric(1)),
    Kind("dataclass rest", lambda: [models.DWeak(1), models.DNothing()]),
    Kind("records", lambda: [models.Reading(i / 7, f"unit {i}") for i in range(30)]),
    Kind("named tuple", lambda: [models.NPoint(1, [2]), models.NPair(text("a1"), 2)]),
    Kind("named tuple sub", lambda: with_fields(models.NSub(1, 2), note=3)),
    Kind("my dict", lambda: with_fields(models.MyDict(a=1), note=[2])),
    Kind("my dict slots", lambda: with_fields(models.MyDictSlots(a=1), note=[2])),
    Kind("my list", lambda: with_fields(models.MyList([1, 2]), note=3)),
    Kind("my tuple", lambda: with_fields(models.MyTuple((1, [2])), note=3)),
    Kind("my set", lambda: with_fields(models.MySet({1, 2}), note=3)),
    Kind("my frozenset", lambda: with_fields(models.MyFrozenSet({1, 2}), note=3)),
    Kind("my str", lambda: with_fields(models.MyStr("text"), note=3)),
    Kind("my bytes", lambda: with_fields(models.MyBytes(b"data"), note=3)),
    Kind("my bytearray", lambda: with_fields(models.MyByteArray(b"data"), note=3)),
    Kind("my int", lambda: with_fields(models.MyInt(10**30), note=3)),
    Kind("my float", lambda: with_fields(models.MyFloat(0.5), note=3)),
    Kind("my complex", lambda: with_fields(models.MyComplex(1, -0.0), note=3)),
    Kind("my ordered dict", lambda: with_fields(models.MyOrderedDict(b=1, a=2), note=3)),
    Kind("my default dict", lambda: with_fields(models.MyDefaultDict(None, a=1), note=3)),
    Kind("my deque", lambda: with_fields(models.MyDeque([1], 3), note=3)),
    Kind("my counter", lambda: with_fields(models.MyCounter("aab"), note=3)),
    Kind("my user dict", lambda: with_fields(models.MyUserDict(a=1), note=3)),
    Kind("my error", lambda: with_fields(models.MyError("e", 1), note=3)),
    Kind("error with init", lambda: models.ErrorWithInit(7, detail=[1])),
    Kind("enum", lambda: [models.Color.RED, models.Color.BLUE, models.Color.ALIAS, models.Color.GREEN]),
    Kind("enum unhashable", lambda: [models.Unhashable.LIST, models.Unhashable.DICT]),
    Kind("enum int", lambda: [models.Level.LOW, models.Level.HIGH]),
    Kind(
        "enum flag", lambda: [models.Access.READ | models.Access.RUN, models.Access(0), models.IntAccess(6)]
    ),
    Kind("enum text", lambda: [models.Unit.METRE, *models.TEXT_ENUM]),
    Kind("enum key", lambda: {models.Color.RED: 1, models.Level.LOW: 2}),
]


def _attrs() -> list[Kind]:
    from tests.support import models_attrs as m

    return [
        Kind("attrs slots", lambda: m.AttrsSlots(1, [2])),
        Kind("attrs frozen", lambda: m.AttrsFrozen(1, [2])),
        Kind("attrs dict", lambda: m.AttrsDict(1, [2])),
        Kind("attrs private", lambda: m.AttrsPrivate([1])),
        Kind("attrs child", lambda: m.AttrsChild(1, 2, 3)),
        Kind("attrs converter", lambda: m.AttrsConverter(1)),
    ]


def _msgspec() -> list[Kind]:
    from tests.support import models_msgspec as m

    return [
        Kind("msgspec struct", lambda: m.Struct(1, [2])),
        Kind("msgspec frozen", lambda: m.StructFrozen(1, [2])),
        Kind("msgspec no gc", lambda: m.StructNoGc(1.5, "y1")),
        Kind("msgspec tagged", lambda: m.StructTagged(x=[1])),
        Kind("msgspec child", lambda: m.StructChild(1, 2, 3)),
        Kind("msgspec dict", lambda: with_fields(m.StructDict(1), free=2)),
        Kind("msgspec renamed", lambda: m.StructRenamed([1])),
    ]


def _pydantic() -> list[Kind]:
    from tests.support import models_pydantic as m

    return [
        Kind("pydantic model", lambda: [m.Model(x=1, y=[2]), m.Model(x=1)]),
        Kind("pydantic private", lambda: with_fields(m.ModelPrivate(x=1), _hidden=[2])),
        Kind("pydantic extra", lambda: m.ModelExtra(x=1, more=[2])),
        Kind("pydantic frozen", lambda: m.ModelFrozen(x=(1,))),
        Kind("pydantic child", lambda: m.ModelChild(x=1, z=[3])),
        Kind("pydantic generic", lambda: m.ModelGeneric(item=1)),
        Kind("pydantic root", lambda: m.ModelRoot([1, 2])),
        Kind("pydantic checked", lambda: m.ModelChecked(x=1)),
        Kind("pydantic dataclass", lambda: m.PydanticDataclass([1], 2)),
    ]


def _numpy() -> list[Kind]:
    from tests.support import numpy_cases

    return [Kind(f"numpy {name}", make) for name, make in numpy_cases.SMALL.items()]


def third_party() -> list[Kind]:
    makers = {"attrs": _attrs, "msgspec": _msgspec, "pydantic": _pydantic, "numpy": _numpy}
    return [kind for lib, make in makers.items() if installed(lib) for kind in make()]


KINDS = [*SCALARS, *CONTAINERS, *STDLIB, *CLASSES, *third_party()]
BY_NAME = {kind.name: kind for kind in KINDS}
assert len(BY_NAME) == len(KINDS), "two kinds have the same name"
