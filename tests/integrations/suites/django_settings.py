"""Settings for Django's own tests, with ours in the place of its caches and its session serializer."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import unittest
from typing import Any

from django.test.runner import DiscoverRunner

from tests.integrations.servers import started
from tests.integrations.suites import in_place

in_place.django()

DATABASES = {name: {"ENGINE": "django.db.backends.sqlite3"} for name in ("default", "other")}
SECRET_KEY = "django_tests_secret_key"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
SESSION_SERIALIZER = "holdall.integrations.django.SessionSerializer"
CACHES: dict[str, Any] = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# Django leaves out what needs a server that the settings don't name.
if shutil.which("redis-server"):
    servers = contextlib.ExitStack()
    atexit.register(servers.close)
    port = servers.enter_context(
        started("redis-server", lambda port: ["--port", str(port), "--bind", "127.0.0.1", "--save", ""])
    )
    CACHES["redis"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": f"redis://127.0.0.1:{port}",
    }
TEST_RUNNER = "tests.integrations.suites.django_settings.Runner"


class Runner(DiscoverRunner):
    """What fails is known with its reason; a test there that passes is an error, too."""

    def build_suite(self, *args: Any, **options: Any) -> Any:
        suite = super().build_suite(*args, **options)
        expected = in_place.known("django")
        todo: list[Any] = [suite]
        while todo:
            test = todo.pop()
            if isinstance(test, unittest.TestSuite):
                todo += test
            elif test.id() in expected:
                test.__unittest_expecting_failure__ = True
        return suite
