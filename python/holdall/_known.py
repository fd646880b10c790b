"""How hold and MessagePack store values that only other formats have a form for: PyMongo's, Julia's and Lisp's; and those of
newer Pythons, which older ones load as records.

The native side calls `teach` when it meets the first class of a library, or its name in a message, once the
program has imported the library. Data never cause imports.
"""

from __future__ import annotations

import builtins
import re
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    # A class, a function for what is stored of an instance, and a function for an instance from what was
    # stored.
    _Known = tuple[type[Any], Callable[[Any], Any] | None, Callable[[Any], Any] | None]


_LETTERS = (("i", re.I), ("l", re.L), ("m", re.M), ("s", re.S), ("u", re.U), ("x", re.X))


def teach(library: str) -> bool:
    """Register the classes of a library, whose stored names begin with `library`. Classes that the program
    has registered stay as they are. Returns False if the library isn't completely imported, or if it is
    another one of that name.
    """
    of = {
        "bson.": _of_pymongo,
        "builtins.frozendict": _of_frozendict,
        "holdall.julia.": _of_julia,
        "holdall.lisp.": _of_lisp,
        "string.templatelib.": _of_templates,
    }
    known = list(of[library]())
    for cls, encode, decode in known:
        checked = None if decode is None else _checked(cls, decode)
        _core.register_class(cls, None, (), 1, {}, None, encode, checked, None, ours=True)
    return bool(known)


