"""Value types of the standard library: edges of each, alone and shared, there and back on every way."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import fractions
import ipaddress
import pathlib
import re
import sys
import types
import uuid
import zoneinfo
from typing import Any, Callable

import pytest

import holdall
from tests.support import wire
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import STDLIB, Kind, text

Way = Callable[[object], Any]


@each("kind", STDLIB, ids=lambda kind: kind.name)
def test_kind(way: Way, kind: Kind) -> None:
    obj = kind.make()
    isomorphic(obj, way(obj))


@each("kind", STDLIB, ids=lambda kind: kind.name)
def test_kind_shared(way: Way, kind: Kind) -> None:
    obj = kind.make()
    graph = [obj, {"again": obj}, (obj, [kind.make()])]
    isomorphic(graph, way(graph))


ZONES: list[Any] = [
    None,
    dt.timezone.utc,
    dt.timezone(dt.timedelta(0), "zero"),
    dt.timezone(dt.timedelta(hours=23, minutes=59, seconds=59, microseconds=999999)),
    dt.timezone(-dt.timedelta(hours=23, minutes=59), "naïve"),
    zoneinfo.ZoneInfo("Europe/Berlin"),
    zoneinfo.ZoneInfo("Etc/GMT+12"),
]


@each("zone", ZONES, ids=str)
def test_datetimes(way: Way, zone: Any) -> None:
    cases: list[Any] = [
        dt.datetime(year, month, day, hour, minute, second, micro, zone, fold=fold)
        for year, month, day in ((1, 1, 1), (1969, 12, 31), (2024, 2, 29), (9999, 12, 31))
        for hour, minute, second, micro in ((0, 0, 0, 0), (23, 59, 59, 999999), (12, 30, 15, 536872))
        for fold in (0, 1)
    ]
    cases += [dt.time(23, 59, 59, 999999, zone, fold=1), dt.time(0, tzinfo=zone)]
    isomorphic(cases, way(cases))
    for case in cases:
        isomorphic(case, way(case))


def test_zones_are_shared_as_before(way: Way) -> None:
    own = dt.timezone(dt.timedelta(hours=1), "own")
    graph = [dt.datetime(2024, 1, day, tzinfo=own) for day in range(1, 9)] + [own]
    isomorphic(graph, way(graph))


def test_zoneinfo_is_the_process_s_own(way: Way) -> None:
    assert way(zoneinfo.ZoneInfo("Asia/Tokyo")) is zoneinfo.ZoneInfo("Asia/Tokyo")


def test_durations(way: Way) -> None:
    cases = [
        dt.timedelta(days=days, seconds=seconds, microseconds=micro)
        for days in (-999_999_998, -1, 0, 1, 999_999_998)
        for seconds in (0, 1, 86399)
        for micro in (0, 1, 999_999)
    ]
    isomorphic(cases, way(cases))


DECIMALS = "0 -0 0.00 1E+3 -1.10 NaN -NaN sNaN NaN123 Infinity -Infinity 1E-6176 9.99E+6144 1E+999999".split()


def test_decimals(way: Way) -> None:
    cases = [decimal.Decimal(value) for value in DECIMALS] + [decimal.Decimal("1" * 500 + "." + "2" * 500)]
    isomorphic(cases, way(cases))


def test_decimals_do_not_depend_on_the_context() -> None:
    value = decimal.Decimal("1.23456789")
    with decimal.localcontext(decimal.Context(prec=3, traps=[decimal.Inexact, decimal.Rounded])):
        isomorphic(value, holdall.loads(holdall.dumps(value)))


def test_fractions(way: Way) -> None:
    cases = [fractions.Fraction(n, d) for n, d in ((0, 1), (-1, 3), (10**40, 7), (-7, 10**40))]
    isomorphic(cases, way(cases))


def test_uuids(way: Way) -> None:
    cases = [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.uuid5(uuid.NAMESPACE_DNS, "x")]
    isomorphic(cases, way(cases))


PATHS = ["", ".", "/", "//net/share", "a//b/../c", "/tmp/é", "name with spaces", "\udcff"]


def test_paths(way: Way) -> None:
    cases = [
        cls(path) for path in PATHS for cls in (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path)
    ]
    isomorphic(cases, way(cases))


ADDRESSES = [
    *("0.0.0.0", "255.255.255.255", "::", "::1", "::ffff:1.2.3.4", "fe80::1%1", "ffff:" * 7 + "ffff"),
]


def test_ip_addresses(way: Way) -> None:
    cases = [ipaddress.ip_address(value) for value in ADDRESSES]
    cases += [ipaddress.ip_network(value) for value in ("0.0.0.0/0", "1.2.3.4/32", "::/0", "2001:db8::/127")]
    cases += [ipaddress.ip_interface(value) for value in ("1.2.3.4/8", "1.2.3.4/32", "2001:db8::5/16")]
    isomorphic(cases, way(cases))


def test_patterns(way: Way) -> None:
    cases = [
        re.compile(p, f) for p, f in (("", 0), ("(?i)a+", re.X), ("é", re.A), (b"a|b", re.S), ("\\d", re.U))
    ]
    isomorphic(cases, way(cases))


@each("code", "bBhHiIlLqQfd")
def test_arrays(way: Way, code: str) -> None:
    least, most = (-1.5, 2.25) if code in "fd" else (0, 100)
    for values in ([], [most], [least, most] * 500):
        case = array.array(code, values)
        isomorphic(case, way(case))
        back = way(case)
        back.append(most)  # not a view of anything
        assert len(back) == len(case) + 1


def test_array_extremes(way: Way) -> None:
    for code in "bhilq":
        bits = 8 * array.array(code).itemsize
        case = array.array(code, [-(1 << (bits - 1)), (1 << (bits - 1)) - 1])
        isomorphic(case, way(case))
        case = array.array(code.upper(), [(1 << bits) - 1])
        isomorphic(case, way(case))


def test_deques(way: Way) -> None:
    cases = [collections.deque(range(n), maxlen) for n in (0, 1, 200) for maxlen in (None, 0, 1, 1000)]
    isomorphic(cases, way(cases))
    back = way(collections.deque([1, 2], 2))
    back.append(3)
    assert list(back) == [2, 3]


def test_ordered_dicts(way: Way) -> None:
    case = collections.OrderedDict((f"k{i}", i) for i in range(20))
    case.move_to_end("k3")
    case.move_to_end("k9", last=False)
    isomorphic(case, way(case))
    back = way(case)
    assert back.popitem()[0] == "k3"
    assert next(iter(back)) == "k9"


@each("factory", [None, int, list, dict, set, str, float, tuple, bytes, bool, frozenset])
def test_default_dicts(way: Way, factory: Any) -> None:
    case: Any = collections.defaultdict(factory, {"a": [1]})
    isomorphic(case, way(case))
    if factory is not None:
        assert way(case)["missing"] == factory()


def test_counters(way: Way) -> None:
    case: Any = collections.Counter({"a": 3, "b": -1, (1,): 0, "c": 10**20})
    isomorphic(case, way(case))
    assert way(case)["missing"] == 0


def test_chain_maps(way: Way) -> None:
    first = {"a": 1}
    case = collections.ChainMap(first, {"b": 2}, first)
    isomorphic(case, way(case))
    assert way(case).new_child({"c": 3})["b"] == 2


def test_mapping_proxies(way: Way) -> None:
    table = {"a": [1]}
    case = [table, types.MappingProxyType(table), types.MappingProxyType({})]
    isomorphic(case, way(case))
    back = way(case)
    back[0]["b"] = 2
    assert back[1]["b"] == 2


def test_proxies_of_proxies() -> None:
    """They show the same, and ask each other by recursion."""
    for table in ({"a": 1}, collections.OrderedDict(a=1)):
        deep: Any = table
        for _ in range(5_000):
            deep = types.MappingProxyType(deep)
        back = holdall.loads(holdall.dumps([table, deep]))
        assert type(back[1]) is types.MappingProxyType and back[1] == table
        assert holdall.msgpack.loads(holdall.msgpack.dumps(deep)) == table


def test_namespaces(way: Way) -> None:
    case = types.SimpleNamespace(b=1, a=types.SimpleNamespace())
    case.me = case
    isomorphic(case, way(case))


def error(
    cls: type[BaseException], *args: Any, notes: Any = (), cause: Any = None, context: Any = None
) -> Any:
    found = cls(*args)
    if notes:
        found.__notes__ = list(notes)
    if cause is not None:
        found.__cause__ = cause
    found.__context__ = context
    return found


ERRORS: dict[str, Callable[[], Any]] = {
    "no args": lambda: error(Exception),
    "base": lambda: error(BaseException, 1),
    "notes": lambda: error(ValueError, text("one"), notes=["a note", text("another")]),
    "cause": lambda: error(ValueError, "x1", cause=error(KeyError, "y1")),
    "context": lambda: error(
        ValueError, "x1", context=error(KeyError, "y1", context=error(OSError, 2, "z1"))
    ),
    "stop": lambda: error(StopIteration, [1]),
    "exit": lambda: error(SystemExit, 3),
    "os with name": lambda: error(OSError, 2, "gone", "file.txt"),
    "os with names": lambda: error(OSError, 18, "cross", "a.txt", None, "b.txt"),
    "unicode": lambda: error(UnicodeEncodeError, "ascii", "é1", 0, 1, "bad"),
    "syntax": lambda: error(SyntaxError, "bad", ("f.py", 1, 2, "x ===", 1, 5)),
    "import": lambda: ImportError("no", name="mod", path="/x"),
    "extra attributes": lambda: (e := error(RuntimeError, 1), setattr(e, "code", [5]))[0],
    "holds itself": lambda: (e := error(RuntimeError, []), e.args[0].append(e))[0],
}


@each("name", ERRORS)
def test_exceptions(way: Way, name: str) -> None:
    case = ERRORS[name]()
    isomorphic(case, way(case))
    with pytest.raises(type(case)):
        raise way(case)


def changed(found: BaseException, **attributes: Any) -> BaseException:
    for name, value in attributes.items():
        setattr(found, name, value)
    return found


@holdall.register
class OwnInit(ImportError):
    """Never tells the builtin's initialiser what it was made of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.told = args


