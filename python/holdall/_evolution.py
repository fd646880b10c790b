"""What a class declares about its fields, for data that was stored by another version of it."""

from __future__ import annotations

from typing import Any

from ._annotations.fields import family, members
from ._annotations.scopes import annotations_of

# A model's own slots, without which its methods fail.
_OF_MODELS = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


def declared(cls: Any) -> list[tuple[str, bool]]:
    """The fields that `cls` declares, and whether a constructor would insist on each: (name, required).

    Empty for a class that declares none: whatever an instance holds is its state.
    """
    kind = family(cls)
    if kind == "pydantic":
        fields = [(name, info.is_required()) for name, info in cls.model_fields.items()]
        return [*fields, (_OF_MODELS[0], False)]
    if kind == "plain":
        # Annotations alone don't say that an instance has the attribute.
        names = [name for base in reversed(cls.__mro__) for name in annotations_of(base)]
        return [(name, False) for name in dict.fromkeys(names)]
    if kind in ("dataclass", "attrs", "msgspec", "namedtuple"):
        return [(field["name"], field["required"]) for field in members(cls, kind, {})[0]]
    return []


def lacking(cls: Any, names: list[str]) -> list[tuple[str, Any, bool]]:
    """The fields with a default that are not in `names`: (name, value or factory, whether it is a factory)."""
    kind = family(cls)
    found: list[tuple[str, Any, bool]] = []
    if kind == "pydantic":
        for name, info in cls.model_fields.items():
            if info.default_factory is not None:
                found.append((name, info.default_factory, True))
            elif not info.is_required():
                found.append((name, info.default, False))
        if _OF_MODELS[0] not in names:
            # The class was no model then.
            was_set = frozenset(names).intersection(cls.model_fields)
            found.append((_OF_MODELS[0], lambda: set(was_set), True))
            found += [(name, None, False) for name in _OF_MODELS[1:]]
    elif kind in ("dataclass", "attrs", "msgspec", "namedtuple"):
        for field in members(cls, kind, {})[0]:
            # A factory that takes the instance can't run before the instance is complete: the field stays unset.
            if "default" in field:
                found.append((field["name"], field["default"], False))
            elif "factory" in field and not field.get("factory_self"):
                found.append((field["name"], field["factory"], True))
    return [one for one in found if one[0] not in names]


def check_unknown(cls: Any, unknown: str | None) -> None:
    """Raise TypeError: instances of `cls` can't do with unknown fields what `unknown` says."""
    name = cls.__qualname__
    if family(cls) == "pydantic":
        extra = (cls.model_config or {}).get("extra")
        if unknown == "keep" and extra != "allow":
            raise TypeError(
                f"register: unknown: `{name}` keeps fields by `model_config = {{'extra': 'allow'}}`"
            )
        if unknown in ("drop", "refuse") and extra == "allow":
            raise TypeError(f"register: unknown: `{name}` keeps fields, as its `model_config` says")
    elif unknown == "keep" and not cls.__dictoffset__:
        raise TypeError(f"register: unknown: instances of `{name}` have no `__dict__` that could keep fields")
    elif unknown in ("drop", "refuse") and not declared(cls) and cls.__dictoffset__:
        raise TypeError(f"register: unknown: `{name}` declares no fields: annotate them")
