"""`register`: classes that are permitted, moved, renamed, changed, or stored in a way of their own."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import threading
from typing import NamedTuple

import pytest

import holdall
from holdall import dumps, loads, register

_numbers = itertools.count()


@pytest.fixture
def name():
    """A stored name that no other test uses."""
    return f"shop.Item{next(_numbers)}"


def retire(cls):
    """Take a class's stored name from it, as if the program that wrote the data were another one."""
    register(cls, name=f"retired.{next(_numbers)}")


def item_class(*fields, base=object):
    return dataclasses.make_dataclass("Item", fields, bases=(base,), namespace={"__module__": __name__})


def written_by(cls, name, *args, **options):
    """What another program stored: an instance of its own class of that name."""
    register(cls, name=name, **options)
    data = dumps(cls(*args))
    retire(cls)
    return data


# --- permission ---


@dataclasses.dataclass
class Data:
    title: str
    price: float


class Plain:
    def __init__(self, title, price):
        self.title, self.price = title, price


class Slotted:
    __slots__ = ("price", "title")

    def __init__(self, title, price):
        self.title, self.price = title, price


class Pair(NamedTuple):
    title: str
    price: float


@pytest.mark.parametrize("base", [Data, Plain, Slotted, Pair], ids=lambda cls: cls.__name__)
def test_a_class_loads_once_it_is_registered(base):
    cls = type(
        "Permitted", (base,), {"__slots__": (), "__module__": __name__, "__qualname__": f"P{next(_numbers)}"}
    )
    data = dumps(cls("tea", 4.5))
    with pytest.raises(holdall.UnknownTypeError) as caught:
        loads(data)
    assert caught.value.type_name == f"{__name__}.{cls.__qualname__}"
    assert register(cls) is cls
    loaded = loads(data)
    assert type(loaded) is cls
    assert (loaded.title, loaded.price) == ("tea", 4.5)


def test_the_error_names_the_class_and_the_remedies():
    with pytest.raises(holdall.UnknownTypeError) as caught:
        loads(dumps(item_class("title")("tea")))
    for text in (f"{__name__}.Item", "register", "types=", "holdall.Record"):
        assert text in str(caught.value)


def test_an_enum():
    class Colour(enum.Enum):
        RED = "r"

    register(Colour)
    assert loads(dumps([Colour.RED]))[0] is Colour.RED


def test_a_decorator_without_arguments():
    @register
    class Inner:
        pass

    assert isinstance(Inner, type)
    assert type(loads(dumps(Inner()))) is Inner


def test_a_decorator_with_arguments(name):
    @register(name=name)
    @dataclasses.dataclass
    class Inner:
        title: str

    assert loads(dumps(Inner("tea"))) == Inner("tea")
    assert name.encode() in dumps(Inner("tea"))


def test_a_subclass_is_a_class_of_its_own(name):
    cls = register(item_class("title"), name=name)
    sub = type("Sub", (cls,), {"__module__": __name__})
    with pytest.raises(holdall.UnknownTypeError):
        loads(dumps(sub("tea")))


def test_decoders_made_before_see_what_is_registered_later(name):
    decoder = holdall.Decoder()
    cls = item_class("title")
    data = dumps(cls("tea"))
    with pytest.raises(holdall.UnknownTypeError):
        decoder.decode(data)
    register(cls, aliases=[name])
    try:
        assert decoder.decode(data) == cls("tea")
    finally:
        retire(cls)


# --- names ---


def test_the_stored_name(name):
    cls = item_class("title")
    assert f"{__name__}.Item".encode() in dumps(cls("tea"))
    register(cls, name=name)
    data = dumps(cls("tea"))
    assert name.encode() in data
    assert __name__.encode() not in data
    assert loads(data) == cls("tea")


def test_a_class_that_moved(name):
    """The old module is gone; its data goes on loading under the old name."""
    data = dumps(item_class("title")("tea"))
    cls = register(item_class("title"), name=name, aliases=[f"{__name__}.Item", "an.older.Item"])
    try:
        assert loads(data) == cls("tea")
        assert name.encode() in dumps(loads(data))
    finally:
        retire(cls)


