"""Hostile bytes: only our exceptions, no import, no call, no crash, no memory beyond the input's measure."""

from __future__ import annotations

import builtins
import concurrent.futures
import contextlib
import random
import struct
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import holdall
from tests.support import models, wire
from tests.support.each import each
from tests.support.extent import sample
from tests.support.isomorphic import isomorphic
from tests.support.kinds import BY_NAME, KINDS, TYPES, Kind, build

ALL_LIMITS = holdall.Limits(depth=10_000_000)


def refused(data: bytes, **options: Any) -> holdall.DecodeError:
    """`loads` must refuse, with our exception and an offset inside the input."""
    options.setdefault("types", TYPES)
    with pytest.raises(holdall.DecodeError) as caught:
        holdall.loads(data, **options)
    assert type(caught.value.offset) is int and 0 <= caught.value.offset <= len(data)
    return caught.value


def tried(data: bytes, **options: Any) -> Any:
    """`loads` may do either, but fail only with our exception."""
    try:
        return holdall.loads(data, types=TYPES, **options)
    except holdall.DecodeError as error:
        assert 0 <= error.offset <= len(data)
        return error


# --- damaged messages of every kind ----------------------------------------------------------------------------------
MODES = [{}, {"canonical": True}, {"refs": False}, {"intern": True}]


