"""`holdall.msgpack.compat` beside msgpack-python itself."""

from __future__ import annotations

import collections
import datetime
import enum
import io
import random
import struct

import msgpack
import pytest

import holdall
from holdall.msgpack import compat
from holdall.msgpack.compat import ExtType
from tests.support.beside import MODULES, agree, outcome, plain
from tests.support.each import each

oracle = pytest.importorskip("msgpack")

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2018, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


class Text(str):
    pass


class Items(list):
    pass


class Table(dict):
    pass


class Number(int):
    pass


class Real(float):
    pass


class Octets(bytes):
    pass


class Colour(enum.IntEnum):
    RED = 7


Point = collections.namedtuple("Point", "x y")

VALUES = {
    "None": lambda module: None,
    "True": lambda module: True,
    "float": lambda module: 1.5,
    "-0.0": lambda module: -0.0,
    "text": lambda module: "é" * 40,
    "bytes": lambda module: b"x" * 300,
    "bytearray": lambda module: bytearray(b"ab"),
    "memoryview": lambda module: memoryview(b"ab"),
    "list": lambda module: [1, [2, [3]]],
    "tuple": lambda module: (1, (2, "x")),
    "dict": lambda module: {"a": {1: None}, (1, 2): [b""]},
    "ExtType": lambda module: module.ExtType(5, b"abc"),
    "Timestamp": lambda module: module.Timestamp(-1, 5),
    "deep Ext": lambda module: {"a": [(module.ExtType(0, b""), module.Timestamp(1))]},
    "str subclass": lambda module: [Text("a")],
    "list subclass": lambda module: Items([1, 2]),
    "dict subclass": lambda module: Table(a=1),
    "int subclass": lambda module: [Number(-5), Colour.RED],
    "float subclass": lambda module: Real(2.5),
    "bytes subclass": lambda module: Octets(b"ab"),
    "namedtuple": lambda module: Point(1, 2),
    "OrderedDict": lambda module: collections.OrderedDict(b=1, a=2),
    "defaultdict": lambda module: collections.defaultdict(list, a=[1]),
    "2**64": lambda module: [2**64],
    "-2**63-1": lambda module: -(2**63) - 1,
    "surrogate": lambda module: ["\ud800"],
    "set": lambda module: [{1}],
    "complex": lambda module: 1j,
    "aware": lambda module: [MOMENT],
    "naive": lambda module: MOMENT.replace(tzinfo=None),
    "date": lambda module: MOMENT.date(),
    "object": lambda module: object(),
    "range": lambda module: range(3),
    "exception": lambda module: ValueError("x"),
}

# `default` gives what each module's own types are needed for.
PACK_OPTIONS = {
    "none": lambda module: {},
    "strict_types": lambda module: {"strict_types": True},
    "datetime": lambda module: {"datetime": True},
    "strict datetime": lambda module: {"datetime": True, "strict_types": True},
    "default str": lambda module: {"default": lambda obj: f"a {type(obj).__name__}"},
    "default list": lambda module: {"default": lambda obj: [type(obj).__name__, {"x": (1,)}]},
    "default ext": lambda module: {"default": lambda obj: module.ExtType(1, type(obj).__name__.encode())},
    "default itself": lambda module: {"default": lambda obj: obj},
    "default strict": lambda module: {"default": lambda obj: type(obj).__name__, "strict_types": True},
    "default datetime": lambda module: {"default": lambda obj: "default", "datetime": True},
    "unicode_errors": lambda module: {"unicode_errors": "replace"},
    "ignore": lambda module: {"unicode_errors": "ignore"},
    "buf_size": lambda module: {"buf_size": 10},
    "unknown": lambda module: {"encoding": "utf-8"},
    "no default": lambda module: {"default": 3},
}


@each("value", VALUES)
@each("options", PACK_OPTIONS)
def test_packb(value, options):
    def act(module):
        return module.packb(VALUES[value](module), **PACK_OPTIONS[options](module))

    agree(act)


