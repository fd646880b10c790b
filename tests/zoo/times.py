"""Time."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("pendulum")
def pendulum_objects() -> Iterator[Any]:
    import pendulum

    yield (
        "DateTime",
        pendulum.datetime(2024, 2, 29, tz="Europe/Paris"),
        lambda d: (d.isoformat(), d.timezone_name, d.add(days=1).isoformat()),
    )
    yield "Date, Time", [pendulum.date(2024, 1, 2), pendulum.time(1, 2, 3)], lambda d: d[0].add(days=1)
    yield (
        "Duration",
        pendulum.duration(years=1, days=2, hours=3),
        lambda d: (d.years, d.days, d.hours, d.in_words()),
    )
    yield (
        "Interval",
        pendulum.datetime(2024, 1, 1) - pendulum.datetime(2023, 1, 1),
        lambda i: (i.in_days(), i.start.isoformat()),
    )
    yield (
        "zones",
        [pendulum.timezone("Europe/Paris"), pendulum.UTC, pendulum.timezone(3600)],
        lambda z: z[0].name,
    )


@zoo("arrow")
def arrow_objects() -> Iterator[Any]:
    import arrow

    yield "Arrow", arrow.get("2024-02-29T12:00:00+01:00"), lambda a: (a.isoformat(), a.shift(days=1).format())
    yield (
        "in a zone",
        arrow.get("2024-02-29", tzinfo="Europe/Paris"),
        lambda a: a.tzinfo.utcoffset(a.datetime),
    )


@zoo(
    "python-dateutil",
    "dateutil",
    "dateutil.tz",
    "dateutil.relativedelta",
    "dateutil.rrule",
    "dateutil.parser",
)
def dateutil_objects() -> Iterator[Any]:
    import datetime

    from dateutil import relativedelta, rrule, tz

    yield (
        "relativedelta",
        relativedelta.relativedelta(months=2, weekday=relativedelta.MO(1)),
        lambda r: datetime.date(2024, 1, 5) + r,
    )
    yield "rrule", rrule.rrule(rrule.WEEKLY, count=3, dtstart=datetime.datetime(2024, 1, 1)), list
    yield (
        "zones",
        [tz.tzutc(), tz.UTC, tz.tzoffset("X", 3600), tz.gettz("Europe/Paris"), tz.tzlocal()],
        lambda z: (z[0] is tz.UTC, z[3].utcoffset(datetime.datetime(2024, 7, 1))),
    )
    yield "in a zone", datetime.datetime(2024, 7, 1, tzinfo=tz.gettz("Asia/Tokyo")), lambda d: d.isoformat()


@zoo("pytz")
def pytz_objects() -> Iterator[Any]:
    import datetime

    import pytz

    paris = pytz.timezone("Europe/Paris")
    yield (
        "zones",
        [paris, pytz.utc, pytz.FixedOffset(90), pytz.timezone("Etc/GMT+3")],
        lambda z: (z[0] is paris, z[1] is pytz.utc),
    )
    yield (
        "localized",
        [paris.localize(datetime.datetime(2024, month, 1)) for month in (1, 7)],
        lambda d: [(x.isoformat(), x.tzinfo is paris.localize(x.replace(tzinfo=None)).tzinfo) for x in d],
    )
    yield "error", pytz.UnknownTimeZoneError("x"), str


@zoo("whenever")
def whenever_objects() -> Iterator[Any]:
    import whenever as w

    makers = {
        "Date": (2024, 2, 29),
        "Time": (1, 2, 3),
        "YearMonth": (2024, 2),
        "MonthDay": (2, 29),
        "PlainDateTime": (2024, 1, 2, 3),
        "Instant": None,
        "ZonedDateTime": None,
        "TimeDelta": (),
        "DateDelta": (),
    }
    for name, arguments in makers.items():
        cls = getattr(w, name, None)
        if cls is not None and arguments is not None:
            yield name, cls(*arguments), str
    yield "Instant", w.Instant.from_utc(2024, 1, 1), str
    yield "ZonedDateTime", w.ZonedDateTime(2024, 7, 1, tz="Europe/Paris"), str
    yield "weekdays", [w.MONDAY], lambda d: d[0] is w.MONDAY


@zoo("tzlocal")
def tzlocal_objects() -> Iterator[Any]:
    import tzlocal

    yield "zone", tzlocal.get_localzone(), str


@zoo("babel", "babel", "babel.core", "babel.messages", "babel.numbers")
def babel_objects() -> Iterator[Any]:
    import babel
    import babel.messages

    yield "Locale", babel.Locale("de", "AT"), lambda x: (str(x), x.display_name)
    catalog = babel.messages.Catalog("de")
    catalog.add("foo", "bar")
    yield "Catalog", catalog, lambda c: c["foo"].string
    yield (
        "patterns",
        [babel.Locale("en").decimal_formats[None], babel.Locale("en").date_formats["short"]],
        lambda p: p[0].pattern,
    )


@zoo("ciso8601")
def ciso8601_objects() -> Iterator[Any]:
    import ciso8601

    yield "parsed", ciso8601.parse_datetime("2024-01-01T00:00:00+01:00"), lambda d: d.isoformat()
