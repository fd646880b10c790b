"""`holdall.msgpack`: its functions and classes, how types are written, and values of its own."""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import io
import ipaddress
import pathlib
import pickle
import random
import re
import subprocess
import sys
import time
import types
import typing
import uuid
import zoneinfo

import pytest

import holdall
from holdall import _core, msgpack
from holdall.msgpack import Ext, Reader, Timestamp
from tests.support.each import each
from tests.support.messages import VALUES

UTC = datetime.timezone.utc


# --- the module ---


def test_the_module_comes_when_it_is_asked_for():
    program = (
        "import sys, holdall; before = 'holdall.msgpack' in sys.modules;"
        "print(before, holdall.msgpack.loads(b'\\x01'), 'msgpack' in dir(holdall), 'msgpack' in holdall.__all__)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "1", "True", "False"]


def test_the_names_are_those_of_holdall():
    shared = {"dumps", "loads", "dump", "load", "Encoder", "Decoder"}
    assert shared <= set(msgpack.__all__) & set(holdall.__all__)
    assert msgpack.dumps is _core.msgpack_dumps
    assert msgpack.Decoder is _core.MsgpackDecoder


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_way_gives_the_same_bytes_and_objects(value, tmp_path):
    data = msgpack.dumps(value)
    loaded = msgpack.loads(data)
    encoder, decoder = msgpack.Encoder(), msgpack.Decoder()
    assert encoder.encode(value) == data
    buffer = bytearray(b"head")
    assert encoder.encode_into(value, buffer, 4) == 4 + len(data)
    assert buffer == b"head" + data
    for kind in (bytes, bytearray, memoryview):
        assert decoder.decode(kind(data)) == loaded == msgpack.loads(kind(data))
    msgpack.dump(value, tmp_path / "value")
    assert (tmp_path / "value").read_bytes() == data
    assert msgpack.load(tmp_path / "value") == loaded


def test_options_of_dumps(tmp_path):
    class Odd:
        __slots__ = ("__weakref__",)

        def __reduce__(self):
            raise AssertionError("not asked")

    def hook(obj):
        return f"a {type(obj).__name__}"

    expected = msgpack.dumps(["a Odd"])
    assert msgpack.dumps([Odd()], enc_hook=hook) == expected
    assert msgpack.Encoder(enc_hook=hook).encode([Odd()]) == expected
    msgpack.dump([Odd()], tmp_path / "odd", enc_hook=hook)
    assert (tmp_path / "odd").read_bytes() == expected
    with pytest.raises(holdall.EncodeError, match="Odd"):
        msgpack.dumps([Odd()])


def test_options_of_loads(tmp_path):
    data = msgpack.dumps([[[Ext(1, b"ab")]]])
    (tmp_path / "data").write_bytes(data)

    def hook(code, data):
        return (code, data)

    ways = [
        lambda **options: msgpack.loads(data, **options),
        lambda **options: msgpack.Decoder(**options).decode(data),
        lambda **options: msgpack.load(tmp_path / "data", **options),
        lambda **options: msgpack.load(io.BytesIO(data), **options),
        lambda **options: next(Reader(io.BytesIO(data), **options)),
    ]
    for way in ways:
        assert way() == [[[Ext(1, b"ab")]]]
        assert way(ext_hook=hook) == [[[(1, b"ab")]]]
        with pytest.raises(holdall.LimitError):
            way(limits=holdall.Limits(depth=2))
        with pytest.raises(holdall.ValidationError, match=r"- at `\$\[0\]`"):
            way(type=list[int])


def test_options_of_the_decoder():
    data = msgpack.dumps({"a": [b"x", Timestamp(1, 5)]})
    moment = datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert msgpack.Decoder().decode(data) == {"a": [b"x", moment]}
    assert msgpack.Decoder(raw=True).decode(data) == {b"a": [b"x", moment]}
    assert msgpack.Decoder(use_list=False).decode(data) == {"a": (b"x", moment)}
    assert msgpack.Decoder(timestamps=True).decode(data) == {"a": [b"x", Timestamp(1, 5)]}


@pytest.mark.parametrize("key", [1, None, 2.5, (1,), True])
def test_strict_map_key(key):
    data = msgpack.dumps([{"a": {key: 1}}])
    with pytest.raises(holdall.DecodeError):
        msgpack.Decoder(strict_map_key=True).decode(data)
    if key != (1,):
        assert msgpack.loads(data) == [{"a": {key: 1}}]
    for fine in ("text", b"bytes"):
        assert msgpack.Decoder(strict_map_key=True).decode(msgpack.dumps({fine: 1})) == {fine: 1}


def test_what_the_format_lacks():
    shared = [1]
    first, second = msgpack.loads(msgpack.dumps([shared, shared]))
    assert first == second == [1]
    assert first is not second
    cycle = []
    cycle.append({"again": cycle})
    with pytest.raises(holdall.EncodeError):
        msgpack.dumps(cycle)


def test_every_prefix_is_truncated():
    data = msgpack.dumps(VALUES[:8])
    for end in range(len(data)):
        with pytest.raises(holdall.TruncatedError):
            msgpack.loads(data[:end])
    with pytest.raises(holdall.DecodeError, match="left over"):
        msgpack.loads(data + b"\xc0")


# --- how types are written ---


@dataclasses.dataclass
class Track:
    title: str
    seconds: int = 90


class Plain:
    def __init__(self):
        self.a = [1]


class Slotted:
    __slots__ = ("a",)

    def __init__(self):
        self.a = [1]


class Pair(typing.NamedTuple):
    left: int
    right: int


class Colour(enum.Enum):
    RED = "red"


class Name(str):
    pass


class Table(dict):
    pass


MOMENT = datetime.datetime(2018, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
EAST = datetime.timezone(datetime.timedelta(hours=2))
# What is written just as something of the format's own types is.
WRITTEN_AS = [
    (bytearray(b"ab"), b"ab"),
    (memoryview(b"abcd")[::2], b"ac"),
    (pickle.PickleBuffer(b"ab"), b"ab"),
    ((1, (2,)), [1, [2]]),
    ({5}, [5]),
    (frozenset((5,)), [5]),
    (collections.deque((1, 2)), [1, 2]),
    (array.array("d", (1.5, 2.5)), [1.5, 2.5]),
    (Pair(1, 2), [1, 2]),
    (1 + 2j, [1.0, 2.0]),
    (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (collections.defaultdict(list, a=[1]), {"a": [1]}),
    (collections.Counter("aab"), {"a": 2, "b": 1}),
    (types.MappingProxyType({"a": 1}), {"a": 1}),
    (MOMENT, Timestamp(1_514_862_245, 678_901_000)),
    (MOMENT.astimezone(EAST), Timestamp(1_514_862_245, 678_901_000)),
    (MOMENT.replace(tzinfo=None), "2018-01-02T03:04:05.678901"),
    (MOMENT.date(), "2018-01-02"),
    (datetime.time(3, 4, 5), "03:04:05"),
    (datetime.timedelta(days=1, seconds=2, microseconds=500_000), "P1DT2.5S"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (decimal.Decimal("1.50"), "1.50"),
    (fractions.Fraction(1, 3), "1/3"),
    (pathlib.PurePosixPath("/a/b"), "/a/b"),
    (ipaddress.ip_address("::1"), "::1"),
    (ipaddress.ip_network("10.0.0.0/8"), "10.0.0.0/8"),
    (zoneinfo.ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
    (re.compile("a+"), "a+"),
    (re.compile(b"a+"), b"a+"),
    (Colour.RED, "red"),
    (enum.IntFlag("Flags", "A B")(3), 3),
    (Track("Intro"), {"title": "Intro", "seconds": 90}),
    (Plain(), {"a": [1]}),
    (Slotted(), {"a": [1]}),
    (holdall.Record("shop.Item", {"a": 1}), {"a": 1}),
    (Name("x"), "x"),
    (Table(a=1), {"a": 1}),
]
REFUSED = [
    2**64,
    -(2**63) - 1,
    "\ud800",
    range(3),
    slice(3),
    re.compile("a", re.IGNORECASE),
    EAST,
    ValueError("x"),
    len,
    lambda: 1,
    int,
    enum,
    functools.partial(len),
]


@each(("value", "written"), WRITTEN_AS, ids=lambda value: type(value).__name__)
def test_how_types_are_written(value, written):
    for way in (lambda inner: inner, lambda inner: [inner], lambda inner: {"a": {"b": inner}}):
        assert msgpack.dumps(way(value)) == msgpack.dumps(way(written))


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_is_not_written(value):
    for held in (value, [value], {"a": value}):
        with pytest.raises(holdall.EncodeError):
            msgpack.dumps(held)
    assert msgpack.dumps([object], enc_hook=lambda obj: 5) == b"\x91\x05"


def test_numpy_is_written_as_nested_arrays():
    np = pytest.importorskip("numpy")
    assert msgpack.dumps(np.arange(4).reshape(2, 2)) == msgpack.dumps([[0, 1], [2, 3]])
    assert msgpack.dumps(np.array([1.5, np.nan], dtype=np.float32)) == msgpack.dumps([1.5, np.nan])
    assert msgpack.dumps([np.int8(-5), np.float32(1.5), np.bool_(True)]) == msgpack.dumps([-5, 1.5, True])


# --- Ext and Timestamp ---


@pytest.mark.parametrize("value", [Ext(-128, b""), Timestamp(-5, 999_999_999)], ids=repr)
def test_values_are_frozen_and_copy(value):
    name = type(value).__match_args__[0]
    with pytest.raises(AttributeError, match="can't be changed"):
        setattr(value, name, 1)
    with pytest.raises(AttributeError, match="can't be changed"):
        delattr(value, name)
    with pytest.raises(AttributeError, match="can't be changed"):
        value.other = 1
    assert not hasattr(value, "__dict__")
    for same in (
        copy.copy(value),
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
        holdall.deepcopy(value),
    ):
        assert type(same) is type(value)
        assert same == value
        assert hash(same) == hash(value)
        assert repr(same) == repr(value)


def test_ext():
    ext = Ext(code=5, data=b"abc")
    assert repr(ext) == "Ext(code=5, data=b'abc')"
    assert (ext.code, ext.data) == (5, b"abc")
    assert ext != Ext(5, b"abd")
    assert ext != Ext(6, b"abc")
    assert ext != (5, b"abc")
    match ext:
        case Ext(code, data):
            assert (code, data) == (5, b"abc")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((128, b""), ValueError, "Ext: code: expected -128 to 127, got 128"),
        ((-129, b""), ValueError, "Ext: code: expected -128 to 127, got -129"),
        (("1", b""), TypeError, "Ext: code: expected int, got str"),
        ((True, b""), TypeError, "Ext: code: expected int, got bool"),
        ((1, "abc"), TypeError, "Ext: data: expected bytes, got str"),
    ],
)
def test_what_is_no_ext(arguments, error, text):
    with pytest.raises(error) as caught:
        Ext(*arguments)
    assert str(caught.value) == text


@each("code", [-128, -2, 0, 127])
@each("size", [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 255, 256, 65_535, 65_536])
def test_ext_of_every_size(code, size):
    ext = Ext(code, bytes(size))
    assert msgpack.loads(msgpack.dumps(ext)) == ext


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1.5,), TypeError, "Timestamp: seconds: expected int, got float"),
        ((1, True), TypeError, "Timestamp: nanoseconds: expected int, got bool"),
        ((1, -1), ValueError, "Timestamp: nanoseconds: expected 0 to 999,999,999"),
        ((1, 10**9), ValueError, "Timestamp: nanoseconds: expected 0 to 999,999,999"),
        ((2**63,), ValueError, "Timestamp: seconds: expected an int of 64 bits"),
        ((-(2**63) - 1,), ValueError, "Timestamp: seconds: expected an int of 64 bits"),
    ],
)
def test_what_is_no_timestamp(arguments, error, text):
    with pytest.raises(error) as caught:
        Timestamp(*arguments)
    assert str(caught.value) == text


