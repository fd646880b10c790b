"""Sharing, cycles and depth under typed loading, also where the graph goes through fields that nobody asked for."""

from __future__ import annotations

import collections
import datetime
import itertools
import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from typing_extensions import TypedDict

import holdall
from holdall import dumps, loads
from tests.support import typed_models as models
from tests.support.each import each
from tests.support.formats import FORMATS, Format
from tests.support.typed_models import Box, Node, Point, Row, Tree, User

DEEP = 100_000


@dataclass
class Two:
    a: Any
    b: Any


@dataclass
class Person:
    name: str
    boss: Person | None = None
    staff: list[Person] = field(default_factory=list)


@dataclass(slots=True)
class Slotted:
    name: str
    peer: Slotted | None = None
    by_name: dict[str, Slotted] = field(default_factory=dict)


class Linked(NamedTuple):
    name: str
    box: list[Linked]


class Entry(TypedDict, total=False):
    name: str
    next: Entry


# --- the same object twice -------------------------------------------------------------------------------------------
def make_name() -> str:
    return "".join(["na", "me"])


SHARED: list[tuple[str, Any, Any]] = [
    ("dataclass", lambda: User("Ann", 1), User),
    ("slots", lambda: Point(1, 2), Point),
    ("list", lambda: [1, 2], list[int]),
    ("long list", lambda: list(range(50)), list[int]),
    ("list of text", lambda: ["a", "bc"] * 20, list[str]),
    ("tuple", lambda: (1, make_name()), tuple[int, str]),
    ("run in a tuple", lambda: tuple(range(50)), tuple[int, ...]),
    ("set", lambda: {1, 2}, set[int]),
    ("frozenset", lambda: frozenset({1, 2}), frozenset[int]),
    ("deque", lambda: collections.deque([1, 2]), collections.deque[int]),
    ("dict", lambda: {"a": 1}, dict[str, int]),
    ("dict of ints", lambda: {1: 1}, dict[int, int]),
    ("OrderedDict", lambda: collections.OrderedDict(a=1), collections.OrderedDict[str, int]),
    ("Counter", lambda: collections.Counter("aab"), collections.Counter[str]),
    ("NamedTuple", lambda: models.Pair(1, make_name()), models.Pair),
    ("TypedDict", lambda: {"title": make_name(), "year": 3}, models.Movie),
    ("str", make_name, str),
    ("bytes", lambda: bytes([1, 2]), bytes),
    ("datetime", lambda: datetime.datetime(2026, 1, 2), datetime.datetime),
    ("array_like", lambda: Row(1, "a"), Row),
    ("attrs", lambda: models.AttrsUser("Ann"), models.AttrsUser),
    ("Struct", lambda: models.StructUser("Ann"), models.StructUser),
    ("dataclass of a dict", lambda: {"name": "Ann", "age": 1}, User),
    ("tuple of a list", lambda: [1, 2], tuple[int, ...]),
    ("list of a tuple", lambda: (1, make_name()), list[Any]),
    ("float of an int run", lambda: [1, 2, 3, 4, 5], list[float]),
    ("class with factories", lambda: {"name": "a"}, Person),
]