@pytest.mark.damage
@each(
    ("kind", "options"),
    # A cycle is no tree.
    [
        (kind, mode)
        for kind in KINDS
        for mode in MODES
        if "cyclic" not in kind.name or mode != {"refs": False}
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else str(value),
)
def test_every_prefix(kind: Kind, options: dict[str, bool]) -> None:
    data = holdall.dumps(kind.make(), **options)
    for end in sample(range(len(data)), 400):
        refused(data[:end])


def test_a_message_that_just_ends_is_truncated() -> None:
    for obj in (1000, 0.5, "text", b"data", [1, "a"], {"a": 1}, 10**40, {1, 2}, (None, None), [0.5] * 9):
        data = holdall.dumps(obj)
        for end in range(1, len(data)):
            assert type(refused(data[:end])) is holdall.TruncatedError


@each("kind", KINDS, ids=lambda kind: kind.name)
def test_trailing_bytes(kind: Kind) -> None:
    data = holdall.dumps(kind.make())
    for extra in (b"\x00", b"\xff", data):
        assert refused(data + extra).offset == len(data)


@pytest.mark.damage
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_every_byte_changed(kind: Kind) -> None:
    """Each byte in turn becomes others that matter: the neighbours, the complement, the length markers."""
    data = bytearray(holdall.dumps(kind.make()))
    for index in sample(range(min(len(data), 3_000)), 100):
        old = data[index]
        for new in {
            old ^ 1,
            old ^ 0x80,
            old ^ 0xFF,
            (old + 1) & 255,
            0,
            251,
            252,
            253,
            254,
            255,
            wire.TAG.MARK,
        }:
            data[index] = new
            tried(bytes(data))
        data[index] = old


def test_every_first_byte() -> None:
    body = holdall.dumps([1, "a"])[1:]
    for first in range(256):
        if first != wire.TAG.VERSION:
            assert refused(bytes([first]) + body).offset == 0


@pytest.mark.parametrize(
    "data", [b"", b"HOLD", b"HOLD" + bytes(100), b"\x80\x05N.", b"{}", b"\xc1", b"\xd1"], ids=repr
)
def test_what_is_no_message(data: bytes) -> None:
    refused(data)


def test_every_tag_before_nothing_and_before_rubbish() -> None:
    rng = random.Random(5)
    for first in range(256):
        for second in range(256):
            tried(wire.message(bytes([first, second])))
        for _ in range(50):
            tried(wire.message(bytes([first]) + rng.randbytes(rng.randrange(40))))


def test_a_changed_file_is_noticed() -> None:
    import io

    file = io.BytesIO()
    holdall.dump([1, "text", {"a": 2}], file)
    whole = file.getvalue()
    assert holdall.loads(whole) == [1, "text", {"a": 2}]
    for index in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[index] ^= 1 << bit
            refused(bytes(changed))
    for end in range(len(whole)):
        refused(whole[:end])
    refused(whole + b"\x00")


# --- wrong things in right places ------------------------------------------------------------------------------------
class Verdict:
    """A hostile value. `may_load`: harmless either way, but it must not go wrong.

    It stands in a list, which is object 0: its own first mark is object 1.
    """

    def __init__(self, body: bytes, *, may_load: bool = False) -> None:
        self.body = body
        self.may_load = may_load


w = wire
MODELS = "tests.support.models."
HUGE = (1 << 62) - 1
ONE = w.integer(1)
LIST_KEY = w.sequence(ONE)

HOSTILE = {
    "list as key": Verdict(w.dict_(LIST_KEY, ONE)),
    "dict as key": Verdict(w.dict_(w.dict_(ONE, ONE), ONE)),
    "list in a tuple as key": Verdict(w.dict_(w.tuple_(LIST_KEY), ONE)),
    "list in a set": Verdict(w.sized("SET", 1, LIST_KEY)),
    "list in a frozenset": Verdict(w.sized("FROZENSET", 1, LIST_KEY)),
    "set in a set": Verdict(w.sized("SET", 1, w.sized("SET", 0))),
    "bytearray as key": Verdict(w.dict_(w.sized("BYTEARRAY", 1, b"x"), ONE)),
    "slice as key": Verdict(
        w.dict_(w.known("Slice", ONE, ONE, ONE), ONE), may_load=sys.version_info >= (3, 12)
    ),
    "key twice": Verdict(w.dict_(w.text("a"), ONE, w.text("a"), ONE)),
    "equal keys of two types": Verdict(w.dict_(ONE, ONE, w.tag("TRUE"), ONE)),
    "member twice": Verdict(w.sized("SET", 2, ONE, ONE)),
    "member of a frozenset twice": Verdict(w.sized("FROZENSET", 2, ONE, ONE)),
    "key of a shape twice": Verdict(w.shape(["a", "a"], ONE, ONE)),
    "field of a class twice": Verdict(w.layout("object", MODELS + "PlainDict", ["a", "a"], ONE, ONE)),
    "reference to nothing": Verdict(w.reference(1)),
    "reference beyond": Verdict(w.sequence(w.mark(w.sequence()), w.reference(5))),
    "reference to a number of 32 bits": Verdict(w.reference(0xFFFFFFFF)),
    "mark of a mark": Verdict(w.mark(w.mark(ONE))),
    "mark of a reference": Verdict(w.sequence(w.mark(w.sequence()), w.mark(w.reference(1)))),
    "mark at the end": Verdict(w.tag("MARK")),
    "tuple inside itself": Verdict(w.mark(w.tuple_(w.reference(1)))),
    "tuple inside itself as key": Verdict(w.dict_(w.mark(w.tuple_(w.reference(1))), ONE)),
    "tuple as key, unfinished": Verdict(w.mark(w.tuple_(w.dict_(w.reference(1), ONE)))),
    "tuple in a set in itself": Verdict(w.mark(w.tuple_(w.sized("SET", 1, w.reference(1))))),
    "frozenset inside itself": Verdict(w.mark(w.sized("FROZENSET", 1, w.reference(1)))),
    "tuple and frozenset in each other": Verdict(w.mark(w.tuple_(w.sized("FROZENSET", 1, w.reference(1))))),
    "list in a tuple, unfinished": Verdict(w.mark(w.tuple_(w.sequence(w.reference(1)))), may_load=True),
    "frozen instance, unfinished, as key": Verdict(
        w.mark(w.layout("object", MODELS + "DFrozen", ["x", "y"], w.dict_(w.reference(1), ONE), ONE)),
        may_load=True,
    ),
    "frozen instance inside itself as key": Verdict(
        w.dict_(w.mark(w.layout("object", MODELS + "DFrozen", ["x", "y"], w.reference(1), ONE)), ONE)
    ),
    "key whose hash needs a missing field": Verdict(
        w.dict_(w.layout("object", MODELS + "ByValue", ["other"], ONE), ONE)
    ),
    "layout beyond": Verdict(w.instance(0)),
    "layout of a huge number": Verdict(w.instance(0xFFFFFFFF)),
    "layout inside its own instance": Verdict(w.shape(["a"], w.instance(0, ONE)), may_load=True),
    "more fields than names": Verdict(w.tag("SHAPE", b"\x05", b"\x02", w.text("a"), ONE)),
    "fewer fields than names": Verdict(w.tag("SHAPE", b"\x01", b"\x04", w.text("a"), w.text("b"), ONE)),
    "names that are none": Verdict(w.tag("SHAPE", b"\x01", b"\x01", ONE, ONE)),
    "names that refer beyond": Verdict(w.tag("SHAPE", b"\x01", b"\x05", w.reference(77), ONE)),
    "shape of nothing": Verdict(w.shape([]), may_load=True),
    "class without a name": Verdict(w.tag("CLASS", b"\x00", b"\x01", b"\x00", b"\x00")),
    "class of an unknown kind": Verdict(w.tag("CLASS", b"\x09", b"\x01", b"\x00", b"\x02", w.text("x"))),
    # Dropped: instances have no place for them.
    "field that the slots lack": Verdict(
        w.layout("object", MODELS + "PlainSlots", ["nope"], ONE), may_load=True
    ),
    "field of __class__": Verdict(
        w.layout("object", MODELS + "PlainSlots", ["__class__"], ONE), may_load=True
    ),
    "field of __dict__ in slots": Verdict(
        w.layout("object", MODELS + "PlainSlots", ["__dict__"], ONE), may_load=True
    ),
    "field of __dict__": Verdict(w.layout("object", MODELS + "PlainDict", ["__dict__"], ONE), may_load=True),
    "object said to be based": Verdict(w.layout("based", MODELS + "PlainDict", [], w.sequence())),
    "dict subclass of a list": Verdict(w.layout("based", MODELS + "MyDict", [], w.sequence())),
    "dict subclass without its dict": Verdict(w.layout("object", MODELS + "MyDict", []), may_load=True),
    "int subclass of a text": Verdict(w.layout("based", MODELS + "MyInt", [], w.text("x"))),
    "str subclass of an int": Verdict(w.layout("based", MODELS + "MyStr", [], ONE)),
    "tuple subclass of a list": Verdict(w.layout("based", MODELS + "MyTuple", [], w.sequence())),
    "named tuple of the wrong length": Verdict(
        w.layout("based", MODELS + "NPoint", [], w.tuple_(ONE, ONE, ONE))
    ),
    "named tuple of nothing": Verdict(w.layout("based", MODELS + "NPoint", [], w.tuple_())),
    "exception of no tuple": Verdict(w.layout("based", MODELS + "MyError", [], ONE)),
    "no such member": Verdict(w.layout("enum", MODELS + "Color", [], w.text("PURPLE"))),
    "member by an attribute": Verdict(w.layout("enum", MODELS + "Color", [], w.text("__class__"))),
    "member by a list": Verdict(w.layout("enum", MODELS + "Color", [], w.sequence())),
    "no enumeration": Verdict(w.layout("enum", MODELS + "PlainDict", [], w.text("RED"))),
    "enumeration as an object": Verdict(w.layout("object", MODELS + "Color", ["_value_"], ONE)),
    "enumeration as based": Verdict(w.layout("based", MODELS + "Level", [], w.integer(77))),
    "custom without a register": Verdict(w.layout("custom", MODELS + "PlainDict", [], ONE)),
    "a function for a class": Verdict(w.layout("object", MODELS + "with_fields", [])),
    "an import for a class": Verdict(w.layout("object", MODELS + "sys", [])),
    "a typing name for a class": Verdict(w.layout("object", MODELS + "Any", [])),
    "version of 64 bits": Verdict(
        w.layout("object", MODELS + "DPoint", ["x"], ONE, version=HUGE), may_load=True
    ),
    "ASCII that is none": Verdict(bytes([w.TAG.ASCII_FIX + 1]) + b"\xff"),
    "UTF-8 that is none": Verdict(w.sized("UTF_8", 2, b"\xc3\x28")),
    "UTF-8 overlong": Verdict(w.sized("UTF_8", 2, b"\xc0\xaf")),
    "UTF-8 beyond unicode": Verdict(w.sized("UTF_8", 4, b"\xf5\x80\x80\x80")),
    "UTF-8 cut off": Verdict(w.sized("UTF_8", 2, b"\xe2\x82")),
    "texts of other characters": Verdict(w.sized("LIST_ASCII", 1, b"\x01", b"\xff")),
    "texts without their bytes": Verdict(w.sized("LIST_ASCII", 3, b"\xff\xff\xff")),
    "bools of other bytes": Verdict(w.sized("LIST_BOOL", 1, b"\x02")),
    "empty big int": Verdict(w.sized("INT_BIG", 0), may_load=True),
    "datetime out of range": Verdict(w.tag("DATETIME", b"\xff" * 8)),
    "datetime zero": Verdict(w.tag("DATETIME", bytes(8))),
    "datetime with a list for a zone": Verdict(
        w.tag("DATETIME_ZONED", struct.pack("<Q", 2024 << 47 | 1 << 43 | 1 << 38), LIST_KEY)
    ),
    "date out of range": Verdict(w.known("Date", w.integer(10**9))),
    "date of a text": Verdict(w.known("Date", w.text("x"))),
    "date of a big int": Verdict(w.known("Date", w.integer(10**40))),
    "time out of range": Verdict(w.known("Time", w.integer((1 << 38) - 1), w.NONE)),
    "time with a zone that is none": Verdict(w.known("Time", w.integer(0), ONE)),
    "duration out of range": Verdict(w.known("Timedelta", w.integer(10**30))),
    "zone a week away": Verdict(w.known("Timezone", w.integer(7 * 86_400 * 10**6), w.NONE)),
    "zone named by a list": Verdict(w.known("Timezone", w.integer(10**6), LIST_KEY)),
    "zone of a path": Verdict(w.known("ZoneInfo", w.text("../../../etc/passwd"))),
    "zone of an absolute path": Verdict(w.known("ZoneInfo", w.text("/etc/passwd"))),
    "zone that isn't": Verdict(w.known("ZoneInfo", w.text("No/Such_Zone"))),
    "zone of a number": Verdict(w.known("ZoneInfo", ONE)),
    "zone with a null": Verdict(w.known("ZoneInfo", w.text("UTC\0"))),
    "decimal of words": Verdict(w.known("Decimal", w.text("many"))),
    "decimal of a list": Verdict(w.known("Decimal", LIST_KEY)),
    "fraction of zero": Verdict(w.known("Fraction", ONE, w.integer(0))),
    "fraction of texts": Verdict(w.known("Fraction", w.text("1"), w.text("2"))),
    "fraction not in lowest terms": Verdict(w.known("Fraction", w.integer(2), w.integer(4)), may_load=True),
    "uuid too short": Verdict(w.known("Uuid", w.blob(b"short"))),
    "uuid of a text": Verdict(w.known("Uuid", w.text("x" * 16))),
    "path of a number": Verdict(w.known("PosixPath", ONE)),
    "address of words": Verdict(w.known("IPv4Address", w.text("nowhere"))),
    "address of a number": Verdict(w.known("IPv4Address", w.integer(5))),
    "network with host bits": Verdict(w.known("IPv4Network", w.text("1.2.3.4/8"))),
    "pattern that is none": Verdict(w.known("Pattern", w.text("("), w.integer(0))),
    "pattern of a number": Verdict(w.known("Pattern", ONE, ONE)),
    "pattern with flags that are none": Verdict(
        w.known("Pattern", w.text("a"), w.integer(1 << 20)), may_load=True
    ),
    "pattern with flags beyond": Verdict(w.known("Pattern", w.text("a"), w.integer(10**30))),
    "pattern nested deep": Verdict(w.known("Pattern", w.text("(" * 5000 + ")" * 5000), w.integer(32))),
    "range without step": Verdict(w.known("Range", ONE, ONE, w.integer(0))),
    "range of texts": Verdict(w.known("Range", w.text("a"), w.text("b"), w.text("c"))),
    "array of another code": Verdict(w.known("Array", w.text("Z"), w.blob(b""))),
    "array of a long code": Verdict(w.known("Array", w.text("ii"), w.blob(b""))),
    "array of half an item": Verdict(w.known("Array", w.text("i"), w.blob(b"123"))),
    "array of surrogates": Verdict(w.known("Array", w.text("u"), w.blob(b"\xff" * 8))),
    "deque of negative length": Verdict(w.known("Deque", w.integer(-1), w.sequence())),
    "deque longer than it may": Verdict(w.known("Deque", ONE, w.sequence(ONE, ONE)), may_load=True),
    "deque of a number": Verdict(w.known("Deque", w.NONE, ONE)),
    "deque with a text for maxlen": Verdict(w.known("Deque", w.text("5"), w.sequence())),
    "deque with a huge maxlen": Verdict(w.known("Deque", w.integer(HUGE), w.sequence()), may_load=True),
    "ordered dict of a list": Verdict(w.known("OrderedDict", w.sequence())),
    "counter of a list": Verdict(w.known("Counter", w.sequence())),
    "default dict of a number": Verdict(w.known("DefaultDict", ONE, w.dict_(ONE, ONE))),
    "proxy of a number": Verdict(w.known("MappingProxy", ONE)),
    "proxy of itself": Verdict(w.mark(w.known("MappingProxy", w.reference(1)))),
    "known type with nothing behind": Verdict(w.tag("KNOWN_TYPE")),
    "known type of no row": Verdict(w.tag("KNOWN_TYPE", b"\xc8")),
    "buffer of none": Verdict(w.tag("BUFFER", b"\x00\x00")),
    "buffer of a huge number": Verdict(w.tag("BUFFER", b"\x00", w.length(HUGE))),
}
NUMPY = {
    "objects from bytes": ("O", w.tuple_(ONE), w.blob(bytes(8))),
    "object fields from bytes": ("[('a', 'O')]", w.tuple_(ONE), w.blob(bytes(8))),
    "no such dtype": ("nope", w.tuple_(ONE), w.blob(b"x")),
    "dtype of an import": ("os.system", w.tuple_(ONE), w.blob(b"x")),
    "huge items": ("V2000000000", w.tuple_(ONE), w.blob(b"x")),
    "huge items, many": ("V2000000000", w.tuple_(w.integer(HUGE)), w.blob(b"x")),
    "too few bytes": ("<f8", w.tuple_(w.integer(3)), w.blob(bytes(16))),
    "too many bytes": ("<f8", w.tuple_(w.integer(1)), w.blob(bytes(16))),
    "overflowing shape": ("<f8", w.tuple_(w.integer(1 << 31), w.integer(1 << 31)), w.blob(b"")),
    "negative shape": ("<f8", w.tuple_(w.integer(-1)), w.blob(b"")),
    "shape of texts": ("<f8", w.tuple_(w.text("x")), w.blob(b"")),
    "shape of a number": ("<f8", ONE, w.blob(bytes(8))),
    "too many dimensions": ("<f8", w.tuple_(*[ONE] * 99), w.blob(bytes(8))),
    "items in a list for floats": ("<f8", w.tuple_(ONE), w.sequence(ONE)),
    "too few objects": ("|O", w.tuple_(w.integer(3)), w.sequence(ONE)),
    "billions of empty items": ("S0", w.tuple_(w.integer(HUGE)), w.blob(b"")),
}
for _name, (_dtype, _shape, _items) in NUMPY.items():
    HOSTILE[f"array: {_name}"] = Verdict(w.known("NdArray", w.text(_dtype), _shape, w.tag("FALSE"), _items))
for _name, _dtype in {"object": "O", "void": "V2000000000", "text": "nope", "time": "M8[parsec]"}.items():
    HOSTILE[f"scalar: {_name}"] = Verdict(w.known("NumpyScalar", w.text(_dtype), w.blob(bytes(8))))
for _name in (
    "eval",
    "exec",
    "open",
    "print",
    "compile",
    "__import__",
    "breakpoint",
    "Warning.with_traceback",
    "no",
):
    HOSTILE[f"factory: {_name}"] = Verdict(
        w.known("DefaultDict", w.known("BuiltinType", w.text(_name)), w.dict_())
    )


@each("name", HOSTILE)
def test_hostile(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    verdict = HOSTILE[name]
    data = w.message(w.sequence(ONE, verdict.body, ONE))
    if verdict.may_load:
        tried(data)
    else:
        refused(data)
    tried(w.message(verdict.body))
    assert capfd.readouterr() == ("", "")


@each("name", HOSTILE)
def test_hostile_as_key(name: str) -> None:
    """Where it is hashed as soon as it is there."""
    body = HOSTILE[name].body
    tried(w.message(w.dict_(body, ONE)))
    tried(w.message(w.sized("SET", 1, w.tuple_(body))))


def test_debug_patterns_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    tried(w.message(w.known("Pattern", w.text("a|b"), w.integer(128 | 32))))
    assert capfd.readouterr() == ("", "")


# --- depth -----------------------------------------------------------------------------------------------------------
DEEP: dict[str, tuple[bytes, bytes]] = {
    "lists": (bytes([w.TAG.LIST_FIX + 1]), b""),
    "tuples": (bytes([w.TAG.TUPLE_FIX + 1]), b""),
    "dict values": (w.tag("DICT", b"\x01", ONE), b""),
    "dict keys": (w.tag("DICT", b"\x01"), ONE),
    "tuples as keys": (w.tag("TUPLE", b"\x01"), b""),
    "sets": (w.tag("SET", b"\x01"), b""),
    "frozensets": (w.tag("FROZENSET", b"\x01"), b""),
    "slices": (w.known("Slice"), ONE + ONE),
    "deques": (w.known("Deque", w.NONE) + bytes([w.TAG.LIST_FIX + 1]), b""),
    "proxies": (w.known("MappingProxy") + w.tag("DICT", b"\x01", ONE), b""),
    "ordered dicts": (w.known("OrderedDict") + w.tag("DICT", b"\x01", ONE), b""),
    "default dicts": (w.known("DefaultDict", w.NONE) + w.tag("DICT", b"\x01", ONE), b""),
    "timezones": (w.known("Timezone"), w.NONE),
    "marks": (w.tag("MARK"), b""),
    "object arrays": (
        w.known("NdArray", w.text("O"), w.tuple_(ONE), w.tag("FALSE")) + bytes([w.TAG.LIST_FIX + 1]),
        b"",
    ),
}


# What a message's depth could overflow: of this size, even with 40 bytes a frame.
STACK = 2 << 20
DEEPER_THAN_THE_STACK = 60_000


@contextlib.contextmanager
def on_a_stack_of(size: int) -> Iterator[Callable[[Callable[[], object]], None]]:
    """A function that runs another in a thread with such a stack."""
    before = threading.stack_size(size)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            yield lambda work: pool.submit(work).result()
    finally:
        threading.stack_size(before)


@each("limits", [None, ALL_LIMITS], ids=["default", "deep"])
@each("name", DEEP)
def test_deep_nesting(name: str, limits: holdall.Limits | None) -> None:
    """Any depth of anything: refused or built, and then freed, without the C stack."""
    before, after = DEEP[name]
    with on_a_stack_of(STACK) as run:
        for depth in (100, 20_000, DEEPER_THAN_THE_STACK):
            run(lambda depth=depth: tried(w.message(before * depth, ONE, after * depth), limits=limits))
            run(lambda depth=depth: tried(w.message(before * depth), limits=limits))


@pytest.mark.parametrize("limits", [None, ALL_LIMITS], ids=["default", "deep"])
@pytest.mark.parametrize("name", ["tuples", "frozensets", "slices"])
def test_deep_keys(name: str, limits: holdall.Limits | None) -> None:
    """Hashing a deep tuple recurses in C with no check of its own."""
    before, after = DEEP[name]
    with on_a_stack_of(STACK) as run:
        for depth in (100, 20_000, DEEPER_THAN_THE_STACK):
            for tag in ("DICT", "SET", "FROZENSET"):
                last = ONE if tag == "DICT" else b""
                data = w.message(w.tag(tag, b"\x01"), before * depth, ONE, after * depth, last)
                run(lambda data=data: tried(data, limits=limits))


def test_deep_equal_keys() -> None:
    """Comparing two deep keys with one hash."""
    deep = bytes([w.TAG.TUPLE_FIX + 1]) * 5_000 + ONE
    tried(w.message(w.dict_(deep, ONE, deep, ONE)))


# --- no code ---------------------------------------------------------------------------------------------------------
def test_no_import() -> None:
    """No module that the data names is imported, found or even looked for."""
    looked_for: list[str] = []

    class Spy:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            looked_for.append(name)

    sys.meta_path.insert(0, Spy)  # type: ignore[arg-type]
    before = set(sys.modules)
    try:
        for name in (
            "antigravity.fly",
            "this.s",
            "os.system",
            "builtins.eval",
            "no.such.Thing",
            "x",
            "",
            ".",
            "a..b",
        ):
            for kind in ("object", "based", "enum", "custom"):
                refused(w.message(w.layout(kind, name, [], ONE)))
                tried(w.message(w.layout(kind, name, [], ONE)))
                holdall_record = w.message(w.layout("object", name, ["a"], ONE))
                with contextlib.suppress(holdall.DecodeError):
                    holdall.loads(holdall_record, types=holdall.Record)
    finally:
        sys.meta_path.remove(Spy)  # type: ignore[arg-type]
    assert looked_for == [] and set(sys.modules) == before


def test_nothing_the_data_names_is_called() -> None:
    called: list[str] = []
    for name in ("print", "eval", "exec", "open", "exit"):
        body = w.layout("object", f"builtins.{name}", ["a"], w.text("1"))
        for types in ((), TYPES, holdall.Record):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(builtins, name, lambda *args, _name=name, **options: called.append(_name))
                try:
                    holdall.loads(w.message(body), types=types)
                except holdall.DecodeError as error:
                    assert name in str(error)
    assert called == []


def test_unknown_types_tell_the_remedies() -> None:
    error = refused(w.message(w.layout("object", "shop.cart.Item", ["a"], ONE)))
    assert isinstance(error, holdall.UnknownTypeError)
    assert error.type_name == "shop.cart.Item"
    for part in ("shop.cart.Item", "register", "types=", "holdall.Record"):
        assert part in str(error)


def test_setters_and_properties_are_not_called() -> None:
    body = w.layout("object", MODELS + "Property", ["value"], ONE)
    back = tried(w.message(body))
    if isinstance(back, models.Property):
        assert vars(back) == {"value": 1}


def test_errors_show_no_data() -> None:
    secret = "s3cr3t-passw0rd"
    data = holdall.dumps({"password": secret, "list": [1, 2]})
    for end in range(len(data)):
        error = refused(data[:end])
        assert secret not in str(error)


# --- what else may be handed in --------------------------------------------------------------------------------------
def test_every_bytes_like() -> None:
    import array
    import mmap

    data = holdall.dumps([1, "text"])
    inputs: list[Any] = [
        data,
        bytearray(data),
        memoryview(data),
        memoryview(b"x" + data)[1:],
        array.array("B", data),
    ]
    with mmap.mmap(-1, len(data)) as mapped:
        mapped[:] = data
        for given in [*inputs, mapped]:
            assert holdall.loads(given) == [1, "text"]


@pytest.mark.parametrize(
    "given", ["text", 5, None, [1], memoryview(b"abcdef")[::2]], ids=lambda given: type(given).__name__
)
def test_what_is_not_bytes(given: Any) -> None:
    with pytest.raises((TypeError, holdall.DecodeError, BufferError)):
        holdall.loads(given)


def test_a_range_is_no_pair_of_numbers() -> None:
    """Of a few bytes, it would go on for ever."""
    for strict in (True, False):
        with pytest.raises(holdall.ValidationError, match="Expected `complex`, got `range`"):
            holdall.loads(holdall.dumps(range(10**30)), type=complex, strict=strict)


def test_input_is_let_go() -> None:
    """A bytearray can be resized again as soon as `loads` is back, also after an error."""
    data = bytearray(holdall.dumps([1, "text", b"data"]))
    back = holdall.loads(data)
    data.append(0)
    refused(data)  # type: ignore[arg-type]
    data.clear()
    assert back == [1, "text", b"data"]


def test_kinds_load_after_all_this() -> None:
    """Nothing above may have left a permission or a broken class behind."""
    for name in ("dataclass", "enum", "my dict", "cyclic nodes", "shared"):
        obj = BY_NAME[name].make()
        isomorphic(obj, holdall.loads(holdall.dumps(obj), types=TYPES))
    with pytest.raises(holdall.UnknownTypeError):
        holdall.loads(holdall.dumps(build(models.PlainDict, a=1)))


@pytest.mark.parametrize("name", ["SyntaxError", "IndentationError", "ExceptionGroup", "BaseExceptionGroup"])
def test_an_exception_whose_argument_has_no_end(name: str) -> None:
    """Their constructors go through the second argument, whatever it is."""
    if not hasattr(builtins, name):
        pytest.skip("exception groups came with Python 3.11")
    endless = {
        "range": wire.known("Range", wire.integer(0), wire.integer(1 << 60), wire.integer(1)),
        "network": wire.known("IPv4Network", wire.text("10.0.0.0/8")),
        "long text": wire.text("x" * 1000),
    }
    for second in endless.values():
        content = wire.tuple_(wire.tuple_(wire.text("message"), second), wire.dict_())
        data = wire.message(wire.layout("based", f"builtins.{name}", [], content))
        tracemalloc.start()
        try:
            with pytest.raises(holdall.DecodeError, match="does not take its arguments"):
                holdall.loads(data)
            assert tracemalloc.get_traced_memory()[1] < 1 << 20
        finally:
            tracemalloc.stop()
