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
    requests-cache has it for any error of a serializer that is a ValueError. Its keys depend on a serializer's name: with `old`, ours has
    the name of pickle's, so that old entries are found; leave both as they are from then on, or begin anew.
    """
    codec = Codec(**options).without_misses()
    # The keys of entries depend on the name, and old ones are to be found.
    name = "hold" if codec.old is None else "pickle"
    return SerializerPipeline(
        [base_stage, Stage(dumps=codec.dumps, loads=codec.loads)], name=name, is_binary=True
    )
