"""taskiq: `broker.with_formatter(HoldFormatter(types=[Order]))`, and `HoldSerializer` for result backends.

taskiq's own formatter makes JSON's types of a message before a serializer sees it, so that a date has become text; this one doesn't.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from taskiq.abc.formatter import TaskiqFormatter
    from taskiq.abc.serializer import TaskiqSerializer
    from taskiq.message import BrokerMessage, TaskiqMessage
except ImportError as error:
    raise missing("taskiq", "taskiq", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldFormatter", "HoldSerializer"]

_FIELDS = ("task_id", "task_name", "labels", "labels_types", "args", "kwargs")


class HoldFormatter(TaskiqFormatter):
    """What a broker takes by `with_formatter`.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def dumps(self, message: TaskiqMessage) -> BrokerMessage:
        data = self.codec.dumps({name: getattr(message, name) for name in _FIELDS})
        return BrokerMessage(
            task_id=message.task_id, task_name=message.task_name, message=data, labels=message.labels
        )

    def loads(self, message: bytes) -> TaskiqMessage:
        return TaskiqMessage(**self.codec.loads(message))


class HoldSerializer(TaskiqSerializer):
    """What result backends take as `serializer`. Options as above."""

    def __init__(self, **options: Unpack[Options]) -> None:
        self.codec = Codec(**options).without_misses()

    def dumpb(self, value: Any) -> bytes:
        return self.codec.dumps(value)

    def loadb(self, value: bytes) -> Any:
        return self.codec.loads(value)
