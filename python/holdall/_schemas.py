"""Schemas of annotations: described once, compiled by the native module, and kept on classes.

A schema holds the classes that it builds. A table of schemas would keep those for ever; so each is kept on
the first class that its annotation names, and both are collected together. Schemas of builtins alone are kept
in a small table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._annotations import anchor, describe
from ._annotations.fields import family, members, set_up
from ._annotations.scopes import annotations_of
from ._annotations.values import is_unset

if TYPE_CHECKING:
    pass

_ATTRIBUTE = "__holdall_schemas__"
# For annotations that name no class of the program. There are few; a program that makes new ones all the time
# gets new schemas.
_MOST = 256
_builtin: dict[Any, Any] = {}


class _Kept(dict[Any, Any]):
    """The schemas kept on a class, and which of its fields are left out. Copies and pickles of it are empty."""

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


def schema(annotation: Any, generation: int) -> _core.CompiledSchema | None:
    """The compiled schema of `annotation`; None if it accepts everything.

    generation: the number of registrations so far: schemas that were compiled before the last one are
        outdated.
    """
    kept = _kept(annotation)
    try:
        found = kept.get(annotation)
    except TypeError:  # an unhashable annotation: Annotated[int, []]
        return _compile(annotation, generation)
    if found is None or found.generation != generation:
        found = _compile(annotation, generation)
        if len(kept) >= _MOST:
            kept.clear()
        kept[annotation] = found
    return found


def _kept(annotation: Any) -> dict[Any, Any]:
    cls = anchor(annotation)
    if cls is None:
        return _builtin
    kept = vars(cls).get(_ATTRIBUTE)
    if kept is None:
        kept = _Kept()
        try:
            # Bypasses a metaclass that overrides setting attributes.
            type.__setattr__(cls, _ATTRIBUTE, kept)
        except TypeError:
            return _builtin
    return kept


def _compile(annotation: Any, generation: int) -> _core.CompiledSchema:
    described = describe(annotation, settings=_core.class_settings, subclasses=_subclasses)
    return _core.compile_schema(described, generation)


def _subclasses(cls: type) -> list[type]:
    settings = _core.class_settings(cls)
    named = list(settings.subclasses) if settings is not None else []
    try:
        registered = _core.registered_subclasses(cls)
    except TypeError:  # a TypedDict, or a protocol that doesn't support it
        return named
    return named + [found for found in registered if found not in named]


def plain_form(
    cls: Any,
) -> tuple[list[tuple[str, str]] | None, bool, list[tuple[str, Any]], dict[str, tuple[Any, bool]] | None]:
    """How schemaless formats write instances of `cls`: (name, key) of each field, whether they come in order
    without keys, the keys and values of the tag and of the version, and the defaults that are not written (see
    `_defaults`), or None if all fields are always written.

    If the fields are None the class declares none: everything that an instance holds is written.
    """
    settings = _core.class_settings(cls)
    kind = family(cls)
    if kind == "pydantic":
        fields = [
            {"name": name, "key": info.serialization_alias or info.alias or name}
            for name, info in cls.model_fields.items()
        ]
        entry: dict[str, Any] = {"array_like": False, "forbid_unknown": False, "tag": None, "fields": fields}
    elif kind in ("dataclass", "attrs", "msgspec"):
        fields, entry = members(cls, kind, {})
        entry["fields"] = fields
    else:
        if settings is None:
            return None, False, [], None
        names = [name for base in reversed(cls.__mro__) for name in annotations_of(base)]
        if not names:
            return None, False, [], None
        entry = {"array_like": False, "forbid_unknown": False, "tag": None}
        entry["fields"] = [{"name": name} for name in dict.fromkeys(names)]
    set_up(entry, settings)
    pairs = [(field["name"], field["key"]) for field in entry["fields"]]
    omitted = None
    if not entry["array_like"] and (_omits_defaults(cls) or _may_be_unset(cls, entry["fields"])):
        omitted = _defaults(cls, kind) if _omits_defaults(cls) else {}
    marks = [
        mark for mark in (entry["tag"], entry.get("version")) if mark is not None and mark[0] is not None
    ]
    return pairs, entry["array_like"], marks, omitted


def _omits_defaults(cls: Any) -> bool:
    settings = _core.class_settings(cls)
    return (settings is not None and settings.omit_defaults) or bool(
        getattr(getattr(cls, "__struct_config__", None), "omit_defaults", False)
    )


def _may_be_unset(cls: Any, fields: list[dict[str, Any]]) -> bool:
    if any(is_unset(field.get("default")) for field in fields):
        return True
    # Judged by the text of the annotations, which might not be resolvable.
    return any(
        "UnsetType" in (hint if isinstance(hint, str) else repr(hint))
        for base in cls.__mro__
        for hint in annotations_of(base).values()
    )


def _defaults(cls: Any, kind: str | None) -> dict[str, tuple[Any, bool]]:
    """The defaults that are not written: (value, False), or (list, dict or set, True) for an empty container."""
    found: dict[str, tuple[Any, bool]] = {}
    if kind == "pydantic":
        for name, info in cls.model_fields.items():
            if info.default_factory in (list, dict, set):
                found[name] = (info.default_factory, True)
            elif not info.is_required() and info.default_factory is None:
                found[name] = (info.default, False)
    elif kind in ("dataclass", "attrs", "msgspec", "plain"):
        names = [name for base in cls.__mro__ for name in annotations_of(base)] if kind == "plain" else []
        qualifiers: dict[str, set[str]] = {name: set() for name in names}
        for field in members(cls, kind, qualifiers)[0]:
            if "default" in field:
                found[field["name"]] = (field["default"], False)
            elif field.get("factory") in (list, dict, set):
                found[field["name"]] = (field["factory"], True)
    return found
