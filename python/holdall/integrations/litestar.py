"""Litestar: `read(request, type=Order)` and `respond(request, value)`, as for Starlette."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import DecodeError, Limits, ValidationError
from ._base import missing

try:
    from litestar import Response
    from litestar.exceptions import ClientException, HTTPException, ValidationException
except ImportError as error:
    raise missing("Litestar", "litestar", error) from error

__all__ = ["read", "respond"]

_DUMPS: dict[str, Any] = {
    "application/x-hold": _core.dumps,
    "application/msgpack": _core.msgpack_dumps,
    "application/x-msgpack": _core.msgpack_dumps,
    "application/bson": _core.bson_dumps,
}
_LOADS: dict[str, Any] = {
    "application/x-hold": _core.loads,
    "application/msgpack": _core.msgpack_loads,
    "application/x-msgpack": _core.msgpack_loads,
    "application/bson": _core.bson_loads,
}


def respond(request: Any, content: Any, status_code: int = 200) -> Response[Any]:
    """A response in the form that the client asks for: hold, MessagePack or BSON, or what Litestar makes of it by itself."""
    kind = request.accept.best_match(["application/json", *_DUMPS])
    if kind in _DUMPS:
        return Response(
            _DUMPS[kind](content), status_code=status_code, media_type=kind, headers={"vary": "accept"}
        )
    return Response(content, status_code=status_code, headers={"vary": "accept"})


async def read(request: Any, *, type: Any = Any, limits: Limits | None = None) -> Any:
    """A request's body as a value of a type, within `Limits.strict()` where no limits are given.

    Raises HTTPException, 415: another form. Raises ValidationException (400), with the path: not a `type`. ClientException (400): malformed.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _LOADS:
        raise HTTPException(status_code=415, detail=f"expected a Content-Type of {', '.join(_LOADS)}")
    try:
        return _LOADS[kind](await request.body(), type=type, limits=limits or Limits.strict())
    except ValidationError as error:
        raise ValidationException(str(error), extra={"path": list(error.path)}) from error
    except DecodeError as error:
        raise ClientException(str(error)) from error
