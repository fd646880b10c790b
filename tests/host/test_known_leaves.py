"""Known types that are made of leaves without a frame: alone, together, shared, as keys, in parts that are no leaves, malformed."""

from __future__ import annotations

import array
import collections
import contextlib
import datetime as dt
import decimal
import fractions
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo

import pytest

import holdall
from tests.support.each import each
from tests.support.isomorphic import isomorphic


class Word(str):
    pass


class Number(int):
    pass


class Ratio(float):
    pass


class Blob(bytes):
    pass


class Plane(complex):
    pass


class Failure(Exception):
    pass


TYPES = [Word, Number, Ratio, Blob, Plane, Failure]
OFFSET = dt.timezone(dt.timedelta(hours=-3, minutes=30))
HASHABLE = {
    "first date": dt.date.min,
    "last date": dt.date.max,
    "leap day": dt.date(2000, 2, 29),
    "time": dt.time(23, 59, 59, 999_999, fold=1),
    "time in UTC": dt.time(1, tzinfo=dt.timezone.utc),
    "time with an offset": dt.time(1, tzinfo=OFFSET),
    "time in a zone": dt.time(1, tzinfo=zoneinfo.ZoneInfo("Europe/Prague")),
    "shortest timedelta": dt.timedelta.min,
    "longest timedelta": dt.timedelta.max,
    "timedelta before zero": dt.timedelta(microseconds=-1),
    "timezone": OFFSET,
    "timezone with a name": dt.timezone(dt.timedelta(seconds=1), "one"),
    "datetime with an offset": dt.datetime(2026, 1, 2, tzinfo=OFFSET),
    "datetime with a name": dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(0), "ünï")),
    "datetime in a zone": dt.datetime(2026, 1, 2, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")),
    "Decimal": decimal.Decimal("-1.50"),
    "Decimal, signalling": decimal.Decimal("-0E+7"),
    "Fraction": fractions.Fraction(-3, 7),
    "Fraction, whole": fractions.Fraction(0),
    "Fraction beyond 64 bits": fractions.Fraction(2**70, 3**50),
    "UUID": uuid.UUID(int=0),
    "UUID, highest": uuid.UUID(int=2**128 - 1),
    "UUID, safe": uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe),
    "IPv4": ipaddress.ip_address("0.0.0.0"),
    "IPv4, highest": ipaddress.ip_address("255.255.255.255"),
    "IPv6": ipaddress.ip_address("::"),
    "IPv6, mapped": ipaddress.ip_address("::ffff:1.2.3.4"),
    "IPv6 with a scope": ipaddress.ip_address("fe80::1%eth0"),
    "network": ipaddress.ip_network("10.0.0.0/8"),
    "interface": ipaddress.ip_interface("::1/64"),
    "path": pathlib.PurePosixPath("a/ü"),
    "pattern": re.compile("a+", re.I),
    "range": range(3, 10, 2),
    "range beyond 64 bits": range(2**70, 2**71),
    "str subclass": Word("wört"),
    "empty str subclass": Word(""),
    "int subclass": Number(2**80),
    "small int subclass": Number(7),
    "float subclass": Ratio(-0.0),
    "bytes subclass": Blob(b"\x00\xff"),
    "complex subclass": Plane(1, -0.0),
    "tuple": (1, None, "a"),
}
OTHERS = {
    "slice": slice(None, 3, None),
    "slice of tuples": slice((1, 2), [3]),
    "array": array.array("d", [1.5]),
    "array of longs": array.array("l", [-1, 2]),
    "empty array": array.array("B"),
    "array of characters": array.array("u", "aü"),
    "deque": collections.deque([1, "a", None], 5),
    "deque of lists": collections.deque([1, [2], 3]),
    "Counter": collections.Counter("abca"),
    "OrderedDict": collections.OrderedDict(b=1, a=2),
    "defaultdict of lists": collections.defaultdict(list, a=[1]),
    "defaultdict without a factory": collections.defaultdict(None, a=1),
    "proxy": types.MappingProxyType({"a": 1}),
    "list of leaves": [1, "a", None, 2.5],
    "list that begins with leaves": [1, "a", [2], None],
    "error": ValueError("a", 3),
    "error without arguments": KeyError(),
    "error with a list": ValueError([1], "b"),
    "error of the user's": Failure(b"x", 1j),
    "OSError": OSError(2, "no", "file"),
}
ALL = {**HASHABLE, **OTHERS}


def again(value):
    return holdall.loads(holdall.dumps(value), types=TYPES)


@each("name", list(ALL))
def test_alone_and_together(name):
    value = ALL[name]
    for whole in (value, [value], [value] * 3, (value, [value]), {"a": value, "b": [value]}):
        isomorphic(whole, again(whole))


@each("name", list(ALL))
def test_ids_that_follow_stay_right(name):
    # What was read in vain before a frame began must not count as objects.
    shared = ["shared"]
    text = "".join(["sh", "ared"])
    whole = [text, ALL[name], shared, text, [ALL[name]], shared]
    isomorphic(whole, again(whole))