def test_registering_anew_replaces_what_was_said(name):
    cls = item_class("title")
    register(cls, name=f"{name}.first", aliases=[f"{name}.alias"])
    first = dumps(cls("tea"))
    register(cls, name=f"{name}.second")
    assert f"{name}.second".encode() in dumps(cls("tea"))
    with pytest.raises(holdall.UnknownTypeError):
        loads(first)
    other = item_class("title")
    register(other, name=f"{name}.first", aliases=[f"{name}.alias"])
    assert loads(first) == other("tea")


def test_registering_the_same_twice_changes_nothing(name):
    cls = item_class("title")
    for _ in range(2):
        register(cls, name=name, version=2, aliases=[f"{name}.alias"])
    assert loads(dumps(cls("tea"))) == cls("tea")


@pytest.mark.parametrize("taken", ["name", "alias"])
@pytest.mark.parametrize("wanted", ["name", "alias"])
def test_two_classes_cannot_have_one_name(name, taken, wanted):
    def options(kind):
        return {"name": name} if kind == "name" else {"name": f"{name}.{next(_numbers)}", "aliases": [name]}

    first, second = item_class("title"), item_class("title", "price")
    register(first, **options(taken))
    with pytest.raises(holdall.HoldallError, match=name):
        register(second, **options(wanted))
    # The one who came first keeps it, and the other is as unknown as before.
    assert loads(dumps(first("tea"))) == first("tea")
    with pytest.raises(holdall.UnknownTypeError):
        loads(dumps(second("tea", 4.5)))


# --- changed classes ---


def test_renamed_fields(name):
    data = written_by(item_class("label", "cost"), name, "tea", 4.5)
    cls = register(item_class("title", "price"), name=name, renames={"label": "title", "cost": "price"})
    assert loads(data) == cls("tea", 4.5)
    assert loads(dumps(cls("milk", 1.0))) == cls("milk", 1.0)


def test_fields_in_another_order(name):
    data = written_by(item_class("title", "price"), name, "tea", 4.5)
    cls = register(item_class("price", "title"), name=name)
    assert loads(data) == cls(4.5, "tea")


def test_upgrade(name):
    calls = []

    def upgrade(fields, version):
        calls.append((dict(fields), version))
        fields["cents"] = round(fields.pop("price") * 100)
        return fields

    data = written_by(item_class("title", "price"), name, "tea", 4.5, version=3)
    cls = register(item_class("title", "cents"), name=name, version=4, upgrade=upgrade)
    assert loads(data) == cls("tea", 450)
    assert calls == [({"title": "tea", "price": 4.5}, 3)]
    assert loads(dumps(cls("milk", 100))) == cls("milk", 100)
    assert len(calls) == 1


def test_upgrade_sees_fields_that_are_renamed_already(name):
    def upgrade(fields, version):
        assert set(fields) == {"title"}
        return {"title": f"{fields['title']} of version {version}", "price": 0.0}

    data = written_by(item_class("label"), name, "tea")
    cls = register(
        item_class("title", "price"), name=name, version=2, renames={"label": "title"}, upgrade=upgrade
    )
    assert loads(data) == cls("tea of version 1", 0.0)


def test_upgrade_may_return_another_mapping_and_runs_once_for_each_object(name):
    old = item_class("title")
    register(old, name=name)
    shared = old("tea")
    data = dumps([shared, old("milk"), shared])
    retire(old)
    cls = register(
        item_class("text"), name=name, version=2, upgrade=lambda fields, version: {"text": fields["title"]}
    )
    first, second, again = loads(data)
    assert (first, second) == (cls("tea"), cls("milk"))
    assert again is first


def test_data_from_a_newer_program(name):
    """Going back works as well: upgrade is told the version and decides."""

    def upgrade(fields, version):
        assert version == 9
        del fields["price"]
        return fields

    data = written_by(item_class("title", "price"), name, "tea", 4.5, version=9)
    cls = register(item_class("title"), name=name, version=2, upgrade=upgrade)
    assert loads(data) == cls("tea")