def _checked(cls: type[Any], decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Makes all errors about bad content the same, whatever the class itself raises."""

    def checked(stored: Any) -> Any:
        try:
            return decode(stored)
        except MemoryError:
            raise
        except Exception:
            raise TypeError(f"content that a `{cls.__name__}` can't have") from None

    return checked


def _of_pymongo() -> Iterable[_Known]:
    bson: Any = sys.modules.get("bson")
    # Other packages have that name as well, and the module may be in the middle of being imported.
    if getattr(getattr(bson, "ObjectId", None), "_type_marker", None) != 7 or not hasattr(bson, "decode"):
        return ()
    from bson.raw_bson import RawBSONDocument

    return (
        (bson.ObjectId, lambda value: value.binary, lambda stored: bson.ObjectId(_exact(stored, bytes))),
        (bson.Decimal128, lambda value: value.bid, bson.Decimal128.from_bid),
        (bson.Int64, int, lambda stored: bson.Int64(_exact(stored, int))),
        (bson.Binary, _parts_of_binary, _binary),
        (bson.Regex, _parts_of_regex, lambda stored: bson.Regex(*_pair(stored))),
        (
            bson.Timestamp,
            lambda value: (value.time, value.inc),
            lambda stored: bson.Timestamp(*_pair(stored)),
        ),
        (bson.Code, _parts_of_code, _code),
        (bson.DBRef, lambda value: dict(value.as_doc()), _reference),
        (bson.DatetimeMS, int, _milliseconds),
        (bson.MinKey, _nothing, lambda stored: _of_nothing(bson.MinKey, stored)),
        (bson.MaxKey, _nothing, lambda stored: _of_nothing(bson.MaxKey, stored)),
        (RawBSONDocument, _bytes_of_document, lambda stored: RawBSONDocument(_exact(stored, bytes))),
        # A dict with a separate order, stored like any subclass of dict.
        (bson.SON, None, None),
    )


def _of_julia() -> Iterable[_Known]:
    julia: Any = sys.modules.get("holdall.julia")
    if not hasattr(julia, "struct"):
        return ()
    return (
        (julia.Period, lambda value: (value.count, value.unit), lambda stored: julia.Period(*_pair(stored))),
        # These are singletons.
        (julia.Missing, _nothing, lambda stored: _of_nothing(lambda: julia.missing, stored)),
        (type(julia.BOTTOM), _nothing, lambda stored: _of_nothing(lambda: julia.BOTTOM, stored)),
    )


def _of_lisp() -> Iterable[_Known]:
    lisp: Any = sys.modules.get("holdall.lisp")
    if not hasattr(lisp, "struct"):
        return ()
    return (
        (lisp.Type, lambda value: (value.name, value.slots), lambda stored: lisp.Type(*_pair(stored))),
        # The class of a singleton.
        (type(lisp.UNBOUND), _nothing, lambda stored: _of_nothing(lambda: lisp.UNBOUND, stored)),
    )


def _of_frozendict() -> Iterable[_Known]:
    cls: Any = builtins.frozendict  # type: ignore[attr-defined]
    return ((cls, dict, lambda stored: cls(_exact(stored, dict))),)


def _of_templates() -> Iterable[_Known]:
    templates: Any = sys.modules.get("string.templatelib")
    # It may be in the middle of being imported.
    if not hasattr(templates, "Interpolation"):
        return ()
    template, interpolation = templates.Template, templates.Interpolation

    def restored(stored: Any) -> Any:
        strings, parts = map(_several, _pair(stored))
        if len(strings) != len(parts) + 1 or not all(type(part) is interpolation for part in parts):
            raise TypeError("expected a text around each interpolation")
        strings = [_exact(text, str) for text in strings]
        between = [part for pair in zip(strings[1:], parts, strict=True) for part in reversed(pair)]
        return template(strings[0], *between)

    return (
        (template, lambda value: (value.strings, value.interpolations), restored),
        (
            interpolation,
            lambda value: (value.value, value.expression, value.conversion, value.format_spec),
            lambda stored: interpolation(*stored),
        ),
    )


def _exact(stored: Any, cls: type[Any]) -> Any:
    if type(stored) is not cls:
        raise TypeError(f"expected {cls.__name__}")
    return stored


def _pair(stored: Any) -> Any:
    # Schemaless formats store tuples as lists.
    if type(stored) not in (tuple, list) or len(stored) != 2:
        raise TypeError("expected two values")
    return stored


def _several(stored: Any) -> Any:
    if type(stored) not in (tuple, list):
        raise TypeError("expected a sequence")
    return stored


def _nothing(value: Any) -> None:
    return None


def _of_nothing(make: Callable[[], Any], stored: Any) -> Any:
    if stored is not None:
        raise TypeError("expected None")
    return make()


def _parts_of_binary(value: Any) -> Any:
    data = bytes(value)
    return (value.subtype, data) if value.subtype else data


def _binary(stored: Any) -> Any:
    bson: Any = sys.modules["bson"]
    subtype, data = (0, stored) if type(stored) is bytes else _pair(stored)
    return bson.Binary(_exact(data, bytes), subtype)


def _parts_of_regex(value: Any) -> Any:
    # Flags given as letters become an enumeration's member; they are stored as letters again.
    letters = "".join(letter for letter, flag in _LETTERS if value.flags & flag)
    said = sum(int(flag) for _, flag in _LETTERS if value.flags & flag)
    is_said = type(value.flags) is re.RegexFlag and value.flags == said
    return value.pattern, letters if is_said else int(value.flags)


def _parts_of_code(value: Any) -> Any:
    text = str.__str__(value)
    return text if value.scope is None else (text, value.scope)


def _code(stored: Any) -> Any:
    bson: Any = sys.modules["bson"]
    text, scope = (stored, None) if type(stored) is str else _pair(stored)
    return bson.Code(_exact(text, str), scope)


def _reference(stored: Any) -> Any:
    bson: Any = sys.modules["bson"]
    rest = {key: value for key, value in _exact(stored, dict).items() if key not in ("$ref", "$id", "$db")}
    return bson.DBRef(stored["$ref"], stored["$id"], stored.get("$db"), rest)


def _milliseconds(stored: Any) -> Any:
    bson: Any = sys.modules["bson"]
    # Formats with points in time return them as datetimes.
    return bson.DatetimeMS(stored if isinstance(stored, datetime) else _exact(stored, int))


def _bytes_of_document(value: Any) -> bytes:
    from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS

    # The options are a private attribute.
    if getattr(value, "_RawBSONDocument__codec_options", None) != DEFAULT_RAW_BSON_OPTIONS:
        raise _core.EncodeError(
            "can't store a `RawBSONDocument` whose codec options are not the default ones"
        )
    return bytes(value.raw)
