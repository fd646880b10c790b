"""APScheduler 3: `scheduler.add_jobstore(RedisJobStore.using(types=[Order])())`.

Whatever the serializer, a job names a function, which the scheduler imports and calls: who can write to the store can run code here.
A `seal` is what keeps others' jobs out.
"""

from __future__ import annotations

from typing import Any

from .._core import DecodeError
from ._base import Codec, Configured, calling, missing

try:
    from apscheduler.triggers.combining import AndTrigger, OrTrigger
    from apscheduler.triggers.cron import CronTrigger
    from apscheduler.triggers.date import DateTrigger
    from apscheduler.triggers.interval import IntervalTrigger
except ImportError as error:
    raise missing("APScheduler", "apscheduler", error) from error

__all__ = ["RedisJobStore", "SQLAlchemyJobStore"]  # noqa: F822

_BY_STATE = {"date": DateTrigger, "interval": IntervalTrigger}
_COMBINED = {"and": AndTrigger, "or": OrTrigger}


def _lowered(trigger: Any) -> Any:
    """A trigger as plain values; one of another class is left as it is."""
    kind = type(trigger)
    for name, known in _BY_STATE.items():
        if kind is known:
            return (name, trigger.__getstate__())
    for name, known in _COMBINED.items():
        if kind is known:
            return (name, [_lowered(part) for part in trigger.triggers], trigger.jitter)
    if kind is CronTrigger:
        fields = {field.name: str(field) for field in trigger.fields if not field.is_default}
        options = {name: getattr(trigger, name) for name in ("timezone", "start_date", "end_date", "jitter")}
        return ("cron", {**fields, **options})
    return trigger


def _raised(lowered: Any) -> Any:
    if not isinstance(lowered, tuple):
        return lowered
    try:
        name, given = lowered[:2]
        if name == "cron":
            return CronTrigger(**given)
        if name in _COMBINED:
            return _COMBINED[name]([_raised(part) for part in given], jitter=lowered[2])
        trigger = _BY_STATE[name].__new__(_BY_STATE[name])
        trigger.__setstate__(given)
        return trigger
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise DecodeError(f"not a trigger: {error}") from error


class _InPicklesPlace:
    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def dumps(self, state: dict[str, Any], protocol: object = None) -> bytes:
        return self.codec.dumps({**state, "trigger": _lowered(state["trigger"])})

    def loads(self, data: Any) -> Any:
        state = self.codec.loads(data)
        return {**state, "trigger": _raised(state["trigger"])}


class _Store(Configured):
    """A job store whose methods call holdall where they call pickle. A job that can't be read is removed, as APScheduler has it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        here = _InPicklesPlace(cls.codec.without_misses())
        for name in ("add_job", "update_job", "_reconstitute_job"):
            setattr(cls, name, calling(getattr(cls, name), pickle=here))


def __getattr__(name: str) -> Any:
    # Each store needs a library of its own.
    if name == "RedisJobStore":
        from apscheduler.jobstores.redis import RedisJobStore as Store
    elif name == "SQLAlchemyJobStore":
        from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore as Store
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = type(name, (_Store, Store), {"__module__": __name__, "__doc__": Store.__doc__})
    return made