@pytest.mark.parametrize(("obj", "annotation"), [pytest.param(o, a, id=name) for name, o, a in SHARED])
class TestTheSameObjectTwice:
    def test_in_a_list(self, obj: Any, annotation: Any) -> None:
        one = obj()
        data = dumps([one, one, one])
        made = loads(data, type=list[annotation])
        assert made[0] == loads(dumps(obj()), type=annotation)
        assert made[0] is made[1] is made[2]

    def test_in_the_fields_of_an_object(self, obj: Any, annotation: Any) -> None:
        one = obj()
        made = loads(dumps(Two(Box(one), Box(one))), type=Two, types=[models])
        assert made.a.item is made.b.item
        boxes = loads(dumps([Box(one), Box(one)]), type=list[Box[annotation]])
        assert boxes[0].item is boxes[1].item

    def test_in_a_field_that_is_not_wanted_first(self, obj: Any, annotation: Any) -> None:
        """The first place is passed over; the object is read where it is asked for."""
        one = obj()
        expected = loads(dumps(obj()), type=annotation)
        made = loads(dumps({"skipped": [{"deep": one}], "item": one, "other": one}), type=Box[annotation])
        assert made.item == expected and type(made.item) is type(expected)

    def test_in_a_field_that_is_not_wanted_last(self, obj: Any, annotation: Any) -> None:
        one = obj()
        expected = loads(dumps(obj()), type=annotation)
        made = loads(dumps({"item": one, "skipped": [{"deep": one}]}), type=Box[annotation])
        assert made.item == expected and type(made.item) is type(expected)

    def test_between_two_objects_that_skip_it(self, obj: Any, annotation: Any) -> None:
        one = obj()
        items = [{"skipped": one, "item": one}, {"item": one, "skipped": [one]}, {"item": one}]
        made = loads(dumps(items), type=list[Box[annotation]])
        assert made[0].item is made[1].item is made[2].item

    def test_is_two_objects_in_a_format_without_references(self, obj: Any, annotation: Any) -> None:
        one = obj()
        fmt = FORMATS["msgpack"]
        made = fmt.loads(fmt.dumps([one, one]), type=list[annotation])
        assert made[0] == made[1] == fmt.loads(fmt.dumps(obj()), type=annotation)


def test_one_object_where_two_types_are_wanted() -> None:
    """It keeps its identity where both accept it; else the type that comes second refuses it or gets one of its own."""
    one = [1, 2]
    data = dumps({"a": one, "b": one})

    class Both(TypedDict):
        a: list[int]
        b: list[Any]

    made = loads(data, type=Both)
    assert made["a"] is made["b"]

    class Other(TypedDict):
        a: list[int]
        b: list[str]

    with pytest.raises(holdall.ValidationError, match=r"at `\$.b"):
        loads(data, type=Other)

    class Converting(TypedDict):
        a: list[Any]
        b: list[int]

    assert loads(data, type=Converting) == {"a": [1, 2], "b": [1, 2]}


def test_two_specialisations_share_what_fits_both() -> None:
    point = Point(1, 2)
    made = loads(dumps((Box(point), point)), type=tuple[Box[Point], Point])
    assert made[0].item is made[1]


# --- cycles ----------------------------------------------------------------------------------------------------------
def test_cycles_through_dataclasses() -> None:
    boss = Person("Ann")
    boss.staff = [Person("Bob", boss), Person("Cid", boss)]
    boss.boss = boss
    made = loads(dumps(boss), type=Person)
    assert made.boss is made and [one.boss is made for one in made.staff] == [True, True]
    assert [one.name for one in made.staff] == ["Bob", "Cid"]


def test_cycles_through_slots_and_dicts() -> None:
    one, two = Slotted("one"), Slotted("two")
    one.peer, two.peer = two, one
    one.by_name = two.by_name = {"one": one, "two": two}
    made = loads(dumps([one, two]), type=list[Slotted])
    assert made[0].peer is made[1] and made[1].peer is made[0]
    assert made[0].by_name is made[1].by_name and made[0].by_name["two"] is made[1]


def test_cycles_through_lists_tuples_and_typed_dicts() -> None:
    box: list[Any] = []
    linked = Linked("a", box)
    box.append(linked)
    made = loads(dumps(linked), type=Linked)
    assert made.box[0] is made
    entry: Entry = {"name": "a"}
    entry["next"] = {"name": "b", "next": entry}
    again = loads(dumps(entry), type=Entry)
    assert again["next"]["next"] is again
    tree = Tree("root")
    tree.children = [tree]
    assert (lambda made: made.children[0] is made)(loads(dumps(tree), type=Tree))


def test_a_cycle_through_a_dict_that_becomes_an_object() -> None:
    """What was stored as a dict is built as a class from the start, so that it can be met from within."""
    stored: dict[str, Any] = {"name": "Ann"}
    stored["boss"] = stored
    stored["staff"] = [{"name": "Bob", "boss": stored}]
    made = loads(dumps(stored), type=Person)
    assert type(made) is Person and made.boss is made and made.staff[0].boss is made


