"""More than a hundred kinds of values, each a function that makes one from a generator of random numbers.

Content is new in each run, so that no kind is a constant that a fast path was built for.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo
from collections.abc import Callable
from random import Random
from typing import Any

from . import kind_classes as classes

Make = Callable[[Random], Any]

# --- texts and numbers ---

ALPHABETS = {
    "ascii": [chr(code) for code in range(32, 127)],
    "latin": [chr(code) for code in range(0xC0, 0x100)] + list("abcdefgh "),
    "cyrillic": [chr(code) for code in range(0x410, 0x450)],
    "chinese": [chr(code) for code in range(0x4E00, 0x9FA5)],
    "emoji": [chr(code) for code in range(0x1F300, 0x1F600)],
}
MIXED = ALPHABETS["ascii"] * 20 + ALPHABETS["latin"] + ALPHABETS["chinese"][:200] + ALPHABETS["emoji"][:20]
ZONES = ("Europe/Prague", "America/New_York", "Asia/Tokyo", "Australia/Sydney", "Africa/Cairo", "UTC")


def text(letters: list[str], least: int, most: int) -> Make:
    return lambda r: "".join(r.choices(letters, k=r.randint(least, most)))


def word(r: Random) -> str:
    return "".join(r.choices("abcdefghijklmnopqrstuvwxyz", k=r.randint(3, 12)))


def integer(least: int, most: int) -> Make:
    return lambda r: r.randint(least, most)


def big(bits: int) -> Make:
    return lambda r: r.choice((1, -1)) * (r.getrandbits(bits) | 1 << (bits - 1))


def any_int(r: Random) -> int:
    return r.getrandbits(r.randint(1, 62)) * r.choice((1, -1))


def number(r: Random) -> float:
    return r.uniform(-1e6, 1e6)


def scalar(r: Random) -> Any:
    return r.choice((any_int, number, word, lambda r: r.random() < 0.5, lambda r: None))(r)


def blob(least: int, most: int) -> Make:
    return lambda r: r.randbytes(r.randint(least, most))


# --- dates and times ---


def date(r: Random) -> datetime.date:
    return datetime.date.fromordinal(r.randint(1, 3_652_059))


def time_of(zone: Callable[[Random], datetime.tzinfo | None]) -> Make:
    return lambda r: datetime.time(
        r.randrange(24), r.randrange(60), r.randrange(60), r.randrange(10**6), zone(r)
    )


def moment_of(zone: Callable[[Random], datetime.tzinfo | None]) -> Make:
    def make(r: Random) -> datetime.datetime:
        day = datetime.datetime(r.randint(1, 9999), r.randint(1, 12), r.randint(1, 28))
        clock = datetime.timedelta(microseconds=r.randrange(86_400 * 10**6))
        return (day + clock).replace(tzinfo=zone(r))

    return make


def delta(r: Random) -> datetime.timedelta:
    return datetime.timedelta(r.randint(-(10**6), 10**6), r.randrange(86_400), r.randrange(10**6))


def offset(r: Random) -> datetime.timezone:
    return datetime.timezone(datetime.timedelta(minutes=r.randint(-1_439, 1_439)))


def named_offset(r: Random) -> datetime.timezone:
    return datetime.timezone(datetime.timedelta(minutes=r.randint(-1_439, 1_439)), word(r))


def zone_of_day(r: Random) -> datetime.timezone:
    """Whole hours, as nearly all offsets in use are."""
    return datetime.timezone(datetime.timedelta(hours=r.randint(-11, 14)))


def zone(r: Random) -> zoneinfo.ZoneInfo:
    return zoneinfo.ZoneInfo(r.choice(ZONES))


# --- containers ---


def many(item: Make, least: int, most: int, of: Callable[[Any], Any] = list) -> Make:
    return lambda r: of([item(r) for _ in range(r.randint(least, most))])


def fixed(keys: str, value: Make) -> Make:
    return lambda r: {key: value(r) for key in keys.split()}


def some_keys(r: Random) -> dict[str, Any]:
    return {key: any_int(r) for key in ("id", "name", "size", "owner", "tags", "parent") if r.random() < 0.6}


def keyed(key: Make, value: Make, least: int, most: int, of: Callable[[Any], Any] = dict) -> Make:
    return lambda r: of({key(r): value(r) for _ in range(r.randint(least, most))})


def person(r: Random) -> dict[str, Any]:
    return {
        "id": any_int(r),
        "name": word(r),
        "scores": [number(r), number(r)],
        "home": {"city": word(r), "no": r.randrange(200)},
    }


def defaults(r: Random) -> Any:
    return collections.defaultdict(list, {word(r): [any_int(r)] for _ in range(3)})


def counter(r: Random) -> Any:
    return collections.Counter(r.choices("abcdef", k=20))


def chained(r: Random) -> Any:
    return collections.ChainMap({word(r): 1}, {word(r): 2})


# --- classes ---


def fields(r: Random) -> tuple[int, str, float]:
    return any_int(r), word(r), number(r)


def of(cls: Callable[..., Any]) -> Make:
    return lambda r: cls(*fields(r))


def optional(r: Random) -> classes.Optional:
    made = classes.Optional()
    vars(made).update(some_keys(r))
    return made


def wide(r: Random) -> classes.Wide:
    a, b, c = fields(r)
    return classes.Wide(
        a, b, c, r.random() < 0.5, None, any_int(r), word(r), number(r), any_int(r), word(r), word(r), word(r)
    )


def nested(r: Random) -> classes.Nested:
    return classes.Nested(any_int(r), of(classes.Record)(r), many(of(classes.Record), 1, 3)(r))


def named_name(r: Random) -> classes.NamedName:
    made = classes.NamedName(word(r))
    made.origin = word(r)
    return made


def error(cls: Callable[..., Exception], *more: Make) -> Make:
    return lambda r: cls(word(r), *(make(r) for make in more))


def os_error(r: Random) -> OSError:
    return OSError(r.randint(1, 30), word(r), word(r))


def address(cls: Callable[[int], Any], bits: int) -> Make:
    return lambda r: cls(r.getrandbits(bits))


def network(r: Random) -> Any:
    return ipaddress.ip_network((r.getrandbits(32), r.randint(8, 32)), strict=False)


def path(cls: type) -> Make:
    return lambda r: cls("/".join(word(r) for _ in range(r.randint(1, 5))))


def pattern(r: Random) -> re.Pattern[str]:
    return re.compile(r.choice(PATTERNS))


PATTERNS = (r"\d+", r"[a-z]+@[a-z]+", r"^\s*#", r"(a|b)*c", r"\w{3,5}")
PLAIN = {
    "None": lambda r: None,
    "bool": lambda r: r.random() < 0.5,
    "int below 128": integer(0, 127),
    "int of 2 bytes": integer(256, 65_535),
    "int of 4 bytes": integer(-(2**31), 2**31),
    "int of 8 bytes": integer(-(2**62), 2**62),
    "int of all sizes": any_int,
    "int of 64-70 bits": lambda r: big(r.randint(64, 70))(r),
    "int of 200 bits": big(200),
    "int of 2,000 bits": big(2_000),
    "float": number,
    "float, whole": lambda r: float(r.randint(-1000, 1000)),
    "complex": lambda r: complex(number(r), number(r)),
    "str, empty": lambda r: "",
    "str of 1": text(ALPHABETS["ascii"], 1, 1),
    "str of 3-12": word,
    "str of 50": text(ALPHABETS["ascii"], 50, 50),
    "str of 600": text(ALPHABETS["ascii"], 500, 700),
    "str, Latin-1, short": text(ALPHABETS["latin"], 3, 12),
    "str, Latin-1, 500": text(ALPHABETS["latin"], 400, 600),
    "str, Cyrillic, short": text(ALPHABETS["cyrillic"], 3, 12),
    "str, Cyrillic, 500": text(ALPHABETS["cyrillic"], 400, 600),
    "str, Chinese, short": text(ALPHABETS["chinese"], 2, 8),
    "str, Chinese, 500": text(ALPHABETS["chinese"], 400, 600),
    "str, emoji, short": text(ALPHABETS["emoji"], 1, 5),
    "str, mixed, 100": text(MIXED, 80, 120),
    "bytes, empty": lambda r: b"",
    "bytes of 20": blob(20, 20),
    "bytes of 1-100": blob(1, 100),
    "bytes of 5,000": blob(4_000, 6_000),
    "bytearray": lambda r: bytearray(blob(1, 60)(r)),
}
CONTAINERS = {
    "list, empty": lambda r: [],
    "list of one": many(any_int, 1, 1),
    "list of two": many(scalar, 2, 2),
    "list of ints": many(integer(-1000, 1000), 3, 30),
    "list of floats": many(number, 3, 30),
    "list of texts": many(word, 3, 10),
    "list of mixed": many(scalar, 3, 10),
    "list of lists": many(many(any_int, 0, 3), 1, 4),
    "tuple, empty": lambda r: (),
    "tuple of one": many(word, 1, 1, tuple),
    "tuple of two": many(scalar, 2, 2, tuple),
    "tuple of three ints": many(any_int, 3, 3, tuple),
    "tuple of 3-10": many(scalar, 3, 10, tuple),
    "tuple of tuples": many(many(any_int, 1, 3, tuple), 1, 4, tuple),
    "dict, empty": lambda r: {},
    "dict of one key": fixed("name", word),
    "dict of two keys": fixed("a b", any_int),
    "dict of ten keys": fixed("a b c d e f g h i j", scalar),
    "dict, optional keys": some_keys,
    "dict, random keys": keyed(word, any_int, 3, 8),
    "dict, one random key": keyed(word, word, 1, 1),
    "dict, int keys": keyed(any_int, word, 3, 8),
    "dict, float keys": keyed(number, word, 3, 8),
    "dict, tuple keys": keyed(many(any_int, 2, 2, tuple), word, 3, 8),
    "dict, bytes keys": keyed(blob(4, 8), any_int, 3, 8),
    "dict, date keys": keyed(date, number, 3, 8),
    "dict of dicts": person,
    "dict of lists": keyed(word, many(any_int, 0, 3), 2, 4),
    "set, empty": lambda r: set(),
    "set of ints": many(any_int, 2, 10, set),
    "set of texts": many(word, 2, 10, set),
    "frozenset": many(any_int, 2, 10, frozenset),
    "frozenset of one": many(word, 1, 1, frozenset),
}
LIBRARY = {
    "date": date,
    "time": time_of(lambda r: None),
    "time with an offset": time_of(zone_of_day),
    "timedelta": delta,
    "datetime": moment_of(lambda r: None),
    "datetime, UTC": moment_of(lambda r: datetime.timezone.utc),
    "datetime, offset of hours": moment_of(zone_of_day),
    "datetime, any offset": moment_of(offset),
    "datetime, named offset": moment_of(named_offset),
    "datetime, ZoneInfo": moment_of(zone),
    "timezone": offset,
    "ZoneInfo": zone,
    "Decimal": lambda r: decimal.Decimal(r.randint(-(10**9), 10**9)).scaleb(-r.randrange(6)),
    "Decimal of 60 digits": lambda r: decimal.Decimal(big(200)(r)),
    "Fraction": lambda r: fractions.Fraction(r.randint(-(10**6), 10**6), r.randint(1, 10**6)),
    "UUID": lambda r: uuid.UUID(int=r.getrandbits(128)),
    "IPv4Address": address(ipaddress.IPv4Address, 32),
    "IPv6Address": address(ipaddress.IPv6Address, 128),
    "IPv4Network": network,
    "PurePosixPath": path(pathlib.PurePosixPath),
    "PureWindowsPath": path(pathlib.PureWindowsPath),
    "Path": path(pathlib.Path),
    "Pattern": pattern,
    "range": lambda r: range(r.randrange(100), any_int(r), r.randint(1, 9)),
    "slice": lambda r: slice(r.randrange(100), any_int(r), None),
    "array of doubles": lambda r: array.array("d", many(number, 3, 30)(r)),
    "array of shorts": lambda r: array.array("h", many(integer(-999, 999), 3, 30)(r)),
    "deque": many(any_int, 2, 8, collections.deque),
    "deque with a maxlen": many(scalar, 2, 8, lambda items: collections.deque(items, 20)),
    "OrderedDict": keyed(word, any_int, 2, 6, collections.OrderedDict),
    "defaultdict": defaults,
    "Counter": counter,
    "ChainMap": chained,
    "SimpleNamespace": lambda r: types.SimpleNamespace(ident=any_int(r), name=word(r)),
}
CLASSES = {
    "class": of(classes.Plain),
    "class, optional attributes": optional,
    "class with slots": of(classes.Slotted),
    "class with slots and dict": of(classes.Derived),
    "dataclass": of(classes.Record),
    "dataclass, frozen": of(classes.Frozen),
    "dataclass, slots": of(classes.SlottedRecord),
    "dataclass, frozen, slots": of(classes.FrozenSlotted),
    "dataclass of twelve": wide,
    "dataclass, nested": nested,
    "NamedTuple": lambda r: classes.Point(number(r), number(r), word(r)),
    "namedtuple": lambda r: classes.Pair(any_int(r), scalar(r)),
    "Enum": lambda r: r.choice(list(classes.Color)),
    "IntEnum": lambda r: r.choice(list(classes.Level)),
    "Flag": lambda r: classes.Access(r.randrange(1, 16)),
    "str subclass": lambda r: classes.Name(word(r)),
    "str subclass with attribute": named_name,
    "int subclass": lambda r: classes.Count(any_int(r)),
    "float subclass": lambda r: classes.Measure(number(r)),
    "bytes subclass": lambda r: classes.Blob(blob(1, 40)(r)),
    "bytearray subclass": lambda r: classes.Buffer(blob(1, 40)(r)),
    "list subclass": many(any_int, 2, 6, classes.Items),
    "dict subclass": keyed(word, any_int, 2, 6, classes.Table),
    "tuple subclass": many(any_int, 3, 3, classes.Triple),
    "set subclass": many(any_int, 2, 6, classes.Group),
    "frozenset subclass": many(any_int, 2, 6, classes.FrozenGroup),
    "OrderedDict subclass": keyed(word, any_int, 2, 6, classes.Ordered),
    "defaultdict subclass": lambda r: classes.Defaults(list, {word(r): [any_int(r)]}),
    "deque subclass": many(any_int, 2, 6, classes.Queue),
    "ValueError": error(ValueError),
    "KeyError of two": error(KeyError, any_int),
    "OSError": os_error,
    "exception": error(classes.Failure),
    "exception with attributes": error(classes.Refusal, any_int),
}
# By what type each is loaded in the typed rows: where people write one, and msgspec takes it.
TYPED: dict[str, Any] = {
    "bool": bool,
    "int of all sizes": int,
    "float": float,
    "str of 3-12": str,
    "str, Cyrillic, short": str,
    "bytes of 20": bytes,
    "list of ints": list[int],
    "list of floats": list[float],
    "list of texts": list[str],
    "list of lists": list[list[int]],
    "tuple of one": tuple[str],
    "tuple of three ints": tuple[int, int, int],
    "dict of two keys": dict[str, int],
    "dict, random keys": dict[str, int],
    "dict, int keys": dict[int, str],
    "dict of lists": dict[str, list[int]],
    "set of ints": set[int],
    "set of texts": set[str],
    "frozenset": frozenset[int],
    "date": datetime.date,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "datetime": datetime.datetime,
    "datetime, UTC": datetime.datetime,
    "datetime, any offset": datetime.datetime,
    "Decimal": decimal.Decimal,
    "UUID": uuid.UUID,
    "dataclass": classes.Record,
    "dataclass, frozen": classes.Frozen,
    "dataclass, slots": classes.SlottedRecord,
    "dataclass, frozen, slots": classes.FrozenSlotted,
    "dataclass of twelve": classes.Wide,
    "dataclass, nested": classes.Nested,
    "NamedTuple": classes.Point,
    "Enum": classes.Color,
    "IntEnum": classes.Level,
}
KINDS: dict[str, Make] = {**PLAIN, **CONTAINERS, **LIBRARY, **CLASSES}
USERS = [
    cls for cls in vars(classes).values() if isinstance(cls, type) and cls.__module__ == classes.__name__
]
