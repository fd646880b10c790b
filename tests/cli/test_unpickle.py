"""Pickles, read as data: the same as pickle's own loads for what is data, and refused for what is code."""

from __future__ import annotations

import array
import collections
import contextlib
import datetime
import decimal
import fractions
import io
import os
import pathlib
import pickle
import pickletools
import struct
import time
import tracemalloc
import types
import uuid
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall._cli import _unpickle
from tests.support.each import each
from tests.support.isomorphic import isomorphic

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def read(data, **options):
    (value,) = _unpickle.values(data, **options)
    return value


def refusal(data, **options):
    with pytest.raises(holdall.DecodeError) as caught:
        read(data, **options)
    assert 0 <= caught.value.offset <= len(data)
    return caught.value


def a_cycle():
    inside = [1]
    inside.append((inside, {"me": inside}))
    return inside


def a_dict_of_itself():
    made = {"x": [1]}
    made["me"] = made
    made["y"] = made["x"]
    return made


def a_tuple_of_itself():
    made = ([],)
    made[0].append(made)
    return made


def a_namespace_of_itself():
    made = types.SimpleNamespace(a=1)
    made.me = made
    return made


ROME = zoneinfo.ZoneInfo("Europe/Rome")
VALUES = {
    "none": None, "true": True, "zero": 0, "byte": 255, "minus": -1, "big": 2**31, "long": -(2**100), "longer": 2**3000,
    "float": 1.5, "minus zero": -0.0, "inf": float("inf"), "nan": float("nan"),
    "text": "héllo", "empty text": "", "newline": "a\nb\\u0041", "surrogate": "\ud800", "long text": "x" * 70_000,
    "bytes": b"\x00\xff", "no bytes": b"", "long bytes": b"y" * 70_000, "bytearray": bytearray(b"ab"), "no bytearray": bytearray(),
    "list": [1, [2, []]], "long list": list(range(3000)), "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "dict": {"a": {1: None}, (1, (2, "x")): 3.0, b"k": []}, "long dict": {str(n): n for n in range(3000)},
    "set": {1, "a", (1, 2)}, "no set": set(), "frozenset": frozenset({1, frozenset({2})}), "long set": set(range(3000)),
    "complex": 1 - 2j, "range": range(1, 9, 2), "slice": slice(1, None, -1), "ellipses": [slice("a", (1,))],
    "cycle": a_cycle(), "dict of itself": a_dict_of_itself(), "tuple of itself": a_tuple_of_itself(),
    "shared": [[1]] * 3, "shared tuple": [(1, [2])] * 2, "shared frozenset": [frozenset({1})] * 2,
    "ordered": collections.OrderedDict([("b", 1), ("a", [2])]), "no ordered": collections.OrderedDict(),
    "counter": collections.Counter("abca"), "deque": collections.deque([1, [2]], 3), "endless deque": collections.deque("ab"),
    "defaultdict": collections.defaultdict(list, {1: [2]}), "defaultdict of none": collections.defaultdict(None, a=1),
    "nested factories": collections.defaultdict(dict, a=collections.defaultdict(int, b=1)),
    "namespace": types.SimpleNamespace(a=1, b=[2]), "namespace of itself": a_namespace_of_itself(),
    "datetime": datetime.datetime(2026, 1, 2, 3, 4, 5, 6), "fold": datetime.datetime(2026, 10, 25, 2, 30, fold=1),
    "utc": datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "zone": datetime.datetime(2026, 1, 2, tzinfo=ROME),
    "offset": datetime.time(1, 2, 3, 4, datetime.timezone(datetime.timedelta(hours=-2), "X"), fold=1),
    "date": datetime.date(1, 1, 1), "last date": datetime.date.max, "time": datetime.time(23, 59, 59, 999_999),
    "timedelta": datetime.timedelta(-1, 2, 3), "timezone": datetime.timezone(datetime.timedelta(minutes=90)), "rome": ROME,
    "decimal": decimal.Decimal("-1.50"), "huge decimal": decimal.Decimal("1E+999999"), "nan decimal": decimal.Decimal("NaN"),
    "fraction": fractions.Fraction(-1, 3), "uuid": uuid.UUID(int=5), "unsafe uuid": uuid.UUID(int=6, is_safe=uuid.SafeUUID.unsafe),
    "path": pathlib.Path("/a/b c"), "pure": pathlib.PurePosixPath("x/y"), "windows": pathlib.PureWindowsPath("c:/x"),
    "array": array.array("d", [1.5, 2]), "array of shorts": array.array("h", [-1]), "no array": array.array("Q"),
}  # fmt: skip


