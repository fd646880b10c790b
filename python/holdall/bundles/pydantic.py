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
            yield Known(url, f"pydantic.{name}", str, _url_of(url))


def _of(cls: Any, kind: type[Any]) -> Callable[[Any], Any]:
    def made(stored: Any) -> Any:
        return cls(exact(stored, kind))

    return made


# Of these limits an address knows by itself whether it keeps them. What others would add to it is for its class.
_LIMITS = frozenset(("max_length", "allowed_schemes", "host_required"))


# Of addresses with these schemes all have a host.
_WITH_HOST = frozenset(("http", "https", "ws", "wss", "ftp"))
# So many times as long is an address at most once it is written as addresses are: each character as up to twelve.
_LONGER = 12


def _url_of(cls: Any) -> Callable[[Any], Any]:
    """An address. What the class's own way would make of it is made of its parts, which takes half as long."""
    slow = _of(cls, str)
    limits: Any = getattr(cls, "_constraints", None)
    said = getattr(limits, "defined_constraints", None)
    if type(said) is not dict or not said.keys() <= _LIMITS or cls.__mro__[-2].__name__ != "_BaseUrl":
        return slow
    longest = (said.get("max_length") or 1 << 32) * _LONGER
    schemes = frozenset(said["allowed_schemes"]) if said.get("allowed_schemes") else None
    needs_host = bool(said.get("host_required")) and not (schemes and schemes <= _WITH_HOST)
    parse, new = pydantic_core.Url, object.__new__

    def url_of(stored: Any) -> Any:
        if type(stored) is not str or len(stored) > longest:
            raise TypeError("expected an address")
        inner = parse(stored)
        if (schemes is not None and inner.scheme not in schemes) or (needs_host and not inner.host):
            raise ValueError("an address that is none of its class")
        made = new(cls)
        made._url = inner
        return made

    return url_of