@holdall.register
class OwnInitOfBytes(UnicodeDecodeError):
    def __init__(self, *args: Any) -> None:
        self.told = args


OTHERWISE: dict[str, Callable[[], BaseException]] = {
    "import's message": lambda: changed(ImportError("no", name="mod"), msg="yes"),
    "import's arguments": lambda: changed(ImportError("no"), args=("other", 2)),
    "import, own initialiser": lambda: OwnInit(3),
    "stop's value": lambda: changed(StopIteration(3), value=[4]),
    "stop's arguments": lambda: changed(StopIteration(3), args=()),
    "exit's code": lambda: changed(SystemExit(3), code="four"),
    "syntax": lambda: changed(SyntaxError("bad", ("f.py", 1, 2, "x ===", 1, 5)), lineno=7, text=None),
    "syntax's arguments": lambda: changed(IndentationError("bad"), args=("bad", ("f.py", 1))),
    "unicode's reason": lambda: changed(UnicodeEncodeError("ascii", "é1", 0, 1, "bad"), reason="worse"),
    "unicode's arguments": lambda: changed(UnicodeDecodeError("ascii", b"a1", 0, 1, "bad"), args=("other",)),
    "unicode, own initialiser": lambda: OwnInitOfBytes(3),
    "unicode, own initialiser, right arguments": lambda: OwnInitOfBytes("ascii", b"a1", 0, 1, "bad"),
    "unicode, never initialised": lambda: UnicodeTranslateError.__new__(UnicodeTranslateError),
}
if sys.version_info >= (3, 11):
    several = ExceptionGroup("several", [ValueError(1)])  # noqa: F821
    OTHERWISE["group's arguments"] = lambda: changed(several, args=("one",))