@each("protocol", PROTOCOLS)
@each("name", VALUES)
def test_what_pickle_loads(name, protocol):
    data = pickle.dumps(VALUES[name], protocol)
    isomorphic(pickle.loads(data), read(data))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_at_once_with_what_they_share(protocol):
    data = pickle.dumps([*VALUES.values(), *VALUES.values()], protocol)
    isomorphic(pickle.loads(data), read(data))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_as_the_pickler_of_python_writes_it(protocol):
    file = io.BytesIO()
    pickle._Pickler(file, protocol).dump(list(VALUES.values()))
    isomorphic(pickle.loads(file.getvalue()), read(file.getvalue()))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_needless_puts(protocol):
    data = pickletools.optimize(pickle.dumps(list(VALUES.values()), protocol))
    isomorphic(pickle.loads(data), read(data))


keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = keys | st.tuples(keys, keys) | st.frozensets(keys, max_size=3)
trees = st.recursive(
    keys
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.uuids(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(keys, inner)
        | st.lists(inner).map(tuple)
        | st.sets(keys, max_size=3)
    ),
    max_leaves=20,
)


@given(trees, st.sampled_from(PROTOCOLS))
def test_any_tree(value, protocol):
    data = pickle.dumps(value, protocol)
    isomorphic(pickle.loads(data), read(data))


def test_deeper_than_any_stack():
    depth = 200_000
    data = b"\x80\x04" + b"]" * depth + b"a" * (depth - 1) + b"."
    value, seen = read(data), 0
    while value:
        value, seen = value[0], seen + 1
    assert seen == depth - 1


def test_text_of_python_2():
    assert read(b"S'abc'\n.") == "abc"
    assert read(b"U\x03abc.") == "abc"
    assert read(b"U\x01\xff.") == b"\xff"
    assert read(b"(lp0\nS'\\xff\\n'\np1\naS'a'\nag1\na.") == [b"\xff\n", "a", b"\xff\n"]
    date = b"cdatetime\ndate\np0\n(S'\\x07\\xe4\\x01\\x02'\np1\ntp2\nRp3\n."
    assert read(date) == datetime.date(2020, 1, 2)


def test_names_of_python_2():
    assert read(b"c__builtin__\nset\n((lp0\nI1\naI2\natR.") == {1, 2}
    assert read(b"ccollections\nOrderedDict\n((lp0\n(lp1\nS'a'\naI1\naatR.") == collections.OrderedDict(a=1)


def test_several_in_one_file():
    data = b"".join(pickle.dumps(n, n % 6) for n in range(12))
    assert list(_unpickle.values(data)) == list(range(12))


# --- NumPy ---


def numpy_values():
    np = pytest.importorskip("numpy")
    base = np.arange(12.0).reshape(3, 4)
    return {
        "floats": base, "fortran": np.asfortranarray(base), "view": base[::2, ::3], "nothing": np.zeros((0, 3)),
        "ints": np.arange(5, dtype="i2"), "bools": np.array([True, False]), "scalar array": np.array(5),
        "complex": np.zeros(3, "c8"), "text": np.array(["a", "bcd"]), "bytes": np.array([b"a", b"bcd"]),
        "void": np.zeros(2, "V3"), "dates": np.array(["2026", "NaT"], "M8[D]"), "units": np.zeros(2, "m8[25us]"),
        "generic": np.zeros(1, "m8"), "objects": np.array([1, "a", None, [2]], object),
        "records": np.zeros(2, [("x", "<f4"), ("tag", "S3", (2,)), ("in", [("y", "i8")])]),
        "aligned": np.zeros(2, np.dtype([("x", "i1"), ("y", "f8")], align=True)),
        "float32": np.float32(1.5), "int64": np.int64(-3), "bool": np.bool_(True), "date": np.datetime64("2026-01-02"),
        "str": np.str_("abc"), "record": np.zeros(1, [("x", "f4")])[0], "dtype": np.dtype("<f8"),
        "structured dtype": np.dtype([("x", "<f4"), ("y", "S2")]), "shared": [base, base],
        "in a dict": {"a": [base], "b": (base,)},
    }  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arrays(protocol):
    for value in numpy_values().values():
        data = pickle.dumps(value, protocol)
        isomorphic(pickle.loads(data), read(data))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_order_of_bytes_is_kept(protocol):
    np = pytest.importorskip("numpy")
    value = np.arange(3, dtype=">i4")
    found = read(pickle.dumps(value, protocol))
    assert found.dtype == value.dtype and found.tolist() == [0, 1, 2]


