"""Values of databases and of Julia's that hold has no form of its own for: how they are stored in hold files.

A program that loads such a file says the same with `holdall.register`, or gets records whose payload is what
`encode` gave.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import holdall

if TYPE_CHECKING:
    from collections.abc import Callable

# What is registered holds for the whole process, also for typed loading: only a command with one
# to itself does it.
owns_process = False


@cache
def register() -> None:
    """Once; without PyMongo there are no values of databases."""
    if not owns_process:
        return
    julia: Any = holdall.julia
    for cls, encode, decode in (
        (julia.Period, lambda value: (value.count, value.unit), lambda parts: julia.Period(*parts)),
        # There is one of each.
        (julia.Missing, lambda value: None, lambda _: julia.missing),
        (type(julia.BOTTOM), lambda value: None, lambda _: julia.BOTTOM),
    ):
        holdall.register(cls, encode=encode, decode=_checked(cls, decode))
    if find_spec("bson") is None:
        return
    bson: Any = holdall.bson
    values: list[tuple[Any, Any, Any]] = [
        (bson.ObjectId, lambda value: value.binary, bson.ObjectId),
        (bson.Decimal128, lambda value: value.bid, bson.Decimal128.from_bid),
        (bson.Int64, int, bson.Int64),
        (bson.Timestamp, lambda value: (value.time, value.inc), lambda parts: bson.Timestamp(*parts)),
        (bson.Regex, lambda value: (value.pattern, value.flags), lambda parts: bson.Regex(*parts)),
        (
            bson.Binary,
            lambda value: (value.subtype, bytes(value)),
            lambda parts: bson.Binary(parts[1], parts[0]),
        ),
        (bson.Code, lambda value: (str(value), value.scope), lambda parts: bson.Code(*parts)),
        (bson.DBRef, lambda value: dict(value.as_doc()), _reference),
        (bson.MinKey, lambda value: None, lambda _: bson.MinKey()),
        (bson.MaxKey, lambda value: None, lambda _: bson.MaxKey()),
    ]
    for cls, encode, decode in values:
        holdall.register(cls, encode=encode, decode=_checked(cls, decode))


def _checked(cls: type, decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a damaged file gives is no error of the program's."""

    def checked(stored: Any) -> Any:
        try:
            return decode(stored)
        except Exception:
            raise holdall.HoldallError(f"content that a `{cls.__name__}` can't have") from None

    return checked


def _reference(parts: dict[str, Any]) -> Any:
    rest = {key: value for key, value in parts.items() if key not in ("$ref", "$id", "$db")}
    bson: Any = holdall.bson
    return bson.DBRef(parts["$ref"], parts["$id"], parts.get("$db"), **rest)
