"""cachelib, and Flask-Session over it: caches whose values holdall stores.

cache = FileSystemCache.using(types=[Order])("/var/cache/shop")
app.config.update(SESSION_TYPE="cachelib", SESSION_CACHELIB=FileSystemCache("/var/sessions"))
"""

from __future__ import annotations

import contextlib
from typing import Any

from ._base import Codec, Configured, missing

try:
    import cachelib
    from cachelib.serializers import BaseSerializer
except ImportError as error:
    raise missing("cachelib", "cachelib", error) from error

__all__ = ["FileSystemCache", "HoldSerializer", "RedisCache", "SimpleCache"]


class HoldSerializer(BaseSerializer):
    """What a cache of cachelib's has as `serializer`.

    options: those of `holdall.integrations.Codec`. A miss is None, as cachelib has it for what is not there.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def dumps(self, value: Any, protocol: object = None) -> bytes:
        return self.codec.dumps(value)

    def loads(self, data: Any) -> Any:
        if data is None:
            return None
        made = self.codec.loads(data)
        return None if made is self.codec.MISS else made

    def dump(self, value: Any, file: Any, protocol: object = None) -> None:
        file.write(self.codec.dumps(value))

    def load(self, file: Any) -> Any:
        return self.loads(file.read())


class _RedisSerializer(HoldSerializer):
    """Leaves ints to Redis, which counts them, unless there is a seal."""

    def dumps(self, value: Any, protocol: object = None) -> bytes:
        if type(value) is int and self.codec.seal is None:
            return str(value).encode("ascii")
        return self.codec.dumps(value)

    def loads(self, data: Any) -> Any:
        if data is not None and self.codec.seal is None and len(data) <= 20:
            with contextlib.suppress(ValueError):
                return int(data)
        return super().loads(data)


class _Configured(Configured):
    _serializer: type[HoldSerializer] = HoldSerializer

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.serializer = cls._serializer(cls.codec)  # type: ignore[attr-defined]


class SimpleCache(_Configured, cachelib.SimpleCache):
    """In this process's memory."""


class FileSystemCache(_Configured, cachelib.FileSystemCache):
    """In a folder."""


class RedisCache(_Configured, cachelib.RedisCache):
    """In Redis."""

    _serializer = _RedisSerializer
    serializer = _RedisSerializer(Codec())