def test_arrays_of_older_versions_of_numpy():
    np = pytest.importorskip("numpy")
    data = pickle.dumps(np.arange(3), 2).replace(b"numpy._core.", b"numpy.core.")
    assert read(data).tolist() == [0, 1, 2]


def array_state(shape, dtype, content):
    """A pickle of an array with any state."""
    np = pytest.importorskip("numpy")

    class Array:
        def __reduce__(self):
            return (
                np._core.multiarray._reconstruct,
                (np.ndarray, (0,), b"b"),
                (1, shape, dtype, False, content),
            )

    return pickle.dumps(Array(), 4)


def test_arrays_that_lie():
    np = pytest.importorskip("numpy")
    for shape, dtype, content in [
        ((2,), np.dtype("f8"), b"x" * 15),
        ((10**12,), np.dtype("f8"), b""),
        ((10**9, 10**9), np.dtype("V0"), b""),
        ((-1,), np.dtype("i1"), b"abc"),
        ((1,), np.dtype(object), b"\x10" * 8),
        ((1,), np.dtype([("p", object)]), b"\x10" * 8),
        ((3,), np.dtype(object), [1]),
        ((1,), np.dtype("f8"), [1.5]),
        ((1,), "f8", b"x" * 8),
    ]:
        refusal(array_state(shape, dtype, content))


def test_an_array_that_holds_itself_is_refused():
    np = pytest.importorskip("numpy")
    value = np.empty(1, object)
    value[0] = [value]
    assert "holds itself" in str(refusal(pickle.dumps(value, 4)))


# --- classes ---


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("a", "b")


class Both(Slotted):
    pass


class Named(collections.namedtuple("Named", "x y")):
    pass


class SubDict(dict):
    pass


NAME = __name__


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_instances_are_refused_or_records(protocol):
    value = Plain(x=1, y=[2])
    value.me = value
    data = pickle.dumps([value, value, Plain()], protocol)
    error = refusal(data)
    assert f"`{NAME}.Plain` would have to be imported" in str(error) and "--records" in str(error)
    found = read(data, records=True)
    assert found[0] is found[1] is found[0].fields["me"]
    assert type(found[0]) is holdall.Record and found[0].type_name == f"{NAME}.Plain"
    assert found[0].fields["y"] == [2] and found[2].fields == {}


@pytest.mark.parametrize("protocol", range(2, 6))
def test_slots_are_fields_too(protocol):
    both = Both()
    both.a, both.c = 1, 2
    found = read(pickle.dumps(both, protocol), records=True)
    assert found.fields == {"a": 1, "c": 2}


@each("protocol", PROTOCOLS)
@each("value", [Named(1, 2), SubDict(a=1), pickle.PickleError("x"), len, Plain, os.getcwd], ids=repr)
def test_what_needs_code_is_refused_with_records_too(value, protocol):
    for records in (False, True):
        refusal(pickle.dumps(value, protocol), records=records)


def test_a_class_as_a_value_is_refused_wherever_it_is():
    for value in [[int], {"a": int}, {int: 1}, (1, (int,)), {int}, collections.deque([int]), Plain(a=int)]:
        for protocol in PROTOCOLS:
            error = refusal(pickle.dumps(value, protocol), records=True)
            assert "builtins.int" in str(error)


# --- hostile ---


