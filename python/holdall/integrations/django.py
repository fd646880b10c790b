"""Django with holdall in pickle's and JSON's places: caches, and sessions.

CACHES = {"default": {
    "BACKEND": "holdall.integrations.django.RedisCache",
    "LOCATION": "redis://127.0.0.1:6379",
    "OPTIONS": {"types": ["shop.orders.Order"], "unreadable": "miss"},
}}
SESSION_SERIALIZER = "holdall.integrations.django.SessionSerializer"
"""

from __future__ import annotations

import os
import pickle
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _core, safe_pickle
from ._base import Codec, Configured, Options, calling, missing, refused

try:
    from django.core.cache.backends import db, filebased, locmem, redis
    from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
    from django.utils.functional import Promise
    from django.utils.module_loading import import_string
    from django.utils.safestring import SafeString
except ImportError as error:
    raise missing("Django", "django", error) from error

if TYPE_CHECKING:
    from collections.abc import Iterable

_OWN = frozenset(Options.__annotations__)
_PICKLE_START = 0x80


def _as_text(value: object) -> str:
    """Lazy text, which is translated when it is stored, as pickle does."""
    if isinstance(value, Promise):
        return str(value)
    raise refused(value, "write to the store")


def codec_of(options: dict[str, Any]) -> Codec:
    """A Codec of options that may be dotted names, as in settings. It takes Django's safe text, and stores lazy text as text."""
    given = dict(options)
    for name in ("type", "enc_hook", "dec_hook", "resolver", "limits", "seal", "old"):
        if isinstance(given.get(name), str):
            given[name] = import_string(given[name])
    types = given.get("types", ())
    listed: Iterable[Any] = types if isinstance(types, (list, tuple, set, frozenset)) else [types]
    given["types"] = [SafeString, *(_permitted(one) if isinstance(one, str) else one for one in listed)]
    given.setdefault("enc_hook", _as_text)
    return Codec(**given)


def _permitted(name: str) -> Any:
    """A class or a module by its dotted name."""
    try:
        return import_string(name)
    except ImportError:
        return import_module(name)


class _Unreadable(FileNotFoundError):
    """What a miss is while a backend reads: the one of files takes it for a file that has gone."""


class _Plain(pickle.Unpickler):
    """Reads a number in front of an old entry: that needs no class, whatever `old` takes of the entry itself."""

    def find_class(self, module: str, name: str, /) -> Any:
        raise pickle.UnpicklingError("a number names no class")


# What reading such a number raises where there is none: pickle has no one class of error for bytes that aren't its own.
_NO_EXPIRY = (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError)


class _InPicklesPlace:
    """What a backend calls `pickle`."""

    HIGHEST_PROTOCOL = DEFAULT_PROTOCOL = pickle.HIGHEST_PROTOCOL

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def dumps(self, value: Any, protocol: object = None) -> bytes:
        return self.codec.dumps(value)

    def loads(self, data: Any) -> Any:
        made = self.codec.loads(data)
        if made is self.codec.MISS:
            raise _Unreadable("an entry that can't be read")
        return made

    def load(self, file: Any) -> Any:
        """When a file's entry expires, which is in front of it."""
        start = file.peek(1)[:1]
        if not start:
            raise EOFError("an empty file")  # which Django takes for an entry that has expired
        try:
            was_pickled = start[0] == _PICKLE_START and self.codec.old is not None
            made = _Plain(file).load() if was_pickled else safe_pickle.load(file)
            if made is None or isinstance(made, (int, float)):
                return made
        except _NO_EXPIRY:
            pass
        if self.codec.unreadable == "miss":
            raise _Unreadable("an entry that can't be read")
        error = _core.DecodeError("not an entry of this cache - at byte 0")
        error.offset = 0
        raise error


class _Cache(BaseCache):
    """A backend whose methods call holdall where they call pickle."""

    codec: Codec

    def __init__(self, location: Any, params: dict[str, Any]) -> None:
        options = dict(params.get("OPTIONS", {}))
        own = {name: options.pop(name) for name in [*options] if name in _OWN}
        super().__init__(location, {**params, "OPTIONS": options})  # type: ignore[call-arg]
        self.codec = codec_of(own)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        try:
            return self._get(key, default, version)
        except _Unreadable:
            return default

    def _get(self, key: str, default: Any, version: int | None) -> Any:
        return super().get(key, default, version)

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        try:
            return super().incr(key, delta, version)
        except _Unreadable:
            raise ValueError(f"Key '{key}' not found") from None