def test_an_upgrade_inside_a_cycle(name):
    old = item_class("me")
    register(old, name=name)
    value = old(None)
    value.me = [value]
    data = dumps(value)
    retire(old)
    cls = register(
        item_class("me", "extra"),
        name=name,
        version=2,
        upgrade=lambda fields, version: {**fields, "extra": 1},
    )
    loaded = loads(data)
    assert type(loaded) is cls
    assert loaded.me[0] is loaded
    assert loaded.extra == 1


@pytest.mark.parametrize("answer", [None, 1, [("title", "tea")]], ids=repr)
def test_an_upgrade_that_returns_no_mapping(name, answer):
    data = written_by(item_class("title"), name, "tea")
    register(item_class("title"), name=name, version=2, upgrade=lambda fields, version: answer)
    with pytest.raises((TypeError, holdall.DecodeError)):
        loads(data)


# --- a way of its own ---


class Guarded:
    """Holds what can't be stored, and has to run `__init__`."""

    def __init__(self, value):
        self.lock, self.value = threading.Lock(), value

    def __reduce__(self):
        return Guarded, (self.value,)


def test_encode_and_decode():
    with pytest.raises(holdall.EncodeError, match="register"):
        dumps(Guarded(1))
    register(Guarded, encode=lambda guarded: guarded.value, decode=Guarded)
    shared = Guarded({"deep": [Guarded(2)]})
    first, again, other = loads(dumps([shared, shared, Guarded(3)]))
    assert first is again
    assert first.value["deep"][0].value == 2
    assert other.value == 3
    assert not first.lock.locked()


def test_encode_and_decode_keep_what_values_share(name):
    cls = register(item_class("value"), name=name, encode=vars, decode=lambda state: cls(state["value"]))
    shared = ["a list"]
    first, second = loads(dumps([cls(shared), cls(shared)]))
    assert first.value is second.value


def test_a_custom_class_inside_its_own_value_is_refused(name):
    cls = register(
        item_class("value"), name=name, encode=lambda item: [item.value], decode=lambda state: cls(*state)
    )
    value = cls(None)
    value.value = value
    with pytest.raises(holdall.HoldallError):
        loads(dumps(value))


@pytest.mark.parametrize("option", ["encode", "decode", "upgrade"])
def test_what_a_hook_raises_comes_through(name, option):
    def fail(*args):
        raise ZeroDivisionError(option)

    data = written_by(item_class("title"), name, "tea")
    cls = item_class("title")
    if option == "upgrade":
        register(cls, name=name, version=2, upgrade=fail)
    else:
        register(cls, name=name, **{"encode": vars, "decode": vars, option: fail})
    with pytest.raises(ZeroDivisionError, match=option):
        loads(data if option == "upgrade" else dumps(cls("tea")))


# --- arguments ---


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": 1}, "name: expected str, got int"),
        ({"aliases": "one"}, "aliases: expected an iterable of str, got str"),
        ({"aliases": [b"one"]}, "aliases: expected str, got bytes"),
        ({"version": "2"}, "version: expected int, got str"),
        ({"version": True}, "version: expected int, got bool"),
        ({"renames": {"a": 1}}, "renames: expected str, got int"),
        ({"renames": {1: "a"}}, "renames: expected str, got int"),
        ({"upgrade": {}}, "upgrade: expected a callable, got dict"),
        ({"encode": vars, "decode": 1}, "decode: expected a callable, got int"),
        ({"encode": vars}, "encode and decode come together"),
        ({"decode": vars}, "encode and decode come together"),
    ],
    ids=str,
)
def test_arguments_of_the_wrong_kind(options, message):
    cls = item_class("title")
    for act in (lambda: register(cls, **options), lambda: register(**options)(cls)):
        with pytest.raises(TypeError) as caught:
            act()
        assert str(caught.value) == f"register: {message}"


def test_what_is_no_class():
    with pytest.raises(TypeError) as caught:
        register(item_class("title")("tea"))
    assert str(caught.value) == "register: expected a class, got Item"


def test_versions_start_at_one():
    with pytest.raises(holdall.HoldallError) as caught:
        register(item_class("title"), version=0)
    assert str(caught.value) == "register: version: expected 1 or more, got 0"
