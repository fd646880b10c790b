"""What `holdall.julia.dumps` refuses and what it leaves alone; values that would be taken for something else."""

from __future__ import annotations

import datetime
import decimal
import gc
import re
from dataclasses import dataclass
from typing import Any

import pytest

import holdall
from holdall import bson, julia
from tests.support.each import each
from tests.support.julia_messages import backref, message

np = pytest.importorskip("numpy")


@julia.struct("Main.Dumps.Node", mutable=True)
@dataclass(slots=True, eq=False)
class Node:
    name: Any
    next: Any = None


def there_and_back(value: Any) -> Any:
    return julia.loads(julia.dumps({"value": value}))["value"]


# --- what would be taken for something else ---


@pytest.mark.parametrize(
    "tag", ["struct", "backref", "symbol", "jl_bottom_type", "tuple", "array", "datatype", "ref"]
)
def test_a_dict_that_looks_like_a_tagged_document(tag: str) -> None:
    for value in (
        {"tag": tag},
        {"tag": tag, "ref": 1},
        {"name": "x", "tag": tag, "data": [1], "type": None},
        {"tag": tag, **dict.fromkeys("abcdefg")},
    ):
        found = there_and_back(value)
        assert dict(found) == value and list(found) == list(value)
        assert there_and_back(found) == found
        inside = there_and_back([value, value, {"k": value}])
        assert inside[0] == value and inside[0] is inside[1] is inside[2]["k"]
    for value in ({"tag": "hello"}, {"tag": 5}, {"tags": tag}, {"tag": julia.Symbol("x")}):
        assert type(there_and_back(value)) is dict and there_and_back(value) == value


def test_the_outermost_value() -> None:
    for wrong in (5, [1], (1,), "text", None, {1: 2}, Node(1), {julia.Symbol("a"): 1, 2: 3}, np.zeros(3)):
        with pytest.raises(holdall.EncodeError, match=r"^the outermost value must be a dict of names"):
            julia.dumps(wrong)  # type: ignore[arg-type]
    with pytest.raises(holdall.EncodeError, match="`_backrefs`, which the format keeps for itself"):
        julia.dumps({"_backrefs": []})
    assert there_and_back({"_backrefs": [1]}) == {"_backrefs": [1]}
    assert julia.loads(julia.dumps({})) == {}
    # A tag in the outermost document means nothing.
    assert julia.loads(julia.dumps({"tag": "struct", "data": 1})) == {"tag": "struct", "data": 1}
    for names in (julia.Dict({"a": 1}), {julia.Symbol("a"): 1}):
        assert julia.loads(julia.dumps(names)) == {"a": 1}


# --- what is refused ---
SECRET = "the secret of the data"


class Unknown:
    def __init__(self) -> None:
        self.secret = SECRET

    def __repr__(self) -> str:
        return SECRET


class Subclass(Node):
    __slots__ = ()


def refused(name: str) -> str:
    """The remedy, with the class's own name in it."""
    return (
        f"can't store `{name}` for Julia: say which of its types the class stands for,"
        f" with `holdall.julia.struct('Main.{name}', {name})`"
    )


REFUSED = {
    "unknown class": (Unknown(), refused("Unknown")),
    "subclass of a mapped class": (Subclass(1), refused("Subclass")),
    "record of no type": (
        julia.JuliaStruct(2, [1]),
        "can't store a `JuliaStruct` whose type is a `int`: it has to be a `Type`",
    ),
    "generator": ((x for x in SECRET), refused("generator")),
    "function": (len, refused("builtin_function_or_method")),
    "class": (Unknown, refused("type")),
    "decimal": (decimal.Decimal(1), refused("Decimal")),
    "pattern": (re.compile(SECRET), refused("Pattern")),
    "int of 129 bits": (1 << 128, "can't store an int beyond 128 bits for Julia: `UInt128` has one bit more; text has any number"),
    "zone": (datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), "can't store a datetime with a zone: Julia's DateTime has none; `.astimezone(timezone.utc).replace(tzinfo=None)`"),
    "microseconds": (datetime.datetime(2024, 1, 1, microsecond=1), "can't store microseconds: Julia's DateTime has milliseconds; round it first"),
    "time with a zone": (datetime.time(1, tzinfo=datetime.timezone.utc), "can't store a time with a zone"),
    "long range": (range(1 << 70), "can't store a range beyond 64 bits for Julia"),
    "masked array": (np.ma.masked_array([1, 2], [True, False]), "can't store a masked array: fill it, or use an array of objects with `missing` in it"),
    "dtype": (np.zeros(2, "V3"), "can't store an array of dtype `void24`: use another, or say in its metadata"),
    "NaT": (np.array(["NaT"], "M8[ms]"), "can't store NaT"),
    "transpose of nothing": (julia.Transpose(SECRET), "can't store `Transpose` of what is no array: set `__julia_type__` to its type in Julia"),
    "long double": (np.zeros(2, np.longdouble), "can't store an array of dtype"),
}  # fmt: skip


