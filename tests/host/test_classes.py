"""Instances of classes of every family, built without calling anything of theirs."""

from __future__ import annotations

import collections
import copy
import datetime as dt
import gc
import pickle
import weakref
from typing import Any, Callable

import pytest

import holdall
from tests.support import models
from tests.support import wire as w
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import CLASSES, TYPES, Kind, build, text, third_party, with_fields

Way = Callable[[object], Any]


@each("kind", [*CLASSES, *third_party()], ids=lambda kind: kind.name)
def test_kind(way: Way, kind: Kind) -> None:
    obj = kind.make()
    isomorphic(obj, way(obj))


@each("kind", [*CLASSES, *third_party()], ids=lambda kind: kind.name)
def test_kind_shared_and_many(way: Way, kind: Kind) -> None:
    obj = kind.make()
    graph = [obj, obj, {"k": (obj, [kind.make() for _ in range(40)])}]
    isomorphic(graph, way(graph))


# A cycle is no tree.
@each(
    "kind",
    [kind for kind in [*CLASSES, *third_party()] if kind.name != "numpy array cyclic"],
    ids=lambda kind: kind.name,
)
def test_tree_mode(kind: Kind) -> None:
    obj = kind.make()
    isomorphic(obj, holdall.loads(holdall.dumps(obj, refs=False), types=TYPES), identity=False)


class Counting(models.PlainDict):
    """Tells when anything of it is called."""

    calls: list[str] = []

    def __new__(cls, *args: Any) -> Counting:
        cls.calls.append("__new__")
        return super().__new__(cls)

    def __init__(self, *args: Any) -> None:
        self.calls.append("__init__")

    def __setattr__(self, name: str, value: Any) -> None:
        self.calls.append("__setattr__")

    def __getattribute__(self, name: str) -> Any:
        if name not in ("calls", "__class__", "__dict__"):
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)


def test_nothing_of_the_class_is_called() -> None:
    obj = object.__new__(Counting)
    object.__getattribute__(obj, "__dict__").update(a=1, b=[2])
    data = holdall.dumps(obj)
    Counting.calls.clear()
    back = holdall.loads(data, types=[Counting])
    assert Counting.calls == []
    assert object.__getattribute__(back, "__dict__") == {"a": 1, "b": [2]}


def test_unset_slots_stay_unset(way: Way) -> None:
    nodes = [
        build(models.PlainSlots),
        build(models.PlainSlots, right=None),
        build(models.PlainSlots, value=1, left=2),
    ]
    isomorphic(nodes, way(nodes))
    assert not hasattr(way(nodes)[0], "left")


def test_private_names_of_two_classes(way: Way) -> None:
    back = way(models.MangledChild("base", "child"))
    assert back.reveal() == "base" and back.reveal_other() == "child" and back.open == "base"


def test_instances_with_different_attributes(way: Way) -> None:
    rows = [with_fields(build(models.PlainDict), **{f"f{i}": i for i in range(n, n + 3)}) for n in range(12)]
    graph = [*rows, with_fields(build(models.PlainDict), f2=1, f1=2, f0=3)]
    isomorphic(graph, way(graph))


def test_attribute_names_that_are_no_identifiers(way: Way) -> None:
    obj = build(models.PlainDict)
    vars(obj).update({"not an identifier": 1, "": 2, "é": 3, "\ud800": 4, "class": 5, "__class__": 6})
    isomorphic(obj, way(obj))
    assert type(way(obj)) is models.PlainDict


def test_restored_instances_are_alive(way: Way) -> None:
    """Collected when they should be, weakly referable, and changeable."""
    node = way(build(models.WeakSlot, a=[1]))
    node.a.append(node)
    watch = weakref.ref(node)
    assert gc.is_tracked(node)
    del node
    gc.collect()
    assert watch() is None
    point = way(models.DPoint(1, 2))
    point.z = 3
    assert vars(point) == {"x": 1, "y": 2, "z": 3} and point == models.DPoint(1, 2)


def test_frozen_instances_stay_frozen(way: Way) -> None:
    for cls in (models.DFrozen, models.DFrozenSlots):
        back = way(cls(1, (2,)))
        assert back == cls(1, (2,)) and hash(back) == hash(cls(1, (2,)))
        with pytest.raises(AttributeError):
            back.x = 5


