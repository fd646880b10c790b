"""Instances in small messages are written from a prepared layout and built as an earlier message of the same layout was, without an encoder
and a decoder: to the same bytes, values and errors. `encode_into`, and input that is not `bytes`, do not take that way."""

from __future__ import annotations

import dataclasses
import enum
import gc
import types
import uuid
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from decimal import Decimal, localcontext
from random import Random
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest

import holdall
from tests.support.isomorphic import isomorphic

ROUNDS = 1000


@dataclasses.dataclass
class Record:
    ident: int
    name: str
    more: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    ident: int
    name: str


@dataclasses.dataclass(slots=True)
class Slotted:
    ident: int
    x: str
    others: list[Record]


@dataclasses.dataclass
class Checked:
    ident: int
    done: list[int] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.done.append(self.ident)


@dataclasses.dataclass
class Bounded:
    ident: Annotated[int, msgspec.Meta(ge=0)]
    name: Annotated[str, msgspec.Meta(max_length=4)]


class Plain:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


class Empty:
    __slots__ = ()


class Partly:
    __slots__ = ("a", "b")

    def __init__(self, *given: Any) -> None:
        for name, value in zip(self.__slots__, given, strict=False):
            setattr(self, name, value)


class Asked:
    """Its `__getattr__` may say anything."""

    def __init__(self, ident: int) -> None:
        self.ident = ident

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Point(NamedTuple):
    x: float
    y: float
    name: str


Pair = namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Text(str):
    pass


class Number(int):
    __slots__ = ()


class Row(tuple[Any, ...]):
    __slots__ = ()


class Rows(list[Any]):
    pass


class Table(dict[Any, Any]):
    pass


class Ordered(OrderedDict[Any, Any]):
    pass


class Members(set[Any]):
    pass


class Frozens(frozenset[Any]):
    pass


class Failure(Exception):
    pass


class Both(Partly):
    """Some of its fields have slots."""


SHARED = ["a shared text", "name", "ident", "z"]
CLASSES = [Record, Frozen, Slotted, Checked, Bounded, Plain, Empty, Partly, Asked, Point, Pair, Color, Level]
CLASSES += [Access]
BASED = [Text, Number, Row, Rows, Table, Ordered, Members, Frozens, Failure, Both]


def leaf(r: Random) -> Any:
    return r.choice(
        [
            r.randrange(-(10**6), 10 ** r.randrange(1, 20)),
            r.random(),
            r.choice(SHARED),
            "".join(r.choices("abcé", k=r.randrange(6))),
            None,
            Decimal(r.randrange(10**9)).scaleb(-r.randrange(9)),
            Decimal(r.choice(["NaN", "-Infinity", "1E+30", "0", "-0.00"])),
            uuid.UUID(int=r.getrandbits(128)),
            r.choice([*Color, *Level, Access.READ, Access.READ | Access.WRITE]),
        ]
    )


def instance(r: Random, depth: int = 2) -> Any:
    def item() -> Any:
        return instance(r, depth - 1) if depth and r.random() < 0.3 else leaf(r)

    number, name = r.randrange(-5, 10**6), "".join(r.choices("abcdefgh", k=r.randrange(9)))
    others = [Record(at, name, item()) for at in range(r.randrange(3))]
    return r.choice(
        [
            lambda: Record(number, name, item()),
            lambda: Frozen(number, r.choice(SHARED)),
            lambda: Slotted(number, name, others),
            lambda: Checked(number),
            lambda: Bounded(number, name),
            lambda: Plain(ident=number, name=item()),
            lambda: Plain(**dict.fromkeys(r.sample(["a", "name", "ident", "ключ"], r.randrange(4)), number)),
            lambda: Empty(),
            lambda: Partly(*[item() for _ in range(r.randrange(3))]),
            lambda: Asked(number),
            lambda: Point(r.random(), r.random(), name),
            lambda: Pair(item(), item()),
            lambda: [item(), others, *others],
            lambda: {"ident": item(), "name": others},
        ]
    )()


