"""Schemas of annotations: described once, compiled by the native module, and kept where they go with their class.

A schema holds the classes that it builds. Kept in a table of ours it would hold them for ever; so it is kept on the first
class that its annotation names, and both go together. Annotations of builtins alone are kept in a small table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._annotations import anchor, describe
from ._annotations.fields import family, members, set_up
from ._annotations.scopes import annotations_of
from ._annotations.values import is_unset

if TYPE_CHECKING:
    from collections.abc import Callable

_ATTRIBUTE = "__holdall_schemas__"
# Annotations that name no class of the program's: there are few, and whoever makes ever new ones gets them made anew.
_MOST = 256
_builtin: dict[Any, Any] = {}


class _Kept(dict[Any, Any]):
    """The schemas on a class, and which of its fields are left out. Where classes are copied or pickled with all they have, it goes along empty."""

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


def schema(annotation: Any, generation: int) -> _core.CompiledSchema | None:
    """The compiled schema of `annotation`; None where anything goes.

    generation: how many times something was registered: what was compiled before an earlier one is out of date.
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
            # Past a metaclass that has its own idea of setting attributes.
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
    except TypeError:  # a TypedDict, or a protocol that can't be asked
        return named
    return named + [found for found in registered if found not in named]


def plain_form(cls: Any) -> tuple[list[tuple[str, str]] | None, bool, tuple[str, Any] | None, bool]:
    """How plain formats write instances of `cls`: (name, key) of each field, whether in order without keys, the tag, and whether
    `left_out` is to be asked for each value.

    No fields (None) are for a class that declares none: all that an instance holds is written then.
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
            return None, False, None, False
        names = [name for base in reversed(cls.__mro__) for name in vars(base).get("__annotations__", {})]
        if not names:
            return None, False, None, False
        entry = {"array_like": False, "forbid_unknown": False, "tag": None}
        entry["fields"] = [{"name": name} for name in dict.fromkeys(names)]
    set_up(entry, settings)
    pairs = [(field["name"], field["key"]) for field in entry["fields"]]
    omits = not entry["array_like"] and (_omits_defaults(cls) or _may_be_unset(cls, entry["fields"]))
    return pairs, entry["array_like"], entry["tag"], omits


def _omits_defaults(cls: Any) -> bool:
    settings = _core.class_settings(cls)
    return (settings is not None and settings.omit_defaults) or bool(
        getattr(getattr(cls, "__struct_config__", None), "omit_defaults", False)
    )


def _may_be_unset(cls: Any, fields: list[dict[str, Any]]) -> bool:
    if any(is_unset(field.get("default")) for field in fields):
        return True
    # By the text of the annotations, which may not be there to be resolved.
    return any(
        "UnsetType" in (hint if isinstance(hint, str) else repr(hint))
        for base in cls.__mro__
        for hint in annotations_of(base).values()
    )


# Equal values of these are the same to whoever loads them.
_PLAIN = (int, str, bytes, bool, type(None))


def left_out(cls: Any) -> Callable[[str, Any], bool]:
    """Whether a field's value is not written: UNSET, or the field's default where the class leaves defaults out."""
    kept = _kept(cls)
    settings = _core.class_settings(cls)
    found = kept.get((left_out, cls))
    if found is None or found[0] != settings:
        found = kept[left_out, cls] = (settings, _leaves_out(cls))
    made: Callable[[str, Any], bool] = found[1]
    return made


def _leaves_out(cls: Any) -> Callable[[str, Any], bool]:
    defaults: dict[str, tuple[Any, Any]] = {}
    kind = family(cls)
    if kind in ("dataclass", "attrs", "msgspec", "plain") and _omits_defaults(cls):
        names = [name for base in cls.__mro__ for name in annotations_of(base)] if kind == "plain" else []
        qualifiers: dict[str, set[str]] = {name: set() for name in names}
        for field in members(cls, kind, qualifiers)[0]:
            if "default" in field:
                defaults[field["name"]] = (field["default"], None)
            elif field.get("factory") in (list, dict, set):
                defaults[field["name"]] = (None, field["factory"])
    elif kind == "pydantic" and _omits_defaults(cls):
        for name, info in cls.model_fields.items():
            if info.default_factory in (list, dict, set):
                defaults[name] = (None, info.default_factory)
            elif not info.is_required() and info.default_factory is None:
                defaults[name] = (info.default, None)

    def is_left_out(name: str, value: Any) -> bool:
        if is_unset(value):
            return True
        known = defaults.get(name)
        if known is None:
            return False
        default, factory = known
        if factory is not None:
            return type(value) is factory and not value
        if value is default:
            return True
        cls = type(value)
        if cls is not type(default):
            return False
        return bool(value == default) if cls in _PLAIN else cls is float and repr(value) == repr(default)

    return is_left_out