@pytest.mark.parametrize("name", OTHERWISE)
def test_exceptions_whose_fields_their_arguments_do_not_say(way: Way, name: str) -> None:
    """Fields that were set later, arguments that were changed, initialisers that never ran."""
    case = OTHERWISE[name]()
    back = way(case)
    isomorphic(case, back)
    builtin = next(cls for cls in type(case).__mro__ if cls.__module__ == "builtins")
    members = [
        member for member, found in vars(builtin).items() if isinstance(found, types.MemberDescriptorType)
    ]
    assert {member: getattr(back, member) for member in members} == {
        member: getattr(case, member) for member in members
    }
    assert (str(back), back.args) == (str(case), case.args)


def test_an_exception_that_can_not_be_shown_is_refused() -> None:
    """CPython reads before the start of the bytes to show it."""
    with pytest.raises(holdall.EncodeError, match="negative"):
        holdall.dumps(UnicodeDecodeError("ascii", b"abc", -5, -4, "bad"))
    data = holdall.dumps(UnicodeDecodeError("ascii", b"abc", 9, 10, "bad"))
    assert holdall.loads(data).start == 9
    start_and_end = wire.integer(9) + wire.integer(10)
    assert data.count(start_and_end) == 1
    with pytest.raises(holdall.DecodeError, match="before its text"):
        holdall.loads(data.replace(start_and_end, wire.integer(-5) + wire.integer(-4)))


def test_raised_exceptions_lose_only_the_traceback(way: Way) -> None:
    try:
        try:
            {}["missing"]
        except KeyError:
            raise ValueError("while handling")  # noqa: B904
    except ValueError as raised:
        case = raised
    back = way(case)
    isomorphic(case, back)
    assert back.__traceback__ is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup came with 3.11")
def test_exception_groups(way: Way) -> None:
    inner = ValueError(1)
    case = ExceptionGroup("several", [inner, ExceptionGroup("more", [KeyError("k1")]), inner])  # noqa: F821
    isomorphic(case, way(case))
