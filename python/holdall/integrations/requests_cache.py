"""requests-cache: `CachedSession("cache", serializer=hold())`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from requests_cache.serializers import SerializerPipeline, Stage
    from requests_cache.serializers.preconf import base_stage
except ImportError as error:
    raise missing("requests-cache", "requests-cache", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["hold"]


def hold(**options: Unpack[Options]) -> Any:
    """What a session or a backend takes as `serializer`: responses as requests-cache takes them apart.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`: a response that can't be read is fetched anew by itself, as
    requests-cache has it for any error of a serializer that is a ValueError.
    """
    codec = Codec(**options).without_misses()
    return SerializerPipeline(
        [base_stage, Stage(dumps=codec.dumps, loads=codec.loads)], name="hold", is_binary=True
    )
