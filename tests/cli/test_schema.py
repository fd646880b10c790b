"""`holdall schema`: what is inferred, and that the classes it writes load the file."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import importlib.util
import itertools
import json
import os
import pathlib
import random
import sys
import types
import typing
import uuid

import numpy as np
import pytest

pytest.importorskip("click")

import holdall
from holdall._cli import _seen, _write_python
from holdall._cli._merge import settled
from holdall._cli._schema import seen_in
from tests.support.cli import invoke, run, write_log
from tests.support.json_schema import check

STYLES = ("dataclass", "pydantic", "struct")


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


_numbers = itertools.count()


@pytest.fixture
def module_of():
    """The module that the command writes for a file, imported."""
    names = []

    def made(path, *args):
        # In a process of its own: here, classes are registered.
        done = run("schema", path, "--python", *args)
        assert (done.code, done.err) == (0, "")
        name = f"written_{next(_numbers)}"
        names.append(name)
        with open(f"{name}.py", "w", encoding="utf-8") as file:
            file.write(done.out)
        spec = importlib.util.spec_from_file_location(name, f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    yield made
    for name in names:
        forget(sys.modules.pop(name))


def forget(module):
    """Register the classes of a module under names of their own, so that the next one may use those in the data."""
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__:
            holdall.register(cls)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Item:
    name: str
    price: decimal.Decimal
    tags: set


@dataclasses.dataclass
class Order:
    id: uuid.UUID
    at: datetime.datetime
    items: list
    color: Color
    parent: typing.Any = None
    extra: typing.Any = None
    date: typing.Any = None


class Pair(typing.NamedTuple):
    x: int
    y: str


class Numbers(list):
    pass


class Wrong(Exception):
    pass


class Wrapped:
    def __init__(self, value):
        self.value = value


NAME = __name__


def order(number, parent=None, extra=None):
    items = [Item("tea", decimal.Decimal("4.50"), {"hot"})] * number
    return Order(
        uuid.UUID(int=number),
        datetime.datetime(2024, 1, number),
        items,
        Color.RED if number % 2 else Color.BLUE,
        parent,
        extra,
        datetime.date(2024, 1, 1) if number == 2 else None,
    )


def fields_of(value):
    """The content of anything, as dicts and lists; each with the name of its class."""
    if isinstance(value, enum.Enum):
        return type(value).__name__, value.name
    if isinstance(value, list):
        return [fields_of(each) for each in value]
    if dataclasses.is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "__struct_fields__"):
        named = {field: getattr(value, field) for field in value.__struct_fields__}
    elif hasattr(type(value), "model_fields"):
        named = {field: getattr(value, field) for field in type(value).model_fields}
    else:
        return value
    return type(value).__name__, {key: fields_of(each) for key, each in named.items()}


@pytest.mark.parametrize("style", STYLES)
def test_classes_of_hold_load_what_was_stored(module_of, style):
    orders = [order(1), order(2, order(3))]
    holdall.dump(orders, "orders.hold")
    module = module_of("orders.hold", "--as", style)
    found = holdall.load("orders.hold", type=module.Content)
    assert type(found[0]) is module.Order and type(found[1].parent) is module.Order
    assert type(found[0].items[0]) is module.Item and type(found[0].color) is module.Color
    assert fields_of(found) == fields_of(orders)
    base = {"dataclass": "object", "pydantic": "BaseModel", "struct": "Struct"}[style]
    assert module.Order.__mro__[1].__name__ == base
    assert "field `date`" not in str(module.Order.__annotations__)
    assert module.Order.__annotations__["parent"] == "Order | None"


PLAIN = {
    "users": [
        {"name": "ann", "age": 3, "kids": [{"name": "bob", "age": None, "kids": []}], "e-mail": "a@b"},
        {"name": "cid", "age": 4.5, "kids": [], "class": True},
    ],
    "since": "2024-01-02",
    "at": "2024-01-02T03:04:05.123456",
    "id": "12345678-1234-1234-1234-123456789abc",
    "scores": {"1": 2, "2": 3},
    "raw": b"\x00",
    "list": [1, "a", None],
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("format", ["hold", "msgpack", "bson"])
def test_dicts_become_classes_in_every_format(module_of, format, style):
    codec = holdall if format == "hold" else getattr(holdall, format)
    codec.dump(PLAIN, f"v.{format}")
    module = module_of(f"v.{format}", "--as", style)
    root = codec.load(f"v.{format}", type=module.Content)
    ann, cid = root.users
    assert type(root) is module.Root and type(ann) is type(cid) is type(ann.kids[0]) is module.User
    assert (ann.name, ann.age, ann.e_mail, ann.class_) == ("ann", 3, "a@b", None)
    assert (cid.age, cid.e_mail, cid.class_, ann.kids[0].age) == (4.5, None, True, None)
    assert root.scores == {"1": 2, "2": 3} and root.raw == b"\x00" and root.list == [1, "a", None]
    if format != "hold":
        assert root.since == datetime.date(2024, 1, 2) and root.id == uuid.UUID(PLAIN["id"])
        assert root.at == datetime.datetime(2024, 1, 2, 3, 4, 5, 123456)
    # Stored again, it has the same keys.
    if style != "pydantic" and format != "hold":
        again = codec.loads(codec.dumps(root))
        assert again["users"][0]["e-mail"] == "a@b" and again["users"][1]["class"] is True


def test_logs_streams_and_dumps_of_documents(module_of):
    rows = [{"n": number, "who": {"id": number}} for number in range(50)]
    write_log(*rows, order(1))
    with open("rows.msgpack", "wb") as file:
        file.writelines(map(holdall.msgpack.dumps, rows))
    with open("rows.bson", "wb") as file:
        file.writelines(map(holdall.bson.dumps, rows))
    for path in ("rows.msgpack", "rows.bson"):
        module = module_of(path)
        with open(path, "rb") as file:
            read = holdall.msgpack.Reader(file, type=module.Content) if "msgpack" in path else None
            found = list(read or holdall.bson.documents(path, type=module.Content))
        assert [(row.n, type(row.who)) for row in found] == [(number, module.Who) for number in range(50)]
        assert "50 records, each: Root\n" in invoke("schema", path).out
    module = module_of("log.hold")
    *found, last = holdall.Reader("log.hold", type=module.Content)
    # Next to a class a dict stays a dict.
    assert found[3] == {"n": 3, "who": {"id": 3}} and type(last) is module.Order


def test_other_kinds_of_classes_in_hold(module_of):
    numbers = Numbers([1, 2])
    numbers.unit = "cm"
    holdall.register(Wrapped, name="shop.Wrapped", version=3, encode=lambda it: {"v": it.value}, decode=dict)
    holdall.dump(
        {"pair": Pair(1, "a"), "numbers": numbers, "wrong": Wrong("x"), "wrapped": Wrapped(1)}, "v.hold"
    )
    # So that the module may use the name.
    holdall.register(Wrapped)
    module = module_of("v.hold")
    found = holdall.load("v.hold", type=module.Content)
    assert type(found.pair) is module.Pair and found.pair.y == "a"
    assert type(found.numbers) is module.Numbers and found.numbers == [1, 2] and found.numbers.unit == "cm"
    assert type(found.wrong) is module.Wrong and found.wrong.args == ("x",)
    assert type(found.wrapped) is module.Wrapped and found.wrapped.value == {"v": 1}


def test_known_types_and_containers(module_of):
    content = {
        "path": pathlib.PurePosixPath("a"),
        "delta": datetime.timedelta(1),
        "pair": (1, "a"),
        "many": [(1,), (1, 2)],
        "deque": collections.deque([1]),
        "counter": collections.Counter("aab"),
        "ordered": collections.OrderedDict(a=1),
        "array": np.zeros(3),
        "keys": {1: "a", (2, 3): "b"},
        "datetime": datetime.datetime(2024, 1, 1),
        "both": [[1], (2,)],
        "int": 3,
        "complex": 2j,
        "frozen": frozenset([b"x"]),
    }
    holdall.dump(content, "v.hold")
    module = module_of("v.hold")
    found = vars(holdall.load("v.hold", type=module.Content))
    assert (found.pop("array") == content.pop("array")).all()
    assert found == content and list(map(type, found.values())) == list(map(type, content.values()))
    said = module.Root.__annotations__
    assert said["counter"] == "collections.Counter[str]" and said["many"] == "list[tuple[builtins.int, ...]]"
    assert said["both"] == "list[Any]" and said["datetime"] == "_datetime.datetime"
    assert said["keys"] == "dict[builtins.int | tuple[builtins.int, builtins.int], str]"


def test_structs_of_julia(module_of):
    julia = holdall.julia
    spot = julia.JuliaStruct("Main.Spot", [1.5, "a"])
    julia.dump({"spots": [spot, julia.JuliaStruct("Main.Spot", [2.5, None])], "n": 3}, "v.bson")
    assert "julia Main.Spot, 2 instances" in invoke("schema", "v.bson").out
    module = module_of("v.bson")
    found = julia.load("v.bson", type=module.Content)
    assert [(type(each), each.field1, each.field2) for each in found.spots] == [
        (module.Spot, 1.5, "a"),
        (module.Spot, 2.5, None),
    ]
    assert julia.loads(julia.dumps(vars(found)))["spots"][1].field1 == 2.5


# --- what is inferred --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, said",
    [
        (3, "int"),
        ([], "list[Any]"),
        ({}, "dict[str, Any]"),
        ([1, None, "a", 2.5], "list[int | float | str | None]"),
        ([[1], [[2]]], "list[list[int | list[int]]]"),
        ([(1, "a"), (None, "b")], "list[tuple[int | None, str]]"),
        ([(1, "a"), (1,)], "list[tuple[int | str, ...]]"),
        ([(1,), (1, "a"), (2.5, None)], "list[tuple[int | float | str | None, ...]]"),
        # Dicts: a class if a key stands in all, or more than half of them in each on average.
        ({"a": 1}, "Root"),
        ([{"a": 1}, {"a": 2, "b": 1}], "list[Root]"),
        ([{"a": 1, "b": 2}, {"b": 1, "c": 2}, {"a": 2, "c": 3}], "list[Root]"),
        ([{"a": 1}, {"b": 2}], "list[dict[str, int]]"),
        ([{"id": 1, "a": 1}, {"id": 1, "b": 1}, {"id": 1, "c": 1}, {"id": 1, "d": 1}], "list[Root]"),
        ([{"a": 1}, {}], "list[Root]"),
        ([{"a": 1, "b": 2}, {"a": 1, "b": 2}, {}], "list[Root]"),
        ({"1": 1}, "dict[str, int]"),
        ({1: 1}, "dict[int, int]"),
        ({1: 1, "a": "b"}, "dict[int | str, int | str]"),
        ([{"a": 1}, {"2024-01-01": 1.5}], "list[dict[str, int | float]]"),
        ({f"k{number}": number for number in range(200)}, "dict[str, int]"),
    ],
)
def test_types(value, said):
    holdall.dump(value, "v.hold")
    assert invoke("schema", "v.hold").out.splitlines()[0] == f"hold, content: {said}"


def test_text_that_means_more_in_formats_that_lack_it():
    rows = [
        {"a": "2024-01-01", "b": "2024-01-01", "c": "2024-13-01", "d": "12:30:00"},
        {"b": "soon", "e": "1.5"},
    ]
    holdall.msgpack.dump(rows, "v.msgpack")
    out = invoke("schema", "v.msgpack").out
    for said in ("a: date", "b: str", "c: str", "d: time", "e: str"):
        assert f"    {said}" in out
    holdall.dump(rows, "v.hold")
    assert "date" not in invoke("schema", "v.hold").out


def test_what_holds_itself_is_a_class_that_names_itself():
    node = {"name": "root", "kids": []}
    node["kids"].append({"name": "a", "kids": [], "up": node})
    chain = None
    for _ in range(100_000):
        chain = {"next": chain}
    holdall.dump([node, [chain]], "v.hold")
    out = invoke("schema", "v.hold").out
    assert "    kids: list[Root" in out and "    next: " in out
    deep = []
    for _ in range(10_000):
        deep = [deep]
    holdall.dump(deep, "v.hold")
    assert invoke("schema", "v.hold").out.count("list[") == 33


def test_memory_is_that_of_the_variety():
    """Twenty times as many records, and the same is kept; names without end become maps."""

    def kept(count):
        write_log(
            *({"n": at, "tags": {f"t{at}": at, f"u{at}": [at]}, "who": Pair(at, "a")} for at in range(count))
        )
        seen = seen_in("log.hold", "hold")
        return len(seen.dicts), len(seen.classes), sum(len(each.fields) for each in seen.dicts.values())

    # Sets of keys are kept up to a bound at each place, and the fields of a map not at all.
    assert kept(100) == kept(2000)
    assert kept(2000)[0] <= _seen._MOST_VARIANTS + 1
    assert "    tags: dict[str, int | list[int]]\n" in invoke("schema", "log.hold").out


def test_an_object_in_many_places_is_not_looked_at_in_each():
    shared = [[number, str(number)] for number in range(1000)]
    content = [holdall.Record(f"m.C{number}", {"x": shared}) for number in range(1000)]
    holdall.dump(content, "v.hold")
    seen = seen_in("v.hold", "hold")
    places = [layout.fields["x"][1] for layout in seen.classes.values()]
    assert sum(not place.anything for place in places) == _seen._MOST_PLACES


def test_maps_that_stand_twice_in_each_other_are_written_in_bounded_size():
    """Each map holds the next one in two places: written out, that is twice as much at each level."""
    content = []
    for level in reversed(range(30)):
        # Two keys, and none that all have: maps.
        content = [{f"a{level}": content, f"b{level}": (content,)}, {f"c{level}": [], f"d{level}": ()}]
    holdall.dump(content, "v.hold")
    for args in ((), ("--python",), ("--json",)):
        assert len(invoke("schema", "v.hold", *args).out) < 1_000_000


def test_names_from_data_are_never_code(module_of):
    evil = "x: int = __import__('os').system('touch ran')\n    y"
    content = [
        holdall.Record(f"os.system('touch ran')\nimport os\n#{evil}", {evil: 1, "ok": "'''\"\"\""}),
        {evil: 2, "class": 1, "__init__": 3, "ﬁ": 4, "a b": 5},
    ]
    for value in content:
        holdall.dump(value, "v.hold")
        for style in STYLES:
            module = module_of("v.hold", "--as", style)
            found = holdall.load("v.hold", type=module.Content)
            assert "ok" in dir(found) or (isinstance(found, dict) or found.class_ == 1)
            # Before 3.11 `dict[str, int]` says that it is a class.
            if issubclass(type(module.Content), type):
                holdall.register(module.Content, name=f"other{next(_numbers)}")
        text = invoke("schema", "v.hold").out
        assert "\n    y" not in text
    assert not os.path.exists("ran")


# --- JSON Schema -------------------------------------------------------------------------------------------------------
def schema_of(path):
    done = invoke("schema", path, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def plain(value):
    """A value of hold in plain form."""
    if isinstance(value, holdall.Record):
        return value.payload if value.kind == "enum" else plain(value.fields)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(each) for each in value]
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def test_json_schema_describes_what_was_stored():
    content = [order(1), order(2, order(3)), {"a": 1, "t": (1, "x"), "m": {"1": 2.5}}]
    holdall.dump(content, "v.hold")
    schema = schema_of("v.hold")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    stored = plain(holdall.load("v.hold", types=holdall.Record))
    check(schema, stored)
    assert schema["$defs"]["Order"]["title"] == f"{NAME}.Order"
    assert schema["$defs"]["Order"]["properties"]["id"] == {"type": "string", "format": "uuid"}
    for damage in ({"id": 3}, {"color": "GREEN"}, {"items": [{}]}, {"parent": 3}):
        with pytest.raises(ValueError):
            check(schema, [{**stored[0], **damage}])
    with pytest.raises(ValueError):
        check(schema, [{}])


@pytest.mark.parametrize("format", ["msgpack", "bson"])
def test_json_schema_of_plain_formats(format):
    content = {key: value for key, value in PLAIN.items() if key != "raw"}
    getattr(holdall, format).dump(content, f"v.{format}")
    schema = schema_of(f"v.{format}")
    check(schema, content)
    assert schema["$defs"]["User"]["required"] == ["name", "age", "kids"]
    assert schema["$defs"]["User"]["properties"]["age"] == {"type": ["integer", "number", "null"]}
    with pytest.raises(ValueError):
        check(schema, {**content, "users": [{"name": 1, "age": 3, "kids": []}]})


# --- usage -------------------------------------------------------------------------------------------------------------
def test_wrong_usage():
    holdall.dump(1, "v.hold")
    with open("v.json", "w") as file:
        file.write("1")
    for args, message in (
        (("v.hold", "--python", "--json"), "--python and --json: choose one of them"),
        (("v.hold", "--as", "struct"), "--as goes with --python"),
        (("v.json",), "v.json: json has no classes that could be loaded: `holdall convert` it to hold first"),
        (("none.hold",), "none.hold: no such file or directory"),
    ):
        assert invoke("schema", *args) == (2, "", f"holdall: {message}\n")


# --- any data ----------------------------------------------------------------------------------------------------------
def _made(rng, depth, plain):
    """A value with everything that may stand next to each other."""
    kind = rng.random()
    if depth == 0 or kind < 0.45:
        utc = datetime.timezone.utc
        leaves = [None, True, 3, 2.5, "a", "2024-01-01", b"x", datetime.datetime(2024, 1, 1, tzinfo=utc)]
        more = [] if plain else [decimal.Decimal("1.5"), 2j, datetime.date(2024, 1, 1)]
        return rng.choice(leaves + more)
    if kind < 0.65:
        return [_made(rng, depth - 1, plain) for _ in range(rng.randrange(4))]
    if plain or kind < 0.9:
        names = ["a", "b", "id", "class", "e-mail", "1", "_x"]
        return {rng.choice(names): _made(rng, depth - 1, plain) for _ in range(rng.randrange(4))}
    if kind < 0.95:
        return tuple(_made(rng, depth - 1, plain) for _ in range(rng.randrange(3)))
    fields = {name: _made(rng, depth - 1, plain) for name in rng.sample("pqr", 2)}
    return holdall.Record(f"any.{rng.choice('AB')}", fields)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("format", ["hold", "msgpack", "bson"])
def test_any_data_is_loaded_by_what_is_written_for_it(format, style):
    codec = holdall if format == "hold" else getattr(holdall, format)
    options = {"types": holdall.Record} if format == "hold" else {}
    for seed in range(100):
        rng = random.Random(seed)
        data = codec.dumps({"top": [_made(rng, 4, format != "hold") for _ in range(3)]})
        seen = _seen.Seen(texts=format != "hold")
        seen.add(codec.loads(data, **options))
        module = types.ModuleType(f"any_data_{next(_numbers)}")
        sys.modules[module.__name__] = module
        exec(_write_python.written(settled(seen), format, style, False), vars(module))
        try:
            codec.loads(data, type=module.Content)
        finally:
            forget(module)
            del sys.modules[module.__name__]
