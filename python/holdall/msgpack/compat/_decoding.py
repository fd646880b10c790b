"""Decoding a value from bytes with msgpack-python's options; `unpackb`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _core
from ..._values import Ext, Timestamp
from . import _heads
from .exceptions import ExtraData, FormatError, StackError
from .ext import ExtType

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEPEST = 1024
_TIMESTAMPS: dict[int, Callable[[Timestamp], Any]] = {
    0: lambda moment: moment,
    1: Timestamp.to_unix,
    2: Timestamp.to_unix_nano,
    3: Timestamp.to_datetime,
}


class Decoding:
    """Options, checked and compiled once.

    The core decodes if it supports all of them. Otherwise, and for values that it has refused, the value is
    built here leaf by leaf, so that hooks are called and errors raised as in msgpack-python.
    """

    def __init__(
        self,
        *,
        use_list: bool = True,
        raw: bool = False,
        timestamp: int = 0,
        strict_map_key: bool = True,
        object_hook: Callable[[dict[Any, Any]], Any] | None = None,
        object_pairs_hook: Callable[[list[tuple[Any, Any]]], Any] | None = None,
        list_hook: Callable[[Any], Any] | None = None,
        unicode_errors: str | None = None,
        ext_hook: Callable[[int, bytes], Any] | None = ExtType,
        max_str_len: int = -1,
        max_bin_len: int = -1,
        max_array_len: int = -1,
        max_map_len: int = -1,
        max_ext_len: int = -1,
    ) -> None:
        hooks = {"object_hook": object_hook, "object_pairs_hook": object_pairs_hook, "list_hook": list_hook}
        for name, hook in hooks.items():
            if hook is not None and not callable(hook):
                raise TypeError(f"{name} must be a callable.")
        if ext_hook is None:
            ext_hook = ExtType
        if not callable(ext_hook):
            raise TypeError("ext_hook must be a callable.")
        if object_hook is not None and object_pairs_hook is not None:
            raise TypeError("object_pairs_hook and object_hook are mutually exclusive.")
        if timestamp not in _TIMESTAMPS:
            raise ValueError("timestamp must be 0..3")
        self._use_list = bool(use_list)
        self._strict_map_key = bool(strict_map_key)
        self._object_hook = object_hook
        self._pairs_hook = object_pairs_hook
        self._list_hook = list_hook
        self._unicode_errors = unicode_errors or "strict"
        self._ext_hook = ext_hook
        self._max_str_len = max_str_len
        self._max_bin_len = max_bin_len
        self.max_array_len = max_array_len
        self.max_map_len = max_map_len
        self._max_ext_len = max_ext_len
        self._of_timestamp = _TIMESTAMPS[timestamp]
        self._leaf = _core.MsgpackDecoder(raw=raw, timestamps=True).decode
        self._raw_leaf = _core.MsgpackDecoder(raw=True, timestamps=True).decode
        self._whole: Callable[[Any], Any] | None = None
        limits = (max_str_len, max_bin_len, max_array_len, max_map_len, max_ext_len)
        if timestamp in (0, 3) and not any(hooks.values()) and max(limits) < 0:
            self._whole = _core.MsgpackDecoder(
                raw=raw,
                use_list=self._use_list,
                strict_map_key=self._strict_map_key,
                timestamps=timestamp == 0,
                as_msgpack_python=True,
                ext_hook=ext_hook,
                limits=_core.Limits(depth=_DEEPEST),
            ).decode

    def one(self, data: Any) -> Any:
        """`unpackb`: the only value in `data`."""
        if isinstance(data, memoryview) and not data.c_contiguous:
            data = data.tobytes()
        if self._whole is not None:
            try:
                return self._whole(data)
            except _core.DecodeError:
                return self._one(data)
        return self._one(data)

    def _one(self, data: Any) -> Any:
        with memoryview(data) as given, given.cast("B") as view:
            try:
                end, pending = _core.msgpack_scan(view, 0, 1)
            except _core.DecodeError as error:
                raise FormatError(str(error)) from error
            if pending:
                raise ValueError("Unpack failed: incomplete input")
            value = self._built(view[:end])
            if end < len(view):
                raise ExtraData(value, bytes(view[end:]))
            return value

    def value(self, data: memoryview) -> Any:
        """The value in `data`, which must end with it."""
        if self._whole is not None:
            try:
                return self._whole(data)
            except _core.DecodeError:
                return self._built(data)
        return self._built(data)

    def _built(self, data: memoryview) -> Any:
        at = 0
        # Open containers: their heads, and their content so far; a map's keys and values alternate.
        within: list[tuple[_heads.Head, list[Any]]] = []
        while True:
            head = _heads.read(data, at)
            if head is not None:
                self.check_length(head)
                if len(within) == _DEEPEST:
                    raise StackError(f"nested deeper than {_DEEPEST}")
                at += head.size
                within.append((head, []))
            else:
                end, _ = _core.msgpack_scan(data, at, 1)
                value = self._leaf_value(data[at:end])
                at = end
                if not within:
                    return value
                within[-1][1].append(value)
            while len(within[-1][1]) == within[-1][0].length * (1 + within[-1][0].is_map):
                head, parts = within.pop()
                value = self._map(parts) if head.is_map else self._array(parts)
                if not within:
                    return value
                within[-1][1].append(value)

    def _leaf_value(self, data: memoryview) -> Any:
        try:
            value = self._leaf(data)
        except _core.DecodeError as error:
            value = self._refused_leaf(data, error)
        if isinstance(value, Ext):
            _check("max_ext_len", self._max_ext_len, len(value.data))
            return self._ext_hook(value.code, value.data)
        if isinstance(value, Timestamp):
            return self._of_timestamp(value)
        if isinstance(value, str):
            if self._max_str_len >= 0:
                _check("max_str_len", self._max_str_len, len(value.encode("utf-8", "surrogatepass")))
        elif isinstance(value, bytes):
            _check("max_bin_len", self._max_bin_len, len(value))
        return value

    def _refused_leaf(self, data: memoryview, error: _core.DecodeError) -> Any:
        try:
            value = self._raw_leaf(data)
        except _core.DecodeError:
            # A malformed timestamp; everything else has a meaning of its own.
            raise ValueError(str(error)) from error
        # Only text can be valid if it is raw: raises UnicodeDecodeError, or does what `unicode_errors` says.
        return value.decode("utf-8", self._unicode_errors)

    def _map(self, parts: list[Any]) -> Any:
        keys, values = parts[::2], parts[1::2]
        if self._strict_map_key:
            for key in keys:
                if type(key) is not str and type(key) is not bytes:
                    raise ValueError(
                        f"{type(key).__name__} is not allowed for map key when strict_map_key=True"
                    )
        if self._pairs_hook is not None:
            return self._pairs_hook(list(zip(keys, values, strict=True)))
        made = dict(zip(keys, values, strict=True))
        return made if self._object_hook is None else self._object_hook(made)

    def _array(self, parts: list[Any]) -> Any:
        made = parts if self._use_list else tuple(parts)
        return made if self._list_hook is None else self._list_hook(made)

    def check_length(self, head: _heads.Head) -> None:
        if head.is_map:
            _check("max_map_len", self.max_map_len, head.length)
        else:
            _check("max_array_len", self.max_array_len, head.length)


def _check(option: str, most: int, length: int) -> None:
    if 0 <= most < length:
        raise ValueError(f"{length} exceeds {option}({most})")


_DEFAULT = Decoding()


def unpackb(packed: Any, **kwargs: Any) -> Any:
    """The one value that `packed` holds. Options are those of `Unpacker` without file, `read_size` and `max_buffer_size`.

    Raises ExtraData: bytes are left over. Raises FormatError, StackError: no MessagePack; nested too deeply.
    Raises ValueError: bytes are missing, a key is neither str nor bytes while `strict_map_key` is true, a length is beyond
    a `max_..._len`. Raises UnicodeDecodeError: text that is not UTF-8. Raises TypeError: an option that isn't there.

    >>> unpackb(b"\\x81\\xa1a\\x91\\x01")
    {'a': [1]}
    >>> unpackb(b"\\x81\\x01\\xa1a")
    Traceback (most recent call last):
    ValueError: int is not allowed for map key when strict_map_key=True
    """
    return (Decoding(**kwargs) if kwargs else _DEFAULT).one(packed)
