"""Forms that go straight to a library's function, forms that were stored before, and what both refuse."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import holdall

pd = pytest.importorskip("pandas")
pydantic = pytest.importorskip("pydantic")
holdall.register_known("pandas", "pydantic")

NO_TIME = -(1 << 63)


def stored_as(value: Any, state: Any) -> bytes:
    """A message of a value with another state, of the same size in bytes or not."""
    from holdall import _bundles, _core

    cls = type(value)
    known = {one.cls: one for name in ("pandas", "pydantic") for one in _known(name)}[cls]
    registered = {"bundled": True, "fills": known.fills}
    rest = (known.name, (), 1, {}, None)
    assert cls in _bundles.classes
    _core.register_class(
        cls, *rest, lambda value: state, known.decode, None, **registered, constructor=known.constructor
    )
    try:
        return holdall.dumps(value)
    finally:
        _core.register_class(
            cls, *rest, known.encode, known.decode, None, **registered, constructor=known.constructor
        )


def _known(bundle: str) -> Any:
    import importlib

    return importlib.import_module(f"holdall.bundles.{bundle}").known()


STAMP = pd.Timestamp("2026-01-02 03:04:05.678901234")


@pytest.mark.parametrize(
    "zone", [None, dt.timezone.utc, dt.timezone(dt.timedelta(hours=2)), ZoneInfo("Europe/Oslo")]
)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_points_in_time(zone: Any, unit: str) -> None:
    stamp = STAMP.as_unit(unit).tz_localize(zone)
    again = holdall.loads(holdall.dumps(stamp))
    assert (again, again.unit, again.tzinfo) == (stamp, unit, zone)
    span = pd.Timedelta(-5, unit="s").as_unit(unit)
    again = holdall.loads(holdall.dumps(span))
    assert (again, again.unit) == (span, unit)
    # As they were stored before.
    value = stamp.tz_localize(None)._value if zone is None else stamp._value
    state = (value, unit) if zone is None else (value, unit, zone)
    assert holdall.loads(stored_as(stamp, state)) == stamp
    assert holdall.loads(stored_as(span, (span._value, unit))) == span


def test_what_is_no_point_in_time() -> None:
    for state in (
        (NO_TIME, None, None, 10),
        (NO_TIME, "ns"),
        (1, None, None, 3),
        (1, None, None, -1),
        (1, 2, None, 10),
        (1, None, "UTC", 10),
        (1.5, None, None, 10),
        (True, None, None, 10),
        (1 << 70, None, None, 10),
        (1, "h"),
        (1, "ns", "UTC"),
        (1, "ns", None, None, None),
        [1, None, None, 10],
        None,
    ):
        with pytest.raises(holdall.DecodeError, match="a content that `pandas.Timestamp` can't have"):
            holdall.loads(stored_as(STAMP, state))
    for state in ((NO_TIME, 10), (1, 3), (1, None), (True, 10), (1 << 70, 10), (1,), 5):
        with pytest.raises(holdall.DecodeError, match="a content that `pandas.Timedelta` can't have"):
            holdall.loads(stored_as(pd.Timedelta(1), state))


def test_addresses() -> None:
    long = pydantic.HttpUrl("https://example.org/?" + "é" * 1000)
    for url in (
        long,
        pydantic.HttpUrl("HTTPS://Example.org"),
        pydantic.HttpUrl("http://bücher.example/ä?b#c"),
        pydantic.AnyUrl("mailto:someone@example.org"),
        pydantic.FtpUrl("ftp://example.org/file"),
        pydantic.FileUrl("file:///etc/hosts"),
        pydantic.WebsocketUrl("wss://example.org/x"),
        pydantic.RedisDsn("redis://:pass@localhost:6379/0"),
    ):
        again = holdall.loads(holdall.dumps(url))
        assert type(again) is type(url)
        assert (str(again), again) == (str(url), url)
    assert len(str(long)) > 2083
    address = pydantic.HttpUrl("https://example.org")
    # What is not written as addresses are becomes what its class makes of it.
    assert holdall.loads(stored_as(address, "HTTPS://Example.org/é")) == pydantic.HttpUrl(
        "HTTPS://Example.org/é"
    )
    wrong: list[Any] = ["https://", "nothing", "", 5, None, b"https://a"]
    # Before 2.10 all addresses are of one class, which knows nothing of these.
    is_class = isinstance(pydantic.HttpUrl, type)
    if is_class:
        wrong += ["ftp://example.org", "https://a/" + "x" * 30_000]
    name = "pydantic.HttpUrl" if is_class else "pydantic_core.Url"
    for state in wrong:
        with pytest.raises(holdall.DecodeError, match=f"a content that `{name}` can't have"):
            holdall.loads(stored_as(address, state))


@pytest.mark.skipif(not isinstance(pydantic.MongoDsn, type), reason="addresses have no classes before 2.10")
def test_addresses_of_several_hosts() -> None:
    for url in (
        pydantic.MongoDsn("mongodb://a:1,b:2/x"),
        pydantic.MongoDsn("mongodb://a"),
        pydantic.PostgresDsn("postgresql://u:p@a:1,b:2/x?y=z"),
        pydantic.NatsDsn("nats://a"),
        pydantic.KafkaDsn("kafka://a"),
    ):
        again = holdall.loads(holdall.dumps(url))
        assert type(again) is type(url)
        assert (str(again), again) == (str(url), url)
    for state in ("http://a", "mongodb://", "", 5):
        with pytest.raises(holdall.DecodeError, match="a content that `pydantic.MongoDsn` can't have"):
            holdall.loads(stored_as(pydantic.MongoDsn("mongodb://a"), state))
