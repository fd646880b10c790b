"""The fields of a class: one function for each family of classes, none of which imports the family's library."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    # Name -> the qualifiers around its type: `ClassVar`, `Required`, ... Plain classes and TypedDicts need
    # it.
    Qualifiers = Mapping[str, set[str]]

Field = dict[str, Any]


def family(cls: type) -> str | None:
    """Which of the functions below reads this class; None for a class that declares no fields."""
    if "__required_keys__" in vars(cls) and dict in cls.__bases__:
        return "typeddict"
    if issubclass(cls, tuple):
        return "namedtuple" if isinstance(getattr(cls, "_fields", None), tuple) else None
    pydantic = sys.modules.get("pydantic.main")
    if pydantic is not None and issubclass(cls, pydantic.BaseModel):
        return "pydantic"
    if hasattr(cls, "__struct_fields__") and hasattr(cls, "__struct_config__"):
        return "msgspec"
    if not _is_made_of_fields(cls):
        return None
    if hasattr(cls, "__attrs_attrs__"):
        return "attrs"
    if hasattr(cls, "__dataclass_fields__"):
        return "dataclass"
    return "plain" if any(_declares(base) for base in cls.__mro__) else None


def _is_made_of_fields(cls: type) -> bool:
    """Whether instances consist of attributes only: a subclass of `int` or of a class in C contains more."""
    for base in cls.__mro__:
        made_by = vars(base).get("__new__")
        if made_by is not None and isinstance(made_by, types.BuiltinFunctionType):
            return base is object
    return True


def _declares(base: type) -> bool:
    space = vars(base)
    # The last two: since 3.14, not evaluated yet, and set from outside.
    return bool(
        space.get("__annotations__") or space.get("__annotate_func__") or space.get("__annotations_cache__")
    )


def members(cls: type, kind: str, qualifiers: Qualifiers) -> tuple[list[Field], dict[str, Any]]:
    """The fields in order, and what else the class says about itself."""
    about: dict[str, Any] = {
        "kind": kind if kind in ("namedtuple", "typeddict", "pydantic") else "fields",
        "post_init": None,
        "pre_init": None,
        "init_vars": [],
        "converters": {},
        "validate": None,
        "array_like": False,
        "forbid_unknown": False,
        "tag": None,
    }
    return _READERS[kind](cls, qualifiers, about), about


def _typeddict(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    fields = []
    for name, said in qualifiers.items():
        # With annotations as text, the class only knows its `total`.
        required = "Required" in said or (name in cls.__required_keys__ and "NotRequired" not in said)
        fields.append(_field(name, required=required))
    return fields


def _namedtuple(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    defaults = cls._field_defaults
    return [_field(name, **({"default": defaults[name]} if name in defaults else {})) for name in cls._fields]


def _pydantic(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    # pydantic validates the fields itself.
    return []


def _msgspec(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    config = cls.__struct_config__
    about["array_like"] = config.array_like
    about["forbid_unknown"] = config.forbid_unknown_fields
    if config.tag is not None:
        about["tag"] = (config.tag_field, config.tag)
    about["post_init"] = _method(cls, "__post_init__")
    missing = sys.modules["msgspec"].NODEFAULT
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    fields = []
    for name, key, default in zip(
        names,
        cls.__struct_encode_fields__,
        (missing,) * (len(names) - len(defaults)) + defaults,
        strict=True,
    ):
        if default is missing:
            field = _field(name)
        elif type(default).__name__ == "Factory" and type(default).__module__ == "msgspec._core":
            field = _field(name, factory=default.factory)
        else:
            field = _field(name, default=default)
        field["key"] = key
        fields.append(field)
    return fields


def _attrs(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    attr = sys.modules["attr"]
    about["post_init"] = _method(cls, "__attrs_post_init__")
    about["pre_init"] = _method(cls, "__attrs_pre_init__")
    fields = []
    for attribute in cls.__attrs_attrs__:
        name, default = attribute.name, attribute.default
        if isinstance(default, attr.Factory):
            field = _field(name, factory=default.factory)
            if default.takes_self:
                field["factory_self"] = True
        elif default is not attr.NOTHING:
            field = _field(name, default=default)
        else:
            field = _field(name, required=attribute.init)
        if attribute.type is not None:
            field["type"] = attribute.type
        if attribute.converter is not None:
            about["converters"][name] = _converter(attribute)
        if attribute.validator is not None:
            about["validate"] = attr.validate
        fields.append(field)
    return fields


def _converter(attribute: Any) -> Callable[[Any], Any]:
    converter: Any = attribute.converter
    if type(converter).__name__ != "Converter":
        plain: Callable[[Any], Any] = converter
        return plain
    # The converter would need the instance, which doesn't exist yet.
    return lambda value: converter(value, None, attribute)


def _dataclass(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    dataclasses: Any = sys.modules["dataclasses"]
    about["post_init"] = _method(cls, "__post_init__")
    fields = []
    for item in cls.__dataclass_fields__.values():
        if item._field_type is dataclasses._FIELD_INITVAR:
            about["init_vars"].append(
                (item.name,) if item.default is dataclasses.MISSING else (item.name, item.default)
            )
        elif item._field_type is dataclasses._FIELD:
            fields.append(_dataclass_field(item, dataclasses.MISSING))
    return fields


def _dataclass_field(item: Any, missing: Any) -> Field:
    if item.default_factory is not missing:
        field = _field(item.name, factory=item.default_factory)
    elif item.default is missing:
        field = _field(item.name, required=item.init)
    elif type(item.default).__module__ == "pydantic.fields":
        # In a pydantic dataclass the default is the result of Field().
        info = item.default
        if info.default_factory is not None:
            field = _field(item.name, factory=info.default_factory)
        else:
            field = _field(item.name, **({} if info.is_required() else {"default": info.default}))
        field["info"] = info
    else:
        field = _field(item.name, default=item.default)
    field["type"] = item.type
    return field


def _plain(cls: Any, qualifiers: Qualifiers, about: dict[str, Any]) -> list[Field]:
    fields = []
    for name, said in qualifiers.items():
        if "ClassVar" in said:
            continue
        base = next((base for base in cls.__mro__ if name in vars(base)), None)
        if base is None or hasattr(type(vars(base)[name]), "__set__"):
            # The attribute of that name is a slot or a property, not a default.
            fields.append(_field(name))
        else:
            fields.append(_field(name, default=vars(base)[name], class_default=True))
    return fields


_READERS: dict[str, Callable[[Any, Qualifiers, dict[str, Any]], list[Field]]] = {
    "typeddict": _typeddict,
    "namedtuple": _namedtuple,
    "pydantic": _pydantic,
    "msgspec": _msgspec,
    "attrs": _attrs,
    "dataclass": _dataclass,
    "plain": _plain,
}


def _field(name: str, *, required: bool = True, **more: Any) -> Field:
    """A field; `more` says what its value is if it is missing."""
    if more:
        return {"name": name, "required": False, **more}
    return (
        {"name": name, "required": True} if required else {"name": name, "required": False, "absent_ok": True}
    )


def _method(cls: type, name: str) -> str | None:
    return name if hasattr(cls, name) else None


def pydantic_keys(cls: Any) -> tuple[list[str], set[str]]:
    """The keys that a pydantic model requires, and all that it knows."""
    required: list[str] = []
    known: set[str] = set()
    for name, info in cls.model_fields.items():
        aliases = [alias for alias in (info.validation_alias, info.alias) if isinstance(alias, str)]
        known.update((name, *aliases))
        if info.is_required():
            required.append(aliases[0] if aliases else name)
    return required, known


# --- what was registered ---------------------------------------------------------------------------------------------
def set_up(entry: dict[str, Any], settings: Any) -> None:
    """Apply what was registered for a class to its entry. Raises ValueError: ambiguous keys, or a bad
    `rename`.
    """
    rename = None
    if settings is not None:
        rename = settings.rename
        entry["array_like"] = entry["array_like"] or bool(settings.array_like)
        entry["forbid_unknown"] = (
            entry["forbid_unknown"] or settings.forbid_unknown or settings.unknown == "refuse"
        )
        if settings.tag is not None:
            entry["tag"] = (settings.tag_field or "type", settings.tag)
        entry.update(registered=True, other_tags=[], version=None, keeps_unknown=settings.unknown == "keep")
        entry["resolves"] = settings.resolver is not None
        if entry["tag"] is not None:
            entry["other_tags"] = [tag for tag in old_tags(settings.aliases) if tag != entry["tag"][1]]
        # The fields of a pydantic model get their new names as those of an older version do.
        renamed_model = entry.get("kind") == "pydantic" and bool(settings.renames)
        if settings.upgrades or settings.version_field is not None or renamed_model:
            entry["version"] = (settings.version_field, settings.version)
    seen: set[str] = set()
    for field in entry["fields"]:
        key = field.get("key", field["name"]) if rename is None else renamed(field["name"], rename)
        if key in seen:
            raise ValueError(f"two fields have the key `{key}`")
        if entry["tag"] is not None and entry["tag"][0] == key:
            raise ValueError(f"the key `{key}` of a field is the tag's")
        if entry.get("version") is not None and entry["version"][0] == key:
            raise ValueError(f"the key `{key}` of a field is that of the version")
        seen.add(key)
        field["key"] = key
    if entry["tag"] is not None:
        seen.add(entry["tag"][0])
    if settings is not None:
        for field in entry["fields"]:
            found = [key for key in old_keys(field["name"], settings) if key not in seen]
            field["old_keys"] = list(dict.fromkeys(found))
            seen.update(found)


def old_keys(name: str, settings: Any) -> list[str]:
    """The keys under which a field may be found besides its own: its name, where its class gives it another key, and
    what it was called before.
    """
    found = [name]
    for old, new in settings.renames.items():
        if new == name:
            found += [old] if settings.rename is None else [renamed(old, settings.rename), old]
    return found


def old_tags(aliases: Iterable[str]) -> list[str]:
    """A class's aliases as tags: whole, and without the module. Which dots are the module's isn't known."""
    found = []
    for alias in aliases:
        parts = alias.split(".")
        found += [".".join(parts[at:]) for at in range(len(parts))]
    return list(dict.fromkeys(found))