@each("value, text", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(value: Any, text: str) -> None:
    for place in ({"a": value}, {"a": [1, {"b": (value,)}]}, {"a": {1: value}}, {"a": julia.Ref([value])}):
        with pytest.raises(holdall.EncodeError) as caught:
            julia.dumps(place)
        assert str(caught.value).startswith(text), str(caught.value)
        assert SECRET not in str(caught.value)


def test_fields_that_are_not_set() -> None:
    half = Node.__new__(Node)
    half.name = SECRET
    with pytest.raises(holdall.EncodeError, match="field `next` is not set") as caught:
        julia.dumps({"a": half})
    assert SECRET not in str(caught.value)


def test_classes_of_several_types() -> None:
    @dataclass
    class Twice:
        a: Any

    julia.struct("Main.Dumps.One", Twice)
    julia.struct("Main.Dumps.Two", Twice)
    for path in ("Main.Dumps.One", "Main.Dumps.Two"):
        value = Twice(1)
        value.__julia_type__ = julia.Type.parse(path)  # type: ignore[attr-defined]
        found = there_and_back(value)
        assert type(found) is Twice
    with pytest.raises(
        holdall.EncodeError,
        match="`test_classes_of_several_types.<locals>.Twice` stands for several of Julia's types",
    ):
        julia.dumps({"a": Twice(1)})


def test_parameters_are_kept() -> None:
    @julia.struct("Main.Dumps.Wrapper")
    @dataclass
    class Wrapper:
        x: Any

    stored = julia.dumps({"a": julia.JuliaStruct("Main.Dumps.Wrapper{Int64}", [1])})
    found = julia.loads(stored)["a"]
    assert type(found) is Wrapper and str(found.__julia_type__) == "Main.Dumps.Wrapper{Int64}"  # type: ignore[attr-defined]
    assert julia.dumps({"a": found}) == stored


def test_enc_hook() -> None:
    data = julia.dumps({"a": [decimal.Decimal("1.5"), Unknown()]}, enc_hook=str)
    assert julia.loads(data) == {"a": ["1.5", SECRET]}
    shared = decimal.Decimal(1)
    data = julia.dumps({"a": [shared, shared]}, enc_hook=lambda obj: [str(obj)])
    assert julia.loads(data) == {"a": [["1"], ["1"]]}

    def fail(_: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        julia.dumps({"a": Unknown()}, enc_hook=fail)
    with pytest.raises(holdall.EncodeError):
        julia.dumps({"a": Unknown()}, enc_hook=lambda obj: obj)
    with pytest.raises(TypeError):
        julia.dumps({"a": 1}, enc_hook=5)  # type: ignore[arg-type]


def test_enc_hook_gives_what_stands_elsewhere_too() -> None:
    """A list that stands for two shared objects, and for itself: each of the three has a place in the table at the end."""
    one, other, items = Unknown(), Unknown(), [1, "a"]
    tree = {"one": [one, one], "other": [other, other], "items": [items, items]}
    found = julia.loads(julia.dumps(tree, enc_hook=lambda obj: items))
    assert found == {name: [[1, "a"], [1, "a"]] for name in tree}
    assert all(first is second for first, second in found.values())

    holder: list[Any] = [one]
    found = julia.loads(
        julia.dumps({"one": one, "again": one, "holder": holder}, enc_hook=lambda obj: holder)
    )
    assert (
        found["one"] is found["again"]
        and found["one"][0] is found["one"]
        and found["holder"][0] is found["one"]
    )
    with pytest.raises(holdall.EncodeError, match="1000 times over"):
        julia.dumps({"a": [one, one], "b": [other, other]}, enc_hook=lambda obj: other if obj is one else one)


def test_nothing_of_the_callers_changes() -> None:
    table, items = {"b": [1], "tag": "struct"}, [np.arange(3), {2, 1}]
    value = {"a": table, "c": items, "d": (table, {1: items})}
    before = [list(value), list(table), items[0].copy()]
    julia.dumps(value)
    assert [list(value), list(table)] == before[:2] and np.array_equal(items[0], before[2])
    assert value["a"] is table and table["b"] == [1]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    def fail(_: Any) -> Any:
        assert not gc.isenabled()
        raise ZeroDivisionError

    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        there_and_back([Node(1), {1: 2}])
        for wrong in (
            lambda: julia.dumps({"a": iter(())}),
            lambda: julia.loads(b"\5\0\0\0\1"),
            lambda: julia.loads(message(backref(7))),
        ):
            with pytest.raises(holdall.HoldallError):
                wrong()
            assert gc.isenabled() is enabled
        with pytest.raises(ZeroDivisionError):
            julia.dumps({"a": iter(())}, enc_hook=fail)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_classes_are_not_run() -> None:
    class Guarded:
        __slots__ = ("a", "b")
        a: Any
        b: Any

        def __init__(self) -> None:
            raise AssertionError("ran")

        def __setattr__(self, name: str, value: Any) -> None:
            raise AssertionError("ran")

    julia.struct("Main.Dumps.Guarded", Guarded)
    made = object.__new__(Guarded)
    object.__setattr__(made, "a", 1)
    object.__setattr__(made, "b", [made])
    found = there_and_back(made)
    assert type(found) is Guarded and found.a == 1 and found.b[0] is found


@pytest.mark.parametrize("order", [1, -1])
def test_equal_types_are_one(order: int) -> None:
    """A file may say of one only that its structs are mutable: it stands apart then, wherever that one comes."""
    plain, mutable = julia.Type(("Main", "Late")), julia.Type(("Main", "Late"), mutable=True)
    inner = [julia.Type(("Main", "Held"), (of,)) for of in (plain, mutable)]
    for types in ([plain, mutable, plain], [plain, plain, mutable], [*inner, plain]):
        data = julia.dumps({"values": [julia.JuliaStruct(of, [1]) for of in types[::order]]})
        assert "_backrefs" in bson.loads(data)
        assert julia.dumps(julia.loads(data)) == data


def test_an_array_that_holds_itself_where_a_struct_belongs() -> None:
    array = np.empty(2, np.dtype("O", metadata={"julia": julia.Type.parse("Dates.Time")}))
    array[0], array[1] = array, []
    with pytest.raises(holdall.EncodeError, match="can't store as Dates.Time what is of another type"):
        julia.dumps({"a": array})
