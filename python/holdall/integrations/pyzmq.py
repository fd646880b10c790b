"""pyzmq: `messages = Messages(types=[Order])`, `messages.send(socket, obj)`, `messages.receive(socket)`. Large buffers are parts of their own, which nobody copies."""

from __future__ import annotations

from typing import Any

from .. import _core
from ._base import Codec, missing

try:
    import zmq
except ImportError as error:
    raise missing("pyzmq", "pyzmq", error) from error

__all__ = ["Messages"]


class Messages:
    """Sends and receives objects by any socket of pyzmq's.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`. With a `seal`, buffers are within the message, so that
    they are covered, and are copied.
    """

    def __init__(self, **options: Any) -> None:
        self.codec = Codec(**options).without_misses()
        if self.codec.compress is not None:
            raise ValueError("compress: messages with parts that are not copied are not compressed")
        kept = {
            name: value for name, value in options.items() if name not in ("old", "unreadable", "compress")
        }
        self._encoder = _core.Encoder(
            **{name: kept.pop(name) for name in ("refs", "enc_hook") if name in kept},
            **{name: kept[name] for name in ("trust", "seal") if name in kept},
        )
        self._decoder = _core.Decoder(**kept)

    def parts(self, obj: Any) -> list[Any]:
        """A message, and its buffers."""
        if self.codec.seal is not None:
            return [self._encoder.encode(obj)]
        buffers: list[Any] = []
        return [self._encoder.encode(obj, buffers), *(memoryview(one) for one in buffers)]

    def of(self, parts: list[Any]) -> Any:
        """The object of the parts that came. Raises DecodeError: it can't be read."""
        if len(parts) == 1:
            return self.codec.loads(parts[0])
        left = iter(parts[1:])
        made = self._decoder.decode(parts[0], left)
        for _ in left:
            error = _core.DecodeError("more parts than the message has buffers - at byte 0")
            error.offset = 0
            raise error
        return made

    def send(self, socket: zmq.Socket[Any], obj: Any, flags: int = 0) -> Any:
        """Send an object. The memory of its large arrays must not change until it was sent."""
        return socket.send_multipart(self.parts(obj), flags, copy=False)

    def receive(self, socket: zmq.Socket[Any], flags: int = 0) -> Any:
        """The next object. Its arrays are views of what came."""
        return self.of([frame.buffer for frame in socket.recv_multipart(flags, copy=False)])

    async def send_async(self, socket: Any, obj: Any, flags: int = 0) -> Any:
        """The same for `zmq.asyncio`."""
        return await socket.send_multipart(self.parts(obj), flags, copy=False)

    async def receive_async(self, socket: Any, flags: int = 0) -> Any:
        return self.of([frame.buffer for frame in await socket.recv_multipart(flags, copy=False)])