def test_enum_members_are_the_members(way: Way) -> None:
    for member in (*models.Color, *models.Level, *models.Unhashable, *models.Unit, *models.TEXT_ENUM):
        assert way(member) is member
    for value in range(8):
        assert way(models.Access(value)) is models.Access(value)
    assert way(models.IntAccess(6)) is models.IntAccess.READ | models.IntAccess.WRITE


def test_int_flag_with_unknown_bits(way: Way) -> None:
    case = models.IntAccess(4 | 1024)
    back = way(case)
    assert type(back) is models.IntAccess and int(back) == 4 | 1024


def test_generic_alias_of_the_instance(way: Way) -> None:
    """`Box[int](3)` remembers its alias: the alias is typing's, the object must come back all the same."""
    back = way(models.Box[int](3))
    assert type(back) is models.Box and back.item == 3


def test_classes_with_value_hashes_as_keys(way: Way) -> None:
    table = {
        models.ByValue("a"): 1,
        models.DFrozen(1, "x"): 2,
        models.NPoint(1, 2): 3,
        models.DFrozenSlots(1): 4,
    }
    back = way(table)
    isomorphic(table, back)
    assert back[models.ByValue("a")] == 1 and back[models.DFrozen(1, "x")] == 2 and back[(1, 2)] == 3


def test_builtin_subclasses_keep_both_halves(way: Way) -> None:
    for cls, value in (
        (models.MyDict, {"a": [1]}),
        (models.MyList, [1, [2]]),
        (models.MyTuple, (1, [2])),
        (models.MySet, {1, 2}),
        (models.MyFrozenSet, {1, 2}),
        (models.MyStr, "text é"),
        (models.MyBytes, b"data"),
        (models.MyByteArray, b"data"),
        (models.MyInt, -(10**30)),
        (models.MyFloat, -0.0),
    ):
        for fields in ({}, {"note": [1]}):
            obj = with_fields(cls(value), **fields)
            if fields:
                obj.note.append(obj)
            isomorphic([obj, obj], way([obj, obj]))


def test_subclass_methods_are_not_called(way: Way) -> None:
    """A dict subclass that lies about its items is stored as what it holds."""
    obj = Lying({"a": 1})
    assert dict.__len__(obj) == 1
    back = way(obj) if way is holdall.deepcopy else holdall.loads(holdall.dumps(obj), types=[Lying])
    assert type(back) is Lying and dict.items(back) == {"a": 1}.items()


class Lying(dict[Any, Any]):
    def __init__(self, values: dict[Any, Any]) -> None:
        dict.update(self, values)

    def __len__(self) -> int:
        return 99

    def __iter__(self) -> Any:
        raise RuntimeError("called __iter__")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise RuntimeError("called __setitem__")

    def items(self) -> Any:
        raise RuntimeError("called items")

    def keys(self) -> Any:
        raise RuntimeError("called keys")


def test_many_classes_in_one_message() -> None:
    classes = [type(f"Made{i}", (), {"__slots__": ("a", "b"), "__module__": __name__}) for i in range(400)]
    objects = [build(cls, a=i, b=text(f"object {i}")) for i, cls in enumerate(classes)] * 2
    isomorphic(objects, holdall.loads(holdall.dumps(objects), types=classes))


def test_a_class_with_many_fields(way: Way) -> None:
    obj = build(models.PlainDict, **{f"field_{i}": i for i in range(1_000)})
    isomorphic([obj, obj], way([obj, obj]))
    wide = [build(models.PlainDict, **{f"field_{i}": i + n for i in range(300)}) for n in range(3)]
    isomorphic(wide, way(wide))


# --- which classes may be built --------------------------------------------------------------------------------------
# NumPy's own types need no permission.
@each(
    "kind",
    [kind for kind in [*CLASSES, *third_party()] if not kind.name.startswith("numpy ")],
    ids=lambda kind: kind.name,
)
def test_refused_unless_permitted(kind: Kind) -> None:
    data = holdall.dumps(kind.make())
    with pytest.raises(holdall.UnknownTypeError) as caught:
        holdall.loads(data)
    error = caught.value
    module, _, qualname = error.type_name.partition(".models")
    assert module == "tests.support" and qualname
    for remedy in ("register", "types=", "Record"):
        assert remedy in str(error), remedy


