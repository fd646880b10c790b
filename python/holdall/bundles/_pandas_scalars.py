"""pandas's scalars, and the offsets that say how often something is."""

from __future__ import annotations

from datetime import timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from .._bundles import Known
from ._checks import constant, exact, parts
from ._pandas_arrays import zone_of, zone_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_timedelta_of: Any = pd._libs.tslibs.timedeltas._timedelta_unpickle
# What pickles of all versions call.
_timestamp_unpickled: Any = pd._libs.tslibs.timestamps._unpickle_timestamp
_timestamp_of: Any = pd.Timestamp._from_value_and_reso
# pandas's numbers of the units in which it counts.
_UNITS = {7: "s", 8: "ms", 9: "us", 10: "ns"}
_NUMBERS = {unit: number for number, unit in _UNITS.items()}
_SPAN = range(-(1 << 63), 1 << 63)


def known() -> Iterator[Known]:
    nothing = type(None)
    yield Known(
        pd.Timestamp,
        "pandas.Timestamp",
        _timestamp,
        _made_timestamp,
        constructor=(_timestamp_unpickled, [[int], [nothing], [nothing, ZoneInfo, timezone], [int]]),
    )
    yield Known(
        pd.Timedelta,
        "pandas.Timedelta",
        lambda value: (value._value, value._creso),
        _made_timedelta,
        constructor=(_timedelta_of, [[int], [int]]),
    )
    yield Known(pd.Period, "pandas.Period", lambda value: (value.ordinal, value.freq), _made_period)
    yield Known(
        pd.Interval, "pandas.Interval", lambda value: (value.left, value.right, value.closed), _made_interval
    )
    yield Known(type(pd.NaT), "pandas.NaT", lambda value: None, constant(pd.NaT))
    yield Known(type(pd.NA), "pandas.NA", lambda value: None, constant(pd.NA))
    offsets: Any = pd.tseries.offsets
    for name in offsets.__all__:
        cls = getattr(offsets, name)
        if (
            isinstance(cls, type)
            and issubclass(cls, pd.offsets.BaseOffset)
            and cls is not pd.offsets.BaseOffset
        ):
            # Some have two names.
            yield Known(cls, f"pandas.offsets.{cls.__name__}", _offset, _offset_of(cls))


_OWN_ZONES = frozenset((type(None), ZoneInfo, timezone))


def _timestamp(value: Any) -> Any:
    zone = value.tzinfo
    if type(zone) in _OWN_ZONES:
        return value._value, None, zone, value._creso
    return value._value, _UNITS[value._creso], zone_parts(zone)


def _made_timestamp(stored: Any) -> Any:
    """Of other zones, and what was stored by units before `constructor` had it all."""
    value, unit, zone = stored if len(stored) == 3 else (*parts(stored, 2), None)
    made = _timestamp_of(exact(value, int), _NUMBERS[unit], zone_of(zone))
    if made is pd.NaT:
        raise ValueError("no time")
    return made


def _made_timedelta(stored: Any) -> Any:
    """What was stored by its unit."""
    value, unit = parts(stored, 2)
    return _timedelta_of(exact(value, int), _NUMBERS[unit])


def _made_period(stored: Any) -> Any:
    ordinal, freq = parts(stored, 2)
    if exact(ordinal, int) not in _SPAN or not isinstance(freq, pd.offsets.BaseOffset):
        raise ValueError("a period out of range")
    return pd.Period(ordinal=ordinal, freq=freq)


def _made_interval(stored: Any) -> Any:
    left, right, closed = parts(stored, 3)
    for end in (left, right):
        if not isinstance(end, (int, float, np.integer, np.floating, pd.Timestamp, pd.Timedelta)):
            raise TypeError("expected the ends of an interval")
    return pd.Interval(left, right, exact(closed, str))


def _offset(offset: Any) -> Any:
    if isinstance(offset, pd.offsets.Tick):
        return offset.n
    kwds = dict(offset.kwds)
    # Made anew of the other two, of which it is not always made.
    calendar = kwds.pop("calendar", None)
    if calendar is not None:
        if not np.array_equal(np.busdaycalendar(kwds["weekmask"]).weekmask, calendar.weekmask):
            kwds["weekmask"] = "".join("1" if day else "0" for day in calendar.weekmask)
        kwds["holidays"] = tuple(kwds["holidays"])
    return offset.n, offset.normalize, kwds


def _offset_of(cls: Any) -> Callable[[Any], Any]:
    def offset_of(stored: Any) -> Any:
        if type(stored) is int:
            return cls(stored)
        n, normalize, kwds = parts(stored, 3)
        return cls(exact(n, int), exact(normalize, bool), **exact(kwds, dict))

    return offset_of
