"""What a message may cost: work and memory beyond its bytes, counted before they are taken; and that honest objects stay far below."""

from __future__ import annotations

import array
import collections
import decimal
import enum
import fractions
import io
import ipaddress
import pathlib
import re
import subprocess
import sys
import types
import uuid
import zoneinfo
from typing import Any, Callable, Iterable

import pytest

import holdall
from holdall import Limits
from tests.complexity.families import logs
from tests.support import file_frames, wire
from tests.support.each import each
from tests.support.kinds import KINDS, TYPES, Kind

PRIME = 2**61 - 1  # what CPython hashes numbers by


class Text(str):
    pass


class Deep(enum.Enum):
    A = (1, 2)


# --- keys that collide -----------------------------------------------------------------------------------------------
def twos(number: int) -> tuple[int, ...]:
    """Tuples of -1 and -2, which have one hash."""
    return tuple(-2 if number >> bit & 1 else -1 for bit in range(11))


def orbit(count: int) -> list[Any]:
    """Ints that stand where those that come later pass: each leads to the next one's place, in tables up to that size."""
    found: list[Any] = []
    at = 0
    for _ in range(count):
        found.append(at)
        at = (5 * at + 1) % 2**15
    return found


COLLIDING: dict[str, Callable[[int], list[Any]]] = {
    "ints": lambda n: [i * PRIME for i in range(n)],
    "floats": lambda n: [fractions.Fraction(i * PRIME + 1, 1) for i in range(n)],
    "tuples": lambda n: [twos(i) for i in range(n)],
    "tuples of colliding ints": lambda n: [(i * PRIME, "a") for i in range(n)],
    "complex": lambda n: [complex(-1000003 * i, i) for i in range(1, n)],
    "fractions": lambda n: [fractions.Fraction(1, i * PRIME + 7) for i in range(1, n)],
    "decimals": lambda n: [decimal.Decimal(i * PRIME + 5) for i in range(n)],
    "uuids": lambda n: [uuid.UUID(int=i * PRIME + 3) for i in range(n)],
    "ranges": lambda n: [range(i * PRIME, i * PRIME + 1) for i in range(n)],
}

CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "dict": dict.fromkeys,
    "set": set,
    "frozenset": frozenset,
    "ordered": collections.OrderedDict.fromkeys,
    "counter": collections.Counter,
    "default": lambda keys: collections.defaultdict(None, dict.fromkeys(keys)),
}


@each("container", CONTAINERS)
@each("keys", COLLIDING)
def test_keys_that_collide(keys: str, container: str) -> None:
    few, many = (holdall.dumps(CONTAINERS[container](COLLIDING[keys](n))) for n in (10, 300))
    # All with all are 45,000 comparisons; other keys would take some 10,000 at most.
    limits = Limits(work=30_000)
    assert len(holdall.loads(few, limits=limits)) >= 9
    with pytest.raises(holdall.LimitError, match="more than limits.work=30000"):
        holdall.loads(many, limits=limits)


def test_keys_in_each_others_way() -> None:
    """None has the hash of another; each has to pass all before it."""
    step = 2**15
    # A table that grows, as it does where the first key is none of the ints, and one that is made with room for all.
    for first, count, more in ((["text"], 9000, 2000), ([], 20_000, 1000)):
        keys = first + orbit(count) + [step * i for i in range(1, more)]
        data = holdall.dumps(dict.fromkeys(keys))
        assert len(holdall.loads(data)) == len(keys)
        with pytest.raises(holdall.LimitError, match="collide"):
            holdall.loads(data, limits=Limits(work=500_000))
        ordinary = holdall.dumps(dict.fromkeys(first + list(range(count + more))))
        holdall.loads(ordinary, limits=Limits(work=1000))


def test_equal_keys_are_still_found() -> None:
    for keys in ([1, True], [0.0, -0.0], [(1, 2), (1.0, 2.0)]):
        written = b"".join(wire.message(holdall.dumps(key)[1:])[1:] + holdall.dumps(None)[1:] for key in keys)
        with pytest.raises(holdall.DecodeError, match="the same key twice"):
            holdall.loads(holdall.dumps({})[:1] + wire.tag("DICT") + wire.length(2) + written)


