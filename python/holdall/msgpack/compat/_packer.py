"""`Packer`."""

from __future__ import annotations

import operator
from datetime import datetime as DateTime
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import _core
from ..._values import Ext, Timestamp
from . import _heads
from .ext import ExtType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# `bytes` is also the name of a method.
_Bytes: TypeAlias = bytes

# Types that the core writes exactly as msgpack-python does (and holdall's own `Ext`).
_LEAVES = frozenset((type(None), bool, int, float, str, bytes, bytearray, memoryview, Ext, Timestamp))
_CONTAINERS = frozenset((list, dict))
# Writes values of builtin types, which both pack alike, and refuses others.
_builtin = _core.MsgpackEncoder(builtin_only=True).encode
# msgpack-python reads nothing that is nested deeper. The bound also stops cycles.
_DEEPEST = 1024


class Packer:
    """Packs objects.

    default: called with an object of a type that isn't packed; what it gives is packed instead.
    autoreset: `pack` and the like give the bytes. If false they give None and add to a buffer, which `bytes` reads and `reset` clears.
    strict_types: subclasses and tuples are not packed, but handed to `default`.
    datetime: a datetime with a zone is packed as a timestamp; no datetime is packed otherwise.
    unicode_errors: what becomes of lone surrogates, as for `str.encode`; its result has to be UTF-8.
    use_single_float: floats are packed in 32 bits. use_bin_type: if false, bytes are packed as text, as before there were bytes.
        With either all is walked in Python. buf_size: makes no difference.

    Raises TypeError: a type that is neither packed nor taken by `default`. Raises OverflowError: an int beyond 64 bits.
    Raises ValueError: values nested too deeply, or in a cycle.

    >>> packer = Packer(default=lambda obj: ExtType(1, str(obj).encode()))
    >>> packer.pack([1 + 2j])
    b'\\x91\\xc7\\x06\\x01(1+2j)'
    """

    def __init__(
        self,
        default: Callable[[Any], Any] | None = None,
        *,
        use_single_float: bool = False,
        autoreset: bool = True,
        use_bin_type: bool = True,
        strict_types: bool = False,
        datetime: bool = False,
        unicode_errors: str | None = None,
        buf_size: int = 256 << 10,
    ) -> None:
        if default is not None and not callable(default):
            raise TypeError("default must be a callable.")
        # Has no effect here, but must be an int.
        operator.index(buf_size)
        self._default = default
        self._autoreset = autoreset
        self._strict = bool(strict_types)
        self._datetime = bool(datetime)
        self._unicode_errors = unicode_errors or "strict"
        self._single = bool(use_single_float)
        self._old = not use_bin_type
        # The core has neither option, and calls no hook for builtin types.
        self._walks = self._strict or self._single or self._old
        self._encode_into = _core.MsgpackEncoder().encode_into
        self._buffer = bytearray()

    def pack(self, obj: object) -> _Bytes | None:
        """`obj` as bytes, or None where `autoreset` is false."""
        return self._give(self._bytes_of(obj))

    def pack_array_header(self, size: int) -> _Bytes | None:
        """The beginning of an array of `size` items, which are to be packed next."""
        return self._give(_heads.array(_checked(size, "array")))

    def pack_map_header(self, size: int) -> _Bytes | None:
        """The beginning of a map of `size` pairs, whose keys and values are to be packed next, in turns."""
        return self._give(_heads.map_(_checked(size, "map")))

    def pack_map_pairs(self, pairs: Any) -> _Bytes | None:
        """A sequence of pairs as a map, in their order; a key may come twice.

        >>> Packer().pack_map_pairs([("b", 1), ("a", 2)])
        b'\\x82\\xa1b\\x01\\xa1a\\x02'
        """
        parts = [_heads.map_(_checked(len(pairs), "map"))]
        for key, value in pairs:
            parts += self._bytes_of(key), self._bytes_of(value)
        return self._give(b"".join(parts))

    def pack_ext_type(self, typecode: int, data: Any) -> _Bytes | None:
        """`data` as an application's own type; `typecode` is -128 to 127."""
        return self._give(_core.msgpack_dumps(Ext(typecode, bytes(data))))

    def bytes(self) -> _Bytes:
        """What was packed since the last `reset`, where `autoreset` is false."""
        return bytes(self._buffer)

    def reset(self) -> None:
        """Forget what was packed."""
        self._buffer = bytearray()

    def getbuffer(self) -> memoryview:
        """A view of what `bytes` would copy. While it is alive nothing can be packed."""
        return memoryview(self._buffer)

    def _give(self, packed: _Bytes) -> _Bytes | None:
        if self._autoreset:
            return packed
        self._buffer += packed
        return None

    def _bytes_of(self, obj: object) -> _Bytes:
        if not self._walks:
            try:
                return _builtin(obj)
            except _core.EncodeError:
                # The walk finds the same error and words it as msgpack-python does, or avoids it by
                # `default`.
                return bytes(self._walk(obj))
        return bytes(self._walk(obj))

    def _walk(self, obj: object) -> bytearray:
        out = bytearray()
        within: list[Iterator[Any]] = [iter((obj,))]
        while within:
            inner: Iterator[Any]
            for item in within[-1]:
                value = self._packable(item)
                if isinstance(value, dict):
                    pairs = list(value.items())
                    out += _heads.map_(_checked(len(pairs), "map"))
                    inner = (part for pair in pairs for part in pair)
                elif isinstance(value, (list, tuple)):
                    parts = list(value)
                    out += _heads.array(_checked(len(parts), "array"))
                    inner = iter(parts)
                elif self._single and isinstance(value, float):
                    out += _heads.single(value)
                    continue
                elif self._old and isinstance(value, (str, bytes, bytearray, memoryview)):
                    content = value.encode() if isinstance(value, str) else bytes(value)
                    if len(content) > _heads.MOST:
                        raise ValueError("bytes is too large")
                    out += _heads.old_text(len(content))
                    out += content
                    continue
                else:
                    self._encode_into(value, out, len(out))
                    continue
                within.append(inner)
                if len(within) > _DEEPEST + 1:
                    raise ValueError("recursion limit exceeded.")
                break
            else:
                within.pop()
        return out

    def _packable(self, value: Any) -> Any:
        """`value` or its replacement: a leaf that the core writes, or a list, tuple or dict."""
        known = self._known(value)
        if known is None and value is not None and self._default is not None:
            # Called once: for its own result it isn't called again.
            value = self._default(value)
            known = self._known(value)
        if known is None and value is not None:
            if isinstance(value, int) and (type(value) is int or not self._strict):
                raise OverflowError("Integer value out of range")
            if self._datetime and type(value) is DateTime:
                raise ValueError(f"can not serialize {type(value).__name__!r} object where tzinfo=None")
            raise TypeError(f"can not serialize {type(value).__name__!r} object")
        return known

    def _known(self, value: Any) -> Any:
        """The replacement of `value`; None if there is none."""
        kind = type(value)
        if kind is ExtType:
            return Ext(value.code, value.data)
        if self._datetime and kind is DateTime and value.tzinfo is not None:
            return Timestamp.from_datetime(value)
        if kind not in _LEAVES and kind not in _CONTAINERS:
            if self._strict:
                return None
            value = _of_subclass(value)
        if isinstance(value, int):
            return value if -(1 << 63) <= value < 1 << 64 else None
        if isinstance(value, str):
            return self._text(value)
        return value

    def _text(self, text: str) -> str:
        try:
            return text.encode("utf-8", self._unicode_errors).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"unicode_errors: {self._unicode_errors!r} leaves what is not UTF-8") from error


def _of_subclass(value: Any) -> Any:
    """The content of an instance of a subclass, as msgpack-python packs it; None for other objects."""
    if isinstance(value, int):
        return int.__pos__(value)
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(memoryview(value))
    if isinstance(value, (dict, list, tuple)):
        return value
    return None


def _checked(size: int, what: str) -> int:
    if size < 0:
        raise ValueError(f"{what} size must be non-negative")
    if size > _heads.MOST:
        raise ValueError(f"{what} too large")
    return size