@each("name", list(HASHABLE))
def test_as_keys(name):
    value = HASHABLE[name]
    for whole in (
        {value: 1},
        {(value, 1): value},
        {value},
        frozenset([value, "a"]),
        {(value, (value,)): [value]},
    ):
        isomorphic(whole, again(whole))


@each("name", list(ALL))
def test_without_references_and_canonical(name):
    value = ALL[name]
    isomorphic(value, holdall.loads(holdall.dumps(value, refs=False), types=TYPES), identity=False)
    canonical = holdall.dumps([value], canonical=True)
    assert holdall.dumps(holdall.loads(canonical, types=TYPES), canonical=True) == canonical


def test_parts_that_are_shared():
    zone, text, name = dt.timezone(dt.timedelta(hours=5)), "".join(["1", ".5"]), "".join(["na", "me"])
    whole = [
        dt.time(1, tzinfo=zone),
        dt.datetime(2026, 1, 1, tzinfo=zone),
        zone,
        slice(text, text, text),
        slice(zone, [zone], text),
        dt.timezone(dt.timedelta(hours=1), name),
        name,
        ValueError(text, name),
        text,
    ]
    isomorphic(whole, again(whole))
    made = again(whole)
    assert made[0].tzinfo is made[1].tzinfo is made[2]
    assert made[3].start is made[3].step is made[8] is made[7].args[0]


def test_containers_that_hold_themselves_after_leaves():
    ring: list = [1, "a"]
    ring.append(ring)
    queue: collections.deque = collections.deque([1, "a"])
    queue.append(queue)
    table: collections.defaultdict = collections.defaultdict(list)
    table["me"] = table
    error = ValueError(1, "a")
    error.args = (1, error)
    inner: list = [3]
    pair = (1, "a", inner)
    inner.append(pair)
    for whole in (ring, queue, table, error, pair):
        isomorphic(whole, again(whole))


def test_every_date_of_some_years_and_the_first_of_all():
    days = range(dt.date(1899, 12, 30).toordinal(), dt.date(2001, 1, 2).toordinal())
    dates = [dt.date.fromordinal(day) for day in days]
    assert again(dates) == dates
    ends = [dt.date(year, month, 1) for year in range(1, 10_000) for month in (1, 2, 3, 12)]
    ends += [day - dt.timedelta(1) for day in ends[1:]]
    assert again(ends) == ends


@each("name", list(ALL))
def test_every_prefix_and_every_changed_byte_fails_cleanly(name):
    stored = holdall.dumps([ALL[name], ALL[name]])
    for end in range(len(stored)):
        with pytest.raises(holdall.DecodeError):
            holdall.loads(stored[:end], types=TYPES)
    for at in range(1, len(stored)):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            damaged = bytearray(stored)
            damaged[at] ^= flip
            with contextlib.suppress(holdall.HoldallError):
                holdall.loads(damaged, types=TYPES)


# Known types by their numbers, and what their parts are.
MALFORMED = {
    "a date of no day": ("d6 01 00", "a value that Date does not take"),
    "a date that is text": ("d6 01 41 61", "a value that Date does not take"),
    "a time of text": ("d6 02 41 61 aa", "a value that Time does not take"),
    "a date after the last": ("d6 01 b0 ff ff ff ff 00 00 00 00", "a value that Date does not take"),
    "a timedelta of text": ("d6 03 41 61", "a value that Timedelta does not take"),
}


@each("name", list(MALFORMED))
def test_malformed_parts(name):
    stored, said = MALFORMED[name]
    with pytest.raises(holdall.DecodeError) as raised:
        holdall.loads(b"\xc1" + bytes.fromhex(stored))
    assert said in str(raised.value)


def test_budgets_count_what_needs_no_frame():
    made = [dt.date.min] * 3 + [dt.date.max, ValueError("a"), (1, "a"), Word("w")]
    values = [type(value)(*value.args) if isinstance(value, ValueError) else value for value in made]
    stored = holdall.dumps(values)
    with pytest.raises(holdall.LimitError, match="limits.objects=5"):
        holdall.loads(stored, types=TYPES, limits=holdall.Limits(objects=5))
    with pytest.raises(holdall.LimitError, match="limits.bytes=300"):
        holdall.loads(stored, types=TYPES, limits=holdall.Limits(bytes=300))
    assert holdall.loads(stored, types=TYPES, limits=holdall.Limits(objects=100))[3] == dt.date.max


def test_slots_that_hold_other_values_are_not_taken_for_numbers() -> None:
    for value in ("x", 2.5, None, -1, 1 << 40):
        address = ipaddress.IPv4Address("1.2.3.4")
        address._ip = value  # type: ignore[assignment]
        # What the class itself says of such an address, which is no text of one.
        with pytest.raises((AttributeError, OverflowError, TypeError, holdall.HoldallError)):
            holdall.loads(holdall.dumps(address))
