"""Text that stands for values where a type asks for them: all that is well formed, and nothing else."""

from __future__ import annotations

import datetime
import uuid
from datetime import timedelta, timezone
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdall
from holdall import msgpack
from tests.support.each import each

UTC = timezone.utc


def read(text: Any, annotation: Any, **options: Any) -> Any:
    return msgpack.loads(msgpack.dumps(text), type=annotation, **options)


def refusal(text: Any, annotation: Any, **options: Any) -> str:
    with pytest.raises(holdall.ValidationError) as caught:
        read(text, annotation, **options)
    return str(caught.value)


@each(
    "text",
    [
        "",
        "P1D\x00",
        *"""P -P +P PD P.0D P123. P123.D P.5D P0 P0.0 PT P0DT P1D2H PTT0S P1D2D PT1H2H PT1M2M PT1S2S PT1H1D PT1M1H PT1S1M PT1.2H1M
        P1.2DT1H PT1.2H0S 1P1D P-1D P1.-D P1D- --P1D P1S PT1D P1Y P1M PT1,S P1D1W P1DPT1S P1Dx PT١S 12:30""".split(),
    ],
)
def test_malformed_durations(text):
    assert refusal(text, timedelta) == "Invalid ISO8601 duration"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P1W", timedelta(days=7)),
        ("P1W2D", timedelta(days=9)),
        ("P0D", timedelta()),
        ("pt1.5h", timedelta(hours=1.5)),
        ("-P1DT2H3M4,25S", -timedelta(1, 4.25, 0, 0, 3, 2)),
        ("PT0.0000004999999999999999999999S", timedelta()),
        ("PT0.0000005S", timedelta(microseconds=1)),
        ("-PT0.0000005S", -timedelta(microseconds=1)),
        ("PT59.9999995S", timedelta(minutes=1)),
        ("P0.00000000001D", timedelta(microseconds=1)),
        ("P999999999D", timedelta(999999999)),
        ("PT" + "0" * 50 + "1S", timedelta(seconds=1)),
    ],
)
def test_durations(text, value):
    assert read(text, timedelta) == value


@pytest.mark.parametrize(
    "text", ["P1000000000D", "-P1000000000D", "PT" + "9" * 60 + "S", "P" + "9" * 30 + "W"]
)
def test_durations_that_python_has_not(text):
    assert refusal(text, timedelta) == "Duration is out of range"


@given(st.timedeltas())
def test_every_duration_comes_back(value):
    assert read(value, timedelta) == value


@pytest.mark.parametrize(
    "text",
    [
        "{12345678123456781234567812345678}",
        "{12345678-1234-5678-1234-567812345678}",
        "urn:uuid:12345678-1234-5678-1234-567812345678",
        "1234567-81234567812345678123456781",
        "12345678-12345678-1234-5678-12345678",
        "1-2345678123456781234567812345678",
        "1234567812345678123456781234567g",
        "١2345678123456781234567812345678",
        "12345678-1234-5678-1234-567812345678 ",
        "",
    ],
)
def test_malformed_uuids(text):
    assert refusal(text, uuid.UUID) == "Invalid UUID"


@pytest.mark.parametrize("form", ["12345678123456781234567812abCDef", "12345678-1234-5678-1234-567812abCDef"])
def test_uuids(form):
    assert read(form, uuid.UUID) == uuid.UUID(form)


@pytest.mark.parametrize(
    ("text", "annotation", "value"),
    [
        (
            "2020-01-02T03:04:05.1234564Z",
            datetime.datetime,
            datetime.datetime(2020, 1, 2, 3, 4, 5, 123456, UTC),
        ),
        ("2020-01-02T03:04:05.1234565", datetime.datetime, datetime.datetime(2020, 1, 2, 3, 4, 5, 123457)),
        ("2020-12-31T23:59:59.9999995Z", datetime.datetime, datetime.datetime(2021, 1, 1, tzinfo=UTC)),
        ("03:04:05.9999995", datetime.time, datetime.time(3, 4, 6)),
        ("23:59:59.9999995Z", datetime.time, datetime.time(tzinfo=UTC)),
        ("23:59:59.99999949999", datetime.time, datetime.time(23, 59, 59, 999999)),
    ],
)
def test_digits_below_a_microsecond_round(text, annotation, value):
    made = read(text, annotation)
    assert (made, made.tzinfo) == (value, value.tzinfo)