@each("value", [*range(-40, 300), *(sign * 2**power + by for power in (15, 16, 31, 32, 63) for sign in (1, -1) for by in (-1, 0, 1))])  # fmt: skip
def test_ints(value):
    agree(lambda module: module.packb(value))


@each("make", [lambda n: "x" * n, bytes, lambda n: [None] * n, lambda n: dict.fromkeys(range(n)), lambda n: "é" * (n // 2), tuple])  # fmt: skip
@each("size", [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536])
def test_lengths(make, size):
    value = make(range(size)) if make is tuple else make(size)
    kind, _ = agree(lambda module: module.packb(value))
    assert kind == "given"
    # A head that the walk writes is the one that the core writes.
    assert compat.Packer(default=repr)._walk(value) == compat.packb(value)


@pytest.mark.parametrize("depth", [100, 1020, 1021, 1022, 1023, 1024, 1025, 5000])
def test_depth(depth):
    data = b"\x91" * depth
    agree(lambda module: module.unpackb(data + b"\xc0"))
    agree(lambda module: module.unpackb(data + b"\x90"))
    agree(lambda module: module.unpackb(data + b"\xc0", list_hook=len))
    nested = []
    for _ in range(depth - 1):
        nested = [nested]
    # Where all is of builtin types there is no limit; with a limit, it's the same.
    assert compat.packb(nested) == data[1:] + b"\x90"


def test_cycles_end():
    cycle = []
    cycle += [cycle, {"a": cycle}]
    for options in ({}, {"default": repr}, {"strict_types": True}):
        with pytest.raises(ValueError):
            compat.packb(cycle, **options)
    with pytest.raises(ValueError, match="recursion limit exceeded"):
        compat.packb(object(), default=lambda obj: [obj])


def test_what_packing_refuses():
    with pytest.raises(ValueError, match="unicode_errors: 'surrogatepass' leaves what is not UTF-8"):
        compat.packb("\ud800", unicode_errors="surrogatepass")
    assert compat.packb("fine", unicode_errors="surrogatepass") == b"\xa4fine"
    with pytest.raises(ValueError, match="can not serialize .datetime. object where tzinfo=None"):
        compat.packb(datetime.datetime(2020, 1, 1), datetime=True)


@pytest.mark.parametrize(
    "options",
    [{"use_single_float": True}, {"use_bin_type": False}, {"use_single_float": True, "use_bin_type": False}],
)
def test_old_forms(options):
    sizes = [0, 1, 31, 32, 255, 256, 65535, 65536]
    values = [
        *(b"x" * size for size in sizes),
        *("x" * size for size in sizes),
        bytearray(b"ab"),
        memoryview(b"abc"),
        "ä",
        {b"k": "v"},
    ]
    values += [
        1.5,
        0.1,
        -0.0,
        float("inf"),
        5e-324,
        3.4028234663852886e38,
        [1, None, True, {"a": (2.5, b"c")}],
        ExtType(1, b"ab"),
    ]
    for value in values:
        if isinstance(value, ExtType):
            theirs = msgpack.packb(msgpack.ExtType(1, b"ab"), **options)
        else:
            theirs = msgpack.packb(value, **options)
        assert compat.packb(value, **options) == theirs
    if "use_single_float" in options:
        for value in (1e300, -1e39):
            with pytest.raises(OverflowError):
                compat.packb(value, **options)
            with pytest.raises(OverflowError):
                msgpack.packb(value, **options)


def test_views_that_are_not_contiguous():
    packed = compat.packb([2**32, "text"])
    spread = memoryview(bytes(byte for pair in packed for byte in (pair, 0)))[::2]
    assert compat.unpackb(spread) == [2**32, "text"]
    unpacker = compat.Unpacker()
    unpacker.feed(spread)
    assert list(unpacker) == [[2**32, "text"]]
    with pytest.raises(compat.ExtraData) as caught:
        compat.unpackb(memoryview(bytes(byte for pair in b"\x00extra" for byte in (pair, 0)))[::2])
    assert (caught.value.unpacked, caught.value.extra) == (0, b"extra")


@pytest.mark.parametrize(
    ("begun", "most"),
    [(b"\xdc\x00\x06zz", 5), (b"\xde\x00\x06zz", 5), (b"\x91\xdd\xff\xff\xff\xff", 100),
     (b"\x91" * 3 + b"\xdf\x7f\xff\xff\xff", 100)],
)  # fmt: skip
def test_what_says_of_itself_that_it_is_too_long(begun, most):
    for module in (compat, msgpack):
        unpacker = module.Unpacker(max_buffer_size=most)
        unpacker.feed(begun)
        with pytest.raises(ValueError, match="exceeds max_"):
            unpacker.unpack()


# --- Packer ---


def steps(module, **options):
    packer = module.Packer(**options)
    yield packer.pack({"a": 1})
    yield packer.pack_array_header(3)
    yield packer.pack_array_header(70_000)
    yield packer.pack_map_header(16)
    yield packer.pack_map_header(15)
    yield packer.pack_map_pairs([("b", 1), ("a", 2), ("b", 3), ([1], module.ExtType(1, b""))])
    yield packer.pack_map_pairs({"x": 1}.items())
    yield packer.pack_ext_type(5, b"abc")
    yield packer.pack_ext_type(-5, bytearray(b"a"))
    yield packer.bytes()
    yield bytes(packer.getbuffer())
    yield packer.reset()
    yield packer.bytes()
    yield packer.pack(5)
    yield packer.bytes()


@pytest.mark.parametrize("options", [{}, {"autoreset": False}], ids=repr)
def test_packer(options):
    kind, _ = agree(lambda module: list(steps(module, **options)))
    assert kind == "given"


@pytest.mark.parametrize(
    "act",
    [
        lambda packer: packer.pack_array_header(-1),
        lambda packer: packer.pack_array_header(2**32),
        lambda packer: packer.pack_map_header(2**32),
        lambda packer: packer.pack_map_pairs(iter([(1, 2)])),
    ],
)
def test_packer_refuses(act):
    kind, _ = agree(lambda module: act(module.Packer()))
    assert kind == "raised"


def test_what_failed_leaves_nothing_in_the_buffer():
    packer = compat.Packer(autoreset=False)
    packer.pack(1)
    with pytest.raises(TypeError):
        packer.pack([2, object()])
    packer.pack(3)
    assert packer.bytes() == b"\x01\x03"
    assert isinstance(packer.getbuffer(), memoryview)


def test_a_large_header_needs_no_values():
    assert compat.Packer().pack_array_header(2**32 - 1) == b"\xdd\xff\xff\xff\xff"
    assert compat.Packer().pack_map_header(2**32 - 1) == b"\xdf\xff\xff\xff\xff"


# --- unpackb ---

UNPACK_OPTIONS = {
    "none": {},
    "keys": {"strict_map_key": False},
    "raw": {"raw": True},
    "tuples": {"use_list": False},
    "tuples and keys": {"use_list": False, "strict_map_key": False},
    "timestamp 1": {"timestamp": 1},
    "timestamp 2": {"timestamp": 2},
    "timestamp 3": {"timestamp": 3},
    "timestamp 4": {"timestamp": 4},
    "object_hook": {"object_hook": lambda table: ["hooked", *table.items()], "strict_map_key": False},
    "pairs hook": {"object_pairs_hook": lambda pairs: ["hooked", *pairs], "strict_map_key": False},
    "list_hook": {"list_hook": tuple, "strict_map_key": False},
    "list_hook of tuples": {"list_hook": lambda items: [items], "use_list": False},
    "hooks of both": {"list_hook": sum, "object_hook": len},
    "object_hook and raw": {"object_hook": lambda table: sorted(table), "raw": True},
    "ext_hook": {"ext_hook": lambda code, data: {code: [data]}},
    "ext_hook and object_hook": {"ext_hook": lambda code, data: {code: 1}, "object_hook": lambda table: "hooked"},
    "replace": {"unicode_errors": "replace"},
    "surrogateescape": {"unicode_errors": "surrogateescape", "raw": False},
    "two hooks": {"object_hook": dict, "object_pairs_hook": dict},
    "no hook": {"object_hook": 3},
    "no list_hook": {"list_hook": "x"},
    "no ext_hook": {"ext_hook": 3},
    "max_str_len": {"max_str_len": 2},
    "max_bin_len": {"max_bin_len": 2},
    "max_array_len": {"max_array_len": 1},
    "max_map_len": {"max_map_len": 1},
    "max_ext_len": {"max_ext_len": 2},
    "limits that fit": {"max_str_len": 400, "max_bin_len": 400, "max_array_len": 400, "max_map_len": 400, "max_ext_len": 400},
    "unknown": {"encoding": "utf-8"},
}  # fmt: skip

MESSAGES = {
    "scalars": oracle.packb([None, True, -1, 1.5, "é", b"x", 2**64 - 1]),
    "nested": oracle.packb({"a": [1, {"b": [[], {}]}], "c": (1, 2)}),
    "numbers": oracle.packb([[1, 2], [3]]),
    "ext": oracle.packb({"a": oracle.ExtType(3, b"abc"), "b": [oracle.ExtType(0, b"")]}),
    "negative ext": bytes.fromhex("91d4fe10"),
    "timestamps": oracle.packb([oracle.Timestamp(1514862245), oracle.Timestamp(1514862245, 678_901_234), oracle.Timestamp(-1, 5)]),
    "far timestamp": oracle.packb(oracle.Timestamp(2**40)),
    "bad timestamp": bytes.fromhex("d5ff0101"),
    "bad nanoseconds": bytes.fromhex("d7ffffffffff5a4af6a5"),
    "int key": b"\x81\x01\x02",
    "deep int key": b"\x91\x81\xa1a\x81\x01\x02",
    "timestamp key": bytes.fromhex("81d6ff5a4af6a501"),
    "array key": b"\x81\x91\x01\x02",
    "map key": b"\x81\x80\x02",
    "key twice": b"\x82\xa1a\x01\xa1a\x02",
    "bad text": b"\x92\x01\xa2a\xff",
    "bad key": b"\x81\xa1\xff\x01",
    "long text": oracle.packb("x" * 300),
    "long": oracle.packb([b"x" * 300, "abc", {"a": 1, "b": 2}]),
    "never used": b"\xc1",
    "never used within": b"\x92\x01\xc1",
    "empty": b"",
    "short": b"\x92\x01",
    "left over": b"\x01\x02\x03",
}  # fmt: skip


# Options and messages of which the two differ: of two errors ours is another, or a timestamp counts as ext in theirs alone.
DIFFER = {
    ("max_array_len", "never used within"): "raised",
    ("max_ext_len", "timestamps"): "given",
    ("max_ext_len", "far timestamp"): "given",
}


@each("message", MESSAGES)
@each("options", UNPACK_OPTIONS)
def test_unpackb(message, options):
    def act(module):
        return module.unpackb(MESSAGES[message], **UNPACK_OPTIONS[options])

    if (options, message) in DIFFER:
        ours, theirs = outcome(lambda: act(compat)), outcome(lambda: act(oracle))
        assert ours != theirs
        assert (ours[0], theirs[0]) == (DIFFER[options, message], "raised")
    else:
        agree(act)


@pytest.mark.parametrize("options", ["none", "keys", "object_hook", "timestamp 1"])
def test_changed_bytes(options):
    """Both read the same, or both refuse; which of several errors comes first may differ."""
    pick = random.Random(options)
    for message in MESSAGES.values():
        for _ in range(60 if message else 1):
            data = bytearray(message)
            for _ in range(pick.randint(1, 3) if message else 0):
                data[pick.randrange(len(data))] = pick.randrange(256)
            data = bytes(data)
            ours, theirs = (
                outcome(lambda module=module, data=data: module.unpackb(data, **UNPACK_OPTIONS[options]))
                for module in MODULES
            )
            assert ours[0] == theirs[0], data
            assert ours[0] == "raised" or ours == theirs, data


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_unpackb_of_every_buffer(kind):
    assert compat.unpackb(kind(b"\x91\x01")) == [1]
    assert compat.unpackb(kind(b"\x91\x01"), list_hook=tuple) == (1,)
    with pytest.raises(TypeError):
        compat.unpackb("text")


def test_what_is_left_over():
    for options in ({}, {"list_hook": list}):
        with pytest.raises(compat.ExtraData) as caught:
            compat.unpackb(b"\x91\x01\x02\x03", **options)
        assert (caught.value.unpacked, caught.value.extra) == ([1], b"\x02\x03")
        assert str(caught.value) == "unpack(b) received extra data."


def test_ext_hook_results_are_no_concern_of_other_hooks():
    seen = []
    data = compat.packb({"a": compat.ExtType(1, b"")})
    made = compat.unpackb(
        data, ext_hook=lambda code, data: {"inner": []}, object_hook=lambda t: seen.append(t) or t
    )
    assert made == {"a": {"inner": []}}
    assert seen == [made]


@pytest.mark.parametrize("options", [{}, {"object_hook": dict}], ids=repr)
def test_errors_of_hooks_come_through(options):
    def hook(code, data):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        compat.unpackb(bytes.fromhex("d40110"), ext_hook=hook, **options)


# --- Unpacker ---


class File:
    """Gives `read` alone, and notes what it was asked for."""

    def __init__(self, data):
        self.inner, self.asked = io.BytesIO(data), []

    def read(self, size):
        self.asked.append(size)
        return self.inner.read(size)


STREAM = b"".join(map(oracle.packb, [1, [2, "x"], {"a": b"y"}, oracle.ExtType(1, b"z"), "é" * 50]))


def drained(unpacker):
    return [plain(value) for value in unpacker]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_unpacker_is_fed(size):
    def act(module):
        unpacker, came = module.Unpacker(), []
        for at in range(0, len(STREAM), size):
            unpacker.feed(STREAM[at : at + size])
            came.append(drained(unpacker))
        return [*came, unpacker.tell()]

    kind, _ = agree(act)
    assert kind == "given"


@pytest.mark.parametrize("options", [{}, {"read_size": 2}, {"read_size": 5, "max_buffer_size": 120}, {"use_list": False}, {"object_hook": len}], ids=repr)  # fmt: skip
def test_unpacker_reads_a_file(options):
    kind, _ = agree(lambda module: [*module.Unpacker(File(STREAM), **options), "end"])
    assert kind == "given"
    file = File(STREAM)
    list(compat.Unpacker(file, **options))
    assert set(file.asked) <= {options.get("read_size", 1 << 20)}


def test_unpacker_piece_by_piece():
    data = b"\x93\x01\xa1a\x02\x82\xa1k\x01\xa1l\x02\xdc\x00\x02\x05\x06\xdf\x00\x00\x00\x01\x07\x08"

    def act(module, unpacker):
        yield unpacker.read_array_header()
        yield unpacker.skip()
        yield unpacker.unpack()
        yield unpacker.unpack()
        yield unpacker.read_map_header()
        yield unpacker.tell()
        yield unpacker.read_bytes(2)
        yield [unpacker.unpack() for _ in range(3)]
        yield unpacker.read_array_header()
        yield unpacker.skip()
        yield unpacker.skip()
        yield unpacker.read_map_header()
        yield unpacker.tell()
        yield unpacker.read_bytes(100)
        yield unpacker.read_bytes(100)
        yield unpacker.tell()

    def fed(module):
        unpacker = module.Unpacker()
        unpacker.feed(data)
        return list(act(module, unpacker))

    assert agree(fed)[0] == "given"
    assert agree(lambda module: list(act(module, module.Unpacker(File(data), read_size=1))))[0] == "given"


@each(
    "act",
    [
        lambda unpacker: unpacker.unpack(),
        lambda unpacker: unpacker.skip(),
        lambda unpacker: unpacker.read_array_header(),
        lambda unpacker: unpacker.read_map_header(),
    ],
)
@each("data", [b"", b"\xdc\x00", b"\xde\x00", b"\x81", b"\x91", b"\x01", b"\xc1", b"\xa2a", b"\x81\x01\x02"])
def test_unpacker_refuses(act, data):
    def of_fed(module):
        unpacker = module.Unpacker()
        unpacker.feed(data)
        return act(unpacker)

    agree(of_fed)
    agree(lambda module: act(module.Unpacker(io.BytesIO(data))))


def test_out_of_data_leaves_all_in_place():
    unpacker = compat.Unpacker()
    for byte in STREAM[:3]:
        unpacker.feed(bytes([byte]))
    assert unpacker.unpack() == 1
    for act in (unpacker.unpack, unpacker.skip):
        with pytest.raises(compat.OutOfData):
            act()
    assert unpacker.tell() == 1
    unpacker.feed(STREAM[3:])
    assert unpacker.unpack() == [2, "x"]


def test_header_across_pieces():
    unpacker = compat.Unpacker()
    for byte in b"\xdd\x00\x00\x00":
        unpacker.feed(bytes([byte]))
        with pytest.raises(compat.OutOfData):
            unpacker.read_array_header()
    unpacker.feed(b"\x02\x05")
    assert unpacker.read_array_header() == 2
    assert unpacker.unpack() == 5


def test_buffers_that_are_full():
    for module in MODULES:
        unpacker = module.Unpacker(max_buffer_size=5)
        with pytest.raises(module.BufferFull):
            unpacker.feed(b"123456")
        unpacker.feed(b"\x01\x02\x03\x04\x05")
        assert unpacker.unpack() == 1
        unpacker.feed(b"\x06")
        with pytest.raises(module.BufferFull):
            unpacker.feed(b"\x07")
        assert list(unpacker) == [2, 3, 4, 5, 6]
        with pytest.raises(module.BufferFull):
            module.Unpacker(io.BytesIO(module.packb("x" * 100)), max_buffer_size=50).unpack()
        with pytest.raises(ValueError, match="read_size should be less or equal to max_buffer_size"):
            module.Unpacker(io.BytesIO(), read_size=10, max_buffer_size=5)
        assert module.Unpacker(io.BytesIO(b"\x01"), max_buffer_size=0).unpack() == 1


def test_feed_is_for_unpackers_without_a_file():
    for module in MODULES:
        with pytest.raises(AssertionError):
            module.Unpacker(io.BytesIO(b"\x01")).feed(b"1")
        with pytest.raises(TypeError):
            module.Unpacker().feed("text")
        with pytest.raises(AttributeError):
            module.Unpacker(3)


@pytest.mark.parametrize(("hook", "data"), [("object_hook", b"\x91\x80"), ("ext_hook", b"\xd4\x01x")])
def test_hooks_can_not_feed(hook, data):
    unpacker = compat.Unpacker(**{hook: lambda *given: unpacker.feed(b"1")})
    unpacker.feed(data)
    with pytest.raises(RuntimeError):
        unpacker.unpack()


def test_a_value_that_can_not_be_unpacked_is_passed_over():
    unpacker = compat.Unpacker()
    unpacker.feed(b"\x81\x01\x02\xa1\xff\x05")
    with pytest.raises(ValueError, match="int is not allowed for map key"):
        unpacker.unpack()
    with pytest.raises(UnicodeDecodeError):
        unpacker.unpack()
    assert unpacker.unpack() == 5
    unpacker.feed(b"\xc1\x01")
    for _ in range(2):
        with pytest.raises(compat.FormatError):
            unpacker.unpack()


# --- streams, names, exceptions ---


def test_files():
    for module in MODULES:
        file = io.BytesIO()
        module.pack({"a": {1}}, file, default=list)
        assert file.getvalue() == b"\x81\xa1a\x91\x01"
        file.seek(0)
        assert module.unpack(file, use_list=False) == {"a": (1,)}
        with pytest.raises(module.ExtraData):
            module.load(io.BytesIO(b"\x01\x02"))
        assert (module.dump, module.dumps, module.load, module.loads) == (
            module.pack,
            module.packb,
            module.unpack,
            module.unpackb,
        )


def test_every_name_of_the_package_is_there():
    names = {name for name in dir(oracle) if not name.startswith("_")}
    # A module, and what the package imports or says of itself.
    assert names - {"ext", "os", "version"} <= set(compat.__all__)
    for name in vars(oracle.exceptions):
        if not name.startswith("_"):
            ours, theirs = getattr(compat.exceptions, name), getattr(oracle.exceptions, name)
            assert getattr(compat, name) is ours
            assert [base.__name__ for base in ours.__mro__] == [base.__name__ for base in theirs.__mro__]
    for name in ("Packer", "Unpacker"):
        public = {part for part in dir(getattr(oracle, name)) if not part.startswith("_")}
        assert public <= set(dir(getattr(compat, name)))


@pytest.mark.parametrize("arguments", [(1, b"a"), (0, b""), (127, b""), (-1, b""), (128, b""), (1, "a"), ("1", b"a"), (1, bytearray())])  # fmt: skip
def test_ext_type(arguments):
    agree(lambda module: module.ExtType(*arguments))
    agree(lambda module: repr(module.ExtType(*arguments)))
    if arguments == (1, b"a"):
        ext = compat.ExtType(*arguments)
        assert ext == (1, b"a")
        assert isinstance(ext, tuple)


@pytest.mark.parametrize("number", [0, 1, -1, 1.5, -1.25, 0.29, 1514862245.678901, -0.1])
def test_timestamps_from_numbers(number):
    agree(lambda module: module.Timestamp.from_unix(number))
    agree(lambda module: module.Timestamp.from_unix(number).to_unix())
    agree(lambda module: module.Timestamp.from_unix_nano(int(number * 1000)).to_unix_nano())
    agree(lambda module: module.Timestamp.from_unix(number).to_datetime())


@pytest.mark.parametrize("moment", [MOMENT, MOMENT.replace(tzinfo=None), datetime.datetime(1, 1, 1, tzinfo=UTC), datetime.datetime.max.replace(tzinfo=UTC)], ids=str)  # fmt: skip
def test_timestamps_from_datetimes(moment):
    agree(lambda module: module.Timestamp.from_datetime(moment))


def test_what_holdall_wrote_is_read_by_the_package():
    value = {"a": [1, 2.5, None, "é"], "b": b"\x00", "when": MOMENT, "ext": holdall.msgpack.Ext(3, b"x")}
    read = oracle.unpackb(holdall.msgpack.dumps(value), timestamp=3)
    assert read == {**value, "ext": oracle.ExtType(3, b"x")}


def test_floats_keep_every_bit():
    for bits in (0x7FF8000000000001, 0xFFF0000000000000, 1, 0x8000000000000000):
        (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
        assert compat.packb(number)[1:] == bits.to_bytes(8, "big")
        assert struct.pack(">d", compat.unpackb(compat.packb(number))) == bits.to_bytes(8, "big")
