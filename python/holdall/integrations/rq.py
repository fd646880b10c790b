"""rq: `Queue(connection=..., serializer=HoldSerializer(types=[Order]))`, or its dotted name on the worker's command line.

rq worker --serializer shop.queues.serializer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    import rq  # noqa: F401
except ImportError as error:
    raise missing("rq", "rq", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldSerializer", "serializer"]


class HoldSerializer:
    """What queues, jobs and workers take as `serializer`. A job that can't be read is rq's DeserializationError, and fails.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def dumps(self, obj: Any, /) -> bytes:
        return self.codec.dumps(obj)

    def loads(self, data: Any, /) -> Any:
        return self.codec.loads(data)


serializer = HoldSerializer()
"""One without options, for `--serializer holdall.integrations.rq.serializer`."""
