"""A pytest plugin: ours in the place of a library's default serializer. `LIBRARY` says which; `make suites-integrations` runs them.

What fails is known with its reason, in the file of the library's name; a test there that passes is an error, too.
"""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any

import pytest

LIBRARY = os.environ.get("LIBRARY", "")
HERE = pathlib.Path(__file__).parent


def diskcache() -> None:
    import diskcache.core

    from holdall.integrations.diskcache import HoldDisk

    diskcache.core.Cache.__init__.__defaults__ = tuple(
        HoldDisk if one is diskcache.core.Disk else one for one in diskcache.core.Cache.__init__.__defaults__
    )
    import diskcache.fanout

    diskcache.fanout.FanoutCache.__init__.__defaults__ = tuple(
        HoldDisk if one is diskcache.core.Disk else one
        for one in diskcache.fanout.FanoutCache.__init__.__defaults__
    )


def huey() -> None:
    import huey.api

    from holdall.integrations.huey import HoldSerializer

    huey.api.Serializer = lambda *_, **__: HoldSerializer(trust=True)


def joblib() -> None:
    import joblib.memory

    from holdall.integrations.joblib import HoldBackend

    configure = HoldBackend.configure

    def trusting(self: Any, location: Any, verbose: int = 1, backend_options: Any = None) -> None:
        configure(self, location, verbose, {"trust": True, **(backend_options or {})})

    HoldBackend.configure = trusting
    joblib.memory._STORE_BACKENDS["local"] = HoldBackend


def rq() -> None:
    import rq.serializers

    from holdall.integrations.rq import HoldSerializer

    class Trusting(HoldSerializer):
        codec = HoldSerializer.codec.using(trust=True)

    rq.serializers.DefaultSerializer.dumps = Trusting.dumps
    rq.serializers.DefaultSerializer.loads = Trusting.loads


def kombu() -> None:
    from kombu.serialization import registry

    from holdall.integrations.kombu import register

    register(trust=True)
    registry._set_default_serializer("hold")


def django() -> None:
    """Its settings are those of `django_settings.py`, which runs this."""
    from django.core.cache.backends import db, filebased, locmem, redis

    from holdall.integrations import django as ours

    codec_of = ours.codec_of
    ours.codec_of = lambda options: codec_of({"trust": True, **options})
    locmem.LocMemCache, filebased.FileBasedCache = ours.LocMemCache, ours.FileBasedCache
    db.DatabaseCache, redis.RedisCache = ours.DatabaseCache, ours.RedisCache


def cachelib() -> None:
    import cachelib

    from holdall.integrations import cachelib as ours

    cachelib.FileSystemCache.serializer = ours.FileSystemCache.serializer
    cachelib.SimpleCache.serializer = ours.SimpleCache.serializer


if LIBRARY:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        globals()[LIBRARY]()


def known(library: str = LIBRARY) -> dict[str, str]:
    """The tests that fail, and why."""
    found, reason = {}, ""
    path = HERE / f"{library}.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("#"):
            reason = line[1:].strip()
        elif line.strip():
            found[line.strip()] = reason
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    expected = known()
    for item in items:
        if item.nodeid in expected:
            item.add_marker(pytest.mark.xfail(reason=expected[item.nodeid], strict=True))
