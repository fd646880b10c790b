"""NATS: `messages = Messages(types=[Order])`, `await messages.publish(client, "orders", order)`, `messages.of(message)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["Messages"]


class Messages:
    """Objects as NATS messages, of a client or of JetStream.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    async def publish(self, client: Any, subject: str, obj: Any, **options: Any) -> Any:
        """options: those of the client's `publish`."""
        return await client.publish(subject, self.codec.dumps(obj), **options)

    async def request(self, client: Any, subject: str, obj: Any, **options: Any) -> Any:
        """The answer to an object, as an object."""
        return self.of(await client.request(subject, self.codec.dumps(obj), **options))

    async def respond(self, message: Any, obj: Any) -> Any:
        return await message.respond(self.codec.dumps(obj))

    def of(self, message: Any) -> Any:
        """The object of a message that came."""
        return self.codec.loads(message.data)
