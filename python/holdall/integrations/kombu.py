"""kombu, and Celery over it: the serializer `hold`, which kombu finds by itself where holdall is installed.

    app.conf.update(task_serializer="hold", result_serializer="hold", accept_content=["hold"])

`register` gives it options, or adds another beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing, refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

CONTENT_TYPE = "application/x-hold"


def _lowered(value: object) -> Any:
    """Celery's signatures are dicts with a way of their own to be pickled; as for JSON, the dict is what is sent."""
    if isinstance(value, dict):
        return dict(value)
    raise refused(value, "send messages")


_codec = Codec(enc_hook=_lowered)
# What kombu's entry point of the name `hold` is registered with. It must not import kombu, which imports it.
register_args = (_codec.dumps, _codec.loads, CONTENT_TYPE, "binary")


def register(name: str = "hold", **options: Unpack[Options]) -> None:
    """Register a serializer: `hold` itself with other options, or another, whose content type is `application/x-NAME`.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`: a message that can't be read is kombu's DecodeError.

    >>> from holdall.integrations.kombu import register
    >>> register("hold-trusted", trust=True)
    """
    try:
        from kombu.serialization import registry
    except ImportError as error:
        raise missing("kombu", "kombu", error) from error
    options.setdefault("enc_hook", None if options.get("trust") else _lowered)
    codec = Codec(**options).without_misses()
    registry.register(name, codec.dumps, codec.loads, f"application/x-{name}", "binary")


def unregister(name: str = "hold") -> Any:
    """Take it back."""
    from kombu.serialization import registry

    return registry.unregister(name)