def based(r: Random, depth: int = 2) -> Any:
    """An instance of a subclass of a builtin, some with attributes, or an exception."""

    def item() -> Any:
        return r.choice([based, instance])(r, depth - 1) if depth and r.random() < 0.3 else leaf(r)

    items = [item() for _ in range(r.choice([0, 1, 2, 2, 3, 40]))]
    number = r.randrange(-5, 10**6)
    text = r.choice([*SHARED, "é", ""])
    made = r.choice(
        [
            lambda: Text(text),
            lambda: Number(number),
            lambda: Row(items),
            lambda: Rows(items),
            lambda: Table({r.choice([text, number, None]): item(), "name": items}),
            lambda: Ordered([(text, item()), ("name", items)]),
            lambda: Members({number, text}),
            lambda: Frozens({number, text}),
            lambda: Failure(*items[:3]),
            lambda: r.choice([ValueError, KeyError, OSError, StopIteration])(*items[:2]),
            lambda: Both(*items[:2]),
            lambda: items,
            lambda: {"ident": item(), "name": item()},
        ]
    )()
    if isinstance(made, (Text, Rows, Table, Members, Failure, Both)) and r.random() < 0.4:
        made.more = item()  # type: ignore[union-attr]
    return made


def told(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except holdall.HoldallError as error:
        return f"{type(error).__name__}: {error}"


def check_same(one: Any, other: Any) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        isomorphic(one, other)


def slowly(encoder: holdall.Encoder, value: Any) -> bytes:
    buffer = bytearray()
    encoder.encode_into(value, buffer)
    return bytes(buffer)


@pytest.mark.parametrize(
    "options", [{}, {"refs": False}, {"trust": True}, {"canonical": True}, {"intern": True}]
)
def test_the_same_message(options: dict[str, Any]) -> None:
    r = Random(f"instances {options}")
    encoder = holdall.Encoder(**options)
    for _ in range(ROUNDS):
        value = instance(r)
        expected = told(lambda: slowly(encoder, value))  # noqa: B023 - it is called at once
        assert told(lambda: encoder.encode(value)) == expected  # noqa: B023


def test_the_same_value_or_error_by_a_type() -> None:
    r = Random("instances by a type")
    wanted = [
        Record,
        Frozen,
        Slotted,
        Checked,
        Bounded,
        Point,
        Pair,
        Color,
        Level,
        Access,
        Decimal,
        uuid.UUID,
    ]
    wanted += [list[Record], dict[str, Record], Record | None, tuple[Point, ...], list[Color], Any]  # type: ignore[list-item]
    decoders = [holdall.Decoder(type=each, types=CLASSES) for each in wanted]
    taken = 0
    for _ in range(ROUNDS):
        value = instance(r) if r.random() < 0.7 else leaf(r)
        try:
            message = holdall.dumps(value)
        except holdall.EncodeError:
            continue
        if r.random() < 0.3:
            damaged = bytearray(message)
            damaged[r.randrange(len(damaged))] = r.randrange(256)
            message = bytes(damaged)
        for decoder in decoders:
            expected = told(lambda: decoder.decode(bytearray(message)))  # noqa: B023
            made = told(lambda: decoder.decode(message))  # noqa: B023
            check_same(made, expected)
            taken += not isinstance(expected, str)
    assert taken > ROUNDS


@pytest.mark.parametrize("permitted", [BASED + CLASSES, BASED, CLASSES, []])
def test_the_same_value_or_error_without_a_type(permitted: list[Any]) -> None:
    r = Random(f"instances of {len(permitted)} classes")
    decoders = [
        holdall.Decoder(types=permitted),
        holdall.Decoder(types=permitted, trust=True),
        holdall.Decoder(types=permitted, resolver=lambda stored: None),
    ]
    if not permitted:
        decoders = [holdall.Decoder()]
    taken = 0
    for _ in range(ROUNDS):
        value = r.choice([instance, based])(r)
        try:
            message = holdall.dumps(value, trust=r.random() < 0.1)
        except holdall.EncodeError:
            continue
        if r.random() < 0.3:
            damaged = bytearray(message)
            damaged[r.randrange(len(damaged))] = r.randrange(256)
            message = bytes(damaged)
        for decoder in decoders:
            expected = told(lambda: decoder.decode(bytearray(message)))  # noqa: B023
            # After one that was tried in vain, fifteen are not tried.
            for _ in range(17):
                made = told(lambda: decoder.decode(message))  # noqa: B023
            check_same(made, expected)
            made = told(lambda: decoder.decode(message))  # noqa: B023
            check_same(made, expected)
            taken += not isinstance(expected, str)
    assert taken > (ROUNDS // 4 if permitted else 0)


class TestWhatIsPermitted:
    """A class that was permitted is looked up again once anything has changed that was asked."""

    def test_a_class_that_gets_another_name(self) -> None:
        for rename in ("__qualname__", "__module__"):
            Renamed = type("Renamed", (), {"__module__": __name__})
            decoder, message = holdall.Decoder(types=Renamed), holdall.dumps(Renamed())
            for _ in range(20):
                assert type(decoder.decode(message)) is Renamed
            setattr(Renamed, rename, "another")
            with pytest.raises(holdall.UnknownTypeError):
                decoder.decode(message)

    def test_a_module_that_gets_another_class(self) -> None:
        module = types.ModuleType("some_module")
        first, second = (type("Changing", (), {"__module__": "some_module"}) for _ in range(2))
        module.Changing = first  # type: ignore[attr-defined]
        decoder, message = holdall.Decoder(types=module), holdall.dumps(first())
        for _ in range(20):
            assert type(decoder.decode(message)) is first
        module.Changing = second  # type: ignore[attr-defined]
        assert type(decoder.decode(message)) is second
        del module.Changing  # type: ignore[attr-defined]
        with pytest.raises(holdall.UnknownTypeError):
            decoder.decode(message)

    def test_a_class_that_is_registered_under_the_name(self) -> None:
        first, second = (type("Rival", (), {"__module__": __name__}) for _ in range(2))
        decoder, message = holdall.Decoder(types=first), holdall.dumps(first())
        for _ in range(20):
            assert type(decoder.decode(message)) is first
        holdall.register(second, name=f"{__name__}.Rival")
        assert type(decoder.decode(message)) is second
        assert type(holdall.loads(message)) is second
        holdall.register(second, name="another.Rival")
        assert type(decoder.decode(message)) is first
        with pytest.raises(holdall.UnknownTypeError):
            holdall.loads(message)

    def test_a_metaclass_that_says_other_names(self) -> None:
        class Naming(type):
            pass

        Named = Naming("Named", (), {"__module__": __name__})
        decoder, message = holdall.Decoder(types=Named), holdall.dumps(Named())
        for _ in range(20):
            assert type(decoder.decode(message)) is Named
        usual = type.__getattribute__
        Naming.__getattribute__ = lambda cls, name: "Other" if name == "__qualname__" else usual(cls, name)  # type: ignore[method-assign, assignment]
        with pytest.raises(holdall.UnknownTypeError):
            decoder.decode(message)

    def test_what_one_permits_another_does_not(self) -> None:
        message = holdall.dumps(Text("a"))
        for _ in range(20):
            assert type(holdall.Decoder(types=Text).decode(message)) is Text
            for other in (holdall.Decoder(), holdall.Decoder(types=Number)):
                with pytest.raises(holdall.UnknownTypeError):
                    other.decode(message)
            with pytest.raises(holdall.UnknownTypeError):
                holdall.loads(message)

    def test_a_resolver_is_asked_each_time(self) -> None:
        Asked = type("AskedLater", (), {"__module__": __name__})
        asked = []
        decoder, message = holdall.Decoder(types=Asked), holdall.dumps(Asked())
        for _ in range(20):
            assert type(decoder.decode(message)) is Asked

        def resolver(stored: Any) -> Any:
            asked.append(stored.name)
            return None

        holdall.register(Asked, resolver=resolver)
        for _ in range(20):
            assert type(decoder.decode(message)) is Asked
        assert asked


def test_a_small_message_makes_no_more_instances_than_a_decoder_may() -> None:
    """Each of them takes far more memory than the two bytes that stand for it."""

    class Wide:
        __slots__ = tuple(f"s{at}" for at in range(200))

    decoder = holdall.Decoder(types=Wide)
    message = holdall.dumps([[Wide() for _ in range(30)] for _ in range(30)])
    expected = told(lambda: decoder.decode(bytearray(message)))
    for _ in range(3):
        made = told(lambda: decoder.decode(message))
        assert type(made) is type(expected)
    assert sum(map(len, made)) == 900


def test_an_instance_that_lacks_a_field_is_refused_as_ever() -> None:
    encoder = holdall.Encoder()
    assert encoder.encode(Record(1, "a")) == slowly(encoder, Record(1, "a"))
    lacking = Record(1, "a")
    del lacking.name
    with pytest.raises(holdall.EncodeError, match="without its field `name`"):
        encoder.encode(lacking)


def test_a_class_that_changes() -> None:
    """What was prepared, and how a layout was built, holds for the class as it was."""

    class Changing:
        def __init__(self) -> None:
            self.a = 1

    encoder, decoder = holdall.Encoder(), holdall.Decoder(types=Changing)
    for _ in range(3):
        assert encoder.encode(Changing()) == slowly(encoder, Changing())
    Changing.__getstate__ = lambda self: {"b": 2}  # type: ignore[method-assign, assignment]
    for _ in range(3):
        assert told(lambda: encoder.encode(Changing())) == told(lambda: slowly(encoder, Changing()))
    del Changing.__getstate__
    message = encoder.encode(Changing())
    assert vars(decoder.decode(message)) == {"a": 1}
    holdall.register(Changing, name="another name", version=7)
    assert encoder.encode(Changing()) == slowly(encoder, Changing()) != message
    assert b"another name" in encoder.encode(Changing())


def test_a_property_in_a_fields_place_is_called_once() -> None:
    """Its setter is the program's code: what is tried first calls it in vain, and then it is called again."""

    @dataclasses.dataclass
    class Guarded:
        number: int

    holdall.register(Guarded, name="known.small.Guarded")
    decoder, message = holdall.Decoder(type=Guarded), holdall.dumps(Guarded(1))
    for _ in range(20):
        assert decoder.decode(message) == Guarded(1)
    calls = []

    def refuse(self: Guarded, value: int) -> None:
        calls.append(value)
        raise ValueError

    Guarded.number = property(lambda self: 0, refuse)  # type: ignore[assignment]
    with pytest.raises(holdall.DecodeError):
        decoder.decode(message)
    assert calls == [1]


def test_a_decimal_is_written_whatever_the_context() -> None:
    encoder = holdall.Encoder()
    with localcontext() as context:
        context.capitals = 0
        context.prec = 2
        value = Decimal("1.23456E+30")
        assert encoder.encode(value) == slowly(encoder, value)
        assert holdall.Decoder(type=Decimal).decode(encoder.encode(value)) == value


def test_a_uuid_that_knows_how_it_was_made() -> None:
    encoder, decoder = holdall.Encoder(), holdall.Decoder(type=uuid.UUID)
    for safety in uuid.SafeUUID:
        value = uuid.UUID(int=5, is_safe=safety)
        assert encoder.encode(value) == slowly(encoder, value)
        for _ in range(2):
            assert decoder.decode(encoder.encode(value)).is_safe is safety


def test_nothing_is_finalized_that_was_made_in_vain() -> None:
    """A message that turns out to need a decoder is begun anew: a `__del__` would tell of instances that nobody has seen."""
    let_go = []

    @dataclasses.dataclass
    class Watched:
        ident: int
        more: Any

        def __del__(self) -> None:
            let_go.append(self.ident)

    decoder = holdall.Decoder(type=Watched)
    kept = [decoder.decode(holdall.dumps(Watched(at, 1))) for at in range(3)]
    let_go.clear()
    with pytest.raises(holdall.DecodeError):
        decoder.decode(holdall.dumps(kept[0]) + b"\x00")
    gc.collect()
    assert let_go.count(0) <= 1


def test_nothing_is_held() -> None:
    decoder = holdall.Decoder(type=Record)
    message = holdall.dumps(Record(1, "a"))
    for _ in range(3):
        made = decoder.decode(message)
    watch = weakref.ref(made)
    del made
    assert watch() is None