# --- what is made of shared parts ------------------------------------------------------------------------------------
def uses(first: bytes, name: str, *, before: bytes = b"", after: bytes = b"", times: int = 3000) -> bytes:
    """A list of a marked value, and of that many that are made of it."""
    made = [wire.known(name, before + wire.reference(1) + after) for _ in range(times)]
    return wire.message(wire.sequence(wire.mark(first), *made))


LONG = "1" * 30_000
SHARED = {
    "decimals": uses(wire.text(LONG), "Decimal"),
    "paths": uses(wire.text("a/" * 15_000), "PurePosixPath"),
    "arrays": uses(wire.blob(bytes(30_000)), "Array", before=wire.text("b")),
    "characters": uses(wire.text(LONG), "Array", before=wire.text("u")),
    "contents": wire.message(
        wire.sequence(
            wire.mark(wire.text(LONG)),
            wire.layout("based", f"{__name__}.Text", [], wire.reference(1)),
            *(wire.instance(0, wire.reference(1)) for _ in range(3000)),
        )
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_one_value_in_many(name: str) -> None:
    """Some 40 kB, of which 3,000 copies of 30 kB would be made."""
    assert len(SHARED[name]) < 70_000
    with pytest.raises(holdall.LimitError):
        holdall.loads(SHARED[name], types=[Text])


@pytest.mark.parametrize(
    "key",
    [10**20_000, range(10**20_000), fractions.Fraction(10**20_000, 7), re.compile("[a-z]" * 400)],
    ids=["int", "range", "fraction", "pattern"],
)
def test_one_large_key_in_many(key: Any) -> None:
    """Neither ints nor what is made of them keep their hash."""
    data = holdall.dumps({(key, i): i for i in range(5000)})
    with pytest.raises(holdall.LimitError, match="hashed again and again"):
        holdall.loads(data, limits=Limits(work=1_000_000))
    assert len(holdall.loads(data, limits=Limits(work=10**10))) == 5000


def test_one_shared_tuple_in_many_keys() -> None:
    shared = tuple(range(1000))
    graph = {(shared, i): i for i in range(5000)}
    assert holdall.loads(holdall.dumps(graph)) == graph


def test_divisions() -> None:
    number = 10**20_000
    data = holdall.dumps([range(0, number * number, number), fractions.Fraction(number + 1, number)])
    assert holdall.loads(data)[0][1] == number
    with pytest.raises(holdall.LimitError):
        holdall.loads(data, limits=Limits(work=100_000))


# --- patterns and zones ----------------------------------------------------------------------------------------------
def test_patterns_are_charged_by_what_they_take() -> None:
    costly = [f"(?i)[\0-\U0010ffff]{i}" for i in range(8)]
    data = wire.message(
        wire.sequence(*(wire.known("Pattern", wire.text(text) + wire.integer(32)) for text in costly))
    )
    with pytest.raises(holdall.LimitError, match="takes long to make"):
        holdall.loads(data)
    many = wire.message(
        wire.sequence(
            *(wire.known("Pattern", wire.text(f"[{i}а-яё]") + wire.integer(32)) for i in range(1000))
        )
    )
    with pytest.raises(holdall.LimitError, match="takes long to make"):
        holdall.loads(many)
    same = [re.compile("a[b-d]+")] * 3 + [re.compile("а[а-яё]+", re.I)]
    back = holdall.loads(holdall.dumps(same * 5000))
    assert back == same * 5000 and back[0] is back[1]
    long = re.compile("word|" * 14_000)
    assert holdall.loads(holdall.dumps(long)) == long


@pytest.mark.parametrize(
    "key", ["evil/sub/x", "../../etc/passwd", "tzdata.zoneinfo", "Europe/../Europe/Prague", "", "a" * 100]
)
def test_zones_are_those_of_the_data_base(key: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look-up of an unknown zone would import packages below `tzdata` by the key."""
    package = tmp_path / "tzdata"
    for folder in (
        package,
        package / "zoneinfo",
        package / "zoneinfo" / "evil",
        package / "zoneinfo" / "evil" / "sub",
    ):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (package / "zoneinfo" / "evil" / "sub" / "__init__.py").write_text("raise SystemExit('ran')")
    (package / "zones").write_text("Nowhere/Real\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "tzdata"]:
        monkeypatch.delitem(sys.modules, name)
    data = wire.message(wire.known("ZoneInfo", wire.text(key)))
    with pytest.raises(holdall.DecodeError):
        holdall.loads(data)


def test_known_zones_load() -> None:
    try:
        zone = zoneinfo.ZoneInfo("Europe/Prague")
    except zoneinfo.ZoneInfoNotFoundError:
        pytest.skip("no time zone data here")
    assert holdall.loads(holdall.dumps([zone] * 3)) == [zone] * 3


# --- depth -----------------------------------------------------------------------------------------------------------
def nested(wrap: Callable[[Any], Any], times: int, inner: Any = None) -> Any:
    for _ in range(times):
        inner = wrap(inner)
    return inner


def caused(inner: Any) -> ImportError:
    error = ImportError("x")
    error.__context__ = inner
    return error


def named(inner: Any) -> ImportError:
    return ImportError("x", name=inner)


FREED: dict[str, Callable[[Any], Any]] = {
    "slice": slice,
    "deque": lambda inner: collections.deque([inner]),
    "default": lambda inner: collections.defaultdict(None, {1: inner}),
    "context": caused,
    "name": named,
}


@pytest.mark.parametrize("name", FREED)
def test_what_is_freed_by_recursion(name: str) -> None:
    fine = nested(FREED[name], 700)
    again = holdall.loads(holdall.dumps(fine))
    assert type(again) is type(fine)
    with pytest.raises(holdall.EncodeError, match="frees it by recursion"):
        holdall.dumps(nested(FREED[name], 10_000))


def test_what_is_freed_without_recursion() -> None:
    def followed(inner: Any) -> ValueError:
        error = ValueError("x")
        error.__context__ = inner
        return error

    for wrap in (
        followed,
        ValueError,
        lambda inner: types.MappingProxyType({1: inner}),
        lambda inner: (inner,),
    ):
        deep = nested(wrap, 25_000)
        assert type(holdall.loads(holdall.dumps(deep))) is type(deep)


def test_keys_nested_deep() -> None:
    key = nested(lambda inner: (inner,), 700, 1)
    assert holdall.loads(holdall.dumps({key: 1, "a": {key}})) == {key: 1, "a": {key}}
    frozen = nested(lambda inner: frozenset([inner]), 5000, 1)
    assert type(next(iter(holdall.loads(holdall.dumps({frozen: 1}))))) is frozenset
    for graph in ({nested(lambda inner: (inner,), 6000, 1): 1}, {nested(lambda inner: (inner,), 6000, 1)}):
        with pytest.raises(holdall.EncodeError, match="nested deeper than"):
            holdall.dumps(graph)
    tuples = nested(lambda inner: (inner,), 100_000)
    assert type(holdall.loads(holdall.dumps({1: tuples}))[1]) is tuple


SMALL_STACK = """
import sys, threading, holdall
from tests.support import wire
from tests.hostile.test_budgets import Deep, FREED

def run():
    deep = b"".join([wire.tuple_(b"")] * 200_000)
    attacks = [wire.layout("enum", "tests.hostile.test_budgets.Deep", [], deep + wire.integer(1))]
    for part in ("Slice", "Deque"):
        head = wire.known(part) + (holdall.dumps(None)[1:] if part == "Deque" else b"")
        attacks.append(b"".join([head] * 100_000))
    for attack in attacks:
        try:
            holdall.loads(wire.message(attack), types=[Deep])
        except holdall.DecodeError:
            pass
    for wrap in FREED.values():
        inner = None
        for _ in range(700):
            inner = wrap(inner)
        holdall.loads(holdall.dumps(inner))

threading.stack_size(512 << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
print("alive")
"""


@pytest.mark.skipif(hasattr(sys, "gettotalrefcount"), reason="a debug build frees by larger frames of C")
def test_nothing_ends_a_small_stack() -> None:
    done = subprocess.run([sys.executable, "-c", SMALL_STACK], capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n" and not done.stderr


# --- honest objects --------------------------------------------------------------------------------------------------
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_many_of_a_kind_load(kind: Kind) -> None:
    """What is written by default is loaded by default."""
    try:
        data = holdall.dumps([kind.make() for _ in range(300)])
    except holdall.EncodeError:
        pytest.fail("a kind that can't be stored")
    assert len(holdall.loads(data, types=TYPES)) == 300


HONEST: dict[str, Callable[[], Any]] = {
    "empty deques": lambda: [collections.deque() for _ in range(20_000)],
    "mapping proxies": lambda: [types.MappingProxyType({}) for _ in range(20_000)],
    "exceptions": lambda: [ValueError() for _ in range(20_000)],
    "addresses": lambda: [ipaddress.IPv6Address(i) for i in range(2000)],
    "dicts of one key": lambda: nested(lambda inner: {1: inner}, 50_000),
    "arrays": lambda: [array.array("d") for _ in range(20_000)],
    "minus ones and twos": lambda: {twos(i): i for i in range(1000)},
    "equal decimals": lambda: [decimal.Decimal("1.25") for _ in range(20_000)],
    "paths of one name": lambda: [pathlib.PurePosixPath("n" * 255) for _ in range(20_000)],
    "paths of one wide name": lambda: [pathlib.PureWindowsPath("\U0001f40d" * 255) for _ in range(20_000)],
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_objects_load(name: str) -> None:
    for options in ({}, {"intern": True}):
        data = holdall.dumps(HONEST[name](), **options)
        again = holdall.dumps(holdall.loads(data), **options)
        assert len(again) == len(data)


def test_a_strict_preset() -> None:
    strict = Limits.strict()
    assert (strict.depth, strict.objects, strict.bytes, strict.work) == (100, 1_000_000, 64 << 20, 16 << 20)
    assert Limits.strict(depth=3).depth == 3 and Limits().work is None
    assert holdall.loads(holdall.dumps({"a": [1, 2, {"b": (3,)}]}), limits=strict) == {
        "a": [1, 2, {"b": (3,)}]
    }
    with pytest.raises(holdall.LimitError, match="limits.depth=100"):
        holdall.loads(holdall.dumps(nested(lambda inner: [inner], 200)), limits=strict)


def test_a_class_name_that_is_no_text() -> None:
    with pytest.raises(holdall.DecodeError, match="lone surrogate"):
        holdall.loads(bytes.fromhex("c1c500010005b703eda080"), types=TYPES)


# --- logs ------------------------------------------------------------------------------------------------------------
def loaded(log: bytes, **options: Any) -> int:
    """How many records are loaded before one is refused."""
    count = 0
    try:
        for _ in holdall.Reader(log, **options):
            count += 1
    except holdall.LimitError:
        return count
    return -1


def log_of(records: Iterable[Any]) -> bytes:
    file = io.BytesIO()
    with holdall.Writer(file) as log:
        for record in records:
            log.write(record)
    return file.getvalue()


@pytest.mark.parametrize(("size", "most"), [(50_000, 100), (20_000, 300)], ids=["50 kB", "20 kB"])
def test_records_that_convert_a_text_of_another(size: int, most: int) -> None:
    """Each by itself is within what a message of its size may cost."""

    def one(at: int) -> file_frames.Frame:
        if at == 0:
            return logs.record(wire.message(wire.sequence(wire.tag("NAMED", wire.text("a/" * (size // 2))))))
        return logs.record(wire.message(wire.known("PosixPath", wire.reference(0))), named=1)

    data = logs.log(size + 20_000, one)
    assert 0 < loaded(data) < most
    # A bound that was set is each record's own.
    assert loaded(data[: size + 5_000], limits=Limits(work=1 << 20, bytes=1 << 24), repair="stop") == -1


def test_records_of_patterns_that_take_long() -> None:
    ranges = wire.known("Pattern", wire.text("[\u0100-\u4000]"), wire.integer(34))
    data = logs.log(2_000, lambda at: logs.record(wire.message(ranges)))
    assert 0 < loaded(data) < 40


HONEST_RECORDS: dict[str, Callable[[int], Any]] = {
    "long paths": lambda at: pathlib.PurePosixPath("d/" * 128),
    "wide paths": lambda at: pathlib.PurePosixPath("\U0001f40d" * 256),
    "Windows paths": lambda at: pathlib.PureWindowsPath("c:\\" + "d\\" * 100),
    "zones of their own": lambda at: zoneinfo.ZoneInfo.no_cache("Europe/Berlin"),
    "addresses": lambda at: ipaddress.IPv6Interface("fe80::1%" + "x" * 200),
    "patterns": lambda at: re.compile("[a-z]+(foo|bar)*"),
    "texts of a class": lambda at: Text("x" * 256),
    "empty": lambda at: collections.deque(),
    "defaultdicts": lambda at: collections.defaultdict(list),
}


@pytest.mark.parametrize("make", HONEST_RECORDS.values(), ids=HONEST_RECORDS)
def test_records_of_honest_objects(make: Callable[[int], Any]) -> None:
    """However many there are: each is within what it adds itself, or what is free for the log would be used up."""
    assert loaded(log_of(make(at) for at in range(1_000)), types=[Text]) == -1


def test_many_different_patterns_load() -> None:
    """What is honest: a list of patterns, each compiled once, as many as one likes."""
    patterns = [re.compile(f"p{at}") for at in range(3_000)]
    back = holdall.loads(holdall.dumps(patterns))
    assert [one.pattern for one in back] == [one.pattern for one in patterns]


def test_arrays_of_a_dtype_with_many_fields() -> None:
    """NumPy goes through all fields for each array, which says no more than a reference to their dtype."""
    numpy = pytest.importorskip("numpy")
    dtype = numpy.dtype([(f"f{at}", "i1") for at in range(2_000)])
    with pytest.raises(holdall.LimitError, match="many fields"):
        holdall.loads(holdall.dumps([numpy.empty(0, dtype) for _ in range(2_000)]))
    few = numpy.dtype([("a", "i1"), ("b", [("c", "f4", (2,)), ("d", "i2")])])
    assert len(holdall.loads(holdall.dumps([numpy.empty(0, few) for _ in range(20_000)]))) == 20_000


# --- documents -------------------------------------------------------------------------------------------------------
def members_built(document: holdall.Document) -> int:
    """How many members are built before one is refused; -1: all."""
    for at in range(len(document)):
        try:
            document[at]
        except holdall.LimitError:
            return at
    return -1


def paths_of_one_text(size: int, count: int) -> bytes:
    path = wire.known("PosixPath", wire.reference(1))
    return wire.message(wire.sequence(wire.mark(wire.text("a/" * (size // 2))), *[path] * count))


def test_members_that_convert_a_text_of_another() -> None:
    """Each by itself is within what the message may cost."""
    data = paths_of_one_text(50_000, 600)
    assert 0 < members_built(holdall.Document(data)) < 400
    # A bound that was set is each member's own.
    assert members_built(holdall.Document(data, limits=Limits(work=1 << 20, bytes=1 << 24))) == -1


def test_members_that_copy_one_block() -> None:
    array = wire.known("Array", wire.text("b"), wire.reference(1))
    data = wire.message(wire.sequence(wire.mark(wire.blob(bytes(50_000))), *[array] * 5_000))
    document = holdall.Document(data)
    kept = []
    with pytest.raises(holdall.LimitError):
        kept.extend(document[at] for at in range(1, len(document)))
    assert members_built(document) > 0


def test_members_that_hash_one_object() -> None:
    """The first member is that object; what it weighs is known to all others."""
    fraction = wire.known("Fraction", wire.integer(1 << 80_000), wire.integer(3))
    for whole in (
        wire.tuple_(*[wire.integer(at) for at in range(20_000)]),
        fraction,
        wire.integer(1 << 400_000),
    ):
        sets = [wire.sized("SET", 1, wire.reference(1))] * 20_000
        document = holdall.Document(wire.message(wire.sequence(wire.mark(whole), *sets)))
        document[0]
        assert 0 < members_built(document) < len(sets)


def test_members_that_compile_one_text() -> None:
    """A text pays for one pattern, whichever member that is."""
    flags = [32 | a | b | c for a in (0, 2) for b in (0, 8) for c in (0, 16)]
    patterns = [wire.known("Pattern", wire.reference(1), wire.integer(flag)) for flag in flags]
    data = wire.message(wire.sequence(wire.mark(wire.text("[a-z]" * 1_600)), *patterns))
    assert 0 < members_built(holdall.Document(data)) < 8


def test_a_member_that_was_paid_for() -> None:
    """It is built anew each time, as often as it is asked for."""
    document = holdall.Document(paths_of_one_text(50_000, 2))
    first = document[1]
    for _ in range(300):
        assert document[1] == first
    assert document[2] == first


@pytest.mark.parametrize("name", [name for name in HONEST_RECORDS if not name.startswith("zones")])
def test_honest_members(name: str) -> None:
    value = [[HONEST_RECORDS[name](at)] for at in range(2_000)]
    document = holdall.Document(holdall.dumps(value), types=[*TYPES, Text])
    assert all(len(document[at].load()) == 1 for at in range(len(value)))
    assert len(document.load()) == len(value)