ATTACKS = {
    "os.system": b"cos\nsystem\n(S'echo should not run'\ntR.",
    "posix.system": b"cposix\nsystem\n(S'echo should not run'\ntR.",
    "eval": b"c__builtin__\neval\n(S'1'\ntR.",
    "exec by inst": b"(S'x=1'\ni__builtin__\nexec\n.",
    "exec by obj": b"(c__builtin__\nexec\nS'x=1'\no.",
    "newobj": b"\x80\x02cos\n_wrap_close\n)\x81.",
    "newobj ex": b"\x80\x04cos\n_wrap_close\n)}\x92.",
    "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x01x\x85R.",
    "dotted": b"\x80\x04\x8c\x08builtins\x8c\x0ceval.__self__\x93.",
    "getattr of a value": b"c__builtin__\ngetattr\n(I1\nS'real'\ntR.",
    "getattr of a module": b"c__builtin__\ngetattr\n(cos\nsystem\nS'__call__'\ntR(S'x'\ntR.",
    "build of a function": b"c__builtin__\ndict\n}S'a'\nI1\nsb.",
    "build of a dict": b"}}S'a'\nI1\nsb.",
    "build of a list": b"]}b.",
    "setstate": b"\x80\x02cuuid\nUUID\n)\x81I5\nb.",
    "a half uuid": b"\x80\x02cuuid\nUUID\n)\x81.",
    "call of a list": b"])R.",
    "call with a list": b"c__builtin__\nset\n]R.",
    "factory": b"ccollections\ndefaultdict\n(cos\nsystem\ntR.",
    "persistent": b"Pabc\n.",
    "binary persistent": b"I1\nQ.",
    "extension": b"\x80\x02\x82\x01.",
    "out of band": b"\x80\x05\x97.",
    "partial": b"cfunctools\npartial\n(cos\nsystem\nS'x'\ntR.",
    "reconstructor of a dict": b"ccopy_reg\n_reconstructor\n(c__main__\nX\nc__builtin__\ndict\n}tR.",
    "reconstructor with a value": b"ccopy_reg\n_reconstructor\n(I1\nc__builtin__\nobject\nNtR.",
    "bytearray of a size": b"c__builtin__\nbytearray\n(I1000000000000\ntR.",
    "bytes of a size": b"c__builtin__\nbytes\n(I1000000000000\ntR.",
    "fraction of a billion digits": b"cfractions\nFraction\n(S'1e999999999'\ntR.",
    "hours beyond a day": b"cdatetime\ndatetime\n(U\x0a\x07\xe4\x01\x01\x63\x00\x00\x00\x00\x00tR.",
    "a zone outside": b"\x80\x04\x8c\x08zoneinfo\x8c\x12ZoneInfo._unpickle\x93\x8c\x0b/etc/passwd\x88\x86R.",
    "a zone above": b"\x80\x04\x8c\x08zoneinfo\x8c\x12ZoneInfo._unpickle\x93\x8c\x0d../etc/passwd\x88\x86R.",
    "unhashable": b"(](I1\nd.".replace(b"(](", b"(]"),
    "unhashable in a set": b"\x80\x04\x8f(]\x90.",
    "append to a dict": b"}I1\na.",
    "items of a list": b"](I1\nI2\nu.",
    "odd items": b"}(I1\nu.",
    "add to a list": b"\x80\x04](I1\n\x90.",
    "no mark": b"I1\nt.",
    "nothing to pop": b"0.",
    "nothing there": b".",
    "a mark as a result": b"(.",
    "a memo that is not": b"h\x05.",
    "put of nothing": b"q\x00.",
    "negative put": b"I1\np-5\n.",
    "negative length": b"\x80\x02\x8b\xff\xff\xff\xff.",
    "protocol 6": b"\x80\x06N.",
    "no instruction": b"\xff.",
    "no number": b"Iabc\n.",
    "bad utf-8": b"X\x01\x00\x00\x00\xff.",
    "bad quotes": b"Sabc\n.",
    "uuid as a key": b"}\x80\x02cuuid\nUUID\n)\x81I1\ns.",
}  # fmt: skip


@each("name", ATTACKS)
@each("records", [False, True])
def test_attacks(name, records, capfd, monkeypatch):
    import builtins

    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr(builtins, "eval", lambda *_: pytest.fail("it ran"))
    text = str(refusal(ATTACKS[name], records=records))
    assert " - at byte " in text and "\n" not in text
    assert capfd.readouterr() == ("", "")


def test_the_name_and_its_offset_are_told():
    error = refusal(b"\x80\x02" + b"N0" * 5 + ATTACKS["os.system"])
    assert str(error) == "`os.system` would have to be imported and called, which is never done - at byte 12"
    assert error.offset == 12