def test_a_cycle_that_the_types_do_not_allow() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(holdall.ValidationError, match="Expected `int`, got `list`"):
        loads(dumps(loop), type=list[int])
    made = loads(dumps(loop), type=list[Any])
    assert made[0] is made


def test_a_cycle_in_a_format_without_references() -> None:
    boss = Person("Ann")
    boss.boss = boss
    with pytest.raises(holdall.EncodeError, match=r"\$\.staff\[0\]\.boss"):
        FORMATS["msgpack"].dumps(Person("Bob", None, [boss]))


def test_post_init_of_a_cycle() -> None:
    seen: list[tuple[str, bool]] = []

    @dataclass
    class Late:
        name: str
        other: Any = None

        def __post_init__(self) -> None:
            seen.append((self.name, self.other is not None))

    Late.__annotations__["other"] = Late | None
    one = Late("one")
    one.other = Late("two", one)
    data = dumps(one)
    seen.clear()
    made = loads(data, type=Late)
    assert made.other.other is made
    assert sorted(seen) == [("one", True), ("two", True)]


# --- what is passed over ---------------------------------------------------------------------------------------------
@dataclass
class Wanted:
    item: Any = None
    z: Any = None


SKIPPED: list[tuple[str, Any]] = [
    ("text", "text"),
    ("wide text", "ñ字"),
    ("numbers", [1, 2.5, 1 << 80, True, None, -1]),
    ("runs", [list(range(100)), [1.5] * 9, ["a"] * 9, [True] * 9, tuple(range(9))]),
    ("containers", [{1}, frozenset({2}), (3, [4]), collections.deque([5], 9), {6: 7}]),
    (
        "mappings",
        [collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]), collections.Counter("a")],
    ),
    ("objects", [Point(1), User("a", 1), Row(1, "a"), models.Pair(1), models.Color.RED, models.Amount(5)]),
    ("times", [datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), datetime.date(2026, 1, 2)]),
    ("buffers", [b"x" * 300, bytearray(b"y")]),
    ("nested", [[[[{"a": [{"b": ({},)}]}]]]]),
]


@each("value", [pytest.param(value, id=name) for name, value in SKIPPED])
def test_passing_over(fmt: Format, value: Any) -> None:
    if fmt.plain and value == [1, 2.5, 1 << 80, True, None, -1]:
        value = [1, 2.5, True, None, -1]
    for at in range(4):
        keys = ["s1", "item", "s2", "z"]
        keys.insert(at, "value")
        stored = {key: value if key == "value" else key for key in keys}
        assert fmt.loads(fmt.dumps(stored), type=Wanted) == Wanted("item", "z")
        listed = fmt.loads(fmt.dumps([stored, {"item": 1, "value": value}, stored]), type=list[Wanted])
        assert listed == [Wanted("item", "z"), Wanted(1), Wanted("item", "z")]


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in SKIPPED])
def test_what_was_passed_over_is_there_for_who_asks(value: Any) -> None:
    """A numbered object within a skipped field, asked for later: itself, and what it holds."""
    for inner in (value, [value], {"k": value}, Box(value)):
        data = dumps({"skipped": [inner, {"more": inner}], "item": inner, "z": [value]})
        made = loads(data, type=Wanted, types=[models])
        whole = loads(data, types=[models])
        assert made.item == whole["item"] and made.z == whole["z"]


def test_layouts_first_met_in_skipped_fields(fmt: Format) -> None:
    points = [Point(n, n) for n in range(3)]
    stored = {"skipped": [Point(7), {"x": 1, "y": 2}, User("a", 1)], "item": points, "z": [User("b", 2)]}

    class Typed(TypedDict):
        item: list[Point]
        z: list[User]

    assert fmt.loads(fmt.dumps(stored), type=Typed) == {"item": points, "z": [User("b", 2)]}


def test_layouts_first_met_in_a_skipped_object_that_is_asked_for_later() -> None:
    """Reading it a second time must not count its layouts and numbers twice."""
    user = User("Ann", 1, ["x"])
    stored = {
        "skipped": [user, [user, Point(1)]],
        "item": user,
        "z": [Point(2), User("Bob", 2), user, {"q": 1}, {"q": 2}],
    }
    made = loads(dumps(stored), type=Wanted, types=[models])
    assert made.item == user and made.z[:2] == [Point(2), User("Bob", 2)] and made.z[2] is made.item
    assert made.z[3:] == [{"q": 1}, {"q": 2}]


