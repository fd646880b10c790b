"""LangGraph: a checkpointer's `serde=HoldSerializer()`. Nothing is lost silently: what can't be stored is an error when it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import DecodeError
from ._base import Codec, missing

try:
    from langgraph.checkpoint.serde.base import SerializerProtocol
except ImportError as error:
    raise missing("langgraph-checkpoint", "langgraph", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldSerializer"]

_KIND = "hold"


def _known() -> list[Any]:
    """What graphs hold by themselves: LangChain's messages, and LangGraph's own types."""
    found: list[Any] = []
    for name in ("langchain_core.messages", "langgraph.types"):
        try:
            module = __import__(name, fromlist=["_"])
        except ImportError:
            continue
        public = (getattr(module, one, None) for one in getattr(module, "__all__", ()))
        found.extend(one for one in public if isinstance(one, type))
    return found


class HoldSerializer(SerializerProtocol):
    """What a checkpointer or a store takes as `serde`.

    previous: the serializer that was in this place, whose checkpoints are still read: `JsonPlusSerializer()`.
    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"` and `old`. LangChain's messages are permitted beside `types`.
    """

    def __init__(self, *, previous: SerializerProtocol | None = None, **options: Unpack[Options]) -> None:
        if "old" in options:
            raise TypeError("old: LangGraph's entries say what wrote them, so it is `previous=` here")
        given = options.get("types", ())
        listed = given if isinstance(given, (list, tuple)) else [given]
        options["types"] = [*_known(), *listed]
        self.codec = Codec(**options).without_misses()
        self.previous = previous

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return _KIND, self.codec.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, content = data
        if kind == _KIND:
            return self.codec.loads(content)
        if self.previous is not None:
            return self.previous.loads_typed(data)
        error = DecodeError(
            f"expected a checkpoint of holdall's, got one of `{kind}`: `previous=` reads those - at byte 0"
        )
        error.offset = 0
        raise error