# --- names in plain formats ------------------------------------------------------------------------------------------
def _parts(name: str) -> tuple[str, list[str]]:
    body = name.lstrip("_")
    return name[: len(name) - len(body)], [part for part in body.split("_") if part]


def _camel(name: str) -> str:
    mark, parts = _parts(name)
    return mark + "".join(parts[:1] + [part[0].upper() + part[1:] for part in parts[1:]])


def _pascal(name: str) -> str:
    mark, parts = _parts(name)
    return mark + "".join(part[0].upper() + part[1:] for part in parts)


def _kebab(name: str) -> str:
    mark, parts = _parts(name)
    return mark + "-".join(parts)


STYLES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "camel": _camel,
    "pascal": _pascal,
    "kebab": _kebab,
}


def renamed(name: str, rename: Any) -> str:
    """The key that `rename` makes of a field's name. Raises ValueError: an unknown style, or the result is no
    str.
    """
    if isinstance(rename, str):
        if rename not in STYLES:
            raise ValueError(f"rename: expected {', '.join(STYLES)}, a mapping or a callable")
        return STYLES[rename](name)
    found = rename(name) if callable(rename) else rename.get(name)
    if found is None:
        return name
    if not isinstance(found, str):
        raise ValueError(f"rename: expected str for `{name}`, got `{type(found).__name__}`")
    return found
