"""What Python brings."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from .base import PYTHON, Codec, Ends, Unsuitable, fields_of

if TYPE_CHECKING:
    from ..data import Subject


def pickle(pickle: Any, subject: Subject) -> Ends:
    # A `partial` with a keyword takes three times as long as this.
    return Ends(lambda value: pickle.dumps(value, 5), pickle.loads)


def marshal(marshal: Any, subject: Subject) -> Ends:
    if subject.classes:
        raise Unsuitable("no classes")
    if subject.data.identity:
        # Until Python 3.14 it can write cycles that it can't read.
        raise Unsuitable("no graphs")
    return Ends(marshal.dumps, marshal.loads)


def json(json: Any, subject: Subject) -> Ends:
    encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=as_json)

    def dumps(value: Any) -> bytes:
        return encoder.encode(value).encode()  # type: ignore[no-any-return]

    return Ends(dumps, json.loads)


def as_json(value: Any) -> Any:
    """What its documentation recommends: a hook for what JSON lacks."""
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return fields_of(value)


STANDARD = (
    Codec("pickle", PYTHON, "pickle", "nearly any graph; runs code", "protocol 5", pickle),
    Codec(
        "marshal",
        PYTHON,
        "marshal",
        "builtin values, for one version of Python",
        "`dumps`, `loads`",
        marshal,
    ),
    Codec(
        "json",
        PYTHON,
        "json",
        "JSON's values",
        "`JSONEncoder` without spaces, a hook for dates and dataclasses",
        json,
    ),
)
