"""msgspec's own tests of MessagePack, with `holdall.msgpack` behind the names of `msgspec.msgpack`: a plugin of pytest's.

Classes, constraints and errors stay msgspec's: what is tested is how they are written and loaded. `msgspec.json` and the rest are
left as they are, and what tests only those is left out.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import known
import msgspec
import pytest

import holdall
from holdall import msgpack as ours

if TYPE_CHECKING:
    from collections.abc import Iterator


class Refused(msgspec.EncodeError, TypeError, OverflowError, RecursionError):
    """One class for what msgspec tells by several."""


_NAMES = {
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "deque"), "array"),
    **dict.fromkeys(("dict", "defaultdict", "mappingproxy"), "object"),
    **dict.fromkeys(("bytearray", "memoryview"), "bytes"),
    "None": "null",
    "timedelta": "duration",
    "Ext": "ext",
}


def _in_its_words(text: str) -> str:
    """An error's text with the names that msgspec has for types: those of JSON."""

    def named(found: re.Match[str]) -> str:
        return f"{found[1]}`{' | '.join(_NAMES.get(name, name) for name in found[2].split(' | '))}`"

    return re.sub(r"(Expected |got )`([^`]*)`", named, text)


@contextmanager
def _named_as_there() -> Iterator[None]:
    try:
        yield
    except holdall.ValidationError as error:
        raise msgspec.ValidationError(_in_its_words(str(error))) from error.__cause__ or error
    except holdall.DecodeError as error:
        raise msgspec.DecodeError(str(error)) from error
    except holdall.EncodeError as error:
        raise Refused(str(error)) from error


def _type(annotation: Any) -> Any:
    return type(None) if annotation is None else annotation


class Encoder:
    def __init__(self, **options: Any) -> None:
        self._options = {
            "enc_hook": None,
            "order": None,
            "uuid_format": "canonical",
            "decimal_format": "string",
        } | options
        self._encoder = ours.Encoder(hook_objects=True, **options)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._options[name]
        except KeyError:
            raise AttributeError(name) from None

    def encode(self, obj: Any, /) -> bytes:
        with _named_as_there():
            return self._encoder.encode(obj)

    def encode_into(self, obj: Any, buffer: bytearray, offset: int = 0, /) -> None:
        with _named_as_there():
            self._encoder.encode_into(obj, buffer, len(buffer) if offset == -1 else offset)


class Decoder:
    def __init__(self, type: Any = Any, **options: Any) -> None:
        self.type = type
        self.strict = options.get("strict", True)
        self.dec_hook = options.get("dec_hook")
        self.ext_hook = options.get("ext_hook")
        self._decoder = ours.Decoder(type=_type(type), **options)

    def decode(self, buf: Any, /) -> Any:
        with _named_as_there():
            return self._decoder.decode(buf)


def encode(obj: Any, /, **options: Any) -> bytes:
    with _named_as_there():
        return ours.dumps(obj, hook_objects=True, **options)


def decode(buf: Any, /, *, type: Any = Any, **options: Any) -> Any:
    with _named_as_there():
        return ours.loads(buf, type=_type(type), **options)


msgspec.msgpack.Encoder = Encoder
msgspec.msgpack.Decoder = Decoder
msgspec.msgpack.encode = encode
msgspec.msgpack.decode = decode
msgspec.msgpack.Ext = ours.Ext


def _applies(item: pytest.Item) -> bool:
    """Whether a test is of MessagePack at all."""
    call = getattr(item, "callspec", None)
    return call is None or call.params.get("proto", "msgpack") == "msgpack"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(known.Expected(Path(__file__).with_name("msgspec.txt"), applies=_applies))
