"""huey: `RedisHuey("shop", serializer=HoldSerializer(types=[Order]))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from huey import exceptions
    from huey.registry import Message
    from huey.serializer import Serializer
    from huey.utils import Error
except ImportError as error:
    raise missing("huey", "huey", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldSerializer"]


class HoldSerializer(Serializer):
    """What a Huey takes as `serializer`. Its own messages are permitted beside `types`.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        given = options.get("types", ())
        listed = given if isinstance(given, (list, tuple)) else [given]
        options["types"] = [Message, Error, exceptions, *listed]
        self.codec = Codec(**options).without_misses()

    def _serialize(self, data: Any) -> bytes:
        return self.codec.dumps(data)

    def _deserialize(self, data: Any) -> Any:
        return self.codec.loads(data)
