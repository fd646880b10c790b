"""Pydantic's own values: secrets and addresses. Models are stored by their fields, and permitted by `register` or `types=`."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import pydantic
import pydantic_core
from pydantic_core import core_schema

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
    for cls in _SCHEMAS:
        yield Known(cls, f"pydantic_core.{cls.__name__}", str, _inner_of(cls))
    for name in _URLS:
        url = getattr(pydantic, name, None)
        # Before 2.10 these were annotations.
        if isinstance(url, type) and url.__module__.startswith("pydantic."):
            yield Known(url, f"pydantic.{name}", str, _url_of(url))


def _of(cls: Any, kind: type[Any]) -> Callable[[Any], Any]:
    def made(stored: Any) -> Any:
        return cls(exact(stored, kind))

    return made


# What describes an address to pydantic's validators.
_SCHEMAS: dict[Any, Any] = {
    pydantic_core.Url: core_schema.url_schema,
    pydantic_core.MultiHostUrl: core_schema.multi_host_url_schema,
}
# So many times as long is an address at most once it is written as addresses are: each character as up to twelve.
_LONGER = 12


def _validator(cls: Any, limits: dict[str, Any]) -> Callable[[str], Any]:
    """What makes an address of pydantic_core's of text, within limits. One that is there already takes two thirds of the time of the
    class itself, which makes one for each address, and looks at the limits meanwhile.
    """
    validate: Callable[[str], Any] = pydantic_core.SchemaValidator(_SCHEMAS[cls](**limits)).validate_python
    return validate


def _inner_of(cls: Any) -> Callable[[Any], Any]:
    validate = _validator(cls, {})

    def inner_of(stored: Any) -> Any:
        return validate(exact(stored, str))

    return inner_of


def _url_of(cls: Any) -> Callable[[Any], Any]:
    """An address of a class that holds one of pydantic_core's. Its own way makes the same of the text, and takes twice as long."""
    inner = {"_BaseUrl": pydantic_core.Url, "_BaseMultiHostUrl": pydantic_core.MultiHostUrl}.get(
        cls.__mro__[-2].__name__
    )
    limits: Any = getattr(getattr(cls, "_constraints", None), "defined_constraints", None)
    if (
        inner is None
        or type(limits) is not dict
        or not limits.keys() <= signature(_SCHEMAS[inner]).parameters.keys()
    ):
        return _of(cls, str)
    if "max_length" in limits:
        limits = {**limits, "max_length": limits["max_length"] * _LONGER}
    validate, new = _validator(inner, limits), object.__new__

    def url_of(stored: Any) -> Any:
        if type(stored) is not str:
            raise TypeError("expected an address")
        made = new(cls)
        made._url = validate(stored)
        return made

    return url_of
