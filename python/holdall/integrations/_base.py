"""What all integrations share: how an object becomes bytes, and what becomes of bytes that can't be read."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypedDict, TypeVar

from .. import _core, _files
from .._core import DecodeError, Decoder, EncodeError, Encoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self, Unpack

    from .._seal import Seal
    from ..resolve import Resolver

_C = TypeVar("_C")
# Smaller messages get no smaller in a file's frames.
_COMPRESSED_FROM = 256
# How what holdall writes begins: a message, or something sealed.
_STARTS = frozenset((*_core.message_starts, _core.sealed_start, _core.sealed_log_start))
_MAGIC = b"HOLD"


class Options(TypedDict, total=False):
    """What `Codec` takes, and with it every integration."""

    type: Any
    types: _core._Types
    trust: bool
    strict: bool
    refs: bool
    enc_hook: Callable[[Any], Any] | None
    dec_hook: Callable[[type[Any], Any], Any] | None
    resolver: Resolver | None
    limits: _core.Limits | None
    compress: _files.Compress
    seal: Seal | None
    unreadable: Literal["error", "miss"]
    old: Callable[[bytes], Any] | None


class Codec:
    """How an integration stores objects, and what it does with entries that it can't read.

    type, types, strict, dec_hook, resolver, limits: as for `holdall.loads`. refs, enc_hook: as for `holdall.dumps`.
    trust: entries may hold what pickle can: functions, classes, objects with `__reduce__`. Who can write to the store can then run code
        here, unless there is a `seal`.
    compress: "zstd", "lz4" or ("zstd", level): entries of 256 bytes or more.
    seal: a `holdall.Seal`: only entries that were sealed with one of its keys are read.
    unreadable: what an entry is that is damaged, cut short, holds a class that is not permitted, exceeds a limit, is sealed with another
        key, or was never holdall's. "error": a `holdall.DecodeError` (or what the library makes of it). "miss": as if it were not there, so
        that a cache fills itself anew.
    old: a function that reads the bytes of the serializer that was in this place before, `pickle.loads` for example. It is given what
        was never holdall's, and nothing else; what is stored from now on is holdall's. Such entries are read as safely as that function
        does, whatever the seal: leave it out when the old entries are gone.

    >>> from holdall.integrations import Codec
    >>> codec = Codec(unreadable="miss")
    >>> codec.loads(codec.dumps({"a": 1}))
    {'a': 1}
    >>> import json
    >>> codec.loads(b'{"a": 1}') is codec.MISS
    True
    >>> Codec(old=json.loads).loads(b'{"a": 1}')
    {'a': 1}
    """

    MISS: Final = object()
    """What `loads` gives for an entry that is a miss."""

    def __init__(self, **options: Unpack[Options]) -> None:
        self.options = options
        given: dict[str, Any] = dict(options)
        self.unreadable = given.pop("unreadable", "error")
        self.old = given.pop("old", None)
        self.compress = given.pop("compress", None)
        self.seal = given.get("seal")
        self.trust = given.get("trust", False)
        if self.unreadable not in ("error", "miss"):
            raise ValueError(f'unreadable: expected "error" or "miss", got {self.unreadable!r}')
        if self.old is not None and not callable(self.old):
            raise TypeError(f"old: expected a function of bytes, got {type(self.old).__name__}")
        to: dict[str, Any] = {name: given.pop(name) for name in ("refs", "enc_hook") if name in given}
        # A seal is put around what was compressed.
        within = None if self.compress is not None else self.seal
        self._encoder = Encoder(**to, trust=self.trust, seal=within)
        self._decoder = Decoder(**given)
        # Refused now, if it is none.
        self.dumps = self._encoder.encode if self.compress is None else self._compressed  # type: ignore[method-assign]
        if self.compress is not None:
            self._compressed(bytes(_COMPRESSED_FROM))
        if self.unreadable == "error" and self.old is None:
            self.loads = self._decoder.decode  # type: ignore[method-assign]

    def dumps(self, obj: object, /) -> bytes:
        """The bytes of an entry. Raises EncodeError: as `holdall.dumps`."""
        raise NotImplementedError  # `__init__` puts what is quickest here

    def loads(self, data: Any, /) -> Any:
        """The object of an entry, or `MISS`. Raises DecodeError: see `unreadable`."""
        try:
            if self.old is not None and not is_holdalls(data):
                return self.old(bytes(data))
            return self._decoder.decode(data)
        except DecodeError:
            if self.unreadable == "miss":
                return self.MISS
            raise
        except Exception:
            # What `old` raises says that it can't read this either.
            if self.unreadable == "miss" and self.old is not None and not is_holdalls(data):
                return self.MISS
            raise

    def _compressed(self, obj: object, /) -> bytes:
        data = self._encoder.encode(obj)
        if len(data) >= _COMPRESSED_FROM:
            parts: list[bytes] = []
            _core.file_write(data, parts.append, self.compress)
            data = b"".join(parts)
        return data if self.seal is None else self.seal.wrap(data)

    def key(self, obj: object, /) -> bytes:
        """The bytes of something that is looked up by them: equal objects have equal bytes. A class in it becomes its name."""
        return _core.dumps(obj, canonical=True, trust=self.trust, enc_hook=None if self.trust else _name_of)

    def using(self, **options: Unpack[Options]) -> Codec:
        """The same, with some options changed."""
        changed: Options = {**self.options, **options}
        return Codec(**changed)

    def without_misses(self) -> Codec:
        """The same codec. Raises ValueError: entries of this library can't be misses."""
        if self.unreadable == "miss":
            raise ValueError('unreadable: this library has no misses, so only "error" is possible')
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_options, (dict(self.options),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codec) and self.options == other.options

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.options)))

    def __repr__(self) -> str:
        return f"Codec({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def _with_options(options: Any) -> Codec:
    return Codec(**options)


def _name_of(key: Any) -> str:
    if isinstance(key, type):
        return f"<class {key.__module__}.{key.__qualname__}>"
    raise _core.EncodeError(
        f"can't store a `{type(key).__qualname__}` in a key: register it, or use `trust=True`"
    )


def is_holdalls(data: Any) -> bool:
    """Whether bytes begin as what holdall writes does."""
    start = bytes(memoryview(data)[:4])
    return start == _MAGIC or (bool(start) and start[0] in _STARTS)


class Configured:
    """A class of a library's, which gets its options by a subclass."""

    codec: ClassVar[Codec] = Codec()

    @classmethod
    def using(cls, **options: Unpack[Options]) -> type[Self]:
        """This class with other options: those of `holdall.integrations.Codec`."""
        return type(cls.__name__, (cls,), {"codec": cls.codec.using(**options), "__module__": cls.__module__})


def refused(value: object, what: str) -> EncodeError:
    """What a hook raises for an object that it has no way for. what: what only trusted programs may do for `trust=True`."""
    kind = type(value).__qualname__
    return EncodeError(
        f"can't store a `{kind}`: register it, or use `trust=True` if only trusted programs {what}"
    )


def missing(library: str, extra: str, error: ImportError) -> ImportError:
    """What an import says where the library isn't there."""
    module = extra.replace("-", "_")
    return ImportError(
        f"holdall.integrations.{module} needs {library}: pip install 'holdall[{extra}]'", name=error.name
    )


def calling(function: Any, **names: Any) -> Any:
    """A copy of a library's function for which these names of its module mean something else: for those that call `pickle` by name."""
    copied = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__qualname__, copied.__doc__ = function.__qualname__, function.__doc__
    return copied
