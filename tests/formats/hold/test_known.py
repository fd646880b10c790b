"""Values of databases, and Julia's, in hold and MessagePack: without a word, and without an import that data could ask for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

import holdall
from holdall import julia, msgpack
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.places import REPO

oracle: Any = pytest.importorskip("bson")
raw_bson: Any = pytest.importorskip("bson.raw_bson")
RAW = raw_bson.RawBSONDocument

ID = oracle.ObjectId("65f1c0ffee65f1c0ffee65f1")
DATABASE: list[Any] = [
    ID,
    oracle.Decimal128("1.50"), oracle.Decimal128("-0E+3"), oracle.Decimal128("NaN"), oracle.Decimal128("-Infinity"),
    oracle.Int64(5), oracle.Int64(-(2**63)), oracle.Int64(2**70),
    oracle.Binary(b"ab"), oracle.Binary(b"", 128), oracle.Binary(b"\0" * 16, 3),
    oracle.Regex("a.*"), oracle.Regex("a.*", "imx"), oracle.Regex("a", 24), oracle.Regex(b"\xff", re.M), oracle.Regex("a", 256),
    oracle.Timestamp(5, 6),
    oracle.Code("f"), oracle.Code("f", {}), oracle.Code("é", {"x": [1]}),
    oracle.DBRef("c", 5), oracle.DBRef("c", ID, "db", extra=[1]),
    oracle.DatetimeMS(-(10**15)),
    oracle.MinKey(), oracle.MaxKey(),
    RAW(oracle.encode({"a": 1})),
    oracle.SON([("b", 1), ("a", oracle.SON())]),
]  # fmt: skip
JULIA: list[Any] = [julia.Period(3, "Day"), julia.missing, julia.BOTTOM]
ALL = each("value", DATABASE + JULIA, ids=lambda value: f"{type(value).__name__} {value!r}"[:40])


def same(one: Any, other: Any) -> None:
    assert type(one) is type(other) and repr(one) == repr(other)
    assert one == other or one != one


@ALL
def test_hold(value):
    same(holdall.loads(holdall.dumps(value)), value)
    same(holdall.loads(holdall.dumps(value), type=type(value) if type(value) is not RAW else Any), value)
    assert holdall.dumps(value, canonical=True) == holdall.dumps(
        holdall.loads(holdall.dumps(value)), canonical=True
    )
    first, second = holdall.loads(holdall.dumps([value, value]))
    assert first is second
    same(holdall.open(holdall.dumps({"a": value})).get("a", type=Any), value)


@ALL
def test_messagepack_by_type(value):
    if value == 2**70:
        with pytest.raises(holdall.EncodeError, match="an int beyond 64 bits"):
            msgpack.dumps(value)
        return
    data = msgpack.dumps({"a": value})
    plain = msgpack.loads(data)["a"]
    assert type(plain).__module__ == "builtins"
    if type(value) not in (RAW, oracle.SON):
        made = msgpack.loads(data, type=dict[str, type(value)])["a"]  # type: ignore[misc]
        assert type(made) is type(value)
        if not isinstance(value, oracle.DBRef):
            same(made, value)
        # What a reference holds is anything, which no type says more about.
        elif value.id is ID:
            assert made == oracle.DBRef("c", ID.binary, "db", extra=[1])


@ALL
def test_copies_and_pickles(value):
    same(holdall.deepcopy([value])[0], value)
    same(holdall.pickle.loads(holdall.pickle.dumps(value)), value)


def test_bson_is_as_it_was():
    for value in DATABASE:
        if isinstance(value, oracle.Regex) and (isinstance(value.pattern, bytes) or value.flags & re.A):
            continue
        if value == oracle.Int64(2**70):
            continue
        data = holdall.bson.dumps({"a": value})
        assert data == oracle.encode({"a": value})
        # A float is no Int64, and text no ObjectId.
    assert holdall.bson.loads(holdall.bson.dumps({"a": ID}), type=dict[str, oracle.ObjectId]) == {"a": ID}
    with pytest.raises(holdall.ValidationError):
        holdall.bson.loads(
            holdall.bson.dumps({"a": "65f1c0ffee65f1c0ffee65f1"}), type=dict[str, oracle.ObjectId]
        )


def test_keys_and_members():
    value = {ID: {oracle.Int64(3), ID}, oracle.Timestamp(1, 2): [oracle.MinKey()]}
    isomorphic(holdall.loads(holdall.dumps(value)), value)


def test_parts_are_objects_of_the_graph():
    scope = {"x": [1]}
    value = [scope, oracle.Code("f", scope), oracle.DBRef("c", scope)]
    made = holdall.loads(holdall.dumps(value))
    assert made[1].scope is made[0] and made[2].id is made[0]


def run(program: str, *args: str, data: bytes = b"") -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *args],
        input=data,
        capture_output=True,
        cwd=REPO,
        timeout=60,
        check=True,
    )
    return done.stdout.decode()


def test_nothing_is_imported_because_data_name_it():
    program = (
        "import sys, holdall\n"
        "data = sys.stdin.buffer.read()\n"
        "try: holdall.loads(data)\n"
        "except holdall.UnknownTypeError as error: print(error, '|', error.type_name)\n"
        "print(holdall.loads(data, types=holdall.Record), [name for name in sys.modules if name.split('.')[0] == 'bson'])\n"
        "import bson\n"
        "print(holdall.loads(data))\n"
    )
    error, record, made = run(program, data=holdall.dumps(ID)).splitlines()
    assert error.startswith(
        "`bson.objectid.ObjectId` is not there: `import bson` before it is loaded, or load it as a generic record "
        "with `types=holdall.Record` - at byte "
    )
    assert error.endswith(" | bson.objectid.ObjectId") and made == str(ID)
    assert record == 'Record("bson.objectid.ObjectId", {}) []'


def test_another_package_of_that_name_is_none_of_ours():
    program = (
        "import sys, types, holdall\n"
        "class ObjectId: pass\n"
        "sys.modules['bson'] = types.ModuleType('bson'); sys.modules['bson'].ObjectId = ObjectId\n"
        "sys.modules['bson.objectid'] = sys.modules['bson']\n"
        "try: holdall.loads(sys.stdin.buffer.read())\n"
        "except holdall.UnknownTypeError as error: print('refused')\n"
        "ObjectId.__module__ = 'bson.objectid'; print(type(holdall.deepcopy(ObjectId())).__name__)\n"
    )
    assert run(program, data=holdall.dumps(ID)).split() == ["refused", "ObjectId"]


def test_what_a_program_says_comes_first():
    program = (
        "import bson, holdall\n"
        "holdall.register(bson.ObjectId, name='id', encode=str, decode=bson.ObjectId)\n"
        "data = holdall.dumps([bson.ObjectId('65f1c0ffee65f1c0ffee65f1'), bson.MinKey()])\n"
        "print(b'65f1c0ffee65f1c0ffee65f1' in data, b'bson.objectid' in data, holdall.loads(data))\n"
    )
    assert run(program).strip() == "True False [ObjectId('65f1c0ffee65f1c0ffee65f1'), MinKey()]"


FAKE = (
    "import sys, json, holdall\n"
    "class Fake: pass\n"
    "for name, content in json.load(sys.stdin):\n"
    "    stored = eval(content)\n"
    "    holdall.register(Fake, name=name, encode=lambda value: stored, decode=lambda content: Fake())\n"
    "    print(holdall.dumps(Fake()).hex())\n"
)
LIES = [
    ("bson.objectid.ObjectId", "None"), ("bson.objectid.ObjectId", "b'short'"), ("bson.objectid.ObjectId", "'0' * 24"),
    ("bson.decimal128.Decimal128", "b'1'"), ("bson.int64.Int64", "'5'"), ("bson.int64.Int64", "True"),
    ("bson.binary.Binary", "(1,)"), ("bson.binary.Binary", "(300, b'')"), ("bson.regex.Regex", "{}"),
    ("bson.timestamp.Timestamp", "(1,)"), ("bson.code.Code", "[1, 2]"), ("bson.code.Code", "('a', 5)"),
    ("bson.dbref.DBRef", "{}"), ("bson.dbref.DBRef", "5"), ("bson.datetime_ms.DatetimeMS", "2.5"),
    ("bson.min_key.MinKey", "5"), ("bson.raw_bson.RawBSONDocument", "b'x'"), ("holdall.julia._values.Period", "5"),
]  # fmt: skip


def test_contents_that_lie():
    messages = run(FAKE, data=json.dumps(LIES).encode()).split()
    for (name, _), message in zip(LIES, messages, strict=True):
        data = bytes.fromhex(message)
        with pytest.raises(
            holdall.DecodeError, match=f"^a content that `{re.escape(name)}` can't have"
        ) as caught:
            holdall.loads(data)
        assert 0 < caught.value.offset <= len(data)


class MyId(oracle.ObjectId):  # type: ignore[misc, name-defined]
    pass


def test_subclasses_and_options_are_refused_by_name():
    with pytest.raises(holdall.EncodeError, match="can't store a `tests.formats.hold.test_known.MyId`"):
        holdall.dumps(MyId())
    options = oracle.codec_options.CodecOptions(document_class=RAW, tz_aware=True)
    with pytest.raises(holdall.EncodeError, match="codec options are not the default ones"):
        holdall.dumps(RAW(oracle.encode({}), options))
