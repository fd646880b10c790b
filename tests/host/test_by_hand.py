"""What is read and made by the layout of CPython's objects, next to what CPython itself says: ints of all sizes, addresses, dates, members of
sets, texts, attributes that share their keys with a class."""

from __future__ import annotations

import dataclasses
import datetime as dt
import ipaddress
from random import Random
from typing import Any

import pytest

import holdall
from holdall import bson, msgpack
from tests.support.isomorphic import isomorphic


def test_ints_around_every_digit_and_byte() -> None:
    for bits in (*range(50, 200), *range(290, 310), 895, 896, 897, 2_039, 2_040, 2_041, 30_000):
        for near in (-1, 0, 1):
            for sign in (1, -1):
                number = sign * ((1 << bits) + near)
                stored = holdall.dumps(number)
                assert holdall.loads(stored) == holdall.loads(holdall.dumps([number, "x"]))[0] == number
                least = ((number if number >= 0 else ~number).bit_length() + 8) // 8
                assert least <= 8 or stored.endswith(number.to_bytes(least, "little", signed=True))
                # In more bytes than it needs, as another writer may have it.
                longer = number.to_bytes(least + 9, "little", signed=True)
                length = (
                    bytes([least + 9]) if least + 9 < 252 else b"\xfc" + (least + 9).to_bytes(2, "little")
                )
                if least + 9 < 1 << 16:
                    assert holdall.loads(b"\xc1\xb1" + length + longer) == number


def test_small_ints_in_many_bytes_are_the_ones_that_cpython_keeps() -> None:
    for number in (-5, -1, 0, 1, 256):
        assert holdall.loads(b"\xc1\xb1\x14" + number.to_bytes(20, "little", signed=True)) is number


def test_addresses_are_written_as_str_gives_them() -> None:
    r = Random("addresses")
    groups = (0, 0, 0, 1, 0xFFFF, 0xABCD)
    for _ in range(2_000):
        number = 0
        for _ in range(8):
            number = number << 16 | r.choice(groups)
        address = ipaddress.IPv6Address(number)
        assert holdall.loads(holdall.dumps([address, address])) == [address, address]
        # Since 3.13, those that stand for an address of version 4 have another text.
        expected = (
            str(address)
            if number >> 32 != 0xFFFF
            else f"::ffff:{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}"
        )
        assert expected.encode() in holdall.dumps(address)


def test_dates_have_the_number_that_toordinal_gives() -> None:
    r = Random("dates")
    for number in (
        1,
        2,
        59,
        60,
        61,
        365,
        366,
        1_461,
        36_524,
        146_097,
        3_652_059,
        *(r.randint(1, 3_652_059) for _ in range(2_000)),
    ):
        date = dt.date.fromordinal(number)
        assert holdall.loads(holdall.dumps([date, "x"])) == [date, "x"]
        assert holdall.dumps(date)[3:] == holdall.dumps(number)[1:]


@pytest.mark.parametrize("make", [set, frozenset])
def test_members_that_collide(make: type[Any]) -> None:
    """Hashes that meet in small tables, and members that are equal but of another type."""
    r = Random("members")
    for _ in range(500):
        members = [
            r.choice((8, 16, 32, 1 << 61, (1 << 61) - 1)) * r.randrange(-9, 9) for _ in range(r.randrange(40))
        ]
        made = make([*members, *map(float, members[:3]), *map(str, members), *map(hash, members[:5])])
        again = holdall.loads(holdall.dumps([made, "x"]))[0]
        assert again == made
        assert type(again) is make
        assert holdall.loads(holdall.dumps(made)) == made
        assert all(member in again for member in made)
        if make is set:
            again.update(range(100))
            again.difference_update(made)
            assert again == {number for number in range(100) if number not in made}


@dataclasses.dataclass
class Order:
    ident: int
    name: str
    lines: list[Any]
    total: float = 0.0


def test_attributes_that_share_their_keys_with_a_class() -> None:
    """Instances whose `__dict__` was asked for, or whose attributes were set in another order, or are not all there."""
    made = [Order(at, f"order {at}", [at, [at]], at / 2) for at in range(6)]
    vars(made[1])
    made[2].more = "added"  # type: ignore[attr-defined]
    del made[3].total
    made[3].total = 9.5
    made[4].__dict__ = {"total": 1.0, "lines": [], "name": "n", "ident": 4}
    vars(made[5])["more"] = 1
    isomorphic(holdall.loads(holdall.dumps(made), types=[Order]), made)
    for fmt in (msgpack, bson):
        again = fmt.loads(fmt.dumps({"made": made}), type=dict[str, list[Order]])["made"]
        assert again == made


def test_descriptors_come_before_attributes() -> None:
    """Also those that a class gets, and loses, after instances of it were stored."""

    @dataclasses.dataclass
    class Guarded:
        ident: int
        name: str

    made = Guarded(1, "stored")
    for _ in range(2):
        for fmt in (msgpack, bson):
            assert fmt.loads(fmt.dumps(made)) == {"ident": 1, "name": "stored"}
        Guarded.name = property(lambda self: "shown", lambda self, value: None)  # type: ignore[assignment,method-assign]
        for fmt in (msgpack, bson):
            assert fmt.loads(fmt.dumps(made)) == {"ident": 1, "name": "shown"}
        del Guarded.name


def test_texts_of_few_characters_of_all_widths() -> None:
    r = Random("texts")
    letters = [
        "a",
        "z",
        "\x7f",
        "\x80",
        "é",
        "\xff",
        "Ā",
        "λ",
        "\u07ff",
        "\u0800",
        "日",
        "\uffff",
        "\U00010000",
        "😀",
        "\U0010ffff",
    ]
    for _ in range(3_000):
        text = "".join(r.choices(r.sample(letters, 3), k=r.randrange(1, 30)))
        for fmt in (holdall, msgpack):
            again = fmt.loads(fmt.dumps([text, "x"]))[0]
            assert again == text
            assert again.encode() == text.encode()
            assert hash(again) == hash(text)
