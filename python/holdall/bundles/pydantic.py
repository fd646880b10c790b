"""Pydantic's own values: secrets and addresses. Models are stored by their fields, and permitted by `register` or `types=`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pydantic
import pydantic_core

from .._bundles import Known
from ._checks import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_URLS = (
    "AnyUrl", "AnyHttpUrl", "HttpUrl", "AnyWebsocketUrl", "WebsocketUrl", "FileUrl", "FtpUrl", "PostgresDsn", "CockroachDsn", "AmqpDsn",
    "RedisDsn", "MongoDsn", "KafkaDsn", "NatsDsn", "MySQLDsn", "MariaDBDsn", "ClickHouseDsn", "SnowflakeDsn",
)  # fmt: skip


def known() -> Iterator[Known]:
    for secret, kind in ((pydantic.SecretStr, str), (pydantic.SecretBytes, bytes)):
        yield Known(secret, f"pydantic.{secret.__name__}", secret.get_secret_value, _of(secret, kind))
    yield Known(pydantic.ByteSize, "pydantic.ByteSize", int, _of(pydantic.ByteSize, int))
    for cls in (pydantic_core.Url, pydantic_core.MultiHostUrl):
        yield Known(cls, f"pydantic_core.{cls.__name__}", str, _of(cls, str))
    for name in _URLS:
        url = getattr(pydantic, name, None)
        # Before 2.10 these were annotations.
        if isinstance(url, type) and url.__module__.startswith("pydantic."):
            yield Known(url, f"pydantic.{name}", str, _of(url, str))


def _of(cls: Any, kind: type[Any]) -> Callable[[Any], Any]:
    def made(stored: Any) -> Any:
        return cls(exact(stored, kind))

    return made
