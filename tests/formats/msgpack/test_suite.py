"""The conformance suite of MessagePack, through Python, both ways."""

from __future__ import annotations

import json

import pytest

import holdall
from holdall import msgpack
from holdall.msgpack import compat
from tests.support.each import each
from tests.support.extent import sample
from tests.support.places import data_folder

PATH = data_folder("msgpack") / "msgpack-test-suite.json"


def octets(text):
    return bytes.fromhex(text.replace("-", ""))


def value_of(case):
    """The Python value that a case means."""
    kinds = set(case) - {"msgpack"}
    # `number` is given beside `bignum` where JSON's own numbers may lose digits.
    kind = "bignum" if "bignum" in kinds else kinds.pop()
    given = case[kind]
    if kind == "bignum":
        return int(given)
    if kind == "binary":
        return octets(given)
    if kind == "timestamp":
        return msgpack.Timestamp(*given)
    if kind == "ext":
        return msgpack.Ext(given[0], octets(given[1]))
    return given


def cases():
    if not PATH.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(f"no conformance suite at {PATH}"))]
    suite = json.loads(PATH.read_text(encoding="utf-8"))
    return [
        pytest.param(case, id=f"{name.removesuffix('.yaml')}-{at}")
        for name, group in suite.items()
        for at, case in enumerate(group)
    ]


# The tags of floats, in 32 and 64 bits.
FLOATS = (0xCA, 0xCB)
decode = msgpack.Decoder(timestamps=True).decode


def same(found, expected):
    """Equal, and of one type; a number may come as int or float, which the suite does not tell apart."""
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return type(found) in (int, float) and found == expected
    return type(found) is type(expected) and found == expected


@each("case", cases())
def test_every_form_is_read(case):
    expected = value_of(case)
    for form in case["msgpack"]:
        data = octets(form)
        assert same(decode(data), expected), form
        unpacker = compat.Unpacker(ext_hook=msgpack.Ext)
        for byte in data:
            assert list(unpacker) == []
            unpacker.feed(bytes([byte]))
        assert same(unpacker.unpack(), expected), form
        assert unpacker.tell() == len(data)


@each("case", cases())
def test_the_shortest_form_is_written(case):
    value = value_of(case)
    forms = [octets(form) for form in case["msgpack"]]
    written = msgpack.dumps(value)
    assert written in forms
    # Of numbers, those of the same type: an int is not written as a float, nor a float in 32 bits.
    if isinstance(value, float):
        assert len(written) == 9
    else:
        assert len(written) == min(len(form) for form in forms if form[0] not in FLOATS)
    assert compat.packb(value) == written


@each("case", cases())
def test_every_prefix_is_refused(case):
    for form in case["msgpack"]:
        data = octets(form)
        for end in range(len(data)):
            with pytest.raises(holdall.TruncatedError):
                decode(data[:end])
        with pytest.raises(holdall.DecodeError):
            decode(data + b"\xc0")


@pytest.mark.damage
@each("case", cases())
def test_every_changed_byte_is_read_or_refused(case):
    for form in case["msgpack"]:
        data = bytearray(octets(form))
        for at in sample(range(min(len(data), 64)), 16):
            old = data[at]
            for new in range(256):
                data[at] = new
                try:
                    decode(data)
                except holdall.DecodeError as error:
                    assert 0 <= error.offset <= len(data)
            data[at] = old
