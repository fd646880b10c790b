"""dramatiq: `dramatiq.set_encoder(HoldEncoder(types=[Order]))`, and the same for result backends: `RedisBackend(encoder=...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import DecodeError
from ._base import Codec, missing

try:
    from dramatiq.encoder import Encoder
    from dramatiq.errors import DecodeError as Undecodable
except ImportError as error:
    raise missing("dramatiq", "dramatiq", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldEncoder"]


class HoldEncoder(Encoder):
    """What stores messages and results. A message that can't be read is dramatiq's DecodeError: the worker drops it, and says so.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def encode(self, data: Any) -> bytes:
        return self.codec.dumps(data)

    def decode(self, data: bytes) -> Any:
        try:
            return self.codec.loads(data)
        except DecodeError as error:
            raise Undecodable(str(error), data, error) from error
