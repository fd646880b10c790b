"""Messages that are one leaf or one empty container are stored and restored without encoder and decoder: to the same effect."""

from __future__ import annotations

import gc
import struct
import types
from typing import Any

import pytest

import holdall
from holdall import bson, msgpack
from tests.support.isomorphic import isomorphic

NAN = struct.unpack("<d", b"\1\2\3\4\5\6\xf8\x7f")[0]
ANY = [
    None,
    True,
    0,
    -1,
    63,
    1 << 40,
    -(1 << 63),
    2.5,
    -0.0,
    NAN,
    "",
    "a",
    "text" * 99,
    "ä",
    "日本",
    "😀",
    b"",
    b"\xff" * 300,
    {},
    [],
]
HOLD = [*ANY, (), 1 << 80, "\ud800", "a\udc80" * 50]
CASES = [*((holdall, value) for value in HOLD), *((msgpack, value) for value in ANY)]


@pytest.mark.parametrize(("format", "value"), CASES)
def test_lone_values(format: types.ModuleType, value: Any) -> None:
    data = format.dumps(value)
    assert format.Encoder().encode(value) == data
    for loads in (format.loads, format.Decoder().decode):
        isomorphic(loads(data), value)
        # As a part of another value, which has an encoder and a decoder.
        isomorphic(loads(format.dumps([value]))[0], value)
        for end in range(len(data)):
            with pytest.raises(holdall.DecodeError):
                loads(data[:end])
        with pytest.raises(holdall.DecodeError) as raised:
            loads(data + b"\0")
        assert raised.value.offset == len(data)


@pytest.mark.parametrize("format", [holdall, msgpack])
def test_options_count_for_them(format: types.ModuleType) -> None:
    with pytest.raises(holdall.LimitError, match="limits.objects=0"):
        format.loads(format.dumps([]), limits=holdall.Limits(objects=0))
    with pytest.raises(holdall.ValidationError, match="Expected `int`, got `str`"):
        format.loads(format.dumps("a"), type=int)
    assert format.loads(format.dumps([]), type=tuple) == ()
    # New each time, as any container is.
    decoder, data = format.Decoder(), format.dumps({})
    assert decoder.decode(data) is not decoder.decode(data)


def test_what_a_format_cannot_hold_is_refused() -> None:
    for value in ("\ud800", 1 << 64):
        with pytest.raises(holdall.EncodeError):
            msgpack.dumps(value)
    for value in (1, "text", None):
        with pytest.raises(holdall.EncodeError):
            bson.dumps(value)


def test_canonical_and_trusted_messages() -> None:
    for value in HOLD:
        assert holdall.loads(holdall.dumps(value, canonical=True)) == value or value != value
        data = holdall.dumps(value, trust=True)
        isomorphic(holdall.loads(data, trust=True), value)
        with pytest.raises(holdall.DecodeError):
            holdall.loads(data)


@pytest.mark.parametrize(
    "value",
    [
        (),
        1j,
        complex(-0.0, NAN),
        bytearray(b"ab"),
        bytearray(),
        b"x" * 128,
        b"x" * 129,
        "y" * 127,
        "ü" * 128,
        "日" * 129,
    ]
    + [
        sign * (2**bits + near)
        for bits in (62, 63, 64, 89, 90, 127, 239, 240, 299, 300, 301, 2000)
        for near in (-1, 0, 1)
        for sign in (1, -1)
    ],
    ids=lambda value: f"{type(value).__name__} {str(value)[:12]}",
)
def test_less_common_leaves(value: Any) -> None:
    """Alone, among others, as keys of nobody else, and by any limits."""
    for codec in (holdall.Encoder(), holdall.Encoder(canonical=True)):
        stored = codec.encode(value)
        isomorphic(holdall.loads(stored), value)
        isomorphic(holdall.Decoder().decode(stored), value)
        isomorphic(holdall.loads(codec.encode([value, [value], value])), [value, [value], value])
        isomorphic(holdall.loads(stored, limits=holdall.Limits.strict()), value)
    if isinstance(value, int):
        assert holdall.loads(holdall.dumps({value: 1})) == {value: 1}
        if not -(2**63) <= value < 2**63:
            assert stored.endswith(value.to_bytes(len(stored) - 3, "little", signed=True))


@pytest.mark.parametrize("module", [holdall, msgpack], ids=["hold", "msgpack"])
def test_calls_of_every_form(module: Any) -> None:
    """One value by position goes a way of its own; all other calls are as they are declared."""
    encoder, decoder = module.Encoder(), module.Decoder()
    stored = encoder.encode(7)
    assert encoder.encode(obj=7) == module.dumps(7) == type(encoder).encode(encoder, 7) == stored
    assert decoder.decode(data=stored) == module.loads(stored) == type(decoder).decode(decoder, stored) == 7
    assert decoder.decode(bytearray(stored)) == decoder.decode(memoryview(stored)) == 7
    for call in (encoder.encode, decoder.decode, module.dumps, module.loads):
        with pytest.raises(TypeError):
            call()
        with pytest.raises(TypeError):
            call(stored, stored, stored, stored)
        with pytest.raises(TypeError):
            call(stored, nothing=1)
    with pytest.raises(TypeError):
        type(encoder).encode(decoder, 7)
    with pytest.raises(holdall.DecodeError):
        decoder.decode(stored + b"\0")
    with pytest.raises(TypeError):
        decoder.decode("text")
    assert "obj" in (type(encoder).encode.__text_signature__ or "")
    assert type(encoder).encode.__doc__ and type(encoder).encode.__qualname__ == "Encoder.encode"


@pytest.mark.parametrize("empty", [list, dict, tuple], ids=lambda kind: kind.__name__)
def test_empty_containers_in_dicts(empty: type) -> None:
    """They need no frame; what holds them is tracked by the collector, and counts as a level, all the same."""
    rows = [{"a": at, "b": empty(), "c": "x"} for at in range(5)]
    loaded = holdall.loads(holdall.dumps(rows))
    assert loaded == rows
    if empty is not tuple:
        assert all(gc.is_tracked(row) for row in loaded)
    for value in ({"b": empty()}, rows):
        levels = 2 if value is not rows else 3
        stored = holdall.dumps(value)
        assert holdall.loads(stored, limits=holdall.Limits(depth=levels)) == value
        with pytest.raises(holdall.LimitError):
            holdall.loads(stored, limits=holdall.Limits(depth=levels - 1))