def test_timestamps_are_ordered():
    in_order = [Timestamp(-2, 5), Timestamp(-1), Timestamp(0), Timestamp(0, 1), Timestamp(1)]
    shuffled = in_order[:]
    random.Random(1).shuffle(shuffled)
    assert sorted(shuffled) == in_order
    for i, a in enumerate(in_order):
        for j, b in enumerate(in_order):
            assert (a < b, a <= b, a > b, a >= b, a == b) == (i < j, i <= j, i > j, i >= j, i == j)
    assert Timestamp(1) != 1
    with pytest.raises(TypeError):
        Timestamp(1) < 2  # noqa: B015


def test_data_of_any_kind_is_kept_as_bytes():
    for data in (b"abc", bytearray(b"abc"), memoryview(b"a-b-c")[::2]):
        made = Ext(1, data)
        assert made == Ext(1, b"abc") and type(made.data) is bytes and hash(made) == hash(Ext(1, b"abc"))


@each("seconds", [0, 2**32 - 1, 2**32, 2**34 - 1, 2**34, -1, 2**63 - 1, -(2**63)])
@each("nanoseconds", [0, 1, 999_999_999])
def test_timestamps_as_their_data(seconds, nanoseconds):
    import msgpack as msgpack_python

    stamp = Timestamp(seconds, nanoseconds)
    assert msgpack.dumps(stamp).endswith(stamp.to_bytes()) and len(stamp.to_bytes()) in (4, 8, 12)
    assert (
        Timestamp.from_bytes(stamp.to_bytes()) == Timestamp.from_bytes(bytearray(stamp.to_bytes())) == stamp
    )
    assert stamp.to_bytes() == msgpack_python.Timestamp(seconds, nanoseconds).to_bytes()