def test_types_takes_class_module_or_iterable() -> None:
    data = holdall.dumps([models.DPoint(1, 2), models.Outer.Inner(3)])
    classes = [models.DPoint, models.Outer.Inner]
    for types in (
        models,
        classes,
        tuple(classes),
        set(classes),
        iter(classes),
        [models, int],
        [models.DPoint, models],
    ):
        isomorphic([models.DPoint(1, 2)], holdall.loads(data, types=types)[:1])
    assert holdall.loads(holdall.dumps(models.DPoint(1, 2)), types=models.DPoint) == models.DPoint(1, 2)


def test_types_permits_no_more_than_it_names() -> None:
    data = holdall.dumps([models.DPoint(1, 2), models.DSlots(1)])
    with pytest.raises(holdall.UnknownTypeError, match="DSlots"):
        holdall.loads(data, types=[models.DPoint])
    # nothing stays permitted from the call before
    with pytest.raises(holdall.UnknownTypeError, match="DPoint"):
        holdall.loads(data)
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(holdall.dumps(models.DChild(1)), types=[models.DPoint])


def test_types_does_not_permit_what_a_module_only_imported() -> None:
    """`models` imports `dataclass` and `Any`: those names aren't its classes, and a re-export isn't a permission."""
    data = holdall.dumps(ModelsLookalike())
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(data, types=models)


class ModelsLookalike:
    __slots__ = ()


@pytest.mark.parametrize("types", [5, "tests.support.models", [5], ["DPoint"], 1.5], ids=repr)
def test_types_refuses_what_is_no_class(types: Any) -> None:
    with pytest.raises(TypeError):
        holdall.loads(holdall.dumps(1), types=types)


def test_local_classes_by_permission() -> None:
    class Local:
        __slots__ = ("a",)

    obj = build(Local, a=1)
    back = holdall.loads(holdall.dumps(obj), types=[Local])
    assert type(back) is Local and back.a == 1


# --- records ---------------------------------------------------------------------------------------------------------
def test_unknown_classes_as_records() -> None:
    point = models.DPoint(1, [2])
    record = holdall.loads(holdall.dumps([point, point]), types=holdall.Record)
    assert record[0] is record[1]
    assert type(record[0]) is holdall.Record
    assert record[0].type_name == "tests.support.models.DPoint"
    assert record[0].version == 1
    assert record[0].fields == {"x": 1, "y": [2]}
    assert record[0].payload is None


def test_records_of_builtin_subclasses_hold_the_payload() -> None:
    record = holdall.loads(holdall.dumps(with_fields(models.MyDict(a=1), note=2)), types=holdall.Record)
    assert record.fields == {"note": 2} and record.payload == {"a": 1}


@each("kind", [*CLASSES, *third_party()], ids=lambda kind: kind.name)
def test_records_are_dumped_as_they_were(kind: Kind) -> None:
    obj = kind.make()
    record = holdall.loads(holdall.dumps(obj), types=holdall.Record)
    isomorphic(obj, holdall.loads(holdall.dumps(record), types=TYPES))


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": holdall.deepcopy,
    "deepcopy with a memo": lambda obj: holdall.deepcopy(obj, {}),
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda obj: pickle.loads(pickle.dumps(obj)),
    "holdall.pickle": lambda obj: holdall.pickle.loads(holdall.pickle.dumps(obj)),
}


