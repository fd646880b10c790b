"""Numbers and names as the page shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape

# Between a number and its unit, or its thousands: never at the end of a line.
THIN = "\u202f"
NOTHING = '<span class="nothing">–</span>'


def number(value: float) -> str:
    """Three digits that count; thousands apart."""
    if value >= 1000:
        return f"{value:,.0f}".replace(",", THIN)
    for least, places in ((99.95, 0), (9.995, 1), (0.9995, 2), (0.09995, 3), (0.0095, 4)):
        if value >= least:
            return f"{value:.{places}f}"
    return f"{value:.2g}" if value else "0"


def times(value: float) -> str:
    return f"{number(value)}×"


def amount(size: float) -> str:
    """Bytes, in the unit that suits: kB are 1000."""
    return _amount(size, number)


def brief(size: float) -> str:
    """Bytes that mostly are a round number."""
    return _amount(size, lambda value: re.sub("[.]0+$", "", number(value)))


def _amount(size: float, show: Callable[[float], str]) -> str:
    for per, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= per:
            return f"{show(size / per)}{THIN}{unit}"
    return f"{size:.0f}{THIN}B"


def whole(count: int) -> str:
    return f"{count:,}".replace(",", THIN)


@dataclass(frozen=True)
class Unit:
    """Of time. per: nanoseconds."""

    name: str
    per: float

    def of(self, nanoseconds: float) -> str:
        return number(nanoseconds / self.per)


UNITS = (Unit("s", 1e9), Unit("ms", 1e6), Unit("µs", 1e3), Unit("ns", 1.0))


def unit_for(nanoseconds: Iterable[float]) -> Unit:
    """One for all of a table's times, so that they can be compared at a glance: the least has a digit that counts."""
    least = min(nanoseconds, default=1e6)
    return next((unit for unit in UNITS if least >= unit.per / 10), UNITS[-1])


def duration(nanoseconds: float) -> str:
    """One time on its own."""
    unit = next((unit for unit in UNITS if nanoseconds >= unit.per), UNITS[-1])
    return f"{unit.of(nanoseconds)}{THIN}{unit.name}"


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}{THIN}min {rest}{THIN}s" if minutes else f"{rest}{THIN}s"


def moment(when: str) -> str:
    """ISO 8601 as people write it; anything else as it is."""
    try:
        # Python 3.10 doesn't know the Z.
        found = datetime.fromisoformat(re.sub("Z$", "+00:00", when))
    except ValueError:
        return when
    return (
        f"{found.astimezone(timezone.utc):%Y-%m-%d, %H:%M} UTC"
        if found.tzinfo
        else f"{found:%Y-%m-%d, %H:%M}"
    )


class Names:
    """Makes ids of names. Two names that look alike as ids get different ones."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "x"
        found, count = plain, 1
        while found in self._taken:
            count += 1
            found = f"{plain}-{count}"
        self._taken.add(found)
        return found


def tag(name: str, inside: str = "", **attributes: str | bool | None) -> str:
    """An element. `inside` is HTML; attributes are text. `class_` and `for_` stand for the words of Python."""
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{shown}>{inside}</{name}>"