def test_the_last_moment_has_no_next_one():
    assert refusal("9999-12-31T23:59:59.9999995Z", datetime.datetime) == "Invalid RFC3339 encoded datetime"


def test_timestamps_round_and_are_cut_where_msgpack_python_does():
    stamp = msgpack.Timestamp(0, 999_999_500)
    data = msgpack.dumps(stamp)
    assert msgpack.loads(data) == datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert msgpack.loads(msgpack.dumps(msgpack.Timestamp(-1, 499))) == datetime.datetime(
        1969, 12, 31, 23, 59, 59, tzinfo=UTC
    )
    from holdall.msgpack import compat

    assert (
        compat.unpackb(data, timestamp=3)
        == stamp.to_datetime()
        == datetime.datetime(1970, 1, 1, 0, 0, 0, 999999, UTC)
    )
    last = msgpack.dumps(msgpack.Timestamp(253402300799, 999_999_999))
    assert msgpack.loads(last) == datetime.datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("offset", ["23:59:59.999999", "00:00:00.000001", "05:53:28", "-00:44:30"])
def test_offsets_with_seconds_come_back(offset):
    hours, minutes, seconds = offset.strip("-").split(":")
    delta = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    zone = timezone(-delta if offset.startswith("-") else delta)
    value = datetime.time(1, 2, 3, 4, tzinfo=zone)
    made = read(value, datetime.time)
    assert (made, made.utcoffset()) == (value, value.utcoffset())
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=zone)
    made = read(moment.isoformat(), datetime.datetime)
    assert (made, made.utcoffset()) == (moment, moment.utcoffset())


@pytest.mark.parametrize("value", [2.0**53 + 2, -(2.0**53) - 2, 1e300, 1.5, float("inf")])
def test_a_float_that_stands_for_no_one_int(value):
    assert refusal(value, int, strict=False) == "Expected `int`, got `float`"
    assert read(2.0**53, int, strict=False) == 2**53


@pytest.mark.parametrize(
    ("text", "annotation", "value"),
    [
        ("90", timedelta, timedelta(seconds=90)),
        ("-1.5", timedelta, timedelta(seconds=-1.5)),
        ("90", datetime.datetime, datetime.datetime(1970, 1, 1, 0, 1, 30, tzinfo=UTC)),
        ("90.25", datetime.datetime, datetime.datetime(1970, 1, 1, 0, 1, 30, 250000, tzinfo=UTC)),
        ("2", Literal[1, 2], 2),
        ("null", Literal[1, None], None),
        ("1", Literal["1", 1], "1"),
    ],
)
def test_lax_text(text, annotation, value):
    assert read(text, annotation, strict=False) == value


@pytest.mark.parametrize(
    ("value", "annotation", "text"),
    [
        ("nan", datetime.datetime, "Invalid epoch timestamp"),
        (float("inf"), datetime.datetime, "Invalid epoch timestamp"),
        ("1e20", datetime.datetime, "Timestamp is out of range"),
        ("nan", timedelta, "Duration is out of range"),
        ("soon", timedelta, "Invalid ISO8601 duration"),
        ("soon", datetime.datetime, "Invalid RFC3339 encoded datetime"),
        ("3", Literal[1, 2], "Expected `Literal`, got `str`"),
    ],
)
def test_lax_text_that_is_refused(value, annotation, text):
    assert refusal(value, annotation, strict=False) == text
