"""Classes met in message after message: how their instances are made is known from earlier messages, and nothing else is.

Who permits a class, what is registered and what a class looks like counts as it is when a message is loaded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import gc
import itertools
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import holdall
from holdall import Decoder, dumps, loads, register
from tests.support.level import resident_stays_level, stays_level
from tests.support.logs import read

_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    """A stored name that no other test uses: registered classes stay."""
    return f"known.Class{next(_numbers)}"


def retire(cls: type[Any]) -> None:
    """Take a class's stored name from it."""
    register(cls, name=f"known.retired{next(_numbers)}")


def class_of(stored: str, *fields: Any, slots: bool = True, bases: tuple[type[Any], ...] = ()) -> Any:
    """A class of its own of that stored name."""
    module, _, last = stored.rpartition(".")
    named = [field if isinstance(field, tuple) else (field, Any) for field in fields or ("a", "b")]
    made = dataclasses.make_dataclass(last, named, namespace={"__module__": module}, bases=bases, slots=slots)
    made.__module__ = module
    return made


def refused(data: bytes, **options: Any) -> None:
    with pytest.raises(holdall.UnknownTypeError, match="is not permitted here"):
        loads(data, **options)


# --- permission ---


def test_what_one_decoder_permits_another_does_not(name: str) -> None:
    cls = class_of(name)
    data = dumps([cls(1, 2), cls(3, 4)])
    other = class_of(f"{name}Other")
    permitting, refusing, recording = Decoder(types=cls), Decoder(), Decoder(types=holdall.Record)
    with pytest.raises(holdall.UnknownTypeError):
        refusing.decode(data)
    for _ in range(3):
        assert permitting.decode(data) == [cls(1, 2), cls(3, 4)]
        with pytest.raises(holdall.UnknownTypeError, match=f"`{name}` is not permitted here"):
            refusing.decode(data)
        refused(data)
        refused(data, types=other)
        refused(data, types=types.ModuleType("empty"))
        assert [type(made) for made in recording.decode(data)] == [holdall.Record] * 2
        assert loads(data, type=list[cls]) == [cls(1, 2), cls(3, 4)]
        assert loads(data, type=list[object], types=cls) == [cls(1, 2), cls(3, 4)]
        refused(data, type=list[object])


def test_two_classes_of_one_name(name: str) -> None:
    one, other = class_of(name), class_of(name)
    data = dumps(one(1, 2))
    for _ in range(3):
        assert type(loads(data, types=one)) is one
        assert type(loads(data, types=other)) is other
        assert type(loads(data, types=[other, one])) is other
        assert type(loads(data, types=[one, other])) is one
        refused(data)


@pytest.mark.parametrize("slots", [True, False])
def test_two_classes_of_one_name_with_other_places(name: str, slots: bool) -> None:
    unset = ("c", Any, dataclasses.field(init=False))
    one, other = class_of(name, "a", "b", slots=slots), class_of(name, unset, "b", "a", slots=not slots)
    data = dumps(one(1, 2))
    for _ in range(3):
        assert loads(data, types=one) == one(1, 2)
        made = loads(data, types=other)
        assert (made.a, made.b, hasattr(made, "c")) == (1, 2, False)


def test_a_module_counts_as_it_is(name: str) -> None:
    module = types.ModuleType(name.rpartition(".")[0])
    one, other = class_of(name), class_of(name)
    data, decoder = dumps(one(1, 2)), Decoder(types=module)
    last = name.rpartition(".")[2]
    for _ in range(2):
        for cls in (one, other):
            setattr(module, last, cls)
            assert type(decoder.decode(data)) is cls
        delattr(module, last)
        with pytest.raises(holdall.UnknownTypeError):
            decoder.decode(data)


@pytest.mark.parametrize("attribute", ["__qualname__", "__module__"])
def test_a_class_counts_by_the_name_it_has(name: str, attribute: str) -> None:
    cls = class_of(name)
    data, decoder = dumps(cls(1, 2)), Decoder(types=cls)
    usual = getattr(cls, attribute)
    for _ in range(2):
        assert decoder.decode(data) == cls(1, 2)
        setattr(cls, attribute, "another")
        with pytest.raises(holdall.UnknownTypeError):
            decoder.decode(data)
        setattr(cls, attribute, usual)