def test_every_order_of_wanted_and_skipped() -> None:
    """One object and one that holds it, in four places: all are found, and are the same, in any order."""
    for order in itertools.product(range(3), repeat=4):
        for names in (("s1", "item", "s2", "z"), ("item", "s1", "z", "s2"), ("s1", "s2", "item", "z")):
            inner = [make_name()]
            objects = (inner, {"k": inner}, Box([inner, inner]))
            stored = {name: objects[which] for name, which in zip(names, order, strict=True)}
            data = dumps(stored)
            made = loads(data, type=Wanted, types=[models])
            whole = loads(data, types=[models])
            assert made == Wanted(whole["item"], whole["z"])
            if stored["item"] is stored["z"]:
                assert made.item is made.z


def test_a_cycle_through_a_skipped_field() -> None:
    one: dict[str, Any] = {"item": 5}
    one["skipped"] = [one]
    one["z"] = one["skipped"]
    made = loads(dumps(one), type=Wanted)
    assert made.item == 5 and isinstance(made.z, list) and made.z[0] is made


def test_records_of_skipped_classes() -> None:
    data = dumps({"skipped": Two(1, [2]), "item": 1})
    assert loads(data, type=Wanted) == Wanted(1)


# --- depth -----------------------------------------------------------------------------------------------------------
def on_a_small_stack(work: Any) -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failed:
        raise failed[0]


def chain(length: int) -> Node:
    node = None
    for value in range(length):
        node = Node(value, node)
    assert node is not None
    return node


def undo(node: Any) -> int:
    """Take a chain apart from its head, as its own deallocation would recurse; says how long it was."""
    count = 0
    while node is not None:
        following, node.next = node.next, None
        node = following
        count += 1
    return count


def test_a_deep_linked_list(fmt: Format) -> None:
    def work() -> None:
        node = chain(DEEP)
        data = fmt.dumps(node)
        assert undo(node) == DEEP
        assert undo(fmt.loads(data, type=Node)) == DEEP

    on_a_small_stack(work)


def test_an_error_deep_down(fmt: Format) -> None:
    stored: Any = {"value": "x"}
    for value in range(DEEP):
        stored = {"value": value, "next": stored}
    data = fmt.dumps(stored)
    while stored is not None:
        stored = stored.pop("next", None)

    def work() -> None:
        with pytest.raises(holdall.ValidationError) as caught:
            fmt.loads(data, type=Node)
        assert caught.value.path == ("next",) * DEEP + ("value",)

    on_a_small_stack(work)


def test_deep_and_not_wanted(fmt: Format) -> None:
    deep: Any = []
    for _ in range(DEEP):
        deep = [deep]
    data = fmt.dumps({"skipped": deep, "item": 1})
    while deep:
        deep = deep.pop()
    on_a_small_stack(lambda: fmt.loads(data, type=Wanted))
    assert fmt.loads(data, type=Wanted) == Wanted(1)


def test_limits_hold_for_typed_loads(fmt: Format) -> None:
    data = fmt.dumps(chain(50))
    with pytest.raises(holdall.LimitError, match="limits.depth=10"):
        fmt.loads(data, type=Node, limits=holdall.Limits(depth=10))
    with pytest.raises(holdall.LimitError, match="limits.objects=10"):
        fmt.loads(data, type=Node, limits=holdall.Limits(objects=10))
    with pytest.raises(holdall.LimitError, match="limits.bytes=1000"):
        fmt.loads(data, type=Node, limits=holdall.Limits(bytes=1000))
    assert fmt.loads(data, type=Node, limits=holdall.Limits(depth=100)) == chain(50)


def test_a_bare_defaultdict_keeps_its_factory() -> None:
    stored = collections.defaultdict(list, a=[1])
    again = holdall.loads(holdall.dumps([stored, stored]), type=list[collections.defaultdict])  # type: ignore[type-arg]
    assert again[0] is again[1]
    assert again[0].default_factory is list
    assert again[0] == stored
