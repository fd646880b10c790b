"""`holdall lock`: what it writes down, which changes it finds, and that the remedies that it names are ones."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import types

import pytest

pytest.importorskip("click")

import holdall
from holdall._cli._breaking import accepts, merged
from holdall._cli._layouts import classes_of
from holdall._cli._lock import findings
from tests.support.cli import run

START = """from __future__ import annotations
import enum, typing, dataclasses
from dataclasses import dataclass
from collections.abc import Sequence
import holdall
"""


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Program:
    """A version of a program: the module `shop` with this code."""

    def __init__(self, code):
        self.code = code

    def __enter__(self):
        self.module = sys.modules["shop"] = types.ModuleType("shop")
        exec(START + self.code, vars(self.module))
        return self

    def __exit__(self, *_):
        del sys.modules["shop"]
        for cls in vars(self.module).values():
            if isinstance(cls, type) and cls.__module__ == "shop":
                # The next version may use the name.
                holdall.register(cls, name=f"forgotten.{id(cls)}")

    @property
    def known(self):
        return [
            each
            for each in classes_of(["shop"])
            if each.cls in vars(self.module).values() or each.name.startswith("shop.")
        ]


def locked(code, before=None):
    with Program(code) as program:
        stored = before or {}
        for each in program.known:
            mine = stored.setdefault(each.name, {})
            mine[each.version] = merged(mine.get(each.version), each.layout, of_code=True)
    # As it comes from the file.
    return {
        name: {int(key): each for key, each in json.loads(json.dumps(mine)).items()}
        for name, mine in stored.items()
    }


def told(stored, code):
    with Program(code) as program:
        return [each.finding for each in findings(stored, program.known, "holdall.lock")]


ORDER = "@dataclass\nclass Order:\n    id: int\n    label: str\n"
COLOR = "class Color(enum.Enum):\n    RED = 1\n    BLUE = 2\n"
POINT = "class Point(typing.NamedTuple):\n    x: int\n    y: int\n"
UPGRADE = "holdall.register(Order, version=2, upgrade=lambda fields, version: fields)\n"

# Code of two versions; what is said to break, and for what to write; code with that written, which breaks nothing.
BREAKS = {
    "renamed field": (
        ORDER,
        ORDER.replace("label", "title"),
        "field `title` is required, and stored data has none; `label`, which is gone, has its type",
        "renames={'label': 'title'}, if it was renamed; else a default; or version=2 with an `upgrade`",
        ORDER.replace("label", "title") + "holdall.register(Order, renames={'label': 'title'})\n",
    ),
    "added required field": (
        ORDER,
        ORDER + "    price: float\n",
        "field `price` is required, and stored data has none",
        "a default; or version=2 with an `upgrade`",
        ORDER + "    price: float = 0.0\n",
    ),
    "added required field, upgraded": (
        ORDER,
        ORDER + "    price: float\n" + UPGRADE.replace("version=2", "version=1"),
        "field `price` is required, and stored data has none",
        "a default; or version=2: `upgrade` is called for data of other versions only",
        ORDER + "    price: float\n" + UPGRADE,
    ),
    "version without upgrade": (
        ORDER,
        ORDER + "    price: float\nholdall.register(Order, version=2)\n",
        "field `price` is required, and stored data has none",
        "a default; or an `upgrade`",
        ORDER + "    price: float\n" + UPGRADE,
    ),
    "changed type": (
        ORDER,
        ORDER.replace("id: int", "id: str"),
        "the type of field `id` was `int`, and is `str` now",
        "version=2 with an `upgrade` that converts it (and `version_field`, for MessagePack and BSON); or the old type next to the new",
        ORDER.replace("id: int", "id: str | int"),
    ),
    "no more None": (
        ORDER + "    next: Order | None = None\n",
        ORDER + "    next: 'Order' = None\n",
        "the type of field `next` was `shop.Order | None`, and is `shop.Order` now",
        "version=2 with an `upgrade` that converts it (and `version_field`, for MessagePack and BSON); or the old type next to the new",
        ORDER + "    next: 'Order | None' = None\n",
    ),
    "moved class": (
        ORDER,
        ORDER.replace("class Order", "class Purchase"),
        "no class of the program has this name; `shop.Purchase` (shop) is like it",
        "@holdall.register(aliases=['shop.Order']), if it was moved",
        ORDER.replace("class Order", "class Purchase")
        + "holdall.register(Purchase, aliases=['shop.Order'])\n",
    ),
    "moved registered class": (
        ORDER,
        ORDER.replace("class Order", "class Purchase") + "holdall.register(Purchase, name='purchase')\n",
        "no class of the program has this name; `shop.Purchase` (shop) is like it",
        "add it to `aliases` of `purchase`, if it was moved",
        ORDER.replace("class Order", "class Purchase")
        + "holdall.register(Purchase, aliases=['shop.Order'])\n",
    ),
    "removed class": (
        ORDER,
        "",
        "no class of the program has this name",
        "`aliases=` where it was moved to; else load it as a record (`types=holdall.Record`), or by a resolver",
        ORDER,
    ),
    "removed member": (
        COLOR,
        COLOR.replace("    RED = 1\n", ""),
        "member `RED` is gone",
        "`RED` again; or `renames`, `_missing_` or a resolver, which say what takes its place",
        COLOR,
    ),
    "renamed member": (
        COLOR,
        COLOR.replace("BLUE", "NAVY"),
        "member `BLUE` is gone: `NAVY` has its value",
        "renames={'BLUE': 'NAVY'}, or BLUE = NAVY behind it, in the class",
        COLOR.replace("BLUE", "NAVY") + "    BLUE = NAVY\n",
    ),
    "changed value": (
        COLOR,
        COLOR.replace("BLUE = 2", "BLUE = 3"),
        "the value of `BLUE` changed: MessagePack and BSON store values",
        "BLUE = 2 as before, or `_missing_` or a resolver",
        COLOR,
    ),
    "swapped values": (
        COLOR,
        "class Color(enum.Enum):\n    RED = 2\n    BLUE = 1\n",
        "the value of `RED` changed: MessagePack and BSON store values, and read `BLUE` as `RED`",
        "RED = 1 as before",
        COLOR,
    ),
    "reordered fields by position": (
        POINT,
        "class Point(typing.NamedTuple):\n    y: int\n    x: int\n",
        "MessagePack and BSON store its fields by position, and their order was x, y",
        "the fields in this order; new ones behind them, with defaults",
        POINT + "    z: int = 0\n",
    ),
    "named tuple to class": (
        POINT,
        "@dataclass\nclass Point:\n    x: int\n    y: int\n",
        "MessagePack and BSON stored its fields by position, and do not now",
        "array_like=True; or a named tuple, as before",
        POINT,
    ),
    "array_like": (
        ORDER,
        ORDER + "holdall.register(Order, array_like=True)\n",
        "MessagePack and BSON stored its fields by name, and do not now",
        "array_like=False",
        ORDER + "holdall.register(Order)\n",
    ),
    "other keys": (
        ORDER + "holdall.register(Order, rename={'label': 'l'})\n",
        ORDER,
        "field `label` has another key in MessagePack and BSON: it was 'l'",
        "rename={'label': 'l'}",
        ORDER + "holdall.register(Order, rename={'label': 'l'})\n",
    ),
    "another tag": (
        ORDER + "holdall.register(Order, tag='o')\n",
        ORDER + "holdall.register(Order, tag='order')\n",
        "its tag in MessagePack and BSON changed",
        "tag='o', tag_field='type'; or aliases=['o'], if the key is the same",
        ORDER + "holdall.register(Order, tag='o', tag_field='type')\n",
    ),
    "another base": (
        "class Numbers(list):\n    pass\nholdall.register(Numbers)\n",
        "class Numbers(dict):\n    pass\nholdall.register(Numbers)\n",
        "its base changed: it extended `list`, and extends `dict` now",
        "a class with the old base for the old data, registered as 'shop.Numbers', this one under another name; then `holdall "
        "rewrite`, or a resolver",
        "class Old(list):\n    pass\nholdall.register(Old, name='shop.Numbers')\n",
    ),
    "encoded before": (
        ORDER + "holdall.register(Order, encode=str, decode=str)\n",
        ORDER,
        "it was stored as what `encode` returned, and is its fields now",
        "version=2 with an `upgrade`, if `encode` gave a dict; else a resolver; or `encode` and `decode` again",
        ORDER + "holdall.register(Order, encode=str, decode=str)\n",
    ),
    "enumeration now": (
        ORDER,
        COLOR.replace("Color", "Order"),
        "it was stored as its fields, and is an enumeration now",
        "a class for the old data alone, registered as 'shop.Order', this one under another name; then `holdall rewrite`, or a "
        "resolver",
        ORDER,
    ),
    "type changed, no version in plain formats": (
        ORDER,
        ORDER.replace("id: int", "id: str") + UPGRADE,
        "MessagePack and BSON store no version, and `id` of another type is taken for today's",
        "version_field='v', or another key of your choice",
        ORDER.replace("id: int", "id: str") + UPGRADE.replace("version=2", "version=2, version_field='v'"),
    ),
    "field of __post_init__": (
        ORDER,
        ORDER
        + "    n: int = dataclasses.field(init=False)\n    def __post_init__(self):\n        self.n = 1\n",
        "field `n` is set by `__post_init__` alone, which loading without a type does not call",
        "a default; or version=2 with an `upgrade`",
        ORDER + "    n: int = dataclasses.field(init=False, default=1)\n",
    ),
    "class within a class": (
        "class Shop:\n    @dataclass\n    class Order:\n        id: int\n",
        ORDER,
        "no class of the program has this name; `shop.Order` (shop) is like it",
        "@holdall.register(aliases=['shop.Shop.Order']), if it was moved",
        "@holdall.register(aliases=['shop.Shop.Order'])\n@dataclass\nclass Order:\n    id: int\n",
    ),
    "value of a flag": (
        COLOR.replace("Enum", "Flag"),
        COLOR.replace("Enum", "Flag").replace("BLUE = 2", "BLUE = 4"),
        "the value of `BLUE` changed: MessagePack and BSON store values, and hold those of combinations",
        "BLUE = 2 as before, or `_missing_` or a resolver",
        COLOR.replace("Enum", "Flag"),
    ),
    "removed field, unknown refused": (
        ORDER,
        ORDER.replace("    label: str\n", "") + "holdall.register(Order, unknown='refuse')\n",
        "field `label` is gone, and unknown fields are refused",
        'unknown="drop"; or version=2 with an `upgrade`',
        ORDER.replace("    label: str\n", "") + "holdall.register(Order, unknown='drop')\n",
    ),
    "removed field, refused": (
        ORDER + "holdall.register(Order, forbid_unknown=True)\n",
        ORDER.replace("    label: str\n", "") + "holdall.register(Order, forbid_unknown=True)\n",
        "field `label` is gone, and unknown fields are refused",
        "no `forbid_unknown`; or version=2 with an `upgrade`",
        ORDER.replace("    label: str\n", ""),
    ),
}


@pytest.mark.parametrize("case", BREAKS)
def test_what_breaks_and_what_to_write(case):
    before, after, what, remedy, remedied = BREAKS[case]
    stored = locked(before)
    assert all(not each.breaks for each in told(stored, before))
    broken = [each for each in told(stored, after) if each.breaks]
    assert (what, remedy) in [(each.what, each.remedy) for each in broken]
    assert [each for each in told(stored, remedied) if each.breaks] == []


STORED = {
    "renamed field": ("Order(1, 'a')", "(it.id, it.title) == (1, 'a')"),
    "added required field": ("Order(1, 'a')", "it.price == 0.0"),
    "moved class": ("Order(1, 'a')", "it == Purchase(1, 'a')"),
    "moved registered class": ("Order(1, 'a')", "it == Purchase(1, 'a')"),
    "renamed member": ("Color.BLUE", "it is Color.NAVY"),
    "encoded before": ("Order(1, 'a')", "it == \"Order(id=1, label='a')\""),
    "another base": ("Numbers([1])", "type(it) is Old and it == [1]"),
}


@pytest.mark.parametrize("case", STORED)
def test_old_data_loads_by_the_remedy(case):
    before, _, _, _, remedied = BREAKS[case]
    value, expected = STORED[case]
    with Program(before) as program:
        data = holdall.dumps(eval(value, vars(program.module)))
    with Program(remedied) as program:
        it = holdall.loads(data, types=program.module)
        assert eval(expected, {**vars(program.module), "it": it})


COMPATIBLE = {
    "default": (ORDER, ORDER + "    price: float = 0.0\n", ["field `price` was added, and has a default"]),
    "removed": (
        ORDER,
        "@dataclass\nclass Order:\n    id: int\n",
        ["field `label` was removed: stored values of it are not used"],
    ),
    "maybe renamed": (
        ORDER,
        ORDER.replace("label: str", "title: str = ''"),
        [
            "field `title` was added, and has a default; if `label` was renamed to it: renames={'label': 'title'}",
            "field `label` was removed: stored values of it are not used",
        ],
    ),
    "slots": (ORDER, ORDER.replace("@dataclass", "@dataclass(slots=True)"), []),
    "plain": (ORDER, ORDER.replace("@dataclass\n", ""), []),
    "order of fields": (ORDER, "@dataclass\nclass Order:\n    label: str\n    id: int\n", []),
    "wider type": (ORDER, ORDER.replace("id: int", "id: float | None"), []),
    "type of the interface": (ORDER + "    x: list[int]\n", ORDER + "    x: Sequence[int]\n", []),
    "base class of a field": (
        COLOR
        + ORDER
        + "@dataclass\nclass Sub(Order):\n    pass\n"
        + "@dataclass\nclass Holds:\n    it: Sub\n",
        COLOR
        + ORDER
        + "@dataclass\nclass Sub(Order):\n    pass\n"
        + "@dataclass\nclass Holds:\n    it: Order\n",
        [],
    ),
    "renamed member": (
        COLOR,
        COLOR.replace("BLUE", "NAVY") + "holdall.register(Color, renames={'BLUE': 'NAVY'})\n",
        ["member `NAVY` was added"],
    ),
    "member that is asked for": (
        COLOR,
        COLOR.replace("    RED = 1\n", "")
        + "    @classmethod\n    def _missing_(cls, value):\n        return cls.BLUE\n",
        [],
    ),
    "old tag": (
        ORDER + "holdall.register(Order, tag='o')\n",
        ORDER + "holdall.register(Order, tag='order', aliases=['shop.o'])\n",
        [],
    ),
    "key besides the name": (ORDER, ORDER + "holdall.register(Order, rename={'label': 'l'})\n", []),
    "lazy field": (
        ORDER,
        ORDER + "    n: int = dataclasses.field(init=False)\n",
        ["field `n` was added, and is unset in stored data"],
    ),
    "member": (COLOR, COLOR + "    GREEN = 3\n", ["member `GREEN` was added"]),
    "position behind": (POINT, POINT + "    z: int = 0\n", ["field `z` was added, and has a default"]),
    "new class": ("", ORDER, []),
    "upgrade": (ORDER, "@dataclass\nclass Order:\n    other: bytes\n" + UPGRADE, []),
    "mixin": (ORDER, "class Mixin:\n    pass\n" + ORDER.replace("class Order:", "class Order(Mixin):"), []),
    "any attributes": (
        "class Bag:\n    pass\nholdall.register(Bag)\n",
        "class Bag:\n    x: int = 1\nholdall.register(Bag)\n",
        [],
    ),
}


@pytest.mark.parametrize("case", COMPATIBLE)
def test_what_needs_nothing(case):
    before, after, said = COMPATIBLE[case]
    stored = locked(before)
    found = told(stored, after)
    assert [each.what for each in found] == said and not any(each.breaks for each in found)
    # Locked again, nothing is said any more.
    assert told(locked(after, stored), after) == []


def test_models_of_pydantic():
    pytest.importorskip("pydantic")
    stored = locked(ORDER)
    model = "import pydantic\nclass Order(pydantic.BaseModel):\n    id: int\n    label: str\n"
    found = [each for each in told(stored, model) if each.breaks]
    if found:  # This holdall makes no whole models of instances that were none.
        (one,) = found
        assert one.what.startswith("it is a model of pydantic's now") and one.remedy.startswith(
            "version=2, upgrade="
        )
        assert not any(
            each.breaks for each in told(stored, model + f"holdall.register(Order, {one.remedy})\n")
        )
    again = locked(model)
    assert told(again, model) == []
    assert any(each.breaks for each in told(again, model + "    price: float\n"))


def test_what_was_stored_once_stays_in_the_lock():
    first = locked(ORDER)
    second = locked("@dataclass\nclass Order:\n    id: int\n    price: float = 0.0\n", first)
    fields = second["shop.Order"][1]["fields"]
    assert fields["label"] == {"type": "str", "sometimes": True, "gone": True}
    assert fields["price"] == {"type": "float", "sometimes": True}
    # Data of the first version has no price, and that of the second may have a label of text.
    (found,) = told(second, "@dataclass\nclass Order:\n    id: int\n    price: float\n")
    assert found.what == "field `price` has no default, and not all stored data has it"
    (found,) = told(
        second, "@dataclass\nclass Order:\n    id: int\n    label: int = 1\n    price: float = 1.0\n"
    )
    assert found.what == "the type of field `label` was `str`, and is `int` now"
    # Each version has a layout of its own.
    third = locked(ORDER + UPGRADE, second)
    assert [*third["shop.Order"]] == [1, 2] and "price" not in third["shop.Order"][2]["fields"]


@pytest.mark.parametrize(
    "new, old, is_taken",
    [
        ("list[int]", "list[int]", True),
        ("list[int | None]", "list[int]", True),
        ("list[int]", "list[int | None]", False),
        ("dict[str, list[float]]", "dict[str, list[int]]", True),
        ("dict[str, int]", "dict[int, int]", False),
        ("Any", "list[int]", True),
        ("list", "list[int]", True),
        ("collections.abc.Mapping[str, int]", "dict[str, int]", True),
        ("Literal['a, b', 'c']", "Literal['c']", True),
        ("Literal['c']", "Literal['a|b', 'c']", False),
        ("str", "Literal['a']", True),
        ("tuple[int, ...]", "tuple[int, int]", True),
        ("tuple[int, int]", "tuple[int, int, int]", False),
    ],
)
def test_types_that_take_others(new, old, is_taken):
    assert accepts(new, old, {}) is is_taken


# --- the command -------------------------------------------------------------------------------------------------------
def write(name, code):
    with open(name, "w", encoding="utf-8") as file:
        file.write(START + code)


def test_the_command_from_the_first_lock_to_a_break():
    write("shop.py", COLOR + ORDER + "    color: Color = Color.RED\n")
    assert run("lock", "--code", "shop") == (0, "holdall.lock: 2 classes\n", "")
    text = pathlib.Path("holdall.lock").read_text()
    assert '          "label": {"type": "str"},\n' in text and '          "BLUE": 2\n' in text
    assert run("lock", "--code", "shop") == (0, "holdall.lock: 2 classes, as before\n", "")
    assert run("lock", "--code", "shop", "--check") == (0, "holdall.lock: 2 classes, all compatible\n", "")
    # The class moves, and a member goes.
    write("shop.py", COLOR.replace("    BLUE = 2\n", ""))
    write("orders.py", "from shop import Color\n" + ORDER)
    done = run("lock", "--code", "shop", "--code", "orders", "--check")
    line = text.splitlines().index('    "shop.Order": {') + 1
    assert done == (
        1,
        "shop.py:6: shop.Color: breaks: member `BLUE` is gone\n"
        "    write: `BLUE` again; or `renames`, `_missing_` or a resolver, which say what takes its place\n"
        f"holdall.lock:{line}: shop.Order: breaks: no class of the program has this name; `orders.Order` (orders.py:7) is like it\n"
        "    write: @holdall.register(aliases=['shop.Order']), if it was moved\n"
        "holdall.lock: the code breaks 2 stored classes\n",
        "",
    )
    done = run("lock", "--code", "shop", "--code", "orders")
    assert done.code == 1 and done.out.endswith("nothing was written: --accept forgets these layouts\n")
    assert pathlib.Path("holdall.lock").read_text() == text
    assert run("lock", "--code", "shop", "--code", "orders", "--accept").code == 0
    assert "shop.Order" not in pathlib.Path("holdall.lock").read_text()
    assert run("lock", "--code", "shop", "--code", "orders", "--check").code == 0


def test_layouts_in_data():
    record = holdall.Record
    with holdall.Writer("log.hold") as log:
        log.write(record("shop.Order", {"id": 1, "label": "x"}))
        log.write(record("shop.Order", {"id": 2, "label": None, "at": 3}, version=2))
        log.write(record("shop.Order", {"id": 2, "label": "x"}, version=2))
    assert run("lock", "log.hold") == (0, "holdall.lock: 1 class\n", "")
    assert json.loads(pathlib.Path("holdall.lock").read_text())["classes"] == {
        "shop.Order": {
            "1": {"kind": "record", "fields": {"id": {"type": "int"}, "label": {"type": "str"}}},
            "2": {
                "kind": "record",
                "fields": {
                    "id": {"type": "int"},
                    "label": {"type": "str | None"},
                    "at": {"type": "int", "sometimes": True},
                },
            },
        }
    }
    write("shop.py", ORDER + "    at: int\nholdall.register(Order, version=2)\n")
    done = run("lock", "--code", "shop", "--check")
    said = [line.partition(": ")[2] for line in done.out.splitlines() if "breaks:" in line]
    assert done.code == 1 and said == [
        "shop.Order: breaks: field `at` is required, and stored data has none",
        "shop.Order (version 2): breaks: field `at` has no default, and not all stored data has it",
        "shop.Order (version 2): breaks: the type of field `label` was `str | None`, and is `str` now",
    ]
    # The same without a lock: data and code at once.
    os.unlink("holdall.lock")
    assert run("lock", "log.hold", "--code", "shop").out.count("breaks:") == 3


def test_classes_that_declare_nothing_are_known_by_their_data():
    write("shop.py", "class Bag:\n    pass\nclass Wrong(Exception):\n    pass\nclass Other:\n    pass\n")
    bag = holdall.Record("shop.Bag", {"x": 1})
    holdall.dump([bag, holdall.Record("shop.Gone", {"y": bag})], "v.hold")
    done = run("lock", "v.hold", "--code", "shop")
    assert done.code == 1 and "shop.Gone: breaks: no class" in done.out and "shop.Bag" not in done.out
    text = pathlib.Path("shop.py").read_text().replace("Other:", "Gone:")
    pathlib.Path("shop.py").write_text(text)
    assert run("lock", "v.hold", "--code", "shop") == (0, "holdall.lock: 2 classes\n", "")
    assert json.loads(pathlib.Path("holdall.lock").read_text())["classes"]["shop.Bag"] == {
        "1": {"kind": "open", "fields": {"x": {"type": "int"}}}
    }
    # A class that becomes a dict, which no class of Python's is.
    pathlib.Path("shop.py").write_text(
        text.replace("class Bag:\n    pass", "class Bag(typing.TypedDict):\n    x: int")
    )
    assert (
        "its base changed: it extended no builtin, and extends `dict` now"
        in run("lock", "--code", "shop", "--check").out
    )


def test_names_in_data_are_no_code():
    holdall.dump(holdall.Record("os.system\n: breaks", {'a"\n': 1}), "v.hold")
    assert run("lock", "v.hold").code == 0
    write("shop.py", "")
    done = run("lock", "--code", "shop", "--check")
    assert done.code == 1 and done.out.count("\n") == 3


def test_wrong_usage():
    for args, message in (
        ((), "lock: nothing to lock: name modules by --code, or files"),
        (("--check",), "lock: --check compares with code: name modules by --code"),
        (
            ("--code", "shop", "--check"),
            "holdall.lock: there is no lock yet: `holdall lock` without --check writes it",
        ),
        (
            ("--code", "no_such_module_here"),
            "--code no_such_module_here: ModuleNotFoundError: No module named 'no_such_module_here'",
        ),
    ):
        assert run("lock", *args) == (2, "", f"holdall: {message}\n")
    with open("holdall.lock", "w") as file:
        file.write("[]")
    write("shop.py", "")
    assert (
        run("lock", "--code", "shop").err
        == "holdall: holdall.lock: no lock: expected what `holdall lock` writes\n"
    )
    holdall.msgpack.dump(1, "v.msgpack")
    os.unlink("holdall.lock")
    assert (
        "v.msgpack: msgpack stores no names of classes: lock them by --code" in run("lock", "v.msgpack").err
    )