def _calling(backend: Any, *names: str) -> Any:
    """A subclass of a backend whose methods of these names look `pickle` up in the instance's codec."""

    def method(name: str) -> Any:
        function = getattr(backend, name)

        def call(self: Any, *args: Any, **options: Any) -> Any:
            found = self.__dict__.get(f"_{name}_by_holdall")
            if found is None:
                found = calling(function, pickle=_InPicklesPlace(self.codec))
                setattr(self, f"_{name}_by_holdall", found)
            return found(self, *args, **options)

        call.__name__, call.__doc__ = name, function.__doc__
        return call

    return type(backend.__name__, (backend,), {name: method(name) for name in names})


_LocMemCache: Any = _calling(locmem.LocMemCache, "add", "get", "set", "incr")


class LocMemCache(_Cache, _LocMemCache):
    """Django's cache in this process's memory."""


_DatabaseCache: Any = _calling(db.DatabaseCache, "get_many", "_base_set")


class DatabaseCache(_Cache, _DatabaseCache):
    """Django's cache in a table of the database."""

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        wanted = list(keys)
        try:
            return super().get_many(wanted, version)
        except _Unreadable:
            # One by one: those that can be read are there.
            found: dict[str, Any] = {}
            for key in wanted if len(wanted) > 1 else ():
                found.update(self.get_many([key], version))
            return found


_FileBasedCache: Any = _calling(filebased.FileBasedCache, "get", "touch", "_is_expired")


class FileBasedCache(_Cache, _FileBasedCache):
    """Django's cache in a folder of files."""

    def _write_content(self, file: Any, timeout: Any, value: Any) -> None:
        file.write(_core.dumps(self.get_backend_timeout(timeout)))
        file.write(zlib.compress(self.codec.dumps(value)))

    def _get(self, key: str, default: Any, version: int | None) -> Any:
        try:
            return super()._get(key, default, version)
        except zlib.error as error:
            return self._damaged(error, default)

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        try:
            return super().touch(key, timeout, version)
        except zlib.error as error:
            return bool(self._damaged(error, False))
        except ValueError:
            # Django closes and deletes a file that has expired, and unlocks it then.
            if os.path.exists(self._key_to_file(key, version)):
                raise
            return False

    def _damaged(self, error: zlib.error, default: Any) -> Any:
        if self.codec.unreadable == "miss":
            return default
        damaged = _core.DecodeError(f"not an entry of this cache: {error} - at byte 0")
        damaged.offset = 0
        raise damaged from error

    def has_key(self, key: str, version: int | None = None) -> bool:
        try:
            return super().has_key(key, version)
        except _Unreadable:
            return False


class HoldSerializer:
    """What Django's own RedisCache takes as `OPTIONS["serializer"]`: its dotted name, or an instance with options.

    Ints are stored as Redis counts them, unless there is a `seal`. It has no misses: `RedisCache` here has them.
    """

    def __init__(self, **options: Any) -> None:
        self.codec = codec_of(options).without_misses()

    def dumps(self, obj: Any) -> Any:
        return obj if type(obj) is int and self.codec.seal is None else self.codec.dumps(obj)

    def loads(self, data: Any) -> Any:
        return _counted(self.codec, data)


def _counted(codec: Codec, data: Any) -> Any:
    if codec.seal is None and len(data) <= 20:
        try:
            return int(data)
        except ValueError:
            pass
    return codec.loads(data)


class _Counting(HoldSerializer):
    def __init__(self, codec: Codec) -> None:
        self.codec = codec


class _RedisClient(redis.RedisCacheClient):
    def get(self, key: str, default: Any) -> Any:
        made = super().get(key, default)
        return default if made is Codec.MISS else made

    def get_many(self, keys: Any) -> dict[str, Any]:
        return {key: made for key, made in super().get_many(keys).items() if made is not Codec.MISS}


class RedisCache(redis.RedisCache):
    """Django's cache in Redis."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        options = dict(params.get("OPTIONS", {}))
        own = {name: options.pop(name) for name in [*options] if name in _OWN}
        super().__init__(server, {**params, "OPTIONS": options})
        self.codec = codec_of(own)
        self._class = _RedisClient
        self._options = {**options, "serializer": _Counting(self.codec)}


class SessionSerializer(Configured):
    """`SESSION_SERIALIZER`: sessions hold dates, sets, tuples and registered classes; Django signs them.

    A session that can't be read is a new one, as Django has it. Those that were stored as JSON are read by a subclass, whose dotted
    name then is the setting: `class Sessions(SessionSerializer): codec = codec_of({"old": json.loads})`.
    """

    codec = codec_of({})

    def dumps(self, obj: Any) -> bytes:
        return self.codec.dumps(obj)

    def loads(self, data: bytes) -> Any:
        return self.codec.loads(data)
