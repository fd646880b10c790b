"""Celery's serializer is kombu's: `task_serializer = "hold"`. This module is `holdall.integrations.kombu`, and `configure` for an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import missing
from .kombu import register

try:
    import celery
except ImportError as error:
    raise missing("Celery", "celery", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["configure", "register"]


def configure(app: celery.Celery, *, accept: tuple[str, ...] = (), **options: Unpack[Options]) -> None:
    """Store this app's tasks, results and events by holdall, and take nothing else.

    accept: other serializers whose messages are still taken, while a queue is switched over: ("json",).
    options: those of `holdall.integrations.Codec`.
    """
    register("hold", **options)
    taken: list[Any] = ["hold", *accept]
    app.conf.update(
        task_serializer="hold", result_serializer="hold", event_serializer="hold",
        accept_content=taken, result_accept_content=taken,
    )  # fmt: skip