@pytest.mark.parametrize("again", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
def test_records_are_copied(kind: Kind, again: Callable[[Any], Any]) -> None:
    obj = kind.make()
    record = holdall.loads(holdall.dumps(obj), types=holdall.Record)
    made = again(record)
    assert made is not record or type(record) is not holdall.Record
    isomorphic(obj, holdall.loads(holdall.dumps(made), types=TYPES))


@pytest.mark.parametrize("again", list(COPIES.values())[:4], ids=list(COPIES)[:4])
def test_records_that_hold_themselves_are_copied(again: Callable[[Any], Any]) -> None:
    record = holdall.Record("shop.Order", {"id": [7]}, version=3)
    record.fields["self"] = record
    record.fields["fields"] = record.fields
    made = again(record)
    assert (made.type_name, made.version, made.kind, made.payload) == ("shop.Order", 3, "object", None)
    assert made.fields["self"] is made and made.fields["fields"] is made.fields
    assert made.fields is not record.fields and made.fields["id"] == [7]
    assert made.fields["id"] is not record.fields["id"]


def test_a_shallow_copy_of_a_record_has_a_dict_of_its_own() -> None:
    record = holdall.Record("shop.Order", {"id": [7]})
    made = copy.copy(record)
    assert made.fields == record.fields and made.fields is not record.fields
    assert made.fields["id"] is record.fields["id"]


def test_a_records_state_is_checked() -> None:
    record = holdall.Record("shop.Order", {"id": 7})
    with pytest.raises(ValueError, match="a record of an unknown kind"):
        record.__setstate__((1, "other", {}, None))  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        record.__setstate__((1, "object", [], None))  # type: ignore[attr-defined]
    assert record.fields == {"id": 7}


def test_permitted_beside_records() -> None:
    data = holdall.dumps([models.DPoint(1, 2), models.DSlots(3, 4)])
    point, record = holdall.loads(data, types=[models.DPoint, holdall.Record])
    assert point == models.DPoint(1, 2)
    assert record.type_name.endswith("DSlots") and record.fields == {"x": 3, "y": 4}


@pytest.mark.parametrize("kind", [1, 2, 3], ids=["based", "enum", "custom"])
def test_a_record_whose_content_is_itself(kind: int) -> None:
    """Nobody writes such a message; what it loads to must not be written without end."""
    name = b"some.Class"
    data = b"\xc1\xc5" + bytes([kind, 1, 0, len(name) + 1, 0x40 + len(name)]) + name + b"\xc1\x00"
    try:
        record = holdall.loads(data, types=holdall.Record)
    except holdall.DecodeError:
        return
    try:
        again = holdall.loads(holdall.dumps(record), types=holdall.Record)
    except holdall.EncodeError as error:
        assert "record" in str(error)
    else:
        assert type(again) is holdall.Record


def based_record(content: bytes, *before: bytes) -> Any:
    name = b"some.Class"
    layout = b"\xc5" + bytes([1, 1, 0, len(name) + 1, 0x40 + len(name)]) + name
    items = [*before, layout + content]
    return holdall.loads(w.message(w.sequence(*items)), types=holdall.Record)


def test_a_record_whose_content_leads_to_itself() -> None:
    """The content of a based record is written without a mark: here it is the list that holds the record."""
    outer = based_record(w.sequence())
    outer[0].__setstate__((1, "based", {}, outer))
    again = holdall.loads(holdall.dumps(outer), types=holdall.Record)
    assert type(again) is list and type(again[0]) is holdall.Record


def test_a_records_content_is_its_own() -> None:
    """A list that is the content of many would be written again for each of them."""
    assert based_record(w.sequence(w.integer(1)))[0].payload == [1]
    assert based_record(w.reference(1), w.mark(w.text("shared")))[1].payload == "shared"
    for content in (
        w.sequence(),
        w.dict_(),
        w.tuple_(w.integer(1)),
        w.sized("SET", 0),
        w.sized("BYTEARRAY", 0),
    ):
        with pytest.raises(holdall.DecodeError, match="not its own"):
            based_record(w.reference(1), w.mark(content))


def test_a_records_content_is_of_a_builtin() -> None:
    """Whatever no builtin's subclass has is refused when it is written, as it is when it is read."""
    for content in (w.NONE, w.tag("TRUE"), w.known("Date", w.integer(1)), w.mark(w.sequence())):
        with pytest.raises(holdall.DecodeError, match="expected the content of a subclass of a builtin"):
            based_record(content)
    for payload in (None, True, dt.date.min, collections.Counter()):
        record = holdall.Record("a.B", {})
        record.__setstate__((1, "based", {}, payload))
        with pytest.raises(holdall.EncodeError, match="of no builtin type that can be subclassed"):
            holdall.dumps(record)


def test_an_exceptions_content_is_its_own() -> None:
    content = w.tuple_(w.tuple_(w.integer(1)), w.dict_())
    layout = w.layout("based", "builtins.ValueError", [], content)
    assert holdall.loads(w.message(layout)).args == (1,)
    marked = w.layout("based", "builtins.ValueError", [], w.mark(content))
    assert holdall.loads(w.message(marked)).args == (1,)
    refers = w.layout("based", "builtins.ValueError", [], w.reference(1))
    with pytest.raises(holdall.DecodeError, match="not its own"):
        holdall.loads(w.message(w.sequence(w.mark(content), refers)))
