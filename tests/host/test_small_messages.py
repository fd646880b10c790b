"""Small messages are written and read without an encoder and a decoder, by a way of their own in front of `encode` and `decode`: it must
give the same bytes, the same values and the same errors. `encode_into`, and input that is not `bytes`, do not take it."""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import itertools
import string
from collections.abc import Callable
from random import Random
from typing import Annotated, Any, Literal

import msgspec
import pytest

import holdall
from holdall import msgpack

SHARED = ["shared one", "ключ", "z", "naïve", "\U0001f600"]
ROUNDS = 2000
NAMES = ["id", "name", "ключ", "tags", "x", "ab"]
LONG = ["x" * 40, "q" * 300, "é" * 130, "日本" * 50]


def leaf(r: Random) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: "".join(r.choices(string.ascii_letters, k=r.randrange(9))),
        lambda: r.choice(SHARED),
        lambda: r.choice(LONG),
        lambda: r.randrange(-(10 ** r.randrange(1, 22)), 10 ** r.randrange(1, 22)),
        lambda: r.random(),
        lambda: None,
        lambda: r.random() < 0.5,
        lambda: r.choice([[], (), {}, b"", b"abc", [[]]]),
        lambda: moment(r),
        lambda: r.choice([set, frozenset])(alike(r, 6)),
        lambda: r.choice((1, -1)) << r.randrange(500),
    ]
    return r.choice(kinds[:3] + kinds[3:] + kinds[3:7])()


def moment(r: Random) -> Any:
    """A value of the datetime module, some with a zone."""
    day = dt.date.fromordinal(r.randint(1, 3_652_059))
    clock = dt.time(
        r.randrange(24), r.randrange(60), r.randrange(60), r.randrange(10**6), fold=r.randrange(2)
    )
    zone = r.choice([None, None, dt.timezone.utc, dt.timezone(dt.timedelta(hours=r.randrange(-20, 20)))])
    return r.choice(
        [
            day,
            clock,
            clock.replace(tzinfo=zone),
            dt.datetime.combine(day, clock, zone),
            dt.timedelta(r.randint(-(10**6), 10**6), r.randrange(86_400), r.randrange(10**6)),
            dt.timedelta.max,
        ]
    )


def alike(r: Random, few: int) -> list[Any]:
    """Items of one type, of which formats make runs."""
    make: list[Callable[[], Any]] = [
        lambda: r.randrange(-(10 ** r.choice([1, 3, 6, 12])), 300),
        lambda: r.random(),
        lambda: "".join(r.choices("abc", k=r.randrange(30))),
        lambda: r.random() < 0.5,
    ]
    kind = r.choice(make)
    return [kind() for _ in range(r.randrange(few))]


def container(r: Random, depth: int = 3) -> Any:
    few = 20 if depth == 3 else 5

    def item() -> Any:
        return container(r, depth - 1) if depth and r.random() < 0.2 else leaf(r)

    items = alike(r, few) if r.random() < 0.3 else [item() for _ in range(r.randrange(few))]
    if items and r.random() < 0.1:
        items.append(items[0])  # the same object again
    match r.randrange(5):
        case 0:
            return items
        case 1:
            return tuple(items)
        case 2:
            return {key(r): item for item in items}
        case 3:
            return {f"k{at}": item for at, item in enumerate(items)}
        case _:
            return dict(zip(NAMES, items, strict=False))


def key(r: Random) -> Any:
    return r.choice([r.choice(SHARED), "".join(r.choices("abcdef", k=r.randrange(12))), "ab", r.randrange(9)])


def objects(made: Any) -> list[Any]:
    """All that have an identity, in order."""
    if isinstance(made, str):
        return [made] * (len(made) > 1)
    if isinstance(made, dict):
        return [made, *(one for pair in made.items() for part in pair for one in objects(part))]
    return (
        [made, *(one for part in made for one in objects(part))]
        if isinstance(made, (list, tuple)) and made
        else []
    )


def keeps_sharing(made: Any, stored: Any) -> bool:
    """What was one object is one. (Equal keys may become one, too: readers keep short names.)"""
    after, before = objects(made), objects(stored)
    assert len(after) == len(before)
    return all(
        (after[a] is after[b]) >= (before[a] is before[b])
        for a, b in itertools.combinations(range(len(before)), 2)
    )


def is_tracked_where_it_must_be(made: Any) -> bool:
    if isinstance(made, dict) and any(map(gc.is_tracked, made.values())) and not gc.is_tracked(made):
        return False
    parts = made.values() if isinstance(made, dict) else made if isinstance(made, (list, tuple)) else []
    return all(map(is_tracked_where_it_must_be, parts))


@pytest.mark.parametrize("options", [{}, {"refs": False}, {"intern": True}, {"canonical": True}])
def test_the_same_message(options: dict[str, Any]) -> None:
    r = Random(f"hold {options}")
    encoder, buffer = holdall.Encoder(**options), bytearray()
    for _ in range(ROUNDS):
        value = container(r)
        message = encoder.encode(value)
        buffer.clear()
        encoder.encode_into(value, buffer)
        assert message == buffer
        assert holdall.dumps(value, **options) == message


@pytest.mark.parametrize("options", [{}, {"order": "deterministic"}])
def test_the_same_message_of_msgpack(options: dict[str, Any]) -> None:
    r = Random(f"msgpack {options}")
    encoder, buffer = msgpack.Encoder(**options), bytearray()
    for _ in range(ROUNDS):
        value = container(r)
        buffer.clear()
        try:
            encoder.encode_into(value, buffer)
        except holdall.EncodeError as error:
            with pytest.raises(holdall.EncodeError) as quickly:
                encoder.encode(value)
            assert str(quickly.value) == str(error)
            continue
        assert encoder.encode(value) == buffer
        assert msgpack.dumps(value, **options) == buffer