def test_names_are_shown_short_and_in_one_line():
    error = refusal(b"\x80\x04X\x10\x27\x00\x00" + b"\x1b\n" * 5000 + b"\x8c\x01x\x93)R.")
    assert len(str(error)) < 400 and "\x1b" not in str(error) and "\n" not in str(error)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_prefix_is_an_error(protocol):
    value = [
        VALUES[name]
        for name in ("long", "float", "text", "bytes", "dict", "frozenset", "uuid", "datetime", "cycle")
    ]
    data = pickle.dumps(value, protocol)
    for size in range(len(data)):
        error = refusal(data[:size])
        assert error.offset <= size
    assert isinstance(refusal(data[:-1]), holdall.TruncatedError)
    assert isinstance(refusal(b""), holdall.TruncatedError)


@given(st.data())
def test_any_damage_is_an_error_or_another_value(data):
    value = [
        VALUES[name]
        for name in ("dict", "ordered", "datetime", "decimal", "uuid", "path", "deque", "array", "zone")
    ]
    stored = bytearray(pickle.dumps(value, data.draw(st.sampled_from(PROTOCOLS))))
    for _ in range(data.draw(st.integers(1, 4))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    try:
        list(_unpickle.values(bytes(stored), records=data.draw(st.booleans())))
    except holdall.DecodeError as error:
        assert 0 <= error.offset <= len(stored)


@given(st.binary(max_size=60))
def test_any_bytes(data):
    with contextlib.suppress(holdall.DecodeError):
        list(_unpickle.values(data, records=True))


def cost(data):
    """Seconds of computing, and the most memory for each byte of input."""
    begun = time.process_time()
    tracemalloc.start()
    try:
        list(_unpickle.values(data))
    except holdall.DecodeError:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return time.process_time() - begun, most / len(data)


def copies(of, function, count):
    """A value that is given to one function again and again."""
    return of + b"q\x000" + b"c" + function + b"q\x010(" + (b"h\x01h\x00\x85R") * count + b"l."


BOMBS = {
    "copies of bytes": copies(b"B\x40\x0d\x03\x00" + b"x" * 200_000, b"builtins\nbytearray\n", 5_000),
    "copies of a list": copies(b"](" + b"K\x01" * 100_000 + b"e", b"builtins\nset\n", 5_000),
    "copies of text": b"X\x40\x0d\x03\x00" + b"x" * 200_000 + b"q\x000c_codecs\nencode\nq\x010\x8c\x06latin1q\x020("
    + b"h\x01h\x00h\x02\x86R" * 5_000 + b"l.",
    "doubled tuples as keys": b"}K\x01\x85" + b"2\x86" * 60 + b"NsN.",
    "deep tuples as keys": b"}" + b")" + b"\x85" * 50_000 + b"Ns.",
    "deep frozensets": b"(K\x01" + b"\x85" * 50_000 + b"\x91.",
    "a long key again and again": b"(" + b"K\x01" * 50_000 + b"tq\x000}" + b"h\x00Ns" * 50_000 + b".",
    "far memo": b"Nr\xff\xff\xff\xff.",
    "claimed text": b"X\xff\xff\xff\x7fabc",
    "claimed bytes": b"\x8e" + struct.pack("<Q", 2**62) + b"abc",
    "claimed bytearray": b"\x96" + struct.pack("<Q", 2**62) + b"abc",
    "claimed long": b"\x8b\xff\xff\xff\x7fabc",
    "digits": b"I" + b"1" * 100_000 + b"\n.",
    "frames": b"\x80\x04" + b"\x95\xff\xff\xff\xff\xff\xff\xff\x7f" * 10_000 + b"N.",
    "doubled lists": b"]q\x00" + b"0](h\x00h\x00eq\x00" * 1000 + b".",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_in_proportion(name):
    seconds, ratio = cost(BOMBS[name])
    assert seconds < 15
    assert ratio * len(BOMBS[name]) < 400 * len(BOMBS[name]) + (1 << 22)


def test_an_ordinary_pickle_stays_within_the_bounds():
    row = ("same key", b"same bytes", 2**70)
    value = [
        {"id": n, "key": row, row: n, "path": pathlib.PurePosixPath("/a/long/common/folder", str(n))}
        for n in range(1500)
    ]
    value.append({decimal.Decimal(n) / 7: fractions.Fraction(n, 7) for n in range(600)})
    for protocol in PROTOCOLS:
        data = pickle.dumps(value, protocol)
        isomorphic(pickle.loads(data), read(data))
