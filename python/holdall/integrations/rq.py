"""rq: `Queue(connection=..., serializer=HoldSerializer)`, and `--serializer holdall.integrations.rq.HoldSerializer` for workers.

With options it is a class in a module of yours, whose dotted name rq's worker processes import:

    class Serializer(HoldSerializer):
        codec = Codec(types=[Order], seal=seal)
"""

from __future__ import annotations

from typing import Any

from ._base import Configured, missing

try:
    import rq  # noqa: F401
except ImportError as error:
    raise missing("rq", "rq", error) from error

__all__ = ["HoldSerializer"]


class HoldSerializer(Configured):
    """What queues, jobs and workers take as `serializer`: this class, or a subclass with a `codec` of its own.

    A job that can't be read is rq's DeserializationError, and fails. There are no misses.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.codec.without_misses()

    @classmethod
    def dumps(cls, obj: Any, /) -> bytes:
        return cls.codec.dumps(obj)

    @classmethod
    def loads(cls, data: Any, /) -> Any:
        return cls.codec.loads(data)