class ByProperty(type):
    said = "first"

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        return cls.said


class ByHook(type):
    said = "first"

    def __getattribute__(cls, name: str) -> Any:
        return type.__getattribute__(cls, "said" if name == "__qualname__" else name)


@pytest.mark.parametrize("meta", [ByProperty, ByHook])
def test_a_metaclass_has_its_say_about_names(meta: Any) -> None:
    cls = meta("Class", (), {})
    data, decoder = dumps(cls()), Decoder(types=cls)
    for _ in range(2):
        assert type(decoder.decode(data)) is cls
        meta.said = "second"
        with pytest.raises(holdall.UnknownTypeError, match="first"):
            decoder.decode(data)
        meta.said = "first"


def test_names_beyond_ascii() -> None:
    one, other = class_of("known.Größe", "länge", "maß"), class_of("known.Größen", "länge", "maß")
    for _ in range(3):
        assert loads(dumps(one(1, 2)), types=[other, one]) == one(1, 2)
        refused(dumps(one(1, 2)), types=other)


def test_threads_with_other_permissions(name: str) -> None:
    one, other = class_of(name), class_of(name)
    data = dumps([one(1, [2])])
    wrong: list[Any] = []

    def work(cls: type[Any] | None) -> None:
        decoder = Decoder(types=[] if cls is None else cls)
        for _ in range(2_000):
            try:
                found = type(decoder.decode(data)[0])
            except holdall.UnknownTypeError:
                found = None
            if found is not cls:
                wrong.append((cls, found))

    threads = [threading.Thread(target=work, args=(cls,)) for cls in (one, other, None, one)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_permission_in_logs_and_documents(name: str, tmp_path: Any) -> None:
    cls = class_of(name)
    with holdall.Writer(tmp_path / "log") as writer:
        for number in range(5):
            writer.write(cls(number, 0))
    holdall.dump({"in": [cls(1, 2)]}, tmp_path / "file")
    for _ in range(2):
        assert read(tmp_path / "log", types=cls) == [cls(number, 0) for number in range(5)]
        with pytest.raises(holdall.UnknownTypeError):
            read(tmp_path / "log")
        with holdall.open(tmp_path / "file", types=cls) as document:
            assert document["in"][0].load() == cls(1, 2)
        with holdall.open(tmp_path / "file") as document, pytest.raises(holdall.UnknownTypeError):
            document["in"][0].load()


# --- what is registered ---


def test_registering_between_messages(name: str) -> None:
    one, other = class_of(name), class_of(name, "b", "a", slots=False)
    register(one, name=name)
    data, decoder = dumps(one(1, 2)), Decoder()
    for _ in range(3):
        for cls, gone in ((one, other), (other, one)):
            retire(cls)
            retire(gone)
            refused(data)
            register(cls, name=name)
            for _ in range(2):
                made = decoder.decode(data)
                assert (type(made), made.a, made.b) == (cls, 1, 2)


def test_what_is_registered_wins_over_what_is_permitted(name: str) -> None:
    one, other = class_of(name), class_of(name)
    data, decoder = dumps(one(1, 2)), Decoder(types=one)
    assert type(decoder.decode(data)) is one
    register(other, name=name)
    assert type(decoder.decode(data)) is other
    retire(other)
    assert type(decoder.decode(data)) is one


def test_aliases_come_and_go(name: str) -> None:
    cls = class_of(f"{name}Other")
    register(cls, name=name)
    data, decoder = dumps(cls(1, 2)), Decoder()
    for _ in range(2):
        register(cls, name=f"{name}New", aliases=[name])
        assert decoder.decode(data) == cls(1, 2)
        register(cls, name=f"{name}New")
        with pytest.raises(holdall.UnknownTypeError):
            decoder.decode(data)
        register(cls, name=name)
        assert decoder.decode(data) == cls(1, 2)


def test_renames_change(name: str) -> None:
    cls = class_of(name, "a", "b")
    register(cls, name=name)
    data, decoder = dumps(cls(1, 2)), Decoder()
    for _ in range(2):
        register(cls, name=name)
        assert decoder.decode(data) == cls(1, 2)
        # What its own version stored has the names of today.
        register(cls, name=name, renames={"a": "b", "b": "a"})
        assert decoder.decode(data) == cls(1, 2)
        register(cls, name=name, version=2, renames={"a": "b", "b": "a"})
        assert decoder.decode(data) == cls(2, 1)


def test_versions_and_upgrades_change(name: str) -> None:
    cls = class_of(name, "a", ("c", Any, dataclasses.field(default=7)))
    register(cls, name=name)
    wrote = class_of(name, "a", "b")
    retire(cls)
    register(wrote, name=name)
    data = {}
    for version in (1, 2, 3):
        register(wrote, name=name, version=version)
        data[version] = dumps(wrote(version, "b"))
    retire(wrote)
    decoder = Decoder()

    def upgrade(fields: dict[str, Any], version: int) -> dict[str, Any]:
        return {"a": fields["a"], "c": (version, fields["b"])}

    for _ in range(2):
        register(cls, name=name, version=4)
        assert [decoder.decode(data[version]).a for version in (1, 2, 3)] == [1, 2, 3]
        assert decoder.decode(data[1]).c == 7
        register(cls, name=name, version=4, upgrade=upgrade)
        assert [decoder.decode(data[version]).c for version in (1, 2, 3)] == [(1, "b"), (2, "b"), (3, "b")]
        register(cls, name=name, version=2)
        assert [decoder.decode(data[version]).a for version in (1, 2, 3)] == [1, 2, 3]
        register(cls, name=name, version=2, unknown="refuse")
        for version in (1, 2, 3):
            with pytest.raises(holdall.DecodeError, match="was stored with a field `b` that it has not"):
                decoder.decode(data[version])


def test_encode_and_decode_change(name: str) -> None:
    cls = class_of(name)
    register(cls, name=name)
    fields = dumps(cls(1, 2))

    def by(sign: int) -> None:
        register(
            cls,
            name=name,
            encode=lambda made: [made.a, made.b],
            decode=lambda got: cls(sign * got[0], got[1]),
        )

    by(1)
    custom = dumps(cls(1, 2))
    for _ in range(2):
        by(1)
        assert loads(custom) == cls(1, 2)
        by(-1)
        assert loads(custom) == cls(-1, 2)
        with pytest.raises(holdall.DecodeError, match="was stored by its fields, before it was registered"):
            loads(fields)
        register(cls, name=name)
        assert loads(fields) == cls(1, 2)
        with pytest.raises(holdall.DecodeError, match="which it is not here"):
            loads(custom)


def test_kinds_of_one_name(name: str) -> None:
    module, _, last = name.rpartition(".")
    color = enum.Enum(last, {"a": 1, "b": 2}, module=module)  # type: ignore[misc]
    cls, listed = class_of(name, "a"), type(last, (list,), {"__module__": module})
    empty = type(last, (), {"__module__": module})
    makers: list[tuple[Any, Any]] = [(color, color.a), (cls, cls(5)), (listed, listed([1])), (empty, empty())]  # type: ignore[attr-defined]
    messages = [(kind, dumps(made)) for kind, made in makers]
    for _ in range(2):
        for kind, data in messages:
            assert type(loads(data, types=kind)) is kind
        assert loads(messages[0][1], types=color) is color.a  # type: ignore[attr-defined]
        with pytest.raises(holdall.DecodeError, match="stored as an enumeration, which it is not here"):
            loads(messages[0][1], types=cls)


def test_an_upgrade_that_registers_and_loads(name: str) -> None:
    cls = class_of(name)
    register(cls, name=name)
    data = dumps([cls(1, 2), cls(3, 4)])
    calls = []

    def upgrade(fields: dict[str, Any], version: int) -> dict[str, Any]:
        calls.append(version)
        register(cls, name=name)
        assert loads(data) == [cls(1, 2), cls(3, 4)]
        return fields

    for rounds in (1, 2):
        register(cls, name=name, version=2, upgrade=upgrade)
        assert loads(data) == [cls(1, 2), cls(3, 4)]
        assert calls == [1, 1] * rounds


def test_what_was_registered_before_goes(name: str) -> None:
    cls = class_of(name)
    register(cls, name=name)
    data, done = dumps(cls(1, 2)), []

    class Upgrade:
        def __call__(self, fields: dict[str, Any], version: int) -> dict[str, Any]:
            return fields

        def __del__(self) -> None:
            done.append(loads(data))  # what is dropped may load again

    for rounds in (1, 2):
        register(cls, name=name, version=2, upgrade=Upgrade())
        assert loads(data) == cls(1, 2)
        register(cls, name=name)
        assert done == [cls(1, 2)] * rounds


# --- classes that change, and go ---


def test_a_descriptor_is_not_run(name: str) -> None:
    cls = class_of(name, slots=False)
    data, decoder, ran = dumps(cls(1, 2)), Decoder(types=cls), []
    for _ in range(2):
        assert vars(decoder.decode(data)) == {"a": 1, "b": 2}
        cls.a = property(lambda made: 5, lambda made, value: ran.append(value))
        made = decoder.decode(data)
        assert (vars(made), made.a) == ({"a": 1, "b": 2}, 5)
        del cls.a
    assert not ran


def test_a_descriptor_of_a_base_is_not_run(name: str) -> None:
    base = type("Base", (), {})
    cls = class_of(name, slots=False, bases=(base,))
    data, decoder, ran = dumps(cls(1, 2)), Decoder(types=cls), []
    assert vars(decoder.decode(data)) == {"a": 1, "b": 2}
    base.a = property(None, lambda made, value: ran.append(value))  # type: ignore[attr-defined]
    assert vars(decoder.decode(data)) == {"a": 1, "b": 2}
    assert not ran


def test_fields_with_defaults_come(name: str) -> None:
    cls, grown = class_of(name, slots=False), class_of(name, "a", "b", ("c", Any, 3), slots=False)
    data, decoder = dumps(cls(1, 2)), Decoder(types=cls)
    assert vars(decoder.decode(data)) == {"a": 1, "b": 2}
    cls.__dataclass_fields__ = grown.__dataclass_fields__
    assert vars(decoder.decode(data)) == {"a": 1, "b": 2, "c": 3}


def pair_of(name: str) -> type[Any]:
    pair: type[Any] = NamedTuple(name.rpartition(".")[2], [("a", int), ("b", int)])  # type: ignore[misc]
    pair.__module__ = name.rpartition(".")[0]
    return pair


@pytest.mark.parametrize("kind", ["slots", "dict", "named tuple", "list", "enum"])
def test_a_class_goes_after_loads(name: str, kind: str) -> None:
    module, _, last = name.rpartition(".")
    if kind == "named tuple":
        cls, args = pair_of(name), (1, 2)
    elif kind == "list":
        cls, args = type(last, (list,), {"__module__": module}), ((1, 2),)  # type: ignore[assignment]
    elif kind == "enum":
        cls, args = enum.Enum(last, {"a": 1}, module=module), (1,)  # type: ignore[assignment]
    else:
        cls, args = class_of(name, slots=kind == "slots"), (1, 2)
    data = dumps(cls(*args))
    for _ in range(3):
        assert type(loads(data, types=cls)) is cls
    gone = weakref.ref(cls)
    del cls
    gc.collect()
    assert gone() is None
    refused(data)


def test_classes_that_come_and_go(name: str) -> None:
    """The next class is often at the address of the last."""
    for number in range(300):
        order = ("a", "b", "c") if number % 2 else ("c", "a", "b")
        cls = class_of(name, *order, slots=number % 3 != 0)
        made = loads(dumps(cls(*order)), types=cls)
        assert type(made) is cls and [made.a, made.b, made.c] == ["a", "b", "c"]
        del cls, made
        if number % 60 == 0:
            gc.collect()


@pytest.mark.usefixtures("only_new_objects")
def test_nothing_remains(name: str) -> None:
    cls = class_of(name)
    data, decoder = dumps([cls(1, [cls(2, 3)])]), Decoder(types=cls)

    def work() -> None:
        decoder.decode(data)
        with contextlib.suppress(holdall.UnknownTypeError):
            loads(data)
        loads(data, types=holdall.Record)

    stays_level(work, 3_000)


@pytest.mark.usefixtures("only_new_objects")
def test_registering_leaves_nothing(name: str) -> None:
    cls = class_of(name)
    register(cls, name=name)
    data = dumps(cls(1, 2))

    def work() -> None:
        register(cls, name=name, version=2, upgrade=lambda fields, version: fields)
        assert loads(data) == cls(1, 2)

    stays_level(work, 3_000)


# --- names that are references ---


def test_names_that_stand_elsewhere(name: str) -> None:
    cls, other = class_of(name, "length", "width"), class_of(f"{name}Other", "width", "length")
    permitted = Decoder(types=[cls, other])
    shared = "".join(["len", "gth"])
    modes: list[dict[str, Any]] = [{}, {"intern": True}, {"canonical": True}]
    graphs: list[Any] = [
        [cls(1, 2), other(3, 4)],
        [other(1, 2), cls(3, 4)],
        [{"length": 1, "width": 2}, cls(3, 4)],
        [{"width": 1, "length": 2}, cls(3, 4), {"length": 5, "width": 6}],
        [{"other": 0}, {"length": 1, "width": 2}, cls(3, 4)],
        [shared, shared, cls(1, 2), shared],
        [cls(1, 2), {"length": shared}, shared, "width"],
    ]
    for _ in range(3):
        for graph in graphs:
            for mode in modes:
                assert permitted.decode(dumps(graph, **mode)) == graph


# --- hostile messages ---


@pytest.mark.resident
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="3.12 keeps each name of an attribute for good (docs/versions.md)"
)
def test_many_layouts_are_not_kept(name: str) -> None:
    """100,000 messages, each with a layout of its own: of records, and of one class's versions."""
    cls = class_of(name)
    register(cls, name=name, missing="leave")

    def messages(start: int, count: int) -> Iterator[bytes]:
        fields = dict.fromkeys((f"field{number}" for number in range(20)), 0)
        for number in range(start, start + count):
            fields.pop(f"own{number - 1}", None)
            fields[f"own{number}"] = 0
            yield dumps(holdall.Record(f"known.many{number}", dict(fields)))
            yield dumps(holdall.Record(name, dict(fields), version=number + 2))

    def load(start: int, count: int) -> None:
        for data in messages(start, count):
            loads(data, types=holdall.Record)

    start = itertools.count(0, 20_000)
    load(next(start), 5_000)
    resident_stays_level(lambda: load(next(start), 20_000), 1 << 20)
    stays_level(lambda: load(next(start), 20), 100)


@pytest.mark.parametrize("limit", ["objects", "bytes"])
def test_a_limit_is_the_same_each_time(name: str, limit: str) -> None:
    """What is known already is charged as if it were not."""

    def least(data: bytes, cls: type[Any]) -> int:
        low, high = 0, 1 << 16
        while low < high:
            middle = (low + high) // 2
            try:
                loads(data, types=cls, limits=holdall.Limits(**{limit: middle}))
                high = middle
            except holdall.LimitError:
                low = middle + 1
        return low

    cls = class_of(name, f"a{name[-3:]}", "b")
    data = dumps([cls(1, {f"key {name}": 2}), cls(3, {f"key {name}": 4})])
    bound = least(data, cls)
    for _ in range(2):
        assert least(data, cls) == bound
        for enough in (True, False):
            fresh, key = (
                class_of(f"{name}{next(_numbers)}", f"a{next(_numbers)}", "b"),
                f"key {next(_numbers)}",
            )
            fresh_data = dumps([fresh(1, {key: 2}), fresh(3, {key: 4})])
            limits = holdall.Limits(**{limit: bound if enough else bound - 1})
            with contextlib.nullcontext() if enough else pytest.raises(holdall.LimitError):
                loads(fresh_data, types=fresh, limits=limits)