def test_the_same_value() -> None:
    r = Random("values")
    for _ in range(ROUNDS):
        value = container(r)
        message = holdall.dumps(value)
        decoder = holdall.Decoder()  # the keys of its second message are known
        for _ in range(2):
            made, slowly = decoder.decode(message), decoder.decode(bytearray(message))
            assert shown(made) == shown(slowly) == shown(value)
            assert type(made) is type(value)
            assert keeps_sharing(made, value)
            assert keeps_sharing(slowly, value)
            assert is_tracked_where_it_must_be(made)


@pytest.mark.parametrize("options", [{}, {"use_list": False}, {"raw": True}, {"strict_map_key": True}])
def test_the_same_value_of_msgpack(options: dict[str, Any]) -> None:
    r = Random(f"values of msgpack {options}")
    for _ in range(ROUNDS):
        try:
            message = msgpack.dumps(container(r))
        except holdall.EncodeError:
            continue
        decoder = msgpack.Decoder(**options)
        for _ in range(2):
            assert told(decoder.decode, message) == told(decoder.decode, bytearray(message))


def test_the_same_error() -> None:
    r = Random("damage")
    for _ in range(ROUNDS):
        value = container(r)
        messages: list[tuple[Any, bytes]] = [(holdall.Decoder, holdall.dumps(value))]
        with contextlib.suppress(holdall.EncodeError):
            messages.append((msgpack.Decoder, msgpack.dumps(value)))
        for decoder, message in messages:
            damaged = bytearray(message)
            damaged[r.randrange(len(damaged))] = r.randrange(256)
            if r.random() < 0.3:
                del damaged[r.randrange(len(damaged)) :]
            assert told(decoder().decode, bytes(damaged)) == told(decoder().decode, damaged)


def shown(value: Any, within: tuple[int, ...] = ()) -> str:
    """As `repr`, but for the order of sets, which depends on how they came about."""
    if id(value) in within:
        return "..."
    within += (id(value),)
    if isinstance(value, dict):
        items = [f"{shown(key, within)}: {shown(item, within)}" for key, item in value.items()]
    elif isinstance(value, (set, frozenset)):
        items = sorted(map(shown, value))
    elif isinstance(value, (list, tuple)):
        items = [shown(item, within) for item in value]
    else:
        return repr(value)
    return f"{type(value).__name__}({', '.join(items)})"


def told(decode: Callable[[Any], Any], message: bytes | bytearray) -> str:
    try:
        return shown(decode(message))
    except holdall.HoldallError as error:
        return f"{type(error).__name__}: {error}"


TYPES = [
    *(int, float, str, bytes, bool, list[int], list[str], list[float], list[list[int]], tuple[int, ...]),
    *(tuple[int, str], tuple[str], dict[str, int], dict[int, str], dict[str, list[int]], set[int], set[str]),
    *(frozenset[int], dt.date, dt.time, dt.datetime, dt.timedelta, list[dt.date], dict[str, dt.datetime]),
    *(list[int | str], list[Any], dict[str, Any], Annotated[int, msgspec.Meta(ge=0)], Literal["a", 1]),
    *(Annotated[list[int], msgspec.Meta(max_length=2)], int | None, list[int] | None),
]


@pytest.mark.parametrize("strict", [True, False])
def test_the_same_value_or_error_by_a_type(strict: bool) -> None:
    r = Random(f"types {strict}")
    decoders = [
        (dumps, make(type=each, strict=strict))
        for each in TYPES
        for dumps, make in ((holdall.dumps, holdall.Decoder), (msgpack.dumps, msgpack.Decoder))
    ]
    taken = 0
    for _ in range(ROUNDS // 4):
        value = container(r, 2) if r.random() < 0.7 else leaf(r)
        for dumps, decoder in decoders:
            with contextlib.suppress(holdall.EncodeError):
                message = dumps(value)
                quickly = told(decoder.decode, message)
                assert quickly == told(decoder.decode, bytearray(message))
                taken += "Error" not in quickly
    assert taken > ROUNDS


def test_a_message_with_more_in_it_does_not_change_what_follows() -> None:
    decoder = holdall.Decoder()
    small, large = {"a": 1, "b": "two"}, {"a": [1, [2]], "b": {"c": ["d", {}]}}
    for at in range(100):
        value = large if at % 7 == 0 else small
        assert decoder.decode(holdall.dumps(value)) == value


@pytest.mark.parametrize("size", [1, 20, 60, 140_000])
def test_a_name_that_comes_twice_is_not_referred_to(size: int) -> None:
    """The second has a number, too, but no dict would hold it."""
    for at in range(200 if size < 1_000 else 3):
        name = (f"{at:07d}" * size)[:size].encode()
        coded = b"\xb4\xfd" + size.to_bytes(4, "little") + name
        for block in (coded + coded + b"\xc1\x02", coded + b"\xc1\x01" + b"\xc1\x01", coded * 3):
            message = b"\xc1\xc4\x03\xfd" + len(block).to_bytes(4, "little") + block + b"\xaa" * 3
            for decoder in (holdall.Decoder(), holdall.Decoder(type=dict)):
                assert told(decoder.decode, message) == told(decoder.decode, bytearray(message))
                assert "Error" in told(decoder.decode, message)


def test_limits_hold_for_small_messages_too() -> None:
    decoder = holdall.Decoder(limits=holdall.Limits(objects=3))
    assert decoder.decode(holdall.dumps([1, 2])) == [1, 2]
    with pytest.raises(holdall.LimitError):
        decoder.decode(holdall.dumps([1, "a", None, 2, 3]))
