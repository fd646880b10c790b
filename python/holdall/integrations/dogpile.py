"""dogpile.cache: `make_region(**hold(types=[Order])).configure("dogpile.cache.redis")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from dogpile.cache.api import CantDeserializeException
except ImportError as error:
    raise missing("dogpile.cache", "dogpile", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["hold"]


def hold(**options: Unpack[Options]) -> dict[str, Any]:
    """`serializer` and `deserializer` for `make_region`.

    options: those of `holdall.integrations.Codec`. With `unreadable="miss"` the value is made anew, as dogpile has it for what can't be
    deserialized.
    """
    codec = Codec(**options)

    def deserializer(data: bytes) -> Any:
        made = codec.loads(data)
        if made is codec.MISS:
            raise CantDeserializeException
        return made

    return {"serializer": codec.dumps, "deserializer": deserializer}
