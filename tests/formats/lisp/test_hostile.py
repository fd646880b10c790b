"""Bytes that no Lisp wrote: an error of ours with its place, whatever they are."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest

import holdall
from holdall import lisp
from holdall.lisp import Array, Cons, LispObject, Type, keyword
from tests.support.each import each

REFUSED = [
    ("", "expected a value, found the end", 0),
    ("1f 02", "expected a value, found the end", 2),
    ("20 06 d1", "truncated", 2),
    ("d1 d2", "1 bytes left over after the message", 1),
    ("23", "reference to object 1, which was not written before it", 1),
    ("ff", "unknown tag 0xff", 1),
    ("22 22 d1", "a mark of", None),
    ("1d 05 80", "expected ASCII text", 3),
    ("1e 05 ff", "expected UTF-8 text", None),
    ("0d d1 d0", "expected two integers for a ratio", None),
    ("0d 14 d1", "expected two integers for a ratio", None),
    ("11 d1", "expected a symbol's name as a string", None),
    ("11 1d 05 41 d1", "expected the name of a symbol's package", None),
    ("13 d1", "expected the description of an object", None),
    ("13 19 cf", "expected the description of an object", None),
    ("13 19 d1 d1", "expected a symbol", None),
    ("1c d0 d7 d1", "expected a symbol", None),
    ("15 05 14 00", "expected the element type of an array", None),
    ("18 14 d5 05 01 d4 05 14 d1 d1 d1 d1", "a fill pointer beyond the vector", None),
    ("18 d1", "expected T or NIL", None),
    ("18 05 05 01 d1 14 14 d1 cf", None, None),
    ("17 01 d1 02 ff ff ff 7f", "found a number above the last of Unicode", None),
    ("31 00", None, None),
    ("1f 07", "found an unknown action", None),
    ("20 05 1f 02 05", "within a value", None),
    ("19 cf", "a description of objects out of place", None),
]


@each("data, why, at", REFUSED)
def test_refused(data: str, why: str | None, at: int | None) -> None:
    try:
        lisp.loads(bytes.fromhex(data))
    except holdall.DecodeError as error:
        assert why is None or why in str(error), error
        assert error.offset is not None and (at is None or error.offset == at)
    else:
        assert why is None


def test_descriptions_within_descriptions_take_no_stack() -> None:
    data = b"\x13\x19\xd0" * 1_000_000
    for read in (
        lisp.loads,
        lisp.open,
        lisp.loads_all,
        holdall.loads,
        holdall.msgpack.loads,
        holdall.bson.loads,
    ):
        with pytest.raises(holdall.DecodeError):
            read(data)
    # Behind what has to be looked up in the whole message, too.
    with pytest.raises(holdall.DecodeError):
        lisp.loads(b"\x20\x06\x22\x04\x23\xd1" + data)


def sample() -> bytes:
    point = Type("S::POINT", ["X", "Y"])
    shared = [1, "text", 2.5]
    return lisp.dumps(
        [
            shared, shared, (1, 2), Cons(1, 2), keyword("K"), keyword("K"), {"a": shared, 7: None}, LispObject(point, [1, shared]),
            LispObject(point, [shared, 2]), Array((2,), [1, shared], adjustable=True), 1 << 80, lisp.Pathname.of("/a/b"), b"bytes",
        ]
    )  # fmt: skip


def test_every_prefix_is_refused() -> None:
    data = sample()
    assert len(lisp.loads(data)) == 13
    for end in range(len(data)):
        with pytest.raises(holdall.DecodeError) as raised:
            lisp.loads(data[:end])
        assert raised.value.offset is not None and raised.value.offset <= end


def test_damage_is_read_or_refused() -> None:
    data, chance = sample(), random.Random(7)
    codes = [4, 5, 13, 17, 18, 19, 20, 22, 24, 25, 26, 27, 28, 32, 34, 35, 36]
    for _ in range(4000):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(damaged))
            match chance.randrange(3):
                case 0:
                    damaged[at] = chance.randrange(256)
                case 1:
                    damaged[at:at] = bytes([chance.choice(codes)])
                case _:
                    del damaged[at : at + chance.randint(1, 4)]
        try:
            found: Any = lisp.loads_all(bytes(damaged))
        except holdall.DecodeError:
            continue
        with contextlib.suppress(holdall.HoldallError):
            lisp.loads_all(lisp.dumps(found))


@each(
    "head",
    [
        "20 03 ffffffffffffff1f", "16 03 ffffffffffffff1f", "15 03 ffffffffffffff1f 05", "1e 03 ffffffffffffff1f", "1c 02 ffffffff d0",
        "18 05 05 02 02 ffffffff 02 ffffffff 05 14", "17 02 02 ffffffff 02 ffffffff 05", "09 03 ffffffffffffff0f", "19 02 ffffffff",
        "18 05 05 01 03 ffffffffffffff0f 14 14 d0 05", "1f 01 03 ffffffffffffff0f 13 19 02 ffffffff",
    ],
)  # fmt: skip
def test_lengths_cost_nothing_before_they_are_checked(head: str) -> None:
    data = bytes.fromhex(head) + bytes(64)
    with pytest.raises(holdall.DecodeError):
        lisp.loads(data)


def test_limits_add_up() -> None:
    # Lists within lists, each of which claims all that is left.
    data = b"".join(
        b"\x20" + bytes([1]) + (left - 252).to_bytes(2, "little") for left in range(4000, 300, -4)
    )
    with pytest.raises(holdall.DecodeError, match="truncated"):
        lisp.loads(data)
    with pytest.raises(holdall.LimitError, match=r"limits.depth=10"):
        lisp.loads(lisp.dumps([[[[[[[[[[[[1]]]]]]]]]]]]), limits=holdall.Limits(depth=10))
    with pytest.raises(holdall.LimitError, match=r"limits.objects=5"):
        lisp.loads(lisp.dumps(list(range(100))), limits=holdall.Limits(objects=5))


def test_nothing_named_is_made() -> None:
    made = lisp.loads(lisp.dumps(LispObject(Type("BUILTINS::EVAL", ["SOURCE"]), ["1"])))
    assert type(made) is LispObject


def test_keys_that_collide_are_charged() -> None:
    keys = [n * ((1 << 61) - 1) for n in range(20_000)]
    from holdall.lisp import Pairs

    with pytest.raises(holdall.DecodeError, match="collide"):
        lisp.loads(lisp.dumps(Pairs([(key, None) for key in keys])))


def test_members_that_collide_are_charged() -> None:
    data = lisp.dumps([n * ((1 << 61) - 1) for n in range(20_000)])
    kinds: list[Any] = [set[int], frozenset[int]]
    for kind in kinds:
        with pytest.raises(holdall.DecodeError, match="collide"):
            lisp.loads(data, type=kind)
