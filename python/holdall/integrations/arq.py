"""arq: `create_pool(settings, **hold(types=[Order]))`, and the same two names in `WorkerSettings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    import arq  # noqa: F401
except ImportError as error:
    raise missing("arq", "arq", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["hold"]


def hold(**options: Unpack[Options]) -> dict[str, Any]:
    """`job_serializer` and `job_deserializer`, for `create_pool`, `Worker` and `run_worker`.

    A job or result that can't be read is arq's DeserializationError. Results may be exceptions: builtin ones come back by themselves, others
    have to be permitted, too.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """
    codec = Codec(**options).without_misses()
    return {"job_serializer": codec.dumps, "job_deserializer": codec.loads}
