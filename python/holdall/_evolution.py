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
        own = [(name, info.is_required()) for name, info in cls.model_fields.items()]
        return [*own, (_OF_MODELS[0], False)]
    if kind == "plain":
        # Annotations alone don't say that an instance has the attribute.
        names = [name for base in reversed(cls.__mro__) for name in annotations_of(base)]
        return [(name, False) for name in dict.fromkeys(names)]
    if kind in ("dataclass", "attrs", "msgspec", "namedtuple"):
        fields, about = members(cls, kind, {})
        # What only `__post_init__` sets is not there unless it was stored.
        computed = about["post_init"] is not None
        return [(each["name"], each["required"] or ("absent_ok" in each and computed)) for each in fields]
    return []


# What a default is: itself, a factory, or one that takes the fields by name, or the instance.
_VALUE, _FACTORY, _OF_FIELDS, _OF_INSTANCE = range(4)


def lacking(cls: Any, names: list[str]) -> list[tuple[str, Any, int]]:
    """The fields with a default that are not in `names`: (name, value or factory, which of these it is)."""
    kind = family(cls)
    found: list[tuple[str, Any, int]] = []
    if kind == "pydantic":
        for name, info in cls.model_fields.items():
            if info.default_factory is not None:
                of_fields = getattr(info, "default_factory_takes_validated_data", False)
                found.append((name, info.default_factory, _OF_FIELDS if of_fields else _FACTORY))
            elif not info.is_required():
                found.append((name, info.default, _VALUE))
        if _OF_MODELS[0] not in names:
            # The class was no model then.
            was_set = frozenset(names).intersection(cls.model_fields)
            found.append((_OF_MODELS[0], lambda: set(was_set), _FACTORY))
            found += [(name, None, _VALUE) for name in _OF_MODELS[1:]]
    elif kind in ("dataclass", "attrs", "msgspec", "namedtuple"):
        for field in members(cls, kind, {})[0]:
            if "default" in field:
                found.append((field["name"], field["default"], _VALUE))
            elif "factory" in field:
                found.append(
                    (field["name"], field["factory"], _OF_INSTANCE if field.get("factory_self") else _FACTORY)
                )
    return [one for one in found if one[0] not in names]


def set_required(cls: Any, fields: dict[str, Any]) -> None:
    """Note, for a model that `upgrade` has completed, that its required fields are set: it is dumped with those that are."""
    was_set = fields.get(_OF_MODELS[0])
    if isinstance(was_set, set):
        required = {name for name, info in cls.model_fields.items() if info.is_required() and name in fields}
        fields[_OF_MODELS[0]] = was_set | required


def settle(cls: Any, fields: dict[str, Any]) -> str | None:
    """Put fields that a model has not where its configuration says. The name of one that it forbids, if it does."""
    if family(cls) != "pydantic":
        for name in [name for name in fields if name.startswith("__pydantic_")]:
            del fields[name]
        return None
    extra = (cls.model_config or {}).get("extra")
    others = [name for name in fields if name not in cls.model_fields and name not in _OF_MODELS]
    if extra == "forbid" and others:
        return others[0]
    if extra == "allow":
        kept = {name: fields.pop(name) for name in others}
        fields[_OF_MODELS[1]] = {**kept, **(fields.get(_OF_MODELS[1]) or {})}
        if isinstance(was_set := fields.get(_OF_MODELS[0]), set):
            fields[_OF_MODELS[0]] = {*was_set, *kept}
    return None


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
