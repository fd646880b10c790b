"""Kafka: serializers for kafka-python, aiokafka and confluent-kafka. None stays a tombstone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["Deserializer", "Serializer"]


class Serializer:
    """`value_serializer=Serializer()` of kafka-python and aiokafka, `"value.serializer"` of confluent-kafka's SerializingProducer.

    options: those of `holdall.integrations.Codec`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def __call__(self, value: Any, context: Any = None) -> bytes | None:
        return None if value is None else self.codec.dumps(value)

    def serialize(self, topic: str, *headers_and_value: Any) -> bytes | None:
        """kafka-python's interface of classes. Before its version 3 there are no headers."""
        return self(headers_and_value[-1])


class Deserializer:
    """`value_deserializer=Deserializer(types=[Order])`, and `"value.deserializer"` of confluent-kafka's DeserializingConsumer.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def __call__(self, value: bytes | None, context: Any = None) -> Any:
        return None if value is None else self.codec.loads(value)

    def deserialize(self, topic: str, *headers_and_value: Any) -> Any:
        """kafka-python's interface of classes. Before its version 3 there are no headers."""
        return self(headers_and_value[-1])
