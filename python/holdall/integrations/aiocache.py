"""aiocache: `Cache(Cache.REDIS, serializer=HoldSerializer(types=[Order]))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from aiocache.serializers import BaseSerializer
except ImportError as error:
    raise missing("aiocache", "aiocache", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldSerializer"]


class HoldSerializer(BaseSerializer):
    """What a cache takes as `serializer`.

    options: those of `holdall.integrations.Codec`. A miss is None, as aiocache has it for what is not there.
    """

    DEFAULT_ENCODING = None

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self.codec = Codec(**options)

    def dumps(self, value: Any) -> bytes:
        return self.codec.dumps(value)

    def loads(self, value: Any) -> Any:
        if value is None:
            return None
        made = self.codec.loads(value)
        return None if made is self.codec.MISS else made
