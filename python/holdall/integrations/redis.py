"""redis-py: `store = Store(redis.Redis(), types=[Order])` gets and sets objects; `AsyncStore` for `redis.asyncio`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["AsyncStore", "Store"]


class _Store:
    """options: those of `holdall.integrations.Codec`. The client must not decode responses."""

    def __init__(self, client: Any, **options: Unpack[Options]) -> None:
        self.client = client
        self.codec = Codec(**options)

    def _loaded(self, data: Any, default: Any) -> Any:
        if data is None:
            return default
        made = self.codec.loads(data)
        return default if made is self.codec.MISS else made

    def _all_loaded(self, found: Any, default: Any) -> list[Any]:
        return [self._loaded(data, default) for data in found]


class Store(_Store):
    """Objects in Redis."""

    def get(self, key: Any, default: Any = None) -> Any:
        return self._loaded(self.client.get(key), default)

    def set(self, key: Any, value: Any, **options: Any) -> Any:
        """options: those of the client: `ex=60`, `nx=True`."""
        return self.client.set(key, self.codec.dumps(value), **options)

    def mget(self, keys: Iterable[Any], default: Any = None) -> list[Any]:
        return self._all_loaded(self.client.mget(list(keys)), default)

    def mset(self, values: Mapping[Any, Any]) -> Any:
        return self.client.mset({key: self.codec.dumps(value) for key, value in values.items()})


class AsyncStore(_Store):
    """The same for `redis.asyncio`."""

    async def get(self, key: Any, default: Any = None) -> Any:
        return self._loaded(await self.client.get(key), default)

    async def set(self, key: Any, value: Any, **options: Any) -> Any:
        return await self.client.set(key, self.codec.dumps(value), **options)

    async def mget(self, keys: Iterable[Any], default: Any = None) -> list[Any]:
        return self._all_loaded(await self.client.mget(list(keys)), default)

    async def mset(self, values: Mapping[Any, Any]) -> Any:
        return await self.client.mset({key: self.codec.dumps(value) for key, value in values.items()})