@pytest.mark.parametrize("data", [b"", b"abc", b"\xff" * 8, b"\xff" * 12, b"abcde", b"0" * 16])
def test_data_of_no_timestamp(data):
    with pytest.raises(ValueError):
        Timestamp.from_bytes(data)


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        (Timestamp(0), datetime.datetime(1970, 1, 1, tzinfo=UTC)),
        (Timestamp(-1, 999_999_999), datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (Timestamp(0, 1_999), datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (Timestamp(253_402_300_799, 999_999_000), datetime.datetime.max.replace(tzinfo=UTC)),
        (Timestamp(-62_135_596_800), datetime.datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_timestamps_and_datetimes(stamp, moment):
    assert stamp.to_datetime() == moment
    # What is read is rounded, and as far as there are datetimes.
    rounded = msgpack.loads(msgpack.dumps(stamp))
    assert (
        rounded == moment
        if stamp.nanoseconds % 1000 < 500
        else rounded == moment + datetime.timedelta(microseconds=1)
    )
    whole = Timestamp(stamp.seconds, stamp.nanoseconds // 1000 * 1000)
    assert Timestamp.from_datetime(moment) == whole
    assert msgpack.Decoder(timestamps=True).decode(msgpack.dumps(moment)) == whole


def test_a_datetime_of_another_zone_and_of_none():
    east = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    moment = datetime.datetime(2020, 5, 17, 12, 30, tzinfo=east)
    assert Timestamp.from_datetime(moment) == Timestamp.from_datetime(moment.astimezone(UTC))
    local = datetime.datetime(2020, 5, 17, 12, 30)
    assert Timestamp.from_datetime(local).to_unix() == local.timestamp()


def test_a_timestamp_beyond_datetime():
    stamp = Timestamp(2**40, 5)
    with pytest.raises(OverflowError):
        stamp.to_datetime()
    with pytest.raises(holdall.DecodeError):
        msgpack.loads(msgpack.dumps(stamp))
    assert msgpack.Decoder(timestamps=True).decode(msgpack.dumps(stamp)) == stamp


def test_unix_time():
    assert Timestamp.from_unix(3) == Timestamp(3)
    assert Timestamp.from_unix(1.5) == Timestamp(1, 500_000_000)
    assert Timestamp.from_unix(-1.25) == Timestamp(-2, 750_000_000)
    assert Timestamp.from_unix(-1e-20) == Timestamp(0)
    assert Timestamp(-2, 750_000_000).to_unix() == -1.25
    now = time.time_ns()
    assert Timestamp.from_unix_nano(now).to_unix_nano() == now
    assert Timestamp.from_unix_nano(-1) == Timestamp(-1, 999_999_999)


@each("seconds", [0, 1, 2**32 - 1, 2**32, 2**34 - 1, 2**34, 2**63 - 1, -1, -(2**63)])
@each("nanoseconds", [0, 1, 999_999_999])
def test_timestamps_take_the_shortest_form(seconds, nanoseconds):
    stamp = Timestamp(seconds, nanoseconds)
    data = msgpack.dumps(stamp)
    if 0 <= seconds < 2**32 and not nanoseconds:
        assert len(data) == 6
    else:
        assert len(data) == (10 if 0 <= seconds < 2**34 else 15)
    assert msgpack.Decoder(timestamps=True).decode(data) == stamp
