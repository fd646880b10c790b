"""Containers in containers: short ones are read without a frame, and the keys of a dict are expected to be those of one before. However
they nest, repeat and vary, what comes is what another reader gives."""

from __future__ import annotations

import datetime
import struct
from random import Random
from typing import Any

import msgspec
import pytest

import holdall
from holdall import msgpack
from tests.support.each import each

INTS = [
    0,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
INTS += [-1, -32, -33, -128, -129, -(2**15), -(2**15) - 1, -(2**31), -(2**31) - 1, -(2**63)]


def value(r: Random, depth: int) -> Any:
    kind = r.randrange(12 if depth else 8)
    if kind < 8:
        return r.choice([r.choice(INTS), r.random(), None, True, "text", "ключ", b"bytes", "x" * 300, [], {}])
    if kind < 10:
        return [value(r, depth - 1) for _ in range(r.choice([1, 2, 3, 15, 16, 17, 40]))]
    return {key(r): value(r, depth - 1) for _ in range(r.choice([1, 2, 3, 6, 40]))}


def key(r: Random) -> Any:
    return r.choice(
        [r.choice("abcdef"), f"name {r.randrange(1000)}", "ключ", r.choice(INTS), b"bytes", 1.5, None]
    )


def some(r: Random) -> dict[str, Any]:
    """A dict of which each key may be missing."""
    return {name: value(r, 1) for name in ("id", "name", "size", "owner", "tags") if r.random() < 0.6}


@each("seed", range(8))
def test_nested_containers_are_what_another_reader_gives(seed: int) -> None:
    r = Random(seed)
    for _ in range(150):
        message = msgspec.msgpack.encode([value(r, 4) for _ in range(r.randrange(6))])
        assert repr(msgpack.loads(message)) == repr(msgspec.msgpack.decode(message))


@each("seed", range(4))
def test_keys_that_are_there_or_not(seed: int) -> None:
    r = Random(seed)
    made = [some(r) for _ in range(400)]
    message = msgspec.msgpack.encode(made)
    assert repr(msgpack.loads(message)) == repr(made)
    for one in made:
        assert repr(msgpack.loads(msgspec.msgpack.encode(one))) == repr(one)


def test_keys_that_come_again_after_many_that_do_not() -> None:
    for turn in range(3):
        made: list[Any] = [{f"{turn} {number}": number, "other": 1} for number in range(3000)]
        made += [{"id": number, "name": [number]} for number in range(50)]
        assert msgpack.loads(msgspec.msgpack.encode(made)) == made


@each("size", [1, 2, 3, 200])
def test_the_last_of_equal_keys_counts(size: int) -> None:
    pair = lambda number: b"\xa1k" + bytes([0x91, number])  # noqa: E731
    one = bytes([0x80 + 2]) + pair(1) + pair(2)
    message = b"\xdc" + size.to_bytes(2, "big") + one * size
    assert msgpack.loads(message) == [{"k": [2]}] * size
    assert msgpack.loads(one) == {"k": [2]}


def test_arrays_in_keys_are_tuples_and_in_values_lists() -> None:
    message = b"\x81" + b"\x92\x01\x92\x02\x91\x03" + b"\x92\x01\x92\x02\x91\x03"
    for whole, made in ((message, {(1, (2, (3,))): [1, [2, [3]]]}), (b"\x91" + message, None)):
        assert msgpack.loads(whole) == (made if made is not None else [{(1, (2, (3,))): [1, [2, [3]]]}])


@each("number", INTS)
def test_ints_at_the_end_and_before_more(number: int) -> None:
    for made in (number, [number], {"k": number}, {number: number}, [[number], b"12345678"], [number] * 20):
        message = msgspec.msgpack.encode(made)
        assert msgpack.loads(message) == made
        assert msgpack.loads(message, type=Any) == made
        for cut in range(len(message)):
            with pytest.raises(holdall.DecodeError):
                msgpack.loads(message[:cut])


@each(
    "form, number",
    [(">BB", 5), (">BH", 5), (">BI", 5), (">BQ", 5), (">Bb", -5), (">Bh", -5), (">Bi", -5), (">Bq", -5)],
)
def test_ints_need_not_be_in_their_shortest_form(form: str, number: int) -> None:
    tag = {"B": 0xCC, "H": 0xCD, "I": 0xCE, "Q": 0xCF, "b": 0xD0, "h": 0xD1, "i": 0xD2, "q": 0xD3}[form[-1]]
    one = struct.pack(form, tag, number)
    assert msgpack.loads(one) == number
    assert msgpack.loads(b"\x93" + one * 3) == [number] * 3
    assert msgpack.loads(b"\x82" + one + b"\x01\xa1a" + one) == {number: 1, "a": number}


def test_options_hold_for_small_messages_and_nested_ones() -> None:
    strict = msgpack.Decoder(strict_map_key=True).decode
    for given in ({1: 2}, [{1.5: 2}], {"a": {None: 1}}, [[{True: 1}]]):
        assert msgpack.Decoder().decode(msgpack.dumps(given)) == given
        with pytest.raises(holdall.DecodeError, match="strict_map_key"):
            strict(msgpack.dumps(given))
    for allowed in ({"a": {b"b": 1}}, [{"ключ": 1}], [[{"é": [1]}]]):
        assert strict(msgpack.dumps(allowed)) == allowed
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 6, datetime.timezone.utc)
    exact = msgpack.Decoder(timestamps=True).decode
    for given in (moment, [moment], {"at": moment}, [[moment]]):
        assert msgpack.Decoder().decode(msgpack.dumps(given)) == given
        assert "Timestamp(" in repr(exact(msgpack.dumps(given)))
    tuples = msgpack.Decoder(use_list=False).decode
    assert tuples(msgpack.dumps([[1, [2]], {"a": [3, []]}])) == ((1, (2,)), {"a": (3, ())})
    raw = msgpack.Decoder(raw=True).decode
    assert raw(msgpack.dumps([["a" * 300], {"k": ["v"]}])) == [[b"a" * 300], {b"k": [b"v"]}]


def test_a_moment_between_microseconds_is_rounded_wherever_it_is() -> None:
    one = b"\xd7\xff" + struct.pack(">Q", 999_999_600 << 34 | 7)
    rounded = datetime.datetime(1970, 1, 1, 0, 0, 8, tzinfo=datetime.timezone.utc)
    for message, made in (
        (one, rounded),
        (b"\x91" + one, [rounded]),
        (b"\x91\x81\xa1k" + one, [{"k": rounded}]),
    ):
        assert msgpack.loads(message) == made


def test_nesting_is_bounded_as_before() -> None:
    limits = holdall.Limits(depth=10)
    deep: Any = 1
    for _ in range(10):
        deep = [deep]
    assert msgpack.Decoder(limits=limits).decode(msgpack.dumps(deep)) == deep
    for wrap in ([deep], {"a": deep}, [[1], deep]):
        with pytest.raises(holdall.LimitError):
            msgpack.Decoder(limits=limits).decode(msgpack.dumps(wrap))
