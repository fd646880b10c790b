"""Starlette, and FastAPI over it: requests and responses as hold, MessagePack, BSON or JSON, by what the client says.

async def orders(request):
    order = await read(request, type=Order)
    return respond(request, {"number": order.number})
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import DecodeError, Limits, ValidationError
from ._base import missing

try:
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, Response
except ImportError as error:
    raise missing("Starlette", "starlette", error) from error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BSONResponse", "HoldResponse", "MessagePackResponse", "body", "read", "respond"]


class HoldResponse(Response):
    """A response whose content holdall stores."""

    media_type = "application/x-hold"

    def render(self, content: Any) -> bytes:
        return _core.dumps(content)


class MessagePackResponse(Response):
    """A response in MessagePack, for clients in any language."""

    media_type = "application/msgpack"

    def render(self, content: Any) -> bytes:
        return _core.msgpack_dumps(content)


class BSONResponse(Response):
    """A response in BSON: a document."""

    media_type = "application/bson"

    def render(self, content: Any) -> bytes:
        return _core.bson_dumps(content)


_RESPONSES: dict[str, type[Response]] = {
    "application/x-hold": HoldResponse,
    "application/msgpack": MessagePackResponse,
    "application/x-msgpack": MessagePackResponse,
    "application/vnd.msgpack": MessagePackResponse,
    "application/bson": BSONResponse,
    "application/json": JSONResponse,
}


def _json(data: bytes, *, type: Any, limits: Limits) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    # Checked and built by the one way there is: that of schemaless formats.
    return _core.msgpack_loads(_core.msgpack_dumps(value), type=type, limits=limits)


_READERS: dict[str, Callable[..., Any]] = {
    "application/x-hold": _core.loads,
    "application/msgpack": _core.msgpack_loads,
    "application/x-msgpack": _core.msgpack_loads,
    "application/vnd.msgpack": _core.msgpack_loads,
    "application/bson": _core.bson_loads,
    "application/json": _json,
}


def _accepted(header: str) -> list[str]:
    """The media types of an Accept header, the most wanted first."""
    found = []
    for place, one in enumerate(header.split(",")):
        kind, *parameters = (part.strip() for part in one.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 0.0
        if quality > 0:
            found.append((-quality, place, kind.lower()))
    return [kind for _, _, kind in sorted(found)]


def respond(
    request: Any,
    content: Any,
    status_code: int = 200,
    headers: Any = None,
    default: type[Response] = JSONResponse,
) -> Response:
    """A response in the form that the client asks for. Raises HTTPException, 406: in none of these.

    default: what a client gets that accepts anything.
    """
    for kind in _accepted(request.headers.get("accept") or "*/*"):
        form = default if kind in ("*/*", "application/*") else _RESPONSES.get(kind)
        if form is not None:
            made = form(content, status_code, headers, kind if kind in _RESPONSES else None)
            made.headers["vary"] = "accept"
            return made
    raise HTTPException(406, f"expected an Accept of {', '.join(_RESPONSES)}")


async def read(request: Any, *, type: Any = Any, limits: Limits | None = None, most: int = 1 << 24) -> Any:
    """A request's body as a value of a type.

    limits: `Limits.strict()` where none are given. most: bytes of the body.

    Raises HTTPException: 413, the body is too long; 415, another form; 422, not a `type`: its text says where, and its
    `__cause__` is the ValidationError with the path; 400, malformed.
    """
    kind = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    load = _READERS.get(kind)
    if load is None:
        raise HTTPException(415, f"expected a Content-Type of {', '.join(_READERS)}")
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > most:
            raise HTTPException(413, f"expected a body of at most {most} bytes")
        parts.append(part)
    try:
        return load(b"".join(parts), type=type, limits=limits or Limits.strict())
    except ValidationError as error:
        raise HTTPException(422, str(error)) from error
    except DecodeError as error:
        raise HTTPException(400, str(error)) from error


def body(type: Any, **options: Any) -> Callable[[Any], Any]:
    """A dependency of FastAPI's: `order: Annotated[Order, Depends(body(Order))]`. options: those of `read`."""
    from starlette.requests import Request

    async def of(request: Request) -> Any:
        return await read(request, type=type, **options)

    of.__annotations__ = {"request": Request}
    return of
